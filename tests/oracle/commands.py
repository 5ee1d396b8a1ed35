#!/usr/bin/env python3
"""Send random small corpora through all commands, and compare what they say with one another and with a model.

    commands.py NEARDUP [FIRST_SEED [COUNT]]

The model knows tokens, shingles and which documents are equal (docs/format/recipe.md, "Equal documents").  It knows
no sketches: which documents are near it takes from `pairs`, which it compares with the exact measure where there is
one, and from the pairs it works out what dedup (stars, components, complete link), collapse, filter and explain must
say.  Exit status 1: they differ; the corpus and the commands are printed.
"""
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import defaultdict

MAX_IN_COMPONENT = 8  # of one key: larger components may fall apart (src/engine/README.md)


class Failure(Exception):
    pass


# Corpora.

WORDS = [a + b for a in ("ka", "lo", "mi", "ru", "te", "buy", "sell", "now") for b in ("", "n", "ra", "sto", "ing", "ver")]


def fresh_text(rng):
    length = rng.choice([0, 1, 1, 2, 2, 3, 4, 8, 12, 30, 60])
    return [rng.choice(WORDS) for _ in range(length)]


def edited(rng, words):
    words = list(words)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        at = rng.randrange(len(words) + 1)
        kind = rng.randrange(3)
        if kind == 0:
            words.insert(at, rng.choice(WORDS))
        elif words and kind == 1:
            words[at % len(words)] = rng.choice(WORDS)
        elif words:
            del words[at % len(words)]
    return words


def written(rng, words):
    """A text with these words: cases, blanks and marks differ."""
    text = ""
    for word in words:
        text += {0: word.upper(), 1: word.capitalize()}.get(rng.randrange(12), word)
        text += rng.choice([" "] * 12 + ["  ", ", ", "! "])
    return rng.choice(["", "", "", ". ", "?"]) + text + rng.choice(["", "", "", "!"])


def corpus_of(rng, n):
    documents, words = [], []
    for number in range(n):
        kind = rng.randrange(10) if documents else 9
        origin = rng.randrange(number) if number else 0
        if kind < 2:
            own, text = words[origin], documents[origin]["text"]
        else:
            if kind < 4:
                own = words[origin]
            elif kind < 7:
                own = edited(rng, words[origin])
            elif kind == 7:
                own = words[origin] + fresh_text(rng)
            else:
                own = fresh_text(rng)
            text = written(rng, own)
        words.append(own)
        documents.append({"id": number, "text": text, "title": rng.choice(WORDS), "date": f"2020-01-0{rng.randrange(1, 9)}",
                          "group": rng.choice(["x", "x", "y"])})
    return documents


# The model.

class Recipe:
    """The members of a recipe that the model needs, from its canonical form."""

    def __init__(self, text):
        section, values = "", defaultdict(dict)
        for line in text.splitlines():
            if line.startswith("["):
                section = line.strip("[]")
            elif " = " in line or line.endswith(" ="):
                key, _, value = line.partition(" =")
                values[section][key] = value.strip()
        signatures = [v for name, v in values.items() if name.startswith("signature ")]
        decide = values["decide"]
        self.w, self.unit = int(values["sketch"]["shingle"]), values["sketch"]["unit"]
        self.by_match = decide["candidates"] == "match"
        self.candidates, self.verify, self.short = decide["candidates"], decide["verify"], decide["short"]
        self.bands = int(decide.get("bands", 0))
        p, _, q = decide["threshold"].partition("/")
        self.threshold = int(p), int(q or 1)
        self.ignores_text = self.by_match and all(s.get("unit") in ("none", "paths") for s in signatures)
        self.reads_more = self.by_match and any(s.get("fields") or s.get("force") or s.get("reserved_field")
                                                for s in signatures)


