"""Sketch per task, decide once, apply per task: what each step takes, beside one run over the whole."""

import filecmp
import os
import shutil
import subprocess
import sys

import places
import timed

RESULTS = "cluster.jsonl"


def options(parser):
    parser.add_argument("--documents", type=int, default=1_000_000, help="default: %(default)s")
    parser.add_argument(
        "--words", default="100,200", help="least and most of a document, default: %(default)s"
    )
    parser.add_argument("--shards", type=int, default=16, help="default: %(default)s")
    parser.add_argument("--memory", help="of the task that decides, such as 2G (default: no limit)")
    parser.add_argument(
        "--whole", action="store_true", help="also one run over all, and compare the survivors"
    )
    parser.add_argument("--limit", type=float, default=900, help="seconds for one task")


def make_shards(folder, args):
    """Generated documents in shards, of which no line is torn."""
    lines = -(-args.documents // args.shards)
    made = subprocess.Popen(
        places.generator(args.documents, *args.words.split(",")),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    split = [
        "split",
        "-d",
        "-a",
        "5",
        "-l",
        str(lines),
        "--additional-suffix=.jsonl",
        "-",
        f"{folder}/",
    ]
    subprocess.run(split, stdin=made.stdout, check=True)
    if made.wait():
        raise places.Skipped("generate_documents failed")
    return sorted(os.path.join(folder, name) for name in os.listdir(folder))


class Steps:
    """Tasks of one thread, one after the other, and what each step took."""

    def __init__(self, binary, folder, limit):
        self.binary, self.folder, self.limit = binary, folder, limit
        self.cpu = sorted(os.sched_getaffinity(0))[:1]
        self.step = {}

    def run(self, step, *arguments):
        command = [self.binary, *arguments, "-q", "-j1"]
        done = timed.run(command, self.cpu, os.path.join(self.folder, "log.txt"), self.limit)
        if done["exit"]:
            raise SystemExit(f"{step}: {done}")
        row = self.step.setdefault(step, {"tasks": 0, "cpu_s": 0.0, "seconds": 0.0, "peak_mb": 0.0})
        row["tasks"] += 1
        row["cpu_s"] += done["cpu_s"]
        row["seconds"] += done["seconds"]
        row["peak_mb"] = max(row["peak_mb"], done["peak_mb"])

    def written(self, step, paths):
        self.step[step]["mb"] = sum(os.path.getsize(path) for path in paths) / 1e6


def measure(args, binary, folder):
    steps = Steps(binary, folder, args.limit)
    os.makedirs(os.path.join(folder, "shards"))
    shards = make_shards(os.path.join(folder, "shards"), args)
    sketches = [f"{shard}.sketch" for shard in shards]
    clean = [f"{shard}.clean" for shard in shards]
    manifest = os.path.join(folder, "removed.jsonl")
    for shard, sketch in zip(shards, sketches):
        steps.run("sketch", "sketch", shard, "-o", sketch)
    steps.written("sketch", sketches)
    memory = ["--memory", args.memory, "--tmp", folder] if args.memory else []
    kept = os.path.join(folder, "clusters.tsv")
    steps.run(
        "decide",
        "dedup",
        "--sketches",
        *sketches,
        "--manifest",
        manifest,
        "--clusters",
        kept,
        *memory,
    )
    steps.written("decide", [manifest])
    for shard, to in zip(shards, clean):
        steps.run("apply", "apply", "--partial", manifest, shard, "-o", to)
    steps.written("apply", clean)
    if args.whole:
        whole = os.path.join(folder, "whole")
        steps.run("whole", "dedup", *shards, "--output-dir", whole)
        for shard, to in zip(shards, clean):
            if not filecmp.cmp(to, whole + shard, shallow=False):
                raise SystemExit(f"{to} has other survivors than one run over all")
        places.say("the survivors are those of one run, byte for byte")
    return steps.step, sum(os.path.getsize(shard) for shard in shards) / 1e6


def main(args):
    session = places.new_session("bench/run " + " ".join(sys.argv[1:]))
    folder = os.path.join(places.BUILD, "cluster")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    try:
        found, size = measure(args, places.neardup(args.neardup), folder)
    except places.Skipped as why:
        places.say(f"skipped: {why}")
        return 77
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    places.append(
        RESULTS,
        dict(
            session,
            documents=args.documents,
            words=args.words,
            memory=args.memory,
            mb=size,
            steps=found,
        ),
    )
    import report

    print(report.cluster())
    return 0
