"""``neardup dedup in.parquet -o out.parquet``: what the command hands over, since only Python reads it.

The command reads its options by its own table and starts this module with each in its long form,
``--name=value``, and the paths after ``--`` (cli/program.c).  So this module knows no syntax and no
help, only what it carries out.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Sequence
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, NoReturn

from . import _native
from ._plan import Plan, recipe_of
from ._run import FilesResult, Run, check_kind
from ._sources import find

_SHOWN = 20
_KEYS = {
    "bits": "simhash_bits",
    "recall": "recall",
    "max_checks": "max_checks",
    "candidates": "candidates",
    "verify": "verify",
    "forms": "forms",
}


def say(message: str) -> None:
    """Print a message as the command does."""
    shown = "".join(c if c.isprintable() else "?" for c in message)
    print(f"{_Progress.take_away()}neardup: {shown}", file=sys.stderr)


class _Stop(Exception):
    """The error that says what is wrong with the arguments."""


class _Progress:
    """A line that tells how far a run is: on a terminal one that is overwritten."""

    is_up = False

    def __init__(self, is_wanted: bool) -> None:
        self._is_terminal = sys.stderr.isatty()
        self.is_on = self._is_terminal or is_wanted
        self._started = time.monotonic()
        self._next = 0.0

    @classmethod
    def take_away(cls) -> str:
        """Return what takes the line away."""
        was_up, cls.is_up = cls.is_up, False
        return "\r\033[K" if was_up else ""

    def __call__(self, share: float, documents: int) -> None:
        seconds = time.monotonic() - self._started
        if seconds < self._next:
            return
        self._next = seconds + (0.2 if self._is_terminal else 10)
        left = f", {_time(seconds * (1 - share) / share)} left" if share > 0.01 else f", {_time(seconds)}"
        if self._is_terminal:
            bar = ("#" * int(share * 24)).ljust(24, ".")
            text, end = f"\r\033[K[{bar}] {int(share * 100):3}%  {documents} documents{left}", ""
        else:
            text, end = f"neardup: {int(share * 100):3}%, {documents} documents{left}", "\n"
        print(text, end=end, file=sys.stderr, flush=True)
        _Progress.is_up = self._is_terminal


def _time(seconds: float) -> str:
    whole = int(seconds + 0.5)
    if whole >= 3600:
        return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"
    return f"{whole // 60}:{whole % 60:02}"


def _size(count: float) -> str:
    units = ["bytes", "kB", "MB", "GB", "TB"]
    unit = 0
    while count >= 1000 and unit < 4:
        count, unit = count / 1000, unit + 1
    return f"{count:.{1 if unit else 0}f} {units[unit]}"


# ---- Options ----

# The options that are carried out, each with its default: a list may be repeated.
_OPTIONS: dict[str, Any] = {
    **dict.fromkeys(
        "threshold shingle characters method bits short forms within recipe recall max-checks candidates verify keep "
        "prefer cluster id-field max-bad output output-dir removed copies-field manifest clusters summary threads "
        "memory tmp".split()
    ),
    **dict.fromkeys("append only-against force quiet progress".split(), False),
    **dict.fromkeys("never set against".split(), ()),
    "text-field": "text",
    "missing-text": "skip",
}


def _parse(words: Sequence[str]) -> SimpleNamespace:
    """Read options in their long form, each in one word, then ``--`` and the paths."""
    end = words.index("--")
    given = {name: list(value) if value == () else value for name, value in _OPTIONS.items()}
    for word in words[:end]:
        name, has_value, value = word.removeprefix("--").partition("=")
        if name not in given:
            raise _Stop(f"--{name} is not for Parquet and Arrow, which the Python package reads")
        if isinstance(given[name], list):
            given[name].append(value)
        else:
            given[name] = value if has_value else True
    return SimpleNamespace(**{name.replace("-", "_"): value for name, value in given.items()}, paths=words[end + 1 :])


def _list(option: str, given: str) -> tuple[str, list[str]]:
    """``FIELD=A,B,C``."""
    field, equals, values = given.partition("=")
    if not field or not equals or not values:
        raise _Stop(f"{option}: '{given}' does not have the form FIELD=A,B,C")
    return field, values.split(",")


def _share(given: str | None) -> Fraction | None:
    """``0.05``, ``1/20`` or ``5%``."""
    return None if given is None else Fraction(given.rstrip("%")) / (100 if "%" in given else 1)


def _recipe(given: SimpleNamespace) -> Any:
    keys = {}
    for setting in given.set:
        key, equals, value = setting.partition("=")
        if not equals:
            raise _Stop("--set: neither a [section] nor a 'key = value'")
        keys[key.strip()] = value.strip()
    for name, key in _KEYS.items():
        if getattr(given, name) is not None:
            keys[key] = getattr(given, name)
    return recipe_of(
        given.recipe,
        threshold=given.threshold,
        shingle=f"{given.characters}c" if given.characters else given.shingle,
        method=given.method,
        keep=given.keep,
        short=given.short,
        cluster=given.cluster,
        set=keys,
    )


def _id_field(given: SimpleNamespace, paths: Sequence[str]) -> str | None:
    """The column that is named; or `id`, where all inputs have it."""
    if given.id_field is not None:
        return str(given.id_field)
    has_it = all(source.has_column("id") for path in paths for source in find(path)[0])
    return "id" if has_it else None


def _plan(given: SimpleNamespace) -> Plan:
    never: dict[str, list[str]] = {}
    for one in given.never:
        field, values = _list("--never", one)
        never.setdefault(field, []).extend(values)
    compared: dict[str, Any] = {
        "prefer": _list("--prefer", given.prefer) if given.prefer else None,
        "within": given.within,
        "never": never,
    }
    return Plan(_recipe(given), given.text_field, id=_id_field(given, given.paths), **compared)


def _check(given: SimpleNamespace) -> None:
    if given.output is not None and given.output_dir is not None:
        raise _Stop("--output and --output-dir exclude each other")
    if given.output is None and given.output_dir is None:
        raise _Stop("say where the survivors go: -o FILE, or --output-dir DIR")
    if given.missing_text != "skip":
        raise _Stop("--missing-text: rows without a text are left out; neardup.dedup_files(…, nulls='keep') keeps them")
    if given.output is not None and len(given.paths) > 1:
        raise _Stop("several inputs need --output-dir DIR: a file of tables holds one table")


# ---- What is told ----


def _row(name: str, count: int, whole: int | None = None) -> str:
    share = f"  {100 * count / whole:5.1f}%" if whole else ""
    return f"  {name:<22} {count:>12}{share}"


def _replaced(r: dict[str, Any]) -> str:
    more = f"{r['inputs']} inputs, of which the first is " if r["inputs"] > 1 else ""
    return f"  {more}{r['first']}: {r['gone']:,} of {r['records']:,} records are no longer there"


def _table(s: dict[str, Any]) -> str:
    """The summary as the command shows it."""
    lines = ["Inputs and their formats"]
    for kind in s["inputs"]:
        more = f" and {kind['files'] - 1} more" if kind["files"] > 1 else ""
        packed = f", {kind['compression']}" if kind["compression"] != "none" else ""
        records = f"{kind['records']} record{'s' * (kind['records'] != 1)}"
        lines.append(f"  {kind['first']}{more}: {kind['format']}{packed}, {records}, {_size(kind['bytes'])}")
    lines += ["Documents", _row("read", s["documents"])]
    if s["documents"]:
        shares = {"kept": "kept", "removed": "removed", "  equal bytes": "identical_bytes"}
        shares |= {"  equal words": "identical_tokens", "  near": "near"}
        lines += [_row(name, s[key], s["documents"]) for name, key in shares.items()]
        lines.append(_row("clusters", s["clusters"]))
    rare = {"never duplicates": "never_documents", "without words": "empty_documents"}
    rare |= {"shorter than a shingle": "short_documents", "without signatures": "unsigned_documents"}
    rare |= {"candidates cut": "cut_documents", "not listed in full bands": "crowded_documents"}
    rare |= {"bad records": "bad_records", "invalid UTF-8 repaired": "repaired_sequences", "repeated ids": "double_ids"}
    lines += [_row(name, s[key]) for name, key in rare.items() if s[key]]
    if s["largest_clusters"]:
        lines.append("Largest clusters")
        lines += [f"  {one['documents']:>12}  {one['kept']}" for one in s["largest_clusters"]]
    if "replaced" in s:
        lines += ["Replaced", _replaced(s["replaced"])]
    seconds = max(s["seconds"], 1e-9)
    threads = f"{s['threads']} thread{'s' * (s['threads'] != 1)}"
    lines += ["Work", f"  {_size(s['bytes'])} in {seconds:.2f} s: {_size(s['bytes'] / seconds)}/s, {threads}"]
    lines.append(f"  peak memory {_size(s['peak_bytes'])}; the index reserved {_size(s['index_bytes'])}")
    return "\n".join(lines)


def _tell(run: Run, result: FilesResult | None, quiet: bool) -> None:
    for place in run.left_out[:_SHOWN]:
        say(place)
    for warning in run.warnings[:_SHOWN]:
        say(f"warning: {warning}")
    if result and result.summary["bad_records"] > _SHOWN:
        say(f"{result.summary['bad_records']} bad records in all; only the first {_SHOWN} are shown above")
    if result and not quiet:
        print(_Progress.take_away() + _table(result.summary), file=sys.stderr)


def _dedup(given: SimpleNamespace) -> int:
    progress = _Progress(given.progress)
    _check(given)
    run = Run(
        _plan(given),
        nulls="drop",
        judges=True,
        max_bad=_share(given.max_bad),
        threads=int(given.threads or 0),
        folder=given.tmp,
        memory=given.memory,
        against=given.against,
        append=given.append,
        only_against=given.only_against,
        copies_field=given.copies_field,
        progress=progress if progress.is_on and not given.quiet else None,
    )
    is_folder = given.output_dir is not None or os.path.isdir(given.paths[0])
    run.read(given.paths, below=given.output_dir is None)
    if given.output is not None:
        check_kind(given.paths[0], given.output, is_folder)
    result = None
    try:
        result = run.write(
            None if is_folder else given.output,
            (given.output_dir or given.output) if is_folder else None,
            removed=given.removed,
            manifest=given.manifest,
            clusters=given.clusters,
            summary=given.summary,
            force=given.force,
        )
    finally:
        _tell(run, result, given.quiet)
    left_out = result.summary["left_out"]
    if left_out:
        say(f"done, but {left_out} bad record{'s were' if left_out > 1 else ' was'} left out")
        return 3
    return 0


def _ended(number: int, frame: object) -> NoReturn:
    raise SystemExit(128 + number)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``neardup dedup`` with these options; its exit status."""
    try:
        given = _parse(list(sys.argv[1:] if arguments is None else arguments))
        before = signal.signal(signal.SIGTERM, _ended)
        try:
            return _dedup(given)
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)
    except _Stop as error:
        say(str(error))
    except (_native.Error, OSError, TypeError) as error:
        say(_words(error))
        say("stopped; nothing was published")
    except MemoryError:
        say("out of memory")
        say("stopped; nothing was published")
    except KeyboardInterrupt:
        print(_Progress.take_away(), end="", file=sys.stderr, flush=True)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    return 2


def _words(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{os.fsdecode(error.filename)}: cannot be opened: {error.strerror}"
    return str(error)


if __name__ == "__main__":
    sys.exit(main())
