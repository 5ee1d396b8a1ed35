"""Columns of the caller's own values, which keep their type: ids."""

from __future__ import annotations

import datetime
import decimal
import json
import uuid
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import _native
from ._table import Column

if TYPE_CHECKING:
    from ._native import _Column

_DAY_0 = datetime.date(1970, 1, 1).toordinal()
_MICROSECOND = datetime.timedelta(microseconds=1)


def _of_width(kind: str, values: Sequence[Any], nothing: Any, pack: Callable[[list[Any]], bytes]) -> tuple[Any, ...]:
    return kind, pack([nothing if value is None else value for value in values]), None


def _of_lengths(kind: str, values: Sequence[bytes | None]) -> tuple[Any, ...]:
    offsets = array("q", [0])
    for value in values:
        offsets.append(offsets[-1] + len(value or b""))
    return kind, b"".join(value or b"" for value in values), offsets.tobytes()


def _spelt(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)


def _as_texts(values: Sequence[Any]) -> tuple[Any, ...]:
    """Any values as texts."""
    spelt = (None if value is None else _spelt(value) for value in values)
    return _of_lengths("U", [None if text is None else text.encode("utf-8", "surrogateescape") for text in spelt])


def _as_integers(values: Sequence[Any]) -> tuple[Any, ...]:
    try:
        return _of_width("l", values, 0, lambda some: array("q", some).tobytes())
    except OverflowError:
        pass
    try:
        return _of_width("L", values, 0, lambda some: array("Q", some).tobytes())
    except OverflowError:
        return _as_texts(values)


