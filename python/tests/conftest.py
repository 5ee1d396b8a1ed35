"""Texts with near-duplicates for all tests, and the command to compare with."""

from __future__ import annotations

import doctest
import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def command() -> str:
    """The command of the same source."""
    path = os.environ.get("NEARDUP") or shutil.which("neardup")
    if not path:
        pytest.skip("the command is not there: NEARDUP names it")
    return path


@pytest.fixture(scope="session")
def run(command, tmp_path_factory):
    """Run the command; its status is 0."""
    folder = tmp_path_factory.mktemp("command")

    def run(*args: object) -> Path:
        subprocess.run([command, *map(str, args)], check=True, cwd=folder)
        return folder

    return run


@pytest.fixture(scope="session")
def news(tmp_path_factory):
    """News articles with near-duplicates, as JSON Lines: a sample, or with NEARDUP_NIGHTLY all."""
    data = Path(os.environ.get("NEARDUP_DATA", Path(__file__).parents[3] / "shared" / "data"))
    packed = data / "reuters21578" / "docs.jsonl.zst"
    if not packed.exists() or not shutil.which("zstdcat"):
        pytest.skip("there is no corpus reuters21578 or no zstdcat: NEARDUP_DATA names the folder of the corpora")
    lines = subprocess.run(["zstdcat", packed], check=True, capture_output=True).stdout.splitlines(keepends=True)
    path = tmp_path_factory.mktemp("news") / "news.jsonl"
    path.write_bytes(b"".join(lines if os.environ.get("NEARDUP_NIGHTLY") else lines[:2500]))
    return path


@pytest.fixture(scope="session")
def records() -> list[dict[str, str]]:
    """Documents of which a third is an edited copy of another, and some are equal, short or empty."""
    chance = random.Random(5)
    words = [f"w{i}" for i in range(3000)]
    texts: list[str] = []
    for _ in range(1500):
        kind = chance.random()
        if kind < 0.6 or not texts:
            texts.append(" ".join(chance.choices(words, k=chance.randrange(4, 120))))
        elif kind < 0.7:
            texts.append(chance.choice(texts))
        elif kind < 0.75:
            texts.append(chance.choice(texts).upper())
        elif kind < 0.8:
            texts.append(" ".join(chance.choices(words, k=chance.randrange(0, 3))))
        else:
            copy = chance.choice(texts).split()
            for _ in range(chance.randrange(1, 6)):
                if copy:
                    copy[chance.randrange(len(copy))] = chance.choice(words)
            texts.append(" ".join(copy))
    return [
        {
            "id": f"d{i}",
            "text": text,
            "site": f"s{i % 7}",
            "score": str(chance.randrange(100)),
            "date": f"2024-0{1 + i % 9}-{1 + i % 28:02d}",
        }
        for i, text in enumerate(texts)
    ]


@pytest.fixture
def run_page(tmp_path, monkeypatch):
    """Run the Python session of a page of docs/, in a folder of its own."""
    docs = Path(__file__).parents[2] / "docs"
    if not docs.is_dir():
        pytest.skip("docs/ is not there")
    monkeypatch.chdir(tmp_path)

    def run(page: str) -> None:
        said: list[str] = []
        # The end of a block of code is the end of what is expected.
        text = (docs / page).read_text().replace("\n```", "\n\n")
        test = doctest.DocTestParser().get_doctest(text, {}, page, None, 0)
        runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
        runner.run(test, out=said.append)
        assert test.examples and not runner.failures, "".join(said)

    return run
