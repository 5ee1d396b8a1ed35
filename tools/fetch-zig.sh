#!/usr/bin/env bash
# fetch-zig.sh - the cross compiler that builds neardup for other systems: zig's clang, from PyPI
#
# usage: tools/fetch-zig.sh FOLDER
#
# FOLDER gets the programs cc, c++, ar and ranlib: compilers for every system, which are told by
# -target (cmake/cross.cmake).  PyPI's package ziglang has the headers and the C libraries of all of
# them.  c++ links as cc does, so that no library of C++ is compiled first: neardup has what it needs of
# one (src/input/formats/simdjson_runtime.cpp).  Nothing happens where FOLDER has this version.
set -euo pipefail
version=0.17.1
made="$version, c++ links as cc" # also how the programs are made
folder=$(realpath -m "$1")
is_there() { [ "$(cat "$folder/VERSION" 2>/dev/null)" = "$made" ]; }
! is_there || exit 0

mkdir -p "$(dirname "$folder")"
exec 9>"$folder.lock"
flock 9 # other builds of this tree wait for the first one
! is_there || exit 0
rm -rf "$folder"
mkdir -p "$folder"
python3 -m venv "$folder/venv" >&2
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "ziglang==$version" >&2
zig=$("$folder/venv/bin/python" -c 'import os, ziglang; print(os.path.join(os.path.dirname(ziglang.__file__), "zig"))')
for program in cc ar ranlib; do
    printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$zig" "$program" >"$folder/$program"
done
printf '#!/bin/sh\ncase " $* " in *" -c "*) exec "%s" c++ "$@" ;; *) exec "%s" cc "$@" ;; esac\n' "$zig" "$zig" >"$folder/c++"
chmod +x "$folder"/{cc,c++,ar,ranlib}
echo "$made" >"$folder/VERSION"
