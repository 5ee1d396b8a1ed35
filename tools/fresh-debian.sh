# fresh-debian.sh - a fresh Debian 12 that has nothing else, to source: packages and tests are tried there
# shellcheck shell=bash disable=SC2154 # the caller sets work
#
# It takes the mirror and the settings of apt that this machine has.  The caller sets `work`, a folder.

# Say why none can be made, with status 1.  Nothing is said where one can.
fresh_debian_lacks() {
    if ! command -v mmdebstrap >/dev/null; then
        echo "there is no mmdebstrap (tools/bootstrap.sh package)"
    elif [ "$(id -u)" -ne 0 ]; then
        echo "not root"
    elif ! unshare --mount true 2>/dev/null; then
        echo "nothing can be mounted here"
    else
        return 0
    fi
    return 1
}

# Make the system once, for all roots of a run.
make_fresh_debian() {
    mmdebstrap --quiet --variant=minbase bookworm "$work/clean.tar" >"$work/log" 2>&1 || {
        tail -5 "$work/log" >&2
        return 1
    }
}

# Unpack a fresh system with the settings of apt and of the resolver.
root() { # NAME
    mkdir "$work/$1"
    tar -xf "$work/clean.tar" -C "$work/$1"
    local part
    rm -f "$work/$1/etc/apt/sources.list" # with this machine's, every package would have two sources
    for part in sources.list sources.list.d apt.conf.d preferences.d keyrings trusted.gpg.d; do
        if [ -e "/etc/apt/$part" ]; then cp -a "/etc/apt/$part" "$work/$1/etc/apt/"; fi
    done
    cp /etc/resolv.conf "$work/$1/etc/" 2>/dev/null || true
}

# Run a command in it, with /proc, by which the loader knows where a program is, and terminals.
inside() { # NAME COMMAND ...
    unshare --mount sh -ec 'root=$1
        shift
        mount -t proc proc "$root/proc"
        mkdir -p "$root/dev/pts"
        mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts" &&
            ln -sf pts/ptmx "$root/dev/ptmx"
        exec env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/opt chroot "$root" "$@"' \
        inside "$work/$1" "${@:2}"
}
