/* file_plan.c - index files: which design a file gets, and how large it becomes
 *
 * A table more makes keys longer, so a query decodes fewer fingerprints, but the file larger.
 * Unless the caller chose, tables are added until at most SHARING_MAX fingerprints of uniform ones
 * share a key.  If the file may only have a certain size, tables are then taken away until it fits.
 */
#include <math.h>
#include <string.h>

#include "hamming/file/fast.h"
#include "hamming/file/file.h"
#include "hamming/file/packed_numbers.h"
#include "hamming/file/segment.h"
#include "hamming/plan/family.h"
#include "hamming/plan/plan_checks.h"

/* Fingerprints that share a key: with more, another table is worth its memory. */
#define SHARING_MAX 256.0

/* Bits that the block code takes for a uniform value beyond lead_bits - log2(n): of an ideal code
 * 1.44, of this one up to 2.2 more (tests/unit/hamming/test_hamming_codec.c). */
#define MANKU_BITS 3.7

/* A fast file gets this many times the lines that should be needed. */
#define FAST_SPARE 1.002

/* Fingerprints that share a window: with more, more tables are faster (bench/run hamming). */
#define FAST_SHARING UINT64_C(8)

static bool is_fast(enum nd_hamming_family family)
{
    return family == ND_HAMMING_WINDOWS || family == ND_HAMMING_HALVES;
}

int nd_hamming_file_holds(enum nd_hamming_family family, enum nd_hamming_file_layout layout)
{
    const struct nd_hamming_family_row *row = nd_hamming_family_row(family);

    return row &&
           (((row->has_keys || family == ND_HAMMING_POPCOUNT) && layout != ND_HAMMING_FAST) ||
            (is_fast(family) && layout != ND_HAMMING_COMPACT));
}

const char *nd_hamming_file_layout_name(enum nd_hamming_file_layout layout)
{
    switch (layout) {
    case ND_HAMMING_COMPACT: return "compact";
    case ND_HAMMING_FAST: return "fast";
    }
    return NULL;
}

static double values_bytes(uint64_t n, unsigned bits, unsigned distance,
                           enum nd_hamming_codec codec)
{
    struct nd_hamming_ef ef;

    if (codec == ND_HAMMING_MANKU) {
        double data = ceil((double)n * (bits - log2((double)n) + MANKU_BITS) / 8 / ND_MANKU_BLOCK);

        return 64 + data * (ND_MANKU_BLOCK + sizeof(struct nd_manku_block));
    }
    ef = nd_hamming_ef_shape(n, bits, nd_hamming_ef_kind(distance));
    return (double)nd_hamming_ef_bytes(&ef);
}

/* A segment of `count` fingerprints; 0: there is none. */
static double segment_bytes(const struct nd_hamming_plan *plan, uint64_t count,
                            enum nd_hamming_codec codec)
{
    bool by_ones = plan->family == ND_HAMMING_POPCOUNT;
    unsigned bits = plan->problem.bits, tables = by_ones ? 1 : plan->tables;
    double n = (double)count, bytes = 8 * ceil(n / 2);
    double list = (double)(nd_hamming_chunks(tables) * sizeof(struct nd_hamming_chunk));

    if (count == 0)
        return 0;
    if (is_fast(plan->family)) { /* the chains of uniform fingerprints differ by less */
        bytes += 8 * n + FAST_SPARE * plan->bytes * n / (double)plan->problem.count +
                 (double)(nd_hamming_chunks(tables) * ND_HAMMING_FAST_ALIGN);
        return list + bytes + 8 * ceil(bytes / ND_CHECKED_UNIT);
    }
    bytes +=
        tables * values_bytes(count, nd_hamming_lead_bits(bits), plan->problem.distance, codec);
    if (by_ones || nd_hamming_is_wide(bits)) {
        unsigned number_bits = nd_hamming_number_bits(count);

        bytes += 8 * n * (double)nd_hamming_words(bits);
        bytes += 8.0 * (tables - 1) * (double)nd_packed_words(count, number_bits);
    }
    return list + bytes + 8 * ceil(bytes / ND_CHECKED_UNIT);
}

double nd_hamming_file_plan_bytes(const struct nd_hamming_plan *plan, enum nd_hamming_codec codec)
{
    uint64_t full, rest;

    if (!plan || !nd_hamming_file_holds(plan->family, 0))
        return (double)NAN;
    full = plan->problem.count / ND_HAMMING_FILE_MAX;
    rest = plan->problem.count % ND_HAMMING_FILE_MAX;
    return ND_HAMMING_HEADERS * ND_HAMMING_PAGE + segment_bytes(plan, rest, codec) +
           (full ? (double)full * segment_bytes(plan, ND_HAMMING_FILE_MAX, codec) : 0);
}

