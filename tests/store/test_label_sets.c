/* test_label_sets.c - label sets: their bytes, their numbers, who sees which; many readers, one writer */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread/thread.h"
#include "store/catalog/label_sets.h"
#include "store/store.h"

#include "../unit/failing_wraps.h"
#include "../unit/sized.h"

static struct nd_view view(const char *text)
{
    return (struct nd_view){text, strlen(text)};
}

/* The bytes of the labels in a text that separates them by blanks; the caller frees them. */
static struct nd_view bytes_of(const char *text)
{
    struct nd_view label[80], bytes;
    char *made;
    size_t n = 0, len;

    for (const char *p = text; *p; p += *p == ' ') {
        len = strcspn(p, " ");
        label[n++] = (struct nd_view){p, len};
        p += len;
    }
    assert_int_equal(nd_label_set_bytes(label, n, &made, &len, NULL), ND_OK);
    bytes = (struct nd_view){made, len};
    assert_true(nd_label_set_is_canonical(bytes));
    return bytes;
}

static void free_bytes(struct nd_view bytes)
{
    free((void *)(uintptr_t)bytes.data);
}

static void assert_bytes(const char *labels, const char *expected, size_t len)
{
    struct nd_view bytes = bytes_of(labels);

    assert_int_equal(bytes.len, len);
    assert_memory_equal(bytes.data, expected, len);
    free_bytes(bytes);
}

/* ---- Bytes ---- */

static void labels_are_sorted_and_each_is_there_once(void **state)
{
    (void)state;
    assert_bytes("", "", 0);
    assert_bytes("a", "a\0", 2);
    assert_bytes("red blue", "blue\0red\0", 9);
    assert_bytes("a b a b a", "a\0b\0", 4);
    assert_bytes("ab a abc", "a\0ab\0abc\0", 9);
    /* By bytes: capitals first, and beyond ASCII last. */
    assert_bytes("\xC3\xA4 z A", "A\0z\0\xC3\xA4\0", 7);
}

static void what_is_no_label_is_refused(void **state)
{
    static const char *const bad[] = {"",
                                      "a,b",
                                      "a\nb",
                                      "\x1F",
                                      "\x7F",
                                      "\xC2\x85",
                                      "\xFF",
                                      "a\xC3",
                                      "\xED\xA0\x80",
                                      "\tb",
                                      "\xC0\xAF",
                                      "\xC2\x80",
                                      "\xF5\x80\x80\x80",
                                      "\x80",
                                      "\xE2\x82 abc",
                                      "\xC2\x9F"};
    static const char *const good[] = {"a b",          "\xC2\xA0", "\xC3\xA4",
                                       "\xE2\x82\xAC", "/:;!",     "\xF0\x9F\x98\x80"};
    char longest[ND_STORE_LABEL_MAX + 1], *bytes;
    struct nd_view label;
    struct nd_error err;
    size_t len;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        label = view(bad[i]);
        assert_int_equal(nd_label_set_bytes(&label, 1, &bytes, &len, &err), ND_EINVAL);
    }
    label = (struct nd_view){"a\0b", 3};
    assert_int_equal(nd_label_set_bytes(&label, 1, &bytes, &len, &err), ND_EINVAL);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        label = view(good[i]);
        assert_int_equal(nd_label_set_bytes(&label, 1, &bytes, &len, &err), ND_OK);
        free(bytes);
    }
    memset(longest, 'x', sizeof longest);
    label = (struct nd_view){longest, ND_STORE_LABEL_MAX};
    assert_int_equal(nd_label_set_bytes(&label, 1, &bytes, &len, &err), ND_OK);
    assert_int_equal(len, ND_STORE_LABEL_MAX + 1);
    free(bytes);
    label.len++;
    assert_int_equal(nd_label_set_bytes(&label, 1, &bytes, &len, &err), ND_EINVAL);
    assert_non_null(strstr(err.message, "1 to 128 bytes"));
}

