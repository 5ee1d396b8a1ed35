"""Spark and Ray on the cores of this machine: neardup beside its rivals, and what the cost model needs."""

import functools
import json
import os
import shutil
import subprocess
import sys

import places

RESULTS = "spark.jsonl"
JOBS = ["read", "sketch", "neardup", "neardup-files", "ray", "ray-parts"]
JOBS += ["mllib", "text-dedup", "curator"]
JOINS = ["join-rows", "join-blocks", "join-c"]
SETS = ["reuters21578", "ota-small"]
# On the long texts they take hours, or more memory than there is.
SHORT_ONLY = {"mllib", "text-dedup", "curator"}
# The other jobs need the first environment: the list of its packages, its folder, those that have no
# sources to build, and whether neardup is installed there.
SPARK = ("requirements-spark.txt", "spark-venv", "numpy,pandas,pyarrow,scipy", True)
RAY = ("requirements-ray.txt", "ray-venv", ":all:", True)
ENVIRONMENTS = {
    "curator": ("requirements-curator.txt", "curator-venv", "numpy,pandas,pyarrow", False),
    "ray": RAY,
    "ray-parts": RAY,
}


def options(parser):
    parser.add_argument("--sets", default=",".join(SETS), help="default: %(default)s")
    parser.add_argument("--jobs", default=",".join(JOBS + JOINS), help="default: %(default)s")
    parser.add_argument("--runs", type=int, default=3, help="in one session, default: %(default)s")
    parser.add_argument("--cores", type=int, default=2, help="default: %(default)s")
    parser.add_argument("--partitions", type=int, help="default: as neardup.spark chooses them")
    parser.add_argument(
        "--cold", action="store_true", help="let no job on Spark run on a few documents first"
    )
    parser.add_argument("--limit", type=float, default=900, help="seconds for one job")


@functools.cache
def wheel():
    """The package of this tree, built once for all environments."""
    folder = os.path.join(places.BUILD, "wheel")
    shutil.rmtree(folder, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--disable-pip-version-check"]
    package = os.path.join(places.ROOT, "python")
    subprocess.run([*pip, "--no-deps", "-w", folder, package], check=True)
    (name,) = os.listdir(folder)
    return os.path.join(folder, name)


@functools.cache
def environment(requirements, folder, only_binary, with_neardup):
    """The Python that has one engine and its rivals, and neardup where it is asked for."""
    python = places.rivals_python(requirements, folder, only_binary)
    if with_neardup:
        pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, "--force-reinstall", "--no-deps", wheel()], check=True)
    return python


def as_parquet(source):
    """The documents of a file of JSON Lines as Parquet, with the place of each."""
    target = os.path.join(
        places.BUILD, "data", os.path.basename(source).removesuffix(".jsonl") + ".parquet"
    )
    if not os.path.exists(target) or os.path.getmtime(target) < os.path.getmtime(source):
        code = (
            "import json, sys, pyarrow as pa, pyarrow.parquet as pq\n"
            "rows = [json.loads(line) for line in open(sys.argv[1], encoding='utf-8')]\n"
            "table = pa.table({'n': list(range(len(rows))), 'id': [str(row['id']) for row in rows],"
            " 'text': [row['text'] for row in rows]})\n"
            "pq.write_table(table, sys.argv[2], row_group_size=2000, compression='zstd')\n"
        )
        subprocess.run([environment(*SPARK), "-c", code, source, target], check=True)
    return target


def run_job(job, source, target, runs, args, *more):
    """One job in its own process: what it says, or how it failed; and the folder of what it made."""
    out = os.path.join(places.BUILD, "spark", job)
    try:
        python = environment(*ENVIRONMENTS.get(job, SPARK))
    except places.Skipped as why:
        return {"failed": str(why)}, out
    common = ["--out", out, "--cores", str(args.cores), "--runs", str(runs)]
    if job in ("ray", "ray-parts"):
        parts = 2 * args.cores if job == "ray-parts" else 0
        program = ["ray_side.py", "--input", target, "--parts", str(parts)]
    else:
        program = ["spark_side.py", job]
        program += ["--partitions", str(args.partitions)] if args.partitions else []
        program += ["--cold"] if args.cold else []
        program += ["--input", target, "--lines", source] if target else []
    command = [python, "-P", os.path.join(places.BENCH, program[0]), *program[1:], *common, *more]
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


def measure_set(binary, name, jobs, args, session):
    source = places.corpus(name)
    target = as_parquet(source)
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
        record, out = run_job(job, source, target, runs, args)
        if os.path.exists(os.path.join(out, "clusters.tsv")) and "failed" not in record:
            record["score"] = score(name, source, out)
        places.append(RESULTS, dict(common, job=job, **record))
        places.say(f"{name} {job}: {record.get('failed') or record['cpu_s']}")


def main(args):
    session = places.new_session("bench/run " + " ".join(sys.argv[1:]))
    jobs = args.jobs.split(",")
    try:
        binary = places.neardup(args.neardup)
        environment(*SPARK)
    except (places.Skipped, subprocess.CalledProcessError) as why:
        places.say(f"skipped: {why}")
        return 77
    for name in args.sets.split(","):
        try:
            measure_set(binary, name, jobs, args, session)
        except places.Skipped as why:
            places.say(f"skipped: {why}")
    for job in JOINS:
        if job in jobs:
            record, _ = run_job(job, None, None, args.runs, args)
            places.append(RESULTS, dict(session, set="10 million fingerprints", job=job, **record))
            places.say(f"{job}: {record.get('failed') or record['cpu_s']}")
    import report

    print(report.spark())
    return 0
