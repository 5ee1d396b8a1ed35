#!/usr/bin/env bats
# keep_none.bats - --keep none: every document of a cluster is removed

load common

@test "keep none: all of a cluster goes, in the same bytes in every way of running" {
    python3 "$BATS_TEST_DIRNAME/clusters_model.py" none "$NEARDUP"
}

@test "keep none: survivors of a sketch file, and what does not go with it" {
    printf '{"id":"%s","text":"one two three four five six seven"}\n' a b >in.jsonl
    printf '{"id":"c","text":"eight nine ten eleven twelve thirteen"}\n' >>in.jsonl
    neardup sketch in.jsonl -o in.sketch
    neardup dedup -q in.sketch --keep none -o out.sketch --clusters c --manifest m
    [ "$(neardup sketch info out.sketch | grep -c 'documents: 1')" = 1 ]
    grep -q '^{"removed":"a","kept":null,"removed_at":"in.jsonl:1","kept_at":null}$' m
    run neardup dedup -q in.jsonl --keep none --against in.sketch --append -o out
    [ "$status" -eq 2 ]
    [[ "$output" == *"append does not go with keep none"* ]]
    run neardup dedup -q in.jsonl --keep none --annotate -o out
    [ "$status" -eq 2 ]
    [[ "$output" == *"annotate does not go with keep none"* ]]
    run neardup collapse in.jsonl --keep none -o out
    [ "$status" -eq 2 ]
    [[ "$output" == *"none would show no result of a cluster"* ]]
    [ ! -e out ]
}
