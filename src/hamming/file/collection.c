/* collection.c - entries from several places, to be written as one segment of an index file */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hamming/file/change.h"

static enum nd_status out_of_memory(const struct nd_hamming_collection *c, struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory for %zu fingerprints", c->total);
}

enum nd_status nd_hamming_collect_begin(struct nd_hamming_collection *c, size_t total, size_t words,
                                        const uint64_t *borrowed, struct nd_error *err)
{
    *c = (struct nd_hamming_collection){.total = total, .words = words, .row = borrowed};
    c->id = nd_alloc_array(total, sizeof *c->id);
    if (!borrowed)
        c->row = c->own = nd_alloc_array(total * words, sizeof *c->own);
    return c->id && c->row ? ND_OK : out_of_memory(c, err);
}

void nd_hamming_collect_release(struct nd_hamming_collection *c)
{
    free(c->own);
    free(c->id);
    free(c->text);
    nd_arena_release(&c->arena);
    *c = (struct nd_hamming_collection){.n = 0};
}

static bool expect_texts(struct nd_hamming_collection *c)
{
    if (!c->text)
        c->text = calloc(c->total, sizeof *c->text);
    return c->text != NULL;
}

/* A terminated copy.  NULL: out of memory. */
static const char *copy_text(struct nd_hamming_collection *c, const char *text, size_t len)
{
    char *copy = nd_arena_alloc(&c->arena, len + 1);

    if (copy) {
        memcpy(copy, text, len);
        copy[len] = '\0';
    }
    return copy;
}

static bool collect_text(struct nd_hamming_collection *c, const struct nd_hamming_segment *s,
                         uint64_t entry)
{
    size_t len;
    const char *text = nd_hamming_texts_get(&s->texts, entry, &len);

    c->text[c->n] = copy_text(c, text, len);
    return c->text[c->n] != NULL;
}

enum nd_status nd_hamming_collect_segment(struct nd_hamming_collection *c,
                                          const struct nd_hamming_segment *s, uint64_t first,
                                          uint64_t n, struct nd_error *err)
{
    if (n && !nd_hamming_segment_rows(s, first, (size_t)n, c->own + c->n * c->words))
        return nd_hamming_damaged_there(err);
    if (!s->has_texts) {
        memcpy(c->id + c->n, s->id + first, n * sizeof *s->id);
        c->n += n;
        return ND_OK;
    }
    if (!expect_texts(c))
        return out_of_memory(c, err);
    for (uint64_t i = first; i < first + n; i++, c->n++)
        if (!collect_text(c, s, i))
            return out_of_memory(c, err);
    return ND_OK;
}

enum nd_status nd_hamming_collect_entry(struct nd_hamming_collection *c,
                                        const struct nd_hamming_segment *s, uint64_t entry,
                                        const uint64_t *row, struct nd_error *err)
{
    memcpy(c->own + c->n * c->words, row, c->words * sizeof *row);
    if (!s->has_texts)
        c->id[c->n] = s->id[entry];
    else if (!expect_texts(c) || !collect_text(c, s, entry))
        return out_of_memory(c, err);
    c->n++;
    return ND_OK;
}

/* An id that is a text: that of the entry's number `i` of those that are given. */
static enum nd_status collect_given(struct nd_hamming_collection *c, const char *text, size_t i,
                                    struct nd_error *err)
{
    size_t len = strlen(text);

    if (nd_hamming_text_number(text, &c->id[c->n]))
        return ND_OK;
    if (len >= ND_HAMMING_TEXT_MAX || !nd_hamming_text_is_id(text, len))
        return nd_fail(err, ND_EINVAL, "the id of fingerprint %zu has a tab or a newline", i);
    if (!expect_texts(c))
        return out_of_memory(c, err);
    c->text[c->n] = text;
    return ND_OK;
}

/* An id that is not given: the entry's number, as a text where 32 bits do not hold it. */
static enum nd_status collect_number(struct nd_hamming_collection *c, uint64_t number,
                                     struct nd_error *err)
{
    char digits[24];

    c->id[c->n] = (uint32_t)number;
    if (number <= UINT32_MAX)
        return ND_OK;
    if (!expect_texts(c))
        return out_of_memory(c, err);
    c->text[c->n] =
        copy_text(c, digits, (size_t)snprintf(digits, sizeof digits, "%" PRIu64, number));
    return c->text[c->n] ? ND_OK : out_of_memory(c, err);
}

enum nd_status nd_hamming_collect_entries(struct nd_hamming_collection *c,
                                          const struct nd_hamming_entries *entries, size_t first,
                                          size_t n, uint64_t before, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (c->own && n)
        memcpy(c->own + c->n * c->words, entries->fingerprints + first * c->words,
               n * c->words * sizeof *c->own);
    for (size_t i = first; i < first + n && status == ND_OK; i++, c->n++) {
        c->id[c->n] = entries->ids ? entries->ids[i] : 0;
        if (entries->texts && entries->texts[i])
            status = collect_given(c, entries->texts[i], i, err);
        else if (!entries->ids)
            status = collect_number(c, before + i, err);
    }
    return status;
}

enum nd_status nd_hamming_collect_finish(struct nd_hamming_collection *c,
                                         struct nd_hamming_entries *entries, struct nd_error *err)
{
    char digits[ND_HAMMING_NUMBER_MAX];

    for (size_t i = 0; c->text && i < c->n; i++)
        if (!c->text[i]) {
            size_t len;
            const char *text = nd_hamming_number_text(c->id[i], digits, &len);

            c->text[i] = copy_text(c, text, len);
            if (!c->text[i])
                return out_of_memory(c, err);
        }
    *entries = (struct nd_hamming_entries){c->row, c->n, c->id, c->text};
    return ND_OK;
}
