/* attributes.c - what pairs are divided by that is of their documents: site, length, a field */
#include "uses/eval/attributes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/address.h"

/* Lengths below this are one class; each class after it is twice as long. */
enum { SHORT_TOKENS = 50 };

void nd_attributes_release(struct nd_attributes *a)
{
    nd_groups_release(&a->values);
    free(a->value);
    *a = (struct nd_attributes){.n = 0};
}

void nd_attributes_parse(struct nd_attributes *a, const char *by)
{
    if (strncmp(by, "site:", 5) == 0 && by[5]) {
        a->kind = ND_ATTRIBUTE_SITE;
        a->field = by + 5;
    } else if (strncmp(by, "prefix:", 7) == 0 && by[7]) {
        a->kind = ND_ATTRIBUTE_PREFIX;
        a->field = by + 7;
    } else if (strncmp(by, "field:", 6) == 0 && by[6]) {
        a->kind = ND_ATTRIBUTE_FIELD;
        a->field = by + 6;
    } else if (strcmp(by, "length") == 0) {
        a->kind = ND_ATTRIBUTE_LENGTH;
    }
}

/* Take what stands before the first ":" or "/"; data NULL: neither is there. */
static struct nd_view prefix_of(struct nd_view field)
{
    size_t len = 0;

    while (len < field.len && field.data[len] != ':' && field.data[len] != '/')
        len++;
    return len < field.len ? (struct nd_view){field.data, len} : (struct nd_view){NULL, 0};
}

bool nd_attributes_add(struct nd_attributes *a, struct nd_view field, uint64_t tokens)
{
    char host[ND_HOST_MAX + 1];
    struct nd_view value = field, path;
    uint32_t number = 0;

    if (!ND_RESERVE(a->value, &a->capacity, a->n + 1))
        return false;
    if (a->kind == ND_ATTRIBUTE_LENGTH) {
        number = tokens < UINT32_MAX ? (uint32_t)tokens : UINT32_MAX;
    } else {
        if (a->kind == ND_ATTRIBUTE_SITE) {
            value.data =
                field.data && nd_address_split(field, host, &value.len, &path) ? host : NULL;
        } else if (a->kind == ND_ATTRIBUTE_PREFIX) {
            value = prefix_of(field);
        }
        if (!nd_groups_number(&a->values, value, &number))
            return false;
    }
    a->value[a->n++] = number;
    return true;
}

/* The class of a length: 0 below SHORT_TOKENS, 1 below twice that … */
static unsigned class_of(uint32_t tokens)
{
    unsigned class = 0;

    for (uint64_t end = SHORT_TOKENS; tokens >= end; end *= 2)
        class ++;
    return class;
}

/* Number the classes of lengths in their order. */
static bool name_classes(struct nd_groups *texts)
{
    for (unsigned class = 0; class <= class_of(UINT32_MAX); class ++) {
        const uint64_t end = (uint64_t)SHORT_TOKENS << class, from = class ? end / 2 : 0;
        char text[48];
        const int len = snprintf(text, sizeof text, "%" PRIu64 "-%" PRIu64, from, end - 1);
        uint32_t number;

        if (!nd_groups_number(texts, (struct nd_view){text, (size_t)len}, &number))
            return false;
    }
    return true;
}

static struct nd_view text_of(const struct nd_attributes *a, uint32_t x, uint32_t y)
{
    static const struct nd_view unknown = {"unknown", 7}, same = {"same", 4}, other = {"other", 5};

    if (!x || !y)
        return unknown;
    if (x != y)
        return other;
    return a->kind == ND_ATTRIBUTE_FIELD ? a->values.value[x - 1] : same;
}

static uint32_t value_of(const struct nd_attributes *a, uint64_t id)
{
    return id <= a->n ? a->value[id - 1] : 0;
}

bool nd_attributes_apply(const struct nd_attributes *a, struct nd_relation *r)
{
    if (a->kind == ND_ATTRIBUTE_LENGTH && !name_classes(&r->texts))
        return false;
    for (size_t i = 0; i < r->n_pairs; i++) {
        struct nd_related *pair = &r->pair[i];
        const uint32_t x = value_of(a, pair->ids >> 32), y = value_of(a, (uint32_t)pair->ids);
        uint32_t number;

        if (a->kind == ND_ATTRIBUTE_LENGTH)
            number = class_of(x < y ? x : y) + 1;
        else if (!nd_groups_number(&r->texts, text_of(a, x, y), &number))
            return false;
        pair->value = number;
    }
    return true;
}

/* ---- The truth ------------------------------------------------------------------------------- */

