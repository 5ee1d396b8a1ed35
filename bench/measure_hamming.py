"""Fingerprints within 3 of 64 bits: neardup's indexes, join and codes beside the rivals'."""

import json
import os
import re
import shutil
import subprocess
import sys

import hamming_rivals
import places

RESULTS = "hamming.jsonl"
QUERIES = 100_000
CORPORA = ["ota-small", "debian-installation-guide"]
PROGRAMS = os.path.join(places.ROOT, "build", "release", "bench")
# Our designs: the planner's choice with any memory, and two halves.  Once a rival was measured,
# also its choice within the memory of the best exact one.
DESIGNS = {"neardup": ["fit", "0"], "neardup, two halves": ["halves", "0"]}
LAYOUTS = ["compact", "fast"]  # of index files
# Bytes a fingerprint that a run needs beside the 8 of the input, to know whether there is memory.
NEEDED = {"neardup": 150, "mih-rs": 160, "faiss": 130, "all-pairs": 60, "Debian": 130}
LARGE = 10**9
# Memory that --large may take, the least that it can do with, what it leaves free, and its time.
LARGE_MOST, LARGE_LEAST, LARGE_SPARE, LARGE_SECONDS = 24 << 30, 21 << 30, 1 << 30, 3600


def options(parser):
    parser.add_argument("--counts", default="1e6,1e7", help="fingerprints, default: %(default)s")
    parser.add_argument("--sets", default="uniform,texts", help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each, default: %(default)s")
    parser.add_argument(
        "--rivals",
        default="",
        help="only those whose names contain one of these, separated by commas; none: no rival",
    )
    parser.add_argument("--checked", type=int, default=200, help="queries held against a scan")
    parser.add_argument("--limit", type=float, default=300, help="seconds for one run")
    parser.add_argument(
        "--only", default="index,pairs,batch,codec", help="what to measure, default: %(default)s"
    )
    parser.add_argument(
        "--large", action="store_true", help="also 10^9 fingerprints, where 22 GiB are free"
    )
    parser.add_argument(
        "--cpu", type=int, default=max(os.sched_getaffinity(0)), help="the core to pin to"
    )


def program(name):
    path = os.path.join(PROGRAMS, name)
    if not os.access(path, os.X_OK):
        raise places.Skipped(f"no {name}: build the release first (make)")
    return path


def is_wanted(args, rival):
    return any(part in rival for part in args.rivals.split(","))


def free_memory():
    with open("/proc/meminfo", encoding="ascii") as f:
        return 1024 * int(re.search(r"MemAvailable:\s*(\d+)", f.read())[1])


def texts():
    """The texts of the corpora with a NUL behind each, made once."""
    target = os.path.join(places.BUILD, "data", "texts.nul")
    if not os.path.exists(target):
        sources = [places.corpus(name) for name in CORPORA]
        with open(target + ".part", "wb") as out:
            for source in sources:
                with open(source, "rb") as lines:
                    for line in lines:
                        text = json.loads(line)["text"].replace("\0", " ")
                        out.write(text.encode("utf-8", "replace") + b"\0")
        os.replace(target + ".part", target)
    return target


def fingerprints(kind, count):
    """The two files of a set, made once for each state of their maker."""
    maker = program("generate_fingerprints")
    made_by = places.sha256(os.path.join(places.BENCH, "generate_fingerprints.c"))[:8]
    folder = os.path.join(places.BUILD, "data")
    os.makedirs(folder, exist_ok=True)
    rows = os.path.join(folder, f"{kind}-{count}-{made_by}.fingerprints")
    queries = rows.replace(".fingerprints", ".queries")
    if not os.path.exists(queries):
        places.say(f"making {count:,} fingerprints: {kind}")
        free = shutil.disk_usage(folder).free
        if free < 20 * count:
            raise places.Skipped(f"{count:,} fingerprints need {8 * count / 1e9:.0f} GB of disk")
        more = [texts()] if kind == "texts" else []
        parts = [rows, queries + ".part"]
        subprocess.run([maker, kind, str(count), str(QUERIES)] + parts + more, check=True)
        os.replace(queries + ".part", queries)
    return rows, queries


def run(args, command, limit_bytes=None, limit_seconds=None):
    """The JSON objects that a pinned program prints."""
    pinned = ["taskset", "-c", str(args.cpu)] + command
    if limit_bytes:  # a join without a limit has taken all memory before
        pinned = ["prlimit", f"--as={int(limit_bytes)}"] + pinned
    seconds = limit_seconds or args.limit
    done = subprocess.run(pinned, capture_output=True, text=True, timeout=seconds, check=False)
    if done.returncode:
        raise subprocess.SubprocessError((done.stderr.strip() or str(done.returncode))[-300:])
    return [json.loads(line) for line in done.stdout.splitlines()]


class Sets:
    """One set of fingerprints, and everything that was run on it."""

    def __init__(self, args, session, kind, count):
        self.args, self.kind, self.count = args, kind, count
        self.session = session
        self.rows, self.queries = fingerprints(kind, count)
        self.failed = False
        self.reference = None  # our answers, which the scan has confirmed
        self.best = {}  # rival -> figures of its turns

    def keep(self, what, name, figures, **more):
        record = dict(self.session, what=what, set=self.kind, name=name, **figures, **more)
        record["load"] = round(os.getloadavg()[0], 2)
        places.append(RESULTS, record)

    def skip(self, what, name, why):
        places.say(f"{self.kind} {self.count:,}: {name} skipped: {why}")
        self.keep(what, name, {"count": self.count}, skipped=str(why))

    def has_memory(self, what, name):
        need = next((b for start, b in NEEDED.items() if name.startswith(start)), 150) * self.count
        if free_memory() > need:
            return True
        self.skip(what, name, f"needs {need / 1e9:.0f} GB of free memory")
        return False

    def answers(self):
        return os.path.join(places.BUILD, "answers.tmp")

    def query(self, what, name, command, more, n_queries):
        """One turn of one index; its answers are compared with the reference."""
        common = [self.rows, self.queries, str(self.count), str(n_queries), self.answers()]
        (figures,) = run(self.args, command + common + more)
        with open(self.answers(), "rb") as f:
            answers = f.read()
        if self.reference is None:
            self.reference = answers
        exact = answers == self.reference[: len(answers)]
        if not exact:
            places.say(f"{self.kind} {self.count:,}: {name} gives other answers")
            self.failed = self.failed or name.startswith("neardup")
        self.keep(what, name, figures, queries=n_queries, exact=exact)
        return figures, exact

    def scan(self):
        """Our answers against a plain loop over all, by ids."""
        n = min(self.args.checked, QUERIES)
        side = [program("hamming_side"), "scan"]
        reference, self.reference = self.reference, None
        self.query("scan", "scan", side, [], n)
        self.reference, scanned = reference, self.reference
        same = reference[: len(scanned)] == scanned
        as_scan = "yes" if same else "NO"
        places.say(f"{self.kind} {self.count:,}: {n} queries as the scan: {as_scan}")
        self.failed = self.failed or not same

    def turn(self, number):
        """Each index once."""
        for name, design in DESIGNS.items():
            if self.has_memory("index", name):
                self.query("index", name, [program("hamming_side"), "index"], design, QUERIES)
        self.files()
        for name, (make, before, after, most, queries) in hamming_rivals.INDEXES.items():
            if not is_wanted(self.args, name):
                continue
            if self.count > most:
                if number == 0:
                    self.skip("index", name, "hours at this size")
                continue
            n_queries = min(QUERIES, max(100, queries(self.count)))
            try:
                if self.has_memory("index", name):
                    got = self.query("index", name, make() + before, after, n_queries)
                    self.best.setdefault(name, []).append(got)
            except (places.Skipped, subprocess.SubprocessError, ValueError) as why:
                self.skip("index", name, why)
        self.fit()

    def files(self):
        """An index file of each layout, from the page cache, and when its pages were dropped."""
        path = os.path.join(places.BUILD, "index.tmp")
        for layout in LAYOUTS:
            name = f"neardup, {layout} file"
            if self.has_memory("index", name):
                side = [program("hamming_side"), "file"]
                self.query("index", name, side, [layout, path], QUERIES)
        if os.path.exists(path):
            os.remove(path)

    def fit(self):
        """The planner's choice within the memory of the best exact rival, and a quarter of it."""
        exact = [figures for turns in self.best.values() for figures, exact in turns if exact]
        if not exact:
            return
        best = max(exact, key=lambda figures: figures["queries_per_s"])
        for name, share in (("memory of the best rival", 1), ("a quarter of it", 0.25)):
            size = ["fit", f"{share * best['bytes_each']:.2f}"]
            side = [program("hamming_side"), "index"]
            if share < 1 and best["bytes_each"] < 80:
                continue  # only a scan would fit
            self.query("index", f"neardup, {name}", side, size, QUERIES)

    def joins(self):
        side = program("hamming_side")
        pairs = set()
        for threads in (1, 2):
            cpus = sorted(os.sched_getaffinity(0))[-threads:]
            command = ["taskset", "-c", ",".join(map(str, cpus)), side, "pairs", self.rows]
            for _ in range(self.args.rounds):
                (figures,) = run(self.args, command + [str(self.count), str(threads)])
                pairs.add((figures["pairs"], figures["pairs_sum"]))
                self.keep("pairs", f"neardup, {threads} threads", figures)
        for name, (make, chunk, most) in hamming_rivals.JOINS.items():
            if not is_wanted(self.args, name) or self.count > most:
                continue
            try:
                if self.has_memory("pairs", name):
                    command = make() + ["pairs", self.rows, str(self.count), chunk]
                    (figures,) = run(self.args, command, 0.8 * free_memory())
                    same = (figures["pairs"], figures["pairs_sum"]) in pairs
                    self.keep("pairs", name, figures, exact=same)
                    if not same:
                        places.say(f"{self.kind} {self.count:,}: {name} finds other pairs")
            except (places.Skipped, subprocess.SubprocessError, ValueError) as why:
                self.skip("pairs", name, why)
        if len(pairs) != 1:
            places.say(f"{self.kind} {self.count:,}: the pairs depend on the threads")
            self.failed = True


def codes(args, session):
    """Bits above the bound and speed of decoding, of 2^20, 2^24 and 2^28 uniform values."""
    for bits in (20, 24, 28):
        if free_memory() < 30 << bits:
            places.say(f"skipped: 2^{bits} values: no memory")
            continue
        command = [program("bench_hamming"), "--what", "codec", "--count", str(1 << bits)]
        for figures in run(args, command + ["--queries", "1"]):
            places.append(RESULTS, dict(session, **dict(figures, what="codec")))


def streams(args, session):
    """The batch join: 1M queries against a stream, unsorted and sorted."""
    command = [program("bench_hamming"), "--what", "batch", "--count", "2e7", "--queries", "1e6"]
    for figures in run(args, command):
        places.append(RESULTS, dict(session, **dict(figures, what="batch")))


def large(args, session):
    """10^9 fingerprints by the planner's choice for the memory that there is."""
    memory = min(LARGE_MOST, free_memory() - LARGE_SPARE)
    if memory < LARGE_LEAST:
        needed_gib = (LARGE_LEAST + LARGE_SPARE) / (1 << 30)
        places.say(f"skipped: {LARGE:,} fingerprints need {needed_gib:.0f} GiB of free memory")
        return
    command = [program("hamming_side"), "large", str(LARGE), str(QUERIES), str(memory / LARGE)]
    (figures,) = run(args, command, limit_seconds=LARGE_SECONDS)
    places.append(RESULTS, dict(session, what="index", set="uniform", name="neardup", **figures))


def measure_set(args, session, what, kind, count):
    done = Sets(args, session, kind, count)
    if "index" in what:
        for number in range(args.rounds):
            places.say(f"{kind} {count:,}: turn {number + 1} of {args.rounds}")
            done.turn(number)
            if number == 0:
                done.scan()
    if "pairs" in what:
        places.say(f"{kind} {count:,}: self-join")
        done.joins()
    return done.failed


def main(args):
    session = places.new_session("bench/run " + " ".join(sys.argv[1:]))
    what, failed = args.only.split(","), False
    for kind in args.sets.split(","):
        for count in (int(float(c)) for c in args.counts.split(",")):
            try:
                failed = measure_set(args, session, what, kind, count) or failed
            except places.Skipped as why:
                places.say(f"skipped: {why}")
            except subprocess.SubprocessError as why:
                places.say(f"{kind} {count:,}: {why}")
                failed = True
    try:
        for name, part in (("batch", streams), ("codec", codes)):
            if name in what:
                places.say(name)
                part(args, session)
        if args.large:
            large(args, session)
    except places.Skipped as why:
        places.say(f"skipped: {why}")
    import report

    print(report.hamming())
    return 1 if failed else 0
