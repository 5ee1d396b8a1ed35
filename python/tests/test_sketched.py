"""Sketch files in place of documents: what Python decides is what it decides about the texts, and the command."""

from __future__ import annotations

import json
import pickle
import subprocess

import pytest
from test_evidence import summaries
from test_files import same_but_for_the_parser, write_lines
from test_pairs import UNSIGNED, with_tables

import neardup

FIELDS = ["--record-field", "score", "--record-field", "site", "--record-field", "date", "--record-length"]
CASES = [
    ({}, []),
    ({"threshold": 0.5}, ["-t", "0.5"]),
    ({"short": "tokens"}, ["--short", "tokens"]),
    ({"keep": "longest"}, ["--keep", "longest"]),
    ({"keep": "shortest"}, ["--keep", "shortest"]),
    ({"keep": "last"}, ["--keep", "last"]),
    ({"keep": "none"}, ["--keep", "none"]),
    ({"keep": "max:score"}, ["--keep", "max:score"]),
    ({"keep": "newest:date"}, ["--keep", "newest:date"]),
    ({"keep": "longest:score"}, ["--keep", "longest:score"]),
    ({"prefer": ("site", ["s3", "s1"])}, ["--prefer", "site=s3,s1"]),
    ({"within": "site"}, ["--within", "site"]),
    ({"never": {"site": ["s2", "s4"]}}, ["--never", "site=s2,s4"]),
    ({"cluster": "complete", "threshold": 0.6}, ["--cluster", "complete", "-t", "0.6"]),
    ({"cluster": "components", "threshold": 0.6}, ["--cluster", "components", "-t", "0.6"]),
    ({"method": "identical"}, ["-m", "identical"]),
    ({"set": {"verify": "containment"}}, ["--verify", "containment"]),
    ({"set": {"verify": "none"}}, ["--verify", "none"]),
    (
        {"keep": "longest", "prefer": ("site", ["s3"]), "within": "score", "never": {"site": "s2"}},
        ["--keep", "longest", "--prefer", "site=s3", "--within", "score", "--never", "site=s2"],
    ),
]


@pytest.fixture
def here(command, tmp_path, monkeypatch, records):
    """A folder that is the current one, with two sketch files of new documents and two of old ones."""
    monkeypatch.chdir(tmp_path)
    for name, some in (("x", records[800:1150]), ("y", records[1150:]), ("a", records[:500]), ("b", records[500:800])):
        write_lines(tmp_path / f"{name}.jsonl", some)
        subprocess.run([command, "sketch", "-q", f"{name}.jsonl", "-o", f"{name}.sketch", *FIELDS], check=True)
    return tmp_path


def outputs(folder, prefix):
    """The bytes of the files that a run wrote."""
    return [(folder / f"{prefix}{name}").read_bytes() for name in ("kept", "rest", "c")]


def run_both(command, folder, data, options, arguments, **way):
    """Run the command and Python over sketch files; compare all that they write, and give Python's result."""
    old = arguments.get("against", ())
    for path in old:
        options = [*options, "--against", path]
    files = ["-o", "kept", "--removed", "rest", "--manifest", "m", "--clusters", "c", "--summary", "s"]
    subprocess.run([command, "dedup", "-q", *data, *files, *options], check=True)
    result = neardup.dedup_files(
        list(data), "p-kept", removed="p-rest", manifest="p-m", clusters="p-c", summary="p-s", nulls="drop",
        **arguments, **way
    )  # fmt: skip
    assert outputs(folder, "p-") == outputs(folder, "")
    assert same_but_for_the_parser((folder / "p-m").read_bytes(), (folder / "m").read_bytes())
    return result


def ids(data):
    return [row["id"] for table in data for row in table]


