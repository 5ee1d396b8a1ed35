"""neardup and its rivals on the same files, in turns, one core each."""

import json
import os
import subprocess
import sys
import time

import places
import timed

RESULTS = "dedup.jsonl"
ALL_RIVALS = ["rensa-r", "gaoya", "fastsketch", "rensa-c", "datasketch-xxh", "datasketch"]
FASTEST = ALL_RIVALS[:3]
LARGE = 200e6  # bytes; such files are measured twice at most


def options(parser):
    parser.add_argument("--sets", default=",".join(places.SPEED_SETS), help="default: %(default)s")
    parser.add_argument(
        "--rivals",
        default=",".join(FASTEST),
        help="of " + ", ".join(ALL_RIVALS) + "; all; none; default: %(default)s",
    )
    parser.add_argument(
        "--runs",
        type=int,
        default=3,
        help="repetitions, default %(default)s; of files over 200 MB two",
    )
    parser.add_argument("--limit", type=float, default=300, help="seconds for one run")
    parser.add_argument(
        "--budget",
        type=float,
        default=11,
        help="minutes: no further repetition begins that would end after them",
    )
    parser.add_argument(
        "--cpu", type=int, help="the core to pin to; default: the first of those allowed"
    )
    parser.add_argument("--resume", action="store_true", help="go on with the last session")


def contestants(args):
    """Names in the order of a round; neardup stands in it first, and on two cores last."""
    names = {"all": ALL_RIVALS, "none": []}.get(args.rivals)
    names = args.rivals.split(",") if names is None else names
    unknown = set(names) - set(ALL_RIVALS)
    if unknown:
        raise SystemExit(
            f"bench/run: no rival is called {', '.join(sorted(unknown))}; "
            f"there are {', '.join(ALL_RIVALS)}"
        )
    return names


def neardup_command(binary, path, out, threads):
    return [
        binary,
        "dedup",
        path,
        "-o",
        os.path.join(out, "survivors.jsonl"),
        "--manifest",
        os.path.join(out, "manifest.jsonl"),
        "--clusters",
        os.path.join(out, "clusters.tsv"),
        "--threads",
        str(threads),
        "--quiet",
    ]


