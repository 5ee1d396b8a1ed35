#!/usr/bin/env python3
"""sketch.py - the sketch of a document, computed slowly from docs/format/sketch.md and text.md

Shares no code with the library.  Without arguments it recomputes every case of
tests/vectors/sketch.txt and exits 1 where one differs; with --write it makes that file.
"""
import sys
import unicodedata
from pathlib import Path

VECTORS = Path(__file__).resolve().parent.parent / "vectors" / "sketch.txt"
M32, M64 = (1 << 32) - 1, (1 << 64) - 1

# --- text.md -----------------------------------------------------------------------------------

BIGRAM_RANGES = [(0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF),
                 (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF),
                 (0x20000, 0x323AF)]
IGNORABLE = {0x00AD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF}  # those that the cases use

XXH3_SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364")


def normalise(text):
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return "".join(c for c in folded if ord(c) not in IGNORABLE)


def char_class(c):
    if unicodedata.category(c)[0] not in "LMN":
        return None
    return "bigram" if any(a <= ord(c) <= b for a, b in BIGRAM_RANGES) else "word"


def tokens_of(text):
    tokens, run, kind = [], "", None
    for c in normalise(text) + "\0":
        now = char_class(c)
        if now != kind:
            if kind == "word" or (kind == "bigram" and len(run) == 1):
                tokens.append(run)
            elif kind == "bigram":
                tokens += [run[i:i + 2] for i in range(len(run) - 1)]
            run, kind = "", now
        run += c
    return tokens


