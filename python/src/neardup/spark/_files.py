"""Sketch files of a DataFrame: written and read by the executors."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .. import _native
from .._plan import recipe_of
from .._recipe import Recipe
from .._sketch_file import Sketches, write_frames
from ._session import cores_of, is_classic, need_column, need_spark, need_text

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

# Spark has no unsigned numbers: the bits are those of signed ones.
_TYPES = {
    "id": "string",
    "text_hash": "binary",
    "identity": "bigint",
    "simhash": "bigint",
    "tokens": "bigint",
    "text_bytes": "bigint",
    "n_shingles": "bigint",
    "source": "string",
    "offset": "bigint",
    "line": "bigint",
    "low": "binary",
    "fingerprint": "bigint",
    "shingles": "array<bigint>",
}


def write_sketches(
    df: DataFrame,
    path: str | os.PathLike[str],
    text: str = "text",
    id: str | None = None,
    *,
    shingles: bool = True,
    recipe: Recipe | str | None = None,
) -> int:
    """Write the sketches of a DataFrame to a folder: each partition to a file of its own.

    The files are ``part-00000.sketch`` and so on, those of ``neardup sketch`` and of
    :func:`neardup.write_sketches`.  ``neardup sketch merge`` makes one of them.  A file appears when it
    is whole; a task that is repeated replaces its own.

    Parameters
    ----------
    df : DataFrame
        The documents.
    path : path
        A folder that the driver and all executors see under this name: of a file system, not of an
        object store.  It is made where there is none, and has no sketch files yet.
    text : str, optional
        The column with the text: strings, or binary values in UTF-8.  Rows without a text are left
        out.
    id : str, optional
        The column with the ids, of strings.
    shingles : bool, optional
        Whether to keep the hashes of all shingles.
    recipe : Recipe or str, optional
        What is computed.  A recipe that reads fields or needs a df table is refused.

    Returns
    -------
    int
        How many documents the files have.

    Raises
    ------
    InvalidError
        There is no such column, or it does not hold texts; the folder has sketch files.
    UnsupportedError
        The recipe reads what executors do not have.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> df = spark.createDataFrame([("a", "one two three four"), ("b", "five six")], "id string, text string")
    >>> write_sketches(df.coalesce(1), folder, id="id")
    2
    >>> read_sketches(spark, folder, columns=["id", "tokens"]).orderBy("id").collect()
    [Row(id='a', tokens=4), Row(id='b', tokens=2)]
    """
    need_spark()
    from pyspark.sql import functions as F

    need_text(df, text)
    if id is not None:
        need_column(df, id, ("string", "char", "varchar"), "strings")
    made = recipe_of(recipe)
    _refuse(made)
    folder = os.path.abspath(path)
    if glob.glob(os.path.join(glob.escape(folder), "*.sketch")):
        raise _native.InvalidError(f"{folder}: has sketch files already")
    os.makedirs(folder, exist_ok=True)
    columns = [F.col(_quoted(name)).alias(f"c{i}") for i, name in enumerate([text, id]) if name is not None]
    written = df.select(*columns).mapInArrow(_write_partition(folder, made.text, shingles), "documents bigint")
    return sum(int(row.documents) for row in written.collect())


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _refuse(made: Recipe) -> None:
    if _native.recipe_fields(made._native):
        raise _native.UnsupportedError("a recipe that reads fields does not run here: write the files by the command")
    if any(needs[0] or needs[1] for _, needs, _, _ in _native.recipe_tables(made._native)):
        raise _native.UnsupportedError("executors have no df tables: write the files by the command")


def _write_partition(
    folder: str, canonical: str, shingles: bool
) -> Callable[[Iterator[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]:
    def run(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow
        from pyspark import TaskContext

        context = TaskContext.get()
        number = context.partitionId() if context else 0

        def frames() -> Iterator[Any]:
            for batch in batches:
                frame = _native.frame_new(("c0", "c1") if batch.num_columns > 1 else ("c0",))
                _native.frame_take(frame, *batch.__arrow_c_array__())
                yield frame

        path = os.path.join(folder, f"part-{number:05}.sketch")
        count = write_frames(frames(), path, Recipe.parse(canonical), has_ids=True, shingles=shingles, threads=1)
        yield pyarrow.record_batch({"documents": pyarrow.array([count], pyarrow.int64())})

    return run


# ---- Reading ----


def _found(path: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[str]:
    """The files: one, several, or those of a folder."""
    paths = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    found: list[str] = []
    for one in map(os.path.abspath, paths):
        found += sorted(glob.glob(os.path.join(glob.escape(one), "*.sketch"))) if os.path.isdir(one) else [one]
    if not found:
        raise _native.InvalidError(f"{path}: there are no sketch files")
    return found


def _check_alike(files: Sequence[Sketches]) -> None:
    for file in files[1:]:
        if file.info["recipe"] != files[0].info["recipe"]:
            key = _native.recipe_difference(files[0].recipe._native, file.recipe._native)
            raise _native.InvalidError(f"{file.path}: its sketches were made by another recipe: {key} differs")
        if file.info["shingles"] != files[0].info["shingles"]:
            with_them, without = (file, files[0]) if file.info["shingles"] else (files[0], file)
            raise _native.InvalidError(f"{with_them.path} has shingles, and {without.path} has none")


def read_sketches(
    spark: SparkSession,
    path: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    columns: Sequence[str] | None = None,
) -> DataFrame:
    """Read sketch files as a DataFrame, block by block, on the executors.

    Parameters
    ----------
    spark : SparkSession
        The session.
    path : path or iterable of paths
        A sketch file, or a folder of them, that the driver and all executors see under this name.
    columns : sequence of str, optional
        The columns to read, as :func:`neardup.read_sketches` names them (default: all but
        ``shingles``).  Numbers are signed ones of the same bits, ``source`` is the path, and a
        fingerprint or another signature of more than one word is ``binary``.

    Returns
    -------
    DataFrame
        A row for each document.

    Raises
    ------
    InvalidError
        There is no file or no such column; the files have several recipes.
    Error
        A file is no sketch file, or is damaged.

    Examples
    --------
    >>> import neardup, os, tempfile
    >>> file = os.path.join(tempfile.mkdtemp(), "some.sketch")
    >>> neardup.write_sketches(["one two three four", "five six"], file)
    2
    >>> read_sketches(spark, file, columns=["line", "tokens"]).orderBy("line").collect()
    [Row(line=1, tokens=4), Row(line=2, tokens=2)]
    """
    need_spark()
    files = [Sketches(file, columns) for file in _found(path)]
    _check_alike(files)
    names = files[0].column_names
    types = {**_TYPES, "fingerprint": "binary" if files[0].info["fingerprint_bits"] > 64 else "bigint"}
    for name, words in files[0].info["signatures"].items():
        types[f"signature_{name}"] = "binary" if words > 1 else "bigint" if words else "array<bigint>"
    blocks = [(file.path, block) for file in files for block in range(file.info["blocks"])]
    schema = ", ".join(f"`{name}` {types[name]}" for name in names)
    if not blocks:
        return spark.createDataFrame([], schema)
    parts = min(len(blocks), 4 * cores_of(spark))
    rows = spark.sparkContext.parallelize(blocks, parts) if is_classic(spark) else blocks
    df = spark.createDataFrame(rows, "file string, block bigint")
    return df.mapInArrow(_read_blocks(names), schema)


def _read_blocks(
    names: list[str],
) -> Callable[[Iterator[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]:
    def run(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        opened: dict[str, Sketches] = {}
        for batch in batches:
            for file, block in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True):
                sketches = opened.get(file) or opened.setdefault(file, Sketches(file, names))
                yield _signed(sketches, block)

    return run


def _signed(sketches: Sketches, block: int) -> pyarrow.RecordBatch:
    """A block with the types that Spark has."""
    import pyarrow

    table = pyarrow.record_batch(sketches.table(block))
    arrays = []
    for name, array in zip(table.schema.names, table.columns, strict=True):
        kind = array.type
        if name == "source":
            array = pyarrow.array([_called(source) for source in sketches.sources], pyarrow.string()).take(array)
        elif kind == pyarrow.uint64():
            array = array.view(pyarrow.int64())
        elif kind == pyarrow.uint32():
            array = array.cast(pyarrow.int64())
        elif pyarrow.types.is_large_string(kind):
            array = array.cast(pyarrow.string())
        elif pyarrow.types.is_large_list(kind):
            array = pyarrow.LargeListArray.from_arrays(array.offsets, array.values.view(pyarrow.int64()))
            array = array.cast(pyarrow.list_(pyarrow.int64()))
        elif pyarrow.types.is_fixed_size_list(kind):
            words = array.values.to_numpy().tobytes()
            width = 8 * kind.list_size
            values = [words[width * i : width * (i + 1)] if array[i].is_valid else None for i in range(len(array))]
            array = pyarrow.array(values, pyarrow.binary())
        elif pyarrow.types.is_fixed_size_binary(kind):
            array = array.cast(pyarrow.binary())
        arrays.append(array)
    return pyarrow.RecordBatch.from_arrays(arrays, table.schema.names)


def _called(source: dict[str, Any]) -> str:
    return str(source["path"]) + (f"!{source['entry']}" if source["entry"] else "")
