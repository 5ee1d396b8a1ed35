#!/usr/bin/env bats
# hamming.bats - index and join: plans, pairs, streams, merging, bad lines

load common

@test "help of index and join names every option, and so does the man page" {
    for command in index join; do
        neardup help $command >by_help
        neardup $command --help >by_option
        cmp by_help by_option
        grep -oE '^ .{5}--[a-z-]+' by_help | grep -oE '[a-z][a-z-]+$' | grep -vx help | sort -u >named
        grep -oE 'Fl Fl [a-z-]+' "$BATS_TEST_DIRNAME/../../man/neardup-$command.1" |
            sed 's/Fl Fl //' | sort -u >page
        diff named page
    done
}

# A slow join: every line against every line, K bits. $1 $2 K
slow_join() {
    python3 - "$@" <<'END'
import sys
def read(path):
    for i, line in enumerate(open(path)):
        word, _, name = line.rstrip("\n").partition("\t")
        yield int(word, 16), name or str(i)
a, b = (list(read(path)) for path in sys.argv[1:3])
for y, name in b:
    for x, query in a:
        if bin(x ^ y).count("1") <= int(sys.argv[3]):
            print(query, name, bin(x ^ y).count("1"), sep="\t")
END
}

# Lines near and far, some with ids. $1 lines, $2 bits, $3 a file that some are near to
fingerprints() {
    python3 - "$@" <<'END'
import random, sys
n, bits = map(int, sys.argv[1:3])
random.seed(n + bits)
all = 9 * [int(line.split()[0], 16) for path in sys.argv[3:] for line in open(path)]
for i in range(n):
    x = random.choice(all) if all and i % 3 else random.getrandbits(bits)
    for _ in range(random.randrange(6)):
        x ^= (1 << random.randrange(bits)) * (i % 3 > 0)
    all.append(x)
    print(f"{x:0{(bits + 3) // 4}x}" + (f"\tid {i}" if i % 4 == 0 else ""))
END
}

@test "plan: the four examples of the paper" {
    for example in "31 20 31-33" "28 16 28" "25 10 25-26" "16 4 16"; do
        read -r bits tables keys <<<"$example"
        neardup index plan --count 17179869184 --key-bits "$bits" >one
        grep -Eq "blocks +$tables +$keys " one
    done
    neardup index plan --count 1e7 --key-bits 21 | grep -Eq "windows +6 +21 "
    [ "$(neardup index plan --count 1e7 --key-bits 31 | grep -c windows)" -eq 0 ]
    neardup index plan --count 17179869184 --memory 1T >plan
    [ "$(grep -c '^\*' plan)" -eq 1 ]
    neardup index plan --count 1e9 --calibrate | grep -q '^\* '
    for name in "manku 4" "manku 10" "manku 16" "manku 20"; do
        grep -Eq "^[* ] blocks +${name#manku } .*  $name\$" plan
    done
    for family in scan popcount halves windows covering blocks; do grep -q "^[* ] $family " plan; done
    neardup index plan --count 1e8 --bits 384 --distance 11 >plan
    grep -Eq '^[* ] blocks +12 +32 .*  henzinger$' plan
}

@test "plan: a calibration is measured once, kept, and read again" {
    neardup index plan --count 1e8 --calibration machine >first
    head -1 machine | grep -qx 'neardup-machine 1'
    cp machine before
    neardup index plan --count 1e8 --calibration machine >second
    cmp machine before
    cmp first second
    sed 's/^bucket_ps .*/bucket_ps 900000/' before >machine # as if that were very slow
    neardup index plan --count 1e8 --calibration machine >third
    run cmp -s first third
    [ "$status" -eq 1 ]
    for bad in '1s/1/2/' 's/^table_ps.*/table_ps x/' '/^fresh_ps/d' '$p'; do
        sed "$bad" before >machine
        run neardup index plan --count 1e8 --calibration machine
        [ "$status" -eq 2 ]
        [[ $output == *"machine: "*"measure again"* ]]
    done
    run neardup index plan --count 1e8 --calibration no/such/folder
    [ "$status" -eq 2 ]
    [[ $output == *"no/such/folder: "* ]]
}

