"""Inputs that are made to cost more than they should: the same bytes every time.

Each function writes n of what it is named after, and says how many documents that are.
"""

import json
import random

SEED = 5


def words(count):
    return [f"word{i}" for i in range(count)]


def write_documents(path, texts):
    count = 0
    with open(path, "w", encoding="ascii") as out:
        for text in texts:
            out.write(json.dumps({"id": str(count), "text": text}) + "\n")
            count += 1
    return count


def template_pages(path, n):
    """100 words that all pages share and 14 random ones: a resemblance of about .78."""
    rng = random.Random(SEED)
    vocabulary = words(50_000)
    shared = rng.choices(vocabulary, k=100)
    return write_documents(
        path, (" ".join(shared + rng.choices(vocabulary, k=14)) for _ in range(n))
    )


def half_templates(path, n):
    """60 words that all pages share and 30 random ones."""
    rng = random.Random(SEED)
    vocabulary = words(20_000)
    shared = rng.choices(vocabulary, k=60)
    return write_documents(
        path, (" ".join(shared + rng.choices(vocabulary, k=30)) for _ in range(n))
    )


def small_vocabulary(path, n):
    """40 words, of four different ones: most texts share keys, and few could match."""
    rng = random.Random(SEED)
    return write_documents(path, (" ".join(rng.choices("abcd", k=40)) for _ in range(n)))


def near_copies(path, n):
    """A text of 100 words, one of which is another in each copy."""
    rng = random.Random(SEED)
    shared = rng.choices(words(50_000), k=100)

    def copy(i):
        own = list(shared)
        own[rng.randrange(100)] = f"x{i}"
        return " ".join(own)

    return write_documents(path, (copy(i) for i in range(n)))


def equal_documents(path, n):
    text = " ".join(random.Random(SEED).choices(words(50_000), k=100))
    return write_documents(path, (text for _ in range(n)))


def few_words(path, n):
    """20 to 59 words out of 2000, all equally frequent: sets of which no value is rare."""
    rng = random.Random(SEED)
    vocabulary = words(2000)
    return write_documents(
        path, (" ".join(rng.choices(vocabulary, k=rng.randrange(20, 60))) for _ in range(n))
    )


def header_lines(path, n):
    with open(path, "w", encoding="ascii") as out:
        out.write("From: a@example.org\nSubject: s\n")
        out.write("a:\n" * n)
        out.write("\nsome words of a text\n")
    return 1


def folded_subject(path, n):
    with open(path, "w", encoding="ascii") as out:
        out.write("From: a@example.org\nSubject: s\n")
        out.write(" x\n" * n)
        out.write("\nsome words of a text\n")
    return 1


def parts(path, n):
    with open(path, "w", encoding="ascii") as out:
        out.write("From: a@example.org\nMIME-Version: 1.0\n")
        out.write('Content-Type: multipart/mixed; boundary="b"\n\n')
        out.write("--b\n\nx\n" * n)
        out.write("--b--\n")
    return 1


def attributes(path, n):
    with open(path, "w", encoding="ascii") as out:
        out.write("<html><body><p ")
        out.writelines(f"a{i}=1 " for i in range(n))
        out.write(">some words of a text</p></body></html>\n")
    return 1


def equal_fingerprints(path, n):
    with open(path, "w", encoding="ascii") as out:
        out.write("0123456789abcdef\n" * n)
    return n
