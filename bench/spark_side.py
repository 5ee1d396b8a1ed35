"""One job on Spark, measured: one process and one session of local threads; prints a line of JSON.

    spark_side.py TOOL --input DOCS.parquet --out FOLDER [--cores 2] [--partitions N] [--cold]

The session starts, and the job runs once on a few documents, before the clock starts; with --cold
it does not, so that the first run is the session's first.  Processor seconds are those of all
processes: Java's, the driver's and Python's on the executor's side.  The event log tells how many
jobs, stages and tasks a run had, and how many bytes Java sent to Python.
"""

import argparse
import itertools
import json
import os
import re
import shutil
import sys
import tempfile
import time


def events(folder):
    """The folder of the event log, which is made."""
    path = os.path.join(folder, "events")
    os.makedirs(path, exist_ok=True)
    return path


def told_by_events(folder, starts):
    """Jobs, stages, tasks and bytes to Python of each run, by the times when runs began."""
    runs = [{"jobs": 0, "stages": 0, "tasks": 0, "to_python": 0} for _ in starts]

    def run_at(time_ms):
        number = sum(time_ms >= start * 1000 for start in starts) - 1
        return runs[number] if number >= 0 else {key: 0 for key in runs[0]}

    (name,) = os.listdir(events(folder))
    with open(os.path.join(events(folder), name), encoding="utf-8") as log:
        for event in map(json.loads, log):
            if event["Event"] == "SparkListenerJobStart":
                run_at(event["Submission Time"])["jobs"] += 1
            elif event["Event"] == "SparkListenerStageCompleted":
                info = event["Stage Info"]
                run = run_at(info["Submission Time"])
                run["stages"] += 1
                run["tasks"] += info["Number of Tasks"]
                run["to_python"] += sum(
                    int(counted["Value"])
                    for counted in info["Accumulables"]
                    if counted["Name"] == "data sent to Python workers"
                )
    return {key: [run[key] for run in runs] for key in runs[0]}


def session(cores, folder, tool):
    """A session on the loopback interface."""
    from pyspark.sql import SparkSession

    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    builder = SparkSession.builder.master(f"local[{cores}]").appName("neardup-bench")
    for key, value in {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "4g",
        "spark.io.compression.codec": "zstd",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": "file://" + events(folder),
        "spark.eventLog.rolling.enabled": "false",
        "spark.local.dir": os.path.join(folder, "local"),
        "spark.sql.warehouse.dir": os.path.join(folder, "warehouse"),
        "spark.ui.enabled": "false",
    }.items():
        builder = builder.config(key, value)
    if tool == "curator":
        from distributed_curator import get_jar_path

        builder = builder.config("spark.jars", get_jar_path())
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def end(spark):
    """Stop the session and the process of Java."""
    gateway = spark.sparkContext._gateway
    spark.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()


