#!/usr/bin/env bats
# dedup.bats - what is a duplicate, and which document is kept

load common

@test "near and equal documents are removed, the first is kept" {
    small_corpus
    run neardup dedup small.jsonl -o out.jsonl --quiet
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    [ "$(ids out.jsonl)" = "a 4 5" ]
}

@test "survivors are the records byte for byte" {
    small_corpus
    neardup dedup small.jsonl -o out.jsonl --quiet
    sed -n '1p;4,5p' small.jsonl >expected
    cmp out.jsonl expected
}

@test "standard input to standard output" {
    small_corpus
    neardup dedup --format jsonl --quiet <small.jsonl >out.jsonl
    [ "$(ids out.jsonl)" = "a 4 5" ]
    neardup dedup --format jsonl --quiet - <small.jsonl >again.jsonl
    cmp out.jsonl again.jsonl
}

@test "the threshold is exact: a pair at it is removed, above it is not" {
    # 8 shingles, 9 shingles, 8 in both: resemblance 8/9.
    printf '%s\n' '{"id":1,"text":"a b c d e f g h i j"}' '{"id":2,"text":"a b c d e f g h i j k"}' >two.jsonl
    neardup dedup two.jsonl -o out.jsonl -q --threshold 8/9
    [ "$(ids out.jsonl)" = "1" ]
    neardup dedup two.jsonl -o out.jsonl -q --threshold 0.889
    [ "$(ids out.jsonl)" = "1 2" ]
    neardup dedup two.jsonl -o out.jsonl -q -t .888
    [ "$(ids out.jsonl)" = "1" ]
}

@test "shingles of words and of characters" {
    printf '%s\n' '{"id":1,"text":"abcdefghijklmnopqrstuvwxyzabcdefghijklmno"}' '{"id":2,"text":"abcdefghijklmnopqrstuvwxyzabcdefghijklmnp"}' >two.jsonl
    neardup dedup two.jsonl -o out.jsonl -q --shingle 3
    [ "$(ids out.jsonl)" = "1 2" ]
    neardup dedup two.jsonl -o out.jsonl -q --shingle 4c
    [ "$(ids out.jsonl)" = "1" ]
    neardup dedup two.jsonl -o out.jsonl -q --characters 4
    [ "$(ids out.jsonl)" = "1" ]
    neardup dedup two.jsonl -o out.jsonl -q -w 1
    [ "$(ids out.jsonl)" = "1 2" ]
}

@test "keep policies" {
    small_corpus
    check() {
        neardup dedup small.jsonl -o out.jsonl -q --keep "$1"
        [ "$(ids out.jsonl)" = "$2" ] || { echo "$1: $(ids out.jsonl)"; return 1; }
    }
    check first "a 4 5"
    check last "c 4 5"
    check longest "b 4 5"
    check shortest "a 4 5"
    check newest:date "b 4 5"
    check max:n "b 4 5"
    check min:n "a 4 5"
    check newest:no_such_field "a 4 5"
}

@test "a preferred source comes before the keep policy" {
    small_corpus
    neardup dedup small.jsonl -o out.jsonl -q --prefer src=news,book
    [ "$(ids out.jsonl)" = "c 4 5" ]
    neardup dedup small.jsonl -o out.jsonl -q --prefer src=paper,book,news --keep last
    [ "$(ids out.jsonl)" = "b 4 5" ]
}

@test "other keep policies work on a pipe" {
    small_corpus
    neardup dedup --format jsonl -q --keep longest --tmp . <small.jsonl >out.jsonl
    [ "$(ids out.jsonl)" = "b 4 5" ]
    [ "$(ls)" = "$(printf 'out.jsonl\nsmall.jsonl')" ]
}

@test "documents are compared within a field only" {
    small_corpus
    neardup dedup small.jsonl -o out.jsonl -q --within lang
    [ "$(ids out.jsonl)" = "a c 4 5" ]
    neardup dedup small.jsonl -o out.jsonl -q --within lang --keep longest
    [ "$(ids out.jsonl)" = "b c 4 5" ]
}

