/* external_sort.c - records sorted in bounded memory: what does not fit waits in a temporary file */
#include "base/file/external_sort.h"

#include "base/file/spool.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/system/c_functions.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A buffer of less would make a read of each few records. */
enum { MEMORY_LEAST = 1 << 16, BUFFER_LEAST = 1 << 12, FIRST_RECORDS = 64 };

/* A run on its way through memory. */
struct sorted_run {
    uint64_t from, to; /* what is not read yet, in the spool that has it */
    struct nd_buffer buffer;
    size_t at; /* of the buffer: the next record */
    size_t number;
};

struct nd_external_sort {
    struct nd_external_sort_options options;
    size_t records_max; /* in memory at a time */
    /* The records in memory, and their keys with their places, twice. */
    unsigned char *record;
    struct nd_numbered_value *order, *other;
    size_t n, capacity;
    struct nd_spool *spool; /* of all runs; NULL: there are none */
    struct sorted_run *run;
    size_t n_runs, run_capacity;
    uint64_t spilled;
    bool is_sorted;
    size_t at;                /* where no run was written: the next in `order` */
    struct sorted_run **heap; /* the runs that have records, the least record's first */
    size_t n_heap;
};

struct nd_external_sort *nd_external_sort_new(const struct nd_external_sort_options *options,
                                              struct nd_error *err)
{
    struct nd_external_sort *s = calloc(1, sizeof *s);
    size_t each = options->record_bytes + 2 * sizeof *s->order;

    if (!s) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    s->options = *options;
    if (s->options.memory_bytes < MEMORY_LEAST)
        s->options.memory_bytes = MEMORY_LEAST;
    s->records_max = s->options.memory_bytes / each;
    if (s->records_max > UINT32_MAX - 1)
        s->records_max = UINT32_MAX - 1;
    return s;
}

static void release_records(struct nd_external_sort *s)
{
    free(s->record);
    free(s->order);
    free(s->other);
    s->record = NULL;
    s->order = s->other = NULL;
    s->n = s->capacity = 0;
}

static void release_buffers(struct nd_external_sort *s)
{
    for (size_t i = 0; i < s->n_runs; i++)
        nd_buffer_release(&s->run[i].buffer);
}

void nd_external_sort_free(struct nd_external_sort *s)
{
    if (!s)
        return;
    release_records(s);
    release_buffers(s);
    free(s->run);
    free(s->heap);
    nd_spool_free(s->spool);
    free(s);
}

uint64_t nd_external_sort_spilled(const struct nd_external_sort *s)
{
    return s->spilled;
}

static uint64_t key_of(const void *record)
{
    uint64_t key;

    memcpy(&key, record, sizeof key);
    return key;
}

static const unsigned char *record_at(const struct nd_external_sort *s, size_t place)
{
    return s->record + place * s->options.record_bytes;
}

/* ---- Runs ---- */

static int by_record(const void *a, const void *b, void *context)
{
    const struct nd_external_sort *s = context;
    const struct nd_numbered_value *x = a, *y = b;
    int order =
        s->options.compare(record_at(s, x->number), record_at(s, y->number), s->options.context);

    return order ? order : (x->number > y->number) - (x->number < y->number);
}

/* Bring the records in memory into order: `order` then has their places. */
static void sort_records(struct nd_external_sort *s)
{
    for (size_t i = 0; i < s->n; i++)
        s->order[i] = (struct nd_numbered_value){key_of(record_at(s, i)), (uint32_t)i, 0};
    nd_sort_numbered(&s->order, &s->other, s->n);
    for (size_t from = 0, to; s->options.compare && from < s->n; from = to) {
        for (to = from + 1; to < s->n && s->order[to].value == s->order[from].value;)
            to++;
        if (to - from > 1)
            nd_sort_with(s->order + from, to - from, sizeof *s->order, by_record, s);
    }
}

static enum nd_status begin_run(struct nd_external_sort *s, struct nd_spool *spool,
                                struct nd_error *err)
{
    if (!ND_RESERVE(s->run, &s->run_capacity, s->n_runs + 1))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    s->run[s->n_runs] =
        (struct sorted_run){.from = nd_spool_bytes(spool), .to = nd_spool_bytes(spool)};
    return ND_OK;
}

