"""Indexes of fingerprints: arrays of every kind, wrong ones, and several threads."""

from __future__ import annotations

import random
import threading
from array import array

import pytest

import neardup

WORDS = [5, 1 << 63, 7, (1 << 64) - 1]


def arrays():
    yield "list", WORDS
    yield "array", array("Q", WORDS)
    yield "bytes", array("Q", WORDS).tobytes()
    yield "generator", (word for word in WORDS)
    yield "small", array("I", [5, 7])
    numpy = pytest.importorskip("numpy")
    yield "numpy", numpy.array(WORDS, dtype=numpy.uint64)
    yield "numpy signed", numpy.array(WORDS, dtype=numpy.uint64).view(numpy.int64)
    yield "numpy small", numpy.array([5, 7], dtype=numpy.uint16)
    yield "numpy strided", numpy.array([word for word in WORDS for _ in range(2)], dtype=numpy.uint64)[::2]
    pa = pytest.importorskip("pyarrow")
    yield "pyarrow", pa.array(WORDS, pa.uint64())
    yield "pyarrow slice", pa.array([0, 0, *WORDS], pa.uint64())[2:]
    yield "pyarrow chunks", pa.chunked_array([WORDS[:1], WORDS[1:]], pa.uint64())
    polars = pytest.importorskip("polars")
    yield "polars", polars.Series(WORDS, dtype=polars.UInt64)


def test_arrays_of_every_kind_are_fingerprints():
    for name, words in arrays():
        index = neardup.HammingIndex(distance=0)
        index.add(words)
        expected = [5, 7] if "small" in name else WORDS
        assert index.query(expected)["id"][:] == list(range(len(expected))), name


def test_arrays_that_are_none_are_refused():
    index = neardup.HammingIndex()
    for wrong, error, message in (
        (array("d", [1.0]), TypeError, "whole numbers"),
        (array("f", [1.0]), TypeError, "whole numbers"),
        ([1.5], TypeError, "float"),
        ([-1], OverflowError, "negative|unsigned"),
        ([1 << 64], OverflowError, "too large|greater|big"),
        (None, TypeError, "not iterable"),
        ("5", TypeError, "integer|str"),
    ):
        with pytest.raises(error, match=message):
            index.add(wrong)
    for wrong, error in ((-1, OverflowError), (1 << 64, OverflowError), (1.5, TypeError), ("5", TypeError)):
        with pytest.raises(error):
            index.find(wrong)
    with pytest.raises(OverflowError):
        index.find(1, -1)
    with pytest.raises(neardup.InvalidError):
        index.find(1, 1 << 40)
    with pytest.raises(OverflowError):
        index.add([1], ids=[-1])
    with pytest.raises(OverflowError):
        index.add([1], ids=array("i", [-1]))
    with pytest.raises(ValueError, match="1 fingerprints and 2 ids"):
        index.add([1], ids=[1, 2])
    with pytest.raises(neardup.InvalidError):
        index.remove(1, 2)
    assert len(index) == 0 and index.find(0) == []
    narrow = neardup.HammingIndex(bits=40, distance=1)
    with pytest.raises(neardup.InvalidError):
        narrow.add([1, 1 << 40, 2])
    narrow.add([3])
    assert narrow.find(3)[-1] == (len(narrow) - 1, 0)


def test_arrow_arrays_with_nulls_are_refused():
    pa = pytest.importorskip("pyarrow")
    for wrong in (pa.array([1, None], pa.uint64()), pa.array([1.0]), pa.array(["1"])):
        with pytest.raises((neardup.InvalidError, TypeError)):
            neardup.HammingIndex().add(wrong)


def test_wide_fingerprints_are_ints_too():
    index = neardup.HammingIndex(bits=128, distance=2)
    index.add(1 << 100, ids=[9])
    assert index.query((1 << 100) + 1)["id"][:] == [9]
    with pytest.raises(ValueError, match="not 128: use query"):
        index.find(1 << 60)
    index.bits = 64  # of no effect on what C reads
    with pytest.raises(ValueError, match="whole number"):
        index.query(array("Q", [1]))


def test_a_sliced_query_numbers_its_queries_as_a_whole_one():
    chance = random.Random(2)
    words = array("Q", chance.randbytes(8 * 20_000))
    index = neardup.HammingIndex()
    index.add(words)
    found = index.query(words)
    assert found["query"][:] == list(range(len(words))) == found["id"][:]
    assert index.design["family"] and neardup.HammingIndex(bits=64).design["tables"]


@pytest.mark.parametrize("offset", range(8))
def test_an_empty_index_is_saved_wherever_its_arrays_lie(tmp_path, offset):
    empty = memoryview(bytes(8))[offset:offset]
    neardup._native.hamming_save(tmp_path / "index", 64, 3, empty, empty)
    assert len(neardup.HammingIndex.open(tmp_path / "index")) == 0


def test_threads_share_an_index_of_fingerprints(tmp_path):
    chance = random.Random(3)
    words = [chance.getrandbits(64) for _ in range(4000)]
    index = neardup.HammingIndex()
    barrier = threading.Barrier(4)
    wrong = []

    def add(part):
        barrier.wait()
        for at in range(part, len(words), 2):
            index.add([words[at]], ids=[at])
            if at % 5 == 0:
                index.remove(words[at], at)

    def ask():
        barrier.wait()
        for word in words:
            wrong.extend(pair for pair in index.find(word) if words[pair[0]] != word)
        index.save(tmp_path / f"{threading.get_ident()}")

    threads = [threading.Thread(target=add, args=(part,)) for part in (0, 1)]
    threads += [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    index.save(tmp_path / "index")
    opened = neardup.HammingIndex.open(tmp_path / "index")
    expected = [at for at in range(len(words)) if at % 5]
    assert sorted(opened.query(words)["id"]) == sorted(index.query(words)["id"]) == expected
