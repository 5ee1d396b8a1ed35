"""The places of things, and how what is measured gets there."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BENCH = os.path.join(ROOT, "bench")
BUILD = os.environ.get("NEARDUP_BENCH_BUILD", os.path.join(ROOT, "build", "bench"))
DATA = os.environ.get("NEARDUP_DATA", os.path.join(os.path.dirname(ROOT), "shared", "data"))
NEARDUP = os.path.join(ROOT, "build", "release", "neardup")

ENGLISH = ["reuters21578", "spamassassin", "enron-spam", "ota-small"]
TRUTH_SETS = ENGLISH + ["debian-installation-guide"]
SPEED_SETS = ["reuters21578", "enron-spam", "debian-installation-guide", "ota-small"]


class Skipped(Exception):
    """Something that is not on this machine; said aloud, and not a failure."""


def say(message):
    print(time.strftime("%H:%M:%S"), message, file=sys.stderr, flush=True)


def unpack(packed, name):
    """The unpacked copy of a file of the corpora, made once."""
    source = os.path.join(DATA, packed)
    target = os.path.join(BUILD, "data", name)
    if not os.path.exists(source):
        raise Skipped(f"{name}: no {packed} in {os.path.relpath(DATA, ROOT)}")
    if not os.path.exists(target) or os.path.getmtime(target) < os.path.getmtime(source):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        subprocess.run(["zstd", "-dqf", source, "-o", target + ".part"], check=True)
        os.utime(target + ".part")
        os.replace(target + ".part", target)
    return target


def corpus(name):
    return unpack(f"{name}/docs.jsonl.zst", f"{name}.jsonl")


def word_oracle(name):
    """All pairs with resemblance >= .5 over shingles of three lower-cased \\w+ words."""
    return unpack(f"{name}/oracle_jaccard3.docs.tsv.zst", f"{name}.oracle.tsv")


def neardup(path):
    path = os.path.abspath(path or NEARDUP)
    if not os.access(path, os.X_OK):
        raise Skipped(f"no neardup at {os.path.relpath(path, ROOT)}: build it first (make)")
    return path


def sha256(*paths):
    digest = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as f:
            while block := f.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def exactjoin():
    """Build the exact join (standard library only, nothing fetched); its path and version."""
    folder = os.path.join(ROOT, "tests", "oracle", "exactjoin")
    go = shutil.which("go") or shutil.which("go", path="/usr/lib/go/bin")
    if not go:
        raise Skipped("no go on this machine (Debian: golang-go)")
    target = os.path.join(BUILD, "exactjoin")
    os.makedirs(BUILD, exist_ok=True)
    env = dict(
        os.environ,
        GOTOOLCHAIN="local",
        GOPROXY="off",
        GOFLAGS="-mod=mod",
        GOCACHE=os.environ.get("GOCACHE", os.path.join(BUILD, "go-cache")),
    )
    subprocess.run([go, "build", "-o", target, "."], cwd=folder, env=env, check=True)
    # Only these decide what the pairs are; a change in a check leaves the cached truth as it is.
    sources = [
        os.path.join(folder, f)
        for f in ("corpus.go", "join.go", "normalise.go", "records.go", "tokens.go", "ucd.go")
    ]
    return target, sha256(*sources)[:16]


def exact_pairs(name, path, threshold="0.8", width="3"):
    """Every pair by the project's own tokens; computed once for a file and a state of the join."""
    program, version = exactjoin()
    folder = os.path.join(BUILD, "truth")
    os.makedirs(folder, exist_ok=True)
    target = os.path.join(folder, f"{name}-w{width}-t{threshold}-{sha256(path)[:12]}-{version}.tsv")
    if not os.path.exists(target):
        say(f"{name}: exact join")
        with open(target + ".part", "wb") as out:
            subprocess.run([program, "pairs", path, threshold, width], stdout=out, check=True)
        os.replace(target + ".part", target)
    return target


def rivals_python(name="requirements.txt", environment="venv", only_binary=":all:"):
    """A virtual environment with the rivals, made once for each state of their list."""
    folder = os.path.join(BUILD, environment)
    python = os.path.join(folder, "bin", "python")
    requirements = os.path.join(BENCH, name)
    stamp = os.path.join(folder, "made-of")
    want = sha256(requirements)
    if os.path.exists(stamp):
        with open(stamp, encoding="ascii") as f:
            if f.read() == want:
                return python
    say("installing the rivals into " + os.path.relpath(folder, ROOT))
    shutil.rmtree(folder, ignore_errors=True)
    try:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        # --no-deps: the list is complete; FastSketchLSH asks for its build tool pybind11 too.
        subprocess.run(
            [
                python,
                "-m",
                "pip",
                "install",
                "-q",
                "--no-deps",
                "--only-binary",
                only_binary,
                "--disable-pip-version-check",
                "-r",
                requirements,
            ],
            check=True,
        )
    except (subprocess.CalledProcessError, OSError) as error:
        raise Skipped(f"the rivals cannot be installed: {error}") from error
    with open(stamp, "w", encoding="ascii") as f:
        f.write(want)
    return python


def generator(documents, *words):
    """The command that writes so many documents, of so many words at least and at most, as JSON Lines."""
    program = os.path.join(ROOT, "build", "release", "bench", "generate_documents")
    if not os.access(program, os.X_OK):
        raise Skipped("no generate_documents: build the release first (make)")
    return [program, str(documents), *map(str, words)]


def warm(path):
    """Read a file so that it stands in the page cache; its bytes and lines."""
    size = lines = 0
    with open(path, "rb") as f:
        while block := f.read(1 << 20):
            size += len(block)
            lines += block.count(b"\n")
    return size, lines


def machine():
    """The facts that a reader needs to judge a number; nothing that names the machine."""
    facts = {}
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        for line in f:
            key, _, value = line.partition(":")
            facts.setdefault(key.strip(), value.strip())
    flags = facts.get("flags", "").split()
    with open("/etc/os-release", encoding="utf-8") as f:
        system = dict(line.rstrip().split("=", 1) for line in f if "=" in line)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": facts.get("model name", os.uname().machine),
        "mhz": facts.get("cpu MHz"),
        "cpus": len(os.sched_getaffinity(0)),
        "memory_gb": round(memory / 1e9, 1),
        "features": [
            f
            for f in (
                "avx2",
                "avx512f",
                "avx512bw",
                "avx512vl",
                "avx512_vbmi2",
                "avx512_vpopcntdq",
                "asimd",
            )
            if f in flags
        ],
        "system": system.get("PRETTY_NAME", "").strip('"'),
        "kernel": os.uname().release,
    }


def revision():
    def git(*args):
        return subprocess.run(
            ["git", "-C", ROOT, *args], capture_output=True, text=True, check=False
        ).stdout.strip()

    return git("rev-parse", "--short=12", "HEAD") + (
        "+changes" if git("status", "--porcelain") else ""
    )


def append(name, record):
    os.makedirs(BUILD, exist_ok=True)
    with open(os.path.join(BUILD, name), "a", encoding="utf-8") as f:
        f.write(json.dumps(record) + "\n")


def records(name):
    try:
        with open(os.path.join(BUILD, name), encoding="utf-8") as f:
            return [json.loads(line) for line in f]
    except FileNotFoundError:
        return []


def new_session(command):
    """Stands in every record, so that only what was measured together is compared."""
    return {
        "session": time.strftime("%Y-%m-%dT%H:%M:%S"),
        "command": command,
        "machine": machine(),
        "revision": revision(),
    }
