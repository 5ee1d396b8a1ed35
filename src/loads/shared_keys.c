/* shared_keys.c - the keys that several documents have, in order, found in bounded memory */
#include "loads/shared_keys.h"

#include "base/file/external_sort.h"
#include "base/memory.h"
#include "base/repeats.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Rows are read again SLAB at a time, as the keys of each may take a kilobyte. */
enum { SLAB = 512, TASK = 8, FIND_TASK = 1024, ROUNDS_MAX = 16 };

/* Keys at hand, and whose they are. */
struct key_list {
    uint64_t *key;
    uint32_t *document;
    bool *may_repeat;
    size_t n, key_capacity, document_capacity, repeat_capacity;
};

struct nd_shared_keys {
    struct nd_shared_keys_options options;
    size_t row_bytes;
    bool tells_keys; /* rows do */

    struct nd_spool *rows; /* document i has the i-th */
    /* The keys that rows do not tell: in each slab how many there are, the keys, and the documents. */
    struct nd_spool *keys;
    struct nd_external_sort *sort;
    uint64_t n_documents;

    struct nd_repeats repeats;
    bool has_filter;
    unsigned n_slices, n_rounds, round;
    struct key_list list;

    /* Rows that are read again, and the keys that they tell. */
    struct nd_buffer slab;
    size_t n_slab;
    uint64_t (*key)[ND_CANDIDATE_KEYS_MAX];
    size_t n_keys[SLAB];
};

static enum nd_status out_of_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

/* ---- Parts ---- */

static enum nd_status make_parts(struct nd_shared_keys *s, struct nd_error *err)
{
    const struct nd_external_sort_options sort = {.tmp = s->options.tmp,
                                                  .record_bytes = sizeof(struct nd_keyed),
                                                  .memory_bytes = s->options.sort_bytes};

    s->sort = nd_external_sort_new(&sort, err);
    s->rows = s->sort ? nd_spool_new(s->options.tmp, err) : NULL;
    s->keys = s->rows ? nd_spool_new(s->options.tmp, err) : NULL;
    return s->keys ? ND_OK : ND_EIO;
}

struct nd_shared_keys *nd_shared_keys_new(const struct nd_shared_keys_options *options,
                                          struct nd_error *err)
{
    struct nd_shared_keys *s = calloc(1, sizeof *s);

    if (!s) {
        out_of_memory(err);
        return NULL;
    }
    s->options = *options;
    s->row_bytes = nd_candidate_rows_bytes(options->rows);
    s->tells_keys = nd_candidate_rows_tell_keys(options->rows);
    for (s->n_slices = 1;
         s->n_slices < nd_pool_threads(options->pool) && s->n_slices < ND_REPEATS_SLICES;)
        s->n_slices *= 2;
    if (make_parts(s, err) == ND_OK)
        return s;
    nd_shared_keys_free(s);
    return NULL;
}

static void release_lists(struct nd_shared_keys *s)
{
    nd_repeats_release(&s->repeats);
    free(s->list.key);
    free(s->list.document);
    free(s->list.may_repeat);
    free(s->key);
    nd_buffer_release(&s->slab);
    s->list = (struct key_list){.key = NULL};
    s->key = NULL;
}

void nd_shared_keys_free(struct nd_shared_keys *s)
{
    if (!s)
        return;
    release_lists(s);
    nd_external_sort_free(s->sort);
    nd_spool_free(s->rows);
    nd_spool_free(s->keys);
    free(s);
}

const struct nd_spool *nd_shared_keys_rows(const struct nd_shared_keys *s)
{
    return s->rows;
}

uint64_t nd_shared_keys_spilled(const struct nd_shared_keys *s)
{
    return nd_external_sort_spilled(s->sort) + nd_spool_bytes(s->rows) + nd_spool_bytes(s->keys);
}

/* ---- The filter ---- */

/* As many rounds as leave each key half of what would be enough. */
static enum nd_status make_filter(struct nd_shared_keys *s, size_t keys_each, struct nd_error *err)
{
    uint64_t n_keys = s->options.documents * (keys_each ? keys_each : 1);
    size_t enough = nd_repeats_enough(n_keys), bytes = s->options.filter_bytes;

    s->n_rounds = 1;
    if (enough < bytes)
        bytes = enough;
    while (s->n_rounds < ROUNDS_MAX && enough / s->n_rounds / 2 > bytes)
        s->n_rounds++;
    if (!nd_repeats_init(&s->repeats, bytes))
        return out_of_memory(err);
    s->has_filter = true;
    return ND_OK;
}

