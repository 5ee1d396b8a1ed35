"""datatrove: steps that remove near-duplicates, in one task or over the shards of many.

A step of datatrove sees only the documents of its own task.  :class:`NearDuplicateFilter` does
everything in one task.  For many tasks there are three steps, each in a pipeline of its own:
:class:`NearDuplicateTexts` (every task), :class:`NearDuplicateDecisions` (one task) and
:class:`NearDuplicateDrop` (every task).
"""

from __future__ import annotations

import json
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from itertools import islice
from typing import Any, Literal

from . import _native
from ._dedup import Deduper
from ._optional import needs
from ._recipe import Recipe, Value

try:
    from datatrove.io import get_datafolder
    from datatrove.pipeline.base import PipelineStep
    from datatrove.utils.typeshelper import StatHints
except ImportError as error:
    raise needs("neardup.datatrove", "datatrove", error) from None

__all__ = ["NearDuplicateDecisions", "NearDuplicateDrop", "NearDuplicateFilter", "NearDuplicateTexts"]

_TYPE = "🫂 - DEDUPS"
_REASONS = {"bytes": "same_bytes", "tokens": "same_words", "no": "near_duplicate"}

# A file of texts: the magic, then batches of the number of texts, their lengths and their bytes, each
# number of 8 bytes, little-endian.  A batch of no texts ends it; the number of tasks follows.
_MAGIC = b"neardup-texts-1\n"
_BATCH_BYTES = 4 << 20


def _recipe(recipe: Recipe | str | None, keys: dict[str, Value]) -> Recipe:
    made = recipe.copy() if isinstance(recipe, Recipe) else Recipe(recipe)
    for key, value in keys.items():
        made.set(key, value)
    Deduper(made, threads=1)  # what a stream refuses is refused now
    return made


def _as_bytes(text: str) -> bytes:
    """Text of the web may hold lone surrogates: the core repairs them, as bytes that are no UTF-8."""
    return text.encode("utf-8", "surrogatepass")


class _Remover(PipelineStep):  # type: ignore[misc]
    """A step that removes documents.

    It does what datatrove's BaseFilter does, whose package cannot be imported without that of every
    other filter.
    """

    type = _TYPE

    def __init__(self, exclusion_writer: Any) -> None:
        super().__init__()
        self.exclusion_writer = exclusion_writer

    def _give(self, decided: Iterable[tuple[Any, dict[str, Any] | None]], rank: int) -> Iterator[Any]:
        """Give the documents that are kept; the others come with why they are removed."""
        with self.exclusion_writer or nullcontext() as writer:
            for document, why in decided:
                self.stat_update(StatHints.total)
                if why is None:
                    self.stat_update(StatHints.forwarded)
                    self.update_doc_stats(document)
                    yield document
                    continue
                reason = _REASONS[why["identical"]]
                self.stat_update(StatHints.dropped, f"dropped_{reason}")
                if writer is not None:
                    document.metadata["filter_reason"] = reason
                    document.metadata["near_duplicate_of"] = why["near_duplicate_of"]
                    document.metadata["resemblance"] = why["resemblance"]
                    writer.write(document, rank)


class NearDuplicateFilter(_Remover):
    """Remove near-duplicates within one task, with the decisions of :func:`neardup.dedup`.

    A removed document that an exclusion writer saves says in its metadata why: ``filter_reason``,
    ``near_duplicate_of`` (the id of the kept one) and ``resemblance``.

    Parameters
    ----------
    recipe : Recipe or str, optional
        What a match is (default: the default recipe).
    exclusion_writer : DiskWriter, optional
        Where removed documents go.
    batch_size : int, optional
        How many documents are decided at a time (default: 1000).
    threads : int, optional
        How many threads work (default: 1).
    texts : {"memory", "spool"}, optional
        Where the texts of kept documents are held: in memory, or in a temporary file.
    per_task : bool, optional
        Let several tasks run, each of which compares only its own documents.
    **keys
        Keys of the recipe to change, such as ``threshold``.

    Examples
    --------
    >>> from datatrove.data import Document
    >>> texts = ["one two three four", "five six seven eight", "One, two, three, four!"]
    >>> step = NearDuplicateFilter(threshold=0.7)
    >>> [document.id for document in step(Document(text, f"d{i}") for i, text in enumerate(texts))]
    ['d0', 'd1']
    """

    name = "near-duplicates"

    def __init__(
        self,
        recipe: Recipe | str | None = None,
        *,
        exclusion_writer: Any = None,
        batch_size: int = 1000,
        threads: int = 1,
        texts: Literal["memory", "spool"] = "memory",
        per_task: bool = False,
        **keys: Value,
    ) -> None:
        super().__init__(exclusion_writer)
        self.recipe = _recipe(recipe, keys)
        self.batch_size = batch_size
        self.threads = threads
        self.texts = texts
        self.per_task = per_task

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        """Give the documents that are kept."""
        if world_size > 1 and not self.per_task:
            raise _native.InvalidError(
                f"{world_size} tasks would each compare only their own documents: run one task, or use "
                "NearDuplicateTexts, NearDuplicateDecisions and NearDuplicateDrop; per_task=True allows it"
            )
        return self._give(self._decide(iter(data or ())), rank)

    def _decide(self, documents: Iterator[Any]) -> Iterator[tuple[Any, dict[str, Any] | None]]:
        # Steps are copied and sent to other processes, so what holds state is made here.
        deduper = Deduper(self.recipe, texts=self.texts, threads=self.threads)
        ids: dict[int, str] = {}
        first = 0
        while batch := list(islice(documents, self.batch_size)):
            with self.track_time("batch"):
                result = deduper.push([_as_bytes(document.text) for document in batch])
            ids.update((first + i, batch[i].id) for i, is_kept in enumerate(result.kept) if is_kept)
            removed = {row["row"]: row for row in result.removed}
            for row, document in enumerate(batch, first):
                why = removed.get(row)
                if why is not None:
                    why = {**why, "near_duplicate_of": ids[why["kept_row"]], "resemblance": why["jaccard"]}
                yield document, why
            first += len(batch)


