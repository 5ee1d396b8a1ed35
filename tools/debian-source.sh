#!/usr/bin/env bash
# debian-source.sh - one file of a source package of Debian, of the version whose checksum is given
#
# usage: tools/debian-source.sh PACKAGE FILE SHA256 FOLDER
#
# The file is taken from FOLDER's parent or from the user's cache; else apt finds it by the package's
# name and verifies its signature, and the cache keeps it, so that other builds need no network.  It
# needs no root: lists of sources are kept in a folder that goes, and those of the system are left as
# they are.  Without a network or apt-get, put FILE into FOLDER's parent or the cache.
set -euo pipefail
package=$1 name=$2 checksum=$3
folder=$(realpath -m "$4")
cache=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/neardup

is_it() { # FILE
    [ -f "$1" ] && echo "$checksum  $1" | sha256sum --check --quiet >/dev/null 2>&1
}
mkdir -p "$folder"
for kept in "$folder/$name" "$(dirname "$folder")/$name" "$cache/$name"; do
    if is_it "$kept"; then
        [ "$kept" = "$folder/$name" ] || cp "$kept" "$folder/$name"
        exit 0
    fi
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    if [ -f "$work/log" ]; then tail -5 "$work/log" >&2; fi
    echo "debian-source: $1" >&2
    echo "debian-source: put $name (sha256 $checksum) into $(dirname "$folder") or $cache" >&2
    exit 1
}
command -v apt-get >/dev/null || fail "there is no apt-get"
mkdir -p "$work/parts" "$work/lists/partial" "$work/cache"
options=(-q -o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$work/parts"
    -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache" -o "APT::Sandbox::User=")
for list in /etc/apt/sources.list.d/*.sources; do
    [ -f "$list" ] || continue
    sed -E 's/^Types:.*/Types: deb-src/' "$list" >"$work/parts/$(basename "$list")"
done
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -f "$list" ] || continue
    sed -nE 's/^deb /deb-src /p' "$list" >"$work/parts/$(basename "$list" .list).list"
done
apt-get "${options[@]}" update >"$work/log" 2>&1 || true
(cd "$work" && apt-get "${options[@]}" source --download-only "$package" >>log 2>&1) ||
    fail "apt-get finds no source package of $package"
is_it "$work/$name" || fail "the system's source package of $package has no $name of this version"
cp "$work/$name" "$folder/$name"
# A cache that cannot be written is no cache.
{ mkdir -p "$cache" && cp "$work/$name" "$cache/$name.$$" && mv "$cache/$name.$$" "$cache/$name"; } 2>/dev/null || true
