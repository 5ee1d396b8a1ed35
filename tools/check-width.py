#!/usr/bin/env python3
# check-width.py - lines of Markdown end by column 100; tables, headings, code and addresses may not
"""usage: tools/check-width.py"""
import pathlib
import re
import subprocess
import sys

WIDTH = 100
root = pathlib.Path(__file__).resolve().parent.parent
listed = subprocess.run([root / "tools/list-files.sh", "*.md"], capture_output=True, text=True, check=True)
failed = 0
for name in listed.stdout.splitlines():
    in_code = False
    for number, line in enumerate((root / name).read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        if in_code or re.match(r"\||#|    \S", line.lstrip(" ") if line.lstrip().startswith("|") else line):
            continue
        without = re.sub(r"\]\([^)]*\)|<?https?://\S+", "", line)
        if len(without) > WIDTH:
            print(f"{name}:{number}: {len(line)} columns", file=sys.stderr)
            failed = 1
sys.exit(failed)
