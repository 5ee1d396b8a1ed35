"""Parts of texts that repeat: the command's answers on frames in memory."""

from __future__ import annotations

import json
import random
import subprocess

import pytest

import neardup

WORDS = [f"w{i}" for i in range(60)] + ["日本", "é", "x"]


def make_texts(seed):
    rnd = random.Random(seed)
    lines = [" ".join(rnd.choices(WORDS, k=rnd.randrange(1, 12))) for _ in range(30)]
    texts = []
    for _ in range(150):
        text = ""
        for line in rnd.choices(lines, k=rnd.randrange(7)):
            words = line.split()
            if rnd.random() < 0.3:
                words[rnd.randrange(len(words))] = rnd.choice(WORDS)
            text += " ".join(words) + rnd.choice(["\n", ".\n\n", ". A", "\r\n"])
        texts.append(text + (rnd.choice(texts) if texts and rnd.random() < 0.2 else ""))
    return texts


CASES = [
    ({}, []),
    ({"cut": "paragraphs", "tokens": 4}, ["--cut", "paragraphs", "--tokens", "4"]),
    ({"cut": "sentences"}, ["--cut", "sentences"]),
    ({"cut": "passages", "tokens": 5}, ["--cut", "passages", "--tokens", "5"]),
    ({"occurrences": 3}, ["--occurrences", "3"]),
    ({"near": 0.3}, ["--near", "0.3"]),
    ({"near": "3/10", "cut": "paragraphs", "tokens": 3}, ["--near", "0.3", "--cut", "paragraphs", "--tokens", "3"]),
    ({"near": 0.2, "cut": "sentences"}, ["--near", "0.2", "--cut", "sentences"]),
    ({"drop_empty": True}, ["--drop-empty"]),
]


@pytest.mark.parametrize("arguments, options", CASES, ids=lambda value: str(value))
def test_the_command_cuts_the_same(command, tmp_path, arguments, options):
    texts = make_texts(len(str(arguments)))
    rows = [{"id": i, "text": text} for i, text in enumerate(texts)]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    subprocess.run(
        [command, "repeats", "-q", *options, "in.jsonl", "-o", "out.jsonl", "--manifest", "m", "--summary", "s"],
        cwd=tmp_path,
        check=True,
    )
    expected = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    cuts = [json.loads(line) for line in (tmp_path / "m").read_text().splitlines()[1:]]
    summary = json.loads((tmp_path / "s").read_text())
    for threads in 1, 3:
        found = neardup.repeats(rows, threads=threads, **arguments)
        assert found.data == expected
        assert cuts and list(found.cuts) == [
            {
                "row": c["cut"],
                "from": c["from"],
                "to": c["to"],
                "kept_row": c["kept"],
                "kept_from": c["kept_from"],
                "kept_to": c["kept_to"],
                "resemblance": c.get("resemblance", 1.0),
            }
            for c in cuts
        ]
        assert (sum(found.changed), sum(found.emptied)) == (summary["changed"], summary["emptied"])


def test_lists_of_texts_keep_their_nulls():
    found = neardup.repeats(["Home\na", None, "home", ""], text=None)
    assert list(found.texts) == ["Home\na", None, "", ""]
    assert found.data == ["Home\na", None, "", ""]
    assert list(found.emptied) == [False, False, True, False]
    assert neardup.repeats(iter(["Home\na", "home"]), text=None, drop_empty=True).data == ["Home\na"]
    assert neardup.repeats([]).data == []


def test_frames_come_back_as_they_were():
    texts = [*make_texts(3), None]
    expected = list(neardup.repeats(texts, text=None).texts)
    few = [text for text, gone in zip(expected, neardup.repeats(texts, text=None).emptied, strict=True) if not gone]
    numbers = list(range(len(texts)))
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))

    frame = pandas.DataFrame({"n": numbers, "body": texts}, index=[i * 2 for i in numbers])
    found = neardup.repeats(frame, "body").data
    assert list(found.index) == list(frame.index) and list(found["n"]) == numbers
    assert [None if pandas.isna(v) else v for v in found["body"]] == expected
    assert len(neardup.repeats(frame, "body", drop_empty=True).data) == len(few)

    frame = polars.DataFrame({"n": numbers, "body": texts})
    assert neardup.repeats(frame, "body").data["body"].to_list() == expected
    assert neardup.repeats(frame.lazy(), "body", drop_empty=True).data["body"].to_list() == few

    table = pyarrow.table({"body": texts, "n": numbers})
    found = neardup.repeats(table, "body").data
    assert found.column_names == ["body", "n"] and found["body"].to_pylist() == expected
    assert neardup.repeats(table, "body", drop_empty=True).data["body"].to_pylist() == few
    assert neardup.repeats(table["body"]).data.to_pylist() == expected


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"cut": "words"}, "cut: 'words' is not one of lines, paragraphs, sentences, passages"),
        ({"occurrences": 1}, "occurrences: must be from 2 to"),
        ({"tokens": 0}, "tokens: must be at least 1"),
        ({"tokens": 10**7}, "tokens: must be at most"),
        ({"near": 0.5, "cut": "passages"}, "near: passages are cut where they are equal"),
        ({"near": 2}, "threshold"),
    ],
)
def test_what_is_out_of_range_is_refused(arguments, message):
    with pytest.raises(neardup.InvalidError, match=message):
        neardup.repeats(["a b c"], **arguments)


def test_files_are_for_the_command(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text":"a"}\n')
    with pytest.raises(neardup.UnsupportedError, match="python -m neardup repeats"):
        neardup.repeats(tmp_path / "a.jsonl")


def test_rows_of_tokens_are_refused():
    for rows in ([["a", "b"], ["a", "b"]], [[1, 2], [1, 2]]):
        with pytest.raises(neardup.InvalidError, match="lists of tokens"):
            neardup.repeats(rows)
    pyarrow = pytest.importorskip("pyarrow")
    with pytest.raises(neardup.InvalidError, match="lists of tokens"):
        neardup.repeats(pyarrow.table({"text": [[1, 2], [1, 2]]}))
