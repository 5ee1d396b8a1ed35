#!/usr/bin/env python3
"""eval.py - the figures of `neardup eval` on random truths and results, beside slow definitions

    eval.py NEARDUP [CASES] [--rivals]

Every pair of documents is looked at by itself, and components are drawn as docs/format/eval.md says.  --rivals: also
beside scikit-learn (precision, recall, F1, adjusted Rand) and er-evaluation (B-cubed), which must be installed.
Exit status 1: a figure differs.
"""
import csv
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict

NEARDUP = sys.argv[1]
RIVALS = "--rivals" in sys.argv
NUMBERS = [int(a) for a in sys.argv[2:] if a.isdigit()]
CASES = NUMBERS[0] if NUMBERS else (10000 if os.environ.get("NEARDUP_NIGHTLY") else 1000)
EACH = 5  # results of a truth
M64 = (1 << 64) - 1

if RIVALS:
    import warnings

    import pandas
    from er_evaluation.error_analysis import record_error_table
    from sklearn import metrics

    warnings.simplefilter("ignore")


def pair(a, b):
    return (a, b) if a < b else (b, a)


def ratio(over, under):
    return over / under if under else None


# ---- Files -----------------------------------------------------------------------------------------------------------


def write_rows(path, rows, rng, header):
    """As TSV, CSV or JSON Lines, with or without a header; returns the path."""
    rows = list(rows)
    kind = rng.choice(["tsv", "csv", "jsonl"]) if header and rows else "tsv"
    path = f"{path}.{kind}"
    with open(path, "w", newline="\n") as f:
        if kind == "jsonl":
            for row in rows:
                f.write(json.dumps(dict(zip(header, row))) + "\n")
        elif kind == "csv":
            out = csv.writer(f, lineterminator="\n")
            out.writerows([header, *rows])
        else:
            if header and (not rows or rng.random() < 0.7):  # without rows only a header tells what it is
                f.write("\t".join(header) + "\n")
            for row in rows:
                f.write("\t".join(map(str, row)) + "\n")
    return path


def random_sets(docs, rng):
    """A set for each of most documents."""
    most = rng.randint(1, max(1, len(docs)))
    return {d: f"set{rng.randrange(most)}" for d in docs if rng.random() < 0.9}


def random_pairs(docs, rng):
    share = rng.choice([0, 0.02, 0.1, 0.5, 1])
    return [p for p in itertools.combinations(docs, 2) if rng.random() < share]


def of_sets(sets):
    members = defaultdict(list)
    for d, s in sets.items():
        members[s].append(d)
    return {pair(*p) for m in members.values() for p in itertools.combinations(m, 2)}


def components(docs, pairs):
    parent = {d: d for d in docs}

    def root(d):
        while parent[d] != d:
            d = parent[d]
        return d

    for a, b in pairs:
        parent[root(a)] = root(b)
    return {d: root(d) for d in docs}


# ---- Truths and results ----------------------------------------------------------------------------------------------


class Truth:
    def __init__(self, path, docs, rng):
        self.universe = rng.choice(["labelled", "all"])
        self.sets = None
        if rng.random() < 0.5:
            self.sets = random_sets(docs, rng)
            self.path = write_rows(path, self.sets.items(), rng, ["id", "cluster"])
            return
        self.label = {}
        scored = rng.random() < 0.3
        words = rng.choice([["1", "0", "?"], ["same", "different", "unsure"]])
        rows = []
        for p in random_pairs(docs, rng):
            number = rng.choices([0, 1, 2], [3, rng.choice([0, 3]), 0 if scored else 1])[0]
            self.label[p] = number
            cell = [round(rng.uniform(0.5, 1), 2), round(rng.uniform(0, 0.49), 2)][number] if scored else words[number]
            rows.append([*rng.sample(p, 2), cell])
        self.options = ["--at", "0.5"] if scored else []
        self.path = write_rows(path, rows, rng, ["id1", "id2", "score" if scored else "label"])

    def options_of(self):
        return ["--universe", self.universe, *([] if self.sets is not None else self.options)]

    def known(self, docs):
        if self.universe == "all":
            return docs
        if self.sets is not None:
            return [d for d in docs if d in self.sets]
        return docs

    def judge(self, p):
        """1: the same; 0: different; "?": unsure; None: it does not say."""
        if self.sets is not None:
            a, b = (self.sets.get(d) for d in p)
            if self.universe == "labelled" and (a is None or b is None):
                return None
            return int(a is not None and a == b)
        number = self.label.get(p, self.label.get((p[1], p[0])))
        if number is None:
            return 0 if self.universe == "all" else None
        return [1, 0, "?"][number]


