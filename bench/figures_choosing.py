"""The tables of docs/choosing.md: what each recipe and threshold finds, on which corpus."""

import choosing_corpora as corpora
import places
from figures import Command, percent
from figures_recipes import runs_table
from figures_uses import caught, halves, news_words

EDITS = [corpora.lengthened, corpora.shortened, corpora.exchanged, corpora.misspelt]
GRADES = ["cut", "light", "heavy"]


def found(tools, case, *options):
    """(pairs of the truth that are listed, the truth, listed wrongly, listed)."""
    path, truth, is_wrong = case
    listed = tools.pairs(*options, path)
    right = len(truth & set(map(frozenset, listed)))
    return right, len(truth), sum(is_wrong(a, b) for a, b in listed), len(listed)


def row(tools, case, options, *files):
    """The share found, the share of those listed that is wrong, and of how many pairs."""
    right, truth, wrong, listed = found(tools, case, *options.split(), *files)
    return [Command(options), percent(right, truth), percent(wrong, listed), f"{truth:,}"]


def without_runs(tools, case, recipe, signature, name):
    """A row of a recipe that leaves out what many documents share, counted in the documents."""
    table = runs_table(tools, case[0], name)
    return row(tools, case, f"--recipe {recipe}", "--set", f"{signature}.template_df={table}")


def titles(tools):
    """Found of the titles after one edit; wrong of the pairs of real titles."""
    options = "--recipe short-texts"
    shares = [found(tools, corpora.edited_titles(tools, e), *options.split()) for e in EDITS]
    right, truth = sum(s[0] for s in shares), sum(s[1] for s in shares)
    _, _, wrong, listed = found(tools, corpora.titles(tools), *options.split())
    return [Command(options), percent(right, truth), percent(wrong, listed), f"{truth:,}"]


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
    """Of the pairs that a simhash lists, those of another text with less than half in common."""
    _, _, wrong, listed = found(tools, corpora.versions(tools), "--recipe", "manku-2007")
    return [percent(wrong, listed)]


MEASURES = {
    "choosing": choosing,
    "sketches-err": sketches_err,
}
