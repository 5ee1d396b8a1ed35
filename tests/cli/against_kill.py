#!/usr/bin/env python3
"""against_kill.py - a daily crawl whose runs are killed, and run again, ends as one that was never

usage: against_kill.py NEARDUP KILLS

Days are added with --against FILE --append.  Each run is killed some time after its start.  Then the
file is as it was before, and the run is made again, or it has the whole day, and the survivors are
there.  The whole must be what one run over everything gives.  Every second crawl keeps the sketches
of a day in a folder (--checkpoint), from which the next run takes them.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time

DOCUMENTS_A_DAY = 400


def make_days(rng, n):
    words = [f"w{i}" for i in range(3000)]
    texts, days = [], []
    for day in range(n):
        days.append(f"day{day}.jsonl")
        with open(days[-1], "w", encoding="utf-8") as out:
            for i in range(DOCUMENTS_A_DAY):
                text = rng.choices(words, k=40)
                if texts and rng.random() < 0.3:
                    text = list(rng.choice(texts))
                    text[rng.randrange(40)] = rng.choice(words)
                texts.append(text)
                out.write(json.dumps({"id": f"{day}.{i}", "text": " ".join(text)}) + "\n")
    return days


def documents_in(neardup, name):
    if not os.path.exists(name):
        return 0
    subprocess.run([neardup, "sketch", "verify", name], check=True, stdout=subprocess.DEVNULL)
    dump = subprocess.run([neardup, "sketch", "dump", name], check=True, stdout=subprocess.PIPE)
    return dump.stdout.count(b"\n")


def run(neardup, day, seconds, more):
    """One run over a day, killed so much later; None: it runs to its end."""
    with subprocess.Popen([neardup, "dedup", day, "--against", "seen.sketch", "--append", "-q",
                           "-o", "day.out", *more]) as process:
        if seconds is not None:
            time.sleep(seconds)
            process.send_signal(signal.SIGKILL)
        process.wait()
    return process.returncode


def main():
    neardup, kills = sys.argv[1], int(sys.argv[2])
    rng = random.Random(7)
    days = make_days(rng, 5)
    subprocess.run([neardup, "dedup", *days, "-q", "-o", "all.out"], check=True)
    with open("all.out", "rb") as right:
        right = right.read()
    n_killed = n_crawls = 0
    while n_killed < kills or n_crawls < 2:
        n_crawls += 1
        survivors, before = b"", 0
        for name in ("seen.sketch", "day.out"):
            if os.path.exists(name):
                os.remove(name)
        for day in days:
            more = ["--checkpoint", f"cp-{n_crawls}-{day}"] if n_crawls % 2 == 0 else []
            while True:
                start = time.monotonic()
                longest = 0.1 if n_killed < kills else 0
                status = run(neardup, day, rng.random() * longest if longest else None, more)
                n_killed += status == -9
                now = documents_in(neardup, "seen.sketch")
                assert time.monotonic() - start < 300
                if now != before or status == 0:
                    break
                assert status == -9, status
            with open("day.out", "rb") as out:
                day_survivors = out.read()
            assert now - before == day_survivors.count(b"\n"), (day, before, now)
            survivors, before = survivors + day_survivors, now
        assert survivors == right, "not the survivors of one run"
    print(f"{n_killed} kills")


main()
