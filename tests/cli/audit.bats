#!/usr/bin/env bats
# audit.bats - audit: what another tool removed, held against what it kept

bats_require_minimum_version 1.5.0
load common

@test "audit: all figures are as a model computes them, from every form of file" {
    python3 "$BATS_TEST_DIRNAME/audit_model.py" "$NEARDUP" 6
}

small() {
    cat >in.jsonl <<'END'
{"id":"a","text":"one two three four five six seven eight nine ten"}
{"id":"b","text":"one two three four five six seven eight nine ten eleven"}
{"id":"c","text":"<i>nothing</i> of this stands anywhere else in the corpus at all"}
{"id":"d","text":"one two three four five six seven eight nine ten twelve"}
END
}

@test "audit: the page shows the removed documents that are least like any kept one" {
    small
    printf '%s\n' b c >removed
    run neardup audit -q in.jsonl --removed removed --report page.html
    [ "$(cut -f 3-5 <<<"${lines[1]}")" = $'2\t2\t0.5' ]
    [ "$(grep -o 'no kept document shares a run\|resemblance [0-9.]*' page.html | tr '\n' ,)" = "no kept document shares a run,resemblance 0.8889," ]
    grep -qF '&lt;i&gt;nothing&lt;/i&gt;' page.html
    run -1 grep '<i>' page.html
    grep -qF 'ten <ins>eleven</ins>' page.html
}

@test "audit: what it refuses" {
    small
    printf '%s\n' b unknown >removed
    run -2 neardup audit -q in.jsonl --removed removed
    [[ $output == *"removed: 1 of its 2 documents are not in the corpus"* ]]
    run -2 neardup audit -q in.jsonl
    [[ $output == *"audit needs --removed FILE"* ]]
    : >empty
    run -2 neardup audit -q in.jsonl --removed empty
    echo '{"other":1}' >other
    run -2 neardup audit -q in.jsonl --removed other
    printf 'abc' >00.remove
    run -2 neardup audit -q in.jsonl --removed 00.remove
    [[ $output == *"it ends within a number of 4 bytes"* ]]
    printf '\1\0\0\0' >00.remove
    run -2 neardup audit -q in.jsonl in.jsonl --removed 00.remove
    [[ $output == *"it numbers the records of one file, and there are several inputs"* ]]
    echo b >removed
    run -2 neardup audit -q - --removed removed <in.jsonl
    [[ $output == *"audit reads the documents several times"* ]]
    cp in.jsonl same
    run -2 neardup audit -q in.jsonl --removed removed --report in.jsonl
    run -2 neardup audit -q in.jsonl --removed removed -o removed
    cmp in.jsonl same
    [ "$(cat removed)" = b ]
}
