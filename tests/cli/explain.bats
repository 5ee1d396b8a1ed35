#!/usr/bin/env bats
# explain.bats - neardup explain: what two documents share, and what one consists of

load common

# The line "identical" of an explanation.
identical() {
    neardup explain "$@" | sed -n 's/^identical: *//p'
}

@test "the line identical says what the bytes and the tokens say, whatever the verdict is" {
    printf 'Hello, world' >a.txt
    printf 'hello world' >b.txt
    printf 'hello there' >c.txt
    cp a.txt copy.txt
    [ "$(identical a.txt b.txt)" = words ]
    [ "$(identical a.txt b.txt --short keep)" = words ]
    [ "$(identical a.txt c.txt)" = no ]
    [ "$(identical a.txt copy.txt)" = bytes ]
    [ "$(identical a.txt copy.txt --short keep)" = bytes ]
    [ "$(identical a.txt copy.txt --recipe text-profile)" = bytes ]
    [ "$(identical a.txt copy.txt --recipe joshi-2003)" = bytes ]
    # The characters of the normalised texts, where characters are compared.
    [ "$(identical a.txt b.txt --characters 5)" = no ]
    printf 'HELLO, WORLD' >upper.txt
    [ "$(identical a.txt upper.txt --characters 5)" = words ]
}

# Files whose names have all that is escaped somewhere.
odd_names() {
    mkdir odd
    python3 - <<'PY'
import os
text = "one two three four five six seven eight nine ten"
names = [b"plain", b"p\xeache", b"tab\there", b"line\nend", b"back\\slash", b"esc\x1b[31m", b'quo"te',
         b"\xe2\x80\xaeturned", b"c1\xc2\x9b", b"back\\xEA", b"del\x7f"]
for i, name in enumerate(names):
    with open(b"odd/" + name, "w") as out:
        out.write(text)
PY
}

@test "places are taken as the manifest and the clusters write them, and as they are printed" {
    odd_names
    neardup dedup -q odd --manifest m --clusters clusters.tsv -o /dev/null
    python3 - "$NEARDUP" <<'PY'
import json, re, subprocess, sys
raw = [line for line in open("m", encoding="utf-8", newline="\n")][1:]
assert len(raw) == 10, raw
def explain(name, kept):
    run = subprocess.run([sys.argv[1], "explain", "--corpus", "odd", name, kept], capture_output=True)
    assert run.returncode == 0, (name, run.stderr)
    return run.stdout.split(b"\n")[0], run.stdout.split(b"\n")[1]
for line in raw:
    row = json.loads(line)
    kept = row["kept_at"]
    written = re.search(r'"removed_at":"((?:[^"\\]|\\.)*)"', line)[1]
    by_value, by_text = explain(row["removed_at"], kept), explain(written, kept)
    assert by_value == by_text, (by_value, by_text)
    printed = re.fullmatch(rb"A: (.*) \((.*)\): 48 bytes, 10 tokens, 8 distinct shingles", by_value[0])
    assert printed[1] == printed[2], printed
    again = explain(printed[2], kept)
    assert again == by_value, (again, by_value)
for line in open("clusters.tsv", "rb").read().split(b"\n")[:-1]:
    name, kept = line.split(b"\t")
    first, second = explain(name, kept)
    assert first.startswith(b"A: " + name + b" ("), (first, name)
    assert second.startswith(b"B: " + kept + b" ("), (second, kept)
PY
}

@test "ids with escapes are taken as they are and as they are written; what is exact comes first" {
    python3 - <<'PY'
import json
text = "one two three four five six seven eight nine ten"
with open("ids.jsonl", "w") as out:
    for i, name in enumerate(["a\tb", "a\\tb", "c\nd", "\u202ee", 7]):
        out.write(json.dumps({"id": name, "text": text + f" eleven{i}" * i}) + "\n")
PY
    at() { neardup explain --corpus ids.jsonl "$1" 7 | sed -n 's/^A: .* (\([^)]*\)): .*/\1/p'; }
    [ "$(at $'a\tb')" = ids.jsonl:1 ]
    [ "$(at 'a\tb')" = ids.jsonl:2 ]
    [ "$(at 'a\\tb')" = ids.jsonl:2 ]
    [ "$(at 'c\nd')" = ids.jsonl:3 ]
    [ "$(at '\xE2\x80\xAEe')" = ids.jsonl:4 ]
    [ "$(neardup explain --corpus ids.jsonl 'c\nd' 7 | head -c 7)" = 'A: c\nd' ]
    neardup compare --corpus ids.jsonl 'c\nd' 7 --json >json || true
    python3 -c 'import json; c = json.load(open("json")); assert c["a"]["id"] == "c\nd" and c["b"]["id"] == 7, c'
}

