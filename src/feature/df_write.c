/* df_write.c - builders to one table: merge their runs, lay the keys out, publish */
#define _GNU_SOURCE
#include <neardup/result_file.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/publish.h"
#include "feature/df_builder.h"

enum { LEAST_BUFFER = 1 << 12, GREATEST_BUFFER = 1 << 18, AT_ONCE = 1 << 16 };

struct writer {
    struct nd_df_header header;
    struct nd_result_file *out;
    FILE *stream;                /* its */
    struct nd_hash_stream *hash; /* of the chunk that is being written */
    struct nd_df_chunk *chunk;
    char *room; /* what is to be hashed and written next */
    size_t filled;
    enum nd_status status;
};

static void flush(struct writer *w)
{
    if (w->status == ND_OK && w->filled > 0) {
        nd_hash_stream_add(w->hash, w->room, w->filled);
        w->chunk->bytes += w->filled;
        if (fwrite(w->room, 1, w->filled, w->stream) != w->filled)
            w->status = ND_EIO;
    }
    w->filled = 0;
}

static void put_bytes(struct writer *w, const void *data, size_t bytes)
{
    const char *from = data;

    while (bytes > 0 && w->status == ND_OK) {
        size_t now = AT_ONCE - w->filled < bytes ? AT_ONCE - w->filled : bytes;

        memcpy(w->room + w->filled, from, now);
        w->filled += now;
        from += now;
        bytes -= now;
        if (w->filled == AT_ONCE)
            flush(w);
    }
}

static void begin_chunk(struct writer *w, unsigned number)
{
    w->chunk = &w->header.chunk[number];
    w->chunk->offset = w->header.file_bytes;
    w->hash = nd_hash_stream_new();
    if (!w->hash && w->status == ND_OK)
        w->status = ND_ENOMEM;
}

static void end_chunk(struct writer *w)
{
    flush(w);
    if (w->hash)
        w->chunk->hash = nd_hash_stream_value(w->hash);
    nd_hash_stream_free(w->hash);
    w->hash = NULL;
    w->header.file_bytes += w->chunk->bytes;
}

static void next_record(struct writer *w, struct nd_df_run *run, bool *more)
{
    int status = w->status == ND_OK ? nd_df_run_next(run, GREATEST_BUFFER) : 0;

    *more = status == 1;
    if (status < 0)
        w->status = (enum nd_status)status;
}

static void put_free_slots(struct writer *w, uint64_t n)
{
    static const char zeros[1024 * ND_DF_SLOT];

    for (; n > 0 && w->status == ND_OK;) {
        size_t now = n < 1024 ? (size_t)n : 1024;

        put_bytes(w, zeros, now * ND_DF_SLOT);
        n -= now;
    }
}

/* Each key to its home, or to the first slot behind it that is left. */
static void write_slots(struct writer *w, struct nd_df_run run)
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

static void write_texts(struct writer *w, struct nd_df_run run)
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

/* The header comes last: until it stands there the file is none. */
static void write_parts(struct writer *w, const struct nd_df_run *run, const char *features)
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
        (fseeko(w->stream, 0, SEEK_SET) != 0 || fwrite(h, sizeof *h, 1, w->stream) != 1))
        w->status = ND_EIO;
}

static enum nd_status write_table(struct writer *w, const struct nd_df_run *run,
                                  const char *features, const char *path, struct nd_error *err)
{
    struct stat about;
    enum nd_status status;

    /* A table is sought in: a pipe or a device cannot take it, and a pipe would be waited for. */
    if (nd_output_descriptor(path) >= 0 || (stat(path, &about) == 0 && !S_ISREG(about.st_mode)))
        return nd_fail(err, ND_EIO, "%s: is no regular file", path);
    status = nd_result_file_open(&w->out, path, NULL, 0, err);
    if (status != ND_OK)
        return status;
    w->stream = nd_result_file_stream(w->out);
    memcpy(w->header.magic, ND_DF_MAGIC, sizeof w->header.magic);
    w->header.version = ND_DF_VERSION;
    w->room = nd_alloc_array(AT_ONCE, 1);
    if (w->room)
        write_parts(w, run, features);
    else
        w->status = ND_ENOMEM;
    free(w->room);
    if (w->status == ND_EIO)
        status = nd_fail(err, ND_EIO, "%s: cannot be written: %s", path, strerror(errno));
    else if (w->status != ND_OK)
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    if (status == ND_OK)
        return nd_result_file_publish(w->out, err);
    nd_result_file_discard(w->out);
    return status;
}

/* The runs of one builder: those of its file, then its table. */
static size_t list_runs(struct nd_df_builder *b, struct nd_df_run *run)
{
    uint64_t at = 0;
    size_t n = 0;

    for (; n < b->n_runs; n++) {
        run[n] = (struct nd_df_run){.spill = &b->spill, .at = at, .end = b->run_end[n]};
        at = b->run_end[n];
    }
    nd_df_builder_sort(b);
    run[n] = (struct nd_df_run){
        .entry = b->entry, .text = b->text, .texts = b->texts.data, .n_entries = b->used};
    return n + 1;
}

/* One run of all: the only one there is, or a file into which they are merged. */
static enum nd_status join_runs(struct nd_df_run *run, size_t n, const struct nd_df_builder *b,
                                struct nd_df_spill *merged, uint64_t *terms, struct nd_error *err)
{
    size_t buffer = (size_t)(b->memory / 4 / n);
    enum nd_status status;

    if (n == 1) {
        *terms = run->n_entries;
        return ND_OK;
    }
    buffer = buffer < LEAST_BUFFER ? LEAST_BUFFER : buffer;
    buffer = buffer > GREATEST_BUFFER ? GREATEST_BUFFER : buffer;
    status = nd_df_spill_open(merged, b->tmp, b->keep_texts, err);
    if (status == ND_OK)
        status = nd_df_runs_merge(run, n, buffer, merged, terms, err);
    for (size_t i = 0; i < n; i++)
        nd_df_run_release(&run[i]);
    run[0] = (struct nd_df_run){.spill = merged, .end = merged->bytes};
    return status;
}

static enum nd_status write_all(struct nd_df_builder *const *builder, size_t n, size_t n_runs,
                                struct writer *w, const char *path, struct nd_error *err)
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
        status = write_table(w, run, builder[0]->features, path, err);
    nd_df_spill_close(&merged);
    free(run);
    return status;
}

/* They are in one call together; one that is named twice is in it already. */
static enum nd_status enter_all(struct nd_df_builder *const *builder, size_t n,
                                struct nd_error *err)
{
    enum nd_status status = ND_OK;
    size_t entered = 0;

    for (; entered < n && status == ND_OK; entered++)
        status = nd_df_builder_enter(builder[entered], err);
    if (status == ND_OK)
        return ND_OK;
    for (size_t i = 0; i + 1 < entered; i++)
        (void)nd_df_builder_leave(builder[i], ND_OK);
    return status;
}

enum nd_status nd_df_builder_write(struct nd_df_builder *const *builder, size_t n, const char *path,
                                   struct nd_error *err)
{
    struct writer w = {.status = ND_OK};
    enum nd_status status;
    size_t n_runs = 0;

    if (n == 0)
        return nd_fail(err, ND_EINVAL, "a df table of no builder");
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
        (void)nd_df_builder_leave(builder[i], ND_OK);
    }
    return status;
}
