#!/usr/bin/env bats
# track.bats - neardup track: versions of documents over time

load common

# Two pages, their versions out of order: x changes always, y never but in a comma.
versions() {
    python3 - <<'PY' >versions.jsonl
import json
base = "the quick brown fox jumps over the lazy dog and then goes home to sleep in its own bed"
rows = []
for day in range(1, 6):
    rows.append(dict(id=f"x{day}", url="x", at=f"2024-01-0{day}", text=f"{base} on day {day} {day * 7} {day * 13}"))
    rows.append(dict(id=f"y{day}", url="y", at=f"2024-01-0{day}T12:00:00Z", text=base + ("," if day == 3 else "")))
for row in [rows[i] for i in (3, 0, 9, 1, 2, 7, 4, 5, 6, 8)]:
    print(json.dumps(row))
PY
}

@test "track: the distance and change of each version, and the next visit" {
    versions
    neardup track --series url --time at versions.jsonl >rows.tsv
    [ "$(head -1 rows.tsv)" = "$(printf 'series\tid\ttime\tdistance\tchange\tinterval\tnext')" ]
    # By the first version that is read, y is the first document.
    [ "$(sed 1d rows.tsv | cut -f1,2,5,6 | tr '\t\n' '  ')" = "y y1 new 86400 y y2 none 86400 y y3 slight 172800 y y4 slight 345600 y y5 none 691200 x x1 new 86400 x x2 changed 86400 x x3 changed 86400 x x4 changed 43200 x x5 changed 21600 " ]
    [ "$(sed -n 6p rows.tsv | cut -f3,7)" = "$(printf '2024-01-05T12:00:00Z\t2024-01-13T12:00:00Z')" ]
}

@test "track: distances are those of the sketches" {
    versions
    neardup track --series url --time at versions.jsonl --json >rows.jsonl
    neardup sketch versions.jsonl -q >sketches.jsonl
    python3 - <<'PY'
import json
simhash = {r["id"]: int(r["simhash"], 16) for r in map(json.loads, open("sketches.jsonl"))}
before = {}
for r in map(json.loads, open("rows.jsonl")):
    last = before.get(r["series"])
    expected = None if last is None else bin(simhash[last] ^ simhash[r["id"]]).count("1")
    assert r["distance"] == expected, r
    before[r["series"]] = r["id"]
PY
}

@test "track: a plan has the greatest change first" {
    versions
    neardup track --series url --time at --plan versions.jsonl >plan.tsv
    [ "$(cut -f1 plan.tsv | tr '\n' ' ')" = "series x y " ]
    [ "$(sed -n 2p plan.tsv | cut -f2-6)" = "$(printf 'x5\t5\t4\t1\t1')" ]
    [ "$(sed -n 3p plan.tsv | cut -f2-9)" = "$(printf 'y5\t5\t0\t0\t0\t0\t691200\t2024-01-13T12:00:00Z')" ]
}

@test "track: files in the order of the arguments are one document" {
    echo "some words of a page that stand here" >v1
    echo "quite another text without any of them" >v2
    cp v1 v3
    cp v3 v4
    cp v4 v5
    run neardup track v1 v2 v3 v4 v5
    [ "$(echo "$output" | cut -f2,5,6 | tail -5 | tr '\t\n' '  ')" = "v1 new 86400 v2 changed 86400 v3 changed 86400 v4 none 86400 v5 none 172800 " ]
    run neardup track v1 v2 v3 v4 v5 --interval 30m --shortest 10m --changes 1 --equal 2 --factor 3 --longest 40m
    [ "$(echo "$output" | cut -f6 | tail -5 | tr '\n' ' ')" = "1800 600 600 1800 2400 " ]
}

@test "track: distances are those of a recipe's first signature, whatever it is" {
    versions
    printf '{"id":"z1","url":"z","at":"2024-01-01","text":""}\n{"id":"z2","url":"z","at":"2024-01-02","text":""}\n{"id":"z3","url":"z","at":"2024-01-03","text":"..."}\n' >>versions.jsonl
    for recipe in henzinger-2006-c henzinger-2006-b winnowing-2003 pugh-henzinger-2003; do
        neardup track --recipe $recipe --series url --time at versions.jsonl --json >rows.jsonl
        neardup sketch --recipe $recipe versions.jsonl -q >sketches.jsonl
        python3 - $recipe <<'PY'
import json, sys
recipe = sys.argv[1]
docs = {r["id"]: list(r["signatures"].values())[0] for r in map(json.loads, open("sketches.jsonl"))}
raw = {r["id"]: r["text"] for r in map(json.loads, open("versions.jsonl"))}
def distance(a, b):
    x, y = docs[a], docs[b]
    if x is None and y is None:
        return int(raw[a] != raw[b])
    x, y = x or [], y or []
    if recipe == "henzinger-2006-c":
        return sum(bin(int(p, 16) ^ int(q, 16)).count("1") for p, q in zip(x, y)) if x and y else 384
    if recipe == "winnowing-2003":
        return len(set(x) ^ set(y))
    return max(sum(int(p, 16) != 0 for p in v) for v in (x, y)) - sum(p == q and int(p, 16) != 0 for p, q in zip(x, y))
before, changed = {}, 0
for r in map(json.loads, open("rows.jsonl")):
    last = before.get(r["series"])
    assert r["distance"] == (None if last is None else distance(last, r["id"])), (recipe, r)
    if last is not None:
        changed += r["distance"] > 0
        assert r["change"] == ("changed" if r["distance"] else "none" if raw[last] == raw[r["id"]] else "slight"), r
    before[r["series"]] = r["id"]
assert changed >= 2
PY
    done
    neardup track --recipe henzinger-2006-c --series url --time at --plan versions.jsonl -j1 >one
    neardup track --recipe henzinger-2006-c --series url --time at --plan versions.jsonl -j4 >four
    cmp one four
}