def _as_times(values: Sequence[Any]) -> tuple[Any, ...]:
    """Times with a zone, or all without one, in microseconds."""
    has_zone = {value.tzinfo is not None for value in values if value is not None}
    if len(has_zone) > 1:
        return _as_texts(values)
    zone = datetime.UTC if has_zone == {True} else None
    first = datetime.datetime(1970, 1, 1, tzinfo=zone)
    numbers = [None if value is None else (value - first) // _MICROSECOND for value in values]
    return _of_width("tsu:UTC" if zone else "tsu:", numbers, 0, lambda some: array("q", some).tobytes())


def _as_decimals(values: Sequence[Any]) -> tuple[Any, ...]:
    there = [value for value in values if value is not None]
    if not all(value.is_finite() for value in there):
        return _as_texts(values)
    scale = max([0, *(-value.as_tuple().exponent for value in there)])
    exact = decimal.Context(prec=100)
    numbers = [None if value is None else int(value.scaleb(scale, exact)) for value in values]
    if scale > 38 or any(abs(number) >= 10**38 for number in numbers if number is not None):
        return _as_texts(values)
    pack = lambda some: b"".join(number.to_bytes(16, "little", signed=True) for number in some)  # noqa: E731
    return _of_width(f"d:38,{scale}", numbers, 0, pack)


_KINDS: dict[type, Callable[[Sequence[Any]], tuple[Any, ...]]] = {
    bool: lambda values: _of_width("b", values, False, lambda some: _native.pack_bits(bytes(some))),
    int: _as_integers,
    float: lambda values: _of_width("g", values, 0.0, lambda some: array("d", some).tobytes()),
    bytes: lambda values: _of_lengths("Z", values),
    datetime.date: lambda values: _of_width(
        "tdD",
        [None if value is None else value.toordinal() - _DAY_0 for value in values],
        0,
        lambda some: array("i", some).tobytes(),
    ),
    datetime.datetime: _as_times,
    decimal.Decimal: _as_decimals,
    uuid.UUID: lambda values: _of_width(
        "w:16", values, uuid.UUID(int=0), lambda some: b"".join(value.bytes for value in some)
    ),
}


def typed(name: str, values: Sequence[Any]) -> _Column:
    """Python's values as a column of the type that all have; values of several types become texts."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float} and all(abs(value) <= 2**53 for value in values if isinstance(value, int)):
        values = [None if value is None else float(value) for value in values]
        kinds = {float}
    kind, packed, offsets = _KINDS.get(kinds.pop() if len(kinds) == 1 else object, _as_texts)(values)
    validity = _native.pack_bits(bytes(value is not None for value in values)) if None in values else None
    return name, kind, packed, validity, None, 0, offsets


def picked(pick: Callable[[str, Any], Column], name: str, rows: Column, others: Column | None = None) -> Column:
    """The values that `pick` gives for rows; where a row is missing, that of `others` or None."""
    if not rows.has_missing:
        return pick(name, rows)
    own = iter(pick(name, [row for row in rows if row is not None]))
    rest = others if others is not None else [None] * len(rows)
    return OwnColumn(name, [other if row is None else next(own) for row, other in zip(rows, rest)])


class OwnColumn(Column):
    """Values of the caller: a list, an array of pyarrow, or a series of polars.

    Examples
    --------
    >>> column = OwnColumn("id", [3, None])
    >>> column[0], column[:], len(column)
    (3, [3, None], 2)
    """

    def __init__(self, name: str, values: Any) -> None:
        self.name = name
        self._own = values
        self._length = len(values)
        self._lent: Any = None

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return _python(self._own[i])
        if i < 0:
            i += self._length
        if not 0 <= i < self._length:
            raise IndexError(i)
        value = self._own[i]
        return value.as_py() if hasattr(value, "as_py") else value

    def __iter__(self) -> Iterator[Any]:
        return iter(_python(self._own))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        import numpy

        values: Any = self._own
        if isinstance(values, list) and len({type(value) for value in values} - {int, float, bool}):
            array = numpy.empty(self._length, dtype=object)
            array[:] = values
        else:
            array = numpy.asarray(values)
        if copy:
            array = array.copy()
        return array if dtype is None else array.astype(dtype)

    @property
    def buffer(self) -> memoryview:
        """It has none."""
        raise TypeError(f"the column {self.name} holds no numbers")

    def _exported(self) -> Any:
        if self._lent is None:
            own = self._own
            if isinstance(own, list):
                self._lent = typed(self.name, own)
            elif hasattr(own, "__arrow_c_array__"):
                self._lent = (self.name, *own.__arrow_c_array__())
            else:
                self._lent = (self.name, *_native.stream_array(own.rechunk().__arrow_c_stream__()))
        return self._lent

    def __reduce__(self) -> tuple[Any, ...]:
        return OwnColumn, (self.name, self._own)


def plain(value: Any) -> Any:
    """A scalar of numpy as Python's own value."""
    return value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value


def _python(values: Any) -> list[Any]:
    """Values as Python's own."""
    if hasattr(values, "to_pylist"):
        return list(values.to_pylist())
    return list(values.to_list() if hasattr(values, "to_list") else values)


# ---- Texts read back ----


def of_arrow_texts(name: str, texts: Column, kind: Any) -> OwnColumn:
    """Texts that a frame has made of values of Arrow, as values of their type again."""
    import pyarrow

    types = pyarrow.types
    values = pyarrow.array(texts)
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        kind = kind.value_type
    storage = getattr(kind, "storage_type", kind)
    if types.is_timestamp(kind):
        utc = values.cast(pyarrow.timestamp(kind.unit, "UTC"))
        return OwnColumn(name, utc.view("int64").view(kind))
    if types.is_fixed_size_binary(storage):
        raw = [None if text is None else bytes.fromhex(text.replace("-", "")) for text in texts]
        values = pyarrow.array(raw, storage)
        return OwnColumn(name, values if storage is kind else pyarrow.ExtensionArray.from_storage(kind, values))
    return OwnColumn(name, values.cast(storage))


def _read_date(text: str) -> datetime.date:
    return datetime.date.fromisoformat(text)


_READERS: dict[type, Callable[[str], Any]] = {
    bool: lambda text: text == "true",
    int: int,
    float: float,
    bytes: lambda text: text.encode("utf-8", "surrogateescape"),
    decimal.Decimal: decimal.Decimal,
    uuid.UUID: uuid.UUID,
    datetime.date: _read_date,
    datetime.datetime: datetime.datetime.fromisoformat,
}


def of_python_texts(name: str, texts: Column, kinds: set[type]) -> Column:
    """Convert values of Python that were of these types; values of several types stay texts."""
    kinds = kinds - {type(None)}
    if kinds == {int, float}:
        return OwnColumn(name, [None if text is None else json.loads(text) for text in texts])
    reader = _READERS.get(next(iter(kinds))) if len(kinds) == 1 else None
    if reader is None:
        return texts
    return OwnColumn(name, [None if text is None else reader(text) for text in texts])
