#!/usr/bin/env bats
# charset.bats - plain text, tables and records in other charsets than UTF-8

load common

# 30 lines in UTF-8, every third with letters beyond ASCII.
lines() {
    local i
    for i in $(seq 30); do
        case $((i % 3)) in
        0) echo "garçon numéro $i déjà vu là-bas, œuvre à 5 €" ;;
        1) echo "line $i of plain words and nothing else" ;;
        2) echo "LIGNE $i" ;;
        esac
    done
    echo "garçon numéro 3 déjà vu là-bas, œuvre à 5 €"
    echo "garçon numéro 6 déjà vu là-bas, œuvre à 5 € et plus"
}

as_records() {
    awk '{ printf "{\"id\":%d,\"text\":\"%s\",\"série\":\"é%d\"}\n", NR, $0, NR % 2 }'
}

as_csv() {
    echo 'id,série,texte'
    awk '{ printf "%d,é%d,\"%s\"\n", NR, NR % 2, $0 }'
}

# A run says of the file in another charset what it says of the file in UTF-8, and writes that in the
# charset.
same() {
    local charset=$1 name=$2
    shift 2
    iconv -f utf-8 -t "$charset" "$name" >"other.$name"
    neardup dedup "$@" --quiet "$name" -o kept --clusters clusters --removed gone
    neardup dedup "$@" --quiet --charset "$charset" "other.$name" -o other.kept \
        --clusters other.clusters --removed other.gone
    iconv -f utf-8 -t "$charset" kept | cmp - other.kept
    iconv -f utf-8 -t "$charset" gone | cmp - other.gone
    sed "s/other\.$name/$name/g" other.clusters | cmp - clusters
    [ -s gone ]
}

@test "lines, records and tables in another charset: survivors are the bytes as they were read" {
    lines >lines.txt
    lines | as_records >records.jsonl
    lines | as_csv >table.csv
    for options in "" "--cluster components" "--keep longest"; do
        # shellcheck disable=SC2086 # the options are several words
        same windows-1252 lines.txt --unit line $options
        # shellcheck disable=SC2086
        same windows-1252 records.jsonl --within série $options
        # shellcheck disable=SC2086
        same windows-1252 table.csv --text-field texte --within série $options
        # shellcheck disable=SC2086
        same gb18030 records.jsonl $options
    done
}

@test "in place, through a pipe, compressed and by several passes" {
    lines | as_records >records.jsonl
    iconv -f utf-8 -t latin1//TRANSLIT records.jsonl >in.jsonl
    neardup dedup --quiet --charset latin1 in.jsonl -o expected
    neardup dedup --quiet --charset latin1 --format jsonl <in.jsonl >out
    cmp out expected
    gzip -k in.jsonl
    neardup dedup --quiet --charset latin1 in.jsonl.gz -o out.jsonl
    cmp out.jsonl expected
    cp in.jsonl in_place.jsonl
    neardup dedup --quiet --force --charset latin1 in_place.jsonl -o in_place.jsonl
    cmp in_place.jsonl expected
}

@test "a second byte that looks like a backslash is none" {
    # In Shift_JIS the second byte of 表 is a backslash.
    echo '{"id":1,"text":"表 十 ソ"}' | iconv -f utf-8 -t cp932 >a.jsonl
    echo '{"id":2,"text":"表 十 ソ"}' >b.jsonl
    [ "$(tr -d -c '\134' <a.jsonl | wc -c)" -eq 3 ]
    neardup sketch --quiet --charset shift_jis a.jsonl | sed 's/^[^,]*,//' >a
    neardup sketch --quiet b.jsonl | sed 's/^[^,]*,//' >b
    cmp a b
}

@test "utf-8 is what it is without the option, under any of its names" {
    lines | as_records | sed 's/vu/v\xff/' >records.jsonl
    neardup dedup --quiet records.jsonl -o expected --manifest m1 2>said
    for name in utf-8 UTF-8 utf8; do
        neardup dedup --quiet --charset $name records.jsonl -o out --manifest m2 2>again
        cmp out expected
        cmp m1 m2
        cmp said again
    done
}

