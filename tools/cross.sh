#!/usr/bin/env bash
# cross.sh - the command and the libraries for other systems, by a cross compiler that PyPI has
#
# usage: tools/cross.sh [TARGET...]      (default: all)
#
# A target is a preset of CMakePresets.json: linux-x86_64, linux-aarch64 (glibc 2.34 or later),
# linux-x86_64-musl, linux-aarch64-musl (static), windows-x86_64, macos-arm64.  build/cross/TARGET gets
# neardup or neardup.exe, stripped, and libneardup.a and libneardup_files.a.  What a file needs of its
# system is checked.  Status 77: this machine cannot have the compiler or the sources of what the
# command carries (zlib, zstd, ISA-L, simdjson).  tools/test-cross.sh tries what was built.
set -euo pipefail
cd "$(dirname "$0")/.."
all=(linux-x86_64 linux-x86_64-musl linux-aarch64 linux-aarch64-musl windows-x86_64 macos-arm64)
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=("${all[@]}")
for target in "${targets[@]}"; do
    case " ${all[*]} " in *" $target "*) ;; *)
        echo "usage: tools/cross.sh [TARGET...], of: ${all[*]}" >&2
        exit 2
        ;;
    esac
done
skip() {
    echo "skipped: $1"
    exit 77
}
tools/fetch-zig.sh build/zig || skip "PyPI has no ziglang for this machine, or cannot be reached"
tools/fetch-carried.sh build/carried || skip "Debian's sources cannot be reached"

complain() {
    echo "cross: $1" >&2
    exit 1
}

# needs FILE TARGET: what the file needs is what each such system has.
needs() {
    local newest
    case $2 in
    *-musl)
        ! readelf -lW "$1" | grep -qE 'INTERP|NEEDED' || complain "$1 is not static"
        ;;
    linux-*)
        newest=$(readelf -VW "$1" | grep -oE 'GLIBC_2\.[0-9]+' | sort -uV | tail -n 1)
        [ "$(printf '%s\n' "$newest" GLIBC_2.34 | sort -V | tail -n 1)" = GLIBC_2.34 ] || complain "$1 needs $newest"
        ! readelf -dW "$1" | grep NEEDED | grep -vE '\[(libc|libm|libdl|libpthread|ld-linux-[a-z0-9-]+)\.so\.[0-9]+\]' ||
            complain "$1 needs more than the C library"
        ;;
    windows-*)
        ! objdump -p "$1" | grep 'DLL Name:' | grep -viE ': (kernel32|ntdll|bcrypt|psapi|shell32|advapi32|ucrtbase|api-ms-win-crt-[a-z0-9-]+)\.dll' ||
            complain "$1 needs a library that Windows has not"
        ;;
    macos-*) # macOS on ARM runs no program without a signature; that of the linker names nobody.
        python3 - "$1" <<'END' || complain "$1 is no signed program for ARM"
import struct, sys
data = open(sys.argv[1], "rb").read()
magic, processor, _, kind, commands = struct.unpack_from("<5I", data)
assert (magic, processor, kind) == (0xFEEDFACF, 0x0100000C, 2), "Mach-O, ARM64, a program"
at, signature = 32, None
for _ in range(commands):
    command, size = struct.unpack_from("<2I", data, at)
    if command == 0x1D:  # LC_CODE_SIGNATURE
        signature = struct.unpack_from("<2I", data, at + 8)
    at += size
assert signature and data[signature[0] : signature[0] + 4] == b"\xfa\xde\x0c\xc0", "a signature"
END
        ;;
    esac
}

for target in "${targets[@]}"; do
    start=$SECONDS
    cmake --preset "$target" >"build/cross-$target.log" 2>&1 || { cat "build/cross-$target.log" && exit 1; }
    cmake --build --preset "$target" --target neardup neardup_core neardup_files
    command=build/cross/$target/neardup
    [ -e "$command" ] || command=$command.exe
    needs "$command" "$target"
    echo "cross: $command, $(stat -c %s "$command") bytes, $((SECONDS - start)) s"
done
