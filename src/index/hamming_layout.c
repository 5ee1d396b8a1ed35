/* hamming_layout.c - index files: the design, the header's hash, the order of bits in a table */
#include "index/hamming_layout.h"

#include "base/hash.h"
#include "index/hamming_plan.h"

/* Fingerprints that share a key, beyond which more tables are worth their memory. */
#define MET_AT_MOST 256.0

uint64_t nd_hamming_header_hash(const struct nd_hamming_header *header,
                                const struct nd_hamming_chunk *chunk)
{
    struct nd_hamming_header copy = *header;
    struct nd_hash_stream *s = nd_hash_stream_new();
    uint64_t hash = 0;

    if (!s)
        return 0;
    copy.hash = 0;
    nd_hash_stream_add(s, &copy, sizeof copy);
    nd_hash_stream_add(s, chunk, ((size_t)header->tables + 1) * sizeof *chunk);
    hash = nd_hash_stream_value(s);
    nd_hash_stream_free(s);
    return hash;
}

enum nd_status nd_hamming_layout_check(const struct nd_hamming_plan *plan, struct nd_error *err)
{
    if (plan->family != ND_HAMMING_BLOCKS && plan->family != ND_HAMMING_COVERING)
        return nd_fail(err, ND_EINVAL, "a file holds tables of blocks or coverings");
    if (plan->problem.bits > 64)
        return nd_fail(err, ND_EUNSUPPORTED, "fingerprints of %u bits: files hold 64 at most",
                       plan->problem.bits);
    return ND_OK;
}

enum nd_status nd_hamming_file_plan(const struct nd_hamming_problem *problem, unsigned tables,
                                    struct nd_hamming_plan *plan, struct nd_error *err)
{
    struct nd_hamming_plan made = {.tables = 0};
    enum nd_status status = nd_hamming_problem_check(problem, err);
    unsigned n = problem->distance + 1;

    if (status == ND_OK && tables)
        status = nd_hamming_design(problem, NULL, ND_HAMMING_COVERING, 0, tables, &made, err);
    else if (status == ND_OK)
        do
            status = nd_hamming_design(problem, NULL, ND_HAMMING_COVERING, 0, n, &made, err);
        while (status == ND_OK && n++ < 4 * (problem->distance + 1) &&
               (double)problem->count > MET_AT_MOST * (double)(UINT64_C(1) << made.key_bits % 64));
    if (status == ND_OK)
        status = nd_hamming_layout_check(&made, err);
    if (status == ND_OK)
        *plan = made;
    return status;
}

/* Runs of set bits of `set`, from the highest down, to the places below *to. */
static void add_runs(struct nd_hamming_order *o, uint64_t set, unsigned *to)
{
    while (set) {
        unsigned high = 63 - (unsigned)__builtin_clzll(set), low = high, len;

        while (low > 0 && set >> (low - 1) & 1)
            low--;
        len = high - low + 1;
        *to -= len;
        o->run[o->n_runs].mask = ~UINT64_C(0) >> (64 - len);
        o->run[o->n_runs].from = (uint8_t)low;
        o->run[o->n_runs++].to = (uint8_t)*to;
        set &= ~(o->run[o->n_runs - 1].mask << low);
    }
}

void nd_hamming_order_init(struct nd_hamming_order *order, uint64_t key, unsigned bits)
{
    uint64_t all = ~UINT64_C(0) >> (64 - bits);
    unsigned to = 64;

    *order = (struct nd_hamming_order){.key = key, .key_bits = (unsigned)__builtin_popcountll(key)};
    add_runs(order, key, &to);
    add_runs(order, all & ~key, &to);
}
