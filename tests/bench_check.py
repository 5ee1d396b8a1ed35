#!/usr/bin/env python3
"""bench_check.py - bench/run report has a table for every part, before and after something was measured

usage: bench_check.py
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BENCH = pathlib.Path(__file__).parents[1] / "bench"

SESSION = {
    "session": "2026-01-02T03:04:05",
    "command": "bench/run",
    "machine": {"cpus": 2, "cpu": "a processor", "features": [], "memory_gb": 4, "system": "a system"},
    "revision": "0" * 12,
}
# One record of each part whose table is made of single records; a value is whatever JSON has there.
RECORDS = {
    "plan": {
        "set": "corpus",
        "share": 4,
        "sampled": 2500000,
        "values": {
            figure: [0.25, 0.5]
            for figure in "documents removed identical_bytes identical_tokens near candidates processor_seconds "
            "seconds peak_bytes spool_bytes".split()
        },
    },
    "containment": {"set": "corpus", "measure": "cosine", "seconds": 1.25, "peak_bytes": 7e6, "candidates": 1234},
    "costs": {
        "set": "long × 4",
        "job": "neardup",
        "file_mb": 200,
        "cpu_s": [9, 3],
        "shuffled": [0, 4e6],
        "predicted": {"cpu_s": 4, "shuffled": 2e6},
    },
    "docs": {"blocks": ["a-block"], "off": []},
}
SHOWN = {
    "plan": "| corpus | 2.5 MB |",
    "containment": "| corpus | `cosine` | 1.25 | 7 | 1,234 |",
    "costs": "| long × 4 | 200 | neardup | 3.0 | 4.0 | 0.75 | 4.0 | 2.0 | 2.00 |",
    "docs": "a-block",
}


def report(build):
    """The sections of the report, by part."""
    env = {**os.environ, "NEARDUP_BENCH_BUILD": build}
    run = subprocess.run([sys.executable, BENCH / "run", "report"], env=env, check=True, capture_output=True, text=True)
    found = re.split(r"^## (.*)$", run.stdout, flags=re.M)
    return dict(zip(found[1::2], found[2::2], strict=True))


def parts():
    """The parts as bench/run lists them, read by other means than its own."""
    listed = (BENCH / "run").read_text(encoding="utf-8").split("PARTS = {")[1].split("\n}")[0]
    return re.findall(r'^    "(\w+)": \("', listed, flags=re.M)


def pictures_are_those_of_the_pages():
    """docs/rivals.svg and the table in README.md say what docs/comparison.md says."""
    sys.path.insert(0, str(BENCH))
    import report

    root = BENCH.parent
    page = (root / "docs/comparison.md").read_text(encoding="utf-8")
    drawn = "".join(line + "\n" for line in report.draw_rivals(page))
    assert drawn == (root / "docs/rivals.svg").read_text(encoding="utf-8"), "stale: bench/run report --write"
    assert drawn.count("<rect") == 1 + len(report.rivals_of(page)) > 5
    assert report.rivals_table(page) in (root / "README.md").read_text(encoding="utf-8"), report.rivals_table(page)


def main():
    if sys.version_info < (3, 11):
        print("skipped: bench/run needs Python 3.11")
        return 77
    pictures_are_those_of_the_pages()
    with tempfile.TemporaryDirectory() as build:
        sections = report(build)
        assert list(sections) == parts(), (list(sections), parts())
        for part, text in sections.items():
            assert "Nothing " in text, (part, text)
        for part, record in RECORDS.items():
            (pathlib.Path(build) / f"{part}.jsonl").write_text(json.dumps({**SESSION, **record}) + "\n", encoding="utf-8")
        sections = report(build)
        for part, shown in SHOWN.items():
            assert shown in sections[part] and "Measured on 2026-01-02" in sections[part], (part, sections[part])
    print(f"all {len(sections)} parts have a table")
    return 0


sys.exit(main())
