"""Parquet and Arrow files: the command's decisions, and survivors as they were written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from handed_over import main
from test_dedup import CASES

import neardup

pyarrow = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
SHARED = Path(__file__).resolve().parents[2] / ".." / "shared" / "data"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder that is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path, rows, **how):
    path.parent.mkdir(parents=True, exist_ok=True)
    table = rows if isinstance(rows, pyarrow.Table) else pyarrow.Table.from_pylist(rows)
    pq.write_table(table, path, **how)


def left_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def said_by_the_command(command, folder, rows, options):
    """The command over JSON Lines of the rows, in a file of the same name."""
    folder.mkdir()
    (folder / "in.parquet").write_text("".join(json.dumps(row) + "\n" for row in rows))
    files = ["--manifest", "m", "--clusters", "c", "--summary", "s", "-o", "kept"]
    subprocess.run(
        [command, "dedup", "-q", "--format", "jsonl", "in.parquet", *files, *options], cwd=folder, check=True
    )
    return [json.loads(line) for line in (folder / "kept").open()]


def compare_evidence(mine, folder):
    """The files of the two are equal, but for the manifest's first line and what a run takes."""
    head, rest = (mine / "m").read_bytes().split(b"\n", 1)
    expected_head, expected_rest = (folder / "m").read_bytes().split(b"\n", 1)
    assert rest == expected_rest
    head, expected_head = json.loads(head), json.loads(expected_head)
    for one in (head, expected_head):
        del one["html_parser"], one["inputs"], one["options"]["format"]
    assert head == expected_head
    assert (mine / "c").read_bytes() == (folder / "c").read_bytes()
    takes = {
        "bytes",
        "index_bytes",
        "spool_bytes",
        "peak_bytes",
        "seconds",
        "processor_seconds",
        "threads",
        "turns",
        "inputs",
    }
    summary, expected = (json.loads((where / "s").read_text()) for where in (mine, folder))
    assert {k: v for k, v in summary.items() if k not in takes} == {k: v for k, v in expected.items() if k not in takes}


MORE = [
    ({"never": {"site": ["s3", "s5"]}}, ["--never", "site=s3,s5"]),
    ({"never": {"site": "s1"}, "keep": "last"}, ["--never", "site=s1", "--keep", "last"]),
    ({"prefer": ("site", ["s3"]), "within": "score"}, ["--prefer", "site=s3", "--within", "score"]),
]


@pytest.mark.parametrize("arguments, options", CASES + MORE, ids=lambda value: str(value))
def test_decisions_and_evidence_are_the_commands(command, here, records, arguments, options):
    write(here / "in.parquet", records, row_group_size=400)
    expected = said_by_the_command(command, here / "command", records, options)
    for threads in (1, 2, 7):
        result = neardup.dedup_files(
            "in.parquet",
            "out.parquet",
            id="id",
            threads=threads,
            nulls="drop",
            manifest="m",
            clusters="c",
            summary="s",
            **arguments,
        )
        assert pq.read_table("out.parquet").to_pylist() == expected
        compare_evidence(here, here / "command")
        assert result.outputs == ["out.parquet"] and result.summary["kept"] == len(expected)
    assert main(["dedup", "-q", "in.parquet", "-o", "out.parquet", "--removed", "gone.parquet", *options]) == 0
    assert pq.read_table("out.parquet").to_pylist() == expected
    assert len(pq.read_table("gone.parquet")) == len(records) - len(expected)


@pytest.mark.parametrize("name", ["reuters21578", "enron-spam", "ota-small", "bible-chapters"])
def test_shared_corpora_are_decided_as_the_command_decides(command, here, name):
    paths = sorted((SHARED / name).glob("*.jsonl*")) if SHARED.is_dir() else []
    if not paths:
        pytest.skip(f"../shared/data has no {name} of JSON Lines")
    rows = shared_rows(paths, None if os.environ.get("NEARDUP_NIGHTLY") else 3000)
    write(here / "in.parquet", rows, row_group_size=1000, compression="zstd")
    expected = said_by_the_command(command, here / "command", rows, [])
    neardup.dedup_files("in.parquet", "out.parquet", id="id", nulls="drop", manifest="m", clusters="c", summary="s")
    assert pq.read_table("out.parquet").to_pylist() == expected
    compare_evidence(here, here / "command")


def shared_rows(paths, limit):
    """Ids and texts of the first records."""
    rows = []
    for path in paths:
        raw = pyarrow.input_stream(str(path), compression="detect") if path.suffix != ".jsonl" else path.open("rb")
        with raw as file:
            for line in file.read().splitlines():
                record = json.loads(line)
                if isinstance(record.get("text"), str):
                    rows.append({"id": str(record.get("id", len(rows))), "text": record["text"]})
                if limit and len(rows) == limit:
                    return rows
    return rows