class Contest:
    def __init__(self, args, session):
        self.args, self.session = args, session
        cpus = sorted(os.sched_getaffinity(0))
        first = args.cpu if args.cpu is not None else cpus[0]
        self.cpus = [first] + [c for c in cpus if c != first]
        self.rivals = contestants(args)
        self.tools = list(self.rivals)
        self.python = self.binary = None
        if self.rivals:
            try:
                self.python = places.rivals_python()
            except places.Skipped as why:
                places.say(f"skipped: {why}")
                self.tools = []
        try:
            self.binary = places.neardup(args.neardup)
            self.tools = ["neardup"] + self.tools + (["neardup-2"] if len(cpus) > 1 else [])
        except places.Skipped as why:
            places.say(f"skipped: {why}")
        self.started = time.monotonic()
        self.seconds = {}  # (set, tool) -> what a run took, scoring left out

    def run(self, name, path, tool, number, size):
        out = os.path.join(places.BUILD, "out", name, tool)
        os.makedirs(out, exist_ok=True)
        for old in os.listdir(out):
            os.remove(os.path.join(out, old))
        if tool.startswith("neardup"):
            threads = 2 if tool.endswith("-2") else 1
            command, cpus = neardup_command(self.binary, path, out, threads), self.cpus[:threads]
        else:
            harness = os.path.join(places.BENCH, "rivals", "harness.py")
            command = [self.python, harness, tool, "--input", path, "--out", out] + (
                ["--clusters"] if number == 0 else []
            )
            cpus = self.cpus[:1]
        places.warm(path)
        log = os.path.join(out, "log.txt")
        result = timed.run(command, cpus, log, self.args.limit)
        record = dict(
            self.session, set=name, tool=tool, run=number, file_mb=round(size / 1e6, 2), **result
        )
        if result["exit"] == 0:
            self.finish(record, tool, out)
            self.seconds[name, tool] = result["seconds"]
        return record, out

    def finish(self, record, tool, out):
        """A rival says itself when its survivors stood there and how long it imported."""
        if tool.startswith("neardup"):
            record["seconds_full"] = record["seconds"]
            version = subprocess.run(
                [self.binary, "--version"], capture_output=True, text=True, check=False
            )
            record["version"] = version.stdout.strip().split(" ")[-1]
        else:
            with open(os.path.join(out, "meta.json"), encoding="utf-8") as f:
                meta = json.load(f)
            importing = meta["seconds_import"]
            record.update(
                seconds_full=meta["seconds_full"],
                seconds_import=importing,
                cpu_s=meta["cpu_s"],
                seconds=meta["seconds_full"] - (importing if importing > 1 else 0),
                peak_mb=round(meta["peak_kb"] * 1024 / 1e6, 1),
                version=meta["version"],
                phases=meta["phases"],
            )
        record["mb_per_s"] = round(record["file_mb"] / record["seconds"], 2)

    def score(self, path, out, oracle, *options):
        command = [sys.executable, os.path.join(places.BENCH, "score.py"), *options]
        command += ["--oracle", oracle, "--input", path]
        command += ["--clusters", os.path.join(out, "clusters.tsv")]
        removed = os.path.join(out, "removed.txt")
        if os.path.exists(removed):
            command += ["--removed", removed]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return {"failed": done.stderr[-300:]}
        return json.loads(done.stdout)

    def add_scores(self, record, name, path, out):
        """By the words of all, and neardup by its own as well."""
        record["score"] = self.score(path, out, places.word_oracle(name))
        if record["tool"] == "neardup":
            try:
                own = places.exact_pairs(name, path)
                record["own_score"] = self.score(path, out, own, "--exact")
            except places.Skipped as why:
                places.say(f"skipped: {why}")

    def rounds(self, name, have):
        path = places.corpus(name)
        size, documents = places.warm(path)
        runs = min(self.args.runs, 2) if size > LARGE else self.args.runs
        for number in range(runs):
            for tool in self.tools:
                if (name, tool, number) in have:
                    continue
                if number > 0 and not self.fits(name, tool):
                    places.say(f"{name}: no time for run {number + 1} of {tool}")
                    continue
                record, out = self.run(name, path, tool, number, size)
                record["documents"] = documents
                if record["exit"] == 0 and number == 0:
                    self.add_scores(record, name, path, out)
                places.append(RESULTS, record)
                places.say(f"{name} {tool} run {number + 1}: " + describe(record))

    def fits(self, name, tool):
        left = 60 * self.args.budget - (time.monotonic() - self.started)
        return self.seconds.get((name, tool), 0) * 1.2 < left


def describe(record):
    if record["exit"]:
        return (
            "stopped at its limit"
            if "over_limit" in record
            else "failed: " + record.get("error", "")[-200:]
        )
    return f"{record['mb_per_s']:.1f} MB/s, {record['peak_mb']:.0f} MB"


def have_corpus(name):
    try:
        return bool(places.corpus(name))
    except places.Skipped as why:
        places.say(f"skipped: {why}")
        return False


def main(args):
    session = places.new_session("bench/run " + " ".join(sys.argv[1:]))
    have = set()
    if args.resume and places.records(RESULTS):
        last = places.records(RESULTS)[-1]
        session = {k: last[k] for k in session}
        have = {
            (r["set"], r["tool"], r["run"])
            for r in places.records(RESULTS)
            if r["session"] == session["session"] and r["exit"] == 0
        }
    if not any(have_corpus(name) for name in args.sets.split(",")):
        return 77  # before anything is installed
    contest = Contest(args, session)
    for name in args.sets.split(","):
        try:
            contest.rounds(name, have)
        except places.Skipped as why:
            places.say(f"skipped: {why}")
    import report

    print(report.dedup())
    failed = [
        r
        for r in places.records(RESULTS)
        if r["session"] == session["session"] and r["tool"].startswith("neardup") and r["exit"]
    ]
    return 1 if failed else 0
