#!/usr/bin/env bats
# errors.bats - usage, failures, signals: what is said, the status, and what is left behind

load common

# A failure: status 2, a first line that holds the words, and no new file.
fails() {
    local words=$1 before
    shift
    before=$(files)
    run "$NEARDUP" "$@"
    [ "$status" -eq 2 ] || { echo "status $status: $output"; return 1; }
    [[ ${lines[0]} == "neardup: "*"$words"* ]] || { echo "$output"; return 1; }
    [ "$(files)" = "$before" ]
}

files() {
    find . | sort
}

@test "a mistyped command, option or value names the nearest" {
    small_corpus
    fails "a command is missing"
    fails "there is no command 'dedpu'; did you mean 'dedup'?" dedpu
    fails "there is no command 'xyzzy'; see neardup help" xyzzy
    fails "there is no option --treshold; did you mean --threshold?" dedup --treshold 1
    fails "there is no option --treshold=1; did you mean --threshold?" dedup --treshold=1
    fails "there is no option --xyzzy; see neardup help dedup" dedup --xyzzy
    fails "there is no option -z; see neardup help dedup" dedup -z
    fails "--keep is not an option of sketch, but of dedup, plan and collapse; see neardup help sketch" sketch --keep last
    fails "--output-dir is not an option of pairs, but of dedup, apply, repeats and filter; did you mean --output?" pairs --output-dir x
    fails "there is no option --text; did you mean --text-field or --text-format?" compare --text x
    fails "there is no option --metrics; did you mean --metric?" compare --metrics
    fails "did you mean 'jsonl'?" dedup --format jsnl small.jsonl
    fails "did you mean 'paragraph'?" dedup --unit paragraf small.jsonl
    fails "did you mean 'skip'?" dedup --missing-text skp small.jsonl
    fails "did you mean 'minhash'?" dedup --method minhsh small.jsonl
    fails "did you mean 'components'?" dedup --cluster component small.jsonl
    fails "did you mean 'identical'?" dedup --short identicl small.jsonl
    fails "did you mean 'longest'?" dedup --keep longst small.jsonl
    fails "did you mean 'jaccard'?" dedup --verify jacard small.jsonl
    fails "did you mean 'simhash'?" dedup --candidates simhsh small.jsonl
    fails "did you mean" dedup --set treshold=1 small.jsonl
    fails "did you mean 'dedup'?" help dedupp
}

@test "values that are wrong are named with their option" {
    small_corpus
    fails "--threshold: " dedup --threshold 2 small.jsonl
    fails "--threshold: " dedup --threshold 0 small.jsonl
    fails "--threshold: " dedup --threshold x small.jsonl
    fails "--shingle: " dedup --shingle 0 small.jsonl
    fails "--shingle: " dedup --shingle 33 small.jsonl
    fails "--shingle: " dedup --shingle c small.jsonl
    fails "--characters: " dedup --characters 0 small.jsonl
    fails "--recall: " dedup --recall 1 small.jsonl
    fails "--bits: " dedup --method simhash --bits 16 small.jsonl
    fails "--bands: '21' does not have the form BxR" dedup --bands 21 small.jsonl
    fails "--bands: 40x4 needs more than the 128 minima" dedup --bands 40x4 small.jsonl
    fails "--max-checks: " dedup --max-checks 0 small.jsonl
    fails "--threads: '0' is not a number from 1 to 1024" dedup --threads 0 small.jsonl
    fails "--threads: '2x'" dedup --threads 2x small.jsonl
    fails "keep: 'newest' needs a field" dedup --keep newest small.jsonl
    fails "keep: 'first' takes no field" dedup --keep first:x small.jsonl
    fails "--prefer: 'x' does not have the form FIELD=A,B,C" dedup --prefer x small.jsonl
    fails "--output needs a value: --output FILE" dedup small.jsonl --output
    fails "-o needs a value: -o FILE" dedup small.jsonl -o
    fails "--quiet takes no value" dedup small.jsonl --quiet=yes
    fails "--within must not be empty" dedup --within= small.jsonl
    fails "--recipe: none.ini: No such file" dedup --recipe none.ini small.jsonl
    fails "only one of output, output-dir, copy-to and link-to" dedup -o a --output-dir b small.jsonl
    fails "two outputs cannot both go to 'x'" dedup --manifest x --clusters x small.jsonl
    printf '[decide]\nthreshhold = 1\n' >bad.ini
    fails "bad.ini:2: " dedup --recipe bad.ini small.jsonl
}

