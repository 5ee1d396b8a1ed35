"""Files that appear together, once all of them are whole, by the command's own rules."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
from types import TracebackType
from typing import IO, Any, cast

from . import _native

_CODECS = {".zst": "zstd", ".lz4": "lz4"}


def _packed(path: str, raw: IO[bytes]) -> IO[bytes]:
    """Return a writer that compresses as the name says, at a fixed level and without a time."""
    ending = os.path.splitext(path)[1].lower()
    if ending == ".gz":
        return cast("IO[bytes]", gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0))
    if ending == ".bz2":
        return bz2.BZ2File(raw, "wb")
    if ending == ".xz":
        return lzma.LZMAFile(raw, "wb", preset=1)
    if ending in _CODECS:
        try:
            import pyarrow
        except ImportError:
            raise _native.UnsupportedError(f"{path}: writing it needs pyarrow: pip install pyarrow") from None
        return cast("IO[bytes]", pyarrow.CompressedOutputStream(raw, _CODECS[ending]))
    return raw


class Output:
    """A file on its way out."""

    def __init__(self, path: str, raw: IO[bytes], file: Any, is_plain: bool) -> None:
        self.path = path
        self.raw = raw
        self.file = file  # of the publisher; None: it is written in place
        self._packed = raw if is_plain else _packed(path, raw)

    def write(self, data: bytes) -> None:
        self._packed.write(data)

    def finish(self) -> Any:
        """All has been written: the file of the publisher, or None."""
        if self._packed is not self.raw:
            self._packed.close()
        if not self.raw.closed:
            self.raw.flush()
        return self.file

    def abandon(self) -> None:
        """Close what may write when it is collected, so that it does so before the file goes."""
        for stream in (self._packed, self.raw):
            try:
                if stream is not sys.stdout.buffer:
                    stream.close()
            except (OSError, ValueError):
                pass


class Outputs:
    """The files that a run writes.

    What was opened and not published is gone when the block ends; so are folders that were made.
    """

    def __init__(self) -> None:
        self._native = _native.publisher_new()
        self._claims: dict[str, tuple[int, bool]] = {}
        self._open: list[Output] = []
        self._finished: list[Any] = []
        self._folders: list[str] = []
        self._published = False
        self.wrote_in_place = False

    def __enter__(self) -> Outputs:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for output in self._open:
            output.abandon()
        self._open.clear()
        self._finished.clear()
        self._native = _native.publisher_new()
        if not self._published:
            for folder in reversed(self._folders):
                try:
                    os.rmdir(folder)
                except OSError:
                    pass

    def reads(self, path: str) -> None:
        """The run reads this file, which no output may replace."""
        _native.publisher_read(self._native, path)

    def claim(self, path: str | None, may_replace: bool = False) -> bool:
        """An output goes there; whether it replaces a file that is read.

        Raises
        ------
        InvalidError
            Another output goes there, or the run reads this file.
        """
        if path is None:
            return False
        self._claims[path] = _native.publisher_claim(self._native, path, may_replace)
        return self._claims[path][1]

    def make_folder(self, path: str) -> None:
        """Make a folder, and those above it."""
        missing = []
        while path and not os.path.isdir(path):
            missing.append(path)
            path = os.path.dirname(path)
        for folder in reversed(missing):
            os.mkdir(folder)
            self._folders.append(folder)

    def open(self, path: str, is_evidence: bool = True, is_plain: bool = False) -> Output:
        """Open a file; is_plain: its name does not say that it is compressed."""
        if path not in self._claims:
            self.claim(path)
        opened = _native.publisher_open(self._native, self._claims[path][0], is_evidence)
        if opened is None:
            self.wrote_in_place = True
            raw: IO[bytes] = sys.stdout.buffer if path in ("-", "/dev/stdout") else open(path, "wb")
            output = Output(path, raw, None, is_plain or path == "-")
        else:
            file, descriptor = opened
            raw = io.BufferedWriter(io.FileIO(descriptor, "wb", closefd=False), 1 << 20)
            output = Output(path, raw, file, is_plain)
        self._open.append(output)
        return output

    def finish(self, output: Output) -> None:
        """All has been written to it."""
        file = output.finish()
        if file is not None:
            _native.publisher_finish(self._native, file)
            self._finished.append(file)
        self._open.remove(output)

    def publish(self) -> None:
        """All files get their names, together.

        Raises
        ------
        Error
            Some could not get theirs.
        """
        for output in list(self._open):
            self.finish(output)
        number, failure = _native.publisher_publish(self._native)
        self._published = number > 0 or failure is None
        if failure is not None:
            raise _native.Error(f"{failure}; some outputs were published, others were not" if number else failure)
