"""A live index of texts, which answers whether a text is there already."""

from __future__ import annotations

import base64
import json
import math
import os
import tempfile
import threading
import weakref
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from . import _native
from ._df import DocumentFrequencies, give_tables
from ._frames import Columns, Source, read
from ._plan import Reading, recipe_of
from ._recipe import Recipe, Value, warn_of_pages
from ._tokens import tokens_of_row, tokens_of_text

# Row, serial number, whether equal, whether the nearest, shared, a, b, distance, what differs as JSON.
_Row = tuple[int, int, int, int, int, int, int, int, str | None]
_NO_DISTANCE = 2**32 - 1
# Removed texts are forgotten when there are more of them than of others, and than this.
_REMOVED_MIN = 1024


class Match(NamedTuple):
    """A text of an :class:`Index` that another equals or is near.

    Attributes
    ----------
    id : hashable
        Its id.
    identical : bool
        Whether the two are equal: the same bytes, or the same words.
    jaccard : float or None
        Their resemblance; None where the recipe has them not compared.
    shared : int or None
        How many shingles both have; None where they were not compared.
    a, b : int
        How many shingles the text that was asked about has, and the one in the index.
    distance : int or None
        In how many bits their simhashes differ; None where not made.
    differs : dict or None
        What the texts differ in, as ``differs`` in the rows of a manifest (docs/format/outputs.md): ``in``, the
        class of the words that only one of them has, and those of the text that was asked about, ``this``, and of
        the one in the index, ``other``.  None if it was not asked for.

    Examples
    --------
    >>> import neardup
    >>> index = neardup.Index()
    >>> index.add("a", "one two three four")
    >>> match = index.query("One, two, three, four!", differs=True)[0]
    >>> match.id, match.identical, match.jaccard, match.differs
    ('a', True, 1.0, {'in': 'nothing', 'this': [], 'other': []})
    """

    id: Any
    identical: bool
    jaccard: float | None
    shared: int | None
    a: int
    b: int
    distance: int | None
    differs: dict[str, Any] | None = None


def _one(text: str | bytes | list[Any] | tuple[Any, ...]) -> _native.Frame:
    frame = _native.frame_new((None,))
    _native.frame_append(frame, ((text,),), (None,))
    return frame


