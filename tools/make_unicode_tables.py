#!/usr/bin/env python3
"""make_unicode_tables.py - writes src/text/*_table.c from the Unicode Character Database.

    tools/make_unicode_tables.py [--ucd DIR] [--output DIR]    writes the tables
    tools/make_unicode_tables.py --check                       exit 1 if a committed table differs,
                                                               77 if the database is not installed

The database is Debian's package unicode-data (15.0.0).  Two sets of tables are made, from the same
properties but by different ways, so that the tests can hold one against the other:

* normal_table.c and class_table.c hold the properties themselves: what the plain algorithm reads.
  digit_table.c has the decimal digits.
* fold_table.c holds one word a code point with the answer worked out here, by normalising each code
  point with the Python functions below: what the fast path reads.
"""
import argparse
import pathlib
import sys

VERSION = "15.0.0"
LIMIT = 0x32400  # no code point from here on has a property of ours, except E0000-E0FFF (ignorable)
BLOCK = 64
SPACELESS = [(0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF),
             (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF),
             (0x20000, 0x323AF)]
SEPARATOR, WORD, BIGRAM, IGNORED = 0, 1, 2, 3
SINGLE, STRING, MARK, HARD = 0, 1, 2, 3

S_BASE, L_BASE, V_BASE, T_BASE = 0xAC00, 0x1100, 0x1161, 0x11A7
L_COUNT, V_COUNT, T_COUNT = 19, 21, 28


