"""Documents and queries of `bench/run service`, the truth about them, and the programs that ask."""

import contextlib
import http.client
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import threading
import time

import places

sys.path.insert(0, os.path.join(places.BENCH, "rivals"))
from service_peer import THRESHOLD, resemblance, shingles  # noqa: E402

FOLDER = os.path.join(places.BUILD, "service")
N_QUERIES = 1000
BATCH = 100  # documents in a batch
WORDS_OF_4_KB = ("560", "620")
NDJSON = "application/x-ndjson"
GRACE_SECONDS = 60  # in which a program that was to run for some time must have ended


class Documents:
    """A set: what is stored, and what is asked; as JSON Lines, as bodies, and as texts."""

    def __init__(self, name, stored, queries):
        self.name, self.stored, self.queries = name, stored, queries
        self.folder = os.path.join(FOLDER, name)
        os.makedirs(self.folder, exist_ok=True)
        self.text_bytes = sum(len(d["text"].encode()) for d in queries) / len(queries)
        for part, documents in (("stored", stored), ("queries", queries)):
            lines = [json.dumps({"id": d["id"], "text": d["text"]}) for d in documents]
            self.write(f"{part}.jsonl", "".join(line + "\n" for line in lines))
            self.write(f"{part}.texts", "".join(f"{len(d['text'].encode())}\n{d['text']}" for d in documents))
        self.write("singles", "".join(json.dumps({"text": d["text"]}) + "\n" for d in queries))
        self.write("batches", "".join("\t".join(b) + "\n" for b in batches(queries, ["text"])))

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8", newline="") as out:
            out.write(text)

    def path(self, name):
        return os.path.join(self.folder, name)


def batches(documents, members):
    """Lists of documents as JSON, a batch each."""
    lines = [json.dumps({m: d[m] for m in members}) for d in documents]
    return [lines[i : i + BATCH] for i in range(0, len(lines), BATCH)]


def read_set(name, n_stored):
    """The first n_stored documents, and N_QUERIES after them."""
    if name == "generated":
        lines = generated(n_stored + N_QUERIES)
    else:
        with open(places.corpus(name), encoding="utf-8") as f:
            lines = f.readlines()
        random.Random(1).shuffle(lines)  # a corpus in order of time has few near duplicates at its end
    texts = [json.loads(line)["text"].replace("\0", " ") for line in lines]  # PostgreSQL takes no NUL
    documents = [{"id": str(i), "text": text} for i, text in enumerate(texts)]
    documents = [d for d in documents if d["text"].strip()][: n_stored + N_QUERIES]
    return Documents(name, documents[:-N_QUERIES], documents[-N_QUERIES:])


def generated(count):
    command = places.generator(count, *WORDS_OF_4_KB)
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    return done.stdout.splitlines()


class Truth:
    """Which stored documents have at least .8 of their word 3-shingles in common with a query, exactly."""

    def __init__(self, documents):
        sets = {d["id"]: shingles(d["text"]) for d in documents.stored}
        holders = {}
        for name, own in sets.items():
            for shingle in own:
                holders.setdefault(shingle, []).append(name)
        self.near = {}
        for query in documents.queries:
            own, shared = shingles(query["text"]), {}
            for shingle in own:
                for name in holders.get(shingle, ()):
                    shared[name] = shared.get(name, 0) + 1
            good = {n for n, s in shared.items() if s >= THRESHOLD * (len(own) + len(sets[n]) - s)}
            self.near[query["id"]] = good

    def score(self, answers):
        """answers: of each query the id that was named, or None."""
        with_near = [q for q, near in self.near.items() if near]
        named = [q for q, of in answers.items() if of is not None]
        right = sum(answers[q] in self.near[q] for q in named)
        found = sum(answers.get(q) is not None for q in with_near)
        return {
            "near": len(with_near),
            "named": len(named),
            "recall": found / (len(with_near) or 1),
            "precision": right / (len(named) or 1),
        }


# Clients.


def children_cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@contextlib.contextmanager
def measured(server, result):
    """Processor seconds of the server and of the clients, which are child processes, into a dictionary."""
    before = server.cpu(), time.process_time() + children_cpu()
    yield
    result["server_cpu_s"] = server.cpu() - before[0]
    result["client_cpu_s"] = time.process_time() + children_cpu() - before[1]


