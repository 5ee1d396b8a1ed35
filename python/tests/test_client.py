"""The client of the service: with the service itself, and with one that fails as it is told."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import neardup

WORDS = [f"w{i}" for i in range(60)]
TEXT = " ".join(WORDS)
NEAR = " ".join([*WORDS, "more"])
OTHER = " ".join(reversed(WORDS))


def start(*command):
    """Start a program that prints its address once it answers."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    if "http" not in line:
        _, said = process.communicate()
        if "needs the package neardup-server" in said:
            pytest.skip("the service was not built")
        raise AssertionError(said)
    return process, line[line.index("http") :].strip().rstrip("/")


def stop(process):
    process.terminate()
    process.communicate()


@pytest.fixture
def service(command, tmp_path):
    """The address of a service with an empty store."""
    process, url = start(command, "serve", "--listen", "127.0.0.1:0", str(tmp_path / "store"))
    yield url
    stop(process)


@pytest.fixture
def client(service):
    with neardup.Client(service) as client:
        yield client


@pytest.fixture
def fake(tmp_path):
    """Start a service to which these mishaps happen; its log says what it was asked."""
    script = Path(__file__).parents[2] / "tests" / "cli" / "fake_service.py"
    if not script.exists():
        pytest.skip("fake_service.py is not there")
    started = []

    def make(*mishaps, **options):
        log = tmp_path / f"log-{len(started)}"
        process, url = start(sys.executable, str(script), str(log), *mishaps)
        started.append(process)
        return neardup.Client(url, **options), lambda: [json.loads(line) for line in log.open()]

    yield make
    for process in started:
        stop(process)


# ---- The service itself ----


def test_a_text_is_new_then_a_duplicate_then_near(client):
    first = client.post(TEXT, id="a")
    assert first.is_new and first.of is None and first.evidence is None
    assert (first.id, first.security, first.stored, first.durable, first.version) == ("a", (), True, True, 1)
    same = client.query(TEXT.upper())
    assert (same.verdict, same.of, same.evidence.identical) == ("duplicate", "a", "tokens")
    assert same.id is None and not same.stored
    near = client.post(NEAR, id="b")
    assert (near.verdict, near.of, near.of_security) == ("near-duplicate", "a", ())
    assert near.evidence.identical == "no" and near.evidence.shingles == (59, 58)
    assert near.evidence.resemblance == pytest.approx(58 / 59) and near.evidence.shared == 58
    assert client.query(OTHER).is_new
    assert client.query(html=f"<p>{TEXT}</p>").of == "a"


def test_the_nearest_come_with_their_evidence_and_the_cluster(client):
    client.post(TEXT, id="a")
    assert client.post(NEAR, id="b").cluster.id == "a"
    verdict = client.query(NEAR)
    assert (verdict.verdict, verdict.of, verdict.cluster.id) == ("duplicate", "b", "a")
    assert [d.id for d in verdict.nearest] == ["b", "a"]
    assert verdict.nearest[0].evidence.identical == "bytes" and verdict.nearest[1].evidence == verdict.cluster.evidence
    assert abs(verdict.nearest[0].visited - datetime.now(UTC)) < timedelta(minutes=5)
    assert [d.id for d in client.query(NEAR, limit=1, max_age="1h").nearest] == ["b"]
    assert client.post(NEAR, id="c", dry=True, limit=1).of == "b"
    assert [len(v.nearest) for v in client.query_many([NEAR, OTHER], limit=1)] == [1, 0]
    assert [v.of for v in client.post_many([{"id": "b", "text": NEAR}], max_age="2w")] == ["a"]
    assert client.query(NEAR).nearest[0].differs is None
    for verdict in (client.query(NEAR, differs=True), next(client.query_many([NEAR], differs=True))):
        assert [d.differs["in"] for d in verdict.nearest] == ["nothing", "words"]
    assert client.post(NEAR, id="c", dry=True, differs=True).nearest[1].differs == verdict.nearest[1].differs
    for asked in ({"limit": 101}, {"max_age": "soon"}):
        with pytest.raises(neardup.ServiceError) as caught:
            client.query(NEAR, **asked)
        assert caught.value.status == 400


