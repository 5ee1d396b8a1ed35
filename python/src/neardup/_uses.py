"""A stream against prototypes, and a ranked list collapsed to one result for each cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

from . import _native
from ._columns import OwnColumn
from ._dedup import Result
from ._df import Frequencies, give_tables
from ._frames import Mask, Source, at_rest, reorder
from ._plan import Plan, Reading, recipe_of
from ._recipe import Recipe, Value
from ._table import Table

__all__ = ["Collapsed", "Filtered", "collapse", "filter"]


class Filtered:
    """Which rows are near a prototype.

    Attributes
    ----------
    matches : Mask
        Whether each row matches.
    table : Table
        A row for each row that matches:

        ================  =================================================================
        column            meaning
        ================  =================================================================
        row               the row
        prototype_row     the prototype: an equal one, otherwise the nearest
        id, prototype_id  their ids, as the columns have them, where there are any
        prototypes        how many of the nearest ``max_checks`` prototypes match
        jaccard, shared   what both have in common; None where the texts were not compared
        a, b              how many shingles the row has, and the prototype; None likewise
        distance          in how many bits their simhashes differ; None where not made
        is_equal          whether the two are equal
        ================  =================================================================

    recipe : Recipe
        What decided.

    Examples
    --------
    >>> found = filter(["buy these pills now", "see you at noon"], ["Buy these pills now!"])
    >>> list(found.matches)
    [True, False]
    """

    def __init__(self, source: Source, mask: bytes, table: Table, recipe: Recipe) -> None:
        self._source = source
        self._mask = mask
        self.matches = Mask(mask)
        self.table = table
        self.recipe = recipe

    @property
    def caught(self) -> Any:
        """The rows that match, as the caller's own kind of data."""
        return self._source.survivors(self._mask)

    @property
    def others(self) -> Any:
        """The rows that match no prototype, as the caller's own kind of data."""
        return self._source.survivors(self._mask.translate(bytes([1, 0]) + bytes(254)))

    def __reduce__(self) -> tuple[Any, ...]:
        """A result goes to another process with the rows of both kinds."""
        return _filtered, (self._mask, self.table, self.recipe, at_rest(self.caught), at_rest(self.others))

    def __repr__(self) -> str:
        return f"<neardup.Filtered: {len(self.matches):,} rows, {len(self.table):,} near a prototype>"


def _filtered(mask: bytes, table: Table, recipe: Recipe, caught: Any, others: Any) -> Filtered:
    source = Source(None, lambda chosen: caught if chosen == mask else others, lambda name, rows: OwnColumn(name, []))
    return Filtered(source, mask, table, recipe)


