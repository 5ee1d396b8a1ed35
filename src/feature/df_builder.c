/* df_builder.c - count terms in memory; sorted runs go to a file where they are too many */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "feature/df_builder.h"

enum {
    LEAST_MEMORY = 1 << 20,
    DEFAULT_MEMORY = 256 << 20,
    FIRST_HOMES = 1 << 12,
    AHEAD = 12, /* terms whose slots are asked for before they are looked at */
};

static size_t table_bytes(size_t homes)
{
    return (homes + ND_DF_BEYOND) * sizeof(struct nd_df_entry);
}

static size_t places_bytes(size_t homes)
{
    return (homes + ND_DF_BEYOND) * sizeof(uint64_t);
}

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory for a table of terms");
}

static bool new_table(struct nd_df_builder *b, size_t homes)
{
    b->entry = nd_table_alloc(table_bytes(homes));
    b->text = b->keep_texts && b->entry ? nd_table_alloc(places_bytes(homes)) : NULL;
    b->homes = homes;
    b->used = 0;
    if (b->entry && (b->text || !b->keep_texts))
        return true;
    nd_table_free(b->entry, table_bytes(homes));
    b->entry = NULL;
    return false;
}

static void free_table(struct nd_df_entry *entry, uint64_t *text, size_t homes)
{
    nd_table_free(entry, table_bytes(homes));
    if (text)
        nd_table_free(text, places_bytes(homes));
}

struct nd_df_builder *nd_df_builder_new(const struct nd_df_builder_params *params,
                                        struct nd_error *err)
{
    uint64_t memory = params->memory_bytes ? params->memory_bytes : DEFAULT_MEMORY;
    struct nd_df_builder *b;

    if (memory < LEAST_MEMORY) {
        nd_fail(err, ND_EINVAL, "a df table is built in 1 MB of memory at least");
        return NULL;
    }
    b = calloc(1, sizeof *b);
    if (!b) {
        no_memory(err);
        return NULL;
    }
    b->memory = memory;
    b->keep_texts = params->keep_texts;
    nd_df_counted_text(params->features, b->features);
    if (params->like)
        memcpy(b->features, nd_df_features(params->like), sizeof b->features);
    if (params->tmp)
        b->tmp = strdup(params->tmp);
    if ((params->tmp && !b->tmp) || !new_table(b, FIRST_HOMES)) {
        nd_df_builder_free(b);
        no_memory(err);
        return NULL;
    }
    return b;
}

void nd_df_builder_free(struct nd_df_builder *b)
{
    if (!b)
        return;
    free_table(b->entry, b->text, b->homes);
    nd_buffer_release(&b->texts);
    nd_df_spill_close(&b->spill);
    free(b->run_end);
    free(b->tmp);
    free(b);
}

/* The entries are nearly in order already: each is moved past the few of its cluster. */
void nd_df_builder_sort(struct nd_df_builder *b)
{
    size_t n = 0;

    for (size_t i = 0; n < b->used; i++) {
        struct nd_df_entry entry = b->entry[i];
        uint64_t text = b->text ? b->text[i] : 0;
        size_t to = n;

        if (entry.count == 0)
            continue;
        for (; to > 0 && b->entry[to - 1].key > entry.key; to--) {
            b->entry[to] = b->entry[to - 1];
            if (b->text)
                b->text[to] = b->text[to - 1];
        }
        b->entry[to] = entry;
        if (b->text)
            b->text[to] = text;
        n++;
    }
}

/* A run more at the end of the file, which is opened for the first one. */
static enum nd_status begin_run(struct nd_df_builder *b, struct nd_error *err)
{
    if (!b->spill.file) {
        enum nd_status status = nd_df_spill_open(&b->spill, b->tmp, b->keep_texts, err);

        if (status != ND_OK)
            return status;
    }
    if (!nd_array_reserve((void **)&b->run_end, &b->runs_capacity, b->n_runs + 1,
                          sizeof *b->run_end))
        return no_memory(err);
    return ND_OK;
}

