"""Randomized I-Match on labelled mail: recall against cosine >= 0.9, and ham beside spam."""

import json
import os
import random
import re
import subprocess
from collections import Counter, defaultdict

import places
import report

RESULTS = "imatch.jsonl"
SETS = ["spamassassin", "enron-spam"]
COPIES = [0, 2, 5, 10]
RECIPE = "kolcz-2004-mail"
WORD = re.compile(r"[^\W_]+")


def options(parser):
    parser.add_argument("--sets", default=",".join(SETS), help="default: %(default)s")
    parser.add_argument("--seeds", type=int, default=5, help="lexicon seeds; default %(default)s")
    parser.add_argument("--queries", type=int, default=500, help="default: %(default)s")


def words(text):
    """Kolcz's words (section 6.3), by a pattern of our own: no code is shared with neardup."""
    return frozenset(
        w for w in WORD.findall(text.lower()) if len(w) >= 4 and sum(c.isdigit() for c in w) <= 1
    )


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def lexicon_table(binary):
    """The news lexicon (section 6.7): document frequencies of reuters21578."""
    table = os.path.join(places.BUILD, "news.df")
    run(binary, "df", "build", "--recipe", RECIPE, "-o", table, places.corpus("reuters21578"), "-q")
    return table


def signatures(binary, path, table, seed):
    """Id -> the K + 1 coordinates, or None where the signature is rejected."""
    text = run(
        *[binary, "sketch", "--recipe", RECIPE, "--df", table, path],
        *["--set", f"imatch.seed={seed}", "--quiet"],
    )
    rows = map(json.loads, text.splitlines())
    return {row["id"]: row["signatures"]["imatch"] for row in rows}


def distinct(ids, bags):
    """One document of each bag of words: copies need no near-duplicate detection (section 6.4)."""
    first = {}
    for i in ids:
        if len(bags[i]) >= 5:
            first.setdefault(bags[i], i)
    return list(first.values())


def neighbours(query, bags, postings):
    """All others with cosine >= 0.9 over distinct words: common / sqrt(d1 d2)."""
    common = Counter()
    for word in bags[query]:
        common.update(postings[word])
    n = len(bags[query])
    return {i for i, c in common.items() if i != query and c * c >= 0.81 * n * len(bags[i])}


def recall(queries, truth, coordinates, spam, copies):
    where = defaultdict(set)
    for i in spam:
        for k, value in enumerate((coordinates[i] or [])[: copies + 1]):
            where[k, value].add(i)
    total = 0
    for q in queries:
        found = set()
        for k, value in enumerate((coordinates[q] or [])[: copies + 1]):
            found |= where[k, value]
        total += len(found & truth[q]) / len(truth[q])
    return total / len(queries)


def mixed_clusters(binary, path, table, seed, is_spam, bags):
    """Documents of the recipe's clusters that are ham beside spam; empty ones are all alike."""
    clusters = os.path.join(places.BUILD, "imatch.tsv")
    run(
        *[binary, "dedup", "--recipe", RECIPE, "--df", table, path, "-o", "/dev/null"],
        *["--clusters", clusters, "--set", f"imatch.seed={seed}", "--quiet"],
    )
    with open(clusters, encoding="utf-8") as f:
        rows = [line.rstrip("\n").split("\t") for line in f]
    return sum(is_spam(a) != is_spam(b) and len(bags[a]) >= 5 for a, b in rows)


def measure(name, binary, table, args):
    path = places.corpus(name)
    with open(path, encoding="utf-8") as f:
        documents = {d["id"]: d["text"] for d in map(json.loads, f)}
    bags = {i: words(text) for i, text in documents.items()}

    def is_spam(i):
        return "spam" in i

    spam = distinct([i for i in documents if is_spam(i)], bags)
    postings = defaultdict(list)
    for i in spam:
        for word in bags[i]:
            postings[word].append(i)
    asked = random.Random(5).sample(spam, min(args.queries, len(spam)))
    truth = {q: neighbours(q, bags, postings) for q in asked}
    queries = [q for q in asked if truth[q]]
    recalls = {k: [] for k in COPIES}
    mixed = 0
    for seed in range(args.seeds):
        coordinates = signatures(binary, path, table, seed)
        for k in COPIES:
            recalls[k].append(recall(queries, truth, coordinates, spam, k))
        mixed += mixed_clusters(binary, path, table, seed, is_spam, bags)
    return {
        "set": name,
        "documents": len(documents),
        "distinct_spam": len(spam),
        "queries": len(queries),
        "seeds": args.seeds,
        "copies": COPIES,
        "recall": [sum(recalls[k]) / args.seeds for k in COPIES],
        "spread": [max(recalls[k]) - min(recalls[k]) for k in COPIES],
        "ham_with_spam": mixed,
    }


def main(args):
    session = places.new_session("bench/run imatch")
    try:
        binary = places.neardup(args.neardup)
        table = lexicon_table(binary)
        rows = [measure(name, binary, table, args) for name in args.sets.split(",")]
    except places.Skipped as why:
        places.say(f"skipped: {why}")
        return 77
    for row in rows:
        places.append(RESULTS, dict(session, **row))
    print(report.imatch())
    rising = all(all(a < b for a, b in zip(r["recall"], r["recall"][1:])) for r in rows)
    return 0 if rising and not any(r["ham_with_spam"] for r in rows) else 1