class Result:
    def __init__(self, path, docs, rng, closes):
        self.removed = self.sets = self.value = None
        kind = rng.choice(["pairs", "clusters", "manifest"])
        if kind == "pairs":
            self.pairs = {pair(*p) for p in random_pairs(docs, rng)}
            self.value = {p: round(rng.random(), rng.choice([1, 3])) for p in self.pairs}
            rows = [[*rng.sample(p, 2), v] for p, v in self.value.items()]
            self.path = write_rows(path, rows, rng, ["a", "b", "resemblance"])
            if closes:
                self.sets = components(docs, self.pairs)
                self.pairs = of_sets(self.sets)
        elif kind == "clusters":
            self.sets = random_sets(docs, rng)
            header = ["id", "cluster"]
            if rng.random() < 0.5:  # as dedup --clusters: by the name of the kept document
                leader = {}
                self.sets = {d: leader.setdefault(s, d) for d, s in self.sets.items()}
                self.removed = {d for d, s in self.sets.items() if d != s} if self.sets else None
                header = header if not self.sets else None
            self.path = write_rows(path, self.sets.items(), rng, header)
            self.pairs = of_sets(self.sets)
        else:
            leader = {d: rng.choice(docs) for d in docs if rng.random() < 0.5}
            rows = [(d, k) for d, k in leader.items() if d != k]
            self.pairs = {pair(*p) for p in rows}
            self.removed = {d for d, _ in rows}
            self.sets = components(docs, self.pairs)
            self.path = path + ".manifest.jsonl"
            with open(self.path, "w") as f:
                f.write(json.dumps({"neardup": "0", "recipe": "", "inputs": []}) + "\n")
                for removed, kept in rows:
                    f.write(json.dumps({"removed": removed, "kept": kept}) + "\n")
                f.write(json.dumps({"skipped": "x:1", "reason": "none"}) + "\n")
        self.is_of_sets = kind != "manifest" and self.sets is not None


def rates(counts):
    right, listed, same = counts
    return ratio(right, listed), ratio(right, same), ratio(2 * right, listed + same)


# ---- The slow definitions --------------------------------------------------------------------------------------------


