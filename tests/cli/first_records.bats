#!/usr/bin/env bats
# first_records.bats - what the first records tell: a wrong text field, documents without ids

load common

wrong_field() { # COUNT
    python3 -c 'import json, sys
for i in range(int(sys.argv[1])):
    print(json.dumps({"doc_id": i, "url": f"http://x/{i}", "content": f"words that stand here {i} {i * 7}", "lang": "en"}))' "$1"
}

@test "a run whose first 1,000 records are all bad ends there, with one message" {
    wrong_field 3000 >w.jsonl
    for options in "" "-j 1" "-j 4" "--keep longest" "--memory 64M" "--cluster components"; do
        # shellcheck disable=SC2086
        run neardup dedup w.jsonl -q -o out $options
        [ "$status" -eq 2 ]
        [ "${#lines[@]}" -eq 2 ]
        [ "${lines[0]}" = "neardup: the first 1000 records are all bad; the first: w.jsonl:1: text is absent: the record has doc_id, url, content, lang; --text-field content probably names the text" ]
        [ "${lines[1]}" = "neardup: stopped; nothing was published" ]
    done
    for command in pairs sketch "collapse -o out" "filter -p w.jsonl" "track"; do
        # shellcheck disable=SC2086
        run neardup $command w.jsonl -q
        [ "$status" -eq 2 ]
        [[ ${lines[0]} == "neardup: the first 1000 records are all bad; the first: w.jsonl:1: "* ]]
    done
    # An endless pipe does not hold it up.
    run bash -c "yes '{\"content\":\"a b\"}' | timeout 60 \"$NEARDUP\" dedup -f jsonl -o out"
    [ "$status" -eq 2 ]
    [ ! -e out ]
}

@test "fewer bad records, or a document among the first 1,000, change nothing but the number of messages" {
    wrong_field 50 >w.jsonl
    run neardup dedup w.jsonl -q -o out
    [ "$status" -eq 2 ]
    [ "${#lines[@]}" -eq 2 ]
    [[ ${lines[0]} == "neardup: no record could be read as a document; the first: w.jsonl:1: text is absent"* ]]
    sed -i '7s/^/{/' w.jsonl
    run neardup dedup w.jsonl -q -o out
    [ "${#lines[@]}" -eq 3 ]
    [[ ${lines[0]} == "neardup: w.jsonl:7: not a JSON object"* ]]
    { wrong_field 999 && echo '{"text":"a document of five words"}' && wrong_field 20; } >late.jsonl
    for threads in 1 4; do
        run neardup dedup late.jsonl -q -o out -j $threads
        [ "$status" -eq 2 ]
        [[ ${lines[0]} == "neardup: late.jsonl:1: text is absent"* ]]
        [[ $output == *"1019 bad records in all; only the first 20 are shown above"*"1019 of 1020 records are bad, more than --max-bad"* ]]
    done
    # A user who allows bad records has them all read.
    wrong_field 1500 >many.jsonl
    echo '{"text":"a document of five words"}' >>many.jsonl
    neardup dedup many.jsonl -q -o out --max-bad 100% 2>/dev/null
    [ "$(wc -l <out)" -eq 1 ]
}

@test "documents without ids are said to be named by their places once, with the field that could name them" {
    wrong_field 30 >w.jsonl
    said="neardup: without a field 'id' documents are named by their places, such as w.jsonl:1; --id-field doc_id would name them by that field"
    run neardup dedup w.jsonl --text-field content -o out
    [ "$(printf '%s\n' "${lines[@]}" | grep -c "named by their places")" -eq 1 ]
    [[ $output == *"$said"* ]]
    for options in "-q" "--id-field doc_id" "--id-field url"; do
        # shellcheck disable=SC2086
        run neardup dedup w.jsonl --text-field content -o out $options
        [[ $output != *"by their places"* ]]
    done
    small_corpus
    run neardup dedup small.jsonl -o out
    [[ $output != *"by their places"* ]]
    echo '{"text":"a document without any other field"}' >bare.jsonl
    run neardup dedup bare.jsonl -o out
    [[ $output != *"by their places"* ]]
    printf 'Page-ID,text\n1,one two three four\n' >t.csv
    run neardup pairs t.csv
    [[ $output == *"such as t.csv:2; --id-field Page-ID would"* ]]
}

@test "a warning about a field that no document has lists those of the first" {
    small_corpus
    run neardup dedup small.jsonl -q -o out --within langg
    [[ ${lines[0]} == "neardup: warning: within: no document has a field 'langg': all documents are compared with one another; the first has id, text, lang, n, date, src" ]]
}
