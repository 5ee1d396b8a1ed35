"""Deduplication of files that the executors read and write themselves."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from .. import _native
from .._by_command import is_archive
from .._files import expanded
from .._packed import COMPRESSIONS
from .._plan import recipe_of
from .._recipe import Recipe, Value
from .._sources import JsonLines, kind_of
from ._candidates import BLOBS
from ._dedup import COLLECTED, EVIDENCE, NODE, SMALL_BYTES, Candidates, evidence_types, find_labels, refuse
from ._lines import RANGE_BYTES, LinesJob
from ._places import Asked, manifest_columns
from ._session import cores_of, need_spark
from ._units import UnitsJob, reader_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# _sources reads these.
KINDS = ".jsonl, .ndjson, .json, .csv, .tsv, .warc and .arc, also compressed, .parquet and .arrow"


class FilesDeduplicated(NamedTuple):
    """The result of :func:`dedup_files`: the manifest, and how many documents there were and how many are kept."""

    manifest: DataFrame
    documents: int
    kept: int


def _sources(source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> tuple[str, ...]:
    paths = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    files = tuple(os.path.abspath(one) for path in paths for one in expanded(os.fspath(path)))
    if not files:
        raise _native.InvalidError("there are no files")
    for path in files:
        if reader_of(path) is None:
            raise _native.UnsupportedError(
                f"{path}: executors read files of {KINDS}; read any other by spark.read, and call dedup"
            )
        if not os.path.isfile(path):
            raise _native.InvalidError(f"{path}: there is no such file")
    if len({bool(cast(Any, reader_of(path)).is_text) for path in files}) > 1:
        raise _native.UnsupportedError(f"{files[0]}, …: tables and files of lines are read by themselves")
    return files


def check_archives(asked: Asked) -> None:
    """Refuse fields that documents of web archives do not have.

    Raises
    ------
    UnsupportedError
        There is a web archive, and something decides that is not its text.
    """
    for path in filter(is_archive, asked.files):
        for name in (asked.text, asked.id, *asked.others):
            if name not in (None, "text", "id"):
                raise _native.UnsupportedError(f"{path}: documents of web archives have no '{name}', but text and id")


def _is_cut(path: str) -> bool:
    """Whether ranges of the file are read."""
    return kind_of(path) is JsonLines and os.path.splitext(path)[1].lower() not in COMPRESSIONS


def dedup_files(
    spark: SparkSession,
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    target: str | os.PathLike[str],
    text: str = "text",
    id: str | None = None,
    *,
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
    partitions: int | None = None,
) -> FilesDeduplicated:
    r"""Remove near-duplicate documents from files that the executors read themselves.

    The survivors and the manifest are those of :func:`neardup.dedup_files`, for the files in the order
    in which they are given.  Of JSON Lines no text passes through Java: a task reads a range of a file,
    and one that decides reads the lines of its documents again.  Of other files a task reads some row
    groups, or all; the texts that could match are read again, and travel compressed to where they are
    decided.

    Parameters
    ----------
    spark : SparkSession
        The session.
    source : path or sequence of paths
        Files of JSON Lines, CSV or TSV, also compressed, of Parquet or Arrow IPC, or web archives, which
        the command ``neardup`` beside the package reads, with the fields text and id; or patterns such
        as ``"pages/*.parquet"``.  The driver and all executors see them under these names, and nobody
        changes them.
    target : path
        A folder for the survivors, seen likewise.  It is made where there is none, and has no such
        files yet.  What a task reads goes to ``part-00000.jsonl`` and so on, in the format and with the
        compression of its file; lines byte for byte.
    text : str, optional
        The field with the text.
    id : str, optional
        The field with the ids, for the manifest.
    within, threshold, shingle, method, keep, prefer, short, cluster, recipe, set : optional
        As for :func:`dedup`.  Lines without a text are kept.
    partitions : int, optional
        How many tasks decide (default: one for every 64 MB, and at least two for each core).

    Returns
    -------
    FilesDeduplicated
        ``manifest``, a row for each document that is removed: ``file``, ``offset``, the byte where its
        line begins, or the number of its row, from 0, if not all files are plain JSON Lines; and ``id``
        if one is asked for; the same of the one that stands for it, as ``kept_…``, and of the neighbour
        that connects it, as ``via_…``; and the evidence, as of :func:`dedup`.  Moreover ``documents``
        and ``kept``, how many there were and are.

    Raises
    ------
    InvalidError
        An argument is wrong, there is no such file, or the folder has survivors already.  A line that
        is no object, or has no text, stops the job with ``file:line: reason``.
    UnsupportedError
        A file is of another kind, or the recipe does not run on Spark.

    Examples
    --------
    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with open(f"{folder}/pages.jsonl", "w") as file:
    ...     _ = file.write('{"text": "a b c d e"}\\n{"text": "A, b, c, d, e"}\\n{"text": "f g"}\\n')
    >>> result = dedup_files(spark, f"{folder}/pages.jsonl", f"{folder}/kept")
    >>> result.documents, result.kept
    (3, 2)
    >>> [(row.offset, row.kept_offset, row.identical) for row in result.manifest.collect()]
    [(22, 0, 'tokens')]
    """
    need_spark()
    import pyarrow
    from pyspark.sql import functions as F

    made = recipe_of(
        recipe, threshold=threshold, shingle=shingle, method=method, keep=keep, short=short, cluster=cluster, set=set
    )
    if made["keep"] == "none":
        raise _native.UnsupportedError("keep: none is for neardup.dedup and the command; here filter the manifest")
    refuse(recipe, made)
    files = _sources(source)
    folder = os.path.abspath(target)
    os.makedirs(folder, exist_ok=True)
    if any(name.startswith("part-") and not name.endswith(".tmp") for name in os.listdir(folder)):
        raise _native.InvalidError(f"{folder}: has survivors already")
    fields = tuple(dict.fromkeys(_native.recipe_fields(made._native)))
    policy = made["keep"].partition(":")[2] or None
    preferred = (prefer[0], tuple(prefer[1])) if prefer else None
    others = dict.fromkeys((within, policy, preferred and preferred[0], *fields))
    read = tuple(name for name in others if name is not None)
    asked = Asked(made.text, files, text, id, within, preferred, fields, read)
    check_archives(asked)
    job = LinesJob.of(asked) if all(map(_is_cut, files)) else UnitsJob.of(asked)
    parts = max(2 * cores_of(spark), -(-job.size // RANGE_BYTES)) if partitions is None else partitions
    if parts < 1:
        raise _native.InvalidError(f"partitions: {partitions} is less than 1")

    table = pyarrow.table({name: pyarrow.array(some, pyarrow.int64()) for name, some in job.pieces.items()})
    sketched = spark.createDataFrame(table).mapInArrow(job.sketching(), BLOBS)
    labels = find_labels(sketched, Candidates(made.text, job.size < SMALL_BYTES, parts))
    kinds = {"file": "string", "offset": "bigint", "id": "string"}
    schema = [f"`{name}` {kinds[name.rpartition('_')[2]]}" for name in manifest_columns(id)[: -len(evidence_types())]]
    whole = ", ".join([*schema, EVIDENCE, f"{NODE} bigint", "range bigint"])
    decided = job.decided(spark, labels, parts, whole)
    if labels.n <= COLLECTED:
        collected = decided.toArrow()
        decided = spark.createDataFrame(collected, whole)
        gone: list[list[int]] = [[] for _ in range(len(table))]
        for number, place in zip(collected.column("range").to_pylist(), collected.column(NODE).to_pylist()):
            gone[number].append(place)
        kept = spark.createDataFrame(table.append_column("gone", pyarrow.array(gone, pyarrow.list_(pyarrow.int64()))))
    else:
        decided = decided.persist()
        lists = decided.groupBy("range").agg(F.collect_list(NODE).alias("gone"))
        kept = spark.createDataFrame(table).join(lists, "range", "left")
    counts = kept.mapInArrow(job.writing(folder), "documents bigint, kept bigint").collect()
    manifest = decided.select(*manifest_columns(id))
    return FilesDeduplicated(manifest, sum(row.documents for row in counts), sum(row.kept for row in counts))
