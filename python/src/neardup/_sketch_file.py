"""Files of sketches: written from data of every kind, and read a block at a time."""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from . import _native
from ._df import Frequencies, give_tables
from ._outputs import Outputs
from ._plan import Reading, recipe_of
from ._progress import Progress, reporting
from ._recipe import Recipe, Value
from ._sources import Rows, Source, find
from ._table import Table

if TYPE_CHECKING:
    from ._native import _Column, _Columns

__all__ = ["Sketches", "read_sketches", "write_sketches"]

Path = str | os.PathLike[str]


# ---- Writing ----


class FrameWriter:
    """A sketch file under construction, and what it is made by."""

    def __init__(self, native: Any, reading: Reading, id_column: int, threads: int, nulls: str) -> None:
        self._native = native
        self._reading = reading
        self._fields = tuple(dict.fromkeys(reading.fields + reading.recorded_columns))
        self._id = id_column
        self._threads = threads
        self._nulls = nulls

    def add(
        self, frame: Any, line: int, places: bytes | None, where: str, report: Callable[[int, int], object] | None
    ) -> int:
        null = _native.frame_null(frame) if self._nulls == "raise" else None
        if null is not None:
            raise _native.InvalidError(f"{where}row {null}: the text is null")
        return _native.sketch_writer_add(
            self._native, frame, self._id, self._fields, line, places, self._threads, report
        )

    def end_source(self, path: str, bytes_hash: int, records: int) -> None:
        _native.sketch_writer_source(self._native, path, bytes_hash, records)

    def finish(self) -> None:
        _native.sketch_writer_finish(self._native)


def places_of(rows: Rows, line: int) -> tuple[bytes | None, int]:
    """The line and the offset of each row, where it has an offset; and the next line."""
    if rows.offsets is None:
        return None, line + rows.count
    places = array("Q", bytes(16 * rows.count))
    at = 0
    for row, other in [*rows.lines, (rows.count, 0)]:
        places[2 * at : 2 * row : 2] = array("Q", range(line, line + row - at))
        at, line, end = row, other, line + row - at
    places[1::2] = rows.offsets
    return places.tobytes(), end


def _write_files(writer: FrameWriter, sources: Sequence[Source], progress: Callable[[int, int], object] | None) -> int:
    """The rows of files, each a source of its own."""
    total = sum(source.mark.size for source in sources)
    count = done = 0
    for source in sources:
        line = source.first_line
        for rows in source.rows(writer._reading.columns):
            places, after = places_of(rows, line)
            count += writer.add(rows.frame, line, places, f"{source.path}: ", None)
            line = after
            if progress:
                progress(min(done + source.bytes, total), total)
        done += source.mark.size
        writer.end_source(source.path, source.hash(), source.records)
        source.check_unchanged()
    return count


