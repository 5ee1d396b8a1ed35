#!/usr/bin/env bash
# fetch-libstemmer.sh - the C sources of Snowball's stemmers, made from Debian's source package of it
#
# usage: tools/fetch-libstemmer.sh FOLDER
#
# Stems are part of what sketches are made of, so every build has the one version that
# src/feature/word/stemmer.h names, with which everything is tested.  Nothing happens where FOLDER has it.
# The package's file is taken from beside FOLDER or from the user's cache; else apt finds it by its
# name and verifies its signature, and the cache keeps it, so that other builds need no network.  The
# checksum says that it is this version.  It needs no root: lists of sources are kept in the folder,
# and those of the system are left as they are.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "$1")
version=$(sed -n 's/^#define ND_STEM_VERSION "\(.*\)"/\1/p' src/feature/word/stemmer.h)
case $version in
2.2.0) checksum=425cdb5fba13a01db59a1713780f0662e984204f402d3dae1525bda9e6d30f1a ;;
*) echo "fetch-libstemmer: the checksum of Snowball $version is not known" >&2 && exit 1 ;;
esac
is_there() { [ "$(cat "$folder/VERSION" 2>/dev/null)" = "$version" ]; }
! is_there || exit 0

mkdir -p "$(dirname "$folder")"
exec 9>"$folder.lock"
flock 9 # other builds of this tree wait for the first one
! is_there || exit 0
name=snowball_$version.orig.tar.gz
cache=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/neardup
work=$folder.work
rm -rf "$work"
mkdir -p "$work/parts" "$work/lists/partial" "$work/cache" "$work/made"

fail() {
    if [ -f "$work/log" ]; then tail -5 "$work/log" >&2; fi
    cat >&2 <<END
fetch-libstemmer: $1
neardup is built with the stemmers of Snowball $version, whose sources are not here yet.  They come from
Debian's source package snowball, once, and are kept in $cache.
Without a network or apt-get, put its file $name into
$(dirname "$folder") (sha256 $checksum),
or build without stemming: make CMAKE_ARGS=-DNEARDUP_STEMMER=OFF
END
    exit 1
}

# Debian's file by way of apt: the lists of the system's sources, but of source packages.
download() {
    local options=(-q -o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$work/parts"
        -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache" -o "APT::Sandbox::User=")
    command -v apt-get >/dev/null || fail "there is no apt-get"
    for list in /etc/apt/sources.list.d/*.sources; do
        [ -f "$list" ] || continue
        sed -E 's/^Types:.*/Types: deb-src/' "$list" >"$work/parts/$(basename "$list")"
    done
    for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ -f "$list" ] || continue
        sed -nE 's/^deb /deb-src /p' "$list" >"$work/parts/$(basename "$list" .list).list"
    done
    apt-get "${options[@]}" update >"$work/log" 2>&1 || true
    (cd "$work" && apt-get "${options[@]}" source --download-only snowball >>log 2>&1) ||
        fail "apt-get finds no source package of snowball"
    is_version "$work/$name" || fail "the system's source package of snowball is not version $version"
}
is_version() { # FILE
    [ -f "$1" ] && echo "$checksum  $1" | sha256sum --check --quiet >/dev/null 2>&1
}
for kept in "$(dirname "$folder")/$name" "$cache/$name"; do
    if is_version "$kept"; then cp "$kept" "$work/$name" && break; fi
done
if [ ! -f "$work/$name" ]; then
    download
    # A cache that cannot be written is no cache.
    { mkdir -p "$cache" && cp "$work/$name" "$cache/$name.$$" && mv "$cache/$name.$$" "$cache/$name"; } 2>/dev/null || true
fi

tar -xzf "$work/$name" -C "$work"
make -j"$(nproc)" -C "$work/snowball-$version" dist_libstemmer_c >>"$work/log" 2>&1 || fail "Snowball's compiler cannot be built"
tar -xzf "$work/snowball-$version/dist/libstemmer_c-$version.tar.gz" -C "$work"

# Texts are UTF-8: the stemmers for other encodings are left out.
from=$work/libstemmer_c-$version
to=$work/made
mkdir "$to/include" "$to/libstemmer" "$to/runtime" "$to/src_c"
cp "$from/include/libstemmer.h" "$to/include/"
cp "$from/libstemmer/libstemmer_utf8.c" "$from/libstemmer/modules_utf8.h" "$to/libstemmer/"
cp "$from"/runtime/*.[ch] "$to/runtime/"
cp "$from"/src_c/stem_UTF_8_*.[ch] "$to/src_c/"
cp "$from/COPYING" "$to/LICENSE"

# Functions get names of their own, so that a program may be linked with another libstemmer, too.
grep -ohE '\b[a-zA-Z0-9_]+\(' "$to"/include/*.h "$to"/runtime/*.h "$to"/src_c/*.h | tr -d '(' | sort -u |
    grep -E '^(sb_stemmer|SN)_|_UTF_8_|_(s|b|v|U|utf8|among|grouping|del|to)$' |
    sed 's/.*/#define & nd_snowball_&/' >"$to/include/rename.h"
sed -i '1i #include "rename.h"' "$to/include/libstemmer.h"
sed -i '1i #include "../include/rename.h"' "$to/runtime/api.h"
echo "$version" >"$to/VERSION"
rm -rf "$folder"
mv "$to" "$folder"
rm -rf "$work"
