"""Deduplication of files whose lines have no place of their own: Parquet, Arrow, CSV, compressed lines.

A unit is what one task reads: row groups of a Parquet file, or a whole file of another kind.  A
document is called by its unit and its number there.  The texts of documents that could match are
read a second time, and travel in blobs (_packing.py) to the tasks that decide.
"""

from __future__ import annotations

import array
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import _native
from .._by_command import Archive, is_archive
from .._frames import Columns
from .._outputs import Outputs
from .._packed import endings
from .._sources import AllBut, Parquet, Source, kind_of
from ._candidates import BLOBS, rows_of, write, write_rows
from ._dedup import NODE, Labels
from ._packing import COMPONENT, buckets_for, packed, unpacked
from ._places import Asked, called, manifest_of, written

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

# In the name of a document, the bits of its number in its unit.
UNIT_SHIFT = 44
NUMBER = (1 << UNIT_SHIFT) - 1
# Row groups of so many bytes, unpacked, are a unit.
UNIT_BYTES = 64 << 20


# ---- Units ----


def units_of(files: Sequence[str], unit_bytes: int = UNIT_BYTES) -> tuple[dict[str, list[int]], int]:
    """The units of files, and their bytes.

    A unit has its number, its file, its first row group and the one behind its last, and the number of
    its first row in the file.
    """
    found: dict[str, list[int]] = {"range": [], "file": [], "start": [], "stop": [], "row": []}
    size = 0

    def add(file: int, start: int, stop: int, row: int) -> None:
        for column, value in zip(found.values(), (len(found["range"]), file, start, stop, row)):
            column.append(value)

    for number, path in enumerate(files):
        if kind_of(path) is not Parquet:
            size += os.path.getsize(path)
            add(number, 0, 0, 0)
            continue
        groups = Parquet(path, path).sizes()
        start = row = held = rows = 0
        for group, (n, of_group) in enumerate(groups):
            if group > start and held + of_group > unit_bytes:
                add(number, start, group, row)
                start, row, held = group, rows, 0
            held += of_group
            rows += n
            size += of_group
        add(number, start, len(groups), row)
    return found, size


def reader_of(path: str) -> type[Source] | None:
    """Return the class that reads a file of this name: the command reads web archives."""
    return Archive if is_archive(path) else kind_of(path)


def opened(files: Sequence[str], unit: dict[str, Any]) -> Source:
    """Return the source that reads a unit."""
    path = files[unit["file"]]
    kind = reader_of(path)
    assert kind
    source = kind(path, path)
    if isinstance(source, Parquet):
        source.groups = range(unit["start"], unit["stop"])
    return source


# ---- Steps ----


