"""The calculator of docs/spark-costs.md."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import neardup
from neardup.spark import costs


def test_costs_grow_with_the_corpus():
    small, large = (costs.costs(n) for n in (1e8, 1e11))
    session = small.stages[0].core_hours
    assert large.stages[0].core_hours == session > 0
    assert large.shuffled == pytest.approx(1000 * small.shuffled)
    assert large.core_hours - session == pytest.approx(1000 * (small.core_hours - session))
    by_name = {stage.name: stage for stage in small.stages}
    assert by_name["sketches"].shuffled == (21 * 16 + 152) * 1e8
    assert by_name["candidates"].shuffled == pytest.approx(1e8 * 0.3 * 8 * 160)
    assert by_name["components"].shuffled == pytest.approx(1e8 * 0.3 * 2 * 16 * 10)
    assert by_name["texts"].shuffled == pytest.approx(1e8 * 0.3 * 10e3 * 0.32)
    assert by_name["decisions"].shuffled == 0


def test_few_documents_and_few_edges_are_for_one_task():
    def shuffled(documents):
        return {stage.name: stage.shuffled for stage in costs.costs(documents).stages}

    few, some = shuffled(800e3), shuffled(1e6)
    assert few["sketches"] == 152 * 800e3 and few["candidates"] == few["components"] == 0 < few["texts"]
    assert some["candidates"] > 0
    assert some["components"] == pytest.approx(1e6 * 0.3 * 2 * 16)


def test_more_cores_take_less_time_and_as_much_work():
    few, many = (costs.costs(1e9, executors=executors, cores=10) for executors in (10, 100))
    assert many.hours == pytest.approx(few.hours / 10)
    assert many.core_hours == few.core_hours


def test_it_runs_as_a_program():
    arguments = ["--documents", "8e9", "--bytes", "10e3", "--executors", "200", "--cores", "10"]
    done = subprocess.run(
        [sys.executable, "-m", "neardup.spark.costs", *arguments], capture_output=True, text=True, check=True
    )
    assert "text: 80 TB; cores: 2000\n" in done.stdout
    assert done.stdout.startswith("stage ") and "\nin all " in done.stdout


def test_it_is_what_the_command_plans(run, news):
    folder = run("plan", "-q", news, "--spark", "executors=7,cores=4,documents=1e6", "-o", "plan.json")
    plan = json.loads((folder / "plan.json").read_text())["spark"]
    names = ("bytes", "executors", "cores", "matching", "buckets", "edges", "rounds", "busy")
    found = costs.costs(1e6, **{name: plan[name] for name in names})
    assert found.disk == pytest.approx(plan["disk_bytes"])
    for stage, planned in zip(found.stages, plan["stages"], strict=True):
        assert stage.name == planned["name"]
        assert stage.shuffled == pytest.approx(planned["shuffled_bytes"])
        assert stage.hours * 3600 == pytest.approx(planned["seconds"])


def test_what_makes_no_sense_is_refused(capsys):
    with pytest.raises(SystemExit):
        costs.main(["--documents", "0"])
    assert "documents is not a number above 0" in capsys.readouterr().err
    with pytest.raises(neardup.InvalidError, match="matching is not a number above 0 and at most 1"):
        costs.costs(1e6, matching=1.5)
    with pytest.raises(neardup.InvalidError, match="does not have the form executors=N"):
        costs.costs(1e6, cors=5)
