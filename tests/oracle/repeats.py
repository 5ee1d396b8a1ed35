#!/usr/bin/env python3
"""repeats.py - neardup repeats against docs/format/repeats.md, on corpora made at random

    tests/oracle/repeats.py NEARDUP [SEED]

Computes in plain Python which parts are cut, by comparing every window with every earlier one, and
expects the records and the manifest byte for byte.  Whatever was cut must stand in full, as tokens, in
the record that the manifest names, as it was written.  Shares no code with the program.
"""
import json
import os
import random
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))
import features  # noqa: E402
import text as oracle_text  # noqa: E402

NIGHTLY = "NEARDUP_NIGHTLY" in os.environ
WORDS = ["bees", "wax", "Wax", "of", "the", "hive", "é", "e\u0301", "x\u00ady", "日本", "人", "語",
         "ﬁn", "㏂", "\u00ad", "J", "42", "\ufffd", "\U0001f600"]
BETWEEN = ['"', "\\", " ", " ", " ", ", ", ". ", "! ", "\n", "\n", "\r\n", "\n\n", "\n \n\n", "", "。", "-", "\t"]


# --- texts: lists of characters, each with its bytes in the record ------------------------------

def in_json(c, rnd):
    code = ord(c)
    ways = [c.encode()] if code >= 0x20 and c not in '"\\' else []
    if code < 0x10000:
        ways.append(b"\\u%04x" % code)
    else:
        high, low = divmod(code - 0x10000, 0x400)
        ways.append(b"\\u%04X\\u%04x" % (0xD800 + high, 0xDC00 + low))
    short = {"\n": b"\\n", "\r": b"\\r", "\t": b"\\t"}
    return rnd.choice(ways[:1] * 3 + ways) if c not in short else short[c]


def in_record(c, rnd, kind):
    """How a format writes a character."""
    if kind == "json":
        return in_json(c, rnd)
    if kind == "quoted":
        return b'""' if c == '"' else c.encode()
    if kind == "tsv":
        return {"\n": b"\\n", "\r": b"\\r", "\t": b"\\t", "\\": b"\\\\"}.get(c, c.encode())
    return c.encode()


def random_characters(rnd, fragments, kind):
    text = ""
    for _ in range(rnd.choice([0, 1, 2, 5, 9])):
        text += rnd.choice(fragments) if rnd.random() < .6 else rnd.choice(WORDS)
        text += rnd.choice(BETWEEN)
    if kind == "bare":  # a cell without quotes
        text = text.lstrip('"').translate(str.maketrans("\r\n,", "   "))
    characters = [(c, in_record(c, rnd, kind)) for c in text]
    for i, (c, _) in enumerate(characters[:-1]):  # a backslash that makes no escape may stand for itself
        if kind == "tsv" and c == "\\" and characters[i + 1][0] not in "tnr\\\n\r\t" and rnd.random() < .5:
            characters[i] = (c, b"\\")
    if rnd.random() < .2:  # what is no character is read as U+FFFD
        raw = rnd.choice([b"\xff", b"\xe2\x82"] + [b"\\ud800"] * (kind == "json"))
        characters.insert(rnd.randrange(len(characters) + 1), ("\ufffd", raw))
    return characters


def places_of(text):
    """The byte at which each character begins, and the end."""
    places = [0]
    for c in text:
        places.append(places[-1] + len(c.encode()))
    return places


# --- tokens with their places, in characters ----------------------------------------------------

def pieces_of(text):
    """A base with its marks; each is normalised by itself."""
    pieces = []
    for i, c in enumerate(text):
        if pieces and unicodedata.combining(c):
            pieces[-1][1] = i + 1
        else:
            pieces.append([i, i + 1])
    return pieces


def tokens_of(text, start=0):
    runs = []
    for begin, end in pieces_of(text):
        for c in oracle_text.normalise(text[begin:end]):
            kind = oracle_text.class_of(c)
            if not runs or runs[-1][0] != kind:
                runs.append((kind, []))
            runs[-1][1].append((c, start + begin, start + end))
    for kind, run in runs:
        size = 2 if kind == "bigram" and len(run) > 1 else len(run)
        for i in range(len(run) - size + 1 if kind != "separator" else 0):
            part = run[i:i + size]
            yield "".join(c for c, _, _ in part), part[0][1], part[-1][2]


