#!/usr/bin/env python3
"""counts.py - simhashes of term counts with exact sums, beside those of `neardup sketch`

    counts.py NEARDUP [CORPUS.jsonl]    CORPUS: records with id and text; without it, pages of the repository and
                                        texts in which many sums are 0

A bit is 1 if its sum is above 0 (Henzinger 2006; Manku 2007, section 2), and 0 if the sum is 0: whole weights must not
be rounded.  The formula is computed in Python's integers, from texts to bits.  Exit status 1: a document differs.
"""
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from functools import lru_cache
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import features
import sketch

# NAME of the signature, bits, and whether the method leaves out stop words and stems the others.
METHODS = {
    "henzinger-2006-c": ("c", 384, False),
    "henzinger-2006-combined": ("c", 384, False),
    "manku-2007": ("simhash", 64, True),
}
LANE = 40  # bits of a sum


@lru_cache(maxsize=None)
def lanes(term, bits):
    """The bits of a term, the lowest first, each in LANE bits of one number."""
    h = sketch.token_hash(term)
    value = h
    for j in range(1, bits // 64):
        value |= sketch.mix64(h + j * sketch.STEP & sketch.M64) << 64 * j
    return sum(1 << LANE * b for b in range(bits) if value >> b & 1)


def simhash(counts, bits):
    """The bits whose sum of +n for a 1 and -n for a 0 is above 0, and how many sums are 0."""
    total = sum(counts.values())
    ones = sum(n * lanes(term, bits) for term, n in counts.items())
    sums = [2 * (ones >> LANE * b & (1 << LANE) - 1) - total for b in range(bits)]
    return sum(1 << b for b in range(bits) if sums[b] > 0), sums.count(0)


@lru_cache(maxsize=None)
def stem(token):
    return features.stem_of(token, "english")


tokens_of_piece = lru_cache(maxsize=None)(features.tokens_of)


def tokens_of(text):
    """No token goes over a blank, and most pieces between blanks occur again."""
    return [token for piece in text.split() for token in tokens_of_piece(piece)]


def terms(tokens, is_stemmed):
    if not is_stemmed:
        return tokens
    kept = [t for t in tokens if t not in features.WORDS["stop words"]]
    return [stem(t) for t in kept] if features.snowballstemmer else kept


def made_texts():
    """Pages of the repository, random counts of few words, and one word more often than 32,768 times."""
    rng = random.Random(2006)
    yield from features.repository_texts()
    for page in sorted((features.ROOT / "docs").glob("*.md")):
        yield from page.read_text(encoding="utf-8").split("\n\n")
    words = [f"word{i}" for i in range(60)]
    for most in (1, 2, 3, 7, 100, 1000):
        for _ in range(40):
            text = [w for w in rng.sample(words, rng.randrange(1, 60)) for _ in range(rng.randint(1, most))]
            rng.shuffle(text)
            yield " ".join(text)
    yield "many " * 40000 + "few " * 39999 + "one"


def corpus(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)["text"]


def bits_of(neardup, recipe, path, options):
    """The simhash of each document, in their order."""
    name = METHODS[recipe][0]
    run = subprocess.Popen([neardup, "sketch", "-q", "--recipe", recipe, *options, path], stdout=subprocess.PIPE)
    for line in run.stdout:
        words = json.loads(line)["signatures"][name]
        yield sum(int(word, 16) << 64 * i for i, word in enumerate(words)) if words else 0
    assert run.wait() == 0


def main():
    neardup, *given = sys.argv[1:]
    texts = list(corpus(given[0]) if given else made_texts())
    tokens = [tokens_of(text) for text in texts]
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        for i, text in enumerate(texts):
            file.write(json.dumps({"id": i, "text": text}) + "\n")
        file.flush()
        known = {}
        for recipe, (name, bits, is_stemmed) in METHODS.items():
            options = [] if features.snowballstemmer or not is_stemmed else ["--set", f"{name}.stem=none"]
            if (bits, is_stemmed) not in known:
                known[bits, is_stemmed] = [simhash(Counter(terms(t, is_stemmed)), bits) for t in tokens]
            expected = known[bits, is_stemmed]
            got = list(bits_of(neardup, recipe, file.name, options))
            n = len(texts)
            assert len(got) == n, (len(got), n)
            zeros = sum(ties for _, ties in expected)
            wrong = [(i, (x ^ y).bit_count()) for i, (x, (y, _)) in enumerate(zip(got, expected)) if x != y]
            print(f"{recipe}{' without stems' if options else ''}: {n} documents, "
                  f"{zeros / n / bits:.2%} of the sums are 0, {len(wrong)} documents differ")
            if wrong or not zeros:
                sys.exit(f"{recipe}: documents with differing bits: {wrong[:20]}")


if __name__ == "__main__":
    main()