@test "what stands within a token cannot steer the terminal" {
    printf 'left\xe2\x80\xaeright middle end of it' >a.txt
    printf 'leftright other\xe2\x80\x8ewise end of it' >b.txt
    for command in "explain" "compare --show terms --show edits --show passages --least 3"; do
        # shellcheck disable=SC2086
        neardup $command a.txt b.txt >shown || true
        [ -s shown ]
        run grep -q $'\xe2\x80\xae\|\xe2\x80\x8e' shown
        [ "$status" -eq 1 ]
    done
}

# The simhash that explain's features add up to, beside the one that sketch prints.
check_simhash() { # FILE KEY OPTIONS…
    file=$1
    key=$2
    shift 2
    neardup explain "$file" --json "$@" >features
    neardup sketch "$file" -q "$@" >sketch
    python3 - "$key" <<'PY'
import json, sys
key = sys.argv[1]
(s,) = json.load(open("features"))["signatures"]
sketch = json.load(open("sketch"))
expected = sketch["signatures"][key][0] if key != "sketch" else sketch["simhash"]
assert s["name"] == key, s["name"]
assert s["count"] == len(s["features"]) > 5
most = max(f["weight"] for f in s["features"])
sums = [0] * 64
for f in s["features"]:
    weight = round(f["weight"] / most * 32768)
    for bit in range(64):
        sums[bit] += weight if int(f["hash"], 16) >> bit & 1 else -weight
assert sum((x > 0) << bit for bit, x in enumerate(sums)) == int(expected, 16), (sums, expected)
weights = [f["weight"] for f in s["features"]]
assert weights == sorted(weights, reverse=True)
assert sorted(f["position"] for f in s["features"]) == list(range(1, len(weights) + 1))
PY
}

articles() {
    python3 - <<'PY'
import json, random
random.seed(3)
words = [f"word{i}" for i in range(400)]
with open("articles.jsonl", "w") as out:
    for i in range(40):
        text = " ".join(random.choice(words[:5 * (i + 1)]) for _ in range(300))
        out.write(json.dumps({"id": i, "text": text, "title": f"Title <&\"{i}"}) + "\n")
PY
    sed -n 30p articles.jsonl >one.jsonl
}

@test "explain of one document: its features, weights and hashes are those of its simhash" {
    articles
    check_simhash one.jsonl sketch
    check_simhash one.jsonl sketch --characters 4
    check_simhash one.jsonl simhash --recipe manku-2007
    check_simhash one.jsonl simhash --recipe manku-2007 --set simhash.seed=7 --set simhash.hash=rabin
    neardup df build -q --recipe seshasai-2009 articles.jsonl -o t.df
    check_simhash one.jsonl simhash --recipe seshasai-2009 --df t.df
    for recipe in low-threshold high-threshold doc-position-scaling arbitrary-function; do
        check_simhash one.jsonl simhash --recipe seshasai-2009-$recipe --df t.df
    done
    check_simhash one.jsonl simhash --recipe seshasai-2009 --df t.df --set simhash.fields=title:0.5
    grep -q '"of_field":true' features
}

