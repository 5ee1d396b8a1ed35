/* short_texts.c - old documents of fewer than w tokens, as a whole in new ones */
#include "candidates/short_texts.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "recipe/recipe_struct.h"

struct short_text {
    uint64_t shingle; /* of all its tokens, as within a longer text */
    uint32_t tokens, number, file;
};

struct nd_short_texts {
    struct short_text *item; /* by tokens, then shingle, then number; the first of each file */
    size_t n, capacity;
    unsigned w, workers;
    /* Sketchers: for each worker, one for each number of tokens below w that some text has. */
    struct nd_sketcher **sketcher;
};

bool nd_short_texts_count(const struct nd_recipe *recipe)
{
    const struct nd_dedup_params *p = &recipe->dedup;

    return p->verify == ND_VERIFY_CONTAINMENT_OF_KEPT && p->short_policy != ND_SHORT_KEEP &&
           (p->candidates == ND_CANDIDATES_MINHASH || p->candidates == ND_CANDIDATES_ALL);
}

/* ---- Which new documents equal an old one that is kept ---- */

static uint64_t bytes_key(const struct nd_sketch_row *row)
{
    return nd_mix64(row->text_hash[0] ^ nd_mix64(row->text_hash[1]));
}

/* Another key than a hash of bytes, which may have the same value. */
static uint64_t tokens_key(const struct nd_sketch_row *row)
{
    return nd_mix64(nd_mix64(row->identity) + row->tokens);
}

/* Check whether equal tokens make a document equal others (engine/document/equal.h). */
static bool is_equal_by_tokens(const struct nd_recipe *recipe, const struct nd_sketch_row *row)
{
    const struct nd_dedup_params *p = &recipe->dedup;

    return row->tokens >= p->sketch.w || (row->tokens && p->short_policy == ND_SHORT_TOKENS);
}

bool nd_kept_rows_add(struct nd_hash_set *kept, const struct nd_recipe *recipe,
                      const struct nd_sketch_row *row)
{
    nd_hash_set_add(kept, bytes_key(row));
    if (is_equal_by_tokens(recipe, row))
        nd_hash_set_add(kept, tokens_key(row));
    return !kept->has_no_memory;
}

bool nd_kept_rows_equal(const struct nd_hash_set *kept, const struct nd_recipe *recipe,
                        const struct nd_sketch_row *row)
{
    return nd_hash_set_has(kept, bytes_key(row)) ||
           (is_equal_by_tokens(recipe, row) && nd_hash_set_has(kept, tokens_key(row)));
}

struct nd_decision nd_short_hit_decision(const struct nd_short_hit *hit, uint64_t kept)
{
    return (struct nd_decision){
        .kept = kept,
        .verified = ND_VERIFIED_SKETCH,
        .distance = UINT32_MAX,
        .overlap = {hit->n_shingles, 1, 1},
    };
}

/* ---- Short old documents ---- */

static int by_shingle(const void *a, const void *b)
{
    const struct short_text *x = a, *y = b;

    if (x->tokens != y->tokens)
        return x->tokens < y->tokens ? -1 : 1;
    if (x->shingle != y->shingle)
        return x->shingle < y->shingle ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static enum nd_status add_file(struct nd_short_texts *t, const struct nd_sketch_file *file,
                               uint32_t number, uint64_t before, struct nd_error *err)
{
    struct nd_sketch_block block = {0};
    struct nd_sketch_room room = {0};
    enum nd_status status = ND_OK;

    for (uint32_t b = 0; status == ND_OK && b < nd_sketch_file_info(file)->blocks; b++) {
        status = nd_sketch_file_read(file, b, ND_SKETCH_FILE_ROWS, &block, err);
        for (size_t i = 0; status == ND_OK && i < block.n; i++) {
            struct nd_sketch_row row = block.rows[i];

            if (row.tokens == 0 || row.tokens >= t->w || row.n_shingles != 1)
                continue;
            status = nd_sketch_file_read_row(file, &block.rows[i].place, ND_SKETCH_FILE_ALL, &room,
                                             &row, err);
            if (status == ND_OK && !ND_RESERVE(t->item, &t->capacity, t->n + 1))
                status = nd_fail(err, ND_ENOMEM, "out of memory");
            if (status == ND_OK)
                t->item[t->n++] = (struct short_text){
                    nd_shingle_within(row.shingles[0], (size_t)row.tokens), (uint32_t)row.tokens,
                    (uint32_t)(before + block.first + i), number};
        }
    }
    nd_sketch_room_release(&room);
    nd_sketch_block_release(&block);
    return status;
}

static enum nd_status make_sketchers(struct nd_short_texts *t, const struct nd_recipe *recipe,
                                     struct nd_error *err)
{
    t->sketcher = calloc((size_t)t->workers * t->w, sizeof(struct nd_sketcher *));
    if (!t->sketcher)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; i < t->n; i++) {
        struct nd_sketch_params params = recipe->dedup.sketch;

        params.w = t->item[i].tokens;
        for (unsigned k = 0; k < t->workers; k++) {
            struct nd_sketcher **s = &t->sketcher[k * t->w + params.w];

            if (!*s)
                *s = nd_sketcher_new(&params, err);
            if (!*s)
                return ND_ENOMEM;
        }
    }
    return ND_OK;
}

