#!/usr/bin/env bats
# compare.bats - neardup compare: measures, passages, terms, edits

load common

two_files() {
    echo "The quick brown fox jumps over the lazy dog, and then it goes home to sleep in its bed for a long time." >a.txt
    echo "The quick red fox jumps over the lazy dog, and it then goes home to sleep in its bed for a very long time. Fin." >b.txt
}

@test "compare: every measure by name, and their values" {
    two_files
    run neardup compare a.txt b.txt --metric resemblance --metric resemblance-distance \
        --metric containment-a --metric containment-b --metric cosine --metric cosine-tf \
        --metric inner --metric edit --metric hamming --metric conrad-schriber
    [ "$status" -eq 1 ]
    # 12 shingles of 21 and 23; 21 terms of 22 and 24; counted and computed by hand
    [ "${lines[*]}" = "0.375000 0.625000 0.571429 0.521739 0.913908 0.923760 24 5 20 yes" ]
    run neardup compare a.txt b.txt
    [ "$status" -eq 1 ]
    [[ $output == *"edit distance:        5 tokens"* ]]
    [[ $output == *"Conrad and Schriber:  duplicates"* ]]
}

@test "compare: status 0 where the words are the same" {
    echo "Same words, here." >a.txt
    echo "SAME  words here" >b.txt
    run neardup compare a.txt b.txt --metric edit
    [ "$status" -eq 0 ]
    [ "$output" = 0 ]
    run neardup compare a.txt - --metric resemblance <b.txt
    [ "$status" -eq 0 ]
    [ "$output" = 1.000000 ]
}

@test "compare: two documents of a corpus by id or place" {
    small_corpus
    run neardup compare --corpus small.jsonl a small.jsonl:2 --metric edit
    [ "$status" -eq 1 ]
    [ "$output" = 1 ]
    run neardup compare --corpus small.jsonl a nobody
    [ "$status" -eq 2 ]
    [ "$output" = "neardup: nobody: no document has this id or place" ]
}

@test "compare: edits are marked, or coloured where that is asked for" {
    two_files
    run neardup compare a.txt b.txt --show edits
    [ "${lines[1]}" = "The quick [-brown-] {+red+} fox jumps over the lazy dog, and [-then-] it {+then+} goes home to sleep in its bed for a {+very+} long time {+Fin+}" ]
    run neardup compare a.txt b.txt --show edits --color always
    [[ ${lines[1]} == $'The quick \e[31mbrown\e[0m \e[32mred\e[0m fox'* ]]
    NO_COLOR=1 run neardup compare a.txt b.txt --show edits --color always
    [[ ${lines[1]} == *$'\e[31m'* ]]
    run neardup compare a.txt b.txt --show edits --limit 4
    [ "$output" = "edits from A to B: the cost is more than 4; see --limit" ]
    run neardup compare a.txt b.txt --metric edit --costs 1,1,2 --limit none
    [ "$output" = 6 ]
}

@test "compare: on a terminal, colours unless NO_COLOR is set" {
    two_files
    unset NO_COLOR
    TERM=xterm on_terminal compare a.txt b.txt --show edits >with || true
    grep -q $'\e\[31mbrown' with
    TERM=xterm NO_COLOR=1 on_terminal compare a.txt b.txt --show edits >without || true
    grep -q '\[-brown-\]' without
}

@test "compare: what a text holds cannot steer the terminal" {
    printf 'one \e[31mtwo\tthree\xc2\x9bfour\nfive' >a.txt
    printf 'one' >b.txt
    run neardup compare b.txt a.txt --show edits
    [ "${lines[1]}" = 'one {+31mtwo three four five+}' ]
}

@test "compare: copied passages, with their bytes in both texts" {
    two_files
    run neardup compare a.txt b.txt --show passages
    [ "${lines[0]}" = "passages of A in B: 1; they cover 9 of B's 25 tokens (36.0%), 9 of A's 23 (39.1%)" ]
    [ "${lines[1]}" = "9 tokens: B bytes 55-90, A bytes 57-92" ]
    [ "${lines[2]}" = "  goes home to sleep in its bed for a" ]
    [ "$(dd if=b.txt bs=1 skip=55 count=35 2>/dev/null)" = "goes home to sleep in its bed for a" ]
    [ "$(dd if=a.txt bs=1 skip=57 count=35 2>/dev/null)" = "goes home to sleep in its bed for a" ]
    run neardup compare a.txt b.txt --show passages --least 7 --gap 5
    [ "${lines[1]}" = "18 tokens: B bytes 14-90, A bytes 16-92, 16 equal" ]
    neardup compare a.txt b.txt --json --show passages --show edits --show terms >json || true
    python3 - <<'PY'
import json
c = json.load(open("json"))
a, b = open("a.txt").read(), open("b.txt").read()
(p,) = c["passages"]
text = lambda t, s: t[s["offset"]:s["offset"] + s["bytes"]]
assert text(a, p["a"]) == text(b, p["b"]) == p["text"] == "goes home to sleep in its bed for a"
assert p["a"]["tokens"] == p["equal"] == c["covered_a"] == c["covered_b"] == 9
cost = {"keep": 0, "replace": 1, "insert": 1, "remove": 1}
assert sum(cost[e["kind"]] * e["tokens"] for e in c["edits"]) == c["edit_distance"] == 5
for e in c["edits"]:
    in_a, in_b = (t[e[k + "_offset"]:][:e[k + "_bytes"]].split() for k, t in (("a", a), ("b", b)))
    assert len(in_a) == (0 if e["kind"] == "insert" else e["tokens"])
    assert len(in_b) == (0 if e["kind"] == "remove" else e["tokens"])
    assert e["kind"] != "keep" or "".join(in_a).strip(".,") == "".join(in_b).strip(".,")
counts = {t["term"]: (t["a"], t["b"]) for t in c["term_counts"]}
assert counts["brown"] == (1, 0) and counts["very"] == (0, 1) and counts["The"] == (2, 2)
assert c["conrad_schriber"] is True and c["same_words"] is False
PY
}

