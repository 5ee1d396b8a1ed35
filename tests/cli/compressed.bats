#!/usr/bin/env bats
# compressed.bats - outputs that are compressed: on several threads, at a level, into one stream

# shellcheck disable=SC2086  # options are words
bats_require_minimum_version 1.5.0
load common

# Records of N documents, some of which are nearly the one before.
records() { # N
    python3 - "$1" <<'END'
import json, random, sys
rng = random.Random(7)
words = [f"word{i}" for i in range(5000)]
for i in range(int(sys.argv[1])):
    text = text[:-1] + [rng.choice(words)] if i % 5 == 4 else rng.choices(words, k=60)
    print(json.dumps({"id": i, "text": " ".join(text)}))
END
}

unpack() { # FILE
    case $1 in
    *gz) gzip -dc "$1" ;;
    *zst) zstd -qdc "$1" ;;
    *xz) xz -dc "$1" ;;
    *bz2) bzip2 -dc "$1" ;;
    *lz4) lz4 -qdc "$1" ;;
    esac
}

@test "compressed: any number of threads makes the same bytes, which unpack to the plain output" {
    records 12000 >in.jsonl
    neardup dedup -q in.jsonl -o plain.jsonl --manifest plain.m
    for ending in gz zst xz bz2 lz4; do
        for threads in 1 2 7; do
            neardup dedup -q -j $threads in.jsonl -o "$threads.jsonl.$ending" --manifest "$threads.m.$ending"
            cmp "$threads.jsonl.$ending" "1.jsonl.$ending"
            cmp "$threads.m.$ending" "1.m.$ending"
        done
        unpack "7.jsonl.$ending" >unpacked
        cmp unpacked plain.jsonl
        unpack "7.m.$ending" >unpacked
        cmp unpacked plain.m
    done
}

@test "compressed: gzip has one member and zstd one frame, as many readers stop behind the first" {
    records 12000 >in.jsonl
    neardup dedup -q in.jsonl -o plain.jsonl
    neardup dedup -q in.jsonl -o out.gz
    neardup dedup -q in.jsonl -o out.zst
    python3 - <<'END'
import zlib
d = zlib.decompressobj(31)
assert d.decompress(open("out.gz", "rb").read()) == open("plain.jsonl", "rb").read()
assert d.eof and not d.unused_data
END
    zstd -lv out.zst | grep -qE '^# Zstandard Frames: 1$'
}

@test "compressed: every way of writing records has the same bytes" {
    records 6000 >in.jsonl
    mkdir shards
    split -n l/3 --additional-suffix=.jsonl in.jsonl shards/
    gzip shards/aa.jsonl
    zstd -q --rm shards/ab.jsonl
    for way in "" "--keep last" "--memory 64M" "--cluster components"; do
        for ending in gz zst; do
            neardup dedup -q $way shards -o plain.jsonl --removed plain.r
            neardup dedup -q $way shards -o "1.$ending" --removed "1.r.$ending" -j 1
            neardup dedup -q $way shards -o "2.$ending" --removed "2.r.$ending" -j 2
            cmp "1.$ending" "2.$ending"
            cmp "1.r.$ending" "2.r.$ending"
            unpack "1.$ending" | cmp - plain.jsonl
            unpack "1.r.$ending" | cmp - plain.r
        done
        rm -rf 1 2
        neardup dedup -q $way shards --output-dir 1 -j 1
        neardup dedup -q $way shards --output-dir 2 -j 2
        diff -r 1 2
        { unpack 1/shards/aa.jsonl.gz && unpack 1/shards/ab.jsonl.zst && cat 1/shards/ac.jsonl; } >joined
        cmp joined plain.jsonl
    done
}

