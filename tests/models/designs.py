"""A store of documents by label set in its simplest form, and nine designs of it that leak.

`Store` follows src/store/README.md and docs/http.md word for word: pairs are stored, leaders are chosen among what a
caller sees, limits hold for each label set, and keys are (id, label set).  With `most_pairs`, of the pairs of a new
text with a label set only some are stored: those with the first texts there, and those with the nearest of the rest.  Each
other class changes one of these, in the way that one would think of first.  Texts are numbers, a relation says which
of them are near, and label sets are numbers too: a caller is the set of the label sets that they see.
"""

NEW = "new"


class Document:
    """A stored document: where its text is among the entries, and when it got that text."""

    __slots__ = ("bound", "entry", "key", "order", "version", "created")

    def __init__(self, key, entry, order, version, bound):
        self.key, self.entry, self.order, self.version = key, entry, order, version
        self.bound = bound  # the number of the next new entry at that time


class Store:
    """The design of neardup."""

    name = "pairs stored, leaders chosen among visible documents"
    shows_numbers = False

    def __init__(self, near, max_checks, most_pairs=None, likeness=None):
        self.near = near  # near[t]: the texts that are near text t; never t itself
        self.max_checks = max_checks
        self.most_pairs = most_pairs  # so many with the first, and so many with the nearest; None: all are stored
        self.likeness = likeness  # of two texts; None: of the texts near a text the last is the nearest
        self.number = {}  # of each entry: how many there were before it
        self.has_led = set()  # entries that led in their label set when they were stored
        self.left_out = {}  # by entry and label set: the smallest number of an entry whose pair was not stored
        self.documents = {}  # by key
        self.entries = {}  # by (label set, text): the documents that have this text, in their order
        self.pairs = {}  # by entry: the entries that were found to be near it
        self.label_sets = []  # in the order in which they first occurred
        self.next_order = self.next_number = 0

    # Writing.

    def key(self, name, label_set):
        return name, label_set

    def put(self, name, label_set, text, seen):
        """Store a text as a version of a document, for a writer who sees these label sets."""
        key = self.key(name, label_set)
        old = self.documents.get(key)
        if old and old.entry == (label_set, text):
            return "visited again", old
        if old:
            self.release(old)
        if label_set not in self.label_sets:
            self.label_sets.append(label_set)
        entry = label_set, text
        new = Document((name, label_set), entry, self.next_order, old.version + 1 if old else 1, self.next_number)
        new.created = old.created if old else new.order
        self.next_order += 1
        if entry not in self.entries:
            self.add_entry(entry)
        self.entries[entry].append(new)
        self.documents[key] = new
        return "stored", new

    def delete(self, name, label_set, seen):
        document = self.documents.pop(self.key(name, label_set), None)
        if not document:
            return "not found"
        self.release(document)
        return "deleted"

    def add_entry(self, entry):
        found = {one: self.candidates(entry[1], one) for one in self.label_sets}
        kept = self.kept(entry[1], found)
        self.entries[entry] = []
        self.number[entry] = self.next_number
        self.next_number += 1
        if not self.has_led.intersection(found[entry[0]]):
            self.has_led.add(entry)
        self.pairs[entry] = set(kept)
        for one, others in found.items():
            for other in others:
                if other in kept:
                    self.pairs[other].add(entry)
                else:
                    self.left_out.setdefault((other, entry[0]), self.number[entry])
                    least = self.left_out.get((entry, one), self.next_number)
                    self.left_out[entry, one] = min(least, self.number[other])

    def kept(self, text, found):
        """The entries whose pairs with a new text are stored, of those near it in each label set."""
        return [other for others in found.values() for other in self.first_and_nearest(text, others)]

    def first_and_nearest(self, text, others):
        """The first entries near a text, of which those that led come before the others, and the nearest of the rest."""
        if self.most_pairs is None:
            return others
        by_age = sorted(others, key=lambda e: (e not in self.has_led, self.number[e]))
        rest = sorted(by_age[self.most_pairs :], key=lambda e: (-self.likeness_of(text, e), self.number[e]))
        return by_age[: self.most_pairs] + rest[: self.most_pairs]

    def likeness_of(self, text, entry):
        return self.likeness[text][entry[1]] if self.likeness else self.number[entry]

    def release(self, document):
        """A document gives up its text; an entry that no document has is forgotten, and its pairs with it."""
        holders = self.entries[document.entry]
        holders.remove(document)
        if not holders:
            del self.entries[document.entry]
            for other in self.pairs.pop(document.entry):
                self.pairs[other].discard(document.entry)
            self.has_led.discard(document.entry)
            for label_set in self.label_sets:
                self.left_out.pop((document.entry, label_set), None)

    def candidates(self, text, label_set):
        """The entries of a label set that are near a text: the first ones, up to the limit."""
        return self.near_entries(text, label_set)[: self.max_checks]

    def near_entries(self, text, label_set):
        return [e for e in self.entries if e[0] == label_set and e[1] in self.near[text]]

    # Reading: everything below is an answer to a caller who sees the label sets `seen`.

    def visible(self, seen):
        """The documents that a caller sees, in their order."""
        documents = [d for d in self.documents.values() if d.key[1] in seen]
        return sorted(documents, key=lambda d: d.order)

    def neighbours(self, document, seen):
        """The visible documents near a document: those with its text, and those of stored pairs."""
        entries = self.pairs[document.entry]
        others = self.visible(seen)
        return [
            d
            for d in others
            if d is not document
            and (d.entry in entries or d.entry[1] == document.entry[1])
        ]

    def leaders(self, seen):
        """The leader of each visible document: itself, or the first of the earlier leaders near it."""
        leader = {}
        for document in self.visible(seen):
            near = self.neighbours(document, seen)
            earlier = [d for d in near if d.order < document.order and leader[d] is d]
            leader[document] = earlier[0] if earlier else document
        return leader

    def nearest(self, text, seen, without=None):
        """The visible documents with a text or near it, equal ones first, then the earlier; and whether some may be missing.

        Equal texts are looked up by their hash; of the others as many are compared as the limit allows, in each label set.
        """
        equal, near, is_cut = [], [], False
        for label_set in self.label_sets:
            if label_set in seen:
                equal += self.entries.get((label_set, text), [])
                found = self.near_entries(text, label_set)
                near += [d for entry in found[: self.max_checks] for d in self.entries[entry]]
                is_cut = is_cut or len(found) > self.max_checks
        equal, near = ([d.key for d in sorted(some, key=lambda d: d.order) if d is not without] for some in (equal, near))
        return ("duplicate" if equal else "near-duplicate" if near else NEW), equal + near, is_cut

    def verdict(self, document, seen):
        """The answer that a caller gets about a document, and the work that was done for it."""
        leader = self.leaders(seen)[document]
        return (
            self.nearest(document.entry[1], seen, document),
            None if leader is document else leader.key,
            self.work(document, seen),
        )

    def work(self, document, seen):
        searched = [s for s in self.label_sets if s in seen]
        compared = sum(len(self.candidates(document.entry[1], s)) for s in searched)
        return len(searched), compared, len(self.neighbours(document, seen))

    def cluster(self, document, seen):
        leader = self.leaders(seen)
        members = [d for d in leader if leader[d] is leader[document]]
        return [d.key for d in members], any(is_left_out for d in members for is_left_out, _ in self.lacks_pairs(d, seen))

    def lacks_pairs(self, document, seen):
        """For each label set that the caller sees: whether pairs were not stored with earlier texts, and with any."""
        least = [self.left_out.get((document.entry, s)) for s in self.label_sets if s in seen]
        return [(n is not None and n < document.bound, n is not None) for n in least]

    def shown_number(self, document):
        """The place of a document in the store, as an answer says it."""
        return document.order if self.shows_numbers else None

    def get(self, name, seen):
        """The answer to GET of an id without labels."""
        found = [d for d in self.visible(seen) if d.key[0] == name]
        if len(found) != 1:
            return "several" if found else "not found"
        return found[0].key, found[0].version

    def newest(self, seen):
        """The documents in the order of their first versions, the latest first."""
        return [d.key for d in sorted(self.visible(seen), key=lambda d: (d.created, d.key), reverse=True)]

    def answers(self, names, seen):
        """All that a caller can hear without writing."""
        documents = self.visible(seen)
        of_each = [
            (
                d.key,
                d.version,
                self.shown_number(d),
                self.verdict(d, seen),
                [other.key for other in self.neighbours(d, seen)],
                self.lacks_pairs(d, seen),
                self.cluster(d, seen),
            )
            for d in documents
        ]
        contents = len({d.entry for d in documents})
        of_texts = [self.nearest(text, seen) for text in range(len(self.near))]  # as queries, stored or not
        return of_each, of_texts, [self.get(name, seen) for name in names], self.newest(seen), len(documents), contents