/* Rounds go by bits that the filter does not choose blocks by. */
static bool is_in_round(const struct nd_shared_keys *s, uint64_t key)
{
    return (key >> 1 & 0xFFFF) * s->n_rounds >> 16 == s->round;
}

static bool reserve(struct key_list *list, size_t n)
{
    return ND_RESERVE(list->key, &list->key_capacity, n) &&
           ND_RESERVE(list->document, &list->document_capacity, n) &&
           ND_RESERVE(list->may_repeat, &list->repeat_capacity, n);
}

/* List the keys of n documents from `first` on: those of this round, or all. */
static enum nd_status list_keys(struct nd_shared_keys *s, uint64_t first,
                                const uint64_t (*keys)[ND_CANDIDATE_KEYS_MAX], const size_t *n_keys,
                                size_t n, bool all, struct nd_error *err)
{
    struct key_list *list = &s->list;
    size_t most = 0;

    list->n = 0;
    for (size_t i = 0; i < n; i++)
        most += n_keys[i];
    if (!reserve(list, most + 1))
        return out_of_memory(err);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n_keys[i]; k++) {
            list->key[list->n] = keys[i][k];
            list->document[list->n] = (uint32_t)(first + i);
            list->n += all || is_in_round(s, keys[i][k]);
        }
    return ND_OK;
}

/* Leave only the keys of this round in the list. */
static void choose_round(struct nd_shared_keys *s)
{
    struct key_list *list = &s->list;
    size_t n = 0;

    for (size_t i = 0; s->n_rounds > 1 && i < list->n; i++)
        if (is_in_round(s, list->key[i])) {
            list->key[n] = list->key[i];
            list->document[n++] = list->document[i];
        }
    if (s->n_rounds > 1)
        list->n = n;
}

static void note_slice(void *context, size_t slice, unsigned worker)
{
    struct nd_shared_keys *s = context;

    (void)worker;
    nd_repeats_note(&s->repeats, (unsigned)slice, s->n_slices, s->list.key, s->list.n);
}

static enum nd_status note_listed(struct nd_shared_keys *s, struct nd_error *err)
{
    (void)err; /* as sort_listed */
    nd_pool_run(s->options.pool, s->n_slices, note_slice, s);
    return ND_OK;
}

/* ---- Documents ---- */

/* Keep the keys that are listed, as rows do not tell them. */
static enum nd_status spool_keys(struct nd_shared_keys *s, struct nd_error *err)
{
    const uint64_t n = s->list.n;
    enum nd_status status = nd_spool_append(s->keys, &n, sizeof n, NULL, err);

    if (status == ND_OK)
        status = nd_spool_append(s->keys, s->list.key, s->list.n * sizeof *s->list.key, NULL, err);
    if (status == ND_OK)
        status = nd_spool_append(s->keys, s->list.document, s->list.n * sizeof *s->list.document,
                                 NULL, err);
    return status;
}

enum nd_status nd_shared_keys_add(struct nd_shared_keys *s, const void *rows,
                                  const uint64_t (*keys)[ND_CANDIDATE_KEYS_MAX],
                                  const size_t *n_keys, size_t n, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    size_t most = 0;

    for (size_t i = 0; i < n; i++)
        most = n_keys[i] > most ? n_keys[i] : most;
    if (!s->has_filter)
        status = make_filter(s, most, err);
    if (status == ND_OK)
        status = list_keys(s, s->n_documents, keys, n_keys, n, !s->tells_keys, err);
    if (status == ND_OK && !s->tells_keys)
        status = spool_keys(s, err);
    if (status == ND_OK && (s->tells_keys || !nd_candidate_rows_match_by_key(s->options.rows)))
        status = nd_spool_append(s->rows, rows, n * s->row_bytes, NULL, err);
    if (status != ND_OK)
        return status;
    s->n_documents += n;
    if (!s->tells_keys)
        choose_round(s);
    return note_listed(s, err);
}

/* ---- Keys, once more ---- */

static void tell_task(void *context, size_t task, unsigned worker)
{
    struct nd_shared_keys *s = context;
    size_t from = task * TASK, to = from + TASK < s->n_slab ? from + TASK : s->n_slab;

    (void)worker;
    for (size_t i = from; i < to; i++)
        s->n_keys[i] =
            nd_candidate_rows_keys(s->options.rows, s->slab.data + i * s->row_bytes, s->key[i]);
}

