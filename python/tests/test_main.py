"""``python -m neardup`` and ``neardup`` are one program; tables come back to Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import neardup

ROWS = [{"id": str(i), "text": f"words that stand in document {i % 4} and in no other"} for i in range(9)]


@pytest.fixture
def module(command, monkeypatch, tmp_path):
    """Run ``python -m neardup`` with the command first in PATH; what it said."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "neardup").symlink_to(Path(command).resolve())
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-P", "-m", "neardup", *words], capture_output=True, text=True)

    return run


@pytest.mark.parametrize("words", [["--version"], ["dedup", "-h"], ["recipe", "list"], ["dedup", "--progess", "x"], []])
def test_the_module_is_the_command(command, module, words):
    direct = subprocess.run([command, *words], capture_output=True, text=True)
    mine = module(*words)
    assert (mine.returncode, mine.stdout, mine.stderr) == (direct.returncode, direct.stdout, direct.stderr)
    assert mine.stdout or mine.stderr


def test_without_a_command_it_says_what_brings_it(module, monkeypatch):
    from neardup._command import find_command

    monkeypatch.setenv("PATH", "/nowhere")
    if find_command():
        pytest.skip("this environment has the command")
    done = module("--version")
    assert done.returncode == 2 and "wheels bring it (pip install neardup)" in done.stderr


def test_options_of_the_command_decide_about_parquet(module, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.Table.from_pylist(ROWS), "in.parquet")
    done = module("dedup", "-qtone/two", "in.parquet", "-o", "out.parquet")
    assert done.returncode == 2 and "--threshold" in done.stderr
    done = module("dedup", "-qt1", "-k", "last", "in.parquet", "--output", "out.parquet", "--manifest=m")
    assert (done.returncode, done.stderr) == (0, "")
    assert parquet.read_table("out.parquet")["id"].to_pylist() == ["5", "6", "7", "8"]
    assert (tmp_path / "m").read_bytes().count(b'"removed":') == 5
    (tmp_path / "set").mkdir()
    os.rename("in.parquet", "set/part.parquet")
    assert module("dedup", "-q", "set", "-o", "kept").returncode == 0
    assert len(parquet.read_table("kept/part.parquet")) == 4
    done = module("dedup", "set", "-o", "kept", "--annotate")
    assert done.returncode == 2 and "--annotate is not for Parquet and Arrow" in done.stderr
    # With other files in the folder, or as text, the command reads what it can by itself.
    (tmp_path / "set" / "a.txt").write_text("one two three\n")
    done = module("dedup", "-q", "set")
    assert (done.returncode, done.stdout) == (0, "set/a.txt\n")


def test_a_table_is_named_when_pyarrow_is_missing(module, tmp_path):
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        (tmp_path / "in.parquet").write_bytes(b"PAR1\x15\x04\x15\x10PAR1")
        done = module("dedup", "in.parquet", "-o", "out.parquet")
        assert done.returncode == 2 and "pip install pyarrow" in done.stderr
    else:
        pytest.skip("pyarrow is there")


def test_the_version_is_that_of_the_module(module):
    assert module("--version").stdout == f"neardup {neardup.__version__}\n"
