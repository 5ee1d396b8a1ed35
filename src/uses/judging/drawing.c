/* drawing.c - a sample of pairs for people to judge: of strata, or of the pairs of some documents */

/*
 * Memory holds the pairs, 24 bytes each, and the texts of those that are drawn. A pair is drawn by a
 * hash of its two names and the seed: of each stratum the pairs with the lowest hashes. So the sample
 * does not depend on the order of the file, and a larger sample of a stratum contains a smaller one.
 */
#include <neardup/judging.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "evidence/name.h"
#include "uses/eval/evaluation.h"
#include "uses/judging/judging_page.h"
#include "uses/judging/strata.h"
#include "uses/use.h"

/* A pair, while it is chosen and when it has been. */
struct drawn_pair {
    uint64_t priority;
    size_t pair;
    uint32_t stratum;
    uint32_t document; /* that was drawn, and whose pair it is; 0: pairs are drawn */
};

struct sampling {
    const struct nd_sample_params *params;
    const struct nd_run_options *options;
    const struct nd_run_events *events;
    struct nd_eval_ids ids;
    struct nd_relation pairs;
    struct nd_strata strata;
    struct drawn_pair *drawn;
    size_t n_drawn, drawn_capacity;
    char **text; /* by the number of a document: that of a drawn one, once it was read */
    size_t *text_len;
    bool *is_wanted; /* likewise: the text, or the document itself with `recalls` */
    uint64_t n_documents;
    struct nd_use documents, rows;
};

struct nd_sample_params nd_sample_params_default(void)
{
    return (struct nd_sample_params){
        .size = 100, .seed = 1, .half_width = {0, 1}, .expected = {1, 2}};
}

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

/* ---- The documents --------------------------------------------------------------------------- */

/* Refuse an id that a document before this one has. */
static enum nd_status refuse_again(const struct nd_parsed *parsed, struct nd_view name,
                                   struct nd_error *err)
{
    char shown[100];

    nd_name_show(name, shown, sizeof shown);
    return nd_fail(err, ND_EINPUT,
                   "%s:%" PRIu64 ": the id '%s' again: each document needs an id of its own",
                   parsed->source->path, parsed->record.line, shown);
}

/* Keep the text of a document that is wanted. */
static enum nd_status take_text(void *context, const struct nd_parsed *parsed, struct nd_error *err)
{
    struct sampling *s = context;
    const struct nd_name name = nd_use_name(&s->documents, parsed);
    const struct nd_view text = parsed->document.text;
    struct nd_view plain;
    uint32_t id;

    if (!nd_eval_ids_plain(&s->ids, name.text, &plain))
        return no_memory(err);
    id = nd_groups_find(&s->ids.names, plain);
    if (!id || !s->is_wanted[id])
        return ND_OK;
    if (s->text[id])
        return refuse_again(parsed, name.text, err);
    s->text[id] = malloc(text.len + 1);
    if (!s->text[id])
        return no_memory(err);
    memcpy(s->text[id], text.data, text.len);
    s->text_len[id] = text.len;
    return ND_OK;
}

static enum nd_status read_texts(struct sampling *s, struct nd_error *err)
{
    static const struct nd_run_request request = {.ignores_signatures = true};
    const size_t n = s->ids.names.count;
    enum nd_status status;

    s->text = calloc(n + 1, sizeof *s->text);
    s->text_len = calloc(n + 1, sizeof *s->text_len);
    memset(s->is_wanted, 0, n + 1);
    if (!s->text || !s->text_len)
        return no_memory(err);
    for (size_t i = 0; i < s->n_drawn; i++) {
        const uint64_t ids = s->pairs.pair[s->drawn[i].pair].ids;

        s->is_wanted[ids >> 32] = s->is_wanted[(uint32_t)ids] = true;
    }
    status = nd_use_begin(&s->documents, s->options, &request, s->events, err);
    if (status == ND_OK)
        status = nd_use_walk(&s->documents, -1, take_text, s, err);
    status = nd_use_end(&s->documents, status, 0, NULL, err);
    for (size_t id = 1; status == ND_OK && id <= n; id++)
        if (s->is_wanted[id] && !s->text[id]) {
            char shown[100];

            nd_name_show(s->ids.names.value[id - 1], shown, sizeof shown);
            status = nd_fail(err, ND_EINPUT, "%s: no document of --documents has the id '%s'",
                             s->params->pairs, shown);
        }
    return status;
}

/* ---- Drawing --------------------------------------------------------------------------------- */

static uint64_t hash_of(const struct sampling *s, uint32_t id)
{
    const struct nd_view name = s->ids.names.value[id - 1];

    return nd_hash_bytes(name.data, name.len);
}

