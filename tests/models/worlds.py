"""All worlds of a few documents and labels: in which does an answer depend on documents that the caller cannot see?

A world is a list of documents in the order in which they were stored, each with a label set and a text of its own or
an earlier one's; a relation that says which texts are near; and a caller with labels.  A design leaks in a world if
its answers to the caller are not those that it gives in the world without the hidden documents.
"""

import itertools
from collections import Counter

LABELS = 3


def relations(n_texts):
    """Every symmetric relation of n texts: of each text the set of those near it."""
    pairs = list(itertools.combinations(range(n_texts), 2))
    for bits in range(1 << len(pairs)):
        near = [set() for _ in range(n_texts)]
        for k, (a, b) in enumerate(pairs):
            if bits >> k & 1:
                near[a].add(b)
                near[b].add(a)
        yield near


def first_occurrences(things):
    """The list with 0 for the first thing, 1 for the next one that differs, and so on."""
    number = {}
    return tuple(number.setdefault(thing, len(number)) for thing in things)


def texts_of(n, with_equal):
    """The texts that n documents can have, up to names: all different, or any of them equal."""
    if not with_equal:
        return [tuple(range(n))]
    return sorted({first_occurrences(t) for t in itertools.product(range(n), repeat=n)})


def subsets(bits):
    return {s for s in range(1 << LABELS) if s & ~bits == 0}


def all_situations(n):
    """Every choice of n label sets and a caller."""
    for sets in itertools.product(range(1 << LABELS), repeat=n):
        for caller in range(1 << LABELS):
            yield sets, subsets(caller), 1


def distinct_situations(n):
    """Situations up to names, each with the number of situations that it stands for.

    A design asks of label sets only which are equal and which of them the caller sees.  So two choices are alike if
    the same documents have equal label sets and the same documents are hidden.
    """
    count = Counter()
    for sets, seen, _ in all_situations(n):
        count[first_occurrences(sets), tuple(s in seen for s in sets)] += 1
    for (sets, visible), n_alike in count.items():
        yield sets, {s for s, v in zip(sets, visible) if v}, n_alike


def answers(design, documents, near, seen, limits):
    store = design(near, *limits)
    for name, label_set, text in documents:
        store.put(name, label_set, text, seen)
    return store.answers([name for name, s, _ in documents if s in seen], seen)


def leaks_in(design, documents, near, seen, limits):
    visible = [d for d in documents if d[1] in seen]
    if len(visible) == len(documents):
        return False
    return answers(design, documents, near, seen, limits) != answers(design, visible, near, seen, limits)


class Count:
    """In how many worlds a design leaks, and the smallest of them."""

    def __init__(self):
        self.worlds = self.leaks = 0
        self.smallest = []
        self.size = None  # documents, then near pairs

    def add(self, n_alike, leaks, documents, near, seen):
        self.worlds += n_alike
        if not leaks:
            return
        self.leaks += n_alike
        size = len(documents), sum(map(len, near)) // 2
        if self.size is None or size < self.size:
            self.size, self.smallest = size, []
        if size == self.size:
            self.smallest.append(describe(documents, near, seen))


def describe(documents, near, seen):
    """A world in a line: `0 hidden, 1, 2; near 0-2 1-2`."""
    of_each = []
    for name, label_set, text in documents:
        equal = "" if str(text) == name else f" (text of {text})"
        of_each.append(name + equal + ("" if label_set in seen else " hidden"))
    pairs = [f"{a}-{b}" for a in range(len(near)) for b in sorted(near[a]) if a < b]
    return ", ".join(of_each) + "; near " + " ".join(pairs)


def count(designs, most_documents, situations, with_equal=False, *limits):
    """How often each design leaks, over all worlds of 1 to `most_documents` documents.

    The limits are those of a store: max_checks, and how many pairs are stored.
    """
    counts = {design: Count() for design in designs}
    for n in range(1, most_documents + 1):
        for sets, seen, n_alike in situations(n):
            for texts in texts_of(n, with_equal):
                documents = [(str(i), sets[i], texts[i]) for i in range(n)]
                for near in relations(max(texts) + 1):
                    for design, one in counts.items():
                        leaks = leaks_in(design, documents, near, seen, limits)
                        one.add(n_alike, leaks, documents, near, seen)
    return counts
