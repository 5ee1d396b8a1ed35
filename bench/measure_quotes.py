#!/usr/bin/env python3
"""The costs of a store that tells of containment, and its finds.

    measure_quotes.py NEARDUP DOCUMENTS.jsonl [COUNT]

The first COUNT documents (20,000) are posted to a service that was made without --containment, and to one with
--containment 0.8.  Then the first twelve lines of 2,000 of them are asked about, of at least 40 words each, and 2,000
copies of one text with another word in each are posted and asked about.  A line each: the server's processor time for a
document or a query, bytes of the index for a document, and of how many texts the document is named.
"""

import json
import random
import sys
import tempfile
import time

from measure_least import QUERIES, Service


def beginnings(texts):
    """(number, the first twelve lines) of some texts that go on, and begin with enough words."""
    found = []
    for i, text in random.Random(1).sample(list(enumerate(texts)), len(texts)):
        lines = text.split("\n")
        first = "\n".join(lines[:12])
        if len(lines) > 20 and len(first.split()) >= 40:
            found.append((str(i), first))
    return found[:QUERIES]


def measure(neardup, texts, options):
    with tempfile.TemporaryDirectory() as folder:
        with Service(neardup, folder, options) as service:
            _, each = service.batches("/v1/documents", [{"id": str(i), "text": text} for i, text in enumerate(texts)])
            store = json.loads(service.send("GET", "/v1/stats"))["store"]
            print(f"{options or '-'}: post {each:.1f} µs, index {store['index_bytes'] / store['index_documents']:.0f} bytes a document")
            asked = beginnings(texts)
            answers, each = service.batches("/v1/query?limit=100", [{"text": first} for _, first in asked])
            named = {member: 0 for member in ("nearest", "contained_in")}
            for (name, _), answer in zip(asked, answers):
                for member in named:
                    named[member] += name in [document["id"] for document in answer.get(member, [])]
            cut = sum(answer["cut"] for answer in answers)
            print(f"  first twelve lines: {each:.1f} µs, of {len(asked)} documents {named} are named, {cut} answers are cut")
            words = texts[0].split()
            copies = [{"id": f"copy {i}", "text": " ".join([*words, str(i)])} for i in range(QUERIES)]
            _, each = service.batches("/v1/documents", copies)
            _, asked = service.batches("/v1/query", copies[:200])
            print(f"  a crowd of {QUERIES} copies: post {each:.1f} µs, query {asked:.1f} µs")
        begin = time.monotonic()
        with Service(neardup, folder, []) as service:
            print(f"  opened in {time.monotonic() - begin:.2f} s")


def main():
    neardup, path = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 20000
    with open(path, encoding="utf-8") as rows:
        texts = [json.loads(row)["text"] for _, row in zip(range(count), rows)]
    for options in ([], ["--containment", "0.8"]):
        measure(neardup, texts, options)


if __name__ == "__main__":
    main()
