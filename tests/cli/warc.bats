#!/usr/bin/env bats
# warc.bats - web archives by the commands that read documents

load common

setup() {
    NEARDUP=${NEARDUP:-$BATS_TEST_DIRNAME/../../build/release/neardup}
    cd "$BATS_TEST_TMPDIR" || return 1
    neardup sketch <(answer http://a.org/ "$BUY") 2>&1 | grep -q 'without libxml2' && skip "no libxml2"
    return 0
}

BUY="buy these wonderful pills now and never be tired again in all your long and happy life"
MEET="shall we meet on monday at the usual place and talk about the weather, my dear friend?"

# record TYPE FIELDS CONTENT: FIELDS with \r\n at their ends
record() {
    printf 'WARC/1.0\r\nWARC-Type: %s\r\n%bContent-Length: %d\r\n\r\n%s\r\n\r\n' "$1" "$2" "${#3}" "$3"
}

# answer URL TEXT [FIELDS]
answer() {
    local head=$'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n'
    record response "WARC-Target-URI: $1\\r\\n${3:-}" "$head<title>t</title>$2"
}

request() {
    record request "WARC-Target-URI: $1\\r\\n" $'GET / HTTP/1.1\r\n\r\n'
}

info() {
    record warcinfo "WARC-Record-ID: <urn:$1>\\r\\n" "software: $1"
}

image() {
    local head=$'HTTP/1.1 200 OK\r\nContent-Type: image/gif\r\n\r\n'
    record response "WARC-Target-URI: $1\\r\\n" "${head}GIF89a"
}

a_crawl() {
    info one
    request http://a.org/
    answer http://a.org/ "$BUY" "WARC-Date: 2024-01-01T00:00:00Z\\r\\n"
    image http://a.org/i
    request http://b.org/
    answer http://b.org/ "$MEET" "WARC-Date: 2024-01-02T00:00:00Z\\r\\n"
    request http://c.org/
    answer http://c.org/ "$BUY now" "WARC-Date: 2024-01-03T00:00:00Z\\r\\n"
}

@test "warc: dedup names pages by their addresses and says what it left out" {
    a_crawl >a.warc
    run neardup dedup a.warc --manifest m.jsonl -o out.warc
    [ "$status" -eq 0 ]
    [[ $output == *"neardup: left out 1 record of web archives: 1 is neither page nor plain text"* ]]
    [[ $output == *"a.warc: WARC, 3 records"* ]]
    [ "$(rows m.jsonl removed kept)" = '"http://c.org/" "http://a.org/"' ]
    run neardup dedup -q a.warc -o again.warc
    [ "$output" = "" ]
    cmp out.warc again.warc
}

@test "warc: fields decide who is compared and who stays" {
    a_crawl >a.warc
    neardup dedup -q a.warc --keep newest:date --manifest m.jsonl >out.warc
    [ "$(rows m.jsonl removed kept)" = '"http://a.org/" "http://c.org/"' ]
    neardup dedup -q a.warc --within site --manifest m.jsonl >out.warc
    [ "$(rows m.jsonl removed kept)" = "" ]
    neardup dedup -q a.warc --prefer url=http://c.org/ --manifest m.jsonl >out.warc
    [ "$(rows m.jsonl removed kept)" = '"http://a.org/" "http://c.org/"' ]
}

@test "warc: however it is compressed or packed, the documents are the same" {
    a_crawl >a.warc
    neardup sketch -q a.warc >expected
    gzip -k a.warc
    zstd -q a.warc
    for part in info request answer; do
        case $part in
        info) info one ;;
        request) request http://a.org/ ;;
        answer) answer http://a.org/ "$BUY" ;;
        esac | gzip
    done >parts.warc.gz
    neardup sketch -q a.warc.gz | cmp - expected
    neardup sketch -q a.warc.zst | cmp - expected
    neardup sketch -q - <a.warc.gz | cmp - expected
    neardup sketch -q - <a.warc | cmp - expected
    mkdir folder
    cp a.warc folder/unnamed
    neardup sketch -q folder | cmp - expected
    tar cf a.tar a.warc
    neardup sketch -q a.tar | cmp - expected
    [ "$(neardup sketch -q parts.warc.gz)" = "$(head -n1 expected)" ]
}

# Print the length of each gzip member, unpacked, and the word that it begins with.
members() {
    python3 -c '
import sys, zlib
data = open(sys.argv[1], "rb").read()
while data:
    member = zlib.decompressobj(31)
    text = member.decompress(data)
    data = member.unused_data
    print(len(text), text[:5].decode())
' "$1"
}

