"""c_reference.py - the reference of the C library, from the comments in include/neardup

A header begins with what it is and an example.  Each declaration, and each member of a structure or
value of an enumeration, has its comment above it.  Names of the library in comments become links.
"""
import pathlib
import re

HEADERS = pathlib.Path(__file__).resolve().parents[2] / "include/neardup"
ROLES = {"function": "func", "struct": "struct", "enum": "enum", "enumerator": "enumerator", "macro": "macro",
         "type": "type"}
TOKEN = re.compile(r"`(?P<code>[^`]+)`|(?P<name>\b(?:nd|ND)_[A-Za-z0-9_]+)(?P<call>\(\))?|(?P<page>\bdocs/[a-z/-]+\.md\b)"
                   r"|(?P<special>[*\\|`]|_(?=\W|$)|(?<=\bfile):)")


class Declaration:
    """`shares_name`: it is a structure, and a function has the same name, to which links then lead."""

    def __init__(self, kind, name, comment, signature="", members=(), opaque=False):
        self.kind, self.name, self.comment, self.shares_name = kind, name, comment, False
        self.signature, self.members, self.opaque = signature, list(members), opaque


def comment_text(raw):
    """The lines of a comment without its marks, dedented."""
    inside = raw.strip()[2:-2]
    lines = [re.sub(r"^[ \t]*\* ?", "", line) if i else line.lstrip() for i, line in enumerate(inside.split("\n"))]
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def split_top(text, separator):
    """Parts between separators that are in no bracket."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == separator and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return parts + [text[start:]]


def member_signatures(text):
    """`a` and `b` of "uint64_t a, b" are two members."""
    first, *more = (part.strip() for part in split_top(text, ","))
    base = re.sub(r"\**\s*\w+(\[[^]]*\])*$", "", first).strip() if more else ""
    return [first] + [f"{base} {part}" for part in more]


def name_of(signature):
    pointer = re.search(r"\(\s*\*\s*(\w+)\s*\)", signature)
    return pointer[1] if pointer else re.search(r"(\w+)\s*(\[[^]]*\]\s*)*$", signature)[1]


def body_items(body, separator):
    """(comment, text) of each member; what stands between two comments shares the first."""
    items, comment, fresh = [], "", False
    for part in re.split(r"(/\*.*?\*/)", body, flags=re.S):
        if part.startswith("/*"):
            comment, fresh = comment_text(part), True
            continue
        # A comment on the same line, behind a declaration, belongs to it.
        for text in split_top(part, separator):
            text = " ".join(text.split())
            if text:
                items.append((comment if fresh else "", text))
                fresh = False
    return items


def struct_of(name, body, comment):
    members = []
    for note, text in body_items(body, ";"):
        inner = re.match(r"struct \{(.*)\} (\w+)(.*)", text)
        if inner:
            made = struct_of(inner[2], inner[1], note)
            made.kind, made.signature = "member", f"struct @{inner[2]} {inner[2]}{inner[3]}"
            members.append(made)
            continue
        for i, signature in enumerate(member_signatures(text)):
            members.append(Declaration("member", name_of(signature), note if i == 0 else "", signature))
    return Declaration("struct", name, comment, members=members)


def enum_of(name, body, comment):
    body = re.sub(r"(\w+[^,/\n]*,?)[ \t]*(/\*[^\n]*\*/)[ \t]*$", r"\2 \1", body, flags=re.M)
    return Declaration("enum", name, comment, members=[
        Declaration("enumerator", text.split()[0].rstrip(",="), note, text) for note, text in body_items(body, ",")])


PATTERNS = (
    (r"#define (?P<name>\w+)(?P<value>(?:[ \t][^\n]*\\\n)*[^\n]*)\n", "macro"),
    (r"enum (?P<name>\w+) \{(?P<body>.*?)\};", "enum"),
    (r"struct (?P<name>\w+) \{(?P<body>.*?)\n\};", "struct"),
    (r"struct (?P<name>\w+);", "opaque"),
    (r"typedef (?P<sig>[^;{]*?(?P<name>nd_\w+)\([^;]*\));", "type"),
    (r"ND_API (?P<sig>[^;{]*?\b(?P<name>nd_\w+)\([^;]*\));", "function"),
    (r"static inline (?P<sig>[^;{]*?\b(?P<name>nd_\w+)\([^{;]*\))\s*\{.*?\n\}", "function"),
)


def declaration_at(text, at, comment):
    """(declaration, where it ends) at a place of the text; (None, at) where there is none."""
    for pattern, kind in PATTERNS:
        m = re.compile(pattern, re.S if kind != "macro" else 0).match(text, at)
        if not m:
            continue
        name = m["name"]
        if kind == "macro":
            value, _, note = m["value"].strip().partition("/*")
            made = Declaration("macro", name, comment or note.rstrip("*/ ").strip(), value.strip())
        elif kind == "enum":
            made = enum_of(name, m["body"], comment)
        elif kind == "struct":
            made = struct_of(name, m["body"], comment)
        elif kind == "opaque":
            made = Declaration("struct", name, comment, opaque=True)
        else:
            signature = re.sub(r"\s*ND_PRINTF\([^)]*\)", "", " ".join(m["sig"].split()))
            made = Declaration(kind, name, comment, signature)
        return made, m.end()
    return None, at


class Header:
    """The declarations of a header; `parts` are declarations and, between them, comments of their own."""

    def __init__(self, path):
        self.name = path.stem
        text = path.read_text(encoding="utf-8")
        head = re.match(r"\s*(/\*.*?\*/)", text, re.S)
        said = comment_text(head[1])
        self.library = "neardup-files" if re.search("neardup[-_]files", said) else "neardup"
        said = re.sub(r"\s*\(library [\w-]+\)|(Library: |The library is lib)[\w-]+\.\s*", "", said)
        self.what, _, self.more = said.partition("\n\n")
        self.what = " ".join(self.what.split()).partition(" - ")[2]
        self.parts = []
        self.read(text[head.end():])
        public = len(re.findall(r"^ND_API|^static inline", text, re.M))
        found = sum(d.kind == "function" for d in self.declarations())
        if public != found:
            raise SystemExit(f"{path.name}: {public} functions are public, and {found} were found")

    def read(self, text):
        text = re.sub(r"^#define (NEARDUP_\w+_H|ND_API|ND_PRINTF)\b[^\n]*\n|^#(if|ifndef|ifdef|else|endif|include)[^\n]*\n"
                      r"|^extern \"C\" \{\n|^\}\n(?=\s*\Z)", "", text, flags=re.M)
        at, comment, unused = 0, "", ""
        while at < len(text):
            space = re.compile(r"[ \t]*\n?").match(text, at)
            if space.end() > at:
                blank = text[at:space.end()].strip(" \t") == "\n" and text[at - 1:at] == "\n"
                if blank:
                    if unused:
                        self.parts.append(unused)
                    comment = unused = ""
                at = space.end()
                continue
            if text.startswith("/*", at):
                end = text.index("*/", at) + 2
                comment = unused = comment_text(text[at:end])
                at = end
                continue
            made, end = declaration_at(text, at, comment)
            if not made:
                line = text[at:].split("\n", 1)[0]
                if line.strip() != "}":
                    raise SystemExit(f"include/neardup/{self.name}.h: what is this? {text[max(0, at - 200):at]}<<>>{line}")
                end = at + len(line)
            else:
                self.parts.append(made)
                # A member that follows without a blank line has no comment of its own.
                unused = comment = ""
            at = end

    def declarations(self):
        return [part for part in self.parts if isinstance(part, Declaration)]


def blocks_of(comment):
    """Paragraphs; lines of code stay together across empty lines."""
    blocks = []
    for block in re.split(r"\n[ \t]*\n", comment):
        if blocks and block.startswith("    ") and blocks[-1].startswith("    "):
            blocks[-1] += "\n\n" + block
        else:
            blocks.append(block)
    return blocks


class Writer:
    """Pages in reStructuredText."""

    def __init__(self, headers):
        self.kinds = {}
        functions = {d.name for header in headers for d in header.declarations() if d.kind == "function"}
        whole = {d.name for header in headers for d in header.declarations() if not d.opaque}
        for header in headers:
            # A structure that another place declares with its members is shown there.
            header.parts = [p for p in header.parts if not (isinstance(p, Declaration) and p.opaque and p.name in whole
                                                            and not p.comment and p.name not in functions)]
            for d in header.declarations():
                d.shares_name = d.kind in ("struct", "enum") and d.name in functions
                if not d.shares_name:
                    self.kinds[d.name] = d.kind
                if d.kind == "enum":
                    self.kinds.update((value.name, "enumerator") for value in d.members)

    def inline(self, text):
        def token(m):
            if m["special"]:
                return "\\" + m["special"]
            if m["page"]:
                made = f":doc:`/{m['page'][:-3]}`"
            else:
                name = m["code"] or m["name"]
                made = self.link(name) or f"``{name}``"
            # Markup must stand apart; an escaped space shows nothing.
            before, after = text[:m.start()][-1:], text[m.end() - 2 * bool(m["call"]):][:1]
            made = ("" if before in "\n '\"([{<-/" else "\\ ") + made
            return made + ("" if after in "\n '\")]}>-/.,;:!?" else "\\ ") + (m["call"] or "")

        return TOKEN.sub(token, text)

    def link(self, name):
        kind = self.kinds.get(name)
        return f":c:{ROLES[kind]}:`{name}`" if kind in ROLES else None

    def prose(self, comment, indent):
        """Paragraphs, lists and indented code of a comment."""
        made = []
        for block in blocks_of(comment):
            lines = block.split("\n")
            if all(line.startswith("    ") for line in lines if line):
                made.append(".. code-block:: c\n   :force:\n\n" + "\n".join("   " + line[4:] for line in lines))
            elif re.match(r" *- ", lines[0]):
                items = re.split(r"^ *- ", block, flags=re.M)[1:]
                made.append("\n".join("* " + self.inline(" ".join(item.split())) for item in items))
            else:
                made.append(self.inline(" ".join(block.split())))
        return "".join(" " * indent + line + "\n" if line else "\n" for line in "\n\n".join(made).split("\n"))

    def declared(self, d, indent=0):
        pad = " " * indent
        out = f"{pad}.. c:{d.kind}:: {d.name if d.kind in ('struct', 'enum', 'macro') else d.signature}\n"
        out += f"{pad}   :no-contents-entry:\n\n" if d.kind in ("member", "enumerator") else "\n"
        if d.kind == "macro" and d.signature:
            out += f"{pad}   ``{d.signature}``\n\n"
        if d.comment:
            out += self.prose(d.comment, indent + 3) + "\n"
        if d.opaque:
            out += f"{pad}   Its members are not public.\n\n"
        for member in d.members:
            out += self.declared(member, indent + 3)
        if d.shares_name:  # Sphinx knows one space of names
            out = f".. c:namespace-push:: tag\n\n{out}.. c:namespace-pop::\n\n"
        return out

    def page(self, header):
        title = f"neardup/{header.name}.h"
        out = f"{title}\n{'=' * len(title)}\n\n"
        out += f"{self.inline(header.what[:1].upper() + header.what[1:])}.\n\n"
        out += f"``#include <neardup/{header.name}.h>``, library ``{header.library}``\n\n"
        out += self.prose(header.more, 0) + "\n"
        for part in header.parts:
            out += self.prose(part, 0) + "\n" if isinstance(part, str) else self.declared(part)
        return out


def write_pages(stage):
    headers = [Header(path) for path in sorted(HEADERS.glob("*.h"))]
    writer = Writer(headers)
    rows = []
    for header in headers:
        stage.write(f"reference/c/{header.name}_h.rst", writer.page(header))
        functions = sum(d.kind == "function" for d in header.declarations())
        rows.append(f"| [{header.name}.h]({header.name}_h.rst) | {header.what} | {header.library} | {functions} |")
    stage.write("reference/c/index.md", "\n".join([
        "# The C library", "",
        "These pages are made from the headers in `include/neardup`, and `<neardup.h>` includes them all.",
        "[Examples](../../examples/README.md) has a small complete program for each use.", "",
        "| header | what it has | library | functions |", "|---|---|---|---|", *rows, ""]))
    return sum(len(h.declarations()) for h in headers)
