"""The examples of the docstrings."""

from __future__ import annotations

import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["_dedup", "_join", "_sketch"])
def test_examples_of(spark, name):
    module = importlib.import_module(f"neardup.spark.{name}")
    failed, tried = doctest.testmod(module, extraglobs={"spark": spark})
    assert tried and not failed
