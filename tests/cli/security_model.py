#!/usr/bin/env python3
"""security_model.py - --security-field, in every way of running, against its definition gone through literally

usage: security_model.py NEARDUP [SEED…]

A document is removed for the first kept one with its bytes, else with its tokens, else for the one that resembles it
most and reaches the threshold; but only for one all of whose security labels it has (Seshasai 2009, section 7.1.3).
Whoever has all labels of a document may see it: so for every set of labels that a reader may have, what the reader
sees has a kept document that the reader sees.  A pair is listed if one of the two may stand for the other.  The
corpora are small and random, all documents are compared, and resemblances are fractions.

It writes into the working folder.
"""

import itertools
import json
import pathlib
import random
import subprocess
import sys
from fractions import Fraction

LABELS = ("a", "b", "c")
THRESHOLD = Fraction(1, 2)
WIDTH = 3
EXACT = ["--set", "candidates=all", "--set", "threshold=0.5"]


def corpus(rng):
    """Copies, copies with another punctuation, edited copies, short and empty texts; labels in all ways of writing."""
    documents = []
    for i in range(rng.randrange(2, 40)):
        words = [f"w{rng.randrange(30)}" for _ in range(rng.choice([0, 1, 2, 8, 12, 20]))]
        if documents and rng.random() < 0.7:
            words = rng.choice(documents)["text"].split()
            if words and rng.random() < 0.5:
                words[rng.randrange(len(words))] = f"w{rng.randrange(30)}"
            elif words and rng.random() < 0.4:
                words[-1] = words[-1].rstrip(",") + ","
        labels = rng.sample(LABELS, rng.choice([0, 1, 1, 2, 3]))
        document = {"id": i, "text": " ".join(words), "size": rng.randrange(5)}
        if labels or rng.random() < 0.5:
            document["readers"] = rng.choice([labels, labels + labels, labels[0]] if len(labels) == 1 else [labels])
        documents.append(document)
    return documents


def labels_of(document):
    readers = document.get("readers", [])
    return {readers} if isinstance(readers, str) else set(readers)


def tokens(document):
    return document["text"].replace(",", "").split()


def resemblance(a, b):
    sets = [{tuple(t[i : i + WIDTH]) for i in range(len(t) - WIDTH + 1)} for t in (tokens(a), tokens(b))]
    return Fraction(len(sets[0] & sets[1]), len(sets[0] | sets[1])) if all(sets) else Fraction(0)


def stand_in(document, kept):
    """The document that stands for another, among kept ones in their order; None: none, it is kept."""
    kept = [k for k in kept if labels_of(k) <= labels_of(document)]
    for k in kept:
        if k["text"] == document["text"]:
            return k
    if len(tokens(document)) < WIDTH:
        return None
    for k in kept:
        if tokens(k) == tokens(document):
            return k
    near = [(resemblance(document, k), k) for k in kept if len(tokens(k)) >= WIDTH]
    best = max((r for r, _ in near), default=0)
    return next((k for r, k in near if r == best), None) if best >= THRESHOLD else None


def expected(documents):
    kept, removed = [], {}
    for document in documents:
        other = stand_in(document, kept)
        if other is None:
            kept.append(document)
        else:
            removed[document["id"]] = other["id"]
    return removed


def check_readers(documents, removed, where):
    by_id = {document["id"]: document for document in documents}
    for n in range(len(LABELS) + 1):
        for reader in itertools.combinations(LABELS, n):
            for gone, kept in removed.items():
                if labels_of(by_id[gone]) <= set(reader):
                    assert labels_of(by_id[kept]) <= set(reader), f"{where}: {reader} loses {gone}"


def write(name, documents):
    pathlib.Path(name).write_text("".join(json.dumps(d) + "\n" for d in documents))


