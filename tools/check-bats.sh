#!/usr/bin/env bash
# check-bats.sh - each statement of a test can fail: of "a && b" bash lets a fail in silence
set -euo pipefail
cd "$(dirname "$0")/.."
# A test, a comparison or a search that begins a line, and then &&; `a && b || c` and `a && return` are
# conditions.
statements='^[[:space:]]+(\[ [^]]* \]|\[\[ .* \]\]|(cmp|diff|grep) [^&|;]*) && '
if tools/list-files.sh '*.bats' | xargs grep -nE "$statements" |
    grep -vE ' \|\| |&& (break|continue|return|skip)' >&2; then
    echo "write one command a line: only the last of a && b can fail a test" >&2
    exit 1
fi
