"""The figures of docs/recipes.md on the corpora."""

import argparse
import datetime
import itertools
import json
import random
import re

import measure_perturb
import places
from figures import share
from figures_uses import documents, write

FRAMED = "boost-docs-2-versions"
METADATA = "seshasai-2009-extra-metadata"
SHARED = "headline title descriptors".split()
FIELDS = "headline title descriptors byline desk section page year weekday".split()
TABLES = ["reuters21578", "enron-spam", "ota-small"]

# Seshasai 2009, section 6.4.1: two reports that were taken for near duplicates, and what they had.
MAY = """Japan's merchandise trade surplus expanded 12.5 percent in May from the month a year earlier as
growth in exports outpaced the increase in imports. Though Japan's surplus increased to 694 billion yen
($5.8 billion) in the month, exports grew 3.5 percent, which was the slowest growth in 13 months. The effect
of severe acute respiratory syndrome, or SARS, in Asia was partly to blame."""
DECEMBER = """Japan's trade surplus hit 791 billion yen ($6.7 billion) in December, growing 19.9 percent
compared with December 2001; trade surplus with US grew 18.6 percent, to 624 billion yen."""
TITLE = "World Business Briefing | Asia: Japan: Trade Surplus Expands"
BOTH = {
    "headline": TITLE,
    "title": TITLE,
    "descriptors": "International Trade and World Market; Economic Conditions and Trends",
    "byline": "By Ken Belson (NYT)",
    "desk": "Business/Financial Desk",
    "section": "W",
    "page": "1",
    "year": "2003",
    "weekday": "Tuesday",
}
# Also printed there: two fields that both have, and those in which they differ.
MORE = {"normalized_byline": "Belson, Ken", "online_section": "Business"}
OWN = {
    "may": {"slug": "MB231847", "day": "24", "month": "6", "column": "1"},
    "december": {
        "slug": "MB231109",
        "day": "28",
        "month": "1",
        "column": "5",
        "location": "Japan",
        "person": "Belson, Ken",
    },
}
PRINTED = FIELDS + list(MORE) + list(OWN["december"])


def edits(tools):
    """The table of bench/run edits."""
    args = argparse.Namespace(set="reuters21578", documents=3000, words=100)
    corpus = places.corpus(args.set)
    cells = []
    for row in measure_perturb.measure(tools.binary, corpus, args):
        cells += [share(round(x * row["documents"]), row["documents"]) for x in row["share"]] + [row["other"]]
    return cells


def runs_table(tools, corpus, name):
    """The df table of runs of five words that framed-pages and code want."""
    path = tools.path(f"{name}.runs.df")
    tools.run("df", "build", "-q", "--features", "sketch", "-w", 5, "-o", path, corpus)
    return path


def same_page(pair):
    return pair[0].partition(":")[2] == pair[1].partition(":")[2]


def template_counts(tools):
    """Pairs of a manual's pages at 0.8, by how many pages make a run of words a part of the frame."""
    corpus = places.corpus(FRAMED)
    table = runs_table(tools, corpus, FRAMED)
    pages = {i.partition(":")[2] for i in (d["id"] for d in documents(FRAMED)) if i[:4] == "1.74"}
    both = sum(d["id"][:4] == "1.81" and d["id"][5:] in pages for d in documents(FRAMED))
    cells = []
    for count in (None, 50, 20, 8, 4):
        options = ["--recipe", "framed-pages", "--set", "match=resemblance(page) >= 0.8"]
        if count:
            options += ["--set", f"page.template_count={count}"]
            options += ["--set", f"page.template_df={table}"]
        else:
            options += ["--set", "page.template_count=0"]
        found = tools.pairs(*options, corpus)
        right = sum(map(same_page, found))
        cells += [f"{len(found):,}", share(right, len(found)), share(right, both)]
    return cells


def share_below(tools, recipe, table, corpus, factor):
    """Which fraction of a document's features lies below the factor, on the mean of 500 articles."""
    low, high = 0.0, 1.0
    for _ in range(10):
        drop = (low + high) / 2
        found = calibrated(tools, recipe, table, corpus, drop)
        low, high = (drop, high) if found < factor else (low, drop)
    return (low + high) / 2


def calibrated(tools, recipe, table, corpus, drop):
    """The factor of the greatest weight below which that fraction of the features lies."""
    options = ["--recipe", recipe, "--drop", f"{drop:.6f}", table, corpus]
    return float(tools.run("df", "calibrate", *options).splitlines()[-1].partition(" = ")[2])


def simhashes(tools, recipe, table, *options):
    command = ["sketch", "-q", "--recipe", recipe, "--df", table, *options, places.corpus("reuters21578")]
    return [json.loads(line)["signatures"]["simhash"] for line in tools.run(*command).splitlines()]


