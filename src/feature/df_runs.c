/* df_runs.c - sorted runs of counted terms: in memory, in a file, merged */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/temporary.h"
#include "base/memory.h"
#include "base/system/c_functions.h"
#include "base/system/descriptor.h"
#include "base/system/naming.h"
#include "feature/df_runs.h"

/* In the file: key 8, count 4, and where there are texts length 4, bytes. */
enum { RECORD = 12, WITH_TEXT = 16 };

bool nd_df_text_before(struct nd_view a, struct nd_view b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order;

    if (!a.len || !b.len)
        return a.len > 0;
    order = memcmp(a.data, b.data, n);
    return order < 0 || (order == 0 && a.len < b.len);
}

enum nd_status nd_df_spill_open(struct nd_df_spill *s, const char *folder, bool has_texts,
                                struct nd_error *err)
{
    int fd;

    folder = folder ? folder : nd_folder_for_temporary();
    fd = nd_temporary_spool(folder);
    *s = (struct nd_df_spill){.file = fd >= 0 ? nd_descriptor_stream(fd, "w+b") : NULL,
                              .has_texts = has_texts};
    if (!s->file)
        nd_fail(err, ND_EIO, "%s: %s", folder, strerror(errno));
    if (fd >= 0)
        (void)nd_descriptor_close(fd);
    return s->file ? ND_OK : ND_EIO;
}

bool nd_df_spill_put(struct nd_df_spill *s, const struct nd_df_record *record)
{
    uint32_t len = (uint32_t)record->text.len;
    char head[WITH_TEXT];
    size_t bytes = s->has_texts ? WITH_TEXT : RECORD;

    memcpy(head, &record->key, 8);
    memcpy(head + 8, &record->count, 4);
    memcpy(head + 12, &len, 4);
    s->bytes += bytes;
    if (nd_stream_write(head, 1, bytes, s->file) != bytes)
        return false;
    if (!s->has_texts || !len)
        return true;
    s->bytes += len;
    return nd_stream_write(record->text.data, 1, len, s->file) == len;
}

void nd_df_spill_close(struct nd_df_spill *s)
{
    if (s->file)
        fclose(s->file);
    *s = (struct nd_df_spill){0};
}

/* Make sure that `need` bytes of the file are in the buffer: 1, 0 at the end, < 0. */
static int fill(struct nd_df_run *run, size_t need, size_t buffer_bytes)
{
    size_t left = run->filled - run->used, capacity;

    if (left >= need)
        return 1;
    if (left == 0 && run->offset == run->end)
        return 0;
    capacity = need > buffer_bytes ? need : buffer_bytes;
    if (left > 0)
        memmove(run->buffer, run->buffer + run->used, left);
    if (!ND_RESERVE(run->buffer, &run->capacity, capacity))
        return ND_ENOMEM;
    run->used = 0;
    run->filled = left;
    while (run->filled < need) {
        uint64_t more = run->end - run->offset;
        size_t n = run->capacity - run->filled;
        ssize_t got;

        n = more < n ? (size_t)more : n;
        got = nd_descriptor_read_at(nd_stream_descriptor(run->spill->file),
                                    run->buffer + run->filled, n, run->offset);
        if (got <= 0) {
            errno = got == 0 ? EIO : errno;
            return ND_EIO;
        }
        run->filled += (size_t)got;
        run->offset += (uint64_t)got;
    }
    return 1;
}

static int next_of_file(struct nd_df_run *run, size_t buffer_bytes)
{
    size_t head = run->spill->has_texts ? WITH_TEXT : RECORD;
    int status = fill(run, head, buffer_bytes);
    uint32_t len = 0;

    if (status <= 0)
        return status;
    if (run->spill->has_texts)
        memcpy(&len, run->buffer + run->used + RECORD, 4);
    status = fill(run, head + len, buffer_bytes);
    if (status <= 0)
        return status < 0 ? status : ND_EIO;
    memcpy(&run->record.key, run->buffer + run->used, 8);
    memcpy(&run->record.count, run->buffer + run->used + 8, 4);
    run->record.text = (struct nd_view){run->buffer + run->used + head, len};
    run->used += head + len;
    return 1;
}

