#!/usr/bin/env bats
# hamming.bats - index and join: plans, pairs, streams, merging, figures, bad lines

load common
load fingerprints

# The families that no command builds.
in_memory="scan"

@test "help of join names no parts, as join has none" {
    neardup help join >help
    run grep -E '\[plan|PART' help
    [ "$status" -eq 1 ]
}

@test "plan: the four examples of the paper" {
    for example in "31 20 31-33" "28 16 28" "25 10 25-26" "16 4 16"; do
        read -r bits tables keys <<<"$example"
        neardup index plan --count 17179869184 --key-bits "$bits" >one
        grep -Eq "blocks +$tables +$keys " one
    done
    neardup index plan --count 1e7 --key-bits 21 | grep -Eq "windows +6 +21 "
    [ "$(neardup index plan --count 1e7 --key-bits 31 | grep -c windows)" -eq 0 ]
    neardup index plan --count 274877906881 --index-memory 100T >plan
    [ "$(grep -c '^\*' plan)" -eq 0 ] # no file holds so many
    neardup index plan --count 1e9 --calibrate | grep -q '^\* '
    for name in "manku 4" "manku 10" "manku 16" "manku 20"; do
        grep -Eq "^[* ] blocks +${name#manku } .*  $name  not buildable here" plan
    done
    for family in $in_memory halves windows covering blocks; do grep -q "^[* ] $family " plan; done
    neardup index plan --count 1e8 --bits 384 --distance 11 >plan
    grep -Eq '^[* ] blocks +12 +32 .*  henzinger$' plan
}

@test "popcount: an index of shards by number of ones answers as any other" {
    python3 -c 'import random
random.seed(2)
made = []
for i in range(3000):
    made.append(random.getrandbits(64))
    if i % 2:
        made[i] = made[random.randrange(i)] ^ sum(1 << b for b in random.sample(range(64), random.randrange(5)))
    print("%016x" % made[i])' >file
    neardup index build file -o tables
    neardup index build --design popcount file -o shards
    for k in 0 1 2 3; do
        neardup index query -k $k tables file >expected
        neardup index query -k $k shards file >got
        cmp expected got
    done
    [ "$(wc -c <shards)" -lt "$(wc -c <tables)" ]
    neardup index verify shards
    head -100 file | cut -c1-16 >others
    neardup index add tables others
    neardup index add shards others
    neardup index merge shards -o merged
    neardup index info merged | grep -qx 'design: popcount'
    neardup index query tables others >expected
    neardup index query merged others | cmp - expected
    neardup index merge --design covering merged -o again
    neardup index info again | grep -qx 'design: covering'
    for options in "--codec manku" "--tables 4" "--key-bits 10" "--layout fast"; do
        # shellcheck disable=SC2086
        run neardup index build --design popcount $options file -o none
        [ "$status" -eq 2 ]
        [ ! -e none ]
    done
}

@test "plan: the two extremes that the paper begins with" {
    neardup index plan --count 1000000 >plan
    tail -2 plan >last
    grep -Eq '^  stored +1  64 .* 1 +699.9 GB .* not buildable here: 4.3745e\+10 entries, 1 probe$' last
    grep -Eq '^  probed +1  64 .* 43745 +16.0 MB .* not buildable here: 1e\+06 entries, 43745 probes$' last
    neardup index plan --count 1000000 --bits 384 -k 16 | grep -Eq '^  stored .* 4.55e\+23 TB +2.44e\+26 s '
    for option in "--tables 6" "--key-bits 16" "--design blocks" "--layout fast"; do
        # shellcheck disable=SC2086
        [ "$(neardup index plan --count 1000000 $option | grep -cE 'stored|probed')" -eq 0 ]
    done
}

