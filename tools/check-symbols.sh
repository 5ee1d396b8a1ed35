#!/usr/bin/env bash
# check-symbols.sh - the shared libraries export exactly the functions that headers mark ND_API
#
# A private header may mark one that the library for files needs of the other.
#
# usage: tools/check-symbols.sh LIBRARY.so ...
set -euo pipefail
cd "$(dirname "$0")/.."

# A declaration begins a line and may go over several: join each to its parenthesis.
declared_in() { # FILE ...
    cat "$@" | grep -v '^ *#' | sed -E 's,^(.+)ND_API,\1,' | tr '\n' ' ' | grep -oE 'ND_API [^(;]*\(' |
        sed -E 's/.*[^a-z0-9_]([a-z0-9_]+)\($/\1/' | sort
}
declared() {
    declared_in include/neardup/*.h src/*/*.h src/*/*/*.h
}
exported() {
    for library in "$@"; do nm -D --defined-only "$library"; done | awk '{print $3}' | sort
}

if ! diff <(declared) <(exported "$@") >build/symbols.diff; then
    sed -n 's/^< /declared ND_API, but not exported: /p; s/^> /exported, but not declared (or twice): /p' \
        build/symbols.diff >&2
    exit 1
fi

# A function that the second library needs, and the first does not export, is found only by who links.
if [ $# = 2 ]; then
    needed=$(comm -23 <(nm -D --undefined-only "$2" | awk '{print $2}' | grep '^nd_' | sort) <(exported "$1"))
    if [ -n "$needed" ]; then
        printf '%s\n' "$needed" | sed 's/^/needed, but not exported: /' >&2
        exit 1
    fi
fi

# Check what neardup.h says of the second library: the headers whose functions it has.
if [ $# = 2 ]; then
    for header in include/neardup/*.h; do
        functions=$(declared_in "$header" || true) # types.h has none
        [ -n "$functions" ] || continue
        has=$(comm -12 <(echo "$functions") <(exported "$2") | wc -l)
        case $(basename "$header") in
        eval.h | explain.h | input.h | judging.h | plan.h | run.h | run_df.h | sweep.h | uses.h) expected=$(echo "$functions" | wc -l) ;;
        *) expected=0 ;;
        esac
        if [ "$has" != "$expected" ]; then
            echo "$header: $has functions are in $2, not $expected" >&2
            exit 1
        fi
    done
    for name in eval.h explain.h input.h judging.h plan.h run.h run_df.h sweep.h uses.h; do
        grep -q " \* .*$name" include/neardup.h || {
            echo "include/neardup.h does not say where $name is" >&2
            exit 1
        }
    done
fi
# A program that is linked with the static library may have a libstemmer of its own.
static=$(dirname "$1")/libneardup.a
others=$(nm -g --defined-only "$static" | awk 'NF == 3 && $3 !~ /^nd_/ { print $3 }')
if [ -n "$others" ]; then
    echo "$static defines other names than nd_…:" "$others" >&2
    exit 1
fi
echo "$(exported "$@" | wc -l) functions"
