#!/usr/bin/env python3
"""report_model.py - holds the page of dedup --report against the manifest and the summary of the run

usage: report_model.py NEARDUP ROUNDS

Random texts of few words, so that there are many near documents. The twenty least certain removals,
the sizes of clusters and the numbers are computed again; all ways of running must write the same page,
and so must `neardup report` from the manifest, for all ways of deciding and forms of input.
"""
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from html import unescape

NEARDUP, ROUNDS = sys.argv[1], int(sys.argv[2])


def run(*args, **more):
    subprocess.run([NEARDUP, "dedup", "--quiet", *args], check=True, **more)


def corpus(rng, path):
    texts = [" ".join(f"w{rng.randrange(3000)}" for _ in range(rng.randrange(20, 90))) for _ in range(40)]
    with open(path, "w") as out:
        for i in range(rng.choice([12, 300, 900])):
            words = rng.choice(texts).split()
            for _ in range(rng.randrange(4)):
                words[rng.randrange(len(words))] = rng.choice(["12", "13", "May", "Smith", "other"])
            print(json.dumps({"id": f"d{i}", "text": "see " + " ".join(words), "lang": i % 3}), file=out)


def bars(page, section):
    found = re.search(rf'<section id="{section}">.*?<tbody>(.*?)</tbody>', page, re.S)
    return re.findall(r'<th scope="row">(.*?)</th>.*?</svg></td><td>([\d,]+)</td>', found[1], re.S) if found else []


def step(size):
    """Return the name of the step of a size of clusters."""
    if size < 5:
        return str(size)
    high = 8
    while size > high:
        high *= 2
    return f"{high // 2 + 1}–{high}"


def check(page, manifest, summary):
    rows = [json.loads(line) for line in manifest.splitlines()[1:]]
    for name, value in [("Documents", "documents"), ("Kept", "kept"), ("Removed", "removed"), ("Near", "near")]:
        shown = re.search(rf'<h2>{name}</h2><p class="tile-value">([\d,]+)<', page)[1]
        assert int(shown.replace(",", "")) == summary[value], (name, shown)

    sizes = collections.Counter(row["kept"] for row in rows)
    steps = collections.Counter(step(n + 1) for n in sizes.values())
    shown = {name: int(n.replace(",", "")) for name, n in bars(page, "sizes")}
    assert {k: v for k, v in shown.items() if v} == steps, (shown, steps)

    near = [row for row in rows if row["identical"] == "no"]
    section = page.split('<section id="closest">')[1].split("</section>")[0] if near else ""
    shown = re.findall(r"<h3>\d+\. resemblance ([\d.]+)</h3>.*?kept: <span class=\"id\">(.*?)</span>.*?"
                       r"removed: <span class=\"id\">(.*?)</span>", section, re.S)
    least = sorted(row["resemblance"] for row in near)[:20]
    assert [value for value, *_ in shown] == [f"{value:.4f}" for value in least], (shown, least)
    known = {(row["kept"], row["removed"]): row for row in near}
    for value, kept, removed in shown:
        assert f'{known[unescape(kept), unescape(removed)]["resemblance"]:.4f}' == value
    classes = collections.Counter(row["differs"]["in"] for row in near)
    shown = {name: int(n) for name, n in bars(page, "differs")}
    if len(near) <= 200:
        assert {k: v for k, v in shown.items() if v} == classes, (shown, classes)
    else:
        assert sum(shown.values()) == 200 and f"{len(near):,}" in page
    for changed in re.findall(r"<(?:del|ins)>(.*?)</(?:del|ins)>", section):
        assert not re.search(r"[<>]", changed)


# Ways of deciding, and whether the manifest has all that the page needs.
DECIDING = [
    ("", True), ("--keep longest", True), ("--keep none", True), ("--cluster complete", True),
    ("--cluster components", True), ("--cluster components --verify containment-either", False),
    ("--verify containment", True), ("--verify containment-of-kept", True), ("--verify cosine", True),
    ("--recipe manku-2007", True), ("--recipe broder-1997", True), ("--recipe winnowing-2003", True), ("--recipe cops-1995", True),
    ("--within lang", True), ("--differs --memory 64M", True), ("--against old.sketch", False),
]
UNKNOWN = re.compile(r'<section id="missing">.*?</section>\n|<section id="measured">.*?</section>\n|<nav.*?</nav>\n', re.S)


def shaped(rng):
    """Give the documents of in.jsonl one of several forms, and return the inputs."""
    rows = [json.loads(line) for line in open("in.jsonl")]
    form = rng.choice(["lines", "packed", "folder", "archive", "names"])
    if form == "packed":
        subprocess.run(["zstd", "-qf", "in.jsonl"], check=True)
        return ["in.jsonl.zst"]
    if form == "names":  # two files, bad records, and a name that is no UTF-8
        with open(b"odd\xff\tname.jsonl", "w") as out:
            print("no JSON", file=out)
            for row in rows[:40]:
                print(json.dumps(row | {"id": f"more {row['id']}", "text": row["text"] + " more"}), file=out)
        return ["in.jsonl", b"odd\xff\tname.jsonl"]
    if form == "lines":
        return ["in.jsonl"]
    os.mkdir("folder")
    for row in rows:
        with open(f"folder/{row['id']}.txt", "w") as out:
            out.write(row["text"])
    if form == "archive":
        subprocess.run(["tar", "-cf", "in.tar", "folder"], check=True)
        return ["in.tar"]
    return ["folder"]


def afterwards(rng, deciding, is_complete):
    """Hold `neardup report` against dedup --report: the bytes must be the same."""
    texts = open("in.jsonl").read().splitlines()
    inputs = shaped(rng)
    if "against" in deciding:
        corpus(rng, "old.jsonl")
        with open("old.jsonl", "a") as out:
            out.writelines(line + "\n" for line in texts[::3])
        subprocess.run([NEARDUP, "sketch", "-q", "-o", "old.sketch", "old.jsonl"], check=True)
    threshold = [] if "recipe" in deciding else ["--threshold", rng.choice([".5", ".8"])]
    run(*inputs, "-o", "kept", *deciding.split(), *threshold, "--max-bad", "1", "--report", "page.html",
        "--manifest", "m.jsonl.gz", stderr=subprocess.DEVNULL)
    subprocess.run([NEARDUP, "report", "-q", "m.jsonl.gz", "-o", "again.html", "-j", rng.choice("128")], check=True)
    page, again = open("page.html").read(), open("again.html").read()
    if not is_complete and 'id="measured"' in page and 'id="missing"' in again:
        page, again = (UNKNOWN.sub("", text) for text in (page, again))
    assert page == again, (deciding, inputs)


def main():
    for seed in range(3 * ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            rng = random.Random(seed)
            corpus(rng, "in.jsonl")
            afterwards(rng, *DECIDING[seed % len(DECIDING)])
    for seed in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            corpus(random.Random(seed), "in.jsonl")
            run("in.jsonl", "-o", "out", "--threshold", ".5", "--threads", "1", "--report", "page.html",
                "--manifest", "m", "--summary", "s", "--differs")
            page = open("page.html").read()
            check(page, open("m").read(), json.load(open("s")))
            for more in (["--threads", "2"], ["--threads", "8"], ["--memory", "64M"]):
                run("in.jsonl", "-o", "out", "--threshold", ".5", "--report", "again.html", *more)
                assert open("again.html").read() == page, more
    print(f"{ROUNDS} pages are as the manifest says")


main()
