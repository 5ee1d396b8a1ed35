#!/usr/bin/env bats
# containment.bats - documents that stand in others: found, and removed in the direction asked for

load common

# An article, a mail around it, a part of the article, something else.
three_and_one() {
    cat >some.jsonl <<'END'
{"id":"article","text":"one two three four five six seven"}
{"id":"mail","text":"and one two three four five six seven but eight nine ten eleven"}
{"id":"part","text":"three four five six seven"}
{"id":"other","text":"nothing of the kind was ever said here before by anyone"}
END
}

# Articles of random words, and each again in a mail of 2 to 10 times its length, in any order.
articles_in_mails() {
    python3 - "$1" <<'END'
import json, random, sys
random.seed(2)
words = [f"word{i}" for i in range(5000)]
rows = []
for i in range(300):
    article = random.choices(words, k=random.randrange(20, 200))
    around = random.choices(words, k=int(len(article) * random.uniform(1, 9)))
    at = random.randrange(len(around) + 1)
    rows.append({"id": f"article {i}", "text": " ".join(article)})
    rows.append({"id": f"mail {i}", "text": " ".join(around[:at] + article + around[at:])})
random.shuffle(rows)
with open(sys.argv[1], "w") as out:
    for row in rows:
        print(json.dumps(row), file=out)
END
}

@test "containment removes what stands in the kept one, and not what contains it" {
    three_and_one
    neardup dedup some.jsonl -o out.jsonl -q --verify containment --manifest m
    [ "$(ids out.jsonl)" = "article mail other" ]
    [ "$(rows m removed kept method containment_of_removed containment_of_kept decided_by)" = \
        '"part" "article" "shingles" 1 0.6 "containment_of_removed"' ]
}

@test "containment-of-kept removes what contains a known text" {
    three_and_one
    neardup dedup some.jsonl -o out.jsonl -q --verify containment-of-kept --manifest m
    [ "$(ids out.jsonl)" = "article part other" ]
    [ "$(rows m removed kept containment_of_removed containment_of_kept decided_by)" = \
        '"mail" "article" 0.45454545454545453 1 "containment_of_kept"' ]
}

