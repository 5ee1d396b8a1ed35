"""Files in, files out: deduplication in bounded memory."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

from . import _native
from ._against import Against, check_alone
from ._by_command import dedup_by_command, is_for_command
from ._evidence import Evidence, Input, Work
from ._files import expanded
from ._outputs import Outputs
from ._plan import Never, Plan, Preferred, check_nulls, recipe_of
from ._recipe import Recipe, Value
from ._remote import Remote, check_apart, is_folder_of
from ._room import Room
from ._sketch_file import Sketches, paths_of_sketches
from ._sketched import Sketched
from ._sources import Added, Rows, Source, ahead, find, kind_of, release_unused

Path = str | os.PathLike[str]

# Rows that are left out and named.
_SHOWN = 20


class FilesResult:
    r"""The result of a run over files.

    Attributes
    ----------
    summary : dict
        The command's summary.
    outputs : list of str
        The files of survivors, in the order of the inputs.
    warnings : list of str
        What is probably a mistake, in the command's words.
    left_out : list of str
        The places of rows without a text that were left out: the first 20.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "in.jsonl").write_text('{"text": "one two three"}\n{"text": "One, two, three"}\n')
    >>> result = dedup_files(folder / "in.jsonl", folder / "out.jsonl")
    >>> result
    <neardup.FilesResult: 2 documents in 1 file, 1 kept, 1 removed>
    >>> result.summary["identical_tokens"]
    1
    """

    def __init__(self, summary: dict[str, Any], outputs: list[str], warnings: list[str], left_out: list[str]) -> None:
        self.summary = summary
        self.outputs = outputs
        self.warnings = warnings
        self.left_out = left_out

    def __repr__(self) -> str:
        s = self.summary
        files = sum(kind["files"] for kind in s["inputs"])
        return (
            f"<neardup.FilesResult: {s['documents']:,} documents in {files:,} file{'s' * (files != 1)}, "
            f"{s['kept']:,} kept, {s['removed']:,} removed>"
        )


class Run:
    """A run over files: what to read, what to decide by, what to write."""

    def __init__(
        self,
        plan: Plan,
        *,
        nulls: str = "keep",
        judges: bool = False,
        max_bad: Fraction | None = None,
        threads: int = 0,
        folder: str | None = None,
        memory: str | int | None = None,
        against: Sequence[str] = (),
        append: bool = False,
        only_against: bool = False,
        hold: str | int | None = None,
        copies_field: str | None = None,
        progress: Callable[[float, int], object] | None = None,
        sketched: Sketched | None = None,
    ) -> None:
        self._plan = plan
        self._nulls = nulls
        # Whether too many rows without a text are refused, and how many are (None: as the command does).
        self._judges = judges
        self._max_bad = max_bad
        self._threads = threads
        self._folder = folder or tempfile.gettempdir()
        self._memory = None if memory is None else _native.memory_parse(str(memory))
        if append and not against:
            raise _native.InvalidError("append adds the survivors to the last file of against, and there is none")
        if append and plan.keep == "none":
            raise _native.InvalidError(
                "append does not go with keep none: of a cluster nothing would be added, and later documents of it "
                "would be kept"
            )
        if copies_field is not None and not copies_field:
            raise _native.InvalidError("copies_field must not be empty")
        self._copies_field = copies_field
        if only_against:
            check_alone(plan, against, append=append, copies=copies_field is not None)
        self._against: Against | None = None
        if against or sketched:
            self._against = Against(
                plan,
                against,
                append=append,
                folder=self._folder,
                threads=threads,
                alone=only_against,
                memory=self._memory,
                sketched=sketched,
            )
        self._is_final_at_once = plan.is_final_at_once and memory is None and not against and copies_field is None
        self._room = Room(0 if hold is None and memory is not None else hold)
        self._progress = progress
        self._sources: list[Source] = []
        self._masks: list[bytearray] = []
        self._work = Work(threads=threads)
        self._passes = 2 if self._is_final_at_once else 3
        self._last_told = 0.0
        self.warnings: list[str] = []
        self.left_out: list[str] = []

    def read(self, paths: Sequence[str], below: bool, remote: Remote | None = None) -> None:
        """Find the files; below: names of outputs begin below a folder that was given."""
        others = []
        for path in paths:
            sources, unread = find(path, below, remote)
            self._sources += sources
            others += unread
        for source in self._sources:
            source.room = self._room
            if self._copies_field is not None:
                source.added = Added(self._copies_field, lambda row, n: b"")
        if others:
            which = f"left out {len(others)} file{'s' * (len(others) > 1)} that Python does not read"
            self._warn(f"{which} (the first is {others[0]})")
        if not self._sources:
            raise _native.Error("no input could be read")

    @property
    def sources(self) -> Sequence[Source]:
        """The files that are read."""
        return self._sources

    def _warn(self, message: str) -> None:
        self.warnings.append(message)

    def _tell(self, number: int, share: float, documents: int) -> None:
        """Tell how much of all passes is done; at most ten times a second."""
        now = time.monotonic()
        if self._progress and now - self._last_told >= 0.1:
            self._last_told = now
            self._progress((number - 1 + share) / self._passes, documents)

    # ---- Decisions ----

    def _open_store(self) -> Any:
        plan = self._plan
        if self._against:
            return self._against.store
        if self._memory is not None:
            return plan.bounded(self._memory, self._threads, self._folder)
        if self._is_final_at_once:
            return plan.stream(self._threads, self._folder)
        return _native.corpus_new(
            self._folder, plan.keep, plan.roles, plan.preferred, plan.apart, plan.named_fields, plan.id_column
        )

    def _rows(self, source: Source, evidence: Evidence, first: int) -> Iterator[Rows]:
        evidence.place(source.path, first, source.first_line)
        at = first
        places = [(0, source.first_line)]
        for rows in ahead(source.rows(self._plan.columns)):
            for row, line in rows.lines:
                evidence.place(None, first + row, line)
            places = [*places[-1:], *rows.lines]
            self._check_nulls(source, rows, at - first, places)
            documents, sequences = _native.frame_repaired(rows.frame)
            self._repaired += documents
            self._work.repaired += sequences
            yield rows
            at += rows.count

    def _check_nulls(self, source: Source, rows: Rows, at: int, places: Sequence[tuple[int, int]]) -> None:
        if self._nulls == "keep" or _native.frame_null(rows.frame) is None:
            return
        mask = _native.frame_mask(rows.frame, b"\1" * rows.count)
        i = mask.find(0)
        while i >= 0 and len(self.left_out) < _SHOWN:
            row, line = next(place for place in reversed(places) if place[0] <= at + i)
            self.left_out.append(f"{source.path}:{line + at + i - row}: {self._plan.text} is null")
            i = mask.find(0, i + 1)
        if self._nulls == "raise":
            raise _native.InvalidError(self.left_out[0])

    def _decide(self, evidence: Evidence, clusters: Any) -> Any:
        """Read all sources, and decide about each row."""
        store = self._open_store()
        total = sum(source.mark.size for source in self._sources) or 1
        result, row, done = None, 0, 0
        self._repaired = 0
        for source in self._sources:
            mask = bytearray()
            if self._against:
                self._against.begin(source)
            for rows in self._rows(source, evidence, row):
                kept = b"\1" * rows.count
                if self._is_final_at_once:
                    result = _native.stream_push(store, rows.frame)
                    kept = _native.result_kept(result)
                    self._write(evidence, clusters, result, rows.frame, store)
                elif self._against:
                    self._against.add(rows)
                elif self._memory is not None:
                    _native.bounded_add(store, rows.frame)
                else:
                    _native.corpus_add(store, rows.frame)
                mask += _native.frame_mask(rows.frame, kept) if self._nulls == "drop" else kept
                row += rows.count
                # Nobody knows how far a compressed file is read: its size counts when it is read whole.
                self._tell(1, done / total, row)
            if self._against:
                self._against.end(source)
            done += source.mark.size
            self._masks.append(mask)
        if self._is_final_at_once:
            self._end_stream(store, evidence, clusters, result is None)
        else:
            self._decide_all(store, evidence, clusters, row)
        self._work.spooled = 0 if self._memory is not None else _native.store_bytes(store)
        return store

    def _end_stream(self, store: Any, evidence: Evidence, clusters: Any, is_empty: bool) -> None:
        if is_empty:
            empty = _native.frame_new(tuple(self._plan.columns.names))
            self._write(evidence, clusters, _native.stream_push(store, empty), empty, store)
        _native.stream_end(store)

    def _decide_all(self, store: Any, evidence: Evidence, clusters: Any, rows: int) -> None:
        """Decide about all rows, which have been read."""

        def tell(done: int, all: int) -> None:
            self._tell(2, done / (all or 1), rows)

        if self._against:
            results = iter([self._against.decide(tell)])
            if self._memory is not None:
                self._work.memory, self._work.spilled = self._memory, self._against.written()
        elif self._memory is None:
            results = iter([_native.corpus_dedup(store, self._plan.recipe._native, self._threads, tell)])
        else:
            parts = _native.bounded_decide(store, tell)
            results = (_native.bounded_result(store, part) for part in range(parts))
            self._work.memory, self._work.spilled, self._work.loads = _native.bounded_work(store)
        at = 0
        for result in results:
            kept = _native.result_kept(result)
            self._apply(kept, at)
            at += len(kept)
            texts = self._texts() if self._against and evidence.tells_passages() else None
            self._write(evidence, clusters, result, None, store, texts)

    def _apply(self, kept: bytes, row: int) -> None:
        """Take what was removed of the rows from this one on out of the masks."""
        for mask in self._masks:
            n = min(len(mask) - row, len(kept))
            if n > 0:
                some = int.from_bytes(mask[row : row + n], "little") & int.from_bytes(kept[:n], "little")
                mask[row : row + n] = some.to_bytes(n, "little")
                kept = kept[n:]
            row = max(0, row - len(mask))

    def _texts(self) -> Iterator[Any]:
        """Native frames of all rows, which are read again."""
        for source in self._sources:
            source.check_unchanged()
            again = type(source)(source.path, source.name, source.file)
            yield from (rows.frame for rows in ahead(again.rows(self._plan.columns)))

    def _write(
        self,
        evidence: Evidence,
        clusters: Any,
        result: Any,
        frame: Any,
        store: Any,
        texts: Iterator[Any] | None = None,
    ) -> None:
        for rows, cluster_rows in evidence.add(result, frame, store, texts):
            evidence.keep(rows)
            if clusters:
                clusters.write(cluster_rows)

    # ---- The whole ----

    def _targets(self, output: str | None, folder: str | None, removed: str | None) -> list[tuple[str | None, ...]]:
        """The places to which the survivors and the others of each source go."""
        if folder is None:
            return [(output, removed)]
        return [
            (os.path.join(folder, source.name), os.path.join(removed, source.name) if removed else None)
            for source in self._sources
        ]

    def _claim(
        self, outputs: Outputs, targets: list[tuple[str | None, ...]], evidence: Sequence[str | None], force: bool
    ) -> list[bool]:
        """Refuse outputs that would replace what is read, or lose records of it; which sources are replaced."""
        for source in self._sources:
            outputs.reads(source.file)
        for path in evidence:
            outputs.claim(path)
        replaced = []
        for source, (kept, removed) in zip(self._sources, targets):
            is_own = kept is not None and os.path.exists(kept) and os.path.samefile(kept, source.file)
            replaced.append(outputs.claim(kept, may_replace=is_own and self._copies_field is None))
            outputs.claim(removed)
            if replaced[-1] and removed is None and not force:
                raise _native.InvalidError(
                    f"'{source.path}' is an input and would be replaced by what is kept of it: add --removed "
                    "FILE, which keeps the other records, or --force, or choose another output"
                )
        return replaced

    def _replaced(self, replaced: Sequence[bool]) -> tuple[bytes, int, int, int]:
        """Count what the inputs that are replaced lose: as in `Work`."""
        masks = [(source, mask) for source, mask, is_own in zip(self._sources, self._masks, replaced) if is_own]
        first = os.fsencode(masks[0][0].path) if masks else b""
        return first, len(masks), sum(len(mask) for _, mask in masks), sum(mask.count(0) for _, mask in masks)

    def _judge(self, bad: int, documents: int, replaced: Sequence[bool]) -> None:
        """Refuse too many rows without a text."""
        records = bad + documents
        if not self._judges or not bad:
            return
        if not documents:
            first = self.left_out[0]
            if self._max_bad is None:
                self.left_out = []  # all have one reason, which the error names
            raise _native.Error(f"no record could be read as a document; the first: {first}")
        limit = Fraction(0 if any(replaced) else "1/20") if self._max_bad is None else self._max_bad
        if bad > limit * records and (bad > 1 or any(replaced) or not limit):
            of = f"{self._sources[0].path} would be replaced, and " if any(replaced) else ""
            raise _native.Error(
                f"{of}{bad} of {records} records {'is' if bad == 1 else 'are'} bad, more than --max-bad "
                f"{float(limit):.4g}; the first: {self.left_out[0]}"
            )

    def write(
        self,
        output: str | None,
        folder: str | None = None,
        *,
        removed: str | None = None,
        manifest: str | None = None,
        clusters: str | None = None,
        summary: str | None = None,
        force: bool = False,
    ) -> FilesResult:
        """Decide, and write survivors to one file or to a folder, and the evidence."""
        started, processor = time.monotonic(), time.process_time()
        targets = self._targets(output, folder, removed)
        evidence = Evidence(self._plan, self._nulls, manifest is not None, clusters is not None)
        with Outputs() as outputs, evidence:
            replaced = self._claim(outputs, targets, (manifest, clusters, summary), force)
            to = {path: outputs.open(path) for path in (manifest, clusters, summary) if path}
            self._decide(evidence, to.get(clusters or ""))
            bad, documents = evidence.counts()
            self._judge(bad, documents, replaced)
            release_unused()
            self._count_copies(evidence)
            self._copy(outputs, targets)
            self._warn_of_oddities(evidence, documents)
            inputs = [
                Input(s.path, s.format, s.compression, s.records, s.bytes, s.hash() if manifest else 0)
                for s in self._sources
            ]
            if manifest:
                old = (self._against.seen, self._against.alone) if self._against else ()
                evidence.write_manifest(to[manifest], inputs, *old)
            self._work.replaced = self._replaced(replaced)
            self._work.warnings = len(self.warnings)
            self._work.left_out = bad if self._judges and self._max_bad is None else 0
            self._work.seconds = time.monotonic() - started
            self._work.processor_seconds = time.process_time() - processor
            text = evidence.summary(inputs, self._work)
            if summary:
                to[summary].write(text)
            for source in self._sources:
                source.check_unchanged()
            outputs.publish()
        if self._against:
            self._against.append(b"".join(self._masks))
            self._against.close()
        return FilesResult(json.loads(text), [kept for kept, _ in targets if kept], self.warnings, self.left_out)

    def write_sketched(
        self,
        sketched: Sketched,
        output: str,
        *,
        removed: str | None = None,
        manifest: str | None = None,
        clusters: str | None = None,
        summary: str | None = None,
    ) -> FilesResult:
        """Decide about sketch files in place of documents, and write survivors to one, and the evidence."""
        started, processor = time.monotonic(), time.process_time()
        evidence = Evidence(self._plan, self._nulls, manifest is not None, clusters is not None)
        old = self._against
        assert old
        with Outputs() as outputs, evidence:
            sketched.claim(outputs, (output, removed, manifest, clusters, summary))
            to = {path: outputs.open(path) for path in (manifest, clusters, summary) if path}
            result = sketched.decide(self._plan, old, lambda done, all: self._tell(1, done / (all or 1), all))
            kept = _native.result_kept(result)
            self._write(evidence, to.get(clusters or ""), result, None, old.store)
            sketched.write(outputs, self._plan.recipe, kept, output, removed)
            self._warn_of_ids(evidence)
            if manifest:
                evidence.write_manifest(to[manifest], sketched.inputs, old.seen, old.alone)
            self._work.memory, self._work.warnings = self._memory or 0, len(self.warnings)
            self._work.seconds = time.monotonic() - started
            self._work.processor_seconds = time.process_time() - processor
            text = evidence.summary(sketched.inputs, self._work)
            if summary:
                to[summary].write(text)
            outputs.publish()
        old.append(kept)
        old.close()
        return FilesResult(json.loads(text), [output], self.warnings, [])

    def _warn_of_ids(self, evidence: Evidence) -> None:
        odd = evidence.warning()
        if odd:
            self._warn(odd)

    def _warn_of_oddities(self, evidence: Evidence, documents: int) -> None:
        self._warn_of_ids(evidence)
        if self._repaired > documents // 100:
            self._warn(
                f"{self._repaired} of {documents} documents are not valid UTF-8; their invalid bytes became U+FFFD"
            )

    def _count_copies(self, evidence: Evidence) -> None:
        """Say how many rows the cluster of each survivor has, where that is asked for."""
        first = 0
        for source, mask in zip(self._sources, self._masks):
            if self._copies_field is not None:
                count = lambda row, n, first=first: evidence.copies(first + row, n)  # noqa: E731
                source.added = Added(self._copies_field, count)
            first += len(mask)

    def _copy(self, outputs: Outputs, targets: list[tuple[str | None, ...]]) -> None:
        """Write the survivors of each source, and the others."""
        total = sum(map(len, self._masks)) or 1
        done = 0
        for source, mask, paths in zip(self._sources, self._masks, targets):
            source.check_unchanged()
            opened = []
            for path in paths:
                if path is not None and os.path.dirname(path):
                    outputs.make_folder(os.path.dirname(path))
                opened.append(outputs.open(path, is_evidence=False, is_plain=not source.is_text) if path else None)
            source.copy(memoryview(mask), opened[0], opened[1])
            for output in opened:
                if output:
                    outputs.finish(output)
            done += len(mask)
            self._tell(self._passes, done / total, total)


def dedup_files(
    source: Path | Sequence[Path],
    target: Path,
    text: str = "text",
    id: str | None = None,
    *,
    threshold: str | float | Fraction | None = None,
    shingle: int | str | None = None,
    method: Literal["minhash", "simhash", "identical"] | None = None,
    keep: str | None = None,
    prefer: Preferred | None = None,
    within: str | None = None,
    never: Never | None = None,
    short: Literal["identical", "tokens", "keep"] | None = None,
    cluster: Literal["star", "components", "complete"] | None = None,
    recipe: Recipe | str | None = None,
    set: Mapping[str, Value] | None = None,
    against: Path | Sketches | Sequence[Path | Sketches] = (),
    append: bool = False,
    only_against: bool = False,
    memory: str | int | None = None,
    threads: int = 0,
    hold: str | int | None = None,
    progress: Callable[[float, int], object] | None = None,
    nulls: Literal["keep", "drop", "raise"] = "keep",
    filters: str | Sequence[str] = (),
    filter_limits: str | None = None,
    tags: Path | None = None,
    manifest: Path | None = None,
    clusters: Path | None = None,
    summary: Path | None = None,
    removed: Path | None = None,
    copies_field: str | None = None,
    force: bool = False,
    folder: Path | None = None,
) -> FilesResult:
    r"""Remove near-duplicate documents from files, in bounded memory.

    Survivors are written as they were read: Parquet keeps its schema, the order of rows, the division
    into row groups, the compression of each column and the metadata; lines keep their bytes.  All
    outputs appear together, when they are whole; a file that is replaced stays until then.

    Parameters
    ----------
    source : path or sequence of paths
        Files of Parquet, Arrow IPC, JSON Lines, CSV or TSV, folders of them, or patterns such as
        ``"pages/*.parquet"``; or addresses of them (``"s3://bucket/pages/*.parquet"``), which fsspec
        reads: they are copied to `folder` first, as a run reads its files twice.  A folder may be a
        partitioned data set: ``year=2024/…`` is then a column.  Or sketch files, in place of the
        documents that they were made of, as for :func:`dedup`.  Or files of no such kind, such as web
        archives, pages or mail: the command, which wheels bring, decides about these, and `hold` and
        `text` may not be given.
    target : path
        Where the survivors go, a path or an address: a file for a file, and otherwise a folder, in
        which each file has its relative name.  The survivors of sketch files are one sketch file.
    text : str, optional
        The column with the text.
    id : str, optional
        The column with the ids; without it a row is called by its place, ``part-0.parquet:3``.  Sketch
        files have ids of their own.
    threshold, shingle, method, keep, prefer, within, never, short, cluster, recipe, set : optional
        As for :func:`dedup`.
    against : path, Sketches or sequence of them, optional
        Sketch files of documents that were seen before: rows are compared with these too, and only
        rows are removed, as by ``neardup dedup --against``.  Decisions rest on sketches.  In memory is
        an index of the rows and of the documents that matter to them; with `memory` it is measured, and
        a run that needs more ends.  The files keep the fields of `within` and `never`
        (:func:`write_sketches`).
    append : bool, optional
        At last add the survivors to the last file of `against`, all of them or none; where `cluster`
        is not ``"star"`` also the other rows, through which later ones may belong to a cluster.  It is
        made if it does not exist, then with the fields that this run reads, and nobody else can add to it meanwhile.
    only_against : bool, optional
        As for :func:`dedup`.
    memory : str or int, optional
        The most memory to use beside Python and its packages, such as ``"2G"``, at least ``"64M"``: what
        does not fit waits in `folder`.  The result is the same.
    threads : int, optional
        As for :func:`dedup`.
    hold : str or int, optional
        How much memory row groups of Parquet may take that are decoded for the decisions, until they are
        copied; others are decoded twice.  The default is an eighth of the memory that is available, and
        with `memory` ``0``.
    progress : callable, optional
        Called with the part that is done, from 0 to 1, and the number of rows that were read.  An
        exception that it raises stops the work.
    nulls : {"keep", "drop", "raise"}, optional
        As for :func:`dedup`.
    filters : str or sequence of str, optional
        Programs that make text of files of another kind, as ``--filter`` of the command: ``"pdf"``,
        ``"docx"``, ``"odt"``, ``"epub"``, or ``"EXT:COMMAND"``, a line of shell that gets a file named
        ``.EXT`` on its standard input and writes its text.
    filter_limits : str, optional
        What one run of a filter may take, such as ``"time=60,memory=2G,output=64M"``.
    tags : path, optional
        A file of tag sets, as ``--tags`` of the command: which elements of SGML or XML are documents,
        and which are their fields.  With `filters` or `tags` the command reads all files, and `text` may
        name a field of theirs.
    manifest, clusters, summary : path, optional
        Where the command's files of these names go.
    removed : path, optional
        Where the rows go that do not survive, as `target`.
    copies_field : str, optional
        Add a field of this name to each survivor, after all others: how many rows its cluster has,
        itself included; in Parquet and Arrow as 64-bit integers.  A file that has such a field already
        is refused, and none is replaced by its survivors.
    force : bool, optional
        Let the survivors replace a file of `source` although no `removed` keeps the other rows.
    folder : path, optional
        Where temporary files go (default: that of :mod:`tempfile`): the texts of kept documents, or
        of all where `keep` is not ``"first"`` or there is a `memory`.

    Returns
    -------
    FilesResult
        The summary, and the names of the files.

    Raises
    ------
    InvalidError
        An argument is wrong; a column is missing or of another type; an output would replace what is
        read, or survivors their file without `removed` or `force`.
    Error
        A file cannot be read to its end.  Nothing was written.
    OSError
        A file cannot be opened or written.
    MemoryError
        The `memory` is too little; the message says how much is needed.  Nothing was written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> rows = ['{"id": 1, "text": "a b c d e"}', '{"id": 2, "text": "A, b, c, d, e"}', '{"id": 3, "text": "f g"}']
    >>> _ = (folder / "in.jsonl").write_text("\n".join(rows) + "\n")
    >>> result = dedup_files(folder / "in.jsonl", folder / "out.jsonl", id="id", clusters=folder / "clusters.tsv")
    >>> result.summary["kept"]
    2
    >>> print((folder / "out.jsonl").read_text(), end="")
    {"id": 1, "text": "a b c d e"}
    {"id": 3, "text": "f g"}
    """
    made = recipe_of(
        recipe, threshold=threshold, shingle=shingle, method=method, keep=keep, short=short, cluster=cluster, set=set
    )
    paths = [path for some in _paths(source) for path in expanded(some)]
    filters = [filters] if isinstance(filters, str) else list(filters)
    if filter_limits is not None and not filters:
        raise _native.InvalidError("filter_limits needs filters")
    needs_it = "filters" if filters else "tags" if tags is not None else None
    own_text = None if text == "text" else text
    if is_for_command(paths, needs_it):
        return _by_command(
            paths,
            os.fspath(target),
            made,
            _path(summary),
            {"progress": progress, "hold": hold, "text": None if needs_it else own_text, "nulls": check_nulls(nulls)},
            id_field=id,
            text_field=own_text,
            prefer=prefer and f"{prefer[0]}={','.join(prefer[1])}",
            within=within,
            never=[f"{field}={_joined(values)}" for field, values in (never or {}).items()],
            against=paths_of_sketches(against),
            append=append,
            only_against=only_against,
            memory=memory,
            threads=threads or None,
            manifest=manifest,
            clusters=clusters,
            removed=removed,
            copies_field=copies_field,
            force=force,
            filter=filters,
            filter_limits=filter_limits,
            tags=tags,
            tmp=folder,
        )
    sketched = Sketched.of(paths, None)
    compared: dict[str, Any] = {"id": id, "prefer": prefer, "within": within, "never": never}
    plan = sketched.plan(made, None, text, **compared) if sketched else Plan(made, text, **compared)
    run = Run(
        plan,
        nulls=check_nulls(nulls),
        threads=threads,
        folder=_path(folder),
        memory=memory,
        against=paths_of_sketches(against),
        append=append,
        only_against=only_against,
        hold=hold,
        copies_field=copies_field,
        progress=progress,
        sketched=sketched,
    )
    to = os.fspath(target)
    evidence = {"manifest": _path(manifest), "clusters": _path(clusters), "summary": _path(summary)}
    if sketched:
        sketched.check_target(to, _path(removed), copies_field)
        return run.write_sketched(sketched, to, removed=_path(removed), **evidence)
    is_folder = len(paths) != 1 or is_folder_of(paths[0])
    check_kind(paths[0], to, is_folder)
    with Remote(folder) as remote:
        run.read(paths, True, remote)
        check_apart([(source.path, source.name) for source in run.sources], (to, _path(removed)), is_folder)
        here = remote.target(to)
        result = run.write(
            None if is_folder else here,
            here if is_folder else None,
            removed=remote.target(_path(removed)),
            force=force,
            **{name: remote.target(path) for name, path in evidence.items()},
        )
        remote.upload()
        result.outputs = [remote.address_of(output) for output in result.outputs]
    return result


def _joined(values: str | Sequence[str]) -> str:
    return values if isinstance(values, str) else ",".join(values)


def _by_command(
    paths: list[str], target: str, recipe: Recipe, summary: str | None, unknown: dict[str, Any], **options: Any
) -> FilesResult:
    """Let the command decide about files that it alone reads."""
    nulls, progress = unknown.pop("nulls"), unknown.pop("progress")
    for name, value in unknown.items():
        if value is not None:
            raise _native.InvalidError(f"{name} is not heeded for {paths[0]}, which the command reads")
    options["strict"] = nulls == "raise"
    text, warnings, left_out = dedup_by_command(paths, target, recipe, summary, **options)
    if progress:
        progress(1.0, text["documents"])
    is_one = len(paths) == 1 and not os.path.isdir(paths[0])
    outputs = [target] if is_one else [os.path.join(target, path.lstrip("/")) for path in paths]
    return FilesResult(text, outputs, warnings, left_out[:_SHOWN])


def _paths(paths: Path | Sequence[Path]) -> list[str]:
    return [os.fspath(paths)] if isinstance(paths, (str, os.PathLike)) else [os.fspath(path) for path in paths]


def _path(path: Path | None) -> str | None:
    return None if path is None else os.fspath(path)


def check_kind(source: str, target: str, is_folder: bool) -> None:
    """Refuse a target that is not of the source's kind."""
    if is_folder:
        if os.path.isfile(target) or (kind_of(target) and not os.path.isdir(target)):
            raise _native.InvalidError(
                f"{target}: is one file, and the survivors of a folder or of several files go to a folder"
            )
        return
    kind, other = kind_of(source), kind_of(target)
    if os.path.isdir(target):
        raise _native.InvalidError(f"{target}: is a directory")
    if other and kind and other.format != kind.format:
        raise _native.InvalidError(f"{target}: survivors stay {kind.format}, and the name is that of {other.format}")
