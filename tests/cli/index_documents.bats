#!/usr/bin/env bats
# index_documents.bats - index of documents: by a recipe, by rows of sketch, and what is refused

load common

# Documents of which every third is one that came before but for a word. $1 how many, $2 the first
documents() {
    python3 - "$@" <<'END'
import json, random, sys
n, first = map(int, sys.argv[1:3])
random.seed(7)
words = ["w%d" % i for i in range(4000)]
texts = []
for i in range(first + n):
    text = [random.choice(words) for _ in range(300)]
    if i % 3 == 2:
        text = list(texts[random.randrange(len(texts))])
        text[random.randrange(300)] = "other"
    texts.append(text)
    if i >= first:
        print(json.dumps({"id": "doc %d" % i, "body": " ".join(text)}))
END
}

setup() {
    NEARDUP=${NEARDUP:-$BATS_TEST_DIRNAME/../../build/release/neardup}
    cd "$BATS_TEST_TMPDIR" || return 1
    documents 300 0 >docs.jsonl
    documents 90 300 >new.jsonl
    fields=(--text-field body -q)
}

# id and hexadecimal digits, made of the words of sketch, whose lowest comes first. $1 recipe
by_words() {
    neardup sketch --recipe "$1" "${fields[@]}" docs.jsonl | python3 -c '
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    (words,) = row["signatures"].values()
    digits = "".join(reversed(words))
    assert row["fingerprint"] == digits, row["id"]
    print(digits, row["id"], sep="\t")'
}

@test "documents, rows of sketch and lines of digits make the same index" {
    for recipe in manku-2007 henzinger-2006-c; do
        by_words "$recipe" >lines
        [ "$(wc -l <lines)" -eq 300 ]
        bits=$(($(head -1 lines | cut -f 1 | tr -d '\n' | wc -c) * 4))
        neardup index build --recipe "$recipe" "${fields[@]}" docs.jsonl -o direct
        distance=$(neardup index info direct | sed -n 's/^distance: //p')
        neardup sketch --recipe "$recipe" "${fields[@]}" docs.jsonl |
            neardup index build --bits "$bits" -k "$distance" - -o by_rows
        neardup index build --bits "$bits" -k "$distance" lines -o by_lines
        cmp by_rows by_lines
        neardup index query by_lines lines | LC_ALL=C sort >expected
        neardup index query direct --fingerprints lines | LC_ALL=C sort | cmp - expected
        neardup index query direct "${fields[@]}" docs.jsonl | LC_ALL=C sort | cmp - expected
        neardup sketch --recipe "$recipe" "${fields[@]}" docs.jsonl |
            neardup join --bits "$bits" -k "$distance" lines - | LC_ALL=C sort | cmp - expected
        [ "$(wc -l <expected)" -gt 300 ] # some are near
        grep -q "^doc " expected
    done
}

@test "the index keeps the recipe: its distance, its query, its words; no other is taken" {
    neardup index build --recipe henzinger-2006-c "${fields[@]}" docs.jsonl -o index
    neardup index info index >info
    grep -qx 'bits: 384' info
    grep -qx 'distance: 12' info
    fingerprint=$(neardup recipe show henzinger-2006-c --canonical | grep -oE '[0-9a-f]{16}' | tail -1)
    grep -qx "recipe: $fingerprint" info
    sed '1,/^recipe: /d' info | tail -n +2 >text
    neardup recipe check text
    neardup index query "${fields[@]}" index new.jsonl >own
    neardup index query "${fields[@]}" --recipe henzinger-2006-c index new.jsonl | cmp - own
    neardup index query "${fields[@]}" --recipe henzinger-2006-c --set threshold=0.5 index new.jsonl | cmp - own
    run neardup index query "${fields[@]}" --recipe henzinger-2006-c --set c.stop_words=english index new.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"index was built with another recipe ($fingerprint, not "* ]]
    run neardup index query "${fields[@]}" --recipe manku-2007 index new.jsonl
    [ "$status" -eq 2 ]
    cp index before
    run neardup index add "${fields[@]}" --recipe manku-2007 index new.jsonl
    [ "$status" -eq 2 ]
    cmp index before
}

