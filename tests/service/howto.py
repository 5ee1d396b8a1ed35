#!/usr/bin/env python3
"""howto.py - what pages of docs/howto/ about the service show is what happens

usage: tests/service/howto.py [--write] COMMAND [PAGE]

The ```console blocks of a page are one session in one folder, as tools/check-readme.py has it.
"neardup serve ... &" starts the service on a free port, whose number stands for 8080; "kill %1"
ends it.  "neardup client watch ... &" is in the background, too, until "kill %2"; meanwhile a
command of jq is repeated until it prints what the page says, for a minute.  COMMAND is the neardup
that is meant.  Status 77: it has no service.  With --write, what the commands print is written into
the page.
"""
import importlib.util
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SHOWN = "127.0.0.1:8080"


def check_readme():
    """tools/check-readme.py as a module."""
    spec = importlib.util.spec_from_file_location("check_readme", ROOT / "tools/check-readme.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Session:
    """A shell with one service in the background."""

    def __init__(self, folder, build):
        self.folder = folder
        self.environment = dict(os.environ, PATH=f"{build}:{os.environ['PATH']}", LC_ALL="C.UTF-8")
        self.service = self.watch = None
        self.address = SHOWN

    def start(self, command):
        words = command.removesuffix(" &").replace("neardup serve ", "exec neardup serve --listen 127.0.0.1:0 ", 1)
        self.service = subprocess.Popen(["bash", "-c", words], cwd=self.folder, env=self.environment, text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        line = self.service.stdout.readline()
        found = re.search(r"127\.0\.0\.1:\d+", line)
        self.address = found[0] if found else SHOWN
        return line.replace(self.address, SHOWN)

    def start_watch(self, command):
        words = self.at_service(command.removesuffix(" &"))
        self.watch = subprocess.Popen(["bash", "-c", "exec " + words], cwd=self.folder, env=self.environment,
                                      stdin=subprocess.DEVNULL)
        return ""

    def stop_watch(self):
        if self.watch:
            self.watch.send_signal(signal.SIGINT)
            self.watch.wait()
        self.watch = None
        return ""

    def at_service(self, command):
        command = command.replace("neardup client watch ", f"neardup client watch --url http://{SHOWN} ", 1)
        return command.replace(SHOWN, self.address)

    def stop(self):
        self.stop_watch()
        if self.service:
            self.service.terminate()
            self.service.wait()
            self.service.stdout.close()
        self.service = None
        return ""

    def run(self, command):
        if command.startswith("neardup serve ") and command.endswith(" &"):
            return self.start(command)
        if command.startswith("neardup client watch ") and command.endswith(" &"):
            return self.start_watch(command)
        if command == "kill %1":
            return self.stop()
        if command == "kill %2":
            return self.stop_watch()
        done = subprocess.run(["bash", "-c", self.at_service(command)], cwd=self.folder,
                              env=self.environment, text=True, encoding="utf-8", stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.stdout.replace(self.address, SHOWN)

    def step(self, command, expected):
        """The output of the command; a file that is not there yet is made of what it should print."""
        shown = re.fullmatch(r"cat (\S+)", command)
        if shown and not (self.folder / shown[1]).exists():
            (self.folder / shown[1]).write_text(expected, encoding="utf-8")
            return expected
        printed = self.run(command)
        for _ in range(600 if self.watch and command.startswith("jq ") else 0):
            if printed == expected:
                break
            time.sleep(0.1)
            printed = self.run(command)
        return printed


def main():
    writes = "--write" in sys.argv[1:]
    command, *pages = (pathlib.Path(argument) for argument in sys.argv[1:] if argument != "--write")
    path = pages[0] if pages else ROOT / "docs/howto/service.md"
    for needed in ("curl", "jq"):
        if not shutil.which(needed):
            print(f"{path.name}: skipped, since there is no {needed}")
            return 77
    if subprocess.run([command, "serve", "--help"], capture_output=True, check=False).returncode != 0:
        print(f"{path.name}: skipped, since {command} is built without the service")
        return 77
    readme = check_readme()
    page = path.read_text(encoding="utf-8")
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        session = Session(pathlib.Path(folder), command.resolve().parent)
        try:
            for block in readme.blocks(page, "console"):
                run = [(line, expected, session.step(line, expected)) for line, expected in readme.steps(block)]
                page = page.replace(block, "".join(f"$ {line}\n{printed}" for line, _, printed in run))
                for line, expected, printed in run:
                    if printed != expected and not writes:
                        print(f"{path.name}: $ {line}\nprints\n{printed}and not\n{expected}")
                        wrong += 1
        finally:
            session.stop()
    if writes:
        path.write_text(page, encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
