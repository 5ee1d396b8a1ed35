"""The plan of a run: a recipe, and the columns that it reads."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from . import _native
from ._df import Frequencies, give_tables
from ._frames import Columns, Source, read
from ._recipe import Recipe, Value, warn_of_pages

Preferred = tuple[str, Sequence[str]]
Never = Mapping[str, str | Sequence[str]]


def recipe_of(
    recipe: Recipe | str | None,
    *,
    threshold: str | float | Fraction | None = None,
    shingle: int | str | None = None,
    method: str | None = None,
    keep: str | None = None,
    short: str | None = None,
    cluster: str | None = None,
    set: Mapping[str, Value] | None = None,
) -> Recipe:
    """A copy of the recipe with the arguments set, as the command sets its options."""
    made = recipe.copy() if isinstance(recipe, Recipe) else Recipe(recipe)
    if threshold is not None:
        made.set("threshold", threshold)
    if shingle is not None:
        width = str(shingle)
        if width.endswith("c"):
            made.set("unit", "characters").set("shingle", width[:-1])
        else:
            made.set("unit", "words").set("shingle", width)
    if method is not None:
        candidates = {"minhash": "minhash", "simhash": "simhash", "identical": "identity"}
        if method not in candidates:
            raise _native.InvalidError(f"method: '{method}' is not minhash, simhash or identical")
        made.set("candidates", candidates[method]).set("verify", "jaccard")
    for key, value in (("keep", keep), ("short", short), ("cluster", cluster)):
        if value is not None:
            made.set(key, value)
    for key, changed in (set or {}).items():
        made.set(key, changed)
    made.check()
    warn_of_pages(made)
    return made


def check_nulls(nulls: str) -> str:
    """Refuse what is no way to treat rows without a text."""
    if nulls not in ("keep", "drop", "raise"):
        raise _native.InvalidError(f"nulls: '{nulls}' is not keep, drop or raise")
    return nulls


class Reading:
    """The columns that a request reads, and the reading of them.

    Those of the recipe's fields come first behind the text.  The caller adds its own to `columns`.
    """

    def __init__(self, recipe: Recipe, text: str | None) -> None:
        self.recipe = recipe
        self.columns = Columns(text)
        names = _native.recipe_fields(recipe._native)
        self.fields = tuple(dict.fromkeys(self.columns.add(name) for name in names))
        self.apart: tuple[tuple[int, str], ...] = ()
        self.recorded: tuple[str, ...] = ()
        self.recorded_columns: tuple[int, ...] = ()

    def record(self, names: Sequence[str]) -> None:
        """Read the fields that records of a sketch file keep: names of columns, and "", the length of the text."""
        self.recorded = tuple(dict.fromkeys(names))
        self.recorded_columns = tuple(self.columns.add(name) for name in self.recorded if name)

    def never(self, values: Never | None) -> None:
        """Set the documents apart that have one of these values in one of these columns."""
        self.apart = tuple(
            (self.columns.add(name), value)
            for name, some in (values or {}).items()
            for value in ([some] if isinstance(some, str) else some)
        )

    def read(self, data: Any, df: Frequencies, threads: int) -> Source:
        """Read the data, and give the recipe the df tables that it needs."""
        source = self.open(data)
        give_tables(self.recipe, df, source, threads)
        return source

    def open(self, data: Any) -> Source:
        """Read the data."""
        return read(data, self.columns)


class Plan(Reading):
    """A recipe, and the numbers of the columns that a deduplication reads.

    Attributes
    ----------
    roles : tuple of int
        The columns of ``keep``, ``prefer`` and ``within``; 0: none.
    preferred : tuple of str
        The values that are preferred, the best first.
    named_fields : tuple of tuple of int and str
        The columns that the recipe reads, with their names.
    id_column : int
        The column of ids; 0: none.
    """

    def __init__(
        self,
        recipe: Recipe,
        text: str | None,
        *,
        id: str | None = None,
        prefer: Preferred | None = None,
        within: str | None = None,
        never: Never | None = None,
    ) -> None:
        super().__init__(recipe, text)
        if prefer and isinstance(prefer[1], str):
            raise _native.InvalidError(f"prefer: '{prefer[0]}' needs a list of values, not a str")
        self.text, self.id, self.within = text, id, within
        self.prefer_column = prefer[0] if prefer else None
        self.preferred = tuple(prefer[1]) if prefer else ()
        self.never(never)
        self.roles = (
            self.columns.add(self.keep.partition(":")[2] or None),
            self.columns.add(self.prefer_column),
            self.columns.add(within),
        )
        self.id_column = self.columns.add(id)
        self.named_fields = tuple((number, self._name(number)) for number in self.fields)

    def _name(self, number: int) -> str:
        return str(self.columns.names[number])

    @property
    def never_values(self) -> tuple[tuple[str, str], ...]:
        """The columns of documents that are set apart, each with a value."""
        return tuple((self._name(number), value) for number, value in self.apart)

    @property
    def keep(self) -> str:
        """The keep policy."""
        return self.recipe["keep"]

    @property
    def is_final_at_once(self) -> bool:
        """Whether each row is decided when it comes: no later one can take its place."""
        return self.keep == "first" and not self.prefer_column and self.recipe["cluster"] == "star"

    def decide(self, source: Source, threads: int, progress: Callable[[int, int], object] | None = None) -> Any:
        """Deduplicate what was read: a native result."""
        return _native.dedup(
            self.recipe._native,
            source.frame,
            threads,
            self.keep,
            self.roles,
            self.preferred,
            self.apart,
            self.named_fields,
            progress,
        )

    def stream(self, threads: int, folder: str | None) -> Any:
        """Open a stream; texts of kept documents, and their ids, go to a file in the folder."""
        return _native.stream_new(
            self.recipe._native, threads, folder, self.roles[2], self.apart, self.named_fields, self.id_column
        )

    def bounded(self, memory: int, threads: int, folder: str) -> Any:
        """Open what decides in so much memory; everything that is read goes to files in the folder."""
        return _native.bounded_new(
            self.recipe._native,
            threads or len(os.sched_getaffinity(0)),
            memory,
            folder,
            self.keep,
            self.roles,
            self.preferred,
            self.apart,
            self.named_fields,
            self.id_column,
        )