# ---- Survivors are as they were ----


def test_schema_metadata_compression_and_row_groups_are_kept(here, records):
    table = pyarrow.table(
        {
            "id": pyarrow.array(range(len(records)), pyarrow.uint32()),
            "text": pyarrow.array([r["text"] for r in records], pyarrow.large_string()),
            "site": pyarrow.array([r["site"] for r in records]).dictionary_encode(),
            "at": pyarrow.array([i * 1000 for i in range(len(records))], pyarrow.timestamp("ms", "UTC")),
            "tags": pyarrow.array([[{"k": "a", "v": i}] * (i % 3) for i in range(len(records))]),
            "view": pyarrow.array([r["text"][:20] for r in records], pyarrow.string_view()),
        }
    )
    fields = [table.schema.field(i).with_metadata({"note": "kept"}) for i in range(len(table.schema))]
    table = table.cast(pyarrow.schema(fields, {"huggingface": "{}", "own": "x"}))
    how = {"id": "snappy", "text": "zstd", "site": "gzip", "at": "none", "view": "snappy"}
    how |= {"tags.list.element.k": "zstd", "tags.list.element.v": "none"}
    write(here / "in.parquet", table, row_group_size=400, compression=how, use_dictionary=["site"])
    result = neardup.dedup_files("in.parquet", "out.parquet", id="id", keep="longest")
    kept = neardup.dedup([r["text"] for r in records], keep="longest").kept
    expected = [row for row, is_kept in zip(table.to_pylist(), kept) if is_kept]
    got = pq.read_table("out.parquet")
    assert got.schema.equals(pq.read_schema("in.parquet"), check_metadata=True)
    assert got.to_pylist() == expected and result.summary["kept"] == len(got)
    before, after = (pq.ParquetFile(name).metadata for name in ("in.parquet", "out.parquet"))
    assert after.num_row_groups == before.num_row_groups == 4
    assert [after.row_group(i).num_rows for i in range(4)] == [sum(kept[i : i + 400]) for i in range(0, 1600, 400)]
    for i in range(before.num_columns):
        old, new = before.row_group(0).column(i), after.row_group(0).column(i)
        assert (old.path_in_schema, old.compression) == (new.path_in_schema, new.compression)
        assert old.has_dictionary_page == new.has_dictionary_page
    assert {k for k in before.metadata if k != b"ARROW:schema"} <= set(after.metadata)


def test_a_pandas_index_and_a_data_set_of_huggingface_survive(here, records):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(records[:300]).set_index("id")
    frame.to_parquet("in.parquet")
    neardup.dedup_files("in.parquet", "out.parquet", id="id")
    expected = neardup.dedup([r["text"] for r in records[:300]]).kept
    pandas.testing.assert_frame_equal(pandas.read_parquet("out.parquet"), frame[list(expected)])
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_list(records[:300])
    data.to_parquet("hf.parquet")
    neardup.dedup_files("hf.parquet", "hf2.parquet")
    assert datasets.Dataset.from_parquet("hf2.parquet", cache_dir=str(here / "c")).features == data.features


def test_a_partitioned_data_set_stays_one(here, records):
    parts = {"year=2024/part-0.parquet": records[:500], "year=2025/b=x%20y/part-0.parquet": records[500:900]}
    for name, rows in parts.items():
        write(here / "in" / name, rows)
    (here / "in" / "_SUCCESS").write_text("")
    neardup.dedup_files("in", "out", id="id", within="year", manifest="m", clusters="c")
    assert left_in(here / "out") == sorted(parts)
    rows = [{**row, "year": name[5:9]} for name, some in parts.items() for row in some]
    expected = [row["id"] for row in neardup.dedup(rows, within="year").survivors]
    assert [row["id"] for name in parts for row in pq.ParquetFile(here / "out" / name).read().to_pylist()] == expected
    places = [json.loads(line)["removed_at"] for line in (here / "m").open() if "removed_at" in line]
    assert places[0].startswith("in/year=2024/part-0.parquet:")


def test_batches_and_row_groups_do_not_change_the_result(here, records, monkeypatch):
    expected = neardup.dedup(records).survivors
    for size, rows in ((1 << 10, 7), (1 << 12, 5000)):
        monkeypatch.setattr("neardup._sources._BATCH_BYTES", size)
        monkeypatch.setattr("neardup._sources._GROUP_BYTES", size)
        write(here / "in.parquet", records, row_group_size=rows)
        for keep in ("first", "last"):
            neardup.dedup_files("in.parquet", "out.parquet", keep=keep, manifest=f"m{keep}")
            if keep == "first":
                assert pq.read_table("out.parquet").to_pylist() == expected
    assert pq.read_table("out.parquet").to_pylist() == neardup.dedup(records, keep="last").survivors


