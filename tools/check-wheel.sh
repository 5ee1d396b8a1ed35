#!/usr/bin/env bash
# check-wheel.sh - the wheel and the source distribution of make-wheel.sh, each in a clean environment
#
# usage: tools/check-wheel.sh FOLDER      (FOLDER/dist has both)
#
# The environments have pip and what the tests need.  Where mounts are possible, the system's xxHash is
# hidden while the source distribution is built.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath "$1")
# With the command, which is two thirds of it.  The module's share is compiled for size where it runs
# once a call (python/CMakeLists.txt).
bytes_max=3000000
fail() {
    echo "check-wheel: $1" >&2
    exit 1
}
wheel=$(ls "$folder"/dist/*.whl) sources=$(ls "$folder"/dist/*.tar.gz)

bytes=$(stat -c %s "$wheel")
[ "$bytes" -le "$bytes_max" ] || fail "the wheel has $bytes bytes, more than $bytes_max"
case $wheel in *-cp311-abi3-manylinux_*) ;; *) fail "the wheel's tag is not cp311-abi3-manylinux" ;; esac
rm -rf "$folder/unpacked" "$folder/try-wheel" "$folder/try-sources"
python3 -m zipfile -e "$wheel" "$folder/unpacked"
tools/check-module.sh "$folder/unpacked/neardup/_native.abi3.so"
tar -tzf "$sources" >"$folder/list"
for licence in LICENSE LICENSE.libstemmer LICENSE.xxhash; do
    ls "$folder"/unpacked/neardup-*.dist-info/licenses/$licence >/dev/null || fail "the wheel lacks $licence"
    grep -q "^[^/]*/$licence$" "$folder/list" || fail "the source distribution lacks $licence"
done

# try NAME FILE: install it without anything of this machine, and run the page and the plain tests.
try() {
    python3 -m venv "$folder/$1"
    "$folder/$1/bin/pip" install --quiet --disable-pip-version-check pytest
    hide "$folder/$1/bin/pip" install --quiet --disable-pip-version-check --no-cache-dir "$2" || fail "$2 cannot be installed"
    "$folder/$1/bin/python" -P -m pytest -q -p no:cacheprovider --rootdir python --doctest-glob="*.md" \
        python/README.md python/tests/test_{recipe,dedup}.py >"$folder/$1.log" 2>&1 || {
        tail -30 "$folder/$1.log" >&2
        fail "$2 is installed and does not work"
    }
}

# Run a command without the files of libraries that the source distribution carries.
hide() {
    if [ "$(id -u)" -ne 0 ] || ! unshare --mount true 2>/dev/null; then
        "$@"
        return
    fi
    unshare --mount sh -ec 'if [ -f /usr/include/xxhash.h ]; then mount --bind /dev/null /usr/include/xxhash.h; fi
        exec "$@"' hide "$@"
}

# The command of the wheel, with nothing of the system before it: from gzip to gzip and zstd, and as the
# module decides.
try_command() {
    local bin=$folder/try-wheel/bin
    [ "$(env -i "$bin/neardup" --version)" = "neardup $("$bin/python" -c 'import neardup; print(neardup.__version__)')" ] ||
        fail "the wheel's command is not of the module's version"
    [ "$("$bin/python" -P -m neardup --version)" = "$("$bin/neardup" --version)" ] ||
        fail "python -m neardup is not the wheel's command"
    # The command finds the package that it came with; that misses pyarrow here.
    printf 'PAR1PAR1' >"$folder/in.parquet"
    if env -i "$bin/neardup" dedup "$folder/in.parquet" -o "$folder/out.parquet" 2>"$folder/said"; then
        fail "the wheel's command reads what is no Parquet"
    fi
    grep -q 'pip install pyarrow' "$folder/said" || fail "the wheel's command does not say what reads Parquet"
    # A status of 1 says that an optional library of the system is missing.
    env -i "$bin/neardup" doctor >"$folder/doctor" || [ $? -eq 1 ] || fail "the wheel's command does not start"
    grep -q '^kernels' "$folder/doctor" || fail "the wheel's command does not say what it can do"
    for i in 1 2 3 4 5 6; do
        echo "{\"id\": \"$i\", \"text\": \"words that stand in document $((i % 4)) and in no other one of all\"}"
    done | gzip >"$folder/in.jsonl.gz"
    for ending in gz zst; do
        env -i "$bin/neardup" dedup -q "$folder/in.jsonl.gz" -o "$folder/out.jsonl.$ending" ||
            fail "the wheel's command does not write .$ending"
    done
    [ "$(zcat "$folder/out.jsonl.gz" | wc -l)" -eq 4 ] || fail "the wheel's command decides otherwise"
}

try try-wheel "$wheel"
try_command
try try-sources "$sources"
echo "check-wheel: $(basename "$wheel"), $bytes bytes, and $(basename "$sources"), $(stat -c %s "$sources") bytes, are installed and tried"
