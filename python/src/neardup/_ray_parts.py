"""Ray: near-duplicates decided by as many tasks as are asked for, by the steps of the job on Spark.

Records of documents, with the keys under which they meet others, go to the tasks by their keys; edges
between documents that could match become forests, and these components.  The rows of components, and
only these, go to the tasks that decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy
import pyarrow
import pyarrow.compute
import ray

from . import _native
from ._dedup import dedup
from ._recipe import Recipe
from .spark._candidates import EDGES, Sketching, Step, _attach, _deal, _find_buckets, _link, columns_for, read, rows_of

# So many forests are contracted by one task.
BRANCHES = 16
# A document's node: the number of its block, and below it that of the row among those with a text.
ROW_BITS = 32

_BLOBS = pyarrow.schema([("kind", pyarrow.int32()), ("part", pyarrow.int32()), ("blob", pyarrow.binary())])
_NODE = "__neardup_node"


@dataclass(frozen=True)
class Job:
    """A job: the texts to compare, by which columns, and by how many tasks."""

    recipe: str
    text: str
    order_by: str
    fields: tuple[str, ...]  # that the recipe reads
    others: tuple[str, ...]  # that the decision reads besides
    compared: dict[str, Any]  # prefer, within and never
    blocks: int
    parts: int
    marks: bool

    @property
    def columns(self) -> list[str]:
        """The columns that go to a task that decides."""
        return list(dict.fromkeys((self.text, self.order_by, *self.fields, *self.others)))


def _with_text(block: Any, text: str) -> Any:
    return block.filter(pyarrow.compute.is_valid(block[text]))


# ---- Tasks ----


def _step(step: Step, parts: int, batches: Iterable[pyarrow.RecordBatch]) -> tuple[Any, ...]:
    """The output of a step: the records for each part, and the edges."""
    made = pyarrow.Table.from_batches(step(iter(batches)), _BLOBS)
    is_edges = pyarrow.compute.equal(made["kind"], EDGES)
    others = made.filter(pyarrow.compute.invert(is_edges))
    dealt = [others.filter(pyarrow.compute.equal(others["part"], part)) for part in range(parts)]
    return (*dealt, made.filter(is_edges))


def _stepped(step: Step, parts: int, *tables: Any) -> tuple[Any, ...]:
    return _step(step, parts, (batch for table in tables for batch in table.to_batches()))


def _recorded(job: Job, number: int, block: Any) -> tuple[Any, ...]:
    """The records of a block's documents, and their keys."""
    block = _with_text(block, job.text)
    columns, within, fields = columns_for(job.text, job.compared["within"], job.fields)
    names = tuple(str(name) for name in columns.names)
    nodes = (number << ROW_BITS) + numpy.arange(len(block), dtype=numpy.int64)
    arrays = [pyarrow.array(nodes), pyarrow.array(numpy.zeros(len(block), bool))]
    arrays += [block[name].combine_chunks() for name in names]
    batch = pyarrow.RecordBatch.from_arrays(arrays, [str(i) for i in range(len(arrays))])
    sketching = Sketching(job.recipe, names, within, fields, False)
    return _step(_deal(job.recipe, job.parts), job.parts, sketching(iter([batch])))


