"""Find near-duplicate documents, and show why each one is removed.

>>> import neardup
>>> texts = ["one two three four five six", "seven eight nine ten", "One two three four five six!"]
>>> result = neardup.dedup(texts)
>>> result.survivors
['one two three four five six', 'seven eight nine ten']
>>> result.removed[0]["kept_row"]
0
"""

from ._bounded import BoundedResult
from ._client import Client, Cluster, Evidence, Nearest, ServiceError, Stored, Verdict, Version
from ._compare import Comparison, Explanation, Features, compare, explain
from ._dedup import Deduper, Result, dedup
from ._df import DocumentFrequencies
from ._frames import Mask
from ._hamming import HammingBatch, HammingIndex, hamming_pairs
from ._live import Index, Match
from ._native import Error, InvalidError, UnsupportedError, canonical_url, unicode_version, version
from ._pairs import pairs
from ._recipe import Recipe, shipped_recipes
from ._repeats import Repeats, repeats
from ._run import FilesResult, dedup_files
from ._sketch import Sketcher
from ._sketch_file import Sketches, read_sketches, write_sketches
from ._table import Column, Table
from ._tokens import text_of_tokens, tokens_of_text
from ._uses import Collapsed, Filtered, collapse, filter

__version__ = version()

__all__ = [
    "BoundedResult",
    "Client",
    "Cluster",
    "Collapsed",
    "Column",
    "Comparison",
    "Deduper",
    "DocumentFrequencies",
    "Error",
    "Evidence",
    "Explanation",
    "Features",
    "FilesResult",
    "Filtered",
    "HammingBatch",
    "HammingIndex",
    "Index",
    "InvalidError",
    "Mask",
    "Match",
    "Nearest",
    "Recipe",
    "Repeats",
    "Result",
    "ServiceError",
    "Sketcher",
    "Sketches",
    "Stored",
    "Table",
    "UnsupportedError",
    "Verdict",
    "Version",
    "canonical_url",
    "collapse",
    "compare",
    "dedup",
    "dedup_files",
    "explain",
    "filter",
    "hamming_pairs",
    "pairs",
    "read_sketches",
    "repeats",
    "shipped_recipes",
    "text_of_tokens",
    "tokens_of_text",
    "unicode_version",
    "version",
    "write_sketches",
]
