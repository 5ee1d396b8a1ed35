#!/usr/bin/env bash
# bootstrap.sh - install the Debian packages that neardup needs, or say what is missing
#
# usage: tools/bootstrap.sh [--check] [group ...]
#
# Groups are those of tools/packages.txt (default: build).  Nothing happens where everything is
# there.  With --check, and on systems without apt-get, it only says what is missing.  Status 0:
# everything is there; 1: something is missing.
set -euo pipefail
cd "$(dirname "$0")"

check_only=no
groups=()
for argument in "$@"; do
    case $argument in
    --check) check_only=yes ;;
    build | test | lint | fuzz | faults | bench | demo | package | rivals | spark | site | page | windows) groups+=("$argument") ;;
    *)
        echo "usage: tools/bootstrap.sh [--check] [build|test|lint|fuzz|faults|bench|demo|package|rivals|spark|site|page|windows ...]" >&2
        exit 1
        ;;
    esac
done
[ ${#groups[@]} -gt 0 ] || groups=(build)

# Whether what a package brings is there, from wherever it came.
is_there() {
    case $1 in
    pc:*) pkg-config --exists "${1#pc:}" 2>/dev/null ;;
    h:*) echo "#include <${1#h:}>" | cc -E -x c - >/dev/null 2>&1 ;;
    f:*) [ -e "${1#f:}" ] ;;
    p:*) python3 -c "import ${1#p:}" 2>/dev/null ;;
    *) command -v "$1" >/dev/null ;;
    esac
}

missing=() # packages
reasons=() # for people
while read -r group package probe version; do
    case $group in '' | '#'*) continue ;; esac
    case " ${groups[*]} " in *" $group "*) ;; *) continue ;; esac
    is_there "$probe" && continue
    missing+=("$package")
    reasons+=("  ${probe#*:}, in Debian's package $package (tested with version $version)")
done <packages.txt

[ ${#missing[@]} -gt 0 ] || exit 0

if [ "$check_only" = yes ] || ! command -v apt-get >/dev/null; then
    echo "bootstrap: missing for ${groups[*]}:" >&2
    printf '%s\n' "${reasons[@]}" >&2
    if command -v apt-get >/dev/null; then
        echo "bootstrap: 'tools/bootstrap.sh ${groups[*]}' installs them" >&2
    fi
    exit 1
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "bootstrap: not root, and there is no sudo; as root:" >&2
        echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi

echo "bootstrap: installing ${missing[*]}"
# Package lists that cannot be refreshed may still do.
"${as_root[@]}" apt-get update -q >/dev/null || echo "bootstrap: apt-get update failed" >&2
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends "${missing[@]}" </dev/null
