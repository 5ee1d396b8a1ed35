#!/usr/bin/env bash
# fetch-libstemmer.sh - the C sources of libstemmer, made from Debian's source package of Snowball
#
# usage: tools/fetch-libstemmer.sh FOLDER
#
# Nothing happens where FOLDER has them.  Stems are part of what sketches are made of, so the version
# is fixed: that of Debian 12, with which everything is tested.  apt finds the file by its name and
# verifies its signature; the checksum says that it is this version.  It needs no root: lists of
# sources are kept in the folder, and those of the system are left as they are.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "$1")
version=2.2.0
checksum=425cdb5fba13a01db59a1713780f0662e984204f402d3dae1525bda9e6d30f1a
[ ! -e "$folder/LICENSE" ] || exit 0

work=$folder.work
rm -rf "$work" "$folder"
mkdir -p "$work/parts" "$work/lists/partial" "$work/cache" "$folder"
for list in /etc/apt/sources.list.d/*.sources; do
    [ -f "$list" ] || continue
    sed -E 's/^Types:.*/Types: deb-src/' "$list" >"$work/parts/$(basename "$list")"
done
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -f "$list" ] || continue
    sed -nE 's/^deb /deb-src /p' "$list" >"$work/parts/$(basename "$list" .list).list"
done
options=(-q -o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$work/parts"
    -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache" -o "APT::Sandbox::User=")
apt-get "${options[@]}" update >"$work/log" 2>&1 || true
(cd "$work" && apt-get "${options[@]}" source --download-only snowball >>log 2>&1) || {
    tail -5 "$work/log" >&2
    echo "fetch-libstemmer: apt-get finds no source package of snowball" >&2
    exit 1
}
echo "$checksum  $work/snowball_$version.orig.tar.gz" | sha256sum --check --quiet || {
    echo "fetch-libstemmer: Debian's snowball here is not version $version" >&2
    exit 1
}
tar -xzf "$work/snowball_$version.orig.tar.gz" -C "$work"
make -C "$work/snowball-$version" dist_libstemmer_c >>"$work/log" 2>&1 || {
    tail -5 "$work/log" >&2
    echo "fetch-libstemmer: Snowball's compiler cannot be built" >&2
    exit 1
}

# Texts are UTF-8: the stemmers for other encodings are left out.
tar -xzf "$work/snowball-$version/dist/libstemmer_c-$version.tar.gz" -C "$work"
made=$work/libstemmer_c-$version
mkdir "$folder/include" "$folder/libstemmer" "$folder/runtime" "$folder/src_c"
cp "$made/include/libstemmer.h" "$folder/include/"
cp "$made/libstemmer/libstemmer_utf8.c" "$made/libstemmer/modules_utf8.h" "$folder/libstemmer/"
cp "$made"/runtime/*.[ch] "$folder/runtime/"
cp "$made"/src_c/stem_UTF_8_*.[ch] "$folder/src_c/"
cp "$made/COPYING" "$folder/LICENSE"
rm -rf "$work"
