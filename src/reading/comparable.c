/* comparable.c - which documents are compared with one another */
#include "reading/comparable.h"

#include "reading/run_options.h"

#include <stdlib.h>
#include <string.h>

#include "feature/field_values.h"

bool nd_groups_number_field(struct nd_groups *g, const struct nd_document *document, int index,
                            uint32_t *number)
{
    return nd_groups_number_repaired(g, nd_document_field(document, index),
                                     nd_document_field_replaced(document, index), number);
}

void nd_comparable_release(struct nd_comparable *c)
{
    nd_groups_release(&c->values);
    nd_groups_release(&c->label);
    nd_groups_release(&c->set);
    nd_text_list_release(&c->text);
    nd_buffer_release(&c->numbers);
}

uint64_t nd_comparable_bytes(const struct nd_comparable *c)
{
    return nd_groups_bytes(&c->values) + nd_groups_bytes(&c->label) + nd_groups_bytes(&c->set);
}

enum nd_status nd_comparable_want(const struct nd_comparable *c, struct nd_error *err)
{
    for (size_t i = 0; i < c->n_never; i++)
        if (nd_field_set_want(c->fields, c->never[i].field) == ND_FIELDS_MAX)
            return nd_fail(err, ND_EINVAL, "never: at most %d fields can be named", ND_FIELDS_MAX);
    return ND_OK;
}

/* Each field once, in whatever number of values it is named. */
enum nd_status nd_comparable_watch(const struct nd_comparable *c, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < c->n_never; i++) {
        const struct nd_watched_field watch = {.key = "never", .field = c->never[i].field};
        size_t k = 0;

        while (strcmp(c->never[k].field, watch.field) != 0)
            k++;
        if (k == i)
            status = nd_field_set_watch(c->fields, &watch, err);
    }
    return status;
}

bool nd_comparable_is_never(const struct nd_comparable *c, const struct nd_document *document)
{
    for (size_t i = 0; i < c->n_never; i++) {
        int index = nd_field_set_want(c->fields, c->never[i].field);
        const struct nd_view value = nd_document_field(document, index);

        if (value.data && !nd_document_field_replaced(document, index) &&
            strlen(c->never[i].value) == value.len &&
            memcmp(c->never[i].value, value.data, value.len) == 0)
            return true;
    }
    return false;
}

bool nd_comparable_group(struct nd_comparable *c, const struct nd_document *document,
                         uint32_t *group)
{
    bool ok;

    *group = 0;
    if (nd_comparable_is_never(c, document)) {
        *group = UINT32_MAX - atomic_fetch_add(&c->n_alone, 1);
        return true;
    }
    if (c->within < 0)
        return true;
    nd_pool_lock(c->pool);
    ok = nd_groups_number_field(&c->values, document, c->within, group);
    nd_pool_unlock(c->pool);
    return ok;
}

bool nd_comparable_group_old(struct nd_comparable *c, const struct nd_document *document,
                             uint32_t *group)
{
    if (nd_comparable_is_never(c, document))
        atomic_fetch_add(&c->n_old_alone, 1);
    return nd_comparable_group(c, document, group);
}

/* ---- Security labels ---- */

static int by_number(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

/* Number the labels of c->text: ascending, each once, behind how many there are.  Labels that were
 * repaired alike need not be the same. */
static bool number_labels(struct nd_comparable *c, uint64_t replaced)
{
    uint32_t *number, n = 0;

    c->numbers.len = 0;
    if (!nd_buffer_reserve(&c->numbers, (c->text.count + 1) * sizeof *number))
        return false;
    number = (uint32_t *)(void *)c->numbers.data;
    for (size_t i = 0; i < c->text.count; i++)
        if (!nd_groups_number_repaired(&c->label, nd_text_list_at(&c->text, i), replaced,
                                       &number[i + 1]))
            return false;
    qsort(number + 1, c->text.count, sizeof *number, by_number);
    for (size_t i = 1; i <= c->text.count; i++)
        if (n == 0 || number[i] != number[n])
            number[++n] = number[i];
    number[0] = n;
    c->numbers.len = (n + 1) * sizeof *number;
    return true;
}

bool nd_comparable_labels(struct nd_comparable *c, const struct nd_document *document,
                          uint32_t *set)
{
    const struct nd_view value = nd_document_field(document, c->security);
    bool ok;

    *set = 0;
    if (c->security < 0 || !value.len)
        return true;
    nd_pool_lock(c->pool);
    ok = nd_field_values_read(&c->text, value);
    if (ok && c->text.count)
        ok = number_labels(c, nd_document_field_replaced(document, c->security)) &&
             nd_groups_number(&c->set, (struct nd_view){c->numbers.data, c->numbers.len}, set);
    nd_pool_unlock(c->pool);
    return ok;
}

const uint32_t *nd_comparable_set(const struct nd_comparable *c, uint32_t set)
{
    const void *numbers = NULL;

    if (!set)
        return NULL;
    nd_pool_lock(c->pool); /* others may number more */
    numbers = c->set.value[set - 1].data;
    nd_pool_unlock(c->pool);
    return numbers;
}

bool nd_comparable_item(struct nd_comparable *c, const struct nd_document *document,
                        struct nd_dedup_item *item)
{
    uint32_t set;

    if (!nd_comparable_group(c, document, &item->group) || !nd_comparable_labels(c, document, &set))
        return false;
    item->labels = nd_comparable_set(c, set);
    return true;
}