@test "plan: warns where clusters grow by chance, refuses what cannot be" {
    neardup index plan --count 1e10 --distance 9 | grep -q '^warning: '
    neardup index plan --count 1e9 >plan
    [ "$(grep -c warning plan)" -eq 0 ]
    run neardup index plan --count 1e9 --memory 1k
    [ "$status" -eq 2 ]
    [[ $output == *"no design fits"* ]]
    for bad in "" "--count 0" "--count 1e9 --bits 31" "--count 1e9 -k 17" "--count 1e9 --tables 3" \
        "--count 1e9 --memory 5Q" "--count 1e9 --tables 4 --key-bits 16"; do
        # shellcheck disable=SC2086
        run neardup index plan $bad
        [ "$status" -eq 2 ]
    done
}

@test "join: what a slow join finds, in one go, in parts, over a pipe" {
    for bits in 64 40 128; do
        fingerprints 60 $bits >queries
        fingerprints 2000 $bits queries >file
        for k in 0 3 5; do
            slow_join queries file $k | sort >expected
            [ -s expected ]
            neardup join --bits $bits -k $k queries file | LC_ALL=C sort >got
            LC_ALL=C sort expected | diff - got
            neardup join --bits $bits -k $k queries <file | LC_ALL=C sort | diff got -
        done
    done
}

@test "join --merge: parts come to the whole, sorted, each line once" {
    fingerprints 50 64 | sed 's/\t.*//' | awk '{print $1 "\tq" NR}' >queries
    fingerprints 900 64 queries | sed 's/\t.*//' | awk '{print $1 "\td" NR}' >file
    neardup join queries file | LC_ALL=C sort -u >whole
    [ -s whole ]
    split -l 250 file part.
    for part in part.??; do neardup join queries "$part" >"near.$part" || [ $? -eq 1 ]; done
    neardup join --merge near.* near.part.aa | diff whole -
    cat near.* | neardup join --merge - | diff whole -
}

