#!/usr/bin/env python3
"""mail.py - messages of mail against Python's own email package

usage: mail.py INPUT_DUMP

Messages are made by a fixed generator, with one text or several, in several charsets and transfer
encodings, alone and in an mbox.  Both sides must agree on every id, subject and text.
"""
import email
import email.policy
import os
import random
import subprocess
import sys
import tempfile
from email.message import EmailMessage

CHARSETS = ["utf-8", "iso-8859-1", "iso-8859-2", "koi8-r", "iso-2022-jp", "windows-1251"]
WORDS = {
    "iso-8859-1": ["Käse", "öl", "naïve", "über"], "iso-8859-2": ["můj", "řeka", "łódź"],
    "koi8-r": ["привет", "мир"], "windows-1251": ["привет", "мир"], "iso-2022-jp": ["日本", "東京"],
    "utf-8": ["Käse", "мир", "日本", "😀", "fi"],
}
ASCII = ["one", "two", "three", "From", "=3D", ".", "--b", "a" * 90, ">From", "word:", "<tag>", "&"]


def words(r, charset, n):
    return [r.choice(WORDS[charset] if r.random() < .4 else ASCII) for _ in range(n)]


def lines(r, charset):
    made = [" ".join(words(r, charset, r.randint(1, 12))) for _ in range(r.randint(1, 8))]
    return "\n".join(made) + "\n"


def plain_part(r):
    charset = r.choice(CHARSETS)
    part = EmailMessage(policy=email.policy.SMTP if r.random() < .3 else email.policy.default)
    cte = r.choice(["base64", "quoted-printable"])
    text = lines(r, charset)
    part.set_content(text, charset=charset, cte=cte)
    return part, text


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;")


def html_part(r):
    charset = r.choice(CHARSETS)
    rows = [" ".join(words(r, charset, r.randint(1, 9))) for _ in range(r.randint(1, 5))]
    body = "".join(f"<p>{escape(row)}</p>\n" for row in rows)
    part = EmailMessage()
    part.set_content(f"<html><head><title>not seen</title></head><body>{body}</body></html>\n",
                     subtype="html", charset=charset, cte=r.choice(["base64", "quoted-printable"]))
    return part, "\n".join(rows)


def picture(_):
    part = EmailMessage()
    part.set_content(b"\x89PNG", maintype="image", subtype="png", cte="base64")
    return part, ""


def joined(texts):
    """Each text begins a line of its own, as append in parse_mail.c has it."""
    made = ""
    for text in texts:
        if not text.strip(" \t\r\n"):
            continue
        if made and not made.endswith("\n"):
            made += "\n"
        made += text
    return made


def any_part(r, depth=0):
    kind = r.random()
    if kind < .4 or depth > 2:
        return plain_part(r)
    if kind < .6:
        return html_part(r)
    if kind < .7:
        return picture(r)
    outer = EmailMessage()
    subtype = "alternative" if kind < .85 else r.choice(["mixed", "related"])
    outer["Content-Type"] = f"multipart/{subtype}; boundary=b{depth}{r.randint(0, 10**9)}"
    texts = []
    for _ in range(r.randint(1, 4)):
        part, text = any_part(r, depth + 1)
        if "MIME-Version" in part:
            del part["MIME-Version"]
        outer.attach(part)
        texts.append(text)
    if subtype == "alternative":
        texts = [text for text in texts if text.strip(" \t\r\n")][-1:]
    return outer, joined(texts)


def read_back(part):
    """Its subject as Python itself reads what it wrote: not always what it was given."""
    head = part.as_bytes().replace(b"\r\n", b"\n").split(b"\n\n")[0]
    return str(email.message_from_bytes(head, policy=email.policy.default)["Subject"])


def message(r, number):
    part, text = any_part(r)
    part["From"] = "a@example.org"
    part["Message-ID"] = f"<{number}@example.org>"
    subject = None
    while subject is None or str(part["Subject"]) != subject or read_back(part) != subject:
        subject = " ".join(words(r, "utf-8", r.randint(1, 12)))
        del part["Subject"]
        part["Subject"] = subject
    return part, subject, text


def dump(program, kind, data):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "input")
        with open(path, "wb") as f:
            f.write(data)
        out = subprocess.run([program, kind, path], stdout=subprocess.PIPE, check=True).stdout
    return [line.split("\t") for line in out.decode().splitlines()]


def tokens(text):
    """Trailing blanks and the ends of texts are the transfer's business."""
    return [line.rstrip() for line in text.replace("\r\n", "\n").strip("\n").split("\n")]


def main():
    r = random.Random(11)
    made, mbox = [], b""
    for number in range(1500):
        part, subject, text = message(r, number)
        made.append((f"{number}@example.org", subject + "\n" + text))
        data = part.as_bytes()
        mbox += b"From a@example.org Mon Jan  1 10:00:00 2024\n" + data + b"\n\n"
    rows = dump(sys.argv[1], "mbox", mbox)
    assert len(rows) == len(made), (len(rows), len(made))
    for row, (name, text) in zip(rows, made):
        assert row[1] == "good", (row, name)
        assert bytes.fromhex(row[3]).decode() == name, (row, name)
        got = bytes.fromhex(row[4]).decode()
        assert tokens(got) == tokens(text), (name, tokens(got), tokens(text))
    print(f"mbox: {len(made)} messages agree")
    part, subject, text = message(r, "alone")
    row, = dump(sys.argv[1], "mail", part.as_bytes())
    assert tokens(bytes.fromhex(row[4]).decode()) == tokens(subject + "\n" + text)


if __name__ == "__main__":
    main()