class Model:
    def __init__(self, documents, recipe, group_field):
        self.recipe = recipe
        self.n = len(documents)
        self.text = [d["text"] for d in documents]
        self.group = [d[group_field] if group_field else "" for d in documents]
        self.tokens = [list(t.lower()) if recipe.unit == "characters" else re.findall("[a-z]+", t.lower())
                       for t in self.text]
        self.is_short = [len(t) < recipe.w and not recipe.ignores_text for t in self.tokens]
        self.shingles = [{tuple(t[i:i + recipe.w]) for i in range(max(1, len(t) - recipe.w + 1))} if t else set()
                         for t in self.tokens]

    def same(self, a, b):
        """Whether two documents are equal, but for their groups."""
        r = self.recipe
        if r.ignores_text or (r.short == "keep" and (self.is_short[a] or self.is_short[b])):
            return False
        if self.text[a] == self.text[b]:
            return True
        if not self.tokens[a] or (self.is_short[a] and r.short != "tokens"):
            return False
        return self.tokens[a] == self.tokens[b]

    def equal(self, a, b):
        return self.group[a] == self.group[b] and self.same(a, b)

    def measure(self, a, b):
        """As a fraction that sorts like the measure: the cosine's square."""
        x, y = len(self.shingles[a]), len(self.shingles[b])
        shared = len(self.shingles[a] & self.shingles[b])
        if shared == 0:
            return 0, 1
        return {"jaccard": (shared, x + y - shared), "cosine": (shared * shared, x * y), "containment": (shared, x),
                "containment-of-kept": (shared, y), "containment-either": (shared, min(x, y))}[self.recipe.verify]

    def reaches(self, document, kept):
        (num, den), (p, q) = self.measure(document, kept), self.recipe.threshold
        if self.recipe.verify == "cosine":
            p, q = p * p, q * q
        return num > 0 and num * q >= p * den

    def is_directed(self):
        return self.recipe.verify in ("containment", "containment-of-kept")

    def are_near(self, a, b):
        """Whether they are a pair, which has no direction."""
        return self.reaches(a, b) or (self.is_directed() and self.reaches(b, a))

    def matches(self, document, others):
        """The documents of its pairs of which it is a duplicate."""
        return [k for k in others if not self.is_directed() or self.same(document, k) or self.reaches(document, k)]

    def finds_all(self):
        """Whether no pair escapes: all are compared, or documents are so small that their samples are all of them."""
        r = self.recipe
        by_samples = r.candidates == "minhash" and not r.bands and r.verify not in ("jaccard", "none")
        return r.candidates == "all" or by_samples

    def is_measured(self):
        """Whether nearness is what the model can compute."""
        return self.recipe.verify != "none"

    def best(self, document, others):
        """The one of the greatest measure, the earlier of equal ones."""
        best = None
        for other in others:
            (a, b), (c, d) = self.measure(document, other), self.measure(document, best) if best is not None else (-1, 1)
            if best is None or a * d > c * b:
                best = other
        return best


def by_group(pairs):
    near = defaultdict(set)
    for a, b in pairs:
        near[a].add(b)
        near[b].add(a)
    return near


# The commands say this.

