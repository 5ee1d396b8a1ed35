"""Data at addresses: an object store on this machine (moto) by s3fs, a server of the web, and memory."""

from __future__ import annotations

import contextlib
import functools
import http.server
import json
import os
import threading

import pytest

import neardup

fsspec = pytest.importorskip("fsspec")


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    """A folder with three shards of JSON Lines, with near-duplicates within and across them."""
    folder = tmp_path_factory.mktemp("shards")
    words = [f"w{i}" for i in range(40)]
    for shard in range(3):
        rows = [{"id": f"{shard}-{i}", "text": " ".join(words[i : i + 12])} for i in range(0, 20, 4)]
        rows.append({"id": f"{shard}-x", "text": f"shard {shard} has one document of its own"})
        (folder / f"part-{shard}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


@pytest.fixture(scope="module")
def s3(shards):
    """The address of a bucket with the shards."""
    pytest.importorskip("s3fs")
    server_module = pytest.importorskip("moto.server")
    server = server_module.ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    before = dict(fsspec.config.conf)
    fsspec.config.conf["s3"] = {"endpoint_url": f"http://{host}:{port}", "key": "a", "secret": "b"}
    os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")
    files = fsspec.filesystem("s3")
    files.mkdir("bucket")
    for path in sorted(shards.glob("*.jsonl")):
        files.put_file(str(path), f"bucket/shards/{path.name}")
    yield "s3://bucket"
    server.stop()
    fsspec.config.conf.clear()
    fsspec.config.conf.update(before)


@pytest.fixture(scope="module")
def memory(shards):
    files = fsspec.filesystem("memory")
    for path in sorted(shards.glob("*.jsonl")):
        files.put_file(str(path), f"/bucket/shards/{path.name}")
    yield "memory://bucket"
    files.rm("/bucket", recursive=True)


@pytest.fixture(scope="module")
def web(shards):
    pytest.importorskip("aiohttp")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(shards))
    handler.log_message = lambda *_: None  # type: ignore[attr-defined]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture(params=["s3", "memory"])
def store(request):
    return request.getfixturevalue(request.param)


def _read(address: str) -> bytes:
    with fsspec.open(address, "rb") as file:
        return file.read()


def test_dedup_reads_many_shards(store, shards):
    here = neardup.dedup(str(shards / "*.jsonl"), id="id")
    assert len(here.removed) > 5
    for data in (f"{store}/shards/*.jsonl", [f"{store}/shards/part-{i}.jsonl" for i in range(3)]):
        there = neardup.dedup(data, id="id")
        assert there.survivors == here.survivors and list(there.removed) == list(here.removed)


def test_files_of_a_store_go_to_a_store(store, shards, tmp_path):
    here = neardup.dedup_files(str(shards / "*.jsonl"), tmp_path / "clean", id="id", manifest=tmp_path / "m")
    for source in (f"{store}/shards/*.jsonl", f"{store}/shards"):
        there = neardup.dedup_files(
            source, f"{store}/clean", id="id", manifest=f"{store}/m.jsonl", clusters=str(tmp_path / "c.tsv")
        )
        assert there.outputs == [f"{store}/clean/part-{i}.jsonl" for i in range(3)]
        for i in range(3):
            assert _read(f"{store}/clean/part-{i}.jsonl") == (tmp_path / f"clean/part-{i}.jsonl").read_bytes()
        assert there.summary["removed"] == here.summary["removed"]
        rows = _read(f"{store}/m.jsonl").decode()
        assert f"{store}/shards/part-1.jsonl" in rows or store.startswith("memory")
        assert rows.count("\n") == (tmp_path / "m").read_text().count("\n")
        assert (tmp_path / "c.tsv").exists()
        fsspec.filesystem(store.partition(":")[0]).rm(f"{store}/clean", recursive=True)


