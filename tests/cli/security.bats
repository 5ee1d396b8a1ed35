#!/usr/bin/env bats
# security.bats - --security-field: whoever may see a removed document may see the kept one

load common

documents() {
    local text="one two three four five six seven eight nine ten"
    printf '{"id":"%s","text":"%s","readers":%s}\n' \
        a "$text" '["x"]' b "$text" '[]' c "$text" '["y","x","x"]' d "$text." '"y"' >in.jsonl
    printf '{"id":"e","text":"%s"}\n' "$text" >>in.jsonl
}

@test "dedup, pairs, collapse, filter and plan --security-field: as defined, in every way of running" {
    python3 "$BATS_TEST_DIRNAME/security_model.py" "$NEARDUP"
}

@test "security-field: a string is one label, an array several; the manifest names the field" {
    documents
    neardup dedup -q in.jsonl --security-field readers -o out --manifest rows
    [ "$(cut -c1-9 out | paste -sd ' ')" = '{"id":"a" {"id":"b"' ]
    [ "$(grep -o '^{"removed":"."*,"kept":"."' rows | paste -sd ' ')" = '{"removed":"c","kept":"a" {"removed":"d","kept":"b" {"removed":"e","kept":"b"' ]
    head -1 rows | grep -q '"security_field":"readers"'
    printf 'id,text,readers\nf,one two three four,x\ng,one two three four,"[""y"", ""x""]"\nh,one two three four,y\n' >in.csv
    neardup dedup -q in.csv --security-field readers -o out.csv
    [ "$(cut -c1 out.csv | paste -sd ' ')" = "i f h" ]
}

@test "security-field: labels that were repaired alike are not the same" {
    printf '{"id":1,"text":"one two three four","readers":"\xe9"}\n' >in.jsonl
    printf '{"id":2,"text":"one two three four","readers":"\xe8"}\n' >>in.jsonl
    printf '{"id":3,"text":"one two three four","readers":"\xe9"}\n' >>in.jsonl
    neardup dedup -q in.jsonl --security-field readers -o out
    [ "$(wc -l <out)" -eq 2 ]
}

@test "security-field: what does not go with it, and a file that does not keep the field" {
    documents
    neardup sketch -q in.jsonl -o bare.sketch
    neardup sketch -q in.jsonl --record-field readers -o in.sketch
    n=0
    while IFS='|' read -r message options; do
        # shellcheck disable=SC2086 # several words
        run neardup dedup -q --security-field readers $options
        [ "$status" -eq 2 ]
        # shellcheck disable=SC2053 # a pattern
        [[ ${lines[0]} == $message ]] || { echo "$options: $output"; return 1; }
        n=$((n + 1))
    done <<'END'
*with cluster = components a document is removed for*|in.jsonl -o out --cluster components
*with cluster = complete a document is removed for*|in.jsonl -o out --cluster complete
*security-field does not go with keep none*|in.jsonl -o out --keep none
*bare.sketch keeps no field 'readers': make it anew with neardup sketch --record-field readers|bare.sketch -o out.sketch
*bare.sketch keeps no field 'readers': make it anew with neardup sketch --record-field readers|in.jsonl --against bare.sketch -o out
END
    [ "$n" -eq 5 ]
    run neardup filter -q --security-field readers -p in.sketch in.sketch
    [ "$status" -eq 2 ]
    [[ $output == *"security-field: sketch files keep no fields; name the prototypes themselves"* ]]
    run neardup collapse -q --security-field readers bare.sketch -o out.sketch
    [ "$status" -eq 2 ]
    [[ $output == *"bare.sketch keeps no field 'readers'"* ]]
    for command in "collapse in.jsonl" "filter -p in.jsonl in.jsonl"; do
        # shellcheck disable=SC2086 # several words
        run neardup $command -q --security-field reader
        [[ $output == *"security-field: no document has a field 'reader': everybody may see all documents"* ]]
    done
    [ ! -e out ]
    neardup dedup -q --security-field readers in.jsonl --against in.sketch -o out
    [ ! -s out ]
    neardup dedup -q --security-field readers in.jsonl --against new.sketch --append -o out
    neardup sketch info new.sketch | grep -q readers
    run neardup dedup -q --security-field reader in.jsonl -o out
    [[ ${lines[0]} == *"security-field: no document has a field 'reader': everybody may see all documents"* ]]
}
