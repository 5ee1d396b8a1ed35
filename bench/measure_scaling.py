"""neardup on one core and on two, in turns."""

import os
import sys

import places
import timed
from measure_dedup import neardup_command

RESULTS = "scaling.jsonl"


def options(parser):
    parser.add_argument("--sets", default=",".join(places.SPEED_SETS), help="default: %(default)s")
    parser.add_argument("--threads", default="1,2", help="default: %(default)s")
    parser.add_argument("--runs", type=int, default=5, help="repetitions, default: %(default)s")
    parser.add_argument("--limit", type=float, default=300, help="seconds for one run")


def main(args):
    session = places.new_session("bench/run " + " ".join(sys.argv[1:]))
    cpus = sorted(os.sched_getaffinity(0))
    counts = [int(n) for n in args.threads.split(",") if int(n) <= len(cpus)]
    try:
        binary = places.neardup(args.neardup)
    except places.Skipped as why:
        places.say(f"skipped: {why}")
        return 77
    failed = False
    for name in args.sets.split(","):
        try:
            path = places.corpus(name)
        except places.Skipped as why:
            places.say(f"skipped: {why}")
            continue
        size, _ = places.warm(path)
        out = os.path.join(places.BUILD, "out", name, "scaling")
        os.makedirs(out, exist_ok=True)
        for number in range(args.runs):
            for count in counts:
                result = timed.run(
                    neardup_command(binary, path, out, count),
                    cpus[:count],
                    os.path.join(out, "log.txt"),
                    args.limit,
                )
                failed = failed or result["exit"] != 0
                places.append(
                    RESULTS,
                    dict(
                        session,
                        set=name,
                        threads=count,
                        run=number,
                        file_mb=size / 1e6,
                        mb_per_s=size / 1e6 / result["seconds"],
                        **result,
                    ),
                )
        places.say(f"{name}: done")
    import report

    print(report.scaling())
    return 1 if failed else 0
