#!/usr/bin/env python3
"""check_html.py - every link of the built site leads to a file of it and to an anchor there

usage: check_html.py FOLDER

No page loads anything from elsewhere.  Addresses elsewhere are not fetched; they are listed in
FOLDER/../site-external.txt.
"""
import html.parser
import pathlib
import re
import sys
import urllib.parse

LOADS = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "video": "src"}


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loads = set(), [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        for key in ("id", "name"):
            if attrs.get(key):
                self.anchors.add(attrs[key])
        if tag == "a" and attrs.get("href"):
            self.links.append(attrs["href"])
        if attrs.get(LOADS.get(tag, "")) and not (tag == "link" and attrs.get("rel") in ("next", "prev", "index", "search")):
            self.loads.append(attrs[LOADS[tag]])


def main():
    site = pathlib.Path(sys.argv[1]).resolve()
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    wrong, external, internal = [], set(), 0
    for path, page in pages.items():
        name = path.relative_to(site)
        for link in page.links + page.loads:
            address = urllib.parse.urlsplit(link)
            if address.scheme in ("http", "https", "mailto"):
                external.add(link)
                if link in page.loads:
                    wrong.append(f"{name}: loads {link} from elsewhere")
                continue
            if address.scheme == "data":
                continue
            internal += 1
            target = (path.parent / urllib.parse.unquote(address.path)).resolve() if address.path else path
            if target.is_dir():
                wrong.append(f"{name}: link to {link}: a folder, which file:// does not show")
            elif not target.is_file():
                wrong.append(f"{name}: link to {link}: no such file")
            elif address.fragment and target in pages:
                if urllib.parse.unquote(address.fragment) not in pages[target].anchors:
                    wrong.append(f"{name}: link to {link}: no such anchor")
    for style in site.rglob("*.css"):
        text = re.sub(r"/\*.*?\*/", "", style.read_text(encoding="utf-8"), flags=re.S)
        for address in re.findall(r"(?:url\(|@import)\s*['\"]?((?:https?:)?//[^'\")]+)", text):
            wrong.append(f"{style.relative_to(site)}: loads {address} from elsewhere")
    (site.parent / "site-external.txt").write_text("".join(f"{link}\n" for link in sorted(external)), encoding="utf-8")
    print("\n".join(wrong))
    print(f"{len(pages)} pages, {internal} links within the site, {len(external)} addresses elsewhere "
          "(build/site-external.txt, not fetched)")
    return 1 if wrong or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
