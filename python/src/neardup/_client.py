"""A client of the service: `neardup serve` keeps documents, and says whether a text is there already."""

from __future__ import annotations

import http.client
import itertools
import json
import ssl
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal
from urllib.parse import quote, urlencode, urlsplit

from ._native import Error, InvalidError

_FIRST_WAIT = 0.1  # seconds before the second attempt; then twice as long each time
_LONGEST_WAIT = 60.0
_BODY_BYTES = 1 << 20  # a batch is sent before it exceeds this, if it has a document
_PAGE = 1000  # documents or clusters in a part of a list


class ServiceError(Error):
    """The service refused a request, or cannot be reached.

    Parameters
    ----------
    detail : str
        What is wrong, in a sentence.
    status : int, optional
        The status of the answer (docs/http.md); 0: there was no answer.
    title : str, optional
        What kind of problem it is.

    Attributes
    ----------
    status : int
        As the parameter.
    title, detail : str
        As the parameters.

    Examples
    --------
    >>> import neardup
    >>> error = neardup.ServiceError("no such document that you see", 404)
    >>> error.status, str(error)
    (404, 'no such document that you see (404)')
    """

    def __init__(self, detail: str, status: int = 0, title: str = "") -> None:
        super().__init__(f"{detail} ({status})" if status else detail)
        self.status = status
        self.title = title
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Evidence:
    """How two documents compare.

    Attributes
    ----------
    identical : str
        "bytes", "tokens" or "no": what is equal.
    resemblance : float or None
        The shingles that both have, divided by those that either has; None where the recipe decides by distance.
    shared : int or None
        How many shingles both have.
    shingles : tuple of int
        How many the document in question has, and the other one.
    distance : int or None
        In how many bits their simhashes differ; None where not made.

    Examples
    --------
    >>> import neardup
    >>> neardup.Evidence("no", 0.5, 2, (3, 3), None).resemblance
    0.5
    """

    identical: str
    resemblance: float | None
    shared: int | None
    shingles: tuple[int, ...]
    distance: int | None

    @classmethod
    def _of(cls, answer: Mapping[str, Any] | None) -> Evidence | None:
        if answer is None:
            return None
        return cls(
            str(answer.get("identical", "no")),
            answer.get("resemblance"),
            answer.get("shared"),
            tuple(answer.get("shingles") or ()),
            answer.get("distance"),
        )


