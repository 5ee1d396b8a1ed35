"""Results with frames, in other processes, after a fork; and the arguments that all have in common."""

import copy
import inspect
import multiprocessing
import os
import pickle
import threading

import pytest

import neardup

TEXTS = ["one two three four five six", "seven eight nine ten", "One two three four five six!", "and eleven"]
ROWS = [{"id": i, "text": text} for i, text in enumerate(TEXTS)]


def again(value):
    return pickle.loads(pickle.dumps(value))


# ---- Frames ----


def test_masks_choose_rows_of_polars():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(ROWS)
    result = neardup.dedup(frame, id="id")
    assert frame.filter(result.kept)["id"].to_list() == [0, 1, 3]
    assert frame.lazy().filter(result.kept).collect()["id"].to_list() == [0, 1, 3]
    assert result.kept.to_polars().to_list() == list(result.kept)
    assert result.removed.to_polars()["kept_id"].to_list() == [0]
    assert result.removed["id"].to_polars().name == "id"


def test_masks_choose_rows_of_pandas():
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(ROWS, index=list("wxyz"))
    result = neardup.dedup(frame, id="id")
    assert frame[result.kept].index.tolist() == frame.loc[result.kept].index.tolist() == ["w", "x", "z"]
    assert frame["text"][result.kept].tolist() == [TEXTS[0], TEXTS[1], TEXTS[3]]
    assert frame[result.kept.to_pandas().values].shape == (3, 2)
    assert result.removed.to_pandas()["id"].tolist() == result.removed["id"].to_pandas().tolist() == [2]
    with pytest.raises(neardup.InvalidError, match="the mask has 4 rows, and the frame 2"):
        frame[:2][result.kept]


def test_masks_choose_rows_of_pyarrow():
    pa = pytest.importorskip("pyarrow")
    table = pa.Table.from_pylist(ROWS)
    result = neardup.dedup(table, id="id")
    assert table.filter(result.kept.to_arrow())["id"].to_pylist() == [0, 1, 3]
    assert result.removed.to_arrow()["id"].to_pylist() == result.removed["id"].to_arrow().to_pylist() == [2]


@pytest.mark.parametrize("kind", ["rows", "texts", "polars", "series", "pandas", "pyarrow", "duckdb", "datasets"])
@pytest.mark.parametrize("memory", [None, "64M"])
def test_survivors_as_another_frame(kind, memory):
    pa = pytest.importorskip("pyarrow")
    pl = pytest.importorskip("polars")
    pytest.importorskip("pandas")
    table = pa.Table.from_pylist(ROWS)
    if kind in ("duckdb", "datasets"):
        package = pytest.importorskip(kind)
    data = {
        "rows": lambda: ROWS,
        "texts": lambda: TEXTS,
        "polars": lambda: pl.DataFrame(ROWS),
        "series": lambda: pl.Series(TEXTS),
        "pandas": table.to_pandas,
        "pyarrow": lambda: table,
        "duckdb": lambda: package.from_arrow(table),
        "datasets": lambda: package.Dataset.from_list(ROWS),
    }[kind]()
    result = neardup.dedup(data, memory=memory)
    kept = [TEXTS[0], TEXTS[1], TEXTS[3]]
    assert result.to_arrow().column("text").to_pylist() == kept
    assert result.to_polars()["text"].to_list() == kept
    assert result.to_pandas()["text"].tolist() == kept


def test_a_result_has_as_many_rows_as_were_read():
    result = neardup.dedup(TEXTS)
    assert len(result) == len(result.kept) == 4 and bool(neardup.dedup([])) and len(neardup.dedup([])) == 0


# ---- Pickles ----


@pytest.mark.parametrize("memory", [None, "64M"])
def test_results_go_to_other_processes(memory, tmp_path):
    for make in (lambda: ROWS, lambda: iter(ROWS)):
        result = neardup.dedup(make(), id="id", memory=memory, recipe="default")
        other = again(result)
        assert other.kept == result.kept and other.removed[:] == result.removed[:]
        assert other.summary == result.summary and other.clusters == [[0, 2]] and other.recipe == result.recipe
        assert list(other.survivors) == list(again(other).survivors) == [ROWS[0], ROWS[1], ROWS[3]]
        assert repr(other) == repr(result) and other._repr_html_() == result._repr_html_()
        with pytest.raises(neardup.UnsupportedError, match="a result that was pickled writes no manifest"):
            other.write_manifest(tmp_path / "manifest")


def test_results_of_frames_go_to_other_processes():
    pl = pytest.importorskip("polars")
    pa = pytest.importorskip("pyarrow")
    duckdb = pytest.importorskip("duckdb")
    frame = pl.DataFrame(ROWS)
    for data in (frame, frame.to_arrow(), duckdb.from_arrow(frame.to_arrow())):
        other = again(neardup.dedup(data, id="id"))
        assert other.to_polars()["id"].to_list() == [0, 1, 3]
        assert other.removed.to_polars()["id"].dtype == pl.Int64
    stream = neardup.dedup(frame.to_arrow().to_reader(), id="id", memory="64M")
    assert isinstance(again(stream).survivors, pa.Table)


