#!/usr/bin/env python3
"""A service that answers as docs/http.md says, and fails as it is told: what `neardup client` is tested with.

usage: fake_service.py LOG [MISHAP ...]

Prints its address when it listens.  Each request is a line of LOG: method, target, key, type, documents.
A MISHAP happens to one POST, the first to the first, and so on:

    ok          none
    busy        429, with Retry-After
    lines       every second document is refused with 429
    refuse      every second document is refused with 422
    gone        503
    drop        the connection is closed without an answer
    cut         the answer ends in its middle
    full        507
    large       413
    junk        an answer that is no JSON
    few         an answer for all documents but the last
"""
import http.server
import json
import sys
import urllib.parse

LOG, MISHAPS = sys.argv[1], sys.argv[2:]
TEXTS = {}  # text: id of the first


def problem(status, detail):
    return {"type": f"/problems/{status}", "title": "a problem", "status": status, "detail": detail}


class Service(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body, fields=()):
        body = body if isinstance(body, bytes) else json.dumps(body, separators=(",", ":")).encode() + b"\n"
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def note(self, documents=()):
        row = {"method": self.command, "target": self.path, "key": self.headers.get("Authorization"),
               "type": self.headers.get("Content-Type"), "documents": list(documents)}
        with open(LOG, "a") as log:
            log.write(json.dumps(row) + "\n")

    def verdict(self, document, dry):
        text = document.get("text", document.get("html"))
        of = TEXTS.get(text)
        if self.path.startswith("/v1/documents") and not dry:
            TEXTS.setdefault(text, document.get("id"))
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        return {"id": document.get("id", "0123"), "security": document.get("security", []), "verdict": "duplicate" if of else "new",
                "of": of and {"id": of, "security": []}, "limit": query.get("limit"), "max_age": query.get("max_age"), "differs": query.get("differs"),
                "stored": not dry, "key": self.headers.get("Authorization"), "bytes": len(text)}

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query, keep_blank_values=True)
        kind = self.headers["Content-Type"]
        mishap = MISHAPS.pop(0) if MISHAPS else "ok"
        if kind == "application/x-ndjson":
            documents = [json.loads(line) for line in body.decode().splitlines()]
        elif kind == "application/json":
            documents = [json.loads(body)]
        else:
            documents = [{"id": query.get("id", [None])[0], "security": [w for w in query.get("security", [""])[0].split(",") if w], "text": body.decode()}]
        self.note(documents)
        if mishap in ("busy", "gone", "full", "large"):
            status = {"busy": 429, "gone": 503, "full": 507, "large": 413}[mishap]
            self.answer(status, problem(status, "it is " + mishap), [("Retry-After", "1")] if mishap == "busy" else [])
        elif mishap == "drop":
            self.close_connection = True
        elif mishap == "junk":
            self.answer(200, b"<html>\n" * len(documents))
        elif kind == "application/x-ndjson":
            self.answer_lines(mishap, documents, "dry" in query)
        else:
            self.answer(201, self.verdict(documents[0], "dry" in query))

    def answer_lines(self, mishap, documents, dry):
        lines = b""
        for i, document in enumerate(documents if mishap != "few" else documents[:-1]):
            if mishap in ("lines", "refuse") and i % 2:
                answer = {"line": i + 1, "error": problem(429 if mishap == "lines" else 422, "not this\x1b one")}
            else:
                answer = {"line": i + 1, **self.verdict(document, dry)}
            lines += json.dumps(answer, separators=(",", ":")).encode() + b"\n"
        if mishap == "cut":
            self.send_response(200)
            self.send_header("Content-Length", str(len(lines)))
            self.end_headers()
            self.wfile.write(lines[:len(lines) // 2])
            self.close_connection = True
        else:
            self.answer(200, lines)

    def do_GET(self):
        self.note()
        path = urllib.parse.urlsplit(self.path).path
        if path == "/v1/crawl":
            rows = [{"id": "a b", "security": ["x", "y\u00e9"], "is_due": True, "why": "[{\"\\]"}, {"id": "late", "security": [], "is_due": False},
                    {"id": "it's", "security": [], "is_due": True}]
            self.answer(200, {"documents": rows, "time": "2026-01-31T12:00:00Z", "target": self.path})
        elif "none" in path or "a=none" in self.path:
            self.answer(404, problem(404, "there is no such document that you see"))
        elif path == "/v1/stats":
            self.answer(200, {"target": self.path, "key": self.headers.get("Authorization"), "version": "9.9",
                              "recipe": {"fingerprint": "00ff00ff00ff00ff", "text": "shingle = 3\n", "tables": [{"a": "]}"}]}})
        else:
            self.answer(200, {"target": self.path, "key": self.headers.get("Authorization")})

    def do_DELETE(self):
        self.note()
        if "none" in self.path:
            self.answer(404, problem(404, "there is no such document that you see"))
        else:
            self.send_response(204)
            self.end_headers()


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
server.daemon_threads = True
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
