#!/usr/bin/env bash
# check-oneline.sh - the core compiles with one line of cc, without any build system, and works
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(mktemp)
trap 'rm -f "$program"' EXIT

# Stemming takes Snowball's sources, where a build has fetched them.
stemmer=build/libstemmer with=()
if [ -d "$stemmer" ]; then with=(-DND_WITH_STEMMER "-I$stemmer/include" "$stemmer"/{libstemmer,runtime,src_c}/*.c); fi
shopt -s nullglob && cc -O0 -Iinclude -Isrc "${with[@]}" src/{base,base/*,simd,simd/*,recipe,text,feature,feature/*,sketch,index,match,record,engine,engine/*,candidates}/*.c \
    tests/install/consumer.c -o "$program" -pthread -lm
"$program"
