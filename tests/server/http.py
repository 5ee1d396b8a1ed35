#!/usr/bin/env python3
"""http.py - what the server answers, and what it refuses, through sockets

usage: http.py SERVER [TEST…], where SERVER is serve_for_tests
"""
import contextlib
import hashlib
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PROGRAM = None
SHIELD = 60  # seconds after which a test that hangs fails


class Server:
    """A server on a free port, with a store of its own."""

    def __init__(self, *options, folder=None):
        self.home = tempfile.mkdtemp(prefix="neardup-http-")
        self.store = folder or os.path.join(self.home, "store")
        self.options = options
        self.start()

    def start(self):
        self.errors = open(os.path.join(self.home, "errors"), "a+")
        self.process = subprocess.Popen([PROGRAM, self.store, *self.options], text=True,
                                        stdout=subprocess.PIPE, stderr=self.errors)
        self.address = self.process.stdout.readline().strip()
        self.port = int(self.address.rsplit(":", 1)[1]) if self.address else 0

    def log(self):
        with open(self.errors.name) as file:
            return file.read()

    def signal(self, number):
        self.process.send_signal(number)

    def wait_for(self, text, times=1):
        while self.log().count(text) < times:
            if self.process.poll() is not None:
                raise AssertionError("the server ended: " + self.log())
            threading.Event().wait(0.005)

    def stop(self):
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
        status = self.process.wait(SHIELD)
        self.process.stdout.close()
        self.errors.close()
        return status

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        status = self.stop()
        with open(os.path.join(self.home, "errors")) as file:
            log = file.read()
        shutil.rmtree(self.home)
        if status != 0:
            raise AssertionError(f"the server ended with {status}: {log}")

    def connect(self):
        return Client(socket.create_connection(("127.0.0.1", self.port), SHIELD), self)

    def ask(self, method, target, body=None, type=None, **fields):
        with self.connect() as client:
            return client.ask(method, target, body, type, **fields)

    def post(self, target, body, type="application/json", **fields):
        return self.ask("POST", target, body, type, **fields)


class Answer:
    def __init__(self, status, fields, body):
        self.status, self.fields, self.body = status, fields, body

    def json(self):
        return json.loads(self.body)

    def lines(self):
        return [json.loads(line) for line in self.body.splitlines()]


class Client:
    """A connection, and the bytes that go over it."""

    def __init__(self, sock, server):
        self.socket, self.server, self.rest = sock, server, b""

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data if isinstance(data, bytes) else data.encode())

    def receive(self):
        data = self.socket.recv(1 << 16)
        self.rest += data
        return len(data) > 0

    def is_closed(self):
        """The server closes, and says nothing more."""
        try:
            while self.receive():
                pass
        except ConnectionError:
            pass
        return self.rest == b""

    def answer(self, has_body=True):
        while b"\r\n\r\n" not in self.rest:
            if not self.receive():
                raise AssertionError(f"no answer: {self.rest!r}")
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        lines = head.decode().split("\r\n")
        fields = {}
        for line in lines[1:]:
            name, value = line.split(":", 1)
            fields[name.lower()] = value.strip()
        status = int(lines[0].split()[1])
        if status == 100:
            return self.answer(has_body)
        length = int(fields.get("content-length", 0)) if has_body else 0
        while len(self.rest) < length:
            if not self.receive():
                raise AssertionError("the answer is cut off")
        body, self.rest = self.rest[:length], self.rest[length:]
        return Answer(status, fields, body)

    def request(self, method, target, body=None, type=None, **fields):
        body = body.encode() if isinstance(body, str) else body
        head = [f"{method} {target} HTTP/1.1"]
        fields.setdefault("Host", f"127.0.0.1:{self.server.port}")
        if body is not None:
            fields.setdefault("Content_Length", str(len(body)))
        if type:
            fields["Content_Type"] = type
        head += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()
                 if value is not None]
        self.send("\r\n".join(head).encode() + b"\r\n\r\n" + (body or b""))

    def ask(self, method, target, body=None, type=None, **fields):
        self.request(method, target, body, type, **fields)
        return self.answer(has_body=method != "HEAD")


def document(id, text, **more):
    return json.dumps({"id": id, "text": text, **more})


def key_line(key, name, labels, more=""):
    return f"{hashlib.sha256(key.encode()).hexdigest()} {name} {labels} {more}\n"


def words(seed, n=60):
    """A text of its own for each seed."""
    return " ".join(hashlib.sha256(f"{seed} {i}".encode()).hexdigest()[:7] for i in range(n))