def peers(python, server, what, path, n_clients=1, **options):
    """So many client processes at once; the sum of their documents, the longest time."""
    command = [python, "-P", os.path.join(places.BENCH, "rivals", "service_peer.py")]
    command += [server.name, str(server.port), what, path]
    for key, value in options.items():
        command += [f"--{key}", str(value)]
    result = {}
    with measured(server, result):
        running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(n_clients)]
        said = [json.loads(process.communicate()[0] or "null") for process in running]
    if None in said:
        raise places.Skipped(f"a client of {server.name} failed")
    result["documents"] = sum(s["documents"] for s in said)
    result["seconds"] = max(s["seconds"] for s in said)
    result["client_cpu_s"] = sum(s["client_cpu_s"] for s in said)  # without the start of Python
    result.update({k: said[0][k] for k in ("median_ms", "p99_ms") if k in said[0]})
    return result


def tool(name):
    found = shutil.which(name)
    if not found:
        raise places.Skipped(f"no {name} (tools/packages.txt, group rivals)")
    return found


def wrk(server, body_file, path, content_type, seconds, connections, documents=1):
    """wrk with one thread; documents: in each request."""
    script = os.path.join(places.BENCH, "service_load.lua")
    command = [tool("wrk"), "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s", "-s", script]
    command += [f"http://127.0.0.1:{server.port}", "--", body_file, path, content_type]
    result = {}
    with measured(server, result):
        limit = seconds + GRACE_SECONDS
        said = subprocess.run(command, check=True, capture_output=True, text=True, timeout=limit).stdout
    result.update(json.loads(next(line for line in said.splitlines() if line.startswith("{"))))
    if result["errors"]:
        raise places.Skipped(f"wrk: {result['errors']} errors at {path}")
    result["documents"] = result["requests"] * documents
    return result


def h2load(server, path, body_file, seconds, clients, rate):
    """Requests at a fixed rate over HTTP/1.1; quantiles of their times in milliseconds."""
    log = os.path.join(FOLDER, "h2load.log")
    with contextlib.suppress(FileNotFoundError):
        os.remove(log)
    command = [tool("h2load"), "--h1", "-t1", f"-c{clients}", f"-D{seconds}", f"--log-file={log}"]
    command += [f"--rps={max(1, round(rate / clients))}", f"http://127.0.0.1:{server.port}{path}"]
    if body_file:
        command += ["-d", body_file, "-H", "Content-Type: application/json"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=seconds + GRACE_SECONDS)
    with open(log, encoding="ascii") as f:
        rows = [list(map(int, line.split("\t")[:3])) for line in f]
    if any(status != 200 for _, status, _ in rows):
        raise places.Skipped(f"h2load: not every answer of {path} was 200")
    times = sorted(us for _, _, us in rows)
    quantile = {q: times[int(q * (len(times) - 1))] / 1e3 for q in (0.5, 0.9, 0.99, 0.999)}
    return {"requests": len(times), "median_ms": quantile[0.5], "p99_ms": quantile[0.99], "p999_ms": quantile[0.999]}


class Poster:
    """Bodies of NDJSON, posted over some connections at once; every line of each answer is looked at."""

    def __init__(self, server, path):
        self.server, self.path = server, path
        self.answers, self.failures = {}, []
        self.lock = threading.Lock()

    def post(self, bodies, keep_answers=False):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=120)
        for body in bodies:
            connection.request("POST", self.path, body, {"Content-Type": NDJSON})
            answer = connection.getresponse()
            said = answer.read()
            if answer.status != 200 or b'"error"' in said:
                with self.lock:
                    self.failures.append(said[:300])
                break
            if keep_answers:
                with self.lock:
                    self.answers[body] = [json.loads(line) for line in said.splitlines()]
        connection.close()

    def run(self, documents, members, connections=1, keep_answers=False):
        """Post all documents; what it took."""
        bodies = ["".join(line + "\n" for line in b).encode() for b in batches(documents, members)]
        threads = [
            threading.Thread(target=self.post, args=(bodies[i::connections], keep_answers))
            for i in range(connections)
        ]
        result = {"documents": len(documents)}
        start = time.monotonic()
        with measured(self.server, result):
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        result["seconds"] = time.monotonic() - start
        if self.failures:
            raise places.Skipped(f"{self.path}: {self.failures[0]!r}")
        return result

    def lines(self, documents, members):
        """The answers, in the order of the documents."""
        self.run(documents, members, keep_answers=True)
        bodies = ["".join(line + "\n" for line in b).encode() for b in batches(documents, members)]
        return [line for body in bodies for line in self.answers[body]]
