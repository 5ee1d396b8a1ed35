"""Data of every kind: read into a native frame, and given back as the caller's own kind."""

from __future__ import annotations

import decimal
import json
import math
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from . import _native
from ._columns import OwnColumn, plain
from ._optional import needed, no_texts
from ._table import Column
from ._tokens import tokens_of_row
from ._values import Values

# Bytes of text between two looks at signals, and rows of Python's own values.
READ_BYTES = 64 << 20
ROWS = 4096
# Rows of a frame that are taken at a time where memory is bounded.
_SLICE_ROWS = 1 << 14


def _module(data: object) -> str:
    """The package that the object's class comes from."""
    return type(data).__module__.partition(".")[0]


def _checked_name(name: str | None) -> str | None:
    """The name of a column; TypeError: it is none."""
    if name is None or isinstance(name, str):
        return name
    hint = f": for a threshold write threshold={name}" if isinstance(name, (int, float)) else ""
    raise TypeError(f"the name of a column is a str, not {name!r}{hint}")


class Columns:
    """The columns to read: the text first, then others, each once."""

    def __init__(self, text: str | None) -> None:
        self.names: list[str | None] = [_checked_name(text)]

    def add(self, name: str | None) -> int:
        """The number of a column; 0 for None."""
        if _checked_name(name) is None:
            return 0
        if name not in self.names[1:]:
            self.names.append(name)
        return self.names.index(name, 1)


# The values of a column for some rows, by their numbers.
Pick = Callable[[str, Any], Column]


class Held(NamedTuple):
    """A frame that the caller holds: what is read, and how to choose rows and values of it."""

    table: Any
    select: Callable[[bytes], Any]
    pick: Pick


class Source:
    """Data that was read: a native frame, and how to give rows and values back."""

    def __init__(self, frame: Any, select: Callable[[bytes], Any], pick: Pick) -> None:
        self.frame = frame
        self._select = select
        self._pick = pick

    def survivors(self, kept: bytes) -> Any:
        return self._select(kept)

    def values(self, as_name: str, name: str, rows: Any) -> Column:
        """The values of a column for some rows, of the caller's type."""
        column = self._pick(name, rows)
        column.name = as_name
        return column


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


def _from_polars(data: Any) -> Held:
    import polars

    if isinstance(data, polars.LazyFrame):
        data = data.collect()

    def select(kept: bytes) -> Any:
        _check_unchanged(len(data), kept)
        return data.filter(Mask(kept).to_polars())

    def pick(name: str, rows: Any) -> Column:
        return OwnColumn(name, data[name].gather(polars.Series(rows, dtype=polars.UInt64)))

    return Held(data, select, pick)


def _from_pandas(data: Any) -> Held:
    import numpy
    import pyarrow

    def select(kept: bytes) -> Any:
        _check_unchanged(len(data), kept)
        return data[numpy.frombuffer(kept, dtype=bool)]

    def pick(name: str, rows: Any) -> Column:
        found = pyarrow.array(data[name].iloc[numpy.asarray(rows, dtype=numpy.int64)], from_pandas=True)
        return OwnColumn(name, found.combine_chunks() if hasattr(found, "chunks") else found)

    return Held(data, select, pick)


def pick_of_arrow(table: Any) -> Pick:
    """How to choose values of a table of pyarrow."""
    import pyarrow

    def pick(name: str, rows: Any) -> Column:
        column = table.column(table.schema.names.index(name))
        try:
            found = column.take(pyarrow.array(rows, pyarrow.uint64()))
        except NotImplementedError:  # of string_view, for one
            found = pyarrow.array([column[row].as_py() for row in rows], column.type)
        return OwnColumn(name, found.combine_chunks() if hasattr(found, "chunks") else found)

    return pick


def _readable(table: Any) -> Any:
    """The table with its run-end encoded columns as plain ones."""
    import pyarrow
    import pyarrow.compute as pc

    if not hasattr(table, "schema"):
        return pc.run_end_decode(table) if pyarrow.types.is_run_end_encoded(table.type) else table
    for i, field in enumerate(table.schema):
        if pyarrow.types.is_run_end_encoded(field.type):
            table = table.set_column(i, field.name, pc.run_end_decode(table.column(i)))
    return table


def _from_pyarrow(data: Any) -> Held:
    import pyarrow

    if _module_path(data) == "pyarrow._dataset":
        data = data.to_table()
    if isinstance(data, pyarrow.RecordBatchReader):
        data = data.read_all()
    table = _readable(data)

    def select(kept: bytes) -> Any:
        try:
            return data.filter(pyarrow.array(Mask(kept)))
        except NotImplementedError:  # of string_view, for one
            return by_slices(data, kept)

    return Held(table, select, pick_of_arrow(table))


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


