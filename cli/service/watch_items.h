/* watch_items.h - items of feeds that a watch has posted, so that each is posted once */
#ifndef CLI_SERVICE_WATCH_ITEMS_H
#define CLI_SERVICE_WATCH_ITEMS_H

#include <stdbool.h>

#include <neardup/input.h>

#include "service/watch_state.h"

/*
 * A feed is written anew again and again, and most of its items are those of the time before.  An
 * item is known by its file and its id, or by its bytes where it has no id, and is posted again if
 * its bytes have changed.
 */
struct watch_items {
    struct watch_state *state;
    struct nd_parser *parser;
    struct watched_item *item; /* in the byte order of their keys */
    size_t n, capacity;
    struct watched_item *sent; /* posted, and not yet noted, in their order */
    size_t n_sent, sent_capacity, first_sent;
    uint64_t round; /* of reading */
};

/* Take over the items of the state, which must outlive it.  ND_EINVAL, ND_ENOMEM. */
enum nd_status watch_items_open(struct watch_items *items, struct watch_state *state,
                                const struct nd_input_options *options, struct nd_error *err);
void watch_items_close(struct watch_items *items);

/* Whether records of this source are items of a feed. */
bool watch_items_are_in(const struct nd_source *source);

/* Files are about to be read: what is not in them then is not in them any more. */
void watch_items_begin_round(struct watch_items *items);

/*
 * Whether an item is to be posted, as record `number` of the round, counted from 1: 1; 0: it has been,
 * as it is; ND_ENOMEM.
 */
int watch_items_take(struct watch_items *items, const struct nd_source *source,
                     const struct nd_record *record, uint64_t number, struct nd_error *err);

/* Note in the state the items of the first `records` records of the round.  ND_EIO. */
enum nd_status watch_items_note(struct watch_items *items, uint64_t records, struct nd_error *err);

/* The file was read to its end in this round: forget the items that it has no more.  ND_EIO. */
enum nd_status watch_items_end_file(struct watch_items *items, const char *path,
                                    struct nd_error *err);

#endif
