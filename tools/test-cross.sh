#!/usr/bin/env bash
# test-cross.sh - what is built for other systems (cross.sh), built and tried here
#
# usage: tools/test-cross.sh [--quick] [TARGET...]      (default: all)
#
# Linux for this processor runs as it is, that for the other under qemu, Windows under wine; what is for
# macOS is built and not run.  The unit tests of the core, its kernels and its known answers are run,
# and the command beside build/release/neardup (tests/cross/compare.sh), on documents that are made and
# on a corpus of ../shared/data (or $NEARDUP_DATA), if it is there.  Unit tests that take long run at
# night (NEARDUP_NIGHTLY); with --quick only those of the kernels run.
# Status 77: it is skipped for want of the cross compiler, of the sources of what the command carries,
# or of emulators.
set -euo pipefail
cd "$(dirname "$0")/.."
sample=()
never='^(sketch_oracle|signature_oracle|big_endian_is_refused'
if [ "${1:-}" = --quick ]; then
    sample=(--label-regex '^kernels$')
    never+='|test_hamming_index$' # it takes minutes under qemu
    shift
fi
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(linux-x86_64 linux-x86_64-musl linux-aarch64 linux-aarch64-musl windows-x86_64 macos-arm64)
reuters=${NEARDUP_DATA:-../shared/data}/reuters21578/docs.jsonl.zst

# emulator TARGET: how its programs are run here.  1: they are not.
emulator() {
    case $1 in
    linux-"$(uname -m)"*) ;;
    linux-*)
        local processor=${1#linux-}
        processor=${processor%-musl}
        command -v "qemu-$processor-static" || command -v "qemu-$processor" || return 1
        # A program that is not static finds its C library where Debian has those of other processors.
        ;;
    windows-*)
        [ "$(uname -m)" = x86_64 ] || return 1
        command -v wine64 || command -v /usr/lib/wine/wine64 || return 1
        ;;
    *) return 1 ;;
    esac
}

server=
stop_wine() { [ -z "$server" ] || "$server" -k || true; }
trap stop_wine EXIT
start_wine() {
    export WINEPREFIX=$PWD/build/wine WINEDEBUG=-all
    mkdir -p "$WINEPREFIX"
    server=$(command -v wineserver || echo /usr/lib/wine/wineserver64)
    "$server" -p # one server for all programs
    # Its services begin with the first program and keep that one's output open, for which ctest would wait.
    "$1" cmd /c exit </dev/null >/dev/null 2>&1
}

left_out='^(once|slow)$'
[ -z "${NEARDUP_NIGHTLY:-}" ] || left_out='^once$'
tried=()
left=()
failed=()
for target in "${targets[@]}"; do
    tools/cross.sh "$target"
    if ! run=$(emulator "$target"); then
        left+=("$target")
        continue
    fi
    case $target in
    windows-*) [ -n "$server" ] || start_wine "$run" ;;
    linux-aarch64) export QEMU_LD_PREFIX=/usr/aarch64-linux-gnu ;;
    linux-x86_64) export QEMU_LD_PREFIX=/usr/x86_64-linux-gnu ;;
    esac
    cmake --build --preset "$target"
    ctest --preset "$target" --parallel "$(nproc)" --no-tests=error "${sample[@]}" --label-exclude "$left_out" --exclude-regex "$never)" ||
        failed+=("$target: unit tests")
    command=build/cross/$target/neardup
    [ -e "$command" ] || command=$command.exe
    compare() {
        tests/cross/compare.sh build/release/neardup "$run $command" "build/cross/$target/compared$1" "${@:2}" ||
            failed+=("$target: the command$1")
    }
    compare ""
    if [ -e "$reuters" ]; then compare -reuters "$reuters"; fi
    tried+=("$target")
done
echo "test-cross: tried: ${tried[*]:-none}; built, and not run here: ${left[*]:-none}"
if [ ${#failed[@]} -gt 0 ]; then
    printf 'test-cross: FAILED: %s\n' "${failed[@]}"
    exit 1
fi
[ ${#tried[@]} -gt 0 ] || {
    echo "skipped: no emulator for ${left[*]} (tools/bootstrap.sh windows test)"
    exit 77
}
