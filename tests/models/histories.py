"""All short histories: does what a caller hears depend on operations on documents that they cannot see?

An operation puts or deletes a document.  The observer sees some label sets; of an operation there they hear the
answer, and after it they ask everything that can be asked.  Beside each history stands the one without the
operations on hidden label sets.  A design leaks in a history if, at its end, the observer hears different things.
"""

import copy

from worlds import relations

NAMES = "xy"
TEXTS = 3


class Operations:
    """Everything that can be done next: every put and every deletion, by id, label set and text.

    Ids and texts have no meaning but which of them are equal, and which texts are near; and every relation is tried.
    So it suffices to take them in order of first use, and to count how many histories each one stands for.
    """

    def __init__(self, n_label_sets, up_to_names):
        self.label_sets = range(n_label_sets)
        self.up_to_names = up_to_names

    def choices(self, n_all, n_used):
        """Pairs of a choice and how many it stands for."""
        if not self.up_to_names:
            return [(i, 1) for i in range(n_all)]
        known = [(i, 1) for i in range(n_used)]
        return known + ([(n_used, n_all - n_used)] if n_used < n_all else [])

    def next(self, n_names, n_texts):
        """Operations, each with its number of equals and the names and texts used after it."""
        for name, names_alike in self.choices(len(NAMES), n_names):
            used = max(n_names, name + 1)
            for label_set in self.label_sets:
                yield ("delete", NAMES[name], label_set), names_alike, used, n_texts
                for text, texts_alike in self.choices(TEXTS, n_texts):
                    yield (
                        ("put", NAMES[name], label_set, text),
                        names_alike * texts_alike,
                        used,
                        max(n_texts, text + 1),
                    )


def perform(store, operation, seen):
    """Do it, for the first caller who may; the answer to one who sees these label sets."""
    what, name, label_set, *text = operation
    if what == "delete":
        return store.delete(name, label_set, seen | {label_set})
    status, document = store.put(name, label_set, *text, seen | {label_set})
    if label_set not in seen or not document:
        return status
    return status, document.key, document.version, store.verdict(document, seen)


class Count:
    """The histories of one design, how many of them leak, and the shortest of these."""

    def __init__(self):
        self.histories = self.leaks = 0
        self.shortest = []

    def add(self, history, near, leaks, n_alike):
        self.histories += n_alike
        if not leaks:
            return
        self.leaks += n_alike
        if not self.shortest or len(history) < len(self.shortest[0][0]):
            self.shortest = []
        if not self.shortest or len(history) == len(self.shortest[0][0]):
            self.shortest.append((tuple(history), [sorted(n) for n in near]))


def walk(count, operations, length, state, history, near, used, n_alike, seen):
    """All continuations of a history; `state` is the store with everything, and the one without what is hidden."""
    for operation, alike, *then in operations.next(*used):
        whole, shown = copy.deepcopy(state)
        heard = perform(whole, operation, seen)
        differs = False
        if operation[2] in seen:
            differs = heard != perform(shown, operation, seen)
        differs = differs or whole.answers(NAMES, seen) != shown.answers(NAMES, seen)
        history.append(operation)
        count.add(history, near, differs, n_alike * alike)
        if len(history) < length:
            walk(count, operations, length, (whole, shown), history, near, then, n_alike * alike, seen)
        history.pop()


def count(design, length, n_label_sets, n_seen, up_to_names=True, limits=(1,)):
    """How many histories of up to `length` operations leak; the observer sees the first `n_seen` label sets.

    The limits are those of a store: max_checks, and how many pairs are stored.
    """
    result = Count()
    operations = Operations(n_label_sets, up_to_names)
    for near in relations(TEXTS):
        state = design(near, *limits), design(near, *limits)
        walk(result, operations, length, state, [], near, (0, 0), 1, set(range(n_seen)))
    return result


def any_operation(rng, n_label_sets, n_texts):
    name, label_set = rng.choice("abcdefghijkl"), rng.randrange(n_label_sets)
    if rng.random() < 0.25:
        return "delete", name, label_set
    return "put", name, label_set, rng.randrange(n_texts)


def any_relation(rng, n_texts):
    """Texts of which most are near, and how alike any two of them are."""
    near = [set() for _ in range(n_texts)]
    likeness = [[0] * n_texts for _ in range(n_texts)]
    for a in range(n_texts):
        for b in range(a):
            likeness[a][b] = likeness[b][a] = rng.randrange(4)
            if rng.random() < 0.7:
                near[a].add(b)
                near[b].add(a)
    return near, likeness


def leaks_at_random(design, rng, length, limits):
    """Whether a long random history leaks: any answer to a caller differs with the hidden operations and without."""
    n_label_sets, n_texts = rng.choice([2, 3, 4]), rng.choice([6, 10])
    seen = set(rng.sample(range(n_label_sets), rng.randrange(1, n_label_sets)))
    near, likeness = any_relation(rng, n_texts)
    whole, shown = (design(near, *limits, likeness) for _ in range(2))
    for _ in range(length):
        operation = any_operation(rng, n_label_sets, n_texts)
        heard = perform(whole, operation, seen)
        if operation[2] in seen and heard != perform(shown, operation, seen):
            return True
        if whole.answers("abc", seen) != shown.answers("abc", seen):
            return True
    return False
