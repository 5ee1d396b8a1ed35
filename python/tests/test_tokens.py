"""Documents that are given as tokens: docs/format/own-tokens.md in Python, and every function that reads documents."""

from __future__ import annotations

import array
import importlib.util
import itertools
import random
import re
import unicodedata
from pathlib import Path

import pytest

import neardup

ORACLE = Path(__file__).parents[2] / "tests" / "oracle" / "text.py"


@pytest.fixture(scope="module")
def text_oracle():
    """The rules of docs/format/text.md in Python."""
    if not ORACLE.exists():
        pytest.skip("the oracle of texts is not there")
    spec = importlib.util.spec_from_file_location("text_oracle", ORACLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _written(oracle, token) -> str:
    """The bytes that step 3 writes for a token."""
    data = str(token).encode() if not isinstance(token, bytes) else token
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = None
    if text:
        has_vai = any(0xA500 <= ord(c) <= 0xA63F for c in text)
        if not has_vai and list(oracle.tokens_of(oracle.normalise(text))) == [text] == [oracle.normalise(text)]:
            return text
    return "".join(chr(0xA500 + byte) for byte in data) or "\ua600"


def _tokens(chance: random.Random) -> list:
    kinds = [
        lambda: chance.choice(["the", "ship", "a", "x1", "été", "日本", "日本語", "々", "и", "ﬁ", "ß", "ꕔ", "ꘀ", "꘠b"]),
        lambda: chance.choice(["The", "", " ", "##ed", "Ġthe", "it's", "\n", "e\u0301", "\u0301", "\u00ad", "_"]),
        lambda: chance.randrange(-(10**12), 10**12),
        lambda: chance.randrange(10**20, 10**40),
        lambda: bytes(chance.choices(range(256), k=chance.randrange(4))),
        lambda: "".join(chance.choices(KNOWN, k=chance.randrange(1, 4))),
    ]
    return [chance.choice(kinds)() for _ in range(chance.randrange(8))]


# Code points that Python's version of Unicode knows, and so did that of neardup.
KNOWN = [chr(c) for c in range(0x11000) if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co")]


def test_the_text_is_that_of_the_page(text_oracle):
    chance = random.Random(1)
    for _ in range(3000):
        tokens = _tokens(chance)
        text = neardup.text_of_tokens(tokens)
        written = [_written(text_oracle, token) for token in tokens]
        assert text == " ".join(written)
        assert list(text_oracle.tokens_of(text_oracle.normalise(text))) == written
        back = [token.encode() if isinstance(token, str) else token for token in neardup.tokens_of_text(text)]
        assert back == [token if isinstance(token, bytes) else str(token).encode() for token in tokens]


def test_tables_of_the_page():
    assert neardup.text_of_tokens(["the", 464, "464", "été", "日本"]) == "the 464 464 été 日本"
    assert neardup.text_of_tokens(["The", -1, ""]) == "\ua554\ua568\ua565 \ua52d\ua531 \ua600"
    assert [hex(ord(c)) for c in neardup.text_of_tokens(["日本語"])] == [
        hex(0xA500 + b) for b in bytes.fromhex("e697a5e69cace8aa9e")
    ]
    assert neardup.text_of_tokens([]) == "" and neardup.tokens_of_text("") == []
    assert neardup.text_of_tokens(iter("ab")) == "a b"


def test_a_document_of_tokens_is_that_of_the_words():
    for tokens, words in ((["the"], "the"), ([464, "a"], "464 a"), (["The"], "\ua554\ua568\ua565"), ([], "")):
        assert neardup.compare(tokens, words).resemblance == 1
        assert neardup.explain(tokens, words).identical == "bytes"


def _documents(chance: random.Random, token) -> list[list]:
    documents: list[list] = []
    for _ in range(200):
        if documents and chance.random() < 0.4:
            copy = list(chance.choice(documents))
            for _ in range(chance.randrange(3)):
                copy[chance.randrange(len(copy))] = token()
            documents.append(copy)
        else:
            documents.append([token() for _ in range(chance.randrange(3, 40))])
    return documents


def _makers(chance: random.Random):
    return [
        lambda: chance.randrange(50000),
        lambda: chance.choice(["Lives", "in", "Hull", "York", "it's", "Ġthe", "日本語"]) + str(chance.randrange(300)),
    ]


def _resemblance(a: list, b: list) -> float:
    def shingles(tokens):
        return {tuple(map(str, tokens[i : i + 3])) for i in range(max(1, len(tokens) - 2))}

    x, y = shingles(a), shingles(b)
    return len(x & y) / len(x | y)


@pytest.mark.parametrize("kind", [0, 1])
def test_pairs_are_those_of_a_comparison_of_the_lists(kind):
    chance = random.Random(7)
    documents = _documents(chance, _makers(chance)[kind])
    found = {
        (max(row["row_a"], row["row_b"]), min(row["row_a"], row["row_b"])): row["jaccard"]
        for row in neardup.pairs(documents, threshold=0.5)
    }
    exact = {}
    for i, j in itertools.combinations(range(len(documents)), 2):
        near = _resemblance(documents[i], documents[j])
        if near >= 0.5 and min(len(documents[i]), len(documents[j])) >= 3:
            exact[(j, i)] = near
    assert set(found) <= set(exact)
    assert all(found[pair] == pytest.approx(exact[pair], abs=1e-12) for pair in found)
    missed = [near for pair, near in exact.items() if pair not in found]
    assert not [near for near in missed if near >= 0.8] and len(missed) <= len(exact) / 20


def test_text_split_is_the_text(records):
    texts = [" ".join(re.findall("[a-z0-9]+", row["text"].lower())) for row in records]
    a, b = neardup.dedup(texts), neardup.dedup([text.split() for text in texts])
    assert list(a.kept) == list(b.kept) and len(a.removed) > 100
    assert a.removed["kept_row"][:] == b.removed["kept_row"][:] and a.removed["jaccard"][:] == b.removed["jaccard"][:]


def test_every_function_takes_tokens_as_their_text(tmp_path):
    chance = random.Random(3)
    documents = _documents(chance, _makers(chance)[1])
    texts = [neardup.text_of_tokens(tokens) for tokens in documents]
    rows = [{"id": i, "text": tokens} for i, tokens in enumerate(documents)]
    text_rows = [{"id": i, "text": text} for i, text in enumerate(texts)]
    options = {"threshold": 0.6}
    removed = neardup.dedup(texts, **options).removed
    for result in (
        neardup.dedup(documents, **options),
        neardup.dedup(list(map(tuple, documents)), **options),
        neardup.dedup(rows, **options),
        neardup.dedup(iter(documents), memory="64M", **options),
        neardup.Deduper(**options).push(documents),
    ):
        assert list(result.removed) == list(removed)
    assert neardup.dedup(documents, **options).survivors == [
        documents[i] for i, text in enumerate(texts) if neardup.dedup(texts, **options).kept[i]
    ]
    assert list(neardup.pairs(rows, id="id", **options)) == list(neardup.pairs(text_rows, id="id", **options))
    assert list(neardup.filter(documents[:50], documents[50:60], **options).table) == list(
        neardup.filter(texts[:50], texts[50:60], **options).table
    )
    assert list(neardup.collapse(documents, **options).rows) == list(neardup.collapse(texts, **options).rows)
    recipe = neardup.Recipe(**options)
    neardup.write_sketches(rows, tmp_path / "a.sketch", id="id", recipe=recipe)
    neardup.write_sketches(text_rows, tmp_path / "b.sketch", id="id", recipe=recipe)
    assert (tmp_path / "a.sketch").read_bytes() == (tmp_path / "b.sketch").read_bytes()
    again = neardup.dedup(rows, id="id", against=tmp_path / "a.sketch", **options)
    assert len(again.removed) == len(rows)


def test_an_index_answers_with_tokens():
    index = neardup.Index(shingle=1, threshold=0.7)
    index.add("a", ["Sam", "lives", "in", "Hull", "with", "two", "old", "cats"])
    index.add_batch(["b"], [["another", "one", "about", "ships", "and", "the", "sea"]])
    index.add("c", {"text": [7, 8, 9, 10, 11, 12, 13, 14]})
    match = index.query(("Sam", "lives", "in", "York", "with", "two", "old", "cats"), differs=True)[0]
    assert (match.id, match.differs["this"], match.differs["other"]) == ("a", ["York"], ["Hull"])
    match = index.query_batch([[7, 8, 9, 10, 99, 12, 13, 14]], differs=True)[0][0]
    assert match.id == "c" and match.differs == {"in": "numbers", "this": ["99"], "other": ["11"]}
    assert [match.id for match in index.query(array.array("i", [7, 8, 9, 10, 11, 12, 13, 14]))] == ["c"]
    vai = "".join(map(chr, range(0xA548, 0xA54D)))
    index.add("vai", f"one two three four five six seven eight {vai}")
    found = index.query("one two three four five six seven eight nine", differs=True)
    assert [match.differs["other"] for match in found] == [[vai]]  # a text in this script stays as it is


def test_arrow_lists():
    pa = pytest.importorskip("pyarrow")
    chance = random.Random(5)
    numbers, words = (_documents(chance, maker) for maker in _makers(chance))
    of_numbers = (pa.int32(), pa.uint16(), pa.int64(), pa.uint64())
    of_words = (pa.string(), pa.large_string(), pa.string_view(), pa.binary())
    for documents, kinds in ((numbers, of_numbers), (words, of_words)):
        kept = list(neardup.dedup(documents, threshold=0.6).kept)
        for item in kinds:
            for kind in (pa.list_(item), pa.large_list(item)):
                values = [[w.encode() for w in d] for d in documents] if item == pa.binary() else documents
                column = pa.array(values, kind)
                table = pa.table({"input_ids": column})
                assert list(neardup.dedup(table, "input_ids", threshold=0.6).kept) == kept, kind
                sliced = pa.table({"input_ids": pa.chunked_array([column[:7], column[7:20], column[20:]])})
                assert list(neardup.dedup(sliced, "input_ids", threshold=0.6).kept) == kept
                assert list(neardup.dedup(column[20:], threshold=0.6).kept) == list(
                    neardup.dedup(documents[20:], threshold=0.6).kept
                )
    coded = pa.array(words[0] + words[0]).dictionary_encode()
    lists = pa.ListArray.from_arrays(pa.array([0, len(words[0]), 2 * len(words[0])], pa.int32()), coded)
    assert list(neardup.dedup(pa.table({"text": lists})).kept) == [True, False]
    fixed = pa.array([[1, 2, 3], [4, 5, 6], None, [1, 2, 3]], pa.list_(pa.int32(), 3))
    assert list(neardup.dedup(fixed).kept) == [True, True, True, False]
    assert list(neardup.dedup(fixed[1:]).kept) == [True, True, True]
    empty = pa.array([[], None, []], pa.list_(pa.null()))
    assert list(neardup.dedup(pa.table({"text": empty})).kept) == list(neardup.dedup(["", None, ""]).kept)


def test_frames_and_files_of_lists(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    chance = random.Random(6)
    documents = _documents(chance, _makers(chance)[0])
    expected = neardup.dedup(documents, threshold=0.6)
    for package in ("polars", "pandas"):
        frame = pytest.importorskip(package).DataFrame({"text": documents})
        assert list(neardup.dedup(frame, threshold=0.6).kept) == list(expected.kept)
    numpy = pytest.importorskip("numpy")
    arrays = [numpy.array(tokens, dtype=numpy.uint16) for tokens in documents]
    assert list(neardup.dedup(arrays, threshold=0.6).kept) == list(expected.kept)
    pq.write_table(pa.table({"text": documents}), tmp_path / "in.parquet", row_group_size=50)
    assert list(neardup.dedup(tmp_path / "in.parquet", threshold=0.6).kept) == list(expected.kept)
    neardup.dedup_files(tmp_path / "in.parquet", tmp_path / "out.parquet", threshold=0.6)
    assert pq.read_table(tmp_path / "out.parquet")["text"].to_pylist() == expected.survivors


def test_errors_name_row_and_token():
    for data, error, words in (
        ([["a"], ["b", None]], TypeError, "row 1: token 1 is a NoneType, not a str or an int"),
        ([["a"], [1.5]], TypeError, "row 1: token 0 is a float"),
        ([[True]], TypeError, "token 0 is a bool"),
        ([[["a"]]], TypeError, "token 0 is a list"),
        ([{"text": ["a", {}]}], TypeError, "row 0: token 1 is a dict"),
        ([["\ud800"]], UnicodeEncodeError, "surrogates"),
        ([{"text": "a", "kind": ["a"]}], TypeError, "'kind' is a list"),
    ):
        with pytest.raises(error, match=words):
            neardup.dedup(data, within="kind" if "kind" in data[0] else None)
    with pytest.raises(TypeError, match="tokens are a list|not iterable"):
        neardup.text_of_tokens(3)
    pa = pytest.importorskip("pyarrow")
    for kind, values, words in (
        (pa.list_(pa.string()), [["a"], ["b", None]], "row 1: a token is null"),
        (pa.list_(pa.float64()), [[1.5]], "'text' holds list, whose items are neither texts nor integers"),
        (pa.list_(pa.list_(pa.string())), [[["a"]]], "neither texts nor integers"),
        (pa.list_(pa.null()), [[None]], "row 0: a token is null"),
    ):
        with pytest.raises(neardup.InvalidError, match=words):
            neardup.dedup(pa.table({"text": pa.array(values, kind)}))
    with pytest.raises(neardup.InvalidError, match="'kind' holds list, which cannot be read"):
        neardup.dedup(pa.table({"text": ["a"], "kind": [["a"]]}), within="kind")


def test_damaged_arrow_lists_are_refused():
    pa = pytest.importorskip("pyarrow")
    items = pa.array([1, 2, 3], pa.int32())
    for offsets, words in (
        ([0, 2, 4], "a list goes beyond the items"),
        ([-1, 2, 3], "a negative offset"),
        ([0, 3, 1], "go backwards"),
    ):
        memory = array.array("i", [0, 2, 3])
        lists = pa.Array.from_buffers(pa.list_(pa.int32()), 2, [None, pa.py_buffer(memory)], children=[items])
        assert neardup.dedup(lists).survivors.to_pylist() == [[1, 2], [3]]
        memory[:] = array.array("i", offsets)  # behind the back of pyarrow, which has checked them
        with pytest.raises(neardup.InvalidError, match=words):
            neardup.dedup(lists)


def test_the_session_of_the_page(run_page):
    run_page("howto/own-tokens.md")


class _Shrinking:
    """An int that empties the list in which it stands, when it is asked for."""

    def __init__(self, tokens: list) -> None:
        self.tokens = tokens

    def __index__(self) -> int:
        self.tokens.clear()
        return 5


def test_a_list_that_changes_while_it_is_read():
    tokens: list = ["a"]
    tokens += [_Shrinking(tokens), "b"]
    assert neardup.text_of_tokens(tokens) == "a 5"
