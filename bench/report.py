"""Markdown tables of the last session of each measurement, for the README."""

import os
import statistics
from collections import defaultdict

import places


def session_of(name):
    records = places.records(name)
    return [r for r in records if r["session"] == records[-1]["session"]]


def heading(record):
    m = record["machine"]
    return (
        f"Measured on {record['session'][:10]} on {m['cpus']} cores of {m['cpu']} "
        f"({', '.join(m['features'])}), {m['memory_gb']:.0f} GB, {m['system']}; "
        f"revision {record['revision']}; "
        f"`{record['command']}`.\n"
    )


def percent(x, digits=1):
    return f"{100 * x:.{digits}f} %"


def table(columns, rows):
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


def spread(values, digits=1):
    median = f"{statistics.median(values):.{digits}f}"
    if len(values) == 1:
        return median
    return f"{median} ({min(values):.{digits}f}–{max(values):.{digits}f})"


DEDUP_COLUMNS = ["tool", "MB/s, median (range)", "× fastest rival", "runs", "MB/processor s"]
DEDUP_COLUMNS += ["peak MB", "removed", "pairs in one cluster", "pairs both kept"]
DEDUP_COLUMNS += ["pair precision", "wrongly removed", "missed"]


def median_speeds(runs):
    return {
        tool: statistics.median(r["mb_per_s"] for r in rs if not r["exit"])
        for tool, rs in runs.items()
        if any(not r["exit"] for r in rs)
    }


def dedup_rows(runs):
    """One row a tool, the fastest first; the ratio is to the fastest rival's median."""
    speed = median_speeds(runs)
    best = max((v for tool, v in speed.items() if not tool.startswith("neardup")), default=None)
    for tool in sorted(runs, key=lambda t: -speed.get(t, 0)):
        good = [r for r in runs[tool] if not r["exit"]]
        if not good:
            yield [tool, "stopped" if "over_limit" in runs[tool][-1] else "failed"] + [""] * 10
            continue
        score = next((r["score"] for r in good if "pair_recall" in r.get("score", {})), None)
        net = any(r["seconds"] != r["seconds_full"] for r in good)
        row = [
            f"{tool} {good[0].get('version', '')}",
            spread([r["mb_per_s"] for r in good]) + ("*" if net else ""),
            f"{speed[tool] / best:.1f}" if best else "–",
            len(good),
            f"{statistics.median(r['file_mb'] / r['cpu_s'] for r in good):.1f}",
            f"{statistics.median(r['peak_mb'] for r in good):.0f}",
        ]
        yield row + (score_cells(score) if score else [""] * 6)
        own = next((r["own_score"] for r in good if "pair_recall" in r.get("own_score", {})), None)
        if own:
            yield [f"{tool}, by its own words"] + [""] * 5 + score_cells(own)


def score_cells(score):
    return [
        score["removed"],
        percent(score["pair_recall"]),
        score["both_kept"],
        percent(score["pair_precision"]),
        f"{score['wrongly_removed']} ({percent(score['wrongly_removed_share'])})",
        f"{score['missed']} ({percent(score['missed_share'])})",
    ]


def scores_of(runs):
    return [r["score"] for rs in runs.values() for r in rs if "true_pairs" in r.get("score", {})]


def dedup():
    records = session_of("dedup.jsonl") if places.records("dedup.jsonl") else []
    if not records:
        return "Nothing measured.\n"
    sets = defaultdict(lambda: defaultdict(list))
    for r in records:
        sets[r["set"]][r["tool"]].append(r)
    parts = [heading(records[0]), dedup_summary(sets)]
    for name, runs in sets.items():
        first, scores = next(iter(runs.values()))[0], scores_of(runs)
        of = f"{first['documents']:,} documents, {first['file_mb']:.1f} MB"
        if scores:
            of += f", {scores[0]['true_pairs']:,} pairs at resemblance ≥ .8 (three `\\w+` words)"
        parts.append(f"### {name}\n\n{of}\n")
        parts.append(table(DEDUP_COLUMNS, dedup_rows(runs)))
    if any(r.get("seconds") != r.get("seconds_full") for r in records):
        parts.append("\\* Import time over 1 s is subtracted.\n")
    return "\n".join(parts)


def dedup_summary(sets):
    """The figures that have goals: the ratio to the fastest rival, and of two threads to one."""
    rows = []
    for name, runs in sets.items():
        speed = median_speeds(runs)
        rivals = {t: v for t, v in speed.items() if not t.startswith("neardup")}
        fastest = max(rivals, key=rivals.get, default=None)
        one, two = speed.get("neardup"), speed.get("neardup-2")
        rows.append(
            [
                name,
                f"{one:.0f}" if one else "–",
                f"{fastest} {rivals[fastest]:.1f}" if fastest else "–",
                f"{one / rivals[fastest]:.1f}" if one and fastest else "–",
                f"{two / one:.2f}" if one and two else "–",
            ]
        )
    return table(["set", "neardup, MB/s", "fastest rival", "ratio", "two threads : one"], rows)


def truth():
    records = session_of("truth.jsonl") if places.records("truth.jsonl") else []
    if not records:
        return "Nothing checked.\n"
    rows, articles, broken = [], [], []
    for r in records:
        broken += [f"* {r['set']}: {what}" for what in r["broken"]]
        if "planted" in r:
            articles.append([r["set"], r["planted"], r["found"], r["others"]])
        if "pairs" not in r:
            continue
        p, m = r["pairs"], r["manifest"]
        rows.append(
            [
                r["set"],
                f"{p['true_pairs']:,}",
                percent(p["recall"], 3),
                f"{percent(p['recall_80_85'], 2)} of {p['true_pairs_80_85']:,}",
                p["reported_not_true"] + p["reported_with_wrong_numbers"] + p["reported_twice"],
                f"{m['rows']:,}",
                m["errors"],
                f"{m['missed']} ({percent(m['missed_share'], 3)})",
                m["missed_short"],
                "–" if r["cross"] is None else percent(r["cross"], 2),
            ]
        )
    parts = [heading(records[0])]
    if rows:
        parts.append(
            f"Word {records[0]['shingle']}-shingles, threshold {records[0]['threshold']}:\n"
        )
        parts.append(
            table(
                [
                    "set",
                    "true pairs",
                    "(a) found",
                    "of them below .85",
                    "reported wrongly",
                    "removed",
                    "(c) wrong rows",
                    "(b) missed",
                    "short, kept",
                    "oracle of `\\w+` also here",
                ],
                rows,
            )
        )
    if articles:
        parts.append(table(["set", "planted pairs", "found", "others"], articles))
    parts.append(
        "Bounds broken:\n\n" + "\n".join(broken) + "\n" if broken else "No bound is broken.\n"
    )
    return "\n".join(parts)


