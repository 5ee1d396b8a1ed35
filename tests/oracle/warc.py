#!/usr/bin/env python3
"""warc.py - archives made by Python, with the quirks of crawlers, against the records that are read

usage: warc.py WARC_DUMP INPUT_DUMP

Archives are made by a fixed generator: records of all types, with wrong lengths, without lengths,
with LF or CR LF, with bodies in several charsets, in chunks and compressed.  Each record must be
found with its content, and each text with its address.  Where the environment variable
NEARDUP_TEST_DATA names a folder with warc-fixtures, their records are counted as well, and held
against what FastWARC 2.0.1 and warcio 1.8.1 count.
"""
import glob
import gzip
import os
import random
import subprocess
import sys
import tempfile
import zlib
from collections import Counter

WORDS = ["one", "two", "café", "naïve", "über", "WARC/1.0", "HTTP/1.1", "\n", "\r\n", "<p>", "&amp;", "a" * 50]
TYPES = ["response", "response", "response", "resource", "conversion", "request", "metadata", "revisit",
         "warcinfo", "continuation"]
QUIRKS = ["", "", "", "", "short1", "short2", "stale", "long", "none"]

# Fixtures that fastwarc (quirks mode) and warcio count alike: records by type and bytes of contents.
# In an ARC, warcio takes two lines of 76 bytes from the content of the first record.
COUNTS = {
    "aut__example.docs.warc.gz": ("request=9,response=9,warcinfo=3", 272629),
    "aut__example.pdf.warc.gz": ("request=37,response=35,revisit=2,warcinfo=2", 3599554),
    "aut__example.warc.gz": ("metadata=261,request=261,response=299,warcinfo=1", 10948669),
    "aut__issue-493.warc": ("request=15,response=10,revisit=5,warcinfo=2", 42993),
    "aut__issue-514.warc": ("metadata=1,request=2,resource=2,response=2,warcinfo=1", 43459),
    "chatnoir-copycat__snapshot-wayback-topic-02.warc.gz": ("response=128,warcinfo=1", 8091209),
    "chatnoir-copycat__topic-1--20201003083220753-00000.warc.gz": ("response=238,warcinfo=1", 3193812),
    "chatnoir-resiliparse__block-sized-records.warc": ("unknown=3", 48687),
    "chatnoir-resiliparse__clueweb-quirk.warc.gz": ("response=29,warcinfo=1", 921046),
    "chatnoir-resiliparse__warcfile.warc": ("metadata=16,request=17,response=16,warcinfo=1", 527846),
    "chatnoir-resiliparse__warcfile.warc.gz": ("metadata=16,request=17,response=16,warcinfo=1", 527846),
    "ukwa__IAH-20080430204825-00000-blackbook-truncated.arc": ("response=8,warcinfo=1", 86525 + 76),
    "ukwa__IAH-20080430204825-00000-blackbook-truncated.arc.gz": ("response=8,warcinfo=1", 86525 + 76),
    "ukwa__IAH-20080430204825-00000-blackbook-truncated.warc":
        ("metadata=7,request=7,response=8,warcinfo=1", 102065),
    "ukwa__IAH-20080430204825-00000-blackbook-truncated.warc.gz":
        ("metadata=7,request=7,response=8,warcinfo=1", 102065),
    "ukwa__IAH-urls-wget.warc.gz": ("request=16,resource=3,response=16,warcinfo=1", 157350),
    "ukwa__main-page.warc.gz": ("request=77,resource=3,response=70,warcinfo=1", 634430),
    "ukwa__post-blackout.warc.gz": ("request=62,resource=3,response=51,warcinfo=1", 445725),
    "ukwa__sopa-wikipedia-homepage.warc.gz": ("request=86,resource=3,response=74,warcinfo=1", 663611),
    "warcio__example-iana.org-chunked.warc": ("request=1,response=1,warcinfo=1", 7779),
    "warcio__example.warc": ("request=2,response=1,revisit=1,warcinfo=2", 3049),
    # One of the two reads these, or neither does (docs/format/warc.md).
    "aut__example.arc.gz": ("response=299,warcinfo=1", 7687070 + 76),
    "chatnoir-copycat__00.warc.gz": ("response=23,warcinfo=1", 436691),
    "chatnoir-copycat__0000tw-00.warc.gz": ("response=3,warcinfo=1", 69310),
    "chatnoir-copycat__small-sample-1213893279526_0.arc": ("response=145,warcinfo=1", None),
    "chatnoir-copycat__small-sample-1262850551027_8.arc": ("response=8,warcinfo=1", None),
}


def text_of(r):
    """Words that do not end in white space; no line begins with a version."""
    text = " ".join(r.choice(WORDS) for _ in range(r.randint(1, 40))).strip()
    return (text + "." if text else "x").replace("\nWARC/", "\nwarc/")


