"""Addresses in files in, files out: copies of what is read, and outputs that are uploaded when all are whole."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from types import TracebackType

from . import _native
from ._files import filesystem_of, is_address, is_pattern_of_addresses

# Endings of what may be one file; an address without is that of a folder.
_FILES = (".parquet", ".parq", ".arrow", ".feather", ".ipc", ".jsonl", ".ndjson", ".json", ".csv", ".tsv")
_PACKED = (".gz", ".bz2", ".xz", ".zst", ".lz4")


def is_folder_of(path: str) -> bool:
    """Whether a path is a folder, or by its name an address of many files."""
    if not is_address(path):
        return os.path.isdir(path)
    name = path.partition("?")[0].lower() if path.startswith("http") else path.lower()
    for ending in _PACKED:
        name = name.removesuffix(ending)
    return is_pattern_of_addresses(path) or not name.endswith(_FILES)


class Remote:
    """The addresses of a run, and the files of this machine that stand for them."""

    def __init__(self, folder: str | os.PathLike[str] | None) -> None:
        self._parent = folder
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._count = 0
        self._targets: dict[str, str] = {}  # paths here, and the addresses that they stand for

    def __enter__(self) -> Remote:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._folder:
            self._folder.cleanup()

    def _new(self, name: str) -> str:
        """A path in a new folder, of the name with its endings."""
        if not self._folder:
            self._folder = tempfile.TemporaryDirectory(prefix="neardup-", dir=self._parent)
        self._count += 1
        folder = os.path.join(self._folder.name, str(self._count))
        os.mkdir(folder)
        return os.path.join(folder, name)

    def listed(self, path: str) -> Iterator[tuple[str, str]]:
        """The addresses of the files at an address, each with its name in a folder of outputs."""
        if not is_folder_of(path):
            yield path, path.partition("?")[0].rpartition("/")[2]
            return
        filesystem, name = filesystem_of(path)
        for found in sorted(filesystem.find(name)):
            below = os.path.relpath(found, name)
            if not any(part.startswith((".", "_")) for part in below.split("/")):
                yield filesystem.unstrip_protocol(found), below

    def fetch(self, address: str) -> str:
        """Copy a file to this machine, a few megabytes at a time; its path here."""
        filesystem, name = filesystem_of(address)
        to = self._new(name.partition("?")[0].rpartition("/")[2])
        try:
            with filesystem.open(name, "rb") as source, open(to, "wb") as copy:
                shutil.copyfileobj(source, copy, 8 << 20)
        except FileNotFoundError:
            raise FileNotFoundError(f"{address}: there is no such file") from None
        return to

    def target(self, path: str | None) -> str | None:
        """Give the path to write to; that of an address is uploaded."""
        if path is None or not is_address(path):
            return path
        filesystem_of(path)  # or say what is missing, before the run
        address = path.rstrip("/")
        here = self._new(address.rpartition("/")[2])
        self._targets[here] = address
        return here

    def address_of(self, path: str) -> str:
        """The address of an output, or the path where it has none."""
        for here, address in self._targets.items():
            if path == here or path.startswith(here + os.sep):
                return address + path[len(here) :]
        return path

    def upload(self) -> None:
        """Put outputs where they belong, one after another.

        Raises
        ------
        Error
            One could not be uploaded; the message names it, and says how many there are already.
        """
        files = [path for here in self._targets for path in _files_of(here)]
        for i, path in enumerate(files):
            address = self.address_of(path)
            filesystem, name = filesystem_of(address)
            try:
                filesystem.makedirs(name.rpartition("/")[0], exist_ok=True)
                filesystem.put_file(path, name)
            except Exception as error:
                raise _native.Error(f"{address}: {error}; {i} of {len(files)} outputs were uploaded before") from error


def check_apart(read: Iterable[tuple[str, str]], targets: Iterable[str | None], is_folder: bool) -> None:
    """Refuse outputs at addresses that are read, of which each has its name in a folder of outputs."""
    to = [target.rstrip("/") for target in targets if target and is_address(target)]
    for address, name in read if to else ():
        for target in to:
            if is_address(address) and _spelt(address) == _spelt(f"{target}/{name}" if is_folder else target):
                raise _native.InvalidError(f"{address}: is an input: choose another address for outputs")


def _spelt(address: str) -> str:
    """An address as its file system spells it."""
    filesystem, name = filesystem_of(address)
    spelt: str = filesystem.unstrip_protocol(name)
    return spelt


def _files_of(path: str) -> list[str]:
    if not os.path.isdir(path):
        return [path] if os.path.exists(path) else []
    return sorted(os.path.join(where, name) for where, _, names in os.walk(path) for name in names)
