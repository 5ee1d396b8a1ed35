"""Deduplication of data in memory."""

from __future__ import annotations

import os
import tempfile
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

from . import _native
from ._against import Against, check_alone
from ._columns import OwnColumn, picked, typed
from ._df import DocumentFrequencies, Frequencies, give_tables
from ._evidence import Evidence, Input, Work
from ._frames import Mask, Source, at_rest, drop_nulls, in_frame, read
from ._html import result_html
from ._optional import needed
from ._outputs import Outputs
from ._plan import Never, Plan, Preferred, check_nulls, recipe_of
from ._progress import Progress, reporting
from ._recipe import Recipe, Value
from ._sketch_file import Sketches, paths_of_sketches
from ._sketched import Sketched
from ._table import Column, Table

if TYPE_CHECKING:
    from ._native import _Column

__all__ = ["Deduper", "Result", "dedup"]


_REMOVED = "row kept_row id kept_id against identical verified jaccard shared a b distance cut via_row".split()


Ids = Callable[[Table], list[Column]]


def removed_table(native: Any, ids: Ids | None = None, seen: Sequence[Sketches] = ()) -> Table:
    """The removed rows, and why; `ids` gives the ids of the rows of such a table."""
    everything, of_kept, compared, distance, identical = _native.result_removed(native)
    count = _native.result_stats(native)["removed"]
    columns = [*everything, *of_kept, *compared, *distance, identical]
    if seen:
        columns = _name_seen(columns, count, seen)
    by_name = {column[0]: Column(column, count) for column in columns}
    more = ids(Table(list(by_name.values()), count)) if ids else []
    by_name.update((column.name, column) for column in more)
    names = [name for name in _REMOVED if name in by_name and (ids or name != "kept_id")]
    return Table([by_name[name] for name in names], count)


# ---- Documents of sketch files ----

_SEEN = 1 << 63  # in place of a row: the number of a document of the files


def _name_seen(columns: list[_Column], count: int, seen: Sequence[Sketches]) -> list[_Column]:
    """The columns, where some rows were removed for documents of sketch files."""
    by_name = {column[0]: column for column in columns}
    kept = memoryview(by_name["kept_row"][2])[: 8 * count].cast("Q")
    has_kept = Column(by_name["a"], count)  # None of a row that stood for its cluster
    own = _native.pack_bits(bytes(not row & _SEEN and a is not None for row, a in zip(kept, has_kept)))
    for name in ("kept_row", "via_row"):
        by_name[name] = (name, "L", by_name[name][2], own, None, 0, None)
    names = _names_of(sorted({row ^ _SEEN for row in kept if row & _SEEN}), seen)
    against = [names[row ^ _SEEN] if row & _SEEN else None for row in kept]
    by_name["against"] = typed("against", [name and name[1] for name in against])
    by_name["kept_id"] = typed("kept_id", [name and name[0] for name in against])
    return list(by_name.values())


def _names_of(numbers: list[int], seen: Sequence[Sketches]) -> dict[int, tuple[str | None, str]]:
    """The ids and the places of documents, by their numbers over all files."""
    found: dict[int, tuple[str | None, str]] = {}
    first = 0
    for file in seen:
        own = numbers[bisect_left(numbers, first) : bisect_left(numbers, first + len(file))]
        for table in file if own else ():
            for number in own[bisect_left(own, first) : bisect_left(own, first + len(table))]:
                row = table[number - first]
                source = file.sources[row["source"]]
                place = source["path"] + (f"!{source['entry']}" if source["entry"] else "")
                found[number] = row["id"], f"{place}:{row['line']}" if row["line"] else place
            first += len(table)
        first += 0 if own else len(file)
    return found


