"""The service by definition, as plain lists: who sees what, who leads, which version (docs/http.md, src/store/README.md).

It knows no sketches and no index.  Which texts are near it is told: by a relation that `neardup pairs` made.
"""

import json
import os
import re
import subprocess
import urllib.parse
from fractions import Fraction


class Relation:
    """How two texts compare: None, or (the smaller the nearer, what the evidence says)."""

    def __init__(self, neardup, recipe, texts, folder):
        self.texts = sorted(set(texts))
        path = os.path.join(folder, "texts.jsonl")
        with open(path, "w", encoding="utf-8") as out:
            out.writelines(json.dumps({"id": str(i), "text": t}) + "\n" for i, t in enumerate(self.texts))
        name, *changes = recipe.split(",")
        command = [neardup, "pairs", "--json", "--quiet", "--recipe", name, path]
        for change in changes:
            command += ["--set", change]
        self.found = self.pairs(command)
        # Equal are documents of equal tokens, which `--method identical` lists; not for signatures.
        if name == "manku-2007":
            self.equal = {pair for pair in self.found if len({tuple(words(text)) for text in pair}) == 1}
        else:
            self.equal = self.pairs([*command, "--method", "identical"])

    def pairs(self, command):
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode > 1:  # 1: there are no pairs
            raise SystemExit(done.stderr.decode())
        found = {}
        for row in map(json.loads, done.stdout.splitlines()):
            found[frozenset((self.texts[int(row["a"])], self.texts[int(row["b"])]))] = row
        return found

    def __call__(self, text, other):
        pair = frozenset((text, other))
        if text == other:
            return (0, 0), "bytes"
        if pair in self.equal:
            return (1, 0), "tokens"
        row = self.found.get(pair)
        if row is None:
            return None
        if "shared" in row:
            shared = row["shared"]
            return (2, -Fraction(shared, row["shingles_a"] + row["shingles_b"] - shared)), "no"
        return (2, row["hamming"]), "no"


def words(text):
    """The tokens of texts.py, but for those that a recipe takes as characters."""
    return text.lower().rstrip(".").split()


def shown(title):
    """A title as it is kept: words with single spaces between them, 300 bytes at most; None: there is none."""
    line = " ".join(re.split("[\\x00- \\x7f-\\xa0\u2028\u2029]+", title or "")).strip()
    return line.encode()[:300].decode(errors="ignore").rstrip() or None


class Document:
    def __init__(self, name, labels, text, order, version):
        self.name, self.labels, self.text = name, labels, text
        self.order, self.version = order, version
        self.visited = self.created = 0
        self.title = None

    @property
    def key(self):
        return {"id": self.name, "security": list(self.labels)}


class Verdict:
    """The nearest documents of a text, and the leader of its cluster or None, as keys."""

    def __init__(self, relation, text, nearest, leader):
        self.kind = "new"
        if nearest:
            self.kind = "near-duplicate" if relation(text, nearest[0].text)[1] == "no" else "duplicate"
        self.nearest = [(d.key, d.visited, d.title) for d in nearest]
        self.of = nearest[0].key if nearest else None
        self.cluster = leader and leader.key


class Service:
    def __init__(self, relation):
        self.relation = relation
        self.documents = {}
        self.next_order = 0
        self.now = 0

    def visible(self, caller):
        """In the order in which they got their texts."""
        documents = [d for d in self.documents.values() if set(d.labels) <= set(caller)]
        return sorted(documents, key=lambda d: d.order)

    def leaders(self, caller):
        leaders = []
        for document in self.visible(caller):
            if not any(self.relation(document.text, leader.text) for leader in leaders):
                leaders.append(document)
        return leaders

    def by_nearness(self, text, documents):
        """The documents within the threshold: the nearest first, of those that are as near the earlier."""
        near = [d for d in documents if self.relation(text, d.text)]
        return sorted(near, key=lambda d: (self.relation(text, d.text)[0], d.order))

    def verdict(self, text, caller, own=None, limit=3, max_age=None):
        """Among all visible documents but the one of a key, which has the text or is to have it."""
        old = self.documents.get(own)
        others = [d for d in self.visible(caller) if d is not old and (max_age is None or d.visited >= self.now - max_age)]
        if old and old.text == text:  # it stays, and where it is
            leader = self.leader_of(old, caller)
            leader = None if leader is old else leader
        else:
            self.documents.pop(own, None)
            leader = next(iter(self.by_nearness(text, self.leaders(caller))), None)
            if old:
                self.documents[own] = old
        return Verdict(self.relation, text, self.by_nearness(text, others)[:limit], leader)

    def put(self, name, labels, text, title, caller, **asked):
        """The parts of the answer: status, verdict, version, whether the text changed."""
        key = name, tuple(sorted(set(labels)))
        old = self.documents.get(key)
        verdict = self.verdict(text, caller, key, **asked)
        is_changed = not old or old.text != text
        if is_changed:
            self.documents[key] = Document(*key, text, self.next_order, old.version + 1 if old else 1)
            self.next_order += 1
        document = self.documents[key]
        document.created = old.created if old else self.now
        document.visited = self.now
        document.title = shown(title)
        return 200 if old else 201, verdict, document.version, is_changed

    def find(self, name, labels, caller):
        """(status, document): labels None: whatever they are."""
        found = [d for d in self.visible(caller) if d.name == name]
        if labels is not None:
            found = [d for d in found if d.labels == tuple(sorted(set(labels)))]
        if len(found) != 1:
            return 409 if found else 404, None
        return 200, found[0]

    def delete(self, name, labels, caller):
        status, document = self.find(name, labels, caller)
        if not document:
            return status
        del self.documents[document.name, document.labels]
        return 204

    def near(self, document, caller):
        """The others within the threshold, the nearest first, then the earlier."""
        return self.by_nearness(document.text, [d for d in self.visible(caller) if d is not document])

    def leader_of(self, document, caller):
        """The leader of a stored document, among the leaders before it."""
        before = [d for d in self.leaders(caller) if d.order < document.order]
        return next(iter(self.by_nearness(document.text, before)), document)

    def cluster(self, document, caller):
        """The leader first, then in order of commits."""
        leader = self.leader_of(document, caller)
        return [leader] + [d for d in self.visible(caller) if d is not leader and self.leader_of(d, caller) is leader]

    def newest(self, caller, since=0, site=None, words=()):
        """The latest first: by the second in which they came, then by id; labels in any order."""
        documents = [
            d
            for d in self.visible(caller)
            if d.created >= since
            and (site is None or is_of_site(d.name, site))
            and all(word in re.findall(r"\w+", (d.title or "").lower()) for word in words)
        ]
        return sorted(documents, key=lambda d: (d.created, d.name.encode()), reverse=True)

    def clusters(self, caller):
        """Clusters of at least two documents: the leader, how many there are, and when each came, the latest first."""
        members = {}
        for document in self.visible(caller):
            members.setdefault(self.leader_of(document, caller).order, []).append(document)
        leaders = {d.order: d for d in self.visible(caller)}
        return [
            (leaders[order].key, sorted((d.created for d in group), reverse=True))
            for order, group in members.items()
            if len(group) > 1
        ]


def is_of_site(name, site):
    host = (urllib.parse.urlsplit(name).hostname or "") if "://" in name else ""
    return host == site or host.endswith("." + site)
