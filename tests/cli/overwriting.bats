#!/usr/bin/env bats
# overwriting.bats - what is there already: inputs, outputs of others, permissions
# shellcheck disable=SC2030,SC2031 # run sets these in the shell of its own test

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
    [[ ${lines[2]} == "neardup: no input could be read; the first: "* ]]
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

# REASON COMMAND...: it is refused before anything is read, and small.jsonl stays.
is_refused() {
    local reason=$1
    shift
    run "$NEARDUP" "$@" </dev/null
    [ "$status" -eq 2 ] || return 1
    [[ ${lines[0]} == "neardup: '"*"small.jsonl' is an input and would be replaced by what is kept of it: $reason, or choose another output" ]] || return 1
    cmp small.jsonl before
}

@test "an input is replaced only with --removed or --force, or after a question on a terminal" {
    small_corpus
    cp small.jsonl before
    head -1 small.jsonl >p.jsonl
    is_refused "add --removed FILE, which keeps the other records, or --force" dedup small.jsonl -o small.jsonl --manifest m
    is_refused "add --removed FILE, which keeps the other records, or --force" dedup small.jsonl p.jsonl --output-dir .
    is_refused "add --force" filter -p p.jsonl small.jsonl -o small.jsonl
    is_refused "add --force" filter -v -p p.jsonl small.jsonl --output-dir .
    is_refused "add --force" collapse small.jsonl -o small.jsonl
    [ ! -e m ]
    mkdir whole
    (cd whole && cp ../before small.jsonl && "$NEARDUP" dedup small.jsonl -q -o small.jsonl --removed gone)
    [ "$(ids whole/small.jsonl)" = "a 4 5" ]
    [ "$(ids whole/gone)" = "b c" ]
    neardup dedup small.jsonl -o small.jsonl -q --force
    cmp small.jsonl whole/small.jsonl
    # --force answers this question only.
    cp before small.jsonl
    echo "{broken" >>small.jsonl
    cp small.jsonl before
    run neardup dedup small.jsonl -o small.jsonl -q --force
    [ "$status" -eq 2 ]
    [[ $output == *"small.jsonl would be replaced, and 1 of 6 records is bad"* ]]
    run neardup dedup small.jsonl p.jsonl -o small.jsonl -q --force
    [[ ${lines[0]} == *"is one of several inputs and would be replaced by the records of all"* ]]
    cmp small.jsonl before
}

@test "on a terminal the question comes when the counts are known, and only yes replaces" {
    export NO_COLOR=1
    small_corpus
    cp small.jsonl before
    asked="neardup: the result replaces small.jsonl: 2 of 5 records would be gone. Replace? [y/N] "
    for answer in "" n no Y.; do
        ANSWER=$answer run on_terminal dedup small.jsonl -o small.jsonl --manifest m
        [ "$status" -eq 2 ]
        [[ $output == *"$asked"*"neardup: small.jsonl: is not replaced"*"neardup: stopped; nothing was published"* ]]
        cmp small.jsonl before
        [ ! -e m ]
    done
    ANSWER=y run on_terminal dedup small.jsonl -o small.jsonl
    [ "$status" -eq 0 ]
    [[ $output == *"$asked"*"Replaced"*"  small.jsonl: 2 of 5 records are no longer there"* ]]
    [ "$(ids small.jsonl)" = "a 4 5" ]
    # Nothing is asked where nothing would be removed, for --dry-run, --removed and --force.
    for options in "-o small.jsonl" "-o small.jsonl --removed gone" "-o small.jsonl --force" "--output-dir ."; do
        # shellcheck disable=SC2086
        run on_terminal dedup small.jsonl $options
        [ "$status" -eq 0 ]
        [[ $output != *"y/N"* ]]
    done
    cp before small.jsonl
    run on_terminal dedup small.jsonl -o small.jsonl --dry-run
    [ "$status" -eq 0 ]
    [[ $output != *"y/N"* ]]
    cmp small.jsonl before
    ANSWER=yes run on_terminal collapse small.jsonl -o small.jsonl
    [ "$status" -eq 0 ]
    [[ $output == *"$asked"*"neardup: replaced small.jsonl: 2 of 5 records are no longer there"* ]]
    head -1 before >p.jsonl
    ANSWER=yes run on_terminal filter -p p.jsonl small.jsonl -o small.jsonl
    [[ $output == *"2 of 3 records would be gone"*"Replaced"*"  small.jsonl: 2 of 3 records are no longer there"* ]]
}

@test "the summary counts what every way of running takes out of the inputs that it replaces" {
    small_corpus
    cp small.jsonl before
    for options in "" "--keep last" "--cluster components" "--memory 64M" "--threads 4"; do
        cp before small.jsonl
        # shellcheck disable=SC2086
        neardup dedup small.jsonl -o small.jsonl -q --force --summary s $options
        grep -q '"replaced":{"first":"small.jsonl","inputs":1,"records":5,"gone":2}' s
    done
    mkdir d
    cp before d/1.jsonl
    sed 's/"id":"/"id":"x/' before >d/2.jsonl
    cp d/2.jsonl 2.jsonl
    (cd d && "$NEARDUP" dedup 1.jsonl 2.jsonl --output-dir . -q --force --summary ../s)
    grep -q '"replaced":{"first":"1.jsonl","inputs":2,"records":10,"gone":7}' s
    cp before d/1.jsonl
    (cd d && "$NEARDUP" dedup 1.jsonl ../2.jsonl --output-dir . -q --force --summary ../s)
    grep -q '"replaced":{"first":"1.jsonl","inputs":1,"records":5,"gone":2}' s
    neardup dedup before -f jsonl -o new -q --summary s
    run grep -q '"replaced"' s
    [ "$status" -eq 1 ]
}
