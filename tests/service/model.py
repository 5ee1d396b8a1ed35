"""The service by definition, as plain lists: who sees what, who leads, which version (docs/http.md, src/store/README.md).

It knows no sketches and no index.  Which texts are near it is told: by a relation that `neardup pairs` made.
"""

import json
import os
import subprocess
from fractions import Fraction


class Relation:
    """Of two texts, how they compare: None, or (the smaller the nearer, what the evidence says)."""

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
            return (0, 0), "tokens"
        row = self.found.get(pair)
        if row is None:
            return None
        if "shared" in row:
            shared = row["shared"]
            return (1, -Fraction(shared, row["shingles_a"] + row["shingles_b"] - shared)), "no"
        return (1, row["hamming"]), "no"


def words(text):
    """The tokens of texts.py, but for those that a recipe takes as characters."""
    return text.lower().rstrip(".").split()


class Document:
    def __init__(self, name, labels, text, order, version):
        self.name, self.labels, self.text = name, labels, text
        self.order, self.version = order, version

    @property
    def key(self):
        return {"id": self.name, "security": list(self.labels)}


class Service:
    def __init__(self, relation):
        self.relation = relation
        self.documents = {}
        self.next_order = 0

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

    def verdict(self, text, caller, without=None):
        """(kind, the leader or None): among all visible documents but one.

        The leader is the nearest one, then the earliest.
        """
        hidden = self.documents.pop(without, None)
        found = []
        for leader in self.leaders(caller):
            how = self.relation(text, leader.text)
            if how:
                found.append((how[0], leader.order, leader))
        if hidden:
            self.documents[without] = hidden
        if not found:
            return "new", None
        leader = min(found, key=lambda f: f[:2])[2]
        return self.kind(text, leader), leader

    def kind(self, text, leader):
        _, identical = self.relation(text, leader.text)
        return "near-duplicate" if identical == "no" else "duplicate"

    def put(self, name, labels, text, caller):
        """What the answer says: status, verdict, leader, version, whether the text changed."""
        key = name, tuple(sorted(set(labels)))
        old = self.documents.get(key)
        if old and old.text == text:  # what is stored already has the verdict that it has
            leader = self.leader_of(old, caller)
            kind, of = ("new", None) if leader is old else (self.kind(text, leader), leader.key)
            return 200, kind, of, old.version, False
        kind, leader = self.verdict(text, caller, key)
        leader = leader and leader.key
        version = old.version + 1 if old else 1
        self.documents[key] = Document(*key, text, self.next_order, version)
        self.next_order += 1
        return 200 if old else 201, kind, leader, version, True

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
        found = []
        for other in self.visible(caller):
            how = None if other is document else self.relation(document.text, other.text)
            if how:
                found.append((how[0], other.order, other))
        return [other for _, _, other in sorted(found, key=lambda f: f[:2])]

    def leader_of(self, document, caller):
        """Of a stored document: among the leaders before it."""
        before = [d for d in self.leaders(caller) if d.order < document.order]
        near = [(self.relation(document.text, d.text)[0], d.order, d) for d in before if self.relation(document.text, d.text)]
        return min(near, key=lambda f: f[:2])[2] if near else document

    def cluster(self, document, caller):
        """The leader first, then in order of commits."""
        leader = self.leader_of(document, caller)
        return [leader] + [d for d in self.visible(caller) if d is not leader and self.leader_of(d, caller) is leader]
