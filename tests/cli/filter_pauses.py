#!/usr/bin/env python3
"""filter_pauses.py - filter answers while its input pauses, and what it says is the same

usage: filter_pauses.py NEARDUP

Each case writes a few records to a pipe and leaves it open until the command has said something. Then
it writes the rest. All that was said must be what the command says of the same bytes in a file.
"""

import json
import os
import select
import subprocess
import sys
import zlib

NEARDUP = sys.argv[1]
PATIENCE = 60  # seconds: a command that says nothing for so long waits for the end of its input
SPAM = "Buy these wonderful pills now and never be tired again in all your life"


def record(name, text):
    return (json.dumps({"id": name, "text": text}) + "\n").encode()


def mail(number, text):
    return (
        f"From me@example.com Mon Jan  1 10:00:00 2024\nFrom: me@example.com\nMessage-ID: <{number}@example.com>\n"
        f"Date: Mon, 1 Jan 2024 10:00:00 +0000\nSubject: hello\n\n{text}\n\n"
    ).encode()


def gzipped(first, rest):
    """Two pieces of one gzip file, of which the first can be read without the second."""
    packer = zlib.compressobj(wbits=31)
    return packer.compress(first) + packer.flush(zlib.Z_SYNC_FLUSH), packer.compress(rest) + packer.flush()


def check(first, rest, *options, fifo=None):
    args = [NEARDUP, "filter", "-q", "-p", "spam.txt", "-j", "2", *options]
    if fifo:
        os.mkfifo(fifo)
        args.append(fifo)
    command = subprocess.Popen(args, stdin=subprocess.DEVNULL if fifo else subprocess.PIPE, stdout=subprocess.PIPE)
    pipe = open(fifo, "wb") if fifo else command.stdin
    pipe.write(first)
    pipe.flush()
    ready, _, _ = select.select([command.stdout], [], [], PATIENCE)
    got = os.read(command.stdout.fileno(), 1 << 20) if ready else b""
    pipe.write(rest)
    pipe.close()
    assert got, f"{options}: no answer while the pipe was open"
    got += command.stdout.read()
    command.wait()
    if fifo:
        os.remove(fifo)
        with open(fifo, "wb") as file:
            file.write(first + rest)
    whole = subprocess.run(args, input=None if fifo else first + rest, stdout=subprocess.PIPE).stdout
    assert got == whole, f"{options}: {got}, not {whole}"


def main():
    with open("spam.txt", "w", encoding="utf-8") as file:
        file.write(SPAM + "\n")
    spam, ham, late = record("a", SPAM), record("b", "shall we meet at noon"), record("c", SPAM)
    check(spam + ham, late, "--annotate")
    check(spam + ham[:9], ham[9:] + late, "--annotate")
    check(spam + ham, late)
    check(ham + spam, late, "--invert")
    check(spam + b"broken\n", late, "--annotate", "--max-bad", "1")
    check(spam + ham, late, fifo="records.jsonl")
    check(*gzipped(spam + ham, late), "--annotate")
    table = b"id,text\n1," + SPAM.encode() + b"\n2,noon\n"
    check(table, b"3," + SPAM.encode() + b"\n", "--annotate")
    check(table, b"3," + SPAM.encode() + b"\n", "--invert")
    check(table.replace(b",", b"\t"), b"3\t" + SPAM.encode() + b"\n")
    lines = f"{SPAM}\nnoon\n".encode()
    check(lines, lines, "--unit", "line", "--format", "text")
    # The end of a message is known when the next one begins, so there are two.
    messages = mail(1, SPAM) + mail(2, SPAM)
    check(messages, mail(3, "noon"), "--annotate", "-t", "0.5")
    check(messages, mail(3, "noon"), "-t", "0.5")


main()