def words_of(text):
    return [token for token, _, _ in tokens_of(text)]


# --- units and windows: (unit, first character, end, tokens) ------------------------------------

def lines_of(text):
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + parts[-1:]


def paragraphs_of(text):
    """Each is its lines and the blank ones that follow; blank lines that begin the text are one."""
    parts = [["", True]]
    for line in lines_of(text):
        is_blank = not line.strip(" \t\r\n")
        if parts[-1][1] and not is_blank:
            parts.append(["", False])
        parts[-1][0] += line
        parts[-1][1] |= is_blank
    return [part for part, _ in parts]


def is_whole(tokens, first, last):
    """No character gives tokens on both sides of the start, or of the end."""
    before, after = tokens[first - 1:first], tokens[last + 1:last + 2]
    return not ((first and before[0][2] >= tokens[first][2]) or
                (after and (after[0][1] <= tokens[last][1] or after[0][2] <= tokens[last][2])))


def windows_of(text, cut, least):
    if cut == "passages":
        tokens = list(tokens_of(text))
        return [(i, tokens[i][1], tokens[i + least - 1][2], tuple(t for t, _, _ in tokens[i:i + least]))
                for i in range(len(tokens) - least + 1) if is_whole(tokens, i, i + least - 1)]
    parts = (paragraphs_of(text) if cut == "paragraphs" else features.sentences(text) if cut == "sentences"
             else lines_of(text))
    units, at = [], 0
    for part in parts:
        tokens = words_of(part)
        if tokens:
            units.append((at, at + len(part), tuple(tokens)))
        at += len(part)
    width = 3 if cut == "sentences" else 1
    found = []
    for i in range(len(units) - width + 1):
        run = units[i:i + width]
        # The tokens of each sentence: where one ends counts.
        if sum(len(unit[2]) for unit in run) >= least:
            found.append((i, run[0][0], run[-1][1], tuple(unit[2] for unit in run)))
    return found


# --- which of them are cut ----------------------------------------------------------------------

def cut_all(texts, cut, least, occurrences):
    """Rows (document, from, to, source, from, to) of the manifest, in characters, and what is cut."""
    windows = [(d, *w) for d, text in enumerate(texts) for w in windows_of(text, cut, least)]
    equal = {}
    for w in windows:
        equal.setdefault(w[4], []).append(w)
    cuts, rows, last = [[] for _ in texts], [], None
    for w in windows:
        document, unit, begin, end, tokens = w
        if len(equal[tokens]) < occurrences:
            continue
        source = next((q for q in equal[tokens] if (q[0] < document or (q[0] == document and q[3] <= begin)) and
                       not any(a < q[3] and q[2] < b for a, b in cuts[q[0]])), None)
        if not source:
            continue
        cuts[document].append((begin, end))
        if (last and last[0] == (document, unit - 1, source[0], source[1] - 1) and
                begin <= rows[-1][2] and source[2] <= rows[-1][5]):
            rows[-1][2], rows[-1][5] = end, source[3]
        else:
            rows.append([document, begin, end, source[0], source[2], source[3]])
        last = ((document, unit, source[0], source[1]),)
    return rows, cuts


def separates(c):
    return bool(oracle_text.normalise(c)) and not words_of(c)


def left_of(characters, cuts, kind):
    """Return what is left, as characters: one space where two words would become one.  In TSV a backslash
    before a cut is written so that it makes no escape with what follows."""
    text, left, at = "".join(c for c, _ in characters), [], 0
    union = []
    for begin, end in sorted(cuts):
        if union and begin <= union[-1][1]:
            union[-1][1] = max(end, union[-1][1])
        else:
            union.append([begin, end])
    for begin, end in union:
        left += characters[at:begin]
        if kind == "tsv" and begin > at and left[-1][0] == "\\":
            left[-1] = ("\\", b"\\\\")
        if 0 < begin and end < len(text) and not separates(text[begin - 1]) and not separates(text[end]):
            left.append((" ", b" "))
        at = end
    return left + characters[at:]


