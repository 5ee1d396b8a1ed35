#!/usr/bin/env bash
# fetch-duckdb.sh - DuckDB's headers for extensions in C, which its crate libduckdb-sys carries
#
# usage: tools/fetch-duckdb.sh FOLDER
#
# Debian 12 has no DuckDB.  cargo fetches the crate from crates.io and verifies its checksum.  Nothing
# happens where FOLDER has the headers of this version.  Status 77: there is no cargo, or no network.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "$1")
version=1.20000.1
[ "$(cat "$folder/VERSION" 2>/dev/null)" != "$version" ] || exit 0
skip() {
    echo "skipped: $1"
    exit 77
}
command -v cargo >/dev/null || skip "there is no cargo, which fetches DuckDB's headers"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/src"
: >"$work/src/lib.rs"
cat >"$work/Cargo.toml" <<END
[package]
name = "headers"
version = "0.1.0"
edition = "2021"

[dependencies]
libduckdb-sys = "=$version"
END
export CARGO_HOME=$work/cargo
cargo fetch --quiet --manifest-path "$work/Cargo.toml" >"$work/log" 2>&1 || {
    tail -3 "$work/log" >&2
    skip "crates.io cannot be reached"
}
sources=$(echo "$CARGO_HOME"/registry/src/*/libduckdb-sys-"$version"/duckdb.tar.gz)
rm -rf "$folder"
mkdir -p "$folder"
tar -xzf "$sources" -C "$folder" --strip-components=3 duckdb/src/include/duckdb.h \
    duckdb/src/include/duckdb_extension.h
echo "$version" >"$folder/VERSION"
