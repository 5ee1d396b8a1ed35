"""How many edits of words a recipe stands: edited articles that are still paired with their originals.

The curve of each recipe over the share of words that were edited is drawn as docs/edits.svg, with its figures in
docs/edits.tsv (--write).
"""

import io
import itertools
import json
import os
import re
import subprocess
import sys

import places
import report
from measure_recipes import shipped

RESULTS = "edits.jsonl"
# Shares of the words, in thousandths: a quarter each is inserted, deleted, swapped with the next and replaced.
SHARES = [5, 10, 20, 50, 100, 200, 400]
# Without fields and markup they are seshasai-2009.
SAME_ON_PLAIN_TEXT = ["seshasai-2009-extra-metadata", "seshasai-2009-tagged-text"]
SHARES_TEXT = [f"{share / 10:g}%" for share in SHARES]


def options(parser):
    parser.add_argument("--set", default="reuters21578", help="default: %(default)s")
    parser.add_argument("--documents", type=int, default=3000, help="default: %(default)s")
    parser.add_argument("--words", type=int, default=100, help="at least; default %(default)s")
    parser.add_argument("--write", action="store_true", help="write docs/edits.svg and docs/edits.tsv")


def run(*command):
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode:
        sys.exit(f"{' '.join(command)}: {process.stderr}")
    return process.stdout


def groups(binary, corpus, folder):
    """The options of `sweep` by which all recipes are tried, each with the df table that it wants."""
    tables, templates = {}, []
    for recipe in shipped(binary):
        text = run(binary, "recipe", "show", recipe)
        terms = re.findall(r"^(?:df|stem|join_apostrophes) =.*", text, re.M)
        if "\ntemplate_df =" in text:
            templates.append((recipe, re.search(r"\[signature (.*)\]", text)[1]))
        elif recipe not in SAME_ON_PLAIN_TEXT:
            tables.setdefault(tuple(terms) if "\ndf =" in text else (), []).append(recipe)
    for number, (terms, recipes) in enumerate(tables.items()):
        table = os.path.join(folder, f"{number}.df")
        if terms:
            run(binary, "df", "build", "-q", "--recipe", recipes[0], "-o", table, corpus)
        yield [*(["--df", table] if terms else []), "--set", "recipe=" + ",".join(recipes)]
    table = os.path.join(folder, "runs.df")
    run(binary, "df", "build", "-q", "--features", "sketch", "-w", "5", "-o", table, corpus)
    for recipe, signature in templates:
        yield ["--set", f"recipe={recipe}", "--set", f"{signature}.template_df={table}"]


def measure(binary, corpus, args):
    """A row for each recipe: how many documents are found by their edited copies, by the share of words edited."""
    folder = os.path.join(places.BUILD, "edits")
    os.makedirs(folder, exist_ok=True)
    settings = list(groups(binary, corpus, folder))
    rows = {}
    for share in SHARES:
        both = os.path.join(folder, f"{share}.jsonl")
        edits = [word for kind in ("insert", "delete", "swap", "replace") for word in (f"--{kind}", f"{share}/4000")]
        texts = run(binary, "perturb", "-q", "--beside", "--least", str(args.words), *edits, corpus)
        with open(both, "w", encoding="utf-8") as out:
            out.writelines(itertools.islice(io.StringIO(texts), 2 * args.documents))
        for options in settings:
            found = run(binary, "sweep", "-q", "--json", "--resamplings", "0", *options, "--truth", both, both)
            for row in map(json.loads, found.splitlines()):
                rows.setdefault(row["recipe"], []).append(row)
    for recipe in sorted(rows):
        first = rows[recipe][0]
        yield {
            "recipe": recipe,
            "documents": first["right"] + first["missed"],
            "edited": [share / 1000 for share in SHARES],
            "share": [row["recall"] for row in rows[recipe]],
            "other": first["wrong"],
        }


# ---- The figure: a panel for each recipe, with all others in grey

PANEL, GAP, COLUMNS, TOP, LEFT = 118, 38, 5, 108, 40
NAME_MAX = 22


def points(values, x, y):
    """Place a curve in the panel at x, y, as the points of a polyline."""
    step = PANEL / (len(values) - 1)
    return " ".join(f"{x + i * step:.1f},{y + PANEL * (1 - v):.1f}" for i, v in enumerate(values))


