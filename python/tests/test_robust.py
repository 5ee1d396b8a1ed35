"""Nothing that Python code can pass may crash the interpreter.

The functions of the extension module are found by themselves, with their types in `_native.pyi`: a new
one is called with everything that is here.  `tools/test-python-asan.sh` runs this under the address and
undefined-behaviour sanitizers; by itself a test fails on a SystemError, or by taking pytest with it.
"""

from __future__ import annotations

import ast
import ctypes
import inspect
import os
import threading
import time
import types
from array import array
from pathlib import Path
from typing import Any

import pytest

import neardup
from neardup import _native

hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies

EXAMPLES = int(os.environ.get("NEARDUP_EXAMPLES", "200" if os.environ.get("NEARDUP_NIGHTLY") else "3"))
usual = hypothesis.settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)


class Stop(Exception):
    """The error that hostile objects raise."""


REFUSALS = (
    ArithmeticError,
    AttributeError,
    BufferError,
    KeyboardInterrupt,
    LookupError,
    MemoryError,
    NotImplementedError,
    OSError,
    RuntimeError,
    Stop,
    TypeError,
    ValueError,
    neardup.Error,
)


def attempt(function: Any, *args: Any, **named: Any) -> Any:
    """Call a function; it may refuse, but not by a SystemError, which stands for a mistake in C."""
    try:
        return function(*args, **named)
    except REFUSALS:
        return None


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Names that are drawn are not those of files of ours."""
    monkeypatch.chdir(tmp_path)


# ---- What functions are called with ----


class Hostile:
    """Every question to it raises."""

    def _stop(self, *args: Any) -> Any:
        raise Stop

    __iter__ = __len__ = __index__ = __int__ = __float__ = __getitem__ = __fspath__ = __bool__ = __call__ = _stop
    __arrow_c_stream__ = __arrow_c_array__ = __array__ = __buffer__ = _stop
    __hash__ = None  # type: ignore[assignment]


class Elusive:
    """Asking for any attribute raises."""

    def __getattr__(self, name: str) -> Any:
        raise Stop


class Text(str):
    """A text that is a class of its own."""


class Shrinking(list):
    """It becomes shorter while it is read."""

    def __iter__(self) -> Any:
        while self:
            yield self.pop()


def released() -> memoryview:
    view = memoryview(bytearray(64))
    view.release()
    return view


def view(kind: int) -> memoryview:
    whole = memoryview(bytes(64))
    return (whole[::2], whole.cast("Q"), whole.cast("B", (8, 8)))[kind]


def raises() -> Any:
    yield "one two three"
    raise Stop


def interrupt(*unused: Any) -> None:
    raise KeyboardInterrupt


NUMBERS = (
    -(2**63),
    -(2**31),
    -1,
    0,
    1,
    2,
    3,
    63,
    64,
    65,
    128,
    512,
    513,
    2**31,
    2**32 - 1,
    2**32,
    2**63,
    2**64 - 1,
    2**64,
)
numbers = st.integers(-2, 70) | st.sampled_from(NUMBERS)
WORDS = (
    "",
    "text",
    "id",
    "first",
    "last",
    "newest:id",
    "max:id",
    "threshold=0.5",
    "shingle",
    "manku-2007",
    "a\0b",
    "\ud800",
)
words = st.sampled_from(WORDS) | st.text(st.characters(codec="utf-8", exclude_characters="/."), max_size=8)
blobs = st.binary(max_size=40) | st.sampled_from((b"\xff\xfe", b"\xf0\x9f", bytes(64), bytes(80)))
buffers = (
    blobs
    | blobs.map(bytearray)
    | st.sampled_from((0, 1, 7, 8, 64, 71)).map(lambda n: memoryview(bytes(80))[n:])
    | st.integers(0, 2).map(view)
    | st.lists(st.integers(0, 2**64 - 1), max_size=5).map(lambda v: array("Q", v))
    | st.lists(st.integers(0, 2**32 - 1), max_size=5).map(lambda v: array("I", v))
    | st.builds(released)
)
texts = st.none() | words | words.map(Text) | blobs
hostile = st.builds(Hostile) | st.builds(Elusive) | st.builds(object) | st.builds(raises)
anything = st.recursive(
    st.none() | st.booleans() | numbers | st.floats() | words | blobs | buffers | hostile,
    lambda inner: (
        st.lists(inner, max_size=4) | st.lists(inner, max_size=4).map(tuple) | st.dictionaries(words, inner, max_size=3)
    ),
    max_leaves=8,
)


def signatures() -> dict[str, tuple[list[str], str]]:
    """The types of the parameters of each native function, and of what it returns."""
    tree = ast.parse((Path(inspect.getfile(neardup)).parent / "_native.pyi").read_text(encoding="utf-8"))
    return {
        node.name: (
            [ast.unparse(a.annotation) if a.annotation else "" for a in node.args.posonlyargs + node.args.args],
            ast.unparse(node.returns) if node.returns else "",
        )
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    }


SIGNATURES = signatures()
NATIVE = {name: f for name, f in vars(_native).items() if isinstance(f, types.BuiltinFunctionType)}


def test_the_types_of_every_native_function_are_known():
    assert set(NATIVE) == set(SIGNATURES)


class Pool:
    """Capsules, by the types that `_native.pyi` gives them."""

    def __init__(self) -> None:
        self.by_type: dict[str, list[Any]] = {}

    def add(self, kind: str, value: Any) -> None:
        if type(value).__name__ == "PyCapsule":
            self.by_type.setdefault(kind, []).append(value)

    def call(self, name: str, *args: Any) -> Any:
        value = attempt(NATIVE[name], *args)
        self.add(SIGNATURES[name][1], value)
        return value

    def capsules(self) -> list[Any]:
        return [capsule for kind in self.by_type.values() for capsule in kind]


def a_pool() -> Pool:
    """The result of a caller who does all of it right."""
    pool = Pool()
    recipe = pool.call("recipe_new")
    rows = (("one two three four", "five six seven", None, "One two three four", "ten"),)
    for names in ((None,), ("text", "id")):
        frame = pool.call("frame_new", names)
        pool.call("frame_append", frame, rows * len(names), (None,) * len(names))
        result = pool.call("dedup", recipe, frame, 1, "first", (0, 0, 0), (), (), (), None)
        assert result is None or pool.call("result_removed", result)
    pool.call("frame_new", (None,))
    for folder in (None, "."):
        stream = pool.call("stream_new", recipe, 1, folder, 0, (), (), 0)
        pool.call("stream_push", stream, frame)
    bounded = pool.call("bounded_new", recipe, 1, 1 << 20, ".", "first", (0, 0, 0), (), (), (), 0)
    pool.call("bounded_add", bounded, frame)
    pool.call("bounded_decide", bounded, None)
    pool.call("bounded_new", recipe, 1, 1 << 20, ".", "first", (0, 0, 0), (), (), (), 0)
    pool.call("sketcher_new", recipe)
    pool.call("live_new", recipe, 1)
    place = "[signature place]\nkind = features\nunit = none\nfields = id\n"
    place += "[decide]\ncandidates = match\nmatch = shared(place) >= 1\nverify = none\n"
    pool.call("live_new", neardup.Recipe.parse(place)._native, 1)
    neardup.write_sketches(["one two three four", "five six"], "rows.sketch")
    file = pool.call("sketch_file_open", "rows.sketch")
    pool.call("sketch_appender_open", "rows.sketch", recipe, ())
    against = pool.call("against_new", recipe, (file,), "first", (0, 0, 0), (), (), ((0, ()),), 1, None, 0)
    pool.call("against_add", against, frame)
    pool.call("against_new", recipe, (file,), "first", (0, 0, 0), (), (), ((0, ()),), 1, None, 0)
    publisher = pool.call("publisher_new")
    pool.call("publisher_claim", publisher, "new.sketch", False)
    file, _ = NATIVE["publisher_open"](publisher, 0, False)
    pool.add("File", file)
    pool.call("sketch_writer_new", recipe, file, True, ("site",))
    for bits in (64, 128):
        index = pool.call("hamming_new", bits, 3, 100, 0.0)
        words, ids = bytes(range(48)), array("I", range(48 // (bits // 8)))
        pool.call("hamming_add", index, words, ids)
        pool.call("hamming_save", f"index{bits}", bits, 3, words, ids)
        pool.call("hamming_open", f"index{bits}")
        pool.call("hamming_batch_new", words, bits, 3)
    return pool


BY_ANNOTATION: dict[str, Any] = {
    "int": numbers,
    "float": numbers | st.floats(),
    "bool": st.booleans(),
    "str": words,
    "_Path": words | st.sampled_from(("index64", "index128", "rows.sketch")),
    "bytes": blobs,
    "Buffer": buffers,
    "None": st.none(),
}
choices = st.integers(0, 2**16)
pairs_of_texts = st.lists(st.lists(texts, max_size=4).map(tuple), max_size=3).map(tuple)
tuples = st.lists(texts | numbers, max_size=3).map(tuple) | st.just((("c", "L", bytes(16), None, None, 0, None),))


def value_for(data: Any, pool: Pool, annotation: str) -> Any:
    """Mostly what the annotation says, sometimes anything."""
    choice = data.draw(choices)
    capsules = pool.capsules()
    if choice % 8 == 0:
        return data.draw(anything)
    if choice % 8 == 1:
        return capsules[choice // 8 % len(capsules)]
    if "|" in annotation and "[" not in annotation:
        parts = annotation.split("|")
        annotation = parts[choice // 8 % len(parts)].strip()
    if annotation in pool.by_type:
        right = pool.by_type[annotation]
        return right[choice // 8 % len(right)]
    if annotation.startswith("Callable"):

        def back(*unused: Any) -> None:
            for capsule in capsules:
                attempt(_native.frame_clear, capsule)
                attempt(_native.frame_append, capsule, (("a b c",),), (None,))

        return (None, interrupt, back, Hostile())[choice // 8 % 4]
    if annotation.startswith("tuple[tuple["):
        return data.draw(pairs_of_texts)
    if annotation == "_Roles":
        return data.draw(st.tuples(numbers, numbers, numbers))
    if annotation == "_Numbered":
        return data.draw(st.lists(st.tuples(numbers, words), max_size=2).map(tuple))
    if annotation.startswith(("tuple[", "_Column", "list[")):
        return data.draw(tuples)
    return data.draw(BY_ANNOTATION.get(annotation, anything))


@pytest.mark.parametrize("name", sorted(NATIVE))
def test_native_functions_refuse_what_they_cannot_take(name):
    @usual
    @hypothesis.given(st.data())
    def check(data):
        pool = a_pool()
        parameters = SIGNATURES[name][0]
        for _ in range(8):
            drawn = [value_for(data, pool, annotation) for annotation in parameters]
            if data.draw(st.integers(0, 15)) == 0:
                drawn = drawn[:-1] if drawn else [None]
            pool.call(name, *drawn)

    check()


@usual
@hypothesis.given(st.data())
def test_native_functions_stand_any_sequence(data):
    pool = a_pool()
    for name in data.draw(st.lists(st.sampled_from(sorted(NATIVE)), min_size=10, max_size=25)):
        pool.call(name, *[value_for(data, pool, annotation) for annotation in SIGNATURES[name][0]])


# ---- The public functions and classes ----

rows = (
    st.lists(texts, max_size=6)
    | st.lists(
        st.dictionaries(st.sampled_from(("text", "id", "x")), texts | numbers | anything, max_size=3), max_size=5
    )
    | st.lists(words, max_size=6).map(Shrinking)
)
arguments = rows | anything


def options(data: Any, function: Any) -> dict[str, Any]:
    """Some of its parameters by name, with anything."""
    try:
        names = [p.name for p in inspect.signature(function).parameters.values() if p.kind == p.KEYWORD_ONLY]
    except (TypeError, ValueError):
        return {}
    chosen = data.draw(st.lists(st.sampled_from(names), max_size=2, unique=True)) if names else []
    return {name: data.draw(st.sampled_from((interrupt, None)) | anything) for name in chosen}


@pytest.mark.parametrize("name", sorted(set(neardup.__all__) - {"Error", "InvalidError", "UnsupportedError"}))
def test_public_names_refuse_what_they_cannot_take(name):
    made = getattr(neardup, name)

    @usual
    @hypothesis.given(st.data())
    def check(data):
        thing = attempt(made, *data.draw(st.lists(arguments, max_size=2)), **options(data, made))
        things = [t for t in (thing, attempt(made)) if t is not None]
        for one in things:
            methods = [m for m in dir(type(one)) if not m.startswith("_") and callable(getattr(type(one), m))]
            for method in data.draw(st.lists(st.sampled_from(methods), max_size=4)) if methods else ():
                called = getattr(one, method)
                attempt(called, *data.draw(st.lists(arguments, max_size=2)), **options(data, called))
            attempt(repr, one)

    check()


def test_progress_may_come_back_to_the_same_data():
    texts = ["one two three four five"] * 3 + ["six seven eight nine"]
    recipe = neardup.Recipe()
    frame = _native.frame_new((None,))
    _native.frame_append(frame, (tuple(texts),), (None,))
    seen = []

    def progress(done: int, all: int) -> None:
        for change in (lambda: _native.frame_clear(frame), lambda: _native.frame_append(frame, (("a",),), (None,))):
            with pytest.raises(RuntimeError, match="used"):
                change()
        seen.append(neardup.dedup(texts).summary["removed"])

    drawn = {"Recipe": recipe._native, "Frame": frame, "int": 0, "str": "first", "_Roles": (0, 0, 0)}
    parameters = SIGNATURES["dedup"][0]
    arguments = [
        drawn.get(annotation, progress if annotation.startswith("Callable") else ()) for annotation in parameters
    ]
    _native.dedup(*arguments)
    assert seen == [2]
    _native.frame_clear(frame)
    assert _native.frame_rows(frame) == 0


def test_threads_may_use_one_thing_at_once():
    index = neardup.HammingIndex(count=1000)
    frame = _native.frame_new((None,))
    recipe = neardup.Recipe()
    deduper = neardup.Deduper()
    sketcher = neardup.Sketcher()
    texts = [f"one two three {i} four five six {i % 7}" for i in range(50)]
    end = time.monotonic() + 1.5
    unexpected: list[BaseException] = []

    def work(*calls: Any) -> None:
        while time.monotonic() < end:
            for call in calls:
                try:
                    attempt(call)
                except BaseException as error:
                    unexpected.append(error)
                    return

    jobs = [
        (lambda: index.add(range(100)), lambda: index.remove(3, 3)),
        (lambda: index.query(range(100)), lambda: index.find(3), lambda: len(index)),
        (lambda: _native.frame_append(frame, (tuple(texts),), (None,)), lambda: _native.frame_clear(frame)),
        (lambda: _native.sketcher_run(sketcher._native, frame), lambda: sketcher(texts)),
        (lambda: _native.dedup(recipe._native, frame, 2, "first", False, 0, 0, (), 0, (), None),),
        (lambda: deduper.push(texts), lambda: recipe.set("threshold", 0.7), recipe.check),
    ]
    threads = [threading.Thread(target=work, args=calls) for calls in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not unexpected


# ---- Arrow data that was made wrong ----


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.POINTER(Schema)),
    ("release", RELEASE),
    ("private_data", ctypes.c_void_p),
]
Array._fields_ = [
    *((name, ctypes.c_int64) for name in ("length", "null_count", "offset", "n_buffers", "n_children")),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", ctypes.POINTER(Array)),
    ("release", RELEASE),
    ("private_data", ctypes.c_void_p),
]
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
Stream._fields_ = [
    ("get_schema", CALLBACK),
    ("get_next", CALLBACK),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)),
    ("release", RELEASE),
    ("private_data", ctypes.c_void_p),
]
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
RELEASE_AT = {kind: kind.release.offset for kind in (Schema, Array, Stream)}
KEPT: list[Any] = []  # what C points to


def kept(thing: Any) -> Any:
    KEPT.append(thing)
    return thing


def releaser(kind: Any) -> Any:
    """Mark as released, as the specification wants it."""
    return kept(
        RELEASE(lambda address: ctypes.c_void_p.from_address(address + RELEASE_AT[kind]).__setattr__("value", None))
    )


RELEASE_SCHEMA, RELEASE_ARRAY, RELEASE_STREAM = map(releaser, (Schema, Array, Stream))
KEPT_ALWAYS = len(KEPT)


def pointers(kind: Any, things: list[Any]) -> Any:
    if not things:
        return None
    each = [ctypes.pointer(thing) if thing is not None else ctypes.POINTER(kind)() for thing in things]
    return kept((ctypes.POINTER(kind) * len(things))(*each))


def schema_of(format: bytes | None, name: bytes | None = b"text", children: Any = (), dictionary: Any = None) -> Schema:
    return kept(
        Schema(
            format=format,
            name=name,
            n_children=len(children),
            children=pointers(Schema, list(children)),
            dictionary=ctypes.pointer(dictionary) if dictionary is not None else None,
            release=RELEASE_SCHEMA,
        )
    )


def array_of(
    length: int, buffers: list[bytes | None], offset: int = 0, children: Any = (), dictionary: Any = None
) -> Array:
    held = [kept(ctypes.create_string_buffer(b, len(b))) if b is not None else None for b in buffers]
    return kept(
        Array(
            length=length,
            null_count=-1,
            offset=offset,
            n_buffers=len(buffers),
            n_children=len(children),
            buffers=kept(
                (ctypes.c_void_p * max(len(held), 1))(*[ctypes.cast(h, ctypes.c_void_p) if h else None for h in held])
            ),
            children=pointers(Array, list(children)),
            dictionary=ctypes.pointer(dictionary) if dictionary is not None else None,
            release=RELEASE_ARRAY,
        )
    )


def take(schema: Schema, array: Array, names: tuple[Any, ...] = (None,)) -> Any:
    """A frame with the rows of an array."""
    frame = _native.frame_new(names)
    _native.frame_take(
        frame,
        new_capsule(ctypes.addressof(schema), b"arrow_schema", None),
        new_capsule(ctypes.addressof(array), b"arrow_array", None),
    )
    _native.sketcher_run(neardup.Sketcher()._native, frame)
    return frame


@pytest.fixture(autouse=True)
def forget():
    yield
    del KEPT[KEPT_ALWAYS:]


DATA = b"one two three four five six"


@usual
@hypothesis.given(
    st.lists(st.integers(-3, len(DATA)), min_size=1, max_size=6),
    st.integers(-2, 6),
    st.integers(-2, 3),
    st.booleans(),
    st.sampled_from((0, 1, 2, 3, 3, 3, 3, 3)),
    st.integers(0, 7).flatmap(lambda n: st.just(n if n < 3 else None)),
)
def test_strings_that_lie_elsewhere_are_refused(ends, length, offset, is_large, n_buffers, missing):
    length, offset = min(length, len(ends) - 1), min(offset, len(ends) - 1)
    if length >= 0 and offset >= 0:
        length = min(length, len(ends) - 1 - offset)
    buffers: list[bytes | None] = [b"\xff\xff", array("q" if is_large else "i", ends).tobytes(), DATA]
    if missing is not None:
        buffers[missing] = None
    used = ends[offset : offset + length + 1] if length >= 0 and offset >= 0 else []
    is_good = length >= 0 and offset >= 0 and n_buffers == 3
    if is_good and length:
        is_good = used == sorted(used) and used[0] >= 0 and missing != 1 and (missing != 2 or used[0] == used[-1])

    def call():
        return take(schema_of(b"U" if is_large else b"u"), array_of(length, buffers[:n_buffers], offset))

    if is_good:
        assert _native.frame_rows(call()) == length
    else:
        with pytest.raises(neardup.InvalidError, match="Arrow"):
            call()


@usual
@hypothesis.given(
    st.lists(st.tuples(st.integers(-2, 40), st.integers(-1, 2), st.integers(-2, 40)), max_size=4),
    st.lists(st.integers(0, len(DATA)), max_size=2),
    st.booleans(),
)
def test_views_that_lie_elsewhere_are_refused(views, sizes, has_sizes):
    def packed(n: int, buffer: int, offset: int) -> bytes:
        n, buffer, offset = (value.to_bytes(4, "little", signed=True) for value in (n, buffer, offset))
        return n + b"abcd" + buffer + offset

    held: list[bytes | None] = [None, b"".join(packed(*v) for v in views)]
    held += [DATA[:size] for size in sizes] + [array("q", sizes).tobytes() if has_sizes else None]
    is_good = all(
        0 <= n <= 12 or (n > 12 and 0 <= b < len(sizes) and has_sizes and o >= 0 and o + n <= sizes[b])
        for n, b, o in views
    )
    if is_good:
        assert _native.frame_rows(take(schema_of(b"vu"), array_of(len(views), held))) == len(views)
    else:
        with pytest.raises(neardup.InvalidError, match="Arrow"):
            take(schema_of(b"vu"), array_of(len(views), held))


@usual
@hypothesis.given(
    st.lists(st.integers(-2, 4), max_size=5), st.integers(0, 3), st.sampled_from((b"c", b"i", b"l", b"g", b"u", b""))
)
def test_indices_outside_a_dictionary_are_refused(indices, n, format):
    dictionary = array_of(n, [None, array("i", range(0, 4 * n + 1, 4)).tobytes(), DATA])
    packed = array({b"c": "b", b"i": "i"}.get(format, "q"), indices).tobytes()

    def call():
        return take(
            schema_of(format, dictionary=schema_of(b"u")), array_of(len(indices), [None, packed], dictionary=dictionary)
        )

    if format in (b"c", b"i", b"l") and all(0 <= i < n for i in indices):
        assert _native.frame_rows(call()) == len(indices)
    else:
        with pytest.raises(neardup.InvalidError, match="Arrow"):
            call()


@usual
@hypothesis.given(
    st.lists(st.sampled_from(("good", "short", "none", "nameless", "formatless", "number")), max_size=3),
    st.integers(-1, 4),
    st.integers(0, 3),
    st.integers(-1, 4),
)
def test_tables_without_their_columns_are_refused(kinds, length, offset, n_children):
    schemas, arrays = [], []
    for i, kind in enumerate(kinds):
        rows = 1 if kind == "short" else 8
        schemas.append(
            None
            if kind == "none" and i % 2
            else schema_of(
                {"formatless": None, "number": b"l"}.get(kind, b"u"),
                None if kind == "nameless" else b"text" if i == 0 else b"id",
            )
        )
        numbers_too = [None, array("q", range(9)).tobytes()] if kind == "number" else None
        buffers = numbers_too or [None, array("i", range(rows + 1)).tobytes(), DATA]
        arrays.append(None if kind == "none" else array_of(rows, buffers))
    outer = array_of(length, [None], offset, arrays)
    outer.n_children = min(n_children, len(arrays))
    names = [s.name for s in schemas if s is not None]

    def call():
        return take(schema_of(b"+s", b"", schemas), outer, ("text",))

    is_good = (
        None not in schemas
        and all(s.format for s in schemas)
        and b"text" in names
        and "none" not in kinds[:1]
        and kinds[:1] != ["number"]
        and outer.n_children == len(schemas)
        and length >= 0
        and length + offset <= (1 if kinds[:1] == ["short"] else 8)
    )
    if is_good:
        assert _native.frame_rows(call()) == length
    else:
        with pytest.raises((neardup.InvalidError, ValueError)):
            call()


@pytest.mark.parametrize("wrong", ["schema", "next", "fails", "released", "empty", "back", "huge", "no schema"])
def test_streams_that_are_made_wrong_are_refused(wrong, capsys):
    frame = _native.frame_new((None,))
    left = [2]

    def get_schema(stream: int, out: int) -> int:
        if wrong == "fails":
            return 5
        if wrong != "no schema":
            ctypes.memmove(out, ctypes.addressof(schema_of(b"l" if wrong == "schema" else b"u")), ctypes.sizeof(Schema))
        return 0

    def get_next(stream: int, out: int) -> int:
        if wrong == "back":
            for change in (_native.frame_clear, _native.frame_rows, lambda f: _native.frame_read(f, 1)):
                attempt(change, frame)
        left[0] -= 1
        if left[0] < 0:
            return 0
        length = {"huge": 2**62, "empty": 0}.get(wrong, 1)
        made = array_of(length, [None, array("i", (0, 3)).tobytes(), DATA])
        ctypes.memmove(out, ctypes.addressof(made), ctypes.sizeof(Array))
        return 0

    functions = kept([CALLBACK(get_schema), CALLBACK(get_next)])
    stream = kept(Stream(get_schema=functions[0], get_next=functions[1], release=RELEASE_STREAM))
    if wrong == "next":
        stream.get_next = CALLBACK()
    if wrong == "released":
        stream.release = RELEASE()
    capsule = new_capsule(ctypes.addressof(stream), b"arrow_array_stream", None)

    def read() -> int:
        _native.frame_open(frame, capsule)
        while _native.frame_read(frame, 1):
            pass
        return _native.frame_rows(frame)

    if wrong in ("empty", "back"):
        assert read() == (0 if wrong == "empty" else 2)
    else:
        with pytest.raises((neardup.Error, ValueError)):
            read()
        assert wrong == "huge" or _native.frame_read(frame, 1) == 0
    with pytest.raises(ValueError):
        _native.frame_open(frame, capsule)


def test_capsules_of_other_kinds_are_refused():
    capsule = new_capsule(ctypes.addressof(schema_of(b"u")), b"other", None)
    for name, (parameters, _) in SIGNATURES.items():
        if parameters:
            attempt(NATIVE[name], *[capsule] * len(parameters))
