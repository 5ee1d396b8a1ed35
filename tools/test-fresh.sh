#!/usr/bin/env bash
# test-fresh.sh - make demo and a sample of the tests in a fresh Debian 12, so that a missing package shows
#
# usage: tools/test-fresh.sh
#
# The system has `make` and nothing else; tools/bootstrap.sh installs what tools/packages.txt names.
# Status 77: no such system can be made here; the last line says why.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/fresh-debian.sh
skip() {
    echo "skipped: $1"
    exit 77
}
lacking=$(fresh_debian_lacks) || skip "$lacking"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make_fresh_debian || skip "no Debian 12 can be made here"

root fresh
mkdir "$work/fresh/opt/neardup"
tools/list-files.sh | tar -cf - -T - | tar -xf - -C "$work/fresh/opt/neardup"
inside fresh sh -ec 'apt-get update -q >/dev/null && apt-get install -q -y --no-install-recommends make >/dev/null' ||
    skip "no package can be installed in a fresh Debian 12"

echo "== make demo"
inside fresh make -C /opt/neardup demo
[ -s "$work/fresh/opt/neardup/build/demo/kept.txt" ]

# The tests that call programs of other packages, or read what they find on the machine; nothing else is
# built, since `make test` has.
echo "== a sample of the tests"
inside fresh sh -ec 'cd /opt/neardup
    tools/bootstrap.sh build test
    examples=$(cd examples && ls *.c | sed "s/\.c$//; s/^/example_/")
    make all TARGET="$(echo neardup neardup-server test_csv test_keep test_text_utf8proc text_dump input_dump $examples)"
    ctest --preset release --parallel "$(nproc)" --no-tests=error --label-exclude "^slow$" \
        -R "^(test_csv|test_keep|test_text_utf8proc|unicode_tables|oracle_(text|input|mail)|cli_(archives|charset|completion|serve|terminal|tables)|check_text|example_.*)$"'
