"""The bench_* programs, beside the goals for one core."""
import glob
import json
import os
import subprocess
import sys

import places

RESULTS = "kernels.jsonl"
TEXTS = ["ota-small", "debian-installation-guide", "reuters21578"]
TEXT_BYTES = 8_000_000
# MB/s of text, from the start of the chain, on ASCII (docs: the design's table of speeds).
GOALS = {"tokens and their hashes": 3200, "+ identity and distinct shingles": 2700, "+ 64-bit simhash": 1500,
         "or 128 minima": 700}


def options(parser):
    parser.add_argument("--only", help="only the programs whose name contains this")
    parser.add_argument("--limit", type=float, default=240, help="seconds for one program")
    parser.add_argument("--cpu", type=int, default=min(os.sched_getaffinity(0)), help="the core to pin to")


def plain_text(name):
    """The first texts of a corpus, one after the other."""
    source = places.corpus(name)
    target = os.path.join(places.BUILD, "data", f"{name}.txt")
    if not os.path.exists(target):
        with open(source, "rb") as lines, open(target + ".part", "wb") as out:
            while out.tell() < TEXT_BYTES and (line := lines.readline()):
                out.write(json.loads(line)["text"].encode("utf-8", "replace") + b" ")
        os.replace(target + ".part", target)
    return target


def arguments(program):
    """bench_whole takes texts; the others need nothing."""
    if os.path.basename(program) != "bench_whole":
        return []
    texts = []
    for name in TEXTS:
        try:
            texts.append(plain_text(name))
        except places.Skipped as why:
            places.say(f"skipped: {why}")
    if not texts:
        raise places.Skipped("bench_whole: no text to measure with")
    return texts


def main(args):
    session = places.new_session("bench/run " + " ".join(sys.argv[1:]))
    folder = os.path.join(places.ROOT, "build", "release", "bench")
    programs = [p for p in sorted(glob.glob(os.path.join(folder, "bench_*")))
                if os.path.isfile(p) and os.access(p, os.X_OK) and (args.only or "") in p]
    if not programs:
        places.say("skipped: no bench_* program: build the release first (make)")
        return 77
    failed = False
    for program in programs:
        name = os.path.basename(program)
        try:
            command = ["taskset", "-c", str(args.cpu), program] + arguments(program)
            places.say(name)
            done = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=args.limit)
            for line in done.stdout.splitlines():
                places.append(RESULTS, dict(session, program=name, **json.loads(line)))
        except places.Skipped as why:
            places.say(f"skipped: {why}")
        except (subprocess.SubprocessError, ValueError) as why:
            failed = True
            places.say(f"{name}: {why}")
    import report
    print(report.kernels())
    return 1 if failed else 0
