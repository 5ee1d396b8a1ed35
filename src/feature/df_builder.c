/* df_builder.c - build a df table: count in memory, spill sorted runs, merge them, write the table
 *
 *     documents ──add_document──→ hash table ──spill──→ runs in a temporary file ─┐
 *                                      └──────────── its entries, sorted ────────┴─merge──→ one run
 *                                                                                             │
 *                            header, slots, features, texts (df_layout.h) ←──write_stream─────┘
 *
 * The table is the merge of all runs by key, so it does not depend on the order of the documents,
 * on when a run was spilled, or on how documents were spread over builders.
 */
#include "base/file/publish.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/system/c_functions.h"
#include "base/system/descriptor.h"
#include "base/system/naming.h"
#include "base/thread/handle.h"
#include "feature/df_layout.h"
#include "feature/df_runs.h"

#include <neardup/result_file.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    MIN_MEMORY = 1 << 20,
    DEFAULT_MEMORY = 256 << 20,
    FIRST_HOMES = 1 << 12,
    OVERFLOW_SLOTS = 4096,    /* behind the last home */
    PREFETCH_DISTANCE = 12,   /* terms */
    MIN_RUN_BUFFER = 1 << 12, /* bytes of a run that are read at once */
    MAX_RUN_BUFFER = 1 << 18,
    WRITE_BUFFER = 1 << 16, /* bytes that are hashed and written at once */
};

/*
 * The hash table probes linearly from nd_df_home(key), which grows with the key.  So the entries
 * stand in the order of their keys but for those of one cluster, and sort_entries, an insertion
 * sort, moves each of them past few others.  No key wraps round from the end to the beginning,
 * which would break that order: OVERFLOW_SLOTS more slots stand behind the last home instead.
 *
 *     entry  [ 0 | k1 | k2 | 0 | … homes | … overflow ]   count 0: free
 *     text   [ . |  p |  q | . | … ]                      where its text begins in `texts`
 */
struct nd_df_builder {
    struct nd_handle handle;
    bool is_used_up; /* it was written */
    uint64_t memory;
    char *tmp;
    bool keep_texts;
    char features[ND_DF_FEATURES_MAX];

    struct nd_df_entry *entry;
    uint64_t *text; /* NULL where no texts are kept */
    size_t homes, used;
    struct nd_buffer texts;
    uint64_t documents;
    uint32_t stamp; /* number of this document among those counted in this table */

    struct nd_df_spill spill;
    uint64_t *run_end; /* of each run in the file */
    size_t n_runs, runs_capacity;
};

static size_t table_bytes(size_t homes)
{
    return (homes + OVERFLOW_SLOTS) * sizeof(struct nd_df_entry);
}

