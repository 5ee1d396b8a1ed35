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
# A table that commands in the page measure, with two headers.
SWEPT = """Measured by

```sh
row() { printf '%s\\t%s\\t%s\\t%s\\t%s\\n' "$@"; }
row threshold listed precision precision_low precision_high
row 0.8 12 0.9999 0.5 1.0000
row recipe listed precision precision_low precision_high
row x 7 - - -
```

<!-- figures: swept sweep listed precision* -->
| threshold | listed | precision |
|---|---|---|
| 0.8 | 12 | .999 (.500–1) |
| `x` | 7 | – |
<!-- end of figures -->
"""
RIGHT = {
    "table": [figures.Command("--recipe manku-2007"), "1,234", ".987", "20, 3", "97.9%"],
    "sentence": [36, "99.5%"],
}


def off(page, measured, only=None, write=False, tools=None):
    """(what is off, the page afterwards)"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.md")
        with open(path, "w", encoding="utf-8") as f:
            f.write(page)
        figures.pages = lambda: [path]
        measures = {name: lambda _, cells=cells: cells for name, cells in measured.items()}
        _, found = figures.check(measures, tools, only, write)
        with open(path, encoding="utf-8") as f:
            return found, f.read()


def check_swept():
    """Tables that are measured by the commands before them."""
    with tempfile.TemporaryDirectory() as folder:
        places.BUILD, places.DATA = folder, folder
        tools = figures.Tools(os.path.join(folder, "neardup"))
        assert off(SWEPT, {}, tools=tools) == ([], SWEPT)
        found, page = off(SWEPT.replace(".500–1", ".501–1"), {}, write=True, tools=tools)
        assert len(found) == 1 and "page.md:12: swept: figure 3 is .501; measured: .500" in found[0], found
        assert page == SWEPT
        found, _ = off(SWEPT.replace("row x 7", "row x 8"), {}, tools=tools)
        assert len(found) == 1 and "measured: 8" in found[0], found
        found, _ = off(SWEPT.replace("```sh", "```"), {}, tools=tools)
        assert "nothing measures 'swept'" in found[0], found


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
    check_swept()
    assert figures.percent(9999, 10000) == "99.9%" and figures.percent(1, 10000) == "0.1%"
    assert figures.percent(3, 3) == "100%" and figures.percent(0, 3) == "0%"
    assert figures.share(1, 2) == ".500" and figures.share(99999, 100000) == ".999"
    assert figures.share(2, 2) == "1" and figures.share(0, 2) == "0"


if __name__ == "__main__":
    main()
