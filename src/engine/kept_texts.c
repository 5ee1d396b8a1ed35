/* kept_texts.c - the texts of kept documents in the engine's own memory, where no source gives them; of
 * those that came without text, the shingles */
#include "engine/kept_texts.h"

#include <neardup/sketch_file.h>

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct nd_texts {
    struct kept_text {
        uint64_t document;
        char *data;
        size_t len;
    } * text; /* by growing document number */
    size_t count, capacity;
    const struct nd_dedup_item *items;
};

struct nd_texts *nd_texts_new(void)
{
    return calloc(1, sizeof(struct nd_texts));
}

void nd_texts_free(struct nd_texts *texts)
{
    if (!texts)
        return;
    for (size_t i = 0; i < texts->count; i++)
        free(texts->text[i].data);
    free(texts->text);
    free(texts);
}

void nd_texts_begin(struct nd_texts *texts, const struct nd_dedup_item *items)
{
    texts->items = items;
}

/* Return what is kept of an item: its text, or the shingles of its sketch. */
static struct nd_view content_of(const struct nd_dedup_item *item)
{
    const struct nd_sketch_row *row = item->sketched;

    if (!row)
        return item->text;
    return (struct nd_view){(const char *)row->shingles,
                            row->shingles ? row->n_shingles * sizeof *row->shingles : 0};
}

static enum nd_status keep(void *context, uint64_t document, size_t item, struct nd_error *err)
{
    struct nd_texts *texts = context;
    struct nd_view text = content_of(&texts->items[item]);
    char *copy = nd_alloc_array(text.len, 1);

    if (!copy || !ND_RESERVE(texts->text, &texts->capacity, texts->count + 1)) {
        free(copy);
        return nd_fail(err, ND_ENOMEM, "out of memory for the text of a kept document");
    }
    if (text.len)
        memcpy(copy, text.data, text.len);
    texts->text[texts->count++] = (struct kept_text){document, copy, text.len};
    return ND_OK;
}

/* NULL: it is not kept. */
static const struct kept_text *find(const struct nd_texts *texts, uint64_t document,
                                    struct nd_error *err)
{
    size_t low = 0, high = texts->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (texts->text[middle].document < document)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < texts->count && texts->text[low].document == document)
        return &texts->text[low];
    nd_fail(err, ND_EINVAL, "document %llu is not kept", (unsigned long long)document);
    return NULL;
}

static enum nd_status fetch(void *context, uint64_t document, unsigned worker, struct nd_view *text,
                            struct nd_error *err)
{
    const struct kept_text *kept = find(context, document, err);

    (void)worker;
    if (!kept)
        return ND_EINVAL;
    *text = (struct nd_view){kept->data, kept->len};
    return ND_OK;
}

static enum nd_status fetch_shingles(void *context, uint64_t document, unsigned worker,
                                     const uint64_t **shingle, size_t *n, struct nd_error *err)
{
    const struct kept_text *kept = find(context, document, err);

    (void)worker;
    if (!kept)
        return ND_EINVAL;
    *shingle = (const uint64_t *)(const void *)kept->data;
    *n = kept->len / sizeof **shingle;
    return ND_OK;
}

struct nd_text_source nd_texts_source(struct nd_texts *texts)
{
    return (struct nd_text_source){texts, fetch, keep, fetch_shingles};
}
