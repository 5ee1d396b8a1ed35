#!/usr/bin/env python3
"""signatures.py - signatures of features, computed slowly from docs/format/signatures.md

Shares no code with the library.  Without arguments it recomputes every case of
tests/vectors/signatures.txt and exits 1 where one differs; with --write it makes that file; with
--random N CHECK it makes N other cases, of random features and of the words of texts in the tree,
and gives them to the program CHECK (signature_vectors_check).
"""
import hashlib
import random
import subprocess
import sys
from decimal import Decimal, getcontext
from pathlib import Path

import sketch

VECTORS = Path(__file__).resolve().parent.parent / "vectors" / "signatures.txt"
M16, M32, M64 = (1 << 16) - 1, (1 << 32) - 1, (1 << 64) - 1
STEP = 0x9E3779B97F4A7C15
mix64 = sketch.mix64
getcontext().prec = 60

DEFAULTS = dict(hash="token", rabin_polynomial=0x243F6A8885A30907, bits=64, reserved_bits=0, minima=84,
                groups=6, width=4, modulus=25, window=4, lexicon_low="0.2", lexicon_high="0.8",
                secondary=0, least_terms=5, lexicons=0, drop="0.33", bootstrap=0, seed=0,
                quantum="0.01")


class Case:
    """Features as (hash, weight, df), df 0 for unseen; params over DEFAULTS."""

    def __init__(self, kind, features, forced=(), n_metadata=0, n_tokens=0, documents=0, **params):
        self.kind, self.features, self.forced = kind, list(features), list(forced)
        self.n_metadata, self.n_tokens, self.documents = n_metadata, n_tokens, documents
        self.given, self.p = params, {**DEFAULTS, **params}
        self.generated = None


# --- hash functions ------------------------------------------------------------------------------

def lookup8(data, level=0):
    """Jenkins' hash() of bytes, as published in 1997."""
    a = b = level
    c = 0x9E3779B97F4A7C13

    def mix(a, b, c):
        for x, y, z in ((43, 9, 8), (38, 23, 5), (35, 49, 11), (12, 18, 22)):
            a = (a - b - c & M64) ^ (c >> x)
            b = (b - c - a & M64) ^ (a << y & M64)
            c = (c - a - b & M64) ^ (b >> z)
        return a, b, c

    rest = data
    while len(rest) >= 24:
        a = a + int.from_bytes(rest[:8], "little") & M64
        b = b + int.from_bytes(rest[8:16], "little") & M64
        c = c + int.from_bytes(rest[16:24], "little") & M64
        a, b, c = mix(a, b, c)
        rest = rest[24:]
    c = c + len(data) & M64
    a = a + int.from_bytes(rest[:8], "little") & M64
    b = b + int.from_bytes(rest[8:16], "little") & M64
    c = c + (int.from_bytes(rest[16:], "little") << 8) & M64  # its low byte is the length's
    return mix(a, b, c)[2]


def rabin(data, low):
    """(1, data, 64 zeroes) as a polynomial over GF(2), modulo t^64 + low."""
    modulus = 1 << 64 | low
    rest = int.from_bytes(b"\x01" + data, "big") << 64
    while rest.bit_length() > 64:
        rest ^= modulus << rest.bit_length() - 65
    return rest


def of_words(p, words):
    data = b"".join(w.to_bytes(8, "little") for w in words)
    if p["hash"] == "lookup8":
        return lookup8(data)
    if p["hash"] == "rabin":
        return rabin(data, p["rabin_polynomial"])
    return int(hashlib.sha1(data).hexdigest()[:16], 16)


def of_feature(p, x):
    return x if p["hash"] == "token" else of_words(p, [x])


def of_list(p, words):
    if p["hash"] == "token":
        total = sum(mix64(w + STEP * (i + 1) & M64) for i, w in enumerate(words))
        return mix64(total + STEP * len(words) & M64) or 1
    return of_words(p, words) or 1


def of_set(p, words):
    words = sorted(set(words))
    if p["hash"] == "token":
        return mix64(sum(mix64(w) for w in words) + STEP * len(words) & M64) or 1
    return of_words(p, words) or 1


