"""Packages that only some modules need."""

from __future__ import annotations

import importlib
from typing import Any

from . import _native


def needed(package: str) -> Any:
    """Import a package, or say that it is missing."""
    try:
        return importlib.import_module(package)
    except ImportError:
        raise _native.UnsupportedError(f"this needs {package}: pip install {package}") from None


def needs(module: str, package: str, error: ImportError) -> ImportError:
    """The error of a module whose package cannot be imported."""
    name = (error.name or package).partition(".")[0]
    wanted = package if name.replace("_", "-") in (package, "sklearn") else f"{package} (its {name} is missing)"
    return ImportError(f"{module} needs {wanted}: pip install {package}", name=error.name)


def no_texts(path: str) -> _native.UnsupportedError:
    """Say that sketch files are not read here, and what reads them in place of documents."""
    return _native.UnsupportedError(
        f"{path}: a sketch file has no texts, which this needs: dedup and dedup_files read such files in place of "
        "documents, and the command neardup has more that do"
    )


def other_files(path: str, read: str) -> _native.UnsupportedError:
    """Say that a file of this name is not read, and by what it is; `read`: the kinds of file that are."""
    if path.endswith(".sketch"):
        return no_texts(path)
    return _native.UnsupportedError(f"{path}: Python reads {read}; the command reads other files: neardup dedup {path}")
