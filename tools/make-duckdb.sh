#!/usr/bin/env bash
# make-duckdb.sh - the extension of DuckDB, tried in the DuckDB of PyPI
#
# usage: tools/make-duckdb.sh [FOLDER]      (default: build/duckdb)
#
# Status 77: DuckDB or its headers cannot be had.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "${1:-build/duckdb}")
mkdir -p "$folder"
tools/fetch-duckdb.sh "$folder/headers"

python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet --disable-pip-version-check --no-compile --retries 1 duckdb pytest || {
    echo "skipped: PyPI cannot be reached"
    exit 77
}
{ cmake -S . -B "$folder/cmake" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="-O3 -DNDEBUG" \
    -DNEARDUP_DUCKDB="$folder/headers" -DNEARDUP_FILES=OFF -DNEARDUP_TESTS=OFF -DNEARDUP_BENCH=OFF \
    -DNEARDUP_PYTHON=OFF -DNEARDUP_WERROR=ON >"$folder/log" 2>&1 &&
    cmake --build "$folder/cmake" --target neardup_duckdb >>"$folder/log" 2>&1; } || {
    tail -20 "$folder/log" >&2
    exit 1
}
version=$(sed -n 's/^#define ND_VERSION "\(.*\)"/\1/p' include/neardup/version.h)
platform=$("$folder/python/bin/python" -c 'import duckdb; print(duckdb.sql("pragma platform").fetchall()[0][0])')
strip -o "$folder/stripped.so" "$folder/cmake/duckdb/neardup.so"
python3 duckdb/append_metadata.py "$folder/stripped.so" "$version" "$platform" "$folder/neardup.duckdb_extension"
rm "$folder/stripped.so"
NEARDUP_EXTENSION=$folder/neardup.duckdb_extension "$folder/python/bin/python" -m pytest -q -p no:cacheprovider \
    --rootdir duckdb duckdb
echo "$folder/neardup.duckdb_extension: $(stat -c %s "$folder/neardup.duckdb_extension") bytes"