class Requests(unittest.TestCase):
    """One server for all: these leave it as it was, but for the documents of each."""

    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        cls.server = cls.stack.enter_context(Server("body_bytes=1000000", "host=search.example"))

    @classmethod
    def tearDownClass(cls):
        cls.stack.close()

    def refused(self, answer, status, kind=None):
        self.assertEqual(answer.status, status, answer.body)
        self.assertEqual(answer.fields["content-type"], "application/problem+json")
        problem = answer.json()
        self.assertEqual(problem["status"], status)
        self.assertEqual(set(problem), {"type", "title", "status", "detail"})
        if kind:
            self.assertEqual(problem["type"], "/problems/" + kind)
        return problem

    # ---- Heads that could be read in two ways ----

    def smuggle(self, head, body=b""):
        """The request is refused, and what is behind its head is no request."""
        behind = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        self.refused_once(head + b"\r\n" + body + behind, 400)

    def refused_once(self, data, status, step=None):
        """One answer comes, with one head, and the connection is closed."""
        with self.server.connect() as client:
            client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with contextlib.suppress(ConnectionError):
                for at in range(0, len(data), step or len(data)):
                    client.send(data[at:at + (step or len(data))])
            answer = client.answer()
            self.refused(answer, status)
            self.assertNotIn(b"HTTP/", answer.body)
            self.assertTrue(client.is_closed(), client.rest)
            return answer.json()["detail"]

    def test_heads_of_two_meanings_are_refused_and_the_connection_is_closed(self):
        line = b"POST /v1/query HTTP/1.1\r\n"
        start = line + b"Host: localhost\r\nContent-Type: text/plain\r\n"
        for fields in (b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
                       b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
                       b"Content-Length: 3\r\nContent-Length: 3\r\n",
                       b"Content-Length: 3\r\nContent-Length: 4\r\n",
                       b"Content-Length: 3, 3\r\n",
                       b"Content-Length: +3\r\n",
                       b"Content-Length: 0x3\r\n",
                       b"Content-Length: -1\r\n",
                       b"Content-Length: 3,3\r\n",
                       b"Content-Length:\r\n",
                       b"Content-Length : 3\r\n",
                       b"Content-Length\t: 3\r\n",
                       b" Content-Length: 3\r\n",
                       b"Transfer-Encoding: gzip, chunked\r\n",
                       b"Transfer-Encoding: chunked, identity\r\n",
                       b"Transfer-Encoding: xchunked\r\n",
                       b"Transfer-Encoding : chunked\r\n",
                       b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                       b"X: a\r\n b\r\nContent-Length: 3\r\n",
                       b"X: a\r\n\tContent-Length: 3\r\n",
                       b"Content-Length: 3\r\n 4\r\n",
                       b"Transfer-Encoding:\r\n chunked\r\n",
                       b"X: a\nContent-Length: 3\r\n",
                       b"X: a\rContent-Length: 3\r\n",
                       b"X: a\0b\r\nContent-Length: 3\r\n",
                       b"X: a\x7f\r\nContent-Length: 3\r\n",
                       b"X\x01: a\r\nContent-Length: 3\r\n",
                       b"X(: a\r\nContent-Length: 3\r\n",
                       b": a\r\nContent-Length: 3\r\n",
                       b"Host: localhost\r\nContent-Length: 3\r\n",
                       b"Authorization: Bearer a\r\nAuthorization: Bearer b\r\n"):
            with self.subTest(fields=fields):
                self.smuggle(start + fields, b"abc")

    def test_request_lines_that_are_malformed_are_refused(self):
        for line in (b"GET  /healthz HTTP/1.1\r\n", b"GET /healthz  HTTP/1.1\r\n",
                     b"GET /healthz HTTP/1.1 \r\n", b"GET /health z HTTP/1.1\r\n",
                     b"G@T /healthz HTTP/1.1\r\n", b"GET /healthz\0 HTTP/1.1\r\n",
                     b"GET /healthz\r\n", b"GET /healthz http/1.1\r\n",
                     b"GET /healthz HTTP/1.2\r\n", b"PRI * HTTP/2.0\r\n", b"GET\r\n", b"x\r\n",
                     b"GET /healthz HTTP/1.1\n"):
            with self.subTest(line=line):
                self.smuggle(line + b"Host: localhost\r\n")

    def chunked(self, body, type="text/plain", more=""):
        return (f"POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: {type}\r\n"
                f"{more}Transfer-Encoding: chunked\r\n\r\n").encode() + body

    def test_lines_of_chunks_and_trailers_are_those_of_heads(self):
        behind = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for body in (b"5\nhello\r\n0\r\n\r\n", b"5\r\nhello\n0\r\n\r\n", b"5\r\nhello\r\n0\n\r\n",
                     b"5\r\nhello\r\n0\r\n\n", b"5\nhello\n0\n\n", b"5\rhello\r0\r\r",
                     b"5\r\nhello\r0\r\n\r\n", b"5\r\nhello0\r\n\r\n", b"5;a\rb\r\nhello\r\n0\r\n\r\n",
                     b"5;a\nb\r\nhello\r\n0\r\n\r\n", b"5;a\0\r\nhello\r\n0\r\n\r\n",
                     b"5 \r\nhello\r\n0\r\n\r\n", b"0x5\r\nhello\r\n0\r\n\r\n", b"\r\nhello\r\n0\r\n\r\n",
                     b"+5\r\nhello\r\n0\r\n\r\n", b"10000000000000005\r\nhello\r\n0\r\n\r\n",
                     b"5;" + b"a" * 2000 + b"\r\nhello\r\n0\r\n\r\n",
                     b"5\r\nhello\r\n0\r\nX: y\n\r\n", b"5\r\nhello\r\n0\r\nX: y\r\n\n",
                     b"5\r\nhello\r\n0\r\nX: a\rb\r\n\r\n", b"5\r\nhello\r\n0\r\nX: a\0\r\n\r\n",
                     b"5\r\nhello\r\n0\r\nX : y\r\n\r\n", b"5\r\nhello\r\n0\r\n X: y\r\n\r\n",
                     b"5\r\nhello\r\n0\r\nX\r\n\r\n", b"5\r\nhello\r\n0\r\nX: y\r\n z\r\n\r\n",
                     b"5\r\nhello\r\n0\r\nX: " + b"y" * 2000 + b"\r\n\r\n"):
            with self.subTest(body=body):
                detail = self.refused_once(self.chunked(body) + behind, 400)
                self.assertRegex(detail, "chunk|trailers")
        for body in (b"5\nhello\r\n0\r\n\r\n", b"5\r\nhello\n0\r\n\r\n", b"5\r\nhello\r\n0\r\n\n"):
            self.refused_once(self.chunked(body), 400, step=1)
        lines = (document("x", words("x")) + "\n").encode() * 2000
        body = b"%x\r\n%s\r\n5\nhello" % (len(lines), lines)
        self.refused_once(self.chunked(body, "application/x-ndjson") + behind, 400)

    def test_bodies_in_chunks_are_read_however_they_arrive(self):
        sent = self.chunked(b"3\r\none\r\n00A;x=\"y\"\r\n two three\r\n0\r\nX: y\r\nContent-Length: 1\r\n"
                            b"\r\n") + b"\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        expected = self.server.post("/v1/query", "one two three", "text/plain").body
        for step in (1, 2, 3, 7, 50, len(sent)):
            with self.subTest(step=step), self.server.connect() as client:
                client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for at in range(0, len(sent), step):
                    client.send(sent[at:at + step])
                self.assertEqual(client.answer().body, expected)
                self.assertEqual(client.answer().json(), {"status": "ok"})

    def test_what_came_before_a_malformed_request_is_answered(self):
        good = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        with self.server.connect() as client:
            client.send(good * 3 + b"GET /healthz HTTP/1.1\nHost: localhost\r\n\r\n" + good)
            for _ in range(3):
                self.assertEqual(client.answer().status, 200)
            self.refused(client.answer(), 400)
            self.assertTrue(client.is_closed())

    def test_a_request_without_host_is_refused(self):
        with self.server.connect() as client:
            client.send(b"GET /healthz HTTP/1.1\r\n\r\n")
            self.refused(client.answer(), 400)

    def test_programs_that_watch_ask_by_any_address(self):
        for target in ("/healthz", "/readyz", "/metrics"):
            for host in ("10.1.2.3", "10.1.2.3:8080", "[fd00::1]:80"):
                self.assertEqual(self.server.ask("GET", target, Host=host).status, 200)
            for host in ("example.org", "10.1.2.3.example.org", "", "010.1.2.3.4"):
                self.refused(self.server.ask("GET", target, Host=host), 421, "host")
            with self.server.connect() as client:
                client.send(f"GET {target} HTTP/1.0\r\n\r\n".encode())
                self.assertEqual(client.answer().status, 200)
        for target in ("/v1/stats", "/", "/openapi.json"):
            self.refused(self.server.ask("GET", target, Host="10.1.2.3"), 421, "host")
        self.assertEqual(self.server.ask("GET", "/readyz").json(), {"status": "ready"})

    def test_a_request_has_an_id(self):
        ids = [self.server.ask("GET", target).fields["x-request-id"]
               for target in ("/healthz", "/healthz", "/nothing")]
        for own in ids:
            self.assertRegex(own, "^[0-9a-f]{16}$")
        self.assertEqual(len(set(ids)), 3)
        for given in ("a", "x" * 64, "1-2_3.4~5:6+7/8="):
            answer = self.server.ask("GET", "/v1/stats", X_Request_Id=given)
            self.assertEqual(answer.fields["x-request-id"], given)
        for other in ("", "x" * 65, "a b", "a\tb", "\u00e9", 'a"', "a;b", "a%0a"):
            answer = self.server.ask("GET", "/v1/stats", X_Request_Id=other)
            self.assertRegex(answer.fields["x-request-id"], "^[0-9a-f]{16}$")

    def test_fields_in_any_case_and_with_any_blanks_are_read(self):
        with self.server.connect() as client:
            client.send(b"POST /v1/query HTTP/1.1\r\nhOST:localhost\r\n"
                        b"content-TYPE: \t text/plain ; charset=utf-8 \r\nContent-length:   3\r\n"
                        b"X:\r\n\r\nabcGET /healthz HTTP/1.1\r\nHost: [::1]:1\r\n\r\n")
            self.assertEqual(client.answer().status, 200)
            self.assertEqual(client.answer().json(), {"status": "ok"})

    # ---- Other sites ----

    def test_hosts_of_others_are_refused(self):
        for host in ("example.org", "localhost.example.org", "1.2.3.4", "127.0.0.1.example.org",
                     "[::2]", "", "search.example.org", "[::1", "0"):
            with self.subTest(host=host):
                self.refused(self.server.ask("GET", "/v1/stats", Host=host), 421, "host")
        for host in ("localhost", "LOCALHOST:1", "127.0.0.1", "127.1.2.3:80", "[::1]",
                     "search.example", "Search.Example:8080"):
            with self.subTest(host=host):
                self.assertEqual(self.server.ask("GET", "/v1/stats", Host=host).status, 200)

    def test_a_host_has_a_port_that_is_one(self):
        for host in ("localhost:", "localhost:80.evil.example", "localhost:x", "localhost:-1",
                     "localhost:+1", "localhost:65536", "localhost:99999999999999999999", "::1",
                     "localhost:1:2", "[::1].evil.example", "[::1]:", "[::1]:x", "[::1]1",
                     "search.example:80.evil.example", "other.example:x"):
            with self.subTest(host=host):
                problem = self.refused(self.server.ask("GET", "/v1/stats", Host=host), 400,
                                       "malformed")
                self.assertIn("Host", problem["detail"])
        for host in ("localhost:0", "localhost:65535", "[::1]:00080"):
            with self.subTest(host=host):
                self.assertEqual(self.server.ask("GET", "/v1/stats", Host=host).status, 200)

    def test_pages_of_other_sites_are_refused(self):
        own = f"127.0.0.1:{self.server.port}"
        for origin in ("http://example.org", "null", "http://127.0.0.1:1", "http://" + own + ".org",
                       "file://", "", own):
            with self.subTest(origin=origin):
                answer = self.server.post("/v1/query", document("x", "x"), Origin=origin)
                self.refused(answer, 403, "origin")
        for origin in ("http://" + own, "HTTP://" + own, "https://" + own):
            with self.subTest(origin=origin):
                answer = self.server.post("/v1/query", document("x", "x"), Origin=origin)
                self.assertEqual(answer.status, 200)
        for site, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 200),
                             ("none", 200)):
            answer = self.server.ask("GET", "/v1/stats", Sec_Fetch_Site=site)
            self.assertEqual(answer.status, status)
        self.refused(self.server.ask("OPTIONS", "/v1/documents", Origin="http://example.org"), 403)

    # ---- Paths and methods ----

    def test_paths_and_methods(self):
        for target in ("/nothing", "/v1", "/v1/", "/v1/documents/", "/v1/documents/a/b",
                       "/v1/documents/a/", "/v1/documents/a/near/", "//healthz", "/V1/stats",
                       "/healthz/", "/index.html", "/../etc/passwd"):
            with self.subTest(target=target):
                self.refused(self.server.ask("GET", target), 404, "no-path")
        for method, target, allow in (
                ("POST", "/healthz", "GET, HEAD, OPTIONS"),
                ("PUT", "/v1/documents", "GET, HEAD, POST, OPTIONS"),
                ("GET", "/v1/query", "POST, OPTIONS"), ("TRACE", "/v1/stats", "GET, HEAD, OPTIONS"),
                ("POST", "/v1/documents/a", "DELETE, GET, HEAD, OPTIONS"),
                ("DELETE", "/v1/compare", "GET, HEAD, POST, OPTIONS")):
            with self.subTest(method=method, target=target):
                answer = self.server.ask(method, target)
                self.refused(answer, 405, "method")
                self.assertEqual(answer.fields["allow"], allow)
                answer = self.server.ask("OPTIONS", target)
                self.assertEqual((answer.status, answer.fields["allow"]), (204, allow))
        self.assertEqual(self.server.ask("OPTIONS", "*").status, 204)

    def test_addresses_that_are_malformed_are_refused(self):
        for target in ("/v1/documents/%", "/v1/documents/%4", "/v1/documents/%zz",
                       "/v1/documents/%ff", "/v1/documents/%c0%80", "/v1/crawl?limit=0",
                       "/v1/crawl?limit=10001", "/v1/crawl?limit=", "/v1/crawl?limit=1e3",
                       "/v1/crawl?limit=99999999999999999999", "/v1/crawl?limit=1&limit=1",
                       "/v1/crawl?expect=0", "/v1/crawl?expect=", "/v1/crawl?expect=1000001",
                       "/v1/crawl?unknown=1", "/v1/crawl?id=1", "/v1/crawl?limit=%31%",
                       "http://localhost/healthz", "healthz", "/healthz#a", "/v1/compare",
                       "/v1/compare?a=x"):
            with self.subTest(target=target):
                self.refused(self.server.ask("GET", target), 400, "malformed")
        for wrong in ("dry=2", "differs=2", "differs=", "differs=true", "differs=1&differs=1"):
            self.refused(self.server.post("/v1/documents?" + wrong, document("x", "x")), 400)
        for asked in ("limit=0", "limit=101", "limit=", "limit=-1", "max_age=", "max_age=0", "max_age=1y",
                      "max_age=1.5h", "max_age=-1", "max_age=99999w", "max_age=1h&max_age=2h"):
            for path in ("/v1/query?", "/v1/documents?dry=1&"):
                self.refused(self.server.post(path + asked, document("x", "x")), 400)
        self.refused(self.server.ask("GET", "/v1/crawl?max_age=1h"), 400)
        self.refused(self.server.post("/v1/documents?id=x", document("x", "x")), 400)

    def test_head_is_get_without_a_body(self):
        get = self.server.ask("GET", "/v1/stats")
        head = self.server.ask("HEAD", "/v1/stats")
        self.assertEqual(head.status, 200)
        self.assertEqual(head.fields["content-type"], get.fields["content-type"])

    def test_every_answer_has_the_fields_that_protect_browsers(self):
        for answer in (self.server.ask("GET", "/healthz"), self.server.ask("GET", "/nothing"),
                       self.server.ask("GET", "/v1/stats"), self.server.ask("GET", "/openapi.json"),
                       self.server.ask("OPTIONS", "/v1/crawl")):
            self.assertEqual(answer.fields["x-content-type-options"], "nosniff")
            self.assertIn("default-src 'none'", answer.fields["content-security-policy"])
            self.assertIn("frame-ancestors 'none'", answer.fields["content-security-policy"])
            self.assertEqual(answer.fields["cross-origin-resource-policy"], "same-origin")
            self.assertNotIn("access-control-allow-origin", answer.fields)
            self.assertNotIn("set-cookie", answer.fields)

    def test_files_are_sent_once(self):
        answer = self.server.ask("GET", "/openapi.json")
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.json()["openapi"][:3], "3.1")
        again = self.server.ask("GET", "/openapi.json", If_None_Match=answer.fields["etag"])
        self.assertEqual((again.status, again.body), (304, b""))
        again = self.server.ask("GET", "/openapi.json", If_None_Match='"other"')
        self.assertEqual(again.status, 200)

    # ---- Bodies ----

    def test_types_of_bodies(self):
        text = words("types")
        expected = None
        for type, body in (("text/plain", text), ("text/plain; charset=utf-8", text),
                           ("Text/Plain;charset=\"UTF-8\"", "\ufeff" + text),
                           ("text/html", "<p>" + text), ("application/json", document("a", text)),
                           ("application/json", json.dumps({"html": "<b>" + text + "</b>"})),
                           ("text/html; charset=utf-8", "<meta charset=latin1><p>" + text)):
            with self.subTest(type=type):
                answer = self.server.post("/v1/fingerprints", body, type)
                self.assertEqual(answer.status, 200, answer.body)
                self.assertNotIn("replaced", answer.json())
                expected = expected or answer.json()
                self.assertEqual(answer.json(), expected)
        for type in ("application/xml", "multipart/form-data", "text/css", "text",
                     "application/jsonx", "", "text/plain; charset=klingon",
                     "text/plain; charset=utf-16"):
            with self.subTest(type=type):
                self.refused(self.server.post("/v1/query", "x", type), 415, "type")
        self.refused(self.server.ask("POST", "/v1/query", "x"), 415, "type")

    def test_bodies_that_are_encoded_are_refused(self):
        for coding in ("gzip", "br", "x-gzip", "identity, gzip", "gzip, identity", "none"):
            for type in ("text/plain", "application/json", "application/x-ndjson"):
                with self.subTest(coding=coding, type=type):
                    answer = self.server.post("/v1/documents", document("coded", words("coded")),
                                              type, Content_Encoding=coding)
                    problem = self.refused(answer, 415, "type")
                    self.assertIn("Content-Encoding", problem["detail"])
                    self.assertEqual(answer.fields["accept-encoding"], "identity")
        self.refused(self.server.ask("GET", "/v1/documents/coded"), 404)
        for coding in ("identity", "Identity", ""):
            answer = self.server.post("/v1/query", "x", "text/plain", Content_Encoding=coding)
            self.assertEqual(answer.status, 200)
        answer = self.server.post("/v1/query", "x", "text/css")
        self.refused(answer, 415)
        self.assertNotIn("accept-encoding", answer.fields)

    def test_charsets_are_decoded(self):
        plain = self.server.post("/v1/fingerprints", "caf\u00e9 au lait", "text/plain").json()
        latin = "caf\u00e9 au lait".encode("latin-1")
        for type, body in (("text/plain; charset=iso-8859-1", latin),
                           ("text/html; charset=iso-8859-1", b"<meta charset=utf-8>" + latin),
                           ("text/html", b"<meta charset=iso-8859-1>" + latin)):
            with self.subTest(type=type):
                self.assertEqual(self.server.post("/v1/fingerprints", body, type).json(), plain)

    def test_what_is_not_utf8(self):
        bad = b'{"text": "a\xff b"}'
        self.refused(self.server.post("/v1/query", bad), 400, "malformed")
        answer = self.server.post("/v1/query", b"a\xff b \xc3( c", "text/plain")
        self.assertEqual((answer.status, answer.json()["replaced"]), (200, 2))
        answer = self.server.post("/v1/query", '{"text": "a \\ud800 b \\ufffd"}')
        self.assertEqual((answer.status, answer.json()["replaced"]), (200, 1))

    def test_json_that_is_no_document(self):
        for body, status in (("", 400), ("[]", 400), ('"x"', 400), ("{", 400), ('{"text":}', 400),
                             ('{"text":"x"} 1', 400), ('{"text":"x",}', 400), ("nul", 400),
                             ('{"text":"\n"}', 400), ('{"text":"\\x"}', 400),
                             ("[" * 2000, 400), ('{"a":' * 2000, 400),
                             ("{}", 422), ('{"text":null}', 422), ('{"text":1}', 422),
                             ('{"text":["x"]}', 422), ('{"text":"x","html":"x"}', 422),
                             ('{"html":{}}', 422), ('{"id":1,"text":"x"}', 422),
                             ('{"id":"","text":"x"}', 422), ('{"id":"\\ud800","text":"x"}', 422),
                             ('{"security":"a","text":"x"}', 422), ('{"security":[1],"text":"x"}', 422),
                             ('{"security":[["a"]],"text":"x"}', 422),
                             ('{"security":["a",null],"text":"x"}', 422),
                             ('{"security":["a,b"],"text":"x"}', 422),
                             ('{"security":[""],"text":"x"}', 422),
                             (json.dumps({"security": [f"l{i}" for i in range(65)], "text": "x"}), 422),
                             (json.dumps({"security": ["l" * 129], "text": "x"}), 422),
                             (document("i" * 4097, "x"), 422)):
            with self.subTest(body=body[:60]):
                answer = self.server.post("/v1/documents", body)
                self.refused(answer, status)

    def test_other_members_are_ignored(self):
        body = '{"id": 7, "security": 8, "a": [{"text": "x"}], "text": "y", "a": 5}'
        self.assertEqual(self.server.post("/v1/query", body).status, 200)

    def test_labels_without_security_are_refused(self):
        for labels in (["a topic"], [], "a", {"a": 1}):
            for more in ({}, {"security": None}):
                body = json.dumps({"id": "topics", "labels": labels, "text": "x", **more})
                with self.subTest(labels=labels, more=more):
                    problem = self.refused(self.server.post("/v1/documents", body), 422, "document")
                    self.assertIn('"labels" and no "security"', problem["detail"])
                    self.assertIn('add "security": []', problem["detail"])
                    line = self.server.post("/v1/documents", body, "application/x-ndjson").lines()[0]
                    self.assertEqual(line["error"]["detail"], problem["detail"])
        problem = self.refused(self.server.post("/v1/documents?labels=a", "x", "text/plain"), 400)
        self.assertIn("'labels'", problem["detail"])

    def test_with_security_labels_are_a_member_like_any_other(self):
        for security in ([], ["a"]):
            for labels in ('["x"]', "7", '[], "labels": {}'):
                body = '{"id": "t", "labels": %s, "security": %s, "text": "y"}' % (labels, json.dumps(security))
                answer = self.server.post("/v1/documents?dry=1", body)
                self.assertEqual((answer.status, answer.json()["security"]), (200, security))
        for body in ('{"labels": ["x"], "text": "y"}', '{"labels": null, "text": "y"}'):
            self.assertEqual(self.server.post("/v1/query", body).status, 200)
            self.assertEqual(self.server.post("/v1/fingerprints", body).status, 200)
        self.assertEqual(self.server.post("/v1/documents?dry=1", '{"labels": null, "text": "y"}').status, 200)

    def test_members_that_stand_twice_are_refused(self):
        for name, more in (("text", '"text": "x"'), ("text", '"te\\u0078t": null'),
                           ("id", '"id": "a", "id": "a"'), ("security", '"security": [], "security": 1'),
                           ("html", '"html": null, "html": null'), ("title", '"title": "a", "title": null')):
            for target in ("/v1/documents?dry=1", "/v1/query", "/v1/fingerprints"):
                with self.subTest(more=more, target=target):
                    body = '{"text": "y", ' + more + "}"
                    problem = self.refused(self.server.post(target, body), 400, "malformed")
                    self.assertIn(f'"{name}" twice', problem["detail"])
                    answer = self.server.post(target, body, "application/x-ndjson").lines()[0]
                    self.assertEqual(answer["error"]["status"], 400)

    def test_sizes(self):
        big = "x " * 500001
        self.refused(self.server.post("/v1/query", big, "text/plain"), 413, "too-large")
        with self.server.connect() as client:  # which is answered before anything is sent
            client.request("POST", "/v1/query", None, "text/plain", Content_Length=10**12,
                           Expect="100-continue")
            self.refused(client.answer(), 413, "too-large")
            self.assertTrue(client.is_closed())
        with self.server.connect() as client:
            client.request("POST", "/v1/query", None, "text/plain", Transfer_Encoding="chunked")
            chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
            for _ in range(20):
                client.send(chunk)
            client.send(b"0\r\n\r\n")
            self.refused(client.answer(), 413, "too-large")
        self.refused(self.server.ask("POST", "/v1/query", type="text/plain"), 411, "no-length")
        with self.server.connect() as client:
            client.request("POST", "/v1/query", None, "text/plain", Content_Length=10**30)
            self.assertIn(client.answer().status, (400, 413))

    def test_a_body_without_end_is_cut_off(self):
        with self.server.connect() as client:
            client.request("POST", "/v1/query", None, "text/plain", Transfer_Encoding="chunked")
            with self.assertRaises(ConnectionError):
                while True:
                    client.send(b"10000\r\n" + b"x" * 65536 + b"\r\n")

    def test_heads_that_are_too_long_are_refused(self):
        most = 16384

        def head(target, fields, n):
            """A head of n bytes, filled up in its target or in its last field."""
            text = "{} {} HTTP/1.1\r\nHost: localhost\r\n{}\r\n"
            rest = n - len(text.format("GET", target, fields)) + fields.count("@") + target.count("@")
            return text.format("GET", target.replace("@", "x" * rest),
                               fields.replace("@", "x" * rest)).encode()

        for target, fields, status in (("/v1/documents/@", "", 404), ("/healthz", "X: @\r\n", 200),
                                       ("/healthz", "Cookie: a=@\r\n", 200),
                                       ("/healthz", "X: \r\n" * 62 + "Y: @\r\n", 200)):
            with self.subTest(target=target, fields=fields[:9]), self.server.connect() as client:
                at_most = head(target, fields, most)
                self.assertEqual(len(at_most), most)
                for _ in range(2):
                    client.send(at_most)
                    self.assertEqual(client.answer().status, status)
                client.send(head(target, fields, most + 1))
                is_target = "@" in target
                self.refused(client.answer(), 414 if is_target else 431,
                             "long-address" if is_target else "long-head")
                self.assertTrue(client.is_closed())
        self.refused_once(b"GET /" + b"x" * 30000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 414)
        self.refused_once(b"GET /" + b"x" * 17000, 414)
        self.refused_once(head("/healthz", "X: @\r\n", 30000), 431)
        self.refused_once(head("/healthz", "X: \r\n" * 63 + "Y: @\r\n", 500), 431)
        body = head("/healthz", "Content-Type: text/plain\r\nContent-Length: 3\r\nX: @\r\n", most)
        with self.server.connect() as client:
            client.send(body.replace(b"GET /healthz", b"POST /v1/qry").replace(b"v1/qry", b"v1/query")
                        .replace(b"xx", b"", 1) + b"abc")
            self.assertEqual(client.answer().status, 200)
            self.assertEqual(client.ask("GET", "/healthz").status, 200)
        self.refused(self.server.ask("GET", "/v1/crawl?" + "&".join(["a=b"] * 2000)), 400, "malformed")
        longest = "\u20ac" * 1365  # 4,095 bytes, 12,285 when encoded
        answer = self.server.ask("GET", "/v1/documents/" + "%E2%82%AC" * len(longest))
        self.refused(answer, 404, "no-document")

    def test_the_client_is_told_to_go_on(self):
        with self.server.connect() as client:
            client.request("POST", "/v1/query", None, "text/plain", Content_Length=3,
                           Expect="100-continue")
            while b"100 Continue" not in client.rest:
                self.assertTrue(client.receive())
            client.send(b"abc")
            self.assertEqual(client.answer().status, 200)

    def test_a_refused_body_is_passed_over(self):
        with self.server.connect() as client:
            self.refused(client.ask("POST", "/v1/query", "x" * 5000, "text/css"), 415)
            self.assertEqual(client.ask("GET", "/healthz").status, 200)

    def test_requests_may_be_sent_before_answers_are_read(self):
        with self.server.connect() as client:
            for i in range(50):
                client.request("POST", "/v1/query", document("x", f"text {i} of many"),
                               "application/json")
            for i in range(50):
                self.assertEqual(client.answer().status, 200)

    # ---- Documents ----

    def test_the_life_of_a_document(self):
        text, id = words("life"), "http://example.org/a b?c=d&e#\u00e9%2F\"<\\"
        path = "/v1/documents/" + "".join("%%%02X" % b for b in id.encode())
        answer = self.server.post("/v1/documents", document(id, text))
        self.assertEqual((answer.status, answer.json()["verdict"]), (201, "new"))
        self.assertEqual((answer.json()["id"], answer.json()["security"]), (id, []))
        answer = self.server.post("/v1/documents", document(id, text))
        self.assertEqual((answer.status, answer.json()["changed"]), (200, False))
        near = text + " and a few words more"
        answer = self.server.post("/v1/query", near, "text/plain").json()
        self.assertEqual((answer["verdict"], answer["of"]), ("near-duplicate",
                                                             {"id": id, "security": []}))
        a, b = answer["evidence"]["shingles"]
        shared = answer["evidence"]["shared"]
        self.assertAlmostEqual(answer["evidence"]["resemblance"], shared / (a + b - shared))
        stored = self.server.ask("GET", path).json()
        self.assertEqual((stored["id"], stored["text"], stored["visits"]), (id, text, 2))
        answer = self.server.post("/v1/documents", document(id, near)).json()
        self.assertEqual((answer["version"], answer["changed"]), (2, True))
        versions = self.server.ask("GET", path + "/versions").json()
        self.assertEqual([v["version"] for v in versions["versions"]], [1, 2])
        self.assertIsNone(versions["versions"][0]["distance"])
        self.assertEqual(versions["total"], 2)
        for end in ("/near", "/cluster", "/near?limit=10000", "/cluster?limit=1"):
            answer = self.server.ask("GET", path + end)
            self.assertEqual((answer.status, answer.json()["id"]), (200, id))
        self.assertEqual(self.server.ask("DELETE", path).status, 204)
        for end in ("", "/near", "/cluster", "/versions"):
            self.refused(self.server.ask("GET", path + end), 404, "no-document")
        self.refused(self.server.ask("DELETE", path), 404, "no-document")

    def test_hostile_ids_come_back_as_they_were(self):
        for i, id in enumerate(("\0", "\n{}", "</script>", "\u2028", "\"", "\\u0041", "\x1b[2J",
                                "..", "a/../b", "%2F", "+", " ", "\u202e", "\U0001f600")):
            with self.subTest(id=id):
                text = words(f"hostile {i}")
                answer = self.server.post("/v1/documents", document(id, text))
                if answer.status == 422:  # the store takes no such id
                    continue
                self.assertEqual((answer.status, answer.json()["id"]), (201, id))
                path = "".join("%%%02x" % b for b in id.encode())
                self.assertEqual(self.server.ask("GET", "/v1/documents/" + path).json()["id"], id)
                answer = self.server.post("/v1/query", text, "text/plain").json()
                self.assertEqual(answer["of"]["id"], id)

    def test_an_id_in_the_address(self):
        answer = self.server.post("/v1/documents?id=a+b%2Bc&security=", words("id"), "text/plain")
        self.assertEqual((answer.status, answer.json()["id"]), (201, "a b+c"))
        answer = self.server.post("/v1/documents?id=", "x", "text/plain")
        self.refused(answer, 422, "document")

    def test_without_an_id_the_text_names_the_document(self):
        text = words("nameless")
        dry = self.server.post("/v1/documents?dry=1", text, "text/plain").json()
        self.assertEqual((dry["stored"], dry["verdict"]), (False, "new"))
        self.assertRegex(dry["id"], "^[0-9a-f]{32}$")
        real = self.server.post("/v1/documents", text, "text/plain").json()
        self.assertEqual(real["id"], dry["id"])
        again = self.server.post("/v1/documents", json.dumps({"text": text}))
        self.assertEqual((again.status, again.json()["id"]), (200, dry["id"]))

    def test_dry_stores_nothing(self):
        answer = self.server.post("/v1/documents?dry=1", document("dry", words("dry"))).json()
        self.assertEqual((answer["id"], answer["stored"]), ("dry", False))
        self.refused(self.server.ask("GET", "/v1/documents/dry"), 404)
        for target in ("/v1/documents?dry=1", "/v1/documents", "/v1/documents?dry=1"):
            body = document("dry too", words("dry too"), security=["b", "a", "b"])
            answer = self.server.post(target, body).json()  # it is not its own duplicate
            self.assertEqual((answer["security"], answer["verdict"]), (["a", "b"], "new"))
        self.refused(self.server.post("/v1/documents?dry=1", document("i" * 4097, "x")), 422)
        self.refused(self.server.post("/v1/documents?dry=1", document("i", "x", security=[""])), 422)

    def query(self, text, asked="", **more):
        return self.server.post("/v1/query" + asked, json.dumps({"text": text, **more})).json()

    def title_of(self, name):
        return self.server.ask("GET", "/v1/documents/" + name).json()["title"]

    def test_the_title_is_that_of_the_last_post(self):
        text = words("titled")
        for title, kept in (("Rates\n  cut", "Rates cut"), (None, None), ("\u00e9" * 151, "\u00e9" * 150), (" ", None)):
            self.server.post("/v1/documents", document("titled", text, title=title))
            self.assertEqual(self.title_of("titled"), kept)
            self.assertEqual(self.query(text)["nearest"][0]["title"], kept)
        page = f"<title> Rates &amp;\n yields </title><p>{text}"
        self.server.post("/v1/documents?id=titled", page, "text/html")
        self.assertEqual(self.title_of("titled"), "Rates & yields")
        self.server.post("/v1/documents", json.dumps({"id": "titled", "html": page}))
        self.assertEqual(self.title_of("titled"), "Rates & yields")
        self.server.post("/v1/documents", json.dumps({"id": "titled", "html": page, "title": "Other"}))
        self.assertEqual(self.title_of("titled"), "Other")
        self.refused(self.server.post("/v1/documents", document("titled", text, title=7)), 422)

    def test_a_title_may_stand_in_the_address_of_a_text(self):
        text = words("titled text")
        self.server.post("/v1/documents?id=titled+text&title=Rates+cut", text, "text/plain")
        self.assertEqual(self.title_of("titled%20text"), "Rates cut")
        page = f"<title>Rates</title><p>{text}"
        self.server.post("/v1/documents?id=titled+text&title=Other", page, "text/html")
        self.assertEqual(self.title_of("titled%20text"), "Other")
        self.refused(self.server.post("/v1/documents?title=Other", document("x", text)), 400, "malformed")

    def test_lists_go_on_from_a_cursor(self):
        for i in range(5):
            text = words(f"listed {i % 2}")
            self.server.post("/v1/documents", document(f"http://listed.example/{i}", text, title=f"No {i}"))
        listed, cursor = [], ""
        while cursor is not None:
            said = self.server.ask("GET", f"/v1/documents?site=Listed.example&since=1h&limit=2{cursor}").json()
            listed += [d["id"] for d in said["documents"]]
            cursor = said["next"] and "&cursor=" + said["next"]
        self.assertEqual(listed, [f"http://listed.example/{i}" for i in (4, 3, 2, 1, 0)])
        said = self.server.ask("GET", "/v1/documents?site=listed.example&title=NO+3").json()
        self.assertEqual([d["title"] for d in said["documents"]], ["No 3"])
        first = self.server.ask("GET", "/v1/documents?limit=1").json()
        self.assertEqual((len(first["documents"]), self.server.ask("HEAD", "/v1/documents").status), (1, 200))
        clusters = self.server.ask("GET", "/v1/clusters?limit=10000").json()
        sizes = {c["leader"]["id"]: (c["size"], c["last_hour"], c["last_day"]) for c in clusters["clusters"]}
        self.assertEqual(sizes["http://listed.example/0"], (3, 3, 3))
        self.assertEqual((clusters["total"], clusters["cut"]), (len(sizes), False))

    def test_what_a_list_cannot_be_asked_is_refused(self):
        for target in ("/v1/documents?cursor=", "/v1/documents?cursor=AA", "/v1/documents?cursor=+",
                       "/v1/documents?cursor=" + "A" * 400, "/v1/documents?since=yesterday", "/v1/documents?since=0",
                       "/v1/documents?site=", "/v1/documents?site=a/b", "/v1/documents?limit=0",
                       "/v1/documents?title=" + "x" * 301, "/v1/documents?order=size", "/v1/documents?id=x",
                       "/v1/clusters?order=age", "/v1/clusters?cursor=A", "/v1/clusters?site=x"):
            with self.subTest(target=target):
                self.refused(self.server.ask("GET", target), 400, "malformed")

    def test_the_verdict_comes_from_the_nearest_document(self):
        first = words("nearest").split()
        near = [*first[:-2], "other", "words"]
        nearer = [*near[:-1], "else"]  # near, and the first is not near it
        texts = [" ".join(one) for one in (first, near, nearer)]
        for i, text in enumerate(texts):
            self.server.post("/v1/documents", document(f"nearest {i}", text))
        for i, text in enumerate(texts):
            said = self.query(text)
            self.assertEqual((said["verdict"], said["of"]["id"]), ("duplicate", f"nearest {i}"))
            self.assertEqual(said["evidence"]["identical"], "bytes")
            self.assertEqual(said["nearest"][0], {**said["of"], "title": None, "visited": said["nearest"][0]["visited"],
                                                  "evidence": said["evidence"]})
            self.assertRegex(said["nearest"][0]["visited"], "^20..-..-..T..:..:..Z$")
            self.assertEqual(self.query(text.upper())["evidence"]["identical"], "tokens")
        measured = [d["evidence"]["resemblance"] for d in self.query(texts[2])["nearest"]]
        self.assertEqual(measured, sorted(measured, reverse=True))
        self.assertEqual(self.query(texts[2])["cluster"]["id"], "nearest 0")
        again = self.server.post("/v1/documents", document("nearest 1", texts[1])).json()
        self.assertEqual((again["verdict"], again["of"]["id"]), ("near-duplicate", "nearest 2"))
        self.assertEqual((again["changed"], again["cluster"]["id"]), (False, "nearest 0"))
        dry = self.server.post("/v1/documents?dry=1", document("nearest 1", texts[1])).json()
        self.assertEqual([dry[m] for m in ("verdict", "of", "nearest", "cluster")],
                         [again[m] for m in ("verdict", "of", "nearest", "cluster")])
        changed = self.server.post("/v1/documents", document("nearest 1", texts[1] + " x")).json()
        self.assertNotIn("nearest 1", [d["id"] for d in changed["nearest"]])

    def test_a_near_document_that_follows_is_found_where_no_leader_is_near(self):
        first, ends = words("follows").split(), words("ends", 4).split()
        texts = [" ".join(one) for one in (first, first[:-4] + ends, ends + first[4:-4] + ends)]
        for i, text in enumerate(texts):
            answer = self.server.post("/v1/documents", document(f"follows {i}", text)).json()
        self.assertEqual((answer["verdict"], answer["of"]["id"], answer["cluster"]),
                         ("near-duplicate", "follows 1", None))

    def test_how_many_and_how_recent_ones_are_asked_for(self):
        for i in range(12):
            self.server.post("/v1/documents", document(f"asked {i}", words("asked")))
        self.assertEqual([len(self.query(words("asked"), asked)["nearest"])
                          for asked in ("", "?limit=1", "?limit=10", "?limit=100")], [3, 1, 10, 12])
        self.assertEqual([d["id"] for d in self.query(words("asked"))["nearest"]], ["asked 0", "asked 1", "asked 2"])
        for asked, more in (("?max_age=1h", {}), ("?max_age=3600", {}), ("", {"max_age": "52w"}),
                            ("?max_age=1d", {"max_age": None})):
            self.assertEqual(self.query(words("asked"), asked, **more)["of"]["id"], "asked 0")
        for wrong in ("1y", "", 3600, ["1h"], "0d", "1h "):
            for path in ("/v1/query", "/v1/documents?dry=1"):
                self.refused(self.server.post(path, document("x", "x", max_age=wrong)), 422)
        reason = "'1y' is not a time such as 90s, 30m, 12h, 90d or 2w, of 1 to 4294967295 seconds"
        for asked, more, name in (("?max_age=1y", {}, "max_age="), ("", {"max_age": "1y"}, '"max_age"')):
            answer = self.server.post("/v1/query" + asked, document("x", "x", **more))
            self.assertEqual(answer.json()["detail"], f"{name}: {reason}")
        self.refused(self.server.post("/v1/query", '{"text": "x", "max_age": "1h", "max_age": "2h"}'), 400)
        lines = "\n".join([document("a", words("asked")), document("a", words("asked"), max_age="soon")])
        answers = self.server.post("/v1/query?limit=5", lines, "application/x-ndjson").lines()
        self.assertEqual((len(answers[0]["nearest"]), answers[1]["error"]["status"]), (5, 422))

    def test_what_differs_is_said_if_it_is_asked_for(self):
        texts = [words("differs") + f" on {day} May" for day in (1, 2, 3)]
        for i, text in enumerate(texts):
            answer = self.server.post("/v1/documents?differs=1", document(f"differs {i}", text)).json()
        wanted = [{"in": "dates", "this": ["3"], "other": [day]} for day in ("1", "2")]
        self.assertEqual([d["differs"] for d in answer["nearest"]], wanted)
        self.assertNotIn("differs", answer["cluster"])
        lines = "\n".join(document("differs 3", text) for text in (texts[2], words("nothing like it")))
        answers = self.server.post("/v1/query?differs=1", lines, "application/x-ndjson").lines()
        self.assertEqual([d["differs"] for d in answers[0]["nearest"]],
                         [{"in": "nothing", "this": [], "other": []}, *wanted])
        self.assertEqual(answers[1]["nearest"], [])
        for asked in ("", "?differs=0"):
            self.assertNotIn("differs", self.query(texts[2], asked)["nearest"][0])
        long = self.query(words("differs") + " " + "\u00e9" * 1000, "?differs=1&limit=100")["nearest"][0]["differs"]
        self.assertEqual(long["this"], ["\u00e9" * 128])
        self.refused(self.server.ask("GET", "/v1/crawl?differs=1"), 400)

    def test_neighbours_below_the_threshold_need_a_store_that_was_made_for_them(self):
        for path in ("/v1/query?at=0.5", "/v1/documents?at=50%25", "/v1/documents?dry=1&at=1/2"):
            problem = self.server.post(path, document("at", words("at")))
            self.refused(problem, 400)
            self.assertIn("neardup serve --least 0.5", problem.json()["detail"])
        for wrong in ("at=", "at=x", "at=-1", "at=0.5&at=0.5"):
            self.refused(self.server.post("/v1/query?" + wrong, document("at", words("at"))), 400)
        self.refused(self.server.ask("GET", "/v1/crawl?at=0.5"), 400)
        self.assertIsNone(self.server.ask("GET", "/v1/stats").json()["recipe"]["least"])

    def test_one_id_with_several_label_sets(self):
        for labels in ([], ["b", "a"]):
            body = document("twice", words(f"twice {labels}"), security=labels)
            answer = self.server.post("/v1/documents", body)
            self.assertEqual((answer.status, answer.json()["security"]), (201, sorted(labels)))
        self.refused(self.server.ask("GET", "/v1/documents/twice"), 409, "ambiguous")
        self.refused(self.server.ask("DELETE", "/v1/documents/twice"), 409, "ambiguous")
        for labels, found in (("", []), ("a,b", ["a", "b"]), ("b,a", ["a", "b"])):
            answer = self.server.ask("GET", "/v1/documents/twice?security=" + labels)
            self.assertEqual((answer.status, answer.json()["security"]), (200, found))
        self.refused(self.server.ask("GET", "/v1/documents/twice?security=a"), 404)
        self.refused(self.server.ask("GET", "/v1/documents/twice?security=a,,b"), 422)
        self.assertEqual(self.server.ask("DELETE", "/v1/documents/twice?security=").status, 204)
        self.assertEqual(self.server.ask("GET", "/v1/documents/twice").json()["security"], ["a", "b"])

    def test_two_documents_are_compared(self):
        one, two = words("compared"), words("compared") + " more"
        for id, text in (("one", one), ("two", two)):
            self.server.post("/v1/documents", document(id, text))
        answer = self.server.ask("GET", "/v1/compare?a=one&b=two")
        self.assertEqual(answer.status, 200, answer.body)
        self.assertEqual(answer.json()["edit_distance"], 1)
        self.assertEqual(answer.json()["a"]["id"], "one")
        self.assertIn("passages", answer.json())
        self.refused(self.server.ask("GET", "/v1/compare?a=one&b=none"), 404)
        answer = self.server.ask("GET", "/v1/compare?a=one&b=two&a_security=&b_security=x")
        self.refused(answer, 404)

    def test_a_document_is_compared_with_a_text(self):
        one, two = words("compared with"), words("compared with") + " more"
        for id, text in (("one with", one), ("two with", two)):
            self.server.post("/v1/documents", document(id, text))
        stored = self.server.ask("GET", "/v1/compare?a=one%20with&b=two%20with").json()
        for body, type in ((document("x", two), "application/json"), (two, "text/plain"), ("<p>" + two, "text/html"),
                           (two.replace("more", "m\xf6re").encode("latin-1").replace(b"\xf6", b"o"), "text/plain; charset=latin1")):
            answer = self.server.post("/v1/compare?a=one%20with&a_security=", body, type)
            self.assertEqual(answer.status, 200, answer.body)
            found = answer.json()
            self.assertEqual((found["a"]["id"], found["b"]["id"]), ("one with", "body"))
            found["b"].update(id="two with", at="two with")
            self.assertEqual(found, stored)
        self.assertEqual(self.server.post("/v1/compare?a=one%20with", "y" * 300000, "text/plain").status, 200)
        for query, body, type, status in (
                ("a=none", two, "text/plain", 404), ("a=one%20with&a_security=x", two, "text/plain", 404),
                ("a=one%20with&b=two%20with", two, "text/plain", 400), ("a=one%20with&b_security=", two, "text/plain", 400),
                ("a=", two, "text/plain", 400), ("", two, "text/plain", 400),
                ("a=one%20with", "{}", "application/json", 422), ("a=one%20with", document("x", two), "application/x-ndjson", 415)):
            self.refused(self.server.post("/v1/compare?" + query, body, type), status)

    def test_a_large_text_is_answered_by_a_worker(self):
        text = words("large", 20000)
        answer = self.server.post("/v1/documents", document("large", text))
        self.assertEqual((answer.status, answer.json()["tokens"]), (201, 20000))
        answer = self.server.post("/v1/query", "<p>" + text, "text/html")
        self.assertEqual(answer.json()["verdict"], "duplicate")
        self.refused(self.server.post("/v1/query", "[" * 100000), 400)

    def test_the_sketches_of_all_documents(self):
        for id, labels in (("sketched", []), ("sketched", ["x"]), ("other", ["y"])):
            self.server.post("/v1/documents", document(id, words("sketched " + id), security=labels))
        answer = self.server.ask("GET", "/v1/sketches")
        self.assertEqual((answer.status, answer.fields["content-type"]),
                         (200, "application/octet-stream"))
        self.assertEqual(answer.body[:8], b"NDSKTCH\n")
        documents = self.server.ask("GET", "/v1/stats").json()["visible"]["documents"]
        generation, n = (int.from_bytes(answer.body[at:at + 8], "little") for at in (16, 48))
        self.assertEqual((generation, n), (1, documents))
        self.assertEqual(answer.body.count(b"sketched"), 2)
        self.assertEqual(self.server.ask("HEAD", "/v1/sketches").fields["content-length"],
                         str(len(answer.body)))
        self.refused(self.server.ask("GET", "/v1/sketches?limit=1"), 400)
        self.refused(self.server.ask("POST", "/v1/sketches"), 405)

    def test_figures(self):
        stats = self.server.ask("GET", "/v1/stats").json()
        self.assertEqual(stats["you"], {"security": [], "administrator": True})
        self.assertIn("queue_documents", stats["store"])
        answer = self.server.ask("GET", "/metrics")
        self.assertEqual(answer.fields["content-type"], "text/plain; version=0.0.4; charset=utf-8")
        self.assertIn(b'neardup_requests_total{route="/v1/stats",status="200"}', answer.body)
        values = {}
        for line in answer.body.decode().splitlines():
            if line[0] != "#":
                name, value = line.rsplit(" ", 1)
                values[name] = float(value)
        verdicts = ['neardup_verdicts_total{verdict="%s"}' % kind
                    for kind in ("new", "duplicate", "near-duplicate")]
        self.server.post("/v1/query", words("never posted before"), "text/plain")
        later = self.server.ask("GET", "/metrics").body.decode()
        self.assertIn(f"{verdicts[0]} {int(values[verdicts[0]]) + 1}\n", later)
        for verdict in verdicts[1:]:
            self.assertIn(f"{verdict} {int(values[verdict])}\n", later)
        self.assertRegex(later, r'neardup_build_info\{version="[0-9.]+",recipe="[0-9a-f]{16}"\} 1\n')
        self.assertGreater(values["process_resident_memory_bytes"], 1e6)
        self.assertGreater(values["process_cpu_seconds_total"], 0)
        self.assertLess(abs(values["process_start_time_seconds"] - time.time()), 600)
        self.assertGreater(values["process_max_fds"], values["process_open_fds"])
        self.assertGreater(values["process_open_fds"], 3)
        for line in answer.body.decode().splitlines():
            self.assertRegex(line, r'^(# (HELP|TYPE) [a-z_]+ .*|[a-z_]+(\{[^ ]*\})? [0-9.e+]+)$')


