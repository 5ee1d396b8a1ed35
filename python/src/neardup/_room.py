"""Memory for what is read once and used twice, where there is enough of it."""

from __future__ import annotations

from . import _native

# Decoded row groups may take one part in this many of the memory that is free when a run begins.
_SHARE = 8


def _number(path: str) -> int | None:
    """The number that a file consists of; None: it says that there is no limit, or does not exist."""
    try:
        with open(path) as file:
            word = file.read().strip()
    except OSError:
        return None
    return int(word) if word.isdigit() else None


def available() -> int:
    """Bytes of memory that can be had without swapping, of the machine and of the group of processes."""
    free = 0
    try:
        with open("/proc/meminfo") as file:
            free = next((1024 * int(line.split()[1]) for line in file if line.startswith("MemAvailable:")), 0)
    except (OSError, ValueError):
        pass
    limit, used = _number("/sys/fs/cgroup/memory.max"), _number("/sys/fs/cgroup/memory.current")
    return free if limit is None else max(0, min(free, limit - (used or 0)))


class Room:
    """A number of bytes that files share.

    Parameters
    ----------
    size : str or int, optional
        The bytes, such as ``"500M"``; the default is an eighth of the memory that is available.
    """

    def __init__(self, size: str | int | None = None) -> None:
        self.left = available() // _SHARE if size is None else _native.size_parse("hold", str(size))

    def take(self, size: int) -> bool:
        """Take so many bytes, if they are there."""
        if size > self.left:
            return False
        self.left -= size
        return True

    def give_back(self, size: int) -> None:
        """Give back the bytes that were taken."""
        self.left += size
