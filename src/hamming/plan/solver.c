/* solver.c - fewest tables for a key length: X(f, k, d) of Manku 2007, §3.1.2
 *
 * A design is a set of keys (sets of bits) such that whichever k of the f bits are wrong, at least
 * one key holds none of them.  Fewer tables take less memory, longer keys meet fewer fingerprints.
 *
 * Blocks, the paper's recurrence.  Cut f bits into r blocks.  k wrong bits lie in at most k blocks,
 * so for each choice of k blocks make a table whose key is the other r - k.  If that key is too
 * short, the bits of the k chosen blocks are a problem of the same kind, of f k / r bits, and the
 * key is made longer by each key of its solution:
 *
 *     X(f, k, d) = 1                                             if d <= 0
 *     X(f, k, d) = min over r > k of C(r, k) X(f k / r, k, d - f (r - k) / r)
 *
 * where d is how many bits the key still needs (the paper counts from log2(N) down to a threshold,
 * which comes to the same).  The paper takes f k / r as it comes.  Here it is whole: blocks have
 * floor(f / r) or ceil(f / r) bits.  If j of the k chosen blocks are large ones, k floor(f / r) + j
 * bits are left, and each table is refined on its own, only as far as its own key is too short.
 *
 * Coverings.  All choices of k blocks are more than needed: any family of sets of blocks will do in
 * which every k blocks lie together in one of the sets.  That is a covering design C(v, m, k): v
 * blocks, sets of m >= k.  The set's blocks are left out of the key, the others are its key.
 * Larger sets make shorter keys but fewer tables.  Eight blocks of 8 bits within 3, with the 14
 * sets of four of the Steiner system S(3, 4, 8), have keys of 32 bits in 14 tables, where blocks
 * need 32.  Good covering designs are hard to find; tools/find_coverings.c searched for them and
 * coverings_table.c has what it found.  A covering is one more way to divide at every step.
 *
 * Steps are remembered by (bits left, bits that the key needs), so each is solved once.
 */
#include "hamming/plan/solver.h"

#include <stdlib.h>
#include <string.h>

#include "hamming/plan/coverings.h"

/* How to divide best: by a number of blocks (choice > 0), by covering ~choice (< 0), or no way. */
struct step {
    uint16_t tables; /* 0: not solved yet */
    int16_t choice;
};

struct nd_hamming_solver {
    unsigned distance;
    bool coverings;
    struct step step[ND_HAMMING_BITS_MAX + 1][ND_HAMMING_KEY_MAX + 1];
};

struct nd_hamming_solver *nd_hamming_solver_new(unsigned distance, bool coverings)
{
    struct nd_hamming_solver *s = calloc(1, sizeof *s);

    if (s) {
        s->distance = distance;
        s->coverings = coverings;
    }
    return s;
}

void nd_hamming_solver_free(struct nd_hamming_solver *s)
{
    free(s);
}

/* The binomial coefficient n over k, but at most ND_HAMMING_NO_TABLES. */
static unsigned choices(unsigned n, unsigned k)
{
    uint64_t c = 1;

    if (k > n)
        return 0;
    for (unsigned i = 1; i <= k; i++) {
        c = c * (n - k + i) / i; /* n - k + i over i, so it never falls */
        if (c >= ND_HAMMING_NO_TABLES)
            return ND_HAMMING_NO_TABLES;
    }
    return (unsigned)c;
}

/* The tables of division into so many blocks; not counted further once they reach `max`. */
static unsigned tables_of_blocks(struct nd_hamming_solver *s, unsigned bits, int key_bits,
                                 unsigned blocks, unsigned max)
{
    unsigned k = s->distance, size = bits / blocks, larger = bits % blocks, sum = 0;

    for (unsigned j = 0; j <= k && sum < max; j++) {
        unsigned ways_larger = choices(larger, j), ways = choices(blocks - larger, k - j);
        unsigned rest = k * size + j;

        if (ways_larger && ways)
            sum += ways_larger * ways *
                   nd_hamming_solver_tables(s, rest, key_bits - (int)(bits - rest));
    }
    return sum;
}

static unsigned bits_of_set(uint16_t set, const struct nd_hamming_covering *c, unsigned bits)
{
    unsigned larger = (1u << bits % c->blocks) - 1;

    return c->dropped * (bits / c->blocks) + (unsigned)__builtin_popcount(set & larger);
}

static unsigned tables_of_covering(struct nd_hamming_solver *s, unsigned bits, int key_bits,
                                   const struct nd_hamming_covering *c, unsigned max)
{
    unsigned sum = 0;

    for (unsigned t = 0; t < c->tables && sum < max; t++) {
        unsigned rest = bits_of_set(nd_hamming_covering_sets[c->first + t], c, bits);

        sum += nd_hamming_solver_tables(s, rest, key_bits - (int)(bits - rest));
    }
    return sum;
}

static struct step best_step(struct nd_hamming_solver *s, unsigned bits, int key_bits)
{
    struct step best = {ND_HAMMING_NO_TABLES, 0};

