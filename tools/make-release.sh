#!/usr/bin/env bash
# make-release.sh - all that a release consists of, in one folder, with checksums
#
# usage: tools/make-release.sh [FOLDER]      (default: build/dist)
#
# The sources, the wheels and the source distribution of Python, the Debian packages, the command to
# unpack, static ones and those for Windows and macOS, its manual pages, the extension of DuckDB, the
# descriptions for other registries with the version and the checksum filled in, a bill of materials
# (SPDX 2.3) and SHA256SUMS.  RELEASE_PARTS names some of: sources python debian command systems manual
# duckdb packaging (default: all).
#
# Equal sources give equal bytes: the time in archives is SOURCE_DATE_EPOCH, by default that of
# the last commit.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "${1:-build/dist}")
parts=${RELEASE_PARTS:-sources python debian command systems manual duckdb packaging}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C.UTF-8
version=$(sed -n 's/^#define ND_VERSION "\(.*\)"/\1/p' include/neardup/version.h)
rm -rf "$folder"
mkdir -p "$folder"
wanted() { case " $parts " in *" $1 "*) echo "release: $1" ;; *) return 1 ;; esac }
. tools/pack.sh # pack ARCHIVE FOLDER NAME

if wanted sources; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    mkdir "$work/neardup-$version"
    tools/list-files.sh | tar -cf - -T - | tar -xf - -C "$work/neardup-$version"
    # Builds without a network find the stemmers there.
    tools/fetch-libstemmer.sh build/libstemmer
    mkdir -p "$work/neardup-$version/third_party"
    cp -R build/libstemmer "$work/neardup-$version/third_party/"
    pack "$folder/neardup-$version-source.tar.gz" "$work" "neardup-$version"
fi
if wanted python; then
    tools/make-wheels.sh build/wheel
    cp build/wheel/dist/* "$folder/"
fi
if wanted debian; then
    tools/make-deb.sh
    cp build/deb/*.deb "$folder/"
fi
if wanted command; then
    tools/make-tarball.sh
    cp "build/neardup-$version-linux-$(uname -m).tar.gz" "$folder/"
fi
if wanted systems; then
    for system in linux-x86_64-musl linux-aarch64-musl windows-x86_64 macos-arm64; do
        tools/cross.sh "$system"
        tools/make-tarball.sh "$system"
        cp "build/neardup-$version-$system".* "$folder/"
    done
fi
if wanted manual; then
    rm -rf build/manual
    DESTDIR=$PWD/build/manual/tree cmake --install build/release --prefix /usr >/dev/null
    mkdir -p "build/manual/neardup-$version-man"
    cp -R build/manual/tree/usr/share/man/. "build/manual/neardup-$version-man/"
    pack "$folder/neardup-$version-man.tar.gz" build/manual "neardup-$version-man"
fi
if wanted duckdb; then
    if tools/make-duckdb.sh; then
        gzip -9n <build/duckdb/neardup.duckdb_extension >"$folder/neardup-$version-linux-$(uname -m).duckdb_extension.gz"
    elif [ $? -ne 77 ]; then
        exit 1
    fi
fi
if wanted packaging; then
    checksum=$(sha256sum "$folder/neardup-$version-source.tar.gz" | cut -d' ' -f1)
    mkdir "$folder/packaging"
    for file in homebrew/neardup.rb conda-forge/recipe.yaml duckdb/description.yml; do
        sed -e "s/@VERSION@/$version/g" -e "s/@SHA256_SOURCE@/$checksum/g" "packaging/$file" \
            >"$folder/packaging/${file//\//-}"
    done
    tools/check-packaging.sh "$folder/packaging" || [ $? -eq 77 ]
    pack "$folder/neardup-$version-packaging.tar.gz" "$folder" packaging
    rm -r "$folder/packaging"
fi

python3 tools/make_sbom.py "$version" "$folder" >"$folder/neardup-$version.spdx.json.new"
mv "$folder/neardup-$version.spdx.json.new" "$folder/neardup-$version.spdx.json"
tools/check-sbom.sh "$folder/neardup-$version.spdx.json" || [ $? -eq 77 ]
(cd "$folder" && find . -type f ! -name SHA256SUMS -printf '%P\n' | sort | xargs -d '\n' sha256sum >SHA256SUMS)
(cd "$folder" && ls -l && sha256sum --check --quiet SHA256SUMS)
