#!/usr/bin/env bash
# check-headers.sh - neardup.h has every public header, and each compiles alone, as C99 and C++11; no two
# headers of the tree define one name
set -euo pipefail
cd "$(dirname "$0")/.."

for header in include/neardup/*.h; do
    grep -q "^#include <${header#include/}>" include/neardup.h || {
        echo "include/neardup.h leaves out ${header#include/}" >&2
        exit 1
    }
done

twice=$(find include src cli python/native -name '*.h' -exec sed -nE 's/^((struct|enum) nd_[a-z0-9_]+) \{.*/\1/p' {} + |
    sort | uniq -d)
[ -z "$twice" ] || {
    echo "two headers define one name:" "$twice" >&2
    exit 1
}

warnings=(-Wall -Wextra -pedantic -Werror -fsyntax-only -Iinclude)
for header in include/neardup.h include/neardup/*.h; do
    name=${header#include/}
    echo "#include <$name>" | "${CC:-cc}" -std=c99 "${warnings[@]}" -x c -
    echo "#include <$name>" | "${CXX:-c++}" -std=c++11 "${warnings[@]}" -x c++ -
done
