"""The join of fingerprints is exact: it finds what comparing all with all finds."""

from __future__ import annotations

import random

import pytest

import neardup
from neardup.spark import join_fingerprints, pack_fingerprints


def _near(chance, fingerprint, bits, distance):
    for bit in chance.sample(range(bits), distance):
        fingerprint ^= 1 << bit
    return fingerprint


def _made(bits, n, m):
    """Fingerprints, and queries of which half are near one of them."""
    chance = random.Random(bits)
    fingerprints = [chance.getrandbits(bits) for _ in range(n)]
    queries = [
        _near(chance, chance.choice(fingerprints), bits, chance.randrange(6)) if i % 2 else chance.getrandbits(bits)
        for i in range(m)
    ]
    return fingerprints + fingerprints[:20], queries


def _expected(fingerprints, queries, k):
    return sorted(
        (f"q{i}", j, (q ^ f).bit_count())
        for i, q in enumerate(queries)
        for j, f in enumerate(fingerprints)
        if (q ^ f).bit_count() <= k
    )


def _value(fingerprint, bits):
    if bits > 64:
        return bytearray(fingerprint.to_bytes((bits + 63) // 64 * 8, "little"))
    return fingerprint - 2**64 if fingerprint >= 2**63 else fingerprint


def _frames(spark, bits, n=400, m=60):
    fingerprints, queries = _made(bits, n, m)
    kind = "bigint" if bits <= 64 else "binary"
    rows = [(i, _value(f, bits)) for i, f in enumerate(fingerprints)]
    df = spark.createDataFrame([*rows, (None, None)], f"id bigint, simhash {kind}")
    asked = spark.createDataFrame(
        [(f"q{i}", _value(q, bits)) for i, q in enumerate(queries)] + [("none", None)], f"id string, simhash {kind}"
    )
    return df, asked, fingerprints, queries


def _found(df):
    return sorted(tuple(row) for row in df.collect())


@pytest.mark.parametrize("bits, k", [(32, 2), (64, 0), (64, 3), (64, 5), (128, 4), (384, 5)])
def test_every_match_is_found(spark, bits, k):
    df, asked, fingerprints, queries = _frames(spark, bits)
    expected = _expected(fingerprints, queries, k)
    assert len(expected) > 5
    assert _found(join_fingerprints(df, asked, k, bits=bits)) == expected


@pytest.mark.both
@pytest.mark.parametrize("partitions", [1, 2, 7])
def test_blocks_give_what_rows_give(spark, partitions):
    df, asked, fingerprints, queries = _frames(spark, 64)
    blocks = pack_fingerprints(df.repartition(partitions), block_bytes=800)
    assert blocks.agg({"count": "sum"}).collect()[0][0] == len(fingerprints)
    assert _found(join_fingerprints(blocks, asked, 3)) == _expected(fingerprints, queries, 3)


def test_blocks_can_be_stored(spark, tmp_path):
    df, asked, fingerprints, queries = _frames(spark, 128)
    pack_fingerprints(df, bits=128).write.parquet(str(tmp_path / "blocks"))
    blocks = spark.read.parquet(str(tmp_path / "blocks"))
    assert _found(join_fingerprints(blocks, asked, 4, bits=128)) == _expected(fingerprints, queries, 4)


def test_it_agrees_with_the_pairs_of_one_machine(spark):
    df, _, fingerprints, _ = _frames(spark, 64)
    pairs = {(row["a"], row["b"], row["distance"]) for row in neardup.hamming_pairs(fingerprints, 3)}
    found = join_fingerprints(df, df, 3).where("query < id")
    assert {tuple(row) for row in found.collect()} == pairs


def test_nothing_to_find(spark):
    df, asked, _, _ = _frames(spark, 64)
    nobody = asked.limit(0)
    assert join_fingerprints(df, nobody, 3).collect() == []
    assert join_fingerprints(df.limit(0), asked, 3).collect() == []
    assert join_fingerprints(pack_fingerprints(df.limit(0)), asked, 3).collect() == []


def test_what_is_wrong_is_said_before_a_job_starts(spark):
    df, asked, _, _ = _frames(spark, 64)
    with pytest.raises(neardup.InvalidError, match="there is no column 'name'"):
        join_fingerprints(df, asked, id="name")
    with pytest.raises(neardup.InvalidError, match="column 'simhash' holds bigint, not .* as binary"):
        join_fingerprints(df, asked, bits=128)
    with pytest.raises(neardup.InvalidError, match="distance"):
        join_fingerprints(df, asked, 17)
    with pytest.raises(neardup.InvalidError, match="no room for a fingerprint"):
        pack_fingerprints(df, block_bytes=4)


def test_a_fingerprint_of_another_length_stops_the_job(spark):
    df = spark.createDataFrame([(1, bytearray(15))], "id bigint, simhash binary")
    with pytest.raises(Exception, match="a fingerprint of 128 bits has 16 bytes, not 15"):
        join_fingerprints(df, df, bits=128).collect()


def test_spark_connect_is_told_what_is_missing():
    from neardup.spark._session import cores_of, need_classic

    settings = type("Settings", (), {"get": lambda self, name, default: default})()
    session = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session", "conf": settings})()
    with pytest.raises(neardup.UnsupportedError, match="^join_fingerprints needs a classic session: Spark Connect"):
        need_classic(session, "join_fingerprints")
    assert cores_of(session) == 4
