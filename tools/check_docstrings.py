#!/usr/bin/env python3
"""Check the docstrings of all public names by numpydoc's rules."""

from __future__ import annotations

import inspect
import sys

import neardup
import neardup.spark
from numpydoc.validate import validate

# Neither a longer summary nor "See Also" is wanted everywhere, nor an example of each method.
UNWANTED = {"ES01", "SA01"}
# Functions of Spark list parameters together whose types are those of neardup.dedup; their results are tuples.
UNWANTED_OF_SPARK = {"PR04"}
# Users are given these, and make none.
GIVEN = {"BoundedResult", "Collapsed", "Column", "Comparison", "DocumentFrequencies", "Explanation", "Features", "FilesResult", "Filtered", "Mask", "Match", "Repeats", "Result", "Table"}
GIVEN |= {"Cluster", "Evidence", "Nearest", "Stored", "Verdict", "Version"}
GIVEN |= {"spark.Deduplicated", "spark.FilesDeduplicated"}


def public_names() -> list[str]:
    """Every name of the package, and those of its classes."""
    names = [f"spark.{name}" for name in neardup.spark.__all__]
    for name in neardup.__all__:
        thing = getattr(neardup, name)
        names.append(name)
        if inspect.isclass(thing) and not issubclass(thing, tuple):  # whose fields have no docstrings
            parts = [part for part, value in vars(thing).items() if not part.startswith("_") and not inspect.ismemberdescriptor(value)]
            names += [f"{name}.{part}" for part in parts]
    return names


def complaints(name: str) -> list[str]:
    """The errors that numpydoc finds."""
    unwanted = UNWANTED | (UNWANTED_OF_SPARK if name.startswith("spark.") else set())
    unwanted |= {"EX01"} if name in GIVEN and name.startswith("spark.") else set()
    unwanted |= ({"EX01"} if "." in name.removeprefix("spark.") else set()) | ({"PR01"} if name in GIVEN else set())
    return [f"{name}: {code}: {said}" for code, said in validate(f"neardup.{name}")["errors"] if code not in unwanted]


def main() -> int:
    """Print what is wrong."""
    wrong = [line for name in public_names() for line in complaints(name)]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