static enum nd_status each_slab_of_rows(struct nd_shared_keys *s,
                                        enum nd_status (*use)(struct nd_shared_keys *s,
                                                              struct nd_error *err),
                                        struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (uint64_t first = 0; status == ND_OK && first < s->n_documents; first += s->n_slab) {
        s->n_slab = s->n_documents - first < SLAB ? (size_t)(s->n_documents - first) : SLAB;
        status =
            nd_spool_read(s->rows, first * s->row_bytes, s->n_slab * s->row_bytes, &s->slab, err);
        if (status != ND_OK)
            break;
        nd_pool_run(s->options.pool, (s->n_slab + TASK - 1) / TASK, tell_task, s);
        status = list_keys(s, first, (const uint64_t(*)[ND_CANDIDATE_KEYS_MAX])s->key, s->n_keys,
                           s->n_slab, false, err);
        if (status == ND_OK)
            status = use(s, err);
    }
    return status;
}

/* List the slab of keys at an offset, and step over it. */
static enum nd_status read_keys(struct nd_shared_keys *s, uint64_t *offset, struct nd_error *err)
{
    uint64_t n;
    size_t bytes = 0;
    enum nd_status status = nd_spool_read(s->keys, *offset, sizeof n, &s->slab, err);

    if (status == ND_OK) {
        memcpy(&n, s->slab.data, sizeof n);
        s->list.n = (size_t)n;
        bytes = s->list.n * (sizeof *s->list.key + sizeof *s->list.document);
        status = nd_spool_read(s->keys, *offset + sizeof n, bytes, &s->slab, err);
    }
    if (status != ND_OK)
        return status;
    if (!reserve(&s->list, s->list.n + 1))
        return out_of_memory(err);
    memcpy(s->list.key, s->slab.data, s->list.n * sizeof *s->list.key);
    memcpy(s->list.document, s->slab.data + s->list.n * sizeof *s->list.key,
           s->list.n * sizeof *s->list.document);
    *offset += sizeof n + bytes;
    choose_round(s);
    return ND_OK;
}

/* List all keys of this round again, slab after slab. */
static enum nd_status each_slab(struct nd_shared_keys *s,
                                enum nd_status (*use)(struct nd_shared_keys *s,
                                                      struct nd_error *err),
                                struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (s->tells_keys)
        return each_slab_of_rows(s, use, err);
    for (uint64_t offset = 0; status == ND_OK && offset < nd_spool_bytes(s->keys);) {
        status = read_keys(s, &offset, err);
        if (status == ND_OK)
            status = use(s, err);
    }
    return status;
}

static void find_task(void *context, size_t task, unsigned worker)
{
    struct nd_shared_keys *s = context;
    size_t from = task * FIND_TASK, left = s->list.n - from;

    (void)worker;
    nd_repeats_find(&s->repeats, s->list.key + from, left < FIND_TASK ? left : FIND_TASK,
                    s->list.may_repeat + from);
}

static enum nd_status sort_listed(struct nd_shared_keys *s, struct nd_error *err)
{
    const struct key_list *list = &s->list;
    enum nd_status status = ND_OK;

    nd_pool_run(s->options.pool, (list->n + FIND_TASK - 1) / FIND_TASK, find_task, s);
    for (size_t i = 0; status == ND_OK && i < list->n; i++)
        if (list->may_repeat[i]) {
            const struct nd_keyed keyed = {list->key[i], list->document[i]};

            status = nd_external_sort_add(s->sort, &keyed, err);
        }
    return status;
}

enum nd_status nd_shared_keys_finish(struct nd_shared_keys *s, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    s->key = nd_alloc_array(SLAB, sizeof *s->key);
    if (!s->key)
        return out_of_memory(err);
    for (s->round = 0; status == ND_OK && s->has_filter && s->round < s->n_rounds; s->round++) {
        if (s->round > 0) {
            nd_repeats_clear(&s->repeats);
            status = each_slab(s, note_listed, err);
        }
        if (status == ND_OK && s->round + 1 == s->n_rounds)
            nd_repeats_end_noting(&s->repeats);
        if (status == ND_OK)
            status = each_slab(s, sort_listed, err);
    }
    release_lists(s);
    return status;
}

int nd_shared_keys_next(struct nd_shared_keys *s, const struct nd_keyed **keyed,
                        struct nd_error *err)
{
    const void *record;
    int got = nd_external_sort_next(s->sort, &record, err);

    if (got > 0)
        *keyed = record;
    return got;
}
