#!/usr/bin/env python3
"""features.py - the features of a text, computed slowly from docs/format/features.md

    tests/oracle/features.py FEATURE_DUMP

Holds what the program FEATURE_DUMP (tests/feature_dump.c) says against this, on texts of the
repository, on texts made of words, numbers, dates and punctuation, and on random code points.
Shares no code with the library; stems are those of Python's snowballstemmer, where it is there.
"""
import importlib.metadata
import math
import os
import random
import re
import subprocess
import sys
import unicodedata
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import sketch
import text as oracle_text

sys.path.append("/usr/lib/python3/dist-packages")  # where Debian has it, whichever Python this is
try:
    import snowballstemmer
    if importlib.metadata.version("snowballstemmer") != "2.2.0":  # ND_STEM_VERSION; others have other stems
        snowballstemmer = None
except ImportError:
    snowballstemmer = None

ROOT = Path(__file__).resolve().parent.parent.parent
M64 = (1 << 64) - 1
UNITS = ["terms", "shingles", "characters", "sentences", "spots", "paths"]
OF_WORDS = ["terms", "shingles", "sentences", "spots"]
COUNTS = ["distinct", "occurrences"]
SELECTS = ["all", "first", "rarest", "kth", "sentence", "anchored", "uncommon"]
STRIPS = ["none", "numbers", "dates"]


def read_words():
    sections, name = {}, None
    for line in (ROOT / "docs/format/english-words.txt").read_text(encoding="ascii").splitlines():
        line = line.split("#")[0].strip()
        if line.startswith("["):
            name = line.strip("[]")
            sections[name] = set()
        elif line:
            sections[name] |= set(line.split())
    return sections


WORDS = read_words()
DATES = WORDS["months and weekdays"]
SHORT_DATES = WORDS["short months and weekdays"]
TIMES = WORDS["times"]
FIRST_HALVES = WORDS["first halves of times"]
SECOND_HALVES = WORDS["second halves of times"]

# --- apostrophes, sentences, tokens -------------------------------------------------------------

SPACE = set("\t\n\v\f\r \u0085\u00A0\u2028\u2029\u3000")
END = set(".!?\u061F\u06D4\u0964\u0965\u2026\u203C\u203D\u2047\u2048\u2049")
EASTERN = set("\u3002\uFF01\uFF0E\uFF1F\uFF61")
CLOSER = set("\"')]}\u00BB\u2019\u201D\u3009\u300B\u300D\u300F\u3011\uFF09")


def is_word(c):
    return (oracle_text.class_of(c) == "word" and
            not oracle_text.within(ord(c), oracle_text.IGNORABLE_RANGES))


def join_apostrophes(text):
    return "".join(c for i, c in enumerate(text)
                   if not (c in "'\u2019\uFF07" and 0 < i < len(text) - 1 and
                           is_word(text[i - 1]) and is_word(text[i + 1])))


def run_of(text, at, kinds):
    while at < len(text) and text[at] in kinds:
        at += 1
    return at


def is_initial(text, at):
    """The full stop at `at` follows one ASCII letter."""
    return bool(re.search(r"(^|[\x00-\x7f])(?<![A-Za-z0-9])[A-Za-z]\Z", text[max(0, at - 2):at]
                          if at != 1 else text[:1]))


def sentences(text):
    found, start, at = [], 0, 0
    while at < len(text):
        if text[at] in END | EASTERN:
            stop = run_of(text, at, END | EASTERN)
            closed = run_of(text, stop, CLOSER)
            end = run_of(text, closed, SPACE)
            gap = text[closed:end]
            ended = (bool(set(text[at:stop]) & EASTERN) or end == len(text) or
                     gap.count("\n") > 1 or "\u2029" in gap)
            if not ended and gap:
                weak = set(text[at:stop]) <= {".", "\u2026"} and "a" <= text[end] <= "z"
                ended = not weak and not (text[at:closed] == "." and is_initial(text, at))
            at = end if ended else closed
        elif text[at] in SPACE:
            end = run_of(text, at, SPACE)
            ended = text[at:end].count("\n") > 1 or "\u2029" in text[at:end]
            at = end
        else:
            at, ended = at + 1, False
        if ended:
            found.append(text[start:at])
            start = at
    return found + [text[start:]]


