#!/usr/bin/env python3
# check_promises.py - every test that docs/promises.md names exists
"""usage: tools/check_promises.py [FILE]"""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
# How a file declares a test: bats, C, Python, or CMake for a whole program.
DECLARATIONS = {
    ".bats": ['@test "{}" {{'],
    ".c": [" {}(void **"],
    ".py": ["def {}("],
    ".txt": ["add_test(NAME {} ", "add_test(NAME {}\n", "add_tree_test({} "],
}


def problem(file: str, test: str) -> str | None:
    """Return why the test cannot be found in the file, or None."""
    path = root / file
    if not path.is_file():
        return f"{file} does not exist"
    declarations = [declaration.format(test) for declaration in DECLARATIONS[path.suffix]]
    text = path.read_text(encoding="utf-8")
    return None if any(declaration in text for declaration in declarations) else f"{file} has no test '{test}'"


def main() -> int:
    page = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else root / "docs/promises.md"
    failed = rows = 0
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if not (row := re.fullmatch(r"\|.*\| `([^`]+)` \| (.+) \|", line)):
            continue
        rows += 1
        if why := problem(row[1], row[2].strip("`")):
            print(f"{page.name}:{number}: {why}", file=sys.stderr)
            failed = 1
    if not rows:
        print(f"{page}: names no test", file=sys.stderr)
    return failed or not rows


sys.exit(main())
