#!/usr/bin/env bash
# test-windows.sh - the command for Windows, built here and run under wine
#
# usage: tools/test-windows.sh
#
# build/release/neardup is the command that its results are compared with.  Status 77: it is skipped,
# for want of wine, of the cross compiler or of the sources of what it carries.
set -euo pipefail
cd "$(dirname "$0")/.."
skip() {
    echo "skipped: $1"
    exit 77
}
[ "$(uname -m)" = x86_64 ] || skip "wine runs programs for x86-64 alone"
command -v wine64 >/dev/null || [ -x /usr/lib/wine/wine64 ] || skip "wine is not there (tools/bootstrap.sh windows)"
tools/fetch-zig.sh build/zig || skip "PyPI has no ziglang for this machine, or cannot be reached"
tools/fetch-carried.sh build/carried || skip "Debian's sources cannot be reached"

# Its compiler is newer than those of the build, and warns of more.
cmake --preset windows >build/windows.log || { cat build/windows.log && exit 1; }
cmake --build --preset windows --target neardup
export WINEPREFIX=$PWD/build/wine WINEDEBUG=-all
server=$(command -v wineserver || echo /usr/lib/wine/wineserver64)
trap '"$server" -k' EXIT
"$server" -p # one server for all programs
tests/windows/compare.sh build/release/neardup build/windows/neardup.exe build/windows/compared
