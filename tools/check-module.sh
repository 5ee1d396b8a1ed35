#!/usr/bin/env bash
# check-module.sh - the Python module exports its one function, needs the C library only, and keeps
# no state that changes
#
# usage: tools/check-module.sh MODULE.so [OBJECT.o ...]
#
# The objects are those of python/native.  What Python's own interface takes as not constant may stand
# in .data: definitions of modules, their slots, and tables of functions.
set -euo pipefail
status=0
complain() {
    echo "check-module: $1" >&2
    status=1
}

exported=$(nm -D --defined-only "$1" | awk '{ print $3 }')
[ "$exported" = PyInit__native ] || complain "$1 exports $(echo "$exported" | head -20 | tr '\n' ' ')"
needed=$(objdump -p "$1" | awk '$1 == "NEEDED" { print $2 }' |
    grep -vE '^(libc|libm|libpthread|ld-linux.*|libpython.*)\.so' || true)
[ -z "$needed" ] || complain "$1 needs $needed"
shift
for object in "$@"; do
    mutable=$(objdump -t "$object" | awk '
        $3 == "O" && $4 ~ /^\.(data|bss|tdata|tbss)/ && $4 !~ /^\.data\.rel\.ro/ { print $NF }
        $3 == "*COM*" || $2 == "*COM*" { print $NF }' | grep -vE '^(definition|slots|functions|nd_py_[a-z_]+_functions)$' || true)
    [ -z "$mutable" ] || complain "$object has what may change: $mutable"
done
exit $status
