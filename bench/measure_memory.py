"""Ten million documents within the memory that is promised, or that --memory bounds."""

import hashlib
import json
import os
import subprocess
import sys

import places
import timed

RESULTS = "memory.jsonl"
MB = 1e6
# Address space that is reserved but not memory in use, so not in the promise, though ulimit -v
# counts it: a thread's stack (8 MiB) and its malloc arena (64 MiB), the mapped libraries and
# the program.
RESERVED_A_THREAD = (8 + 64) * 2**20
RESERVED = 128 * 2**20
# So much is reserved if --memory bounds the rest (docs/decisions/bounded-memory.md).
RESERVED_BOUNDED = 80 * 2**20
UNITS = {"M": 2**20, "G": 2**30}


def options(parser):
    parser.add_argument("--documents", type=int, default=10_000_000, help="default: %(default)s")
    parser.add_argument("--threads", type=int, default=2, help="default: %(default)s")
    parser.add_argument("--limit", type=float, default=600, help="seconds")
    parser.add_argument(
        "--memory",
        action="append",
        default=[],
        metavar="SIZE",
        help="also with --memory SIZE, such as 256M; may be repeated",
    )
    parser.add_argument(
        "--keep", action="store_true", help="do not delete the documents (140 MB a million)"
    )


def generate(count):
    path = os.path.join(places.BUILD, "data", f"generated-{count}.jsonl")
    facts = path + ".facts"
    if not os.path.exists(facts):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as out:
            done = subprocess.run(
                places.generator(count), stdout=out, stderr=subprocess.PIPE, check=True
            )
        with open(facts, "wb") as out:
            out.write(done.stderr)
    with open(facts, encoding="utf-8") as f:
        return path, json.load(f)


def delete(path):
    for name in (path, path + ".facts"):
        if os.path.exists(name):
            os.remove(name)


def largest_record(path):
    with open(path, "rb") as lines:
        return max(map(len, lines))


def main(args):
    session = places.new_session("bench/run " + " ".join(sys.argv[1:]))
    try:
        binary = places.neardup(args.neardup)
        path, facts = generate(args.documents)
    except places.Skipped as why:
        places.say(f"skipped: {why}")
        return 77
    broken = False
    outputs = None
    for memory in [None] + args.memory:
        record = measure(args, binary, path, facts, memory)
        outputs = outputs or record["outputs"]
        if record["outputs"] != outputs:
            record["broken"].append("other outputs than without --memory")
        broken = broken or bool(record["broken"])
        places.append(RESULTS, dict(session, **record))
    if not args.keep:
        delete(path)
    import report

    print(report.memory())
    return 1 if broken else 0


def bytes_of(size):
    return int(float(size[:-1]) * UNITS[size[-1]]) if size[-1] in UNITS else int(size)


def digest(names):
    h = hashlib.sha256()
    for name in names:
        if os.path.exists(name):
            with open(name, "rb") as f:
                while piece := f.read(1 << 20):
                    h.update(piece)
    return h.hexdigest()


def measure(args, binary, path, facts, memory):
    out = os.path.join(places.BUILD, "out", "memory")
    os.makedirs(out, exist_ok=True)
    manifest = os.path.join(out, "manifest.jsonl")
    command = [binary, "dedup", path, "-o", os.path.join(out, "survivors.jsonl")]
    command += ["--manifest", manifest, "--threads", str(args.threads), "--quiet"]
    summary = os.path.join(out, "summary.json")
    command += ["--summary", summary]
    promised = 256 * MB + 400 * args.documents + 12 * largest_record(path) * args.threads
    limit = int(promised + RESERVED + RESERVED_A_THREAD * args.threads)
    if memory:
        command += ["--memory", memory, "--tmp", out]
        promised = bytes_of(memory) + RESERVED_BOUNDED
        limit = promised + RESERVED_A_THREAD * args.threads
    places.warm(path)
    cpus = sorted(os.sched_getaffinity(0))
    result = timed.run(command, cpus, os.path.join(out, "log.txt"), args.limit, limit)
    removed = count_rows(manifest) if result["exit"] == 0 else 0
    outputs = digest([os.path.join(out, "survivors.jsonl"), manifest])
    done = {"spilled_bytes": 0, "loads": 0}
    if result["exit"] == 0:
        with open(summary, encoding="utf-8") as f:
            done = json.load(f)
    for name in os.listdir(out):
        os.remove(os.path.join(out, name))
    wanted = facts["exact"] + facts["near"]
    return {
        "memory": memory or "",
        "spilled_mb": done["spilled_bytes"] / MB,
        "loads": done["loads"],
        "outputs": outputs,
        "documents": args.documents,
        "threads": args.threads,
        "file_mb": os.path.getsize(path) / MB,
        "seconds": result["seconds"],
        "cpu_s": result["cpu_s"],
        "peak_mb": result["peak_mb"],
        "promised_mb": promised / MB,
        "ulimit_v_mb": limit / MB,
        "bytes_a_document": max(0, result["peak_mb"] * MB - 256 * MB) / args.documents,
        "removed": removed,
        "to_be_removed": wanted,
        "broken": bounds(result, promised / MB, removed, wanted),
    }


def bounds(result, promised_mb, removed, wanted):
    if result["exit"]:
        why = result.get("error", "stopped at its limit")
        return [f"neardup ended with status {result['exit']}: {why}"]
    broken = []
    if result["peak_mb"] > promised_mb:
        broken.append(f"peak {result['peak_mb']:.0f} MB is above {promised_mb:.0f} MB")
    if not 0.995 * wanted <= removed <= wanted:
        broken.append(f"{removed} removed, {wanted} are to be")
    return broken


def count_rows(path):
    with open(path, "rb") as lines:
        return sum(b'"removed":' in line for line in lines)