def tree():
    """This process and all below it."""
    parent = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
                parent[int(pid)] = int(f.read().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = {os.getpid()}
    while more := {p for p, above in parent.items() if above in found} - found:
        found |= more
    return found


def processor_seconds():
    """The processor seconds of all processes of the job, those that have ended included."""
    ticks = 0
    for pid in tree():
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
                ticks += sum(map(int, f.read().rpartition(")")[2].split()[11:15]))
        except OSError:
            continue
    return ticks / os.sysconf("SC_CLK_TCK")


def shuffled(spark):
    """The bytes that shuffles have written in this session."""
    executors = spark.sparkContext._jsc.sc().statusStore().executorList(False)
    return sum(executors.apply(i).totalShuffleWrite() for i in range(executors.size()))


def nowhere(df):
    """Compute all of a frame, and write it nowhere."""
    df.write.format("noop").mode("overwrite").save()


# ---- The jobs: each takes a session, a frame, a folder and the options, and gives what it found ----


def run_read(spark, df, out, args):
    """The price that every job pays: the texts reach Python, and nothing is done."""
    nowhere(
        df.select("text").mapInArrow(
            lambda batches: (b.slice(0, 0) for b in batches), "text string"
        )
    )
    return {}


def run_sketch(spark, df, out, args):
    """Sketches of all documents."""
    from neardup.spark import sketch

    nowhere(sketch(df.select("id", "text"), "text", "id"))
    return {}


def run_neardup(spark, df, out, args):
    """neardup.spark.dedup: survivors and manifest."""
    from neardup.spark import dedup

    result = dedup(df, "text", "id", order_by="n", partitions=args.partitions)
    result.survivors.write.mode("overwrite").parquet(os.path.join(out, "survivors"))
    result.manifest.write.mode("overwrite").parquet(os.path.join(out, "manifest"))
    result.unpersist()
    return {}


def run_neardup_files(spark, df, out, args):
    """neardup.spark.dedup_files: survivors and manifest."""
    from neardup.spark import dedup_files

    kept = os.path.join(out, "kept")
    shutil.rmtree(kept, ignore_errors=True)
    result = dedup_files(spark, args.lines, kept, id="id", partitions=args.partitions)
    result.manifest.write.mode("overwrite").parquet(os.path.join(out, "manifest"))
    result.manifest.unpersist()
    return {"documents": result.documents, "kept": result.kept}


def clusters_of_neardup(spark, df, out):
    """The kept document of each removed one."""
    manifest = spark.read.parquet(os.path.join(out, "manifest"))
    return dict(tuple(row) for row in manifest.select("id", "kept_id").collect())


def write_without(spark, df, out, first):
    """The survivors, without the documents that have an earlier one in their component."""
    removed = spark.createDataFrame([(n,) for n in sorted(first)] or [(-1,)], "n bigint")
    df.join(removed, "n", "left_anti").write.mode("overwrite").parquet(
        os.path.join(out, "survivors")
    )
    with open(os.path.join(out, "first.json"), "w", encoding="ascii") as f:
        json.dump(first, f)


def clusters_of_rival(spark, df, out):
    """The first document of the component of each removed one."""
    with open(os.path.join(out, "first.json"), encoding="ascii") as f:
        first = {int(a): b for a, b in json.load(f).items()}
    name = dict(tuple(row) for row in df.select("n", "id").collect())
    return {name[a]: name[b] for a, b in first.items()}


def joined(pairs):
    """The first number of the component of every other one in it."""
    above = {}

    def root(a):
        while (b := above.get(a, a)) != a:
            above[a] = a = above.get(b, b)
        return a

    for a, b in pairs:
        a, b = sorted((root(a), root(b)))
        above[b] = a
    return {a: root(a) for a in above if root(a) != a}


def run_mllib(spark, df, out, args):
    """MLlib's MinHashLSH as its guide shows it, and a join of the set with itself."""
    from pyspark.ml import Pipeline
    from pyspark.ml.feature import HashingTF, MinHashLSH, NGram, RegexTokenizer
    from pyspark.sql import functions as F

    stages = [
        RegexTokenizer(inputCol="text", outputCol="w", pattern=r"(?U)\w+", gaps=False),
        NGram(n=3, inputCol="w", outputCol="g"),
        HashingTF(inputCol="g", outputCol="v", numFeatures=1 << 24, binary=True),
    ]
    vectors = Pipeline(stages=stages).fit(df).transform(df).where(F.size("g") > 0).select("n", "v")
    model = MinHashLSH(inputCol="v", outputCol="h", numHashTables=5, seed=42).fit(vectors)
    hashed = model.transform(vectors).cache()
    rows = model.approxSimilarityJoin(hashed, hashed, 0.2 + 1e-9, "d").where(
        "datasetA.n < datasetB.n"
    )
    pairs = [tuple(row) for row in rows.select("datasetA.n", "datasetB.n").collect()]
    write_without(spark, df, out, joined(pairs))
    hashed.unpersist()
    return {"pairs": len(pairs)}


def run_text_dedup(spark, df, out, args):
    """The job of text-dedup: its functions in the order of its main program.

    Its GraphFrames, a package of Java, gives way to a union in the driver, and its thousands of
    partitions to those of the session: both are faster here.
    """
    import types

    sys.modules.setdefault("graphframes", types.SimpleNamespace(GraphFrame=None))
    from text_dedup import minhash_spark as theirs

    n_permutations = 250
    bands, width = theirs.optimal_param(0.8, n_permutations)
    ranges = [(i * width, (i + 1) * width) for i in range(bands)]
    permutations = (
        theirs.RNG.randint(1, theirs.MOD_PRIME, size=(n_permutations,), dtype=theirs.DTYPE),
        theirs.RNG.randint(0, theirs.MOD_PRIME, size=(n_permutations,), dtype=theirs.DTYPE),
    )

    def keys(row):
        sys.modules.setdefault("graphframes", types.SimpleNamespace(GraphFrame=None))
        from text_dedup.minhash_spark import generate_hash_values

        return generate_hash_values(row[1], row[0], n_permutations, 3, 1, ranges, permutations)

    def edges(group):
        from text_dedup.minhash_spark import generate_edges

        return generate_edges([entry[2] for entry in group[1]])

    rows = df.select("n", "text").rdd.flatMap(keys).groupBy(lambda entry: (entry[0], entry[1]))
    pairs = rows.flatMap(edges).distinct().collect()
    write_without(spark, df, out, joined(pairs))
    return {"pairs": len(pairs)}


def run_curator(spark, df, out, args):
    """distributed-curator with its own settings, and four partitions for each core.

    Its default of 1,000 partitions is made for a cluster: fewer are faster here.  Its numbers of
    documents are strings, of one length so that they have the order of numbers.
    """
    from distributed_curator import partition_aware_deduplicate
    from pyspark.sql import functions as F

    parts = 4 * args.cores
    spark.conf.set("spark.sql.shuffle.partitions", parts)
    documents = df.select(F.format_string("%012d", "n").alias("doc_id"), "text")
    marked = partition_aware_deduplicate(
        spark, documents, num_partitions=parts, is_input_doc_id_unique=True
    )
    rows = marked.where("is_duplicate").select("doc_id", "representative_id").collect()
    write_without(spark, df, out, joined((int(a), int(b)) for a, b in rows))
    marked.unpersist()
    return {}


CLUSTERS = {
    "curator": clusters_of_rival,
    "neardup": clusters_of_neardup,
    "neardup-files": clusters_of_neardup,
    "mllib": clusters_of_rival,
    "text-dedup": clusters_of_rival,
}


def write_scored(out, ids, kept_of):
    """Write what score.py reads: the cluster of each document, and the removed ones."""
    with open(os.path.join(out, "clusters.tsv"), "w", encoding="utf-8") as f:
        f.writelines(f"{name}\t{kept_of.get(name, name)}\n" for name in ids)
    with open(os.path.join(out, "removed.txt"), "w", encoding="utf-8") as f:
        f.writelines(f"{name}\n" for name in kept_of)


# ---- Fingerprints ----


def fingerprints(spark, out, count):
    """Rows of fingerprints, stored."""
    path = os.path.join(out, f"fingerprints-{count}")
    if not os.path.exists(path):
        spark.range(0, count, 1, 8).selectExpr("id", "xxhash64(id) as simhash").write.parquet(path)
    return spark.read.parquet(path)


def asked(spark, count):
    """Queries, of which half are near a fingerprint."""
    return spark.range(0, count).selectExpr(
        "id", "case when id % 2 = 0 then xxhash64(id * 7) ^ 5 else xxhash64(-1 - id) end as simhash"
    )


def run_join_rows(spark, df, out, args):
    """Fingerprints as rows."""
    from neardup.spark import join_fingerprints

    found = join_fingerprints(
        fingerprints(spark, out, args.count), asked(spark, args.queries), 3
    ).count()
    return {"matches": found}


def run_pack(spark, df, out, args):
    """Packing them."""
    from neardup.spark import pack_fingerprints

    blocks = pack_fingerprints(fingerprints(spark, out, args.count))
    blocks.write.mode("overwrite").option("compression", "none").parquet(
        os.path.join(out, f"blocks-{args.count}")
    )
    return {}


def run_join_blocks(spark, df, out, args):
    """Fingerprints as packed blocks."""
    from neardup.spark import join_fingerprints

    blocks = os.path.join(out, f"blocks-{args.count}")
    if not os.path.exists(blocks):
        run_pack(spark, df, out, args)
    found = join_fingerprints(spark.read.parquet(blocks), asked(spark, args.queries), 3).count()
    return {"matches": found}


def run_join_c(spark, df, out, args):
    """Fingerprints in this process, without Spark."""
    import neardup
    import numpy

    table = fingerprints(spark, out, args.count).select("simhash").toArrow()
    values = table["simhash"].combine_chunks().to_numpy(zero_copy_only=False).view(numpy.uint64)
    queries = (
        asked(spark, args.queries)
        .toArrow()["simhash"]
        .combine_chunks()
        .to_numpy()
        .view(numpy.uint64)
    )
    start, before = time.monotonic(), time.process_time()
    batch = neardup.HammingBatch(queries)
    made = time.process_time()
    found = sum(len(batch.feed(values[i : i + 524288])) for i in range(0, len(values), 524288))
    return {
        "matches": found,
        "own_seconds": time.monotonic() - start,
        "own_cpu_s": time.process_time() - made,
        "batch_cpu_s": made - before,
    }


TOOLS = {
    name[4:].replace("_", "-"): tool for name, tool in globals().items() if re.match("run_", name)
}


def few_lines(args, folder):
    """A file of the first of the lines; None: there are none."""
    if not args.lines:
        return None
    path = os.path.join(folder, "few.jsonl")
    with open(args.lines, "rb") as whole, open(path, "wb") as few:
        few.writelines(itertools.islice(whole, 200))
    return path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool", choices=sorted(TOOLS))
    parser.add_argument("--input")
    parser.add_argument("--lines", help="the same documents as JSON Lines")
    parser.add_argument("--out", required=True)
    parser.add_argument("--partitions", type=int)
    parser.add_argument("--many", action="store_true", help="let no single task link all documents")
    parser.add_argument(
        "--cold", action="store_true", help="do not run it on a few documents first"
    )
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument(
        "--runs", type=int, default=3, help="in one session; the first is the slowest"
    )
    parser.add_argument("--count", type=int, default=10_000_000)
    parser.add_argument("--queries", type=int, default=100_000)
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    folder = tempfile.mkdtemp(dir=args.out)
    spark = session(args.cores, folder, args.tool)
    try:
        run = TOOLS[args.tool]
        if args.many:
            import neardup.spark._dedup

            neardup.spark._dedup.ONE_TASK_BYTES = 0
        df = spark.read.parquet(args.input) if args.input else None
        if not args.cold:
            few = argparse.Namespace(
                **{**vars(args), "count": 1000, "lines": few_lines(args, folder)}
            )
            run(spark, df.limit(200) if df is not None else None, folder, few)
        starts = []
        record = {"seconds": [], "cpu_s": [], "shuffled": []}
        for _ in range(args.runs):
            written = shuffled(spark)
            start, before = time.monotonic(), processor_seconds()
            starts.append(time.time())
            record |= run(spark, df, args.out, args)
            record["seconds"].append(round(time.monotonic() - start, 3))
            record["cpu_s"].append(round(processor_seconds() - before, 3))
            record["shuffled"].append(shuffled(spark) - written)
        if args.tool in CLUSTERS:
            ids = [row.id for row in df.select("id").collect()]
            write_scored(args.out, ids, CLUSTERS[args.tool](spark, df, args.out))
    finally:
        end(spark)
        if sys.exc_info()[0] is None:
            record |= told_by_events(folder, starts)
        shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps(record))


if __name__ == "__main__":
    main()
