#!/usr/bin/env bats
# hamming_files.bats - files of indexes: built, queried, added to, merged, damaged, killed half-way

load common
load fingerprints

@test "index build and merge: --index-memory and --key-bits are kept to, or refused in words" {
    fingerprints 20000 64 >file
    run neardup index build --index-memory 100k file -o index
    [ "$status" -eq 2 ]
    [[ $output == *"an index file of 20000 fingerprints of the fewest tables takes "*" bytes, more than 102400" ]]
    [ ! -e index ]
    run neardup index build --key-bits 25 --index-memory 1M file -o index
    [ "$status" -eq 2 ]
    [[ $output == *"with such keys takes"* ]]
    run neardup index build --key-bits 25 --tables 10 file -o index
    [ "$status" -eq 2 ]
    [[ $output == *"only one of --tables and --key-bits can be given"* ]]
    run neardup index build --key-bits 63 file -o index
    [ "$status" -eq 2 ]
    neardup index build --key-bits 25 file -o index
    neardup index info index | grep -qx 'tables: 10'
    echo 0123456789abcdef | neardup index add index
    neardup index merge index # keeps to it
    neardup index info index | grep -qx 'tables: 10'
    neardup index query index file | LC_ALL=C sort >expected
    neardup index merge --index-memory 700k index
    neardup index info index >info
    [ "$(sed -n 's/^bytes: //p' info)" -le 716800 ]
    [ "$(sed -n 's/^tables: //p' info)" -lt 10 ]
    neardup index query index file | LC_ALL=C sort | cmp - expected
    cp index before
    run neardup index merge --index-memory 100k index
    [ "$status" -eq 2 ]
    cmp index before
    python3 -c 'for i in range(2000): print("%016x\tan id that is rather long, to take room %d" % (i * 2654435761, i))' >long
    run neardup index build --index-memory 100k long -o texts # the tables alone would fit
    [ "$status" -eq 2 ]
    [ ! -e texts ]
    neardup index build --index-memory 300k long -o texts
    [ "$(stat -c %s texts)" -le 307200 ]
}

@test "build and query: what join finds; info, verify, damage" {
    fingerprints 40 64 | sed 's/\t.*//' >queries
    fingerprints 1500 64 queries | sed 's/\t.*//' >file
    for k in 0 3 5; do
        neardup index build -k $k file -o index
        neardup index verify index
        neardup join -k $k queries file | sort -n -k1,1 -k3,3 -k2,2 >expected
        neardup index query index queries | sort -n -k1,1 -k3,3 -k2,2 | diff expected -
        neardup index query index <queries | sort -n -k1,1 -k3,3 -k2,2 | diff expected -
    done
    neardup index info index | grep -qx 'fingerprints: 1500'
    run neardup index build file -o ./file
    [ "$status" -eq 2 ]
    [ "$output" = "neardup: './file' is an input and would be overwritten: choose another output" ]
    neardup index query index -k 2 queries | awk '$3 > 2' >far
    [ ! -s far ]
    run neardup index query index -k 6 queries
    [ "$status" -eq 2 ]
    printf 'ff\t7\nfe\t4294967295\n' | neardup index build -o small
    [ "$(printf 'ff\n' | neardup index query small)" = "$(printf '0\t7\t0\n0\t4294967295\t1')" ]
    printf 'fg\n' >bad
    run neardup index build bad -o small
    [ "$status" -eq 2 ]
    neardup index verify small # the old one stands
    head -c 300 index >ending
    for bad in ending bad /nonexistent; do
        run neardup index verify $bad
        [ "$status" -eq 2 ]
        run neardup index query $bad queries
        [ "$status" -eq 2 ]
    done
}

# The answers of a slow join as an index gives them: sorted by query, distance, then id as bytes.
by_answer() {
    python3 -c 'import sys
rows = [line.rstrip("\n").split("\t") for line in sys.stdin]
number = all(row[1].isdigit() for row in rows)
for row in sorted(rows, key=lambda r: (int(r[0]), int(r[2]), int(r[1]) if number else 0, r[1].encode())):
    print(*row, sep="\t")'
}