@test "track: the priority of near duplicates falls by a score, so that unique documents come first" {
    local a="one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    local b="red orange yellow green blue indigo violet black white grey brown pink purple gold silver"
    {
        echo "{\"url\":\"a\",\"at\":\"2024-01-01\",\"text\":\"$a\"}"
        echo "{\"url\":\"b\",\"at\":\"2024-01-01\",\"text\":\"nothing of the kind was ever said here\"}"
        echo "{\"url\":\"c\",\"at\":\"2024-01-09\",\"text\":\"$a sixteen\"}"
        echo "{\"url\":\"b\",\"at\":\"2024-01-02\",\"text\":\"$b\"}"
        echo "{\"url\":\"d\",\"at\":\"2024-01-02\",\"text\":\"$b\"}"
        echo "{\"url\":\"d\",\"at\":\"2024-01-01\",\"text\":\"$b\"}"
    } >v.jsonl
    neardup track --series url --time at --plan v.jsonl >plan
    [ "$(sed 1d plan | cut -f1 | tr -d '\n')" = acbd ]
    neardup track --series url --time at --plan --duplicates 40 v.jsonl >plan
    [ "$(head -1 plan)" = "$(printf 'series\tlast\tversions\tchanges\trate\tchanges_a_day\tpriority\tduplicate_of\tinterval\tnext')" ]
    [ "$(sed 1d plan | cut -f1,8 | tr '\t\n' ':,')" = "a:,b:,c:a,d:b," ]
    [ "$(sed 1d plan | cut -f7 | sed -n '1p;3p;4p' | tr '\n' ' ')" = "64 24 -40 " ]
    # c was visited eight days after a: by then a is not fresh any longer.
    neardup track --series url --time at --plan --duplicates 40 --max-age 7d v.jsonl >plan
    [ "$(sed 1d plan | cut -f1,8 | tr '\t\n' ':,')" = "a:,c:,b:,d:b," ]
    neardup track --series url --time at --plan --duplicates 40 --max-age 8d v.jsonl --json >plan
    [ "$(grep -c '"duplicate_of":"[ab]"' plan)" -eq 2 ]
    # The recipe says what a duplicate is.
    neardup track --series url --time at --plan --duplicates 40 --recipe henzinger-2006-b v.jsonl >plan
    grep -q "$(printf 'd\t.*\tb\t')" plan
}

@test "track: what is wrong is said" {
    versions
    run neardup track --time nothing versions.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"versions.jsonl:1: field 'nothing', the time of the version, is missing"* ]]
    run neardup track --time id versions.jsonl --strict
    [ "$status" -eq 2 ]
    [[ $output == *"versions.jsonl:1: field 'id' is not a date"* ]]
    run neardup track --interval 1y versions.jsonl
    [ "$status" -eq 2 ]
    [ "${lines[0]}" = "neardup: --interval: '1y' is not a time such as 90s, 30m, 12h, 90d or 2w, of 1 to 4294967295 seconds" ]
    run neardup track --interval 1m versions.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"the interval must lie between"* ]]
    run neardup track --equal 1 versions.jsonl
    [ "$status" -eq 2 ]
    run neardup track --duplicates 4 versions.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"--duplicates requires --plan;"* ]]
    run neardup track --plan --duplicates 4 --max-age 7d versions.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"--max-age requires --duplicates, --plan and --time;"* ]]
    run neardup track --recipe kolcz-2004-web versions.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"needs a df table"* ]]
}

@test "track --expect: the interval follows how great the changes were, not only that there were any" {
    python3 - <<'PY' >pages.jsonl
import json
base = [f"word{i}" for i in range(400)]
for day in range(1, 7):
    slight, great = list(base), list(base)
    slight[day] = f"new{day}"
    for i in range(0, 400, 2):
        great[i] = f"new{day}x{i}"
    print(json.dumps(dict(url="slight", at=f"2024-01-0{day}", text=" ".join(slight))))
    print(json.dumps(dict(url="great", at=f"2024-01-0{day}", text=" ".join(great))))
PY
    plan() { neardup track pages.jsonl --series url --time at --plan "$@" | sed 1d | sort | awk -F'\t' '{print $1, $4, $8}'; }
    # Both changed each time; only the weight of it tells them apart.
    [ "$(plan | cut -d' ' -f1,3 | tr '\n' ' ')" = "great 10800 slight 10800 " ]
    plan --expect 12 >weighed
    great=$(sed -n 's/great 5 //p' weighed)
    slight=$(sed -n 's/slight 5 //p' weighed)
    [ "$great" -lt 86400 ]
    [ "$slight" -gt 86400 ]
    # Twice as much is expected in twice the time, within the bounds.
    [ "$(plan --expect 1000000 | sed -n 's/great 5 //p')" -eq $((86400 * 32)) ]
    [ "$(plan --expect 1000000 --longest 3d | sed -n 's/great 5 //p')" -eq $((86400 * 3)) ]
    run neardup track pages.jsonl --expect 0
    [ "$status" -eq 2 ]
    [[ $output == *"--expect: '0' is not a number from 1 to 1000000"* ]]
}
