#!/usr/bin/env python3
"""make_site.py - build the documentation site from the pages and sources of the tree

usage: make_site.py COMMAND FOLDER [WORK_FOLDER]

FOLDER becomes the site.  COMMAND is the neardup whose help is shown.  It runs in an environment
with what tools/site/requirements.txt lists, and with the Python package (tools/make-site.sh).
Every warning is an error.
"""
import pathlib
import shutil
import subprocess
import sys

import c_reference
import command_reference
import pages
import python_reference


def main():
    command, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    work = pathlib.Path(sys.argv[3]).resolve()
    shutil.rmtree(work / "source", ignore_errors=True)
    shutil.rmtree(work / "doctrees", ignore_errors=True)  # what changed in names of C is not seen in old ones
    shutil.rmtree(folder, ignore_errors=True)
    stage = pages.Stage(work / "source")
    print(f"{c_reference.write_pages(stage)} declarations of C")
    command_reference.write_pages(stage, str(command))
    python_reference.write_pages(stage)
    stage.copy_pages()
    for page in stage.arrange():
        print(f"docs/site/nav.txt does not name {page}; it stands at the end")
    build = subprocess.run([sys.executable, "-m", "sphinx", "-b", "html", "-c", str(pathlib.Path(__file__).parent),
                            "-d", str(work / "doctrees"), "-j", "2", "-q", "-W", "--keep-going",
                            str(stage.folder), str(folder)], check=False)
    (folder / ".buildinfo").unlink(missing_ok=True)
    return build.returncode


if __name__ == "__main__":
    sys.exit(main())