@test "methods" {
    small_corpus
    neardup dedup small.jsonl -o out.jsonl -q --method identical
    [ "$(ids out.jsonl)" = "a b 4 5" ]
    neardup dedup small.jsonl -o out.jsonl -q --method simhash --bits 15
    [ "$(ids out.jsonl)" = "a 4 5" ]
    neardup dedup small.jsonl -o out.jsonl -q --method simhash --bits 0
    [ "$(ids out.jsonl)" = "a b 4 5" ]
    neardup dedup small.jsonl -o out.jsonl -q --candidates all
    [ "$(ids out.jsonl)" = "a 4 5" ]
    neardup dedup small.jsonl -o out.jsonl -q --verify containment-either --threshold 1 --bands 128x1
    [ "$(ids out.jsonl)" = "a 4 5" ]
    neardup dedup small.jsonl -o out.jsonl -q --verify cosine --threshold 0.96 --candidates all
    [ "$(ids out.jsonl)" = "a 4 5" ]
    neardup dedup small.jsonl -o out.jsonl -q --verify cosine --threshold 0.97 --candidates all
    [ "$(ids out.jsonl)" = "a b 4 5" ]
}

@test "without verification the summary says so first, and the manifest in every row" {
    small_corpus
    run neardup dedup small.jsonl -o out.jsonl --verify none --manifest m
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == "NOT VERIFIED"* ]]
    [ "$(rows m removed verified resemblance identical | head -1)" = '"b" false null "no"' ]
}

@test "short documents" {
    printf '%s\n' '{"id":1,"text":"hello world"}' '{"id":2,"text":"Hello, world"}' \
        '{"id":3,"text":"hello world"}' '{"id":4,"text":""}' '{"id":5,"text":"..."}' '{"id":6,"text":""}' >short.jsonl
    neardup dedup short.jsonl -o out.jsonl -q
    [ "$(ids out.jsonl)" = "1 2 4 5" ]
    neardup dedup short.jsonl -o out.jsonl -q --short tokens
    [ "$(ids out.jsonl)" = "1 4 5" ]
    neardup dedup short.jsonl -o out.jsonl -q --short keep
    [ "$(ids out.jsonl)" = "1 2 3 4 5 6" ]
}

# A chain: each resembles the next, the ends do not resemble each other.
chain() {
    python3 - <<'EOF'
import json
words = [f"w{i}" for i in range(60)]
with open("chain.jsonl", "w") as out:
    for i in range(3):
        out.write(json.dumps({"id": i, "text": " ".join(words[i * 4:i * 4 + 40])}) + "\n")
EOF
}

@test "stars do not follow chains, components do" {
    chain
    neardup dedup chain.jsonl -o out.jsonl -q --threshold 0.8 --manifest star
    [ "$(ids out.jsonl)" = "0 2" ]
    neardup dedup chain.jsonl -o out.jsonl -q --threshold 0.8 --cluster components --manifest m --clusters c
    [ "$(ids out.jsonl)" = "0" ]
    [ "$(rows m removed kept via)" = "$(printf '1 0 0\n2 0 1')" ]
    # 30 of 46: below the threshold to the kept one, 34 of 42 to the neighbour.
    [ "$(rows m removed shared resemblance via_resemblance | tail -1)" = "2 30 0.6521739130434783 0.8095238095238095" ]
    [ "$(cat c)" = "$(printf '0\t0\n1\t0\n2\t0')" ]
}

@test "components keep by policy too" {
    chain
    neardup dedup chain.jsonl -o out.jsonl -q --cluster components --keep last
    [ "$(ids out.jsonl)" = "2" ]
}

