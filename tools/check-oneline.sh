#!/usr/bin/env bash
# check-oneline.sh - the core compiles with one line of cc, without any build system, and works
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(mktemp)
trap 'rm -f "$program"' EXIT

shopt -s nullglob && cc -O0 -Iinclude -Isrc src/{base,simd,recipe,text,feature,sketch,index,match,cluster,engine}/*.c \
    tests/install/consumer.c -o "$program" -pthread -lm
"$program"