class Database:
    """The properties that the rules need, read from the files of the database."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.category, self.ccc, self.canonical, self.compat = {}, {}, {}, {}
        self.read_unicode_data()
        self.fold = {}
        for fields in self.lines("CaseFolding.txt"):
            if fields[1] in ("C", "F"):
                self.fold[int(fields[0], 16)] = [int(c, 16) for c in fields[2].split()]
        self.ignorable = self.property("DerivedCoreProperties.txt", "Default_Ignorable_Code_Point")
        self.excluded = self.property("DerivedNormalizationProps.txt",
                                      "Full_Composition_Exclusion")
        self.composite = {tuple(d): c for c, d in self.canonical.items()
                          if len(d) == 2 and c not in self.excluded}
        self.seconds = {pair[1] for pair in self.composite}
        self.seconds |= set(range(V_BASE, V_BASE + V_COUNT))
        self.seconds |= set(range(T_BASE + 1, T_BASE + T_COUNT))
        self.firsts = {pair[0] for pair in self.composite}
        self.firsts |= set(range(L_BASE, L_BASE + L_COUNT))
        self.firsts |= set(range(S_BASE, S_BASE + L_COUNT * V_COUNT * T_COUNT, T_COUNT))

    def lines(self, name):
        for line in (self.folder / name).read_text(encoding="utf-8").splitlines():
            line = line.split("#")[0].strip()
            if line:
                yield [f.strip() for f in line.split(";")]

    def property(self, name, wanted):
        found = set()
        for fields in self.lines(name):
            if fields[1] == wanted:
                ends = [int(e, 16) for e in fields[0].split("..")]
                found.update(range(ends[0], ends[-1] + 1))
        return found

    def read_unicode_data(self):
        first = None
        for fields in self.lines("UnicodeData.txt"):
            code = int(fields[0], 16)
            if fields[1].endswith(", First>"):
                first = code
                continue
            for c in range(code if first is None else first, code + 1):
                self.category[c] = fields[2]
            first = None
            if int(fields[3]):
                self.ccc[code] = int(fields[3])
            mapping = fields[5].split()
            if mapping and mapping[0].startswith("<"):
                self.compat[code] = [int(c, 16) for c in mapping[1:]]
            elif mapping:
                self.canonical[code] = [int(c, 16) for c in mapping]

    def decompose(self, c):
        """The full compatibility decomposition of one code point."""
        if S_BASE <= c < S_BASE + L_COUNT * V_COUNT * T_COUNT:
            s = c - S_BASE
            t = [T_BASE + s % T_COUNT] if s % T_COUNT else []
            return [L_BASE + s // (V_COUNT * T_COUNT), V_BASE + s // T_COUNT % V_COUNT] + t
        mapping = self.canonical.get(c) or self.compat.get(c)
        return [d for m in mapping for d in self.decompose(m)] if mapping else [c]

    def reorder(self, text):
        out, run = [], []
        for c in text:
            if self.ccc.get(c, 0):
                run.append(c)
                continue
            out += sorted(run, key=lambda x: self.ccc[x]) + [c]
            run = []
        return out + sorted(run, key=lambda x: self.ccc[x])

    def compose_pair(self, a, b):
        if L_BASE <= a < L_BASE + L_COUNT and V_BASE <= b < V_BASE + V_COUNT:
            return S_BASE + ((a - L_BASE) * V_COUNT + b - V_BASE) * T_COUNT
        if (S_BASE <= a < S_BASE + L_COUNT * V_COUNT * T_COUNT and (a - S_BASE) % T_COUNT == 0
                and T_BASE < b < T_BASE + T_COUNT):
            return a + b - T_BASE
        return self.composite.get((a, b))

    def compose(self, text):
        out, starter, last = [], None, 0
        for c in text:
            ccc = self.ccc.get(c, 0)
            made = None
            if starter is not None and (len(out) - 1 == starter or last < ccc != 0):
                made = self.compose_pair(out[starter], c)
            if made is not None:
                out[starter] = made
                continue
            if ccc == 0:
                starter = len(out)
            last = ccc
            out.append(c)
        return out

    def nfkc(self, text):
        return self.compose(self.reorder([d for c in text for d in self.decompose(c)]))

    def casefold(self, text):
        return [f for c in text for f in self.fold.get(c, [c])]

    def normalise(self, text):
        folded = self.nfkc(self.casefold(self.nfkc(text)))
        return [c for c in folded if c not in self.ignorable]

    def token_class(self, c):
        if c in self.ignorable:
            return IGNORED
        if self.category.get(c, "Cn")[0] not in "LMN":
            return SEPARATOR
        return BIGRAM if any(a <= c <= b for a, b in SPACELESS) else WORD

    def is_boundary(self, c):
        """Nothing before c can change what c and its followers become, nor the reverse."""
        for text in (self.decompose(c), self.nfkc(self.casefold(self.nfkc([c])))):
            if text and (self.ccc.get(text[0], 0) or text[0] in self.seconds):
                return False
        return True


def check_assumptions(db):
    """Check what docs/format/text.md and the C code rely on; a new version of Unicode must keep it."""
    for c in db.ignorable:
        assert db.ccc.get(c, 0) == 0 and c not in db.firsts and c not in db.seconds, hex(c)
        assert c < LIMIT or 0xE0000 <= c <= 0xE0FFF, hex(c)
    assert all(c in db.ignorable for c in range(0xE0000, 0xE1000))
    for c in set(db.canonical) | set(db.compat) | set(db.fold) | set(db.ccc):
        assert c < LIMIT
    for c, category in db.category.items():
        assert c < LIMIT or category[0] not in "LMN" or c in db.ignorable, hex(c)
    for c, folded in db.fold.items():  # a fold begins with a starter that composes with nothing
        first = db.decompose(folded[0])[0]
        assert db.ccc.get(first, 0) == 0 and first not in db.seconds, hex(c)
    for c in range(0x80):  # ASCII: lower case and nothing else, all boundaries
        assert db.normalise([c]) == [c + 32 if 65 <= c <= 90 else c] and db.is_boundary(c)


def two_stage(values):
    """Blocks of BLOCK values, equal ones once: (numbers of the blocks, the blocks in a row)."""
    stage, blocks, known = [], [], {}
    for i in range(0, len(values), BLOCK):
        block = tuple(values[i:i + BLOCK])
        if block not in known:
            known[block] = len(known)
            blocks += block
        stage.append(known[block])
    return stage, blocks


def array(kind, name, values):
    """A C array, lines filled to 100 columns."""
    lines, line = [], "   "
    for value in values:
        text = f" {value},"
        if len(line) + len(text) > 100:
            lines.append(line)
            line = "   "
        line += text
    lines.append(line)
    return f"const {kind} {name}[{len(values)}] = {{\n" + "\n".join(lines) + "\n};\n"


def head(name, what, includes):
    text = f"/* {name} - {what} */\n"
    text += "/* Written by tools/make_unicode_tables.py from Unicode " + VERSION + ". */\n"
    text += "/* clang-format off */\n"
    return text + "".join(f'#include "{i}"\n' for i in includes) + "\n"


class Pool:
    """Sequences in one array, each after its length; equal ones once.  Place 0: the empty one."""

    def __init__(self):
        self.values, self.known = [0], {}

    def place(self, sequence):
        sequence = tuple(sequence)
        if not sequence:
            return 0
        if sequence not in self.known:
            self.known[sequence] = len(self.values)
            self.values += [len(sequence), *sequence]
        return self.known[sequence]


def normal_table(db):
    pool = Pool()
    decompose, fold = [], []
    for c in range(LIMIT):
        is_hangul = S_BASE <= c < S_BASE + L_COUNT * V_COUNT * T_COUNT
        mapping = None if is_hangul else db.canonical.get(c) or db.compat.get(c)
        decompose.append(pool.place(db.decompose(c)) if mapping else 0)
        fold.append(pool.place(db.fold[c]) if c in db.fold else 0)
    text = head("normal_table.c", "combining classes, decompositions, folds, composites",
                ["text/normal_table.h"])
    for name, kind, values in (("ccc", "uint8_t", [db.ccc.get(c, 0) for c in range(LIMIT)]),
                               ("decompose", "uint16_t", decompose), ("fold", "uint16_t", fold)):
        stage, blocks = two_stage(values)
        assert max(stage) < 256
        text += array("uint8_t", f"nd_{name}_block", stage)
        text += array(kind, f"nd_{name}_value", blocks)
    text += array("uint32_t", "nd_sequence_pool", pool.values)
    pairs = [f"{{{a}, {b}, {c}}}" for (a, b), c in sorted(db.composite.items())]
    text += array("struct nd_composite", "nd_composites", pairs)
    seconds = sorted({pair[1] for pair in db.composite})
    text += array("uint32_t", "nd_composite_seconds", seconds)
    header = head("normal_table.h", "combining classes, decompositions, folds, composites", [])
    header += f"""#ifndef ND_TEXT_NORMAL_TABLE_H