class Lines(unittest.TestCase):
    """NDJSON."""

    def test_each_line_has_an_answer_in_its_place(self):
        lines = [document("a", words("a")), "", "not json", document("b", words("a") + " x"),
                 '{"text": 1}', "  ", document("c", "y", security=["l"] * 70), '{"text":"\\ud800 z"}',
                 document("a", words("a"))]
        with Server() as server:
            for body in ("\n".join(lines), "\r\n".join(lines) + "\r\n"):
                answer = server.post("/v1/documents?dry=1", body, "application/x-ndjson")
                self.assertEqual(answer.fields["content-type"], "application/x-ndjson")
                self.assertEqual([a["line"] for a in answer.lines()], [1, 3, 4, 5, 7, 8, 9])
            answers = server.post("/v1/documents", body, "application/x-ndjson").lines()
            self.assertEqual([a["line"] for a in answers], [1, 3, 4, 5, 7, 8, 9])
            self.assertEqual([a.get("verdict") or a["error"]["status"] for a in answers],
                             ["new", 400, "near-duplicate", 422, 422, "new", "near-duplicate"])
            self.assertEqual(answers[5]["replaced"], 1)
            self.assertFalse(answers[6]["changed"])
            answers = server.post("/v1/query", body, "application/x-ndjson").lines()
            self.assertEqual([a.get("verdict") or a["error"]["status"] for a in answers],
                             ["duplicate", 400, "duplicate", 422, "new", "duplicate", "duplicate"])
            answers = server.post("/v1/fingerprints", body, "application/x-ndjson").lines()
            self.assertEqual(len(answers[0]["minhash"]), 128)
            answer = server.post("/v1/documents", "", "application/x-ndjson")
            self.assertEqual((answer.status, answer.body), (200, b""))

    def test_many_lines_pass_through_little_memory(self):
        n = 3000
        body = "".join(document(f"d{i}", words(i, 100)) + "\n" for i in range(n)).encode()
        with Server("body_bytes=100000", "buffered_bytes=1000000", "queue=50") as server:
            answers = server.post("/v1/documents", body, "application/x-ndjson").lines()
            self.assertEqual([(a["line"], a["id"], a["verdict"]) for a in answers],
                             [(i + 1, f"d{i}", "new") for i in range(n)])
            with server.connect() as client:
                client.request("POST", "/v1/query", None, "application/x-ndjson",
                               Transfer_Encoding="chunked")
                for at in range(0, len(body), 70001):
                    part = body[at:at + 70001]
                    client.send(b"%x\r\n%s\r\n" % (len(part), part))
                client.send(b"0\r\n\r\n")
                answers = client.answer().lines()
            self.assertEqual([(a["line"], a["of"]["id"]) for a in answers],
                             [(i + 1, f"d{i}") for i in range(n)])

    def test_answers_that_are_many_wait_in_a_file(self):
        n = 3000
        with Server() as server:
            body = (document("x", "one text of a few words") + "\n") * n
            answers = server.post("/v1/fingerprints", body, "application/x-ndjson").lines()
            self.assertEqual([a["line"] for a in answers], list(range(1, n + 1)))
            self.assertEqual(len({a["simhash"] for a in answers}), 1)

    def test_an_answer_has_a_length_that_its_request_bounds(self):
        tiny = '{"text":"a"}\n'
        with Server() as server:
            for target, body in (("/v1/query", "{}\n" * 30000), ("/v1/documents", "0\n" * 30000),
                                 ("/v1/query", "{}\n" * 30000 + tiny * 5)):
                with self.subTest(target=target, body=body[:12]):
                    answer = server.post(target, body, "application/x-ndjson")
                    self.assertLessEqual(len(answer.body), (1 << 20) + 32 * len(body))
                    self.assertEqual(answer.status, 200)
                    lines = answer.lines()
                    self.assertEqual([a["line"] for a in lines], list(range(1, len(lines) + 1)))
                    self.assertLess(len(lines), body.count("\n"))
                    self.assertEqual(lines[-1]["error"]["status"], 413)
                    self.assertIn("more than 32 times", lines[-1]["error"]["detail"])
                    self.assertEqual(server.post(target, body, "application/x-ndjson").body,
                                     answer.body)
            body = tiny * 20000
            answer = server.post("/v1/fingerprints", body, "application/x-ndjson")
            self.assertEqual(len(answer.lines()), 20000)
            self.assertLessEqual(len(answer.body), (1 << 20) + 128 * len(body))
            # Ordinary short texts keep within it.
            body = [json.dumps({"id": "\x7f" * 4000, "text": "a"}, ensure_ascii=False) + "\n"]
            body += [json.dumps({"text": f"a{i}"}) + "\n" for i in range(40000)]
            lines = server.post("/v1/documents", "".join(body), "application/x-ndjson").lines()
            self.assertEqual(len(lines), len(body))
            self.assertNotIn("error", lines[-1])

    def test_a_line_that_is_too_long_is_refused_alone(self):
        lines = [document("a", words("a")), document("b", "x" * 700000), document("c", words("c")),
                 "y" * 2000000, document("d", words("d"))]
        with Server("body_bytes=100000") as server:
            for end in ("", "\n"):
                answers = server.post("/v1/query", "\n".join(lines) + end,
                                      "application/x-ndjson").lines()
                self.assertEqual([a.get("verdict") or a["error"]["status"] for a in answers],
                                 ["new", 413, "new", 413, "new"])
            answer = server.post("/v1/query", "z" * 1000000, "application/x-ndjson")
            self.assertEqual(answer.lines()[0]["error"]["status"], 413)

    def test_a_stream_that_is_too_long_is_refused(self):
        body = ((document("x", words("x")) + "\n") * 1000).encode()
        with Server("stream_bytes=100000") as server, server.connect() as client:
            self.assertEqual(client.ask("POST", "/v1/query", body, "application/x-ndjson").status,
                             413)
            client.request("POST", "/v1/query", None, "application/x-ndjson",
                           Transfer_Encoding="chunked")
            client.send(b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))
            self.assertEqual(client.answer().status, 413)
            self.assertEqual(client.ask("GET", "/healthz").status, 200)

    def test_many_clients_at_once(self):
        with Server("queue=20") as server:
            failures = []

            def work(k):
                try:
                    for i in range(20):
                        body = "".join(document(f"{k} {j}", words(f"{k} {i} {j}")) + "\n"
                                       for j in range(20))
                        answer = server.post("/v1/documents", body, "application/x-ndjson")
                        if answer.status == 429:  # only before anything was stored
                            self.assertEqual(answer.fields["retry-after"], "1")
                            continue
                        self.assertEqual([a["id"] for a in answer.lines()],
                                         [f"{k} {j}" for j in range(20)])
                        single = document(f"{k}", words(f"{k} {i}"))
                        self.assertIn(server.post("/v1/documents", single).status, (200, 201, 429))
                except BaseException as failure:
                    failures.append(failure)

            threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(failures, [])


