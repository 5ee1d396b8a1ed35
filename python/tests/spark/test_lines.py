"""Deduplication of files that executors read themselves: the lines that one machine keeps."""

from __future__ import annotations

import json
import random

import pytest

import neardup
from neardup.spark import _dedup, _lines, dedup_files

EVIDENCE = ("identical", "verified", "jaccard", "shared", "a", "b", "distance", "cut")


@pytest.fixture(autouse=True)
def few_stages(spark):
    spark.conf.set("spark.sql.adaptive.enabled", "false")


def written(path, rows, end="\n"):
    """Rows as lines of a file, some with other fields between, some behind lines of nothing."""
    chance = random.Random(3)
    lines = []
    for row in rows:
        lines.append(json.dumps(row if chance.random() < 0.5 else dict(reversed(row.items())), ensure_ascii=False))
        if chance.random() < 0.05:
            lines.append(" " * chance.randrange(3))
    path.write_text("\n".join(lines) + end, encoding="utf-8")
    return path


def check(spark, folder, files, rows, partitions=None, **arguments):
    """What both make of the same lines."""
    expected = neardup.dedup(rows, **arguments)
    result = dedup_files(spark, files, folder / "kept", id="id", partitions=partitions, **arguments)
    names = [f"{prefix}id" for prefix in ("", "kept_", "via_")]
    found = sorted(map(tuple, result.manifest.select(*names, *EVIDENCE).collect()))
    ids = [[rows[row[name]]["id"] for name in ("row", "kept_row", "via_row")] for row in expected.removed]
    wanted = [(*some, *(row[name] for name in EVIDENCE)) for some, row in zip(ids, expected.removed)]
    assert found == sorted(wanted)
    # A line of a file is kept byte for byte, and the parts of a file follow each other.
    parts = sorted((folder / "kept").iterdir())
    kept = [json.loads(line)["id"] for part in parts for line in part.read_text(encoding="utf-8").splitlines()]
    assert kept == [row["id"] for row, is_kept in zip(rows, expected.kept) if is_kept]
    assert (result.documents, result.kept) == (len(rows), len(kept))
    return result


def test_files_are_deduplicated_as_on_one_machine(spark, records, tmp_path, monkeypatch):
    """Ranges of some lines, ends of ranges within lines, and a file without an end of line."""
    monkeypatch.setattr(_lines, "RANGE_BYTES", 40_000)
    middle = len(records) // 2
    files = [written(tmp_path / "a.jsonl", records[:middle], ""), written(tmp_path / "b.jsonl", records[middle:])]
    (tmp_path / "c.jsonl").write_bytes(b"")
    result = check(spark, tmp_path, [*files, tmp_path / "c.jsonl"], records)
    row = result.manifest.where("file like '%b.jsonl'").first()
    with open(row.file, "rb") as file:
        file.seek(row.offset)
        assert json.loads(file.readline())["id"] == row.id


def test_other_fields_and_many_tasks(spark, records, tmp_path, monkeypatch):
    monkeypatch.setattr(_lines, "RANGE_BYTES", 40_000)
    monkeypatch.setattr(_lines, "SMALL_BYTES", 0)
    monkeypatch.setattr(_dedup, "ONE_TASK_BYTES", 0)
    monkeypatch.setattr(_lines, "COLLECTED", 0)
    file = written(tmp_path / "a.jsonl", records)
    check(spark, tmp_path, file, records, within="site", keep="max:score", threshold=0.6, partitions=3)


def test_lines_of_every_cut():
    """Each line is in the range in which it begins, wherever ranges end."""
    import io

    data = b"one\n\ntwo three\nfour\n\n\nfive"
    for cut in range(1, len(data)):
        found = []
        for start in range(0, len(data), cut):
            for offset, lines in _lines.lines_of(io.BytesIO(data), start, min(start + cut, len(data))):
                assert data[offset:].startswith(b"".join(lines)) and start <= offset < start + cut
                found += lines
        assert b"".join(found) == data


def test_texts_that_are_not_utf8(spark, tmp_path):
    lines = [b'{"text": "one two three \xff four"}', b'{"text": "ONE two three \xff four"}', b'{"text": null}']
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(lines))
    result = dedup_files(spark, tmp_path / "a.jsonl", tmp_path / "kept")
    assert (result.documents, result.kept) == (3, 2)
    assert (tmp_path / "kept" / "part-00000.jsonl").read_bytes() == b"\n".join(lines[::2]) + b"\n"


def test_ids_are_read_with_the_texts_where_they_are_strings():
    pytest.importorskip("pyarrow")
    lines = [b'{"id": "x", "text": "a"}\n', b'{"text": "b"}\n']
    assert _lines.texts_of(lines, "text", "id").to_pydict() == {"text": ["a", "b"], "id": ["x", None]}
    assert _lines.texts_of([b'{"id": 5, "text": "a"}\n'], "text", "id") is None
    assert [_lines._called(value) for value in ("x", 5, None, [1])] == ["x", "5", None, "[1]"]


@pytest.mark.parametrize(
    "line, message",
    [
        (b"[1]", "a.jsonl:3: not an object"),
        (b'{"text": 5}', "a.jsonl:3: 'text' is a int, not a str"),
        (b'{"body": ""}', "a.jsonl:3: there is no 'text'; there are .'body'"),
        (b'{"text": "', "a.jsonl:3: Unterminated string"),
    ],
)
def test_bad_lines_have_their_place(tmp_path, line, message):
    (tmp_path / "a.jsonl").write_bytes(b'{"text": "a"}\n\n' + line + b"\n")
    sketching = _lines.SketchingLines(neardup.Recipe().text, (str(tmp_path / "a.jsonl"),), ("text",), 0, ())
    pyarrow = pytest.importorskip("pyarrow")
    ranges = pyarrow.record_batch({"range": [0], "file": [0], "start": [0], "stop": [15 + len(line) + 1]})
    with pytest.raises(neardup.InvalidError, match=message):
        list(sketching(iter([ranges])))


def test_what_is_refused(spark, tmp_path):
    file = written(tmp_path / "a.jsonl", [{"text": "a"}])
    with pytest.raises(neardup.UnsupportedError, match="executors read files of JSON Lines"):
        dedup_files(spark, "a.parquet", tmp_path / "kept")
    with pytest.raises(neardup.InvalidError, match="no such file"):
        dedup_files(spark, tmp_path / "b.jsonl", tmp_path / "kept")
    with pytest.raises(neardup.UnsupportedError, match="broder-1997 does not run on Spark"):
        dedup_files(spark, file, tmp_path / "kept", recipe="broder-1997")
    with pytest.raises(neardup.InvalidError, match="partitions"):
        dedup_files(spark, file, tmp_path / "kept", partitions=0)
    (tmp_path / "kept" / "part-00000.jsonl").write_text("")
    with pytest.raises(neardup.InvalidError, match="has survivors already"):
        dedup_files(spark, file, tmp_path / "kept")
