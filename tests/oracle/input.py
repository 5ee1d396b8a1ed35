#!/usr/bin/env python3
"""input.py - records of JSON Lines, CSV and TSV against Python's own json and csv; trees of pages

usage: input.py INPUT_DUMP

Lines are made by a fixed generator: valid records, and the same with some bytes changed, left out
or put in.  Both sides must agree on which are records, and on every id and text.
"""
import csv
import io
import json
import os
import random
import subprocess
import sys
import tempfile

NONE, STRING, RAW = "0", "1", "2"


def dump(program, kind, data):
    files = data if isinstance(data, list) else [data]
    with tempfile.TemporaryDirectory() as directory:
        paths = [os.path.join(directory, f"input{i}") for i in range(len(files))]
        for path, content in zip(paths, files):
            with open(path, "wb") as f:
                f.write(content)
        out = subprocess.run([program, kind] + paths, stdout=subprocess.PIPE, check=True).stdout
    return [line.split("\t") for line in out.decode().splitlines()]


def utf8(s):
    """Pairs of surrogates joined, lone ones replaced."""
    return s.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


class Number(str):
    pass


def refuse(_):
    raise ValueError("no JSON")


def first_of_equal_keys(pairs):
    made = {}
    for key, value in pairs:
        made.setdefault(key, value)
    return made


DECODER = json.JSONDecoder(object_pairs_hook=first_of_equal_keys, parse_int=Number,
                           parse_float=Number, parse_constant=refuse)


def expected_of_json(line):
    """None: no record; else (kind of id, id, text)."""
    try:
        text = line.decode("utf-8", "replace")
        record, end = DECODER.raw_decode(text.lstrip(" \t\r\n"))
        if text.lstrip(" \t\r\n")[end:].strip(" \t\r\n") or not isinstance(record, dict):
            return None
    except (ValueError, RecursionError):
        return None
    text, key = record.get("text"), record.get("id")
    if not isinstance(text, str) or isinstance(text, Number):
        return None
    if isinstance(key, Number):
        return RAW, key.encode(), utf8(text)
    if isinstance(key, bool):
        return RAW, b"true" if key else b"false", utf8(text)
    if isinstance(key, str) and key:
        return STRING, utf8(key), utf8(text)
    return NONE, b"", utf8(text)


WORDS = ["a", "word", "é", "日本", "😀", "\n", "\t", '"', "\\", "/", "\u0000", "\ud83d", "\udc00", ""]
VALUES = [None, True, False, 0, -1.5, 1e300, 12345678901234567890123, "x", "", [], [1, [2]], {},
          {"text": "inner"}, {"a": {"b": None}}]


def random_record(r):
    record = {}
    for key in r.sample(["id", "text", "other", "ké", ""], r.randint(0, 5)):
        record[key] = r.choice(VALUES)
    if r.random() < 0.8:
        record["text"] = "".join(r.choice(WORDS) for _ in range(r.randint(0, 30)))
    ascii_only = r.random() < 0.6
    line = json.dumps(record, ensure_ascii=ascii_only, separators=r.choice([None, (",", ":")]))
    line = line.encode("utf-8", "surrogatepass" if ascii_only else "replace")
    if r.random() < 0.1 and line.endswith(b"}") and len(line) > 2:
        line = line[:-1] + b', "text": "again"}'
    return line


PIECES = [b'"', b"\\", b"{", b"}", b"[", b"]", b":", b",", b" ", b"\x01", b"\xff", b"\xe2\x82",
          b"0", b"-", b"e", b".", b"true", b"null", b"NaN", b"\\u", b"\\ud800", b"x", b"\x7f"]


def spoiled(r, line):
    for _ in range(r.randint(1, 2)):
        at = r.randint(0, len(line))
        choice = r.random()
        if choice < 0.4:
            line = line[:at] + r.choice(PIECES) + line[at:]
        elif choice < 0.7:
            line = line[:at] + line[at + r.randint(1, 3):]
        else:
            line = line[:at] + r.choice(PIECES) + line[at + 1:]
    return line


def check_json(program):
    r = random.Random(3)
    lines = []
    for _ in range(20000):
        line = random_record(r)
        lines.append(spoiled(r, line) if r.random() < 0.6 else line)
    lines = [line for line in lines if b"\n" not in line and line.strip(b" \t\r")]
    if lines[0].lstrip()[:1] != b"{":
        lines.insert(0, b'{"text": "first"}')
    rows = dump(program, "jsonl", b"\n".join(lines))
    assert len(rows) == len(lines), (len(rows), len(lines))
    good = 0
    for row, line in zip(rows, lines):
        expected = expected_of_json(line)
        got = None if row[1] == "bad" else (row[2], bytes.fromhex(row[3]), bytes.fromhex(row[4]))
        assert got == expected, (line, got, expected)
        good += got is not None
    print(f"json: {good} records and {len(lines) - good} bad lines agree")
    assert good > 3000 and len(lines) - good > 3000


