# methods.bats - recipes with signatures, through every command that takes a recipe

load common

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    cat >small.jsonl <<'END'
{"id":"a","text":"the quick brown fox jumps over the lazy dog near the river bank today"}
{"id":"b","text":"the quick brown fox jumps over the lazy dog near the river bank tonight"}
{"id":"c","text":"an entirely different text about fingerprints and the hamming distance problem"}
{"id":"d","text":""}
{"id":"e","text":"today near the river bank the lazy dog jumps over the quick brown fox"}
END
    cat >two.ini <<'END'
[sketch]
shingle = 1
[signature S]
kind = simhash
bits = 128
[signature T]
kind = features
[decide]
candidates = match
match = distance(S) <= 40 and resemblance(T) >= 0.8
verify = none
END
}

@test "what a rule matched stands in the manifest" {
    neardup dedup --recipe two.ini small.jsonl -o kept.jsonl --manifest removed.jsonl --quiet
    [ "$(wc -l <kept.jsonl)" -eq 3 ]
    grep -q '"removed":"b","kept":"a"' removed.jsonl
    grep '"removed":"b"' removed.jsonl | grep -q '"method":"match","identical":"no","verified":false'
    grep '"removed":"b"' removed.jsonl | grep -Eq '"signatures":\{"S":\{"shared":[0-9]+,"removed":128,"kept":128\},"T":\{"shared":11,"removed":12,"kept":12\}\}'
    # All agree on equal bags of words.
    grep '"removed":"e"' removed.jsonl | grep -q '"S":{"shared":128,"removed":128,"kept":128}'
}

@test "verify asks the texts as well" {
    neardup dedup --recipe two.ini --set shingle=3 --verify jaccard --threshold 0.7 small.jsonl \
        -o kept.jsonl --manifest removed.jsonl --quiet
    grep -q '"removed":"b"' removed.jsonl
    run grep -q '"removed":"e"' removed.jsonl # other shingles
    [ "$status" -eq 1 ]
}

@test "sketches, pairs and explanations show the signatures" {
    neardup sketch --recipe two.ini small.jsonl >sketches.jsonl
    head -n 1 sketches.jsonl | grep -Eq '"signatures":\{"S":\["[0-9a-f]{16}","[0-9a-f]{16}"\],"T":\["[0-9a-f]{16}"'
    sed -n 4p sketches.jsonl | grep -q '"signatures":{"S":null,"T":null}'
    neardup pairs --recipe two.ini small.jsonl >pairs.tsv
    [ "$(cut -f 1,2 pairs.tsv | tr '\t\n' '- ')" = "a-b a-e b-e " ]
    grep -Eq $'^a\tb\t\t\t\t[0-9]+:128:128\t11:12:12$' pairs.tsv
    neardup explain --recipe two.ini --corpus small.jsonl a b >explained
    grep -Eq '^signature S: +[0-9]+ of 128 agree$' explained
    grep -q 'their signatures match, and nothing is verified: distance(S) <= 40' explained
    run neardup explain --recipe two.ini --corpus small.jsonl a c
    [ "$status" -eq 1 ]
    [[ $output == *"their signatures do not match"* ]]
}

@test "threads and batches change nothing" {
    for n in $(seq 3000); do
        printf '{"id":%d,"text":"w%d w%d w%d w%d w%d w%d w%d w%d"}\n' "$n" $((n % 7)) $((n % 11)) \
            $((n % 13)) $((n % 5)) $((n % 3)) $((n % 17)) $((n * n % 19)) $((n % 23))
    done >many.jsonl
    for recipe in two.ini henzinger-2006-b spotsigs-2008 text-profile broder-1997; do
        for threads in 1 2 8; do
            neardup dedup --recipe $recipe many.jsonl -o kept.$threads --manifest rows.$threads \
                --threads $threads --quiet
        done
        cmp kept.1 kept.2
        cmp kept.1 kept.8
        cmp rows.1 rows.2
        cmp rows.1 rows.8
    done
}

