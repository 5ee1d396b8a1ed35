/* hamming_layout.c - index files: the header and its two copies, the design, the order of bits */
#include "index/hamming_layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "index/hamming_plan.h"

/* Fingerprints that share a key, beyond which more tables are worth their memory. */
#define MET_AT_MOST 256.0

_Static_assert(sizeof(struct nd_hamming_header) <= ND_HAMMING_PAGE, "a header is one page");

static uint64_t hash_of(const unsigned char *page)
{
    unsigned char copy[ND_HAMMING_PAGE];

    memcpy(copy, page, sizeof copy);
    memset(copy + offsetof(struct nd_hamming_header, hash), 0, sizeof(uint64_t));
    return nd_hash_bytes(copy, sizeof copy);
}

void nd_hamming_header_write(const struct nd_hamming_header *header, unsigned char *page)
{
    struct nd_hamming_header copy = *header;
    uint64_t hash;

    memcpy(copy.magic, ND_HAMMING_MAGIC, sizeof copy.magic);
    copy.version = ND_HAMMING_VERSION;
    memset(page, 0, ND_HAMMING_PAGE);
    memcpy(page, &copy, sizeof copy);
    hash = hash_of(page);
    memcpy(page + offsetof(struct nd_hamming_header, hash), &hash, sizeof hash);
}

static enum nd_status damaged(const char *what, struct nd_error *err)
{
    return nd_fail(err, ND_EINPUT, "no index file, or a damaged one: %s", what);
}

/* One segment after the other, each at the beginning of a page. */
static enum nd_status check_places(const struct nd_hamming_header *h, struct nd_error *err)
{
    uint64_t end = ND_HAMMING_HEADERS * ND_HAMMING_PAGE, count = 0;

    if (h->segments > ND_HAMMING_SEGMENTS_MAX)
        return damaged("it has too many segments", err);
    for (uint32_t i = 0; i < h->segments; i++) {
        const struct nd_hamming_place *p = &h->segment[i];

        if (p->offset % ND_HAMMING_PAGE || p->offset < end || p->offset > h->file_bytes ||
            p->bytes % 8 || p->bytes > h->file_bytes - p->offset)
            return damaged("a segment is not where it should be", err);
        if (p->count == 0 || p->count > UINT32_MAX - count || p->distinct == 0 ||
            p->distinct > p->count || p->has_texts > 1)
            return damaged("its number of fingerprints cannot be", err);
        end = p->offset + p->bytes;
        count += p->count;
    }
    return end == h->file_bytes ? ND_OK : damaged("its length is not what it says", err);
}

enum nd_status nd_hamming_header_read(struct nd_hamming_header *header, const unsigned char *page,
                                      struct nd_error *err)
{
    struct nd_hamming_header made;

    memcpy(&made, page, sizeof made);
    if (memcmp(made.magic, ND_HAMMING_MAGIC, sizeof made.magic) != 0)
        return damaged("it begins otherwise", err);
    if (made.version != ND_HAMMING_VERSION)
        return nd_fail(err, ND_EUNSUPPORTED, "an index file of version %u: this is for %d",
                       made.version, ND_HAMMING_VERSION);
    if (hash_of(page) != made.hash)
        return damaged("the header's checksum is wrong", err);
    *header = made;
    return check_places(header, err);
}

enum nd_status nd_hamming_headers_read(struct nd_hamming_header *header, const unsigned char *pages,
                                       struct nd_hamming_copies *copies, struct nd_error *err)
{
    struct nd_hamming_header first, second;
    enum nd_status status = nd_hamming_header_read(&first, pages, err), other;
    bool same;

    other = nd_hamming_header_read(&second, pages + ND_HAMMING_PAGE, NULL);
    if (status != ND_OK && other != ND_OK)
        return status;
    same = status == ND_OK && other == ND_OK && first.hash == second.hash;
    copies->sound = same ? 2 : 1;
    copies->current =
        status != ND_OK || (other == ND_OK && second.generation > first.generation) ? 1 : 0;
    *header = copies->current ? second : first;
    return ND_OK;
}

uint64_t nd_hamming_header_dead(const struct nd_hamming_header *header)
{
    uint64_t live = ND_HAMMING_HEADERS * ND_HAMMING_PAGE;

    for (uint32_t i = 0; i < header->segments; i++)
        live += nd_hamming_page_up(header->segment[i].bytes);
    return nd_hamming_page_up(header->file_bytes) - live;
}

uint64_t nd_hamming_header_count(const struct nd_hamming_header *header)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < header->segments; i++)
        count += header->segment[i].count;
    return count;
}

