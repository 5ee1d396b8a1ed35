"""Two documents beside each other, and what one document consists of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from . import _native
from ._df import Frequencies, give_tables
from ._plan import Reading, recipe_of
from ._recipe import Recipe, Value

__all__ = ["Comparison", "Explanation", "Features", "compare", "explain"]

_SHOWN = 30
_NO_LIMIT = 2**64 - 1
_PARTS = {"edits": 2, "passages": 4, "terms": 8, "weights": 16}


class _Evidence(Mapping[str, Any]):
    """The measures, by the keys of the command's JSON: as a mapping, and as attributes."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_values"][name]
        except KeyError:
            raise AttributeError(f"'{type(self).__name__}' has no '{name}'") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and dict(self) == dict(other)

    __hash__ = None  # type: ignore[assignment]


def _some(words: Sequence[str]) -> str:
    more = f" … ({len(words) - _SHOWN} more)" if len(words) > _SHOWN else ""
    return f"{len(words)}: {' '.join(words[:_SHOWN])}{more}" if words else "0"


class Comparison(_Evidence):
    """Two documents by every measure, with the keys of ``neardup compare --json``.

    Each key is an attribute too: ``resemblance``, ``containment_a``, ``containment_b``, ``hamming``,
    ``cosine``, ``cosine_tf``, ``edit_distance``, ``same_bytes``, ``same_words`` and others; with
    `show` also ``edits``, ``passages``, ``term_counts`` and ``weights``.  ``a`` and ``b`` count what
    each document has.

    Examples
    --------
    >>> compare("the ferry leaves at nine", "the ferry leaves at ten").edit_distance
    1
    """

    def __repr__(self) -> str:
        v = self._values
        lines = [
            f"{name.upper()}: {v[name]['bytes']} bytes, {v[name]['tokens']} tokens, {v[name]['terms']} distinct terms, "
            f"{v[name]['shingles']} distinct shingles"
            for name in ("a", "b")
        ]
        edits = v.get("edit_distance")
        either = v["a"]["shingles"] + v["b"]["shingles"] - v["shared_shingles"]
        lines += [
            f"identical:            {'bytes' if v['same_bytes'] else 'words' if v['same_words'] else 'no'}",
            f"resemblance:          {v['resemblance']:.6f} = {v['shared_shingles']} shared / {either} in either",
            f"containment of A:     {v['containment_a']:.6f}",
            f"containment of B:     {v['containment_b']:.6f}",
            f"cosine:               {v['cosine']:.6f}, of counts {v['cosine_tf']:.6f}",
            f"edit distance:        {'more than ' + str(v['edit_limit']) if edits is None else edits} tokens",
            f"Hamming distance:     {v['hamming']} of 64",
            f"Conrad and Schriber:  {'duplicates' if v['conrad_schriber'] else 'different'}",
        ]
        lines += [f"passage of {p['b']['tokens']} tokens: {p['text']}" for p in v.get("passages", ())]
        return "\n".join(lines)


class Explanation(_Evidence):
    """The decision of a run over two documents, with the keys of ``neardup explain --json``.

    Each key is an attribute too: ``duplicates``, ``why``, ``resemblance``, ``shared``, ``distance``,
    ``terms_in_both``, ``terms_only_in_a``, ``terms_only_in_b`` and others.

    Examples
    --------
    >>> explain("the ship left at noon", "The ship left at noon!").why
    'their tokens are equal'
    """

    def __repr__(self) -> str:
        v = self._values
        lines = [
            f"{name.upper()}: {v[name]['bytes']} bytes, {v[name]['tokens']} tokens, "
            f"{v[name]['shingles']} distinct shingles{', shorter than a shingle' if v[name]['short'] else ''}"
            for name in ("a", "b")
        ]
        lines += [
            f"identical:           {v['identical']}",
            f"resemblance:         {v['resemblance']:.6f}, {v['shared']} shared",
            f"containment of A:    {v['containment_of_a']:.6f}",
            f"containment of B:    {v['containment_of_b']:.6f}",
            f"Hamming distance:    {v['distance']} of 64",
            f"equal minima:        {v['equal_minima']} of 128",
        ]
        lines += [
            f"signature {name}: {one['shared']} shared, of {one['a']} and {one['b']}"
            for name, one in v.get("signatures", {}).items()
        ]
        lines += [
            f"terms in both: {_some(v['terms_in_both'])}",
            f"terms only in A: {_some(v['terms_only_in_a'])}",
            f"terms only in B: {_some(v['terms_only_in_b'])}",
            f"verdict: {'duplicates' if v['duplicates'] else 'different'}: {v['why']}",
        ]
        return "\n".join(lines)


class Features(_Evidence):
    """The parts of which the signatures of a document are made, with the keys of ``neardup explain --json``.

    ``signatures`` has a mapping for each: its ``name``, and ``features``, each with ``feature`` (its
    text), ``weight``, ``position``, ``hash`` and others.

    Examples
    --------
    >>> explain("the ship left at noon").signatures[0]["features"][0]["feature"]
    'the ship left'
    """

    def __repr__(self) -> str:
        lines = [f"{self._values['bytes']} bytes, {self._values['tokens']} tokens"]
        for s in self._values["signatures"]:
            lines.append(f"{s['name']}: {s['count']} features, {s['weighted']} with a weight")
            for f in s["features"][:_SHOWN]:
                lines.append(f"  {f['position']:8}  {f['weight']:8.4g}  {f['hash']}  {f['feature']}")
            if len(s["features"]) > _SHOWN:
                lines.append(f"  … ({len(s['features']) - _SHOWN} more)")
        return "\n".join(lines)


