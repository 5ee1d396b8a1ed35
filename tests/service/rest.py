"""A service with a clock of its own (clocked_server), and answers of it as they came over the wire."""

import http.client
import json
import os
import subprocess
import urllib.parse


class Answer:
    """Status, header fields in their order without Date, and body."""

    def __init__(self, response):
        self.status = response.status
        self.headers = [(k, v) for k, v in response.getheaders() if k.lower() != "date"]
        self.body = response.read()

    def __eq__(self, other):
        return vars(self) == vars(other)

    def json(self):
        return json.loads(self.body)

    def lines(self):
        return [json.loads(line) for line in self.body.splitlines()]

    def __repr__(self):
        return f"{self.status} {self.headers}\n{self.body.decode(errors='replace')}"


class Service:
    """A server in a folder of its own; `with` ends it."""

    def __init__(self, program, folder, recipe, keys=None):
        """keys: labels by name ("*": an administrator); None: no keys."""
        command = [program, os.path.join(folder, "store"), recipe]
        command += [f"{name}={','.join(labels)}" for name, labels in (keys or {}).items()]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.keys = {}
        for _ in keys or {}:
            name, key = self.read_line().split()
            self.keys[name] = key
        self.port = int(self.read_line())
        self.connection = None

    def read_line(self):
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the server ended with status {self.process.wait()}")
        return line.strip()

    def set_clock(self, seconds):
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        self.read_line()

    def send(self, who, method, path, body=None, content_type=None, **query):
        """One request by the owner of a key; values of the query that are None are left out."""
        given = {k: v for k, v in query.items() if v is not None}
        if given:
            path += "?" + urllib.parse.urlencode(given)
        headers = {"X-Request-Id": "a-test"} | ({"Content-Type": content_type} if content_type else {})
        if who:
            headers["Authorization"] = "Bearer " + self.keys.get(who, who)
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        self.connection.request(method, path, body, headers)
        answer = Answer(self.connection.getresponse())
        if ("Connection", "close") in answer.headers:
            self.connection.close()
        return answer

    def put(self, who, name, labels, text, title=None, **query):
        body = json.dumps({"id": name, "security": labels, "text": text, "title": title})
        return self.send(who, "POST", "/v1/documents", body, "application/json", **query)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.connection:
            self.connection.close()
        self.process.stdin.close()
        try:
            status = self.process.wait(120)
        finally:
            self.process.kill()
            self.process.stdout.close()
        if status:
            raise SystemExit(f"the server ended with status {status}")


def document_path(name, below=""):
    return "/v1/documents/" + urllib.parse.quote(name, safe="") + below
