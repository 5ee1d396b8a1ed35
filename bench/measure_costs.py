"""Jobs on Spark at three sizes, beside what neardup plan --spark predicts."""

import json
import os
import subprocess
import sys

import measure_spark
import places

RESULTS = "costs.jsonl"
# Least and most words of a document, and how many documents the smallest size has.
KINDS = {"short": (100, 200, 50_000), "long": (2000, 4000, 4_000)}


def options(parser):
    parser.add_argument("--kinds", default=",".join(KINDS), help="default: %(default)s")
    parser.add_argument("--sizes", default="1,2,4", help="times the smallest, default: %(default)s")
    parser.add_argument("--jobs", default="neardup,neardup-files", help="default: %(default)s")
    parser.add_argument("--runs", type=int, default=2, help="in one session, default: %(default)s")
    parser.add_argument("--cores", type=int, default=2, help="default: %(default)s")
    parser.add_argument("--limit", type=float, default=900, help="seconds for one job")
    parser.set_defaults(partitions=None, cold=False)


def generated(kind, times):
    """Documents of one kind: the same ones every time."""
    least, most, documents = KINDS[kind]
    path = os.path.join(places.BUILD, "data", f"generated-{kind}-{times}.jsonl")
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        command = places.generator(documents * times, least, most)
        with open(path, "wb") as out:
            subprocess.run(command, stdout=out, stderr=subprocess.DEVNULL, check=True)
    return path


def predicted(binary, path, documents, cores):
    """The plan of a whole file for a job of many tasks: bytes shuffled, and processor seconds.

    It is the plan of a thousand times as many documents, of which each has its part of all stages
    but the session's.  One merge makes the components of so few.
    """
    times = 1000
    out = os.path.join(places.BUILD, "spark-plan.json")
    job = f"executors=1,cores={cores},rounds=1,documents={documents * times}"
    command = [binary, "plan", "-q", path, "--spark", job, "-o", out]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    with open(out, encoding="utf-8") as f:
        session, *stages = json.load(f)["spark"]["stages"]
    return {
        "shuffled": sum(stage["shuffled_bytes"] for stage in stages) / times,
        "cpu_s": session["processor_seconds"]
        + sum(stage["processor_seconds"] for stage in stages) / times,
    }


def main(args):
    session = places.new_session("bench/run " + " ".join(sys.argv[1:]))
    try:
        binary = places.neardup(args.neardup)
        for kind in args.kinds.split(","):
            for times in map(int, args.sizes.split(",")):
                path = generated(kind, times)
                target = measure_spark.as_parquet(path)
                size, documents = places.warm(path)
                common = dict(session, set=f"{kind} × {times}", documents=documents)
                common |= {"file_mb": size / 1e6, "predicted": predicted(binary, path, documents, args.cores)}
                for job in args.jobs.split(","):
                    found, _ = measure_spark.run_job(job, path, target, args.runs, args, "--many")
                    places.append(RESULTS, dict(common, job=job, **found))
                    places.say(f"{common['set']} {job}: {found.get('failed') or found['cpu_s']}")
    except (places.Skipped, subprocess.CalledProcessError) as why:
        places.say(f"skipped: {why}")
        return 77
    import report

    print(report.costs())
    return 0