def memory():
    records = session_of("memory.jsonl") if places.records("memory.jsonl") else []
    if not records:
        return "Nothing measured.\n"
    rows = [
        [
            f"{r['documents']:,}",
            r.get("memory", ""),
            f"{r.get('spilled_mb', 0):,.0f}",
            r.get("loads", 0),
            f"{r['file_mb']:,.0f}",
            r["threads"],
            f"{r['seconds']:.1f}",
            f"{r['cpu_s']:.1f}",
            f"{r['file_mb'] / r['seconds']:.0f}",
            f"{r['peak_mb']:,.0f}",
            f"{r['promised_mb']:,.0f}",
            f"{r['bytes_a_document']:.0f}",
            f"{r['ulimit_v_mb']:,.0f}",
            f"{r['removed']:,} of {r['to_be_removed']:,}",
            "; ".join(r["broken"]) or "none",
        ]
        for r in records
    ]
    return (
        heading(records[0])
        + "\n"
        + table(
            [
                "documents",
                "--memory",
                "spilled MB",
                "loads",
                "MB",
                "threads",
                "seconds",
                "processor s",
                "MB/s",
                "peak MB",
                "promised MB",
                "bytes a document over 256 MB",
                "ulimit -v, MB",
                "removed",
                "bounds broken",
            ],
            rows,
        )
    )


def daily():
    records = session_of("daily.jsonl") if places.records("daily.jsonl") else []
    if not records:
        return "Nothing measured.\n"
    rows = [
        [
            f"{r['days']} × {r['documents']:,}",
            f"{r['words'][0]} to {r['words'][1]}",
            f"{r['one']:.1f}",
            f"{r['one_with_file']:.1f}",
            f"{sum(r['seconds']):.1f}",
            f"{sum(r['seconds']) / r['one']:.2f}",
            f"{sum(r['seconds']) / r['one_with_file']:.2f}",
            f"{r['seconds'][0]:.2f}, {r['seconds'][-1]:.2f}",
            f"{r['bytes'] / 1e6:,.0f}",
        ]
        for r in records
    ]
    return (
        heading(records[0])
        + "\n"
        + table(
            [
                "days × documents",
                "words",
                "one run, processor s",
                "one run that keeps sketches",
                "a run a day",
                "× one run",
                "× one that keeps sketches",
                "first, last day",
                "sketch file, MB",
            ],
            rows,
        )
    )


def cluster():
    records = session_of("cluster.jsonl") if places.records("cluster.jsonl") else []
    if not records:
        return "Nothing measured.\n"
    columns = ["step", "tasks", "processor s", "µs a document", "MB/s of input", "peak MB", "MB written"]
    parts = [heading(records[0])]
    for r in records:
        rows = [
            [
                name,
                str(step["tasks"]),
                f"{step['cpu_s']:.1f}",
                f"{step['cpu_s'] / r['documents'] * 1e6:.1f}",
                f"{r['mb'] / step['cpu_s']:.0f}",
                f"{step['peak_mb']:.0f}",
                f"{step['mb']:,.0f}" if "mb" in step else "",
            ]
            for name, step in r["steps"].items()
        ]
        parts.append(f"{r['documents']:,} documents of {r['words'].replace(',', ' to ')} words, {r['mb']:,.0f} MB\n\n{table(columns, rows)}")
    return "\n".join(parts)


def hostile():
    records = session_of("hostile.jsonl") if places.records("hostile.jsonl") else []
    if not records:
        return "Nothing measured.\n"
    rows = []
    for r in records:
        runs = r["runs"]
        rows.append(
            [
                r["case"],
                f"{runs[0]['n']:,}",
                " / ".join(f"{x['cpu_s']:.2f}" for x in runs),
                f"{runs[-1]['cpu_s'] / max(runs[-2]['cpu_s'], 1e-3):.1f}" if runs[1:] else "",
                " / ".join(f"{x['peak_mb']:.0f}" for x in runs),
                f"{runs[-1]['promised_mb']:.0f}",
                " / ".join(str(x["exit"]) for x in runs),
                "; ".join(r["broken"]) or "none",
            ]
        )
    return (
        heading(records[0])
        + "\n"
        + table(
            [
                "input",
                "n",
                "processor s at n / 2n / 4n",
                "4n to 2n",
                "peak MB",
                "promised at 4n",
                "status",
                "bounds broken",
            ],
            rows,
        )
    )


def scaling():
    records = session_of("scaling.jsonl") if places.records("scaling.jsonl") else []
    by_set = defaultdict(lambda: defaultdict(list))
    for r in records:
        if not r["exit"]:
            by_set[r["set"]][r["threads"]].append(r["mb_per_s"])
    if not by_set:
        return "Nothing measured.\n"
    threads = sorted({n for runs in by_set.values() for n in runs})
    rows = [
        [name]
        + [spread(runs[n], 0) for n in threads]
        + [
            f"{statistics.median(runs[n]) / statistics.median(runs[threads[0]]):.2f}"
            for n in threads[1:]
        ]
        for name, runs in by_set.items()
    ]
    return (
        heading(records[0])
        + "\n"
        + table(
            ["set"]
            + [f"MB/s, {n} threads" if n > 1 else "MB/s, 1 thread" for n in threads]
            + [f"{n} : {threads[0]}" for n in threads[1:]],
            rows,
        )
        + "\n"
        + turns(records)
    )


