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
            for _ in range(rng.randrange(4)):
                words[rng.randrange(len(words))] = rng.choice(vocabulary)
        texts.append(" ".join(words))
    return texts


def resemblance(a, b):
    return Fraction(len(a & b), len(a | b))


def figures(texts, removed, threshold):
    sets = [runs(text) for text in texts]
    kept = [i for i in range(len(texts)) if i not in removed]
    unmatched = sum(not any(resemblance(sets[i], sets[k]) >= threshold for k in kept) for i in removed)
    missed = sum(any(resemblance(sets[i], sets[k]) >= threshold for k in kept if k < i) for i in kept)
    said = set().union(*(sets[i] for i in removed))
    return {
        "documents": len(texts),
        "removed": len(removed),
        "removed_sampled": len(removed),
        "unmatched": unmatched / len(removed),
        "kept_sampled": len(kept),
        "missed": missed / len(kept) if kept else None,
        "runs": len(said),
        "lost_runs": len(said - set().union(*(sets[i] for i in kept))),
    }


def forms(texts, removed):
    """Yield the name of a file, and what it holds."""
    ids = [f"d{i}" for i in range(len(texts))]
    yield "ids", "".join(ids[i] + "\n" for i in sorted(removed)).encode()
    keeper = next((ids[i] for i in range(len(texts)) if i not in removed), "d-")
    yield "clusters", "".join(f"{ids[i]}\t{keeper if i in removed else ids[i]}\n" for i in range(len(texts))).encode()
    yield "manifest", "".join(json.dumps({"removed": ids[i], "kept": keeper}) + "\n" for i in removed).encode()
    yield "dolma", "".join(json.dumps({"id": ids[i], "attributes": {"x[[": [], "dups": [[0, 9, 1.0]] if i in removed else []}}) + "\n" for i in range(len(texts))).encode()
    yield "000000.remove", b"".join(struct.pack("<I", i) for i in sorted(removed))


def main():
    n_wrong = 0
    for seed in range(ROUNDS):
        rng = random.Random(seed)
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            texts = corpus(rng)
            with open("in.jsonl", "w") as out:
                out.writelines(json.dumps({"id": f"d{i}", "text": text}) + "\n" for i, text in enumerate(texts))
            removed = set(rng.sample(range(len(texts)), rng.randrange(1, len(texts))))
            threshold = rng.choice(["0.8", "0.5", "1"])
            expected = figures(texts, removed, Fraction(threshold))
            n_wrong += expected["unmatched"] > 0
            for name, data in forms(texts, removed):
                with open(name, "wb") as out:
                    out.write(data)
                for threads in ("1", "3"):
                    done = subprocess.run(
                        [NEARDUP, "audit", "-q", "in.jsonl", "--removed", name, "--threshold", threshold, "--json", "--threads", threads],
                        check=True, capture_output=True, text=True,
                    )
                    row = json.loads(done.stdout)
                    for key, value in expected.items():
                        good = row[key] == value or (value is not None and abs(row[key] - value) < 1e-12)
                        assert good, (seed, name, key, row[key], value)
                    assert row["unmatched_low"] == row["unmatched_high"] == row["unmatched"], row
            sampled = subprocess.run([NEARDUP, "audit", "-q", "in.jsonl", "--removed", "ids", "--sample", "3", "--json"], check=True, capture_output=True, text=True)
            row = json.loads(sampled.stdout)
            assert row["removed_sampled"] == min(3, len(removed)) and row["unmatched_low"] <= row["unmatched"] <= row["unmatched_high"], row
    assert n_wrong
    print(f"{ROUNDS} audits are as computed")


main()
