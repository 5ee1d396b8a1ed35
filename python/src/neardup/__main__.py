"""The command ``neardup``, as ``python -m neardup``: the same program, found beside this package."""

from __future__ import annotations

import os
import subprocess
import sys

from ._command import find_command


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
