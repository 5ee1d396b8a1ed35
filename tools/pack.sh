# pack.sh - archives whose bytes depend on nothing but the files, to source
# shellcheck shell=bash
#
# The caller sets SOURCE_DATE_EPOCH, or the time is that of the last change of the sources.

time_of_files() { echo "${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}"; }

# Pack a folder NAME below FOLDER: files in the order of their names, of one time, one owner, one mode.
pack() { # ARCHIVE FOLDER NAME
    tar --sort=name --format=gnu --mtime="@$(time_of_files)" --owner=0 --group=0 --numeric-owner --mode=go+u,go-w -cf - -C "$2" "$3" |
        gzip -9n >"$1"
}

# Pack them as a zip file, for Windows.
pack_zip() { # ARCHIVE FOLDER NAME
    local archive
    archive=$(realpath -m "$1")
    rm -f "$archive"
    find "$2/$3" -type f -exec touch -d "@$(time_of_files)" {} + -exec chmod go+u,go-w {} +
    (cd "$2" && find "$3" -type f | LC_ALL=C sort | TZ=UTC zip -9 -X -q -@ "$archive")
}
