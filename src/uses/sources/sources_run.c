/* sources_run.c - the documents from which texts may be copied, ranked, with the passages */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "match/winnow.h"
#include "recipe/recipe_struct.h"
#include "text/places.h"
#include "uses/sources/traced_texts.h"

/* A piece of a text: bytes there, and in the document that has it too. */
struct copied_piece {
    uint64_t from, to, source_from, source_to;
    size_t at, count, equal; /* in tokens of the text */
};

/* A document that shares something with a text. */
struct copied_source {
    struct nd_document_name name;
    uint32_t text;
    uint64_t number;        /* in input order */
    uint64_t shared, fresh; /* tokens, or shingles, of the text; and in none of a source before */
    uint64_t longest;       /* tokens of the longest piece */
    struct copied_piece *piece; /* malloc'ed; NULL in a sketch file, which has instead: */
    uint32_t *shingle;          /* malloc'ed: numbers of the text's shingles, `shared` of them */
    size_t n_pieces;
};

struct copied_sources {
    struct copied_source *item;
    size_t n, capacity;
};

struct source_worker {
    struct nd_tokeniser *tokeniser;
    struct nd_placed_tokens tokens;
    struct nd_hashes met,
        scratch; /* texts that share a key with the document (nd_traced_texts_meet) */
};

struct tracing {
    const struct nd_sources_params *params;
    struct nd_passage_params passages;
    struct nd_use use;
    struct nd_traced_texts texts;
    bool is_sketched;    /* sketch files are searched */
    size_t least_shared; /* shingles of a passage; for these */
    struct source_worker *worker;
    unsigned n_workers;

    const struct nd_reading_batch *batch;
    struct copied_sources *result; /* of each record of the batch */
    size_t n_results;
    atomic_bool has_failed; /* a worker, for want of memory */

    struct copied_sources sources;
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

static enum nd_status make_workers(struct tracing *t, struct nd_error *err)
{
    t->n_workers = nd_pool_threads(t->use.run.pool);
    t->worker = calloc(t->n_workers, sizeof *t->worker);
    for (unsigned i = 0; t->worker && i < t->n_workers; i++)
        if (!(t->worker[i].tokeniser = nd_tokeniser_new()))
            return no_memory(err);
    return t->worker ? ND_OK : no_memory(err);
}

static void release_source(struct copied_source *source)
{
    nd_name_release(&source->name);
    free(source->piece);
    free(source->shingle);
}

/* ---- A document of the corpus ---------------------------------------------------------------- */

/* Collect the texts with which a document shares a shingle that winnowing keeps. */
static bool meet_winnowed(const struct tracing *t, struct source_worker *w)
{
    const struct nd_passage_params *p = &t->passages;
    struct nd_placed_value *kept = NULL;
    size_t n = 0;
    bool good =
        nd_winnow(w->tokens.hash, w->tokens.n, p->shingle, p->least - p->shingle + 1, &kept, &n);

    for (size_t i = 0; good && i < n; i++)
        good = nd_traced_texts_meet(&t->texts, kept[i].value, &w->met);
    free(kept);
    return good;
}

static bool meet_shingles(const struct tracing *t, const struct nd_sketch_row *row,
                          struct source_worker *w)
{
    for (uint32_t i = 0; i < row->n_shingles; i++)
        if (!nd_traced_texts_meet(&t->texts, row->shingles[i], &w->met))
            return false;
    return true;
}

static struct copied_piece piece_of(const struct nd_traced_text *text, const struct nd_token *place,
                                    const struct nd_passage *p)
{
    const struct nd_token *first = &text->tokens.place[p->at_b], *last = first + p->count_b - 1,
                          *there = &place[p->at_a], *end = there + p->count_a - 1;

    return (struct copied_piece){first->offset, last->offset + last->len,
                                 there->offset, end->offset + end->len,
                                 p->at_b,       p->count_b,
                                 p->equal};
}

static bool take_passages(const struct nd_traced_text *text, struct nd_view document,
                          const struct nd_passage *passage, size_t n, struct copied_source *out)
{
    struct nd_token *place = NULL;
    size_t n_places;

    out->piece = nd_alloc_array(n, sizeof *out->piece);
    if (!out->piece || nd_token_places(document.data, document.len, &place, &n_places) != ND_OK)
        return false;
    out->n_pieces = n;
    out->shared = nd_passages_cover(passage, n, 1);
    for (size_t i = 0; i < n; i++) {
        out->piece[i] = piece_of(text, place, &passage[i]);
        if (out->piece[i].count > out->longest)
            out->longest = out->piece[i].count;
    }
    free(place);
    return out->shared != UINT64_MAX;
}

static bool add_source(struct copied_sources *to, struct copied_source *source)
{
    if (!ND_RESERVE(to->item, &to->capacity, to->n + 1)) {
        release_source(source);
        return false;
    }
    to->item[to->n++] = *source;
    return true;
}

/* Align the document with a text, and keep it if they have a passage in common. */
static bool align(const struct tracing *t, struct nd_view document, uint32_t number,
                  struct source_worker *w, struct copied_sources *out)
{
    const struct nd_traced_text *text = &t->texts.text[number];
    struct copied_source source = {.text = number};
    struct nd_passage *passage = NULL;
    size_t n = 0;
    bool good = nd_passages_find(w->tokens.hash, w->tokens.n, text->tokens.hash, text->tokens.n,
                                 &t->passages, &passage, &n, NULL) == ND_OK;