def keyed(p, x):
    return mix64(x + mix64(p["seed"]) & M64) if p["seed"] else x


def weighted_features(case, content=False):
    end = len(case.features) - (case.n_metadata if content else 0)
    return [(h, w, df) for h, w, df in case.features[:end] if w]


def hashes(case):
    return [of_feature(case.p, keyed(case.p, h)) for h, _, _ in weighted_features(case)]


# --- kinds: each gives (rejected, words) -----------------------------------------------------------

def words_of_feature(p, h, n):
    return [h] + [mix64(h + STEP * j & M64) for j in range(1, n)]


def bit(words, b):
    return words[b // 64] >> b % 64 & 1


def log2_steps(x, r):
    """floor(log2(x) * 2^r / 32)"""
    if r >= 5:
        return (x ** (1 << r - 5)).bit_length() - 1
    return (x.bit_length() - 1) >> 5 - r


def simhash(case):
    p = case.p
    n_words, content = (p["bits"] + 63) // 64, p["bits"] - p["reserved_bits"]
    features = weighted_features(case)
    if not features:
        return True, [0] * n_words
    sums = [0] * content
    for h, w, _ in features:
        words = words_of_feature(p, of_feature(p, keyed(p, h)), n_words)
        for b in range(content):
            sums[b] += w if bit(words, b) else -w
    for h, n in case.forced:
        weight = sorted(abs(s) for s in sums)[min(max(n, 1), content) - 1] + 1
        words = words_of_feature(p, of_feature(p, keyed(p, h)), n_words)
        for b in range(content):
            sums[b] += weight if bit(words, b) else -weight
    value = sum(1 << b for b in range(content) if sums[b] > 0)
    if p["reserved_bits"]:
        steps = 1 << p["reserved_bits"]
        step = log2_steps(case.n_tokens + 1, p["reserved_bits"])
        value |= min(step, steps - 1) << content
    return False, [value >> 64 * i & M64 for i in range(n_words)]


def minima(case):
    """None where there are no features."""
    hs = set(hashes(case))
    if not hs:
        return None
    out = []
    for r in range((case.p["minima"] + 127) // 128):
        out += sketch.minima([mix64(h + STEP * r & M64) if r else h for h in hs])
    return out[:case.p["minima"]]


def minhash(case):
    m = minima(case)
    return (True, [0] * case.p["minima"]) if m is None else (False, [x + 1 for x in m])


def super_shingles(case):
    m, groups = minima(case), case.p["groups"]
    if m is None:
        return True, [0] * groups
    each = len(m) // groups
    return False, [of_list(case.p, m[g * each:(g + 1) * each]) for g in range(groups)]


def mega_shingles(case):
    groups = case.p["groups"]
    rejected, supers = super_shingles(case)
    if rejected:
        return True, [0] * (groups * (groups - 1) // 2)
    return False, [of_list(case.p, [supers[g], supers[h]])
                   for g in range(groups) for h in range(g + 1, groups)]


def values(case, found):
    found = sorted(set(found))
    return not found, found


def sorted_shingles(case):
    m = minima(case)
    if m is None:
        return True, []
    ordered = sorted(set(m))
    width = min(case.p["width"], len(ordered))
    return values(case, [of_list(case.p, ordered[i:i + width])
                         for i in range(len(ordered) - width + 1)])


def cut_hashes(case):
    return [h & (1 << case.p["bits"]) - 1 for h in hashes(case)]


def bottom_k(case):
    return values(case, sorted(set(cut_hashes(case)))[:case.p["minima"]])


def mod_p(case):
    return values(case, [h for h in cut_hashes(case) if h % case.p["modulus"] == 0])


def winnowing(case):
    hs, w = cut_hashes(case), case.p["window"]
    if not hs:
        return True, []
    w = min(w, len(hs))
    return values(case, [min(hs[i:i + w]) for i in range(len(hs) - w + 1)])


def all_features(case):
    return values(case, cut_hashes(case))


def nidf(n, documents):
    return (Decimal(documents) / Decimal(n)).ln() / Decimal(documents).ln()


def millionth(share):
    return (Decimal(share) * 1000000).to_integral_value() / 1000000


def imatch(case):
    p = case.p
    low, high, near = millionth(p["lexicon_low"]), millionth(p["lexicon_high"]), Decimal("1e-13")
    primary, secondary = set(), {}
    for h, _, df in weighted_features(case, content=True):
        if df == 0:
            continue
        value, term = nidf(df, case.documents), keyed(p, h)
        if low - near <= value <= high + near:
            primary.add(term)
        elif value > high:
            secondary[term] = value
    order = sorted(secondary, key=lambda t: (secondary[t], t))
    drop = 24109 if p["bootstrap"] else int(millionth(p["drop"]) * 65536 + Decimal("0.5"))
    words = []
    for k in range(p["lexicons"] + 1):
        terms = set(primary)
        if k:
            key = mix64(p["seed"] + STEP * ((k - 1) // 4 + 1) & M64)
            terms = {t for t in primary if mix64(t ^ key) >> 16 * ((k - 1) % 4) & M16 >= drop}
        for t in order if p["secondary"] else []:
            if len(terms) > p["secondary"]:
                break
            terms.add(t)
        enough = terms and len(terms) >= p["least_terms"]
        words.append(of_set(p, terms) if enough else 0)
    return not any(words), words


def checksums(case):
    p, buckets = case.p, case.p["groups"]
    terms = {keyed(p, h) for h, _, _ in weighted_features(case)}
    if not terms or len(terms) < p["least_terms"]:
        return True, [0] * buckets
    words = []
    for b in range(buckets):
        mine = [t for t in terms if (mix64(t) >> 32) * buckets >> 32 == b]
        words.append(of_set(p, mine) if mine else 0)
    return False, words


def profile(case):
    p = case.p
    count = {}
    for h, _, _ in weighted_features(case):
        count[keyed(p, h)] = count.get(keyed(p, h), 0) + 1
    if not count or len(count) < p["least_terms"]:
        return True, [0]
    greatest = max(count.values())
    unit = int(greatest * millionth(p["quantum"]) + Decimal("0.5"))
    if unit < 2:
        unit = 2 if greatest > 1 else 1
    pairs = [(n // unit * unit, t) for t, n in count.items() if n >= unit]
    if p["hash"] == "token":
        return False, [of_set(p, [t + STEP * n & M64 for n, t in pairs])]
    ordered = sorted(pairs, key=lambda pair: (-pair[0], pair[1]))
    return False, [of_list(p, [x for n, t in ordered for x in (t, n)])]


KINDS = {"simhash": simhash, "minhash": minhash, "bottom-k": bottom_k, "mod-p": mod_p,
         "winnowing": winnowing, "super-shingles": super_shingles,
         "sorted-shingles": sorted_shingles, "mega-shingles": mega_shingles, "i-match": imatch,
         "checksums": checksums, "profile": profile, "features": all_features}


# --- cases as text ---------------------------------------------------------------------------------

def generated(seed, n, kinds, weights):
    features = []
    for i in range(n):
        h = mix64(seed + 1 + (mix64(i) % kinds if kinds else i) & M64)
        features.append((h, mix64(h) % weights if weights else 1,
                         mix64(h + 1 & M64) % (1 << (h & 15))))
    return features


def described(case):
    lines = [f"kind {case.kind}"]
    for key, value in case.given.items():
        lines.append(f"{key} {value:016x}" if key == "rabin_polynomial" else f"{key} {value}")
    for key in ("n_metadata", "n_tokens", "documents"):
        if getattr(case, key):
            lines.append(f"{key} {getattr(case, key)}")
    if case.generated:
        lines.append("generated " + " ".join(str(x) for x in case.generated))
    else:
        lines += [f"feature {h:016x} {w} {df}" for h, w, df in case.features]
    lines += [f"forced {h:016x} {n}" for h, n in case.forced]
    return lines


def answer(case):
    rejected, words = KINDS[case.kind](case)
    return [f"rejected {int(rejected)}"] + [
        "words " + " ".join(f"{w:016x}" for w in words[i:i + 6]) for i in range(0, len(words), 6)]


def from_seed(kind, start, n, kinds=0, weights=0, **rest):
    case = Case(kind, generated(start, n, kinds, weights), **rest)
    case.generated = (start, n, kinds, weights)
    return case


def paragraph(case):
    return "\n".join(described(case) + answer(case)) + "\n"


def parse(lines):
    """A paragraph's case, and its answer's lines."""
    kind, params, rest, features, forced, made = None, {}, {}, [], [], None
    for line in lines:
        key, _, value = line.partition(" ")
        if key == "kind":
            kind = value
        elif key == "feature":
            h, w, df = value.split()
            features.append((int(h, 16), int(w), int(df)))
        elif key == "forced":
            h, n = value.split()
            forced.append((int(h, 16), int(n)))
        elif key == "generated":
            made = tuple(int(x) for x in value.split())
            features = generated(*made)
        elif key in ("n_metadata", "n_tokens", "documents"):
            rest[key] = int(value)
        elif key not in ("rejected", "words"):
            was = DEFAULTS[key]
            params[key] = (int(value, 16) if key == "rabin_polynomial" else
                           int(value) if isinstance(was, int) else value)
    case = Case(kind, features, forced, **rest, **params)
    case.generated = made
    return case, [x for x in lines if x.split(" ")[0] in ("rejected", "words")]


HEADER = """\
# Known answers of signatures (docs/format/signatures.md), made by tests/oracle/signatures.py.
#
# A case is a paragraph: its kind, the parameters that are not the default ones, the document, and
# the answer.  The document's features are either lines
#   feature HASH WEIGHT DF          DF in the df table, 0: unseen
# or
#   generated SEED N KINDS WEIGHTS  hash i is mix64(SEED + 1 + i), or, where KINDS is not 0,
#                                   mix64(SEED + 1 + mix64(i) mod KINDS); its weight is 1, or
#                                   mix64(hash) mod WEIGHTS; its df mix64(hash + 1) mod 2^(hash
#                                   mod 16)
# Hashes, words and polynomials are hexadecimal.
"""

T31 = [("medicare", 9, 0b1001), ("plan", 1, 0b1110), ("democrats", 6, 0b0010),
       ("health", 5, 0b0101), ("negotiate", 4, 0b1101)]


def table_31():
    """000 Table 3.1, its four bits the lowest of 32, weights in hundredths."""
    return Case("simhash", [(h, w, 0) for _, w, h in T31], bits=32)


def fixed_cases():
    cases = [table_31()]
    for bits in (32, 64, 128, 256, 384, 512):
        cases.append(from_seed("simhash", bits, 150, 0, 32769, bits=bits))
    cases += [
        Case("simhash", []), Case("simhash", [(1, 0, 0), (2, 0, 0)]), Case("simhash", [], bits=384),
        Case("simhash", [(0, 1, 0), (M64, 1, 0)]),
        Case("simhash", [(M64, 2147483647, 0)] * 3 + [(5, -2147483648, 0)] * 2),
        from_seed("simhash", 7, 300, 40, 100, seed=99),
        from_seed("simhash", 8, 40, 0, 1000, bits=64, reserved_bits=8, n_tokens=1234),
        from_seed("simhash", 8, 40, 0, 1000, bits=32, reserved_bits=1, n_tokens=3),
        from_seed("simhash", 8, 40, 0, 1000, bits=384, reserved_bits=16, n_tokens=65535),
        from_seed("simhash", 8, 40, 0, 1000, reserved_bits=4, n_tokens=10 ** 18),
        from_seed("simhash", 9, 60, 0, 500, forced=[(mix64(1), 1)]),
        from_seed("simhash", 9, 60, 0, 500, forced=[(mix64(2), 3), (mix64(3), 2)], bits=128,
                  reserved_bits=8, n_tokens=60),
        from_seed("minhash", 1, 50), from_seed("minhash", 2, 700, 0, 0, minima=128),
        from_seed("minhash", 3, 300, 90, 3, minima=20), from_seed("minhash", 4, 600, minima=300),
        Case("minhash", [], minima=20), from_seed("minhash", 5, 5, minima=1),
        from_seed("minhash", 5, 200, seed=12345678901234567890, minima=130),
        from_seed("super-shingles", 11, 400), from_seed("super-shingles", 12, 3, groups=12),
        Case("super-shingles", []), from_seed("mega-shingles", 11, 400),
        from_seed("mega-shingles", 11, 90, minima=20, groups=4), Case("mega-shingles", []),
        from_seed("sorted-shingles", 11, 400), Case("sorted-shingles", []),
        from_seed("sorted-shingles", 13, 2, minima=20, width=20),
        from_seed("bottom-k", 14, 500, minima=64), from_seed("bottom-k", 14, 20, minima=64),
        from_seed("bottom-k", 15, 3000, 900, minima=100, bits=30), Case("bottom-k", []),
        from_seed("mod-p", 16, 1000, bits=40), from_seed("mod-p", 17, 300, modulus=1),
        from_seed("mod-p", 17, 300, modulus=16, bits=64), from_seed("mod-p", 17, 200, modulus=24),
        from_seed("mod-p", 18, 3, modulus=4294967295),
        from_seed("winnowing", 19, 200), from_seed("winnowing", 19, 3), Case("winnowing", []),
        from_seed("winnowing", 20, 400, 5, window=100), from_seed("winnowing", 20, 60, window=1),
        from_seed("winnowing", 21, 300, 0, 2, window=9, bits=8),
        from_seed("features", 22, 60, 30), from_seed("features", 22, 60, bits=4),
        Case("features", [(0, 1, 0), (M64, 1, 0)]),
        from_seed("i-match", 23, 80, documents=20000),
        from_seed("i-match", 24, 300, 0, 50, documents=20000, lexicons=10),
        from_seed("i-match", 24, 300, documents=20000, lexicons=5, bootstrap=1, seed=77),
        from_seed("i-match", 25, 12, documents=20000, lexicons=9, secondary=5),
        from_seed("i-match", 26, 40, documents=20000, lexicons=4, secondary=5, lexicon_high="0.3",
                  n_metadata=3),
        from_seed("i-match", 27, 9, documents=20000), Case("i-match", [], documents=100),
        from_seed("i-match", 28, 40, documents=20000, lexicon_low="0", lexicon_high="1",
                  least_terms=0),
        Case("i-match", [(mix64(i), 1, 10 ** i) for i in range(6)], documents=100000, least_terms=1),
        from_seed("checksums", 29, 200, groups=8), from_seed("checksums", 29, 6, groups=100),
        from_seed("checksums", 29, 4, groups=8), Case("checksums", [], least_terms=0),
        from_seed("profile", 30, 400, 60), from_seed("profile", 30, 40),
        from_seed("profile", 31, 500, 30, quantum="0.5"), Case("profile", [], least_terms=0),
        from_seed("profile", 32, 300, 300, quantum="0", least_terms=1),
    ]
    for function in ("lookup8", "rabin", "sha1"):
        for kind, rest in (("simhash", dict(bits=128, forced=[(mix64(5), 2)])), ("minhash", {}),
                           ("super-shingles", {}), ("mega-shingles", {}), ("sorted-shingles", {}),
                           ("mod-p", dict(bits=40)), ("winnowing", {}), ("bottom-k", dict(minima=9)),
                           ("features", {}), ("checksums", dict(groups=5)), ("profile", {}),
                           ("i-match", dict(documents=20000, lexicons=3, secondary=5, seed=3))):
            cases.append(from_seed(kind, 40, 70, 40, hash=function, **rest))
    cases.append(from_seed("features", 41, 9, hash="rabin", rabin_polynomial=0x1B))
    return cases


# --- random and real cases -------------------------------------------------------------------------

def real_features(rng):
    """The words of some lines of this tree's texts, with frequencies made up."""
    root = Path(__file__).resolve().parents[2]
    names = ["README.md", "docs/architecture.md", "docs/format/text.md", "src/sketch/README.md"]
    lines = (root / rng.choice(names)).read_text(encoding="utf-8").split("\n")
    start = rng.randrange(len(lines))
    text = "\n".join(lines[start:start + rng.choice([2, 10, 40])])
    return [sketch.token_hash(t) for t in sketch.tokens_of(text)]


def random_case(rng):
    n = rng.choice([0, 1, 2, 5, 8, 20, 60, 130, 300])
    hs = real_features(rng) if rng.random() < .4 else [mix64(rng.getrandbits(32)) for _ in range(n)]
    if hs and rng.random() < .5:  # repetitions
        hs = [rng.choice(hs) for _ in range(rng.choice([1, 5, len(hs)]))] + hs
    most = rng.choice([1, 2, 100, 32768, 2 ** 31 - 1])
    df = {h: rng.choice([0, 1, 1, 2, 3, 10, 100, 1000, 5000]) for h in hs}
    weight = {h: rng.choice([0, 1]) if most == 2 else rng.randint(1, most) for h in hs}
    kind = rng.choice(list(KINDS))
    p = dict(hash=rng.choice(["token", "token", "lookup8", "rabin", "sha1"]),
             seed=rng.choice([0, 0, 1, rng.getrandbits(64)]))
    rest = {}
    if kind == "simhash":
        p.update(bits=rng.choice([32, 64, 64, 128, 256, 384, 512]),
                 reserved_bits=rng.choice([0, 0, 1, 5, 8, 16]))
        rest.update(n_tokens=rng.choice([0, 1, 7, 8, 1000, rng.getrandbits(20), 2 ** 32]),
                    forced=[(rng.getrandbits(64), rng.randint(1, 5)) for _ in range(rng.choice([0, 0, 1, 3]))])
    elif kind in ("minhash", "super-shingles", "mega-shingles", "sorted-shingles"):
        groups = rng.randint(2, 12)
        p.update(groups=groups, minima=groups * rng.randint(1, 40), width=rng.randint(1, groups))
    else:
        p.update(bits=rng.choice([1, 3, 16, 40, 64, 64]), minima=rng.choice([1, 5, 64, 200]),
                 modulus=rng.choice([1, 2, 3, 12, 25, 64, 1000]), window=rng.choice([1, 2, 4, 9, 100]),
                 groups=rng.choice([1, 7, 64]), least_terms=rng.choice([0, 1, 3, 5, 9]),
                 lexicons=rng.choice([0, 1, 4, 10, 19]), drop=rng.choice(["0", "0.33", "0.9"]),
                 bootstrap=rng.choice([0, 0, 1]), secondary=rng.choice([0, 3, 5, 9]),
                 quantum=rng.choice(["0", "0.01", "0.1", "1"]))
        low, high = sorted(rng.choice(["0", "0.2", "0.25", "0.3", "0.8", "1"]) for _ in range(2))
        p.update(lexicon_low=low, lexicon_high=high)
        rest.update(documents=rng.choice([5000, 10000, 12345, 10 ** 6]),
                    n_metadata=min(len(hs), rng.choice([0, 0, 2])))
    return Case(kind, [(h, weight[h], df[h]) for h in hs], **rest, **p)


def check_random(n, program):
    rng = random.Random(20261)
    text = "\n".join(paragraph(random_case(rng)) for _ in range(n))
    return subprocess.run([program, "-"], input=text, text=True, check=False).returncode


def write():
    VECTORS.write_text(HEADER + "\n" + "\n".join(paragraph(c) for c in fixed_cases()),
                       encoding="utf-8")


def check():
    failed = count = 0
    body = VECTORS.read_text(encoding="utf-8").split("\n\n", 1)[1]
    for text in body.rstrip("\n").split("\n\n"):
        case, expected = parse(text.split("\n"))
        count += 1
        if answer(case) != expected:
            failed += 1
            print("differs: " + " ".join(described(case)[:6]))
    print(f"{count - failed} passed, {failed} failed")
    return 1 if failed or count != len(fixed_cases()) else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        write()
    elif sys.argv[1:2] == ["--random"]:
        sys.exit(check_random(int(sys.argv[2]), sys.argv[3]))
    else:
        sys.exit(check())
