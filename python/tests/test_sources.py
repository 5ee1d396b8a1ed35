"""Data is read from lists of paths, patterns, addresses and data sets; others are refused."""

import gzip
import json
import pathlib

import pytest

import neardup

TEXTS = ["one two three four five six", "seven eight nine ten", "One two three four five six!", "and eleven"]
ROWS = [{"id": i, "text": text} for i, text in enumerate(TEXTS)]


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(lines(ROWS[:2]))
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(lines(ROWS[2:])))
    return tmp_path


@pytest.mark.parametrize("memory", [None, "64M"])
def test_lists_of_paths_and_patterns(folder, memory):
    paths = [folder / "a.jsonl", folder / "b.jsonl.gz"]
    for data in (paths, list(map(str, paths)), tuple(paths), str(folder / "*.jsonl*")):
        result = neardup.dedup(data, id="id", memory=memory)
        assert len(result) == 4 and result.removed["id"][:] == [2]
        assert [row["id"] for row in result.survivors] == [0, 1, 3]
    assert len(neardup.filter(TEXTS, [folder / "a.jsonl"]).table) == 3


def test_a_list_that_is_partly_of_paths_is_refused(folder):
    with pytest.raises(TypeError, match="item 1 of the list is no file, and the first is .*a.jsonl"):
        neardup.dedup([str(folder / "a.jsonl"), "a text"])
    with pytest.raises(TypeError, match="item 1 of the list is no file"):
        neardup.dedup([str(folder / "a.jsonl"), str(folder / "missing.jsonl")])


def test_texts_that_look_like_names_are_texts():
    assert neardup.dedup(["missing.jsonl", "pages", "pages"]).survivors == ["missing.jsonl", "pages"]


def test_patterns_that_match_nothing(folder):
    with pytest.raises(FileNotFoundError, match="no file matches .*none-"):
        neardup.dedup(str(folder / "none-*.jsonl"))


def test_files_that_python_does_not_read_are_named(folder):
    (folder / "page.html").write_text("a text")
    for data in (folder / "page.html", [folder / "a.jsonl", folder / "page.html"]):
        with pytest.raises(neardup.UnsupportedError, match="page.html: Python reads"):
            neardup.dedup(data)


def test_what_needs_texts_refuses_sketch_files_and_names_what_takes_them(folder):
    path = folder / "some.sketch"
    neardup.write_sketches(["one two three"], path)
    sketches = neardup.read_sketches(path)
    for call in (
        lambda: neardup.pairs(sketches),
        lambda: neardup.pairs(path),
        lambda: neardup.write_sketches(path, folder / "other.sketch"),
    ):
        with pytest.raises(neardup.UnsupportedError, match="some.sketch: a sketch file has no texts.*dedup_files"):
            call()


@pytest.mark.parametrize("ending", ["zst", "xz", "bz2", "lz4"])
def test_compressed_lines(tmp_path, ending):
    pa = pytest.importorskip("pyarrow")
    path = tmp_path / f"in.jsonl.{ending}"
    if ending == "xz":
        import lzma

        path.write_bytes(lzma.compress(lines(ROWS)))
    else:
        with pa.output_stream(str(path), compression={"zst": "zstd"}.get(ending, ending)) as file:
            file.write(lines(ROWS))
    assert neardup.dedup(path, id="id").removed["id"][:] == [2]
    result = neardup.dedup(str(path), id="id", memory="64M")
    assert [row["id"] for row in result.survivors] == [0, 1, 3]


@pytest.mark.parametrize("memory", [None, "64M"])
def test_parquet_files_and_data_sets(tmp_path, memory):
    pa = pytest.importorskip("pyarrow")
    dataset = pytest.importorskip("pyarrow.dataset")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.Table.from_pylist(ROWS)
    pq.write_table(table[:2], tmp_path / "a.parquet")
    pq.write_table(table[2:], tmp_path / "b.parquet")
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    scanned = dataset.dataset(list(map(str, paths)))
    for data in (paths, str(tmp_path / "*.parquet"), tmp_path, scanned):
        result = neardup.dedup(data, id="id", memory=memory)
        survivors = result.survivors.read_all() if memory else result.survivors
        assert survivors["id"].to_pylist() == [0, 1, 3] and result.removed["id"][:] == [2]
    with pytest.raises(neardup.UnsupportedError, match="are read by themselves"):
        (tmp_path / "c.jsonl").write_bytes(lines(ROWS))
        neardup.dedup([*paths, tmp_path / "c.jsonl"])


