"""Recipes: how texts become sketches, and when two documents are duplicates."""

from __future__ import annotations

import os
import warnings
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from . import _native

if TYPE_CHECKING:
    from ._df import DocumentFrequencies

Value = str | int | float | bool | Fraction


def _spell(value: Value) -> str:
    """A value as a recipe spells it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        # 0.8 is 4/5 exactly: what was typed, not the nearest double.
        return repr(value)
    return str(value)


def ratio(value: Value) -> tuple[int, int]:
    """A number as a ratio of integers, exactly as it was spelt."""
    try:
        fraction = Fraction(_spell(value))
    except (ValueError, ZeroDivisionError):
        raise _native.InvalidError(f"'{value}' is not a number, such as 0.8 or 4/5") from None
    if not 0 <= fraction.numerator < 2**32 or fraction.denominator >= 2**32:
        raise _native.InvalidError(f"{value}: out of range, or too many digits")
    return fraction.numerator, fraction.denominator


class Recipe:
    """A recipe, which defines what is computed of a text and what a match is.

    A recipe starts as the default one, or as a shipped one or a file that `source` names.

    Parameters
    ----------
    source : str or os.PathLike, optional
        The name of a shipped recipe, such as ``"manku-2007"``, or the path of a file.  A path has a
        separator or ends in ``.ini``.
    **keys
        Keys of the recipe to change, as :meth:`set` takes them.

    Raises
    ------
    InvalidError
        There is no such recipe or key, or a value is out of range.

    Examples
    --------
    >>> recipe = Recipe(threshold=0.9)
    >>> recipe["threshold"]
    '9/10'
    >>> Recipe("manku-2007")["candidates"]
    'match'
    """

    def __init__(self, source: str | os.PathLike[str] | None = None, **keys: Value) -> None:
        self._native = _native.recipe_new()
        if source is not None:
            name = os.fspath(source)
            if isinstance(source, str) and os.sep not in name and not name.endswith(".ini"):
                _native.recipe_by_name(self._native, name)
            else:
                _native.recipe_load(self._native, name)
        for key, value in keys.items():
            self.set(key, value)

    @classmethod
    def parse(cls, text: str, name: str = "recipe") -> Recipe:
        r"""Make a recipe of its text.

        Parameters
        ----------
        text : str
            The text, as a file has it.
        name : str, optional
            What messages call it.

        Returns
        -------
        Recipe
            The recipe.

        Examples
        --------
        >>> Recipe.parse("[decide]\nthreshold = 0.7\n")["threshold"]
        '7/10'
        """
        recipe = cls()
        _native.recipe_parse(recipe._native, name, text)
        return recipe

    def set(self, key: str, value: Value) -> Recipe:
        """Change one key, and return the recipe.

        Parameters
        ----------
        key : str
            The key, such as ``"threshold"``, or ``"NAME.bits"`` for a key of the section
            ``[signature NAME]``.
        value : str, int, float, bool or Fraction
            Its value.

        Returns
        -------
        Recipe
            The recipe itself.

        Raises
        ------
        InvalidError
            There is no such key, or it does not take this value; the recipe is unchanged.

        Examples
        --------
        >>> Recipe().set("shingle", 5)["shingle"]
        '5'
        """
        _native.recipe_set(self._native, f"{key}={_spell(value)}")
        return self

    def __getitem__(self, key: str) -> str:
        """The value of a key, in its canonical spelling."""
        return _native.recipe_get(self._native, key)

    def use_df(self, table: DocumentFrequencies) -> Recipe:
        """Give a df table to all signatures that need one.

        Parameters
        ----------
        table : DocumentFrequencies
            The table.

        Returns
        -------
        Recipe
            The recipe itself.

        Raises
        ------
        InvalidError
            Nothing needs a table, or this one counts other features.

        Examples
        --------
        >>> from neardup import DocumentFrequencies
        >>> texts = ["the ship left at noon", "the ship sank", "the sea is deep"]
        >>> recipe = Recipe("seshasai-2009")
        >>> recipe = recipe.use_df(DocumentFrequencies.count(texts, recipe=recipe))
        """
        return self._use(table, is_template=False)

    def use_template(self, table: DocumentFrequencies) -> Recipe:
        """Give a df table of shingles to all signatures that recognise template text by one.

        Parameters
        ----------
        table : DocumentFrequencies
            The table, counted with ``features="sketch"``.

        Returns
        -------
        Recipe
            The recipe itself.

        Raises
        ------
        InvalidError
            As :meth:`use_df`.
        """
        return self._use(table, is_template=True)

    def _use(self, table: DocumentFrequencies, is_template: bool) -> Recipe:
        needed = [i for i, (_, needs, _, _) in enumerate(_native.recipe_tables(self._native)) if needs[is_template]]
        if not needed:
            raise _native.InvalidError("nothing in the recipe needs a df table")
        for i in needed:
            _native.recipe_use(self._native, i, table._native, is_template)
        return self

    def copy(self) -> Recipe:
        """Copy the recipe.

        Returns
        -------
        Recipe
            A copy that changes independently.
        """
        recipe = Recipe.__new__(Recipe)
        recipe._native = _native.recipe_copy(self._native)
        return recipe

    def __reduce__(self) -> tuple[Any, ...]:
        """A recipe goes to another process as its text."""
        return Recipe.parse, (self.text,)

    def check(self) -> None:
        """Raise :class:`InvalidError` where the keys do not fit together."""
        _native.recipe_check(self._native)

    @property
    def warnings(self) -> list[str]:
        """Sentences on probable mistakes in a recipe that is valid."""
        return _native.recipe_warnings(self._native)

    @property
    def text(self) -> str:
        """The canonical text: every key that has an effect, in a fixed order."""
        return _native.recipe_canonical(self._native)[0]

    @property
    def fingerprint(self) -> str:
        """The fingerprint of what makes sketches, 16 hexadecimal digits.

        Sketches may be compared where it agrees.
        """
        return f"{_native.recipe_canonical(self._native)[1]:016x}"

    def __repr__(self) -> str:
        return f"<neardup.Recipe {self.fingerprint}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Recipe) and self.text == other.text

    __hash__ = None  # type: ignore[assignment]


def warn_of_pages(recipe: Recipe, depth: int = 4) -> None:
    """Warn where a recipe reads what texts of frames do not have: links, markup and elements of pages.

    They are compared without, as the command compares plain texts.  The warning names the caller `depth` calls up.
    """
    keys = _native.recipe_page_keys(recipe._native)
    if keys:
        warnings.warn(
            f"{keys[0]} = {recipe[keys[0]]}: the recipe reads what only pages and mail have, and the texts of a frame "
            "are plain: they are compared without it; the command reads pages: neardup dedup --recipe …",
            stacklevel=depth,
        )


def shipped_recipes() -> dict[str, str]:
    """List the shipped recipes.

    Returns
    -------
    dict
        Their names, each with a line about it.

    Examples
    --------
    >>> "manku-2007" in shipped_recipes()
    True
    """
    return dict(_native.recipe_names())
