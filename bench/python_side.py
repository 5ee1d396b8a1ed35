#!/usr/bin/env python3
"""Deduplicate a frame with one tool, timed from the frame to the frame of survivors.

    python_side.py TOOL FRAME --input FILE --out DIR

TOOL is neardup or a rival of rivals/harness.py, FRAME polars or pyarrow.  The frame is made before
the clock starts.  Prints a JSON object; writes clusters.tsv and removed.txt for the scorer.
"""

import argparse
import importlib
import json
import os
import sys
import time

BENCH = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(BENCH, "rivals"))

import harness  # noqa: E402  (found by the path above)


def make_frame(kind, path):
    import pyarrow

    with open(path, "rb") as lines:
        records = [json.loads(line) for line in lines]
    table = pyarrow.table(
        {
            "id": pyarrow.array([str(record["id"]) for record in records]),
            "text": pyarrow.array([record["text"] for record in records], pyarrow.large_string()),
        }
    )
    if kind == "pyarrow":
        return table
    import polars

    return polars.DataFrame(table)


def column(frame, name):
    return frame[name].to_pylist() if hasattr(frame[name], "to_pylist") else frame[name].to_list()


class FrameJob(harness.Job):
    """The job that an adapter is given, with texts from a frame and survivors as one."""

    def __init__(self, frame, args):
        self.frame, self.out, self.want_clusters = frame, args.out, True
        self.threshold, self.width, self.perms = 0.8, 3, 128
        self.start, self.phases, self.note = time.monotonic(), {}, {}

    def batches(self):
        for at in range(0, len(self.frame), harness.BATCH):
            yield column(self.frame[at : at + harness.BATCH], "text")

    def write_survivors(self, removed):
        kept = [i not in removed for i in range(len(self.frame))]
        if type(self.frame).__module__.startswith("polars"):
            self.survivors = self.frame.filter(kept)
        else:
            self.survivors = self.frame.filter(__import__("pyarrow").array(kept))
        self.cpu = time.process_time()


def run_neardup(frame):
    """Processor seconds, the survivors, and for every row the one that stands for it."""
    import neardup

    _ = neardup.dedup(frame[:2]).survivors  # what the frame's package imports when it first filters
    start = time.process_time()
    result = neardup.dedup(frame, threads=1)
    survivors = result.survivors
    taken = time.process_time() - start
    leader = list(range(len(frame)))
    for row, kept in zip(result.removed["row"], result.removed["kept_row"]):
        leader[row] = kept
    return taken, len(survivors), leader, neardup.__version__


def run_rival(name, frame, args):
    package, module, function = harness.RIVALS[name]
    adapter = importlib.import_module(module)
    start = time.process_time()
    job = FrameJob(frame, args)
    leaders, _ = getattr(adapter, function)(job)
    return job.cpu - start, len(job.survivors), leaders(), harness.version(package)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool", choices=["neardup", *sorted(harness.RIVALS)])
    parser.add_argument("frame", choices=["polars", "pyarrow"])
    parser.add_argument("--input", required=True)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    frame = make_frame(args.frame, args.input)
    if args.tool == "neardup":
        taken, survivors, leader, version = run_neardup(frame)
    else:
        taken, survivors, leader, version = run_rival(args.tool, frame, args)
    ids = column(frame, "id")
    with open(os.path.join(args.out, "clusters.tsv"), "w", encoding="utf-8") as out:
        out.writelines(f"{ids[i]}\t{ids[first]}\n" for i, first in enumerate(leader))
    with open(os.path.join(args.out, "removed.txt"), "w", encoding="utf-8") as out:
        out.writelines(f"{ids[i]}\n" for i, first in enumerate(leader) if first != i)
    print(json.dumps({"cpu_s": taken, "survivors": survivors, "version": version}))


if __name__ == "__main__":
    sys.modules["harness"] = harness
    main()
