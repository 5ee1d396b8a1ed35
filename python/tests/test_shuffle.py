"""The steps by which machines find documents that could match, in one process, from blob to blob."""

from __future__ import annotations

import array
import random

import pytest

import neardup
from neardup import _native


def nodes_of(n):
    """A number for each row."""
    return array.array("Q", (i * 0x9E3779B97F4A7C15 % 2**64 for i in range(n)))


def make(recipe, texts, groups=None):
    frame = _native.frame_new(("text", "group"))
    groups = groups or ["" for _ in texts]
    _native.frame_append(frame, (tuple(texts), tuple(groups)), (bytes(len(texts)), bytes(len(texts))))
    rows = _native.rows_new(recipe._native)
    made, keys = _native.rows_make(rows, frame, nodes_of(len(texts)), 1, ())
    assert not (keys and _native.rows_keys(rows, [made]))  # rows tell their keys, or do not
    return rows, made, keys or _native.rows_keys(rows, [made])


def parts_of(blobs, width, parts):
    """The records of each part."""
    dealt = [[] for _ in range(parts)]
    for part, blob in _native.records_deal(blobs, width, parts):
        dealt[part].append(blob)
    return dealt


def edges_of(recipe, texts, parts, groups=None):
    """All steps, as machines take them."""
    rows, made, keys = make(recipe, texts, groups)
    width = _native.rows_width(rows)
    edges, members, entries = [], [], []
    for part in parts_of([keys], 16, parts):
        found = _native.keys_buckets(rows, part)
        edges.append(found[0])
        members.append(found[1])
    for part, theirs in zip(parts_of([made], width, parts), parts_of(members, 16, parts)):
        entries.append(_native.members_attach(width, part, theirs))
    for part in parts_of(entries, width + 8, parts):
        edges.append(_native.entries_link(rows, part))
    return edges


def edges_at_once(recipe, texts, groups=None):
    """All steps in one process."""
    rows, made, keys = make(recipe, texts, groups)
    told = _native.rows_keys(rows, [made])
    return [_native.rows_link(rows, [made], [] if told else [keys])]


def words(blob):
    return array.array("Q", blob)


def labels_of(ends):
    nodes, labels = _native.ends_labels(ends)
    return dict(zip(words(nodes), words(labels)))


def components(edges):
    """The least node of each node's component, by one machine."""
    ends = [blob for _, blob in _native.edges_ends([_native.edges_contract(edges)], 1, True)]
    return labels_of(ends)


def in_rounds(edges, parts):
    """The same, by several machines; and how many rounds they take."""
    rounds = 0
    starred, undecided = deal_stars(edges, parts, True)
    while undecided:
        starred, undecided = deal_stars(deal_stars(starred, parts, False)[0], parts, True)
        rounds += 1
    ends = [[] for _ in range(parts)]
    for part, blob in _native.edges_ends(starred, parts, True):
        ends[part].append(blob)
    found = {}
    for part in ends:
        found |= labels_of(part)
    return found, rounds


def deal_stars(edges, parts, is_large):
    ends = [[] for _ in range(parts)]
    for part, blob in _native.edges_ends(edges, parts, is_large):
        ends[part].append(blob)
    made = [_native.ends_stars(part, is_large) for part in ends]
    return [blob for blob, _ in made], sum(undecided for _, undecided in made)


@pytest.mark.parametrize(
    "keys",
    [{}, {"threshold": 0.5}, {"candidates": "simhash", "threshold": 0.5}, {"candidates": "identity"}],
    ids=str,
)
def test_documents_that_match_are_in_one_component(records, keys):
    texts = [record["text"] for record in records]
    recipe = neardup.Recipe(**keys)
    node = nodes_of(len(texts))
    removed = neardup.dedup(texts, recipe=recipe).removed
    assert len(removed)
    for parts in (None, 1, 2, 7):
        label = components(edges_of(recipe, texts, parts) if parts else edges_at_once(recipe, texts))
        for row in removed:
            assert label[node[row["row"]]] == label[node[row["kept_row"]]]
        assert len(label) < 0.7 * len(texts)
        assert len(set(label.values())) > 100