static enum nd_status end_run(struct nd_df_builder *b, bool is_written, struct nd_error *err)
{
    if (!is_written || fflush(b->spill.file) != 0)
        return nd_fail(err, ND_EIO, "temporary file of a df table in %s: %s",
                       b->tmp ? b->tmp : "/tmp", strerror(errno));
    b->run_end[b->n_runs++] = b->spill.bytes;
    return ND_OK;
}

static bool write_run(struct nd_df_builder *b)
{
    struct nd_df_run run = {
        .entry = b->entry, .text = b->text, .texts = b->texts.data, .n_entries = b->used};

    while (nd_df_run_next(&run, 0) == 1)
        if (!nd_df_spill_put(&b->spill, &run.record))
            return false;
    return true;
}

/* An empty table, from the first spill on the largest that the memory allows: long runs are few. */
static enum nd_status start_again(struct nd_df_builder *b, struct nd_error *err)
{
    uint64_t slot = sizeof(struct nd_df_entry) + (b->keep_texts ? sizeof(uint64_t) : 0);
    size_t homes = (size_t)((b->memory - b->memory / 4) / slot) - ND_DF_BEYOND;

    if (homes <= b->homes) {
        memset(b->entry, 0, table_bytes(b->homes));
        b->used = 0;
        return ND_OK;
    }
    free_table(b->entry, b->text, b->homes);
    if (new_table(b, homes))
        return ND_OK;
    b->text = NULL;
    return no_memory(err);
}

/* The table becomes a run of the file, and is empty again. */
static enum nd_status spill(struct nd_df_builder *b, struct nd_error *err)
{
    enum nd_status status = begin_run(b, err);

    if (status != ND_OK)
        return status;
    nd_df_builder_sort(b);
    status = end_run(b, write_run(b), err);
    if (status != ND_OK)
        return status;
    b->stamp = 0;
    b->texts.len = 0;
    return start_again(b, err);
}

/* The slot of a key: its own, or a free one; SIZE_MAX: the table has none left behind its home. */
static size_t find_slot(const struct nd_df_entry *entry, size_t homes, uint64_t key)
{
    for (size_t i = (size_t)nd_df_home(key, homes); i < homes + ND_DF_BEYOND; i++)
        if (entry[i].count == 0 || entry[i].key == key)
            return i;
    return SIZE_MAX;
}

/* Whether a table twice as large, beside this one, is within the memory. */
static bool may_grow(const struct nd_df_builder *b)
{
    uint64_t need = table_bytes(2 * b->homes) + table_bytes(b->homes);

    if (b->keep_texts)
        need += places_bytes(2 * b->homes) + places_bytes(b->homes);
    return need <= b->memory - b->memory / 4;
}

static enum nd_status grow(struct nd_df_builder *b, struct nd_error *err)
{
    struct nd_df_builder old = *b;

    if (b->homes > SIZE_MAX / 64 || !new_table(b, 2 * b->homes)) {
        *b = old;
        return no_memory(err);
    }
    b->used = old.used;
    for (size_t i = 0; i < old.homes + ND_DF_BEYOND; i++) {
        size_t to;

        if (old.entry[i].count == 0)
            continue;
        to = find_slot(b->entry, b->homes, old.entry[i].key);
        if (to == SIZE_MAX) {
            free_table(b->entry, b->text, b->homes);
            *b = old;
            return no_memory(err);
        }
        b->entry[to] = old.entry[i];
        if (b->text)
            b->text[to] = old.text[i];
    }
    free_table(old.entry, old.text, old.homes);
    return ND_OK;
}

/*
 * Room for n keys more, two thirds of the table being taken at most.  A document is never cut by a
 * spill, since it counts once; one that is larger than the memory makes the table grow beyond it.
 */
static enum nd_status make_room(struct nd_df_builder *b, size_t n, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (b->texts.len > b->memory / 4 && b->used > 0)
        status = spill(b, err);
    while (status == ND_OK && b->used + n > b->homes / 3 * 2)
        status = may_grow(b) || b->used == 0 ? grow(b, err) : spill(b, err);
    return status;
}

