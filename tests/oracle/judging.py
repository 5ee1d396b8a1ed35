#!/usr/bin/env python3
"""Samples of neardup sample and figures of neardup eval --judged, beside their definitions.

usage: judging.py NEARDUP [CASES] [SEED]

Random pairs are divided, drawn and judged at random; what docs/format/judgements.md says of each step is computed again
here, in other ways: sizes by trying each, the ends of recall by the roots of quadratic equations.
"""

import bisect
import json
import math
import os
import random
import subprocess
import sys
import tempfile

Z = 1.959963984540054
MASK = (1 << 64) - 1
NEARDUP = os.path.abspath(sys.argv[1])
CASES = int(sys.argv[2]) if len(sys.argv) > 2 else 60
RANDOM = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)


def run(*words):
    """Run the command; the rows it writes, as dicts.

    Parameters
    ----------
    *words : str
        Its arguments.

    Returns
    -------
    list of dict
        Rows of JSON Lines.
    """
    done = subprocess.run([NEARDUP, *map(str, words), "--json", "-q"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (words, done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


# ---- Drawing


def random_pairs(n_documents, has_near):
    """Make pairs of documents with a resemblance of three digits, some of them near misses."""
    pairs = {}
    for _ in range(RANDOM.randrange(1, 120)):
        a, b = sorted(RANDOM.sample(range(n_documents), 2))
        pairs[a, b] = RANDOM.randrange(100, 1001)
    threshold = RANDOM.randrange(300, 700) if has_near else 0
    return {pair: (value, value >= threshold) for pair, value in pairs.items()}


def strata_of(pairs, cut):
    """Divide pairs: the key of a stratum is its least value (in thousandths), and whether it is listed."""
    strata = {}
    for pair, (value, listed) in pairs.items():
        if cut is None:
            low = 0
        elif isinstance(cut, int):
            low = value // cut
        else:
            low = bisect.bisect_right(cut, value)
        strata.setdefault((not listed, low), []).append(pair)
    return [sorted(strata[key]) for key in sorted(strata)], sorted(strata)


def allocate(sizes, size, equally):
    """Count what each stratum gives."""
    if size >= sum(sizes):
        return list(sizes)
    if equally:
        # The share rises by one pair a stratum, in turn.
        drawn = [0] * len(sizes)
        left = size
        while left >= (still := sum(d < s for d, s in zip(drawn, sizes))):
            drawn = [d + (d < s) for d, s in zip(drawn, sizes)]
            left -= still
        for i, s in enumerate(sizes):
            if left and drawn[i] < s:
                drawn[i] += 1
                left -= 1
        return drawn
    rest, others = size - len(sizes), sum(sizes) - len(sizes)
    exact = [(rest * (s - 1), others) for s in sizes]
    drawn = [1 + (over // under if under else 0) for over, under in exact]
    order = sorted(range(len(sizes)), key=lambda i: (-(exact[i][0] % others if others else 0), i))
    for i in order[: size - sum(drawn)]:
        drawn[i] += 1
    return drawn


def wilson(same, n):
    """Solve (p - x)^2 = z^2 x (1 - x) / n for x."""
    p, q = same / n, Z * Z / n
    root = math.sqrt(max(0, (2 * p + q) ** 2 - 4 * (1 + q) * p * p))
    return max(0, (2 * p + q - root) / (2 + 2 * q)), min(1, (2 * p + q + root) / (2 + 2 * q))


def ends(terms):
    """Sum weighted shares, with the squares of the distances below and above."""
    value = below = above = 0
    for weight, size, n, same in terms:
        p = same / n
        low, high = wilson(same, n)
        rest = (size - n) / (size - 1) if n < size else 0
        value += weight * p
        down, up = (weight * (p - low)) ** 2 * rest, (weight * (high - p)) ** 2 * rest
        below, above = below + (up if weight < 0 else down), above + (down if weight < 0 else up)
    return value, below, above


def planned_half(sizes, listed, drawn, share):
    """Find the half width of what is drawn."""
    total = sum(s for s, is_listed in zip(sizes, listed) if is_listed)
    _, below, above = ends([(s / total, s, n, share * n) for s, is_listed, n in zip(sizes, listed, drawn) if is_listed])
    return math.sqrt(max(below, above))


# ---- Judging


def close(got, expected, what, case):
    """Compare a figure, which may be unknown."""
    if expected is None or got is None:
        assert got is None and expected is None, (what, got, expected, case)
    else:
        assert abs(got - expected) < 1e-6, (what, got, expected, case)


def rated(row, key, expected, case):
    """Compare a rate and its interval."""
    for suffix, value in zip(("", "_low", "_high"), expected or (None, None, None)):
        close(row[key + suffix], value, key + suffix, case)


def weighted(strata):
    """Find the weighted share of strata: each its size, judged and same."""
    if any(not n for _, n, _ in strata):
        return None
    total = sum(size for size, _, _ in strata)
    value, below, above = ends([(size / total, size, n, same) for size, n, same in strata])
    return value, max(0, value - math.sqrt(below)), min(1, value + math.sqrt(above))


def recall_of(listed, missed):
    """Find recall and its ends: roots of value(r)^2 = square(r), where both are polynomials of r."""
    if not missed or any(not n for _, n, _ in listed + missed):
        return None
    found, lost = (sum(size * same / n for size, n, same in part) for part in (listed, missed))
    if not found + lost:
        return None

    def part(strata):
        _, below, above = ends([(size, size, n, same) for size, n, same in strata])
        return below, above

    (l_below, l_above), (m_below, m_above) = part(listed) if listed else (0, 0), part(missed)

    def roots(l_square, m_square):
        # (found (1 - r) - lost r)^2 = l (1 - r)^2 + m r^2
        a = (found + lost) ** 2 - l_square - m_square
        b = -2 * found * (found + lost) + 2 * l_square
        c = found**2 - l_square
        if abs(a) < 1e-12:
            return [-c / b]
        d = math.sqrt(max(0, b * b - 4 * a * c))
        return [(-b - d) / (2 * a), (-b + d) / (2 * a)]

    value = found / (found + lost)
    low = [r for r in roots(l_below, m_above) if -1e-9 <= r <= value + 1e-9]
    high = [r for r in roots(l_above, m_below) if value - 1e-9 <= r <= 1 + 1e-9]
    return value, max(low) if low else 0.0, min(high) if high else 1.0


def kappa_of(first, second):
    """Compare two judges on what both judged."""
    both = [(first[key], second[key]) for key in first if first[key] and second.get(key)]
    if not both:
        return None, None
    agreement = sum(a == b for a, b in both) / len(both)
    chance = sum(
        sum(a == label for a, _ in both) * sum(b == label for _, b in both) / len(both) ** 2
        for label in ("same", "different", "unsure")
    )
    return agreement, (agreement - chance) / (1 - chance) if chance < 1 else None


def mix(x):
    """Mix bits as SplitMix64 ends."""
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def resampled(documents, seed, times):
    """Draw documents again; the ends of recall, and of its mean."""
    n, pooled, means = len(documents), [], []
    for r in range(times):
        stream = mix(mix(seed) + r & MASK)
        drawn = [documents[mix(stream + (i + 1) * 0x9E3779B97F4A7C15 & MASK) * n >> 64] for i in range(n)]
        pooled.append(sum(f for f, _ in drawn) / sum(s for _, s in drawn))
        means.append(sum(f / s for f, s in drawn) / n)
    beyond = times * 25 // 1000
    return [(sorted(x)[beyond], sorted(x)[times - 1 - beyond]) for x in (pooled, means)]


def judge(rows, path, form):
    """Label rows at random, and write them in one of the forms that are read."""
    lean = RANDOM.random()
    for row in rows:
        row["label"] = RANDOM.choices(["same", "different", "unsure", ""], [3 * lean, 3 * (1 - lean), 0.3, 0.2])[0]
    with open(path, "w", encoding="utf-8") as out:
        if form == "json":
            out.writelines(json.dumps(row) + "\n" for row in rows)
        else:
            between = "\t" if form == "tsv" else ","
            out.write(between.join(rows[0]) + "\n")
            out.writelines(between.join(map(str, row.values())) + "\n" for row in rows)
    return {(row["a"], row["b"], row["drawn"]): row["label"] for row in rows}


def check_file(row, rows, case):
    """Compare the figures of a file of judged pairs."""
    strata = {}
    for r in rows:
        s = strata.setdefault((1 - r["listed"], r["stratum"]), [r["of"], 0, 0])
        s[1] += r["label"] in ("same", "different")
        s[2] += r["label"] == "same"
    listed = [tuple(s) for key, s in sorted(strata.items()) if not key[0]]
    missed = [tuple(s) for key, s in sorted(strata.items()) if key[0]]
    n, same = sum(s[1] for s in listed), sum(s[2] for s in listed)
    rated(row, "precision", (same / n, *wilson(same, n)) if n else None, case)
    rated(row, "precision_weighted", weighted(listed) if listed else None, case)
    rated(row, "recall", recall_of(listed, missed), case)
    for label in ("same", "different", "unsure"):
        assert row[label] == sum(r["label"] == label for r in rows)


def check_documents(row, rows, seed, case):
    """Compare the figures of a file of drawn documents."""
    found = {}
    for r in rows:
        if r["label"] == "same":
            f = found.setdefault(r["drawn"], [0, 0])
            f[0] += r["listed"]
            f[1] += 1
    assert row["documents"] == len(found)
    if not found:
        return None
    close(row["recall"], sum(f for f, _ in found.values()) / sum(s for _, s in found.values()), "recall", case)
    close(row["query_recall"], sum(f / s for f, s in found.values()) / len(found), "query_recall", case)
    if len(found) < 20:
        assert row["recall_low"] is None
        return None
    # The order of documents is that of their numbers: the file names them from its first line on.
    number = {}
    for r in rows:
        for name in (r["a"], r["b"]):
            number.setdefault(name, len(number))
    documents = [found[name] for name in sorted(found, key=number.get)]
    for key, (low, high) in zip(("recall", "query_recall"), resampled(documents, seed, 200)):
        close(row[key + "_low"], low, key, case)
        close(row[key + "_high"], high, key, case)
    return None


def write_pairs(pairs, path):
    """Write pairs as `neardup pairs` does, in any order."""
    has_near = any(not listed for _, listed in pairs.values())
    rows = [
        f"d{a}\td{b}\t{value / 1000}\t1\t2" + ("\tmatch" if listed else "\tnear-miss") * has_near
        for (a, b), (value, listed) in pairs.items()
    ]
    RANDOM.shuffle(rows)
    with open(path, "w", encoding="utf-8") as out:
        out.writelines(row + "\n" for row in rows)


def try_strata(case):
    """Draw of strata, judge twice, and compare everything."""
    pairs = random_pairs(RANDOM.randrange(4, 60), case % 3)
    cut = RANDOM.choice([None, 1, 50, 100, [300, 500, 900]])
    option = [] if cut is None else ["--strata", "resemblance:" + (f"{cut / 1000}" if isinstance(cut, int) else ",".join(str(c / 1000) for c in cut))]
    strata, keys = strata_of(pairs, cut)
    sizes, listed = [len(s) for s in strata], [not key[0] for key in keys]
    equally, seed = RANDOM.random() < 0.5, RANDOM.randrange(100)
    option += ["--allocation", "equal" if equally else "proportional", "--seed", seed]
    write_pairs(pairs, "pairs.tsv")
    if case % 4 == 0 and any(listed):
        half, share = RANDOM.choice([10, 20, 30]), RANDOM.choice([50, 90])
        option += ["--half-width", f"{half}%", "--expect", f"{share}%"]
        size = next(n for n in range(len(sizes), sum(sizes) + 1) if planned_half(sizes, listed, allocate(sizes, n, equally), share / 100) <= half / 100 + 1e-12)
    else:
        size = RANDOM.randrange(len(sizes), sum(sizes) + 5)
        option += ["-n", size]
    expected = allocate(sizes, size, equally)
    plan = run("sample", "pairs.tsv", *option, "--dry-run")
    assert [(p["pairs"], p["drawn"], p["listed"]) for p in plan] == [(s, d, int(x)) for s, d, x in zip(sizes, expected, listed)], (case, plan, expected)
    rows = run("sample", "pairs.tsv", *option)
    drawn = [[] for _ in strata]
    for row in rows:
        pair = tuple(sorted(int(row[k][1:]) for k in "ab"))
        where = next(i for i, s in enumerate(strata) if pair in s)
        drawn[where].append(pair)
        assert (row["of"], row["listed"], row["label"], row["drawn"]) == (sizes[where], listed[where], "", "")
    assert [len(set(d)) for d in drawn] == [len(d) for d in drawn] == expected
    write_pairs(pairs, "again.tsv")
    again = run("sample", "again.tsv", *option)
    assert [frozenset((r["a"], r["b"])) for r in again] == [frozenset((r["a"], r["b"])) for r in rows], case
    first = judge(rows, "one", RANDOM.choice(["tsv", "csv", "json"]))
    other = [dict(row) for row in rows if RANDOM.random() < 0.9] or rows
    second = judge(other, "two", "tsv")
    figures = run("eval", "--judged", "one", "two")
    check_file(figures[0], rows, case)
    check_file(figures[1], other, case)
    agreement, kappa = kappa_of(first, second)
    close(figures[1]["agreement"], agreement, "agreement", case)
    close(figures[1]["kappa"], kappa, "kappa", case)
    for row in rows:
        a, b = (labels.get((row["a"], row["b"], row["drawn"]), "") for labels in (first, second))
        row["label"] = a if a == b else "unsure" if a and b else ""
    check_file(figures[2], rows, case)


def try_documents(case):
    """Draw documents, judge their pairs, and compare everything."""
    n = RANDOM.randrange(4, 60)
    pairs = random_pairs(n, case % 3)
    write_pairs(pairs, "pairs.tsv")
    with open("docs.jsonl", "w", encoding="utf-8") as out:
        out.writelines(json.dumps({"id": f"d{i}", "text": "x"}) + "\n" for i in range(n))
    size, seed = RANDOM.randrange(1, n + 3), RANDOM.randrange(100)
    rows = run("sample", "pairs.tsv", "--recall", "--documents", "docs.jsonl", "-n", size, "--seed", seed)
    drawn = {row["drawn"] for row in rows}
    assert len(drawn) <= size
    assert sorted((row["drawn"], *sorted((row["a"], row["b"])), row["listed"]) for row in rows) == sorted(
        (name, *sorted((f"d{a}", f"d{b}")), int(listed)) for (a, b), (_, listed) in pairs.items() for name in (f"d{a}", f"d{b}") if name in drawn
    )
    assert all(row["a"] == row["drawn"] and row["of"] == n for row in rows)
    if rows:
        judge(rows, "one", "tsv")
        check_documents(run("eval", "--judged", "one", "--seed", seed, "--resamplings", 200)[0], rows, seed, case)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for number in range(CASES):
        try_strata(number)
        try_documents(number)
print(f"{CASES} cases")