    if (good && n) {
        good = take_passages(text, document, passage, n, &source);
        if (good)
            good = add_source(out, &source);
        else
            release_source(&source);
    }
    free(passage);
    return good;
}

/* Keep the document if it has as many shingles of a text as a passage has. */
static bool count_shingles(const struct tracing *t, uint32_t number, const uint64_t *met, size_t n,
                           struct copied_sources *out)
{
    struct copied_source source = {.text = number, .shared = n};

    if (n < t->least_shared)
        return true;
    source.shingle = nd_alloc_array(n, sizeof *source.shingle);
    if (!source.shingle)
        return false;
    for (size_t i = 0; i < n; i++)
        source.shingle[i] = (uint32_t)met[i];
    return add_source(out, &source);
}

static bool trace(const struct tracing *t, const struct nd_parsed *parsed, struct source_worker *w,
                  struct copied_sources *out)
{
    struct nd_hashes *met = &w->met;

    met->n = 0;
    if (t->is_sketched ? !meet_shingles(t, parsed->sketched, w)
                       : !nd_hash_tokens(w->tokeniser, parsed->document.text, &w->tokens) ||
                             !meet_winnowed(t, w))
        return false;
    if (!ND_RESERVE(w->scratch.item, &w->scratch.capacity, met->n + 1))
        return false;
    nd_sort_values(met->item, met->n, w->scratch.item);
    for (size_t i = 0, to; i < met->n; i = to) {
        uint32_t text = (uint32_t)(met->item[i] >> 32);

        for (to = i; to < met->n && met->item[to] >> 32 == text;)
            to++;
        if (t->is_sketched ? !count_shingles(t, text, met->item + i, to - i, out)
                           : !align(t, parsed->document.text, text, w, out))
            return false;
    }
    return true;
}

static void trace_one(void *context, size_t task, unsigned worker)
{
    struct tracing *t = context;
    const struct nd_parsed *parsed = &t->batch->parsed[task];

    t->result[task] = (struct copied_sources){.n = 0};
    if (!parsed->bad && !trace(t, parsed, &t->worker[worker], &t->result[task]))
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
           nd_name_copy(&result->name, &name, (struct nd_view){place.text.data, place.text.len});
    result->number = t->number;
    if (done)
        done = add_source(&t->sources, result);
    else
        release_source(result);
    nd_json_release(&place);
    return done ? ND_OK : no_memory(err);
}

static enum nd_status take_results(struct tracing *t, size_t i, enum nd_status status,
                                   struct nd_error *err)
{
    struct copied_sources *found = &t->result[i];

