"""The command ``neardup``, as ``python -m neardup``: the same program, found beside this package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
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


def main() -> int:
    """Run the command in place of this process; its exit status, if there is none or on Windows."""
    command = find_command()
    if command is None:
        print(
            "neardup: the command is not there: wheels bring it (pip install neardup); what is built from sources is "
            "the module alone, and the command is found in PATH",
            file=sys.stderr,
        )
        return 2
    # Parquet and Arrow come back to this Python (_tables.py).
    os.environ["NEARDUP_PYTHON"] = sys.executable
    if os.name == "nt":
        return subprocess.run([command, *sys.argv[1:]], check=False).returncode
    os.execv(command, [command, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
