# pack.sh - archives whose bytes depend on nothing but the files, to source
# shellcheck shell=bash
#
# The caller sets SOURCE_DATE_EPOCH, or the time is that of the last change of the sources.

# Pack a folder NAME below FOLDER: files in the order of their names, of one time, one owner, one mode.
pack() { # ARCHIVE FOLDER NAME
    local time=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
    tar --sort=name --format=gnu --mtime="@$time" --owner=0 --group=0 --numeric-owner --mode=go+u,go-w -cf - -C "$2" "$3" |
        gzip -9n >"$1"
}