/* A number that depends on the seed and on the names, not on their order. */
static uint64_t priority_of(const struct sampling *s, uint64_t hash)
{
    return nd_mix64(nd_mix64(s->params->seed) + hash);
}

static int by_priority(const void *left, const void *right)
{
    const struct drawn_pair *a = left, *b = right;

    if (a->stratum != b->stratum)
        return a->stratum < b->stratum ? -1 : 1;
    if (a->priority != b->priority)
        return a->priority < b->priority ? -1 : 1;
    return a->pair < b->pair ? -1 : a->pair > b->pair;
}

/* The order in which they are shown: mixed again, so that it says nothing of what comes first. */
static int by_order(const void *left, const void *right)
{
    const struct drawn_pair *a = left, *b = right;
    const uint64_t x = nd_mix64(a->priority + 1), y = nd_mix64(b->priority + 1);

    if (x != y)
        return x < y ? -1 : 1;
    return a->pair < b->pair ? -1 : a->pair > b->pair;
}

static enum nd_status choose_pairs(struct sampling *s, const uint32_t *of, struct nd_error *err)
{
    const size_t n = s->pairs.n_pairs;
    struct drawn_pair *all = nd_alloc_array(n + 1, sizeof *all);
    uint64_t taken = 0;

    if (!all)
        return no_memory(err);
    for (size_t i = 0; i < n; i++) {
        const uint64_t ids = s->pairs.pair[i].ids;

        all[i] = (struct drawn_pair){
            priority_of(s, hash_of(s, (uint32_t)(ids >> 32)) + hash_of(s, (uint32_t)ids)), i, of[i],
            0};
    }
    qsort(all, n, sizeof *all, by_priority);
    for (size_t i = 0; i < n; i++) {
        taken = i && all[i].stratum == all[i - 1].stratum ? taken + 1 : 0;
        if (taken < s->strata.at[all[i].stratum].drawn)
            all[s->n_drawn++] = all[i];
    }
    s->drawn = all;
    return ND_OK;
}

static enum nd_status draw_pairs(struct sampling *s, struct nd_sample_summary *summary,
                                 struct nd_error *err)
{
    const struct nd_sample_params *p = s->params;
    const double expected = (double)p->expected.p / (double)p->expected.q;
    uint32_t *of = nd_alloc_array(s->pairs.n_pairs + 1, sizeof *of);
    enum nd_status status = of ? nd_strata_divide(&s->strata, &s->pairs, of, err) : no_memory(err);

    if (status == ND_OK) {
        uint64_t size = p->size;

        summary->half_width =
            p->half_width.p ? (double)p->half_width.p / (double)p->half_width.q : INFINITY;
        if (p->half_width.p)
            size = nd_strata_size_for(&s->strata, &summary->half_width, expected, p->equally);
        else if (size < s->strata.n)
            status =
                nd_fail(err, ND_EINVAL, "a sample of %" PRIu64 " pairs is too small for %zu strata",
                        size, s->strata.n);
        if (!p->half_width.p) {
            nd_strata_allocate(&s->strata, size, p->equally);
            summary->half_width = nd_strata_half_width(&s->strata, expected);
        }
    }
    if (status == ND_OK)
        status = choose_pairs(s, of, err);
    free(of);
    return status;
}

/* Draw documents, and take all pairs that one of them is in. */
static enum nd_status choose_documents(struct sampling *s, struct nd_error *err)
{
    const size_t n = s->ids.n_known;
    struct drawn_pair *document = nd_alloc_array(n + 1, sizeof *document);

    if (!document)
        return no_memory(err);
    for (size_t i = 0; i < n; i++)
        document[i] = (struct drawn_pair){priority_of(s, hash_of(s, (uint32_t)i + 1)), i + 1, 0, 0};
    qsort(document, n, sizeof *document, by_priority);
    for (size_t i = 0; i < n && i < s->params->size; i++)
        s->is_wanted[document[i].pair] = true;
    free(document);
    return ND_OK;
}

static enum nd_status add_drawn(struct sampling *s, size_t pair, uint32_t document, uint32_t other,
                                struct nd_error *err)
{
    const uint64_t hash = nd_mix64(hash_of(s, document)) + hash_of(s, other);

    if (!ND_RESERVE(s->drawn, &s->drawn_capacity, s->n_drawn + 1))
        return no_memory(err);
    s->drawn[s->n_drawn++] = (struct drawn_pair){priority_of(s, hash), pair, 0, document};
    return ND_OK;
}

static enum nd_status draw_documents(struct sampling *s, struct nd_sample_summary *summary,
                                     struct nd_error *err)
{
    const size_t n = s->ids.n_known;
    bool *has_pair = calloc(n + 1, sizeof *has_pair);
    enum nd_status status = has_pair ? choose_documents(s, err) : no_memory(err);

