"""How many edits of words a recipe stands: edited articles that are still paired with their originals."""

import json
import os
import re
import subprocess
import sys

import places
import report
from measure_recipes import shipped

RESULTS = "edits.jsonl"
EDITS = [1, 2, 5, 10, 20]


def options(parser):
    parser.add_argument("--set", default="reuters21578", help="default: %(default)s")
    parser.add_argument("--documents", type=int, default=3000, help="default: %(default)s")
    parser.add_argument("--words", type=int, default=100, help="at least; default %(default)s")


def run(*command, statuses=(0,)):
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode not in statuses:
        sys.exit(f"{' '.join(command)}: {process.stderr}")
    return process.stdout


def write(path, documents, mark):
    with open(path, "w", encoding="utf-8") as out:
        for d in documents:
            print(json.dumps({"id": mark + d["id"], "text": d["text"]}), file=out)


def make_texts(corpus, args):
    """The originals, and the same with so many edits of each, by their number."""
    folder = os.path.join(places.BUILD, "edits")
    os.makedirs(folder, exist_ok=True)
    with open(corpus, encoding="utf-8") as f:
        documents = [d for d in map(json.loads, f) if len(d["text"].split()) >= args.words]
    documents = documents[: args.documents]
    path = {0: os.path.join(folder, "a.jsonl")}
    write(path[0], documents, "a")
    write(os.path.join(folder, "b.jsonl"), documents, "b")
    editor = os.path.join(places.BENCH, "edit_words.py")
    for n in EDITS:
        path[n] = os.path.join(folder, f"b{n}.jsonl")
        made = run(sys.executable, editor, "--edits", str(n), os.path.join(folder, "b.jsonl"))
        with open(path[n], "w", encoding="utf-8") as out:
            out.write(made)
    return path, len(documents)


def table_for(binary, recipe, corpus):
    """Its df table, where it wants one, as options."""
    text = run(binary, "recipe", "show", recipe)
    if "\ntemplate_df =" in text:
        table = os.path.join(places.BUILD, "edits", "runs.df")
        run(binary, "df", "build", "-q", "--features", "sketch", "-w", "5", "-o", table, corpus)
        signature = re.search(r"\[signature (.*)\]", text)[1]
        return ["--set", f"{signature}.template_df={table}"]
    if "\ndf =" not in text:
        return []
    table = os.path.join(places.BUILD, "edits", "words.df")
    run(binary, "df", "build", "-q", "--recipe", recipe, "-o", table, corpus)
    return ["--df", table]


def pairs(binary, recipe, df, original, edited):
    """How many edited documents are paired with their own originals, and with others."""
    found = run(
        *[binary, "pairs", "-q", "--recipe", recipe, *df, original, edited], statuses=(0, 1)
    )
    own = other = 0
    for line in found.splitlines():
        x, y = line.split("\t")[:2]
        if x[0] != y[0]:
            own += x[1:] == y[1:]
            other += x[1:] != y[1:]
    return own, other


def measure(binary, corpus, path, n_documents):
    for recipe in shipped(binary):
        df = table_for(binary, recipe, corpus)
        found = [pairs(binary, recipe, df, path[0], path[n]) for n in EDITS]
        yield {
            "recipe": recipe,
            "documents": n_documents,
            "edits": EDITS,
            "share": [own / n_documents for own, _ in found],
            "other": found[0][1],
        }


def main(args):
    session = places.new_session("bench/run edits")
    try:
        binary = places.neardup(args.neardup)
        corpus = places.corpus(args.set)
    except places.Skipped as why:
        places.say(f"skipped: {why}")
        return 77
    path, n_documents = make_texts(corpus, args)
    for row in measure(binary, corpus, path, n_documents):
        places.append(RESULTS, dict(session, set=args.set, **row))
    print(report.edits())
    return 0