def run(program, *arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if done.returncode > 1:
        sys.exit(f"{' '.join(arguments)}: {done.stderr}")
    return done.stdout


def removed_by(program, *arguments):
    output = "out.sketch" if arguments[0] == "in.sketch" else "out"
    run(program, "dedup", "-q", *EXACT, "--security-field", "readers", *arguments, "-o", output, "--manifest", "rows")
    rows = [json.loads(line) for line in pathlib.Path("rows").read_text().splitlines()[1:]]
    return {row["removed"]: row["kept"] for row in rows}


def check_dedup(program, documents, seed):
    wanted = expected(documents)
    check_readers(documents, wanted, "model")
    write("in.jsonl", documents)
    run(program, "sketch", "-q", *EXACT, "--record-field", "readers", "--record-field", "size", "in.jsonl", "-o",
        "in.sketch")
    ways = {
        "one thread": ["in.jsonl", "-j1"],
        "three threads": ["in.jsonl", "-j3"],
        "in several passes": ["in.jsonl", "--prefer", "nothing=x"],
        "sketches": ["in.sketch"],
        "known sketches": ["in.jsonl", "--known-sketches", "in.sketch"],
        "memory": ["in.jsonl", "--memory", "64M"],
    }
    for way, arguments in ways.items():
        got = removed_by(program, *arguments)
        assert got == wanted, f"seed {seed}, {way}: {got}, not {wanted}"
    documents = sorted(documents, key=lambda d: (-d["size"], d["id"]))
    got = removed_by(program, "in.jsonl", "--keep", "max:size")
    assert got == expected(documents), f"seed {seed}, keep: {got}, not {expected(documents)}"


def check_against(program, documents, seed):
    """Old documents stand in front, and are not among the removed."""
    cut = len(documents) // 2
    write("old.jsonl", documents[:cut])
    write("in.jsonl", documents[cut:])
    run(program, "sketch", "-q", *EXACT, "--record-field", "readers", "old.jsonl", "-o", "old.sketch")
    wanted = {gone: kept for gone, kept in expected(documents).items() if gone >= cut}
    got = removed_by(program, "in.jsonl", "--against", "old.sketch")
    assert got == wanted, f"seed {seed}, against: {got}, not {wanted}"


def check_pairs(program, documents, seed):
    write("in.jsonl", documents)
    listed = run(program, "pairs", "-q", *EXACT, "--security-field", "readers", "in.jsonl")
    got = {tuple(sorted(int(n) for n in line.split("\t")[:2])) for line in listed.splitlines()}
    wanted = set()
    for a, b in itertools.combinations(documents, 2):
        if labels_of(a) <= labels_of(b) or labels_of(b) <= labels_of(a):
            if stand_in({**a, "readers": list(LABELS)}, [{**b, "readers": []}]):
                wanted.add((a["id"], b["id"]))
    assert got == wanted, f"seed {seed}, pairs: {sorted(got ^ wanted)}"


def check_collapse(program, documents, seed):
    """The results that are shown are those that dedup keeps, in the order of the list."""
    write("in.jsonl", documents)
    removed = expected(documents)
    listed = run(program, "collapse", "-q", *EXACT, "--security-field", "readers", "in.jsonl")
    got = [json.loads(line)["id"] for line in listed.splitlines()]
    assert got == [d["id"] for d in documents if d["id"] not in removed], f"seed {seed}, collapse: {got}"
    rows = run(program, "collapse", "-q", *EXACT, "--security-field", "readers", "--expand", "rank", "in.jsonl")
    got = {d["id"]: row["id"] for row in map(json.loads, rows.splitlines()) for d in row["duplicates"]}
    assert got == removed, f"seed {seed}, collapse --expand: {got}, not {removed}"
    run(program, "sketch", "-q", *EXACT, "--record-field", "readers", "in.jsonl", "-o", "in.sketch")
    run(program, "collapse", "-q", *EXACT, "--security-field", "readers", "in.sketch", "-o", "out.sketch")
    shown = [json.loads(line)["id"] for line in run(program, "sketch", "dump", "out.sketch").splitlines() if '"id"' in line]
    assert shown == [d["id"] for d in documents if d["id"] not in removed], f"seed {seed}, collapse sketches: {shown}"


def check_filter(program, documents, seed):
    """A document matches the prototypes that may stand for it; the nearest is named."""
    cut = max(1, len(documents) // 2)
    prototypes, documents = documents[:cut], documents[cut:]
    write("prototypes.jsonl", prototypes)
    write("in.jsonl", documents)
    wanted = {d["id"]: (stand_in(d, prototypes) or {"id": None})["id"] for d in documents}
    arguments = [*EXACT, "--security-field", "readers", "--prototypes", "prototypes.jsonl", "in.jsonl"]
    listed = run(program, "filter", "-q", *arguments)
    got = [json.loads(line)["id"] for line in listed.splitlines()]
    assert got == [i for i, p in wanted.items() if p is not None], f"seed {seed}, filter: {got}, not {wanted}"
    rows = [json.loads(line) for line in run(program, "filter", "-q", "--annotate", *arguments).splitlines()]
    got = {row["id"]: row.get("prototype") for row in rows}
    assert got == wanted, f"seed {seed}, filter --annotate: {got}, not {wanted}"


def check_plan(program, documents, seed):
    """A plan of all documents predicts what dedup removes."""
    write("in.jsonl", documents)
    plan = json.loads(run(program, "plan", "-q", "--json", *EXACT, "--security-field", "readers", "in.jsonl"))
    assert plan["sample"]["removed"] == len(expected(documents)), f"seed {seed}, plan: {plan['sample']}"


def main():
    program, *seeds = sys.argv[1:]
    for seed in [int(seed) for seed in seeds] or range(12):
        documents = corpus(random.Random(seed))
        check_dedup(program, documents, seed)
        check_against(program, documents, seed)
        check_pairs(program, documents, seed)
        check_collapse(program, documents, seed)
        check_filter(program, documents, seed)
        check_plan(program, documents, seed)


main()
