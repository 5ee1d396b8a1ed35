#!/usr/bin/env bash
# check.sh - run an example and compare what it prints with the comment at its top
#
# usage: examples/check.sh SOURCE.c PROGRAM
set -euo pipefail
source=$1
program=$(realpath "$2")
arguments=()
if grep -q '^ \* usage: .* INPUT OUTPUT$' "$source"; then
    out=$(mktemp)
    trap 'rm -f "$out"' EXIT
    arguments=("$(dirname "$source")/articles.jsonl" "$out")
fi
diff <(sed -n '/^ \* Prints/,/^ \*\//s/^ \*     //p' "$source") <("$program" "${arguments[@]}")
