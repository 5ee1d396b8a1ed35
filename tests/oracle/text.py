#!/usr/bin/env python3
"""text.py - normalised text, tokens and token hashes, computed from docs/format/text.md by Python

    tests/oracle/text.py TEXT_DUMP

Holds what the program TEXT_DUMP (tests/text_dump.c) says against Python's unicodedata, on the code
points that are assigned in its version of Unicode too, and against Unicode's NormalizationTest.txt
where that is installed.  Shares no code with the library.
"""
import bz2
import os
import random
import subprocess
import sys
import unicodedata

NIGHTLY = "NEARDUP_NIGHTLY" in os.environ
CONFORMANCE = "/usr/share/unicode/NormalizationTest.txt.bz2"
BIGRAM_RANGES = [(0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF),
                 (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF),
                 (0x20000, 0x323AF)]
# Default_Ignorable_Code_Point of Unicode 15.0
IGNORABLE_RANGES = [(0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160),
                    (0x17B4, 0x17B5), (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E),
                    (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
                    (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A),
                    (0xE0000, 0xE0FFF)]
M64 = (1 << 64) - 1
TEXTS = [
    "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।",
    "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ",
    "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق. وَقَدْ وُهِبُوا عقلاً وضميرًا",
    "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。ｶﾞｷﾞｸﾞ 人々 2,000年",
    "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
    "সমস্ত মানুষ স্বাধীনভাবে সমান মর্যাদা এবং অধিকার নিয়ে জন্মগ্রহণ করে।",
    "மனிதப் பிறிவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்",
    "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền.",
    "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην ΑΞΙΟΠΡΈΠΕΙΑ και τα δικαιώματα.",
    "Alle Menſchen ſind frei und gleich an Würde; STRAẞE, ﬁnden, Nº 5, 10⁄2, x²½ … it's",
    "כל בני האדם נולדו בני חורין ושווים בערכם וּבִזְכֻיּוֹתֵיהֶם",
]


def within(c, ranges):
    return any(a <= c <= b for a, b in ranges)


def normalise(text):
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return "".join(c for c in folded if not within(ord(c), IGNORABLE_RANGES))


def class_of(c):
    if unicodedata.category(c)[0] not in "LMN":
        return "separator"
    return "bigram" if within(ord(c), BIGRAM_RANGES) else "word"


def tokens_of(normal):
    runs = []
    for c in normal:
        if runs and runs[-1][0] == class_of(c):
            runs[-1][1] += c
        else:
            runs.append([class_of(c), c])
    for kind, run in runs:
        if kind == "word" or (kind == "bigram" and len(run) == 1):
            yield run
        elif kind == "bigram":
            yield from (run[i:i + 2] for i in range(len(run) - 1))


def token_hash(token):
    """None for those of more than 16 bytes: tests/vectors/token_hash.txt has them."""
    form = token.encode("utf-8")
    if len(form) > 16:
        return None
    padded = form.ljust(16, b"\0")
    x = int.from_bytes(padded[:8], "little") ^ 0xA0761D6478BD642F
    x ^= len(form) * 0x9E3779B97F4A7C15 & M64
    y = int.from_bytes(padded[8:], "little") ^ 0xE7037ED1A0B428DB
    h = (x * y & M64) ^ (x * y >> 64) ^ x ^ y
    h = ((h ^ h >> 32) * 0xC4CEB9FE1A85EC53) & M64
    return h ^ h >> 29


def ask(program, texts):
    """Each text as the program makes it: (normalised text, hashes)."""
    lines = "".join(t.encode("utf-8").hex() + "\n" for t in texts)
    done = subprocess.run([program], input=lines, capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        normal, hashes = line.split("\t")
        yield bytes.fromhex(normal).decode("utf-8"), [int(h, 16) for h in hashes.split()]


def wrong(text, normal, hashes):
    if normal != normalise(text):
        return f"normalised text {ascii(normal)}, not {ascii(normalise(text))}"
    tokens = list(tokens_of(normal))
    if len(tokens) != len(hashes):
        return f"{len(hashes)} tokens, not {len(tokens)}"
    for token, found in zip(tokens, hashes):
        if token_hash(token) not in (None, found):
            return f"token {ascii(token)}: hash {found:016x}"
    return None


def assigned():
    """Code points that both versions know.  What is unassigned here folds and combines with none."""
    return [c for c in map(chr, range(0x110000)) if unicodedata.category(c) not in ("Cn", "Cs")]


def random_texts(known):
    """A text of neighbours, and of marks and letters from everywhere."""
    rnd = random.Random(1)
    marks = [c for c in known if unicodedata.combining(c)]
    for _ in range(20000 if NIGHTLY else 4000):
        start = rnd.randrange(len(known))
        pool = known[start:start + 40] + rnd.sample(known, 5) + rnd.sample(marks, 3) + list("eA .")
        yield "".join(rnd.choice(pool) for _ in range(rnd.randrange(1, 30)))


def check(program, texts, what):
    texts = list(texts)
    answers = list(ask(program, texts))
    assert len(answers) == len(texts), what
    for text, (normal, hashes) in zip(texts, answers):
        reason = wrong(text, normal, hashes)
        if reason:
            sys.exit(f"{what}: {ascii(text)}: {reason}")
    print(f"{what}: {len(texts)} texts agree with unicodedata {unicodedata.unidata_version}")


def conformance(program):
    """All five columns of a line have the same NFKC, so the library must make the same of them."""
    try:
        lines = bz2.open(CONFORMANCE, "rt", encoding="utf-8").read().splitlines()
    except OSError as error:
        print(f"skipped: NormalizationTest: {error}")
        return
    texts = []
    for line in lines:
        if line and line[0] not in "#@":
            texts += ["".join(chr(int(c, 16)) for c in column.split())
                      for column in line.split(";")[:5]]
    answers = list(ask(program, texts))
    for i in range(0, len(texts), 5):
        if any(answer != answers[i] for answer in answers[i:i + 5]):
            sys.exit(f"NormalizationTest: {ascii(texts[i])}: the forms give different answers")
    print(f"NormalizationTest: {len(texts) // 5} lines, five forms each, agree")


def main():
    program = sys.argv[1]
    known = assigned()
    check(program, TEXTS, "texts")
    check(program, known, "code points")
    between = known if NIGHTLY else known[::5]
    check(program, ("e" + c + "x" for c in between), "code points between letters")
    check(program, random_texts(known), "random texts")
    conformance(program)


if __name__ == "__main__":
    main()
