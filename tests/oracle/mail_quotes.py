#!/usr/bin/env python3
"""mail_quotes.py - docs/format/mail-quotes.md in Python, and what the library leaves of random mails

    tests/oracle/mail_quotes.py MAIL_QUOTES_DUMP

Holds what the program MAIL_QUOTES_DUMP (tests/mail_quotes_dump.c) says against this page's rule, on
random mails made of pieces that the rule knows, and on the mails of corpora where they are.  Shares
no code with the library.
"""
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

NIGHTLY = "NEARDUP_NIGHTLY" in os.environ
CORPORA = Path(__file__).resolve().parents[3] / "shared/data"
BLANKS = b" \t\r"


def listed(text):
    return [word.strip().encode() for word in text.split(",")]


VERBS = listed("wrote, writes, said, says, écrit, escribió, escreveu, schrieb, schreibt, scritto, skrev, "
               "scrisse, schreef, napisał, napisal, kirjoitti, написал, написала, пишет")
OPENERS = listed("on, at, in, am, le, el, il, op, em, den, quoting")
SEPARATORS = listed("original message, original appointment, forwarded by, forwarded message, "
                    "begin forwarded, ursprüngliche nachricht, weitergeleitete nachricht, "
                    "message d'origine, message transféré, mensaje original, mensaje reenviado, "
                    "messaggio originale, messaggio inoltrato, oorspronkelijk bericht, "
                    "doorgestuurd bericht, mensagem original, mensagem encaminhada")
SUBJECTS = listed("subject, betreff, objet, asunto, oggetto, onderwerp, assunto")
PARTIES = listed("from, to, von, an, de, para, da, van, aan")
LISTS = listed("mailing list, unsubscribe, /listinfo, majordomo@, listserv@, sponsored by")


def is_opening(line):
    return re.split(rb"[ \t,]", line.lower())[0] in OPENERS


def has_verb(line):
    words = re.split(rb"[ \t]", line.lower().rstrip(BLANKS + b":"))
    return any(word in VERBS for word in words) or re.split(rb"[ \t\r]", words[0])[0] == b"quoting"


def ends_attribution(line):
    return has_verb(line) and (line.endswith(b":") or is_opening(line))


def field_name(line):
    name, colon, _ = line.lower().partition(b":")
    return name.rstrip(BLANKS) if colon else b""


class Mail:
    def __init__(self, text):
        self.raw = re.findall(rb"[^\n]*\n|[^\n]+$", text)
        self.lines = [line.removesuffix(b"\n").strip(BLANKS) for line in self.raw]
        self.out = [False] * len(self.lines)

    def own(self, i):
        return not self.out[i] and self.lines[i] != b""

    def all_own(self):
        return [i for i in range(len(self.lines)) if self.own(i)]

    def leave_out(self, first, end):
        for i in range(first, end):
            self.out[i] = True

    def quoted(self):
        self.out = [not raw.startswith(b">From ") and bool(re.match(rb"[A-Z]{0,4}>", line))
                    for raw, line in zip(self.raw, self.lines)]
        return list(self.out)

    def attributions(self, quoted):
        for i in range(1, len(self.lines)):
            if not quoted[i] or quoted[i - 1]:
                continue
            last = i - 2 if self.lines[i - 1] == b"" else i - 1
            if last < 0 or not self.own(last) or not ends_attribution(self.lines[last]):
                continue
            first = last
            for k in (last, last - 1, last - 2):
                if k < 0 or not self.own(k):
                    break
                if is_opening(self.lines[k]):
                    first = k
                    break
            self.leave_out(first, last + 1)

    def pgp(self):
        i, n = 0, len(self.lines)
        while i < n:
            if self.lines[i] == b"-----BEGIN PGP SIGNATURE-----":
                ends = [k for k in range(i, n) if self.lines[k] == b"-----END PGP SIGNATURE-----"]
                end = ends[0] + 1 if ends else n
            elif self.lines[i] == b"-----BEGIN PGP SIGNED MESSAGE-----":
                ends = [k for k in range(i, n) if self.lines[k] == b""]
                end = ends[0] if ends else n
            else:
                end = i
            self.leave_out(i, end)
            i = max(end, i + 1)

    def says_so(self, line):
        small = line.lower()
        if small == b"begin forwarded message:":
            return True
        if line.endswith(b":") and is_opening(line) and has_verb(line) and re.search(rb"[0-9]{4}", line):
            return True
        return small[:3] in (b"---", b"___") and any(small.lstrip(b"-_ \t").startswith(s) for s in SEPARATORS)

    def beginning(self, first, end):
        said = next((i for i in range(first, end) if self.says_so(self.lines[i])), None)
        names = [field_name(self.lines[i]) for i in range(first, end if said is None else said)]
        if not any(n in SUBJECTS for n in names) or not any(n in PARTIES for n in names):
            return said
        field = next(i for i, n in enumerate(names) if n in SUBJECTS + PARTIES + [b"cc"])
        return first if field <= 3 else first + field

    def earlier(self):
        i = 0
        while i < len(self.lines):
            end = i
            while end < len(self.lines) and self.own(end):
                end += 1
            begin = self.beginning(i, end)
            if begin is not None:
                self.leave_out(begin, len(self.lines))
                return
            i = max(end, i + 1)

    def signature(self):
        own = self.all_own()
        for at, i in enumerate(own):
            if self.out[i] or self.lines[i] not in (b"--", b"- --"):
                continue
            if len(own) - at - 1 <= 15:
                self.leave_out(i, len(self.lines))
                return
            end = i
            while end < len(self.lines) and self.own(end):
                end += 1
            self.leave_out(i, end)

    def footer(self):
        last = self.all_own()[-15:]
        of_lists = [i for i in last if any(word in self.lines[i].lower() for word in LISTS)]
        rules = [i for i in last if re.match(rb"([_\-=*~#])\1{19}", self.lines[i])]
        self.leave_out_all(of_lists)
        if of_lists and rules and rules[0] < of_lists[-1]:
            self.leave_out(rules[0], len(self.lines))

    def leave_out_all(self, lines):
        for i in lines:
            self.out[i] = True

    def is_enough(self):
        beyond = [i for i, line in enumerate(self.lines) if line][1:]
        left = [self.lines[i] for i in beyond if not self.out[i]]
        return sum(len(re.findall(rb"[0-9A-Za-z\x80-\xff]+", line)) +
                   len(re.findall(rb"[\xe0-\xff]", line)) for line in left) >= 10


