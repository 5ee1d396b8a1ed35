#!/bin/sh
# after-install.sh - what the user of a fresh installation needs to know: paths, optional libraries
#
# usage: after-install.sh PREFIX LIBRARY_DIRECTORY
#
# Also in the portable tarball, so it is for any POSIX shell.
set -eu
prefix=$1 lib=$2

case ":$PATH:" in
*":$prefix/bin:"*) ;;
*) echo "to run it by its name:  export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
case "$prefix" in
/usr | /usr/local) # the loader looks there, once its cache knows
    if [ -e "$lib/libneardup.so" ]; then echo "for programs that link with the libraries:  ldconfig"; fi
    ;;
*)
    if [ -e "$lib/libneardup.so" ]; then
        echo "to build with the libraries:  export PKG_CONFIG_PATH=\"$lib/pkgconfig\""
        echo "to run what was built:  export LD_LIBRARY_PATH=\"$lib\", or link with -Wl,-rpath,$lib"
    fi
    ;;
esac
"$prefix/bin/neardup" --version >/dev/null || {
    echo "$prefix/bin/neardup does not start here" >&2
    exit 1
}
"$prefix/bin/neardup" doctor | awk -F '\t' '$2 == "missing" { print "not found: " $1 ", for " $3 }'
