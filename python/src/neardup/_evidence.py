"""The fate of rows, as the files that the command writes: manifest, clusters and summary."""

from __future__ import annotations

import os
import resource
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any

from . import _native
from ._outputs import Output
from ._plan import Plan

# Rows between two looks at signals.
_ROWS = 1 << 15


@dataclass(frozen=True)
class Input:
    """A file that was read."""

    path: str
    format: str
    compression: str
    records: int
    bytes: int
    hash: int = 0
    entry: str | None = None


@dataclass
class Work:
    """The time and memory that a run took, and the documents that it left out."""

    seconds: float = 0.0
    processor_seconds: float = 0.0
    left_out: int = 0
    warnings: int = 0
    repaired: int = 0
    bytes: int | None = None
    spooled: int = 0
    memory: int = 0
    spilled: int = 0
    loads: int = 0
    threads: int = 0
    # The path of the first input that is replaced, how many are, their records, and those that go.
    replaced: tuple[Any, int, int, int] = (b"", 0, 0, 0)


def _kinds(inputs: Sequence[Input]) -> tuple[tuple[str, str, str, int, int, int], ...]:
    """The inputs by kind, in the order in which the kinds come."""
    kinds: dict[tuple[str, str], list[Input]] = {}
    for one in inputs:
        kinds.setdefault((one.format, one.compression), []).append(one)
    return tuple(
        (format, compression, some[0].path, len(some), sum(i.records for i in some), sum(i.bytes for i in some))
        for (format, compression), some in kinds.items()
    )


class Evidence:
    """The rows of manifest and clusters, and counts.

    Rows of the manifest wait in a temporary file, because its first line tells what the run found out
    last.
    """

    def __init__(self, plan: Plan, nulls: str, wants_rows: bool, wants_clusters: bool) -> None:
        self._plan = plan
        self._nulls = nulls
        reason = f"{plan.text or 'text'} is null" if nulls == "drop" else None
        self._native = _native.evidence_new(plan.recipe._native, wants_rows, wants_clusters, reason)
        self._rows: IO[bytes] | None = tempfile.TemporaryFile() if wants_rows else None
        self._last: tuple[Any, Any, int, Any] | None = None

    def __enter__(self) -> Evidence:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._rows:
            self._rows.close()

    def place(self, path: str | None, row: int, line: int) -> None:
        """Place a row in a line of the file, and the next rows in the next lines.

        None: of the same file as the row before.
        """
        _native.evidence_place(self._native, path, row, line)

    def add(
        self, result: Any, frame: Any, store: Any, texts: Iterable[Any] | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        """Add the rows of a result; the rows of the manifest, and those of the clusters.

        Ids stand in the frame, whose rows are those of the result, or else in the file of a stream or
        a corpus.  `texts`: frames of all rows once more, by which the manifest tells what a row copied
        of a document of sketch files (:meth:`tells_passages`).
        """
        self._last = (result, frame, self._plan.id_column, store)
        left = _native.result_stats(result)["rows"]
        first = 0
        for one in [None] if texts is None else texts:
            rows = left if one is None else min(left, _native.frame_rows(one))
            left -= rows
            for at in range(0, rows, _ROWS):
                some = min(rows - at, _ROWS)
                yield _native.evidence_add(self._native, *self._last, some, one, first)
            first += rows
        if left:
            raise _native.Error("the data changed while it was read")

    def tells_passages(self) -> bool:
        """Whether the manifest tells the passages that rows copied of documents of sketch files."""
        return self._rows is not None and self._plan.recipe["verify"] == "containment-of-kept"

    def keep(self, rows: bytes) -> None:
        """Put rows of the manifest aside."""
        if self._rows:
            self._rows.write(rows)

    def write_manifest(
        self,
        to: Output,
        inputs: Sequence[Input],
        against: tuple[tuple[str, int, int], ...] = (),
        only_against: bool = False,
    ) -> None:
        """Write the whole manifest.

        `against`: path, generation and documents of each sketch file; `only_against`: rows are compared
        with their documents alone.
        """
        assert self._last and self._rows
        plan = self._plan
        columns = (plan.text, plan.id, plan.within, plan.prefer_column)
        sources = tuple((i.path, i.entry, i.format, i.compression, i.records, i.bytes, i.hash) for i in inputs)
        missing = "skip" if self._nulls == "drop" else self._nulls
        to.write(
            _native.evidence_first_line(
                self._native,
                self._last[0],
                *columns,
                plan.preferred,
                plan.never_values,
                missing,
                sources,
                against,
                only_against,
            )
        )
        self._rows.seek(0)
        while some := self._rows.read(1 << 20):
            to.write(some)

    def summary(self, inputs: Sequence[Input], work: Work) -> bytes:
        """Make the summary, a line of JSON."""
        assert self._last
        read = work.bytes if work.bytes is not None else sum(i.bytes for i in inputs)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        threads = work.threads or len(os.sched_getaffinity(0))
        took = (work.seconds, work.processor_seconds)
        counts = (work.left_out, work.warnings, work.repaired, read, work.spooled, peak)
        numbers = (*counts, work.memory, work.spilled, work.loads, threads, *took)
        return _native.evidence_summary(self._native, *self._last, numbers, work.replaced, _kinds(inputs))

    def copies(self, row: int, n: int) -> bytes:
        """How many rows the clusters of n kept rows from this one on have, as 64-bit integers."""
        return _native.evidence_copies(self._native, row, n)

    def counts(self) -> tuple[int, int]:
        """Count the rows that were skipped, and the documents."""
        return _native.evidence_counts(self._native)

    def warning(self) -> str | None:
        """Tell what is odd about the ids."""
        return _native.evidence_warning(self._native)