@test "with components rows show what the signatures have in common, as with stars" {
    for n in $(seq 0 4 120); do
        printf '{"id":%d,"text":"%s"}\n' "$n" "$(seq -s ' ' "$n" 1 "$((n + 300))")"
    done >chain.jsonl
    for recipe in henzinger-2006-b henzinger-2006-c henzinger-2006-combined; do
        neardup sketch --recipe $recipe chain.jsonl -q >sketches.jsonl
        neardup dedup --recipe $recipe --set cluster=star chain.jsonl -q -o kept.jsonl --manifest star
        neardup dedup --recipe $recipe --set cluster=components chain.jsonl -q -o kept.jsonl --manifest components
        python3 - $recipe <<'PY'
import json, sys
signatures = {r["id"]: r["signatures"] for r in map(json.loads, open("sketches.jsonl"))}
def agreement(name, a, b):
    x, y = signatures[a][name], signatures[b][name]
    if name.lower() == "c":
        return 384 - sum(bin(int(p, 16) ^ int(q, 16)).count("1") for p, q in zip(x, y)), 384
    return sum(p == q for p, q in zip(x, y)), len(x)
rows = {name: [r for r in map(json.loads, list(open(name))[1:])] for name in ("star", "components")}
for name, found in rows.items():
    for row in found:
        if row["identical"] != "no":
            continue
        assert set(row["signatures"]) == set(signatures[row["kept"]]), (name, row)
        for signature, got in row["signatures"].items():
            common, size = agreement(signature, row["removed"], row["kept"])
            assert got == {"shared": common, "removed": size, "kept": size}, (name, signature, row, common)
            if signature.lower() == "c":
                assert row["distance"] == 384 - common, row
assert rows["components"], sys.argv
same = {(r["removed"], r["kept"]): r["signatures"] for r in rows["star"]}
assert all(same.get((r["removed"], r["kept"]), r["signatures"]) == r["signatures"] for r in rows["components"])
PY
    done
}

@test "a rule that cannot be asked is refused before anything is read" {
    for rule in 'distance(X) <= 3' 'length >= 0.5' 'equal(S) >= 1' 'distance(S) <= 3 or' ''; do
        run neardup dedup --recipe two.ini --set "match=$rule" small.jsonl -o kept.jsonl
        [ "$status" -eq 2 ]
        [[ $output == *match* ]]
        [ ! -e kept.jsonl ]
    done
}

@test "a recipe whose df table is missing says how to make one" {
    run neardup dedup --recipe kolcz-2004-mail small.jsonl -o kept.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"df table"* ]]
    [ ! -e kept.jsonl ]
    neardup df build --recipe kolcz-2004-mail small.jsonl -o words.df --quiet
    neardup dedup --recipe kolcz-2004-mail --df words.df small.jsonl -o kept.jsonl --quiet
    [ -s kept.jsonl ]
    run neardup dedup --recipe kolcz-2004-mail --df small.jsonl small.jsonl -o other.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *small.jsonl* ]]
}

@test "reserved bits hold a field, which a rule can demand" {
    words="the same words stand in two languages, or so it says"
    printf '{"id":%s,"lang":%s,"text":"%s"}\n' 1 '"en"' "$words" 2 '"de"' "$words here" 3 '"en"' "$words now" \
        4 null "$words again" >langs.jsonl
    printf '[signature s]\nreserved_bits = 8\nreserved_field = lang\n[decide]\ncandidates = match\nverify = none\n' >own.ini
    echo 'match = distance(s) <= 20 and same(s) >= 1' >>own.ini
    neardup sketch -q --recipe own.ini langs.jsonl | grep -o '"s":\["..' | cut -c 7- >top
    [ "$(sed -n 1p top)" = "$(sed -n 3p top)" ]
    [ "$(sed -n 1p top)" != "$(sed -n 2p top)" ]
    [ "$(sed -n 4p top)" = 00 ]
    neardup pairs -q --recipe own.ini langs.jsonl >found
    [ "$(cut -f 1,2 found)" = "$(printf '1\t3')" ]
    neardup pairs -q --recipe own.ini --set 'match=distance(s) <= 20' langs.jsonl >found
    [ "$(wc -l <found)" -eq 6 ]
    printf '[signature s]\nreserved_field = lang\n' >bad.ini
    run neardup recipe check bad.ini
    [ "$status" -eq 2 ]
    [[ $output == *"bad.ini:2: 'reserved_field' is used only where reserved_bits is above 0" ]]
}