def tokens_of(text):
    return list(oracle_text.tokens_of(oracle_text.normalise(text)))


# --- terms --------------------------------------------------------------------------------------

def digits(token):
    return sum(unicodedata.category(c) == "Nd" for c in token)


def date_tokens(tokens):
    """Which tokens are numbers or belong to dates."""
    def strong(i):
        return i < len(tokens) and (digits(tokens[i]) > 0 or tokens[i] in DATES)

    out = []
    for i, token in enumerate(tokens):
        after = i > 0 and out[i - 1]
        following = tokens[i + 1] if i + 1 < len(tokens) else ""
        half = i > 0 and out[i - 1] and tokens[i - 1] in FIRST_HALVES
        out.append(strong(i) or
                   (token in SHORT_DATES and
                    (after or strong(i + 1) or (following in SHORT_DATES and strong(i + 2)))) or
                   (token in TIMES and after) or
                   (token in FIRST_HALVES and after and following in SECOND_HALVES) or
                   (token in SECOND_HALVES and half))
    return out


class Table:
    """A df table."""

    def __init__(self, documents):
        self.n = len(documents)
        self.count = Counter(h for d in documents for h in set(d))

    def df(self, h):
        return self.count.get(h, 0)


class Params:
    def __init__(self, **given):
        self.unit, self.width, self.distance = "terms", 3, 1
        self.count, self.select, self.select_count = "distinct", "all", 0
        self.phrases, self.join, self.strip = 0, 0, "none"
        self.least, self.most = 0, 32
        self.stop, self.stem, self.anchors = "none", "none", ""
        self.template_count, self.template_weight = 0, 0
        self.tree = []  # of paths: depth and name of each element
        self.__dict__.update(given)

    def line(self, text):
        anchors = " ".join(f"{d}:{name}" for d, name in self.tree) or self.anchors
        return (f"{UNITS.index(self.unit)} {self.width} {self.distance} {COUNTS.index(self.count)} "
                f"{SELECTS.index(self.select)} {self.select_count} {self.phrases} {self.join} "
                f"{STRIPS.index(self.strip)} {self.least} {self.most} {self.stop} {self.stem} {self.template_count} {self.template_weight} "
                f"x{anchors.encode().hex()} x{text.encode().hex()}")


STEMMERS = {}


def stem_of(token, language):
    if language == "none" or len(token.encode()) > 255:
        return token
    if language not in STEMMERS:
        STEMMERS[language] = snowballstemmer.stemmer(language)
    return STEMMERS[language].stemWord(token) or token


TEMPLATE_WIDTH = 3


def template_tokens(tokens, p, table):
    """Which tokens stand within a shingle of more documents than template_count."""
    out = [False] * len(tokens)
    if p.template_count == 0:
        return out
    hashes = [sketch.token_hash(t) for t in tokens]
    found = [h for h, _, _ in runs(hashes, tokens, range(len(tokens)), TEMPLATE_WIDTH, " ")]
    for i, h in enumerate(found):
        if table.df(h) > p.template_count:
            for k in range(i, min(len(tokens), i + TEMPLATE_WIDTH)):
                out[k] = True
    return out