class Result:
    """The result of a deduplication.

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
        id, kept_id     their ids, as the caller's column has them, where there is one
        identical       "no", or what is equal: "bytes" or "tokens"
        verified        whether the two texts were compared
        jaccard         their resemblance; None where they were not compared
        shared          how many shingles both have; None where they were not compared
        a, b            how many shingles the removed one has, and the kept one
        distance        in how many bits their simhashes differ; None where not made
        cut             whether it had more candidates than ``max_checks``
        via_row         of components, the neighbour that connects it to the kept one
        against         with `against`, where the kept document stands if it is one of the files;
                        then kept_row is None, and kept_id its id in the file, a str
        ==============  ==================================================================

        With ``keep="none"`` the row that stood for a cluster is removed, too: of it, all but row, id,
        verified and cut is None.

    summary : dict
        Counts, by the names that the command's summary has.
    recipe : Recipe
        What decided.

    Notes
    -----
    A result that was pickled has its survivors along, and no longer writes the command's files.  Survivors
    of a stream are then a table of pyarrow or a list, and those of a DuckDB relation a table of pyarrow.

    Examples
    --------
    >>> result = dedup(["one two three", "four five six", "one two three"])
    >>> result
    <neardup.Result: 3 rows, 2 kept, 1 removed: 1 with the same bytes, 0 with the same words, 0 near>
    >>> result.clusters
    [[0, 2]]
    >>> result.removed["kept_row"][:]
    [0]
    >>> len(result)
    3
    """

    def __init__(
        self,
        native: Any,
        source: Source,
        plan: Plan,
        nulls: str = "keep",
        seconds: float | None = None,
        seen: Sequence[Sketches] = (),
        processor_seconds: float = 0.0,
        ids: Ids | None = None,
        old: Against | None = None,
        inputs: Sequence[Input] = (),
    ) -> None:
        self._native = native
        self._inputs = inputs  # what the rows were read from; none: they are the caller's
        self._old = old  # the sketches of the files `seen`, which evidence names
        self._source = source
        self._plan = plan
        self._nulls = nulls
        self._seconds = seconds  # None: of a batch of a stream
        self._processor_seconds = processor_seconds
        self._seen = seen
        self.recipe = plan.recipe
        stats = _native.result_stats(native)
        self.summary: dict[str, Any] = stats
        kept = _native.result_kept(native)
        self.kept = Mask(drop_nulls(source, kept) if nulls == "drop" and not inputs else kept)
        self.removed = removed_table(native, ids or (self._ids if plan.id else None), seen)

    def _ids(self, table: Table) -> list[Column]:
        """The ids of the rows that were removed, and of those that were kept for them."""
        name = str(self._plan.id)
        removed = self._source.values("id", name, table["row"])
        others = table["kept_id"] if self._seen else None
        pick = lambda _, rows: self._source.values("kept_id", name, rows)  # noqa: E731
        return [removed, picked(pick, "kept_id", table["kept_row"], others)]

    @cached_property
    def copies(self) -> Column:
        """How many rows the cluster of each survivor has, itself included.

        Returns
        -------
        Column
            64-bit integers, one for each row of `survivors`.

        Raises
        ------
        UnsupportedError
            The result is that of a batch of a :class:`Deduper`, whose later batches may have more of
            a cluster; or of ``only_against``, which makes no clusters.

        Examples
        --------
        >>> result = dedup(["one two three", "four five six", "one two three"])
        >>> result.copies[:]
        [2, 1]
        """
        if self._seconds is None:
            raise _native.UnsupportedError("copies: later batches of a stream may have more of a cluster")
        if "quoted" in self.summary:
            raise _native.UnsupportedError("copies: only_against makes no clusters")
        return self._count_copies(self._native)

    def _count_copies(self, native: Any) -> Column:
        (column,) = _native.result_copies(native, self.kept._kept)
        return Column(column, self.kept._kept.count(1))

    @property
    def survivors(self) -> Any:
        """The rows that are kept, as the caller's own kind of data."""
        return self._source.survivors(self.kept._kept)

    def to_arrow(self) -> Any:
        """Give the survivors to pyarrow, whatever kind of data they are.

        Returns
        -------
        pyarrow.Table
            The rows that are kept; texts without columns are a column "text".
        """
        return in_frame(self.survivors, needed("pyarrow"))

    def to_polars(self) -> Any:
        """Give the survivors to polars, whatever kind of data they are.

        Returns
        -------
        polars.DataFrame
            The rows that are kept; texts without columns are a column "text".
        """
        return in_frame(self.survivors, needed("polars"))

    def to_pandas(self) -> Any:
        """Give the survivors to pandas, whatever kind of data they are.

        Returns
        -------
        pandas.DataFrame
            The rows that are kept; texts without columns are a column "text".
        """
        return in_frame(self.survivors, needed("pandas"))

    def __len__(self) -> int:
        """How many rows were read: as many as `kept` has."""
        return len(self.kept)

    def __bool__(self) -> bool:
        return True

    def __reduce__(self) -> tuple[Any, ...]:
        """A result goes to another process with its survivors."""
        survivors = at_rest(self.survivors)
        copies = None if self._seconds is None or "quoted" in self.summary else self.copies
        return _restored, (self.kept, self.removed, self.summary, self.recipe, survivors, copies)

    @property
    def clusters(self) -> list[list[int]]:
        """The clusters of two or more rows: the kept row first, then the others in order.

        Rows that were removed for documents of sketch files are in none.  With ``keep="none"`` the
        first of a cluster is the row that stood for it.
        """
        found: dict[int, list[int]] = {}
        for row, kept in zip(self.removed["row"], self.removed["kept_row"]):
            if kept is not None:
                found.setdefault(kept, [kept]).append(row)
        return sorted(found.values())

    def _repr_html_(self) -> str:
        """The view in a notebook: counts, a histogram of resemblance, and the sizes of clusters."""
        return result_html(self)

    def _parts(self) -> Iterator[tuple[Any, Any, Any]]:
        """Native results, with the frame or the store that has the ids of the rows."""
        yield self._native, None if self._old else self._source.frame, self._old and self._old.store

    def _texts(self) -> Iterator[Any]:
        """Native frames of all rows, one after the other."""
        yield self._source.frame

    def _write(self, path: str | os.PathLike[str], name: str) -> None:
        if self._native is None:
            raise _native.UnsupportedError(f"a result that was pickled writes no {name}: write it before")
        if self._seconds is None:
            raise _native.UnsupportedError(f"a batch of a stream has no {name}: dedup_files writes that of a run")
        evidence = Evidence(self._plan, self._nulls, name == "manifest", name == "clusters")
        with Outputs() as outputs:
            to = outputs.open(os.fspath(path))
            with evidence:
                for part in self._parts():
                    texts = self._texts() if self._old and not self._inputs and evidence.tells_passages() else None
                    for rows, clusters in evidence.add(*part, texts):
                        evidence.keep(rows)
                        to.write(clusters)
                own = Input("-", "rows", "none", self.summary["rows"], self.summary["bytes"])
                inputs = self._inputs or [own]
                if name == "manifest":
                    old = (self._old.seen, self._old.alone) if self._old else ()
                    evidence.write_manifest(to, inputs, *old)
                elif name == "summary":
                    work = Work(seconds=self._seconds, processor_seconds=self._processor_seconds)
                    to.write(evidence.summary(inputs, work))
            outputs.publish()

    def write_manifest(self, path: str | os.PathLike[str]) -> None:
        """Write what was removed, and why: the command's manifest.

        A row without an id is called by its place, ``-:1``, ``-:2`` …, as the command calls what it
        reads from its standard input.

        Parameters
        ----------
        path : str or os.PathLike
            The file; it appears when it is whole, and is compressed if its name ends in ``.gz``,
            ``.bz2``, ``.xz``, ``.zst`` or ``.lz4``.
        """
        self._write(path, "manifest")

    def write_clusters(self, path: str | os.PathLike[str]) -> None:
        """Write the id of every document and of the one kept for it, as TSV.

        Parameters
        ----------
        path : str or os.PathLike
            The file, as for :meth:`write_manifest`.
        """
        self._write(path, "clusters")

    def write_summary(self, path: str | os.PathLike[str]) -> None:
        """Write the command's summary as JSON.

        Parameters
        ----------
        path : str or os.PathLike
            The file, as for :meth:`write_manifest`.
        """
        self._write(path, "summary")

    def __repr__(self) -> str:
        s = self.summary
        return (
            f"<neardup.Result: {s['rows']:,} rows, {s['rows'] - s['removed']:,} kept, {s['removed']:,} removed: "
            f"{s['identical_bytes']:,} with the same bytes, {s['identical_tokens']:,} with the same words, "
            f"{s['near']:,} near>"
        )


