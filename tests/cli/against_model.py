#!/usr/bin/env python3
"""against_model.py - new documents against old ones, and one run over both, must agree

usage: against_model.py NEARDUP ROUNDS

Each round makes a corpus of templates, edited copies and short documents, cuts it into old and new,
and compares the survivors among the new ones, and whom the manifest names, for a kind of cluster, a
keep policy and a way of giving the documents that were drawn at random.

With containment-of-kept, unless short documents are kept, a model written here first removes the new
documents that contain a short old one as a whole and equal none that is kept; the others must agree
with one run.

In every third round new documents are compared with old ones alone (--only-against). Then each must be
removed for the prototype that `neardup filter` names, or for the first short one that it contains, and
the table by file must say what filter says of each file.
"""

import json
import os
import random
import subprocess
import sys

CLUSTERS = ("star", "components", "complete")
KEEPS = ("first", "last", "longest", "shortest", "max:n", "min:n")
RECIPES = (
    (),
    ("-t", "0.5"),
    ("-t", "0.9", "--set", "max_checks=3"),
    ("--set", "max_checks=2"),
    ("-m", "simhash", "--bits", "6"),
    ("-m", "identical"),
    ("--short", "tokens"),
    ("--set", "verify=containment-either", "-t", "0.7"),
    ("--set", "verify=none"),
    ("--set", "candidates=all"),
    ("--verify", "containment-of-kept", "--short", "keep"),
    ("--verify", "containment-of-kept", "--short", "keep", "-t", "0.4"),
    ("--verify", "containment-of-kept"),
    ("--verify", "containment-of-kept", "--short", "tokens", "-t", "0.5"),
    ("--verify", "containment-of-kept", "--candidates", "all"),
    ("--verify", "containment-of-kept", "--candidates", "simhash", "--bits", "3"),
    ("--verify", "containment-of-kept", "-m", "identical"),
)
SHINGLE = 3


def corpus(rng):
    """Documents: some of crowded templates, most with near copies, a few that are very short."""
    words = [f"w{i}" for i in range(400)]
    templates = [rng.choices(words, k=rng.randrange(8, 60)) for _ in range(rng.randrange(1, 12))]
    texts = []
    for _ in range(rng.randrange(20, 160)):
        kind = rng.random()
        if kind < 0.1:
            text = rng.choices(words[:4], k=rng.randrange(0, 4))
        elif kind < 0.2 and texts:
            text = list(rng.choice(texts))
            if rng.random() < 0.3:
                text[:1] = [word.upper() for word in text[:1]]
        elif kind < 0.8:
            text = list(rng.choice(templates))
            for _ in range(rng.randrange(0, 6)):
                text[rng.randrange(len(text))] = rng.choice(words)
        else:
            text = rng.choices(words, k=rng.randrange(5, 50))
        texts.append(text)
    return [
        {"id": f"d{i}", "text": " ".join(text), "n": rng.randrange(5), "age": "new"}
        for i, text in enumerate(texts)
    ]


def write(name, documents):
    with open(name, "w", encoding="utf-8") as out:
        for document in documents:
            out.write(json.dumps(document) + "\n")


def run(neardup, *args, **more):
    subprocess.run([neardup, *args, "-q"], check=True, **more)


def ids(name):
    with open(name, encoding="utf-8") as rows:
        return [json.loads(row)["id"] for row in rows]


def removals(name):
    with open(name, encoding="utf-8") as rows:
        next(rows)
        keys = "removed kept method identical distance cut via".split()
        return {row["removed"]: [row.get(key) for key in keys] for row in map(json.loads, rows)}


def sketch_old(neardup, rng, old):
    """One to three files that hold the old documents in order: the options that name them, and their parts."""
    cuts = sorted(rng.randrange(len(old) + 1) for _ in range(rng.randrange(3)))
    parts = [old[a:b] for a, b in zip([0, *cuts], [*cuts, len(old)])]
    names = []
    for i, part in enumerate(parts):
        write(f"old{i}.jsonl", part)
        if os.path.exists(f"old{i}.sketch"):
            os.remove(f"old{i}.sketch")
        run(neardup, "sketch", f"old{i}.jsonl", "-o", f"old{i}.sketch")
        names += ["--against", f"old{i}.sketch"]
    return names, parts


def contains(whole, part):
    return any(whole[i:i + len(part)] == part for i in range(len(whole) - len(part) + 1))


def finds_short(recipe):
    directed = "containment-of-kept" in recipe
    return directed and not {"keep", "simhash", "identical"}.intersection(recipe)


def tokens_of(document):
    return document["text"].lower().split()


def equal(a, b, recipe):
    by_tokens = len(tokens_of(a)) >= (1 if "tokens" in recipe else SHINGLE)
    return a["text"] == b["text"] or (by_tokens and tokens_of(a) == tokens_of(b))


