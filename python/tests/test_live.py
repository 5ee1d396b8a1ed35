"""The live index of texts: found is what would be found among the texts that are left."""

from __future__ import annotations

import itertools
import json
import pickle
import random
import signal
import threading

import pytest

import neardup
from neardup import _live

RECIPES = [
    {},
    {"threshold": 0.5},
    {"candidates": "all", "threshold": 0.4},
    {"candidates": "simhash", "verify": "none"},
    {"verify": "containment", "threshold": 0.7},
    {"short": "tokens"},
    "manku-2007",
    "winnowing-2003",
    "spotsigs-2008",
    "text-profile",
    "henzinger-2006-c",
    "broder-1997",
    "short-texts",
]


def make(recipe, **arguments):
    return neardup.Index(neardup.Recipe(**recipe) if isinstance(recipe, dict) else recipe, **arguments)


def texts_of(records):
    return {record["id"]: record["text"] for record in records[:600]}


@pytest.mark.parametrize("recipe", RECIPES, ids=str)
def test_what_was_removed_was_never_there(records, recipe):
    chance = random.Random(7)
    texts = texts_of(records)
    index = make(recipe, threads=2)
    left = {}
    for id, text in texts.items():
        index.add(id, text)
        left[id] = text
        if chance.random() < 0.4:
            gone = chance.choice(list(left))
            index.remove(gone)
            del left[gone]
    assert list(index) == list(left) and len(index) == len(left)
    fresh = make(recipe)
    fresh.add_batch(left, list(left.values()))
    questions = list(texts.values())
    expected = fresh.query_batch(questions)
    assert sum(map(len, expected)) > len(left) / 2
    assert index.query_batch(questions) == expected
    assert [index.query(question) for question in questions[:50]] == expected[:50]
    index.compact()
    assert index.query_batch(questions) == expected


def shingles(text):
    words = text.lower().split()
    return {tuple(words[i : i + 3]) for i in range(len(words) - 2)}


def test_what_is_found_is_what_a_slow_search_finds(records):
    texts = texts_of(records)
    index = make({"candidates": "all", "threshold": "1/2", "max_checks": 5000})
    index.add_batch(texts, list(texts.values()))
    stored = {id: shingles(text) for id, text in texts.items()}
    for text in list(texts.values())[::7]:
        own = shingles(text)
        if not own:
            continue
        expected = {
            id: len(own & other) / len(own | other)
            for id, other in stored.items()
            if 2 * len(own & other) >= len(own | other)
        }
        found = index.query(text)
        assert {match.id: match.jaccard for match in found} == expected
        assert [match.jaccard for match in found] == sorted(expected.values(), reverse=True)
        assert all(match.identical == (match.jaccard == 1 and shingles(texts[match.id]) == own) for match in found[:1])


def test_removed_texts_are_forgotten(monkeypatch):
    monkeypatch.setattr(_live, "_REMOVED_MIN", 8)
    index = neardup.Index()
    for i in range(100):
        index.add(i, f"one two three {i}")
    before = index.nbytes
    for i in range(95):
        index.remove(i)
        assert not index.query(f"one two three {i}") and index.query("one two three 99")[0].id == 99
    assert index.nbytes < before
    index.add(0, "one two three 0")
    assert [match.id for match in index.query("one two three 0")] == [0]


def test_ids_that_are_wrong_are_refused():
    index = neardup.Index()
    index.add("a", "one two three")
    with pytest.raises(neardup.InvalidError, match="the id 'a' already"):
        index.add("a", "four five six")
    with pytest.raises(KeyError, match="b"):
        index.remove("b")
    for ids, texts, message in (
        (["b", "b"], ["x y z", "u v w"], "the id 'b' comes twice"),
        (["b", "a"], ["x y z", "u v w"], "the id 'a' already"),
        (["b"], ["x y z", "u v w"], "2 texts and 1 ids"),
        (["b", "c"], ["x y z", None], "row 1: the text is null"),
    ):
        with pytest.raises(neardup.InvalidError, match=message):
            index.add_batch(ids, texts)
    with pytest.raises(TypeError, match="unhashable"):
        index.add(["b"], "x y z")
    for text in (None, 3, {"x"}):
        with pytest.raises(TypeError, match="expected a str"):
            index.add("b", text)
        with pytest.raises(TypeError, match="expected a str"):
            index.query(text)
    with pytest.raises(UnicodeEncodeError):
        index.add("b", "\ud800")
    assert list(index) == ["a"] and index.query("x y z") == [] and "a" in index and "b" not in index
    assert index.query_batch([None, "one two three"])[0] == []
    assert repr(index) == "<neardup.Index of 1 texts>"


def test_bytes_are_repaired_and_not_confused():
    index = neardup.Index()
    index.add(1, b"one two three \xff four")
    assert [match.identical for match in index.query(b"one two three \xff four")] == [True]
    assert [match.identical for match in index.query(b"one two three \xfe four")] == [False]


def test_frames_are_read(records):
    pa = pytest.importorskip("pyarrow")
    numpy = pytest.importorskip("numpy")
    table = pa.Table.from_pylist(records[:50])
    index = neardup.Index()
    index.add_batch(table["id"], table)
    assert list(index) == table["id"].to_pylist()
    assert index.query_batch(table) == index.query_batch([record["text"] for record in records[:50]])
    index.add_batch(numpy.array([7]), ["nobody has said this"])
    assert 7 in index and index.query("Nobody has said this")[0].id == 7


