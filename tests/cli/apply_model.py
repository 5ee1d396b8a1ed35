#!/usr/bin/env python3
"""apply_model.py - apply writes what dedup wrote

usage: apply_model.py NEARDUP

Corpora in every format, and ways of deciding: the survivors and the removed records that `apply` writes
by the manifest, and by the clusters, are those of the run that decided, byte for byte, for 1, 2 and 8
threads; and so they are where each part of a corpus is gone through by itself. It writes into the
working folder.
"""

import csv
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tarfile
import zipfile

THREADS = ["1", "2", "8"]
WAYS = (
    [],
    ["--keep", "longest"],
    ["--keep", "none"],
    ["--keep", "none", "--memory", "64M", "--cluster", "components"],
    ["--cluster", "complete", "--never", "lang=a"],
    ["--against", "old.sketch"],
)
CORPORA = {
    "in.jsonl": [],
    "noid.jsonl": [],
    "in.jsonl.gz": [],
    "in.csv": ["--id-field", "name", "--text-field", "body"],
    "in.tsv": ["--missing-text", "empty"],
    "lines.txt": ["--unit", "line"],
    "in.mbox": [],
    "pages": ["--exclude", "7*"],
    "in.tar": [],
    "in.zip": ["--glob", "*.html"],
    "in.sketch": [],
}


COUNTED = ("in.jsonl", "noid.jsonl", "in.jsonl.gz", "in.csv", "in.tsv")


def corpus():
    """Texts of 60 words, half of them copies of earlier ones, most of these edited."""
    rng = random.Random(5)
    texts = []
    for _ in range(300):
        words = [f"w{rng.randrange(3000)}" for _ in range(60)]
        if texts and rng.random() < 0.5:
            words = rng.choice(texts).split()
            if rng.random() < 0.6:
                words[rng.randrange(len(words))] = f"z{rng.randrange(9)}"
        texts.append(" ".join(words))
    return texts


def run(program, *words, status=(0, 3)):
    made = subprocess.run([program, *words], capture_output=True, text=True)
    if made.returncode not in status:
        sys.exit(f"{words}: {made.returncode}: {made.stderr}")
    return made


def write_corpora(program, texts):
    with open("in.jsonl", "w") as out:
        for i, text in enumerate(texts):
            if i % 97 == 50:
                out.write('{"id": broken\n')
            name = i if i % 3 else f"a\ttab and \\ {i}é"
            out.write(json.dumps({"id": name, "lang": "ab"[i % 2], "text": text}) + "\n")
    pathlib.Path("noid.jsonl").write_text("".join(json.dumps({"text": t}) + "\n" for t in texts))
    subprocess.run(["gzip", "-k", "in.jsonl"], check=True)
    with open("in.csv", "w", newline="") as out:
        csv.writer(out).writerows([["name", "body"], *([f"n{i}", t] for i, t in enumerate(texts))])
    rows = ("id\ttext\n", *(f"{i}\t{'' if i % 50 == 7 else t}\n" for i, t in enumerate(texts)))
    pathlib.Path("in.tsv").write_text("".join(rows))
    pathlib.Path("lines.txt").write_text("\n".join(texts))
    mail = (f"From a@b Thu Jan  1 00:00:00 2020\nMessage-ID: <{i}@x>\n\n{t}\n\n" for i, t in enumerate(texts))
    pathlib.Path("in.mbox").write_text("".join(mail))
    pathlib.Path("pages").mkdir()
    with tarfile.open("in.tar", "w") as tar, zipfile.ZipFile("in.zip", "w") as bundle:
        for i, text in enumerate(texts[:80]):
            page = pathlib.Path("pages", f"{i}.html")
            page.write_text(f"<p>{text}</p>\n")
            tar.add(page)
            bundle.write(page)
    with open("old.jsonl", "w") as out:
        for i, text in enumerate(texts[:60]):
            out.write(json.dumps({"id": i, "lang": "a", "text": text}) + "\n")
    run(program, "sketch", "-q", "old.jsonl", "-o", "old.sketch", "--record-field", "lang")
    run(program, "sketch", "-q", "in.jsonl", "-o", "in.sketch", "--record-field", "lang", "--record-length")


