#!/usr/bin/env python3
"""check-readme.py - the examples of README.md do what it says

usage: tools/check-readme.py [--walk] [--write] BUILD_DIRECTORY [PAGE ...]

A ```console block is a session: lines that begin with "$ " are run one after the other in one
folder, which is empty at first, and must print what stands below them; "$ cat FILE" where there
is no FILE makes it of these lines.  The ```c block must be tests/install/consumer.c, which is
compiled against the installed package elsewhere; sessions that call cc are left to that test.

Commands of a cluster are those of tests/cluster, which stand in for them.

With --walk the sessions of a page are one: what an earlier one made is there for the next.  A page
with a line "<!-- needs PATH -->" is skipped where PATH is not there; status 77: all were skipped.
With --write, what the commands print is written into the pages in place of what stands there.
"""
import contextlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
STAND_INS = ROOT / "tests/cluster"


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


def run_session(session, build, folder):
    """(command, what it must print, what it prints) of each step."""
    environment = dict(os.environ, PATH=f"{build}:{STAND_INS}:{os.environ['PATH']}", LC_ALL="C.UTF-8")
    for command, expected in steps(session):
        shown = re.fullmatch(r"cat (\S+)", command)
        if shown and not pathlib.Path(folder, shown[1]).exists():
            pathlib.Path(folder, shown[1]).parent.mkdir(parents=True, exist_ok=True)
            pathlib.Path(folder, shown[1]).write_text(expected, encoding="utf-8")
            yield command, expected, expected
            continue
        done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                              encoding="utf-8", stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        yield command, expected, done.stdout


def run_page(path, page, build, is_walk):
    """How many sessions there are, how many steps are wrong, and the page as it should be."""
    wrong = sessions = 0
    with contextlib.ExitStack() as folders:
        folder = None
        for session in blocks(page, "console"):
            if "$ cc " in session:
                continue
            sessions += 1
            if not folder or not is_walk:
                folder = folders.enter_context(tempfile.TemporaryDirectory())
            run = list(run_session(session, build, folder))
            page = page.replace(session, "".join(f"$ {command}\n{printed}" for command, _, printed in run))
            for command, expected, printed in run:
                if printed != expected:
                    print(f"{path.name}: $ {command}\nprints\n{printed}and not\n{expected}")
                    wrong += 1
    return sessions, wrong, page


def main():
    options = [argument for argument in sys.argv[1:] if argument.startswith("--")]
    build, *pages = (pathlib.Path(argument) for argument in sys.argv[1:] if argument not in options)
    wrong = sessions = skipped = 0
    for path in pages or [ROOT / "README.md"]:
        page = path.read_text(encoding="utf-8")
        needs = re.search(r"^<!-- needs (\S+) -->$", page, re.M)
        if needs and not pathlib.Path(needs[1]).exists():
            print(f"{path.name}: skipped, since {needs[1]} is not there")
            skipped += 1
            continue
        found, wrong_here, changed = run_page(path, page, build.resolve(), "--walk" in options)
        sessions += found
        wrong += wrong_here
        if "--write" in options and changed != page:
            path.write_text(changed, encoding="utf-8")
        for program in blocks(page, "c"):
            if program != (ROOT / "tests/install/consumer.c").read_text(encoding="utf-8"):
                print(f"{path.name}: its C program is not tests/install/consumer.c")
                wrong += 1
    if skipped and not sessions:
        return 77
    if not sessions:
        print("no session found")
    return 1 if wrong or not sessions else 0


if __name__ == "__main__":
    sys.exit(main())
