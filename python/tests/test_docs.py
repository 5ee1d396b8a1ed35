"""Every public name has an example, and all examples run."""

from __future__ import annotations

import doctest

import pytest

import neardup


@pytest.mark.parametrize("name", neardup.__all__)
def test_a_public_name_has_an_example_that_runs(name):
    thing = getattr(neardup, name)
    found = doctest.DocTestFinder(recurse=False).find(thing, name, module=False, globs={**vars(neardup)})
    assert found and found[0].examples, f"{name} has no example"
    said: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    for test in found:
        runner.run(test, out=said.append)
    assert not runner.failures, "".join(said)


def test_public_names_are_sorted_and_there():
    assert sorted(neardup.__all__, key=str) == neardup.__all__
    assert all(hasattr(neardup, name) for name in neardup.__all__)
