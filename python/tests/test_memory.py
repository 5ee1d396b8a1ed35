"""Bounded memory: the same rows as without it and as the command gives, and what it refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from test_dedup import CASES
from test_files import same_but_for_the_parser, write_lines

import neardup
from neardup import _native

SMALL = 200_000  # bytes, of which half hold some 230 rows at a time


@pytest.fixture
def tight(monkeypatch):
    """So little memory that a few hundred rows make several loads: less than a caller can ask for."""
    monkeypatch.setattr(_native, "memory_parse", lambda text: SMALL)


@pytest.mark.parametrize("arguments, options", CASES, ids=lambda value: str(value))
def test_files_are_treated_as_the_command_treats_them(
    command, tight, tmp_path, monkeypatch, records, arguments, options
):
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "in.jsonl", records)
    files = ["--manifest", "m", "--clusters", "c", "--memory", "64M"]
    subprocess.run([command, "dedup", "-q", "in.jsonl", "-o", "kept", *files, *options], check=True)
    for threads in (1, 3):
        result = neardup.dedup_files(
            "in.jsonl", "mine.jsonl", id="id", memory="64M", threads=threads, manifest="m2", clusters="c2",
            nulls="drop", **arguments
        )  # fmt: skip
        assert same_but_for_the_parser((tmp_path / "m2").read_bytes(), (tmp_path / "m").read_bytes())
        assert (tmp_path / "c2").read_bytes() == (tmp_path / "c").read_bytes()
        assert (tmp_path / "mine.jsonl").read_bytes() == (tmp_path / "kept").read_bytes()
        assert result.summary["loads"] >= 1 and result.summary["memory_bytes"] == SMALL
        assert result.summary["spilled_bytes"] > 0


def test_there_are_several_loads(tight, tmp_path, records):
    write_lines(tmp_path / "in.jsonl", records)
    result = neardup.dedup_files(tmp_path / "in.jsonl", tmp_path / "out.jsonl", memory="64M", threshold=0.5)
    assert result.summary["loads"] > 2


def test_the_command_line_takes_it(command, tmp_path, monkeypatch, records):
    from handed_over import main

    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "in.jsonl", records)
    subprocess.run([command, "dedup", "-q", "in.jsonl", "-o", "kept", "--memory", "64M"], check=True)
    assert main(["dedup", "-q", "in.jsonl", "-o", "mine.jsonl", "--memory", "64M", "--tmp", str(tmp_path)]) == 0
    assert (tmp_path / "mine.jsonl").read_bytes() == (tmp_path / "kept").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["in.jsonl", "kept", "mine.jsonl"]


# ---- Data that comes as a stream ----


def arrow(records):
    pa = pytest.importorskip("pyarrow")
    return pa.Table.from_pylist(records)


def of_rows(survivors):
    return [row["id"] for row in survivors]


def of_table(survivors):
    table = survivors.read_all() if hasattr(survivors, "read_all") else survivors
    return table["id"].to_pylist()


KINDS = {
    "list": (lambda records, tmp_path: records, of_rows),
    "generator": (lambda records, tmp_path: (record for record in records), of_rows),
    "table": (lambda records, tmp_path: arrow(records), of_table),
    "reader": (lambda records, tmp_path: arrow(records).to_reader(100), of_table),
    "lines": (lambda records, tmp_path: _file(records, tmp_path / "in.jsonl"), of_rows),
    "parquet": (lambda records, tmp_path: _file(records, tmp_path / "in.parquet"), of_table),
    "polars": (lambda records, tmp_path: pytest.importorskip("polars").DataFrame(records), lambda s: s["id"].to_list()),
    "pandas": (lambda records, tmp_path: pytest.importorskip("pandas").DataFrame(records), lambda s: s["id"].tolist()),
}


def _file(records, path):
    if path.suffix == ".jsonl":
        write_lines(path, records)
    else:
        pytest.importorskip("pyarrow.parquet").write_table(arrow(records), path, row_group_size=300)
    return path


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"keep": "longest", "threshold": 0.5},
        {"cluster": "components", "within": "site"},
        {"prefer": ("site", ["s3"]), "never": {"site": "s1"}},
        {"recipe": "manku-2007"},
    ],
    ids=str,
)
def test_the_result_is_the_same(tight, tmp_path, records, kind, arguments):
    make, ids_of = KINDS[kind]
    expected = neardup.dedup(records, id="id", **arguments)
    result = neardup.dedup(make(records, tmp_path), id="id", memory="64M", tmp=tmp_path, threads=3, **arguments)
    for _ in range(2):
        assert ids_of(result.survivors) == of_rows(expected.survivors)
    assert list(result.kept) == list(expected.kept)
    assert list(result.removed) == list(expected.removed)
    assert [row for table in result.iter_removed() for row in table] == list(expected.removed)
    assert result.clusters == expected.clusters
    for name in ("rows", "documents", "removed", "identical_bytes", "identical_tokens", "near", "bytes"):
        assert result.summary[name] == expected.summary[name]
    for write in ("write_manifest", "write_clusters"):
        getattr(expected, write)(tmp_path / "expected")
        getattr(result, write)(tmp_path / "mine")
        assert (tmp_path / "mine").read_bytes() == (tmp_path / "expected").read_bytes()
    result.write_summary(tmp_path / "s")
    assert json.loads((tmp_path / "s").read_bytes())["kept"] == sum(expected.kept)
    assert repr(result) == repr(expected) and result._repr_html_()


@pytest.mark.parametrize("make", [list, iter], ids=["list", "iterator"])
def test_rows_without_a_text_and_texts_without_columns(tight, make):
    texts = [None, "one two three four", None, "ONE two three four", "five", None]
    result = neardup.dedup(make(texts), memory="64M")
    assert list(result.survivors) == [None, "one two three four", None, "five", None]
    assert list(neardup.dedup(make(texts), memory="64M", nulls="drop").survivors) == ["one two three four", "five"]
    with pytest.raises(neardup.InvalidError, match="row 0: the text is null"):
        neardup.dedup(make(texts), memory="64M", nulls="raise")
    assert list(neardup.dedup(make([]), memory="64M").survivors) == []
    with pytest.raises(neardup.InvalidError, match="texts without columns"):
        neardup.dedup(make(texts[1:]), memory="64M", id="id")
    with pytest.raises(TypeError, match="row 1: rows are either"):
        neardup.dedup(make(["one", {"text": "two"}]), memory="64M")


def test_an_error_of_the_stream_comes_through(tight, tmp_path):
    def rows():
        yield from ["one two three"] * 5000
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        neardup.dedup(rows(), memory="64M", tmp=tmp_path)
    assert os.listdir(tmp_path) == []


def test_progress_rises_to_the_end(tight, records):
    told: list[tuple[int, int]] = []
    neardup.dedup(iter(records), memory="64M", progress=lambda done, all: told.append((done, all)))
    assert told == sorted(told) and 0 <= told[0][0] and told[-1][0] <= told[-1][1]

    def stop(done, all):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        neardup.dedup(iter(records), memory="64M", progress=stop)


def test_a_file_that_changes_is_an_error(tight, tmp_path, records):
    write_lines(tmp_path / "in.jsonl", records)
    result = neardup.dedup(tmp_path / "in.jsonl", memory="64M")
    write_lines(tmp_path / "in.jsonl", records[:-1])
    with pytest.raises(neardup.Error, match="changed while it was read"):
        list(result.survivors)


# ---- What it refuses ----


def test_what_is_too_little_is_said(tmp_path, records):
    for wrong in ("2", "many", "1M", "-1", ""):
        with pytest.raises(neardup.InvalidError, match="memory: "):
            neardup.dedup(records, memory=wrong)
    with pytest.raises(MemoryError, match="row 1, of 3000000 bytes, needs 641M"):
        neardup.dedup(["short", "x" * 3_000_000], memory="64M", threads=2)
    with pytest.raises(MemoryError, match="the values of within take .* is needed"):
        neardup.dedup(
            ({"text": "a b c", "site": f"{i} {'x' * 500}"} for i in range(20000)), memory="64M", within="site"
        )
    with pytest.raises(OSError):
        neardup.dedup(iter(records), memory="64M", tmp=tmp_path / "missing")


def test_rows_that_could_all_match_need_one_index():
    rows = (f"{i} {i * 7} one {i * 3} two {i * 11}" for i in range(120_000))
    with pytest.raises(MemoryError, match="documents could match one another, .* takes up to"):
        neardup.dedup(rows, memory="64M", set={"verify": "containment"})


BOUNDED = """
import random, resource, sys
import neardup

words = [f"w{i}" for i in range(3000)]

def rows(n):
    chance = random.Random(1)
    for i in range(n):
        yield {"id": i, "text": " ".join(chance.choices(words, k=12))}

neardup.dedup(rows(100), id="id", threads=2)
now = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmData")) << 10
resource.setrlimit(resource.RLIMIT_DATA, (now + (140 << 20), -1))
try:
    result = neardup.dedup(rows(200_000), id="id", threads=2, memory=sys.argv[1] if sys.argv[1:] else None)
    print(sum(1 for _ in result.survivors))
except MemoryError:
    print("too little")
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs Linux")
@pytest.mark.parametrize("memory, said", [(["64M"], "200000"), ([], "too little")], ids=["bounded", "not"])
def test_memory_is_bounded(memory, said):
    """All that the process writes to, above what it had, is at most 64 MB and 48 MB for each thread."""
    out = subprocess.run([sys.executable, "-c", BOUNDED, *memory], check=True, capture_output=True, text=True)
    assert out.stdout.strip() == said
