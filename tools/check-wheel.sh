#!/usr/bin/env bash
# check-wheel.sh - the wheel and the source distribution of make-wheel.sh, each in a clean environment
#
# usage: tools/check-wheel.sh FOLDER      (FOLDER/dist has both)
#
# The environments have pip and what the tests need.  Where mounts are possible, the system's xxHash is
# hidden while the source distribution is built, and the libraries that the wheel's command carries while
# that runs.
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
    hide /usr/include/xxhash.h -- "$folder/$1/bin/pip" install --quiet --disable-pip-version-check --no-cache-dir "$2" || fail "$2 cannot be installed"
    "$folder/$1/bin/python" -P -m pytest -q -p no:cacheprovider --rootdir python --doctest-glob="*.md" \
        python/README.md python/tests/test_{recipe,dedup}.py >"$folder/$1.log" 2>&1 || {
        tail -30 "$folder/$1.log" >&2
        fail "$2 is installed and does not work"
    }
}

# Run a command without the files that match a pattern, where mounts are possible.
can_hide() { [ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null; }
hide() { # PATTERN... -- COMMAND...
    if ! can_hide; then
        while [ "$1" != -- ]; do shift; done
        shift
        "$@"
        return
    fi
    # shellcheck disable=SC2016 # the inner shell expands it
    unshare --mount sh -ec 'while [ "$1" != -- ]; do
            for file in $1; do
                if [ -f "$file" ]; then mount --bind /dev/null "$file"; fi
            done
            shift
        done
        shift
        exec "$@"' hide "$@"
}

# The command of the wheel, with nothing of the system before it: from gzip to gzip and zstd, and as the
# module decides.
try_command() {
    local bin=$folder/try-wheel/bin
    alone() {
        hide '/usr/lib/*/libz.so.*' '/usr/lib/*/libzstd.so.*' '/usr/lib/*/libisal.so.*' '/usr/lib/*/libsimdjson.so.*' \
            '/usr/lib/*/libxml2.so.*' -- env -i "$bin/neardup" "$@"
    }
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
    alone doctor >"$folder/doctor" || [ $? -eq 1 ] || fail "the wheel's command does not start"
    for row in kernels.* zlib.found libzstd.found; do
        grep -q "^$row" "$folder/doctor" || fail "the wheel's command does not say what it can do: $row"
    done
    # The cross compiler makes the kernels of new processors, too.
    if grep -qw avx2 /proc/cpuinfo && grep -q '^kernels.scalar' "$folder/doctor"; then
        fail "the wheel's command makes no use of this processor"
    fi
    for i in 1 2 3 4 5 6; do
        echo "{\"id\": \"$i\", \"text\": \"words that stand in document $((i % 4)) and in no other one of all\"}"
    done | gzip >"$folder/in.jsonl.gz"
    for ending in gz zst; do
        alone dedup -q "$folder/in.jsonl.gz" -o "$folder/out.jsonl.$ending" ||
            fail "the wheel's command does not write .$ending"
        alone dedup -q "$folder/out.jsonl.$ending" >"$folder/out.jsonl" ||
            fail "the wheel's command does not read .$ending"
        [ "$(wc -l <"$folder/out.jsonl")" -eq 4 ] || fail "the wheel's command decides otherwise"
    done
    printf 'id,text\n1,one two three\n2,one two three\n' >"$folder/in.csv"
    [ "$(alone dedup -q "$folder/in.csv" | wc -l)" -eq 2 ] || fail "the wheel's command does not read CSV"
    # A message names the library that is missing.
    echo '<p>one two three</p>' >"$folder/in.html"
    if alone sketch -q "$folder/in.html" >/dev/null 2>"$folder/said"; then
        can_hide && fail "without libxml2 the wheel's command says nothing"
    else
        grep -q libxml2 "$folder/said" || fail "the wheel's command does not name libxml2"
    fi
    # uv, of PyPI, runs it from the file alone.
    if [ -x "$folder/tools/bin/uvx" ] || "$folder/tools/bin/pip" install --quiet --disable-pip-version-check uv; then
        (cd "$folder" && UV_CACHE_DIR=$folder/uv tools/bin/uvx --quiet --offline --no-config --from "$wheel" \
            neardup dedup -q in.jsonl.gz) >"$folder/said" || fail "uvx does not run the wheel's command"
        cmp "$folder/said" "$folder/out.jsonl" || fail "under uvx the command decides otherwise"
    fi
}

try try-wheel "$wheel"
try_command
try try-sources "$sources"
echo "check-wheel: $(basename "$wheel"), $bytes bytes, and $(basename "$sources"), $(stat -c %s "$sources") bytes, are installed and tried"
