"""Sketch files: the command's bytes, read block by block, and hostile ones."""

from __future__ import annotations

import gzip
import json
import random
import threading

import pytest

import neardup

hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies


def jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def pair(run, command, tmp_path, monkeypatch):
    """The file that the command writes of a file, and that Python writes."""
    monkeypatch.chdir(tmp_path)

    def pair(name, *options, **named):
        import subprocess

        subprocess.run([command, "sketch", name, "-o", "command.sketch", *options], check=True)
        count = neardup.write_sketches(name, "python.sketch", id="id", **named)
        assert count == len(neardup.read_sketches("command.sketch"))
        return (tmp_path / "command.sketch").read_bytes(), (tmp_path / "python.sketch").read_bytes()

    return pair


ODD = (
    '{"id":1,"text":"a b c d"}\n\n{"id":"x","text":"a\\u0000b"}\r\n{"id":null,"text":"q"}\n  \n'
    '{"id":[1, 2],"text":"q"}\n{"id":"","text":"r s t"}\n{"id":1e5,"text":"caf\u00e9 last"}'
)


def test_the_bytes_are_the_commands(pair, records, tmp_path):
    jsonl(tmp_path / "news.jsonl", records)
    (tmp_path / "odd.jsonl").write_bytes(ODD.encode())
    (tmp_path / "mark.jsonl").write_bytes(b"\xef\xbb\xbf" + ODD.encode())
    (tmp_path / "wrong.jsonl").write_bytes(b'{"id":true,"text":"\xff s t"}\n{"id":2,"text":"\xf0\x9f s t"}\n')
    (tmp_path / "rows.csv").write_bytes(b'id,text\n1,"a b\nc d"\n\n"x y",e f g\r\n,none\n7,last')
    (tmp_path / "mark.csv").write_bytes(b'\xef\xbb\xbfid,text\n1,"a ""b""\nc d"\n')
    (tmp_path / "rows.tsv").write_bytes(b"text\tid\na b c d\t5\ne f\tg\n")
    (tmp_path / "empty.jsonl").write_bytes(b'{"text":""}\n')
    for name in ("news.jsonl", "odd.jsonl", "rows.csv"):
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress((tmp_path / name).read_bytes(), mtime=0))
    for path in sorted(tmp_path.glob("*.*")):
        if path.suffix != ".sketch":
            of_command, of_python = pair(path.name)
            assert of_command == of_python, path.name
    of_command, of_python = pair("news.jsonl", "--no-shingles", "-w", "5", shingles=False, set={"shingle": 5})
    assert of_command == of_python
    of_command, of_python = pair("news.jsonl", "--recipe", "manku-2007", recipe="manku-2007", threads=3)
    assert of_command == of_python
    of_command, of_python = pair("news.jsonl", "--threads", "1", threads=1)
    assert of_command == of_python