@test "pairs: what a slow join finds, once, whatever the threads" {
    fingerprints 700 64 | sed 's/\t.*//' >file
    slow_join file file 3 | awk -F'\t' '$1 < $2 {print $1 "\t" $2 "\t" $3}' | sort -n -k1,1 -k2,2 >expected
    for threads in 1 2 8; do neardup index pairs -j $threads file | diff expected -; done
    printf '0\n' | { run neardup index pairs; [ "$status" -eq 1 ]; }
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
    [ "$output" = "neardup: './file' is an input, and would be lost: write elsewhere" ]
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
    [[ $output == *"'zip' is neither ef nor manku"* ]]
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
    [[ $output == *"index: an index of 64 bits, not of 65; see --bits"* ]]
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

@test "build, add, merge: killed at any moment, the index is the old one or the new one" {
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
        timeout 60 "$NEARDUP" index build file -o index
        timeout 60 "$NEARDUP" index add index file
        timeout 60 "$NEARDUP" index merge index
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

@test "a signal leaves no temporary file" {
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

@test "stats: what python counts; the figures are drawn" {
    for bits in 64 130; do
        fingerprints 3000 $bits >file
        for buckets in 128 256; do
            neardup index stats --bits $bits --buckets $buckets file --svg figures.svg >got
            python3 - $bits $buckets file <<'END' | diff - <(cut -f 1-3 got)
import sys
bits, buckets = map(int, sys.argv[1:3])
x = sorted(int(line.split("\t")[0], 16) for line in open(sys.argv[3]))
leading, bucket = [0] * bits, [0] * buckets
equal = 0
for a, b in zip(x, x[1:]):
    if a == b: equal += 1
    else: leading[(a ^ b).bit_length() - 1] += 1
for a in x: bucket[a * buckets >> bits] += 1
print("figure", "place", "count", sep="\t")
print("fingerprints", "-", len(x), sep="\t")
print("equal", "-", equal, sep="\t")
for i, n in enumerate(leading): print("leading", i, n, sep="\t")
for i, n in enumerate(bucket): print("bucket", i, n, sep="\t")
END
            python3 - $bits $buckets <<'END'
import sys, xml.etree.ElementTree as tree
bars = tree.parse("figures.svg").getroot().iter("{http://www.w3.org/2000/svg}rect")
count = sum(1 for line in open("got") if line.split("\t")[0] in ("leading", "bucket") and line.split("\t")[2] != "0")
assert len(list(bars)) == count + 1
END
        done
        neardup index build --bits $bits file -o index
        neardup index stats --buckets 256 index | diff got - # the bits are the index's
    done
    : | neardup index stats --svg figures.svg >got
    grep -q '^fingerprints	-	0	-$' got
    run neardup index stats --svg /nonexistent/file file --bits 130
    [ "$status" -eq 2 ]
}

@test "raw words are read like lines" {
    fingerprints 300 100 | sed 's/\t.*//' >lines
    python3 -c 'import sys
for line in open("lines"): sys.stdout.buffer.write(int(line, 16).to_bytes(16, "little"))' >words
    neardup index pairs --bits 100 lines >expected
    neardup index pairs --bits 100 --raw words | diff expected -
    head -c 40 words >ending
    run neardup index pairs --bits 100 --raw ending
    [ "$status" -eq 2 ]
    [[ $output == "neardup: ending:3: the file ends within a fingerprint" ]]
}

@test "a line with other digits than the first is refused, and so is a cut only line" {
    printf '00000000000000ff\tone\n00000000000000fe\ttwo\n' >list
    neardup index build list -o index
    cp index before
    cp list queries
    for n in 22 29 36; do # the list of a producer that died: fewer digits, or one
        head -c $n list >cut.txt
        for command in "index add index cut.txt" "index build -o other cut.txt" "index pairs cut.txt" \
            "index query index cut.txt" "index stats cut.txt" "join queries cut.txt" "join cut.txt queries"; do
            # shellcheck disable=SC2086
            run neardup $command
            [ "$status" -eq 2 ]
            [[ $output == "neardup: cut.txt:2: "*"but the first line has 16: was it cut? --any-digits"* ]]
        done
        cmp before index
        [ ! -e other ]
        neardup index pairs -k 8 --any-digits cut.txt >got
        [ -s got ]
    done
    printf '00000000000000f' >cut.txt
    run neardup index add index cut.txt
    [ "$status" -eq 2 ]
    [[ $output == "neardup: cut.txt:1: the only line has no end, and 15 of 16 digits"* ]]
    cmp before index
    printf '1\n10\n' >longer
    run neardup index pairs longer
    [ "$status" -eq 2 ]
    printf '1\n10\n' | neardup index pairs --any-digits - >got
    printf '0\t1\t2\n' | diff - got
    head -c 37 list >whole # as many digits, and no line end
    neardup index pairs whole >got
    printf 'one\t1\t1\n' | diff - got
    printf '00000000000000f0' | neardup index add index
    neardup index info index | grep -qx 'fingerprints: 3'
}

@test "pairs: many are streamed in their order, and take no memory for it" {
    python3 - <<'END'
import random
random.seed(5)
near = [0xff00ff00ff00ff00] + [0xff00ff00ff00ff00 ^ 1 << b for b in range(64)]
rows = [0xff] * 3500 + near + [random.getrandbits(64) for _ in range(500)]
random.shuffle(rows)
for part in 0, 1:
    with open(f"part{part}", "w") as out:
        for i, row in enumerate(rows[part::2]):
            out.write(f"{row:016x}" + (f"\tid {part} {i}" if i % 3 == 0 else "") + "\n")
END
    # All in one file, with numbers for ids: the same pairs as an index finds for each.
    cat part0 part1 | cut -f 1 >all
    neardup index build all -o index
    neardup index query index all | awk -F'\t' '$1 < $2' | sort -n -k1,1 -k2,2 >expected
    [ "$(wc -l <expected)" -gt 6000000 ] # more than are sorted in memory
    python3 - "$NEARDUP" <<'END'
import resource, subprocess, sys
subprocess.run([sys.argv[1], "index", "pairs", "all", "-o", "got"], check=True)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
assert peak < 150 << 10 or peak < (1 << 20) and "asan" in sys.argv[1], f"{peak} kB"
END
    cmp expected got
    # Of two files: each counts its own lines, and ids that are given stand for themselves.
    neardup index pairs part0 part1 >got
    awk -F'\t' 'FNR == 1 {before = NR - 1} {print $2 == "" ? NR - 1 - before : $2}' part0 part1 >names
    awk -F'\t' 'NR == FNR {name[NR - 1] = $1; next} {print name[$1] "\t" name[$2] "\t" $3}' \
        names expected | cmp - got
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
        "index plan --count 1e8 --memory 1k" "join queries bad" "join --merge file /nonexistent"; do
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
        [[ $output == *"write elsewhere"* || $output == *"two outputs cannot both go to"* ]]
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

@test "ids: escaped as in all TSV, and nothing steers a terminal" {
    printf '00000000000000ff\ta\\b\rc\xff\x1b[31m\xe2\x80\xae\xc2\x9b\a\n00000000000000fe\tä\n' >file
    printf 'a\\\\b\\rc\\xFF\\x1B[31m\\xE2\\x80\\xAE\\xC2\\x9B\\x07' >escaped
    neardup index build file -o index
    printf 'raw \x1b[31m\t\a\\\n' >raw
    for command in "index pairs file" "index query index file" "join file file" "join --merge last" "join --merge raw"; do
        # shellcheck disable=SC2086
        neardup $command >rows
        [ "$command" = "join --merge raw" ] || LC_ALL=C grep -qF "$(cat escaped)" rows
        [ "$command" = "join --merge raw" ] || cp rows last
        # shellcheck disable=SC2086
        python3 - "$NEARDUP" $command >shown <<'END'
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
shown = b""
while True:
    try:
        some = os.read(terminal, 4096)
    except OSError:
        break
    if not some:
        break
    shown += some
os.waitpid(pid, 0)
sys.stdout.buffer.write(shown.replace(b"\r\n", b"\n"))
END
        if [ "$command" = "join --merge raw" ]; then
            cmp rows raw
            printf 'raw \\x1B[31m\t\\x07\\\n' >rows
        fi
        cmp rows shown
        [ "$(LC_ALL=C tr -d '\n\t -~\303\244' <shown | wc -c)" -eq 0 ]
    done
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

@test "bad lines: file, line, reason; nothing else is said" {
    printf '1\n' >queries
    while IFS='|' read -r text reason; do
        printf '1\n%b\n' "$text" >bad
        run neardup join queries bad
        [ "$status" -eq 2 ]
        [[ $output == *"neardup: bad:2: $reason"* ]]
        run neardup join bad queries
        [ "$status" -eq 2 ]
    done <<'END'
xyz|a fingerprint is written in hexadecimal digits
|there is no fingerprint
\tid|there is no fingerprint
00000000000000001|the fingerprint has more digits than bits allow
1\ta\tb|there is more than one tab
END
    printf '1ffffffff\n' >bad
    run neardup index pairs --bits 33 bad
    [ "$status" -eq 1 ]
    run neardup index pairs --bits 35 <(printf 'fffffffff\n')
    [[ $output == *"a bit too many"* ]]
    for arguments in "" "plan FILE" "nonsense" "pairs /nonexistent"; do
        # shellcheck disable=SC2086
        run neardup index $arguments
        [ "$status" -eq 2 ]
    done
    for arguments in "" "-" "--merge" "/nonexistent bad" "queries /nonexistent"; do
        # shellcheck disable=SC2086
        run neardup join $arguments
        [ "$status" -eq 2 ]
    done
}
