#!/usr/bin/env python3
"""images.py - opens what a disk may have after a crash, at any moment of a store's life

usage: images.py STORE_WRITER RECORDER [--images N] [--seed S] [--keep FOLDER]

A recorder under store_writer writes down every call that changes files.  From that, images are made
of what may be on the disk after a crash (crash.py), and each is opened and compared with what was
acknowledged until then.  Then the same with syncs left out of the account: all, those of the texts,
of the rows, or of the names of files.  Each time losses must be found, or this test would not see
that such a sync is missing.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys

from common import Folder, check, preload, sized
from crash import CREATE, SAID, SYNC, SYNC_LAST, Disk, read_log

THREADS = 3


def record(program, library, folder, seed, steps):
    root, log = os.path.join(folder, "root"), os.path.join(folder, "log")
    os.mkdir(root)
    environment = preload(library, root=root, log=log)
    environment["STORE_WRITER_STEPS"] = str(steps)
    command = [program, "write", os.path.join(root, "store"), str(seed), *["0"] * THREADS]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"seed {seed}: store_writer failed: {done.stderr}"
    events = read_log(log)
    compare_with(root, events)
    shutil.rmtree(root)
    return events


def compare_with(root, events):
    """Check that the recorder saw what is there; the table of LMDB's readers is written in memory."""
    disk = Disk()
    for event in events:
        disk.feed(event)
    recorded, found = disk.everything(root_of(events)), {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, root)] = file.read()
    for name in recorded.keys() | found.keys():
        if not name.endswith("-lock"):
            assert recorded.get(name) == found.get(name), f"{name} was not recorded as it is"


def root_of(events):
    """The number of the folder in which the store lies: the first that gets a name in it."""
    return next(e.folder for e in events if e.folder)


def leave_out(events, of):
    """The events without some of the syncs."""
    files = [e for e in events if e.kind == CREATE]
    ids = {
        "texts": {e.id for e in files if e.name.endswith(".seg")},
        "rows": {e.id for e in files if e.name.startswith("catalog.mdb")},
        "names": {e.folder for e in events},
    }
    ids["all"] = {e.id for e in events}
    return [e for e in events if e.kind not in (SYNC, SYNC_LAST) or e.id not in ids[of]]


def explore(program, folder, events, seed, n, report):
    """Crash at n moments; returns how many images are not as they must be."""
    rng = random.Random(seed)
    moments = sorted(rng.randrange(1, len(events) + 1) for _ in range(n))
    disk, root, acknowledged, at, n_bad = Disk(), root_of(events), [0] * THREADS, 0, 0
    image = os.path.join(folder, "image")
    for moment in moments:
        while at < moment:
            disk.feed(events[at])
            if events[at].kind == SAID:
                for line in events[at].data.decode().splitlines():
                    thread, steps = map(int, line.split())
                    acknowledged[thread] = steps
            at += 1
        shutil.rmtree(image, ignore_errors=True)
        disk.write_image(rng, root, image)
        _, wrong = check(program, os.path.join(image, "store"), seed, acknowledged)
        n_bad += wrong is not None
        if wrong and report:
            report(moment, acknowledged, image, wrong)
    return n_bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("recorder")
    parser.add_argument("--images", type=int, default=sized(60, 2000))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=60, help="of each thread")
    parser.add_argument("--keep", help="a folder for the first image that is wrong")
    args = parser.parse_args()
    of_a_run, of_a_lack = sized(20, 200), sized(4, 10)
    n_bad = n_done = n_lacking = 0
    lost = {"texts": 0, "rows": 0, "names": 0, "all": 0}

    def report(moment, acknowledged, image, wrong):
        print(f"seed {seed}, call {moment} of {len(events)}, acknowledged {acknowledged}: {wrong}")
        if args.keep and not os.path.exists(args.keep):
            shutil.copytree(image, args.keep)

    for seed in range(args.seed, args.seed + -(-args.images // of_a_run)):
        with Folder() as folder:
            # Some runs are so long that they write snapshots of the index.
            steps = args.steps if seed % 5 else 25 * args.steps
            events = record(args.program, args.recorder, folder, seed, steps)
            n_bad += explore(args.program, folder, events, seed, of_a_run, report)
            n_done += of_a_run
            for of in lost:
                lacking = leave_out(events, of)
                lost[of] += explore(args.program, folder, lacking, seed, of_a_lack, None)
            n_lacking += of_a_lack
    print(f"{n_done} images, {n_bad} wrong")
    for of, n in lost.items():
        print(f"without syncs of {of}: {n_lacking} images, {n} wrong")
    if n_bad:
        sys.exit("something that was acknowledged is lost, or half there")
    if not all(lost.values()):
        sys.exit("without some syncs nothing is lost: this test does not see that they are missing")


main()