# --- one corpus ---------------------------------------------------------------------------------

def record_of(number, characters, kind):
    raw = b"".join(r for _, r in characters)
    is_json = kind == "json"
    if kind in ("quoted", "bare", "tsv"):
        if kind == "quoted" or (kind == "bare" and raw.startswith(b'"')):
            raw = b'"%s"' % (raw if kind == "quoted" else raw.replace(b'"', b'""'))
        return (b"\t" if kind == "tsv" else b",").join([b"%d" % number, url_of(number), raw, b"n"]) + b"\r\n"
    return b'{"id" :%d,"url":"%s","text":\t"%s", "n":[1,{"text":2}]}\n' % (
        number, url_of(number), raw) if is_json else raw


def url_of(number):
    return b"http://u@Host%d.example:80/%d" % (number % 7, number) if number % 5 else b"no address"


def domains_of(texts, cuts):
    """The rows of the summary for each host, those that lost most first, then those that came first."""
    found = {}
    for i, (text, cut) in enumerate(zip(texts, cuts)):
        if i % 5 == 0:
            continue
        lost = {k for begin, end in cut for k in range(begin, end)}
        d = found.setdefault(f"host{i % 7}.example", {"documents": 0, "changed": 0, "text_bytes": 0, "cut_bytes": 0})
        d["documents"] += 1
        d["changed"] += bool(lost)
        d["text_bytes"] += len(text.encode())
        d["cut_bytes"] += sum(len(text[k].encode()) for k in lost)
    return sorted(({"name": name} | d for name, d in found.items()), key=lambda d: -d["cut_bytes"])


def contains(words, part):
    return any(words[i:i + len(part)] == part for i in range(len(words) - len(part) + 1))