def check_csv(program):
    r = random.Random(4)
    cells = 0
    for _ in range(300):
        text = "text,id\n"
        for _ in range(r.randint(0, 30)):
            text += "".join(r.choice(["a", "é", ",", '"', '""', "\n", "\r\n", ' "x"', ',"', '",'])
                            for _ in range(r.randint(0, 12))) + "\n"
        rows = dump(program, "csv", text.encode())
        if any(row[1] == "failed" for row in rows):
            continue
        reader = csv.reader(io.StringIO(text, newline=""))
        next(reader)
        expected = []
        for row in reader:
            if len(row) == 2:
                kind = STRING if row[1] else NONE
                expected.append(["good", kind, row[1].encode().hex(), row[0].encode().hex()])
            elif row:
                expected.append(["bad"])
        assert [row[1:] for row in rows] == expected, (text, rows, expected)
        cells += 2 * len(expected)
    print(f"csv: {cells} cells agree")
    assert cells > 200


def check_tsv(program):
    r = random.Random(5)
    texts = ["".join(r.choice(["a", "é", "\t", "\n", "\r", "\\", "t", '"']) for _ in range(9))
             for _ in range(2000)]
    made = "id\ttext\n"
    for number, text in enumerate(texts):
        for plain, escaped in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
            text = text.replace(plain, escaped)
        made += f"{number}\t{text}\n"
    rows = dump(program, "tsv", made.encode())
    assert [bytes.fromhex(row[4]).decode() for row in rows] == texts
    print(f"tsv: {len(texts)} cells agree")


VOID = ["br", "hr", "img", "input"]
BLOCKS = ["div", "section", "table", "ul", "article", "nav", "x-card"]
PHRASES = ["b", "i", "span", "em", "a", "code"]
# An element that is not given here may hold anything.
INSIDE = {"table": ["tr"], "tr": ["td", "th"], "ul": ["li"], "p": PHRASES + ["br", "img"],
          **{name: ["samp", "br"] for name in PHRASES}, "samp": ["kbd"], "kbd": ["img"]}
OMITTED = ["li", "td", "th", "tr"]  # whose end tags pages leave out


def random_element(r, name, parent, tree):
    """The element as HTML; it and what is in it are added to the tree."""
    number = len(tree)
    tree.append((parent, name))
    tag = name.upper() if r.random() < .1 else name
    start = f"<{tag}" + r.choice(["", "", ' class="x > y"', " id=z", "\n data-q='<b>'"])
    if name in VOID:
        return start + r.choice([">", "/>", " />"])
    inside, text = INSIDE.get(name, BLOCKS + PHRASES + VOID + ["p", "p"]), ""
    for _ in range(r.choice([0, 1, 2, 4]) if number < 150 else 0):
        if name not in ("table", "tr", "ul"):
            text += r.choice(["", "words ", "a &lt; b", "<!-- <i>no</i> -->"])
        text += random_element(r, r.choice(inside), number, tree)
    end = "" if name in OMITTED and r.random() < .3 else f"</{tag}>"
    return start + ">" + text + end


def random_page(r):
    tree = [(-1, "html"), (0, "head"), (1, "title"), (0, "body")]
    page = "<!DOCTYPE html><html><head><title>t</title></head><body>"
    for _ in range(r.randint(0, 6)):
        page += random_element(r, r.choice(BLOCKS + ["p"]), 3, tree)
    return page + "</body></html>", [f"{parent}:{name}" for parent, name in tree]


def check_html(program):
    r = random.Random(6)
    made = [random_page(r) for _ in range(400)]
    rows = dump(program, "html", [page.encode() for page, _ in made])
    assert len(rows) == len(made)
    for row, (page, tree) in zip(rows, made):
        assert row[5:] == tree, (page, [x for x in zip(row[5:], tree) if x[0] != x[1]][:3])
    print(f"html: {sum(len(tree) for _, tree in made)} elements agree")


def main():
    check_html(sys.argv[1])
    check_json(sys.argv[1])
    check_csv(sys.argv[1])
    check_tsv(sys.argv[1])


if __name__ == "__main__":
    main()