class Index:
    """A live index of texts: texts come and go, and each query is answered with evidence.

    A query finds the texts that ``neardup pairs`` would pair it with.  Each was compared with it, and
    equals it or reaches the recipe's threshold; recipes that answer by sketches alone say so by a
    ``jaccard`` of None.

    Parameters
    ----------
    recipe : Recipe or str, optional
        What a match is (default: the default recipe); the other arguments change a copy of it.
    text : str, optional
        The column with the text, of data that has columns (default: "text").
    id : str, optional
        The column with the ids, for :meth:`add_batch` without ids (default: none).
    threshold, shingle, method, short, set : optional
        As for :func:`dedup`.
    df : DocumentFrequencies or path, optional
        The df table for the signatures that need one (default: the files that the recipe names).
    threads : int, optional
        How many threads work on a batch; 0, the default: one for each processor.

    Notes
    -----
    In a process that was forked after an index was made, the index goes on with one thread.  If another
    thread was in a call at that moment, each call in the child says so.  A pickled index has its texts
    and sketches along; it is saved and opened again.

    Any number of threads may use an index.  Queries run side by side; a call that changes the index
    waits for the one before, and queries wait while a batch of at most 4 MB is added.

    The index holds a copy of each text, and of the fields that the recipe reads.  Texts that are
    removed are forgotten from time to time, which takes as long as adding the others again; queries go
    on meanwhile.

    Examples
    --------
    >>> index = Index()
    >>> index.add("1", "The ship left the harbour at noon with forty men on board.")
    >>> index.add("2", "Nobody saw it again.")
    >>> index.query("The ship left the harbour at noon with forty men aboard.")
    []
    >>> index = Index(threshold=0.6)
    >>> index.add_batch(["1", "2"], ["The ship left the harbour at noon with forty men.", "Nobody saw it again."])
    >>> [(match.id, match.jaccard) for match in index.query("The ship left the harbour at noon, with forty.")]
    [('1', 0.875)]
    >>> index.remove("1")
    >>> "1" in index, len(index)
    (False, 1)
    """

    def __init__(
        self,
        recipe: Recipe | str | None = None,
        *,
        text: str | None = "text",
        id: str | None = None,
        threshold: str | float | Fraction | None = None,
        shingle: int | str | None = None,
        method: Literal["minhash", "simhash", "identical"] | None = None,
        short: Literal["identical", "tokens", "keep"] | None = None,
        set: dict[str, Value] | None = None,
        df: DocumentFrequencies | str | os.PathLike[str] | None = None,
        threads: int = 0,
    ) -> None:
        made = recipe_of(recipe, threshold=threshold, shingle=shingle, method=method, short=short, set=set)
        prepared = _prepared(made, df)
        self._begin(prepared, text, id, _native.live_new(prepared._native, threads))

    def _begin(self, recipe: Recipe, text: str | None, id: str | None, native: _native.LiveTexts) -> None:
        self._id = id
        self.recipe = recipe
        self._fields = Reading(recipe, text).columns.names[1:]
        self._verifies = recipe["verify"] != "none"
        self._text = text
        self._columns().add(id)
        self._native = native
        self._changing = threading.RLock()
        self._serials: dict[Hashable, int] = {}
        self._ids: dict[int, Hashable] = {}
        _indexes.add(self)

    def _columns(self) -> Columns:
        """The columns to read: the text, and the fields of the recipe."""
        columns = Columns(self._text)
        for name in self._fields:
            columns.add(name)
        return columns

    def _one(self, text: str | bytes | Mapping[str, Any] | Sequence[Any]) -> _native.Frame:
        if isinstance(text, Mapping):
            frame: _native.Frame = read([text], self._columns()).frame
            return frame
        taken = text if isinstance(text, (str, bytes)) else tokens_of_row(text)
        if taken is None:
            raise TypeError(f"expected a str, not {type(text).__name__}")
        if self._fields:
            names = ", ".join(f"'{name}'" for name in self._fields)
            raise TypeError(f"the recipe reads fields: give a row with the text and {names}, not a text alone")
        return _one(taken)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        recipe: Recipe | str | None = None,
        *,
        text: str | None = "text",
        id: str | None = None,
        df: DocumentFrequencies | str | os.PathLike[str] | None = None,
        threads: int = 0,
    ) -> Index:
        """Open an index that :meth:`save` wrote.

        It answers as the one that was saved.  Its texts and sketches are read from the file where they
        are needed, which must not be written to meanwhile; :meth:`save` may replace it.  Where the
        recipe compares signatures or containment, the texts are added again, which takes as long as
        :meth:`add_batch`.

        Parameters
        ----------
        path : str or os.PathLike
            The file.
        recipe : Recipe or str, optional
            The recipe that the index must have.  Default: the one in the file.  A recipe that was given
            a df table has to be given it again.
        text, id, df, threads : optional
            As for the class.

        Returns
        -------
        Index
            The index.

        Raises
        ------
        InvalidError
            The index has another recipe; the message names the first key that differs.
        Error
            The file is no index, one of another version, or damaged.
        OSError
            It cannot be read.

        Examples
        --------
        >>> import os, tempfile
        >>> index = Index()
        >>> index.add("1", "Nobody saw it again.")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     index.save(os.path.join(folder, "texts.index"))
        ...     opened = Index.open(os.path.join(folder, "texts.index"))
        >>> [match.id for match in opened.query("Nobody saw it again!")]
        ['1']
        """
        name = os.fspath(path)
        saved = Recipe.parse(_native.live_file_recipe(name))
        prepared = _prepared(saved if recipe is None else recipe, df)
        warn_of_pages(prepared, 3)
        key = _difference(prepared, saved)
        if key is not None:
            raise _native.InvalidError(
                f"{name}: the index has another recipe: {key} = {_value(saved, key)}, not {_value(prepared, key)}"
            )
        native, ids, serials = _native.live_open(prepared._native, name, threads)
        index = cls.__new__(cls)
        index._begin(prepared, text, id, native)
        index._take_ids(name, ids, memoryview(serials).cast("Q").tolist())
        return index

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to a file, which appears when it is complete.

        Queries go on meanwhile.

        Parameters
        ----------
        path : str or os.PathLike
            The file, which is replaced if it exists.

        Raises
        ------
        TypeError
            An id is none that a file can have: a str, int, finite float, bool, bytes or None, or a tuple
            of these.
        OSError
            The file cannot be written.
        """
        with self._changing:
            self._save(os.fspath(path), [json.dumps(_spelt(id)) for id in self._serials])

    def _save(self, path: str, lines: Iterable[str]) -> None:
        _native.live_save(self._native, path, "".join(f"{line}\n" for line in lines).encode())

    def __reduce__(self) -> tuple[Any, ...]:
        with self._changing, tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "pickled.index")
            self._save(path, map(str, range(len(self._serials))))
            with open(path, "rb") as file:
                return _restored, (file.read(), self.recipe, self._text, self._id, list(self._serials))

    def _take_ids(self, name: str, lines: bytes, serials: list[int]) -> None:
        try:
            ids = [_read_id(json.loads(line)) for line in lines.splitlines()]
        except (ValueError, TypeError, KeyError, RecursionError):
            ids = []
        self._serials = dict(zip(ids, serials, strict=False))
        self._ids = dict(zip(serials, ids, strict=False))
        if len(ids) != len(serials) or len(self._serials) != len(serials):
            raise _native.Error(f"{name}: not an index of texts, or a damaged one: its ids are not those of its texts")

    def add(self, id: Hashable, text: str | bytes | Mapping[str, Any] | Sequence[Any]) -> None:
        """Add a text.

        Parameters
        ----------
        id : hashable
            What the text is called; no other text in the index has this id.
        text : str, bytes, sequence or mapping
            The text; bytes that are not UTF-8 are repaired.  Or its tokens, as for :func:`dedup`.  Or a
            row: with the text, and with the fields that the recipe reads.

        Raises
        ------
        InvalidError
            There is a text with this id; it stays as it is.  Or the row has no text.
        TypeError
            The text is none, or one alone where the recipe reads fields.
        """
        frame = self._one(text)
        if _native.frame_null(frame) is not None:
            raise _native.InvalidError("the text is null")
        with self._changing:
            self._check_new(id)
            self._note([id], 0, *_native.live_add(self._native, frame, 0))

    def add_batch(self, ids: Iterable[Hashable] | None, data: Any) -> None:
        """Add many texts at once, which takes less time than one after the other.

        Parameters
        ----------
        ids : iterable of hashable or None
            Their ids, in the order of the texts; None: those of the column that the index was given as
            `id`.
        data : frame, iterable or path
            The texts, as for :func:`dedup`.

        Raises
        ------
        InvalidError
            An id is there already or comes twice, a text is null, or the lengths differ; nothing was
            added.
        """
        if ids is None and self._id is None:
            raise TypeError("ids: give them, or make the index with the name of their column: Index(id=…)")
        columns = self._columns()
        columns.add(None if ids is not None else self._id)
        source = read(data, columns)
        frame, n = source.frame, _native.frame_rows(source.frame)
        taken = _listed(ids if ids is not None else source.values("id", str(self._id), range(n)))
        if len(taken) != n:
            raise _native.InvalidError(f"there are {n:,} texts and {len(taken):,} ids")
        row = _native.frame_null(frame)
        if row is not None:
            raise _native.InvalidError(f"row {row}: the text is null")
        with self._changing:
            seen: set[Hashable] = set()
            for id in taken:
                self._check_new(id)
                if id in seen:
                    raise _native.InvalidError(f"the id {id!r} comes twice")
                seen.add(id)
            at = 0
            while at < n:
                at += self._note(taken, at, *_native.live_add(self._native, frame, at))

    def _check_new(self, id: Hashable) -> None:
        if id in self._serials:
            raise _native.InvalidError(f"the index has a text with the id {id!r} already")

    def _note(self, ids: list[Hashable], at: int, serial: int, n: int) -> int:
        for i in range(n):
            self._ids[serial + i] = ids[at + i]
            self._serials[ids[at + i]] = serial + i
        return n

    def remove(self, id: Hashable) -> None:
        """Remove a text.

        Parameters
        ----------
        id : hashable
            Its id, which may be used again.

        Raises
        ------
        KeyError
            There is no text with this id.
        """
        with self._changing:
            if id not in self._serials:
                raise KeyError(id)
            left, removed = _native.live_remove(self._native, self._serials[id])
            del self._ids[self._serials.pop(id)]
            if removed > max(left, _REMOVED_MIN):
                self.compact()

    def compact(self) -> None:
        """Give back the memory of texts that were removed, and what they left unfound.

        An index does so by itself when more than half of its texts were removed.  Where a template is
        shared by more than ``max_checks`` texts, those added last are found by fewer of their keys, and
        after compacting the ones that are left take the places of those removed.
        """
        with self._changing:
            _native.live_compact(self._native)

    def query(self, text: str | bytes | Mapping[str, Any] | Sequence[Any], *, differs: bool = False) -> list[Match]:
        """Find the texts that a text equals or is near.

        Parameters
        ----------
        text : str, bytes, sequence or mapping
            The text, its tokens or a row, as for :meth:`add`.
        differs : bool, optional
            Compare the text with each that is found word by word, for :attr:`Match.differs`.

        Returns
        -------
        list of Match
            What was found, the nearest first; at most ``max_checks`` of the recipe.
        """
        frame = self._one(text)
        _, rows = _native.live_query(self._native, frame, 0, differs)
        return [match for _, match in self._matches(rows, frame)] if rows else []

    def query_batch(self, data: Any, *, differs: bool = False) -> list[list[Match]]:
        """Find the texts that each of many texts equals or is near.

        Parameters
        ----------
        data : frame, iterable or path
            The texts, as for :func:`dedup`.
        differs : bool, optional
            As of :meth:`query`.

        Returns
        -------
        list of list of Match
            What was found for each; nothing for one that is null.
        """
        source: Source = read(data, self._columns())
        found: list[list[Match]] = [[] for _ in range(_native.frame_rows(source.frame))]
        at = 0
        while at < len(found):
            n, rows = _native.live_query(self._native, source.frame, at, differs)
            for row, match in self._matches(rows, source.frame):
                found[row].append(match)
            at += n
        return found

    def _matches(self, rows: list[_Row], frame: _native.Frame) -> Iterator[tuple[int, Match]]:
        if len(rows) > 1:
            rows.sort(key=_rank)
        for row, serial, equal, _, shared, a, b, distance, differs in rows:
            if serial not in self._ids:  # removed meanwhile
                continue
            near = None if distance == _NO_DISTANCE else distance
            words = json.loads(differs)["differs"] if differs else None
            if words and _native.frame_has_tokens(frame):
                words = _of_tokens(words)
            if equal or self._verifies:
                jaccard = shared / (a + b - shared) if a + b else 1.0
                yield row, Match(self._ids[serial], bool(equal), jaccard, shared, a, b, near, words)
            else:
                yield row, Match(self._ids[serial], False, None, None, a, b, near, words)

    def __contains__(self, id: object) -> bool:
        return id in self._serials

    def __len__(self) -> int:
        return len(self._serials)

    def __iter__(self) -> Iterator[Hashable]:
        """Give the ids, in the order in which they were added."""
        return iter(list(self._serials))

    @property
    def nbytes(self) -> int:
        """The bytes of the index and of its texts."""
        return _native.live_bytes(self._native)

    def __repr__(self) -> str:
        return f"<neardup.Index of {len(self):,} texts>"


def _restored(saved: bytes, recipe: Recipe, text: str | None, id: str | None, ids: list[Hashable]) -> Index:
    """An index that was pickled."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "pickled.index")
        with open(path, "wb") as file:
            file.write(saved)
        index = Index.open(path, recipe, text=text, id=id)
    index._serials = dict(zip(ids, index._serials.values(), strict=True))
    index._ids = {serial: id for id, serial in index._serials.items()}
    return index