@test "build and query: ids that are texts, wide fingerprints, both codecs" {
    for kind in "64 3 ef" "64 3 manku" "50 2 manku" "65 3 ef" "128 5 ef" "384 12 ef"; do
        read -r bits k codec <<<"$kind"
        fingerprints 30 "$bits" | sed 's/\t.*//' >queries
        fingerprints 900 "$bits" queries >file
        neardup index build --bits "$bits" -k "$k" --codec "$codec" file -o index
        neardup index verify index
        neardup index info index >info
        grep -qx "codec: $codec" info
        grep -qx "bits: $bits" info
        grep -qx "ids: texts" info
        grep -qx "fingerprints: 900" info
        slow_join queries file "$k" | by_answer >expected
        [ -s expected ]
        neardup index query index queries | diff expected -
    done
    printf '1\n' >one
    run neardup index build --bits 65 --codec manku one -o index
    [ "$status" -eq 2 ]
    [[ $output == *"the codec manku is for up to 64 bits"* ]]
    run neardup index build --codec zip file -o index
    [ "$status" -eq 2 ]
    [[ $output == *"'zip' is not one of ef, manku"* ]]
}

@test "layouts: both give the same answers, and one is made of the other" {
    fingerprints 30 64 | sed 's/\t.*//' >queries
    fingerprints 900 64 queries | cut -f 1 | awk '{ print $1 "\tn" NR }' >file
    neardup index build file -o compact
    neardup index build --layout fast file -o fast
    neardup index verify fast
    neardup index query compact queries >expected
    [ -s expected ]
    neardup index query fast queries | diff expected -
    neardup index merge --layout fast compact -o other
    cmp fast other
    neardup index merge --layout compact fast
    cmp compact fast
    head -500 file >first
    tail -400 file >second
    neardup index build --layout fast first -o fast
    neardup index add fast second
    cmp fast other
    cut -f 2 second >ids
    neardup index remove fast ids
    neardup index build --layout fast first -o first.fast
    cmp fast first.fast
    neardup index build --layout fast --part-fingerprints 300 file -o parts
    neardup index query parts queries | diff expected -
    # a word of the first table
    printf '\377\377' | dd of=other bs=1 seek=$((8192 + 4096 * 16)) conv=notrunc status=none
    neardup index query other queries >answers || [ $? -le 2 ]
    run neardup index verify other
    [ "$status" -eq 2 ]
    [[ $output == *"other: a damaged index file: a table's checksum is wrong"* ]]
    run neardup index add other second
    [ "$status" -eq 2 ]
    head -c 1000000 compact >"cut"
    head -c 100000 parts >"cut"
    run neardup index query cut queries
    [ "$status" -eq 2 ]
    [[ $output == *"too short"* ]]
}

@test "add and merge: what one build of all finds; bytes too, once merged" {
    for bits in 64 130; do
        fingerprints 30 $bits | sed 's/\t.*//' >queries
        fingerprints 2000 $bits queries >file
        neardup index build --bits $bits file -o whole
        neardup index query whole queries >expected
        [ -s expected ]
        split -l 130 file part.
        neardup index build --bits $bits -o index part.aa
        for part in part.a[b-z]; do neardup index add index "$part"; done
        neardup index verify index
        neardup index query index queries | cut -f 1,3 | diff <(cut -f 1,3 expected) -
        [ "$(neardup index info index | sed -n 's/^segments: //p')" -gt 1 ]
        neardup index merge index
        neardup index info index | grep -qx 'segments: 1'
        cmp whole index
        neardup index build --bits $bits -o index part.a[a-f]
        neardup index build --bits $bits -o other part.a[g-z]
        neardup index merge index other -o both
        neardup index info both | grep -qx 'fingerprints: 2000'
        neardup index merge both --codec ef -k 2 --tables 12
        neardup index info both | grep -qx 'distance: 2'
        neardup index query both queries | cut -f 1,3 | diff <(awk -F'\t' '$3 < 3' expected | cut -f 1,3) -
    done
    run neardup index merge index whole
    [ "$status" -eq 2 ]
    run neardup index add index -k 2 file
    [ "$status" -eq 2 ]
    run neardup index add --bits 64 index file
    [ "$status" -eq 2 ]
    run neardup index add /nonexistent file
    [ "$status" -eq 2 ]
}

