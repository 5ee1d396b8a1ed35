"""Two documents beside each other, and one explained: what the command says of them."""

from __future__ import annotations

import json
import subprocess

import pytest

import neardup

MONDAY = "The ferry leaves at nine from the old harbour, and comes back at five in the afternoon. Bring your own lunch."
TUESDAY = (
    "On Sundays the ferry leaves at ten from the old harbour, and comes back at five in the afternoon. Lunch is served."
)
DOCUMENTS = [
    MONDAY,
    TUESDAY,
    MONDAY.upper(),
    "",
    "Zürich, 5 o'clock: naïve café \N{SNOWMAN}",
    "one two",
    " ".join(f"word{i % 17} and{i % 5}" for i in range(300)),
    " ".join(f"word{i % 19} and{i % 5}" for i in range(290)),
]
PAIRS = [(0, 1), (1, 0), (0, 0), (0, 2), (0, 3), (3, 3), (4, 5), (5, 5), (6, 7), (1, 6)]


@pytest.fixture
def said(command, tmp_path):
    """The JSON that the command prints of documents, without their names."""

    def said(use, texts, *options):
        names = []
        for i, text in enumerate(texts):
            (tmp_path / f"{i}.jsonl").write_text(json.dumps({"id": str(i), "text": text}) + "\n")
            names.append(tmp_path / f"{i}.jsonl")
        done = subprocess.run([command, use, "--json", *options, *map(str, names)], capture_output=True, text=True)
        assert done.returncode in (0, 1), done.stderr
        values = json.loads(done.stdout)
        for some in (values, values.get("a", {}), values.get("b", {})):
            some.pop("id", None), some.pop("at", None)
        return values

    return said


SHOWN = [
    ({}, []),
    ({"show": ["edits"]}, ["--show", "edits"]),
    ({"show": ["passages"], "least": 3}, ["--show", "passages", "--least", "3"]),
    ({"show": ["passages"], "gap": 2}, ["--show", "passages", "--gap", "2"]),
    ({"show": ["terms"]}, ["--show", "terms"]),
    ({"show": ["weights"], "recipe": "manku-2007"}, ["--show", "weights", "--recipe", "manku-2007"]),
    ({"set": {"shingle": 2}}, ["-w", "2"]),
    ({"limit": 2}, ["--limit", "2"]),
]


@pytest.mark.parametrize("arguments, options", SHOWN, ids=lambda value: str(value))
def test_the_command_compares_the_same(said, arguments, options):
    for a, b in PAIRS:
        texts = DOCUMENTS[a], DOCUMENTS[b]
        show = [] if not {"limit"} & arguments.keys() else ["--show", "edits"]
        found = neardup.compare(*texts, **{**arguments, **({"show": ["edits"]} if show else {})})
        expected = said("compare", texts, *show, *options)
        assert {key: found[key] for key in expected} == expected
        assert set(found) - set(expected) <= {"edit_distance", "edit_limit"}
        assert "resemblance" in repr(found) and found.resemblance == expected["resemblance"]


RECIPES = ["default", "manku-2007", "henzinger-2006-combined", "short-texts", "cops-1995"]


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_command_explains_the_same(said, recipe):
    for a, b in PAIRS:
        texts = DOCUMENTS[a], DOCUMENTS[b]
        found = neardup.explain(*texts, recipe=recipe)
        assert dict(found) == said("explain", texts, "--recipe", recipe)
        assert found.why in repr(found)


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("order", ["weight", "position"])
def test_the_command_lists_the_same_features(said, recipe, order):
    for text in (DOCUMENTS[0], DOCUMENTS[3], DOCUMENTS[6]):
        found = neardup.explain(text, recipe=recipe, order=order)
        assert dict(found) == said("explain", [text], "--recipe", recipe, "--order", order)
        assert "features" in repr(found)
    assert len(neardup.explain(DOCUMENTS[6], recipe=recipe, top=3).signatures[0]["features"]) <= 3


def test_a_table_weighs_the_features(command, said, tmp_path):
    table = neardup.DocumentFrequencies.count(DOCUMENTS, recipe="seshasai-2009")
    table.save(tmp_path / "own.df")
    options = ["--recipe", "seshasai-2009", "--df", str(tmp_path / "own.df")]
    assert dict(neardup.explain(MONDAY, recipe="seshasai-2009", df=table)) == said("explain", [MONDAY], *options)
    found = neardup.compare(MONDAY, TUESDAY, recipe="seshasai-2009", df=table, show=["weights"])
    assert found.weights == said("compare", [MONDAY, TUESDAY], "--show", "weights", *options)["weights"]


def test_fields_are_features():
    recipe = neardup.Recipe.parse(
        "[signature words]\nkind = features\nfields = title:1\n"
        "[decide]\ncandidates = match\nmatch = shared(words) >= 1\nverify = none\n"
    )
    found = neardup.explain({"text": "one two", "title": "the sea"}, recipe=recipe)
    assert [one["feature"] for one in found.signatures[0]["features"] if one.get("of_field")]


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: neardup.compare("a", None), "without a text"),
        (lambda: neardup.compare({"body": "a"}, "b"), "there is no column 'text'"),
        (lambda: neardup.compare("a", "b", show=["all"]), "is not a list of edits"),
        (lambda: neardup.compare("a", "b", show="edits"), "is not a list of edits"),
        (lambda: neardup.compare("a", "b", show=["weights"]), "weights need a recipe with a signature"),
        (lambda: neardup.compare("a", "b", costs=(0, 1, 1)), "cost"),
        (lambda: neardup.compare("a", "b", costs=(-1, 1, 1)), "out of range"),
        (lambda: neardup.compare("a", "b", show=["passages"], least=0), "."),
        (lambda: neardup.explain("a", order="size"), "order: 'size'"),
        (lambda: neardup.explain("a", "b", recipe="seshasai-2009"), "needs a df table"),
        (lambda: neardup.explain("a", 3), "is a int, not a str"),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises((neardup.Error, TypeError), match=message):
        call()


def test_measures_are_attributes_and_keys():
    found = neardup.compare(MONDAY, TUESDAY)
    assert found.hamming == found["hamming"] and len(found) == len(list(found))
    with pytest.raises(AttributeError, match="no 'passages'"):
        _ = found.passages
    assert found == neardup.compare(MONDAY, TUESDAY) != neardup.explain(MONDAY, TUESDAY)
