"""Hugging Face `datasets`: sketches by ``map``, and near-duplicates of streams by ``filter``.

A ``Dataset`` in memory or on disk needs no module: ``neardup.dedup(dataset).survivors``.
"""

from __future__ import annotations

from typing import Any, Literal, NoReturn

from ._batches import Sketch, column
from ._dedup import Deduper, Result, dedup
from ._optional import needs
from ._recipe import Recipe, Value

try:
    import datasets as _datasets  # noqa: F401
except ImportError as error:
    raise needs("neardup.datasets", "datasets", error) from None

__all__ = ["Keep", "Sketch", "drop_duplicates"]


def drop_duplicates(data: Any, text: str = "text", **options: Any) -> Any:
    """Drop the rows of a data set that are near-duplicates of an earlier one.

    Parameters
    ----------
    data : Dataset, DatasetDict or IterableDataset
        The rows.  Of a ``DatasetDict`` the splits come one after another, so a row of "test" is dropped for
        one of "train" if "train" stands first.
    text : str, optional
        The column to compare: texts, or lists of tokens such as ``input_ids`` (default: "text").
    **options
        As for :func:`neardup.dedup`, such as ``threshold=0.7``, ``keep="longest"`` or
        ``method="identical"``; of a stream, what :class:`Keep` takes.

    Returns
    -------
    Dataset, DatasetDict or IterableDataset
        What came in, without these rows.  Of a stream, one that is filtered as it is read, once.

    Raises
    ------
    InvalidError
        An option is wrong, or the column is missing.

    Examples
    --------
    >>> import datasets, neardup.datasets
    >>> rows = datasets.Dataset.from_dict({"text": ["a b c d", "e f g h", "A, b, c, d"]})
    >>> neardup.datasets.drop_duplicates(rows)["text"][:]
    ['a b c d', 'e f g h']
    """
    if hasattr(data, "filter") and not hasattr(data, "num_rows"):
        return data.filter(Keep(text, **options), batched=True)
    return dedup(data, text, **options).survivors


class Keep:
    """Say of each row of a stream whether it is kept: ``stream.filter(Keep(), batched=True)``.

    The decisions are those of :func:`neardup.dedup`, in the order of the stream.  One object is for
    one pass in one process.

    Parameters
    ----------
    text : str, optional
        The column with the text.
    recipe : Recipe or str, optional
        What a match is (default: the default recipe).
    texts : {"memory", "spool"}, optional
        Where the texts of kept rows are held: in memory, or in a temporary file.
    **keys
        Keys of the recipe to change, such as ``threshold``.

    Attributes
    ----------
    result : Result or None
        That of the last batch.

    Examples
    --------
    >>> import datasets, neardup.datasets
    >>> rows = datasets.Dataset.from_dict({"text": ["a b c d", "e f g h", "A, b, c, d"]})
    >>> stream = rows.to_iterable_dataset().filter(neardup.datasets.Keep(), batched=True)
    >>> [row["text"] for row in stream]
    ['a b c d', 'e f g h']
    """

    def __init__(
        self,
        text: str = "text",
        recipe: Recipe | str | None = None,
        *,
        texts: Literal["memory", "spool"] = "memory",
        **keys: Value,
    ) -> None:
        made = recipe.copy() if isinstance(recipe, Recipe) else Recipe(recipe)
        for key, value in keys.items():
            made.set(key, value)
        self._text = text
        self._deduper = Deduper(made, texts=texts)
        self.result: Result | None = None

    def __call__(self, batch: Any) -> list[bool]:
        """Decide about a batch."""
        texts = column(batch, self._text)
        if isinstance(texts, (str, bytes)):
            raise TypeError("the filter is called with one row: it needs batched=True")
        self.result = self._deduper.push(list(texts) if isinstance(batch, dict) else texts)
        return list(self.result.kept)

    def __reduce__(self) -> NoReturn:
        """A copy in another process would not see what this one has seen."""
        raise TypeError("neardup.datasets.Keep decides in one process: leave out num_proc, or use neardup.dedup")