@test "explain of one document: the list by weight and by position, and how much of it" {
    printf 'one two three two three three four\n' >a.txt
    run neardup explain a.txt --recipe manku-2007 --set simhash.stem=none --set simhash.stop_words=none
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = "A: a.txt (a.txt): 35 bytes, 7 tokens" ]
    [ "${lines[1]}" = "simhash: 4 features, 4 with a weight" ]
    [ "$(printf '%s\n' "${lines[@]:3}" | awk '{ print $1, $2, $5 }' | tr '\n' ',')" = "3 3 three,2 2 two,1 1 one,4 1 four," ]
    run neardup explain a.txt --order position --top 2 --recipe manku-2007 --set simhash.stem=none --set simhash.stop_words=none
    [ "$(printf '%s\n' "${lines[@]:3:2}" | awk '{ print $1, $2, $5 }' | tr '\n' ',')" = "1 1 one,2 2 two," ]
    [ "${lines[5]}" = "  … (2 more; see --top)" ]
    # A corpus, by id; a recipe of sets; several signatures; a document without words.
    small_corpus
    run neardup explain --corpus small.jsonl 4 --recipe henzinger-2006-combined
    [[ $output == *"b: "*"(a set: their weights do not matter)"*"c: "* ]]
    printf '...\n' >none.txt
    run neardup explain none.txt --svg none.svg
    [ "$status" -eq 0 ]
    [[ $output == *"sketch: 0 features, 0 with a weight"* ]]
    python3 -c 'import xml.dom.minidom as m; m.parse("none.svg")'
}

@test "explain of one document: the figures" {
    articles
    neardup df build -q --recipe seshasai-2009 articles.jsonl -o t.df
    neardup explain one.jsonl --recipe seshasai-2009-arbitrary-function --df t.df --set simhash.fields=title:0.9 \
        --svg figures.svg --json >features
    python3 - <<'PY'
import json, re, xml.dom.minidom
(s,) = json.load(open("features"))["signatures"]
text = open("figures.svg").read()
page = xml.dom.minidom.parse("figures.svg")
groups = {g.getAttribute("class"): g for g in page.getElementsByTagName("g")}
# Grey for the full weights; bars for weights by position, and for the histogram.
assert text.count('<g class="bar">') == 2 and text.count('<g class="full">') == 1
assert len(groups["full"].getElementsByTagName("rect")) == sum(f["full_weight"] > 0 for f in s["features"])
bars = page.getElementsByTagName("g")[1]
assert len(bars.getElementsByTagName("rect")) == s["weighted"]
# The list has the heaviest ones in order, each with its hash.
texts = [t.firstChild.data for t in page.getElementsByTagName("text") if t.firstChild]
hashes = [f["hash"] for f in s["features"]]
assert [t for t in texts if t in hashes] == hashes[:25]
# Heights follow the weights.
by_position = sorted((f for f in s["features"] if f["weight"] > 0), key=lambda f: f["position"])
heights = [float(r.getAttribute("height")) for r in bars.getElementsByTagName("rect")]
most, top = max(heights), max(f["weight"] for f in by_position)
for height, feature in zip(heights, by_position):
    assert abs(height / most - feature["weight"] / top) < 1e-3
# The histogram counts every hash: of 256 parts, the first 8 bits.
counts = [0] * 256
for h in hashes:
    counts[int(h[:2], 16)] += 1
drawn = page.getElementsByTagName("g")[2].getElementsByTagName("rect")
assert len(drawn) == sum(c > 0 for c in counts)
assert "Hashes of %d different features in 256 equal parts" % len(set(hashes)) in texts
PY
}