@test "containment-either takes the smaller of the two" {
    three_and_one
    neardup dedup some.jsonl -o out.jsonl -q --verify containment-either --manifest m
    [ "$(ids out.jsonl)" = "article other" ]
    [ "$(rows m removed decided_by)" = '"mail" "containment_of_kept"
"part" "containment_of_removed"' ]
}

@test "collapse removes in the same direction" {
    three_and_one
    neardup collapse some.jsonl -o out.jsonl -q --set verify=containment
    [ "$(ids out.jsonl)" = "article mail other" ]
}

@test "the manifest names no containment where something else decided" {
    three_and_one
    neardup dedup some.jsonl -o out.jsonl -q -t 0.3 --manifest m
    run grep -c decided_by m
    [ "$output" = 0 ]
    run grep -c sample m
    [ "$output" = 0 ]
}

@test "pairs have no direction, and show both containments" {
    three_and_one
    for measure in containment containment-of-kept containment-either; do
        neardup pairs some.jsonl -q --verify "$measure" >"$measure.tsv"
        printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' article mail 0.45454545454545453 5 11 1 0.45454545454545453 \
            article part 0.6 3 5 0.6 1 mail part 0.2727272727272727 3 11 0.2727272727272727 1 >expected
        cmp "$measure.tsv" expected
    done
}

@test "articles in mails of up to ten times their length are all found" {
    articles_in_mails corpus.jsonl
    neardup pairs corpus.jsonl -q --verify containment -t 0.8 >found
    neardup pairs corpus.jsonl -q --verify containment -t 0.8 --candidates all >all
    cmp found all
    [ "$(wc -l <found)" -eq 300 ]
    neardup dedup corpus.jsonl -o out.jsonl -q --verify containment-either
    [ "$(wc -l <out.jsonl)" -eq 300 ]
}

@test "the number of threads changes nothing" {
    articles_in_mails corpus.jsonl
    for measure in containment containment-of-kept containment-either cosine; do
        neardup dedup corpus.jsonl -o one -q -t 0.5 -j 1 --verify "$measure" --manifest one.m
        neardup dedup corpus.jsonl -o four -q -t 0.5 -j 4 --verify "$measure" --manifest four.m
        cmp one four
        cmp one.m four.m
    done
}

@test "filter asks in the direction of the measure, and its rows have both" {
    three_and_one
    echo "one two three four five six seven" >known.txt
    neardup filter some.jsonl --prototypes known.txt -q --set verify=containment-of-kept -o found
    [ "$(ids found)" = "article mail" ]
    neardup filter some.jsonl --prototypes known.txt -q --set verify=containment -o found
    [ "$(ids found)" = "article part" ]
    neardup filter some.jsonl --prototypes known.txt -q --annotate --set verify=containment-of-kept >rows
    grep -q '"id":"mail","match":true.*"containment":0.45454545454545453,"containment_of_other":1' rows
}

@test "the summary's curve is that of the measure" {
    three_and_one
    neardup dedup some.jsonl -o out.jsonl -q --verify containment --summary s
    python3 - s <<'END'
import json, sys
s = json.load(open(sys.argv[1]))
assert s["s_curve_of"] == "containment" and (s["sample"], s["sample_least"]) == (128, 90), s
assert s["bands"] == s["rows"] == 0 and s["s_curve"][15][1] >= 0.995 and s["s_curve"][9][1] < 1e-5, s
END
    run neardup dedup some.jsonl -o out.jsonl --verify cosine
    [[ $output == *"Chance that a pair is compared, 90 of a sample of 128 shingles"* ]]
    [[ $output == *"0.95  cosine"* ]]
    [[ $output == *"unrelated documents (cosine 0.05)"* ]]
    run neardup dedup some.jsonl -o out.jsonl --verify containment --recall 0.5
    [[ $output == *"103 of a sample of 128 shingles"* ]]
}

@test "components and complete link need a measure without direction" {
    three_and_one
    for measure in containment containment-of-kept; do
        run neardup dedup some.jsonl -o out.jsonl --cluster components --verify "$measure"
        [ "$status" -eq 2 ]
        [[ $output == *"cluster 'components' needs a measure that is the same in both directions"* ]]
    done
    neardup dedup some.jsonl -o out.jsonl -q --cluster components --verify containment-either
    [ "$(ids out.jsonl)" = "article other" ]
    neardup dedup some.jsonl -o out.jsonl -q --cluster complete --verify containment-either
    [ "$(ids out.jsonl)" = "article other" ]
}

@test "bands that are given are taken for containment too" {
    three_and_one
    neardup dedup some.jsonl -o out.jsonl -q --verify containment --bands 64x2 --manifest m
    grep -q '"bands":64,"rows":2,"inputs"' m
}

@test "a recall that no sample can give is refused" {
    three_and_one
    run neardup dedup some.jsonl -o out.jsonl --verify containment -t 0.001
    [ "$status" -eq 2 ]
    [[ $output == *"samples of 1024 shingles cannot find pairs at 1/1000 with recall 0.995"* ]]
}

@test "compare knows the measures of --verify by their names" {
    echo "one two three four five six seven" >a.txt
    echo "zero one two three four five six seven eight nine" >b.txt
    metric() {
        neardup compare a.txt b.txt --metric "$1" || true
    }
    [ "$(metric jaccard)" = 0.625000 ]
    [ "$(metric containment)" = 0.625000 ]
    [ "$(metric containment-of-kept)" = 1.000000 ]
    [ "$(metric containment-either)" = 1.000000 ]
    [ "$(metric cosine-shingles)" = 0.790569 ]
}

@test "explain says whose containment in whom" {
    three_and_one
    run neardup explain article mail --corpus some.jsonl --set verify=containment
    [[ $output == *"different: the containment of B in A is below 4/5"* ]]
    run neardup explain article mail --corpus some.jsonl --set verify=containment-of-kept
    [[ $output == *"duplicates: the containment of A in B reaches 4/5"* ]]
}

# The Hamming distance of two documents is the same, whatever found them.
@test "slow: the distance that outputs show is that of the simhashes" {
    three_and_one
    articles_in_mails corpus.jsonl
    for measure in containment containment-of-kept containment-either cosine; do
        for input in some corpus; do
            neardup pairs $input.jsonl -q --json -t 0.6 --verify $measure >found
            neardup pairs $input.jsonl -q --json -t 0.6 --verify $measure --candidates all >all
            cmp found all
            neardup sketch $input.jsonl -q >sketches
            for options in "" "--keep longest" "--cluster complete" "--cluster components"; do
                if [[ $options == --cluster* && $measure == containment* && $measure != *either ]]; then
                    continue
                fi
                # shellcheck disable=SC2086
                neardup dedup $input.jsonl -q -t 0.6 --verify $measure $options --annotate -o marked --manifest m
                python3 - <<'EOF'
import json
simhash = {s["id"]: int(s["simhash"], 16) for s in map(json.loads, open("sketches"))}
rows = [json.loads(line) for line in open("m")][1:]
marked = {n["id"]: n["neardup"] for n in map(json.loads, open("marked"))}
for row in rows:
    distance = bin(simhash[row["removed"]] ^ simhash[row["kept"]]).count("1")
    assert row["distance"] == distance, (row, distance)
    assert "via" in row or marked[row["removed"]]["hamming"] == distance
EOF
            done
        done
        neardup filter corpus.jsonl -p corpus.jsonl -q --annotate -t 0.6 --set verify=$measure >rows
        neardup filter corpus.jsonl -p corpus.jsonl -q --annotate -t 0.6 --set verify=$measure --set candidates=all >all
        cmp rows all
    done
}
