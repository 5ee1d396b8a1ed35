"""DuckDB: functions of SQL that sketch texts.

A relation needs no module: ``neardup.dedup(relation).survivors``.
"""

from __future__ import annotations

from typing import Any

from ._optional import needs
from ._recipe import Recipe
from ._sketch import Sketcher

try:
    import duckdb
    import pyarrow
except ImportError as error:
    raise needs("neardup.duckdb", "duckdb pyarrow", error) from None

__all__ = ["register"]

_FUNCTIONS = {"simhash": "UBIGINT", "identity": "UBIGINT", "minima": "UINTEGER[128]"}


def register(connection: duckdb.DuckDBPyConnection | None = None, recipe: Recipe | str | None = None) -> None:
    """Add functions of sketches to a connection.

    ``neardup_simhash(text)`` is the simhash, of 64 bits: ``bit_count(xor(a, b))`` is the distance of
    two.  ``neardup_identity(text)`` is the hash of the tokens, equal for texts that differ in case
    and punctuation only.  ``neardup_minima(text)`` has 128 numbers; the share in which two texts
    agree estimates their resemblance.  Each is null for null.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection, optional
        The connection (default: that of the module ``duckdb``).
    recipe : Recipe or str, optional
        Its section ``[sketch]`` says what a shingle is.

    Examples
    --------
    >>> import duckdb, neardup.duckdb
    >>> connection = duckdb.connect()
    >>> neardup.duckdb.register(connection)
    >>> sql = "select neardup_identity('One, two, three') = neardup_identity('one two three')"
    >>> connection.sql(sql).fetchall()
    [(True,)]
    """
    sketcher = Sketcher(recipe)

    def function(column: str) -> Any:
        def sketch(texts: Any) -> Any:
            return pyarrow.array(sketcher(texts)[column])

        return sketch

    # Any: its types know the kind of a function as an enumeration, whose module has moved.
    to: Any = duckdb.default_connection() if connection is None else connection
    for column, kind in _FUNCTIONS.items():
        to.create_function(f"neardup_{column}", function(column), ["VARCHAR"], kind, type="arrow")