class Keys(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="neardup-keys-")
        self.file = os.path.join(self.folder, "keys")
        self.write(key_line("root-key", "root", "*"), key_line("ab-key", "ab", "a,b"),
                   "# a comment\n\n", key_line("a-key", "a", "a,b,c", "default=a"),
                   key_line("none-key", "none", "-"))

    def tearDown(self):
        shutil.rmtree(self.folder)

    def write(self, *lines):
        with open(self.file + ".new", "w") as file:
            file.writelines(lines)
        os.rename(self.file + ".new", self.file)

    def test_who_may_do_what(self):
        with Server("keys=" + self.file) as server:
            self.assertEqual(server.ask("GET", "/healthz").status, 200)
            self.assertEqual(server.ask("GET", "/openapi.json").status, 200)
            for field in (None, "Bearer", "Bearer ", "Bearer wrong", "Basic ab-key", "ab-key",
                          "Bearer ab-key2", "Bearer AB-KEY"):
                answer = server.ask("GET", "/v1/stats", Authorization=field)
                self.assertEqual(answer.status, 401)
                self.assertEqual(answer.fields["www-authenticate"], 'Bearer realm="neardup"')
            ab, a = "Bearer ab-key", "bearer  a-key"
            stats = server.ask("GET", "/v1/stats", Authorization=ab).json()
            self.assertEqual(stats["you"], {"security": ["a", "b"], "administrator": False})
            self.assertNotIn("store", stats)
            self.assertEqual(server.ask("GET", "/metrics", Authorization=ab).status, 403)
            self.assertEqual(server.ask("GET", "/metrics", Authorization="Bearer root-key").status,
                             200)
            answer = server.ask("GET", "/v1/sketches", Authorization=ab)
            self.assertEqual((answer.status, answer.json()["type"]),
                             (403, "/problems/administrator"))
            self.assertEqual(server.ask("GET", "/v1/sketches").status, 401)
            self.assertEqual(
                server.ask("GET", "/v1/sketches", Authorization="Bearer root-key").status, 200)
            answer = server.post("/v1/documents", document("d", words("d")), Authorization=ab)
            self.assertEqual(answer.json()["security"], ["a", "b"])
            answer = server.post("/v1/documents", document("e", words("d")), Authorization=a)
            self.assertEqual((answer.json()["security"], answer.json()["of"]["id"]), (["a"], "d"))
            for target in ("/v1/documents", "/v1/documents?dry=1"):
                answer = server.post(target, document("f", "x", security=["c"]), Authorization=ab)
                self.assertEqual((answer.status, answer.json()["type"]), (403, "/problems/security"))
            none = "Bearer none-key"
            self.assertEqual(server.ask("GET", "/v1/documents/d", Authorization=none).status, 404)
            answer = server.post("/v1/query", words("d"), "text/plain", Authorization=none)
            self.assertEqual(answer.json()["verdict"], "new")
            self.assertEqual(answer.json()["work"]["candidates"], 0)
            answer = server.ask("GET", "/v1/stats", Authorization=ab, Host="anything.example")
            self.assertEqual(answer.status, 200)

    def test_a_key_may_ask_so_often(self):
        self.write(key_line("slow-key", "slow", "a", "rate=2"), key_line("free-key", "free", "a"),
                   key_line("batch-key", "batch", "a", "default=a rate=1000"))
        with Server("keys=" + self.file) as server:
            answers = [server.ask("GET", "/v1/stats", Authorization="Bearer slow-key")
                       for _ in range(20)]
            refused = [answer for answer in answers if answer.status != 200]
            self.assertGreaterEqual(len(answers) - len(refused), 2)
            for answer in refused:
                self.assertEqual((answer.status, answer.json()["type"]), (429, "/problems/rate"))
                self.assertEqual(answer.fields["retry-after"], "1")
            for _ in range(20):
                answer = server.ask("GET", "/v1/stats", Authorization="Bearer free-key")
                self.assertEqual(answer.status, 200)
            lines = json.dumps({"text": "a"}) + "\n"
            answer = server.post("/v1/query", lines * 20000, "application/x-ndjson",
                                 Authorization="Bearer batch-key")
            self.assertEqual((answer.status, answer.body.count(b"\n")), (200, 20000))
            answer = server.ask("GET", "/v1/stats", Authorization="Bearer batch-key")
            self.assertEqual(answer.status, 429)
            self.assertIn(int(answer.fields["retry-after"]), range(5, 21))

    def test_a_keys_file_that_others_can_write_is_warned_of(self):
        for mode, words_of_it in ((0o640, None), (0o660, "its group"), (0o666, "everybody")):
            os.chmod(self.file, mode)
            with Server("keys=" + self.file) as server:
                self.assertEqual(server.ask("GET", "/healthz").status, 200)
                self.assertEqual("can be changed by" in server.log(), words_of_it is not None)
                self.assertIn(words_of_it or "", server.log())

    def test_keys_are_read_again(self):
        with Server("keys=" + self.file) as server:
            self.write(key_line("new-key", "new", "a"))
            server.signal(signal.SIGHUP)
            server.wait_for("reloaded")
            self.assertEqual(server.ask("GET", "/v1/stats", Authorization="Bearer ab-key").status,
                             401)
            self.assertEqual(server.ask("GET", "/v1/stats", Authorization="Bearer new-key").status,
                             200)
            for bad in ("nonsense\n", key_line("k", "n", "a,,b"), "", key_line("k", "n", ""),
                        key_line("k", "n", "a", "default=b"), key_line("k", "n", "a", "more"),
                        key_line("k", "n", "a", "rate=0"), key_line("k", "n", "a", "rate="),
                        key_line("k", "n", "a", "rate=1000001"), key_line("k", "n", "a", "rate=2x"),
                        key_line("k", "n", "a", "rate=2 default=a"), key_line("k", "n", "a") * 2):
                self.write(bad)
                before = server.log().count("reload: ")
                server.signal(signal.SIGHUP)
                server.wait_for("reload: ", before + 1)
            self.assertIn(self.file + ":1: ", server.log())
            self.assertIn(self.file + ":2: ", server.log())
            self.assertEqual(server.ask("GET", "/v1/stats", Authorization="Bearer new-key").status,
                             200)

    def test_without_keys_only_loopback_addresses_are_listened_on(self):
        for address in ("0.0.0.0:0", "[::]:0", "192.0.2.1:0"):
            server = Server("listen=" + address)
            self.assertEqual(server.process.wait(SHIELD), 2)
            self.assertIn("keys file", server.log())
            server.stop()
            shutil.rmtree(server.home)
        for option in ("certificate=none", "head_bytes=100", "request_ms=0"):
            server = Server(option)
            self.assertEqual(server.process.wait(SHIELD), 2)
            self.assertIn("ND_EINVAL", server.log())
            server.stop()
            shutil.rmtree(server.home)
        for address in ("nonsense", "127.0.0.1", "127.0.0.1:65536", "::1:80", "[::1]", "host:80"):
            server = Server("listen=" + address)
            self.assertEqual(server.process.wait(SHIELD), 2)
            self.assertIn("ND_EINVAL", server.log())
            server.stop()
            shutil.rmtree(server.home)


