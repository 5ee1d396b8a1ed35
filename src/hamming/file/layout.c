/* layout.c - index files: the header and its two copies, the design, the order of bits
 *
 * The header.  It stands in the file twice, and a writer changes one copy at a time (change.c).
 * Each copy has a checksum, so a reader knows which are whole, and takes the one of the later
 * generation.  Everything that it says is checked here, before anything else of the file is read.
 *
 * The design.  A header names it by family, number of tables and length of the shortest key, and
 * the solver makes the same keys again (plan/key_plans.c).
 *
 * The order of bits.  All fingerprints with the same key must stand side by side in a sorted table,
 * so the bits of the key have to be the highest ones of what is sorted.  Each table permutes the
 * bits of a fingerprint accordingly:
 *
 *     fingerprint    | a a a | x x | b b | y y y |      a, b: bits of the key; x, y: the others
 *     in the table   | a a a | b b | x x | y y y |
 *
 * Keys are made of blocks, so there are few such runs, and each takes a shift and a mask.
 */
#include "hamming/file/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "hamming/plan/fingerprint.h"
#include "hamming/plan/key_plans.h"
#include "hamming/plan/plan_checks.h"

/* plan->fill in thousandths. */
enum { FILL_LEAST = 250, FILL_MOST = 2000 };
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
    return nd_fail(err, ND_EINPUT, "not a neardup index, or a damaged one: %s", what);
}

/* Parts follow one another, and none has too many entries. */
static enum nd_status check_parts(const struct nd_hamming_header *h, struct nd_error *err)
{
    uint64_t count = 0, max = nd_hamming_part_max(h->part_max);
    uint32_t part = 0;

    for (uint32_t i = 0; i < h->segments; i++) {
        const struct nd_hamming_place *p = &h->segment[i];

        if (i && p->part == part + 1) {
            part++;
            count = 0;
        }
        if (p->part != part || p->count > max - count)
            return damaged("its parts are impossible", err);
        if (h->layout == ND_HAMMING_FAST && count)
            return damaged("a part of the layout fast is one segment", err);
        count += p->count;
    }
    return part == 0 || h->part_max ? ND_OK : damaged("its parts are impossible", err);
}

/* One segment after the other, each at the beginning of a page. */
static enum nd_status check_places(const struct nd_hamming_header *h, struct nd_error *err)
{
    uint64_t end = nd_hamming_head_bytes(h);

    if (h->segments > ND_HAMMING_SEGMENTS_MAX)
        return damaged("it has too many segments", err);
    for (uint32_t i = 0; i < h->segments; i++) {
        const struct nd_hamming_place *p = &h->segment[i];

        if (p->offset % ND_HAMMING_PAGE || p->offset < end || p->offset > h->file_bytes ||
            p->bytes % 8 || p->bytes > h->file_bytes - p->offset)
            return damaged("a segment is not at its place", err);
        if (p->count == 0 || p->count > UINT32_MAX || p->distinct == 0 || p->distinct > p->count ||
            p->has_texts > 1)
            return damaged("its number of fingerprints is impossible", err);
        end = p->offset + p->bytes;
    }
    return end == h->file_bytes ? check_parts(h, err)
                                : damaged("its length differs from what its header says", err);
}

static bool is_within(uint64_t number, uint64_t least, uint64_t most)
{
    return number >= least && number <= most;
}

/* Check what the layout fast has, and the layout compact. */
static bool has_right_layout(const struct nd_hamming_header *h)
{
    bool is_wide = nd_hamming_is_wide(h->bits);

    if (h->layout == ND_HAMMING_FAST)
        return h->bits == 64 && h->distance <= 3 && h->codec == ND_HAMMING_EF &&
               (h->family == ND_HAMMING_WINDOWS || h->family == ND_HAMMING_HALVES) &&
               is_within(h->fill, FILL_LEAST, FILL_MOST);
    return h->layout == ND_HAMMING_COMPACT && h->fill == 0 &&
           (h->family == ND_HAMMING_BLOCKS || h->family == ND_HAMMING_COVERING ||
            h->family == ND_HAMMING_POPCOUNT) &&
           (h->codec == ND_HAMMING_EF ||
            (h->codec == ND_HAMMING_MANKU && !is_wide && h->family != ND_HAMMING_POPCOUNT));
}

