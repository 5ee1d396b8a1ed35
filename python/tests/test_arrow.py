"""Frames: every type of text in Arrow, and survivors of the caller's own kind."""

from __future__ import annotations

import datetime

import pytest

import neardup

TEXTS = [
    "one two three four",
    None,
    "five six seven eight and a text that is longer than twelve bytes",
    "One two three four",
]
KEPT = [True, True, True, False]


@pytest.fixture
def pa():
    return pytest.importorskip("pyarrow")


def test_types_of_text(pa):
    for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary()):
        values = [text.encode() if text and "binary" in str(kind) else text for text in TEXTS]
        column = pa.array(values, kind)
        for data in (
            pa.table({"text": column}),
            pa.table({"a": range(4), "text": column}),
            pa.record_batch({"text": column}),
            column,
            pa.chunked_array([column[:1], column[1:1], column[1:]]),
            pa.table({"text": pa.chunked_array([column[:3], column[3:]])}),
        ):
            result = neardup.dedup(data)
            assert list(result.kept) == KEPT, (kind, type(data))
            if kind != pa.string_view():  # which pyarrow filters by slices only
                assert type(result.survivors) is type(data)
            assert len(result.survivors) == 3
            assert result.survivors.slice(2, 1).to_pylist() == data.slice(2, 1).to_pylist()


def test_dictionaries_slices_and_nulls(pa):
    column = pa.array(TEXTS).dictionary_encode()
    assert list(neardup.dedup(pa.table({"text": column})).kept) == KEPT
    long = pa.table({"text": pa.array(["none of it"] * 3 + TEXTS + ["nor this"])})
    assert list(neardup.dedup(long.slice(3, 4)).kept) == KEPT
    assert list(neardup.dedup(long.slice(3, 4).to_batches()[0]).kept) == KEPT
    assert list(neardup.dedup(pa.nulls(3)).kept) == [True] * 3
    assert neardup.dedup(pa.table({"text": pa.array([], pa.string())})).survivors.num_rows == 0


def test_a_reader_is_read_once(pa):
    table = pa.table({"text": TEXTS})
    result = neardup.dedup(pa.RecordBatchReader.from_batches(table.schema, table.to_batches()))
    assert result.survivors.num_rows == 3


def test_other_columns_are_texts_too(pa):
    when = [
        datetime.datetime(2024, 1, 1, 12, 30, 5, 250_000),
        datetime.datetime(1960, 2, 29),
        None,
        datetime.datetime(2025, 5, 5),
    ]
    table = pa.table(
        {
            "text": ["a b c d", "A b c d", "a B c d", "a b c D"],
            "time": pa.array(when, pa.timestamp("us")),
            "day": pa.array([w.date() if w else None for w in when]),
            "number": pa.array([3.5, -1e300, None, 7.0]),
            "whole": pa.array([1, 2**63, 3, None], pa.uint64()),
            "truth": pa.array([True, False, True, False]),
        }
    )
    for kind in ("s", "ms", "us", "ns"):
        if kind in ("s", "ms"):
            times = table.set_column(1, "time", table["time"].cast(pa.timestamp(kind), safe=False))
        else:
            times = table.set_column(1, "time", table["time"].cast(pa.timestamp(kind)))
        assert neardup.dedup(times, keep="newest:time").survivors["text"].to_pylist() == ["a b c D"]
    assert neardup.dedup(table, keep="newest:day").survivors["text"].to_pylist() == ["a b c D"]
    assert neardup.dedup(table, keep="min:number").survivors["text"].to_pylist() == ["A b c d"]
    assert neardup.dedup(table, keep="max:whole").survivors["text"].to_pylist() == ["A b c d"]
    assert neardup.dedup(table, within="truth").survivors.num_rows == 2
    ids = neardup.dedup(table, id="whole").removed
    assert ids["kept_id"][:] == [1, 1, 1] and ids["id"][:] == [2**63, 3, None]


