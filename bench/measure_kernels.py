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
# MB/s of text from the start of the chain, in documents of 4 KB of English, on a fast machine.
GOALS = {
    "text to token hashes": 3200,
    "text to distinct shingles and identity": 2700,
    "text to simhash": 1500,
    "text to 128 minima": 700,
}
ONE_TEXT, MANY_TEXTS = ["bench_text_to_sketch"], ["bench_text"]  # the others need no text


def options(parser):
    parser.add_argument("--only", help="only the programs whose name contains this")
    parser.add_argument("--limit", type=float, default=240, help="seconds for one program")
    parser.add_argument(
        "--cpu", type=int, default=min(os.sched_getaffinity(0)), help="the core to pin to"
    )


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


def runs_of(program):
    """The argument lists with which a program is run. Without the corpora it makes its text up."""
    name = os.path.basename(program)
    texts = []
    for corpus in TEXTS if name in ONE_TEXT + MANY_TEXTS else []:
        try:
            texts.append(plain_text(corpus))
        except places.Skipped as why:
            places.say(f"skipped: {why}")
    if name in ONE_TEXT and texts:
        return [[text] for text in texts]
    return [texts]


def main(args):
    session = places.new_session("bench/run " + " ".join(sys.argv[1:]))
    folder = os.path.join(places.ROOT, "build", "release", "bench")
    sources = sorted(map(os.path.basename, glob.glob(os.path.join(places.BENCH, "bench_*.c"))))
    sources.remove("bench_hamming.c")  # its indexes are measured by `bench/run hamming`
    programs = [
        os.path.join(folder, source[:-2]) for source in sources if (args.only or "") in source
    ]
    programs = [p for p in programs if os.access(p, os.X_OK)]
    if not programs:
        places.say("skipped: no bench_* program: build the release first (make)")
        return 77
    failed = False
    for program in programs:
        name = os.path.basename(program)
        try:
            for arguments in runs_of(program):
                places.say(" ".join([name] + list(map(os.path.basename, arguments))))
                done = subprocess.run(
                    ["taskset", "-c", str(args.cpu), program] + arguments,
                    stdout=subprocess.PIPE,
                    check=True,
                    timeout=args.limit,
                )
                for line in done.stdout.splitlines():
                    record = dict(session, program=name, **json.loads(line))
                    if len(arguments) == 1:
                        record["text"] = os.path.basename(arguments[0])
                    places.append(RESULTS, record)
        except (subprocess.SubprocessError, ValueError) as why:
            failed = True
            places.say(f"{name}: {why}")
    import report

    print(report.kernels())
    return 1 if failed else 0