def floor():
    """One row a set: the least work, as a share of what neardup takes, run by run."""
    records = session_of("floor.jsonl") if places.records("floor.jsonl") else []
    runs = defaultdict(lambda: defaultdict(dict))
    for r in records:
        if not r["exit"]:
            runs[r["set"]][r["run"]][r["work"]] = r["cpu_s"]
    if not runs:
        return "Nothing measured.\n"
    works = list(dict.fromkeys(r["work"] for r in records))
    rows = []
    for name, by_run in runs.items():
        whole = [times for times in by_run.values() if len(times) == len(works)]
        shares = [statistics.median(t[w] / t["dedup"] for t in whole) for w in works[:-1]]
        took = statistics.median(t["dedup"] for t in whole)
        rows.append([name] + [f"{share:.2f}" for share in shares] + [f"{took:.3f}"])
    columns = ["set"] + [f"{w} : dedup" for w in works[:-1]] + ["dedup, processor seconds"]
    return heading(records[0]) + "\n" + table(columns, rows)


def codecs():
    """One row for a way and a tool; what other tools do stands below neardup's."""
    records = session_of("codecs.jsonl") if places.records("codecs.jsonl") else []
    runs = defaultdict(lambda: defaultdict(list))
    for r in records:
        if not r["exit"]:
            runs[r["way"], r["tool"].split(" -")[0]][r["threads"]].append(r)
    if not runs:
        return "Nothing measured.\n"
    threads = sorted({n for counts in runs.values() for n in counts})
    rows = [
        [way.replace(":", " → "), tool]
        + [spread([r["seconds"] for r in counts[n]], 2) for n in threads]
        + [f"{counts[threads[0]][0]['out_mb']:.1f}"]
        for (way, tool), counts in runs.items()
    ]
    columns = ["from → to", "tool"]
    columns += [f"seconds, {n} thread{'s' * (n > 1)}" for n in threads]
    return heading(records[0]) + "\n" + table(columns + ["output, MB"], rows)


def runs_by(records, *keys):
    """The runs that ended well, by the values of some keys and then by their number."""
    runs = defaultdict(dict)
    for r in records:
        if not r["exit"]:
            runs[tuple(r[k] for k in keys)][r["run"]] = r
    return runs


def shares(ours, beside):
    """Processor time as a fraction of that of the run of the other tool that took its turn after it."""
    return [ours[i]["cpu_s"] / max(beside[i]["cpu_s"], 1e-3) for i in ours if i in beside]


def seconds(runs):
    return [r["cpu_s"] for r in runs.values()]


def warc():
    """One row for a kind of archive and a tool: processor seconds, and of FastWARC's, run by run."""
    records = session_of("warc.jsonl") if places.records("warc.jsonl") else []
    runs = runs_by(records, "kind", "tool")
    if not runs:
        return "Nothing measured.\n"
    rows = []
    for (kind, tool), own in list(runs.items()):
        beside = shares(own, runs[kind, "FastWARC"])
        rows.append([kind, tool, spread(seconds(own), 2), spread(beside, 2) if beside else ""])
    return heading(records[0]) + "\n" + table(["archive", "tool", "processor seconds", "of FastWARC's"], rows)


def repeats():
    """One row for a kind of parts: neardup's share of the other's time, run by run, memory, and what is equal."""
    records = session_of("repeats.jsonl") if places.records("repeats.jsonl") else []
    runs = runs_by(records, "kind", "tool")
    if not runs:
        return "Nothing measured.\n"
    rows = []
    for kind in ("sentences", "passages"):
        ours, beside = runs[kind, "neardup"], runs[kind, "beside"]
        times = shares(ours, beside)
        if not times:
            continue
        last = beside[max(beside)]
        equal = (
            f"{last['equal']:,} of {last['documents']:,} documents are equal"
            if kind == "sentences"
            else f"{last['cut']:,} of {last['cut_beside']:,} words are cut"
        )
        memory = " / ".join(f"{max(r['peak_mb'] for r in some.values()):.0f}" for some in (ours, beside))
        rows.append([kind, spread(times, 3), memory, equal])
    columns = ["parts", "of the other's processor time", "memory, MB", "the same"]
    return heading(records[0]) + "\n" + table(columns, rows)


def feeds():
    """One row for a file and a tool: neardup's share of the tool's time, run by run."""
    records = session_of("feeds.jsonl") if places.records("feeds.jsonl") else []
    runs = runs_by(records, "file", "tool")
    rows = []
    for (name, tool), beside in list(runs.items()):
        times = shares(runs[name, "neardup"], beside)
        if tool != "neardup" and times:
            rows.append([name, tool, spread(times, 3)])
    if not rows:
        return "Nothing measured.\n"
    return heading(records[0]) + "\n" + table(["file", "beside", "processor time, neardup / other"], rows)


def html():
    """One row for the whole text and one for the content: processor seconds, and of Resiliparse's."""
    records = session_of("html.jsonl") if places.records("html.jsonl") else []
    runs = runs_by(records, "kind", "tool")
    if not runs:
        return "Nothing measured.\n"
    rows = []
    for (kind, tool), own in list(runs.items()):
        beside = shares(own, runs[kind, "Resiliparse"])
        rows.append([kind, tool, spread(seconds(own), 2), spread(beside, 2) if beside else ""])
    return heading(records[0]) + "\n" + table(["text", "tool", "processor seconds", "of Resiliparse's"], rows)


PLAN_FIGURES = {
    "documents": "documents",
    "removed": "removed",
    "identical_bytes": "equal bytes",
    "identical_tokens": "equal words",
    "near": "near",
    "candidates": "candidates",
    "processor_seconds": "processor",
    "seconds": "time",
    "peak_bytes": "memory",
    "spool_bytes": "disk",
}
PLAN_SHARES = ["removed", "identical_bytes", "identical_tokens", "near"]


