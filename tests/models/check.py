#!/usr/bin/env python3
"""Count in how many worlds and histories each design of labels leaks: ours in none, the others as often as stated.

    check.py [--table]

With NEARDUP_NIGHTLY set it counts more of them, and without taking alike ones together.  --table prints the table of
docs/decisions/labels.md.  Exit status 1: a count is not the one below.
"""

import os
import random
import sys

sys.dont_write_bytecode = True

import batch  # noqa: E402  (no files beside the sources)
import histories  # noqa: E402
import worlds  # noqa: E402
from designs import (  # noqa: E402
    LEAKING,
    Components,
    GlobalLeaders,
    LimitForAll,
    NearestOfAll,
    NumbersShown,
    OneSpaceOfIds,
    OnlyLeadersIndexed,
    PairsOfAll,
    StandIn,
    Store,
)

NIGHTLY = "NEARDUP_NIGHTLY" in os.environ
MAX_CHECKS = 2  # in worlds: small enough to be reached by four documents
MAX_CHECKS_OF_HISTORIES = 1  # they have three documents at most

# Leaks in the worlds of 1 to 4 documents with different texts, and in the histories of 1 to 3 operations.
WORLDS, HISTORIES = 2131008, 34944
LEAKS = {
    Store: (0, 0),
    GlobalLeaders: (137681, 456),
    OnlyLeadersIndexed: (531447, 5736),
    StandIn: (134924, 72),
    Components: (168414, 48),
    NearestOfAll: (1214177, 10080),
    LimitForAll: (85258, 408),
    PairsOfAll: (24696, 0),
    NumbersShown: (1050102, 10080),
    OneSpaceOfIds: (0, 5616),
}

# The smallest worlds that leak: fewest documents, then fewest pairs.
SMALLEST = {
    Store: [],
    GlobalLeaders: ["0 hidden, 1, 2; near 0-1 1-2", "0 hidden, 1, 2; near 0-2 1-2"],
    OnlyLeadersIndexed: ["0 hidden, 1; near 0-1"],
    StandIn: [
        "0 hidden, 1, 2; near 0-1 0-2",
        "0 hidden, 1, 2; near 0-1 1-2",
        "0 hidden, 1, 2; near 0-2 1-2",
    ],
    Components: [
        "0 hidden, 1, 2; near 0-1 0-2",
        "0, 1 hidden, 2; near 0-1 1-2",
        "0, 1, 2 hidden; near 0-2 1-2",
    ],
    NearestOfAll: ["0 hidden, 1; near 0-1", "0, 1 hidden; near 0-1"],
    NumbersShown: ["0 hidden, 1; near "],
    OneSpaceOfIds: [],
}
SHORTEST_OF_ONE_SPACE = (("put", "x", 1, 0), ("put", "x", 0, 0))

# Long random histories, and in how many of them a limit of stored pairs leaks that counts all label sets.
LONG_HISTORIES = 100
LONG_HISTORIES_OF_PAIRS_OF_ALL = {1: 96, 2: 82}

# Batches of three documents with different labels: how many lose a document for a reader, or keep a copy needlessly.
BATCHES = 4096
OF_BATCHES = {
    "labels are ignored": (2254, 0),
    "one set of labels": (0, 1414),
    "the kept one has more labels": (1433, 1257),
    "they have a label in common": (1182, 0),
    "the labels of the kept one are a subset": (0, 0),
}

failures = []


def expect(what, got, wanted):
    if got != wanted:
        failures.append(what)
        print(f"check.py: {what}: {got}, not {wanted}", file=sys.stderr)


def check_worlds():
    found = worlds.count([Store, *LEAKING], 4, worlds.distinct_situations, False, MAX_CHECKS)
    for design, one in found.items():
        expect(f"worlds, {design.name}", (one.worlds, one.leaks), (WORLDS, LEAKS[design][0]))
        if design in SMALLEST:
            smallest = sorted(set(one.smallest))
            expect(f"smallest world, {design.name}", smallest, SMALLEST[design])
    return found


def check_histories():
    found = {}
    for design in [Store, *LEAKING]:
        one = found[design] = histories.count(design, 3, 2, 1, limits=(MAX_CHECKS_OF_HISTORIES,))
        expect(f"histories, {design.name}", (one.histories, one.leaks), (HISTORIES, LEAKS[design][1]))
    shortest = [history for history, _ in found[OneSpaceOfIds].shortest]
    expect("shortest history with one space of ids", SHORTEST_OF_ONE_SPACE in shortest, True)
    return found