def test_threads_share_an_index(records):
    texts = texts_of(records)
    index = neardup.Index(threads=2)
    errors = []
    barrier = threading.Barrier(4)

    def write(part):
        barrier.wait()
        for id, text in list(texts.items())[part::2]:
            index.add(id, text)
            if int(id[1:]) % 3 == 0:
                index.remove(id)
        index.compact()

    def ask():
        barrier.wait()
        for text in texts.values():
            for match in index.query(text):
                if match.identical and match.jaccard != 1:
                    errors.append(match)

    threads = [threading.Thread(target=write, args=(part,)) for part in (0, 1)]
    threads += [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    left = {id: text for id, text in texts.items() if int(id[1:]) % 3}
    fresh = neardup.Index()
    fresh.add_batch(left, list(left.values()))
    ids = [sorted(match.id for match in found) for found in index.query_batch(list(texts.values()))]
    assert ids == [sorted(match.id for match in found) for found in fresh.query_batch(list(texts.values()))]


def test_a_signal_handler_cannot_change_an_index_that_is_being_changed(records):
    index = neardup.Index()
    index.add_batch(range(4000), [record["text"] for record in records[:1000]] * 4)
    said = []
    done = threading.Event()
    keys = itertools.count()  # a handler may be interrupted by a signal itself

    def handler(number, frame):
        try:
            index.add(f"x{next(keys)}", "one two three")
            said.append("")
        except RuntimeError as error:
            said.append(str(error))
            done.set()

    def send():
        while not done.is_set():
            signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
            done.wait(0.001)

    before = signal.signal(signal.SIGUSR1, handler)
    sender = threading.Thread(target=send)
    sender.start()
    try:
        for _ in range(200):
            index.compact()
            if done.is_set():
                break
    finally:
        done.set()
        sender.join()
        signal.signal(signal.SIGUSR1, before)
    assert "another call is changing the index" in said
    assert len(index) == 4000 + said.count("")


# ---- Fields ----

FIELDS = (
    "[signature place]\nkind = features\nunit = none\nfields = site score\n"
    "[decide]\ncandidates = match\nmatch = shared(place) >= 2\nverify = none\n"
)


def test_fields_are_part_of_a_text(tmp_path):
    index = neardup.Index(neardup.Recipe.parse(FIELDS), text="body", id="id")
    rows = [{"id": i, "body": f"text {i}", "site": f"s{i % 2}", "score": i % 3} for i in range(12)]
    index.add_batch(None, rows)
    index.add("none", {"body": "text", "site": "s1", "score": None})
    index.add("bytes", {"body": b"\xff", "site": "\N{SNOWMAN}", "score": "0" * 500})
    index.save(tmp_path / "x")
    for one in (index, neardup.Index.open(tmp_path / "x", text="body"), pickle.loads(pickle.dumps(index))):
        ask = {"body": "other", "site": "s1", "score": "1"}
        assert [match.id for match in one.query(ask)] == [1, 7]
        assert one.query({**ask, "score": None}) == [] and one.query({**ask, "body": None}) == []
        assert [match.id for match in one.query({**ask, "site": "\N{SNOWMAN}", "score": "0" * 500})] == ["bytes"]
    with pytest.raises(TypeError, match="the recipe reads fields: give a row with the text and 'site', 'score'"):
        index.add(99, "a text alone")
    with pytest.raises(neardup.InvalidError, match="the text is null"):
        index.add(99, {"body": None, "site": "s1"})
    with pytest.raises(neardup.InvalidError, match="there is no column 'site'"):
        index.query_batch(["a text alone"])
    assert len(index) == 14


def test_a_row_is_a_text_with_other_values():
    index = neardup.Index()
    index.add("a", {"text": "one two three four", "other": 7})
    assert [match.id for match in index.query({"text": "one two three four"})] == ["a"]


def test_what_differs_is_what_the_manifest_says(records, run, tmp_path):
    rows = [{"id": record["id"], "text": record["text"]} for record in records[:400]]
    rows += [{"id": f"again-{row['id']}", "text": row["text"].replace(" the ", " 7 ", 2)} for row in rows[:100]]
    file, manifest = tmp_path / "in.jsonl", tmp_path / "manifest"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("dedup", "-q", file, "-o", tmp_path / "out", "--manifest", manifest, "--differs")
    expected = {}
    for line in manifest.read_text().splitlines():
        row = json.loads(line)
        if "removed" in row:
            words = {{"removed": "this", "kept": "other"}.get(k, k): v for k, v in row["differs"].items()}
            expected[row["removed"], row["kept"]] = words
    index = neardup.Index()
    index.add_batch([row["id"] for row in rows], [row["text"] for row in rows])
    matches = index.query_batch([row["text"] for row in rows], differs=True)
    found = {(row["id"], match.id): match.differs for row, some in zip(rows, matches, strict=True) for match in some}
    assert len(expected) > 50 and len({words["in"] for words in expected.values()}) > 1
    assert {pair: found[pair] for pair in expected} == expected
    assert index.query(rows[0]["text"], differs=True)[0].differs["in"] == "nothing"
    assert all(match.differs is None for match in index.query(rows[0]["text"]))