@test "a byte order mark goes before the option, and files that name their charset do not ask it" {
    printf '\xef\xbb\xbf{"id":1,"text":"d\xc3\xa9j\xc3\xa0"}\n{"id":2,"text":"d\xc3\xa9j\xc3\xa0"}\n' >mark.jsonl
    printf '\xff\xfe' >utf16.jsonl
    printf '{"id":3,"text":"d\xc3\xa9j\xc3\xa0"}\n' | iconv -f utf-8 -t utf-16le >>utf16.jsonl
    printf '<title>d\xc3\xa9j\xc3\xa0</title>' >page.html
    neardup dedup --quiet --charset latin1 mark.jsonl -o out
    [ "$(wc -l <out)" -eq 1 ]
    neardup sketch --quiet mark.jsonl utf16.jsonl page.html | sed 's/^[^,]*,//' >plain
    neardup sketch --quiet --charset latin1 mark.jsonl utf16.jsonl page.html | sed 's/^[^,]*,//' >named
    cmp plain named
}

@test "the manifest names the charset" {
    lines | as_records | iconv -f utf-8 -t windows-1252 >records.jsonl
    neardup dedup --quiet --charset windows-1252 records.jsonl -o out --manifest m
    head -n 1 m | grep -q '"charset":"windows-1252"'
}

@test "what cannot be read in a charset is U+FFFD, and told by its bytes" {
    printf '{"id":1,"text":"a\x81\xff b"}\n{"id":2,"text":"a\x81\xfe b"}\n{"id":3,"text":"a\x81\xff b"}\n' >wrong.jsonl
    neardup dedup --quiet --charset euc-kr wrong.jsonl -o out.jsonl
    [ "$(ids out.jsonl 2>/dev/null || cut -c 7 out.jsonl | tr -d '\n')" = "12" ]
}

@test "names that are none, charsets that cannot be cut, and formats that name their own" {
    lines >lines.txt
    run neardup dedup --unit line --charset latin-99 lines.txt
    [ "$status" -eq 2 ]
    [[ "$output" =~ "charset: 'latin-99' is unknown to this system" ]]
    run neardup dedup --unit line --charset ../x lines.txt
    [ "$status" -eq 2 ]
    [[ "$output" =~ "is unknown to this system" ]]
    for name in utf-16 utf-16le utf-32 utf-7 iso-2022-jp ebcdic-us; do
        run neardup dedup --unit line --charset $name lines.txt
        [ "$status" -eq 2 ]
        [[ "$output" == *"$name cannot be split into records before it is decoded"* ]]
    done
    for format in html mail mbox; do
        run neardup dedup --format $format --charset latin1 lines.txt
        [ "$status" -eq 2 ]
        [[ "$output" =~ "HTML and mail declare their own" ]]
    done
    echo '{"text":"a"}' >one.jsonl
    run neardup dedup --annotate --charset latin1 one.jsonl -o out.jsonl
    [ "$status" -eq 2 ]
    [[ "$output" =~ "annotate adds ids in UTF-8" ]]
    [ ! -e out.jsonl ]
}

@test "above one document in a hundred a warning suggests the option, in every command" {
    for i in $(seq 99); do
        echo "{\"text\":\"words of number $i\"}"
    done >ascii.jsonl
    printf '{"text":"d\xe9j\xe0"}\n' >one.jsonl
    cat ascii.jsonl one.jsonl >percent.jsonl
    run neardup dedup --quiet percent.jsonl -o out
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    cat percent.jsonl one.jsonl >more.jsonl
    for command in "dedup -o out" "dedup --cluster components -o out" "pairs -o out" "sketch -o out" \
        "filter --prototypes ascii.jsonl -o out" "filter --prototypes more.jsonl -o out" "collapse -o out" \
        "template -o out" "track --series text -o out"; do
        # shellcheck disable=SC2086 # the command is several words
        run neardup $command more.jsonl
        [ "$(grep -c 'not valid UTF-8.*--charset' <<<"$output")" -ge 1 ]
        # shellcheck disable=SC2086
        run neardup $command --charset latin1 more.jsonl
        [ "$(grep -c 'not valid' <<<"$output")" -eq 0 ]
    done
    run neardup dedup more.jsonl -o out
    [ "$(grep -c 'not valid UTF-8' <<<"$output")" -eq 1 ]
    [[ "$output" =~ "2 of 101 documents are not valid UTF-8" ]]
}