def _contracted(*tables: Any) -> Any:
    def step(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        edges = _native.edges_contract(read(batches)[EDGES])
        yield pyarrow.RecordBatch.from_arrays([[EDGES], [0], [edges]], schema=_BLOBS)

    return _stepped(step, 0, *tables)[-1]


def _labelled(job: Job, edges: Any) -> Any:
    """For each block its rows that are in components, and which these are."""
    blobs = read(edges.to_batches())[EDGES]
    stars = [blob for _, blob in _native.edges_ends(blobs, 1, True)]
    nodes, labels = (numpy.frombuffer(blob, numpy.int64) for blob in _native.ends_labels(stars))
    order = numpy.argsort(nodes)
    nodes, labels = nodes[order], labels[order]
    ends = numpy.searchsorted(nodes, numpy.arange(job.blocks + 1, dtype=numpy.int64) << ROW_BITS)
    found = [
        pyarrow.table({"row": nodes[a:b] & ((1 << ROW_BITS) - 1), "component": labels[a:b]})
        for a, b in zip(ends, ends[1:])
    ]
    return found if job.blocks > 1 else found[0]


def _gathered(job: Job, number: int, block: Any, labels: Any) -> Any:
    """The rows of components by the task that decides about them."""
    rows = _with_text(block.select(job.columns), job.text).take(labels["row"])
    rows = rows.append_column(_NODE, pyarrow.compute.add(labels["row"], number << ROW_BITS))
    mixed = labels["component"].to_numpy().astype(numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15)
    part = (mixed >> numpy.uint64(32)) % numpy.uint64(job.parts)
    found = [rows.filter(pyarrow.array(part == p)) for p in range(job.parts)]
    return found if job.parts > 1 else found[0]


def _decided(job: Job, *tables: Any) -> Any:
    """For each block the rows that are removed, and why."""
    rows = pyarrow.concat_tables(tables).sort_by(_NODE)
    result = dedup(rows, job.text, recipe=Recipe.parse(job.recipe), threads=1, **job.compared)
    removed = pyarrow.table(result.removed)
    nodes = rows[_NODE].take(removed["row"]).to_numpy()
    found = pyarrow.table(
        {
            "row": nodes & ((1 << ROW_BITS) - 1),
            "duplicate_of": rows[job.order_by].take(removed["kept_row"]),
            "identical": removed["identical"].cast(pyarrow.string()),
            "resemblance": removed["jaccard"],
        }
    )
    order = numpy.argsort(nodes)
    ends = numpy.searchsorted(nodes[order], numpy.arange(job.blocks + 1, dtype=numpy.int64) << ROW_BITS)
    blocks = [found.take(order[a:b]) for a, b in zip(ends, ends[1:])]
    return blocks if job.blocks > 1 else blocks[0]


def _merged(job: Job, keys: Any, *tables: Any) -> Any:
    """The decision about a block: a table of the removed rows, or a bitmap of the kept ones."""
    removed = pyarrow.concat_tables(tables)
    if job.marks:
        return removed
    kept = numpy.ones(len(keys), bool)
    kept[removed["row"].to_numpy()] = False
    return pyarrow.table({"kept": kept})


# ---- The job ----


def _started(function: Any, returns: int, *arguments: Any) -> list[Any]:
    made = ray.remote(function).options(num_returns=returns).remote(*arguments)
    return made if returns > 1 else [made]


def _dealt(made: list[list[Any]], part: int) -> list[Any]:
    return [returned[part] for returned in made]


def _edges(job: Job, blocks: list[Any]) -> list[Any]:
    parts, all_parts = job.parts, range(job.parts)
    recorded = [_started(_recorded, parts + 1, job, i, block) for i, block in enumerate(blocks)]
    find, attach, link = _find_buckets(job.recipe, parts), _attach(job.recipe, parts), _link(job.recipe)
    bucketed = [_started(_stepped, parts + 1, find, parts, *_dealt(recorded, p)) for p in all_parts]
    attached = [
        _started(_stepped, parts + 1, attach, parts, *_dealt(recorded, p), *_dealt(bucketed, p)) for p in all_parts
    ]
    linked = [_started(_stepped, 2, link, 1, *_dealt(attached, p)) for p in all_parts]
    return [returned[-1] for returned in (*bucketed, *linked)]


def decisions(job: Job, blocks: list[Any], keys: list[Any]) -> list[Any]:
    """Decide about blocks, none of which has a key that lies between those of another.

    Parameters
    ----------
    job : Job
        What is compared.
    blocks, keys : list of ObjectRef
        The blocks in their order, and the keys of their rows that have a text.

    Returns
    -------
    list of ObjectRef
        For each block a table of the rows that are removed, or a bitmap of those that are kept.

    Raises
    ------
    UnsupportedError
        The recipe finds candidates in a way that needs all documents in one place.
    """
    rows_of(job.recipe)
    edges = _edges(job, blocks)
    while True:
        edges = [_started(_contracted, 1, *edges[at : at + BRANCHES])[0] for at in range(0, len(edges), BRANCHES)]
        if len(edges) == 1:
            break
    labels = _started(_labelled, job.blocks, job, edges[0])
    gathered = [
        _started(_gathered, job.parts, job, i, block, found) for i, (block, found) in enumerate(zip(blocks, labels))
    ]
    decided = [_started(_decided, job.blocks, job, *_dealt(gathered, p)) for p in range(job.parts)]
    return [_started(_merged, 1, job, keys[i], *_dealt(decided, i))[0] for i in range(job.blocks)]
