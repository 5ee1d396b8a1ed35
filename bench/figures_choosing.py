"""The tables of docs/choosing.md: what each recipe and threshold finds, on which corpus."""

import json

import choosing_corpora as corpora
import places
from figures import Command, percent
from figures_recipes import runs_table
from figures_uses import caught, halves, news_words

EDITS = [corpora.lengthened, corpora.shortened, corpora.exchanged, corpora.misspelt]
GRADES = ["cut", "light", "heavy"]


def labelled(tools, name, rows):
    """A table of pairs with labels."""
    with open(tools.path(name), "w", encoding="utf-8") as out:
        out.writelines("\t".join([*pair, str(label)]) + "\n" for pair, label in rows)
    return tools.path(name)


def rated(tools, truth, listed, rate):
    """A rate of `neardup eval` with its interval, as the page writes it, and the row of the result."""
    command = ["eval", "--json", "--universe", "labelled", "--truth", truth, listed]
    found = json.loads(tools.run(*command))
    return found, [found[rate + end] for end in ("", "_low", "_high")]


def shown(values, part, whole):
    """A share, with its interval where there is one."""
    ends = [f"{100 * v:.1f}" if 0 < v < 1 else f"{100 * v:g}" for v in values[1:] if v is not None]
    return percent(part, whole) + (f" ({'–'.join(ends)})" if len(set(ends)) > 1 else "")


def found(tools, case, *options):
    """The share of the truth that is listed, and of how many pairs: as the page shows it."""
    path, truth, _ = case
    listed = tools.pairs_file(*options, path)
    positives = labelled(tools, "truth.tsv", ((sorted(p), 1) for p in sorted(truth, key=sorted)))
    row, values = rated(tools, positives, listed, "recall")
    return shown(values, row["right"], row["right"] + row["missed"]), f"{len(truth):,}"


def wrong(tools, case, *options):
    """The share of the listed pairs that is wrong: those that `neardup eval` finds different."""
    path, _, is_wrong = case
    listed = tools.pairs_file(*options, path)
    rows = [((a, b), 0 if is_wrong(a, b) else 1) for a, b in tools.listed(listed)]
    row, (_, low, high) = rated(tools, labelled(tools, "labels.tsv", rows), listed, "precision")
    ends = (None, None, None) if low is None else (None, 1 - high, 1 - low)
    return shown(ends, row["listed"] - row["right"], row["listed"])


def row(tools, case, options, *files):
    """The share found, the share of those listed that is wrong, and of how many pairs."""
    share, pairs = found(tools, case, *options.split(), *files)
    return [Command(options), share, wrong(tools, case, *options.split(), *files), pairs]


def without_runs(tools, case, recipe, signature, name):
    """A row of a recipe that leaves out what many documents share, counted in the documents."""
    table = runs_table(tools, case[0], name)
    return row(tools, case, f"--recipe {recipe}", "--set", f"{signature}.template_df={table}")


def titles(tools):
    """Found of the titles after one edit; wrong of the pairs of real titles."""
    options = "--recipe short-texts"
    share, pairs = found(tools, corpora.edited_titles(tools, EDITS), *options.split())
    return [Command(options), share, wrong(tools, corpora.titles(tools), *options.split()), pairs]


def mail(tools, options, *files):
    """Spam caught by the other half of the spam, and ham taken for spam."""
    right = spam = wrong = ham = 0
    for name in ("spamassassin", "enron-spam"):
        prototypes, stream, ids, n_ham = halves(tools, name)
        caught_spam, caught_ham = caught(tools, prototypes, stream, ids, *options.split(), *files)
        right, wrong = right + caught_spam, wrong + caught_ham
        spam, ham = spam + len(ids), ham + n_ham
    return [Command(options), percent(right, spam), wrong, f"{spam:,}", f"{ham:,}"]


def code(tools, packages, versions):
    try:
        case = corpora.code(tools, packages)
    except places.Skipped as why:
        places.say(f"skipped: {why}")
        return [None] * 5
    cells = without_runs(tools, case, "code", "code", packages[0])
    return [*cells[:-1], *versions, cells[-1]]


def long_reports(tools):
    cells = row(tools, corpora.long_reports(tools), "")
    return [*cells[:-1], f"{corpora.LONG:,}", cells[-1]]


def choosing(tools):
    """The rows of the table of purposes, in its order."""
    news, manual = corpora.news(tools), corpora.manual(tools)
    return [
        *row(tools, news, ""),
        *row(tools, news, "--threshold 0.5 --within day"),
        *row(tools, corpora.edited_pages(tools), "--threshold 0.55"),
        *without_runs(tools, manual, "framed-pages", "page", "manual"),
        *mail(tools, "--threshold 0.5"),
        *mail(tools, "--recipe kolcz-2004-mail", "--df", news_words(tools)),
        *titles(tools),
        *long_reports(tools),
        *row(tools, corpora.versions(tools), "--threshold 0.5"),
        *code(tools, corpora.BOOST, ["1.74", "1.81"]),
        *code(tools, corpora.GNU, ["11", "12"]),
        *row(tools, corpora.guide(tools, "zh_CN"), ""),
        *row(tools, corpora.guide(tools, "ja"), ""),
        *reversed(row(tools, corpora.guide(tools, "en"), "")[1::2]),
        *row(tools, corpora.embedded(tools), "--verify containment"),
        *["2", "10"],  # times the length of the article
        *row(tools, corpora.answers(GRADES), "--verify containment --threshold 0.1"),
    ]


def sketches_err(tools):
    """Pairs that a simhash lists, of texts with less than half in common."""
    return [wrong(tools, corpora.versions(tools), "--recipe", "manku-2007")]


MEASURES = {
    "choosing": choosing,
    "sketches-err": sketches_err,
}
