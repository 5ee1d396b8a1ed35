"""Rows of files after the documents of sketch files: decided by sketches, and added to the last file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

from . import _native
from ._plan import Plan
from ._sketch_file import FrameWriter, places_of
from ._sources import Rows, Source


def _recorded(plan: Plan, compared: Sequence[str], never: Sequence[int]) -> tuple[str, ...]:
    """The fields that a file which this run begins keeps: it compares and prefers documents by them."""
    names = [*compared, *(str(plan.columns.names[number]) for number in never)]
    others = [plan.prefer_column, plan.keep.partition(":")[2] or None]
    return tuple(dict.fromkeys([*names, *(name for name in others if name)]))


def _place(path: str, name: str, there: Sequence[str]) -> int:
    """Which of the fields that a file keeps it is."""
    if name not in there:
        raise _native.InvalidError(
            f"{path} keeps no field '{name}': make it anew with write_sketches(…, fields=['{name}'])"
        )
    return there.index(name)


def check_alone(plan: Plan, paths: Sequence[object], *, append: bool = False, copies: bool = False) -> None:
    """Refuse what has no meaning where rows are compared with the documents of files alone."""
    if not paths:
        raise _native.InvalidError("only_against compares with the documents of against, and there are none")
    if append or plan.prefer_column:
        raise _native.InvalidError(
            f"{'append' if append else 'prefer'} does not go with only_against, which does not compare the rows with "
            "one another"
        )
    if copies:
        raise _native.InvalidError("copies_field does not go with only_against, which makes no clusters")
    if plan.recipe["cluster"] != "star":
        raise _native.InvalidError("only_against makes no clusters: cluster must be star, as by default")


class Against:
    """Sketch files of documents that were seen before, and the sketches of the rows that come now.

    The rows are read, and sketched into a temporary file; or, where `sketched` says so, they are
    documents of sketch files themselves.

    Attributes
    ----------
    store : object
        The native rows, from which evidence takes ids.
    seen : tuple of tuple
        Path, generation and documents of each file.
    alone : bool
        Whether rows are compared with the documents of the files alone.
    """

    def __init__(
        self,
        plan: Plan,
        paths: Sequence[str],
        *,
        append: bool,
        folder: str,
        threads: int,
        alone: bool = False,
        memory: int | None = None,
        sketched: Any = None,
    ) -> None:
        recipe = plan.recipe
        self._threads = threads
        self.alone = alone
        self._file: Any
        self._appender: Any = None
        compared = [name for name, number in ((plan.within, plan.roles[2]),) if name and number]
        never = tuple(dict.fromkeys(number for number, _ in plan.apart))
        files = []
        for i, path in enumerate(paths):
            if append and i + 1 == len(paths):
                self._appender = _native.sketch_appender_open(path, recipe._native, _recorded(plan, compared, never))
                files.append(self._appender)
            else:
                files.append(_native.sketch_file_open(path))
        infos = [_native.sketch_file_info(file) for file in files]
        self.seen = tuple((path, info[2], info[3]) for path, info in zip(paths, infos))
        places = []
        for path, info in zip(paths, infos):
            within = [_place(path, name, info[8]) for name in compared]
            apart = tuple(_place(path, str(plan.columns.names[number]), info[8]) for number in never)
            places.append((within[0] if within else 0, apart))
        self.store: Any = _native.against_new(
            recipe._native,
            tuple(files),
            plan.keep,
            plan.roles,
            plan.preferred,
            plan.apart,
            tuple(places),
            threads,
            tuple(map(str, paths)) if alone else None,
            memory or 0,
        )
        if self._appender:
            plan.record(infos[-1][8])
        self._file = None
        if sketched is not None:
            return
        self._file = tempfile.NamedTemporaryFile(dir=folder, suffix=".sketch")
        shingles = recipe["verify"] != "none" or bool(self._appender and infos[-1][6])
        native = _native.sketch_writer_new(recipe._native, self._file.fileno(), shingles, plan.recorded)
        self._writer = FrameWriter(native, plan, plan.id_column, threads, "drop")
        self._line = 1

    def close(self) -> None:
        """Let others add to the file, and forget the temporary one."""
        self._appender = self.store = None
        if self._file:
            self._file.close()

    def begin(self, source: Source) -> None:
        """The next rows are of this source."""
        self._line = source.first_line

    def add(self, rows: Rows) -> None:
        """Sketch some rows."""
        places, after = places_of(rows, self._line)
        self._writer.add(rows.frame, self._line, places, "", None)
        _native.against_add(self.store, rows.frame)
        self._line = after

    def add_frame(self, frame: Any) -> None:
        """Sketch the rows of a frame, which come after those before."""
        self._writer.add(frame, self._line, None, "", None)
        _native.against_add(self.store, frame)
        self._line += _native.frame_rows(frame)

    def add_sketched(self, sketched: Any) -> int:
        """Take the documents of sketch files as the rows, in place of all others; how many there are."""
        return _native.against_add_sketched(self.store, sketched)

    def decide_frames(self, progress: Callable[[int, int], object] | None) -> Any:
        """Decide about the rows of all frames: a native result."""
        self._writer.end_source("-", 0, self._line - 1)
        return self.decide(progress)

    def written(self) -> int:
        """How many bytes of sketches wait in a file."""
        return os.stat(self._file.name).st_size if self._file else 0

    def end(self, source: Source) -> None:
        """All rows of the source were added."""
        self._writer.end_source(source.path, source.hash(), source.records)

    def decide(self, progress: Callable[[int, int], object] | None) -> Any:
        """Decide about all rows: a native result."""
        file = None
        if self._file:
            self._writer.finish()
            file = _native.sketch_file_open(os.fspath(self._file.name))
        return _native.against_decide(self.store, file, self._threads, progress)

    def quoted(self) -> list[dict[str, Any]]:
        """How many rows match something of each file, where rows are compared with these alone."""
        keys = ("name", "prototypes", "documents")
        return [dict(zip(keys, one)) for one in _native.against_quoted(self.store)]

    def append(self, kept: bytes) -> None:
        """Add the kept rows to the last file, where that was asked for: all of them or none.

        Where clusters are no stars, the other rows are added, too: one may lead to a later row.
        """
        if self._appender:
            _native.against_append(self.store, self._appender, kept)