def test_documents_come_back_and_go(client):
    client.post(TEXT, id="http://a.org/x?y=1&z=ä b", security=["p", "q"])
    client.post(TEXT, id="other")
    stored = client.get("http://a.org/x?y=1&z=ä b")
    assert stored.text == TEXT and stored.security == ("p", "q") and stored.version == 1
    assert abs(stored.created - datetime.now(UTC)) < timedelta(minutes=5)
    assert client.get("http://a.org/x?y=1&z=ä b", ["q", "p"]).id == stored.id
    with pytest.raises(neardup.ServiceError) as caught:
        client.get("other", ["p"])
    assert caught.value.status == 404 and caught.value.detail
    client.post(TEXT, id="other", security=["p"])
    with pytest.raises(neardup.ServiceError) as caught:
        client.get("other")
    assert caught.value.status == 409
    client.delete("other", ["p"])
    assert client.get("other").security == ()
    client.delete("other")
    with pytest.raises(neardup.ServiceError) as caught:
        client.delete("other")
    assert caught.value.status == 404


def test_versions_near_cluster_crawl_compare_stats(client):
    assert client.post(TEXT, id="a").changed in (True, None)
    assert client.post(TEXT, id="a").changed is False
    again = client.post(NEAR, id="a")
    assert again.changed and again.version == 2
    versions = client.versions("a")
    assert [v.version for v in versions] == [1, 2] and versions[0].distance in (None, 64)
    assert versions[1].distance == again.distance
    assert len(client.versions("a", limit=1)) == 1
    client.post(TEXT, id="b")
    near = client.near("a")
    assert [d.id for d in near] == ["b"] and near[0].evidence.shared == 58
    cluster = client.cluster("b")
    assert {d.id for d in cluster} == {"a", "b"} and cluster[0].leads
    assert {d.id for d in client.crawl(10)} == {"a", "b"}
    assert all(d.why and d.due for d in client.crawl())
    assert all(d.gap is None for d in client.crawl())
    assert client.compare("a", "b")
    assert client.stats()["visible"]["documents"] == 2
    assert len(client.fingerprint(TEXT)["minhash"]) == 128


def test_lists_of_documents_and_clusters(client):
    texts = [" ".join(f"listed{i}word{k}" for k in range(40)) for i in range(2)]
    for i in range(5):
        client.post(texts[i % 2] + f" {i}", id=f"http://listed.example/{i}", title=f"No {i}")
    client.post(html=f"<title>A page</title><p>{texts[0]}", id="http://other.example/")
    listed = [f"http://listed.example/{i}" for i in (4, 3, 2, 1, 0)]
    assert sorted(d.id for d in client.documents(site="listed.example", since="1h")) == listed[::-1]
    assert [d.title for d in client.documents(title="NO 3")] == ["No 3"]
    assert client.get("http://other.example/").title == "A page"
    assert list(client.documents(limit=0)) == []
    sizes = {c.leader.id: c.size for c in client.clusters("growth")}
    assert (sizes[listed[4]], sizes[listed[3]]) == (4, 2)
    assert next(client.clusters(limit=1)).last_hour == 4
    assert client.query("A page\n" + texts[0]).nearest[0].title == "A page"
    with pytest.raises(neardup.ServiceError):
        next(client.clusters("age"))


def test_a_list_is_asked_for_in_parts(client, monkeypatch):
    for i in range(7):
        client.post(" ".join(f"part{i}word{k}" for k in range(20)), id=f"http://parts.example/{i}")
    whole = [d.id for d in client.documents(site="parts.example")]
    monkeypatch.setattr("neardup._client._PAGE", 2)
    assert [d.id for d in client.documents(site="parts.example")] == whole
    assert [d.id for d in client.documents(site="parts.example", limit=5)] == whole[:5]
    assert len(whole) == 7


def test_many_in_batches_decide_as_one_after_the_other(client, records):
    rows = [{"id": row["id"], "text": row["text"]} for row in records[:500]]
    dry = [v.verdict for v in client.post_many(rows, dry=True)]
    assert dry.count("new") == 500
    verdicts = list(client.post_many(rows, batch=37))
    assert [v.id for v in verdicts] == [row["id"] for row in rows]
    assert client.stats()["visible"]["documents"] == 500
    kept = neardup.dedup([row["text"] for row in rows], id=None).kept
    assert [v.cluster is None for v in verdicts] == list(kept)
    asked = list(client.query_many((row["text"] for row in rows), batch=64))
    assert not any(v.is_new for v, row in zip(asked, rows) if row["text"])


