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

@test "pairs --columns: terms, lengths and edits are those of another program" {
    python3 - <<'END' >texts.jsonl
import json, random
random.seed(5)
texts = []
for i in range(60):
    words = random.choice(texts).split() if texts and i % 3 else random.choices([f"w{k}" for k in range(40)], k=random.randrange(3, 90))
    for _ in range(random.randrange(6)):
        at = random.randrange(len(words))
        words[at : at + random.randrange(3)] = random.choices(["new", "other", "w7"], k=random.randrange(3))
    texts.append(" ".join(words) or "none")
    print(json.dumps({"id": i, "text": texts[-1]}))
END
    for options in "" "--verify containment" "--verify none --method simhash --bits 9" "--recipe broder-1997" "--near-misses 0.2"; do
        # shellcheck disable=SC2086
        neardup pairs texts.jsonl -q -t 0.5 $options >plain || [ $? -eq 1 ]
        # shellcheck disable=SC2086
        neardup pairs texts.jsonl -q -t 0.5 $options --columns edit,terms --columns lengths >wide || [ $? -eq 1 ]
        # shellcheck disable=SC2086
        neardup pairs texts.jsonl -q -t 0.5 $options --columns terms,lengths,edit --memory 100M >bounded || [ $? -eq 1 ]
        # shellcheck disable=SC2086
        neardup pairs texts.jsonl -q -t 0.5 $options --columns terms,lengths,edit --json >objects || [ $? -eq 1 ]
        cmp wide bounded
        python3 - <<'END'
import csv, json
text = {str(d["id"]): d["text"].split() for d in map(json.loads, open("texts.jsonl"))}
def edits(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]
rows = list(csv.reader(open("wide"), delimiter="\t"))
plain = list(csv.reader(open("plain"), delimiter="\t"))
head, rows = rows[0], rows[1:]
assert head[:5] == ["a", "b", "resemblance", "shared", "union"]
assert head[-5:] == ["terms", "shared_terms", "tokens_a", "tokens_b", "edit"]
assert [row[:-5] for row in rows] == plain and len(rows) > 5, len(rows)
assert all(len(row) == len(head) for row in rows)
objects = [json.loads(line) for line in open("objects")]
assert len(objects) == len(rows)
for row, found in zip(rows, objects):
    a, b = text[row[0]], text[row[1]]
    expected = [len(set(a) ^ set(b)), len(set(a) & set(b)), len(a), len(b), edits(a, b)]
    assert list(map(int, row[-5:])) == expected, (row, expected)
    assert [found[key] for key in head[-5:]] == expected
END
    done
}

@test "pairs --columns: eval and sample read them, and what cannot be measured is said" {
    small_corpus
    printf 'a\tb\t1\na\tc\t1\nb\tc\t0\n' >truth.tsv
    neardup pairs small.jsonl -q --columns terms >pairs.tsv
    neardup eval --truth truth.tsv --universe labelled --curve terms pairs.tsv >curve
    [ "$(cut -f2-5 curve | tail -2)" = "$(printf '0\t1\t1\t0\n1\t3\t2\t1')" ]
    neardup eval --truth truth.tsv --universe labelled --by terms pairs.tsv >values
    [ "$(cut -f2-5 values | tail -2)" = "$(printf '1\t2\t1\t1\n0\t1\t1\t0')" ]
    neardup clusters --curve terms pairs.tsv >sizes
    [ "$(cut -f2-4 sizes | tail -2)" = "$(printf '0\t3\t1\n1\t3\t3')" ]
    # A near miss is marked in a column that is not the last one.
    neardup pairs small.jsonl -q -t 0.99 --near-misses 0.5 --columns edit >pairs.tsv
    neardup eval --truth truth.tsv --universe labelled pairs.tsv >whole
    [ "$(cut -f4 whole | tail -1)" = 1 ]
    # An edit distance that takes too long is left out of a curve.
    python3 - <<'END' >long.jsonl
import json, random
words = [f"w{i}" for i in range(70000)]
print(json.dumps({"id": "a", "text": " ".join(words)}))
print(json.dumps({"id": "b", "text": " ".join(w + "x" * (i % 60 == 0) for i, w in enumerate(words))}))
words[5] = "other"
print(json.dumps({"id": "c", "text": " ".join(words)}))
END
    neardup pairs long.jsonl -q --columns edit >pairs.tsv
    [ "$(cut -f1,2,6 pairs.tsv)" = "$(printf 'a\tb\tedit\na\tb\t\na\tc\t1\nb\tc\t')" ]
    neardup pairs long.jsonl -q --columns edit --json >pairs.jsonl
    [ "$(grep -c '"edit":null' pairs.jsonl)" -eq 2 ]
    neardup eval --truth truth.tsv --universe labelled --curve edit pairs.tsv >curve
    [ "$(cut -f2,3,6 curve)" = "$(printf 'at\tlisted\tmissed\n1\t1\t1')" ]
    neardup eval --truth truth.tsv --universe labelled --curve edit pairs.jsonl >again
    [ "$(cut -f2- again)" = "$(cut -f2- curve)" ]
    grep -v '^a.c' pairs.tsv >none.tsv
    run neardup eval --truth truth.tsv --universe labelled --curve edit none.tsv
    [ "$status" -eq 2 ]
    [[ $output == *"none.tsv: the column 'edit' has no number in any row"* ]]
    run neardup pairs small.jsonl --columns terms,words
    [ "$status" -eq 2 ]
    [[ $output == *"--columns: 'words' is not one of terms, lengths, edit"* ]]
    run neardup pairs small.jsonl --columns ''
    [ "$status" -eq 2 ]
    neardup sketch -q small.jsonl -o small.sketch
    run neardup pairs small.sketch --columns terms
    [ "$status" -eq 2 ]
    [[ $output == *"columns: small.sketch is a sketch file, and this needs the documents themselves"* ]]
}
