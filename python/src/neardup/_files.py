"""Files: JSON Lines and CSV by Python's own modules, Parquet and Arrow IPC by pyarrow."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

from . import _native

if TYPE_CHECKING:
    from ._frames import Columns

_JSON = (".jsonl", ".ndjson", ".json")
_TABLES = (".csv", ".tsv")
_ARROW = (".arrow", ".feather", ".ipc")


def _ending(path: str) -> tuple[str, bool]:
    """What the file holds by its name, and whether it is gzip."""
    name = path.lower()
    is_gzip = name.endswith(".gz")
    return os.path.splitext(name[:-3] if is_gzip else name)[1], is_gzip


def _open_text(path: str, is_gzip: bool) -> IO[str]:
    if is_gzip:
        return io.TextIOWrapper(gzip.open(path), encoding="utf-8-sig", errors="surrogateescape")
    return open(path, encoding="utf-8-sig", errors="surrogateescape", newline="")


def _as_bytes(value: Any) -> Any:
    """A text that was not UTF-8 as the bytes that it was."""
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-8", "surrogateescape")
    return value


def _json_rows(path: str, is_gzip: bool) -> Iterator[dict[str, Any]]:
    with _open_text(path, is_gzip) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except ValueError as error:
                raise _native.InvalidError(f"{path}:{number}: {error}") from None
            if not isinstance(record, dict):
                raise _native.InvalidError(f"{path}:{number}: not an object")
            yield {key: _as_bytes(value) for key, value in record.items()}


def _table_rows(path: str, is_gzip: bool, delimiter: str) -> Iterator[dict[str, Any]]:
    csv.field_size_limit(1 << 30)
    with _open_text(path, is_gzip) as file:
        rows = csv.DictReader(file, delimiter=delimiter, strict=True)
        try:
            for record in rows:
                if None in record or None in record.values():
                    raise _native.InvalidError(
                        f"{path}:{rows.line_num}: the row does not have the header's number of cells"
                    )
                yield {key: _as_bytes(value) for key, value in record.items()}
        except csv.Error as error:
            raise _native.InvalidError(f"{path}:{rows.line_num}: {error}") from None


def open_tables(path: str) -> Any:
    """The pyarrow Dataset of a file of Parquet or Arrow or of a folder of Parquet; None: it is of lines."""
    ending, is_gzip = _ending(path)
    if is_gzip or not (ending == ".parquet" or ending in _ARROW or os.path.isdir(path)):
        return None
    try:
        import pyarrow.dataset
    except ImportError:
        raise _native.UnsupportedError(f"{path}: reading it needs pyarrow: pip install pyarrow") from None
    kind = "ipc" if ending in _ARROW else "parquet"
    return pyarrow.dataset.dataset(path, format=kind, partitioning="hive")


def open_file(path: str, columns: Columns) -> Any:
    """The data of a file, as `_frames.read` takes it."""
    ending, is_gzip = _ending(path)
    if ending in _JSON:
        return _json_rows(path, is_gzip)
    if ending in _TABLES:
        return _table_rows(path, is_gzip, "\t" if ending == ".tsv" else ",")
    tables = open_tables(path)
    if tables is not None:
        return tables.to_table()
    raise _native.UnsupportedError(
        f"{path}: Python reads .jsonl, .csv and .tsv, plain or .gz, .parquet and .arrow; "
        f"the command reads other files: neardup dedup {path}"
    )
