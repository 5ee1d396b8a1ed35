"""Threads that share an object get an answer or an exception, with a GIL and without."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

import neardup

PACKAGE = Path(__file__).resolve().parent.parent

# Run by this interpreter as a function, and by a free-threaded one as a script.
SHARED = '''
import threading
import neardup

TEXTS = [f"one two three four {i} {i // 2} {i // 3}" for i in range(400)]


def work_together(n, work):
    """Run it in n threads that begin together; what each gave or raised."""
    barrier, found = threading.Barrier(n), [None] * n

    def run(i):
        barrier.wait()
        try:
            found[i] = work(i)
        except RuntimeError as error:
            found[i] = str(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def share():
    expected = list(neardup.dedup(TEXTS, threshold=0.5).kept)
    found = work_together(8, lambda i: list(neardup.dedup(TEXTS, threshold=0.5, threads=1).kept))
    assert found == [expected] * 8

    deduper = neardup.Deduper(threads=1)
    results = work_together(8, lambda i: [deduper.push(TEXTS[i * 50 : i * 50 + 50]) for _ in range(20)])
    refused = [result for result in results if isinstance(result, str)]
    assert all("another thread is pushing" in result for result in refused)
    assert deduper.push(["the end of it all"]).survivors

    index = neardup.Index(threads=2)
    fingerprints = neardup.HammingIndex(distance=1)

    def add_and_ask(i):
        for k in range(50):
            index.add((i, k), TEXTS[i * 50 + k])
            fingerprints.add([i << 32 | k << 8], ids=[i * 50 + k])
            assert (i, k) in [match.id for match in index.query(TEXTS[i * 50 + k])]
            assert (i * 50 + k, 0) in fingerprints.find(i << 32 | k << 8)
            if k % 2:
                index.remove((i, k))
                fingerprints.remove(i << 32 | k << 8, i * 50 + k)
        return True

    assert work_together(8, add_and_ask) == [True] * 8
    assert len(index) == len(fingerprints) == 200

    sketcher = neardup.Sketcher()
    simhashes = sketcher(TEXTS)["simhash"][:]
    assert work_together(8, lambda i: sketcher(TEXTS)["simhash"][:] == simhashes) == [True] * 8

    result = neardup.dedup(TEXTS, threshold=0.5)
    seen = work_together(8, lambda i: (result.survivors, result.clusters, result.removed[:], repr(result)))
    assert all(one == seen[0] for one in seen)
'''


def test_threads_share_objects():
    names: dict[str, object] = {}
    exec(SHARED, names)
    names["share"]()  # type: ignore[operator]


def free_threaded() -> str | None:
    named = os.environ.get("PYTHON_FREE_THREADED")
    found = [named] if named else [shutil.which(name) for name in ("python3.14t", "python3.13t")]
    return next((path for path in found if path), None)


def test_threads_share_objects_without_a_gil(tmp_path):
    python = free_threaded()
    if not python:
        pytest.skip("no free-threaded interpreter: PYTHON_FREE_THREADED names one, or python3.14t is on PATH")
    subprocess.run([python, "-m", "venv", tmp_path / "venv"], check=True)
    own = tmp_path / "venv" / "bin" / "python"
    subprocess.run([own, "-m", "pip", "install", "--quiet", PACKAGE], check=True)
    script = "import sys\nassert not sys._is_gil_enabled()\n" + SHARED
    script += "\nshare()\nassert not sys._is_gil_enabled(), 'the module has turned the GIL on'\n"
    subprocess.run([own, "-P", "-c", script], check=True)


def test_one_deduper_is_pushed_by_one_thread_at_a_time():
    deduper = neardup.Deduper(threads=1)
    texts = [f"{i} {i + 1} {i + 2} {i + 3} and some more words" for i in range(200_000)]
    refused = []
    begun = threading.Event()

    def push():
        begun.set()
        try:
            deduper.push(texts)
        except RuntimeError as error:
            refused.append(str(error))

    thread = threading.Thread(target=push)
    thread.start()
    begun.wait()
    while thread.is_alive():
        try:
            deduper.push(["a b c"])
        except RuntimeError as error:
            refused.append(str(error))
    thread.join()
    assert set(refused) <= {"another thread is pushing"}
    assert deduper.push(["a b c"]).summary["rows"] == 1
