"""Files that a run reads twice: rows for the decisions, then whole records for the survivors."""

from __future__ import annotations

import bisect
import csv
import json
import lzma
import os
import queue
import sys
import threading
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, ClassVar, TypeVar, cast

from . import _native
from ._files import is_address
from ._frames import Columns, by_slices
from ._optional import other_files
from ._outputs import Output
from ._packed import COMPRESSIONS, unpacked
from ._remote import Remote
from ._room import Room

# Text of a batch, and records of one that survive and wait to be written.
_BATCH_BYTES = 4 << 20
_GROUP_BYTES = 64 << 20
_BUFFER_BYTES = 1 << 20
# Values of a field that is added.
_ADDED_AT_ONCE = 1 << 13

T = TypeVar("T")


def ahead(items: Iterator[T]) -> Iterator[T]:
    """Yield the items, while a thread makes the next ones."""
    waiting: queue.Queue[tuple[bool, Any]] = queue.Queue(1)
    is_over = threading.Event()

    def put(is_item: bool, item: object) -> bool:
        while not is_over.is_set():
            try:
                waiting.put((is_item, item), timeout=0.1)
                return True
            except queue.Full:
                pass
        return False

    def make() -> None:
        try:
            for item in items:
                if not put(True, item):
                    return
            put(False, None)
        except BaseException as error:  # it is raised where the items are taken
            put(False, error)

    thread = threading.Thread(target=make, daemon=True)
    thread.start()
    try:
        while True:
            is_item, item = waiting.get()
            if not is_item:
                break
            yield item
        if item is not None:
            raise item
    finally:
        is_over.set()
        thread.join()


@dataclass
class Rows:
    """Some rows of a file: a native frame, and the lines that they stand in.

    `lines` has the row and the line of each row that does not stand in the line after the row before;
    `offsets` has where the record of each row begins, in files of lines.
    """

    frame: Any
    count: int
    bytes: int
    lines: Sequence[tuple[int, int]] = ()
    offsets: array[int] | None = None


@dataclass(frozen=True)
class Added:
    """A field that survivors get: its name, and 64-bit integers for some rows of a source from one on."""

    name: str
    values: Callable[[int, int], bytes]


@dataclass(frozen=True)
class Mark:
    """Which file it is, and how it was when it was read."""

    device: int
    inode: int
    size: int
    modified: int

    @classmethod
    def of(cls, path: str) -> Mark:
        about = os.stat(path)
        return cls(about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns)


class AllBut:
    """The mask of all records but a few, however many there are.

    `count` is how many records were asked about.
    """

    def __init__(self, gone: Iterable[int]) -> None:
        self._gone = sorted(gone)
        self._set = frozenset(self._gone)
        self.count = 0

    def __len__(self) -> int:
        return sys.maxsize

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            self.count = max(self.count, at.stop)
            some = bytearray(b"\1") * (at.stop - at.start)
            for i in self._gone[bisect.bisect_left(self._gone, at.start) : bisect.bisect_left(self._gone, at.stop)]:
                some[i - at.start] = 0
            return memoryview(some)
        self.count = max(self.count, at + 1)
        return at not in self._set


Mask = memoryview | AllBut


