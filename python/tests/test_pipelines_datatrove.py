"""datatrove: one task, and many that share decisions, keep what neardup.dedup keeps."""

from __future__ import annotations

import json

import pytest

import neardup

pytest.importorskip("datatrove")

from datatrove.data import Document
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter

from neardup.datatrove import NearDuplicateDecisions, NearDuplicateDrop, NearDuplicateFilter, NearDuplicateTexts


@pytest.fixture(scope="module")
def shards(tmp_path_factory, records):
    """The documents in seven files, in their order."""
    folder = tmp_path_factory.mktemp("shards")
    for i in range(7):
        part = records[len(records) * i // 7 : len(records) * (i + 1) // 7]
        (folder / f"{i}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in part))
    return folder


def read(folder):
    return [json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.open()]


def ids(folder):
    return [record["id"] for record in read(folder)]


def in_task_order(records, tasks):
    """The documents in the order of the tasks: task r reads the files r, r + tasks, ..."""
    parts = [records[len(records) * i // 7 : len(records) * (i + 1) // 7] for i in range(7)]
    return [record for r in range(tasks) for part in parts[r::tasks] for record in part]


def run(steps, folder, tasks=1, workers=1):
    executor = LocalPipelineExecutor(steps, tasks=tasks, workers=workers, logging_dir=str(folder))
    return executor.run()


def writer(folder):
    return JsonlWriter(str(folder), output_filename="${rank}.jsonl", compression=None)


# A reader leaves out documents without a text: so does the expectation.
@pytest.fixture(scope="module")
def documents(records):
    return [record for record in records if record["text"]]


@pytest.mark.parametrize("keys", [{}, {"threshold": 0.5, "cluster": "complete"}], ids=str)
def test_one_task_keeps_what_dedup_keeps(tmp_path, shards, records, keys):
    step = NearDuplicateFilter(exclusion_writer=writer(tmp_path / "out"), batch_size=100, **keys)
    stats = run([JsonlReader(str(shards)), step, writer(tmp_path / "kept")], tmp_path / "log")
    with_text = [record for record in records if record["text"]]
    result = neardup.dedup(with_text, id="id", set=keys)
    assert ids(tmp_path / "kept") == [record["id"] for record in result.survivors]
    excluded = {record["id"]: record["metadata"] for record in read(tmp_path / "out")}
    assert list(excluded) == result.removed["id"][:]
    for row in result.removed:
        assert excluded[row["id"]]["near_duplicate_of"] == row["kept_id"]
        assert excluded[row["id"]]["resemblance"] == row["jaccard"]
    counts = stats.stats[1].stats
    assert counts["dropped"].total == len(result.removed)
    reasons = sum(counts[f"dropped_{reason}"].total for reason in ("same_bytes", "same_words", "near_duplicate"))
    assert reasons == len(result.removed)


@pytest.mark.parametrize("tasks, workers, compression", [(1, 1, None), (3, 2, "gzip"), (9, 1, None)])
def test_many_tasks_keep_what_dedup_keeps(tmp_path, shards, documents, records, tasks, workers, compression):
    texts, decisions = str(tmp_path / "texts"), str(tmp_path / "decisions")
    reader = JsonlReader(str(shards))
    run([reader, NearDuplicateTexts(texts, compression)], tmp_path / "log1", tasks, workers)
    decide = NearDuplicateDecisions(texts, decisions, threshold=0.7, compression=compression)
    run([decide], tmp_path / "log2")
    drop = NearDuplicateDrop(decisions, writer(tmp_path / "out"))
    run([reader, drop, writer(tmp_path / "kept")], tmp_path / "log3", tasks, workers)
    ordered = [record for record in in_task_order(records, tasks) if record["text"]]
    result = neardup.dedup(ordered, id="id", threshold=0.7)
    assert ids(tmp_path / "kept") == [record["id"] for record in result.survivors]
    excluded = {record["id"]: record["metadata"] for record in read(tmp_path / "out")}
    assert list(excluded) == result.removed["id"][:]
    assert [metadata["resemblance"] for metadata in excluded.values()] == result.removed["jaccard"][:]
    if tasks == 1:
        assert [m["near_duplicate_of"] for m in excluded.values()] == [f"0/{row}" for row in result.removed["kept_row"]]


def documents_of(*texts):
    return [Document(text, str(i)) for i, text in enumerate(texts)]


def test_a_filter_alone_refuses_several_tasks():
    step = NearDuplicateFilter()
    with pytest.raises(neardup.InvalidError, match="3 tasks would each compare only their own documents"):
        list(step(documents_of("a b c"), 0, 3))
    step = NearDuplicateFilter(per_task=True, batch_size=1)
    for rank in (0, 1, 1):
        kept = list(step(documents_of("a b c d", "e f g h", "a b c d", "a lone \ud800 surrogate"), rank, 3))
        assert [document.id for document in kept] == ["0", "1", "3"]


def test_what_a_stream_cannot_do_is_refused_at_once(tmp_path):
    with pytest.raises(neardup.InvalidError, match="keeps the first document"):
        NearDuplicateFilter(keep="longest")
    with pytest.raises(neardup.InvalidError, match="keeps the first document"):
        NearDuplicateDecisions(str(tmp_path), str(tmp_path), cluster="components")


def test_files_that_do_not_fit_are_refused(tmp_path):
    texts, decisions = tmp_path / "texts", tmp_path / "decisions"
    texts.mkdir()

    def write(tasks):
        for rank in range(tasks):
            list(NearDuplicateTexts(str(texts))(documents_of("a b c d", "e f g h"), rank, tasks))

    def decide(tasks=1):
        return list(NearDuplicateDecisions(str(texts), str(decisions))(None, 0, tasks))

    def drop(rank=0, documents=None):
        return list(NearDuplicateDrop(str(decisions))(documents or documents_of("a b c d", "e f g h"), rank, 2))

    with pytest.raises(neardup.InvalidError, match="there are no texts"):
        decide()
    with pytest.raises(neardup.InvalidError, match="there is no 00000.removed.jsonl"):
        drop()
    write(2)
    with pytest.raises(neardup.InvalidError, match="in one task, not in 2"):
        decide(2)
    decide()
    assert len(drop(0)) == 2 and len(drop(1)) == 0
    with pytest.raises(neardup.InvalidError, match="task 1 has 1 documents, and 2 were decided about"):
        drop(1, documents_of("a b c d"))
    with pytest.raises(neardup.InvalidError, match="task 1 has 3 documents, and 2 were decided about"):
        drop(1, documents_of("a b c d", "e", "f"))
    path = texts / "00001.texts"
    whole = path.read_bytes()
    for length in (len(whole) - 1, len(whole) - 8, 40, 20):
        path.write_bytes(whole[:length])
        with pytest.raises(neardup.InvalidError, match="00001.texts: the file ends too early"):
            decide()
    with pytest.raises(neardup.InvalidError, match="decide again"):
        drop(1)
    path.write_bytes(b"\x1f\x8b" + whole)
    with pytest.raises(neardup.InvalidError, match="00001.texts: not a file of texts"):
        decide()
    path.unlink()
    with pytest.raises(neardup.InvalidError, match="2 tasks wrote texts, and the folder has the files of 1"):
        decide()
    (texts / "00000.texts").rename(texts / "00002.texts")
    with pytest.raises(neardup.InvalidError, match="there is no 00000.texts"):
        decide()