/* Check every number of a header against its limits, before anything is computed from one.  That the
 * design exists is found when it is made. */
static enum nd_status check_numbers(const struct nd_hamming_header *h, struct nd_error *err)
{
    const struct nd_hamming_problem problem = {h->bits, h->distance, 0};

    if (nd_hamming_problem_check(&problem, NULL) != ND_OK ||
        !is_within(h->tables, 1, ND_HAMMING_TABLES_MAX) || !is_within(h->key_bits, 1, 64) ||
        h->requested > ND_HAMMING_TABLES_MAX || !has_right_layout(h))
        return damaged("its design is unknown", err);
    if (h->recipe_bytes > ND_HAMMING_RECIPE_MAX ||
        (h->recipe_bytes == 0 && (h->recipe_hash || h->recipe_fingerprint)))
        return damaged("the size of its recipe is impossible", err);
    if (h->generation == 0 || h->file_bytes > INT64_MAX)
        return damaged("its length or generation is impossible", err);
    return check_places(h, err);
}

static enum nd_status read_page(struct nd_hamming_header *header, const unsigned char *page,
                                struct nd_error *err)
{
    struct nd_hamming_header made;

    memcpy(&made, page, sizeof made);
    if (memcmp(made.magic, ND_HAMMING_MAGIC, sizeof made.magic) != 0)
        return nd_fail(err, ND_EINPUT, "not a neardup index, or its header is damaged");
    if (made.version != ND_HAMMING_VERSION)
        return nd_fail(err, ND_EUNSUPPORTED,
                       "an index file of version %u; this program reads version %d", made.version,
                       ND_HAMMING_VERSION);
    if (hash_of(page) != made.hash)
        return damaged("the header's checksum is wrong", err);
    *header = made;
    return check_numbers(header, err);
}

enum nd_status nd_hamming_headers_read(struct nd_hamming_header *header, const unsigned char *pages,
                                       unsigned *holders, struct nd_error *err)
{
    struct nd_hamming_header first, second;
    enum nd_status status = read_page(&first, pages, err);
    bool has_first = status == ND_OK, has_second;

    has_second = read_page(&second, pages + ND_HAMMING_PAGE, NULL) == ND_OK;
    if (!has_first && !has_second)
        return status;
    if (has_first && has_second && first.hash == second.hash)
        *holders = 3;
    else
        *holders = !has_first || (has_second && second.generation > first.generation) ? 2 : 1;
    *header = *holders & 1 ? first : second;
    return ND_OK;
}

uint64_t nd_hamming_header_dead(const struct nd_hamming_header *header)
{
    uint64_t live = nd_hamming_head_bytes(header);

    for (uint32_t i = 0; i < header->segments; i++)
        live += nd_hamming_page_up(header->segment[i].bytes);
    return nd_hamming_page_up(header->file_bytes) - live;
}

uint64_t nd_hamming_header_count_from(const struct nd_hamming_header *header, unsigned first)
{
    uint64_t count = 0;

    for (uint32_t i = first; i < header->segments; i++)
        count += header->segment[i].count;
    return count;
}

uint64_t nd_hamming_header_count(const struct nd_hamming_header *header)
{
    return nd_hamming_header_count_from(header, 0);
}

unsigned nd_hamming_header_last_part(const struct nd_hamming_header *header)
{
    unsigned first = header->segments;

    while (first > 0 &&
           header->segment[first - 1].part == header->segment[header->segments - 1].part)
        first--;
    return first;
}

/* The families are numbered in the file as in the enum. */
static enum nd_status make_fast_plan(const struct nd_hamming_header *h,
                                     struct nd_hamming_plan *plan, struct nd_error *err)
{
    const struct nd_hamming_problem problem = {h->bits, h->distance, nd_hamming_header_count(h)};
    enum nd_status status = nd_hamming_design(&problem, NULL, (enum nd_hamming_family)h->family,
                                              h->key_bits, 0, plan, err);

    if (status == ND_ENOMEM)
        return status;
    plan->fill = h->fill / 1000.0;
    if (status != ND_OK || plan->tables != h->tables || nd_hamming_plan_check(plan, NULL) != ND_OK)
        return damaged("its design is unknown", err);
    return ND_OK;
}

