#!/usr/bin/env python3
"""Measure what a call from Python costs: fingerprints queried beside C, small calls, interrupts.

usage: bench/measure_python_calls.py [--bench build/release/bench/bench_hamming] [--count N]

Run it by the Python that has the package.  Times are the processor's, but for interrupts, which are
from the signal to the end of the call.  One JSON object a line.
"""

from __future__ import annotations

import argparse
import array
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import time

import neardup

QUERIES = 200_000
ROUNDS = 5
CALLS = 200_000


def processor_time(work, rounds: int = 3) -> float:
    """The least processor time of several rounds."""
    taken = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def fingerprints(count: int) -> tuple[array.array, array.array]:
    """As bench_hamming has them: every tenth is near another, and half of the queries near one."""
    chance = random.Random(1)
    rows = array.array("Q", chance.randbytes(8 * count))

    def near(bits: int) -> int:
        value = rows[chance.randrange(count)]
        for _ in range(bits):
            value ^= 1 << chance.randrange(64)
        return value

    for i in range(9, count, 10):
        rows[i] = near(1 + chance.randrange(3))
    queries = array.array("Q", chance.randbytes(8 * QUERIES))
    for i in range(1, QUERIES, 2):
        queries[i] = near(chance.randrange(5))
    return rows, queries


def measure_queries(bench: str, count: int) -> dict[str, object]:
    """Queries in a buffer, in turns with C."""
    rows, queries = fingerprints(count)
    index = neardup.HammingIndex(count=count)
    index.add(rows)
    design = ["--family", index.design["family"], "--tables", str(index.design["tables"])]
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(processor_time(lambda: index.query(queries)) / QUERIES * 1e6)
        said = subprocess.run(
            [bench, "--what", "index", "--count", str(count), "--queries", str(QUERIES), "--check", "0", *design],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        theirs.append(min(json.loads(line)["batch_us"] for line in said.splitlines()))
    python, c = statistics.median(ours), statistics.median(theirs)
    found = {"python_us": round(python, 4), "c_us": round(c, 4), "of_c": round(c / python, 3)}
    return {"what": "queries", "count": count, **found}


def measure_small_calls() -> list[dict[str, object]]:
    """One call after the other; what the loop takes is subtracted."""
    index = neardup.HammingIndex()
    index.add(array.array("Q", random.Random(1).randbytes(8000)))
    texts = neardup.Index(threads=1)
    texts.add("a", "the ship left the harbour at noon with forty men on board")
    loop = processor_time(lambda: [None for _ in range(CALLS)])
    calls = {
        "HammingIndex.find": (lambda: [index.find(1 << 60) for _ in range(CALLS)], CALLS),
        "Index.query": (lambda: [texts.query("nobody saw it again") for _ in range(CALLS // 10)], CALLS // 10),
    }
    return [
        {"what": "call", "name": name, "us": round((processor_time(work) - loop * n / CALLS) / n * 1e6, 3)}
        for name, (work, n) in calls.items()
    ]


LONG_CALLS = {
    "dedup of a list": "neardup.dedup(texts)",
    "Deduper.push": "neardup.Deduper().push(texts)",
    "Sketcher": "neardup.Sketcher()(texts)",
    "Index.add_batch": "neardup.Index().add_batch(range(len(texts)), texts)",
    "Index.query_batch": "index.query_batch(texts)",
    "Index.compact": "index.compact()",
    "HammingIndex.add": "neardup.HammingIndex(count=10**7).add(words)",
    "HammingIndex.query": "fingerprints.query(words)",
    "hamming_pairs": "neardup.hamming_pairs(words)",
}
CHILD = """
import os, random, sys, time, neardup
chance = random.Random(1)
names = [f"w{i}" for i in range(20000)]
texts = [" ".join(chance.choices(names, k=150)) for _ in range(60000)]
words = __import__("array").array("Q", chance.randbytes(8 * 6_000_000))
index = neardup.Index()
fingerprints = neardup.HammingIndex()
if "index." in sys.argv[1]:
    index.add_batch(range(len(texts)), texts)
fingerprints.add(words[:1_000_000])
print("ready", flush=True)
sys.stdin.readline()
print("begun", flush=True)
try:
    eval(sys.argv[1])
except KeyboardInterrupt:
    print("interrupted", time.monotonic(), flush=True)
else:
    print("done", flush=True)
"""


def interrupt(call: str, after: float) -> float | None:
    """Seconds from a signal, sent so long after the call began, to its end; None: it was done before."""
    with subprocess.Popen(
        [sys.executable, "-P", "-c", CHILD, call], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin and child.stdout and child.stdout.readline() == "ready\n"
        child.stdin.write("\n")
        child.stdin.flush()
        assert child.stdout.readline() == "begun\n"
        time.sleep(after)
        sent = time.monotonic()
        os.kill(child.pid, signal.SIGINT)
        said = child.stdout.read().split()
    return float(said[1]) - sent if said and said[0] == "interrupted" else None


def measure_interrupts() -> list[dict[str, object]]:
    """The longest of several, at different times in the call."""
    rows = []
    for name, call in LONG_CALLS.items():
        taken = [took for after in (0.05, 0.2, 0.35) if (took := interrupt(call, after)) is not None]
        longest = round(max(taken) * 1000, 1) if taken else None
        rows.append({"what": "interrupt", "call": name, "ms": longest, "of": len(taken)})
    return rows


def main() -> None:
    """Print a line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default="build/release/bench/bench_hamming")
    parser.add_argument("--count", type=int, default=1_000_000)
    options = parser.parse_args()
    for row in measure_small_calls() + [measure_queries(options.bench, options.count)] + measure_interrupts():
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
