"""The rivals of bench/run hamming: got by name, built, and how each is run."""

import os
import shutil
import subprocess
import sys

import places

SOURCES = os.path.join(places.BENCH, "rivals", "hamming")
FAISS_CPU = ["faiss-cpu==1.15.1", "numpy==2.4.6", "packaging==25.0"]
FAISS_HEADER = "/usr/include/faiss/IndexBinaryHash.h"


def run_quietly(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise places.Skipped(f"{command[0]}: {lines[-1] if lines else done.returncode}")


def stale(target, *sources):
    newest = max(map(os.path.getmtime, sources))
    return not os.path.exists(target) or os.path.getmtime(target) < newest


def made_of(stamp, packages):
    if not os.path.exists(stamp):
        return False
    with open(stamp, encoding="ascii") as f:
        return f.read().split() == packages


def crates():
    """mih-rs and all-pairs-hamming, for this processor."""
    if not shutil.which("cargo"):
        raise places.Skipped("no cargo on this machine")
    folder = os.path.join(places.BUILD, "hamming-crates")
    target = os.path.join(folder, "target", "release", "hamming_rivals")
    sources = [os.path.join(SOURCES, name) for name in ("Cargo.toml", "hamming_rivals.rs")]
    if stale(target, *sources):
        places.say("building the crates")
        os.makedirs(folder, exist_ok=True)
        for source in sources:
            shutil.copy(source, folder)
        env = dict(os.environ, RUSTFLAGS="-C target-cpu=native", CARGO_TARGET_DIR="target")
        run_quietly(["cargo", "build", "--release", "--quiet"], cwd=folder, env=env)
    return [target]


def debian_faiss():
    if not os.path.exists(FAISS_HEADER):
        run_quietly([os.path.join(places.ROOT, "tools", "bootstrap.sh"), "rivals"])
    target = os.path.join(places.BUILD, "hamming_faiss")
    source = os.path.join(SOURCES, "hamming_faiss.cpp")
    if stale(target, source):
        places.say("building with Debian's faiss")
        os.makedirs(places.BUILD, exist_ok=True)
        command = ["g++", "-std=c++17", "-O3", "-march=native", "-fopenmp", source, "-o", target]
        run_quietly(command + ["-lfaiss", "-llapack", "-lblas"])
    return [target]


def pypi_faiss():
    folder = os.path.join(places.BUILD, "venv-faiss")
    python = os.path.join(folder, "bin", "python")
    stamp = os.path.join(folder, "made-of")
    if not made_of(stamp, FAISS_CPU):
        places.say("installing faiss-cpu")
        shutil.rmtree(folder, ignore_errors=True)
        run_quietly([sys.executable, "-m", "venv", folder])
        install = [python, "-m", "pip", "install", "-q", "--no-deps", "--only-binary", ":all:"]
        run_quietly(install + ["--disable-pip-version-check"] + FAISS_CPU)
        with open(stamp, "w", encoding="ascii") as f:
            f.write("\n".join(FAISS_CPU))
    return [python, os.path.join(SOURCES, "with_faiss_cpu.py")]


# Name -> how its program comes about; arguments before and after the common ones; the most
# fingerprints with which it still ends in minutes; and, for so many, how many queries it answers.
INDEXES = {
    "mih-rs": (crates, ["mih"], ["0"], 10**8, lambda n: 100_000),
    "mih-rs, 4 blocks": (crates, ["mih"], ["4"], 10**7, lambda n: 2 * 10**11 // n),
    "faiss-cpu multi-hash": (pypi_faiss, ["multi:4x16"], [], 10**7, lambda n: 2 * 10**10 // n),
    "faiss-cpu hash": (pypi_faiss, ["hash:20"], [], 10**7, lambda n: 2_000),
    "faiss-cpu flat": (pypi_faiss, ["flat"], [], 10**7, lambda n: 2 * 10**9 // n),
    "Debian faiss multi-hash": (debian_faiss, ["multi:4x16"], [], 10**7, lambda n: 2 * 10**10 // n),
    "Debian faiss hash": (debian_faiss, ["hash:20"], [], 10**6, lambda n: 2_000),
    "Debian faiss flat": (debian_faiss, ["flat"], [], 10**6, lambda n: 3 * 10**8 // n),
}
JOINS = {
    "all-pairs-hamming, 2 chunks": (crates, "32", 10**7),
    "all-pairs-hamming, 1 chunk": (crates, "64", 10**6),
}
