/* traced_texts.c - the texts whose sources are sought, and which of them a value is of */
#include "uses/sources/traced_texts.h"

#include <neardup/sketch.h>

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "match/winnow.h"
#include "recipe/recipe_struct.h"
#include "sketch/sketcher.h"
#include "text/places.h"
#include "uses/two_documents.h"

struct text_reading {
    struct nd_traced_texts *texts;
    struct nd_run *run;
    const struct nd_passage_params *passages;
    struct nd_tokeniser *tokeniser;
    struct nd_sketcher *sketcher; /* NULL: keys are what winnowing keeps */
    struct nd_parser *parser;
    bool takes_one; /* another document is refused */
    const char *path;
};

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

bool nd_hash_tokens(struct nd_tokeniser *tokeniser, struct nd_view text,
                    struct nd_placed_tokens *out)
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

/* ---- Keys ---------------------------------------------------------------------------------------- */

static bool add_key(struct nd_traced_texts *texts, uint64_t value, size_t at)
{
    if (!ND_RESERVE(texts->key, &texts->key_capacity, texts->n_keys + 1))
        return false;
    texts->key[texts->n_keys++] =
        (struct nd_text_key){value, (uint32_t)(texts->n - 1), (uint32_t)at};
    return true;
}

static bool take_winnowed(struct text_reading *r, struct nd_view document,
                          struct nd_traced_text *text)
{
    const struct nd_passage_params *p = r->passages;
    struct nd_placed_value *kept = NULL;
    size_t n = 0, n_places;
    bool good = nd_hash_tokens(r->tokeniser, document, &text->tokens);

    text->n = text->tokens.n;
    text->n_tokens = text->n;
    good = good &&
           nd_winnow(text->tokens.hash, text->n, p->shingle, p->least - p->shingle + 1, &kept, &n);
    for (size_t i = 0; good && i < n; i++)
        good = add_key(r->texts, kept[i].value, 0);
    free(kept);
    return good &&
           nd_token_places(document.data, document.len, &text->tokens.place, &n_places) == ND_OK;
}

static bool take_shingles(struct text_reading *r, struct nd_view document,
                          struct nd_traced_text *text)
{
    const struct nd_shingle_set *set;
    struct nd_sketch sketch;

    if (nd_sketcher_read(r->sketcher, document.data, document.len, &sketch) != ND_OK)
        return false;
    set = nd_sketcher_shingles(r->sketcher);
    text->n = set->count;
    text->n_tokens = sketch.n_tokens;
    for (size_t i = 0; i < set->count; i++)
        if (!add_key(r->texts, set->distinct[i], i))
            return false;
    return true;
}

