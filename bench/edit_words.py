#!/usr/bin/env python3
"""edit_words.py - documents with random edits: words inserted, deleted, transposed

    bench/edit_words.py [--edits N] [--kinds insert,delete,transpose] [--seed S] [FILE] > EDITED

FILE is JSON Lines with a `text`, standard input without one.  Of each record its text is changed by
N edits, of a kind and at a place drawn anew each time; the rest stays, and so does the white space
between words where no word is added or goes.  An inserted word is one of the file's, as often as it
stands there; a transposition exchanges two neighbours that differ.  The same seed gives the same
edits (Kolcz and others 2004, Fig. 1, changes documents so).
"""
import argparse
import json
import random
import re
import sys

KINDS = ("insert", "delete", "transpose")


def cut(text):
    """Words and what follows each: "a  b" is [["a", "  "], ["b", ""]]; what stands before is apart."""
    before = re.match(r"\s*", text).group()
    return before, [list(pair) for pair in re.findall(r"(\S+)(\s*)", text)]


def transpose(words, random):
    places = [i for i in range(len(words) - 1) if words[i][0] != words[i + 1][0]]
    if places:
        i = random.choice(places)
        words[i][0], words[i + 1][0] = words[i + 1][0], words[i][0]


def edit(words, kind, pool, random):
    if kind == "insert" and pool:
        i = random.randrange(len(words) + 1)
        if i and not words[i - 1][1]:
            words[i - 1][1] = " "
        words.insert(i, [random.choice(pool), " " if i < len(words) else ""])
    elif kind == "delete" and words:
        del words[random.randrange(len(words))]
    elif kind == "transpose":
        transpose(words, random)


def edited(text, n, kinds, pool, random):
    before, words = cut(text)
    for _ in range(n):
        edit(words, random.choice(kinds), pool, random)
    return before + "".join(word + gap for word, gap in words)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--edits", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("file", nargs="?")
    args = parser.parse_args()
    args.kinds = args.kinds.split(",")
    for kind in args.kinds:
        if kind not in KINDS:
            parser.error(f"--kinds: '{kind}' is not one of {', '.join(KINDS)}")
    if args.edits < 0:
        parser.error("--edits: a document has no fewer than 0 edits")
    return args


def main():
    args = parse()
    with open(args.file, encoding="utf-8") if args.file else sys.stdin as lines:
        records = [json.loads(line) for line in lines]
    pool = [word for record in records for word in record["text"].split()]
    for number, record in enumerate(records):
        own = random.Random(f"{args.seed} {number}")  # so that a document's edits are its own
        record["text"] = edited(record["text"], args.edits, args.kinds, pool, own)
        print(json.dumps(record, ensure_ascii=False))


if __name__ == "__main__":
    main()
