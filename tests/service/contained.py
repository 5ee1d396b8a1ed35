#!/usr/bin/env python3
"""A service that tells of containment, beside brute force over all documents.

    contained.py CLOCKED_SERVER [FIRST_SEED [COUNT]]

Documents are posted that quote one another: parts of others alone, and parts of several in a row.  `contained_in` and
`contains` name what brute force finds among the documents that are there, but for RECALL at least; no other document,
and with the exact share.  The service is ended and started again in between.  Then the same documents get labels, and
each caller is named what they see.  Exit status 1: an answer is another one, or too many are missing.
"""

import os
import random
import sys
import tempfile

sys.dont_write_bytecode = True

import rest  # noqa: E402  (no files beside the sources)
import texts  # noqa: E402

SHARE = 0.8
RECIPE = f"default,containment={SHARE}"
RECALL = 0.995  # of the recipe
KEYS = {"root": ["*"], "one": ["a"], "none": []}


def shingles(text):
    words = text.split()
    return {tuple(words[i : i + 3]) for i in range(len(words) - 2)}


def documents(rng):
    """Originals, parts of them, and texts with such parts among other words; most of them with a few edits."""
    words = lambda n: [rng.choice(texts.WORDS) + rng.choice(texts.WORDS) for _ in range(n)]  # noqa: E731
    originals = [words(rng.choice([60, 200, 600])) for _ in range(6)]
    made = []
    for _ in range(90):
        parts = []
        for _ in range(rng.choice([1, 1, 2])):
            source = rng.choice(originals)
            length = rng.choice([20, 60, len(source)])
            at = rng.randrange(max(1, len(source) - length))
            parts += source[at : at + length] + (words(rng.choice([0, 0, 5, 200])))
        if rng.random() < 0.5:
            parts = texts.edited(rng, parts)
        made.append(" ".join(parts))
    return made


def compare(what, answer, own, sets):
    """How many documents brute force finds, and how many the answer names."""
    n = n_found = 0
    for member, share in (("contained_in", lambda a, b: len(a & b) / len(a)), ("contains", lambda a, b: len(a & b) / len(b))):
        wanted = {name: share(own, other) for name, other in sets.items() if own and other}
        wanted = {name: value for name, value in wanted.items() if value >= SHARE}
        said = answer[member]
        for document in said:
            value = wanted.get(document["id"])
            if value is None or abs(value - document["share"]) > 1e-12:
                raise SystemExit(f"{what}: {member} names {document}, by brute force {value}")
            e = document["evidence"]
            if e["shared"] != len(own & sets[document["id"]]) or e["shingles"] != [len(own), len(sets[document["id"]])]:
                raise SystemExit(f"{what}: {member} has the evidence {e}")
        posted = list(sets)
        order = [(-document["share"], posted.index(document["id"])) for document in said]
        if order != sorted(order):
            raise SystemExit(f"{what}: {member} is not in order: {order}")
        n, n_found = n + len(wanted), n_found + len(said)
    return n, n_found


def try_seed(program, seed):
    rng = random.Random(seed)
    made = documents(rng)
    labels = [rng.choice([[], ["a"], ["b"]]) for _ in made]
    sets, n, found = {}, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for half in (0, 1):
            with rest.Service(program, folder, RECIPE, KEYS) as service:
                for i in range(half, len(made), 2):
                    asked = service.send("root", "POST", "/v1/query", made[i].encode(), "text/plain", limit=100).json()
                    posted = service.put("root", str(i), labels[i], made[i], limit=100).json()
                    own = shingles(made[i])
                    for answer in (asked, posted):
                        more = compare(f"seed {seed}, text {i}", answer, own, sets)
                        n, found = n + more[0], found + more[1]
                    sets[str(i)] = own
                    if i % 7 == 0:  # it is deleted again
                        service.send("root", "DELETE", rest.document_path(str(i)))
                        del sets[str(i)]
                for who, sees in (("one", ([], ["a"])), ("none", ([],))):
                    for text in rng.sample(made, 10):
                        visible = {name: own for name, own in sets.items() if labels[int(name)] in sees}
                        answer = service.send(who, "POST", "/v1/query", text.encode(), "text/plain", limit=100).json()
                        more = compare(f"seed {seed}, for {who}", answer, shingles(text), visible)
                        n, found = n + more[0], found + more[1]
    return n, found


def main():
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 60 if "NEARDUP_NIGHTLY" in os.environ else 4
    n = found = 0
    for seed in range(first, first + count):
        more = try_seed(sys.argv[1], seed)
        n, found = n + more[0], found + more[1]
    print(f"{found} of {n} containments were found ({found / n:.4f})")
    if found < RECALL * n:
        sys.exit(f"fewer than {RECALL}")


if __name__ == "__main__":
    main()
