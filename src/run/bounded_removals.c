/* bounded_removals.c - removed documents as they are found, and all records written in input order */
#include "run/bounded_removals.h"

#include "base/memory.h"
#include "report/summary.h"

#include <stdlib.h>
#include <string.h>

/* A row of the sort; the agreements follow. */
struct removal_row {
    uint64_t record;
    struct nd_removal removal;
};

static enum nd_status out_of_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

static enum nd_status place_of(void *context, uint32_t number, struct nd_place *place,
                               struct nd_error *err)
{
    return nd_bounded_records_place(context, number, 0, place, err);
}

enum nd_status nd_bounded_removals_open(struct nd_bounded_removals *r, struct nd_error *err)
{
    struct nd_run *run = r->records->run;
    struct nd_external_sort_options options = {.tmp = run->options->tmp,
                                               .memory_bytes = run->budget.sort_bytes / 2};

    r->emitter = (struct nd_emitter){.run = run, .place_of = place_of, .context = r->records};
    r->row_bytes =
        sizeof(struct removal_row) + run->recipe->method.n_signatures * sizeof(struct nd_agreement);
    options.record_bytes = r->row_bytes;
    r->row = malloc(r->row_bytes);
    if (!r->row)
        return out_of_memory(err);
    r->sort = nd_external_sort_new(&options, err);
    return r->sort ? ND_OK : ND_ENOMEM;
}

enum nd_status nd_bounded_removals_begin(struct nd_bounded_removals *r, struct nd_error *err)
{
    struct nd_cluster_sizes *sizes = &r->records->run->sizes;
    size_t count = (size_t)r->records->count;

    if (!count)
        return ND_OK;
    if (!nd_cluster_sizes_set(sizes, count - 1, 0))
        return out_of_memory(err);
    memset(sizes->members, 0, count * sizeof *sizes->members);
    return ND_OK;
}

void nd_bounded_removals_release(struct nd_bounded_removals *r)
{
    nd_emitter_release(&r->emitter);
    nd_external_sort_free(r->sort);
    free(r->row);
}

enum nd_status nd_bounded_removals_add(struct nd_bounded_removals *r, uint32_t record,
                                       const struct nd_removal *removal,
                                       const struct nd_agreement *agreement, struct nd_error *err)
{
    const struct removal_row row = {.record = record, .removal = *removal};

    memcpy(r->row, &row, sizeof row);
    if (r->row_bytes > sizeof row)
        memcpy(r->row + sizeof row, agreement, r->row_bytes - sizeof row);
    r->n++;
    r->records->run->sizes.members[removal->kept]++;
    return nd_external_sort_add(r->sort, r->row, err);
}

/* ---- Written ---- */

/* The decisions on the batch at hand: the removal of each of its records, or none. */
struct removal_writing {
    const struct removal_row *removed[ND_BOUNDED_BATCH];
    uint32_t members[ND_BOUNDED_BATCH];
    bool is_leader[ND_BOUNDED_BATCH]; /* it stands for a cluster that is removed as a whole */
    unsigned char *room;              /* ND_BOUNDED_BATCH rows */
    size_t n_room;
    const void *coming; /* the next row; NULL: there is none */
};

static enum nd_status next_row(struct nd_bounded_removals *r, struct removal_writing *w,
                               struct nd_error *err)
{
    int got = nd_external_sort_next(r->sort, &w->coming, err);

    if (got <= 0)
        w->coming = NULL;
    return got < 0 ? (enum nd_status)got : ND_OK;
}

/* Take the removal of this record into the room for the batch, if the next row is that; otherwise
 * *removed is NULL. */
static enum nd_status take_row(struct nd_bounded_removals *r, struct removal_writing *w,
                               uint64_t record, const struct removal_row **removed,
                               struct nd_error *err)
{
    unsigned char *to = w->room + w->n_room * r->row_bytes;
    uint64_t number;

    *removed = NULL;
    if (!w->coming)
        return ND_OK;
    memcpy(&number, w->coming, sizeof number);
    if (number != record)
        return ND_OK;
    memcpy(to, w->coming, r->row_bytes);
    w->n_room++;
    *removed = (const struct removal_row *)(const void *)to;
    return next_row(r, w, err);
}

static void count_removed(struct nd_run_summary *summary, const struct nd_removal *removal)
{
    summary->identical_bytes += removal->identical == ND_IDENTICAL_BYTES;
    summary->identical_tokens += removal->identical == ND_IDENTICAL_TOKENS;
    summary->near += removal->identical == ND_IDENTICAL_NO;
}