    for (unsigned blocks = s->distance + 1; blocks <= bits; blocks++) {
        unsigned tables = choices(blocks, s->distance);

        if (tables >= best.tables && s->distance)
            break; /* more blocks make more tables */
        tables = tables_of_blocks(s, bits, key_bits, blocks, best.tables);
        if (tables < best.tables)
            best = (struct step){(uint16_t)tables, (int16_t)blocks};
    }
    for (size_t i = 0; s->coverings && i < nd_hamming_n_coverings; i++) {
        const struct nd_hamming_covering *c = &nd_hamming_coverings[i];
        unsigned tables;

        if (c->distance != s->distance || c->blocks > bits || c->tables >= best.tables)
            continue;
        tables = tables_of_covering(s, bits, key_bits, c, best.tables);
        if (tables < best.tables)
            best = (struct step){(uint16_t)tables, (int16_t) ~(int)i};
    }
    return best;
}

unsigned nd_hamming_solver_tables(struct nd_hamming_solver *s, unsigned bits, int key_bits)
{
    struct step *step;

    if (key_bits <= 0)
        return 1;
    if (key_bits > ND_HAMMING_KEY_MAX || key_bits + (int)s->distance > (int)bits)
        return ND_HAMMING_NO_TABLES;
    step = &s->step[bits][key_bits];
    if (!step->tables)
        *step = best_step(s, bits, key_bits);
    return step->tables;
}

unsigned nd_hamming_solver_key_bits(struct nd_hamming_solver *s, unsigned bits, unsigned tables)
{
    int key_bits = 0;

    while (key_bits < ND_HAMMING_KEY_MAX &&
           nd_hamming_solver_tables(s, bits, key_bits + 1) <= tables)
        key_bits++;
    return (unsigned)key_bits;
}

/* The bits that are not in the key yet. */
struct bits_left {
    uint16_t bit[ND_HAMMING_BITS_MAX];
    unsigned n;
};

struct key_writer {
    struct nd_hamming_solver *solver;
    size_t words;
    uint64_t *next;
};

static void write_keys(struct key_writer *w, const struct bits_left *rest, int key_bits,
                       const uint64_t *key);

/* One table: the blocks that are not in the set join the key, those in it are divided again. */
static void write_set(struct key_writer *w, const struct bits_left *rest, int key_bits,
                      const uint64_t *key, unsigned blocks, const uint64_t *set)
{
    struct bits_left inner = {.n = 0};
    uint64_t longer[ND_HAMMING_WORDS_MAX];
    unsigned size = rest->n / blocks, larger = rest->n % blocks, i = 0;

    memcpy(longer, key, sizeof longer);
    for (unsigned b = 0; b < blocks; b++)
        for (unsigned end = i + size + (b < larger); i < end; i++) {
            if (set[b / 64] >> b % 64 & 1)
                inner.bit[inner.n++] = rest->bit[i];
            else
                longer[rest->bit[i] / 64] |= UINT64_C(1) << rest->bit[i] % 64;
        }
    write_keys(w, &inner, key_bits - (int)(rest->n - inner.n), longer);
}

/* Every choice of k of the blocks, in lexicographic order. */
static void write_blocks(struct key_writer *w, const struct bits_left *rest, int key_bits,
                         const uint64_t *key, unsigned blocks)
{
    unsigned chosen[ND_HAMMING_DISTANCE_MAX] = {0}, k = w->solver->distance, i;

    for (i = 0; i < k; i++)
        chosen[i] = i;
    for (;;) {
        uint64_t set[ND_HAMMING_WORDS_MAX] = {0};

        for (i = 0; i < k; i++)
            set[chosen[i] / 64] |= UINT64_C(1) << chosen[i] % 64;
        write_set(w, rest, key_bits, key, blocks, set);
        for (i = k; i > 0 && chosen[i - 1] == blocks - k + i - 1; i--)
            ;
        if (i == 0)
            return;
        chosen[i - 1]++;
        for (; i < k; i++)
            chosen[i] = chosen[i - 1] + 1;
    }
}

static void write_keys(struct key_writer *w, const struct bits_left *rest, int key_bits,
                       const uint64_t *key)
{
    int choice;

    if (key_bits <= 0) {
        memcpy(w->next, key, w->words * sizeof *key);
        w->next += w->words;
        return;
    }
    (void)nd_hamming_solver_tables(w->solver, rest->n, key_bits);
    /* cppcheck-suppress arrayIndexOutOfBoundsCond ; a key is 64 bits wide at most */
    choice = w->solver->step[rest->n][key_bits].choice;
    if (choice > 0) {
        write_blocks(w, rest, key_bits, key, (unsigned)choice);
    } else {
        const struct nd_hamming_covering *c = &nd_hamming_coverings[~choice];

        for (unsigned t = 0; t < c->tables; t++) {
            uint64_t set = nd_hamming_covering_sets[c->first + t];

            write_set(w, rest, key_bits, key, c->blocks, &set);
        }
    }
}

void nd_hamming_solver_keys(struct nd_hamming_solver *s, unsigned bits, int key_bits,
                            uint64_t *keys)
{
    struct key_writer w = {s, nd_hamming_words(bits), keys};
    struct bits_left all = {.n = bits};
    const uint64_t none[ND_HAMMING_WORDS_MAX] = {0};

    for (unsigned i = 0; i < bits; i++)
        all.bit[i] = (uint16_t)i;
    write_keys(&w, &all, key_bits, none);
}
