"""Files in, files out: lines, the command line, and that nothing appears by halves."""

from __future__ import annotations

import csv
import gzip
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from handed_over import main
from test_dedup import CASES

import neardup

FILES = {"manifest": "manifest", "clusters": "clusters", "summary": "summary"}


def same_but_for_the_parser(mine: bytes, command: bytes) -> bool:
    """Whether two manifests are equal, but for the parser of pages that only the command has."""
    head, rest = mine.split(b"\n", 1)
    expected_head, expected_rest = command.split(b"\n", 1)
    head, expected_head = json.loads(head), json.loads(expected_head)
    assert head.pop("html_parser") == "none" and expected_head.pop("html_parser")
    return json.dumps(head) == json.dumps(expected_head) and rest == expected_rest


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder that is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_lines(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def left_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("arguments, options", CASES, ids=lambda value: str(value))
def test_lines_are_treated_as_the_command_treats_them(command, here, records, arguments, options):
    write_lines(here / "in.jsonl", records)
    files = ["--manifest", "m", "--clusters", "c"]
    subprocess.run([command, "dedup", "-q", "in.jsonl", "-o", "kept", *files, *options], check=True)
    expected = {name: (here / name).read_bytes() for name in ("m", "c", "kept")}
    for threads in (1, 2, 7):
        result = neardup.dedup_files(
            "in.jsonl", "mine.jsonl", id="id", threads=threads, manifest="m", clusters="c", nulls="drop", **arguments
        )
        assert same_but_for_the_parser((here / "m").read_bytes(), expected["m"])
        assert (here / "c").read_bytes() == expected["c"]
        assert (here / "mine.jsonl").read_bytes() == expected["kept"]
        assert result.summary["kept"] == expected["kept"].count(b"\n")
    assert main(["dedup", "-q", "in.jsonl", "-o", "mine.jsonl", *files, *options]) == 0
    assert same_but_for_the_parser((here / "m").read_bytes(), expected["m"])
    assert (here / "mine.jsonl").read_bytes() == expected["kept"]


def test_what_is_odd_in_lines_is_read_as_the_command_reads_it(command, here):
    lines = [
        b'{"id": 1, "text": "one two three four"}\n',
        b"\n",
        b'{"id": 1e3, "text": "one two three four"}\r\n',
        b'{"id": "caf\xc3\xa9", "text": "one two three \xff five"}\n',
        b'{"id": true, "text": "one, two, three, four"}\n',
        b'{"id": {"a": 1}, "text": "one\\u00e9 two three four \\ud83d\\ude00"}\n',
        b'{"id": "1", "text": "no end"}',
    ]
    (here / "in.jsonl").write_bytes(b"".join(lines))
    subprocess.run([command, "dedup", "-q", "in.jsonl", "-o", "kept", "--manifest", "m", "--clusters", "c"], check=True)
    assert main(["dedup", "-q", "in.jsonl", "-o", "kept2", "--manifest", "m2", "--clusters", "c2"]) == 0
    assert (here / "kept").read_bytes() == (here / "kept2").read_bytes()
    assert (here / "c").read_bytes() == (here / "c2").read_bytes()
    assert same_but_for_the_parser((here / "m2").read_bytes(), (here / "m").read_bytes())


@pytest.mark.parametrize("ending, delimiter", [("csv", ","), ("tsv", "\t")])
def test_tables_are_treated_as_the_command_treats_them(command, here, records, ending, delimiter):
    with open(f"in.{ending}", "w", newline="") as file:
        rows = csv.DictWriter(file, list(records[0]), delimiter=delimiter)
        rows.writeheader()
        for i, record in enumerate(records):
            rows.writerow({**record, "text": record["text"] + ("\nand more" * (i % 3 if ending == "csv" else 0))})
    files = ["--manifest", "m", "--clusters", "c"]
    subprocess.run([command, "dedup", "-q", f"in.{ending}", "-o", "kept", *files], check=True)
    expected = (here / "m").read_bytes(), (here / "c").read_bytes()
    assert main(["dedup", "-q", f"in.{ending}", "-o", f"mine.{ending}", *files]) == 0
    assert (here / f"mine.{ending}").read_bytes() == (here / "kept").read_bytes()
    assert same_but_for_the_parser((here / "m").read_bytes(), expected[0])
    assert (here / "c").read_bytes() == expected[1]


def test_folders_keep_their_names_and_compressions(here, records):
    for i, name in enumerate(["in/b.jsonl", "in/year=2024/a.jsonl.gz", "in/year=2025/a.jsonl", "in/_log.jsonl"]):
        path = here / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_lines(path.with_suffix("") if name.endswith("gz") else path, records[i * 100 : i * 100 + 150])
    plain = here / "in/year=2024/a.jsonl"
    (here / "in/year=2024/a.jsonl.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    (here / "in/notes.txt").write_text("not read")
    result = neardup.dedup_files("in", "out", id="id", removed="gone", manifest="m")
    expected = ["b.jsonl", "year=2024/a.jsonl.gz", "year=2025/a.jsonl"]
    assert left_in(here / "out") == left_in(here / "gone") == expected
    assert result.warnings[0] == "left out 1 file that Python does not read (the first is in/notes.txt)"
    assert "repeat an earlier id" in result.warnings[1]
    texts = [json.loads(line)["text"] for at in (0, 100, 200) for line in lines_of(records[at : at + 150])]
    kept = [json.loads(line)["text"] for name in expected for line in read_lines(here / "out" / name)]
    assert kept == neardup.dedup(texts).survivors
    gone = sum(len(read_lines(here / "gone" / name)) for name in expected)
    assert gone == result.summary["removed"] == len(texts) - len(kept)
    neardup.dedup_files("in", "in", force=True)
    assert [json.loads(line)["text"] for name in expected for line in read_lines(here / "in" / name)] == kept
    assert main(["dedup", "-q", "in", "--output-dir", "all"]) == 0
    assert left_in(here / "all") == [f"in/{name}" for name in expected]


def lines_of(records):
    return [json.dumps(record) for record in records]


def read_lines(path):
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines()


def test_an_input_is_replaced_when_all_is_whole(here, records):
    write_lines(here / "in.jsonl", records)
    os.chmod(here / "in.jsonl", 0o640)
    expected = [record["id"] for record in neardup.dedup(records).survivors]
    before = (here / "in.jsonl").read_bytes()
    with pytest.raises(neardup.InvalidError, match=r"'in\.jsonl' is an input and would be replaced"):
        neardup.dedup_files("in.jsonl", "in.jsonl")
    assert (here / "in.jsonl").read_bytes() == before
    summary = neardup.dedup_files("in.jsonl", "in.jsonl", force=True).summary
    gone = {"first": "in.jsonl", "inputs": 1, "records": len(records), "gone": len(records) - len(expected)}
    assert summary["replaced"] == gone
    assert [json.loads(line)["id"] for line in read_lines(here / "in.jsonl")] == expected
    assert (here / "in.jsonl").stat().st_mode & 0o777 == 0o640
    assert left_in(here) == ["in.jsonl"]


def test_a_failure_leaves_everything_as_it_was(here, records):
    write_lines(here / "in.jsonl", records)
    before = (here / "in.jsonl").read_bytes()
    (here / "out.jsonl").write_text("old")

    def stop(share, documents):
        raise RuntimeError("enough")

    for arguments in ({}, {"keep": "longest"}):
        with pytest.raises(RuntimeError, match="enough"):
            neardup.dedup_files("in.jsonl", "out.jsonl", manifest="m", progress=stop, **arguments)
    with (here / "in.jsonl").open("a") as file:
        file.write('{"text": \n')
    with pytest.raises(neardup.InvalidError, match=rf"in\.jsonl:{len(records) + 1}: "):
        neardup.dedup_files("in.jsonl", "new/out.jsonl", manifest="m", summary="s")
    (here / "in.jsonl").write_bytes(before)
    assert left_in(here) == ["in.jsonl", "out.jsonl"] and (here / "out.jsonl").read_text() == "old"
    assert not (here / "new").exists()


def test_a_file_that_changes_is_noticed(here, records):
    write_lines(here / "in.jsonl", records)

    def change(share, documents):
        with (here / "in.jsonl").open("a") as file:
            file.write('{"text": "more"}\n')

    with pytest.raises(neardup.Error, match="in.jsonl"):
        neardup.dedup_files("in.jsonl", "out.jsonl", progress=change)
    assert left_in(here) == ["in.jsonl"]


def test_the_command_leaves_the_handlers_of_its_caller(tmp_path):
    before = signal.getsignal(signal.SIGTERM)
    (tmp_path / "in.jsonl").write_text('{"text": "one two three"}\n')
    assert main(["dedup", "-q", str(tmp_path / "in.jsonl"), "-o", str(tmp_path / "out.jsonl")]) == 0
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.parametrize("number, status", [(signal.SIGINT, -signal.SIGINT), (signal.SIGTERM, 128 + signal.SIGTERM)])
def test_a_signal_leaves_nothing(here, records, number, status):
    with (here / "in.jsonl").open("w") as file:
        for i in range(40):
            more = [{**record, "text": f"{record['text']} {i}"} for record in records]
            file.writelines(line + "\n" for line in lines_of(more))
    ready = here / "ready"
    # The line of progress says that the run is under way.
    script = (
        "import sys, neardup._tables as m; m._Progress.__call__ = lambda *a: open('ready', 'w').close(); "
        "sys.exit(m.main(sys.argv[1:]))"
    )
    arguments = "--progress --output=out.jsonl --manifest=m --clusters=c --threads=1 -- in.jsonl".split()
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", script, *arguments],
        stderr=subprocess.PIPE,
        # A shell may have had this process ignore it, as one in the background.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while not ready.exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(number)
    process.communicate()
    assert process.returncode == status
    assert left_in(here) == ["in.jsonl", "ready"]


# ---- The command line ----


def test_bad_rows_count_as_the_command_counts_them(command, here, capsys):
    rows = [{"text": f"one two three {i}"} for i in range(60)]
    write_lines(here / "few.jsonl", [*rows, {"text": None}])
    write_lines(here / "many.jsonl", [{"text": None}] * 10 + rows)
    write_lines(here / "none.jsonl", [{"text": None}] * 2)
    cases = [
        ["few.jsonl", "-o", "out"],
        ["few.jsonl", "-o", "few.jsonl"],
        ["few.jsonl", "-o", "few.jsonl", "--force"],
        ["few.jsonl", "-o", "out", "--max-bad", "1%"],
        ["many.jsonl", "-o", "out"],
        ["many.jsonl", "-o", "out", "--max-bad", "1/2"],
        ["none.jsonl", "-o", "out"],
    ]
    for case in cases:
        done = subprocess.run([command, "dedup", "-q", *case], capture_output=True, text=True)
        assert main(["dedup", "-q", *case]) == done.returncode
        assert capsys.readouterr().err == done.stderr
    neardup.dedup_files("many.jsonl", "out", nulls="keep", summary="s")
    assert len(read_lines(here / "out")) == 70 and json.loads((here / "s").read_text())["documents"] == 60


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["in.jsonl", "-o", "out", "--threshold", "2"], "threshold"),
        (["in.jsonl", "-o", "out", "--never", "site"], "--never: 'site' does not have the form FIELD=A,B,C"),
        (["in.jsonl", "-o", "out", "--prefer", "site"], "--prefer: 'site' does not have the form FIELD=A,B,C"),
        (["in.jsonl", "-o", "out", "--missing-text", "empty"], "--missing-text: rows without a text are left out"),
        (["in.jsonl", "-o", "out", "--dry-run"], "--dry-run is not for Parquet and Arrow"),
        (["in.jsonl", "-o", "out", "--set", "x"], "--set: neither a [section] nor a 'key = value'"),
        (["in.jsonl", "-o", "out", "--manifest", "out"], "two outputs cannot both go to 'out'"),
        (["in.jsonl", "-o", "out", "--manifest", "in.jsonl"], "'in.jsonl' is an input and would be overwritten"),
        (["in.jsonl", "-o", "out.csv"], "out.csv: survivors stay jsonl, and the name is that of csv"),
        (["in.jsonl", "-o", "."], ".: is a directory"),
        (["in.jsonl"], "say where the survivors go: -o FILE, or --output-dir DIR"),
        (["in.jsonl", "x.jsonl", "-o", "out"], "several inputs need --output-dir DIR"),
        (["none.jsonl", "-o", "out"], "none.jsonl: cannot be opened: No such file or directory"),
        (["in.html", "-o", "out"], "the command reads other files: neardup dedup in.html"),
        (["in.csv", "-o", "out.csv"], "in.csv: there is no column 'text'; there are ['a', 'b']"),
        (["in.csv", "-o", "out.csv", "--text-field", "a"], "in.csv:3: the row has 1 cells, and the header 2"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else "",
)
def test_what_is_wrong_is_said_as_the_command_says_it(here, capsys, arguments, message):
    write_lines(here / "in.jsonl", [{"text": "one two three"}])
    (here / "in.html").write_text("<p>one")
    (here / "in.csv").write_text("a,b\n1,2\n3\n")
    assert main(["dedup", *arguments]) == 2
    said = capsys.readouterr().err
    assert all(line.startswith("neardup: ") for line in said.splitlines()) and message in said
    assert left_in(here) == ["in.csv", "in.html", "in.jsonl"]


def test_the_summary_is_shown_unless_it_is_to_be_quiet(here, capsys, records):
    write_lines(here / "in.jsonl", records)
    assert main(["dedup", "in.jsonl", "-o", "out.jsonl", "--progress"]) == 0
    said = capsys.readouterr().err
    assert "Inputs and their formats\n  in.jsonl: jsonl, 1500 records, " in said and "  near  " in said
    assert main(["dedup", "-q", "in.jsonl", "-o", "out.jsonl"]) == 0
    assert capsys.readouterr().err == ""


def test_an_empty_file_gives_an_empty_file(here):
    (here / "in.jsonl").write_text("")
    (here / "in.csv").write_text("id,text\n")
    assert main(["dedup", "-q", "in.jsonl", "-o", "out.jsonl", "--manifest", "m", "--clusters", "c"]) == 0
    assert main(["dedup", "-q", "in.csv", "-o", "out.csv"]) == 0
    assert (here / "out.jsonl").read_text() == (here / "c").read_text() == ""
    assert (here / "out.csv").read_text() == "id,text\n"