class Source:
    """A file.

    Attributes
    ----------
    path : str
        The file as it was given; below a folder, joined to it.
    file : str
        Where it is read: the path, or a copy of what is at an address.
    name : str
        Its name in a folder of outputs.
    records, bytes : int
        What was read, uncompressed.
    room : Room
        Memory in which what was decoded for the decisions may wait until it is copied.
    added : Added, optional
        A field that survivors get, and no record has.
    """

    format: ClassVar[str]
    is_text: ClassVar[bool] = False

    def __init__(self, path: str, name: str, file: str | None = None) -> None:
        self.path = path
        self.file = file or path
        self.name = name
        self.records = 0
        self.bytes = 0
        self.compression = "none"
        self.first_line = 1
        self.room = Room(0)
        self.added: Added | None = None
        self.mark = Mark.of(self.file)

    def has_column(self, name: str) -> bool:
        """Whether there is this column."""
        raise NotImplementedError

    def rows(self, columns: Columns) -> Iterator[Rows]:
        """Read what decides."""
        raise NotImplementedError

    def copy(self, mask: Mask, kept: Output | None, removed: Output | None) -> None:
        """Write the records whose bytes in the mask are 1, and the others."""
        raise NotImplementedError

    def _refuse_added(self, place: str, what: str) -> None:
        """Refuse to replace a value."""
        assert self.added
        raise _native.InvalidError(
            f"{place}: there is a {what} '{self.added.name}' already: choose another name for copies_field"
        )

    def picked(self, columns: Columns, wanted: Sequence[int]) -> Iterator[Any]:
        """Record batches of pyarrow with these columns of some records, whose numbers grow."""
        raise NotImplementedError

    def check_unchanged(self) -> None:
        """Refuse a file that changed while it was read."""
        if Mark.of(self.file) != self.mark:
            raise _native.Error(f"{self.path}: changed while it was read")

    def hash(self) -> int:
        """Hash the file as it is stored."""
        with open(self.file, "rb", buffering=0) as file:
            return _native.file_hash(file.fileno())


# ---- Parquet and Arrow ----


def _pyarrow(path: str) -> Any:
    """Import pyarrow and its parts, or say that it is missing."""
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError:
        raise _native.UnsupportedError(f"{path}: reading it needs pyarrow: pip install pyarrow") from None
    return pyarrow


