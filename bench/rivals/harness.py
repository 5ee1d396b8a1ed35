#!/usr/bin/env python3
"""Run one rival over one file of JSON Lines: what all adapters share.

    harness.py NAME --input FILE --out DIR [--clusters]

The clock starts where BENCH_START says (time.monotonic() of the starter, just before the process
was made) and stops when the survivors are written. What comes after, the clusters for the scorer,
is made only with --clusters and is not timed. Writes survivors.jsonl, removed.txt, clusters.tsv,
meta.json.
"""

import argparse
import importlib
import json
import os
import re
import resource
import sys
import time
from contextlib import contextmanager
from importlib.metadata import version

# name -> (package, module, function)
RIVALS = {
    "rensa-r": ("rensa", "with_rensa", "run_r"),
    "rensa-c": ("rensa", "with_rensa", "run_c"),
    "gaoya": ("gaoya", "with_gaoya", "run"),
    "fastsketch": ("FastSketchLSH", "with_fastsketch", "run"),
    "datasketch": ("datasketch", "with_datasketch", "run"),
    "datasketch-xxh": ("datasketch", "with_datasketch", "run_xxh"),
}
BATCH = 500  # documents


class Job:
    """The job of an adapter: the texts, the settings, and a place for what survives."""

    def __init__(self, args):
        import orjson

        self.parse = orjson.loads
        self.input, self.out, self.want_clusters = args.input, args.out, args.clusters
        self.threshold, self.width, self.perms = args.threshold, args.shingle, args.perms
        self.start = float(os.environ["BENCH_START"])
        self.phases = {}
        self.note = {}
        self.seconds = None

    @contextmanager
    def phase(self, name):
        begin = time.monotonic()
        try:
            yield
        finally:
            self.phases[name] = self.phases.get(name, 0) + time.monotonic() - begin

    def batches(self):
        """Lists of texts, in input order."""
        with open(self.input, "rb") as lines:
            while True:
                with self.phase("read"):
                    texts = [self.parse(line)["text"] for _, line in zip(range(BATCH), lines)]
                if not texts:
                    return
                yield texts

    def write_survivors(self, removed):
        """Copy the kept records unparsed; the clock stops."""
        with self.phase("write"), open(self.input, "rb") as lines, open(
            os.path.join(self.out, "survivors.jsonl"), "wb"
        ) as out:
            for number, line in enumerate(lines):
                if number not in removed:
                    out.write(line)
        self.seconds = time.monotonic() - self.start
        usage = resource.getrusage(resource.RUSAGE_SELF)
        self.cpu = usage.ru_utime + usage.ru_stime
        self.peak = usage.ru_maxrss


find_words = re.compile(r"\w+").findall


def shingles(text, width):
    """Word shingles as strings; a shorter text is one shingle."""
    words = find_words(text.lower())
    if len(words) < width:
        return [" ".join(words)]
    return list(map(" ".join, zip(*(words[i:] for i in range(width)))))


def first_of_each(count, pairs):
    """Connected components: for each document the first of its own."""
    parent = list(range(count))

    def root(i):
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for a, b in pairs:
        a, b = sorted((root(a), root(b)))
        parent[b] = a
    return [root(i) for i in range(count)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=sorted(RIVALS))
    parser.add_argument("--input", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--threshold", type=float, default=0.8)
    parser.add_argument("--shingle", type=int, default=3)
    parser.add_argument("--perms", type=int, default=128)
    parser.add_argument("--clusters", action="store_true")
    args = parser.parse_args()
    package, module, function = RIVALS[args.name]
    sys.modules["harness"] = sys.modules["__main__"]

    begin = time.monotonic()
    adapter = importlib.import_module(module)  # imports the rival
    job = Job(args)
    importing = time.monotonic() - begin

    leaders, removed = getattr(adapter, function)(job)
    if args.clusters:
        with open(args.input, "rb") as lines:
            ids = [job.parse(line)["id"] for line in lines]
        with open(os.path.join(args.out, "clusters.tsv"), "w", encoding="utf-8") as out:
            out.writelines(f"{ids[i]}\t{ids[leader]}\n" for i, leader in enumerate(leaders()))
        with open(os.path.join(args.out, "removed.txt"), "w", encoding="utf-8") as out:
            out.writelines(f"{ids[i]}\n" for i in sorted(removed))
    with open(os.path.join(args.out, "meta.json"), "w", encoding="utf-8") as out:
        json.dump(
            {
                "version": version(package),
                "seconds_full": job.seconds,
                "seconds_import": importing,
                "cpu_s": job.cpu,
                "peak_kb": job.peak,
                "removed": len(removed),
                "phases": job.phases,
                "note": job.note,
            },
            out,
        )


if __name__ == "__main__":
    main()
