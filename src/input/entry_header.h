/* entry_header.h - what an archive says of an entry, beside its bytes */
#ifndef ND_INPUT_ENTRY_HEADER_H
#define ND_INPUT_ENTRY_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include <neardup/input.h>

#include "base/memory.h"

enum nd_entry_kind { ND_ENTRY_FILE, ND_ENTRY_FOLDER, ND_ENTRY_LINK, ND_ENTRY_SYMLINK };

/* Strings are the arena's. */
struct nd_entry_header {
    enum nd_entry_kind kind;
    const char *name;
    const char *target; /* of a link: the name of the entry; of a symbolic one what it says */
    unsigned mode;      /* permissions */
    int64_t uid, gid;
    const char *owner, *group; /* their names, or NULL */
    int64_t seconds;           /* of modification, since 1970 */
    long nanoseconds;
    struct nd_entry_header *next; /* that is no file, before the next file */
};

struct archive_entry;
/* A copy of what libarchive says; NULL: out of memory. */
struct nd_entry_header *nd_entry_header_copy(struct archive_entry *e, enum nd_entry_kind kind,
                                             const char *name, struct nd_arena *arena);
/* The other way round, but for the name; 0: libarchive has no memory. */
void nd_entry_header_put(const struct nd_entry_header *h, struct archive_entry *e);

/* Of a source in an archive: its own header, and what stands before it, a list. */
const struct nd_entry_header *nd_source_entry(const struct nd_source *source,
                                              const struct nd_entry_header **before);
/* What stands behind the last file of an archive, once that has been read to its end. */
const struct nd_entry_header *nd_source_entries_after(const struct nd_source *source);

#endif
