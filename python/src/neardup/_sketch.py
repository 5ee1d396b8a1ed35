"""Sketches of texts."""

from __future__ import annotations

from typing import Any

from . import _native
from ._frames import Columns, Source, read
from ._recipe import Recipe
from ._table import Table


class Sketcher:
    """Make sketches of texts: simhash, minima, and counts.

    The bits are those of ``neardup sketch``.  Threads may share a sketcher.

    Parameters
    ----------
    recipe : Recipe or str, optional
        Its section ``[sketch]`` says what a shingle is.
    text : str, optional
        The column with the text, of data that has columns.

    Examples
    --------
    >>> table = Sketcher()(["one two three four"])
    >>> table["tokens"][0], table["shingles"][0], len(table["minima"][0])
    (4, 2, 128)
    """

    def __init__(self, recipe: Recipe | str | None = None, *, text: str | None = "text") -> None:
        self.recipe = recipe.copy() if isinstance(recipe, Recipe) else Recipe(recipe)
        self._text = text
        self._native = _native.sketcher_new(self.recipe._native)

    def __call__(self, data: Any) -> Table:
        """Sketch a batch.

        Parameters
        ----------
        data : frame, iterable or path
            As for :func:`dedup`.

        Returns
        -------
        Table
            A row for each text: ``simhash``, ``identity`` (the hash of its tokens), ``tokens``,
            ``shingles`` (how many) and ``minima`` (128 numbers).  Rows without a text have nulls.
        """
        return self._run(read(data, Columns(self._text)))

    def _run(self, source: Source) -> Table:
        return Table(_native.sketcher_run(self._native, source.frame), _native.frame_rows(source.frame))

    def __reduce__(self) -> tuple[Any, ...]:
        """A sketcher goes to another process, or is copied, as its recipe."""
        return _made_again, (self.recipe, self._text)


def _made_again(recipe: Recipe, text: str | None) -> Sketcher:
    return Sketcher(recipe, text=text)