static enum nd_status put_text(struct nd_df_builder *b, size_t slot, bool is_new,
                               struct nd_view text, struct nd_error *err)
{
    if (!is_new) {
        const char *has = b->texts.data + b->text[slot];

        if (!nd_df_text_before(text, (struct nd_view){has, (size_t)(strchr(has, '\n') - has)}))
            return ND_OK;
    }
    b->text[slot] = b->texts.len;
    if (!nd_buffer_append(&b->texts, text.data, text.len) || !nd_buffer_append(&b->texts, "\n", 1))
        return no_memory(err);
    return ND_OK;
}

/* Of a document. */
static enum nd_status put(struct nd_df_builder *b, uint64_t hash, const struct nd_view *text,
                          struct nd_error *err)
{
    uint64_t key = nd_mix64(hash);
    size_t slot = find_slot(b->entry, b->homes, key);
    struct nd_df_entry *entry;
    bool is_new;

    if (slot == SIZE_MAX)
        return nd_fail(err, ND_ENOMEM, "out of memory for a df table: its keys crowd together");
    entry = &b->entry[slot];
    is_new = entry->count == 0;
    b->used += is_new;
    entry->key = key;
    if (is_new || entry->last != b->stamp)
        entry->count = nd_df_add_counts(entry->count, 1);
    entry->last = b->stamp;
    if (b->keep_texts)
        return put_text(b, slot, is_new, text ? *text : (struct nd_view){0}, err);
    return ND_OK;
}

enum nd_status nd_df_builder_enter(struct nd_df_builder *b, struct nd_error *err)
{
    if (b->is_used_up)
        return nd_fail(err, ND_EINVAL, "the builder was written: it can only be freed");
    return nd_handle_enter(&b->handle, ND_CALL_CHANGES, err);
}

/* What was counted of a document, or merged, cannot be taken back. */
enum nd_status nd_df_builder_leave(struct nd_df_builder *b, enum nd_status status)
{
    if (status != ND_OK)
        nd_handle_break(&b->handle, status);
    (void)nd_handle_leave(&b->handle, ND_CALL_CHANGES);
    return status;
}

static enum nd_status add_document(struct nd_df_builder *b, const uint64_t *hash, size_t n,
                                   const struct nd_view *text, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    b->documents++;
    if (b->stamp == UINT32_MAX)
        status = spill(b, err);
    if (status == ND_OK)
        status = make_room(b, n, err);
    b->stamp++;
    for (size_t i = 0; i < n && status == ND_OK; i++) {
        if (i + AHEAD < n)
            __builtin_prefetch(&b->entry[nd_df_home(nd_mix64(hash[i + AHEAD]), b->homes)], 1);
        status = put(b, hash[i], text ? &text[i] : NULL, err);
    }
    return status;
}

enum nd_status nd_df_builder_add(struct nd_df_builder *b, const uint64_t *hash, size_t n,
                                 const struct nd_view *text, struct nd_error *err)
{
    enum nd_status status = nd_df_builder_enter(b, err);

    return status == ND_OK ? nd_df_builder_leave(b, add_document(b, hash, n, text, err)) : status;
}

/* Its keys rise, as those of a run do: put into the table one after another they would all crowd at
 * its beginning. */
static bool write_table(struct nd_df_builder *b, const struct nd_df *df)
{
    struct nd_df_cursor cursor = {0, 0};
    struct nd_df_term term;

    while (nd_df_next(df, &cursor, &term)) {
        const struct nd_df_record record = {nd_mix64(term.hash), term.count, term.text};

        if (!nd_df_spill_put(&b->spill, &record))
            return false;
    }
    return true;
}

enum nd_status nd_df_builder_add_table(struct nd_df_builder *b, const struct nd_df *df,
                                       struct nd_error *err)
{
    enum nd_status status = nd_df_same_features(b->features, nd_df_features(df), err);

    if (status == ND_OK)
        status = nd_df_builder_enter(b, err);
    if (status != ND_OK)
        return status;
    status = begin_run(b, err);
    if (status == ND_OK)
        status = end_run(b, write_table(b, df), err);
    if (status == ND_OK)
        b->documents += nd_df_documents(df);
    return nd_df_builder_leave(b, status);
}
