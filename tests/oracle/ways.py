#!/usr/bin/env python3
"""Run every recipe in every way of running over random small corpora, and compare each with the plain run.

    ways.py NEARDUP [--plain OTHER] [--seed N] [--documents N] [RECIPE…]

The plain run is `dedup` over documents, by NEARDUP or by another binary.  The ways: bounded memory, sketch files in
place of documents, parts, known sketches, a checkpoint (made, read again, in bounded memory), documents appended in
one day and in three, an index of records, and pairs and filter over sketch files; with options that are drawn for each recipe.  Manifest, clusters and survivors must be the same
bytes but for places of records and for how a removal was verified.  Exit status 1: they differ; each is named.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

CUTS = (0, 0.4, 0.66, 1)  # of the days
WITH = (
    [],
    ["--within", "lang"],
    ["--security-field", "readers"],
    ["--security-field", "readers", "--keep", "longest", "--within", "lang"],
    ["--never", "lang=b"],
    ["--prefer", "lang=b,c"],
    ["--keep", "last"],
    ["--keep", "max:size"],
    ["--keep", "longest"],
    ["--keep", "none"],
    ["--set", "cluster=components"],
    ["--set", "cluster=complete"],
    ["--set", "cluster=components", "--within", "lang", "--keep", "min:size"],
    ["--set", "cluster=complete", "--never", "lang=a", "--prefer", "lang=c"],
    ["--set", "max_checks=3"],
    ["--forms", "numbers"],
    ["--forms", "dates", "--set", "cluster=components", "--keep", "longest"],
)
RECORD = ["--record-field", "lang", "--record-field", "readers", "--record-field", "size", "--record-length"]


# Documents: pages with headings, links, emphasis and fields, most of them edited copies of earlier ones.


def words(rng, n):
    return [f"w{int(rng.paretovariate(0.6)) % 400}" for _ in range(n)]


def fresh(rng):
    return {
        "words": words(rng, rng.choice([0, 1, 2, 40, 60, 80, 120, 120, 200])),
        "links": [f"http://h{rng.randrange(3)}.org/{rng.randrange(50)}" for _ in range(rng.choice([0, 12, 15]))],
        "tags": [rng.choice(["p", "div", "b", "li"]) for _ in range(30)],
        "title": " ".join(words(rng, 3)),
    }


def edited(rng, page):
    page = {key: value if isinstance(value, str) else list(value) for key, value in page.items()}
    for _ in range(rng.choice([0, 0, 1, 1, 2, 5])):
        if page["words"]:
            page["words"][rng.randrange(len(page["words"]))] = words(rng, 1)[0]
    if page["links"] and rng.random() < 0.2:
        page["links"][0] = "http://elsewhere.org/"
    if rng.random() < 0.2:
        page["tags"][rng.randrange(30)] = "em"
    if rng.random() < 0.2:
        page["title"] = " ".join(words(rng, 3))
    return page


def written(page):
    body = "".join(f'<a href="{link}">x</a>' for link in page["links"])
    for at in range(0, len(page["words"]), 9):
        tag = page["tags"][at // 9 % 30]
        body += f"<{tag}>{' '.join(page['words'][at:at + 9])}</{tag}>"
    return f"<html><body><h1>{page['title']}</h1>{body}</body></html>"


def corpus(rng, n):
    pages, records = [], []
    for i in range(n):
        page = edited(rng, rng.choice(pages)) if pages and rng.random() < 0.55 else fresh(rng)
        pages.append(page)
        record = {"id": i, "text": written(page), "title": page["title"], "headline": page["title"]}
        if rng.random() < 0.9:
            record |= {"lang": rng.choice("abc"), "size": rng.randrange(50)}
            record["readers"] = random.Random(i).choice([[], "x", ["x"], ["y"], ["y", "x"], ["z", "x"], None])
        records.append(record)
    return [json.dumps(record) + "\n" for record in records]


# Runs.


class Runs:
    def __init__(self, program, plain, folder):
        self.program, self.plain, self.folder = program, plain, folder
        self.failures = []

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def write(self, name, lines):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.writelines(lines)

    def run(self, *arguments, program=None):
        return subprocess.run(
            [program or self.program, *arguments], cwd=self.folder, capture_output=True, text=True, check=False
        )

    def must(self, *arguments, program=None):
        done = self.run(*arguments, program=program)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{' '.join(arguments)}\n{done.stderr}")
        return done

    def expect(self, way, is_same, why=""):
        if not is_same:
            self.failures.append(f"{way}: differs from the plain run {why}".rstrip())


def removals(text):
    rows = []
    for line in text.splitlines():
        row = json.loads(line)
        if "removed" in row:
            rows.append({k: v for k, v in row.items() if k not in ("removed_at", "kept_at", "verified", "passage")})
    return rows


def table_options(runs, recipe, program):
    """Count what the recipe needs a df table of, and return the options that name the table."""
    shown = runs.must("recipe", "show", recipe).stdout.splitlines()
    if "df =" in shown:
        runs.must("df", "build", "-q", "--recipe", recipe, "--text-format", "html", "all.jsonl", "-o", "t.df",
                  program=program)
        return ["--df", "t.df"]
    if "template_df =" in shown:
        section = next(line for line in shown if line.startswith("[signature "))[11:-1]
        width = next(line for line in shown if line.startswith("width ="))[8:]
        runs.must("df", "build", "-q", "--features", "sketch", "-w", width, "--text-format", "html", "all.jsonl",
                  "-o", "t.df", program=program)
        return ["--set", f"{section}.template_df=t.df"]
    return []


def dedup(runs, way, options, inputs, output, plain):
    """Run dedup, and compare with `plain`: removals, clusters and, unless it is a sketch file, survivors."""
    done = runs.run("dedup", "-q", *options, *inputs, "-o", output, "--manifest", "got.m", "--clusters", "got.c")
    if done.returncode != 0:
        runs.failures.append(f"{way}: {done.stderr.strip()}")
        return
    runs.expect(way, removals(runs.read("got.m")) == removals(plain["manifest"]), "in removals")
    runs.expect(way, runs.read("got.c") == plain["clusters"], "in clusters")
    if output.endswith(".jsonl"):
        runs.expect(way, runs.read(output) == plain["survivors"], "in survivors")


def append(runs, way, options, lines, days):
    """Give the documents in some days, each against what was added before.

    What survives of a day is what a run over all documents so far keeps of it.
    """
    seen = f"{way}.sketch"
    for day in range(len(days) - 1):
        first, end = (int(days[at] * len(lines)) for at in (day, day + 1))
        runs.write("day.jsonl", lines[first:end])
        runs.write("so far.jsonl", lines[:end])
        done = runs.run("dedup", "-q", *options, "--text-format", "html", "day.jsonl", "--against", seen, "--append",
                        "-o", "new.jsonl")
        if done.returncode != 0:
            runs.failures.append(f"{way}: {done.stderr.strip()}")
            return
        runs.must("dedup", "-q", *options, "--text-format", "html", "so far.jsonl", "-o", "kept.jsonl")
        kept = set(runs.read("kept.jsonl").splitlines())
        wanted = [line for line in lines[first:end] if line.rstrip("\n") in kept]
        runs.expect(way, runs.read("new.jsonl").splitlines(keepends=True) == wanted, f"in survivors of day {day + 1}")
    os.remove(runs.path(seen))


def compare_commands(runs, options):
    """Pairs and filter say of sketch files what they say of documents."""
    html = ["--text-format", "html"]
    runs.must("pairs", "-q", *options, *html, "all.jsonl", "-o", "a.tsv")
    runs.must("pairs", "-q", *options, "all.sketch", "-o", "b.tsv")
    runs.expect("pairs of sketches", runs.read("a.tsv") == runs.read("b.tsv"))
    runs.must("sketch", "-q", *options, *html, "prototypes.jsonl", "-o", "prototypes.sketch")
    runs.must("filter", "-q", *options, *html, "-p", "prototypes.jsonl", "all.jsonl", "-o", "a.jsonl")
    runs.must("filter", "-q", *options, *html, "-p", "prototypes.sketch", "all.jsonl", "-o", "b.jsonl")
    runs.expect("filter by sketches", runs.read("a.jsonl") == runs.read("b.jsonl"))


def check_index(runs, options, lines, is_directed):
    """An index of records, built, added to and cut down, gives the pairs of old and new documents."""
    html = ["--text-format", "html"]
    cut = len(lines) // 2
    for name, part in (("first", lines[:cut // 2]), ("second", lines[cut // 2:cut]), ("rest", lines[cut:])):
        runs.write(f"{name}.jsonl", part)
    runs.write("ids", [f"{i}\n" for i in range(0, cut, 5)])
    runs.must("index", "build", "-q", "--records", *options, *html, "first.jsonl", "-o", "all.index")
    runs.must("index", "add", "-q", *html, "all.index", "second.jsonl", *options)
    wanted = [pair for pair in (line.split("\t") for line in runs.read("a.tsv").splitlines())
              if int(pair[0]) < cut <= int(pair[1])]
    if is_directed:  # what the index has in it is found, not what it has a part of
        wanted = [pair for pair in wanted if pair[6] == "1"]
    for removes in (False, True):
        if removes:
            runs.must("index", "remove", "all.index", "ids")
            wanted = [pair for pair in wanted if int(pair[0]) % 5]
        runs.must("index", "query", "-q", *html, "all.index", "rest.jsonl", "-o", "found.tsv", *options)
        found = [line.split("\t") for line in runs.read("found.tsv").splitlines()]
        runs.expect("index of records", sorted(found) == sorted(wanted), "after a removal" if removes else "")


def sketch_all(runs, options):
    """Write the records of all documents, whole and in parts, whatever the later runs ask for."""
    documents = ["--text-format", "html", "all.jsonl"]
    runs.must("sketch", "-q", *options, *RECORD, *documents, "-o", "all.sketch")
    for i in (1, 2, 3):
        runs.must("sketch", "-q", *options, *RECORD, "--part", f"{i}/3", *documents, "-o", f"part{i}.sketch")


def check_with(runs, given, options, asked, lines, samples):
    """Compare the ways of running of one recipe and these options; return how many documents go.

    A recipe that looks up samples of shingles refuses sketches of texts, and forms are told apart by texts alone.
    """
    documents = ["--text-format", "html", "all.jsonl"]
    runs.must("dedup", "-q", *given, *asked, *documents, "-o", "plain.jsonl", "--manifest", "plain.m", "--clusters",
              "plain.c", program=runs.plain)
    plain = {"manifest": runs.read("plain.m"), "clusters": runs.read("plain.c"), "survivors": runs.read("plain.jsonl")}
    options = [*options, *asked]
    checkpoint = [*options, "--checkpoint", f"checkpoint{''.join(asked)}"]
    dedup(runs, "documents", options, documents, "got.jsonl", plain)
    dedup(runs, "memory", [*options, "--memory", "64M"], documents, "got.jsonl", plain)
    needs_texts = "--forms" in asked
    if not needs_texts:
        dedup(runs, "sketches", options, ["all.sketch"], "got.sketch", plain)
        dedup(runs, "sketches, memory", [*options, "--memory", "64M"], ["all.sketch"], "got.sketch", plain)
        dedup(runs, "parts", options, ["part1.sketch", "part2.sketch", "part3.sketch"], "got.sketch", plain)
    if not samples:
        dedup(runs, "known", [*options, "--known-sketches", "part2.sketch"], documents, "got.jsonl", plain)
        dedup(runs, "checkpoint", checkpoint, documents, "got.jsonl", plain)
        dedup(runs, "checkpoint again", checkpoint, documents, "got.jsonl", plain)
        dedup(runs, "checkpoint, memory", [*checkpoint, "--memory", "64M"], documents, "got.jsonl", plain)
    if needs_texts or "none" in asked:  # which removes survivors: they cannot be appended then
        return len(removals(plain["manifest"]))
    append(runs, "one day", options, lines, (0, 1))
    if "--keep" not in asked and "--prefer" not in asked:
        append(runs, "three days", options, lines, CUTS)
    return len(removals(plain["manifest"]))


def check(runs, recipe, lines, options_checked):
    runs.write("all.jsonl", lines)
    runs.write("prototypes.jsonl", lines[: len(lines) // 3])
    given = ["--recipe", recipe, *table_options(runs, recipe, runs.plain)]
    options = ["--recipe", recipe, *table_options(runs, recipe, runs.program)]
    sketch_all(runs, options)
    compare_commands(runs, options)
    shown = runs.must("recipe", "show", *given[1:2]).stdout.splitlines()
    is_directed = "verify = containment" in shown
    check_index(runs, options, lines, is_directed)
    n_removed = 0
    for asked in options_checked:
        if "--security-field" in asked and "cluster = star" not in shown:
            continue  # which is refused
        if is_directed and any("cluster=" in word for word in asked):
            continue  # likewise
        before = len(runs.failures)
        n_removed += check_with(runs, given, options, asked, lines, is_directed)
        runs.failures[before:] = [f"{' '.join(asked)}: {failure}" for failure in runs.failures[before:]]
    return n_removed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--plain")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--documents", type=int, default=120)
    parser.add_argument("--all", action="store_true", help="with every set of options, not one that is drawn")
    parser.add_argument("recipes", nargs="*")
    given = parser.parse_args()
    program = os.path.abspath(given.program)
    plain = os.path.abspath(given.plain) if given.plain else program
    listed = subprocess.run([program, "recipe", "list"], capture_output=True, text=True, check=True).stdout
    n_failed = n_removed = 0
    for recipe in given.recipes or [line.split()[0] for line in listed.splitlines() if line.strip()]:
        rng = random.Random(given.seed)
        chosen = WITH if given.all else [WITH[random.Random(f"{recipe} {given.seed}").randrange(len(WITH))]]
        with tempfile.TemporaryDirectory() as folder:
            runs = Runs(program, plain, folder)
            n_removed += check(runs, recipe, corpus(rng, given.documents), chosen)
        for failure in runs.failures:
            print(f"{recipe} (--seed {given.seed}): {failure}")
        n_failed += len(runs.failures) > 0
    print(f"{n_failed} recipes differ; {n_removed} documents were removed by plain runs")
    return 1 if n_failed or not n_removed else 0


if __name__ == "__main__":
    sys.exit(main())
