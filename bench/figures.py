"""Figures in the pages: where they stand, and whether a run gives the same.

A paragraph or a table between `<!-- figures: NAME -->` and `<!-- end of figures -->` is measured by the function
of that name. Its figures are all numbers outside of code; of a table, those of the rows, without the first column.
A table between `<!-- figures: NAME sweep COLUMN … -->` and that end is measured by the commands of shell in the
block before it, which stand in the page: it has a row for each row that they print, and of it these columns, a
COLUMN* with its interval.
"""

import csv
import glob
import os
import re
import subprocess

import places

BLOCK = re.compile(r"<!-- figures: (\S+)(?: sweep ([^>\n]*))? -->\n(.*?)<!-- end of figures -->\n", re.S)
SHELL = re.compile(r"```sh\n(.*?)```\n", re.S)
NUMBER = re.compile(r"(?<![\w.])(?:\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)(?:%| %)?(?!\w)")
CODE = re.compile(r"`[^`]*`")


class Command(str):
    """Options as the page shows them: they have to stand in the block that their figures stand in."""


class Tools:
    """The things that a function that measures is given: the command, the corpora, a folder for its files."""

    def __init__(self, binary):
        self.binary = binary
        self.folder = os.path.join(places.BUILD, "figures")
        os.makedirs(self.folder, exist_ok=True)

    def run(self, *command, statuses=(0,)):
        """The standard output of `neardup COMMAND`."""
        done = subprocess.run(
            [self.binary, *map(str, command)], capture_output=True, text=True, encoding="utf-8"
        )
        if done.returncode not in statuses:
            raise RuntimeError(f"neardup {' '.join(map(str, command))}: {done.stderr}")
        return done.stdout

    def pairs(self, *command):
        """The pairs of ids that `neardup pairs COMMAND` lists."""
        return self.listed(self.pairs_file(*command))

    def pairs_file(self, *command):
        """The file of the pairs that `neardup pairs COMMAND` lists."""
        path = self.path("pairs.tsv")
        self.run("pairs", "-q", *command, "-o", path, statuses=(0, 1))
        return path

    def listed(self, path):
        """The pairs of ids in such a file."""
        with open(path, encoding="utf-8") as f:
            return [tuple(line.split("\t")[:2]) for line in f]

    def path(self, name):
        return os.path.join(self.folder, name)


def rate(text):
    """A rate as the pages write it: .887; 1 and 0 only where it is that; – where it is not known."""
    return "–" if text == "-" else share(round(float(text) * 10000), 10000)


def swept(tools, commands, columns):
    """The cells of a table: of each row that the commands print, these columns."""
    folder = tools.path("sweeps")
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(places.DATA):
        if not os.path.exists(os.path.join(folder, name)):
            os.symlink(os.path.join(places.DATA, name), os.path.join(folder, name))
    path = os.path.dirname(tools.binary) + os.pathsep + os.environ["PATH"]
    done = subprocess.run(
        ["bash", "-euc", commands],
        cwd=folder, env=dict(os.environ, PATH=path), capture_output=True, text=True, encoding="utf-8",
    )
    if done.returncode:
        raise RuntimeError(f"{commands}: {done.stderr}")
    cells, header = [], None
    for row in csv.reader(done.stdout.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE):
        if "precision" in row:
            header = row
            continue
        value = dict(zip(header, row))
        for column in columns:
            name = column.rstrip("*")
            cell = value[name] if name in COUNTS else rate(value[name])
            if column.endswith("*") and value[name + "_low"] != "-":
                cell += f" ({rate(value[name + '_low'])}–{rate(value[name + '_high'])})"
            cells.append(cell)
    return cells


COUNTS = {"listed", "right", "wrong", "missed", "removed", "documents"}


def of_commands(before, columns):
    """The last block of shell before a block that names columns, which measures it; None: there is none."""
    commands = SHELL.findall(before)
    return (lambda tools: swept(tools, commands[-1], columns)) if commands else None


def pages():
    found = glob.glob(os.path.join(places.ROOT, "docs", "**", "*.md"), recursive=True)
    return sorted(found) + [os.path.join(places.ROOT, "README.md")]


def swept_blocks():
    """The names of the blocks that commands in the pages measure."""
    names = set()
    for page in pages():
        with open(page, encoding="utf-8") as f:
            names |= {m[1] for m in BLOCK.finditer(f.read()) if m[2]}
    return names


def is_rule(line):
    return set(line) <= set("|-: ")


def spans(block):
    """The places of the figures in a block: (begin, end) of each, in order."""
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
    """Sentences on the figures that are off."""
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
            name, block = m[1], m[3]
            shown.add(name)
            if only and name not in only:
                continue
            line = text.count("\n", 0, m.start()) + 2
            measure = measures.get(name)
            if m[2]:
                measure = of_commands(text[: m.start()], m[2].split())
            if not measure:
                off.append(f"{os.path.relpath(page, places.ROOT)}:{line}: nothing measures '{name}'")
                continue
            places.say(name)
            try:
                cells = measure(tools)
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
