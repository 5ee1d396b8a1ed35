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
    } else if (strncmp(by, "field:", 6) == 0 && by[6]) {
        a->kind = ND_ATTRIBUTE_FIELD;
        a->field = by + 6;
    } else if (strcmp(by, "length") == 0) {
        a->kind = ND_ATTRIBUTE_LENGTH;
    }
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
static bool name_classes(struct nd_relation *r)
{
    for (unsigned class = 0; class <= class_of(UINT32_MAX); class ++) {
        const uint64_t end = (uint64_t)SHORT_TOKENS << class, from = class ? end / 2 : 0;
        char text[48];
        const int len = snprintf(text, sizeof text, "%" PRIu64 "-%" PRIu64, from, end - 1);
        uint32_t number;

        if (!nd_groups_number(&r->texts, (struct nd_view){text, (size_t)len}, &number))
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
    return a->kind == ND_ATTRIBUTE_SITE ? same : a->values.value[x - 1];
}

static uint32_t value_of(const struct nd_attributes *a, uint64_t id)
{
    return id <= a->n ? a->value[id - 1] : 0;
}

bool nd_attributes_apply(const struct nd_attributes *a, struct nd_relation *r)
{
    if (a->kind == ND_ATTRIBUTE_LENGTH && !name_classes(r))
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
