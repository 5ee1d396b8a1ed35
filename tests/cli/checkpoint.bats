#!/usr/bin/env bats
# checkpoint.bats - neardup dedup --checkpoint and --known-sketches: sketches that are not made again

# shellcheck disable=SC2086  # options are words
load common

# 10,000 documents, of which every third resembles the one before it.
corpus() {
    python3 - >docs.jsonl <<'END'
import json, random
rng = random.Random(3)
words = [f"w{i}" for i in range(3000)]
for i in range(10000):
    text = text[:-1] + [rng.choice(words)] if i % 3 == 2 else rng.choices(words, k=40)
    print(json.dumps({"id": i, "text": " ".join(text)}))
END
}

# The outputs of `neardup dedup docs.jsonl` with these options, in a folder.
outputs() {
    mkdir -p "$1"
    neardup dedup docs.jsonl -q -o "$1/kept.jsonl" --manifest "$1/m.jsonl" --clusters "$1/c.tsv" "${@:2}"
}

rows_of() {
    local n=0 file
    for file in "$@"; do
        n=$((n + $(neardup sketch dump "$file" | wc -l)))
    done
    echo "$n"
}

@test "checkpoint: a second run takes all sketches from the folder, and writes the same bytes" {
    corpus
    outputs plain
    outputs first --checkpoint cp
    [ "$(rows_of cp/*.sketch)" -gt 9900 ]
    neardup sketch verify cp/000000.sketch
    cp -r cp before
    outputs second --checkpoint cp
    diff -r before cp
    diff -r plain first
    diff -r plain second
}

@test "slow: checkpoint: all kinds of clusters and keep policies decide as without it" {
    corpus
    local way
    for way in "--cluster components" "--cluster complete" "--keep last" "--threads 1" "--recipe manku-2007" \
        "--candidates simhash --verify none" "--memory 64M" "--memory 64M --keep longest"; do
        rm -rf cp plain first second
        outputs plain $way
        outputs first --checkpoint cp $way
        outputs second --checkpoint cp $way
        diff -r plain first
        diff -r plain second
    done
}

@test "checkpoint: texts that changed are sketched again" {
    corpus
    outputs first --checkpoint cp
    sed -i '1,100s/"text": "/"text": "another /' docs.jsonl
    outputs plain
    outputs second --checkpoint cp
    diff -r plain second
    [ "$(rows_of cp/*.sketch)" -gt 10000 ]
}

@test "checkpoint: a damaged chunk is made again" {
    corpus
    outputs plain
    outputs first --checkpoint cp
    printf 'X' | dd of=cp/000001.sketch bs=1 seek=20000 conv=notrunc status=none
    truncate -s 9000 cp/000002.sketch
    outputs second --checkpoint cp
    diff -r plain second
    run neardup sketch verify cp/000001.sketch
    [ "$status" -eq 2 ]
    [ "$(rows_of cp/*.sketch)" -gt 9900 ]
}

@test "checkpoint: files that it did not make stay as they are" {
    corpus
    mkdir cp
    head -n 3 docs.jsonl >cp/000007.sketch
    neardup sketch -q docs.jsonl -o whole.sketch
    head -c 9000 whole.sketch >cp/000008.sketch
    : >cp/000009.sketch
    cp -r cp before
    outputs plain
    outputs first --checkpoint cp
    diff -r plain first
    for number in 7 8 9; do cmp before/00000$number.sketch cp/00000$number.sketch; done
    [ -e cp/000010.sketch ]
}

@test "checkpoint: another recipe is refused, by the key that differs" {
    corpus
    outputs first --checkpoint cp
    run neardup dedup docs.jsonl --threshold 0.7 --checkpoint cp -o x.jsonl
    [ "$status" -eq 2 ]
    [[ "$output" == *"cp/000000.sketch was made by another recipe: threshold differs"* ]]
    [ ! -e x.jsonl ]
}

@test "checkpoint: a recipe that looks up samples of shingles is refused" {
    corpus
    run neardup dedup docs.jsonl --verify containment --checkpoint cp -o x.jsonl
    [ "$status" -eq 2 ]
    [[ "$output" == *"checkpoint: this recipe looks up samples of shingles"* ]]
}