@test "add: lines without an id are counted on" {
    printf '1\n2\n' | neardup index build -o index
    printf '04\nf0\tsome id\n08\n' | neardup index add index
    printf '0\n' | neardup index query index -k 1 >got
    printf '0\t0\t1\n0\t1\t1\n0\t2\t1\n0\t4\t1\n' | diff - got
    printf 'f1\n' | neardup index query index -k 1 >got
    printf '0\tsome id\t1\n' | diff - got
}

@test "an index is read wherever fingerprints are" {
    fingerprints 50 64 >queries
    fingerprints 800 64 queries >file
    neardup index build file -o index
    neardup index build queries -o small
    neardup join queries file | cut -f 1,3 | LC_ALL=C sort >expected
    neardup join queries index | cut -f 1,3 | LC_ALL=C sort | diff expected -
    neardup join queries file | cut -f 2,3 | LC_ALL=C sort >expected
    neardup join small file | cut -f 2,3 | LC_ALL=C sort | diff expected -
    neardup index query index small | wc -l | diff <(wc -l <expected) -
    neardup index pairs file | wc -l | diff <(neardup index pairs index | wc -l) -
    neardup index build index -o again
    cmp index again
    run neardup join --bits 65 queries index
    [ "$status" -eq 2 ]
    [[ $output == *"index: an index of 64-bit fingerprints, not 65-bit; see --bits"* ]]
}

@test "writers exclude one another; readers go on" {
    fingerprints 100 64 >file
    neardup index build file -o index
    exec 9<index
    flock -x 9
    for command in "add index" "merge index" "build -o index"; do
        # shellcheck disable=SC2086
        run neardup index $command file 9<&-
        [ "$status" -eq 2 ]
    done
    run neardup index add index file 9<&-
    [ "$output" = "neardup: index: another process is writing it" ]
    neardup index verify index
    exec 9<&-
    neardup index add index file
    neardup index info index | grep -qx 'fingerprints: 200'
}

@test "slow: build, add, merge: killed at any moment, the index is the old one or the new one" {
    fingerprints 60000 64 | sed 's/\t.*//' >file
    head -1000 file >less
    neardup index build less -o old
    for command in "build -o index" "add index"; do
        for wait in 0.005 0.01 0.015 0.02 0.03 0.04 0.06 0.1 0.2; do
            cp old index
            # shellcheck disable=SC2086
            "$NEARDUP" index $command file &
            sleep $wait
            kill -9 $! 2>kill.err || true
            wait $! || true
            neardup index verify index
            neardup index info index | grep -Eqx 'fingerprints: (1000|60000|61000)'
            neardup index add index less # trips over nothing, and clears away
            [ -z "$(find . -name '.neardup-*')" ]
        done
    done
}

@test "an index is written past what was planted beside it" {
    fingerprints 100 64 | sed 's/\t.*//' >file
    for what in "mkfifo index.neardup-new" "ln -s precious index.neardup-new" \
        "cp precious index.neardup-new"; do
        rm -f index index.neardup-new
        echo precious >precious
        $what
        timeout 300 "$NEARDUP" index build file -o index
        timeout 300 "$NEARDUP" index add index file
        timeout 300 "$NEARDUP" index merge index
        [ -e index.neardup-new ]
        [ "$(cat precious)" = precious ]
        neardup index verify index
        [ -p index.neardup-new ] || [ "$(cat index.neardup-new)" = precious ]
    done
    ln -s nothing/there dangling
    run neardup index build file -o dangling
    [ "$status" -eq 2 ]
    [ -L dangling ]
    mkdir real
    ln -s real/index link
    neardup index build file -o real/index
    chmod 640 real/index
    neardup index build file -o link
    [ -L link ]
    [ "$(stat -c %a real/index)" = 640 ]
}

@test "slow: a signal leaves no temporary file" {
    fingerprints 150000 64 | sed 's/\t.*//' >file
    for signal in INT TERM HUP; do
        caught=0
        for _ in 1 2 3 4 5; do
            rm -f index
            "$NEARDUP" index build file -o index &
            sleep 0.0$((RANDOM % 10))
            kill -$signal $! 2>kill.err || true
            wait $! || caught=1
            [ -z "$(find . -name '.neardup-*')" ]
        done
        [ -e index ] || [ $caught -eq 1 ]
    done
}

