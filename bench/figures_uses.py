"""The figures of docs/uses.md on the corpora."""

import json
import re
from collections import defaultdict

import places
from figures import percent

KINDS = ["cut", "light", "heavy", "non"]


def documents(name):
    with open(places.corpus(name), encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def table(name, what):
    """The rows of a table beside a corpus, without its header."""
    path = places.unpack(f"{name}/{what}.tsv.zst", f"{name}.{what}.tsv")
    with open(path, encoding="utf-8") as f:
        return [line.rstrip("\n").split("\t") for line in f][1:]


def write(path, records):
    with open(path, "w", encoding="utf-8") as out:
        for record in records:
            print(json.dumps(record), file=out)
    return path


def copied_passages(tools):
    """Answers by grade, and the share of an answer's words within passages of its article."""
    text = {d["id"]: d["text"] for d in documents("clough-stevenson")}
    shares = defaultdict(list)
    paths = [tools.path("article.txt"), tools.path("answer.txt")]
    for answer, article, _, grade in table("clough-stevenson", "labels"):
        for path, i in zip(paths, (article, answer)):
            with open(path, "w", encoding="utf-8") as out:
                out.write(text[i])
        command = ["compare", *paths, "--json", "--show", "passages", "--least", 5]
        found = json.loads(tools.run(*command, statuses=(0, 1)))
        shares[grade].append(passages_share(found))
    means = [sum(shares[k]) / len(shares[k]) for k in KINDS]
    return [len(shares[k]) for k in KINDS] + [f"{m:.2f}"[1:] for m in means]


def passages_share(found):
    return found["covered_b"] / max(1, found["b"]["tokens"])


def halves(tools, name):
    """Every second spam mail as a prototype; all other mails as the stream."""
    spam = [d for d in documents(name) if d["label"] == "spam"]
    ham = [d for d in documents(name) if d["label"] == "ham"]
    prototypes = write(tools.path(f"{name}.prototypes.jsonl"), spam[::2])
    stream = write(tools.path(f"{name}.stream.jsonl"), spam[1::2] + ham)
    return prototypes, stream, {d["id"] for d in spam[1::2]}, len(ham)


def caught(tools, prototypes, stream, spam, *options):
    out = tools.run("filter", "-q", "-p", prototypes, stream, *options, statuses=(0, 1))
    ids = [json.loads(line)["id"] for line in out.splitlines()]
    return sum(i in spam for i in ids), sum(i not in spam for i in ids)


def filter_spam(tools):
    cells = []
    for name in ("spamassassin", "enron-spam"):
        prototypes, stream, spam, _ = halves(tools, name)
        at_8, ham_8 = caught(tools, prototypes, stream, spam)
        at_5, ham_5 = caught(tools, prototypes, stream, spam, "--threshold", "0.5")
        cells += [percent(at_8, len(spam)), percent(at_5, len(spam)), ham_8, ham_5, "0.5"]
    return cells


def news_words(tools):
    """The lexicon of news that kolcz-2004-mail is given."""
    words, recipe = tools.path("news.df"), "kolcz-2004-mail"
    tools.run("df", "build", "-q", "--recipe", recipe, "-o", words, places.corpus("reuters21578"))
    return words


def filter_imatch(tools):
    words = news_words(tools)
    shares, ham = [], 0
    for name in ("spamassassin", "enron-spam"):
        prototypes, stream, spam, _ = halves(tools, name)
        options = ["--recipe", "kolcz-2004-mail", "--df", words]
        found, wrong = caught(tools, prototypes, stream, spam, *options)
        shares.append(percent(found, len(spam)))
        ham += wrong
    return shares + ([ham] if ham else [])


def track_versions(tools):
    """Later versions of the terms of service: in the simhash, in some character, in nothing."""
    series = {row[0]: row[1:] for row in table("ota-small", "clusters")}
    path = write(
        tools.path("versions.jsonl"),
        (dict(d, series=series[d["id"]][0], at=series[d["id"]][1]) for d in documents("ota-small")),
    )
    rows = tools.run("track", "-q", path, "--series", "series", "--time", "at").splitlines()
    columns = rows[0].split("\t")
    change = [dict(zip(columns, row.split("\t")))["change"] for row in rows[1:]]
    later = [c for c in change if c != "new"]
    bits = sum(c not in ("none", "slight") for c in later)
    return [f"{len(later):,}", f"{bits:,}", f"{later.count('slight'):,}"] + (
        [f"{later.count('none'):,}"] if later.count("none") else []
    )


def mirrors_guide(tools):
    path = tools.path("hosts.jsonl")
    pages = []
    for d in documents("debian-installation-guide"):
        host, _, page = d["id"].partition(":")
        pages.append({"url": f"http://{host}/{page}", "text": d["text"]})
    write(path, pages)
    hosts = defaultdict(set)
    for page in pages:
        hosts[re.match("http://([^/]*)", page["url"])[1]].add(page["url"])
    found = []
    for sample in ([], ["--sample", "0"]):
        lines = tools.run("mirrors", "-q", path, "--json", *sample, statuses=(0, 1)).splitlines()
        found.append({frozenset((r["a"], r["b"])): r["score"] for r in map(json.loads, lines)})
    score = [
        f"{scores[frozenset(pair)]:.3f}"[1:]
        for scores in found
        for pair in (("amd64", "i386"), ("mips64el", "mipsel"))
    ]
    pages_each = round(sorted(map(len, hosts.values()))[len(hosts) // 2], -1)
    return [len(found[0]), *score[:2], "100", f"{pages_each:,}", *score[2:]]


MEASURES = {
    "copied-passages": copied_passages,
    "filter-spam": filter_spam,
    "filter-imatch": filter_imatch,
    "track-versions": track_versions,
    "mirrors-guide": mirrors_guide,
}
