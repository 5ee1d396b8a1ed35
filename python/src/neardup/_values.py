"""The base of our sequences of values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Values(Generic[T]):
    """The methods of a sequence.

    It is no ``collections.abc.Sequence``: polars reads those value by value, and only what is none by
    the Arrow PyCapsule interface.
    """

    def __len__(self) -> int:
        raise NotImplementedError

    def __getitem__(self, i: Any) -> Any:
        raise NotImplementedError

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError

    def __contains__(self, value: object) -> bool:
        return any(own is value or own == value for own in self)

    def __reversed__(self) -> Iterator[T]:
        return (self[i] for i in range(len(self) - 1, -1, -1))

    def index(self, value: object) -> int:
        """Find the place of the first such value; ValueError: there is none."""
        for i, own in enumerate(self):
            if own is value or own == value:
                return i
        raise ValueError(f"{value!r} is not in the {type(self).__name__.lower()}")

    def count(self, value: object) -> int:
        """Count the values that are equal to this one."""
        return sum(own is value or own == value for own in self)
