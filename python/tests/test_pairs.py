"""Pairs, df tables, and every shipped recipe: the command's answers on frames in memory."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

import neardup


@pytest.fixture(scope="module")
def corpus(tmp_path_factory, records):
    path = tmp_path_factory.mktemp("corpus") / "in.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def rows_of(path):
    with path.open() as lines:
        return [json.loads(line) for line in lines]


CASES = [
    ({}, []),
    ({"threshold": 0.5, "shingle": 2}, ["-t", "0.5", "-w", "2"]),
    ({"near_misses": "0.4"}, ["--near-misses", "0.4"]),
    ({"near_misses": Fraction(1, 3), "threshold": "0.9"}, ["--near-misses", "1/3", "-t", "0.9"]),
    ({"method": "simhash"}, ["-m", "simhash"]),
    ({"method": "identical"}, ["-m", "identical"]),
    ({"within": "site"}, ["--within", "site"]),
    ({"never": {"site": ["s1", "s2"]}}, ["--never", "site=s1,s2"]),
    ({"never": {"site": "s3"}, "within": "score"}, ["--never", "site=s3", "--within", "score"]),
    ({"site": "url"}, ["--site", "url"]),
    ({"recipe": "manku-2007"}, ["--recipe", "manku-2007"]),
    ({"recipe": "henzinger-2006-combined"}, ["--recipe", "henzinger-2006-combined"]),
    ({"recipe": "text-profile"}, ["--recipe", "text-profile"]),
    ({"set": {"verify": "containment"}}, ["--set", "verify=containment"]),
]


@pytest.mark.parametrize("arguments, options", CASES, ids=lambda value: str(value))
def test_the_pairs_are_the_commands(run, corpus, records, arguments, options):
    expected = rows_of(run("pairs", "-q", corpus, "--json", "-o", "pairs", *options) / "pairs")
    for threads in (1, 3):
        table = neardup.pairs(records, id="id", threads=threads, **arguments)
        found = [
            {
                "a": row["id_a"],
                "b": row["id_b"],
                **({"match": row["matches"]} if "near_misses" in arguments else {}),
                **({"resemblance": row["jaccard"], "shared": row["shared"]} if row["shared"] is not None else {}),
                **({"shingles_a": row["a"], "shingles_b": row["b"]} if row["shared"] is not None else {}),
                **({"hamming": row["distance"]} if row["distance"] is not None else {}),
                **({"site": row["site"]} if "site" in arguments else {}),
            }
            for row in table
        ]
        for row in expected:
            row.pop("containment_a", None), row.pop("containment_b", None)
            agreed = row.pop("signatures", {})
            for name, one in agreed.items():
                assert {f"{name}.{key}" for key in one} <= set(table.column_names)
        assert found == expected
        assert [records[row["row_a"]]["id"] for row in table] == [row["a"] for row in expected]
        assert all(row["row_a"] < row["row_b"] for row in table)


def test_pairs_of_signatures(run, corpus, records):
    folder = run("pairs", "-q", corpus, "--json", "-o", "pairs", "--recipe", "henzinger-2006-combined")
    table = neardup.pairs(records, recipe="henzinger-2006-combined")
    for row, expected in zip(table, rows_of(folder / "pairs"), strict=True):
        for name, one in expected["signatures"].items():
            assert {key: row[f"{name}.{key}"] for key in one} == one


def test_pairs_are_read_by_arrow(records):
    pyarrow = pytest.importorskip("pyarrow")
    pairs = neardup.pairs(records, id="id", site="url", near_misses=0.5)
    table = pyarrow.table(pairs)
    assert table.num_rows == len(pairs) > 0
    assert table.to_pylist() == list(pairs)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"near_misses": 0.9}, "near misses from 9/10: this must be above 0 and below the threshold, 4/5"),
        ({"near_misses": 0.5, "recipe": "manku-2007"}, "no near misses: the recipe verifies nothing"),
        ({"near_misses": "half"}, "'half' is not a number"),
        ({"near_misses": "1/99999999999"}, "too many digits"),
        ({"within": "absent"}, "there is no column 'absent'"),
        ({"df": "auto"}, "nothing in the recipe needs a df table"),
        ({"recipe": "seshasai-2009"}, "signature simhash needs a df table"),
    ],
    ids=str,
)
def test_what_is_wrong_is_said(arguments, message):
    pyarrow = pytest.importorskip("pyarrow")
    with pytest.raises(neardup.InvalidError, match=message):
        neardup.pairs(pyarrow.table({"text": ["one two three"]}), **arguments)


def test_pairs_of_nothing():
    assert len(neardup.pairs([])) == 0
    assert list(neardup.pairs([None, "one two three", None, "one two three"])["row_b"]) == [3]


# ---- Df tables ----


@pytest.mark.parametrize(
    "recipe, features, texts",
    [("seshasai-2009", None, False), ("kolcz-2004-mail", None, True), (None, "sketch", True), (None, None, False)],
)
def test_a_df_table_has_the_commands_bytes(run, corpus, records, tmp_path, recipe, features, texts):
    options = [*(["--recipe", recipe] if recipe else []), *(["--features", features] if features else [])]
    folder = run("df", "build", "-q", corpus, "-o", "table.df", *options, *(["--texts"] if texts else []))
    expected = (folder / "table.df").read_bytes()
    (folder / "table.df").unlink()
    for threads in (1, 3):
        table = neardup.DocumentFrequencies.count(
            records, recipe=recipe, features=features, keep_texts=texts, threads=threads
        )
        table.save(tmp_path / "own.df")
        assert (tmp_path / "own.df").read_bytes() == expected
    opened = neardup.DocumentFrequencies.open(tmp_path / "own.df")
    assert opened.version == table.version and opened.documents == len(records)
    assert list(opened.terms()) == list(table.terms())
    assert ("feature" in table.terms().column_names) == texts


def test_a_df_table_can_be_reused(records, tmp_path):
    table = neardup.DocumentFrequencies.count(records, recipe="seshasai-2009")
    table.save(tmp_path / "own.df")
    expected = neardup.dedup(records, recipe="seshasai-2009", df="auto")
    assert len(expected.removed)
    recipe = neardup.Recipe("seshasai-2009").use_df(table)
    named = neardup.Recipe("seshasai-2009").set("simhash.df", str(tmp_path / "own.df"))
    for result in (
        neardup.dedup(records, recipe=recipe),
        neardup.dedup(records, recipe=recipe.copy()),
        neardup.dedup(records, recipe=named),
        neardup.dedup(records, recipe="seshasai-2009", df=tmp_path / "own.df"),
        neardup.dedup(records, recipe="seshasai-2009", df=table),
        neardup.Deduper(recipe).push(records),
        neardup.Deduper("seshasai-2009", df=table).push(records),
    ):
        assert list(result.removed["kept_row"]) == list(expected.removed["kept_row"])
        assert list(result.removed["row"]) == list(expected.removed["row"])


def test_a_df_table_outlives_whoever_made_it(records):
    import gc

    def deduper():
        table = neardup.DocumentFrequencies.count(records, recipe="seshasai-2009")
        made = neardup.Deduper(neardup.Recipe("seshasai-2009").use_df(table))
        del table
        return made

    made = deduper()
    made.recipe = neardup.Recipe()
    gc.collect()
    assert len(made.push(records).removed) > 0


def test_an_index_holds_its_df_table(records):
    import gc

    index = neardup.Index(
        neardup.Recipe("seshasai-2009").use_df(neardup.DocumentFrequencies.count(records, recipe="seshasai-2009"))
    )
    index.recipe = neardup.Recipe()
    gc.collect()
    index.add_batch(range(50), records[:50])
    assert len(index) > 0
    with pytest.raises(neardup.InvalidError, match="needs a df table"):
        neardup.Index("seshasai-2009")


def test_wrong_df_tables_are_refused(records, tmp_path):
    other = neardup.DocumentFrequencies.count(records, features="sketch")
    with pytest.raises(neardup.InvalidError, match="simhash"):
        neardup.dedup(records, recipe="seshasai-2009", df=other)
    (tmp_path / "bad.df").write_bytes(b"nothing" * 500)
    with pytest.raises(neardup.Error, match="bad.df"):
        neardup.DocumentFrequencies.open(tmp_path / "bad.df")
    with pytest.raises(OSError, match="absent.df"):
        neardup.dedup(records, recipe="seshasai-2009", df=tmp_path / "absent.df")
    with pytest.raises(neardup.InvalidError, match='df="auto": there is no corpus'):
        neardup.Deduper("seshasai-2009", df="auto")
    with pytest.raises(neardup.InvalidError, match="no signature 'absent'"):
        neardup.DocumentFrequencies.count(records, features="absent")


# ---- Every shipped recipe ----

# These recipes warn that they read a part of pages; each with the key that reads it.
PAGES = {
    "dean-henzinger-1999": "links = yes",
    "joshi-2003": "unit = paths",
    "seshasai-2009-tagged-text": "markup = multiply",
}
# These recipes give no signature to a text without markup and address, so that no two match.
UNSIGNED = {"dean-henzinger-1999", "joshi-2003", "same-address"}


def with_tables(run, command, path, data, name, folder):
    """Options of the command, and the recipe and the df of Python, with the tables that they need."""
    recipe = neardup.Recipe(name)
    options: list[object] = ["--recipe", name]
    needs = [(signature, needs) for signature, needs, _, _ in neardup._native.recipe_tables(recipe._native)]
    for signature, (_, needs_template) in needs:
        if needs_template:
            run("df", "build", "-q", path, "-o", folder / "template.df", *options, "--features", "sketch")
            options += ["--set", f"{signature}.template_df={folder}/template.df"]
            recipe.use_template(neardup.DocumentFrequencies.count(data, recipe=name, features="sketch"))
    if any(needs_df for _, (needs_df, _) in needs):
        return [*options, "--df", f"auto={folder}/auto.df"], recipe, "auto"
    return options, recipe, None


def compare_decisions(run, command, path, data, name, folder):
    """Compare the removals; how many there are."""
    options, recipe, df = with_tables(run, command, path, data, name, folder)
    run("dedup", "-q", path, "-o", folder / "kept", "--manifest", folder / "rows", *options)
    rows = rows_of(folder / "rows")[1:]
    result = neardup.dedup(data, id="id", recipe=recipe, df=df)
    found = [(row["id"], row["kept_id"], row["identical"], row["distance"]) for row in result.removed]
    assert found == [(str(row["removed"]), str(row["kept"]), row["identical"], row["distance"]) for row in rows]
    return len(rows)


@pytest.mark.parametrize("name", sorted(neardup.shipped_recipes()))
@pytest.mark.filterwarnings("ignore:.*what only pages")
def test_every_shipped_recipe_decides_as_the_command(run, command, tmp_path, corpus, records, name):
    removed = compare_decisions(run, command, corpus, records, name, tmp_path)
    assert (removed > 0) == (name not in UNSIGNED)


@pytest.mark.parametrize("name", PAGES)
def test_a_recipe_of_pages_warns_whoever_calls(name):
    for call in (neardup.Deduper, neardup.Index, lambda recipe: neardup.dedup([], recipe=recipe)):
        with pytest.warns(UserWarning, match=PAGES[name] + ".*neardup dedup") as caught:
            if name.startswith("seshasai"):
                with pytest.raises(neardup.InvalidError, match="needs a df table"):
                    call(name)
            else:
                call(name)
        assert [one.filename for one in caught] == [__file__]


def test_a_recipe_without_boilerplate_warns_too():
    recipe = neardup.Recipe.parse("[sketch]\nboilerplate = drop\n")
    with pytest.warns(UserWarning, match="boilerplate = drop.*neardup dedup"):
        assert len(neardup.dedup(["a b c d", "a b c d"], recipe=recipe).removed) == 1


@pytest.mark.parametrize("name", sorted(neardup.shipped_recipes()))
@pytest.mark.filterwarnings("ignore:.*what only pages")
def test_every_shipped_recipe_decides_as_the_command_on_news(run, command, tmp_path, news, name):
    compare_decisions(run, command, news, rows_of(news), name, tmp_path)


def test_fields_of_a_stream(run, corpus, records):
    recipe = neardup.Recipe.parse(
        "[signature place]\nkind = features\nunit = none\nfields = site score\n"
        "[decide]\ncandidates = match\nmatch = shared(place) >= 2\nverify = none\n"
    )
    expected = neardup.dedup(records, recipe=recipe)
    assert len(expected.removed) > 0
    deduper = neardup.Deduper(recipe)
    removed = [row["row"] for i in range(0, len(records), 400) for row in deduper.push(records[i : i + 400]).removed]
    assert removed == list(expected.removed["row"])
    with pytest.raises(neardup.InvalidError, match="there is no column 'site'"):
        neardup.Deduper(recipe).push(["one two three"])


def test_a_field_of_several_values_is_a_json_array(run, tmp_path, records):
    recipe = tmp_path / "links.ini"
    recipe.write_text(
        "[signature links]\nkind = features\nunit = none\nfields = links\n"
        "[decide]\ncandidates = match\nmatch = resemblance(links) >= 0.8\nverify = none\n"
    )
    linked = [
        {"id": row["id"], "text": row["text"], "links": [f"/{word}" for word in row["text"].split()[:9]]}
        for row in records
    ]
    path = tmp_path / "linked.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in linked))
    run("dedup", "-q", path, "--recipe", recipe, "-o", tmp_path / "kept", "--manifest", tmp_path / "rows")
    rows = [{**row, "links": json.dumps(row["links"])} for row in linked]
    found = neardup.dedup(rows, id="id", recipe=neardup.Recipe(recipe)).removed
    expected = rows_of(tmp_path / "rows")[1:]
    assert [(row["id"], row["kept_id"]) for row in found] == [(row["removed"], row["kept"]) for row in expected]
    assert len(expected) > 0
