#!/usr/bin/env python3
"""failures.py - a store on a disk that gets full, whose syncs fail, or without file descriptors

usage: failures.py STORE_WRITER RECORDER disk-full|failed-sync|descriptors [--seed S]
"""

import argparse
import os
import subprocess
import sys

from common import Acknowledged, Folder, check, preload, sized, skip

THREADS = 3
REFUSED = 3  # what store_writer ends with if a write was refused
DISK_BYTES, BALLAST_BYTES = 12 << 20, 4 << 20


def run(command, environment=None):
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def acknowledged_by(done, threads):
    acknowledged = Acknowledged([0] * threads)
    for line in done.stdout.splitlines():
        acknowledged.add(line)
    return acknowledged.steps


def fill(program, folder, seed):
    ballast = os.path.join(folder, "ballast")
    with open(ballast, "wb") as file:
        file.write(bytes(BALLAST_BYTES))
    store = os.path.join(folder, "store")
    done = run([program, "full", store, str(seed), ballast])
    assert done.returncode == 0, f"status {done.returncode}: {done.stderr}"
    _, wrong = check(program, store, seed, acknowledged_by(done, 1))
    assert not wrong, wrong


def disk_full(args):
    """Writes are refused, reads go on; once there is room, writes go on; nothing is lost."""
    if os.geteuid() != 0:
        skip("only root can mount a small disk")
    n = sized(2, 20)
    for seed in range(args.seed, args.seed + n):
        with Folder() as folder:
            done = run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "none", folder])
            if done.returncode != 0:
                skip(f"no disk can be mounted: {done.stderr.strip()}")
            try:
                fill(args.program, folder, seed)
            finally:
                run(["umount", folder])
    print(f"{n} disks were full, nothing lost")


def failed_sync(args):
    """After a sync that failed, nothing is acknowledged; all that was before is there."""
    # The first ones make the store.
    n_refused, numbers = 0, list(range(1, 16, 2)) + list(range(16, sized(60, 500), sized(11, 3)))
    for number in numbers:
        seed = args.seed + number
        with Folder() as folder:
            environment = preload(args.recorder, root=folder, fail_sync=number)
            environment["STORE_WRITER_STEPS"] = "200"
            store = os.path.join(folder, "store")
            done = run([args.program, "write", store, str(seed), *["0"] * THREADS], environment)
            assert done.returncode in (0, 1, REFUSED), f"sync {number}: {done.stderr}"
            acknowledged = acknowledged_by(done, THREADS)
            if done.returncode == 1:
                # The sync was one of those that make a store.
                assert acknowledged == [0] * THREADS and "cannot be opened" in done.stderr, done.stderr
            n_refused += done.returncode == REFUSED
            _, wrong = check(args.program, store, seed, acknowledged)
            assert not wrong, f"sync {number}, acknowledged {acknowledged}: {wrong}"
    print(f"{len(numbers)} syncs failed, {n_refused} of them while documents were written; nothing lost")
    if not n_refused:
        sys.exit("no write was refused: this test finds nothing")


def descriptors(args):
    """Writes are taken or refused, and go on once there are descriptors."""
    for seed in range(args.seed, args.seed + sized(1, 10)):
        with Folder() as folder:
            store = os.path.join(folder, "store")
            done = run([args.program, "descriptors", store, str(seed)])
            assert done.returncode == 0, f"status {done.returncode}: {done.stderr}"
            _, wrong = check(args.program, store, seed, acknowledged_by(done, 1))
            assert not wrong, wrong
            print(done.stderr.strip())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("recorder")
    parser.add_argument("what", choices=("disk-full", "failed-sync", "descriptors"))
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    {"disk-full": disk_full, "failed-sync": failed_sync, "descriptors": descriptors}[args.what](args)


main()