def check(neardup, rnd, folder):
    kinds = rnd.choice([["json"], ["json"], ["text"], ["quoted", "bare"], ["tsv"]])
    is_records, writes_texts = kinds != ["text"], rnd.random() < .2
    fragments = ["".join(rnd.choice(WORDS) + rnd.choice(BETWEEN) for _ in range(rnd.choice([2, 3, 6, 9])))
                 for _ in range(4)]
    kind_of = [rnd.choice(kinds) for _ in range(rnd.choice([1, 3, 8, 30]))]
    documents = [random_characters(rnd, fragments, kind) for kind in kind_of]
    cut = rnd.choice(["lines", "paragraphs", "sentences", "passages", "passages"])
    least = rnd.choice([1, 2, 3, 4, 6] if cut == "passages" else [1, 1, 2, 4])
    occurrences = rnd.choice([2, 2, 3])
    drops = rnd.random() < .3
    texts = ["".join(c for c, _ in d) for d in documents]
    rows, cuts = cut_all(texts, cut, least, occurrences)
    left = [left_of(d, c, kind) for d, c, kind in zip(documents, cuts, kind_of)]
    stays = [not drops or not c or bool(words_of("".join(ch for ch, _ in l))) for c, l in zip(cuts, left)]

    for d, begin, end, source, _, _ in rows:
        kept = words_of("".join(c for c, _ in left[source]))
        assert contains(kept, words_of(texts[d][begin:end])), (texts[d][begin:end], kept)

    separator = b"\t" if kinds == ["tsv"] else b","
    header = separator.join([b"id", b"url", b"text", b"n"]) + b"\n" if kinds[0] in ("quoted", "tsv") else b""
    if is_records:
        (folder / "in").write_bytes(header + b"".join(map(record_of, range(len(documents)), documents, kind_of)))
        names = ["in"]
    else:
        names = [f"{i:03}.txt" for i in range(len(documents))]
        for name, d in zip(names, documents):
            (folder / name).write_bytes(record_of(0, d, "text"))
    to = ["-o", "out"] + ["--texts"] * writes_texts if is_records or writes_texts else ["--output-dir", "out"]
    form = {"json": "jsonl", "quoted": "csv", "tsv": "tsv", "text": "text"}[kinds[0]]
    done = subprocess.run([neardup, "repeats", "-q", "--cut", cut, "--tokens", str(least), "--occurrences",
                           str(occurrences), "-j", str(rnd.choice([1, 3])), "--manifest", "m.jsonl",
                           "--summary", "s.json",
                           *["--drop-empty"] * drops, *["--memory", "64M"] * (rnd.random() < .3),
                           "--format", form, *to, *names],
                          cwd=folder, capture_output=True, check=False)
    what = f"--cut {cut} --tokens {least} --occurrences {occurrences}: {texts!r}"
    assert done.returncode == 0, (done.stderr, what)
    number = (lambda i: i) if kinds == ["json"] else str
    if writes_texts:
        expected = [{"id": number(i) if is_records else names[i], "text": "".join(c for c, _ in l)}
                    for i, l in enumerate(left) if stays[i]]
        assert [json.loads(line) for line in (folder / "out").read_text().splitlines()] == expected, what
    elif is_records:
        expected = header + b"".join(record_of(i, l, kind_of[i]) for i, l in enumerate(left) if stays[i])
        assert (folder / "out").read_bytes() == expected, (what, expected, (folder / "out").read_bytes())
    else:
        for name, l, stay in zip(names, left, stays):
            path = folder / "out" / name
            assert path.exists() == stay, (name, what)
            assert not stay or path.read_bytes() == record_of(0, l, "text"), (name, what)
    places = [places_of(text) for text in texts]
    name = number if is_records else (lambda i: names[i])
    # A record of CSV begins where those before it have ended, with the line ends in their cells.
    lines = [header.count(b"\n") + 1]
    for i, d in enumerate(documents):
        lines.append(lines[-1] + record_of(i, d, kind_of[i]).count(b"\n"))
    at = (lambda i: f"in:{lines[i]}") if is_records else (lambda i: names[i])
    expected = [{"cut": name(d), "cut_at": at(d),
                 "from": places[d][begin], "to": places[d][end],
                 "kept": name(s), "kept_at": at(s),
                 "kept_from": places[s][a], "kept_to": places[s][b]} for d, begin, end, s, a, b in rows]
    found = [json.loads(line) for line in (folder / "m.jsonl").read_text().splitlines()]
    assert found[0]["options"]["cut"] == cut and found[1:] == expected, (what, expected, found[1:])
    summary = json.loads((folder / "s.json").read_text())
    lost = [{k for begin, end in cut for k in range(begin, end)} for cut in cuts]
    assert summary["documents"] == len(documents) and summary["cuts"] == len(rows), summary
    assert summary["removed"] == stays.count(False) == len(documents) - summary["kept"], summary
    assert summary["changed"] == sum(map(bool, lost)), summary
    assert summary["emptied"] == sum(bool(c) and not words_of("".join(ch for ch, _ in l))
                                     for c, l in zip(cuts, left)), summary
    assert summary["text_bytes"] == sum(len(t.encode()) for t in texts), summary
    assert summary["cut_bytes"] == sum(len(t[k].encode()) for t, c in zip(texts, lost) for k in c), summary
    assert summary["domains"] == (domains_of(texts, cuts) if is_records else []), (summary, texts)
    return len(rows)


# --- near parts ---------------------------------------------------------------------------------

def shingles(words):
    return {tuple(words[i:i + 3]) for i in range(len(words) - 2)}


def resemblance(a, b):
    if a == b:
        return 1.0
    x, y = shingles(a), shingles(b)
    return len(x & y) / len(x | y) if x and y else 0.0


def units_of(text, cut):
    parts = (paragraphs_of(text) if cut == "paragraphs" else features.sentences(text) if cut == "sentences"
             else lines_of(text))
    found, at = [], 0
    for part in parts:
        words = words_of(part)
        if words:
            found.append((at, at + len(part), words))
        at += len(part)
    return found