class Time(unittest.TestCase):
    """Clients that are slow, lie, or are many."""

    def test_a_client_that_sends_a_byte_at_a_time_meets_a_deadline(self):
        with Server("request_ms=300", "idle_ms=300") as server:
            for head in (b"", b"POST /v1/query HTTP/1.1\r\nHost: localhost\r\n"
                         b"Content-Type: text/plain\r\nContent-Length: 100000\r\n\r\n"):
                with self.subTest(head=head), server.connect() as client:
                    client.send(head)
                    client.socket.settimeout(0.02)
                    for _ in range(10000):
                        try:
                            client.send(b"x")
                            if not client.receive():
                                break
                        except TimeoutError:
                            continue
                        except ConnectionError:
                            break
                    client.socket.settimeout(SHIELD)
                    # A client that goes on sending may lose the answer, but not the end.
                    with contextlib.suppress(ConnectionError):
                        self.assertEqual(client.answer().status, 408)
                    self.assertTrue(client.is_closed())
            self.assertEqual(server.ask("GET", "/healthz").status, 200)

    def test_a_client_that_sends_nothing_is_left(self):
        with Server("idle_ms=200") as server, server.connect() as client:
            self.assertTrue(client.is_closed())

    def test_a_client_that_waits_between_requests_is_left(self):
        with Server("idle_ms=200") as server, server.connect() as client:
            self.assertEqual(client.ask("GET", "/healthz").status, 200)
            self.assertTrue(client.is_closed())

    def test_a_client_that_reads_nothing_is_left(self):
        with Server("request_ms=300", "stream_bytes_s=1000000000") as server, \
                server.connect() as client:
            server.post("/v1/documents", document("big", words("big", 100000)))
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            with contextlib.suppress(ConnectionError):
                for _ in range(100):
                    client.request("GET", "/v1/documents/big")
            while server.ask("GET", "/metrics").body.find(b"neardup_connections 2\n") >= 0:
                threading.Event().wait(0.01)

    def test_clients_that_go_away_leave_nothing_behind(self):
        with Server() as server:
            for cut in (b"POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
                        b"Content-Length: 500\r\n\r\nabc",
                        b"POST /v1/documents HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n"
                        b"Content-Type: application/x-ndjson\r\n\r\n{}\n{\"text\":", b"GET /heal"):
                for _ in range(20):
                    with server.connect() as client:
                        client.send(cut)
            for i in range(20):
                with server.connect() as client:
                    client.request("POST", "/v1/documents", document(f"d{i}", words(i)),
                                   "application/json")
            def gauges():
                return server.ask("GET", "/metrics").body
            while (b"neardup_buffered_bytes 0\n" not in gauges() or
                   b"neardup_active_requests 1\n" not in gauges()):
                threading.Event().wait(0.01)

    def test_many_idle_connections(self):
        n = 600
        with Server("connections=1000") as server:
            clients = [server.connect() for _ in range(n)]
            self.assertEqual(clients[-1].ask("GET", "/healthz").status, 200)
            self.assertEqual(clients[0].ask("GET", "/healthz").status, 200)
            while b"neardup_connections %d\n" % (n + 1) not in server.ask("GET", "/metrics").body:
                threading.Event().wait(0.01)
            for client in clients:
                client.socket.close()

    def test_connections_beyond_the_limit_are_refused(self):
        with Server("connections=10") as server:
            clients = [server.connect() for _ in range(10)]
            for client in clients:
                self.assertEqual(client.ask("GET", "/healthz").status, 200)
            with server.connect() as client:
                answer = client.answer()
                self.assertEqual((answer.status, answer.fields["retry-after"]), (503, "1"))
            clients[3].socket.close()
            while True:
                with server.connect() as client:
                    client.request("GET", "/healthz")
                    with contextlib.suppress(AssertionError, ConnectionError):
                        if client.answer().status == 200:
                            break
            for client in clients:
                client.socket.close()

    def test_without_files_whoever_comes_is_refused(self):
        with Server("files=60", "connections=1000", "listen=127.0.0.1:0") as server:
            clients = [server.connect() for _ in range(100)]
            self.assertEqual(clients[0].ask("GET", "/healthz").status, 200)
            with contextlib.suppress(ConnectionError):
                self.assertTrue(clients[-1].answer().status == 503)
            for client in clients:
                client.socket.close()
            while True:
                with contextlib.suppress(AssertionError, ConnectionError):
                    if server.ask("GET", "/healthz").status == 200:
                        break

    def test_bodies_in_memory_have_a_limit(self):
        with Server("buffered_bytes=200000") as server, server.connect() as slow:
            slow.request("POST", "/v1/query", b"x " * 75000, "text/plain", Content_Length=150001)
            while b"neardup_buffered_bytes 150000\n" not in server.ask("GET", "/metrics").body:
                threading.Event().wait(0.01)
            answer = server.post("/v1/query", "y " * 50000, "text/plain")
            self.assertEqual((answer.status, answer.fields["retry-after"]), (503, "1"))
            slow.send(b"z")
            self.assertEqual(slow.answer().status, 200)
            while b"neardup_buffered_bytes 0\n" not in server.ask("GET", "/metrics").body:
                threading.Event().wait(0.01)
            self.assertEqual(server.post("/v1/query", "y " * 50000, "text/plain").status, 200)


