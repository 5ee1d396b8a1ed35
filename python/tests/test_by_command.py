"""``dedup_files`` over files that only the command reads: web archives, mail, texts."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from pathlib import Path

import pytest

import neardup

TEXTS = {
    "http://a.org/": "the bridge stays open until the repairs begin in june and a ferry takes its place",
    "http://b.org/": "the old harbour opens again in may with a market on saturdays and boats",
    "http://c.org/": "the bridge stays open until the repairs begin in june and a ferry takes its place today",
}


def archive(texts: dict[str, str]) -> bytes:
    head = "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: {}\r\nContent-Type: text/plain\r\n"
    head += "Content-Length: {}\r\n\r\n"
    return "".join(head.format(url, len(text)) + text + "\r\n\r\n" for url, text in texts.items()).encode()


@pytest.fixture
def here(command, monkeypatch, tmp_path):
    """A folder to work in, with the command first in PATH."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "neardup").symlink_to(Path(command).resolve())
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def test_web_archives_go_to_an_archive(command, here):
    Path("in.warc.gz").write_bytes(gzip.compress(archive(TEXTS)))
    result = neardup.dedup_files("in.warc.gz", "out.warc.gz", manifest="m.jsonl", removed="gone.warc", threshold="0.7")
    kept = {url: text for url, text in TEXTS.items() if url != "http://c.org/"}
    assert gzip.decompress(Path("out.warc.gz").read_bytes()) == archive(kept)
    assert Path("gone.warc").read_bytes() == archive({"http://c.org/": TEXTS["http://c.org/"]})
    assert repr(result) == "<neardup.FilesResult: 3 documents in 1 file, 2 kept, 1 removed>"
    assert (result.outputs, result.warnings, result.left_out) == (["out.warc.gz"], [], [])
    words = ["dedup", "-q", "-t0.7", "in.warc.gz", "-o", "direct.warc.gz", "--manifest", "direct.jsonl"]
    subprocess.run([command, *words], check=True)
    assert Path("direct.warc.gz").read_bytes() == Path("out.warc.gz").read_bytes()
    assert Path("direct.jsonl").read_bytes() == Path("m.jsonl").read_bytes()


def test_arguments_are_the_options(here):
    rows = {f"http://{host}.org/{i}": TEXTS["http://a.org/"] for host in "xy" for i in range(2)}
    Path("a.warc").write_bytes(archive(rows))
    Path("b.warc").write_bytes(archive({"http://z.org/": TEXTS["http://a.org/"]}))
    done = []
    result = neardup.dedup_files(
        ["a.warc", "b.warc"], "out", keep="last", within="site", prefer=("url", ["http://x.org/0"]), threads=2,
        never={"site": ["z.org", "q.org"]}, progress=lambda part, n: done.append((part, n)), summary="s.json",
        memory="100M", folder=here, set={"shingle": 2},
    )  # fmt: skip
    assert result.outputs == [os.path.join("out", name) for name in ("a.warc", "b.warc")]
    kept = {url: rows[url] for url in ("http://x.org/0", "http://y.org/1")}
    assert Path("out/a.warc").read_bytes() == archive(kept)
    assert Path("out/b.warc").read_bytes() == Path("b.warc").read_bytes()
    assert done == [(1.0, 5)] and json.loads(Path("s.json").read_bytes()) == result.summary
    first = neardup.dedup_files("a.warc", "first.warc", against="seen.sketch", append=True)
    second = neardup.dedup_files("b.warc", "second.warc", against="seen.sketch", append=True)
    assert (first.summary["kept"], second.summary["kept"]) == (1, 0)


