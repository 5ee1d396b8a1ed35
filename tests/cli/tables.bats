#!/usr/bin/env bats
# tables.bats - tables that nobody called so, and records whose text has another name

load common

@test "a table without a telling name is known by its shape, and its columns are listed" {
    printf 'id,body\n1,hello world\n2,once more\n' >table
    run "$NEARDUP" dedup -q table -o out
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == 'neardup: table: has no column "text" for the text; it has the fields id, body; --text-field body probably names the text' ]]
    run "$NEARDUP" dedup -q --text-field body table
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 3 ]
    printf 'key\tlong name\n1\ta, b\n' >table
    run "$NEARDUP" sketch -q - <table
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == *"has the fields key, long name; --text-field long name probably"* ]]
}

@test "a text with commas is no table" {
    printf 'Dear John, hello\nto you, and you\n' >a
    printf 'one,two\nthree\n' >b
    printf 'one,two\n' >c
    printf '1,2\n3,4\n' >d
    printf 'one,two\nthree,four\n' >e.txt
    for file in a b c d e.txt; do
        run "$NEARDUP" sketch -q $file
        [ "$status" -eq 0 ] || { echo "$file: $output"; return 1; }
        [ "${#lines[@]}" -eq 1 ]
    done
    printf 'one,two\nthree,four\n' >e
    run "$NEARDUP" sketch -q -f text e
    [ "$status" -eq 0 ]
    run "$NEARDUP" sketch -q --unit line e
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 2 ]
}

@test "the column with the longest cells is probably the text, whatever its place" {
    {
        echo 'body,url,"a ""b"""'
        for i in 1 2 3 4 5; do echo "\"some words, and more $i\",http://x/$i,y"; done
    } >t.csv
    run "$NEARDUP" pairs -q t.csv
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == *'t.csv: has no column "text" for the text; it has the fields body, url, a "b"; --text-field body probably names the text' ]]
}

@test "a record without text says which fields it has" {
    echo '{"id":"1","meta":{"url":"http://example.org/a/long/address/without/any/space","n":[{"x":"y z"}]},"content":"a b c"}' >r.jsonl
    echo '{}' >>r.jsonl
    echo '{"text":null,"body":"a"}' >>r.jsonl
    run "$NEARDUP" sketch -q --max-bad 100% r.jsonl
    [[ ${lines[0]} == "neardup: r.jsonl:1: text is absent: the record has id, meta.url, meta.n, content; --text-field content probably names the text" ]]
    [[ ${lines[1]} == "neardup: r.jsonl:2: text is absent: the record has no field; --text-field names the text" ]]
    [[ ${lines[2]} == "neardup: r.jsonl:3: text is null" ]]
}

@test "many and long fields are cut between characters" {
    python3 -c 'import json; print(json.dumps({"ü" * n: "x" * n for n in range(1, 60)}, ensure_ascii=False))' >r.jsonl
    run "$NEARDUP" dedup -q r.jsonl --manifest m.jsonl -o out.jsonl
    [[ $output == *"üüü, …; --text-field "*" probably names the text"* ]]
    iconv -f UTF-8 -t UTF-8 <<<"$output" >/dev/null
}
