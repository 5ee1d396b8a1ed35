/* cmd_index_pairs.c - neardup index pairs: all pairs within K bits, in the order of the files
 *
 * A join finds pairs in an order of its own.  Where they are few they are sorted.  Many, as of
 * thousands of equal fingerprints, would not fit into memory: each fingerprint is then looked up
 * in an index of all, one after the other, and its pairs are written at once.
 */
#include "index/document_fingerprints.h"

#include <stdlib.h>
#include <string.h>

#include <neardup/hamming.h>

enum {
    SORTED_MAX = 1 << 22,  /* pairs of 8 bytes each, and as much again for sorting */
    QUERIES = 256,         /* fingerprints whose answers are counted together */
    MATCHES_MAX = 1 << 20, /* answers of several queries held together */
    BYTES_EACH = 256       /* most bytes of the index a fingerprint, beside INDEX_BYTES */
};
#define INDEX_BYTES (64.0 * (1 << 20))

struct pairs_command {
    struct results *to;
    const struct fingerprints *all;
    const size_t *start; /* where the fingerprints of each file begin */
    size_t n_files;
    uint64_t *pair; /* number of the first fingerprint << 32 | that of the second */
    size_t n, capacity;
    bool is_over, out_of_memory, found;
};

static int keep_pairs(void *context, const struct nd_hamming_pair *pair, size_t n)
{
    struct pairs_command *p = context;

    p->is_over = p->n + n > SORTED_MAX;
    if (p->is_over)
        return 1;
    if (p->n + n > p->capacity) {
        size_t capacity = p->capacity + p->capacity / 2 + n;
        uint64_t *more = realloc(p->pair, capacity * sizeof *more);

        p->out_of_memory = !more;
        if (!more)
            return 1;
        p->pair = more;
        p->capacity = capacity;
    }
    for (size_t i = 0; i < n; i++)
        p->pair[p->n++] = pair[i].a << 32 | pair[i].b;
    return 0;
}

/* Ids without text are numbered from the beginning of their file. */
static uint64_t number_before(const struct pairs_command *p, size_t i)
{
    size_t from = 0, to = p->n_files;

    while (to - from > 1) {
        size_t middle = from + (to - from) / 2;

        if (p->start[middle] <= i)
            from = middle;
        else
            to = middle;
    }
    return (uint64_t)0 - p->start[from];
}

