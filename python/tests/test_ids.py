"""Ids keep the type that the caller's column has."""

import datetime
import decimal
import json
import uuid

import pytest

import neardup

TEXTS = ["one two three four five six", "seven eight nine ten", "One two three four five six!"]
UUIDS = [uuid.UUID(int=i) for i in (5, 2**127, 7)]
VALUES = {
    "int": [10, 11, 12],
    "unsigned": [2**64 - 1, 1, 2**63],
    "float": [0.5, 1.25, -3.0],
    "mixed numbers": [1.5, 2, 3],
    "str": ["a", "b", "ü"],
    "bytes": [b"a", b"b", b"c"],
    "date": [datetime.date(2024, 2, day) for day in (1, 2, 29)],
    "time": [datetime.datetime(2024, 2, 1, 12, 0, 0, i) for i in (1, 2, 3)],
    "zone": [datetime.datetime(1969, 2, 1, 12, 0, i, tzinfo=datetime.UTC) for i in (1, 2, 3)],
    "decimal": [decimal.Decimal(text) for text in ("1.50", "-2", "-0.003")],
    "uuid": UUIDS,
    "none": [None, 1, None],
}


def rows_of(ids):
    return [{"id": id, "text": text} for id, text in zip(ids, TEXTS)]


@pytest.mark.parametrize("ids", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("memory", [None, "64M"])
def test_python_values(ids, memory):
    result = neardup.dedup(iter(rows_of(ids)), id="id", memory=memory)
    row = result.removed[0]
    assert [row["id"], row["kept_id"]] == [ids[2], ids[0]]
    assert type(row["id"]) is type(ids[2])
    assert result.removed["id"][:] == list(result.removed["id"]) == [ids[2]]


@pytest.mark.parametrize("ids", VALUES.values(), ids=VALUES)
def test_python_values_reach_arrow(ids):
    pa = pytest.importorskip("pyarrow")
    found = pa.table(neardup.dedup(rows_of(ids), id="id").removed)
    expected = [value.bytes if isinstance(value, uuid.UUID) else value for value in ids]
    assert found["id"].to_pylist() == [expected[2]] and found["kept_id"].to_pylist() == [expected[0]]
    if ids not in (VALUES["str"], VALUES["none"]):
        assert not pa.types.is_large_string(found["id"].type)


def test_values_of_several_types_stay_as_they_are():
    rows = [*rows_of([1, "b", "c"]), {"id": 4, "text": TEXTS[0]}]
    removed = neardup.dedup(rows, id="id").removed
    assert removed["id"][:] == ["c", 4] and removed["kept_id"][:] == [1, 1]
    pa = pytest.importorskip("pyarrow")
    assert pa.table(removed)["id"].to_pylist() == ["c", "4"]


def arrow_columns():
    pa = pytest.importorskip("pyarrow")
    numbers = [decimal.Decimal(text) for text in ("-1.50", "99.99", "0.01")]
    return {
        **{str(kind): pa.array([1, 2, 3], kind) for kind in (pa.int8(), pa.int64(), pa.uint32(), pa.float32())},
        "decimal": pa.array(numbers, pa.decimal128(20, 2)),
        "wide decimal": pa.array([decimal.Decimal(10) ** 70, None, decimal.Decimal(-3)], pa.decimal256(76, 2)),
        "rounded decimal": pa.array([decimal.Decimal(100), decimal.Decimal(0), None], pa.decimal128(5, -2)),
        "uuid": pa.array(UUIDS, pa.uuid()),
        "bytes": pa.array([id.bytes for id in UUIDS], pa.binary(16)),
        "dates": pa.array([1, None, 3], pa.date32()),
        "times": pa.array([-1, 2, 10**18 + 1], pa.timestamp("ns")),
        "zoned times": pa.array([1, 2, 3], pa.timestamp("ms", "Europe/Berlin")),
        "dictionary": pa.array(["x", "y", "x"]).dictionary_encode(),
        "string_view": pa.array(["x", "y", "a text that is longer than twelve bytes"], pa.string_view()),
    }


@pytest.mark.parametrize(
    "name",
    [
        "int8",
        "int64",
        "uint32",
        "float",
        "decimal",
        "wide decimal",
        "rounded decimal",
        "uuid",
        "bytes",
        "dates",
        "times",
        "zoned times",
        "dictionary",
        "string_view",
    ],
)
def test_arrow_columns(name):
    pa = pytest.importorskip("pyarrow")
    ids = arrow_columns()[name]
    table = pa.table({"id": ids, "text": TEXTS})
    found = pa.table(neardup.dedup(table, id="id").removed)
    assert found["id"].type == found["kept_id"].type == ids.type
    assert found["id"].to_pylist() == [ids[2].as_py()] and found["kept_id"].to_pylist() == [ids[0].as_py()]
    stream = pa.table(neardup.dedup(table.to_reader(), id="id", memory="64M").removed)
    assert stream["id"].to_pylist() == [ids[2].as_py()] and stream["kept_id"].to_pylist() == [ids[0].as_py()]
    if name != "dictionary":
        assert stream["id"].type == ids.type
    pairs = pa.table(neardup.pairs(table, id="id"))
    assert pairs["id_a"].type == ids.type and pairs["id_b"].to_pylist() == [ids[2].as_py()]


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("decimal", [0.01, -1.5]),
        ("uuid", [str(UUIDS[2]), str(UUIDS[0])]),
        ("bytes", [UUIDS[2].hex, UUIDS[0].hex]),
        ("wide decimal", [-3, 1e70]),
    ],
)
def test_the_manifest_has_them_as_text(tmp_path, name, written):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"id": arrow_columns()[name], "text": TEXTS})
    neardup.dedup(table, id="id").write_manifest(tmp_path / "manifest")
    row = json.loads((tmp_path / "manifest").read_text().splitlines()[-1])
    assert [row["removed"], row["kept"]] == written


