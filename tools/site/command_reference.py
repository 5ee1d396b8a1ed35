"""command_reference.py - the reference of the command: what it says of itself, and its manual pages"""
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def said(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def entry(term, seen):
    """The line of a term, with a place that links can lead to where it is an option."""
    option = re.match(r"\*\*-.*?(?:\*\*-&#45;|&#45;)([a-z0-9-]+)\*\*", term)
    if option and option[1] not in seen:
        seen.add(option[1])
        return f'<a class="anchor" id="{option[1]}"></a>{term}'
    return term


def with_entries(text, seen):
    """mandoc writes what is said of a term as a quotation below it; here it is the entry of a list."""
    out, quoted = [], []

    def end():
        if not quoted:
            return
        inside = with_entries("\n".join(quoted), seen).strip("\n")
        quoted.clear()
        while out and not out[-1]:
            out.pop()
        term = []
        while out and out[-1] and not out[-1].startswith("  "):
            term.insert(0, out.pop())
        if not term or term[0].startswith("#"):
            raise SystemExit(f"a manual page has a quotation without a term: {inside[:60]}")
        lines = inside.split("\n")
        out.append(entry(" ".join(term), seen))
        out.append(": " + lines[0])
        out.extend("  " + line if line else "" for line in lines[1:])
        out.append("")

    for line in text.split("\n"):
        if line.startswith(">") or (quoted and not line):
            quoted.append(line[2:])
        else:
            end()
            out.append(line)
    end()
    return "\n".join(out)


def links_to_pages(text, names):
    """neardup-dedup(1) is a page."""
    def link(m):
        return f"[{m[1]}({m[2]})]({m[1]}.md)" if m[1] in names else m[0]
    return re.sub(r"(?<![\w*])\*{0,2}(neardup(?:-[a-z]+)?)\*{0,2}\((1)\)", link, text)


def sentence_case(heading):
    return heading.capitalize() if heading.isupper() else heading


def manual(page, names, command):
    """A manual page as Markdown: its first heading is the title, the others one deeper."""
    whole = said(command, "manual", page.stem.removeprefix("neardup-"), text=page.read_text(encoding="utf-8"))
    # mandoc 1.14 loses its count of literal text at a full stop behind .Ql; .Li is the same without quotes.
    source = re.sub(r"^\.Ql ", ".Li ", whole, flags=re.M)
    text = said("mandoc", "-T", "markdown", "-W", "error", text=source)
    lines = text.split("\n")
    body = "\n".join(lines[2:])
    name, what = re.search(r"# NAME\n\n\*\*(.*?)\*\* - (.*?)\n\n#", body, re.S).groups()
    body = body.split("# SYNOPSIS", 1)
    body = "# SYNOPSIS" + body[1]
    body = body.rsplit("\n\n", 1)[0] if re.search(r"\n\n\S[^\n]* - [A-Z][a-z]+ \d+, \d+\s*$", body.rstrip()) else body
    body = re.sub(r"^(#+) (.*)$", lambda m: f"#{m[1]} {sentence_case(m[2])}", body, flags=re.M)
    body = links_to_pages(with_entries(body, set()), names)
    return name, " ".join(what.split()), body


def write_pages(stage, command):
    pages = sorted((ROOT / "man").glob("*.1"))
    names = {page.stem for page in pages}
    rows = []
    for page in pages:
        name, what, body = manual(page, names, command)
        shown = name.replace("-", " ", 1)
        arguments = ["help"] if name == "neardup" else [name.partition("-")[2], "--help"]
        help_text = said(command, *arguments)
        stage.write(f"reference/command/{name}.md",
                    f"# {shown}\n\n{what[:1].upper()}{what[1:]}.\n\n{body.rstrip()}\n\n"
                    f"## What `neardup {' '.join(arguments)}` prints\n\n```text\n{help_text}```\n")
        rows.append(f"| [{shown}]({name}.md) | {what} |")
    stage.write("reference/command/index.md", "\n".join([
        "# The command", "",
        "These pages are the manual pages of `neardup`, and what each subcommand prints as its help.", "",
        "| command | what it does |", "|---|---|", *rows, ""]))