class Document:
    """The tokens and terms of a text."""

    def __init__(self, text, p, table):
        if p.join:
            text = join_apostrophes(text)
        self.starts, self.tokens = [], []
        for sentence in sentences(text):
            found = tokens_of(sentence)
            if found:
                self.starts.append(len(self.tokens))
            self.tokens += found
        assert self.tokens == tokens_of(text)  # sentences do not change tokens
        self.is_template = template_tokens(self.tokens, p, table)
        dates = date_tokens(self.tokens)
        self.terms, self.term, self.kept = [], [], []
        for i, token in enumerate(self.tokens):
            term = stem_of(token, p.stem)
            out = (len(token) < p.least or (p.most < 32 and digits(token) > p.most) or
                   (p.strip != "none" and digits(token) > 0) or (p.strip == "dates" and dates[i]) or
                   (p.template_weight == 0 and self.is_template[i]))
            if not (out or self.is_stop(token, term, p, table)):
                self.terms.append(term)
                self.term.append(sketch.token_hash(term))
                self.kept.append(i)

    @staticmethod
    def is_stop(token, term, p, table):
        if p.stop == "english":
            return token in WORDS["stop words"]
        if p.stop.startswith("df:"):
            limit = int(Fraction(p.stop[3:]) * table.n)
            return max(1, table.df(sketch.token_hash(term))) > limit
        return False


# --- features: (hash, its text, the number of its first token) ------------------------------------

def shingle_hash(hashes):
    return sketch.finalise(sketch.combine(hashes))


def is_phrase(a, b, p, table):
    pair = shingle_hash([a, b])
    if table.df(pair) == 0:
        return False
    factor = int((Decimal(p.phrases).exp() * 65536).to_integral_value())
    return table.df(pair) * table.n * 65536 >= (factor * max(1, table.df(a)) *
                                                max(1, table.df(b)))


def terms_and_phrases(d, p, table):
    for i, h in enumerate(d.term):
        yield h, d.terms[i], d.kept[i]
        if p.phrases and i + 1 < len(d.term) and is_phrase(h, d.term[i + 1], p, table):
            yield (shingle_hash(d.term[i:i + 2]), " ".join(d.terms[i:i + 2]), d.kept[i])


def runs(hashes, texts, firsts, w, separator):
    if 0 < len(hashes) < w:
        whole = (sketch.combine(hashes) + sketch.STEP * len(hashes)) & M64
        yield sketch.finalise(whole), separator.join(texts), firsts[0]
    for i in range(len(hashes) - w + 1):
        yield shingle_hash(hashes[i:i + w]), separator.join(texts[i:i + w]), firsts[i]


def sentence_features(d):
    for start, stop in zip(d.starts, d.starts[1:] + [len(d.tokens)]):
        inside = [k for k, i in enumerate(d.kept) if start <= i < stop]
        if inside:
            yield (sketch.identity([d.term[k] for k in inside]),
                   " ".join(d.terms[k] for k in inside), d.kept[inside[0]])


def spots(d, p):
    anchors = set(tokens_of(join_apostrophes(p.anchors) if p.join else p.anchors))
    for i, token in enumerate(d.tokens):
        if token not in (anchors or WORDS["stop words"]):
            continue
        if d.is_template[i] and p.template_weight == 0:
            continue
        after = [k for k, at in enumerate(d.kept) if at > i]
        chain = after[p.distance - 1::p.distance][:p.width]
        if len(chain) == p.width:
            yield (shingle_hash([sketch.token_hash(token)] + [d.term[k] for k in chain]),
                   ":".join([token] + [d.terms[k] for k in chain]), i)


def paths(tree):
    """Each element's path: from the names of what is open."""
    names = []
    for number, (depth, name) in enumerate(tree):
        names[depth:] = [name]
        h = sketch.mix64(0x70617468)
        for n in names:
            h = sketch.mix64(h ^ sketch.token_hash(n))
        yield h, "/".join(names), number


def escape(c):
    return {"\n": "\\n", "\\": "\\\\"}.get(c, c)