@pytest.mark.parametrize("is_file", [True, False])
def test_arrow_files_and_streams_stay_what_they_are(here, records, is_file):
    table = pyarrow.Table.from_pylist(records).replace_schema_metadata({"own": "x"})
    new = pyarrow.ipc.new_file if is_file else pyarrow.ipc.new_stream
    with new("in.arrow", table.schema) as writer:
        writer.write_table(table, max_chunksize=333)
    neardup.dedup_files("in.arrow", "out.arrow", removed="gone.arrow", id="id")
    opened = pyarrow.ipc.open_file if is_file else pyarrow.ipc.open_stream
    got = opened(pyarrow.OSFile("out.arrow")).read_all()
    assert got.schema.equals(table.schema, check_metadata=True)
    assert got.to_pylist() == neardup.dedup(records).survivors
    assert len(got) + len(opened(pyarrow.OSFile("gone.arrow")).read_all()) == len(table)


# ---- Unusual input ----


@pytest.mark.parametrize(
    "kind", ["string", "large_string", "string_view", "binary", "large_binary", "dictionary", "large_dictionary"]
)
def test_columns_of_every_kind_of_text_are_read(here, records, kind):
    texts = pyarrow.array([None if i % 17 == 3 else r["text"] for i, r in enumerate(records)])
    if "dictionary" in kind:
        texts = texts.cast(pyarrow.large_string() if "large" in kind else pyarrow.string()).dictionary_encode()
    else:
        texts = texts.cast(getattr(pyarrow, kind)())
    write(here / "in.parquet", pyarrow.table({"text": texts}), row_group_size=300)
    neardup.dedup_files("in.parquet", "out.parquet")
    got = pq.read_table("out.parquet")
    assert got.schema == pq.read_schema("in.parquet")
    assert got["text"].to_pylist() == neardup.dedup(texts).survivors.to_pylist()


def test_empty_files_and_files_without_row_groups(here):
    schema = pyarrow.schema([("id", pyarrow.int64()), ("text", pyarrow.string())])
    pq.ParquetWriter("none.parquet", schema).close()
    write(here / "empty.parquet", schema.empty_table())
    for name in ("none", "empty"):
        for keep in ("first", "last"):
            neardup.dedup_files(f"{name}.parquet", "out.parquet", id="id", keep=keep, manifest="m", clusters="c")
            assert pq.read_table("out.parquet").schema == schema and len(pq.read_table("out.parquet")) == 0
            assert (here / "c").read_bytes() == b"" and (here / "m").read_bytes().count(b"\n") == 1


def test_rows_without_a_text_are_kept_left_out_or_refused(here, records, capsys):
    rows = [{**r, "text": None if i in (5, 1200) else r["text"]} for i, r in enumerate(records)]
    write(here / "in.parquet", rows, row_group_size=500)
    neardup.dedup_files("in.parquet", "keep.parquet")
    assert pq.read_table("keep.parquet").to_pylist() == neardup.dedup(rows).survivors
    for keep in ("first", "last"):
        result = neardup.dedup_files("in.parquet", "drop.parquet", nulls="drop", keep=keep, manifest="m", id="id")
        assert pq.read_table("drop.parquet").to_pylist() == neardup.dedup(rows, nulls="drop", keep=keep).survivors
        assert '{"skipped":"in.parquet:1201","reason":"text is null"}\n' in (here / "m").read_text()
        assert result.left_out == ["in.parquet:6: text is null", "in.parquet:1201: text is null"]
    with pytest.raises(neardup.InvalidError, match="in.parquet:6: text is null"):
        neardup.dedup_files("in.parquet", "raise.parquet", nulls="raise")
    assert not (here / "raise.parquet").exists()
    assert main(["dedup", "-q", "in.parquet", "-o", "main.parquet"]) == 3
    assert capsys.readouterr().err.splitlines()[-1] == "neardup: done, but 2 bad records were left out"


def test_ids_of_every_kind_and_repeated_ones(command, here, records):
    values = [1, 2, 2, -3, 2**40]
    rows = [{"id": values[i % 5], "text": r["text"]} for i, r in enumerate(records[:200])]
    write(here / "in.parquet", rows)
    said_by_the_command(command, here / "command", rows, [])
    result = neardup.dedup_files(
        "in.parquet", "out.parquet", id="id", nulls="drop", manifest="m", clusters="c", summary="s"
    )
    (here / "s").write_text((here / "s").read_text().replace('"warnings":1', f'"warnings":{warnings(here)}'))
    compare_evidence(here, here / "command")
    assert result.warnings == [
        f"in.parquet:3: the id '2' appeared before; {result.summary['double_ids']} documents repeat an earlier id"
    ]


def warnings(here):
    return json.loads((here / "command" / "s").read_text())["warnings"]


