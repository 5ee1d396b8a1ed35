"""Tables of columns that need no other package, and that all of them read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from . import _native
from ._optional import needed
from ._values import Values

if TYPE_CHECKING:
    from ._native import _Column

# How memoryview calls the formats of Arrow.
_CASTS: dict[str, Literal["B", "I", "q", "Q", "d"]] = {"C": "B", "I": "I", "l": "q", "L": "Q", "g": "d"}


def _bit(bits: bytes, i: int) -> bool:
    return bool(bits[i >> 3] >> (i & 7) & 1)


class Column(Values[Any]):
    """One column: a sequence, in which a missing value is None.

    numpy reads it by ``__array__`` (missing values as 0), frames by the Arrow PyCapsule interface.

    Examples
    --------
    >>> import neardup
    >>> column = neardup.Sketcher()(["one two three four", None])["shingles"]
    >>> column[0], column[1], len(column)
    (2, None, 2)
    """

    def __init__(self, column: _Column, length: int) -> None:
        self.name = column[0]
        self._column = column
        self._length = length
        _, kind, values, self._validity, item, width, offsets = column
        self._values: Any = values
        self._offsets = memoryview(offsets)[: (length + 1) * 8].cast("q") if offsets is not None else None
        self._is_text = offsets is not None and item is None
        self._width = width
        self._bytes = int(kind[2:]) if kind.startswith("w:") else 0
        if kind != "b" and not self._is_text and not self._bytes:
            cast = _CASTS[item or kind]
            size = memoryview(b"").cast(cast).itemsize
            items = self._offsets[length] if self._offsets else length * (width or 1)
            self._values = memoryview(values)[: items * size].cast(cast)

    def __len__(self) -> int:
        return self._length

    @property
    def has_missing(self) -> bool:
        """Whether some values may be missing."""
        return self._validity is not None

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(self._length))]
        if i < 0:
            i += self._length
        if not 0 <= i < self._length:
            raise IndexError(i)
        if self._validity is not None and not _bit(self._validity, i):
            return None
        if self._column[1] == "b":
            return _bit(self._values, i)
        if self._offsets is not None:
            value = self._values[self._offsets[i] : self._offsets[i + 1]]
            return value.decode("utf-8", "surrogateescape") if self._is_text else value.tolist()
        if self._bytes:
            return self._values[i * self._bytes : (i + 1) * self._bytes]
        if self._width:
            return self._values[i * self._width : (i + 1) * self._width].tolist()
        return self._values[i]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(self._length))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        import numpy

        array: Any
        if self._offsets is not None:
            array = numpy.empty(self._length, dtype=object)
            array[:] = list(self) if self._is_text else [numpy.array(v, dtype=numpy.uint64) for v in self]
        elif self._bytes:
            array = numpy.frombuffer(self._values[: self._length * self._bytes], dtype=f"V{self._bytes}")
        elif self._column[1] == "b":
            bits = numpy.frombuffer(self._values, dtype=numpy.uint8)
            array = numpy.unpackbits(bits, count=self._length, bitorder="little").astype(bool)
        else:
            array = numpy.frombuffer(self._values, dtype=self._values.format)
            if self._width:
                array = array.reshape(self._length, self._width)
        if copy:
            array = array.copy()
        return array if dtype is None else array.astype(dtype)

    @property
    def buffer(self) -> memoryview:
        """The values as a buffer, of columns of numbers; a missing one is 0."""
        if not isinstance(self._values, memoryview):
            raise TypeError(f"the column {self.name} holds no numbers")
        return self._values

    def _exported(self) -> Any:
        """The column as the module exports it."""
        return self._column

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return _native.table_export((self._exported(),), self._length, True)

    def to_arrow(self) -> Any:
        """Give the values to pyarrow.

        Returns
        -------
        pyarrow.Array
            The values, of the column's type; they are not copied.
        """
        return needed("pyarrow").array(self)

    def to_polars(self) -> Any:
        """Give the values to polars.

        Returns
        -------
        polars.Series
            The values, under the column's name.
        """
        return needed("polars").Series(self.name, self)

    def to_pandas(self) -> Any:
        """Give the values to pandas, by way of pyarrow.

        Returns
        -------
        pandas.Series
            The values, under the column's name.
        """
        needed("pandas")
        return self.to_arrow().to_pandas().rename(self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        return Column, (self._column, self._length)

    def __repr__(self) -> str:
        return f"<neardup.Column {self.name} of {self._length} rows>"


class Table(Values[dict[str, Any]]):
    """A table: a sequence of rows as dicts, and columns by their names.

    Frames read it by the Arrow PyCapsule interface: ``pyarrow.record_batch(table)``,
    ``polars.DataFrame(table)``.

    Examples
    --------
    >>> import neardup
    >>> table = neardup.hamming_pairs([0xF0, 0, 0xF1], 1)
    >>> table.column_names
    ['a', 'b', 'distance']
    >>> table[0], table["b"][0], len(table)
    ({'a': 0, 'b': 2, 'distance': 1}, 2, 1)
    """

    def __init__(self, columns: Sequence[_Column | Column], length: int) -> None:
        self._length = length
        made = (column if isinstance(column, Column) else Column(column, length) for column in columns)
        self._by_name = {column.name: column for column in made}

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return list(self._by_name)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, key: Any) -> Any:
        """A column by its name, a row by its number, or a list of rows by a slice."""
        if isinstance(key, str):
            return self._by_name[key]
        if isinstance(key, slice):
            return [self[i] for i in range(*key.indices(self._length))]
        if key < 0:
            key += self._length
        return {name: column[key] for name, column in self._by_name.items()}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[i] for i in range(self._length))

    def _exported(self) -> Any:
        return tuple(column._exported() for column in self._by_name.values())

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return _native.table_export(self._exported(), self._length, False)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        columns = self._exported()
        return _native.table_stream(columns, [(columns, self._length)])

    def to_arrow(self) -> Any:
        """Give the rows to pyarrow.

        Returns
        -------
        pyarrow.Table
            The table; its columns are not copied.
        """
        return needed("pyarrow").table(self)

    def to_polars(self) -> Any:
        """Give the rows to polars.

        Returns
        -------
        polars.DataFrame
            The table.
        """
        return needed("polars").DataFrame(self)

    def to_pandas(self) -> Any:
        """Give the rows to pandas, by way of pyarrow.

        Returns
        -------
        pandas.DataFrame
            The table.
        """
        needed("pandas")
        return self.to_arrow().to_pandas()

    def __reduce__(self) -> tuple[Any, ...]:
        return Table, (list(self._by_name.values()), self._length)

    def __repr__(self) -> str:
        return f"<neardup.Table of {self._length:,} rows: {', '.join(self._by_name)}>"
