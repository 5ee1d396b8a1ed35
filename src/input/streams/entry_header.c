/* entry_header.c - what an archive says of an entry, beside its bytes */
#include "input/streams/entry_header.h"

#include "input/library/libarchive_load.h"
#include "input/streams/sources.h"

#include <string.h>

/* Copy a string; NULL stays NULL. False: out of memory. */
static bool copy_text(const char *text, const char **copy, struct nd_arena *arena)
{
    *copy = text ? nd_arena_copy(arena, text, strlen(text) + 1) : NULL;
    return !text || *copy;
}

struct nd_entry_header *nd_entry_header_copy(struct archive_entry *e, enum nd_entry_kind kind,
                                             const char *name, struct nd_arena *arena)
{
    struct nd_entry_header *h = nd_arena_alloc(arena, sizeof *h);
    const char *target = kind == ND_ENTRY_LINK      ? nd_libarchive.entry_hardlink(e)
                         : kind == ND_ENTRY_SYMLINK ? nd_libarchive.entry_symlink(e)
                                                    : NULL;

    if (!h)
        return NULL;
    *h = (struct nd_entry_header){
        .kind = kind,
        .mode = (unsigned)nd_libarchive.entry_perm(e),
        .uid = nd_libarchive.entry_uid(e),
        .gid = nd_libarchive.entry_gid(e),
        .seconds = nd_libarchive.entry_mtime(e),
        .nanoseconds = nd_libarchive.entry_mtime_nsec(e),
    };
    return copy_text(name, &h->name, arena) && copy_text(target, &h->target, arena) &&
                   copy_text(nd_libarchive.entry_uname(e), &h->owner, arena) &&
                   copy_text(nd_libarchive.entry_gname(e), &h->group, arena)
               ? h
               : NULL;
}

void nd_entry_header_put(const struct nd_entry_header *h, struct archive_entry *e)
{
    static const unsigned types[] = {
        [ND_ENTRY_FILE] = AE_IFREG,
        [ND_ENTRY_FOLDER] = AE_IFDIR,
        [ND_ENTRY_LINK] = AE_IFREG,
        [ND_ENTRY_SYMLINK] = AE_IFLNK,
    };

    nd_libarchive.entry_set_filetype(e, types[h->kind]);
    nd_libarchive.entry_set_perm(e, (__LA_MODE_T)h->mode);
    nd_libarchive.entry_set_mtime(e, (time_t)h->seconds, h->nanoseconds);
    nd_libarchive.entry_set_uid(e, h->uid);
    nd_libarchive.entry_set_gid(e, h->gid);
    nd_libarchive.entry_set_uname(e, h->owner);
    nd_libarchive.entry_set_gname(e, h->group);
    if (h->kind == ND_ENTRY_LINK)
        nd_libarchive.entry_set_hardlink(e, h->target);
    if (h->kind == ND_ENTRY_SYMLINK)
        nd_libarchive.entry_set_symlink(e, h->target);
}

/* Every source that the library hands out is the first member of a kept one. */
static const struct nd_source_kept *kept(const struct nd_source *source)
{
    return (const struct nd_source_kept *)(const void *)source;
}

const struct nd_entry_header *nd_source_entry(const struct nd_source *source,
                                              const struct nd_entry_header **before)
{
    *before = kept(source)->before;
    return kept(source)->header;
}

const struct nd_entry_header *nd_source_entries_after(const struct nd_source *source)
{
    return kept(source)->after;
}