def near_texts(rnd):
    """Texts of lines that were edited a little: words replaced, inserted and left out."""
    words = [f"w{i}" for i in range(200)]
    lines = [rnd.choices(words, k=rnd.randrange(1, 40)) for _ in range(12)]
    texts = []
    for _ in range(rnd.choice([2, 10, 40])):
        text = ""
        for _ in range(rnd.randrange(8)):
            line = list(rnd.choice(lines))
            for _ in range(rnd.choice([0, 0, 1, 1, 2, 5])):
                line[rnd.randrange(len(line)):][:rnd.randrange(2)] = rnd.choices(words, k=rnd.randrange(2))
                line = line or ["x"]
            line = [rnd.choice([w, w.upper()]) for w in line]
            text += " ".join(line) + rnd.choice([".\n", ".\n", ".\n\n", ". Z", "\n"])
        texts.append(text)
    return texts


def check_near(neardup, rnd, folder):
    """Check that each cut part resembles the one that is named, which stays, and hardly any is left that resembles it."""
    texts, cut = near_texts(rnd), rnd.choice(["lines", "paragraphs", "sentences"])
    near, least = rnd.choice([.3, .5, .8, 1]), rnd.choice([1, 1, 4])
    (folder / "in.jsonl").write_text("".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in enumerate(texts)))
    outputs = []
    for more in ["-j", "1"], ["-j", "3", "--memory", "64M"]:
        subprocess.run([neardup, "repeats", "-q", "--cut", cut, "--near", str(near), "--tokens", str(least), *more,
                        "-o", "out.jsonl", "--manifest", "m.jsonl", "in.jsonl"], cwd=folder, check=True)
        outputs.append([(folder / name).read_bytes() for name in ("out.jsonl", "m.jsonl")])
    assert outputs[0] == outputs[1], (texts, cut, near)
    rows = [json.loads(line) for line in outputs[0][1].decode().splitlines()][1:]
    units = [units_of(t, cut) for t in texts]
    gone = {(r["cut"], i) for r in rows for i, u in enumerate(units[r["cut"]]) if r["from"] <= u[0] and u[1] <= r["to"]}
    for r in rows:
        lost = [u[2] for u in units[r["cut"]] if r["from"] <= u[0] and u[1] <= r["to"]]
        kept = [(i, u[2]) for i, u in enumerate(units[r["kept"]]) if r["kept_from"] <= u[0] and u[1] <= r["kept_to"]]
        assert lost and len(lost) == len(kept), (r, texts)
        assert not any((r["kept"], i) in gone for i, _ in kept), (r, texts)
        assert (r["kept"], r["kept_to"]) <= (r["cut"], r["from"]) or r["kept"] < r["cut"], r
        assert r["resemblance"] >= near, r
        if cut != "sentences":
            values = [resemblance(a, b) for a, (_, b) in zip(lost, kept)]
            assert abs(min(values) - r["resemblance"]) < 1e-12, (r, values)
    for d, text in enumerate(texts):
        left = "".join(text[b:e] for (b, e), i in ((u[:2], i) for i, u in enumerate(units[d])) if (d, i) not in gone)
        found = json.loads(outputs[0][0].decode().splitlines()[d])["text"]
        assert words_of(found) == words_of(left), (found, left)
    if cut == "sentences":
        return len(rows), 0
    stay = [u[2] for d, us in enumerate(units) for i, u in enumerate(us) if (d, i) not in gone and len(u[2]) >= least]
    missed = sum(any(resemblance(stay[k], stay[i]) >= near for k in range(i)) for i in range(len(stay)))
    return len(gone), missed


def main():
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    neardup, n, n_rows = os.path.abspath(sys.argv[1]), 3000 if NIGHTLY else 300, 0
    for i in range(n):
        with tempfile.TemporaryDirectory() as folder:
            n_rows += check(neardup, random.Random(seed * 1000003 + i), Path(folder))
    n_near = n_missed = 0
    for i in range(n // 3):
        with tempfile.TemporaryDirectory() as folder:
            found, missed = check_near(neardup, random.Random(seed * 1000007 + i), Path(folder))
            n_near += found
            n_missed += missed
    print(f"{n} corpora, {n_rows} cuts; {n_near} near parts, {n_missed} were not found")
    assert n_missed * 100 < n_near
    assert n_rows > n


if __name__ == "__main__":
    main()