@test "explain --histogram: the hashes of the features of all documents" {
    articles
    neardup explain --histogram articles.jsonl --recipe manku-2007 --svg h.svg --buckets 16 >table
    neardup explain --histogram articles.jsonl --recipe manku-2007 --buckets 16 --json >json
    for i in $(seq 0 39); do neardup explain --corpus articles.jsonl "$i" --recipe manku-2007 --json; done >each
    python3 - <<'PY'
import json, math, xml.dom.minidom
hashes = [f["hash"] for line in open("each") for f in json.loads(line)["signatures"][0]["features"]]
rows = [line.rstrip("\n").split("\t") for line in open("table")]
assert rows[0] == ["signature", "bucket", "features", "distinct", "uniform"]
assert rows[1][:4] == ["simhash", "all", str(len(hashes)), str(len(set(hashes)))]
every, distinct = [0] * 16, [0] * 16
for h in hashes:
    every[int(h[0], 16)] += 1
for h in set(hashes):
    distinct[int(h[0], 16)] += 1
assert [(int(r[1]), int(r[2]), int(r[3])) for r in rows[3:]] == list(zip(range(16), every, distinct))
mean = len(set(hashes)) / 16
deviation = math.sqrt(sum((x - mean) ** 2 for x in distinct) / (mean * 15))
assert abs(float(rows[2][3]) - deviation) < 1e-3
(j,) = json.load(open("json"))["histograms"]
assert j["features_of_buckets"] == every and j["distinct_of_buckets"] == distinct
bars = xml.dom.minidom.parse("h.svg").getElementsByTagName("g")[0].getElementsByTagName("rect")
assert len(bars) == 16
PY
    # A folder, the standard input, threads, a bad record.
    neardup explain --histogram - -f jsonl --recipe manku-2007 --buckets 16 <articles.jsonl | cmp - table
    echo '{broken' >>articles.jsonl
    run neardup explain --histogram articles.jsonl --recipe manku-2007
    [ "$status" -eq 3 ]
    [[ $output == *"1 bad record was left out"* ]]
    run neardup explain --histogram nothing.jsonl
    [ "$status" -eq 2 ]
}

@test "explain: options that say nothing of what is shown are refused" {
    small_corpus
    for wrong in "--order position small.jsonl small.jsonl" "--top 3 small.jsonl small.jsonl" "--svg x.svg a b" \
        "--buckets 9 a b" "--buckets 9 a" "--histogram --order weight small.jsonl" "--histogram --top 3 small.jsonl" \
        "--histogram --corpus small.jsonl a" "--order size a" "--buckets 1 --histogram a" "--top x a" "a b c"; do
        # shellcheck disable=SC2086
        run neardup explain $wrong
        [ "$status" -eq 2 ]
        [[ $output == *"neardup"* ]]
        [ ! -e x.svg ]
    done
}

@test "explain --json: what two documents have in common" {
    small_corpus
    neardup explain --corpus small.jsonl a b --json >json
    python3 - <<'PY'
import json
e = json.load(open("json"))
assert e["a"] == {"id": "a", "at": "small.jsonl:1", "bytes": 106, "tokens": 17, "shingles": 15, "short": False}, e["a"]
assert e["b"]["id"] == "b" and e["b"]["shingles"] == 16
assert e["identical"] == "no" and e["duplicates"] is True and e["why"] == "the resemblance reaches 4/5"
assert e["resemblance"] == 15 / 16 and e["shared"] == 15
assert e["containment_of_a"] == 1 and e["containment_of_b"] == 15 / 16
assert e["bands"] * e["rows"] <= 128 and 0.99 < e["chance"] <= 1
assert len(e["terms_in_both"]) == 17 and e["terms_only_in_a"] == [] and e["terms_only_in_b"] == ["eighteen"]
assert "signatures" not in e
PY
    neardup explain --corpus small.jsonl a 4 --json --recipe henzinger-2006-c >json || [ "$?" -eq 1 ]
    python3 -c 'import json; e = json.load(open("json")); assert e["duplicates"] is False and e["b"]["id"] == 4 and "signatures" in e, e'
}

