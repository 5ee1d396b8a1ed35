"""Figures in the pages: where they stand, and whether a run gives the same.

A paragraph or a table between `<!-- figures: NAME -->` and `<!-- end of figures -->` is measured by the function
of that name. Its figures are all numbers outside of code; of a table, those of the rows, without the first column.
"""

import glob
import os
import re
import subprocess

import places

BLOCK = re.compile(r"<!-- figures: (\S+) -->\n(.*?)<!-- end of figures -->\n", re.S)
NUMBER = re.compile(r"(?<![\w.])(?:\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)(?:%| %)?(?!\w)")
CODE = re.compile(r"`[^`]*`")


class Command(str):
    """Options as the page shows them: they have to stand in the block that their figures stand in."""


class Tools:
    """What a function that measures is given: the command, the corpora, a folder for its files."""

    def __init__(self, binary):
        self.binary = binary
        self.folder = os.path.join(places.BUILD, "figures")
        os.makedirs(self.folder, exist_ok=True)

    def run(self, *command, statuses=(0,)):
        """What `neardup COMMAND` writes to its standard output."""
        done = subprocess.run(
            [self.binary, *map(str, command)], capture_output=True, text=True, encoding="utf-8"
        )
        if done.returncode not in statuses:
            raise RuntimeError(f"neardup {' '.join(map(str, command))}: {done.stderr}")
        return done.stdout

    def pairs(self, *command):
        """The pairs of ids that `neardup pairs COMMAND` lists."""
        lines = self.run("pairs", "-q", *command, statuses=(0, 1)).splitlines()
        return [tuple(line.split("\t")[:2]) for line in lines]

    def path(self, name):
        return os.path.join(self.folder, name)


def pages():
    found = glob.glob(os.path.join(places.ROOT, "docs", "**", "*.md"), recursive=True)
    return sorted(found) + [os.path.join(places.ROOT, "README.md")]


def is_rule(line):
    return set(line) <= set("|-: ")


def spans(block):
    """Where the figures of a block stand: (begin, end) of each, in order."""
    found, at, in_rows = [], 0, False
    is_table = any(line.startswith("|") for line in block.splitlines())
    for line in block.splitlines(keepends=True):
        if is_table and line.startswith("|"):
            if is_rule(line.strip()):
                in_rows = True
            elif in_rows:
                first = line.index("|", 1)
                found += numbers(line, first, at)
        elif not is_table:
            found += numbers(line, 0, at)
        at += len(line)
    return found


def numbers(line, begin, at):
    bare = CODE.sub(lambda m: "x" * len(m[0]), line)
    return [(at + m.start(), at + m.end()) for m in NUMBER.finditer(bare, begin)]


def compare(name, page, line, block, cells):
    """What is off, as sentences."""
    where = f"{os.path.relpath(page, places.ROOT)}:{line}: {name}"
    off = [
        f"{where}: measured with '{cell}', which does not stand there"
        for cell in cells
        if isinstance(cell, Command) and cell not in block
    ]
    stand, measured = [block[a:b] for a, b in spans(block)], flat(cells)
    if len(stand) != len(measured):
        off.append(f"{where}: {len(stand)} figures stand there, {len(measured)} were measured")
        return off
    return off + [
        f"{where}: figure {i + 1} is {a}; measured: {b}"
        for i, (a, b) in enumerate(zip(stand, measured))
        if b is not None and a != b
    ]


def replaced(block, measured):
    if len(spans(block)) != len(measured):
        return block
    for (a, b), value in reversed(list(zip(spans(block), measured))):
        if value is not None:
            block = block[:a] + value + block[b:]
    return block


def flat(measured):
    """The figures of cells, each of which may hold several, or none, in order; None: not measured."""
    figures = []
    for cell in measured:
        if cell is None:
            figures.append(None)
        elif not isinstance(cell, Command):
            figures += [m[0] for m in NUMBER.finditer(str(cell))]
    return figures


def check(measures, tools, only=None, write=False):
    """(blocks that were measured, what is off); `measures` has a function for each name of a block."""
    off, seen, shown = [], [], set()
    for page in pages():
        with open(page, encoding="utf-8") as f:
            text = new = f.read()
        for m in BLOCK.finditer(text):
            name, block = m[1], m[2]
            shown.add(name)
            if only and name not in only:
                continue
            line = text.count("\n", 0, m.start()) + 2
            if name not in measures:
                off.append(f"{os.path.relpath(page, places.ROOT)}:{line}: nothing measures '{name}'")
                continue
            places.say(name)
            try:
                cells = measures[name](tools)
            except places.Skipped as why:
                places.say(f"{name}: skipped: {why}")
                continue
            seen.append(name)
            wrong = compare(name, page, line, block, cells)
            off += wrong
            if wrong and write:
                new = new.replace(m[0], m[0].replace(block, replaced(block, flat(cells))))
        if new != text:
            with open(page, "w", encoding="utf-8") as f:
                f.write(new)
    off += [f"no page shows the figures '{name}'" for name in sorted(set(measures) - shown)]
    return seen, off


def percent(part, whole):
    """97.9%; never rounded up to 100% or down to 0%."""
    if part == whole:
        return "100%"
    if part == 0:
        return "0%"
    return f"{min(max(100 * part / whole, 0.1), 99.9):.1f}%"


def share(part, whole, digits=3):
    """A share as the pages write it: .987, 1, 0; never rounded up to 1 or down to 0."""
    if not whole:
        return "–"
    value = part / whole
    text = f"{value:.{digits}f}"
    if text == f"{1:.{digits}f}" and part < whole:
        text = "0." + "9" * digits
    return "1" if part == whole else "0" if part == 0 else text[1:]
