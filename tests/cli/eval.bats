#!/usr/bin/env bats
# eval.bats - neardup eval: results measured against the truth (oracle_eval compares the figures)

load common

# column NAME FILE: a column of a table, a line for each row.
column() {
    awk -F '\t' -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next } { print $at }' "$2"
}

row() {
    printf '%s\t%s\t%s\n' "$@"
}

@test "eval: what neardup writes is recognised: pairs, clusters, manifests, in TSV and JSON" {
    small_corpus
    neardup pairs small.jsonl -q >pairs.tsv
    neardup pairs small.jsonl -q --json >pairs.jsonl
    neardup dedup small.jsonl -q -o kept --manifest manifest.jsonl --clusters clusters.tsv
    neardup sketch small.jsonl -q --recipe manku-2007 >rows.jsonl
    neardup index pairs rows.jsonl --distance 3 >distances.tsv || [ $? -eq 1 ]
    row id1 id2 label >truth.tsv
    row a b 1 a c 1 b c 1 a 4 0 >>truth.tsv
    neardup eval --truth truth.tsv --universe labelled pairs.tsv pairs.jsonl manifest.jsonl clusters.tsv distances.tsv >table
    [ "$(column form table | tr '\n' ' ')" = "pairs pairs manifest clusters pairs " ]
    [ "$(column listed table | head -4 | tr '\n' ' ')" = "3 3 2 3 " ]
    [ "$(column recall table | head -4 | tr '\n' ' ')" = "1.0000 1.0000 0.6667 1.0000 " ]
    [ "$(column cluster_recall table | head -4 | tr '\n' ' ')" = "- - 1.0000 1.0000 " ]
    neardup eval --truth truth.tsv --universe labelled <pairs.tsv >one
    [ "$(sed 1d one | cut -f 2-)" = "$(sed -n 2p table | cut -f 2-)" ]
    neardup eval --truth truth.tsv --universe labelled --json pairs.tsv |
        python3 -c 'import json, sys; row = json.load(sys.stdin); assert row["recall"] == 1 and row["bcubed_f1"] is None, row'
}

@test "eval: rows of near misses are not results" {
    small_corpus
    echo '{"id":"x","text":"one two three four five six seven eight nine ten eleven twelve else"}' >>small.jsonl
    neardup pairs small.jsonl -q --near-misses 0.3 >pairs.tsv
    neardup pairs small.jsonl -q --near-misses 0.3 --json >pairs.jsonl
    grep -q near-miss pairs.tsv
    row a b 1 a x 0 >truth.tsv
    neardup eval --truth truth.tsv --universe labelled pairs.tsv pairs.jsonl >table
    [ "$(column wrong table | tr '\n' ' ')" = "0 0 " ]
    # As the truth, the same file says which pairs are different.
    neardup eval --truth pairs.jsonl --universe labelled pairs.tsv >table
    [ "$(column listed table)$(column missed table)" = 30 ]
}

@test "eval: the universe decides, and must be said where the truth is of pairs" {
    row a b 1 >truth.tsv
    row a b .9 c d .9 >pairs.tsv
    run neardup eval --truth truth.tsv pairs.tsv
    [ "$status" -eq 2 ]
    [[ $output == *"truth.tsv: the truth is of pairs: say with --universe"* ]]
    neardup eval --truth truth.tsv --universe labelled pairs.tsv >table
    [ "$(column unlabelled table)" = 1 ]
    [ "$(column precision table)" = - ]
    [[ "$(column note table)" == *"no precision: the truth calls no pair different"* ]]
    printf '{"id":"%s","text":"x"}\n' a b c d >docs.jsonl
    neardup eval --truth truth.tsv --universe all --documents docs.jsonl pairs.tsv >table
    [ "$(column precision table)" = 0.5000 ]
    [ "$(column documents table)" = 4 ]
}

