"""Deduplication of files of JSON Lines, of which executors read and write ranges.

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
from typing import IO, TYPE_CHECKING, Any

from .. import _native
from .._files import as_bytes
from .._frames import Columns, append_rows
from ._candidates import rows_of, write_rows
from ._dedup import NODE, Labels
from ._packing import COMPONENT, DECIDE_BYTES
from ._places import Asked, called, manifest_of, written

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

# Bytes of a file for a task, which it reads in pieces.
RANGE_BYTES = 64 << 20
PIECE_BYTES = 4 << 20
# In a place, the bits of the byte: of files of up to 16 TB.
FILE_SHIFT = 44
OPEN_FILES = 64


# ---- Lines ----


def ranges_of(files: Sequence[str]) -> dict[str, list[int]]:
    """The ranges of files, each with its number."""
    found: dict[str, list[int]] = {"range": [], "file": [], "start": [], "stop": []}
    for number, path in enumerate(files):
        size = os.path.getsize(path)
        for start in range(0, max(size, 1), RANGE_BYTES):
            row = (len(found["range"]), number, start, min(start + RANGE_BYTES, size))
            for column, value in zip(found.values(), row):
                column.append(value)
    return found


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
    """Return the error to raise for the line that begins at a byte of a file."""
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

    asked: Asked
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
            file = opened[number] = open(self.asked.files[number], "rb", buffering=1 << 16)
        file.seek(node & (1 << FILE_SHIFT) - 1)
        line = file.readline()
        return line if line.endswith(b"\n") else line + b"\n"

    def _record(self, node: int, line: bytes) -> dict[str, Any]:
        return parsed(self.asked.files[node >> FILE_SHIFT], node & (1 << FILE_SHIFT) - 1, line, self.asked.text)

    def _decided(self, nodes: list[int], lines: list[bytes]) -> pyarrow.RecordBatch:
        import pyarrow

        asked = self.asked
        data: Any = texts_of(lines, asked.text, asked.id) if not asked.others else None
        is_table = data is not None
        if not is_table:
            data = [self._record(node, line) for node, line in zip(nodes, lines)]
        ids = None
        if asked.id is not None and is_table:
            ids = data.column(asked.id).combine_chunks()
        elif asked.id is not None:
            ids = pyarrow.array([called(record.get(asked.id)) for record in data], pyarrow.string())
        return manifest_of(asked.decide(data), nodes, ids, self._place)

    def _place(self, node: int) -> tuple[str, int, int]:
        offset = node & (1 << FILE_SHIFT) - 1
        return self.asked.files[node >> FILE_SHIFT], offset, bisect.bisect_right(self.ranges, node) - 1


@dataclass(frozen=True)
class Writing:
    """The lines that are kept, of each range in a file of its own."""

    files: tuple[str, ...]
    folder: str

    def __call__(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        return written(batches, lambda row: self._write(**row))

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


@dataclass(frozen=True)
class LinesJob:
    """The steps of a job over files of JSON Lines."""

    asked: Asked
    pieces: dict[str, list[int]]
    size: int

    @classmethod
    def of(cls, asked: Asked) -> LinesJob:
        """The job over the files that are asked for."""
        pieces = ranges_of(asked.files)
        return cls(asked, pieces, sum(pieces["stop"]) - sum(pieces["start"]))

    def sketching(self) -> SketchingLines:
        """The first step."""
        columns, group, fields = self.asked.columns()
        names = tuple(str(name) for name in columns.names)
        return SketchingLines(self.asked.recipe, self.asked.files, names, group, fields)

    def decided(self, spark: SparkSession, labels: Labels, parts: int, schema: str) -> DataFrame:
        """The documents that are removed."""
        starts = tuple((file << FILE_SHIFT) + start for file, start in zip(self.pieces["file"], self.pieces["start"]))
        deciding = DecidingLines(self.asked, starts)
        together = labels.to_frame(spark).repartition(parts, COMPONENT).sortWithinPartitions(COMPONENT, NODE)
        return together.mapInArrow(deciding, schema)

    def writing(self, folder: str) -> Writing:
        """The last step."""
        return Writing(self.asked.files, folder)
