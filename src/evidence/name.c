/* name.c - what a document is called in the outputs, and ids met before */
#include "evidence/name.h"

#include <stdlib.h>

#include <neardup/terminal.h>

#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void nd_at_append(struct nd_json *out, const struct nd_at *at)
{
    char number[1 + ND_UINT_TEXT] = ":";

    nd_json_bytes(out, at->path, strlen(at->path));
    if (at->entry) {
        nd_json_bytes(out, "!", 1);
        nd_json_bytes(out, at->entry, strlen(at->entry));
    }
    if (at->line)
        nd_json_bytes(out, number, 1 + nd_uint_text(at->line, number + 1));
}

struct nd_name nd_name_at(struct nd_view id, enum nd_id_kind kind, const struct nd_at *at,
                          struct nd_json *scratch)
{
    if (kind != ND_ID_NONE)
        return (struct nd_name){kind, id};
    scratch->text.len = 0;
    nd_at_append(scratch, at);
    return (struct nd_name){ND_ID_STRING, {scratch->text.data, scratch->text.len}};
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

/* ---- Ids met before ---- */

void nd_id_check_release(struct nd_id_check *c)
{
    nd_hash_set_release(&c->ids);
    nd_json_release(&c->place);
}

/* The string "17" and the number 17 are different ids. */
uint64_t nd_id_hash(const struct nd_name *id)
{
    uint64_t hash;

    if (id->kind == ND_ID_NONE)
        return 0;
    hash = nd_mix64(nd_hash_bytes(id->text.data, id->text.len) + id->kind);
    return hash + !hash;
}

void nd_id_check_prefetch(const struct nd_id_check *c, uint64_t hash)
{
    if (hash)
        nd_hash_set_prefetch(&c->ids, hash);
}

void nd_id_check_note(struct nd_id_check *c, const struct nd_name *id, const struct nd_at *at)
{
    nd_id_check_note_hash(c, nd_id_hash(id), id, at);
}

void nd_id_check_note_hash(struct nd_id_check *c, uint64_t hash, const struct nd_name *id,
                           const struct nd_at *at)
{
    char place[300], text[100];

    if (!hash || !nd_hash_set_add(&c->ids, hash))
        return;
    if (c->n_double++)
        return;
    c->place.text.len = 0;
    nd_at_append(&c->place, at);
    nd_name_show((struct nd_view){c->place.text.data, c->place.text.len}, place, sizeof place);
    nd_name_show(id->text, text, sizeof text);
    snprintf(c->first_double, sizeof c->first_double, "%s: the id '%s' appeared before", place,
             text);
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

bool nd_id_check_warning(const struct nd_id_check *c, const struct nd_run_summary *summary,
                         char out[ND_ID_WARNING_BYTES])
{
    if (!summary->double_ids)
        return false;
    snprintf(out, ND_ID_WARNING_BYTES, "%s; %s%" PRIu64 " document%s an earlier id",
             c->first_double, summary->ids_full ? "at least " : "", summary->double_ids,
             summary->double_ids == 1 ? " repeats" : "s repeat");
    return true;
}
