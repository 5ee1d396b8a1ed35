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


def in_days(folder, days, recipe):
    """Each day against the file of those before, to which its survivors go."""
    kept = []
    for number, rows in enumerate(days):
        source, target = write(folder / f"day{number}.jsonl", rows), folder / f"kept{number}.jsonl"
        neardup.dedup_files(source, target, id="id", recipe=recipe, against=folder / "seen.sketch", append=True)
        kept += ids_of(target)
    return kept


def ways(folder, records, recipe):
    """The names of the ways, and the ids that are kept."""
    source = write(folder / "all.jsonl", records)
    yield "frame", [row["id"] for row in neardup.dedup(records, id="id", recipe=recipe).survivors]
    bounded = neardup.dedup(records, id="id", recipe=recipe, memory="64M", tmp=folder)
    yield "memory", [row["id"] for row in bounded.survivors]
    for name, options in (("files", {}), ("files, memory", {"memory": "64M"})):
        neardup.dedup_files(source, folder / "kept.jsonl", id="id", recipe=recipe, **options)
        yield name, ids_of(folder / "kept.jsonl")
    if recipe["keep"] == "first" and recipe["cluster"] != "components":
        deduper = neardup.Deduper(recipe, id="id")
        batches = [deduper.push(records[at : at + 170]).survivors for at in range(0, len(records), 170)]
        yield "stream", [row["id"] for batch in batches for row in batch]
    thirds = [records[:200], records[200:400], records[400:]]
    yield "days", in_days(folder, thirds, recipe)
    for name in ("a", "b"):
        neardup.write_sketches(thirds["ab".index(name)], folder / f"{name}.sketch", id="id", recipe=recipe)
    seen = [folder / "a.sketch", folder / "b.sketch"]
    old = [row["id"] for row in neardup.dedup(records[:400], id="id", recipe=recipe).survivors]
    yield (
        "frame, against",
        old + [row["id"] for row in neardup.dedup(thirds[2], id="id", recipe=recipe, against=seen).survivors],
    )


@pytest.mark.parametrize("name", sorted(neardup.shipped_recipes()))
@pytest.mark.filterwarnings("ignore:.*what only pages")
def test_every_recipe_in_every_way(run, command, tmp_path, records, name):
    records = records[:600]
    source = write(tmp_path / "in.jsonl", records)
    options, recipe, df = with_tables(run, command, source, records, name, tmp_path)
    if df:
        recipe.use_df(neardup.DocumentFrequencies.count(records, recipe=recipe))
    run("dedup", "-q", source, "-o", tmp_path / "expected", *options)
    expected = ids_of(tmp_path / "expected")
    assert 0 < len(expected) and (len(expected) == len(records)) == (name in UNSIGNED)
    for way, found in ways(tmp_path, records, recipe):
        assert found == expected, way
