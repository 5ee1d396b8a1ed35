"""Ray Data: sketches in parallel, and near-duplicates with the decisions of the command.

``neardup`` is installed on every node.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from . import _native
from ._batches import Sketch, column
from ._dedup import dedup as _dedup
from ._df import give_tables
from ._optional import needs
from ._plan import Never, Preferred, Reading, recipe_of
from ._recipe import Recipe, Value
from ._sketch_file import read_sketches, write_sketches

try:
    import numpy
    import pyarrow
    import pyarrow.compute
    import ray
    import ray.data
except ImportError as error:
    raise needs("neardup.ray", "ray[data]", error) from None

__all__ = ["NearDuplicateSketches", "Sketch", "dedup", "mark"]

_MARKS = ("duplicate_of", "identical", "resemblance")


class NearDuplicateSketches:
    """Make a sketch file of each batch: what decides about its rows in place of their texts.

    It is given to ``map_batches`` with ``batch_format="pyarrow"``, and works in any number of
    processes.  A batch becomes one row.  ``neardup dedup --sketches`` and :func:`neardup.dedup` read
    the files.

    Parameters
    ----------
    text : str, optional
        The column with the text.
    id : str, optional
        The column with the ids (default: none).
    fields : sequence of str, optional
        Columns that the files keep, for `within` and `never`, `keep` and `prefer`.
    length : bool, optional
        Keep the lengths of texts, for ``keep="longest"`` and ``"shortest"``.
    recipe : Recipe or str, optional
        What a match is (default: the default recipe): its signatures and its section ``[sketch]``.
    **keys
        Keys of the recipe to change, such as ``shingle``.

    Examples
    --------
    >>> stage = NearDuplicateSketches()
    >>> made = stage(pyarrow.table({"text": ["one two three four", "five six seven"]}))
    >>> made.column_names, made["documents"][0].as_py()
    (['documents', 'sketches'], 2)
    """

    def __init__(
        self,
        text: str = "text",
        id: str | None = None,
        *,
        fields: Sequence[str] = (),
        length: bool = False,
        recipe: Recipe | str | None = None,
        **keys: Value,
    ) -> None:
        self._recipe = recipe_of(recipe, set=keys)
        self._arguments: dict[str, Any] = {"text": text, "id": id, "fields": tuple(fields), "length": length}

    def __call__(self, batch: Any) -> Any:
        """Make a row of the number of documents and the bytes of their sketch file; rows without a text have none."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "batch.sketch")
            count = write_sketches(batch, path, recipe=self._recipe, threads=1, **self._arguments)
            with open(path, "rb") as file:
                made = file.read()
        return pyarrow.table(
            {"documents": pyarrow.array([count], pyarrow.int64()), "sketches": pyarrow.array([made], pyarrow.binary())}
        )


# ---- Tasks ----


def _span(block: Any, order_by: str) -> tuple[int, Any, Any]:
    """How many rows a block has, and the first and the last value of `order_by`, which has each value once."""
    keys = column(block, order_by)
    if keys.null_count:
        raise _native.InvalidError(f"order_by: '{order_by}' is null in a row")
    values = keys.take(pyarrow.compute.sort_indices(keys)).to_pylist()
    for value, other in pairwise(values):
        if value == other:
            raise _twice(order_by, value)
    return (len(values), values[0], values[-1]) if values else (0, None, None)


def _twice(order_by: str, value: object) -> Exception:
    return _native.InvalidError(f"order_by: two rows have {value!r} as '{order_by}'")


def _arranged(block: Any, text: str, order_by: str) -> tuple[Any, Any]:
    """The block in its order, and the keys of the rows that have a text."""
    block = block.sort_by(order_by)
    return block, block.filter(pyarrow.compute.is_valid(block[text]))[order_by].combine_chunks()


def _sketched(block: Any, stage: NearDuplicateSketches) -> Any:
    return stage(block)["sketches"][0].as_py()


def _decided(sketches: list[Any], keys: list[Any], arguments: dict[str, Any]) -> Any:
    """Decide about all blocks: for each a bitmap of what is kept, or if there are keys, a table of what is removed.

    Both speak of the rows that have a text.
    """
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for i, reference in enumerate(sketches):
            paths.append(os.path.join(folder, f"{i}.sketch"))
            with open(paths[-1], "wb") as file:
                file.write(ray.get(reference))
        starts = [0, *accumulate(len(read_sketches(path)) for path in paths)]
        result = _dedup(paths, tmp=folder, **arguments)
        blocks = _tables(result.removed, keys, starts) if keys else _bitmaps(result.kept, starts)
    return blocks if len(blocks) > 1 else blocks[0]


def _bitmaps(kept: Any, starts: list[int]) -> list[Any]:
    bitmap = pyarrow.array(kept, pyarrow.bool_())
    return [pyarrow.table({"kept": bitmap.slice(start, end - start)}) for start, end in pairwise(starts)]


