#!/usr/bin/env bats
# plan.bats - neardup plan: what dedup would take and find, from a sample

load common

# 6000 documents of 60 words; 2400 are alone, 1200 have a copy and nearly one, wherever these may be.
corpus() {
    python3 - <<'PY' >corpus.jsonl
import json, random
random.seed(5)
words = [f"w{i}" for i in range(5000)]
texts = []
for i in range(3600):
    text = random.choices(words, k=60)
    texts += [text] if i < 2400 else [text, text, text[:-1] + ["end"]]
random.shuffle(texts)
for i, text in enumerate(texts):
    print(json.dumps({"id": i, "text": " ".join(text), "lang": "de" if i % 2 else "en"}))
PY
}

# An expression of python3 on the plan p and the summary s is true.
holds() {
    python3 -c 'import json,sys
p = json.load(open("p.json")); f = {k: v["value"] for k, v in p["figures"].items()}
try: s = json.load(open("s.json"))
except FileNotFoundError: s = None
assert eval(sys.argv[1]), (sys.argv[1], p, s)' "$1"
}

@test "plan: all of a small corpus is read, and what is predicted of the documents is exact" {
    small_corpus
    neardup plan small.jsonl --json >p.json
    neardup dedup small.jsonl -q -o out --summary s.json
    holds 'p["sample"]["whole"] is True and p["sample"]["documents"] == s["documents"]'
    holds 'f["documents"] == s["documents"] and f["bytes"] == s["bytes"] and f["spool_bytes"] == 0'
    holds 'all(f[k] == s[k] / s["documents"] for k in ("removed", "identical_bytes", "identical_tokens", "near", "candidates"))'
    holds 'all(v["low"] == v["value"] == v["high"] for k, v in p["figures"].items())'
    holds 'f["processor_seconds"] > 0 and f["seconds"] > 0 and f["peak_bytes"] > 0'
    holds '(p["bands"], p["rows"]) == (s["bands"], s["rows"]) and p["recall"] == s["s_curve"]'
    holds '[t["threshold"] for t in p["thresholds"]] == [i / 20 for i in range(10, 20)]'
    holds 'all(t["bands"] * t["rows"] <= 128 and t["recall"] >= 0.99 for t in p["thresholds"])'
}

@test "plan: a sample predicts documents, bytes and the share removed" {
    corpus
    neardup plan corpus.jsonl --sample-bytes 400k --json -o p.json >stdout
    cmp p.json stdout
    neardup dedup corpus.jsonl -q -o out --summary s.json
    holds 'p["sample"]["whole"] is False and 0.3e6 < p["sample"]["bytes"] < 0.5e6'
    holds 'abs(f["documents"] / s["documents"] - 1) < 0.05 and abs(f["bytes"] / s["bytes"] - 1) < 0.01'
    holds 'abs(f["removed"] * s["documents"] / s["removed"] - 1) < 0.25'
    holds 'p["figures"]["removed"]["low"] <= s["removed"] / s["documents"] <= p["figures"]["removed"]["high"]'
    holds 'abs(f["identical_bytes"] * s["documents"] / s["identical_bytes"] - 1) < 0.1'
    holds 'abs(f["candidates"] * s["documents"] / s["candidates"] - 1) < 0.4'
    # All is read, and a slice of it is compared.
    holds 'p["sample"]["read_documents"] == s["documents"] > 5 * p["sample"]["documents"]'
    holds 'p["sample"]["read_bytes"] == p["sample"]["stored_bytes"]'
}

@test "plan: of more than ten times the sample, blocks are read" {
    corpus
    neardup plan corpus.jsonl --sample-bytes 60k --json >p.json
    neardup dedup corpus.jsonl -q -o out --summary s.json
    holds '4.5e5 < p["sample"]["read_bytes"] < 7.5e5 and 4.5e4 < p["sample"]["bytes"] < 7.5e4'
    holds 'p["sample"]["documents"] < p["sample"]["read_documents"] < s["documents"]'
    holds 'abs(f["documents"] / s["documents"] - 1) < 0.1 and abs(f["bytes"] / s["bytes"] - 1) < 0.1'
    holds 'p["figures"]["removed"]["low"] <= s["removed"] / s["documents"] <= p["figures"]["removed"]["high"]'
    # The sample alone has a smaller share.
    holds 'p["sample"]["removed"] / p["sample"]["documents"] < 0.7 * f["removed"]'
}

@test "plan: the same sample is drawn each time, by any number of threads" {
    corpus
    neardup plan corpus.jsonl --sample-bytes 200k -j 1 --json >one.json
    neardup plan corpus.jsonl --sample-bytes 200k -j 3 --json >three.json
    python3 - <<'PY'
import json
a, b = (json.load(open(name)) for name in ("one.json", "three.json"))
for key in ("documents", "bytes", "removed", "identical_bytes", "near", "candidates", "spool_bytes"):
    assert a["figures"][key] == b["figures"][key], key
assert a["thresholds"] == b["thresholds"] and (a["threads"], b["threads"]) == (1, 3)
PY
}

