"""append_metadata.py - end a library with what DuckDB reads of an extension before it loads it

usage: append_metadata.py LIBRARY VERSION PLATFORM OUTPUT

The last 512 bytes of an extension are eight fields of 32 bytes, the last one first, and room for a
signature of 256 bytes, which is zero here: DuckDB calls such an extension unsigned.
"""

from __future__ import annotations

import sys
from pathlib import Path

C_API = "v1.2.0"  # the oldest that has all functions which neardup_extension.c calls
FIELDS = 8


def main() -> None:
    library, version, platform, output = sys.argv[1:]
    fields = ["4", platform, C_API, f"v{version}", "C_STRUCT"]
    fields += [""] * (FIELDS - len(fields))
    metadata = b"".join(field.encode().ljust(32, b"\0") for field in reversed(fields))
    assert len(metadata) == 256
    Path(output).write_bytes(Path(library).read_bytes() + metadata + bytes(256))


main()
