#!/usr/bin/env python3
# structure.py - how the C sources are laid out, in figures; and which of them include one another
"""
usage: tools/structure.py [--check] [ROOT]

Prints a table of ROOT's src/ (default: this tree), as TSV: name, then figure.  With --check it only
says which folders or files of src/ and python/native/ include one another in a circle, and fails if tools/cycles.txt
does not list the circle.

What the figures count:
* Generated files (GENERATED below) are left out of all of them.
* A file of the circles is a .c together with the .h of its name, and a folder one that holds files.
* A line of code has something other than space and comments; a line of comment has nothing else.
* An internal function is declared in a header of src/; its users are the files of src/,
  cli/ and python/native/ that name it, except the one that defines it and the headers.
"""
import collections
import pathlib
import re
import sys

GENERATED = re.compile(r"src/(text/(class|fold|normal|digit)_table\.[ch]|feature/(word_table|weight_tables)\.c"
                       r"|index/bands_table\.h|recipe/shipped_recipes\.c)$")
TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)
FUNCTION_LINES = 80


class Source:
    def __init__(self, path, name):
        self.name = name
        self.text = path.read_text(encoding="utf-8")
        # Comments become space, each line kept; literals are emptied.
        self.code = TOKEN.sub(lambda m: re.sub(r"[^\n]", " ", m[0]) if m[0][0] == "/" else m[0][0] * 2, self.text)
        lines = list(zip(self.text.split("\n"), self.code.split("\n")))
        self.code_lines = sum(bool(code.strip()) for _, code in lines)
        self.comment_lines = sum(bool(text.strip()) and not code.strip() for text, code in lines)
        self.includes = re.findall(r'^\s*#\s*include\s*["<]([^">]+)[">]', self.text, re.M)

    @property
    def folder(self):
        return self.name.rpartition("/")[0]

    @property
    def unit(self):
        return self.name.rpartition(".")[0]


def read(root, folder):
    found = sorted(p for p in (root / folder).rglob("*") if p.suffix in (".c", ".cpp", ".h"))
    sources = [Source(p, str(p.relative_to(root))) for p in found]
    return [s for s in sources if not GENERATED.match(s.name)]


def circles(edges):
    """The groups of nodes that reach one another (Tarjan 1972), without recursion."""
    number, low, stack, on_stack, found = {}, {}, [], set(), []
    for start in sorted(edges):
        if start in number:
            continue
        work = [(start, iter(sorted(edges[start])))]
        number[start] = low[start] = len(number)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, following = work[-1]
            for other in following:
                if other not in number:
                    number[other] = low[other] = len(number)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(sorted(edges.get(other, ())))))
                    break
                if other in on_stack:
                    low[node] = min(low[node], number[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    group = []
                    while not group or group[-1] != node:
                        group.append(stack.pop())
                        on_stack.discard(group[-1])
                    if len(group) > 1:
                        found.append(sorted(group))
    return sorted(found)


def include_graphs(sources):
    by_name = {s.name: s for s in sources}
    folders, units = collections.defaultdict(set), collections.defaultdict(set)
    for source in sources:
        for name in source.includes:
            beside = ("src/", source.folder + "/", "python/native/")
            other = next((by_name[at + name] for at in beside if at + name in by_name), None)
            if other and other.folder != source.folder:
                folders[source.folder].add(other.folder)
            if other and other.unit != source.unit:
                units[source.unit].add(other.unit)
    return folders, units


def long_functions(source):
    """Functions of more than FUNCTION_LINES lines between their braces: the names and lines."""
    start = name = None
    for number, line in enumerate(source.code.split("\n"), 1):
        if match := re.match(r"[A-Za-z_].*?(\w+)\(", line):
            name = match[1]
        if line.startswith("{"):
            start = number
        elif line.startswith("}") and start:
            if number - start - 1 > FUNCTION_LINES:
                yield name, number - start - 1
            start = None


def internal_functions(sources, users):
    """For each function that a header of src/ declares: how many other files name it."""
    declared = set()
    for source in sources:
        if source.name.endswith(".h"):
            flat = re.sub(r"^\s*#.*$", "", source.code, flags=re.M)
            declared.update(re.findall(r"^(?!static|typedef|\s)[\w \t*\n]*?\b(nd_\w+)\s*\([^;{}]*\)[^;{}]*;", flat, re.M))
    counts = dict.fromkeys(declared, 0)
    for source in users:
        if source.name.endswith(".h"):
            continue
        defined = set(re.findall(r"^(?!\s)[\w \t*]*?\b(nd_\w+)\([^;{}]*\)\s*\{", source.code, re.M))
        for name in set(re.findall(r"\bnd_\w+", source.code)) & declared - defined:
            counts[name] += 1
    return counts


def check(root):
    known = set()
    for line in (root / "tools/cycles.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            known.add(tuple(line.split()))
    status = 0
    for groups in map(circles, include_graphs(read(root, "src") + read(root, "python/native"))):
        for group in groups:
            if tuple(group) in known:
                known.remove(tuple(group))
            else:
                print("these include one another in a circle: " + " ".join(group), file=sys.stderr)
                status = 1
    for group in sorted(known):
        print("tools/cycles.txt lists a circle that is no more: " + " ".join(group))
    return status


def table(root):
    sources = read(root, "src")
    in_folder = collections.Counter(s.folder for s in sources if s.name.endswith(".c"))
    code, comments = (sum(getattr(s, name) for s in sources) for name in ("code_lines", "comment_lines"))
    structs = sum(len(re.findall(r"\b(?:struct|union)\s+\w+\s*\{", s.code)) for s in sources)
    nameless = sum(len(re.findall(r"\b(?:struct|union)\s*\{", s.code)) for s in sources)
    enums = sum(len(re.findall(r"\benum\s*\w*\s*\{", s.code)) for s in sources)
    folders, units = map(circles, include_graphs(sources))
    counts = internal_functions(sources, sources + read(root, "cli") + read(root, "python/native"))
    one = sum(n == 1 for n in counts.values())
    most = in_folder.most_common(1)[0]
    by_lines = sorted((s.text.count("\n"), s.name) for s in sources)
    long = [(s.name, *f) for s in sources for f in long_functions(s)]
    rows = [
        (".c files", sum(in_folder.values())),
        (".c files in the fullest folder", f"{most[1]} ({most[0]})"),
        ("folders with .c files", len(in_folder)),
        ("file, median and longest, lines", f"{by_lines[len(by_lines) // 2][0]}, {by_lines[-1][0]} ({by_lines[-1][1]})"),
        ("structs and unions with a name", structs),
        ("structs and unions without one", nameless),
        ("enums", enums),
        ("lines of code", code),
        ("lines of comment", comments),
        ("comments, of both", f"{100 * comments / (code + comments):.1f}%"),
        ("circles of folders", f"{len(folders)} ({sum(map(len, folders))} folders)"),
        ("circles of files", f"{len(units)} ({sum(map(len, units))} files; the largest {max(map(len, units), default=0)})"),
        (f"functions over {FUNCTION_LINES} lines", len(long)),
        ("internal functions", len(counts)),
        ("of these, used by one other file", f"{one} ({100 * one / max(len(counts), 1):.0f}%)"),
    ]
    for name, value in rows:
        print(f"{name}\t{value}")
    for what, groups in (("folders", folders), ("files", units)):
        for group in groups:
            print(f"circle of {what}\t{' '.join(group)}")
    for name, function, lines in long:
        print(f"long function\t{name}:{function} {lines}")


if __name__ == "__main__":
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    here = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).resolve().parent.parent)
    sys.exit(check(here) if "--check" in sys.argv else table(here))