def plan_cell(figure, predicted, actual):
    if figure in PLAN_SHARES:
        text = f"{100 * predicted:.2f} / {100 * actual:.2f} %"
    elif figure.endswith("bytes"):
        text = f"{predicted / 1e6:.1f} / {actual / 1e6:.1f} MB"
    elif figure.endswith("seconds"):
        text = f"{predicted:.2f} / {actual:.2f} s"
    else:
        text = f"{predicted:.4g} / {actual:.4g}"
    return text + (f" ({100 * (predicted / actual - 1):+.0f})" if actual else "")


def plan_table(records):
    """A row a corpus and sample: predicted / measured, and by how much the prediction is off."""
    rows = []
    for r in records:
        cells = [plan_cell(figure, *r["values"][figure]) for figure in PLAN_FIGURES]
        rows.append([r["set"], f"{r['sampled'] / 1e6:.1f} MB", *cells])
    return table(["corpus", "sample", *PLAN_FIGURES.values()], rows)


def plan():
    """The predictions of neardup plan beside what dedup takes and finds."""
    records = session_of("plan.jsonl") if places.records("plan.jsonl") else []
    return heading(records[0]) + "\n" + plan_table(records) if records else "Nothing measured.\n"


TABLES = 22  # most of what waiting threads share is filling these, one a task


def turn_shares(runs, threads):
    """The median share of the processor time that each turn takes, where so many threads share work."""
    shares = defaultdict(list)
    for t in runs:
        whole = t["processor"]
        shares["read"].append(t["read"] / whole)
        shares["decide"].append((t["decide"] + t["shared"] / min(threads, TABLES)) / whole)
        shares["note"].append(t["note"] / whole)
        shares["write"].append(t["write"] / whole)
        shares["unpack"].append(t.get("unpack", 0) / whole)
    return {turn: statistics.median(of_one) for turn, of_one in shares.items()}


TURNS = ("read", "decide", "note", "write", "unpack")


def amdahl(share, threads):
    return 1 / (share + (1 - share) / threads)


def turns(records):
    """The turns of runs with several threads, and how much faster the longest lets a run be."""
    by_set = defaultdict(list)
    for r in records:
        if not r["exit"] and r.get("turns") and r["threads"] > 1:
            by_set[r["set"]].append(r["turns"])
    rows = []
    for name, runs in by_set.items():
        shared = statistics.median(t["shared"] / t["processor"] for t in runs)
        bounds = [amdahl(max(turn_shares(runs, n).values()), n) for n in (16, 64)]
        rows.append(
            [name]
            + [percent(statistics.median(t.get(k, 0) / t["processor"] for t in runs)) for k in TURNS]
            + [percent(shared)]
            + [f"{bound:.1f}" for bound in bounds]
        )
    return table(
        ["set", "read", "decide", "note", "write", "unpack", "shared by waiting threads"]
        + [f"at most, {n} threads" for n in (16, 64)],
        rows,
    )


def python_rows(records):
    """A row a tool: the median of its runs, beside the command's."""
    taken = defaultdict(list)
    for r in records:
        if "cpu_s" in r:
            taken[r["tool"]].append(r["cpu_s"])
    command = statistics.median(taken["command"]) if taken["command"] else None
    for tool in dict.fromkeys(r["tool"] for r in records):
        scores = [r["score"] for r in records if r["tool"] == tool and "score" in r]
        found = scores[0] if scores else {}
        if not taken[tool]:
            yield [tool, "failed", "", "", "", "", ""]
            continue
        seconds = statistics.median(taken[tool])
        yield [
            tool,
            spread(taken[tool], 3),
            f"{records[0]['file_mb'] / seconds:.1f}",
            f"{command / seconds:.2f}" if command else "",
            found.get("removed", ""),
            found.get("wrongly_removed", ""),
            found.get("missed", ""),
        ]


def python():
    records = session_of("python.jsonl") if places.records("python.jsonl") else []
    if not records:
        return "Nothing measured.\n"
    columns = ["tool and frame", "processor s, median (range)", "MB/processor s", "× command"]
    columns += ["removed", "wrongly", "missed"]
    parts = [heading(records[0])]
    for name in dict.fromkeys(r["set"] for r in records if r["set"]):
        rows = list(python_rows([r for r in records if r["set"] == name]))
        parts.append(f"{name}:\n\n" + table(columns, rows))
    for r in records:
        if r["tool"].startswith("pip"):
            parts.append(f"`{r['tool']}`: {r['cpu_s']:.0f} processor s.\n")
    calls = [r["row"] for r in records if "row" in r]
    if calls:
        said = [
            [row["what"], row.get("name", row.get("call", row.get("count", ""))), f"`{row}`"]
            for row in calls
        ]
        parts.append(table(["what", "of", "figures"], said))
    return "\n".join(parts)


def spark_row(record):
    """The first run of a job, and the last, when Java has compiled what it will."""
    if "failed" in record:
        return [record["job"], "failed", "", "", "", "", "", "", ""]
    seconds = record["cpu_s"][-1]
    score = record.get("score", {})
    return [
        record["job"],
        f"{record['cpu_s'][0]:.1f}",
        f"{seconds:.1f}",
        f"{record['seconds'][-1]:.1f}" if "seconds" in record else "",
        f"{record['file_mb'] / seconds:.1f}" if "file_mb" in record else "",
        f"{record['shuffled'][-1] / 1e6 / record['file_mb']:.2f}"
        if "file_mb" in record and "shuffled" in record
        else "",
        score.get("removed", ""),
        score.get("wrongly_removed", ""),
        score.get("missed", ""),
    ]


