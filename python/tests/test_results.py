"""Results in a terminal and in a notebook, and reports of calls on their way."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser

import pytest

import neardup

VOID = {"line", "rect"}


class Checker(HTMLParser):
    """Tags that are closed in order, and what a screen reader reads of the figures."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.labels: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        if tag == "svg":
            self.labels.append(dict(attributes)["aria-label"])

    def handle_startendtag(self, tag, attributes):
        assert tag in VOID

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def read_html(result) -> Checker:
    checker = Checker()
    checker.feed(result._repr_html_())
    checker.close()
    assert not checker.open
    return checker


def test_a_notebook_shows_counts_and_figures(records):
    result = neardup.dedup(records, threshold=0.6)
    html = read_html(result)
    assert f"{len(result.removed):,}" in html.words and "kept" in html.words
    compared = sum(value is not None for value in result.removed["jaccard"])
    largest = max(map(len, result.clusters))
    assert html.labels == [
        f"Resemblance of {compared:,} removed rows to the kept ones; the threshold is 0.6.",
        f"{len(result.clusters):,} clusters; the largest has {largest:,} rows.",
    ]
    assert "threshold 0.6" in html.words and "script" not in result._repr_html_()


@pytest.mark.parametrize(
    "texts, arguments",
    [
        ([], {}),
        (["a b c"], {}),
        (["a b c d", "a b c d"], {}),
        (["a b c d"] * 200, {"threshold": 1}),
        (["a b c d", "a b c e"], {"recipe": "manku-2007"}),
        (["a b c d e f", "a b c d e g"], {"threshold": "1/20", "set": {"candidates": "all"}}),
        ([None, None], {}),
    ],
)
def test_a_notebook_shows_every_result(texts, arguments):
    result = neardup.dedup(texts, **arguments)
    words = read_html(result).words
    assert f"{len(texts):,}" in words
    assert repr(result).startswith(f"<neardup.Result: {len(texts):,} rows, ")


def test_progress_is_a_bar_of_tqdm(records, capsys):
    pytest.importorskip("tqdm")
    neardup.dedup(records, progress=True)
    said = capsys.readouterr().err
    assert "rows" in said and "100%" in said
    neardup.dedup(records, progress=False)
    assert capsys.readouterr().err == ""
    with pytest.raises(TypeError, match="progress is True or a function, not str"):
        neardup.dedup(records, progress="yes")


def test_without_tqdm_progress_is_a_line():
    script = "import sys; sys.modules['tqdm'] = None\nimport neardup\n"
    script += "neardup.dedup(['one two three'] * 20000, progress=True)"
    said = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True)
    assert said.stderr == "20,000 of 20,000 rows\n" and said.stdout == ""