@test "options may stand anywhere; -- ends them" {
    small_corpus
    cp small.jsonl ./-x.jsonl
    neardup dedup -q -oout -- -x.jsonl
    [ "$(ids out)" = "a 4 5" ]
    neardup dedup -nq small.jsonl
    neardup dedup small.jsonl --output=out -q --threshold=1
    [ "$(ids out)" = "a b 4 5" ]
}

@test "bad records are named, 20 at most and then their number" {
    for i in $(seq 30); do echo "{broken $i"; done >bad.jsonl
    echo '{"id":1,"text":"a b c d"}' >>bad.jsonl
    run neardup dedup bad.jsonl -o out -q --manifest m
    [ "$status" -eq 2 ]
    [[ ${lines[21]} == "neardup: 30 of 31 records are bad, more than --max-bad 0.05; the first: bad.jsonl:1: "* ]]
    [ ! -e out ]
    run neardup dedup bad.jsonl -o out -q --manifest m --max-bad 1
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 21 ]
    [[ ${lines[0]} == "neardup: bad.jsonl:1: "* ]]
    [[ ${lines[19]} == "neardup: bad.jsonl:20: "* ]]
    [[ ${lines[20]} == "neardup: 30 bad records in all; only the first 20 are shown above" ]]
    [ "$(grep -c '"skipped"' m)" -eq 30 ]
    [ "$(ids out)" = 1 ]
    neardup dedup bad.jsonl -o out -q --manifest again --keep last --max-bad 1 2>/dev/null
    cmp <(tail -n +2 m) <(tail -n +2 again)
}

@test "--missing-text" {
    printf '%s\n' '{"id":1}' '{"id":2,"text":null}' '{"id":3,"text":5}' '{"id":4,"text":"a b c"}' >t.jsonl
    neardup dedup t.jsonl -o out -q --max-bad 3/4 2>err
    [ "$(ids out)" = 4 ]
    [ "$(wc -l <err)" -eq 3 ]
    neardup dedup t.jsonl -o out -q --missing-text empty 2>err
    [[ "$(ids out)" == 1*4 ]]
}

@test "--strict stops at the first bad record and publishes nothing" {
    small_corpus
    echo '{broken' >>small.jsonl
    fails "small.jsonl:6: " dedup small.jsonl -o out -q --strict --manifest m --clusters c
    [[ ${lines[1]} == "neardup: stopped; nothing was published" ]]
    [ "${#lines[@]}" -eq 2 ]
    fails "small.jsonl:6: " dedup small.jsonl -o out -q --strict --keep last
    fails "none.jsonl" dedup none.jsonl -o out -q --strict
    fails "small.jsonl:6: " dedup small.jsonl --output-dir d -q --strict
}

@test "inputs that fail are named, the others are done, and the status is 3" {
    small_corpus
    run neardup dedup none.jsonl small.jsonl -o out -q
    [ "$status" -eq 3 ]
    [[ ${lines[0]} == "neardup: none.jsonl: "* ]]
    [[ ${lines[1]} == "neardup: done, but (parts of) 1 input that failed was left out" ]]
    [ "$(ids out)" = "a 4 5" ]
    gzip -c small.jsonl | head -c 100 >cut.jsonl.gz
    run neardup dedup cut.jsonl.gz small.jsonl -o out -q
    [ "$status" -eq 3 ]
    [[ ${lines[0]} == "neardup: cut.jsonl.gz:"*"ends too early"* ]]
}

@test "the standard input is read once" {
    small_corpus
    run "$NEARDUP" dedup - - -o out -q <small.jsonl
    [ "$status" -eq 3 ]
    [[ ${lines[0]} == "neardup: (standard input): is given twice but can be read only once" ]]
    [ "$(ids out)" = "a 4 5" ]
}

