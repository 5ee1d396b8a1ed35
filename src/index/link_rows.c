/* link_rows.c - which rows of a batch may meet one another */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/live.h"

/*
 * The tables are gone through in parallel, one table a task.
 *
 * Most rows of a batch share no key with another, so a filter goes first: a bit array, in which each
 * row sets the bit that the upper bits of its key choose.  A row that finds its bit set shares the
 * key with an earlier row, or only the bit by chance: 1 in 256 at most, as there are 256 bits a row.
 * If few rows do, each of them is compared with all rows before it.
 *
 * If they are many, a hash table remembers for each key the last row that had it.  It holds the lower
 * 32 bits of the key; its place comes from the upper bits.  A row that finds its own 32 bits there is
 * marked to have an earlier one, and that one to have a later.  A mark too many, where two keys agree
 * in these bits, costs time and changes no result.
 */
enum { FEW = 16, BITS_A_ROW = 256 };

struct link_memo {
    uint32_t key;
    uint32_t row_plus_1;
};

struct row_linking {
    const struct nd_index_params *params;
    const struct nd_index_row *const *row;
    size_t n;
    unsigned bit_shift, memo_shift; /* 64 - bits of a place */
    uint64_t *bits;                 /* of each worker, one after the other */
    struct link_memo *memo;         /* the same */
    unsigned char *linked;
};

/* By several threads at once. */
static void mark(unsigned char *flags, unsigned char flag)
{
    if (!(__atomic_load_n(flags, __ATOMIC_RELAXED) & flag))
        __atomic_fetch_or(flags, flag, __ATOMIC_RELAXED);
}

static size_t places(unsigned shift)
{
    return (size_t)1 << (64 - shift);
}

static uint64_t key_of(const struct row_linking *job, size_t table, size_t i)
{
    return job->row[i]->key ? job->row[i]->key[table]
                            : nd_table_key(job->params, (unsigned)table, job->row[i]);
}

/* Find the rows that meet a bit that is set: the first FEW of them, and how many they are. */
static size_t find_few(const struct row_linking *job, size_t table, uint64_t *bits, size_t *few)
{
    size_t n = 0;

    memset(bits, 0, places(job->bit_shift) / 8);
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

static void link_one(const struct row_linking *job, size_t table, size_t i)
{
    uint64_t key = key_of(job, table, i);

    for (size_t j = 0; j < i; j++) {
        if (!job->row[j] || key_of(job, table, j) != key)
            continue;
        mark(&job->linked[j], ND_LINKED_LATER);
        mark(&job->linked[i], ND_LINKED_EARLIER);
    }
}

static void link_many(const struct row_linking *job, size_t table, struct link_memo *memo)
{
    const size_t n_places = places(job->memo_shift);

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
        memo[place] = (struct link_memo){(uint32_t)key, (uint32_t)i + 1};
    }
}

static void link_in_table(void *context, size_t table, unsigned worker)
{
    struct row_linking *job = context;
    uint64_t *bits = job->bits + worker * (places(job->bit_shift) / 64);
    size_t few[FEW], n = find_few(job, table, bits, few);

    if (n > FEW)
        link_many(job, table, job->memo + worker * places(job->memo_shift));
    else
        for (size_t i = 0; i < n; i++)
            link_one(job, table, few[i]);
}

/* The shift for at least so many places, a power of two. */
static unsigned shift_for(size_t n)
{
    unsigned shift = 58;

    while (places(shift) < n)
        shift--;
    return shift;
}

enum nd_status nd_index_link_rows(const struct nd_index_params *params,
                                  const struct nd_index_row *const *row, size_t n,
                                  unsigned char *linked, struct nd_pool *pool, struct nd_error *err)
{
    struct row_linking job = {.params = params,
                              .row = row,
                              .n = n,
                              .bit_shift = shift_for(BITS_A_ROW * n),
                              .memo_shift = shift_for(2 * n),
                              .linked = linked};
    unsigned n_workers = pool ? nd_pool_threads(pool) : 1;
    size_t n_tables = nd_table_queried(params);
    bool ok;

    job.bits = nd_alloc_array(n_workers, places(job.bit_shift) / 64 * sizeof *job.bits);
    job.memo = nd_alloc_array(n_workers, places(job.memo_shift) * sizeof *job.memo);
    ok = job.bits && job.memo;
    if (ok && pool)
        nd_pool_run(pool, n_tables, link_in_table, &job);
    for (size_t table = 0; ok && !pool && table < n_tables; table++)
        link_in_table(&job, table, 0);
    free(job.bits);
    free(job.memo);
    return ok ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory for a batch of %zu documents", n);
}
