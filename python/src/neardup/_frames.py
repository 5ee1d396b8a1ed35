"""Data of every kind: read into a native frame, and given back as the caller's own kind."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from . import _native
from ._values import Values

# Bytes of text between two looks at signals, and rows of Python's own values.
READ_BYTES = 64 << 20
ROWS = 4096
# Rows of a frame that are taken at a time where memory is bounded.
_SLICE_ROWS = 1 << 14


def _module(data: object) -> str:
    """The package that the object's class comes from."""
    return type(data).__module__.partition(".")[0]


class Columns:
    """The columns to read: the text first, then others, each once."""

    def __init__(self, text: str | None) -> None:
        self.names: list[str | None] = [text]

    def add(self, name: str | None) -> int:
        """The number of a column; 0 for None."""
        if name is None:
            return 0
        if name not in self.names[1:]:
            self.names.append(name)
        return self.names.index(name, 1)


class Source:
    """Data that was read: a native frame, and how to give rows back."""

    def __init__(self, frame: Any, select: Callable[[bytes], Any]) -> None:
        self.frame = frame
        self._select = select

    def survivors(self, kept: bytes) -> Any:
        return self._select(kept)


def drop_nulls(source: Source, kept: bytes) -> bytes:
    """The mask without the rows that have no text."""
    return _native.frame_mask(source.frame, kept)


def _indices(kept: bytes) -> list[int]:
    return [i for i, is_kept in enumerate(kept) if is_kept]


def _read_stream(frame: Any, data: Any) -> None:
    _native.frame_open(frame, data.__arrow_c_stream__())
    while _native.frame_read(frame, READ_BYTES):
        pass


def _read_arrow(frame: Any, data: Any) -> None:
    if hasattr(data, "__arrow_c_stream__"):
        _read_stream(frame, data)
    else:
        _native.frame_take(frame, *data.__arrow_c_array__())


# ---- The caller's own kinds ----


def _check_unchanged(length: int, kept: bytes) -> None:
    if length != len(kept):
        raise _native.InvalidError(f"the frame has changed: {len(kept):,} rows were read, and now there are {length:,}")


def _from_polars(data: Any) -> tuple[Any, Callable[[bytes], Any]]:
    import polars

    if isinstance(data, polars.LazyFrame):
        data = data.collect()

    def select(kept: bytes) -> Any:
        _check_unchanged(len(data), kept)
        return data.filter(polars.Series(Mask(kept)))

    return data, select


def _from_pandas(data: Any) -> tuple[Any, Callable[[bytes], Any]]:
    import numpy

    def select(kept: bytes) -> Any:
        _check_unchanged(len(data), kept)
        return data[numpy.frombuffer(kept, dtype=bool)]

    return data, select


def _from_pyarrow(data: Any) -> tuple[Any, Callable[[bytes], Any]]:
    import pyarrow

    if isinstance(data, pyarrow.RecordBatchReader):
        data = data.read_all()

    def select(kept: bytes) -> Any:
        try:
            return data.filter(pyarrow.array(Mask(kept)))
        except NotImplementedError:  # of string_view, for one
            return by_slices(data, kept)

    return data, select


def by_slices(data: Any, kept: bytes) -> Any:
    """The kept rows of Arrow data as slices of it, for types that it cannot filter."""
    import pyarrow

    slices = []
    at = 0
    while (start := kept.find(1, at)) >= 0:
        end = kept.find(0, start)
        at = len(kept) if end < 0 else end
        slices.append(data.slice(start, at - start))
    if not slices:
        return data.slice(0, 0)
    if isinstance(data, pyarrow.Table):
        return pyarrow.concat_tables(slices)
    if isinstance(data, pyarrow.RecordBatch):
        return pyarrow.Table.from_batches(slices)
    chunks = [c for s in slices for c in (s.chunks if isinstance(s, pyarrow.ChunkedArray) else [s])]
    return pyarrow.chunked_array(chunks, type=data.type)


def _from_datasets(data: Any) -> tuple[Any, Callable[[bytes], Any]]:
    table = data.data.table
    if data._indices is not None:
        table = data.with_format("arrow")[:]

    def select(kept: bytes) -> Any:
        return data.select(_indices(kept))

    return table, select


def _from_duckdb(data: Any) -> tuple[Any, Callable[[bytes], Any]]:
    # A relation is run again whenever it is read, and its rows may then come in another order.
    import duckdb
    import pyarrow

    table = data.to_arrow_table() if hasattr(data, "to_arrow_table") else data.arrow()

    def select(kept: bytes) -> Any:
        return duckdb.from_arrow(table.filter(pyarrow.array(Mask(kept))))

    return table, select