enum nd_status nd_hamming_header_plan(const struct nd_hamming_header *h,
                                      struct nd_hamming_plan *plan, struct nd_error *err)
{
    const struct nd_hamming_problem problem = {h->bits, h->distance, nd_hamming_header_count(h)};
    enum nd_hamming_family family =
        h->family == ND_HAMMING_BLOCKS ? ND_HAMMING_BLOCKS : ND_HAMMING_COVERING;
    enum nd_status status = nd_hamming_problem_check(&problem, NULL);

    if ((h->family != ND_HAMMING_BLOCKS && h->family != ND_HAMMING_COVERING) || h->tables < 1 ||
        h->tables > ND_HAMMING_TABLES_MAX || h->key_bits == 0 || status != ND_OK ||
        (h->codec != ND_HAMMING_EF && h->codec != ND_HAMMING_MANKU) ||
        (h->codec == ND_HAMMING_MANKU && nd_hamming_is_wide(h->bits)))
        return damaged("its design is unknown", err);
    status = nd_hamming_design(&problem, NULL, family, h->key_bits, 0, plan, err);
    if (status == ND_ENOMEM)
        return status;
    if (status != ND_OK || plan->tables != h->tables || plan->key_bits != h->key_bits)
        return damaged("its design is unknown", err);
    return ND_OK;
}

enum nd_status nd_hamming_file_plan(const struct nd_hamming_problem *problem, unsigned tables,
                                    struct nd_hamming_plan *plan, struct nd_error *err)
{
    struct nd_hamming_plan made = {.tables = 0};
    enum nd_status status = nd_hamming_problem_check(problem, err);
    unsigned n = status == ND_OK ? problem->distance + 1 : 0;

    if (status == ND_OK && tables)
        status = nd_hamming_design(problem, NULL, ND_HAMMING_COVERING, 0, tables, &made, err);
    else if (status == ND_OK)
        do
            status = nd_hamming_design(problem, NULL, ND_HAMMING_COVERING, 0, n, &made, err);
        while (status == ND_OK && n++ < 4 * (problem->distance + 1) &&
               (double)problem->count > MET_AT_MOST * (double)(UINT64_C(1) << made.key_bits % 64));
    if (status == ND_OK)
        *plan = made;
    return status;
}

/*
 * Runs of set bits of `set`, from the highest down, to the places below *to, as far as there are
 * any; `taken` gets the bits that found one.
 */
static void add_runs(struct nd_hamming_order *o, const uint64_t *set, unsigned *to, uint64_t *taken)
{
    for (unsigned w = o->words; w-- > 0;) {
        uint64_t left = set[w];

        while (left && *to) {
            unsigned high = 63 - (unsigned)__builtin_clzll(left), low = high, len;

            while (low > 0 && left >> (low - 1) & 1 && high - low + 1 < *to)
                low--;
            len = high - low + 1;
            *to -= len;
            o->run[o->n_runs].mask = ~UINT64_C(0) >> (64 - len);
            o->run[o->n_runs].word = (uint8_t)w;
            o->run[o->n_runs].from = (uint8_t)low;
            o->run[o->n_runs].to = (uint8_t)*to;
            taken[w] |= o->run[o->n_runs].mask << low;
            left &= ~(o->run[o->n_runs++].mask << low);
        }
    }
}

void nd_hamming_order_init(struct nd_hamming_order *order, const uint64_t *key, unsigned bits)
{
    uint64_t rest[ND_HAMMING_WORDS_MAX] = {0}, ignored[ND_HAMMING_WORDS_MAX] = {0};
    unsigned to = nd_hamming_lead_bits(bits);

    *order = (struct nd_hamming_order){.words = (unsigned)nd_hamming_words(bits)};
    for (unsigned w = 0; w < order->words; w++) {
        uint64_t all = (w + 1) * 64 <= bits ? UINT64_MAX : ~UINT64_C(0) >> (64 - bits % 64);

        rest[w] = all & ~key[w];
    }
    add_runs(order, key, &to, order->key);
    order->key_bits = nd_hamming_lead_bits(bits) - to;
    add_runs(order, rest, &to, ignored);
}

enum nd_status nd_hamming_orders_new(struct nd_hamming_order **orders,
                                     const struct nd_hamming_plan *plan, struct nd_error *err)
{
    size_t words = nd_hamming_words(plan->problem.bits);
    uint64_t *keys = nd_hamming_keys_new(plan);
    struct nd_hamming_order *made = nd_alloc_array(plan->tables, sizeof *made);

    for (unsigned t = 0; keys && made && t < plan->tables; t++)
        nd_hamming_order_init(&made[t], keys + t * words, plan->problem.bits);
    free(keys);
    if (keys && made) {
        *orders = made;
        return ND_OK;
    }
    free(made);
    return nd_fail(err, ND_ENOMEM, "out of memory for %u tables", plan->tables);
}
