#!/usr/bin/env bats
# memory.bats - --memory: the same bytes in little memory, records that are too long, a full disk

load common

# 90,000 short documents, more than an index of 32 MB holds: copies, near copies, pages of a template.
crowd() {
    python3 - "$1" <<'PY'
import random, sys
random.seed(11)
words = [f"w{i}" for i in range(20000)]
pool = []
with open(sys.argv[1], "w") as out:
    for i in range(90000):
        kind = random.random()
        if pool and kind < 0.12:
            text = random.choice(pool)
        elif pool and kind < 0.35:
            text = random.choice(pool).split()
            text[random.randrange(len(text))] = random.choice(words)
            text = " ".join(text)
        elif kind < 0.4:
            text = " ".join(words[:25] + random.choices(words, k=8))
        else:
            text = " ".join(random.choices(words, k=random.randrange(1, 40)))
        if len(pool) < 9000:
            pool.append(text)
        out.write('{"id":%d,"n":%d,"text":"%s"}\n' % (i, random.randrange(1000), text))
        if i % 30000 == 77:
            out.write("{broken\n")
PY
}

setup_file() {
    crowd "$BATS_FILE_TMPDIR/crowd.jsonl"
}

# Code, libraries and threads take so much address space beside --memory, in KB
# (docs/decisions/bounded-memory.md): 80 MB, and 72 MB a thread.
constant() { # THREADS
    echo $((1024 * (80 + 72 * $1)))
}

outputs() { # NAME OPTION…
    local name=$1
    shift
    neardup dedup -q --max-bad 1% "$@" -o "$name.out" --manifest "$name.m" --clusters "$name.c" --summary "$name.s"
}

same_outputs() { # NAME NAME
    cmp "$1.out" "$2.out"
    cmp "$1.m" "$2.m"
    cmp "$1.c" "$2.c"
}

value() { # FILE KEY
    python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$1" "$2"
}

# Give each line of options of the standard input to a run in bounded memory and to one without a limit.
same_for_each_line() {
    ln -s "$BATS_FILE_TMPDIR/crowd.jsonl" crowd.jsonl
    while IFS= read -r options; do
        # shellcheck disable=SC2086
        outputs free $options crowd.jsonl
        # shellcheck disable=SC2086
        (
            ulimit -v $((64 * 1024 + $(constant 2)))
            outputs bounded -j2 --memory 64M $options crowd.jsonl
        )
        same_outputs free bounded
        [ "$(value bounded.s spilled_bytes)" -gt 3000000 ]
        [ "$(value bounded.s memory_bytes)" = $((64 << 20)) ]
        [ "$(value bounded.s peak_bytes)" -lt "$(value free.s peak_bytes)" ]
    done
}

@test "--memory changes no byte of the outputs, and is kept" {
    same_for_each_line <<'END'
--keep longest --cluster components
END
}

@test "slow: --memory changes no byte, whatever is kept and whatever finds duplicates" {
    same_for_each_line <<'END'
--keep first
--keep newest:n --cluster complete
--method simhash --keep last
END
}

@test "slow: sketch files are read in bounded memory too" {
    ln -s "$BATS_FILE_TMPDIR/crowd.jsonl" crowd.jsonl
    neardup sketch -q --max-bad 1% crowd.jsonl -o crowd.sketch
    outputs free crowd.sketch
    outputs bounded --memory 64M crowd.sketch
    same_outputs free bounded
    outputs free --cluster components --keep last crowd.sketch
    outputs bounded --memory 64M --cluster components --keep last crowd.sketch
    same_outputs free bounded
}

@test "a df table that is counted from the input is counted in bounded memory" {
    head -n 30000 "$BATS_FILE_TMPDIR/crowd.jsonl" >some.jsonl
    outputs free --recipe kolcz-2004-mail --df auto=free.df some.jsonl
    outputs bounded --memory 64M --recipe kolcz-2004-mail --df auto=bounded.df some.jsonl
    cmp free.df bounded.df
    cmp free.out bounded.out
    cmp free.c bounded.c
}

