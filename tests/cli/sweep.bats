#!/usr/bin/env bats
# sweep.bats - neardup sweep: a row for each setting, which is that of the commands by themselves

load common
bats_require_minimum_version 1.5.0

# 300 documents of 40 words, each followed by a copy in which some words are replaced, and the truth.
corpus() {
    python3 - <<'END'
import json, random
rng = random.Random(7)
words = ["w%d" % i for i in range(400)]
with open("docs.jsonl", "w") as docs, open("truth.tsv", "w") as truth:
    for i in range(150):
        text = [rng.choice(words) for _ in range(40)]
        if i % 9 == 0:
            text = text[:2]
        copy = list(text)
        for at in rng.sample(range(len(copy)), rng.randrange(9) % len(copy)):
            copy[at] = rng.choice(words)
        for id, words_of in (("a", text), ("b", copy)):
            print(json.dumps({"id": id + str(i), "text": " ".join(words_of), "day": str(i % 3)}), file=docs)
        print("a%d\tb%d\t%d" % (i, i, i % 10 != 0), file=truth)
END
}

# The row of a setting by the commands of which it consists, without the name of the result.
row_of() { # pairs|dedup OPTION...
    if [ "$1" = pairs ]; then
        neardup pairs -q "${@:2}" docs.jsonl >result || [ $? -eq 1 ]
    else
        neardup dedup -q "${@:2}" docs.jsonl -o /dev/null --manifest result
    fi
    neardup eval --truth truth.tsv --universe labelled --documents docs.jsonl result | sed 1d | cut -f 2-
}

# Rows of a sweep without the first N columns.
rows() { # N OPTION...
    neardup sweep --truth truth.tsv --universe labelled docs.jsonl "${@:2}" | sed 1d | cut -f "$(($1 + 1))-"
}

@test "sweep: a row is that of pairs and eval, of dedup and eval" {
    corpus
    for command in pairs dedup; do
        flag=$([ $command = dedup ] && echo --removals || true)
        for t in 0.3 0.5 0.8; do for w in 2 3; do row_of $command -t $t -w $w; done; done >expected
        # shellcheck disable=SC2086
        rows 3 --set threshold=0.3,0.5,0.8 --set shingle=2,3 $flag >got
        cmp expected got
        for v in jaccard containment none; do row_of $command -t 0.4 --verify $v --short tokens; done >expected
        # shellcheck disable=SC2086
        rows 2 -t 0.4 --set verify=jaccard,containment,none --short tokens $flag >got
        cmp expected got
        row_of $command --recipe broder-1997 >expected
        row_of $command --recipe winnowing-2003 >>expected
        # shellcheck disable=SC2086
        rows 2 --set recipe=broder-1997,winnowing-2003 $flag >got
        cmp expected got
    done
}

@test "sweep: rules with braces, df tables and documents that are compared within a field" {
    corpus
    neardup df build -q --recipe seshasai-2009 docs.jsonl -o words.df
    for low in 0 0.1; do for k in 0 8; do
        row_of pairs --recipe seshasai-2009 --df words.df --set simhash.low=$low --set "match=distance(simhash) <= $k"
    done; done >expected
    rows 3 --recipe seshasai-2009 --df words.df --set simhash.low=0,0.1 --set 'match=distance(simhash) <= {0,8}' >got
    cmp expected got
    neardup df build -q --recipe seshasai-2009 docs.jsonl docs.jsonl -o other.df
    for df in words.df other.df; do row_of pairs --recipe seshasai-2009 --df $df; done >expected
    rows 2 --recipe seshasai-2009 --set simhash.df=words.df,other.df >got
    cmp expected got
    for t in 0.2 0.4; do row_of pairs -t $t --within day; done >expected
    rows 2 --set threshold=0.2,0.4 --within day >got
    cmp expected got
    # Only the recipes that need one get the table.
    for r in default seshasai-2009; do
        df=$([ $r = seshasai-2009 ] && echo --df words.df || true)
        # shellcheck disable=SC2086
        row_of pairs --recipe $r $df
    done >expected
    rows 2 --set recipe=default,seshasai-2009 --df words.df >got
    cmp expected got
}