static enum nd_status check_codec(enum nd_hamming_codec codec, unsigned bits, struct nd_error *err)
{
    if (!nd_hamming_codec_name(codec))
        return nd_fail(err, ND_EINVAL, "codec %d does not exist", (int)codec);
    if (codec == ND_HAMMING_MANKU && nd_hamming_is_wide(bits))
        return nd_fail(err, ND_EUNSUPPORTED,
                       "the codec manku is for up to 64 bits, not for %u: use the codec ef", bits);
    return ND_OK;
}

static enum nd_status check_layout(const struct nd_hamming_shape *shape, struct nd_error *err)
{
    bool fast = shape->layout == ND_HAMMING_FAST;

    if (shape->layout && !nd_hamming_file_layout_name(shape->layout))
        return nd_fail(err, ND_EINVAL, "layout %d does not exist", (int)shape->layout);
    if (fast && (shape->bits != 64 || shape->distance > 3))
        return nd_fail(err, ND_EUNSUPPORTED,
                       "the layout fast is for fingerprints of 64 bits within 3, not of %u within "
                       "%u: use the layout compact",
                       shape->bits, shape->distance);
    if (fast && shape->codec != ND_HAMMING_EF)
        return nd_fail(err, ND_EUNSUPPORTED,
                       "the layout fast has no codec %s: use the layout compact",
                       nd_hamming_codec_name(shape->codec));
    if (shape->family &&
        !nd_hamming_file_holds(shape->family, fast ? ND_HAMMING_FAST : ND_HAMMING_COMPACT))
        return nd_fail(err, ND_EINVAL,
                       fast
                           ? "a file of the layout fast holds windows or halves"
                           : "a file of the layout compact holds tables of blocks or coverings, or "
                             "shards by popcount");
    if (shape->family == ND_HAMMING_POPCOUNT &&
        (shape->tables > 1 || shape->key_bits || shape->codec != ND_HAMMING_EF))
        return nd_fail(err, ND_EINVAL,
                       "the design popcount has one table, no keys to choose, and the codec ef");
    return ND_OK;
}

/* A design of the layout fast, if it fits in the bytes that the file may have.  *least is the least
 * that any takes. */
static bool take_fast(const struct nd_hamming_shape *shape, const struct nd_hamming_plan *made,
                      uint64_t text_bytes, double *least, struct nd_hamming_plan *plan)
{
    double bytes = (double)text_bytes + nd_hamming_file_plan_bytes(made, ND_HAMMING_EF);

    if (!is_fast(made->family) || (shape->family && made->family != shape->family))
        return false;
    *least = *least > 0 && *least < bytes ? *least : bytes;
    if (shape->max_bytes && bytes > (double)shape->max_bytes)
        return false;
    *plan = *made;
    return true;
}

/* The fewest tables of windows whose buckets few fingerprints share. */
static unsigned fast_tables(uint64_t count)
{
    return count <= FAST_SHARING << 16 ? 4 : count <= FAST_SHARING << 21 ? 6 : 8;
}

/*
 * Windows that few fingerprints share, which are the fastest designs in memory.  Where they do not
 * fit in the bytes that the file may have, the fastest design that does, by the figures of the usual
 * machine.  So it is the same on all machines.
 */
static enum nd_status plan_fast(const struct nd_hamming_shape *shape,
                                const struct nd_hamming_problem *problem, uint64_t text_bytes,
                                struct nd_hamming_plan *plan, struct nd_error *err)
{
    enum nd_hamming_family family = shape->family ? shape->family : ND_HAMMING_WINDOWS;
    bool is_given = shape->tables || shape->key_bits;
    unsigned tables =
        shape->tables || shape->key_bits ? shape->tables : fast_tables(problem->count);
    struct nd_hamming_plan all[ND_HAMMING_PLANS_MAX];
    double least = 0;
    size_t n = 1;
    enum nd_status status =
        nd_hamming_design(problem, NULL, family, shape->key_bits, tables, all, err);

    if (status == ND_OK && take_fast(shape, all, text_bytes, &least, plan))
        return ND_OK;
    if (status == ND_OK && !is_given)
        status = nd_hamming_plans(problem, NULL, all, ND_HAMMING_PLANS_MAX, &n, err);
    for (size_t i = 0; status == ND_OK && !is_given && i < n; i++)
        if (take_fast(shape, &all[i], text_bytes, &least, plan))
            return ND_OK;
    return status != ND_OK ? status
                           : nd_fail(err, ND_EINVAL,
                                     "a fast index file of %llu fingerprints takes %.0f bytes, "
                                     "more than %llu: use the layout compact",
                                     (unsigned long long)problem->count, least,
                                     (unsigned long long)shape->max_bytes);
}

static enum nd_status check_shape(const struct nd_hamming_shape *shape,
                                  struct nd_hamming_problem *problem, struct nd_error *err)
{
    enum nd_status status;