@test "eval: labels are numbers, words, grades or scores" {
    row a b same a c other b c unclear >words.tsv
    row a b .9 a c .7 b c .1 >scores.tsv
    row id1 id2 grade a b light a c cut b c none >grades.tsv
    row a b 1 a c 1 b c 1 >pairs.tsv
    figures() { neardup eval --universe labelled "$@" pairs.tsv | tee all | awk 'NR == 2 { print $4, $5, $6, $7 }'; }
    [ "$(figures --truth words.tsv)" = "2 1 1 1" ]
    [ "$(figures --truth scores.tsv --at 0.7)" = "3 2 1 0" ]
    [ "$(figures --truth grades.tsv --positive cut --positive light)" = "3 2 1 0" ]
    [ "$(figures --truth grades.tsv --positive cut)" = "3 1 2 0" ]
    run neardup eval --universe labelled --truth scores.tsv pairs.tsv
    [ "$status" -eq 2 ]
    [[ $output == *"scores.tsv:1: the label '.9' is none of 1, 0, ?, same, different and unsure: scores need --at"* ]]
    run neardup eval --universe labelled --truth words.tsv --at 1 pairs.tsv
    [[ $output == *"words.tsv:1: the label 'same' is no number"* ]]
    run neardup eval --universe labelled --truth words.tsv --at 1 --positive x pairs.tsv
    [ "$status" -eq 2 ]
}

@test "eval: clusters, exact and not; a manifest as its rows and as clusters" {
    printf '%s\t%s\n' id cluster a 1 b 1 c 1 d 2 e 2 f 3 >truth.tsv
    printf '{"removed":"%s","kept":"%s"}\n' b a c a f e >manifest.jsonl
    neardup eval --truth truth.tsv manifest.jsonl >table
    [ "$(column listed table) $(column right table) $(column missed table)" = "3 2 2" ]
    [ "$(column cluster_recall table) $(column exact_clusters table) $(column true_clusters table)" = "0.7500 1 2" ]
    [ "$(column bcubed_precision table) $(column bcubed_recall table)" = "0.8333 0.8333" ]
    # f was removed, and no kept document is like it.
    [ "$(column removed table) $(column removed_without_match table) $(column largest_cluster table)" = "3 1 3" ]
    # d and e, which are the same, were both kept.
    [ "$(column kept_with_match table)" = 1 ]
    printf '%s,%s,%s\n' left right score a b .9 b c .9 >pairs.csv
    neardup eval --truth truth.tsv pairs.csv >open
    neardup eval --truth truth.tsv --close pairs.csv >closed
    [ "$(column right open) $(column right closed) $(column form closed)" = "2 3 closed pairs" ]
}

@test "eval: clusters against classes" {
    printf '%s\t%s\n' id class a ham b ham c spam d spam e spam >classes.tsv
    printf '%s\t%s\n' a a b a c c d d e a >clusters.tsv
    neardup eval --truth classes.tsv clusters.tsv >table
    [ "$(column clusters table) $(column mixed_clusters table) $(column members table) $(column mixed_members table)" = "1 1 3 3" ]
    [ "$(column listed table) $(column mixed table)" = "3 2" ]
    sed 1d classes.tsv >bare.tsv
    neardup eval --truth bare.tsv --truth-is classes clusters.tsv | cmp - table
}

