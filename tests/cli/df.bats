#!/usr/bin/env bats
# df.bats - tables of document frequencies: counted, merged, shown, refused

load common

# Counts of words by hand, as "count word" in order: JSON Lines of plain ASCII words.
slow_counts() {
    python3 - "$@" <<'END'
import collections, json, sys
count = collections.Counter()
for path in sys.argv[1:]:
    for line in open(path):
        count.update(set(json.loads(line)["text"].split()))
for word, n in sorted(count.items(), key=lambda x: (-x[1], x[0])):
    print(n, word)
END
}

# $1 lines, $2 seed
words() {
    python3 - "$@" <<'END'
import json, random, sys
random.seed(int(sys.argv[2]))
for i in range(int(sys.argv[1])):
    n = random.randrange(60)
    print(json.dumps({"id": i, "text": " ".join(f"w{int(random.expovariate(.01))}" for _ in range(n))}))
END
}

counts() { # TABLE: "count word", as slow_counts has it
    neardup df top --count 100000 "$1" | cut -f 1,3 | tr '\t' ' ' | LC_ALL=C sort -k1,1nr -k2,2
}

@test "build counts each document once, whatever the threads, the memory and the order" {
    words 3000 1 >a.jsonl
    slow_counts a.jsonl | LC_ALL=C sort -k1,1nr -k2,2 >wanted
    neardup df build -q --texts a.jsonl -o one.df
    counts one.df >got
    diff wanted got
    neardup df build -q --texts -j 1 --memory 1M a.jsonl -o small.df
    cmp one.df small.df
    tac a.jsonl | neardup df build -q --texts -j 3 --format jsonl - -o turned.df
    cmp one.df turned.df
    neardup df info one.df >info
    grep -qx "documents: 3000" info
    grep -qx "distinct features: $(wc -l <wanted)" info
    grep -qx "in one document: $(grep -c '^1 ' wanted)" info
    grep -qx "  unit = terms" info
}

@test "merged tables are the table of all" {
    words 500 1 >a.jsonl
    words 700 2 >b.jsonl
    neardup df build -q a.jsonl -o a.df
    neardup df build -q b.jsonl -o b.df
    neardup df build -q a.jsonl b.jsonl -o both.df
    neardup df merge a.df b.df -o sum.df
    cmp both.df sum.df
    neardup df build -q --features sketch a.jsonl -o shingles.df
    run neardup df merge a.df shingles.df -o no.df
    [ "$status" -eq 2 ]
    [[ $output == *'shingles.df: the tables count different features: one has "unit = terms", this one "unit = shingles"'* ]]
    [ ! -e no.df ]
}

@test "large tables are merged in little memory, as fast as they are read" {
    # 400,000 features in each: put into a table in their order they took time without end.
    python3 -c 'import json
for d in range(2000):
    print(json.dumps({"text": " ".join(f"w{d // 2}x{i}" for i in range(400 + d % 2))}))' >a.jsonl
    neardup df build -q --texts a.jsonl -o a.df
    cat a.jsonl a.jsonl a.jsonl | neardup df build -q --texts --format jsonl -o thrice.df
    neardup df merge --memory 1M a.df a.df a.df -o sum.df
    neardup df info a.df | grep -qx "distinct features: 401000"
    cmp thrice.df sum.df
    run neardup df merge --tmp no/such/folder a.df a.df -o none.df
    [ "$status" -eq 2 ]
    [ ! -e none.df ]
}

@test "top prints the most frequent, or the rarest" {
    small_corpus
    neardup df build -q --texts small.jsonl -o t.df
    [ "$(neardup df top --count 1 t.df | cut -f 1)" = 3 ]
    [ "$(neardup df top t.df | wc -l)" -eq 20 ]
    neardup df top --rarest --count 3 t.df >rare
    [ "$(cut -f 1 rare | sort -u)" = 1 ]
    [ "$(cut -f 3 rare | grep -c '[a-z]')" -eq 3 ]
    neardup df build -q small.jsonl -o plain.df
    [ "$(neardup df top --count 1 plain.df | awk -F '\t' '{ print NF }')" -eq 2 ]
    neardup df top --count 1000 t.df >all
    neardup df top --count 1000 --most 2 t.df | cmp - <(awk -F '\t' '$1 < 3' all)
    neardup df top --count 2 --rarest --least 2 t.df | cut -f 1 | cmp - <(printf '3\n3\n')
    [ -z "$(neardup df top --least 9 t.df)" ]
}

