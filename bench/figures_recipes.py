"""What docs/recipes.md says of the corpora."""

import argparse
import datetime
import json
import re

import measure_edits
import places
from figures import share
from figures_uses import documents, write

FRAMED = "boost-docs-2-versions"
FIELDS = "headline title descriptors byline desk section page year weekday".split()
SAME_ON_PLAIN_TEXT = ["seshasai-2009-extra-metadata", "seshasai-2009-tagged-text"]
TABLES = ["reuters21578", "enron-spam", "ota-small"]

# Seshasai 2009, section 6.4.1: two reports that were taken for near duplicates, and what both had.
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


def edits(tools):
    """The table of bench/run edits."""
    args = argparse.Namespace(set="reuters21578", documents=3000, words=100)
    corpus = places.corpus(args.set)
    path, n = measure_edits.make_texts(corpus, args)
    cells = []
    for row in measure_edits.measure(tools.binary, corpus, path, n):
        if row["recipe"] in SAME_ON_PLAIN_TEXT:
            continue
        cells += [share(round(x * n), n) for x in row["share"]] + [row["other"]]
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


def dated(tools):
    """News with its headline, topics, year and weekday as fields; its headline and day, and its words."""
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
                "descriptors": "; ".join(d["topics"]),
                "year": str(day.year),
                "weekday": day.strftime("%A"),
            }
        )
    return write(tools.path("dated.jsonl"), records), known


def half_the_words(pair, known):
    a, b = known[pair[0]], known[pair[1]]
    return 2 * len(a & b) >= len(a | b)


def metadata_share(tools):
    """Bits between the paper's pair by three df tables; pairs of news within 3 bits, and those alike."""
    reports = [dict(BOTH, id=i, text=t) for i, t in (("may", MAY), ("december", DECEMBER))]
    trade = write(tools.path("trade.jsonl"), reports)
    news, known = dated(tools)
    recipe = "seshasai-2009-extra-metadata"
    tables = {}
    for name in TABLES:
        tables[name] = tools.path(f"{name}.words.df")
        tools.run("df", "build", "-q", "--recipe", recipe, "-o", tables[name], places.corpus(name))
    cells = []
    for weight in (1, 2, 3, 4, 5, 6):
        fields = "simhash.fields=" + " ".join(f"{field}:{weight}" for field in FIELDS)
        for name in TABLES:
            cells.append(bits_apart(tools, recipe, tables[name], fields, trade))
        options = ["--recipe", recipe, "--df", tables["reuters21578"], "--set", fields]
        found = tools.pairs(*options, news)
        right = sum(half_the_words(pair, known) for pair in found)
        cells += [len(found), share(right, len(found), 2)]
    return cells


def bits_apart(tools, recipe, table, fields, path):
    options = ["--recipe", recipe, "--df", table, "--set", fields]
    lines = tools.run("sketch", "-q", *options, path).splitlines()
    a, b = (int(json.loads(line)["signatures"]["simhash"][0], 16) for line in lines)
    return (a ^ b).bit_count()


MEASURES = {
    "edits": edits,
    "template-counts": template_counts,
    "metadata-share": metadata_share,
}
