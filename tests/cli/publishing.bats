#!/usr/bin/env bats
# publishing.bats - the rules of docs/format/outputs.md, for every command and every output

load common

# The commands read these: d/ holds documents for all of them; `fp` fingerprints; two df tables.
inputs() {
    mkdir -p d
    small_corpus
    sed 's/"id"/"url":"http:\/\/a.org\/x","id"/' small.jsonl >d/docs.jsonl
    cp d/docs.jsonl proto.jsonl
    rm small.jsonl
    mkdir pages
    echo '<a href=b.html>to b, which is another page</a>' >pages/a.html
    echo '<a href=a.html>to a, which is the first page</a>' >pages/b.html
    printf 'ff\n01\nfe\n' >fp
    neardup df build d/docs.jsonl -q -o one.df
    cp one.df two.df
    echo d/docs.jsonl >list
    echo fp >fps
    echo two.df >dfs
    neardup index build fp -o index.ndx
    neardup dedup d/docs.jsonl -q -o /dev/null --clusters clusters.tsv --manifest manifest
    neardup plan d/docs.jsonl -q -o plan.json >/dev/null
    for page in a b; do
        printf 'WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: http://%s.org/\r\n' $page
        printf 'Content-Type: text/plain\r\nContent-Length: 22\r\n\r\nthe same in two places\r\n\r\n'
    done >pages.warc
    printf "a\tb\t1\n" >pairs.tsv
    jq -r .text d/docs.jsonl | head -1 >one.txt
}

