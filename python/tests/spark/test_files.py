"""Sketch files of DataFrames: the rows of one machine, whatever the partitions."""

from __future__ import annotations

import pytest

import neardup
from neardup.spark import read_sketches, write_sketches


@pytest.fixture
def frame(spark, records):
    rows = [(row["id"], row["text"]) for row in records] + [("none", None)]
    return spark.createDataFrame(rows, "id string, text string")


def local(path, columns):
    return [row for table in neardup.read_sketches(path, columns) for row in table]


@pytest.mark.both
def test_the_files_have_the_rows_of_one_machine(spark, frame, records, tmp_path):
    columns = ["id", "text_hash", "identity", "simhash", "low", "shingles", "tokens"]
    assert write_sketches(frame.repartition(3), tmp_path / "parts", id="id") == len(records)
    assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == [f"part-0000{i}.sketch" for i in range(3)]
    neardup.write_sketches(records, tmp_path / "whole.sketch", id="id")
    whole = sorted(local(tmp_path / "whole.sketch", columns), key=lambda row: row["id"])
    parts = [row for path in (tmp_path / "parts").iterdir() for row in local(path, columns)]
    assert sorted(parts, key=lambda row: row["id"]) == whole
    read = read_sketches(spark, tmp_path / "parts", columns).orderBy("id").collect()
    assert len(read) == len(whole)
    for row, own in zip(sorted(read, key=lambda row: row.id), whole, strict=True):
        assert row.simhash & (1 << 64) - 1 == own["simhash"] and row.identity & (1 << 64) - 1 == own["identity"]
        assert bytes(row.low) == own["low"] and bytes(row.text_hash) == own["text_hash"]
        assert [h & (1 << 64) - 1 for h in row.shingles] == own["shingles"] and row.tokens == own["tokens"]


def test_all_columns_and_wide_fingerprints(spark, frame, tmp_path):
    recipe = neardup.Recipe.parse("[signature wide]\nkind = simhash\nbits = 128\n")
    write_sketches(frame.coalesce(1), tmp_path / "wide", id="id", recipe=recipe, shingles=False)
    df = read_sketches(spark, tmp_path / "wide")
    assert dict(df.dtypes)["fingerprint"] == "binary" and dict(df.dtypes)["source"] == "string"
    row = df.where("fingerprint is not null").first()
    assert len(row.fingerprint) == 16 and row.source == "-" and row.line >= 1
    write_sketches(frame.coalesce(1), tmp_path / "narrow", recipe="manku-2007")
    df = read_sketches(spark, tmp_path / "narrow")
    assert dict(df.dtypes)["fingerprint"] == "bigint" and df.where("id is not null").count() == 0


def test_what_cannot_be_is_refused(spark, frame, tmp_path):
    write_sketches(frame, tmp_path / "a", id="id")
    with pytest.raises(neardup.InvalidError, match="has sketch files already"):
        write_sketches(frame, tmp_path / "a", id="id")
    with pytest.raises(neardup.InvalidError, match="no column 'nix'"):
        write_sketches(frame, tmp_path / "b", "nix")
    with pytest.raises(neardup.UnsupportedError, match="df tables"):
        write_sketches(frame, tmp_path / "b", recipe="seshasai-2009")
    with pytest.raises(neardup.InvalidError, match="no sketch files"):
        read_sketches(spark, tmp_path)
    with pytest.raises(neardup.InvalidError, match="no column 'nix'"):
        read_sketches(spark, tmp_path / "a", ["nix"])
    write_sketches(frame.coalesce(1), tmp_path / "c", recipe=neardup.Recipe(shingle=5))
    with pytest.raises(neardup.InvalidError, match="another recipe: shingle differs"):
        read_sketches(spark, [tmp_path / "a", tmp_path / "c"])
    write_sketches(spark.createDataFrame([], "text string").coalesce(1), tmp_path / "empty")
    assert read_sketches(spark, tmp_path / "empty").count() == 0
