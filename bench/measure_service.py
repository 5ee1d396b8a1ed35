"""The service beside Redis with rensa and PostgreSQL with a table of bands: rates, latencies, memory, a soak."""

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time

import places
import service_load as load
import service_systems as systems

RESULTS = "service.jsonl"
SETS = ["generated", "enron-spam"]
PARTS = ["peers", "library", "tail", "durable", "idle"]
IDLE_CONNECTIONS = 10000
SOAK_ROUND_SECONDS, SOAK_LOOK_SECONDS = 0.1, 10


def options(parser):
    parser.add_argument("--sets", default=",".join(SETS), help="default: %(default)s")
    parser.add_argument("--parts", default=",".join(PARTS), help="default: %(default)s")
    parser.add_argument("--stored", type=int, default=20000, help="documents (20,000)")
    parser.add_argument("--seconds", type=int, default=5, help="of each run (5)")
    parser.add_argument("--rounds", type=int, default=3, help="of all systems in turn (3)")
    parser.add_argument("--soak", type=int, default=0, metavar="SECONDS", help="only write and ask for so long")


class Session:
    """The things that all parts share."""

    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.record = places.new_session("bench/run " + " ".join(sys.argv[1:]))
        self.program = places.neardup(args.neardup)

    def keep(self, set_name, part, **found):
        places.append(RESULTS, dict(self.record, set=set_name, part=part, **found))
        shown = {k: round(v, 3) if isinstance(v, float) else v for k, v in found.items()}
        places.say(f"{set_name} {part}: {json.dumps(shown)}")

    def neardup(self, *options):
        folder = tempfile.mkdtemp(dir=self.folder)
        return systems.Neardup(folder, self.program, *options)


def store_all(server, documents):
    return load.Poster(server, "/v1/documents").run(documents.stored, ["id", "text"], connections=4)


# Beside the peers.


def our_answers(server, documents):
    lines = load.Poster(server, "/v1/query").lines(documents.queries, ["text"])
    named = [line["of"] and line["of"]["id"] for line in lines]
    return {d["id"]: of for d, of in zip(documents.queries, named)}


def peer_answers(path):
    with open(path, encoding="utf-8") as lines:
        return dict(json.loads(line) for line in lines)


def our_round(server, documents, seconds):
    """(what, result) of the three kinds of run."""
    batches, singles = documents.path("batches"), documents.path("singles")
    query, as_json = "/v1/query", "application/json"
    yield "batches", load.wrk(server, batches, query, load.NDJSON, seconds, 4, load.BATCH)
    yield "singles", load.wrk(server, singles, query, as_json, seconds, 8)
    yield "one connection", load.wrk(server, singles, query, as_json, seconds, 1)


def peer_round(python, server, documents, seconds):
    queries, cores = documents.path("queries.jsonl"), len(os.sched_getaffinity(0))
    for what, batch, clients in (("batches", load.BATCH, cores), ("singles", 1, cores), ("one connection", 1, 1)):
        yield what, load.peers(python, server, "query", queries, clients, seconds=seconds, batch=batch)


def measure_peers(session, documents):
    """All systems at once, loaded with the same documents; in each round they take turns."""
    python = places.rivals_python("requirements-service.txt", "service-venv")
    truth = load.Truth(documents)
    seconds = session.args.seconds
    with session.neardup() as ours, systems.Redis(session.folder) as redis, systems.Postgres(session.folder) as postgres:
        session.keep(documents.name, "load", system="neardup", **store_all(ours, documents))
        session.keep(documents.name, "answers", system="neardup", **truth.score(our_answers(ours, documents)))
        for peer in (redis, postgres):
            stored = load.peers(python, peer, "load", documents.path("stored.jsonl"))
            session.keep(documents.name, "load", system=peer.name, **stored)
            answers = documents.path(f"answers.{peer.name}")
            load.peers(python, peer, "query", documents.path("queries.jsonl"), seconds=0, answers=answers)
            session.keep(documents.name, "answers", system=peer.name, **truth.score(peer_answers(answers)))
        for _ in range(session.args.rounds):
            for what, found in our_round(ours, documents, seconds):
                session.keep(documents.name, what, system="neardup", **found)
            for peer in (redis, postgres):
                for what, found in peer_round(python, peer, documents, seconds):
                    session.keep(documents.name, what, system=peer.name, **found)


# By itself.