@test "compare: the resemblance distance is a metric on real words" {
    for i in 1 2 3 4 5 6; do
        python3 -c "
import random
random.seed($i)
words = 'one two three four five six seven eight nine ten'.split()
print(*[w for w in words * 3 if random.random() < .8])" >t$i
    done
    for a in 1 2 3 4 5 6; do
        for b in 1 2 3 4 5 6; do
            echo "$a $b $(neardup compare t$a t$b --metric resemblance-distance)"
        done
    done >all || true
    python3 - <<'PY'
d = {(a, b): float(x) for a, b, x in (line.split() for line in open("all"))}
keys = sorted({a for a, _ in d})
assert any(x > 0 for x in d.values())
for a in keys:
    assert d[a, a] == 0
    for b in keys:
        assert d[a, b] == d[b, a]
        for c in keys:
            assert d[a, c] <= d[a, b] + d[b, c] + 2e-6
PY
}

@test "compare: wrong options are named" {
    two_files
    run neardup compare a.txt b.txt --metric resemblence
    [ "$status" -eq 2 ]
    [[ $output == *"did you mean 'resemblance'?"* ]]
    run neardup compare a.txt b.txt --show passage
    [ "$status" -eq 2 ]
    [[ $output == *"did you mean 'passages'?"* ]]
    run neardup compare a.txt b.txt --costs 0,1,1
    [ "$status" -eq 2 ]
    run neardup compare a.txt b.txt --least 2 --show passages
    [ "$status" -eq 2 ]
    [[ $output == *"passages of 2 tokens"* ]]
    run neardup compare a.txt
    [ "$status" -eq 2 ]
    run neardup compare - -
    [ "$status" -eq 2 ]
    [ "$output" = "neardup: standard input cannot be both documents" ]
    run neardup compare a.txt b.txt --limit 0
    [ "$status" -eq 2 ]
}

@test "compare: the weights of a recipe's features" {
    two_files
    run neardup compare a.txt b.txt --recipe manku-2007 --show weights
    [ "$status" -eq 1 ]
    [[ ${lines[0]} =~ ^features\ of\ simhash:\ [0-9]+,\ of\ these\ with\ different\ weights\ \(in\ A,\ in\ B\):\ 3$ ]]
    [ "$(printf '%s\n' "${lines[@]:1}" | awk '{print $3}' | sort | tr '\n' ' ')" = "brown fin red " ]
    neardup df build --recipe seshasai-2009 -o t.df -q a.txt b.txt 2>/dev/null
    neardup compare a.txt b.txt --recipe seshasai-2009 --df t.df --json --show weights >json || true
    run neardup compare a.txt b.txt --recipe seshasai-2009 --df t.df --metric cosine-weights
    echo "$output" >cosine
    python3 - <<'PY'
import json, math
c = json.load(open("json"))
w = {x["feature"]: (x["a"], x["b"]) for x in c["weights"]}
assert w["brown"][0] > 0 == w["brown"][1] and w["very"][0] == 0 < w["very"][1]
differences = [abs(a - b) for a, b in w.values()]
assert differences == sorted(differences, reverse=True)
cosine = sum(a * b for a, b in w.values()) / math.sqrt(sum(a * a for a, _ in w.values()) * sum(b * b for _, b in w.values()))
assert abs(cosine - c["cosine_weights"]) < 1e-12
assert abs(cosine - float(open("cosine").read())) < 1e-6
PY
    # Counts of the 3-word features: their inner product, and the same over the numbers of words.
    neardup compare a.txt b.txt --recipe manku-2007 --set simhash.stop_words=none --set simhash.stem=none \
        --metric inner --metric inner-weights >plain || true
    neardup compare a.txt b.txt --recipe manku-2007 --set simhash.stop_words=none --set simhash.stem=none \
        --set simhash.normalise_length=yes --metric inner-weights >over || true
    neardup compare a.txt b.txt --json >counts || true
    python3 - <<'PY'
import json
inner, weights = [float(x) for x in open("plain").read().split()]
a, b = (x["tokens"] for x in (json.load(open("counts"))[k] for k in "ab"))
assert abs(inner - weights) < 1e-3 * inner, (inner, weights)
assert abs(float(open("over").read()) - inner / a / b) < 1e-3, (a, b)
PY
    run neardup compare a.txt b.txt --show weights
    [ "$status" -eq 2 ]
    [[ $output == *"weights need a recipe with a signature"* ]]
}

@test "the cosine does not change with the length of the vectors, the inner product does" {
    echo "the ferry leaves the old harbour at nine and the old town at ten" >a.txt
    echo "at nine the bus leaves the town" >b.txt
    for i in 1 2 3; do cat a.txt; done >thrice.txt
    neardup df build -q --unit line a.txt b.txt -o t.df
    metric() { neardup compare "${@:2}" --recipe seshasai-2009 --df t.df --metric "$1" || true; }
    [ "$(metric cosine-tf a.txt thrice.txt)" = 1.000000 ]
    [ "$(metric cosine-weights a.txt thrice.txt)" = 1.000000 ]
    for name in cosine-tf cosine-weights; do
        [ "$(metric $name b.txt a.txt)" = "$(metric $name b.txt thrice.txt)" ]
        [ "$(metric $name b.txt a.txt)" = "$(metric $name a.txt b.txt)" ]
    done
    [ "$(metric inner b.txt thrice.txt)" -eq $((3 * $(metric inner b.txt a.txt))) ]
}
