/* sources_run.c - the documents from which one text may be copied, ranked, with the passages */
#include <neardup/compare.h>
#include <neardup/text.h>

#include <stdlib.h>
#include <string.h>

#include "base/hash_set.h"
#include "base/memory.h"
#include "match/winnow.h"
#include "text/places.h"
#include "uses/two_documents.h"
#include "uses/use.h"

/* A piece of the text: bytes there, and in the document that has it too. */
struct copied_piece {
    uint64_t from, to, source_from, source_to;
    size_t at, count, equal; /* in tokens of the text */
};

/* A document that shares something with it. */
struct copied_source {
    struct nd_document_name name;
    uint64_t number;            /* in input order */
    uint64_t tokens, fresh;     /* of the text, in its pieces; and in none of a source before */
    uint64_t longest;           /* tokens of the longest piece */
    struct copied_piece *piece; /* malloc'ed */
    size_t n_pieces;
};

/* The tokens of a text, and their places, where these are asked for. */
struct placed_tokens {
    uint64_t *hash;
    size_t n, capacity;
    struct nd_token *place; /* malloc'ed */
};

struct source_worker {
    struct nd_tokeniser *tokeniser;
    struct placed_tokens tokens;
};

struct tracing {
    const struct nd_sources_params *params;
    struct nd_passage_params passages;
    struct nd_use use;
    struct nd_held held; /* the text */
    struct placed_tokens text;
    struct nd_hash_set kept; /* what winnowing keeps of it */
    struct source_worker *worker;
    unsigned n_workers;

    const struct nd_reading_batch *batch;
    struct copied_source *result; /* of each record of the batch */
    size_t n_results;
    atomic_bool has_failed; /* a worker, for want of memory */

    struct copied_source *source;
    size_t n_sources, capacity;
    uint64_t number;
};

struct nd_sources_params nd_sources_params_default(void)
{
    return (struct nd_sources_params){.least = nd_passage_params_default().least};
}

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

/* ---- The text -------------------------------------------------------------------------------- */

static bool hash_tokens(struct nd_tokeniser *tokeniser, struct nd_view text,
                        struct placed_tokens *out)
{
    const uint64_t *hash;
    size_t count;
    int got;

    out->n = 0;
    nd_tokeniser_start(tokeniser, text.data, text.len);
    while ((got = nd_tokeniser_next(tokeniser, &hash, &count)) == 1) {
        if (!ND_RESERVE(out->hash, &out->capacity, out->n + count))
            return false;
        memcpy(out->hash + out->n, hash, count * sizeof *hash);
        out->n += count;
    }
    return got == 0;
}

/* False: out of memory. */
static bool winnow(const struct tracing *t, const struct placed_tokens *tokens,
                   struct nd_placed_value **kept, size_t *n)
{
    const struct nd_passage_params *p = &t->passages;

    return nd_winnow(tokens->hash, tokens->n, p->shingle, p->least - p->shingle + 1, kept, n);
}

static enum nd_status keep_shingles(struct tracing *t, struct nd_error *err)
{
    struct nd_placed_value *kept = NULL;
    size_t n = 0, n_places;

    if (!winnow(t, &t->text, &kept, &n))
        return no_memory(err);
    t->kept.bytes_max = SIZE_MAX;
    for (size_t i = 0; i < n; i++)
        (void)nd_hash_set_add(&t->kept, kept[i].value);
    free(kept);
    if (t->kept.is_full)
        return no_memory(err);
    if (nd_token_places(t->held.document.text.data, t->held.document.text.len, &t->text.place,
                        &n_places) != ND_OK)
        return no_memory(err);
    return ND_OK;
}

static enum nd_status read_text(struct tracing *t, struct nd_error *err)
{
    enum nd_status status =
        nd_find_documents(&t->use.run, &t->params->text, 1, NULL, 0, &t->held, err);

    if (status != ND_OK)
        return status;
    if (!hash_tokens(t->worker[0].tokeniser, t->held.document.text, &t->text))
        return no_memory(err);
    if (t->text.n < t->passages.least)
        return nd_fail(err, ND_EINPUT, "%s: has %zu tokens, and a passage has at least %u",
                       t->params->text, t->text.n, t->passages.least);
    return keep_shingles(t, err);
}

static enum nd_status make_workers(struct tracing *t, struct nd_error *err)
{
    t->n_workers = nd_pool_threads(t->use.run.pool);
    t->worker = calloc(t->n_workers, sizeof *t->worker);
    for (unsigned i = 0; t->worker && i < t->n_workers; i++)
        if (!(t->worker[i].tokeniser = nd_tokeniser_new()))
            return no_memory(err);
    return t->worker ? ND_OK : no_memory(err);
}

/* ---- A document of the corpus ---------------------------------------------------------------- */

