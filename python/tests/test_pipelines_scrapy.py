"""Scrapy: a crawl of a local server, whose items are those that neardup.dedup keeps."""

from __future__ import annotations

import http.server
import json
import os
import subprocess
import sys
import threading

import pytest

import neardup

pytest.importorskip("scrapy")

from scrapy.exceptions import DropItem, NotConfigured
from scrapy.settings import Settings

from neardup.scrapy import NearDuplicatesPipeline, VisitsMiddleware

SPIDER = """
import json, sys
import scrapy
from scrapy.crawler import CrawlerProcess


class Page(scrapy.Item):
    url = scrapy.Field()
    text = scrapy.Field()


class Pages(scrapy.Spider):
    name = "pages"
    custom_settings = {{"CONCURRENT_REQUESTS": 1, "ROBOTSTXT_OBEY": False, "TELNETCONSOLE_ENABLED": False}}

    async def start(self):
        for i in range({first}, {last}):
            yield scrapy.Request(f"{base}/{{i}}", priority=-i)

    def parse(self, response):
        yield Page(url=response.url.rpartition("/")[2], text=response.css("p::text").getall())


process = CrawlerProcess({{
    "ITEM_PIPELINES": {{"neardup.scrapy.NearDuplicatesPipeline": 900}},
    "FEEDS": {{{feed!r}: {{"format": "jsonlines"}}}},
    "LOG_LEVEL": "WARNING", **{settings!r}}})
crawler = process.create_crawler(Pages)
process.crawl(crawler)
process.start()
json.dump({{k: v for k, v in crawler.stats.get_stats().items() if k.startswith("neardup/")}}, sys.stdout)
"""


@pytest.fixture(scope="module")
def pages(records):
    return [record["text"] for record in records[:60]]


