"""Compressed files, read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
from typing import IO, Any, cast

from . import _native

COMPRESSIONS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd", ".lz4": "lz4"}


def endings(path: str) -> str:
    """The part of a file's name that says its format and its compression: ``.jsonl.gz``."""
    stem, ending = os.path.splitext(path)
    return os.path.splitext(stem)[1] + ending if ending.lower() in COMPRESSIONS else ending


def unpacked(raw: IO[bytes], path: str, compression: str) -> IO[bytes]:
    """The contents of a compressed file; `path` is for messages."""
    if compression == "gzip":
        return cast("IO[bytes]", gzip.GzipFile(fileobj=raw))
    if compression == "bzip2":
        return bz2.BZ2File(raw)
    if compression == "xz":
        return lzma.LZMAFile(raw)
    if compression == "none":
        return raw
    if compression == "zstd" and sys.version_info >= (3, 14):
        from compression import zstd

        return cast("IO[bytes]", zstd.ZstdFile(raw))
    try:
        import pyarrow
    except ImportError:
        raise _native.UnsupportedError(f"{path}: reading it needs pyarrow: pip install pyarrow") from None
    stream: Any = pyarrow.CompressedInputStream(pyarrow.PythonFile(raw, "r"), compression)
    return cast("IO[bytes]", io.BufferedReader(stream))
