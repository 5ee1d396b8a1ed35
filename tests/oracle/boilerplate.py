#!/usr/bin/env python3
"""boilerplate.py - docs/format/boilerplate.md in Python, against the library, on random pages

usage: boilerplate.py INPUT_DUMP

Pages come from a fixed generator.  Python's own html.parser reads them, so nothing is shared with
the library but the page of documentation.
"""
import os
import random
import re
import subprocess
import sys
import tempfile
from fractions import Fraction
from html.parser import HTMLParser

EDGES = set("title head body html p div ul li h1 h2 h3 table tr td br pre nav footer script".split())
WIDE = (
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]"
)
HAS_WORD = re.compile("[0-9A-Za-z\u0080-\U0010ffff]")
LEAST_WORDS = 20


class Page(HTMLParser):
    """The title, and the blocks of a page: lists of (character, whether it is in a link)."""

    def __init__(self, page):
        super().__init__()
        self.title, self.blocks, self.is_pre = "", [[]], [False]
        self.in_link = self.in_title = self.in_pre = self.in_script = False
        self.feed(page)
        self.close()

    def edge(self, tag):
        if tag in EDGES:
            self.blocks.append([])
            self.is_pre.append(self.in_pre)

    def handle_starttag(self, tag, attrs):
        self.in_pre |= tag == "pre"
        self.in_title |= tag == "title"
        self.in_script |= tag == "script"
        if tag == "a":
            self.in_link = "href" in dict(attrs)
        self.edge(tag)

    def handle_endtag(self, tag):
        self.in_pre &= tag != "pre"
        self.in_title &= tag != "title"
        self.in_script &= tag != "script"
        self.in_link &= tag != "a"
        self.edge(tag)

    def handle_data(self, data):
        if self.in_title:
            self.title += data
        elif not self.in_script:
            self.blocks[-1] += [(c, self.in_link) for c in data]


def collapse(block, is_pre):
    """White space as in a browser: one space, or one line end of a pre."""
    made = []
    for c, in_link in block:
        if c not in " \t\n":
            made.append((c, in_link))
        elif made and made[-1][0] not in " \n":
            made.append(("\n" if is_pre and c == "\n" else " ", in_link))
        elif made and is_pre and c == "\n":
            made[-1] = ("\n", in_link)
    while made and made[-1][0] in " \n":
        made.pop()
    return made


def pieces(block):
    """Yield (text, whether white space is before it, whether its first character is in a link)."""
    text = "".join(c for c, _ in block)
    for run in re.finditer("[^ \n\u00a0\u3000]+", text):
        for piece in re.finditer(f"{WIDE}{{1,3}}|(?:(?!{WIDE}).)+", run[0]):
            at = run.start() + piece.start()
            yield piece[0], at > 0 and piece.start() == 0, block[at][1]


def measures(block):
    """Words, the share of them in links, and words for each full line of 80 columns."""
    lines, column = [0], 0
    words = linked = 0
    for text, is_spaced, is_linked in pieces(block):
        width = len(text) * (2 if re.match(WIDE, text) else 1)
        space = 1 if is_spaced and column else 0
        if column and column + space + width > 80:
            lines.append(0)
            column = space = 0
        column += space + width
        if HAS_WORD.search(text):
            lines[-1] += 1
            words += 1
            linked += is_linked
    density = Fraction(sum(lines[:-1]), len(lines) - 1) if len(lines) > 1 else Fraction(words)
    return words, Fraction(linked, words) if words else Fraction(0), density


def is_content(before, block, after):
    """Algorithm 1 of Kohlschütter 2010."""
    if block[1] > Fraction(1, 3):
        return False
    if before[1] > Fraction(5, 9):
        return after[2] > 11
    if block[2] > 9:
        return after[2] != 0
    return after[2] > 10 or before[2] > 4


