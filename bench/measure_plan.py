"""What plan predicts, beside what dedup then takes and finds."""

import json
import os
import statistics
import subprocess
import sys

import places

RESULTS = "plan.jsonl"
SETS = places.SPEED_SETS + ["spamassassin", "lingspam"]
BOUND = 0.25
# Times of runs that take hundredths of a second say nothing; neither do shares of a few documents.
FIGURES = {
    "documents": "documents",
    "removed": "removed",
    "candidates": "candidates",
    "processor_seconds": "processor",
    "seconds": "time",
    "peak_bytes": "memory",
    "spool_bytes": "disk",
}


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
    of_documents = {"removed": summary["removed"] / n, "candidates": summary["candidates"] / n}
    return {figure: of_documents.get(figure, summary.get(figure)) for figure in FIGURES}


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
    """Of each figure, what was predicted and what was measured."""
    return {
        figure: (
            statistics.median(plan["figures"][figure]["value"] for plan, _ in pairs),
            statistics.median(run[figure] for _, run in pairs),
        )
        for figure in FIGURES
    }


def cell(figure, predicted, actual):
    if figure == "removed":
        text = f"{100 * predicted:.2f} / {100 * actual:.2f} %"
    elif figure.endswith("bytes"):
        text = f"{predicted / 1e6:.1f} / {actual / 1e6:.1f} MB"
    elif figure.endswith("seconds"):
        text = f"{predicted:.2f} / {actual:.2f} s"
    else:
        text = f"{predicted:.4g} / {actual:.4g}"
    return text + (f" ({100 * (predicted / actual - 1):+.0f})" if actual else "")


def main(args):
    session = places.new_session("bench/run " + " ".join(sys.argv[1:]))
    try:
        binary = places.neardup(args.neardup)
    except places.Skipped as why:
        places.say(f"skipped: {why}")
        return 77
    lines = ["| corpus | sample | " + " | ".join(FIGURES.values()) + " |"]
    lines.append("|---|---|" + "---|" * len(FIGURES))
    broken = []
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
            places.append(RESULTS, dict(session, set=name, share=share, values=values))
            sampled = pairs[0][0]["sample"]["bytes"] / 1e6
            cells = [cell(figure, *values[figure]) for figure in FIGURES]
            lines.append(f"| {name} | {sampled:.1f} MB | " + " | ".join(cells) + " |")
            if share == 1:
                broken += [
                    f"{name}: {figure}"
                    for figure, (p, a) in values.items()
                    if abs(p - a) > BOUND * a and figure != "seconds"
                ]
        places.say(f"{name}: done")
    print("\n".join(lines))
    for what in broken:
        places.say(f"more than {100 * BOUND:.0f} % off, by the default sample: {what}")
    return 1 if broken else 0