@test "documents are added, merged and found by their ids, and the recipe stays" {
    neardup index build --recipe manku-2007 "${fields[@]}" docs.jsonl -o index
    neardup index build --recipe manku-2007 "${fields[@]}" new.jsonl -o other
    neardup index build --recipe manku-2007 "${fields[@]}" docs.jsonl new.jsonl -o all
    cat docs.jsonl new.jsonl >both.jsonl
    neardup index query "${fields[@]}" all both.jsonl >expected
    cp index added
    neardup index add "${fields[@]}" added new.jsonl
    neardup index merge -o merged index other
    cp index from_index
    neardup index add from_index other
    neardup index build index other -o built
    for made in added merged from_index built; do
        # shellcheck disable=SC2086
        neardup index query "${fields[@]}" "$made" both.jsonl | cmp - expected
        neardup index info $made | grep -q '^recipe: '
    done
    neardup index build --recipe seshasai-2009 --set simhash.idf=none "${fields[@]}" docs.jsonl -o stranger
    for command in "merge -o merged index stranger" "add index stranger" "query index stranger" \
        "build index stranger -o built"; do
        # shellcheck disable=SC2086
        run neardup index $command
        [ "$status" -eq 2 ]
        [[ $output == *recipe* ]]
    done
    neardup index query index other | cut -f 1 | sort -u >by_index
    neardup index query "${fields[@]}" index new.jsonl | cut -f 1 | sort -u | cmp - by_index
}

@test "pairs and stats of documents; pairs are those of neardup pairs" {
    neardup index pairs --recipe manku-2007 "${fields[@]}" docs.jsonl | cut -f 1-2 | LC_ALL=C sort >got
    neardup pairs --recipe manku-2007 "${fields[@]}" docs.jsonl | cut -f 1-2 | LC_ALL=C sort | cmp - got
    [ -s got ]
    neardup index pairs -j 1 --recipe manku-2007 "${fields[@]}" docs.jsonl | cut -f 1-2 | LC_ALL=C sort | cmp - got
    neardup index stats --recipe manku-2007 "${fields[@]}" docs.jsonl >stats
    grep -qx $'fingerprints\t-\t300\t-' stats
}

@test "the simhash of [sketch] stands for a recipe without signatures" {
    neardup index build --recipe default --set simhash_bits=5 "${fields[@]}" docs.jsonl -o index
    neardup index info index | grep -qx 'distance: 5'
    neardup sketch "${fields[@]}" docs.jsonl | neardup index query index --fingerprints - |
        awk -F '\t' '$1 == $2 && $3 == 0' | wc -l | grep -qx 300
    neardup sketch "${fields[@]}" docs.jsonl |
        python3 -c 'import json, sys
for line in sys.stdin:
    row = json.loads(line)
    assert row["fingerprint"] == row["simhash"]'
}

@test "a document without a fingerprint is left out, and said; a bad record is status 3" {
    printf '{"id":"empty","body":""}\n' >>docs.jsonl
    # shellcheck disable=SC2086
    run neardup index build --recipe manku-2007 --text-field body docs.jsonl -o index
    [ "$status" -eq 0 ]
    [[ $output == *"1 of 301 documents have no fingerprint"* ]]
    neardup index info index | grep -qx 'fingerprints: 300'
    neardup sketch --recipe manku-2007 "${fields[@]}" docs.jsonl | tail -1 | grep -q '"fingerprint":null'
    neardup sketch --recipe manku-2007 "${fields[@]}" docs.jsonl | neardup index build - -o rows
    neardup index info rows | grep -qx 'fingerprints: 300'
    echo '{"id":"bad","body":' >>docs.jsonl
    run neardup index build --recipe manku-2007 "${fields[@]}" docs.jsonl -o index
    [ "$status" -eq 3 ]
    rm index
    run neardup index build --recipe manku-2007 --strict "${fields[@]}" docs.jsonl -o index
    [ "$status" -eq 2 ]
    [ ! -e index ]
}

