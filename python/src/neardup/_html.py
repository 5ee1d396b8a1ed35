"""A result in a notebook: counts, and a small figure that needs no script and no colour of its own."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._dedup import Result

# A blue that stands out from white and from black alike; all else has the colour of the text.
_BAR = "#4c86c6"
_WIDTH, _HEIGHT, _LEFT, _TOP, _BASE = 340, 170, 46, 26, 132
_BINS = 20
_SIZES = ((2, 2), (3, 3), (4, 4), (5, 9), (10, 99), (100, None))
_COUNTS = (
    ("identical_bytes", "with the same bytes"),
    ("identical_tokens", "with the same words"),
    ("near", "near"),
)


def _text(x: float, y: float, said: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(said)}</text>'


def _figure(title: str, described: str, parts: Iterable[str]) -> str:
    """Draw an SVG that a screen reader reads as its description."""
    return (
        f'<svg role="img" aria-label="{escape(described)}" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'style="width:100%;max-width:{_WIDTH}px;height:auto" fill="currentColor" font-size="12" '
        f'font-family="sans-serif"><title>{escape(described)}</title>'
        f"{_text(_LEFT, 14, title, 'start')}{''.join(parts)}</svg>"
    )


def _bars(heights: list[int], labels: list[str], gap: float) -> tuple[list[str], float]:
    """Draw bars above a line, the number of the highest beside it, and labels below; how wide a place is."""
    most, place = max([*heights, 1]), (_WIDTH - _LEFT - 10) / len(heights)
    parts = [
        f'<line x1="{_LEFT}" y1="{_BASE}" x2="{_WIDTH - 10}" y2="{_BASE}" stroke="currentColor"/>',
        _text(_LEFT - 6, _TOP + 10, f"{most:,}", "end"),
        _text(_LEFT - 6, _BASE, "0", "end"),
    ]
    for i, (height, label) in enumerate(zip(heights, labels, strict=True)):
        x = _LEFT + i * place
        if height:
            tall = max(1.0, (_BASE - _TOP) * height / most)
            parts.append(
                f'<rect x="{x + gap:.1f}" y="{_BASE - tall:.1f}" width="{place - 2 * gap:.1f}" '
                f'height="{tall:.1f}" fill="{_BAR}"><title>{escape(label)}: {height:,}</title></rect>'
            )
    return parts, place


def _resemblances(values: list[float], threshold: float) -> str:
    """Draw how many removed rows resemble their kept ones how much, and the threshold."""
    low = min([threshold, *values])
    first = max(0, math.ceil(low * 10 - 1e-9) - 1) / 10  # a tenth below, so that the threshold stands apart
    step = (1 - first) / _BINS
    heights = [0] * _BINS
    for value in values:
        heights[min(int((value - first) / step + 1e-9), _BINS - 1)] += 1
    labels = [f"{first + i * step:.2f} to {first + (i + 1) * step:.2f}" for i in range(_BINS)]
    parts, place = _bars(heights, labels, 0.75)
    at = _LEFT + (threshold - first) / step * place
    parts += [
        f'<line x1="{at:.1f}" y1="{_TOP}" x2="{at:.1f}" y2="{_BASE}" stroke="currentColor" stroke-dasharray="4 3"/>',
        _text(_LEFT, _BASE + 16, f"{first:.1f}", "start"),
        _text(_WIDTH - 10, _BASE + 16, "1", "end"),
    ]
    parts.append(_text(at, _BASE + 32, f"threshold {threshold:.3g}", "start" if at < _WIDTH / 2 else "end"))
    described = f"Resemblance of {len(values):,} removed rows to the kept ones; the threshold is {threshold:.3g}."
    return _figure("resemblance of removed rows", described, parts)


def _cluster_sizes(sizes: list[int]) -> str:
    """Draw how many clusters have how many rows."""
    heights, labels = [0] * len(_SIZES), []
    for i, (least, most) in enumerate(_SIZES):
        heights[i] = sum(1 for size in sizes if least <= size and (most is None or size <= most))
        labels.append(f"{least}+" if most is None else str(least) if least == most else f"{least}–{most}")
    parts, place = _bars(heights, [f"clusters of {label} rows" for label in labels], 4)
    parts += [_text(_LEFT + (i + 0.5) * place, _BASE + 16, label) for i, label in enumerate(labels)]
    parts.append(_text(_LEFT, _BASE + 32, f"rows of a cluster; the largest has {max(sizes):,}", "start"))
    described = f"{len(sizes):,} clusters; the largest has {max(sizes):,} rows."
    return _figure("sizes of clusters", described, parts)


def _table(result: Result) -> str:
    counts = dict(result.summary)
    rows = [("rows", counts["rows"]), ("kept", counts["rows"] - counts["removed"]), ("removed", counts["removed"])]
    rows += [(f"… {said}", counts[name]) for name, said in _COUNTS]
    if counts["cut_documents"]:
        rows.append(("had more candidates than max_checks", counts["cut_documents"]))
    cells = "".join(
        f'<tr><th scope="row" style="text-align:left;font-weight:normal">{escape(said)}</th>'
        f'<td style="text-align:right">{number:,}</td></tr>'
        for said, number in rows
    )
    return f'<table style="margin:0"><caption style="text-align:left">neardup</caption>{cells}</table>'


def result_html(result: Result) -> str:
    """Give a result as HTML: side by side where there is room, else one below the other."""
    parts = [_table(result)]
    compared = [value for value in result.removed["jaccard"] if value is not None]
    if compared:
        parts.append(_resemblances(compared, float(Fraction(result.recipe["threshold"]))))
    sizes = [count + 1 for count in Counter(row for row in result.removed["kept_row"] if row is not None).values()]
    if sizes:
        parts.append(_cluster_sizes(sizes))
    cells = f"<div>{parts[0]}</div>"
    cells += "".join(f'<div style="flex:0 1 {_WIDTH}px;min-width:0">{part}</div>' for part in parts[1:])
    return f'<div style="display:flex;flex-wrap:wrap;gap:1em;align-items:flex-start">{cells}</div>'
