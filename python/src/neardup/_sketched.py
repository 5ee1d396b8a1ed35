"""Sketch files in place of documents: opened, decided about, and written as the command does."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

from . import _native
from ._against import Against
from ._columns import OwnColumn
from ._df import Frequencies, give_tables
from ._evidence import Input
from ._files import paths_of
from ._frames import Source
from ._outputs import Outputs
from ._plan import Plan
from ._recipe import Recipe
from ._sketch_file import Sketches
from ._sources import kind_of
from ._table import Column, Table


def _paths(data: Any, text: str | None) -> list[str] | None:
    """The paths that data consists of, if it can be sketch files."""
    some = [data] if isinstance(data, Sketches) else data
    if isinstance(some, (list, tuple)) and some and all(isinstance(one, Sketches) for one in some):
        # A column of a file may be the texts of a frame.
        return None if text in some[0].column_names else [one.path for one in some]
    return paths_of(data)


class Sketched:
    """Sketch files that are read in place of documents.

    Attributes
    ----------
    native : object
        The files as the core reads them.
    paths : list of str
        Their paths, in the order in which they are read.
    inputs : list of Input
        What their documents were read from.
    """

    def __init__(self, native: Any, held: object) -> None:
        self.native = native
        self._held = held  # a file may go with its object
        self._survivors: Sketches | None = None
        self.paths, sources = _native.sketched_info(native)
        self.inputs = [
            Input(path, "sketch", "none", records, 0, bytes_hash, entry) for path, entry, records, bytes_hash in sources
        ]

    @classmethod
    def of(cls, data: Any, text: str | None) -> Sketched | None:
        """The sketch files that data consists of; None: it is something else."""
        paths = _paths(data, text)
        if not paths:
            return None
        for path in paths:
            if path.endswith(".sketch"):
                os.stat(path)
        native = _native.sketched_open(tuple(paths))
        return cls(native, data) if native is not None else None

    def plan(self, made: Recipe, df: Frequencies, text: str | None, *, id: str | None, **compared: Any) -> Plan:
        """The plan, by a recipe that takes from the files what it leaves open."""
        if df == "auto":
            raise self._needs_texts("df auto")
        _native.sketched_take_recipe(self.native, made._native)
        give_tables(made, df, needs_all=False)
        _native.sketched_fit(self.native, made._native)
        plan = Plan(made, text, id=id or "id", **compared)
        if plan.keep in ("longest", "shortest"):
            plan.roles = (plan.columns.add(""), *plan.roles[1:])
        return plan

    def _needs_texts(self, option: str) -> Exception:
        return _native.InvalidError(
            f"{option}: {self.paths[0]} is a sketch file, and this needs the documents themselves"
        )

    def decide(self, plan: Plan, old: Against, progress: Callable[[int, int], object] | None) -> Any:
        """Decide about all documents: a native result."""
        _, prefer, within = plan.roles
        needed = dict.fromkeys(n for n in (within, plan.roles[0], prefer, *(n for n, _ in plan.apart)) if n)
        kept = dict.fromkeys([*needed, *map(plan.columns.add, plan.recorded)])
        columns = tuple((number, str(plan.columns.names[number])) for number in kept)
        _native.sketched_want(self.native, columns, len(needed))
        old.add_sketched(self.native)
        return old.decide(progress)

    def ids(self, old: Against, native: Any, table: Table) -> list[Column]:
        """The ids of the documents that were removed, and of those that were kept for them."""
        removed, own = (Column(texts, len(table)) for texts in _native.against_ids(old.store, native))
        if "against" not in table.column_names:
            return [removed, own]
        pairs = zip(table["kept_row"], own, table["kept_id"])
        return [removed, OwnColumn("kept_id", [other if row is None else one for row, one, other in pairs])]

    def survivors(self, recipe: Recipe, kept: bytes, folder: str | None) -> Sketches:
        """Give the kept documents, as a sketch file that is there as long as what is returned."""
        if self._survivors is None:
            place = tempfile.TemporaryDirectory(dir=folder)
            path = os.path.join(place.name, "survivors.sketch")
            with open(path, "wb") as file:
                _native.sketched_write(self.native, recipe._native, kept, True, file.fileno())
            self._survivors = Sketches(path)
            self._survivors._place = place
        return self._survivors

    def source(self, plan: Plan, folder: str) -> Source:
        """Return a reader that gives the kept documents back."""
        return Source(
            None, lambda kept: self.survivors(plan.recipe, kept, folder), lambda name, rows: OwnColumn(name, [])
        )

    # ---- Files in, files out ----

    def check_target(self, target: str, removed: str | None, copies_field: str | None) -> None:
        """Refuse what sketch files have not, and names of files of records."""
        if copies_field is not None:
            raise self._needs_texts("copies-field")
        for path in (target, removed):
            if path and os.path.isdir(path):
                raise _native.InvalidError(f"{path}: is a directory, and what survives of sketch files is one file")
            if path and kind_of(path):
                raise _native.InvalidError(
                    f"'{path}' is named like a file of records, but what survives of a sketch file is a sketch file: "
                    "name it FILE.sketch"
                )

    def claim(self, outputs: Outputs, paths: Sequence[str | None]) -> None:
        """Refuse outputs that would replace what is read, or one another."""
        for path in self.paths:
            outputs.reads(path)
        for output in paths:
            outputs.claim(output)

    def write(self, outputs: Outputs, recipe: Recipe, mask: bytes, target: str, removed: str | None) -> None:
        """Write what is kept, and the rest where that is asked for."""
        asked: list[tuple[str | None, bool]] = [(target, True), (removed, False)]
        for path, wanted in asked:
            if path is None:
                continue
            output = outputs.open(path, is_evidence=False, is_plain=True)
            if output.file is None:
                raise _native.InvalidError(f"{path}: a sketch file must be a regular file")
            _native.sketched_write(self.native, recipe._native, mask, wanted, output.file)
            outputs.finish(output)