def measure_library(session, documents):
    """The time of the library for the same queries, and of the server for one in a batch.

    The library runs once on each core at the same time, as the cores are busy while the server is measured.
    """
    program = os.path.join(os.path.dirname(session.program), "bench", "service_library")
    if not os.access(program, os.X_OK):
        raise places.Skipped("no service_library: build the release first (make)")
    command = [program, documents.path("stored.texts"), documents.path("queries.texts")]
    with session.neardup() as server:
        store_all(server, documents)
        for _ in range(session.args.rounds):
            cores = range(len(os.sched_getaffinity(0)))
            running = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in cores]
            said = [json.loads(process.communicate()[0]) for process in running]
            found = {key: sum(s[key] for s in said) / len(said) for key in said[0]}
            batches = documents.path("batches")
            run = load.wrk(server, batches, "/v1/query", load.NDJSON, session.args.seconds, 4, load.BATCH)
            found["server_us"] = 1e6 * run["server_cpu_s"] / run["documents"]
            session.keep(documents.name, "library", **found)


def measure_tail(session, documents):
    """Queries at half of the rate that the server reaches, beside /healthz at the same rate."""
    body = documents.path("one")
    by_length = sorted(documents.queries, key=lambda d: len(d["text"]))
    documents.write("one", json.dumps({"text": by_length[len(by_length) // 2]["text"]}))
    seconds = session.args.seconds
    with session.neardup() as server:
        store_all(server, documents)
        full = load.wrk(server, documents.path("singles"), "/v1/query", "application/json", seconds, 8)
        rate = full["requests"] / full["seconds"] / 2
        for _ in range(session.args.rounds):
            for path, with_body in (("/healthz", None), ("/v1/query", body)):
                found = load.h2load(server, path, with_body, seconds, 8, rate)
                session.keep(documents.name, "tail", path=path, rate=rate, **found)


def measure_durable(session, documents):
    """New documents in batches over some connections, each answered when it is on disk."""
    for _ in range(session.args.rounds):
        with session.neardup() as server:
            poster = load.Poster(server, "/v1/documents")
            found = poster.run(documents.stored, ["id", "text"], connections=8)
            session.keep(documents.name, "durable", **found)


def measure_idle(session, documents):
    """Memory for each of many connections that say nothing: from the start, or after one request."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = IDLE_CONNECTIONS + 200
    if hard < wanted:
        raise places.Skipped(f"no more than {hard} open files are allowed")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    for request in (b"", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"):
        with session.neardup() as server:
            before = server.memory("VmRSS")
            connections = []
            try:
                for _ in range(IDLE_CONNECTIONS):
                    connections.append(connect(server, request))
                connect(server, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").close()
                each = (server.memory("VmRSS") - before) / IDLE_CONNECTIONS
            finally:
                for connection in connections:
                    connection.close()
        session.keep(documents.name, "idle", connections=IDLE_CONNECTIONS, asked=bool(request), bytes=each)


def connect(server, request):
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    connection.sendall(request)
    if request and not connection.recv(4096).startswith(b"HTTP/1.1 200"):
        raise places.Skipped("a connection is refused")
    return connection


# A soak.


def soak(session, documents, seconds):
    """Replaced documents and queries; memory and errors every ten seconds.

    Each text is stored under one of a fixed number of ids, so that what is stored stays the same size, and a batch is
    written every tenth of a second; queries follow one another without a pause.
    """
    with session.neardup() as server:
        store_all(server, documents)
        start, next_look, rounds = time.monotonic(), 0, 0
        while (now := time.monotonic() - start) < seconds:
            if now >= next_look:
                memory = {key: server.memory(key) / 1e6 for key in ("RssAnon", "VmRSS")}
                session.keep(documents.name, "soak", seconds=now, rounds=rounds, **memory)
                next_look += SOAK_LOOK_SECONDS
            load.Poster(server, "/v1/documents").run(replaced(documents.stored, rounds), ["id", "text"])
            while time.monotonic() - start < (rounds + 1) * SOAK_ROUND_SECONDS:
                load.Poster(server, "/v1/query").run(documents.queries[: 2 * load.BATCH], ["text"])
            rounds += 1


def replaced(documents, by):
    """A batch of documents, each with the text of another."""
    n = len(documents)
    where = [(by * load.BATCH + i) % n for i in range(load.BATCH)]
    return [{"id": documents[w]["id"], "text": documents[(w + 37 * (1 + by)) % n]["text"]} for w in where]


def main(args):
    measures = {
        "peers": measure_peers,
        "library": measure_library,
        "tail": measure_tail,
        "durable": measure_durable,
        "idle": measure_idle,
    }
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what was started is stopped then, too
    try:
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)  # PostgreSQL runs as another user
            session = Session(args, folder)
            for name in args.sets.split(","):
                documents = load.read_set(name, args.stored)
                if args.soak:
                    soak(session, documents, args.soak)
                    break
                for part in args.parts.split(","):
                    try:
                        measures[part](session, documents)
                    except places.Skipped as why:
                        places.say(f"skipped: {name}, {part}: {why}")
    except places.Skipped as why:
        places.say(f"skipped: {why}")
        return 77
    import report

    print(report.service())
    return 0
