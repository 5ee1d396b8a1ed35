"""Sketches made by Spark are those of the package, whatever the partitions."""

from __future__ import annotations

import pytest

import neardup
from neardup.spark import sketch


def _rows(table, records):
    """The rows that Spark should give: the same bits, as signed numbers."""
    rows = {}
    for record, row in zip(records, table):
        signed = {name: _signed(row[name], 64) for name in ("simhash", "identity", "tokens", "shingles")}
        minima = row["minima"]
        signed["minima"] = minima if minima is None else [_signed(value, 32) for value in minima]
        rows[record["id"]] = signed
    return rows


def _signed(value, bits):
    return value - 2**bits if value is not None and value >= 2 ** (bits - 1) else value


def _collected(df):
    return {row["id"]: {name: value for name, value in row.asDict().items() if name != "id"} for row in df.collect()}


@pytest.fixture(scope="module")
def some(records):
    """Documents, one of them without a text."""
    return [*records[:600], {"id": "none", "text": None}]


@pytest.fixture(scope="module")
def frame(spark, some):
    return spark.createDataFrame([(r["id"], r["text"]) for r in some], "id string, text string")


@pytest.mark.parametrize("partitions", [1, 2, 7, 64])
def test_sketches_are_those_of_the_sketcher(frame, some, partitions):
    expected = _rows(neardup.Sketcher()([r["text"] for r in some]), some)
    assert _collected(sketch(frame.repartition(partitions), "text", "id")) == expected


@pytest.mark.both
def test_a_recipe_reaches_the_executors(frame, some):
    recipe = neardup.Recipe(shingle=2)
    expected = _rows(neardup.Sketcher(recipe)([r["text"] for r in some]), some)
    assert _collected(sketch(frame, "text", "id", recipe=recipe)) == expected


def test_binary_texts_are_read(frame, some):
    binary = frame.selectExpr("id", "cast(text as binary) as text")
    assert _collected(sketch(binary, "text", "id")) == _collected(sketch(frame, "text", "id"))


def test_other_columns_stay(spark):
    df = spark.createDataFrame([(1, "one two three", "x")], "a int, text string, b string")
    assert sketch(df).columns == ["a", "b", "simhash", "identity", "tokens", "shingles", "minima"]


def test_an_empty_frame_has_no_sketches(spark):
    assert sketch(spark.createDataFrame([], "id string, text string")).collect() == []


def test_what_is_wrong_is_said_before_a_job_starts(spark, frame):
    with pytest.raises(neardup.InvalidError, match="there is no column 'body'; there are .*'id', 'text'"):
        sketch(frame, "body")
    with pytest.raises(neardup.InvalidError, match="there is no column 'name'"):
        sketch(frame, "text", "name")
    with pytest.raises(neardup.InvalidError, match="column 'id' holds bigint, not text"):
        sketch(spark.range(3), "id")
    with pytest.raises(neardup.InvalidError, match="no recipe"):
        sketch(frame, recipe="nothing-like-that")
    with pytest.raises(neardup.InvalidError, match="column 'tokens' has the name"):
        sketch(spark.createDataFrame([], "text string, tokens int"))


@pytest.mark.cluster
def test_a_lost_executor_changes_nothing(frame, some, lose_an_executor):
    expected = _rows(neardup.Sketcher()([r["text"] for r in some]), some)
    shaken = frame.repartition(4).mapInArrow(lose_an_executor, frame.schema)
    assert _collected(sketch(shaken, "text", "id")) == expected
