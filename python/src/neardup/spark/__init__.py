"""Near-duplicates of Spark DataFrames: the same answers as on one machine.

The functions need PySpark 4, pyarrow and pandas, on the driver and on every executor, and neardup on
every executor too.  Importing this module needs none of them: the first call says what is missing.
"""

from ._dedup import Deduplicated, dedup
from ._dedup_files import FilesDeduplicated, dedup_files
from ._files import read_sketches, write_sketches
from ._join import join_fingerprints, pack_fingerprints
from ._pairs import pairs
from ._sketch import sketch

__all__ = [
    "Deduplicated",
    "FilesDeduplicated",
    "dedup",
    "dedup_files",
    "join_fingerprints",
    "pack_fingerprints",
    "pairs",
    "read_sketches",
    "sketch",
    "write_sketches",
]
