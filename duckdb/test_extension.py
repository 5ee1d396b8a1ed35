"""The extension in DuckDB: its functions, held against the definitions in plain Python."""

from __future__ import annotations

import os
import random
import re
from itertools import combinations
from pathlib import Path

import duckdb
import pytest

EXTENSION = os.environ["NEARDUP_EXTENSION"]
PAGE = Path(__file__).parents[1] / "docs" / "pipelines" / "duckdb.md"


def connect():
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    connection.execute(f"load '{EXTENSION}'")
    return connection


@pytest.fixture
def sql():
    connection = connect()
    yield lambda text, *values: connection.execute(text, values or None).fetchall()
    connection.close()


def shingles(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[i : i + 3]) for i in range(max(1, len(words) - 2))} if words else set()


def resemblance(a: str, b: str) -> float:
    a, b = shingles(a), shingles(b)
    return len(a & b) / len(a | b) if a | b else 1.0


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Texts of which many are edited copies of earlier ones."""
    chance = random.Random(3)
    words = [f"w{i}" for i in range(2000)]
    made: list[str] = []
    for _ in range(400):
        if made and chance.random() < 0.5:
            copy = chance.choice(made).split()
            for _ in range(chance.randrange(3)):
                copy[chance.randrange(len(copy))] = chance.choice(words)
            made.append(" ".join(copy))
        else:
            made.append(" ".join(chance.choices(words, k=chance.randrange(20, 80))))
    return made


def test_resemblance_is_that_of_the_sets(sql, texts):
    for a, b in [*combinations(texts[:40], 2), ("", ""), ("a", "A!"), ("a", "b"), ("", "a b c")]:
        assert sql("select resemblance(?, ?)", a, b) == [(resemblance(a, b),)]


def test_minima_estimate_it(sql, texts):
    estimates = sql(
        "select resemblance(minhash(a), minhash(b)), resemblance(a, b) from (select unnest(?) a, unnest(?) b)",
        texts[:-1], texts[1:],
    )  # fmt: skip
    assert len(estimates) == 399
    assert all(abs(estimate - exact) < 0.25 for estimate, exact in estimates)
    assert sql("select len(minhash('a b c')), minhash('A, b c') = minhash('a b c')") == [(128, True)]


def test_simhashes_of_alike_texts_differ_in_few_bits(sql):
    text = "the ship left the harbour at noon with forty men on board and nobody saw it again"
    same, other = sql(
        "select hamming(simhash($1), simhash(upper($1))), hamming(simhash($1), simhash(reverse($1)))", text
    )[0]
    assert same == 0 < other
    assert sql("select hamming(5::ubigint, 6::ubigint), hamming(0::ubigint, 18446744073709551615::ubigint)") == [
        (2, 64)
    ]
    assert sql("select hamming('abc', 'abd')") == [(1,)]  # the function of DuckDB itself is still there


def test_null_is_null(sql):
    assert sql("select simhash(null), minhash(null), resemblance(null, 'a'), hamming(null::ubigint, 1::ubigint)") == [
        (None,) * 4
    ]
    assert sql("select near_duplicates(i, t) from (values (1, 'a b'), (null, 'a b'), (2, null)) v(i, t)") == [([],)]


def table_of(texts):
    connection = connect()
    connection.execute("create table documents (id bigint, text varchar)")
    connection.executemany("insert into documents values (?, ?)", list(enumerate(texts)))
    return connection


def test_duplicates_are_those_of_a_slow_search(texts):
    """Each removed document resembles the kept one, and no kept one resembles an earlier kept one."""
    connection = table_of(texts)
    for threshold in (0.5, 0.8):
        rows = connection.execute(
            "select unnest(near_duplicates(id, text, ?::double), recursive := true) from documents", [threshold]
        ).fetchall()
        removed = {row[0] for row in rows}
        assert 50 < len(removed) < 300
        for number, kept, given in rows:
            assert kept < number and kept not in removed
            assert given == resemblance(texts[number], texts[kept]) >= threshold
        kept = [i for i in range(len(texts)) if i not in removed]
        missed = sum(resemblance(texts[a], texts[b]) >= threshold for a, b in combinations(kept, 2))
        assert missed <= len(removed) // 50


def test_neither_the_order_of_rows_nor_threads_matter(texts):
    expected = None
    for order in ("id", "-id", "hash(id)"):
        for threads in (1, 4):
            connection = connect()
            connection.execute(f"set threads = {threads}")
            connection.execute("create table documents (id bigint, text varchar)")
            connection.executemany("insert into documents values (?, ?)", list(enumerate(texts)))
            connection.execute(f"create table shuffled as from documents order by {order}")
            found = connection.execute("select near_duplicates(id, text) from shuffled").fetchall()
            expected = expected or found
            assert found == expected


def test_groups_ids_of_texts_and_recipes(sql):
    sql(
        "create table d as select i as id, 'words that stand in text ' || (i % 3) || ' and in no other' t from range(12) r(i)"
    )
    rows = sql(
        "select id % 2, list_transform(near_duplicates(id, t, 1.0), lambda x: [x.id, x.kept]) from d group by 1 order by 1"
    )
    assert rows == [(0, [[6, 0], [8, 2], [10, 4]]), (1, [[7, 1], [9, 3], [11, 5]])]
    assert sql(
        "select list_transform(near_duplicates('n' || id, t, 1.0), lambda x: x.id || x.kept) from d where id < 5"
    ) == [(["n3n0", "n4n1"],)]
    assert sql(
        "select len(near_duplicates(id, t, 'threshold = 1')), len(near_duplicates(id, t, 'short-texts')) from d"
    ) == [(9, 11)]
    for wrong, message in (
        ("2.0::double", "above 0 and at most 1"),
        ("'defualt'", "did you mean 'default'"),
        ("'threshold = x'", "threshold"),
    ):
        with pytest.raises(duckdb.Error, match=message):
            sql(f"select near_duplicates(id, t, {wrong}) from d")


def test_the_page(tmp_path, monkeypatch, texts):
    """The SQL of the page runs, and its macro takes the name of a table."""
    monkeypatch.chdir(tmp_path)
    connection = table_of(texts)
    blocks = re.findall(r"^```sql\n(.*?)^```", PAGE.read_text(), re.S | re.M)
    statements = [one for block in blocks for one in duckdb.extract_statements(block)]
    assert len(statements) > 4
    for statement in statements:
        if not statement.query.strip().lower().startswith("load"):
            connection.execute(statement)
    left = connection.execute("select count(*) from unique_documents").fetchone()[0]
    removed = connection.execute("select count(*) from near_duplicates('documents')").fetchone()[0]
    assert 0 < removed == len(texts) - left