    for (size_t i = 0; status == ND_OK && i < s->pairs.n_pairs; i++) {
        const uint64_t ids = s->pairs.pair[i].ids;
        const uint32_t a = (uint32_t)(ids >> 32), b = (uint32_t)ids;

        if (s->is_wanted[a])
            status = add_drawn(s, i, a, b, err);
        if (status == ND_OK && s->is_wanted[b])
            status = add_drawn(s, i, b, a, err);
        has_pair[a] = has_pair[b] = true;
    }
    for (size_t id = 1; status == ND_OK && id <= n; id++) {
        summary->documents_drawn += s->is_wanted[id];
        summary->documents_paired += s->is_wanted[id] && has_pair[id];
    }
    summary->documents = n;
    free(has_pair);
    return status;
}

/* ---- What is written ------------------------------------------------------------------------- */

/* The two documents of a pair; of those that were drawn, the drawn one first. */
static void two_of(const struct sampling *s, const struct drawn_pair *d, uint32_t id[2])
{
    const uint64_t ids = s->pairs.pair[d->pair].ids;

    id[0] = (uint32_t)(ids >> 32);
    id[1] = (uint32_t)ids;
    if (d->document == id[1]) {
        id[1] = id[0];
        id[0] = d->document;
    }
}

/* The cells of a row behind its label. */
struct behind {
    char stratum[ND_STRATUM_NAME];
    uint64_t size; /* pairs of the stratum; documents there are, where these are drawn */
    bool is_listed;
};

static struct behind behind_of(const struct sampling *s, const struct drawn_pair *d)
{
    struct behind out = {.is_listed = s->pairs.pair[d->pair].label == ND_LABEL_SAME};

    if (s->params->recalls) {
        out.size = s->ids.n_known;
    } else {
        nd_stratum_name(&s->strata.at[d->stratum], out.stratum);
        out.size = s->strata.at[d->stratum].pairs;
    }
    return out;
}

static enum nd_status put_row(struct sampling *s, const struct drawn_pair *d, FILE *stream,
                              struct nd_error *err)
{
    const struct nd_view *name = s->ids.names.value, none = {"", 0};
    const struct behind x = behind_of(s, d);
    enum nd_status status;
    uint32_t id[2];

    two_of(s, d, id);
    nd_cell_text(&s->rows, "a", name[id[0] - 1]);
    nd_cell_text(&s->rows, "b", name[id[1] - 1]);
    nd_cell_text(&s->rows, "label", none);
    nd_cell_uint(&s->rows, "listed", x.is_listed);
    nd_cell_text(&s->rows, "stratum", (struct nd_view){x.stratum, strlen(x.stratum)});
    nd_cell_uint(&s->rows, "of", x.size);
    nd_cell_text(&s->rows, "drawn", d->document ? name[d->document - 1] : none);
    status = nd_row_put(&s->rows, stream, err);
    return status == ND_OK && ferror(stream) ? nd_fail(err, ND_EIO, "cannot write") : status;
}

static enum nd_status put_plan(struct sampling *s, FILE *stream, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < s->strata.n; i++) {
        char name[ND_STRATUM_NAME];

        nd_stratum_name(&s->strata.at[i], name);
        nd_cell_text(&s->rows, "stratum", (struct nd_view){name, strlen(name)});
        nd_cell_uint(&s->rows, "listed", s->strata.at[i].is_listed);
        nd_cell_uint(&s->rows, "pairs", s->strata.at[i].pairs);
        nd_cell_uint(&s->rows, "drawn", s->strata.at[i].drawn);
        status = nd_row_put(&s->rows, stream, err);
    }
    return status == ND_OK && ferror(stream) ? nd_fail(err, ND_EIO, "cannot write") : status;
}

static enum nd_status put_page(struct sampling *s, FILE *stream, struct nd_error *err)
{
    struct nd_judging_page page = {.n = s->n_drawn};
    enum nd_status status = nd_judging_page_begin(&page, s->params->pairs, s->params->seed, err);

    for (size_t i = 0; status == ND_OK && i < s->n_drawn; i++) {
        const struct behind x = behind_of(s, &s->drawn[i]);
        const uint32_t document = s->drawn[i].document;
        struct nd_judging_case one = {
            .stratum = {x.stratum, strlen(x.stratum)}, .size = x.size, .is_listed = x.is_listed};
        uint32_t id[2];

        two_of(s, &s->drawn[i], id);
        for (unsigned k = 0; k < 2; k++) {
            one.name[k] = s->ids.names.value[id[k] - 1];
            one.text[k] = (struct nd_view){s->text[id[k]], s->text_len[id[k]]};
        }
        if (document)
            one.drawn = s->ids.names.value[document - 1];
        status = nd_judging_page_add(&page, &one, stream, err);
    }
    if (status == ND_OK)
        status = nd_judging_page_end(&page, stream, err);
    nd_judging_page_release(&page);
    return status;
}

