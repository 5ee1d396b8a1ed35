"""command_wheel.py - a wheel of the command alone, for a system that the module is not built for

usage: command_wheel.py COMMAND PLATFORM METADATA_WHEEL FOLDER

COMMAND is neardup or neardup.exe of that system, PLATFORM its tag, such as win_amd64.  What describes
the package is that of METADATA_WHEEL, a wheel of this version.  FOLDER gets the wheel, whose path is
printed.  The time in it is SOURCE_DATE_EPOCH, so the same command gives the same bytes.

The package in it says, where it is imported, that it has no module; `python -m neardup` is the command.
"""

from __future__ import annotations

import base64
import hashlib
import os
import sys
import time
import zipfile
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "python" / "src" / "neardup"
# The modules that find and run the command.
MODULES = ("__main__.py", "_command.py")
INIT = '''"""neardup for a system that its Python module is not built for: the command alone."""


def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(name)
    raise ImportError(
        f"neardup.{name}: the wheel of this system brings the command neardup alone; the Python module is built for Linux"
    )
'''


def contents(command: Path, platform: str, source: Path) -> dict[str, bytes]:
    """The files of the wheel, but for the record of them."""
    files = {"neardup/__init__.py": INIT.encode()}
    files |= {f"neardup/{name}": (PACKAGE / name).read_bytes() for name in MODULES}
    with zipfile.ZipFile(source) as wheel:
        for name in wheel.namelist():
            folder, _, rest = name.partition("/")
            if folder.endswith(".dist-info") and (rest == "METADATA" or rest.startswith("licenses/")) and rest[-1] != "/":
                files[name] = wheel.read(name)
    info = next(name for name in files if name.endswith("/METADATA")).partition("/")[0]
    system = {"win": "Microsoft :: Windows", "mac": "MacOS"}.get(platform[:3], "POSIX :: Linux")
    metadata = files[f"{info}/METADATA"].decode()
    files[f"{info}/METADATA"] = metadata.replace("POSIX :: Linux", system).encode()
    files[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: command_wheel.py\nRoot-Is-Purelib: false\nTag: py3-none-{platform}\n"
    ).encode()
    files[f"{info.removesuffix('.dist-info')}.data/scripts/{command.name}"] = command.read_bytes()
    return files


def main() -> None:
    command, platform, source, folder = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4])
    files = contents(command, platform, source)
    info = next(name for name in files if name.endswith("/WHEEL")).partition("/")[0]
    record = []
    for name, data in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(data)}\n")
    files[f"{info}/RECORD"] = "".join([*record, f"{info}/RECORD,,\n"]).encode()

    path = folder / f"{info.removesuffix('.dist-info')}-py3-none-{platform}.whl"
    moment = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800))[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for name in sorted(files, key=lambda name: (name.startswith(info), name)):
            entry = zipfile.ZipInfo(name, moment)
            entry.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, files[name])
    print(path)


main()
