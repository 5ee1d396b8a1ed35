"""The costs of deduplication on Spark: ``python -m neardup.spark.costs --documents 8e9 --bytes 10e3``.

The formulae and the sources of the coefficients are in docs/spark-costs.md.  They are those of
``neardup plan --spark``, which takes the corpus from a sample of files.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass

from .. import _native

# Packed fingerprints a second and core that pass a batch of queries, and the same as rows.
BLOCK_RATE = 7e6
ROW_RATE = 1.4e6

_DEFAULTS = {"bytes": 10e3, "executors": 1000.0}


@dataclass(frozen=True)
class Stage:
    """A stage of the job.

    Parameters
    ----------
    name : str
        What it makes.
    shuffled : float
        Bytes that it writes to its shuffle.
    core_hours, hours : float
        Processor hours, and the hours that it takes.
    memory : float
        Bytes of memory of the Python process of each core.
    """

    name: str
    shuffled: float
    core_hours: float
    hours: float
    memory: float


@dataclass(frozen=True)
class Costs:
    """The costs of a job.

    Parameters
    ----------
    job : dict
        The corpus and the cluster: what was given, and the defaults.
    stages : list of Stage
        The stages in their order.
    disk : float
        Bytes of local disk that all executors need at once.
    """

    job: dict[str, float]
    stages: list[Stage]
    disk: float

    @property
    def shuffled(self) -> float:
        """All bytes that are shuffled."""
        return sum(stage.shuffled for stage in self.stages)

    @property
    def core_hours(self) -> float:
        """All processor hours."""
        return sum(stage.core_hours for stage in self.stages)

    @property
    def hours(self) -> float:
        """The hours of all stages."""
        return sum(stage.hours for stage in self.stages)

    @property
    def cores(self) -> float:
        """The cores of all executors."""
        return self.job["executors"] * self.job["cores"]


def costs(documents: float, **job: float) -> Costs:
    """Predict the costs of the deduplication of a corpus.

    Parameters
    ----------
    documents : float
        How many documents there are.
    **job
        What docs/spark-costs.md explains: ``bytes`` of text of a document (default: 10,000),
        ``executors`` (1,000), ``cores`` of each (1), ``matching``, ``buckets``, ``edges``, ``rounds``
        and ``busy``.

    Returns
    -------
    Costs
        Bytes, hours, memory and disk.

    Raises
    ------
    InvalidError
        A value is not above 0, or has no such name.

    Examples
    --------
    >>> round(costs(8e9).stages[1].shuffled / 1e12, 1)
    3.9
    """
    given = {"documents": documents, **_DEFAULTS, **job}
    whole, disk, stages = _native.spark_predict(",".join(f"{name}={value!r}" for name, value in given.items()))
    made = [
        Stage(name, shuffled, processor / 3600, seconds / 3600, memory)
        for name, shuffled, processor, seconds, memory in stages
    ]
    return Costs(whole, made, disk)


def join_hours(fingerprints: float, cores: float, packed: bool) -> float:
    """The hours in which fingerprints pass a batch of queries.

    Parameters
    ----------
    fingerprints : float
        How many there are.
    cores : float
        Cores of all executors.
    packed : bool
        Whether they are packed blocks.

    Returns
    -------
    float
        Hours.

    Examples
    --------
    >>> join_hours(8e9, 100, packed=False) > join_hours(8e9, 100, packed=True)
    True
    """
    return fingerprints / (BLOCK_RATE if packed else ROW_RATE) / cores / 3600


def _size(n: float) -> str:
    """Bytes with a decimal unit."""
    power = min(max(int(math.log10(n)) // 3, 0), 5) if n >= 1 else 0
    return f"{n / 1000**power:.3g} {['B', 'kB', 'MB', 'GB', 'TB', 'PB'][power]}"


def _time(hours: float) -> str:
    if hours < 1 / 60:
        return f"{hours * 3600:.2g} s"
    return f"{hours * 60:.3g} min" if hours < 2 else f"{hours:.3g} h"


def report(found: Costs) -> str:
    """The costs as lines of text.

    Parameters
    ----------
    found : Costs
        What :func:`costs` gave.

    Returns
    -------
    str
        A line for each stage, and for what all take.
    """
    text = found.job["documents"] * found.job["bytes"]
    memory = max(stage.memory for stage in found.stages)
    whole = Stage("in all", found.shuffled, found.core_hours, found.hours, memory)
    lines = [f"{'stage':12} {'shuffled':>10} {'of text':>8} {'core hours':>11} {'time':>9} {'memory':>9}"]
    lines += [
        f"{s.name:12} {_size(s.shuffled):>10} {s.shuffled / text:8.3f} {s.core_hours:11,.1f} {_time(s.hours):>9} "
        f"{_size(s.memory):>9}"
        for s in [*found.stages, whole]
    ]
    lines += [
        f"text: {_size(text)}; cores: {found.cores:g}",
        f"local disk of each core: {_size(found.disk / found.cores)}",
        f"fingerprints past queries, packed: {_time(join_hours(found.job['documents'], found.cores, True))}",
    ]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Print the costs of the job that the arguments describe.

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
    for name, default in costs(1).job.items():
        value = {"required": True} if name == "documents" else {"default": default}
        parser.add_argument(f"--{name}", type=float, **value)
    try:
        print(report(costs(**vars(parser.parse_args(arguments)))))
    except _native.InvalidError as error:
        parser.error(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