@pytest.mark.parametrize("recipe", ["default", "manku-2007"])
def test_rows_are_what_the_command_dumps(pair, records, tmp_path, run, command, recipe):
    import subprocess

    jsonl(tmp_path / "news.jsonl", records)
    pair("news.jsonl", "--recipe", recipe, recipe=recipe)
    shingles = ["shingles"] if recipe == "default" else []  # a rule on fingerprints compares none
    dumped = subprocess.run(
        [command, "sketch", "dump", *(["--shingle-hashes"] if shingles else []), "python.sketch"],
        check=True,
        capture_output=True,
    ).stdout.splitlines()
    sketches = neardup.read_sketches(
        "python.sketch", columns=[*neardup.read_sketches("python.sketch").column_names, *shingles]
    )
    assert sketches.info["shingles"] == bool(shingles)
    rows = [row for table in sketches for row in table]
    assert len(rows) == len(dumped) == len(sketches) == sketches.info["documents"]
    for row, line in zip(rows, map(json.loads, dumped)):
        assert (row["id"], row["tokens"], row["text_bytes"]) == (line["id"], line["tokens"], line["bytes"])
        assert (
            row["low"].hex() == line.get("low_bytes", bytes(128).hex()) and f"{row['simhash']:016x}" == line["simhash"]
        )
        assert row["text_hash"][::-1].hex() == line["text_hash"] and f"{row['identity']:016x}" == line["identity"]
        assert row["n_shingles"] == line["shingles"]
        if shingles:
            assert [f"{h:016x}" for h in row["shingles"]] == line["shingle_hashes"]
        assert line["at"] == f"news.jsonl:{row['line']}" and row["source"] == 0
        fingerprint = row["fingerprint"] if "fingerprint" in sketches.column_names else None
        assert fingerprint is None if "fingerprint" not in line or not line["fingerprint"] else fingerprint is not None
    assert sketches.recipe["candidates"] == ("minhash" if shingles else "match")
    assert sketches.info["fingerprint_bits"] == (0 if shingles else 64)
    assert sketches.sources == [
        {"path": "news.jsonl", "entry": None, "bytes_hash": sketches.sources[0]["bytes_hash"], "records": len(rows)}
    ]


def test_frames_of_every_kind_give_the_same_file(tmp_path, records):
    pa = pytest.importorskip("pyarrow")
    columns = {name: [row[name] for row in records] for name in ("id", "text")}
    kinds = [records, pa.table(columns), pa.RecordBatch.from_pydict(columns), iter(records)]
    for i, data in enumerate(kinds):
        assert neardup.write_sketches(data, tmp_path / f"{i}.sketch", id="id", threads=1 + i % 3) == len(records)
    files = {(tmp_path / f"{i}.sketch").read_bytes() for i in range(len(kinds))}
    assert len(files) == 1
    sketches = neardup.read_sketches(tmp_path / "0.sketch")
    assert sketches.sources == [{"path": "-", "entry": None, "bytes_hash": 0, "records": len(records)}]
    assert [n for table in sketches for n in table["line"]] == list(range(1, len(records) + 1))


def test_a_parquet_folder_has_a_source_for_each_file(tmp_path, records):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    columns = {name: [row[name] for row in records] for name in ("id", "text")}
    for i, year in enumerate((2023, 2024)):
        (tmp_path / f"in/year={year}").mkdir(parents=True)
        pyarrow.parquet.write_table(pa.table(columns).slice(700 * i, 700), tmp_path / f"in/year={year}/a.parquet")
    assert neardup.write_sketches(tmp_path / "in", tmp_path / "out.sketch", id="id") == 1400
    sketches = neardup.read_sketches(tmp_path / "out.sketch", columns=["source", "line", "id"])
    assert [source["records"] for source in sketches.sources] == [700, 700]
    assert all(source["bytes_hash"] and source["path"].endswith("a.parquet") for source in sketches.sources)
    rows = [row for table in sketches for row in table]
    assert rows[700] == {"source": 1, "line": 1, "id": "d700"} and rows[699]["line"] == 700


def test_null_rows_are_left_out_or_refused(tmp_path):
    rows = ["one two three", None, "four five"]
    assert neardup.write_sketches(rows, tmp_path / "a.sketch") == 2
    sketches = neardup.read_sketches(tmp_path / "a.sketch", ["line", "id"])
    assert [row for table in sketches for row in table] == [{"line": 1, "id": None}, {"line": 3, "id": None}]
    assert sketches.sources[0]["records"] == 3
    with pytest.raises(neardup.InvalidError, match="row 1: the text is null"):
        neardup.write_sketches(rows, tmp_path / "b.sketch", nulls="raise")
    with pytest.raises(neardup.InvalidError, match="nulls"):
        neardup.write_sketches(rows, tmp_path / "b.sketch", nulls="keep")
    assert not (tmp_path / "b.sketch").exists() and len(list(tmp_path.iterdir())) == 1


