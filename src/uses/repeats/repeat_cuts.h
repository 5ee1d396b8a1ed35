/* repeat_cuts.h - which windows of all texts are cut, and where each stays */
#ifndef ND_USES_REPEATS_REPEAT_CUTS_H
#define ND_USES_REPEATS_REPEAT_CUTS_H

#include <neardup/error.h>

#include <stddef.h>
#include <stdint.h>

#include "uses/repeats/text_units.h"

/*
 * Windows in input order become cuts in input order, in bounded memory:
 *
 *     add      windows of each text go to an external sort, by their hashes
 *     decide   those that are equal to enough others get the number of their group, and are sorted
 *              again, by their places.  In this order each is cut or not: it is cut if an equal one
 *              stands, that is, came before, without overlap, and no cut touches it
 *     next     the cuts come back in order
 *
 * So each part that is cut stands in full in what is left.  A window that overlaps a later one can
 * only be touched by windows that begin before its end; it stands once these are decided.
 */
struct nd_repeat_cuts;

struct nd_repeat_cuts_options {
    const char *tmp;      /* the folder of files that hold what memory does not */
    size_t sort_bytes;    /* of the first sort, */
    size_t order_bytes;   /* and of the second */
    size_t group_bytes;   /* of what is known of groups: more goes to a file */
    uint64_t occurrences; /* how many equal windows make a group; at least 2 */
};

/* A part that is cut of a text, and the equal one that stays in an earlier place. */
struct nd_repeat_cut {
    uint32_t document, source; /* numbers of documents */
    uint32_t from, to;         /* in bytes of the text */
    uint32_t source_from, source_to;
};

/* The folder's name is borrowed.  NULL: ND_ENOMEM, ND_EIO. */
struct nd_repeat_cuts *nd_repeat_cuts_new(const struct nd_repeat_cuts_options *options,
                                          struct nd_error *err);
/* NULL is allowed. */
void nd_repeat_cuts_free(struct nd_repeat_cuts *c);

/* The windows of a text; documents come in the order of their numbers.  ND_ENOMEM, ND_EIO. */
enum nd_status nd_repeat_cuts_add(struct nd_repeat_cuts *c, uint32_t document,
                                  const struct nd_window_list *list, struct nd_error *err);
/* All have been added.  Likewise. */
enum nd_status nd_repeat_cuts_decide(struct nd_repeat_cuts *c, struct nd_error *err);
/*
 * The next cut by its document, then its start, valid until the next call.  Cuts of one document may
 * overlap.  1; 0: there are no more; < 0: as above.
 */
int nd_repeat_cuts_next(struct nd_repeat_cuts *c, const struct nd_repeat_cut **cut,
                        struct nd_error *err);

#endif
