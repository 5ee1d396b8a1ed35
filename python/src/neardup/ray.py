"""Ray Data: sketches in parallel, and near-duplicates with the decisions of the command.

``neardup`` is installed on every node.
"""

from __future__ import annotations

from typing import Any, Literal

from . import _native
from ._batches import Sketch, column
from ._dedup import Deduper
from ._optional import needs
from ._recipe import Recipe, Value

try:
    import pyarrow
    import pyarrow.compute
    import ray
    import ray.data
except ImportError as error:
    raise needs("neardup.ray", "ray[data]", error) from None

__all__ = ["Sketch", "dedup", "mark"]

_MARKS = ("duplicate_of", "identical", "resemblance")
# Blocks that are on their way to the actor.
_AHEAD = 8


class _Decider:
    """Decides about blocks in the order of a column, and says what became of each row."""

    def __init__(self, recipe: str, text: str, order_by: str, texts: Any, threads: int) -> None:
        self._deduper = Deduper(Recipe.parse(recipe), texts=texts, threads=threads)
        self._text = text
        self._order_by = order_by
        self._last: Any = None
        self._rows = 0
        self._kept: dict[int, Any] = {}

    def decide(self, block: Any) -> Any:
        """The columns to add to a block."""
        keys = column(block, self._order_by)
        values = keys.to_pylist()
        for value in values:
            if value is None:
                raise _native.InvalidError(f"order_by: '{self._order_by}' is null in a row")
            if self._last is not None and not self._last < value:
                raise _native.InvalidError(f"order_by: two rows have {value!r} as '{self._order_by}'")
            self._last = value
        result = self._deduper.push(column(block, self._text))
        self._kept.update((self._rows + i, values[i]) for i, kept in enumerate(result.kept) if kept)
        duplicate_of, identical, resemblance = ([None] * len(values) for _ in range(3))
        for row in result.removed:
            i = row["row"] - self._rows
            duplicate_of[i] = self._kept[row["kept_row"]]
            identical[i] = row["identical"]
            resemblance[i] = row["jaccard"]
        self._rows += len(values)
        return pyarrow.table(
            {
                "duplicate_of": pyarrow.array(duplicate_of, keys.type),
                "identical": pyarrow.array(identical, pyarrow.string()),
                "resemblance": pyarrow.array(resemblance, pyarrow.float64()),
            }
        )


def _with_columns(block: Any, columns: Any) -> Any:
    for name in columns.column_names:
        block = block.append_column(name, columns[name])
    return block


def _first(block: Any, name: str) -> Any:
    """The first value of a column, and whether there is one."""
    values = column(block, name)
    return (True, values[0].as_py()) if len(values) else (False, None)


def _project(block: Any, names: list[str]) -> Any:
    return block.select(names)


def _mark_group(block: Any, settings: tuple[str, str, str, Any]) -> Any:
    """A group by itself."""
    recipe, text, order_by, texts = settings
    column(block, order_by)
    block = block.sort_by(order_by)
    return _with_columns(block, _Decider(recipe, text, order_by, texts, 1).decide(block))


def _drop_marked(block: Any) -> Any:
    kept = block.filter(pyarrow.compute.is_null(block["duplicate_of"]))
    return kept.drop_columns(list(_MARKS))


def mark(
    data: ray.data.Dataset,
    text: str = "text",
    *,
    order_by: str,
    within: str | None = None,
    recipe: Recipe | str | None = None,
    texts: Literal["memory", "spool"] = "memory",
    threads: int = 1,
    **keys: Value,
) -> ray.data.Dataset:
    """Say of each row which one it duplicates.

    The decisions are those of :func:`neardup.dedup` on all rows in the order of `order_by`.  Rows of
    a data set of Ray have no order of their own.  One actor decides; with `within`, the groups are
    decided in parallel.

    Parameters
    ----------
    data : ray.data.Dataset
        The rows.
    text : str, optional
        The column with the text.
    order_by : str
        A column with a value of its own for each row.  The first row of a cluster is kept.
    within : str, optional
        Compare only rows in which this column has the same value.
    recipe : Recipe or str, optional
        What a match is (default: the default recipe).
    texts : {"memory", "spool"}, optional
        Where the texts of kept rows are held: in memory, or in a temporary file.
    threads : int, optional
        How many threads the actor has (default: 1).
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
    made = recipe.copy() if isinstance(recipe, Recipe) else Recipe(recipe)
    for key, value in keys.items():
        made.set(key, value)
    Deduper(made, threads=1)  # what a stream refuses is refused before work begins
    names = data.schema().names
    for name in (text, order_by, *([within] if within else [])):
        if name not in names:
            raise _native.InvalidError(f"there is no column '{name}'; there are {names}")
    for name in _MARKS:
        if name in names:
            raise _native.InvalidError(f"there is a column '{name}' already")
    if within is not None:
        settings = (made.text, text, order_by, texts)
        groups = data.groupby(within)
        return groups.map_groups(_mark_group, fn_kwargs={"settings": settings}, batch_format="pyarrow")
    return _mark_all(data, (made.text, text, order_by, texts, threads))


def _mark_all(data: ray.data.Dataset, settings: tuple[str, str, str, Any, int]) -> ray.data.Dataset:
    _, text, order_by, _, threads = settings
    blocks = data.sort(order_by).to_arrow_refs()
    first = ray.remote(_first)
    project = ray.remote(_project)
    join = ray.remote(_with_columns)
    # The actor holds its processors while the tasks need one.
    cpus = threads if ray.cluster_resources().get("CPU", 1) > threads else 0
    actor = ray.remote(_Decider).options(num_cpus=cpus).remote(*settings)
    firsts = ray.get([first.remote(block, order_by) for block in blocks])
    if any(has_rows and value is None for has_rows, value in firsts):
        raise _native.InvalidError(f"order_by: '{order_by}' is null in a row")
    ordered = sorted((value, i) for i, (has_rows, value) in enumerate(firsts) if has_rows)
    marked: list[Any] = []
    ahead: list[Any] = []
    for _, i in ordered:
        if len(ahead) == _AHEAD:
            ray.wait([ahead.pop(0)], fetch_local=False)
        columns = actor.decide.remote(project.remote(blocks[i], list(dict.fromkeys((text, order_by)))))
        ahead.append(columns)
        marked.append(join.remote(blocks[i], columns))
    if not marked and blocks:  # no rows, but columns
        marked = [join.remote(blocks[0], actor.decide.remote(blocks[0]))]
    try:
        ray.get([first.remote(block, order_by) for block in marked])
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, _native.Error):
            raise error.cause from None
        raise
    return ray.data.from_arrow_refs(marked)


def dedup(data: ray.data.Dataset, text: str = "text", **arguments: Any) -> ray.data.Dataset:
    """Remove near-duplicate rows.

    Parameters
    ----------
    data : ray.data.Dataset
        The rows.
    text : str, optional
        The column with the text.
    **arguments
        As for :func:`mark`; `order_by` is required.

    Returns
    -------
    ray.data.Dataset
        The rows that are kept.
    """
    marked = mark(data, text, **arguments)
    return marked.map_batches(_drop_marked, batch_format="pyarrow", batch_size=None)