# Every output of every command, one a line: "reads | command", with OUT for the output.
outputs() {
    cat <<'END'
d/docs.jsonl | dedup d/docs.jsonl -q -o /dev/null --manifest OUT
d/docs.jsonl | dedup d/docs.jsonl -q -o /dev/null --clusters OUT
d/docs.jsonl | dedup d/docs.jsonl -q -o /dev/null --summary OUT
d/docs.jsonl | dedup d/docs.jsonl -q -o /dev/null --removed OUT
pages.warc | dedup pages.warc -q -o /dev/null --revisit OUT
d/docs.jsonl | dedup d/docs.jsonl -q -n --summary OUT
d/docs.jsonl | dedup d/docs.jsonl -q --annotate -o OUT
d/docs.jsonl | dedup d -q --annotate --cluster components -o OUT
d/docs.jsonl | dedup d/docs.jsonl -q --copies-field copies -o OUT
d/docs.jsonl | dedup d -q -o /dev/null --manifest OUT
d/docs.jsonl | dedup d -q -o /dev/null --removed OUT --keep longest
d/docs.jsonl | dedup d/docs.jsonl proto.jsonl -q -o OUT
proto.jsonl | dedup d/docs.jsonl proto.jsonl -q -o OUT
one.df | dedup d/docs.jsonl -q --recipe seshasai-2009 --df one.df -o OUT
my.ini | dedup d/docs.jsonl -q --recipe my.ini -o OUT
my.ini | dedup d/docs.jsonl -q --recipe my.ini -o /dev/null --manifest OUT
list | dedup --files-from list -q -o OUT
d/docs.jsonl | dedup --files-from list -q -o /dev/null --manifest OUT
list | df build --files-from list -q -o OUT
dfs | df merge one.df --files-from dfs -o OUT
fps | index build --files-from fps -o OUT
fps | index stats --files-from fps --svg OUT
fps | join fp --files-from fps -o OUT
fp | join fp --files-from fps -o OUT
d/docs.jsonl | pairs d/docs.jsonl -q -o OUT
d/docs.jsonl | pairs d -q -o OUT
d/docs.jsonl | pairs d/docs.jsonl -q --json --near-misses 0.5 -o OUT
d/docs.jsonl | pairs d/docs.jsonl -q -o /dev/null --summary OUT
d/docs.jsonl | plan d/docs.jsonl -q -o OUT
d/docs.jsonl | plan d -q --json -o OUT
my.ini | plan d -q --recipe my.ini -o OUT
plan.json | dedup d/docs.jsonl -q --predicted plan.json -o OUT
d/docs.jsonl | sketch d/docs.jsonl -q -o OUT
d/docs.jsonl | sketch d -q -o OUT
my.ini | sketch d -q --recipe my.ini -o OUT
d/docs.jsonl | track d/docs.jsonl -q -o OUT
d/docs.jsonl | track d -q --json -o OUT
d/docs.jsonl | collapse d/docs.jsonl -q --expand rank -o OUT
d/docs.jsonl | collapse d/docs.jsonl proto.jsonl -q -o OUT
d/docs.jsonl | mirrors d/docs.jsonl -q -o OUT
d/docs.jsonl | mirrors d -q -o OUT
d/docs.jsonl | template d/docs.jsonl -q -o OUT
d/docs.jsonl | template d -q -o OUT
clusters.tsv | eval --truth clusters.tsv manifest -q -o OUT
manifest | eval --truth clusters.tsv manifest -q -o OUT
pairs.tsv | eval --truth pairs.tsv --universe labelled pairs.tsv -q --curve 3 -o /dev/null --svg OUT
d/docs.jsonl | perturb d/docs.jsonl -q --delete 1 -o OUT
manifest | audit d/docs.jsonl -q --removed manifest -o OUT
clusters.tsv | audit d/docs.jsonl -q --removed manifest --clusters clusters.tsv -o OUT
d/docs.jsonl | audit d -q --removed manifest -o /dev/null --report OUT
manifest | audit d -q --removed manifest -o /dev/null --unmatched OUT
d/docs.jsonl | audit d -q --removed manifest -o /dev/null --false-clusters OUT
d/docs.jsonl | perturb d -q --insert 1 -o OUT
d/docs.jsonl | repeats d/docs.jsonl -q -o OUT
d/docs.jsonl | sources one.txt d/docs.jsonl -q -o OUT
one.txt | sources one.txt d -q -o OUT
one.txt | sources --texts one.txt d -q -o OUT
d/docs.jsonl | repeats d/docs.jsonl -q -o /dev/null --manifest OUT
manifest | clusters clusters.tsv manifest -q -o OUT
manifest | sample manifest -q -o OUT
manifest | sample manifest -q --documents d/docs.jsonl -o /dev/null --html OUT
d/docs.jsonl | sample manifest -q --documents d/docs.jsonl -o /dev/null --html OUT
d/docs.jsonl | sample manifest -q --documents d -o /dev/null --html OUT
d/docs.jsonl | sample manifest -q --documents d/docs.jsonl -o OUT --recall
clusters.tsv | sweep --truth clusters.tsv --set threshold=0.5,0.8 d -q -o OUT
d/docs.jsonl | sweep --truth clusters.tsv --set threshold=0.5,0.8 d/docs.jsonl -q -o OUT
d/docs.jsonl | sweep --truth clusters.tsv --set threshold=0.5,0.8 d -q --svg OUT
d/docs.jsonl | apply clusters.tsv d/docs.jsonl -q -o OUT
d/docs.jsonl | apply manifest d/docs.jsonl -q -o /dev/null --removed OUT
clusters.tsv | apply clusters.tsv d -q -o OUT
manifest | apply manifest d -q -o OUT
manifest | report manifest d -q -o OUT
d/docs.jsonl | report manifest d -q -o OUT
clusters.tsv | template d -q --clusters clusters.tsv --cluster a -o OUT
pages/a.html | anchors pages -q -o OUT
pages/a.html | anchors pages/a.html pages/b.html -q -o OUT
d/docs.jsonl | filter -p proto.jsonl d/docs.jsonl -q --annotate -o OUT
d/docs.jsonl | filter -p proto.jsonl d/docs.jsonl -q -c -o OUT
d/docs.jsonl | filter -p proto.jsonl d/docs.jsonl -q --manifest OUT -o /dev/null
d/docs.jsonl | filter -p proto.jsonl d/docs.jsonl -q --summary OUT -o /dev/null
proto.jsonl | filter -p proto.jsonl d/docs.jsonl -q -o OUT
proto.jsonl | filter -p proto.jsonl d/docs.jsonl -q -v -o OUT
d/docs.jsonl | df build d/docs.jsonl -q -o OUT
d/docs.jsonl | df build d -q -o OUT
one.df | df merge one.df two.df -o OUT
fp | index build fp -o OUT
fp | index pairs fp -o OUT
fp | index query index.ndx fp -o OUT
index.ndx | index query index.ndx fp -o OUT
fp | index stats fp -o OUT
fp | index stats fp --svg OUT
fp | join fp fp -o OUT
d/docs.jsonl | explain --corpus d a --svg OUT
one.df | explain --corpus d/docs.jsonl a --recipe seshasai-2009 --df one.df --svg OUT
my.ini | explain pages/a.html --recipe my.ini --svg OUT
pages/a.html | explain pages/a.html --svg OUT
d/docs.jsonl | explain --histogram d --svg OUT
END
}

