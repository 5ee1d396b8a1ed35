"""The sketching of every shipped recipe, beside the default's and the PyPI packages for simhash."""

import json
import os
import shutil
import subprocess
import sys

import places
import report

RESULTS = "recipes.jsonl"
SETS = ["reuters21578", "ota-small"]
SAMPLE = 48_000_000  # bytes of text for the recipes,
SMALL = 3_000_000  # and for the packages
PACKAGES = {"simhash": "simhash==2.1.2", "simhash-pybind": "simhash-pybind==0.0.3"}
LEAST_SHARE, LEAST_TIMES = 1 / 3, 50
WEIGHTED = "seshasai-2009"  # what the packages are held against, on the same texts


def options(parser):
    parser.add_argument("--sets", default=",".join(SETS), help="default: %(default)s")
    parser.add_argument("--recipes", help="names, separated by commas; default: all that read texts")
    parser.add_argument(
        "--cpu", type=int, default=min(os.sched_getaffinity(0)), help="the core to pin to"
    )


def sample(name, size):
    """Texts of a corpus, each ended by a zero byte."""
    target = os.path.join(places.BUILD, "data", f"{name}-{size}.texts")
    if not os.path.exists(target):
        with open(places.corpus(name), "rb") as lines, open(target + ".part", "wb") as out:
            while out.tell() < size and (line := lines.readline()):
                text = json.loads(line)["text"].replace("\0", " ")
                out.write(text.encode("utf-8", "replace") + b"\0")
        os.replace(target + ".part", target)
    return target


def shipped(binary):
    text = subprocess.run([binary, "recipe", "list"], check=True, capture_output=True, text=True)
    names = [line.split()[0] for line in text.stdout.splitlines() if line.strip()]
    return [name for name in names if reads_texts(name)]


def reads_texts(recipe):
    """Not of the structure of pages or their links alone: the sets here are texts."""
    return not {"unit = paths", "unit = none"} & set(lines_of(recipe))


def lines_of(recipe):
    with open(os.path.join(places.ROOT, "recipes", recipe + ".ini"), encoding="utf-8") as f:
        return f.read().splitlines()


def wants_runs(recipe):
    """A table of the runs of words that many documents share, which only a set of pages or files has."""
    return "template_df =" in lines_of(recipe)


def with_table(binary, name, recipe):
    """NAME, or NAME=DF where the recipe wants a table: of the set itself."""
    if "df =" not in lines_of(recipe):
        return recipe
    table = os.path.join(places.BUILD, f"{name}-{recipe}.df")
    subprocess.run(
        [binary, "df", "build", "--recipe", recipe, "-o", table, places.corpus(name), "-q"],
        check=True,
    )
    return f"{recipe}={table}"


def own(binary, name, recipes, cpu, size=SAMPLE):
    """Megabytes a second of each recipe on the first `size` bytes of a set."""
    program = os.path.join(places.ROOT, "build", "release", "bench", "sketch_recipes")
    if not os.access(program, os.X_OK):
        raise places.Skipped("no sketch_recipes: build the release first (make)")
    done = subprocess.run(
        ["taskset", "-c", str(cpu), program, sample(name, size)]
        + [with_table(binary, name, recipe) for recipe in recipes],
        check=True,
        stdout=subprocess.PIPE,
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {row["recipe"]: row["bytes"] / row["seconds"] / 1e6 for row in rows}


def python_of(package):
    """A virtual environment of its own: both packages are imported as simhash."""
    folder = os.path.join(places.BUILD, "venv-" + package)
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(os.path.join(folder, "made")):
        places.say("installing " + PACKAGES[package])
        shutil.rmtree(folder, ignore_errors=True)
        try:
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            subprocess.run(
                [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
                + [PACKAGES[package]],
                check=True,
            )
        except (subprocess.CalledProcessError, OSError) as error:
            raise places.Skipped(f"{package} cannot be installed: {error}") from error
        with open(os.path.join(folder, "made"), "w", encoding="ascii"):
            pass
    return python


def rival(package, name, cpu):
    script = os.path.join(places.BENCH, "rivals", "simhash_speed.py")
    done = subprocess.run(
        ["taskset", "-c", str(cpu), python_of(package), script, package, sample(name, SMALL)],
        check=True,
        stdout=subprocess.PIPE,
    )
    return json.loads(done.stdout)["mb_s"]


def main(args):
    session = places.new_session("bench/run recipes")
    failed = False
    try:
        binary = places.neardup(args.neardup)
        recipes = args.recipes.split(",") if args.recipes else shipped(binary)
        recipes = [name for name in recipes if not wants_runs(name)]
        for name in args.sets.split(","):
            speeds = own(binary, name, recipes, args.cpu)
            rivals, same = {}, {}
            if WEIGHTED in recipes:
                same = own(binary, name, [WEIGHTED], args.cpu, SMALL)
            for package in PACKAGES:
                try:
                    rivals[package] = rival(package, name, args.cpu)
                except places.Skipped as why:
                    places.say(f"skipped: {why}")
            places.append(RESULTS, dict(session, set=name, mb_s=speeds, rivals=rivals, same=same))
            failed |= any(s < LEAST_SHARE * speeds["default"] for s in speeds.values())
            failed |= any(same.get(WEIGHTED, 1e9) < LEAST_TIMES * s for s in rivals.values())
    except places.Skipped as why:
        places.say(f"skipped: {why}")
        return 77
    print(report.recipes())
    return 1 if failed else 0