static size_t places_bytes(size_t homes)
{
    return (homes + OVERFLOW_SLOTS) * sizeof(uint64_t);
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

    if (memory < MIN_MEMORY) {
        nd_fail(err, ND_EINVAL, "building a df table needs at least 1 MB of memory");
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
        b->tmp = nd_text_copy(params->tmp);
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

/* Move the entries to the front of the table, in the order of their keys; nothing can be added
 * then. */
static void sort_entries(struct nd_df_builder *b)
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

/* Prepare another run at the end of the file, which is opened for the first one. */
static enum nd_status begin_run(struct nd_df_builder *b, struct nd_error *err)
{
    if (!b->spill.file) {
        enum nd_status status = nd_df_spill_open(&b->spill, b->tmp, b->keep_texts, err);

        if (status != ND_OK)
            return status;
    }
    if (!ND_RESERVE(b->run_end, &b->runs_capacity, b->n_runs + 1))
        return no_memory(err);
    return ND_OK;
}

static enum nd_status end_run(struct nd_df_builder *b, bool is_written, struct nd_error *err)
{
    if (!is_written || fflush(b->spill.file) != 0)
        return nd_fail(err, ND_EIO, "temporary file of a df table in %s: %s",
                       b->tmp ? b->tmp : nd_folder_for_temporary(), strerror(errno));
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

/* Empty the table.  From the first spill on it is the largest that the memory allows, so that runs
 * are long and few. */
static enum nd_status start_again(struct nd_df_builder *b, struct nd_error *err)
{
    uint64_t slot = sizeof(struct nd_df_entry) + (b->keep_texts ? sizeof(uint64_t) : 0);
    size_t homes = (size_t)((b->memory - b->memory / 4) / slot) - OVERFLOW_SLOTS;

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

/* Write the table as a run of the file, and empty it. */
static enum nd_status spill(struct nd_df_builder *b, struct nd_error *err)
{
    enum nd_status status = begin_run(b, err);

    if (status != ND_OK)
        return status;
    sort_entries(b);
    status = end_run(b, write_run(b), err);
    if (status != ND_OK)
        return status;
    b->stamp = 0;
    b->texts.len = 0;
    return start_again(b, err);
}

/* The slot of a key: the one that holds it, or a free one.  SIZE_MAX: no slot is left behind its
 * home. */
static size_t find_slot(const struct nd_df_entry *entry, size_t homes, uint64_t key)
{
    for (size_t i = (size_t)nd_df_home(key, homes); i < homes + OVERFLOW_SLOTS; i++)
        if (entry[i].count == 0 || entry[i].key == key)
            return i;
    return SIZE_MAX;
}

/* Whether the memory limit allows a table twice as large beside this one. */
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
    for (size_t i = 0; i < old.homes + OVERFLOW_SLOTS; i++) {
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
 * Make sure that n more keys leave a third of the table free.  A document is never divided by a
 * spill, because its terms may count only once; where one document is larger than the memory limit,
 * the table grows beyond the limit.
 */
static enum nd_status reserve_keys(struct nd_df_builder *b, size_t n, struct nd_error *err)
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

/* Count a term of the current document. */
static enum nd_status put(struct nd_df_builder *b, uint64_t hash, const struct nd_view *text,
                          struct nd_error *err)
{
    uint64_t key = nd_mix64(hash);
    size_t slot = find_slot(b->entry, b->homes, key);
    struct nd_df_entry *entry;
    bool is_new;

    if (slot == SIZE_MAX)
        return nd_fail(err, ND_ENOMEM,
                       "out of memory for a df table: too many of its keys collide");
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

static enum nd_status enter(struct nd_df_builder *b, struct nd_error *err)
{
    if (b->is_used_up)
        return nd_fail(err, ND_EINVAL, "the builder has been written and can only be freed");
    return nd_handle_enter(&b->handle, ND_CALL_CHANGES, err);
}

/* A failure breaks the handle: what was counted or merged so far cannot be taken back. */
static enum nd_status leave(struct nd_df_builder *b, enum nd_status status)
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
        status = reserve_keys(b, n, err);
    b->stamp++;
    for (size_t i = 0; i < n && status == ND_OK; i++) {
        if (i + PREFETCH_DISTANCE < n)
            __builtin_prefetch(
                &b->entry[nd_df_home(nd_mix64(hash[i + PREFETCH_DISTANCE]), b->homes)], 1);
        status = put(b, hash[i], text ? &text[i] : NULL, err);
    }
    return status;
}

enum nd_status nd_df_builder_add(struct nd_df_builder *b, const uint64_t *hash, size_t n,
                                 const struct nd_view *text, struct nd_error *err)
{
    enum nd_status status = enter(b, err);

    return status == ND_OK ? leave(b, add_document(b, hash, n, text, err)) : status;
}

/* The table becomes a run: its keys ascend, as those of a run do.  (Added to the hash table in that
 * order, they would all crowd at its beginning until it has grown.) */
static bool write_table_run(struct nd_df_builder *b, const struct nd_df *df)
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
        status = enter(b, err);
    if (status != ND_OK)
        return status;
    status = begin_run(b, err);
    if (status == ND_OK)
        status = end_run(b, write_table_run(b, df), err);
    if (status == ND_OK)
        b->documents += nd_df_documents(df);
    return leave(b, status);
}

struct df_writer {
    struct nd_df_header header;
    struct nd_result_file *out;
    FILE *stream;                /* its */
    struct nd_hash_stream *hash; /* of the chunk that is being written */
    struct nd_df_chunk *chunk;
    char *buffer; /* what is to be hashed and written next */
    size_t filled;
    enum nd_status status;
};

static void flush(struct df_writer *w)
{
    if (w->status == ND_OK && w->filled > 0) {
        nd_hash_stream_add(w->hash, w->buffer, w->filled);
        w->chunk->bytes += w->filled;
        if (fwrite(w->buffer, 1, w->filled, w->stream) != w->filled)
            w->status = ND_EIO;
    }
    w->filled = 0;
}

static void put_bytes(struct df_writer *w, const void *data, size_t bytes)
{
    const char *from = data;

    while (bytes > 0 && w->status == ND_OK) {
        size_t now = WRITE_BUFFER - w->filled < bytes ? WRITE_BUFFER - w->filled : bytes;

        memcpy(w->buffer + w->filled, from, now);
        w->filled += now;
        from += now;
        bytes -= now;
        if (w->filled == WRITE_BUFFER)
            flush(w);
    }
}

static void begin_chunk(struct df_writer *w, unsigned number)
{
    w->chunk = &w->header.chunk[number];
    w->chunk->offset = w->header.file_bytes;
    w->hash = nd_hash_stream_new();
    if (!w->hash && w->status == ND_OK)
        w->status = ND_ENOMEM;
}

static void end_chunk(struct df_writer *w)
{
    flush(w);
    if (w->hash)
        w->chunk->hash = nd_hash_stream_value(w->hash);
    nd_hash_stream_free(w->hash);
    w->hash = NULL;
    w->header.file_bytes += w->chunk->bytes;
}

static void next_record(struct df_writer *w, struct nd_df_run *run, bool *more)
{
    int status = w->status == ND_OK ? nd_df_run_next(run, MAX_RUN_BUFFER) : 0;

    *more = status == 1;
    if (status < 0)
        w->status = (enum nd_status)status;
}

static void put_free_slots(struct df_writer *w, uint64_t n)
{
    static const char zeros[1024 * ND_DF_SLOT];

    for (; n > 0 && w->status == ND_OK;) {
        size_t now = n < 1024 ? (size_t)n : 1024;

        put_bytes(w, zeros, now * ND_DF_SLOT);
        n -= now;
    }
}

/* Write each key at its home, or in the first free slot behind it. */
static void write_slots(struct df_writer *w, struct nd_df_run run)
{
    uint64_t slots = 0;
    bool more;

    w->header.homes = w->header.terms + w->header.terms / 3 + 1;
    begin_chunk(w, ND_DF_CHUNK_SLOTS);
    for (next_record(w, &run, &more); more; next_record(w, &run, &more)) {
        uint64_t home = nd_df_home(run.record.key, w->header.homes);
        char slot[ND_DF_SLOT];

        if (home > slots) {
            put_free_slots(w, home - slots);
            slots = home;
        }
        memcpy(slot, &run.record.key, 8);
        memcpy(slot + 8, &run.record.count, 4);
        put_bytes(w, slot, sizeof slot);
        slots++;
    }
    if (slots < w->header.homes) {
        put_free_slots(w, w->header.homes - slots);
        slots = w->header.homes;
    }
    w->header.slots = slots;
    end_chunk(w);
    nd_df_run_release(&run);
}

static void write_texts(struct df_writer *w, struct nd_df_run run)
{
    bool more;

    begin_chunk(w, ND_DF_CHUNK_TEXTS);
    if (w->header.has_texts) {
        for (next_record(w, &run, &more); more; next_record(w, &run, &more)) {
            put_bytes(w, run.record.text.data, run.record.text.len);
            put_bytes(w, "\n", 1);
        }
    }
    end_chunk(w);
    nd_df_run_release(&run);
}

/* The header is written once to hold its place, and again at the end with its hash: a file that was
 * cut short is not a table. */
static void write_parts(struct df_writer *w, const struct nd_df_run *run, const char *features)
{
    struct nd_df_header *h = &w->header;

    h->file_bytes = sizeof *h;
    if (fwrite(h, sizeof *h, 1, w->stream) != 1)
        w->status = ND_EIO;
    write_slots(w, *run);
    begin_chunk(w, ND_DF_CHUNK_FEATURES);
    put_bytes(w, features, strlen(features));
    end_chunk(w);
    write_texts(w, *run);
    h->hash = nd_df_header_hash(h);
    if (w->status == ND_OK &&
        (!nd_stream_seek(w->stream, 0) || fwrite(h, sizeof *h, 1, w->stream) != 1))
        w->status = ND_EIO;
}

/* Write to w->stream, which stands at the beginning of an empty file. */
static enum nd_status write_stream(struct df_writer *w, const struct nd_df_run *run,
                                   const char *features, const char *name, struct nd_error *err)
{
    memcpy(w->header.magic, ND_DF_MAGIC, sizeof w->header.magic);
    w->header.version = ND_DF_VERSION;
    w->buffer = nd_alloc_array(WRITE_BUFFER, 1);
    if (w->buffer)
        write_parts(w, run, features);
    else
        w->status = ND_ENOMEM;
    free(w->buffer);
    if (w->status == ND_OK && fflush(w->stream) != 0)
        w->status = ND_EIO;
    if (w->status == ND_EIO)
        return nd_fail(err, ND_EIO, "%s: cannot be written: %s", name, strerror(errno));
    return w->status == ND_OK ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");
}

static enum nd_status write_file(struct df_writer *w, const struct nd_df_run *run,
                                 const char *features, const char *path, struct nd_error *err)
{
    struct nd_file_about about;
    enum nd_status status;

    if (w->stream)
        return write_stream(w, run, features, path, err);
    /* Writing seeks, which a pipe or a device cannot do; opening a pipe would also block. */
    if (nd_output_descriptor(path) >= 0 ||
        (nd_path_about(path, &about) && about.kind != ND_FILE_REGULAR))
        return nd_fail(err, ND_EIO, "%s: is not a regular file", path);
    status = nd_result_file_open(&w->out, path, NULL, 0, err);
    if (status != ND_OK)
        return status;
    w->stream = nd_result_file_stream(w->out);
    status = write_stream(w, run, features, path, err);
    if (status == ND_OK)
        return nd_result_file_publish(w->out, err);
    nd_result_file_discard(w->out);
    return status;
}

/* List the runs of one builder: those of its file, then the entries of its table. */
static size_t list_runs(struct nd_df_builder *b, struct nd_df_run *run)
{
    uint64_t offset = 0;
    size_t n = 0;

    for (; n < b->n_runs; n++) {
        run[n] = (struct nd_df_run){.spill = &b->spill, .offset = offset, .end = b->run_end[n]};
        offset = b->run_end[n];
    }
    sort_entries(b);
    run[n] = (struct nd_df_run){
        .entry = b->entry, .text = b->text, .texts = b->texts.data, .n_entries = b->used};
    return n + 1;
}

/* Leave one run in run[0]: the only one there is, or one of a file into which all are merged. */
static enum nd_status join_runs(struct nd_df_run *run, size_t n, const struct nd_df_builder *b,
                                struct nd_df_spill *merged, uint64_t *terms, struct nd_error *err)
{
    size_t buffer = (size_t)(b->memory / 4 / n);
    enum nd_status status;

    if (n == 1) {
        *terms = run->n_entries;
        return ND_OK;
    }
    buffer = buffer < MIN_RUN_BUFFER ? MIN_RUN_BUFFER : buffer;
    buffer = buffer > MAX_RUN_BUFFER ? MAX_RUN_BUFFER : buffer;
    status = nd_df_spill_open(merged, b->tmp, b->keep_texts, err);
    if (status == ND_OK)
        status = nd_df_runs_merge(run, n, buffer, merged, terms, err);
    for (size_t i = 0; i < n; i++)
        nd_df_run_release(&run[i]);
    run[0] = (struct nd_df_run){.spill = merged, .end = merged->bytes};
    return status;
}

static enum nd_status write_all(struct nd_df_builder *const *builder, size_t n, size_t n_runs,
                                struct df_writer *w, const char *path, struct nd_error *err)
{
    struct nd_df_run *run = nd_alloc_array(n_runs, sizeof *run);
    struct nd_df_spill merged = {.file = NULL};
    enum nd_status status;
    size_t filled = 0;

    if (!run)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; i < n; i++)
        filled += list_runs(builder[i], run + filled);
    status = join_runs(run, n_runs, builder[0], &merged, &w->header.terms, err);
    if (status == ND_OK)
        status = write_file(w, run, builder[0]->features, path, err);
    nd_df_spill_close(&merged);
    free(run);
    return status;
}

/* All builders enter the call together.  A builder that is named twice is in use when it comes the
 * second time, and so it is refused. */
static enum nd_status enter_all(struct nd_df_builder *const *builder, size_t n,
                                struct nd_error *err)
{
    enum nd_status status = ND_OK;
    size_t entered = 0;

    for (; entered < n && status == ND_OK; entered++)
        status = enter(builder[entered], err);
    if (status == ND_OK)
        return ND_OK;
    for (size_t i = 0; i + 1 < entered; i++)
        (void)leave(builder[i], ND_OK);
    return status;
}

/* Write the table to `path`, or to `stream` if it is not NULL; then `path` is only its name. */
static enum nd_status write_builders(struct nd_df_builder *const *builder, size_t n,
                                     const char *path, FILE *stream, struct nd_error *err)
{
    struct df_writer w = {.status = ND_OK, .stream = stream};
    enum nd_status status;
    size_t n_runs = 0;

    if (n == 0)
        return nd_fail(err, ND_EINVAL, "no builder to write a df table from");
    for (size_t i = 0; i < n; i++) {
        if (strcmp(builder[i]->features, builder[0]->features) != 0 ||
            builder[i]->keep_texts != builder[0]->keep_texts)
            return nd_fail(err, ND_EINVAL, "the builders count different features");
        n_runs += builder[i]->n_runs + 1;
        w.header.documents += builder[i]->documents;
    }
    w.header.has_texts = builder[0]->keep_texts;
    status = enter_all(builder, n, err);
    if (status != ND_OK)
        return status;
    status = write_all(builder, n, n_runs, &w, path, err);
    for (size_t i = 0; i < n; i++) {
        builder[i]->is_used_up = true;
        (void)leave(builder[i], ND_OK);
    }
    return status;
}

enum nd_status nd_df_builder_write(struct nd_df_builder *const *builder, size_t n, const char *path,
                                   struct nd_error *err)
{
    return write_builders(builder, n, path, NULL, err);
}

enum nd_status nd_df_builder_write_stream(struct nd_df_builder *const *builder, size_t n,
                                          FILE *stream, struct nd_error *err)
{
    return write_builders(builder, n, "the df table", stream, err);
}
