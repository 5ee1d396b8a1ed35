"""Deduplication of data in memory."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

from . import _native
from ._df import DocumentFrequencies, Frequencies, give_tables
from ._frames import Columns, Mask, Source, drop_nulls, read
from ._html import result_html
from ._progress import Progress, reporting
from ._recipe import Recipe, Value, check_frames
from ._table import Table

__all__ = ["Deduper", "Result", "dedup"]


def recipe_of(
    recipe: Recipe | str | None,
    *,
    threshold: str | float | Fraction | None = None,
    shingle: int | str | None = None,
    method: str | None = None,
    keep: str | None = None,
    short: str | None = None,
    cluster: str | None = None,
    set: Mapping[str, Value] | None = None,
) -> Recipe:
    """A copy of the recipe with the arguments set, as the command sets its options."""
    made = recipe.copy() if isinstance(recipe, Recipe) else Recipe(recipe)
    if threshold is not None:
        made.set("threshold", threshold)
    if shingle is not None:
        width = str(shingle)
        if width.endswith("c"):
            made.set("unit", "characters").set("shingle", width[:-1])
        else:
            made.set("unit", "words").set("shingle", width)
    if method is not None:
        candidates = {"minhash": "minhash", "simhash": "simhash", "identical": "identity"}
        if method not in candidates:
            raise _native.InvalidError(f"method: '{method}' is not minhash, simhash or identical")
        made.set("candidates", candidates[method]).set("verify", "jaccard")
    for key, value in (("keep", keep), ("short", short), ("cluster", cluster)):
        if value is not None:
            made.set(key, value)
    for key, changed in (set or {}).items():
        made.set(key, changed)
    made.check()
    check_frames(made)
    return made


class Reading:
    """The columns that a request reads, and the reading of them.

    Those of the recipe's fields come first behind the text.  The caller adds its own to `columns`.
    """

    def __init__(self, recipe: Recipe, text: str | None) -> None:
        self.recipe = recipe
        self.columns = Columns(text)
        names = _native.recipe_fields(recipe._native)
        self.fields = tuple(dict.fromkeys(self.columns.add(name) for name in names))
        self.apart: tuple[tuple[int, str], ...] = ()

    def never(self, values: Mapping[str, str | Sequence[str]] | None) -> None:
        """Set the documents apart that have one of these values in one of these columns."""
        self.apart = tuple(
            (self.columns.add(name), value)
            for name, some in (values or {}).items()
            for value in ([some] if isinstance(some, str) else some)
        )

    def read(self, data: Any, df: Frequencies, threads: int) -> Source:
        """Read the data, and give the recipe the df tables that it needs."""
        source = self.open(data)
        give_tables(self.recipe, df, source, threads)
        return source

    def open(self, data: Any) -> Source:
        """Read the data."""
        return read(data, self.columns)


_REMOVED = "row kept_row id kept_id identical verified jaccard shared a b distance cut via_row".split()


def _removed(native: Any, source: Source, count: int, id_column: int) -> Table:
    everything, compared, distance, identical = _native.result_removed(native)
    columns = [*everything, *compared, *distance, identical]
    if id_column:
        columns += _native.result_ids(native, source.frame, id_column)
    return Table(tuple(sorted(columns, key=lambda column: _REMOVED.index(column[0]))), count)


class Result:
    """What a deduplication decided.

    Attributes
    ----------
    kept : Mask
        Which rows are kept.
    removed : Table
        The removed rows, and why:

        ==============  ==================================================================
        column          meaning
        ==============  ==================================================================
        row             the row that is removed
        kept_row        the row that stands for it
        id, kept_id     their ids, where there is a column of ids
        identical       "no", or what is equal: "bytes" or "tokens"
        verified        whether the two texts were compared
        jaccard         their resemblance; None where they were not compared
        shared          how many shingles both have; None where they were not compared
        a, b            how many shingles the removed one has, and the kept one
        distance        in how many bits their simhashes differ; None where not made
        cut             whether it had more candidates than ``max_checks``
        via_row         of components, the neighbour that connects it to the kept one
        ==============  ==================================================================

    summary : dict
        Counts, by the names that the command's summary has.
    recipe : Recipe
        What decided.

    Examples
    --------
    >>> result = dedup(["one two three", "four five six", "one two three"])
    >>> result
    <neardup.Result: 3 rows, 2 kept, 1 removed: 1 with the same bytes, 0 with the same words, 0 near>
    >>> result.clusters
    [[0, 2]]
    >>> result.removed["kept_row"][:]
    [0]
    """

    def __init__(
        self, native: Any, source: Source, recipe: Recipe, drops_nulls: bool = False, id_column: int = 0
    ) -> None:
        self._native = native
        self._source = source
        self.recipe = recipe
        stats = _native.result_stats(native)
        self.summary: dict[str, Any] = stats
        kept = _native.result_kept(native)
        self.kept = Mask(drop_nulls(source, kept) if drops_nulls else kept)
        self.removed = _removed(native, source, stats["removed"], id_column)

    @property
    def survivors(self) -> Any:
        """The rows that are kept, as the caller's own kind of data."""
        return self._source.survivors(self.kept._kept)

    @property
    def clusters(self) -> list[list[int]]:
        """The clusters of two or more rows: the kept row first, then the others in order."""
        found: dict[int, list[int]] = {}
        for row, kept in zip(self.removed["row"], self.removed["kept_row"]):
            found.setdefault(kept, [kept]).append(row)
        return sorted(found.values())

    def _repr_html_(self) -> str:
        """What a notebook shows: counts, a histogram of resemblance, and the sizes of clusters."""
        return result_html(self)

    def __repr__(self) -> str:
        s = self.summary
        return (
            f"<neardup.Result: {s['rows']:,} rows, {s['rows'] - s['removed']:,} kept, {s['removed']:,} removed: "
            f"{s['identical_bytes']:,} with the same bytes, {s['identical_tokens']:,} with the same words, "
            f"{s['near']:,} near>"
        )


