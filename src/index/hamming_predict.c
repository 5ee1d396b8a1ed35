/* hamming_predict.c - what a design should cost: candidates, lines, bytes, seconds */
#include <math.h>

#include "index/hamming_plan.h"

double nd_hamming_ball_share(unsigned bits, unsigned distance)
{
    double ways = 1, sum = 1;

    for (unsigned i = 1; i <= distance && i <= bits; i++) {
        ways *= (double)(bits - i + 1) / i;
        sum += ways;
    }
    return ldexp(sum, -(int)bits);
}

double nd_hamming_chance_degree(const struct nd_hamming_problem *problem)
{
    double others;

    if (nd_hamming_problem_check(problem, NULL) != ND_OK)
        return (double)NAN;
    others = problem->count ? (double)(problem->count - 1) : 0;
    return others * nd_hamming_ball_share(problem->bits, problem->distance);
}

double nd_hamming_chance_pairs(const struct nd_hamming_problem *problem)
{
    double degree = nd_hamming_chance_degree(problem);

    return isnan(degree) ? degree : 0.5 * (double)problem->count * degree;
}

struct nd_hamming_machine nd_hamming_machine_default(void)
{
    return (struct nd_hamming_machine){
        .line_ns = {1.3, 2.5, 4.5, 7},
        .compare_ns = 0.13,
        .fresh_ns = 10,
        .table_ns = 11,
        .bucket_ns = 4,
        .table_add_ns = 30,
        .half_add_ns = 20,
    };
}

/* A random line of so many bytes: between the sizes measured by the logarithm; beyond the last as
 * it went on to it, for three doublings. */
static double line_seconds(const struct nd_hamming_machine *m, double bytes)
{
    static const double measured[ND_HAMMING_SIZES] = {20, 24, 27, 29};
    double size = log2(bytes < 1 ? 1 : bytes), share;
    unsigned i = 1;

    size = size < measured[0] ? measured[0] : size;
    size = size > measured[ND_HAMMING_SIZES - 1] + 3 ? measured[ND_HAMMING_SIZES - 1] + 3 : size;
    while (i < ND_HAMMING_SIZES - 1 && size > measured[i])
        i++;
    share = (size - measured[i - 1]) / (measured[i] - measured[i - 1]);
    share = m->line_ns[i - 1] + share * (m->line_ns[i] - m->line_ns[i - 1]);
    return 1e-9 * (share > m->line_ns[0] ? share : m->line_ns[0]);
}

static double rows_bytes(const struct nd_hamming_plan *p)
{
    return (double)p->problem.count * (8.0 * (double)nd_hamming_words(p->problem.bits) + 8);
}

double nd_hamming_table_lines(double entries, unsigned bits)
{
    double lines = entries / (ND_HAMMING_FILL_TABLES * 7), most = ldexp(2, (int)bits);

    return lines < most ? lines : most;
}

enum { ENTRIES = 512 };

/* p[i]: the chance of i entries where `keys` keys of `each` entries fall into a bucket (Panjer). */
static void compound(double keys, double each, double p[ENTRIES])
{
    double of_key[ENTRIES]; /* chance of i entries of a key, times i */

    of_key[0] = 0;
    for (unsigned i = 1; i < ENTRIES; i++)
        of_key[i] = i == 1 ? each * exp(-each) : of_key[i - 1] * each / (i - 1);
    p[0] = exp(keys * expm1(-each));
    for (unsigned i = 1; i < ENTRIES; i++) {
        p[i] = 0;
        for (unsigned j = 1; j <= i; j++)
            p[i] += of_key[j] * p[i - j];
        p[i] *= keys / i;
    }
}

static double lines_of(double entries, unsigned slots)
{
    return entries <= slots ? 1 : ceil(entries / slots);
}

struct nd_hamming_chain nd_hamming_chain(double n, unsigned bits, double lines, unsigned slots)
{
    double each = ldexp(n, -(int)bits), mean = n / lines, keys = mean / each;
    struct nd_hamming_chain chain = {0, 0};
    double p[ENTRIES], own[ENTRIES];

    if (each + mean > 100) { /* long chains: on the average half a line of each is empty */
        double empty = exp(-keys);

        chain.size = mean / slots + empty + 0.5 * (1 - empty);
        chain.look_up = (each + mean) / slots + 0.5;
        return chain;
    }
    compound(keys, each, p);
    own[0] = exp(-each);
    for (unsigned i = 1; i < ENTRIES; i++)
        own[i] = own[i - 1] * each / i;
    for (unsigned i = 0; i < ENTRIES; i++) {
        chain.size += p[i] * lines_of(i, slots);
        for (unsigned j = 0; p[i] > 1e-9 && j < ENTRIES; j++)
            chain.look_up += p[i] * own[j] * lines_of(i + j, slots);
    }
    chain.size = chain.size > 1 ? chain.size : 1; /* the chances add up to a little less than 1 */
    chain.look_up = chain.look_up > 1 ? chain.look_up : 1;
    return chain;
}

