/* names.c - what a document is called in the outputs, and names met lately, ids met before */

/*
 * A document is called by its id, or by its place if it has none. Names of kept documents are
 * needed again when a later document is removed, so recent ones are kept in a ring buffer; older
 * ones are looked up in the input.
 */
#include "pipeline/names.h"

#include <neardup/terminal.h>

#include "base/hash.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void nd_place_append(struct nd_json *out, const struct nd_source *source, uint64_t line)
{
    char number[1 + ND_UINT_TEXT] = ":";

    nd_json_bytes(out, source->path, strlen(source->path));
    if (source->entry) {
        nd_json_bytes(out, "!", 1);
        nd_json_bytes(out, source->entry, strlen(source->entry));
    }
    if (line)
        nd_json_bytes(out, number, 1 + nd_uint_text(line, number + 1));
}

struct nd_name nd_name_of(const struct nd_document *document, const struct nd_source *source,
                          uint64_t line, struct nd_json *scratch)
{
    if (document->id_kind != ND_ID_NONE)
        return (struct nd_name){document->id_kind, document->id};
    scratch->text.len = 0;
    nd_place_append(scratch, source, line);
    return (struct nd_name){ND_ID_STRING, {scratch->text.data, scratch->text.len}};
}

static bool is_same(struct nd_view a, struct nd_view b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

void nd_name_value(struct nd_json *out, struct nd_view name)
{
    for (size_t i = 0, n; i < name.len; i += n) {
        char escape[8];
        int is_control;

        n = nd_terminal_character(name.data + i, name.len - i, &is_control);
        if (n == 1 && (unsigned char)name.data[i] >= 0x80) {
            snprintf(escape, sizeof escape, "\\x%02X", (unsigned char)name.data[i]);
            nd_json_bytes(out, escape, 4);
        } else {
            nd_json_bytes(out, name.data + i, n);
        }
    }
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

static char *copy_text(struct nd_view text)
{
    char *copy = malloc(text.len + 1);

    if (!copy)
        return NULL;
    if (text.len)
        memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    return copy;
}

bool nd_name_copy(struct nd_document_name *to, const struct nd_name *name, struct nd_view at)
{
    *to = (struct nd_document_name){.id = copy_text(name->text),
                                    .at = copy_text(at),
                                    .id_len = name->text.len,
                                    .at_len = at.len,
                                    .id_kind = name->kind};
    return to->id && to->at;
}

void nd_name_release(struct nd_document_name *name)
{
    free(name->id);
    free(name->at);
    *name = (struct nd_document_name){0};
}

void nd_name_put(struct nd_json *out, const struct nd_document_name *name)
{
    const struct nd_name id = {name->id_kind, {name->id, name->id_len}};

    nd_json_key(out, "id");
    nd_name_json(out, &id);
    nd_json_put_string(out, "at", (struct nd_view){name->at, name->at_len});
}

void nd_name_show(const struct nd_view name, char *out, size_t size)
{
    size_t len = name.len < size - 1 ? name.len : size - 1;

    for (size_t i = 0, n; i < len; i += n) {
        int is_control;

        n = nd_terminal_character(name.data + i, len - i, &is_control);
        if (is_control)
            memset(out + i, '?', n);
        else
            memcpy(out + i, name.data + i, n);
    }
    out[len] = '\0';
}

void nd_name_json(struct nd_json *out, const struct nd_name *name)
{
    if (name->kind == ND_ID_RAW)
        nd_json_raw(out, name->text);
    else
        nd_json_string(out, name->text);
}

void nd_name_tsv(struct nd_json *out, const struct nd_name *name)
{
    nd_tsv_field(out, name->text);
}

/* ---- Names met lately ---- */

enum { SLOTS = 1 << 18, RING_BYTES = 8 << 20, LENGTH_MAX = 1024 };

struct slot {
    uint64_t position; /* position of its first byte, from 1; 0: empty slot */
    uint32_t number;   /* document numbers are below 2^32 */
    uint16_t length;
    uint16_t kind;
};

struct nd_name_cache {
    struct slot *slot;
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
    c->slot[number % SLOTS] = (struct slot){.position = c->position,
                                            .number = (uint32_t)number,
                                            .length = (uint16_t)name->text.len,
                                            .kind = (uint16_t)name->kind};
    c->position += name->text.len;
}

bool nd_name_cache_get(const struct nd_name_cache *c, uint64_t number, struct nd_name *name)
{
    const struct slot *slot = &c->slot[number % SLOTS];

    if (slot->position == 0 || slot->number != (uint32_t)number ||
        c->position - slot->position > RING_BYTES)
        return false;
    *name = (struct nd_name){(enum nd_id_kind)slot->kind,
                             {c->ring + slot->position % RING_BYTES, slot->length}};
    return true;
}

/* ---- Ids met before ---- */

void nd_id_check_release(struct nd_id_check *c)
{
    nd_hash_set_release(&c->ids);
    nd_json_release(&c->place);
}

/* The string "17" and the number 17 are different ids. */
static uint64_t id_hash(const struct nd_document *document)
{
    return nd_mix64(nd_hash_bytes(document->id.data, document->id.len) + document->id_kind);
}

void nd_id_check_prefetch(const struct nd_id_check *c, const struct nd_document *document)
{
    if (document->id_kind != ND_ID_NONE)
        nd_hash_set_prefetch(&c->ids, id_hash(document));
}

void nd_id_check_note(struct nd_id_check *c, const struct nd_parsed *parsed)
{
    const struct nd_document *document = &parsed->document;
    char place[300], id[100];

    if (document->id_kind == ND_ID_NONE || !nd_hash_set_add(&c->ids, id_hash(document)))
        return;
    if (c->n_double++)
        return;
    c->place.text.len = 0;
    nd_place_append(&c->place, parsed->source, parsed->record.line);
    nd_name_show((struct nd_view){c->place.text.data, c->place.text.len}, place, sizeof place);
    nd_name_show(document->id, id, sizeof id);
    snprintf(c->first_double, sizeof c->first_double, "%s: the id '%s' appeared before", place, id);
}

void nd_id_check_forget(struct nd_id_check *c, struct nd_run_summary *summary)
{
    summary->double_ids = c->n_double;
    if (!c->ids.count)
        return;
    summary->ids_full = c->ids.is_full;
    summary->ids_remembered = c->ids.count;
    nd_hash_set_release(&c->ids);
}
