#!/usr/bin/env bats
# differs.bats - dedup --differs: the words that only one of the two documents has

bats_require_minimum_version 1.5.0
load common

@test "differs: every row is as a model recomputes it, in every way of running" {
    python3 "$BATS_TEST_DIRNAME/differs_model.py" "$NEARDUP" 10
}

@test "differs: explain and compare name the class, and a pipe is read again for it" {
    cat >in.jsonl <<'END'
{"id":1,"text":"the committee meets on Monday at ten in room 12 of the old town hall"}
{"id":2,"text":"the committee meets on Monday at ten in room 14 of the old town hall"}
END
    neardup dedup -q -f jsonl --threshold 0.5 -o out --manifest m --differs <in.jsonl
    [[ $(tail -n 1 m) == *'"differs":{"in":"numbers","removed":["14"],"kept":["12"]}}' ]]
    run -1 neardup explain --corpus in.jsonl 1 2
    [[ $output == *"they differ in:      numbers"* ]]
    run -1 neardup explain --json --corpus in.jsonl 1 2
    [[ $output == *'"differs_in":"numbers"'* ]]
    run -1 neardup compare --corpus in.jsonl 1 2
    [[ $output == *"they differ in:       numbers"* ]]
    run -1 neardup compare --json --corpus in.jsonl 1 2
    [[ $output == *'"differs_in":"numbers"'* ]]
}

@test "differs: an old document has no text here, and its rows say nothing" {
    echo '{"id":1,"text":"one two three four five six seven"}' >old.jsonl
    sed 's/:1/:2/; s/seven/eight/' old.jsonl >new.jsonl
    sed 's/:1/:3/; s/one/nil/; s/two/nul/; s/three/zip/' old.jsonl >>new.jsonl
    sed 's/:1/:4/; s/one/nil/; s/two/nul/; s/three/zip/; s/seven/ten/' old.jsonl >>new.jsonl
    neardup sketch -q old.jsonl -o old.sketch
    neardup dedup -q new.jsonl -o out --against old.sketch --threshold 0.5 --manifest m --differs
    [ "$(tail -n +2 m | grep -c differs)" = 1 ]
    [[ $(tail -n 1 m) == *'"differs":{"in":"words","removed":["ten"],"kept":["seven"]}}' ]]
}

@test "differs: without a manifest, or without texts, it is refused" {
    echo '{"id":1,"text":"one two three four five six seven"}' >in.jsonl
    run -2 neardup dedup in.jsonl -q -o out --differs
    [[ $output == *"differs adds to the rows of the manifest, and there is none"* ]]
    neardup sketch -q in.jsonl -o in.sketch
    run -2 neardup dedup in.sketch -q -o out.sketch --manifest m --differs
    [[ $output == *"differs: in.sketch is a sketch file, and this needs the documents themselves"* ]]
    [ ! -e out ]
    [ ! -e m ]
}
