"""Records of web archives read by neardup and by FastWARC, one core, plain and gzip, in turn."""

import gzip
import os
import sys

import places
import timed

RESULTS = "warc.jsonl"
# Compressed record by record; read seven times over.
FILES = [
    "aut__example.warc.gz",
    "aut__example.docs.warc.gz",
    "aut__example.pdf.warc.gz",
    "chatnoir-copycat__snapshot-wayback-topic-02.warc.gz",
    "chatnoir-copycat__topic-1--20201003083220753-00000.warc.gz",
    "chatnoir-resiliparse__warcfile.warc.gz",
    "ukwa__IAH-urls-wget.warc.gz",
    "ukwa__main-page.warc.gz",
    "ukwa__post-blackout.warc.gz",
    "ukwa__sopa-wikipedia-homepage.warc.gz",
]
TIMES = 7
# Visit every record and read every body, with the head of HTTP parsed.
FASTWARC = """
import sys
from fastwarc.warc import ArchiveIterator
print(sum(len(r.reader.read()) for r in ArchiveIterator(sys.argv[1], parse_http=True)))
"""


def options(parser):
    parser.add_argument("--runs", type=int, default=7, help="repetitions, default: %(default)s")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one run")


def make_archives():
    """All files behind one another, as gzip and plain; made once."""
    folder = os.path.join(places.BUILD, "data", "warc")
    packed, plain = os.path.join(folder, "all.warc.gz"), os.path.join(folder, "all.warc")
    if not os.path.exists(plain):
        os.makedirs(folder, exist_ok=True)
        data = b""
        for name in FILES:
            with open(os.path.join(places.DATA, "warc-fixtures", name), "rb") as f:
                data += f.read()
        with open(packed, "wb") as f:
            f.write(data * TIMES)
        with open(plain, "wb") as f:
            f.write(gzip.decompress(data) * TIMES)
    return plain, packed


def commands(path, python):
    program = os.path.join(places.ROOT, "build", "release", "bench", "read_records")
    yield "neardup", [program, path]
    yield "neardup, documents", [program, path, "parse"]
    yield "FastWARC", [python, "-c", FASTWARC, path]


def main(args):
    session = places.new_session("bench/run " + " ".join(sys.argv[1:]))
    cpu = sorted(os.sched_getaffinity(0))[:1]
    failed = False
    if not os.path.isdir(os.path.join(places.DATA, "warc-fixtures")):
        places.say("skipped: no warc-fixtures")
        return 77
    python = places.rivals_python("requirements-warc.txt", "venv-warc")
    for path in make_archives():
        size, _ = places.warm(path)
        log = os.path.join(places.BUILD, "data", "warc", "log.txt")
        for number in range(args.runs):
            for tool, command in commands(path, python):
                result = timed.run(command, cpu, log, args.limit)
                failed = failed or result["exit"] != 0
                kind = "gzip" if path.endswith(".gz") else "plain"
                places.append(RESULTS, dict(session, tool=tool, kind=kind, run=number, file_mb=size / 1e6, **result))
    import report

    print(report.warc())
    return 1 if failed else 0