@test "compressed: other commands write it too" {
    records 6000 >in.jsonl
    neardup dedup -q in.jsonl -o kept.jsonl --manifest m.jsonl
    head -n 500 in.jsonl >prototypes.jsonl
    for ending in gz zst; do
        neardup apply -q m.jsonl in.jsonl -o "a.$ending"
        unpack "a.$ending" | cmp - kept.jsonl
        neardup filter -q --prototypes prototypes.jsonl in.jsonl -o f.jsonl
        neardup filter -q --prototypes prototypes.jsonl in.jsonl -o "f.$ending"
        unpack "f.$ending" | cmp - f.jsonl
        neardup pairs -q in.jsonl -o p.tsv
        neardup pairs -q in.jsonl -o "p.$ending"
        unpack "p.$ending" | cmp - p.tsv
        neardup sketch -q in.jsonl -o s.jsonl
        neardup sketch -q in.jsonl -o "s.$ending" -j 2
        unpack "s.$ending" | cmp - s.jsonl
    done
}

@test "compressed: --output-level holds for every command that writes" {
    records 3000 >in.jsonl
    neardup dedup -q in.jsonl -o plain.jsonl --manifest m.jsonl
    head -n 500 in.jsonl >prototypes.jsonl
    for command in "dedup" "apply m.jsonl" "pairs" "sketch" "collapse" "filter --prototypes prototypes.jsonl"; do
        neardup $command in.jsonl -q -o fast.gz --output-level 1
        neardup $command in.jsonl -q -o small.gz --output-level 9
        run ! cmp -s fast.gz small.gz
        cmp <(unpack fast.gz) <(unpack small.gz)
    done
}

@test "compressed: an archive has the same bytes for any number of threads" {
    mkdir docs
    for i in $(seq 20); do records 200 >"docs/$i.jsonl"; done
    tar -cf in.tar docs
    for ending in tar.gz tar.zst; do
        neardup dedup -q -j 1 in.tar -o "1.$ending"
        neardup dedup -q -j 7 in.tar -o "7.$ending"
        cmp "1.$ending" "7.$ending"
        [ "$(tar -tf "7.$ending" | wc -l)" -eq 21 ]
    done
}

@test "compressed: of nothing there is a whole file" {
    printf '' >empty.jsonl
    for ending in gz zst xz bz2 lz4; do
        neardup dedup -q empty.jsonl -o "out.$ending"
        [ -s "out.$ending" ]
        [ "$(unpack "out.$ending" | wc -c)" -eq 0 ]
    done
}

@test "compressed: --output-level chooses between time and size" {
    records 4000 >in.jsonl
    neardup dedup -q in.jsonl -o plain.jsonl
    for ending in gz zst; do
        for level in 1 9; do
            neardup dedup -q in.jsonl -o "$level.$ending" --output-level $level
            unpack "$level.$ending" | cmp - plain.jsonl
        done
        [ "$(stat -c %s "9.$ending")" -lt "$(stat -c %s "1.$ending")" ]
    done
    neardup dedup -q in.jsonl -o plain.again --output-level 1
    cmp plain.again plain.jsonl
}

@test "compressed: a level that a compression does not have is refused before anything is read" {
    run -2 neardup dedup -q missing.jsonl -o out.gz --output-level 12
    [ "${lines[0]}" = "neardup: gzip has levels from 1 to 9: output-level 12 is too high" ]
    run -2 neardup dedup -q missing.jsonl -o out.zst --output-level 20
    [[ ${lines[0]} == *"output-level"* ]]
    [ ! -e out.gz ]
    [ ! -e out.zst ]
}

@test "compressed: a full disk is an error as for plain output" {
    records 12000 >in.jsonl
    for ending in gz zst xz; do
        ln -s /dev/full "full.$ending"
        run -2 neardup dedup -q in.jsonl -o "full.$ending"
        [ "${lines[0]}" = "neardup: full.$ending: cannot be written: No space left on device" ]
    done
}

@test "compressed: a run that is killed leaves nothing, and the next one with its checkpoint the same bytes" {
    records 12000 >in.jsonl
    for ending in gz zst; do
        neardup dedup -q in.jsonl -o "plain.$ending"
        { cat in.jsonl && sleep 60; } | "$NEARDUP" dedup -q - --checkpoint "cp.$ending" -o "out.$ending" &
        await_output "$!"
        sleep 0.5
        kill -9 "$!"
        wait "$!" || true
        [ ! -e "out.$ending" ]
        neardup dedup -q - --checkpoint "cp.$ending" -o "out.$ending" <in.jsonl
        cmp "out.$ending" "plain.$ending"
    done
}
