"""Files and addresses of data: JSON Lines and CSV by Python's own modules, Parquet and Arrow IPC by pyarrow."""

from __future__ import annotations

import csv
import glob
import io
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

from . import _native
from ._optional import other_files
from ._packed import COMPRESSIONS, unpacked

_JSON = (".jsonl", ".ndjson", ".json")
_TABLES = (".csv", ".tsv")
_PARQUET = (".parquet", ".parq")
_ARROW = (".arrow", ".feather", ".ipc")


def _ending(path: str) -> tuple[str, str]:
    """The format of a file by its name, and its compression."""
    stem, ending = os.path.splitext(path.lower().partition("?")[0] if is_address(path) else path.lower())
    if ending in COMPRESSIONS:
        return os.path.splitext(stem)[1], COMPRESSIONS[ending]
    return ending, "none"


def is_address(path: str) -> bool:
    """Whether a path is an address, such as ``s3://bucket/file.parquet``."""
    scheme, colon, _ = path.partition("://")
    return bool(colon) and scheme.replace("+", "").replace("-", "").isalnum()


def _is_pattern(path: str) -> bool:
    return any(c in path for c in "*?[") and not os.path.exists(path)


def expanded(path: str) -> list[str]:
    """The files that a pattern such as ``pages/*.parquet`` matches, in the order of their names; any other path.

    Raises
    ------
    FileNotFoundError
        No file matches.
    """
    if is_address(path):
        return expanded_address(path) if is_pattern_of_addresses(path) else [path]
    if not _is_pattern(path):
        return [path]
    found = sorted(glob.glob(path, recursive=True), key=os.fsencode)
    if not found:
        raise FileNotFoundError(f"no file matches {path}")
    return found


def is_pattern_of_addresses(path: str) -> bool:
    """Whether an address has a pattern.  One of the web has none: its question mark begins a query."""
    return not path.startswith(("http://", "https://")) and any(c in path for c in "*?[")


def expanded_address(path: str) -> list[str]:
    """The addresses that a pattern of them matches, in the order of their names."""
    filesystem, name = filesystem_of(path)
    found = sorted(filesystem.glob(name))
    if not found:
        raise FileNotFoundError(f"no file matches {path}")
    return [filesystem.unstrip_protocol(one) for one in found]


def _is_file_name(value: object) -> bool:
    """Whether an item of a list is the path of data, rather than a text."""
    if isinstance(value, os.PathLike):
        return True
    if not isinstance(value, str) or not 0 < len(value) <= 4096 or "\n" in value or "\0" in value:
        return False
    kinds = (*_JSON, *_TABLES, *_PARQUET, *_ARROW, ".sketch")
    if _ending(value)[0] not in kinds and not (os.sep in value and os.path.isdir(value)):
        return False
    return is_address(value) or os.path.exists(value)


def paths_of(data: Any) -> list[str] | None:
    """The paths and addresses that data consists of; None: it is no path.

    A list is one of paths if its first item is a path object, or the name of a file that is there.
    """
    if isinstance(data, (str, os.PathLike)):
        return expanded(os.fspath(data))
    if not isinstance(data, (list, tuple)) or not data or not _is_file_name(data[0]):
        return None
    for i, item in enumerate(data):
        if not _is_file_name(item):
            raise TypeError(f"item {i} of the list is no file, and the first is {os.fspath(data[0])}: {item!r}"[:400])
    return [path for item in data for path in expanded(os.fspath(item))]


def filesystem_of(path: str) -> Any:
    """The file system of an address by fsspec, and the name in it.

    Raises
    ------
    UnsupportedError
        fsspec, or the package that it needs for the address, is not installed.
    """
    try:
        import fsspec
    except ImportError:
        raise _native.UnsupportedError(f"{path}: addresses need fsspec: pip install fsspec") from None
    try:
        return fsspec.core.url_to_fs(path)
    except (ImportError, ValueError) as error:
        raise _native.UnsupportedError(f"{path}: {error}") from None


def _opened(path: str) -> IO[bytes]:
    if not is_address(path):
        return open(path, "rb")
    filesystem, name = filesystem_of(path)
    raw: IO[bytes] = filesystem.open(name, "rb")
    return raw