def all_features(text, d, p, table):
    if p.unit == "characters":
        normal = oracle_text.normalise(text)
        return list(runs([sketch.mix64(ord(c)) for c in normal], [escape(c) for c in normal],
                         range(len(normal)), p.width, ""))
    if p.unit == "shingles":
        return list(runs(d.term, d.terms, d.kept, p.width, " "))
    if p.unit == "sentences":
        return list(sentence_features(d))
    if p.unit == "spots":
        return list(spots(d, p))
    if p.unit == "paths":
        return list(paths(p.tree))
    return list(terms_and_phrases(d, p, table))


def nth_of_sentences(found, d, n):
    for start, stop in zip(d.starts, d.starts[1:] + [len(d.tokens)]):
        inside = [f for f in found if start <= f[2] < stop]
        yield from inside[n - 1:n]


def anchored(found, text, d, p):
    words = re.split(r"[ \t,]+", p.anchors.strip())
    if p.unit == "characters":
        normal = oracle_text.normalise(text)
        strings = [oracle_text.normalise(w) for w in words]
        return [f for f in found if any(normal.startswith(s, f[2]) for s in strings)]
    tokens = set(tokens_of(join_apostrophes(p.anchors) if p.join else p.anchors))
    return [f for f in found if d.tokens[f[2]] in tokens]


def features(text, p, table):
    """n_tokens, n_terms, length, then for each feature its hash, tf, df and text."""
    d = Document(text, p, table)
    found = all_features(text, d, p, table)
    if p.select == "kth":
        found = found[p.select_count - 1::p.select_count]
    elif p.select == "sentence":
        found = list(nth_of_sentences(found, d, p.select_count))
    elif p.select == "anchored":
        found = anchored(found, text, d, p)
    elif p.select == "first" and p.count == "occurrences":
        found = found[:p.select_count]
    shown = {}  # equal features are shown with the text of the first
    for h, what, _ in found:
        shown.setdefault(h, what)
    tf = Counter(f[0] for f in found)
    places = {h: [i for g, _, i in found if g == h] for h in tf}
    df = {h: max(1, table.df(h)) if table else 0 for h in tf}
    stay = list(tf)  # distinct, in order of first occurrence
    if p.select == "first" and p.count == "distinct":
        stay = stay[:p.select_count]
    elif p.select == "rarest":
        stay = sorted(stay, key=lambda h: (df[h], h))[:p.select_count]
    elif p.select == "uncommon":
        stay = [h for h in stay if df[h] <= p.select_count]
    found = [f for f in found if f[0] in set(stay)]
    if p.count == "distinct":
        firsts = {}
        for f in found:
            firsts.setdefault(f[0], f)
        found = list(firsts.values())
    length = len(oracle_text.normalise(text))
    counts = {"characters": (length, length), "paths": (len(p.tree), len(p.tree))}.get(
        p.unit, (len(d.tokens), len(d.term)))
    lines = [f"{h:016x}:{tf[h]}:{df[h]}" for h, _, _ in found]
    if p.template_count and p.template_weight:
        reduced = int(p.template_weight * 2 ** 24 + .5)
        lines = [f"{line}:{sum(reduced if d.is_template[i] else 2 ** 24 for i in places[h])}"
                 for line, (h, _, _) in zip(lines, found)]
    return (" ".join([f"{counts[0]} {counts[1]} {length}"] + lines),
            "\n".join(shown[h] for h, _, _ in found))


# --- the cases ----------------------------------------------------------------------------------

def repository_texts():
    for name in ["README.md", "docs/format/text.md", "docs/architecture.md", "CONTRIBUTING.md"]:
        whole = (ROOT / name).read_text(encoding="utf-8")
        yield from (whole[i:i + 1500] for i in range(0, len(whole), 1500))


