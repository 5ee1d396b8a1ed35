/* signed_entries.c - the signatures of entries, by which a recipe's rule decides: packed, and found */
#include "store/search/signed_entries.h"

#include <string.h>

/* ---- Packed ---- */

/* The beginning of one signature, before its words. */
struct packed_head {
    uint32_t count; /* words */
    uint32_t is_rejected;
};
_Static_assert(sizeof(struct packed_head) == 8, "the words are aligned");

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory for the signatures of a text");
}

enum nd_status nd_signatures_pack(const struct nd_matching *matching,
                                  const struct nd_document_signatures *x, struct nd_buffer *packed,
                                  struct nd_error *err)
{
    const uint64_t length = x ? x->length : 0;

    packed->len = 0;
    if (!nd_buffer_append(packed, &length, sizeof length))
        return no_memory(err);
    for (unsigned i = 0; i < matching->method.n_signatures; i++) {
        const struct nd_signature *s = x ? &x->signature[i] : NULL;
        bool is_rejected = !s || s->is_rejected;
        const struct packed_head head = {is_rejected ? 0 : (uint32_t)s->count, is_rejected};

        if (!nd_buffer_append(packed, &head, sizeof head) ||
            (head.count && !nd_buffer_append(packed, s->word, head.count * sizeof *s->word)))
            return no_memory(err);
    }
    return ND_OK;
}

/* Whether a signature can have so many words. */
static bool fits(const struct nd_signature_shape *shape, const struct packed_head *head)
{
    if (head->is_rejected)
        return head->is_rejected == 1 && head->count == 0;
    return shape->form == ND_FORM_BITS ? head->count == shape->words : true;
}

bool nd_signatures_unpack(const struct nd_matching *matching, struct nd_view packed,
                          struct nd_document_signatures *out)
{
    size_t at = sizeof out->length;

    *out = (struct nd_document_signatures){.length = 0};
    if (packed.len < at)
        return false;
    memcpy(&out->length, packed.data, sizeof out->length);
    for (unsigned i = 0; i < matching->method.n_signatures; i++) {
        struct packed_head head;

        if (packed.len - at < sizeof head)
            return false;
        memcpy(&head, packed.data + at, sizeof head);
        at += sizeof head;
        if (!fits(&matching->shape[i], &head) || head.count > (packed.len - at) / sizeof(uint64_t))
            return false;
        out->signature[i] =
            (struct nd_signature){.word = (const uint64_t *)(const void *)(packed.data + at),
                                  .count = head.count,
                                  .is_rejected = head.is_rejected != 0};
        if (matching->shape[i].form == ND_FORM_VALUES)
            out->bloom[i] = nd_value_bloom_of(&out->signature[i]);
        at += head.count * sizeof(uint64_t);
    }
    return at == packed.len;
}

enum nd_status nd_signatures_unpack_row(const struct nd_matching *matching, struct nd_view row,
                                        struct nd_buffer *aligned,
                                        struct nd_document_signatures *out, struct nd_error *err)
{
    aligned->len = 0;
    if (!nd_buffer_append(aligned, row.data, row.len))
        return no_memory(err);
    if (!nd_signatures_unpack(matching, (struct nd_view){aligned->data, aligned->len}, out))
        return nd_fail(err, ND_EINPUT, "the signatures of an entry cannot be right");
    return ND_OK;
}

/* ---- The index ---- */

enum nd_status nd_signed_entries_init(struct nd_signed_entries *entries,
                                      const struct nd_matching *matching, struct nd_error *err)
{
    *entries = (struct nd_signed_entries){.index = nd_matching_index(matching)};
    return entries->index ? ND_OK : no_memory(err);
}

void nd_signed_entries_release(struct nd_signed_entries *entries)
{
    nd_signature_index_free(entries->index);
    *entries = (struct nd_signed_entries){.next = 0};
}

/* Numbers up to this one are of entries that are not there. */
static bool skip(struct nd_signed_entries *entries, const struct nd_matching *matching,
                 uint32_t number)
{
    struct nd_signature none[ND_RECIPE_SIGNATURES] = {{.count = 0}};
    const struct nd_signature_row row = {.signature = none};

    for (unsigned i = 0; i < matching->method.n_signatures; i++)
        none[i].is_rejected = 1;
    for (; entries->next < number; entries->next++)
        if (!nd_signature_index_append(entries->index, &row))
            return false;
    return true;
}

enum nd_status nd_signed_entries_add(struct nd_signed_entries *entries,
                                     const struct nd_matching *matching, uint32_t number,
                                     const struct nd_document_signatures *x, uint32_t set,
                                     bool listed, struct nd_error *err)
{
    const struct nd_signature_row row = {
        .signature = x->signature, .group = set, .length = x->length};

    if (!skip(entries, matching, number) || !nd_signature_index_append(entries->index, &row))
        return no_memory(err);
    entries->next = number + 1;
    if (listed && !nd_signature_index_list(entries->index, number))
        return no_memory(err);
    return ND_OK;
}

void nd_signed_entries_remove(struct nd_signed_entries *entries, uint32_t number)
{
    if (entries->index && number < entries->next)
        nd_signature_index_remove(entries->index, number);
}
