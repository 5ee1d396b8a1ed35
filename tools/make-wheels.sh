#!/usr/bin/env bash
# make-wheels.sh - the wheels of all systems that this machine builds for
#
# usage: tools/make-wheels.sh [FOLDER]      (default: build/wheel)
#
# That of this machine has the command and the module (make-wheel.sh).  Those for Windows and macOS have
# the command alone, as their cross builds make it: build/windows and build/macos, where these have been
# built.  FOLDER/dist has all.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "${1:-build/wheel}")
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
export SOURCE_DATE_EPOCH
tools/make-wheel.sh "$folder"
described=$(ls "$folder"/dist/*-abi3-*.whl)

# add COMMAND PLATFORM: the wheel of a cross build, if it has been made.
add() {
    if [ ! -x "$1" ]; then
        echo "make-wheels: no wheel for $2: $1 has not been built"
        return
    fi
    local wheel bytes stripped
    stripped=$(mktemp -d)
    cp "$1" "$stripped/"
    case $2 in # the other strip knows no Mach-O
    win_*) strip "$stripped/$(basename "$1")" ;;
    esac
    wheel=$(python3 tools/command_wheel.py "$stripped/$(basename "$1")" "$2" "$described" "$folder/dist")
    rm -r "$stripped"
    bytes=$(stat -c %s "$wheel")
    [ "$bytes" -le 3000000 ] || {
        echo "make-wheels: $wheel has $bytes bytes, more than 3000000" >&2
        exit 1
    }
    # pip of another system would take it.
    rm -rf "$folder/try-$2"
    "$folder/try-wheel/bin/pip" install --quiet --disable-pip-version-check --no-index --only-binary :all: --platform "$2" \
        --target "$folder/try-$2" "$wheel"
    [ -x "$folder/try-$2/bin/$(basename "$1")" ] || {
        echo "make-wheels: the wheel for $2 does not bring the command" >&2
        exit 1
    }
    echo "make-wheels: $(basename "$wheel"), $bytes bytes: installed for $2$(try_run "$folder/try-$2/bin/$(basename "$1")")"
}

# Run a command of Windows under wine, if there is one.
try_run() {
    local wine
    wine=$(command -v wine64 || command -v wine || command -v /usr/lib/wine/wine64 || true)
    case $1 in
    *.exe) ;;
    *) wine= ;;
    esac
    if [ -z "$wine" ]; then
        echo ', and not run'
        return
    fi
    [ "$(WINEPREFIX=$folder/wine WINEDEBUG=-all "$wine" "$1" --version | tr -d '\r')" = "neardup $(sed -n 's/^#define ND_VERSION "\(.*\)"/\1/p' include/neardup/version.h)" ] ||
        {
            echo "make-wheels: $1 does not say its version under wine" >&2
            exit 1
        }
    echo ', and run under wine'
}

add build/windows/neardup.exe win_amd64
add build/macos/neardup macosx_11_0_arm64