@test "what cannot be meant is refused in words" {
    neardup sketch --recipe manku-2007 --text-field body docs.jsonl 2>/dev/null >rows
    sed 's/"fingerprint":"[0-9a-f]*",//' rows >without
    neardup index build --recipe manku-2007 --text-field body -q docs.jsonl -o index
    while IFS='|' read -r message arguments; do
        # shellcheck disable=SC2086
        run neardup index $arguments
        [ "$status" -eq 2 ]
        [[ $output == *"$message"* ]]
        [ ! -e new ]
    done <<'END'
documents need --recipe|build docs.jsonl -o new
docs.jsonl:1: an object without a fingerprint|pairs docs.jsonl
without:1: an object without a fingerprint|build without -o new
a fingerprint of 64 bits, not 128; see --bits|build --bits 128 rows -o new
--text-field applies to documents, which need a --recipe|build --text-field body docs.jsonl -o new
--threads applies to documents|build --threads 2 rows -o new
--quiet applies to documents|stats -q rows
--df applies to documents|query index --fingerprints --df x rows
index merge has no option --recipe|merge --recipe manku-2007 index
index info has no option --text-field|info --text-field body index
index build has no option --fingerprints|build --fingerprints rows -o new
allows 29 differing bits, but an index allows at most 16|build --recipe henzinger-2006-combined --text-field body docs.jsonl -o new
--bits has 128 bits, but the recipe's fingerprints have 64|build --bits 128 --recipe manku-2007 --text-field body docs.jsonl -o new
signature simhash: idf|build --recipe seshasai-2009 --text-field body docs.jsonl -o new
END
}

@test "an index file without a recipe is read and goes on" {
    printf '%016x\tid %d\n' 1 1 2 2 >lines
    neardup index build lines -o index
    neardup index add index lines
    run neardup index query --recipe manku-2007 "${fields[@]}" index docs.jsonl
    [ "$status" -eq 1 ]
}

@test "other recipes have an index of records, which gives the pairs of old and new documents" {
    for i in 1 2 3 4 5 6; do
        printf '{"id":"d%d","text":"the words of text %d are few, but all of them stand in each copy of it number %d"}\n' \
            "$i" $((i % 3)) $((i % 3))
    done >docs.jsonl
    head -n 3 docs.jsonl >old.jsonl
    tail -n 3 docs.jsonl >new.jsonl
    for recipe in henzinger-2006-b broder-1997 cops-1995 winnowing-2003; do
        neardup index build -q --recipe $recipe old.jsonl -o docs.index
        neardup index verify docs.index
        neardup index query -q docs.index new.jsonl | sort >found
        neardup pairs -q --recipe $recipe docs.jsonl | grep -E $'^d[123]\td[456]\t' | sort >wanted
        diff found wanted
        [ "$recipe" = cops-1995 ] || [ -s found ]
    done
    neardup index build -q --records --recipe default old.jsonl -o docs.index
    neardup index add -q docs.index new.jsonl
    neardup index info docs.index | grep -x 'documents: 6'
    printf 'd1\nd4\n' >ids
    neardup index remove docs.index ids
    neardup index info docs.index | grep -x 'documents: 4'
    [ "$(neardup index query -q docs.index new.jsonl | cut -f 1 | sort | tr '\n' ' ')" = "d2 d3 d5 d6 " ]
    run -1 neardup index query -q docs.index <<<'{"id":"x","text":"nothing that was there before today"}' --format jsonl
    run -2 neardup index query --distance 5 docs.index new.jsonl
    [[ $output == *"--distance applies to fingerprints, and the index is one of records"* ]]
    run -2 neardup index remove docs.index <<<'nobody'
    [[ $output == *"nobody"* ]]
    neardup index info docs.index | grep -x 'documents: 4'
}