static bool is_same(const struct short_text *a, const struct short_text *b)
{
    return a->tokens == b->tokens && a->shingle == b->shingle;
}

/* Put them in order, and drop what a file repeats. */
static void sort(struct nd_short_texts *t)
{
    size_t n = 0;

    if (t->n)
        qsort(t->item, t->n, sizeof *t->item, by_shingle);
    for (size_t i = 0; i < t->n; i++)
        if (n == 0 || !is_same(&t->item[n - 1], &t->item[i]) ||
            t->item[n - 1].file != t->item[i].file)
            t->item[n++] = t->item[i];
    t->n = n;
}

struct nd_short_texts *nd_short_texts_new(const struct nd_sketch_file *const *file, size_t n_files,
                                          const struct nd_recipe *recipe, unsigned workers,
                                          struct nd_error *err)
{
    struct nd_short_texts *t = calloc(1, sizeof *t);
    enum nd_status status = ND_OK;
    uint64_t before = 0;

    if (!t) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    t->w = recipe->dedup.sketch.w;
    t->workers = workers;
    for (size_t i = 0; status == ND_OK && i < n_files; i++) {
        status = add_file(t, file[i], (uint32_t)i, before, err);
        before += nd_sketch_file_info(file[i])->documents;
    }
    sort(t);
    if (status == ND_OK && t->n)
        status = make_sketchers(t, recipe, err);
    if (status == ND_OK && t->n)
        return t;
    nd_short_texts_free(t);
    return NULL;
}

void nd_short_texts_free(struct nd_short_texts *t)
{
    if (!t)
        return;
    for (size_t i = 0; t->sketcher && i < (size_t)t->workers * t->w; i++)
        nd_sketcher_free(t->sketcher[i]);
    free(t->sketcher);
    free(t->item);
    free(t);
}

/* The first of the texts of so many tokens that is this shingle, or NULL. */
static const struct short_text *find(const struct nd_short_texts *t, uint32_t tokens,
                                     uint64_t shingle)
{
    const struct short_text wanted = {.shingle = shingle, .tokens = tokens};
    size_t low = 0, high = t->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (by_shingle(&t->item[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->n && t->item[low].tokens == tokens && t->item[low].shingle == shingle
               ? &t->item[low]
               : NULL;
}

static void note_files(const struct nd_short_texts *t, const struct short_text *first,
                       uint64_t *files)
{
    for (const struct short_text *s = first; s < t->item + t->n && is_same(s, first); s++)
        files[s->file / 64] |= UINT64_C(1) << s->file % 64;
}

int nd_short_texts_find(struct nd_short_texts *t, unsigned worker, struct nd_view text,
                        struct nd_short_hit *first, uint64_t *files)
{
    int found = 0;

    for (uint32_t tokens = 1; tokens < t->w; tokens++) {
        struct nd_sketcher *s = t->sketcher[worker * t->w + tokens];
        struct nd_sketch sketch;

        if (!s)
            continue;
        if (nd_sketcher_read(s, text.data, text.len, &sketch) != ND_OK)
            return ND_ENOMEM;
        for (size_t i = 0; sketch.n_tokens >= tokens && i < sketch.n_shingles; i++) {
            const struct short_text *hit = find(t, tokens, sketch.shingle[i]);

            if (hit && files)
                note_files(t, hit, files);
            if (hit && (!found || hit->number < first->number)) {
                *first = (struct nd_short_hit){hit->number, (uint32_t)sketch.n_shingles};
                found = 1;
            }
        }
    }
    return found;
}
