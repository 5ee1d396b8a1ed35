/* link_rows.c - which rows of a batch may meet one another */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/live.h"
#include "index/table_keys.h"

/*
 * A table at a time, in parallel: a small table remembers, by a piece of the key, the last row that
 * had it, and the 32 bits of the key beside it; a row that finds its own 32 bits there has an
 * earlier one, and that one a later.
 */
struct linking {
    const struct nd_index_params *params;
    const struct nd_index_row *const *row;
    size_t n;
    unsigned shift;     /* 64 - bits of a place */
    struct memo **memo; /* a table a worker */
    unsigned char *linked;
};

struct memo {
    uint32_t key;
    uint32_t row_plus_1;
};

/* By several threads at once. */
static void mark(unsigned char *flags, unsigned char flag)
{
    if (!(__atomic_load_n(flags, __ATOMIC_RELAXED) & flag))
        __atomic_fetch_or(flags, flag, __ATOMIC_RELAXED);
}

static void link_in_table(void *context, size_t table, unsigned worker)
{
    struct linking *job = context;
    struct memo *memo = job->memo[worker];

    memset(memo, 0, ((size_t)1 << (64 - job->shift)) * sizeof *memo);
    for (size_t i = 0; i < job->n; i++) {
        uint64_t key;
        size_t place;

        if (!job->row[i])
            continue;
        key = job->row[i]->key ? job->row[i]->key[table]
                               : nd_table_key(job->params, (unsigned)table, job->row[i]);
        place = (size_t)(key >> job->shift);
        while (memo[place].row_plus_1 && memo[place].key != (uint32_t)key)
            place = place + 1 == (size_t)1 << (64 - job->shift) ? 0 : place + 1;
        if (memo[place].row_plus_1) {
            mark(&job->linked[memo[place].row_plus_1 - 1], ND_LINKED_LATER);
            mark(&job->linked[i], ND_LINKED_EARLIER);
        }
        memo[place] = (struct memo){(uint32_t)key, (uint32_t)i + 1};
    }
}

static void release(struct linking *job, unsigned n_workers)
{
    for (unsigned w = 0; job->memo && w < n_workers; w++)
        free(job->memo[w]);
    free(job->memo);
}

enum nd_status nd_index_link_rows(const struct nd_index_params *params,
                                  const struct nd_index_row *const *row, size_t n,
                                  unsigned char *linked, struct nd_pool *pool, struct nd_error *err)
{
    struct linking job = {.params = params, .row = row, .n = n, .shift = 60, .linked = linked};
    unsigned n_workers = nd_pool_threads(pool);

    while (((size_t)1 << (64 - job.shift)) < 2 * n)
        job.shift--;
    job.memo = calloc(n_workers, sizeof *job.memo);
    for (unsigned w = 0; w < n_workers; w++) {
        if (job.memo)
            job.memo[w] = nd_alloc_array((size_t)1 << (64 - job.shift), sizeof **job.memo);
        if (!job.memo || !job.memo[w]) {
            release(&job, n_workers);
            return nd_fail(err, ND_ENOMEM, "out of memory for a batch of %zu documents", n);
        }
    }
    nd_pool_run(pool, nd_table_asked(params).end, link_in_table, &job);
    release(&job, n_workers);
    return ND_OK;
}
