/* linking.c - which documents could influence each other's decisions, found in bounded memory */

/*
 * By the definition (src/engine/README.md) a document's decision depends only on documents that it
 * equals or that are its candidates, and on those of these.  Both share a key.  So the components of
 * the graph whose edges are "shares a key and could match" can be decided one by one.  A key that is
 * shared by as many documents as it can list connects all of them, as it may be full.
 *
 * Most keys are those of one document (shared_keys.h).  Of the others, most are shared by documents
 * that have been joined already, by another key: their rows are not read again.  What remains is
 * collected until the memory for rows is full; the rows are then read in the order of the file.
 */
#include "loads/linking.h"

#include <neardup/candidates.h>

#include "base/memory.h"
#include "base/sort.h"
#include "engine/engine.h"
#include "loads/shared_keys.h"

#include <stdlib.h>
#include <string.h>

/* CHUNK documents are made at a time, as their keys may take a kilobyte each. */
enum { CHUNK = 512, TASK = 8, FEW = 8, SPAN_BYTES = 1 << 18, GAP_BYTES = 1 << 12 };

/* Documents that share a key, whose rows are to be compared: places in `wanted`. */
struct shared_key {
    uint32_t from, n;
};

struct nd_linking {
    struct nd_linking_options options;
    struct nd_candidate_rows **maker; /* one a worker */
    struct nd_error *error;           /* likewise */
    unsigned n_makers;
    size_t row_bytes;
    bool joins_by_key; /* no rows need be compared */

    struct nd_shared_keys *keys; /* and rows: record i has the i-th */
    uint64_t n_records;

    /* The chunk at hand. */
    const struct nd_dedup_item *item;
    size_t n_items;
    unsigned char *row, *flags;
    uint64_t (*key)[ND_CANDIDATE_KEYS_MAX];
    size_t *n_keys;

    uint32_t *parent;     /* union-find: a parent is a smaller number, or the record itself */
    uint64_t *has_others; /* a bit for the first record of each component */

    /* The keys that wait, and the records that have them. */
    struct shared_key *shared;
    uint32_t *wanted, *link;
    struct nd_numbered_value *by_record, *by_record_other;
    const void **wanted_row; /* of wanted[i] */
    unsigned char *loaded;   /* rows, each once */
    size_t n_shared, n_wanted, wanted_max;
    struct nd_buffer span;
};

/* ---- From documents to rows and keys ---- */

static bool make_room(struct nd_linking *l)
{
    l->maker = calloc(l->n_makers, sizeof(struct nd_candidate_rows *));
    l->error = calloc(l->n_makers, sizeof *l->error);
    l->key = nd_alloc_array(CHUNK, sizeof *l->key);
    l->n_keys = nd_alloc_array(CHUNK, sizeof *l->n_keys);
    return l->maker && l->error && l->key && l->n_keys;
}

static enum nd_status make_parts(struct nd_linking *l, struct nd_error *err)
{
    struct nd_shared_keys_options keys = {.pool = l->options.pool,
                                          .tmp = l->options.tmp,
                                          .sort_bytes = l->options.sort_bytes,
                                          .filter_bytes = l->options.filter_bytes,
                                          .documents = l->options.records};

    if (!make_room(l))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (unsigned i = 0; i < l->n_makers; i++)
        if (!(l->maker[i] = nd_candidate_rows_new(l->options.recipe, err)))
            return err->status;
    l->row_bytes = nd_candidate_rows_bytes(l->maker[0]);
    l->joins_by_key = nd_candidate_rows_match_by_key(l->maker[0]);
    l->row = nd_alloc_array(CHUNK, l->row_bytes);
    if (!l->row)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    keys.rows = l->maker[0];
    l->keys = nd_shared_keys_new(&keys, err);
    return l->keys ? ND_OK : err->status;
}

struct nd_linking *nd_linking_new(const struct nd_linking_options *options, struct nd_error *err)
{
    struct nd_linking *l = calloc(1, sizeof *l);
    struct nd_error room = {0};

    err = err ? err : &room;
    if (!l) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    l->options = *options;
    l->n_makers = nd_pool_threads(options->pool);
    if (make_parts(l, err) == ND_OK)
        return l;
    nd_linking_free(l);
    return NULL;
}

