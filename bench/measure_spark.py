"""Spark on the cores of this machine: neardup, MLlib and text-dedup, and what the cost model needs."""

import json
import os
import subprocess
import sys

import places

RESULTS = "spark.jsonl"
JOBS = ["read", "sketch", "neardup", "neardup-files", "mllib", "text-dedup"]
JOINS = ["join-rows", "join-blocks", "join-c"]
SETS = ["reuters21578", "ota-small"]
# On the long texts they take hours, or more memory than there is.
SHORT_ONLY = {"mllib", "text-dedup"}


def options(parser):
    parser.add_argument("--sets", default=",".join(SETS), help="default: %(default)s")
    parser.add_argument("--jobs", default=",".join(JOBS + JOINS), help="default: %(default)s")
    parser.add_argument("--runs", type=int, default=3, help="in one session, default: %(default)s")
    parser.add_argument("--cores", type=int, default=2, help="default: %(default)s")
    parser.add_argument("--limit", type=float, default=900, help="seconds for one job")


def environment():
    """An environment with Spark, the rivals and neardup."""
    python = places.rivals_python(
        "requirements-spark.txt", "spark-venv", "numpy,pandas,pyarrow,scipy"
    )
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "--force-reinstall", "--no-deps", os.path.join(places.ROOT, "python")], check=True
    )
    return python


def as_parquet(python, name):
    """The corpus as Parquet, with the place of each document."""
    source = places.corpus(name)
    target = os.path.join(places.BUILD, "data", name + ".parquet")
    if not os.path.exists(target) or os.path.getmtime(target) < os.path.getmtime(source):
        code = (
            "import json, sys, pyarrow as pa, pyarrow.parquet as pq\n"
            "rows = [json.loads(line) for line in open(sys.argv[1], encoding='utf-8')]\n"
            "table = pa.table({'n': list(range(len(rows))), 'id': [str(row['id']) for row in rows],"
            " 'text': [row['text'] for row in rows]})\n"
            "pq.write_table(table, sys.argv[2], row_group_size=2000, compression='zstd')\n"
        )
        subprocess.run([python, "-c", code, source, target], check=True)
    return source, target


def run_job(python, job, arguments, args):
    """One job in its own process: what it says, or how it failed."""
    out = os.path.join(places.BUILD, "spark", job)
    command = [python, "-P", os.path.join(places.BENCH, "spark_side.py"), job, "--out", out]
    command += ["--cores", str(args.cores), *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=args.limit, check=False
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"stopped after {args.limit:.0f} s"}, out
    if done.returncode:
        return {"failed": done.stderr[-600:]}, out
    return json.loads(done.stdout.splitlines()[-1]), out


def score(name, path, out):
    """Against the words of all tools."""
    command = [sys.executable, os.path.join(places.BENCH, "score.py")]
    command += ["--oracle", places.word_oracle(name), "--input", path]
    command += ["--clusters", os.path.join(out, "clusters.tsv")]
    command += ["--removed", os.path.join(out, "removed.txt")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return {"failed": done.stderr[-300:]} if done.returncode else json.loads(done.stdout)


def command_seconds(binary, arguments, path):
    """Processor seconds of the command on one thread; the best of three."""
    best = None
    for _ in range(3):
        before = os.times()
        subprocess.run(
            [binary, *arguments, path, "--threads", "1"], stdout=subprocess.DEVNULL, check=True
        )
        after = os.times()
        taken = (
            after.children_user
            + after.children_system
            - before.children_user
            - before.children_system
        )
        best = taken if best is None else min(best, taken)
    return round(best, 3)


def measure_set(python, binary, name, jobs, args, session):
    source, target = as_parquet(python, name)
    size, documents = places.warm(source)
    common = dict(session, set=name, documents=documents, file_mb=size / 1e6)
    for job, arguments in (("sketch", ["sketch"]), ("neardup", ["dedup", "--quiet"])):
        if job in jobs:
            seconds = command_seconds(binary, arguments, source)
            places.append(RESULTS, dict(common, job=f"command {job}", cpu_s=[seconds]))
    for job in jobs:
        if job in JOINS or (job in SHORT_ONLY and name != SETS[0]):
            continue
        runs = 1 if job in SHORT_ONLY else args.runs
        inputs = ["--input", target, "--lines", source, "--runs", str(runs)]
        record, out = run_job(python, job, inputs, args)
        if os.path.exists(os.path.join(out, "clusters.tsv")) and "failed" not in record:
            record["score"] = score(name, source, out)
        places.append(RESULTS, dict(common, job=job, **record))
        places.say(f"{name} {job}: {record.get('failed') or record['cpu_s']}")


def main(args):
    session = places.new_session("bench/run " + " ".join(sys.argv[1:]))
    jobs = args.jobs.split(",")
    try:
        binary = places.neardup(args.neardup)
        python = environment()
    except (places.Skipped, subprocess.CalledProcessError) as why:
        places.say(f"skipped: {why}")
        return 77
    for name in args.sets.split(","):
        try:
            measure_set(python, binary, name, jobs, args, session)
        except places.Skipped as why:
            places.say(f"skipped: {why}")
    for job in JOINS:
        if job in jobs:
            record, _ = run_job(python, job, ["--runs", str(args.runs)], args)
            places.append(RESULTS, dict(session, set="10 million fingerprints", job=job, **record))
            places.say(f"{job}: {record.get('failed') or record['cpu_s']}")
    import report

    print(report.spark())
    return 0