@test "slow: plan: the star is what index build makes of the same options, in as many bytes" {
    n=$(sized 200000 50000)
    python3 -c 'import random, sys
random.seed(1)
for i in range(int(sys.argv[1])): print("%016x" % random.getrandbits(64))' "$n" >file
    for options in "" "--key-bits 25" "--key-bits 16" "--tables 5" "--tables 12 --index-memory 7M" \
        "--design blocks" "--design popcount" "--design blocks --tables 10" "--index-memory 10M" "--index-memory 6M" \
        "-k 2 --key-bits 30 --codec manku"; do
        # shellcheck disable=SC2086
        neardup index plan --count "$n" $options | grep '^\*' >star
        # shellcheck disable=SC2086
        neardup index build $options file -o index
        neardup index info index >info
        read -r _ design tables key _ <star
        grep -qx "design: $design" info
        case $design in # whose shards are one table, by their number of ones
        popcount) tables=1 key=10 ;;
        esac
        grep -qx "tables: $tables" info
        grep -q "^key bits: ${key%-*}-" info
        bytes=$(sed -n 's/^bytes: //p' info)
        case $options in
        *manku*) ;;
        *) grep -q " $(python3 -c "print('%.1f %s' % (($bytes / 1e6, 'MB') if $bytes >= 1e6 else ($bytes / 1e3, 'kB')))")" star ;;
        esac
        limit=$(grep -oE '[0-9]+M' <<<"$options" || echo 1000M)
        [ "$bytes" -le $((${limit%M} * 1048576)) ]
        neardup index query index file >got
        [ "$(wc -l <got)" -ge "$n" ]
        cut -f 1-2 got | awk '$1 == $2' | wc -l | grep -qx "$n"
    done
}

@test "slow: plan: with --layout fast too, for many counts and options" {
    for n in 1 1000 524288 524289 3e6 16777216 16777217 1e8 1e9; do
        neardup index plan --count "$n" --layout fast >plan
        [ "$(grep -c '^\*' plan)" -eq 1 ]
        grep -Eq '^\* windows .* fast$' plan
    done
    fingerprints 600 64 >file
    for options in "" "--tables 4" "--tables 6" "--tables 8" "--key-bits 16" "--key-bits 20" \
        "-k 0" "-k 1" "-k 2" "--index-memory 25M" "--index-memory 20M"; do
        # shellcheck disable=SC2086
        neardup index plan --count 600 --layout fast $options | grep '^\*' >star
        # shellcheck disable=SC2086
        neardup index build --layout fast $options file -o index
        neardup index info index >info
        read -r _ design tables key _ <star
        grep -qx "layout: fast" info
        grep -qx "design: $design" info
        grep -qx "tables: $tables" info
        grep -qx "key bits: $key-$key" info
        rm index
    done
    for options in "--bits 128" "-k 4" "--codec manku" "--design blocks" "--index-memory 1M"; do
        # shellcheck disable=SC2086
        run neardup index build --layout fast $options file -o index
        [ "$status" -eq 2 ]
        [[ $output == *"layout "* ]]
        [ ! -e index ]
    done
}

@test "plan: what no command builds says so, and has no star" {
    neardup index plan --count 1e6 >plan
    [ "$(grep -c '^\*' plan)" -eq 1 ]
    grep -Eq '^\* (covering|blocks) ' plan
    for family in $in_memory; do
        grep -Eq "^  $family .*  not buildable here: only the library builds it" plan
        [ "$(grep -E "^[* ] $family " plan | grep -vc 'not buildable here')" -eq 0 ]
    done
    [ "$(grep -E '^[* ] (covering|blocks|halves|windows) ' plan | grep -c 'not buildable here')" -eq 0 ]
    [ "$(grep -cE '^[* ] (covering|blocks) .* compact( |$)' plan)" -gt 1 ]
    [ "$(grep -cE '^[* ] (halves|windows) .* fast$' plan)" -gt 1 ]
    neardup index plan --count 274877906880 | grep -q '^\*'
    neardup index plan --count 274877906881 >plan
    [ "$(grep -c '^\*' plan)" -eq 0 ]
    [ "$(grep -c 'not buildable here: ' plan)" -eq "$(($(wc -l <plan) - 4))" ]
}

