#!/usr/bin/env python3
"""Score what a tool removed and put together, the same way for every tool; one line of JSON.

    score.py --oracle PAIRS.tsv --input DOCS.jsonl --clusters C.tsv [--removed R.txt]

The oracle holds id, id, resemblance of every pair over sets of word 3-shingles (lower-cased \\w+);
with --exact, of every pair by another notion of words, and more columns that are not looked at.
Clusters: id and the id of its cluster. Removed: one id a line; without it, every document whose
cluster has another's name.

  pair recall      of the true pairs (>= threshold), those in one cluster
  both kept        true pairs of which neither was removed
  pair precision   of all pairs within clusters, n(n-1)/2 each, those that are true
  wrongly removed  removed, and no kept document at all reaches the threshold
  missed           kept, and an earlier kept document reaches the threshold
"""

import argparse
import json
import re
from collections import defaultdict

find_words = re.compile(r"\w+").findall
ESCAPES = {"\\t": "\t", "\\n": "\n", "\\r": "\r", "\\\\": "\\"}


def unescape(text):
    return re.sub(r"\\[tnr\\]", lambda m: ESCAPES[m[0]], text) if "\\" in text else text


def rows(path):
    with open(path, encoding="utf-8", newline="\n") as f:
        for line in f:
            yield [unescape(c) for c in line.rstrip("\n").split("\t")]


def shingles(text):
    words = find_words(text.lower())
    return set(zip(words, words[1:], words[2:])) if len(words) >= 3 else {tuple(words)}


class Texts:
    """Documents read again by id, for the few that the oracle does not decide."""

    def __init__(self, path):
        self.file = open(path, "rb")
        self.order, self.offset, position = {}, {}, 0
        for line in self.file:
            name = json.loads(line)["id"]
            self.order[name] = len(self.order)
            self.offset[name] = position
            position += len(line)

    def text(self, name):
        self.file.seek(self.offset[name])
        return json.loads(self.file.readline())["text"]

    def shingles(self, name):
        return shingles(self.text(name))


def near(a, b, threshold):
    """Sets of the oracle's own kind; texts without words are equal to one another."""
    if min(len(a), len(b)) < threshold * max(len(a), len(b)):
        return False
    shared = len(a & b)
    return shared >= threshold * (len(a) + len(b) - shared)


def equal_texts(suspects, clusters, cluster_of, removed, texts):
    """Suspects whose text equals a kept one's: an exact oracle lacks only those
    without words."""
    found = set()
    for name in suspects:
        kept = [k for k in clusters[cluster_of[name]] if k not in removed]
        if any(texts.text(name) == texts.text(k) for k in kept):
            found.add(name)
    return found


def cleared(suspects, clusters, cluster_of, removed, texts, threshold):
    """Suspects that are near a kept one of their cluster after all: the oracle knows no texts
    without words and rounds to four digits."""
    found = set()
    for name in suspects:
        own = texts.shingles(name)
        kept = [k for k in clusters[cluster_of[name]] if k not in removed]
        if any(near(own, texts.shingles(k), threshold) for k in kept):
            found.add(name)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--oracle", required=True)
    parser.add_argument("--input", required=True)
    parser.add_argument("--clusters", required=True)
    parser.add_argument("--removed")
    parser.add_argument(
        "--exact", action="store_true", help="the oracle is of other words, and exact"
    )
    parser.add_argument("--threshold", type=float, default=0.8)
    args = parser.parse_args()
    texts = Texts(args.input)
    cluster_of = {name: cluster for name, cluster in rows(args.clusters)}
    if set(cluster_of) != set(texts.order):
        raise SystemExit("score.py: the clusters are not of these documents")
    if args.removed:
        removed = {row[0] for row in rows(args.removed)}
    else:
        removed = {name for name, cluster in cluster_of.items() if name != cluster}
    clusters = defaultdict(list)
    for name, cluster in cluster_of.items():
        clusters[cluster].append(name)

    true = together = both_kept = 0
    has_kept, missed = set(), set()
    for a, b, resemblance, *_ in rows(args.oracle):
        if float(resemblance) < args.threshold:
            continue
        true += 1
        together += cluster_of[a] == cluster_of[b]
        if a not in removed and b not in removed:
            both_kept += 1
            missed.add(max(a, b, key=texts.order.get))
        elif a in removed and b not in removed:
            has_kept.add(a)
        elif b in removed and a not in removed:
            has_kept.add(b)
    suspects = removed - has_kept
    if args.exact:
        wrong = suspects - equal_texts(suspects, clusters, cluster_of, removed, texts)
    else:
        wrong = suspects - cleared(suspects, clusters, cluster_of, removed, texts, args.threshold)
    made = sum(len(m) * (len(m) - 1) // 2 for m in clusters.values())
    print(
        json.dumps(
            {
                "documents": len(cluster_of),
                "removed": len(removed),
                "true_pairs": true,
                "pair_recall": together / true if true else 1.0,
                "both_kept": both_kept,
                "pair_precision": together / made if made else 1.0,
                "largest_cluster": max(map(len, clusters.values())),
                "wrongly_removed": len(wrong),
                "wrongly_removed_share": len(wrong) / max(1, len(removed)),
                "missed": len(missed),
                "missed_share": len(missed) / max(1, len(missed) + len(removed)),
            }
        )
    )


if __name__ == "__main__":
    main()
