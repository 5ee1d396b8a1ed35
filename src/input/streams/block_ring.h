/* block_ring.h - blocks worked on beside one another, which come out in the order they went in */
#ifndef ND_INPUT_STREAMS_BLOCK_RING_H
#define ND_INPUT_STREAMS_BLOCK_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/thread/pool.h"
#include "base/thread/thread.h"

/*
 * The blocks wait in a ring.  The owner fills them; any thread takes the next full one and works on
 * it; the owner passes them on in order.  The owner works too when it would otherwise wait, so
 * everything goes on with no thread started.
 */
struct nd_block_ring {
    /* Work on the block at a place, one of n.  False: it failed. */
    bool (*work)(void *owner, size_t place);
    void *owner;
    const struct nd_pool *pool; /* on whose processors the threads are not; or NULL */
    size_t n;
    struct nd_ring_block {
        bool is_done, has_failed;
    } * block;       /* number i has the place i % n */
    uint64_t passed; /* blocks that came out; of the owner alone */
    uint64_t filled; /* blocks that are full; guarded by the monitor, as the next two */
    uint64_t taken;  /* blocks that some thread works on or has worked on */
    bool is_over;    /* the threads are to end */
    struct nd_monitor monitor;
    struct nd_thread *thread;
    unsigned n_threads, n_started; /* to be started, and started */
};

/* A ring of n blocks, from zeroed memory, for so many threads beside the owner's, which are started
 * when there is more than one block.  False: out of memory; nothing need be released. */
bool nd_block_ring_init(struct nd_block_ring *r, size_t n, unsigned threads);
/* End the threads. */
void nd_block_ring_release(struct nd_block_ring *r);

/* Whether one must be passed on before another can be filled. */
bool nd_block_ring_is_full(const struct nd_block_ring *r);
/* The place of the block to be filled, where there is one, and of the oldest block. */
size_t nd_block_ring_next(const struct nd_block_ring *r);
size_t nd_block_ring_oldest(const struct nd_block_ring *r);
/* The block to be filled is full, and may be worked on.  more: others will follow. */
void nd_block_ring_close(struct nd_block_ring *r, bool more);
/* Wait for the oldest block, which is then out of the ring.  False: the work on it failed. */
bool nd_block_ring_pass(struct nd_block_ring *r);

#endif
