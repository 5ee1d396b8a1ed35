#!/usr/bin/env python3
"""make_word_table.py - writes src/feature/word/word_table.c from docs/format/english-words.txt

    tools/make_word_table.py            writes the table
    tools/make_word_table.py --check    exit 1 if the committed table differs
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "docs" / "format" / "english-words.txt"
TABLE = ROOT / "src" / "feature" / "word" / "word_table.c"
KINDS = {"stop words": "ND_WORD_STOP", "months and weekdays": "ND_WORD_DATE",
         "short months and weekdays": "ND_WORD_SHORT_DATE", "times": "ND_WORD_TIME",
         "first halves of times": "ND_WORD_FIRST_HALF",
         "second halves of times": "ND_WORD_SECOND_HALF"}
M64 = (1 << 64) - 1


def token_hash(form):
    """docs/format/text.md, "Token hash", of at most 16 bytes."""
    n = len(form)
    padded = form.ljust(16, b"\0")
    x = int.from_bytes(padded[:8], "little") ^ 0xA0761D6478BD642F ^ (n * 0x9E3779B97F4A7C15 & M64)
    y = int.from_bytes(padded[8:], "little") ^ 0xE7037ED1A0B428DB
    h = (x * y & M64) ^ (x * y >> 64) ^ x ^ y
    h = (h ^ h >> 32) * 0xC4CEB9FE1A85EC53 & M64
    return h ^ h >> 29


def read_kinds():
    """word: the names of its kinds"""
    kinds, kind = {}, None
    for line in SOURCE.read_text(encoding="ascii").splitlines():
        line = line.split("#")[0].strip()
        if line.startswith("["):
            kind = KINDS[line.strip("[]")]
            continue
        for word in line.split():
            assert word.isalpha() and word.islower() and len(word) <= 16, word
            if kind not in kinds.setdefault(word, []):
                kinds[word].append(kind)
    return kinds


def table(kinds):
    rows = sorted((token_hash(word.encode()), word) for word in kinds)
    lines = ["/* word_table.c - the words of English that have a meaning of their own, by hash */",
             "/* Written by tools/make_word_table.py from docs/format/english-words.txt. */",
             "/* clang-format off */", '#include "feature/word/word_table.h"', "",
             f"const size_t nd_english_count = {len(rows)};", "",
             "const struct nd_english_word nd_english[] = {"]
    lines += [f"    {{UINT64_C(0x{h:016X}), {' | '.join(kinds[word])}}}, /* {word} */"
              for h, word in rows]
    return "\n".join(lines) + "\n};\n"


def main():
    text = table(read_kinds())
    if sys.argv[1:] != ["--check"]:
        TABLE.write_text(text, encoding="ascii")
        return 0
    if TABLE.read_text(encoding="ascii") == text:
        return 0
    print(f"{TABLE} is not what {sys.argv[0]} writes")
    return 1


if __name__ == "__main__":
    sys.exit(main())
