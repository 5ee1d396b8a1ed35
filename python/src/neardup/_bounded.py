"""Deduplication in bounded memory, of data that may come as a stream."""

from __future__ import annotations

import os
import pickle
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import compress
from typing import IO, Any

from . import _native
from ._against import Against
from ._columns import OwnColumn, of_arrow_texts, of_python_texts, picked, plain
from ._dedup import Result, removed_table
from ._evidence import Input
from ._files import is_address, open_tables, paths_of, rows_of_files
from ._frames import (
    READ_BYTES,
    Columns,
    Held,
    Mask,
    check_texts,
    frames_of_rows,
    held_in_memory,
    is_arrow,
    pick_of_rows,
    slices_of,
    unreadable,
    wanted_of,
)
from ._plan import Plan
from ._progress import Report
from ._sketch_file import Sketches
from ._sketched import Sketched
from ._sources import Mark
from ._table import Column, Table

# ---- Data in blocks ----


class _Blocks:
    """Data that is gone through once for the decisions, and again for the survivors."""

    def frames(self, columns: Columns) -> Iterator[Any]:
        """Native frames, one after the other."""
        raise NotImplementedError

    def survivors(self, kept: bytes) -> Any:
        """Give the kept rows."""
        raise NotImplementedError

    def again(self, columns: Columns) -> Iterator[Any]:
        """Native frames once more, one after the other."""
        raise NotImplementedError

    def values(self, name: str, rows: Column, texts: Column) -> Column:
        """Give the values of a column for some rows, of which these texts were made."""
        raise NotImplementedError


class _Held(_Blocks):
    """Data that the caller holds in memory: survivors are of its kind."""

    def __init__(self, held: Held) -> None:
        self._held = held

    def frames(self, columns: Columns) -> Iterator[Any]:
        for block in slices_of(self._held.table):
            yield _frame(columns, block)

    def again(self, columns: Columns) -> Iterator[Any]:
        return self.frames(columns)

    def survivors(self, kept: bytes) -> Any:
        return self._held.select(kept)

    def values(self, name: str, rows: Column, texts: Column) -> Column:
        return picked(self._held.pick, name, rows)


def _frame(columns: Columns, block: Any) -> Any:
    """The native frame of a block of Arrow data."""
    frame = _native.frame_new(tuple(wanted_of(columns, block).names))
    if hasattr(block, "__arrow_c_stream__"):
        _native.frame_open(frame, block.__arrow_c_stream__())
        while _native.frame_read(frame, READ_BYTES):
            pass
    else:
        _native.frame_take(frame, *block.__arrow_c_array__())
    return frame


class _Batches(_Blocks):
    """Record batches: survivors are a pyarrow RecordBatchReader.

    Batches that can be had once wait in a temporary file.
    """

    def __init__(self, schema: Any, first: Iterator[Any], again: Callable[[], Iterator[Any]] | None, tmp: str) -> None:
        self._schema = schema
        self._first = first
        self._again = again
        self._file: IO[bytes] | None = None if again else tempfile.TemporaryFile(dir=tmp)

    def frames(self, columns: Columns) -> Iterator[Any]:
        if self._file is None:
            yield from (_frame(columns, batch) for batch in self._first)
            return
        import pyarrow

        with pyarrow.ipc.new_stream(self._file, self._schema) as writer:
            for batch in self._first:
                writer.write_batch(batch)
                yield _frame(columns, batch)

    def _all(self) -> Iterator[Any]:
        if self._again:
            return self._again()
        import pyarrow

        assert self._file
        self._file.seek(0)
        return iter(pyarrow.ipc.open_stream(self._file))

    def again(self, columns: Columns) -> Iterator[Any]:
        return (_frame(columns, batch) for batch in self._all())

    def values(self, name: str, rows: Column, texts: Column) -> Column:
        return of_arrow_texts(name, texts, self._schema.field(name).type)

    def survivors(self, kept: bytes) -> Any:
        import pyarrow

        def batches() -> Iterator[Any]:
            at = 0
            for batch in self._all():
                mask = kept[at : at + batch.num_rows]
                at += batch.num_rows
                if 1 in mask:
                    bits = pyarrow.py_buffer(_native.pack_bits(mask))
                    yield batch.filter(pyarrow.Array.from_buffers(pyarrow.bool_(), len(mask), [None, bits]))

        return pyarrow.RecordBatchReader.from_batches(self._schema, batches())