def own_words(text):
    """The text without the lines that are left out, and with spaces for them."""
    mail = Mail(text)
    quoted = mail.quoted()
    mail.attributions(quoted)
    mail.pgp()
    mail.earlier()
    mail.signature()
    mail.footer()
    if not mail.is_enough():
        return text, text
    pairs = list(zip(mail.raw, mail.out))
    return (b"".join(raw for raw, out in pairs if not out),
            b"".join(re.sub(rb"[^\n]", b" ", raw) if out else raw for raw, out in pairs))


# --- Random mails ------------------------------------------------------------------------------

PIECES = """> quoted\n>quoted\n> > twice\nHH> initials\nABCDE> not\nab> not\n>From the mbox\n >From within\n\n\n\n \t\n\r\n
On Mon, 1 Jan 2024, Ada wrote:\nOn Mon, Ada\n<ada@example.net> wrote:\nAda wrote:\nQuoting Ada:\nquotingAda:\nShe said:
said\nOn Tuesday she said\nLe 3 mai 2002, vous avez écrit :\nAm 2.3.2004 schrieb Bob:\nwrote\non,wrote:\nOn 2001 wrote::
-----Original Message-----\n ---- Forwarded by Ada ----\n________________ original message\n---forwarded\nBegin forwarded message:
begin forwarded message: x\n--- begin forwarded text\n-----Ursprüngliche Nachricht-----\n-----URSPRÜNGLICHE Nachricht-----
From: ada\nTo: bob\nCC: eve\nSubject: Re: x\nsubject : y\nBetreff: z\nAn: w\nSubject\nnot a: field\n12/28/2000 11:26 AM
--\n-- \n- -- \n---\n- --x\nAda Lovelace, +44 20\n_______________________________________________
------------------------ Yahoo! Groups Sponsor ----\n====================\n===================\n-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=
The x mailing list\nTo UNSUBSCRIBE, write\nhttp://x/mailman/listinfo/y\nThis is sponsored by z\n____________________ mailing list
-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA1\n-----BEGIN PGP SIGNATURE-----\niD8DBQE\n-----END PGP SIGNATURE-----
one two three four five six seven eight nine ten eleven\nshort\na b c d e\nnaïve café\n日本語の文\nI think that you are right."""
PIECES = [line.encode() for line in PIECES.replace("\\n", "\n").split("\n")]


def random_mails():
    rnd = random.Random(1)
    for _ in range(60000 if NIGHTLY else 6000):
        pool = rnd.sample(PIECES, rnd.randrange(1, 12)) + PIECES[-6:]
        lines = [rnd.choice(pool) for _ in range(rnd.randrange(0, rnd.choice((4, 12, 40))))]
        if rnd.random() < 0.3 and lines:
            i = rnd.randrange(len(lines))
            at = rnd.randrange(len(lines[i]) + 1)
            lines[i] = lines[i][:at] + bytes([rnd.choice(b" >\t\r:-_,x\xc3\xff\0")]) + lines[i][at:]
        yield rnd.choice((b"\n", b"\n", b"\r\n")).join(lines) + rnd.choice((b"", b"\n"))


def corpus_mails(name):
    path = CORPORA / name / "docs.jsonl.zst"
    if not path.exists():
        print(f"skipped: {path} is not there")
        return
    lines = subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE, check=True).stdout
    for number, line in enumerate(lines.splitlines()):
        text = json.loads(line)["text"].encode("utf-8", "replace")
        if len(text) < 1 << 20 and (NIGHTLY or number % 16 == 0):
            yield text


def check(program, texts, what):
    texts = list(texts)
    given = "".join(text.hex() + "\n" for text in texts)
    answers = subprocess.run([program], input=given, stdout=subprocess.PIPE, check=True, text=True).stdout.split("\n")
    assert len(answers) == len(texts) + 1, what
    shorter = 0
    for text, answer in zip(texts, answers):
        expected = own_words(text)
        got = tuple(bytes.fromhex(part) for part in answer.split("\t"))
        if got != expected:
            sys.exit(f"{what}: {text!r}\n  the page: {expected!r}\n  the library: {got!r}")
        shorter += expected[0] != text
    print(f"{what}: {len(texts)} texts agree, {shorter} of them with something left out")
    return shorter


def main():
    program = sys.argv[1]
    assert check(program, random_mails(), "random mails") > 1000
    for name in ("spamassassin", "enron-spam"):
        check(program, corpus_mails(name), name)


if __name__ == "__main__":
    main()
