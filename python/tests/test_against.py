"""Files against sketch files: what the command removes and adds, byte for byte."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from handed_over import main
from test_evidence import summaries
from test_files import same_but_for_the_parser, write_lines

import neardup

FIELDS = ["--record-field", "score", "--record-field", "site", "--record-length"]
CASES = [
    ({}, [], []),
    ({"threshold": 0.5}, ["-t", "0.5"], []),
    ({"short": "tokens"}, ["--short", "tokens"], []),
    ({"keep": "longest"}, ["--keep", "longest"], []),
    ({"keep": "max:score"}, ["--keep", "max:score"], []),
    ({"keep": "last", "cluster": "complete"}, ["--keep", "last", "--cluster", "complete"], []),
    ({"prefer": ("site", ["s3", "s1"])}, ["--prefer", "site=s3,s1"], []),
    ({"cluster": "components", "threshold": 0.6}, ["--cluster", "components", "-t", "0.6"], []),
    ({"method": "identical"}, ["-m", "identical"], []),
    ({"recipe": "manku-2007"}, ["--recipe", "manku-2007"], ["--recipe", "manku-2007"]),
    ({"set": {"verify": "containment"}}, ["--verify", "containment"], []),
    ({"within": "site"}, ["--within", "site"], FIELDS),
    ({"never": {"site": "s2"}, "keep": "longest"}, ["--never", "site=s2", "--keep", "longest"], FIELDS),
    (
        {"within": "site", "never": {"score": ["3", "50"]}, "cluster": "complete"},
        ["--within", "site", "--never", "score=3,50", "--cluster", "complete"],
        FIELDS,
    ),
]


# These figures of a summary differ from the command's: Python looks for candidates in another order, and
# the command also counts the old documents that `never` sets apart.
OF_THE_SEARCH = {"checks", "candidates", "never_documents"}


@pytest.fixture
def here(command, tmp_path, monkeypatch, records):
    """A folder that is the current one, with new records and old ones, which are in two files."""
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "new.jsonl", records[800:])
    for name, some in (("a", records[:500]), ("b", records[500:800])):
        write_lines(tmp_path / f"{name}.jsonl", some)
    return tmp_path


def sketch(command, *options):
    for name in ("a", "b"):
        subprocess.run([command, "sketch", "-q", f"{name}.jsonl", "-o", f"{name}.sketch", *options], check=True)
        shutil.copy(f"{name}.sketch", f"{name}.before")


@pytest.mark.parametrize("arguments, options, sketched", CASES, ids=lambda value: str(value))
def test_the_command_removes_and_adds_the_same(command, here, arguments, options, sketched):
    sketch(command, *sketched)
    files = ["--against", "a.sketch", "--against", "b.sketch", "--append", "--manifest", "m", "--clusters", "c"]
    files += ["--summary", "s"]
    subprocess.run([command, "dedup", "-q", "new.jsonl", "-o", "kept", *files, *options], check=True)
    summary = json.loads((here / "s").read_text())
    added = (here / "b.sketch").read_bytes()
    for threads, way in ((1, {}), (3, {}), (2, {"memory": "64M"})):
        shutil.copy("b.before", "b.sketch")
        result = neardup.dedup_files(
            "new.jsonl", "mine.jsonl", id="id", against=["a.sketch", "b.sketch"], append=True, threads=threads,
            manifest="m2", clusters="c2", nulls="drop", **arguments, **way
        )  # fmt: skip
        assert (here / "mine.jsonl").read_bytes() == (here / "kept").read_bytes()
        assert (here / "c2").read_bytes() == (here / "c").read_bytes()
        assert same_but_for_the_parser((here / "m2").read_bytes(), (here / "m").read_bytes())
        assert (here / "b.sketch").read_bytes() == added != (here / "b.before").read_bytes()
        assert (here / "a.sketch").read_bytes() == (here / "a.before").read_bytes()
        takes_all = "--verify" in options  # samples of shingles are not looked up in records
        assert (result.summary["seen_met"] < 800) == (not takes_all)
        assert result.summary["seen_documents"] == 800
        for count in ("never_documents", "candidates", "checks", "cut_documents"):
            assert result.summary[count] == summary[count]


def passages_of(manifest):
    """The stretches that rows of a manifest say were copied."""
    return [json.loads(line).get("passage") for line in open(manifest)][1:]


QUOTES = [
    ({}, []),
    ({"threshold": 0.3}, ["-t", "0.3"]),
    ({"set": {"verify": "containment-of-kept"}, "threshold": 0.5}, ["--verify", "containment-of-kept", "-t", "0.5"]),
    ({"set": {"verify": "containment-of-kept"}, "short": "tokens"},
     ["--verify", "containment-of-kept", "--short", "tokens"]),
    ({"set": {"verify": "containment-of-kept"}, "short": "keep"},
     ["--verify", "containment-of-kept", "--short", "keep"]),
    ({"recipe": "manku-2007"}, ["--recipe", "manku-2007"]),
    ({"keep": "none", "threshold": 0.5}, ["--keep", "none", "-t", "0.5"]),
]  # fmt: skip


@pytest.mark.parametrize("arguments, options", QUOTES, ids=lambda value: str(value))
@pytest.mark.parametrize("alone", [False, True])
def test_what_contains_or_quotes_old_documents_is_removed_as_by_the_command(
    command, here, records, arguments, options, alone
):
    recipe = [word for word in options if "manku" in word or word == "--recipe"]
    sketch(command, *recipe)
    files = ["--against", "a.sketch", "--against", "b.sketch", "--manifest", "m", "--clusters", "c", "--summary", "s"]
    only = ["--only-against"] * alone
    subprocess.run([command, "dedup", "-q", "new.jsonl", "-o", "kept", *files, *options, *only], check=True)
    expected = json.loads((here / "s").read_bytes())
    kept = (here / "kept").read_bytes()
    assert 0 < expected["removed"] < expected["documents"]
    against = ["a.sketch", "b.sketch"]
    for threads, way in ((1, {}), (3, {}), (2, {"memory": "64M"})):
        result = neardup.dedup_files(
            "new.jsonl", "mine.jsonl", id="id", against=against, only_against=alone, threads=threads,
            manifest="m2", clusters="c2", nulls="drop", **arguments, **way
        )  # fmt: skip
        assert (here / "mine.jsonl").read_bytes() == kept
        assert (here / "c2").read_bytes() == (here / "c").read_bytes()
        assert same_but_for_the_parser((here / "m2").read_bytes(), (here / "m").read_bytes())
        passages = (here / "m").read_bytes().count(b'"passage":')
        assert (passages > 0) == ("containment-of-kept" in options)
        counts = ("removed", "near", "identical_bytes", "seen_documents", "short_documents", "empty_documents")
        assert [result.summary[key] for key in counts] == [expected[key] for key in counts]
        assert result.summary.get("quoted") == expected.get("quoted")
    assert main(["dedup", "-q", "new.jsonl", "-o", "mine.jsonl", *files, *options, *only]) == 0
    assert (here / "mine.jsonl").read_bytes() == kept
    ids = [json.loads(line)["id"] for line in kept.splitlines()]
    plain = neardup.dedup(records[800:], id="id", against=against, only_against=alone, **arguments)
    for number in range(6):
        data = (records[800:], iter(records[800:]), "new.jsonl")[number % 3]
        way = {"memory": "64M", "tmp": here} if number > 2 else {}
        result = neardup.dedup(data, id="id", against=against, only_against=alone, **arguments, **way)
        assert [row["id"] for row in result.survivors] == ids
        assert result.summary.get("quoted") == expected.get("quoted")
        assert [dict(row) for row in result.removed] == [dict(row) for row in plain.removed]
        result.write_manifest("m3")
        assert passages_of("m3") == passages_of("m")
        if alone:
            with pytest.raises(neardup.UnsupportedError, match="only_against makes no clusters"):
                _ = result.copies
        else:
            assert result.copies[:] == plain.copies[:]


def test_too_little_memory_is_said(here):
    rows = ({"id": i, "text": " ".join(f"w{i * k % 99991}" for k in range(1, 9))} for i in range(150_000))
    neardup.write_sketches(["some words of a text"], "one.sketch")
    with pytest.raises(MemoryError, match=r"what is held of the first \d+ documents takes \d+ MB; the whole needs"):
        neardup.dedup(rows, against="one.sketch", memory="64M", tmp=here)


def test_what_contains_a_short_old_document_is_not_appended(command, here):
    sketch(command)
    files = ["--against", "a.sketch", "--against", "b.sketch", "--append"]
    options = ["--verify", "containment-of-kept", "-t", "0.7"]
    subprocess.run([command, "dedup", "-q", "new.jsonl", "-o", "kept", *files, *options], check=True)
    added = (here / "b.sketch").read_bytes()
    shutil.copy("b.before", "b.sketch")
    arguments = {"against": ["a.sketch", "b.sketch"], "append": True, "set": {"verify": "containment-of-kept"}}
    neardup.dedup_files("new.jsonl", "mine.jsonl", id="id", threshold=0.7, nulls="drop", **arguments)
    assert (here / "mine.jsonl").read_bytes() == (here / "kept").read_bytes()
    assert (here / "b.sketch").read_bytes() == added != (here / "b.before").read_bytes()


def test_a_file_that_is_made_keeps_the_fields_that_the_run_reads(command, here):
    options = ["--within", "site", "--never", "date=2024-01-01", "--keep", "max:score", "--append"]
    subprocess.run([command, "dedup", "-q", "new.jsonl", "-o", "kept", "--against", "new.sketch", *options], check=True)
    neardup.dedup_files(
        "new.jsonl", "mine.jsonl", id="id", against="mine.sketch", append=True,
        within="site", never={"date": "2024-01-01"}, keep="max:score",
    )  # fmt: skip
    assert (here / "mine.sketch").read_bytes() == (here / "new.sketch").read_bytes()
    assert neardup.read_sketches("mine.sketch").info["fields"] == ["site", "date", "score"]


def test_the_command_line_takes_them(command, here):
    sketch(command)
    assert main(["dedup", "-q", "new.jsonl", "-o", "mine.jsonl", "--against", "a.sketch", "--manifest", "m"]) == 0
    assert (here / "a.sketch").read_bytes() == (here / "a.before").read_bytes()
    subprocess.run([command, "dedup", "-q", "new.jsonl", "-o", "kept", "--against", "a.sketch"], check=True)
    assert (here / "mine.jsonl").read_bytes() == (here / "kept").read_bytes()
    assert main(["dedup", "-q", "new.jsonl", "-o", "mine.jsonl", "--append"]) == 2


def test_a_file_that_is_not_there_is_made_and_grows(here, records):
    for part in range(3):
        write_lines(here / "part.jsonl", records[part * 500 : (part + 1) * 500])
        neardup.dedup_files("part.jsonl", f"kept{part}.jsonl", id="id", against="seen.sketch", append=True)
    write_lines(here / "all.jsonl", records)
    neardup.dedup_files("all.jsonl", "kept.jsonl", id="id")
    assert (
        b"".join((here / f"kept{part}.jsonl").read_bytes() for part in range(3)) == (here / "kept.jsonl").read_bytes()
    )
    sketches = neardup.read_sketches("seen.sketch", ["id"])
    assert [row["id"] for table in sketches for row in table] == [
        json.loads(line)["id"] for line in (here / "kept.jsonl").read_text().splitlines()
    ]


def test_tables_and_rows_without_a_text(here, records):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    rows = [*records[:40], {**records[0], "id": "none", "text": None}, *records[40:900]]
    pq.write_table(pa.Table.from_pylist(rows), "new.parquet", row_group_size=100)
    neardup.write_sketches(records[:400], "seen.sketch", id="id")
    neardup.dedup_files("new.parquet", "kept.parquet", id="id", against="seen.sketch", append=True, manifest="m")
    kept = pq.read_table("kept.parquet")["id"].to_pylist()
    assert "none" in kept and not set(kept) & {record["id"] for record in records[:400]}
    assert neardup.read_sketches("seen.sketch").info["documents"] == 400 + len(kept) - 1
    line = json.loads((here / "m").read_text().splitlines()[0])
    assert line["against"] == [{"path": "seen.sketch", "generation": 1, "documents": 400}]


def test_what_cannot_be_is_refused_and_changes_nothing(here, records):
    neardup.write_sketches(records[:300], "seen.sketch", id="id")
    neardup.write_sketches(records[:300], "bare.sketch", id="id", shingles=False)
    before = (here / "seen.sketch").read_bytes()

    def run(**arguments):
        neardup.dedup_files("new.jsonl", "kept.jsonl", id="id", **{"against": "seen.sketch", **arguments})

    for wrong in ({"within": "site"}, {"never": {"site": "s1"}}, {"memory": "1M"}, {"shingle": 5}):
        with pytest.raises(neardup.InvalidError):
            run(append=True, **wrong)
    with pytest.raises(neardup.InvalidError, match="shingles"):
        run(against="bare.sketch")
    with pytest.raises(neardup.InvalidError, match="append"):
        run(against=(), append=True)
    for wrong, why in (
        ({"against": ()}, "only_against compares with the documents of against"),
        ({"append": True}, "append does not go with only_against"),
        ({"prefer": ("site", ["s1"])}, "prefer does not go with only_against"),
        ({"copies_field": "n"}, "copies_field does not go with only_against"),
        ({"cluster": "complete"}, "only_against makes no clusters"),
    ):
        with pytest.raises(neardup.InvalidError, match=why):
            run(only_against=True, **wrong)
    neardup.write_sketches([{"id": "x", "text": "w1", "site": "s"}], "site.sketch", id="id", fields=["site"])
    with pytest.raises(neardup.InvalidError, match="within: short old documents are found in texts whatever"):
        run(against="site.sketch", set={"verify": "containment-of-kept"}, within="site")

    def stop(share, documents):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        run(append=True, progress=stop)
    assert (here / "seen.sketch").read_bytes() == before
    assert not (here / "kept.jsonl").exists()
    run(append=True)
    assert (here / "seen.sketch").read_bytes() != before


@pytest.mark.parametrize("arguments, options, sketched", CASES, ids=lambda value: str(value))
@pytest.mark.parametrize("alone", [False, True])
def test_evidence_of_rows_is_the_commands(command, here, records, arguments, options, sketched, alone):
    if alone and ("prefer" in arguments or "cluster" in arguments):
        pytest.skip("only_against neither prefers nor makes clusters")
    sketch(command, *sketched)
    files = ["--against", "a.sketch", "--against", "b.sketch", "--manifest", "m", "--clusters", "c", "--summary", "s"]
    options = [*files, *options, *["--only-against"] * alone]
    lines = (here / "new.jsonl").read_bytes()
    said = [command, "dedup", "-q", "--format", "jsonl", "-", "-o", "kept", *options]
    subprocess.run(said, input=lines, check=True)
    for way in ({}, {"memory": "64M", "tmp": here}):
        for rows in (records[800:], iter(records[800:])):
            result = neardup.dedup(
                rows, id="id", against=["a.sketch", "b.sketch"], only_against=alone, nulls="drop", **arguments, **way
            )
            result.write_manifest("m2")
            result.write_clusters("c2")
            result.write_summary("s2")
            assert (here / "c2").read_bytes() == (here / "c").read_bytes()
            expected, found = (here / "m").read_bytes().splitlines(), (here / "m2").read_bytes().splitlines()
            assert found[1:] == expected[1:]
            assert json.loads(found[0])["against"] == json.loads(expected[0])["against"]
            expected, found = summaries((here / "s").read_bytes(), (here / "s2").read_bytes())
            assert {name for name in expected if expected[name] != found.get(name)} <= OF_THE_SEARCH