def test_other_results_go_to_other_processes():
    found = again(neardup.filter(TEXTS, TEXTS[:1]))
    assert found.caught == [TEXTS[0], TEXTS[2]] and found.others == [TEXTS[1], TEXTS[3]]
    collapsed = again(neardup.collapse(TEXTS))
    assert collapsed.results == [TEXTS[0], TEXTS[1], TEXTS[3]] and collapsed.duplicates == [[2], [], []]
    pairs = neardup.pairs(ROWS, id="id")
    assert again(pairs)[:] == pairs[:] and again(pairs["id_a"])[:] == [0]
    sketches = neardup.Sketcher()(TEXTS)
    assert again(sketches)[:] == sketches[:]
    deduper = neardup.Deduper()
    assert again(deduper.push(TEXTS)).survivors == [TEXTS[0], TEXTS[1], TEXTS[3]]


def test_indexes_go_to_other_processes():
    index = neardup.Index(threshold=0.7, text="body", id="id")
    for i, text in enumerate(TEXTS):
        index.add(("a", i), text)
    index.remove(("a", 0))
    other = again(index)
    assert list(other) == [("a", 1), ("a", 2), ("a", 3)]
    assert other.query(TEXTS[0]) == index.query(TEXTS[0]) != []
    other.add_batch(None, [{"id": 9, "body": "a b c d"}])
    assert 9 in other and 9 not in index and other.recipe == index.recipe
    assert list(copy.copy(index)) == list(index)


def test_indexes_of_fingerprints_go_to_other_processes(tmp_path):
    index = neardup.HammingIndex(distance=2, count=10)
    index.add([0xF0, 0xFF, 0xF0F0], [5, 6, 7])
    index.remove(0xFF, 6)
    other = again(index)
    assert other.find(0xF0) == index.find(0xF0) == [(5, 0)] and len(other) == 2 and other.distance == 2
    index.save(tmp_path / "some.index")
    assert again(neardup.HammingIndex.open(tmp_path / "some.index")).find(0xF0F0) == [(7, 0)]


# ---- Forks ----


def in_child(work):
    """The answer of a function in the child of a fork."""
    here, there = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(there, pickle.dumps(work()))
        except BaseException as error:
            os.write(there, pickle.dumps(repr(error)))
        finally:
            os._exit(0)
    os.close(there)
    with os.fdopen(here, "rb") as answer:
        said = answer.read()
    os.waitpid(child, 0)
    return pickle.loads(said)


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_an_index_goes_on_in_the_child_of_a_fork(threads):
    index = neardup.Index(threads=threads)
    index.add_batch(range(4), TEXTS)

    def work():
        found = [match.id for match in index.query(TEXTS[0])]
        index.add_batch([4, 5], ["a b c d e f g", "h i j k l m n"])
        index.remove(0)
        index.compact()
        batch = [[match.id for match in matches] for matches in index.query_batch([*TEXTS, "A B C D E F G"])]
        inner = in_child(lambda: [match.id for match in index.query("H I J K L M N")])
        return found, batch, inner, len(index)

    assert in_child(work) == ([0, 2], [[2], [1], [2], [3], [4]], [5], 5)
    assert len(index) == 4 and [match.id for match in index.query(TEXTS[0])] == [0, 2]


def test_workers_that_are_forked_use_an_index():
    index = neardup.Index()
    index.add_batch(range(4), TEXTS)
    found = []
    global ask

    def ask(text):
        return [match.id for match in index.query(text)]

    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map(ask, TEXTS)
    assert found == [[0, 2], [1], [0, 2], [3]]


def test_a_fork_while_another_thread_adds():
    index = neardup.Index()
    texts = [f"{i} " + " ".join(f"w{i * 7 + j}" for j in range(60)) for i in range(20_000)]
    thread = threading.Thread(target=lambda: index.add_batch(range(len(texts)), texts))
    thread.start()
    said = []
    while thread.is_alive():
        said.append(in_child(lambda: len(index.query("a b c d"))))
    thread.join()
    assert all(answer == 0 or "make it again in this process" in answer for answer in said)
    assert in_child(lambda: len(index.query(texts[7]))) == 1


# ---- Arguments ----

SHARED = ["recipe", "text", "id", "threshold", "shingle", "method", "short", "set", "df", "threads"]


@pytest.mark.parametrize(
    "call", [neardup.dedup, neardup.Deduper, neardup.Index, neardup.pairs, neardup.filter, neardup.collapse]
)
def test_they_take_the_same_arguments(call):
    parameters = inspect.signature(call).parameters
    assert set(SHARED) <= set(parameters)


def test_arguments_change_a_copy_of_the_recipe():
    recipe = neardup.Recipe()
    near = ["a b c d e f g h i j", "a b c d e f g h i k"]
    made = neardup.Index(recipe, threshold=0.7)
    made.add(0, near[0])
    assert [match.id for match in made.query(near[1])] == [0]
    index = neardup.Index(recipe)
    index.add(0, near[0])
    assert index.query(near[1]) == [] and recipe["threshold"] == "4/5"
    deduper = neardup.Deduper(recipe, threshold=0.7, shingle=3, method="minhash", short="keep")
    assert deduper.push(near).survivors == near[:1]
    with pytest.raises(neardup.InvalidError, match="method"):
        neardup.Index(method="nosuch")


def test_ids_of_a_column_for_an_index():
    index = neardup.Index(id="id")
    index.add_batch(None, ROWS)
    assert list(index) == [0, 1, 2, 3]
    pl = pytest.importorskip("polars")
    other = neardup.Index(id="id")
    other.add_batch(None, pl.DataFrame(ROWS))
    assert list(other) == [0, 1, 2, 3]
    with pytest.raises(TypeError, match="make the index with the name of their column"):
        neardup.Index().add_batch(None, ROWS)
