"""Predictions of plan from samples of all, a quarter and a tenth, beside what dedup then takes and finds."""

import json
import os
import statistics
import subprocess
import sys

import places
import report

RESULTS = "plan.jsonl"
SETS = places.SPEED_SETS + ["spamassassin", "lingspam"]
BOUND = 0.25
# How short a run may be, and how few of its documents, that a figure says something.
LEAST_SECONDS = 0.2
LEAST_DOCUMENTS = 100


def options(parser):
    parser.add_argument("--sets", default=",".join(SETS), help="default: %(default)s")
    parser.add_argument("--shares", default="1,4,10", help="one in so many bytes is the sample, default: %(default)s")
    parser.add_argument("--runs", type=int, default=5, help="repetitions, default: %(default)s")
    parser.add_argument("--threads", type=int, default=2, help="default: %(default)s")
    parser.add_argument("--packed", action="store_true", help="the corpora as they are stored, compressed")


def path_of(name, args):
    path = places.corpus(name)
    return os.path.join(places.DATA, name, "docs.jsonl.zst") if args.packed else path


def measured(summary):
    n = summary["documents"]
    return {f: summary[f] / n if f in report.PLAN_SHARES + ["candidates"] else summary[f] for f in report.PLAN_FIGURES}


def once(binary, path, share, threads, out):
    """A plan and a run, one after the other."""
    size = os.path.getsize(path)
    sample = ["--sample-bytes", str(size + 1 if share == 1 else size // share)]
    both = ["-q", "-j", str(threads), path]
    plan = subprocess.run([binary, "plan", "--json", *sample, *both], check=True, capture_output=True)
    summary = os.path.join(out, "summary.json")
    subprocess.run([binary, "dedup", *both, "-o", "/dev/null", "--summary", summary], check=True)
    with open(summary, encoding="utf-8") as f:
        return json.loads(plan.stdout), measured(json.load(f))


def medians(pairs):
    """The prediction and the measurement of each figure."""
    return {
        figure: (
            statistics.median(plan["figures"][figure]["value"] for plan, _ in pairs),
            statistics.median(run[figure] for _, run in pairs),
        )
        for figure in report.PLAN_FIGURES
    }


def is_off(figure, predicted, actual, documents):
    """Whether a prediction is outside the bound, and the figure is large enough to say something."""
    if figure in ("seconds", "processor_seconds") and actual < LEAST_SECONDS:
        return False
    if figure in report.PLAN_SHARES and actual * documents < LEAST_DOCUMENTS:
        return False
    return abs(predicted - actual) > BOUND * actual


def main(args):
    session = places.new_session("bench/run " + " ".join(sys.argv[1:]))
    try:
        binary = places.neardup(args.neardup)
    except places.Skipped as why:
        places.say(f"skipped: {why}")
        return 77
    broken, far, records = [], [], []
    for name in args.sets.split(","):
        try:
            path = path_of(name, args)
        except places.Skipped as why:
            places.say(f"skipped: {why}")
            continue
        out = os.path.join(places.BUILD, "out", name, "plan")
        os.makedirs(out, exist_ok=True)
        places.warm(path)
        for share in map(int, args.shares.split(",")):
            pairs = [once(binary, path, share, args.threads, out) for _ in range(args.runs)]
            values = medians(pairs)
            sampled = pairs[0][0]["sample"]["bytes"]
            record = dict(session, set=name, share=share, sampled=sampled, values=values)
            places.append(RESULTS, record)
            records.append(record)
            documents = values["documents"][1]
            off = {f: report.plan_cell(f, p, a) for f, (p, a) in values.items() if is_off(f, p, a, documents)}
            judged = [f"{name}, {100 / share:.0f} %: {report.PLAN_FIGURES[f]} {text}" for f, text in off.items()]
            broken += judged if share == 1 else []
            far += judged if share > 1 else []
        places.say(f"{name}: done")
    print(report.plan_table(records))
    for what in broken + far:
        places.say(f"more than {100 * BOUND:.0f} % off: {what}")
    return 1 if broken else 0