/* Check whether winnowing keeps a shingle of both.  Negative: out of memory. */
static int shares_shingle(const struct tracing *t, const struct placed_tokens *tokens)
{
    struct nd_placed_value *kept = NULL;
    size_t n = 0;
    bool shares = false;

    if (!winnow(t, tokens, &kept, &n))
        return ND_ENOMEM;
    for (size_t i = 0; !shares && i < n; i++)
        shares = nd_hash_set_has(&t->kept, kept[i].value);
    free(kept);
    return shares;
}

static struct copied_piece piece_of(const struct tracing *t, const struct nd_token *place,
                                    const struct nd_passage *p)
{
    const struct nd_token *first = &t->text.place[p->at_b], *last = first + p->count_b - 1,
                          *there = &place[p->at_a], *end = there + p->count_a - 1;

    return (struct copied_piece){first->offset, last->offset + last->len,
                                 there->offset, end->offset + end->len,
                                 p->at_b,       p->count_b,
                                 p->equal};
}

static bool take_passages(const struct tracing *t, struct nd_view text,
                          const struct nd_passage *passage, size_t n, struct copied_source *out)
{
    struct nd_token *place = NULL;
    size_t n_places;

    out->piece = nd_alloc_array(n, sizeof *out->piece);
    if (!out->piece || nd_token_places(text.data, text.len, &place, &n_places) != ND_OK)
        return false;
    out->n_pieces = n;
    out->tokens = nd_passages_cover(passage, n, 1);
    for (size_t i = 0; i < n; i++) {
        out->piece[i] = piece_of(t, place, &passage[i]);
        if (out->piece[i].count > out->longest)
            out->longest = out->piece[i].count;
    }
    free(place);
    return out->tokens != UINT64_MAX;
}

static bool trace(const struct tracing *t, struct nd_view text, struct source_worker *w,
                  struct copied_source *out)
{
    struct nd_passage *passage = NULL;
    size_t n = 0;
    int shares;
    bool done = hash_tokens(w->tokeniser, text, &w->tokens);

    if (!done)
        return false;
    shares = shares_shingle(t, &w->tokens);
    if (shares <= 0)
        return shares == 0;
    done = nd_passages_find(w->tokens.hash, w->tokens.n, t->text.hash, t->text.n, &t->passages,
                            &passage, &n, NULL) == ND_OK;
    if (done && n)
        done = take_passages(t, text, passage, n, out);
    free(passage);
    return done;
}

static void trace_one(void *context, size_t task, unsigned worker)
{
    struct tracing *t = context;
    const struct nd_parsed *parsed = &t->batch->parsed[task];

    t->result[task] = (struct copied_source){.n_pieces = 0};
    if (!parsed->bad && !trace(t, parsed->document.text, &t->worker[worker], &t->result[task]))
        atomic_store(&t->has_failed, true);
}

/* Take a document that shares something, with its name. */
static enum nd_status take_source(struct tracing *t, const struct nd_parsed *parsed,
                                  struct copied_source *result, struct nd_error *err)
{
    struct nd_json place = {.failed = false};
    const struct nd_name name = nd_use_name(&t->use, parsed);
    bool done;

    nd_place_append(&place, parsed->source, parsed->record.line);
    done = !place.failed && !t->use.name.failed &&
           ND_RESERVE(t->source, &t->capacity, t->n_sources + 1) &&
           nd_name_copy(&result->name, &name, (struct nd_view){place.text.data, place.text.len});
    if (done) {
        result->number = t->number;
        t->source[t->n_sources++] = *result;
        *result = (struct copied_source){.n_pieces = 0};
    }
    nd_json_release(&place);
    return done ? ND_OK : no_memory(err);
}

static void release_source(struct copied_source *source)
{
    nd_name_release(&source->name);
    free(source->piece);
}

static enum nd_status trace_batch(void *context, const struct nd_reading_batch *batch,
                                  struct nd_error *err)
{
    struct tracing *t = context;
    enum nd_status status = nd_run_each_document(&t->use.run, batch, NULL, NULL, err);