@test "eval: intervals, by seeds, and why there are none" {
    for i in $(seq 40); do
        row "a$i" "b$i" 1 "a$i" "c$i" 0
    done >truth.tsv
    for i in $(seq 30); do
        row "a$i" "b$i" .9
        [ $((i % 5)) -ne 0 ] || row "a$i" "c$i" .9
    done >pairs.tsv
    neardup eval --truth truth.tsv --universe labelled pairs.tsv >table
    [ "$(column recall table)" = 0.7500 ]
    low=$(column recall_low table) high=$(column recall_high table)
    python3 -c 'import sys; low, high = map(float, sys.argv[1:]); assert .5 < low < .7 and .8 < high < 1' "$low" "$high"
    [ "$(column components table)" = 40 ]
    neardup eval --truth truth.tsv --universe labelled pairs.tsv -j1 | cmp - table
    neardup eval --truth truth.tsv --universe labelled --seed 2 pairs.tsv >other
    [ "$(column precision_low other)$(column recall_high other)$(column f1_low other)" != "$(column precision_low table)$(column recall_high table)$(column f1_low table)" ]
    neardup eval --truth truth.tsv --universe labelled --resamplings 0 pairs.tsv >none
    [ "$(column recall_low none)" = - ]
    head -20 truth.tsv >few.tsv
    neardup eval --truth few.tsv --universe labelled pairs.tsv >none
    [[ "$(column note none)" == "no intervals: 10 components, and 20 are needed" ]]
    for i in $(seq 60); do row big "x$i" 1; done >>truth.tsv
    neardup eval --truth truth.tsv --universe labelled pairs.tsv >none
    [[ "$(column note none)" == "no intervals: one component has half of the pairs or more" ]]
}

@test "eval: a curve, and precision for each value of a column" {
    row a b 1 a c 0 c d 1 e f 1 >truth.tsv
    printf '%s\t%s\t%s\t%s\n' a b 0 same a c 2 other c d 2 same x y 9 other >pairs.tsv
    neardup eval --truth truth.tsv --universe labelled --curve distance pairs.tsv >curve
    [ "$(column at curve | tr '\n' ' ')" = "0 2 " ]
    [ "$(column precision curve | tr '\n' ' ')$(column recall curve | tr '\n' ' ')" = "1.0000 0.6667 0.3333 0.6667 " ]
    [ "$(column average_precision curve | tail -1) $(column break_even curve | tail -1)" = "0.5556 0.6667" ]
    neardup eval --truth truth.tsv --universe labelled --curve 3:desc pairs.tsv >curve
    [ "$(column at curve | tr '\n' ' ')" = "2 0 " ]
    neardup eval --truth truth.tsv --universe labelled --by last pairs.tsv >values
    [ "$(column value values | tr '\n' ' ')$(column precision values | tr '\n' ' ')" = "same other 1.0000 0.0000 " ]
    [ "$(column unlabelled values | tr '\n' ' ')" = "0 1 " ]
    run neardup eval --truth truth.tsv --universe labelled --curve 4 pairs.tsv
    [ "$status" -eq 2 ]
    [[ $output == *"pairs.tsv:1: the column '4' has no number"* ]]
    run neardup eval --truth truth.tsv --universe labelled --by nothing pairs.tsv
    [[ $output == *"pairs.tsv: no column is called 'nothing'"* ]]
    printf '%s\t%s\n' a a b a >clusters.tsv
    run neardup eval --truth truth.tsv --universe labelled --by last clusters.tsv
    [[ $output == *"clusters.tsv: --by needs a result of pairs"* ]]
    run neardup eval --truth truth.tsv --universe labelled --by last --close pairs.tsv
    [ "$status" -eq 2 ]
}

@test "eval --lost: runs of words that only removed documents have" {
    echo '{"id":"a","text":"one two three four five"}' >docs.jsonl
    echo '{"id":"b","text":"one two three four six"}' >>docs.jsonl
    echo '{"id":"c","text":"two three four"}' >>docs.jsonl
    printf '%s\t%s\n' a x b x c x >truth.tsv
    printf '{"removed":"%s","kept":"a"}\n' b c >manifest.jsonl
    printf '%s\t%s\n' a a b b c a >clusters.tsv
    neardup eval --truth truth.tsv --documents docs.jsonl --lost manifest.jsonl clusters.tsv >table
    [ "$(column runs_removed table | tr '\n' ' ')$(column runs_lost table | tr '\n' ' ')" = "3 1 1 0 " ]
    neardup eval --truth truth.tsv --documents docs.jsonl manifest.jsonl >table
    [ "$(column runs_lost table)" = - ]
    run neardup eval --truth truth.tsv --lost manifest.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"lost runs of words are those of --documents"* ]]
}