def _check_nulls(source: Source, nulls: str) -> None:
    row = _native.frame_null(source.frame) if nulls == "raise" else None
    if row is not None:
        raise _native.InvalidError(f"row {row}: the text is null")


def dedup(
    data: Any,
    text: str | None = "text",
    id: str | None = None,
    *,
    threshold: str | float | Fraction | None = None,
    shingle: int | str | None = None,
    method: Literal["minhash", "simhash", "identical"] | None = None,
    keep: str | None = None,
    prefer: tuple[str, Sequence[str]] | None = None,
    within: str | None = None,
    never: Mapping[str, str | Sequence[str]] | None = None,
    short: Literal["identical", "tokens", "keep"] | None = None,
    cluster: Literal["star", "components", "complete"] | None = None,
    recipe: Recipe | str | None = None,
    set: dict[str, Value] | None = None,
    df: Frequencies = None,
    threads: int = 0,
    progress: Progress = None,
    nulls: Literal["keep", "drop", "raise"] = "keep",
) -> Result:
    """Remove near-duplicate documents.

    Every removed document was compared with the one that is kept in its place, unless the recipe
    says otherwise.  The decisions are those of ``neardup dedup``.

    Parameters
    ----------
    data : frame, iterable or path
        A frame with the Arrow PyCapsule interface (polars, pyarrow, pandas, DuckDB, datasets), an
        iterable of ``str`` or of mappings, or the path of a file of JSON Lines, CSV, Parquet or
        Arrow IPC.
    text : str, optional
        The column with the text.
    id : str, optional
        The column with the ids.
    threshold : str, float or Fraction, optional
        Documents of at least this resemblance are duplicates (default: 0.8).
    shingle : int or str, optional
        Compare shingles of so many words; ``"9c"``: of so many characters (default: 3).
    method : {"minhash", "simhash", "identical"}, optional
        How candidates are found.
    keep : str, optional
        Which document of a cluster is kept: ``"first"``, ``"last"``, ``"longest"``, ``"shortest"``,
        ``"newest:COLUMN"``, ``"max:COLUMN"``, ``"min:COLUMN"``, ``"longest:COLUMN"`` or
        ``"shortest:COLUMN"``.
    prefer : tuple of str and sequence of str, optional
        A column, and its values that are preferred, the best first; it comes before `keep`.
    within : str, optional
        Compare only documents in which this column has the same value.
    never : mapping, optional
        Columns, and for each the value or values whose documents match no other, not even an equal
        one.
    short : {"identical", "tokens", "keep"}, optional
        When a document shorter than a shingle may be removed.
    cluster : {"star", "components", "complete"}, optional
        What a cluster is.
    recipe : Recipe or str, optional
        What a match is; the other arguments change a copy of it.
    set : dict, optional
        Other keys of the recipe to change.
    df : DocumentFrequencies, path or "auto", optional
        The df table for the signatures that need one; ``"auto"``: count the data first.
    threads : int, optional
        How many threads work; 0: one for each processor.
    progress : bool or callable, optional
        True: show a bar of tqdm, or where that is missing a line on standard error.  A function is
        called with the number of rows that are done, and of all; an exception that it raises stops
        the work.
    nulls : {"keep", "drop", "raise"}, optional
        What happens to rows without a text: they are kept and compared with nothing; they are not
        among the survivors; or they are an error.

    Returns
    -------
    Result
        The survivors, and why each other row was removed.

    Raises
    ------
    InvalidError
        An argument is wrong; a column is missing or of another type; a df table is missing.
    UnsupportedError
        The recipe reads links, markup or elements, which only pages and mail have.
    TypeError
        The data cannot be read.

    Examples
    --------
    >>> rows = [{"id": 1, "text": "a b c d e"}, {"id": 2, "text": "A, b, c, d, e"}, {"id": 3, "text": "f g"}]
    >>> result = dedup(rows, id="id")
    >>> [row["id"] for row in result.survivors]
    [1, 3]
    >>> result.removed[0]["identical"]
    'tokens'
    """
    made = recipe_of(
        recipe, threshold=threshold, shingle=shingle, method=method, keep=keep, short=short, cluster=cluster, set=set
    )
    if nulls not in ("keep", "drop", "raise"):
        raise _native.InvalidError(f"nulls: '{nulls}' is not keep, drop or raise")
    policy = made["keep"]
    reading = Reading(made, text)
    reading.never(never)
    numbers = [
        reading.columns.add(name)
        for name in (policy.partition(":")[2] or None, prefer[0] if prefer else None, within, id)
    ]
    source = reading.read(data, df, threads)
    _check_nulls(source, nulls)
    with reporting(progress) as report:
        native = _native.dedup(
            made._native,
            source.frame,
            threads,
            policy,
            made["cluster"] == "components",
            numbers[0],
            numbers[1],
            tuple(prefer[1]) if prefer else (),
            numbers[2],
            reading.apart,
            reading.fields,
            report,
        )
    return Result(native, source, made, nulls == "drop", numbers[3])


