"""Deduplication: the command's decisions, data of Python's own kinds, and what is refused."""

from __future__ import annotations

import json
import signal
import threading
from fractions import Fraction

import pytest

import neardup


@pytest.fixture(scope="module")
def corpus(tmp_path_factory, records):
    path = tmp_path_factory.mktemp("corpus") / "in.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


CASES = [
    ({}, []),
    ({"threshold": 0.5, "shingle": 2}, ["-t", "0.5", "-w", "2"]),
    ({"threshold": Fraction(2, 3)}, ["-t", "2/3"]),
    ({"shingle": "7c"}, ["--characters", "7"]),
    ({"method": "simhash"}, ["-m", "simhash"]),
    ({"method": "identical"}, ["-m", "identical"]),
    ({"keep": "last"}, ["--keep", "last"]),
    ({"keep": "longest"}, ["--keep", "longest"]),
    ({"keep": "newest:date"}, ["--keep", "newest:date"]),
    ({"keep": "max:score"}, ["--keep", "max:score"]),
    ({"prefer": ("site", ["s3", "s1"])}, ["--prefer", "site=s3,s1"]),
    ({"within": "site"}, ["--within", "site"]),
    ({"short": "tokens"}, ["--short", "tokens"]),
    ({"cluster": "components", "threshold": 0.6}, ["--cluster", "components", "-t", "0.6"]),
    ({"cluster": "complete", "threshold": 0.6}, ["--cluster", "complete", "-t", "0.6"]),
    ({"recipe": "henzinger-2006-c"}, ["--recipe", "henzinger-2006-c"]),
    ({"set": {"forms": "names"}, "threshold": 0.6}, ["--forms", "names", "-t", "0.6"]),
    ({"set": {"max_checks": 3}, "threshold": 0.3}, ["--set", "max_checks=3", "-t", "0.3"]),
]


@pytest.mark.parametrize("arguments, options", CASES, ids=lambda value: str(value))
def test_the_command_decides_the_same(run, corpus, records, arguments, options):
    folder = run("dedup", "-q", corpus, "-o", "kept", "--manifest", "rows", "--clusters", "clusters", *options)
    kept = [json.loads(line) for line in (folder / "kept").open()]
    rows = [json.loads(line) for line in (folder / "rows").open()][1:]
    for threads in (1, 2, 7):
        result = neardup.dedup(records, id="id", threads=threads, **arguments)
        assert result.survivors == kept
        assert [row["id"] for row in result.removed] == [row["removed"] for row in rows]
        assert [row["kept_id"] for row in result.removed] == [row["kept"] for row in rows]
        assert [row["identical"] for row in result.removed] == [row["identical"] for row in rows]
        assert [row["jaccard"] for row in result.removed] == [row["resemblance"] for row in rows]
        assert [row["shared"] for row in result.removed] == [row["shared"] for row in rows]
        assert [row["a"] for row in result.removed] == [row["shingles_removed"] for row in rows]
        assert [row["distance"] for row in result.removed] == [row["distance"] for row in rows]
        assert [row["cut"] for row in result.removed] == ["cut" in row for row in rows]
        ids = [record["id"] for record in records]
        if "via" in rows[0]:
            assert [ids[row["via_row"]] for row in result.removed] == [row["via"] for row in rows]


def test_paths_are_read_as_the_command_reads_them(tmp_path, records):
    import csv
    import gzip

    texts = [record["text"] for record in records]
    expected = neardup.dedup(texts).kept
    for name in ("in.jsonl", "in.jsonl.gz"):
        opened = gzip.open(tmp_path / name, "wt") if name.endswith("gz") else (tmp_path / name).open("w")
        with opened as file:
            file.writelines(json.dumps(record) + "\n" for record in records)
        assert neardup.dedup(tmp_path / name).kept == expected
    for name, delimiter in (("in.csv", ","), ("in.tsv", "\t")):
        with (tmp_path / name).open("w", newline="") as file:
            rows = csv.DictWriter(file, list(records[0]), delimiter=delimiter)
            rows.writeheader()
            rows.writerows(records)
        assert neardup.dedup(str(tmp_path / name)).kept == expected


def test_a_file_of_another_kind_names_the_command(tmp_path):
    (tmp_path / "in.html").write_text("<p>one two three")
    with pytest.raises(neardup.UnsupportedError, match="neardup dedup .*in.html"):
        neardup.dedup(tmp_path / "in.html")


