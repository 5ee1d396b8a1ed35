"""Polars: near-duplicates by ``frame.neardup``, lazily too, and expressions.

Importing this module registers the name space ``neardup`` on ``DataFrame``, ``LazyFrame`` and ``Expr``.
"""

from __future__ import annotations

from typing import Any

from . import _dedup
from ._optional import needs
from ._recipe import Recipe
from ._sketch import Sketcher

try:
    import polars
except ImportError as error:
    raise needs("neardup.polars", "polars", error) from None

__all__ = ["DataFrameNamespace", "ExprNamespace", "LazyFrameNamespace"]


@polars.api.register_dataframe_namespace("neardup")
class DataFrameNamespace:
    """The methods of ``frame.neardup``, of a ``DataFrame``.

    Examples
    --------
    >>> import polars, neardup.polars
    >>> frame = polars.DataFrame({"n": [1, 2, 3], "body": ["a b c d", "e f g h", "A, b, c, d"]})
    >>> frame.neardup.dedup("body")["n"].to_list()
    [1, 2]
    >>> frame.neardup.removed("body", id="n").select("id", "kept_id", "identical").rows()
    [(3, 1, 'tokens')]
    """

    def __init__(self, frame: polars.DataFrame) -> None:
        self._frame = frame

    def dedup(self, text: str = "text", **arguments: Any) -> polars.DataFrame:
        """The rows that :func:`neardup.dedup` keeps; it has the same arguments."""
        survivors: polars.DataFrame = self.result(text, **arguments).survivors
        return survivors

    def removed(self, text: str = "text", **arguments: Any) -> polars.DataFrame:
        """A row for each that is removed, with the one that stands for it, and what was measured."""
        return polars.DataFrame(self.result(text, **arguments).removed)

    def clusters(self, text: str = "text", *, name: str = "cluster", **arguments: Any) -> polars.DataFrame:
        """The frame with another column: the number of the row that stands for each."""
        result = self.result(text, **arguments)
        return self._frame.with_columns(_stands_for(result).alias(name))

    def result(self, text: str = "text", **arguments: Any) -> _dedup.Result:
        """The result of :func:`neardup.dedup`."""
        return _dedup.dedup(self._frame, text, **arguments)


@polars.api.register_lazyframe_namespace("neardup")
class LazyFrameNamespace:
    """The methods of ``frame.neardup``, of a ``LazyFrame``: the work is done when the frame is collected.

    Examples
    --------
    >>> import polars, neardup.polars
    >>> frame = polars.LazyFrame({"n": [1, 2, 3], "text": ["a b c d", "e f g h", "A, b, c, d"]})
    >>> frame.neardup.dedup().select("n").collect()["n"].to_list()
    [1, 2]
    """

    def __init__(self, frame: polars.LazyFrame) -> None:
        self._frame = frame

    def dedup(self, text: str = "text", **arguments: Any) -> polars.LazyFrame:
        """The rows that :func:`neardup.dedup` keeps; it has the same arguments.

        All rows before this step are collected in memory.  Filters and columns chosen after it are
        not moved before it, as that would change which rows are compared.
        """

        def keep(frame: polars.DataFrame) -> polars.DataFrame:
            survivors: polars.DataFrame = _dedup.dedup(frame, text, **arguments).survivors
            return survivors

        return self._frame.map_batches(
            keep,
            predicate_pushdown=False,
            projection_pushdown=False,
            slice_pushdown=False,
            schema=None,
            streamable=False,
        )


def _stands_for(result: _dedup.Result) -> polars.Series:
    rows = polars.arange(0, len(result.kept), eager=True, dtype=polars.UInt64)
    removed = polars.DataFrame(result.removed).select("row", "kept_row").drop_nulls()
    return rows.scatter(removed["row"], removed["kept_row"])


@polars.api.register_expr_namespace("neardup")
class ExprNamespace:
    """The methods of ``expression.neardup``, of a column of texts.

    Examples
    --------
    >>> import polars, neardup.polars
    >>> frame = polars.DataFrame({"site": ["x", "y", "x"], "text": ["a b c d", "a b c d", "A, b, c, d"]})
    >>> frame.select(polars.col("text").neardup.kept())["text"].to_list()
    [True, False, False]
    >>> frame.select(polars.col("text").neardup.kept().over("site"))["text"].to_list()
    [True, True, False]
    """

    def __init__(self, expression: polars.Expr) -> None:
        self._expression = expression

    def kept(self, **arguments: Any) -> polars.Expr:
        """Whether :func:`neardup.dedup` keeps each text; ``.over()`` compares within groups."""

        def decide(texts: polars.Series) -> polars.Series:
            kept: polars.Series = _dedup.dedup(texts, **arguments).kept.to_polars()
            return kept.alias(texts.name)

        return self._expression.map_batches(decide, return_dtype=polars.Boolean)

    def cluster(self, **arguments: Any) -> polars.Expr:
        """The number of the text that stands for each, in the column or group."""

        def decide(texts: polars.Series) -> polars.Series:
            return _stands_for(_dedup.dedup(texts, **arguments)).alias(texts.name)

        return self._expression.map_batches(decide, return_dtype=polars.UInt64)

    def simhash(self, recipe: Recipe | str | None = None) -> polars.Expr:
        """The simhash of each text, of 64 bits; null for null."""
        return self._sketch("simhash", polars.UInt64(), recipe)

    def identity(self, recipe: Recipe | str | None = None) -> polars.Expr:
        """The hash of each text's tokens, equal for texts that differ in case and punctuation only."""
        return self._sketch("identity", polars.UInt64(), recipe)

    def minima(self, recipe: Recipe | str | None = None) -> polars.Expr:
        """The 128 minima of each text; the share in which two agree estimates their resemblance."""
        return self._sketch("minima", polars.Array(polars.UInt32, 128), recipe)

    def _sketch(self, column: str, kind: Any, recipe: Recipe | str | None) -> polars.Expr:
        sketcher = Sketcher(recipe)

        def sketch(texts: polars.Series) -> polars.Series:
            return polars.Series(texts.name, sketcher(texts)[column], dtype=kind)

        return self._expression.map_batches(sketch, return_dtype=kind, is_elementwise=True)
