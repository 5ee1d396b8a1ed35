"""The corpora of docs/choosing.md: which pairs should be found, and which of those listed are wrong.

A case is (path, pairs to be found, what says that a listed pair is wrong).
"""

import json
import os
import random
import re
import subprocess
from collections import defaultdict
from itertools import combinations

import places
from figures_uses import documents, table, write

WORD = re.compile(r"\w+")
LONG = 5000  # words of a long report


def pair_set(groups):
    return {frozenset(pair) for ids in groups.values() for pair in combinations(ids, 2)}


def grouped(ids, key):
    groups = defaultdict(list)
    for i in ids:
        groups[key(i)].append(i)
    return groups


def news(tools):
    """Should be found: one headline twice on one day. Wrong: of different days."""
    day, headline, records = {}, {}, []
    for d in documents("reuters21578"):
        headline[d["id"]] = d["text"].partition("\n")[0]
        day[d["id"]] = re.match(r"\s*(\d+-[A-Z]{3}-\d{4})", d["date"])[1]
        records.append({"id": d["id"], "text": d["text"], "day": day[d["id"]]})
    truth = pair_set(grouped(day, lambda i: (headline[i], day[i])))
    return write(tools.path("news.jsonl"), records), truth, lambda a, b: day[a] != day[b]


def edited_pages(_):
    """Should be found: a page and an edit of it. Wrong: pages with another article in the same frame."""
    rows = table("stia-web-variants", "labels")
    truth = {frozenset(row[:2]) for row in rows if row[2] == "1"}
    other = {frozenset(row[:2]) for row in rows if row[2] == "0"}
    path = places.corpus("stia-web-variants")
    return path, truth, lambda a, b: frozenset((a, b)) in other


def manual(_):
    """Should be found: a page in two versions of a manual. Wrong: different pages."""
    cluster = dict(table("boost-docs-2-versions", "clusters"))
    truth = pair_set(grouped(cluster, cluster.get))
    return places.corpus("boost-docs-2-versions"), truth, lambda a, b: cluster[a] != cluster[b]


TICKER, DIGITS = re.compile(r"<[^>]*>"), re.compile(r"\d[\d.,/-]*")


def titles_of(tools):
    records = [
        {"id": d["id"], "text": d["text"].partition("\n")[0]} for d in documents("reuters21578")
    ]
    return records, write(tools.path("titles.jsonl"), records)


def titles(tools):
    """Should be found: that is not known. Wrong: another number, or another company."""
    records, path = titles_of(tools)
    text = {r["id"]: r["text"] for r in records}

    def is_wrong(a, b):
        x, y = set(TICKER.findall(text[a])), set(TICKER.findall(text[b]))
        numbers = [sorted(DIGITS.findall(text[i])) for i in (a, b)]
        return bool(x and y and x != y) or numbers[0] != numbers[1]

    return path, set(), is_wrong


def misspelt(rng, words):
    at = rng.choice([i for i, w in enumerate(words) if len(w) >= 4] or [0])
    w = words[at]
    p = rng.randrange(1, max(2, len(w) - 1))
    return words[:at] + [w[:p] + w[p + 1 : p + 2] + w[p : p + 1] + w[p + 2 :]] + words[at + 1 :]


def shortened(rng, words):
    at = rng.randrange(len(words))
    return words[:at] + words[at + 1 :]


def lengthened(rng, words):
    at = rng.randrange(len(words) + 1)
    return words[:at] + [rng.choice(["NEW", "SAID", "AGAIN", "LATE", "TODAY"])] + words[at:]


def exchanged(rng, words):
    at = rng.randrange(len(words) - 1)
    return words[:at] + [words[at + 1], words[at]] + words[at + 2 :]


def edited_titles(tools, edits):
    """Should be found: 3,000 titles and the same after one edit of each kind."""
    records, _ = titles_of(tools)
    rng = random.Random(5)
    chosen = rng.sample([r for r in records if len(WORD.findall(r["text"])) >= 4], 3000)
    lines, truth = [], set()
    for r in chosen:
        lines.append({"id": "a" + r["id"], "text": r["text"]})
        for edit in edits:
            lines.append({"id": edit.__name__ + r["id"], "text": " ".join(edit(rng, r["text"].split()))})
            truth.add(frozenset((lines[-1]["id"], "a" + r["id"])))
    return write(tools.path("edited.jsonl"), lines), truth, lambda a, b: False


