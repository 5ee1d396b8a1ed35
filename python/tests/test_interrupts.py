"""Ctrl-C stops each long call: a real signal to a real process, which must not have finished."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

# The child tells that the call has begun by what the call itself reads or reports, never by the clock:
# a generator that is asked for rows, or a thread that waits until the main thread is in the call.
PREPARE = """
import array, os, random, signal, sys, threading, neardup
signal.signal(signal.SIGINT, signal.default_int_handler)
chance = random.Random(1)
names = [f"w{i}" for i in range(5000)]
texts = [" ".join(chance.choices(names, k=100)) for _ in range(20000)] * 40
words = array.array("Q", chance.randbytes(8 * 3_000_000))
fingerprints = neardup.HammingIndex(count=10**6)
fingerprints.add(words[:200_000])
index = neardup.Index()
index.add_batch(range(20000), texts[:20000])
main = threading.main_thread().ident

def in_c():
    # The main thread stands in this line while C works, and the GIL is ours.
    frame = sys._current_frames()[main]
    while frame:
        if frame.f_code.co_name == "work":
            return True
        frame = frame.f_back
    return False

def tell():
    while not in_c():
        pass
    print("begun", flush=True)

def work():
    CALL

threading.Thread(target=tell, daemon=True).start()
try:
    work()
except KeyboardInterrupt:
    print("interrupted", flush=True)
else:
    print("done", flush=True)
neardup.dedup(texts[:10])
fingerprints.find(1)
index.query("a b c")
print("usable", flush=True)
"""

CALLS = {
    "dedup": "neardup.dedup(texts, threads=1)",
    "components": "neardup.dedup(texts, threads=1, cluster='components')",
    "pairs": "neardup.pairs(texts[:200_000], threads=1)",
    "push": "neardup.Deduper(threads=1).push(texts)",
    "sketches": "neardup.Sketcher()(texts)",
    "index-add": "neardup.Index(threads=1).add_batch(range(len(texts)), texts)",
    "index-query": "index.query_batch(texts)",
    "hamming-add": "[neardup.HammingIndex(count=10**7).add(words) for _ in range(9)]",
    "hamming-query": "[fingerprints.query(words) for _ in range(9)]",
    "hamming-pairs": "[neardup.hamming_pairs(words, 3, threads=1) for _ in range(9)]",
}


@pytest.mark.parametrize("name", CALLS)
def test_an_interrupt_ends_a_long_call(name):
    script = PREPARE.replace("CALL", CALLS[name])
    with subprocess.Popen([sys.executable, "-P", "-c", script], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "begun\n"
        child.send_signal(signal.SIGINT)
        assert child.stdout.read().split() == ["interrupted", "usable"]
    assert child.returncode == 0
