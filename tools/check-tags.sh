#!/usr/bin/env bash
# check-tags.sh - a struct, union or enum tag means one thing, and so does the name of a file
#
# Each tag is defined once, in whichever file, and each name of a file is borne by one file.  A .c and its .h
# have one name.  What src/base/system promises is defined again for Windows.
set -euo pipefail
cd "$(dirname "$0")/.."

files=$(tools/list-files.sh 'src/*.c' 'src/*.h' 'src/*.cpp' 'cli/*.c' 'cli/*.h' 'include/*.h' \
    'python/native/*.c' 'python/native/*.h' 'duckdb/*.c' 'duckdb/*.h')
status=0

echo "$files" | xargs awk '
    FILENAME ~ /base\/system\/windows_/ { next }
    /^(struct|union|enum) [a-z_0-9]+ *\{/ {
        tag = $2
        sub(/\{.*/, "", tag)
        if (tag in place) {
            print FILENAME ":" FNR ": " $1 " " tag " is also defined in " place[tag] > "/dev/stderr"
            bad = 1
        }
        place[tag] = FILENAME ":" FNR
    }
    END { exit bad }' || status=1

echo "$files" | awk -F / '
    $NF in place {
        print $0 ": a file of this name is also in " place[$NF] > "/dev/stderr"
        bad = 1
    }
    { place[$NF] = $0 }
    END { exit bad }' || status=1
exit $status