def spark():
    records = session_of("spark.jsonl") if places.records("spark.jsonl") else []
    if not records:
        return "Nothing measured.\n"
    columns = [
        "job",
        "processor s, first",
        "last",
        "s, last",
        "MB/processor s",
        "shuffled, of the file",
        "removed",
        "wrongly",
        "missed",
    ]
    parts = [heading(records[0])]
    for name in dict.fromkeys(r["set"] for r in records):
        parts.append(
            f"{name}:\n\n" + table(columns, [spark_row(r) for r in records if r["set"] == name])
        )
    return "\n".join(parts)


def fitted(records):
    """Seconds of a job, for each document and for each byte: the least squares of relative errors."""
    rows = []
    for r in records:
        seconds = r["cpu_s"][-1]
        rows.append([x / seconds for x in (1, r["documents"], 1e6 * r["file_mb"])])
    equations = [[sum(r[i] * r[j] for r in rows) for j in range(3)] + [sum(r[i] for r in rows)] for i in range(3)]
    for i in range(3):
        equations[i] = [x / equations[i][i] for x in equations[i]]
        for j in range(3):
            if j != i:
                factor = equations[j][i]
                equations[j] = [x - factor * y for x, y in zip(equations[j], equations[i], strict=True)]
    return [equation[3] for equation in equations]


def costs():
    """The last run of each job, what was predicted, and the coefficients that fit best."""
    records = session_of("costs.jsonl") if places.records("costs.jsonl") else []
    if not records:
        return "Nothing measured.\n"
    rows = []
    for r in records:
        said = r["predicted"]
        if "failed" in r:
            rows.append([r["set"], f"{r['file_mb']:.0f}", r["job"], "failed", "", "", "", "", ""])
            continue
        pairs = ((r["cpu_s"][-1], said["cpu_s"]), (r["shuffled"][-1] / 1e6, said["shuffled"] / 1e6))
        cells = [cell for m, p in pairs for cell in (f"{m:.1f}", f"{p:.1f}", f"{m / p:.2f}")]
        rows.append([r["set"], f"{r['file_mb']:.0f}", r["job"], *cells])
    columns = ["documents", "MB", "job", "processor s", "predicted", "ratio"]
    columns += ["MB shuffled", "predicted", "ratio"]
    parts = [heading(records[0]), table(columns, rows)]
    for job in dict.fromkeys(r["job"] for r in records):
        some = [r for r in records if r["job"] == job and "failed" not in r]
        if len({r["set"] for r in some}) > 3:
            start, document, byte = fitted(some)
            parts.append(
                f"{job}: {start:.1f} s, {1e6 * document:.1f} µs a document and "
                f"{1e9 * byte:.1f} ns a byte fit best.\n"
            )
    return "\n".join(parts)


SHOWN = (1, 150, 10000)  # values a call; the records have more


def kernels():
    """One row a measurement, one column a set of kernels."""
    from measure_kernels import GOALS

    records = session_of("kernels.jsonl") if places.records("kernels.jsonl") else []
    if not records:
        return "Nothing measured.\n"
    cpus = list(dict.fromkeys(r["cpu"] for r in records))
    parts = [heading(records[0])]
    for program in dict.fromkeys(r["program"] for r in records):
        rows = defaultdict(dict)
        for r in (r for r in records if r["program"] == program):
            size = r.get("document_bytes", r.get("n", ""))
            if "n" in r and size not in SHOWN:
                continue
            rows[r.get("text", ""), size, r["what"]][r["cpu"]] = rate(r)
        body = []
        for (text, size, what), values in rows.items():
            unit = next(iter(values.values()))[1]
            cells = [figures(values[c][0]) if c in values else "–" for c in cpus]
            goal = f"{GOALS[what]:,}" if what in GOALS and size == 4096 else ""
            body.append([text.removesuffix(".txt"), size, what] + cells + [unit, goal])
        parts.append(
            f"### {program}\n\n"
            + table(["text", "bytes or values", "what"] + cpus + ["unit", "goal, English"], body)
        )
    return "\n".join(parts)


