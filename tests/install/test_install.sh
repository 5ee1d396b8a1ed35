#!/usr/bin/env bash
# test_install.sh - programs outside the tree find the installed package by pkg-config and by CMake
#
# usage: tests/install/test_install.sh BUILD_DIRECTORY
set -euo pipefail
build=$(realpath "$1")
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "test_install: $1" >&2
    exit 1
}

printf '{"id":"a","text":"one"}\n{"id":"b","text":"two"}\n' >"$work/two.jsonl"
check_programs() { # C-PROGRAM C++-PROGRAM
    [ "$("$1")" = "2 duplicates 0: 16 of 16 shingles shared" ] || fail "$1 says: $("$1")"
    [ "$("$2" "$work/two.jsonl")" = $'a: one\nb: two' ] || fail "$2 says: $("$2" "$work/two.jsonl")"
}

cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/moved" # whoever packages it moves it
export LD_LIBRARY_PATH=$work/moved/lib PKG_CONFIG_PATH=$work/moved/lib/pkgconfig
if [ ! -d "$work/moved/lib" ]; then fail "no lib in the prefix"; fi

# shellcheck disable=SC2046 # the flags are words
{
    cc consumer.c -o "$work/c" $(pkg-config --cflags --libs neardup)
    c++ -std=c++11 consumer.cpp -o "$work/cpp" $(pkg-config --cflags --libs neardup-files)
    check_programs "$work/c" "$work/cpp"
    cc consumer.c -o "$work/c-static" $(pkg-config --cflags neardup) \
        "$work/moved/lib/libneardup.a" $(pkg-config --libs-only-other --static neardup) $(pkg-config --libs-only-l --static neardup |
            sed 's/-lneardup//')
    c++ -std=c++11 consumer.cpp -o "$work/cpp-static" $(pkg-config --cflags neardup-files) \
        "$work/moved/lib/libneardup_files.a" "$work/moved/lib/libneardup.a" \
        $(pkg-config --libs $(pkg-config --print-requires-private neardup-files)) \
        -lstdc++ -pthread $(pkg-config --libs-only-l --static neardup | sed 's/-lneardup//')
    LD_LIBRARY_PATH='' check_programs "$work/c-static" "$work/cpp-static"
}

cmake -S . -B "$work/build" -DCMAKE_PREFIX_PATH="$work/moved" >/dev/null
cmake --build "$work/build" >/dev/null
check_programs "$work/build/consumer_c" "$work/build/consumer_cpp"

# The examples are programs outside the tree too.
for example in ../../examples/*.c; do
    library=neardup
    if grep -q 'neardup/run\.h' "$example"; then library=neardup-files; fi
    # shellcheck disable=SC2046 # the flags are words
    cc -std=c11 "$example" -o "$work/example" $(pkg-config --cflags --libs $library)
    ../../examples/check.sh "$example" "$work/example" || fail "$example prints something else"
done

opened='glib|gmime|archive|xml'
if readelf -d "$work/moved/bin/neardup" "$work/moved/lib/libneardup_files.so" | grep -Ei "needed.*($opened)" ||
    pkg-config --print-requires-private neardup-files | grep -E "$opened"; then
    fail "GMime, libarchive or libxml2 is linked: they are to be opened where they are needed"
fi

[ -f "$work/moved/share/neardup/recipes/default.ini" ] || fail "no default recipe"
[ -n "$(find "$work/moved/share/man" -name neardup-dedup.1)" ] || fail "no manual"
env -u LD_LIBRARY_PATH "$work/moved/bin/neardup" --version >/dev/null ||
    fail "the installed command does not start"
# The command finds the program of the service where it is installed, wherever that was moved.
if [ -x "$build/neardup-server" ]; then
    said=$(env -u LD_LIBRARY_PATH "$work/moved/bin/neardup" client stats --url http://127.0.0.1:1 2>&1 || true)
    case $said in "neardup: http://127.0.0.1:1: "*) ;; *) fail "neardup client says: $said" ;; esac
fi
# The second library finds the first beside it, whatever program opens it.
readelf -d "$work/moved/lib/libneardup_files.so" | grep -q 'R.*PATH.*\[\$ORIGIN\]' ||
    fail "libneardup_files does not look beside itself"
readelf -d "$work/moved/bin/neardup" | grep -q 'R.*PATH.*\[\$ORIGIN/../lib' ||
    fail "the command does not look into its own lib"
said=$(PATH=/usr/bin:/bin ../../tools/after-install.sh "$work/moved" "$work/moved/lib")
for hint in "PATH=\"$work/moved/bin:" "LD_LIBRARY_PATH=\"$work/moved/lib\"" "PKG_CONFIG_PATH="; do
    [[ $said == *"$hint"* ]] || fail "the user is not told: $hint"
done
