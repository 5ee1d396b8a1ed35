"""The command line: ``python -m neardup dedup in.parquet -o out.parquet``."""

from __future__ import annotations

import argparse
import difflib
import os
import signal
import sys
import time
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NoReturn

from . import _native
from ._plan import Plan, recipe_of
from ._run import FilesResult, Run, check_kind
from ._sketched import Sketched
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
    """What is wrong with the arguments."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _Stop(message)


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


# ---- Arguments ----


def _options() -> _Parser:
    parser = _Parser(
        prog="python -m neardup dedup",
        usage="python -m neardup dedup [OPTION…] FILE|DIR…",
        description="Remove near-duplicate documents from Parquet, Arrow, JSON Lines, CSV and TSV, and report which "
        "ones and why.  The options are those of the command neardup dedup.",
        epilog="Exit status: 0; 2 (usage, failure: nothing is published); 3 (done, but something was left out).",
        allow_abbrev=False,
        add_help=False,
    )
    add = parser.add_argument
    add("paths", nargs="*", metavar="FILE|DIR", help="a file, or a folder: a data set, partitioned or not")
    what = parser.add_argument_group("What is a duplicate").add_argument
    what(
        "-t",
        "--threshold",
        metavar="RATIO",
        help="documents with at least this resemblance are duplicates: 0.8, 4/5 or 80%%",
    )
    what("-w", "--shingle", metavar="N", help="compare shingles of N words; Nc: of N characters")
    what("--characters", metavar="N", help="the same as --shingle Nc")
    what("-m", "--method", metavar="NAME", help="minhash, simhash or identical")
    what("--bits", metavar="K", help="with simhash, fingerprints may differ in at most K bits")
    what(
        "--short",
        metavar="POLICY",
        help="when documents shorter than a shingle are duplicates: identical, tokens, keep",
    )
    what("--forms", metavar="WORDS", help="keep documents apart that differ only in numbers, names or dates")
    what("--within", metavar="FIELD", help="compare only documents with the same value of FIELD")
    what(
        "--never",
        metavar="FIELD=A,B,C",
        action="append",
        default=[],
        help="documents that match no other; may be repeated",
    )
    what("--recipe", metavar="NAME|FILE", help="a shipped recipe or a file; other options override it")
    what(
        "--set", metavar="KEY=VALUE", action="append", default=[], help="change one key of the recipe; may be repeated"
    )
    what("--recall", metavar="P", help="the share of the pairs at the threshold that must be found")
    what("--max-checks", metavar="N", help="compare a document with at most N others")
    what("--candidates", metavar="BY", help="how documents to compare are found")
    what("--verify", metavar="MEASURE", help="what must reach the threshold")
    what(
        "--against", metavar="FILE", action="append", default=[], help="a sketch file of documents that come before all"
    )
    what("--append", action="store_true", help="at last add the survivors to the last --against file")
    what("--only-against", action="store_true", help="compare with the documents of --against alone")
    kept = parser.add_argument_group("Which document is kept").add_argument
    kept(
        "-k",
        "--keep",
        metavar="POLICY",
        help="first, last, longest, shortest, newest:FIELD, max:FIELD, min:FIELD …, none",
    )
    kept("--prefer", metavar="FIELD=A,B,C", help="before --keep counts, prefer documents whose FIELD is A, then B …")
    kept("--cluster", metavar="KIND", help="star, components or complete")
    read = parser.add_argument_group("Input").add_argument
    read("--text-field", metavar="FIELD", default="text", help="the column with the text (default: text)")
    read("--id-field", metavar="FIELD", help="the column with the id (default: id, where there is one)")
    read(
        "--missing-text",
        metavar="HOW",
        default="skip",
        help="rows without a text: leave them out (skip), or keep them (keep)",
    )
    read(
        "--max-bad",
        metavar="SHARE",
        help="write nothing if more than this share of the rows has no text (default: 5%%)",
    )
    out = parser.add_argument_group("Output").add_argument
    out("-o", "--output", metavar="FILE", help="where the survivors go; for a folder, a folder")
    out("--output-dir", metavar="DIR", help="write each input's survivors under its relative path in DIR")
    out("--removed", metavar="FILE", help="the rows that do not survive; as the output, a file or a folder")
    out("--copies-field", metavar="FIELD", help="add to each survivor how many documents its cluster has")
    out("--manifest", metavar="FILE", help="what was removed, and why: one JSON object per line")
    out("--clusters", metavar="FILE", help="the id of every document and of the one kept for it, as TSV")
    out("--summary", metavar="FILE", help="the summary as JSON")
    out("--force", action="store_true", help="replace an input although no --removed keeps the other rows")
    out("-q", "--quiet", action="store_true", help="no progress and no summary; only errors and warnings")
    out("--progress", action="store_true", help="show progress even if standard error is not a terminal")
    more = parser.add_argument_group("Resources").add_argument
    more("-j", "--threads", metavar="N", help="threads to use (default: all processors)")
    more("--memory", metavar="SIZE", help="use at most so much memory beside Python: 2G; the rest waits in --tmp")
    more("--tmp", metavar="DIR", help="where to keep texts that are needed again (default: $TMPDIR, or /tmp)")
    more("-h", "--help", action="help", help="show this text")
    return parser


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = _options()
    given, unknown = parser.parse_known_args(arguments)
    for word in unknown:
        names = [name for action in parser._actions for name in action.option_strings]
        near = difflib.get_close_matches(word.partition("=")[0], names, 1)
        raise _Stop(f"there is no option {word}" + (f"; did you mean {near[0]}?" if near else "; see --help"))
    return given


def _list(option: str, given: str) -> tuple[str, list[str]]:
    """``FIELD=A,B,C``."""
    field, equals, values = given.partition("=")
    if not field or not equals or not values:
        raise _Stop(f"{option}: '{given}' does not have the form FIELD=A,B,C")
    return field, values.split(",")


def _share(given: str | None) -> Fraction | None:
    """``0.05``, ``1/20`` or ``5%``."""
    if given is None:
        return None
    try:
        share = Fraction(given.rstrip("%")) / (100 if "%" in given else 1)
    except (ValueError, ZeroDivisionError):
        share = Fraction(-1)
    if not 0 <= share <= 1:
        raise _Stop(f"--max-bad: '{given}' is no share from 0 to 1")
    return share


def _threads(given: str | None) -> int:
    if given is None:
        return 0
    if not given.isascii() or not given.isdigit() or not 1 <= int(given) <= 1024:
        raise _Stop(f"--threads: '{given}' is not a number from 1 to 1024")
    return int(given)


def _recipe(given: argparse.Namespace) -> Any:
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


def _id_field(given: argparse.Namespace, paths: Sequence[str]) -> str | None:
    """The column that is named; or `id`, where all inputs have it."""
    if given.id_field is not None:
        return str(given.id_field)
    has_it = all(source.has_column("id") for path in paths for source in find(path)[0])
    return "id" if has_it else None


def _plan(given: argparse.Namespace, sketched: Sketched | None) -> Plan:
    never: dict[str, list[str]] = {}
    for one in given.never:
        field, values = _list("--never", one)
        never.setdefault(field, []).extend(values)
    compared: dict[str, Any] = {
        "prefer": _list("--prefer", given.prefer) if given.prefer else None,
        "within": given.within,
        "never": never,
    }
    if sketched:
        return sketched.plan(_recipe(given), None, given.text_field, id=given.id_field, **compared)
    return Plan(_recipe(given), given.text_field, id=_id_field(given, given.paths), **compared)


def _check(given: argparse.Namespace, sketched: Sketched | None) -> None:
    if not given.paths:
        raise _Stop("no input: name files or folders")
    if given.output is not None and given.output_dir is not None:
        raise _Stop("--output and --output-dir exclude each other")
    if given.output is None and given.output_dir is None:
        raise _Stop("say where the survivors go: -o FILE, or --output-dir DIR")
    if given.missing_text not in ("skip", "keep"):
        raise _Stop(f"--missing-text: '{given.missing_text}' is not skip or keep")
    if given.output is not None and len(given.paths) > 1 and not sketched:
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


def _dedup_sketched(given: argparse.Namespace, run: Run, sketched: Sketched) -> int:
    evidence = {"manifest": given.manifest, "clusters": given.clusters, "summary": given.summary}
    if given.output is None:
        raise _Stop("what survives of sketch files is one file: -o FILE.sketch")
    result = None
    try:
        sketched.check_target(given.output, given.removed, given.copies_field)
        result = run.write_sketched(sketched, given.output, removed=given.removed, **evidence)
    finally:
        _tell(run, result, given.quiet)
    return 0


def _dedup(given: argparse.Namespace) -> int:
    progress = _Progress(given.progress)
    are_files = all(os.path.isfile(path) for path in given.paths)
    sketched = Sketched.of(given.paths, None) if are_files else None
    _check(given, sketched)
    run = Run(
        _plan(given, sketched),
        nulls="drop" if given.missing_text == "skip" else "keep",
        judges=given.missing_text == "skip",
        max_bad=_share(given.max_bad),
        threads=_threads(given.threads),
        folder=given.tmp,
        memory=given.memory,
        against=given.against,
        append=given.append,
        only_against=given.only_against,
        copies_field=given.copies_field,
        progress=progress if progress.is_on and not given.quiet else None,
        sketched=sketched,
    )
    if sketched:
        return _dedup_sketched(given, run, sketched)
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
    """Run the command line; its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] in (["-V"], ["--version"]):
        print(f"neardup {_native.version()}")
        return 0
    if not words or words[0] in ("-h", "--help", "help"):
        _options().print_help(sys.stdout if words else sys.stderr)
        return 0 if words else 2
    if words[0] != "dedup":
        say(f"there is no command '{words[0]}' here: python -m neardup has dedup; the command neardup has the others")
        return 2
    try:
        given = _parse(words[1:])
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