struct nd_hamming_chain nd_hamming_half_chain(double n, double lines, unsigned slots)
{
    double level = 1, divided; /* the share of keys whose bucket is */
    struct nd_hamming_chain whole, half;

    while (2 * level <= lines)
        level *= 2;
    divided = lines / level - 1;
    whole = nd_hamming_chain(n, 64, level, slots);
    half = nd_hamming_chain(n, 64, 2 * level, slots);
    return (struct nd_hamming_chain){((1 - divided) * whole.size + 2 * divided * half.size) /
                                         (1 + divided),
                                     (1 - divided) * whole.look_up + divided * half.look_up};
}

static void predict_shards(const struct nd_hamming_machine *m, struct nd_hamming_plan *p,
                           double share)
{
    double n = (double)p->problem.count, words = (double)nd_hamming_words(p->problem.bits);

    p->candidates = n * share;
    p->lines = p->family == ND_HAMMING_POPCOUNT ? 2 * p->problem.distance + 1 : 1;
    p->bytes = rows_bytes(p) * 1.06;
    p->build_seconds = 1e-9 * (n * (words + 1) * m->compare_ns + p->bytes / 64 * m->fresh_ns);
    p->query_seconds =
        1e-9 * n * share * words * m->compare_ns + p->lines * line_seconds(m, p->bytes);
}

/* The share of uniform fingerprints whose number of ones is within k of that of another one. */
static double popcount_share(unsigned bits, unsigned distance)
{
    double share = 0, half = lgamma(bits + 1.0) - bits * log(2);

    for (unsigned i = 0; i <= bits; i++) {
        double of_i = exp(half - lgamma(i + 1.0) - lgamma(bits - i + 1.0));
        unsigned first = i > distance ? i - distance : 0;

        for (unsigned j = first; j <= bits && j <= i + distance; j++)
            share += of_i * exp(half - lgamma(j + 1.0) - lgamma(bits - j + 1.0));
    }
    return share < 1 ? share : 1;
}

static unsigned key_bits(const uint64_t *key, size_t words)
{
    unsigned bits = 0;

    for (size_t w = 0; w < words; w++)
        bits += (unsigned)__builtin_popcountll(key[w]);
    return bits;
}

/* Lines that are under way together where nothing depends on them: a line alone takes so long. */
#define ALONE 8

/* The queries that find something, one fingerprint each. */
#define FINDING 0.5

/*
 * Every line that is looked at costs its memory and the work of a table.  What is found costs a
 * look at its row and at its ids.  Adding writes a line in each table and, where it is full, the
 * first chained one, which is not known before; and it looks for an equal fingerprint first, in the
 * shortest chain that there is.
 */
static void predict_tables(const struct nd_hamming_machine *m, struct nd_hamming_plan *p,
                           const uint64_t *keys)
{
    const unsigned slots = 7;
    size_t words = nd_hamming_words(p->problem.bits);
    double n = (double)(p->problem.count ? p->problem.count : 1), line;
    double full = 0, shortest = n; /* tables whose line is full; lines of the shortest chain */
    double found = FINDING * ALONE / 2;
    struct nd_hamming_chain known[ND_HAMMING_BITS_MAX + 1] = {{0, 0}};

    p->candidates = p->lines = 0;
    p->bytes = rows_bytes(p);
    p->fill = ND_HAMMING_FILL_TABLES;
    for (unsigned t = 0; t < p->tables; t++) {
        unsigned bits = key_bits(keys + t * words, words);
        double lines = nd_hamming_table_lines(n, bits);

        if (known[bits].size == 0)
            known[bits] = nd_hamming_chain(n, bits, lines, slots);
        p->candidates += ldexp(n, -(int)bits);
        p->lines += known[bits].look_up;
        p->bytes += 64 * lines * (1 + ND_HAMMING_CHAINED_ROOM * (known[bits].size - 1));
        shortest = known[bits].look_up < shortest ? known[bits].look_up : shortest;
        full += known[bits].look_up > 2 ? 1 : known[bits].look_up - 1;
    }
    line = line_seconds(m, p->bytes);
    p->build_seconds =
        n * (p->tables * (line + 1e-9 * m->table_add_ns) + (full + shortest - 1) * ALONE * line) +
        1e-9 * p->bytes / 64 * m->fresh_ns;
    found += p->candidates * nd_hamming_ball_share(32, p->problem.distance);
    p->query_seconds = p->lines * (line + 1e-9 * m->table_ns) + 2 * line * found;
}

unsigned nd_hamming_half_low_bits(const struct nd_hamming_plan *plan, unsigned table)
{
    return plan->family == ND_HAMMING_HALVES || table == 0 ? 17 : 16;
}

