"""Containment and cosine: pairs found of those of an exact join, and what finding them costs."""

import collections
import json
import os
import random
import re
import resource
import subprocess
import sys

import places

MEASURES = ["jaccard", "containment", "containment-of-kept", "containment-either", "cosine"]


def options(parser):
    parser.add_argument("--documents", type=int, default=4000, help="of a set, at most; default %(default)s")
    parser.add_argument("--articles", type=int, default=1000, help="laid into mails; default %(default)s")


def read(name, most=None):
    with open(places.corpus(name), encoding="utf-8") as f:
        documents = [json.loads(line) for line in f]
    return documents[:most] if most else documents


def write(name, documents):
    os.makedirs(os.path.join(places.BUILD, "containment"), exist_ok=True)
    path = os.path.join(places.BUILD, "containment", name + ".jsonl")
    with open(path, "w", encoding="utf-8") as out:
        for d in documents:
            print(json.dumps({"id": str(d["id"]), "text": d["text"]}), file=out)
    return path


def articles_in_mails(count):
    """Each article as it is, and in a mail of 2 to 10 times its length."""
    chance = random.Random(14)
    articles = [a for a in read("reuters21578") if len(a["text"].split()) >= 60]
    mails = [m for m in read("enron-spam") if len(m["text"].split()) >= 100]
    chance.shuffle(articles)
    chance.shuffle(mails)
    words = (w for m in mails for w in m["text"].split())
    rows = []
    for a in articles[:count]:
        around = [next(words) for _ in range(int(len(a["text"].split()) * chance.uniform(1, 9)))]
        at = chance.randrange(len(around) + 1)
        text = " ".join(around[:at]) + "\n" + a["text"] + "\n" + " ".join(around[at:])
        rows += [{"id": "article-" + a["id"], "text": a["text"]}, {"id": "mail-" + a["id"], "text": text}]
    chance.shuffle(rows)
    return rows


def overlaps(documents):
    """Every two documents that share shingles: how many; and how many each has."""
    holders, shared, size = {}, collections.Counter(), []
    for i, d in enumerate(documents):
        tokens = re.findall(r"\w+", d["text"].lower())
        shingles = {tuple(tokens[k : k + 3]) for k in range(len(tokens) - 2)}
        size.append(len(shingles))
        for s in shingles:
            earlier = holders.setdefault(s, [])
            for e in earlier:
                shared[e, i] += 1
            earlier.append(i)
    return shared, size


def found(neardup, path, measure, threshold):
    command = [neardup, "pairs", path, "-q", "--verify", measure, "-t", str(threshold)]
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}: {process.stderr}")
    return {tuple(line.split("\t")[:2]) for line in process.stdout.splitlines()}


def measure_recall(neardup, name, documents):
    path, (shared, size) = write(name, documents), overlaps(documents)
    for threshold in (0.8, 0.5):
        for measure in ("containment-either", "cosine"):
            reach = {
                "containment-either": lambda a, b: min(a, b),
                "cosine": lambda a, b: (a * b) ** 0.5,
            }[measure]
            true = {
                (str(documents[e]["id"]), str(documents[i]["id"]))
                for (e, i), n in shared.items()
                if n >= threshold * reach(size[e], size[i]) - 1e-9
            }
            got = found(neardup, path, measure, threshold)
            yield {
                "set": name, "documents": len(documents), "measure": measure, "threshold": threshold,
                "true": len(true), "found": len(true & got), "other": len(got - true),
            }


def measure_cost(neardup, name):
    for measure in MEASURES:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        out = os.path.join(places.BUILD, "containment", "summary.json")
        subprocess.run(
            [neardup, "dedup", places.corpus(name), "-q", "-j", "1", "--verify", measure, "-o", os.devnull,
             "--summary", out], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(out, encoding="utf-8") as f:
            summary = json.load(f)
        yield {
            "set": name, "measure": measure,
            "seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            "peak_bytes": summary["peak_bytes"], "candidates": summary["candidates"],
        }


def main(args):
    try:
        neardup = places.neardup(args.neardup)
        places.corpus("clough-stevenson")
    except places.Skipped as why:
        places.say(f"skipped: {why}")
        return
    # First, as a process reports no smaller peak than that of the one that started it.
    for name in ("enron-spam", "reuters21578"):
        for row in measure_cost(neardup, name):
            print(json.dumps(row), flush=True)
    sets = {
        "articles-in-mails": articles_in_mails(args.articles),
        "enron-spam": read("enron-spam", args.documents),
        "clough-stevenson": read("clough-stevenson"),
    }
    for name, documents in sets.items():
        for row in measure_recall(neardup, name, documents):
            print(json.dumps(row), flush=True)