def _name(rank: int, ending: str) -> str:
    return f"{rank:05d}.{ending}"


class NearDuplicateTexts(PipelineStep):  # type: ignore[misc]
    """Write the texts of each task to a folder, for :class:`NearDuplicateDecisions`.

    Documents pass unchanged.  Every task of the pipeline runs the step.

    Parameters
    ----------
    folder : str, tuple or DataFolder
        Where the files go, one for each task.
    compression : str, optional
        As fsspec names it, such as ``"zstd"`` (default: none).
    """

    type = _TYPE
    name = "near-duplicates: texts"

    def __init__(self, folder: Any, compression: str | None = None) -> None:
        super().__init__()
        self.folder = get_datafolder(folder)
        self.compression = compression

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        """Write the task's texts, and give its documents."""
        with self.folder.open(_name(rank, "texts"), "wb", compression=self.compression) as file:
            file.write(_MAGIC)
            batch: list[bytes] = []
            size = 0
            for document in data or ():
                with self.track_time():
                    self.stat_update(StatHints.total)
                    batch.append(_as_bytes(document.text))
                    size += len(batch[-1])
                    if size >= _BATCH_BYTES:
                        _write_batch(file, batch)
                        batch, size = [], 0
                yield document
            if batch:
                _write_batch(file, batch)
            file.write(array("Q", (0, world_size)).tobytes())


def _write_batch(file: Any, batch: list[bytes]) -> None:
    file.write(array("Q", (len(batch), *map(len, batch))).tobytes())
    file.write(b"".join(batch))


def _read_numbers(file: Any, count: int, name: str) -> Any:
    numbers = array("Q")
    numbers.frombytes(_read(file, 8 * count, name))
    return numbers


def _read(file: Any, count: int, name: str) -> bytes:
    data: bytes = file.read(count)
    if len(data) != count:
        raise _native.InvalidError(f"{name}: the file ends too early: its task did not finish")
    return data


