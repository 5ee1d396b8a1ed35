"""Documents that could match, and the components that they form, without their texts.

Records travel in packed blobs (native/objects/shuffle.c), a row of a data frame for each: its kind, the part
that it goes to, and the records.  A step is a map over the partitions of such rows, in C.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from .. import _native
from .._frames import Columns
from .._recipe import Recipe

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame

# The schema of what travels, and its kinds of records.
BLOBS = "kind int, part int, blob binary"
LABELS = "node bigint, component bigint"
ROWS, KEYS, MEMBERS, ENTRIES, EDGES = range(5)

PAIR = 16  # bytes of two nodes
FLUSH = 16 << 20  # bytes of records after which a map writes blobs
BATCH = 32 << 20  # bytes of blobs in a batch that it yields

Step = Callable[[Iterator["pyarrow.RecordBatch"]], Iterator["pyarrow.RecordBatch"]]


@lru_cache(maxsize=4)
def rows_of(recipe: str) -> Any:
    """The maker of rows of a recipe's text, one for each process."""
    return _native.rows_new(Recipe.parse(recipe)._native)


def write(blobs: Iterable[tuple[int, int, bytes]]) -> Iterator[pyarrow.RecordBatch]:
    """Blobs with their kinds and parts as batches of bounded size."""
    some: list[tuple[int, int, bytes]] = []
    size = 0
    for blob in blobs:
        if not blob[2]:
            continue
        some.append(blob)
        size += len(blob[2])
        if size >= BATCH:
            yield _batch(some)
            some, size = [], 0
    if some:
        yield _batch(some)


def _batch(blobs: list[tuple[int, int, bytes]]) -> pyarrow.RecordBatch:
    import pyarrow

    kinds, parts, values = zip(*blobs)
    arrays = [pyarrow.array(kinds, pyarrow.int32()), pyarrow.array(parts, pyarrow.int32()), pyarrow.array(values)]
    return pyarrow.RecordBatch.from_arrays(arrays, ["kind", "part", "blob"])


def read(batches: Iterable[pyarrow.RecordBatch]) -> dict[int, list[Any]]:
    """The blobs of a partition by their kinds, without a copy."""
    found: dict[int, list[Any]] = {kind: [] for kind in range(5)}
    for batch in batches:
        for kind, blob in zip(batch.column("kind").to_pylist(), batch.column("blob")):
            found[kind].append(blob.as_buffer())
    return found


def deal(kind: int, blobs: list[Any], width: int, parts: int) -> list[tuple[int, int, bytes]]:
    """Records by the part that they go to."""
    return [(kind, part, blob) for part, blob in _native.records_deal(blobs, width, parts)]


def write_rows(made: Iterable[tuple[bytes, bytes]]) -> Iterator[pyarrow.RecordBatch]:
    """Rows and keys, those of some batches in a blob."""

    def blobs() -> Iterator[tuple[int, int, bytes]]:
        rows: list[bytes] = []
        keys: list[bytes] = []
        size = 0
        for more_rows, more_keys in made:
            rows.append(more_rows)
            keys.append(more_keys)
            size += len(more_rows) + len(more_keys)
            if size >= FLUSH:
                yield (ROWS, 0, b"".join(rows))
                yield (KEYS, 0, b"".join(keys))
                rows, keys, size = [], [], 0
        yield (ROWS, 0, b"".join(rows))
        yield (KEYS, 0, b"".join(keys))

    return write(blobs())


