#!/usr/bin/env bats
# sources.bats - neardup sources: the documents that have passages of one text, ranked

bats_require_minimum_version 1.5.0
load common

setup_corpus() {
    printf 'One two three four five six seven eight nine ten. Some other words here' >t.txt
    printf '%s\n' '{"id":1,"text":"x one two three four five six seven eight nine, y"}' \
        '{"id":"b","text":"three four, five six seven eight nine TEN Some other words here"}' \
        '{"id":3,"text":"nothing"}' >c.jsonl
}

@test "sources: ranked by the tokens of the text that they have" {
    setup_corpus
    neardup sources -q t.txt c.jsonl >found
    diff found - <<'END'
id	share	tokens	new	passages	longest
b	0.8571428571428571	12	12	1	12
1	0.6428571428571429	9	2	1	9
END
    neardup sources -q t.txt <c.jsonl | cmp - found
    [ "$(neardup sources -q --top 1 t.txt c.jsonl | wc -l)" -eq 2 ]
    [ "$(neardup sources -q --least 10 t.txt c.jsonl | cut -f 1 | tail -n +2)" = b ]
    [ "$(neardup sources -q --json --top 1 t.txt c.jsonl)" = '{"id":"b","at":"c.jsonl:2","share":0.8571428571428571,"tokens":12,"new":12,"passages":1,"longest":12,"pieces":[{"from":8,"to":71,"source_from":0,"source_to":63,"tokens":12}]}' ]
}

@test "sources: documents are read as the options say" {
    setup_corpus
    printf '{"id":1,"text":"one <b>two three</b> four five six <i>seven</i> eight nine"}' >page.jsonl
    run -1 neardup sources -q t.txt page.jsonl
    [ "$(neardup sources -q --text-format html t.txt page.jsonl | tail -1 | cut -f 3)" = 9 ]
}

@test "sources: gaps join passages" {
    printf 'a b c d e f g h X i j k l m n o p' >t.txt
    printf 'a b c d e f g h Y i j k l m n o p' >s.txt
    [ "$(neardup sources -q t.txt s.txt | tail -1 | cut -f 3-6)" = $'16\t16\t2\t8' ]
    [ "$(neardup sources -q --gap 1 t.txt s.txt | tail -1 | cut -f 3-6)" = $'17\t17\t1\t17' ]
}

@test "sources: no source is status 1, and what cannot be is refused" {
    setup_corpus
    echo 'words that nobody else has ever written down in this order' >other.txt
    run -1 neardup sources -q other.txt c.jsonl
    echo short >short.txt
    run -2 neardup sources -q short.txt c.jsonl
    [[ "$output" == *"short.txt: has 1 tokens, and a passage has at least 8"* ]]
    run -2 neardup sources -q c.jsonl c.jsonl
    [[ "$output" == *"c.jsonl"* ]]
    run -2 neardup sources -q - - <t.txt
    [[ "$output" == *"standard input cannot be both the text and the corpus"* ]]
    run -2 neardup sources
    [[ "$output" == *"sources needs a text, then the corpus"* ]]
    run -2 neardup sources -q t.txt c.jsonl -o t.txt
    [[ "$output" == *"t.txt"* ]]
}

@test "sources: as a search of all common runs finds them" {
    python3 "$BATS_TEST_DIRNAME/sources_model.py" "$NEARDUP"
}
