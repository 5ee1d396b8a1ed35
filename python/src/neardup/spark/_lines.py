"""Deduplication of files of JSON Lines that the executors read and write themselves.

A document is called by its place: the number of its file, and the byte at which its line begins.  So
places have the order of the files and lines, a task that decides reads the lines of its documents
again where they are, and no text passes through Java or a shuffle.
"""

from __future__ import annotations

import array
import bisect
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple

from .. import _native
from .._dedup import Result as LocalResult
from .._dedup import dedup as local_dedup
from .._files import as_bytes, expanded
from .._frames import Columns, append_rows
from .._plan import recipe_of
from .._recipe import Recipe, Value
from ._candidates import BLOBS, rows_of, write_rows
from ._dedup import (
    COLLECTED,
    COMPONENT,
    DECIDE_BYTES,
    EVIDENCE,
    NODE,
    SMALL_BYTES,
    Candidates,
    evidence_types,
    find_labels,
    refuse,
)
from ._session import cores_of, need_spark

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

# Bytes of a file for a task, which it reads in pieces.
RANGE_BYTES = 64 << 20
PIECE_BYTES = 4 << 20
# In a place, the bits of the byte: of files of up to 16 TB.
FILE_SHIFT = 44
OPEN_FILES = 64


class FilesDeduplicated(NamedTuple):
    """What :func:`dedup_files` returns: the manifest, and how many documents there were and how many are kept."""

    manifest: DataFrame
    documents: int
    kept: int


# ---- Lines ----


def lines_of(file: IO[bytes], start: int, stop: int) -> Iterator[tuple[int, list[bytes]]]:
    """Pieces of the lines that begin in a range of a file: the byte where each begins, and its lines."""
    if start:
        file.seek(start - 1)
        start += len(file.readline()) - 1
    file.seek(start)
    while start < stop:
        lines = file.readlines(min(PIECE_BYTES, stop - start))
        if not lines:
            return
        end = start + sum(map(len, lines))
        while end - len(lines[-1]) >= stop:  # it begins behind the range
            end -= len(lines.pop())
        yield start, lines
        start = end


def _bad(path: str, offset: int, why: object) -> _native.InvalidError:
    """What to raise for the line that begins at a byte of a file."""
    line = 1
    with open(path, "rb") as file:
        while offset > 0 and (data := file.read(min(offset, PIECE_BYTES))):
            offset -= len(data)
            line += data.count(b"\n")
    return _native.InvalidError(f"{path}:{line}: {why}")


def parsed(path: str, offset: int, line: bytes, text: str) -> dict[str, Any]:
    """The object of a line.

    Raises
    ------
    InvalidError
        It is none, or has no text.
    """
    try:
        record = json.loads(line.rstrip().decode("utf-8-sig", "surrogateescape"))
    except ValueError as error:
        raise _bad(path, offset, error) from None
    if not isinstance(record, dict):
        raise _bad(path, offset, "not an object")
    if text not in record:
        raise _bad(path, offset, f"there is no '{text}'; there are {list(record)}")
    if not isinstance(record[text], (str, type(None))):
        raise _bad(path, offset, f"'{text}' is a {type(record[text]).__name__}, not a str")
    return {name: as_bytes(value) for name, value in record.items()}


def texts_of(lines: Sequence[bytes], text: str, id: str | None = None) -> Any:
    """The texts of lines, and ids that are strings, as a table of pyarrow.

    None: its reader has not read them, or some have no text.
    """
    import pyarrow
    import pyarrow.json as reader

    data = b"".join(lines)
    names = dict.fromkeys([text] if id is None else [text, id])
    try:
        table = reader.read_json(
            pyarrow.BufferReader(data),
            read_options=reader.ReadOptions(use_threads=False, block_size=len(data) + 1),
            parse_options=reader.ParseOptions(
                explicit_schema=pyarrow.schema([(name, pyarrow.string()) for name in names]),
                unexpected_field_behavior="ignore",
            ),
        )
        table.validate(full=True)  # the reader does not look whether strings are UTF-8
    except pyarrow.ArrowInvalid:
        return None
    return table if table.num_rows == len(lines) and not table.column(text).null_count else None


# ---- Steps ----


