"""Every recipe in every way of running in Python: the survivors are those of the command."""

from __future__ import annotations

import json

import pytest
from test_pairs import UNSIGNED, with_tables

import neardup


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def ids_of(path):
    return [json.loads(line)["id"] for line in path.read_text().splitlines()]


def in_days(folder, days, **options):
    """Each day against the file of those before, to which its survivors go."""
    kept = []
    options = {**options, "against": folder / "seen.sketch", "append": True}
    for number, rows in enumerate(days):
        source, target = write(folder / f"day{number}.jsonl", rows), folder / f"kept{number}.jsonl"
        neardup.dedup_files(source, target, **options)
        kept += ids_of(target)
    (folder / "seen.sketch").unlink()
    return kept


def ways(folder, records, recipe, **compared):
    """The names of the ways, and the ids that are kept."""
    source = write(folder / "all.jsonl", records)
    n = len(records) // 3
    common = {"id": "id", "recipe": recipe, **compared}
    yield "frame", [row["id"] for row in neardup.dedup(records, **common).survivors]
    yield "iterator", [row["id"] for row in neardup.dedup(iter(records), **common).survivors]
    bounded = {"memory": "64M", "tmp": folder}
    yield "memory", [row["id"] for row in neardup.dedup(records, **common, **bounded).survivors]
    yield "iterator, memory", [row["id"] for row in neardup.dedup(iter(records), **common, **bounded).survivors]
    for name, options in (("files", {}), ("files, memory", {"memory": "64M"})):
        neardup.dedup_files(source, folder / "kept.jsonl", **common, **options)
        yield name, ids_of(folder / "kept.jsonl")
    if recipe["keep"] == "first" and recipe["cluster"] != "components":
        for texts in ("memory", "spool"):
            deduper = neardup.Deduper(**common, texts=texts)
            batches = [deduper.push(records[at : at + 170]).survivors for at in range(0, len(records), 170)]
            yield f"stream, {texts}", [row["id"] for batch in batches for row in batch]
    thirds = [records[:n], records[n : 2 * n], records[2 * n :]]
    yield "days", in_days(folder, thirds, **common)
    yield "days, memory", in_days(folder, thirds, **common, memory="64M")
    for name in ("a", "b"):
        fields = ["site"] if compared else []
        path = folder / f"{name}.sketch"
        neardup.write_sketches(thirds["ab".index(name)], path, id="id", recipe=recipe, fields=fields)
    common["against"] = [folder / "a.sketch", folder / "b.sketch"]
    old = [row["id"] for row in neardup.dedup(records[: 2 * n], id="id", recipe=recipe, **compared).survivors]
    yield "frame, against", old + [row["id"] for row in neardup.dedup(thirds[2], **common).survivors]
    result = neardup.dedup(iter(thirds[2]), **common, **bounded)
    yield "iterator, against, memory", old + [row["id"] for row in result.survivors]


@pytest.fixture(params=sorted(neardup.shipped_recipes()))
def one(request, run, command, tmp_path, records):
    """A recipe with its tables, some records, and the file and the options for the command."""
    records = records[:600]
    source = write(tmp_path / "in.jsonl", records)
    options, recipe, df = with_tables(run, command, source, records, request.param, tmp_path)
    if df:
        recipe.use_df(neardup.DocumentFrequencies.count(records, recipe=recipe))
    return request.param, recipe, records, source, options


@pytest.mark.filterwarnings("ignore:.*what only pages")
def test_every_recipe_in_every_way(run, tmp_path, one):
    name, recipe, records, source, options = one
    run("dedup", "-q", source, "-o", tmp_path / "expected", *options)
    expected = ids_of(tmp_path / "expected")
    assert 0 < len(expected) and (len(expected) == len(records)) == (name in UNSIGNED)
    for way, found in ways(tmp_path, records, recipe):
        assert found == expected, way


@pytest.mark.filterwarnings("ignore:.*what only pages")
def test_every_recipe_where_not_all_are_compared(run, tmp_path, one):
    _, recipe, records, source, options = one
    run("dedup", "-q", source, "-o", tmp_path / "expected", "--within", "site", "--never", "site=s3", *options)
    expected = ids_of(tmp_path / "expected")
    for way, found in ways(tmp_path, records, recipe, within="site", never={"site": "s3"}):
        assert found == expected, way


@pytest.mark.filterwarnings("ignore:.*what only pages")
def test_every_recipe_in_an_index(tmp_path, one):
    name, recipe, records, _, _ = one
    pairs = {(row["row_a"], row["row_b"]) for row in neardup.pairs(records, recipe=recipe)}
    index = neardup.Index(recipe, id="id")
    index.add_batch(None, records[:400])
    for row in records[400:]:
        index.add(row["id"], row)
    row_of = {row["id"]: number for number, row in enumerate(records)}
    found = [[row_of[match.id] for match in matches] for matches in index.query_batch(records)]
    assert {(row, other) for row, others in enumerate(found) for other in others if row < other} == pairs
    assert (len(pairs) > 0) == (name not in UNSIGNED)
    index.remove(records[7]["id"])
    index.save(tmp_path / "some.index")
    opened = neardup.Index.open(tmp_path / "some.index", recipe)
    assert opened.query_batch(records) == index.query_batch(records)
    index.compact()
    assert opened.query_batch(records) == index.query_batch(records)
    assert [opened.query(row) for row in records[:20]] == opened.query_batch(records[:20])
