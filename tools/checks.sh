#!/usr/bin/env bash
# checks.sh - what is checked beside `make test`: a sample for every change, all of it at night
#
# usage: tools/checks.sh all|nightly
#
# Every step goes on where an earlier one failed.  build/checks/ holds what each said, and
# summary.tsv there one line a step: its name, ok, FAILED or skipped, its seconds, and why it was
# skipped.  Status 1: a step failed.  With CHECKS_SECONDS no step begins later than that; those that
# find the most come first.
set -euo pipefail
cd "$(dirname "$0")/.."
logs=build/checks
rm -rf "$logs"
mkdir -p "$logs"
printf 'step\tresult\tseconds\treason\n' >"$logs/summary.tsv"
jobs=$(nproc)

# step NAME COMMAND...: status 77 says that it is skipped, and its last line why.
step() {
    local name=$1 start=$SECONDS result=ok reason=
    shift
    if [ "$SECONDS" -gt "${CHECKS_SECONDS:-$SECONDS}" ]; then
        skip "$name" "the time is over that this run may take; make test-all by itself has no limit"
        return
    fi
    echo "== $name: $*"
    "$@" </dev/null 2>&1 | tee "$logs/$name.log" ||
        case ${PIPESTATUS[0]} in 77) result=skipped ;; *) result=FAILED ;; esac
    if [ "$result" = skipped ]; then reason=$(tail -n 1 "$logs/$name.log"); fi
    echo "== $name: $result after $((SECONDS - start)) s"
    printf '%s\t%s\t%s\t%s\n' "$name" "$result" $((SECONDS - start)) "${reason#skipped: }" >>"$logs/summary.tsv"
}

# skip NAME REASON: a step that this machine cannot run.
skip() {
    echo "== $1: skipped: $2"
    printf '%s\tskipped\t0\t%s\n' "$1" "$2" >>"$logs/summary.tsv"
}

# build PRESET [TARGET...]
build() {
    local preset=$1
    shift
    cmake --preset "$preset" -DNEARDUP_WERROR=ON >/dev/null &&
        cmake --build --preset "$preset" ${1:+--target "$@"}
}

# sanitized [OPTION...]: tests under the address and undefined-behaviour sanitizers.  The thread of
# LeakSanitizer that looks for leaks has crashed itself once, which 510 more runs of that test did not
# repeat: tests that failed by nothing else are run once more.
sanitized() {
    local logs=build/asan/Testing/Temporary
    build asan || return 1
    ctest --preset asan --parallel "$jobs" "$@" && return
    [ "$(grep -c 'LeakSanitizer has encountered a fatal error' "$logs/LastTest.log")" -eq \
        "$(wc -l <"$logs/LastTestsFailed.log")" ] &&
        ctest --preset asan --parallel "$jobs" --rerun-failed
}

# forced CPU [OPTION...]: tests on one kind of kernels; `make test` ran the best of this processor.
forced() {
    NEARDUP_CPU=$1 ctest --preset release --parallel "$jobs" "${@:2}"
}

# each_cpu OPTION...: the tests on each other kind of kernels that this processor has.
each_cpu() {
    if [ "$(uname -m)" != x86_64 ]; then
        skip forced "only x86-64 has more than one kind of kernels"
        return
    fi
    step forced-scalar forced scalar "$@"
    if ! grep -qw avx512bw /proc/cpuinfo; then
        skip forced-avx2 "make test ran the best kernels of this processor, which has no AVX-512"
    else
        step forced-avx2 forced avx2 "$@"
    fi
}

# The NEON kernels, cross-compiled and run under qemu.
neon() {
    build aarch64 && ctest --preset aarch64 --parallel "$jobs"
}

# The command with four threads under the thread sanitizer, over the sources themselves; a store; and
# the server.
threaded() {
    build tsan neardup test_pool test_lock test_store_threads test_segments test_compact \
        serve_for_tests &&
        build/tsan/tests/test_pool && build/tsan/tests/test_lock &&
        build/tsan/tests/test_store_threads && build/tsan/tests/test_segments &&
        build/tsan/tests/test_compact &&
        python3 tests/server/http.py build/tsan/tests/serve_for_tests || return 1
    local recipe keep out=(--unit paragraph --threads 4 --manifest build/tsan/removed.jsonl -o build/tsan/kept)
    for keep in first longest; do
        build/tsan/neardup dedup src cli include tests docs "${out[@]}" --keep "$keep" || return 1
    done
    for recipe in henzinger-2006-combined manku-2007; do
        build/tsan/neardup dedup src cli tests "${out[@]}" --recipe "$recipe" || return 1
    done
}

