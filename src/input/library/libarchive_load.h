/* libarchive_load.h - libarchive, opened when it is first needed: the functions that are used of it
 */
#ifndef ND_INPUT_LIBRARY_LIBARCHIVE_LOAD_H
#define ND_INPUT_LIBRARY_LIBARCHIVE_LOAD_H

#include <archive.h>
#include <archive_entry.h>

/* Without their archive_. */
#define ND_LIBARCHIVE_FUNCTIONS(X)                                                                 \
    X(entry_filetype)                                                                              \
    X(entry_acl_types)                                                                             \
    X(entry_free)                                                                                  \
    X(entry_gid)                                                                                   \
    X(entry_gname)                                                                                 \
    X(entry_hardlink)                                                                              \
    X(entry_mtime)                                                                                 \
    X(entry_mtime_nsec)                                                                            \
    X(entry_new)                                                                                   \
    X(entry_pathname)                                                                              \
    X(entry_pathname_utf8)                                                                         \
    X(entry_perm)                                                                                  \
    X(entry_set_filetype)                                                                          \
    X(entry_set_gid)                                                                               \
    X(entry_set_gname)                                                                             \
    X(entry_set_hardlink)                                                                          \
    X(entry_set_mtime)                                                                             \
    X(entry_set_pathname)                                                                          \
    X(entry_set_pathname_utf8)                                                                     \
    X(entry_set_perm)                                                                              \
    X(entry_set_size)                                                                              \
    X(entry_set_symlink)                                                                           \
    X(entry_set_uid)                                                                               \
    X(entry_set_uname)                                                                             \
    X(entry_size)                                                                                  \
    X(entry_sparse_count)                                                                          \
    X(entry_symlink)                                                                               \
    X(entry_uid)                                                                                   \
    X(entry_uname)                                                                                 \
    X(entry_xattr_count)                                                                           \
    X(error_string)                                                                                \
    X(filter_bytes)                                                                                \
    X(filter_code)                                                                                 \
    X(read_data_block)                                                                             \
    X(read_free)                                                                                   \
    X(read_new)                                                                                    \
    X(read_next_header)                                                                            \
    X(read_open2)                                                                                  \
    X(read_set_seek_callback)                                                                      \
    X(read_support_filter_bzip2)                                                                   \
    X(read_support_filter_lz4)                                                                     \
    X(read_support_filter_xz)                                                                      \
    X(read_support_filter_zstd)                                                                    \
    X(read_support_format_empty)                                                                   \
    X(read_support_format_raw)                                                                     \
    X(read_support_format_tar)                                                                     \
    X(read_support_format_zip_seekable)                                                            \
    X(read_support_format_zip_streamable)                                                          \
    X(set_error)                                                                                   \
    X(write_add_filter_lz4)                                                                        \
    X(write_add_filter_none)                                                                       \
    X(write_close)                                                                                 \
    X(write_data)                                                                                  \
    X(write_fail)                                                                                  \
    X(write_free)                                                                                  \
    X(write_header)                                                                                \
    X(write_new)                                                                                   \
    X(write_open2)                                                                                 \
    X(write_set_bytes_in_last_block)                                                               \
    X(write_set_filter_option)                                                                     \
    X(write_set_format_gnutar)                                                                     \
    X(write_set_format_option)                                                                     \
    X(write_set_format_raw)                                                                        \
    X(write_set_format_zip)

/* Each has the type that the headers give it. */
struct nd_libarchive {
#define ND_LIBARCHIVE_MEMBER(name) __typeof__(archive_##name) *(name);
    ND_LIBARCHIVE_FUNCTIONS(ND_LIBARCHIVE_MEMBER)
#undef ND_LIBARCHIVE_MEMBER
    __typeof__(archive_errno) *error_number; /* errno is a macro */
};

/* Filled once nd_libarchive_load() has answered NULL; never written after that. */
extern struct nd_libarchive nd_libarchive;

/*
 * Open libarchive the first time, from any thread.  NULL: it is open; else why it is not, for ever:
 * words that follow "cannot be read" or "cannot be written".
 */
const char *nd_libarchive_load(void);

#endif