# The indexes of this process: the child of a fork has them without their threads.
_indexes: weakref.WeakSet[Index] = weakref.WeakSet()


def _go_on_after_fork() -> None:
    for index in list(_indexes):
        index._changing = threading.RLock()
        _native.live_after_fork(index._native)


os.register_at_fork(after_in_child=_go_on_after_fork)


def _prepared(recipe: Recipe | str | None, df: DocumentFrequencies | str | os.PathLike[str] | None = None) -> Recipe:
    """Copy a recipe, with its df tables."""
    made = recipe.copy() if isinstance(recipe, Recipe) else Recipe(recipe)
    give_tables(made, df)
    return made


def _difference(recipe: Recipe, saved: Recipe) -> str | None:
    """Name the first key in which recipes differ, wherever their df tables are: these have versions."""
    a, b = recipe.copy(), saved.copy()
    for name, needs, _, _ in _native.recipe_tables(a._native):
        for key, is_needed in zip(("df", "template_df"), needs, strict=True):
            if is_needed:
                a.set(f"{name}.{key}", "")
                b.set(f"{name}.{key}", "")
    return _native.recipe_difference(a._native, b._native)


def _value(recipe: Recipe, key: str) -> str:
    try:
        return recipe[key]
    except _native.InvalidError:  # of a signature that it does not have
        return "nothing"