#define ND_TEXT_NORMAL_TABLE_H

#include <stdint.h>

#define ND_UNICODE_LIMIT {LIMIT:#x} /* code points from here on have no property of ours */
#define ND_UNICODE_BLOCK {BLOCK}

struct nd_composite {{
    uint32_t first, second, composite;
}};
#define ND_N_COMPOSITES {len(pairs)}
#define ND_N_COMPOSITE_SECONDS {len(seconds)}

/* Two stages: value[block[c / 64] * 64 + c % 64].  A decomposition (compatibility, full) or fold
 * (C + F) is a place in the pool: the length, then the code points; place 0: none. */
"""
    for name, kind in (("ccc", "uint8_t"), ("decompose", "uint16_t"), ("fold", "uint16_t")):
        header += f"extern const uint8_t nd_{name}_block[];\n"
        header += f"extern const {kind} nd_{name}_value[];\n"
    header += """extern const uint32_t nd_sequence_pool[];
extern const struct nd_composite nd_composites[]; /* by first, then second; Hangul is computed */
extern const uint32_t nd_composite_seconds[];      /* each once, in order */

#endif
"""
    return {"normal_table.c": text, "normal_table.h": header}


def class_table(db):
    stage, blocks = two_stage([db.token_class(c) for c in range(LIMIT)])
    text = head("class_table.c", "which code points stand in tokens", ["text/class_table.h"])
    text += array("uint16_t", "nd_class_block", stage) + array("uint8_t", "nd_class_value", blocks)
    header = head("class_table.h", "which code points stand in tokens", [])
    header += """#ifndef ND_TEXT_CLASS_TABLE_H
#define ND_TEXT_CLASS_TABLE_H

#include <stdint.h>

enum nd_class {
    ND_CLASS_SEPARATOR, /* not of general category L, M or N */
    ND_CLASS_WORD,
    ND_CLASS_BIGRAM,  /* L, M or N of a script without spaces */
    ND_CLASS_IGNORED, /* default-ignorable: not in normalised text */
};

extern const uint16_t nd_class_block[];
extern const uint8_t nd_class_value[];

#endif
"""
    return {"class_table.c": text, "class_table.h": header}


def digit_table(db):
    """Decimal digits stand in runs of ten, 0 to 9."""
    digits = sorted(c for c, category in db.category.items() if category == "Nd")
    firsts = digits[::10]
    assert digits == [c + i for c in firsts for i in range(10)]
    text = head("digit_table.c", "the decimal digits", ["text/digit_table.h"])
    text += f"const size_t nd_digit_runs_count = {len(firsts)};\n"
    text += array("uint32_t", "nd_digit_runs", firsts)
    header = head("digit_table.h", "the decimal digits", [])
    header += """#ifndef ND_TEXT_DIGIT_TABLE_H