def versions(tools, min_words=0):
    """Should be found: successive versions. Wrong: another text, and less than half of it shared."""
    series = {row[0]: row[1] for row in table("ota-small", "clusters")}
    kept = [d for d in documents("ota-small") if len(d["text"].split()) >= min_words]
    ids = {d["id"] for d in kept}
    path = write(tools.path("long.jsonl"), kept) if min_words else places.corpus("ota-small")
    truth = {frozenset(r[:2]) for r in table("ota-small", "consecutive_jaccard3")}
    truth = {pair for pair in truth if pair <= ids}
    with open(places.word_oracle("ota-small"), encoding="utf-8") as f:
        near = {frozenset(line.split("\t")[:2]) for line in f}
    return path, truth, lambda a, b: series[a] != series[b] and frozenset((a, b)) not in near


def long_reports(tools):
    return versions(tools, LONG)


def guide(tools, language):
    """Should be found: one page of the manual on two architectures. Wrong: different pages."""
    cluster = dict(table("debian-installation-guide", "clusters"))
    kept = [
        d
        for d in documents("debian-installation-guide")
        if cluster[d["id"]].startswith(language + "/")
    ]
    truth = pair_set(grouped([d["id"] for d in kept], cluster.get))
    path = write(tools.path(f"{language}.jsonl"), kept)
    return path, truth, lambda a, b: cluster[a] != cluster[b]


BOOST = ["libboost1.74-dev", "libboost1.81-dev"]
GNU = ["libstdc++-11-dev", "libstdc++-12-dev"]
COMMENTS = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.S)


def headers(package):
    """The C++ headers of a Debian package, by their paths below its version's folder."""
    folder = os.path.join(places.BUILD, "packages")
    os.makedirs(folder, exist_ok=True)
    tree = os.path.join(folder, package)
    if not os.path.isdir(tree):
        try:
            subprocess.run(["apt-get", "-qq", "download", package], cwd=folder, check=True)
            packed = [n for n in os.listdir(folder) if n.startswith(package + "_")]
            subprocess.run(["dpkg-deb", "-x", packed[0], tree + ".part"], cwd=folder, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise places.Skipped(f"{package} cannot be had: {error}") from error
        os.rename(tree + ".part", tree)
    root = os.path.join(tree, "usr", "include", "boost")
    if not os.path.isdir(root):
        root = os.path.join(tree, "usr", "include", "c++", package.split("-")[1])
    for here, _, names in sorted(os.walk(root)):
        for name in sorted(names):
            path = os.path.join(here, name)
            with open(path, encoding="utf-8", errors="replace") as f:
                yield os.path.relpath(path, root), f.read()


def bare(text):
    """The runs of three words of a source without its comments."""
    words = WORD.findall(COMMENTS.sub(lambda m: " " if m[0][0] == "/" else m[0], text))
    return {hash(tuple(words[i : i + 3])) for i in range(max(1, len(words) - 2))}


def code(tools, packages):
    """Should be found: a file in two versions, if half of its code is the same. Wrong: less than half
    of the code, its comments left out, is."""
    text = {f"{v}:{path}": t for v, name in enumerate(packages) for path, t in headers(name)}
    path = write(
        tools.path(packages[0] + ".jsonl"), ({"id": i, "text": t} for i, t in text.items())
    )
    runs = {}

    def alike(a, b):
        for i in (a, b):
            if i not in runs:
                runs[i] = bare(text[i])
        shared = len(runs[a] & runs[b])
        return 2 * shared >= len(runs[a]) + len(runs[b]) - shared

    truth = pair_set(grouped(text, lambda i: i.partition(":")[2]))
    return path, {p for p in truth if alike(*p)}, lambda a, b: not alike(a, b)


def answers(grades):
    """Should be found: answers of some grades and their article. Wrong: answers in own words."""
    rows = table("clough-stevenson", "labels")
    truth = {frozenset(r[:2]) for r in rows if r[3] in grades}
    own = {frozenset(r[:2]) for r in rows if r[3] == "non"}
    return places.corpus("clough-stevenson"), truth, lambda a, b: frozenset((a, b)) in own


def embedded(tools):
    """Should be found: 1,000 articles, and mails into which they were laid, 2 to 10 times as long. Wrong:
    two such mails; each is made of mails that stand in no other."""
    rng = random.Random(3)
    articles = [d for d in documents("reuters21578") if len(d["text"].split()) >= 100][:1000]
    mails = [d["text"].split() for d in documents("enron-spam")]
    rng.shuffle(mails)
    records, truth = [], set()
    for article in articles:
        size = int(len(article["text"].split()) * rng.uniform(1, 9))
        around = []
        while len(around) < size:
            around += mails.pop()
        at = rng.randrange(size + 1)
        mail = " ".join(around[:at]) + "\n" + article["text"] + "\n" + " ".join(around[at:size])
        records.append({"id": "a" + article["id"], "text": article["text"]})
        records.append({"id": "m" + article["id"], "text": mail})
        truth.add(frozenset(("a" + article["id"], "m" + article["id"])))
    return write(tools.path("embedded.jsonl"), records), truth, lambda a, b: a[0] == "m" == b[0]
