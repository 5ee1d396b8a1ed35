"""neardup on one core and on two, in turns; and what bounds it on more."""

import json
import os
import subprocess
import sys

import places
import timed
from measure_codecs import PACK
from measure_dedup import neardup_command
from measure_memory import generate

RESULTS = "scaling.jsonl"
SETS = places.SPEED_SETS + ["spamassassin", "generated"]


def options(parser):
    parser.add_argument(
        "--sets",
        default=",".join(SETS),
        help="with .gz, .zst behind a name: as one compressed file; default: %(default)s",
    )
    parser.add_argument(
        "--documents", type=int, default=1_000_000, help="of generated ones, default: %(default)s"
    )
    parser.add_argument("--threads", default="1,2", help="default: %(default)s")
    parser.add_argument("--runs", type=int, default=5, help="repetitions, default: %(default)s")
    parser.add_argument("--limit", type=float, default=300, help="seconds for one run")


def turns_of(out):
    """The counts of the run itself, if it came so far."""
    try:
        with open(os.path.join(out, "summary.json"), encoding="utf-8") as f:
            return json.load(f)["turns"]
    except (OSError, ValueError, KeyError):
        return None


def path_of(name, args):
    name, dot, kind = name.partition(".")
    path = generate(args.documents)[0] if name == "generated" else places.corpus(name)
    if dot:
        packed = f"{path}.{kind}"
        if not os.path.exists(packed):
            with open(packed, "wb") as out:
                subprocess.run(PACK[kind] + ["-c", path], stdout=out, check=True)
        path = packed
    return path


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
            path = path_of(name, args)
        except places.Skipped as why:
            places.say(f"skipped: {why}")
            continue
        size, _ = places.warm(path)
        out = os.path.join(places.BUILD, "out", name, "scaling")
        os.makedirs(out, exist_ok=True)
        for number in range(args.runs):
            for count in counts:
                summary = ["--summary", os.path.join(out, "summary.json")]
                result = timed.run(
                    neardup_command(binary, path, out, count) + summary,
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
                        turns=turns_of(out),
                        **result,
                    ),
                )
        places.say(f"{name}: done")
    import report

    print(report.scaling())
    return 1 if failed else 0
