/* label_sets.c - label sets by number, and which of them a caller sees */
#include "store/catalog/label_sets.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "base/view.h"
#include "store/store.h"

/* ---- The canonical bytes of a set ---- */

/* The length of a character that a label may have at p; 0: it is none. */
static size_t label_character(const uint8_t *p, size_t len)
{
    int n = nd_utf8_sequence(p, len);
    bool is_control = p[0] < 0x20 || p[0] == 0x7F || (n == 2 && p[0] == 0xC2 && p[1] < 0xA0);

    return n < 0 || is_control || p[0] == ',' ? 0 : (size_t)n;
}

static enum nd_status check_label(struct nd_view label, struct nd_error *err)
{
    const uint8_t *p = (const uint8_t *)label.data;

    if (label.len == 0 || label.len > ND_STORE_LABEL_MAX)
        return nd_fail(err, ND_EINVAL, "a security label has 1 to %d bytes, not %zu",
                       (int)ND_STORE_LABEL_MAX, label.len);
    for (size_t at = 0, n; at < label.len; at += n) {
        n = label_character(p + at, label.len - at);
        if (n == 0)
            return nd_fail(
                err, ND_EINVAL,
                "a security label has a comma, a control character or a byte that is not valid "
                "UTF-8, at byte %zu",
                at + 1);
    }
    return ND_OK;
}

static int compare_labels(const void *a, const void *b)
{
    const struct nd_view *x = a, *y = b;
    int order = memcmp(x->data, y->data, x->len < y->len ? x->len : y->len);

    return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* Sort n labels, and keep each once: how many there are then. */
static size_t sort_labels(struct nd_view *label, size_t n)
{
    size_t kept = 0;

    if (n)
        qsort(label, n, sizeof *label, compare_labels);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || !nd_view_equal(label[kept - 1], label[i]))
            label[kept++] = label[i];
    return kept;
}

static char *join_labels(const struct nd_view *label, size_t n, size_t *len)
{
    char *bytes, *p;

    *len = 0;
    for (size_t i = 0; i < n; i++)
        *len += label[i].len + 1;
    p = bytes = malloc(*len + 1);
    for (size_t i = 0; i < n && p; i++) {
        memcpy(p, label[i].data, label[i].len);
        p += label[i].len;
        *p++ = '\0';
    }
    return bytes;
}

enum nd_status nd_label_set_bytes(const struct nd_view *labels, size_t n, char **bytes, size_t *len,
                                  struct nd_error *err)
{
    struct nd_view *sorted;
    size_t n_sorted, joined_len;
    char *joined;

    for (size_t i = 0; i < n; i++) {
        enum nd_status status = check_label(labels[i], err);

        if (status)
            return status;
    }
    sorted = nd_alloc_array(n + 1, sizeof *sorted);
    if (!sorted)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (n)
        memcpy(sorted, labels, n * sizeof *sorted);
    n_sorted = sort_labels(sorted, n);
    if (n_sorted > ND_STORE_LABELS_MAX) {
        free(sorted);
        return nd_fail(err, ND_EINVAL, "there are %zu security labels, and %d is the most",
                       n_sorted, (int)ND_STORE_LABELS_MAX);
    }
    joined = join_labels(sorted, n_sorted, &joined_len);
    free(sorted);
    if (!joined)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    *bytes = joined;
    *len = joined_len;
    return ND_OK;
}

bool nd_label_set_is_canonical(struct nd_view bytes)
{
    struct nd_view before = {0}, label;
    size_t n = 0;

    for (const char *p = bytes.data, *end = p + bytes.len; n <= ND_STORE_LABELS_MAX && p < end;
         n++) {
        const char *zero = memchr(p, '\0', (size_t)(end - p));

        if (!zero)
            return false;
        label = (struct nd_view){p, (size_t)(zero - p)};
        if (check_label(label, NULL) || (n && compare_labels(&before, &label) >= 0))
            return false;
        before = label;
        p = zero + 1;
    }
    return n <= ND_STORE_LABELS_MAX;
}

/* ---- Sets by number ---- */

/*
 * Sets that readers see never move: they are in blocks of which each has twice the room of the one
 * before. Block b has the numbers from 64 * (2^b - 1) on.
 */