    if (status != ND_OK || !ND_RESERVE(t->result, &t->n_results, batch->count + 1))
        return status == ND_OK ? no_memory(err) : status;
    t->batch = batch;
    nd_pool_run(t->use.run.pool, batch->count, trace_one, t);
    if (atomic_load(&t->has_failed))
        status = no_memory(err);
    for (size_t i = 0; i < batch->count; i++) {
        if (status == ND_OK && t->result[i].n_pieces)
            status = take_source(t, &batch->parsed[i], &t->result[i], err);
        t->number++;
        release_source(&t->result[i]);
    }
    return status;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static int by_rank(const void *a, const void *b)
{
    const struct copied_source *x = a, *y = b;

    if (x->tokens != y->tokens)
        return x->tokens < y->tokens ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Count for each source, in order, the tokens that no better one has. */
static enum nd_status count_fresh(struct tracing *t, struct nd_error *err)
{
    unsigned char *is_met = calloc(t->text.n, 1);

    if (!is_met)
        return no_memory(err);
    for (size_t i = 0; i < t->n_sources; i++)
        for (size_t k = 0; k < t->source[i].n_pieces; k++) {
            const struct copied_piece *p = &t->source[i].piece[k];

            for (size_t at = p->at; at < p->at + p->count; at++) {
                t->source[i].fresh += !is_met[at];
                is_met[at] = 1;
            }
        }
    free(is_met);
    return ND_OK;
}

static void put_pieces(struct nd_json *out, const struct copied_source *source)
{
    nd_json_key(out, "pieces");
    nd_json_open(out, '[');
    for (size_t i = 0; i < source->n_pieces; i++) {
        const struct copied_piece *p = &source->piece[i];

        nd_json_open(out, '{');
        nd_json_put_uint(out, "from", p->from);
        nd_json_put_uint(out, "to", p->to);
        nd_json_put_uint(out, "source_from", p->source_from);
        nd_json_put_uint(out, "source_to", p->source_to);
        nd_json_put_uint(out, "tokens", p->equal);
        nd_json_close(out, '}');
    }
    nd_json_close(out, ']');
}

static enum nd_status put_source(struct tracing *t, const struct copied_source *source,
                                 struct nd_error *err)
{
    const struct nd_document_name *n = &source->name;
    const struct nd_name name = {n->id_kind, {n->id, n->id_len}};

    nd_cell_name(&t->use, "id", &name);
    if (t->params->json)
        nd_cell_text(&t->use, "at", (struct nd_view){n->at, n->at_len});
    nd_cell_double(&t->use, "share", (double)source->tokens / (double)t->text.n);
    nd_cell_uint(&t->use, "tokens", source->tokens);
    nd_cell_uint(&t->use, "new", source->fresh);
    nd_cell_uint(&t->use, "passages", source->n_pieces);
    nd_cell_uint(&t->use, "longest", source->longest);
    if (t->params->json)
        put_pieces(&t->use.row, source);
    return nd_row_end(&t->use, err);
}

static enum nd_status put_sources(struct tracing *t, struct nd_error *err)
{
    const size_t top =
        t->params->top && t->params->top < t->n_sources ? t->params->top : t->n_sources;
    enum nd_status status;

    if (t->n_sources)
        qsort(t->source, t->n_sources, sizeof *t->source, by_rank);
    status = count_fresh(t, err);
    if (status == ND_OK)
        status = nd_use_open(&t->use, t->params->json, err);
    for (size_t i = 0; status == ND_OK && i < top; i++)
        status = put_source(t, &t->source[i], err);
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static enum nd_status check(struct tracing *t, const struct nd_run_options *options,
                            struct nd_error *err)
{
    const struct nd_sources_params *p = t->params;

    if (!p->text)
        return nd_fail(err, ND_EINVAL, "no text: name a file with one document");
    for (size_t i = 0; strcmp(p->text, "-") == 0 && i < options->n_paths; i++)
        if (strcmp(options->paths[i], "-") == 0)
            return nd_fail(err, ND_EINVAL, "standard input cannot be both the text and the corpus");
    t->passages = nd_passage_params_default();
    t->passages.least = p->least;
    t->passages.gap = p->gap;
    if (t->passages.shingle > p->least)
        t->passages.shingle = p->least;
    return p->least ? ND_OK : nd_fail(err, ND_EINVAL, "least: must be at least 1");
}

static void release(struct tracing *t)
{
    for (size_t i = 0; i < t->n_sources; i++)
        release_source(&t->source[i]);
    for (unsigned i = 0; t->worker && i < t->n_workers; i++) {
        nd_tokeniser_free(t->worker[i].tokeniser);
        free(t->worker[i].tokens.hash);
    }
    free(t->source);
    free(t->result);
    free(t->worker);
    free(t->text.hash);
    free(t->text.place);
    nd_hash_set_release(&t->kept);
    nd_held_release(&t->held);
}

enum nd_status nd_run_sources(const struct nd_run_options *options,
                              const struct nd_sources_params *params,
                              const struct nd_run_events *events, struct nd_use_summary *summary,
                              struct nd_error *err)
{
    struct tracing t = {.params = params};
    const struct nd_run_request request = {.ignores_signatures = true,
                                           .writes_output = true,
                                           .reads = &params->text,
                                           .n_reads = params->text != NULL};
    struct nd_error room = {0};
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    if (check(&t, options, err) != ND_OK) {
        *summary = (struct nd_use_summary){0};
        return ND_EINVAL;
    }
    status = nd_use_begin(&t.use, options, &request, events, err);
    if (status == ND_OK)
        status = make_workers(&t, err);
    if (status == ND_OK)
        status = read_text(&t, err);
    if (status == ND_OK)
        status = nd_run_each_batch(&t.use.run, trace_batch, &t, err);
    if (status == ND_OK)
        status = nd_run_conclude(&t.use.run, err);
    if (status == ND_OK)
        status = put_sources(&t, err);
    status = nd_use_end(&t.use, status, t.n_sources, summary, err);
    release(&t);
    return nd_run_status(status, err);
}