def test_nothing_is_written_when_it_fails(tmp_path):
    def rows():
        yield "one two three"
        raise KeyError("no more")

    with pytest.raises(KeyError):
        neardup.write_sketches(rows(), tmp_path / "a.sketch")
    (tmp_path / "bad.jsonl").write_text('{"text":"one"}\nbroken\n')
    with pytest.raises(neardup.InvalidError, match="bad.jsonl:2"):
        neardup.write_sketches(tmp_path / "bad.jsonl", tmp_path / "a.sketch")
    with pytest.raises(neardup.InvalidError, match="input"):
        neardup.write_sketches(tmp_path / "bad.jsonl", tmp_path / "bad.jsonl")
    with pytest.raises(neardup.InvalidError, match="regular file"):
        neardup.write_sketches(["a"], "/dev/null")
    with pytest.raises(neardup.UnsupportedError):
        neardup.write_sketches(tmp_path / "x.docx", tmp_path / "a.sketch")

    def stop(done, all):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        neardup.write_sketches(["one two three"] * 9000, tmp_path / "a.sketch", progress=stop)
    assert [path.name for path in tmp_path.iterdir()] == ["bad.jsonl"]


def test_columns_that_are_not_there_are_refused(tmp_path):
    neardup.write_sketches(["one two three"], tmp_path / "a.sketch", shingles=False)
    for wrong in (["shingles"], ["fingerprint"], ["nix"], "id"):
        with pytest.raises(neardup.InvalidError, match="column"):
            neardup.read_sketches(tmp_path / "a.sketch", wrong)
    assert neardup.read_sketches(tmp_path / "a.sketch", []).column_names == []
    with pytest.raises(OSError, match="missing.sketch"):
        neardup.read_sketches(tmp_path / "missing.sketch")
    (tmp_path / "none").write_text("text")
    with pytest.raises(neardup.Error, match="none: not a sketch file"):
        neardup.read_sketches(tmp_path / "none")


def many(path, n=30_000):
    """A file of several blocks."""
    chance = random.Random(7)
    words = [f"w{i}" for i in range(2000)]
    rows = [{"id": f"d{i}", "text": " ".join(chance.choices(words, k=20))} for i in range(n)]
    neardup.write_sketches(rows, path, id="id")
    return rows


def test_frames_read_blocks_one_by_one(tmp_path):
    pa = pytest.importorskip("pyarrow")
    rows = many(tmp_path / "a.sketch")
    sketches = neardup.read_sketches(tmp_path / "a.sketch", ["id", "low", "text_hash", "shingles", "tokens"])
    assert sketches.info["blocks"] > 2
    reader = pa.RecordBatchReader.from_stream(sketches)
    assert reader.schema.names == sketches.column_names
    assert reader.schema.field("low").type == pa.binary(128) and reader.schema.field("text_hash").type == pa.binary(16)
    assert reader.schema.field("shingles").type == pa.large_list(pa.uint64())
    table = reader.read_all()
    table.validate(full=True)
    assert table.column("id").num_chunks == sketches.info["blocks"]
    assert table.column("id").to_pylist() == [row["id"] for row in rows]
    one = next(iter(sketches))
    assert pa.record_batch(one).column("shingles")[5].as_py() == one["shingles"][5]
    assert list(one["low"].__array__()[3].tobytes()) == list(one["low"][3])
    assert one["shingles"].__array__()[5].tolist() == one["shingles"][5]
    assert one["id"].__array__()[5] == "d5" and len(list(sketches)) == sketches.info["blocks"]
    none = neardup.read_sketches(tmp_path / "a.sketch", [])
    assert sum(len(t) for t in none) == len(rows)


