#!/usr/bin/env bats
# copies.bats - dedup --copies-field: survivors with the size of their cluster

bats_require_minimum_version 1.5.0
load common

@test "copies: the numbers follow from the clusters, in the same bytes in every way of running" {
    python3 "$BATS_TEST_DIRNAME/clusters_model.py" field "$NEARDUP"
}

@test "copies: each survivor stays as it was but for the field, in every form of JSON, CSV and TSV" {
    cat >in.jsonl <<'END'
{"id":1,"text":"one two three four five six"}
 {"id":2,"text":"one two three four five six" }
{"id":3,"text":"the \"copies\": \\\" of a text\n","more":{"copies":3}, "copiesx":[{"copies":1}] }
{}
END
    printf '{"id":6,"text":"no line end, and CR LF above"}\r\n{"id":7,"text":"caf\\u00e9 of four words"}' >>in.jsonl
    neardup dedup in.jsonl -q --missing-text empty --copies-field copies -o out.jsonl --removed gone.jsonl
    cat >expected <<'END'
{"id":1,"text":"one two three four five six","copies":2}
{"id":3,"text":"the \"copies\": \\\" of a text\n","more":{"copies":3}, "copiesx":[{"copies":1}] ,"copies":1}
{"copies":1}
END
    printf '{"id":6,"text":"no line end, and CR LF above","copies":1}\r\n{"id":7,"text":"caf\\u00e9 of four words","copies":1}' >>expected
    cmp expected out.jsonl
    [ "$(cat gone.jsonl)" = ' {"id":2,"text":"one two three four five six" }' ]
    printf '\xef\xbb\xbfid,text\r\n1,"a, b c"\r\n2,"a, b c"\r\n3,d e f' >in.csv
    neardup dedup in.csv -q --copies-field 'a "b"' -o out.csv
    [ "$(cat -v out.csv)" = "$(printf 'M-oM-;M-?id,text,"a ""b"""^M\n1,"a, b c",2^M\n3,d e f,1')" ]
    printf 'id\ttext\n1\ta b c\n2\ta b c\n' >in.tsv
    neardup dedup in.tsv -q --copies-field "$(printf 'a\tb')" -o out.tsv
    [ "$(cat out.tsv)" = "$(printf 'id\ttext\ta\\tb\n1\ta b c\t2')" ]
    # A quote and a backslash in the name, which the reader of the output finds again.
    neardup dedup in.jsonl -q --missing-text empty --copies-field 'a"\é' -o out.jsonl
    python3 -c 'import json; assert [json.loads(line)["a\"\\é"] for line in open("out.jsonl")] == [2, 1, 1, 1, 1]'
}

@test "copies: shards, archives, pipes and names that say so are compressed" {
    mkdir in
    printf '{"id":1,"text":"one two three four"}\n{"id":2,"text":"one two three four"}\n' >in/a.jsonl
    printf '{"id":3,"text":"one two three four"}\n{"id":4,"text":"five six seven"}\n' | gzip >in/b.jsonl.gz
    neardup dedup in -q --copies-field n --output-dir out
    [ "$(cat out/in/a.jsonl)" = '{"id":1,"text":"one two three four","n":3}' ]
    [ "$(zcat out/in/b.jsonl.gz)" = '{"id":4,"text":"five six seven","n":1}' ]
    neardup dedup in -q --copies-field n -o all.jsonl.zst
    [ "$(zstd -dqc all.jsonl.zst)" = "$(cat out/in/a.jsonl && zcat out/in/b.jsonl.gz)" ]
    tar -cf in.tar in/a.jsonl
    neardup dedup in.tar -q --copies-field n -o out.tar
    [ "$(tar -xOf out.tar in/a.jsonl)" = '{"id":1,"text":"one two three four","n":2}' ]
    neardup dedup -f jsonl -q --copies-field n <in/a.jsonl >piped
    [ "$(cat piped)" = '{"id":1,"text":"one two three four","n":2}' ]
    neardup dedup in -q --copies-field n --dry-run -o none
    [ ! -e none ]
}

@test "copies: a field that is there is named with its file and line, whatever its value" {
    printf '{"text":"a b c"}\n{"id":1}\n{"text":"d e f","n":null}\n' >null.jsonl
    printf '{"text":"a b c"}\n\n{"text":"a b c","\\u006e":1}\n' >spelt.jsonl
    printf 'text,"n"\na b c,1\n' >in.csv
    printf 'n\ttext\n1\ta b c\n' >in.tsv
    for memory in "" "--memory 64M"; do
        for place in "null.jsonl:3: there is a field" "spelt.jsonl:3: there is a field" \
            "in.csv:1: there is a column" "in.tsv:1: there is a column"; do
            # shellcheck disable=SC2086
            run -2 neardup dedup "${place%%:*}" -q --max-bad 1 $memory --copies-field n -o out
            [[ $output == *"$place 'n' already: choose another name for copies-field"* ]]
            [ ! -e out ]
        done
    done
}

@test "copies: what has no place for the field is refused by name" {
    echo "some words" >in.txt
    printf 'From a@b Mon Jan  1 00:00:00 2024\nFrom: a@b\nSubject: s\n\nsome words of a message\n' >in.mbox
    printf '{"id":1,"text":"one two three four"}\n' >in.jsonl
    neardup sketch in.jsonl -o in.sketch
    for place in "in.txt is plain text" "in.mbox is mbox" "in.sketch is a sketch file"; do
        run -2 neardup dedup "${place%% *}" -q --copies-field n -o out
        [[ $output == *"$place"* ]]
        [ ! -e out ]
    done
    for options in "--annotate" "--copy-to d" "--link-to d" "--null" "--only-against --against in.sketch"; do
        # shellcheck disable=SC2086
        run -2 neardup dedup in.jsonl -q --copies-field n $options
        name=${options%% *}
        [[ $output == *"copies-field does not go with ${name#--}"* ]]
    done
    run -2 neardup dedup in.jsonl -q --copies-field n --charset latin1
    [[ $output == *"copies-field adds UTF-8 to the records, which are in latin1"* ]]
    run -2 neardup dedup in.jsonl -q --copies-field "$(printf '%0201d' 0)"
    [[ $output == *"copies-field: the name has more than 200 bytes"* ]]
    # Survivors with a field more are not what was read of the input.
    run -2 neardup dedup in.jsonl -q --copies-field n --force -o in.jsonl
    [ "$(cat in.jsonl)" = '{"id":1,"text":"one two three four"}' ]
}
