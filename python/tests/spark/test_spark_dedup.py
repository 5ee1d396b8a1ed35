"""Deduplication on Spark is that of one machine, whatever the documents and the machines do."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from pathlib import Path

import pytest

import neardup
from neardup.spark import dedup, pairs

NIGHTLY = bool(os.environ.get("NEARDUP_NIGHTLY"))
DATA = Path(os.environ.get("NEARDUP_DATA", Path(__file__).parents[4] / "shared" / "data"))
EVIDENCE = ("identical", "verified", "jaccard", "shared", "a", "b", "distance", "cut")


@pytest.fixture(autouse=True)
def few_stages(spark, request):
    """Plans that are not made anew while they run save half of the time; the corpora have those too."""
    adaptive = request.node.originalname == "test_corpora"
    spark.conf.set("spark.sql.adaptive.enabled", str(adaptive).lower())


def frame(spark, rows, partitions=3, path=None):
    """A DataFrame of rows with their numbers, in another order; of large rows from a file of this name."""
    import pyarrow
    import pyarrow.parquet

    order = list(range(len(rows)))
    random.Random(1).shuffle(order)
    names = rows[0].keys()
    table = pyarrow.table({"n": order, **{name: [rows[i][name] for i in order] for name in names}})
    if not path:
        return spark.createDataFrame(table).repartition(partitions)
    pyarrow.parquet.write_table(table, path, row_group_size=500)
    return spark.read.parquet(str(path)).repartition(partitions)


def of_spark(result):
    """The numbers of the survivors, and the rows of the manifest."""
    names = ("n", "kept_n", "via_n", *EVIDENCE)
    removed = sorted(tuple(row[name] for name in names) for row in result.manifest.select(*names).collect())
    return sorted(row.n for row in result.survivors.select("n").collect()), removed


def of_one_machine(result):
    names = ("row", "kept_row", "via_row", *EVIDENCE)
    removed = [tuple(row[name] for name in names) for row in result.removed]
    return [i for i, is_kept in enumerate(result.kept) if is_kept], removed


def check(spark, rows, partitions=3, df=None, **arguments):
    """Check that both make the same of rows; return the result of one machine."""
    expected = neardup.dedup(rows, threads=2, **arguments)
    df = frame(spark, rows, partitions) if df is None else df
    result = dedup(df, order_by="n", **arguments)
    try:
        assert of_spark(result) == of_one_machine(expected)
    finally:
        result.unpersist()
    return expected


# ---- Arguments ----

CASES = [
    {"cluster": "components", "threshold": 0.6},
    {"method": "simhash", "within": "site", "keep": "max:score"},
    {"recipe": "henzinger-2006-c", "prefer": ("site", ["s3", "s1"])},
    {"recipe": "henzinger-2006-combined"},
]
MORE_CASES = [
    {},
    {"threshold": 0.5, "shingle": 2},
    {"shingle": "7c"},
    {"method": "identical", "short": "tokens"},
    {"keep": "last"},
    {"keep": "longest"},
    {"keep": "newest:date"},
    {"cluster": "complete", "threshold": 0.6},
    {"recipe": "manku-2007", "short": "keep"},
    {"set": {"max_checks": 3}, "threshold": 0.3},
    {"set": {"verify": "none"}},
]


@pytest.mark.parametrize("arguments", CASES + (MORE_CASES if NIGHTLY else []), ids=str)
def test_arguments_mean_what_they_mean_on_one_machine(spark, records, arguments):
    assert len(check(spark, records, **arguments).removed) > 20


def test_the_order_may_be_of_several_columns_and_ids_of_any_type(spark):
    rows = [("b", 1, 1.5, "one two three four"), ("a", 2, 2.5, "one two three four"), ("a", 1, 3.5, "five six"),
            ("b", 0, 4.5, None), ("c", 0, None, "One two; three four")]  # fmt: skip
    df = spark.createDataFrame(rows, "`the site` string, n int, id double, text string")
    survivors, manifest = dedup(df, id="id", order_by=["the site", "n"], partitions=2)
    assert survivors.columns == df.columns
    assert sorted(row.text or "" for row in survivors.collect()) == ["", "five six", "one two three four"]
    rows = sorted((row["the site"], row.id, row.kept_id, row.via_id, row.kept_n) for row in manifest.collect())
    assert rows == [("b", 1.5, 2.5, 2.5, 2), ("c", None, 2.5, 2.5, 2)]
    assert manifest.schema["kept_id"].dataType == df.schema["id"].dataType


@pytest.mark.parametrize("nulls, left", [("keep", 3), ("drop", 2), ("raise", 0)])
def test_rows_without_a_text(spark, nulls, left):
    df = spark.createDataFrame([(1, "a b c d"), (2, None), (3, None), (4, "A b c d")][:4], "n int, text string")
    if nulls == "raise":
        with pytest.raises(Exception, match="the text is null"):
            dedup(df, order_by="n", nulls=nulls)
        return
    df = df.where("n <> 3").union(spark.createDataFrame([(5, "e f")], "n int, text string"))
    assert dedup(df, order_by="n", nulls=nulls).survivors.count() == left


def test_nothing_to_remove(spark):
    df = spark.createDataFrame([(1, "a b c d"), (2, "e f g h")], "n int, text string")
    survivors, manifest = dedup(df, order_by="n")
    assert (survivors.count(), manifest.count()) == (2, 0)
    assert dedup(df.where("n > 5"), order_by="n").survivors.count() == 0


PAIRS = ("jaccard", "shared", "union", "a", "b", "distance", "is_equal")


@pytest.mark.parametrize("arguments", [{"threshold": 0.6, "within": "site"}] + ([{}] if NIGHTLY else []), ids=str)
def test_pairs_are_those_of_one_machine(spark, records, arguments):
    expected = [tuple(row[name] for name in ("row_a", "row_b", *PAIRS)) for row in neardup.pairs(records, **arguments)]
    found = pairs(frame(spark, records), order_by="n", **arguments).select("n_a", "n_b", *PAIRS).collect()
    assert sorted(map(tuple, found)) == sorted(expected)
    assert len(expected) > 50


# ---- What is refused ----


def test_what_is_refused(spark):
    df = spark.createDataFrame([(1, "a b c", {"k": "v"})], "n int, text string, tags map<string, string>")
    for arguments, message in (
        ({"text": "body"}, "no column 'body'; there are"),
        ({"text": "n"}, "column 'n' holds int, not text"),
        ({"order_by": "m"}, "no column 'm'"),
        ({"order_by": []}, "order_by"),
        ({"order_by": "tags"}, "order_by: column 'tags' holds map"),
        ({"within": "site"}, "no column 'site'"),
        ({"keep": "newest:date"}, "no column 'date'"),
        ({"nulls": "no"}, "nulls"),
        ({"threshold": 2}, "threshold"),
        ({"partitions": 0}, "partitions"),
    ):
        with pytest.raises(neardup.InvalidError, match=message):
            dedup(df, **{"order_by": "n", **arguments})
    with pytest.raises(neardup.UnsupportedError, match="^recipe broder-1997 does not run on Spark: match: "):
        dedup(df, order_by="n", recipe="broder-1997")
    with pytest.raises(neardup.UnsupportedError, match="^recipe seshasai-2009 does not run on Spark: .* df table"):
        dedup(df, order_by="n", recipe="seshasai-2009")
    with pytest.raises(neardup.UnsupportedError, match="^this recipe does not run on Spark: verify: "):
        dedup(df, order_by="n", set={"verify": "containment"})


def test_an_order_with_ties_or_nulls_is_refused(spark):
    df = spark.createDataFrame([(1, "a b c d"), (1, "A b c d"), (2, "e f g")], "n int, text string")
    with pytest.raises(Exception, match="several rows have n = 1"):
        dedup(df, order_by="n").manifest.collect()
    df = spark.createDataFrame([(1, "a b c d"), (None, "A b c d")], "n int, text string")
    with pytest.raises(Exception, match="order is null"):
        dedup(df, order_by="n")


# ---- Corpora ----

CORPORA = ["reuters21578", "ota-small", "spamassassin", "enron-spam"]


@pytest.mark.parametrize(
    "name, partitions",
    [(name, n) for name in CORPORA for n in (1, 2, 7, 64)] if NIGHTLY else [("reuters21578", 7)],
)
def test_corpora(spark, tmp_path, name, partitions):
    pyarrow = pytest.importorskip("pyarrow")
    path = DATA / name / "docs.jsonl.zst"
    if not path.exists():
        pytest.skip(f"there is no corpus {name}: NEARDUP_DATA names the folder of the corpora")
    with pyarrow.input_stream(str(path), compression="zstd") as stream:
        rows = [{"text": json.loads(line)["text"]} for line in stream.read().split(b"\n") if line]
    result = check(spark, rows, df=frame(spark, rows, partitions, tmp_path / "rows.parquet"))
    assert len(result.removed) > 300


# ---- Hard sets of documents ----


def equal(n):
    return ["all of these documents say the same and nothing else"] * n


def near_copies(n):
    """Copies of a text, in each of which one word is another."""
    chance = random.Random(2)
    words = [f"near{i}" for i in range(60)]
    texts = []
    for i in range(n):
        copy = list(words)
        copy[chance.randrange(60)] = f"edit{i}"
        texts.append(" ".join(copy))
    return texts


def drift_chain(n):
    """Each document resembles the one before, and the last has nothing in common with the first."""
    return [" ".join(f"drift{k}" for k in range(i, i + 40)) for i in range(n)]


def template_family(n):
    """Pages of one template: every one is a candidate of all others, and few match."""
    chance = random.Random(3)
    template = " ".join(f"page{i}" for i in range(40))
    return [template + " " + " ".join(f"own{chance.randrange(n * 5)}" for _ in range(6)) for i in range(n)]


def test_hard_sets_together(spark):
    texts = equal(3000) + near_copies(3000) + drift_chain(2000) + template_family(1500)
    rows = [{"text": text} for text in texts]
    random.Random(4).shuffle(rows)
    result = check(spark, rows, set={"max_checks": 30})
    assert result.summary["cut_documents"] > 500
    assert len(result.removed) > 6000


@pytest.mark.skipif(not NIGHTLY, reason="takes minutes: NEARDUP_NIGHTLY is not set")
@pytest.mark.parametrize(
    "texts, arguments",
    [
        (lambda: equal(100_000), {}),
        (lambda: near_copies(100_000), {}),
        (lambda: drift_chain(20_000), {"cluster": "components"}),
        (lambda: template_family(10_000), {}),
    ],
    ids=["equal", "near", "chain", "family"],
)
def test_large_hard_sets(spark, texts, arguments):
    check(spark, [{"text": text} for text in texts()], 4, **arguments)


def test_one_bucket(spark):
    """One key that all documents but a few have, though hardly any two match."""
    n = 1_100_000 if NIGHTLY else 20_000
    template = " ".join(f"page{i}" for i in range(20))
    rows = [{"text": f"{template} own{i} {i % 977}"} for i in range(n)]
    settings = {"bands": 1, "rows": 1, "max_checks": 20}
    assert check(spark, rows, 4, threshold=0.95, set=settings).summary["cut_documents"] > 0.5 * n


# ---- Components ----


def graph(spark, pairs, partitions):
    import array

    from neardup.spark._candidates import BLOBS, EDGES

    blobs = [bytearray(array.array("q", [node for pair in pairs[i::9] for node in pair])) for i in range(9)]
    return spark.createDataFrame([(EDGES, 0, blob) for blob in blobs], BLOBS).repartition(partitions)


@pytest.mark.parametrize("parts", [1, 5] if NIGHTLY else [3])
def test_components_are_found_by_rounds(spark, parts):
    """A chain, whose rounds are the most that a graph of its size takes, and a star."""
    from neardup.spark._components import components

    n = 40_000 if NIGHTLY else 4_000
    chance = random.Random(parts)
    nodes = [chance.randrange(-(2**63), 2**63) for _ in range(n)]
    pairs = list(zip(nodes[: n // 2], nodes[1 : n // 2])) + [(nodes[n // 2], node) for node in nodes[n // 2 + 1 :]]
    chance.shuffle(pairs)
    labels, rounds = components(graph(spark, pairs, parts), parts, one_task=0)
    found = {row.node: row.component for row in labels.collect()}
    # Numbers count as unsigned ones.
    least = [min(some, key=lambda node: node % 2**64) for some in (nodes[: n // 2], nodes[n // 2 :])]
    assert found == {node: least[i >= n // 2] for i, node in enumerate(nodes)}
    assert rounds <= 12


def test_many_tasks_link_what_one_does(spark, records, monkeypatch):
    """Records that are too many for one task, known before or found out, and forests merged by a tree."""
    from neardup.spark import _components, _dedup

    monkeypatch.setattr(_dedup, "ONE_TASK_BYTES", 1000)
    monkeypatch.setattr(_dedup, "COLLECTED", 0)
    monkeypatch.setattr(_components, "BRANCHES", 2)
    for small in (0, 1 << 30):
        monkeypatch.setattr(_dedup, "SMALL_BYTES", small)
        assert len(check(spark, records).removed) > 20


# ---- Lost executors ----


def executors(spark):
    """The processes of the executors: the parents of those that serve their Python workers."""

    def parent(_):
        import os
        from pathlib import Path

        daemon = os.getppid()
        return int(Path(f"/proc/{daemon}/stat").read_text().rpartition(")")[2].split()[1])

    return set(spark.sparkContext.parallelize(range(8), 8).map(parent).collect())


@pytest.mark.cluster
def test_executors_that_are_lost_change_nothing(spark, records):
    texts = equal(2000) + near_copies(2000) + [record["text"] for record in records]
    rows = [{"text": text} for text in texts]
    df = frame(spark, rows, 4)
    expected = of_one_machine(neardup.dedup(rows))
    first = executors(spark)
    assert first and os.getpid() not in first
    tracker = spark.sparkContext.statusTracker()
    killed = []

    def kill_in_the_middle():
        before = set(tracker.getJobIdsForGroup(None))
        while not killed:
            jobs = set(tracker.getJobIdsForGroup(None)) - before
            # The second job of a deduplication starts from what the executors hold.
            if len(jobs) >= 2:
                os.kill(min(first), signal.SIGKILL)
                killed.append(min(first))
            time.sleep(0.05)

    killer = threading.Thread(target=kill_in_the_middle)
    killer.start()
    result = dedup(df, order_by="n")
    killer.join(60)
    assert killed
    # Rows that were held of the components are lost, too.
    second = executors(spark) - {killed[0]}
    os.kill(min(second), signal.SIGKILL)
    assert of_spark(result) == expected
    assert executors(spark) - first
    result.unpersist()


def test_partitions_follow_from_the_bytes_of_the_input(spark, tmp_path, monkeypatch):
    from neardup.spark import _dedup

    least = 2 * spark.sparkContext.defaultParallelism
    df = spark.range(10_000).selectExpr("id as n", "concat('text ', sha2(string(id), 256)) as text")
    df.write.parquet(str(tmp_path / "in"))
    stored = spark.read.parquet(str(tmp_path / "in"))
    size = sum(file.stat().st_size for file in (tmp_path / "in").glob("*.parquet"))
    spark.conf.set("spark.sql.shuffle.partitions", "123")
    try:
        assert _dedup._partitions_of(stored, _dedup._bytes_of(stored)) == least
        monkeypatch.setattr(_dedup, "PARTITION_BYTES", size // (4 * least))
        assert 4 * least <= _dedup._partitions_of(stored, _dedup._bytes_of(stored)) <= 6 * least
        rows = spark.sparkContext.parallelize([(1, "a")], 3 * least).toDF("n int, text string")
        assert least <= _dedup._partitions_of(rows, _dedup._bytes_of(rows)) <= 3 * least
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", "4")