void nd_hamming_plan_to_file(struct nd_hamming_plan *plan)
{
    if (plan->family != ND_HAMMING_POPCOUNT)
        return;
    plan->tables = 1;
    plan->key_bits = plan->key_bits_max = ND_HAMMING_ONES_BITS;
}

static enum nd_status make_plan(const struct nd_hamming_header *h, struct nd_hamming_plan *plan,
                                struct nd_error *err)
{
    const struct nd_hamming_problem problem = {h->bits, h->distance, nd_hamming_header_count(h)};
    enum nd_status status = nd_hamming_design(&problem, NULL, (enum nd_hamming_family)h->family,
                                              h->key_bits, 0, plan, err);

    if (status == ND_ENOMEM)
        return status;
    if (status == ND_OK)
        nd_hamming_plan_to_file(plan);
    if (status != ND_OK || plan->tables != h->tables || plan->key_bits != h->key_bits)
        return damaged("its design is unknown", err);
    return ND_OK;
}

/*
 * Lead the runs of ones of `set`, from the highest down, to the places below *to, as long as there
 * are places.  `taken` gets the bits that found one.
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

static void init_order(struct nd_hamming_order *order, const uint64_t *key, unsigned bits)
{
    uint64_t rest[ND_HAMMING_WORDS_MAX] = {0}, ignored[ND_HAMMING_WORDS_MAX] = {0};
    unsigned to = nd_hamming_lead_bits(bits);

    *order = (struct nd_hamming_order){.words = (unsigned)nd_hamming_words(bits)};
    nd_hamming_fill_mask(rest, bits);
    for (unsigned w = 0; w < order->words; w++)
        rest[w] &= ~key[w];
    add_runs(order, key, &to, order->key);
    order->key_bits = nd_hamming_lead_bits(bits) - to;
    add_runs(order, rest, &to, ignored);
}

/* By the number of ones, then by the bits, from the highest down. */
static void init_ones_order(struct nd_hamming_order *order, unsigned bits)
{
    uint64_t all[ND_HAMMING_WORDS_MAX] = {0}, ignored[ND_HAMMING_WORDS_MAX] = {0};
    unsigned to = nd_hamming_lead_bits(bits) - ND_HAMMING_ONES_BITS;

    *order = (struct nd_hamming_order){
        .words = (unsigned)nd_hamming_words(bits), .key_bits = ND_HAMMING_ONES_BITS, .ones_at = to};
    nd_hamming_fill_mask(all, bits);
    add_runs(order, all, &to, ignored);
}

/* The order of each table of a compact file.  NULL: out of memory. */
static struct nd_hamming_order *make_orders(const struct nd_hamming_plan *plan, size_t words)
{
    struct nd_hamming_order *order = nd_alloc_array(plan->tables, sizeof *order);
    bool by_ones = plan->family == ND_HAMMING_POPCOUNT;
    uint64_t *keys = by_ones ? NULL : nd_hamming_keys_new(plan);

    if (order && by_ones)
        init_ones_order(order, plan->problem.bits);
    for (unsigned t = 0; order && keys && t < plan->tables; t++)
        init_order(&order[t], keys + t * words, plan->problem.bits);
    if (!by_ones && !keys) {
        free(order);
        order = NULL;
    }
    free(keys);
    return order;
}

enum nd_status nd_hamming_scheme_make(struct nd_hamming_scheme *scheme,
                                      const struct nd_hamming_header *header, struct nd_error *err)
{
    struct nd_hamming_scheme s = {
        .layout = (enum nd_hamming_file_layout)header->layout,
        .words = nd_hamming_words(header->bits),
        .codec = (enum nd_hamming_codec)header->codec,
        .ef = nd_hamming_ef_kind(header->distance),
    };
    enum nd_status status = s.layout == ND_HAMMING_FAST ? make_fast_plan(header, &s.plan, err)
                                                        : make_plan(header, &s.plan, err);

    if (status == ND_OK && s.layout == ND_HAMMING_FAST)
        *scheme = s;
    if (status != ND_OK || s.layout == ND_HAMMING_FAST)
        return status;
    s.order = make_orders(&s.plan, s.words);
    if (!s.order)
        return nd_fail(err, ND_ENOMEM, "out of memory for %u tables", s.plan.tables);
    *scheme = s;
    return ND_OK;
}

void nd_hamming_scheme_release(struct nd_hamming_scheme *scheme)
{
    free(scheme->order);
    scheme->order = NULL;
}
