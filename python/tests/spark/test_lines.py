"""Deduplication of files that executors read themselves: the lines that one machine keeps."""

from __future__ import annotations

import gzip
import json
import os
import random
import subprocess

import pytest

import neardup
from neardup._command import find_command
from neardup.spark import _dedup, _dedup_files, _lines, _packing, _places, _units, dedup_files

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


def compared(spark, folder, files, rows, partitions=None, **arguments):
    """Check that both remove the same documents; return the result, and the ids that one machine keeps."""
    expected = neardup.dedup(rows, **arguments)
    result = dedup_files(spark, files, folder / "kept", id="id", partitions=partitions, **arguments)
    names = [f"{prefix}id" for prefix in ("", "kept_", "via_")]
    found = sorted(map(tuple, result.manifest.select(*names, *EVIDENCE).collect()))
    ids = [[rows[row[name]]["id"] for name in ("row", "kept_row", "via_row")] for row in expected.removed]
    wanted = [(*some, *(row[name] for name in EVIDENCE)) for some, row in zip(ids, expected.removed)]
    assert found == sorted(wanted)
    kept = [row["id"] for row, is_kept in zip(rows, expected.kept) if is_kept]
    assert (result.documents, result.kept) == (len(rows), len(kept))
    return result, kept


def check(spark, folder, files, rows, partitions=None, **arguments):
    """Check that both make the same of lines."""
    result, kept = compared(spark, folder, files, rows, partitions, **arguments)
    # A line of a file is kept byte for byte, and the parts of a file follow each other.
    parts = sorted((folder / "kept").iterdir())
    assert kept == [json.loads(line)["id"] for part in parts for line in part.read_bytes().splitlines()]
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
    monkeypatch.setattr(_dedup_files, "SMALL_BYTES", 0)
    monkeypatch.setattr(_dedup, "ONE_TASK_BYTES", 0)
    monkeypatch.setattr(_dedup_files, "COLLECTED", 0)
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
    assert [_places.called(value) for value in ("x", 5, None, [1])] == ["x", "5", None, "[1]"]


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
    with pytest.raises(neardup.UnsupportedError, match="executors read files of .jsonl"):
        dedup_files(spark, "a.docx", tmp_path / "kept")
    (tmp_path / "a.parquet").write_bytes(b"")
    with pytest.raises(neardup.UnsupportedError, match="tables and files of lines"):
        dedup_files(spark, [file, tmp_path / "a.parquet"], tmp_path / "kept")
    with pytest.raises(neardup.InvalidError, match="no such file"):
        dedup_files(spark, tmp_path / "b.jsonl", tmp_path / "kept")
    with pytest.raises(neardup.UnsupportedError, match="broder-1997 does not run on Spark"):
        dedup_files(spark, file, tmp_path / "kept", recipe="broder-1997")
    with pytest.raises(neardup.InvalidError, match="partitions"):
        dedup_files(spark, file, tmp_path / "kept", partitions=0)
    (tmp_path / "kept" / "part-00000.jsonl").write_text("")
    with pytest.raises(neardup.InvalidError, match="has survivors already"):
        dedup_files(spark, file, tmp_path / "kept")


# ---- Other files ----


def as_table(rows):
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.table({name: pyarrow.array([row[name] for row in rows]) for name in rows[0]})


def write_as(ending, path, rows):
    """The rows as a file of this kind."""
    import pyarrow.csv
    import pyarrow.feather
    import pyarrow.parquet

    table = as_table(rows)
    if ending == ".parquet":
        pyarrow.parquet.write_table(table, path, row_group_size=70, compression="gzip")
    elif ending == ".arrow":
        with pyarrow.ipc.new_file(path, table.schema) as file:
            file.write_table(table, 70)
    else:
        with pyarrow.output_stream(path, compression="detect") as file:
            if ending.startswith(".csv"):
                pyarrow.csv.write_csv(table, file)
            else:
                file.write(b"".join(json.dumps(row).encode() + b"\n" for row in rows))


def ids_in(path):
    """The ids in a file, in their order."""
    import pyarrow.csv
    import pyarrow.feather
    import pyarrow.parquet

    if path.suffix == ".parquet":
        assert pyarrow.parquet.ParquetFile(path).metadata.row_group(0).column(0).compression == "GZIP"
        return pyarrow.parquet.read_table(path)["id"].to_pylist()
    if path.suffix == ".arrow":
        return pyarrow.ipc.open_file(path).read_all()["id"].to_pylist()
    with pyarrow.input_stream(str(path), compression="detect") as file:
        if ".csv" in path.name:
            return pyarrow.csv.read_csv(file)["id"].to_pylist()
        return [json.loads(line)["id"] for line in file.read().splitlines()]


