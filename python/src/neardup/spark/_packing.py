"""Documents of components on their way to the tasks that decide, compressed.

Components fall into buckets.  Each partition makes a blob of its documents of a bucket, in which those
of a component follow each other, so that zstd stores what they share once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .. import _native

if TYPE_CHECKING:
    import pyarrow

COMPONENT = "__neardup_component"

# Documents of a bucket, on average.
BUCKET = 128
# So many bytes of documents are packed at once.
PACKED_BYTES = 32 << 20
# Bytes of text after which whole components are decided.
DECIDE_BYTES = 32 << 20
# Columns of so many bytes and more have offsets of 64 bits.
LARGE_BYTES = 1 << 30


def buckets_for(parts: int, documents: int) -> int:
    """How many buckets there are."""
    return max(parts, documents // BUCKET)


def packed(
    batches: Iterable[pyarrow.RecordBatch], buckets: int, keys: Sequence[str]
) -> Iterator[tuple[int, int, bytes]]:
    """Blobs of the documents of a partition, for :func:`_candidates.write`.

    Parameters
    ----------
    batches
        Documents with their components.
    buckets
        How many there are in all.
    keys
        The columns of 64 bits by which documents are sorted in a blob: the component, then others.
    """
    held: list[Any] = []
    size = 0
    for batch in batches:
        if batch.num_rows:
            held.append(batch)
            size += batch.nbytes
        if size >= PACKED_BYTES:
            yield from _pack(held, buckets, keys)
            held, size = [], 0
    if held:
        yield from _pack(held, buckets, keys)


def _pack(held: list[Any], buckets: int, keys: Sequence[str]) -> Iterator[tuple[int, int, bytes]]:
    import numpy
    import pyarrow

    table = _together([pyarrow.Table.from_batches([batch]) for batch in held])
    numbers = [table.column(name).to_numpy().astype(numpy.uint64) for name in keys]
    # The upper half of a product with an odd number depends on all bits of the component.
    bucket = (numbers[0] * numpy.uint64(0x9E3779B97F4A7C15) >> numpy.uint64(33)) % numpy.uint64(buckets)
    order = numpy.lexsort((*reversed(numbers), bucket))
    table, bucket = table.take(pyarrow.array(order)), bucket[order]
    ends = [*numpy.flatnonzero(bucket[1:] != bucket[:-1]) + 1, len(bucket)]
    options = pyarrow.ipc.IpcWriteOptions(compression="zstd", use_threads=False)
    start = 0
    for end in map(int, ends):
        sink = pyarrow.BufferOutputStream()
        with pyarrow.ipc.new_stream(sink, table.schema, options=options) as stream:
            stream.write_table(table.slice(start, end - start).combine_chunks())
        yield 0, int(bucket[start]), sink.getvalue().to_pybytes()
        start = end


def unpacked(batches: Iterable[pyarrow.RecordBatch], order: Sequence[str]) -> Iterator[pyarrow.Table]:
    """Tables of whole components, each of some megabytes or of one bucket, of blobs in the order of buckets.

    Components come one behind another, and the documents of each in their order.
    """
    import pyarrow

    held: list[Any] = []
    size, last = 0, None
    for batch in batches:
        for bucket, blob in zip(batch.column("part").to_pylist(), batch.column("blob")):
            if size >= DECIDE_BYTES and bucket != last:
                yield _sorted(_together(held), order)
                held, size = [], 0
            last = bucket
            held.append(pyarrow.ipc.open_stream(blob.as_buffer()).read_all())
            size += held[-1].nbytes
    if held:
        yield _sorted(_together(held), order)


def _together(tables: list[Any]) -> pyarrow.Table:
    """One table.

    Raises
    ------
    InvalidError
        A column has types in them that do not go together.
    """
    import pyarrow

    try:
        table = pyarrow.concat_tables(tables, promote_options="permissive")
    except pyarrow.ArrowException as error:
        raise _native.InvalidError(f"columns of the files differ in their types: {error}") from None
    if table.nbytes < LARGE_BYTES:
        return table
    large = {pyarrow.string(): pyarrow.large_string(), pyarrow.binary(): pyarrow.large_binary()}
    return table.cast(pyarrow.schema([field.with_type(large.get(field.type, field.type)) for field in table.schema]))


def _sorted(table: pyarrow.Table, order: Sequence[str]) -> pyarrow.Table:
    """The table by components, and by the columns of the order in them."""
    import pyarrow
    import pyarrow.compute as pc

    # A name is no path in a number's place.
    keys = pyarrow.table({str(i): table.column(name) for i, name in enumerate((COMPONENT, *order))})
    indices = pc.sort_indices(keys, sort_keys=[(name, "ascending") for name in keys.column_names])
    return table.take(indices)