PIECES = ("the a an of is it's isn't don't Japan's rock'n'roll U.S. J. Smith e.g. i.e. Dr. may May "
          "March sun Sun mar 3 1st 2001 19.9 $6.7 10 a.m. p.m. pm am GMT o'clock 5 Dec December Wed "
          "running runs ran happily nationality generalisation trade surplus surplus surplus yen "
          "yen billion growing cat sat mat x1y2 ab12 a1b2c3 abcd "
          "x" + "9" * 40 + " " + "straßen" * 12 + " ÉCOLE naïve "
          "東京都 ภาษาไทย 한국어 １２３ ٣٤ Ⅻ ½ o’ ’tis rock’n＇roll ' '' 'quoted'").split()
JOINTS = [" "] * 12 + [". ", "! ", "? ", ".", ", ", "\n", "\n\n", " \n \n", "。", "！」", "... ",
                       ".) ", "?” ", "…", " . ", "; ", "-", "'", "’", "\u2029", "\u3000", "\u00a0",
                       "\u00ad", "", "\u0301 ", ".\u0301 ", " \u0301"]


def made_texts(rnd, n):
    for _ in range(n):
        pool = rnd.sample(PIECES, 12)
        yield "".join(rnd.choice(pool) + rnd.choice(JOINTS) for _ in range(rnd.randrange(60)))


def random_texts(rnd, n):
    known = [c for c in map(chr, range(0x110000)) if unicodedata.category(c) not in ("Cn", "Cs")]
    for _ in range(n):
        start = rnd.randrange(len(known))
        pool = known[start:start + 30] + rnd.sample(known, 4) + list("eA19 .'’。\n")
        yield "".join(rnd.choice(pool) for _ in range(rnd.randrange(40)))


def random_tree(rnd):
    """Depth and name of elements; now and then several roots, or none at all."""
    names = rnd.sample(["html", "body", "div", "p", "a", "td", "h1", "x" * 40], 4)
    tree, depth = [], -1
    for _ in range(rnd.choice([0, 1, 5, 40, 600])):
        depth = rnd.randrange(max(0, depth - 3), depth + 2)
        tree.append((depth, rnd.choice(names)))
    return tree


def random_params(rnd, has_table):
    unit = rnd.choice(UNITS + ["terms"])
    p = Params(unit=unit, width=rnd.choice([1, 2, 2, 3, 5, 32]), distance=rnd.choice([1, 1, 2, 3]),
               count=rnd.choice(COUNTS), select_count=rnd.choice([1, 2, 3, 10]),
               select=rnd.choice(["all", "all", "all"] + SELECTS))
    if not has_table and p.select in ("rarest", "uncommon"):
        p.select = "kth"
    if unit == "characters":
        p.select = "all" if p.select == "sentence" else p.select
        p.anchors = "a e,the"[:1 if p.width < 3 else 7]
        return p
    if unit == "paths":
        p.select = "kth" if p.select in ("sentence", "anchored") else p.select
        p.tree = random_tree(rnd)
        return p
    p.anchors = rnd.choice(["the", "the a yen", "isn't may, trade"])
    p.join = rnd.choice([0, 1])
    p.strip = rnd.choice(["none", "none", "numbers", "dates"])
    p.least = rnd.choice([0, 0, 0, 1, 2, 4])
    p.most = rnd.choice([32, 32, 32, 0, 1, 3])
    p.stop = rnd.choice(["none", "english"])
    p.stem = rnd.choice(["none", "none", "english", "german", "porter"])
    if unit == "sentences" and p.select == "sentence":
        p.select = "first"
    if unit == "spots":
        p.stop = "english"
        if rnd.random() < .5 and p.select != "anchored":
            p.anchors = ""
    if has_table and p.join == 0:
        p.template_count = rnd.choice([0, 1, 1, 2, 5])
        p.template_weight = rnd.choice([0, 0, .25, .9]) if p.template_count else 0
    if unit == "terms" and has_table:
        p.phrases = rnd.choice([0, 0, 1.5])
        p.stop = rnd.choice([p.stop, "df:0.2"])
    if snowballstemmer is None:
        p.stem = "none"
    return p


