#!/usr/bin/env bash
# check-text.sh - what must hold of the text of every file
set -euo pipefail
cd "$(dirname "$0")/.."
status=0
complain() {
    echo "$1" >&2
    status=1
}

# The first line (or the second, after #!) says what a file is.
while IFS= read -r file; do
    name=${file#include/}
    case $file in include/*) ;; *) name=${file##*/} ;; esac
    { IFS= read -r first && IFS= read -r second; } <"$file" || true
    case $first$'\n'$second in
    "/* $name - "* | '/*'$'\n'" * $name - "*) ;;
    "# $name - "* | "// $name - "*) ;;
    '#!'*$'\n'"# $name - "*) ;;
    '"""'* | '#!'*$'\n''"""'*) ;; # a module of Python says it in its docstring
    *) complain "$file: begins without '$name - what it is'" ;;
    esac
done < <(tools/list-files.sh '*.c' '*.h' '*.cpp' '*.sh' '*.py' '*.cmake' '*.ini' '*.bash' '*.bats' '*.go' '*.mjs' '*.css' |
    grep -v '^fuzz/corpus/\|^tests/data/')

# Nothing of the machine that a file was written on.  (The brackets keep this file out.)
machine='/wor[k]/|/tm[p]/data|/hom[e]/[a-z]|/roo[t]/|\.pkg\.de[v]|artifact-?registr[y]|worktre[e]'
if tools/list-files.sh | xargs -d '\n' grep -nIE "$machine" >&2; then
    complain "machine paths or hosts, above"
fi

# Text is UTF-8, lines end in \n, nothing trails, nothing is left to do.
sources=$(tools/list-files.sh '*.c' '*.h' '*.cpp' '*.sh' '*.py' '*.cmake' '*.md' '*.txt' '*.ini' \
    '*.bats' '*.mjs' '*.css' '*.html' CMakeLists.txt Makefile | grep -v '^fuzz/corpus/\|^tests/data/' || true)
if echo "$sources" | xargs -d '\n' grep -nIE $'[ \t\r]+$' >&2; then complain "trailing space, above"; fi
if echo "$sources" | xargs -d '\n' grep -nIwE 'TO''DO|FIX''ME|XX''X' >&2; then
    complain "unfinished places, above"
fi
# Comments and docstrings begin with a subject or an imperative, and mean something by themselves.
if echo "$sources" | grep -v '\.md$' | xargs -d '\n' \
    grep -nIE '^[[:space:]]*(/\*|//|\*|#|r?""") ?(Of|What|Where|Who|The same|Those) ' >&2; then
    complain "comments that begin with neither a subject nor an imperative, above"
fi
if echo "$sources" | xargs -d '\n' grep -nIE '^(<{7}|>{7})( |$)' >&2; then
    complain "marks of a merge, above"
fi
mapfile -t names <<<"$sources"
if ! iconv -f UTF-8 -t UTF-8 "${names[@]}" >/dev/null 2>&1; then
    for file in "${names[@]}"; do
        iconv -f UTF-8 -t UTF-8 "$file" >/dev/null 2>&1 || complain "$file: is not UTF-8"
    done
fi
python3 - "${names[@]}" <<'EOF' || status=1
import os, sys

bad = 0
for name in sys.argv[1:]:
    with open(name, "rb") as file:
        file.seek(max(os.path.getsize(name) - 1, 0))
        if file.read(1) not in (b"\n", b""):
            print(f"{name}: does not end its last line", file=sys.stderr)
            bad = 1
sys.exit(bad)
EOF
exit $status
