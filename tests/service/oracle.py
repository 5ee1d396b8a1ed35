#!/usr/bin/env python3
"""The service beside a model of it: random operations by callers with different labels, and what they must hear.

    oracle.py CLOCKED_SERVER NEARDUP [FIRST_SEED [COUNT]]

Exit status 1: an answer is not the model's; the seed, the request and both are printed.
"""

import datetime
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
IDS = ["x", "y", "z", "http://example.org/?q=1", "https://A.example.org:8080/", "ö", "l" * 140]
TITLES = [None, "", " \t", "Rates\n cut", "Rates rise", "Zinsen f\u00fcr alle", "\u00e9" * 149 + "x\u20ac", "a" * 400]


START = 1_700_000_000


def seconds(time):
    """The seconds since 1970 of a time that the service gives."""
    return int(datetime.datetime.fromisoformat(time).timestamp())


class Difference(Exception):
    pass


class Trial:
    def __init__(self, service, expected, what, rng):
        self.service, self.model, self.what, self.rng = service, expected, what, rng
        self.compared = 0
        self.pass_time()

    def pass_time(self):
        self.model.now = max(self.model.now, START) + self.rng.choice([0, 60, 3600, 7200])
        self.service.set_clock(self.model.now)

    def expect(self, request, got, wanted):
        self.compared += 1
        if got != wanted:
            raise Difference(f"{self.what}: {request}\n--- the service\n{got}\n--- the model\n{wanted}")

    def labels(self, who):
        return ["a", "b"] if who == "root" else CALLERS[who]

    def forbids(self, who, labels):
        return not set(labels) <= set(self.labels(who))

    def asked(self):
        """Parameters of a question, as the service and as the model take them."""
        limit, hours = self.rng.choice([None, None, 1, 2, 100]), self.rng.choice([None, None, 1, 5, 30])
        wanted = {"limit": limit or 3, "max_age": hours and hours * 3600}
        return {"limit": limit, "max_age": hours and f"{hours}h"}, wanted

    def expect_verdict(self, request, said, wanted):
        nearest = [
            ({"id": d["id"], "security": d["security"]}, seconds(d["visited"]), d["title"]) for d in said["nearest"]
        ]
        cluster = said["cluster"] and {"id": said["cluster"]["id"], "security": said["cluster"]["security"]}
        got = said["verdict"], said["of"], nearest, cluster
        self.expect(request, got, (wanted.kind, wanted.of, wanted.nearest, wanted.cluster))
        evidence = said["nearest"][0]["evidence"] if nearest else None
        self.expect(request, said["evidence"], evidence)

    def put(self, who, name, labels, text):
        asked, wanted = self.asked()
        title = self.rng.choice(TITLES)
        tried = self.service.put(who, name, labels, text, title, dry="1", **asked)
        answer = self.service.put(who, name, labels, text, title, **asked)
        if self.forbids(who, labels):
            self.expect(("put", who, name, labels, text), answer.status, 403)
            return
        status, verdict, version, changed = self.model.put(name, labels, text, title, self.labels(who), **wanted)
        said = answer.json()
        got = answer.status, said["version"], said["changed"]
        request = ("put", who, name, labels, text, title, asked)
        self.expect(request, got, (status, version, changed))
        self.expect_verdict(request, said, verdict)
        tried = tried.json()
        self.expect_verdict(("put?dry=1", *request[1:]), tried, verdict)
        self.expect(request, tried["stored"], False)
        if changed:  # it joins the cluster that a query says, and later questions agree
            self.expect(request, said["cluster"] and said["cluster"]["id"], self.cluster_of(who, name, labels))

    def cluster_of(self, who, name, labels):
        """The id of the leader by GET; None: the document leads itself."""
        said = self.service.send(who, "GET", rest.document_path(name, "/cluster"), security=",".join(labels)).json()
        leader = said["documents"][0]
        return None if (leader["id"], leader["security"]) == (name, labels) else leader["id"]

    def delete(self, who, name, labels):
        answer = self.service.send(who, "DELETE", rest.document_path(name), security=None if labels is None else ",".join(labels))
        wanted = 403 if self.forbids(who, labels or []) else self.model.delete(name, labels, self.labels(who))
        self.expect(("delete", who, name, labels), answer.status, wanted)

    def query(self, who, text):
        asked, wanted = self.asked()
        said = self.service.send(who, "POST", "/v1/query", text.encode(), "text/plain", **asked).json()
        self.expect_verdict(("query", who, text, asked), said, self.model.verdict(text, self.labels(who), **wanted))

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
                got = said["text"], said["version"], said["title"]
                self.expect(request, got, (document.text, document.version, document.title))
                continue
            found = getattr(self.model, below[1:])(document, self.labels(who))
            leaders = self.model.leaders(self.labels(who))
            wanted = [(d.key, d.title, d in leaders) for d in found]
            got = [({"id": d["id"], "security": d["security"]}, d["title"], d["leads"]) for d in said["documents"]]
            self.expect(request, (got, said["total"]), (wanted, len(found)))

    def ask_newest(self, who):
        """The list of documents, in pages of any size: each document once, in the model's order."""
        since = self.rng.choice([None, None, self.model.now, self.model.now - 3600, self.model.now - 9000])
        site = self.rng.choice([None, None, "example.org", "a.example.org", "ample.org"])
        words = self.rng.choice([[], [], ["rates"], ["cut", "rates"], ["f\u00fcr"], ["weather"]])
        limit = self.rng.choice([None, 1, 2, 3])
        asked = {"limit": limit, "site": site, "title": " ".join(words).upper() or None}
        if since is not None:
            asked["since"] = datetime.datetime.fromtimestamp(since, datetime.timezone.utc).isoformat()
        found, pages = self.pages(who, "/v1/documents", "documents", asked)
        wanted = self.model.newest(self.labels(who), since or 0, site, words)
        got = [(seconds(d["created"]), d["id"]) for d in found]
        self.expect(("newest", who, asked), got, [(d.created, d.name) for d in wanted])
        keys = [(d["id"], tuple(d["security"]), d["title"]) for d in found]
        self.expect(("newest", who, asked), sorted(keys, key=repr), sorted(((d.name, d.labels, d.title) for d in wanted), key=repr))
        if not site and not words:  # no page but the last has less than the limit
            self.expect(("pages of the newest", who, asked), pages, max(1, -(-len(wanted) // (limit or 100))))

    def pages(self, who, path, name, asked):
        """All that is in a list, and how many pages that took."""
        found, cursor, pages = [], None, 0
        while cursor or not pages:
            said = self.service.send(who, "GET", path, cursor=cursor, **asked).json()
            found += said[name]
            cursor = said["next"]
            pages += 1
        return found, pages

    def ask_clusters(self, who):
        wanted = self.model.clusters(self.labels(who))
        now = self.model.now
        rank = {
            "size": lambda times: (len(times), times[0]),
            "newest": lambda times: (times[0], len(times)),
            "growth": lambda times: (*(sum(t > now - s for t in times) for s in (3600, 86400)), len(times)),
        }
        for order, of in rank.items():
            asked = {"limit": self.rng.choice([None, 1, 2]), "order": self.rng.choice([None, order]) if order == "size" else order}
            found, _ = self.pages(who, "/v1/clusters", "clusters", asked)
            got = [({"id": c["leader"]["id"], "security": c["leader"]["security"]}, c["size"], seconds(c["newest"]), c["last_hour"], c["last_day"]) for c in found]
            made = [(key, len(t), t[0], sum(x > now - 3600 for x in t), sum(x > now - 86400 for x in t)) for key, t in wanted]
            self.expect(("clusters", who, asked), sorted(got, key=repr), sorted(made, key=repr))
            times = {repr(key): t for key, t in wanted}
            ranks = [of(times[repr(one[0])]) for one in got]
            self.expect(("order of clusters", who, asked), ranks, sorted(ranks, reverse=True))

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
            trial = Trial(service, model.Service(relation), f"seed {seed}, recipe {recipe}", rng)
            for _ in range(rng.randrange(10, 60)):
                trial.pass_time()
                who, name, labels = rng.choice(list(CALLERS)), rng.choice(IDS), rng.choice(LABELS)
                what = rng.randrange(10)
                if what == 0:
                    trial.delete(who, name, rng.choice([None, labels]))
                elif what == 1:
                    trial.query(who, rng.choice(some_texts))
                elif what == 2:
                    trial.ask_about(who, name, rng.choice([None, labels]))
                elif what == 3:
                    trial.ask_newest(who)
                    trial.ask_clusters(who)
                else:
                    trial.put(who, name, labels, rng.choice(some_texts))
            for who in CALLERS:
                trial.ask_stats(who)
                trial.ask_newest(who)
                trial.ask_clusters(who)
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