def removed_for_short(neardup, recipe, old, new, only=False):
    """The new documents that contain a short old one as a whole, and the first such."""
    if not old or not finds_short(recipe):
        return {}
    kept = old
    if not only:
        write("old.jsonl", old)
        run(neardup, "dedup", "old.jsonl", *recipe, "-o", "kept.jsonl")
        kept_ids = set(ids("kept.jsonl"))
        kept = [document for document in old if document["id"] in kept_ids]
    short = [document for document in old if 0 < len(tokens_of(document)) < SHINGLE]
    removed = {}
    for document in new:
        part = next((s for s in short if contains(tokens_of(document), tokens_of(s))), None)
        if part and not any(equal(document, other, recipe) for other in kept):
            removed[document["id"]] = part["id"]
    return removed


def matches(neardup, recipe, old, new):
    """For each new document that equals or matches an old one, the nearest, as filter says."""
    if not old:
        return {}
    write("prototypes.jsonl", old)
    result = subprocess.run(
        [neardup, "filter", "-q", "-p", "prototypes.jsonl", "--missing-text", "empty", "-a", *recipe, "new.jsonl"],
        check=False, stdout=subprocess.PIPE)
    assert result.returncode < 2, f"filter: {result.returncode}"
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    found = {row["id"]: row["prototype"] for row in rows if row["match"]}
    by_short = removed_for_short(neardup, recipe, old, new, only=True)
    return {**found, **by_short}


def only_round(neardup, rng, documents):
    n_old = rng.randrange(1, len(documents))
    old, new, recipe = documents[:n_old], documents[n_old:], rng.choice(RECIPES)
    write("new.jsonl", new)
    seen, parts = sketch_old(neardup, rng, old)
    run(neardup, "dedup", "new.jsonl", *seen, "--only-against", *recipe, "-j", str(rng.choice((1, 2, 3))),
        *rng.choice(((), ("--memory", "64M"), ("-k", "longest"))),
        "-o", "got.jsonl", "--manifest", "got.m", "--summary", "got.s")
    right = matches(neardup, recipe, old, new)
    what = f"{n_old} old of {len(documents)} alone, {recipe}"
    got = {name: row[1] for name, row in removals("got.m").items()}
    assert got == right, f"{what}: {got}, not {right}"
    assert ids("got.jsonl") == [d["id"] for d in new if d["id"] not in right], what
    if any("max_checks" in option for option in recipe):
        return  # of more matches than are compared, others are counted
    with open("got.s", encoding="utf-8") as summary:
        quoted = [(row["prototypes"], row["documents"]) for row in json.load(summary)["quoted"]]
    right = [(len(part), len(matches(neardup, recipe, part, new))) for part in parts]
    assert quoted == right, f"{what}: {quoted}, not {right}"


def one_round(neardup, rng):
    documents = corpus(rng)
    n_old = rng.randrange(len(documents) + 1)
    old, new = documents[:n_old], documents[n_old:]
    cluster, keep, recipe = rng.choice(CLUSTERS), rng.choice(KEEPS), rng.choice(RECIPES)
    if "containment-of-kept" in recipe:
        cluster = "star"
    # Old documents come in the order of their files, whatever the policy.
    for i, document in enumerate(old):
        document["age"] = f"old{i}"
    order = ",".join(document["age"] for document in old) or "none"
    options = ["--cluster", cluster, "-k", keep, *recipe]
    if not new:
        return
    write("new.jsonl", new)
    by_short = removed_for_short(neardup, recipe, old, new)
    write("both.jsonl", [d for d in documents if d["id"] not in by_short])
    run(neardup, "dedup", "both.jsonl", "--prefer", f"age={order}", *options,
        "-o", "right.jsonl", "--manifest", "right.m")
    seen, _ = sketch_old(neardup, rng, old)
    piped = rng.random() < 0.3
    with open("new.jsonl", encoding="utf-8") as stdin:
        run(neardup, "dedup", "-" if piped else "new.jsonl", "--format", "jsonl", *seen, *options,
            *rng.choice(((), ("--memory", "64M"))), "-j", str(rng.choice((1, 2, 3))),
            "-o", "got.jsonl", "--manifest", "got.m", stdin=stdin)
    is_new = {document["id"] for document in new}
    right = [name for name in ids("right.jsonl") if name in is_new]
    what = f"{n_old} old of {len(documents)}, {options}, piped: {piped}"
    assert ids("got.jsonl") == right, f"{what}: {ids('got.jsonl')}, not {right}"
    right = {k: v for k, v in removals("right.m").items() if k in is_new}
    method = "all" if "all" in recipe else "shingles"
    right.update({k: [k, v, method, "no", None, None, None] for k, v in by_short.items()})
    assert removals("got.m") == right, f"{what}: {removals('got.m')}, not {right}"


def main():
    neardup, rounds = sys.argv[1], int(sys.argv[2])
    for seed in range(rounds):
        try:
            if seed % 3:
                one_round(neardup, random.Random(seed))
            else:
                only_round(neardup, random.Random(seed), corpus(random.Random(seed)))
        except (AssertionError, subprocess.CalledProcessError) as error:
            sys.exit(f"seed {seed}: {error}")


main()