class Judged:
    """A result against a truth: counts by component, and what they make."""

    def __init__(self, docs, truth, result):
        self.truth, self.result = truth, result
        self.docs = docs = truth.known(docs)
        every = [pair(*p) for p in itertools.combinations(docs, 2)]
        in_sets = of_sets(result.sets) if result.sets is not None else set()
        self.out = Counter(unsure=0, unlabelled=0)
        counted = []
        for p in every:
            said = truth.judge(p)
            if said == 1 or (said in (0, "?") and p in result.pairs) or (said in (0, "?") and p in in_sets):
                counted.append(p)
        for p in result.pairs:
            said = truth.judge(p) if set(p) <= set(docs) else None
            self.out["unsure"] += said == "?"
            self.out["unlabelled"] += said is None
        root = components(docs, counted)
        self.parts = {}
        for d in docs:
            part = self.parts.setdefault(root[d], [[0, 0, 0], [0, 0, 0], 0, 0.0, 0.0, 0, 0.0, 0, 0.0])
            near = [e for e in docs if e != d and truth.judge(pair(d, e)) == 1]
            if near:
                part[5] += 1
                part[6] += sum(pair(d, e) in result.pairs for e in near) / len(near)
            others = [e for e in docs if e != d and pair(d, e) in result.pairs and truth.judge(pair(d, e)) in (0, 1)]
            if others:
                part[7] += 1
                part[8] += sum(truth.judge(pair(d, e)) == 1 for e in others) / len(others)
            part[2] += 1
            if truth.sets is not None and result.sets is not None:
                mine = {e for e in docs if e == d or (d in result.sets and result.sets.get(e) == result.sets[d])}
                true = {e for e in docs if e == d or (d in truth.sets and truth.sets.get(e) == truth.sets[d])}
                part[3] += len(mine & true) / len(mine)
                part[4] += len(mine & true) / len(true)
        for p in every:
            said = truth.judge(p)
            for counts, listed in ((0, result.pairs), (1, in_sets)):
                if said in (0, 1):
                    part = self.parts[root[p[0]]][counts]
                    part[0] += said == 1 and p in listed
                    part[1] += p in listed
                    part[2] += said == 1

    def figures(self, parts):
        sums = [[sum(p[k][i] for p in parts) for i in range(3)] for k in (0, 1)]
        n, mine, true = (sum(p[k] for p in parts) for k in (2, 3, 4))
        out = {}
        truth, result = self.truth, self.result
        negatives = truth.universe == "all" or truth.sets is not None or 1 in truth.label.values()
        for name, counts in (("", sums[0]), ("cluster_", sums[1] if result.sets is not None else None)):
            values = rates(counts) if counts else (None,) * 3
            values = values if negatives else (None, values[1], None)
            out.update({name + k: v for k, v in zip(("precision", "recall", "f1"), values)})
        recall = out["query_recall"] = ratio(sum(p[6] for p in parts), sum(p[5] for p in parts))
        precision = out["query_precision"] = ratio(sum(p[8] for p in parts), sum(p[7] for p in parts)) if negatives else None
        known = precision is not None and recall is not None
        out["query_f1"] = (2 * precision * recall / (precision + recall) if precision + recall else 0) if known else None
        known = truth.sets is not None and result.sets is not None
        values = (ratio(mine, n), ratio(true, n), ratio(2 * mine * true / n, mine + true) if n else None) if known else (None,) * 3
        out.update({"bcubed_" + k: v for k, v in zip(("precision", "recall", "f1"), values)})
        return out

    def all(self):
        out = self.figures(self.parts.values())
        truth, result, docs = self.truth, self.result, self.docs
        out["documents"] = len(docs)
        sums = [sum(p[0][i] for p in self.parts.values()) for i in range(3)]
        out["right"], out["listed"], out["missed"] = sums[0], sums[1], sums[2] - sums[0]
        out["unclear"] = self.out["unsure"]
        if not result.is_of_sets:
            out["unlabelled"] = self.out["unlabelled"]
        out["adjusted_rand"] = out["exact_clusters"] = out["removed_without_match"] = None
        if truth.sets is not None and result.sets is not None:
            out["adjusted_rand"] = self.rand()
            mine, true = self.members(result.sets), self.members(truth.sets)
            out["exact_clusters"] = len(mine & true)
            out["true_clusters"] = len(true)
        if result.removed is not None and (truth.universe == "all" or truth.sets is not None):
            kept = set(docs) - result.removed
            gone = result.removed & set(docs)
            out["removed"] = len(gone)
            out["removed_without_match"] = sum(
                not any(truth.judge(pair(d, k)) in (1, "?") for k in kept) for d in gone)
            order = {d: i for i, d in enumerate(docs)}
            out["kept_with_match"] = sum(
                any(truth.judge(pair(d, k)) == 1 and order[k] < order[d] for k in kept if k != d) for d in kept)
        return out

    def members(self, sets):
        found = defaultdict(set)
        for d in self.docs:
            if d in sets:
                found[sets[d]].add(d)
        return {frozenset(m) for m in found.values() if len(m) > 1}

    def rand(self):
        right, listed, same = (sum(p[1][i] for p in self.parts.values()) for i in range(3))
        n = len(self.docs) * (len(self.docs) - 1) // 2
        wrong, missed, rest = listed - right, same - right, n - listed - same + right
        if not wrong and not missed:
            return 1
        return 2 * (right * rest - missed * wrong) / (
            (right + missed) * (missed + rest) + (right + wrong) * (wrong + rest))

    def intervals(self, times, seed):
        """A component stands where the first of its documents does, in their order."""
        parts = list(self.parts.values())
        has = [p for p in parts if p[0][1] or p[0][2] or p[1][1]]
        sizes = [max(p[k][1] + p[k][2] - p[k][0] for k in (0, 1)) for p in has]
        if len(has) < 20 or 2 * max(sizes) >= sum(sizes):
            return None
        parts = has + [p for p in parts if p not in has]
        drawn = defaultdict(list)
        for time in range(times):
            stream = mix64(mix64(seed) + time & M64)
            chosen = [parts[mix64(stream + (i + 1) * 0x9E3779B97F4A7C15 & M64) * len(parts) >> 64]
                      for i in range(len(parts))]
            for name, value in self.figures(chosen).items():
                if value is not None:
                    drawn[name].append(value)
        out = {}
        for name, values in drawn.items():
            beyond = len(values) * 25 // 1000
            out[name] = sorted(values)[beyond], sorted(values)[len(values) - 1 - beyond]
        return out


