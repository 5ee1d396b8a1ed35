#!/usr/bin/env bash
# make-wheels.sh - the wheels of all systems, made, checked and, where that is possible, tried here
#
# usage: tools/make-wheels.sh [FOLDER]      (default: build/wheel)
#
# On Linux with glibc, x86-64 and aarch64, a wheel has the command and the module; that of this machine
# is of make-wheel.sh.  On Alpine (musl), Windows and macOS it has the command alone.  The commands are
# those of tools/cross.sh.  auditwheel, twine and check-wheel-contents have to be content with each, and
# for macOS macholib, since delocate needs macOS' otool.  Each is installed by pip as that system would,
# and what qemu and wine can run decides as this machine's command does.  FOLDER/dist has all of them,
# and the source distribution.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "${1:-build/wheel}")
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
export SOURCE_DATE_EPOCH
fail() {
    echo "make-wheels: $1" >&2
    exit 1
}
case $(uname -m) in
x86_64) other=aarch64 ;;
aarch64) other=x86_64 ;;
*) fail "there are wheels for x86-64 and aarch64 alone" ;;
esac
tools/make-wheel.sh "$folder"
described=$(ls "$folder"/dist/*-abi3-*.whl)
tools="$folder/tools/bin"
[ -x "$tools/twine" ] || "$tools/pip" install --quiet --disable-pip-version-check twine check-wheel-contents macholib

# Compile the module of another kind of Linux, of what the source distribution has.  A module needs of
# Python its headers alone, which are the same for all 64-bit systems of Linux.
make_module() { # MACHINE
    local headers=$folder/headers
    rm -rf "$headers"
    cp -RL "$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')" "$headers"
    cp -L "$(python3 -c 'import sysconfig; print(sysconfig.get_config_h_filename())')" "$headers/pyconfig.h"
    {
        cmake -S "$folder/stage" -B "$folder/module-$1" -G Ninja --toolchain "$PWD/cmake/cross.cmake" \
            -D "NEARDUP_TARGET=linux-$1" -D NEARDUP_CARRIED=OFF -D CMAKE_BUILD_TYPE=Release \
            -D CMAKE_MODULE_LINKER_FLAGS=-s -D "Python_EXECUTABLE=$(command -v python3)" -D "Python_INCLUDE_DIR=$headers"
        cmake --build "$folder/module-$1" --target _native
    } >"$folder/log-$1" 2>&1 || {
        tail -20 "$folder/log-$1" >&2
        fail "the module for $1 cannot be compiled"
    }
    tools/check-module.sh "$folder/module-$1/native/_native.abi3.so"
}

# Run a command of another system, by an emulator if need be.  Status 77: nothing here can.
run_for() { # TARGET COMMAND ARGUMENT...
    local target=$1 wine
    shift
    case $target in
    "linux-$(uname -m)" | "linux-$(uname -m)-musl") "$@" ;;
    "linux-$other-musl")
        command -v "qemu-$other" >/dev/null || return 77
        "qemu-$other" "$@"
        ;;
    "linux-$other")
        [ -d "$folder/root-$other" ] || return 77
        "qemu-$other" -L "$folder/root-$other" "$@"
        ;;
    windows-*)
        wine=$(command -v wine64 || command -v wine || command -v /usr/lib/wine/wine64) || return 77
        WINEPREFIX=$folder/wine WINEDEBUG=-all "$wine" "$@"
        ;;
    *) return 77 ;;
    esac
}

# A system of the other kind with Python, unpacked and not started, whose programs qemu runs.
make_root() {
    [ ! -d "$folder/root-$other" ] || return 0
    command -v mmdebstrap >/dev/null && command -v "qemu-$other" >/dev/null || return 0
    local debian=arm64
    [ "$other" = aarch64 ] || debian=amd64
    mmdebstrap --quiet --variant=extract --architectures="$debian" --include=python3 bookworm "$folder/root.new" \
        >"$folder/log-root" 2>&1 || {
        rm -rf "$folder/root.new"
        return 0
    }
    mv "$folder/root.new" "$folder/root-$other"
}

# Run what pip has installed, beside what this machine's wheel says of the same documents.
try_run() { # TARGET FOLDER PROGRAM
    local status=0 native=$folder/try-wheel/bin/neardup said modules=
    cp "$folder/in.jsonl.gz" "$2/in.jsonl.gz"
    (cd "$2" && run_for "$1" "bin/$3" dedup -q in.jsonl.gz -o out.jsonl.zst --manifest manifest.jsonl) </dev/null || status=$?
    if [ "$status" = 77 ]; then
        echo 'and not run, since nothing here can'
        return
    fi
    [ "$status" = 0 ] || fail "the command for $1 ends with status $status"
    (cd "$2" && "$native" dedup -q in.jsonl.gz -o here.jsonl.zst --manifest here.manifest) || fail "the command of this machine fails"
    cmp "$2/out.jsonl.zst" "$2/here.jsonl.zst" || fail "the command for $1 keeps other documents"
    cmp "$2/manifest.jsonl" "$2/here.manifest" || fail "the command for $1 writes another manifest"
    said=$(run_for "$1" "$2/bin/$3" --version | tr -d '\r')
    [ "$said" = "$("$native" --version)" ] || fail "the command for $1 says: $said"
    # A library that a build does without cannot be installed.
    (run_for "$1" "$2/bin/$3" doctor || true) | tr -d '\r' >"$folder/said"
    case $1 in
    *-musl | windows-*) grep -q "^libxml2.left out" "$folder/said" ;;
    *) grep -qE "^libxml2.(found|missing)" "$folder/said" ;;
    esac || fail "the command for $1 says of libxml2: $(grep libxml2 "$folder/said")"
    if [ "$1" = "linux-$other" ]; then
        said=$(PYTHONPATH=$2 run_for "$1" "$(echo "$folder/root-$other"/usr/bin/python3.[0-9]*)" -S -c \
            'import neardup; print(len(neardup.dedup(["one two three", "four five", "One two three!"]).survivors))')
        [ "$said" = 2 ] || fail "the module for $1 says: $said"
        modules=' and the module'
    fi
    echo "the command$modules run"
}

# check WHEEL TARGET PLATFORM: the size, what the checkers of wheels say, and pip of that system.
check() {
    local bytes command=neardup installed=$folder/try-$2
    bytes=$(stat -c %s "$1")
    [ "$bytes" -le 3000000 ] || fail "$1 has $bytes bytes, more than 3000000"
    "$tools/twine" check --strict "$1" >"$folder/said" 2>&1 || fail "twine: $(cat "$folder/said")"
    "$tools/check-wheel-contents" "$1" >"$folder/said" || fail "check-wheel-contents: $(cat "$folder/said")"
    case $3 in
    manylinux_*)
        "$tools/auditwheel" show "$1" >"$folder/said" || fail "auditwheel: $(cat "$folder/said")"
        tr '\n' ' ' <"$folder/said" | grep -q "following platform tag: \"$3\"" || fail "auditwheel: $(cat "$folder/said")"
        ;;
    macosx_*)
        python3 -m zipfile -e "$1" "$folder/unpacked-$2"
        "$tools/python" - "$folder/unpacked-$2"/*.data/scripts/neardup <<'END' || fail "the command for macOS needs what macOS has not"
import sys
from macholib.MachO import MachO
from macholib.mach_o import LC_LOAD_DYLIB

for header in MachO(sys.argv[1]).headers:
    needed = [data.rstrip(b"\0").decode() for load, command, data in header.commands if load.cmd == LC_LOAD_DYLIB]
    assert needed and all(name.startswith("/usr/lib/") for name in needed), needed
END
        ;;
    win_*) command=neardup.exe ;;
    esac
    rm -rf "$installed"
    "$folder/try-wheel/bin/pip" install --quiet --disable-pip-version-check --no-index --only-binary :all: --platform "$3" \
        --target "$installed" "$1"
    [ -x "$installed/bin/$command" ] || fail "the wheel for $2 does not bring the command"
    said=$(try_run "$2" "$installed" "$command")
    echo "make-wheels: $(basename "$1"), $bytes bytes: checked, installed, $said"
}

# add TARGET PLATFORM [MODULE]: make the wheel of a command, and check it.
add() {
    local command=build/cross/$1/neardup wheel
    [ -e "$command" ] || command=$command.exe
    [ -e "$command" ] || fail "$command is not there"
    wheel=$(python3 tools/command_wheel.py "$command" "$2" "$described" "$folder/dist" ${3:+"$3"})
    check "$wheel" "$1" "$2"
}

tools/cross.sh >"$folder/log-cross" 2>&1 || {
    tail -20 "$folder/log-cross" >&2
    fail "the commands of other systems cannot be built"
}
check "$described" "linux-$(uname -m)" "manylinux_2_34_$(uname -m)"
make_root
make_module "$other"
add "linux-$other" "manylinux_2_34_$other" "$folder/module-$other/native/_native.abi3.so"
add linux-x86_64-musl musllinux_1_1_x86_64
add linux-aarch64-musl musllinux_1_1_aarch64
add windows-x86_64 win_amd64
add macos-arm64 macosx_11_0_arm64

# From the whole folder, pip and uvx take the one of this system, as the page on installing says.
rm -rf "$folder/try-all"
python3 -m venv "$folder/try-all"
"$folder/try-all/bin/pip" install --quiet --disable-pip-version-check --no-index --find-links "$folder/dist" neardup
said=$("$folder/try-all/bin/python" -P -c 'import neardup; print(neardup.__version__)')
[ "$("$folder/try-all/bin/neardup" --version)" = "neardup $said" ] || fail "pip takes another wheel of the folder"
if [ -x "$tools/uvx" ]; then
    said=$(UV_CACHE_DIR=$folder/uv "$tools/uvx" --quiet --no-config --no-index --find-links "$folder/dist" neardup --version)
    [ "$said" = "$("$folder/try-all/bin/neardup" --version)" ] || fail "uvx takes another wheel of the folder: $said"
fi
echo "make-wheels: $(find "$folder/dist" -name '*.whl' | wc -l) wheels; of the folder, pip takes that of this system"
