"""Scrapy: an item pipeline that drops near-duplicates, and a middleware that lets a service keep the visits.

The settings of the pipeline:

=====================  ===========================================================================
setting                meaning
=====================  ===========================================================================
NEARDUP_TEXT_FIELD     the field with the text, a ``str`` or a list of them (default: ``"text"``)
NEARDUP_ID_FIELD       the field that names an item in messages (default: ``"url"``)
NEARDUP_RECIPE         the name of a recipe, or the path of its file (default: the default recipe)
NEARDUP_SET            a dict of its keys to change, such as ``{"threshold": 0.7}``
NEARDUP_STATE          the file that carries the state from one run to the next (default:
                       ``neardup.jsonl`` in JOBDIR where that is set; otherwise none)
NEARDUP_TEXTS          where kept texts are held: ``"memory"`` or ``"spool"``, a temporary file
                       (default: ``"memory"``)
NEARDUP_ENABLED        ``False`` takes the pipeline out
=====================  ===========================================================================

The settings of the middleware:

=========================  =======================================================================
setting                    meaning
=========================  =======================================================================
NEARDUP_SERVICE_URL        where the service answers, such as ``"http://127.0.0.1:8080"``; without
                           it the middleware is out
NEARDUP_SERVICE_KEY_FILE   the key to show, in the first line of a file (default: none)
NEARDUP_SERVICE_SECURITY   the security labels of the pages, a list (default: those of the key)
NEARDUP_SERVICE_SKIP       whether pages that are not due are skipped (default: ``True``)
NEARDUP_SERVICE_DROP       whether pages that duplicate another one are dropped (default: ``False``)
=========================  =======================================================================
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from . import _native
from ._client import Client, ServiceError, Verdict
from ._dedup import Deduper
from ._optional import needs
from ._recipe import Recipe

try:
    from itemadapter import ItemAdapter
    from scrapy.exceptions import DropItem, IgnoreRequest, NotConfigured
    from scrapy.http import TextResponse
    from scrapy.utils.defer import maybe_deferred_to_future
    from twisted.internet.threads import deferToThread
except ImportError as error:
    raise needs("neardup.scrapy", "scrapy", error) from None

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

__all__ = ["NearDuplicatesPipeline", "VisitsMiddleware"]

_log = logging.getLogger(__name__)
_FORMAT = "neardup-scrapy-1"


def _text_of(value: object) -> str | None:
    """The text of a field: lists are what ``getall()`` gives."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, (list, tuple)) and all(isinstance(part, str) for part in value):
        return "\n".join(value)
    raise _native.InvalidError(f"the text of an item is a {type(value).__name__}, not a str")