@test "the signature of a recipe is counted, and another recipe is refused" {
    small_corpus
    cat >one.ini <<'END'
[signature words]
kind = imatch
stem = english
END
    neardup df build -q --recipe one.ini small.jsonl -o words.df
    neardup df info words.df | grep -qx "  stem = english"
    neardup df build -q --recipe one.ini --features words small.jsonl -o again.df
    cmp words.df again.df
    run neardup df build -q --recipe one.ini --features other small.jsonl -o no.df
    [ "$status" -eq 2 ]
    [[ $output == *"no signature 'other'"* ]]
    neardup df calibrate --recipe one.ini words.df small.jsonl >factor
    grep -qE '^low = 0\.[0-9]+$' factor
    run neardup df calibrate words.df small.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *'words.df: the df table counts other features: it has "stem = english", the recipe "stem = none"'* ]]
    run neardup df build -q --recipe dean-henzinger-1999 small.jsonl -o no.df
    [ "$status" -eq 2 ]
    [[ $output == *"signature links: unit = none: fields and links are not counted"* ]]
    [ ! -e no.df ]
}

@test "a table of terms serves the stop words of any unit of words" {
    # "the" stands in five documents of six, "lazy" in none of the others' company: one in six.
    for i in 1 2 3 4 5; do echo "{\"id\":$i,\"text\":\"the quick w$i brown the w$i$i fox\"}"; done >c.jsonl
    echo '{"id":6,"text":"quick w1 lazy brown w11 fox"}' >>c.jsonl
    [ -n "$(units 'stem = english')" ]
    for unit in $(units 'stem = english'); do
        cat >own.ini <<END
[signature s]
unit = $unit
stop_words = df:4/5
kind = features
END
        neardup df build -q --recipe own.ini c.jsonl -o c.df
        neardup df info c.df | grep -qx "  unit = terms"
        neardup df build -q c.jsonl -o terms.df
        cmp c.df terms.df
        neardup sketch -q --recipe own.ini --df c.df c.jsonl >sketches
        grep -q '"signatures":{"s":\["' sketches
    done
    # Without "the" and, by chance as common, "quick", "brown" and "fox", two words are left.
    neardup sketch -q --recipe own.ini --set s.unit=terms --df c.df c.jsonl >sketches
    [ "$(head -n 1 sketches | grep -o '"signatures".*' | grep -o '"[0-9a-f]\{16\}"' | wc -l)" -eq 2 ]
}

@test "a run refuses a table of other features, another version, or a damaged one" {
    small_corpus
    cat >stemmed.ini <<'END'
[signature words]
kind = imatch
stem = english
END
    cp small.jsonl other.jsonl
    echo '{"id":6,"text":"one more document"}' >>other.jsonl
    neardup df build -q small.jsonl -o plain.df
    neardup df build -q --recipe stemmed.ini small.jsonl -o stemmed.df
    neardup df build -q --recipe stemmed.ini other.jsonl -o other.df
    version=$(neardup df info stemmed.df | sed -n 's/^version: //p')
    for command in sketch dedup; do
        neardup $command -q --recipe stemmed.ini --df stemmed.df small.jsonl -o out
        run neardup $command -q --recipe stemmed.ini --df plain.df small.jsonl -o out2
        [ "$status" -eq 2 ]
        [[ $output == *'it has "stem = none", the recipe "stem = english"'* ]]
        neardup $command -q --recipe stemmed.ini --df stemmed.df --set "words.df_version=$version" small.jsonl -o out
        run neardup $command -q --recipe stemmed.ini --df other.df --set "words.df_version=$version" small.jsonl -o out2
        [ "$status" -eq 2 ]
        [[ $output == *"$version"* ]]
        head -c 200 stemmed.df >cut.df
        run neardup $command -q --recipe stemmed.ini --df cut.df small.jsonl -o out2
        [ "$status" -eq 2 ]
        [[ $output == *"cut.df"* ]]
        [ ! -e out2 ]
    done
}

