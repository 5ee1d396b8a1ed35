#!/usr/bin/env python3
"""The service beside a model of it: random operations by callers with different labels, and what they must hear.

    oracle.py CLOCKED_SERVER NEARDUP [FIRST_SEED [COUNT]]

Exit status 1: an answer is not the model's; the seed, the request and both are printed.
"""

import os
import random
import sys
import tempfile

sys.dont_write_bytecode = True

import model  # noqa: E402  (no files beside the sources)
import rest  # noqa: E402
import texts  # noqa: E402

RECIPES = ["default", "short-texts", "manku-2007", "default,threshold=0.6", "default,candidates=simhash"]
LABELS = [[], ["a"], ["b"], ["a", "b"]]
CALLERS = {"nobody": [], "a": ["a"], "b": ["b"], "all": ["a", "b"], "root": ["*"]}
IDS = ["x", "y", "z", "http://example.org/?q=1", "ö"]


class Difference(Exception):
    pass


class Trial:
    def __init__(self, service, expected, what):
        self.service, self.model, self.what = service, expected, what
        self.compared = 0

    def expect(self, request, got, wanted):
        self.compared += 1
        if got != wanted:
            raise Difference(f"{self.what}: {request}\n--- the service\n{got}\n--- the model\n{wanted}")

    def labels(self, who):
        return ["a", "b"] if who == "root" else CALLERS[who]

    def forbids(self, who, labels):
        return not set(labels) <= set(self.labels(who))

    def put(self, who, name, labels, text):
        tried = self.service.put(who, name, labels, text, dry="1")
        answer = self.service.put(who, name, labels, text)
        if self.forbids(who, labels):
            self.expect(("put", who, name, labels, text), answer.status, 403)
            return
        # Without storing, a text is compared with all documents but its own, even if it is unchanged.
        decided = self.model.verdict(text, self.labels(who), (name, tuple(labels)))
        decided = decided[0], decided[1] and decided[1].key, False
        wanted = self.model.put(name, labels, text, self.labels(who))
        said = answer.json()
        got = answer.status, said["verdict"], said["of"], said["version"], said["changed"]
        self.expect(("put", who, name, labels, text), got, wanted)
        tried = tried.json()
        request = ("put?dry=1", who, name, labels, text)
        self.expect(request, (tried["verdict"], tried["of"], tried["stored"]), decided)

    def delete(self, who, name, labels):
        answer = self.service.send(who, "DELETE", rest.document_path(name), security=None if labels is None else ",".join(labels))
        wanted = 403 if self.forbids(who, labels or []) else self.model.delete(name, labels, self.labels(who))
        self.expect(("delete", who, name, labels), answer.status, wanted)

    def query(self, who, text):
        said = self.service.send(who, "POST", "/v1/query", text.encode(), "text/plain").json()
        kind, leader = self.model.verdict(text, self.labels(who))
        self.expect(("query", who, text), (said["verdict"], said["of"]), (kind, leader and leader.key))

    def ask_about(self, who, name, labels):
        """The document, its neighbours and its cluster."""
        status, document = self.model.find(name, labels, self.labels(who))
        named = None if labels is None else ",".join(labels)
        for below in ("", "/near", "/cluster"):
            answer = self.service.send(who, "GET", rest.document_path(name, below), security=named)
            request = ("GET", who, name + below, labels)
            self.expect(request, answer.status, status)
            if not document:
                continue
            said = answer.json()
            if not below:
                self.expect(request, (said["text"], said["version"]), (document.text, document.version))
                continue
            found = getattr(self.model, below[1:])(document, self.labels(who))
            leaders = self.model.leaders(self.labels(who))
            wanted = [(d.key, d in leaders) for d in found]
            got = [({"id": d["id"], "security": d["security"]}, d["leads"]) for d in said["documents"]]
            self.expect(request, (got, said["total"]), (wanted, len(found)))

    def ask_stats(self, who):
        said = self.service.send(who, "GET", "/v1/stats").json()["visible"]
        seen = self.model.visible(self.labels(who))
        contents = {(d.labels, d.text) for d in seen}
        got = said["documents"], said["contents"]
        self.expect(("stats", who), got, (len(seen), len(contents)))


def try_seed(program, neardup, seed):
    rng = random.Random(seed)
    recipe = RECIPES[seed % len(RECIPES)]
    some_texts = texts.family(rng, 20)
    with tempfile.TemporaryDirectory() as folder:
        relation = model.Relation(neardup, recipe, some_texts, folder)
        with rest.Service(program, folder, recipe, CALLERS) as service:
            trial = Trial(service, model.Service(relation), f"seed {seed}, recipe {recipe}")
            for _ in range(rng.randrange(10, 60)):
                who, name, labels = rng.choice(list(CALLERS)), rng.choice(IDS), rng.choice(LABELS)
                what = rng.randrange(10)
                if what == 0:
                    trial.delete(who, name, rng.choice([None, labels]))
                elif what == 1:
                    trial.query(who, rng.choice(some_texts))
                elif what == 2:
                    trial.ask_about(who, name, rng.choice([None, labels]))
                else:
                    trial.put(who, name, labels, rng.choice(some_texts))
            for who in CALLERS:
                trial.ask_stats(who)
                for text in some_texts:
                    trial.query(who, text)
                for name in IDS:
                    for labels in [None, *LABELS]:
                        trial.ask_about(who, name, labels)
            return trial.compared


def main():
    program, neardup = sys.argv[1:3]
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 200 if "NEARDUP_NIGHTLY" in os.environ else 15
    compared = 0
    for seed in range(first, first + count):
        try:
            compared += try_seed(program, neardup, seed)
        except Difference as difference:
            print(difference)
            return 1
    print(f"{count} runs, {compared} answers compared: the service and the model agree")
    return 0


if __name__ == "__main__":
    sys.exit(main())