def figures(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def rate(record):
    """The figure that a program gave, and its unit."""
    if "gb_per_s" in record:
        return 1000 * record["gb_per_s"], "MB/s"
    if "mb_per_s" in record:
        return record["mb_per_s"], "MB/s"
    return record["ns"], "ns"


def ratio(x, of):
    return f"{x / of:.1f}" if x and of else "–"


def middle(runs, key):
    values = [r[key] for r in runs if r.get(key) is not None]
    return statistics.median(values) if values else None


HAMMING_COLUMNS = ["index", "design", "inserts/s", "bytes each", "queries/s, batch", "× best rival"]
HAMMING_COLUMNS += ["p50 µs", "p99 µs", "exact", "predicted : measured, query, build, bytes"]


def best_rival(groups):
    """The fastest exact one, by its median."""
    exact = {
        name: middle(runs, "queries_per_s")
        for name, runs in groups.items()
        if not name.startswith("neardup") and all(r.get("exact") for r in runs)
    }
    exact = {name: speed for name, speed in exact.items() if speed}
    return max(exact, key=exact.get, default=None)


def prediction(runs):
    if not middle(runs, "predicted_us"):
        return ""
    query = middle(runs, "predicted_us") * 1e-6 * middle(runs, "queries_per_s")
    build = middle(runs, "predicted_build_s") / middle(runs, "build_s")
    size = middle(runs, "predicted_bytes_each") / middle(runs, "bytes_each")
    return f"{query:.2f}, {build:.2f}, {size:.2f}"


def hamming_rows(groups):
    best = best_rival(groups)
    base = middle(groups[best], "queries_per_s") if best else None
    for name, runs in groups.items():
        if "skipped" in runs[-1]:
            yield [name, runs[-1]["skipped"]] + [""] * 8
            continue
        first, speed = runs[0], middle(runs, "queries_per_s")
        design = first.get("design", "") + (f" {first['tables']}" if first.get("tables") else "")
        yield [
            f"**{name}**" if name == best else name,
            design,
            f"{middle(runs, 'inserts_per_s'):,.0f}",
            f"{middle(runs, 'bytes_each'):.1f}",
            f"{speed:,.0f} ({min(r['queries_per_s'] for r in runs):,.0f}–"
            f"{max(r['queries_per_s'] for r in runs):,.0f})",
            ratio(speed, base),
            f"{middle(runs, 'p50_us'):.2f}",
            f"{middle(runs, 'p99_us'):.2f}",
            "yes" if all(r.get("exact", True) for r in runs) else "NO",
            prediction(runs),
        ]


def pairs_rows(groups):
    rival = [
        middle(runs, "cpu_s")
        for name, runs in groups.items()
        if not name.startswith("neardup") and runs[0].get("exact")
    ]
    base = min((s for s in rival if s), default=None)
    for name, runs in groups.items():
        if "skipped" in runs[-1]:
            yield [name, runs[-1]["skipped"]] + [""] * 4
            continue
        yield [
            name,
            f"{middle(runs, 'seconds'):.2f}",
            f"{middle(runs, 'cpu_s'):.2f}",
            ratio(base, middle(runs, "cpu_s")),
            f"{runs[0]['pairs']:,}",
            "yes" if all(r.get("exact", True) for r in runs) else "NO",
        ]


def hamming():
    records = session_of("hamming.jsonl") if places.records("hamming.jsonl") else []
    if not records:
        return "Nothing measured.\n"
    parts = [heading(records[0])]
    groups = defaultdict(lambda: defaultdict(list))
    for r in records:
        if r["what"] in ("index", "pairs"):
            groups[r["what"], r["set"], r["count"]][r["name"]].append(r)
    for (what, name, count), runs in groups.items():
        if what == "index":
            parts.append(f"### {count:,} fingerprints, {name}\n")
            parts.append(table(HAMMING_COLUMNS, hamming_rows(runs)))
        else:
            parts.append(f"### All pairs of {count:,}, {name}\n")
            columns = ["join", "s", "processor s", "× faster than the best rival", "pairs", "same"]
            parts.append(table(columns, pairs_rows(runs)))
    files = [r for r in records if "open_s" in r]
    if files:
        parts.append(
            "### Index files without pages in memory\n\nThe pages are dropped by "
            "posix_fadvise(POSIX_FADV_DONTNEED) after a sync; mincore says which share.\n"
        )
        keys = ["open_s", "dropped", "cold_open_s", "cold_first_s", "cold_all_s"]
        rows = [[r["set"], f"{r['count']:,}", r["layout"]] + [r[k] for k in keys] for r in files]
        columns = ["set", "fingerprints", "layout", "opened, s", "share dropped", "opened then, s"]
        columns += ["the first 1,000 queries, s", "all queries, s"]
        parts.append(table(columns, rows))
    batch = [r for r in records if r["what"] == "batch"]
    if batch:
        parts.append("### A stream against 1M queries\n")
        rows = [
            [r["sorted"] and "sorted" or "unsorted", f"{r['count']:,}", r["millions_per_second"]]
            for r in batch
        ]
        parts.append(table(["stream", "fingerprints", "millions/s"], rows))
    codec = [r for r in records if r["what"] == "codec"]
    if codec:
        parts.append("### Sorted tables in little space\n")
        rows = [
            [f"{r['count']:,}", r["codec"], r["bits_each"], r["above_bound"]]
            + [r["decode_millions_per_second"]]
            for r in codec
        ]
        columns = ["values", "code", "bits each", "above the bound", "decoded, millions/s"]
        parts.append(table(columns, rows))
    return "\n".join(parts)


def kinds(recipe):
    """The signatures of a shipped recipe, by its file."""
    with open(os.path.join(places.ROOT, "recipes", recipe + ".ini"), encoding="utf-8") as f:
        return [line.split("=")[1].strip() for line in f if line.startswith("kind =")]


def recipes():
    """Text to sketches, one core: every shipped recipe, and the packages for simhash."""
    runs = session_of("recipes.jsonl") if places.records("recipes.jsonl") else []
    if not runs:
        return "Nothing measured.\n"
    lines = [heading(runs[0])]
    for run in runs:
        best = max(run["rivals"].values(), default=None)
        default = run["mb_s"].get("default")
        rows = []
        for name, speed in sorted(run["mb_s"].items(), key=lambda item: -item[1]):
            times = f"{speed / best:.0f}" if best and "simhash" in kinds(name) else ""
            share = f"{speed / default:.2f}" if default else ""
            rows.append([f"`{name}`", f"{speed:.0f}", share, times])
        for name, speed in run.get("same", {}).items():
            times = f"{speed / best:.0f}" if best else ""
            rows.append([f"`{name}`, the packages' 3 MB", f"{speed:.0f}", "", times])
        for name, speed in run["rivals"].items():
            rows.append([f"PyPI {name}, tf-idf", f"{speed:.2f}", "", ""])
        columns = [run["set"], "MB/s", "of the default's", "× the faster package"]
        lines.append(table(columns, rows))
    return "\n\n".join(lines)


# Kolcz et al. 2004, Table 1: recall with 0, 2, 5 and 10 more lexicons.


def edits():
    """Edited articles that each recipe still pairs with their originals."""
    runs = session_of("edits.jsonl") if places.records("edits.jsonl") else []
    if not runs:
        return "Nothing measured.\n"
    rows = [
        [f"`{run['recipe']}`", *[f"{x:.3f}" for x in run["share"]], str(run["other"])]
        for run in runs
    ]
    columns = ["recipe", *[f"{share:.1%}" for share in runs[0]["edited"]], "other pairs"]
    return heading(runs[0]) + "\n\n" + table(columns, rows)


AUDIT_COLUMNS = ["tool", "corpus", "removed", "without a kept match", "far from their cluster's"]
AUDIT_COLUMNS += ["false clusters (largest)", "stayed, of kept ones", "runs lost"]


def interval(row, name):
    """Return a share in percent, or where it was estimated, its interval."""
    low, high = row[name + "_low"], row[name + "_high"]
    if low == high:
        return f"{row[name]:.1%}".replace("0.0%", "0") if row[name] else "0"
    return f"{100 * low:.1f} to {high:.1%}"


def audit():
    """One row a tool and a corpus: how far it was right, by neardup audit."""
    runs = session_of("audit.jsonl") if places.records("audit.jsonl") else []
    if not runs:
        return "Nothing measured.\n"
    rows = []
    for run in runs:
        row = run["row"]
        clusters = f"{row['false_clusters']:,} ({row['largest_false']:,})"
        rows.append(
            [
                run["tool"],
                run["set"],
                f"{row['removed']:,}",
                interval(row, "unmatched"),
                f"{row['far'] or 0:,}" if row["clustered"] else "–",
                clusters if row["clustered"] and row["false_clusters"] else "0",
                interval(row, "missed"),
                f"{row['lost_runs'] / row['runs']:.1%}",
            ]
        )
    return heading(runs[0]) + "\n\n" + table(AUDIT_COLUMNS, rows)


SERVICE_RUNS = ["batches", "singles", "one connection"]


def service_rate(run):
    return run["documents"] / run["seconds"]


def service_rows(records):
    """A row a system: rates by the clock, the client's share of the processor time, and its answers."""
    for name in dict.fromkeys(r["system"] for r in records if "system" in r):
        own = [r for r in records if r.get("system") == name]
        runs = {what: [r for r in own if r["part"] == what] for what in SERVICE_RUNS}
        batches, singles, one = runs.values()
        answers = next((r for r in own if r["part"] == "answers"), None)
        if not (batches and singles and one and answers):
            continue
        client = sum(r["client_cpu_s"] for r in batches + singles)
        both = client + sum(r["server_cpu_s"] for r in batches + singles)
        yield [
            name,
            *(spread([service_rate(r) for r in rs], 0) for rs in (batches, singles)),
            spread([r["median_ms"] for r in one], 3),
            *(service_processor_us(rs) for rs in (batches, singles)),
            percent(client / both, 0),
            f"{answers['named']} of {answers['near']}",
            percent(answers["recall"]),
            percent(answers["precision"]),
        ]


def service_processor_us(runs):
    """Microseconds of the server and of the client for a document: medians."""
    each = [
        statistics.median(1e6 * r[key] / r["documents"] for r in runs)
        for key in ("server_cpu_s", "client_cpu_s")
    ]
    return f"{each[0]:.1f} + {each[1]:.1f}"


def service_by_clock(run, what):
    return 1 / run["median_ms"] if what == "one connection" else service_rate(run)


def service_by_processor(run, _):
    return run["documents"] / (run["server_cpu_s"] + run["client_cpu_s"])


def service_ratios(records):
    """How many times as fast the service is: medians, by the clock and by all processor time."""
    peers = [s for s in dict.fromkeys(r.get("system") for r in records) if s not in (None, "neardup")]
    for peer in peers:
        for how, value in (("clock", service_by_clock), ("processor time", service_by_processor)):
            cells = []
            for what in SERVICE_RUNS:
                runs = [r for r in records if r["part"] == what]
                sides = [[value(r, what) for r in runs if r["system"] == s] for s in ("neardup", peer)]
                cells.append(f"{statistics.median(sides[0]) / statistics.median(sides[1]):.1f}")
            yield [peer, how, *cells]


def service_alone(records):
    """The figures without peers: a line each."""

    def of(part, key):
        return [r[key] for r in records if r["part"] == part]

    if library := of("library", "server_us"):
        own = of("library", "query_us")
        sketch, lookup = (statistics.median(of("library", k)) for k in ("sketch_us", "lookup_us"))
        yield (
            f"Processor time for a document in a query batch: {spread(library)} µs; the library by "
            f"itself {spread(own)} µs (the sketch {sketch:.1f}, with the look-up {lookup:.1f}, the "
            f"rest compares texts): {statistics.median(library) / statistics.median(own):.2f} ×."
        )
    for path in dict.fromkeys(of("tail", "path")):
        rows = [r for r in records if r["part"] == "tail" and r["path"] == path]
        p99 = spread([r["p99_ms"] for r in rows], 2)
        yield f"`{path}` at half load ({rows[0]['rate']:.0f} a second): p99 {p99} ms."
    durable = [r for r in records if r["part"] == "durable"]
    if durable:
        server = statistics.median(1e6 * r["server_cpu_s"] / r["documents"] for r in durable)
        rate = spread([service_rate(r) for r in durable], 0)
        yield f"Durable documents a second, in batches: {rate}; {server:.0f} µs of the server each."
    for r in records:
        if r["part"] == "idle":
            how = "that asked once" if r["asked"] else "that never asked"
            yield f"{r['connections']:,} idle connections {how}: {r['bytes']:.0f} bytes each."
    soak = [r for r in records if r["part"] == "soak"]
    if soak:
        middle, last = soak[len(soak) // 2], soak[-1]
        yield (
            f"After {last['seconds']:.0f} s and {last['rounds']} rounds: {last['RssAnon']:.1f} MB "
            f"anonymous; after {middle['seconds']:.0f} s {middle['RssAnon']:.1f} MB."
        )


SERVICE_COLUMNS = ["system", "documents a second in batches", "single requests a second"]
SERVICE_COLUMNS += ["median of one connection, ms", "processor µs in a batch, server + client"]
SERVICE_COLUMNS += ["single", "client's share", "named", "recall", "precision"]


def service():
    records = session_of("service.jsonl") if places.records("service.jsonl") else []
    if not records:
        return "Nothing measured.\n"
    out = [heading(records[0])]
    for name in dict.fromkeys(r["set"] for r in records):
        own = [r for r in records if r["set"] == name]
        out.append(f"### {name}\n")
        if rows := list(service_rows(own)):
            out.append(table(SERVICE_COLUMNS, rows))
            out.append(table(["× of", "by", *SERVICE_RUNS], service_ratios(own)))
        out += [f"* {line}" for line in service_alone(own)]
    return "\n".join(out)


def containment_table(records):
    """A row a corpus and measure."""
    rows = [
        [r["set"], f"`{r['measure']}`", f"{r['seconds']:.2f}", f"{r['peak_bytes'] / 1e6:.0f}", f"{r['candidates']:,}"]
        for r in records
    ]
    return table(["corpus", "measure", "processor seconds", "peak MB", "candidates"], rows)


def containment():
    """The costs of containment and cosine beside resemblance."""
    records = session_of("containment.jsonl") if places.records("containment.jsonl") else []
    return heading(records[0]) + "\n" + containment_table(records) if records else "Nothing measured.\n"


def docs():
    """Blocks of figures in docs/ that a run agrees with, and what is off in the others."""
    runs = session_of("docs.jsonl") if places.records("docs.jsonl") else []
    if not runs:
        return "Nothing measured.\n"
    lines = [heading(runs[0])]
    for run in runs:
        lines.append(f"Measured again: {', '.join(run['blocks']) or 'nothing'}.")
        lines += [f"* {what}" for what in run["off"]] or ["The pages say what the run says."]
    return "\n".join(lines) + "\n"



# ---- Pictures of tables in docs/ ----

BAR_LINE, BAR_LEFT, BAR_MOST = 46, 12, 300


def rivals_of(page):
    """The rows of docs/comparison.md that were measured: tool, seconds, memory, removed, wrongly removed, missed."""
    lines = page[page.index("| tool | processor time |") :].split("\n\n")[0].split("\n")[2:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [
        (name, float(seconds.split()[0]), memory, removed, int(wrong.replace(",", "")), int(missed.replace(",", "")))
        for name, seconds, memory, removed, wrong, missed, _ in rows
        if seconds[0].isdigit()
    ]


def draw_rivals(page, megabytes=20.3):
    """A bar for each tool: the speed of a core; beside it what it removes wrongly, and what it misses.

    Narrow enough to be read on a telephone without being made smaller by much.
    """
    rows = rivals_of(page)
    top = max(megabytes / row[1] for row in rows)
    height = 62 + BAR_LINE * len(rows) + 34
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 480 {height}" width="480" height="{height}" '
        'role="img" font-family="system-ui, sans-serif" font-size="14">'
    )
    yield "<title>Speed of tools that remove near duplicates, with what they remove wrongly and miss</title>"
    yield (
        "<style>.paper{fill:#fff}text{fill:#1f2328}.note{fill:#59636e;font-size:12px}.own{fill:#1a7f4b}.bar{fill:#9aa4af}"
        ".bad{fill:#b3261e}.good{fill:#1a7f4b}.head{font-size:16px;font-weight:600}"
        "@media(prefers-color-scheme:dark){.paper{fill:#15181b}text{fill:#e6e8ea}.note{fill:#a4adb5}.bar{fill:#59636e}"
        ".own{fill:#3fb97a}.bad{fill:#ff8f87}.good{fill:#3fb97a}}</style>"
    )
    yield f'<rect class="paper" width="480" height="{height}" rx="6"/>'
    yield f'<text x="{BAR_LEFT}" y="26" class="head">21,578 news articles: MB a second of a processor</text>'
    yield f'<text x="{BAR_LEFT}" y="45" class="note">and of the removals: how many are wrong, how many are missing</text>'
    for i, (name, seconds, _, _, wrong, missed) in enumerate(rows):
        y, speed = 62 + BAR_LINE * i, megabytes / seconds
        width = max(1.5, BAR_MOST * speed / top)
        yield f'<text x="{BAR_LEFT}" y="{y + 12}">{name}</text>'
        kind = "own" if name.startswith("neardup") else "bar"
        yield f'<rect class="{kind}" x="{BAR_LEFT}" y="{y + 18}" width="{width:.1f}" height="14" rx="2"/>'
        shown = f"{speed:.0f}" if speed >= 10 else f"{speed:.1f}"
        yield f'<text x="{BAR_LEFT + width + 6:.1f}" y="{y + 30}">{shown}</text>'
        is_bad = "bad" if wrong + missed else "good"
        yield f'<text x="468" y="{y + 12}" text-anchor="end" class="{is_bad}">{wrong:,} wrong, {missed} missed</text>'
    said = "Resemblance 0.8 of runs of three words; judged by an exact join."
    yield f'<text x="{BAR_LEFT}" y="{height - 14}" class="note">{said}</text>'
    yield "</svg>"


# The strengths of each, by docs/comparison.md: for the table in README.md.
AHEAD = {
    "neardup": "every removal is checked, and has its reason",
    "rensa": "wheels for Windows and macOS; fast on tokens that you have",
    "datasketch": "any system; sets that are no texts, weights, the k nearest; Redis",
    "text-dedup": "a short script to change; repeated runs cut out of texts",
    "datatrove": "all of a pipeline, on Slurm and S3, with thousands of workers",
    "semhash": "the same meaning in other words, of which neardup finds nothing",
}


def rivals_table(page, megabytes=20.3):
    """The rows of draw_rivals in Markdown, with where each tool is ahead."""
    rows = []
    for name, seconds, _, _, wrong, missed in rivals_of(page):
        speed = megabytes / seconds
        rows.append([name, f"{speed:.0f}" if speed >= 10 else f"{speed:.1f}", f"{wrong:,}", missed, ahead_of(name)])
    rows.append(["semhash 0.5.0", "not run", "", "", AHEAD["semhash"]])
    return table(["tool", "MB/s", "wrong", "missed", "where it is ahead"], rows)


def ahead_of(name):
    return AHEAD[name.split()[0].rstrip(",")]


def write_pictures():
    """Draw docs/rivals.svg from the table in docs/comparison.md."""
    docs = os.path.join(places.ROOT, "docs")
    with open(os.path.join(docs, "comparison.md"), encoding="utf-8") as page:
        lines = list(draw_rivals(page.read()))
    with open(os.path.join(docs, "rivals.svg"), "w", encoding="utf-8") as out:
        out.writelines(line + "\n" for line in lines)