class Case:
    def __init__(self, neardup, folder, options, threads, within, recipe):
        self.neardup, self.folder, self.options, self.recipe = neardup, folder, options, recipe
        self.threads = threads
        self.within = ["--within", "group"] if within else []

    def run(self, command, *arguments, may_find_nothing=False):
        line = [self.neardup, command, *self.options, *arguments]
        line += ["-q", f"-j{self.threads}"] if command != "explain" else []
        done = subprocess.run(line, cwd=self.folder, capture_output=True, check=False)
        if done.returncode not in ((0, 1) if may_find_nothing else (0,)):
            raise Failure(f"{' '.join(line)}: status {done.returncode}: {done.stderr.decode()}")
        return done.stdout.decode()

    def refuses(self, command, *arguments):
        line = [self.neardup, command, *self.options, *arguments]
        done = subprocess.run(line, cwd=self.folder, capture_output=True, check=False)
        if done.returncode != 2:
            raise Failure(f"{' '.join(line)}: not refused")

    def rows(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return [line.rstrip("\n").split("\t") for line in file]

    def pairs(self):
        found = {}
        for line in self.run("pairs", *self.within, "docs.jsonl", may_find_nothing=True).splitlines():
            b, a, *values = line.split("\t")
            if (int(a), int(b)) in found:
                raise Failure(f"pairs: {b} and {a} twice")
            found[int(a), int(b)] = values
        return found

    def dedup(self, cluster):
        self.run("dedup", *self.within, "--cluster", cluster, "--keep", "first", "docs.jsonl", "-o", "kept.jsonl",
                 "--clusters", "clusters.tsv", "--manifest", "manifest.jsonl")
        clusters = {int(d): int(k) for d, k in self.rows("clusters.tsv")}
        with open(os.path.join(self.folder, "kept.jsonl"), encoding="utf-8") as file:
            kept = [json.loads(line)["id"] for line in file]
        with open(os.path.join(self.folder, "manifest.jsonl"), encoding="utf-8") as file:
            removed = [json.loads(line) for line in list(file)[1:]]
        return clusters, kept, removed


def check(condition, *what):
    if not condition:
        raise Failure(" ".join(map(str, what)))


def check_pairs(model, pairs):
    for a, b in itertools.combinations(range(model.n), 2):
        has, equal = (b, a) in pairs, model.equal(a, b)
        where = f"pairs: {a} and {b}"
        check(has or not equal, where, "are equal and no pair")
        check(model.group[a] == model.group[b] or not has, where, "are of two groups")
        if model.is_short[a] or model.is_short[b]:
            check(has == equal, where, "are short, and a pair without being equal")
        if has and not equal and model.is_measured():
            check(model.are_near(a, b), where, "are a pair below the threshold")
        if not has and model.is_measured() and model.finds_all() and not (model.is_short[a] or model.is_short[b]):
            check(model.group[a] != model.group[b] or not model.are_near(a, b), where, "reach the threshold and are no pair")
        if has and equal:
            n = len(model.shingles[a])
            check(pairs[b, a][:3] == ["1", str(n), str(n)], where, "are equal, and the pair says", pairs[b, a])
        elif has and model.recipe.verify == "none":
            check(pairs[b, a][:3] == ["", "", ""], where, "are not compared, and the pair says", pairs[b, a])


def check_rows(model, clusters, kept, removed, cluster):
    check(sorted(kept) == [d for d in range(model.n) if clusters[d] == d], cluster, "survivors and clusters differ")
    check(sorted(r["removed"] for r in removed) == [d for d in range(model.n) if clusters[d] != d], cluster, "manifest")
    for r in removed:
        d, k = r["removed"], r["kept"]
        equal = model.equal(d, k)
        where = f"{cluster}: {d}, kept {k}:"
        check(k == clusters[d], where, "the clusters say", clusters[d])
        check((r["identical"] != "no") == equal, where, "identical", r["identical"])
        check(r["identical"] != "bytes" or model.text[d] == model.text[k], where, "bytes")
        check(r["identical"] != "tokens" or model.text[d] != model.text[k], where, "tokens, and the bytes are equal")
        check(r["verified"] == (equal or model.recipe.verify != "none"), where, "verified", r["verified"])
        check((r["resemblance"] is None) == (not r["verified"]), where, "resemblance", r["resemblance"])
        if "via" in r:
            known = model.equal(d, r["via"]) or model.recipe.verify != "none"
            check((r["via_resemblance"] is not None) == known, where, "via_resemblance", r["via_resemblance"])
            check(not model.equal(d, r["via"]) or r["via_resemblance"] == 1, where, "via an equal one")


def check_stars(model, near, clusters):
    kept = []
    for d in range(model.n):
        match = model.matches(d, [k for k in kept if k in near[d]])
        equal = [k for k in match if model.equal(d, k)]
        where = f"star: {d}"
        check((clusters[d] != d) == bool(match), where, "matches", match, "and belongs to", clusters[d])
        if equal:
            check(clusters[d] == equal[0], where, "equals", equal, "and belongs to", clusters[d])
        elif match and model.is_measured():
            check(clusters[d] == model.best(d, match), where, "is nearest to", model.best(d, match), "and belongs to", clusters[d])
        elif match:
            check(clusters[d] in match, where, "belongs to", clusters[d])
        else:
            kept.append(d)


def check_components(model, near, clusters, via):
    root = list(range(model.n))
    for d in range(model.n):
        for other in near[d]:
            low, high = sorted((root[d], root[other]))
            root = [low if r == high else r for r in root]
    size = defaultdict(int)
    for r in root:
        size[r] += 1
    for d in range(model.n):
        check(root[clusters[d]] == root[d], "components:", d, "is connected to", root[d], "and belongs to", clusters[d])
        if size[root[d]] <= MAX_IN_COMPONENT:
            check(clusters[d] == root[d], "components:", d, "is connected to", root[d], "and belongs to", clusters[d])
        for other in near[d]:
            if model.equal(d, other):
                check(clusters[other] == clusters[d], "components: equal", d, other, "are parted")
    for d, other in via.items():
        check(other in near[d], "components:", d, "via", other, "which is no pair")


def check_complete(model, near, clusters):
    first = list(range(model.n))
    for d in range(model.n):
        for other in near[d]:
            if model.equal(d, other):
                first[d] = min(first[d], other)

    def match(a, b):
        if model.is_measured() and not model.recipe.by_match:
            return model.group[a] == model.group[b] and model.reaches(a, b)
        return b in near[a]

    members = defaultdict(list)  # of each kept one, itself too; one of each class
    for d in range(model.n):
        own, where = clusters[d], f"complete: {d}"
        if first[d] != d:
            check(own == clusters[first[d]], where, "equals", first[d], "of", clusters[first[d]], "and belongs to", own)
            continue
        fitting = [k for k in list(members) if k in near[d] and all(match(d, m) for m in members[k])]
        if own == d:
            check(not fitting, where, "fits", fitting, "and leads")
        else:
            check(own in fitting, where, "does not fit", own)
            if model.is_measured():
                check(own == model.best(d, fitting), where, "is nearest to", model.best(d, fitting), "and belongs to", own)
        members[own].append(d)


def check_filter(case, model, near):
    """Filter two groups: prototypes are all documents of the first half, the others the stream."""
    half = model.n // 2
    rows = case.run("filter", "-p", "prototypes.jsonl", "--annotate", "stream.jsonl", may_find_nothing=True).splitlines()
    check(len(rows) == model.n - half, "filter: rows")
    firsts = [p for p in range(half) if model.recipe.ignores_text or model.text[p] not in model.text[:p]]
    for d, row in enumerate(map(json.loads, rows), half):
        match = model.matches(d, [p for p in firsts if p in near[d]])
        equal = [p for p in match if model.same(d, p)]
        where = f"filter: {d} matches {match}:"
        check(row["id"] == d and row["match"] == bool(match), where, row)
        if not match:
            continue
        check(row["prototypes"] == len(match), where, row)
        check(row["prototype"] in match, where, row)
        if equal:
            check(row["prototype"] == equal[0] and row["resemblance"] == 1, where, "equals", equal, row)
        elif model.is_measured():
            check(row["prototype"] == model.best(d, match), where, "nearest", model.best(d, match), row)
        elif model.recipe.verify == "none":
            check("resemblance" not in row, where, row)


def check_explain(case, model, near, rng):
    for _ in range(4):
        a = rng.randrange(model.n)
        b = rng.choice(sorted(near[a])) if near[a] and rng.randrange(2) else rng.randrange(model.n)
        if a == b:
            continue
        said = case.run("explain", "--corpus", "docs.jsonl", str(a), str(b), may_find_nothing=True).splitlines()
        verdict = [line for line in said if line.startswith("verdict: ")][0]
        check(verdict.startswith("verdict: duplicates") == bool(model.matches(b, near[b] & {a})), "explain:", a, b, verdict)


def check_all(case, documents, rng):
    recipe = case.recipe
    model = Model(documents, recipe, "group" if case.within else None)
    pairs = case.pairs()
    near = by_group(pairs)
    check_pairs(model, pairs)
    clusters, kept, removed = case.dedup("star")  # in the order of the input, also where a recipe prefers others
    check_rows(model, clusters, kept, removed, "star")
    check_stars(model, near, clusters)
    if not case.within:
        listed = [json.loads(line)["id"] for line in case.run("collapse", "--keep", "first", "docs.jsonl").splitlines()]
        check(listed == kept, "collapse lists", listed, "and dedup keeps", kept)
    if not case.within:
        check_filter(case, model, near)
        check_explain(case, model, near, rng)
    for cluster in ("components", "complete") if model.is_directed() else ():
        case.refuses("dedup", "--cluster", cluster, "docs.jsonl", "-o", "kept.jsonl")
    if model.is_directed():
        return
    clusters, kept, removed = case.dedup("components")
    check_rows(model, clusters, kept, removed, "components")
    check_components(model, near, clusters, {r["removed"]: r["via"] for r in removed})
    clusters, kept, removed = case.dedup("complete")
    check_rows(model, clusters, kept, removed, "complete")
    check_complete(model, near, clusters)


# Cases.

# Equal texts need not match by it: half of them differ in the field.
BY_FIELD = """[signature s]
reserved_bits = 8
reserved_field = group
[decide]
candidates = match
verify = none
match = distance(s) <= 14 and same(s) >= 1
"""


def write_jsonl(path, documents):
    with open(path, "w", encoding="utf-8") as file:
        for document in documents:
            file.write(json.dumps(document) + "\n")


def draw_options(rng, recipe):
    options = ["--recipe", recipe]
    if rng.randrange(2):
        options += rng.choice([["--short"], ["--set"]])
        policy = rng.choice(["identical", "tokens", "keep"])
        options.append(policy if options[-1] == "--short" else "short=" + policy)
    if recipe == "default":
        options += rng.choice([[], ["-t", "0.5"], ["-t", "0.3"], ["--candidates", "all", "-t", "0.6"], ["--bands", "128x1"],
                               ["--method", "identical"], ["--method", "simhash", "--bits", "9"]])
        if "identical" not in options[-1:]:
            measures = ["cosine", "containment", "containment-of-kept", "containment-either"]
            options += rng.choice([[], [], ["--verify", rng.choice(measures)], ["--verify", rng.choice(measures)],
                                   ["--verify", "none"] if "all" not in options else []])
        options += rng.choice([[], [], ["--shingle", "1"], ["--shingle", "5"], ["--shingle", "4c"]])
    elif rng.randrange(3) == 0:
        options += ["--verify", "jaccard", "-t", "0.4"]
    return options


def tables_for(call, recipe, options):
    """The tables that a recipe wants, of the corpus itself."""
    said = call("dedup", *options, "docs.jsonl", "-o", "x.jsonl").stderr.decode()
    template = re.search(r"signature (\S+): template_count needs", said)
    if template:
        call("df", "build", "-q", "docs.jsonl", "-o", "shingles.df", "--features", "sketch")
        return ["--set", template[1] + ".template_df=shingles.df"]
    if "--df" not in said:
        return []
    call("df", "build", "-q", "--recipe", recipe, "docs.jsonl", "-o", "words.df")
    return ["--df", "words.df"]


def run_case(neardup, seed, shipped):
    """The default recipe in every second case, each of the others in turn."""
    rng = random.Random(seed)
    documents = corpus_of(rng, rng.choice([6, 15, 40]))
    name = shipped[seed // 2 % len(shipped)] if seed % 2 else "default"
    options = draw_options(rng, name)
    with tempfile.TemporaryDirectory() as folder:
        half = len(documents) // 2
        write_jsonl(os.path.join(folder, "docs.jsonl"), documents)
        write_jsonl(os.path.join(folder, "prototypes.jsonl"), documents[:half])
        write_jsonl(os.path.join(folder, "stream.jsonl"), documents[half:])

        with open(os.path.join(folder, "by-field.ini"), "w", encoding="utf-8") as file:
            file.write(BY_FIELD)

        def call(*arguments):
            return subprocess.run([neardup, *arguments], cwd=folder, capture_output=True, check=False)

        options += tables_for(call, name, options)
        header = call("dedup", *options, "docs.jsonl", "-o", "x.jsonl", "--manifest", "x.man")
        if header.returncode != 0:
            raise Failure(f"{options}: {header.stderr.decode()}")
        with open(os.path.join(folder, "x.man"), encoding="utf-8") as file:
            recipe = Recipe(json.loads(file.readline())["recipe"])
        case = Case(neardup, folder, options, rng.choice([1, 1, 2, 4]), rng.randrange(4) == 0, recipe)
        try:
            check_all(case, documents, rng)
        except Failure as failure:
            print("".join(json.dumps(d) + "\n" for d in documents))
            raise Failure(f"seed {seed}: {' '.join(options + case.within)}: {failure}") from None


def main():
    neardup = os.path.abspath(sys.argv[1])
    listed = subprocess.run([neardup, "recipe", "list"], capture_output=True, check=True).stdout.decode()
    shipped = ["by-field.ini"] + [line.split()[0] for line in listed.splitlines() if not line.startswith("default")]
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 2 * len(shipped)
    failed = 0
    for seed in range(first, first + count):
        try:
            run_case(neardup, seed, shipped)
        except Failure as failure:
            print(failure)
            failed += 1
    print(f"{count} corpora, {failed} of them with differences")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
