"""Addresses in canonical form: docs/format/urls.md, by the oracle that the C library is held against."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path

import pytest

import neardup

ORACLE = Path(__file__).parents[2] / "tests" / "oracle" / "urls.py"
RECIPE = """[signature address]
kind = features
unit = none
fields = url:1:address
[decide]
candidates = match
match = shared(address) >= 1
verify = none
"""


def test_addresses_are_written_as_the_page_says() -> None:
    spec = importlib.util.spec_from_file_location("urls_oracle", ORACLE)
    assert spec and spec.loader
    oracle = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(oracle)
    r = random.Random(11)
    for _ in range(2000):
        url = oracle.made(r)
        assert neardup.canonical_url(url.decode()).encode() == oracle.canonical(url)


def test_rows_of_one_address_are_duplicates_and_nothing_else_is() -> None:
    urls = ["http://a.org/x?b=1&a=2", "HTTP://A.org:80/x?a=2&b=1#top", "http://a.org/X?a=2&b=1", "http://a.org/x"]
    rows = [{"text": "the same text in all of them", "url": url} for url in urls]
    result = neardup.dedup(rows, recipe=neardup.Recipe.parse(RECIPE))
    assert [url for url, is_kept in zip(urls, result.kept) if is_kept] == [urls[0], urls[2], urls[3]]


def test_an_address_is_text() -> None:
    with pytest.raises(TypeError):
        neardup.canonical_url(b"http://a.org/")  # type: ignore[arg-type]
    with pytest.raises(UnicodeEncodeError):
        neardup.canonical_url("http://a.org/\ud800")