# A df table of the input appears where nothing stands, and is never written over (df_auto.bats).
new_outputs() {
    cat <<'END'
d/docs.jsonl | dedup d/docs.jsonl -q -o /dev/null --recipe seshasai-2009 --df auto=OUT
d/docs.jsonl | pairs d -q -o /dev/null --recipe seshasai-2009 --df auto=OUT
proto.jsonl | filter -p proto.jsonl d/docs.jsonl -q -o /dev/null --recipe seshasai-2009 --df auto=OUT
d/docs.jsonl | explain a b --corpus d/docs.jsonl --recipe seshasai-2009 --df auto=OUT
END
}

# Run a case with another name for OUT.
run_case() { # COMMAND NAME
    # shellcheck disable=SC2086
    run "$NEARDUP" ${1//OUT/$2}
}

# The case must be refused, and nothing be different.
refused() { # COMMAND NAME
    find . -type f ! -name before -exec md5sum {} + | sort >before
    run_case "$1" "$2"
    find . -type f ! -name before -exec md5sum {} + | sort >/tmp/neardup-after.$$
    cmp before /tmp/neardup-after.$$ || { echo "changed by: $1 ($2)"; return 1; }
    rm -f /tmp/neardup-after.$$
    [ "$status" -eq 2 ] || { echo "status $status: $1 ($2): $output"; return 1; }
}

@test "slow: no output may be a file that the run reads, however it is named" {
    inputs
    neardup recipe show default >my.ini
    { outputs && new_outputs; } >cases
    while IFS='|' read -r input command; do
        input=${input% }
        refused "$command" "$input"
        refused "$command" ".//$input"
        refused "$command" "$PWD/$input"
        ln -sf "$input" link
        refused "$command" link
        ln -f "$input" twin
        refused "$command" twin
        rm link twin
    done <cases
}

@test "slow: no output may be a descriptor on a file that the run reads" {
    inputs
    neardup recipe show default >my.ini
    { outputs && new_outputs; } | grep -v 'df build\|df merge\|index build' >cases
    while IFS='|' read -r input command <&7; do
        exec 8<>"${input% }"
        refused "$command" /dev/fd/8
        exec 8>&-
    done 7<cases
    run bash -c "\"$NEARDUP\" pairs - -q -f jsonl -o d/docs.jsonl <d/docs.jsonl"
    [ "$status" -eq 2 ]
    run bash -c "\"$NEARDUP\" pairs d -q >>d/docs.jsonl"
    [ "$status" -eq 2 ]
    cmp d/docs.jsonl proto.jsonl
}

@test "every output is written, whole, through a link, and nothing else is left" {
    inputs
    neardup recipe show default >my.ini
    mkdir far
    outputs >cases
    while IFS='|' read -r _ command <&7; do
        rm -f far/* link
        ln -s far/new link
        echo old >far/new
        run_case "$command" link
        [ "$status" -lt 2 ] || { echo "status $status: $command: $output"; return 1; }
        [ -L link ] || { echo "no link any more: $command"; return 1; }
        [ "$(tr -d '\0' <far/new)" != old ] || { echo "not written: $command"; return 1; }
        [ "$(ls -A far)" = new ] || { echo "left behind: $command"; return 1; }
    done 7<cases
    [ -z "$(find . -name '.neardup*')" ]
}

@test "a df table of the input is written, whole, where nothing stands" {
    inputs
    mkdir far
    new_outputs >cases
    while IFS='|' read -r _ command <&7; do
        rm -f far/*
        run_case "$command" far/new
        [ "$status" -lt 2 ] || { echo "status $status: $command: $output"; return 1; }
        [ "$(ls -A far)" = new ] || { echo "left behind: $command"; return 1; }
        neardup df info far/new >info
    done 7<cases
    [ -z "$(find . -name '.neardup*')" ]
}

@test "what may not be written is not replaced" {
    [ "$(id -u)" -ne 0 ] || skip "root may write everything"
    inputs
    neardup recipe show default >my.ini
    { outputs && new_outputs; } >cases
    while IFS='|' read -r _ command <&7; do
        echo old >locked
        chmod 400 locked
        refused "$command" locked
        chmod 600 locked
    done 7<cases
}

@test "of inputs without a readable record nothing is published" {
    inputs
    neardup recipe show default >my.ini
    printf '{"content":"the text stands in another field"}\n{"content":"in all of them"}\n' >bad.jsonl
    : >empty.jsonl
    gzip -c d/docs.jsonl | head -c 10 >cut.jsonl.gz
    mkdir none
    echo old >out
    outputs | grep '^d/docs.jsonl |.* d/docs.jsonl ' | grep -v proto.jsonl | grep -v 'OUT --\|--manifest\|--clusters\|--summary\|--removed' >cases
    [ "$(wc -l <cases)" -ge 7 ]
    while IFS='|' read -r _ command <&7; do
        for input in bad.jsonl cut.jsonl.gz missing.jsonl none empty.jsonl; do
            refused "${command//d\/docs.jsonl/$input}" out
        done
        command=${command//d\/docs.jsonl/-}
        run bash -c "'$NEARDUP' ${command//OUT/out} <&-"
        [ "$status" -eq 2 ]
        [ "$(cat out)" = old ]
    done 7<cases
    run neardup dedup bad.jsonl -q --force -o bad.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"content"* ]]
    printf 'id,body\n1,some words that are here\n' >t.csv
    cp t.csv t.before
    run neardup dedup t.csv -q --force -o t.csv
    [ "$status" -eq 2 ]
    cmp t.csv t.before
    printf 'id,text\n1,"never closed\n2,x\n' >u.csv
    cp u.csv u.before
    run neardup dedup u.csv -q --force -o u.csv
    [ "$status" -eq 2 ]
    cmp u.csv u.before
}

@test "inputs that hold no record give an empty result, where nothing is replaced by it" {
    : >empty.jsonl
    printf 'id,text\n' >head.csv
    mkdir none
    tar -cf none.tar none
    echo "a file of this name is no output" >./-
    for input in empty.jsonl head.csv none none.tar; do
        rm -f out
        [ "$(neardup dedup $input -q 2>/dev/null | wc -l)" -le 1 ]
        neardup pairs $input -q 2>/dev/null || [ $? -eq 1 ]
        neardup dedup $input -q -o out 2>/dev/null
        [ -e out ]
    done
    neardup dedup head.csv -q --force -o head.csv
    [ "$(cat head.csv)" = id,text ]
}

@test "an input is replaced by what survives of it, in its own format only" {
    small_corpus
    cp small.jsonl whole
    neardup dedup small.jsonl -o small.jsonl -q --removed gone.jsonl
    [ "$(ids small.jsonl)" = "a 4 5" ]
    [ "$(ids gone.jsonl)" = "b c" ]
    cmp <(sort whole) <(cat small.jsonl gone.jsonl | sort)
    cp whole small.jsonl
    neardup dedup -f jsonl -o small.jsonl -q --force <small.jsonl
    [ "$(ids small.jsonl)" = "a 4 5" ]
    cp whole small.jsonl
    neardup collapse small.jsonl -o small.jsonl -q --force
    [ "$(ids small.jsonl)" = "a 4 5" ]
    head -1 whole >spam.jsonl
    cp whole small.jsonl
    neardup filter -p spam.jsonl -v small.jsonl -o small.jsonl -q --force
    [ "$(ids small.jsonl)" = "4 5" ]
    # Compressed as it was, whatever the name says.
    gzip -c whole >small.jsonl
    neardup dedup small.jsonl -o small.jsonl -q --force 2>/dev/null
    [ "$(zcat <small.jsonl | wc -l)" -eq 3 ]
    # Not by what is no record of it.
    echo "a document that is a file" >a.txt
    cp a.txt a.before
    for command in "dedup a.txt" "dedup a.txt a.before" "collapse a.txt" "filter -p spam.jsonl -v a.txt"; do
        # shellcheck disable=SC2086
        run "$NEARDUP" $command -q -o a.txt
        [ "$status" -eq 2 ]
        cmp a.txt a.before
    done
    iconv -f UTF-8 -t UTF-16 whole >wide.jsonl
    cp wide.jsonl wide.before
    run neardup dedup wide.jsonl -q --force -o wide.jsonl
    [ "$status" -eq 2 ]
    cmp wide.jsonl wide.before
    # Nor by what is written of it, but is no record of it.
    printf 'Subject: a\n\nsome words that are a message\n' >m.eml
    cp m.eml m.before
    run neardup filter -p spam.jsonl -a m.eml -q --output-dir .
    [ "$status" -eq 2 ]
    cmp m.eml m.before
    tar -cf t.jsonl whole
    cp t.jsonl t.before
    run neardup dedup t.jsonl -q --force -o t.jsonl
    [ "$status" -eq 2 ]
    cmp t.jsonl t.before
}

@test "slow: --removed holds what the survivors lack, in every kind of run" {
    large_corpus large.jsonl
    printf 'id,text\n1,a b c d\n2,a b c d\n3,e f g h\n' >t.csv
    for options in "" "-j1" "-j3" "--keep longest" "--cluster components" "--cluster complete"; do
        # shellcheck disable=SC2086
        neardup dedup large.jsonl -q --max-bad 5% -o out --removed gone $options 2>/dev/null
        cmp <(sort large.jsonl) <(cat out gone | sort)
        # shellcheck disable=SC2086
        neardup dedup t.csv -q -o out.csv --removed gone.csv $options
        [ "$(cat gone.csv)" = "$(printf 'id,text\n2,a b c d')" ]
    done
    mkdir in
    echo "the same words in two files" | tee in/a >in/b
    neardup dedup in -q -o kept --removed gone
    [ "$(cat gone)" = in/b ]
    tar -cf in.tar in/a in/b
    neardup dedup in.tar -q -o kept.tar --removed gone.tar
    [ "$(tar -tf gone.tar)" = in/b ]
}

@test "an input that failed part-way is not replaced" {
    large_corpus large.jsonl
    grep -v broken large.jsonl >good.jsonl
    mkdir shards
    cp good.jsonl shards/a.jsonl
    for pack in gzip zstd xz; do
        case $pack in gzip) end=gz ;; zstd) end=zst ;; xz) end=xz ;; esac
        $pack -c good.jsonl | head -c 60000 >cut.jsonl."$end"
        cp cut.jsonl."$end" before
        run neardup dedup cut.jsonl."$end" -q --force -o cut.jsonl."$end"
        [ "$status" -eq 2 ]
        cmp cut.jsonl."$end" before
        cp before shards/b.jsonl."$end"
        cp good.jsonl shards/a.jsonl
        (
            cd shards
            run neardup dedup a.jsonl b.jsonl."$end" --output-dir . -q --force
            [ "$status" -eq 3 ]
            [[ $output == *"b.jsonl.$end"* ]]
            cmp b.jsonl."$end" ../before
            [ "$(wc -l <a.jsonl)" -lt "$(wc -l <../good.jsonl)" ]
            [ "$(ls -A | wc -l)" -eq 2 ]
            rm b.jsonl."$end"
        )
    done
    tar -cf cut.tar good.jsonl
    truncate -s 100000 cut.tar
    cp cut.tar before
    run neardup dedup cut.tar -q --force -o cut.tar
    [ "$status" -eq 2 ]
    cmp cut.tar before
}

@test "--max-bad is judged over all, and for each file that is replaced" {
    small_corpus
    for i in $(seq 100); do echo "{\"id\":$i,\"text\":\"words number $i and number $((i * 7)) alone\"}"; done >many.jsonl
    { cat many.jsonl && echo '{broken'; } >one.jsonl
    { cat many.jsonl && for i in $(seq 7); do echo '{broken'; done; } >seven.jsonl
    run neardup dedup one.jsonl -q -o out
    [ "$status" -eq 3 ]
    [[ $output == *"done, but 1 bad record was left out" ]]
    rm out
    run neardup dedup seven.jsonl -q -o out
    [ "$status" -eq 2 ]
    [[ $output == *"7 of 107 records are bad, more than --max-bad 0.05"* ]]
    [ ! -e out ]
    neardup dedup seven.jsonl -q -o out --max-bad 10% 2>/dev/null
    [ "$(wc -l <out)" -eq 100 ]
    # One is always allowed where nothing is replaced, not where it is.
    { head -1 small.jsonl && echo '{broken'; } >two.jsonl
    run neardup dedup two.jsonl -q -o out
    [ "$status" -eq 3 ]
    cp one.jsonl before
    run neardup dedup one.jsonl -q --force -o one.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"one.jsonl would be replaced, and 1 of 101 records is bad"* ]]
    cmp one.jsonl before
    run neardup dedup many.jsonl one.jsonl -q --force --output-dir .
    [ "$status" -eq 2 ]
    cmp one.jsonl before
    neardup dedup one.jsonl -q -o one.jsonl --removed gone --max-bad 0.02 2>/dev/null
    [ "$(wc -l <one.jsonl)" -eq 100 ]
    [ "$(cat gone)" = '{broken' ]
    # Every command judges.
    for command in "pairs" "sketch" "track" "collapse" "filter -p small.jsonl" "template" "df build"; do
        # shellcheck disable=SC2086
        run "$NEARDUP" $command seven.jsonl -q -o never
        [ "$status" -eq 2 ]
        [ ! -e never ]
    done
    run bash -c "\"$NEARDUP\" dedup seven.jsonl -q 2>&1 >/dev/null | tail -1"
    [[ $output == *"cannot be undone" ]]
}

@test "an input that changed meanwhile is not replaced, and the result stands beside it" {
    large_corpus large.jsonl
    grep -v broken large.jsonl >whole
    neardup dedup whole -f jsonl -q -o survivors
    changed() { # CHANGE
        rm -f pipe large.jsonl*
        cp whole large.jsonl
        mkfifo pipe
        # The manifest is written when all has been read, and is larger than a pipe.
        "$NEARDUP" dedup large.jsonl -q --force -o large.jsonl --manifest pipe 2>err &
        pid=$!
        exec 9<pipe
        for _ in $(seq 100); do
            [ "$(head -c 1 <&9 | wc -c)" -eq 1 ] && break
        done
        eval "$1"
        cat <&9 >/dev/null
        exec 9<&-
        status=0
        wait "$pid" || status=$?
    }
    changed 'echo "{\"id\":9,\"text\":\"new\"}" >>large.jsonl'
    [ "$status" -eq 2 ]
    [ "$(tail -1 large.jsonl)" = '{"id":9,"text":"new"}' ]
    cmp large.jsonl.neardup-kept survivors
    grep -q "large.jsonl: was changed after it was read, so it is left as it is" err
    changed 'echo "{\"id\":9,\"text\":\"moved here\"}" >other; mv other large.jsonl'
    [ "$status" -eq 2 ]
    [ "$(ids large.jsonl)" = 9 ]
    cmp large.jsonl.neardup-kept survivors
    cp large.jsonl.neardup-kept first
    changed "touch -d '2 days ago' large.jsonl" # however coarse its times are
    [ "$status" -eq 2 ]
    cmp large.jsonl whole
    cmp large.jsonl.neardup-kept survivors
}

@test "what a killed run left is removed by the next one, and nothing else is" {
    small_corpus
    name=.neardup-abcdefghijklmnopqrst
    echo x >$name
    echo x >$name.whole
    echo x >.neardup-other
    echo x >.neardup-abcdefghijklmnopqrs1
    ln -s small.jsonl .neardup-bbcdefghijklmnopqrst
    mkfifo .neardup-cbcdefghijklmnopqrst
    echo held >.neardup-dbcdefghijklmnopqrst
    exec 8<.neardup-dbcdefghijklmnopqrst
    flock 8
    neardup dedup small.jsonl -q -o out
    [ ! -e $name ]
    [ -e $name.whole ]
    [ -e .neardup-other ]
    [ -e .neardup-abcdefghijklmnopqrs1 ]
    [ -L .neardup-bbcdefghijklmnopqrst ]
    [ -p .neardup-cbcdefghijklmnopqrst ]
    [ -e .neardup-dbcdefghijklmnopqrst ]
    exec 8<&-
    touch -d '2 days ago' $name.whole
    neardup dedup small.jsonl -q -o out
    [ ! -e $name.whole ]
    [ ! -e .neardup-dbcdefghijklmnopqrst ]
}

@test "SIGKILL leaves no file without a name behind" {
    has_nameless_files || skip "this file system has no files without a name"
    small_corpus
    mkfifo pipe
    for options in "-o out --manifest m --removed r" "--output-dir dir"; do
        # shellcheck disable=SC2086
        "$NEARDUP" dedup -q small.jsonl pipe -f jsonl $options 2>err &
        pid=$!
        exec 9>pipe
        await_open "$pid" '*/pipe'
        kill -KILL "$pid"
        wait "$pid" || true
        exec 9>&-
        [ -z "$(find . -name '.neardup*')" ]
    done
}

@test "slow: every signal that ends a process leaves what was there" {
    small_corpus
    mkfifo pipe
    echo old >out
    ulimit -c 0
    for signal in HUP TERM ALRM USR1 USR2 PROF VTALRM ABRT XCPU; do
        "$NEARDUP" dedup -q small.jsonl pipe -f jsonl -o out --manifest m --removed r 2>err &
        pid=$!
        exec 9>pipe
        await_open "$pid" '*/pipe'
        kill -$signal "$pid"
        status=0
        wait "$pid" || status=$?
        exec 9>&-
        [ "$status" -eq $((128 + $(kill -l $signal))) ]
        [ "$(cat out)" = old ]
        [ "$(find . -name '.neardup*' -o -name m -o -name r)" = "" ]
    done
}

@test "slow: many files are published as one" {
    mkdir in
    for i in $(seq 600); do echo "document number $i about $((i * 7919)) things and $((i * 31)) others" >"in/$i"; done
    cp in/1 in/copy
    (
        ulimit -n 400
        neardup dedup in -q --copy-to out
    )
    [ "$(find out -type f | wc -l)" -eq 600 ]
    [ -z "$(find . -name '.neardup*')" ]
    [ ! -e out/in/copy ]
}

@test "the summary says whether there is more than it" {
    small_corpus
    echo '{broken' >>small.jsonl
    run neardup dedup small.jsonl missing.jsonl -q -o out --summary s
    [ "$status" -eq 3 ]
    grep -q '"published":true.*"bad_records":1.*"failed_inputs":1' s
    run neardup dedup small.jsonl -q -n --summary s
    [ "$status" -eq 3 ]
    grep -q '"published":false' s
}