class _Rows(_Blocks):
    """Rows of Python: survivors are an iterator.  Those that come once wait in a temporary file."""

    def __init__(self, rows: Iterable[Any], again: Callable[[], Iterable[Any]] | None, tmp: str) -> None:
        self._rows = rows
        self._again = again
        self._file: IO[bytes] | None = None if again else tempfile.TemporaryFile(dir=tmp)
        self._kinds: dict[str, set[type]] = {}  # of the values of each column

    def frames(self, columns: Columns) -> Iterator[Any]:
        for frame, rows in frames_of_rows(self._rows, columns):
            if isinstance(rows[0], Mapping):
                for name in filter(None, columns.names[1:]):
                    self._kinds.setdefault(name, set()).update(type(plain(row.get(name))) for row in rows)
            if self._file:
                pickle.dump(rows, self._file, pickle.HIGHEST_PROTOCOL)
            yield frame

    def _all(self) -> Iterator[Any]:
        if self._again:
            yield from self._again()
            return
        assert self._file
        end = self._file.seek(0, os.SEEK_END)
        at = self._file.seek(0)
        while at < end:
            self._file.seek(at)
            rows = pickle.load(self._file)
            at = self._file.tell()
            yield from rows

    def again(self, columns: Columns) -> Iterator[Any]:
        return (frame for frame, _ in frames_of_rows(self._all(), columns))

    def survivors(self, kept: bytes) -> Any:
        return compress(self._all(), kept)

    def values(self, name: str, rows: Column, texts: Column) -> Column:
        return of_python_texts(name, texts, self._kinds.get(name, set()))


def _of_paths(paths: list[str], columns: Columns, tmp: str) -> _Blocks:
    """Files or folders, which are read again for the survivors."""
    tables = open_tables(paths)
    if tables is not None:
        return _of_tables(tables, columns, tmp)
    marks = [None if is_address(path) else Mark.of(path) for path in paths]

    def again() -> Iterator[Any]:
        yield from rows_of_files(paths)
        for path, mark in zip(paths, marks, strict=True):
            if mark and Mark.of(path) != mark:
                raise _native.Error(f"{path}: changed while it was read")

    return _Rows(rows_of_files(paths), again, tmp)


def _of_tables(tables: Any, columns: Columns, tmp: str) -> _Blocks:
    """A data set of pyarrow."""
    names = [name for name in dict.fromkeys(columns.names) if name and name in tables.schema.names]

    def batches(columns: list[str] | None) -> Iterator[Any]:
        options = {"batch_size": 1 << 13, "batch_readahead": 1, "fragment_readahead": 1, "use_threads": False}
        return iter(tables.scanner(columns=columns, **options).to_batches())

    return _Batches(tables.schema, batches(names or None), lambda: batches(None), tmp)


def _blocks_of(data: Any, columns: Columns, tmp: str) -> _Blocks:
    paths = paths_of(data)
    if paths is not None:
        return _of_paths(paths, columns, tmp)
    held = held_in_memory(data)
    if held is not None:
        return _Held(held)
    if hasattr(data, "scanner") and hasattr(data, "schema"):
        return _of_tables(data, columns, tmp)
    check_texts(data, columns)
    if is_arrow(data):
        import pyarrow

        if not isinstance(data, pyarrow.RecordBatchReader):
            data = pyarrow.RecordBatchReader.from_stream(data)
        return _Batches(data.schema, iter(data), None, tmp)
    if isinstance(data, (bytes, bytearray, memoryview, Mapping)) or not isinstance(data, Iterable):
        raise unreadable(data)
    if isinstance(data, (list, tuple)):
        return _Listed(data)
    return _Rows(data, None, tmp)


