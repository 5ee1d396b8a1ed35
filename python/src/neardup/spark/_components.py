"""Connected components of a graph that no machine holds.

Large star and small star take turns (Kiveris et al. 2014, "Connected components in MapReduce and
beyond", §3): every node connects its greater neighbours, then its lesser ones, with the least node
that it knows.  The number of edges does not grow, and in practice a logarithmic number of rounds
leaves a star for each component.  Each partition moreover replaces its edges by a forest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .. import _native
from ._candidates import BLOBS, EDGES, LABELS, PAIR, Step, labelled, read, to_parts, write
from ._session import is_classic

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame

# So many edges, 128 MB, are contracted by one task of an executor, and its forest is smaller yet: a
# round would take longer.
ONE_TASK = 8 << 20
# So many tasks of a tree send their forests to one.
BRANCHES = 16
# After so many rounds one task ends the work whatever is left; 30 suffice for any graph that was tried.
ROUNDS = 60


def _to_ends(parts: int, both: bool) -> Step:
    def step(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        ends = _native.edges_ends(read(batches)[EDGES], parts, both)
        return write((EDGES, part, blob) for part, blob in ends)

    return step


def _stars(is_large: bool) -> Step:
    """A step of all nodes of a partition; `part` becomes how many nodes are not part of a star."""

    def step(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        edges, undecided = _native.ends_stars(read(batches)[EDGES], is_large)
        return write([(EDGES, min(undecided, 2**31 - 1), edges)])

    return step


def _contract() -> Step:
    def step(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        return write([(EDGES, 0, _native.edges_contract(read(batches)[EDGES]))])

    return step


def _label(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    yield labelled(read(batches)[EDGES])


def _contracted(graph: DataFrame, parts: int) -> DataFrame:
    """The edges contracted by one task, after as many levels of fewer tasks as a tree of them has."""
    while parts > BRANCHES:
        parts = -(-parts // BRANCHES)
        graph = graph.repartition(parts).mapInArrow(_contract(), BLOBS)
    return graph.repartition(1).mapInArrow(_contract(), BLOBS)


def _large_star(edges: DataFrame, parts: int) -> DataFrame:
    return to_parts(edges.mapInArrow(_to_ends(parts, True), BLOBS), parts).mapInArrow(_stars(True), BLOBS)


def _small_star(edges: DataFrame, parts: int) -> DataFrame:
    return to_parts(edges.mapInArrow(_to_ends(parts, False), BLOBS), parts).mapInArrow(_stars(False), BLOBS)


def _keep(df: DataFrame) -> DataFrame:
    """Hold what the next round starts from.

    It stands in a checkpoint where the session has a folder for one, else with the executors, who make
    it again when one of them is lost.
    """
    if is_classic(df.sparkSession) and df.sparkSession.sparkContext.getCheckpointDir():
        return df.checkpoint()
    return df.persist()


def components(edges: DataFrame, parts: int, one_task: int = ONE_TASK) -> tuple[DataFrame, int]:
    """The component of every node that has an edge, and how many rounds it took.

    Parameters
    ----------
    edges : DataFrame
        Blobs of edges.
    parts : int
        How many partitions work at once.
    one_task : int, optional
        So few edges are left to one task.

    Returns
    -------
    DataFrame
        ``node`` and ``component``, which is the least node of the component.
    int
        The number of rounds.
    """
    from pyspark.sql import functions as F

    def count(kept: DataFrame) -> tuple[int, int]:
        found: Any = kept.agg(F.sum(F.length("blob")), F.sum("part")).first()
        return (found[0] or 0) // PAIR, found[1] or 0

    held = graph = _keep(edges)
    n_edges, _ = count(held)
    rounds = 0
    while n_edges > one_task and rounds < ROUNDS:
        starred = _keep(_large_star(graph, parts))
        n_edges, undecided = count(starred)
        held.unpersist()
        held = graph = starred
        rounds += 1
        if undecided == 0:
            break
        graph = _small_star(starred, parts)
    else:
        graph = _contracted(graph, parts)
        parts = 1
    ends = to_parts(graph.mapInArrow(_to_ends(parts, True), BLOBS), parts)
    return ends.mapInArrow(_label, LABELS), rounds
