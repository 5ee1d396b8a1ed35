#!/usr/bin/env python3
"""Two servers with the same visible documents and different hidden ones must give the same answers, byte for byte.

    pairs_of_worlds.py CLOCKED_SERVER [FIRST_SEED [COUNT]]

A caller sees the labels of their key.  Both servers get the same operations on what the caller sees, at the same
times.  In between, each gets others on documents that they do not see: other ids and the same, near texts and equal
ones, deletions, and more copies than max_checks.  All answers to the caller are compared: status, header fields
(without Date) and body, of every path, with errors and the counts of work.  Exit status 1: two answers differ; the
seed and both answers are printed.
"""

import base64
import json
import os
import random
import sys
import tempfile

sys.dont_write_bytecode = True

import rest  # noqa: E402  (no files beside the sources)
import texts  # noqa: E402

RECIPES = ["default", "default,max_checks=4", "default,max_checks=1", "manku-2007", "short-texts",
           "default,least=0.3", "default,least=0.3,max_checks=2",
           "pugh-henzinger-2003", "conrad-schriber-2004,max_checks=4", "winnowing-2003,max_checks=1",
           "manku-2007,simhash.fields=title:1,max_checks=4", "text-profile,profile.fields=title:1,max_checks=2",
           "default,containment=0.6", "default,containment=0.6,max_checks=2"]
AT = [None]  # and more, where the store finds neighbours below the threshold
IDS = ["x", "y", "http://example.org/a?b=c", "z/1", "ä"]
TITLES = [None, "Rates cut", "Rates rise", "Weather"]
VISIBLE = [[], ["a"], ["b"], ["a", "b"]]
HIDDEN = [["s"], ["a", "s"], ["b", "s"], ["t"], ["a", "b", "s", "t"]]
KEYS = {"caller": ["a", "b"], "both": ["a", "b", "s", "t"], "root": ["*"]}
START = 1_700_000_000


class Difference(Exception):
    pass


def labels_of(labels):
    return ",".join(labels)


# Operations: who sends what, decided before any server is asked.


def visible_operations(rng, some_texts):
    """(seconds, who, operation) in order of time; those of "both" are not heard by the caller."""
    time = START
    for _ in range(rng.randrange(6, 22)):
        time += rng.choice([0, 1, 60, 3600, 86400])
        who = rng.choice(["caller", "caller", "caller", "both"])
        labels = rng.choice(VISIBLE)
        what = operation(rng, labels, some_texts)
        if who == "both" and what[0] == "delete":
            what = ("delete", what[1], labels_of(labels))  # of whatever labels: it might be a hidden one
        yield time, who, what


def operation(rng, labels, some_texts):
    name, text = rng.choice(IDS), rng.choice(some_texts)
    kind = rng.randrange(10)
    if kind == 0:
        return ("delete", name, labels_of(labels))
    if kind == 1:
        return ("delete", name, None)
    if kind == 2:
        return ("plain", None, labels_of(labels), text)
    if kind == 3:
        if rng.randrange(3) == 0:
            return ("lines", crowd(rng, labels, some_texts))
        several = [(rng.choice(IDS), labels, rng.choice(some_texts)) for _ in range(rng.randrange(1, 8))]
        return ("lines", several)
    return ("put", name, labels, text, {"title": rng.choice(TITLES), **asked(rng)})


def crowd(rng, labels, some_texts):
    """More copies, and more near ones, than max_checks of some recipes, and than pairs are stored."""
    words = rng.choice(some_texts).split()
    return [(f"copy {i}", labels, " ".join(texts.edited(rng, words) if i % 2 else words)) for i in range(40)]


def asked(rng):
    """How many of the nearest documents are asked for, how recent and how near ones, and whether with what differs."""
    return {"limit": rng.choice([None, None, 1, 100]), "max_age": rng.choice([None, None, "1m", "12h", "9d"]),
            "differs": rng.choice([None, 0, 1]), "at": rng.choice(AT)}


def hidden_operations(rng, some_texts):
    """Operations that happen between two visible ones."""
    for _ in range(rng.choice([0, 0, 1, 2, 5])):
        labels = rng.choice(HIDDEN)
        if rng.randrange(12) == 0:
            yield ("lines", crowd(rng, labels, some_texts))
        else:
            what = operation(rng, labels, some_texts)
            if what[0] == "delete" and what[2] is None:
                what = ("delete", what[1], labels_of(labels))  # never of a visible one
            yield what


def perform(service, who, what):
    kind, *rest_of_it = what
    if kind == "put":
        return service.put(who, *rest_of_it[:3], **rest_of_it[3])
    if kind == "delete":
        name, labels = rest_of_it
        return service.send(who, "DELETE", rest.document_path(name), security=labels)
    if kind == "plain":
        name, labels, text = rest_of_it
        return service.send(who, "POST", "/v1/documents", text.encode(), "text/plain", id=name, security=labels)
    lines = [{"id": name, "security": labels, "text": text} for name, labels, text in rest_of_it[0]]
    body = "".join(json.dumps(line) + "\n" for line in lines)
    return service.send(who, "POST", "/v1/documents", body.encode(), "application/x-ndjson")


# Questions: everything that the caller can ask.


