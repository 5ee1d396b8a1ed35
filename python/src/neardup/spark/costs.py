"""What deduplication of a corpus costs on Spark: ``python -m neardup.spark.costs --documents 8e9 --bytes 10e3``.

The formulae and the sources of the constants are in docs/spark-costs.md.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass, fields

# Of the core's definition: no measurement changes them.
BANDS = 21
BAND_BYTES = 16
NODE_BYTES = 8
ROW_BYTES = 152  # of a document: its node, counts and 128 low bytes


@dataclass(frozen=True)
class Constants:
    """What was measured: docs/spark-costs.md says how.

    Parameters
    ----------
    document_us : float
        Processor microseconds of a document, whatever its length.
    byte_ns : float
        Processor nanoseconds of a byte of text.
    compressed : float
        Bytes that a byte of text takes in a shuffle, under zstd.
    block_rate : float
        Packed fingerprints a second and core that pass a batch of queries.
    row_rate : float
        The same as rows.
    """

    document_us: float = 300.0
    byte_ns: float = 12.0
    compressed: float = 0.43
    block_rate: float = 7e6
    row_rate: float = 1.4e6


@dataclass(frozen=True)
class Corpus:
    """What the corpus and the cluster are.

    Parameters
    ----------
    documents : float
        How many documents there are.
    bytes : float
        Bytes of text of a document, on average.
    cores : float
        Cores of all executors.
    in_components : float
        The fraction of the documents that could match another: the texts of these are shuffled.
    shared : float
        Buckets that such a document shares with others, on average.
    edges : float
        Edges of such a document, on average.
    rounds : float
        Rounds until the components are found.
    busy : float
        The fraction of the time in which a core works.
    """

    documents: float
    bytes: float = 10e3
    cores: float = 1000
    in_components: float = 0.3
    shared: float = 8
    edges: float = 2
    rounds: float = 10
    busy: float = 0.7


@dataclass(frozen=True)
class Costs:
    """What a run takes; bytes are those that a shuffle writes.

    Parameters
    ----------
    bands, documents, rows, rounds, texts : float
        Bytes shuffled: of the band keys, of a row for each document, of the rows of shared buckets, of
        all rounds of the components, of the texts that are compared.
    core_hours, hours : float
        Processor hours, and the hours of the run.
    disk : float
        Bytes of local disk that the executors need at once.
    """

    bands: float
    documents: float
    rows: float
    rounds: float
    texts: float
    core_hours: float
    hours: float
    disk: float

    @property
    def shuffled(self) -> float:
        """All bytes that are shuffled."""
        return self.bands + self.documents + self.rows + self.rounds + self.texts


def costs(corpus: Corpus, constants: Constants | None = None) -> Costs:
    """What deduplication of a corpus costs.

    Parameters
    ----------
    corpus : Corpus
        The corpus and the cluster.
    constants : Constants, optional
        What was measured (default: as docs/spark-costs.md has it).

    Returns
    -------
    Costs
        Bytes, hours and disk.

    Examples
    --------
    >>> round(costs(Corpus(8e9)).bands / 1e12, 1)
    2.7
    """
    c = constants or Constants()
    found = corpus.documents * corpus.in_components
    bands = corpus.documents * BANDS * BAND_BYTES
    documents = corpus.documents * ROW_BYTES
    rows = found * corpus.shared * (ROW_BYTES + NODE_BYTES)
    rounds = found * corpus.edges * 2 * NODE_BYTES * corpus.rounds
    texts = found * corpus.bytes * c.compressed
    seconds = corpus.documents * (c.document_us * 1e-6 + corpus.bytes * c.byte_ns * 1e-9)
    # Spark removes the files of a shuffle when nothing needs them: the bands end before the texts begin.
    disk = max(bands + documents + rows, rows + texts)
    return Costs(
        bands, documents, rows, rounds, texts, seconds / 3600, seconds / 3600 / corpus.cores / corpus.busy, disk
    )


def join_hours(fingerprints: float, cores: float, packed: bool, constants: Constants | None = None) -> float:
    """The hours in which fingerprints pass a batch of queries.

    Parameters
    ----------
    fingerprints : float
        How many there are.
    cores : float
        Cores of all executors.
    packed : bool
        Whether they are packed blocks.
    constants : Constants, optional
        What was measured.

    Returns
    -------
    float
        Hours.

    Examples
    --------
    >>> join_hours(8e9, 100, packed=False) > join_hours(8e9, 100, packed=True)
    True
    """
    c = constants or Constants()
    return fingerprints / (c.block_rate if packed else c.row_rate) / cores / 3600


def _size(n: float) -> str:
    """Bytes with a decimal unit."""
    power = min(max(int(math.log10(n)) // 3, 0), 5) if n >= 1 else 0
    return f"{n / 1000**power:.3g} {['B', 'kB', 'MB', 'GB', 'TB', 'PB'][power]}"


def _time(hours: float) -> str:
    if hours < 1 / 60:
        return f"{hours * 3600:.2g} s"
    return f"{hours * 60:.3g} min" if hours < 2 else f"{hours:.3g} h"


def report(corpus: Corpus) -> str:
    """The costs as lines of text.

    Parameters
    ----------
    corpus : Corpus
        The corpus and the cluster.

    Returns
    -------
    str
        A line for each cost.
    """
    c = costs(corpus)
    rows = [
        ("text", _size(corpus.documents * corpus.bytes)),
        ("shuffled: band keys", _size(c.bands)),
        ("shuffled: a row for each document", _size(c.documents)),
        ("shuffled: rows of shared buckets", _size(c.rows)),
        ("shuffled: rounds of components", _size(c.rounds)),
        ("shuffled: texts that are compared", _size(c.texts)),
        ("shuffled, in all", f"{_size(c.shuffled)}, {c.shuffled / (corpus.documents * corpus.bytes):.2f} of the text"),
        ("processor hours", f"{c.core_hours:,.0f}"),
        (f"hours on {corpus.cores:g} cores", _time(c.hours)),
        ("local disk of all executors", _size(c.disk)),
        ("the same for each core", _size(c.disk / corpus.cores)),
        ("fingerprints past queries, packed", _time(join_hours(corpus.documents, corpus.cores, True))),
    ]
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:{width}}  {value}" for name, value in rows)


def main(arguments: list[str] | None = None) -> int:
    """Print the costs of the corpus that the arguments describe.

    Parameters
    ----------
    arguments : list of str, optional
        The arguments of the command line.

    Returns
    -------
    int
        The status of the process.
    """
    parser = argparse.ArgumentParser(prog="python -m neardup.spark.costs", description=__doc__)
    for field in fields(Corpus):
        default = {} if field.name == "documents" else {"default": field.default}
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=float, required=not default, **default)  # type: ignore[arg-type]
    given = vars(parser.parse_args(arguments))
    if bad := [name for name, value in given.items() if not value > 0]:
        parser.error(f"--{bad[0].replace('_', '-')} must be above 0")
    print(report(Corpus(**given)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