class Deduper:
    """Remove near-duplicates from batches as they come; each decision is final at once.

    Parameters
    ----------
    recipe : Recipe or str, optional
        What a match is (default: the default recipe).  Its key ``keep`` is ``first``, as earlier
        documents are kept, and ``cluster`` is not ``components``.
    text : str, optional
        The column with the text, of batches that have columns.
    texts : {"memory", "spool"}, optional
        Where the texts of kept documents are held: in memory, or in a temporary file.
    df : DocumentFrequencies or path, optional
        The df table for the signatures that need one.
    threads : int, optional
        How many threads work; 0: one for each processor.
    nulls : {"keep", "drop", "raise"}, optional
        As for :func:`dedup`.

    Examples
    --------
    >>> deduper = Deduper()
    >>> deduper.push(["a b c d", "e f g h"]).survivors
    ['a b c d', 'e f g h']
    >>> result = deduper.push(["i j k l", "A B C D"])
    >>> result.survivors
    ['i j k l']
    >>> result.removed[0]["row"], result.removed[0]["kept_row"]
    (3, 0)
    """

    def __init__(
        self,
        recipe: Recipe | str | None = None,
        *,
        text: str | None = "text",
        texts: Literal["memory", "spool"] = "memory",
        df: DocumentFrequencies | str | os.PathLike[str] | None = None,
        threads: int = 0,
        nulls: Literal["keep", "drop", "raise"] = "keep",
    ) -> None:
        self.recipe = recipe.copy() if isinstance(recipe, Recipe) else Recipe(recipe)
        check_frames(self.recipe)
        give_tables(self.recipe, df)
        if self.recipe["keep"] != "first" or self.recipe["cluster"] == "components":
            raise _native.InvalidError(
                "a stream keeps the first document of each cluster: the recipe's keep is first, and its cluster "
                "star or complete"
            )
        if _native.recipe_fields(self.recipe._native):
            raise _native.UnsupportedError("a stream has texts only, and the recipe reads fields")
        if texts not in ("memory", "spool"):
            raise _native.InvalidError(f"texts: '{texts}' is not memory or spool")
        if nulls not in ("keep", "drop", "raise"):
            raise _native.InvalidError(f"nulls: '{nulls}' is not keep, drop or raise")
        self._text = text
        self._nulls = nulls
        folder = tempfile.gettempdir() if texts == "spool" else None
        self._native = _native.stream_new(self.recipe._native, threads, folder)

    def push(self, data: Any) -> Result:
        """Decide about a batch.

        Parameters
        ----------
        data : frame, iterable or path
            As for :func:`dedup`.

        Returns
        -------
        Result
            What became of the batch.  ``kept`` and ``survivors`` are of the batch; rows in ``removed``
            count from the first batch on.

        Raises
        ------
        InvalidError, TypeError
            As :func:`dedup`; nothing of the batch was pushed.
        RuntimeError
            An earlier push was interrupted.
        """
        source = read(data, Columns(self._text))
        _check_nulls(source, self._nulls)
        native = _native.stream_push(self._native, source.frame)
        return Result(native, source, self.recipe, self._nulls == "drop")
