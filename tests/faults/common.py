"""common.py - what the tests of faults share: sizes, a temporary folder, store_writer"""

import os
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77


def sized(sample, full):
    """So many in `make test`, and so many at night."""
    return full if os.environ.get("NEARDUP_NIGHTLY") else sample


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


class Folder:
    """A temporary folder, removed at the end."""

    def __enter__(self):
        self.path = os.path.realpath(tempfile.mkdtemp(prefix="neardup-faults-"))
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


class Acknowledged:
    """How many steps of each thread were, by the lines that store_writer printed."""

    def __init__(self, first):
        self.steps = list(first)

    def add(self, line):
        thread, steps = line.split()
        assert int(steps) >= self.steps[int(thread)]
        self.steps[int(thread)] = int(steps)


def check(program, store, seed, acknowledged):
    """Open a store and compare all it has with what was acknowledged.

    Returns the steps that it shows, or None and what is wrong."""
    command = [program, "check", store, str(seed), *map(str, acknowledged)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return None, f"status {done.returncode}: {done.stderr.strip()}"
    return list(map(int, done.stdout.split())), None


def preload(library, **settings):
    """An environment in which a program's calls go through the recorder."""
    environment = dict(os.environ, LD_PRELOAD=library)
    environment.update({f"FAULTS_{name.upper()}": str(value) for name, value in settings.items()})
    return environment
