#!/usr/bin/env bash
# check-headers.sh - each public header compiles alone, as C99 and as C++11
set -euo pipefail
cd "$(dirname "$0")/.."

warnings=(-Wall -Wextra -pedantic -Werror -fsyntax-only -Iinclude)
for header in include/neardup.h include/neardup/*.h; do
    name=${header#include/}
    echo "#include <$name>" | "${CC:-cc}" -std=c99 "${warnings[@]}" -x c -
    echo "#include <$name>" | "${CXX:-c++}" -std=c++11 "${warnings[@]}" -x c++ -
done
