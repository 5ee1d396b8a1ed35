#!/usr/bin/env bash
# check-links.sh - every link in a Markdown file leads to a file of the tree and a heading in it
#
# And every file that a comment or a page calls by its path (docs/..., tools/..., src/...) is there.
set -euo pipefail
cd "$(dirname "$0")/.."
status=0
complain() {
    echo "$1" >&2
    status=1
}

# The name that a heading is linked by: lower case, spaces to hyphens, punctuation dropped.
anchors() {
    sed -nE 's/^#+ +//p' "$1" | tr '[:upper:]' '[:lower:]' | sed -E 's/[^a-z0-9 _-]//g; s/ /-/g'
}

while IFS= read -r page; do
    while IFS= read -r link; do
        case $link in http://* | https://* | mailto:*) continue ;; esac
        file=${link%%#*}
        anchor=
        case $link in *'#'*) anchor=${link#*#} ;; esac
        target=$page
        if [ -n "$file" ]; then target=$(dirname "$page")/$file; fi
        if [ ! -e "$target" ]; then
            complain "$page: link to $link: no such file"
        elif [ -n "$anchor" ] && ! anchors "$target" | grep -qxF -- "$anchor"; then
            complain "$page: link to $link: no such heading"
        fi
    done < <(sed '/^```/,/^```/d' "$page" | grep -oE '\]\([^) ]+\)' | sed -E 's/^\]\(|\)$//g')
done < <(tools/list-files.sh '*.md')

while IFS=: read -r file named; do
    named=${named%.}
    [ -e "$named" ] || complain "$file: names $named, which is not there"
done < <(tools/list-files.sh '*.c' '*.h' '*.cpp' '*.md' '*.ini' '*.sh' '*.py' |
    grep -v '^tests/data/' |
    xargs -d '\n' grep -HoP '(?<![\w/.])(docs|tools|recipes|src|cli|man|bench|fuzz|tests|python)/[a-zA-Z0-9_./-]+\.(md|c|h|sh|py|txt|ini|cpp|1)\b')
exit $status
