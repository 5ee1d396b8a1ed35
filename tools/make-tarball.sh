#!/usr/bin/env bash
# make-tarball.sh - the command to unpack anywhere
#
# usage: tools/make-tarball.sh [TARGET...]
#
# Without TARGET it is that of build/release, with the libraries that it is linked with.  It runs on
# systems with the C and C++ libraries of this one or newer ones.  Those are not in it, since what the
# command opens when it needs it may want newer ones than these; nor is what it opens, and `install`
# says which of that is not found.
#
# A TARGET is one of tools/cross.sh, which has built the command for it: build/cross/TARGET/neardup.
# Nothing but the manual, the completions and the licences lies beside that.
set -euo pipefail
cd "$(dirname "$0")/.."

. tools/pack.sh
version=$(sed -n 's/^#define ND_VERSION "\(.*\)"/\1/p' include/neardup/version.h)

# Copy the licences of what a command from tools/cross.sh carries.
copy_licences() { # TARGET FOLDER
    local licence name
    for licence in build/carried/*/LICENSE; do
        cp "$licence" "$2/$(basename "$(dirname "$licence")").copyright"
    done
    case $1 in
    *-musl) name=libc/musl/COPYRIGHT ;;
    windows-*) name=libc/mingw/COPYING ;;
    *) return 0 ;;
    esac
    cp build/zig/venv/lib/python3*/site-packages/ziglang/lib/$name "$2/$(basename "$(dirname $name)").copyright"
}

for target in "$@"; do
    name=neardup-$version-$target
    root=build/$name
    rm -rf "$root"
    cmake --install build/release --prefix "$root" >/dev/null
    rm -rf "${root:?}"/{bin,include,lib,libexec}
    mkdir -p "$root/bin" "$root/share/doc"
    cp "build/cross/$target"/neardup{,.exe} "$root/bin/" 2>/dev/null || [ -n "$(ls "$root/bin")" ]
    cp LICENSE README.md CHANGELOG.md "$root/share/doc/"
    cp build/libstemmer/LICENSE "$root/share/doc/libstemmer.copyright"
    copy_licences "$target" "$root/share/doc"
    case $target in
    windows-*)
        rm -rf "${root:?}"/share/{man,bash-completion,zsh,fish}
        pack_zip "build/$name.zip" build "$name"
        echo "build/$name.zip"
        ;;
    *)
        pack "build/$name.tar.gz" build "$name"
        echo "build/$name.tar.gz"
        ;;
    esac
    rm -rf "$root"
done
[ $# -eq 0 ] || exit 0

name=neardup-$version-linux-$(uname -m)
root=build/$name
rm -rf "$root"
cmake --install build/release --prefix "$root" --strip >/dev/null
# The service has a package of its own: it needs libraries that are not carried along.
rm -rf "${root:?}/include" "${root:?}/lib" "${root:?}/libexec"
mkdir -p "$root/lib" "$root/libexec" "$root/share/doc"

# All that the command is linked with but the C and C++ libraries, with their licences.
ldd "$root/bin/neardup" | awk '$2 == "=>" { print $1, $3 }' |
    grep -vE '^(libc|libm|libpthread|libdl|libstdc\+\+|libgcc_s|ld-linux.*)\.so' |
    while read -r soname path; do
        cp -L "$path" "$root/lib/$soname"
        package=$(dpkg -S "$(realpath "$path")" 2>/dev/null | cut -d: -f1 || true)
        if [ -f "/usr/share/doc/$package/copyright" ]; then
            cp -L "/usr/share/doc/$package/copyright" "$root/share/doc/$soname.copyright"
        fi
    done
cp LICENSE README.md CHANGELOG.md "$root/share/doc/"
cp build/libstemmer/LICENSE "$root/share/doc/libstemmer.copyright"
cp tools/after-install.sh "$root/libexec/"
cat >"$root/install" <<'END'
#!/bin/sh
# install - copy neardup to PREFIX (default: leave it here), and say what it lacks
#
# usage: ./install [PREFIX]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
prefix=${1:-$here}
if [ "$prefix" != "$here" ]; then
    mkdir -p "$prefix/bin" "$prefix/lib/neardup" "$prefix/share"
    prefix=$(cd "$prefix" && pwd)
    cp -R "$here/lib/." "$prefix/lib/neardup/"
    cp -R "$here/share/man" "$here/share/neardup" "$prefix/share/"
    for completions in bash-completion zsh fish; do
        if [ -d "$here/share/$completions" ]; then cp -R "$here/share/$completions" "$prefix/share/"; fi
    done
    mkdir -p "$prefix/share/doc/neardup"
    cp -R "$here/share/doc/." "$prefix/share/doc/neardup/"
    cp "$here/bin/neardup" "$prefix/bin/"
fi
"$here/libexec/after-install.sh" "$prefix" "$prefix/lib"
END
chmod +x "$root/install"
pack "build/$name.tar.gz" build "$name"
rm -rf "$root"
echo "build/$name.tar.gz"
