#!/usr/bin/env python3
"""make_recipe_texts.py - writes what stands in recipes/*.ini and lab/*.ini into C

    tools/make_recipe_texts.py            writes src/recipe/shipped_recipes.c, cli/lab/shipped_labs.c
    tools/make_recipe_texts.py --check    exit 1 if a committed file differs

The library has the recipes with it, and the command the reproductions, so that a name means the same wherever it is installed, and one
line of cc still builds all of the core.
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEAD = """/* shipped_recipes.c - the shipped recipes; made by tools/make_recipe_texts.py, not by hand */
/* clang-format off */
#include "recipe/shipped_recipes.h"

#define TEXT(name, text) {name, text, sizeof(text) - 1}

const struct nd_recipe_text nd_recipe_texts[] = {
"""
LAB_HEAD = """/* shipped_labs.c - the reproductions of lab/; made by tools/make_recipe_texts.py, not by hand */
/* clang-format off */
#include "lab/shipped_labs.h"

const struct shipped_lab shipped_labs[] = {
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


def entries(folder, form):
    """The entries of a table, one for each file of a folder, in the order of their names."""
    found = []
    for path in sorted((ROOT / folder).glob("*.ini"), key=lambda path: path.stem):
        content = path.read_text(encoding="utf-8")
        if not content.startswith(f"# {path.name} - ") or not content.endswith("\n"):
            sys.exit(f"{path}: begins with '# {path.name} - what it is', and ends its last line")
        lines = "\n".join(literal(line) for line in content[:-1].split("\n"))
        found.append(form % (path.stem, lines))
    return "".join(found) + "};\n"


def texts():
    """The text of each file that is made."""
    recipes = HEAD + entries("recipes", '    TEXT("%s",\n%s),\n') + \
        "const size_t nd_n_recipe_texts = sizeof nd_recipe_texts / sizeof *nd_recipe_texts;\n"
    labs = LAB_HEAD + entries("lab", '    {"%s",\n%s},\n') + \
        "const size_t n_shipped_labs = sizeof shipped_labs / sizeof *shipped_labs;\n"
    return {ROOT / "src/recipe/shipped_recipes.c": recipes, ROOT / "cli/lab/shipped_labs.c": labs}


if sys.argv[1:] == ["--check"]:
    for output, text in texts().items():
        if not output.exists() or output.read_text(encoding="utf-8") != text:
            sys.exit(f"{output.relative_to(ROOT)} is not what its .ini files say; run "
                     "tools/make_recipe_texts.py")
elif sys.argv[1:]:
    sys.exit(__doc__)
else:
    for output, text in texts().items():
        output.write_text(text, encoding="utf-8")
