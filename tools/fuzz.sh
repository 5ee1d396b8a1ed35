#!/usr/bin/env bash
# fuzz.sh - run every fuzz target for a while, as many at once as there are processors
#
# usage: tools/fuzz.sh [seconds [target ...]]
#
# FUZZ_SEED starts the random numbers of each target; without it every run tries other inputs.
# Seeds are in fuzz/corpus/<target>/; what a target learns stays in build/fuzz/learned/<target>/,
# inputs that break it in build/fuzz/found/.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
shift || true
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz
if [ $# -gt 0 ]; then targets=("$@"); else
    targets=()
    for source in fuzz/fuzz_*.c; do targets+=("$(basename "$source" .c)"); done
fi

run_target() {
    local target=$1 seconds=$2 log=build/fuzz/$1.log seeds=()
    mkdir -p "build/fuzz/learned/$target" build/fuzz/found
    if [ -d "fuzz/corpus/$target" ]; then seeds=("fuzz/corpus/$target"); fi
    if ! "build/fuzz/fuzz/$target" "build/fuzz/learned/$target" "${seeds[@]}" \
        -seed="${FUZZ_SEED:-0}" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 -max_len=16384 \
        -artifact_prefix="build/fuzz/found/$target-" >"$log" 2>&1 </dev/null; then
        echo "fuzz: $target FAILED, see $log:"
        tail -n 40 "$log"
        return 1
    fi
    echo "fuzz: $target: $(grep -o 'Done [0-9]* runs in [0-9]* second' "$log" | tail -n 1)s"
}
export -f run_target

printf '%s\n' "${targets[@]}" |
    xargs -P "$(nproc)" -I{} bash -c 'run_target "$1" "$2"' _ {} "$seconds"