def _from_datasets(data: Any) -> Held:
    import pyarrow

    if isinstance(data, dict):  # splits, one after another
        splits = {name: _table_of_dataset(split) for name, split in data.items()}
        table = pyarrow.concat_tables(splits.values(), promote_options="permissive")
    else:
        table = _table_of_dataset(data)

    def select(kept: bytes) -> Any:
        if not isinstance(data, dict):
            return data.select(_indices(kept))
        chosen, at = {}, 0
        for name, split in data.items():
            chosen[name] = split.select(_indices(kept[at : at + len(split)]))
            at += len(split)
        return type(data)(chosen)

    return Held(table, select, pick_of_arrow(table))


def _table_of_dataset(data: Any) -> Any:
    """The table of a `datasets.Dataset`."""
    return data.data.table if data._indices is None else data.with_format("arrow")[:]


def _from_duckdb(data: Any) -> Held:
    # A relation is run again whenever it is read, and its rows may then come in another order.
    import duckdb
    import pyarrow

    table = data.to_arrow_table() if hasattr(data, "to_arrow_table") else data.arrow()

    def select(kept: bytes) -> Any:
        return duckdb.from_arrow(table.filter(pyarrow.array(Mask(kept))))

    return Held(table, select, pick_of_arrow(table))


_KINDS: dict[str, Callable[[Any], Held]] = {
    "polars": _from_polars,
    "pandas": _from_pandas,
    "pyarrow": _from_pyarrow,
    "datasets": _from_datasets,
    "duckdb": _from_duckdb,
    "_duckdb": _from_duckdb,
}


def _from_capsule(data: Any) -> Held:
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
    value = plain(value)
    if isinstance(value, bool):
        return ("true" if value else "false"), True
    if isinstance(value, (int, float)):
        return json.dumps(value), math.isfinite(value)
    if hasattr(value, "isoformat"):
        return value.isoformat(), False
    if isinstance(value, decimal.Decimal):
        return format(value, "f"), value.is_finite()
    if isinstance(value, uuid.UUID):
        return str(value), False
    raise TypeError(f"row {row}: '{name}' is a {type(value).__name__}, which is not a value of a column")


def _texts_of(rows: Sequence[Any], row: int) -> tuple[Any, ...]:
    if all(value is None or isinstance(value, (str, bytes)) for value in rows):
        return tuple(rows)
    texts = []
    for i, value in enumerate(rows):
        text = value if value is None or isinstance(value, (str, bytes)) else tokens_of_row(value)
        if text is None and value is not None:
            raise TypeError(f"row {row + i}: expected a str, not {type(value).__name__}")
        texts.append(text)
    return tuple(texts)


def append_rows(frame: Any, columns: Columns, rows: Sequence[Any], row: int) -> None:
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
            tokens = tokens_of_row(record[name]) if k == 0 else None
            value, is_raw = (tokens, False) if tokens is not None else _as_text(record.get(name), str(name), row + i)
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
        append_rows(frame, columns, some, len(taken))
        taken += some
    return taken


def frames_of_rows(rows: Iterable[Any], columns: Columns) -> Iterator[tuple[Any, list[Any]]]:
    """Rows in blocks: a native frame of each, and its rows."""
    at = 0
    for some in _row_blocks(iter(rows), columns):
        wanted = _wanted(columns, isinstance(some[0], Mapping))
        frame = _native.frame_new(tuple(wanted.names))
        append_rows(frame, wanted, some, at)
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


def _module_path(data: object) -> str:
    return type(data).__module__


def _is_known(data: object) -> bool:
    """Whether it is a frame of a package that is known here."""
    module = _module(data)
    if module == "datasets":
        return type(data).__name__ in ("Dataset", "DatasetDict")
    if _module_path(data) == "pyarrow._dataset":
        return hasattr(data, "to_table")
    return module in _KINDS and (is_arrow(data) or module in ("duckdb", "_duckdb", "polars"))


def held_in_memory(data: Any) -> Held | None:
    """A frame that the caller holds; None: it is a stream, or no frame."""
    if not _is_known(data) or type(data).__name__ == "RecordBatchReader" or _module_path(data) == "pyarrow._dataset":
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


def unreadable(data: Any) -> TypeError:
    """The message about data of no kind that can be read."""
    if isinstance(data, (bytes, bytearray, memoryview)):
        return TypeError("the data is one text: give a list of texts")
    kind = type(data)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    if isinstance(data, Mapping):
        return TypeError(f"the data is a mapping, {name}: give rows, or a frame of columns (polars, pyarrow, pandas)")
    return TypeError(
        f"a {name} cannot be read: give a frame with the Arrow PyCapsule interface, "
        "an iterable of str or of mappings, or a path"
    )