_KINDS: dict[str, Callable[[Any], tuple[Any, Callable[[bytes], Any]]]] = {
    "polars": _from_polars,
    "pandas": _from_pandas,
    "pyarrow": _from_pyarrow,
    "datasets": _from_datasets,
    "duckdb": _from_duckdb,
    "_duckdb": _from_duckdb,
}


def _from_capsule(data: Any) -> tuple[Any, Callable[[bytes], Any]]:
    """Any other producer of Arrow data: pyarrow holds it, as a stream is read once."""
    try:
        import pyarrow
    except ImportError:
        raise _native.UnsupportedError(
            f"survivors of a {type(data).__name__} need pyarrow: pip install pyarrow"
        ) from None
    table = pyarrow.table(data) if hasattr(data, "__arrow_c_stream__") else pyarrow.array(data)
    return _from_pyarrow(table)


# ---- Python's own values ----


def _as_text(value: object, name: str, row: int) -> tuple[Any, bool]:
    """A value as frame_append takes it, and whether JSON writes it without quotes."""
    if value is None or isinstance(value, (str, bytes)):
        return value, False
    if isinstance(value, bool):
        return ("true" if value else "false"), True
    if isinstance(value, (int, float)):
        return json.dumps(value), True
    if hasattr(value, "isoformat"):
        return value.isoformat(), False
    raise TypeError(f"row {row}: '{name}' is a {type(value).__name__}, which is not a value of a column")


def _texts_of(rows: Sequence[Any], row: int) -> tuple[Any, ...]:
    for i, value in enumerate(rows):
        if not (value is None or isinstance(value, (str, bytes))):
            raise TypeError(f"row {row + i}: expected a str, not {type(value).__name__}")
    return tuple(rows)


def _append_rows(frame: Any, columns: Columns, rows: Sequence[Any], row: int) -> None:
    """Rows of `str`, or of mappings."""
    if not rows:
        return
    if columns.names == [None]:
        _native.frame_append(frame, (_texts_of(rows, row),), (None,))
        return
    values: list[list[Any]] = [[] for _ in columns.names]
    raw = [bytearray() for _ in columns.names]
    for i, record in enumerate(rows):
        for k, name in enumerate(columns.names):
            if k == 0 and name not in record:
                raise _native.InvalidError(f"row {row + i}: there is no column '{name}'; there are {list(record)}")
            value, is_raw = _as_text(record.get(name), str(name), row + i)
            if k == 0 and is_raw:
                raise TypeError(f"row {row + i}: '{name}' is a {type(record[name]).__name__}, not a str")
            values[k].append(value)
            raw[k].append(is_raw)
    _native.frame_append(frame, tuple(map(tuple, values)), tuple(map(bytes, raw)))


def _row_blocks(rows: Iterator[Any], columns: Columns) -> Iterator[list[Any]]:
    """Some rows at a time, all of them texts or all mappings."""
    at, is_mapping = 0, False
    while some := list(islice(rows, ROWS)):
        if not at:
            is_mapping = isinstance(some[0], Mapping)
            if is_mapping and columns.names[0] is None:
                raise _native.InvalidError("the rows have columns: say which holds the text")
            if not is_mapping and len(columns.names) > 1:
                raise _native.InvalidError(
                    f"there is no column '{columns.names[1]}': the rows are texts without columns"
                )
        for i, row in enumerate(some):
            if isinstance(row, Mapping) != is_mapping:
                raise TypeError(f"row {at + i}: rows are either texts or mappings, not both")
        yield some
        at += len(some)


def _read_rows(frame: Any, columns: Columns, rows: Iterator[Any]) -> list[Any]:
    """All rows, which are returned."""
    taken: list[Any] = []
    for some in _row_blocks(rows, columns):
        _append_rows(frame, columns, some, len(taken))
        taken += some
    return taken


def frames_of_rows(rows: Iterable[Any], columns: Columns) -> Iterator[tuple[Any, list[Any]]]:
    """Rows in blocks: a native frame of each, and its rows."""
    at = 0
    for some in _row_blocks(iter(rows), columns):
        wanted = _wanted(columns, isinstance(some[0], Mapping))
        frame = _native.frame_new(tuple(wanted.names))
        _append_rows(frame, wanted, some, at)
        yield frame, some
        at += len(some)


def _wanted(columns: Columns, has_columns: bool) -> Columns:
    """The columns of data that has none: only the text."""
    if has_columns:
        return columns
    texts = Columns(None)
    texts.names += columns.names[1:]
    return texts


def is_arrow(data: object) -> bool:
    """Whether it has the Arrow PyCapsule interface."""
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def _has_columns(data: Any) -> bool:
    """Whether Arrow data is a table, rather than one column."""
    if _module(data) == "polars":
        return not hasattr(data, "dtype")
    if _module(data) == "pandas":
        return hasattr(data, "columns")
    return hasattr(data, "schema") or hasattr(data, "columns") or hasattr(data, "column_names")