def _spelt(id: Any) -> Any:
    """Spell an id as JSON: bytes and tuples as objects of one member."""
    if id is None or isinstance(id, (str, int)) or (isinstance(id, float) and math.isfinite(id)):
        return id
    if isinstance(id, bytes):
        return {"bytes": base64.b64encode(id).decode()}
    if isinstance(id, tuple):
        return {"tuple": [_spelt(part) for part in id]}
    raise TypeError(f"the id {id!r} cannot be saved: it is a {type(id).__name__}, and not a str, int, float or bytes")


def _read_id(value: Any) -> Hashable:
    if isinstance(value, dict):
        if "bytes" in value:
            return base64.b64decode(value["bytes"], validate=True)
        return tuple(_read_id(part) for part in value["tuple"])
    if isinstance(value, list):
        raise TypeError("a list is no id")
    return value  # type: ignore[no-any-return]


def _of_tokens(differs: dict[str, Any]) -> dict[str, Any]:
    """Give the words that differ, each as the token that it stands for."""
    for side in ("this", "other"):
        differs[side] = [token for word in differs[side] for token in tokens_of_text(word)]
    return differs


def _rank(row: _Row) -> tuple[int | float, ...]:
    """Order matches: the nearest first, then by resemblance, or where texts are not compared by distance."""
    place, serial, equal, nearest, shared, a, b, distance, _ = row
    return place, -nearest, -equal, -shared / (a + b - shared or 1), distance, serial


def _listed(ids: Iterable[Hashable]) -> list[Hashable]:
    """Give ids as Python's own values: those of arrays would not equal them as keys."""
    values = ids.tolist() if hasattr(ids, "tolist") else ids.to_pylist() if hasattr(ids, "to_pylist") else ids
    return list(values)