def _restored(
    kept: Mask, removed: Table, summary: dict[str, Any], recipe: Recipe, survivors: Any, copies: Column | None
) -> Result:
    """A result that was pickled."""
    result = Result.__new__(Result)
    result._native = result._seconds = None
    if copies is not None:
        result.copies = copies
    result._source = Source(None, lambda _: survivors, lambda name, rows: OwnColumn(name, []))
    result.kept, result.removed, result.summary, result.recipe = kept, removed, summary, recipe
    return result


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
    prefer: Preferred | None = None,
    within: str | None = None,
    never: Never | None = None,
    short: Literal["identical", "tokens", "keep"] | None = None,
    cluster: Literal["star", "components", "complete"] | None = None,
    recipe: Recipe | str | None = None,
    set: dict[str, Value] | None = None,
    df: Frequencies = None,
    against: str | os.PathLike[str] | Sketches | Sequence[str | os.PathLike[str] | Sketches] = (),
    only_against: bool = False,
    memory: str | int | None = None,
    tmp: str | os.PathLike[str] | None = None,
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
        iterable of ``str`` or of mappings, or files of JSON Lines, CSV, Parquet or Arrow IPC: a path, a
        pattern such as ``"pages/*.parquet"``, a list of paths that exist, or an address such as
        ``"s3://…"``, which fsspec reads.  Of a ``datasets.DatasetDict`` the splits come one after
        another.  Sketch files stand for the documents that they were made of: paths or a pattern, or
        what :func:`read_sketches` has opened; the notes say what they need.
        In place of a text may stand its tokens, a list of ``str``, ``bytes`` or ``int``, or a column of
        such lists: they are taken as they are (:func:`text_of_tokens`).
    text : str, optional
        The column with the text (default: "text").
    id : str, optional
        The column with the ids, of any type (default: none).  Sketch files have ids of their own.
    threshold : str, float or Fraction, optional
        Documents of at least this resemblance are duplicates (default: 0.8).
    shingle : int or str, optional
        Compare shingles of so many words; ``"9c"``: of so many characters (default: 3).
    method : {"minhash", "simhash", "identical"}, optional
        How candidates are found (default: "minhash").
    keep : str, optional
        Which document of a cluster is kept: ``"first"``, ``"last"``, ``"longest"``, ``"shortest"``,
        ``"newest:COLUMN"``, ``"max:COLUMN"``, ``"min:COLUMN"``, ``"longest:COLUMN"`` or
        ``"shortest:COLUMN"``; or ``"none"``: of two or more, none is (default: "first").
    prefer : tuple of str and sequence of str, optional
        A column, and its values that are preferred, the best first; it comes before `keep` (default:
        none).
    within : str, optional
        Compare only documents in which this column has the same value (default: compare all).
    never : mapping, optional
        Columns, and for each the value or values whose documents match no other, not even an equal
        one (default: none).
    short : {"identical", "tokens", "keep"}, optional
        When a document shorter than a shingle may be removed: if an identical one, or one of the
        same words, is kept, or never (default: "identical").
    cluster : {"star", "components", "complete"}, optional
        What a cluster is: documents that match the kept one, all that are connected by matches, or
        documents that all match one another (default: "star").
    recipe : Recipe or str, optional
        What a match is; the other arguments change a copy of it.  The defaults above are those of the
        default recipe; another recipe has its own.
    set : dict, optional
        Other keys of the recipe to change (default: none).
    df : DocumentFrequencies, path or "auto", optional
        The df table for the signatures that need one; ``"auto"``: count the data first (default:
        the files that the recipe names).
    against : path, Sketches or sequence of them, optional
        Sketch files (:func:`write_sketches`) of documents that were seen before: rows are compared
        with these too, and only rows are removed.  The survivors are those of one call for all
        documents, the seen ones first: `keep` and `prefer` choose among the rows.  The files keep the
        fields of `within` and `never` (``fields``), and shingles, unless the recipe verifies nothing.
        In memory is an index of the rows and of the documents that matter to them; sketches of the
        rows wait in a file in `tmp`.  With `memory` this is measured, and a call that needs more ends.
    only_against : bool, optional
        Compare rows with the documents of `against` alone, not with one another: a row is removed if it
        equals or matches any of them, as what quotes a benchmark.  With the key ``verify`` of the recipe
        set to ``"containment-of-kept"`` a row matches that contains most of such a document.  The
        summary counts by file, as ``quoted``; a row may count for several.
    memory : str or int, optional
        The most memory to use beside Python, its packages and the data, such as ``"2G"``, at least
        ``"64M"``: what does not fit waits in files (default: all that is needed).  The data may then
        be larger than memory if it comes as a stream (an Arrow stream, a generator) or is a file.  The
        result is a :class:`BoundedResult`, and says the same.
    tmp : path, optional
        The folder for these files (default: that of :mod:`tempfile`).  All that is read goes there.
    threads : int, optional
        How many threads work; 0, the default: one for each processor.
    progress : bool or callable, optional
        False, the default: nothing is shown.  True: show a bar of tqdm, or where that is missing a line
        on standard error.  A function is called with the number of rows that are done, and of all; an
        exception that it raises stops the work.
    nulls : {"keep", "drop", "raise"}, optional
        What happens to rows without a text: they are kept and compared with nothing; they are not
        among the survivors; or they are an error (default: "keep").

    Returns
    -------
    Result
        The survivors, and why each other row was removed.

    Raises
    ------
    InvalidError
        An argument is wrong; a column is missing or of another type; a df table is missing.
    TypeError
        The data cannot be read.
    MemoryError
        The `memory` is too little; the message says how much is needed.

    Notes
    -----
    Where the data is sketch files, decisions rest on sketches, and are those of ``neardup dedup`` over
    these files: what the recipe says of sketches comes from the first file, unless the call says
    otherwise.  The records must keep what decides, or the message names the option of ``neardup
    sketch`` by which they would: the fields of `within`, `never`, `prefer` and `keep` (``fields`` of
    :func:`write_sketches`), lengths (``length``) for ``keep="longest"`` and ``"shortest"``, and
    shingles unless the recipe verifies nothing.  The survivors are :class:`Sketches`, whose file,
    ``survivors.path``, is there as long as they are.  With `memory` what is held is measured, and a
    call that needs more ends.

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
    check_nulls(nulls)
    sketched = Sketched.of(data, text)
    compared: dict[str, Any] = {"id": id, "prefer": prefer, "within": within, "never": never}
    plan = sketched.plan(made, df, text, **compared) if sketched else Plan(made, text, **compared)
    paths = paths_of_sketches(against)
    if only_against:
        check_alone(plan, paths)
    seen = [Sketches(path, ["id", "source", "line"]) for path in paths]
    folder = os.fspath(tmp or tempfile.gettempdir())
    bytes_max = None if memory is None else _native.memory_parse(str(memory))
    old = None

    def open_old() -> Against | None:
        names = [file.path for file in seen]
        options: dict[str, Any] = {"append": False, "folder": folder, "threads": threads, "memory": bytes_max}
        options["sketched"] = sketched
        return Against(plan, names, alone=only_against, **options) if seen or sketched else None

    if bytes_max is not None:
        from ._bounded import dedup_bounded

        if not sketched:
            give_tables(made, df)
        old = open_old()
        with reporting(progress) as report:
            return dedup_bounded(
                sketched or data, plan, bytes_max, folder, threads, nulls, report, old, seen, only_against
            )
    started, processor = time.monotonic(), time.process_time()
    source = sketched.source(plan, folder) if sketched else plan.read(data, df, threads)
    if not sketched:
        _check_nulls(source, nulls)
    old = open_old()
    ids = None
    with reporting(progress) as report:
        if sketched and old:
            native = sketched.decide(plan, old, report)
            ids = partial(sketched.ids, old, native)
        elif old:
            old.add_frame(source.frame)
            native = old.decide_frames(report)
        else:
            native = plan.decide(source, threads, report)
    seconds, processor = time.monotonic() - started, time.process_time() - processor
    inputs = sketched.inputs if sketched else ()
    result = Result(native, source, plan, nulls, seconds, seen, processor, ids, old, inputs)
    if old and only_against:
        result.summary["quoted"] = old.quoted()
    return result


