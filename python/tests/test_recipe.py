"""Recipes, sketches, and indexes of fingerprints."""

from __future__ import annotations

import copy
import json
import pickle
import random
import threading
from array import array
from fractions import Fraction

import pytest

import neardup


def test_recipes_are_set_and_read_by_key(tmp_path):
    recipe = neardup.Recipe(threshold=0.7, shingle=5)
    assert recipe["threshold"] == "7/10" and recipe["shingle"] == "5"
    assert recipe.set("threshold", Fraction(3, 5))["threshold"] == "3/5"
    copy = recipe.copy().set("threshold", 1)
    assert recipe["threshold"] == "3/5" and copy != recipe
    assert neardup.Recipe.parse(recipe.text) == recipe
    (tmp_path / "mine.ini").write_text(recipe.text)
    assert neardup.Recipe(tmp_path / "mine.ini") == recipe
    assert len(recipe.fingerprint) == 16
    with pytest.raises(neardup.InvalidError, match="threshold"):
        recipe.set("threshold", 3)
    with pytest.raises(neardup.InvalidError, match="mine.ini:1: "):
        (tmp_path / "mine.ini").write_text("what\n")
        neardup.Recipe(tmp_path / "mine.ini")
    with pytest.raises(OSError, match="absent.ini"):
        neardup.Recipe(tmp_path / "absent.ini")


def test_every_shipped_recipe_is_the_commands(run):
    for name, about in neardup.shipped_recipes().items():
        assert about
        assert neardup.Recipe(name).text


def test_sketches_are_the_commands(command, tmp_path, records):
    import subprocess

    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    lines = subprocess.run([command, "sketch", "-q", str(path)], check=True, capture_output=True, text=True).stdout
    rows = [json.loads(line) for line in lines.splitlines()]
    table = neardup.Sketcher()(records)
    assert [f"{simhash:016x}" for simhash in table["simhash"]] == [row["simhash"] for row in rows]
    assert table["minima"][:] == [row["minima"] for row in rows]
    assert neardup.Sketcher()(["one two three", None])["simhash"][1] is None


def within(a: int, b: int) -> int:
    return (a ^ b).bit_count()


def test_an_index_finds_what_a_slow_search_finds(tmp_path):
    chance = random.Random(3)
    stored = [chance.getrandbits(64) for _ in range(300)]
    for _ in range(1000):
        value = chance.choice(stored)
        for _ in range(chance.randrange(5)):
            value ^= 1 << chance.randrange(64)
        stored.append(value)
    queries = chance.choices(stored, k=50)
    expected = [
        {"query": q, "id": i, "distance": within(query, value)}
        for q, query in enumerate(queries)
        for i, value in enumerate(stored)
        if within(query, value) <= 3
    ]
    expected.sort(key=lambda row: (row["query"], row["distance"], row["id"]))
    index = neardup.HammingIndex(count=len(stored))
    index.add(stored[:700])
    index.add(array("Q", stored[700:]))
    assert len(index) == len(stored)
    assert list(index.query(queries)) == expected
    assert index.find(queries[0]) == [(row["id"], row["distance"]) for row in expected if row["query"] == 0]
    index.save(tmp_path / "index")
    opened = neardup.HammingIndex.open(tmp_path / "index")
    assert list(opened.query(queries)) == expected
    assert opened.find(queries[0]) == index.find(queries[0])
    opened.add([queries[0]], ids=[77777])
    assert (77777, 0) in opened.find(queries[0])
    index.remove(queries[0], index.find(queries[0])[0][0])
    assert len(index) == len(stored) - 1
    index.save(tmp_path / "left")
    assert list(neardup.HammingIndex.open(tmp_path / "left").query(queries)) == list(index.query(queries))
    with pytest.raises(neardup.InvalidError):
        index.remove(queries[0], 999_999)
    with pytest.raises(neardup.InvalidError):
        index.query([1], distance=9)
    with pytest.raises(neardup.UnsupportedError):
        opened.remove(1, 1)
    pairs = [(a, b) for a in range(len(stored)) for b in range(a + 1, len(stored)) if within(stored[a], stored[b]) <= 3]
    found = neardup.hamming_pairs(stored)
    assert list(zip(found["a"], found["b"])) == pairs


def test_what_is_not_an_index_is_refused(tmp_path):
    (tmp_path / "index").write_bytes(b"not an index" * 1000)
    with pytest.raises(neardup.Error, match="index"):
        neardup.HammingIndex.open(tmp_path / "index")
    with pytest.raises(OSError):
        neardup.HammingIndex.open(tmp_path / "absent")
    index = neardup.HammingIndex()
    for bad in (b"123", array("B", b"1234567")):
        with pytest.raises(ValueError):
            index.query(bad)
    with pytest.raises(ValueError, match="1 fingerprints and 2 ids"):
        index.add([1], ids=[1, 2])


def test_sketches_are_fingerprints():
    index = neardup.HammingIndex()
    index.add(neardup.Sketcher()(["one two three", "four five six"])["simhash"])
    assert len(index) == 2
    with pytest.raises(neardup.InvalidError, match="no fingerprint"):
        index.add(neardup.Sketcher()(["one two three", None])["simhash"])


def test_wide_fingerprints():
    index = neardup.HammingIndex(bits=128, distance=5)
    index.add(array("Q", [1, 2, 3, 4 + (255 << 40)]))
    assert len(index) == 2
    assert index.query(array("Q", [3, 4 + (255 << 40)]))["id"][:] == [1]


def test_threads_share_a_sketcher(records):
    sketcher = neardup.Sketcher()
    texts = [record["text"] for record in records] * 4
    expected = sketcher(texts)["simhash"][:]
    found = [None] * 4

    def work(i):
        found[i] = sketcher(texts)["simhash"][:]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(found))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * len(found)


def test_recipes_and_sketchers_are_copied_and_pickled(records):
    for name in (None, *neardup.shipped_recipes()):
        recipe = neardup.Recipe(name)
        assert copy.deepcopy(recipe) == pickle.loads(pickle.dumps(recipe)) == recipe
    sketcher = neardup.Sketcher(neardup.Recipe(shingle=2), text="text")
    again = pickle.loads(pickle.dumps(sketcher))
    assert again(records)["minima"][:] == sketcher(records)["minima"][:]