def test_bytes_that_are_not_utf8_are_repaired(here):
    texts = pyarrow.array([b"one two three \xff four", b"one two three \xfe four", b"one two three \xff four"])
    write(here / "in.parquet", pyarrow.table({"text": texts}))
    result = neardup.dedup_files("in.parquet", "out.parquet", method="identical")
    assert pq.read_table("out.parquet")["text"].to_pylist() == texts.to_pylist()[:2]
    assert result.summary["repaired_sequences"] == 3 and "3 of 3 documents are not valid UTF-8" in result.warnings[0]


@pytest.mark.parametrize("cut", [0, 3, 100, -1, -9, "middle"])
def test_a_file_that_ends_early_or_is_damaged_leaves_nothing(here, records, cut):
    write(here / "in.parquet", records, compression="snappy")
    data = bytearray((here / "in.parquet").read_bytes())
    if cut == "middle":
        data[200:1200] = os.urandom(1000)
    else:
        data = data[:cut]
    (here / "in.parquet").write_bytes(data)
    with pytest.raises((neardup.Error, OSError), match="in.parquet: "):
        neardup.dedup_files("in.parquet", "out.parquet", manifest="m", id="id")
    assert left_in(here) == ["in.parquet"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"text": "body"}, r"in.parquet: there is no column 'body'; there are \['id', 'text', 'tags', 'size'\]"),
        ({"within": "site"}, "in.parquet: there is no column 'site'"),
        ({"text": "size"}, "in.parquet: column 'size' holds list, whose items are neither texts nor integers"),
        ({"text": "id"}, "in.parquet: column 'id' holds int64, not text"),
        ({"id": "tags"}, "in.parquet: column 'tags' holds list, which cannot be read"),
        ({"target": "out.jsonl"}, "out.jsonl: survivors stay parquet, and the name is that of jsonl"),
        ({"target": "in.parquet", "manifest": "in.parquet"}, "two outputs|is an input"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_wrong_is_said(here, arguments, message):
    write(here / "in.parquet", [{"id": 1, "text": "one two three", "tags": ["a"], "size": [1.5]}])
    with pytest.raises(neardup.InvalidError, match=message):
        neardup.dedup_files("in.parquet", **{"target": "out.parquet", **arguments})
    assert left_in(here) == ["in.parquet"]


def test_pyarrow_is_named_where_it_is_missing(here):
    write(here / "in.parquet", [{"text": "one two three"}])
    script = "import sys; sys.modules['pyarrow'] = None; import neardup._tables as m; sys.exit(m.main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", script, "--output=out.parquet", "--", "in.parquet"], capture_output=True, text=True
    )
    assert done.returncode == 2 and "in.parquet: reading it needs pyarrow: pip install pyarrow" in done.stderr


def test_memory_stays_bounded(here):
    """Texts of 200 MB, of which a run holds little."""
    chunk = pyarrow.table({"text": [f"{i} " * 1000 for i in range(1000)]})
    with pq.ParquetWriter("in.parquet", chunk.schema) as writer:
        for k in range(40):
            texts = [f"{k * 1000 + i} " * 1000 for i in range(1000)]
            writer.write_table(pyarrow.table({"text": texts}), row_group_size=1000)
    script = (
        "import sys, neardup; neardup.dedup_files('in.parquet', 'out.parquet', keep=sys.argv[1], hold='64M'); "
        "print(*(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    )
    for keep in ("first", "longest"):
        done = subprocess.run([sys.executable, "-P", "-c", script, keep], capture_output=True, text=True, check=True)
        assert int(done.stdout) < 400 << 10


def test_what_is_held_changes_nothing_and_is_decoded_once(here, records, monkeypatch):
    write(here / "in.parquet", records, row_group_size=300)
    groups = pq.ParquetFile("in.parquet").num_row_groups
    decoded = []
    plain = pq.ParquetFile.iter_batches

    def count(file, *args, **options):
        decoded.append(options["row_groups"])
        return plain(file, *args, **options)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", count)
    written = set()
    for hold, times in (("1G", groups), (0, 2 * groups), (None, groups)):
        decoded.clear()
        neardup.dedup_files("in.parquet", "out.parquet", removed="gone.parquet", hold=hold)
        assert len(decoded) == times
        written.add((here / "out.parquet").read_bytes() + (here / "gone.parquet").read_bytes())
    decoded.clear()
    neardup.dedup_files("in.parquet", "out.parquet", removed="gone.parquet", hold="200k")
    assert groups < len(decoded) < 2 * groups
    written.add((here / "out.parquet").read_bytes() + (here / "gone.parquet").read_bytes())
    assert len(written) == 1
    with pytest.raises(neardup.InvalidError, match="hold"):
        neardup.dedup_files("in.parquet", "out.parquet", hold="much")