/* Free what only the comparing of rows needs. */
static void release_wanted(struct nd_linking *l)
{
    free(l->shared);
    free(l->wanted);
    free(l->link);
    free(l->by_record);
    free(l->by_record_other);
    free(l->wanted_row);
    free(l->loaded);
    nd_buffer_release(&l->span);
    l->shared = NULL;
    l->wanted = l->link = NULL;
    l->by_record = l->by_record_other = NULL;
    l->wanted_row = NULL;
    l->loaded = NULL;
}

/* Free what only adding needs. The first maker stays: it compares. */
static void release_makers(struct nd_linking *l, unsigned from)
{
    for (unsigned i = from; l->maker && i < l->n_makers; i++) {
        nd_candidate_rows_free(l->maker[i]);
        l->maker[i] = NULL;
    }
    free(l->row);
    free(l->key);
    free(l->n_keys);
    l->row = NULL;
    l->key = NULL;
    l->n_keys = NULL;
}

void nd_linking_free(struct nd_linking *l)
{
    if (!l)
        return;
    release_makers(l, 0);
    free(l->maker);
    free(l->error);
    nd_shared_keys_free(l->keys);
    release_wanted(l);
    free(l->parent);
    free(l->has_others);
    free(l);
}

static void make_task(void *context, size_t task, unsigned worker)
{
    struct nd_linking *l = context;
    struct nd_error *err = &l->error[worker];
    size_t from = task * TASK, to = from + TASK < l->n_items ? from + TASK : l->n_items;

    for (size_t i = from; i < to && err->status == ND_OK; i++) {
        unsigned char *row = l->row + i * l->row_bytes;

        l->n_keys[i] = 0;
        l->flags[i] = 0;
        memset(row, 0, l->row_bytes);
        if (!l->item[i].document)
            continue;
        if (nd_candidate_rows_make(l->maker[worker], &l->item[i], l->item[i].group, row, l->key[i],
                                   &l->n_keys[i], err) == ND_OK)
            l->flags[i] = (unsigned char)nd_candidate_row_flags(row);
    }
}

static enum nd_status add_chunk(struct nd_linking *l, struct nd_error *err)
{
    enum nd_status status;

    nd_pool_run(l->options.pool, (l->n_items + TASK - 1) / TASK, make_task, l);
    for (unsigned i = 0; i < l->n_makers; i++)
        if (l->error[i].status != ND_OK) {
            *err = l->error[i];
            return err->status;
        }
    status = nd_shared_keys_add(l->keys, l->row, (const uint64_t(*)[ND_CANDIDATE_KEYS_MAX])l->key,
                                l->n_keys, l->n_items, err);
    l->n_records += l->n_items;
    return status;
}

enum nd_status nd_linking_add(struct nd_linking *l, const struct nd_dedup_item *items, size_t n,
                              unsigned char *flags, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t from = 0; status == ND_OK && from < n; from += l->n_items) {
        l->item = items + from;
        l->flags = flags + from;
        l->n_items = n - from < CHUNK ? n - from : CHUNK;
        status = add_chunk(l, err);
    }
    return status;
}

/* ---- The union-find ---- */

