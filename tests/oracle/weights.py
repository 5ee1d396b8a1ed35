#!/usr/bin/env python3
"""weights.py - docs/format/weights.md in Python's integers, against the library

    tests/oracle/weights.py PROGRAM      PROGRAM: tests/weight_dump

Random documents under random parameters must get the same weights to the last bit.  Where nothing
is cut off, the weights are also compared with the formulae of the papers in real numbers.
"""
import decimal
import math
import os
import random
import subprocess
import sys
from fractions import Fraction

decimal.getcontext().prec = 50
LOG = [int(((1 + decimal.Decimal(i) / 1024).ln() * 2 ** 40).to_integral_value())
       for i in range(1025)]
# Doubles are enough for cosines to 2^-24: no entry lies that near to half a unit (checked below).
COS = [(math.cos(math.pi * i / 1024) + 1) * 2 ** 24 for i in range(1025)]
assert all(abs(c - math.floor(c) - .5) > 1e-6 for c in COS)
COS = [math.floor(c + .5) for c in COS]
ONE = 2 ** 24


def ln(x):
    e = x.bit_length() - 1
    m = x << 63 >> e
    i, r = m >> 53 & 1023, m >> 21 & 0xFFFFFFFF
    return e * LOG[1024] + LOG[i] + ((LOG[i + 1] - LOG[i]) * r >> 32)


def raised_cosine(p):
    q = 2 ** 32 - p if p > 2 ** 31 else p
    i, r = q >> 21, q & (2 ** 21 - 1)
    return COS[i] if r == 0 else COS[i] - ((COS[i] - COS[i + 1]) * r >> 21)


def towards_zero(a, b):
    return abs(a) // b * (1 if a >= 0 else -1)


def corners(table):
    pairs = [entry.split(":") for entry in table.split()]
    return [(int(Fraction(s) * 2 ** 31), int(Fraction(v) * ONE)) for s, v in pairs]


def position(p, i, words):
    kind = p["position"]
    if kind == 0:
        return ONE
    if kind == 1:
        return ln(i + 1) // (i + 1) >> 16
    if kind == 2:
        return ONE // i
    if kind == 3:
        return (2 ** 64 - 1) // ln(max(i, 3))
    share = (i << 31) // words
    if kind == 4:
        return raised_cosine(2 * share % 2 ** 32)
    at = corners(p["table"])
    if share <= at[0][0]:
        return at[0][1]
    for (s, v), (t, w) in zip(at, at[1:]):
        if share <= t:
            return v + towards_zero((w - v) * (share - s), t - s)
    return at[-1][1]


def gain(p, i, words, mark):
    g = position(p, i, words)
    b = math.floor(Fraction(p["boost"]) * ONE + Fraction(1, 2))
    if p["markup"] == 1:
        g = g * (ONE + towards_zero((b - ONE) * mark, 256)) >> 24
    elif p["markup"] == 2:
        g += b * mark // 256
    return min(g, 2 ** 32 - 1)


