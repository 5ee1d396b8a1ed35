#!/usr/bin/env python3
"""kill.py - kills a program that writes to a store, again and again, and looks at what is there

usage: kill.py STORE_WRITER [--kills N] [--seed S] [--interval MS]

The store stays the same, so that each life begins with what the last one left.  With an interval,
the last writes of each thread may be lost, and nothing else.
"""

import argparse
import os
import random
import subprocess
import sys
import threading

from common import Acknowledged, Folder, check, sized

THREADS = 3
LIVES = 50  # of one store


def live(program, store, seed, first, n_batches, seconds):
    """Let it write so many batches, and kill it so much later; returns what it acknowledged."""
    command = [program, "write", store, str(seed), *map(str, first)]
    acknowledged = Acknowledged(first)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as writer:
        killer = threading.Timer(seconds, writer.kill)
        for i, line in enumerate(writer.stdout):
            if line.endswith(b"\n"):
                acknowledged.add(line.decode())
            if i == n_batches:
                killer.start()
        killer.join()
        said = writer.stderr.read().decode()
    assert writer.returncode == -9, f"status {writer.returncode}: {said}"
    return acknowledged.steps


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--kills", type=int, default=sized(20, 1000))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--interval", type=int, default=0)
    args = parser.parse_args()
    if args.interval:
        os.environ["STORE_WRITER_INTERVAL"] = str(args.interval)
    rng = random.Random(args.seed)
    n_steps = n_kills = 0
    while n_kills < args.kills:
        seed, first = args.seed + n_kills, [0] * THREADS
        with Folder() as folder:
            store = os.path.join(folder, "store")
            for _ in range(min(LIVES, args.kills - n_kills)):
                # Nothing of an interval's writes is there before the first commit.
                moment = rng.randrange(40), rng.random() * (0.005 + args.interval / 200)
                acknowledged = live(args.program, store, seed, first, *moment)
                shown, wrong = check(args.program, store, seed, acknowledged)
                if wrong:
                    sys.exit(f"seed {seed}, kill {n_kills}, acknowledged {acknowledged}: {wrong}")
                first = shown
                n_kills += 1
            n_steps += sum(first)
    what = "only the last writes" if args.interval else "nothing"
    print(f"{n_kills} kills, {n_steps} steps, {what} lost")
    if n_steps < args.kills:
        sys.exit("it was killed before it wrote: this test finds nothing")


main()