@test "an output that cannot be written is an error before anything is read" {
    small_corpus
    fails "nowhere/out: cannot be created" dedup small.jsonl -o nowhere/out
    fails "nowhere/m: cannot be created" dedup small.jsonl -o out --manifest nowhere/m
    fails "nowhere/s: cannot be created" dedup small.jsonl -o out --summary nowhere/s
    mkdir folder
    fails "folder: is a directory" dedup small.jsonl -o folder
    fails "temporary file" dedup small.jsonl -o out --manifest m --tmp nowhere
}

@test "a full disk is an error" {
    large_corpus all.jsonl
    grep -v "^{broken" all.jsonl >large.jsonl
    fails "/dev/full: cannot be written: No space left on device" dedup large.jsonl -o /dev/full -q
    for option in --manifest --clusters --summary; do
        fails "/dev/full: cannot be written" dedup --within lang large.jsonl -o out -q $option /dev/full
    done
    run bash -c "\"$NEARDUP\" dedup large.jsonl -q >/dev/full"
    [ "$status" -eq 2 ]
    [[ $output == *"standard output: cannot be written: No space left"* ]]
    run bash -c "\"$NEARDUP\" pairs large.jsonl -q >/dev/full"
    [ "$status" -eq 2 ]
    run bash -c "\"$NEARDUP\" sketch large.jsonl -q >/dev/full"
    [ "$status" -eq 2 ]
    run bash -c "\"$NEARDUP\" help >/dev/full"
    [ "$status" -eq 2 ]
}

@test "a disk that fills up leaves no half file" {
    large_corpus all.jsonl
    grep -v "^{broken" all.jsonl >large.jsonl
    mkdir disk
    mount -t tmpfs -o size=200k tmpfs disk 2>/dev/null || skip "cannot mount a file system"
    run neardup dedup large.jsonl -o disk/out -q
    first=$status said=$output left=$(ls -A disk)
    run neardup dedup -f jsonl -o out -q --keep longest --tmp disk <large.jsonl
    second=$status
    umount disk
    [ "$first" -eq 2 ]
    [ "$second" -eq 2 ]
    [ -z "$left" ]
    [ ! -e out ]
    [[ $said == "neardup: disk/out: cannot be written: No space left on device"* ]]
    [[ $output == "neardup: disk: the temporary file in it cannot be written: No space left"* ]]
}

@test "a closed pipe ends a run that writes nothing else, as it ends others" {
    large_corpus large.jsonl
    piped() {
        run bash -c "{ \"$NEARDUP\" $*; echo \"status \$?\" >&2; } | head -c 10 >/dev/null"
    }
    piped dedup large.jsonl -q --max-bad 5%
    [ "$output" = "${output%%neardup: large*}status 141" ] || [[ $output == *"status 141" ]]
    [[ $output != *"cannot be written"* ]]
    piped dedup large.jsonl -q --max-bad 5% --manifest m
    [[ $output == *"standard output: cannot be written: Broken pipe"* ]]
    [[ $output == *"no file was published, but what was written to a pipe"* ]]
    [[ $output == *"status 2" ]]
    [ "$(ls -A)" = large.jsonl ]
}

@test "a closed standard output is an error" {
    small_corpus
    run bash -c "\"$NEARDUP\" dedup small.jsonl -q >&-"
    [ "$status" -eq 2 ]
    [[ $output == *"standard output"* ]]
}

# Start a run that waits for its input, and stop it.
stop_with() {
    mkfifo pipe
    "$NEARDUP" dedup --format jsonl -q -o out --manifest m --tmp . "$@" <pipe 2>err &
    pid=$!
    exec 9>pipe
    echo '{"id":1,"text":"a b c d"}' >&9
    await_output "$pid"
}

@test "Ctrl-C leaves no half file" {
    stop_with
    kill -INT "$pid" || true
    # A background process of a script ignores SIGINT; SIGTERM it then.
    kill -TERM "$pid" || true
    status=0
    wait "$pid" || status=$?
    exec 9>&-
    [ "$status" -eq 130 ] || [ "$status" -eq 143 ]
    [ "$(ls -A)" = "$(printf 'err\npipe')" ]
}