def _tables(removed: Any, keys: list[Any], starts: list[int]) -> list[Any]:
    """The rows that are removed from each block, by their numbers in it, and why."""
    found = pyarrow.table(removed).sort_by("row")
    whys = pyarrow.table(
        {
            "row": found["row"],
            "duplicate_of": pyarrow.chunked_array(ray.get(keys)).take(found["kept_row"]),
            "identical": found["identical"].cast(pyarrow.string()),
            "resemblance": found["jaccard"],
        }
    )
    ends = found["row"].to_numpy().searchsorted(starts)
    blocks = []
    for start, first, end in zip(starts, ends, ends[1:]):
        of_block = whys.slice(first, end - first)
        blocks.append(of_block.set_column(0, "row", pyarrow.compute.subtract(of_block["row"], start)))
    return blocks


def _marked(block: Any, removed: Any, text: str) -> Any:
    with_text = numpy.flatnonzero(pyarrow.compute.is_valid(block[text]).to_numpy())
    places = numpy.full(len(block), -1)
    places[with_text[removed["row"].to_numpy()]] = numpy.arange(len(removed))
    places = pyarrow.array(places, mask=places < 0)
    for name in _MARKS:
        block = block.append_column(name, removed[name].take(places))
    return block


def _kept(block: Any, bitmap: Any, text: str) -> Any:
    kept = pyarrow.compute.is_null(block[text]).to_numpy().copy()
    kept[~kept] = bitmap["kept"].to_numpy()
    return block.filter(pyarrow.array(kept))


def _finished(block: Any, decision: Any, text: str, finish: Callable[[Any, Any, str], Any]) -> tuple[Any, int]:
    made = finish(block, decision, text)
    return made, len(made)


# ---- Data sets ----


def _answers(references: list[Any]) -> list[Any]:
    """Return the results of tasks; raise their errors as they were raised."""
    try:
        return list(ray.get(references))
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, _native.Error):
            raise error.cause from None
        raise


def _ordered(data: ray.data.Dataset, order_by: str) -> list[Any]:
    """Blocks none of which has a key that lies between those of another, in the order of their keys.

    Rows are sent about only if they have to be.
    """
    span = ray.remote(_span)
    for is_sorted in (False, True):
        blocks = (data.sort(order_by) if is_sorted else data).to_arrow_refs()
        spans = _answers([span.remote(block, order_by) for block in blocks])
        found = sorted((first, last, i) for i, (count, first, last) in enumerate(spans) if count)
        if all(last < first for (_, last, _), (first, _, _) in pairwise(found)):
            break
        for (_, last, _), (first, _, _) in pairwise(found):
            if last == first:
                raise _twice(order_by, last)
    return [blocks[i] for _, _, i in found] or blocks[:1]


@dataclass(frozen=True)
class _Request:
    """The sketcher, the arguments of the decision, and the number of tasks that decide; None: one, by sketches."""

    text: str
    order_by: str
    stage: NearDuplicateSketches
    arguments: dict[str, Any]
    others: tuple[str, ...]
    parts: int | None


def _decide_at_once(request: _Request, blocks: list[Any], keys: list[Any], marks: bool) -> list[Any]:
    """One task decides, by the sketches of all blocks."""
    sketch = ray.remote(_sketched)
    sketches = [sketch.remote(block, request.stage) for block in blocks]
    ray.wait(sketches, num_returns=len(sketches), fetch_local=False)
    threads = min(request.arguments["threads"], int(ray.cluster_resources().get("CPU", 1))) or 1
    decide = ray.remote(_decided).options(num_cpus=threads, num_returns=len(blocks))
    decisions = decide.remote(sketches, keys if marks else [], request.arguments)
    return list(decisions) if len(blocks) > 1 else [decisions]


def _decide_in_parts(request: _Request, blocks: list[Any], keys: list[Any], marks: bool) -> list[Any]:
    """As many tasks decide as are asked for."""
    from ._ray_parts import Job, decisions

    arguments = request.arguments
    job = Job(
        arguments["recipe"].text,
        request.text,
        request.order_by,
        tuple(_native.recipe_fields(arguments["recipe"]._native)),
        request.others,
        {name: arguments[name] for name in ("prefer", "within", "never")},
        len(blocks),
        int(request.parts or 1),
        marks,
    )
    return decisions(job, blocks, keys)


def _run(data: ray.data.Dataset, finish: Callable[[Any, Any, str], Any], request: _Request) -> ray.data.Dataset:
    arrange = ray.remote(_arranged).options(num_returns=2)
    made = [arrange.remote(block, request.text, request.order_by) for block in _ordered(data, request.order_by)]
    blocks, keys = ([one[k] for one in made] for k in range(2))
    decide = _decide_at_once if request.parts is None else _decide_in_parts
    join = ray.remote(_finished).options(num_returns=2)
    done = [
        join.remote(block, decision, request.text, finish)
        for block, decision in zip(blocks, decide(request, blocks, keys, finish is _marked), strict=True)
    ]
    _answers([count for _, count in done])
    return ray.data.from_arrow_refs([block for block, _ in done])