def panel(row, rows, x, y, is_left, is_last):
    """Draw one recipe."""
    step = PANEL / (len(SHARES) - 1)
    yield f'<rect x="{x}" y="{y}" width="{PANEL}" height="{PANEL}" class="box"/>'
    yield f'<line x1="{x}" x2="{x + PANEL}" y1="{y + PANEL / 2}" y2="{y + PANEL / 2}" class="grid"/>'
    for other in rows:
        if other is not row:
            yield f'<polyline class="other" points="{points(other["share"], x, y)}"/>'
    yield f'<polyline class="line" points="{points(row["share"], x, y)}"/>'
    name = row["recipe"].replace("seshasai-2009-", "… ")
    # A name that would reach into the next panel is drawn closer.
    fitted = f' textLength="{PANEL + GAP - 12}" lengthAdjust="spacingAndGlyphs"' if len(name) > NAME_MAX else ""
    yield f'<text x="{x}" y="{y - 6}" class="name"{fitted}>{name}</text>'
    if is_left:
        for value in (0, 0.5, 1):
            yield f'<text x="{x - 5}" y="{y + PANEL * (1 - value) + 4:.1f}" text-anchor="end">{value:g}</text>'
    if is_last:
        for i in range(1, len(SHARES), 2):
            label = f"{SHARES[i] / 10:g}%"
            yield f'<text x="{x + i * step:.1f}" y="{y + PANEL + 14}" text-anchor="middle">{label}</text>'


def draw(rows, n_documents):
    """Draw all recipes, those that stand most first."""
    rows = sorted(rows, key=lambda row: (-sum(row["share"]), row["recipe"]))
    height = TOP + -(-len(rows) // COLUMNS) * (PANEL + GAP)
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 {height}" width="800" height="{height}" '
        'font-family="sans-serif" font-size="10">'
    )
    yield (
        "<style>.box{fill:#fff;stroke:#ccc}.grid{stroke:#e4e4e4}.line{fill:none;stroke:#c44e33;stroke-width:2}"
        ".other{fill:none;stroke:#dfe3e7}.name{font-size:11px;font-weight:bold}.head{font-size:16px;font-weight:bold}"
        "text{fill:#222}.note{fill:#666;font-size:12px}</style>"
    )
    yield f'<rect width="800" height="{height}" fill="#fff"/>'
    yield f'<text x="{LEFT}" y="26" class="head">How many edited words each recipe stands</text>'
    notes = [
        f"Share of {n_documents:,} news articles that are still paired with their originals when this",
        "share of their words was inserted, deleted, swapped or replaced (a quarter each).",
        "Grey: all other recipes. …: a variant of seshasai-2009.",
    ]
    for i, note in enumerate(notes):
        yield f'<text x="{LEFT}" y="{44 + 16 * i}" class="note">{note}</text>'
    for i, row in enumerate(rows):
        x, y = LEFT + i % COLUMNS * (PANEL + GAP - 6), TOP + i // COLUMNS * (PANEL + GAP)
        yield from panel(row, rows, x, y, i % COLUMNS == 0, i + COLUMNS >= len(rows))
    yield "</svg>"


def write_figure(rows, n_documents):
    """Write the figure, and its figures, into docs/."""
    docs = os.path.join(places.ROOT, "docs")
    with open(os.path.join(docs, "edits.svg"), "w", encoding="utf-8") as out:
        out.writelines(line + "\n" for line in draw(rows, n_documents))
    with open(os.path.join(docs, "edits.tsv"), "w", encoding="utf-8") as out:
        print("recipe", *SHARES_TEXT, sep="\t", file=out)
        for row in rows:
            print(row["recipe"], *[f"{x:.4f}" for x in row["share"]], sep="\t", file=out)


def main(args):
    session = places.new_session("bench/run edits")
    try:
        binary = places.neardup(args.neardup)
        corpus = places.corpus(args.set)
    except places.Skipped as why:
        places.say(f"skipped: {why}")
        return 77
    rows = list(measure(binary, corpus, args))
    for row in rows:
        places.append(RESULTS, dict(session, set=args.set, **row))
    if args.write:
        write_figure(rows, rows[0]["documents"])
    print(report.edits())
    return 0
