#!/usr/bin/env bash
# test-python-asan.sh - what Python code can pass, against an extension module with sanitizers
#
# usage: tools/test-python-asan.sh PYTHON [TEST ...]      (default: test_robust.py, test_sketch_file.py)
#
# PYTHON has pytest and hypothesis, and is of the version whose headers the build finds.  The
# interpreter itself is not sanitized: leaks are not looked for, as it keeps memory on purpose.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(realpath -s "$1")
shift
tests=python/tests
if [ $# -eq 0 ]; then set -- "$tests"/test_{robust,sketch_file}.py; fi

package=build/asan/python-package
module=$(ls build/asan/python/native/_native*.so)
rm -rf "$package"
mkdir -p "$package"
cp -R python/src/neardup "$package/neardup"
cp "$module" "$package/neardup/"
asan=$(cc -print-file-name=libasan.so) ubsan=$(cc -print-file-name=libubsan.so)
# A request for more memory than there is gets NULL, as from malloc.
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:abort_on_error=1
export UBSAN_OPTIONS=print_stacktrace=1
LD_PRELOAD="$asan:$ubsan" PYTHONMALLOC=malloc PYTHONPATH=$PWD/$package PYTHONDONTWRITEBYTECODE=1 \
    "$python" -P -X faulthandler -m pytest -q -p no:cacheprovider --rootdir python "$@"
