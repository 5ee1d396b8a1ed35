/* comparable.c - which documents are compared with one another */
#include "reading/comparable.h"

#include "reading/run_options.h"

#include <string.h>

bool nd_groups_number_field(struct nd_groups *g, const struct nd_document *document, int index,
                            uint32_t *number)
{
    return nd_groups_number_repaired(g, nd_document_field(document, index),
                                     nd_document_field_replaced(document, index), number);
}

void nd_comparable_release(struct nd_comparable *c)
{
    nd_groups_release(&c->values);
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