@test "checkpoint: what a recipe reads beside the text is known again, too" {
    for i in 1 2 3 4 5 6; do
        printf '{"id":%d,"title":"title %d","text":"the same words stand in each of these texts"}\n' \
            "$i" $((i % 2))
    done >docs.jsonl
    cat >fields.ini <<'END'
[signature all]
fields = title:9
kind = simhash
bits = 64
[decide]
candidates = match
match = distance(all) <= 3
verify = none
END
    neardup dedup --recipe fields.ini docs.jsonl -o plain.jsonl --manifest plain.m
    for i in 1 2; do
        neardup dedup --recipe fields.ini docs.jsonl --checkpoint cp -o kept.jsonl --manifest kept.m
        cmp plain.jsonl kept.jsonl
        cmp plain.m kept.m
    done
    neardup sketch dump cp/000000.sketch | grep -c fingerprint
}

@test "checkpoint: two runs cannot share a folder" {
    corpus
    mkdir cp
    exec 7<"cp"
    flock 7
    run neardup dedup docs.jsonl --checkpoint cp -o x.jsonl
    exec 7<&-
    [ "$status" -eq 2 ]
    [[ "$output" == *"cp: another run uses it"* ]]
}

@test "checkpoint: a run that was killed at any moment is run again" {
    python3 "$BATS_TEST_DIRNAME/checkpoint_kill.py" "$NEARDUP" "$(sized 50 6)"
}

@test "known sketches: the parts of several machines give the bytes of one" {
    corpus
    outputs plain
    neardup sketch docs.jsonl --part 1/3 -o 1.sketch -q
    neardup sketch docs.jsonl --part 2/3 -o 2.sketch -q --no-shingles
    outputs known --known-sketches 1.sketch --known-sketches 2.sketch
    diff -r plain known
    outputs known --known-sketches 1.sketch --known-sketches 2.sketch --threshold 0.6 --keep last
    outputs other --threshold 0.6 --keep last
    diff -r other known
}

@test "known sketches: another recipe and damaged files are refused" {
    corpus
    neardup sketch docs.jsonl -o a.sketch -q
    run neardup dedup docs.jsonl --shingle 4 --known-sketches a.sketch -o x.jsonl
    [ "$status" -eq 2 ]
    [[ "$output" == *"a.sketch: its sketches were made by another recipe: shingle differs"* ]]
    printf 'X' | dd of=a.sketch bs=1 seek=20000 conv=notrunc status=none
    run neardup dedup docs.jsonl --known-sketches a.sketch -o x.jsonl
    [ "$status" -eq 2 ]
    [[ "$output" == *"a.sketch: the sketch file is damaged"* ]]
    run neardup dedup docs.jsonl --known-sketches docs.jsonl -o x.jsonl
    [ "$status" -eq 2 ]
    [[ "$output" == *"docs.jsonl: not a sketch file"* ]]
    [ ! -e x.jsonl ]
}

@test "slow: checkpoint: with --against, sketches are kept with their shingles, and the file gets the same bytes" {
    corpus
    head -6000 docs.jsonl >old.jsonl
    local way
    for way in "" "--cluster components" "--keep last --threads 1" "--verify none --set candidates=simhash"; do
        rm -rf cp plain first second old.sketch
        neardup dedup old.jsonl --against old.sketch --append -q -o old.out $way
        for name in plain first second; do cp old.sketch $name.sketch; done
        outputs plain --against plain.sketch --append $way
        outputs first --against first.sketch --append --checkpoint cp $way
        [ "$(rows_of cp/*.sketch)" -eq 10000 ]
        cp -r cp before
        outputs second --against second.sketch --append --checkpoint cp $way
        diff -r before cp
        rm -r before
        cmp plain.sketch first.sketch
        cmp plain.sketch second.sketch
        sed -i 's/first.sketch\|second.sketch/plain.sketch/' first/m.jsonl second/m.jsonl
        diff -r plain first
        diff -r plain second
    done
    # Chunks of a run without --against have no shingles, and are of no use; known sketches are.
    rm -rf cp known plain
    outputs known --checkpoint cp
    cp old.sketch plain.sketch
    cp old.sketch known.sketch
    outputs plain --against plain.sketch --append
    outputs known --against known.sketch --append --checkpoint cp
    cmp plain.sketch known.sketch
    neardup sketch docs.jsonl -q -o docs.sketch
    cp old.sketch known.sketch
    outputs known --against known.sketch --append --known-sketches docs.sketch
    cmp plain.sketch known.sketch
}

@test "checkpoint: what cannot be had with it is refused" {
    corpus
    neardup sketch docs.jsonl -o a.sketch -q
    run neardup dedup a.sketch --checkpoint cp -o x.sketch
    [ "$status" -eq 2 ]
    [[ "$output" == *"checkpoint cannot be had with "* ]]
    [ ! -e x.sketch ]
}