def test_a_damaged_block_is_an_error_where_it_is_read(tmp_path):
    pa = pytest.importorskip("pyarrow")
    many(tmp_path / "a.sketch")
    whole = bytearray((tmp_path / "a.sketch").read_bytes())
    whole[len(whole) // 2] ^= 1
    (tmp_path / "a.sketch").write_bytes(whole)
    sketches = neardup.read_sketches(tmp_path / "a.sketch", ["id", "shingles"])
    tables = iter(sketches)
    assert len(next(tables)) > 1000
    with pytest.raises(neardup.Error, match="a.sketch: the sketch file is damaged"):
        list(tables)
    with pytest.raises(OSError, match="a.sketch: the sketch file is damaged"):
        pa.RecordBatchReader.from_stream(sketches).read_all()


def test_threads_read_one_file(tmp_path):
    rows = many(tmp_path / "a.sketch")
    sketches = neardup.read_sketches(tmp_path / "a.sketch", ["id", "tokens"])
    found: list[int] = []

    def read():
        found.append(sum(n for table in sketches for n in table["tokens"]))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [20 * len(rows)] * 4


def test_wide_fingerprints_are_lists_of_words(tmp_path):
    recipe = neardup.Recipe.parse("[signature wide]\nkind = simhash\nbits = 128\n")
    neardup.write_sketches(["one two three four", "five"], tmp_path / "a.sketch", recipe=recipe)
    sketches = neardup.read_sketches(tmp_path / "a.sketch")
    assert sketches.info["fingerprint_bits"] == 128
    assert all(len(words) == 2 for table in sketches for words in table["fingerprint"])


@pytest.mark.parametrize("recipe", sorted(neardup.shipped_recipes()))
def test_every_signature_has_a_column(tmp_path, recipe):
    rng = random.Random(5)
    words = [f"{rng.choice(['the', 'a', 'market', 'price', 'there', 'is'])} w{rng.randrange(90)}." for _ in range(900)]
    rows = [
        {
            "id": str(i),
            "text": "<p>"
            + " ".join(words[9 * i : 9 * i + 120])
            + "".join(f'<a href="http://h.org/{k}">x</a>' for k in range(20)),
        }
        for i in range(20)
    ]
    rows.append({"id": "none", "text": ""})
    file = tmp_path / "a.sketch"
    made = neardup.Recipe(recipe)
    if recipe in ("code", "framed-pages"):
        made.use_template(neardup.DocumentFrequencies.count(rows, recipe=made, features="sketch"))
    try:
        neardup.write_sketches(rows, file, id="id", recipe=made, df="auto")
    except neardup.InvalidError as error:
        assert "nothing in the recipe needs a df table" in str(error)
        neardup.write_sketches(rows, file, id="id", recipe=made)
    sketches = neardup.read_sketches(file)
    table = next(iter(sketches))
    names = [name for name in sketches.column_names if name.startswith("signature_")]
    several = sketches.info["signatures"]
    if sketches.info["fingerprint_bits"]:
        assert names == [] and len(several) == 1
    else:
        assert names == [f"signature_{name}" for name in several]
    found = 0
    for name, width in zip(names, several.values()):
        for value in table[name][:]:
            assert width == 1 and isinstance(value, int) or value is None or len(value) == (width or len(value))
            found += bool(value)
        assert not table[name][20], "an empty text has no signature"
    # Rows have no links, paths and addresses; of twenty no term is rare enough for some lexicons.
    unsigned = {"dean-henzinger-1999", "joshi-2003", "same-address", "kolcz-2004-mail", "kolcz-2004-web"}
    assert found or not names or recipe in unsigned
    assert len(neardup.read_sketches(file, names[:1]).column_names) == min(len(names), 1)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = tmp_path_factory.mktemp("small") / "a.sketch"
    neardup.write_sketches([{"id": str(i), "text": f"one two three {i} four"} for i in range(40)], path, id="id")
    return path.read_bytes()


@hypothesis.settings(
    max_examples=60, deadline=None, derandomize=True, database=None, suppress_health_check=list(hypothesis.HealthCheck)
)
@hypothesis.given(st.data())
def test_hostile_files_are_refused(small, tmp_path, data):
    """Bytes that are changed, cut off or added: an error that names the file, or the same rows."""
    whole = bytearray(small)
    for _ in range(data.draw(st.integers(0, 3))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    whole = whole[: data.draw(st.integers(0, len(whole)) | st.just(len(whole)))]
    whole += data.draw(st.binary(max_size=20))
    path = tmp_path / "hostile.sketch"
    path.write_bytes(whole)
    try:
        sketches = neardup.read_sketches(path, ["id", "shingles", "low"])
        rows = [row["id"] for table in sketches for row in table]
    except neardup.Error as error:
        assert "hostile.sketch" in str(error)
    else:
        assert rows == [str(i) for i in range(40)]


# ---- Rows against what was seen ----


KEPT = ["site", "score"]


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"threshold": 0.6},
        {"short": "tokens"},
        {"recipe": "manku-2007"},
        {"within": "site"},
        {"never": {"site": ["s1", "s3"]}},
        {"cluster": "complete"},
        {"within": "site", "cluster": "complete", "never": {"score": "7"}},
    ],
    ids=str,
)
def test_only_new_rows_are_removed_as_in_one_call(tmp_path, records, keys):
    old, new = records[:700], records[700:]
    sketched = {"recipe": keys["recipe"]} if "recipe" in keys else {}
    neardup.write_sketches(old[:400], tmp_path / "a.sketch", id="id", fields=KEPT, **sketched)
    neardup.write_sketches(old[400:], tmp_path / "b.sketch", id="id", fields=KEPT[::-1], **sketched)
    whole = neardup.dedup(records, id="id", **keys)
    result = neardup.dedup(new, id="id", against=[tmp_path / "a.sketch", tmp_path / "b.sketch"], **keys)
    assert list(result.kept) == list(whole.kept)[700:]
    expected = {row["id"]: row for row in whole.removed if row["row"] >= 700}
    assert len(result.removed) == len(expected) and any(row["against"] for row in result.removed)
    for row in result.removed:
        other = expected[row["id"]]
        assert (row["row"] + 700, row["kept_id"], row["identical"]) == (
            other["row"],
            other["kept_id"],
            other["identical"],
        )
        assert (row["shared"], row["jaccard"]) == (other["shared"], other["jaccard"]) and row["a"] == other["a"]
        if row["against"]:
            assert row["kept_row"] is None and row["kept_id"] == old[int(row["kept_id"][1:])]["id"]
            place = int(row["kept_id"][1:])
            assert row["against"] == f"-:{place + 1 - (400 if place >= 400 else 0)}"
        else:
            assert row["kept_row"] + 700 == other["kept_row"]
    assert result.summary["rows"] == result.summary["documents"] == len(new)
    assert all(min(cluster) >= 0 and len(cluster) > 1 for cluster in result.clusters)
    assert "kept" in repr(result) and result._repr_html_()


def test_what_cannot_go_against_files_is_refused(tmp_path, records):
    neardup.write_sketches(records[:50], tmp_path / "a.sketch", id="id")
    neardup.write_sketches(records[:50], tmp_path / "bare.sketch", id="id", shingles=False)
    against = tmp_path / "a.sketch"
    for wrong in ({"within": "site"}, {"never": {"site": "s1"}}):
        with pytest.raises(neardup.InvalidError, match=r"a.sketch keeps no field 'site': .* fields=\['site'\]"):
            neardup.dedup(records, against=against, **wrong)
    with pytest.raises(neardup.InvalidError, match="a.sketch: its sketches were made by another recipe: shingle"):
        neardup.dedup(records, against=against, shingle=5)
    with pytest.raises(neardup.InvalidError, match="shingles"):
        neardup.dedup(records, against=tmp_path / "bare.sketch")
    result = neardup.dedup(records[:60], against=against)
    assert list(result.kept)[:50] == [False] * 50
    assert neardup.dedup([], against=against).survivors == []
    assert neardup.dedup([None], against=against).survivors == [None]
