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
    check_several(neardup, folder, least, [shown_text, shown[0], shown_text + " other"])
    check_sketched(neardup, folder, least, text, sources)
    return len(rows)


def check_several(neardup, folder, least, texts):
    """Several texts have the rows that each has alone."""
    texts = [t for t in texts if len(words_of(t)) >= least]
    (folder / "texts.jsonl").write_text("".join(json.dumps({"id": f"t{i}", "text": t}) + "\n" for i, t in enumerate(texts)))
    options = ["sources", "-q", "--json", "--least", str(least)]
    done = subprocess.run([neardup, *options, "--texts", "texts.jsonl", "corpus.jsonl"], cwd=folder, capture_output=True, check=False)
    alone = []
    for i, text in enumerate(texts):
        (folder / "one.txt").write_text(text)
        one = subprocess.run([neardup, *options, "one.txt", "corpus.jsonl"], cwd=folder, capture_output=True, check=False)
        alone += [{"text": f"t{i}", **json.loads(line)} for line in one.stdout.splitlines()]
    assert [json.loads(line) for line in done.stdout.splitlines()] == alone


def shingles(words):
    return {tuple(words[i:i + 3]) for i in range(len(words) - 2)}


def check_sketched(neardup, folder, least, text, sources):
    """A sketch file tells how many distinct shingles of the text each document has."""
    own, met, expected = shingles(text), set(), []
    subprocess.run([neardup, "sketch", "-q", "corpus.jsonl", "-o", "c.sketch"], cwd=folder, check=True)
    done = subprocess.run([neardup, "sources", "-q", "--json", "--least", str(least), "text.txt", "c.sketch"], cwd=folder, capture_output=True, check=False)
    found = [(i, own & shingles(source)) for i, source in enumerate(sources)]
    for i, shared in sorted((f for f in found if len(f[1]) >= max(1, least - 2)), key=lambda f: (-len(f[1]), f[0])):
        expected.append({"id": i, "at": f"corpus.jsonl:{i + 1}", "share": len(shared) / len(own), "shingles": len(shared), "new": len(shared - met)})
        met |= shared
    assert [json.loads(line) for line in done.stdout.splitlines()] == expected


def main():
    n = 0
    for seed in range(150):
        with tempfile.TemporaryDirectory() as folder:
            n += check(sys.argv[1], random.Random(seed), Path(folder))
    assert n > 150, n


if __name__ == "__main__":
    main()
