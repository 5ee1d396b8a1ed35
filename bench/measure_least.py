#!/usr/bin/env python3
"""The costs of a store that finds neighbours below the threshold, and its finds.

    measure_least.py NEARDUP DOCUMENTS.jsonl [COUNT] [LEAST...]

The first COUNT documents (20,000) are posted to a service that was made without --least, and to one with each LEAST
(0.5, 0.4).  Then 2,000 of them are asked about of which each twentieth word was replaced, and 2,000 whose words were
shuffled.  A line each: the server's processor time for a document or a query, the bytes of the index for a document,
and how many of the texts have a neighbour.
"""

import http.client
import json
import os
import random
import re
import subprocess
import sys
import tempfile

QUERIES, BATCH = 2000, 500


class Service:
    def __init__(self, neardup, folder, options):
        command = [neardup, "serve", os.path.join(folder, "store"), "--listen", "127.0.0.1:0", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.connection = http.client.HTTPConnection("127.0.0.1", int(re.search(r":(\d+)/", self.process.stdout.readline())[1]))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()

    def send(self, method, path, body=None):
        self.connection.request(method, path, body, {"Content-Type": "application/x-ndjson"} if body else {})
        return self.connection.getresponse().read()

    def batches(self, path, rows):
        """The answers, and the processor time of each in microseconds."""
        begin, answers = self.seconds(), []
        for at in range(0, len(rows), BATCH):
            body = "".join(json.dumps(row) + "\n" for row in rows[at : at + BATCH])
            answers += map(json.loads, self.send("POST", path, body).splitlines())
        return [a for a in answers if "nearest" in a], (self.seconds() - begin) / len(rows) * 1e6

    def seconds(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def questions(texts):
    rng = random.Random(1)
    edited, shuffled = [], []
    for text in rng.sample(texts, min(QUERIES, len(texts))):
        words = text.split(" ")
        shuffled.append(" ".join(rng.sample(words, len(words))))
        for _ in range(max(1, len(words) // 20)):
            words[rng.randrange(len(words))] = f"zz{rng.randrange(10**6)}"
        edited.append(" ".join(words))
    return {"edited": edited, "shuffled": shuffled}


def measure(neardup, texts, least):
    with tempfile.TemporaryDirectory() as folder, Service(neardup, folder, ["--least", least] if least else []) as service:
        _, each = service.batches("/v1/documents", [{"id": str(i), "text": text} for i, text in enumerate(texts)])
        store = json.loads(service.send("GET", "/v1/stats"))["store"]
        about = f"index {store['index_bytes'] / store['index_documents']:.0f} bytes a document"
        print(f"least {least or '-'}: post {each:.1f} µs, {about}, {store['pairs']} pairs")
        for name, asked in questions(texts).items():
            for at in [None, least] if least else [None]:
                rows = [{"text": text} for text in asked]
                answers, each = service.batches("/v1/query" + (f"?at={at}" if at else ""), rows)
                n_near = sum(bool(answer["nearest"]) for answer in answers)
                compared = sum(answer["work"]["comparisons"] for answer in answers) / len(answers)
                print(f"  {name}, at {at or '-'}: {each:.1f} µs, {compared:.2f} comparisons, {n_near} of {len(answers)} have a neighbour")


def main():
    neardup, path = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 20000
    with open(path, encoding="utf-8") as rows:
        texts = [json.loads(row)["text"] for _, row in zip(range(count), rows)]
    for least in [None, *(sys.argv[4:] or ["0.5", "0.4"])]:
        measure(neardup, texts, least)


if __name__ == "__main__":
    main()
