"""DuckDB: functions of SQL, and relations."""

from __future__ import annotations

import pytest

import neardup

duckdb = pytest.importorskip("duckdb")
pyarrow = pytest.importorskip("pyarrow")

import neardup.duckdb


@pytest.fixture
def connection(records):
    connection = duckdb.connect()
    connection.register("rows", pyarrow.Table.from_pylist([{"n": i, **row} for i, row in enumerate(records)]))
    connection.sql("create table documents as from rows")
    return connection


def test_functions_are_those_of_the_sketcher(connection, records):
    neardup.duckdb.register(connection)
    sql = "select neardup_simhash(text), neardup_identity(text), neardup_minima(text) from documents order by n"
    found = connection.sql(sql).fetchall()
    table = neardup.Sketcher()(records)
    assert [row[0] for row in found] == table["simhash"][:]
    assert [row[1] for row in found] == table["identity"][:]
    assert [list(row[2]) for row in found] == table["minima"][:]


def test_a_recipe_and_the_default_connection(records):
    recipe = neardup.Recipe(shingle=2)
    neardup.duckdb.register(recipe=recipe)
    try:
        found = duckdb.sql("select neardup_simhash('one two three four')").fetchall()[0][0]
        assert found == neardup.Sketcher(recipe)(["one two three four"])["simhash"][0]
    finally:
        for name in ("simhash", "identity", "minima"):
            duckdb.remove_function(f"neardup_{name}")


def test_null_is_null_and_nothing_is_nothing(connection):
    neardup.duckdb.register(connection)
    assert connection.sql("select neardup_simhash(null::varchar)").fetchall() == [(None,)]
    sql = "select neardup_identity(t) is null from (values ('a b'), (null), ('c')) as v(t)"
    assert connection.sql(sql).fetchall() == [(False,), (True,), (False,)]
    assert connection.sql("select neardup_minima(text) from documents where n < 0").fetchall() == []


def test_equal_identities_are_equal_words(connection, records):
    neardup.duckdb.register(connection)
    sql = "select min(n) from documents group by neardup_identity(text) order by 1"
    kept = neardup.dedup(records, method="identical", short="tokens").kept
    # A text without tokens is compared by its bytes.
    with_tokens = [i for i, row in enumerate(records) if kept[i] and row["text"]]
    found = [n for (n,) in connection.sql(sql).fetchall() if records[n]["text"]]
    assert found == with_tokens


def test_relations_of_any_connection(connection, records):
    result = neardup.dedup(connection.sql("from documents order by n"), id="n")
    expected = neardup.dedup(records)
    assert list(result.kept) == list(expected.kept)
    connection.register("removed", pyarrow.table(result.removed))
    sql = "select count(*) from documents where n not in (select id::bigint from removed)"
    assert connection.sql(sql).fetchall() == [(sum(expected.kept),)]
