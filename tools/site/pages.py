"""pages.py - copy the Markdown of the tree to where Sphinx builds the site, with its links mended

A page keeps its path, so links between pages stay as they are.  Other links lead, in a repository
browser, to files and folders; on the site they lead to the reference of C, to the page of a folder,
or to a page that shows the file.  docs/site/nav.txt says how the pages are arranged; a page that
it does not name is appended to the last part, so that none is lost.
"""
import fnmatch
import os
import pathlib
import re
import shutil
import subprocess

import home_page

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOME = "docs/site/home.md"
LANGUAGES = {".c": "c", ".h": "c", ".cpp": "cpp", ".ini": "ini", ".sh": "sh", ".py": "python", ".json": "json"}
IMAGES = (".svg", ".png", ".jpg", ".gif")
LINK = re.compile(r"(\]\()([^)\s]+)(\))")


def tracked(*patterns):
    done = subprocess.run([ROOT / "tools/list-files.sh", *patterns], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def outside_code(text, change):
    """The text, with each of its parts that is not in a fence or between backticks changed."""
    parts = re.split(r"(^ *```.*?^ *```[^\n]*$|`[^`\n]+`)", text, flags=re.M | re.S)
    return "".join(part if i % 2 else change(part) for i, part in enumerate(parts))


class Stage:
    """The folder from which the site is built."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.pages = [page for page in tracked("*.md") if page != HOME]
        self.shown = {}  # a file that is no page: the page that shows it

    def write(self, path, text):
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def show(self, path):
        """The page that shows a file or lists a folder."""
        page = self.shown.get(path)
        if page:
            return page
        page = self.shown[path] = f"files/{path}.md"
        if (ROOT / path).is_dir():
            inside = [f for f in tracked(f"{path}/*") if "/" not in f[len(path) + 1:]]
            here = os.path.dirname(page)
            body = "\n".join(f"* [{os.path.basename(f)}]({os.path.relpath(self.target(f), here)})" for f in inside)
        else:
            code = (ROOT / path).read_text(encoding="utf-8")
            fence = "`" * max(3, max(map(len, re.findall("`+", code)), default=0) + 1)
            body = f"{fence}{LANGUAGES.get(pathlib.Path(path).suffix, 'text')}\n{code}{fence}"
        self.write(page, f"---\norphan: true\n---\n\n# `{path}`\n\n{body}\n")
        return page

    def target(self, path):
        """The place of a file or folder of the tree on the site."""
        if path == HOME:
            return "index.md"
        if path in self.pages:
            return path
        if path == "include/neardup":
            return "reference/c/index.md"
        if path.startswith("include/neardup/"):
            return f"reference/c/{pathlib.Path(path).stem}_h.rst"
        if path.startswith("man/neardup"):
            return f"reference/command/{pathlib.Path(path).stem}.md"
        if path.endswith(IMAGES):
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, target)
            return path
        if f"{path}/README.md" in self.pages:
            return f"{path}/README.md"
        if not (ROOT / path).exists():
            raise SystemExit(f"a page links to {path}, which is not there")
        return self.show(path)

    def mend_links(self, text, page, at):
        """The text of `page` of the tree, which is `at` on the site."""

        def mend(match):
            file, mark, anchor = match[2].partition("#")
            if not file or re.match(r"[a-z]+:", file):
                return match[0]
            path = os.path.normpath(os.path.join(os.path.dirname(page), file))
            target = path if path.startswith("reference/") else self.target(path)
            return match[1] + os.path.relpath(target, os.path.dirname(at) or ".") + mark + anchor + match[3]

        return outside_code(text, lambda part: LINK.sub(mend, part))

    def copy_pages(self):
        for page in self.pages:
            self.write(page, self.mend_links((ROOT / page).read_text(encoding="utf-8"), page, page))

    def generated(self):
        return sorted(str(p.relative_to(self.folder)) for p in (self.folder / "reference").rglob("*.*"))

    def arrange(self):
        """The home page with the navigation, and the pages that have pages of their own below them."""
        known = self.pages + self.generated()
        parts, below, used = read_navigation(known)
        rest = [page for page in known if page not in used]
        parts[-1][1].extend(rest)
        home = self.mend_links((ROOT / HOME).read_text(encoding="utf-8"), HOME, "index.md")
        home = home_page.fill(home)
        self.write("index.md", home + "".join(toctree(pages, caption) for caption, pages in parts))
        for page, children in below.items():
            with open(self.folder / page, "a", encoding="utf-8") as out:
                out.write(toctree(children, None, rst=page.endswith(".rst")))
        return rest


def toctree(pages, caption, rst=False):
    """Pages are paths, or (path, title) where the page's own title does not do."""
    names = [f"/{os.path.splitext(page)[0]}" if isinstance(page, str) else f"{page[1]} </{os.path.splitext(page[0])[0]}>"
             for page in pages]
    options = [":hidden:"] + ([f":caption: {caption}"] if caption else [])
    if rst:
        return "\n.. toctree::\n" + "".join(f"   {line}\n" for line in options + [""] + names)
    return "\n```{toctree}\n" + "\n".join(options + [""] + names) + "\n```\n"


def read_navigation(known):
    """[(caption, pages)], {page: pages below it} and all pages that are named, of docs/site/nav.txt."""
    parts, below, used, parent = [], {}, set(), None
    for line in (ROOT / "docs/site/nav.txt").read_text(encoding="utf-8").splitlines():
        (pattern, _, title), depth = line.strip().partition(": "), len(line) - len(line.lstrip())
        if not pattern or pattern.startswith("#"):
            continue
        if depth == 0:
            parts.append((pattern, []))
            continue
        found = sorted(page for page in known if fnmatch.fnmatchcase(page, pattern) and page not in used)
        if not found and "*" not in pattern:
            raise SystemExit(f"docs/site/nav.txt names {pattern}, which is no page or stands there twice")
        used.update(found)
        shown = [(page, title) for page in found] if title else found
        if depth == 2:
            parts[-1][1].extend(shown)
            parent = found[-1] if found else None
        elif parent:
            below.setdefault(parent, []).extend(shown)
    return parts, {page: pages for page, pages in below.items() if pages}, used
