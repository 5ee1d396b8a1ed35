#!/usr/bin/env bash
# check-sizes.sh - a file holds one idea (1,200 lines at most), a function is read without scrolling (80)
#
# tools/sizes.txt lists the exceptions, each with its reason.
set -euo pipefail
cd "$(dirname "$0")/.."

tools/list-files.sh '*.c' '*.h' '*.cpp' | xargs awk '
    function excepted(what) { return what in exception }
    BEGIN {
        while ((getline line < "tools/sizes.txt") > 0)
            if (line !~ /^#/ && split(line, word, /[ \t]+/) > 1)
                exception[word[1]] = 1
    }
    FNR == 1 { finish_file() ; file = FILENAME; start = 0 }
    /^[a-zA-Z_].*\(/ { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name) }
    /^\{/ { start = FNR }
    /^\}/ {
        if (start && FNR - start + 1 > 82 && !excepted(file ":" name))
            complain(file ":" start ": " name " has " FNR - start - 1 " lines")
        start = 0
    }
    { lines = FNR }
    function finish_file() {
        if (file && lines > 1200 && !excepted(file))
            complain(file ": " lines " lines")
    }
    function complain(what) { print what > "/dev/stderr"; bad = 1 }
    END { finish_file(); exit bad }'