def check_ours():
    """More than the other designs are tried on: equal texts, each limit, more label sets, more operations."""
    check_stored_pairs()
    most_documents, length, length_of_three_sets = (5, 5, 4) if NIGHTLY else (4, 4, 3)
    for max_checks in (1, 2, 3):
        found = worlds.count([Store], 4, worlds.distinct_situations, True, max_checks)[Store]
        expect(f"worlds with equal texts, max_checks {max_checks}", found.leaks, 0)
    if most_documents > 4:
        found = worlds.count([Store], most_documents, worlds.distinct_situations, True, 2)[Store]
        expect(f"worlds of {most_documents} documents", found.leaks, 0)
    found = histories.count(Store, length, 2, 1)
    expect(f"histories of {length} operations", found.leaks, 0)
    for n_seen in (1, 2):
        found = histories.count(Store, length_of_three_sets, 3, n_seen)
        expect(f"histories of three label sets, {n_seen} of them visible", found.leaks, 0)


def check_stored_pairs():
    """Our design with few stored pairs leaks nothing, and the same rule over all label sets does."""
    found = worlds.count([Store], 4, worlds.distinct_situations, True, 3, 1)[Store]
    expect("worlds, few pairs stored", found.leaks, 0)
    found = histories.count(Store, 4 if NIGHTLY else 3, 2, 1, limits=(3, 1))
    expect("histories, few pairs stored", found.leaks, 0)
    for most_pairs in (1, 2):
        for design, wanted in ((Store, 0), (PairsOfAll, LONG_HISTORIES_OF_PAIRS_OF_ALL[most_pairs])):
            rng = random.Random(most_pairs)
            leaks = sum(histories.leaks_at_random(design, rng, 40, (3, most_pairs)) for _ in range(LONG_HISTORIES))
            expect(f"long histories, {most_pairs} pairs stored, {design.name}", leaks, wanted)
    if NIGHTLY:
        leaks = sum(histories.leaks_at_random(Store, random.Random(seed), 60, (3, 1 + seed % 2)) for seed in range(5000))
        expect("more long histories", leaks, 0)


def check_that_alike_is_alike():
    """Taking worlds and histories that differ in names only together changes no count."""
    designs = [Store, *LEAKING]
    for n in (2, 3) if NIGHTLY else (2,):
        each = worlds.count(designs, n, worlds.all_situations, True, 1)
        together = worlds.count(designs, n, worlds.distinct_situations, True, 1)
        for design in designs:
            counts = [(c[design].worlds, c[design].leaks) for c in (each, together)]
            expect(f"{design.name}: {n} documents one by one", *counts)
    if NIGHTLY:
        each = worlds.count([Store], 4, worlds.all_situations, False, MAX_CHECKS)[Store]
        expect("our worlds one by one", (each.worlds, each.leaks), (WORLDS, 0))
    for design in designs:
        length = 3 if NIGHTLY else 2
        counts = [histories.count(design, length, 2, 1, up_to_names=u) for u in (False, True)]
        expect(f"{design.name}: histories one by one", *((c.histories, c.leaks) for c in counts))


def check_batches():
    n, lost, kept = batch.count(3)
    expect("batches", n, BATCHES)
    for rule, wanted in OF_BATCHES.items():
        expect(f"batches, {rule}", (lost[rule], kept[rule]), wanted)


def print_table(of_worlds, of_histories):
    print(f"| design | of {WORLDS:,} worlds | of {HISTORIES:,} histories |\n|---|---|---|")
    for design in [*LEAKING, Store]:
        leaks = of_worlds[design].leaks, of_histories[design].leaks
        shown = ["none" if not n else f"{n:,} ({100 * n / m:.1f} %)" for n, m in zip(leaks, (WORLDS, HISTORIES))]
        print(f"| {design.name} | {' | '.join(shown)} |")


def main():
    of_worlds, of_histories = check_worlds(), check_histories()
    if "--table" in sys.argv[1:]:
        print_table(of_worlds, of_histories)
        return 1 if failures else 0
    check_ours()
    check_batches()
    check_that_alike_is_alike()
    print(f"check.py: {len(failures)} counts differ" if failures else "check.py: all counts are as stated")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
