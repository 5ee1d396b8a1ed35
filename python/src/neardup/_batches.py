"""Batches of rows: what the stages of `datasets` and Ray Data are called with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import _native
from ._recipe import Recipe
from ._sketch import Sketcher

_COLUMNS = ("simhash", "identity", "tokens", "shingles", "minima")


class Sketch:
    """Add columns of sketches to a batch.

    It is given to ``map`` of a data set, or to ``map_batches``, and works in any number of processes.

    Parameters
    ----------
    columns : sequence of str, optional
        Which of ``simhash``, ``identity``, ``tokens``, ``shingles`` and ``minima`` to add.
    text : str, optional
        The column with the text.
    recipe : Recipe or str, optional
        Its section ``[sketch]`` says what a shingle is.

    Examples
    --------
    >>> batch = Sketch(["tokens"])({"text": ["one two three four", "five"]})
    >>> [int(count) for count in batch["tokens"]]
    [4, 1]
    """

    def __init__(
        self,
        columns: Sequence[str] = ("simhash", "identity"),
        *,
        text: str = "text",
        recipe: Recipe | str | None = None,
    ) -> None:
        for name in columns:
            if name not in _COLUMNS:
                raise _native.InvalidError(f"columns: '{name}' is not one of {', '.join(_COLUMNS)}")
        self._columns = tuple(columns)
        self._text = text
        self._sketcher = Sketcher(recipe)

    def __call__(self, batch: Any) -> Any:
        """Sketch the texts of a batch: a mapping of columns, or a pyarrow table."""
        texts = column(batch, self._text)
        if not isinstance(batch, Mapping):
            import pyarrow

            table = self._sketcher(texts)
            for name in self._columns:
                batch = batch.append_column(name, pyarrow.array(table[name]))
            return batch
        texts = list(texts)
        table = self._sketcher(texts)
        return {**batch, **{name: _values(table[name], None in texts) for name in self._columns}}


def column(batch: Any, name: str) -> Any:
    """The column of a batch."""
    names = list(batch) if isinstance(batch, Mapping) else batch.column_names
    if name not in names:
        raise _native.InvalidError(f"there is no column '{name}'; there are {names}")
    return batch[name]


def _values(values: Any, has_nulls: bool) -> Any:
    """The values to append: an array, which says the type, where no value is missing."""
    import numpy

    return values[:] if has_nulls else numpy.asarray(values)