class GlobalLeaders(Store):
    """Leaders are chosen among all documents, once; a hidden one is not shown."""

    name = "global leaders, hidden ones not shown"

    def leaders(self, seen):
        every = super().leaders(set(self.label_sets))
        return {d: every[d] if every[d].key[1] in seen else d for d in self.visible(seen)}


class OnlyLeadersIndexed(Store):
    """A document that duplicates another is not indexed, so that the index stays small."""

    name = "only leaders are indexed"

    def neighbours(self, document, seen):
        near = super().neighbours(document, seen)
        every = Store.leaders(_Whole(self), set(self.label_sets))
        return [d for d in near if every[d] is d]

    def work(self, document, seen):
        """A document that is not indexed is not found, not even by its own text."""
        every = Store.leaders(_Whole(self), set(self.label_sets))
        return super().work(document, seen), every[document] is document


class _Whole(Store):
    """The store under a design, read as if it were ours."""

    def __init__(self, store):
        self.__dict__.update(store.__dict__)


class StandIn(Store):
    """If the leader is hidden, the first visible document of its cluster is named in its place."""

    name = "a visible stand-in for a hidden leader"

    def leaders(self, seen):
        every = super().leaders(set(self.label_sets))
        first, leader = {}, {}
        for document in self.visible(seen):
            leader[document] = first.setdefault(every[document], document)
        return leader


