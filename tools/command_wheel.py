"""command_wheel.py - a wheel with the command and its completions: alone, or beside the module

usage: command_wheel.py COMMAND PLATFORM SOURCE_WHEEL FOLDER [MODULE]

COMMAND is neardup or neardup.exe of a system, PLATFORM its tag, such as win_amd64.  SOURCE_WHEEL is a
wheel of the module of this version, for any system: what describes the package is taken from it, and
with MODULE, the extension module of that system, all of it.  FOLDER gets the wheel, whose path is
printed.  The time in it is SOURCE_DATE_EPOCH, so the same command gives the same bytes.

Without MODULE the package in it says, where it is imported, that it has no module; `python -m neardup`
is the command in any case.
"""

from __future__ import annotations

import base64
import hashlib
import os
import sys
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "python" / "src" / "neardup"
# The modules that find and run the command.
MODULES = ("__main__.py", "_command.py")
# The libraries that a command from tools/cross.sh carries: those of cmake/carried.cmake, and the C
# library that is linked statically.
CARRIED = ROOT / "build" / "carried"
COMPILER = ROOT / "build" / "zig" / "venv"
NATIVE = "neardup/_native.abi3.so"
# Shells look for completions here, below the prefix of Python's environment; bash does so for `pip install --user`.
COMPLETIONS = {
    "neardup.bash": "bash-completion/completions/neardup",
    "_neardup": "zsh/site-functions/_neardup",
    "neardup.fish": "fish/vendor_completions.d/neardup.fish",
    "neardup.ps1": "neardup/neardup.ps1",
}
INIT = '''"""neardup for a system that its Python module is not built for: the command alone."""


def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(name)
    raise ImportError(
        f"neardup.{name}: the wheel of this system brings the command neardup alone; the Python module is built for Linux"
    )
'''


def contents(command: Path, platform: str, source: Path, module: Path | None) -> dict[str, bytes]:
    """The files of the wheel, but for the record of them."""
    files = {}
    with zipfile.ZipFile(source) as wheel:
        for name in wheel.namelist():
            folder, _, rest = name.partition("/")
            describes = folder.endswith(".dist-info") and (rest == "METADATA" or rest.startswith("licenses/"))
            if (module or describes) and rest not in ("", "RECORD") and rest[-1] != "/":
                files[name] = wheel.read(name)
    if module:
        assert NATIVE in files, f"{source} has no module"
        files[NATIVE] = module.read_bytes()
    else:
        files["neardup/__init__.py"] = INIT.encode()
        files |= {f"neardup/{name}": (PACKAGE / name).read_bytes() for name in MODULES}
    info = next(name for name in files if name.endswith(".dist-info/METADATA")).partition("/")[0]
    system = {"win": "Microsoft :: Windows", "mac": "MacOS"}.get(platform[:3], "POSIX :: Linux")
    metadata = files[f"{info}/METADATA"].decode()
    files[f"{info}/METADATA"] = metadata.replace("POSIX :: Linux", system).encode()
    for name, licence in carried_licences(platform):
        files.setdefault(f"{info}/licenses/LICENSE.{name}", licence.read_bytes())
    files[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: command_wheel.py\nRoot-Is-Purelib: false\nTag: {tag(platform, module)}\n"
    ).encode()
    data = info.removesuffix(".dist-info") + ".data"
    files[f"{data}/scripts/{command.name}"] = command.read_bytes()
    for name, place in COMPLETIONS.items():
        files[f"{data}/data/share/{place}"] = (ROOT / "completions" / name).read_bytes()
    return files


def carried_licences(platform: str) -> list[tuple[str, Path]]:
    """The name and the licence of each library that the command carries, where it is built from sources here."""
    places = [(licence.parent.name, licence) for licence in sorted(CARRIED.glob("*/LICENSE"))]
    if platform.startswith("musllinux"):
        places += [("musl", licence) for licence in COMPILER.glob("lib/*/site-packages/ziglang/lib/libc/musl/COPYRIGHT")]
    elif platform.startswith("win"):
        places += [("mingw", licence) for licence in COMPILER.glob("lib/*/site-packages/ziglang/lib/libc/mingw/COPYING")]
    return places


def tag(platform: str, module: Path | None) -> str:
    """The tags by which pip decides whether a wheel is for its Python and its system."""
    return f"{'cp311-abi3' if module else 'py3-none'}-{platform}"


def main() -> None:
    command, platform, source, folder = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4])
    module = Path(sys.argv[5]) if sys.argv[5:] else None
    files = contents(command, platform, source, module)
    info = next(name for name in files if name.endswith(".dist-info/WHEEL")).partition("/")[0]
    record = []
    for name, data in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(data)}\n")
    files[f"{info}/RECORD"] = "".join([*record, f"{info}/RECORD,,\n"]).encode()

    path = folder / f"{info.removesuffix('.dist-info')}-{tag(platform, module)}.whl"
    moment = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800))[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for name in sorted(files, key=lambda name: (name.startswith(info), name)):
            entry = zipfile.ZipInfo(name, moment)
            entry.external_attr = (0o100755 if "/scripts/" in name or name == NATIVE else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, files[name])
    print(path)


main()