double nd_hamming_half_most(const struct nd_hamming_plan *plan)
{
    return plan->family == ND_HAMMING_HALVES ? ldexp(1, 27)
                                             : ldexp(ND_HAMMING_LOOKS, (int)plan->key_bits);
}

double nd_hamming_half_lines(const struct nd_hamming_plan *plan, unsigned low_bits, unsigned slots)
{
    double lines = floor((double)plan->problem.count / (plan->fill * slots));
    double least = ldexp(1, (int)low_bits), most = nd_hamming_half_most(plan);

    return lines < least ? least : lines > most ? most : lines;
}

/* Of windows: tables that a query asks. */
static unsigned asked(const struct nd_hamming_plan *p)
{
    return p->problem.distance > 1 ? p->tables : p->problem.distance ? p->tables / 2 : 1;
}

/* Buckets that a query asks of a table with so many lines. */
static double looks_of(const struct nd_hamming_plan *p, unsigned table, double lines)
{
    const double data = ldexp(1, 26); /* more: bit 31 is one more that may be wrong */
    double each;

    if (p->family == ND_HAMMING_HALVES)
        return p->problem.distance < 2 ? 1 : lines > data ? 15 + lines / data : 16;
    each = ldexp(lines, -(int)p->key_bits);
    return table >= asked(p) ? 0 : each > 1 ? each : 1;
}

/* What queries and additions meet in the tables of halves or windows. */
struct half {
    double looks; /* buckets that queries ask */
    double lines; /* of those, with what is chained */
    double first; /* chained lines that adding writes, of all tables */
};

/* All tables of a plan together; its lines, candidates and bytes are filled in. */
static struct half add_halves(struct nd_hamming_plan *p, double n)
{
    struct half sum = {0, 0, 0};

    p->candidates = p->bytes = 0;
    for (unsigned t = 0; t < p->tables; t++) {
        unsigned slots = t ? 10 : 6;
        double lines = nd_hamming_half_lines(p, nd_hamming_half_low_bits(p, t), slots);
        struct nd_hamming_chain chain = nd_hamming_half_chain(n, lines, slots);
        double looks = looks_of(p, t, lines);

        sum.looks += looks;
        sum.lines += looks * chain.look_up;
        sum.first += chain.look_up < 2 ? chain.look_up - 1 : 1;
        p->candidates += looks * n / lines;
        p->bytes += 64 * lines * chain.size;
    }
    p->lines = sum.lines;
    return sum;
}

/* A chained line is known late.  The work of a bucket is that of the code's ball. */
static void predict_halves(const struct nd_hamming_machine *m, struct nd_hamming_plan *p)
{
    double n = (double)(p->problem.count ? p->problem.count : 1);
    struct half sum = add_halves(p, n);
    double line = line_seconds(m, p->bytes);

    p->build_seconds = n * (2 * (line + 1e-9 * m->half_add_ns) + sum.first * ALONE * line) +
                       1e-9 * p->bytes / 64 * m->fresh_ns;
    p->query_seconds = p->lines * (line + 1e-9 * m->bucket_ns) +
                       (sum.lines - sum.looks + FINDING * ALONE / 2) * line;
}

/*
 * The work of a table is that of a table of keys, once.  What is chained in several tables, or
 * stands in further lines of a window, is under way together, though known late: it costs two
 * lines.
 */
static void predict_windows(const struct nd_hamming_machine *m, struct nd_hamming_plan *p)
{
    double n = (double)(p->problem.count ? p->problem.count : 1), tables = asked(p);
    struct half sum = add_halves(p, n);
    double line = line_seconds(m, p->bytes);

    p->build_seconds = n * (p->tables * (line + 1e-9 * m->half_add_ns) + sum.first * 2 * line) +
                       1e-9 * p->bytes / 64 * m->fresh_ns;
    p->query_seconds = tables * (line + 1e-9 * m->table_ns) +
                       (2 * (sum.lines - tables) + FINDING * ALONE / 2) * line;
}

void nd_hamming_predict(const struct nd_hamming_machine *machine, struct nd_hamming_plan *plan,
                        const uint64_t *keys)
{
    const struct nd_hamming_problem *problem = &plan->problem;

    switch (plan->family) {
    case ND_HAMMING_SCAN: predict_shards(machine, plan, 1); break;
    case ND_HAMMING_POPCOUNT:
        predict_shards(machine, plan, popcount_share(problem->bits, problem->distance));
        break;
    case ND_HAMMING_HALVES: predict_halves(machine, plan); break;
    case ND_HAMMING_WINDOWS: predict_windows(machine, plan); break;
    case ND_HAMMING_BLOCKS:
    case ND_HAMMING_COVERING: predict_tables(machine, plan, keys); break;
    }
}
