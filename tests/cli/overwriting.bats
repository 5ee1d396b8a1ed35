#!/usr/bin/env bats
# overwriting.bats - what is there already: inputs, outputs of others, permissions

load common

# Three files in in/: a and c are equal, b is another.
three_files() {
    mkdir -p in
    echo "the first of three texts that stand in files" >in/a.txt
    echo "another one, quite different from it" >in/b.txt
    cp in/a.txt in/c.txt
}

@test "links to where the files are leave them there" {
    three_files
    neardup dedup in --link-to . -q
    neardup dedup in --copy-to . -q
    [ "$(cat in/*.txt | wc -l)" -eq 3 ]
    [ "$(ls -A . in)" = "$(printf '.:\nin\n\nin:\na.txt\nb.txt\nc.txt')" ]
}

@test "a link replaces what was there in one step, or not at all" {
    three_files
    mkdir -p links/in
    echo old >links/in/a.txt
    ln -s nowhere links/in/b.txt
    neardup dedup in --link-to links -q
    [ in/a.txt -ef links/in/a.txt ]
    [ in/b.txt -ef links/in/b.txt ]
    [ "$(ls -A links/in)" = "$(printf 'a.txt\nb.txt')" ]
}

@test "where the names cannot all be given, the message does not say that nothing was published" {
    three_files
    mkdir -p links/in/b.txt
    run neardup dedup in --link-to links -q
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == "neardup: links/in/b.txt: cannot be moved into place: Is a directory" ]]
    [[ ${lines[1]} == *"some were published, others were not" ]]
    [ in/a.txt -ef links/in/a.txt ]
    [ "$(ls -A links/in)" = "$(printf 'a.txt\nb.txt')" ]
}

@test "copies are what is stored: compressed, UTF-16, misnamed" {
    mkdir in
    echo "words that were compressed as well as can be" | gzip -1 >in/a.txt.gz
    echo "other words, whose file does not say that it is compressed" | gzip -9 >in/b.txt
    echo "a third text, which nobody compressed" >in/c.txt.gz
    printf '\xff\xfeo\0n\0e\0 \0t\0w\0o\0 \0t\0h\0r\0e\0e\0' >in/d.txt
    printf '\xef\xbb\xbfa mark at the start belongs to the file' >in/e.txt
    for keep in first longest; do
        neardup dedup in --copy-to copies -q --keep $keep 2>/dev/null
        diff -r in copies/in
        neardup dedup in --output-dir mirror -q --keep $keep 2>/dev/null
        diff -r in mirror/in
    done
}

@test "two outputs cannot be one file, however it is named" {
    small_corpus
    mkdir sub
    ln -s sub other
    : >out
    ln out twin
    refused() {
        run neardup dedup small.jsonl -q "$@"
        [ "$status" -eq 2 ] || return 1
        [[ ${lines[0]} == *"two outputs cannot both go to"* ]]
    }
    refused -o new --manifest ./new
    refused -o out --clusters twin
    refused -o sub/new --summary other/new
    refused --clusters - --manifest /dev/stdout -o x
    refused --output-dir sub --manifest sub/small.jsonl
    refused --output-dir other --clusters sub/small.jsonl
    [ ! -s out ]
    [ -z "$(ls -A sub)" ]
    neardup dedup small.jsonl -q -o /dev/null --manifest /dev/null --clusters /dev/null
}

@test "an input is replaced by its survivors only" {
    small_corpus
    cp small.jsonl before
    ln -s small.jsonl link
    for option in --manifest --clusters --summary; do
        for name in small.jsonl ./small.jsonl link; do
            run neardup dedup small.jsonl -o out -q $option $name
            [ "$status" -eq 2 ]
            [[ ${lines[0]} == "neardup: '$name' is an input and would be overwritten: choose another output" ]]
        done
    done
    for command in pairs sketch; do
        run neardup $command small.jsonl -o small.jsonl -q
        [ "$status" -eq 2 ]
        [[ ${lines[0]} == *"is an input and would be overwritten"* ]]
    done
    cmp small.jsonl before
    [ ! -e out ]
}

@test "what was there is not replaced by nothing because no input could be read" {
    small_corpus
    echo before >out
    run neardup dedup smal.jsonl nowhere/ -o out -q
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == "neardup: smal.jsonl: cannot be opened: No such file or directory" ]]
    [[ ${lines[2]} == "neardup: no input could be read" ]]
    [[ ${lines[3]} == "neardup: stopped; nothing was published" ]]
    [ "$(cat out)" = before ]
    run neardup dedup smal.jsonl small.jsonl -o out -q
    [ "$status" -eq 3 ]
    [ "$(ids out)" = "a 4 5" ]
}

@test "a file that is replaced keeps who may read it" {
    small_corpus
    : >secret
    chmod 600 secret
    : >open
    chmod 664 open
    neardup dedup small.jsonl -o secret --manifest open -q
    [ -s secret ]
    [ -s open ]
    [ "$(stat -c %a secret open | tr '\n' ' ')" = "600 664 " ]
}

@test "/dev/stdout and /dev/fd/N are what is open, and not emptied or replaced" {
    small_corpus
    {
        echo before
        neardup dedup small.jsonl -q -o /dev/stdout --clusters /dev/fd/7
        echo after
    } >all 7>clusters
    [ "$(head -1 all)" = before ]
    [ "$(tail -1 all)" = after ]
    [ "$(wc -l <all)" -eq 5 ]
    [ "$(wc -l <clusters)" -eq 5 ]
    run neardup dedup small.jsonl -q -o /dev/fd/77
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == "neardup: /dev/fd/77: cannot be written: Bad file descriptor" ]]
}

@test "a file that may not grow is an error of writing, and leaves nothing" {
    large_corpus large.jsonl
    for name in out out.gz out.zst out.xz out.bz2 out.lz4; do
        run bash -c "ulimit -f 100; \"$NEARDUP\" dedup large.jsonl -o $name -q 2>&1 | tail -2"
        [[ ${lines[0]} == "neardup: $name: cannot be written: File too large" ]]
        [ "$(ls -A)" = large.jsonl ]
    done
}

@test "Ctrl-\\ leaves no half file" {
    ulimit -c 0
    run python3 "$BATS_TEST_DIRNAME/ended_by.py" "$NEARDUP" QUIT
    [ "$output" = "-3 [] False" ]
}
