"""Whole clusters removed, and the size of clusters beside survivors: as the command does, in every form."""

from __future__ import annotations

import csv
import json
import pickle
import subprocess

import pytest
from handed_over import main
from test_files import same_but_for_the_parser, write_lines

import neardup

CASES = [
    ({}, []),
    ({"cluster": "components", "threshold": 0.6}, ["--cluster", "components", "-t", "0.6"]),
    ({"cluster": "complete"}, ["--cluster", "complete"]),
    ({"within": "site"}, ["--within", "site"]),
    ({"never": {"site": "s2"}}, ["--never", "site=s2"]),
    ({"recipe": "broder-1997"}, ["--recipe", "broder-1997"]),
    ({"against": "old.sketch"}, ["--against", "old.sketch"]),
]


@pytest.fixture
def here(command, tmp_path, monkeypatch, records):
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "in.jsonl", records)
    write_lines(tmp_path / "old.jsonl", [{**record, "id": f"old {record['id']}"} for record in records[:90:3]])
    subprocess.run([command, "sketch", "-q", "old.jsonl", "-o", "old.sketch"], check=True)
    return tmp_path


def of_command(command, here, *options):
    files = ["-o", "kept", "--manifest", "m", "--clusters", "c", "--summary", "s"]
    subprocess.run([command, "dedup", "-q", "in.jsonl", *files, *options], check=True)
    return {name: (here / name).read_bytes() for name in ("kept", "m", "c", "s")}


def ways(arguments):
    return ({}, {"memory": "64M"}) if "against" not in arguments else ({},)


def data_of(records):
    """Rows in every kind that needs no other package, and how often each can be read."""
    yield records
    yield (record for record in records)
    yield "in.jsonl"


@pytest.mark.parametrize("arguments, options", CASES, ids=lambda value: str(value))
def test_all_of_a_cluster_is_removed_as_by_the_command(command, here, records, arguments, options):
    expected = of_command(command, here, "--keep", "none", *options)
    kept = [json.loads(line)["id"] for line in expected["kept"].splitlines()]
    rows = [json.loads(line) for line in expected["m"].splitlines()[1:]]
    leaders = [row["removed"] for row in rows if row["kept"] is None]
    counts = json.loads(expected["s"])
    assert kept and leaders
    for way in ways(arguments):
        for data in data_of(records):
            result = neardup.dedup(data, id="id", keep="none", **arguments, **way)
            assert [row["id"] for row in result.survivors] == kept
            assert list(result.removed["id"]) == [row["removed"] for row in rows]
            assert list(result.removed["kept_id"]) == [row["kept"] for row in rows]
            assert list(result.removed["identical"]) == [row.get("identical") for row in rows]
            alone = [row for row in result.removed if row["kept_id"] is None]
            assert [row["id"] for row in alone] == leaders
            assert all(row[key] is None for row in alone for key in ("kept_row", "jaccard", "a", "b", "via_row"))
            assert result.copies[:] == [1] * len(kept)
            assert all(members[0] < len(records) for members in result.clusters)
            own = result.summary
            assert (own["removed"], own["near"]) == (counts["removed"], counts["near"])
        files = {"manifest": "m", "clusters": "c", "summary": "s"}
        neardup.dedup_files("in.jsonl", "mine", id="id", nulls="drop", keep="none", **files, **arguments, **way)
        assert (here / "mine").read_bytes() == expected["kept"]
        assert same_but_for_the_parser((here / "m").read_bytes(), expected["m"])
        assert (here / "c").read_bytes() == expected["c"]
        mine = json.loads((here / "s").read_bytes())
        assert all(mine[key] == counts[key] for key in ("kept", "removed", "near", "clusters", "largest_clusters"))
    assert main(["dedup", "-q", "in.jsonl", "-o", "mine", "--keep", "none", *options]) == 0
    assert (here / "mine").read_bytes() == expected["kept"]