class NearDuplicateDecisions(PipelineStep):  # type: ignore[misc]
    """Decide about the texts of all tasks, in the order of the tasks.

    It runs in one task, without documents, when every task of :class:`NearDuplicateTexts` has
    finished.  Only the first document of a cluster is kept.

    Parameters
    ----------
    texts_folder : str, tuple or DataFolder
        What :class:`NearDuplicateTexts` wrote.
    folder : str, tuple or DataFolder
        Where the decisions go: for each task a file of JSON Lines, with a line for each document
        that is removed.
    recipe : Recipe or str, optional
        What a match is (default: the default recipe).
    compression : str, optional
        That of the texts.
    threads : int, optional
        How many threads work; 0: one for each processor.
    texts : {"spool", "memory"}, optional
        Where the texts of kept documents are held: in a temporary file, or in memory.
    **keys
        Keys of the recipe to change, such as ``threshold``.
    """

    type = _TYPE
    name = "near-duplicates: decisions"

    def __init__(
        self,
        texts_folder: Any,
        folder: Any,
        recipe: Recipe | str | None = None,
        *,
        compression: str | None = None,
        threads: int = 0,
        texts: Literal["memory", "spool"] = "spool",
        **keys: Value,
    ) -> None:
        super().__init__()
        self.texts_folder = get_datafolder(texts_folder)
        self.folder = get_datafolder(folder)
        self.recipe = _recipe(recipe, keys)
        self.compression = compression
        self.threads = threads
        self.texts = texts

    def run(self, data: Any = None, rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        """Write the decisions; documents that come in pass."""
        if world_size > 1:
            raise _native.InvalidError(f"the decisions are made in one task, not in {world_size}")
        if data:
            yield from data
        names = self.texts_folder.list_files(glob_pattern="*.texts", recursive=False)
        if not names:
            raise _native.InvalidError(f"{self.texts_folder.path}: there are no texts")
        deduper = Deduper(self.recipe, texts=self.texts, threads=self.threads)
        starts = [0]
        for task, name in enumerate(names):
            if name != _name(task, "texts"):
                raise _native.InvalidError(f"{self.texts_folder.path}: there is no {_name(task, 'texts')}")
            with self.track_time("task"):
                starts.append(self._decide(deduper, task, starts, len(names)))

    def _decide(self, deduper: Deduper, task: int, starts: list[int], tasks: int) -> int:
        """Decide about the texts of one task; returns the number of documents so far."""
        name, count = _name(task, "texts"), 0
        with (
            self.texts_folder.open(name, "rb", compression=self.compression) as file,
            self.folder.open(_name(task, "removed.jsonl"), "wt") as out,
        ):
            if file.read(len(_MAGIC)) != _MAGIC:
                raise _native.InvalidError(f"{name}: not a file of texts, or of another compression")
            for batch in _batches(file, name, tasks):
                result = deduper.push(batch)
                count += len(batch)
                for row in result.removed:
                    kept_task = bisect_right(starts, row["kept_row"]) - 1
                    line = {
                        "document": row["row"] - starts[task],
                        "near_duplicate_of": f"{kept_task}/{row['kept_row'] - starts[kept_task]}",
                        "identical": row["identical"],
                        "resemblance": row["jaccard"],
                    }
                    out.write(json.dumps(line) + "\n")
                self.stat_update(StatHints.total, value=len(batch))
                self.stat_update(StatHints.dropped, value=len(result.removed))
            # The last line says that the file is whole.
            out.write(json.dumps({"documents": count}) + "\n")
        return starts[task] + count


def _batches(file: Any, name: str, tasks: int) -> Iterator[list[bytes]]:
    while count := _read_numbers(file, 1, name)[0]:
        lengths = _read_numbers(file, count, name)
        data = _read(file, sum(lengths), name)
        texts, at = [], 0
        for length in lengths:
            texts.append(data[at : at + length])
            at += length
        yield texts
    wrote = _read_numbers(file, 1, name)[0]
    if wrote != tasks:
        raise _native.InvalidError(f"{name}: {wrote} tasks wrote texts, and the folder has the files of {tasks}")


class NearDuplicateDrop(_Remover):
    """Drop the documents that :class:`NearDuplicateDecisions` removed.

    Its pipeline reads the same documents by the same tasks as that of :class:`NearDuplicateTexts`.
    A task whose documents are not as many as were decided about fails.

    Parameters
    ----------
    folder : str, tuple or DataFolder
        The decisions.
    exclusion_writer : DiskWriter, optional
        Where removed documents go.  Their metadata says why: ``filter_reason``,
        ``near_duplicate_of`` (the task and the place of the kept one) and ``resemblance``.
    """

    name = "near-duplicates: drop"

    def __init__(self, folder: Any, exclusion_writer: Any = None) -> None:
        super().__init__(exclusion_writer)
        self.folder = get_datafolder(folder)

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        """Give the documents that are kept."""
        return self._give(self._decide(iter(data or ()), rank), rank)

    def _decide(self, documents: Iterator[Any], rank: int) -> Iterator[tuple[Any, dict[str, Any] | None]]:
        removed, expected = self._read(rank)
        count = 0
        for count, document in enumerate(documents, 1):
            yield document, removed.get(count - 1)
        if count != expected:
            raise _native.InvalidError(
                f"task {rank} has {count} documents, and {expected} were decided about: "
                "read the same with as many tasks"
            )

    def _read(self, rank: int) -> tuple[dict[int, dict[str, Any]], int]:
        """What became of the task's documents, and how many there were."""
        name = _name(rank, "removed.jsonl")
        if not self.folder.exists(name):
            raise _native.InvalidError(f"{self.folder.path}: there is no {name}: decide first, with as many tasks")
        with self.folder.open(name, "rt") as file:
            lines = [json.loads(line) for line in file]
        if not lines or "documents" not in lines[-1]:
            raise _native.InvalidError(f"{self.folder.path}/{name}: the file ends too early: decide again")
        return {line["document"]: line for line in lines[:-1]}, lines[-1]["documents"]
