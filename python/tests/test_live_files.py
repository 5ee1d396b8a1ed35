"""An index of texts in a file: what was opened answers as what was saved."""

from __future__ import annotations

import os
import random
import threading

import pytest
from test_live import RECIPES, make, texts_of

import neardup
from neardup import _native


def opened(index, path, **arguments):
    index.save(path)
    return neardup.Index.open(path, **arguments)


@pytest.mark.parametrize("recipe", RECIPES, ids=str)
def test_what_was_opened_goes_on_as_the_original(records, recipe, tmp_path):
    chance = random.Random(3)
    texts = texts_of(records)
    items = list(texts.items())
    index = make(recipe, threads=2)
    for id, text in items[:300]:
        index.add(id, text)
    for id in chance.sample(list(texts)[:300], 80):
        index.remove(id)
    path = tmp_path / "a.index"
    again = opened(index, path, threads=2)
    os.unlink(path)
    assert again.recipe == index.recipe
    for part in (items[300:450], items[450:]):
        questions = list(texts.values())
        assert list(again) == list(index) and len(again) == len(index)
        assert again.query_batch(questions) == index.query_batch(questions)
        for both in (index, again):
            both.add_batch([id for id, _ in part], [text for _, text in part])
            for id in list(both)[::9]:
                both.remove(id)
        again = opened(again, path)
    assert again.query_batch(questions) == index.query_batch(questions)
    index.compact()
    again.compact()
    assert again.query_batch(questions) == index.query_batch(questions)
    assert opened(again, path).query_batch(questions) == index.query_batch(questions)


def test_ids_come_back(tmp_path):
    ids = ["a", "", "\ud800\n\u2028", 7, -(10**30), 0.5, None, False, b"\xff\n", (1, ("x", b"y"), None), ()]
    index = neardup.Index()
    for i, id in enumerate(ids):
        index.add(id, f"one two three {i}")
    again = opened(index, tmp_path / "x")
    assert list(again) == ids and [type(id) for id in again] == [type(id) for id in ids]
    for i, id in enumerate(ids):
        assert [match.id for match in again.query(f"one two three {i}")] == [id]
    for id in (float("nan"), frozenset(), (1, object())):
        other = neardup.Index()
        other.add(id, "x y z")
        with pytest.raises(TypeError, match="cannot be saved"):
            other.save(tmp_path / "x")
    assert list(neardup.Index.open(tmp_path / "x")) == ids


def test_an_empty_index_is_saved(tmp_path):
    again = opened(neardup.Index(), tmp_path / "x")
    assert len(again) == 0 and again.query("one two three") == []
    again.add(1, "one two three")
    assert len(opened(again, tmp_path / "x")) == 1


def test_repaired_bytes_stay_told_apart(tmp_path):
    index = neardup.Index()
    index.add(1, b"one two three \xff four")
    again = opened(index, tmp_path / "x")
    assert [match.identical for match in again.query(b"one two three \xff four")] == [True]
    assert [match.identical for match in again.query(b"one two three \xfe four")] == [False]


def test_another_recipe_is_refused_by_its_key(tmp_path):
    path = tmp_path / "x"
    index = neardup.Index(neardup.Recipe(threshold=0.7))
    index.save(path)
    assert neardup.Index.open(path, neardup.Recipe(threshold="7/10")).recipe["threshold"] == "7/10"
    for recipe, key in (
        (neardup.Recipe(), "threshold = 7/10, not 4/5"),
        (neardup.Recipe(threshold=0.7, shingle=4), "shingle = 3, not 4"),
    ):
        with pytest.raises(neardup.InvalidError, match=f"x: the index has another recipe: {key}"):
            neardup.Index.open(path, recipe)
    with pytest.raises(neardup.InvalidError, match="another recipe"):
        neardup.Index.open(path, "manku-2007")


def test_df_tables_are_given_again(tmp_path):
    texts = ["the ship left at noon", "the ship sank", "the sea is deep"]
    table = neardup.DocumentFrequencies.count(texts, recipe="seshasai-2009")
    recipe = neardup.Recipe("seshasai-2009").use_df(table)
    index = neardup.Index(recipe)
    index.add_batch([0, 1, 2], texts)
    path = tmp_path / "x"
    index.save(path)
    with pytest.raises(neardup.InvalidError, match="df table"):
        neardup.Index.open(path)
    again = neardup.Index.open(path, recipe)
    assert again.query_batch(texts) == index.query_batch(texts)
    other = neardup.DocumentFrequencies.count(texts[:2], recipe="seshasai-2009")
    with pytest.raises(neardup.InvalidError, match="df_version"):
        neardup.Index.open(path, neardup.Recipe("seshasai-2009").use_df(other))
    table.save(tmp_path / "df")
    named = neardup.Recipe("seshasai-2009")
    for name, _, _, _ in _native.recipe_tables(named._native):
        named.set(f"{name}.df", str(tmp_path / "df"))
    assert neardup.Index.open(path, named).query_batch(texts) == index.query_batch(texts)


@pytest.mark.parametrize("recipe", [{}, "winnowing-2003"], ids=str)
def test_every_damaged_byte_is_found(records, recipe, tmp_path):
    path = tmp_path / "x"
    index = make(recipe)
    index.add_batch(range(20), [record["text"][:200] for record in records[:20]])
    index.save(path)
    whole = path.read_bytes()
    chance = random.Random(1)
    # Bytes of padding belong to no checksum.
    places = [at for at in chance.sample(range(len(whole)), 400) if whole[at]]
    assert len(places) > 20
    for at in [0, 8, 12, 100, *places]:
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        with pytest.raises(neardup.Error, match=str(path)):
            neardup.Index.open(path)
    for length in (0, 1, 4095, 4096, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(neardup.Error, match="not an index of texts"):
            neardup.Index.open(path)
    path.write_bytes(whole)
    assert len(neardup.Index.open(path)) == 20


def test_what_is_no_index_is_refused(tmp_path):
    path = tmp_path / "x"
    with pytest.raises(OSError, match="x"):
        neardup.Index.open(path)
    with pytest.raises(neardup.Error, match="regular file"):
        neardup.Index.open(tmp_path)
    path.write_text("a text " * 1000)
    with pytest.raises(neardup.Error, match="does not begin as one"):
        neardup.Index.open(path)
    with pytest.raises(OSError, match="no such folder"):
        neardup.Index().save("/no such folder/x")


def test_an_index_is_saved_while_it_is_asked(records, tmp_path):
    texts = list(texts_of(records).values())
    index = neardup.Index(threads=2)
    index.add_batch(range(len(texts)), texts)
    expected = index.query_batch(texts)
    wrong = []
    done = threading.Event()

    def ask():
        while not done.is_set():
            if index.query_batch(texts[:50]) != expected[:50]:
                wrong.append(1)

    asking = threading.Thread(target=ask)
    asking.start()
    for _ in range(5):
        index.save(tmp_path / "x")
    done.set()
    asking.join()
    assert not wrong and neardup.Index.open(tmp_path / "x").query_batch(texts) == expected


def test_ids_that_are_not_those_of_the_texts_are_refused(tmp_path):
    index = neardup.Index()
    index.add_batch([1, 2], ["one two three", "four five six"])
    for ids in (b"1\n", b"1\n1\n", b"1\n[2]\n", b"1\n{\n", b'1\n{"set":[]}\n'):
        _native.live_save(index._native, tmp_path / "x", ids)
        with pytest.raises(neardup.Error, match="its ids are not those"):
            neardup.Index.open(tmp_path / "x")
