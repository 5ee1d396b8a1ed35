#!/usr/bin/env bats
# template.bats - neardup template: what a cluster shares, and what is left

load common

shop() {
    for thing in "a red bicycle|120" "a large blue car|9000" "some old books|15" "green shoes|40"; do
        echo "Welcome to our little shop! Today we offer: ${thing%|*}. It costs only ${thing#*|} pounds, and we send it to your door."
    done
}

@test "template: the frame of the pages, and what is left of each" {
    shop >pages.txt
    run neardup template --unit line pages.txt
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = "template: 13 shingles occur in at least 4 of 4 documents; 13 of them in pages.txt:1" ]
    [ "${lines[1]}" = "  Welcome to our little shop! Today we offer" ]
    [ "${lines[2]}" = "  It costs only" ]
    [ "${lines[3]}" = "  pounds, and we send it to your door" ]
    [ "${lines[4]}" = "left of pages.txt:1: 4 of 23 tokens" ]
    [ "${lines[5]}" = "  a red bicycle" ]
    [ "${lines[6]}" = "  120" ]
}

@test "template: as JSON, and with a share" {
    { shop; echo "Nothing of the kind stands here at all."; } >pages.txt
    neardup template --unit line pages.txt --json >rows.jsonl
    python3 - <<'PY'
import json
head, *rows = [json.loads(line) for line in open("rows.jsonl")]
assert head == {"documents": 5, "least": 4, "shingles": 13, "as_in": "pages.txt:1", "of_them": 13, "template":
    ["Welcome to our little shop! Today we offer", "It costs only", "pounds, and we send it to your door"]}
assert [r["left"] for r in rows[:4]] == [["a red bicycle", "120"], ["a large blue car", "9000"],
                                         ["some old books", "15"], ["green shoes", "40"]]
assert (rows[4]["tokens"], rows[4]["shared"]) == (8, 0)
PY
    run neardup template --unit line pages.txt --share 1
    [ "$status" -eq 1 ]
    [[ ${lines[0]} == "template: 0 shingles"* ]]
}

@test "template: a cluster of what dedup wrote, by any of its ids" {
    small_corpus
    neardup dedup small.jsonl -q --clusters clusters.tsv.gz >/dev/null
    for id in a b c; do
        neardup template small.jsonl --clusters clusters.tsv.gz --cluster $id --json >rows.jsonl
        [ "$(sed 1d rows.jsonl | python3 -c 'import json,sys
print(*[json.loads(line)["id"] for line in sys.stdin])')" = "a b c" ]
    done
    run neardup template small.jsonl --clusters clusters.tsv.gz --cluster zzz
    [ "$status" -eq 2 ]
    [[ $output == *"clusters.tsv.gz: no document has the id 'zzz'"* ]]
    run neardup template small.jsonl --cluster a
    [ "$status" -eq 2 ]
    [[ $output == *"must be given together"* ]]
    echo "no tab here" >bad.tsv
    run neardup template small.jsonl --clusters bad.tsv --cluster a
    [ "$status" -eq 2 ]
    [[ $output == *"bad.tsv:1: not an id, a tab and an id"* ]]
    run neardup template small.jsonl --clusters none.tsv --cluster a
    [ "$status" -eq 2 ]
}

@test "template: what is wrong is said" {
    small_corpus
    run neardup template small.jsonl --characters 5
    [ "$status" -eq 2 ]
    [[ $output == *"shingles of words"* ]]
    run neardup template small.jsonl --share 0
    [ "$status" -eq 2 ]
    : >empty.jsonl
    run neardup template empty.jsonl -o out
    [ "$status" -eq 2 ]
    [ ! -e out ]
}