@pytest.fixture(scope="module")
def base(pages):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = f"<html><p>{pages[int(self.path[1:])]}</p></html>".encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def crawl(folder, base, first, last, **settings):
    """Crawl some pages in a process of its own, as a reactor runs once: the items, the counts, the log."""
    feed = folder / f"items-{first}.jsonl"
    script = folder / "spider.py"
    script.write_text(SPIDER.format(base=base, first=first, last=last, feed=str(feed), settings=settings))
    environment = {**os.environ, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    done = subprocess.run(
        [sys.executable, "-P", str(script)], capture_output=True, text=True, timeout=120, env=environment, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in feed.open()], json.loads(done.stdout), done.stderr


def test_a_crawl_keeps_what_dedup_keeps(tmp_path, base, pages):
    items, counts, log = crawl(tmp_path, base, 0, len(pages))
    result = neardup.dedup(pages)
    assert [int(item["url"]) for item in items] == [i for i, kept in enumerate(result.kept) if kept]
    assert counts["neardup/kept"] == len(items)
    dropped = sum(count for name, count in counts.items() if "/dropped/" in name)
    assert dropped == len(result.removed) > 5
    assert log.count("Dropped: near-duplicate: ") == dropped
    for row in result.removed:
        assert f"{row['row']} " in log and f" {row['kept_row']}" in log


def test_a_crawl_goes_on_where_the_last_one_ended(tmp_path, base, pages):
    job = str(tmp_path / "job")
    found = []
    for first, last in ((0, 25), (25, len(pages))):
        items, counts, _ = crawl(tmp_path, base, first, last, JOBDIR=job)
        found += [int(item["url"]) for item in items]
    kept = [i for i, is_kept in enumerate(neardup.dedup(pages).kept) if is_kept]
    assert found == kept
    assert counts["neardup/restored"] == sum(i < 25 for i in kept)
    assert counts["neardup/kept"] == sum(i >= 25 for i in kept)


# ---- The pipeline by itself ----


def run(pipeline, texts, first=0):
    """Which texts are kept, and why the others are not."""
    kept, reasons = [], []
    pipeline.open_spider()
    for i, text in enumerate(texts, first):
        try:
            pipeline.process_item({"url": f"/{i}", "text": text})
            kept.append(i)
        except DropItem as error:
            reasons.append(str(error))
    pipeline.close_spider()
    return kept, reasons


@pytest.mark.parametrize(
    "keys",
    [{}, {"threshold": 0.5}, {"threshold": 0.4, "max_checks": 2}, {"cluster": "complete", "threshold": 0.4}],
    ids=str,
)
@pytest.mark.parametrize("texts", ["memory", "spool"])
def test_the_state_is_carried_on_exactly(tmp_path, records, keys, texts):
    rows = [record["text"] for record in records]
    expected = neardup.dedup(rows, set=keys)
    kept = []
    for first in range(0, len(rows), 400):
        pipeline = NearDuplicatesPipeline(keys=keys, state=str(tmp_path / "state.jsonl"), texts=texts)
        kept += run(pipeline, rows[first : first + 400], first)[0]
    assert kept == [i for i, is_kept in enumerate(expected.kept) if is_kept]


def test_reasons_name_the_kept_item_and_the_evidence():
    words = [f"w{i}" for i in range(40)]
    texts = [" ".join(words), " ".join(words), " ".join(words).upper(), " ".join([*words, "more"])]
    _, reasons = run(NearDuplicatesPipeline(), texts)
    assert reasons == [
        "near-duplicate: /1 has the same text as /0",
        "near-duplicate: /2 has the same words as /0",
        "near-duplicate: /3 shares 38 of 39 shingles with /0 (resemblance 0.974)",
    ]
    _, reasons = run(NearDuplicatesPipeline(recipe="manku-2007"), texts)
    assert "/3" not in reasons or "matching signatures" in reasons[-1]


def test_a_line_that_was_not_finished_is_left_out(tmp_path, caplog):
    path = tmp_path / "state.jsonl"
    run(NearDuplicatesPipeline(state=str(path)), ["one two three four", "five six seven eight"])
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    assert run(NearDuplicatesPipeline(state=str(path)), ["five six seven eight"], 1)[0] == [1]
    assert "state.jsonl:3: the last run did not finish this line" in caplog.text
    assert path.read_bytes() == whole
    path.write_bytes(whole[:9])
    assert run(NearDuplicatesPipeline(state=str(path)), ["one two three four"])[0] == [0]


def test_a_state_that_does_not_fit_is_refused(tmp_path):
    path = tmp_path / "state.jsonl"
    run(NearDuplicatesPipeline(state=str(path)), ["one two three four"])
    with pytest.raises(neardup.InvalidError, match="an earlier run had another recipe"):
        NearDuplicatesPipeline(state=str(path), keys={"threshold": 0.7}).open_spider()
    path.write_text('{"url": "a page"}\n')
    with pytest.raises(neardup.InvalidError, match=r"state\.jsonl:1: not written by this pipeline"):
        NearDuplicatesPipeline(state=str(path)).open_spider()


def test_items_of_other_kinds_pass(caplog):
    pipeline = NearDuplicatesPipeline()
    pipeline.open_spider()
    assert pipeline.process_item({"price": 3}) == {"price": 3}
    with pytest.raises(neardup.InvalidError, match="the text of an item is a int"):
        pipeline.process_item({"text": 3})
    pipeline.close_spider()
    assert "no item has the field 'text'" in caplog.text


def test_texts_of_every_kind():
    pipeline = NearDuplicatesPipeline()
    pipeline.process_item({"text": ["one two", "three four"]})
    for text in ("one two three four", b"one two three four", ("one", "two three four")):
        with pytest.raises(DropItem, match="item . has the same"):
            pipeline.process_item({"text": text})
    pipeline.process_item({"text": "a lone surrogate \ud800 of a page"})
    with pytest.raises(DropItem):
        pipeline.process_item({"text": "a lone surrogate \ud800 of a page"})


def test_settings_are_read(tmp_path):
    class Crawler:
        stats = None
        settings = Settings(
            {"NEARDUP_SET": '{"threshold": "0.5"}', "NEARDUP_TEXT_FIELD": "body", "JOBDIR": str(tmp_path)}
        )

    pipeline = NearDuplicatesPipeline.from_crawler(Crawler)
    pipeline.open_spider()
    pipeline.process_item({"body": "a b c d e"})
    with pytest.raises(DropItem, match="resemblance 0.500"):
        pipeline.process_item({"body": "a b c d f"})
    pipeline.close_spider()
    assert (tmp_path / "neardup.jsonl").exists()
    Crawler.settings.set("NEARDUP_ENABLED", False)
    with pytest.raises(NotConfigured):
        NearDuplicatesPipeline.from_crawler(Crawler)


# ---- The middleware, with a service ----

VISITS = """
import json, sys
import scrapy
from scrapy.crawler import CrawlerProcess


class Pages(scrapy.Spider):
    name = "pages"
    custom_settings = {{"CONCURRENT_REQUESTS": 1, "ROBOTSTXT_OBEY": False, "TELNETCONSOLE_ENABLED": False}}

    async def start(self):
        for i in range({n}):
            yield scrapy.Request(f"{base}/{{i}}", priority=-i, meta={{"neardup": False}} if i == {left_alone} else {{}})

    def parse(self, response):
        verdict = response.meta.get("neardup")
        yield {{"page": response.url.rpartition("/")[2], "verdict": verdict.verdict if verdict else None}}


process = CrawlerProcess({{
    "DOWNLOADER_MIDDLEWARES": {{"neardup.scrapy.VisitsMiddleware": 950}},
    "FEEDS": {{{feed!r}: {{"format": "jsonlines"}}}},
    "LOG_LEVEL": "WARNING", **{settings!r}}})
crawler = process.create_crawler(Pages)
process.crawl(crawler)
process.start()
json.dump({{k: v for k, v in crawler.stats.get_stats().items() if k.startswith("neardup/")}}, sys.stdout)
"""


@pytest.fixture
def service(command, tmp_path):
    process = subprocess.Popen(
        [command, "serve", "--listen", "127.0.0.1:0", str(tmp_path / "store")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    line = process.stdout.readline()
    if "http" not in line:
        pytest.skip("the service was not built: " + process.communicate()[1])
    yield line[line.index("http") :].strip()
    process.terminate()
    process.communicate()


def visit(folder, base, n, left_alone=-1, **settings):
    """Visit pages in a process of its own: the items and the counts."""
    feed = folder / f"visits-{len(list(folder.iterdir()))}.jsonl"
    script = folder / "visits.py"
    script.write_text(VISITS.format(base=base, n=n, left_alone=left_alone, feed=str(feed), settings=settings))
    environment = {**os.environ, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    done = subprocess.run(
        [sys.executable, "-P", str(script)], capture_output=True, text=True, timeout=120, env=environment, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in feed.open()] if feed.exists() else []
    return rows, json.loads(done.stdout), done.stderr


def test_visits_are_kept_by_a_service_and_skipped_until_they_are_due(tmp_path, base, service, pages):
    rows, counts, _ = visit(tmp_path, base, 40, left_alone=7, NEARDUP_SERVICE_URL=service)
    assert [row["page"] for row in rows] == [str(i) for i in range(40)]
    assert [row["verdict"] is None for row in rows] == [i == 7 for i in range(40)]
    client = neardup.Client(service)
    assert client.stats()["visible"]["documents"] == 39
    assert client.get(f"{base}/3").text.split() == pages[3].split()
    assert counts["neardup/service/new"] == sum(row["verdict"] == "new" for row in rows)
    rows, counts, log = visit(tmp_path, base, 40, NEARDUP_SERVICE_URL=service)
    assert [row["page"] for row in rows] == ["7"] and counts["neardup/service/skipped"] == 39
    rows, counts, _ = visit(tmp_path, base, 40, NEARDUP_SERVICE_URL=service, NEARDUP_SERVICE_SKIP=False)
    assert len(rows) == 40
    assert len(client.versions(f"{base}/3")) == 1


def test_pages_that_duplicate_another_are_dropped_if_wanted(tmp_path, base, service):
    rows, counts, _ = visit(tmp_path, base, 60, NEARDUP_SERVICE_URL=service, NEARDUP_SERVICE_DROP=True)
    dropped = counts.get("neardup/service/duplicate", 0) + counts.get("neardup/service/near_duplicate", 0)
    assert dropped > 5 and len(rows) == 60 - dropped
    assert all(row["verdict"] == "new" for row in rows)


def test_a_crawl_goes_on_without_its_service(tmp_path, base):
    rows, counts, log = visit(tmp_path, base, 5, NEARDUP_SERVICE_URL="http://127.0.0.1:1")
    assert [row["verdict"] for row in rows] == [None] * 5
    assert counts == {"neardup/service/errors": 10}
    assert "the service has no answer" in log


def test_without_an_address_the_middleware_is_out():
    class Crawler:
        stats = None
        settings = Settings({"NEARDUP_SERVICE_SECURITY": "a,b"})

    with pytest.raises(NotConfigured):
        VisitsMiddleware.from_crawler(Crawler)
    Crawler.settings.set("NEARDUP_SERVICE_URL", "http://127.0.0.1:8080")
    assert (
        repr(VisitsMiddleware.from_crawler(Crawler)) == "VisitsMiddleware(security=['a', 'b'], skip=True, drop=False)"
    )