@dataclass(frozen=True)
class SketchingLines:
    """Records of the documents of ranges."""

    recipe: str
    files: tuple[str, ...]
    columns: tuple[str, ...]  # the text first
    within: int
    fields: tuple[int, ...]

    def __call__(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        return write_rows(self._made(batches))

    def _made(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[tuple[bytes, bytes]]:
        maker = rows_of(self.recipe)
        for batch in batches:
            for row in batch.to_pylist():
                with open(self.files[row["file"]], "rb") as file:
                    for offset, lines in lines_of(file, row["start"], row["stop"]):
                        frame, nodes = self._frame(row["file"], offset, lines)
                        yield _native.rows_make(maker, frame, nodes, self.within, self.fields)

    def _frame(self, file: int, offset: int, lines: list[bytes]) -> tuple[Any, array.array[int]]:
        """A native frame of lines that stand one behind another, and their places."""
        nodes = array.array("q")
        records = []
        table = texts_of(lines, self.columns[0]) if len(self.columns) == 1 else None
        for line in lines:
            if line.strip():
                nodes.append((file << FILE_SHIFT) + offset)
                if table is None:
                    records.append(parsed(self.files[file], offset, line, self.columns[0]))
            offset += len(line)
        frame = _native.frame_new(self.columns)
        if table is not None:
            _native.frame_open(frame, table.__arrow_c_stream__())
            while _native.frame_read(frame, 1 << 40):
                pass
        else:
            columns = Columns(self.columns[0])
            for name in self.columns[1:]:
                columns.add(name)
            append_rows(frame, columns, records, 0)
        return frame, nodes


@dataclass(frozen=True)
class DecidingLines:
    """The engine of one machine, given the lines of whole components, which are read where they are."""

    recipe: str
    files: tuple[str, ...]
    text: str
    id: str | None
    within: str | None
    prefer: tuple[str, tuple[str, ...]] | None
    is_plain: bool  # nothing but the text is read
    ranges: tuple[int, ...]  # the place where each begins

    def __call__(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        opened: dict[int, IO[bytes]] = {}
        nodes: list[int] = []
        lines: list[bytes] = []
        size, last = 0, None
        for batch in batches:
            for component, node in zip(batch.column(COMPONENT).to_pylist(), batch.column(NODE).to_pylist()):
                if size >= DECIDE_BYTES and component != last:
                    yield self._decided(nodes, lines)
                    nodes, lines, size = [], [], 0
                last = component
                nodes.append(node)
                lines.append(self._line(opened, node))
                size += len(lines[-1])
        if nodes:
            yield self._decided(nodes, lines)
        for file in opened.values():
            file.close()

    def _line(self, opened: dict[int, IO[bytes]], node: int) -> bytes:
        number = node >> FILE_SHIFT
        file = opened.get(number)
        if file is None:
            if len(opened) == OPEN_FILES:
                opened.pop(next(iter(opened))).close()
            file = opened[number] = open(self.files[number], "rb", buffering=1 << 16)
        file.seek(node & (1 << FILE_SHIFT) - 1)
        line = file.readline()
        return line if line.endswith(b"\n") else line + b"\n"

    def _record(self, node: int, line: bytes) -> dict[str, Any]:
        return parsed(self.files[node >> FILE_SHIFT], node & (1 << FILE_SHIFT) - 1, line, self.text)

    def _decided(self, nodes: list[int], lines: list[bytes]) -> pyarrow.RecordBatch:
        import pyarrow

        data: Any = texts_of(lines, self.text, self.id) if self.is_plain else None
        is_table = data is not None
        if not is_table:
            data = [self._record(node, line) for node, line in zip(nodes, lines)]
        ids = None
        if self.id is not None and is_table:
            ids = data.column(self.id).combine_chunks()
        elif self.id is not None:
            ids = pyarrow.array([_called(record.get(self.id)) for record in data], pyarrow.string())
        result: LocalResult = local_dedup(
            data, self.text, recipe=Recipe.parse(self.recipe), within=self.within, prefer=self.prefer, threads=1
        )
        removed = pyarrow.record_batch(result.removed)
        arrays: list[Any] = []
        for rows in (removed.column(name).to_pylist() for name in ("row", "kept_row", "via_row")):
            places = [nodes[row] for row in rows]
            arrays.append(pyarrow.array([self.files[place >> FILE_SHIFT] for place in places], pyarrow.string()))
            arrays.append(pyarrow.array([place & (1 << FILE_SHIFT) - 1 for place in places], pyarrow.int64()))
            if ids is not None:
                arrays.append(ids.take(pyarrow.array(rows, pyarrow.int64())))
        arrays += [removed.column(name).cast(kind) for name, kind in evidence_types().items()]
        places = [nodes[row] for row in removed.column("row").to_pylist()]
        arrays.append(pyarrow.array(places, pyarrow.int64()))
        arrays.append(pyarrow.array([bisect.bisect_right(self.ranges, place) - 1 for place in places], pyarrow.int64()))
        return pyarrow.RecordBatch.from_arrays(arrays, [*manifest_columns(self.id), NODE, "range"])


def _called(value: Any) -> str | None:
    """An id as a string: of another value its JSON."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def manifest_columns(id: str | None) -> list[str]:
    """The names of the columns of a manifest."""
    names = [prefix + name for prefix in ("", "kept_", "via_") for name in ("file", "offset", *(["id"] if id else []))]
    return names + [column.split()[0] for column in EVIDENCE.split(", ")]


@dataclass(frozen=True)
class Writing:
    """The lines that are kept, of each range in a file of its own."""

    files: tuple[str, ...]
    folder: str

    def __call__(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow

        for batch in batches:
            counts = [self._write(**row) for row in batch.to_pylist()]
            arrays = [pyarrow.array(some, pyarrow.int64()) for some in zip(*counts)]
            if arrays:
                yield pyarrow.RecordBatch.from_arrays(arrays, ["documents", "kept"])

    def _write(self, range: int, file: int, start: int, stop: int, gone: list[int] | None) -> tuple[int, int]:
        removed = frozenset(gone or ())
        documents = kept = 0
        path = os.path.join(self.folder, f"part-{range:05}.jsonl")
        own = f"{path}.{os.getpid()}.tmp"
        with open(self.files[file], "rb") as source, open(own, "wb") as target:
            for offset, lines in lines_of(source, start, stop):
                place = (file << FILE_SHIFT) + offset
                for line in lines:
                    if line.strip():
                        documents += 1
                        if place not in removed:
                            kept += 1
                            target.write(line if line.endswith(b"\n") else line + b"\n")
                    place += len(line)
        os.replace(own, path)
        return documents, kept


# ---- The job ----


def _ranges(files: Sequence[str]) -> dict[str, list[int]]:
    """The ranges of files, each with its number."""
    found: dict[str, list[int]] = {"range": [], "file": [], "start": [], "stop": []}
    for number, path in enumerate(files):
        size = os.path.getsize(path)
        for start in range(0, max(size, 1), RANGE_BYTES):
            row = (len(found["range"]), number, start, min(start + RANGE_BYTES, size))
            for column, value in zip(found.values(), row):
                column.append(value)
    return found


def _sources(source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> tuple[str, ...]:
    paths = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    files = tuple(os.path.abspath(one) for path in paths for one in expanded(os.fspath(path)))
    if not files:
        raise _native.InvalidError("there are no files")
    for path in files:
        if not path.lower().endswith((".jsonl", ".ndjson", ".json")):
            raise _native.UnsupportedError(
                f"{path}: executors read files of JSON Lines that are not compressed: .jsonl, .ndjson, .json; "
                "read any other by spark.read, and call dedup"
            )
        if not os.path.isfile(path):
            raise _native.InvalidError(f"{path}: there is no such file")
    return files


def dedup_files(
    spark: SparkSession,
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    target: str | os.PathLike[str],
    text: str = "text",
    id: str | None = None,
    *,
    within: str | None = None,
    threshold: str | float | Fraction | None = None,
    shingle: int | str | None = None,
    method: Literal["minhash", "simhash", "identical"] | None = None,
    keep: str | None = None,
    prefer: tuple[str, Sequence[str]] | None = None,
    short: Literal["identical", "tokens", "keep"] | None = None,
    cluster: Literal["star", "components", "complete"] | None = None,
    recipe: Recipe | str | None = None,
    set: dict[str, Value] | None = None,
    partitions: int | None = None,
) -> FilesDeduplicated:
    r"""Remove near-duplicate documents from files of JSON Lines that the executors read themselves.

    The survivors and the manifest are those of :func:`neardup.dedup_files`, for the files in the order
    in which they are given.  No text passes through Java: a task reads a range of a file, and one
    that decides reads the lines of its documents again.

    Parameters
    ----------
    spark : SparkSession
        The session.
    source : path or sequence of paths
        Files of JSON Lines, not compressed, or patterns such as ``"pages/*.jsonl"``.  The driver and
        all executors see them under these names, and nobody changes them.
    target : path
        A folder for the survivors, seen likewise.  It is made where there is none, and has no such
        files yet.  The lines of a range of a file go to ``part-00000.jsonl`` and so on, byte for byte.
    text : str, optional
        The field with the text.
    id : str, optional
        The field with the ids, for the manifest.
    within, threshold, shingle, method, keep, prefer, short, cluster, recipe, set : optional
        As for :func:`dedup`.  Lines without a text are kept.
    partitions : int, optional
        How many tasks decide (default: one for every 64 MB, and at least two for each core).

    Returns
    -------
    FilesDeduplicated
        ``manifest``, a row for each line that is removed: ``file``, ``offset``, the byte where the
        line begins, and ``id`` if one is asked for; the same of the line that stands for it, as
        ``kept_…``, and of the neighbour that connects it, as ``via_…``; and the evidence, as of
        :func:`dedup`.  Moreover ``documents`` and ``kept``, how many there were and are.

    Raises
    ------
    InvalidError
        An argument is wrong, there is no such file, or the folder has survivors already.  A line that
        is no object, or has no text, stops the job with ``file:line: reason``.
    UnsupportedError
        A file is of another kind, or the recipe does not run on Spark.

    Examples
    --------
    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with open(f"{folder}/pages.jsonl", "w") as file:
    ...     _ = file.write('{"text": "a b c d e"}\\n{"text": "A, b, c, d, e"}\\n{"text": "f g"}\\n')
    >>> result = dedup_files(spark, f"{folder}/pages.jsonl", f"{folder}/kept")
    >>> result.documents, result.kept
    (3, 2)
    >>> [(row.offset, row.kept_offset, row.identical) for row in result.manifest.collect()]
    [(22, 0, 'tokens')]
    """
    need_spark()
    import pyarrow
    from pyspark.sql import functions as F

    made = recipe_of(
        recipe, threshold=threshold, shingle=shingle, method=method, keep=keep, short=short, cluster=cluster, set=set
    )
    if made["keep"] == "none":
        raise _native.UnsupportedError("keep: none is for neardup.dedup and the command; here filter the manifest")
    refuse(recipe, made)
    files = _sources(source)
    folder = os.path.abspath(target)
    os.makedirs(folder, exist_ok=True)
    if any(name.startswith("part-") and name.endswith(".jsonl") for name in os.listdir(folder)):
        raise _native.InvalidError(f"{folder}: has survivors already")
    ranges = _ranges(files)
    size = sum(ranges["stop"]) - sum(ranges["start"])
    parts = max(2 * cores_of(spark), -(-size // RANGE_BYTES)) if partitions is None else partitions
    if parts < 1:
        raise _native.InvalidError(f"partitions: {partitions} is less than 1")

    columns = Columns(text)
    group = columns.add(within)
    fields = tuple(dict.fromkeys(columns.add(name) for name in _native.recipe_fields(made._native)))
    names = tuple(str(name) for name in columns.names)
    table = pyarrow.table({name: pyarrow.array(some, pyarrow.int64()) for name, some in ranges.items()})
    sketching = SketchingLines(made.text, files, names, group, fields)
    sketched = spark.createDataFrame(table).mapInArrow(sketching, BLOBS)
    labels, n = find_labels(spark, sketched, Candidates(made.text, size < SMALL_BYTES, parts))

    policy = made["keep"].partition(":")[2] or None
    preferred = (prefer[0], tuple(prefer[1])) if prefer else None
    starts = tuple((file << FILE_SHIFT) + start for file, start in zip(ranges["file"], ranges["start"]))
    is_plain = len(names) == 1 and policy is None and prefer is None
    deciding = DecidingLines(made.text, files, text, id, within, preferred, is_plain, starts)
    kinds = {"file": "string", "offset": "bigint", "id": "string"}
    schema = [f"`{name}` {kinds[name.rpartition('_')[2]]}" for name in manifest_columns(id)[: -len(evidence_types())]]
    whole = ", ".join([*schema, EVIDENCE, f"{NODE} bigint", "range bigint"])
    together = labels.repartition(parts, COMPONENT).sortWithinPartitions(COMPONENT, NODE)
    decided = together.mapInArrow(deciding, whole)
    if n <= COLLECTED:
        collected = decided.toArrow()
        decided = spark.createDataFrame(collected, whole)
        gone: list[list[int]] = [[] for _ in starts]
        for number, place in zip(collected.column("range").to_pylist(), collected.column(NODE).to_pylist()):
            gone[number].append(place)
        kept = spark.createDataFrame(table.append_column("gone", pyarrow.array(gone, pyarrow.list_(pyarrow.int64()))))
    else:
        decided = decided.persist()
        lists = decided.groupBy("range").agg(F.collect_list(NODE).alias("gone"))
        kept = spark.createDataFrame(table).join(lists, "range", "left")
    counts = kept.mapInArrow(Writing(files, folder), "documents bigint, kept bigint").collect()
    manifest = decided.select(*manifest_columns(id))
    return FilesDeduplicated(manifest, sum(row.documents for row in counts), sum(row.kept for row in counts))
