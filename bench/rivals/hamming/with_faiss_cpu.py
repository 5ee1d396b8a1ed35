#!/usr/bin/env python3
"""faiss-cpu by the protocol of bench/hamming_side.c.

    with_faiss_cpu.py KIND FINGERPRINTS QUERIES COUNT N_QUERIES ANSWERS

KIND as for hamming_faiss.cpp. A single query includes the call from Python.
"""

import ctypes
import json
import os
import statistics
import sys
import time

import faiss
import numpy

BITS, RADIUS = 64, 4  # faiss: less than this
SINGLES, ROUNDS = 20_000, 3


def resident():
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def make_index(kind):
    name, _, numbers = kind.partition(":")
    if name == "flat":
        return faiss.IndexBinaryFlat(BITS)
    if name == "hash":
        index = faiss.IndexBinaryHash(BITS, int(numbers))
        index.nflip = 3
        return index
    tables, bits = numbers.split("x")
    return faiss.IndexBinaryMultiHash(BITS, int(tables), int(bits))


def main():
    kind, rows, queries, count, n_queries, answers = sys.argv[1:]
    count, n_queries = int(count), int(n_queries)
    row = numpy.fromfile(rows, numpy.uint8, 8 * count).reshape(-1, 8)
    query = numpy.fromfile(queries, numpy.uint8, 8 * n_queries).reshape(-1, 8)
    faiss.omp_set_num_threads(1)

    before, start = resident(), time.process_time()
    index = make_index(kind)
    index.add(row)
    build = time.process_time() - start
    grown = resident() - before

    single = []
    for i in range(min(n_queries, SINGLES)):
        start = time.perf_counter()
        index.range_search(query[i : i + 1], RADIUS)
        single.append(time.perf_counter() - start)
    single.sort()

    took = []
    for _ in range(ROUNDS):
        start = time.process_time()
        limits, _, ids = index.range_search(query, RADIUS)
        took.append(time.process_time() - start)

    ids = ids.astype(numpy.uint64) + numpy.uint64(1)
    sums = numpy.zeros(len(ids) + 1, numpy.uint64)
    numpy.cumsum(ids * ids * ids, out=sums[1:])
    limits = limits.astype(numpy.int64)
    answer = numpy.empty((n_queries, 2), numpy.uint64)
    answer[:, 0] = numpy.diff(limits)
    answer[:, 1] = sums[limits[1:]] - sums[limits[:-1]]
    answer.tofile(answers)
    print(
        json.dumps(
            {
                "tool": f"faiss-cpu {faiss.__version__} (PyPI)",
                "count": count,
                "design": kind,
                "build_s": round(build, 3),
                "inserts_per_s": round(count / build),
                "bytes_each": round(grown / count, 2),
                "queries_per_s": round(n_queries / statistics.median(took)),
                "p50_us": round(1e6 * single[len(single) // 2], 3),
                "p99_us": round(1e6 * single[len(single) * 99 // 100], 3),
                "found": int(limits[-1]),
            }
        )
    )


if __name__ == "__main__":
    main()