def xxh3(data):
    """XXH3, 64 bits, seed 0, of 17 to 128 bytes: the specification's section for those lengths."""
    def word(b, at):
        return int.from_bytes(b[at:at + 8], "little")

    def mix(at, secret):
        product = ((word(data, at) ^ word(XXH3_SECRET, secret)) *
                   (word(data, at + 8) ^ word(XXH3_SECRET, secret + 8)))
        return (product ^ product >> 64) & M64

    n = len(data)
    assert 17 <= n <= 128
    acc = n * 0x9E3779B185EBCA87
    for i in range((n - 1) // 32 + 1):
        acc += mix(16 * i, 32 * i) + mix(n - 16 * (i + 1), 32 * i + 16)
    acc &= M64
    acc ^= acc >> 37
    acc = acc * 0x165667919E3779F9 & M64
    return acc ^ acc >> 32


def token_hash(token):
    form = token.encode()
    n = len(form)
    if n > 16:
        return xxh3(form)
    padded = form.ljust(16, b"\0")
    x = int.from_bytes(padded[:8], "little") ^ 0xA0761D6478BD642F ^ (n * 0x9E3779B97F4A7C15 & M64)
    y = int.from_bytes(padded[8:], "little") ^ 0xE7037ED1A0B428DB
    product = x * y
    h = (product & M64) ^ (product >> 64) ^ x ^ y
    h = (h ^ h >> 32) * 0xC4CEB9FE1A85EC53 & M64
    return h ^ h >> 29


# --- sketch.md ---------------------------------------------------------------------------------

MULTIPLIER = 0x9FB21C651E98DF25
STEP = 0x9E3779B97F4A7C15


def mix64(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & M64
    x = (x ^ x >> 27) * 0x94D049BB133111EB & M64
    return x ^ x >> 31


def combine(tokens):
    total = tokens[0]
    for t in tokens[1:]:
        total = ((total << 21 | total >> 43) + t) & M64
    return total


def finalise(x):
    x ^= x >> 32
    x = x * MULTIPLIER & M64
    return x ^ x >> 29


def shingles(tokens, w):
    if not tokens:
        return []
    if len(tokens) < w:
        return [finalise((combine(tokens) + STEP * len(tokens)) & M64)]
    every = [finalise(combine(tokens[i:i + w])) for i in range(len(tokens) - w + 1)]
    return list(dict.fromkeys(every))  # distinct, in order of first occurrence


def identity(tokens):
    if not tokens:
        return 0
    total = len(tokens) * STEP
    for i, t in enumerate(tokens):
        x = t ^ (i * STEP & M64)
        total += (x & M32) * (x >> 32)
    return mix64(total & M64) or 1


def simhash(features):
    return sum(1 << b for b in range(64)
               if sum(1 if f >> b & 1 else -1 for f in features) > 0)


def minima(features):
    return [min(((f & M32) + i * (f >> 32 | 1) + (i // 16) * (i % 16) * 0x9E3779B8 & M32
                 for f in features), default=M32)
            for i in range(128)]


# --- the cases ---------------------------------------------------------------------------------

def generated(seed, n, kinds):
    """n token hashes, mix64 of seed + 1, seed + 2 ..., or of `kinds` different ones in turn."""
    return [mix64(seed + 1 + (mix64(i) % kinds if kinds else i)) for i in range(n)]


def escape(text):
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")


def unescape(text):
    out, rest = "", iter(text)
    for c in rest:
        out += {"n": "\n", "t": "\t", "\\": "\\"}[next(rest)] if c == "\\" else c
    return out


def input_tokens(kind, value, unit):
    if kind == "tokens":
        return [int(x, 16) for x in value.split()]
    if kind == "generated":
        return generated(*(int(x) for x in value.split()))
    if unit == "characters":
        return [mix64(ord(c)) for c in normalise(unescape(value))]
    return [token_hash(t) for t in tokens_of(unescape(value))]


def answer(unit, w, kind, value):
    tokens = input_tokens(kind, value, unit)
    distinct = shingles(tokens, w)
    values = minima(distinct)
    lines = [f"unit {unit}", f"w {w}", f"{kind} {value}".rstrip(), f"n_tokens {len(tokens)}",
             f"identity {identity(tokens):016x}", f"n_shingles {len(distinct)}",
             "shingles " + " ".join(f"{x:016x}" for x in distinct[:6]),
             f"shingle_sum {sum(distinct) & M64:016x}", f"simhash {simhash(distinct):016x}"]
    lines[6] = lines[6].rstrip()
    for i in range(0, 128, 8):
        lines.append("minima " + " ".join(f"{x:08x}" for x in values[i:i + 8]))
    return lines


HEADER = """\
# Known answers of sketching (docs/format/sketch.md), made by tests/oracle/sketch.py.
#
# A case is a paragraph.  Its input is one of
#   text       UTF-8, with \\n, \\t and \\\\ for newline, tab and backslash
#   tokens     token hashes
#   generated  SEED N KINDS: token i is mix64(SEED + 1 + i), or, where KINDS is not 0,
#              mix64(SEED + 1 + mix64(i) mod KINDS)
# and its answers are the number of tokens (code points for characters), the identity, the number
# of distinct shingles, the first six of them in order of occurrence, the sum of all modulo 2^64,
# the simhash, and the 128 minima.  Numbers with leading zeroes are hexadecimal.
"""

FOX = "The quick brown fox jumps over the lazy dog. The quick brown fox sleeps."
CASES = [
    ("words", 3, "text", ""),
    ("words", 3, "text", "... -- !"),
    ("words", 3, "text", "one"),
    ("words", 3, "text", "one two"),
    ("words", 3, "text", "one two three"),
    ("words", 3, "text", "three two one"),
    ("words", 2, "text", "one two"),
    ("words", 3, "text", FOX),
    ("words", 1, "text", FOX),
    ("words", 5, "text", FOX),
    ("words", 3, "text", escape("A tab\tand a\nnew line, a back\\slash, a SOFT\u00ADHYPHEN")),
    ("words", 3, "text", "Straße ÉCOLE ﬁn naïve ½ Ⅻ Ångström don't snake_case x2 3.14"),
    ("words", 2, "text", "東京都に住む人 abc日本語 ภาษาไทย 한국어 문서 中"),
    ("words", 2, "text", "a counterrevolutionaries pneumonoultramicroscopicsilicovolcanoconiosis "
     "donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft end"),
    ("characters", 5, "text", FOX),
    ("characters", 3, "text", "Ab"),
    ("characters", 4, "text", "ÉCOLE 東京 \U0001F600 end"),
    ("words", 3, "tokens", "0000000000000000 0000000000000000 0000000000000000"),
    ("words", 3, "tokens", "ffffffffffffffff ffffffffffffffff ffffffffffffffff 0000000000000001"),
    ("words", 1, "tokens", "0000000000000000 0000000000000001 8000000000000000 ffffffffffffffff"),
    ("words", 32, "generated", "1 40 0"),
    ("words", 10, "generated", "2 9 0"),
    ("words", 3, "generated", "3 200 0"),
    ("words", 3, "generated", "4 300 4"),
    ("words", 4, "generated", "5 1500 0"),
    ("words", 2, "generated", "6 3000 40"),
]


def write():
    paragraphs = ["\n".join(answer(*case)) + "\n" for case in CASES]
    VECTORS.write_text(HEADER + "\n" + "\n".join(paragraphs), encoding="utf-8")


def check():
    failed = count = 0
    body = VECTORS.read_text(encoding="utf-8").split("\n\n", 1)[1]
    for paragraph in body.rstrip("\n").split("\n\n"):
        lines = paragraph.split("\n")
        kind, _, value = lines[2].partition(" ")
        expected = answer(lines[0].split()[1], int(lines[1].split()[1]), kind, value)
        count += 1
        if lines != expected:
            failed += 1
            print(f"differs: {lines[2]}")
    print(f"{count - failed} passed, {failed} failed")
    return 1 if failed or count != len(CASES) else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        write()
    else:
        sys.exit(check())