def chunked(r, body):
    out = b""
    while body:
        n = r.randint(1, len(body))
        out += b"%x%s\r\n%s\r\n" % (n, r.choice([b"", b";x=y"]), body[:n])
        body = body[n:]
    return out + b"0\r\n\r\n"


def answer(r, text):
    """The content of a response."""
    charset = r.choice(["utf-8", "iso-8859-1", "windows-1252"])
    body, heads = text.encode(charset), [f"Content-Type: text/plain; charset={charset}"]
    packing = r.choice(["", "", "gzip", "deflate", "claims gzip", "claims chunks"])
    if packing == "gzip":
        body = gzip.compress(body, mtime=0)
    elif packing == "deflate":
        body = zlib.compress(body)
    if packing in ("gzip", "deflate", "claims gzip"):
        heads.append("Content-Encoding: " + packing.removeprefix("claims "))
    if packing == "claims chunks":
        heads.append("Transfer-Encoding: chunked")
    elif r.random() < .3:
        heads.append("Transfer-Encoding: chunked")
        body = chunked(r, body)
    return "\r\n".join(["HTTP/1.1 200 OK"] + heads + ["", ""]).encode() + body


def record(r, number, is_last):
    """(bytes, type, content, (address, text) or None)"""
    kind, text, quirk = r.choice(TYPES), text_of(r), r.choice(QUIRKS)
    address = f"http://{r.choice('abc')}.org/{number}"
    heads, document = [f"WARC-Type: {kind}"], None
    content = text.encode()
    if kind == "response":
        content = answer(r, text)
    elif kind == "revisit":
        content = b"HTTP/1.1 200 OK\r\n\r\n"
    elif kind in ("resource", "conversion"):
        heads.append("Content-Type: text/plain; charset=utf-8")
    if kind in ("response", "resource", "conversion"):
        document = (address, text)
    shown = f"<{address}>" if r.random() < .2 else address
    heads.append(f"WARC-Target-URI: {shown}")
    if quirk and (is_last or content.endswith((b"\n", b"\r")) or len(content) < 3):
        quirk = ""
    length = len(content) + {"short1": -1, "short2": -2, "stale": -len(content) // 2, "long": 9}.get(quirk, 0)
    if quirk != "none":
        heads.insert(r.randint(0, len(heads)), f"Content-Length: {length}")
    end = r.choice(["\n", "\r\n"])
    head = end.join(["WARC/" + r.choice(["0.18", "1.0", "1.1"])] + heads + ["", ""]).encode()
    tail = b"" if is_last and r.random() < .5 else end.encode() * 2
    return head + content + tail, "unknown" if kind == "continuation" else kind, content, document


def run(program, args, data=None):
    out = subprocess.run([program] + args, input=data, stdout=subprocess.PIPE, check=True).stdout
    return [line.split("\t") for line in out.decode().splitlines()]


def check_made(dump, read, seed):
    r = random.Random(seed)
    n = r.randint(1, 30)
    made = [record(r, i, i == n - 1) for i in range(n)]
    data = b"".join(m[0] for m in made)
    found = [(row[0], bytes.fromhex(row[2])) for row in run(dump, ["warc", "-x"], data)]
    assert found == [(kind, content) for _, kind, content, _ in made], (seed, found)
    packed = r.choice([data, gzip.compress(data), b"".join(gzip.compress(m[0]) for m in made)])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "made.warc")
        with open(path, "wb") as f:
            f.write(packed)
        rows = [row for row in run(read, ["warc", path]) if row[1] in ("good", "bad")]
    documents = [tuple(bytes.fromhex(x).decode() for x in row[3:5]) for row in rows if row[1] == "good"]
    assert documents == [m[3] for m in made if m[3]], (seed, documents)
    return n, len(documents)


def check_fixtures(dump, folder):
    for name, (by_type, size) in sorted(COUNTS.items()):
        with open(os.path.join(folder, name), "rb") as f:
            data = f.read()
        if name.endswith(".gz"):
            data = gzip.decompress(data)
        rows = run(dump, ["arc" if ".arc" in name else "warc"], data)
        counts = Counter(row[0] for row in rows)
        shown = ",".join(f"{k}={v}" for k, v in sorted(counts.items()))
        total = sum(int(row[1]) for row in rows)
        assert shown == by_type and (size is None or total == size), (name, shown, total)
    print(f"fixtures: {len(COUNTS)} files agree")


def main():
    dump, read = sys.argv[1:3]
    totals = [check_made(dump, read, seed) for seed in range(int(os.environ.get("NEARDUP_SEEDS", "150")))]
    print(f"made: {sum(n for n, _ in totals)} records, {sum(n for _, n in totals)} documents agree")
    folder = os.path.join(os.environ.get("NEARDUP_TEST_DATA", ""), "warc-fixtures")
    if os.environ.get("NEARDUP_TEST_DATA") and glob.glob(folder + "/*arc*"):
        check_fixtures(dump, folder)


if __name__ == "__main__":
    main()