static void print_pair(struct pairs_command *p, size_t a, size_t b)
{
    const uint64_t *x = p->all->row + a * p->all->words, *y = p->all->row + b * p->all->words;
    unsigned distance = 0;

    for (size_t w = 0; w < p->all->words; w++)
        distance += (unsigned)__builtin_popcountll(x[w] ^ y[w]);
    print_fingerprint_id(p->to, p->all, a, number_before(p, a));
    putc('\t', p->to->file);
    print_fingerprint_id(p->to, p->all, b, number_before(p, b));
    putc('\t', p->to->file);
    results_put_number(p->to, distance);
    putc('\n', p->to->file);
    p->found = true;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void print_sorted(struct pairs_command *p)
{
    if (p->n)
        qsort(p->pair, p->n, sizeof *p->pair, by_value);
    for (size_t i = 0; i < p->n && !results_failed(p->to); i++)
        print_pair(p, (size_t)(p->pair[i] >> 32), (size_t)(uint32_t)p->pair[i]);
}

/* The state for looking up fingerprints one by one. */
struct pair_lookup {
    struct pairs_command *pairs;
    struct nd_hamming *index;
    unsigned distance;
    uint64_t count[QUERIES];          /* answers of each of the current queries */
    struct nd_hamming_matches answer; /* answers of some of the queries */
    uint32_t *id;                     /* the ids of these answers, query by query */
    size_t id_capacity;
    uint64_t *is_near; /* a bit for each fingerprint, to sort many answers; otherwise 0 */
};

static int by_id(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Print the pairs of a fingerprint with the n that come after it in input order. */
static void print_answers(struct pair_lookup *l, size_t a, uint32_t *id, size_t n)
{
    struct pairs_command *p = l->pairs;
    size_t words = p->all->n / 64 + 1;

    if (n < words) {
        if (n)
            qsort(id, n, sizeof *id, by_id);
        for (size_t i = 0; i < n && !results_failed(p->to); i++)
            print_pair(p, a, id[i]);
        return;
    }
    for (size_t i = 0; i < n; i++)
        l->is_near[id[i] / 64] |= UINT64_C(1) << id[i] % 64;
    for (size_t w = a / 64; w < words; w++)
        for (; l->is_near[w]; l->is_near[w] &= l->is_near[w] - 1)
            print_pair(p, a, 64 * w + (size_t)__builtin_ctzll(l->is_near[w]));
}

static bool reserve_ids(struct pair_lookup *l, size_t n)
{
    uint32_t *more;

    if (n <= l->id_capacity)
        return true;
    more = realloc(l->id, n * sizeof *more);
    if (!more)
        return false;
    l->id = more;
    l->id_capacity = n;
    return true;
}

/* Look up n fingerprints, from number `first`; the i-th has count[i] answers. */
static enum nd_status answer(struct pair_lookup *l, size_t first, const uint64_t *count, size_t n,
                             struct nd_error *err)
{
    const struct fingerprints *all = l->pairs->all;
    size_t begin[QUERIES + 1] = {0}, end[QUERIES];
    enum nd_status status;

    for (size_t i = 0; i < n; i++)
        begin[i + 1] = begin[i] + (size_t)count[i];
    l->answer.count = 0;
    status = reserve_ids(l, begin[n])
                 ? nd_hamming_query(l->index, all->row + first * all->words, n, l->distance,
                                    &l->answer, err)
                 : nd_fail(err, ND_ENOMEM, "out of memory for %zu answers", begin[n]);
    if (status != ND_OK)
        return status;
    memcpy(end, begin, n * sizeof *end);
    for (size_t i = 0; i < l->answer.count; i++) {
        const struct nd_hamming_match *match = &l->answer.items[i];

        if (match->id > first + match->query)
            l->id[end[match->query]++] = match->id;
    }
    for (size_t i = 0; i < n; i++)
        print_answers(l, first + i, l->id + begin[i], end[i] - begin[i]);
    return ND_OK;
}

/* Look up as many fingerprints at a time as the memory limit allows, at least one. */
static enum nd_status look_up(struct pair_lookup *l, size_t first, size_t n, struct nd_error *err)
{
    const struct fingerprints *all = l->pairs->all;
    enum nd_status status = nd_hamming_query_count(l->index, all->row + first * all->words, n,
                                                   l->distance, l->count, err);

    for (size_t done = 0, some; done < n && status == ND_OK; done += some) {
        uint64_t sum = l->count[done];

        for (some = 1; done + some < n && sum + l->count[done + some] <= MATCHES_MAX; some++)
            sum += l->count[done + some];
        if (results_failed(l->pairs->to))
            break;
        status = answer(l, first + done, l->count + done, some, err);
    }
    return status;
}

static enum nd_status make_index(struct pair_lookup *l, const struct hamming_settings *h,
                                 struct nd_error *err)
{
    const struct fingerprints *all = l->pairs->all;
    const struct nd_hamming_problem problem = {h->bits, h->distance, all->n};
    struct nd_hamming_plan plan;
    enum nd_status status = nd_hamming_choose(
        &problem, NULL, INDEX_BYTES + (double)BYTES_EACH * (double)all->n, &plan, err);

    if (status == ND_OK)
        status = nd_hamming_new(&l->index, &plan, err);
    if (status == ND_OK)
        status = nd_hamming_add(l->index, all->row, NULL, 0, all->n, err);
    return status;
}

static enum nd_status print_one_by_one(struct pairs_command *p, const struct hamming_settings *h,
                                       struct nd_error *err)
{
    struct pair_lookup l = {.pairs = p, .distance = h->distance};
    size_t n = p->all->n;
    enum nd_status status = make_index(&l, h, err);

    l.is_near = calloc(n / 64 + 1, sizeof *l.is_near);
    if (status == ND_OK && !l.is_near)
        status = nd_fail(err, ND_ENOMEM, "out of memory for the pairs");
    for (size_t first = 0; first < n && status == ND_OK; first += QUERIES)
        status = look_up(&l, first, n - first < QUERIES ? n - first : QUERIES, err);
    nd_hamming_matches_release(&l.answer);
    nd_hamming_free(l.index);
    free(l.is_near);
    free(l.id);
    return status;
}

static int print_pairs(struct pairs_command *p, const struct settings *s)
{
    const char *threads = run_option(s, "threads");
    struct nd_error err;
    enum nd_status status =
        nd_hamming_pairs(p->all->row, p->all->n, s->hamming.bits, s->hamming.distance,
                         threads ? (unsigned)atoi(threads) : 0, keep_pairs, p, &err);

    if (p->is_over) {
        free(p->pair);
        p->pair = NULL;
        status = print_one_by_one(p, &s->hamming, &err);
    } else if (status == ND_OK) {
        print_sorted(p);
    }
    free(p->pair);
    if (status != ND_OK)
        say("%s", p->out_of_memory ? "out of memory for the pairs" : err.message);
    return status != ND_OK ? 2 : !p->found;
}

int index_pairs(struct settings *s, const char *const *path, size_t n)
{
    struct fingerprints all = {.row = NULL};
    size_t *start = calloc(n + 1, sizeof *start);
    struct results to;
    int status = 2;

    if (!start) {
        say("out of memory");
        return 2;
    }
    if (results_open(&to, s->hamming.output, path, n)) {
        struct pairs_command pairs = {.to = &to, .all = &all, .start = start, .n_files = n};

        if (recipe_is_given(s) || check_no_documents(s, true))
            status = read_inputs(&all, s, &s->hamming, path, n, start);
        if (status != 2) {
            int found = print_pairs(&pairs, s);

            status = found == 2 || !status ? found : status;
        }
        status = results_close(&to, status);
    }
    free(start);
    fingerprints_release(&all);
    return status;
}
