/* entry_header.h - what an archive says of an entry, beside its bytes */
#ifndef ND_INPUT_STREAMS_ENTRY_HEADER_H
#define ND_INPUT_STREAMS_ENTRY_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include <neardup/input.h>

#include "base/memory.h"

enum nd_entry_kind { ND_ENTRY_FILE, ND_ENTRY_FOLDER, ND_ENTRY_LINK, ND_ENTRY_SYMLINK };

/* Strings are the arena's. */
struct nd_entry_header {
    enum nd_entry_kind kind;
    const char *name;
    const char *target; /* of a link: name of the target entry; of a symbolic link: its text */
    unsigned mode;      /* permissions */
    int64_t uid, gid;
    const char *owner, *group; /* their names, or NULL */
    int64_t seconds;           /* time of modification, since 1970 */
    long nanoseconds;
    struct nd_entry_header *next; /* next entry that is not a file, before the next file */
};

struct archive_entry;
/* Copy an entry's header from libarchive; NULL: out of memory. */
struct nd_entry_header *nd_entry_header_copy(struct archive_entry *e, enum nd_entry_kind kind,
                                             const char *name, struct nd_arena *arena);
/* Copy a header to libarchive, except the name; 0: libarchive is out of memory. */
void nd_entry_header_put(const struct nd_entry_header *h, struct archive_entry *e);

/* For a source in an archive: its own header, and a list of the entries before it. */
const struct nd_entry_header *nd_source_entry(const struct nd_source *source,
                                              const struct nd_entry_header **before);
/* The entries after the last file of an archive, once that has been read to its end. */
const struct nd_entry_header *nd_source_entries_after(const struct nd_source *source);

#endif
