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

some_texts() {
    setup_corpus
    printf '{"id":"t1","text":"%s"}\n' "$(cat t.txt)" >ts.jsonl
    printf '%s\n' '{"id":"t2","text":"short"}' >>ts.jsonl
    printf '%s\n' '{"id":"t3","text":"one two three four five six seven eight other end"}' >>ts.jsonl
}

@test "sources: of several texts, each as if it were alone" {
    some_texts
    neardup sources --texts ts.jsonl c.jsonl >found 2>err
    diff found - <<'END'
text	id	share	tokens	new	passages	longest
t1	b	0.8571428571428571	12	12	1	12
t1	1	0.6428571428571429	9	2	1	9
t3	1	0.8	8	8	1	8
END
    grep -q "1 of 3 texts have fewer than 8 tokens, and no passage" err
    [ "$(neardup sources -q --top 1 --texts ts.jsonl c.jsonl | cut -f 1,2 | tail -n +2 | tr '\t\n' '  ')" = "t1 b t3 1 " ]
    neardup sources -q --texts ts.jsonl <c.jsonl | cmp - found
    echo c.jsonl >list
    neardup sources -q --texts ts.jsonl --files-from list | cmp - found
    mkdir d
    cp t.txt d
    [ "$(neardup sources -q --texts d c.jsonl | sed -n 2p | cut -f 1,2)" = $'d/t.txt\tb' ]
    run -2 neardup sources ts.jsonl c.jsonl
    [[ $output == *"ts.jsonl: contains more than one document; --texts takes all of them"* ]]
    run -2 neardup sources -q --texts - - <ts.jsonl
    [[ "$output" == *"standard input cannot be both the text and the corpus"* ]]
}

@test "sources: a sketch file tells how many shingles, and what it cannot tell is refused" {
    some_texts
    neardup sketch -q c.jsonl -o c.sketch
    neardup sources -q t.txt c.sketch >found
    diff found - <<'END'
id	share	shingles	new
b	0.8333333333333334	10	10
1	0.5833333333333334	7	2
END
    [ "$(neardup sources -q --texts ts.jsonl --json c.sketch | tail -1)" = '{"text":"t3","id":1,"at":"c.jsonl:1","share":0.75,"shingles":6,"new":6}' ]
    [ "$(neardup sources -q --least 10 t.txt c.sketch | cut -f 1 | tail -n +2)" = b ]
    run -2 neardup sources --gap 1 t.txt c.sketch
    [[ $output == *"gap: c.sketch is a sketch file, and this needs the documents themselves"* ]]
    neardup sketch -q --recipe manku-2007 c.jsonl -o m.sketch
    run -2 neardup sources t.txt m.sketch
    [[ $output == *"m.sketch has no shingles of words, by which sources are found"* ]]
    run -2 neardup sources c.sketch c.jsonl
    [[ $output == *"c.sketch is a sketch file: "* ]]
    neardup index build -q --recipe manku-2007 c.jsonl -o c.ndx
    run -2 neardup sources t.txt c.ndx
    [[ $output == *"c.ndx: is an index of fingerprints, so it is not read as text: neardup index query"* ]]
}

@test "sources: as a search of all common runs finds them" {
    python3 "$BATS_TEST_DIRNAME/sources_model.py" "$NEARDUP"
}