static int by_value(const void *a, const void *b)
{
    const struct nd_text_key *x = a, *y = b;

    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    if (x->text != y->text)
        return x->text < y->text ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Sort the keys, each of a text once, and collect their values. */
static bool order_keys(struct nd_traced_texts *texts)
{
    size_t n = 0;

    if (texts->n_keys)
        qsort(texts->key, texts->n_keys, sizeof *texts->key, by_value);
    texts->values.bytes_max = SIZE_MAX;
    for (size_t i = 0; i < texts->n_keys; i++) {
        if (n && by_value(&texts->key[n - 1], &texts->key[i]) == 0)
            continue;
        texts->key[n++] = texts->key[i];
        (void)nd_hash_set_add(&texts->values, texts->key[i].value);
    }
    texts->n_keys = n;
    return !texts->values.is_full;
}

bool nd_traced_texts_meet(const struct nd_traced_texts *texts, uint64_t value,
                          struct nd_hashes *met)
{
    size_t from = 0, to = texts->n_keys;

    if (!nd_hash_set_has(&texts->values, value))
        return true;
    while (from < to) {
        size_t half = from + (to - from) / 2;

        if (texts->key[half].value < value)
            from = half + 1;
        else
            to = half;
    }
    for (; from < texts->n_keys && texts->key[from].value == value; from++) {
        if (!ND_RESERVE(met->item, &met->capacity, met->n + 1))
            return false;
        met->item[met->n++] = (uint64_t)texts->key[from].text << 32 | texts->key[from].at;
    }
    return true;
}

/* ---- Texts --------------------------------------------------------------------------------------- */

static bool take_document(struct text_reading *r, const struct nd_document *document,
                          const struct nd_name *name, struct nd_view at)
{
    struct nd_traced_texts *texts = r->texts;
    struct nd_traced_text *text;

    if (!ND_RESERVE(texts->text, &texts->capacity, texts->n + 1))
        return false;
    text = &texts->text[texts->n++];
    *text = (struct nd_traced_text){.n = 0};
    return nd_name_copy(&text->name, name, at) &&
           (r->sketcher ? take_shingles(r, document->text, text)
                        : take_winnowed(r, document->text, text));
}

static void report_bad(const struct text_reading *r, struct nd_json *at, const char *reason)
{
    const struct nd_run_events *events = r->run->reporter.to;

    nd_json_bytes(at, "", 1);
    if (events && events->bad_record && !at->failed)
        events->bad_record(events->context, at->text.data, reason);
}

static int take_record(void *context, const struct nd_source *source,
                       const struct nd_record *record, struct nd_error *err)
{
    struct text_reading *r = context;
    struct nd_json at = {0}, room = {0};
    struct nd_document document;
    struct nd_bad_record bad;
    uint64_t repaired = 0;
    bool good = true;
    int parsed;

    nd_parser_reset(r->parser);
    parsed = nd_parser_parse(r->parser, source, record->bytes, &document, &repaired, &bad);
    nd_place_append(&at, source, record->line);
    if (parsed > 0 && r->takes_one && r->texts->n) {
        nd_json_release(&at);
        return (int)nd_fail(err, ND_EINPUT,
                            "%s: contains more than one document; --texts takes all of them",
                            r->path);
    }
    if (parsed > 0) {
        const struct nd_name name = nd_name_of(&document, source, record->line, &room);

        good = take_document(r, &document, &name, (struct nd_view){at.text.data, at.text.len});
    } else if (parsed == 0) {
        report_bad(r, &at, bad.reason);
    }
    good = good && parsed >= 0 && !at.failed && !room.failed;
    nd_json_release(&at);
    nd_json_release(&room);
    return good ? 1 : (int)no_memory(err);
}

static enum nd_status read_paths(struct text_reading *r, const char *const *paths, size_t n,
                                 struct nd_error *err)
{
    const size_t before = r->texts->n;
    enum nd_status status;

    r->path = paths[0];
    status = nd_each_record(r->run, paths, n, take_record, r, err);
    if (status == ND_OK && r->texts->n == before)
        status = nd_fail(err, ND_EINPUT, "%s: contains no document", paths[0]);
    return status;
}

/* Fail where the only text has no passage, and tell how many of several have none. */
static enum nd_status judge_short(const struct text_reading *r, struct nd_error *err)
{
    size_t n_short = 0;

    for (size_t i = 0; i < r->texts->n; i++)
        n_short += r->texts->text[i].n_tokens < r->passages->least;
    if (n_short && r->takes_one)
        return nd_fail(err, ND_EINPUT, "%s: has %zu tokens, and a passage has at least %u", r->path,
                       r->texts->text[0].n_tokens, r->passages->least);
    if (n_short)
        nd_reporter_warn(&r->run->reporter,
                         "%zu of %zu texts have fewer than %u tokens, and no passage", n_short,
                         r->texts->n, r->passages->least);
    return ND_OK;
}

static enum nd_status make_tools(struct text_reading *r, bool sketch, struct nd_error *err)
{
    r->tokeniser = nd_tokeniser_new();
    r->parser = nd_parser_new(&r->run->input, err);
    if (sketch && r->parser)
        r->sketcher = nd_sketcher_new(&r->run->recipe->dedup.sketch, err);
    if (!r->tokeniser)
        return no_memory(err);
    return r->parser && (r->sketcher || !sketch) ? ND_OK : err->status;
}

enum nd_status nd_traced_texts_read(struct nd_traced_texts *texts, struct nd_run *run,
                                    const struct nd_sources_params *params,
                                    const struct nd_passage_params *passages, bool sketch,
                                    struct nd_error *err)
{
    struct text_reading r = {
        .texts = texts, .run = run, .passages = passages, .takes_one = params->text != NULL};
    enum nd_status status = make_tools(&r, sketch, err);

    if (status == ND_OK)
        status = params->text ? read_paths(&r, &params->text, 1, err)
                              : read_paths(&r, params->texts, params->n_texts, err);
    if (status == ND_OK)
        status = judge_short(&r, err);
    if (status == ND_OK && !order_keys(texts))
        status = no_memory(err);
    nd_tokeniser_free(r.tokeniser);
    nd_sketcher_free(r.sketcher);
    nd_parser_free(r.parser);
    return status;
}

void nd_traced_texts_release(struct nd_traced_texts *texts)
{
    for (size_t i = 0; i < texts->n; i++) {
        nd_name_release(&texts->text[i].name);
        free(texts->text[i].tokens.hash);
        free(texts->text[i].tokens.place);
    }
    free(texts->text);
    free(texts->key);
    nd_hash_set_release(&texts->values);
    *texts = (struct nd_traced_texts){.n = 0};
}