def test_run_end_encoded_texts():
    pa = pytest.importorskip("pyarrow")
    texts = pa.RunEndEncodedArray.from_arrays([2, 3], ["a b c", "d e f"])
    result = neardup.dedup(pa.table({"text": texts}))
    assert result.removed["row"][:] == [1] and result.survivors.num_rows == 2


@pytest.mark.parametrize("memory", [None, "64M"])
def test_addresses(memory):
    fsspec = pytest.importorskip("fsspec")
    with fsspec.open("memory://neardup/in.jsonl.gz", "wb") as file:
        file.write(gzip.compress(lines(ROWS)))
    result = neardup.dedup("memory://neardup/in.jsonl.gz", id="id", memory=memory)
    assert [row["id"] for row in result.survivors] == [0, 1, 3]


@pytest.mark.parametrize("memory", [None, "64M"])
def test_addresses_of_parquet(memory):
    fsspec = pytest.importorskip("fsspec")
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    for name, part in (("a", ROWS[:2]), ("b", ROWS[2:])):
        with fsspec.open(f"memory://neardup/parts/{name}.parquet", "wb") as file:
            pq.write_table(pa.Table.from_pylist(part), file)
    for data in ("memory://neardup/parts/*.parquet", "memory://neardup/parts/a.parquet"):
        result = neardup.dedup(data, id="id", memory=memory)
        assert len(result) == (4 if "*" in data else 2)
    with pytest.raises(FileNotFoundError, match="no file matches memory://neardup/none"):
        neardup.dedup("memory://neardup/none*.parquet")


def test_addresses_that_nothing_reads_are_named():
    with pytest.raises(neardup.UnsupportedError, match="nosuch://x/in.jsonl: "):
        neardup.dedup("nosuch://x/in.jsonl")


def test_splits_of_a_dataset():
    datasets = pytest.importorskip("datasets")
    splits = datasets.DatasetDict(
        train=datasets.Dataset.from_list(ROWS[:2]), test=datasets.Dataset.from_list(ROWS).select([3, 2])
    )
    for memory in (None, "64M"):
        result = neardup.dedup(splits, id="id", memory=memory)
        assert result.removed["row"][:] == [3] and result.removed["kept_id"][:] == [0]
        assert {name: split["id"] for name, split in result.survivors.items()} == {"train": [0, 1], "test": [3]}
        assert isinstance(result.survivors, datasets.DatasetDict)


def test_iterable_datasets():
    datasets = pytest.importorskip("datasets")
    stream = datasets.Dataset.from_list(ROWS).to_iterable_dataset()
    assert [row["id"] for row in neardup.dedup(stream, id="id").survivors] == [0, 1, 3]
    assert [row["id"] for row in neardup.dedup(stream, id="id", memory="64M").survivors] == [0, 1, 3]
    with pytest.raises(TypeError, match="datasets.*IterableDatasetDict"):
        neardup.dedup(datasets.IterableDatasetDict(train=stream))


@pytest.mark.parametrize("memory", [None, "64M"])
def test_what_cannot_be_read_is_named(memory):
    class Thing:
        pass

    with pytest.raises(TypeError, match="a .*Thing cannot be read"):
        neardup.dedup(Thing(), memory=memory)
    with pytest.raises(TypeError, match="the data is a mapping, dict"):
        neardup.dedup({"text": TEXTS}, memory=memory)
    with pytest.raises(TypeError, match="one text"):
        neardup.dedup(b"a text", memory=memory)


def test_files_in_files_out_by_pattern(folder):
    result = neardup.dedup_files(str(folder / "*.jsonl*"), folder / "clean", id="id")
    assert result.summary["kept"] == 3
    assert sorted(pathlib.Path(path).name for path in result.outputs) == ["a.jsonl", "b.jsonl.gz"]
