"""home_page.py - the home page: parts of other pages, and a chart of their figures, where it asks for them

    <!-- part of PAGE: HEADING -->                a part without its heading
    <!-- part of PAGE: HEADING, to: TEXT -->      the same up to a text
    <!-- chart of PAGE: CORPUS -->                its row of the table of speeds
"""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def part(page, heading, to=None):
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    if not found or (to and to not in found[1]):
        raise SystemExit(f"docs/site/home.md shows a part of {page} that is not there: {heading}")
    return found[1].partition(to)[0].strip() if to else found[1].strip()


def chart(page, corpus):
    """Bars for the tools, and the sentence above the table."""
    text = (ROOT / page).read_text(encoding="utf-8")
    said, table = re.search(r"(Speed on one core.*?)\n\n(\|.*?)\n\n", text, re.S).groups()
    head, _, *rows = ([cell.strip() for cell in row.strip("|").split("|")] for row in table.split("\n"))
    row = next(row for row in rows if row[0].split(",")[0] == corpus)
    values = [(name.replace("two threads", "neardup, two threads"), float(value))
              for name, value in zip(head[1:], row[1:]) if re.fullmatch(r"[\d.]+", value)]
    top = max(value for _, value in values)
    bars = "\n".join(
        f'<div class="bar{" own" if name.startswith("neardup") else ""}"><span>{name}</span>'
        f'<span><i style="width: {65 * value / top:.1f}%"></i> {value:g} MB/s</span></div>'
        for name, value in values)
    return f'<div class="bars" role="img" aria-label="Speed on {row[0]}">\n{bars}\n</div>\n\nOn {row[0]}. {said}'


def fill(text):
    text = re.sub(r"<!-- part of (\S+): ([^,\n]+?)(?:, to: (.*?))? -->", lambda m: part(*m.groups()), text)
    return re.sub(r"<!-- chart of (\S+): (\S+) -->", lambda m: chart(*m.groups()), text)