static enum nd_status write_run(struct nd_external_sort *s, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (!s->spool && !(s->spool = nd_spool_new(s->options.tmp, err)))
        return err && err->status ? err->status : ND_EIO;
    sort_records(s);
    status = begin_run(s, s->spool, err);
    for (size_t i = 0; status == ND_OK && i < s->n; i++)
        status = nd_spool_append(s->spool, record_at(s, s->order[i].number),
                                 s->options.record_bytes, NULL, err);
    if (status != ND_OK)
        return status;
    s->run[s->n_runs++].to = nd_spool_bytes(s->spool);
    s->spilled += s->n * s->options.record_bytes;
    s->n = 0;
    return ND_OK;
}

/* The arrays double, up to the most that fits. */
static bool grow(struct nd_external_sort *s)
{
    size_t capacity = s->capacity ? s->capacity * 2 : FIRST_RECORDS, none = 0;

    if (capacity > s->records_max)
        capacity = s->records_max;
    if (!nd_array_reserve(&s->record, &none, capacity, s->options.record_bytes))
        return false;
    none = 0;
    if (!nd_array_reserve(&s->order, &none, capacity, sizeof *s->order))
        return false;
    none = 0;
    if (!nd_array_reserve(&s->other, &none, capacity, sizeof *s->other))
        return false;
    s->capacity = capacity;
    return true;
}

enum nd_status nd_external_sort_add(struct nd_external_sort *s, const void *record,
                                    struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (s->n == s->records_max)
        status = write_run(s, err);
    if (status != ND_OK)
        return status;
    if (s->n == s->capacity && !grow(s))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    memcpy(s->record + s->n++ * s->options.record_bytes, record, s->options.record_bytes);
    return ND_OK;
}

/* ---- The merge ---- */

/* Read the next part of a run.  Its buffer is empty where the run has ended. */
static enum nd_status fill(struct nd_external_sort *s, struct sorted_run *r, size_t bytes,
                           struct nd_error *err)
{
    uint64_t len = r->to - r->from;
    enum nd_status status;

    if (len > bytes)
        len = bytes - bytes % s->options.record_bytes;
    r->at = 0;
    r->buffer.len = 0;
    if (len == 0)
        return ND_OK;
    status = nd_spool_read(s->spool, r->from, (size_t)len, &r->buffer, err);
    r->from += len;
    return status;
}

/* The bytes of a buffer, if n runs are merged at a time. */
static size_t buffer_bytes(const struct nd_external_sort *s, size_t n)
{
    size_t least = s->options.record_bytes > BUFFER_LEAST ? s->options.record_bytes : BUFFER_LEAST;
    size_t bytes = s->options.memory_bytes / n;

    return bytes > least ? bytes : least;
}

static bool is_before(const struct nd_external_sort *s, const struct sorted_run *a,
                      const struct sorted_run *b)
{
    const char *x = a->buffer.data + a->at, *y = b->buffer.data + b->at;
    uint64_t key_a = key_of(x), key_b = key_of(y);
    int order;

    if (key_a != key_b)
        return key_a < key_b;
    order = s->options.compare ? s->options.compare(x, y, s->options.context) : 0;
    return order ? order < 0 : a->number < b->number;
}

static void sift_down(struct nd_external_sort *s, size_t i)
{
    for (;;) {
        size_t least = i, child = 2 * i + 1;
        struct sorted_run *swap = s->heap[i];

        if (child < s->n_heap && is_before(s, s->heap[child], s->heap[least]))
            least = child;
        if (child + 1 < s->n_heap && is_before(s, s->heap[child + 1], s->heap[least]))
            least = child + 1;
        if (least == i)
            return;
        s->heap[i] = s->heap[least];
        s->heap[least] = swap;
        i = least;
    }
}

static enum nd_status begin_merge(struct nd_external_sort *s, size_t from, size_t n,
                                  struct nd_error *err)
{
    enum nd_status status = ND_OK;