@test "index and join refuse an option that the part they are told does not read" {
    fingerprints 10 64 >file
    neardup index build file -o index
    neardup join file file >near
    while read -r name arguments; do
        # shellcheck disable=SC2086
        run neardup $arguments
        [ "$status" -eq 2 ]
        [[ $output == *"--$name"* ]]
        [ "${#lines[@]}" -eq 1 ]
    done <<'END'
index-memory index query index file --index-memory 1G
index-memory index pairs file --index-memory 1G
codec index pairs file --codec manku
codec index query index file --codec ef
tables index pairs file --tables 4
key-bits index add index file --key-bits 20
tables index add index file --tables 4
distance index add index file -k 2
codec index add index file --codec ef
output index add index file -o index
count index build file -o new --count 100
calibrate index build file -o new --calibrate
calibration index pairs file --calibration machine
buckets index info index --buckets 4
svg index pairs file --svg new
distance index stats file -k 2
distance index info index -k 2
raw index info index --raw
raw index merge index --raw
raw index plan --count 5 --raw
any-digits index plan --count 5 --any-digits
output index verify index -o new
bits index verify index --bits 64
threads index build file -o new --threads 2
threads index query index file --threads 2
any-digits index pairs --raw --any-digits file
any-digits join --raw --any-digits file file
calibrate index plan --count 5 --calibrate --calibration machine
bits join --merge near --bits 64
distance join --merge near -k 3
raw join --merge near --raw
any-digits join --merge near --any-digits
END
    run neardup index query index file --bits 32
    [ "$status" -eq 2 ]
    [[ $output == *"index: an index of 64-bit fingerprints, not 32-bit"* ]]
    [ ! -e new ]
    [ ! -e machine ]
}

@test "slow: plan: a calibration is measured once, kept, and read again" {
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
    run neardup index plan --count 1e9 --index-memory 1k
    [ "$status" -eq 2 ]
    [[ $output == *"no design fits"* ]]
    for bad in "" "--count 0" "--count 1e9 --bits 31" "--count 1e9 -k 17" "--count 1e9 --tables 3" \
        "--count 1e9 --index-memory 5Q" "--count 1e9 --tables 4 --key-bits 16"; do
        # shellcheck disable=SC2086
        run neardup index plan $bad
        [ "$status" -eq 2 ]
    done
}

@test "slow: join: what a slow join finds, in one go, in parts, over a pipe" {
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
            [[ $output == "neardup: cut.txt:2: "*"but the first line has 16: was the file cut off? --any-digits"* ]]
        done
        cmp before index
        [ ! -e other ]
        neardup index pairs -k 8 --any-digits cut.txt >got
        [ -s got ]
    done
    printf '00000000000000f' >cut.txt
    run neardup index add index cut.txt
    [ "$status" -eq 2 ]
    [[ $output == "neardup: cut.txt:1: the only line has no line end and only 15 of 16 digits"* ]]
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

@test "slow: pairs: many are streamed in their order, and take no memory for it" {
    python3 - "$(sized 3500 1500)" <<'END'
import random, sys
random.seed(5)
near = [0xff00ff00ff00ff00] + [0xff00ff00ff00ff00 ^ 1 << b for b in range(64)]
rows = [0xff] * int(sys.argv[1]) + near + [random.getrandbits(64) for _ in range(500)]
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
    [ "$(wc -l <expected)" -gt "$(sized 6000000 1000000)" ] # the whole: more than are sorted in memory
    python3 - "$NEARDUP" <<'END'
import resource, subprocess, sys
subprocess.run([sys.argv[1], "index", "pairs", "all", "-o", "got"], check=True)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
assert peak < 150 << 10 or peak < (1 << 20) and "asan" in sys.argv[1], f"{peak} kB"
END
    cmp expected got
    # Two files each count their own lines, and ids that are given stand for themselves.
    neardup index pairs part0 part1 >got
    awk -F'\t' 'FNR == 1 {before = NR - 1} {print $2 == "" ? NR - 1 - before : $2}' part0 part1 >names
    awk -F'\t' 'NR == FNR {name[NR - 1] = $1; next} {print name[$1] "\t" name[$2] "\t" $3}' \
        names expected | cmp - got
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
        on_terminal $command >shown
        if [ "$command" = "join --merge raw" ]; then
            cmp rows raw
            printf 'raw \\x1B[31m\t\\x07\\\n' >rows
        fi
        cmp rows shown
        [ "$(LC_ALL=C tr -d '\n\t -~\303\244' <shown | wc -c)" -eq 0 ]
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
xyz|a fingerprint must consist of hexadecimal digits
|the fingerprint is missing
\tid|the fingerprint is missing
00000000000000001|the fingerprint has too many digits
1\ta\tb|the line contains more than one tab
END
    printf '1ffffffff\n' >bad
    run neardup index pairs --bits 33 bad
    [ "$status" -eq 1 ]
    run neardup index pairs --bits 35 <(printf 'fffffffff\n')
    [[ $output == *"the fingerprint has too many bits"* ]]
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