class Deduper:
    """Remove near-duplicates from batches as they come; each decision is final at once.

    Parameters
    ----------
    recipe : Recipe or str, optional
        What a match is (default: the default recipe); the other arguments change a copy of it.  Its key
        ``keep`` is ``first``, as earlier documents are kept, and ``cluster`` is not ``components``.
    text : str, optional
        The column with the text, of batches that have columns (default: "text").
    id : str, optional
        The column with the ids (default: none).  Those of kept documents are held in memory.
    threshold, shingle, method, within, never, short, cluster, set : optional
        As for :func:`dedup`.
    texts : {"memory", "spool"}, optional
        Where the texts of kept documents are held: in memory, or in a temporary file (default:
        "memory").
    df : DocumentFrequencies or path, optional
        The df table for the signatures that need one.
    threads : int, optional
        How many threads work; 0, the default: one for each processor.
    nulls : {"keep", "drop", "raise"}, optional
        As for :func:`dedup` (default: "keep").

    Examples
    --------
    >>> deduper = Deduper(threshold=0.7)
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
        id: str | None = None,
        threshold: str | float | Fraction | None = None,
        shingle: int | str | None = None,
        method: Literal["minhash", "simhash", "identical"] | None = None,
        within: str | None = None,
        never: Never | None = None,
        short: Literal["identical", "tokens", "keep"] | None = None,
        cluster: Literal["star", "complete"] | None = None,
        set: dict[str, Value] | None = None,
        texts: Literal["memory", "spool"] = "memory",
        df: DocumentFrequencies | str | os.PathLike[str] | None = None,
        threads: int = 0,
        nulls: Literal["keep", "drop", "raise"] = "keep",
    ) -> None:
        self.recipe = recipe_of(
            recipe, threshold=threshold, shingle=shingle, method=method, short=short, cluster=cluster, set=set
        )
        give_tables(self.recipe, df)
        keep, kind = self.recipe["keep"], self.recipe["cluster"]
        if keep != "first" or kind == "components":
            how = f"keep = {keep}" if keep != "first" else f"cluster = {kind}"
            raise _native.InvalidError(
                f"a stream keeps the first document of each cluster, as its decisions are final at once, and by {how} "
                "a later document could undo one: keep must be first, and cluster star or complete"
            )
        if texts not in ("memory", "spool"):
            raise _native.InvalidError(f"texts: '{texts}' is not memory or spool")
        self._nulls = check_nulls(nulls)
        self._plan = Plan(self.recipe, text, id=id, within=within, never=never)
        self._native = self._plan.stream(threads, tempfile.gettempdir() if texts == "spool" else None)
        self._rows = 0
        self._kept_ids: dict[int, Any] = {}

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
        source = read(data, self._plan.columns)
        _check_nulls(source, self._nulls)
        native = _native.stream_push(self._native, source.frame)
        first, kept = self._rows, _native.result_kept(native)
        self._rows += len(kept)
        if self._plan.id is None:
            return Result(native, source, self._plan, self._nulls)
        rows = [row for row, is_kept in enumerate(kept) if is_kept]
        values = source.values("id", self._plan.id, rows)
        self._kept_ids.update(zip((first + row for row in rows), values))

        def ids(table: Table) -> list[Column]:
            removed = source.values("id", str(self._plan.id), [row - first for row in table["row"]])
            kept = [self._kept_ids[row] for row in table["kept_row"]]
            return [OwnColumn("id", removed[:]), OwnColumn("kept_id", kept)]

        return Result(native, source, self._plan, self._nulls, ids=ids)
