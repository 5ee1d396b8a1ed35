"""Fingerprints within k bits of queries: the map and the reduce of Manku 2007, §3.3.

The queries are broadcast, and the documents stream past them, one Arrow batch or one packed block
after another.  Nothing is shuffled.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from .._hamming import HammingBatch
from .._native import InvalidError
from ._session import need_classic, need_column, need_spark

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame

# The columns of packed blocks: how many fingerprints, their words, and their ids as an Arrow stream.
BLOCK_COLUMNS = ("count", "fingerprints", "ids")
BLOCK_BYTES = 4 << 20

_Batches = Iterator["pyarrow.RecordBatch"]


def _word_bytes(bits: int) -> int:
    return 8 * ((bits + 63) // 64)


def _need_fingerprints(df: DataFrame, name: str, bits: int) -> None:
    """Refuse a column that does not hold fingerprints of so many bits."""
    if bits <= 64:
        need_column(df, name, ("bigint",), "fingerprints of 64 bits or fewer as bigint")
    else:
        need_column(df, name, ("binary",), "fingerprints of more than 64 bits as binary")


def _words(array: pyarrow.Array, bits: int) -> memoryview:
    """The words of fingerprints that are all there; an error names a row where one is not."""
    size = _word_bytes(bits)
    if array.null_count:
        raise InvalidError("a fingerprint is null")
    if bits <= 64:
        return memoryview(array.buffers()[1])[array.offset * 8 : (array.offset + len(array)) * 8]
    joined = b"".join(array.to_pylist())
    lengths = {len(value.as_buffer()) for value in array}
    if lengths - {size}:
        raise InvalidError(f"a fingerprint of {bits} bits has {size} bytes, not {min(lengths - {size})}")
    return memoryview(joined)


# ---- Packed blocks ----


def pack_fingerprints(
    df: DataFrame,
    fingerprint: str = "simhash",
    id: str = "id",
    *,
    bits: int = 64,
    block_bytes: int = BLOCK_BYTES,
) -> DataFrame:
    """Pack fingerprints into blocks, which are joined several times faster than rows.

    Write them once (``.write.parquet(…)``), and join them with each batch of queries.

    Parameters
    ----------
    df : DataFrame
        The documents, such as :func:`sketch` makes.
    fingerprint : str, optional
        The column with the fingerprint: ``bigint`` for up to 64 bits, else ``binary`` with the words
        in little-endian order, the lowest bits first.  Rows in which it is null are left out.
    id : str, optional
        The column that names a document.
    bits : int, optional
        Bits of a fingerprint, 32 to 512 (default: 64).
    block_bytes : int, optional
        The bytes of the fingerprints of a block.

    Returns
    -------
    DataFrame
        A row for each block: ``count``, ``fingerprints`` and ``ids``.

    Examples
    --------
    >>> df = spark.createDataFrame([(1, 0xFF00), (2, 0xFF0F)], "id bigint, simhash bigint").coalesce(1)
    >>> pack_fingerprints(df).select("count").collect()
    [Row(count=2)]
    """
    need_spark()
    _need_fingerprints(df, fingerprint, bits)
    need_column(df, id)
    if block_bytes < _word_bytes(bits):
        raise InvalidError(f"a block of {block_bytes} bytes has no room for a fingerprint of {bits} bits")
    rows = block_bytes // _word_bytes(bits)
    return df.select(fingerprint, id).mapInArrow(
        _pack_batches(bits, rows), "count bigint, fingerprints binary, ids binary"
    )


def _pack_batches(bits: int, rows: int) -> Callable[[_Batches], _Batches]:
    def run(batches: _Batches) -> _Batches:

        held: list[pyarrow.RecordBatch] = []
        count = 0
        for batch in batches:
            batch = batch.filter(batch.column(0).is_valid()) if batch.column(0).null_count else batch
            while count + batch.num_rows >= rows:
                yield _pack([*held, batch.slice(0, rows - count)], bits)
                batch, held, count = batch.slice(rows - count), [], 0
            if batch.num_rows:
                held.append(batch)
                count += batch.num_rows
        if held:
            yield _pack(held, bits)

    return run


def _pack(batches: list[pyarrow.RecordBatch], bits: int) -> pyarrow.RecordBatch:
    """One block."""
    import pyarrow

    table = pyarrow.Table.from_batches(batches).combine_chunks()
    words = bytes(_words(table.column(0).chunk(0), bits))
    sink = pyarrow.BufferOutputStream()
    ids = table.select([1]).to_batches()
    with pyarrow.ipc.new_stream(sink, ids[0].schema) as stream:
        stream.write_batch(ids[0])
    arrays = [
        pyarrow.array([table.num_rows], pyarrow.int64()),
        pyarrow.array([words], pyarrow.binary()),
        pyarrow.array([sink.getvalue().to_pybytes()], pyarrow.binary()),
    ]
    return pyarrow.RecordBatch.from_arrays(arrays, list(BLOCK_COLUMNS))


def _unpack(batches: _Batches) -> Iterator[tuple[memoryview, pyarrow.Array]]:
    """The words and the ids of each block."""
    import pyarrow

    for batch in batches:
        for i in range(batch.num_rows):
            words = memoryview(batch.column(1)[i].as_buffer())
            with pyarrow.ipc.open_stream(batch.column(2)[i].as_buffer()) as stream:
                yield words, stream.read_next_batch().column(0)


def _unpacked(batches: _Batches, bits: int) -> Iterator[tuple[memoryview, pyarrow.Array]]:
    """Yield the fingerprints of rows and their ids."""
    for batch in batches:
        if batch.column(0).null_count:
            batch = batch.filter(batch.column(0).is_valid())
        yield _words(batch.column(0), bits), batch.column(1)


# ---- The join ----


def join_fingerprints(
    df: DataFrame,
    queries: DataFrame,
    k: int = 3,
    *,
    bits: int = 64,
    fingerprint: str = "simhash",
    id: str = "id",
) -> DataFrame:
    """Find all documents within `k` bits of each query, exactly.

    The map and the reduce of Manku 2007, §3.3: the queries go to every executor, and the fingerprints
    of the documents stream past them where they are.

    Parameters
    ----------
    df : DataFrame
        The documents as rows, or as blocks of :func:`pack_fingerprints`.
    queries : DataFrame
        The queries, with the same columns.  The driver collects them.
    k : int, optional
        The greatest distance, 0 to 16 (default: 3).
    bits : int, optional
        Bits of a fingerprint, 32 to 512 (default: 64).
    fingerprint : str, optional
        The column with the fingerprint: ``bigint`` for up to 64 bits, else ``binary`` with the words
        in little-endian order, the lowest bits first.  Rows in which it is null match nothing.
    id : str, optional
        The column that names a document, or a query.

    Returns
    -------
    DataFrame
        A row for each match, in no order: ``query`` (its id), ``id`` (of the document) and
        ``distance``.

    Raises
    ------
    InvalidError
        A column is missing or of another type, or `k` or `bits` is out of range.
    UnsupportedError
        The session is one of Spark Connect, which has no broadcast variables for Python.

    Notes
    -----
    Each Python process of an executor, one for each of its cores, needs 32 MB and about 550 bytes for
    each query, or 1 GB and an index of them from 2 million queries on.

    Examples
    --------
    >>> df = spark.createDataFrame([(1, 0xFF00), (2, 0xFF0F), (3, 0x3F)], "id bigint, simhash bigint")
    >>> queries = spark.createDataFrame([("q", 0xFF01)], "id string, simhash bigint")
    >>> join_fingerprints(df, queries, 3).orderBy("id").collect()
    [Row(query='q', id=1, distance=1), Row(query='q', id=2, distance=3)]
    """
    need_spark()
    from pyspark.sql import types

    need_classic(df.sparkSession, "join_fingerprints")
    is_packed = tuple(df.columns) == BLOCK_COLUMNS
    if is_packed:
        id_type = _packed_id(df)
    else:
        _need_fingerprints(df, fingerprint, bits)
        need_column(df, id)
        id_type = df.schema[id].dataType
    _need_fingerprints(queries, fingerprint, bits)
    need_column(queries, id)
    words, ids = _collect(queries.select(fingerprint, id), bits)
    # Bits and a distance out of range appear here, not on an executor.
    HammingBatch(bytes(words[: _word_bytes(bits)]), bits, k)
    shared = df.sparkSession.sparkContext.broadcast((words, ids))
    schema = types.StructType().add("query", queries.schema[id].dataType)
    schema = schema.add("id", id_type).add("distance", types.IntegerType())
    rows = df if is_packed else df.select(fingerprint, id)
    return rows.mapInArrow(_match_batches(shared, uuid.uuid4().hex, bits, k, is_packed), schema)


def _packed_id(df: DataFrame) -> Any:
    """The type of the ids of blocks, which the first block knows; of none any will do."""
    import pyarrow
    from pyspark.sql.pandas.types import from_arrow_type
    from pyspark.sql.types import StringType

    first = df.select("ids").head()
    if first is None:
        return StringType()
    with pyarrow.ipc.open_stream(first["ids"]) as stream:
        return from_arrow_type(stream.schema.field(0).type)


def _collect(queries: DataFrame, bits: int) -> tuple[bytes, pyarrow.Array]:
    """The words and the ids of the queries."""
    import pyarrow

    found = list(_unpacked(iter(queries.toArrow().to_batches()), bits))
    ids = [array for _, array in found]
    return b"".join(words for words, _ in found), pyarrow.concat_arrays(ids) if ids else pyarrow.array([])


# The batch of the last join, for the next task of the same Python process.
_batch: tuple[str, HammingBatch] | None = None


def _batch_of(shared: Any, token: str, bits: int, k: int) -> HammingBatch:
    global _batch
    if _batch is None or _batch[0] != token:
        _batch = None
        _batch = token, HammingBatch(shared.value[0], bits, k)
    return _batch[1]


def _match_batches(shared: Any, token: str, bits: int, k: int, is_packed: bool) -> Callable[[_Batches], _Batches]:
    def run(batches: _Batches) -> _Batches:
        if not shared.value[0]:
            return
        batch = _batch_of(shared, token, bits, k)
        for words, ids in _unpack(batches) if is_packed else _unpacked(batches, bits):
            pairs = batch.feed(words)
            if len(pairs):
                yield _matches(pairs, shared.value[1], ids)

    return run


def _matches(pairs: Any, query_ids: pyarrow.Array, ids: pyarrow.Array) -> pyarrow.RecordBatch:
    import pyarrow

    table = pyarrow.record_batch(pairs)
    arrays = [query_ids.take(table["query"]), ids.take(table["place"]), table["distance"].view(pyarrow.int32())]
    return pyarrow.RecordBatch.from_arrays(arrays, ["query", "id", "distance"])