@test "slow: plan: compressed files, several files, folders and several passes" {
    corpus
    mkdir parts
    split -l 500 --additional-suffix=.jsonl corpus.jsonl parts/p
    gzip -k corpus.jsonl
    for arguments in corpus.jsonl.gz parts "parts --keep longest" "parts --cluster components" "corpus.jsonl.gz --keep last" \
        "parts --within lang" "parts --recipe manku-2007"; do
        # shellcheck disable=SC2086
        neardup plan $arguments --sample-bytes 100k --json >p.json
        # shellcheck disable=SC2086
        neardup dedup $arguments -q -o out --summary s.json
        holds 'p["sample"]["whole"] is False and 0.7 < f["documents"] / s["documents"] < 1.4'
        holds '0.9 < f["bytes"] / s["bytes"] < 1.1 and (f["spool_bytes"] > 0) == (s["spool_bytes"] > 0)'
    done
    holds 'p["thresholds"] == []' # of a simhash
}

@test "plan: rows of sketch files are sampled" {
    corpus
    neardup sketch corpus.jsonl -q -o c.sketch
    neardup sketch corpus.jsonl -q --no-shingles -o d.sketch
    neardup dedup corpus.jsonl -q -o out --summary s.json
    neardup plan c.sketch --json >p.json
    holds 'p["sample"]["whole"] is True and f["documents"] == s["documents"]'
    holds 'f["removed"] == s["removed"] / s["documents"]'
    size=$(stat -c %s c.sketch)
    neardup plan c.sketch --sample-bytes $((size / 5)) --json >p.json
    holds 'p["sample"]["whole"] is False and f["documents"] == s["documents"]'
    holds 'abs(p["sample"]["documents"] / s["documents"] / 0.2 - 1) < 0.2'
    holds 'abs(f["removed"] * s["documents"] / s["removed"] - 1) < 0.15'
    size=$(stat -c %s d.sketch)
    neardup plan d.sketch --verify none --sample-bytes $((size / 5)) --json >p.json
    holds 'f["documents"] == s["documents"] and abs(f["removed"] * s["documents"] / s["removed"] - 1) < 0.2'
    neardup plan c.sketch --sample-bytes 4k --json >p.json
    holds 'p["sample"]["documents"] < p["sample"]["read_documents"] <= s["documents"]'
}

@test "plan: of CSV the beginning is read, and the table says so" {
    corpus
    python3 -c '
import csv, json, sys
w = csv.writer(sys.stdout); w.writerow(["id", "text"])
for line in open("corpus.jsonl"): r = json.loads(line); w.writerow([r["id"], r["text"]])' >corpus.csv
    run neardup plan corpus.csv --sample-bytes 50k
    [ "$status" -eq 0 ]
    [[ $output == *"of 1 input"*"only the beginning was read"* ]]
    run neardup plan corpus.jsonl --sample-bytes 50k
    [[ $output != *"only the beginning"* ]]
    [[ $output == *"Prediction for "*"peak memory"*"Thresholds"* ]]
}

@test "plan: a run says how far the prediction was off" {
    corpus
    neardup plan corpus.jsonl --sample-bytes 300k -o p.json >table
    grep -q 'where the truth lies in nine cases of ten' table
    run neardup dedup corpus.jsonl --predicted p.json -o out --summary s.json
    [ "$status" -eq 0 ]
    [[ $output == *"Prediction "*"predicted "*"measured "*"off by"*"peak memory"* ]]
    [[ $output != *"warning"* ]]
    holds 'all(s["predicted"][k]["value"] == v["value"] for k, v in p["figures"].items())'
    holds 's["predicted"]["documents"]["measured"] == s["documents"] and s["predicted"]["peak_bytes"]["measured"] == s["peak_bytes"]'
    neardup dedup corpus.jsonl -q -o out --summary s.json
    holds '"predicted" not in s'
    run neardup dedup corpus.jsonl --predicted p.json -t 0.9 -n
    [[ $output == *"warning: p.json: predicts a run with another recipe or another number of threads"* ]]
}