def test_what_is_wrong_is_said_as_the_command_says_it(here):
    Path("in.warc").write_bytes(archive(TEXTS))
    with pytest.raises(neardup.Error, match="no such|cannot|folder|directory"):
        neardup.dedup_files("in.warc", "nowhere/out.warc")
    with pytest.raises(neardup.InvalidError, match="hold is not heeded for in.warc, which the command reads"):
        neardup.dedup_files("in.warc", "out.warc", hold=0)
    Path("bad.warc").write_bytes(b"junk\r\n" + archive(TEXTS) * 40)
    assert neardup.dedup_files("bad.warc", "out.warc").left_out[0].startswith("bad.warc:")
    with pytest.raises(neardup.Error, match="no record begins here"):
        neardup.dedup_files("bad.warc", "out.warc", nulls="raise")


def test_without_the_command_such_files_are_refused(here, monkeypatch):
    from neardup._command import find_command

    monkeypatch.setenv("PATH", "/nowhere")
    if find_command():
        pytest.skip("this environment has the command")
    Path("in.warc").write_bytes(archive(TEXTS))
    with pytest.raises(neardup.UnsupportedError, match="in.warc: Python reads .parquet"):
        neardup.dedup_files("in.warc", "out.warc")


def test_filters_make_the_texts(here):
    os.mkdir("in")
    for name, text in (("a.x", "ONE TWO three four five"), ("b.x", "one two THREE four five"), ("c.x", "others")):
        Path("in", name).write_text(text)
    Path("in/d.jsonl").write_text('{"text":"one two three four five"}\n')
    result = neardup.dedup_files("in", "out", filters="x:tr A-Z a-z")
    assert "a.x" in os.listdir("out/in") and "b.x" not in os.listdir("out/in")
    assert (result.summary["documents"], result.summary["kept"]) == (4, 2)
    failed = neardup.dedup_files(["in/c.x", "in/a.x"], "two", filters=["x:grep -v others"])
    assert failed.left_out[0].startswith("in/c.x: ")
    with pytest.raises(neardup.Error, match="the filter 'cat' wrote more than 3 bytes"):
        neardup.dedup_files("in/a.x", "a.x", filters=["x:cat"], filter_limits="output=3", nulls="raise")
    with pytest.raises(neardup.Error, match="does not have the form"):
        neardup.dedup_files("in/a.x", "a.x", filters=["x:cat"], filter_limits="output=no")
    with pytest.raises(neardup.InvalidError, match="filter_limits needs filters"):
        neardup.dedup_files("in/a.x", "a.x", filter_limits="output=3")
    with pytest.raises(neardup.InvalidError, match="filters: a.sketch is not read by the command"):
        neardup.dedup_files("a.sketch", "b.sketch", filters=["pdf"])


def test_tags_name_the_elements(here):
    Path("my.tags").write_text("[document ART]\nid = DN\nbody = LP\n")
    story = "<ART><DN>{}</DN><LP>{}</LP><HL>{}</HL></ART>\n"
    texts = TEXTS["http://a.org/"], TEXTS["http://b.org/"], TEXTS["http://a.org/"]
    Path("a.sgm").write_text("".join(story.format(i, text, f"title {i} " * 9) for i, text in enumerate(texts)))
    result = neardup.dedup_files("a.sgm", "kept.sgm", tags="my.tags", clusters="c.tsv")
    assert (result.summary["documents"], result.summary["removed"]) == (3, 1)
    assert Path("c.tsv").read_text().splitlines()[-1] == "2\t0"
    assert neardup.dedup_files("a.sgm", "kept.sgm", "HL", tags=Path("my.tags")).summary["removed"] == 0
    Path("my.tags").write_text("id = DN\n")
    with pytest.raises(neardup.Error, match="my.tags:1: a field before the first"):
        neardup.dedup_files("a.sgm", "kept.sgm", tags="my.tags")


def test_kinds_that_only_one_of_the_two_reads_do_not_mix(here):
    Path("in.warc").write_bytes(archive(TEXTS))
    Path("in.jsonl").write_text('{"text":"a b c d"}\n')
    with pytest.raises((TypeError, neardup.UnsupportedError), match="in.warc"):
        neardup.dedup_files(["in.jsonl", "in.warc"], "out")