def filter(
    data: Any,
    prototypes: Any,
    text: str | None = "text",
    id: str | None = None,
    *,
    prototype_text: str | None = None,
    prototype_id: str | None = None,
    threshold: str | float | Fraction | None = None,
    shingle: int | str | None = None,
    method: Literal["minhash", "simhash", "identical"] | None = None,
    never: Mapping[str, str | Sequence[str]] | None = None,
    short: Literal["identical", "tokens", "keep"] | None = None,
    recipe: Recipe | str | None = None,
    set: dict[str, Value] | None = None,
    df: Frequencies = None,
    threads: int = 0,
    progress: Callable[[int, int], object] | None = None,
) -> Filtered:
    """Find the rows that are near a prototype: known spam, the texts of a benchmark.

    The answers are those of ``neardup filter``.  Rows are compared with the prototypes only, and not
    with one another.

    Parameters
    ----------
    data : frame, iterable or path
        As for :func:`dedup`.
    prototypes : frame, iterable or path
        The prototypes, likewise.
    text, id : str, optional
        The columns with the text (default: "text") and with the ids (default: none).
    prototype_text, prototype_id : str, optional
        The same of the prototypes (default: `text`, and no ids).
    threshold : str, float or Fraction, optional
        Documents of at least this resemblance match (default: 0.8).
    shingle : int or str, optional
        Compare shingles of so many words; ``"9c"``: of so many characters (default: 3).
    method : {"minhash", "simhash", "identical"}, optional
        How candidates are found (default: "minhash").
    never : mapping, optional
        Columns of both, and for each the value or values whose documents match no other.
    short : {"identical", "tokens", "keep"}, optional
        When documents shorter than a shingle match (default: "identical").
    recipe : Recipe or str, optional
        What a match is; the other arguments change a copy of it.
    set : dict, optional
        Other keys of the recipe to change.
    df : DocumentFrequencies, path or "auto", optional
        The df table for the signatures that need one; ``"auto"``: count the data first.
    threads : int, optional
        How many threads work; 0, the default: one for each processor.
    progress : callable, optional
        Called with the number of rows that are done, and of all.

    Returns
    -------
    Filtered
        Which rows match, and which prototype.

    Raises
    ------
    InvalidError, UnsupportedError, TypeError
        As :func:`dedup`; there is no prototype.

    Examples
    --------
    >>> spam = ["Buy these wonderful pills now and never be tired again"]
    >>> mail = ["buy these WONDERFUL pills now, and never be tired again!", "see you on monday at noon"]
    >>> found = filter(mail, spam)
    >>> found.others
    ['see you on monday at noon']
    >>> found.table[0]["prototype_row"]
    0
    """
    made = recipe_of(recipe, threshold=threshold, shingle=shingle, method=method, short=short, set=set)
    readings = (Reading(made, prototype_text or text), Reading(made, text))
    for reading, name in zip(readings, (prototype_id, id), strict=True):
        reading.never(never)
        reading.columns.add(name)
    known, source = (reading.open(some) for reading, some in zip(readings, (prototypes, data), strict=True))
    give_tables(made, df, source, threads)
    if not _native.frame_rows(known.frame):
        raise _native.InvalidError("there is no prototype")
    of_known, of_data = ((r.apart, r.fields) for r in readings)
    mask, count, (everything, compared, distance) = _native.filter(
        made._native, known.frame, source.frame, threads, of_known, of_data, progress
    )
    row, prototype, how_many, is_equal = everything
    rows = Table([row, prototype], count)
    ids = []
    if id is not None:
        ids.append(source.values("id", id, rows["row"]))
    if prototype_id is not None:
        ids.append(known.values("prototype_id", prototype_id, rows["prototype_row"]))
    columns: list[Any] = [row, prototype, *ids, how_many, *compared, *distance, is_equal]
    return Filtered(source, mask, Table(columns, count), made)


class Collapsed:
    """A ranked list, with one result for each cluster.

    Attributes
    ----------
    rows : list of int
        The rows that are shown, in the order of the results.
    ranks : list of int
        Of each result the best rank in its cluster, from 1.
    duplicates : list of list of int
        Of each result the rows that are left out for it, in order.
    result : Result
        The decisions behind it.

    Examples
    --------
    >>> collapse(["one two three", "four five six", "One, two, three"]).duplicates
    [[2], []]
    """

    def __init__(self, result: Result, rows: list[int], ranks: list[int], duplicates: list[list[int]]) -> None:
        self.result = result
        self.rows = rows
        self.ranks = ranks
        self.duplicates = duplicates
        self._results: Any = None

    @property
    def results(self) -> Any:
        """The rows that are shown, in order, as the caller's own kind of data."""
        if self._results is not None:
            return self._results
        shown = self.result._source.survivors(_mask_of(self.rows, len(self.result.kept)))
        place = {row: i for i, row in enumerate(sorted(self.rows))}
        return reorder(shown, [place[row] for row in self.rows])

    def cluster(self, row: int) -> list[int]:
        """List the cluster of one row.

        Parameters
        ----------
        row : int
            The row.

        Returns
        -------
        list of int
            The row that is shown, then those that are left out for it.
        """
        for shown, others in zip(self.rows, self.duplicates, strict=True):
            if row == shown or row in others:
                return [shown, *others]
        raise IndexError(row)

    def __len__(self) -> int:
        """How many results there are."""
        return len(self.rows)

    def __reduce__(self) -> tuple[Any, ...]:
        """A result goes to another process with the rows that are shown."""
        made = (self.result, self.rows, self.ranks, self.duplicates)
        return Collapsed, made, {"_results": at_rest(self.results)}

    def __repr__(self) -> str:
        return f"<neardup.Collapsed: {len(self.result.kept):,} rows, {len(self.rows):,} results>"


def _mask_of(rows: list[int], n: int) -> bytes:
    mask = bytearray(n)
    for row in rows:
        mask[row] = 1
    return bytes(mask)


