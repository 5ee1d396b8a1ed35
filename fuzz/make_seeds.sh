#!/usr/bin/env bash
# make_seeds.sh - make the seeds that are no text: compressed files, archives, index files of a few bytes
set -euo pipefail
cd "$(dirname "$0")/corpus"
here=$PWD/../make_seeds.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TZ=UTC

mkdir -p fuzz_gzip fuzz_archive
printf '{"id":1,"text":"one"}\n{"id":2,"text":"two"}\n' >"$work/a.jsonl"
printf '<title>T</title><p>page' >"$work/b.html"
touch -d 2000-01-01 "$work"/*
gzip -n <"$work/a.jsonl" >fuzz_gzip/one
cat fuzz_gzip/one fuzz_gzip/one >fuzz_gzip/two
(cat fuzz_gzip/one && printf '\0\0\0') >fuzz_gzip/padded
(cat fuzz_gzip/one && printf 'x') >fuzz_gzip/followed
gzip -n1 <"$here" | head -c 200 >fuzz_gzip/cut
# A second header with every flag set: ISA-L judged it by where its input was cut.
base64 -d >fuzz_gzip/header_split <<<H4sIAAAAAGMAAAMYAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\
H4sI/wQAAAAAYwAAAxgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
cp fuzz_gzip/one fuzz_archive/gzip
zstd -q <"$work/a.jsonl" >fuzz_archive/zstd
xz <"$work/a.jsonl" >fuzz_archive/xz
bzip2 <"$work/a.jsonl" >fuzz_archive/bzip2
lz4 -q <"$work/a.jsonl" >fuzz_archive/lz4
tar -C "$work" --format=ustar --owner=0 --group=0 -b1 -c a.jsonl b.html >fuzz_archive/tar
tar -C "$work" --format=posix --pax-option=delete=atime,delete=ctime --owner=0 --group=0 -b1 \
    -c a.jsonl | gzip -n >fuzz_archive/tar_gzip
rm -f fuzz_archive/zip
(cd "$work" && zip -qX - a.jsonl b.html) >fuzz_archive/zip

# Changes to a snapshot of the live index: where, in three bytes, and the byte.
mkdir -p fuzz_snapshot fuzz_saved_texts
printf '\x1c\0\0\0' >fuzz_snapshot/more_deleted
printf '\x58\x04\0\1\x5c\x04\0\xff' >fuzz_snapshot/lines_of_tables
printf '\x01\x40\1\x12\x80\x50\1\x03' >fuzz_snapshot/columns
# An index of texts gets lengths and flags of rows, and a text.
printf '\x08\x30\0\x0e\x30\x30\0\0' >fuzz_saved_texts/lengths
printf '\x24\x30\0\2\x28\x30\0\7' >fuzz_saved_texts/rows
printf '\1\x40\0\xff' >fuzz_saved_texts/not_utf8
printf '\x0c\0\0\5' >fuzz_saved_texts/one_more

# Index files of fingerprints: with equal ones, narrow, without any.
neardup=$PWD/../../build/release/neardup
mkdir -p fuzz_hamming_machine
{
    printf 'neardup-machine 1\nline_ps 1300 2500 4500 7000\ncompare_ps 130\nfresh_ps 10000\n'
    printf 'table_ps 11000\nbucket_ps 4000\ntable_add_ps 30000\nhalf_add_ps 20000\n'
} >fuzz_hamming_machine/default
printf 'neardup-machine 1\nline_ps 1300 2500 4500\n' >fuzz_hamming_machine/too_few
printf 'neardup-machine 1\nhalf_add_ps 1000000000\nhalf_add_ps 1\n' >fuzz_hamming_machine/twice

mkdir -p fuzz_forecast
{
    printf '{"text":"one two three four five six seven"}\n{"text":"one two three four five six seven"}\n'
    printf '{"text":"red orange yellow green blue indigo violet"}\n'
} >documents.jsonl
"$neardup" plan -q --json documents.jsonl >fuzz_forecast/plan
rm documents.jsonl
head -c 700 fuzz_forecast/plan >fuzz_forecast/cut
echo '{"figures":{}}' >fuzz_forecast/empty

mkdir -p fuzz_hamming_file
printf '1\n3\nff\nff\nabcdef0123456789\n' | "$neardup" index build --any-digits -o fuzz_hamming_file/five
printf '1\n2\n80000000\n' | "$neardup" index build --any-digits --bits 32 -k 1 -o fuzz_hamming_file/narrow
: | "$neardup" index build -o fuzz_hamming_file/none
printf '1\tone\n1\n2\t7\nfe\tfour\n' | "$neardup" index build --any-digits --codec manku -o fuzz_hamming_file/texts
printf '1\n3\nff\nff\nabcdef0123456789\n' | "$neardup" index build --any-digits --design popcount -o fuzz_hamming_file/popcount
printf '%s\n' 1 2 3 4 5 6 7 8 | "$neardup" index build -k 0 -o fuzz_hamming_file/segments
printf '9\nff00\tten\n' | "$neardup" index add --any-digits fuzz_hamming_file/segments
printf '1\n10000000000000000\n123456789abcdef01234567\n1\n' |
    "$neardup" index build --any-digits --bits 96 -k 1 -o fuzz_hamming_file/wide
printf '1\n3\tthree\nff\n' | "$neardup" index build --any-digits --part-fingerprints 1 -o fuzz_hamming_file/parts

# Numbers of both headers that are beyond all limits; the checksums are made to fit.
python3 - <<'END'
import struct
limits = {"bits": 12, "distance": 16, "family": 20, "tables": 24, "key": 28, "codec": 32, "segments": 40}
for name, at in limits.items():
    data = bytearray(open("fuzz_hamming_file/five", "rb").read())
    for header in 0, 4096:
        struct.pack_into("<I", data, header + at, 0xffffffff)
    open("fuzz_hamming_file/limit_" + name, "wb").write(data)
END

# Changes to the words of a file of the layout fast.
python3 - <<'END'
import random, struct
random.seed(1)
for name, words in ("fast_one", 1), ("fast_links", 12), ("fast_many", 60):
    with open("fuzz_hamming_file/" + name, "wb") as out:
        for i in range(words):
            value = random.getrandbits(32) if i % 2 else random.getrandbits(6) << 4 | random.getrandbits(4)
            out.write(struct.pack("<II", random.getrandbits(32), value))
END

# Tables out of them: the first segment begins at 8192, with 24 bytes for each chunk; chunk 3 is table 0.
mkdir -p fuzz_hamming_codec
python3 - <<'END'
import struct
for name in "five", "narrow", "texts", "wide":
    data = open("fuzz_hamming_file/" + name, "rb").read()
    bits, distance, codec = struct.unpack_from("<II12xI", data, 12)
    distinct, = struct.unpack_from("<Q", data, 72 + 24)
    offset, length = struct.unpack_from("<QQ", data, 8192 + 3 * 24)
    with open("fuzz_hamming_codec/" + name, "wb") as out:
        out.write(struct.pack("<BBB5xQ", min(bits, 64) - 1, codec - 1, distance, distinct))
        out.write(data[8192 + offset:8192 + offset + length])
END

# Tables of document frequencies: with texts, of shingles, without any term.
mkdir -p fuzz_df
printf '%s\n' 'the cat sat' 'the dog' 'a cat and a dog' >"$work/lines.txt"
"$neardup" df build -q --texts --unit line "$work/lines.txt" -o fuzz_df/texts
"$neardup" df build -q --features sketch --shingle 2 --unit line "$work/lines.txt" -o fuzz_df/shingles
printf '...\n' | "$neardup" df build -q --unit line - -o fuzz_df/none

# Files of sketches: with shingles, without, with a simhash, with sets of values, with two signatures.
mkdir -p fuzz_sketch_file
"$neardup" sketch -q --unit line "$work/lines.txt" -o "$work/with.sketch"
"$neardup" sketch -q --no-shingles --unit line "$work/lines.txt" -o "$work/without.sketch"
"$neardup" sketch -q --recipe manku-2007 --unit line "$work/lines.txt" -o "$work/signed.sketch"
"$neardup" sketch -q --recipe cops-1995 --unit line "$work/lines.txt" -o "$work/sets.sketch"
"$neardup" sketch -q --recipe henzinger-2006-combined --unit line "$work/lines.txt" \
    -o "$work/combined.sketch"
for name in with without signed sets combined; do
    cp "$work/$name.sketch" "fuzz_sketch_file/$name"
    printf '\1' >>"fuzz_sketch_file/$name" # have the checksums made to fit
done
# Numbers of the head that are beyond all limits.
python3 - <<'END'
import struct
for name, at in {"signatures": 44, "documents": 48, "blocks": 88, "sources": 92}.items():
    data = bytearray(open("fuzz_sketch_file/with", "rb").read())
    struct.pack_into("<I", data, at, 0xffffffff)
    open("fuzz_sketch_file/head_" + name, "wb").write(data)
END

# Records of segments; the length and the checksum are made to fit.
mkdir -p fuzz_segment_record
python3 - "$work" <<'END'
import struct, subprocess, sys
texts = {"empty": b"", "short": b"the cat sat on the mat", "long": b"a text that repeats itself " * 300}
for name, text in texts.items():
    packed = subprocess.run(["zstd", "-q", "-1", "-c"], input=text, capture_output=True, check=True).stdout
    with open("fuzz_segment_record/" + name, "wb") as out:
        out.write(struct.pack("<Q4sIII", 0, b"NDXT", len(packed), len(text), 0) + packed + b"\1")
END