#define ND_TEXT_DIGIT_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* Code points of general category Nd come in runs of ten; the first of each, in order. */
extern const size_t nd_digit_runs_count;
extern const uint32_t nd_digit_runs[];

#endif
"""
    return {"digit_table.c": text, "digit_table.h": header}


def fold_entry(db, pool, rank, c):
    """One word a code point: simd/text/fold_entry.h."""
    normal, inner = db.normalise([c]), db.nfkc([c])
    forward = int(any(c in db.firsts or c in db.canonical for c in normal[-1:] + inner[-1:]))
    if not db.is_boundary(c):
        plain = normal == [c] and c not in db.firsts
        composes = c in db.seconds
        kind = MARK if plain and not composes and db.ccc.get(c, 0) else HARD
        alone = int(kind == HARD and plain and composes)
        return (db.token_class(c) | kind << 2 | forward << 4 | alone << 5
                | rank[db.ccc.get(c, 0)] << 6)
    trailing = max(rank[db.ccc.get(c, 0)] for c in normal[-1:] + inner[-1:])
    if len(normal) == 1 and trailing == 0:
        assert abs(normal[0] - c) < 1 << 19
        return (db.token_class(normal[0]) | SINGLE << 2 | forward << 4
                | ((normal[0] - c) & 0xFFFFF) << 12)
    return STRING << 2 | forward << 4 | trailing << 6 | pool.place(normal) << 12


def fold_pair(db, stage, blocks, c):
    """The entry that kernels need for a code point of two bytes: simd/text/fold_entry.h."""
    entry = blocks[stage[c // BLOCK] * BLOCK + c % BLOCK]
    normal = db.normalise([c])
    if c < 0x80 or entry >> 2 & 3 != SINGLE or not 0x80 <= normal[0] < 0x800:
        return 1 << 31
    made = chr(normal[0]).encode("utf-8")
    return made[0] | made[1] << 8 | (db.token_class(normal[0]) == SEPARATOR) << 16


def fold_table(db):
    classes = sorted(set(db.ccc.values()) | {0})
    assert len(classes) <= 64
    rank = {ccc: i for i, ccc in enumerate(classes)}
    pool = Pool()
    stage, blocks = two_stage([fold_entry(db, pool, rank, c) for c in range(LIMIT)])
    text = head("fold_table.c", "what each code point becomes when it stands alone",
                ["text/fold_table.h"])
    text += array("uint16_t", "nd_fold_entry_block", stage)
    text += array("uint32_t", "nd_fold_entry", blocks)
    text += array("uint32_t", "nd_fold_pool", pool.values)
    text += array("uint32_t", "nd_fold_pairs", [fold_pair(db, stage, blocks, c)
                                                for c in range(0x800)])
    header = head("fold_table.h", "what each code point becomes when it stands alone", [])
    header += """#ifndef ND_TEXT_FOLD_TABLE_H
#define ND_TEXT_FOLD_TABLE_H

#include "simd/text/fold_entry.h"

extern const uint16_t nd_fold_entry_block[];
extern const uint32_t nd_fold_entry[];
extern const uint32_t nd_fold_pool[];  /* the length, then the code points */
extern const uint32_t nd_fold_pairs[]; /* code points of two bytes */

#endif
"""
    return {"fold_table.c": text, "fold_table.h": header}


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ucd", default="/usr/share/unicode")
    parser.add_argument("--output", default=here.parent / "src" / "text", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    data = pathlib.Path(args.ucd)
    try:
        found = (data / "DerivedCoreProperties.txt").read_text(encoding="utf-8").splitlines()[0]
    except OSError as error:
        print(f"skipped: no Unicode Character Database: {error}")
        return 77 if args.check else 2
    if VERSION not in found:
        print(f"skipped: the database in {data} is not {VERSION}: {found}")
        return 77 if args.check else 2
    db = Database(data)
    check_assumptions(db)
    files = {**normal_table(db), **class_table(db), **digit_table(db),
             **fold_table(db)}
    status = 0
    for name, text in files.items():
        path = args.output / name
        if not args.check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            print(f"{path} is not what {sys.argv[0]} writes")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
