#!/usr/bin/env bats
# slips.bats - what people type by mistake, or try first

load common

@test "-h is one screen, --help is all of it" {
    for command in dedup pairs plan explain compare collapse mirrors template anchors track filter sketch index join df recipe; do
        run neardup "$command" -h
        [ "$status" -eq 0 ]
        [ "${#lines[@]}" -le 24 ]
        [ "$(printf '%s\n' "$output" | wc -l)" -le 24 ]
        [[ ${lines[0]} == "Usage: neardup $command "* ]]
        [[ $output == *"What each option does: neardup $command --help" ]]
        brief=$output
        # Both have the same options.
        diff <(neardup "$command" --help | grep -oE '^  (-.,|   ) --[a-z-]+' | grep -oE '[-]-[a-z-]+' | sort -u) \
            <(printf '%s\n' "$brief" | grep -v '^  neardup\|^What each\|^Usage' | grep -oE '(^| |/)--[a-z-]+' | grep -oE '[-]-[a-z-]+' | sort -u)
    done
    run neardup index build -h
    [[ $output == *"neardup index build --help" && $output != *"--calibrate "* ]]
}

@test "version, --jobs" {
    [ "$(neardup version)" = "$(neardup --version)" ]
    run neardup dedup x --jobs 3
    [ "$status" -eq 2 ]
    [ "${lines[0]}" = "neardup: there is no option --jobs; did you mean --threads?" ]
}

@test "an address is recognised, and the message has the pipe that reads it" {
    told() { # ADDRESS PIPE
        run neardup dedup "$1" -q
        [ "$status" -eq 2 ] || return 1
        [ "${lines[0]}" = "neardup: $1: is an address, not a file; read it through a pipe: $2" ]
    }
    told https://example.org/a.jsonl.gz "curl -sL 'https://example.org/a.jsonl.gz' | neardup dedup --format jsonl"
    told s3://bucket/key.csv "aws s3 cp 's3://bucket/key.csv' - | neardup dedup --format csv"
    told hf://datasets/o/n/data/t.jsonl "curl -sL 'https://huggingface.co/datasets/o/n/resolve/main/data/t.jsonl' | neardup dedup --format jsonl"
    run neardup dedup nowhere.jsonl -q
    [[ ${lines[0]} == *"nowhere.jsonl: cannot be opened: No such file"* ]]
    # The pipe does read what is compressed.
    small_corpus
    gzip -k small.jsonl
    [ "$(neardup dedup --format jsonl -q <small.jsonl.gz | wc -l)" -eq 3 ]
    # A file may have such a name.
    mkdir -p https:/example.org
    cp small.jsonl https:/example.org/a.jsonl
    [ "$(neardup dedup https://example.org/a.jsonl -q | wc -l)" -eq 3 ]
}

@test "the places of a manifest are documents without --corpus" {
    small_corpus
    neardup dedup small.jsonl -q -o out --manifest m
    for pair in $(rows m removed_at kept_at | tr -d '"' | tr ' ' ,); do
        a=${pair%,*} b=${pair#*,}
        diff <(neardup explain "$a" "$b") <(neardup explain --corpus small.jsonl "$a" "$b")
        diff <(neardup compare "$a" "$b") <(neardup compare --corpus small.jsonl "$a" "$b")
    done
    neardup explain small.jsonl:4 >one
    diff one <(neardup explain --corpus small.jsonl 4)
    cp small.jsonl other.jsonl
    [ "$(neardup compare small.jsonl:1 other.jsonl:3 --metric resemblance)" = 1.000000 ] || [ "$(neardup compare small.jsonl:1 other.jsonl:3 --metric resemblance)" = 1 ]
    run neardup explain small.jsonl:99 small.jsonl:1
    [ "$status" -eq 2 ]
    # A file that has such a name is a document.
    echo "one two three four five" >a:1
    echo "one two three four five six" >b:1
    [[ $(neardup explain a:1 b:1) == *"resemblance:"* ]]
}

@test "no name of an output says what it does not hold" {
    small_corpus
    for options in "-o x.sketch" "-o x --removed x.sketch" "-o x.sketch --keep longest"; do
        # shellcheck disable=SC2086
        run neardup dedup small.jsonl -q $options
        [ "$status" -eq 2 ]
        [[ ${lines[0]} == "neardup: 'x.sketch' is named like a sketch file, but the output is records: "* ]]
    done
    neardup sketch small.jsonl -o a.sketch -q
    for options in "-o x.jsonl" "-o x.csv.gz" "-o y.sketch --removed x.jsonl"; do
        # shellcheck disable=SC2086
        run neardup dedup a.sketch -q $options
        [ "$status" -eq 2 ]
        [[ ${lines[0]} == "neardup: 'x."*"' is named like a file of records, but what survives of a sketch file is a sketch file: name it FILE.sketch" ]]
    done
    [ ! -e x.sketch ]
    [ ! -e x.jsonl ]
    neardup dedup a.sketch -q -o y.sketch
}

@test "a file that is not read as text is not said to be read as text" {
    printf '%%PDF-1.4\n\0\0abc' >a.txt
    run neardup dedup a.txt -q
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == "neardup: a.txt: is a PDF file, so it is not read as text: "* ]]
    [[ $output != *"reading it as plain text"* ]]
}
