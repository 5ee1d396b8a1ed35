#!/usr/bin/env bats
# filter.bats - neardup filter: a stream against prototypes

bats_require_minimum_version 1.5.0
load common

spam_and_mail() {
    local buy="buy these wonderful pills now and never be tired again in all your long and happy life"
    {
        echo "{\"id\":\"s1\",\"text\":\"$buy\"}"
        echo "{\"id\":\"s2\",\"text\":\"$buy my friend\"}"
        echo "{\"id\":3,\"text\":\"you have won one million in a lottery that you never played at all\"}"
        echo "{\"id\":\"s4\",\"text\":\"$buy\"}"
    } >spam.jsonl
    {
        echo "{\"id\":\"m1\",\"text\":\"$buy my\"}"
        echo '{"id":"m2","text":"shall we meet on monday at the usual place and talk about the weather"}'
        echo '{"id":"m3","text":"You have WON one million, in a lottery that you never played at all!"}'
        echo '{"id":"m4","text":"shall we meet on monday at the usual place and talk about the weather"}'
        echo '{"id":"m5","text":""}'
    } >mail.jsonl
}

@test "filter: the records that match, and the others, as they came" {
    spam_and_mail
    run neardup filter -q -p spam.jsonl mail.jsonl
    [ "$status" -eq 0 ]
    [ "$output" = "$(sed -n '1p;3p' mail.jsonl)" ]
    run neardup filter -q -p spam.jsonl --invert mail.jsonl
    [ "$status" -eq 0 ]
    [ "$output" = "$(sed -n '2p;4p;5p' mail.jsonl)" ]
    run neardup filter -q -p spam.jsonl -c - <mail.jsonl
    [ "$status" -eq 0 ]
    [ "$output" = 2 ]
}

@test "filter: the documents of the stream are not compared with one another" {
    spam_and_mail
    sed -n '2p;4p' mail.jsonl >twice.jsonl
    run neardup filter -q -p spam.jsonl twice.jsonl
    [ "$status" -eq 1 ]
    [ -z "$output" ]
    run neardup filter -q -p spam.jsonl --invert twice.jsonl
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 2 ]
    run neardup filter -q -p spam.jsonl --invert -q spam.jsonl
    [ "$status" -eq 1 ]
}

@test "filter: what is annotated names the nearest prototype, equal bytes once" {
    spam_and_mail
    neardup filter -p spam.jsonl --annotate mail.jsonl -o rows.jsonl
    python3 - <<'PY'
import json
rows = [json.loads(line) for line in open("rows.jsonl")]
assert [r["id"] for r in rows] == ["m1", "m2", "m3", "m4", "m5"]
assert [r["match"] for r in rows] == [True, False, True, False, False]
assert rows[0]["prototype"] == "s2" and rows[0]["prototypes"] == 2  # not s4, whose bytes are s1's
assert rows[0]["shared"] == 16 and rows[0]["resemblance"] == 16 / 17
assert rows[2]["prototype"] == 3 and rows[2]["resemblance"] == 1 and rows[2]["hamming"] == 0
assert set(rows[1]) == {"id", "match"}
PY
}

@test "filter: files and lines" {
    mkdir spam
    echo "one two three four five six seven eight nine" >spam/a
    echo "ten eleven twelve thirteen fourteen fifteen" >spam/b
    printf 'one two three four five six seven eight nine\nquite another line\nten eleven twelve thirteen fourteen fifteen!\n' >lines
    run neardup filter -q --prototypes spam --unit line <lines
    [ "$status" -eq 0 ]
    [ "$output" = "$(sed -n '1p;3p' lines)" ]
    mkdir in
    cp spam/a in/x
    cp lines in/y
    run neardup filter -q -p spam/a -p spam/b in
    [ "$output" = in/x ]
}

