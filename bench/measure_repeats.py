"""Parts that repeat: neardup beside datatrove's sentence step and a suffix array, one core, in turn."""

import json
import os
import re
import shutil
import sys

import places
import timed

sys.path.insert(0, os.path.join(places.ROOT, "tests", "oracle"))
import features  # noqa: E402  (found by the path above)

RESULTS = "repeats.jsonl"
PASSAGE = 50
WORD = re.compile(r"\w+")


def options(parser):
    parser.add_argument("--runs", type=int, default=5, help="repetitions, default: %(default)s")
    parser.add_argument("--limit", type=float, default=300, help="seconds for one run")
    parser.add_argument("--records", type=int, default=0, help="only so many documents; 0, the default: all")


def words_of(text):
    return WORD.findall(text.lower())


def make_lines(path, folder, limit):
    """The documents with one sentence a line, and these are their sentences; made once for each limit."""
    made = os.path.join(folder, f"lines-{limit}.jsonl")
    if not os.path.exists(made):
        os.makedirs(folder, exist_ok=True)
        with open(path, encoding="utf-8") as f, open(made + ".part", "w", encoding="utf-8") as out:
            for i, line in enumerate(f):
                if limit and i == limit:
                    break
                lines = [" ".join(s.split()) for s in features.sentences(json.loads(line)["text"])]
                # U+2029 ends a sentence whatever stands around it, and a line of datatrove's.
                text = "\u2029".join(s for s in lines if WORD.search(s))
                out.write(json.dumps({"id": i, "text": text}) + "\n")
        os.rename(made + ".part", made)
    return made


def read(path):
    with open(path, encoding="utf-8") as f:
        return {str(r["id"]): words_of(r["text"]) for r in map(json.loads, f)}


def score(kind, path, folder, log):
    """What is equal: documents with the same words, or words that are cut."""
    left, ours = read(path), read(os.path.join(folder, "ours.jsonl"))
    if kind == "sentences":
        theirs = read(os.path.join(folder, "theirs.jsonl"))
        return {"documents": len(left), "equal": sum(theirs.get(i, []) == words for i, words in ours.items())}
    with open(log, encoding="utf-8") as f:
        theirs = int(f.read().split()[-1])
    return {"cut": sum(map(len, left.values())) - sum(map(len, ours.values())), "cut_beside": theirs}


def main(args):
    session = places.new_session("bench/run " + " ".join(sys.argv[1:]))
    cpu = sorted(os.sched_getaffinity(0))[:1]
    folder = os.path.join(places.BUILD, "data", "repeats")
    path = make_lines(places.corpus("reuters21578"), folder, args.records)
    python = places.rivals_python("requirements-repeats.txt", "venv-repeats")
    side = os.path.join(places.BENCH, "repeats_side.py")
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
            for tool, command in (("neardup", ours + options), ("beside", [python, side, kind, *beside])):
                result = timed.run(command, cpu, log, args.limit)
                failed = failed or result["exit"] != 0
                found = score(kind, path, folder, log) if tool == "beside" and not result["exit"] else {}
                about = dict(session, tool=tool, kind=kind, run=number, file_mb=size / 1e6)
                places.append(RESULTS, dict(about, **found, **result))
    import report

    print(report.repeats())
    return 1 if failed else 0
