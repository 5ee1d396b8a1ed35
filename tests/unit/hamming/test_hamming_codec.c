/* test_hamming_codec.c - sorted values go in and come out, in no more bits than promised */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/memory.h"
#include "hamming/file/elias_fano.h"
#include "hamming/file/manku.h"
#include "hamming/file/values.h"

static uint64_t seed;

static uint64_t any(void)
{
    return nd_mix64(++seed);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Sorted; shape 0 uniform, 1 with the extremes and repeats, 2 close together, 3 all at the top. */
static uint64_t *make(size_t n, int shape)
{
    uint64_t *value = malloc((n + 1) * sizeof *value);

    assert_non_null(value);
    for (size_t i = 0; i < n; i++) {
        value[i] = any();
        if (shape == 1 && any() % 3 == 0)
            value[i] = i ? value[any() % i] : any() % 2 ? 0 : UINT64_MAX;
        if (shape == 2)
            value[i] = (UINT64_C(7) << 40) + any() % (4 * n);
        if (shape == 3)
            value[i] |= UINT64_C(0xFFFFFF) << 40;
    }
    qsort(value, n, sizeof *value, by_value);
    return value;
}

static size_t distinct(uint64_t *value, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (kept == 0 || value[kept - 1] != value[i])
            value[kept++] = value[i];
    return kept;
}

static uint64_t below(const uint64_t *value, size_t n, uint64_t x)
{
    uint64_t rank = 0;

    while (rank < n && value[rank] < x)
        rank++;
    return rank;
}

static double bound(size_t n)
{
    return 64 - log2((double)n) + 1.4427;
}

/* The values of a list are all of a range, and perhaps some more; the near ones among them are found
 * by their fronts. */
static void check_list(const struct nd_hamming_ef *ef, const uint64_t *value, size_t n)
{
    uint64_t low = any() % 4 && n ? value[any() % n] : any(), rest = ~UINT64_C(0) >> any() % 64;
    uint64_t high = (low &= ~rest) | rest, mask = (UINT64_C(1) << ef->front_bits) - 1;
    unsigned shift = ef->low_bits - ef->front_bits, distance = (unsigned)any() % 4;
    struct nd_hamming_ef_list list;
    size_t count, near = 0;
    struct nd_elias_fano_probes probes = {.n = 1 + (unsigned)any() % ND_ELIAS_FANO_PROBES,
                                          .distance = distance};
    uint64_t got;
    uint32_t *found;

    assert_true(nd_hamming_ef_list(ef, low, high, &list));
    count = (size_t)(list.end - list.first);
    found = malloc((count + 1) * ND_ELIAS_FANO_PROBES * sizeof *found);
    for (unsigned p = 0; p < probes.n; p++)
        probes.value[p] = p ? low ^ any() % 64 << any() % 58 : low;
    assert_non_null(found);
    assert_true(list.first <= list.end && list.end <= n);
    assert_true(list.first <= below(value, n, low));
    assert_true(high == UINT64_MAX ? list.end == n : list.end >= below(value, n, high + 1));
    count = nd_hamming_ef_near(ef, list.first, count, &probes, found);
    for (uint64_t i = list.first; i < list.end; i++) {
        assert_true(nd_hamming_ef_low(ef, i, &got));
        assert_true(nd_hamming_ef_value(ef, &list, i, got, &got) && got == value[i]);
        for (unsigned p = 0; p < probes.n; p++)
            if ((unsigned)__builtin_popcountll((value[i] ^ probes.value[p]) >> shift & mask) <=
                distance)
                assert_int_equal(found[near++], (i - list.first) * ND_ELIAS_FANO_PROBES + p);
    }
    assert_int_equal(near, count);
    free(found);
}

/* The number of a value that is there, the first where it is there many times; and the list of a key. */
static void check_find(const struct nd_hamming_ef *ef, const uint64_t *value, size_t n)
{
    uint64_t x = value[any() % n], at = below(value, n, x);
    unsigned free_bits = (unsigned)any() % 64;
    uint64_t rest = (UINT64_C(1) << free_bits) - 1, low = x & ~rest, number;
    struct nd_hamming_ef_list list, whole, key;
    struct nd_checked_stretch known = {NULL, NULL};

    assert_true(nd_hamming_ef_find_high(ef, x, &list));
    assert_true(nd_hamming_ef_find(ef, &list, x, &number) && value[number] == x);
    if (at + 1 == n || value[at + 1] != x)
        assert_int_equal(number, at);
    assert_true(nd_hamming_ef_list(ef, low, low | rest, &whole));
    assert_true(nd_hamming_ef_key_list(ef, low, free_bits, &known, &key));
    assert_true(key.first == whole.first && key.end == whole.end);
    assert_true(key.place == whole.place && key.rank == whole.rank);
}

static void check_ef_kind(size_t n, int shape, struct nd_hamming_ef_kind kind)
{
    uint64_t *value = make(n, shape), *out = malloc((n + 1) * sizeof *out);
    struct nd_hamming_ef ef = nd_hamming_ef_shape(n, 64, kind);
    size_t bytes = nd_hamming_ef_bytes(&ef);
    uint64_t *data = calloc(1, bytes);

    assert_true(out && data);
    nd_hamming_ef_encode(&ef, value, data);
    assert_int_equal(nd_hamming_ef_open(&ef, n, 64, kind, data, bytes, NULL), ND_OK);
    nd_hamming_ef_decode(&ef, 0, n, out);
    if (n)
        assert_memory_equal(value, out, n * sizeof *out);
    for (int i = 0; n && i < 200; i++) {
        size_t first = any() % n, count = any() % (n - first + 1);
        uint64_t x = any() % 3 ? value[any() % n] + any() % 3 - 1 : any(), rank;

        assert_true(nd_hamming_ef_decode(&ef, first, count, out));
        assert_memory_equal(value + first, out, count * sizeof *out);
        assert_true(nd_hamming_ef_rank(&ef, x, &rank));
        assert_int_equal(rank, below(value, n, x));
        check_find(&ef, value, n);
        check_list(&ef, value, n);
    }
    for (int i = 0; i < 100; i++) { /* whatever is accepted after damage still ascends */
        uint64_t at = any() % (bytes * 8), bit = UINT64_C(1) << at % 64;

        data[at / 64] ^= bit;
        if (nd_hamming_ef_open(&ef, n, 64, kind, data, bytes, NULL) == ND_OK) {
            nd_hamming_ef_decode(&ef, 0, n, out);
            for (size_t j = 1; j < n; j++)
                assert_true(out[j - 1] <= out[j]);
        }
        data[at / 64] ^= bit;
    }
    assert_int_equal(nd_hamming_ef_open(&ef, n, 64, kind, data, bytes - 8, NULL), ND_EINPUT);
    free(value);
    free(out);
    free(data);
}

static void check_ef(size_t n, int shape)
{
    check_ef_kind(n, shape, nd_hamming_ef_kind(3));
    check_ef_kind(n, shape, nd_hamming_ef_kind(11));
    check_ef_kind(n, shape,
                  (struct nd_hamming_ef_kind){12, 63}); /* few samples, all bits in front */
}

static void elias_fano_gives_back_what_went_in(void **state)
{
    (void)state;
    for (size_t n = 0; n < 70000; n = n * 3 + 1)
        for (int shape = 0; shape < 4; shape++)
            check_ef(n, shape);
}

struct packed {
    struct nd_manku m;
    struct nd_manku_block *block;
    unsigned char *data;
};

static struct packed pack(const uint64_t *value, size_t n)
{
    struct packed p = {.m = {.n = n}};
    uint8_t length[64];

    nd_manku_lengths(value, n, length);
    assert_int_equal(nd_manku_code_init(&p.m.code, length, NULL), ND_OK);
    p.m.n_blocks = nd_manku_encode(&p.m.code, value, n, NULL, NULL);
    p.block = calloc(p.m.n_blocks + 1, sizeof *p.block);
    p.data = malloc((p.m.n_blocks + 1) * ND_MANKU_BLOCK);
    assert_true(p.block && p.data);
    assert_int_equal(nd_manku_encode(&p.m.code, value, n, p.block, p.data), p.m.n_blocks);
    p.m.block = p.block;
    p.m.data = p.data;
    return p;
}

/* All blocks one after the other hold n values that ascend, and each ends with its key. */
static bool reads_in_order(const struct nd_manku *m)
{
    static uint64_t out[ND_MANKU_BLOCK_VALUES];
    uint64_t before = 0;
    size_t at = 0;

    for (size_t b = 0; b < m->n_blocks; b++) {
        size_t count = nd_manku_decode(m, b, out);

        for (size_t i = 0; i < count; i++, at++) {
            if (at && out[i] <= before)
                return false;
            before = out[i];
        }
        if (!count || before != m->block[b].key)
            return false;
    }
    return at == m->n;
}

/* A bit that is wrong is seen, or leaves values that ascend (other ones, or it was padding). */
static void check_damage(const struct nd_manku *m, unsigned char *data, size_t byte,
                         unsigned char bit)
{
    data[byte] ^= bit;
    assert_true(nd_manku_check(m, NULL) == ND_EINPUT || reads_in_order(m));
    data[byte] ^= bit;
    assert_int_equal(nd_manku_check(m, NULL), ND_OK);
}

static void check_manku(size_t n, int shape)
{
    static uint64_t out[ND_MANKU_BLOCK_VALUES];
    uint64_t *value = make(n, shape);
    struct packed p;
    size_t at = 0;

    n = distinct(value, n);
    p = pack(value, n);
    assert_int_equal(nd_manku_check(&p.m, NULL), ND_OK);
    for (size_t b = 0; b < p.m.n_blocks; b++) {
        size_t count = nd_manku_decode(&p.m, b, out);

        assert_memory_equal(out, value + at, count * sizeof *out);
        at += count;
        assert_int_equal(p.m.block[b].key, value[at - 1]);
    }
    assert_int_equal(at, n);
    for (int i = 0; n && i < 200; i++) {
        uint64_t x = any() % 3 ? value[any() % n] + any() % 3 - 1 : any();
        size_t b = nd_manku_find(&p.m, x);

        assert_true(b == p.m.n_blocks || p.m.block[b].key >= x);
        assert_true(b == 0 || p.m.block[b - 1].key < x);
    }
    for (int i = 0; p.m.n_blocks && i < 100; i++)
        check_damage(&p.m, p.data, any() % (p.m.n_blocks * ND_MANKU_BLOCK),
                     (unsigned char)(1u << any() % 8));
    free(value);
    free(p.block);
    free(p.data);
}

/* Ask one of everything.  True: an answer was refused. */
static bool is_refused(const struct nd_hamming_ef *ef, const uint64_t *value, bool is_true)
{
    const size_t n = (size_t)ef->n, first = any() % n, count = 1 + any() % (n - first) % 700;
    const uint64_t x = value[first], at = below(value, n, x), rest = ~UINT64_C(0) >> any() % 64;
    uint64_t got, out[700];
    struct nd_checked_stretch known = {NULL, NULL};
    struct nd_hamming_ef_list list;

    switch (any() % 4) {
    case 0:
        if (!nd_hamming_ef_rank(ef, x, &got))
            return true;
        assert_true(got <= n && (!is_true || got == at));
        return false;
    case 1:
        if (!nd_hamming_ef_decode(ef, first, count, out))
            return true;
        assert_true(!is_true || memcmp(out, value + first, count * sizeof *out) == 0);
        return false;
    case 2:
        if (!nd_hamming_ef_find_high(ef, x, &list) || !nd_hamming_ef_find(ef, &list, x, &got))
            return true;
        assert_true(got < n && (!is_true || value[got] == x));
        return false;
    default:
        if (!nd_hamming_ef_list(ef, x & ~rest, x | rest, &list))
            return true;
        assert_true(list.first <= list.end && list.end <= n);
        assert_true(!is_true || (list.first <= at && at < list.end));
        if (!nd_hamming_ef_fronts_are_sound(ef, &list, &known))
            return true;
        for (uint64_t i = list.first; i < list.end && i < list.first + 9; i++) {
            if (!nd_hamming_ef_low(ef, i, &got) || !nd_hamming_ef_value(ef, &list, i, got, &got))
                return true;
            assert_true(!is_true || got == value[i]);
        }
        return false;
    }
}

/*
 * With checksums an answer is that of the values or none, whichever bit is another one.  Where the
 * checksums are those of damaged bytes, answers may be wrong, but nothing else is read (as the
 * sanitizers see), and what says where to read on is within the values.
 */
static void what_is_read_of_damaged_values_is_checked(void **state)
{
    const struct nd_hamming_ef_kind kind = nd_hamming_ef_kind(3);
    const size_t n = 9000;
    size_t refused = 0, answered = 0;

    (void)state;
    for (int shape = 0; shape < 4; shape++) {
        uint64_t *value = make(n, shape);
        struct nd_hamming_ef ef = nd_hamming_ef_shape(n, 64, kind);
        size_t bytes = nd_hamming_ef_bytes(&ef);
        uint64_t *data = calloc(1, bytes);
        struct nd_checked_sums sums = {.in_unit = 0};

        assert_non_null(data);
        nd_hamming_ef_encode(&ef, value, data);
        assert_true(nd_checked_sums_add(&sums, data, bytes) && nd_checked_sums_finish(&sums));
        assert_int_equal(nd_hamming_ef_point(&ef, n, 64, kind, data, bytes, NULL), ND_OK);
        for (int round = 0; round < 400; round++) {
            uint64_t at = any() % (bytes / 8), before = data[at];

            data[at] = round % 3 ? before ^ UINT64_C(1) << any() % 64 : any() >> any() % 64;
            ef.checked = nd_checked_new(data, bytes, sums.sum);
            assert_non_null(ef.checked);
            for (int i = 0; i < 20; i++)
                *(is_refused(&ef, value, true) ? &refused : &answered) += 1;
            nd_checked_free(ef.checked);
            ef.checked = NULL;
            for (int i = 0; i < 20; i++)
                (void)is_refused(&ef, value, false);
            if (round % 5) /* now and then damage adds up */
                data[at] = before;
        }
        nd_checked_sums_release(&sums);
        free(data);
        free(value);
    }
    assert_true(refused > 500 && answered > 500);
}

static void the_block_code_gives_back_what_went_in(void **state)
{
    (void)state;
    for (size_t n = 0; n < 70000; n = n * 3 + 1)
        for (int shape = 0; shape < 4; shape++)
            check_manku(n, shape);
}

/* Uniform values: within 0.85 and 2.2 bits of 64 - log2 n + 1.44 (block keys not counted). */
static void codes_come_near_the_bound(void **state)
{
    const size_t n = 1 << 20;
    uint64_t *value = make(n, 0);
    struct nd_hamming_ef ef = nd_hamming_ef_shape(n, 64, nd_hamming_ef_kind(3));
    double bits = 8.0 * (double)nd_hamming_ef_bytes(&ef) / (double)n;
    size_t kept = distinct(value, n);
    struct packed p = pack(value, kept);

    (void)state;
    assert_true(bits < bound(n) + 0.85);
    assert_true(bits > bound(n));
    bits = 8.0 * (double)(p.m.n_blocks * ND_MANKU_BLOCK) / (double)kept;
    assert_true(bits < bound(kept) + 2.2);
    assert_true(bits > bound(kept));
    free(p.block);
    free(p.data);
    free(value);
}

/* Values of any width, in either code, by range and by number. */
static void check_values(size_t n, unsigned bits, enum nd_hamming_codec codec)
{
    uint64_t *value = make(n, 0), *out = malloc((n + 1) * sizeof *out);
    uint64_t most = ~UINT64_C(0) >> (64 - bits);
    struct nd_hamming_values v;
    size_t bytes;
    void *data;

    assert_non_null(out);
    for (size_t i = 0; i < n; i++)
        value[i] >>= 64 - bits;
    n = distinct(value, n);
    assert_int_equal(
        nd_hamming_values_encode(codec, bits, nd_hamming_ef_kind(3), value, n, &data, &bytes, NULL),
        ND_OK);
    assert_int_equal(
        nd_hamming_values_open(&v, codec, bits, nd_hamming_ef_kind(3), n, data, bytes, NULL),
        ND_OK);
    for (int i = 0; i < 100; i++) {
        uint64_t low = n && any() % 2 ? value[any() % n] : any() & most, high = low;
        size_t most_at_once = 1 + any() % 40, first = n ? any() % n : 0, at, count;
        struct nd_hamming_range range;

        high |= any() % 2 ? any() & most : most >> any() % bits;
        range = nd_hamming_values_range(&v, low, high);
        at = (size_t)below(value, n, low);
        assert_int_equal(range.at, at);
        while ((count = nd_hamming_values_next(&v, &range, most_at_once, out))) {
            assert_true(count <= most_at_once && at + count <= n);
            assert_memory_equal(out, value + at, count * sizeof *out);
            at += count;
            assert_int_equal(range.at, at);
        }
        assert_true(at == n || value[at] > high);
        count = n ? any() % (n - first) + 1 : 0;
        nd_hamming_values_decode(&v, first, count, out);
        assert_memory_equal(out, value + first, count * sizeof *out);
    }
    nd_hamming_values_close(&v);
    assert_int_equal(
        nd_hamming_values_open(&v, codec, bits, nd_hamming_ef_kind(3), n + 1, data, bytes, NULL),
        ND_EINPUT);
    assert_int_equal(
        nd_hamming_values_open(&v, codec, bits, nd_hamming_ef_kind(3), n, data, bytes - 8, NULL),
        ND_EINPUT);
    if (n && bits > 32 && codec == ND_HAMMING_MANKU)
        assert_int_equal(nd_hamming_values_open(&v, codec, bits - 30, nd_hamming_ef_kind(3), n,
                                                data, bytes, NULL),
                         ND_EINPUT);
    nd_table_free(data, bytes);
    free(value);
    free(out);
}

static void values_of_any_width_are_found(void **state)
{
    static const unsigned bits[] = {1, 7, 8, 31, 32, 33, 50, 63, 64};

    (void)state;
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
        for (size_t n = 0; n < 20000; n = n * 4 + 1) {
            check_values(n, bits[i], ND_HAMMING_EF);
            check_values(n, bits[i], ND_HAMMING_MANKU);
        }
}

static void lengths_of_no_code_are_refused(void **state)
{
    struct nd_manku_code code;
    uint8_t length[64] = {1, 1, 1};

    (void)state;
    assert_int_equal(nd_manku_code_init(&code, length, NULL), ND_EINPUT);
    length[2] = 25;
    assert_int_equal(nd_manku_code_init(&code, length, NULL), ND_EINPUT);
    length[2] = 0;
    assert_int_equal(nd_manku_code_init(&code, length, NULL), ND_OK);
}

/*
 * Highest places as often as Fibonacci numbers, the higher the rarer: Huffman's code would be as
 * long as there are places.  A place may come next where its bit is 0; setting it clears those
 * below.
 */
static size_t fibonacci(uint64_t *value)
{
    enum { TOP = 28 };
    unsigned left[TOP + 1];
    uint64_t x = 0;
    size_t n = 1;

    left[TOP] = left[TOP - 1] = 1;
    for (int place = TOP - 2; place >= 0; place--)
        left[place] = left[place + 1] + left[place + 2];
    value[0] = 0;
    for (unsigned place = 0; place <= TOP; place++)
        if (left[place] && !(x >> place & 1)) {
            left[place]--;
            x = (x >> place | 1) << place;
            value[n++] = x;
            place = UINT32_MAX; /* begin again below */
        }
    return n;
}

static void no_code_is_longer_than_allowed(void **state)
{
    uint64_t *value = malloc(1400000 * sizeof *value);
    static uint64_t out[ND_MANKU_BLOCK_VALUES];
    unsigned longest = 0;
    struct packed p;
    size_t n, at = 0;

    (void)state;
    assert_non_null(value);
    n = fibonacci(value);
    assert_true(n > 800000);
    p = pack(value, n);
    for (int i = 0; i < 64; i++)
        longest = p.m.code.length[i] > longest ? p.m.code.length[i] : longest;
    assert_true(longest <= ND_MANKU_LENGTH_MAX);
    assert_true(longest > ND_MANKU_LOOK_BITS); /* so that both ways of decoding are gone */
    assert_int_equal(nd_manku_check(&p.m, NULL), ND_OK);
    for (size_t b = 0; b < p.m.n_blocks; b++) {
        size_t count = nd_manku_decode(&p.m, b, out);

        assert_memory_equal(out, value + at, count * sizeof *out);
        at += count;
    }
    assert_int_equal(at, n);
    free(value);
    free(p.block);
    free(p.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elias_fano_gives_back_what_went_in),
        cmocka_unit_test(what_is_read_of_damaged_values_is_checked),
        cmocka_unit_test(the_block_code_gives_back_what_went_in),
        cmocka_unit_test(codes_come_near_the_bound),
        cmocka_unit_test(values_of_any_width_are_found),
        cmocka_unit_test(lengths_of_no_code_are_refused),
        cmocka_unit_test(no_code_is_longer_than_allowed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
