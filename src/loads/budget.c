/* budget.c - the memory of a run, divided among those who need it */
#include "loads/budget.h"
#include "base/system/descriptor.h"
#include "base/system/process.h"

#include <neardup/size.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RECORDS = 4, /* the parts, as above */
    CACHE = 16,
    IDS = 16,
    SORTS = 16,
    KEYS = 16,
    LINK_SORT = 8,
    LINK_ROWS = 8,
    ENGINE = 2,
    ARRAYS = 4,
    AT_MOST = 96 << 20,
    FEW_DOCUMENTS = 10000,
    SLACK = 3, /* what is held may grow by a third after it is measured: of few documents, tables */
    SHARE_LEAST = 1 << 16, /* smaller totals than ND_BUDGET_LEAST are of tests */
    RECORD_LEAST = 1 << 12,
    BATCH_MOST = 8 << 20,
    /* Bytes of memory for each byte of a record: in the batches that are read and parsed, and in
     * each thread. */
    IN_BATCHES = 8,
    IN_THREAD = 24
};

static uint64_t per_record_byte(unsigned threads)
{
    return (uint64_t)RECORDS * (IN_BATCHES + (uint64_t)IN_THREAD * threads);
}

static size_t at_most(uint64_t bytes, uint64_t most)
{
    return (size_t)(bytes < most ? bytes : most);
}

static size_t at_least(size_t bytes, size_t least)
{
    return bytes > least ? bytes : least;
}

struct nd_budget nd_budget_divide(uint64_t total, unsigned threads)
{
    struct nd_budget b = {
        .total = total,
        .cache_bytes = at_most(total / CACHE, AT_MOST),
        .id_bytes = at_most(total / IDS, AT_MOST) / 4 * 3,
        .known_bytes = at_most(total / IDS, AT_MOST),
        .sort_bytes = (size_t)(total / SORTS),
        .key_bytes = (size_t)(total / KEYS),
        .link_sort_bytes = (size_t)(total / LINK_SORT),
        .link_filter_bytes = (size_t)(total / ENGINE - total / LINK_SORT),
        .link_rows_bytes = (size_t)(total / LINK_ROWS),
        .engine_bytes = (size_t)(total / ENGINE),
        .array_bytes = (size_t)(total / ARRAYS),
        .record_bytes = (size_t)(total / per_record_byte(threads)),
    };

    b.batch_bytes = at_most(b.record_bytes, BATCH_MOST);
    b.batch_bytes = at_least(b.batch_bytes, SHARE_LEAST);
    b.key_bytes = at_least(b.key_bytes, SHARE_LEAST);
    b.array_bytes = at_least(b.array_bytes, SHARE_LEAST);
    b.record_bytes = at_least(b.record_bytes, RECORD_LEAST);
    return b;
}

uint64_t nd_budget_for_record(uint64_t bytes, unsigned threads)
{
    return bytes * per_record_byte(threads) + per_record_byte(threads);
}

uint64_t nd_budget_for_engine(uint64_t bytes)
{
    return bytes * ENGINE;
}

uint64_t nd_budget_for_arrays(uint64_t bytes)
{
    return bytes * ARRAYS;
}

uint64_t nd_memory_in_use(void)
{
    return nd_process_bytes();
}

/*
 * How many times of what is held now will be held at the end.  What is held of few documents is that
 * of the run, which does not grow: no document is taken to hold more than a FEW_DOCUMENTSth of it.
 */
static double growth(uint64_t documents, uint64_t done, uint64_t all)
{
    double share = documents < FEW_DOCUMENTS ? (double)documents / FEW_DOCUMENTS : 1;

    return done && done < all ? 1 + share * ((double)all / (double)done - 1) : 1;
}

enum nd_status nd_budget_check(const struct nd_budget *budget, uint64_t documents, uint64_t done,
                               uint64_t all, struct nd_error *err)
{
    uint64_t total = budget->total > ND_BUDGET_LEAST ? budget->total : ND_BUDGET_LEAST;
    uint64_t held = nd_memory_in_use();
    double needed;
    char text[ND_BUDGET_TEXT];

    held = held > budget->in_use_before ? held - budget->in_use_before : 0;
    if (held <= total / 3 * 2)
        return ND_OK;
    needed = (double)held * 3 / 2 * growth(documents, done, all) * (1 + 1.0 / SLACK);
    return nd_fail(err, ND_ENOMEM,
                   "memory: what is held of the first %" PRIu64 " documents takes %" PRIu64
                   " MB; the whole needs about %s",
                   documents, held >> 20, nd_budget_text((uint64_t)needed, text));
}

const char *nd_budget_text(uint64_t total, char text[ND_BUDGET_TEXT])
{
    const uint64_t mega = UINT64_C(1) << 20;

    if (total < ND_BUDGET_LEAST)
        total = ND_BUDGET_LEAST;
    snprintf(text, ND_BUDGET_TEXT, "%" PRIu64 "M", (total + mega - 1) / mega);
    return text;
}

enum nd_status nd_budget_parse(const char *text, uint64_t *total, struct nd_error *err)
{
    uint64_t bytes;

    if (nd_size_parse(text, &bytes, NULL) != ND_OK || bytes < ND_BUDGET_LEAST)
        return nd_fail(err, ND_EINVAL,
                       "memory: '%s' is not a number of bytes such as 500M or 2G, of at least 64M",
                       text);
    *total = bytes;
    return ND_OK;
}