class _Listed(_Rows):
    """Rows in a list: survivors are one."""

    def __init__(self, rows: list[Any] | tuple[Any, ...]) -> None:
        super().__init__(rows, lambda: rows, "")
        self._pick = pick_of_rows(rows)

    def survivors(self, kept: bytes) -> Any:
        return list(super().survivors(kept))

    def values(self, name: str, rows: Column, texts: Column) -> Column:
        return picked(self._pick, name, rows)


class _Sketched(_Blocks):
    """Sketch files: survivors are one."""

    def __init__(self, sketched: Sketched, plan: Plan, tmp: str) -> None:
        self.sketched = sketched
        self._source = sketched.source(plan, tmp)

    def frames(self, columns: Columns) -> Iterator[Any]:
        return iter(())

    def again(self, columns: Columns) -> Iterator[Any]:
        return iter(())

    def survivors(self, kept: bytes) -> Any:
        return self._source.survivors(kept)

    def values(self, name: str, rows: Column, texts: Column) -> Column:
        return texts


# ---- Results ----

# Counts of the rows of a part; the others are of all rows.
_OF_PART = ("rows", "removed", "identical_bytes", "identical_tokens", "near")


class BoundedResult(Result):
    """The result of a deduplication in bounded memory.

    It is the :class:`Result` of the same call without ``memory``, but for this: decisions wait in a file,
    and survivors of what is no frame or list are given out one after the other, once for each time that
    ``survivors`` is named.

    ==========================================  =====================================================
    data                                        survivors
    ==========================================  =====================================================
    a frame, a list                             of the same kind
    an Arrow stream; a path of Parquet, Arrow   a pyarrow ``RecordBatchReader``
    an iterable; a path of lines                an iterator of rows
    sketch files                                :class:`Sketches`
    ==========================================  =====================================================

    Ids have their type.  Of a stream, those that are bytes and not UTF-8 are as they were repaired, and
    those of rows of several types are texts.

    ``removed`` and ``clusters`` are in memory once they have been named; :meth:`iter_removed` gives the
    removed rows some at a time.

    Examples
    --------
    >>> import neardup
    >>> result = neardup.dedup((text for text in ["a b c d", "e f", "A B C D"]), memory="64M")
    >>> list(result.survivors), result.removed["kept_row"][:]
    (['a b c d', 'e f'], [0])
    """

    def __init__(
        self,
        store: Any,
        parts: int,
        blocks: _Blocks,
        plan: Plan,
        nulls: str,
        kept: Mask,
        stats: dict[str, Any],
        took: tuple[float, float],
        native: Any = None,
        seen: Sequence[Sketches] = (),
        old: Against | None = None,
        inputs: Sequence[Input] = (),
    ) -> None:
        self._native = self._store = store
        self._inputs = inputs
        self._old = old
        self._whole = native  # the result of all rows, where sketch files come before; else None
        self._n_parts = parts
        self._blocks = blocks
        self._plan = plan
        self._nulls = nulls
        self._seconds, self._processor_seconds = took
        self._seen = seen
        self.recipe = plan.recipe
        self.kept = kept
        self.summary = stats

    def _result(self, part: int) -> Any:
        return self._whole or _native.bounded_result(self._store, part)

    def _parts(self) -> Iterator[tuple[Any, Any, Any]]:
        for part in range(self._n_parts):
            yield self._result(part), None, self._store

    def _texts(self) -> Iterator[Any]:
        return self._blocks.again(self._plan.columns)

    def _table(self, native: Any) -> Table:
        def ids(table: Table) -> list[Column]:
            found = []
            texts_of = _native.against_ids if self._whole else _native.bounded_ids
            for texts, rows in zip(texts_of(self._store, native), ("row", "kept_row"), strict=True):
                values = self._blocks.values(str(self._plan.id), table[rows], Column(texts, len(table)))
                if rows == "kept_row" and self._seen:
                    pairs = zip(table[rows], values, table["kept_id"])
                    values = OwnColumn("kept_id", [other if row is None else own for row, own, other in pairs])
                values.name = texts[0]
                found.append(values)
            return found

        return removed_table(native, ids if self._plan.id else None, self._seen)

    def iter_removed(self) -> Iterator[Table]:
        """Give the removed rows, and why, in tables of some thousand rows at most.

        Yields
        ------
        Table
            The next of them, with the columns of `removed`.
        """
        for native, _, _ in self._parts():
            table = self._table(native)
            if len(table):
                yield table

    @cached_property
    def copies(self) -> Column:
        """How many rows the cluster of each survivor has, itself included: in memory, once it has been named."""
        if "quoted" in self.summary:
            raise _native.UnsupportedError("copies: only_against makes no clusters")
        return self._count_copies(self._result(-1))

    @cached_property
    def removed(self) -> Table:  # type: ignore[override]
        """The removed rows, and why."""
        return self._table(self._result(-1))

    @property
    def survivors(self) -> Any:
        """The rows that are kept, in the form that the table above names."""
        return self._blocks.survivors(self.kept._kept)