    for (size_t k = 0; k < found->n; k++)
        if (status == ND_OK)
            status = take_source(t, &t->batch->parsed[i], &found->item[k], err);
        else
            release_source(&found->item[k]);
    free(found->item);
    t->number++;
    return status;
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
    for (size_t i = 0; i < batch->count; i++)
        status = take_results(t, i, status, err);
    return status;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static int by_rank(const void *a, const void *b)
{
    const struct copied_source *x = a, *y = b;

    if (x->text != y->text)
        return x->text < y->text ? -1 : 1;
    if (x->shared != y->shared)
        return x->shared < y->shared ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

static uint64_t mark_fresh(unsigned char *is_met, size_t from, size_t n)
{
    uint64_t fresh = 0;

    for (size_t at = from; at < from + n; at++) {
        fresh += !is_met[at];
        is_met[at] = 1;
    }
    return fresh;
}

/* Count for each source, in order, what of its text no better one has. */
static enum nd_status count_fresh(struct tracing *t, struct nd_error *err)
{
    unsigned char *is_met = NULL;

    for (size_t i = 0; i < t->sources.n; i++) {
        struct copied_source *s = &t->sources.item[i];

        if (!i || s->text != s[-1].text) {
            free(is_met);
            is_met = calloc(t->texts.text[s->text].n + 1, 1);
        }
        if (!is_met)
            return no_memory(err);
        for (size_t k = 0; k < s->n_pieces; k++)
            s->fresh += mark_fresh(is_met, s->piece[k].at, s->piece[k].count);
        for (size_t k = 0; s->shingle && k < s->shared; k++)
            s->fresh += mark_fresh(is_met, s->shingle[k], 1);
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

static struct nd_name name_of(const struct nd_document_name *n)
{
    return (struct nd_name){n->id_kind, {n->id, n->id_len}};
}

static enum nd_status put_source(struct tracing *t, const struct copied_source *source,
                                 struct nd_error *err)
{
    const struct nd_traced_text *text = &t->texts.text[source->text];
    const struct nd_name name = name_of(&source->name), text_name = name_of(&text->name);

    if (t->params->n_texts)
        nd_cell_name(&t->use, "text", &text_name);
    nd_cell_name(&t->use, "id", &name);
    if (t->params->json)
        nd_cell_text(&t->use, "at", (struct nd_view){source->name.at, source->name.at_len});
    nd_cell_double(&t->use, "share", (double)source->shared / (double)text->n);
    nd_cell_uint(&t->use, t->is_sketched ? "shingles" : "tokens", source->shared);
    nd_cell_uint(&t->use, "new", source->fresh);
    if (!t->is_sketched) {
        nd_cell_uint(&t->use, "passages", source->n_pieces);
        nd_cell_uint(&t->use, "longest", source->longest);
    }
    if (t->params->json && !t->is_sketched)
        put_pieces(&t->use.row, source);
    return nd_row_end(&t->use, err);
}

/* Write the rows of each text, the best ones first. */
static enum nd_status put_sources(struct tracing *t, struct nd_error *err)
{
    struct copied_sources *s = &t->sources;
    enum nd_status status;
    size_t rank = 0;

    if (s->n)
        qsort(s->item, s->n, sizeof *s->item, by_rank);
    status = count_fresh(t, err);
    if (status == ND_OK)
        status = nd_use_open(&t->use, t->params->json, err);
    for (size_t i = 0; status == ND_OK && i < s->n; i++) {
        rank = i && s->item[i].text == s->item[i - 1].text ? rank + 1 : 0;
        if (!t->params->top || rank < t->params->top)
            status = put_source(t, &s->item[i], err);
    }
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static enum nd_status check_standard_input(const struct nd_sources_params *p,
                                           const struct nd_run_options *options,
                                           struct nd_error *err)
{
    bool is_text = p->text && strcmp(p->text, "-") == 0;

    for (size_t i = 0; i < p->n_texts; i++)
        is_text = is_text || strcmp(p->texts[i], "-") == 0;
    for (size_t i = 0; is_text && i < options->n_paths; i++)
        if (strcmp(options->paths[i], "-") == 0)
            return nd_fail(err, ND_EINVAL, "standard input cannot be both the text and the corpus");
    return ND_OK;
}

static enum nd_status check(struct tracing *t, const struct nd_run_options *options,
                            struct nd_error *err)
{
    const struct nd_sources_params *p = t->params;

    if (!p->text == !p->n_texts)
        return nd_fail(err, ND_EINVAL, "no text: name a file with one document, or with several");
    if (check_standard_input(p, options, err) != ND_OK)
        return ND_EINVAL;
    t->passages = nd_passage_params_default();
    t->passages.least = p->least;
    t->passages.gap = p->gap;
    if (t->passages.shingle > p->least)
        t->passages.shingle = p->least;
    return p->least ? ND_OK : nd_fail(err, ND_EINVAL, "least: must be at least 1");
}

/* Sketch files have shingles in place of texts, of which a passage has at least so many. */
static enum nd_status take_sketches(struct tracing *t, struct nd_error *err)
{
    struct nd_run *run = &t->use.run;
    const struct nd_sketch_params *sketch = &run->recipe->dedup.sketch;

    if (run->sketches_beside)
        return nd_fail(err, ND_EINVAL, "%s is a sketch file: the texts themselves are needed",
                       nd_sketches_path(run->sketches_beside, 0));
    if (!run->sketches)
        return ND_OK;
    if (!nd_sketches_keep(run->sketches).shingles || sketch->unit == ND_SHINGLE_CHARACTERS)
        return nd_fail(
            err, ND_EINVAL,
            "%s has no shingles of words, by which sources are found: name the documents "
            "themselves, or sketch them by --recipe default",
            nd_sketches_path(run->sketches, 0));
    t->is_sketched = true;
    t->least_shared = t->params->least > sketch->w ? t->params->least - sketch->w + 1 : 1;
    return ND_OK;
}

static void release(struct tracing *t)
{
    for (size_t i = 0; i < t->sources.n; i++)
        release_source(&t->sources.item[i]);
    for (unsigned i = 0; t->worker && i < t->n_workers; i++) {
        nd_tokeniser_free(t->worker[i].tokeniser);
        free(t->worker[i].tokens.hash);
        free(t->worker[i].met.item);
        free(t->worker[i].scratch.item);
    }
    free(t->sources.item);
    free(t->result);
    free(t->worker);
    nd_traced_texts_release(&t->texts);
}

enum nd_status nd_run_sources(const struct nd_run_options *options,
                              const struct nd_sources_params *params,
                              const struct nd_run_events *events, struct nd_use_summary *summary,
                              struct nd_error *err)
{
    struct tracing t = {.params = params};
    const struct nd_run_request request = {.ignores_signatures = true,
                                           .writes_output = true,
                                           .takes_sketches = true,
                                           .takes_recipe = true,
                                           .texts_for = params->gap ? "gap" : NULL,
                                           .reads = params->text ? &params->text : params->texts,
                                           .n_reads = params->text ? 1 : params->n_texts};
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
        status = take_sketches(&t, err);
    if (status == ND_OK)
        status = make_workers(&t, err);
    if (status == ND_OK)
        status =
            nd_traced_texts_read(&t.texts, &t.use.run, params, &t.passages, t.is_sketched, err);
    if (status == ND_OK)
        status = nd_run_each_batch(&t.use.run, trace_batch, &t, err);
    if (status == ND_OK)
        status = nd_run_conclude(&t.use.run, err);
    if (status == ND_OK)
        status = put_sources(&t, err);
    status = nd_use_end(&t.use, status, t.sources.n, summary, err);
    release(&t);
    return nd_run_status(status, err);
}