def check_texts(data: Any, columns: Columns) -> None:
    """Refuse the sketches of a file, which have no texts, unless one of their columns is to be read as such."""
    if type(data).__module__ == f"{__package__}._sketch_file" and columns.names[0] not in data.column_names:
        raise no_texts(data.path)


def read(data: Any, columns: Columns) -> Source:
    """Read data of any kind.

    Raises
    ------
    InvalidError
        A column is missing or of a type that cannot be read.
    TypeError
        The data is of no kind that can be read, or a row is not.
    """
    from ._files import open_files, paths_of

    paths = paths_of(data)
    if paths is not None:
        data = open_files(paths)
    held = _KINDS[_module(data)](data) if _is_known(data) else None
    check_texts(data, columns)
    if held is None and is_arrow(data):
        held = _from_capsule(data)
    if held is None:
        if isinstance(data, (bytes, bytearray, memoryview, Mapping)) or not isinstance(data, Iterable):
            raise unreadable(data)
        return _read_iterable(data, columns)
    wanted = _wanted(columns, _has_columns(held.table))
    frame = _native.frame_new(tuple(wanted.names))
    _read_arrow(frame, held.table)
    return Source(frame, held.select, held.pick)


def pick_of_rows(rows: Sequence[Any]) -> Pick:
    """How to choose values of rows that are mappings."""
    return lambda name, numbers: OwnColumn(name, [plain(rows[row].get(name)) for row in numbers])


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

    return Source(frame, select, pick_of_rows(taken))


def in_frame(data: Any, package: Any) -> Any:
    """Survivors of any kind as a frame of polars, pyarrow or pandas."""
    name = package.__name__
    if name == "pandas":
        frame = data if hasattr(data, "columns") and _module(data) == "pandas" else None
        return in_frame(data, needed("pyarrow")).to_pandas() if frame is None else frame
    kind = package.DataFrame if name == "polars" else package.table
    if _module(data) == "datasets":
        parts = data.values() if isinstance(data, dict) else [data]
        data = needed("pyarrow").concat_tables([part.with_format("arrow")[:] for part in parts])
    elif _module(data) in ("duckdb", "_duckdb"):
        data = _from_duckdb(data).table
    if is_arrow(data):
        if _has_columns(data):
            return kind(data)
        values = data.rechunk() if hasattr(data, "rechunk") else data
        array = needed("pyarrow").chunked_array(values) if hasattr(values, "__arrow_c_stream__") else values
        return kind(needed("pyarrow").table({"text": array}))
    rows = [row if isinstance(row, Mapping) else {"text": row} for row in data]
    return package.DataFrame(rows) if name == "polars" else package.Table.from_pylist(rows)


def at_rest(data: Any) -> Any:
    """Survivors as what can be pickled: a table for a stream or a relation, a list for an iterator."""
    if type(data).__name__ == "RecordBatchReader":
        return data.read_all()
    if _module(data) in ("duckdb", "_duckdb"):
        return _from_duckdb(data).table
    if type(data).__module__ == f"{__package__}._sketch_file":
        return [row for table in data for row in table]
    return list(data) if isinstance(data, Iterator) else data


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


@Sequence.register
class Mask(Values[bool]):
    """Which rows are kept: a sequence of truth values.

    ``frame.filter(mask)`` of polars and ``frame[mask]`` of pandas choose the rows that are kept.
    numpy and pyarrow read it without a loop, by ``__array__`` and the Arrow PyCapsule interface, and
    polars by :meth:`to_polars`.

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

    def __call__(self, frame: Any) -> Any:
        """Give the array by which pandas chooses rows: it calls what stands in its brackets."""
        if len(frame) != len(self):
            raise _native.InvalidError(f"the mask has {len(self):,} rows, and the frame {len(frame):,}")
        return self.__array__()

    def _column(self) -> Column:
        return Column(("kept", "b", _native.pack_bits(self._kept), None, None, 0, None), len(self))

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self._column().__arrow_c_array__()

    def to_arrow(self) -> Any:
        """Give the truth values to pyarrow.

        Returns
        -------
        pyarrow.BooleanArray
            A truth value for each row.
        """
        return self._column().to_arrow()

    def to_polars(self) -> Any:
        """Give the truth values to polars.

        Returns
        -------
        polars.Series
            A truth value for each row.
        """
        return self._column().to_polars()

    def to_pandas(self) -> Any:
        """Give the truth values to pandas.

        Returns
        -------
        pandas.Series
            A truth value for each row, by its number.
        """
        return needed("pandas").Series(self.__array__(), name="kept")

    if sys.version_info >= (3, 12):

        def __buffer__(self, flags: int) -> memoryview:
            return memoryview(self._kept).cast("?")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mask) and self._kept == other._kept

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<neardup.Mask of {len(self)} rows, {self._kept.count(1)} kept>"