def questions(rng, some_texts):
    """(method, path, body, type, query) of requests that store nothing."""
    for name in [*IDS, "copy 3", "never"]:
        for labels in rng.sample([None, "", "a", "b", "a,b", "s", "a,s", "b,a", "t,,"], 4) + [None]:
            for below in ("", "/versions", "/near", "/cluster"):
                limit = rng.choice([None, None, 1, 2, 0])
                yield "GET", rest.document_path(name, below), None, None, {"security": labels, "limit": limit}
    for _ in range(4):
        a, b = rng.choice(IDS), rng.choice(IDS)
        sides = {"a": a, "b": b, "a_security": rng.choice([None, "", "a", "s"]), "b_security": rng.choice([None, "", "b", "s"])}
        yield "GET", "/v1/compare", None, None, sides
    for limit in (None, 1, 3, 10000):
        yield "GET", "/v1/crawl", None, None, {"limit": limit}
    for path in ("/v1/stats", "/v1/sketches", "/metrics", "/healthz", "/readyz", "/openapi.json", "/v1/nothing"):
        yield "GET", path, None, None, {}
    yield from lists(rng)
    for text in rng.sample(some_texts, min(6, len(some_texts))):
        yield "POST", "/v1/query", text.encode(), "text/plain", asked(rng)
        yield "POST", "/v1/fingerprints", text.encode(), "text/plain", {}
    yield from posts_that_store_nothing(rng, some_texts)


def lists(rng):
    """Pages of lists; a cursor behind each place where a visible document could be."""
    for limit in (None, 1, 3):
        for more in ({}, {"since": rng.choice(["1h", "3d"])}, {"site": "example.org"}, {"title": rng.choice(["rates", "weather"])}):
            yield "GET", "/v1/documents", None, None, {"limit": limit, **more}
        for order in (None, "size", "newest", "growth"):
            yield "GET", "/v1/clusters", None, None, {"limit": limit, "order": order}
    for seconds in (START, START + 3600, START + 10**6):
        place = seconds.to_bytes(8, "big") + rng.randbytes(16) + rng.choice(IDS).encode()
        cursor = base64.urlsafe_b64encode(place).rstrip(b"=").decode()
        yield "GET", "/v1/documents", None, None, {"cursor": cursor, "limit": 2}
    yield "GET", "/v1/documents", None, None, {"cursor": "x"}


def posts_that_store_nothing(rng, some_texts):
    as_json = "application/json"
    for labels in (*VISIBLE[:2], *HIDDEN):
        document = {"id": rng.choice(IDS), "security": labels, "text": rng.choice(some_texts)}
        dry = {"dry": "1"}
        yield "POST", "/v1/documents", json.dumps(document).encode(), as_json, dry
        yield "POST", "/v1/query", json.dumps(document).encode(), as_json, {}
    for labels in HIDDEN:
        document = {"id": rng.choice(IDS), "security": labels, "text": rng.choice(some_texts)}
        yield "POST", "/v1/documents", json.dumps(document).encode(), as_json, {}
        yield "DELETE", rest.document_path(rng.choice(IDS)), None, None, {"security": labels_of(labels)}
    yield "DELETE", rest.document_path("never"), None, None, {}
    yield "DELETE", rest.document_path("copy 3"), None, None, {}
    for bad in (b"", b"{", b"[]", b'{"id":"x"}', b'{"id":"x","text":7}', b'{"text":"\xff"}'):
        yield "POST", "/v1/documents", bad, as_json, {}
        yield "POST", "/v1/query", bad, "application/x-ndjson", {}
    batch = [{"text": t} for t in rng.sample(some_texts, min(5, len(some_texts)))]
    lines = "".join(json.dumps(line) + "\n" for line in batch).encode()
    yield "POST", "/v1/query", lines, "application/x-ndjson", {}
    yield "POST", "/v1/query", b"x", "image/png", {}


class Pair:
    """Both servers."""

    def __init__(self, services, what):
        self.services, self.what = services, what
        self.compared = 0

    def compare(self, question, answers):
        self.compared += 1
        if answers[0] != answers[1]:
            raise Difference(f"{self.what}: {question}\n--- one\n{answers[0]}\n--- the other\n{answers[1]}")

    def ask(self, rng, some_texts, n):
        """n of the questions, or all of them."""
        every = list(questions(rng, some_texts))
        for question in every if n is None else rng.sample(every, n):
            method, path, body, content_type, query = question
            answers = [s.send("caller", method, path, body, content_type, **query) for s in self.services]
            self.compare(question, answers)


def try_seed(program, seed):
    rng = random.Random(seed)
    recipe = RECIPES[seed % len(RECIPES)]
    AT[1:] = ["0.3", "1/2"] if "least" in recipe else []
    some_texts = texts.family(rng, 24)
    hidden = [random.Random(f"{seed} {i}") for i in range(2)]
    empty = rng.choice([None, None, 1])  # sometimes the second world has nothing hidden
    with tempfile.TemporaryDirectory() as folder:
        folders = [os.path.join(folder, str(i)) for i in range(2)]
        for one in folders:
            os.mkdir(one)
        with rest.Service(program, folders[0], recipe, KEYS) as one, rest.Service(program, folders[1], recipe, KEYS) as other:
            pair = Pair([one, other], f"seed {seed}, recipe {recipe}")
            for seconds, who, what in visible_operations(rng, some_texts):
                for i, service in enumerate(pair.services):
                    service.set_clock(seconds)
                    for secret in [] if i == empty else hidden_operations(hidden[i], some_texts):
                        perform(service, rng_who(hidden[i]), secret)
                answers = [perform(service, who, what) for service in pair.services]
                if who == "caller":
                    pair.compare(what, answers)
                pair.ask(rng, some_texts, 12)
            pair.ask(rng, some_texts, None)
            return pair.compared


def rng_who(rng):
    return rng.choice(["both", "both", "root"])


def main():
    program = sys.argv[1]
    nightly = "NEARDUP_NIGHTLY" in os.environ
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 300 if nightly else 20
    compared = 0
    for seed in range(first, first + count):
        try:
            compared += try_seed(program, seed)
        except Difference as difference:
            print(difference)
            return 1
    print(f"{count} pairs of worlds, {compared} answers compared: no difference")
    return 0


if __name__ == "__main__":
    sys.exit(main())
