"""Polars: eager, lazy and as expressions, the decisions of neardup.dedup."""

from __future__ import annotations

import pytest

import neardup

polars = pytest.importorskip("polars")
import neardup.polars


@pytest.fixture(scope="module")
def frame(records):
    return polars.DataFrame(records)


@pytest.mark.parametrize("arguments", [{}, {"threshold": 0.5, "keep": "longest"}, {"within": "site"}])
def test_frames_keep_what_dedup_keeps(frame, arguments):
    result = neardup.dedup(frame, id="id", **arguments)
    assert frame.neardup.dedup(**arguments).equals(result.survivors)
    lazy = frame.lazy().neardup.dedup(**arguments)
    assert isinstance(lazy, polars.LazyFrame) and lazy.collect().equals(result.survivors)
    removed = frame.neardup.removed(id="id", **arguments)
    assert removed.to_dicts() == list(result.removed)
    clusters = frame.neardup.clusters(**arguments)["cluster"].to_list()
    expected = list(range(len(frame)))
    for row in result.removed:
        expected[row["row"]] = row["kept_row"]
    assert clusters == expected


def test_nothing_moves_before_the_lazy_step(frame):
    survivors = neardup.dedup(frame).survivors
    after = frame.lazy().neardup.dedup().filter(polars.col("site") == "s3").select("id").slice(2, 5)
    assert after.collect().equals(survivors.filter(polars.col("site") == "s3").select("id").slice(2, 5))
    assert after.collect_schema() == {"id": polars.String}
    before = frame.lazy().filter(polars.col("site") == "s3").neardup.dedup().collect()
    assert before.equals(neardup.dedup(frame.filter(polars.col("site") == "s3")).survivors)
    assert after.collect(engine="streaming").height == after.collect().height


def test_scanned_files(frame, tmp_path):
    frame.write_parquet(tmp_path / "in.parquet")
    lazy = polars.scan_parquet(tmp_path / "in.parquet").neardup.dedup()
    assert lazy.collect().equals(neardup.dedup(frame).survivors)


def test_expressions(frame):
    text = polars.col("text").neardup
    found = frame.with_columns(kept=text.kept(threshold=0.6), cluster=text.cluster(threshold=0.6))
    result = neardup.dedup(frame, threshold=0.6)
    assert found["kept"].to_list() == list(result.kept)
    assert found.filter("kept").drop("kept", "cluster").equals(result.survivors)
    assert (found["cluster"] == polars.Series(range(len(frame)))).to_list() == list(result.kept)
    within = neardup.dedup(frame, within="site")
    assert frame.select(text.kept().over("site"))["text"].to_list() == list(within.kept)


def test_expressions_of_sketches(frame):
    text = polars.col("text").neardup
    table = neardup.Sketcher()(frame)
    for found in (
        frame.select(a=text.simhash(), b=text.identity(), c=text.minima()),
        frame.lazy().select(a=text.simhash(), b=text.identity(), c=text.minima()).collect(engine="streaming"),
    ):
        assert found["a"].to_list() == table["simhash"][:]
        assert found["b"].to_list() == table["identity"][:]
        assert found["c"].to_list() == table["minima"][:]
    other = neardup.Recipe(shingle=2)
    assert frame.select(text.minima(other))["text"].to_list() == neardup.Sketcher(other)(frame)["minima"][:]
    nulls = polars.DataFrame({"text": ["a b c", None]}).select(text.simhash())
    assert nulls["text"].null_count() == 1


def test_no_rows():
    frame = polars.DataFrame({"text": []}, schema={"text": polars.String})
    assert frame.neardup.dedup().height == 0 and frame.neardup.clusters().height == 0
    assert frame.neardup.removed().height == 0
    text = polars.col("text").neardup
    assert frame.select(text.kept()).height == 0 and frame.select(text.minima()).height == 0


def test_what_is_wrong_is_said(frame):
    with pytest.raises(neardup.InvalidError, match="there is no column 'body'"):
        frame.neardup.dedup("body")
    with pytest.raises(neardup.InvalidError, match="there is no column 'body'"):
        frame.lazy().neardup.dedup("body").collect()
    with pytest.raises(neardup.InvalidError, match="manku-2007"):
        polars.col("text").neardup.simhash("manku-2008")
