"""datatrove: steps that remove near-duplicates, in one task or over the shards of many.

A step of datatrove sees only the documents of its own task.  :class:`NearDuplicateFilter` does
everything in one task.  For many tasks there are three steps, each in a pipeline of its own:
:class:`NearDuplicateSketches` (every task), :class:`NearDuplicateDecisions` (one task) and
:class:`NearDuplicateDrop` (every task).
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import accumulate, islice, pairwise
from typing import Any, Literal

from . import _native
from ._dedup import Deduper, dedup
from ._df import give_tables
from ._frames import frames_of_rows
from ._optional import needs
from ._plan import Never, Preferred, Reading, recipe_of
from ._recipe import Recipe, Value
from ._sketch_file import read_sketches, writing

try:
    from datatrove.io import get_datafolder
    from datatrove.pipeline.base import PipelineStep
    from datatrove.utils.typeshelper import StatHints
except ImportError as error:
    raise needs("neardup.datatrove", "datatrove", error) from None

__all__ = ["NearDuplicateDecisions", "NearDuplicateDrop", "NearDuplicateFilter", "NearDuplicateSketches"]

_TYPE = "🫂 - DEDUPS"
_REASONS = {"bytes": "same_bytes", "tokens": "same_words", "no": "near_duplicate"}


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
                reason = _REASONS.get(why["identical"], "near_duplicate")
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
                "NearDuplicateSketches, NearDuplicateDecisions and NearDuplicateDrop; per_task=True allows it"
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


class NearDuplicateSketches(PipelineStep):  # type: ignore[misc]
    """Write the sketches of each task's documents to a folder, for :class:`NearDuplicateDecisions`.

    Documents pass unchanged.  Every task of the pipeline runs the step, and writes one sketch file.  A
    file appears when its task has finished, so that tasks which datatrove repeats leave nothing behind.

    Parameters
    ----------
    folder : str, tuple or DataFolder
        Where the files go, one for each task.
    recipe : Recipe or str, optional
        What a match is (default: the default recipe): its signatures and its section ``[sketch]``.
    fields : sequence of str, optional
        Keys of the metadata that the files keep, for `within` and `never`, `keep` and `prefer`.
    length : bool, optional
        Keep the lengths of texts, for ``keep="longest"`` and ``"shortest"``.
    batch_size : int, optional
        How many documents are sketched at a time (default: 1000).
    threads : int, optional
        How many threads work (default: 1).
    **keys
        Keys of the recipe to change, such as ``shingle``.
    """

    type = _TYPE
    name = "near-duplicates: sketches"

    def __init__(
        self,
        folder: Any,
        recipe: Recipe | str | None = None,
        *,
        fields: Sequence[str] = (),
        length: bool = False,
        batch_size: int = 1000,
        threads: int = 1,
        **keys: Value,
    ) -> None:
        super().__init__()
        self.folder = get_datafolder(folder)
        self.recipe = recipe_of(recipe, set=keys)
        self.fields = tuple(fields)
        self.length = length
        self.batch_size = batch_size
        self.threads = threads

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        """Write the task's sketches, and give its documents."""
        reading = Reading(self.recipe, "text")
        reading.record([*([""] if self.length else []), *self.fields])
        id_column = reading.columns.add("id")
        give_tables(self.recipe, None)
        documents = iter(data or ())
        with (
            _written(self.folder, _name(rank, world_size)) as path,
            writing(path, reading, id_column, threads=self.threads) as add,
        ):
            while batch := list(islice(documents, self.batch_size)):
                with self.track_time("batch"):
                    rows = [{**d.metadata, "id": _as_bytes(d.id), "text": _as_bytes(d.text)} for d in batch]
                    for frame, _ in frames_of_rows(rows, reading.columns):
                        add(frame)
                    self.stat_update(StatHints.total, value=len(batch))
                yield from batch


def _name(rank: int, tasks: int) -> str:
    """The sketch file of a task."""
    return f"{rank:05d}-of-{tasks:05d}.sketch"


def _removed_name(rank: int) -> str:
    return f"{rank:05d}.removed.jsonl"


@contextmanager
def _written(folder: Any, name: str) -> Iterator[str]:
    """A path to write to: in the folder, or of a temporary file that is copied there when it is whole."""
    if folder.is_local():
        folder.makedirs("", exist_ok=True)
        yield os.path.join(folder.path, name)
        return
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, name)
        yield path
        folder.put_file(path, name)


@contextmanager
def _local(folder: Any, names: Sequence[str]) -> Iterator[list[str]]:
    """The paths of files of a folder, which are copied if they are elsewhere."""
    if folder.is_local():
        yield [os.path.join(folder.path, name) for name in names]
        return
    with tempfile.TemporaryDirectory() as place:
        paths = [os.path.join(place, name) for name in names]
        for name, path in zip(names, paths, strict=True):
            folder.get_file(name, path)
        yield paths


