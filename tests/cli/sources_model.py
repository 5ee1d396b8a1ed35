"""sources_model.py NEARDUP - neardup sources against a search of all common runs, on random corpora."""
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

WORDS = "one two three four five six seven".split()
BETWEEN = [" ", " ", ", ", "\n", ". "]


def random_words(rnd, n, others):
    words = []
    while len(words) < n:
        other = rnd.choice(others) if others and rnd.random() < .5 else [rnd.choice(WORDS)]
        at = rnd.randrange(len(other))
        words += other[at:at + rnd.choice([3, 5, 9])]
    return words[:n]


def written(rnd, words):
    return "".join(rnd.choice([w, w.upper()]) + rnd.choice(BETWEEN) for w in words)


def runs(text, source, least):
    """Runs of the text that stand in the source and are part of no longer such run."""
    longest = [max((common(text[i:], source[k:]) for k in range(len(source))), default=0) for i in range(len(text))]
    found = [(i, i + n) for i, n in enumerate(longest) if n >= least]
    return [(a, b) for a, b in found if not any(c <= a and b <= d and (a, b) != (c, d) for c, d in found)]


def common(a, b):
    n = 0
    while n < min(len(a), len(b)) and a[n] == b[n]:
        n += 1
    return n


def words_of(text):
    return [w for w in "".join(c if c.isalpha() else " " for c in text.lower()).split()]


def check(neardup, rnd, folder):
    sources = []
    for _ in range(rnd.choice([1, 4, 12])):
        sources.append(random_words(rnd, rnd.choice([0, 5, 30]), [s for s in sources if s]))
    text = random_words(rnd, rnd.choice([12, 25]), [s for s in sources if s])
    least = rnd.choice([2, 3, 5, 8])
    shown = [written(rnd, s) for s in sources]
    shown_text = written(rnd, text)
    (folder / "text.txt").write_text(shown_text)
    (folder / "corpus.jsonl").write_text("".join(json.dumps({"id": i, "text": s}) + "\n" for i, s in enumerate(shown)))
    done = subprocess.run([neardup, "sources", "-q", "--json", "--least", str(least), "-j", str(rnd.choice([1, 3])),
                           "text.txt", "corpus.jsonl"], cwd=folder, capture_output=True, check=False)
    expected, met = [], set()
    for i, source in enumerate(sources):
        found = runs(text, source, least)
        if found:
            expected.append((i, set().union(*(range(a, b) for a, b in found)), found))
    expected.sort(key=lambda e: (-len(e[1]), e[0]))
    assert done.returncode == (0 if expected else 1), done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [r["id"] for r in rows] == [e[0] for e in expected], (rows, expected)
    for row, (i, covered, found) in zip(rows, expected):
        assert row["at"] == f"corpus.jsonl:{i + 1}"
        assert (row["tokens"], row["new"]) == (len(covered), len(covered - met)), (row, found)
        assert row["share"] == len(covered) / len(text) and row["passages"] == len(row["pieces"])
        met |= covered
        if any(d >= a for (_, d), (a, _) in zip(found, found[1:])):
            continue  # runs that meet may be joined
        assert row["passages"] == len(found) and row["longest"] == max(b - a for a, b in found), (row, found)
        for piece, (a, b) in zip(row["pieces"], found):
            assert words_of(shown_text[piece["from"]:piece["to"]]) == text[a:b]
            assert words_of(shown[i][piece["source_from"]:piece["source_to"]]) == text[a:b]
            assert piece["tokens"] == b - a
    return len(rows)


def main():
    n = 0
    for seed in range(150):
        with tempfile.TemporaryDirectory() as folder:
            n += check(sys.argv[1], random.Random(seed), Path(folder))
    assert n > 150, n


if __name__ == "__main__":
    main()
