#!/usr/bin/env python3
"""clusters_model.py - what --keep none removes, and how many copies are counted, follow from --clusters

usage: clusters_model.py none|copies|field NEARDUP

For each kind of cluster, for groups and for old documents, and in every way of running, which all
write the same bytes:

none    the survivors are the documents whose cluster has no other, the rows of the manifest are those
        of --keep first and one for each document that stands for a cluster
copies  the number that --annotate has beside each kept record is how often its name stands in --clusters
field   survivors with --copies-field are those without it, each with this number

It writes into the working folder.
"""

import collections
import json
import pathlib
import random
import shutil
import subprocess
import sys

WITH = (
    [],
    ["--cluster", "components"],
    ["--cluster", "complete"],
    ["--within", "lang"],
    ["--against", "old.sketch"],
    ["--against", "old.sketch", "--cluster", "components"],
)
COUNTS = ("documents", "kept", "removed", "near", "clusters", "largest_clusters")
OUTPUTS = {"survivors": "-o", "removed": "--removed", "clusters": "--clusters", "manifest": "--manifest"}


def corpus():
    """Documents of 60 words, half of them copies of earlier ones, most of these edited."""
    rng = random.Random(3)
    documents = []
    for i in range(400):
        words = [f"w{rng.randrange(3000)}" for _ in range(60)]
        if documents and rng.random() < 0.5:
            words = rng.choice(documents)["text"].split()
            if rng.random() < 0.6:
                words[rng.randrange(len(words))] = f"z{rng.randrange(9)}"
        documents.append({"id": str(i), "lang": rng.choice("abc"), "text": " ".join(words)})
    return documents


def write(path, documents):
    pathlib.Path(path).write_text("".join(json.dumps(d) + "\n" for d in documents))


def dedup(program, *options):
    outputs = [word for name, option in OUTPUTS.items() for word in (option, name)]
    run = subprocess.run(
        [program, "dedup", "-q", "in.jsonl", "--summary", "summary", *outputs, *options], capture_output=True, text=True
    )
    if run.returncode:
        sys.exit(f"{options}: {run.stderr}")
    return {name: pathlib.Path(name).read_text() for name in OUTPUTS}


def rows_of(manifest):
    return [json.loads(line) for line in manifest.splitlines()[1:]]


def expected(first):
    """The lines that stay, those that go, and who stands for a cluster that goes."""
    rows = [line.split("\t")[:2] for line in first["clusters"].splitlines()]
    size = collections.Counter(of for _, of in rows)
    own = {name for name, of in rows if name == of}
    lines = pathlib.Path("in.jsonl").read_text().splitlines(keepends=True)
    stays = [name in own and size[name] == 1 for name, _ in rows]
    return (
        "".join(line for line, stay in zip(lines, stays) if stay),
        "".join(line for line, stay in zip(lines, stays) if not stay),
        [name for name, of in rows if name == of and size[name] > 1],
    )


def ways_of(options):
    ways = [["-j1"], ["-j3"], ["--checkpoint", "parts"], ["--checkpoint", "parts", "-j3"]]
    return ways if "--against" in options else [*ways, ["--memory", "64M"], ["--memory", "64M", "-j3"]]


def check_none(program, options):
    first = dedup(program, "--keep", "first", *options)
    none = dedup(program, "--keep", "none", *options)
    survivors, removed, leaders = expected(first)
    summary = json.loads(pathlib.Path("summary").read_text())
    rows = rows_of(none["manifest"])
    assert leaders and none["survivors"] == survivors and none["removed"] == removed, options
    fates = [line.rpartition("\t") for line in none["clusters"].splitlines()]
    names = ["\t".join(line.split("\t")[:2]) for line in first["clusters"].splitlines()]
    assert [pair for pair, _, _ in fates] == names, options
    assert [fate for _, _, fate in fates].count("kept") == len(survivors.splitlines()), options
    assert [r for r in rows if r["kept"]] == rows_of(first["manifest"]), options
    of_leaders = [r for r in rows if not r["kept"]]
    assert [r["removed"] for r in of_leaders] == leaders, options
    for row in of_leaders:
        at = f"in.jsonl:{int(row['removed']) + 1}"
        assert list(row.items()) == [("removed", row["removed"]), ("kept", None), ("removed_at", at), ("kept_at", None)]
    assert [int(r["removed"]) for r in rows] == sorted(int(r["removed"]) for r in rows), options
    assert summary["removed"] == len(rows) and summary["kept"] == len(survivors.splitlines()), options
    for way in ways_of(options):
        assert dedup(program, "--keep", "none", *options, *way) == none, (options, way)
        again = json.loads(pathlib.Path("summary").read_text())
        assert [again[k] for k in COUNTS] == [summary[k] for k in COUNTS], (options, way)


def sized(program, options):
    """A plain run, and how many documents the cluster of each kept one has."""
    plain = dedup(program, *options)
    size = collections.Counter(line.split("\t")[1] for line in plain["clusters"].splitlines())
    assert max(size.values()) > 2 and min(size.values()) == 1, options
    return plain, size


def check_field(program, options):
    for keep in ["--keep", "first"], ["--keep", "longest"], ["--keep", "none"]:
        shutil.rmtree("parts", ignore_errors=True)
        plain, size = sized(program, [*options, *keep])
        field = ["--copies-field", "n", *options, *keep]
        counted = dedup(program, *field)
        lines = plain["survivors"].splitlines()
        names = [json.loads(line)["id"] for line in lines]
        assert counted["survivors"].splitlines() == [f'{x[:-1]},"n":{size[name]}}}' for x, name in zip(lines, names)]
        assert {**counted, "survivors": plain["survivors"]} == plain, field
        for way in ways_of(options):
            assert dedup(program, *field, *way) == counted, (field, way)


def check_copies(program, options):
    _, size = sized(program, options)
    marked = dedup(program, "--annotate", *options)
    records = [json.loads(line) for line in marked["survivors"].splitlines()]
    notes = [record.pop("neardup") for record in records]
    assert records == [json.loads(line) for line in pathlib.Path("in.jsonl").read_text().splitlines()]
    for record, note in zip(records, notes):
        assert note.get("copies") == (None if note["match"] else size[record["id"]]), (options, record)
    for way in ways_of(options):
        assert dedup(program, "--annotate", *options, *way) == marked, (options, way)


def main():
    check = {"none": check_none, "copies": check_copies, "field": check_field}[sys.argv[1]]
    program = sys.argv[2]
    documents = corpus()
    write("in.jsonl", documents)
    write("old.jsonl", [{**d, "id": f"old {d['id']}"} for d in documents[:50:5]])
    subprocess.run([program, "sketch", "old.jsonl", "--record-field", "lang", "-o", "old.sketch"], check=True)
    for options in WITH:
        shutil.rmtree("parts", ignore_errors=True)
        check(program, options)


if __name__ == "__main__":
    main()
