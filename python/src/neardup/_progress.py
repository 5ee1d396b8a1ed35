"""How far a call is: told to a function, by tqdm, or by a line on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Report = Callable[[int, int], object]
Progress = bool | Report | None


class _Line:
    """A line on standard error, which a terminal writes over and a file has once."""

    def __init__(self) -> None:
        self._next = 0.0
        self._last = ""

    def __call__(self, done: int, all: int) -> None:
        self._last = f"{done:,} of {all:,} rows"
        now = time.monotonic()
        if sys.stderr.isatty() and now >= self._next:
            self._next = now + 0.1
            sys.stderr.write(f"\r{self._last}")
            sys.stderr.flush()

    def close(self) -> None:
        if self._last:
            sys.stderr.write(f"\r{self._last}\n" if sys.stderr.isatty() else f"{self._last}\n")
            sys.stderr.flush()


class _Bar:
    """A bar of tqdm, in a notebook or a terminal."""

    def __init__(self) -> None:
        from tqdm.auto import tqdm

        self._make = tqdm
        self._bar: Any = None

    def __call__(self, done: int, all: int) -> None:
        if self._bar is None:
            self._bar = self._make(total=all, unit=" rows", unit_scale=True)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


@contextmanager
def reporting(progress: Progress) -> Iterator[Report | None]:
    """Give the function to report to, for the time of a call; None: nobody wants to know."""
    if progress is None or progress is False:
        yield None
        return
    if progress is not True:
        if not callable(progress):
            raise TypeError(f"progress is True or a function, not {type(progress).__name__}")
        yield progress
        return
    report: _Bar | _Line
    try:
        report = _Bar()
    except ImportError:
        report = _Line()
    try:
        yield report
    finally:
        report.close()
