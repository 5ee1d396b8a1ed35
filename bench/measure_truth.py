"""Is what neardup says true, and does it say all? Its output against the exact join."""

import json
import os
import subprocess
import sys

import places

RESULTS = "truth.jsonl"
MIN_RECALL, MAX_MISSED, MIN_CROSS = 0.995, 0.005, 0.99
ARTICLES = [
    "100",
    "1000",
    "2500",
]  # mccormick-articles: planted pairs at .98, nothing else above .5


def options(parser):
    parser.add_argument(
        "--sets",
        default=",".join(places.TRUTH_SETS + ["mccormick-articles"]),
        help="default: %(default)s",
    )
    parser.add_argument("--threshold", default="0.8", help="default: %(default)s")
    parser.add_argument("--shingle", default="3", help="default: %(default)s")
    parser.add_argument("--threads", type=int, default=0, help="for neardup; default: all")
    parser.add_argument("--limit", type=float, default=600, help="seconds for one command")


class Check:
    def __init__(self, args, session):
        self.args, self.session = args, session
        self.threshold, self.width = args.threshold, args.shingle
        self.binary = places.neardup(args.neardup)
        self.oracle, _ = places.exactjoin()
        self.broken = 0

    def step(self, command, stdout=None, good=(0,)):
        with open(stdout or os.devnull, "wb") as out:
            done = subprocess.run(
                command, stdout=out, stdin=subprocess.DEVNULL, check=False, timeout=self.args.limit
            )
        if done.returncode not in good:
            raise subprocess.CalledProcessError(done.returncode, command)

    def ask(self, *command):
        """The findings of a check of the exact join, as it says in its line of JSON (status 0 or 1)."""
        done = subprocess.run(
            [self.oracle, *command], stdout=subprocess.PIPE, check=False, timeout=self.args.limit
        )
        if done.returncode not in (0, 1):
            raise subprocess.CalledProcessError(done.returncode, command)
        return json.loads(done.stdout)

    def outputs(self, name, path):
        folder = os.path.join(places.BUILD, "out", name, "truth")
        os.makedirs(folder, exist_ok=True)
        out = {
            part: os.path.join(folder, part)
            for part in ("pairs.tsv", "survivors.jsonl", "manifest.jsonl", "clusters.tsv")
        }
        common = [
            "--threshold",
            self.threshold,
            "--shingle",
            self.width,
            "--threads",
            str(self.args.threads),
        ]
        if not self.args.threads:
            common = common[:-2]
        self.step(
            [self.binary, "pairs", path, *common, "--quiet"], out["pairs.tsv"], good=(0, 1)
        )  # 1: there are none
        self.step(
            [
                self.binary,
                "dedup",
                path,
                "-o",
                out["survivors.jsonl"],
                "--manifest",
                out["manifest.jsonl"],
                "--clusters",
                out["clusters.tsv"],
                *common,
                "--quiet",
            ]
        )
        return out

    def corpus(self, name):
        path = places.corpus(name)
        truth = places.exact_pairs(name, path, self.threshold, self.width)
        out = self.outputs(name, path)
        pairs = self.ask("check-pairs", truth, out["pairs.tsv"])
        rows = self.ask(
            "check-manifest",
            "-survivors",
            out["survivors.jsonl"],
            path,
            out["manifest.jsonl"],
            out["clusters.tsv"],
            truth,
            self.threshold,
            self.width,
        )
        cross = None
        if name in places.ENGLISH and (self.threshold, self.width) == ("0.8", "3"):
            cross = self.ask("cross", places.word_oracle(name), truth, self.threshold)["share"]
        return {
            "pairs": pairs,
            "manifest": rows,
            "cross": cross,
            "broken": self.bounds(pairs, rows, cross),
        }

    def bounds(self, pairs, rows, cross):
        broken = []
        if pairs["recall"] < MIN_RECALL:
            broken.append(f"(a) recall {pairs['recall']:.4f} < {MIN_RECALL}")
        if (
            pairs["reported_not_true"]
            or pairs["reported_with_wrong_numbers"]
            or pairs["reported_twice"]
        ):
            broken.append("(a) pairs reported that are not so")
        if rows["missed_share"] > MAX_MISSED:
            broken.append(f"(b) missed {rows['missed_share']:.4f} > {MAX_MISSED}")
        if rows["errors"]:
            broken.append(f"(c) {rows['errors']} errors in manifest, clusters or survivors")
        if cross is not None and cross < MIN_CROSS:
            broken.append(f"cross-check {cross:.4f} < {MIN_CROSS}")
        return broken

    def articles(self):
        """All planted pairs and no other."""
        results = []
        for number in ARTICLES:
            path = places.unpack(
                f"mccormick-articles/articles_{number}.jsonl.zst", f"articles_{number}.jsonl"
            )
            labels = places.unpack(
                f"mccormick-articles/truth_{number}.tsv.zst", f"articles_{number}.truth.tsv"
            )
            pairs = self.outputs(f"articles_{number}", path)["pairs.tsv"]
            command = [self.binary, "eval", "-q", "--json", "--universe", "all", "--documents", path]
            done = subprocess.run(
                [*command, "--truth", labels, "--truth-is", "pairs", pairs],
                stdout=subprocess.PIPE, check=True, timeout=self.args.limit,
            )
            row = json.loads(done.stdout)
            is_off = row["missed"] or row["wrong"]
            results.append(
                {
                    "planted": row["right"] + row["missed"],
                    "found": row["right"],
                    "others": row["wrong"],
                    "broken": [f"{row['missed']} planted pairs not found, {row['wrong']} others"] * bool(is_off),
                }
            )
        return results

    def record(self, name, result):
        for what in result["broken"]:
            self.broken += 1
            places.say(f"{name}: BROKEN: {what}")
        places.append(
            RESULTS,
            dict(self.session, set=name, threshold=self.threshold, shingle=self.width, **result),
        )

    def run(self, name):
        try:
            if name == "mccormick-articles":
                if self.width != "3":
                    raise places.Skipped("mccormick-articles: its pairs are known for 3-shingles")
                for number, result in zip(ARTICLES, self.articles()):
                    self.record(f"articles_{number}", result)
            else:
                self.record(name, self.corpus(name))
            return True
        except places.Skipped as why:
            places.say(f"skipped: {why}")
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as failure:
            self.record(name, {"broken": [str(failure)]})
        return False


def main(args):
    session = places.new_session("bench/run " + " ".join(sys.argv[1:]))
    try:
        check = Check(args, session)
    except places.Skipped as why:
        places.say(f"skipped: {why}")
        return 77
    checked = sum([check.run(name) for name in args.sets.split(",")])
    if not checked and not check.broken:
        return 77  # nothing of it is here: a skipped test, to CTest
    import report

    print(report.truth())
    return 1 if check.broken else 0
