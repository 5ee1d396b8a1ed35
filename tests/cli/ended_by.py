"""Usage: ended_by.py NEARDUP SIGNAL

Run `dedup` on a standard input that does not end, wait until it has begun its output, and send the
signal. Prints the status, the temporary files that are left, and whether the output is there.
"""

import glob
import os
import signal
import subprocess
import sys
import time


def has_output(pid):
    """Whether a process has an open file without a name or, on file systems that have no such files, a
    hidden one. Descriptors may close while we look."""
    directory = f"/proc/{pid}/fd"
    for fd in os.listdir(directory):
        try:
            path = os.readlink(f"{directory}/{fd}")
        except FileNotFoundError:
            continue
        if path.endswith(" (deleted)") or "/.neardup-" in path:
            return True
    return False


def main():
    neardup, name = sys.argv[1:]
    number = getattr(signal, "SIG" + name)
    signal.signal(number, signal.SIG_DFL)
    process = subprocess.Popen([neardup, "dedup", "-f", "jsonl", "-q", "-o", "out"], stdin=subprocess.PIPE)
    for _ in range(2400):
        if has_output(process.pid):
            break
        time.sleep(0.05)
    else:
        sys.exit("no output was begun")
    process.send_signal(number)
    print(process.wait(), glob.glob(".neardup-*"), os.path.exists("out"))


main()
