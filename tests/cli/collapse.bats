#!/usr/bin/env bats
# collapse.bats - neardup collapse: a ranked list to one result a cluster

load common

# The ids of the records on standard input.
ids_of() {
    python3 -c 'import json,sys
print(*[json.loads(line)["id"] for line in sys.stdin])'
}

@test "collapse: one result a cluster, in order of rank" {
    small_corpus
    [ "$(neardup collapse small.jsonl | ids_of)" = "a 4 5" ]
    [ "$(neardup collapse small.jsonl --threshold 0.95 | ids_of)" = "a b 4 5" ]
    neardup collapse small.jsonl >collapsed
    neardup dedup small.jsonl -q >deduped
    cmp collapsed deduped
}

@test "collapse: a better near duplicate takes the place of the first" {
    small_corpus
    { sed -n 5p small.jsonl; sed -n '1,4p' small.jsonl; } >ranked.jsonl
    [ "$(neardup collapse ranked.jsonl --keep max:n | ids_of)" = "5 b 4" ]
    [ "$(neardup collapse ranked.jsonl --keep last | ids_of)" = "5 c 4" ]
    [ "$(neardup collapse ranked.jsonl --keep newest:date | ids_of)" = "5 b 4" ]
}

@test "collapse: results in another order" {
    small_corpus
    [ "$(neardup collapse small.jsonl --order max:n | ids_of)" = "4 a 5" ]
    [ "$(neardup collapse small.jsonl --order shortest | ids_of)" = "5 4 a" ] ||
        [ "$(neardup collapse small.jsonl --order shortest | ids_of)" = "5 a 4" ]
    [ "$(neardup collapse small.jsonl --order rank | ids_of)" = "a 4 5" ]
}

@test "collapse: expanded, the duplicates in their order" {
    small_corpus
    neardup collapse small.jsonl --expand rank >ranked
    neardup collapse small.jsonl --expand newest:date --keep last >dated
    python3 - <<'PY'
import json
read = lambda name: [json.loads(line) for line in open(name)]
first, *rest = read("ranked")
assert first == {"id": "a", "rank": 1, "own_rank": 1, "duplicates": [
    {"id": "b", "rank": 2, "resemblance": 15 / 16}, {"id": "c", "rank": 3, "resemblance": 1}]}
assert rest == [{"id": 4, "rank": 4, "own_rank": 4, "duplicates": []},
                {"id": 5, "rank": 5, "own_rank": 5, "duplicates": []}]
first = read("dated")[0]
assert (first["id"], first["rank"], first["own_rank"]) == ("c", 1, 3)
assert [d["id"] for d in first["duplicates"]] == ["b", "a"]
PY
}

@test "collapse: one cluster alone, all of it in ranked order" {
    small_corpus
    { sed -n 5p small.jsonl; sed -n 3p small.jsonl; sed -n 4p small.jsonl; sed -n 1,2p small.jsonl; } >ranked.jsonl
    for id in a b c; do
        [ "$(neardup collapse ranked.jsonl --only $id | ids_of)" = "c a b" ]
    done
    [ "$(neardup collapse ranked.jsonl --only 4 | ids_of)" = 4 ]
    [ "$(neardup collapse ranked.jsonl --only b --order max:n | ids_of)" = "b c a" ]
    [ "$(neardup collapse ranked.jsonl --only b --keep newest:date --order newest:date | ids_of)" = "b c a" ]
    [ "$(neardup collapse ranked.jsonl --only a -t 0.95 | ids_of)" = "c a" ]
    neardup collapse ranked.jsonl --expand rank >all
    neardup collapse ranked.jsonl --expand rank --only b >one
    cmp <(grep '"id":"c","rank":2' all) one
    # As the other outputs write an id, and by its place.
    printf 'id,text\n"x\ty",one two three four\n,one two three four\n' | sed 's/\\t/\t/' >list.csv
    [ "$(neardup collapse list.csv --only 'x\ty' | wc -l)" -eq 3 ]
    [ "$(neardup collapse list.csv --only list.csv:3 | wc -l)" -eq 3 ]
    run neardup collapse ranked.jsonl --only nobody -o out
    [ "$status" -eq 2 ]
    [ "${lines[0]}" = "neardup: nobody: no document has this id or place" ]
    [ ! -e out ]
}

@test "collapse: CSV keeps its header, files are named" {
    printf 'id,text\n1,one two three four five\n2,one two three four five\n3,other words stand here now\n' >list.csv
    [ "$(neardup collapse list.csv)" = "$(printf 'id,text\n1,one two three four five\n3,other words stand here now')" ]
    printf 'text,id\nmore,4\n' >other.csv
    run neardup collapse list.csv other.csv
    [ "$status" -eq 2 ]
    [[ $output == *"different headers"* ]]
    echo "one two three four five" | tee 1.txt >2.txt
    echo "quite other words" >3.txt
    [ "$(neardup collapse 3.txt 2.txt 1.txt)" = "$(printf '3.txt\n2.txt')" ]
    run neardup collapse 1.txt list.csv
    [ "$status" -eq 2 ]
    [[ $output == *"a list cannot mix records with files"* ]]
}

@test "collapse: as dedup decides, on a large list" {
    large_corpus all.jsonl
    for keep in first longest min:n last; do
        neardup collapse all.jsonl --max-bad 5% --keep $keep -o collapsed 2>/dev/null
        neardup dedup all.jsonl --max-bad 5% --keep $keep -o deduped -q 2>/dev/null
        sort collapsed >c
        sort deduped >d
        cmp c d
    done
    neardup collapse all.jsonl --max-bad 5% --expand rank -j1 -o one 2>/dev/null
    neardup collapse all.jsonl --max-bad 5% --expand rank -j4 -o four 2>/dev/null
    cmp one four
}

@test "collapse: what is wrong is said" {
    small_corpus
    run neardup collapse small.jsonl --order best
    [ "$status" -eq 2 ]
    [[ $output == *"order: 'best' is not one of rank"* ]]
    run neardup collapse small.jsonl --expand ""
    [ "$status" -eq 2 ]
    : >empty.jsonl
    run neardup collapse empty.jsonl
    [ "$status" -eq 1 ]
}
