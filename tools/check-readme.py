#!/usr/bin/env python3
"""check-readme.py - the examples of README.md do what it says

usage: tools/check-readme.py BUILD_DIRECTORY [PAGE ...]

A ```console block is a session: lines that begin with "$ " are run one after the other in one
folder, which is empty at first, and must print what stands below them; "$ cat FILE" where there
is no FILE makes it of these lines.  The ```c block must be tests/install/consumer.c, which is
compiled against the installed package elsewhere; sessions that call cc are left to that test.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def blocks(page, kind):
    return re.findall(r"^```%s\n(.*?)^```" % kind, page, re.S | re.M)


def steps(session):
    """(command, what it must print) of each step."""
    found = []
    for line in session.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append([line[2:].rstrip("\n"), ""])
        else:
            found[-1][1] += line
    return found


def run_session(session, build, name):
    wrong = 0
    environment = dict(os.environ, PATH=f"{build}:{os.environ['PATH']}", LC_ALL="C.UTF-8")
    with tempfile.TemporaryDirectory() as folder:
        for command, expected in steps(session):
            shown = re.fullmatch(r"cat (\S+)", command)
            if shown and not pathlib.Path(folder, shown[1]).exists():
                pathlib.Path(folder, shown[1]).write_text(expected, encoding="utf-8")
                continue
            done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                                  encoding="utf-8", stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            if done.stdout != expected:
                print(f"{name}: $ {command}\nprints\n{done.stdout}and not\n{expected}")
                wrong += 1
    return wrong


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    pages = [pathlib.Path(page) for page in sys.argv[2:]] or [ROOT / "README.md"]
    wrong = sessions = 0
    for path in pages:
        page = path.read_text(encoding="utf-8")
        for session in blocks(page, "console"):
            if "$ cc " not in session:
                sessions += 1
                wrong += run_session(session, build, path.name)
        for program in blocks(page, "c"):
            if program != (ROOT / "tests/install/consumer.c").read_text(encoding="utf-8"):
                print(f"{path.name}: its C program is not tests/install/consumer.c")
                wrong += 1
    if not sessions:
        print("no session found")
    return 1 if wrong or not sessions else 0


if __name__ == "__main__":
    sys.exit(main())
