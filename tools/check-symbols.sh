#!/usr/bin/env bash
# check-symbols.sh - the shared libraries export exactly the functions that headers mark ND_API
#
# A private header may mark one that the library for files needs of the other.
#
# usage: tools/check-symbols.sh LIBRARY.so ...
set -euo pipefail
cd "$(dirname "$0")/.."

# A declaration may go over lines: join each to its parenthesis.
declared() {
    cat include/neardup/*.h src/*/*.h | grep -v '^ *#' | tr '\n' ' ' | grep -oE 'ND_API [^(;]*\(' |
        sed -E 's/.*[^a-z0-9_]([a-z0-9_]+)\($/\1/' | sort
}
exported() {
    for library in "$@"; do nm -D --defined-only "$library"; done | awk '{print $3}' | sort
}

if ! diff <(declared) <(exported "$@") >build/symbols.diff; then
    sed -n 's/^< /declared ND_API, but not exported: /p; s/^> /exported, but not declared (or twice): /p' \
        build/symbols.diff >&2
    exit 1
fi
echo "$(exported "$@" | wc -l) functions"