def write_sketches(
    data: Any,
    path: Path,
    text: str | None = "text",
    id: str | None = None,
    *,
    shingles: bool = True,
    fields: Sequence[str] = (),
    length: bool = False,
    recipe: Recipe | str | None = None,
    set: Mapping[str, Value] | None = None,
    df: Frequencies = None,
    threads: int = 0,
    progress: Progress = None,
    nulls: Literal["drop", "raise"] = "drop",
) -> int:
    r"""Write the sketches of all documents to a file, as ``neardup sketch -o FILE.sketch`` does.

    Commands read such a file in place of the documents.  Of a file of JSON Lines, CSV or TSV it has
    the bytes that the command writes, where `id` is ``"id"``, as the command's is, and no record is
    bad.

    Each document names its source, and its place in it:

    ==============================  ============================================================
    data                            source, hash, line, offset
    ==============================  ============================================================
    a path of ``.jsonl``, ``.csv``  the path, the hash of the file, the line and the byte where
    or ``.tsv``                     the record begins
    a path of ``.parquet`` or       the path, the hash of the file, the number of the row from 1,
    ``.arrow``, or a folder         0; of a folder each file is a source
    anything else                   ``-``, 0, the number of the row from 1, 0
    ==============================  ============================================================

    Parameters
    ----------
    data : frame, iterable or path
        As for :func:`dedup`.  Files are read in bounded memory.
    path : path
        The sketch file, which appears when it is whole.
    text, id : str, optional
        The columns with the text and with the ids.  A document without an id is called by its place.
    shingles : bool, optional
        Whether to keep the hashes of all shingles, about 7 bytes each.  With them pairs are verified
        without the texts; without them their resemblance can only be estimated.
    fields : sequence of str, optional
        The columns whose values the file keeps, at most 8, as ``--record-field`` does: later runs group
        documents by them (`within`), set them apart (`never`), or choose among them (`keep`, `prefer`).
    length : bool, optional
        Keep the length of each text, as ``--record-length`` does, by which ``keep="longest"`` and
        ``"shortest"`` choose.
    recipe : Recipe or str, optional
        Its section ``[sketch]`` and its signatures say what is computed.
    set : dict, optional
        Other keys of the recipe to change.
    df : DocumentFrequencies, path or "auto", optional
        The df table for the signatures that need one; ``"auto"``: count the data first, if it is no
        path.
    threads : int, optional
        How many threads work; 0: one for each processor.
    progress : bool or callable, optional
        As for :func:`dedup`; of files it is called with bytes.
    nulls : {"drop", "raise"}, optional
        Rows without a text have no sketch: leave them out, or refuse them.

    Returns
    -------
    int
        How many documents the file has.

    Raises
    ------
    InvalidError, UnsupportedError, TypeError
        As :func:`dedup`; the output would replace what is read.
    OSError
        The file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> rows = [{"id": "a", "text": "one two three four"}, {"id": "b", "text": "five six seven"}]
    >>> write_sketches(rows, folder / "some.sketch", id="id")
    2
    >>> [row["id"] for table in read_sketches(folder / "some.sketch") for row in table]
    ['a', 'b']
    """
    if nulls not in ("drop", "raise"):
        raise _native.InvalidError(f"nulls: '{nulls}' is not drop or raise")
    to = os.fspath(path)
    made = recipe_of(recipe, set=set)
    reading = Reading(made, text)
    if isinstance(fields, str):
        raise _native.InvalidError(f"fields: a list of names, not '{fields}'")
    reading.record([*([""] if length else []), *fields])
    id_column = reading.columns.add(id)
    is_path = isinstance(data, (str, os.PathLike))
    sources = find(os.fspath(data))[0] if is_path else []
    if is_path and not sources:
        raise _native.Error(f"{data}: no input could be read")
    source = None if is_path else reading.open(data)
    give_tables(made, df, source, threads)
    with Outputs() as outputs, reporting(progress) as report:
        for one in sources:
            outputs.reads(one.path)
        output = outputs.open(to, is_evidence=False, is_plain=True)
        if output.file is None:
            raise _native.InvalidError(f"{to}: a sketch file must be a regular file")
        native = _native.sketch_writer_new(made._native, output.file, shingles, reading.recorded)
        writer = FrameWriter(native, reading, id_column, threads, nulls)
        if source is None:
            count = _write_files(writer, sources, report)
        else:
            count = writer.add(source.frame, 1, None, "", report)
            writer.end_source("-", 0, _native.frame_rows(source.frame))
        _native.sketch_writer_finish(native)
        outputs.publish()
    return count


@contextmanager
def writing(
    path: str, reading: Reading, id_column: int, *, shingles: bool = True, threads: int = 1
) -> Iterator[Callable[[Any], int]]:
    """Write native frames as one source: give the function that adds one and returns its number of documents."""
    rows = 0
    with Outputs() as outputs:
        output = outputs.open(path, is_evidence=False, is_plain=True)
        native = _native.sketch_writer_new(reading.recipe._native, output.file, shingles, reading.recorded)
        writer = FrameWriter(native, reading, id_column, threads, "drop")

        def add(frame: Any) -> int:
            nonlocal rows
            count = writer.add(frame, rows + 1, None, "", None)
            rows += _native.frame_rows(frame)
            return count

        yield add
        writer.end_source("-", 0, rows)
        writer.finish()
        outputs.publish()


