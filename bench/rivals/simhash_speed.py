#!/usr/bin/env python3
"""Texts to simhashes of tf-idf terms, by one of the PyPI packages.

    simhash_speed.py simhash|simhash-pybind TEXTS

TEXTS: documents, each ended by a zero byte. The document frequencies are counted beforehand and not
timed. simhash-pybind has no weights: a term stands in the list as often as its weight says, rounded.
"""

import json
import math
import re
import sys
import time
from collections import Counter

import simhash

WORD = re.compile(r"\w+")


def weights(terms, df, n):
    return {t: c * math.log(n / df[t]) for t, c in Counter(terms).items()}


def with_simhash(texts, df, n):
    for text in texts:
        simhash.Simhash(weights(WORD.findall(text.lower()), df, n))


def with_pybind(texts, df, n):
    for text in texts:
        hashes = []
        for term, weight in weights(WORD.findall(text.lower()), df, n).items():
            hashes += [simhash.unsigned_hash(term.encode())] * max(1, round(weight))
        simhash.compute(hashes)


def main():
    with open(sys.argv[2], "rb") as f:
        raw = f.read()
    texts = raw.decode("utf-8", "replace").split("\0")[:-1]
    df = Counter(t for text in texts for t in set(WORD.findall(text.lower())))
    run = {"simhash": with_simhash, "simhash-pybind": with_pybind}[sys.argv[1]]
    best = math.inf
    for _ in range(2):
        start = time.process_time()
        run(texts, df, len(texts))
        best = min(best, time.process_time() - start)
    print(json.dumps({"mb_s": len(raw) / best / 1e6}))


if __name__ == "__main__":
    main()
