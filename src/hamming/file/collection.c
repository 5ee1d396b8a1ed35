/* collection.c - entries from several places, to be written as one segment of an index file */
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

static enum nd_status collect_segment(struct nd_hamming_collection *c,
                                      const struct nd_hamming_segment *s, struct nd_error *err)
{
    if (!s->has_texts) {
        memcpy(c->id + c->n, s->id, s->count * sizeof *s->id);
        c->n += s->count;
        return ND_OK;
    }
    if (!expect_texts(c))
        return out_of_memory(c, err);
    for (uint64_t i = 0; i < s->count; i++, c->n++)
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

enum nd_status nd_hamming_collect_file(struct nd_hamming_collection *c,
                                       const struct nd_hamming_file *file, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (unsigned i = file->first; i < file->n && status == ND_OK; i++) {
        const struct nd_hamming_segment *s = &file->segment[i];

        nd_hamming_segment_rows(s, 0, s->count, c->own + c->n * c->words);
        status = collect_segment(c, s, err);
    }
    return status;
}

/* One id as it is given: a number, or a text in c->text. */
static enum nd_status collect_id(struct nd_hamming_collection *c, const char *text, uint32_t number,
                                 struct nd_error *err)
{
    size_t len;

    c->id[c->n] = number;
    if (!text || nd_hamming_text_number(text, &c->id[c->n]))
        return ND_OK;
    len = strlen(text);
    if (len >= ND_HAMMING_TEXT_MAX || !nd_hamming_text_is_id(text, len))
        return nd_fail(err, ND_EINVAL, "the id of fingerprint %zu has a tab or a newline", c->n);
    if (!expect_texts(c))
        return out_of_memory(c, err);
    c->text[c->n] = text;
    return ND_OK;
}

enum nd_status nd_hamming_collect_entries(struct nd_hamming_collection *c,
                                          const struct nd_hamming_entries *entries,
                                          uint64_t first_number, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (c->own && entries->count)
        memcpy(c->own + c->n * c->words, entries->fingerprints,
               entries->count * c->words * sizeof *c->own);
    for (size_t i = 0; i < entries->count && status == ND_OK; i++, c->n++)
        status = collect_id(c, entries->texts ? entries->texts[i] : NULL,
                            entries->ids ? entries->ids[i] : (uint32_t)(first_number + i), err);
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
