"""A daily crawl: so many additions to a sketch file, beside one run over all documents."""

import os
import subprocess
import sys

import places
from measure_memory import delete

GOAL = 1.5
RESULTS = "daily.jsonl"


def options(parser):
    parser.add_argument("--days", type=int, default=100, help="default: %(default)s")
    parser.add_argument("--documents", type=int, default=100_000, help="a day; default: %(default)s")
    parser.add_argument(
        "--words", type=int, nargs=2, default=(10, 24), metavar=("LEAST", "MOST"),
        help="of a document; default: 10 24",
    )
    parser.add_argument("--threads", type=int, default=1, help="default: %(default)s")


def processor_seconds(command):
    """Processor seconds of the command: they do not depend on who else is at work."""
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return usage.ru_utime + usage.ru_stime


def write_days(args, folder):
    """All documents in one file, and those of each day in one of its own."""
    whole = os.path.join(folder, "all.jsonl")
    with open(whole, "wb") as out:
        subprocess.run(
            places.generator(args.days * args.documents, *args.words),
            stdout=out, stderr=subprocess.DEVNULL, check=True,
        )
    days = []
    with open(whole, "rb") as lines:
        for day in range(args.days):
            days.append(os.path.join(folder, f"day-{day}.jsonl"))
            with open(days[-1], "wb") as out:
                for _ in range(args.documents):
                    out.write(next(lines))
    return whole, days


def measure(args, binary, folder):
    """Seconds of one run, of one run that writes the sketch file, and of each day; and the bytes."""
    whole, days = write_days(args, folder)
    quiet = ["-q", "-j", str(args.threads)]
    seen, out = os.path.join(folder, "seen.sketch"), os.path.join(folder, "out.jsonl")
    right = os.path.join(folder, "right.jsonl")
    one = processor_seconds([binary, "dedup", whole, "-o", right, *quiet])
    add = ["--against", seen, "--append", "-o", out, *quiet]
    with_file = processor_seconds([binary, "dedup", whole, *add])
    delete(seen)
    seconds = []
    with open(right, "rb") as expected:
        for day in days:
            seconds.append(processor_seconds([binary, "dedup", day, *add]))
            with open(out, "rb") as survivors:
                for line in survivors:
                    if next(expected) != line:
                        sys.exit(f"{day}: not the survivors of one run")
    return one, with_file, seconds, os.path.getsize(seen)


def main(args):
    session = places.new_session("bench/run " + " ".join(sys.argv[1:]))
    folder = os.path.join(places.BUILD, "out", "daily")
    os.makedirs(folder, exist_ok=True)
    try:
        one, with_file, seconds, size = measure(args, places.neardup(args.neardup), folder)
    except places.Skipped as why:
        places.say(f"skipped: {why}")
        return 77
    finally:
        for name in os.listdir(folder):
            delete(os.path.join(folder, name))
    record = {
        "days": args.days, "documents": args.documents, "words": list(args.words),
        "one": one, "one_with_file": with_file, "seconds": seconds, "bytes": size,
    }
    places.append(RESULTS, dict(session, **record))
    print(f"{args.days} days of {args.documents} documents of {args.words[0]} to {args.words[1]} words")
    print(f"one run over all                     {one:8.1f} s of processor time")
    print(f"one run that writes the sketch file  {with_file:8.1f} s, {with_file / one:.2f} times")
    print(f"a run a day                          {sum(seconds):8.1f} s, {sum(seconds) / one:.2f} times")
    print(f"the first and the last day           {seconds[0]:8.2f} s, {seconds[-1]:.2f} s")
    print(f"the sketch file                      {size / 1e6:8.0f} MB")
    return 1 if sum(seconds) > GOAL * one else 0
