"""Sketches of a column of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from .._native import InvalidError
from .._recipe import Recipe
from .._sketch import Sketcher
from ._session import need_column, need_spark, need_text

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame

# The columns that a sketch adds.  Spark has no unsigned numbers: the 64 and the 32 bits are those of
# signed ones.
SKETCH_COLUMNS = ("simhash", "identity", "tokens", "shingles", "minima")


def sketch(
    df: DataFrame, text: str = "text", id: str | None = None, *, recipe: Recipe | str | None = None
) -> DataFrame:
    """Make the sketches of a column of texts: simhash, minima, and counts.

    The bits are those of ``neardup sketch`` and of :class:`neardup.Sketcher`, whatever the
    partitions.  Nothing is shuffled.

    Parameters
    ----------
    df : DataFrame
        The documents.
    text : str, optional
        The column with the text: strings, or binary values in UTF-8.
    id : str, optional
        The column that names a document.  None: all columns but the text stay.
    recipe : Recipe or str, optional
        Its section ``[sketch]`` says what a shingle is.

    Returns
    -------
    DataFrame
        The id or the other columns, and for each text ``simhash`` and ``identity`` (the hash of its
        tokens) as ``bigint``, ``tokens`` and ``shingles`` (how many) as ``bigint``, ``minima`` as an
        array of 128 ``int``.  Spark has no unsigned numbers: these are the same bits as signed ones.
        A row without a text has nulls.

    Raises
    ------
    InvalidError
        There is no such column or recipe, or the column does not hold texts.

    Examples
    --------
    >>> df = spark.createDataFrame([("a", "one two three four five")], "id string, text string")
    >>> sketch(df, "text", "id").select("id", "tokens", "shingles").collect()
    [Row(id='a', tokens=5, shingles=3)]
    """
    need_spark()
    from pyspark.sql import types

    need_text(df, text)
    if id is not None:
        need_column(df, id)
    # Errors of the recipe appear here, not on an executor.
    canonical = Sketcher(recipe).recipe.text
    left = [id] if id is not None else [name for name in df.columns if name != text]
    if taken := [name for name in left if name in SKETCH_COLUMNS]:
        raise InvalidError(f"column '{taken[0]}' has the name of one that is made: rename it")
    schema = types.StructType([df.schema[name] for name in left])
    for name in SKETCH_COLUMNS[:4]:
        schema = schema.add(name, types.LongType())
    schema = schema.add("minima", types.ArrayType(types.IntegerType(), containsNull=False))
    return df.select(text, *left).mapInArrow(_sketch_batches(canonical), schema)


def _sketch_batches(
    canonical: str,
) -> Callable[[Iterator[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]:
    def run(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        sketcher = Sketcher(Recipe.parse(canonical))
        for batch in batches:
            yield sketched(sketcher, batch)

    return run


def sketched(sketcher: Sketcher, batch: pyarrow.RecordBatch) -> pyarrow.RecordBatch:
    """A batch whose first column, the text, gives way to the columns of its sketch."""
    import pyarrow

    table = pyarrow.record_batch(sketcher(batch.column(0)))
    arrays = list(batch.columns[1:])
    arrays += [table[name].view(pyarrow.int64()) for name in SKETCH_COLUMNS[:4]]
    arrays.append(_lists(table["minima"]))
    return pyarrow.RecordBatch.from_arrays(arrays, [*batch.schema.names[1:], *SKETCH_COLUMNS])


def _lists(fixed: pyarrow.FixedSizeListArray) -> pyarrow.ListArray:
    """The minima as Spark wants them: lists whose length may vary, of signed numbers."""
    import pyarrow

    values = fixed.values.view(pyarrow.int32())
    width = fixed.type.list_size
    if fixed.null_count == 0:
        offsets = pyarrow.array(range(0, (len(fixed) + 1) * width, width), pyarrow.int32())
        return pyarrow.ListArray.from_arrays(offsets, values)
    return fixed.view(pyarrow.list_(pyarrow.int32(), width)).cast(pyarrow.list_(pyarrow.int32()))