static void there_are_at_most_64_labels(void **state)
{
    char name[65][8], *bytes;
    struct nd_view label[66];
    struct nd_error err;
    size_t len;

    (void)state;
    for (int i = 0; i < 65; i++) {
        (void)snprintf(name[i], sizeof name[i], "l%02d", 64 - i);
        label[i] = view(name[i]);
    }
    label[65] = label[3];
    assert_int_equal(nd_label_set_bytes(label, 64, &bytes, &len, &err), ND_OK);
    assert_int_equal(len, 64 * 4);
    assert_true(nd_label_set_is_canonical((struct nd_view){bytes, len}));
    free(bytes);
    assert_int_equal(nd_label_set_bytes(label, 65, &bytes, &len, &err), ND_EINVAL);
    assert_non_null(strstr(err.message, "65 security labels"));
    /* One that is there twice counts once. */
    assert_int_equal(nd_label_set_bytes(label + 2, 64, &bytes, &len, &err), ND_OK);
    assert_int_equal(len, 63 * 4);
    free(bytes);
}

static void bytes_that_no_labels_make_are_known(void **state)
{
    char many[65 * 4 + 1];

    (void)state;
    assert_true(nd_label_set_is_canonical((struct nd_view){"", 0}));
    assert_true(nd_label_set_is_canonical((struct nd_view){NULL, 0}));
    assert_true(nd_label_set_is_canonical((struct nd_view){"a\0b\0", 4}));
    assert_false(nd_label_set_is_canonical((struct nd_view){"a", 1}));
    assert_false(nd_label_set_is_canonical((struct nd_view){"\0", 1}));
    assert_false(nd_label_set_is_canonical((struct nd_view){"a\0b", 3}));
    assert_false(nd_label_set_is_canonical((struct nd_view){"b\0a\0", 4}));
    assert_false(nd_label_set_is_canonical((struct nd_view){"a\0a\0", 4}));
    assert_false(nd_label_set_is_canonical((struct nd_view){"a,\0", 3}));
    for (int i = 0; i < 65; i++)
        memcpy(many + 4 * i, (const char[]){'l', (char)('0' + i / 10), (char)('0' + i % 10), 0}, 4);
    assert_true(nd_label_set_is_canonical((struct nd_view){many, 64 * 4}));
    assert_false(nd_label_set_is_canonical((struct nd_view){many, 65 * 4}));
}

/* ---- Numbers ---- */

/* Set i of as many as there are bits: the labels whose bits are 1. */
static struct nd_view numbered(uint32_t i)
{
    char text[128] = "";

    for (int bit = 0; bit < 32; bit++)
        if (i >> bit & 1)
            (void)snprintf(text + strlen(text), 8, "%s%c", text[0] ? " " : "", 'A' + bit);
    return bytes_of(text);
}

static void sets_are_found_by_their_bytes_and_numbers(void **state)
{
    uint32_t n = (uint32_t)sized(100000, 5000);
    struct nd_label_sets *sets = nd_label_sets_new();

    (void)state;
    assert_non_null(sets);
    for (uint32_t i = 0; i < n; i++) {
        struct nd_view bytes = numbered(i);
        uint32_t number;

        assert_int_equal(nd_label_sets_find(sets, bytes), ND_NO_LABEL_SET);
        assert_int_equal(nd_label_sets_add(sets, bytes, &number), ND_OK);
        assert_int_equal(number, i);
        assert_int_equal(nd_label_sets_count(sets), i + 1);
        free_bytes(bytes);
    }
    for (uint32_t i = 0; i < n; i++) {
        struct nd_view bytes = numbered(i), kept = nd_label_sets_bytes(sets, i);
        const struct nd_view *label;
        const char *at = kept.data;
        size_t n_labels;

        assert_int_equal(nd_label_sets_find(sets, bytes), i);
        assert_int_equal(kept.len, bytes.len);
        assert_memory_equal(kept.data, bytes.data, bytes.len);
        label = nd_label_sets_labels(sets, i, &n_labels);
        assert_int_equal(n_labels, __builtin_popcount(i));
        for (size_t j = 0; j < n_labels; j++, at += 2) {
            assert_int_equal(label[j].len, 1);
            assert_ptr_equal(label[j].data, at);
        }
        free_bytes(bytes);
    }
    nd_label_sets_free(sets);
    nd_label_sets_free(NULL);
}

