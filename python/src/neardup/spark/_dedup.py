"""Deduplication of a DataFrame of Spark, with the decisions of one machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from .. import _native
from .._dedup import Result as LocalResult
from .._dedup import dedup as local_dedup
from .._plan import recipe_of
from .._recipe import Recipe, Value
from ._candidates import BLOBS, Sketching, columns_for, edges_of, labels_at_once, rows_of, write
from ._components import components
from ._packing import COMPONENT, buckets_for, packed, unpacked
from ._session import cores_of, is_classic, need_column, need_spark, need_text

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

# So many documents in components are made known to every executor, 16 bytes each; of more, the texts
# are joined with their components by a shuffle.
KNOWN_TO_ALL = 1_000_000
# Bytes of the input, as it is stored, for a partition: a task costs some .035 seconds of a processor,
# whatever it does.
PARTITION_BYTES = 16 << 20
# Spark estimates 2^63 - 1 bytes if it knows nothing; so an estimate above this is none.
UNKNOWN_BYTES = 1 << 62
# Records of so many bytes, of 880,000 documents, are linked by one task; and inputs of fewer bytes than
# these are sketched in the hope that it suffices.
ONE_TASK_BYTES = 128 << 20
SMALL_BYTES = 1 << 30
# The manifest of so many documents in components is made when they are found, and known to the driver.
COLLECTED = 100_000

NODE = "__neardup_node"

EVIDENCE = (
    "identical string, verified boolean, jaccard double, shared bigint, a bigint, b bigint, distance int, cut boolean"
)


class Deduplicated(NamedTuple):
    """The result of :func:`dedup`: two DataFrames, which Spark computes when they are used."""

    survivors: DataFrame
    manifest: DataFrame

    def unpersist(self) -> None:
        """Forget what the executors hold; it is made again where it is needed."""
        self.manifest.unpersist()


@dataclass(frozen=True)
class Documents:
    """Which columns of a DataFrame say what, and the recipe by which its rows are compared."""

    df: DataFrame
    recipe: Recipe
    text: str
    names: tuple[str, ...]  # of id and order
    order: tuple[str, ...]
    within: str | None
    others: tuple[str, ...]  # that the decision reads: of the policy, and of features
    fields: tuple[str, ...]
    parts: int
    is_small: bool  # as far as the bytes of its input tell


def refuse(recipe: Recipe | str | None, made: Recipe) -> None:
    """Raise where a recipe does not run on Spark; rows_new says why: executors have no df tables."""
    try:
        rows_of(made.text)
    except (_native.UnsupportedError, _native.InvalidError) as error:
        name = f"recipe {recipe}" if isinstance(recipe, str) else "this recipe"
        raise _native.UnsupportedError(f"{name} does not run on Spark: {error}") from None


def documents_of(
    df: DataFrame,
    made: Recipe,
    recipe: Recipe | str | None,
    text: str,
    id: str | None,
    order_by: str | Sequence[str],
    within: str | None,
    others: Sequence[str | None],
    partitions: int | None,
) -> Documents:
    """Check what a caller asks for.

    Raises
    ------
    InvalidError
        There is no such column, or it does not hold texts.
    UnsupportedError
        The recipe does not run on Spark.
    """
    need_text(df, text)
    order = (order_by,) if isinstance(order_by, str) else tuple(order_by)
    fields = tuple(dict.fromkeys(_native.recipe_fields(made._native)))
    if not order:
        raise _native.InvalidError("order_by: a DataFrame has no order, so that a column must say which row is first")
    for name in (id, within, *others, *fields):
        if name is not None:
            need_column(df, name)
    for name in order:
        kind = need_column(df, name)
        if kind.startswith(("map", "variant", "struct", "array", "interval")):
            raise _native.InvalidError(f"order_by: column '{name}' holds {kind}, not a plain value")
        if "collate" in kind:
            raise _native.UnsupportedError(f"order_by: column '{name}' holds {kind}, whose order Spark alone knows")
    refuse(recipe, made)
    size = _bytes_of(df)
    if partitions is None:
        partitions = _partitions_of(df, size)
    if partitions < 1:
        raise _native.InvalidError(f"partitions: {partitions} is less than 1")
    names = tuple(dict.fromkeys(([id] if id else []) + list(order)))
    read = tuple(dict.fromkeys(name for name in (within, *others, *fields) if name is not None))
    return Documents(
        df, made, text, names, order, within, read, fields, partitions, (size or SMALL_BYTES) < SMALL_BYTES
    )


def _bytes_of(df: DataFrame) -> int | None:
    """The bytes of the input as Spark estimates them; None: it does not say, of an RDD or by Spark Connect."""
    if not is_classic(df.sparkSession):
        return None
    plan: Any = df._jdf.queryExecution().optimizedPlan()
    size = int(str(plan.stats().sizeInBytes()))
    return size if size < UNKNOWN_BYTES else None


def _partitions_of(df: DataFrame, size: int | None) -> int:
    """As many partitions as the bytes of the input fill, and two for each core at least.

    Where Spark does not know the bytes, the partitions of the frame decide.
    """
    least = 2 * cores_of(df.sparkSession)
    if size is not None:
        return max(least, -(-size // PARTITION_BYTES))
    return max(least, df.rdd.getNumPartitions()) if is_classic(df.sparkSession) else least


def _sketched(documents: Documents, refuses_nulls: bool) -> DataFrame:
    """Rows and keys of all documents, as blobs."""
    from pyspark.sql import functions as F

    df = documents.df
    if not refuses_nulls:
        df = df.where(F.col(quoted(documents.text)).isNotNull())
    columns, within, fields = columns_for(documents.text, documents.within, documents.fields)
    is_missing = F.lit(False)
    for name in documents.order:
        is_missing = is_missing | F.col(quoted(name)).isNull()
    names = tuple(str(name) for name in columns.names)
    sketching = Sketching(documents.recipe.text, names, within, fields, refuses_nulls)
    # Columns of one name could stand twice: the text as a field, too.
    read = [F.col(quoted(name)).alias(f"c{i}") for i, name in enumerate(names)]
    return df.select(_node(documents.order), is_missing, *read).mapInArrow(sketching, BLOBS)


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _node(order: Sequence[str]) -> Any:
    """A document's number: 64 bits of its place in the order.

    Two documents that share one by chance are one node while components are made, and so are decided
    together.
    """
    from pyspark.sql import functions as F

    return F.xxhash64(*(F.col(quoted(name)) for name in order)).alias(NODE)


class Candidates(NamedTuple):
    """How candidates are found: by which recipe, whether in the hope that one task suffices, by how many else."""

    recipe: str
    is_small: bool
    parts: int


class Labels(NamedTuple):
    """The component of every document that has one: known to the driver, or held by the executors."""

    n: int
    table: pyarrow.Table | None
    frame: DataFrame | None

    def to_frame(self, spark: SparkSession) -> DataFrame:
        """Return the labels as a DataFrame of `NODE` and `COMPONENT`."""
        if self.frame is not None:
            return self.frame
        made: DataFrame = spark.createDataFrame(self.table)
        return made


def find_labels(sketched: DataFrame, how: Candidates) -> Labels:
    """The component of every document that has one.

    One task finds them where it has room for the records of all documents.  Where the bytes of the
    input say so, it gets the records at once; else they are held and counted first.
    """
    from pyspark.sql import functions as F

    found = labels_at_once(sketched, how.recipe, ONE_TASK_BYTES) if how.is_small else None
    if found is None:
        sketched = sketched.persist()
        size = sum(row[0] for row in sketched.select(F.length("blob")).collect())
        if size <= ONE_TASK_BYTES:
            found = labels_at_once(sketched, how.recipe, ONE_TASK_BYTES)
    if found is not None:
        labels = Labels(found.num_rows, found.rename_columns([NODE, COMPONENT]), None)
    else:
        edges, held = edges_of(sketched, how.recipe, how.parts)
        frame, _ = components(edges, how.parts)
        frame = frame.select(F.col("node").alias(NODE), F.col("component").alias(COMPONENT)).persist()
        labels = Labels(frame.count(), None, frame)
        for df in (edges, held):
            df.unpersist()
    sketched.unpersist()
    return labels


def in_components(documents: Documents, refuses_nulls: bool) -> tuple[DataFrame, int]:
    """The documents that could match others, packed, each component in one partition.

    Returns
    -------
    DataFrame
        Blobs with the component, the columns of id and order, the text, and what the decision reads.
    int
        How many documents that are.
    """
    from pyspark.sql import functions as F

    how = Candidates(documents.recipe.text, documents.is_small, documents.parts)
    found_labels = find_labels(_sketched(documents, refuses_nulls), how)
    labels, n = found_labels.to_frame(documents.df.sparkSession), found_labels.n
    texts = dict.fromkeys((*documents.names, documents.text, *documents.others))
    df = documents.df.where(F.col(quoted(documents.text)).isNotNull())
    df = df.select(*(F.col(quoted(name)) for name in texts), _node(documents.order))
    found = df.join(F.broadcast(labels) if n <= KNOWN_TO_ALL else labels, NODE).drop(NODE)
    blobs = found.mapInArrow(Packing(buckets_for(documents.parts, n)), BLOBS)
    return blobs.repartition(documents.parts, "part").sortWithinPartitions("part"), n


@dataclass(frozen=True)
class Packing:
    """Documents of components as blobs."""

    buckets: int

    def __call__(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        return write(packed(batches, self.buckets, (COMPONENT,)))


def by_components(batches: Iterator[pyarrow.RecordBatch], order: Sequence[str]) -> Iterator[pyarrow.Table]:
    """Tables of whole components in order."""
    for table in unpacked(batches, order):
        yield _in_order(table, order)


def _in_order(table: pyarrow.Table, order: Sequence[str]) -> pyarrow.Table:
    """Return the table.

    Raises
    ------
    InvalidError
        Two of its rows have the same place in the order.
    """
    import pyarrow.compute as pc

    is_same = None
    for name in (COMPONENT, *order):
        column = table.column(name).combine_chunks()
        here = pc.equal(column[1:], column[:-1])
        is_same = here if is_same is None else pc.and_kleene(is_same, here)
    place = pc.index(is_same, True).as_py()
    if place >= 0:
        values = ", ".join(f"{name} = {table.column(name)[place]}" for name in order)
        raise _native.InvalidError(f"order_by: several rows have {values}, so that none of them is first")
    return table.drop_columns([COMPONENT])


@dataclass(frozen=True)
class Deciding:
    """The engine of one machine, given whole components."""

    recipe: str
    text: str
    names: tuple[str, ...]
    order: tuple[str, ...]
    within: str | None
    prefer: tuple[str, tuple[str, ...]] | None

    def __call__(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for table in by_components(batches, self.order):
            result: LocalResult = local_dedup(
                table,
                self.text,
                recipe=Recipe.parse(self.recipe),
                within=self.within,
                prefer=self.prefer,
                threads=1,
            )
            yield from self._rows(table, result)

    def _rows(self, table: pyarrow.Table, result: LocalResult) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow

        removed = pyarrow.Table.from_batches([pyarrow.record_batch(result.removed)])
        arrays: list[Any] = []
        for rows in ("row", "kept_row", "via_row"):
            for name in self.names:
                arrays.append(table.column(name).take(removed.column(rows)))
        for name, kind in evidence_types().items():
            arrays.append(removed.column(name).cast(kind))
        yield from pyarrow.Table.from_arrays(arrays, names=self.columns()).combine_chunks().to_batches()

    def columns(self) -> list[str]:
        """The names of the columns of a manifest."""
        names = [prefix + name for prefix in ("", "kept_", "via_") for name in self.names]
        return names + list(evidence_types())


def evidence_types() -> dict[str, pyarrow.DataType]:
    import pyarrow

    return {
        "identical": pyarrow.string(),
        "verified": pyarrow.bool_(),
        "jaccard": pyarrow.float64(),
        "shared": pyarrow.int64(),
        "a": pyarrow.int64(),
        "b": pyarrow.int64(),
        "distance": pyarrow.int32(),
        "cut": pyarrow.bool_(),
    }


def dedup(
    df: DataFrame,
    text: str = "text",
    id: str | None = None,
    *,
    order_by: str | Sequence[str],
    within: str | None = None,
    threshold: str | float | Fraction | None = None,
    shingle: int | str | None = None,
    method: Literal["minhash", "simhash", "identical"] | None = None,
    keep: str | None = None,
    prefer: tuple[str, Sequence[str]] | None = None,
    short: Literal["identical", "tokens", "keep"] | None = None,
    cluster: Literal["star", "components", "complete"] | None = None,
    recipe: Recipe | str | None = None,
    set: dict[str, Value] | None = None,
    nulls: Literal["keep", "drop", "raise"] = "keep",
    partitions: int | None = None,
) -> Deduplicated:
    """Remove near-duplicate documents from a DataFrame.

    The survivors and the manifest are those of :func:`neardup.dedup`, for rows that come in the order
    of `order_by`: partitions, executors and their failures change nothing.  Candidates are found when
    this function is called.  The decisions are made then, too, if no more than 100,000 documents could
    match others, and else when a result is used.

    Parameters
    ----------
    df : DataFrame
        The documents.
    text : str, optional
        The column with the text: strings, or binary values in UTF-8.
    id : str, optional
        The column with the ids, for the manifest.
    order_by : str or sequence of str
        The columns by which rows come one before another, as a DataFrame has no order.  No two rows
        have the same values in all of them, and none is null; the values do not change when Spark
        computes the DataFrame again.
    within : str, optional
        Compare only documents in which this column has the same value.
    threshold, shingle, method, keep, prefer, short, cluster, recipe, set, nulls
        As for :func:`neardup.dedup`.
    partitions : int, optional
        How many partitions the steps of the job have (default: one for every 16 MB of the input as it
        is stored, and at least two for each core).

    Returns
    -------
    Deduplicated
        ``survivors``, the rows that are kept, with the columns of `df`; and ``manifest``, a row for
        each that is removed: the columns of id and order; the same of the row that stands for it, as
        ``kept_…``, and of the neighbour that connects it, as ``via_…``; ``identical``, ``verified``,
        ``jaccard``, ``shared``, ``a``, ``b``, ``distance`` and ``cut`` as in
        :attr:`neardup.Result.removed`.

    Raises
    ------
    InvalidError
        An argument is wrong, or a column is missing or of another type.
    UnsupportedError
        The recipe finds candidates in a way that needs all documents in one place.

    Examples
    --------
    >>> rows = [(1, "a b c d e"), (2, "A, b, c, d, e"), (3, "f g")]
    >>> df = spark.createDataFrame(rows, "n int, text string")
    >>> survivors, manifest = dedup(df, order_by="n")
    >>> sorted(row.n for row in survivors.collect())
    [1, 3]
    >>> [(row.n, row.kept_n, row.identical) for row in manifest.collect()]
    [(2, 1, 'tokens')]
    """
    need_spark()
    from pyspark.sql import functions as F

    made = recipe_of(
        recipe, threshold=threshold, shingle=shingle, method=method, keep=keep, short=short, cluster=cluster, set=set
    )
    if nulls not in ("keep", "drop", "raise"):
        raise _native.InvalidError(f"nulls: '{nulls}' is not keep, drop or raise")
    if made["keep"] == "none":
        raise _native.UnsupportedError("keep: none is for neardup.dedup and the command; here filter the manifest")
    policy = made["keep"].partition(":")[2] or None
    others = (policy, prefer[0] if prefer else None)
    documents = documents_of(df, made, recipe, text, id, order_by, within, others, partitions)
    together, n = in_components(documents, nulls == "raise")
    preferred = (prefer[0], tuple(prefer[1])) if prefer else None
    deciding = Deciding(made.text, text, documents.names, documents.order, within, preferred)
    manifest = together.mapInArrow(deciding, _schema(documents))
    if n <= COLLECTED:
        manifest = df.sparkSession.createDataFrame(manifest.toArrow(), _schema(documents))
    else:
        manifest = manifest.persist()
    removed = manifest.select(*(F.col(quoted(name)) for name in documents.order))
    survivors = df.join(F.broadcast(removed) if n <= KNOWN_TO_ALL else removed, list(documents.order), "left_anti")
    survivors = survivors.select(*(F.col(quoted(name)) for name in df.columns))
    if nulls == "drop":
        survivors = survivors.where(F.col(quoted(text)).isNotNull())
    return Deduplicated(survivors, manifest)


def _schema(documents: Documents) -> Any:
    from pyspark.sql import types

    schema = types.StructType()
    for prefix in ("", "kept_", "via_"):
        for name in documents.names:
            schema = schema.add(prefix + name, documents.df.schema[name].dataType)
    for field in types.StructType.fromDDL(EVIDENCE):
        schema = schema.add(field)
    return schema