def test_a_document_that_cannot_be_stored_is_named(client):
    with pytest.raises(neardup.ServiceError, match='"labels" and no "security"'):
        list(client.post_many([{"text": "one", "labels": ["a topic"]}], dry=True))
    rows = [{"text": "one two three"}, {"text": "four five six", "security": ["a,b"]}, {"text": "seven eight nine"}]
    answers = list(client.post_many(rows, errors="return"))
    assert answers[0].is_new and answers[2].is_new
    assert isinstance(answers[1], neardup.ServiceError) and answers[1].status == 422
    with pytest.raises(neardup.ServiceError):
        list(client.post_many(rows))


def test_a_key_is_needed_where_there_are_keys(command, tmp_path):
    made = subprocess.run(
        [command, "serve", "--new-key", "me", "--security", "p", "--keys", "keys"],
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    if made.returncode:
        pytest.skip("the service was not built")
    process, url = start(
        command, "serve", "--listen", "127.0.0.1:0", "--keys", str(tmp_path / "keys"), str(tmp_path / "store")
    )
    try:
        with pytest.raises(neardup.ServiceError) as caught:
            neardup.Client(url).query(TEXT)
        assert caught.value.status == 401
        with neardup.Client(url, key=made.stdout.strip()) as client:
            assert client.post(TEXT, id="a").security == ("p",)
            with pytest.raises(neardup.ServiceError) as caught:
                client.post(TEXT, id="b", security=["q"])
            assert caught.value.status == 403
    finally:
        stop(process)


# ---- A service that fails ----


@pytest.mark.parametrize(
    "mishaps",
    ["ok busy", "ok gone", "ok lines lines", "ok drop", "ok cut cut drop", "ok lines busy lines drop"],
)
def test_a_batch_is_repeated_until_it_is_answered(fake, mishaps):
    client, log = fake(*mishaps.split())
    client.post("first")
    rows = [{"id": f"d{i}", "text": f"text {i}"} for i in range(5)]
    assert [v.id for v in client.post_many(rows)] == [f"d{i}" for i in range(5)]
    assert len(log()) > 2
    client.close()
    assert client.query("text 3").of == "d3"


def test_it_gives_up(fake):
    client, log = fake("ok", *["busy"] * 9, retry_for=1)
    client.post("first")
    with pytest.raises(neardup.ServiceError, match="it is busy") as caught:
        client.post("second")
    assert caught.value.status == 429
    assert len(log()) < 5


def test_a_service_that_was_never_there_is_not_waited_for():
    with pytest.raises(neardup.ServiceError) as caught:
        neardup.Client("http://127.0.0.1:1").stats()
    assert caught.value.status == 0


@pytest.mark.parametrize("mishap", ["junk", "few"])
def test_an_answer_that_is_none_is_an_error(fake, mishap):
    client, _ = fake(mishap)
    with pytest.raises(neardup.ServiceError, match="answer"):
        list(client.post_many(["a", "b"]))


def test_requests_have_keys_labels_and_text_of_any_kind(fake):
    client, log = fake(key="secret")
    list(client.post_many([{"text": "a \ud800 b", "id": "x", "security": ("p",)}, "text"], dry=True))
    row = log()[0]
    assert row["key"] == "Bearer secret" and row["target"] == "/v1/documents?dry=1"
    assert row["documents"] == [{"text": "a ? b", "id": "x", "security": ["p"]}, {"text": "text"}]
    client.post("a", security=[])
    assert log()[1]["documents"] == [{"text": "a", "security": []}]
    list(client.post_many([{"text": "a", "labels": ["x"], "security": []}, {"text": "b", "labels": None}]))
    assert log()[2]["documents"] == [{"text": "a", "security": []}, {"text": "b"}]


def test_large_documents_have_batches_of_their_own(fake):
    client, log = fake()
    texts = ["a", "b" * (1 << 20), "c", "d" * 600_000, "e" * 600_000]
    assert len(list(client.post_many(texts))) == 5
    assert [len(row["documents"]) for row in log()] == [1, 1, 2, 1]


def test_wrong_arguments_are_refused():
    client = neardup.Client()
    for call in (
        lambda: neardup.Client("ftp://a.org"),
        lambda: client.post(),
        lambda: client.post("a", html="b"),
        lambda: client.post("a", security="p"),
        lambda: client.get("a", "p"),
        lambda: list(client.post_many(["a"], batch=0)),
        lambda: list(client.post_many(["a"], errors="none")),
    ):
        with pytest.raises(neardup.InvalidError):
            call()
    assert repr(client) == "neardup.Client('http://127.0.0.1:8080')"