def _places(source: Source, what: str, policy: str, column: int) -> Callable[[int, int], tuple[int, int]]:
    """A key to sort by: the place of a row by the policy, then the rank."""
    try:
        columns = _native.keep_places(source.frame, policy, column)
    except _native.InvalidError:
        raise _native.InvalidError(
            f"{what}: '{policy}' is not one of rank, longest, shortest, longest:COLUMN, shortest:COLUMN, "
            "newest:COLUMN, max:COLUMN, min:COLUMN"
        ) from None
    places = Table(columns, _native.frame_rows(source.frame))["place"]
    return lambda row, rank: (places[row], -rank if policy == "last" else rank)


def collapse(
    data: Any,
    text: str | None = "text",
    id: str | None = None,
    *,
    order: str = "rank",
    expand: str = "rank",
    keep: str | None = None,
    threshold: str | float | Fraction | None = None,
    shingle: int | str | None = None,
    method: Literal["minhash", "simhash", "identical"] | None = None,
    never: Mapping[str, str | Sequence[str]] | None = None,
    short: Literal["identical", "tokens", "keep"] | None = None,
    recipe: Recipe | str | None = None,
    set: dict[str, Value] | None = None,
    df: Frequencies = None,
    threads: int = 0,
) -> Collapsed:
    """Reduce a ranked list, best first, to one result for each cluster.

    The results are those of ``neardup collapse``.

    Parameters
    ----------
    data : frame, iterable or path
        The list, as for :func:`dedup`.  A row without a text is a result of its own.
    text, id : str, optional
        The columns with the text (default: "text") and with the ids (default: none).
    order : str, optional
        The order of the results: ``"rank"``, by the best rank in the cluster, or a policy as `keep`
        has it.
    expand : str, optional
        The order of a result's duplicates, likewise.
    keep : str, optional
        Which document of a cluster is shown, as :func:`dedup` keeps one (default: the best ranked).
    threshold : str, float or Fraction, optional
        Documents of at least this resemblance are duplicates (default: 0.8).
    shingle : int or str, optional
        Compare shingles of so many words; ``"9c"``: of so many characters (default: 3).
    method : {"minhash", "simhash", "identical"}, optional
        How candidates are found (default: "minhash").
    never : mapping, optional
        Columns, and for each the value or values whose documents match no other.
    short : {"identical", "tokens", "keep"}, optional
        When documents shorter than a shingle are duplicates (default: "identical").
    recipe : Recipe or str, optional
        What a match is; the other arguments change a copy of it.
    set : dict, optional
        Other keys of the recipe to change.
    df : DocumentFrequencies, path or "auto", optional
        The df table for the signatures that need one; ``"auto"``: count the data first.
    threads : int, optional
        How many threads work; 0, the default: one for each processor.

    Returns
    -------
    Collapsed
        The results, and what is left out for each.

    Raises
    ------
    InvalidError, UnsupportedError, TypeError
        As :func:`dedup`.

    Examples
    --------
    >>> hits = ["the council voted on tuesday", "why I like the bridge", "The council voted on Tuesday."]
    >>> collapse(hits).results
    ['the council voted on tuesday', 'why I like the bridge']
    """
    made = recipe_of(
        recipe, threshold=threshold, shingle=shingle, method=method, keep=keep, short=short, cluster="star", set=set
    )
    if made["keep"] == "none":
        raise _native.InvalidError("keep: none would show no result of a cluster, of which collapse shows one")
    plan = Plan(made, text, id=id, never=never)
    policies = [made["keep"], *("first" if policy == "rank" else policy for policy in (order, expand))]
    numbers = [plan.columns.add(policy.partition(":")[2] or None) for policy in policies]
    source = plan.read(data, df, threads)
    result = Result(plan.decide(source, threads), source, plan, seconds=0.0)
    by_order = _places(source, "order", policies[1], numbers[1])
    by_expand = _places(source, "expand", policies[2], numbers[2])
    members: dict[int, list[int]] = {row: [] for row, kept in enumerate(result.kept) if kept}
    for row, kept in zip(result.removed["row"], result.removed["kept_row"], strict=True):
        members[kept].append(row)
    best = {row: min([row, *others]) for row, others in members.items()}
    rows = sorted(members, key=lambda row: by_order(row, best[row]))
    return Collapsed(
        result,
        rows,
        [best[row] + 1 for row in rows],
        [sorted(members[row], key=lambda other: by_expand(other, other)) for row in rows],
    )