@test "SIGTERM leaves what was there before" {
    echo old >out
    stop_with --keep longest
    kill -TERM "$pid"
    status=0
    wait "$pid" || status=$?
    exec 9>&-
    [ "$status" -eq 143 ]
    [ "$(cat out)" = old ]
    [ "$(ls -A)" = "$(printf 'err\nout\npipe')" ]
}

@test "Ctrl-C kills by the signal, so that status is 130" {
    run python3 "$BATS_TEST_DIRNAME/ended_by.py" "$NEARDUP" INT
    [ "$output" = "-2 [] False" ]
}

@test "slow: a signal once publishing has begun is of no effect: all is published, and added" {
    python3 -c 'for i in range(300): print("{\"id\":%d,\"text\":\"document %d of %d and more\"}" % (i, i * 7919, i * 31))' >new.jsonl
    cat >stop.py <<'END'
import os, signal, subprocess, sys
run = subprocess.Popen(sys.argv[2:])
while not os.path.exists("m") and run.poll() is None:
    pass
seen = os.path.exists("m")
if run.poll() is None:
    run.send_signal(getattr(signal, "SIG" + sys.argv[1]))
status = run.wait()
sys.exit(f"status {status}" if status or not seen else 0)
END
    for _ in {1..8}; do
        for signal in TERM INT HUP; do
            for more in "" "--against seen.sketch --append"; do
                rm -f m c out seen.sketch
                # shellcheck disable=SC2086
                python3 stop.py "$signal" "$NEARDUP" dedup -q $more new.jsonl -o out --manifest m --clusters c --summary s
                [ -s c ]
                [ -s s ]
                [ "$(wc -l <out)" -gt 250 ]
                [ -z "$more" ] || [ "$(neardup sketch info seen.sketch | grep -c "documents: $(wc -l <out)\$")" = 1 ]
            done
        done
    done
}

@test "a file that changes under the run is an error" {
    small_corpus
    mkfifo pipe
    cp small.jsonl first.jsonl
    "$NEARDUP" dedup first.jsonl pipe -f jsonl -o out -q --keep longest 2>err &
    pid=$!
    exec 9>pipe
    await_open "$pid" '*/pipe'
    echo '{"id":"new","text":"some more text than there was"}' >>first.jsonl
    exec 9>&-
    status=0
    wait "$pid" || status=$?
    [ "$status" -eq 2 ]
    grep -q '^neardup: first.jsonl: .*changed' err
    [ ! -e out ]
}

@test "what a name holds cannot steer the terminal" {
    local escape=$'\e[31m' csi=$'\xc2\x9b31m'
    printf 'id,%stex\n1,2\n' "$escape" >y.csv
    printf '{"id":"%s","text":"a b c"}\n{bad\n' "$csi" >"x$escape.jsonl"
    cat x* >"x$csi.jsonl"
    run "$NEARDUP" dedup y.csv x* "none$escape" "--set" cluster=star --output-dir out
    [ "$status" -eq 2 ]
    [[ $output == *"it has the fields id, ?[31mtex"*"x?[31m.jsonl:2: "* ]]
    [[ $output != *$'\e'* && $output != *$'\xc2\x9b'* ]]
    run "$NEARDUP" dedup "--x$escape"
    [[ $output != *$'\e'* ]]
}

@test "NEARDUP_CPU names the kernels; an unknown name is an error" {
    small_corpus
    NEARDUP_CPU=avx3 run neardup dedup small.jsonl -q
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == "neardup: NEARDUP_CPU: "* ]]
    NEARDUP_CPU=scalar run neardup doctor
    [[ $output == *$'\nkernels\tscalar\t'* ]]
}

@test "of a file of bad records alone nothing is published" {
    echo '{broken' >bad.jsonl
    fails "bad.jsonl:1: " dedup bad.jsonl -q
    [[ ${lines[0]} == "neardup: no record could be read as a document; the first: bad.jsonl:1: "* ]]
    fails "bad.jsonl:1: " pairs bad.jsonl -q -o out
    fails "bad.jsonl:1: " dedup bad.jsonl -q --keep longest -o out
    fails "bad.jsonl:1: " dedup bad.jsonl -q --cluster components -o out
    [ ! -e out ]
}