def _prepared(
    data: ray.data.Dataset,
    text: str,
    order_by: str,
    recipe: Recipe | str | None,
    keys: dict[str, Value],
    threads: int,
    memory: str | int | None,
    parts: int | None,
    compared: dict[str, Any],
) -> _Request:
    """Check what a caller asks for."""
    if parts is not None and parts < 1:
        raise _native.InvalidError(f"parts: {parts} is less than 1")
    if parts is not None and memory is not None:
        raise _native.InvalidError("memory bounds the one task that decides; with parts there is none")
    made = recipe_of(recipe, set=keys)
    give_tables(made, None)
    reading = Reading(made, text)
    never, prefer, within = compared["never"], compared["prefer"], compared["within"]
    kept = str(made["keep"])
    fields = [*([within] if within else []), *(never or {}), *([prefer[0]] if prefer else [])]
    fields += [kept.partition(":")[2]] if ":" in kept else []
    names = data.schema().names
    for name in filter(None, (*reading.columns.names, order_by, *fields)):
        if name not in names:
            raise _native.InvalidError(f"there is no column '{name}'; there are {names}")
    length = kept in ("longest", "shortest")
    stage = NearDuplicateSketches(text, fields=list(dict.fromkeys(fields)), length=length, recipe=made)
    arguments = {"recipe": made, "threads": threads, "memory": memory, **compared}
    return _Request(text, order_by, stage, arguments, tuple(fields), parts)


def mark(
    data: ray.data.Dataset,
    text: str = "text",
    *,
    order_by: str,
    prefer: Preferred | None = None,
    within: str | None = None,
    never: Never | None = None,
    recipe: Recipe | str | None = None,
    memory: str | int | None = None,
    threads: int = 1,
    parts: int | None = None,
    **keys: Value,
) -> ray.data.Dataset:
    """Say of each row which one it duplicates.

    The decisions are those of :func:`neardup.dedup` on all rows in the order of `order_by`.  Rows of
    a data set of Ray have no order of their own.  Tasks sketch the blocks, one task decides by the
    sketches, and tasks add its decisions to the blocks: no text leaves its block.

    Parameters
    ----------
    data : ray.data.Dataset
        The rows.
    text : str, optional
        The column with the text.
    order_by : str
        A column with a value of its own for each row.  Unless the recipe says otherwise, the first row
        of a cluster is kept.
    prefer, within, never : optional
        As for :func:`neardup.dedup`.
    recipe : Recipe or str, optional
        What a match is (default: the default recipe).
    memory : str or int, optional
        The most memory for the task that decides, as for :func:`neardup.dedup`.
    threads : int, optional
        How many threads this task has (default: 1).
    parts : int, optional
        Decide by so many tasks instead, by the steps of :mod:`neardup.spark`: rows that could match
        others, and only these, go to the task that decides about them.
    **keys
        Keys of the recipe to change, such as ``threshold``.

    Returns
    -------
    ray.data.Dataset
        The rows with three more columns, null for rows that are kept: ``duplicate_of`` (the value of
        `order_by` of the row that stands for it), ``identical`` and ``resemblance``.

    Raises
    ------
    InvalidError
        A column is missing, or `order_by` has a value twice.
    """
    for name in _MARKS:
        if name in data.schema().names:
            raise _native.InvalidError(f"there is a column '{name}' already")
    compared = {"prefer": prefer, "within": within, "never": never}
    request = _prepared(data, text, order_by, recipe, keys, threads, memory, parts, compared)
    if request.arguments["recipe"]["keep"] == "none":
        raise _native.InvalidError("keep none removes whole clusters: no row stands for another; dedup has it")
    return _run(data, _marked, request)


def dedup(
    data: ray.data.Dataset,
    text: str = "text",
    *,
    order_by: str,
    prefer: Preferred | None = None,
    within: str | None = None,
    never: Never | None = None,
    recipe: Recipe | str | None = None,
    memory: str | int | None = None,
    threads: int = 1,
    parts: int | None = None,
    **keys: Value,
) -> ray.data.Dataset:
    """Remove near-duplicate rows.

    Parameters
    ----------
    data : ray.data.Dataset
        The rows.
    text : str, optional
        The column with the text.
    order_by, prefer, within, never, recipe, memory, threads, parts, **keys
        As for :func:`mark`.

    Returns
    -------
    ray.data.Dataset
        The rows that are kept.
    """
    compared = {"prefer": prefer, "within": within, "never": never}
    return _run(data, _kept, _prepared(data, text, order_by, recipe, keys, threads, memory, parts, compared))
