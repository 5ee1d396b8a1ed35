"""All pairs of documents that match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

from . import _native
from ._df import Frequencies
from ._plan import Reading, recipe_of
from ._progress import Progress, reporting
from ._recipe import Recipe, Value, ratio
from ._table import Table

__all__ = ["pairs"]


def pairs(
    data: Any,
    text: str | None = "text",
    id: str | None = None,
    *,
    threshold: str | float | Fraction | None = None,
    shingle: int | str | None = None,
    method: Literal["minhash", "simhash", "identical"] | None = None,
    within: str | None = None,
    never: Mapping[str, str | Sequence[str]] | None = None,
    near_misses: str | float | Fraction | None = None,
    site: str | None = None,
    short: Literal["identical", "tokens", "keep"] | None = None,
    recipe: Recipe | str | None = None,
    set: dict[str, Value] | None = None,
    df: Frequencies = None,
    threads: int = 0,
    progress: Progress = None,
) -> Table:
    """List every pair of near-duplicates, with its evidence.

    The pairs are those of ``neardup pairs``.  Memory grows with their number.

    Parameters
    ----------
    data : frame, iterable or path
        As for :func:`dedup`.
    text, id : str, optional
        The columns with the text (default: "text") and with the ids (default: none).
    threshold : str, float or Fraction, optional
        Documents of at least this resemblance are a pair (default: 0.8).
    shingle : int or str, optional
        Compare shingles of so many words; ``"9c"``: of so many characters (default: 3).
    method : {"minhash", "simhash", "identical"}, optional
        How candidates are found (default: "minhash").
    within : str, optional
        Compare only documents in which this column has the same value.
    never : mapping, optional
        Columns, and for each the value or values whose documents match no other.
    near_misses : str, float or Fraction, optional
        List also the pairs that miss the threshold but reach this value; ``matches`` is False for
        them.
    site : str, optional
        A column with addresses; the column ``site`` then says whether both documents are of the
        ``"same"`` host or of an ``"other"`` one.
    short : {"identical", "tokens", "keep"}, optional
        When documents shorter than a shingle are a pair.
    recipe : Recipe or str, optional
        What a match is; the other arguments change a copy of it.
    set : dict, optional
        Other keys of the recipe to change.
    df : DocumentFrequencies, path or "auto", optional
        The df table for the signatures that need one; ``"auto"``: count the data first.
    threads : int, optional
        How many threads work; 0, the default: one for each processor.
    progress : bool or callable, optional
        As for :func:`dedup`.

    Returns
    -------
    Table
        A row for each pair, by the later document, then by the earlier.  Its columns:

        ===================  ==============================================================
        column               meaning
        ===================  ==============================================================
        row_a, row_b         the rows, the earlier first
        id_a, id_b           their ids, where there is a column of ids
        jaccard              their resemblance; None where the texts were not compared
        shared, union        how many shingles both have, and either has; None likewise
        a, b                 how many shingles each has; None likewise
        distance             in how many bits their simhashes differ; None where not made
        is_equal             whether the two are equal
        matches              with `near_misses`, whether the pair reaches the threshold
        site                 with `site`, "same", "other" or None
        NAME.shared, .a, .b  for each signature of the recipe, what both have, and each has
        ===================  ==============================================================

        A null is None.

    Raises
    ------
    InvalidError, UnsupportedError, TypeError
        As :func:`dedup`.

    Examples
    --------
    >>> texts = ["the ship left the harbour at noon", "The ship left the harbour at nine", "nobody saw it"]
    >>> [(row["row_a"], row["row_b"], row["shared"], row["union"]) for row in pairs(texts, threshold=0.6)]
    [(0, 1, 4, 6)]
    """
    made = recipe_of(recipe, threshold=threshold, shingle=shingle, method=method, short=short, set=set)
    reading = Reading(made, text)
    reading.never(never)
    numbers = [reading.columns.add(name) for name in (within, site)]
    reading.columns.add(id)
    source = reading.read(data, df, threads)
    with reporting(progress) as report:
        count, (everything, compared, distance), signatures, hosts = _native.pairs(
            made._native,
            source.frame,
            threads,
            ratio(near_misses) if near_misses is not None else (0, 0),
            numbers[0],
            reading.apart,
            reading.fields,
            numbers[1],
            report,
        )
    row_a, row_b, is_equal, matches = everything
    rows = Table([row_a, row_b], count)
    ids = [source.values(f"id_{one}", id, rows[f"row_{one}"]) for one in "ab"] if id is not None else []
    columns: list[Any] = [row_a, row_b, *ids, *compared, *distance, is_equal]
    if near_misses is not None:
        columns.append(matches)
    if hosts:
        columns.append(hosts)
    for name, agreement in signatures:
        columns += [(f"{name}.{column[0]}", *column[1:]) for column in agreement]
    return Table(columns, count)
