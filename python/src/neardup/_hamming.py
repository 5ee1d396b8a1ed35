"""Indexes of fingerprints: all within k bits."""

from __future__ import annotations

import os
import threading
from array import array
from collections.abc import Iterable
from typing import Any

from . import _native
from ._table import Column, Table

_ID_MAX = 2**32 - 1


# How buffers call whole numbers of 64 bits, and bytes, which are words already.
_WORDS = {"Q", "q", "L", "l", "N", "n"}
_BYTES = {"B", "b", "c"}
_OTHERS = {"I", "i", "H", "h"}


def _format(view: memoryview) -> str:
    return view.format.lstrip("@=<")


def _words(fingerprints: Any, bits: int = 64) -> Any:
    """Give fingerprints as a buffer of 64-bit words, without a copy where they are one."""
    if isinstance(fingerprints, int):
        return fingerprints.to_bytes((bits + 63) // 64 * 8, "little")
    if isinstance(fingerprints, Column):
        if None in fingerprints:
            raise _native.InvalidError("a row has no fingerprint, as it has no text")
        return fingerprints.buffer
    try:
        view = memoryview(fingerprints)
    except TypeError:
        return _words_of_array(fingerprints)
    kind = _format(view)
    if kind in _BYTES or (kind in _WORDS and view.itemsize == 8):
        return fingerprints if view.c_contiguous else view.tobytes()
    if kind in _OTHERS or kind in _WORDS:
        return array("Q", view.tolist())
    raise TypeError(f"fingerprints are whole numbers, and the format of the buffer is '{view.format}'")


def _words_of_array(fingerprints: Any) -> Any:
    """Give the words of what is no buffer: an array of Arrow, or whatever has ``__array__``, or an iterable."""
    if hasattr(fingerprints, "buffers") and hasattr(fingerprints, "null_count"):
        if str(fingerprints.type) not in ("uint64", "int64"):
            raise TypeError(f"fingerprints are uint64, not {fingerprints.type}")
        if fingerprints.null_count:
            raise _native.InvalidError("a fingerprint is null")
        first = fingerprints.offset
        values = fingerprints.buffers()[1]
        return memoryview(values or b"").cast("B").cast("Q")[first : first + len(fingerprints)]
    if hasattr(fingerprints, "__array__"):
        import numpy

        found = numpy.asarray(fingerprints)
        if found.dtype.kind not in "iu" and found.size:
            raise TypeError(f"fingerprints are whole numbers without nulls, not {found.dtype}")
        return numpy.ascontiguousarray(found, dtype=numpy.uint64)
    return array("Q", fingerprints)


def _ids(ids: Any) -> Any:
    try:
        view = memoryview(ids)
    except TypeError:
        return array("I", ids)
    if view.itemsize == 4 and _format(view) in ("I", "L"):
        return ids
    return array("I", view.tolist())


class HammingIndex:
    """An index of fingerprints that finds all within `distance` bits of a query, exactly.

    Parameters
    ----------
    bits : int, optional
        Bits of a fingerprint, 32 to 512 (default: 64).
    distance : int, optional
        The greatest distance that can be queried (default: 3).
    count : int, optional
        How many fingerprints are expected: the design is chosen for it.
    memory : int, optional
        How many bytes the index may take; 0: any.

    Notes
    -----
    Fingerprints of up to 64 bits are ints or an array of 64-bit words, such as numpy's ``uint64``;
    wider ones are rows of words, the lowest bits first.  Ids are numbers below 2**32.  Arrays of numpy,
    Arrow and polars, and every other buffer of words, are read without a copy.

    Any number of threads may use an index.  Queries run side by side, and beside what is added: they
    find all that was in when they began.

    Examples
    --------
    >>> index = HammingIndex(distance=3)
    >>> index.add([0xFF00, 0xFF0F])
    >>> index.find(0xFF01)
    [(0, 1), (1, 3)]
    >>> index.query([0xFF01, 0])["id"][:]
    [0, 1]
    """

    def __init__(self, bits: int = 64, distance: int = 3, *, count: int = 1_000_000, memory: int = 0) -> None:
        self.bits = bits
        self.distance = distance
        self._path: str | None = None
        self._next = 0
        self._expected = count, memory
        self._native = _native.hamming_new(bits, distance, count, float(memory))
        # A file is made of these: the index itself does not list what it holds.
        self._fingerprints = array("Q")
        self._numbers = array("I")
        self._removed: dict[tuple[bytes, int], int] = {}
        self._changing = threading.RLock()

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> HammingIndex:
        """Open an index file, which ``neardup index build`` or :meth:`save` wrote.

        Parameters
        ----------
        path : str or os.PathLike
            The file.

        Returns
        -------
        HammingIndex
            An index that reads the file as it is queried.

        Raises
        ------
        OSError
            It cannot be read.
        Error
            It is not an index file, or it is damaged.
        """
        index = cls.__new__(cls)
        index._path = os.fspath(path)
        index._changing = threading.RLock()
        index._reopen()
        return index

    def _reopen(self) -> None:
        assert self._path is not None
        self._native = _native.hamming_open(self._path)
        self.bits, self.distance, self._next, self._bytes, self._has_texts = _native.hamming_file_info(self._native)

    def __len__(self) -> int:
        return self._next if self._path is not None else _native.hamming_count(self._native)

    @property
    def nbytes(self) -> int:
        """The bytes of the index: its memory, or its file."""
        return self._bytes if self._path is not None else _native.hamming_bytes(self._native)

    @property
    def design(self) -> dict[str, str | int]:
        """How an index in memory searches: its family, the number of its tables, and the bits of their keys."""
        if self._path is not None:
            raise _native.UnsupportedError("neardup index info tells the design of a file")
        return dict(zip(("family", "tables", "key_bits"), _native.hamming_plan(self._native)))

    def add(self, fingerprints: Any, ids: Iterable[int] | Any | None = None) -> None:
        """Add fingerprints.

        Parameters
        ----------
        fingerprints : int, iterable of int, or array
            What is added.
        ids : iterable of int, optional
            Their ids (default: the next numbers from 0 on).

        Raises
        ------
        InvalidError
            A fingerprint has more than `bits` bits; it and those after it may be missing.
        ValueError
            There are more or fewer ids than fingerprints; nothing was added.
        """
        words = memoryview(_words(fingerprints, self.bits)).cast("B")
        width = (self.bits + 63) // 64
        n = len(words) // (8 * width)
        with self._changing:
            numbers = _native.hamming_numbers(self._next, n) if ids is None else _ids(ids)
            if self._path is not None:
                _native.hamming_file_add(self._path, self.bits, words, numbers)
                self._reopen()
                return
            before = len(self)
            try:
                _native.hamming_add(self._native, words, numbers)
            finally:
                # If it failed or was interrupted, the first so many are in.
                added = len(self) - before
                self._fingerprints.frombytes(words[: 8 * width * added])
                self._numbers.frombytes(memoryview(numbers).cast("B")[: 4 * added])
                last = self._next + added - 1 if ids is None else max(memoryview(numbers)[:added], default=-1)
                self._next = max(self._next, int(last) + 1)

    def remove(self, fingerprint: Any, id: int) -> None:
        """Remove one pair of a fingerprint and an id, from an index in memory.

        Parameters
        ----------
        fingerprint : int or array
            The fingerprint.
        id : int
            Its id.

        Raises
        ------
        InvalidError
            The index has no such pair.
        """
        if self._path is not None:
            raise _native.UnsupportedError("nothing can be removed from an index file")
        words = bytes(memoryview(_words(fingerprint, self.bits)).cast("B"))
        with self._changing:
            _native.hamming_remove(self._native, words, id)
            self._removed[words, id] = self._removed.get((words, id), 0) + 1

    def query(self, fingerprints: Any, distance: int | None = None) -> Table:
        """Find what is near each of many fingerprints.

        Parameters
        ----------
        fingerprints : int, iterable of int, or array
            The queries.
        distance : int, optional
            The greatest distance (default: the index's).

        Returns
        -------
        Table
            A row for each match, sorted: ``query`` (its place), ``id``, ``distance``.
        """
        k = self.distance if distance is None else distance
        columns = _native.hamming_query(self._native, _words(fingerprints, self.bits), k)
        return Table(columns, len(columns[0][2]) // 4)

    def find(self, fingerprint: int, distance: int | None = None) -> list[tuple[int, int]]:
        """Find what is near one fingerprint of up to 64 bits.

        Parameters
        ----------
        fingerprint : int
            The query.
        distance : int, optional
            The greatest distance (default: the index's).

        Returns
        -------
        list of tuple of int
            Ids and distances, the nearest first.
        """
        return _native.hamming_find(self._native, fingerprint, self.distance if distance is None else distance)

    def text(self, id: int) -> str:
        """Give the id of an entry, of a file whose ids are texts.

        Parameters
        ----------
        id : int
            The number of the entry, as queries have it.

        Returns
        -------
        str
            Its id.
        """
        if self._path is None:
            raise _native.UnsupportedError("ids of an index in memory are numbers")
        return _native.hamming_file_text(self._native, id)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to a file that the command reads: it appears when it is whole.

        Parameters
        ----------
        path : str or os.PathLike
            The file.
        """
        if self._path is not None:
            raise _native.UnsupportedError(f"the index is a file already: {self._path}")
        with self._changing:
            if self._removed:
                self._left()
            # Others may add meanwhile, and an array that is lent to C does not grow.
            words, numbers = self._fingerprints[:], self._numbers[:]
        _native.hamming_save(path, self.bits, self.distance, words, numbers)

    def _left(self) -> None:
        """Forget what was removed."""
        width = (self.bits + 63) // 64
        words, numbers, gone = array("Q"), array("I"), dict(self._removed)
        for i, number in enumerate(self._numbers):
            fingerprint = self._fingerprints[i * width : (i + 1) * width]
            key = (fingerprint.tobytes(), number)
            if gone.get(key):
                gone[key] -= 1
            else:
                words.extend(fingerprint)
                numbers.append(number)
        self._fingerprints, self._numbers, self._removed = words, numbers, {}

    def __reduce__(self) -> tuple[Any, ...]:
        """An index in memory goes to another process with its fingerprints, a file as its path."""
        if self._path is not None:
            return HammingIndex.open, (self._path,)
        with self._changing:
            if self._removed:
                self._left()
            held = self._fingerprints[:], self._numbers[:], self._next
        return _restored, (self.bits, self.distance, self._expected, *held)

    def __repr__(self) -> str:
        return f"<neardup.HammingIndex: {len(self):,} fingerprints of {self.bits} bits, within {self.distance}>"


def _restored(
    bits: int, distance: int, expected: tuple[int, int], words: array[int], numbers: array[int], following: int
) -> HammingIndex:
    """An index that was pickled."""
    index = HammingIndex(bits, distance, count=expected[0], memory=expected[1])
    index.add(words, numbers)
    index._next = following
    return index


class HammingBatch:
    """Queries, past which any number of fingerprints stream (Manku 2007, §3.3).

    Parameters
    ----------
    queries : iterable of int, or array
        What is looked for; it is copied.
    bits : int, optional
        Bits of a fingerprint, 32 to 512 (default: 64).
    distance : int, optional
        The greatest distance (default: 3).

    Examples
    --------
    >>> batch = HammingBatch([0xF0, 0])
    >>> batch.feed([0xF00000, 1])[:]
    [{'query': 1, 'place': 1, 'distance': 1}]
    """

    def __init__(self, queries: Any, bits: int = 64, distance: int = 3) -> None:
        self.bits = bits
        self.distance = distance
        self._native = _native.hamming_batch_new(_words(queries), bits, distance)

    def feed(self, fingerprints: Any) -> Table:
        """Find every pair of a query and one of these fingerprints.

        Parameters
        ----------
        fingerprints : int, iterable of int, or array
            What is compared with the queries; nothing of it is kept.

        Returns
        -------
        Table
            A row for each pair, in the order of the fingerprints: ``query`` and ``place``, the
            numbers of the two in their arrays, and ``distance``.
        """
        columns = _native.hamming_batch_feed(self._native, _words(fingerprints))
        return Table(columns, len(columns[0][2]) // 8)


def hamming_pairs(fingerprints: Any, distance: int = 3, *, bits: int = 64, threads: int = 0) -> Table:
    """All pairs of fingerprints within `distance` bits, by their places.

    Parameters
    ----------
    fingerprints : iterable of int, or array
        The fingerprints.
    distance : int, optional
        The greatest distance (default: 3).
    bits : int, optional
        Bits of a fingerprint (default: 64).
    threads : int, optional
        How many threads work; 0: one for each processor.

    Returns
    -------
    Table
        A row for each pair, in order: ``a``, ``b`` (a < b) and ``distance``.

    Examples
    --------
    >>> hamming_pairs([0xF0, 0, 0xF1], 1)[:]
    [{'a': 0, 'b': 2, 'distance': 1}]
    """
    columns = _native.hamming_pairs(_words(fingerprints, bits), bits, distance, threads)
    return Table(columns, len(columns[0][2]) // 8)