    s->n_heap = 0;
    for (size_t i = from; status == ND_OK && i < from + n; i++) {
        s->run[i].number = i;
        status = fill(s, &s->run[i], buffer_bytes(s, n), err);
        if (s->run[i].buffer.len)
            s->heap[s->n_heap++] = &s->run[i];
    }
    for (size_t i = s->n_heap / 2; status == ND_OK && i-- > 0;)
        sift_down(s, i);
    return status;
}

/* Step over the record that is first; n runs are being merged. */
static enum nd_status step(struct nd_external_sort *s, size_t n, struct nd_error *err)
{
    struct sorted_run *r = s->heap[0];
    enum nd_status status = ND_OK;

    r->at += s->options.record_bytes;
    if (r->at == r->buffer.len)
        status = fill(s, r, buffer_bytes(s, n), err);
    if (r->buffer.len == 0)
        s->heap[0] = s->heap[--s->n_heap];
    if (status == ND_OK && s->n_heap)
        sift_down(s, 0);
    return status;
}

/* Merge n runs into one of another spool. */
static enum nd_status merge_some(struct nd_external_sort *s, size_t from, size_t n,
                                 struct nd_spool *to, struct sorted_run *merged,
                                 struct nd_error *err)
{
    enum nd_status status = begin_merge(s, from, n, err);

    *merged = (struct sorted_run){.from = nd_spool_bytes(to)};
    while (status == ND_OK && s->n_heap) {
        struct sorted_run *r = s->heap[0];

        status = nd_spool_append(to, r->buffer.data + r->at, s->options.record_bytes, NULL, err);
        if (status == ND_OK)
            status = step(s, n, err);
    }
    merged->to = nd_spool_bytes(to);
    s->spilled += merged->to - merged->from;
    for (size_t i = from; i < from + n; i++)
        nd_buffer_release(&s->run[i].buffer);
    return status;
}

/* Merge each `most` runs into one. */
static enum nd_status merge_level(struct nd_external_sort *s, size_t most, struct nd_error *err)
{
    struct nd_spool *to = nd_spool_new(s->options.tmp, err);
    enum nd_status status = ND_OK;
    size_t n_merged = 0;

    if (!to)
        return err && err->status ? err->status : ND_EIO;
    for (size_t from = 0, n; status == ND_OK && from < s->n_runs; from += n) {
        struct sorted_run merged;

        n = s->n_runs - from < most ? s->n_runs - from : most;
        status = merge_some(s, from, n, to, &merged, err);
        s->run[n_merged++] = merged; /* those up to from + n have been read */
    }
    if (status != ND_OK) {
        nd_spool_free(to);
        return status;
    }
    nd_spool_free(s->spool);
    s->spool = to;
    s->n_runs = n_merged;
    return ND_OK;
}

static enum nd_status finish(struct nd_external_sort *s, struct nd_error *err)
{
    size_t most = s->options.memory_bytes / buffer_bytes(s, SIZE_MAX);
    enum nd_status status = ND_OK;

    s->is_sorted = true;
    if (!s->spool) {
        sort_records(s);
        return ND_OK;
    }
    if (s->n)
        status = write_run(s, err);
    release_records(s);
    s->heap = nd_alloc_array(s->n_runs, sizeof(struct sorted_run *));
    if (!s->heap)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    while (status == ND_OK && s->n_runs > most)
        status = merge_level(s, most, err);
    return status == ND_OK ? begin_merge(s, 0, s->n_runs, err) : status;
}

int nd_external_sort_next(struct nd_external_sort *s, const void **record, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (!s->is_sorted)
        status = finish(s, err);
    else if (s->spool && s->n_heap)
        status = step(s, s->n_runs, err);
    if (status != ND_OK)
        return (int)status;
    if (!s->spool) {
        if (s->at == s->n)
            return 0;
        *record = record_at(s, s->order[s->at++].number);
        return 1;
    }
    if (!s->n_heap)
        return 0;
    *record = s->heap[0]->buffer.data + s->heap[0]->at;
    return 1;
}