def test_one_file_and_parquet(store, shards, tmp_path):
    neardup.dedup_files(shards / "part-0.jsonl", tmp_path / "one.jsonl", id="id")
    neardup.dedup_files(f"{store}/shards/part-0.jsonl", f"{store}/one.jsonl", id="id")
    assert _read(f"{store}/one.jsonl") == (tmp_path / "one.jsonl").read_bytes()
    neardup.dedup_files(f"{store}/shards/part-0.jsonl", tmp_path / "here.jsonl", id="id", folder=tmp_path)
    assert (tmp_path / "here.jsonl").read_bytes() == (tmp_path / "one.jsonl").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here.jsonl", "one.jsonl"]  # copies are gone
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    rows = [json.loads(line) for line in (shards / "part-0.jsonl").read_text().splitlines()]
    pq.write_table(pa.Table.from_pylist(rows * 2), tmp_path / "t.parquet")
    with fsspec.open(f"{store}/t.parquet", "wb") as file:
        file.write((tmp_path / "t.parquet").read_bytes())
    neardup.dedup_files(f"{store}/t.parquet", f"{store}/clean.parquet", id="id")
    neardup.dedup_files(tmp_path / "t.parquet", tmp_path / "clean.parquet", id="id")
    assert _read(f"{store}/clean.parquet") == (tmp_path / "clean.parquet").read_bytes()
    assert len(neardup.dedup(f"{store}/clean.parquet").kept) < len(rows) * 2


def test_the_web(web, shards, tmp_path):
    here = neardup.dedup(str(shards / "part-0.jsonl"))
    assert neardup.dedup(f"{web}/part-0.jsonl").survivors == here.survivors
    neardup.dedup_files(f"{web}/part-0.jsonl?x=1", tmp_path / "out.jsonl", id="id")
    neardup.dedup_files(shards / "part-0.jsonl", tmp_path / "here.jsonl", id="id")
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "here.jsonl").read_bytes()


def test_what_is_wrong_is_said(store, shards, tmp_path):
    with pytest.raises(neardup.InvalidError, match=r"part-0.jsonl: is an input: choose another address"):
        neardup.dedup_files(f"{store}/shards/part-0.jsonl", f"{store}/shards/part-0.jsonl")
    with pytest.raises(neardup.InvalidError, match="is an input"):
        neardup.dedup_files(f"{store}/shards/*.jsonl", f"{store}/shards/")
    with pytest.raises(FileNotFoundError, match="no file matches"):
        neardup.dedup_files(f"{store}/nothing/*.jsonl", tmp_path / "out")
    with pytest.raises(FileNotFoundError, match=r"nothing.jsonl: there is no such file"):
        neardup.dedup_files(f"{store}/nothing.jsonl", tmp_path / "out.jsonl")
    with pytest.raises(neardup.InvalidError, match="is one file, and the survivors of a folder"):
        neardup.dedup_files(f"{store}/shards/*.jsonl", f"{store}/one.jsonl")
    with pytest.raises(neardup.UnsupportedError, match="nowhere://a.jsonl"):
        neardup.dedup_files(shards / "part-0.jsonl", "nowhere://a.jsonl")
    with fsspec.open(f"{store}/broken.jsonl", "wb") as file:
        file.write(b'{"text": "one two three"}\n{broken\n')
    with pytest.raises(neardup.InvalidError, match=r"broken.jsonl:2: "):
        neardup.dedup_files(f"{store}/broken.jsonl", f"{store}/no.jsonl")
    with contextlib.suppress(FileNotFoundError):
        assert not _read(f"{store}/no.jsonl")


def test_an_upload_that_fails_says_how_far_it_came(memory, monkeypatch, tmp_path):
    files = fsspec.filesystem("memory")
    put = files.put_file
    done = []

    def fails(path, name, **options):
        if len(done) == 2:
            raise OSError("the store is full")
        done.append(name)
        put(path, name, **options)

    monkeypatch.setattr(type(files), "put_file", lambda self, path, name, **options: fails(path, name, **options))
    with pytest.raises(neardup.Error, match=r"the store is full; 2 of 3 outputs were uploaded before"):
        neardup.dedup_files(f"{memory}/shards/*.jsonl", f"{memory}/clean", folder=tmp_path)
    assert not list(tmp_path.iterdir())