@test "eval: empty results, and truths without a pair" {
    : >empty
    row a b 1 a c 0 >truth.tsv
    neardup eval --truth truth.tsv --universe labelled empty >table
    [ "$(column precision table) $(column recall table) $(column f1 table)" = "- 0.0000 0.0000" ]
    neardup eval --truth empty --universe all empty >table
    [ "$(column precision table) $(column recall table) $(column f1 table) $(column documents table)" = "- - - 0" ]
}

@test "eval: what is wrong is said with its file and line" {
    printf '{"id":"%s","text":"x"}\n' a b >docs.jsonl
    row a b 1 >good.tsv
    refuse() {
        local message=$1
        shift
        run neardup eval --universe all "$@"
        [ "$status" -eq 2 ]
        [[ $output == *"$message"* ]] || { echo "$output" | head -3; false; }
    }
    row a b 1 b a 0 >twice.tsv
    refuse "twice.tsv:2: the pair 'a', 'b' is labelled different, but same in line 1" --truth twice.tsv good.tsv
    row a b 1 a x .8 >pairs.tsv
    refuse "pairs.tsv:2: the id 'x' is unknown" --truth good.tsv pairs.tsv
    refuse "pairs.tsv:2: the id 'x' is unknown: no document of --documents has it" --truth pairs.tsv --documents docs.jsonl good.tsv
    row a b 1 a a .8 >self.tsv
    refuse "self.tsv:2: both ids of the pair are 'a'" --truth good.tsv self.tsv
    printf '%s\t%s\n' a 1 b 2 a 2 >sets.tsv
    refuse "sets.tsv:3: 'a' is in another set than in line 1" --truth sets.tsv good.tsv
    row a b yellow >odd.tsv
    refuse "odd.tsv:1: the third cell, 'yellow', is no number, label, kept or removed: say what the file is with --truth-is" --truth odd.tsv good.tsv
    refuse "odd.tsv:1: the third cell, 'yellow', is no number, label, kept or removed: say what the file is with --result" --truth good.tsv odd.tsv
    echo one >cell
    refuse "cell:1: one cell: ids stand with a tab or a comma between them" --truth good.tsv cell
    echo '{"x":1}' >keys
    refuse "keys:1: an object without the keys of a pair (a and b)" --truth good.tsv keys
    printf '{"a":"a","b":"b"}\n{"a":"a"}\n' >half
    refuse "half:2: the two ids of a pair are not there" --truth good.tsv half
    printf 'a\tb\t1\na\n' >short
    refuse "short:2: the two ids of a pair are not there" --truth good.tsv short
    refuse "nowhere" --truth good.tsv nowhere
    refuse "good.tsv" --truth good.tsv good.tsv -o good.tsv
    refuse "only one file can be the standard input" --truth - -
    run neardup eval good.tsv
    [ "$status" -eq 2 ]
    [[ $output == *"eval needs --truth FILE"* ]]
    cat docs.jsonl docs.jsonl >double.jsonl
    refuse "double.jsonl:3: the id 'a' again" --truth good.tsv --documents double.jsonl good.tsv
}