@test "filter: the same result with any number of threads, and as from pairs" {
    large_corpus all.jsonl
    grep -v broken all.jsonl | sed -n '1,800p' >p.jsonl
    grep -v broken all.jsonl | sed -n '801,$p' >s.jsonl
    neardup filter -p p.jsonl -a s.jsonl -j1 -o one
    neardup filter -p p.jsonl -a s.jsonl -j4 -o four
    cmp one four
    neardup filter -p p.jsonl -a s.jsonl --candidates all -o all
    neardup pairs p.jsonl s.jsonl -q >pairs
    python3 - <<'PY'
import json
def matches(name):
    return [r["id"] for r in map(json.loads, open(name)) if r["match"]]
pairs = [line.rstrip("\n").split("\t") for line in open("pairs")]
ids = lambda name: {str(json.loads(l).get("id", f"{name}:{n}")) for n, l in enumerate(open(name), 1)}
p, s = ids("p.jsonl"), ids("s.jsonl")
expected = {b for a, b, *_ in pairs if a in p and b in s}
assert len(expected) > 100
assert {str(i) for i in matches("one")} == expected
assert matches("one") == matches("all")
PY
}

@test "filter: what is wrong is said" {
    spam_and_mail
    run neardup filter mail.jsonl
    [ "$status" -eq 2 ]
    [ "$output" = "neardup: filter needs --prototypes FILE; see neardup help filter" ]
    run neardup filter -q -p nothing.jsonl mail.jsonl -o out
    [ "$status" -eq 2 ]
    [[ $output == *"nothing.jsonl"* ]]
    [ ! -e out ]
    run neardup filter -q -p spam.jsonl mail.jsonl -o spam.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"'spam.jsonl' is read by this run and would be overwritten"* ]]
    : >empty.jsonl
    run neardup filter -q -p empty.jsonl mail.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"no prototype in empty.jsonl"* ]]
    run neardup filter -q -p spam.jsonl -a -c mail.jsonl
    [ "$status" -eq 2 ]
    run neardup filter -q -p spam.jsonl mail.jsonl missing.jsonl
    [ "$status" -eq 3 ]
    [[ $output == *"1 input that failed"* ]]
}

@test "filter: a recipe with signatures, and the df table that it wants" {
    spam_and_mail
    python3 - <<'PY' >news.jsonl
import json, random
random.seed(5)
words = "wonderful pills never tired again happy million lottery played monday usual place weather shall meet talk".split()
for i in range(400):
    print(json.dumps({"id": i, "text": " ".join([f"word{i}"] + [w for n, w in enumerate(words) if random.random() < .5 / (n + 1)])}))
PY
    neardup df build --recipe kolcz-2004-mail -o news.df -q news.jsonl 2>/dev/null
    neardup filter --recipe kolcz-2004-mail --df news.df -p spam.jsonl --annotate mail.jsonl -o rows.jsonl
    python3 - <<'PY'
import json
rows = [json.loads(line) for line in open("rows.jsonl")]
assert [r["match"] for r in rows] == [True, False, True, False, False], rows
assert rows[2]["resemblance"] == 1 # it has too few terms for a signature, and the words of a prototype
assert rows[2]["signatures"]["imatch"] == {"shared": 0, "document": 0, "prototype": 0}
imatch = rows[0]["signatures"]["imatch"]
assert rows[0]["prototype"] == "s1" and rows[0]["prototypes"] == 2
assert 1 <= imatch["shared"] <= imatch["document"] <= 11 and imatch["prototype"] <= 11
assert "resemblance" not in rows[0] and "hamming" not in rows[0]
PY
    run neardup filter --recipe kolcz-2004-mail -p spam.jsonl mail.jsonl
    [ "$status" -eq 2 ]
}

@test "filter: while its input pauses, it answers what has come, as it would at the end" {
    python3 "$BATS_TEST_DIRNAME/filter_pauses.py" "$NEARDUP"
}

@test "filter: a pipe of several files is answered before the next one opens" {
    echo 'buy these wonderful pills now and never be tired again' >spam.txt
    echo '{"text":"buy these wonderful pills now and never be tired again"}' >a.jsonl
    mkfifo later.jsonl
    "$NEARDUP" filter -q -p spam.txt a.jsonl later.jsonl >got.jsonl 3>&- &
    local command=$!
    for _ in $(seq 600); do
        [ ! -s got.jsonl ] || break
        sleep 0.1
    done
    diff a.jsonl got.jsonl
    : >later.jsonl
    wait "$command"
    diff a.jsonl got.jsonl
}

