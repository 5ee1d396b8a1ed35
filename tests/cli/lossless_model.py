#!/usr/bin/env python3
"""lossless_model.py - decides by the recipe lossless, and counts the runs of words that are lost

usage: lossless_model.py NEARDUP ROUNDS

Random texts of few words, of which many contain others. The model takes the documents by length, the
longest first, and removes one whose runs of three words are all in a kept one; short ones go by their
bytes. All ways of running must decide like that, and no run may be lost in all.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

NEARDUP, ROUNDS = sys.argv[1], int(sys.argv[2])


def runs(text, k=3):
    words = text.split()
    return {tuple(words[i : i + k]) for i in range(len(words) - k + 1)}


def texts(rng):
    """Return documents in which others are contained, cut, repeated, reordered and changed."""
    vocabulary = [f"w{i}" for i in range(rng.choice([8, 60, 2000]))]
    out = []
    for _ in range(rng.choice([10, 120, 400])):
        words = [rng.choice(vocabulary) for _ in range(rng.choice([1, 2, 3, 10, 60, 300]))]
        if out and rng.random() < 0.6:
            of = rng.choice(out).split()
            at = rng.randrange(len(of))
            piece = of[at : at + rng.choice([2, 5, 40, 400])]
            words = rng.choice([piece, piece, words + piece, piece + piece, piece + of[:at], of, words])
        out.append(" ".join(words))
    return out


def decide(documents):
    """Return the numbers of the documents that stay."""
    kept, seen = [], set()
    by_length = sorted(range(len(documents)), key=lambda i: (-len(documents[i]), i))
    for i in by_length:
        text, mine = documents[i], runs(documents[i])
        if text in seen or (mine and any(mine <= runs(documents[k]) for k in kept)):
            continue
        kept.append(i)
        seen.add(text)
    return sorted(kept)


def main():
    n_removed = 0
    for seed in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            documents = texts(random.Random(seed))
            with open("in.jsonl", "w") as out:
                for i, text in enumerate(documents):
                    print(json.dumps({"id": i, "text": text, "part": "x"}), file=out)
            expected = decide(documents)
            for more in (["--threads", "1"], ["--threads", "3"], ["--memory", "64M"], ["--within", "part"]):
                subprocess.run([NEARDUP, "dedup", "-q", "--recipe", "lossless", "in.jsonl", "-o", "out", "--summary", "s", *more], check=True)
                kept = [json.loads(line)["id"] for line in open("out")]
                assert kept == expected, (seed, more, sorted(set(kept) ^ set(expected)))
                assert json.load(open("s"))["lost_runs"] == 0
            said = set().union(*(runs(documents[i]) for i in kept), set())
            assert all(runs(text) <= said for text in documents)
            n_removed += len(documents) - len(kept)
    assert n_removed > 100, n_removed
    print(f"{n_removed} documents removed, and no run lost")


main()
