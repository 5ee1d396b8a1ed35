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
