"""Items of feeds and stories of NITF read by neardup, lxml and feedparser, one core, in turn."""

import html
import json
import multiprocessing
import os
import sys

import places
import timed

RESULTS = "feeds.jsonl"
NITF_STORIES = 8000
FEEDPARSER_ITEMS = 2000  # it takes seconds for these
# Each makes the text of every item: its title and its body without markup.
LXML_RSS = """
import sys
from lxml import etree, html
n = 0
for _, item in etree.iterparse(sys.argv[1], tag="item", huge_tree=True):
    n += len(item.findtext("title")) + len(item.findtext("guid"))
    n += len(html.fromstring(item.findtext("description") or "<p>").text_content())
    item.clear()
    while item.getprevious() is not None:
        del item.getparent()[0]
print(n)
"""
LXML_JSON = """
import json, sys
from lxml import html
items = json.load(open(sys.argv[1]))["items"]
print(sum(len(i["title"]) + len(html.fromstring(i["content_html"] or "<p>").text_content()) for i in items))
"""
LXML_NITF = """
import os, sys
from lxml import etree
n = 0
for name in sorted(os.listdir(sys.argv[1])):
    root = etree.parse(os.path.join(sys.argv[1], name)).getroot()
    n += len(root.findtext(".//hl1")) + len("".join(root.find(".//body.content").itertext()))
print(n)
"""
FEEDPARSER = """
import sys, feedparser
print(sum(len(e.title) + len(e.summary) + len(e.id) for e in feedparser.parse(sys.argv[1]).entries))
"""


def options(parser):
    parser.add_argument(
        "--runs", type=int, default=5, help="repetitions, default: %(default)s"
    )
    parser.add_argument("--limit", type=float, default=60, help="seconds for one run")


def stories():
    """Id, title and paragraphs of each document of reuters21578."""
    with open(places.corpus("reuters21578"), encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            text = "".join(c if c >= " " or c == "\n" else " " for c in row["text"])
            yield (
                str(row["id"]),
                text.split("\n")[0][:100],
                [p for p in text.split("\n    ") if p.strip()],
            )


def page(paragraphs):
    return "".join(f"<p>{html.escape(p)}</p>" for p in paragraphs)


def write_rss(path, items):
    with open(path, "w", encoding="utf-8") as out:
        out.write(
            '<?xml version="1.0" encoding="utf-8"?>\n<rss version="2.0"><channel><title>t</title>\n'
        )
        for ident, title, paragraphs in items:
            out.write(
                f"<item><title>{html.escape(html.escape(title))}</title><link>http://x/{ident}</link>"
            )
            out.write(
                f"<guid>urn:{ident}</guid><description>{html.escape(page(paragraphs))}</description></item>\n"
            )
        out.write("</channel></rss>\n")


def write_nitf(path, item):
    ident, title, paragraphs = item
    with open(path, "w", encoding="utf-8") as out:
        out.write(
            f'<?xml version="1.0" encoding="utf-8"?>\n<nitf><head><docdata><doc-id id-string="{ident}"/>'
        )
        out.write(
            f"</docdata></head><body><body.head><hedline><hl1>{html.escape(title)}</hl1></hedline></body.head>"
        )
        out.write(f"<body.content>{page(paragraphs)}</body.content></body></nitf>\n")


def write_files(rss, feed, some, nitf):
    items = list(stories())
    write_rss(rss, items)
    with open(feed, "w", encoding="utf-8") as out:
        made = [{"id": i, "title": t, "content_html": page(p)} for i, t, p in items]
        json.dump({"version": "https://jsonfeed.org/version/1.1", "items": made}, out)
    write_rss(some, items[:FEEDPARSER_ITEMS])
    os.makedirs(nitf + ".part", exist_ok=True)
    for item in items[:NITF_STORIES]:
        write_nitf(os.path.join(nitf + ".part", item[0] + ".nitf"), item)
    os.rename(nitf + ".part", nitf)


def make_files():
    """The files, made once, by a process that ends, so that this one stays small (timed.py)."""
    folder = os.path.join(places.BUILD, "data", "feeds")
    names = [
        os.path.join(folder, name)
        for name in ("all.rss", "all.jsonfeed", "some.rss", "nitf")
    ]
    if not os.path.exists(names[3]):
        os.makedirs(folder, exist_ok=True)
        process = multiprocessing.get_context("fork").Process(target=write_files, args=names)
        process.start()
        process.join()
        if process.exitcode:
            raise SystemExit("bench/run feeds: the files could not be made")
    return names


def main(args):
    session = places.new_session("bench/run " + " ".join(sys.argv[1:]))
    cpu = sorted(os.sched_getaffinity(0))[:1]
    program = os.path.join(places.ROOT, "build", "release", "bench", "read_records")
    python = places.rivals_python("requirements-feeds.txt", "venv-feeds")
    rss, feed, some, nitf = make_files()
    log = os.path.join(places.BUILD, "data", "feeds", "log.txt")
    pairs = [
        (rss, "lxml", LXML_RSS),
        (feed, "json and lxml", LXML_JSON),
        (nitf, "lxml", LXML_NITF),
    ]
    for path, rival, script in pairs + [(some, "feedparser", FEEDPARSER)]:
        for number in range(args.runs):
            for tool, command in (
                ("neardup", [program, path, "parse"]),
                (rival, [python, "-c", script, path]),
            ):
                result = timed.run(command, cpu, log, args.limit)
                if result["exit"] != 0:
                    print(
                        f"{os.path.basename(path)}\t{tool}\tfailed: {result.get('error', 'too long')[-200:]}"
                    )
                    return 1
                places.append(
                    RESULTS,
                    dict(
                        session,
                        tool=tool,
                        file=os.path.basename(path),
                        run=number,
                        **result,
                    ),
                )
        places.say(f"{os.path.basename(path)} beside {rival}: done")
    import report

    print(report.feeds())
    return 0