def table_of(texts):
    """Terms, pairs and shingles of the texts: whatever is asked for."""
    documents = []
    for text in texts:
        d = Document(text, Params(), None)
        pairs = [shingle_hash(d.term[i:i + 2]) for i in range(len(d.term) - 1)]
        of_template = [h for h, _, _ in runs(d.term, d.terms, d.kept, TEMPLATE_WIDTH, " ")]
        documents.append(d.term + pairs + of_template)
    return documents


def has_long_token(text):
    """sketch.py has not the hash of tokens of more than 128 bytes."""
    return any(len(t.encode()) > 128 for t in tokens_of(join_apostrophes(text)))


def ask(program, lines):
    done = subprocess.run([program], input="".join(line + "\n" for line in lines),
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{program}: {done.stderr}")
    return done.stdout.splitlines()


def check(program, cases, documents, what):
    table = Table(documents) if documents else None
    lines = ["document " + " ".join(f"{h:016x}" for h in d) for d in documents]
    answers = ask(program, lines + [p.line(text) for p, text in cases])
    assert len(answers) == len(cases), what
    checked = 0
    for (p, text), answer in zip(cases, answers):
        if has_long_token(text):
            continue
        found, explained = answer.split("\t")
        numbers, texts = features(text, p, table)
        checked += 1
        if found != numbers or bytes.fromhex(explained[1:]).decode() != texts:
            sys.exit(f"{what}: {vars(p)}\n{ascii(text)}\n{found}\n{numbers}\n"
                     f"{ascii(bytes.fromhex(explained[1:]).decode())}\n{ascii(texts)}")
    print(f"{what}: {checked} texts agree")
    assert checked > len(cases) / 2


def known_answers(program):
    """The sentence of Seshasai 2009, §6.4.2 and the example of Theobald et al., by the oracle too."""
    japan = ("Japan's trade surplus hit 791 billion yen ($6.7 billion) in December, growing 19.9 "
             "percent compared with December 2001; trade surplus with US grew 18.6 percent, to 624 "
             "billion yen.")
    rally = ("at a rally to kick off a weeklong campaign for the South Carolina primary, Obama "
             "tried to set the record straight from an attack circulating widely on the Internet "
             "that is designed to play into prejudices against Muslims and fears of terrorism")
    cases = [(Params(strip="dates", join=1, count="occurrences"), japan,
              "japans trade surplus hit billion yen billion in growing percent compared with trade "
              "surplus with us grew percent to billion yen"),
             (Params(unit="spots", width=2, stop="english", anchors="a an the is"), rally,
              "a:rally:kick a:weeklong:campaign the:south:carolina the:record:straight "
              "an:attack:circulating the:internet:designed is:designed:play")]
    for p, text, expected in cases:
        assert features(text, p, None)[1].split("\n") == expected.split(), text
    check(program, [(p, text) for p, text, _ in cases], [], "known answers")


def main():
    program, rnd = sys.argv[1], random.Random(1)
    if snowballstemmer is None:
        print("skipped: stems: there is no snowballstemmer 2.2.0")
    known_units = [u + "*" * (u in OF_WORDS) for u in UNITS] + ["none"]
    if ask(program, ["units"]) != [" ".join(known_units)]:
        sys.exit(f"the units of the library are {ask(program, ['units'])}, UNITS and OF_WORDS say {known_units}")
    known_answers(program)
    real = list(repository_texts())
    n_random = 1000 if "NEARDUP_NIGHTLY" in os.environ else 250
    made = list(made_texts(rnd, n_random))
    wild = list(random_texts(rnd, n_random))
    for texts, what in ((real, "repository"), (made, "made texts"), (wild, "random texts")):
        check(program, [(random_params(rnd, False), t) for t in texts], [], what)
        check(program, [(random_params(rnd, True), t) for t in texts], table_of([t for t in texts[:60] if not has_long_token(t)]),
              what + " with a df table")
    return 0


if __name__ == "__main__":
    sys.exit(main())