class NearDuplicateDecisions(PipelineStep):  # type: ignore[misc]
    """Decide about the documents of all tasks by their sketches, in the order of the tasks.

    It runs in one task, without documents, when every task of :class:`NearDuplicateSketches` has
    finished.  No text is read.

    Parameters
    ----------
    sketches_folder : str, tuple or DataFolder
        What :class:`NearDuplicateSketches` wrote.
    folder : str, tuple or DataFolder
        Where the decisions go: for each task a file of JSON Lines, with a line for each document
        that is removed.
    recipe : Recipe or str, optional
        What a match is (default: the default recipe, with what made the sketches).
    prefer, within, never, memory, tmp, threads : optional
        As for :func:`neardup.dedup`.
    **keys
        Keys of the recipe to change, such as ``threshold``.
    """

    type = _TYPE
    name = "near-duplicates: decisions"

    def __init__(
        self,
        sketches_folder: Any,
        folder: Any,
        recipe: Recipe | str | None = None,
        *,
        prefer: Preferred | None = None,
        within: str | None = None,
        never: Never | None = None,
        memory: str | int | None = None,
        tmp: str | os.PathLike[str] | None = None,
        threads: int = 0,
        **keys: Value,
    ) -> None:
        super().__init__()
        self.sketches_folder = get_datafolder(sketches_folder)
        self.folder = get_datafolder(folder)
        recipe_of(recipe, set=keys)  # a wrong key is refused now
        self.recipe = recipe
        self.keys = keys
        self.options: dict[str, Any] = {
            "prefer": prefer,
            "within": within,
            "never": never,
            "memory": memory,
            "tmp": tmp,
            "threads": threads,
        }

    def run(self, data: Any = None, rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        """Write the decisions; documents that come in pass."""
        if world_size > 1:
            raise _native.InvalidError(f"the decisions are made in one task, not in {world_size}")
        if data:
            yield from data
        with _local(self.sketches_folder, self._names()) as paths, self.track_time():
            starts = [0, *accumulate(len(read_sketches(path)) for path in paths)]
            result = dedup(paths, recipe=self.recipe, set=self.keys, **self.options)
            self.stat_update(StatHints.total, value=starts[-1])
            self.stat_update(StatHints.dropped, value=len(result.removed))
            self._write(result.removed, starts)

    def _names(self) -> list[str]:
        """The sketch files of all tasks, in their order."""
        path = self.sketches_folder.path
        names = sorted(self.sketches_folder.list_files(glob_pattern="*.sketch", recursive=False))
        if not names:
            raise _native.InvalidError(f"{path}: there are no sketches")
        tasks = int(found[1]) if (found := re.fullmatch(r"\d+-of-(\d+)\.sketch", names[0])) else 0
        wanted = [_name(task, tasks) for task in range(tasks)]
        if missing := sorted(set(wanted) - set(names)):
            raise _native.InvalidError(f"{path}: there is no {missing[0]}: its task did not finish")
        if others := sorted(set(names) - set(wanted)):
            raise _native.InvalidError(f"{path}: {others[0]} is not of these {tasks} tasks")
        return wanted

    def _write(self, removed: Any, starts: list[int]) -> None:
        """Write a file for each task."""
        rows = iter(sorted(removed, key=lambda row: row["row"]))
        row = next(rows, None)
        for task, (start, end) in enumerate(pairwise(starts)):
            with self.folder.open(_removed_name(task), "wt") as out:
                while row is not None and row["row"] < end:
                    line = {
                        "document": row["row"] - start,
                        "near_duplicate_of": row["kept_id"],
                        "identical": row["identical"],
                        "resemblance": row["jaccard"],
                    }
                    out.write(json.dumps(line) + "\n")
                    row = next(rows, None)
                # The last line says that the file is whole.
                out.write(json.dumps({"documents": end - start}) + "\n")


class NearDuplicateDrop(_Remover):
    """Drop the documents that :class:`NearDuplicateDecisions` removed.

    Its pipeline reads the same documents by the same tasks as that of :class:`NearDuplicateSketches`.
    A task whose documents are not as many as were decided about fails.

    Parameters
    ----------
    folder : str, tuple or DataFolder
        The decisions.
    exclusion_writer : DiskWriter, optional
        Where removed documents go.  Their metadata says why: ``filter_reason``,
        ``near_duplicate_of`` (the id of the kept one) and ``resemblance``.
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
        """The fate of the task's documents, and how many there were."""
        name = _removed_name(rank)
        if not self.folder.exists(name):
            raise _native.InvalidError(f"{self.folder.path}: there is no {name}: decide first, with as many tasks")
        with self.folder.open(name, "rt") as file:
            lines = [json.loads(line) for line in file]
        if not lines or "documents" not in lines[-1]:
            raise _native.InvalidError(f"{self.folder.path}/{name}: the file ends too early: decide again")
        return {line["document"]: line for line in lines[:-1]}, lines[-1]["documents"]
