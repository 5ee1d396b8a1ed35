#!/usr/bin/env python3
"""anchors.py - neardup anchors against Python's own urljoin, on sites made at random

    tests/oracle/anchors.py NEARDUP

Every field of every line must be what docs/format/uses.md says, as computed here from the words and
links that the pages were made of.
"""
import json
import random
import re
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

WORDS = "bees wax honey hive queen Smoker flower Äpfel two2 sting comb's".split()
NAMES = ["index.html", "a.html", "b c.html", "é.html", "index.htm", "x.y.html"]
FOLDERS = ["", "one/", "one/two/", "d e/"]


def address(url):
    """In one form; None: to no page."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    path = re.sub(r"/index\.(html|htm|xhtml)$", "/", unquote(urlsplit(urljoin("http://h/", parts.path)).path))
    query = "?" + parts.query if parts.query else ""
    return f"//{parts.hostname}{path}{query}"


def written(rnd, target, page):
    """One of the ways to write a link to a path of the site."""
    quoted = target.replace(" ", "%20").replace("é", "%C3%A9")
    up = "../" * page.count("/")
    return rnd.choice([
        "/" + quoted, up + quoted, up + "./" + quoted, "http://bees.org/" + quoted,
        "HTTPS://u@Bees.org:443/x/../" + quoted, "//bees.org/" + quoted + "#part",
        up + "no/../" + target, re.sub(r"index\.html$", "", up + quoted) or "./"])


def random_line(rnd, page, pages):
    """A paragraph as HTML, and its words: (word, number of the link that it is of, or None)."""
    html, words, links = "", [], []
    for _ in range(rnd.randrange(8)):
        chosen = rnd.choices(WORDS, k=rnd.randrange(4))
        if rnd.random() < .4:
            href = written(rnd, rnd.choice(pages), page) if rnd.random() < .9 else rnd.choice(
                ["mailto:a@b.c", "http://other.org/x?y", "#top", "javascript:void(0)", "gone.html"])
            links.append((href, len(words), len(words) + len(chosen), " ".join(chosen)))
            html += f'<a href="{href}">{" ".join(chosen)}</a> '
        else:
            html += " ".join(chosen) + " "
        words += chosen
    return html, words, links


def tokens(words):
    return [t for w in words for t in re.findall(r"\w+", w.lower().replace("'", " "))]


def expected(site, window):
    """The fields of every page, by its path."""
    order = sorted(site, key=lambda p: p.encode())
    own = {p: address("http://bees.org/" + p) for p in order}
    made = {own[p]: {"inlinks": [], "hits": [], "words": {}} for p in order}
    out = {p: [] for p in order}
    for page in order:
        for number, (_, words, links) in enumerate(site[page]):
            if not words:  # of an anchor alone in its block the next line, or the last
                after = [w for _, w, _ in site[page][number:] if w]
                words = after[0] if after else [[]] + [w for _, w, _ in site[page] if w]
                words = words if after else words[-1]
                links = [(href, 0 if after else len(words), 0 if after else len(words), anchor)
                         for href, _, _, anchor in links]
            for href, begin, end, anchor in links:
                target = address(urljoin("http://bees.org/" + page.replace(" ", "%20"), href))
                if href.startswith("#") or target in (None, own[page]):
                    continue
                if target not in out[page]:
                    out[page].append(target)
                if target not in made:
                    continue
                about = made[target]
                if own[page] not in about["inlinks"]:
                    about["inlinks"].append(own[page])
                about["hits"].append(anchor)
                before, inside = tokens(words[:begin])[::-1], tokens(words[begin:end])
                near = [(t, Fraction(1)) for t in inside]
                for side in (before, tokens(words[end:])):
                    near += [(t, Fraction(window - d, window + 1))
                             for d, t in enumerate(side[:window])]
                for t, weight in near:
                    about["words"][t] = about["words"].get(t, 0) + weight
    return order, own, made, out


def check(program, rnd, number):
    pages = sorted({rnd.choice(FOLDERS) + rnd.choice(NAMES) for _ in range(12)})
    pages = [p for p in pages if not (p.endswith("index.htm") and p + "l" in pages)]
    site = {p: [random_line(rnd, p, pages) for _ in range(rnd.randrange(1, 5))] for p in pages}
    window = rnd.choice([0, 1, 3, 10])
    with tempfile.TemporaryDirectory() as folder:
        for page, lines in site.items():
            path = Path(folder, page)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text('<meta charset="utf-8">' + "".join(f"<p>{html}" for html, _, _ in lines),
                            encoding="utf-8")
        done = subprocess.run([program, "anchors", "-q", "--window", str(window), "--base",
                               "https://bees.org/", folder], capture_output=True, text=True,
                              check=False, encoding="utf-8")
    order, own, made, out = expected(site, window)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) == len(order), done.stderr
    for page, row in zip(order, rows):
        about = made[own[page]]
        want = {"url": own[page], "links": out[page], "inlinks": about["inlinks"],
                "anchors": set(about["hits"]) - {""},
                "anchor_words": {w: round(float(x), 9) for w, x in about["words"].items()}}
        got = {key: row[key] for key in want}
        assert len(row["anchors"]) == len(set(row["anchors"]))
        got["anchors"] = set(row["anchors"])
        got["anchor_words"] = {w: round(x, 9) for w, x in row["anchor_words"].items()}
        weights = list(row["anchor_words"].values())
        assert weights == sorted(weights, reverse=True)
        if got != want:
            sys.exit(f"site {number}, {page}, window {window}:\n{got}\n{want}\n{site[page]}")
    return len(rows)


def main():
    rnd = random.Random(8)
    print(f"anchors: {sum(check(sys.argv[1], rnd, i) for i in range(150))} pages agree")


if __name__ == "__main__":
    main()
