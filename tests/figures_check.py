#!/usr/bin/env python3
"""figures_check.py - the check of the figures in docs/ finds each that is off, and mends it on request"""

import os
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "bench"))
sys.dont_write_bytecode = True

import figures  # noqa: E402
import places  # noqa: E402

PAGE = """# Figures of 2 kinds

<!-- figures: table -->
| set 1 | `-t 0.5`, of 100 | share |
|---|---|---|
| a 7 | `--recipe manku-2007`: 1,234 | .987 |
| b | 20, 3 | 97.9% |
<!-- end of figures -->

<!-- figures: sentence -->
Of the 36 pairs of amd64 and i386, `-t 0.8` finds 99.5%, as in utf8 texts.
<!-- end of figures -->
"""
RIGHT = {
    "table": [figures.Command("--recipe manku-2007"), "1,234", ".987", "20, 3", "97.9%"],
    "sentence": [36, "99.5%"],
}


def off(page, measured, only=None, write=False):
    """(what is off, the page afterwards)"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.md")
        with open(path, "w", encoding="utf-8") as f:
            f.write(page)
        figures.pages = lambda: [path]
        measures = {name: lambda _, cells=cells: cells for name, cells in measured.items()}
        _, found = figures.check(measures, None, only, write)
        with open(path, encoding="utf-8") as f:
            return found, f.read()


def main():
    places.say = lambda message: None
    assert off(PAGE, RIGHT) == ([], PAGE)
    for old, new in ((".987", ".986"), ("1,234", "1,235"), ("20, 3", "20, 4"), ("97.9%", "98%")):
        found, _ = off(PAGE.replace(old, new), RIGHT)
        assert len(found) == 1 and new.split()[-1] in found[0] and "page.md:4: table" in found[0], found
        assert off(PAGE.replace(old, new), RIGHT, write=True)[1] == PAGE
        assert off(PAGE.replace(old, new), RIGHT, only={"sentence"})[0] == []
    assert "finds 99.5%" in off(PAGE.replace("99.5%", "99.4%"), RIGHT, write=True)[1]
    found, _ = off(PAGE.replace("manku-2007`", "manku-2008`"), RIGHT)
    assert len(found) == 1 and "'--recipe manku-2007'" in found[0], found
    found, page = off(PAGE.replace(" 97.9%", ""), RIGHT, write=True)
    assert len(found) == 1 and "4 figures stand there, 5 were measured" in found[0], found
    assert page == PAGE.replace(" 97.9%", "")
    found, _ = off(PAGE, dict(RIGHT, table=[None, ".987", None, None, "97.9%"]))
    assert found == [], found
    found, _ = off(PAGE, {"table": RIGHT["table"]})
    assert len(found) == 1 and "nothing measures 'sentence'" in found[0], found
    found, _ = off(PAGE, dict(RIGHT, gone=[1]))
    assert found == ["no page shows the figures 'gone'"], found
    assert figures.percent(9999, 10000) == "99.9%" and figures.percent(1, 10000) == "0.1%"
    assert figures.percent(3, 3) == "100%" and figures.percent(0, 3) == "0%"
    assert figures.share(1, 2) == ".500" and figures.share(99999, 100000) == ".999"
    assert figures.share(2, 2) == "1" and figures.share(0, 2) == "0"


if __name__ == "__main__":
    main()
