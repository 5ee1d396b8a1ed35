#!/usr/bin/env bash
# check-tags.sh - a struct, union or enum tag means one thing in src/
#
# The tags of a header and those with the prefix of the library are seen by more than one file: each is
# defined once.  A tag without the prefix in a .c is that file's own.
set -euo pipefail
cd "$(dirname "$0")/.."

tools/list-files.sh 'src/*.c' 'src/*.h' 'src/*.cpp' | xargs awk '
    /^(struct|union|enum) [a-z_0-9]+ *\{/ {
        tag = $2
        sub(/\{.*/, "", tag)
        if (FILENAME !~ /\.h$/ && tag !~ /^nd_/)
            next
        if (tag in place) {
            print FILENAME ":" FNR ": " $1 " " tag " is also defined in " place[tag] > "/dev/stderr"
            bad = 1
        }
        place[tag] = FILENAME ":" FNR
    }
    END { exit bad }'
