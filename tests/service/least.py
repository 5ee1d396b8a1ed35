#!/usr/bin/env python3
"""A service that finds neighbours below the threshold, beside brute force over all documents.

    least.py CLOCKED_SERVER [FIRST_SEED [COUNT]]

Two services get the same documents in the same order: one is asked with at=, one without.  What at= finds is what
brute force finds, but for RECALL of the pairs at least; no other document is named, and the evidence is exact.  The
verdict, the cluster and the stored pairs are the same in both.  Exit status 1: an answer is another one, or too many
are missing.
"""

import os
import random
import sys
import tempfile

sys.dont_write_bytecode = True

import rest  # noqa: E402  (no files beside the sources)
import texts  # noqa: E402

LEAST, THRESHOLD = 0.4, 0.8
RECIPE = f"default,threshold={THRESHOLD},least={LEAST}"
RECALL = 0.995  # of the recipe
DOCUMENTS = 120


def shingles(text):
    words = text.lower().replace(".", " ").split()
    return {tuple(words[i : i + 3]) for i in range(len(words) - 2)}


def documents(rng):
    """Texts that share between all and nothing with others: originals, and copies with more and more edits."""
    made = []
    for _ in range(DOCUMENTS // 12):
        words = [rng.choice(texts.WORDS) for _ in range(rng.choice([40, 80, 160]))]
        for _ in range(12):
            made.append(" ".join(words))
            for _ in range(rng.choice([1, 1, 2, 4])):
                words = texts.edited(rng, words)
    rng.shuffle(made)
    return made


def resemblance(a, b):
    return len(a & b) / len(a | b)


def without_more(answer):
    """An answer but for the documents below the threshold, and the work for them."""
    near = [d for d in answer["nearest"] if d["evidence"]["identical"] != "no" or d["evidence"]["resemblance"] >= THRESHOLD]
    return {**answer, "nearest": near, "work": None}


def compare(what, answer, text, sets, at):
    """How many pairs brute force has, and how many of them the answer names, which names no other."""
    own = shingles(text)
    wanted = {name: resemblance(own, other) for name, other in sets.items()}
    wanted = {name: measured for name, measured in wanted.items() if measured >= at}
    said = {d["id"]: d["evidence"]["resemblance"] for d in answer["nearest"]}
    for name, measured in said.items():
        if name not in wanted or abs(wanted[name] - measured) > 1e-12:
            raise SystemExit(f"{what}: {name} at {measured}, by brute force {wanted.get(name)}")
    order = [d["evidence"]["resemblance"] for d in answer["nearest"]]
    if order != sorted(order, reverse=True):
        raise SystemExit(f"{what}: not the nearest first: {order}")
    return len(wanted), len(said)


def try_seed(program, seed):
    rng = random.Random(seed)
    all_texts = documents(rng)
    sets = {}
    pairs = found = 0
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        with rest.Service(program, one, RECIPE) as asked, rest.Service(program, two, RECIPE) as plain:
            for i, text in enumerate(all_texts):
                at = rng.choice([LEAST, 0.5, 0.65, THRESHOLD])
                what = f"seed {seed}, text {i}, at {at}"
                body, kind = text.encode(), "text/plain"
                queried = asked.send(None, "POST", "/v1/query", body, kind, limit=100, at=at).json()
                same = plain.send(None, "POST", "/v1/query", body, kind, limit=100).json()
                posted = asked.put(None, f"d{i}", [], text, limit=100, at=at).json()
                other = plain.put(None, f"d{i}", [], text, limit=100).json()
                for more, less in ((queried, same), (posted, other)):
                    if without_more(more) != without_more(less):
                        raise SystemExit(f"{what}: with at= the answer is\n{more}\n--- without\n{less}")
                    n, n_found = compare(what, more, text, sets, at)
                    pairs, found = pairs + n, found + n_found
                sets[f"d{i}"] = shingles(text)
            for name in sets:
                for below in ("/near", "/cluster"):
                    answers = [s.send(None, "GET", rest.document_path(name, below), limit=1000).body for s in (asked, plain)]
                    if answers[0] != answers[1]:
                        raise SystemExit(f"seed {seed}: {name}{below} is\n{answers[0]}\n--- asked without at=\n{answers[1]}")
    return pairs, found


def main():
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 60 if "NEARDUP_NIGHTLY" in os.environ else 4
    pairs = found = 0
    for seed in range(first, first + count):
        n, n_found = try_seed(sys.argv[1], seed)
        pairs, found = pairs + n, found + n_found
    print(f"{found} of {pairs} neighbours from {LEAST} on were found ({found / pairs:.4f})")
    if found < RECALL * pairs:
        sys.exit(f"fewer than {RECALL}")


if __name__ == "__main__":
    main()
