"""Ray Data: the rows that neardup.dedup keeps, whatever the blocks; and the page's session."""

from __future__ import annotations

import os

import pytest

import neardup

pyarrow = pytest.importorskip("pyarrow")
ray = pytest.importorskip("ray")
pytest.importorskip("ray.data")

import neardup.ray

nightly = pytest.mark.skipif(
    not os.environ.get("NEARDUP_NIGHTLY"), reason="Ray starts workers for each, which takes half a minute: make nightly"
)


@pytest.fixture(scope="module")
def cluster():
    """One processor, no dashboard, little memory."""
    ray.init(num_cpus=1, include_dashboard=False, object_store_memory=100 << 20, log_to_driver=False)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    if hasattr(context, "default_hash_shuffle_parallelism"):
        context.default_hash_shuffle_parallelism = 2  # of 200 actors
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def rows(records):
    """The documents, numbered; some without a text."""
    texts = [None if i % 97 == 5 else record["text"] for i, record in enumerate(records)]
    sites = [None if i % 89 == 3 else record["site"] for i, record in enumerate(records)]
    return pyarrow.table({"n": range(len(texts)), "text": texts, "site": sites})


@pytest.fixture(scope="module")
def data(cluster, rows):
    """The rows in blocks, in another order."""
    shuffled = rows.take([i * 7 % len(rows) for i in range(len(rows))])
    assert len(set(shuffled["n"].to_pylist())) == len(rows)
    return ray.data.from_arrow([shuffled.slice(at, 400) for at in range(0, len(rows), 400)])


@pytest.mark.parametrize("parts", [None, 3], ids=["one task decides", "three tasks decide"])
def test_rows_are_those_of_dedup(data, rows, parts):
    result = neardup.dedup(rows, threshold=0.7)
    marked = neardup.ray.mark(data, order_by="n", threshold=0.7, parts=parts)
    found = sorted(marked.take_all(), key=lambda row: row["n"])
    assert [row["n"] for row in found] == rows["n"].to_pylist()
    assert [row["text"] for row in found] == rows["text"].to_pylist()
    assert [row["duplicate_of"] is None for row in found] == list(result.kept)
    removed = [row for row in found if row["duplicate_of"] is not None]
    assert [row["duplicate_of"] for row in removed] == result.removed["kept_row"][:]
    assert [row["identical"] for row in removed] == result.removed["identical"][:]
    assert [row["resemblance"] for row in removed] == result.removed["jaccard"][:]


def test_blocks_in_order_are_not_sorted_again(cluster, rows, monkeypatch):
    monkeypatch.setattr(ray.data.Dataset, "sort", None)
    tables = [rows.slice(at, 400) for at in range(0, len(rows), 400)]
    kept = neardup.ray.dedup(ray.data.from_arrow(tables[::-1]), order_by="n")
    assert kept.schema().names == ["n", "text", "site"]
    result = neardup.dedup(rows)
    assert sorted(row["n"] for row in kept.take_all()) == result.survivors["n"].to_pylist()


@nightly
@pytest.mark.parametrize(
    "options",
    [
        {"within": "site"},
        {"within": "site", "parts": 2},
        {"keep": "longest", "memory": "64M"},
        {"keep": "longest", "parts": 1},
        {"keep": "none", "cluster": "components"},
        {"keep": "none", "cluster": "components", "parts": 2},
        {"recipe": "manku-2007", "parts": 2},
    ],
    ids=str,
)
def test_every_way_of_dedup_keeps_the_same(data, rows, options):
    ways = {name: options[name] for name in options if name not in ("memory", "parts")}
    kept = neardup.ray.dedup(data, order_by="n", **options)
    found = sorted(row["n"] for row in kept.take_all())
    assert found == neardup.dedup(rows, **ways).survivors["n"].to_pylist()


@nightly
def test_a_stage_makes_sketch_files(data, rows, tmp_path):
    stage = neardup.ray.NearDuplicateSketches(id="n")
    made = data.map_batches(stage, batch_format="pyarrow", batch_size=None).take_all()
    paths = [tmp_path / f"{i}.sketch" for i in range(len(made))]
    for path, row in zip(paths, made, strict=True):
        path.write_bytes(row["sketches"])
        assert len(neardup.read_sketches(path)) == row["documents"]
    ids = {row["id"] for path in paths for table in neardup.read_sketches(path) for row in table}
    assert ids == {str(row["n"]) for row in rows.to_pylist() if row["text"] is not None}


@nightly
def test_sketches_are_those_of_the_sketcher(data, rows):
    stage = neardup.ray.Sketch(["simhash", "minima"])
    sketched = data.map_batches(stage, batch_format="pyarrow").take_all()
    table = neardup.Sketcher()(rows)
    found = {row["n"]: row for row in sketched}
    assert [found[n]["simhash"] for n in range(len(rows))] == table["simhash"][:]
    assert list(found[0]["minima"]) == table["minima"][0]


@nightly
def test_what_is_wrong_is_said(data):
    with pytest.raises(neardup.InvalidError, match="there is no column 'body'"):
        neardup.ray.mark(data, "body", order_by="n")
    with pytest.raises(neardup.InvalidError, match="there is no column 'm'"):
        neardup.ray.mark(data, order_by="m")
    with pytest.raises(neardup.InvalidError, match="keep none removes whole clusters"):
        neardup.ray.mark(data, order_by="n", keep="none")
    with pytest.raises(neardup.InvalidError, match="parts: 0 is less than 1"):
        neardup.ray.dedup(data, order_by="n", parts=0)
    with pytest.raises(neardup.InvalidError, match="there is no column 'age'"):
        neardup.ray.dedup(data, order_by="n", keep="max:age")
    with pytest.raises(neardup.InvalidError, match="two rows have 's[0-9]' as 'site'|'site' is null in a row"):
        neardup.ray.mark(data, order_by="site")
    with pytest.raises(neardup.InvalidError, match="there is a column 'identical' already"):
        neardup.ray.mark(data.rename_columns({"site": "identical"}), order_by="n")


@nightly
def test_no_rows(cluster, rows):
    data = ray.data.from_arrow(rows.slice(0, 0))
    assert neardup.ray.dedup(data, order_by="n").take_all() == []
    assert neardup.ray.dedup(data, order_by="n", parts=2).take_all() == []


@nightly
def test_the_session_of_the_page_runs(cluster, run_page):
    run_page("pipelines/ray.md")