def curve_of(judged):
    """The points from the greatest value down, the average precision and the break-even point."""
    truth, result, docs = judged.truth, judged.result, judged.docs
    said = {p: truth.judge(p) for p in (pair(*q) for q in itertools.combinations(docs, 2))}
    same = sum(s == 1 for s in said.values())
    listed = {p: v for p, v in result.value.items() if said.get(p) in (0, 1)}
    points = []
    for at in sorted(set(listed.values()), reverse=True):
        chosen = [said[p] for p, v in listed.items() if v >= at]
        points.append((at, len(chosen), sum(chosen)))
    average = meet = None
    if same and judged.all()["precision"] is not None:
        average = sum((right - (points[i - 1][2] if i else 0)) / same * right / n for i, (_, n, right) in enumerate(points))
        for i, (_, n, right) in enumerate(points):
            if n == same:
                meet = right / n
                break
            if n > same:
                if i:
                    _, m, left = points[i - 1]
                    a, b = left / m - left / same, right / n - right / same
                    part = a / (a - b) if a != b else 1
                    meet = left / m + part * (right / n - left / m)
                break
    if RIVALS and average is not None:
        right = sum(said[p] for p in listed)
        other = metrics.average_precision_score([said[p] for p in listed], list(listed.values())) * right / same if right else 0
        if not same_number(other, average):
            print("average precision of scikit-learn", other, average)
            meet = average = float("nan")
    return points, average, meet


def value_of(by, p, about):
    """The value of a pair: of the site, the language or the length of its documents."""
    x, y = (about[d] for d in p)
    if by == "length":
        shorter, end = min(x["length"], y["length"]), 50
        while shorter >= end:
            end *= 2
        return f"{end // 2 if end > 50 else 0}-{end - 1}"
    key = "url" if by.startswith("site") else "about" if by.startswith("prefix") else "lang"
    if key not in x or key not in y:
        return "unknown"
    if key == "about" and not all(":" in v[key] for v in (x, y)):
        return "unknown"
    x, y = (v[key].split("/")[2] if key == "url" else v[key].split(":")[0] for v in (x, y))
    return "other" if x != y else x if key == "lang" else "same"


