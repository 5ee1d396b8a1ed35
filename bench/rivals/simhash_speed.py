#!/usr/bin/env python3
"""Texts to simhashes of tf-idf terms, by one of the PyPI packages.

    simhash_speed.py simhash|simhash-pybind TEXTS

TEXTS: documents, each ended by a zero byte. The inverse document frequencies are known beforehand and
not timed. simhash takes weights as a dictionary; whole ones up to 50 are its fast way, so they are
rounded (its other way, for all others, is half as fast). simhash-pybind has no weights: a term stands
in the list as often as its weight says, rounded. Hashes are the packages' own.
"""

import json
import math
import re
import sys
import time
from collections import Counter

import simhash

WORD = re.compile(r"\w+")


LARGE = 50  # the greatest weight that simhash 2.1.2 adds up in batches


def weights(text, idf):
    return {t: c * idf[t] for t, c in Counter(WORD.findall(text.lower())).items()}


def with_simhash(texts, idf):
    for text in texts:
        simhash.Simhash(
            {t: round(w) if w <= LARGE else w for t, w in weights(text, idf).items()}
        )


def with_pybind(texts, idf):
    for text in texts:
        hashes = []
        for term, weight in weights(text, idf).items():
            hashes += [simhash.unsigned_hash(term.encode())] * max(1, round(weight))
        simhash.compute(hashes)


def main():
    with open(sys.argv[2], "rb") as f:
        raw = f.read()
    texts = raw.decode("utf-8", "replace").split("\0")[:-1]
    df = Counter(t for text in texts for t in set(WORD.findall(text.lower())))
    run = {"simhash": with_simhash, "simhash-pybind": with_pybind}[sys.argv[1]]
    idf = {t: math.log(len(texts) / n) for t, n in df.items()}
    best = math.inf
    for _ in range(2):
        start = time.process_time()
        run(texts, idf)
        best = min(best, time.process_time() - start)
    print(json.dumps({"mb_s": len(raw) / best / 1e6}))


if __name__ == "__main__":
    main()