def test_a_column_is_exported_more_than_once_and_lives_longer_than_the_table():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"id": arrow_columns()["dictionary"], "text": TEXTS})
    removed = neardup.dedup(table, id="id").removed
    first, second = pa.record_batch(removed), pa.table(removed)
    del removed, table
    assert first.column("id").to_pylist() == second["id"].to_pylist() == ["x"]


def test_rows_of_pandas_are_chosen_by_id():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"id": [1, 2, 3], "text": TEXTS})
    removed = neardup.dedup(frame, id="id").removed
    assert len(frame[~frame.id.isin(removed.to_pandas().id)]) == 2
    assert len(frame[~frame.id.isin(removed["id"])]) == 2
    assert frame.merge(pd.DataFrame(removed), on="id").shape[0] == 1


def test_rows_of_polars_are_joined_by_id():
    pl = pytest.importorskip("polars")
    for kind in (pl.UInt8, pl.Int64, pl.Float32, pl.String, pl.Date, pl.Decimal(20, 2), pl.Datetime("ms")):
        frame = pl.DataFrame({"id": [1, 2, 3], "text": TEXTS}).with_columns(pl.col("id").cast(pl.Int32).cast(kind))
        removed = pl.DataFrame(neardup.dedup(frame, id="id").removed)
        assert removed.schema["id"] == removed.schema["kept_id"] == frame.schema["id"]
        assert frame.join(removed, on="id", how="anti").height == 2
        parts = pl.concat([frame[:1], frame[1:]], rechunk=False)
        assert neardup.dedup(parts, id="id", memory="64M").removed.to_polars()["id"].equals(removed["id"])


def test_of_prototypes_and_of_a_stream():
    rows = rows_of([1, 2, 3])
    table = neardup.filter(rows, rows[:1], id="id", prototype_id="id").table
    assert [(row["id"], row["prototype_id"]) for row in table] == [(1, 1), (3, 1)]
    deduper = neardup.Deduper(id="id", threshold=0.7)
    deduper.push(rows[:2])
    row = deduper.push(rows[2:]).removed[0]
    assert (row["row"], row["kept_row"], row["id"], row["kept_id"]) == (2, 0, 3, 1)


def test_of_documents_that_were_seen(tmp_path):
    rows = rows_of([1, 2, 3])
    neardup.write_sketches(rows[:1], tmp_path / "seen.sketch", id="id")
    more = [*rows, {"id": 4, "text": TEXTS[1]}]
    removed = neardup.dedup(more, id="id", against=tmp_path / "seen.sketch").removed
    assert [(row["id"], row["kept_id"]) for row in removed] == [(1, "1"), (3, "1"), (4, 2)]
    assert "kept_id" not in neardup.dedup(more, against=tmp_path / "seen.sketch").removed.column_names


def test_names_of_columns_are_texts():
    with pytest.raises(TypeError, match="not 0.8: for a threshold write threshold=0.8"):
        neardup.dedup(TEXTS, 0.8)
    with pytest.raises(TypeError, match="the name of a column is a str, not 3"):
        neardup.dedup(rows_of([1, 2, 3]), id=3)
    with pytest.raises(TypeError, match="threshold=0.7"):
        neardup.pairs(TEXTS, 0.7)
