/* find_coverings.c - search for small covering designs: writes src/hamming/plan/coverings_table.c
 *
 *     cc -O2 -o find_coverings tools/find_coverings.c -lm && ./find_coverings > table.c
 *
 * A design of `tables` sets of `dropped` out of `blocks` blocks serves distance k when every k
 * blocks lie in one of the sets: the table whose key leaves them out then sees none of the k wrong
 * bits. Simulated annealing over the number of k-sets that no set holds, from a fixed seed, so that
 * a run repeats itself; a smaller number of tables is tried until it fails.  Only designs are
 * written that no other beats in both tables and share of key bits.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS_MAX = 14, TABLES_MAX = 40, SUBSETS_MAX = 3500, DESIGNS_MAX = 200, STEPS = 150000 };

struct design {
    int k, blocks, dropped, tables;
    uint32_t set[TABLES_MAX];
};

static uint64_t seed = 1;

static uint64_t any(void)
{
    uint64_t z = seed += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static int member(uint32_t set, int blocks, int is_in)
{
    int b;

    do
        b = (int)(any() % (uint64_t)blocks);
    while ((int)(set >> b & 1) != is_in);
    return b;
}

static uint32_t any_set(int blocks, int size)
{
    uint32_t set = 0;

    while (__builtin_popcount(set) < size)
        set |= 1u << any() % (uint64_t)blocks;
    return set;
}

/* One move changes one block of one set; worse states are taken with falling probability. */
static int anneal(struct design *d)
{
    static uint32_t subset[SUBSETS_MAX];
    static int times[SUBSETS_MAX];
    int n = 0, bad = 0;
    double heat = 0.7;

    for (uint32_t s = 0; s < 1u << d->blocks; s++)
        if (__builtin_popcount(s) == d->k)
            subset[n++] = s;
    memset(times, 0, sizeof times);
    for (int t = 0; t < d->tables; t++) {
        d->set[t] = any_set(d->blocks, d->dropped);
        for (int i = 0; i < n; i++)
            times[i] += !(subset[i] & ~d->set[t]);
    }
    for (int i = 0; i < n; i++)
        bad += !times[i];
    for (long step = 0; step < STEPS && bad; step++) {
        uint32_t *set = &d->set[any() % (uint64_t)d->tables], old = *set;
        uint32_t next = old ^ 1u << member(old, d->blocks, 1) ^ 1u << member(old, d->blocks, 0);
        int change = 0;

        for (int i = 0; i < n; i++) {
            int was = !(subset[i] & ~old), is = !(subset[i] & ~next);

            change += was && !is && times[i] == 1;
            change -= is && !was && times[i] == 0;
        }
        if (change <= 0 || exp(-change / heat) > (double)(any() >> 11) * 0x1p-53) {
            for (int i = 0; i < n; i++)
                times[i] += !(subset[i] & ~next) - !(subset[i] & ~old);
            *set = next;
            bad += change;
        }
        heat = fmax(0.15, heat * 0.99997);
    }
    return bad == 0;
}

static int bound(int v, int d, int k)
{
    int least = 1;

    for (int i = k - 1; i >= 0; i--)
        least = (least * (v - i) + d - i - 1) / (d - i);
    return least;
}

static int found(struct design *d)
{
    int least = bound(d->blocks, d->dropped, d->k), rounds = d->k <= 3 ? 4 : 2;

    for (d->tables = least; d->tables <= TABLES_MAX && d->tables <= 2 * least + 4; d->tables++)
        for (int i = 0; i < rounds; i++)
            if (anneal(d))
                return 1;
    return 0;
}

/* Whether b has no more tables and no shorter key than a, and one of them better. */
static int beats(const struct design *b, const struct design *a)
{
    int key_a = (a->blocks - a->dropped) * b->blocks, key_b = (b->blocks - b->dropped) * a->blocks;

    return a->k == b->k && b->tables <= a->tables && key_b >= key_a &&
           (b->tables < a->tables || key_b > key_a || b->blocks < a->blocks);
}

static void print(const struct design *all, int n)
{
    int sets = 0;

    puts("/* coverings_table.c - covering designs: written by tools/find_coverings.c */\n"
         "#include \"hamming/plan/coverings.h\"\n\n"
         "const struct nd_hamming_covering nd_hamming_coverings[] = {");
    for (int i = 0; i < n; i++) {
        printf("    {%d, %d, %d, %d, %d},\n", all[i].k, all[i].blocks, all[i].dropped,
               all[i].tables, sets);
        sets += all[i].tables;
    }
    printf("};\nconst size_t nd_hamming_n_coverings = %d;\n\n", n);
    puts("const uint16_t nd_hamming_covering_sets[] = {");
    for (int i = 0; i < n; i++)
        for (int t = 0; t < all[i].tables; t++)
            printf("%s0x%04X,%s", t % 12 ? " " : "    ", all[i].set[t],
                   t % 12 == 11 || t == all[i].tables - 1 ? "\n" : "");
    puts("};");
}

int main(void)
{
    static struct design all[DESIGNS_MAX];
    int n = 0, kept = 0;

    for (int k = 2; k <= 6; k++)
        for (int v = k + 2; v <= BLOCKS_MAX - (k > 4); v++)
            for (int d = k; d < v && n < DESIGNS_MAX; d++) {
                struct design *one = &all[n];

                one->k = k;
                one->blocks = v;
                one->dropped = d;
                if (bound(v, d, k) <= TABLES_MAX && found(one)) {
                    fprintf(stderr, "k=%d v=%d d=%d T=%d\n", k, v, d, one->tables);
                    n++;
                }
            }
    for (int i = 0; i < n; i++) {
        int beaten = 0;

        for (int j = 0; j < n; j++)
            beaten |= beats(&all[j], &all[i]);
        if (!beaten)
            all[kept++] = all[i];
        else
            all[i].tables = TABLES_MAX + 1; /* what is beaten beats nothing that is left */
    }
    print(all, kept);
    return 0;
}
