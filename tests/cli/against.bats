#!/usr/bin/env bats
# against.bats - neardup dedup --against: new documents against the sketches of old ones

load common

# Old: red, green.  New: a copy of red, nearly green, blue, nearly blue.
two_days() {
    local red="alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi"
    local green="one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    local blue="monday tuesday wednesday thursday friday saturday sunday january february march april"
    {
        echo "{\"id\":\"red\",\"text\":\"$red\"}"
        echo "{\"id\":\"green\",\"text\":\"$green\"}"
    } >old.jsonl
    {
        echo "{\"id\":\"copy\",\"text\":\"$red\"}"
        echo "{\"id\":\"greenish\",\"text\":\"$green fifteen\"}"
        echo "{\"id\":\"blue\",\"text\":\"$blue\"}"
        echo "{\"id\":\"bluish\",\"text\":\"$blue may\"}"
    } >new.jsonl
    neardup sketch old.jsonl -o seen.sketch -q
}

documents_in() {
    neardup sketch dump "$1" | wc -l
}

@test "against: only new documents are removed, and the manifest names the old ones" {
    two_days
    neardup dedup new.jsonl --against seen.sketch -o kept.jsonl --manifest m.jsonl --clusters c.tsv --summary s.json -q
    [ "$(ids kept.jsonl)" = blue ]
    rows m.jsonl removed kept kept_at identical verified >rows.txt
    cat >right.txt <<'END'
"copy" "red" "old.jsonl:1" "bytes" "sketch"
"greenish" "green" "old.jsonl:2" "no" "sketch"
"bluish" "blue" "new.jsonl:3" "no" "sketch"
END
    diff right.txt rows.txt
    [ "$(cut -f2 c.tsv | tr '\n' ' ')" = "red green blue blue " ]
    [ "$(documents_in seen.sketch)" = 2 ]
    python3 -c 'import json
s = json.load(open("s.json"))
assert (s["documents"], s["kept"], s["removed"], s["seen_documents"], s["seen_met"]) == (4, 1, 3, 2, 2), s'
}

@test "slow: against: one run over old and new documents removes the same" {
    python3 "$BATS_TEST_DIRNAME/against_model.py" "$NEARDUP" "$(sized 1500 200)"
}