@pytest.mark.parametrize("arguments, options", CASES, ids=lambda value: str(value))
@pytest.mark.parametrize("old", [(), ("a.sketch", "b.sketch")], ids=["alone", "against"])
def test_what_the_command_writes(command, here, arguments, options, old):
    data = ["x.sketch", "y.sketch"]
    result = run_both(command, here, data, options, {**arguments, "against": old}, threads=2)
    mine, other = summaries((here / "p-s").read_bytes(), (here / "s").read_bytes())
    assert mine == other
    kept = ids(neardup.read_sketches("kept"))
    assert 0 < len(kept) < 700 and result.summary["kept"] == len(kept)
    for way in ({}, {"memory": "64M"}, {"threads": 1}):
        found = neardup.dedup(data, against=old, nulls="drop", **arguments, **way)
        assert ids(found.survivors) == kept
        found.write_manifest("frame-m")
        assert same_but_for_the_parser((here / "frame-m").read_bytes(), (here / "m").read_bytes())
        found.write_clusters("frame-c")
        assert (here / "frame-c").read_bytes() == (here / "c").read_bytes()


def test_what_is_wrong_of_their_survivors_is_said(here):
    for target, options, message in (
        ("kept.jsonl", {}, "name it FILE.sketch"),
        ("kept", {"copies_field": "n"}, "copies_field: x.sketch is a sketch file|copies-field: x.sketch is a sketch"),
        ("kept", {"within": "host"}, "--record-field host"),
    ):
        with pytest.raises(neardup.Error, match=message):
            neardup.dedup_files("x.sketch", target, **options)


@pytest.mark.parametrize("name", sorted(neardup.shipped_recipes()))
@pytest.mark.filterwarnings("ignore:.*what only pages")
def test_every_recipe_over_sketch_files(run, command, tmp_path, monkeypatch, records, name):
    monkeypatch.chdir(tmp_path)
    records = records[:600]
    write_lines(tmp_path / "all.jsonl", records)
    options, recipe, df = with_tables(run, command, tmp_path / "all.jsonl", records, name, tmp_path)
    if df:
        recipe.use_df(neardup.DocumentFrequencies.count(records, recipe=recipe))
    neardup.write_sketches("all.jsonl", "all.sketch", id="id", recipe=recipe)
    # A recipe may prefer others, of which these files keep nothing.
    first = {"keep": "first"}
    run_both(command, tmp_path, ["all.sketch"], ["--recipe", name, "--keep", "first"], {"recipe": name, **first})
    over_texts = neardup.dedup(records, id="id", recipe=recipe, **first)
    expected = [row["id"] for row in over_texts.survivors]
    assert (len(expected) == len(records)) == (name in UNSIGNED)
    for data in ("all.sketch", neardup.read_sketches("all.sketch")):
        for given in (name, recipe):
            for way in ({}, {"memory": "64M"}):
                found = neardup.dedup(data, recipe=given, **way, **first)
                assert ids(found.survivors) == expected == ids(neardup.read_sketches("kept"))
                pairs = [(row["row"], row["kept_row"], row["identical"]) for row in over_texts.removed]
                assert [(row["row"], row["kept_row"], row["identical"]) for row in found.removed] == pairs
    thirds = records[:200], records[200:]
    for path, some in zip(("old.sketch", "new.sketch"), thirds):
        neardup.write_sketches(some, path, id="id", recipe=recipe)
    old = neardup.dedup("old.sketch", recipe=name, **first)
    new = neardup.dedup("new.sketch", recipe=name, against="old.sketch", **first)
    assert ids(old.survivors) + ids(new.survivors) == expected


def test_survivors_are_added_to_the_last_file(command, here):
    (here / "before").write_bytes((here / "b.sketch").read_bytes())
    options = ["--against", "a.sketch", "--against", "b.sketch", "--append"]
    subprocess.run([command, "dedup", "-q", "x.sketch", "y.sketch", "-o", "kept", *options], check=True)
    added = (here / "b.sketch").read_bytes()
    for way in ({}, {"memory": "64M"}):
        (here / "b.sketch").write_bytes((here / "before").read_bytes())
        neardup.dedup_files("[xy].sketch", "mine.sketch", against=["a.sketch", "b.sketch"], append=True, **way)
        assert (here / "b.sketch").read_bytes() == added != (here / "before").read_bytes()
    assert (here / "mine.sketch").read_bytes() == (here / "kept").read_bytes()
    # A file that keeps other fields, in another order, and one that is made.
    for name in ("c.sketch", "d.sketch"):
        for way in ("mine", "the command"):
            if name == "c.sketch":
                neardup.write_sketches("a.jsonl", name, id="id", fields=["nothing", "site"])
            else:
                (here / name).unlink(missing_ok=True)
            if way == "mine":
                neardup.dedup_files("x.sketch", "mine.sketch", against=name, append=True, within="site")
                found = (here / name).read_bytes()
            else:
                options = ["--against", name, "--append", "--within", "site"]
                subprocess.run([command, "dedup", "-q", "x.sketch", "-o", "kept", *options], check=True)
        assert (here / name).read_bytes() == found


