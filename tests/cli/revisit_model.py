#!/usr/bin/env python3
"""revisit_model.py - revisit records, held against the manifest and the archives they are made of

usage: revisit_model.py NEARDUP ROUNDS

Archives are made by a fixed generator: captures with and without ids, digests, dates, heads of HTTP
and marks of truncation, in WARC and ARC.  The file of --revisit is read by a few lines of Python,
and by warcio and FastWARC where they are installed: it must have a record for each row of the
manifest, with the fields of the removed and of the kept record, and nothing of the kept body.
"""
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import zlib

WORDS = "the council meets on tuesday and a ferry takes place of bridge until repairs begin in june".split()
IDENTICAL = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
NEAR = "urn:neardup:revisit:near-duplicate"


def capture(r, texts, number):
    """A record as (bytes, fields, payload, head of HTTP)."""
    text = r.choice(texts).split()
    if r.random() < .4:
        text[r.randrange(len(text))] = "changed"
    payload, kind = " ".join(text).encode(), r.choice(["response", "response", "resource", "conversion"])
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-Number: %d\r\n\r\n" % r.randrange(3)
    head = head if kind == "response" else b""
    fields = {"WARC-Type": kind, "WARC-Target-URI": f"http://{r.choice('abc')}.org/{number}",
              "Content-Length": str(len(head + payload))}
    if not head:
        fields["Content-Type"] = "text/plain"
    if r.random() < .8:
        fields["WARC-Date"] = f"2024-01-{r.randint(1, 28):02}T00:00:00Z"
    if r.random() < .8:
        fields["WARC-Record-ID"] = f"<urn:uuid:{number}-{r.randrange(10 ** 6)}>"
    if r.random() < .5:
        fields["WARC-Payload-Digest"] = f"crc32:{zlib.crc32(payload):08x}"
    if r.random() < .2:
        fields["WARC-Truncated"] = r.choice(["length", "time"])
    heads = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return b"WARC/1.0\r\n" + heads.encode() + b"\r\n" + head + payload + b"\r\n\r\n", fields, payload, head


def of_arc(r, texts, number):
    payload = r.choice(texts).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
    uri, date = f"http://arc.org/{number}", f"200804{r.randint(1, 28):02}204825"
    line = f"{uri} 1.2.3.4 {date} text/plain {len(head + payload)}\n"
    fields = {"WARC-Target-URI": uri, "WARC-Date": f"2008-04-{date[6:8]}T20:48:25Z"}
    return line.encode() + head + payload + b"\n", fields, payload, head


def parse(data):
    """The records of a WARC file whose lengths are right."""
    while data:
        head, rest = data.split(b"\r\n\r\n", 1)
        lines = head.decode().split("\r\n")
        fields = dict(line.split(": ", 1) for line in lines[1:])
        length = int(fields["Content-Length"])
        assert lines[0] == "WARC/1.1" and rest[length:length + 4] == b"\r\n\r\n", lines
        yield fields, rest[:length]
        data = rest[length + 4:]


def members(packed):
    while packed:
        member = zlib.decompressobj(31)
        yield member.decompress(packed)
        packed = member.unused_data


def check_record(fields, block, row, removed, kept):
    """One revisit record against its row; kept None: it is an earlier run's."""
    _, of_removed, payload, head = removed
    expected = {name: of_removed[name] for name in ("WARC-Target-URI", "WARC-Date", "WARC-Truncated") if name in of_removed}
    if kept:
        for name, source in (("WARC-Refers-To", "WARC-Record-ID"), ("WARC-Refers-To-Target-URI", "WARC-Target-URI"),
                             ("WARC-Refers-To-Date", "WARC-Date")):
            if source in kept[1]:
                expected[name] = kept[1][source]
    else:
        expected["WARC-Refers-To-Target-URI"] = row["kept"]
    digests = [c[1].get("WARC-Payload-Digest") for c in (removed, kept) if c]
    is_same = kept is not None and kept[2] == payload and any(digests)
    digest = digests[0] or (digests[1] if is_same else None)
    if digest:
        expected["WARC-Payload-Digest"] = digest
    if "WARC-Record-ID" in of_removed:
        expected["Neardup-Removed"] = of_removed["WARC-Record-ID"]
    if head:
        expected["Content-Type"] = "application/http; msgtype=response"
    if row["resemblance"] is not None:
        expected["Neardup-Resemblance"] = json.dumps(row["resemblance"]).removesuffix(".0")
    expected |= {"WARC-Type": "revisit", "WARC-Profile": IDENTICAL if is_same else NEAR, "Neardup-Method": row["method"],
                 "Neardup-Identical": row["identical"], "Content-Length": str(len(head))}
    fields = dict(fields)
    fields.pop("WARC-Record-ID"), fields.pop("Neardup-Recipe")
    fields.pop("Neardup-Containment-Of-Removed", None), fields.pop("Neardup-Containment-Of-Kept", None)
    assert fields == expected, (fields, expected)
    assert block == head


