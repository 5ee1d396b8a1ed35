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
    [ "$(cut -f 3-7 <<<"${lines[1]}")" = $'2\t1\t1\t0\t0.5' ]
    [ "$(grep -o 'no kept document shares a run\|resemblance [0-9.]*' page.html | tr '\n' ,)" = "no kept document shares a run," ]
    grep -qF '&lt;i&gt;nothing&lt;/i&gt;' page.html
    run -1 grep '<i>' page.html
    run neardup audit -q in.jsonl --removed removed --threshold 1 --report page.html
    [ "$(grep -o 'no kept document shares a run\|resemblance [0-9.]*' page.html | tr '\n' ,)" = "no kept document shares a run,resemblance 0.8889," ]
    grep -qF 'ten <ins>eleven</ins>' page.html
    run -1 grep 'id="clusters"' page.html
}

@test "audit: clusters of which all removed documents are far from the kept one are false" {
    small
    printf '%s\n' b c d >removed
    printf 'a\tone\nb\tone\nc\ttwo\nd\ttwo\n' >clusters
    run neardup audit -q in.jsonl --removed removed --clusters clusters --report page.html
    # Cluster two keeps nothing.
    [ "$(cut -f 3-4,10-13 <<<"${lines[1]}")" = $'3\t1\t1\t0\t0\t0' ]
    grep -qF 'All removed documents are like the kept one of their cluster' page.html
    printf 'b\ta\nc\ta\nd\ta\n' >clusters
    run neardup audit -q in.jsonl --removed removed --clusters clusters --report page.html
    [ "$(cut -f 3-4,10-13 <<<"${lines[1]}")" = $'3\t1\t3\t1\t0\t0' ]
    grep -qF '1 of 3 removed documents are far from the kept one' page.html
    grep -qF 'the farthest: resemblance 0.0000' page.html
    printf 'c\ta\n' >clusters
    run neardup audit -q in.jsonl --removed removed --clusters clusters
    [ "$(cut -f 3-4,10-13 <<<"${lines[1]}")" = $'3\t1\t1\t1\t1\t1' ]
}

@test "audit: rows of removed documents without a match, and of false clusters" {
    small
    printf 'b\tthe first\nc\tthe first\na\tthe first\n' >clusters
    printf '%s\n' b c >removed
    neardup audit -q in.jsonl --removed removed --clusters clusters --threshold 1 --unmatched rows --false-clusters far -o /dev/null
    printf 'removed\tnearest\tresemblance\tcluster_kept\tcluster_resemblance\tsearched\nb\ta\t0.8888888888888888\ta\t0.8888888888888888\tyes\nc\t\t\ta\t0\tyes\n' >expected
    cmp expected rows
    printf 'kept\tremoved\tfar\tfarthest\tresemblance\na\t2\t2\tc\t0\n' >expected
    cmp expected far
    neardup audit -q in.jsonl --removed removed --json --unmatched rows --false-clusters far -o /dev/null
    [ "$(cat rows)" = '{"removed":"c","nearest":null,"resemblance":null,"cluster_kept":null,"cluster_resemblance":null,"searched":"yes"}' ]
    [ ! -s far ]
}

@test "audit: documents that cannot be read again are kept elsewhere meanwhile" {
    small
    printf 'b\ta\nc\ta\nd\ta\n' >clusters
    neardup audit -q in.jsonl --removed clusters --report page.html --unmatched rows -o expected
    gzip -k in.jsonl
    for input in - in.jsonl.gz; do
        neardup audit -q "$input" --removed clusters --report page2.html --unmatched rows2 -o got <in.jsonl
        cmp expected got
        cmp page.html page2.html
        cmp rows rows2
    done
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
    [[ $output == *"it ends within a row of 4 bytes"* ]]
    printf '\1\0\0\0\1\0\0\0' >00.remove
    run -2 neardup audit -q in.jsonl --removed 00.remove
    [[ $output == *"its numbers of documents do not ascend"* ]]
    printf '\1\0\0\0' >00.remove
    printf 'b\ta\n' >clusters
    run -2 neardup audit -q in.jsonl --removed 00.remove --clusters clusters
    [[ $output == *"clusters: it ends within a row of 8 bytes"* ]]
    printf '\5\0\0\0' >00.remove
    run -2 neardup audit -q in.jsonl in.jsonl --removed 00.remove
    [[ $output == *"it numbers the records of one file, and there are several inputs"* ]]
    echo b >removed
    cp in.jsonl same
    run -2 neardup audit -q in.jsonl --removed removed --report in.jsonl
    run -2 neardup audit -q in.jsonl --removed removed -o removed
    run -2 neardup audit -q in.jsonl --removed removed --clusters clusters -o clusters
    run -2 neardup audit -q in.jsonl --removed removed --clusters removed
    [[ $output == *"removed:1: not an id, a tab and an id"* ]]
    cmp in.jsonl same
    [ "$(cat removed)" = b ]
}