def test_groups_have_no_edges_between_them(records):
    texts = [record["text"] for record in records] * 2
    groups = ["left"] * len(records) + ["right"] * len(records)
    recipe = neardup.Recipe()
    left = set(nodes_of(len(texts))[: len(records)])
    found = words(_native.edges_contract(edges_of(recipe, texts, 3, groups)))
    assert len(found)
    assert all((a in left) == (b in left) for a, b in zip(found[::2], found[1::2]))


@pytest.mark.parametrize("parts", [1, 2, 7])
def test_rounds_end_with_the_components(parts):
    chance = random.Random(parts)
    nodes = [chance.randrange(2**64) for _ in range(6000)]
    pairs = [(nodes[i], nodes[i + 1]) for i in range(2999)]  # a chain
    pairs += [(nodes[3000 + chance.randrange(1500)], nodes[3000 + chance.randrange(1500)]) for _ in range(900)]
    pairs += [(nodes[5000], node) for node in nodes[5000:]]  # a star, and an edge to itself
    chance.shuffle(pairs)
    blobs = [array.array("Q", [word for pair in pairs[i::5] for word in pair]) for i in range(5)]
    found, rounds = in_rounds(blobs, parts)
    assert found == components(blobs)
    assert rounds <= 20


def test_equal_texts_form_a_star_not_a_clique():
    texts = ["one two three four five six seven"] * 20000
    edges = edges_of(neardup.Recipe(), texts, 3)
    keys = make(neardup.Recipe(), texts)[2]
    assert sum(map(len, edges)) <= len(keys)  # an edge and a key of a document have the same bytes
    assert len(set(components(edges).values())) == 1


def test_documents_of_one_node_are_one_component():
    rows, _, keys = make(neardup.Recipe(), ["one two three four"])
    assert _native.keys_buckets(rows, [keys]) == (b"", b"")
    edges, members = _native.keys_buckets(rows, [keys, keys])
    assert members == b"" and set(components([edges])) >= set(nodes_of(1))


def test_the_order_of_blobs_changes_nothing(records):
    recipe = neardup.Recipe(threshold=0.5)
    texts = [record["text"] for record in records]
    edges = edges_of(recipe, texts, 5)
    assert components(edges) == components(edges[::-1]) == components(edges_of(recipe, texts, 1))
    assert components(edges) == components(edges_at_once(recipe, texts))


def test_keys_that_are_sorted_in_shares_find_the_same():
    """More keys than are sorted at once: 21 of each document."""
    texts = [f"number{i // 2} of{i // 2} pairs{i // 2} of texts" for i in range(210_000)]
    recipe = neardup.Recipe()
    assert components(edges_at_once(recipe, texts)) == components(edges_of(recipe, texts, 1))


def test_documents_without_a_text_have_no_row():
    _, rows, keys = make(neardup.Recipe(), [None, None])
    assert (rows, keys) == (b"", b"")


def test_blobs_of_another_width_are_refused():
    rows = _native.rows_new(neardup.Recipe()._native)
    for call in (
        lambda: _native.records_deal([b"123"], 8, 1),
        lambda: _native.records_deal([b"12345678"], 4, 1),
        lambda: _native.records_deal([b"12345678"], 8, 0),
        lambda: _native.keys_buckets(rows, [b"1" * 17]),
        lambda: _native.rows_keys(rows, [b"1" * 17]),
        lambda: _native.rows_link(rows, [b"1" * 17], []),
        lambda: _native.rows_link(rows, [], [b"1" * 17]),
        lambda: _native.entries_link(rows, [b"1" * 16]),
        lambda: _native.members_attach(4, [], []),
        lambda: _native.edges_contract([b"12345678"]),
        lambda: _native.edges_ends([b"1" * 16], 0, True),
        lambda: _native.ends_stars([b"1" * 8], True),
        lambda: _native.ends_labels([b"1" * 8]),
    ):
        with pytest.raises(ValueError):
            call()
    for call in (lambda: _native.edges_contract(5), lambda: _native.edges_contract([5])):
        with pytest.raises(TypeError):
            call()
    frame = _native.frame_new(("text",))
    with pytest.raises(ValueError, match="one node for each row"):
        _native.rows_make(rows, frame, b"12345678", 0, ())


def test_a_recipe_that_needs_all_documents_is_refused():
    with pytest.raises(neardup.UnsupportedError, match="^match: "):
        _native.rows_new(neardup.Recipe("broder-1997")._native)