def dedup_bounded(
    data: Any,
    plan: Plan,
    memory: int,
    tmp: str,
    threads: int,
    nulls: str,
    report: Report | None,
    old: Against | None = None,
    seen: Sequence[Sketches] = (),
    alone: bool = False,
) -> BoundedResult:
    """Decide about data of any kind, or sketch files, in so much memory.

    `old`: after the documents of the sketch files `seen`.
    """
    started, processor = time.monotonic(), time.process_time()
    store = old.store if old else plan.bounded(memory, threads, tmp)
    is_sketched = isinstance(data, Sketched)
    blocks = _Sketched(data, plan, tmp) if is_sketched else _blocks_of(data, plan.columns, tmp)
    has_text = bytearray()
    for frame in blocks.frames(plan.columns):
        n = _native.frame_rows(frame)
        null = _native.frame_null(frame) if nulls == "raise" else None
        if null is not None:
            raise _native.InvalidError(f"row {len(has_text) + null}: the text is null")
        if old:
            old.add_frame(frame)
        else:
            _native.bounded_add(store, frame)
        has_text += _native.frame_mask(frame, b"\1" * n) if nulls == "drop" else b"\1" * n
    if old and is_sketched:
        whole = data.decide(plan, old, report)
        has_text = bytearray(b"\1" * len(_native.result_kept(whole)))
    else:
        whole = old.decide_frames(report) if old else None
    parts = 1 if old else _native.bounded_decide(store, report)
    stats: dict[str, Any] = {}
    at = 0
    for part in range(parts):
        native = whole or _native.bounded_result(store, part)
        kept = _native.result_kept(native)
        both = int.from_bytes(kept, "little") & int.from_bytes(has_text[at : at + len(kept)], "little")
        has_text[at : at + len(kept)] = both.to_bytes(len(kept), "little")
        at += len(kept)
        own = _native.result_stats(native)
        stats = {**own, **{name: stats.get(name, 0) + own[name] for name in _OF_PART}}
    work = (memory, old.written(), 1) if old else _native.bounded_work(store)
    stats.update(zip(("memory_bytes", "spilled_bytes", "loads"), work))
    if old and alone:
        stats["quoted"] = old.quoted()
    took = time.monotonic() - started, time.process_time() - processor
    inputs = data.inputs if is_sketched else ()
    kept_rows = Mask(bytes(has_text))
    return BoundedResult(store, parts, blocks, plan, nulls, kept_rows, stats, took, whole, seen, old, inputs)