def test_only_against(command, here):
    options = ["--only-against", "--verify", "containment-of-kept"]
    arguments = {"only_against": True, "set": {"verify": "containment-of-kept"}, "against": ["a.sketch", "b.sketch"]}
    result = run_both(command, here, ["x.sketch", "y.sketch"], options, arguments)
    assert result.summary["quoted"] == json.loads((here / "s").read_bytes())["quoted"]
    found = neardup.dedup(["x.sketch", "y.sketch"], **arguments)
    assert found.summary["quoted"] == result.summary["quoted"] and result.summary["removed"] == len(found.removed)
    assert {row["kept_row"] for row in found.removed} == {None}


def test_recipes_of_the_files(command, here):
    subprocess.run([command, "sketch", "-q", "x.jsonl", "-o", "m.sketch", "--recipe", "manku-2007"], check=True)
    run_both(command, here, ["m.sketch"], ["--recipe", "manku-2007"], {"recipe": "manku-2007"})
    refused(command, ["m.sketch", "-o", "k.sketch"], neardup.dedup, "m.sketch")
    subprocess.run([command, "sketch", "-q", "x.jsonl", "-o", "w.sketch", "--shingle", "2"], check=True)
    run_both(command, here, ["w.sketch"], ["-t", "0.6"], {"threshold": 0.6})
    with pytest.raises(neardup.InvalidError, match="w.sketch: its sketches were made by another recipe: shingle"):
        neardup.dedup("w.sketch", shingle=4)


def refused(command, arguments, call, *given, **named):
    """The command's message, which Python's call has, too."""
    said = subprocess.run([command, "dedup", *arguments], capture_output=True, text=True)
    assert said.returncode == 2
    message = said.stderr.splitlines()[0].removeprefix("neardup: ")
    with pytest.raises(neardup.Error) as caught:
        call(*given, **named)
    assert str(caught.value) == message
    return message


def test_what_a_file_does_not_keep_is_the_commands_message(command, here):
    neardup.write_sketches("x.jsonl", "plain.sketch", id="id", shingles=False)
    base = ["plain.sketch", "-o", "k.sketch", "--verify", "none"]
    none = {"set": {"verify": "none"}}
    for options, arguments, named in (
        (["--within", "site"], {"within": "site"}, "--record-field site"),
        (["--never", "site=s1"], {"never": {"site": "s1"}}, "--record-field site"),
        (["--prefer", "site=s1"], {"prefer": ("site", ["s1"])}, "--record-field site"),
        (["--keep", "max:score"], {"keep": "max:score"}, "--record-field score"),
        (["--keep", "longest"], {"keep": "longest"}, "--record-length"),
        (["--keep", "longest", "--within", "site"], {"keep": "longest", "within": "site"}, "--record-field site"),
    ):
        files = [*base, *options]
        assert named in refused(command, files, neardup.dedup, "plain.sketch", **arguments, **none)
        assert named in refused(command, files, neardup.dedup, "plain.sketch", **arguments, **none, memory="64M")
        assert named in refused(command, files, neardup.dedup_files, "plain.sketch", "k.sketch", **arguments, **none)
    assert "--no-shingles" in refused(command, ["plain.sketch", "-o", "k.sketch"], neardup.dedup, "plain.sketch")
    both = ["x.sketch", "plain.sketch"]
    refused(command, [*both, "-o", "k.sketch"], neardup.dedup, both)
    neardup.write_sketches("x.jsonl", "other.sketch", id="id", fields=["site"])
    both = ["x.sketch", "other.sketch"]
    refused(command, [*both, "-o", "k.sketch"], neardup.dedup_files, both, "k.sketch")
    assert not (here / "k.sketch").exists()