class Components(Store):
    """Clusters are the connected components of all documents; hidden documents are left out."""

    name = "global components, filtered"

    def leaders(self, seen):
        every = self.visible(set(self.label_sets))
        first = {}
        for document in every:  # in their order, so that the first of a component is its leader
            if document in first:
                continue
            reached = [document]
            for d in reached:
                first[d] = document
                near = self.neighbours(d, set(self.label_sets))
                reached += [n for n in near if n not in first and n not in reached]
        leader, shown = {}, {}
        for document in self.visible(seen):
            leader[document] = shown.setdefault(first[document], document)
        return leader


class LimitForAll(Store):
    """max_checks counts the candidates of all label sets together."""

    name = "max_checks counts all documents"

    def candidates(self, text, label_set):
        found = [e for e in self.entries if e[1] in self.near[text]]
        return [e for e in found[: self.max_checks] if e[0] == label_set]


class PairsOfAll(Store):
    """The first and the nearest pairs of a new text, of all label sets, are stored."""

    name = "the limit of stored pairs counts all documents"

    def __init__(self, near, max_checks, most_pairs=1, likeness=None):
        super().__init__(near, max_checks, most_pairs, likeness)

    def kept(self, text, found):
        return self.first_and_nearest(text, [other for others in found.values() for other in others])


class NearestOfAll(Store):
    """The verdict comes from the nearest of all documents; a hidden one is not shown."""

    name = "the nearest of all, a hidden one not shown"

    def nearest(self, text, seen, without=None):
        _, found, is_cut = super().nearest(text, set(self.label_sets), without)
        return [key for key in found[:1] if key[1] in seen], is_cut


class NumbersShown(Store):
    """Answers name documents by their number in the store."""

    name = "internal numbers are shown"
    shows_numbers = True


class OneSpaceOfIds(Store):
    """An id names one document; it cannot be given to another one with other labels."""

    name = "one space of ids, filtered"

    def key(self, name, label_set):
        return name

    def put(self, name, label_set, text, seen):
        old = self.documents.get(name)
        if old and old.key[1] != label_set:
            return "the id is taken", None
        return super().put(name, label_set, text, seen)

    def delete(self, name, label_set, seen):
        old = self.documents.get(name)
        if old and old.key[1] != label_set:
            return "not found"
        return super().delete(name, label_set, seen)


LEAKING = [
    GlobalLeaders,
    OnlyLeadersIndexed,
    StandIn,
    Components,
    NearestOfAll,
    LimitForAll,
    PairsOfAll,
    NumbersShown,
    OneSpaceOfIds,
]
