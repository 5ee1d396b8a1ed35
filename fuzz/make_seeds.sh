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

# Index files of fingerprints: with equal ones, narrow, without any.
neardup=$PWD/../../build/release/neardup
mkdir -p fuzz_hamming_machine
{
    printf 'neardup-machine 1\nline_ps 1300 2500 4500 7000\ncompare_ps 130\nfresh_ps 10000\n'
    printf 'table_ps 11000\nbucket_ps 4000\ntable_add_ps 30000\nhalf_add_ps 20000\n'
} >fuzz_hamming_machine/default
printf 'neardup-machine 1\nline_ps 1300 2500 4500\n' >fuzz_hamming_machine/too_few
printf 'neardup-machine 1\nhalf_add_ps 1000000000\nhalf_add_ps 1\n' >fuzz_hamming_machine/twice

mkdir -p fuzz_hamming_file
printf '1\n3\nff\nff\nabcdef0123456789\n' | "$neardup" index build -o fuzz_hamming_file/five
printf '1\n2\n80000000\n' | "$neardup" index build --bits 32 -k 1 -o fuzz_hamming_file/narrow
: | "$neardup" index build -o fuzz_hamming_file/none

# Tables of document frequencies: with texts, of shingles, without any term.
mkdir -p fuzz_df
printf '%s\n' 'the cat sat' 'the dog' 'a cat and a dog' >"$work/lines.txt"
"$neardup" df build -q --texts --unit line "$work/lines.txt" -o fuzz_df/texts
"$neardup" df build -q --features sketch --shingle 2 --unit line "$work/lines.txt" -o fuzz_df/shingles
printf '...\n' | "$neardup" df build -q --unit line - -o fuzz_df/none
