/* link_rows.c - which rows of a batch may meet one another */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/live.h"
#include "index/table_keys.h"

/*
 * A table at a time, in parallel.  First a bit for each piece of a key: few rows of a batch meet
 * one that is set, by chance or because they belong together, and each of those few looks at all
 * before it.  Where they are many, a small table remembers, by a piece of the key, the last row
 * that had it, and the 32 bits of the key beside it; a row that finds its own 32 bits there has an
 * earlier one, and that one a later.
 */
enum { FEW = 16, BITS_A_ROW = 256 };

struct desk { /* of a worker */
    uint64_t *bits;
    struct memo *memo;
};

struct linking {
    const struct nd_index_params *params;
    const struct nd_index_row *const *row;
    size_t n;
    unsigned bit_shift, memo_shift; /* 64 - bits of a place */
    struct desk *desk;
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

static uint64_t key_of(const struct linking *job, size_t table, size_t i)
{
    return job->row[i]->key ? job->row[i]->key[table]
                            : nd_table_key(job->params, (unsigned)table, job->row[i]);
}

/* Those that meet a bit that is set: the first FEW of them, and how many they are. */
static size_t find_few(const struct linking *job, size_t table, uint64_t *bits, size_t *few)
{
    size_t n = 0;

    memset(bits, 0, ((size_t)1 << (64 - job->bit_shift)) / 8);
    for (size_t i = 0; i < job->n; i++) {
        uint64_t place, *word, bit;

        if (!job->row[i])
            continue;
        place = key_of(job, table, i) >> job->bit_shift;
        word = &bits[place / 64];
        bit = UINT64_C(1) << place % 64;
        if (*word & bit) {
            if (n == FEW)
                return n + 1;
            few[n++] = i;
        }
        *word |= bit;
    }
    return n;
}

static void link_one(const struct linking *job, size_t table, size_t i)
{
    uint64_t key = key_of(job, table, i);

    for (size_t j = 0; j < i; j++) {
        if (!job->row[j] || key_of(job, table, j) != key)
            continue;
        mark(&job->linked[j], ND_LINKED_LATER);
        mark(&job->linked[i], ND_LINKED_EARLIER);
    }
}

static void link_many(const struct linking *job, size_t table, struct memo *memo)
{
    const size_t n_places = (size_t)1 << (64 - job->memo_shift);

    memset(memo, 0, n_places * sizeof *memo);
    for (size_t i = 0; i < job->n; i++) {
        uint64_t key;
        size_t place;

        if (!job->row[i])
            continue;
        key = key_of(job, table, i);
        place = (size_t)(key >> job->memo_shift);
        while (memo[place].row_plus_1 && memo[place].key != (uint32_t)key)
            place = place + 1 == n_places ? 0 : place + 1;
        if (memo[place].row_plus_1) {
            mark(&job->linked[memo[place].row_plus_1 - 1], ND_LINKED_LATER);
            mark(&job->linked[i], ND_LINKED_EARLIER);
        }
        memo[place] = (struct memo){(uint32_t)key, (uint32_t)i + 1};
    }
}

static void link_in_table(void *context, size_t table, unsigned worker)
{
    struct linking *job = context;
    size_t few[FEW], n = find_few(job, table, job->desk[worker].bits, few);

    if (n > FEW)
        link_many(job, table, job->desk[worker].memo);
    else
        for (size_t i = 0; i < n; i++)
            link_one(job, table, few[i]);
}

/* The shift for at least so many places, a power of two. */
static unsigned shift_for(size_t places)
{
    unsigned shift = 58;

    while ((size_t)1 << (64 - shift) < places)
        shift--;
    return shift;
}

static void release(struct linking *job, unsigned n_workers)
{
    for (unsigned w = 0; job->desk && w < n_workers; w++) {
        free(job->desk[w].bits);
        free(job->desk[w].memo);
    }
    free(job->desk);
}

static bool make_desks(struct linking *job, unsigned n_workers)
{
    job->desk = calloc(n_workers, sizeof *job->desk);
    for (unsigned w = 0; job->desk && w < n_workers; w++) {
        struct desk *desk = &job->desk[w];

        desk->bits = nd_alloc_array(((size_t)1 << (64 - job->bit_shift)) / 64, sizeof *desk->bits);
        desk->memo = nd_alloc_array((size_t)1 << (64 - job->memo_shift), sizeof *desk->memo);
        if (!desk->bits || !desk->memo)
            return false;
    }
    return job->desk != NULL;
}

enum nd_status nd_index_link_rows(const struct nd_index_params *params,
                                  const struct nd_index_row *const *row, size_t n,
                                  unsigned char *linked, struct nd_pool *pool, struct nd_error *err)
{
    struct linking job = {.params = params,
                          .row = row,
                          .n = n,
                          .bit_shift = shift_for(BITS_A_ROW * n),
                          .memo_shift = shift_for(2 * n),
                          .linked = linked};
    unsigned n_workers = pool ? nd_pool_threads(pool) : 1;
    size_t n_tables = nd_table_asked(params).end;
    bool ok = make_desks(&job, n_workers);

    if (ok && pool)
        nd_pool_run(pool, n_tables, link_in_table, &job);
    for (size_t table = 0; ok && !pool && table < n_tables; table++)
        link_in_table(&job, table, 0);
    release(&job, n_workers);
    return ok ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory for a batch of %zu documents", n);
}
