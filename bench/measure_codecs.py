"""dedup from and to compressed files, beside programs that only unpack and pack them."""

import os
import shutil
import subprocess
import sys

import places
import timed

RESULTS = "codecs.jsonl"
SHARDS = 8
PACK = {
    "gz": ["gzip", "-n"],
    "zst": ["zstd", "-q"],
    "xz": ["xz", "-T0"],
    "bz2": ["bzip2"],
    "lz4": ["lz4", "-q"],
}
WAYS = "plain:plain,zst:plain,zst:zst,gz:plain,gz:gz,plain:xz,plain:bz2,plain:lz4"
# Pipelines that people write in a shell; each only unpacks and packs.
BESIDE = {
    "gz:gz": [("gzip", "zcat {} | gzip >{}"), ("pigz -p{n}", "zcat {} | pigz -p{n} >{}")],
    "zst:zst": [("zstd -T{n}", "zstd -dcq {} | zstd -q -T{n} >{}")],
}


def options(parser):
    parser.add_argument("--set", default="ota-small", help="default: %(default)s")
    parser.add_argument("--ways", default=WAYS, help="from:to,…; default: %(default)s")
    parser.add_argument("--threads", default="1,2", help="default: %(default)s")
    parser.add_argument("--runs", type=int, default=3, help="repetitions, default: %(default)s")
    parser.add_argument("--limit", type=float, default=300, help="seconds for one run")


def make_shards(path, kind):
    """The set in eight files of whole lines, packed by the system's program; made once."""
    folder = os.path.join(places.BUILD, "data", os.path.basename(path) + ".shards")
    names = [os.path.join(folder, f"{i}.jsonl") for i in range(SHARDS)]
    if not all(os.path.exists(name) for name in names):
        os.makedirs(folder, exist_ok=True)
        with open(path, "rb") as f:
            lines = f.readlines()
        for i, name in enumerate(names):
            with open(name, "wb") as out:
                out.writelines(lines[i * len(lines) // SHARDS : (i + 1) * len(lines) // SHARDS])
    if kind == "plain":
        return names
    for name in names:
        if not os.path.exists(f"{name}.{kind}"):
            with open(f"{name}.{kind}", "wb") as out:
                subprocess.run(PACK[kind] + ["-c", name], stdout=out, check=True)
    return [f"{name}.{kind}" for name in names]


def commands(way, binary, shards, out, threads):
    """Each tool's name and command; the output's name comes last."""
    kind = way.split(":")[1]
    target = os.path.join(out, "survivors.jsonl" + ("" if kind == "plain" else "." + kind))
    yield "neardup dedup", [binary, "dedup", "-q", "-j", str(threads)] + shards + ["-o", target]
    for name, text in BESIDE.get(way, []):
        if shutil.which(name.split()[0]):
            line = text.format(" ".join(shards), target, n=threads)
            yield name.format(n=threads), ["sh", "-c", line, target]


def measure(way, args, binary, session, cpus):
    path = places.corpus(args.set)
    out = os.path.join(places.BUILD, "out", args.set, "codecs")
    os.makedirs(out, exist_ok=True)
    shards = make_shards(path, way.split(":", maxsplit=1)[0])
    for shard in shards:
        places.warm(shard)
    failed = False
    for number in range(args.runs):
        for threads in [int(n) for n in args.threads.split(",") if int(n) <= len(cpus)]:
            for tool, command in commands(way, binary, shards, out, threads):
                log = os.path.join(out, "log.txt")
                result = timed.run(command, cpus[:threads], log, args.limit)
                failed = failed or result["exit"] != 0
                size = os.path.getsize(command[-1])
                row = dict(session, way=way, tool=tool, threads=threads, run=number)
                places.append(RESULTS, dict(row, out_mb=size / 1e6, **result))
    return failed


def main(args):
    session = places.new_session("bench/run " + " ".join(sys.argv[1:]))
    cpus = sorted(os.sched_getaffinity(0))
    failed = False
    try:
        binary = places.neardup(args.neardup)
        for way in args.ways.split(","):
            failed = measure(way, args, binary, session, cpus) or failed
            places.say(f"{way}: done")
    except places.Skipped as why:
        places.say(f"skipped: {why}")
        return 77
    import report

    print(report.codecs())
    return 1 if failed else 0
