"""The parts of Spark that every function needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _native

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# The packages that pip installs; tools/test-spark.sh takes them, too.
NEEDED = "'pyspark>=4,<5' pyarrow pandas"


def need_spark() -> None:
    """Raise a clear ImportError where something that Spark needs is missing."""
    for module in ("pyspark", "pyarrow", "pandas"):
        try:
            __import__(module)
        except ImportError as error:
            raise ImportError(f"neardup.spark needs {module}: pip install {NEEDED}; Spark needs Java 17") from error
    import pyspark

    if int(pyspark.__version__.partition(".")[0]) < 4:
        raise ImportError(f"neardup.spark needs PySpark 4, not {pyspark.__version__}: pip install {NEEDED}")


def is_classic(spark: SparkSession) -> bool:
    """Whether a session is one of Java in this process, and not a client of Spark Connect."""
    return not type(spark).__module__.startswith("pyspark.sql.connect")


def need_classic(spark: SparkSession, function: str) -> None:
    """Raise UnsupportedError by Spark Connect, for a function that sends the same to every executor."""
    if not is_classic(spark):
        raise _native.UnsupportedError(
            f"{function} needs a classic session: Spark Connect has no broadcast variables for Python"
        )


def cores_of(spark: SparkSession) -> int:
    """How many tasks run at once; Spark Connect does not tell, so that its setting or 4 counts."""
    if is_classic(spark):
        return int(spark.sparkContext.defaultParallelism)
    return int(spark.conf.get("spark.default.parallelism", "4") or 4)


def need_column(df: DataFrame, name: str, kinds: tuple[str, ...] = (), what: str = "") -> str:
    """The type of a column, as Spark spells it.

    Raises
    ------
    InvalidError
        There is no such column, or it holds none of the `kinds`, which are called `what`; none: any
        will do.
    """
    if name not in df.columns:
        raise _native.InvalidError(f"there is no column '{name}'; there are {df.columns}")
    kind: str = df.schema[name].dataType.simpleString()
    if kinds and kind.partition("(")[0].partition(" ")[0] not in kinds:
        raise _native.InvalidError(f"column '{name}' holds {kind}, not {what}")
    return kind


def need_text(df: DataFrame, name: str) -> str:
    """The type of a column of texts: string or binary."""
    return need_column(df, name, ("string", "char", "varchar", "binary"), "text")
