"""Hugging Face datasets: map, streams and data sets against each other."""

from __future__ import annotations

import pytest

import neardup

datasets = pytest.importorskip("datasets")

import neardup.datasets


@pytest.fixture(scope="module")
def data(records):
    return datasets.Dataset.from_list(records)


@pytest.fixture(autouse=True)
def no_cache_of_results(tmp_path, monkeypatch):
    datasets.disable_caching()
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path)
    yield
    datasets.enable_caching()


@pytest.mark.parametrize("keys", [{}, {"threshold": 0.5}, {"threshold": 0.5, "cluster": "complete"}], ids=str)
@pytest.mark.parametrize("size", [1, 100, 10_000])
def test_a_stream_keeps_what_dedup_keeps(data, keys, size):
    kept = data.to_iterable_dataset().filter(neardup.datasets.Keep(**keys), batched=True, batch_size=size)
    assert [row["id"] for row in kept] == neardup.dedup(data, set=keys).survivors["id"][:]


def test_a_filter_of_a_data_set_keeps_the_same(data):
    expected = neardup.dedup(data).survivors["id"][:]
    assert data.filter(neardup.datasets.Keep(), batched=True)["id"][:] == expected
    arrow = data.with_format("arrow").filter(neardup.datasets.Keep(), batched=True)
    assert arrow.with_format(None)["id"][:] == expected


def test_the_reasons_of_a_batch(data):
    keep = neardup.datasets.Keep()
    assert keep.result is None
    keep(data[:])
    assert list(keep.result.removed) == list(neardup.dedup(data).removed)


@pytest.mark.parametrize("form", [None, "arrow", "numpy"])
@pytest.mark.parametrize("processes", [None, 2])
def test_map_adds_sketches(data, form, processes):
    if processes and form:
        pytest.skip("one form is enough in two processes")
    stage = neardup.datasets.Sketch(["simhash", "identity", "minima"])
    sketched = data.with_format(form).map(stage, batched=True, batch_size=500, num_proc=processes).with_format(None)
    table = neardup.Sketcher()(data)
    for name in ("simhash", "identity", "minima"):
        assert [list(v) if name == "minima" else v for v in sketched[name]] == table[name][:]


def test_a_missing_text_has_no_sketch():
    data = datasets.Dataset.from_dict({"text": ["a b c", None]})
    sketched = data.map(neardup.datasets.Sketch(["tokens"]), batched=True)
    assert sketched["tokens"][:] == [3, None]
    kept = data.to_iterable_dataset().filter(neardup.datasets.Keep(), batched=True)
    assert len(list(kept)) == 2


def test_what_is_wrong_is_said(data):
    with pytest.raises(neardup.InvalidError, match="columns: 'magic' is not one of simhash"):
        neardup.datasets.Sketch(["magic"])
    with pytest.raises(neardup.InvalidError, match="there is no column 'body'; there are"):
        neardup.datasets.Keep("body")(data[:10])
    with pytest.raises(TypeError, match="batched=True"):
        neardup.datasets.Keep()(data[0])
    with pytest.raises(TypeError, match="leave out num_proc"):
        data.filter(neardup.datasets.Keep(), batched=True, num_proc=2)
    with pytest.raises(neardup.InvalidError, match="keeps the first document"):
        neardup.datasets.Keep(keep="longest")