@test "-o: results appear whole or not at all, and never in place of what is read" {
    fingerprints 50 64 | sed 's/\t.*//' >queries
    fingerprints 900 64 queries >file
    neardup index build file -o index
    for command in "index pairs file" "index query index queries" "index info index" \
        "index stats file" "index plan --count 1e8" "join queries file" "join --merge file"; do
        # shellcheck disable=SC2086
        neardup $command >expected
        rm -f got
        # shellcheck disable=SC2086
        neardup $command -o got >said
        cmp expected got
        [ ! -s said ]
        # shellcheck disable=SC2086
        neardup $command -o /dev/stdout | cmp expected -
    done
    echo before >got
    printf 'xyz\n' >bad
    for command in "index pairs file bad" "index query index bad" "index info bad" "index stats bad" \
        "index plan --count 1e8 --index-memory 1k" "join queries bad" "join --merge file /nonexistent"; do
        # shellcheck disable=SC2086
        run neardup $command -o got
        [ "$status" -eq 2 ]
        [ "$(cat got)" = before ]
    done
    ln -s file link
    cp file before
    cp index index.before
    for command in "index pairs file -o file" "index pairs file -o link" "index pairs - -o file" \
        "index query index file -o link" "index query index queries -o index" \
        "index info index -o index" "index stats file --svg link" "index stats file -o file" \
        "index stats - --svg file" "index stats queries -o new --svg new" "join queries file -o link" \
        "join file queries -o file" "join queries -o file" "join --merge file -o link" \
        "index build queries file -o link" "index build -o file" "index build index -o index"; do
        # shellcheck disable=SC2086
        run neardup $command <file
        [ "$status" -eq 2 ]
        [[ $output == *"choose another"* || $output == *"two outputs cannot both go to"* ]]
        cmp before file
        cmp index.before index
    done
    "$NEARDUP" join queries file >>file && status=0 || status=$?
    [ "$status" -eq 2 ]
    cmp before file
    exec 8<>file
    run neardup index pairs /dev/fd/8 -o file
    [ "$status" -eq 2 ]
    cmp before file
    exec 8>&-
    for command in "index verify index -o new" "index pairs file --svg new" \
        "index query index queries --calibration new"; do
        # shellcheck disable=SC2086
        run neardup $command
        [ "$status" -eq 2 ]
        [ ! -e new ]
    done
    [ -z "$(find . -name '.neardup-*')" ]
}

@test "an index that is cut short while it is read ends the command with a message" {
    fingerprints 3000 64 | sed 's/\t.*//' >file
    mkfifo questions
    for size in 0 4096 20000; do
        neardup index build file -o index
        "$NEARDUP" index query index questions >got 2>said &
        exec 9>questions # it has opened and checked the index before
        truncate -s $size index
        cat file >&9 || true
        exec 9>&-
        status=0
        wait $! || status=$?
        [ "$status" -eq 2 ]
        grep -q '^neardup: an index or df table was cut short' said
    done
}

@test "index remove: the ids that are listed, or nothing" {
    printf '00000000000000ff\ta\n00000000000000fe\tb\nff00000000000000\tc\n' | neardup index build - -o index
    printf '0f0f0f0f0f0f0f0f\td\n' | neardup index add index
    cp index before
    printf 'b\nnobody\n' >ids
    run neardup index remove index ids
    [ "$status" -eq 2 ]
    [ "$output" = "neardup: index: it has no id 'nobody'; nothing was removed" ]
    cmp index before
    printf 'b\n\nd\r\n' | neardup index remove index
    [ "$(printf 'ff\n0f0f0f0f0f0f0f0f\n' | neardup index query --any-digits index)" = "$(printf '0\ta\t0')" ]
    neardup index verify index
    run neardup index remove index missing
    [ "$output" = "neardup: missing: No such file or directory" ]
}

