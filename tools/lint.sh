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

echo "lint: formatting"
xargs clang-format-14 --dry-run -Werror <build/lint-files || failed "run 'make format'"

echo "lint: warnings of clang"
cmake -S . -B build/lint -G Ninja -DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14 \
    -DCMAKE_BUILD_TYPE=Debug -DNEARDUP_WERROR=ON >build/lint.log || cat build/lint.log
# clang-tidy reads what ships, and says what clang warns of; the tests are read by two compilers and
# three sanitizers.  Only what the build compiles for this machine has a command.  Sources of two programs
# are compiled twice: clang-tidy reads them once, by the last command.  Clang alone reads the rest, and
# makes nothing of it.
mkdir -p build/lint/once
python3 - <<'END'
import json, os, re

def reads(command):
    return re.sub(r" -o \S+", "", command["command"]) + " -fsyntax-only"

ours = [c for c in json.load(open("build/lint/compile_commands.json")) if not c["file"].startswith(os.getcwd() + "/build/")]
once = {c["file"]: c for c in ours}
ships = re.compile(re.escape(os.getcwd()) + r"/(src|cli|python/native)/(?!text/[a-z]*_table\.c$)")
tidied = {c["file"]: reads(c) for c in once.values() if ships.match(c["file"])}
with open("build/lint/once/compile_commands.json", "w") as out:
    json.dump(list(once.values()), out)
with open("build/lint/tidied", "w") as out:
    out.writelines(f"{file}\n" for file in sorted(tidied))
with open("build/lint/clang", "w") as out:
    out.writelines(sorted({f"cd '{c['directory']}' && {reads(c)}\n" for c in ours if tidied.get(c["file"]) != reads(c)}))
END
if ! [ -s build/lint/tidied ] || ! [ -s build/lint/clang ]; then failed "nothing is compiled"; fi
xargs -P "$(nproc)" -d '\n' -n 1 sh -c <build/lint/clang || failed "clang warns"

echo "lint: clang-tidy" # one file a process: clang-tidy 14 takes every va_list after the first file's for uninitialised
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
xargs -P "$(nproc)" -I{} bash -c 'tidy "$1"' _ {} <build/lint/tidied ||
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