@pytest.mark.parametrize("ending", [".parquet", ".arrow", ".jsonl.gz", ".jsonl.zst", ".csv.gz"])
def test_other_files_are_deduplicated_as_on_one_machine(spark, records, tmp_path, monkeypatch, ending):
    """Survivors have the format of their file, and its compression."""
    monkeypatch.setattr(_units, "UNIT_BYTES", 40_000)
    monkeypatch.setattr(_packing, "BUCKET", 4)
    monkeypatch.setattr(_packing, "DECIDE_BYTES", 10_000)
    middle = len(records) // 2
    files = [tmp_path / f"{name}{ending}" for name in "ab"]
    write_as(ending, files[0], records[:middle])
    write_as(ending, files[1], records[middle:])
    result, kept = compared(spark, tmp_path, files, records, within="site", keep="max:score", threshold=0.6)
    parts = sorted((tmp_path / "kept").iterdir())
    assert (len(parts) > 4) == (ending == ".parquet") and all(part.name.endswith(ending) for part in parts)
    assert kept == [one for part in parts for one in ids_in(part)]
    row = result.manifest.where(f"file like '%b{ending}'").first()
    assert records[middle + row.offset]["id"] == row.id


def test_units_of_many_tasks(spark, records, tmp_path, monkeypatch):
    monkeypatch.setattr(_units, "UNIT_BYTES", 40_000)
    monkeypatch.setattr(_dedup_files, "SMALL_BYTES", 0)
    monkeypatch.setattr(_dedup, "ONE_TASK_BYTES", 0)
    monkeypatch.setattr(_dedup_files, "COLLECTED", 0)
    write_as(".parquet", tmp_path / "a.parquet", records)
    compared(spark, tmp_path, tmp_path / "a.parquet", records, 3)


def test_what_documents_share_travels_once():
    pyarrow = pytest.importorskip("pyarrow")
    text = " ".join(str(hash((i, "word"))) for i in range(1000))
    table = pyarrow.table({"text": [text] * 50, _packing.COMPONENT: [7] * 50, _dedup.NODE: list(range(50, 0, -1))})
    blobs = list(_packing.packed(table.to_batches(), 10, (_packing.COMPONENT, _dedup.NODE)))
    assert len(blobs) == 1 and len(blobs[0][2]) < 2 * len(text)
    batch = pyarrow.record_batch({"part": [3], "blob": [blobs[0][2]]})
    (found,) = _packing.unpacked(iter([batch]), (_dedup.NODE,))
    assert found.column(_dedup.NODE).to_pylist() == list(range(1, 51))


def test_a_file_that_is_no_parquet(spark, tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    with pytest.raises(neardup.Error, match="a.parquet: "):
        dedup_files(spark, tmp_path / "a.parquet", tmp_path / "kept")


# ---- Web archives ----


def archive(texts):
    """An archive of pages, each record compressed by itself."""
    records = []
    for url, text in texts:
        page = f"<html><head><title>Page</title></head><body><p>{text}</p></body></html>"
        body = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{page}"
        head = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\n"
        head += f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(body)}\r\n\r\n"
        records.append(gzip.compress(f"{head}{body}\r\n\r\n".encode()))
    return b"".join(records)


@pytest.fixture
def with_command(spark):
    """The command, which executors find as that of the package: in a folder of PATH."""
    command = os.environ.get("NEARDUP")
    if not command:
        pytest.skip("NEARDUP, the command to compare with, is not set")
    if not spark.range(1).rdd.map(lambda _: bool(find_command())).first():
        pytest.skip("executors do not find the command")
    return command


def test_web_archives_are_deduplicated_as_by_the_command(spark, records, tmp_path, with_command):
    """Addresses stand twice, as pages are captured again."""
    pages = [(f"http://x.org/{i % 120}", record["text"]) for i, record in enumerate(records[:200])]
    files = [tmp_path / "a.warc.gz", tmp_path / "b.warc.gz"]
    files[0].write_bytes(archive(pages[:100]))
    files[1].write_bytes(archive(pages[100:]))
    words = ["--output-dir", str(tmp_path / "direct"), "--manifest", str(tmp_path / "m.jsonl")]
    subprocess.run([with_command, "dedup", "-q", *map(str, files), *words], check=True)
    with open(tmp_path / "m.jsonl", encoding="utf-8") as file:
        entries = [json.loads(line) for line in file][1:]
    result = dedup_files(spark, files, tmp_path / "kept", id="id")
    found = result.manifest.select("id", "kept_id", "jaccard").collect()
    assert sorted((row.id, row.kept_id) for row in found) == sorted((one["removed"], one["kept"]) for one in entries)
    assert (result.documents, result.documents - result.kept) == (200, len(entries)) and len(entries) > 20
    direct = sorted((tmp_path / "direct").rglob("*.warc.gz"))
    parts = sorted((tmp_path / "kept").iterdir())
    assert [part.name for part in parts] == ["part-00000.warc.gz", "part-00001.warc.gz"]
    assert [part.read_bytes() for part in parts] == [file.read_bytes() for file in direct]


def test_archives_have_two_fields(spark, tmp_path):
    (tmp_path / "a.warc").write_bytes(b"")
    with pytest.raises(neardup.UnsupportedError, match="web archives have no 'site'"):
        dedup_files(spark, tmp_path / "a.warc", tmp_path / "kept", within="site")