def write_frames(
    frames: Iterator[Any], path: str, recipe: Recipe, *, has_ids: bool, shingles: bool, threads: int
) -> int:
    """Write the sketches of native frames, one after the other: a text, and where there are two columns an id."""
    with writing(path, Reading(recipe, None), int(has_ids), shingles=shingles, threads=threads) as add:
        count = sum(map(add, frames))
    return count


# ---- Reading ----

_ALWAYS = "id text_hash identity simhash tokens text_bytes n_shingles source offset line low".split()


def _chosen(wanted: Sequence[str] | None, there: Sequence[str], path: str) -> list[str]:
    if wanted is None:
        return [name for name in there if name != "shingles"]
    if isinstance(wanted, str):
        raise _native.InvalidError(f"columns: a list of names, not '{wanted}'")
    for name in wanted:
        if name not in there:
            raise _native.InvalidError(f"{path}: there is no column '{name}'; there are {list(there)}")
    return list(dict.fromkeys(wanted))


class Sketches:
    """A sketch file: its rows in tables of some thousand, one for each block of the file.

    A block is read when its table is taken, so that memory does not grow with the file.  Each loop
    begins at the first block; threads may loop at once.  Frames read the whole by the Arrow
    PyCapsule interface: ``pyarrow.RecordBatchReader.from_stream(sketches)``.

    Parameters
    ----------
    path : path
        The file.
    columns : sequence of str, optional
        The columns to read, as for :func:`read_sketches`.

    Attributes
    ----------
    recipe : Recipe
        What the sketches were made by.  A df table that it names is not part of the file.
    info : dict
        ``documents``, ``blocks``, ``generation`` (how often it was written to), ``bytes``,
        ``shingles`` (whether they are kept), ``fingerprint_bits`` (0: the signatures are not one
        simhash), ``signatures`` (the 64-bit words of each by its name; 0: it is a set of any number),
        ``fields`` (those whose values are kept), ``length`` (whether the lengths of texts
        are) and ``recipe``, the fingerprint of the recipe.
    sources : list of dict
        What the documents were read from: ``path``, ``entry`` (the name in an archive, or None),
        ``bytes_hash`` (XXH3 of the file; 0: unknown) and ``records``.
    column_names : list of str
        The columns that are read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "some.sketch"
    >>> _ = write_sketches(["one two three four", "five six seven"], file)
    >>> sketches = read_sketches(file, columns=["tokens", "shingles"])
    >>> sketches
    <neardup.Sketches of 2 documents: tokens, shingles>
    >>> [(row["tokens"], len(row["shingles"])) for table in sketches for row in table]
    [(4, 2), (3, 1)]
    >>> sketches.recipe["shingle"], sketches.info["blocks"], sketches.sources[0]["path"]
    ('3', 1, '-')
    """

    def __init__(self, path: Path, columns: Sequence[str] | None = None) -> None:
        self._place: Any = None  # the folder of the file, where it goes with this object
        self.path = os.fspath(path)
        self._native = _native.sketch_file_open(self.path)
        about = _native.sketch_file_info(self._native)
        text, fingerprint, generation, documents, blocks, bits, has_shingles, size, fields, words = about
        names = re.findall(r"(?m)^\[signature (.+)\]$", text)
        self._signatures = ["fingerprint"] if bits else [f"signature_{name}" for name in names]
        there = [*_ALWAYS, *self._signatures, *(["shingles"] if has_shingles else [])]
        self.column_names = _chosen(columns, there, self.path)
        self.recipe = Recipe.parse(text, self.path)
        self.info: dict[str, Any] = {
            "documents": documents,
            "blocks": blocks,
            "generation": generation,
            "bytes": size,
            "shingles": has_shingles,
            "fingerprint_bits": bits,
            "signatures": dict(zip(names, words, strict=True)),
            "fields": [name for name in fields if name],
            "length": "" in fields,
            "recipe": f"{fingerprint:016x}",
        }
        self.sources: list[dict[str, Any]] = [
            {"path": name, "entry": entry, "bytes_hash": bytes_hash, "records": records}
            for name, entry, bytes_hash, records in _native.sketch_file_sources(self._native)
        ]

    def _read(self, block: int) -> tuple[_Columns, int]:
        """The columns of a block, and how many rows it has; -1: those of no rows."""
        wanted = tuple(name if name in self.column_names else None for name in self._signatures)
        id_column, others, signatures, shingles, count = _native.sketch_file_read(
            self._native, block, "shingles" in self.column_names, wanted
        )
        by_name: dict[str, _Column] = {
            column[0]: column for column in (id_column, *others, *signatures, shingles) if column
        }
        return tuple(by_name[name] for name in self.column_names), count

    def table(self, block: int) -> Table:
        """Read one block.

        Parameters
        ----------
        block : int
            Its number, from 0.

        Returns
        -------
        Table
            Its rows.
        """
        if not 0 <= block < self.info["blocks"]:
            raise IndexError(block)
        return Table(*self._read(block))

    def _batches(self) -> Iterator[tuple[_Columns, int]]:
        for block in range(self.info["blocks"]):
            yield self._read(block)

    def __len__(self) -> int:
        """How many documents there are."""
        return int(self.info["documents"])

    def __iter__(self) -> Iterator[Table]:
        return (Table(columns, count) for columns, count in self._batches())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return _native.table_stream(self._read(-1)[0], self._batches())

    def __repr__(self) -> str:
        return f"<neardup.Sketches of {len(self):,} documents: {', '.join(self.column_names)}>"