# Questions of two benchmarks, in fields of their own names, and documents that quote some.
quizzes() {
    cat >quiz.jsonl <<'END'
{"qid":"moons","question":"Which planet of the solar system has the greatest number of moons today?","set":"space"}
{"qid":"again","question":"Which planet of the solar system has the greatest number of moons today?","set":"quiz"}
{"qid":"river","question":"Which of these rivers is the longest one in the whole of Europe?","set":"quiz"}
{"qid":"alone","question":"Nobody ever quotes what this one asks in so many words","set":null}
END
    cat >train.jsonl <<'END'
{"id":1,"text":"From a forum. Which planet of the solar system has the greatest number of moons today? Saturn, I said."}
{"id":2,"text":"Nothing about planets. The weather was fine, and we walked along the river until the evening came."}
{"id":3,"text":"Which of these rivers is the longest one in the whole of Europe?"}
END
}

@test "filter: fields of the prototypes, a table by group, a manifest and a summary" {
    quizzes
    asked=(-p quiz.jsonl --prototypes-text-field question --prototypes-id-field qid --verify containment-of-kept)
    neardup filter "${asked[@]}" --prototypes-group-field set train.jsonl --invert -o clean.jsonl --manifest m.jsonl \
        --summary s.json 2>told.txt
    [ "$(ids clean.jsonl)" = 2 ]
    rows m.jsonl removed kept removed_at kept_at identical decided_by >rows.txt
    cat >right.txt <<'END'
1 "moons" "train.jsonl:1" "quiz.jsonl:1" "no" "containment_of_kept"
3 "river" "train.jsonl:3" "quiz.jsonl:3" "bytes" null
END
    diff right.txt rows.txt
    [ "$(sed -n 1p m.jsonl | jq -c '[.options.prototypes, .options.prototypes_text_fields, .options.prototypes_id_field]')" \
        = '[["quiz.jsonl"],["question"],"qid"]' ]
    [ "$(jq -c '[.quoted[] | [.name, .prototypes, .documents]]' s.json)" = '[["space",1,1],["quiz",2,2],["",1,0]]' ]
    [ "$(jq -c '[.documents, .matches, .others, .identical_bytes, .near, .prototypes]' s.json)" = "[3,2,1,1,1,4]" ]
    grep -q '^  match a prototype  *2  *66.7%$' told.txt
    grep -q '^ *2  quiz (2)$' told.txt
    grep -q '^ *0  (no value) (1)$' told.txt
    # Without a group equal prototypes count once.
    neardup filter "${asked[@]}" train.jsonl -c --summary s.json -q >count
    [ "$(cat count)" = 2 ]
    [ "$(jq -c '[.prototypes, .quoted]' s.json)" = "[3,null]" ]
}

@test "filter: a manifest has bad records, and is published with the rest or not at all" {
    quizzes
    echo broken >>train.jsonl
    neardup filter -p quiz.jsonl --prototypes-text-field question train.jsonl --max-bad 1 --manifest m.jsonl -q -o out
    [ "$(tail -n 1 m.jsonl | jq -r .skipped)" = train.jsonl:4 ]
    rm -f m.jsonl out
    run -2 neardup filter -p quiz.jsonl --prototypes-text-field question train.jsonl --strict --manifest m.jsonl -q -o out
    [ ! -e m.jsonl ]
    [ ! -e out ]
}

@test "filter: what is wrong with the prototypes' fields is said" {
    quizzes
    run -2 neardup filter -p quiz.jsonl train.jsonl -q
    [[ "$output" == *"; --prototypes-text-field question probably names the text"* ]]
    run neardup filter -p quiz.jsonl --prototypes-text-field question --prototypes-group-field sets train.jsonl -q
    [[ "$output" == *"warning: prototypes-group-field: no prototype has a field 'sets'"* ]]
    neardup sketch quiz.jsonl --text-field question -o quiz.sketch -q
    run -2 neardup filter -p quiz.sketch --prototypes-group-field set train.jsonl -q
    [[ "$output" == *"prototypes-group-field: sketch files keep no fields"* ]]
    # The documents' own id field is not asked of the prototypes.
    sed 's/"id"/"number"/' train.jsonl >numbered.jsonl
    run neardup filter -p quiz.jsonl --prototypes-text-field question --prototypes-id-field qid --id-field number numbered.jsonl -c -q
    [ "$output" = 1 ]
}