@test "eval: ids with tabs, backslashes and quotes are one in every form" {
    python3 - <<'PY'
import csv, json
odd = ['tab\there', 'back\\slash', 'quote"d', 'comma, too', 'byte\x01', 'caf\xe9']
with open("docs.jsonl", "w") as f:
    for i, name in enumerate(odd):
        f.write(json.dumps({"id": name, "text": "the same words in all of them, which are more than three"}) + "\n")
with open("truth.csv", "w") as f:
    csv.writer(f).writerows([["id1", "id2", "label"], *[[a, b, 1] for a in odd for b in odd if a < b]])
PY
    neardup pairs docs.jsonl -q >pairs.tsv
    neardup pairs docs.jsonl -q --json >pairs.jsonl
    neardup dedup docs.jsonl -q -o kept --manifest manifest.jsonl --clusters clusters.tsv
    neardup eval --truth truth.csv --universe all --documents docs.jsonl pairs.tsv pairs.jsonl manifest.jsonl clusters.tsv >table
    [ "$(column right table | tr '\n' ' ')" = "15 15 5 15 " ]
    [ "$(column wrong table | tr '\n' ' ')" = "0 0 0 0 " ]
}

@test "eval: --svg draws the curve: precision and recall at each value, a chart for each result" {
    row a b 1 c d 0 e f 1 >truth.tsv
    row a b 0 c d 1 e f 3 >distances.tsv
    row a b 2 e f 4 >others.tsv
    neardup eval --truth truth.tsv --universe labelled --curve distance --svg curve.svg distances.tsv others.tsv >table
    [ "$(wc -l <table)" = 6 ]
    python3 - <<'END'
import re
import xml.etree.ElementTree as xml
space = "{http://www.w3.org/2000/svg}"
root = xml.parse("curve.svg").getroot()
lines = [line.get("points").split() for line in root.iter(space + "polyline")]
assert [len(points) for points in lines] == [3, 3, 2, 2], lines
# 270 high from y = 60: precision 1, 1/2, 2/3; recall 1/2, 1/2, 1.
height = lambda points: [round(1 - (float(p.split(",")[1]) - 60) / 270, 2) for p in points]
assert height(lines[0]) == [1, 0.5, 0.67] and height(lines[1]) == [0.5, 0.5, 1], lines
assert [t.text for t in root.iter(space + "text") if t.text in ("distances.tsv", "others.tsv", "-0")] == ["distances.tsv", "others.tsv"]
END
    run neardup eval --truth truth.tsv --universe labelled --svg curve.svg distances.tsv
    [ "$status" -eq 2 ]
    [[ $output == *"--svg draws a --curve"* ]]
    run neardup eval --truth truth.tsv --universe labelled --curve distance --svg distances.tsv distances.tsv
    [ "$status" -eq 2 ]
}

