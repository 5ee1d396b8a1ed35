"""All pairs of documents of a DataFrame that match."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from .._pairs import pairs as local_pairs
from .._plan import recipe_of
from .._recipe import Recipe, Value
from ._dedup import by_components, documents_of, in_components
from ._session import need_spark

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame

EVIDENCE = {
    "jaccard": "double",
    "shared": "bigint",
    "union": "bigint",
    "a": "bigint",
    "b": "bigint",
    "distance": "int",
    "is_equal": "boolean",
}


@dataclass(frozen=True)
class Pairing:
    """The pairs of one machine, of whole components."""

    recipe: str
    text: str
    names: tuple[str, ...]
    order: tuple[str, ...]
    within: str | None

    def __call__(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow

        kinds = {"double": pyarrow.float64(), "bigint": pyarrow.int64(), "int": pyarrow.int32()}
        for table in by_components(batches, self.order):
            found = local_pairs(table, self.text, recipe=Recipe.parse(self.recipe), within=self.within, threads=1)
            pairs = pyarrow.Table.from_batches([pyarrow.record_batch(found)])
            arrays: list[Any] = []
            for rows in ("row_a", "row_b"):
                arrays += [table.column(name).take(pairs.column(rows)) for name in self.names]
            for name, kind in EVIDENCE.items():
                arrays.append(pairs.column(name).cast(kinds.get(kind, pyarrow.bool_())))
            names = [name + end for end in ("_a", "_b") for name in self.names]
            made = pyarrow.Table.from_arrays(arrays, names=names + list(EVIDENCE))
            yield from made.combine_chunks().to_batches()


def pairs(
    df: DataFrame,
    text: str = "text",
    id: str | None = None,
    *,
    order_by: str | Sequence[str],
    within: str | None = None,
    threshold: str | float | Fraction | None = None,
    shingle: int | str | None = None,
    method: Literal["minhash", "simhash", "identical"] | None = None,
    short: Literal["identical", "tokens", "keep"] | None = None,
    recipe: Recipe | str | None = None,
    set: dict[str, Value] | None = None,
    partitions: int | None = None,
) -> DataFrame:
    """List every pair of near-duplicates, with its evidence.

    The pairs are those of :func:`neardup.pairs`, for rows that come in the order of `order_by`.  Of n
    equal documents every two are a pair: where there are many, deduplicate first.

    Parameters
    ----------
    df, text, id, order_by, within
        As for :func:`dedup`.
    threshold, shingle, method, short, recipe, set
        As for :func:`neardup.pairs`.
    partitions
        As for :func:`dedup`.

    Returns
    -------
    DataFrame
        A row for each pair: the columns of id and order of the earlier row, with ``_a`` behind their
        names, and of the later one, with ``_b``; ``jaccard``, ``shared``, ``union``, ``a``, ``b``,
        ``distance`` and ``is_equal`` as :func:`neardup.pairs` has them.

    Raises
    ------
    InvalidError, UnsupportedError
        As :func:`dedup`.

    Examples
    --------
    >>> rows = [(1, "a b c d e"), (2, "a b c d e f"), (3, "g h i")]
    >>> df = spark.createDataFrame(rows, "n int, text string")
    >>> pairs(df, order_by="n", threshold=0.7).select("n_a", "n_b", "shared", "union").collect()
    [Row(n_a=1, n_b=2, shared=3, union=4)]
    """
    need_spark()
    from pyspark.sql import types

    made = recipe_of(recipe, threshold=threshold, shingle=shingle, method=method, short=short, set=set)
    documents = documents_of(df, made, recipe, text, id, order_by, within, (), partitions)
    together, _ = in_components(documents, False)
    schema = types.StructType()
    for end in ("_a", "_b"):
        for name in documents.names:
            schema = schema.add(name + end, df.schema[name].dataType)
    for field in types.StructType.fromDDL(", ".join(f"`{name}` {kind}" for name, kind in EVIDENCE.items())):
        schema = schema.add(field)
    return together.mapInArrow(Pairing(made.text, text, documents.names, documents.order, within), schema)
