#!/usr/bin/env python3
"""audit_model.py - computes all figures of neardup audit again, for random corpora and removals

usage: audit_model.py NEARDUP ROUNDS

Resemblances are those of sets of runs of three words, of all pairs, as fractions. Each form of the
file of removed documents must give the same row, and any number of threads.
"""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
from fractions import Fraction

NEARDUP, ROUNDS = sys.argv[1], int(sys.argv[2])


def runs(text):
    words = text.split()
    return frozenset(tuple(words[i : i + 3]) for i in range(len(words) - 2)) or frozenset([tuple(words)])


def corpus(rng):
    vocabulary = [f"w{i}" for i in range(rng.choice([30, 5000]))]
    texts = []
    for _ in range(rng.choice([5, 200, 400])):
        words = [rng.choice(vocabulary) for _ in range(rng.choice([1, 2, 5, 30, 90]))]
        if texts and rng.random() < 0.6:
            words = rng.choice(texts).split()
            for _ in range(rng.randrange(4) if words else 0):
                words[rng.randrange(len(words))] = rng.choice(vocabulary)
        texts.append(" ".join(words) if rng.random() < 0.99 else "")
    return texts


def resemblance(a, b):
    return Fraction(len(a & b), len(a | b))


def wrong_clusters(sets, removed, cluster, threshold):
    """Return the figures of clusters: `cluster` names that of some documents, by the number of a document."""
    kept = {}
    for i in sorted(cluster):
        if i not in removed:
            kept.setdefault(cluster[i], i)
    for name in set(cluster.values()):
        if name not in removed:
            kept[name] = name
    near = {}
    for i in removed:
        if cluster.get(i) in kept:
            near.setdefault(cluster[i], []).append(resemblance(sets[i], sets[kept[cluster[i]]]) >= threshold)
    sizes = [len(found) for found in near.values() if not any(found)]
    if not near:
        return dict.fromkeys(["clustered", "far", "false_clusters", "largest_false"])
    return {
        "clustered": sum(map(len, near.values())),
        "far": sum(found.count(False) for found in near.values()),
        "false_clusters": len(sizes),
        "largest_false": max(sizes, default=0),
    }


def figures(texts, removed, threshold):
    sets = [runs(text) for text in texts]
    kept = [i for i in range(len(texts)) if i not in removed]
    unmatched = sum(not any(resemblance(sets[i], sets[k]) >= threshold for k in kept) for i in removed)
    missed = sum(any(resemblance(sets[i], sets[k]) >= threshold for k in kept if k < i) for i in kept)
    said = set().union(*(sets[i] for i in removed if texts[i]))
    return {
        "documents": len(texts),
        "removed": len(removed),
        "unmatched": unmatched / len(removed),
        "kept_sampled": len(kept),
        "missed": missed / len(kept) if kept else None,
        "runs": len(said),
        "lost_runs": len(said - set().union(*(sets[i] for i in kept))),
    }


def clusters_of(rng, texts, removed):
    """Put every removed document, and some kept ones, into a cluster that is named by a document."""
    names = rng.sample(range(len(texts)), min(len(texts), 1 + rng.randrange(40)))
    return {i: rng.choice(names) for i in range(len(texts)) if i in removed or rng.random() < 0.2}


def forms(texts, removed, cluster, keeper):
    """Yield the name of a file, what it holds, the same of its clusters or None, and which clusters it names."""
    ids = [f"d{i}" for i in range(len(texts))]
    lines = "".join(f"{ids[i]}\t{ids[cluster[i]]}\n" for i in cluster)
    all_to_one = dict.fromkeys(removed, keeper) if keeper is not None else {}
    kept = ids[keeper] if keeper is not None else "d-"
    yield "ids", "".join(ids[i] + "\n" for i in sorted(removed)), None, {}
    yield "ids", "".join(ids[i] + "\n" for i in sorted(removed)), lines, cluster
    yield "clusters", "".join(f"{ids[i]}\t{kept if i in removed else ids[i]}\n" for i in range(len(texts))), None, all_to_one
    yield "fates", "".join(f"{ids[i]}\t{ids[cluster.get(i, i)]}\t{'removed' if i in removed else 'kept'}\n" for i in range(len(texts))), None, cluster
    yield "manifest", "".join(json.dumps({"removed": ids[i], "kept": kept}) + "\n" for i in removed), None, all_to_one
    yield "manifest", "".join(json.dumps({"removed": ids[i], "kept": "d-"}) + "\n" for i in removed), lines, cluster
    yield "dolma", "".join(json.dumps({"id": ids[i], "attributes": {"x[[": [], "dups": [[0, 9, 1.0]] if i in removed else []}}) + "\n" for i in range(len(texts))), None, {}
    # datatrove counts only documents that have a text.
    number = {i: n for n, i in enumerate(i for i in range(len(texts)) if texts[i])}
    if all(i in number for i in removed):
        remove = b"".join(struct.pack("<I", number[i]) for i in sorted(removed))
        numbered = {i: cluster[i] for i in sorted(cluster) if i in number}
        # The number of a cluster is no document's: a cluster keeps its first kept member.
        first = {}
        for i in numbered:
            if i not in removed:
                first.setdefault(numbered[i], i)
        yield "000000.remove", remove, None, {}
        yield "000000.remove", remove, b"".join(struct.pack("<II", number[i], numbered[i]) for i in numbered), {i: first[c] for i, c in numbered.items() if c in first}


def audit(*arguments):
    done = subprocess.run([NEARDUP, "audit", "-q", "in.jsonl", *arguments, "--json"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def write(name, data):
    with open(name, "wb") as out:
        out.write(data if isinstance(data, bytes) else data.encode())


def check_forms(seed, rng, texts, removed, threshold):
    """Compare all figures, of each form of file.  Return the share without a match."""
    sets = [runs(text) for text in texts]
    cluster = clusters_of(rng, texts, removed)
    keeper = next((i for i in range(len(texts)) if i not in removed), None)
    expected = figures(texts, removed, Fraction(threshold))
    for name, data, clusters, named in forms(texts, removed, cluster, keeper):
        expected.update(wrong_clusters(sets, removed, named, Fraction(threshold)))
        write(name, data)
        more = []
        if clusters is not None:
            write("of.clusters", clusters)
            more = ["--clusters", "of.clusters"]
        for threads in ("1", "3"):
            row = audit("--removed", name, *more, "--threshold", threshold, "--threads", threads)
            for key, value in expected.items():
                good = row[key] == value or (value is not None and abs(row[key] - value) < 1e-12)
                assert good, (seed, name, more, key, row[key], value)
            assert row["searched"] == row["doubtful"], row
            assert row["unmatched_low"] == row["unmatched_high"] == row["unmatched"], row
    return expected["unmatched"]


def main():
    n_wrong = 0
    for seed in range(ROUNDS):
        rng = random.Random(seed)
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            texts = corpus(rng)
            write("in.jsonl", "".join(json.dumps({"id": f"d{i}", "text": text}) + "\n" for i, text in enumerate(texts)))
            removed = set(rng.sample(range(len(texts)), rng.randrange(1, len(texts))))
            n_wrong += check_forms(seed, rng, texts, removed, rng.choice(["0.8", "0.5", "1", "0.3"])) > 0
            row = audit("--removed", "ids", "--sample", "3")
            assert row["searched"] == min(3, row["doubtful"]), row
            assert row["unmatched_low"] <= row["unmatched"] <= row["unmatched_high"], row
    assert n_wrong
    print(f"{ROUNDS} audits are as computed")


main()
