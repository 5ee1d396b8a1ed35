#!/usr/bin/env python3
"""make_recipe_texts.py - writes src/recipe/shipped_recipes.c, the shipped recipes, from recipes/*.ini

    tools/make_recipe_texts.py            writes it
    tools/make_recipe_texts.py --check    exit 1 if the committed file differs

The library has the recipes with it, so that a name means the same wherever it is installed, and one
line of cc still builds all of the core.
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "src/recipe/shipped_recipes.c"
HEAD = """/* shipped_recipes.c - the shipped recipes; made by tools/make_recipe_texts.py, not by hand */
/* clang-format off */
#include "recipe/shipped_recipes.h"

#define TEXT(name, text) {name, text, sizeof(text) - 1}

const struct nd_recipe_text nd_recipe_texts[] = {
"""


def literal(line):
    """A line as a C string; every byte that is not plain ASCII as three octal digits."""
    out = ""
    for byte in line.encode() + b"\n":
        char = chr(byte)
        if char == "\n":
            out += "\\n"
        elif char in "\"\\":
            out += "\\" + char
        elif char == "?":
            out += "\\?"
        elif 0x20 <= byte < 0x7F:
            out += char
        else:
            out += f"\\{byte:03o}"
    return f'         "{out}"'


def text():
    entries = []
    for path in sorted((ROOT / "recipes").glob("*.ini"), key=lambda path: path.stem):
        content = path.read_text(encoding="utf-8")
        if not content.startswith(f"# {path.name} - ") or not content.endswith("\n"):
            sys.exit(f"{path}: begins with '# {path.name} - what it is', and ends its last line")
        lines = "\n".join(literal(line) for line in content[:-1].split("\n"))
        entries.append(f'    TEXT("{path.stem}",\n{lines}),\n')
    return HEAD + "".join(entries) + "};\n" + \
        "const size_t nd_n_recipe_texts = sizeof nd_recipe_texts / sizeof *nd_recipe_texts;\n"


if sys.argv[1:] == ["--check"]:
    if OUTPUT.read_text(encoding="utf-8") != text():
        sys.exit(f"{OUTPUT.relative_to(ROOT)} is not what recipes/*.ini say; run "
                 "tools/make_recipe_texts.py")
elif sys.argv[1:]:
    sys.exit(__doc__)
else:
    OUTPUT.write_text(text(), encoding="utf-8")