@test "warc: survivors are an archive, record by record, with its warcinfo and their requests" {
    a_crawl >a.warc
    {
        info one
        request http://a.org/
        answer http://a.org/ "$BUY" "WARC-Date: 2024-01-01T00:00:00Z\\r\\n"
        request http://b.org/
        answer http://b.org/ "$MEET" "WARC-Date: 2024-01-02T00:00:00Z\\r\\n"
    } >expected
    gzip -k a.warc
    for input in a.warc a.warc.gz; do
        neardup dedup -q $input -o out.warc
        cmp expected out.warc
        neardup dedup -q $input -o out.warc.gz
        zcat out.warc.gz | cmp - expected
        [ "$(members out.warc.gz | grep -c ' WARC/$')" -eq 5 ]
        [ "$(members out.warc.gz | wc -l)" -eq 5 ]
        neardup dedup -q $input -o out.warc.zst
        zstd -qdc out.warc.zst | cmp - expected
        [ "$(zstd -lv out.warc.zst 2>&1 | grep -c 'Frames: 5')" -eq 1 ]
        neardup dedup -q $input --output-dir out
    done
    cmp expected out/a.warc
    zcat out/a.warc.gz | cmp - expected
    [ "$(members out/a.warc.gz | wc -l)" -eq 5 ]
    neardup dedup -q a.warc --threads 2 --memory 100M --tmp . -o again.warc.gz
    cmp out.warc.gz again.warc.gz
    neardup dedup -q a.warc --keep last --removed gone.warc.gz -o out.warc
    [ "$(members gone.warc.gz | wc -l)" -eq 3 ]
    [ "$(zcat gone.warc.gz | grep -c 'URI: http://a.org/')" -eq 2 ]
}

@test "warc: an archive is not replaced by one that lacks its images" {
    a_crawl >a.warc
    cp a.warc copy
    run neardup dedup -q a.warc --force -o a.warc
    [ "$status" -eq 2 ]
    [[ $output == *"records that are neither page nor plain text"* ]]
    cmp a.warc copy
    answer http://a.org/ "$BUY" >b.warc
    answer http://b.org/ "$BUY" >>b.warc
    neardup dedup -q b.warc --force -o b.warc
    [ "$(neardup sketch -q b.warc | wc -l)" -eq 1 ]
}

