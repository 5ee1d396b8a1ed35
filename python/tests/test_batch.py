"""Batches of queries, past which fingerprints stream."""

from __future__ import annotations

import importlib.util
import random
from array import array

import pytest

import neardup
import neardup.spark


@pytest.mark.parametrize("bits, k", [(32, 3), (64, 3), (64, 6), (384, 9)])
def test_a_batch_meets_what_is_near(bits, k):
    chance = random.Random(bits)
    queries = [chance.getrandbits(bits) for _ in range(50)]
    stored = [q ^ sum(1 << bit for bit in chance.sample(range(bits), chance.randrange(12))) for q in queries]
    expected = [
        (i, j, (q ^ f).bit_count())
        for j, f in enumerate(stored)
        for i, q in enumerate(queries)
        if (q ^ f).bit_count() <= k
    ]
    size = (bits + 63) // 64 * 8
    packed = [b"".join(f.to_bytes(size, "little") for f in several) for several in (queries, stored)]
    rows = neardup.HammingBatch(packed[0], bits, k).feed(packed[1])[:]
    assert sorted(tuple(row.values()) for row in rows) == sorted(expected)
    assert [row["place"] for row in rows] == sorted(row["place"] for row in rows)


def test_what_a_batch_refuses():
    with pytest.raises(neardup.InvalidError, match="distance"):
        neardup.HammingBatch([1], distance=17)
    with pytest.raises(ValueError, match="15 bytes are not a whole number of 16"):
        neardup.HammingBatch(bytes(15), 128)
    with pytest.raises(ValueError, match="24 bytes are not a whole number of 16"):
        neardup.HammingBatch(bytes(16), 128).feed(array("Q", [1, 2, 3]))


@pytest.mark.skipif(bool(importlib.util.find_spec("pyspark")), reason="PySpark is there")
def test_without_pyspark_the_first_call_says_what_is_missing():
    with pytest.raises(ImportError, match="neardup.spark needs pyspark: pip install 'pyspark>=4,<5' pyarrow pandas"):
        neardup.spark.sketch(None)