def rows_by(by, judged, about, times, seed):
    """For each value the counts, the rates and their intervals."""
    truth, result, docs = judged.truth, judged.result, judged.docs
    said = {p: truth.judge(p) for p in (pair(*q) for q in itertools.combinations(docs, 2))}
    of = {p: value_of(by, p, about) for p in said}
    negatives = truth.universe == "all" or truth.sets is not None or 1 in truth.label.values()
    rows = {}
    shown = {value_of(by, p, about) for p in result.pairs}  # of documents that do not count, too
    for value in {*of.values(), *shown}:
        mine = {p for p in said if of[p] == value}
        listed = {p for p in mine & result.pairs if said[p] in (0, 1)}
        same = {p for p in mine if said[p] == 1}
        if not same and value not in shown:
            continue
        joined = [p for p in said if said[p] == 1 or (p in mine & result.pairs and said[p] is not None)]
        root = components(docs, joined)
        parts = {}
        for d in docs:
            parts.setdefault(root[d], [0, 0, 0])
        for p in listed | same:
            part = parts[root[p[0]]]
            for i, true in enumerate((p in listed and p in same, p in listed, p in same)):
                part[i] += true
        parts = [p for p in parts.values() if p[1] or p[2]]
        counts = [sum(p[i] for p in parts) for i in range(3)]
        row = {"listed": counts[1], "right": counts[0], "missed": counts[2] - counts[0], "components": len(parts)}
        sizes = [p[1] + p[2] - p[0] for p in parts]
        draws = []
        if len(parts) >= 20 and 2 * max(sizes) < sum(sizes):
            for time in range(times):
                stream = mix64(mix64(seed) + time & M64)
                chosen = [parts[mix64(stream + (i + 1) * 0x9E3779B97F4A7C15 & M64) * len(parts) >> 64] for i in range(len(parts))]
                draws.append(rates([sum(p[i] for p in chosen) for i in range(3)]))
        for i, name in enumerate(("precision", "recall", "f1")):
            found = rates(counts)[i] if negatives or name == "recall" else None
            values = sorted(d[i] for d in draws if d[i] is not None)
            beyond = len(values) * 25 // 1000
            row[name] = found
            row[name + "_low"] = values[beyond] if values and found is not None else None
            row[name + "_high"] = values[-1 - beyond] if values and found is not None else None
        rows[value] = row
    return rows


def check_by(number, command, truth, result, docs, about):
    """The command as before, of one result, with --by one thing that the documents are."""
    by = ("site:url", "prefix:about", "field:lang", "length")[number % 4]
    line = [*command[:-EACH], "--by", by, result.path]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"case {number}: {' '.join(line)}: {done.stderr}")
        return False
    rows = {row["value"]: row for row in map(json.loads, done.stdout.splitlines())}
    wanted = rows_by(by, Judged(docs, truth, result), about, 40, number)
    if rows.keys() != wanted.keys():
        print(f"case {number}: {' '.join(line)}: {rows.keys()} and not {wanted.keys()}")
        return False
    good = [compare(f"case {number}, --by {by}, {value}", row, wanted[value]) for value, row in rows.items()]
    return all(good)