@test "a recipe, changed by --set, changed by options" {
    small_corpus
    printf '[decide]\nthreshold = 1\nkeep = last\n' >strict.ini
    neardup dedup small.jsonl -o out.jsonl -q --recipe strict.ini
    [ "$(ids out.jsonl)" = "b c 4 5" ]
    neardup dedup small.jsonl -o out.jsonl -q --set threshold=0.8 --recipe strict.ini
    [ "$(ids out.jsonl)" = "c 4 5" ]
    neardup dedup small.jsonl -o out.jsonl -q --keep first --set threshold=0.8 --recipe strict.ini
    [ "$(ids out.jsonl)" = "a 4 5" ]
}

@test "recall, bands and the limit of comparisons reach the engine" {
    small_corpus
    neardup dedup small.jsonl -o out.jsonl -q --recall 0.5 --summary s
    grep -q '"bands":' s
    neardup dedup small.jsonl -o out.jsonl -q --bands 10x4 --summary s
    grep -q '"bands":10,"rows":4,' s
    neardup dedup small.jsonl -o out.jsonl -q --max-checks 1 --manifest m
    head -1 m | grep -q 'max_checks = 1'
}

@test "double ids are counted and named, 17 and \"17\" being two" {
    printf '%s\n' '{"id":17,"text":"a b c d"}' '{"id":"17","text":"e f g h"}' '{"id":17,"text":"i j k l"}' >d.jsonl
    run neardup dedup d.jsonl -o out.jsonl -q --summary s
    [ "$status" -eq 0 ]
    [ "$output" = "neardup: warning: d.jsonl:3: the id '17' appeared before; 1 document repeats an earlier id" ]
    grep -q '"double_ids":1,' s
}

@test "a field that no document has is warned of" {
    small_corpus
    says() {
        local words=$1
        shift
        run neardup dedup small.jsonl -o out -q "$@"
        [ "$status" -eq 0 ]
        [[ ${lines[0]} == "neardup: warning: $words"* ]] || { echo "$output"; return 1; }
    }
    says "within: no document has a field 'language': all documents are compared" --within language
    says "keep: no document has a number in a field 'm': the first of a cluster is kept" --keep max:m
    says "keep: no document has a number in a field 'lang'" --keep min:lang
    says "keep: no document has a date in a field 'src'" --keep newest:src
    says "keep: no document has a text in a field 'body'" --keep longest:body
    says "prefer: no document has a field 'source'" --prefer source=web,book
    says "id field: no document has an id in a field 'key': they are named by their place" --id-field key
    run neardup pairs small.jsonl -o pairs -q --within language
    [[ ${lines[0]} == *"no document has a field 'language'"* ]]
    run neardup dedup small.jsonl -o out -q --within lang --keep max:n --prefer src=web --id-field src
    [ -z "$output" ]
}

@test "complete link: every two of a cluster are duplicates" {
    # b is near a and c, which are not near one another.
    python3 -c 'import json
words = [f"w{i}" for i in range(60)]
for name, text in ("a", words[:40]), ("b", words[5:45]), ("c", words[10:50]), ("d", words[10:51]):
    print(json.dumps({"id": name, "text": " ".join(text)}))' >chain.jsonl
    of() { neardup dedup -q --threshold 0.7 --cluster "$1" "${@:2}" chain.jsonl --clusters c -o out --manifest m && cut -f 2 c | tr '\n' ' '; }
    [ "$(of star)" = "a a c c " ]
    [ "$(of components)" = "a a a a " ]
    [ "$(of complete)" = "a a c c " ]
    [ "$(of star --prefer id=b)" = "b b b b " ]
    [ "$(of complete --prefer id=b)" = "b b c c " ]
    [ "$(rows m removed kept method verified | tr '\n' ' ')" = '"a" "b" "minhash" true "d" "c" "minhash" true ' ]
    [ "$(grep -c via m)" -eq 0 ]
    run neardup dedup --cluster complet chain.jsonl -o out
    [ "$status" -eq 2 ]
    [[ $output == *"did you mean 'complete'?"* ]]
}