@test "slow: as many documents as an index of the memory holds are decided in it" {
    python3 -c '
import random
random.seed(3)
words = [f"w{i}" for i in range(20000)]
for i in range(130000):
    print("{\"id\":%d,\"text\":\"%s\"}" % (i, " ".join(random.choices(words, k=12))))' >distinct.jsonl
    for memory in 76 84 92 100 116; do
        (
            ulimit -v $((memory * 1024 + $(constant 2)))
            head -n $((memory * 1024 * 1024 / 2 / 462)) distinct.jsonl | neardup dedup -q -j2 --memory ${memory}M - -o /dev/null --summary s
        )
        [ "$(value s removed)" = 0 ]
    done
}

@test "slow: equal documents take no memory" {
    python3 -c '
for i in range(150000):
    print("{\"text\":\"one two three four five six seven eight nine ten eleven\"}")' >equal.jsonl
    outputs free equal.jsonl
    outputs bounded --memory 64M equal.jsonl
    same_outputs free bounded
}

@test "what cannot be read again is spooled, whatever the memory is" {
    small_corpus
    outputs free small.jsonl
    neardup dedup -q --memory 64M -o bounded.out --manifest bounded.m --clusters bounded.c - <small.jsonl
    cmp free.out bounded.out
    cmp free.c bounded.c
}

@test "a record that is too long for --memory is a bad one, which says what it needs" {
    python3 -c '
text = "one two three four five six seven eight nine ten"
long = "x " * 400000
with open("long.jsonl", "w") as out:
    for i, t in enumerate([text, long, text + " eleven", text]):
        out.write("{\"id\":%d,\"text\":\"%s\"}\n" % (i, t))
with open("long.csv", "w") as out:
    out.write("id,text\n1,%s\n2,\"%s\n\"\"%s\"\n3,%s\n" % (text, long, long, text))
with open("long.mbox", "w") as out:
    for t in [text, text + "\n" + long + "\n\n" + long, text + " more"]:
        out.write("From a@b Mon Jan  1 00:00:00 2020\nSubject: s\n\n%s\n\n" % t)
open("long.txt", "w").write(long)
'
    for name in long.jsonl long.csv long.mbox; do
        neardup dedup -q -j1 --max-bad 60% --memory 64M $name -o kept --manifest m --removed removed 2>err
        needed=$(sed -n "s/.*$name:[0-9]*: a record of [0-9]* bytes needs more memory: --memory //p" err)
        [ -n "$needed" ]
        [ "$(grep -c 'needs more memory' m)" = 1 ]
        [ "$(wc -c <removed)" -lt 1000 ]
        neardup dedup -q -j1 --strict --memory "$needed" $name -o all
        neardup dedup -q -j1 --strict $name -o free
        cmp all free
    done
    run neardup dedup -q -j1 --memory 64M long.txt -o kept
    [ "$status" = 2 ]
    [[ $output == *"long.txt: a record of 800000 bytes needs more memory: --memory "* ]]
}

