"""Pages made texts by neardup and by Resiliparse, one core, in turn; whole, and their content alone."""

import os
import random
import sys
import tarfile

import places
import timed

RESULTS = "html.jsonl"
BYTES = 60_000_000
# The time of extraction alone: not that of Python's start, nor of reading the archive.
RESILIPARSE = """
import sys, tarfile, time
from resiliparse.extract.html2text import extract_plain_text
with tarfile.open(sys.argv[1]) as archive:
    pages = [archive.extractfile(page).read() for page in archive]
began = time.process_time()
for page in pages:
    extract_plain_text(page.decode("utf-8", "replace"), main_content=sys.argv[2] == "content")
print(time.process_time() - began)
"""


def options(parser):
    parser.add_argument("--runs", type=int, default=5, help="repetitions, default: %(default)s")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one run")
    parser.add_argument("--pages", nargs="*", default=["/usr/share/doc"], help="folders, default: %(default)s")


def make_archive(folders):
    """A tar of pages in a seeded random order, up to 60 MB."""
    path = os.path.join(places.BUILD, "data", "html", "pages.tar")
    found = set()
    for folder in folders:
        for where, _, names in os.walk(folder):
            found.update(os.path.realpath(os.path.join(where, n)) for n in names if n.endswith((".html", ".htm")))
    pages = sorted(page for page in found if os.path.isfile(page) and os.path.getsize(page))
    random.Random(7).shuffle(pages)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    count = size = 0
    with tarfile.open(path, "w") as archive:
        for page in pages:
            if size >= BYTES:
                break
            archive.add(page, arcname=f"{count}.html")
            count, size = count + 1, size + os.path.getsize(page)
    return path, count, size


def main(args):
    session = places.new_session("bench/run " + " ".join(sys.argv[1:]))
    cpu = sorted(os.sched_getaffinity(0))[:1]
    path, count, size = make_archive(args.pages)
    if not count:
        places.say("skipped: no pages; name folders of HTML with --pages")
        return 77
    program = os.path.join(places.ROOT, "build", "release", "bench", "read_records")
    python = places.rivals_python("requirements-html.txt", "venv-html")
    log = os.path.join(places.BUILD, "data", "html", "log.txt")
    failed = False
    places.warm(path)
    for number in range(args.runs):
        for kind, mode in (("whole", "parse"), ("content", "content")):
            for tool, command in (
                ("neardup", [program, path, mode]),
                ("Resiliparse", [python, "-c", RESILIPARSE, path, mode]),
            ):
                result = timed.run(command, cpu, log, args.limit)
                failed = failed or result["exit"] != 0
                if tool == "Resiliparse" and not result["exit"]:
                    with open(log) as f:
                        result["cpu_s"] = float(f.read().split()[-1])
                row = dict(session, tool=tool, kind=kind, run=number, file_mb=size / 1e6, pages=count, **result)
                places.append(RESULTS, row)
    import report

    print(report.html())
    return 1 if failed else 0
