"""The costs of containment and cosine; what they find is in `neardup reproduce containment`."""

import json
import os
import resource
import subprocess
import sys

import places
import report

MEASURES = ["jaccard", "containment", "containment-of-kept", "containment-either", "cosine"]
SETS = ["enron-spam", "reuters21578"]


def options(parser):
    parser.add_argument("--sets", default=",".join(SETS), help="default: %(default)s")


def measure_cost(neardup, name):
    for measure in MEASURES:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        out = os.path.join(places.BUILD, "containment.json")
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
    session = places.new_session("bench/run " + " ".join(sys.argv[1:]))
    try:
        neardup = places.neardup(args.neardup)
        for name in args.sets.split(","):
            for row in measure_cost(neardup, name):
                places.append("containment.jsonl", session | row)
                places.say(f"{name}, {row['measure']}: {row['seconds']:.2f} s")
        print(report.containment())
    except places.Skipped as why:
        places.say(f"skipped: {why}")
        return 77
    return 0