def release_unused() -> None:
    """Give back memory that pyarrow holds and does not use."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow:
        pyarrow.default_memory_pool().release_unused()


def _partition(name: str) -> dict[str, str | None]:
    """The columns that the folders of a partitioned data set name: ``year=2024``."""
    from urllib.parse import unquote

    parts = (folder.partition("=") for folder in os.path.dirname(name).split(os.sep))
    return {
        key: None if value == "__HIVE_DEFAULT_PARTITION__" else unquote(value) for key, is_one, value in parts if is_one
    }


class _Table(Source):
    """A file of record batches."""

    def _columns(self, columns: Columns, names: Sequence[str]) -> list[str]:
        """The columns to read from the file; others are named by its folders."""
        wanted = [cast(str, name) for name in columns.names]
        there = set(names)
        of_folders = _partition(self.name)
        if self.added and (self.added.name in there or self.added.name in of_folders):
            self._refuse_added(self.path, "column")
        for name in wanted:
            if name not in there and name not in of_folders:
                raise _native.InvalidError(
                    f"{self.path}: there is no column '{name}'; there are {[*names, *of_folders]}"
                )
        return [name for name in dict.fromkeys(wanted) if name in there]

    def _with_folders(self, columns: Columns, batch: Any) -> Any:
        """The columns, those that folders name among them."""
        pyarrow = _pyarrow(self.path)
        of_folders = _partition(self.name)
        for name in columns.names:
            if name not in batch.schema.names:
                value = of_folders[cast(str, name)]
                batch = batch.append_column(name, pyarrow.array([value] * batch.num_rows, pyarrow.string()))
        return batch

    def _picked(self, columns: Columns, batch: Any, at: int, wanted: Sequence[int]) -> Any:
        """The wanted rows of a batch whose first row is `at`; None: there are none."""
        some = [i - at for i in wanted[bisect.bisect_left(wanted, at) : bisect.bisect_left(wanted, at + len(batch))]]
        if not some:
            return None
        pyarrow = _pyarrow(self.path)
        return self._with_folders(columns, batch).take(pyarrow.array(some, pyarrow.int64()))

    def _frame(self, columns: Columns, batch: Any) -> Rows:
        batch = self._with_folders(columns, batch)
        frame = _native.frame_new(tuple(columns.names))
        try:
            _native.frame_take(frame, *batch.__arrow_c_array__())
        except _native.InvalidError as error:
            raise _native.InvalidError(f"{self.path}: {error}") from None
        self.records += batch.num_rows
        return Rows(frame, batch.num_rows, batch.nbytes)

    def _with_added(self, schema: Any) -> Any:
        """The schema of survivors."""
        if not self.added:
            return schema
        pyarrow = _pyarrow(self.path)
        return schema.append(pyarrow.field(self.added.name, pyarrow.int64(), nullable=False))

    def _kept(self, batch: Any, mask: memoryview, at: int) -> list[Any]:
        """Batches of the rows of this one that survive, the first of which is row `at`."""
        pyarrow = _pyarrow(self.path)
        if self.added:
            values = pyarrow.py_buffer(self.added.values(at, batch.num_rows))
            column = pyarrow.Array.from_buffers(pyarrow.int64(), batch.num_rows, [None, values])
            schema = self._with_added(batch.schema)
            batch = pyarrow.RecordBatch.from_arrays([*batch.columns, column], schema=schema)
        return _filtered(pyarrow, batch, mask, 1)

    def _failed(self, error: Exception) -> Exception:
        return _native.Error(f"{self.path}: {' '.join(str(error).split())}")


def _filtered(pyarrow: Any, batch: Any, mask: memoryview, wanted: int) -> list[Any]:
    """Batches of the rows whose bytes are `wanted`."""
    count = bytes(mask).count(wanted)
    if count == 0 or count == batch.num_rows:
        return [batch] if count else []
    chosen = bytes(mask) if wanted else bytes(1 - byte for byte in mask)
    try:
        bits = pyarrow.py_buffer(_native.pack_bits(chosen))
        return [batch.filter(pyarrow.Array.from_buffers(pyarrow.bool_(), len(chosen), [None, bits]))]
    except NotImplementedError:  # of string_view, for one
        return list(by_slices(batch, chosen).to_batches())


class Parquet(_Table):
    """A Parquet file, read a row group at a time, and from that a few megabytes."""

    format = "parquet"

    def _open(self) -> Any:
        pyarrow = _pyarrow(self.path)

        try:
            return pyarrow.parquet.ParquetFile(self.file, buffer_size=_BUFFER_BYTES, pre_buffer=False)
        except (pyarrow.ArrowException, OSError) as error:
            raise self._failed(error) from None

    def has_column(self, name: str) -> bool:
        with self._open() as file:
            return name in file.schema_arrow.names or name in _partition(self.name)

    def __init__(self, path: str, name: str, file: str | None = None) -> None:
        super().__init__(path, name, file)
        self._held: dict[int, list[Any]] = {}  # of row groups that fit into the room, all columns
        self.groups: range | None = None  # the row groups that are read; None: all

    def sizes(self) -> list[tuple[int, int]]:
        """The rows and the bytes, unpacked, of each row group."""
        with self._open() as file:
            groups = map(file.metadata.row_group, self._numbers(file))
            return [(group.num_rows, group.total_byte_size) for group in groups]

    def _numbers(self, file: Any) -> range:
        """The row groups that are read."""
        return range(file.num_row_groups) if self.groups is None else self.groups

    def rows(self, columns: Columns) -> Iterator[Rows]:
        pyarrow = _pyarrow(self.path)
        with self._open() as file:
            self.bytes = sum(file.metadata.row_group(i).total_byte_size for i in self._numbers(file))
            wanted = self._columns(columns, file.schema_arrow.names)
            try:
                for group in self._numbers(file):
                    for batch in self._decoded(file, group, wanted):
                        yield self._frame(columns, batch)
            except (pyarrow.ArrowException, OSError) as error:
                raise self._failed(error) from None

    def picked(self, columns: Columns, wanted: Sequence[int]) -> Iterator[Any]:
        pyarrow = _pyarrow(self.path)
        with self._open() as file:
            names = self._columns(columns, file.schema_arrow.names)
            at = 0
            try:
                for group in self._numbers(file):
                    end = at + file.metadata.row_group(group).num_rows
                    if bisect.bisect_left(wanted, at) < bisect.bisect_left(wanted, end):
                        for batch in _batches(file, group, names):
                            if some := self._picked(columns, batch, at, wanted):
                                yield some
                            at += batch.num_rows
                    at = end
            except (pyarrow.ArrowException, OSError) as error:
                raise self._failed(error) from None

    def _decoded(self, file: Any, group: int, wanted: list[str]) -> Iterator[Any]:
        """The columns of a row group that decide; all are decoded where they can wait to be copied."""
        if file.metadata.row_group(group).total_byte_size > self.room.left:
            yield from _batches(file, group, wanted)
            return
        held: list[Any] | None = []
        for batch in _batches(file, group, None):
            if held is not None and self.room.take(batch.nbytes):
                held.append(batch)
            elif held is not None:  # it is larger than the file says
                self.room.give_back(sum(one.nbytes for one in held))
                held = None
            yield batch.select(wanted)
        if held is not None:
            self._held[group] = held

    def _copied(self, file: Any, group: int) -> Iterator[Any]:
        """All of a row group, which waits no longer."""
        held = self._held.pop(group, None)
        return iter(_batches(file, group, None) if held is None else held)

    def copy(self, mask: Mask, kept: Output | None, removed: Output | None) -> None:
        pyarrow = _pyarrow(self.path)
        with self._open() as file:
            schemas = (self._with_added(file.schema_arrow), file.schema_arrow)
            to = [
                (_Writer(pyarrow, file, output, schema), wanted)
                for output, schema, wanted in zip((kept, removed), schemas, (1, 0))
                if output
            ]
            at = 0
            try:
                for group in self._numbers(file):
                    left = file.metadata.row_group(group).num_rows
                    needed = [w for w in to if bytes(mask[at : at + left]).count(w[1])]
                    batches = self._copied(file, group)
                    for batch in batches if needed else ():
                        part = mask[at : at + batch.num_rows]
                        for writer, wanted in needed:
                            writer.add(self._kept(batch, part, at) if wanted else _filtered(pyarrow, batch, part, 0))
                        at += batch.num_rows
                        left -= batch.num_rows
                    at += left
                    for writer, _ in to:
                        writer.end_group()
            except (pyarrow.ArrowException, OSError) as error:
                raise self._failed(error) from None
            for writer, _ in to:
                writer.close()


def _batches(file: Any, group: int, columns: list[str] | None) -> Iterator[Any]:
    """A row group, decoded a few megabytes at a time; columns None: all of them."""
    size = _batch_rows(file.metadata.row_group(group), columns)
    yield from file.iter_batches(size, row_groups=[group], columns=columns, use_threads=False)


def _batch_rows(group: Any, columns: list[str] | None) -> int:
    """How many rows of a row group have the bytes of a batch, on average."""
    parts = [group.column(i) for i in range(group.num_columns)]
    if columns is not None:
        parts = [part for part in parts if part.path_in_schema.partition(".")[0] in columns]
    size, rows = sum(int(part.total_uncompressed_size) for part in parts), int(group.num_rows)
    return max(16, min(1 << 16, _BATCH_BYTES * max(1, rows) // max(1, size)))


class _Writer:
    """Writes a Parquet file as another one was written."""

    def __init__(self, pyarrow: Any, file: Any, output: Output, schema: Any) -> None:
        self._pyarrow = pyarrow
        self._waiting: list[Any] = []
        self._bytes = 0
        self._schema = schema
        settings = _settings(file.metadata)
        self._writer = pyarrow.parquet.ParquetWriter(output.raw, self._schema, **settings)
        stored = file.metadata.metadata or {}
        own = self._schema.metadata or {}
        # Metadata beside the schema is kept; the writer makes the schema's own.
        more = {key: value for key, value in stored.items() if key != b"ARROW:schema" and key not in own}
        if more:
            self._writer.add_key_value_metadata(more)

    def add(self, batches: list[Any]) -> None:
        self._waiting += batches
        self._bytes += sum(batch.nbytes for batch in batches)
        if self._bytes >= _GROUP_BYTES:
            self.end_group()

    def end_group(self) -> None:
        """Write what waits as a row group."""
        if self._waiting:
            table = self._pyarrow.Table.from_batches(self._waiting, self._schema)
            self._writer.write_table(table, row_group_size=max(1, table.num_rows))
        self._waiting.clear()
        self._bytes = 0

    def close(self) -> None:
        self._writer.close()


def _settings(metadata: Any) -> dict[str, Any]:
    """How a file was written, as far as its metadata tells."""
    settings: dict[str, Any] = {
        "version": metadata.format_version if metadata.format_version in ("1.0", "2.4", "2.6") else "2.6",
        "store_schema": b"ARROW:schema" in (metadata.metadata or {}),
    }
    if not metadata.num_row_groups:
        return settings
    group = metadata.row_group(0)
    columns = [group.column(i) for i in range(group.num_columns)]
    settings["compression"] = {
        c.path_in_schema: "none" if c.compression == "UNCOMPRESSED" else c.compression.lower() for c in columns
    }
    has_dictionary = [c.path_in_schema for c in columns if c.has_dictionary_page]
    settings["use_dictionary"] = has_dictionary or False
    encodings = {}
    for column in columns:
        special = [e for e in column.encodings if e.startswith("DELTA") or e == "BYTE_STREAM_SPLIT"]
        if special and column.path_in_schema not in has_dictionary:
            encodings[column.path_in_schema] = special[0]
    if encodings:
        settings["column_encoding"] = encodings
    settings["write_statistics"] = [c.path_in_schema for c in columns if c.is_stats_set] or False
    settings["use_deprecated_int96_timestamps"] = any(c.physical_type == "INT96" for c in columns)
    if group.sorting_columns:
        settings["sorting_columns"] = group.sorting_columns
    if any(getattr(c, "has_offset_index", False) for c in columns):
        settings["write_page_index"] = True
    return settings


class Arrow(_Table):
    """A file or a stream of Arrow IPC."""

    format = "arrow"

    def _open(self) -> tuple[Any, Any]:
        pyarrow = _pyarrow(self.path)

        raw = pyarrow.OSFile(self.file)
        is_file = raw.read(6) == b"ARROW1"
        raw.seek(0)
        try:
            return raw, pyarrow.ipc.open_file(raw) if is_file else pyarrow.ipc.open_stream(raw)
        except (pyarrow.ArrowException, OSError) as error:
            raw.close()
            raise self._failed(error) from None

    def _batches(self, reader: Any) -> Iterator[Any]:
        pyarrow = _pyarrow(self.path)
        try:
            if hasattr(reader, "get_batch"):
                yield from (reader.get_batch(i) for i in range(reader.num_record_batches))
            else:
                yield from reader
        except (pyarrow.ArrowException, OSError) as error:
            raise self._failed(error) from None

    def has_column(self, name: str) -> bool:
        raw, reader = self._open()
        with raw:
            return name in reader.schema.names

    def rows(self, columns: Columns) -> Iterator[Rows]:
        raw, reader = self._open()
        self.bytes = self.mark.size
        with raw:
            wanted = self._columns(columns, reader.schema.names)
            for batch in self._batches(reader):
                yield self._frame(columns, batch.select(wanted))

    def picked(self, columns: Columns, wanted: Sequence[int]) -> Iterator[Any]:
        raw, reader = self._open()
        with raw:
            names = self._columns(columns, reader.schema.names)
            at = 0
            for batch in self._batches(reader):
                if some := self._picked(columns, batch.select(names), at, wanted):
                    yield some
                at += batch.num_rows

    def copy(self, mask: Mask, kept: Output | None, removed: Output | None) -> None:
        pyarrow = _pyarrow(self.path)
        raw, reader = self._open()
        is_file = hasattr(reader, "get_batch")
        new = pyarrow.ipc.new_file if is_file else pyarrow.ipc.new_stream
        with raw:
            schemas = (self._with_added(reader.schema), reader.schema)
            to = [
                (new(output.raw, schema), wanted)
                for output, schema, wanted in zip((kept, removed), schemas, (1, 0))
                if output
            ]
            at = 0
            for batch in self._batches(reader):
                part = mask[at : at + batch.num_rows]
                for writer, wanted in to:
                    for one in self._kept(batch, part, at) if wanted else _filtered(pyarrow, batch, part, 0):
                        writer.write_batch(one)
                at += batch.num_rows
            for writer, _ in to:
                writer.close()


# ---- Lines ----


class _Number(str):
    """A number as a line spells it."""


@contextmanager
def _opened(path: str, compression: str) -> Iterator[IO[bytes]]:
    with open(path, "rb") as raw, unpacked(raw, path, compression) as data:
        yield data


def _value(value: object) -> tuple[str | bytes | None, bool]:
    """A value of JSON as a frame takes it, and whether it is written without quotes."""
    if isinstance(value, bool):
        return ("true" if value else "false"), True
    if isinstance(value, _Number):
        return str(value), True
    if not isinstance(value, str) or value.isascii():
        return (value if isinstance(value, str) else None), False
    try:
        value.encode()
    except UnicodeEncodeError:
        # Bytes that were not UTF-8 as they were; half a pair of surrogates as what is repaired.
        return value.encode("utf-8", "surrogateescape" if _is_escaped(value) else "surrogatepass"), False
    return value, False


def _is_escaped(value: str) -> bool:
    return not any(0xD800 <= ord(c) < 0xDC80 or 0xDCFF < ord(c) < 0xE000 for c in value)


class _Lines(Source):
    """A file of records that are lines."""

    is_text = True

    def __init__(self, path: str, name: str, file: str | None = None) -> None:
        super().__init__(path, name, file)
        self.compression = COMPRESSIONS.get(os.path.splitext(path)[1].lower(), "none")

    def _raw(self) -> Iterator[tuple[bytes, int, Any]]:
        """Each record: its bytes, its line, and what reading it gave."""
        raise NotImplementedError

    def _values(self, columns: Columns, record: Any, line: int) -> list[tuple[str | bytes | None, bool]]:
        raise NotImplementedError

    def _lines(self) -> Iterator[bytes]:
        with _opened(self.file, self.compression) as file:
            try:
                for raw in file:
                    self.bytes += len(raw)
                    yield raw
            except (OSError, EOFError, lzma.LZMAError) as error:
                raise _native.Error(f"{self.path}: {error}") from None

    def rows(self, columns: Columns) -> Iterator[Rows]:
        values: list[list[tuple[str | bytes | None, bool]]] = []
        lines: list[tuple[int, int]] = []
        offsets = array("Q")
        size, expected = 0, self.first_line
        self.records = self.bytes = 0
        for raw, line, record in self._raw():
            if record is None:
                self._find_places(columns)
                continue
            values.append(self._values(columns, record, line))
            at = self.bytes - len(raw)
            offsets.append(at + 3 if at == 0 and raw.startswith(b"\xef\xbb\xbf") else at)
            if line != expected:
                lines.append((self.records, line))
            expected = line + 1
            self.records += 1
            size += len(raw)
            if size >= _BATCH_BYTES:
                yield self._frame(columns, values, size, lines, offsets)
                values, lines, offsets, size = [], [], array("Q"), 0
        yield self._frame(columns, values, size, lines, offsets)

    def _frame(
        self, columns: Columns, values: list[Any], size: int, lines: list[tuple[int, int]], offsets: array[int]
    ) -> Rows:
        frame = _native.frame_new(tuple(columns.names))
        if values:
            by_column = list(zip(*values))
            texts = tuple(tuple(value for value, _ in column) for column in by_column)
            raw = tuple(bytes(is_raw for _, is_raw in column) for column in by_column)
            _native.frame_append(frame, texts, raw)
        return Rows(frame, len(values), size, lines, offsets)

    def picked(self, columns: Columns, wanted: Sequence[int]) -> Iterator[Any]:
        pyarrow = _pyarrow(self.path)
        names = [cast(str, name) for name in columns.names]
        values: list[list[tuple[str | bytes | None, bool]]] = []
        size = at = n = 0

        def batch() -> Any:
            arrays = [pyarrow.array([value for value, _ in column], pyarrow.binary()) for column in zip(*values)]
            return pyarrow.RecordBatch.from_arrays(arrays, names)

        for raw, line, record in self._raw():
            if record is None:  # a header
                self._find_places(columns)
                continue
            if n < len(wanted) and wanted[n] == at:
                values.append(self._values(columns, record, line))
                size += len(raw)
                n += 1
            at += 1
            if size >= _BATCH_BYTES:
                yield batch()
                values, size = [], 0
        if values:
            yield batch()

    def _find_places(self, columns: Columns) -> None:
        """A header was read."""

    def _longer(self, raw: bytes, value: int | str) -> bytes:
        """The record with one more value at its end; a str: the name, of a header."""
        raise NotImplementedError

    def copy(self, mask: Mask, kept: Output | None, removed: Output | None) -> None:
        at, size = 0, self.bytes
        some = memoryview(b"").cast("q")
        first = 0  # of these
        for raw, _, record in self._raw():
            if record is None:  # a header
                if removed:
                    removed.write(raw)
                if kept:
                    kept.write(self._longer(raw, self.added.name) if self.added else raw)
                continue
            if at == len(mask):
                self.check_unchanged()
            output = kept if mask[at] else removed
            if output and mask[at] and self.added:
                if at - first >= len(some):
                    first, n = at, min(_ADDED_AT_ONCE, len(mask) - at)
                    some = memoryview(self.added.values(at, n)).cast("q")
                raw = self._longer(raw, some[at - first])
            if output:
                output.write(raw)
            at += 1
        self.bytes = size


class JsonLines(_Lines):
    """JSON Lines."""

    format = "jsonl"

    def has_column(self, name: str) -> bool:
        return True  # a record has it, or has not

    def _raw(self) -> Iterator[tuple[bytes, int, Any]]:
        for number, raw in enumerate(self._lines(), 1):
            if raw.strip():
                yield raw, number, raw

    def _values(self, columns: Columns, record: Any, line: int) -> list[tuple[str | bytes | None, bool]]:
        try:
            text = record.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
            read = json.loads(text, parse_int=_Number, parse_float=_Number)
        except ValueError as error:
            raise _native.InvalidError(f"{self.path}:{line}: {error}") from None
        if not isinstance(read, dict):
            raise _native.InvalidError(f"{self.path}:{line}: not an object")
        if self.added and self.added.name in read:
            self._refuse_added(f"{self.path}:{line}", "field")
        values = [_value(read.get(name)) for name in columns.names]
        if values[0][1] or isinstance(read.get(columns.names[0]), (list, dict)):
            kind = "an array or an object" if not values[0][1] else "a number or a truth value"
            raise _native.InvalidError(f"{self.path}:{line}: {columns.names[0]} is {kind}")
        return values

    def _longer(self, raw: bytes, value: int | str) -> bytes:
        assert self.added
        end = raw.rindex(b"}")
        comma = b"" if raw[:end].rstrip().endswith(b"{") else b","
        name = json.dumps(self.added.name, ensure_ascii=False).encode()
        return b"%b%b%b:%b%b" % (raw[:end], comma, name, str(value).encode(), raw[end:])


class Csv(_Lines):
    """CSV and TSV: the first record names the columns."""

    format = "csv"
    delimiter = ","

    def __init__(self, path: str, name: str, file: str | None = None) -> None:
        super().__init__(path, name, file)
        self.first_line = 2
        self._header: list[str] = []
        self._places: list[int] = []  # of the columns in a record

    def has_column(self, name: str) -> bool:
        next(self._raw(), None)
        return name in self._header

    def _raw(self) -> Iterator[tuple[bytes, int, Any]]:
        csv.field_size_limit(1 << 30)
        taken: list[bytes] = []

        def lines() -> Iterator[str]:
            for raw in self._lines():
                taken.append(raw)
                text = raw.decode("utf-8", "surrogateescape")
                yield text.removeprefix("\ufeff") if not before else text

        before = line = 0
        self._header = []
        records = csv.reader(lines(), delimiter=self.delimiter, strict=True)
        try:
            for record in records:
                raw, line = b"".join(taken), before + 1
                before += len(taken)
                taken.clear()
                if not self._header:
                    self._header = record
                    yield raw, line, None
                elif record:
                    if len(record) != len(self._header):
                        raise _native.InvalidError(
                            f"{self.path}:{line}: the row has {len(record)} cells, and the header {len(self._header)}"
                        )
                    yield raw, line, record
        except csv.Error as error:
            raise _native.InvalidError(f"{self.path}:{before + 1}: {error}") from None

    def _longer(self, raw: bytes, value: int | str) -> bytes:
        cell = str(value)
        if any(c in cell for c in f'{self.delimiter}"\r\n'):
            cell = '"' + cell.replace('"', '""') + '"'
        row = raw.rstrip(b"\r\n")
        return b"%b%b%b%b" % (row, self.delimiter.encode(), cell.encode(), raw[len(row) :])

    def _values(self, columns: Columns, record: Any, line: int) -> list[tuple[str | bytes | None, bool]]:
        return [_value(record[i]) for i in self._places]

    def _find_places(self, columns: Columns) -> None:
        if self.added and self.added.name in self._header:
            self._refuse_added(f"{self.path}:1", "column")
        for name in columns.names:
            if name not in self._header:
                raise _native.InvalidError(f"{self.path}: there is no column '{name}'; there are {self._header}")
        self._places = [self._header.index(cast(str, name)) for name in columns.names]


class Tsv(Csv):
    """TSV."""

    format = "tsv"
    delimiter = "\t"


# ---- Which files ----

_KINDS: dict[str, type[Source]] = {
    ".parquet": Parquet,
    ".parq": Parquet,
    ".arrow": Arrow,
    ".feather": Arrow,
    ".ipc": Arrow,
    ".jsonl": JsonLines,
    ".ndjson": JsonLines,
    ".json": JsonLines,
    ".csv": Csv,
    ".tsv": Tsv,
}


def kind_of(path: str) -> type[Source] | None:
    """Return the class that reads a file of this name."""
    stem, ending = os.path.splitext(path.lower())
    if ending in COMPRESSIONS:
        kind = _KINDS.get(os.path.splitext(stem)[1])
        return kind if kind and kind.is_text else None
    return _KINDS.get(ending)


def _below(folder: str) -> list[str]:
    """All files below a folder, in the order of the bytes of their paths."""
    found = []
    for where, folders, files in os.walk(folder, onerror=_raise, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        found += [os.path.join(where, name) for name in files if not name.startswith((".", "_"))]
    return sorted(found, key=os.fsencode)


def _raise(error: OSError) -> None:
    raise error


def find(path: str, is_relative: bool = True, remote: Remote | None = None) -> tuple[list[Source], list[str]]:
    """The files of a path, and those of a folder that are not read.

    is_relative: names of outputs begin below the folder; else they have the path as it is given.
    remote: what copies the files of an address; None: addresses are refused.
    """
    if is_address(path):
        if remote is None:
            raise _native.UnsupportedError(f"{path}: is an address, which dedup and dedup_files of Python read")
        return _find_remote(remote, path)
    if not os.path.isdir(path):
        kind = kind_of(path)
        if kind is None:
            raise other_files(path, ".parquet, .arrow, .jsonl, .csv and .tsv")
        return [kind(path, _name(path, os.path.dirname(path) if is_relative else None))], []
    sources, others = [], []
    for file in _below(path):
        kind = kind_of(file)
        if kind is None:
            others.append(file)
        else:
            sources.append(kind(file, _name(file, path if is_relative else None)))
    return sources, others


def _find_remote(remote: Remote, path: str) -> tuple[list[Source], list[str]]:
    sources, others = [], []
    for address, name in remote.listed(path):
        kind = kind_of(name)
        if kind is None:
            others.append(address)
        else:
            sources.append(kind(address, name, remote.fetch(address)))
    return sources, others


def _name(path: str, below: str | None) -> str:
    """The name of a file in a folder of outputs."""
    if below is not None:
        return os.path.relpath(path, below or ".")
    parts = os.path.normpath(path).split(os.sep)
    return os.path.join(*(part for part in parts if part not in ("", "..")))