def mix64(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & M64
    x = (x ^ x >> 27) * 0x94D049BB133111EB & M64
    return x ^ x >> 31


def ask_rivals(judged):
    """The figures of other libraries, where their definitions are the same."""
    truth, result, docs = judged.truth, judged.result, judged.docs
    out = {}
    said = {p: truth.judge(p) for p in (pair(*q) for q in itertools.combinations(docs, 2))}
    decided = [p for p, s in said.items() if s in (0, 1)]
    y, z = [said[p] for p in decided], [int(p in result.pairs) for p in decided]
    negatives = truth.universe == "all" or truth.sets is not None or 1 in truth.label.values()
    if any(z) and negatives:
        out["precision"] = metrics.precision_score(y, z)
    if any(y):
        out["recall"] = metrics.recall_score(y, z)
    if (any(y) or any(z)) and negatives:
        out["f1"] = metrics.f1_score(y, z)
    if truth.sets is not None and result.sets is not None and docs:
        a = [truth.sets.get(d, "alone " + d) for d in docs]
        b = [result.sets.get(d, "alone " + d) for d in docs]
        out["adjusted_rand"] = metrics.adjusted_rand_score(a, b)
        true, mine = pandas.Series(a, index=docs), pandas.Series(b, index=docs)
        # Its own b_cubed_precision is a mean over true clusters: that of documents is made of its table of errors.
        errors = record_error_table(mine, true)
        out["bcubed_precision"] = 1 - (errors.extra / errors.pred_cluster_size).mean()
        out["bcubed_recall"] = 1 - (errors.missing / errors.ref_cluster_size).mean()
    return out


def same_number(a, b):
    return a is b or (a is not None and b is not None and abs(a - b) < 1e-9)


def compare(what, row, wanted):
    wrong = {k: (row.get(k), v) for k, v in wanted.items() if not same_number(row.get(k), v)}
    if wrong:
        print(f"{what}: {row['result']}: neardup and the definition differ: {wrong}")
    return not wrong


def check_curve(number, command, truth, result, docs):
    """The command as before, of one result, with --curve."""
    command = [*command[:-EACH], "--curve", "3" if result.path.endswith("tsv") else "resemblance", result.path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"case {number}: {' '.join(command)}: {done.stderr}")
        return False
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    points, average, meet = curve_of(Judged(docs, truth, result))
    good = [(row["at"], row["listed"], row["right"]) for row in rows] == points
    if not good:
        print(f"case {number}: {' '.join(command)}: another curve than {points}")
    for row in rows:
        good &= compare(f"case {number}, curve", row, {"average_precision": average, "break_even": meet})
    return good


def run_case(number, folder):
    rng = random.Random(number)
    n = rng.choice([1, 2, 3, 6, 12, 25])
    is_wide = number % 10 == 0  # so many components that there are intervals
    docs = [f"d{i}" for i in range(60 if is_wide else n)]
    closes = rng.random() < 0.3
    other = random.Random(-number)
    about = {d: {"length": other.choice([0, 3, 49, 50, 99, 130])} for d in docs}
    for v in about.values():
        if other.random() < 0.8:
            v["url"] = f"http://h{other.randrange(3)}/x"
        if other.random() < 0.8:
            v["about"] = other.choice(["en:1", "en:2", "de:1", "none"])
        if other.random() < 0.8:
            v["lang"] = f"l{other.randrange(3)}"
    with open(f"{folder}/docs.jsonl", "w") as f:
        f.writelines(json.dumps({"id": d, **v, "text": "x " * v["length"]}) + "\n" for d, v in about.items())
    truth = Truth(f"{folder}/{number}.truth", docs, rng)
    results = [Result(f"{folder}/{number}.{i}", docs, rng, closes) for i in range(EACH)]
    if is_wide:  # small sets, beside one another
        truth.sets = {d: f"s{int(d[1:]) // 2}" for d in docs}
        truth.path = write_rows(f"{folder}/{number}.wide", truth.sets.items(), rng, ["id", "cluster"])
        result = results[0]
        result.sets = {d: f"s{(int(d[1:]) - rng.randrange(2)) // 2}" for d in docs}
        result.path = write_rows(f"{folder}/{number}.wide.0", result.sets.items(), rng, ["id", "cluster"])
        result.pairs, result.removed, result.is_of_sets, result.value = of_sets(result.sets), None, True, None
    command = [NEARDUP, "eval", "--json", "-q", "--truth", truth.path, *truth.options_of(), "--documents",
               f"{folder}/docs.jsonl", *(["--close"] if closes else []), "--seed", str(number), "--resamplings", "40",
               *[r.path for r in results]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"case {number}: {' '.join(command)}: {done.stderr}")
        return False
    good = True
    for row, result in zip(map(json.loads, done.stdout.splitlines()), results, strict=True):
        judged = Judged(docs, truth, result)
        good &= compare(f"case {number}", row, judged.all())
        found = judged.intervals(40, number)
        good &= (found is None) == ("no intervals" in row["note"])
        for name, (low, high) in (found or {}).items():
            good &= compare(f"case {number}, interval", row, {name + "_low": low, name + "_high": high})
        if RIVALS:
            good &= compare(f"case {number}, other libraries", row, ask_rivals(judged))
    for result in results:
        if result.value and not closes:
            good &= check_curve(number, command, truth, result, docs)
            good &= check_by(number, command, truth, result, docs, about)
        os.remove(result.path)
    return good


def main():
    with tempfile.TemporaryDirectory() as folder:
        cases = range((CASES + EACH - 1) // EACH)
        wrong = sum(not run_case(number, folder) for number in cases)
    print(f"{EACH * len(cases)} results, {wrong} truths with figures that differ")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
