"""Parts of texts that stand in several places, cut but for the first."""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

from . import _native
from ._dedup import dedup
from ._files import paths_of
from ._frames import Columns, Mask, is_arrow, read
from ._progress import reporting
from ._table import Column, Table

__all__ = ["Repeats", "repeats"]

_CUTS = ("lines", "paragraphs", "sentences", "passages")


class Repeats:
    r"""Texts without the parts that repeat.

    Attributes
    ----------
    texts : Column
        What is left of each row; None where it had no text.
    cuts : Table
        A row for each cut, in order:

        ==================  =================================================================
        column              meaning
        ==================  =================================================================
        row                 the row that lost a part
        from, to            which bytes of its text that was, in UTF-8
        kept_row            the row that has the part
        kept_from, kept_to  where in its text, as it was read
        resemblance         with `near`, the least resemblance of a part of it; otherwise 1
        ==================  =================================================================

    changed : Mask
        Whether each row lost something.
    emptied : Mask
        Whether each row lost its last word.

    Examples
    --------
    >>> found = repeats(["Home\nFirst text", "HOME\nSecond text"])
    >>> found.data
    ['Home\nFirst text', 'Second text']
    """

    def __init__(
        self, data: Any, text: str | None, column: Column, cuts: Table, changed: bytes, emptied: bytes, drops: bool
    ) -> None:
        self._given, self._name, self._drops = data, text, drops
        self.texts = column
        self.cuts = cuts
        self.changed = Mask(changed)
        self.emptied = Mask(emptied)

    @property
    def data(self) -> Any:
        """The rows with what is left of their texts, as the caller's own kind of data.

        Without the emptied rows, if `drop_empty` says so.  Lists, DataFrames of pandas and polars, and
        tables of pyarrow; anything else as a table of pyarrow.
        """
        kept = bytes(not is_empty for is_empty in self.emptied) if self._drops else None
        return _replaced(self._given, self._name, self.texts, kept)

    def __repr__(self) -> str:
        return f"<neardup.Repeats: {len(self.texts):,} rows, {sum(self.changed):,} of which parts were cut>"


def _replaced(data: Any, name: str | None, texts: Column, kept: bytes | None) -> Any:
    """The data with other texts, and of these rows only."""
    module = type(data).__module__.partition(".")[0]
    if isinstance(data, list):
        pairs = zip(data, texts, strict=True)
        rows = [{**row, name: text} if isinstance(row, Mapping) else text for row, text in pairs]
        return rows if kept is None else [row for row, stays in zip(rows, kept, strict=True) if stays]
    if module == "pandas":
        series = texts.to_pandas().set_axis(data.index)
        found = data.assign(**{str(name): series}) if hasattr(data, "columns") else series.rename(data.name)
        return found if kept is None else found[[bool(stays) for stays in kept]]
    if module == "polars":
        found = data.with_columns(texts.to_polars().alias(name)) if hasattr(data, "columns") else texts.to_polars()
        return found if kept is None else found.filter(Mask(kept).to_polars())
    if not hasattr(data, "set_column"):
        return texts.to_arrow() if kept is None else texts.to_arrow().filter(Mask(kept).to_arrow())
    found = data.set_column(data.schema.get_field_index(name), name, texts.to_arrow())
    return found if kept is None else found.filter(Mask(kept).to_arrow())


def _held(data: Any) -> Any:
    """The data as something that can be read twice."""
    if paths_of(data) is not None:
        raise _native.UnsupportedError(
            "repeats takes rows, not files: read them first (pyarrow.parquet.read_table), or call the command "
            "(python -m neardup repeats)"
        )
    if type(data).__name__ == "LazyFrame":
        return data.collect()
    if type(data).__name__ == "RecordBatchReader":
        return data.read_all()
    return data if isinstance(data, Sequence) or is_arrow(data) or hasattr(data, "columns") else list(data)