@test "explain --rows: the rows of least resemblance, each as explain of the two says" {
    large_corpus docs.jsonl
    neardup dedup -q docs.jsonl --manifest removed.jsonl.gz -o /dev/null --threshold 0.6 --max-bad 10% 2>/dev/null
    gzip -dc removed.jsonl.gz >removed.jsonl
    neardup explain --rows removed.jsonl.gz --lowest 7 >text
    neardup explain --rows removed.jsonl --lowest 7 --json >json
    python3 - "$NEARDUP" <<'PY'
import json, subprocess, sys
rows = [json.loads(line) for line in open("removed.jsonl")][1:]
numbered = [(r["resemblance"], i + 1, r) for i, r in enumerate(rows) if "removed" in r]
lowest = sorted(numbered, key=lambda x: x[:2])[:7]
found = [json.loads(line) for line in open("json")]
assert [(f["row_resemblance"], f["row"]) for f in found] == [x[:2] for x in lowest]
blocks = open("text").read().split("\n\n")
assert len(blocks) == 7
for f, block, (resemblance, number, row) in zip(found, blocks, lowest):
    assert f["changed"] is False and f["resemblance"] == resemblance
    assert f["a"]["at"] == row["kept_at"] and f["b"]["at"] == row["removed_at"]
    assert f["a"]["id"] == row["kept"] and f["b"]["id"] == row["removed"]
    assert f["shared"] == row["shared"] and f["containment_of_b"] == row["containment_of_removed"]
    assert f["duplicates"] is True and f["why"] == "the resemblance reaches 3/5"
    run = subprocess.run([sys.argv[1], "explain", "--corpus", "docs.jsonl", row["kept_at"], row["removed_at"],
                          "--threshold", "0.6"], capture_output=True, text=True)
    head, rest = block.split("\n", 1)
    assert head == f"row {number}: B was removed, A was kept; resemblance {resemblance:.6f}", head
    assert rest.strip() == run.stdout.strip(), (rest, run.stdout)
PY
    [ "$(neardup explain --rows removed.jsonl --json | wc -l)" -eq 20 ]
    # All of them, and more than there are.
    [ "$(neardup explain --rows removed.jsonl --json --lowest 100000 | wc -l)" -eq "$(grep -c '"removed"' removed.jsonl)" ]
}

@test "explain --rows: documents are read as the manifest's run read them" {
    odd_names
    small_corpus
    python3 - <<'PY'
import csv, json
with open("table.csv", "w", newline="") as out:
    writer = csv.writer(out)
    writer.writerow(["name", "body", "more"])
    for i in range(6):
        writer.writerow([f"n{i}", "one, two three\nfour five six seven eight nine ten" + " eleven" * (i > 2), "and more of it"])
PY
    tar cf pack.tar odd
    printf 'un caf\xe9 noir et la p\xeache\nun caf\xe9 noir et la p\xeache\n' >latin.txt
    printf 'one two three four\n\nfive six seven eight\n\none two three four five\n' >paragraphs.txt
    for run in "odd" "pack.tar" "table.csv --text-field body --text-field more --id-field name --threshold 0.5" \
        "paragraphs.txt --unit paragraph --threshold 0.5" "small.jsonl --characters 5" \
        "latin.txt --unit line --charset windows-1252" "small.jsonl --recipe manku-2007" "small.jsonl --verify none" "odd --exclude plain"; do
        rm -f m
        # shellcheck disable=SC2086
        neardup dedup -q $run --manifest m -o /dev/null || { echo "$run"; return 1; }
        neardup explain --rows m --json >json || { echo "$run"; return 1; }
        python3 - "$run" <<'PY'
import json, sys
rows = {i + 1: json.loads(line) for i, line in enumerate(list(open("m"))[1:])}
found = [json.loads(line) for line in open("json")]
assert len(found) == len(rows) > 0, (sys.argv[1], len(found), len(rows))
for f in found:
    row = rows[f["row"]]
    assert (f["a"]["at"], f["b"]["at"]) == (row["kept_at"], row["removed_at"]), sys.argv[1]
    assert not f["changed"] and f["duplicates"], (sys.argv[1], f)
PY
    done
}

