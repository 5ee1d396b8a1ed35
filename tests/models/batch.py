"""Removing documents of a batch whose readers differ: who loses a document, and which copies stay that need not.

A document is removed for an earlier kept one that is near it.  A reader has labels, and sees the documents all of
whose labels they have.  A rule says by the labels of both which kept document may stand for which other.  A reader
loses a document if they see it, and not the one that it was removed for; a copy stays needlessly if everyone who sees
it sees a kept document that is near it.
"""

import itertools

from worlds import LABELS, relations

RULES = {
    "labels are ignored": lambda kept, own: True,
    "one set of labels": lambda kept, own: kept == own,
    "the kept one has more labels": lambda kept, own: own & ~kept == 0,
    "they have a label in common": lambda kept, own: kept & own or not kept,
    "the labels of the kept one are a subset": lambda kept, own: kept & ~own == 0,
}


def removed_by(rule, sets, near):
    """By document: the one that it is removed for, the first that may stand for it; or itself."""
    stands = []
    for d, own in enumerate(sets):
        kept = (k for k in range(d) if stands[k] == k and k in near[d] and rule(sets[k], own))
        stands.append(next(kept, d))
    return stands


def loses(sets, stands):
    sees = [[labels & ~reader == 0 for labels in sets] for reader in range(1 << LABELS)]
    return any(seen[d] and not seen[k] for seen in sees for d, k in enumerate(stands))


def keeps_too_much(sets, near, stands):
    """Checked by readers, not by labels: everyone who sees d sees an earlier kept one near it."""
    for d in range(len(sets)):
        readers = [reader for reader in range(1 << LABELS) if sets[d] & ~reader == 0]
        for k in range(d):
            if stands[d] == d and stands[k] == k and k in near[d] and all(sets[k] & ~r == 0 for r in readers):
                return True
    return False


def count(n):
    """(worlds, by rule how many lose a document for a reader, by rule how many keep too much)"""
    worlds, lost, kept = 0, dict.fromkeys(RULES, 0), dict.fromkeys(RULES, 0)
    for near in relations(n):
        for sets in itertools.product(range(1 << LABELS), repeat=n):
            worlds += 1
            for name, rule in RULES.items():
                stands = removed_by(rule, sets, near)
                lost[name] += loses(sets, stands)
                kept[name] += keeps_too_much(sets, near, stands)
    return worlds, lost, kept