def repeats(
    data: Any,
    text: str | None = "text",
    *,
    cut: Literal["lines", "paragraphs", "sentences", "passages"] = "lines",
    tokens: int | None = None,
    occurrences: int = 2,
    near: str | float | Fraction | None = None,
    drop_empty: bool = False,
    threads: int = 0,
    tmp: str | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Repeats:
    r"""Cut the parts of texts that stand in an earlier place.

    The texts and the cuts are those of ``neardup repeats``.  The first place stays, and each part
    that is cut stands in full in what is left.

    Parameters
    ----------
    data : list, frame or iterable
        Rows as for :func:`dedup`, but no files.
    text : str, optional
        The column with the text (default: "text").
    cut : {"lines", "paragraphs", "sentences", "passages"}, optional
        Which parts: sentences are three in a row, passages `tokens` words (default: "lines").
    tokens : int, optional
        The length of a passage (default: 50); the least words of other parts (default: 1).
    occurrences : int, optional
        Cut what stands in at least so many places (default: 2).
    near : str, float or Fraction, optional
        Also cut lines, paragraphs and sentences that resemble an earlier one so much.
    drop_empty : bool, optional
        Leave out of ``data`` the rows that lost their last word.
    threads : int, optional
        How many threads work; 0, the default: one for each processor.
    tmp : str, optional
        The folder of temporary files (default: the system's).
    progress : callable, optional
        Called with the number of rows that are done, and of all.

    Returns
    -------
    Repeats
        What is left, and every cut with the place that stays.

    Raises
    ------
    InvalidError, UnsupportedError, TypeError
        As :func:`dedup`; an argument is out of range; `data` are files, or rows of tokens.

    Examples
    --------
    >>> footer = "Copyright {} by the company, all rights reserved\n{}"
    >>> pages = [footer.format(2020, "One"), footer.format(2021, "Two")]
    >>> repeats(pages).data == pages
    True
    >>> found = repeats(pages, near=0.3)
    >>> found.data[1], found.cuts[0]["resemblance"]
    ('Two', 0.5)
    """
    if cut not in _CUTS:
        raise _native.InvalidError(f"cut: '{cut}' is not one of {', '.join(_CUTS)}")
    number = _CUTS.index(cut)
    if near is not None and cut == "passages":
        raise _native.InvalidError("near: passages are cut where they are equal")
    if tokens is not None and tokens < 1:
        raise _native.InvalidError("tokens: must be at least 1")
    held = _held(data)
    frame = read(held, Columns(text)).frame
    _refuse_tokens(frame)
    first = resemblance = None
    if near is not None:
        first, resemblance = _near(frame, number, tokens or 0, near, threads)
    with reporting(progress) as report:
        column, columns, n, changed, emptied = _native.repeats(
            frame, (number, tokens or 0, occurrences), first, resemblance, tmp or tempfile.gettempdir(), threads, report
        )
    _refuse_tokens(frame)  # a column may tell only when it is read
    texts = Column(column, _native.frame_rows(frame))
    return Repeats(held, text, texts, Table(list(columns), n), changed, emptied, drop_empty)


def _refuse_tokens(frame: Any) -> None:
    if _native.frame_has_tokens(frame):
        raise _native.InvalidError("the rows are lists of tokens, and parts are cut out of texts")


def _near(frame: Any, cut: int, tokens: int, near: str | float | Fraction, threads: int) -> tuple[bytes, bytes]:
    """For each part, the number of the first one that it resembles, and how much."""
    column, n = _native.repeats_parts(frame, cut, tokens)
    found = dedup(list(Column(column, n)), threshold=near, short="tokens", threads=threads).removed
    first, resemblance = array("Q", range(n)), array("d", [1.0]) * n
    for part, kept, jaccard in zip(found["row"], found["kept_row"], found["jaccard"], strict=True):
        first[part] = kept
        resemblance[part] = 1.0 if jaccard is None else jaccard
    return first.tobytes(), resemblance.tobytes()