/* ---- Who sees what ---- */

static void a_caller_sees_the_subsets_of_their_labels(void **state)
{
    enum { BITS = 8, N = 1 << BITS };
    struct nd_label_sets *sets = nd_label_sets_new();
    uint32_t number;

    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        struct nd_view bytes = numbered(i);

        assert_int_equal(nd_label_sets_add(sets, bytes, &number), ND_OK);
        free_bytes(bytes);
    }
    for (uint32_t caller = 0; caller < N; caller++) {
        struct nd_visible_sets visible = {0};
        struct nd_view labels = numbered(caller);
        size_t n = 0;

        assert_int_equal(nd_visible_sets_update(&visible, sets, labels, false), ND_OK);
        for (uint32_t i = 0; i < N; i++) {
            bool is_seen = (i & ~caller) == 0;

            assert_int_equal(nd_visible_sets_has(&visible, i), is_seen);
            if (is_seen)
                assert_int_equal(visible.number[n++], i);
        }
        assert_int_equal(visible.n, n);
        assert_false(nd_visible_sets_has(&visible, N));
        nd_visible_sets_release(&visible);
        free_bytes(labels);
    }
    nd_label_sets_free(sets);
}

static void a_label_is_not_taken_for_its_beginning(void **state)
{
    static const char *const set[] = {"a", "ab", "a ab", "b", "", "abc", "a b"};
    static const bool seen[] = {false, true, false, true, true, false, false};
    struct nd_label_sets *sets = nd_label_sets_new();
    struct nd_visible_sets visible = {0};
    struct nd_view caller = bytes_of("ab b");
    uint32_t number;

    (void)state;
    for (size_t i = 0; i < 7; i++) {
        struct nd_view bytes = bytes_of(set[i]);

        assert_int_equal(nd_label_sets_add(sets, bytes, &number), ND_OK);
        free_bytes(bytes);
    }
    assert_int_equal(nd_visible_sets_update(&visible, sets, caller, false), ND_OK);
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(nd_visible_sets_has(&visible, i), seen[i]);
    nd_visible_sets_release(&visible);
    free_bytes(caller);
    nd_label_sets_free(sets);
}

static void new_sets_become_visible_with_an_update(void **state)
{
    struct nd_label_sets *sets = nd_label_sets_new();
    struct nd_visible_sets none = {0}, all = {0};
    uint32_t number;

    (void)state;
    for (uint32_t i = 0; i < 100; i++) {
        struct nd_view bytes = numbered(i);

        assert_int_equal(nd_label_sets_add(sets, bytes, &number), ND_OK);
        free_bytes(bytes);
        assert_false(nd_visible_sets_has(&all, i));
        assert_int_equal(nd_visible_sets_update(&all, sets, view(""), true), ND_OK);
        assert_int_equal(nd_visible_sets_update(&none, sets, (struct nd_view){NULL, 0}, false),
                         ND_OK);
        assert_true(nd_visible_sets_has(&all, i));
        assert_false(nd_visible_sets_has(&all, i + 1));
        assert_int_equal(nd_visible_sets_has(&none, i), i == 0);
        assert_int_equal(none.n, 1);
    }
    nd_visible_sets_release(&all);
    nd_visible_sets_release(&none);
    nd_label_sets_free(sets);
}

/* ---- Readers beside a writer ---- */

struct readers {
    struct nd_label_sets *sets;
    uint32_t n;
    atomic_bool is_wrong;
};

