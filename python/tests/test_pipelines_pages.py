"""The sessions of docs/pipelines, where their packages are installed."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "docs" / "pipelines"
# Each page needs this module, which pip knows by this name.
NEEDS = {
    "scikit-learn": ("sklearn", "scikit-learn"),
    "scrapy": ("scrapy", "scrapy"),
    "polars": ("polars", "polars"),
    "datatrove": ("datatrove", "datatrove"),
    "datasets": ("datasets", "datasets"),
    "drop-duplicates": ("datasets", "datasets"),
    "duckdb": ("duckdb", "duckdb pyarrow"),
    "ray": ("ray", "ray[data]"),
}


# test_pipelines_ray.py runs that page in its own cluster.
@pytest.mark.parametrize("page", sorted(NEEDS.keys() - {"ray"}))
def test_the_session_runs(page, run_page):
    pytest.importorskip(NEEDS[page][0])
    run_page(f"pipelines/{page}.md")


@pytest.mark.skipif(not PAGES.is_dir(), reason="docs/ is not there")
def test_every_page_is_run_and_listed():
    pages = {page.stem for page in PAGES.glob("*.md")} - {"README"}
    assert pages == set(NEEDS)
    overview = (PAGES / "README.md").read_text()
    assert all(f"({page}.md)" in overview for page in pages)


@pytest.mark.parametrize("page", NEEDS)
def test_a_module_says_what_it_needs(page):
    module, package = NEEDS[page]
    name = f"neardup.{module}"
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"there is no {name}: the page shows the package itself")
    code = f"import sys; sys.modules[{module!r}] = None\ntry: import {name}\nexcept ImportError as e: print(e)"
    said = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.startswith(f"{name} needs {package}") and said.endswith(f": pip install {package}\n")


def test_neardup_itself_imports_none_of_them():
    code = "import sys, neardup; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {module for module, _ in NEEDS.values()} & set(loaded.split())
