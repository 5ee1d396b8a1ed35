#!/usr/bin/env bash
# lint.sh - formatting, warnings of a second compiler, clang-tidy, cppcheck, shellcheck
set -euo pipefail
cd "$(dirname "$0")/.."
status=0
failed() {
    echo "lint: $1" >&2
    status=1
}
# Generated tables have the form that their generator gives them.
tools/list-files.sh '*.c' '*.h' '*.cpp' | grep -v '^src/text/[a-z]*_table\.c$' >build/lint-files
grep -E '\.(c|cpp)$' build/lint-files >build/lint-sources

echo "lint: formatting"
xargs clang-format-14 --dry-run -Werror <build/lint-files || failed "run 'make format'"

echo "lint: warnings of clang"
cmake -S . -B build/lint -G Ninja -DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14 \
    -DCMAKE_BUILD_TYPE=Debug -DNEARDUP_WERROR=ON >build/lint.log || cat build/lint.log
cmake --build build/lint >build/lint.log || {
    cat build/lint.log
    failed "clang warns"
}

echo "lint: clang-tidy"
grep -Ff build/lint-sources build/lint/compile_commands.json >/dev/null ||
    failed "nothing is compiled"
# These ship; the tests are read by two compilers and three sanitizers.  Only what the build compiles
# for this machine has a command to be checked with; one file a process, since clang-tidy 14 takes every va_list after the first file's for uninitialised.
# Sources of two programs are compiled twice: once is enough, and twice would be two files a process.
mkdir -p build/lint/once
python3 - build/lint/compile_commands.json >build/lint/once/compile_commands.json <<'END'
import json, sys
print(json.dumps(list({c["file"]: c for c in json.load(open(sys.argv[1]))}.values())))
END
# How far the analyzer follows a function is most of the time: LINT_NODES=4000 takes a tenth of it.
export LINT_NODES=${LINT_NODES:-225000}
# shellcheck disable=SC2317 # called by xargs
tidy() {
    local with=(--extra-arg=-include "--extra-arg=$PWD/tools/analyzer.h")
    for word in -Xclang -analyzer-config -Xclang "max-nodes=$LINT_NODES"; do
        with+=("--extra-arg=$word")
    done
    case $1 in */src/base/error.c) with=() ;; esac
    clang-tidy-14 -p build/lint/once --quiet "${with[@]}" "$1" 2>>build/lint.log
}
export -f tidy
sed -nE 's/^ *"file": "(.*)",?$/\1/p' build/lint/compile_commands.json | sort -u |
    grep -E "^$PWD/(src|cli|python/native)/" | grep -v '/src/text/[a-z]*_table\.c$' | xargs -P "$(nproc)" -I{} bash -c 'tidy "$1"' _ {} ||
    failed "clang-tidy complains"

echo "lint: cppcheck"
cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr -j "$(nproc)" \
    --suppressions-list=tools/cppcheck.txt --error-exitcode=1 -Iinclude -Isrc -Icli \
    src cli python/native || failed "cppcheck complains"

echo "lint: shellcheck"
{
    tools/list-files.sh '*.sh' '*.bash' '*.bats'
    echo .ci/run
} | xargs shellcheck -x || failed "shellcheck complains"

echo "lint: manual"
mandoc -T lint -W warning man/*.1 || failed "mandoc complains"
exit $status
