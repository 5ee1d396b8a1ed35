"""The programs for Ray and Airflow of docs/howto/cluster-jobs.md, run by the real packages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "cluster-jobs.md"
pytestmark = pytest.mark.skipif(
    not PAGE.is_file() or not os.environ.get("NEARDUP_NIGHTLY"),
    reason="schedulers take a minute to start: make nightly, where docs/ is",
)


def program(heading):
    """The program below a heading of the page."""
    below = PAGE.read_text().split(f"## {heading}\n")[1].split("\n## ")[0]
    return below.split("```python\n")[1].split("```")[0]


@pytest.fixture
def folder(tmp_path, records):
    """Five shards, one of them empty."""
    shards = tmp_path / "shards"
    shards.mkdir()
    for i in range(4):
        lines = [json.dumps(record) + "\n" for record in records[400 * i : 400 * (i + 1)]]
        (shards / f"{i}.jsonl").write_text("".join(lines))
    (shards / "4.jsonl").write_text("")
    return tmp_path


def check_survivors(run, folder):
    """Each shard has what one run over all shards leaves of it."""
    shards = sorted((folder / "shards").glob("*.jsonl"))
    run("dedup", "-q", *shards, "--output-dir", folder / "whole")
    for shard in shards:
        survivors = folder / "whole" / shard.relative_to("/")
        assert shard.with_name(f"{shard.name}.clean").read_bytes() == survivors.read_bytes()


def with_command(command):
    return {**os.environ, "PATH": f"{Path(command).parent}{os.pathsep}{os.environ['PATH']}"}


def test_the_program_for_ray_runs(folder, run, command):
    pytest.importorskip("ray")
    start = "import ray\nray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)\n"
    code = start + program("Ray").replace("/data/", f"{folder}/")
    subprocess.run([sys.executable, "-P", "-c", code], env=with_command(command), check=True)
    check_survivors(run, folder)


def test_the_program_for_airflow_runs(folder, run, command):
    place = os.environ.get("NEARDUP_AIRFLOW")
    if not place:
        pytest.skip("NEARDUP_AIRFLOW names no environment of Python with apache-airflow")
    dags = folder / "dags"
    dags.mkdir()
    (dags / "neardup_dag.py").write_text(program("Airflow").replace("/data/", f"{folder}/"))
    env = {
        **with_command(command),
        "AIRFLOW_HOME": str(folder / "airflow"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DAGS_FOLDER": str(dags),
    }
    for arguments in (["db", "migrate"], ["dags", "reserialize"], ["dags", "test", "neardup"]):
        subprocess.run([f"{place}/bin/airflow", *arguments], env=env, check=True, capture_output=True)
    check_survivors(run, folder)