def test_a_bad_line_is_named(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "one two three"}\n{"text":\n')
    with pytest.raises(neardup.InvalidError, match=r"in\.jsonl:2: "):
        neardup.dedup(tmp_path / "in.jsonl")


def test_texts_generators_and_mappings_are_read(records):
    texts = [record["text"] for record in records]
    result = neardup.dedup(texts)
    assert result.survivors == [text for text, kept in zip(texts, result.kept) if kept]
    assert neardup.dedup(iter(texts)).survivors == result.survivors
    assert neardup.dedup([{"body": text} for text in texts], "body").kept == result.kept
    assert neardup.dedup([text.encode() for text in texts]).kept == result.kept


def test_bytes_that_are_not_utf8_are_repaired_and_not_confused():
    rows = [b"one two three \xff four", b"one two three \xfe four", b"one two three \xff four"]
    assert list(neardup.dedup(rows, method="identical").kept) == [True, True, False]
    assert [row["identical"] for row in neardup.dedup(rows).removed] == ["no", "bytes"]


def test_nulls_are_kept_dropped_or_refused():
    rows = ["one two three", None, "one two three", None]
    assert neardup.dedup(rows).survivors == ["one two three", None, None]
    assert neardup.dedup(rows, nulls="drop").survivors == ["one two three"]
    with pytest.raises(neardup.InvalidError, match="row 1: the text is null"):
        neardup.dedup(rows, nulls="raise")


def test_nothing_gives_nothing():
    result = neardup.dedup([])
    assert result.survivors == [] and len(result.removed) == 0 and list(result.kept) == []
    assert neardup.dedup([""]).survivors == [""]


@pytest.mark.parametrize(
    "data, arguments, error, message",
    [
        ("one text", {}, neardup.UnsupportedError, "the command reads other files"),
        (b"one text", {}, TypeError, "the data is one text"),
        ({"text": ["a"]}, {}, TypeError, "the data is a mapping"),
        (3, {}, TypeError, "a int cannot be read"),
        (["a", 3], {}, TypeError, "row 1: expected a str, not int"),
        (["a", {"text": "b"}], {}, TypeError, "row 1: rows are either texts or mappings"),
        ([{"text": "a"}, "b"], {}, TypeError, "row 1: rows are either texts or mappings"),
        ([{"body": "a"}], {}, neardup.InvalidError, "row 0: there is no column 'text'; there are \\['body'\\]"),
        ([{"text": 3}], {}, TypeError, "row 0: 'text' is a int, not a str"),
        ([{"text": "a", "id": []}], {"id": "id"}, TypeError, "row 0: 'id' is a list"),
        (["a"], {"within": "site"}, neardup.InvalidError, "there is no column 'site'"),
        (["a"], {"threshold": 2}, neardup.InvalidError, "threshold"),
        (["a"], {"threshold": "x"}, neardup.InvalidError, "threshold"),
        (["a"], {"method": "magic"}, neardup.InvalidError, "method: 'magic'"),
        (["a"], {"keep": "best"}, neardup.InvalidError, "keep"),
        (["a"], {"recipe": "manku-2008"}, neardup.InvalidError, "manku-2007"),
        (["a"], {"set": {"treshold": 1}}, neardup.InvalidError, "threshold"),
        (["a"], {"nulls": "maybe"}, neardup.InvalidError, "nulls: 'maybe'"),
        (["\ud800"], {}, UnicodeEncodeError, "surrogates"),
        (["a"], {"recipe": "seshasai-2009"}, neardup.InvalidError, "df table"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_what_is_wrong_is_said(data, arguments, error, message):
    with pytest.raises(error, match=message):
        neardup.dedup(data, **arguments)


def test_a_generator_that_raises_is_not_swallowed():
    def texts():
        yield "one two three"
        raise KeyError("the source is gone")

    with pytest.raises(KeyError, match="the source is gone"):
        neardup.dedup(texts())


def test_progress_is_told_and_may_stop(records):
    texts = [record["text"] for record in records] * 20
    seen = []
    neardup.dedup(texts, progress=lambda done, all: seen.append((done, all)))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (len(texts), len(texts))

    def stop(done, all):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        neardup.dedup(texts, progress=stop)


def test_an_interrupt_stops_the_work(records):
    texts = [f"{record['text']} {i}" for i in range(60) for record in records]

    def interrupt(done, all):
        signal.raise_signal(signal.SIGINT)

    # A process that a shell has put into the background ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            neardup.dedup(texts, progress=interrupt)
    finally:
        signal.signal(signal.SIGINT, before)
    assert neardup.dedup(texts[:10]).summary["rows"] == 10


def test_clusters_and_masks(records):
    result = neardup.dedup(records)
    rows = {row for cluster in result.clusters for row in cluster}
    assert len(rows) == len(result.clusters) + len(result.removed)
    for cluster in result.clusters:
        assert result.kept[cluster[0]] and not any(result.kept[row] for row in cluster[1:])
    assert sum(result.kept) == len(result.survivors)
    assert "rows" in repr(result) and "kept" in repr(result.kept)


def test_threads_of_python_work_side_by_side(records):
    texts = [record["text"] for record in records]
    expected = neardup.dedup(texts).kept
    found = [None] * 4

    def work(i):
        found[i] = neardup.dedup(texts, threads=1).kept

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(found))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * len(found)


# ---- Streams ----


@pytest.mark.parametrize("texts", ["memory", "spool"])
@pytest.mark.parametrize("size", [1, 7, 500, 10_000])
def test_a_stream_decides_as_one_run_does(records, texts, size):
    rows = [record["text"] if i % 11 else None for i, record in enumerate(records)]
    expected = neardup.dedup(rows)
    deduper = neardup.Deduper(texts=texts)
    kept, removed = [], []
    for at in range(0, len(rows), size):
        result = deduper.push(rows[at : at + size])
        kept += result.kept
        removed += result.removed
    assert kept == list(expected.kept)
    assert removed == list(expected.removed)


def test_a_stream_refuses_what_it_cannot_do():
    with pytest.raises(neardup.InvalidError, match="keeps the first document"):
        neardup.Deduper(neardup.Recipe(keep="longest"))
    with pytest.raises(neardup.InvalidError, match="keeps the first document"):
        neardup.Deduper(neardup.Recipe(cluster="components"))
    with pytest.raises(neardup.InvalidError, match="texts: 'disk'"):
        neardup.Deduper(texts="disk")
    deduper = neardup.Deduper(nulls="raise")
    with pytest.raises(neardup.InvalidError, match="row 0"):
        deduper.push([None])
    assert deduper.push(["one two three"]).summary["documents"] == 1
