"""How far other tools are right: each removes near duplicates, and neardup audit looks at what it removed."""

import json
import os
import subprocess
import sys

import places
import report

RESULTS = "audit.jsonl"
HARNESS = os.path.join(os.path.dirname(places.DATA), "rivals")
OWN = "neardup"
# The tools of the harness that say what they remove, and for which document.  simhash only flags documents, and
# rensa-rho keeps none of a cluster.
TOOLS = (
    "rensa-r rensa-c gaoya fastsketch datasketch datasketch-xxh simhash-pybind trafilatura "
    "text-dedup-minhash datatrove pyspark"
)


def options(parser):
    parser.add_argument("--sets", default="reuters21578", help="default: %(default)s")
    parser.add_argument(
        "--tools", default=TOOLS.replace(" ", ","), help="of the harness; default: %(default)s"
    )
    parser.add_argument(
        "--outputs",
        default=os.path.join(places.BUILD, "audit"),
        help="where SET/TOOL/removed.txt and clusters.tsv are, or will be written",
    )
    parser.add_argument("--venvs", help="the environments that the harness has made (setup.sh)")
    parser.add_argument("--limit", default="900", help="seconds for a tool; default %(default)s")


def environments(args):
    """Return the folder of the tools' environments, which the harness makes."""
    folder = os.path.abspath(args.venvs or os.path.join(places.BUILD, "rivals-venvs"))
    if not os.path.exists(os.path.join(folder, "text-dedup")):
        places.say("installing the tools into " + os.path.relpath(folder, places.ROOT))
        subprocess.run(["sh", os.path.join(HARNESS, "setup.sh"), folder], check=True)
    return folder


def remove_by_neardup(binary, corpus, folder):
    """Write what neardup itself removes, as the harness does for the others."""
    os.makedirs(folder, exist_ok=True)
    for name in ("clusters.tsv", "removed.txt"):  # which audit takes for both
        clusters = os.path.join(folder, name)
        subprocess.run(
            [binary, "dedup", "-q", corpus, "-o", os.devnull, "--clusters", clusters], check=True
        )


def remove_by_other(tool, corpus, folder, args):
    """Have the harness run a tool with runs of three words, threshold .8 and 128 permutations."""
    command = [sys.executable, os.path.join(HARNESS, "run.py"), tool, "--input", corpus]
    settings = ["--threshold", "0.8", "--ngram", "3", "--perms", "128", "--limit", args.limit]
    places.say(f"{tool} on {os.path.basename(corpus)}")
    done = subprocess.run(
        [*command, *settings, "--out", folder, "--venvs", environments(args), "--cpu", "any"],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        places.say(f"{tool}: {done.stdout[-300:] or done.stderr[-300:]}")


def removed_by(tool, binary, corpus, folder, args):
    """Return the file of what a tool removed, which is made if it is not there; None: it failed."""
    removed = os.path.join(folder, "removed.txt")
    if not os.path.exists(removed):
        if tool == OWN:
            remove_by_neardup(binary, corpus, folder)
        else:
            remove_by_other(tool, corpus, folder, args)
    return removed if os.path.exists(removed) else None


def audit(binary, corpus, removed):
    """Return the row of an audit."""
    clusters = os.path.join(os.path.dirname(removed), "clusters.tsv")
    command = [binary, "audit", "-q", corpus, "--removed", removed, "--clusters", clusters]
    done = subprocess.run([*command, "--json"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def main(args):
    session = places.new_session("bench/run audit")
    if not os.path.exists(HARNESS):
        places.say("skipped: the harness of the tools is not there")
        return 77
    try:
        binary = places.neardup(args.neardup)
        for name in args.sets.split(","):
            corpus = places.corpus(name)
            for tool in [OWN, *args.tools.split(",")]:
                folder = os.path.join(args.outputs, name, tool)
                removed = removed_by(tool, binary, corpus, folder, args)
                if removed:
                    row = audit(binary, corpus, removed)
                    places.append(RESULTS, dict(session, set=name, tool=tool, row=row))
    except (places.Skipped, subprocess.CalledProcessError) as why:
        places.say(f"skipped: {why}")
        return 77
    print(report.audit())
    return 0