@test "against: --append adds the survivors, and makes the file" {
    two_days
    neardup dedup old.jsonl --against crawl.sketch --append -o day1.jsonl -q
    neardup dedup new.jsonl --against crawl.sketch --append -o day2.jsonl -q
    [ "$(ids day1.jsonl)" = "red green" ]
    [ "$(ids day2.jsonl)" = blue ]
    neardup sketch dump crawl.sketch >rows.jsonl
    [ "$(ids rows.jsonl)" = "red green blue" ]
    [ "$(python3 -c 'import json
print(*[json.loads(line)["at"] for line in open("rows.jsonl")])')" = "old.jsonl:1 old.jsonl:2 new.jsonl:3" ]
    neardup sketch verify crawl.sketch
    # Nothing is new the next time, and nothing is added.
    cp crawl.sketch before.sketch
    neardup dedup new.jsonl --against crawl.sketch --append -q >day3.jsonl
    [ ! -s day3.jsonl ]
    [ "$(documents_in crawl.sketch)" = 3 ]
}

@test "against: a crawl in parts is one run over all" {
    python3 "$BATS_TEST_DIRNAME/against_kill.py" "$NEARDUP" "$(sized 200 6)"
}

@test "against: several files are searched, and the last one is added to" {
    two_days
    sed -n 1p old.jsonl >red.jsonl
    sed -n 2p old.jsonl >green.jsonl
    neardup sketch red.jsonl -o red.sketch -q
    neardup sketch green.jsonl -o green.sketch -q
    neardup dedup new.jsonl --against red.sketch --against green.sketch --append -q >kept.jsonl
    [ "$(ids kept.jsonl)" = blue ]
    [ "$(documents_in red.sketch)" = 1 ]
    [ "$(documents_in green.sketch)" = 2 ]
}

@test "against: from a pipe to a pipe" {
    two_days
    neardup dedup --format jsonl --against seen.sketch --append -q <new.jsonl | cat >kept.jsonl
    [ "$(ids kept.jsonl)" = blue ]
    [ "$(documents_in seen.sketch)" = 3 ]
}

@test "against: a dry run adds and makes nothing" {
    two_days
    neardup dedup new.jsonl --against none.sketch --append --dry-run -q
    [ ! -e none.sketch ]
    neardup dedup new.jsonl --against seen.sketch --append --dry-run -q
    [ "$(documents_in seen.sketch)" = 2 ]
}

@test "against: a second addition at the same time fails at once" {
    two_days
    mkfifo slow
    "$NEARDUP" dedup slow --format jsonl --against seen.sketch --append -q >kept.jsonl 3>&- &
    local first=$!
    exec 9>slow
    await_open "$first" '*/seen.sketch'
    run neardup dedup new.jsonl --against seen.sketch --append -o other.jsonl
    [ "$status" -eq 2 ]
    [[ "$output" == *"seen.sketch: another process is adding to this file"* ]]
    [ ! -e other.jsonl ]
    # Reading goes on beside it.
    neardup dedup new.jsonl --against seen.sketch -o other.jsonl -q
    cat new.jsonl >&9
    exec 9>&-
    wait "$first"
    [ "$(ids kept.jsonl)" = blue ]
    [ "$(documents_in seen.sketch)" = 3 ]
}

@test "against: a run that fails adds nothing, and leaves no file that it made" {
    two_days
    echo broken >>new.jsonl
    run neardup dedup new.jsonl --strict --against seen.sketch --append -o kept.jsonl
    [ "$status" -eq 2 ]
    [ ! -e kept.jsonl ]
    [ "$(documents_in seen.sketch)" = 2 ]
    run neardup dedup new.jsonl --strict --against none.sketch --append -o kept.jsonl
    [ "$status" -eq 2 ]
    [ ! -e none.sketch ]
}

@test "against: a signal before the outputs appear leaves no file that --append made" {
    two_days
    mkfifo slow
    "$NEARDUP" dedup slow --format jsonl --against none.sketch --append -q -o kept.jsonl 3>&- &
    local run=$!
    exec 9>slow
    await_open "$run" '*/none.sketch'
    kill -TERM "$run"
    run wait "$run"
    exec 9>&-
    [ ! -e none.sketch ]
    [ ! -e kept.jsonl ]
}

@test "against: what does not fit is refused by its name" {
    two_days
    refused() { # MESSAGE OPTION...
        run neardup dedup new.jsonl -o kept.jsonl "${@:2}"
        [ "$status" -eq 2 ]
        [[ "$output" == *"$1"* ]]
        [ ! -e kept.jsonl ]
    }
    refused "shingle differs" --against seen.sketch --shingle 4
    refused "none.sketch: No such file" --against none.sketch
    refused "not a sketch file" --against old.jsonl
    refused "seen.sketch keeps no field 'lang'" --against seen.sketch --within lang
    refused "seen.sketch keeps no field 'lang'" --against seen.sketch --never lang=a
    refused "seen.sketch was begun without 'lang'" --against seen.sketch --append --record-field lang
    refused "append adds the survivors" --append
    neardup sketch old.jsonl --no-shingles -o bare.sketch -q
    refused "bare.sketch has no shingles" --against bare.sketch
    neardup dedup new.jsonl --against bare.sketch --append --set verify=none -q -o kept.jsonl
    [ "$(documents_in bare.sketch)" = 3 ]
    head -c 12000 seen.sketch >cut.sketch
    rm kept.jsonl
    refused "cut.sketch: the sketch file is damaged" --against cut.sketch
    refused "seen.sketch' is an input and would be overwritten" --against seen.sketch --manifest seen.sketch
    run neardup dedup new.jsonl --against seen.sketch --append --manifest seen.sketch -o kept.jsonl
    [ "$status" -eq 2 ]
}

@test "against: the first --append keeps the fields by which documents are compared" {
    for i in 1 2 3 4; do
        printf '{"id":%d,"lang":"%s","text":"a text of some words that stands in each of these records"}\n' \
            "$i" "$([ $((i % 2)) = 0 ] && echo de || echo en)"
    done >docs.jsonl
    head -n 1 docs.jsonl >first.jsonl
    tail -n +2 docs.jsonl >rest.jsonl
    for day in first rest; do
        neardup dedup -q --within lang $day.jsonl --against seen.sketch --append -o $day.new
    done
    cat first.new rest.new >days.jsonl
    neardup dedup -q --within lang docs.jsonl -o once.jsonl
    cmp days.jsonl once.jsonl
    [ "$(wc -l <once.jsonl)" = 2 ]
    neardup sketch info seen.sketch | grep -x 'field: lang'
}

# Questions of a benchmark, of which one is shorter than a shingle, and documents that quote some.
benchmark() {
    cat >tests.jsonl <<'END'
{"id":"moons","text":"Which planet of the solar system has the greatest number of moons today?"}
{"id":"train","text":"A train leaves Hull at noon and arrives in York an hour later. How fast is it?"}
{"id":"knock","text":"Knock knock!"}
{"id":"none","text":""}
END
    cat >train.jsonl <<'END'
{"id":1,"text":"From a forum. Which planet of the solar system has the greatest number of moons today? Saturn, I said."}
{"id":2,"text":"Nothing about planets. The weather was fine, and we walked along the river until the evening came."}
{"id":3,"text":"The play begins with the words: knock knock; and nobody answers for a while."}
{"id":4,"text":"A train leaves Hull at noon, and nobody knows when it arrives anywhere at all."}
{"id":5,"text":"Somebody knocks. Knock it off, he says, knock!"}
END
    neardup sketch tests.jsonl --missing-text empty -o tests.sketch -q
}

@test "against: documents that contain a benchmark's question are removed, with the passage" {
    benchmark
    neardup dedup train.jsonl --against tests.sketch --verify containment-of-kept -o clean.jsonl --manifest m.jsonl -q
    [ "$(ids clean.jsonl)" = "2 4 5" ]
    rows m.jsonl removed kept decided_by containment_of_kept passage >rows.txt
    cat >right.txt <<'END'
1 "moons" "containment_of_kept" 1 {"tokens": 13, "bytes": [14, 85], "text": "Which planet of the solar system has the greatest number of moons today"}
3 "knock" "containment_of_kept" 1 {"tokens": 2, "bytes": [32, 43], "text": "knock knock"}
END
    diff right.txt rows.txt
    # So much of a question suffices.
    neardup dedup train.jsonl --against tests.sketch --verify containment-of-kept -t 0.2 -q >clean.jsonl
    [ "$(ids clean.jsonl)" = "2 5" ]
    # By characters, too: there is no passage then.
    sed -i 's/Knock knock!/Knock knock/' tests.jsonl
    neardup sketch tests.jsonl --shingle 12c --missing-text empty -o tests.sketch -q
    neardup dedup train.jsonl --against tests.sketch --shingle 12c --verify containment-of-kept -o clean.jsonl --manifest m.jsonl -q
    [ "$(ids clean.jsonl)" = "2 4 5" ]
    [ "$(rows m.jsonl removed kept passage | tail -1)" = '3 "knock" null' ]
}

@test "against: a short question is found in every place, and only as a whole" {
    python3 - "$NEARDUP" <<'PY'
import json, random, subprocess, sys
neardup, words = sys.argv[1], ["a", "b", "c"]
for seed in range(20):
    rng = random.Random(seed)
    w = rng.randrange(2, 6)
    text = lambda most: [rng.choice(words) for _ in range(rng.randrange(1, most))]
    tests = [text(w) for _ in range(3)]
    train = [text(9) for _ in range(30)]
    for name, texts in (("tests", tests), ("train", train)):
        with open(name + ".jsonl", "w") as out:
            for i, t in enumerate(texts):
                out.write(json.dumps({"id": i, "text": " ".join(t)}) + "\n")
    run = lambda *args: subprocess.run([neardup, *args, "-q", "-w", str(w)], check=True)
    short = rng.choice(["identical", "tokens", "keep"])
    run("sketch", "tests.jsonl", "-o", f"{seed}.sketch")
    run("dedup", "train.jsonl", "--against", f"{seed}.sketch", "--verify", "containment-of-kept",
        "--short", short, "-o", "out.jsonl", "--manifest", "m.jsonl")
    def first(document):
        if document in tests:
            return tests.index(document), "bytes"
        return next(((i, "no") for i, q in enumerate(tests) if any(
            document[j:j + len(q)] == q for j in range(len(document)))), None)
    right = {} if short == "keep" else {i: first(t) for i, t in enumerate(train) if first(t)}
    rows = [json.loads(line) for line in list(open("m.jsonl"))[1:]]
    got = {r["removed"]: (r["kept"], r["identical"]) for r in rows if r["kept_at"].startswith("tests")}
    def shingles(t, n):
        return len({tuple(t[j:j + n]) for j in range(len(t) - n + 1)})
    for r in rows:
        if r["identical"] == "no" and r["kept_at"].startswith("tests"):
            n = shingles(train[r["removed"]], len(tests[r["kept"]]))
            assert (r["shared"], r["shingles_removed"], r["shingles_kept"]) == (1, n, 1), (seed, r)
    assert got == right, (seed, got, right)
PY
}

@test "against: short old documents are looked for only where shingles find candidates" {
    echo '{"id":"q","text":"knock knock"}' >tests.jsonl
    {
        echo '{"id":1,"text":"knock knock"}'
        echo '{"id":2,"text":"the play begins with knock knock and goes on"}'
    } >train.jsonl
    neardup sketch tests.jsonl -o tests.sketch -q
    removed() { # OPTION...
        neardup dedup train.jsonl --against tests.sketch --verify containment-of-kept "$@" -o /dev/null --manifest m.jsonl \
            --summary s.json -q
        rows m.jsonl removed identical | tr '\n' ';'
    }
    [ "$(removed)" = '1 "bytes";2 "no";' ]
    # A document that was found as a whole is counted among the near ones, in the step of 1.
    [ "$(jq -c '[.near, .measured[0][1]]' s.json)" = "[1,1]" ]
    [ "$(removed --candidates all)" = '1 "bytes";2 "no";' ]
    [ "$(removed --short tokens)" = '1 "bytes";2 "no";' ]
    [ "$(removed --short keep)" = "" ]
    [ "$(removed --method identical)" = '1 "bytes";' ]
    [ "$(removed --method simhash)" = '1 "bytes";' ]
}

@test "against: sketch files in place of new documents" {
    two_days
    neardup sketch new.jsonl -o new.sketch -q
    neardup dedup new.sketch --against seen.sketch --append -o kept.sketch --manifest m.jsonl -q
    neardup sketch dump kept.sketch >kept.jsonl
    [ "$(ids kept.jsonl)" = blue ]
    [ "$(rows m.jsonl removed kept kept_at | head -1)" = '"copy" "red" "old.jsonl:1"' ]
    [ "$(documents_in seen.sketch)" = 3 ]
    neardup sketch verify seen.sketch
    # Sketches without shingles cannot be added to a file that has some.
    neardup sketch new.jsonl --no-shingles -o bare.sketch -q
    run neardup dedup bare.sketch --against seen.sketch --append --set verify=none -o kept.sketch
    [ "$status" -eq 2 ]
    [[ "$output" == *"have no shingles"* ]]
    [ "$(documents_in seen.sketch)" = 3 ]
}

@test "against: old documents are not counted among the new ones" {
    two_days
    echo '{"id":"short","text":"only two"}' >>old.jsonl
    echo '{"id":"none","text":""}' >>old.jsonl
    neardup sketch old.jsonl -o seen.sketch -q
    tail -n 2 old.jsonl >>new.jsonl
    for cluster in star components; do
        neardup dedup new.jsonl --against seen.sketch --cluster "$cluster" -o kept.jsonl --summary s.json -q
        [ "$(jq '[.documents, .short_documents, .empty_documents, .seen_met]' -c s.json)" = "[6,2,1,4]" ]
    done
    echo '{"id":"again","text":"only two"}' >new.jsonl
    neardup dedup new.jsonl --against seen.sketch -o kept.jsonl --summary s.json -q
    [ "$(jq .short_documents s.json)" = 1 ]
}

@test "against: --only-against compares with old documents alone, and counts by file" {
    benchmark
    sed -n 5p train.jsonl | sed 's/"id":5/"id":6/' >>train.jsonl
    echo '{"id":7,"text":"Knock knock!"}' >>train.jsonl
    sed -n 1p tests.jsonl >one.jsonl
    neardup sketch one.jsonl -o one.sketch -q
    neardup dedup train.jsonl --against tests.sketch --against one.sketch --only-against --verify containment-of-kept \
        -o clean.jsonl --manifest m.jsonl --clusters c.tsv --removed gone.jsonl --summary s.json 2>told.txt
    [ "$(ids clean.jsonl)" = "2 4 5 6" ]
    [ "$(ids gone.jsonl)" = "1 3 7" ]
    [ "$(cut -f2 c.tsv | tr '\n' ' ')" = "moons 2 knock 4 5 6 knock " ]
    rows m.jsonl removed kept identical >rows.txt
    printf '%s\n' '1 "moons" "no"' '3 "knock" "no"' '7 "knock" "bytes"' | diff - rows.txt
    [ "$(jq -c '[.quoted[] | [.name, .prototypes, .documents]]' s.json)" = '[["tests.sketch",4,3],["one.sketch",1,1]]' ]
    [ "$(jq -c '[.documents, .kept, .removed, .identical_bytes, .near, .short_documents, .clusters]' s.json)" = "[7,4,3,1,2,1,0]" ]
    grep -q '^ *3  tests.sketch (4)$' told.txt
    [ "$(sed -n 1p m.jsonl | jq -c .options.only_against)" = true ]
    # Without it equal new documents go.
    neardup dedup train.jsonl --against tests.sketch --verify containment-of-kept -q -o clean.jsonl
    [ "$(ids clean.jsonl)" = "2 4 5" ]
    # An old document that another one stands for is found as well.
    echo '{"id":"more","text":"Which planet of the solar system has the greatest number of moons today? And why"}' >>tests.jsonl
    neardup sketch tests.jsonl --missing-text empty -o tests.sketch -q
    tail -n 1 tests.jsonl | sed 's/more/late/' >late.jsonl
    neardup dedup late.jsonl --against tests.sketch --only-against -t 0.9 --manifest m.jsonl -q -o clean.jsonl
    [ "$(rows m.jsonl removed kept identical)" = '"late" "more" "bytes"' ]
}

@test "against: what does not go with --only-against is refused" {
    two_days
    refused() { # MESSAGE OPTION...
        run neardup dedup new.jsonl -o kept.jsonl --only-against "${@:2}"
        [ "$status" -eq 2 ]
        [[ "$output" == *"$1"* ]]
        [ ! -e kept.jsonl ]
    }
    refused "there are none"
    refused "append does not go with only-against" --against seen.sketch --append
    refused "prefer does not go with only-against" --against seen.sketch --prefer id=a
    refused "cluster must be star" --against seen.sketch --cluster components
    refused "cluster must be star" --against seen.sketch --cluster complete
}

@test "against: a candidate of a rule takes its place among max_checks, whatever its length" {
    cat >bag.ini <<'END'
[signature bag]
kind = simhash
tf = count
idf = none
[decide]
candidates = match
match = distance(bag) <= 3
verify = jaccard
max_checks = 1
END
    # By the bag of its words the long one is nearest, though it resembles nothing.
    python3 -c 'import json, random
rng = random.Random(5)
words = [f"word{i}" for i in range(60)]
texts = {"near": [*words[:-1], "other3"], "long": [w for _ in range(3) for w in rng.sample(words, 60)], "new": words}
for name, file in (("near", "old"), ("long", "old"), ("new", "new")):
    print(json.dumps({"id": name, "text": " ".join(texts[name])}), file=open(f"{file}.jsonl", "a"))'
    cat old.jsonl new.jsonl >all.jsonl
    for checks in 1 2; do
        neardup sketch old.jsonl --recipe ./bag.ini --set max_checks=$checks -o old.sketch -q
        neardup dedup all.jsonl --recipe ./bag.ini --set max_checks=$checks -o kept.jsonl -q
        neardup dedup new.jsonl --recipe ./bag.ini --set max_checks=$checks --against old.sketch -o alone.jsonl -q
        ids kept.jsonl >>together.txt
        echo "near long $(ids alone.jsonl)" >>apart.txt
    done
    cat together.txt
    [ "$(head -n 1 together.txt)" = "near long new" ]
    [ "$(tail -n 1 together.txt)" = "near long" ]
    sed 's/ $//' apart.txt | diff together.txt -
}

@test "against: the summary counts documents of the inputs, whatever is loaded of the old ones" {
    local text="one two three four five six seven eight nine ten eleven twelve"
    for i in 1 2 3 4; do echo "{\"id\":\"o$i\",\"lang\":\"a\",\"text\":\"$text $i\"}"; done >old.jsonl
    for i in 5 6; do echo "{\"id\":\"n$i\",\"lang\":\"$i\",\"text\":\"$text $i\"}"; done >new.jsonl
    neardup sketch -q old.jsonl -o old.sketch --record-field lang
    neardup dedup -q new.jsonl --against old.sketch --never lang=a,5 -o kept.jsonl --summary s
    grep -q '"never_documents":1,' s
    # The four old ones resemble one another: n5 and n6 are compared with one of them, which leads.
    neardup dedup -q new.jsonl --against old.sketch -o kept.jsonl --summary s
    python3 -c 'import json
s = json.load(open("s"))
assert (s["candidates"], s["checks"]) == (2, 2), s'
}
