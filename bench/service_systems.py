"""The systems of `bench/run service`: each a server in a temporary folder on a free port of 127.0.0.1."""

import http.client
import os
import shutil
import signal
import socket
import subprocess
import time

import places

TICKS = os.sysconf("SC_CLK_TCK")
START_SECONDS = 60
STOP_SECONDS = 120


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def tree(pid):
    """A process and all that it started."""
    found = [pid]
    for one in found:
        for thread in os.listdir(f"/proc/{one}/task"):
            with open(f"/proc/{one}/task/{thread}/children", encoding="ascii") as f:
                found += map(int, f.read().split())
    return found


def cpu_seconds(pid):
    """Processor seconds of a process, its threads and its children, those that have ended included."""
    ticks = 0
    for one in tree(pid):
        try:
            with open(f"/proc/{one}/stat", encoding="utf-8") as f:
                fields = f.read().rpartition(")")[2].split()
        except FileNotFoundError:
            continue  # it ended meanwhile, and its parent has its time
        ticks += sum(map(int, fields[11:15]))
    return ticks / TICKS


def memory_bytes(pid, key="RssAnon"):
    """A figure of /proc/PID/status, such as VmRSS."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        for line in f:
            if line.startswith(key + ":"):
                return int(line.split()[1]) * 1024
    raise ValueError(key)


def wait_until(is_ready, process, what):
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            raise places.Skipped(f"{what} ended with status {process.returncode}")
        if is_ready():
            return
        time.sleep(0.05)
    raise places.Skipped(f"{what} does not answer")


def answers(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


class Server:
    """Started with `with`, and always stopped; its folder goes with it."""

    name = ""
    stop_signal = signal.SIGTERM

    def __init__(self, folder):
        self.folder = os.path.join(folder, self.name)
        os.makedirs(self.folder)
        self.port = free_port()
        self.process = None

    def prepare(self):
        pass

    def is_ready(self):
        return answers(self.port)

    def __enter__(self):
        self.prepare()
        with open(os.path.join(self.folder, "log"), "wb") as log:
            self.process = subprocess.Popen(self.command(), stdout=log, stderr=log, cwd=self.folder)
        try:
            wait_until(self.is_ready, self.process, self.name)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(self.stop_signal)
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def log(self):
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as f:
            return f.read()[-2000:]

    def cpu(self):
        return cpu_seconds(self.process.pid)

    def memory(self, key="RssAnon"):
        return memory_bytes(self.process.pid, key)


class Neardup(Server):
    name = "neardup"

    def __init__(self, folder, program, *options):
        super().__init__(folder)
        self.program, self.options = program, options

    def command(self):
        listen = f"127.0.0.1:{self.port}"
        store = os.path.join(self.folder, "store")
        return [self.program, "serve", store, "--listen", listen, *self.options]

    def is_ready(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()


class Redis(Server):
    """Without persistence, which is its fastest way."""

    name = "redis"

    def command(self):
        program = shutil.which("redis-server")
        if not program:
            raise places.Skipped("no redis-server (Debian: redis-server)")
        options = ["--bind", "127.0.0.1", "--port", str(self.port), "--daemonize", "no"]
        return [program, *options, "--save", "", "--appendonly", "no"]


class Postgres(Server):
    """As Debian sets it up: durable."""

    name = "postgres"
    stop_signal = signal.SIGINT  # end the sessions, then stop

    def program(self, name):
        found = shutil.which(name, path="/usr/lib/postgresql/15/bin") or shutil.which(name)
        if not found:
            raise places.Skipped(f"no {name} (Debian: postgresql)")
        return found

    def as_user(self):
        """PostgreSQL refuses to be root."""
        if os.getuid() != 0:
            return []
        return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]

    def prepare(self):
        self.program("postgres")
        if os.getuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")
        data = os.path.join(self.folder, "data")
        command = [self.program("initdb"), "-D", data, "-U", "bench", "-A", "trust", "--no-sync"]
        subprocess.run([*self.as_user(), *command], check=True, stdout=subprocess.DEVNULL, cwd="/")

    def command(self):
        options = ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]
        data = os.path.join(self.folder, "data")
        return [*self.as_user(), self.program("postgres"), "-D", data, "-p", str(self.port), *options]
