"""One session of Spark for all tests of a run: tools/test-spark.sh runs one for each master.

A test runs on ``local[2]``, one marked ``cluster`` on a cluster of processes, one marked ``both`` on
both.  All traffic stays on the loopback interface.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path

import pytest

MASTER = os.environ.get("NEARDUP_SPARK_MASTER", "local[2]")


def _missing() -> str | None:
    for module in ("pyspark", "pyarrow", "pandas"):
        if not importlib.util.find_spec(module):
            return f"Spark needs {module}: tools/test-spark.sh installs it"
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        return "Spark needs Java 17, and there is none"
    return None


def pytest_configure(config):
    config.addinivalue_line("markers", "cluster: needs executors that are processes of their own")
    config.addinivalue_line("markers", "both: runs on local threads and on a cluster of processes")


def pytest_collection_modifyitems(config, items):
    here = [item for item in items if Path(__file__).parent in item.path.parents]
    if missing := _missing():
        for item in here:
            item.add_marker(pytest.mark.skip(reason=missing))
        return
    wanted = "cluster" if MASTER.startswith("local-cluster") else "local"
    for item in here:
        runs_on = {"local"} if not item.get_closest_marker("cluster") else {"cluster"}
        if item.get_closest_marker("both"):
            runs_on = {"local", "cluster"}
        if wanted not in runs_on:
            items.remove(item)
            config.hook.pytest_deselected(items=[item])


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """The session; it is stopped, and its Java process ended, after the last test."""
    from pyspark.sql import SparkSession

    folder = tmp_path_factory.mktemp("spark")
    os.environ.update(
        PYSPARK_PYTHON=sys.executable,
        PYSPARK_DRIVER_PYTHON=sys.executable,
        SPARK_LOCAL_IP="127.0.0.1",
        SPARK_WORKER_DIR=str(folder / "work"),
    )
    if command := os.environ.get("NEARDUP"):  # executors look for it in PATH
        (folder / "bin").mkdir()
        (folder / "bin" / "neardup").symlink_to(Path(command).resolve())
        os.environ["PATH"] = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    # Short jobs: the compiler of the Java machine does not pay.
    java = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": java,
        "spark.executor.memory": "1g",
        "spark.executor.extraJavaOptions": java,
        "spark.io.compression.codec": "zstd",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
    }
    builder = SparkSession.builder.master(MASTER).appName("neardup-tests")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    gateway = session.sparkContext._gateway
    try:
        yield session
    finally:
        session.stop()
        gateway.shutdown()
        # It ends at the end of its input.
        gateway.proc.stdin.close()
        gateway.proc.wait(timeout=60)


@pytest.fixture
def lose_an_executor(spark, tmp_path):
    """A function for mapInArrow that ends the executor under it once, after it has passed rows on."""
    flag = str(tmp_path / "lost")

    # A function within a function goes to the executors by value: they do not have this module.
    def through(batches):
        import os
        import signal

        for batch in batches:
            yield batch.slice(0, 1)
            try:
                os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                yield batch.slice(1)
                continue
            process = os.getpid()
            while True:
                with open(f"/proc/{process}/cmdline", encoding="utf-8") as f:
                    if "CoarseGrainedExecutorBackend" in f.read():
                        os.kill(process, signal.SIGKILL)
                with open(f"/proc/{process}/stat", encoding="utf-8") as f:
                    process = int(f.read().rpartition(")")[2].split()[1])

    yield through
    assert (tmp_path / "lost").exists(), "no executor was lost"