def _open(recipe: Recipe, documents: list[Any], text: str) -> tuple[Any, tuple[int, ...]]:
    """A frame of the documents, and its columns of fields."""
    reading = Reading(recipe, text)
    rows = [row if isinstance(row, Mapping) else {text: row} for row in documents]
    frame = reading.open(rows).frame
    if _native.frame_null(frame) is not None:
        raise _native.InvalidError("a document without a text cannot be compared or explained")
    return frame, reading.fields


def compare(
    a: Any,
    b: Any,
    *,
    text: str = "text",
    show: Sequence[Literal["edits", "passages", "terms", "weights"]] = (),
    costs: tuple[int, int, int] = (1, 1, 1),
    limit: int | None = 0,
    least: int = 8,
    gap: int = 0,
    recipe: Recipe | str | None = None,
    set: dict[str, Value] | None = None,
    df: Frequencies = None,
) -> Comparison:
    """Compare two documents by every measure.

    The answer is that of ``neardup compare``.

    Parameters
    ----------
    a, b : str, bytes or mapping
        The documents; a mapping has fields beside the text.
    text : str, optional
        The key of the text, of mappings.
    show : sequence of {"edits", "passages", "terms", "weights"}, optional
        What else is listed: the edits that turn `a` into `b`, the passages of `a` in `b`, how often
        each has each term, and the weights of the features of the recipe's first signature.
    costs : tuple of int, optional
        What inserting, removing and replacing a token costs.
    limit : int, optional
        The greatest edit distance that is looked for; 0: what takes about two seconds; None: any.
    least : int, optional
        Tokens of the shortest passage.
    gap : int, optional
        Passages with at most so many other tokens between them become one.
    recipe : Recipe or str, optional
        What a shingle is, and the weights.
    set : dict, optional
        Keys of the recipe to change.
    df : DocumentFrequencies or path, optional
        The df table for weights that need one.

    Returns
    -------
    Comparison
        The measures.

    Raises
    ------
    InvalidError
        An argument is out of range; weights need a recipe with a signature.

    Examples
    --------
    >>> monday = "The ferry leaves at nine from the old harbour, and comes back at five."
    >>> tuesday = "On Sundays the ferry leaves at ten from the old harbour, and comes back at five."
    >>> found = compare(monday, tuesday, show=["passages"])
    >>> found.edit_distance, [passage["text"] for passage in found.passages]
    (3, ['from the old harbour, and comes back at five'])
    """
    made = recipe_of(recipe, set=set)
    unknown = [part for part in show if part not in _PARTS]
    if unknown or isinstance(show, str):
        raise _native.InvalidError(f"show: {show!r} is not a list of edits, passages, terms or weights")
    for name, values in (("costs", costs), ("least", (least,)), ("gap", (gap,)), ("limit", (limit or 0,))):
        if not all(isinstance(value, int) and 0 <= value < 2**32 for value in values):
            raise _native.InvalidError(f"{name}: {values} is out of range")
    if "weights" in show:
        give_tables(made, df)
    frame, fields = _open(made, [a, b], text)
    parts = 1 + sum(_PARTS[part] for part in dict.fromkeys(show))
    said = _native.compare(
        made._native,
        frame,
        fields,
        parts,
        costs,
        _NO_LIMIT if limit is None else limit,
        (min(3, least), least, gap),
    )
    return Comparison(_without_names(json.loads(said)))


def _without_names(values: dict[str, Any]) -> dict[str, Any]:
    """Documents in memory have neither an id nor a place."""
    for some in (values, values.get("a"), values.get("b")):
        if some:
            some.pop("id", None)
            some.pop("at", None)
    return values


def explain(
    a: Any,
    b: Any = None,
    *,
    text: str = "text",
    order: Literal["weight", "position"] = "weight",
    top: int = 0,
    recipe: Recipe | str | None = None,
    set: dict[str, Value] | None = None,
    df: Frequencies = None,
) -> Explanation | Features:
    """Explain why two documents are duplicates or not, or what one document consists of.

    The answer is that of ``neardup explain``.

    Parameters
    ----------
    a : str, bytes or mapping
        A document; a mapping has fields beside the text.
    b : str, bytes or mapping, optional
        Another, with which it is compared.
    text : str, optional
        The key of the text, of mappings.
    order : {"weight", "position"}, optional
        The order of the features of one document.
    top : int, optional
        List so many of them; 0: all.
    recipe : Recipe or str, optional
        What decides.
    set : dict, optional
        Keys of the recipe to change.
    df : DocumentFrequencies or path, optional
        The df table for the signatures that need one.

    Returns
    -------
    Explanation or Features
        Of two documents the verdict and the evidence; of one its features.

    Raises
    ------
    InvalidError, UnsupportedError
        As :func:`dedup`.

    Examples
    --------
    >>> found = explain("the ship left the harbour at noon", "the ship left the harbour at nine")
    >>> found.duplicates, found.why
    (False, 'the resemblance is below 4/5')
    >>> [f["feature"] for f in explain("the ship left at noon", recipe="manku-2007").signatures[0]["features"]]
    ['ship', 'left', 'noon']
    """
    if order not in ("weight", "position"):
        raise _native.InvalidError(f"order: '{order}' is not weight or position")
    made = recipe_of(recipe, set=set)
    documents = [a] if b is None else [a, b]
    give_tables(made, df)
    frame, fields = _open(made, documents, text)
    said = _native.explain(made._native, frame, fields, len(documents), order == "position", top)
    values = _without_names(json.loads(said))
    return Features(values) if b is None else Explanation(values)
