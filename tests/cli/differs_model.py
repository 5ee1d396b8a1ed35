#!/usr/bin/env python3
"""differs_model.py - recomputes the member "differs" of each row of a manifest (docs/format/outputs.md)

usage: differs_model.py NEARDUP ROUNDS

Random texts of ASCII words: months, hours, numbers, names, capitals. Each row is computed again by
regular expressions, and all ways of running must write the same rows.
"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

NEARDUP, ROUNDS = sys.argv[1], int(sys.argv[2])
DAYS = set(
    "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec "
    "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun".split()
)
ORDER = ["nothing", "order", "dates", "numbers", "names", "words"]
PIECES = (
    "the a of said which May March 3 14 2026 am pm at 9:30 12:05 2026-11-24 24/11/26 1.5 "
    "Smith Jones IBM NEC SAYS U.S. end. start: Then then \"Quote (Paren x1 7th Monday, sun Oct"
).split()


def tokens(text):
    return [(m.start(), m.end(), m.group()) for m in re.finditer(r"[A-Za-z0-9]+", text)]


def in_date(text, t, i):
    """Whether the number t[i] is a part of a date or of a time of the day."""
    for k in range(3):
        if i - k >= 0 and i - k + 2 < len(t):
            a, b, c = t[i - k : i - k + 3]
            if re.fullmatch(r"(\d{4}|\d\d?)([-/.])\d\d?\2(\d{4}|\d\d?)", text[a[0] : c[1]]) and b[0] == a[1] + 1:
                return True
    for k in range(2):
        if i - k >= 0 and i - k + 1 < len(t) and re.fullmatch(r"\d\d?:\d\d", text[t[i - k][0] : t[i - k + 1][1]]):
            return True
    for j in range(max(0, i - 2), min(len(t), i + 3)):
        if j != i and t[j][2].lower() in DAYS and (abs(j - i) == 1 or re.search(r"\d", t[(i + j) // 2][2])):
            return True
    return False


def kind(text, t, i):
    """The class of t[i]; None: it could be a name or any other word."""
    word = t[i][2]
    if re.search(r"\d", word):
        return "dates" if in_date(text, t, i) else "numbers"
    if word.lower() in DAYS or (word.lower() in ("am", "pm") and i and re.search(r"\d", t[i - 1][2])):
        return "dates"
    if not word[0].isupper():
        return "words"
    before = text[: t[i][0]].rstrip(" \t\"'([")
    if not before or before[-1] in ".!?:\r\n":
        return None
    high = [re.fullmatch("[A-Z]{2,}", w) for _, _, w in t]
    if high[i] and ((i and high[i - 1]) or (i + 1 < len(t) and high[i + 1])):
        return None
    return "names"


def differs(a, b):
    """The member of a row whose documents have these texts: removed, kept."""
    t = [tokens(a), tokens(b)]
    forms = [[w.lower() for _, _, w in side] for side in t]
    found = {"in": "nothing" if forms[0] == forms[1] else "order"}
    counts = []
    for side, (text, name) in enumerate(((a, "removed"), (b, "kept"))):
        only = [w for w in dict.fromkeys(forms[side]) if w not in forms[1 - side]]
        for word in only:
            kinds = {kind(text, t[side], i) for i, w in enumerate(forms[side]) if w == word} - {None}
            found["in"] = max(kinds | {found["in"]} if kinds else {"words"}, key=ORDER.index)
        found[name] = [t[side][forms[side].index(w)][2] for w in only][:16]
        counts.append(len(only))
    if max(counts) > 16:
        found["words"] = counts
    return found


def run(*options):
    subprocess.run([NEARDUP, "dedup", "-q", "in.jsonl", "-o", "out", "--manifest", "m", "--differs", *options], check=True)
    with open("m") as file:
        return [json.loads(line) for line in file][1:]


APART = {"none": [], "numbers": ["numbers"], "names": ["numbers", "names"], "dates": ["dates", "numbers", "names"]}


def pairs(forms):
    command = [NEARDUP, "pairs", "-q", "--threshold", "0.2", "--shingle", "1", "--forms", forms, "in.jsonl"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return {tuple(map(int, line.split("\t")[:2])) for line in lines}


def check_forms(seed, texts):
    """The pairs are all but those that differ in nothing but words of these classes."""
    every = pairs("none")
    for forms, classes in APART.items():
        expected = {(a, b) for a, b in every if differs(texts[a], texts[b])["in"] not in classes}
        assert pairs(forms) == expected, (seed, forms, pairs(forms) ^ expected)


def main():
    checked = {name: 0 for name in ORDER}
    os.chdir(tempfile.mkdtemp())
    for seed in range(ROUNDS):
        draw = random.Random(seed)
        texts = []
        for _ in range(40):
            if texts and draw.random() < 0.8:
                words = draw.choice(texts).split(" ")
                for _ in range(draw.choice((0, 1, 1, 2, 30))):
                    words[draw.randrange(len(words))] = draw.choice(PIECES)
                if draw.random() < 0.2:
                    draw.shuffle(words)
            else:
                words = draw.choices(PIECES, k=draw.randrange(1, 60))
            texts.append(" ".join(words))
        with open("in.jsonl", "w") as file:
            for i, text in enumerate(texts):
                print(json.dumps({"id": i, "text": text}), file=file)
        for keep in ([], ["--keep", "longest"]):
            common = ["--threshold", "0.2", "--shingle", "1", *keep]
            rows = run(*common, "--threads", "1")
            for row in rows:
                expected = differs(texts[row["removed"]], texts[row["kept"]])
                if row["identical"] == "bytes":
                    expected = {"in": "nothing", "removed": [], "kept": []}
                assert row["differs"] == expected, (seed, row, expected, texts[row["removed"]], texts[row["kept"]])
                checked[expected["in"]] += 1
            for way in (["--threads", "3"], ["--memory", "300M"]):
                assert run(*common, *way) == rows, (seed, way)
        check_forms(seed, texts)
    print(checked)
    assert min(checked.values()) > ROUNDS / 10, checked


main()
