"""Parts that repeat: neardup beside datatrove's sentence step and a suffix array, one core, in turn."""

import json
import os
import shutil
import subprocess
import sys

import places
import timed

RESULTS = "repeats.jsonl"
PASSAGE = 50
SIDE = os.path.join(places.BENCH, "repeats_side.py")


def options(parser):
    parser.add_argument("--runs", type=int, default=5, help="repetitions, default: %(default)s")
    parser.add_argument("--limit", type=float, default=300, help="seconds for one run")
    parser.add_argument("--records", type=int, default=0, help="only so many documents; 0, the default: all")


def side(*arguments):
    """The output of the other program.  It reads the texts, so that this process stays small (timed.py)."""
    command = [sys.executable, SIDE, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def make_lines(path, folder, limit):
    """The documents with one sentence a line; made once for each limit."""
    made = os.path.join(folder, f"lines-{limit}.jsonl")
    if not os.path.exists(made):
        os.makedirs(folder, exist_ok=True)
        side("lines", path, made + ".part", str(limit), os.path.join(places.ROOT, "tests", "oracle"))
        os.rename(made + ".part", made)
    return made


def main(args):
    session = places.new_session("bench/run " + " ".join(sys.argv[1:]))
    cpu = sorted(os.sched_getaffinity(0))[:1]
    folder = os.path.join(places.BUILD, "data", "repeats")
    path = make_lines(places.corpus("reuters21578"), folder, args.records)
    python = places.rivals_python("requirements-repeats.txt", "venv-repeats")
    log, failed = os.path.join(folder, "log.txt"), False
    size, _ = places.warm(path)
    ours = [places.NEARDUP, "repeats", "-q", "-j", "1", path, "-o", os.path.join(folder, "ours.jsonl")]
    theirs, steps = os.path.join(folder, "theirs.jsonl"), os.path.join(folder, "steps")
    for kind, options, beside in (
        ("sentences", ["--cut", "sentences"], [path, theirs, steps]),
        ("passages", ["--cut", "passages", "--tokens", str(PASSAGE)], [path, str(PASSAGE)]),
    ):
        for number in range(args.runs):
            shutil.rmtree(steps, ignore_errors=True)
            for tool, command in (("neardup", ours + options), ("beside", [python, SIDE, kind, *beside])):
                result = timed.run(command, cpu, log, args.limit)
                failed = failed or result["exit"] != 0
                scored = tool == "beside" and not result["exit"]
                found = json.loads(side("score", kind, path, ours[-1], theirs, log)) if scored else {}
                about = dict(session, tool=tool, kind=kind, run=number, file_mb=size / 1e6)
                places.append(RESULTS, dict(about, **found, **result))
    import report

    print(report.repeats())
    return 1 if failed else 0
