/* beside.c - what signatures read of a document beside its text, as one hash */
#include "record/beside.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

static enum nd_status add_fields(struct nd_beside *b, size_t *at,
                                 const struct nd_feature_params *feature, struct nd_error *err)
{
    size_t n = 0;
    enum nd_status status = nd_feature_field_names(feature, b->names + *at, &n, err);

    for (size_t i = 0; status == ND_OK && i < n; i++)
        *at += strlen(b->names + *at) + 1;
    b->n_names += n;
    return status;
}

enum nd_status nd_beside_init(struct nd_beside *b, const struct nd_method *method,
                              struct nd_error *err)
{
    enum nd_status status = ND_OK;
    size_t at = 0;

    *b = (struct nd_beside){0};
    if (!method->n_signatures)
        return ND_OK;
    b->names = nd_alloc_array(method->n_signatures, ND_FEATURE_NAMES_MAX);
    if (!b->names)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (unsigned i = 0; status == ND_OK && i < method->n_signatures; i++) {
        const struct nd_feature_params *p = &method->signature[i].feature;

        b->markup |= nd_feature_reads_markup(p, &method->signature[i].weight);
        b->elements |= nd_feature_reads_elements(p);
        b->links |= p->links;
        status = add_fields(b, &at, p, err);
    }
    return status;
}

void nd_beside_release(struct nd_beside *b)
{
    free(b->names);
    *b = (struct nd_beside){0};
}

/* ---- Hashes, each of which goes on from one before it ---- */

static uint64_t add_number(uint64_t hash, uint64_t number)
{
    return nd_mix64(hash ^ nd_mix64(number + 1));
}

static uint64_t add_bytes(uint64_t hash, struct nd_view bytes)
{
    return add_number(hash + bytes.len, nd_hash_bytes(bytes.data, bytes.len));
}

static uint64_t add_field(uint64_t hash, const struct nd_document *document, const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < document->n_fields; i++) {
        const struct nd_field *field = &document->fields[i];

        if (field->name.len != len || memcmp(field->name.data, name, len) != 0 ||
            !field->value.data)
            continue;
        hash = add_bytes(hash, field->value);
        return add_number(hash, document->fields_replaced ? document->fields_replaced[i] : 0);
    }
    return add_number(hash, 0);
}

static uint64_t add_markup(uint64_t hash, const struct nd_document *document)
{
    for (size_t i = 0; i < document->n_markup; i++) {
        hash = add_number(hash, document->markup[i].offset);
        hash = add_number(hash, document->markup[i].len);
    }
    return add_number(hash, document->n_markup);
}

static uint64_t add_links(uint64_t hash, const struct nd_document *document)
{
    hash = add_bytes(hash, document->base);
    for (size_t i = 0; i < document->n_links; i++) {
        hash = add_number(hash, document->links[i].offset);
        hash = add_number(hash, document->links[i].len);
        hash = add_bytes(hash, document->links[i].target);
    }
    return add_number(hash, document->n_links);
}

static uint64_t add_elements(uint64_t hash, const struct nd_document *document)
{
    for (size_t i = 0; i < document->n_elements; i++) {
        hash = add_bytes(hash, document->elements[i].name);
        hash = add_number(hash, document->elements[i].parent);
    }
    return add_number(hash, document->n_elements);
}

uint64_t nd_beside_hash(const struct nd_beside *b, const struct nd_document *document)
{
    const char *name = b->names;
    uint64_t hash = 0;

    if (!nd_beside_is_read(b))
        return 0;
    for (size_t i = 0; i < b->n_names; i++, name += strlen(name) + 1)
        hash = add_field(hash, document, name);
    if (b->markup)
        hash = add_markup(hash, document);
    if (b->links)
        hash = add_links(hash, document);
    if (b->elements)
        hash = add_elements(hash, document);
    return hash ? hash : 1;
}
