#!/usr/bin/env python3
"""A client of Redis or PostgreSQL that finds near duplicates as people build it: bands of rensa's min-hash.

    service_peer.py redis|postgres PORT load DOCUMENTS [--durable]
    service_peer.py redis|postgres PORT query DOCUMENTS SECONDS BATCH ANSWERS

load stores all documents of a file of JSON Lines.  query looks each one up and stores nothing: once all of them,
whose answers go to ANSWERS, and then the same again until SECONDS are over.  BATCH is the number of documents that
share one round trip.  Prints a line of JSON: documents, seconds, processor seconds, and the median and the 99th
percentile of a call in milliseconds.

A text is 128 min-hashes of its word 3-shingles, and 21 bands of 6 of them.  Each band is a key, under which the ids
of its documents are stored.  The texts of the candidates come from the store too, and those whose shingles share
.8 are near duplicates.
"""

import argparse
import json
import os
import re
import statistics
import time

PERMUTATIONS, BANDS, ROWS, WIDTH, THRESHOLD = 128, 21, 6, 3, 0.8
find_words = re.compile(r"\w+").findall


def shingles(text):
    words = find_words(text.lower())
    if len(words) < WIDTH:
        return {" ".join(words)}
    return set(map(" ".join, zip(*(words[i:] for i in range(WIDTH)))))


def resemblance(a, b):
    return len(a & b) / (len(a | b) or 1)


class Sketcher:
    """Min-hashes by rensa, all documents of a batch in one call."""

    def __init__(self):
        import rensa

        self.digests = rensa.RMinHash.digests_from_token_sets

    def bands(self, sets):
        """The bands of each set of shingles, as bytes."""
        for digest in self.digests(sets, PERMUTATIONS, 42):
            rows = [value.to_bytes(4, "little") for value in digest]
            yield [b"".join(rows[i * ROWS : (i + 1) * ROWS]) for i in range(BANDS)]


class Redis:
    """redis-py with hiredis's protocol if it is there; one pipeline, without a transaction, for a round trip."""

    def __init__(self, port):
        import redis

        self.client = redis.Redis(host="127.0.0.1", port=port)

    def insert(self, documents, bands):
        with self.client.pipeline(transaction=False) as pipe:
            for (name, text), keys in zip(documents, bands):
                pipe.set(b"text:" + name.encode(), text)
                for number, key in enumerate(keys):
                    pipe.sadd(b"%d:" % number + key, name)
            pipe.execute()

    def candidates(self, bands):
        """The candidates of each document, as pairs of id and text."""
        with self.client.pipeline(transaction=False) as pipe:
            for keys in bands:
                for number, key in enumerate(keys):
                    pipe.smembers(b"%d:" % number + key)
            members = pipe.execute()
        names = [set().union(*members[i * BANDS : (i + 1) * BANDS]) for i in range(len(bands))]
        wanted = sorted(set().union(*names))
        texts = self.client.mget([b"text:" + name for name in wanted]) if wanted else []
        text = {name: value.decode() for name, value in zip(wanted, texts)}
        return [[(name.decode(), text[name]) for name in sorted(found)] for found in names]


class Postgres:
    """psycopg with prepared statements: a table of texts, and one of bands with an index."""

    TABLES = """
        CREATE TABLE IF NOT EXISTS documents (id text PRIMARY KEY, body text NOT NULL);
        CREATE TABLE IF NOT EXISTS bands (number smallint, hash bytea, id text NOT NULL);
        CREATE INDEX IF NOT EXISTS bands_by_hash ON bands (number, hash);
    """
    CANDIDATES = """
        SELECT DISTINCT q.document, d.id, d.body
        FROM unnest(%s::int[], %s::smallint[], %s::bytea[]) AS q (document, number, hash)
        JOIN bands b ON b.number = q.number AND b.hash = q.hash
        JOIN documents d ON d.id = b.id
    """

    def __init__(self, port):
        import psycopg

        where = f"host=127.0.0.1 port={port} dbname=postgres user=bench"
        self.connection = psycopg.connect(where, autocommit=True, prepare_threshold=1)
        self.connection.execute(self.TABLES)

    def insert(self, documents, bands):
        with self.connection.transaction(), self.connection.cursor() as cursor:
            cursor.executemany("INSERT INTO documents VALUES (%s, %s)", documents)
            rows = []
            for (name, _), keys in zip(documents, bands):
                rows += [(number, key, name) for number, key in enumerate(keys)]
            cursor.executemany("INSERT INTO bands VALUES (%s, %s, %s)", rows)

    def candidates(self, bands):
        of, numbers, hashes = [], [], []
        for document, keys in enumerate(bands):
            of += [document] * BANDS
            numbers += range(BANDS)
            hashes += keys
        found = [[] for _ in bands]
        for document, name, text in self.connection.execute(self.CANDIDATES, (of, numbers, hashes)):
            found[document].append((name, text))
        return [sorted(f) for f in found]


def nearest(own, candidates):
    """The id of the candidate that resembles most, if that is near enough."""
    best, name_of_best = THRESHOLD, None
    for name, text in candidates:
        r = resemblance(own, shingles(text))
        if r > best or (r == best and name_of_best is None):
            best, name_of_best = r, name
    return name_of_best


def query(store, sketcher, texts):
    sets = [shingles(text) for text in texts]
    found = store.candidates(list(sketcher.bands(sets)))
    return [nearest(own, candidates) for own, candidates in zip(sets, found)]


def load(store, sketcher, documents, batch):
    for i in range(0, len(documents), batch):
        some = documents[i : i + batch]
        store.insert(some, list(sketcher.bands([shingles(text) for _, text in some])))
    return len(documents), []


def query_all(store, sketcher, documents, seconds, batch, answers):
    """Every document once, for its answer; then on until the time is over."""
    count, calls, start = 0, [], time.monotonic()
    with open(answers, "w", encoding="utf-8") as out:
        first = True
        while first or time.monotonic() - start < seconds:
            for i in range(0, len(documents), batch):
                if not first and time.monotonic() - start >= seconds:
                    break
                some = documents[i : i + batch]
                begin = time.monotonic()
                found = query(store, sketcher, [text for _, text in some])
                calls.append(time.monotonic() - begin)
                count += len(some)
                if first:
                    out.writelines(json.dumps([name, f]) + "\n" for (name, _), f in zip(some, found))
            first = False
    return count, calls


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("system", choices=["redis", "postgres"])
    parser.add_argument("port", type=int)
    parser.add_argument("what", choices=["load", "query"])
    parser.add_argument("documents")
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--answers", default=os.devnull)
    args = parser.parse_args()
    with open(args.documents, encoding="utf-8") as lines:
        documents = [(str(d["id"]), d["text"]) for d in map(json.loads, lines)]
    store, sketcher = (Redis if args.system == "redis" else Postgres)(args.port), Sketcher()
    query(store, sketcher, [documents[0][1]])  # connects, prepares

    start, before = time.monotonic(), time.process_time()
    if args.what == "load":
        count, calls = load(store, sketcher, documents, args.batch)
    else:
        count, calls = query_all(store, sketcher, documents, args.seconds, args.batch, args.answers)
    result = {
        "documents": count,
        "seconds": time.monotonic() - start,
        "client_cpu_s": time.process_time() - before,
    }
    if len(calls) > 1:
        result["median_ms"] = 1e3 * statistics.median(calls)
        result["p99_ms"] = 1e3 * statistics.quantiles(calls, n=100)[98]
    print(json.dumps(result))


if __name__ == "__main__":
    main()