/* The entries while they are made. */
struct dividing {
    const struct nd_attributes *a;
    struct nd_groups *texts;
    struct nd_same_value *same;
    size_t n, capacity;
};

/* A document of a set of the truth. */
struct set_member {
    uint32_t set, value, id; /* value: of a length its class */
};

static bool put(struct dividing *d, uint32_t value, uint32_t id, uint64_t count)
{
    if (!count)
        return true;
    if (!ND_RESERVE(d->same, &d->capacity, d->n + 1))
        return false;
    d->same[d->n++] = (struct nd_same_value){value, {id, count}};
    return true;
}

/* Put pairs of documents with these two numbers of values. */
static bool put_text(struct dividing *d, uint32_t x, uint32_t y, uint32_t id, uint64_t count)
{
    uint32_t value = 0;

    return !count ||
           (nd_groups_number(d->texts, text_of(d->a, x, y), &value) && put(d, value, id, count));
}

static uint64_t pairs_among(uint64_t n)
{
    return n ? n * (n - 1) / 2 : 0;
}

static int by_member(const void *left, const void *right)
{
    const struct set_member *x = left, *y = right;

    if (x->set != y->set)
        return x->set < y->set ? -1 : 1;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Count the pairs of a set, whose n members are sorted by value. */
static bool divide_set(struct dividing *d, const struct set_member *m, size_t n)
{
    const bool is_length = d->a->kind == ND_ATTRIBUTE_LENGTH;
    uint64_t known = 0, equal = 0;
    bool good = true;

    for (size_t from = 0, to; good && from < n; from = to) {
        const uint32_t value = m[from].value;
        uint64_t count;

        for (to = from; to < n && m[to].value == value; to++)
            ;
        count = to - from;
        if (is_length) { /* those behind are longer */
            good = put(d, value + 1, m->id, pairs_among(count) + count * (n - to));
        } else if (value) {
            known += count;
            equal += pairs_among(count);
            good = put_text(d, value, value, m->id, pairs_among(count));
        }
    }
    if (is_length || !good)
        return good;
    /* Any two different values are "other", and any that is missing makes a pair "unknown". */
    return put_text(d, 1, 2, m->id, pairs_among(known) - equal) &&
           put_text(d, 0, 0, m->id, pairs_among(n) - pairs_among(known));
}

static bool divide_sets(struct dividing *d, const struct nd_relation *truth)
{
    struct set_member *m = nd_alloc_array(truth->n_ids + 1, sizeof *m);
    size_t n = 0;
    bool good = m != NULL;

    for (uint32_t id = 1; good && id <= truth->n_ids; id++) {
        const uint32_t set = nd_relation_set(truth, id), value = value_of(d->a, id);

        if (set)
            m[n++] = (struct set_member){
                set, d->a->kind == ND_ATTRIBUTE_LENGTH ? class_of(value) : value, id};
    }
    if (n)
        qsort(m, n, sizeof *m, by_member);
    for (size_t from = 0, to; good && from < n; from = to) {
        for (to = from; to < n && m[to].set == m[from].set; to++)
            ;
        good = divide_set(d, m + from, to - from);
    }
    free(m);
    return good;
}

static bool divide_pairs(struct dividing *d, const struct nd_relation *truth)
{
    bool good = true;

    for (size_t i = 0; good && i < truth->n_pairs; i++) {
        const uint64_t ids = truth->pair[i].ids;
        const uint32_t x = value_of(d->a, ids >> 32), y = value_of(d->a, (uint32_t)ids);

        if (truth->pair[i].label != ND_LABEL_SAME)
            continue;
        good = d->a->kind == ND_ATTRIBUTE_LENGTH
                   ? put(d, class_of(x < y ? x : y) + 1, (uint32_t)ids, 1)
                   : put_text(d, x, y, (uint32_t)ids, 1);
    }
    return good;
}

static int by_same_value(const void *left, const void *right)
{
    const struct nd_same_value *x = left, *y = right;

    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->pairs.id < y->pairs.id ? -1 : x->pairs.id > y->pairs.id;
}

bool nd_attributes_divide(const struct nd_attributes *a, const struct nd_relation *truth,
                          struct nd_groups *texts, struct nd_same_value **same, size_t *n)
{
    struct dividing d = {.a = a, .texts = texts};
    bool good = truth->has_sets ? divide_sets(&d, truth) : divide_pairs(&d, truth);

    if (!good) {
        free(d.same);
        d = (struct dividing){.n = 0};
    }
    if (d.n)
        qsort(d.same, d.n, sizeof *d.same, by_same_value);
    *same = d.same;
    *n = d.n;
    return good;
}
