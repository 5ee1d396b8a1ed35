#!/usr/bin/env python3
"""checkpoint_kill.py - a run with --checkpoint that is killed, and run again, ends as one that was not

usage: checkpoint_kill.py NEARDUP KILLS

A run is killed some time after its start, and made again, until so many were killed.  No kill may
leave an output or a chunk that is not whole, no text may be kept twice, and what the last run writes
must be what a run without --checkpoint writes.
"""

import glob
import json
import os
import random
import shutil
import subprocess
import sys
import threading

DOCUMENTS = 16000
OUTPUTS = ("kept.jsonl", "m.jsonl", "c.tsv")


def make_corpus(rng):
    words = [f"w{i}" for i in range(3000)]
    texts = []
    with open("corpus.jsonl", "w", encoding="utf-8") as out:
        for i in range(DOCUMENTS):
            text = rng.choices(words, k=60)
            if texts and rng.random() < 0.3:
                text = list(rng.choice(texts))
                text[rng.randrange(60)] = rng.choice(words)
            texts.append(text)
            out.write(json.dumps({"id": i, "text": " ".join(text)}) + "\n")


def command(neardup, folder, *more):
    names = [os.path.join(folder, name) for name in OUTPUTS]
    return [neardup, "dedup", "corpus.jsonl", "-q", "-o", names[0], "--manifest", names[1],
            "--clusters", names[2], *more]


def contents(folder):
    return [open(os.path.join(folder, name), "rb").read() for name in OUTPUTS]


def rows_kept(neardup):
    """The rows of all chunks; each must be whole, and no text may have two."""
    hashes = []
    for chunk in sorted(glob.glob("cp/*.sketch")):
        subprocess.run([neardup, "sketch", "verify", chunk], check=True, stdout=subprocess.DEVNULL)
        dump = subprocess.run([neardup, "sketch", "dump", chunk], check=True, stdout=subprocess.PIPE)
        hashes += [json.loads(line)["text_hash"] for line in dump.stdout.splitlines()]
    assert len(hashes) == len(set(hashes)), "a text was kept twice"
    return len(hashes)


def main():
    neardup, kills = sys.argv[1], int(sys.argv[2])
    rng = random.Random(11)
    make_corpus(rng)
    ways = [[], ["--threads", "1"], ["--keep", "last"], ["--cluster", "components"],
            ["--memory", "64M"]]
    n_killed = n_gained = 0
    while n_killed < kills:
        way = ways[n_killed % len(ways)]
        shutil.rmtree("cp", ignore_errors=True)
        shutil.rmtree("out", ignore_errors=True)
        os.makedirs("right", exist_ok=True)
        os.makedirs("out")
        subprocess.run(command(neardup, "right", *way), check=True)
        for _ in range(5):
            with subprocess.Popen(command(neardup, "out", "--checkpoint", "cp", *way)) as process:
                killer = threading.Timer(rng.random() * 0.2, process.kill)
                killer.start()
                process.wait()
                killer.cancel()
            n_killed += process.returncode == -9
            if process.returncode == 0:
                break
            assert process.returncode == -9, process.returncode
            for name in os.listdir("out"):  # of a run that was killed while it published
                with open(f"out/{name}", "rb") as out, open(f"right/{name}", "rb") as right:
                    assert out.read() == right.read(), f"{name} is not whole"
            n_gained += rows_kept(neardup) > 0
        subprocess.run(command(neardup, "out", "--checkpoint", "cp", *way), check=True)
        assert contents("out") == contents("right"), way
        assert rows_kept(neardup) > DOCUMENTS / 2
    print(f"{n_killed} kills, {n_gained} of which left chunks")


main()