def idf(p, n):
    n = max(n, 1)
    total = p["documents"]
    if p["idf"] == 0:
        return 2 ** 40
    if p["idf"] == 1:
        return 2 ** 40 // n
    if n >= total:
        return 0
    if p["idf"] == 2:
        return ln(total) - ln(n)
    return min((ln(total) - ln(n)) * (2 ** 80 // ln(total) + 1) >> 40, 2 ** 40)


def frequency(p, gains):
    t, total = len(gains), sum(gains)
    if p["position"] == 0 and p["markup"] == 0:
        total = t * ONE
    if p["tf"] == 0:
        return total
    if p["tf"] == 1:
        return (2 ** 40 + ln(t) >> 16) * (total // t) >> 24
    return total // t


def share(x):
    return math.floor(Fraction(x) * 2 ** 32)


def up(x, y):
    """x · y / 2^32, rounded up."""
    return -(-x * y >> 32)


def weigh(p, terms):
    raw = [idf(p, df) * frequency(p, [gain(p, i, p["words"], m) for i, m in places])
           for _, df, places in terms]
    shift = max(raw).bit_length() - 48
    w = [x >> shift if shift >= 0 else x << -shift for x in raw]
    ranks = sorted(x for x in w if x)
    limit = max(w)
    if p["clip_quantile"] and ranks:
        limit = min(limit, ranks[up(share(p["clip_quantile"]), len(ranks)) - 1])
    if 0 < p["clip_rank"] <= len(ranks):
        limit = min(limit, ranks[-p["clip_rank"]])
    w = [min(x, limit) for x in w]
    most, keep = max(w), len(w)
    if p["top_share"]:
        keep = min(keep, up(share(p["top_share"]), len(ranks)))
    if p["top"]:
        keep = min(keep, p["top"])
    cut = max(share(p[k]) for k in ("low", "high", "band_low")) * most >> 32
    high = up(share(p["band_high"]) + 1, most) if share(p["band_high"]) else most
    w = [x if cut <= x <= high else 0 for x in w]
    order = sorted((i for i in range(len(w)) if w[i]), key=lambda i: (-w[i], terms[i][0], i))
    for i in order[keep:]:
        w[i] = 0
    most = max(w)
    if most == 0:
        return w + [0]
    if is_whole(p):
        return whole(p, [x << shift >> 64 if shift >= 0 else x >> 64 - shift for x in w])
    unit = (most << shift if shift >= 0 else most >> -shift) >> 32
    if p["normalise"]:
        unit //= max(p["words"], 1)
    up_by = 48 - most.bit_length()
    v = 2 ** 95 // (most << up_by)
    return [(x << up_by) * v + 2 ** 79 >> 80 for x in w] + [min(unit, 2 ** 64 - 1)]


def is_whole(p):
    return p["tf"] != 1 and p["idf"] == p["markup"] == p["position"] == p["has_fields"] == 0


def whole(p, counts):
    """Counts times the greatest power of two that leaves all at 32768 or below, or times 1."""
    up = max((s for s in range(16) if max(counts) << s <= 32768), default=0)
    unit = (32768 >> up) << 32
    if p["normalise"]:
        unit //= max(p["words"], 1)
    return [min(x << up, 2 ** 31 - 1) for x in counts] + [unit]


def real(p, terms):
    """The papers' formulae, in floating point; 1 for the greatest."""
    def place(i):
        x = i / p["words"]
        return [1, math.log(i + 1) / (i + 1), 1 / i, 1 / math.log(max(i, 3)),
                math.cos(2 * math.pi * x) + 1][p["position"]]

    def value(df, places):
        t, n, total = len(places), max(df, 1), p["documents"]
        g = sum(place(i) * (1 + (p["boost"] - 1) * m / 256 if p["markup"] == 1 else 1) +
                (p["boost"] * m / 256 if p["markup"] == 2 else 0) for i, m in places)
        f = [g, (1 + math.log(t)) * g / t, g / t][p["tf"]]
        log = math.log(total / min(n, total))
        return f * [1, 1 / n, log, log / math.log(total) if total > 1 else 0][p["idf"]]

    w = [value(df, places) for _, df, places in terms]
    return [x / max(w) for x in w] if max(w) > 0 else w


def random_params(rng):
    def some(chance, value):
        return value if rng.random() < chance else 0
    cut = rng.random() < .5
    p = {"tf": rng.randrange(3), "idf": rng.randrange(4), "markup": rng.randrange(3),
         "boost": rng.choice([1.5, .5, 0, 3, 254.99, .1]), "position": rng.randrange(6),
         "clip_quantile": 0, "clip_rank": 0, "low": 0, "high": 0, "band_low": 0, "band_high": 0,
         "top": 0, "top_share": 0, "normalise": rng.randrange(2),
         "documents": rng.choice([1, 2, 3, 1000, 10 ** 6, 2 ** 40]),
         "words": rng.choice([1, 5, 300, 5000, 2 ** 32 - 1]), "table": "-",
         "has_fields": rng.randrange(2)}
    if rng.random() < .3:
        p.update(tf=rng.choice([0, 0, 2]), idf=0, markup=0, position=0)
    if cut:
        p.update(clip_quantile=some(.4, rng.random()), clip_rank=some(.3, rng.randrange(1, 9)),
                 low=some(.4, rng.choice([.01, .2, rng.random()])), high=some(.2, rng.random()),
                 top=some(.3, rng.randrange(1, 30)), top_share=some(.3, rng.random()))
        if rng.random() < .3:
            p["band_low"], p["band_high"] = sorted((rng.random(), rng.random()))
    if p["position"] == 5:
        p["table"] = rng.choice(["0:1 0.5:0.2 1:1", "0:0 1:255", "1/3:2", "0.25:1/3 0.75:0.001",
                                 "0:200 0.000001:0 0.5:7 1:0"])
    return p, cut


def random_terms(rng, p):
    n = rng.choice([1, 2, 10, 60, 400])
    limit = min(p["documents"], 2 ** 32 - 1)
    terms = []
    for _ in range(n):
        t = 1 + int(rng.expovariate(.7))
        places = [(rng.randrange(1, p["words"] + 1), rng.choice([0, 0, 0, 256, rng.randrange(257)]))
                  for _ in range(t)]
        df = rng.choice([0, 1, limit, rng.randrange(limit + 1), rng.randrange(min(limit, 2000) + 1)])
        terms.append((rng.choice([rng.randrange(2 ** 64), rng.randrange(4)]), df, places))
    return terms


def main():
    rng = random.Random(20090612)
    cases, text = [], []
    n_documents = 1500 if "NEARDUP_NIGHTLY" in os.environ else 500
    for _ in range(n_documents):
        p, cut = random_params(rng)
        terms = random_terms(rng, p)
        cases.append((p, cut, terms))
        keys = ("tf", "idf", "markup", "boost", "position", "clip_quantile", "clip_rank", "low",
                "high", "band_low", "band_high", "top", "top_share", "normalise", "documents",
                "words", "has_fields")
        text.append(" ".join(repr(p[k]) for k in keys) + f" {len(terms)} {p['table']}")
        for h, df, places in terms:
            text.append(f"{h} {df} {len(places)} " + " ".join(f"{i} {m}" for i, m in places))
    run = subprocess.run(sys.argv[1:], input="\n".join(text) + "\n", text=True, check=True,
                         stdout=subprocess.PIPE)
    lines = run.stdout.splitlines()
    assert len(lines) == len(cases)
    compared = 0
    for (p, cut, terms), line in zip(cases, lines):
        got = [int(x) for x in line.split()]
        want = weigh(p, terms)
        if got != want:
            sys.exit(f"{p}\n{terms}\nlibrary {got}\noracle  {want}")
        if cut or p["position"] == 5:
            continue
        w = real(p, terms)
        if max(w) == 0 or p["words"] == 2 ** 32 - 1 or p["boost"] == 254.99:
            continue  # gains below 2^-24, or cut at 256
        scale = max(got[:-1])
        assert scale == 32768 or is_whole(p) and 16384 < scale <= 32768, (p, scale)
        for a, b in zip(got, w):
            b *= scale / 32768
            if abs(a - b * 32768) > 1.5 + b * 32768 * 2e-3:
                sys.exit(f"{p}\n{terms}\nlibrary {a}, formula {b * 32768}")
            compared += 1
    assert compared > 6 * n_documents, compared
    print(f"{len(cases)} documents agree to the last bit, {compared} weights with the formulae")


if __name__ == "__main__":
    main()