@pytest.mark.parametrize("arguments, options", CASES, ids=lambda value: str(value))
@pytest.mark.parametrize("keep", ["first", "longest", "none"])
def test_each_survivor_says_how_many_its_cluster_has(command, here, records, arguments, options, keep):
    expected = of_command(command, here, "--keep", keep, "--copies-field", "n", *options)
    copies = [json.loads(line)["n"] for line in expected["kept"].splitlines()]
    assert (max(copies) > 2) == (keep != "none")
    for way in ways(arguments):
        for data in data_of(records):
            result = neardup.dedup(data, keep=keep, **arguments, **way)
            assert result.copies[:] == copies
        assert pickle.loads(pickle.dumps(result)).copies[:] == copies
        neardup.dedup_files(
            "in.jsonl", "mine", id="id", keep=keep, copies_field="n", nulls="drop", removed="gone", **arguments, **way
        )
        assert (here / "mine").read_bytes() == expected["kept"]
        assert b'"n":' not in (here / "gone").read_bytes()
    assert main(["dedup", "-q", "in.jsonl", "-o", "mine", "--keep", keep, "--copies-field", "n", *options]) == 0
    assert (here / "mine").read_bytes() == expected["kept"]


def test_rows_without_a_text_are_clusters_of_their_own(here):
    rows = [{"text": None}, {"text": "a b c"}, {"text": None}, {"text": "a b c"}]
    assert neardup.dedup(rows).copies[:] == [1, 2, 1]
    assert neardup.dedup(rows, nulls="drop").copies[:] == [2]
    assert neardup.dedup(rows, keep="none").copies[:] == [1, 1]
    write_lines(here / "rows.jsonl", rows)
    neardup.dedup_files("rows.jsonl", "mine.jsonl", copies_field="n")
    assert [json.loads(line)["n"] for line in (here / "mine.jsonl").read_text().splitlines()] == [1, 2, 1]


def test_a_batch_of_a_stream_counts_no_copies():
    deduper = neardup.Deduper()
    result = deduper.push(["a b c d", "a b c d"])
    with pytest.raises(neardup.UnsupportedError, match="later batches of a stream may have more of a cluster"):
        _ = result.copies
    assert pickle.loads(pickle.dumps(result)).survivors == ["a b c d"]
    with pytest.raises(neardup.InvalidError, match="a stream keeps the first document of each cluster"):
        neardup.Deduper(set={"keep": "none"})


def test_what_goes_not_with_none_is_refused(here):
    for arguments in ({"against": "seen.sketch", "append": True},):
        with pytest.raises(neardup.InvalidError, match="append does not go with keep none"):
            neardup.dedup_files("in.jsonl", "out.jsonl", keep="none", **arguments)
    with pytest.raises(neardup.InvalidError, match="none would show no result of a cluster"):
        neardup.collapse(["a b c"], keep="none")
    with pytest.raises(neardup.InvalidError, match="order: 'none' is not one of rank"):
        neardup.collapse(["a b c"], order="none")


def test_lines_get_the_field_at_their_end(here):
    (here / "odd.jsonl").write_bytes(
        b'\xef\xbb\xbf{"text":"one two three"}\n\n {"text":"one two three" }\r\n{"text":"four five", "m":{"n":1}}'
    )
    neardup.dedup_files("odd.jsonl", "out.jsonl", copies_field='a "b"\u00e9')
    assert (here / "out.jsonl").read_bytes() == (
        b'\xef\xbb\xbf{"text":"one two three","a \\"b\\"\xc3\xa9":2}\n'
        b'{"text":"four five", "m":{"n":1},"a \\"b\\"\xc3\xa9":1}'
    )
    for name, delimiter in (("in.csv", ","), ("in.tsv", "\t")):
        with open(name, "w", newline="") as file:
            csv.writer(file, delimiter=delimiter).writerows([["text", "k"], ["a b c", "1"], ["a b c", 'x"\t,y']])
        neardup.dedup_files(name, f"out.{name}", copies_field='n,\t"', keep="last")
        with open(f"out.{name}", newline="") as file:
            assert list(csv.reader(file, delimiter=delimiter)) == [["text", "k", 'n,\t"'], ["a b c", 'x"\t,y', "2"]]


