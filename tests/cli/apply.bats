#!/usr/bin/env bats
# apply.bats - the survivors of what another run decided

load common

# three.jsonl: 1 and 2 are equal, 3 is another document; `m` and `c` say what dedup decided.
decided() {
    local x="bees live in hives and every hive has one queen whom the workers feed from spring to autumn"
    printf '{"id":%s,"text":"%s"}\n' 1 "$x" 2 "$x" >three.jsonl
    echo '{"id":3,"text":"the tide comes in twice a day and whoever walks to the island must be back before it rises"}' >>three.jsonl
    neardup dedup -q three.jsonl -o kept --manifest m --clusters c
}

@test "apply writes what dedup wrote: every format, every way of deciding, by manifest and by clusters" {
    python3 "$BATS_TEST_DIRNAME/apply_model.py" "$NEARDUP"
}

@test "apply reads pipes, and what it counts is true" {
    decided
    neardup apply -q m -f jsonl <three.jsonl >out
    cmp out kept
    neardup apply -q - three.jsonl -o out <c
    cmp out kept
    gzip -k m
    run neardup apply m.gz three.jsonl -o out
    [ "$status" -eq 0 ]
    cmp out kept
    [[ $output == *"kept "*"2 "*"removed "*"1 "* ]]
    [[ $output != *"candidate"* ]]
    { cat three.jsonl; echo broken; } >bad.jsonl
    run neardup apply -q c bad.jsonl -o out
    [ "$status" -eq 3 ]
    cmp out kept
    neardup apply -q c bad.jsonl --max-bad 0.3 -o out 2>/dev/null
    rm out
    for option in --strict "--max-bad 0"; do
        # shellcheck disable=SC2086
        run neardup apply -q c bad.jsonl $option -o out
        [ "$status" -eq 2 ]
    done
    [ ! -e out ]
    neardup apply -n -q m three.jsonl -o out
    [ ! -e out ]
    neardup apply -q m three.jsonl --removed gone -o three.jsonl
    cmp three.jsonl kept
    [ "$(ids gone)" = 2 ]
}

@test "a manifest of another tool needs the ids of what it removes" {
    decided
    printf '{"removed": 2}\n{"removed": "3", "why": "a reason"}\n' >other
    neardup apply -q other three.jsonl -o out
    [ "$(ids out)" = 1 ]
    printf 'id,text\n2,two words\n4,more words\n3,words\n' >t.csv
    neardup apply -q other t.csv -o out
    [ "$(cat out)" = $'id,text\n4,more words' ]
    : >none
    run neardup apply -q none three.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"three.jsonl:1: the document '1' has no line in none"* ]]
}

@test "apply refuses what was not decided about these documents" {
    decided
    head -1 three.jsonl >one.jsonl
    for decisions in m c; do
        run neardup apply -q $decisions one.jsonl -o out
        [ "$status" -eq 2 ]
        [[ $output == *"$decisions:2: names no document of the inputs"*"--partial"* ]]
        neardup apply -q --partial $decisions one.jsonl -o out
        cmp out one.jsonl
        rm out
    done
    tac three.jsonl >turned.jsonl
    mv turned.jsonl three.jsonl
    neardup apply -q c three.jsonl -o out
    [ "$(ids out)" = "3 1" ]
    sed 's/"id":3/"id":1/' three.jsonl >twice.jsonl
    run neardup apply -q c twice.jsonl -o out
    [ "$status" -eq 2 ]
    [[ $output == *"twice.jsonl:3: the document '1' is one more of this id than are named in c:1"* ]]
    tac three.jsonl | sed 's/"id":2/"id":7/' >changed.jsonl
    mv changed.jsonl three.jsonl
    run neardup apply -q m three.jsonl -o out
    [ "$status" -eq 2 ]
    [[ $output == *"three.jsonl:2: the document '7' is at a place where another was removed, by m:2"* ]]
    for wrong in three.jsonl one.jsonl; do
        run neardup apply -q $wrong three.jsonl -o out
        [ "$status" -eq 2 ]
        [[ $output == *"$wrong:1: not a row of a manifest"* ]]
    done
    printf 'a text\n' >text
    run neardup apply -q text three.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"text: neither a manifest nor a file of clusters"* ]]
    printf '1\t1\tgone\n' >bad
    run neardup apply -q bad three.jsonl
    [ "$status" -eq 2 ]
    printf '1\t1\n2\n' >bad
    run neardup apply -q bad three.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"bad:2: not an id, a tab and an id"* ]]
    printf '{"removed":2}\n{"removed":\n' >bad
    run neardup apply -q bad three.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"bad:2: not a manifest"* ]]
    for words in "" "none.tsv three.jsonl" "- -" "m none.jsonl"; do
        # shellcheck disable=SC2086
        run neardup apply -q $words
        [ "$status" -eq 2 ]
    done
}

