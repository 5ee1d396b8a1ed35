"""Manifest, clusters and summary: the bytes of the command's."""

from __future__ import annotations

import json
import subprocess

import pytest
from test_dedup import CASES

import neardup

# Summaries differ in these: how rows were read, and what a run took.
OF_THE_RUN = {
    "bytes",
    "index_bytes",
    "spool_bytes",
    "peak_bytes",
    "seconds",
    "processor_seconds",
    "threads",
    "turns",
    "inputs",
}


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def summaries(*texts):
    """Summaries without what differs."""
    return [{key: value for key, value in json.loads(text).items() if key not in OF_THE_RUN} for text in texts]


@pytest.fixture(scope="module")
def said(command, tmp_path_factory):
    """The folder with what the command writes about the rows of its standard input."""

    def said(records, options):
        folder = tmp_path_factory.mktemp("said")
        files = ["--manifest", "manifest", "--clusters", "clusters", "--summary", "summary", "-o", "kept"]
        subprocess.run(
            [command, "dedup", "-q", "--format", "jsonl", "-", *files, *options],
            input=lines(records).encode(),
            cwd=folder,
            check=True,
        )
        return folder

    return said


NEVER = [
    ({"never": {"site": ["s3", "s5"]}}, ["--never", "site=s3,s5"]),
    (
        {"never": {"site": "s1", "score": ["7"]}, "keep": "last"},
        ["--never", "site=s1", "--never", "score=7", "-k", "last"],
    ),
    ({"never": {"site": "s3"}, "within": "score"}, ["--never", "site=s3", "--within", "score"]),
]


@pytest.mark.parametrize("arguments, options", CASES + NEVER, ids=lambda value: str(value))
@pytest.mark.parametrize("has_ids", [True, False])
def test_a_result_writes_what_the_command_writes(said, records, tmp_path, arguments, options, has_ids):
    rows = records if has_ids else [{k: v for k, v in record.items() if k != "id"} for record in records]
    folder = said(rows, options)
    result = neardup.dedup(rows, id="id" if has_ids else None, threads=2, **arguments)
    result.write_manifest(tmp_path / "manifest")
    result.write_clusters(tmp_path / "clusters")
    result.write_summary(tmp_path / "summary")
    assert (tmp_path / "clusters").read_bytes() == (folder / "clusters").read_bytes()
    head, rest = (tmp_path / "manifest").read_bytes().split(b"\n", 1)
    expected_head, expected_rest = (folder / "manifest").read_bytes().split(b"\n", 1)
    assert rest == expected_rest
    differs = {"html_parser", "options", "inputs"}
    head, expected_head = json.loads(head), json.loads(expected_head)
    assert {k: head[k] for k in head.keys() - differs} == {k: expected_head[k] for k in expected_head.keys() - differs}
    names = {"within", "prefer_field", "prefer", "never", "text_fields"}
    assert {k: head["options"].get(k) for k in names} == {k: expected_head["options"].get(k) for k in names}
    mine, expected = summaries((tmp_path / "summary").read_text(), (folder / "summary").read_text())
    assert mine == expected


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz"])
def test_a_manifest_is_compressed_as_its_name_says(records, tmp_path, ending):
    import bz2
    import gzip
    import lzma

    result = neardup.dedup(records, id="id")
    result.write_manifest(tmp_path / "plain")
    result.write_manifest(tmp_path / f"m.{ending}")
    result.write_manifest(tmp_path / f"again.{ending}")
    packed = (tmp_path / f"m.{ending}").read_bytes()
    assert packed == (tmp_path / f"again.{ending}").read_bytes()
    unpack = {"gz": gzip, "bz2": bz2, "xz": lzma}[ending].decompress
    assert unpack(packed) == (tmp_path / "plain").read_bytes()


def test_what_cannot_be_written_leaves_nothing(records, tmp_path):
    result = neardup.dedup(records)
    with pytest.raises(OSError, match="is a directory"):
        result.write_manifest(tmp_path)
    with pytest.raises(OSError, match="cannot be created"):
        result.write_manifest(tmp_path / "none" / "m")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(neardup.UnsupportedError, match="a batch of a stream has no manifest"):
        neardup.Deduper().push(["one two three"]).write_manifest(tmp_path / "m")


def test_rows_without_a_text_are_skipped_or_not_told_of(records, tmp_path):
    rows = [{**record, "text": None if i % 5 == 2 else record["text"]} for i, record in enumerate(records[:50])]
    neardup.dedup(rows, id="id", nulls="drop").write_manifest(tmp_path / "drop")
    neardup.dedup(rows, id="id").write_manifest(tmp_path / "keep")
    dropped = (tmp_path / "drop").read_text().splitlines()
    skipped = [line for line in dropped if "skipped" in line]
    assert skipped[0] == '{"skipped":"-:3","reason":"text is null"}' and len(skipped) == 10
    assert [line for line in dropped[1:] if line not in skipped] == (tmp_path / "keep").read_text().splitlines()[1:]


# ---- Who is compared, in streams ----


WHO = [{"within": "site"}, {"never": {"site": ["s3"]}}, {"within": "score", "never": {"site": ["s1", "s2"]}}]


@pytest.mark.parametrize("texts", ["memory", "spool"])
@pytest.mark.parametrize("arguments", WHO)
def test_a_stream_compares_whom_one_run_compares(records, texts, arguments):
    expected = neardup.dedup(records, **arguments)
    assert expected.kept != neardup.dedup(records).kept
    deduper = neardup.Deduper(texts=texts, **arguments)
    kept = [k for at in range(0, len(records), 77) for k in deduper.push(records[at : at + 77]).kept]
    assert kept == list(expected.kept)


@pytest.mark.parametrize("texts", ["memory", "spool"])
def test_a_stream_reads_the_fields_of_a_recipe(records, texts):
    recipe = neardup.Recipe.parse(
        "[decide]\ncandidates = match\nverify = none\nmatch = agree(S) >= 58\n"
        "[signature S]\nkind = simhash\nfields = site:1 score:2\n"
    )
    expected = neardup.dedup(records, recipe=recipe)
    assert len(expected.removed) and len(expected.removed) != len(neardup.dedup(records).removed)
    deduper = neardup.Deduper(recipe, texts=texts)
    kept = [k for at in range(0, len(records), 77) for k in deduper.push(records[at : at + 77]).kept]
    assert kept == list(expected.kept)