def outputs(name, is_sketch):
    return [f"{name}.{kind}{'.sketch' if is_sketch else ''}" for kind in ("kept", "removed")]


def read(paths):
    return [pathlib.Path(p).read_bytes() for p in paths]


def check(program, path, reading, way):
    is_sketch = path.endswith(".sketch")
    kept, removed = outputs("dedup", is_sketch)
    of_decisions = ["--manifest", "manifest", "--clusters", "clusters"]
    status = run(program, "dedup", "-q", path, *reading, *way, *of_decisions, "-o", kept, "--removed", removed).returncode
    expected = read([kept, removed])
    assert expected[1], (path, way, "removes nothing")
    # A sample takes the next of the three for each way.
    THREADS.append(THREADS.pop(0))
    for threads in THREADS if "NEARDUP_NIGHTLY" in os.environ else THREADS[:1]:
        # The manifest knows how the documents were read.
        for decisions, options in (("manifest", []), ("clusters", reading)):
            names = outputs("apply", is_sketch)
            made = run(program, "apply", "-q", decisions, path, *options, "-j", threads, "-o", names[0], "--removed", names[1])
            assert made.returncode == status, (path, way, made)
            got = read(names)
            if is_sketch and decisions == "clusters":
                continue  # the survivors hold the recipe, which clusters do not
            assert got == expected, (path, way, decisions, threads)


def check_copies(program, path, reading, way):
    """Survivors have the sizes of their clusters as the run that decided writes them."""
    field = ["--copies-field", "how many"]
    run(program, "dedup", "-q", path, *reading, *way, *field, "--manifest", "manifest", "-o", "counted")
    expected = pathlib.Path("counted").read_bytes()
    for threads in "1", "3":
        run(program, "apply", "-q", "manifest", path, *field, "-j", threads, "-o", "applied")
        assert pathlib.Path("applied").read_bytes() == expected, (path, way, threads)


def check_parts(program, texts):
    """Each part by itself, under the path that it had or under another, gives the folder of all."""
    pathlib.Path("parts").mkdir()
    for k in range(3):
        rows = [json.dumps({"id": i, "text": texts[i]}) + "\n" for i in range(k, len(texts), 3)]
        pathlib.Path("parts", f"{k}.jsonl").write_text("".join(rows))
    of_decisions = ["--manifest", "manifest", "--clusters", "clusters"]
    run(program, "dedup", "-q", "parts", "--output-dir", "all", *of_decisions)
    run(program, "dedup", "-q", "parts", "--output-dir", "counted-parts", "--copies-field", "n")
    for k in range(3):  # a count is that of the whole corpus, whoever goes through a part of it
        part = f"parts/{k}.jsonl"
        run(program, "apply", "-q", "--partial", "manifest", part, "-o", "one", "--copies-field", "n")
        assert pathlib.Path("one").read_bytes() == pathlib.Path("counted-parts", part).read_bytes(), part
    shutil.copytree("parts", "elsewhere")
    for decisions in "manifest", "clusters":
        run(program, "apply", "-q", decisions, "parts", "--output-dir", f"of-{decisions}")
        run(program, "apply", "-q", decisions, "elsewhere", "--output-dir", f"moved-{decisions}")
        for k in range(3):
            name = f"{k}.jsonl"
            expected = pathlib.Path("all", "parts", name).read_bytes()
            for folder in f"of-{decisions}/parts", f"moved-{decisions}/elsewhere":
                assert pathlib.Path(folder, name).read_bytes() == expected, (folder, name)
            for folder in "parts", "elsewhere":
                run(program, "apply", "-q", "--partial", decisions, f"{folder}/{name}", "-o", "one")
                assert pathlib.Path("one").read_bytes() == expected, (decisions, folder, name)
                run(program, "apply", "-q", decisions, f"{folder}/{name}", "-o", "one", status=(2,))


def main():
    program = sys.argv[1]
    texts = corpus()
    write_corpora(program, texts)
    for path, reading in CORPORA.items():
        for way in WAYS:
            if "lang=a" in way and path not in ("in.jsonl", "in.sketch"):
                continue
            check(program, path, reading, way)
            if path in COUNTED and "--against" not in way:
                check_copies(program, path, reading, way)
    check_parts(program, texts)


main()