@contextmanager
def _open_text(path: str, compression: str) -> Iterator[IO[str]]:
    with _opened(path) as raw, unpacked(raw, path, compression) as data:
        yield io.TextIOWrapper(data, encoding="utf-8-sig", errors="surrogateescape", newline="")


def as_bytes(value: Any) -> Any:
    """A text that was not UTF-8 as the bytes that it was."""
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-8", "surrogateescape")
    return value


def _json_rows(path: str, compression: str) -> Iterator[dict[str, Any]]:
    with _open_text(path, compression) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except ValueError as error:
                raise _native.InvalidError(f"{path}:{number}: {error}") from None
            if not isinstance(record, dict):
                raise _native.InvalidError(f"{path}:{number}: not an object")
            yield {key: as_bytes(value) for key, value in record.items()}


def _table_rows(path: str, compression: str, delimiter: str) -> Iterator[dict[str, Any]]:
    csv.field_size_limit(1 << 30)
    with _open_text(path, compression) as file:
        rows = csv.DictReader(file, delimiter=delimiter, strict=True)
        try:
            for record in rows:
                if None in record or None in record.values():
                    raise _native.InvalidError(
                        f"{path}:{rows.line_num}: the row does not have the header's number of cells"
                    )
                yield {key: as_bytes(value) for key, value in record.items()}
        except csv.Error as error:
            raise _native.InvalidError(f"{path}:{rows.line_num}: {error}") from None


def _is_table(path: str) -> bool:
    ending, compression = _ending(path)
    return compression == "none" and (ending in (*_PARQUET, *_ARROW) or (not is_address(path) and os.path.isdir(path)))


def open_tables(paths: Sequence[str]) -> Any:
    """The pyarrow Dataset of files of Parquet or Arrow, or of folders of Parquet; None: they are of lines."""
    if not any(map(_is_table, paths)):
        return None
    try:
        import pyarrow.dataset
    except ImportError:
        raise _native.UnsupportedError(f"{paths[0]}: reading it needs pyarrow: pip install pyarrow") from None
    kinds = {"ipc" if _ending(path)[0] in _ARROW else "parquet" for path in paths}
    if len(kinds) > 1 or not all(map(_is_table, paths)):
        raise _native.UnsupportedError(f"{paths[0]}, …: files of Parquet, of Arrow and of lines are read by themselves")
    parts = [_dataset(path, next(iter(kinds))) for path in paths]
    return parts[0] if len(parts) == 1 else pyarrow.dataset.dataset(parts)


def _dataset(path: str, kind: str) -> Any:
    import pyarrow.dataset

    if not is_address(path):
        return pyarrow.dataset.dataset(path, format=kind, partitioning="hive")
    try:
        filesystem, name = filesystem_of(path)
    except _native.UnsupportedError:
        try:  # pyarrow has some file systems of its own
            return pyarrow.dataset.dataset(path, format=kind, partitioning="hive")
        except (ValueError, pyarrow.ArrowException):
            pass
        raise
    return pyarrow.dataset.dataset(name, filesystem=filesystem, format=kind, partitioning="hive")


def rows_of_files(paths: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The rows of files of lines, one file after another.

    Raises
    ------
    UnsupportedError
        Python does not read a file of this name.
    """
    for path in paths:
        ending, _ = _ending(path)
        if ending not in (*_JSON, *_TABLES):
            raise other_files(path, ".jsonl, .csv and .tsv, also compressed, .parquet and .arrow")
    return _rows_of(paths)


def _rows_of(paths: Sequence[str]) -> Iterator[dict[str, Any]]:
    for path in paths:
        ending, compression = _ending(path)
        if ending in _JSON:
            yield from _json_rows(path, compression)
        else:
            yield from _table_rows(path, compression, "\t" if ending == ".tsv" else ",")


def open_files(paths: Sequence[str]) -> Any:
    """The data of files, as `_frames.read` takes it."""
    tables = open_tables(paths)
    return rows_of_files(paths) if tables is None else tables.to_table()