static enum nd_status put_sample(struct sampling *s, FILE *rows, FILE *page, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (s->params->only_plans)
        return put_plan(s, rows, err);
    if (s->n_drawn)
        qsort(s->drawn, s->n_drawn, sizeof *s->drawn, by_order);
    for (size_t i = 0; status == ND_OK && i < s->n_drawn; i++)
        status = put_row(s, &s->drawn[i], rows, err);
    if (status == ND_OK && page)
        status = read_texts(s, err);
    return status == ND_OK && page ? put_page(s, page, err) : status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static enum nd_status check(const struct nd_run_options *options, const struct nd_sample_params *p,
                            bool has_page, struct nd_error *err)
{
    size_t n = strcmp(p->pairs ? p->pairs : "", "-") == 0;

    if (!p->pairs)
        return nd_fail(err, ND_EINVAL, "no pairs: name a file of pairs or a manifest");
    if ((has_page || p->recalls) && !options->n_paths)
        return nd_fail(err, ND_EINVAL, "%s needs the documents: name them with --documents",
                       p->recalls ? "--recall" : "--html");
    if (p->recalls && (p->strata || p->half_width.p || p->only_plans))
        return nd_fail(err, ND_EINVAL,
                       "with --recall documents are drawn: no --strata, --half-width or --dry-run");
    if (!p->size && !p->half_width.p)
        return nd_fail(err, ND_EINVAL, "the size of the sample must be at least 1");
    for (size_t i = 0; i < options->n_paths; i++)
        n += (p->recalls && has_page ? 2U : 1U) * (strcmp(options->paths[i], "-") == 0);
    return n < 2 ? ND_OK
                 : nd_fail(err, ND_EINVAL,
                           "only one file can be the standard input, and not one that is read "
                           "twice");
}

static enum nd_status read_pairs(struct sampling *s, struct nd_error *err)
{
    const struct nd_relation_request request = {
        .refuses_strangers = s->params->recalls != 0, .value = s->strata.column, .samples = true};
    enum nd_status status;

    s->ids.n_known = s->ids.names.count;
    status = nd_relation_read(&s->pairs, s->params->pairs, &request, &s->ids, err);
    if (status != ND_OK)
        return status;
    if (s->pairs.form != ND_EVAL_PAIRS && s->pairs.form != ND_EVAL_MANIFEST)
        return nd_fail(err, ND_EINPUT,
                       "%s: clusters have no pairs to draw: give pairs or a manifest",
                       s->params->pairs);
    if (!s->pairs.n_pairs)
        return nd_fail(err, ND_EINPUT, "%s: there is no pair", s->params->pairs);
    s->is_wanted = calloc(s->ids.names.count + 1, sizeof *s->is_wanted);
    return s->is_wanted ? ND_OK : no_memory(err);
}

static void release(struct sampling *s)
{
    for (size_t id = 1; s->text && id <= s->ids.names.count; id++)
        free(s->text[id]);
    free(s->text);
    free(s->text_len);
    free(s->is_wanted);
    free(s->drawn);
    nd_strata_release(&s->strata);
    nd_relation_release(&s->pairs);
    nd_eval_ids_release(&s->ids);
    nd_json_release(&s->rows.row);
    nd_json_release(&s->rows.head);
}

enum nd_status nd_run_sample(const struct nd_run_options *options,
                             const struct nd_sample_params *params,
                             const struct nd_run_events *events, FILE *rows, FILE *page,
                             struct nd_sample_summary *summary, struct nd_error *err)
{
    struct sampling s = {.params = params,
                         .options = options,
                         .events = events,
                         .rows = {.is_json = params->json != 0}};
    struct nd_sample_summary counts = {.half_width = 0};
    struct nd_error room = {0};
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    status = check(options, params, page != NULL, err);
    if (status == ND_OK)
        status = nd_strata_parse(&s.strata, params->strata, err);
    if (status == ND_OK && params->recalls)
        status = nd_eval_ids_read(&s.ids, NULL, options, events, err);
    if (status == ND_OK)
        status = read_pairs(&s, err);
    if (status == ND_OK)
        status = params->recalls ? draw_documents(&s, &counts, err) : draw_pairs(&s, &counts, err);
    if (status == ND_OK)
        status = put_sample(&s, rows, page, err);
    counts.pairs = s.pairs.n_pairs;
    counts.strata = s.strata.n;
    counts.drawn = s.n_drawn;
    if (status == ND_OK && summary)
        *summary = counts;
    release(&s);
    return nd_run_status(status, err);
}
