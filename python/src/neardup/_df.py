"""Df tables: in how many documents each feature stands."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from typing import Any, Union

from . import _native
from ._frames import Columns, Source, read
from ._progress import Progress, reporting
from ._recipe import Recipe
from ._table import Table

__all__ = ["DocumentFrequencies", "Frequencies", "give_tables"]


class DocumentFrequencies:
    """A df table: of each feature, in how many of a number of documents it stands.

    Recipes weigh words by it, or choose them.  A table never changes.  Make one with :meth:`count`,
    or :meth:`open` a file of ``neardup df build``.

    Attributes
    ----------
    documents : int
        How many documents were counted.
    features : str
        What was counted, as lines of a recipe.
    version : int
        A hash of all that the table holds.

    Examples
    --------
    >>> texts = ["the ship left at noon", "the ship sank", "the sea is deep"]
    >>> table = DocumentFrequencies.count(texts, recipe="seshasai-2009", keep_texts=True)
    >>> table.documents, len(table)
    (3, 9)
    >>> sorted((row["documents"], row["feature"]) for row in table.terms())[-2:]
    [(2, 'ship'), (3, 'the')]
    """

    def __init__(self, native: Any) -> None:
        self._native = native
        self.documents, self._len, self.version, self.features, self._has_texts = _native.df_about(native)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> DocumentFrequencies:
        """Open a file, of this package or of the command.

        Parameters
        ----------
        path : str or os.PathLike
            The file.  It must not shrink while the table is used.

        Returns
        -------
        DocumentFrequencies
            The table.

        Raises
        ------
        Error
            The file is damaged or no df table.
        OSError
            It cannot be read.
        """
        return cls(_native.df_open(os.fspath(path)))

    @classmethod
    def count(
        cls,
        data: Any,
        text: str | None = "text",
        *,
        recipe: Recipe | str | None = None,
        features: str | None = None,
        keep_texts: bool = False,
        threads: int = 0,
        progress: Progress = None,
    ) -> DocumentFrequencies:
        """Count the documents of a frame.

        Parameters
        ----------
        data : frame, iterable or path
            As for :func:`dedup`.  Rows without a text do not count.
        text : str, optional
            The column with the text.
        recipe : Recipe or str, optional
            Whose features are counted.
        features : str, optional
            ``"terms"``, ``"sketch"`` (the shingles of the section ``[sketch]``) or the name of a
            signature (default: the first one, or terms where the recipe has none).
        keep_texts : bool, optional
            Whether the table holds the texts of the features too.
        threads : int, optional
            How many threads work; 0: one for each processor.
        progress : bool or callable, optional
            As for :func:`dedup`.

        Returns
        -------
        DocumentFrequencies
            The table.  :meth:`save` writes the bytes that ``neardup df build`` writes.

        Raises
        ------
        InvalidError
            The recipe has no such features; a column is missing or of another type.
        """
        made = recipe if isinstance(recipe, Recipe) else Recipe(recipe)
        return cls(_count(read(data, Columns(text)), made, features, keep_texts, threads, progress))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file, which appears when it is complete.

        Parameters
        ----------
        path : str or os.PathLike
            The file, which ``neardup --df`` reads too.
        """
        _native.df_write(self._native, os.fspath(path), tempfile.gettempdir())

    def terms(self) -> Table:
        """All features, in the table's own order.

        Returns
        -------
        Table
            Of each ``hash``, ``documents``, and with ``keep_texts`` ``feature``, its text.
        """
        columns, texts = _native.df_terms(self._native)
        return Table((*columns, texts) if texts else columns, self._len)

    def __len__(self) -> int:
        """How many different features there are."""
        return int(self._len)

    def __repr__(self) -> str:
        return f"<neardup.DocumentFrequencies of {self.documents:,} documents, {self._len:,} features>"


Frequencies = Union[DocumentFrequencies, str, "os.PathLike[str]", None]


def _count(
    source: Source,
    recipe: Recipe,
    features: str | None,
    keep_texts: bool,
    threads: int,
    progress: Progress,
) -> Any:
    with reporting(progress) as report:
        return _native.df_count(
            recipe._native, features, source.frame, (), threads, keep_texts, tempfile.gettempdir(), report
        )


def _table_of(df: Frequencies, recipe: Recipe, source: Source | None, threads: int) -> DocumentFrequencies:
    if isinstance(df, DocumentFrequencies):
        return df
    if df != "auto":
        return DocumentFrequencies.open(df)  # type: ignore[arg-type]
    if source is None:
        raise _native.InvalidError('df="auto": there is no corpus to count: count one with DocumentFrequencies.count')
    # The first signature that needs a table says which, as it does for --df auto of the command.
    name = next(name for name, needs, _, _ in _native.recipe_tables(recipe._native) if needs[0])
    return DocumentFrequencies(_count(source, recipe, name, False, threads, None))


def _missing(name: str, is_template: bool) -> Exception:
    if is_template:
        return _native.InvalidError(
            f"signature {name}: template_count needs a df table of shingles: count one with "
            'DocumentFrequencies.count(…, features="sketch"), and give it by Recipe.use_template'
        )
    return _native.InvalidError(
        f'signature {name} needs a df table: count one of the data with df="auto", or of other documents with '
        "DocumentFrequencies.count, or name a file of neardup df build: df=…"
    )


def give_tables(
    recipe: Recipe, df: Frequencies, source: Source | None = None, threads: int = 0, *, needs_all: bool = True
) -> None:
    """Give the recipe, which is the caller's own copy, the df tables that it needs.

    `df` goes to all signatures that need a table; ``"auto"`` counts the rows of the source.  The
    files that the recipe names are opened.  Without `needs_all` tables may be missing.

    Raises
    ------
    InvalidError
        A table is missing, counts something else, or is not needed.
    """
    tables: Sequence[Any] = _native.recipe_tables(recipe._native)
    if df is not None:
        if not any(needs[0] for _, needs, _, _ in tables):
            raise _native.InvalidError("df: nothing in the recipe needs a df table")
        recipe.use_df(_table_of(df, recipe, source, threads))
        tables = _native.recipe_tables(recipe._native)
    opened: dict[str, Any] = {}
    for i, (name, needs, has, paths) in enumerate(tables):
        for is_template in (False, True):
            if not needs[is_template] or has[is_template]:
                continue
            path = paths[is_template]
            if not path and not needs_all:
                continue
            if not path:
                raise _missing(name, is_template)
            table = opened.get(path) or opened.setdefault(path, _native.df_open(path))
            _native.recipe_use(recipe._native, i, table, is_template)
