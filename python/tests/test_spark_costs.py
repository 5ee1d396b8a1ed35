"""The calculator of docs/spark-costs.md."""

from __future__ import annotations

import subprocess
import sys

import pytest

from neardup.spark import costs


def test_costs_grow_with_the_corpus():
    small, large = (costs.costs(costs.Corpus(n)) for n in (1e6, 1e9))
    assert large.shuffled == pytest.approx(1000 * small.shuffled)
    assert large.core_hours == pytest.approx(1000 * small.core_hours)
    assert small.shuffled == small.bands + small.documents + small.rows + small.rounds + small.texts
    assert small.documents == 152 * 1e6


def test_more_cores_take_less_time_and_as_much_work():
    few, many = (costs.costs(costs.Corpus(1e9, cores=cores)) for cores in (100, 1000))
    assert many.hours == pytest.approx(few.hours / 10)
    assert many.core_hours == few.core_hours


def test_it_runs_as_a_program():
    arguments = ["--documents", "8e9", "--bytes", "10e3", "--cores", "2000"]
    done = subprocess.run(
        [sys.executable, "-m", "neardup.spark.costs", *arguments], capture_output=True, text=True, check=True
    )
    assert "text                               80 TB" in done.stdout
    assert "hours on 2000 cores" in done.stdout


def test_what_makes_no_sense_is_refused(capsys):
    with pytest.raises(SystemExit):
        costs.main(["--documents", "0"])
    assert "--documents must be above 0" in capsys.readouterr().err
