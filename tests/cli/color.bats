#!/usr/bin/env bats
# color.bats - colours in results, summaries, errors and help: on a terminal, and nowhere else

load common

bats_require_minimum_version 1.5.0

a_terminal_and_documents() {
    unset NO_COLOR
    export TERM=xterm
    printf '%s\n' '{"id":1,"text":"one two three four"}' '{"id":2,"text":"one two three four"}' \
        '{"id":3,"text":"five six seven eight"}' '{broken' >docs.jsonl
}

# One line for each way of showing something: its name, what is shown as cat -v has it, the arguments.
shown() {
    cat <<'TABLE'
summary	^[[1mDocuments^[[0m	dedup docs.jsonl -o kept.jsonl
left out	^[[33mneardup: ^[[0mdocs.jsonl:4: not a JSON object	dedup docs.jsonl -o kept.jsonl
left out	^[[33m  bad records                       1	dedup docs.jsonl -o kept.jsonl
error	^[[31mneardup: ^[[0mnobody: no document has this id or place	compare --corpus docs.jsonl 1 nobody
usage	^[[31mneardup: ^[[0mthere is no option --treshold	dedup --treshold 1
words	terms only in A: 4	explain --corpus docs.jsonl 1 3
words	 ^[[31m one two three four^[[0m	explain --corpus docs.jsonl 1 3
words	 ^[[32m five six seven eight^[[0m	explain --corpus docs.jsonl 1 3
verdict	verdict: ^[[1mdifferent^[[0m: 	explain --corpus docs.jsonl 1 3
help	^[[1mExamples^[[0m	dedup --help
note	^[[1mneardup: ^[[0mdocs/choosing.md says	recipe list
TABLE
}

@test "color: on a terminal" {
    a_terminal_and_documents
    shown | while IFS=$'\t' read -r what line arguments; do
        read -ra words <<<"$arguments"
        on_terminal "${words[@]}" >out || true
        cat -v out >seen
        grep -qF -- "$line" seen || { echo "$what: $arguments"; cat seen; exit 1; }
    done
}

@test "color: not in a pipe or a file, and not where somebody wants none" {
    a_terminal_and_documents
    shown | cut -f 3 | sort -u | while read -ra words; do
        "$NEARDUP" "${words[@]}" >out 2>&1 || true
        [ -s out ]
        run ! grep -q $'\e' out
        NO_COLOR=1 on_terminal "${words[@]}" >out || true
        [ -s out ]
        run ! grep -q $'\e\[[0-9]*m' out
        TERM=dumb on_terminal "${words[@]}" >out || true
        run ! grep -q $'\e\[[0-9]*m' out
    done
}

@test "color: --color always and never, whatever the output and the environment" {
    a_terminal_and_documents
    for command in "dedup docs.jsonl -o kept.jsonl" "pairs docs.jsonl -o pairs.tsv" \
        "filter -p docs.jsonl docs.jsonl -o kept.jsonl" "explain --corpus docs.jsonl 1 3"; do
        read -ra words <<<"$command"
        NO_COLOR=1 TERM=dumb "$NEARDUP" "${words[@]}" --color always >out 2>&1 || true
        grep -q $'\e\[1m' out
        on_terminal "${words[@]}" --color never >out || true
        [ -s out ]
        run ! grep -q $'\e\[[0-9]*m' out
    done
    run ! grep -q $'\e' kept.jsonl pairs.tsv
    run -2 neardup dedup --color sometimes docs.jsonl
    [ "$output" = "neardup: --color: 'sometimes' is not one of auto, always, never" ]
}