def test_what_needs_the_documents_is_refused_as_the_command_does(command, here):
    files = ["x.sketch", "-o", "k.jsonl"]
    refused(command, files, neardup.dedup_files, "x.sketch", "k.jsonl")
    files = ["x.sketch", "-o", "k.sketch"]
    refused(command, [*files, "--copies-field", "n"], neardup.dedup_files, "x.sketch", "k.sketch", copies_field="n")
    refused(command, ["x.sketch", "-o", "x.sketch"], neardup.dedup_files, "x.sketch", "x.sketch")
    for data in (["x.sketch", "y.jsonl"], ["y.jsonl", "x.sketch"]):
        refused(command, [*data, "-o", "k.sketch"], neardup.dedup, data)
    with pytest.raises(neardup.InvalidError, match="df auto: x.sketch is a sketch file"):
        neardup.dedup("x.sketch", recipe="seshasai-2009", df="auto")
    with pytest.raises(FileNotFoundError):
        neardup.dedup("nowhere.sketch")
    with pytest.raises(neardup.InvalidError, match="is a directory"):
        neardup.dedup_files("x.sketch", here)
    (here / "cut.sketch").write_bytes((here / "x.sketch").read_bytes()[:5])
    refused(command, ["cut.sketch", "-o", "k.sketch"], neardup.dedup, "cut.sketch")
    damaged = bytearray((here / "x.sketch").read_bytes())
    damaged[len(damaged) // 3] ^= 1
    (here / "bad.sketch").write_bytes(damaged)
    for way in ({}, {"memory": "64M"}):
        with pytest.raises(neardup.Error, match="bad.sketch"):
            neardup.dedup("bad.sketch", **way)


def test_a_result_of_sketch_files(here):
    sketches = [neardup.read_sketches("x.sketch"), neardup.read_sketches("y.sketch")]
    result = neardup.dedup(sketches, keep="longest")
    assert len(result) == 700
    again = pickle.loads(pickle.dumps(result))
    assert [row["id"] for row in again.survivors] == ids(result.survivors)
    assert result.copies[:] == again.copies[:] and sum(result.copies) == 700
    # Survivors are sketch files themselves, as long as somebody has them.
    survivors = result.survivors
    assert len(neardup.dedup(survivors, keep="longest").removed) == 0
    assert len(neardup.dedup(neardup.dedup(sketches, keep="longest").survivors).removed) == 0
    assert survivors.recipe["keep"] == "longest" and survivors.info["fields"] == ["score", "site", "date"]
    assert all(row["kept_id"] for row in result.removed) and repr(result).startswith("<neardup.Result: 700 rows")
    assert [row for table in neardup.dedup(sketches, memory="64M").iter_removed() for row in table] == list(
        neardup.dedup(sketches).removed
    )


def test_open_files_are_a_frame_where_a_column_has_the_text(here):
    pytest.importorskip("pyarrow")
    assert len(neardup.dedup(neardup.read_sketches("x.sketch"), "id", keep="last")) == 350


def test_open_files_are_compared_with_too(here):
    survivors = neardup.dedup(["a.sketch", "b.sketch"]).survivors
    expected = ids(neardup.dedup("x.sketch", against=["a.sketch", "b.sketch"]).survivors)
    for way in ({}, {"memory": "64M"}):
        assert ids(neardup.dedup("x.sketch", against=survivors, **way).survivors) == expected
        found = neardup.dedup("x.jsonl", id="id", against=neardup.dedup(["a.sketch", "b.sketch"]).survivors, **way)
        assert [row["id"] for row in found.survivors] == expected
    neardup.dedup_files("x.jsonl", "k.jsonl", id="id", against=[neardup.read_sketches("a.sketch"), "b.sketch"])
    assert [json.loads(line)["id"] for line in (here / "k.jsonl").read_text().splitlines()] == expected


def test_no_documents(here):
    neardup.write_sketches([], "none.sketch")
    result = neardup.dedup("none.sketch", against="a.sketch")
    assert len(result) == 0 and len(result.survivors) == 0
    neardup.dedup_files("none.sketch", "k.sketch", against="b.sketch", append=True)
    assert len(neardup.read_sketches("k.sketch")) == 0 and len(neardup.read_sketches("b.sketch")) == 300
    write_lines(here / "empty.jsonl", [])
    neardup.dedup_files("empty.jsonl", "k.jsonl", id="id", against="b.sketch", append=True)
    assert len(neardup.read_sketches("b.sketch")) == 300
