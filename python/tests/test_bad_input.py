"""Wrong data is refused by a message, or treated by a rule: the table in README.md."""

from __future__ import annotations

import pytest

import neardup

LIMIT = 1 << 30


def test_a_missing_column_names_those_that_there_are():
    with pytest.raises(neardup.InvalidError, match=r"there is no column 'body'; there are \['id', 'text'\]"):
        neardup.dedup([{"id": 1, "text": "a b c"}], "body")
    with pytest.raises(neardup.InvalidError, match="there is no column 'text'"):
        neardup.Deduper().push([{"body": "a b c"}])
    with pytest.raises(neardup.InvalidError, match="there is no column 'text'"):
        neardup.Index().query_batch([{"body": "a b c"}])
    with pytest.raises(neardup.InvalidError, match="there is no column 'text'"):
        neardup.Sketcher()([{"body": "a b c"}])


def test_a_text_above_the_limit_is_named():
    # Never written, so it takes no memory.
    too_long = bytes(LIMIT + 1)
    for work in (
        lambda: neardup.dedup(["a b c", too_long]),
        lambda: neardup.Deduper().push(["a b c", too_long]),
        lambda: neardup.Sketcher()(["a b c", too_long]),
        lambda: neardup.Index().add_batch([1, 2], ["a b c", too_long]),
    ):
        with pytest.raises(neardup.InvalidError, match="row 1: the text is longer than 1 GiB"):
            work()


def test_a_text_above_the_limit_in_a_frame_is_named():
    pa = pytest.importorskip("pyarrow")
    offsets = pa.array([0, 5, LIMIT + 6], pa.int64()).buffers()[1]
    column = pa.Array.from_buffers(pa.large_binary(), 2, [None, offsets, pa.py_buffer(bytes(LIMIT + 6))])
    with pytest.raises(neardup.InvalidError, match="row 1: the text is longer than 1 GiB"):
        neardup.dedup(column)


def test_ids_that_come_twice_are_told_apart_by_rows():
    rows = [{"id": "x", "text": text} for text in ("a b c d", "e f g h", "a b c d")]
    result = neardup.dedup(rows, id="id")
    assert [(row["id"], row["kept_id"], row["row"], row["kept_row"]) for row in result.removed] == [("x", "x", 2, 0)]
    assert result.survivors == rows[:2]


def test_rows_that_change_while_they_are_read_stay_as_they_were():
    rows = [{"text": f"a b c {i % 3}"} for i in range(9000)]
    wanted = neardup.dedup([dict(row) for row in rows]).kept

    def change(done, all):
        rows.clear()

    result = neardup.dedup(rows, progress=change)
    assert rows == [] and result.kept == wanted and len(result.survivors) == 3

    def growing():
        taken = ["one two three"]
        for text in taken:
            if len(taken) < 5000:
                taken.append(text)
            yield text

    assert len(neardup.dedup(growing()).kept) == 5000


def test_a_frame_that_has_other_rows_is_refused():
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"text": ["one two three", "four five six"] * 3})

    def change(done, all):
        frame.loc[99] = ["seven eight nine"]

    result = neardup.dedup(frame, progress=change)
    assert list(result.kept) == [True, True, False, False, False, False]
    with pytest.raises(neardup.InvalidError, match="the frame has changed: 6 rows were read, and now there are 7"):
        _ = result.survivors


def test_what_a_source_raises_comes_through():
    def rows(error):
        yield {"text": "one two three"}
        raise error

    for error in (KeyError("gone"), KeyboardInterrupt(), MemoryError()):
        for work in (
            neardup.dedup,
            neardup.Deduper().push,
            neardup.Sketcher(),
            neardup.Index().query_batch,
            lambda data: neardup.Index().add_batch([1], data),
        ):
            with pytest.raises(type(error)):
                work(rows(error))
    pa = pytest.importorskip("pyarrow")

    def batches():
        yield pa.record_batch({"text": ["one two three"]})
        raise OSError("the disk is gone")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"text": pa.string()}), batches())
    with pytest.raises(OSError, match="the disk is gone"):
        neardup.dedup(reader)


def test_a_batch_that_was_refused_leaves_a_stream_as_it_was():
    deduper = neardup.Deduper()
    deduper.push(["one two three four"])
    for wrong in ([3], [{"body": "x"}], ["\ud800"], 5):
        with pytest.raises((TypeError, ValueError)):
            deduper.push(wrong)
    assert [row["row"] for row in deduper.push(["One two three four"]).removed] == [1]


def test_no_rows_are_a_result_of_the_same_kind():
    pa = pytest.importorskip("pyarrow")
    empty = pa.table({"id": pa.array([], pa.int32()), "text": pa.array([], pa.string())})
    result = neardup.dedup(empty, id="id")
    assert result.survivors.schema == empty.schema and len(result.removed) == 0 and result.clusters == []
    polars = pytest.importorskip("polars")
    assert neardup.dedup(polars.DataFrame(schema={"text": polars.String})).survivors.columns == ["text"]
