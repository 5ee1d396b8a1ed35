"""Manifests of documents that are called by their places in files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._dedup import Result, dedup
from .._frames import Columns
from .._recipe import Recipe
from ._candidates import columns_for
from ._dedup import EVIDENCE, NODE, evidence_types

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True)
class Asked:
    """The arguments of a caller."""

    recipe: str
    files: tuple[str, ...]
    text: str
    id: str | None
    within: str | None
    prefer: tuple[str, tuple[str, ...]] | None
    fields: tuple[str, ...]  # that the recipe compares
    others: tuple[str, ...]  # what decides, beside the text

    def decide(self, data: Any) -> Result:
        """Decide about whole components, by the engine of one machine."""
        recipe = Recipe.parse(self.recipe)
        return dedup(data, self.text, recipe=recipe, within=self.within, prefer=self.prefer, threads=1)

    def columns(self) -> tuple[Columns, int, tuple[int, ...]]:
        """The columns of which records are made, with the numbers of the group's and of the fields'."""
        return columns_for(self.text, self.within, self.fields)


def manifest_of(
    result: Result, nodes: Sequence[int], ids: Any, place: Callable[[int], tuple[str, int, int]]
) -> pyarrow.RecordBatch:
    """The removed documents, by names that `place` explains: file, offset and the range where it is."""
    import pyarrow

    removed = pyarrow.record_batch(result.removed)
    arrays: list[Any] = []
    for rows in (removed.column(name).to_pylist() for name in ("row", "kept_row", "via_row")):
        places = [place(nodes[row]) for row in rows]
        arrays.append(pyarrow.array([file for file, _, _ in places], pyarrow.string()))
        arrays.append(pyarrow.array([offset for _, offset, _ in places], pyarrow.int64()))
        if ids is not None:
            arrays.append(ids.take(pyarrow.array(rows, pyarrow.int64())))
    arrays += [removed.column(name).cast(kind) for name, kind in evidence_types().items()]
    gone = [nodes[row] for row in removed.column("row").to_pylist()]
    arrays.append(pyarrow.array(gone, pyarrow.int64()))
    arrays.append(pyarrow.array([place(node)[2] for node in gone], pyarrow.int64()))
    names = manifest_columns(None if ids is None else "id")
    return pyarrow.RecordBatch.from_arrays(arrays, [*names, NODE, "range"])


def written(
    batches: Iterator[pyarrow.RecordBatch], write: Callable[[dict[str, Any]], tuple[int, int]]
) -> Iterator[pyarrow.RecordBatch]:
    """Write the survivors of each row of the batches; give its numbers of documents and of kept ones."""
    import pyarrow

    for batch in batches:
        counts = [write(row) for row in batch.to_pylist()]
        arrays = [pyarrow.array(some, pyarrow.int64()) for some in zip(*counts)]
        if arrays:
            yield pyarrow.RecordBatch.from_arrays(arrays, ["documents", "kept"])


def called(value: Any) -> str | None:
    """An id as a string: of another value its JSON."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def manifest_columns(id: str | None) -> list[str]:
    """The names of the columns of a manifest."""
    names = [prefix + name for prefix in ("", "kept_", "via_") for name in ("file", "offset", *(["id"] if id else []))]
    return names + [column.split()[0] for column in EVIDENCE.split(", ")]
