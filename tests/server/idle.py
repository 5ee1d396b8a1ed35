#!/usr/bin/env python3
"""idle.py - what connections that wait cost the server

usage: idle.py SERVER [CONNECTIONS], where SERVER is serve_for_tests

Prints kilobytes of memory for each connection: before its first request, and after it; and the
share of a core that the server takes while all of them wait.
"""
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time


def figure(pid, name):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name))


def seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        parts = file.read().rsplit(")", 1)[1].split()
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


def main():
    program, n = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10000
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory(prefix="neardup-idle-") as folder:
        process = subprocess.Popen([program, os.path.join(folder, "store")], text=True,
                                   stdout=subprocess.PIPE)
        port = int(process.stdout.readline().rsplit(":", 1)[1])
        before = figure(process.pid, "VmRSS")
        clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(n)]
        clients[-1].sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        clients[-1].recv(4096)
        print(f"fresh: {(figure(process.pid, 'VmRSS') - before) / n:.1f} KB")
        for client in clients:
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for client in clients:
            client.recv(4096)
        print(f"after a request: {(figure(process.pid, 'VmRSS') - before) / n:.1f} KB")
        begun = seconds(process.pid)
        time.sleep(5)
        print(f"waiting: {(seconds(process.pid) - begun) / 5:.1%} of a core")
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