@test "documents of one id: their places tell them apart, clusters cannot" {
    decided
    sed 's/"id":2/"id":1/' three.jsonl >same.jsonl
    neardup dedup -q same.jsonl -o kept --manifest m --clusters c
    neardup apply -q m same.jsonl -o out
    cmp out kept
    run neardup apply -q c same.jsonl -o out
    [ "$status" -eq 2 ]
    [[ $output == *"c:2: the same id as in line 1"*"apply the manifest"* ]]
    # Elsewhere only the id is known, of which there are too many, or of which one is not there.
    run neardup apply -q m - -f jsonl <same.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"-:2: the document '1' is one more of this id than are named in m:2"* ]]
    run neardup apply -q --partial m - -f jsonl <same.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"m:2: the removed and the kept document have the same id"* ]]
    # A file that is read twice has each place twice.
    neardup dedup -q three.jsonl three.jsonl -o kept --manifest m
    run neardup apply -q m three.jsonl three.jsonl -o out
    [ "$status" -eq 2 ]
    # Both went, so both go.
    printf '1\t3\n1\t3\n3\t3\n' >c
    neardup apply -q c same.jsonl -o out
    [ "$(ids out)" = 3 ]
}

@test "clusters have a third field where two names do not say what was removed" {
    decided
    [ "$(cat c)" = $'1\t1\n2\t1\n3\t3' ]
    neardup dedup -q three.jsonl --keep none --clusters c -o kept
    [ "$(cat c)" = $'1\t1\tremoved\n2\t1\tremoved\n3\t3\tkept' ]
    neardup apply -q c three.jsonl -o out
    cmp out kept
    head -1 three.jsonl >old.jsonl
    neardup sketch -q old.jsonl -o old.sketch
    neardup dedup -q --against old.sketch three.jsonl --clusters c -o kept
    [ "$(cat c)" = $'1\t1\tremoved\n2\t1\tremoved\n3\t3\tkept' ]
    neardup apply -q c three.jsonl -o out
    cmp out kept
    [ "$(ids out)" = 3 ]
    neardup template -q three.jsonl --clusters c --cluster 2 | grep -q 'of 2 documents'
}

@test "apply counts copies by a manifest and places alone, and replaces no input by them" {
    decided
    neardup apply -q m three.jsonl -o out --copies-field n
    [ "$(jq -c '[.id,.n]' out | tr '\n' ' ')" = "[1,2] [3,1] " ]
    cp three.jsonl moved.jsonl
    : >other
    neardup sketch -q kept -o old.sketch
    neardup dedup -q three.jsonl -o kept2 --against old.sketch --manifest m2
    for words in "c three.jsonl" "m moved.jsonl" "other three.jsonl" "m2 three.jsonl"; do
        # shellcheck disable=SC2086
        run neardup apply -q $words -o out2 --copies-field n
        [ "$status" -eq 2 ]
        [[ $output == *"copies-field: only a manifest, of a run without --against"* ]]
    done
    run neardup apply -q m three.jsonl -o three.jsonl --removed gone --copies-field n
    [ "$status" -eq 2 ]
    run neardup apply -q m three.jsonl -o out2 --copies-field text
    [ "$status" -eq 2 ]
    [ ! -e out2 ]
}