def content(page):
    parsed = Page(page)
    blocks = []
    for block, is_pre in zip(parsed.blocks, parsed.is_pre):
        block = collapse(block, is_pre)
        if block:
            blocks.append(("".join(c for c, _ in block), measures(block), is_pre))
    title = " ".join(re.findall("[^ \t\n]+", parsed.title))
    counted = [b for b in blocks if b[1][0] or b[2]]
    none = (0, Fraction(0), Fraction(0))
    around = [none] + [b[1] for b in counted] + [none]
    kept = [b for i, b in enumerate(counted) if b[2] or is_content(*around[i : i + 3])]
    if sum(b[1][0] for b in kept) < LEAST_WORDS:
        kept = [b for b in counted if b[2] or b[1][1] <= Fraction(1, 3)]
    if sum(b[1][0] for b in kept) < LEAST_WORDS:
        kept = blocks
    return "\n".join(filter(None, [title] + [b[0] for b in kept])), len(kept) < len(blocks)


# --- Random pages ------------------------------------------------------------------------------

SHORT = "a of to in is you that it he was for on are as with his they at be this".split()
LONG = "documentation understanding international — & naïve co-operation 1984 über-lang x² » |".split()
OTHER = ["日本語の文章です。", "你好，世界", "ภาษาไทย", "한국어 문장", "\u00a0", "中文abc中文"]


def words(r, n):
    pool = r.choice([SHORT, SHORT + LONG, SHORT + LONG + OTHER, OTHER, LONG])
    return [r.choice(pool).replace("&", "&amp;") for _ in range(n)]


def sentence(r):
    made = words(r, r.choice([0, 1, 3, 5, 9, 17, 40, 90]))
    for _ in range(r.choice([0, 0, 1, 3])):
        if made:
            i = r.randrange(len(made))
            href = r.choice([" href=x", ' href="a?b=1"', ""])
            made[i] = f"<a{href}>{made[i]}</a>"
    return r.choice([" ", " ", "\n  "]).join(made)


def navigation(r):
    items = [f"<a href=/{i}>{' '.join(words(r, r.randint(1, 4)))}</a>" for i in range(r.randint(1, 8))]
    if r.random() < 0.4:
        return "<div>" + r.choice([" | ", " ", " &nbsp; "]).join(items) + "</div>"
    return "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"


def part(r):
    kind = r.randrange(9)
    if kind < 3:
        return f"<p>{sentence(r)}</p>"
    if kind == 3:
        return navigation(r)
    if kind == 4:
        return f"<h2>{' '.join(words(r, r.randint(1, 8)))}</h2>"
    if kind == 5:
        return f"<pre>{sentence(r)}\nint x;\n  x = 1;{r.choice(['', '<b>', '<br>'])}</pre>".replace("<b>", "<b>y</b>")
    if kind == 6:
        return "<table><tr>" + "".join(f"<td>{sentence(r)}</td>" for _ in range(r.randint(1, 3))) + "</tr></table>"
    if kind == 7:
        return f"<div>{sentence(r)}<br>{sentence(r)}<div>* * *</div></div>"
    return f"<div>{r.choice(['·', '| |', '<script>no();</script>', '&copy; 2024 us'])}</div>"


def random_page(r):
    parts = "".join(part(r) for _ in range(r.randint(0, 12)))
    title = r.choice(["", "<title>A  title</title>"])
    return f"<!DOCTYPE html><html><head><meta charset=utf-8>{title}</head><body>{parts}</body></html>"


def texts(program, pages):
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, f"{i}.html") for i in range(len(pages))]
        for path, page in zip(paths, pages):
            with open(path, "wb") as f:
                f.write(page.encode())
        out = subprocess.run([program, "html:content"] + paths, stdout=subprocess.PIPE, check=True).stdout
    return [bytes.fromhex(line.split("\t")[4]).decode() for line in out.decode().splitlines()]


def main():
    r = random.Random(30)
    pages = [random_page(r) for _ in range(800)]
    got = texts(sys.argv[1], pages)
    assert len(got) == len(pages)
    shorter = 0
    for page, text in zip(pages, got):
        expected, is_shorter = content(page)
        shorter += is_shorter
        if text != expected:
            sys.exit(f"{page}\n  the page of documentation: {expected!r}\n  the library: {text!r}")
    assert shorter > 300, shorter
    print(f"boilerplate: {len(pages)} pages agree, {shorter} of them with something left out")


if __name__ == "__main__":
    main()