static uint32_t find(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

static void unite(struct nd_linking *l, uint32_t a, uint32_t b)
{
    a = find(l->parent, a);
    b = find(l->parent, b);
    if (a < b)
        l->parent[b] = a;
    else
        l->parent[a] = b;
}

/* ---- Rows, read again ---- */

static enum nd_status reserve_wanted(struct nd_linking *l, struct nd_error *err)
{
    size_t each = l->row_bytes + sizeof *l->shared + sizeof *l->wanted + sizeof *l->link +
                  2 * sizeof *l->by_record + sizeof *l->wanted_row;

    l->wanted_max = l->options.rows_bytes / each;
    if (l->wanted_max < FEW)
        l->wanted_max = FEW;
    if (l->wanted_max > l->n_records * 2 + FEW)
        l->wanted_max = (size_t)l->n_records * 2 + FEW;
    if (l->wanted_max > UINT32_MAX / 2)
        l->wanted_max = UINT32_MAX / 2;
    l->shared = nd_alloc_array(l->wanted_max, sizeof *l->shared);
    l->wanted = nd_alloc_array(l->wanted_max, sizeof *l->wanted);
    l->link = nd_alloc_array(l->wanted_max, sizeof *l->link);
    l->by_record = nd_alloc_array(l->wanted_max, sizeof *l->by_record);
    l->by_record_other = nd_alloc_array(l->wanted_max, sizeof *l->by_record_other);
    l->wanted_row = nd_alloc_array(l->wanted_max, sizeof *l->wanted_row);
    l->loaded = nd_alloc_array(l->wanted_max, l->row_bytes);
    if (!l->shared || !l->wanted || !l->link || !l->by_record || !l->by_record_other ||
        !l->wanted_row || !l->loaded)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    return ND_OK;
}

/* Read the rows of by_record[from] … that lie near each other with one call. */
static enum nd_status load_span(struct nd_linking *l, size_t from, size_t *to, size_t *n_loaded,
                                struct nd_error *err)
{
    uint64_t first = l->by_record[from].value, last = first;
    size_t at = from;
    enum nd_status status;

    while (++at < l->n_wanted && (l->by_record[at].value - last) * l->row_bytes <= GAP_BYTES &&
           (l->by_record[at].value - first) * l->row_bytes <= SPAN_BYTES)
        last = l->by_record[at].value;
    status = nd_spool_read(nd_shared_keys_rows(l->keys), first * l->row_bytes,
                           (size_t)(last - first + 1) * l->row_bytes, &l->span, err);
    for (size_t i = from; status == ND_OK && i < at; i++) {
        if (i == from || l->by_record[i].value != l->by_record[i - 1].value)
            memcpy(l->loaded + (*n_loaded)++ * l->row_bytes,
                   l->span.data + (l->by_record[i].value - first) * l->row_bytes, l->row_bytes);
        l->wanted_row[l->by_record[i].number] = l->loaded + (*n_loaded - 1) * l->row_bytes;
    }
    *to = at;
    return status;
}

static enum nd_status load_rows(struct nd_linking *l, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    size_t n_loaded = 0;

    for (size_t i = 0; i < l->n_wanted; i++)
        l->by_record[i] = (struct nd_numbered_value){l->wanted[i], (uint32_t)i, 0};
    nd_sort_numbered(&l->by_record, &l->by_record_other, l->n_wanted);
    for (size_t from = 0, to; status == ND_OK && from < l->n_wanted; from = to)
        status = load_span(l, from, &to, &n_loaded, err);
    return status;
}

/* ---- Documents that share a key ---- */

static void join_few(struct nd_linking *l, const struct shared_key *k)
{
    const uint32_t *record = l->wanted + k->from;
    const void *const *row = l->wanted_row + k->from;

    for (size_t i = 1; i < k->n; i++)
        for (size_t j = 0; j < i; j++)
            if (find(l->parent, record[i]) != find(l->parent, record[j]) &&
                nd_candidate_rows_could_match(l->maker[0], row[j], row[i]))
                unite(l, record[i], record[j]);
}

static enum nd_status join_many(struct nd_linking *l, const struct shared_key *k,
                                struct nd_error *err)
{
    const uint32_t *record = l->wanted + k->from;
    enum nd_status status =
        nd_candidate_rows_link(l->maker[0], l->wanted_row + k->from, k->n, l->link, err);

    for (size_t i = 0; status == ND_OK && i < k->n; i++)
        unite(l, record[i], record[l->link[i]]);
    return status;
}

static bool are_joined(struct nd_linking *l, const uint32_t *record, size_t n)
{
    uint32_t first = find(l->parent, record[0]);

    for (size_t i = 1; i < n; i++)
        if (find(l->parent, record[i]) != first)
            return false;
    return true;
}

/* Compare the documents that wait. */
static enum nd_status join_wanted(struct nd_linking *l, struct nd_error *err)
{
    enum nd_status status = load_rows(l, err);

    for (size_t i = 0; status == ND_OK && i < l->n_shared; i++) {
        const struct shared_key *k = &l->shared[i];

        if (are_joined(l, l->wanted + k->from, k->n))
            continue;
        if (k->n <= FEW)
            join_few(l, k);
        else
            status = join_many(l, k, err);
    }
    l->n_shared = l->n_wanted = 0;
    return status;
}

/* A key has been read, of the last n records of `wanted`, which have room for another. */
static enum nd_status end_key(struct nd_linking *l, size_t from, struct nd_error *err)
{
    size_t n = l->n_wanted - from;

    if (n >= nd_candidate_rows_key_room(l->maker[0])) /* who is listed depends on all of them */
        for (size_t i = 1; i < n; i++)
            unite(l, l->wanted[from], l->wanted[from + i]);
    if (n < 2 || are_joined(l, l->wanted + from, n)) {
        l->n_wanted = from;
        return ND_OK;
    }
    l->shared[l->n_shared++] = (struct shared_key){(uint32_t)from, (uint32_t)n};
    return l->n_wanted == l->wanted_max ? join_wanted(l, err) : ND_OK;
}

/* A key at hand: the records that have it begin here in `wanted`. */
struct reading_key {
    uint64_t key;
    size_t from;
    bool is_open;
    bool joins; /* no rows are compared: all are joined with `first` */
    uint32_t first;
};

/*
 * Make place for the records of a key. If they do not fit into the memory for rows, all are joined.
 * If they do not fit beside those that wait, these are done first.
 */
static enum nd_status make_place(struct nd_linking *l, struct reading_key *k, struct nd_error *err)
{
    size_t n = l->n_wanted - k->from;
    enum nd_status status;

    if (k->from == 0) {
        for (size_t i = 1; i < n; i++)
            unite(l, l->wanted[0], l->wanted[i]);
        l->n_wanted = 0;
        k->joins = true;
        return ND_OK;
    }
    l->n_wanted = k->from;
    status = join_wanted(l, err); /* leaves what lies behind as it is */
    memmove(l->wanted, l->wanted + k->from, n * sizeof *l->wanted);
    l->n_wanted = n;
    k->from = 0;
    return status;
}

static enum nd_status take_key(struct nd_linking *l, struct reading_key *k,
                               const struct nd_keyed *keyed, struct nd_error *err)
{
    uint32_t record = (uint32_t)keyed->document;
    enum nd_status status = ND_OK;

    if (!k->is_open || k->key != keyed->key) {
        if (k->is_open && !k->joins)
            status = end_key(l, k->from, err);
        *k = (struct reading_key){.key = keyed->key,
                                  .from = l->n_wanted,
                                  .is_open = true,
                                  .joins = l->joins_by_key || keyed->key & 1,
                                  .first = record};
    }
    if (status == ND_OK && !k->joins && l->n_wanted == l->wanted_max)
        status = make_place(l, k, err);
    if (status != ND_OK)
        return status;
    if (k->joins)
        unite(l, k->first, record);
    else
        l->wanted[l->n_wanted++] = record;
    return ND_OK;
}

static enum nd_status join_all(struct nd_linking *l, struct nd_error *err)
{
    struct reading_key k = {0};
    enum nd_status status = ND_OK;
    const struct nd_keyed *keyed;
    int got = 1;

    while (status == ND_OK && (got = nd_shared_keys_next(l->keys, &keyed, err)) > 0)
        status = take_key(l, &k, keyed, err);
    if (status == ND_OK && got < 0)
        status = (enum nd_status)got;
    if (status == ND_OK && k.is_open && !k.joins)
        status = end_key(l, k.from, err);
    return status == ND_OK ? join_wanted(l, err) : status;
}

static void note_others(struct nd_linking *l)
{
    for (uint32_t i = 0; i < l->n_records; i++) {
        uint32_t first = find(l->parent, i);

        if (first != i)
            l->has_others[first / 64] |= UINT64_C(1) << first % 64;
    }
}

enum nd_status nd_linking_join(struct nd_linking *l, struct nd_error *err)
{
    size_t n = (size_t)l->n_records;
    enum nd_status status;

    release_makers(l, 1);
    status = nd_shared_keys_finish(l->keys, err);
    if (status != ND_OK)
        return status;
    l->parent = nd_alloc_array(n + 1, sizeof *l->parent);
    l->has_others = calloc(n / 64 + 1, sizeof *l->has_others);
    if (!l->parent || !l->has_others)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; i < n; i++)
        l->parent[i] = (uint32_t)i;
    status = reserve_wanted(l, err);
    if (status == ND_OK)
        status = join_all(l, err);
    release_wanted(l);
    if (status == ND_OK)
        note_others(l);
    return status;
}

uint32_t nd_linking_component(struct nd_linking *l, uint32_t record)
{
    return find(l->parent, record);
}

bool nd_linking_is_alone(const struct nd_linking *l, uint32_t record)
{
    return l->parent[record] == record && !(l->has_others[record / 64] >> record % 64 & 1);
}

uint64_t nd_linking_spilled(const struct nd_linking *l)
{
    return nd_shared_keys_spilled(l->keys);
}