@dataclass(frozen=True, slots=True)
class Nearest:
    """A document that a text is near.

    Attributes
    ----------
    id, security : str, tuple of str
        What it is identified by.
    visited : datetime or None
        When it was last posted.
    evidence : Evidence or None
        How the text compares with it.
    differs : dict or None
        What the texts differ in: ``in``, the class of the words that only one of them has, and those of the text,
        ``this``, and of the document, ``other``.  None if it was not asked for.
    share : float or None
        In lists of containment: the share of the one that the other has.
    title : str or None
        What people call it.

    Examples
    --------
    >>> import neardup
    >>> neardup.Nearest("a").id
    'a'
    """

    id: str
    security: tuple[str, ...] = ()
    visited: datetime | None = None
    evidence: Evidence | None = None
    differs: Mapping[str, Any] | None = None
    share: float | None = None
    title: str | None = None

    @classmethod
    def _of(cls, answer: Mapping[str, Any]) -> Nearest:
        return cls(
            id=str(answer["id"]),
            security=tuple(answer.get("security") or ()),
            visited=_time(answer.get("visited")),
            evidence=Evidence._of(answer.get("evidence")),
            differs=answer.get("differs"),
            share=answer.get("share"),
            title=answer.get("title"),
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer of the service about a text.

    Attributes
    ----------
    verdict : str
        "new", "duplicate" or "near-duplicate".
    of, of_security : str or None, tuple of str
        The id and the security labels of the nearest document; None if it is new.
    evidence : Evidence or None
        How the two compare; None if it is new.
    nearest : tuple of Nearest
        The nearest documents, the nearest first.
    cluster : Nearest or None
        The leader of the cluster that it joins; None if it leads.
    contained_in, contains : tuple of Nearest
        The documents that have most of the text in them, and those of which the text has most: of a service that was
        started for it (``--containment``).
    id, security : str or None, tuple of str
        What it was stored as; None of a query.
    stored, durable : bool
        Whether it is stored, and whether it is on the disk already.
    version : int or None
        The number of its version.
    changed : bool or None
        Whether the text differs from that of the version before.
    distance : int or None
        In how many bits the simhashes of the two versions differ.
    simhash : str or None
        Its simhash, as hexadecimal digits.
    answer : dict
        All that the service said (docs/http.md).

    Examples
    --------
    >>> import neardup
    >>> verdict = neardup.Verdict("duplicate", of="a", id="b")
    >>> verdict.is_new, verdict.of
    (False, 'a')
    """

    verdict: str
    of: str | None = None
    of_security: tuple[str, ...] = ()
    evidence: Evidence | None = None
    id: str | None = None
    security: tuple[str, ...] = ()
    stored: bool = False
    durable: bool = False
    version: int | None = None
    changed: bool | None = None
    distance: int | None = None
    simhash: str | None = None
    answer: Mapping[str, Any] | None = None
    nearest: tuple[Nearest, ...] = ()
    cluster: Nearest | None = None
    contained_in: tuple[Nearest, ...] = ()
    contains: tuple[Nearest, ...] = ()

    @property
    def is_new(self) -> bool:
        """Whether no document that the caller sees is within the threshold."""
        return self.verdict == "new"

    @classmethod
    def _of(cls, answer: Mapping[str, Any]) -> Verdict:
        of = answer.get("of") or {}
        return cls(
            verdict=str(answer["verdict"]),
            of=of.get("id"),
            of_security=tuple(of.get("security", ())),
            evidence=Evidence._of(answer.get("evidence")),
            id=answer.get("id"),
            security=tuple(answer.get("security") or ()),
            stored=bool(answer.get("stored", False)),
            durable=bool(answer.get("durable", False)),
            version=answer.get("version"),
            changed=answer.get("changed"),
            distance=answer.get("distance"),
            simhash=answer.get("simhash"),
            answer=answer,
            nearest=tuple(Nearest._of(document) for document in answer.get("nearest") or ()),
            cluster=None if answer.get("cluster") is None else Nearest._of(answer["cluster"]),
            contained_in=tuple(Nearest._of(document) for document in answer.get("contained_in") or ()),
            contains=tuple(Nearest._of(document) for document in answer.get("contains") or ()),
        )


@dataclass(frozen=True, slots=True)
class Stored:
    """A document of the service.

    Attributes
    ----------
    id, security : str, tuple of str
        What it is identified by.
    text : str or None
        Its text; only `Client.get` gives it.
    created, updated, visited, due : datetime or None
        When its first version was posted, its present one, it was last posted, and it is to be visited next.
    version : int
        The number of its present version.
    evidence : Evidence or None
        How it compares with the document in question, in lists of these.
    leads : bool or None
        In lists of near documents and clusters: whether it stands for others.
    is_due, why : bool or None, str or None
        In the list of what to visit: whether it is due, and the reason.
    gap : timedelta or None
        In the list of what to visit: the time in which the change that `Client.crawl` was asked for comes together.
    answer : dict
        All that the service said (docs/http.md).
    title : str or None
        What people call it: the title of its last post.

    Examples
    --------
    >>> import neardup
    >>> neardup.Stored("a", ("press",), version=2).version
    2
    """

    id: str
    security: tuple[str, ...] = ()
    text: str | None = None
    created: datetime | None = None
    updated: datetime | None = None
    visited: datetime | None = None
    due: datetime | None = None
    version: int = 1
    evidence: Evidence | None = None
    leads: bool | None = None
    is_due: bool | None = None
    why: str | None = None
    gap: timedelta | None = None
    answer: Mapping[str, Any] | None = None
    title: str | None = None

    @classmethod
    def _of(cls, answer: Mapping[str, Any]) -> Stored:
        return cls(
            id=str(answer["id"]),
            security=tuple(answer.get("security") or ()),
            text=answer.get("text"),
            created=_time(answer.get("created")),
            updated=_time(answer.get("updated")),
            visited=_time(answer.get("visited")),
            due=_time(answer.get("due")),
            version=int(answer.get("version", 1)),
            evidence=Evidence._of(answer.get("evidence")),
            leads=answer.get("leads"),
            is_due=answer.get("is_due"),
            why=answer.get("why"),
            gap=timedelta(seconds=answer["gap"]) if answer.get("gap") else None,
            answer=answer,
            title=answer.get("title"),
        )


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster of documents of the service.

    Attributes
    ----------
    leader : Stored
        The document that leads it, without its text.
    size : int
        How many of the documents that the service looked at are in it.
    newest : datetime or None
        When the newest of them came.
    last_hour, last_day : int
        How many came since then.

    Examples
    --------
    >>> import neardup
    >>> neardup.Cluster(neardup.Stored("a"), 2).size
    2
    """

    leader: Stored
    size: int
    newest: datetime | None = None
    last_hour: int = 0
    last_day: int = 0

    @classmethod
    def _of(cls, answer: Mapping[str, Any]) -> Cluster:
        return cls(
            leader=Stored._of(answer["leader"]),
            size=int(answer["size"]),
            newest=_time(answer.get("newest")),
            last_hour=int(answer.get("last_hour", 0)),
            last_day=int(answer.get("last_day", 0)),
        )


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a document of the service.

    Attributes
    ----------
    version : int
        Its number, from 1.
    time, visited : datetime or None
        When it was first posted, and last.
    distance : int or None
        In how many bits its simhash differs from that of the version before; None for the first.
    simhash : str or None
        Its simhash, as hexadecimal digits.
    answer : dict
        All that the service said (docs/http.md).

    Examples
    --------
    >>> import neardup
    >>> neardup.Version(2, distance=3).distance
    3
    """

    version: int
    time: datetime | None = None
    visited: datetime | None = None
    distance: int | None = None
    simhash: str | None = None
    answer: Mapping[str, Any] | None = None

    @classmethod
    def _of(cls, answer: Mapping[str, Any]) -> Version:
        return cls(
            version=int(answer["version"]),
            time=_time(answer.get("time")),
            visited=_time(answer.get("visited")),
            distance=answer.get("distance"),
            simhash=answer.get("simhash"),
            answer=answer,
        )


def _time(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)


def _security(security: Iterable[str] | None) -> str | None:
    if isinstance(security, str):
        raise InvalidError("security is a list of labels (str), not one str")
    return None if security is None else ",".join(security)


class Client:
    """A client of a service that ``neardup serve`` runs.

    It keeps its connection, and repeats a request while the service is busy, restarts or breaks off.  One thread
    uses it at a time.

    Parameters
    ----------
    url : str, optional
        Where the service answers.
    key : str, optional
        The key to show.
    retry_for : float, optional
        For how many seconds a request is repeated.  A service that has not answered once is not waited for.
    timeout : float, optional
        Seconds without a byte after which a connection counts as lost.
    ssl_context : ssl.SSLContext, optional
        How https is checked (default: by the certificates of the system).

    Examples
    --------
    >>> import neardup
    >>> with neardup.Client("http://127.0.0.1:8080") as client:
    ...     client.post("one two three four", id="a").verdict  # doctest: +SKIP
    ...     client.query("One, two, three, four!").of  # doctest: +SKIP
    'new'
    'a'
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8080",
        key: str | None = None,
        *,
        retry_for: float = 300.0,
        timeout: float = 300.0,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidError(f"{url}: an address begins with http:// or https://")
        self._url = url.rstrip("/")
        self._path = parts.path.rstrip("/")
        self._fields = {"Authorization": f"Bearer {key}"} if key is not None else {}
        self._retry_for = retry_for
        self._has_answered = False
        self._connection: http.client.HTTPConnection
        if parts.scheme == "https":
            self._connection = http.client.HTTPSConnection(
                parts.hostname, parts.port, timeout=timeout, context=ssl_context
            )
        else:
            self._connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"neardup.Client({self._url!r})"

    def close(self) -> None:
        """Close the connection.  The next request opens another."""
        self._connection.close()

    # ---- Texts ----

    def post(
        self,
        text: str | None = None,
        *,
        html: str | None = None,
        id: str | None = None,
        security: Iterable[str] | None = None,
        dry: bool = False,
        limit: int | None = None,
        max_age: str | None = None,
        differs: bool = False,
        at: float | str | None = None,
        title: str | None = None,
    ) -> Verdict:
        """Decide about a text, and store it as a version of its id.

        Parameters
        ----------
        text : str, optional
            The text.
        html : str, optional
            In its place: a page, of which the service takes the text.
        id : str, optional
            Its id (default: the hash of the text).
        security : iterable of str, optional
            Its security labels (default: those of the key).
        dry : bool, optional
            Only decide.
        limit : int, optional
            How many of the nearest documents are given at most (default: 3; up to 100).
        max_age : str, optional
            Documents that were visited longer ago are no answer: "30m", "12h", "90d" (default: all are).
        differs : bool, optional
            Give the words that only the text or only the document has, of each of the nearest documents.
        at : float or str, optional
            Name documents below the threshold, too, down to this resemblance, which the service must have been
            started for (``--least``); the verdict is as without (default: those within the threshold).
        title : str, optional
            What people call the document (default: the title of the page).

        Returns
        -------
        Verdict
            What the text is.

        Raises
        ------
        ServiceError
            The text was refused, or the service cannot be reached.
        """
        document = _document(text, html, id, security, title)
        return Verdict._of(
            self._send_json("POST", "/v1/documents" + _asked(dry, limit, max_age, differs, at), document)
        )

    def query(
        self,
        text: str | None = None,
        *,
        html: str | None = None,
        limit: int | None = None,
        max_age: str | None = None,
        differs: bool = False,
        at: float | str | None = None,
    ) -> Verdict:
        """Decide about a text, and store nothing.

        Parameters
        ----------
        text : str, optional
            The text.
        html : str, optional
            In its place: a page.
        limit : int, optional
            How many of the nearest documents are given at most (default: 3; up to 100).
        max_age : str, optional
            Documents that were visited longer ago are no answer: "30m", "12h", "90d" (default: all are).
        differs : bool, optional
            Give the words that only the text or only the document has, of each of the nearest documents.
        at : float or str, optional
            Name documents below the threshold, too, down to this resemblance, which the service must have been
            started for (``--least``); the verdict is as without (default: those within the threshold).

        Returns
        -------
        Verdict
            What the text is.

        Raises
        ------
        ServiceError
            The text was refused, or the service cannot be reached.
        """
        document = _document(text, html, None, None)
        return Verdict._of(self._send_json("POST", "/v1/query" + _asked(False, limit, max_age, differs, at), document))

    def post_many(
        self,
        documents: Iterable[str | Mapping[str, Any]],
        *,
        batch: int = 100,
        dry: bool = False,
        limit: int | None = None,
        max_age: str | None = None,
        differs: bool = False,
        at: float | str | None = None,
        errors: Literal["raise", "return"] = "raise",
    ) -> Iterator[Verdict | ServiceError]:
        """Store many documents, in batches.

        Parameters
        ----------
        documents : iterable of str or mapping
            Texts, or mappings with ``text`` or ``html``, and ``id`` and ``security`` if there are any.  A mapping with
            ``labels`` and no ``security`` is refused, since labels may be topics.
        batch : int, optional
            How many are sent in a request, of at most about 1 MiB.
        dry : bool, optional
            Only decide.
        limit : int, optional
            How many of the nearest documents are given at most (default: 3; up to 100).
        max_age : str, optional
            Documents that were visited longer ago are no answer: "30m", "12h", "90d" (default: all are).
        differs : bool, optional
            Give the words that only the text or only the document has, of each of the nearest documents.
        at : float or str, optional
            Name documents below the threshold, too, down to this resemblance, which the service must have been
            started for (``--least``); the verdict is as without (default: those within the threshold).
        errors : str, optional
            What becomes of a document that is refused: "raise" ends the iteration; "return" gives the error in the
            place of its verdict.

        Yields
        ------
        Verdict or ServiceError
            What each document is, in their order.

        Raises
        ------
        ServiceError
            A document was refused, or the service cannot be reached.
        """
        yield from self._many("/v1/documents" + _asked(dry, limit, max_age, differs, at), documents, batch, errors)

    def query_many(
        self,
        documents: Iterable[str | Mapping[str, Any]],
        *,
        batch: int = 100,
        limit: int | None = None,
        max_age: str | None = None,
        differs: bool = False,
        at: float | str | None = None,
        errors: Literal["raise", "return"] = "raise",
    ) -> Iterator[Verdict | ServiceError]:
        """Decide about many texts, in batches, and store nothing.

        Parameters
        ----------
        documents : iterable of str or mapping
            Texts, or mappings with ``text`` or ``html``.
        batch : int, optional
            How many are sent in a request, of at most about 1 MiB.
        limit : int, optional
            How many of the nearest documents are given at most (default: 3; up to 100).
        max_age : str, optional
            Documents that were visited longer ago are no answer: "30m", "12h", "90d" (default: all are).
        differs : bool, optional
            Give the words that only the text or only the document has, of each of the nearest documents.
        at : float or str, optional
            Name documents below the threshold, too, down to this resemblance, which the service must have been
            started for (``--least``); the verdict is as without (default: those within the threshold).
        errors : str, optional
            As of `post_many`.

        Yields
        ------
        Verdict or ServiceError
            What each text is, in their order.

        Raises
        ------
        ServiceError
            A text was refused, or the service cannot be reached.
        """
        yield from self._many("/v1/query" + _asked(False, limit, max_age, differs, at), documents, batch, errors)

    def fingerprint(self, text: str) -> dict[str, Any]:
        """Make the sketch of a text, by the recipe of the service.

        Parameters
        ----------
        text : str
            The text.

        Returns
        -------
        dict
            ``simhash``, ``identity``, ``tokens``, ``shingles`` and ``minhash``.
        """
        return self._send_json("POST", "/v1/fingerprints", {"text": text})

    # ---- Documents ----

    def get(self, id: str, security: Iterable[str] | None = None) -> Stored:
        """Get a document, with its text.

        Parameters
        ----------
        id : str
            Its id.
        security : iterable of str, optional
            Its security labels, where there are several documents with this id.

        Returns
        -------
        Stored
            The document.

        Raises
        ------
        ServiceError
            There is none that the caller sees (``status`` 404), or several (409).
        """
        return Stored._of(self._send_json("GET", _target(id, "", security)))

    def delete(self, id: str, security: Iterable[str] | None = None) -> None:
        """Delete a document and its versions.

        Parameters
        ----------
        id : str
            Its id.
        security : iterable of str, optional
            Its security labels, where there are several documents with this id.

        Raises
        ------
        ServiceError
            There is none that the caller sees (``status`` 404), or several (409).
        """
        self._send("DELETE", _target(id, "", security))

    def versions(self, id: str, security: Iterable[str] | None = None, *, limit: int | None = None) -> list[Version]:
        """List the versions of a document, the first one first.

        Parameters
        ----------
        id : str
            Its id.
        security : iterable of str, optional
            Its security labels, where there are several documents with this id.
        limit : int, optional
            At most so many (default: 100).

        Returns
        -------
        list of Version
            Its versions.
        """
        answer = self._send_json("GET", _target(id, "/versions", security, limit=limit))
        return [Version._of(row) for row in answer["versions"]]

    def near(self, id: str, security: Iterable[str] | None = None, *, limit: int | None = None) -> list[Stored]:
        """List the documents within the threshold of a document, the nearest first.

        Parameters
        ----------
        id : str
            Its id.
        security : iterable of str, optional
            Its security labels, where there are several documents with this id.
        limit : int, optional
            At most so many (default: 100).

        Returns
        -------
        list of Stored
            The documents, without their texts.
        """
        return self._list(_target(id, "/near", security, limit=limit))

    def cluster(self, id: str, security: Iterable[str] | None = None, *, limit: int | None = None) -> list[Stored]:
        """List the documents of the cluster of a document, the leader first.

        Parameters
        ----------
        id : str
            Its id.
        security : iterable of str, optional
            Its security labels, where there are several documents with this id.
        limit : int, optional
            At most so many (default: 100).

        Returns
        -------
        list of Stored
            The documents, without their texts.
        """
        return self._list(_target(id, "/cluster", security, limit=limit))

    def compare(
        self, a: str, b: str, a_security: Iterable[str] | None = None, b_security: Iterable[str] | None = None
    ) -> dict[str, Any]:
        """Compare two documents, with edits and copied passages.

        Parameters
        ----------
        a, b : str
            Their ids.
        a_security, b_security : iterable of str, optional
            Their security labels, where there are several documents with the same id.

        Returns
        -------
        dict
            What ``neardup compare --json`` prints.
        """
        query = {"a": a, "b": b, "a_security": _security(a_security), "b_security": _security(b_security)}
        return self._send_json("GET", "/v1/compare" + _query(query))

    def crawl(self, limit: int | None = None, *, expect: int | None = None) -> list[Stored]:
        """List what to visit next, and why.

        Parameters
        ----------
        limit : int, optional
            At most so many (default: 100).
        expect : int, optional
            The change, in bits of the simhash, that `gap` is the time of (default: that of the service's --expect).

        Returns
        -------
        list of Stored
            The documents, without their texts, what is due first.
        """
        return self._list("/v1/crawl" + _query({"limit": limit, "expect": expect}))

    def documents(
        self, *, site: str | None = None, title: str | None = None, since: str | None = None, limit: int | None = None
    ) -> Iterator[Stored]:
        """List the documents, the newest first.

        Parameters
        ----------
        site : str, optional
            Only those whose id is an address of this host or of one below it, such as "example.org".
        title : str, optional
            Only those whose title has these words.
        since : str, optional
            Only those that came since a time ("2026-01-31T12:00:00Z") or no longer ago than this ("1h", "7d").
        limit : int, optional
            At most so many (default: all of them).

        Yields
        ------
        Stored
            A document, without its text.  They are asked for page by page as they are needed.
        """
        asked = {"site": site, "title": title, "since": since}
        for row in self._pages("/v1/documents", "documents", asked, limit):
            yield Stored._of(row)

    def clusters(self, order: str = "size", *, limit: int | None = None) -> Iterator[Cluster]:
        """List the clusters of at least two documents among the newest documents.

        Parameters
        ----------
        order : str, optional
            "size" (the largest first), "newest" (those with the newest document) or "growth" (those that grew most
            in the last hour, then in the last day).
        limit : int, optional
            At most so many (default: all of them).

        Yields
        ------
        Cluster
            A cluster.
        """
        for row in self._pages("/v1/clusters", "clusters", {"order": order}, limit):
            yield Cluster._of(row)

    def stats(self) -> dict[str, Any]:
        """Get the figures of what the caller sees, and the recipe.

        Returns
        -------
        dict
            The answer of the service (docs/http.md).
        """
        return self._send_json("GET", "/v1/stats")

    # ---- Requests ----

    def _list(self, target: str) -> list[Stored]:
        return [Stored._of(row) for row in self._send_json("GET", target)["documents"]]

    def _pages(
        self, path: str, name: str, asked: Mapping[str, str | None], limit: int | None
    ) -> Iterator[Mapping[str, Any]]:
        cursor = None
        while limit is None or limit > 0:
            page = _PAGE if limit is None else min(limit, _PAGE)
            answer = self._send_json("GET", path + _query({**asked, "limit": page, "cursor": cursor}))
            yield from answer[name]
            cursor = answer["next"]
            if limit is not None:
                limit -= len(answer[name])
            if cursor is None:
                return

    def _many(
        self, target: str, documents: Iterable[str | Mapping[str, Any]], batch: int, errors: str
    ) -> Iterator[Verdict | ServiceError]:
        if batch < 1:
            raise InvalidError("a batch has at least one document")
        if errors not in ("raise", "return"):
            raise InvalidError(f"errors: '{errors}' is neither 'raise' nor 'return'")
        for lines in _batches(map(_line, documents), batch):
            for answer in self._send_lines(target, lines):
                if isinstance(answer, ServiceError) and errors == "raise":
                    raise answer
                yield answer

    def _send_lines(self, target: str, lines: Sequence[bytes]) -> list[Verdict | ServiceError]:
        """Send a batch until the service is busy for none of its documents."""
        answers: dict[int, Verdict | ServiceError] = {}
        end = time.monotonic() + self._retry_for
        while missing := [i for i in range(len(lines)) if i not in answers]:
            body, after = self._send("POST", target, b"".join(lines[i] for i in missing), "application/x-ndjson")
            rows = [_parse(row) for row in body.splitlines()]
            if len(rows) != len(missing):
                raise ServiceError(f"{self._url}: {len(rows)} answers for {len(missing)} documents")
            is_last = time.monotonic() > end
            for i, row in zip(missing, rows):
                error = _line_error(row)
                if error is None:
                    answers[i] = Verdict._of(row)
                elif error.status not in (429, 503) or is_last:
                    answers[i] = error
            if len(answers) < len(lines):
                time.sleep(min(after or _FIRST_WAIT, _LONGEST_WAIT))
        return [answers[i] for i in range(len(lines))]

    def _send_json(self, method: str, target: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        return _parse(self._send(method, target, data, "application/json")[0])

    def _send(
        self, method: str, target: str, body: bytes | None = None, content_type: str = ""
    ) -> tuple[bytes, float | None]:
        """Send a request until it is answered: the body, and Retry-After."""
        end = time.monotonic() + self._retry_for
        for attempt in itertools.count():
            wait = min(_FIRST_WAIT * 2 ** min(attempt, 10), _LONGEST_WAIT)
            error: ServiceError
            try:
                status, data, after = self._attempt(method, target, body, content_type)
            except (http.client.HTTPException, OSError) as failure:
                self._connection.close()
                error = ServiceError(f"{self._url}: {failure or type(failure).__name__}")
                if not self._has_answered:
                    raise error from None
            else:
                self._has_answered = True
                if status < 400:
                    return data, after
                error = _problem(status, data)
                wait = after if after is not None else wait
                if status not in (429, 503):
                    raise error
            if time.monotonic() + wait > end:
                raise error from None
            time.sleep(min(wait, _LONGEST_WAIT))
        raise AssertionError

    def _attempt(
        self, method: str, target: str, body: bytes | None, content_type: str
    ) -> tuple[int, bytes, float | None]:
        fields = dict(self._fields)
        if body is not None:
            fields["Content-Type"] = content_type
        self._connection.request(method, self._path + target, body, fields)
        response = self._connection.getresponse()
        after = response.getheader("Retry-After", "")
        return response.status, response.read(), float(after) if after.isdigit() else None


def _document(
    text: str | None, html: str | None, id: str | None, security: Iterable[str] | None, title: str | None = None
) -> dict[str, Any]:
    if (text is None) == (html is None):
        raise InvalidError("a document has either a text or html")
    if isinstance(security, str):
        raise InvalidError("security is a list of labels (str), not one str")
    document: dict[str, Any] = {"text": text} if html is None else {"html": html}
    if id is not None:
        document["id"] = id
    if security is not None:
        document["security"] = list(security)
    if title is not None:
        document["title"] = title
    return document


def _line(document: str | Mapping[str, Any]) -> bytes:
    """A line of NDJSON.  Lone surrogates, which scraped texts may have, are no Unicode: they are replaced."""
    if isinstance(document, str):
        document = {"text": document}
    else:
        unclear = document.get("labels") is not None and document.get("security") is None
        document = _document(*(document.get(name) for name in ("text", "html", "id", "security", "title")))
        if unclear:
            document["labels"] = []  # The service says what to write instead.
    text = json.dumps(document, ensure_ascii=False)
    return text.encode("utf-8", "replace") + b"\n"


def _batches(lines: Iterable[bytes], batch: int) -> Iterator[list[bytes]]:
    taken: list[bytes] = []
    size = 0
    for line in lines:
        if taken and (len(taken) == batch or size + len(line) > _BODY_BYTES):
            yield taken
            taken, size = [], 0
        taken.append(line)
        size += len(line)
    if taken:
        yield taken


def _query(parameters: Mapping[str, str | float | None]) -> str:
    given = {name: value for name, value in parameters.items() if value is not None}
    return "?" + urlencode(given) if given else ""


def _asked(dry: bool, limit: int | None, max_age: str | None, differs: bool, at: float | str | None) -> str:
    query = {"dry": 1 if dry else None, "limit": limit, "max_age": max_age, "differs": 1 if differs else None, "at": at}
    return _query(query)


def _target(id: str, below: str, security: Iterable[str] | None, limit: int | None = None) -> str:
    return f"/v1/documents/{quote(id, safe='')}{below}" + _query({"security": _security(security), "limit": limit})


def _parse(data: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(data)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise ServiceError("the answer is none of neardup's")
    return answer


def _problem(status: int, data: bytes) -> ServiceError:
    try:
        answer = _parse(data)
    except ServiceError:
        return ServiceError(f"the service answered {status}", status)
    return ServiceError(
        str(answer.get("detail") or answer.get("title") or "refused"), status, str(answer.get("title", ""))
    )


def _line_error(row: Mapping[str, Any]) -> ServiceError | None:
    error = row.get("error")
    if error is None:
        return None
    return ServiceError(str(error.get("detail", "refused")), int(error.get("status", 0)), str(error.get("title", "")))
