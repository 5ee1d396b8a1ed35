"""Inputs made to cost more than they should: time and memory at n, 2n and 4n."""

import os
import sys

import hostile_inputs as inputs
import places
import timed

RESULTS = "hostile.jsonl"
MB = 1e6
# From 2n to 4n the processor time may grow so many times.
GROWTH = 2.3
# The output of these grows with the square of n: only memory is judged.
SQUARE = None
# Exact on sets of which no value is rare: entries of the table are walked, n of them for each set.
WALKED = 4
# Until the keys of a small vocabulary or a template are full, a document meets more and more others.
FILLING = 4
# Under so many processor seconds at 4n the start of the process decides, and nothing is judged.
JUDGED_FROM = 0.4


def dedup(*more):
    return lambda binary, path, out: [binary, "dedup", path, "-o", out, "--quiet", *more]


def run_filter(binary, path, out):
    return [binary, "filter", "--prototypes", path, path, "-o", out, "--quiet"]


def collapse(binary, path, out):
    return [binary, "collapse", path, "-o", out, "--quiet"]


def pairs(binary, path, _):
    return [binary, "pairs", path, "-o", "/dev/null", "--quiet"]


def index_pairs(binary, path, _):
    return ["sh", "-c", 'exec "$@" > /dev/null', "sh", binary, "index", "pairs", path]


# Name, what is written, its ending, n, the command, and the growth that is allowed.
CASES = [
    ("template, dedup", inputs.template_pages, "jsonl", 5_000, dedup(), GROWTH),
    ("template, filter", inputs.template_pages, "jsonl", 2_500, run_filter, GROWTH),
    ("template, collapse", inputs.template_pages, "jsonl", 5_000, collapse, GROWTH),
    ("half template, dedup", inputs.half_templates, "jsonl", 5_000, dedup(), FILLING),
    ("small vocabulary, dedup", inputs.small_vocabulary, "jsonl", 5_000, dedup(), FILLING),
    (
        "small vocabulary, components",
        inputs.small_vocabulary,
        "jsonl",
        5_000,
        dedup("--cluster", "components"),
        FILLING,
    ),
    *(
        (
            f"small vocabulary, {verify}",
            inputs.small_vocabulary,
            "jsonl",
            5_000,
            dedup("--verify", verify),
            GROWTH,
        )
        for verify in ("containment", "containment-of-kept", "containment-either", "cosine")
    ),
    (
        "half template, containment-either",
        inputs.half_templates,
        "jsonl",
        10_000,
        dedup("--verify", "containment-either"),
        GROWTH,
    ),
    (
        "near copies, components",
        inputs.near_copies,
        "jsonl",
        25_000,
        dedup("--cluster", "components"),
        GROWTH,
    ),
    (
        "near copies, complete",
        inputs.near_copies,
        "jsonl",
        25_000,
        dedup("--cluster", "complete"),
        GROWTH,
    ),
    ("equal documents, pairs", inputs.equal_documents, "jsonl", 750, pairs, SQUARE),
    (
        "few words, conrad-schriber-2004",
        inputs.few_words,
        "jsonl",
        12_500,
        dedup("--recipe", "conrad-schriber-2004"),
        WALKED,
    ),
    ("mail, header lines", inputs.header_lines, "eml", 1_000_000, dedup(), GROWTH),
    ("mail, folds of a subject", inputs.folded_subject, "eml", 1_000_000, dedup(), GROWTH),
    ("mail, parts", inputs.parts, "eml", 250_000, dedup(), GROWTH),
    ("HTML, attributes", inputs.attributes, "html", 20_000, dedup(), GROWTH),
    ("equal fingerprints, index pairs", inputs.equal_fingerprints, "txt", 2_500, index_pairs, SQUARE),
]


def options(parser):
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--scale", type=float, default=1, help="of n; default: %(default)s")
    parser.add_argument("--threads", type=int, default=1, help="default: %(default)s")
    parser.add_argument("--limit", type=float, default=300, help="seconds a run")


def main(args):
    session = places.new_session("bench/run " + " ".join(sys.argv[1:]))
    try:
        binary = places.neardup(args.neardup)
    except places.Skipped as why:
        places.say(f"skipped: {why}")
        return 77
    is_broken = False
    for case in CASES:
        if args.only in case[0]:
            record = measure(args, binary, case)
            is_broken |= bool(record["broken"])
            places.append(RESULTS, dict(session, **record))
    import report

    print(report.hostile())
    return 1 if is_broken else 0


def measure(args, binary, case):
    name, write, ending, count, command, growth = case
    runs = []
    for times in (1, 2, 4):
        n = max(1, int(count * args.scale)) * times
        places.say(f"{name}: {n:,}")
        runs.append(run(args, binary, write, ending, n, command))
        if "over_limit" in runs[-1]:
            break
    return {
        "case": name,
        "threads": args.threads,
        "growth_allowed": growth,
        "runs": runs,
        "broken": bounds(runs, growth),
    }


def run(args, binary, write, ending, n, command):
    folder = os.path.join(places.BUILD, "out", "hostile")
    os.makedirs(folder, exist_ok=True)
    path, out = os.path.join(folder, f"input.{ending}"), os.path.join(folder, f"out.{ending}")
    documents = write(path, n)
    own = command(binary, path, out)
    if "index" not in own:
        own += ["--threads", str(args.threads)]
    with open(path, "rb") as f:
        largest = max(map(len, f)) if documents > 1 else os.path.getsize(path)
    cpus = sorted(os.sched_getaffinity(0))[: args.threads]
    result = timed.run(own, cpus, os.path.join(folder, "log.txt"), args.limit)
    for file in os.listdir(folder):
        os.remove(os.path.join(folder, file))
    promised = 256 + (400 * documents + 12 * largest * args.threads) / MB
    return {"n": n, "mb": largest / MB, "promised_mb": promised, **result}


def bounds(runs, growth):
    """A status is an answer; a signal, and what aborts a process, is none."""
    broken = []
    for r in runs:
        if r["exit"] not in (0, 1, 2, 3):
            broken.append(f"ended with {r['exit']} at {r['n']:,}")
        if r["peak_mb"] > r["promised_mb"]:
            broken.append(f"{r['peak_mb']:.0f} MB at {r['n']:,}, {r['promised_mb']:.0f} promised")
    grown = grown_by(runs)
    if growth and runs[-1]["cpu_s"] >= JUDGED_FROM and grown > growth:
        broken.append(f"{grown:.1f} times the time for twice as many")
    return broken


def grown_by(runs):
    """From the last run but one to the last."""
    return runs[-1]["cpu_s"] / max(runs[-2]["cpu_s"], 1e-3) if len(runs) > 1 else 1