@test "warc: archives set behind one another keep each its warcinfo" {
    { info one; answer http://a.org/ "$BUY"; } >a.warc
    { info two; answer http://b.org/ "$MEET"; } >b.warc
    truncate -s -4 a.warc
    neardup dedup -q a.warc b.warc -o both.warc
    { cat a.warc; printf '\r\n\r\n'; cat b.warc; } >expected
    cmp expected both.warc
    neardup dedup -q both.warc -o again.warc
    cmp both.warc again.warc
    neardup dedup -q both.warc -o again.warc.gz
    [ "$(members again.warc.gz | wc -l)" -eq 4 ]
}

@test "warc: a warcinfo in the midst of a file stays before the records that follow it" {
    { info one; answer http://a.org/ "$BUY"; } >first
    { info two; image http://b.org/i; info three; answer http://b.org/ "$BUY"; } >second
    { image http://c.org/i; answer http://c.org/ "$MEET"; info four; } >third
    cat first second third >all.warc
    { cat first; info two; info three; answer http://c.org/ "$MEET"; } >expected
    { info one; info two; info three; answer http://b.org/ "$BUY"; } >expected.gone
    for options in "" "--threads 3" "--keep newest:none" "--memory 100M --tmp ." "--cluster complete"; do
        read -ra words <<<"$options"
        neardup dedup -q all.warc "${words[@]}" -o out.warc --removed gone.warc
        cmp expected out.warc
        cmp expected.gone gone.warc
        neardup dedup -q - "${words[@]}" -o out.warc.gz <all.warc
        zcat out.warc.gz | cmp - expected
        [ "$(members out.warc.gz | wc -l)" -eq 5 ]
    done
    neardup dedup -q all.warc --output-dir out
    cmp expected out/all.warc
    tar -cf all.tar all.warc
    neardup dedup -q all.tar -o out.tar
    tar -xOf out.tar all.warc | cmp - expected
    cat second third >no-first.warc
    neardup dedup -q no-first.warc -o out.warc
    { info two; info three; answer http://b.org/ "$BUY"; answer http://c.org/ "$MEET"; } >expected
    cmp expected out.warc
}

@test "warc: more than a megabyte of warcinfo in a file goes with the record behind it" {
    long=$(printf '%0300000d' 0)
    for n in 1 2 3 4 5; do
        record warcinfo "" "$n$long"
        answer http://a.org/$n "$BUY $MEET $n $n $n"
    done >all.warc
    neardup dedup -q all.warc -o out.warc
    { record warcinfo "" "1$long"; answer http://a.org/1 "$BUY $MEET 1 1 1"; } >expected
    cmp expected out.warc
    neardup dedup -q all.warc --method identical -o out.warc
    cmp all.warc out.warc
}

@test "warc: revisit records say which kept page stands for a removed one" {
    python3 "$BATS_TEST_DIRNAME/revisit_model.py" "$NEARDUP" "$(sized 10 200)"
}

@test "warc: revisit records are written only of web archives, and for kept pages" {
    answer http://a.org/ "$BUY" >a.warc
    jq -nc --arg t "$BUY" '{id: "x", text: $t}' >b.jsonl
    run neardup dedup -q a.warc b.jsonl --output-dir out --revisit r.warc
    [ "$status" -eq 2 ]
    [[ $output == *"b.jsonl:1: is removed, and is no record of a web archive: revisit writes"* ]]
    [ ! -e r.warc ]
    run neardup dedup -q a.warc -o out.warc --keep none --revisit r.warc
    [ "$status" -eq 2 ]
    [[ $output == *"revisit does not go with keep none"* ]]
    run neardup dedup -q b.jsonl -o out.jsonl --annotate --revisit r.warc
    [ "$status" -eq 2 ]
    [[ $output == *"revisit does not go with annotate"* ]]
    neardup dedup -q b.jsonl a.warc --output-dir out --revisit r.warc
    [ "$(grep -c '^WARC-Refers-To' r.warc)" -eq 0 ]
    [ "$(grep -c '^Neardup-Resemblance: 0[.]9' r.warc)" -eq 1 ]
    neardup dedup -q a.warc -o out.warc --revisit none.warc.gz
    [ "$(zcat none.warc.gz | wc -c)" -eq 0 ]
}

@test "warc: what is damaged is reported with its place and the rest is read" {
    { info one; echo junk; answer http://a.org/ "$BUY"; answer http://b.org/ "$MEET"; } >a.warc
    truncate -s -20 a.warc
    run neardup dedup a.warc -o out.warc --manifest m.jsonl
    [ "$status" -eq 3 ]
    place=$(($({ info one; echo junk; answer http://a.org/ "$BUY"; } | wc -c) + 1))
    [[ $output == *"a.warc:$place: a record ends after "*" bytes"* ]]
    [ "$(rows m.jsonl skipped)" = "\"a.warc:$place\"" ]
}

@test "warc: pages of several archives go to one, and to a folder as they came" {
    a_crawl >a.warc
    answer http://d.org/ "$MEET and then" >b.warc
    neardup dedup -q a.warc b.warc -o all.warc
    [ "$(neardup sketch -q all.warc | wc -l)" -eq 2 ]
    neardup dedup -q a.warc b.warc --output-dir out
    [ "$(neardup sketch -q out/a.warc | wc -l)" -eq 2 ]
}

@test "warc: a sample reads blocks from the middle, and nothing of it is damaged" {
    awk 'BEGIN {
        for (i = 0; i < 1400; i++)
            blank = blank "\n"
        for (i = 1; i <= 6000; i++) {
            printf "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: http://a/%d\r\n", i
            printf "Content-Type: text/plain\r\nContent-Length: 1410\r\n\r\nx%s%09d\r\n\r\n", blank, i
        }
    }' >a.warc
    gzip -k a.warc
    for input in a.warc a.warc.gz; do
        run neardup plan $input --sample-bytes 100K
        [ "$status" -eq 0 ]
        [[ $output != *"no record begins"* ]]
    done
}

@test "warc: ARC is read, and so are the fixtures that other readers read" {
    {
        printf 'filedesc://x.arc 0.0.0.0 20080619093439 text/plain 73\n1 0 CommonCrawl\n'
        printf 'URL IP-address Archive-date Content-type Archive-length\n\n'
        printf 'http://a/ 1.2.3.4 20080509190241 text/plain %d\n%s\n' "${#BUY}" "$BUY"
    } >x.arc
    [ "$(neardup sketch -q x.arc | grep -c '"id":"http://a/"')" -eq 1 ]
    fixtures=${NEARDUP_TEST_DATA:-}/warc-fixtures
    [ -d "$fixtures" ] || skip "NEARDUP_TEST_DATA names no folder with warc-fixtures"
    for file in "$fixtures"/*arc "$fixtures"/*.gz "$fixtures"/*.lz4; do
        [[ $file != *clipped* && $file != *block-sized* ]] || continue
        run "$NEARDUP" sketch -q "$file"
        [ "$status" -eq 0 ] || { echo "$file: $output"; return 1; }
    done
}
