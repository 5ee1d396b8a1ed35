#!/usr/bin/env bash
# fetch-carried.sh - the C sources of the libraries that a build for another system carries in itself
#
# usage: tools/fetch-carried.sh FOLDER
#
# A command for Windows, or one that is linked statically, finds no libraries of the system it runs on:
# zlib, zstd, ISA-L's inflate and simdjson are compiled with it, in the versions that Debian 12 has and
# neardup is tested with; xxHash is a header, and cmocka is for the unit tests.  cmake/carried.cmake
# compiles them.  Nothing happens where FOLDER has them.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "$1")
versions='zlib 1.2.13 zstd 1.5.4 ISA-L 2.30.0 simdjson 3.0.1 xxHash 0.8.1 cmocka 1.1.5'
is_there() { [ "$(cat "$folder/VERSION" 2>/dev/null)" = "$versions" ]; }
! is_there || exit 0

mkdir -p "$(dirname "$folder")"
exec 9>"$folder.lock"
flock 9 # other builds of this tree wait for the first one
! is_there || exit 0
work=$folder.work
rm -rf "$work"
mkdir -p "$work/made"/{zlib,zstd,isal,simdjson,xxhash,cmocka}
made=$work/made

take() { # PACKAGE FILE SHA256, and the folder that it unpacks to
    tools/debian-source.sh "$1" "$2" "$3" "$work"
    mkdir "$work/$1"
    # zlib's archive is named .bz2 but may be compressed otherwise: tar looks at its bytes.
    tar -xf "$work/$2" -C "$work/$1" --strip-components=1
}
take zlib zlib_1.2.13.dfsg.orig.tar.bz2 71feb7947e3c00ef125f83b79a4e529bde31171e5babe48b391f06758d1ab0a1
take libzstd libzstd_1.5.4+dfsg2.orig.tar.xz 8cf4bbb65e77ec348d052c8d6230eba66d435bddf64c8b5be2fcb16880c19953
take libisal libisal_2.30.0.orig.tar.xz f363f1be3d657d5676cef5253ee2233e60116e2fa9c9de86881185bf81e0e4b8
take simdjson simdjson_3.0.1.orig.tar.gz 156b1bc5eb0561b2bd166b46d191fd3d95a3e709cc63761477d3b7aec2b6e9ed
take xxhash xxhash_0.8.1.orig.tar.gz 3bb6b7d6f30c591dd65aaaff1c8b7a5b94d81687998ca9400082c739a690436c
take cmocka cmocka_1.1.5.orig.tar.xz f0ccd8242d55e2fd74b16ba518359151f6f8383ff8aef4976e48393f77bba8b6

(cd "$work/zlib" && cp adler32.c crc32.c deflate.c inflate.c inffast.c inftrees.c trees.c zutil.c ./*.h LICENSE "$made/zlib/")
(cd "$work/libzstd" && cp -r lib/common lib/compress lib/decompress lib/zstd.h lib/zstd_errors.h LICENSE "$made/zstd/")
# ISA-L's form in C: the one in assembler wants nasm.
mkdir "$made/isal/isa-l"
(cd "$work/libisal" &&
    cp igzip/{igzip_inflate,igzip_base_aliases,igzip,igzip_base,igzip_icf_base,igzip_icf_body,hufftables_c,adler32_base,flatten_ll,encode_df,huff_codes,proc_heap_base}.c \
        crc/{crc_base,crc_base_aliases,crc64_base}.c igzip/*.h LICENSE "$made/isal/" &&
    cp include/*.h "$made/isal/" && cp include/*.h "$made/isal/isa-l/")
cp "$work"/simdjson/singleheader/simdjson.{h,cpp} "$work/simdjson/LICENSE" "$made/simdjson/"
cp "$work"/xxhash/{xxhash.h,xxh3.h,LICENSE} "$made/xxhash/"
cp "$work"/cmocka/src/cmocka.c "$work"/cmocka/include/*.h "$work/cmocka/COPYING" "$made/cmocka/"

echo "$versions" >"$made/VERSION"
rm -rf "$folder"
mv "$made" "$folder"
rm -rf "$work"