@test "the records behind one that is too long have their places" {
    python3 -c '
text = "one two three four five six seven eight nine ten"
with open("long.jsonl", "w") as out:
    out.write("\n{\"text\":\"%s\"}\n{\"text\":\"%s\"}\n\n{\"text\":\"%s\"}\n" % (text, "x " * 400000, text))
'
    neardup dedup -q -j1 --max-bad 60% --memory 64M long.jsonl -o kept --manifest m
    [ "$(rows m removed_at kept_at skipped)" = 'null null "long.jsonl:3"
"long.jsonl:5" "long.jsonl:2" null' ]
}

@test "slow: values that do not fit into --memory are named" {
    python3 -c '
for i in range(60000):
    print("{\"text\":\"some words that all have in common\",\"host\":\"%d%s\"}" % (i, "x" * 100))' >hosts.jsonl
    run neardup dedup -q --memory 64M --within host hosts.jsonl -o kept
    [ "$status" = 2 ]
    [[ $output == *"memory: after "*" records, the values of within take "*" bytes: more than "*"M is needed"* ]]
    [ ! -e kept ]
}

# Near copies, of which one is in the first half of the file and one in the second.
twins() { # FILE COUNT
    python3 - "$1" "$2" <<'PY'
import random, sys
random.seed(5)
words = [f"w{i}" for i in range(20000)]
n = int(sys.argv[2])
texts = [random.choices(words, k=random.randrange(12, 30)) for _ in range(n)]
order = list(range(n))
random.shuffle(order)
with open(sys.argv[1], "w") as out:
    for i in range(n):
        out.write('{"id":%d,"text":"%s"}\n' % (i, " ".join(texts[i])))
    for i in order:
        out.write('{"id":%d,"text":"%s"}\n' % (n + i, " ".join(texts[i] + ["more"])))
PY
}

# Find the pairs of a file in bounded memory and without a limit.
same_pairs() { # FILE LOADS OPTION…
    local file=$1 loads=$2
    shift 2
    neardup pairs -q --max-bad 1% "$@" "$file" -o free
    (
        ulimit -v $((64 * 1024 + $(constant 2)))
        neardup pairs -q -j2 --max-bad 1% --memory 64M "$@" "$file" -o bounded --summary s
    )
    cmp free bounded
    [ "$(value s spilled_bytes)" -gt 10000000 ]
    [ "$(value s memory_bytes)" = $((64 << 20)) ]
    [ "$(value s loads)" -ge "$loads" ]
}

@test "slow: --memory changes no byte of the pairs, and is kept" {
    twins twins.jsonl 60000
    same_pairs twins.jsonl 2
}

@test "slow: --memory changes no byte of the pairs, whatever finds them" {
    twins twins.jsonl 60000
    same_pairs "$BATS_FILE_TMPDIR/crowd.jsonl" 1 --json
    same_pairs "$BATS_FILE_TMPDIR/crowd.jsonl" 1 --method simhash
    same_pairs twins.jsonl 2 --near-misses 0.6
    neardup sketch -q twins.jsonl -o twins.sketch
    neardup pairs -q twins.jsonl -o free
    neardup pairs -q --memory 64M twins.sketch -o bounded
    cmp free bounded
}

@test "slow: pairs of many equal documents are found in bounded memory" {
    python3 -c '
import random
random.seed(4)
words = [f"w{i}" for i in range(20000)]
for i in range(80000):
    text = "one two three four five six seven" if i % 80 == 0 else " ".join(random.choices(words, k=9))
    print("{\"id\":%d,\"text\":\"%s\"}" % (i, text))' >equal.jsonl
    neardup pairs -q equal.jsonl -o free
    (
        ulimit -v $((64 * 1024 + $(constant 2)))
        neardup pairs -q -j2 --memory 64M equal.jsonl -o bounded
    )
    cmp free bounded
    [ "$(wc -l <free)" = 499500 ]
}

@test "pairs of documents that all could match one another say how much they need" {
    head -n 89000 "$BATS_FILE_TMPDIR/crowd.jsonl" >crowd.jsonl
    run neardup pairs -q --max-bad 1% --memory 64M --verify containment crowd.jsonl -o out
    [ "$status" = 2 ]
    [[ $output == *"memory: 88997 documents could match one another, directly or through others; to decide about them together takes up to "*M* ]]
    [ ! -e out ]
}

# 20,000 old documents, and as many new ones, which memory for their keys holds in several parts.
@test "slow: --memory changes no byte of the outputs of new documents against old ones, and is kept" {
    sed -n 1,20000p "$BATS_FILE_TMPDIR/crowd.jsonl" >old.jsonl
    sed -n 20001,40000p "$BATS_FILE_TMPDIR/crowd.jsonl" >new.jsonl
    neardup sketch -q --max-bad 1% old.jsonl -o old.sketch
    while IFS= read -r options; do
        cp old.sketch free.sketch
        # shellcheck disable=SC2086
        outputs free $options --against free.sketch --append new.jsonl
        rm -f against.sketch
        cp old.sketch against.sketch
        # shellcheck disable=SC2086
        (
            ulimit -v $((96 * 1024 + $(constant 2)))
            outputs bounded -j2 --memory 96M $options --against against.sketch --append new.jsonl
        )
        sed -i 's/against.sketch/free.sketch/' bounded.m
        same_outputs free bounded
        cmp free.sketch against.sketch
        [ "$(value bounded.s spilled_bytes)" -gt 1000000 ]
    done <<'END'
--keep first
--keep longest --cluster components
--keep newest:n --cluster complete
--keep shortest --threads 1
--method simhash --keep last
END
    run neardup dedup -q --max-bad 1% --memory 64M --against old.sketch --cluster components "$BATS_FILE_TMPDIR/crowd.jsonl" -o out
    [ "$status" = 2 ]
    [[ $output == *"memory: what is held of the first "*" documents takes "*" MB; the whole needs about "*M* ]]
    [ ! -e out ]
}

@test "a record that is too long for --memory is a bad one with --against, too" {
    python3 -c '
text = "one two three four five six seven eight nine ten"
with open("long.jsonl", "w") as out:
    for i, t in enumerate([text, "x " * 400000, text + " eleven", "x y " * 200000, text]):
        out.write("{\"id\":%d,\"text\":\"%s\"}\n" % (i, t))
'
    neardup sketch -q long.jsonl -o old.sketch
    neardup dedup -q -j1 --max-bad 60% --memory 64M --against old.sketch long.jsonl -o kept --manifest m --removed removed
    [ ! -s kept ]
    [ "$(grep -c 'needs more memory: --memory ' m)" = 2 ]
    [ "$(wc -c <removed)" -lt 1000 ]
}

@test "the other commands end where they must hold more than --memory, and say how much" {
    ln -s "$BATS_FILE_TMPDIR/crowd.jsonl" crowd.jsonl
    run neardup filter -q --max-bad 1% --memory 64M --prototypes crowd.jsonl crowd.jsonl -o out
    [ "$status" = 2 ]
    [[ $output == *"memory: what is held of the first "*" documents takes "*" MB; the whole needs about "*M* ]]
    [ ! -e out ]
}

@test "a full disk ends a run in bounded memory, and nothing is left" {
    ln -s "$BATS_FILE_TMPDIR/crowd.jsonl" crowd.jsonl
    mkdir tmp
    run bash -c "ulimit -f 8000; '$NEARDUP' dedup -q --max-bad 1% --memory 64M --tmp tmp crowd.jsonl -o /dev/null 2>&1"
    [ "$status" = 2 ]
    [[ $output == *"tmp: the temporary file in it cannot be written: File too large"* ]]
    run bash -c "ulimit -f 8000; '$NEARDUP' pairs -q --max-bad 1% --memory 64M --tmp tmp crowd.jsonl -o pairs 2>&1"
    [ "$status" = 2 ]
    [[ $output == *"tmp: the temporary file in it cannot be written: File too large"* ]]
    [ -z "$(ls -A tmp)" ]
    [ ! -e pairs ]
}

@test "--memory is a number of bytes of at least 64M" {
    small_corpus
    for value in 63M 1x -1 0 M ""; do
        run neardup dedup -q --memory "$value" small.jsonl
        [ "$status" = 2 ]
    done
    neardup dedup -q --memory 0.5G small.jsonl >out
    [ "$(ids out)" = "a 4 5" ]
}

@test "slow: the --memory that is asked for suffices, of few documents and a low threshold too" {
    local asked=0
    tail -n 500 "$BATS_FILE_TMPDIR/crowd.jsonl" | neardup sketch -q -f jsonl - -o old.sketch
    for documents in 3 500; do
        head -n "$documents" "$BATS_FILE_TMPDIR/crowd.jsonl" >some.jsonl
        for options in "-j1 -t 0.2" "-j2 -t 0.1" "-j2 -t 0.2 --cluster components"; do
            # shellcheck disable=SC2086
            run neardup dedup --memory 64M --max-bad 1% --against old.sketch $options some.jsonl -o out
            echo "$output"
            [ "$status" -eq 2 ] || continue
            asked=$((asked + 1))
            needed=$(grep -o 'needs about [0-9]*M' <<<"$output" | tr -dc 0-9)
            [ "$needed" -lt 120 ]
            # shellcheck disable=SC2086
            neardup dedup -q --memory "${needed}M" --max-bad 1% --against old.sketch $options some.jsonl -o out
        done
    done
    [ "$asked" -gt 0 ]
}