@dataclass(frozen=True)
class SketchingUnits:
    """Records of the documents of units."""

    recipe: str
    files: tuple[str, ...]
    columns: Columns
    within: int
    fields: tuple[int, ...]

    def __call__(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        return write_rows(self._made(batches))

    def _made(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[tuple[bytes, bytes]]:
        maker = rows_of(self.recipe)
        for batch in batches:
            for unit in batch.to_pylist():
                node = unit["range"] << UNIT_SHIFT
                for rows in opened(self.files, unit).rows(self.columns):
                    nodes = array.array("q", range(node, node + rows.count))
                    node += rows.count
                    if rows.count:
                        yield _native.rows_make(maker, rows.frame, nodes, self.within, self.fields)


@dataclass(frozen=True)
class Gathering:
    """The documents of units that have a component, in blobs."""

    files: tuple[str, ...]
    columns: Columns
    buckets: int

    def __call__(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        return write(packed(self._documents_of(batches), self.buckets, (COMPONENT, NODE)))

    def _documents_of(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in batches:
            units = batch.drop_columns(["labels"]).to_pylist()
            for unit, labels in zip(units, batch.column("labels")):
                yield from self._documents(unit, labels.values)

    def _documents(self, unit: dict[str, Any], labels: pyarrow.StructArray) -> Iterator[pyarrow.RecordBatch]:
        import numpy

        nodes, components = (labels.field(name).to_numpy() for name in (NODE, COMPONENT))
        order = numpy.argsort(nodes)
        nodes, components = nodes[order], components[order]
        source = opened(self.files, unit)
        at = 0
        for batch in source.picked(self.columns, (nodes & NUMBER).tolist()):
            end = at + batch.num_rows
            for name, values in ((COMPONENT, components), (NODE, nodes)):
                batch = batch.append_column(name, values[at:end])
            yield batch
            at = end
        if at < len(nodes):
            raise _native.Error(f"{source.path}: changed while it was read")


@dataclass(frozen=True)
class DecidingUnits:
    """The engine of one machine, given whole components in blobs."""

    asked: Asked
    unit_files: tuple[int, ...]
    unit_rows: tuple[int, ...]

    def __call__(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for table in unpacked(batches, (NODE,)):
            nodes = table.column(NODE).to_pylist()
            data = table.drop_columns([COMPONENT, NODE])
            result = self.asked.decide(data)
            ids = None if self.asked.id is None else as_strings(data.column(self.asked.id))
            yield manifest_of(result, nodes, ids, self._place)

    def _place(self, node: int) -> tuple[str, int, int]:
        unit = node >> UNIT_SHIFT
        return self.asked.files[self.unit_files[unit]], self.unit_rows[unit] + (node & NUMBER), unit


def as_strings(ids: Any) -> Any:
    """Ids of any type as strings."""
    import pyarrow

    try:
        return ids.cast(pyarrow.string()).combine_chunks()
    except pyarrow.ArrowException:
        return pyarrow.array([called(one) for one in ids.to_pylist()], pyarrow.string())


@dataclass(frozen=True)
class WritingUnits:
    """The records that are kept, of each unit in a file of its own, as its file was written."""

    files: tuple[str, ...]
    folder: str

    def __call__(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        return written(batches, self._write)

    def _write(self, unit: dict[str, Any]) -> tuple[int, int]:
        gone = [node & NUMBER for node in unit["gone"] or ()]
        source, mask = opened(self.files, unit), AllBut(gone)
        with Outputs() as outputs:
            path = os.path.join(self.folder, f"part-{unit['range']:05}{endings(source.path)}")
            source.copy(mask, outputs.open(path, is_plain=isinstance(source, Archive)), None)
            outputs.publish()
        return mask.count, mask.count - len(gone)


# ---- The job ----


@dataclass(frozen=True)
class UnitsJob:
    """The steps of a job over units."""

    asked: Asked
    pieces: dict[str, list[int]]
    size: int

    @classmethod
    def of(cls, asked: Asked) -> UnitsJob:
        """The job over the files that are asked for."""
        return cls(asked, *units_of(asked.files, UNIT_BYTES))

    def sketching(self) -> SketchingUnits:
        """The first step."""
        return SketchingUnits(self.asked.recipe, self.asked.files, *self.asked.columns())

    def decided(self, spark: SparkSession, labels: Labels, parts: int, schema: str) -> DataFrame:
        """The documents that are removed."""
        asked = self.asked
        columns = Columns(asked.text)
        for name in (asked.id, *asked.others):
            if name != asked.text:
                columns.add(name)
        deciding = DecidingUnits(asked, tuple(self.pieces["file"]), tuple(self.pieces["row"]))
        gathering = Gathering(asked.files, columns, buckets_for(parts, labels.n))
        blobs = self._labelled(spark, labels, parts).mapInArrow(gathering, BLOBS)
        return blobs.repartition(parts, "part").sortWithinPartitions("part").mapInArrow(deciding, schema)

    def _labelled(self, spark: SparkSession, labels: Labels, parts: int) -> DataFrame:
        """The units that have documents with a component, and these."""
        import pyarrow
        from pyspark.sql import functions as F

        units = pyarrow.table({name: pyarrow.array(some, pyarrow.int64()) for name, some in self.pieces.items()})
        if labels.table is None:
            unit = F.shiftrightunsigned(NODE, UNIT_SHIFT).alias("range")
            of_units = (
                labels.to_frame(spark).groupBy(unit).agg(F.collect_list(F.struct(NODE, COMPONENT)).alias("labels"))
            )
            return spark.createDataFrame(units).join(of_units, "range").repartition(parts, "range")
        import numpy

        table = labels.table.sort_by(NODE).combine_chunks()
        starts = numpy.arange(len(units) + 1, dtype=numpy.int64) << UNIT_SHIFT
        offsets = numpy.searchsorted(table.column(NODE).to_numpy(), starts)
        lists = pyarrow.ListArray.from_arrays(
            pyarrow.array(offsets, pyarrow.int32()), table.to_struct_array().combine_chunks()
        )
        has_some = pyarrow.array(offsets[1:] > offsets[:-1])
        made: DataFrame = spark.createDataFrame(units.append_column("labels", lists).filter(has_some))
        return made

    def writing(self, folder: str) -> WritingUnits:
        """The last step."""
        return WritingUnits(self.asked.files, folder)