class Ending(unittest.TestCase):
    def test_what_runs_is_finished(self):
        with Server() as server, server.connect() as running, server.connect() as other:
            other.ask("GET", "/healthz")
            running.request("POST", "/v1/documents", document("last", words("last"))[:-1],
                            "application/json", Content_Length=len(document("last", words("last"))))
            while b"neardup_active_requests 2\n" not in server.ask("GET", "/metrics").body:
                threading.Event().wait(0.005)
            server.signal(signal.SIGTERM)
            self.assertTrue(other.is_closed())
            running.send(b"}")
            answer = running.answer()
            self.assertEqual((answer.status, answer.fields["connection"].lower()), (201, "close"))
            self.assertTrue(running.is_closed())
            self.assertEqual(server.stop(), 0)
            with self.assertRaises(ConnectionError):
                server.connect()
            server.start()
            self.assertEqual(server.ask("GET", "/v1/documents/last").status, 200)

    def test_whoever_holds_it_up_is_left(self):
        with Server("drain_ms=100") as server, server.connect() as client:
            client.request("POST", "/v1/query", b"x", "text/plain", Content_Length=5)
            while b"neardup_active_requests 2\n" not in server.ask("GET", "/metrics").body:
                threading.Event().wait(0.005)
            server.signal(signal.SIGTERM)
            self.assertEqual(server.process.wait(SHIELD), 0)
            self.assertEqual(client.answer().status, 408)