def read_by_others(path, n):
    try:
        from warcio.archiveiterator import ArchiveIterator
    except ImportError:
        print("warcio is not installed", file=sys.stderr)
    else:
        with open(path, "rb") as f:
            assert sum(record.rec_type == "revisit" for record in ArchiveIterator(f)) == n
    try:
        from fastwarc.warc import ArchiveIterator, WarcRecordType
    except ImportError:
        print("FastWARC is not installed", file=sys.stderr)
    else:
        with open(path, "rb") as f:
            assert sum(1 for _ in ArchiveIterator(f, record_types=WarcRecordType.revisit)) == n


def run(program, *arguments):
    subprocess.run([program, "dedup", "-q", "--threshold", "0.6", "--id-field", "url", *arguments], check=True,
                   stderr=subprocess.DEVNULL)


def check(program, r):
    texts = [" ".join(r.choice(WORDS) for _ in range(r.randint(12, 40))) for _ in range(4)]
    made = {"a.warc": [capture(r, texts, n) for n in range(r.randint(1, 30))],
            "b.arc": [of_arc(r, texts, n) for n in range(r.randint(1, 8))]}
    for name, records in made.items():
        first = b"filedesc://b.arc 0.0.0.0 20080430204825 text/plain 9\n1 1 InterN" if name == "b.arc" else b""
        with open(name, "wb") as f:
            f.write(first + (b"\n" if first else b"") + b"".join(record[0] for record in records))
    by_uri = {c[1]["WARC-Target-URI"]: c for records in made.values() for c in records}
    options = r.choice([[], ["--keep", "longest"], ["--cluster", "complete"], ["--keep", "last"],
                        ["--verify", "containment-either"]])
    old = r.random() < .3
    inputs = ["a.warc", "b.arc"]
    if old:  # the pages of one archive are earlier documents
        run(program, inputs.pop(0), "--against", "old.sketch", "--append", "-o", "old.warc")
        options = ["--against", "old.sketch"]
    revisits = []
    for n, way in enumerate([["-j1"], ["-j3"], ["--memory", "100M", "--tmp", "."]]):
        run(program, *inputs, *options, *way, "--output-dir", "out", "--manifest", "m.jsonl", "--revisit",
            f"r{n}.warc.gz")
        with open(f"r{n}.warc.gz", "rb") as f:
            revisits.append(f.read())
    if old:
        os.remove("old.sketch")
    assert revisits[0] == revisits[1] == revisits[2]
    with open("m.jsonl") as f:
        rows = [json.loads(line) for line in f][1:]
    found = [next(parse(member)) for member in members(revisits[0]) if member]
    assert len(found) == len(rows) + (1 if rows else 0), (len(found), len(rows))
    if rows:
        assert found[0][0]["WARC-Type"] == "warcinfo" and found[0][1].startswith(b"software: neardup")
    for (fields, block), row in zip(found[1:], rows):
        is_old = row["kept_at"].split(":")[0] not in inputs
        check_record(fields, block, row, by_uri[row["removed"]], None if is_old else by_uri[row["kept"]])
    ids = [fields["WARC-Record-ID"] for fields, _ in found]
    assert len(set(ids)) == len(ids)
    read_by_others("r0.warc.gz", len(rows))
    return len(rows), sum(fields.get("WARC-Profile") == IDENTICAL for fields, _ in found), old


def main():
    program, rounds = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        results = [check(program, random.Random(seed)) for seed in range(rounds)]
        os.chdir("/")
    n, same, old = (sum(column) for column in zip(*results))
    assert n > rounds and same and n > same and (old or rounds < 10), results
    print(f"{n} revisit records, {same} of identical payloads, {old} runs against earlier ones")


if __name__ == "__main__":
    main()