def wanted_of(columns: Columns, block: Any) -> Columns:
    """The columns to read of Arrow data."""
    return _wanted(columns, _has_columns(block))


def _is_known(data: object) -> bool:
    """Whether it is a frame of a package that is known here."""
    module = _module(data)
    return module in _KINDS and (is_arrow(data) or module in ("datasets", "duckdb", "_duckdb", "polars"))


def held_in_memory(data: Any) -> tuple[Any, Callable[[bytes], Any]] | None:
    """A frame that the caller holds, and how to choose rows of it; None: it is a stream, or no frame."""
    if not _is_known(data) or type(data).__name__ == "RecordBatchReader":
        return None
    return _KINDS[_module(data)](data)


def slices_of(table: Any) -> Iterator[Any]:
    """A frame some rows at a time."""
    if type(table).__name__ == "Table":
        yield from table.to_batches(_SLICE_ROWS)
        return
    for at in range(0, len(table), _SLICE_ROWS):
        is_pandas = _module(table) == "pandas"
        yield table.iloc[at : at + _SLICE_ROWS] if is_pandas else table.slice(at, _SLICE_ROWS)


def read(data: Any, columns: Columns) -> Source:
    """Read data of any kind.

    Raises
    ------
    InvalidError
        A column is missing or of a type that cannot be read.
    TypeError
        The data is of no kind that can be read, or a row is not.
    """
    if isinstance(data, (str, os.PathLike)):
        from ._files import open_file

        data = open_file(os.fspath(data), columns)
    if isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError("the data is one text: give a list of texts")
    if isinstance(data, Mapping):
        raise TypeError("the data is a mapping: give rows, or a frame of columns (polars, pyarrow, pandas)")
    held = _KINDS[_module(data)](data) if _is_known(data) else None
    if held:
        table, select = held
    elif is_arrow(data):
        table, select = _from_capsule(data)
    elif isinstance(data, Iterable):
        return _read_iterable(data, columns)
    else:
        raise TypeError(
            f"a {type(data).__name__} cannot be read: give a frame with the Arrow PyCapsule interface, "
            "an iterable of str or of mappings, or a path"
        )
    wanted = _wanted(columns, _has_columns(table))
    frame = _native.frame_new(tuple(wanted.names))
    _read_arrow(frame, table)
    return Source(frame, select)


def _read_iterable(data: Iterable[Any], columns: Columns) -> Source:
    rows = iter(data)
    first = list(islice(rows, 1))
    wanted = _wanted(columns, bool(first) and isinstance(first[0], Mapping))
    frame = _native.frame_new(tuple(wanted.names))

    def again() -> Iterator[Any]:
        yield from first
        yield from rows

    taken = _read_rows(frame, wanted, again())

    def select(kept: bytes) -> Any:
        return [row for row, is_kept in zip(taken, kept) if is_kept]

    return Source(frame, select)


def reorder(data: Any, order: list[int]) -> Any:
    """The rows of data of any kind in another order."""
    module = _module(data)
    if order == list(range(len(order))):
        return data
    if module == "pandas":
        return data.iloc[order]
    if module == "pyarrow":
        return data.take(order)
    if module == "datasets":
        return data.select(order)
    if module in ("duckdb", "_duckdb"):
        import duckdb

        table = data.to_arrow_table() if hasattr(data, "to_arrow_table") else data.arrow()
        return duckdb.from_arrow(table.take(order))
    return data[order] if module == "polars" else [data[i] for i in order]


class Mask(Values[bool]):
    """Which rows are kept: a sequence of truth values.

    numpy, pyarrow and polars read it without a loop, by ``__array__`` and the Arrow PyCapsule
    interface.

    Examples
    --------
    >>> import neardup
    >>> mask = neardup.dedup(["one two three", "one two three", "four"]).kept
    >>> list(mask), mask[1], sum(mask)
    ([True, False, True], False, 2)
    """

    def __init__(self, kept: bytes) -> None:
        self._kept = kept

    def __len__(self) -> int:
        return len(self._kept)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return Mask(self._kept[i])
        return bool(self._kept[i])

    def __iter__(self) -> Iterator[bool]:
        return map(bool, self._kept)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        import numpy

        array = numpy.frombuffer(self._kept, dtype=bool)
        return array.copy() if copy else array if dtype is None else array.astype(dtype)

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        column = ("kept", "b", _native.pack_bits(self._kept), None, None, 0, None)
        return _native.table_export((column,), len(self), True)

    if sys.version_info >= (3, 12):

        def __buffer__(self, flags: int) -> memoryview:
            return memoryview(self._kept).cast("?")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mask) and self._kept == other._kept

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<neardup.Mask of {len(self)} rows, {self._kept.count(1)} kept>"