/* Keep of the batch those that some output needs. */
static enum nd_status choose(struct nd_bounded_removals *r, struct removal_writing *w,
                             uint64_t from, struct nd_error *err)
{
    struct nd_bounded_records *records = r->records;
    enum nd_status status = ND_OK;
    size_t n = 0;

    w->n_room = 0;
    for (size_t i = 0; status == ND_OK && i < records->n_batch; i++) {
        const struct nd_bounded_record *record = &records->batch[i];
        uint32_t *members = &records->run->sizes.members[from + i];
        const struct removal_row *removed;
        bool is_leader;

        *members += !record->is_bad;
        status = take_row(r, w, from + i, &removed, err);
        if (removed)
            count_removed(records->run->summary, &removed->removal);
        is_leader = !removed && !record->is_bad && nd_run_removes_leader(records->run, *members);
        r->n += is_leader;
        if (!nd_emitter_needs(records->run, !removed && !is_leader && !record->is_bad))
            continue;
        w->members[n] = *members;
        w->is_leader[n] = is_leader;
        w->removed[n] = removed;
        records->batch[n++] = *record;
    }
    records->n_batch = n;
    return status;
}

static enum nd_status put(struct nd_bounded_removals *r, const struct nd_parsed *loaded,
                          const struct nd_bounded_record *record, const struct removal_row *removed,
                          bool is_leader, uint32_t members, struct nd_error *err)
{
    struct nd_bad_record too_long;
    struct nd_parsed skipped = *loaded;

    if (record->is_too_long) {
        too_long = nd_bad_record_too_long(record->key, nd_pool_threads(r->records->run->pool));
        skipped.record.bytes = (struct nd_view){NULL, 0};
        skipped.bad = &too_long;
        loaded = &skipped;
    }
    if (is_leader)
        return nd_emitter_put(&r->emitter, loaded, false, &nd_removal_of_leader, NULL, 0, err);
    return nd_emitter_put(&r->emitter, loaded, record->is_bad, removed ? &removed->removal : NULL,
                          removed ? (const struct nd_agreement *)(const void *)(removed + 1) : NULL,
                          members, err);
}

static enum nd_status write_batch(struct nd_bounded_removals *r, const struct removal_writing *w,
                                  struct nd_error *err)
{
    struct nd_bounded_records *records = r->records;
    bool parse = nd_outputs_has_names(&records->run->outputs);
    enum nd_status status = ND_OK;

    for (size_t from = 0, n; status == ND_OK && from < records->n_batch; from += n) {
        const struct nd_parsed *loaded = NULL;

        status = nd_bounded_records_load(records, from, parse, &loaded, &n, err);
        for (size_t i = 0; status == ND_OK && i < n; i++)
            status = put(r, &loaded[i], &records->batch[from + i], w->removed[from + i],
                         w->is_leader[from + i], w->members[from + i], err);
        if (status == ND_OK)
            status = nd_emitter_end_batch(&r->emitter, err);
    }
    return status;
}

static enum nd_status write_all(struct nd_bounded_removals *r, struct removal_writing *w,
                                struct nd_error *err)
{
    struct nd_bounded_records *records = r->records;
    enum nd_status status = next_row(r, w, err);

    for (uint64_t from = 0, n; status == ND_OK && from < records->count; from += n) {
        status = nd_bounded_records_tell(records, ND_BOUNDED_WRITE, from, records->count, err);
        if (status == ND_OK)
            status = nd_bounded_records_read(records, from, err);
        n = records->n_batch;
        if (status == ND_OK)
            status = choose(r, w, from, err);
        if (status == ND_OK)
            status = write_batch(r, w, err);
    }
    return status;
}

static enum nd_status summarise(struct nd_bounded_removals *r, struct nd_error *err)
{
    struct nd_run *run = r->records->run;
    struct nd_run_summary *summary = run->summary;
    size_t largest[ND_RUN_LARGEST];
    size_t n = nd_cluster_sizes_largest(&run->sizes, (size_t)r->records->count, largest,
                                        &summary->clusters);
    enum nd_status status = ND_OK;

    summary->removed = r->n;
    summary->kept = summary->documents - r->n;
    nd_run_count_clusters(run, (size_t)r->records->count);
    for (size_t i = 0; status == ND_OK && i < n; i++) {
        struct nd_place place;

        status = place_of(r->records, (uint32_t)largest[i], &place, err);
        if (status == ND_OK)
            status = nd_summary_name_cluster(&summary->largest[i], run->sizes.members[largest[i]],
                                             &place, run->lookup, run->reading, err);
    }
    summary->n_largest = status == ND_OK ? n : 0;
    return status;
}

enum nd_status nd_bounded_removals_write(struct nd_bounded_removals *r, struct nd_error *err)
{
    struct removal_writing *w = calloc(1, sizeof *w);
    enum nd_status status;

    if (w)
        w->room = nd_alloc_array(ND_BOUNDED_BATCH, r->row_bytes);
    status = w && w->room ? write_all(r, w, err) : out_of_memory(err);
    if (w)
        free(w->room);
    free(w);
    return status == ND_OK ? summarise(r, err) : status;
}
