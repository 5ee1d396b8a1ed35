#!/usr/bin/env python3
"""feed.py - items of random feeds, by ElementTree and json, and by the library

    tests/oracle/feed.py INPUT_DUMP

Makes feeds of RSS and Atom by ElementTree, and of JSON by json, whose texts have no markup, so that
no HTML parser is needed to know them, and holds the ids and texts that INPUT_DUMP (tests/input_dump.c) finds against
what went in.  Shares no code with the library.
"""
import json
import os
import random
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

FEEDS = 400 if "NEARDUP_NIGHTLY" in os.environ else 40
ATOM = "{http://www.w3.org/2005/Atom}"
CONTENT = "{http://purl.org/rss/1.0/modules/content/}encoded"
WORDS = "one two & < > \" ' é 日本 item entry title ]]> a&amp;b x;y".split()


def words(rnd):
    return " ".join(rnd.choice(WORDS) for _ in range(rnd.randrange(0, 12)))


def for_html(text):
    """RSS escapes HTML, so that a text stands there as HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;")


def rss_item(rnd, channel):
    item, ident, link = ET.SubElement(channel, "item"), words(rnd), "http://x/" + str(rnd.random())
    title, body = words(rnd), words(rnd)
    parts = [("title", for_html(title)), ("link", link), ("guid", ident), ("ignored", "x")]
    parts.append((rnd.choice(["description", CONTENT]), for_html(body)))
    rnd.shuffle(parts)
    for name, text in parts:
        ET.SubElement(item, name).text = text
    return ident.strip() or link, title, body


def atom_entry(rnd, feed):
    entry, ident = ET.SubElement(feed, ATOM + "entry"), words(rnd)
    link, title, body = "http://x/?a=1&b=" + str(rnd.random()), words(rnd), words(rnd)
    ET.SubElement(entry, ATOM + "link", {"rel": "self", "href": "no"})
    ET.SubElement(entry, ATOM + "link", {"href": link})
    parts = [("id", ident), ("title", title), (rnd.choice(["content", "summary"]), body)]
    rnd.shuffle(parts)
    for name, text in parts:
        ET.SubElement(entry, ATOM + name).text = text
    return ident.strip() or link, title, body


def random_feed(rnd):
    ET.register_namespace("" if rnd.random() < 0.7 else "a", ATOM[1:-1])
    ET.register_namespace("content", CONTENT[1:].partition("}")[0])
    is_rss = rnd.random() < 0.5
    root = ET.Element("rss") if is_rss else ET.Element(ATOM + "feed")
    parent = ET.SubElement(root, "channel") if is_rss else root
    items = [(rss_item if is_rss else atom_entry)(rnd, parent) for _ in range(rnd.randrange(0, 8))]
    encoding = rnd.choice(["utf-8", "us-ascii", "utf-16"])
    return ET.tostring(root, encoding=encoding, xml_declaration=True), items, is_rss


def json_item(rnd):
    item, ident, link = {}, words(rnd), "http://x/" + str(rnd.random())
    title, body, is_page = words(rnd), words(rnd), rnd.random() < 0.5
    parts = [("title", title), ("url", link), ("id", ident), ("_own", {"items": [{"id": "no"}], "n": [1.5, None]})]
    parts += [("content_html", for_html(body))] if is_page else [("content_text", body)]
    parts += [("summary", "not this")] if body else []
    rnd.shuffle(parts)
    return dict(parts), (ident or link, title, " ".join(body.split()) if is_page else body)


def random_json_feed(rnd):
    made = [json_item(rnd) for _ in range(rnd.randrange(0, 8))]
    parts = [("version", "https://jsonfeed.org/version/1" + rnd.choice(["", ".1"])), ("title", '"items": [{'),
             ("authors", [{"name": "]}"}]), ("items", [item for item, _ in made])]
    rnd.shuffle(parts)
    feed = json.dumps(dict(parts), ensure_ascii=rnd.random() < 0.5, indent=rnd.choice([None, 2]))
    return (feed.replace("/", r"\/") if rnd.random() < 0.5 else feed).encode(), [item for _, item in made]


def expected(title, body, is_rss):
    if is_rss is None:  # JSON Feed: a text stands as it is
        return "\n".join(part for part in (title, body) if part)
    if is_rss:  # a page's white space
        title, body = " ".join(title.split()), " ".join(body.split())
    return "\n".join(part for part in (title.strip(), body.strip()) if part)


def main():
    program, rnd = sys.argv[1], random.Random(1)
    checked = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(FEEDS):
            feed, items, is_rss = random_feed(rnd) if number % 3 else (*random_json_feed(rnd), None)
            path = os.path.join(folder, "f.xml" if number % 3 else "f.json")
            with open(path, "wb") as file:
                file.write(feed)
            done = subprocess.run([program, "auto", path], stdout=subprocess.PIPE, check=True, text=True)
            lines = [line.split("\t") for line in done.stdout.splitlines()]
            lines = [line for line in lines if line[1] != "warning"]  # of UTF-16
            got = [tuple(bytes.fromhex(cell).decode() for cell in line[3:5]) for line in lines]
            wanted = [(ident, expected(title, body, is_rss)) for ident, title, body in items]
            if got != wanted:
                sys.exit(f"feed {number}: {feed!r}\n  went in: {wanted!r}\n  the library: {got!r}")
            checked += len(items)
    assert checked > FEEDS
    print(f"{checked} items of {FEEDS} feeds agree")


if __name__ == "__main__":
    main()