@test "sweep: the best settings are those that no other one beats" {
    corpus
    neardup sweep --truth truth.tsv --universe labelled docs.jsonl --set threshold=0.1,0.2,0.3,0.5,0.7,0.9 --set shingle=1,3 --json --svg all.svg >rows
    python3 - <<'END'
import json
import xml.etree.ElementTree
rows = [json.loads(line) for line in open("rows")]
assert len(rows) == 12 and any(r["best"] for r in rows) and not all(r["best"] for r in rows), rows
for a in rows:
    beaten = any(b["precision"] >= a["precision"] and b["recall"] >= a["recall"] and (b["precision"], b["recall"]) != (a["precision"], a["recall"]) for b in rows)
    assert a["best"] == (not beaten), a
assert [(r["threshold"], r["shingle"]) for r in rows[:3]] == [("0.1", "1"), ("0.1", "3"), ("0.2", "1")]
svg = xml.etree.ElementTree.parse("all.svg").getroot()
tags = [e.tag.rpartition("}")[2] for e in svg.iter()]
assert tags.count("circle") == 12 and tags.count("polyline") == 1, tags
assert any("threshold=0.9 shingle=3" == e.text for e in svg.iter())
END
    # Times only on request.
    run ! grep -q seconds rows
    neardup sweep --truth truth.tsv --universe labelled docs.jsonl --set threshold=0.3,0.5 --time --json | grep -q '"seconds":.*"sketch_seconds":'
}

@test "sweep: truths of clusters and of classes; the threads change nothing" {
    corpus
    sed 's/\t[ab]\([0-9]*\)\t.*/\tc\1/' truth.tsv >sets.tsv
    sed 's/^a/b/' sets.tsv >>sets.tsv
    neardup sweep --truth sets.tsv docs.jsonl --set threshold=0.3,0.5 -j 1 >one
    neardup sweep --truth sets.tsv docs.jsonl --set threshold=0.3,0.5 -j 2 >two
    cmp one two
    [ "$(cut -f 1,4 one | tr '\t\n' ' ,')" = "threshold documents,0.3 300,0.5 300," ]
    sed 's/\tc.*/\tham/' sets.tsv | sed '1s/ham/spam/' >classes.tsv
    neardup sweep --truth classes.tsv --truth-is classes docs.jsonl --set threshold=0.3,0.5 --close >rows
    [ "$(head -1 rows | cut -f 1-6)" = "$(printf 'threshold\tbest\tform\tdocuments\tlisted\tmixed')" ]
    [ "$(sed -n 2p rows | cut -f 2)" = - ]
}

@test "sweep: what cannot be tried is refused before anything is read, and names the setting" {
    corpus
    # shellcheck disable=SC2089,SC2090 # the quotes are of the message
    for try in "--set threshold=0.5,2|threshold=2: " "--set treshold=1,2|treshold=1: " "--set threshold|'threshold' does not have the form" \
        "--set recipe=manku-2008,default|recipe=manku-2008: " "--set threshold=1,1|threshold has the value '1' twice" \
        "--set threshold=0.5 --df none.df|none.df: no recipe needs a df table"; do
        # shellcheck disable=SC2086,SC2090
        run neardup sweep --truth truth.tsv --universe labelled docs.jsonl ${try%%|*}
        [ "$status" -eq 2 ]
        [[ $output == *"${try#*|}"* ]]
    done
    run neardup sweep --set threshold=0.5,0.6 docs.jsonl
    [[ $output == *"sweep needs --truth FILE"* ]]
    run neardup sweep --truth truth.tsv docs.jsonl
    [[ $output == *"sweep needs --set"* ]]
    run neardup sweep --truth truth.tsv --universe labelled --set threshold=0.5,0.6 -
    [ "$status" -eq 2 ]
    [[ $output == *"cannot be the standard input"* ]]
    echo 'a1	unknown	1' >>truth.tsv
    run neardup sweep --truth truth.tsv --universe labelled --set threshold=0.5,0.6 docs.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"truth.tsv:151: "* ]]
}

@test "sweep: nothing stays in tmp, and the documents are sketched once" {
    corpus
    mkdir tmp
    neardup sweep --truth truth.tsv --universe labelled docs.jsonl --set threshold=0.3,0.5 --tmp tmp >rows
    [ -z "$(ls -A tmp)" ]
    run neardup sweep --truth truth.tsv --universe labelled docs.jsonl --set threshold=0.3,0.5 --tmp none
    [ "$status" -eq 2 ]
    [[ $output == *"none: cannot create a file"* ]]
    command -v strace || skip "no strace"
    # Read for their ids, and to be sketched.
    strace -f -e trace=openat -o trace "$NEARDUP" sweep --truth truth.tsv --universe labelled docs.jsonl --set threshold=0.3,0.4,0.5,0.6 >rows
    [ "$(grep -c '"docs.jsonl"' trace)" -le 4 ]
}
