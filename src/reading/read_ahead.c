/* read_ahead.c - which piece of a file each batch is made of, known before its turn to be cut */
#include "reading/read_ahead.h"

#include <stdlib.h>

/*
 * All of it is guarded by nd_pool_lock.  The batches that have begun and have not been cut are
 * those of the tickets from the one whose turn it is up to `next_ticket` - 1, at most one a worker,
 * so that the last n_workers tickets suffice to find their pieces.
 */
struct nd_read_ahead {
    struct nd_pool *pool;
    unsigned n_workers;
    unsigned long next_ticket;
    bool is_on;                  /* the file below has pieces */
    struct nd_ahead_place place; /* where the input was at the end of the last turn */
    uint64_t next;               /* offset of the next piece */
    size_t piece_bytes;
    struct nd_ahead_piece piece[]; /* of ticket t: piece[t % n_workers] */
};

struct nd_read_ahead *nd_read_ahead_new(struct nd_pool *pool, unsigned n_workers,
                                        struct nd_error *err)
{
    struct nd_read_ahead *a = calloc(1, sizeof *a + n_workers * sizeof *a->piece);

    if (!a) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    a->pool = pool;
    a->n_workers = n_workers;
    return a;
}

void nd_read_ahead_free(struct nd_read_ahead *a)
{
    free(a);
}

/*
 * Records too many for one batch are left for the next.  If they are as much as two pieces, a batch
 * gets none: then it is made of them.
 */
static bool is_far_ahead(const struct nd_read_ahead *a)
{
    return a->next > a->place.cut_to + (uint64_t)(a->n_workers + 2) * a->piece_bytes;
}

static struct nd_ahead_piece next_piece(struct nd_read_ahead *a)
{
    struct nd_ahead_piece piece = {
        .source = a->place.source, .fd = a->place.fd, .unpacked = a->place.unpacked};
    uint64_t left;

    if (!a->is_on || a->next >= a->place.size || is_far_ahead(a))
        return piece;
    left = a->place.size - a->next;
    piece.offset = a->next;
    piece.len = left < a->piece_bytes ? (size_t)left : a->piece_bytes;
    a->next += piece.len;
    return piece;
}

unsigned long nd_read_ahead_begin(struct nd_read_ahead *a, struct nd_ahead_piece *piece)
{
    unsigned long ticket;

    nd_pool_lock(a->pool);
    ticket = a->next_ticket++;
    *piece = a->piece[ticket % a->n_workers] = next_piece(a);
    nd_pool_unlock(a->pool);
    return ticket;
}

struct nd_ahead_piece nd_read_ahead_piece(struct nd_read_ahead *a, unsigned long ticket)
{
    struct nd_ahead_piece piece;

    nd_pool_lock(a->pool);
    piece = a->piece[ticket % a->n_workers];
    nd_pool_unlock(a->pool);
    return piece;
}

/* Divide the file in which the input is now, and give the next pieces to those who have begun. */
static void divide(struct nd_read_ahead *a, unsigned long ticket)
{
    a->next = a->place.read_to;
    a->is_on = a->place.size > a->next && a->place.size - a->next > 2 * a->piece_bytes;
    for (unsigned long t = ticket + 1; t < a->next_ticket; t++)
        a->piece[t % a->n_workers] = next_piece(a);
}

/*
 * A long record may have gone on in the pieces of others.  And where a piece could not be read as a
 * whole, the input lies behind what the next batch has: this one will read what is missing, or find
 * out what is wrong.
 */
static void go_on(struct nd_read_ahead *a, unsigned long ticket)
{
    const struct nd_ahead_piece *following = &a->piece[(ticket + 1) % a->n_workers];

    if (ticket + 1 < a->next_ticket && following->len && following->source == a->place.source &&
        a->place.read_to < following->offset)
        divide(a, ticket);
    else if (a->next < a->place.read_to)
        a->next = a->place.read_to;
}

void nd_read_ahead_end(struct nd_read_ahead *a, unsigned long ticket,
                       const struct nd_ahead_place *place, size_t piece_bytes)
{
    bool is_new;

    nd_pool_lock(a->pool);
    is_new = place && (!a->is_on || a->place.source != place->source);
    a->piece_bytes = piece_bytes;
    if (place)
        a->place = *place;
    else
        a->is_on = false;
    if (is_new)
        divide(a, ticket);
    else if (place)
        go_on(a, ticket);
    nd_pool_unlock(a->pool);
}
