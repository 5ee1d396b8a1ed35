#!/usr/bin/env python3
"""make_run_svg.py - records a run of neardup as docs/run.svg, the picture in README.md

usage: tools/make_run_svg.py NEARDUP CORPUS [OUTPUT]
       tools/make_run_svg.py --check NEARDUP

--check: whether docs/run.svg is what NEARDUP prints today; status 77: reuters21578 is not there.

NEARDUP is the command, as build/release/neardup. CORPUS is a file of JSON Lines, which may be
packed; the picture shows it as reuters.jsonl (reuters21578: 21,578 news articles). The commands
below really run, in an empty folder; the picture has what they print. A command with a limit shows
so many of its lines, then a line that counts the others.
"""
import difflib
import html
import os
import pathlib
import subprocess
import sys
import tempfile

COLUMNS = 92
CHARACTER = 8.0  # the width of a column and the height of a line, in pixels
LINE = 18
MARGIN = 16
BAR = 30  # the title bar of the window
RUN = [
    ("neardup dedup reuters.jsonl -o unique.jsonl --manifest removed.jsonl", 15),
    ("neardup explain --rows removed.jsonl --lowest 1", None),
]
STYLE = """
text { font: 13.3px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #d8dee9 }
.prompt { fill: #8fbf7f; font-weight: bold }
.command { fill: #ffffff; font-weight: bold }
.dim { fill: #8590a5 }
"""


def record(neardup, corpus):
    """[(class, text)] of all lines, the commands among them."""
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        tools = pathlib.Path(folder, "bin")
        tools.mkdir()
        (tools / "neardup").symlink_to(pathlib.Path(neardup).resolve())
        work = pathlib.Path(folder, "work")
        work.mkdir()
        with open(work / "reuters.jsonl", "wb") as out:
            if corpus.endswith(".zst"):
                subprocess.run(["zstd", "-dcq", corpus], stdout=out, check=True)
            else:
                out.write(pathlib.Path(corpus).read_bytes())
        env = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}", LC_ALL="C.UTF-8")
        for command, limit in RUN:
            done = subprocess.run(["bash", "-c", command], cwd=work, env=env, check=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  encoding="utf-8")
            printed = done.stdout.rstrip("\n").split("\n")
            lines.append(("command", command))
            lines += [("", line) for line in printed[:limit]]
            if limit and len(printed) > limit:
                lines.append(("dim", f"⋮  {len(printed) - limit} more lines"))
            lines.append(("", ""))
    return lines[:-1]


def cut(text):
    return text if len(text) <= COLUMNS else text[: COLUMNS - 1] + "…"


def draw(lines):
    width = int(COLUMNS * CHARACTER + 2 * MARGIN)
    height = BAR + LINE * len(lines) + MARGIN
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img">',
        "<title>A terminal in which neardup removes near-duplicate news articles</title>",
        f"<style>{STYLE}</style>",
        f'<rect width="{width}" height="{height}" rx="8" fill="#20242d"/>',
        *(f'<circle cx="{20 + 18 * i}" cy="17" r="5" fill="#4c566a"/>' for i in range(3)),
    ]
    y = BAR + LINE - 4
    for kind, text in lines:
        shown = html.escape(cut(text), quote=False)
        if kind == "command":
            shown = f'<tspan class="prompt">$ </tspan><tspan class="command">{shown}</tspan>'
        name = ' class="dim"' if kind == "dim" else ""
        if text:
            out.append(f'<text x="{MARGIN}" y="{y}" xml:space="preserve"{name}>{shown}</text>')
        y += LINE
    return "\n".join(out) + "\n</svg>\n"


def check(neardup, root):
    """Whether the picture is that of this command."""
    data = pathlib.Path(os.environ.get("NEARDUP_DATA", root.parent / "shared" / "data"))
    corpus = data / "reuters21578" / "docs.jsonl.zst"
    if not corpus.exists():
        print(f"skipped: there is no {corpus}")
        return 77
    now = draw(record(neardup, str(corpus))).splitlines()
    shown = (root / "docs" / "run.svg").read_text(encoding="utf-8").splitlines()
    for line in difflib.unified_diff(shown, now, "docs/run.svg", "now", lineterm="", n=0):
        print(line)
    if now != shown:
        print("stale: tools/make_run_svg.py NEARDUP CORPUS")
    return int(now != shown)


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    if len(sys.argv) == 3 and sys.argv[1] == "--check":
        sys.exit(check(sys.argv[2], root))
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__.split("\n\n")[1])
    output = pathlib.Path(sys.argv[3]) if len(sys.argv) == 4 else root / "docs" / "run.svg"
    output.write_text(draw(record(sys.argv[1], sys.argv[2])), encoding="utf-8")


if __name__ == "__main__":
    main()