@dataclass(frozen=True)
class Sketching:
    """How rows are made of documents, and the keys that rows do not tell themselves.

    The first column that is read is the node, the second tells whether the order is missing, and the
    third is the text.
    """

    recipe: str
    columns: tuple[str, ...]
    within: int
    fields: tuple[int, ...]
    refuses_nulls: bool

    def __call__(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        maker = rows_of(self.recipe)
        return write_rows(self._make(maker, batch) for batch in batches)

    def _make(self, maker: Any, batch: pyarrow.RecordBatch) -> tuple[bytes, bytes]:
        import pyarrow

        if batch.column(1).true_count:
            raise _native.InvalidError("the column of the order is null in some row with a text")
        if self.refuses_nulls and batch.column(2).null_count:
            raise _native.InvalidError("the text is null in some row")
        frame = _native.frame_new(self.columns)
        table = pyarrow.Table.from_batches([batch.select(range(2, batch.num_columns)).rename_columns(self.columns)])
        _native.frame_open(frame, table.__arrow_c_stream__())
        while _native.frame_read(frame, 1 << 40):
            pass
        node = batch.column(0)
        nodes = memoryview(node.buffers()[1])[8 * node.offset : 8 * (node.offset + len(node))]
        return _native.rows_make(maker, frame, nodes, self.within, self.fields)


# ---- One task ----


def _label_at_once(recipe: str, most: int) -> Step:
    """The component of every document that has one, in one task; a row of nulls: that is too much for one."""

    def step(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow

        found: dict[int, list[Any]] = {ROWS: [], KEYS: []}
        size = 0
        for batch in batches:
            for kind, blobs in read([batch]).items():
                if blobs:
                    found[kind] += blobs
                    size += sum(blob.size for blob in blobs)
            if size > most:
                nothing = pyarrow.array([None], pyarrow.int64())
                yield pyarrow.RecordBatch.from_arrays([nothing, nothing], ["node", "component"])
                return
        yield from label([_native.rows_link(rows_of(recipe), found[ROWS], found[KEYS])])

    return step


def label(edges: Sequence[Any]) -> Iterator[pyarrow.RecordBatch]:
    """Nodes and components of edges that are contracted."""
    ends = [blob for _, blob in _native.edges_ends(edges, 1, True)]
    yield labelled(ends)


def labelled(ends: Sequence[Any]) -> pyarrow.RecordBatch:
    """Nodes and components of both ends of stars."""
    import pyarrow

    nodes, labels = (pyarrow.py_buffer(blob) for blob in _native.ends_labels(ends))
    arrays = [pyarrow.Array.from_buffers(pyarrow.int64(), part.size // 8, [None, part]) for part in (nodes, labels)]
    return pyarrow.RecordBatch.from_arrays(arrays, ["node", "component"])


def labels_at_once(sketched: DataFrame, recipe: str, most: int) -> pyarrow.Table | None:
    """The component of every document that has one, found by one task.

    Returns
    -------
    pyarrow.Table or None
        ``node`` and ``component``; None: there are more than so many bytes of records.
    """
    one = sketched.select("kind", "part", "blob").repartition(1)
    found = one.mapInArrow(_label_at_once(recipe, most), LABELS).toArrow()
    return None if found.num_rows and found.column(0).null_count else found


# ---- Many tasks ----


def _deal(recipe: str, parts: int) -> Step:
    """Rows by their nodes, and keys."""

    def step(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        maker = rows_of(recipe)
        width = _native.rows_width(maker)

        def blobs() -> Iterator[tuple[int, int, bytes]]:
            for batch in batches:
                found = read([batch])
                yield from deal(ROWS, found[ROWS], width, parts)
                keys = [*found[KEYS], _native.rows_keys(maker, found[ROWS])]
                yield from deal(KEYS, keys, PAIR, parts)

        return write(blobs())

    return step


def _find_buckets(recipe: str, parts: int) -> Step:
    """Documents that share a key: edges where they are equal, else members of a bucket."""

    def step(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        edges, members = _native.keys_buckets(rows_of(recipe), read(batches)[KEYS])
        blobs = [(EDGES, 0, _native.edges_contract([edges]))]
        return write(blobs + deal(MEMBERS, [members], PAIR, parts))

    return step


def _attach(recipe: str, parts: int) -> Step:
    """The rows of those that share a bucket with others."""

    def step(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        width = _native.rows_width(rows_of(recipe))
        found = read(batches)
        entries = _native.members_attach(width, found[ROWS], found[MEMBERS])
        return write(deal(ENTRIES, [entries], width + 8, parts))

    return step


def _link(recipe: str) -> Step:
    """A forest for each bucket, then one for the partition."""

    def step(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        edges = _native.entries_link(rows_of(recipe), read(batches)[ENTRIES])
        return write([(EDGES, 0, _native.edges_contract([edges]))])

    return step


def of_kind(blobs: DataFrame, kind: int) -> DataFrame:
    """The rows of one kind."""
    return blobs.where(blobs["kind"] == kind)


def to_parts(blobs: DataFrame, parts: int) -> DataFrame:
    """Rows of one part in one partition, as evenly as Spark can: before 4.1 some have several parts."""
    if hasattr(blobs, "repartitionById"):
        return blobs.repartitionById(parts, blobs["part"])
    return blobs.repartition(parts, "part")


def edges_of(sketched: DataFrame, recipe: str, parts: int) -> tuple[DataFrame, DataFrame]:
    """Edges that connect all documents that could match; and what is worth holding until they are made.

    Parameters
    ----------
    sketched : DataFrame
        What :class:`Sketching` made.
    """
    # Keys are derived twice, as that takes less than to hold them.
    dealt = sketched.mapInArrow(_deal(recipe, parts), BLOBS)
    bucketed = to_parts(of_kind(dealt, KEYS), parts).mapInArrow(_find_buckets(recipe, parts), BLOBS).persist()
    attached = to_parts(of_kind(dealt, ROWS).union(of_kind(bucketed, MEMBERS)), parts)
    entries = to_parts(attached.mapInArrow(_attach(recipe, parts), BLOBS), parts)
    linked = entries.mapInArrow(_link(recipe), BLOBS)
    return linked.union(of_kind(bucketed, EDGES)), bucketed


def columns_for(text: str, within: str | None, fields: Iterable[str]) -> tuple[Columns, int, tuple[int, ...]]:
    """The columns that a frame needs, with the numbers of the group's and the fields'."""
    columns = Columns(text)
    group = columns.add(within)
    return columns, group, tuple(dict.fromkeys(columns.add(name) for name in fields))
