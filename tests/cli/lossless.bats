#!/usr/bin/env bats
# lossless.bats - the recipe that removes only what is said in a longer document

bats_require_minimum_version 1.5.0
load common

@test "lossless: what is removed, and that nothing is lost, as a model finds it, in every way of running" {
    python3 "$BATS_TEST_DIRNAME/lossless_model.py" "$NEARDUP" 8
}

@test "lossless: the summary proves it, and the default's counts what it loses" {
    cat >in.jsonl <<'END'
{"id":1,"text":"one two three four five six seven eight nine ten eleven"}
{"id":2,"text":"one two three four five six seven eight nine ten"}
{"id":3,"text":"one two three four five six seven eight nine ten twelve thirteen"}
END
    run neardup dedup --recipe lossless in.jsonl -o out --summary s
    [[ $output == *"Runs lost: 0; each of a removed document stands in the one kept for it"* ]]
    grep -q '"lost_runs":0' s
    [ "$(wc -l <out)" = 2 ]
    run neardup dedup --threshold 0.5 in.jsonl -o out --summary s
    [[ $output != *"Runs lost"* ]]
    grep -q '"lost_runs":2' s
}

@test "lossless: plan takes it" {
    python3 -c 'for i in range(3000): print("{\"id\":%d,\"text\":\"a b c d e %d f g h i\"}" % (i, i % 900))' >in.jsonl
    neardup plan -q --recipe lossless in.jsonl -o plan.json
    grep -q '"removed":{"value":0.7' plan.json
}