enum { FIRST_BLOCK_BITS = 6, BLOCKS = 32 - FIRST_BLOCK_BITS };

struct label_set {
    struct nd_view bytes;
    const struct nd_view *label;
    size_t n_labels;
};

/* From the hash of a set's bytes to its number: open addressing.  A slot is the high half of the
 * hash and the number + 1; 0: it is free. */
struct slots {
    struct slots *older; /* of half the size: readers may still be in it */
    size_t n;            /* a power of 2, at most half of them taken */
    atomic_uint_fast64_t slot[];
};

struct nd_label_sets {
    atomic_uint_fast32_t count;
    struct slots *_Atomic slots;
    struct label_set *block[BLOCKS];
};

static struct slots *new_slots(size_t n, struct slots *older)
{
    struct slots *slots = calloc(1, sizeof *slots + n * sizeof slots->slot[0]);

    if (slots) {
        slots->n = n;
        slots->older = older;
    }
    return slots;
}

struct nd_label_sets *nd_label_sets_new(void)
{
    struct nd_label_sets *sets = calloc(1, sizeof *sets);
    struct slots *slots = new_slots(128, NULL);

    if (!sets || !slots) {
        free(sets);
        free(slots);
        return NULL;
    }
    atomic_init(&sets->count, 0);
    atomic_init(&sets->slots, slots);
    return sets;
}

static struct label_set *set_at(const struct nd_label_sets *sets, uint32_t number)
{
    uint64_t from_first = (uint64_t)number + (1u << FIRST_BLOCK_BITS);
    int b = 63 - __builtin_clzll(from_first);

    return &sets->block[b - FIRST_BLOCK_BITS][from_first - (UINT64_C(1) << b)];
}

void nd_label_sets_free(struct nd_label_sets *sets)
{
    uint32_t n;

    if (!sets)
        return;
    n = nd_label_sets_count(sets);
    for (uint32_t i = 0; i < n; i++)
        free((void *)(uintptr_t)set_at(sets, i)->label);
    for (int b = 0; b < BLOCKS; b++)
        free(sets->block[b]);
    for (struct slots *s = atomic_load(&sets->slots), *older; s; s = older) {
        older = s->older;
        free(s);
    }
    free(sets);
}

uint32_t nd_label_sets_count(const struct nd_label_sets *sets)
{
    return (uint32_t)atomic_load_explicit(&sets->count, memory_order_acquire);
}

struct nd_view nd_label_sets_bytes(const struct nd_label_sets *sets, uint32_t number)
{
    return set_at(sets, number)->bytes;
}

const struct nd_view *nd_label_sets_labels(const struct nd_label_sets *sets, uint32_t number,
                                           size_t *n)
{
    const struct label_set *set = set_at(sets, number);

    *n = set->n_labels;
    return set->label;
}

/* ---- Sets by their bytes ---- */

static uint64_t hash_of(struct nd_view bytes)
{
    return nd_hash_bytes(bytes.data ? bytes.data : "", bytes.len);
}

#define HASH_HALF UINT64_C(0xFFFFFFFF00000000)

uint32_t nd_label_sets_find(const struct nd_label_sets *sets, struct nd_view bytes)
{
    const struct slots *slots = atomic_load_explicit(&sets->slots, memory_order_acquire);
    uint64_t hash = hash_of(bytes);

    for (size_t i = hash & (slots->n - 1);; i = (i + 1) & (slots->n - 1)) {
        uint64_t slot = atomic_load_explicit(&slots->slot[i], memory_order_acquire);
        uint32_t number = (uint32_t)slot - 1;

        if (slot == 0)
            return ND_NO_LABEL_SET;
        if ((slot & HASH_HALF) == (hash & HASH_HALF) &&
            nd_view_equal(set_at(sets, number)->bytes, bytes))
            return number;
    }
}

static void take_slot(struct slots *slots, uint64_t hash, uint32_t number)
{
    size_t i = hash & (slots->n - 1);

    while (atomic_load_explicit(&slots->slot[i], memory_order_relaxed))
        i = (i + 1) & (slots->n - 1);
    atomic_store_explicit(&slots->slot[i], (hash & HASH_HALF) | (number + 1), memory_order_release);
}