# Every fuzz target, those that read files (fuzz/fuzz_input.h) the longest.  With the same seed nearly the same inputs each time: a finding is a change's
# own.  `make fuzz` takes other inputs.
fuzz() {
    local readers=(fuzz_tokeniser) others=() source name
    for source in fuzz/fuzz_*.c; do
        name=$(basename "$source" .c)
        if grep -q '"fuzz_input.h"' "$source"; then readers+=("$name"); else
            case " ${readers[*]} " in *" $name "*) ;; *) others+=("$name") ;; esac
        fi
    done
    FUZZ_SEED=1 tools/fuzz.sh 60 "${readers[@]}" && FUZZ_SEED=1 tools/fuzz.sh 10 "${others[@]}"
}

# The package's form, types, stubs and docstrings, in the environment that its tests made.
lint_python() {
    step lint-python tools/lint-python.sh build/lint-python build/python-frameworks
    if [ "$(tail -n 1 "$logs/summary.tsv" | cut -f 2)" = FAILED ] && grep -q '^lint-python: skipped' "$logs/lint-python.log"; then
        sed -i '$d' "$logs/summary.tsv"
        skip lint-python "PyPI cannot be reached"
    fi
}

spark_step() {
    local missing
    if missing=$(tools/test-spark.sh --check); then
        step spark tools/test-spark.sh build/python-spark "$PWD/build/release/neardup"
    else
        skip spark "$missing"
    fi
}

# The page of the service, by its own and in a browser.
page_steps() {
    local missing
    step page-code tools/test-page.sh code build/page
    if missing=$(tools/test-page.sh --check); then
        step page tools/test-page.sh browser build/page "$PWD/build/release/neardup"
    else
        skip page "$missing"
    fi
}

# The service gets requests that its description for programs allows, and others.
api_step() {
    if build/release/neardup serve --help >/dev/null 2>&1; then
        step api tools/test-api.sh build/api "$PWD/build/release/neardup" "$1"
    else
        skip api "neardup is built without the service"
    fi
}

# An extension module with sanitizers gets everything that Python code can pass; in the environment of
# test-python.sh.
hostile_python() {
    build asan _native && tools/test-python-asan.sh build/python-frameworks/bin/python
}

# For other systems: the command, which gives the same bytes as here, and the unit tests of the core; those
# of the kernels alone under qemu, which is slow.
cross_steps() {
    step windows tools/test-cross.sh windows-x86_64
    step arm tools/test-cross.sh --quick linux-aarch64-musl
}

neon_step() {
    if [ "$(uname -m)" = x86_64 ]; then step neon neon; else
        skip neon "make test ran them, or this processor is neither x86-64 nor ARM"
    fi
}

case ${1:-} in
all)
    LINT_NODES=4000 step lint tools/lint.sh
    step sanitized sanitized -L '^sanitized$'
    step python tools/test-python.sh frameworks build/python-frameworks "$PWD/build/release/neardup"
    lint_python
    step fresh tools/test-fresh.sh
    spark_step
    step packaging tools/check-packaging.sh
    step release tools/check-release.sh sources manual packaging
    each_cpu -L '^kernels$'
    neon_step
    cross_steps
    step site tools/make-site.sh
    page_steps
    api_step 75
    step duckdb tools/make-duckdb.sh
    step slow ctest --preset release --parallel "$jobs" --no-tests=error -L '^slow$'
    step eval tools/test-eval.sh build/eval "$PWD/build/release/neardup"
    step python-asan hostile_python
    ;;
nightly)
    export NEARDUP_NIGHTLY=1
    step lint tools/lint.sh
    step sanitized sanitized --label-exclude unsanitized
    each_cpu --label-exclude once
    neon_step
    step threaded threaded
    step release tools/check-release.sh sources python debian command systems manual packaging
    step packages tools/check-packages.sh
    step fuzz fuzz
    step python tools/test-python.sh frameworks build/python-frameworks "$PWD/build/release/neardup"
    spark_step
    page_steps
    API_SEED=$(date +%j) api_step 600
    step cross tools/test-cross.sh # the cross compiler first compiles a C library for each system
    ;;
*)
    echo "usage: tools/checks.sh all|nightly" >&2
    exit 2
    ;;
esac

echo
echo "== $SECONDS s in all; what each run of the tests said:"
for log in "$logs"/{slow,sanitized,forced-scalar,forced-avx2,windows,neon}.log; do
    if [ -f "$log" ]; then
        echo "-- $(basename "$log" .log)"
        sed -n '/tests passed/,$p' "$log"
    fi
done
echo "== the steps:"
column -t -s $'\t' "$logs/summary.tsv" 2>/dev/null || cat "$logs/summary.tsv"
! cut -f 2 "$logs/summary.tsv" | grep -q FAILED