@test "explain --rows: a recipe with a df table, another recipe, and what the options refuse" {
    articles
    cat one.jsonl >>articles.jsonl
    neardup df build -q --recipe seshasai-2009 articles.jsonl -o t.df
    neardup dedup -q articles.jsonl --recipe seshasai-2009 --df t.df --manifest m -o /dev/null
    neardup explain --rows m >text
    grep -q 'signature simhash:   64 of 64 agree' text
    neardup dedup -q articles.jsonl --recipe seshasai-2009 --df auto=auto.df --manifest m -o /dev/null
    neardup explain --rows m | cmp - text
    neardup explain --histogram articles.jsonl --recipe seshasai-2009 --df auto=again.df >table
    cmp auto.df again.df
    neardup explain --histogram articles.jsonl --recipe seshasai-2009 --df again.df | cmp - table
    run neardup explain --rows m --recipe seshasai-2009 --df auto=x.df
    [ "$status" -eq 2 ]
    neardup explain --rows m --recipe default --threshold 0.9 >text
    grep -q 'candidate chance' text
    for wrong in "--threshold 0.9" "--df t.df" "--format csv" "--text-field x" "--lowest 0" "one" "--svg x.svg" \
        "--histogram" "--top 3"; do
        # shellcheck disable=SC2086
        run neardup explain --rows m $wrong
        [ "$status" -eq 2 ]
        [[ $output == *"neardup: "* ]]
    done
    run neardup explain --lowest 3 one.jsonl one.jsonl
    [ "$status" -eq 2 ]
    for bad in articles.jsonl t.df none.jsonl; do
        run neardup explain --rows $bad
        [ "$status" -eq 2 ]
        [[ $output == *"$bad"* ]]
    done
    : >empty
    run neardup explain --rows empty
    [ "$status" -eq 2 ]
    # Headers that no run wrote: an error with the file's name, or a row that is not found.
    row='{"removed":"a","kept":"b","removed_at":"x:1","kept_at":"x:2","resemblance":0.5}'
    for header in '{"recipe":"","inputs":"x"}' '{"recipe":"","inputs":[1,{"path":{}},["x"],null,{}]}' \
        '{"recipe":7,"inputs":[]}' '{"recipe":"[decide]\nthreshold = 2\n","inputs":[]}' \
        '{"recipe":"","inputs":[],"options":{"globs":"x","text_fields":{},"format":7}}'; do
        printf '%s\n%s\n' "$header" "$row" >odd.jsonl
        run neardup explain --rows odd.jsonl
        [ "$status" -eq 2 ]
        [[ $output == *"odd.jsonl: "* || $output == *"row 1: x:2: this document was not found"* ]]
    done
    # Without removed documents there is nothing to explain.
    neardup dedup -q one.jsonl --manifest m -o /dev/null
    run neardup explain --rows m
    [ "$status" -eq 1 ]
    [ -z "$output" ]
}

@test "explain --rows: documents that moved, changed or are gone" {
    small_corpus
    neardup dedup -q -f jsonl --manifest m -o /dev/null <small.jsonl
    run neardup explain --rows m
    [ "$status" -eq 2 ]
    [[ $output == *"came from the standard input: name their files with --corpus"* ]]
    neardup explain --rows m --corpus small.jsonl >text
    grep -q '^A: a (small.jsonl:1)' text
    grep -q '^B: b (small.jsonl:2)' text
    neardup dedup -q small.jsonl --manifest m -o /dev/null
    sed -i 's/eighteen/and others/' small.jsonl
    neardup explain --rows m --lowest 1 >text
    grep -q '^row 1: .*resemblance 0.937500; it has changed: the texts are different now' text
    # In place: the removed ones are elsewhere.
    small_corpus
    neardup dedup -q small.jsonl --manifest m --removed gone.jsonl -o small.jsonl
    run neardup explain --rows m
    [ "$status" -eq 2 ]
    [[ $output == *"row 1: small.jsonl:2: this document was not found"*"the documents of 2 rows were not found; see --corpus"* ]]
    neardup explain --rows m --corpus small.jsonl --corpus gone.jsonl --json >json
    [ "$(wc -l <json)" -eq 2 ]
    mv small.jsonl elsewhere.jsonl
    run neardup explain --rows m
    [ "$status" -eq 2 ]
    # Some are found.
    small_corpus
    sed 's/"id":"/"id":"copy of /' small.jsonl | tail -n 3 >more.jsonl
    neardup dedup -q small.jsonl more.jsonl --manifest m -o /dev/null 2>/dev/null
    rm more.jsonl
    run neardup explain --rows m
    [ "$status" -eq 3 ]
    [[ $output == *"row 1: B was removed"* ]]
    [[ $output == *"done, but the documents of 3 rows were not found"* ]]
}