# Print what commands say of the index $1, in $2, but for its parts and bytes.
say_all() {
    neardup index verify "$1"
    {
        neardup index query "$1" queries
        neardup index query "$1" -k 1 "$1" | LC_ALL=C sort
        neardup join queries "$1" | LC_ALL=C sort
        neardup index pairs "$1" | LC_ALL=C awk -F '\t' '{ print $1 "" < $2 "" ? $0 : $2 "\t" $1 "\t" $3 }' |
            LC_ALL=C sort
        neardup index stats "$1"
        neardup index info "$1" | grep -E '^(bits|distance|fingerprints|ids|codec):'
    } >"$2"
}

@test "slow: index files of several parts: every command says what it says of one part" {
    fingerprints 300 64 >queries
    fingerprints 2500 64 queries >file
    fingerprints 900 64 file >"more"
    neardup index build file -o one
    neardup index build --part-fingerprints 100 file -o parts
    neardup index info parts | grep -qx 'parts: 25, of at most 100 fingerprints'
    for round in built added removed merged; do
        say_all one one.said
        say_all parts parts.said
        diff one.said parts.said
        case $round in
        built)
            neardup index add one more
            neardup index add parts more
            ;;
        added)
            neardup index query one file | cut -f2 | sort -u | awk 'NR % 7 == 0' >ids
            neardup index remove one ids
            neardup index remove parts ids
            ;;
        removed)
            neardup index merge one
            neardup index merge parts
            ;;
        esac
    done
    neardup index merge --part-fingerprints 1000 one parts -o both
    neardup index info both | grep -q '^parts: [67], of at most 1000 fingerprints$'
    run neardup index build --part-fingerprints 10 file -o x
    [ "$status" -eq 2 ]
    [ "$output" = "neardup: 2500 fingerprints are too many: a file has at most 64 parts of 10" ]
    [ ! -e x ]
}

# Raw fingerprints of 64 bits, so many, half of them near to the one before.
raw_fingerprints() { # N
    python3 -c '
import array, random, sys
random.seed(3)
rows = array.array("Q")
for i in range(int(sys.argv[1])):
    near = rows and random.random() < 0.5
    rows.append(rows[-1] ^ 1 << random.randrange(64) if near else random.getrandbits(64))
sys.stdout.buffer.write(rows.tobytes())' "$1"
}

@test "slow: --memory bounds index build, and changes no byte of the file" {
    raw_fingerprints 1000000 >raw
    neardup index build --raw raw -o free
    (
        grep -qa '__asan_init\|__tsan_init' "$NEARDUP" || ulimit -v $((1024 * (64 + 80)))
        neardup index build --memory 64M --tmp . --raw raw -o bounded
    )
    cmp free bounded
    neardup index build --part-fingerprints 300000 --raw raw -o free
    neardup index build --part-fingerprints 300000 --memory 64M --raw raw -o bounded
    cmp free bounded
    run neardup index build --memory 64M --layout fast --raw raw -o fast
    [ "$status" -eq 2 ]
    [ ! -e fast ]
    needed=$(sed -n 's/.*the layout fast is built in memory, and this one needs more: --memory //p' <<<"$output")
    [ -n "$needed" ]
    neardup index build --memory "$needed" --layout fast --raw raw -o bounded
    neardup index build --layout fast --raw raw -o free
    cmp free bounded
}

@test "slow: documents become fingerprints in bounded memory, and are looked up block by block" {
    python3 -c '
import random
random.seed(5)
words = [f"word{i}" for i in range(300)]
for i in range(20000):
    text = " ".join(random.choices(words, k=9))
    print("{\"id\":\"d%d\",\"text\":\"%s\"}" % (i, text))' >docs.jsonl
    neardup index build -q --recipe manku-2007 docs.jsonl -o free
    neardup index build -q --recipe manku-2007 --memory 64M docs.jsonl -o bounded
    cmp free bounded
    neardup index query -q free docs.jsonl -o all
    neardup index query -q --memory 64M free docs.jsonl -o bounded.rows
    cmp all bounded.rows
    head -n 9000 docs.jsonl >first.jsonl
    tail -n +9001 docs.jsonl >second.jsonl
    neardup index query -q free first.jsonl >halves
    neardup index query -q free second.jsonl >>halves
    cmp all halves
}