def test_columns_that_cannot_be_read_are_named(pa):
    table = pa.table({"text": TEXTS, "list": [[1]] * 4, "n": range(4)})
    with pytest.raises(neardup.InvalidError, match="there is no column 'body'; there are \\['text', 'list', 'n'\\]"):
        neardup.dedup(table, "body")
    with pytest.raises(neardup.InvalidError, match="column 'n' holds int64, not text"):
        neardup.dedup(table, "n")
    with pytest.raises(neardup.InvalidError, match="column 'list' holds list"):
        neardup.dedup(table, within="list")


def test_results_are_read_by_frames(pa):
    result = neardup.dedup(pa.table({"text": TEXTS, "id": list("abcd")}), id="id")
    removed = pa.table(result.removed)
    assert removed["id"].to_pylist() == ["d"] and removed["kept_id"].to_pylist() == ["a"]
    assert removed["jaccard"].to_pylist() == [1.0]
    assert pa.array(result.kept).to_pylist() == KEPT
    sketches = pa.table(neardup.Sketcher()(TEXTS))
    assert sketches["simhash"].null_count == 1
    assert len(sketches["minima"][0].as_py()) == 128
    del result
    assert removed.validate(full=True) is None and sketches.validate(full=True) is None


def test_polars():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"n": range(4), "text": TEXTS})
    result = neardup.dedup(frame)
    assert isinstance(result.survivors, polars.DataFrame)
    assert result.survivors["n"].to_list() == [0, 1, 2]
    assert neardup.dedup(frame.lazy()).survivors["n"].to_list() == [0, 1, 2]
    assert neardup.dedup(frame["text"]).survivors.to_list() == TEXTS[:3]
    assert list(neardup.dedup(frame.with_columns(polars.col("text").cast(polars.Categorical))).kept) == KEPT
    for removed in (result.removed, neardup.dedup(frame[:3]).removed):
        # By the capsule, and not row by row, which would guess the types.
        assert polars.DataFrame(removed).schema["row"] == polars.UInt64
        assert polars.DataFrame(removed)["row"].to_list() == removed["row"][:]
    assert polars.Series(result.kept).to_list() == KEPT
    assert neardup.dedup(frame[:0]).survivors.height == 0


def test_pandas():
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"text": TEXTS}, index=list("wxyz"))
    survivors = neardup.dedup(frame).survivors
    assert isinstance(survivors, pandas.DataFrame) and list(survivors.index) == list("wxy")
    assert list(neardup.dedup(frame["text"]).survivors.index) == list("wxy")


def test_numpy():
    numpy = pytest.importorskip("numpy")
    index = neardup.HammingIndex()
    index.add(numpy.array([5, 6], dtype=numpy.uint64), ids=numpy.array([8, 9], dtype=numpy.uint32))
    found = index.query(numpy.array([5], dtype=numpy.uint64))
    assert numpy.asarray(found["id"]).tolist() == [8, 9]
    result = neardup.dedup(["a b c", "a b c", "d e f"])
    assert numpy.asarray(result.kept).tolist() == [True, False, True]
    assert numpy.asarray(neardup.Sketcher()(["a b c d"])["minima"]).shape == (1, 128)


def test_parquet_files(pa, tmp_path):
    import pyarrow.parquet as parquet

    parquet.write_table(pa.table({"text": TEXTS}), tmp_path / "in.parquet")
    result = neardup.dedup(tmp_path / "in.parquet")
    assert result.survivors.num_rows == 3


def test_duckdb():
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    relation = duckdb.sql(
        "select * from (values (0, 'one two three four'), (1, null), (2, 'five six seven'), (3, 'One two three four'))"
        " as t(n, text) order by n"
    )
    survivors = neardup.dedup(relation).survivors
    assert type(survivors) is type(relation)
    assert survivors.order("n").fetchall() == [(0, "one two three four"), (1, None), (2, "five six seven")]


def test_datasets():
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_dict({"n": list(range(4)), "text": TEXTS})
    survivors = neardup.dedup(data).survivors
    assert isinstance(survivors, datasets.Dataset) and survivors["n"][:] == [0, 1, 2]
    assert survivors.features == data.features
    turned = data.select([3, 2, 1, 0])
    assert neardup.dedup(turned).survivors["n"][:] == [3, 2, 1]