int nd_df_run_next(struct nd_df_run *run, size_t buffer_bytes)
{
    const struct nd_df_entry *entry;

    if (run->spill)
        return next_of_file(run, buffer_bytes);
    if (run->next == run->n_entries)
        return 0;
    entry = &run->entry[run->next];
    run->record = (struct nd_df_record){.key = entry->key, .count = entry->count};
    if (run->text) {
        const char *text = run->texts + run->text[run->next];

        run->record.text = (struct nd_view){text, (size_t)(strchr(text, '\n') - text)};
    }
    run->next++;
    return 1;
}

void nd_df_run_release(struct nd_df_run *run)
{
    free(run->buffer);
    *run = (struct nd_df_run){0};
}

/* A binary heap of runs by the keys of their records: the smallest is at the root. */
struct heap {
    struct nd_df_run **run;
    size_t n;
};

static void sift_down(struct heap *h, size_t i)
{
    for (;;) {
        size_t min = i, child = 2 * i + 1;
        struct nd_df_run *swap = h->run[i];

        for (size_t c = child; c < child + 2 && c < h->n; c++)
            if (h->run[c]->record.key < h->run[min]->record.key)
                min = c;
        if (min == i)
            return;
        h->run[i] = h->run[min];
        h->run[min] = swap;
        i = min;
    }
}

/* Advance the run at the root to its next record, or take it off the heap at its end. */
static int advance(struct heap *h, size_t buffer_bytes)
{
    int status = nd_df_run_next(h->run[0], buffer_bytes);

    if (status < 0)
        return status;
    if (status == 0)
        h->run[0] = h->run[--h->n];
    if (h->n > 0)
        sift_down(h, 0);
    return 1;
}

/* Join all records of the smallest key into one.  Its text is copied, because a text in a run is
 * valid only until that run advances. */
static int next_merged(struct heap *h, size_t buffer_bytes, struct nd_buffer *text,
                       struct nd_df_record *out)
{
    int status = 1;

    *out = h->run[0]->record;
    text->len = 0;
    if (!nd_buffer_append(text, out->text.data, out->text.len))
        return ND_ENOMEM;
    status = advance(h, buffer_bytes);
    while (status == 1 && h->n > 0 && h->run[0]->record.key == out->key) {
        const struct nd_df_record *same = &h->run[0]->record;

        out->count = nd_df_add_counts(out->count, same->count);
        if (nd_df_text_before(same->text, (struct nd_view){text->data, text->len})) {
            text->len = 0;
            if (!nd_buffer_append(text, same->text.data, same->text.len))
                return ND_ENOMEM;
        }
        status = advance(h, buffer_bytes);
    }
    out->text = (struct nd_view){text->data, text->len};
    return status;
}

static int merge(struct heap *h, struct nd_df_run *run, size_t n, size_t buffer_bytes,
                 struct nd_df_spill *out, uint64_t *terms)
{
    struct nd_buffer text = {0};
    struct nd_df_record record;
    int status = 1;

    for (size_t i = 0; i < n && status >= 0; i++) {
        status = nd_df_run_next(&run[i], buffer_bytes);
        if (status == 1)
            h->run[h->n++] = &run[i];
    }
    for (size_t i = h->n; status >= 0 && i-- > 0;)
        sift_down(h, i);
    *terms = 0;
    while (status >= 0 && h->n > 0) {
        status = next_merged(h, buffer_bytes, &text, &record);
        if (status >= 0 && !nd_df_spill_put(out, &record))
            status = ND_EIO;
        *terms += 1;
    }
    if (status >= 0 && fflush(out->file) != 0)
        status = ND_EIO;
    nd_buffer_release(&text);
    return status;
}

enum nd_status nd_df_runs_merge(struct nd_df_run *run, size_t n, size_t buffer_bytes,
                                struct nd_df_spill *out, uint64_t *terms, struct nd_error *err)
{
    struct heap heap = {.run = nd_alloc_array(n + 1, sizeof *heap.run)};
    int status = heap.run ? merge(&heap, run, n, buffer_bytes, out, terms) : ND_ENOMEM;

    free(heap.run);
    if (status == ND_EIO)
        return nd_fail(err, ND_EIO, "temporary file of a df table: %s", strerror(errno));
    return status < 0 ? nd_fail(err, ND_ENOMEM, "out of memory") : ND_OK;
}
