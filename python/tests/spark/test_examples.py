"""The examples of the docstrings and of docs/spark.md."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "spark.md"


@pytest.mark.parametrize("name", ["_dedup", "_files", "_join", "_pairs", "_sketch"])
def test_examples_of(spark, name):
    module = importlib.import_module(f"neardup.spark.{name}")
    failed, tried = doctest.testmod(module, extraglobs={"spark": spark})
    assert tried and not failed


def test_the_page_does_what_it_says(spark, tmp_path):
    given = {"spark": spark, "folder": tmp_path}
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, globs=given)
    assert tried and not failed
