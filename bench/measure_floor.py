"""The least that deduplication must do, as a bare program, beside neardup: processor time, one core."""

import os
import sys

import places
import timed
from measure_dedup import neardup_command

RESULTS = "floor.jsonl"
WORK = ["copy", "hash", "sketch"]  # each does what the one before does, and more


def options(parser):
    parser.add_argument("--sets", default=",".join(places.SPEED_SETS), help="default: %(default)s")
    parser.add_argument("--runs", type=int, default=5, help="repetitions, default: %(default)s")
    parser.add_argument("--limit", type=float, default=300, help="seconds for one run")


def commands(binary, path, out):
    program = os.path.join(places.ROOT, "build", "release", "bench", "floor")
    for work in WORK:
        yield work, [program, work, path, os.path.join(out, "copy")]
    yield "dedup", neardup_command(binary, path, out, 1)


def main(args):
    session = places.new_session("bench/run " + " ".join(sys.argv[1:]))
    cpu = sorted(os.sched_getaffinity(0))[:1]
    failed = False
    try:
        binary = places.neardup(args.neardup)
        for name in args.sets.split(","):
            path = places.corpus(name)
            size, _ = places.warm(path)
            out = os.path.join(places.BUILD, "out", name, "floor")
            os.makedirs(out, exist_ok=True)
            for number in range(args.runs):
                for work, command in commands(binary, path, out):
                    result = timed.run(command, cpu, os.path.join(out, "log.txt"), args.limit)
                    failed = failed or result["exit"] != 0
                    row = dict(session, set=name, work=work, run=number, file_mb=size / 1e6)
                    places.append(RESULTS, dict(row, **result))
            places.say(f"{name}: done")
    except places.Skipped as why:
        places.say(f"skipped: {why}")
        return 77
    import report

    print(report.floor())
    return 1 if failed else 0
