#!/usr/bin/env bats
# binary.bats - what is not text is not read as text

load common

# A folder of texts with two files that are none.
mixed_folder() {
    mkdir -p mixed/sub
    echo "one two three" >mixed/a.txt
    echo "four five six" >mixed/sub/b.txt
    printf 'PAR1\x15\x04\x15\x10PAR1' >mixed/r.parquet
    printf '\x89PNG\r\n\x1a\n\0\0\0\rIHDR' >mixed/sub/p.png
}

@test "a file that is named and is not text fails, and the message says what to do" {
    mixed_folder
    run "$NEARDUP" dedup mixed/r.parquet -o out.parquet
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == "neardup: mixed/r.parquet: is a Parquet file, so it is not read as text: "* ]]
    [[ ${lines[0]} == *"the Python package deduplicates it (python -m neardup dedup FILE -o RESULT)"* ]]
    [[ ${lines[0]} == *"convert it to JSON Lines first (python3 "* ]]
    printf 'ARROW1\0\0' >a.arrow
    run "$NEARDUP" dedup a.arrow -o out.arrow
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == "neardup: a.arrow: is an Arrow file, so it is not read as text: the Python package deduplicates it (python -m neardup dedup "* ]]
    printf '%%PDF-1.4\n%%\xe2\xe3\n' >p.pdf
    run "$NEARDUP" pairs p.pdf
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == *"p.pdf: is a PDF file"*"--filter pdf reads it (Debian: poppler-utils)"* ]]
    run "$NEARDUP" sketch - <mixed/sub/p.png
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == *"(standard input): is a PNG image"*"--binary text"* ]]
    run "$NEARDUP" compare mixed/a.txt p.pdf
    [ "$status" -eq 2 ]
    [[ $output == *"p.pdf: is a PDF file"* ]]
}

@test "the other inputs go on" {
    mixed_folder
    run "$NEARDUP" dedup -q mixed/r.parquet mixed/a.txt --manifest m.jsonl -o out.txt
    [ "$status" -ge 2 ]
    grep -q '"path":"mixed/a.txt"' m.jsonl
    [ "$(cat out.txt)" = "mixed/a.txt" ]
}

@test "in folders and archives they are left out, and one line counts them" {
    mixed_folder
    run "$NEARDUP" dedup -q mixed
    [ "$status" -eq 0 ]
    [ "$(sort <<<"$output")" = "mixed/a.txt
mixed/sub/b.txt
neardup: warning: left out 2 files: 2 are not text (the first is mixed/r.parquet)" ]
    for archive in m.tar m.tar.gz m.zip; do
        (cd mixed && case $archive in *.zip) zip -qr ../$archive . ;; *) tar caf ../$archive . ;; esac)
        run "$NEARDUP" sketch -q $archive
        [ "$status" -eq 0 ]
        [[ $output == *"neardup: warning: left out 2 files: 2 are not text (the first is $archive!"* ]]
        [ "${#lines[@]}" -eq 3 ]
    done
}

@test "compressed ones are known too, whatever they are called" {
    printf '%%PDF-1.4\n%%' | gzip >w.txt.gz
    run "$NEARDUP" sketch w.txt.gz
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == *"w.txt.gz: is a PDF file"* ]]
    printf 'PAR1\x15\x04\x15\x10PAR1' >w.jsonl
    run "$NEARDUP" dedup w.jsonl
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == *"w.jsonl: is a Parquet file"* ]]
}

@test "what would be plain text is none with a NUL near its start, unless it is UTF-16" {
    printf 'one two\0three' >nul.txt
    run "$NEARDUP" sketch nul.txt
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == *"nul.txt: has a NUL byte near its start"*"iconv"* ]]
    { head -c 8192 /dev/zero | tr '\0' a; printf ' \0 b'; } >late.txt
    run "$NEARDUP" sketch -q late.txt
    [ "$status" -eq 0 ]
    printf '\xff\xfeo\0n\0e\0' >u.txt
    run "$NEARDUP" sketch -q u.txt
    [ "$status" -eq 0 ]
}

@test "a NUL in a record is at most a bad record" {
    printf '{"id":1,"text":"a"}\n{"id":2,"text":"b\0c"}\n{"id":3,"text":"d"}\n' >r.jsonl
    run "$NEARDUP" sketch -q --text-field text r.jsonl
    [[ $output == *"r.jsonl:2: "* ]]
    [[ $output == *'"id":3'* ]]
}

@test "--binary text reads them all the same" {
    mixed_folder
    run "$NEARDUP" sketch -q --binary text mixed/r.parquet mixed
    [ "$status" -eq 0 ]
    [ "$(grep -c '"id"' <<<"$output")" -eq 5 ]
    run "$NEARDUP" dedup --binary txt mixed
    [ "$status" -eq 2 ]
    [[ $output == *"did you mean 'text'?"* ]]
}