def _as_bytes(text: str) -> str | bytes:
    """Scraped text may hold lone surrogates: they are repaired, as bytes that are no UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


class _State:
    """A file with the texts that decide about later ones: pushed again, they restore the state.

    A line is written for each as soon as it is decided, so a crawl that is killed loses nothing but
    a line that was being written.
    """

    def __init__(self, path: str, recipe: Recipe) -> None:
        self._path = path
        self._recipe = recipe
        self._file: IO[str] | None = None

    def open(self) -> list[tuple[str, str]]:
        """The names and texts of earlier runs."""
        entries, end = self._read() if os.path.exists(self._path) else ([], 0)
        os.makedirs(os.path.dirname(self._path) or ".", exist_ok=True)
        self._file = open(self._path, "a+", encoding="ascii", newline="")
        self._file.truncate(end)
        if end == 0:
            self._write({"format": _FORMAT, "recipe": self._recipe.text})
        return entries

    def _read(self) -> tuple[list[tuple[str, str]], int]:
        entries: list[tuple[str, str]] = []
        end = 0
        with open(self._path, "rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    _log.warning("%s:%d: the last run did not finish this line: it is left out", self._path, number)
                    break
                try:
                    record = json.loads(line)
                    if number == 1:
                        self._check_head(record)
                    else:
                        entries.append((record["name"], record["text"]))
                except (ValueError, KeyError, TypeError) as error:
                    if isinstance(error, _native.Error):
                        raise
                    raise _native.InvalidError(f"{self._path}:{number}: not written by this pipeline") from None
                end += len(line)
        return entries, end

    def _check_head(self, record: dict[str, Any]) -> None:
        if record["format"] != _FORMAT:
            raise ValueError
        if record["recipe"] != self._recipe.text:
            raise _native.InvalidError(
                f"{self._path}: an earlier run had another recipe: remove the file, or let NEARDUP_STATE name another"
            )

    def _write(self, record: dict[str, Any]) -> None:
        assert self._file is not None
        self._file.write(json.dumps(record) + "\n")
        self._file.flush()

    def add(self, name: str, text: str) -> None:
        self._write({"name": name, "text": text})

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


class NearDuplicatesPipeline:
    """Drop items whose text is a near-duplicate of that of an earlier item.

    Each decision is that of :func:`neardup.dedup` on all items so far, in the order in which they
    reach the pipeline.  An item without the field passes.

    Parameters
    ----------
    text_field, id_field, recipe, keys, state, texts
        The settings of the module.

    Examples
    --------
    >>> pipeline = NearDuplicatesPipeline()
    >>> pipeline.open_spider()
    >>> pipeline.process_item({"url": "/a", "text": "one two three four"})["url"]
    '/a'
    >>> pipeline.process_item({"url": "/b", "text": "One, two, three, four"})
    Traceback (most recent call last):
    scrapy.exceptions.DropItem: near-duplicate: /b has the same words as /a
    >>> pipeline.close_spider()
    """

    def __init__(
        self,
        text_field: str = "text",
        id_field: str = "url",
        recipe: Recipe | str | None = None,
        keys: dict[str, Any] | None = None,
        state: str | None = None,
        texts: Any = "memory",
    ) -> None:
        made = recipe.copy() if isinstance(recipe, Recipe) else Recipe(recipe)
        for key, value in (keys or {}).items():
            made.set(key, value)
        self._text_field = text_field
        self._id_field = id_field
        self._deduper = Deduper(made, texts=texts, threads=1)
        # With complete link, dropped items count too.
        self._needs_all = made["cluster"] == "complete"
        self._state = _State(state, made) if state else None
        self._names: dict[int, str] = {}
        self._rows = 0
        self._without = 0
        self._stats: Any = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> NearDuplicatesPipeline:
        """Make the pipeline of a crawl by its settings."""
        settings = crawler.settings
        if not settings.getbool("NEARDUP_ENABLED", True):
            raise NotConfigured
        state = settings.get("NEARDUP_STATE")
        if state is None and settings.get("JOBDIR"):
            state = os.path.join(settings["JOBDIR"], "neardup.jsonl")
        pipeline = cls(
            settings.get("NEARDUP_TEXT_FIELD", "text"),
            settings.get("NEARDUP_ID_FIELD", "url"),
            settings.get("NEARDUP_RECIPE"),
            settings.getdict("NEARDUP_SET"),
            state,
            settings.get("NEARDUP_TEXTS", "memory"),
        )
        pipeline._stats = crawler.stats
        return pipeline

    def open_spider(self, spider: object = None) -> None:
        """Take up the state of the last run."""
        if self._state is None:
            return
        entries = self._state.open()
        if entries:
            self._deduper.push([_as_bytes(text) for _, text in entries])
            self._names = {row: name for row, (name, _) in enumerate(entries)}
            self._rows = len(entries)
            self._count("restored", len(entries))

    def close_spider(self, spider: object = None) -> None:
        """Close the file of the state."""
        if self._state is not None:
            self._state.close()
        if self._without and not self._rows:
            _log.warning("no item has the field '%s': NEARDUP_TEXT_FIELD names it", self._text_field)

    def process_item(self, item: Any, spider: object = None) -> Any:
        """Return the item, or drop it.

        Raises
        ------
        DropItem
            It is a near-duplicate; the message names the item that stands for it.
        """
        adapter = ItemAdapter(item)
        text = _text_of(adapter.get(self._text_field))
        if text is None:
            self._without += 1
            self._count("without_text")
            return item
        result = self._deduper.push([_as_bytes(text)])
        row, self._rows = self._rows, self._rows + 1
        name = str(adapter.get(self._id_field) or f"item {row + 1}")
        is_kept = result.kept[0]
        if is_kept:
            self._names[row] = name
        if self._state is not None and (is_kept or self._needs_all):
            self._state.add(name, text)
        if not is_kept:
            removal = result.removed[0]
            self._count(f"dropped/{_KINDS[removal['identical']]}")
            raise DropItem(_reason(name, self._names[removal["kept_row"]], removal))
        self._count("kept")
        return item

    def _count(self, name: str, count: int = 1) -> None:
        if self._stats is not None:
            self._stats.inc_value(f"neardup/{name}", count)


_KINDS = {"bytes": "same_bytes", "tokens": "same_words", "no": "near"}


def _reason(name: str, kept: str, removal: dict[str, Any]) -> str:
    if removal["identical"] == "bytes":
        return f"near-duplicate: {name} has the same text as {kept}"
    if removal["identical"] == "tokens":
        return f"near-duplicate: {name} has the same words as {kept}"
    if removal["jaccard"] is None:
        return f"near-duplicate: {name} has matching signatures with {kept}"
    return (
        f"near-duplicate: {name} shares {removal['shared']} of {removal['a']} shingles with {kept} "
        f"(resemblance {removal['jaccard']:.3f})"
    )


class VisitsMiddleware:
    """Have a service keep what was visited: skip what is not due, and post what was fetched.

    A request for a page that the service has, and that is not due for a visit, is ignored.  What a request brings is
    posted as a version of its address; the verdict is in ``response.meta["neardup"]``.  ``request.meta["neardup"] =
    False`` leaves a request alone.  While the service fails, the crawl goes on without it, and counts how often.

    Parameters
    ----------
    client : callable
        Makes a client of the service, for each thread that speaks to it.
    security : list of str, optional
        The security labels of the pages (default: those of the key).
    skip : bool, optional
        Whether pages that are not due are skipped.
    drop : bool, optional
        Whether pages that duplicate another one are dropped.

    Examples
    --------
    >>> import neardup
    >>> VisitsMiddleware(lambda: neardup.Client("http://127.0.0.1:8080"), security=["news"])
    VisitsMiddleware(security=['news'], skip=True, drop=False)
    """

    def __init__(
        self, client: Callable[[], Client], security: list[str] | None = None, skip: bool = True, drop: bool = False
    ) -> None:
        self._make = client
        self._security = security
        self._skip = skip
        self._drop = drop
        self._idle: list[Client] = []
        self._stats: Any = None

    def __repr__(self) -> str:
        return f"VisitsMiddleware(security={self._security!r}, skip={self._skip}, drop={self._drop})"

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> VisitsMiddleware:
        """Make the middleware of a crawl by its settings."""
        settings = crawler.settings
        url = settings.get("NEARDUP_SERVICE_URL")
        if not url:
            raise NotConfigured
        key = None
        if settings.get("NEARDUP_SERVICE_KEY_FILE"):
            with open(settings["NEARDUP_SERVICE_KEY_FILE"]) as file:
                key = file.readline().strip()
        security = settings.getlist("NEARDUP_SERVICE_SECURITY") if "NEARDUP_SERVICE_SECURITY" in settings else None
        middleware = cls(
            lambda: Client(url, key),
            security,
            settings.getbool("NEARDUP_SERVICE_SKIP", True),
            settings.getbool("NEARDUP_SERVICE_DROP", False),
        )
        middleware._stats = crawler.stats
        return middleware

    async def process_request(self, request: Any, spider: object = None) -> None:
        """Ignore the request if its page is not due.

        Raises
        ------
        IgnoreRequest
            The service has the page, and it need not be visited yet.
        """
        if not self._skip or not _is_visit(request):
            return
        due = await self._ask(lambda client: client.get(request.url, self._security).due)
        if due is not None and due > datetime.now(UTC):
            self._count("skipped")
            raise IgnoreRequest(f"{request.url} is not due before {due:%Y-%m-%d %H:%M} UTC")

    async def process_response(self, request: Any, response: Any, spider: object = None) -> Any:
        """Post the page, and return the response, or drop it.

        Raises
        ------
        IgnoreRequest
            The page duplicates that at another address.
        """
        if not _is_visit(request) or response.status != 200 or not isinstance(response, TextResponse):
            return response
        verdict = await self._ask(lambda client: self._post(client, request.url, response))
        if verdict is None:
            return response
        request.meta["neardup"] = verdict
        self._count(verdict.verdict.replace("-", "_"))
        if self._drop and not verdict.is_new:
            raise IgnoreRequest(f"{request.url} is a {verdict.verdict} of {verdict.of}")
        return response

    def _post(self, client: Client, url: str, response: Any) -> Verdict:
        is_page = b"html" in response.headers.get("Content-Type", b"html")
        text = response.text.encode("utf-8", "replace").decode()
        if is_page:
            return client.post(html=text, id=url, security=self._security)
        return client.post(text, id=url, security=self._security)

    async def _ask(self, what: Callable[[Client], Any]) -> Any:
        """Speak to the service in a thread, so that other pages are fetched meanwhile; None: it has no answer."""

        def speak() -> Any:
            try:
                client = self._idle.pop()
            except IndexError:
                client = self._make()
            try:
                return what(client)
            finally:
                self._idle.append(client)

        try:
            return await maybe_deferred_to_future(deferToThread(speak))
        except ServiceError as error:
            if error.status != 404:
                self._count("errors")
                _log.warning("the service has no answer: %s", error)
            return None

    def _count(self, name: str) -> None:
        if self._stats is not None:
            self._stats.inc_value(f"neardup/service/{name}")


def _is_visit(request: Any) -> bool:
    """Whether the request is for a page, and not left alone."""
    return (
        request.method == "GET"
        and request.meta.get("neardup") is not False
        and urlsplit(request.url).path != "/robots.txt"
    )