def paths_of_sketches(files: Path | Sketches | Sequence[Path | Sketches]) -> list[str]:
    """The paths of sketch files, each of which is a path or open."""
    some = [files] if isinstance(files, (str, os.PathLike, Sketches)) else files
    return [one.path if isinstance(one, Sketches) else os.fspath(one) for one in some]


def read_sketches(path: Path, columns: Sequence[str] | None = None) -> Sketches:
    """Open a file of sketches.

    Parameters
    ----------
    path : path
        What ``neardup sketch -o FILE.sketch`` or :func:`write_sketches` has written.
    columns : sequence of str, optional
        The columns to read (default: all but ``shingles``):

        ================  ========================================================================
        column            meaning
        ================  ========================================================================
        id                the document's id; None: it is called by its place
        text_hash         XXH3 of its text, 16 bytes, the lower half first
        identity          the hash of its tokens
        simhash           the simhash of its shingles
        tokens            how many tokens it has
        text_bytes        how many bytes its text has, as UTF-8
        n_shingles        how many distinct shingles it has
        source            the number of its source in ``sources``
        offset, line      where its record begins there: a byte, and a line from 1 (0: the document
                          is a whole file)
        low               the low byte of each of the 128 minima
        fingerprint       by the recipe's only signature of kind simhash: a number, or of more than
                          64 bits a list of words; None: it has none
        ``signature_…``   by each signature of another recipe, with its name: a number, or a list of
                          words (minima, super-shingles, a digest for each lexicon); of a signature of
                          values the list of them.  None, or no values: the document has none
        shingles          the hashes of its distinct shingles, ascending
        ================  ========================================================================

        ``fingerprint``, ``signature_…`` and ``shingles`` are not in every file.

    Returns
    -------
    Sketches
        The rows, block by block, with the recipe and the sources.

    Raises
    ------
    OSError
        The file cannot be read.
    Error
        It is no sketch file, or is damaged; where a block is, that is raised when it is read.
    InvalidError
        It has no such column.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "some.sketch"
    >>> _ = write_sketches(["one two three four", "five six seven"], file)
    >>> for table in read_sketches(file):
    ...     print(table["tokens"][:], table["line"][:], len(table["text_hash"][0]))
    [4, 3] [1, 2] 16
    """
    return Sketches(path, columns)
