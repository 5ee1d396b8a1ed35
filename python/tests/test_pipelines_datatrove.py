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

from neardup.datatrove import NearDuplicateDecisions, NearDuplicateDrop, NearDuplicateFilter, NearDuplicateSketches


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


def three_pipelines(folder, shards, tasks, workers=1, keys=(), **options):
    """Sketch, decide and drop: what stays, and what was excluded."""
    sketches, decisions = str(folder / "sketches"), str(folder / "decisions")
    reader = JsonlReader(str(shards))
    run([reader, NearDuplicateSketches(sketches, **dict(keys))], folder / "log1", tasks, workers)
    run([NearDuplicateDecisions(sketches, decisions, **options)], folder / "log2")
    drop = NearDuplicateDrop(decisions, writer(folder / "out"))
    run([reader, drop, writer(folder / "kept")], folder / "log3", tasks, workers)
    return ids(folder / "kept"), {record["id"]: record["metadata"] for record in read(folder / "out")}


@pytest.mark.parametrize("tasks, workers", [(1, 1), (3, 2), (9, 1)])
def test_many_tasks_keep_what_dedup_keeps(tmp_path, shards, records, tasks, workers):
    kept, excluded = three_pipelines(tmp_path, shards, tasks, workers, threshold=0.7)
    ordered = [record for record in in_task_order(records, tasks) if record["text"]]
    result = neardup.dedup(ordered, id="id", threshold=0.7)
    assert kept == [record["id"] for record in result.survivors]
    assert list(excluded) == result.removed["id"][:]
    assert [m["near_duplicate_of"] for m in excluded.values()] == result.removed["kept_id"][:]
    assert [m["resemblance"] for m in excluded.values()] == result.removed["jaccard"][:]


@pytest.mark.parametrize(
    "sketched, decided",
    [
        ({"length": True}, {"keep": "longest"}),
        ({"fields": ["site"]}, {"within": "site", "memory": "64M"}),
        ({}, {"keep": "none", "cluster": "components"}),
    ],
    ids=str,
)
def test_the_decision_knows_every_way_of_dedup(tmp_path, shards, records, sketched, decided):
    kept, excluded = three_pipelines(tmp_path, shards, 4, keys=sketched, **decided)
    ordered = [record for record in in_task_order(records, 4) if record["text"]]
    result = neardup.dedup(ordered, id="id", **decided)
    assert kept == [record["id"] for record in result.survivors]
    assert set(excluded) == {record["id"] for record in ordered} - set(kept)


def test_only_tasks_that_failed_run_again(tmp_path, shards, records):
    sketches, log = tmp_path / "sketches", tmp_path / "log1"
    bad = next(record for record in in_task_order(records, 3)[len(records) // 2 :] if record["text"])["id"]

    def executor(fails):
        def check(data, rank=0, world_size=1):
            for document in data:
                if fails and document.id == bad:
                    raise OSError("the node is gone")
                yield document

        steps = [JsonlReader(str(shards)), NearDuplicateSketches(str(sketches), batch_size=50), check]
        return LocalPipelineExecutor(steps, tasks=3, workers=1, logging_dir=str(log))

    def decide():
        run([NearDuplicateDecisions(str(sketches), str(tmp_path / "decisions"))], tmp_path / "log2")

    with pytest.raises(OSError, match="the node is gone"):
        executor(fails=True).run()
    first = {path.name: path.stat().st_mtime_ns for path in sketches.iterdir()}
    assert 0 < len(first) < 3
    with pytest.raises(neardup.InvalidError, match=r"there is no 0000\d-of-00003.sketch: its task did not finish"):
        decide()
    executor(fails=False).run()
    assert {name: (sketches / name).stat().st_mtime_ns for name in first} == first
    decide()
    run(
        [JsonlReader(str(shards)), NearDuplicateDrop(str(tmp_path / "decisions")), writer(tmp_path / "kept")],
        tmp_path / "log3",
        tasks=3,
    )
    ordered = [record for record in in_task_order(records, 3) if record["text"]]
    assert ids(tmp_path / "kept") == [record["id"] for record in neardup.dedup(ordered).survivors]


def test_folders_may_be_elsewhere():
    def made(rank, *texts):
        return list(NearDuplicateSketches("memory://sketches")(documents_of(*texts), rank, 2))

    assert len(made(0, "a b c d", "e f g h")) == 2 and len(made(1, "a lone \ud800 surrogate", "A b c d")) == 2
    list(NearDuplicateDecisions("memory://sketches", "memory://decisions")(None))
    left = list(NearDuplicateDrop("memory://decisions")(documents_of("a lone \ud800 surrogate", "A b c d"), 1, 2))
    assert [document.id for document in left] == ["0"]


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


def test_what_is_wrong_is_refused_at_once(tmp_path):
    with pytest.raises(neardup.InvalidError, match="keeps the first document"):
        NearDuplicateFilter(keep="longest")
    with pytest.raises(neardup.Error, match="treshold"):
        NearDuplicateDecisions(str(tmp_path), str(tmp_path), treshold=0.7)
    with pytest.raises(neardup.Error, match="shingel"):
        NearDuplicateSketches(str(tmp_path), shingel=3)


def test_files_that_do_not_fit_are_refused(tmp_path):
    sketches, decisions = tmp_path / "sketches", tmp_path / "decisions"
    sketches.mkdir()

    def write(tasks):
        for rank in range(tasks):
            list(NearDuplicateSketches(str(sketches))(documents_of("a b c d", "e f g h"), rank, tasks))

    def decide(tasks=1, **keys):
        return list(NearDuplicateDecisions(str(sketches), str(decisions), **keys)(None, 0, tasks))

    def drop(rank=0, documents=None):
        return list(NearDuplicateDrop(str(decisions))(documents or documents_of("a b c d", "e f g h"), rank, 2))

    with pytest.raises(neardup.InvalidError, match="there are no sketches"):
        decide()
    with pytest.raises(neardup.InvalidError, match="there is no 00000.removed.jsonl"):
        drop()
    write(2)
    with pytest.raises(neardup.InvalidError, match="in one task, not in 2"):
        decide(2)
    with pytest.raises(neardup.InvalidError, match="made by another recipe: shingle differs"):
        decide(shingle=5)
    decide()
    assert len(drop(0)) == 2 and len(drop(1)) == 0
    with pytest.raises(neardup.InvalidError, match="task 1 has 1 documents, and 2 were decided about"):
        drop(1, documents_of("a b c d"))
    with pytest.raises(neardup.InvalidError, match="task 1 has 3 documents, and 2 were decided about"):
        drop(1, documents_of("a b c d", "e", "f"))
    cut = decisions / "00001.removed.jsonl"
    cut.write_text("".join(cut.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(neardup.InvalidError, match="decide again"):
        drop(1)
    path = sketches / "00001-of-00002.sketch"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(neardup.Error, match="00001-of-00002.sketch"):
        decide()
    path.unlink()
    with pytest.raises(neardup.InvalidError, match="there is no 00001-of-00002.sketch: its task did not finish"):
        decide()
    path.write_bytes(whole)
    write(3)
    with pytest.raises(neardup.InvalidError, match="00000-of-00003.sketch is not of these 2 tasks"):
        decide()
