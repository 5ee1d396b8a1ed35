/* names.c - what a document is called in the outputs, and names met lately */

/*
 * A document is called by its id, or by its place if it has none. Names of kept documents are
 * needed again when a later document is removed, so recent ones are kept in a ring buffer; older
 * ones are looked up in the input.
 */
#include "reading/names.h"

#include <neardup/terminal.h>

#include "base/hash.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct nd_name nd_name_of(const struct nd_document *document, const struct nd_source *source,
                          uint64_t line, struct nd_json *scratch)
{
    const struct nd_at at = nd_at_of(source, line);

    return nd_name_at(document->id, document->id_kind, &at, scratch);
}

static bool is_same(struct nd_view a, struct nd_view b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

bool nd_name_is_written(struct nd_view written, struct nd_view name, struct nd_json *scratch)
{
    size_t tsv, value;

    if (!written.len || !memchr(written.data, '\\', written.len))
        return false; /* a name without an escape is written as it is */
    scratch->text.len = 0;
    nd_tsv_field(scratch, name);
    tsv = scratch->text.len;
    nd_name_value(scratch, name);
    value = scratch->text.len;
    scratch->after_value = false;
    nd_json_string(scratch, name);
    if (scratch->failed)
        return false;
    return is_same(written, (struct nd_view){scratch->text.data, tsv}) ||
           is_same(written, (struct nd_view){scratch->text.data + tsv, value - tsv}) ||
           is_same(written,
                   (struct nd_view){scratch->text.data + value + 1, scratch->text.len - value - 2});
}

/* ---- Names met lately ---- */

enum { SLOTS = 1 << 18, RING_BYTES = 8 << 20, LENGTH_MAX = 1024 };

struct name_slot {
    uint64_t position; /* position of its first byte, from 1; 0: empty slot */
    uint32_t number;   /* document numbers are below 2^32 */
    uint16_t length;
    uint16_t kind;
};

struct nd_name_cache {
    struct name_slot *slot;
    char *ring;
    uint64_t position; /* position of the next byte */
};

struct nd_name_cache *nd_name_cache_new(void)
{
    struct nd_name_cache *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->slot = calloc(SLOTS, sizeof *c->slot);
    c->ring = malloc(RING_BYTES);
    c->position = 1;
    if (c->slot && c->ring)
        return c;
    nd_name_cache_free(c);
    return NULL;
}

void nd_name_cache_free(struct nd_name_cache *c)
{
    if (!c)
        return;
    free(c->slot);
    free(c->ring);
    free(c);
}

void nd_name_cache_put(struct nd_name_cache *c, uint64_t number, const struct nd_name *name)
{
    size_t at = (size_t)(c->position % RING_BYTES);

    if (name->text.len > LENGTH_MAX)
        return;
    if (at + name->text.len > RING_BYTES) { /* a name does not wrap around */
        c->position += RING_BYTES - at;
        at = 0;
    }
    if (name->text.len)
        memcpy(c->ring + at, name->text.data, name->text.len);
    c->slot[number % SLOTS] = (struct name_slot){.position = c->position,
                                                 .number = (uint32_t)number,
                                                 .length = (uint16_t)name->text.len,
                                                 .kind = (uint16_t)name->kind};
    c->position += name->text.len;
}

void nd_name_cache_prefetch(const struct nd_name_cache *c, uint64_t number)
{
    __builtin_prefetch(&c->slot[number % SLOTS]);
}

bool nd_name_cache_get(const struct nd_name_cache *c, uint64_t number, struct nd_name *name)
{
    const struct name_slot *slot = &c->slot[number % SLOTS];

    if (slot->position == 0 || slot->number != (uint32_t)number ||
        c->position - slot->position > RING_BYTES)
        return false;
    *name = (struct nd_name){(enum nd_id_kind)slot->kind,
                             {c->ring + slot->position % RING_BYTES, slot->length}};
    return true;
}