@test "calibrate finds the factor that drops a share of the features" {
    # Ten words ten times, …, once: half of the features weigh at most half as much as the most.
    python3 -c 'import json
for d in range(20):
    print(json.dumps({"text": " ".join(f"w{d}x{n} " * n for n in range(1, 11))}))' >a.jsonl
    neardup df build -q a.jsonl -o a.df
    neardup df calibrate a.df a.jsonl >factor
    [ "$(tail -n 1 factor)" = "low = 0.500015" ]
    grep -q "20 documents, 200 features" factor
    neardup df calibrate --drop 0.9 a.df a.jsonl >factor
    [ "$(tail -n 1 factor)" = "low = 0.900009" ]
    tac a.jsonl >b.jsonl
    neardup df calibrate --sample 7 -j 1 a.df a.jsonl >one
    neardup df calibrate --sample 7 -j 3 a.df b.jsonl >other
    cmp one other
    grep -q "7 documents" one
    run neardup df calibrate --drop 1 a.df a.jsonl
    [ "$status" -eq 2 ]
    # Counts are weights as they are, above 32,768 too.
    python3 -c 'import json; print(json.dumps({"text": "x " * 40000 + "y " * 30000 + "z"}))' >b.jsonl
    neardup df build -q b.jsonl -o b.df
    neardup df calibrate b.df b.jsonl >factor
    [ "$(tail -n 1 factor)" = "low = 0.750015" ]
}

@test "a table that is truncated, altered or none is refused" {
    small_corpus
    neardup df build -q --texts small.jsonl -o t.df
    head -c 300 t.df >cut.df
    run neardup df info cut.df
    [ "$status" -eq 2 ]
    [[ $output == *"cut.df: "*"its length differs from the one in its header"* ]]
    cp t.df altered.df
    printf 'X' | dd of=altered.df bs=1 seek=200 conv=notrunc status=none
    run neardup df top altered.df
    [ "$status" -eq 2 ]
    [[ $output == *"altered.df: "*"checksum is wrong"* ]]
    run neardup df merge t.df small.jsonl -o no.df
    [ "$status" -eq 2 ]
    [[ $output == *"small.jsonl: not a df table"* ]]
    [ ! -e no.df ]
    run neardup df calibrate cut.df small.jsonl
    [ "$status" -eq 2 ]
}

@test "what cannot be done is said, and nothing is written" {
    small_corpus
    run neardup df build small.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"--output"* ]]
    run neardup df
    [ "$status" -eq 2 ]
    run neardup df info
    [ "$status" -eq 2 ]
    run neardup df build -q absent.jsonl -o t.df
    [ "$status" -eq 2 ]
    [ ! -e t.df ]
    run neardup df build -q small.jsonl -o no/such/t.df
    [ "$status" -eq 2 ]
    [[ $output == *"no/such/t.df"* ]]
    run neardup df build -q small.jsonl -o small.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"'small.jsonl' is an input and would be overwritten"* ]]
    mkfifo pipe
    run neardup df build -q small.jsonl -o pipe
    [ "$status" -eq 2 ]
    [[ $output == *"pipe: is not a regular file"* ]]
    [ -p pipe ]
    rm pipe
    (umask 077 && neardup df build -q small.jsonl -o t.df)
    [ "$(stat -c %a t.df)" = 600 ]
    rm t.df
    echo '{broken' >>small.jsonl
    run neardup df build -q --strict small.jsonl -o t.df
    [ "$status" -eq 2 ]
    [ ! -e t.df ]
    run neardup df build -q small.jsonl -o t.df
    [ "$status" -eq 3 ]
    [ "$(ls)" = $'small.jsonl\nt.df' ]
    for bad in build,--memory=5k top,--count=0 calibrate,--sample=x calibrate,--drop=1.5; do
        run neardup df "${bad%,*}" "${bad#*,}" t.df small.jsonl
        [ "$status" -eq 2 ]
        bad=${bad#*,}
        [[ $output == *"${bad%=*}: "* ]]
    done
}

@test "a table that is cut short while it is read ends the command with a message" {
    words 2000 5 >corpus.jsonl
    mkfifo late
    for threads in 1 2; do
        neardup df build --recipe chowdhury-2002 corpus.jsonl -o table
        "$NEARDUP" sketch -j $threads --recipe chowdhury-2002 --df table --format jsonl late \
            >got 2>said &
        exec 9>late # the table was opened before
        truncate -s 4096 table
        cat corpus.jsonl >&9 || true
        exec 9>&-
        status=0
        wait $! || status=$?
        [ "$status" -eq 2 ]
        grep -q '^neardup: an index or df table was cut short' said
    done
}