@test "slow: plan: a figure has a curve for each threshold, and a dot for each number of candidates" {
    corpus
    neardup plan corpus.jsonl --sample-bytes 400k --svg plan.svg --json >p.json
    python3 - <<'PY'
import json, xml.dom.minidom as m
steps = json.load(open("p.json"))["thresholds"]
page = m.parse("plan.svg")
lines = [e.getAttribute("class") for e in page.getElementsByTagName("polyline")]
assert lines == ["other"] * sum(s["bands"] > 0 for s in steps) + ["line"], lines
dots = [(float(e.getAttribute("cx")), float(e.getAttribute("cy"))) for e in page.getElementsByTagName("circle")]
assert len(dots) == sum(s["bands"] > 0 and s["candidates"] > 0 for s in steps), dots
assert dots == sorted(dots) and [y for _, y in dots] == sorted(y for _, y in dots), dots
PY
    neardup plan corpus.jsonl --recipe manku-2007 --svg none.svg >table
    python3 -c 'import xml.dom.minidom as m; assert not m.parse("none.svg").getElementsByTagName("circle")'
    run neardup plan corpus.jsonl --svg corpus.jsonl
    [ "$status" -eq 2 ]
    [ "$(wc -l <corpus.jsonl)" -eq 6000 ]
    run neardup plan none.jsonl --svg new.svg
    [ "$status" -eq 2 ]
    [ ! -e new.svg ]
}

@test "plan: a df table is counted of a sample, and kept nowhere" {
    corpus
    neardup dedup corpus.jsonl --recipe seshasai-2009 --df auto=s.df -q -o out --summary s.json
    neardup plan corpus.jsonl --recipe seshasai-2009 --df auto=t.df --json >p.json
    [ ! -e t.df ]
    holds 'f["removed"] == s["removed"] / s["documents"]'
    neardup plan corpus.jsonl --recipe seshasai-2009 --df auto=t.df --sample-bytes 400k --json >p.json
    [ ! -e t.df ]
    holds 'p["sample"]["whole"] is False and abs(f["removed"] * s["documents"] / s["removed"] - 1) < 0.25'
}

@test "plan: old documents come before all" {
    corpus
    head -n 3000 corpus.jsonl >old.jsonl
    tail -n 3000 corpus.jsonl >new.jsonl
    neardup sketch old.jsonl -q -o old.sketch
    neardup dedup new.jsonl --against old.sketch -q -o out --summary s.json
    cp old.sketch before
    neardup plan new.jsonl --against old.sketch --json >p.json
    holds 'p["sample"]["whole"] is True and f["removed"] == s["removed"] / s["documents"]'
    neardup plan new.jsonl --against old.sketch --sample-bytes 250k --json >p.json
    holds 'p["sample"]["whole"] is False and p["thresholds"] == []'
    holds 'abs(f["removed"] * s["documents"] / s["removed"] - 1) < 0.25'
    neardup plan new.jsonl --against old.sketch --sample-bytes 30k --json >p.json # blocks
    holds 'p["sample"]["read_documents"] < s["documents"]'
    holds 'p["figures"]["removed"]["low"] <= s["removed"] / s["documents"] <= p["figures"]["removed"]["high"]'
    cmp old.sketch before
    neardup plan new.jsonl --against old.sketch --sample-bytes 250k -o p.json >table
    neardup dedup new.jsonl --against old.sketch --predicted p.json -o out
}

@test "slow: plan: with a limit of memory, its loads and files, and from where on there is one load" {
    python3 - <<'PY' >many.jsonl
import json, random
random.seed(3)
text = "none"
for i in range(100000):
    if i % 10:
        text = " ".join(f"w{random.randrange(100000)}" for _ in range(6))
    print(json.dumps({"id": i, "text": text}))
PY
    neardup dedup many.jsonl --memory 64M -q -o out --summary s.json
    neardup plan many.jsonl --memory 64M --sample-bytes 2M --json -o p.json >stdout
    cmp p.json stdout
    holds 'p["memory"][0]["memory_bytes"] == 64 << 20 and p["one_load_bytes"] > 80e6'
    holds 'p["memory"][-1]["memory_bytes"] == p["one_load_bytes"] and p["memory"][-1]["loads"] == 1'
    holds 'f["loads"] == s["loads"] and s["spilled_bytes"] > 1e7'
    holds 'abs(f["spilled_bytes"] / s["spilled_bytes"] - 1) < 0.25'
    holds 'abs(f["peak_bytes"] / s["peak_bytes"] - 1) < 0.5'
    holds 'all(p["memory"][0][k] == f[k] for k in ("peak_bytes", "spilled_bytes", "seconds", "loads"))'
    holds 'p["unlimited_peak_bytes"] > 0 and p["memory"][-1]["spilled_bytes"] < f["spilled_bytes"]'
    run neardup plan many.jsonl --memory 64M --sample-bytes 2M
    [[ $output == *"other files in --tmp"*"loads"*"Memory: from "*"M on all documents are decided in one load"*"none"* ]]
    run neardup dedup many.jsonl --memory 64M --predicted p.json -o out
    [[ $output == *"other files in --tmp"*"loads"* ]]
    run neardup plan many.jsonl --sample-bytes 2M
    [[ $output != *"Memory:"* && $output != *"loads"* ]]
    small_corpus
    for _ in 1 2 3 4; do cat small.jsonl; echo '{broken'; done >mixed.jsonl
    neardup plan mixed.jsonl --memory 64M --json -q >p.json 2>messages
    [ "$(grep -c 'mixed.jsonl:6: ' messages)" -eq 1 ]
}

