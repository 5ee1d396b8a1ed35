/* track_duplicates.h - which documents are near duplicates of others, by their last versions */
#ifndef ND_PIPELINE_TRACK_DUPLICATES_H
#define ND_PIPELINE_TRACK_DUPLICATES_H

#include "pipeline/use.h"

/* The last version of each document, by a number of the caller's from 0 on.  Starts from zeroes. */
struct nd_last_versions {
    struct nd_last_version {
        struct nd_buffer record;
        const struct nd_source *source; /* NULL: nothing is held */
        int64_t time;
    } * at;
    size_t n, capacity;
};

/* Hold a version in place of one that is not newer.  False: out of memory. */
bool nd_last_versions_hold(struct nd_last_versions *l, size_t number,
                           const struct nd_use_item *item, int64_t time);
void nd_last_versions_release(struct nd_last_versions *l);

/*
 * like[i], of numbers 0 … l->n - 1: which one it is a near duplicate of by the recipe, in stars,
 * the earlier number leading; i itself: of none.  Numbers that hold nothing are left alone.
 * ND_ENOMEM, and what nd_dedup_new says.
 */
enum nd_status nd_last_versions_compare(const struct nd_last_versions *l, const struct nd_use *use,
                                        uint32_t *like, struct nd_error *err);

#endif
