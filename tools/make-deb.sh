#!/usr/bin/env bash
# make-deb.sh - the Debian packages, from the files of the tree, in build/deb/
set -euo pipefail
cd "$(dirname "$0")/.."

. tools/pack.sh
version=$(sed -n 's/^#define ND_VERSION "\(.*\)"/\1/p' include/neardup/version.h)
if [ "$(dpkg-parsechangelog -S Version | sed 's/-[^-]*$//')" != "$version" ]; then
    echo "make-deb: debian/changelog is not of version $version" >&2
    exit 1
fi
out=build/deb
tree=$out/neardup-$version
rm -rf "$out"
mkdir -p "$tree"
tools/list-files.sh | grep -v '^debian/' | tar -cf - -T - | tar -xf - -C "$tree"
# Packages are built without a network: their sources carry Snowball's stemmers.
tools/fetch-libstemmer.sh build/libstemmer
mkdir "$tree/third_party"
cp -R build/libstemmer "$tree/third_party/"
pack "$out/neardup_$version.orig.tar.gz" "$out" "neardup-$version"
cp -r debian "$tree"
(cd "$tree" && dpkg-buildpackage -us -uc >../build.log 2>&1) || {
    tail -40 "$out/build.log" >&2
    exit 1
}
rm -rf "$tree"
lintian --allow-root --fail-on error "$out"/*.changes
ls "$out"/*.deb