/* Whatever is counted can be found, by its number and by its bytes. */
static void read_all(void *context)
{
    struct readers *r = context;
    struct nd_visible_sets visible = {0};

    for (uint32_t count = 0, seen = 0; seen < r->n; seen = count) {
        count = nd_label_sets_count(r->sets);
        for (uint32_t i = seen; i < count; i++)
            if (nd_label_sets_find(r->sets, nd_label_sets_bytes(r->sets, i)) != i)
                atomic_store(&r->is_wrong, true);
        if (nd_visible_sets_update(&visible, r->sets, view(""), true) || visible.n < count)
            atomic_store(&r->is_wrong, true);
    }
    nd_visible_sets_release(&visible);
}

static void readers_find_every_set_that_was_added(void **state)
{
    struct readers r = {nd_label_sets_new(), (uint32_t)sized(100000, 20000), false};
    struct nd_thread reader[3];
    uint32_t number;

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_true(nd_thread_start(&reader[i], read_all, &r));
    for (uint32_t i = 0; i < r.n; i++) {
        char bytes[16];
        int len = snprintf(bytes, sizeof bytes, "l%u", (unsigned)i);

        assert_int_equal(
            nd_label_sets_add(r.sets, (struct nd_view){bytes, (size_t)len + 1}, &number), ND_OK);
    }
    for (int i = 0; i < 3; i++)
        nd_thread_join(&reader[i]);
    assert_false(atomic_load(&r.is_wrong));
    nd_label_sets_free(r.sets);
}

/* ---- Every allocation fails once ---- */

static enum nd_status use_sets(void)
{
    struct nd_view label[] = {view("b"), view("a")};
    struct nd_label_sets *sets = nd_label_sets_new();
    struct nd_visible_sets visible = {0};
    enum nd_status status = sets ? ND_OK : ND_ENOMEM;
    char *bytes = NULL, name[16];
    uint32_t number = 0;
    size_t len;

    if (status == ND_OK)
        status = nd_label_set_bytes(label, 2, &bytes, &len, NULL);
    if (status == ND_OK) {
        status = nd_label_sets_add(sets, (struct nd_view){bytes, len}, &number);
        free(bytes);
    }
    for (uint32_t i = 1; i < 300 && status == ND_OK; i++) {
        struct nd_view set = {name, (size_t)snprintf(name, sizeof name, "l%u", (unsigned)i) + 1};

        status = nd_label_sets_add(sets, set, &number);
        assert_int_equal(nd_label_sets_count(sets), status ? i : i + 1);
        assert_int_equal(nd_label_sets_find(sets, set), status ? ND_NO_LABEL_SET : i);
        if (status == ND_OK)
            status = nd_visible_sets_update(&visible, sets, view(""), true);
    }
    nd_visible_sets_release(&visible);
    nd_label_sets_free(sets);
    return status;
}

static void without_memory_nothing_is_added(void **state)
{
    long n = 0;

    (void)state;
    for (;; n++) {
        enum nd_status status;

        atomic_store(&has_failed, 0);
        atomic_store(&countdown, n);
        status = use_sets();
        atomic_store(&countdown, -1);
        if (!atomic_load(&has_failed))
            break;
        assert_int_equal(status, ND_ENOMEM);
    }
    assert_true(n > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_sorted_and_each_is_there_once),
        cmocka_unit_test(what_is_no_label_is_refused),
        cmocka_unit_test(there_are_at_most_64_labels),
        cmocka_unit_test(bytes_that_no_labels_make_are_known),
        cmocka_unit_test(sets_are_found_by_their_bytes_and_numbers),
        cmocka_unit_test(a_caller_sees_the_subsets_of_their_labels),
        cmocka_unit_test(a_label_is_not_taken_for_its_beginning),
        cmocka_unit_test(new_sets_become_visible_with_an_update),
        cmocka_unit_test(readers_find_every_set_that_was_added),
        cmocka_unit_test(without_memory_nothing_is_added),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
