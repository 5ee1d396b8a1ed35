"""Python: frames beside the command, rensa and datasketch; what calls, interrupts and the wheel cost."""

import json
import os
import statistics
import subprocess
import sys

import places
from measure_dedup import neardup_command

RESULTS = "python.jsonl"
SETS = ["reuters21578", "enron-spam", "ota-small"]
TOOLS = ["command", "neardup polars", "neardup pyarrow", "rensa-r polars", "datasketch polars"]


def options(parser):
    parser.add_argument("--sets", default=",".join(SETS), help="default: %(default)s")
    parser.add_argument("--tools", default=",".join(TOOLS), help="default: %(default)s")
    parser.add_argument("--runs", type=int, default=5, help="of neardup, in turns; of rivals one")
    parser.add_argument("--limit", type=float, default=900, help="seconds for one run")
    parser.add_argument("--no-calls", action="store_true", help="frames only")


def environment():
    """An environment with the frames, the rivals and neardup, and the seconds that neardup took."""
    python = places.rivals_python("requirements-python.txt", "python-venv")
    before = os.times()
    command = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    command += ["--force-reinstall", "--no-deps", os.path.join(places.ROOT, "python")]
    subprocess.run(command, check=True)
    return python, children_since(before)


def children_since(before):
    """Processor seconds of the processes that have ended since."""
    after = os.times()
    return sum(getattr(after, f"children_{k}") - getattr(before, f"children_{k}") for k in ("user", "system"))


def run_tool(python, binary, tool, path, out, limit):
    """The time that it took, and what it made, or how it failed."""
    if tool == "command":
        before = os.times()
        subprocess.run(neardup_command(binary, path, out, 1), check=True, timeout=limit)
        return {"cpu_s": children_since(before)}
    side = os.path.join(places.BENCH, "python_side.py")
    command = [python, "-P", side, *tool.split(), "--input", path, "--out", out]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return {"failed": f"stopped after {limit:.0f} s"}
    if done.returncode:
        return {"failed": done.stderr[-600:]}
    return json.loads(done.stdout.splitlines()[-1])


def score(name, path, out):
    """Against the words of all tools."""
    command = [sys.executable, os.path.join(places.BENCH, "score.py")]
    command += ["--oracle", places.word_oracle(name), "--input", path]
    command += ["--clusters", os.path.join(out, "clusters.tsv")]
    if os.path.exists(os.path.join(out, "removed.txt")):
        command += ["--removed", os.path.join(out, "removed.txt")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return {"failed": done.stderr[-300:]} if done.returncode else json.loads(done.stdout)


def measure_set(python, binary, name, args, session):
    path = places.corpus(name)
    size, documents = places.warm(path)
    taken = {}
    for number in range(args.runs):
        for tool in args.tools.split(","):
            if number and not tool.startswith(("command", "neardup")):
                continue
            out = os.path.join(places.BUILD, "python", name, tool.replace(" ", "-"))
            os.makedirs(out, exist_ok=True)
            record = run_tool(python, binary, tool, path, out, args.limit)
            if number == 0 and "failed" not in record:
                record["score"] = score(name, path, out)
            places.append(
                RESULTS,
                dict(session, set=name, tool=tool, documents=documents, file_mb=size / 1e6, **record),
            )
            taken.setdefault(tool, []).append(record.get("cpu_s"))
    for tool, seconds in taken.items():
        good = [s for s in seconds if s is not None]
        places.say(f"{name} {tool}: " + (f"{statistics.median(good):.3f} s" if good else "failed"))


def main(args):
    session = places.new_session("bench/run " + " ".join(sys.argv[1:]))
    try:
        binary = places.neardup(args.neardup)
        python, installing = environment()
    except (places.Skipped, subprocess.CalledProcessError) as why:
        places.say(f"skipped: {why}")
        return 77
    places.append(RESULTS, dict(session, set="", tool="pip install ./python", cpu_s=installing))
    for name in args.sets.split(","):
        try:
            measure_set(python, binary, name, args, session)
        except places.Skipped as why:
            places.say(f"skipped: {why}")
    if not args.no_calls:
        bench = os.path.join(os.path.dirname(binary), "bench", "bench_hamming")
        command = [python, "-P", os.path.join(places.BENCH, "measure_python_calls.py"), "--bench", bench]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for line in said.splitlines():
            places.append(RESULTS, dict(session, set="", tool="calls", row=json.loads(line)))
    import report

    print(report.python())
    return 0
