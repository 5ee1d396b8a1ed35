"""A stream against prototypes, and ranked lists: the command's answers on frames in memory."""

from __future__ import annotations

import json
import subprocess

import pytest

import neardup


@pytest.fixture(scope="module")
def files(tmp_path_factory, records):
    folder = tmp_path_factory.mktemp("corpus")
    for name, some in (("all", records), ("known", records[:600]), ("new", records[600:])):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in some))
    return folder


CASES = [
    ({}, []),
    ({"threshold": 0.5, "shingle": 2}, ["-t", "0.5", "-w", "2"]),
    ({"method": "simhash"}, ["-m", "simhash"]),
    ({"method": "identical", "short": "tokens"}, ["-m", "identical", "--short", "tokens"]),
    ({"never": {"site": ["s1", "s4"]}}, ["--never", "site=s1,s4"]),
    ({"recipe": "manku-2007"}, ["--recipe", "manku-2007"]),
    ({"recipe": "henzinger-2006-combined"}, ["--recipe", "henzinger-2006-combined"]),
    ({"set": {"max_checks": 2}, "threshold": 0.3}, ["--set", "max_checks=2", "-t", "0.3"]),
]


def output(command, *args):
    done = subprocess.run([command, *map(str, args)], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("arguments, options", CASES, ids=lambda value: str(value))
def test_the_command_catches_the_same(command, files, records, arguments, options):
    rows = output(command, "filter", "-q", "-p", files / "known.jsonl", "--annotate", *options, files / "new.jsonl")
    expected = [
        {
            "id": row["id"],
            "prototype": row["prototype"],
            "prototypes": row["prototypes"],
            "resemblance": row.get("resemblance"),
            "shared": row.get("shared"),
            "shingles": row.get("shingles"),
            "hamming": row.get("hamming"),
        }
        for row in rows
        if row["match"]
    ]
    known, new = records[:600], records[600:]
    for threads in (1, 3):
        found = neardup.filter(new, known, id="id", prototype_id="id", threads=threads, **arguments)
        assert [
            {
                "id": row["id"],
                "prototype": row["prototype_id"],
                "prototypes": row["prototypes"],
                "resemblance": row["jaccard"],
                "shared": row["shared"],
                "shingles": row["a"],
                "hamming": row["distance"],
            }
            for row in found.table
        ] == expected
        assert list(found.matches) == [row["match"] for row in rows]
        assert [record["id"] for record in found.caught] == [row["id"] for row in rows if row["match"]]
        assert [record["id"] for record in found.others] == [row["id"] for row in rows if not row["match"]]
        assert all(known[row["prototype_row"]]["id"] == row["prototype_id"] for row in found.table)


def test_a_filter_takes_a_df_table(records):
    table = neardup.DocumentFrequencies.count(records, recipe="kolcz-2004-mail")
    found = neardup.filter(records[600:], records[:600], recipe="kolcz-2004-mail", df=table)
    assert 0 < len(found.table) < len(found.matches)


def test_filtered_frames_stay_of_their_kind(records):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.Table.from_pylist(records[600:])
    found = neardup.filter(table, records[:600])
    assert found.caught.num_rows + found.others.num_rows == table.num_rows
    assert pyarrow.record_batch(found.table).num_rows == found.caught.num_rows


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"prototypes": []}, "there is no prototype"),
        ({"prototypes": ["a b c"], "recipe": "seshasai-2009"}, "needs a df table"),
        ({"prototypes": ["a b c"], "id": "absent"}, "there is no column 'absent'"),
    ],
    ids=str,
)
def test_what_is_wrong_with_a_filter_is_said(arguments, message):
    with pytest.raises((neardup.Error, TypeError), match=message):
        neardup.filter(["one two three"], **arguments)


ORDERS = [
    ({}, []),
    ({"keep": "longest", "threshold": 0.6}, ["-k", "longest", "-t", "0.6"]),
    ({"keep": "newest:date", "order": "newest:date"}, ["-k", "newest:date", "--order", "newest:date"]),
    ({"keep": "last"}, ["-k", "last"]),
    ({"keep": "max:score", "order": "min:score"}, ["-k", "max:score", "--order", "min:score"]),
    ({"order": "last"}, ["--order", "last"]),
    ({"order": "shortest", "never": {"site": "s2"}}, ["--order", "shortest", "--never", "site=s2"]),
    ({"recipe": "manku-2007", "keep": "shortest"}, ["--recipe", "manku-2007", "-k", "shortest"]),
]


@pytest.mark.parametrize("expand", ["rank", "longest", "max:score"])
@pytest.mark.parametrize("arguments, options", ORDERS, ids=lambda value: str(value))
def test_the_command_collapses_the_same(command, files, records, arguments, options, expand):
    rows = output(command, "collapse", "-q", files / "all.jsonl", "--expand", expand, *options)
    found = neardup.collapse(records, id="id", expand=expand, **arguments)
    ids = [record["id"] for record in records]
    assert [ids[row] for row in found.rows] == [row["id"] for row in rows]
    assert found.ranks == [row["rank"] for row in rows]
    assert [row + 1 for row in found.rows] == [row["own_rank"] for row in rows]
    assert [[ids[row] for row in some] for some in found.duplicates] == [
        [one["id"] for one in row["duplicates"]] for row in rows
    ]
    assert [record["id"] for record in found.results] == [row["id"] for row in rows]


def test_a_collapsed_frame_stays_of_its_kind(records):
    expected = [record["id"] for record in neardup.collapse(records, keep="longest").results]
    for package, make in (
        ("pyarrow", lambda m: m.Table.from_pylist(records)),
        ("polars", lambda m: m.DataFrame(records)),
        ("pandas", lambda m: m.DataFrame(records)),
    ):
        try:
            module = __import__(package)
        except ImportError:
            continue
        shown = neardup.collapse(make(module), keep="longest").results
        assert type(shown) is type(make(module))
        assert list(map(str, shown["id"])) == expected


def test_lists_that_are_odd():
    found = neardup.collapse(["one two three", None, "One two three!", None], order="longest")
    assert found.rows == [0, 1, 3] and found.duplicates == [[2], [], []]
    assert found.cluster(2) == [0, 2] and len(found) == 3
    assert neardup.collapse([]).results == []
    with pytest.raises(IndexError):
        found.cluster(9)
    with pytest.raises(neardup.InvalidError, match="order: 'best' is not one of rank, longest"):
        neardup.collapse(["one two three"], order="best")