/* Twice the slots, with all sets in them before a reader sees them. */
static bool grow_slots(struct nd_label_sets *sets, uint32_t count)
{
    struct slots *old = atomic_load_explicit(&sets->slots, memory_order_relaxed);
    struct slots *slots = new_slots(2 * old->n, old);

    if (!slots)
        return false;
    for (uint32_t i = 0; i < count; i++)
        take_slot(slots, hash_of(set_at(sets, i)->bytes), i);
    atomic_store_explicit(&sets->slots, slots, memory_order_release);
    return true;
}

static bool reserve_block(struct nd_label_sets *sets, uint32_t number)
{
    uint64_t from_first = (uint64_t)number + (1u << FIRST_BLOCK_BITS);
    int b = 63 - __builtin_clzll(from_first);
    struct label_set **block = &sets->block[b - FIRST_BLOCK_BITS];

    if (!*block)
        *block = nd_alloc_array((size_t)1 << b, sizeof **block);
    return *block != NULL;
}

/* A copy of a set: its labels, and behind them their bytes, in one allocation. */
static bool copy_set(struct label_set *set, struct nd_view bytes)
{
    size_t n = 0;
    struct nd_view *label;
    char *copy;

    for (size_t i = 0; i < bytes.len; i++)
        n += bytes.data[i] == '\0';
    label = malloc(n * sizeof *label + bytes.len + 1);
    if (!label)
        return false;
    copy = (char *)(label + n);
    if (bytes.len)
        memcpy(copy, bytes.data, bytes.len);
    copy[bytes.len] = '\0';
    *set = (struct label_set){{copy, bytes.len}, label, n};
    for (size_t i = 0; i < n; i++) {
        label[i] = (struct nd_view){copy, strlen(copy)};
        copy += label[i].len + 1;
    }
    return true;
}

enum nd_status nd_label_sets_add(struct nd_label_sets *sets, struct nd_view bytes, uint32_t *number)
{
    uint32_t count = nd_label_sets_count(sets);
    struct slots *slots = atomic_load_explicit(&sets->slots, memory_order_relaxed);

    if (count >= ND_NO_LABEL_SET - 64 || !reserve_block(sets, count))
        return ND_ENOMEM;
    if (2 * ((size_t)count + 1) > slots->n && !grow_slots(sets, count))
        return ND_ENOMEM;
    if (!copy_set(set_at(sets, count), bytes))
        return ND_ENOMEM;
    /* A reader who finds the set by its slot or by the count sees all that was written before. */
    take_slot(atomic_load_explicit(&sets->slots, memory_order_relaxed), hash_of(bytes), count);
    atomic_store_explicit(&sets->count, count + 1, memory_order_release);
    *number = count;
    return ND_OK;
}

/* ---- Which sets a caller sees ---- */

/* Both are labels in order, each with a zero behind it. */
static bool is_subset(struct nd_view set, struct nd_view labels)
{
    const char *label = labels.data, *end = labels.data + labels.len;

    for (const char *p = set.data; p < set.data + set.len; p += strlen(p) + 1) {
        int order = 1;

        while (label < end && (order = strcmp(p, label)) > 0)
            label += strlen(label) + 1;
        if (label >= end || order != 0)
            return false;
    }
    return true;
}

enum nd_status nd_visible_sets_update(struct nd_visible_sets *visible,
                                      const struct nd_label_sets *sets, struct nd_view labels,
                                      bool all)
{
    uint32_t count = nd_label_sets_count(sets);

    if (!labels.data)
        labels.data = "";
    for (; visible->seen < count; visible->seen++) {
        if (!all && !is_subset(nd_label_sets_bytes(sets, visible->seen), labels))
            continue;
        if (!ND_RESERVE(visible->number, &visible->capacity, visible->n + 1))
            return ND_ENOMEM;
        visible->number[visible->n++] = visible->seen;
    }
    return ND_OK;
}

bool nd_visible_sets_has(const struct nd_visible_sets *visible, uint32_t number)
{
    size_t low = 0, high = visible->n;

    if (visible->n == visible->seen)
        return number < visible->seen;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (visible->number[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < visible->n && visible->number[low] == number;
}

void nd_visible_sets_release(struct nd_visible_sets *visible)
{
    free(visible->number);
    *visible = (struct nd_visible_sets){0};
}