@unittest.skipUnless(shutil.which("openssl"), "there is no openssl to make a certificate with")
class Secure(unittest.TestCase):
    def make(self, name):
        chain, key = (os.path.join(self.folder, name + end) for end in (".crt", ".key"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", chain,
                        "-subj", "/CN=" + name, "-days", "1"], check=True, capture_output=True)
        return chain, key

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="neardup-tls-")

    def tearDown(self):
        shutil.rmtree(self.folder)

    def connect(self, server):
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        sock = context.wrap_socket(socket.create_connection(("127.0.0.1", server.port), SHIELD))
        return Client(sock, server), sock.getpeercert(binary_form=True)

    def test_certificates_are_shown_and_read_again(self):
        chain, key = self.make("first")
        with Server("certificate=" + chain, "certificate_key=" + key, "idle_ms=2000") as server:
            client, first = self.connect(server)
            with client:
                text = document("d", words("tls", 5000))
                self.assertEqual(client.ask("POST", "/v1/documents", text,
                                            "application/json").status, 201)
                body = (document("d", "x") + "\n") * 500
                answer = client.ask("POST", "/v1/query", body, "application/x-ndjson")
                self.assertEqual(len(answer.lines()), 500)
                new_chain, new_key = self.make("second")
                os.rename(new_chain, chain)
                server.signal(signal.SIGHUP)  # with the key of the old one
                server.wait_for("reload: ")
                os.rename(new_key, key)
                server.signal(signal.SIGHUP)
                server.wait_for("reloaded")
                again, second = self.connect(server)
                with again:
                    self.assertNotEqual(first, second)
                    self.assertEqual(again.ask("GET", "/healthz").status, 200)
                self.assertEqual(client.ask("GET", "/healthz").status, 200)
            with server.connect() as plain:
                plain.request("GET", "/healthz")
                with contextlib.suppress(ConnectionError):
                    while plain.receive():
                        pass
                self.assertNotIn(b"HTTP/1.1 200", plain.rest)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv[1])
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=0)