def test_a_field_that_is_there_is_refused_with_its_place(here):
    for name, text, place in (
        ("a.jsonl", '{"text":"a"}\n\n{"text":"b","\\u006e":null}\n', "a.jsonl:3: there is a field 'n' already"),
        ("a.csv", "text,n\na,1\n", "a.csv:1: there is a column 'n' already"),
        ("a.tsv", "n\ttext\n1\ta\n", "a.tsv:1: there is a column 'n' already"),
    ):
        (here / name).write_text(text)
        with pytest.raises(neardup.InvalidError, match=place):
            neardup.dedup_files(name, f"out.{name}", copies_field="n")
        assert not (here / f"out.{name}").exists()
    with pytest.raises(neardup.InvalidError, match="copies_field must not be empty"):
        neardup.dedup_files("a.jsonl", "out.jsonl", copies_field="")
    # Survivors with a field more are not what was read of the input.
    with pytest.raises(neardup.InvalidError, match=r"'in\.jsonl' is an input and would be overwritten"):
        neardup.dedup_files("in.jsonl", "in.jsonl", copies_field="n", force=True)


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_tables_get_a_column(here, records, kind):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    folder = here / "in"
    folder.mkdir()
    for i in range(3):
        table = pyarrow.Table.from_pylist(records[i * 500 : (i + 1) * 500]).replace_schema_metadata({"k": "v"})
        if kind == "parquet":
            parquet.write_table(table, folder / f"{i}.parquet", row_group_size=170, compression="zstd")
        else:
            with pyarrow.ipc.new_file(folder / f"{i}.arrow", table.schema) as writer:
                writer.write_table(table, 170)

    def read(path):
        return parquet.read_table(path) if kind == "parquet" else pyarrow.ipc.open_file(path).read_all()

    expected = neardup.dedup(records, keep="longest")
    for number, way in enumerate(({}, {"memory": "64M"}, {"hold": 0})):
        out = here / f"out{number}"
        neardup.dedup_files("in", out, keep="longest", copies_field="n", removed=here / f"gone{number}", **way)
        tables = [read(out / f"{i}.{kind}") for i in range(3)]
        assert [v for table in tables for v in table["n"].to_pylist()] == expected.copies[:]
        assert [v for table in tables for v in table["id"].to_pylist()] == [row["id"] for row in expected.survivors]
        assert all(table.schema.metadata[b"k"] == b"v" for table in tables)
        assert tables[0].schema.field("n").type == pyarrow.int64()
        assert "n" not in read(here / f"gone{number}" / f"0.{kind}").schema.names
    with pytest.raises(neardup.InvalidError, match=f"in/0.{kind}: there is a column 'site' already"):
        neardup.dedup_files("in", "other", copies_field="site")


def test_frames_have_the_ids_of_rows_that_stood_for_a_cluster(records):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(records)
    expected = neardup.dedup(records, id="id", keep="none")
    result = neardup.dedup(frame, id="id", keep="none")
    assert list(result.removed["kept_id"]) == list(expected.removed["kept_id"])
    assert polars.DataFrame(result.removed)["kept_row"].null_count() > 0
    first = neardup.dedup(frame)
    counted = first.survivors.with_columns(copies=first.copies.to_polars())
    assert counted["copies"].sum() == len(frame)
    assert "Largest" in result._repr_html_() or "<div" in result._repr_html_()


def test_scikit_learn_and_polars_call_a_row_of_no_other_by_itself():
    polars = pytest.importorskip("polars")
    sklearn = pytest.importorskip("neardup.sklearn")
    pytest.importorskip("neardup.polars")
    texts = ["e f g h", "a b c d", "a b c d"]
    found = sklearn.NearDuplicates(keep="none").fit(texts)
    assert found.kept_.tolist() == [True, False, False] and found.duplicate_of_.tolist() == [0, 1, 1]
    frame = polars.DataFrame({"text": texts})
    assert frame.select(polars.col("text").neardup.cluster(keep="none"))["text"].to_list() == [0, 1, 1]
