#!/usr/bin/env bash
# list-files.sh - the files of the project, with generated and ignored ones left out
#
# usage: tools/list-files.sh [pattern ...], where a pattern is one of git's, such as '*.c'
set -euo pipefail
cd "$(dirname "$0")/.."

if git rev-parse --git-dir >/dev/null 2>&1; then
    git ls-files --cached --others --exclude-standard -- "$@" | while IFS= read -r file; do
        if [ -f "$file" ]; then printf '%s\n' "$file"; fi
    done
    exit
fi
# An archive of the sources, without git.
if [ $# -eq 0 ]; then set -- '*'; fi
for pattern in "$@"; do
    case $pattern in
    */*) find . -path "./$pattern" -type f -not -path './build/*' ;;
    *) find . -name "$pattern" -type f -not -path './build/*' ;;
    esac
done | sed 's|^\./||' | sort -u