@test "eval: --by what the documents are: their site, their length, a field" {
    {
        echo '{"id":"a","text":"x","url":"http://one.org/a","lang":"en"}'
        echo '{"id":"b","text":"x","url":"http://ONE.org:80/b","lang":"de"}'
        echo '{"id":"c","text":"x","url":"http://two.org/c","lang":"en"}'
        echo "{\"id\":\"d\",\"text\":\"$(seq -s ' ' 60)\",\"lang\":\"en\"}"
        echo "{\"id\":\"e\",\"text\":\"$(seq -s ' ' 130)\",\"url\":\"http://two.org/e\",\"lang\":\"en\"}"
    } >docs.jsonl
    row a b 1 a c 0 c e 1 d e 0 >truth.tsv
    row a b 1 a c 1 c e 1 d e 1 >pairs.tsv
    by() { neardup eval --truth truth.tsv --universe labelled --documents docs.jsonl pairs.tsv --by "$1" | sed 1d | cut -f 2-5; }
    [ "$(by site:url)" = "$(printf '%s\t%s\t%s\t%s\n' same 2 2 0 other 1 0 1 unknown 1 0 1)" ]
    [ "$(by prefix:url)" = "$(printf '%s\t%s\t%s\t%s\n' same 3 2 1 unknown 1 0 1)" ]
    [ "$(by field:lang)" = "$(printf '%s\t%s\t%s\t%s\n' other 1 1 0 en 3 1 2)" ]
    [ "$(by length)" = "$(printf '%s\t%s\t%s\t%s\n' 0-49 3 2 1 50-99 1 0 1)" ]
    # Pairs of the truth are divided, too: what is missed has a value, and values that only they have a row.
    row a b 1 a c 0 c e 1 d e 1 b d 1 >truth.tsv
    row a b 1 b c 1 >pairs.tsv
    recalls() { neardup eval --truth "$1" --universe all --documents docs.jsonl pairs.tsv --by "$2" >values && paste <(column value values) <(column missed values) <(column precision values) <(column recall values) <(column f1 values); }
    [ "$(recalls truth.tsv site:url)" = "$(printf '%s\t%s\t%s\t%s\t%s\n' same 1 1.0000 0.5000 0.6667 other 0 0.0000 - 0.0000 unknown 2 - 0.0000 0.0000)" ]
    [ "$(recalls truth.tsv length)" = "$(printf '%s\t%s\t%s\t%s\t%s\n' 0-49 2 0.5000 0.3333 0.4000 50-99 1 - 0.0000 0.0000)" ]
    # Sets say the same as the pairs within them: a, b, c, d and e in one are ten pairs.
    printf '%s\t%s\n' a x b x c x d x e x >clusters.tsv
    [ "$(recalls clusters.tsv field:lang)" = "$(printf '%s\t%s\t%s\t%s\t%s\n' other 2 1.0000 0.5000 0.6667 en 6 - 0.0000 0.0000)" ]
    [ "$(recalls clusters.tsv length)" = "$(printf '%s\t%s\t%s\t%s\t%s\n' 0-49 7 1.0000 0.2222 0.3636 50-99 1 - 0.0000 0.0000)" ]
    neardup eval --truth truth.tsv --universe all --by 3 pairs.tsv >values
    [ "$(column missed values) $(column recall values)" = "- -" ]
    run neardup eval --truth truth.tsv --universe labelled pairs.tsv --by site:url
    [ "$status" -eq 2 ]
    [[ $output == *"--by site:url is of documents: name them with --documents"* ]]
}

@test "eval --universe sample: figures estimated from complete clusters of a sample" {
    # The examples of er-evaluation 2 (its documentation of the estimators), with the weights of each.
    printf '%s\t%s\n' 1 1 2 1 3 2 4 3 5 2 6 4 7 4 8 4 >result.tsv
    printf '%s\t%s\n' 1 c1 2 c1 3 c1 4 c2 5 c2 8 c4 >truth.tsv
    estimates() { neardup eval --universe sample --truth truth.tsv result.tsv "$@" | tee table; }
    estimates >out
    [ "$(column precision table) $(column recall table)" = "0.3889 0.2969" ]
    [ "$(column clusters_drawn table) $(column documents table)" = "3 8" ]
    [[ "$(column note table)" == "no intervals: fewer than 20"* ]]
    estimates --weights size >out
    [ "$(column precision table) $(column bcubed_recall table)" = "0.1497 0.8369" ]
    printf '%s\t%s\n' 1 c1 2 c1 3 c1 4 c2 5 c2 >truth.tsv
    estimates >out
    [ "$(column f1 table) $(column bcubed_precision table) $(column bcubed_recall table)" = "0.4167 0.7917 0.5278" ]
    printf '%s\t%s\n' 1 c1 2 c1 3 c1 4 c2 5 c2 6 c3 7 c3 8 c3 >truth.tsv
    estimates >out
    [ "$(column exact_precision table) $(column exact_recall table)" = "0.2617 0.3333" ]
    run neardup eval --universe sample --truth truth.tsv result.tsv --lost --documents result.tsv
    [[ $output == *"cannot be estimated from a sample"* ]]
    row a b 1 >pairs.tsv
    run neardup eval --universe sample --truth pairs.tsv result.tsv
    [[ $output == *"--universe sample needs a truth of clusters"* ]]
    run neardup eval --universe sample --truth truth.tsv pairs.tsv
    [[ $output == *"needs clusters or a manifest, or --close"* ]]
}
