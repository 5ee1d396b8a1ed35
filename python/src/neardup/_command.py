"""The place of the command ``neardup`` that belongs to this package."""

from __future__ import annotations

import os
import shutil
import sysconfig

_NAME = "neardup" + (sysconfig.get_config_var("EXE") or "")


def find_command() -> str | None:
    """Return the path of the command: where pip put it with this package, or the first of ``PATH``."""
    schemes = [None, sysconfig.get_preferred_scheme("user")]
    folders = [sysconfig.get_path("scripts", scheme) if scheme else sysconfig.get_path("scripts") for scheme in schemes]
    here = os.path.dirname(os.path.abspath(__file__))
    # With pip install --target, scripts lie in a folder bin beside the packages.
    for folder in (*folders, os.path.join(os.path.dirname(here), "bin")):
        path = os.path.join(folder, _NAME)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return shutil.which(_NAME)