    if (!shape)
        return nd_fail(err, ND_EINVAL, "no shape of the index is given");
    problem->bits = shape->bits;
    problem->distance = shape->distance;
    status = nd_hamming_problem_check(problem, err);
    if (status == ND_OK)
        status = check_codec(shape->codec, shape->bits, err);
    if (status != ND_OK)
        return status;
    if (shape->tables && shape->key_bits)
        return nd_fail(err, ND_EINVAL,
                       "only one of the number of tables and the bits of keys can be given");
    status = check_layout(shape, err);
    if (status != ND_OK)
        return status;
    if (shape->recipe &&
        (!shape->recipe->text || !shape->recipe->len || shape->recipe->len > ND_HAMMING_RECIPE_MAX))
        return nd_fail(err, ND_EINVAL, "the text of a recipe has 1 to %u bytes",
                       ND_HAMMING_RECIPE_MAX);
    if (problem->count > ND_HAMMING_FILE_PARTS_MAX * nd_hamming_part_max(shape->part_fingerprints))
        return nd_fail(err, ND_EINVAL,
                       "%llu fingerprints are too many: a file has at most %d parts of %llu",
                       (unsigned long long)problem->count, ND_HAMMING_FILE_PARTS_MAX,
                       (unsigned long long)nd_hamming_part_max(shape->part_fingerprints));
    return ND_OK;
}

/* Without regard to what may be its size. */
static enum nd_status choose(const struct nd_hamming_shape *shape,
                             const struct nd_hamming_problem *problem,
                             enum nd_hamming_family family, struct nd_hamming_plan *plan,
                             struct nd_error *err)
{
    uint64_t most = nd_hamming_part_max(shape->part_fingerprints); /* in one sorted table */
    double count = (double)(problem->count < most ? problem->count : most);
    enum nd_status status;
    unsigned n = problem->distance + 1;

    if (family == ND_HAMMING_POPCOUNT) {
        status = nd_hamming_design(problem, NULL, family, 0, 0, plan, err);
        if (status == ND_OK)
            nd_hamming_plan_to_file(plan);
        return status;
    }
    if (shape->tables || shape->key_bits)
        return nd_hamming_design(problem, NULL, family, shape->key_bits, shape->tables, plan, err);
    do
        status = nd_hamming_design(problem, NULL, family, 0, n, plan, err);
    while (status == ND_OK && n++ < 4 * (problem->distance + 1) &&
           count > SHARING_MAX * (double)(UINT64_C(1) << plan->key_bits % 64));
    return status;
}

uint64_t nd_hamming_text_bytes(const struct nd_hamming_entries *entries)
{
    uint64_t n = entries ? entries->count : 0, bytes = 8 * ((n + 15) / 16 + 1);
    bool any = false;

    for (size_t i = 0; i < n && entries->texts; i++) {
        const char *text = entries->texts[i] ? entries->texts[i] : "0";
        size_t len = strlen(text);

        bytes += len + 1 + (len > 127);
        any |= strspn(text, "0123456789") != len;
    }
    return any && bytes > 4 * n ? bytes - 4 * n : 0;
}

enum nd_status nd_hamming_file_plan(const struct nd_hamming_shape *shape, uint64_t count,
                                    struct nd_hamming_plan *plan, struct nd_error *err)
{
    return nd_hamming_file_plan_texts(shape, count, 0, plan, err);
}

enum nd_status nd_hamming_file_plan_texts(const struct nd_hamming_shape *shape, uint64_t count,
                                          uint64_t text_bytes, struct nd_hamming_plan *plan,
                                          struct nd_error *err)
{
    struct nd_hamming_problem problem = {.count = count};
    struct nd_hamming_plan made = {.tables = 0};
    enum nd_status status = check_shape(shape, &problem, err);
    enum nd_hamming_family family;
    double bytes, max;

    if (status != ND_OK)
        return status;
    if (shape->recipe)
        text_bytes += nd_hamming_page_up(shape->recipe->len);
    if (shape->layout == ND_HAMMING_FAST)
        return plan_fast(shape, &problem, text_bytes, plan, err);
    family = shape->family ? shape->family : ND_HAMMING_COVERING;
    max = shape->max_bytes ? (double)shape->max_bytes : (double)INFINITY;
    status = choose(shape, &problem, family, &made, err);
    while (status == ND_OK &&
           (bytes = (double)text_bytes + nd_hamming_file_plan_bytes(&made, shape->codec)) > max) {
        struct nd_hamming_plan smaller;

        status =
            shape->key_bits || made.tables < 2
                ? ND_EINVAL
                : nd_hamming_design(&problem, NULL, family, 0, made.tables - 1, &smaller, NULL);
        if (status == ND_EINVAL)
            return nd_fail(err, status,
                           "an index file of %llu fingerprints%s takes %.0f bytes, more than %.0f",
                           (unsigned long long)count,
                           shape->key_bits ? " with such keys" : " of the fewest tables", bytes,
                           max);
        if (status != ND_OK)
            return nd_fail(err, status, "out of memory for planning");
        made = smaller;
    }
    if (status == ND_OK)
        *plan = made;
    return status;
}
