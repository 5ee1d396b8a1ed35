/* test_file_hash.c - the hash of a file's bytes, whoever adds them and in whatever pieces */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/thread/thread.h"
#include "input/streams/file_hash.h"

enum { BYTES = 1 << 20, PIECE = 1000, THREADS = 4 };

static char bytes[BYTES];

static int make_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = (char)nd_mix64(i);
    return 0;
}

static struct nd_file_hash *new_hash(void)
{
    struct nd_file_hash *h = nd_file_hash_new();

    assert_non_null(h);
    return h;
}

/* The hash is that of the first bytes of the file, at once. */
static void assert_hash_of(struct nd_file_hash *h, size_t len)
{
    assert_int_equal(nd_file_hash_value(h), nd_hash_bytes(bytes, len));
}

static void what_was_added_before_is_left_out(void **state)
{
    struct nd_file_hash *h = new_hash();

    (void)state;
    nd_file_hash_add(h, bytes, 0, 0);
    nd_file_hash_add(h, bytes, 0, 1000);
    nd_file_hash_add(h, bytes + 500, 500, 100);
    assert_hash_of(h, 1000);
    nd_file_hash_add(h, bytes + 500, 500, 1500);
    assert_hash_of(h, 2000);
    nd_file_hash_free(h);
}

static void an_offer_is_taken_only_if_it_comes_next(void **state)
{
    struct nd_file_hash *h = new_hash();

    (void)state;
    nd_file_hash_offer(h, bytes + 1000, 1000, 1000);
    assert_hash_of(h, 0);
    nd_file_hash_offer(h, bytes, 0, 1000);
    nd_file_hash_offer(h, bytes + 999, 999, 1000);
    assert_hash_of(h, 1000);
    nd_file_hash_offer(h, bytes + 1000, 1000, 1000);
    assert_hash_of(h, 2000);
    nd_file_hash_free(h);
}

struct offering {
    struct nd_file_hash *h;
    size_t first;
};

/* Offer the pieces of one of the threads. */
static void offer_pieces(void *context)
{
    const struct offering *o = context;

    for (size_t at = o->first * PIECE; at < BYTES; at += PIECE * THREADS)
        nd_file_hash_offer(o->h, bytes + at, at, BYTES - at < PIECE ? BYTES - at : PIECE);
}

/* Threads offer pieces while another one adds all of them in order. */
static void threads_offer_while_one_adds(void **state)
{
    struct nd_file_hash *h = new_hash();
    struct nd_thread thread[THREADS];
    struct offering offering[THREADS];

    (void)state;
    for (size_t i = 0; i < THREADS; i++) {
        offering[i] = (struct offering){h, i};
        assert_true(nd_thread_start(&thread[i], offer_pieces, &offering[i]));
    }
    for (size_t at = 0; at < BYTES; at += 777)
        nd_file_hash_add(h, bytes + at, at, BYTES - at < 777 ? BYTES - at : 777);
    for (size_t i = 0; i < THREADS; i++)
        nd_thread_join(&thread[i]);
    assert_hash_of(h, BYTES);
    nd_file_hash_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_added_before_is_left_out),
        cmocka_unit_test(an_offer_is_taken_only_if_it_comes_next),
        cmocka_unit_test(threads_offer_while_one_adds),
    };

    return cmocka_run_group_tests(tests, make_bytes, NULL);
}