@test "plan: what cannot be planned is refused" {
    small_corpus
    run neardup plan
    [ "$status" -eq 2 ]
    [[ $output == "neardup: plan needs files or folders: it reads a sample of them" ]]
    run neardup plan - <small.jsonl
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == *"no regular file, so its size is not known"* ]]
    run neardup plan small.jsonl --memory 1M
    [ "$status" -eq 2 ]
    run neardup plan small.jsonl --against none.sketch
    [ "$status" -eq 2 ]
    run neardup plan none.jsonl
    [ "$status" -eq 2 ]
    run neardup plan small.jsonl --sample-bytes 0
    [ "$status" -eq 2 ]
    run neardup plan small.jsonl -o small.jsonl
    [ "$status" -eq 2 ]
    [ "$(wc -l <small.jsonl)" -eq 5 ]
    for bad in '' '{' '[]' '{"figures":{}}' '{"recipe_hash":"0","threads":2,"figures":{"documents":{"value":-1,"low":0,"high":0}}}'; do
        echo "$bad" >bad.json
        run neardup dedup small.jsonl --predicted bad.json -o out
        [ "$status" -eq 2 ]
        [[ ${lines[0]} == "neardup: bad.json: is not what neardup plan --json writes: "* ]]
        [ ! -e out ]
    done
    run neardup dedup small.jsonl --predicted none.json -o out
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == "neardup: none.json: cannot be opened: "* ]]
}

@test "plan: paths from a list, bad records, and an empty corpus" {
    small_corpus
    echo small.jsonl >list
    neardup plan --files-from list --json >p.json
    holds 'f["documents"] == 5'
    for _ in 1 2 3 4; do cat small.jsonl; echo '{broken'; done >mixed.jsonl
    neardup plan mixed.jsonl --json -q >p.json 2>messages
    holds 'f["documents"] == 20 and f["removed"] == 0.85'
    grep -q 'mixed.jsonl:6: ' messages
    : >empty.jsonl
    neardup plan empty.jsonl --json >p.json
    holds 'f["documents"] == 0 and f["removed"] == 0'
}

@test "plan: a file that is not there is named" {
    run neardup plan nosuch.jsonl
    [ "$status" -eq 2 ]
    [ "${lines[0]}" = "neardup: nosuch.jsonl: No such file or directory" ]
}

@test "plan: a job on Spark is predicted from the sample, stage by stage" {
    corpus
    neardup plan -q corpus.jsonl --spark executors=7,cores=4 -o p.json >text
    grep -q '^Spark: 6,000 documents (.*) on 28 cores, 80% of them in components$' text
    holds 'p["spark"]["documents"] == f["documents"] and p["spark"]["matching"] == 2 * f["removed"]'
    holds '[s["name"] for s in p["spark"]["stages"]] == ["session", "sketches", "candidates", "components", "texts", "decisions"]'
    holds 'p["spark"]["stages"][1]["shuffled_bytes"] == 6000 * 152'
    # One task links so few documents: nothing else is shuffled, but their texts.
    holds '[s["name"] for s in p["spark"]["stages"] if s["shuffled_bytes"]] == ["sketches", "texts"]'
    for documents in 6e8 6e11; do
        neardup plan -q corpus.jsonl --spark "executors=7,cores=4,documents=$documents" -o "$documents.json" >text
    done
    python3 -c 'import json
p, q = (json.load(open(n))["spark"]["stages"] for n in ("6e8.json", "6e11.json"))
assert p[0] == q[0] and p[0]["processor_seconds"] > 0 and p[0]["shuffled_bytes"] == 0
assert p[1]["shuffled_bytes"] == 6e8 * (21 * 16 + 152)
for a, b in zip(p[1:], q[1:]):
    for key in ("shuffled_bytes", "processor_seconds", "seconds"):
        assert abs(b[key] - 1e3 * a[key]) <= 1e-6 * b[key], (key, a, b)
    assert a["memory_bytes"] == b["memory_bytes"]'
    neardup plan -q corpus.jsonl -o r.json >text
    run ! grep -q '"spark"' r.json
    run ! grep -q '^Spark' text
}

@test "plan: what is no job on Spark is refused" {
    small_corpus
    while IFS=: read -r job words; do
        run neardup plan small.jsonl --spark "$job"
        [ "$status" -eq 2 ]
        [[ $output == *"$words"* ]]
    done <<'JOBS'
cores=8:does not say how many executors
executors=0:executors is not a number above 0
executors=1,busy=2:busy is not a number above 0 and at most 1
executors=1,cors=2:does not have the form executors=N,cores=N
JOBS
}
