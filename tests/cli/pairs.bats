#!/usr/bin/env bats
# pairs.bats - pairs as JSON, and those that miss the threshold by little

load common

@test "pairs --json: both containments, and the ids as they were" {
    small_corpus
    neardup pairs small.jsonl -q --json >got
    cat >expected <<'END'
{"a":"a","b":"b","resemblance":0.9375,"shared":15,"shingles_a":15,"shingles_b":16,"containment_a":1,"containment_b":0.9375,"hamming":5}
{"a":"a","b":"c","resemblance":1,"shared":15,"shingles_a":15,"shingles_b":15,"containment_a":1,"containment_b":1,"hamming":0}
{"a":"b","b":"c","resemblance":0.9375,"shared":15,"shingles_a":16,"shingles_b":15,"containment_a":0.9375,"containment_b":1,"hamming":5}
END
    cmp expected got
    neardup pairs small.jsonl -q --json --method simhash --bits 5 --verify none >got
    [ "$(tail -1 got)" = '{"a":"b","b":"c","hamming":5}' ]
    printf '{"id":7,"text":"a b c d"}\n{"text":"a b c d","url":"http://x.org/"}\n' >n.jsonl
    [ "$(neardup pairs n.jsonl -q --json --site url)" = '{"a":7,"b":"n.jsonl:2","resemblance":1,"shared":2,"shingles_a":2,"shingles_b":2,"containment_a":1,"containment_b":1,"hamming":0,"site":null}' ]
}

@test "pairs --json says what the TSV says, for every way to find them" {
    large_corpus large.jsonl
    for options in "" "--verify containment" "--verify cosine --threshold 0.7" "--method simhash" "--verify none" "--recipe broder-1997" "--recipe manku-2007 --verify none" "--near-misses 0.5" "-j1 --within lang"; do
        # shellcheck disable=SC2086
        neardup pairs large.jsonl -q --max-bad 5% $options >tsv 2>/dev/null || [ $? -eq 1 ]
        # shellcheck disable=SC2086
        neardup pairs large.jsonl -q --max-bad 5% $options --json >json 2>/dev/null || [ $? -eq 1 ]
        python3 - <<'END'
import json
tsv = [line[:-1].split("\t") for line in open("tsv")]
rows = [json.loads(line) for line in open("json")]
assert len(tsv) == len(rows)
for fields, row in zip(tsv, rows):
    assert fields[:2] == [str(row["a"]), str(row["b"])]
    if "resemblance" in row:
        s, a, b = row["shared"], row["shingles_a"], row["shingles_b"]
        assert (float(fields[2]), int(fields[3]), int(fields[4])) == (row["resemblance"], s, a + b - s)
        assert row["resemblance"] == (s / (a + b - s) if a + b else 1)
        assert (row["containment_a"], row["containment_b"]) == (s / a if a else 1, s / b if b else 1)
    else:
        assert fields[2:5] == ["", "", ""]
    if "match" in row:
        assert fields[-1] == ("match" if row["match"] else "near-miss")
    for found in row.get("signatures", {}).values():
        assert f'{found["shared"]}:{found["a"]}:{found["b"]}' in fields
END
    done
}

@test "slow: pairs --near-misses: the pairs of the lower threshold, with a mark" {
    large_corpus large.jsonl
    for measure in jaccard containment cosine; do
        neardup pairs large.jsonl -q --max-bad 5% --verify $measure -t 0.6 >low 2>/dev/null
        neardup pairs large.jsonl -q --max-bad 5% --verify $measure -t 0.9 --candidates all >high 2>/dev/null
        neardup pairs large.jsonl -q --max-bad 5% --verify $measure -t 0.9 --near-misses 0.6 --summary s.json >both 2>/dev/null
        sed 's/\t[^\t]*$//' both | cmp - low
        # All is compared: what is a match does not depend on how it was found.
        neardup pairs large.jsonl -q --max-bad 5% --verify $measure -t 0.9 --near-misses 0.6 --candidates all >all 2>/dev/null
        sed -n 's/\tmatch$//p' all | cmp - high
        [ "$(grep -c 'near-miss$' both)" -gt 20 ]
        [ "$(python3 -c 'import json; s = json.load(open("s.json")); print(s["pairs"], s["near_misses"])')" = "$(grep -c 'match$' both) $(grep -c 'near-miss$' both)" ]
    done
}

@test "pairs --near-misses: the status tells of pairs, and what cannot be found is refused" {
    printf '{"id":1,"text":"a b c d e f g h i j"}\n{"id":2,"text":"a b c d e f g h x y"}\n' >two.jsonl
    run neardup pairs two.jsonl -q --near-misses 0.6
    [ "$status" -eq 1 ]
    [ "$output" = "$(printf '1\t2\t0.6\t6\t10\tnear-miss')" ]
    run neardup pairs two.jsonl --near-misses 0.6
    [[ $output == *"near misses "*" 1"* ]]
    # The threshold is exact: 6 of 10 reach 3/5, and miss 0.600000001.
    run neardup pairs two.jsonl -q --near-misses 0.5 --threshold 3/5
    [ "$output" = "$(printf '1\t2\t0.6\t6\t10\tmatch')" ]
    run neardup pairs two.jsonl -q --near-misses 0.600000001
    [ -z "$output" ]
    for options in "--near-misses 0.8" "--near-misses 0.9" "--near-misses 0" "--near-misses x" "--near-misses 0.5 --verify none" "--near-misses 0.5 --method simhash" "--near-misses 0.5 --recipe manku-2007"; do
        # shellcheck disable=SC2086
        run "$NEARDUP" pairs two.jsonl -q $options
        [ "$status" -eq 2 ]
        [[ ${lines[0]} == *"near misses"* || ${lines[0]} == *"not a ratio such as"* ]]
    done
}
