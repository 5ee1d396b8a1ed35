/* prepare.c - a batch of one worker, before it is its turn to be pushed */
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/state.h"

/*
 * Prepared is what depends on a document alone: the hash of its bytes, who has the same in its
 * batch, tokens, sketch, signatures.  A document whose bytes a kept one seems to have is left: it
 * will be removed without being read.  So is everything where there is one thread, which reads a
 * document while the lines of the index come that the one before it asked for (star.c).
 */
static bool make_items(const struct nd_dedup *d, struct nd_batch_room *room,
                       const struct nd_dedup_item *items, size_t n)
{
    struct nd_item *item = nd_items_begin(d, room, items, n, NULL);

    if (!item)
        return false;
    for (size_t task = 0; task < nd_items_hash_tasks(n); task++)
        nd_items_hash(item, n, task);
    return nd_dedup_ignores_text(d) || nd_items_group(item, n);
}

/* Which of them may meet one another, copies like the first of their bytes. */
static bool link_items(const struct nd_dedup *d, struct nd_batch_room *room)
{
    const struct nd_index_row **row = nd_alloc_array(room->n, sizeof *row);
    void *link = room->link;
    bool ok = row && nd_array_reserve(&link, &room->link_capacity, room->n + 1, 1);

    room->link = link;
    for (size_t i = 0; ok && i < room->n; i++) {
        const struct nd_item *first = &room->item[room->item[i].first_same];

        row[i] = first->is_prepared && first->is_listed ? &first->row : NULL;
        room->item[i].is_in_links = row[i] != NULL;
    }
    if (ok)
        memset(room->link, 0, room->n);
    ok = ok && nd_finder_link(d, room->item, row, room->n, room->link, NULL, NULL) == ND_OK;
    free(row);
    return ok;
}

void nd_dedup_prepare(struct nd_dedup *d, unsigned worker, const struct nd_dedup_item *items,
                      size_t n)
{
    struct nd_batch_room *room = &d->room[worker];
    struct nd_item *item;

    nd_arena_reset(&room->held);
    room->is_linked = false;
    room->n = n;
    room->is_made = make_items(d, room, items, n);
    if (!room->is_made || nd_pool_threads(d->pool) == 1)
        return;
    item = room->item;
    if (!nd_dedup_ignores_text(d))
        nd_kept_mark_known(d, item, n);
    for (size_t i = 0; i < n; i++)
        if (item[i].first_same == i && !item[i].is_known)
            nd_item_prepare(d, &d->worker[worker], &room->held, &item[i]);
    room->is_linked = !d->matching && link_items(d, room);
}