def thresholds(tools):
    """The words that the thesis' factors drop and keep, the factors that do as it wanted, and their effect."""
    table = tools.path("thresholds.df")
    tools.run("df", "build", "-q", "--recipe", "seshasai-2009", "-o", table, places.corpus("reuters21578"))
    long = [d for d in documents("reuters21578") if len(re.findall(r"\w+", d["text"])) >= 300]
    corpora = [places.corpus("reuters21578"), write(tools.path("long.jsonl"), long)]
    columns = []
    for recipe in ("seshasai-2009", "seshasai-2009-inverse-idf"):
        cells = []
        plain = simhashes(tools, recipe, table)
        changed = []
        for key in ("low=0.01", "top_share=0.5"):
            other = simhashes(tools, recipe, table, "--set", f"simhash.{key}")
            changed.append(f"{sum(a != b for a, b in zip(plain, other)):,}")
        for corpus in corpora:
            of = (tools, recipe, table, corpus)
            cells += [
                f"{share_below(*of, 0.01):.0%}",
                f"{calibrated(*of, 0.5):.4f}".lstrip("0"),
                f"{1 - share_below(*of, 0.5):.0%}",
                f"{calibrated(*of, 0.9):.4f}".lstrip("0"),
            ]
        columns.append(cells + changed)
    return [cell for row in zip(*columns) for cell in row]


def dated(tools):
    """News with its headline (twice, as there), topics, year and weekday as fields; and its words."""
    records, known = [], {}
    for d in documents("reuters21578"):
        headline, _, text = d["text"].partition("\n")
        day = re.match(r"\s*(\d+-[A-Z]{3}-\d{4})", d["date"])[1]
        day = datetime.datetime.strptime(day, "%d-%b-%Y")
        known[d["id"]] = frozenset(re.findall(r"\w+", text.lower()))
        records.append(
            {
                "id": d["id"],
                "text": text,
                "headline": headline,
                "title": headline,
                "descriptors": "; ".join(d["topics"]),
                "year": str(day.year),
                "weekday": day.strftime("%A"),
                "day": day.strftime("%d %B"),
            }
        )
    return write(tools.path("dated.jsonl"), records), known


def half_the_words(pair, known):
    a, b = known[pair[0]], known[pair[1]]
    return 2 * len(a & b) >= len(a | b)


def followed_up(news, known):
    """Articles of one headline and the same topics, on different days, with less than half of their words in common."""
    groups = {}
    with open(news, encoding="utf-8") as lines:
        for d in map(json.loads, lines):
            if len(re.findall("[A-Za-z]+", d["headline"])) >= 3 and d["descriptors"] and len(known[d["id"]]) >= 10:
                groups.setdefault((d["headline"].strip(), d["descriptors"]), []).append(d)
    pairs = (pair for group in groups.values() for pair in itertools.combinations(group, 2))
    return [
        (a["id"], b["id"])
        for a, b in pairs
        if a["day"] != b["day"] and not half_the_words((a["id"], b["id"]), known)
    ]


def metadata_share(tools):
    """By the weight: bits between the paper's pair, with three df tables and with all fields; what becomes of news."""
    reports = [dict(BOTH, **MORE, **OWN[i], id=i, text=t) for i, t in (("may", MAY), ("december", DECEMBER))]
    trade = write(tools.path("trade.jsonl"), reports)
    news, known = dated(tools)
    wanted = followed_up(news, known)
    rng, ids = random.Random(2009), sorted(known)
    strangers = [tuple(rng.sample(ids, 2)) for _ in range(10000)]
    tables = {}
    for name in TABLES:
        tables[name] = tools.path(f"{name}.words.df")
        tools.run("df", "build", "-q", "--recipe", METADATA, "-o", tables[name], places.corpus(name))
    own = tables["reuters21578"]
    cells = []
    for weight in (1, 2, 3, 4, 5, 6, 8):
        for name in TABLES:
            both = fingerprints(tools, tables[name], FIELDS, weight, trade)
            cells.append((both["may"] ^ both["december"]).bit_count())
        both = fingerprints(tools, own, PRINTED, weight, trade)
        cells.append((both["may"] ^ both["december"]).bit_count())
        shared = fingerprints(tools, own, SHARED, weight, news)
        near = sum((shared[a] ^ shared[b]).bit_count() <= 3 for a, b in wanted)
        cells.append(share(near, len(wanted), 2))
        alone = fingerprints(tools, own, ["year"], weight, news)
        glued = sum((alone[a] ^ alone[b]).bit_count() <= 3 for a, b in strangers)
        cells.append(share(glued, len(strangers), 2))
        options = ["--recipe", METADATA, "--df", own, "--set", fields_of(FIELDS, weight)]
        found = tools.pairs(*options, news)
        right = sum(half_the_words(pair, known) for pair in found)
        cells += [len(found), share(right, len(found), 2)]
    return cells


def fields_of(names, weight):
    return "simhash.fields=" + " ".join(f"{name}:{weight}" for name in names)


def fingerprints(tools, table, names, weight, path):
    options = ["--recipe", METADATA, "--df", table, "--set", fields_of(names, weight)]
    rows = map(json.loads, tools.run("sketch", "-q", *options, path).splitlines())
    return {row["id"]: int((row["signatures"]["simhash"] or ["0"])[0], 16) for row in rows}


MEASURES = {
    "edits": edits,
    "template-counts": template_counts,
    "thresholds": thresholds,
    "metadata-share": metadata_share,
}
