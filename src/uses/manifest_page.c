/* manifest_page.c - the page of a run, made from its manifest afterwards */

/*
 * The manifest is read twice: first for the numbers and for the removals that the page shows, then for
 * the names of the largest clusters, whose sizes are known only at its end. A row costs 24 bytes: a hash
 * of the kept document, and a count. The documents of the chosen rows are then searched in the inputs, and
 * src/report/run_page.c writes the page as it does for a run.
 */
#include "evidence/counts.h"
#include "evidence/pair_evidence.h"
#include "report/html_page.h"
#include "report/run_page.h"
#include "run/run_parts.h"
#include "uses/row_documents.h"

#include <neardup/uses.h>

#include "base/hash.h"
#include "base/system/descriptor.h"
#include "base/system/naming.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The values of a row beside those that every reader of manifests has. */
enum { IDENTICAL, RESEMBLANCE, SHARED, OF_REMOVED, OF_KEPT, DISTANCE, VIA, DIFFERS, N_MORE };
static const char *const more_fields[] = {"identical",        "resemblance",   "shared",
                                          "shingles_removed", "shingles_kept", "distance",
                                          "via_resemblance",  "differs.in"};

_Static_assert(N_MORE == sizeof more_fields / sizeof *more_fields, "each has a name");

enum { NOTES_MAX = 8, NO_SOURCE = -1 };

/* A cluster, by a hash of its kept document's place and name. */
struct hashed_cluster {
    uint64_t key[2];
    uint64_t documents; /* once all rows are sorted; bit TOLD: its name has been met */
};
#define TOLD (UINT64_C(1) << 63)

/* A cluster with its name, and where its kept document is. */
struct named_cluster {
    struct nd_run_cluster shown;
    size_t source;
    uint64_t line;
};

/* An input by its name, "path" or "path!entry". */
struct named_source {
    char *name;
    size_t number;
};

struct from_manifest {
    struct nd_manifest manifest, again; /* `again`: of the second reading */
    bool has_header;
    struct named_source *source; /* by name; equal ones by number */
    size_t n_sources;
    struct hashed_cluster *row; /* of each removal, then of each cluster */
    size_t n_rows, capacity, n_told;
    uint64_t clusters[ND_CLUSTER_STEPS];
    struct named_cluster largest[ND_RUN_LARGEST];
    uint64_t least; /* documents of the smallest cluster that is shown */
    struct nd_run_cluster shown[ND_RUN_LARGEST];
    uint64_t measured[ND_MEASURED];
    struct nd_run_step step[ND_RUN_STEPS];
    uint64_t identified; /* rows that say how they were found */
    bool may_be_old;     /* a kept document could be one of --against */
    bool has_unmeasured; /* near ones without the measure that decided */
    struct nd_examples *examples;
    struct nd_row_documents documents;
    uint64_t n_found, n_missing, n_changed; /* pairs to show: with texts, without, with others */
    struct nd_run_page page;
    struct nd_json note[NOTES_MAX], room;
};

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

/* ---- Places ---------------------------------------------------------------------------------- */

static int by_source(const void *left, const void *right)
{
    const struct named_source *a = left, *b = right;
    const int order = strcmp(a->name, b->name);

    return order ? order : a->number < b->number ? -1 : a->number > b->number;
}

/* Take the names of the inputs from the header. */
static enum nd_status take_header(void *context, struct nd_error *err)
{
    struct from_manifest *x = context;
    const struct nd_manifest *m = &x->manifest;

    x->has_header = true;
    if (m->has_recipe && nd_recipe_params_check(&m->recipe, NULL) != ND_OK)
        x->manifest.has_recipe = false;
    x->source = calloc(m->n_sources + 1, sizeof *x->source);
    if (!x->source)
        return no_memory(err);
    for (; x->n_sources < m->n_sources; x->n_sources++) {
        const struct nd_manifest_source *s = &m->source[x->n_sources];
        const size_t len = strlen(s->path) + strlen(s->entry) + 2;
        char *name = malloc(len);

        if (!name)
            return no_memory(err);
        snprintf(name, len, "%s%s%s", s->path, s->entry[0] ? "!" : "", s->entry);
        x->source[x->n_sources] = (struct named_source){name, x->n_sources};
    }
    if (x->n_sources)
        qsort(x->source, x->n_sources, sizeof *x->source, by_source);
    return ND_OK;
}

/* Find the number of an input; NO_SOURCE: there is none of this name. */
static long find_source(const struct from_manifest *x, struct nd_view name)
{
    size_t from = 0, to = x->n_sources;

    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        const char *here = x->source[middle].name;
        const int order = strncmp(here, name.data, name.len);

        if (order < 0)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == x->n_sources || strlen(x->source[from].name) != name.len ||
        memcmp(x->source[from].name, name.data, name.len) != 0)
        return NO_SOURCE;
    return (long)x->source[from].number;
}

/* Divide a place into the number of its input and its line; 0: it has none. */
static long divide_place(const struct from_manifest *x, struct nd_view at, uint64_t *line)
{
    size_t digits = 0;
    long number;

    *line = 0;
    number = at.data ? find_source(x, at) : NO_SOURCE;
    if (number != NO_SOURCE || !at.data)
        return number;
    while (digits < at.len && at.data[at.len - digits - 1] >= '0' &&
           at.data[at.len - digits - 1] <= '9')
        digits++;
    if (!digits || digits == at.len || at.data[at.len - digits - 1] != ':')
        return NO_SOURCE;
    for (size_t i = at.len - digits; i < at.len; i++)
        *line = *line * 10 + (uint64_t)(at.data[i] - '0');
    return find_source(x, (struct nd_view){at.data, at.len - digits - 1});
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* A row as the manifest has it. */
struct read_row {
    struct nd_view removed, removed_at, kept, kept_at;
    const struct nd_field *more;
    uint64_t line;
};

static bool is_word(struct nd_view value, const char *word)
{
    return value.data && value.len == strlen(word) && memcmp(value.data, word, value.len) == 0;
}

/* False: it is no number. */
static bool read_number(struct nd_view value, double *number)
{
    char text[64], *end;

    if (!value.data || !value.len || value.len >= sizeof text)
        return false;
    memcpy(text, value.data, value.len);
    text[value.len] = '\0';
    *number = strtod(text, &end);
    return end == text + value.len && *number >= 0;
}

/* Read the overlap of a pair. False: the row does not have it. */
static bool read_overlap(const struct nd_field *more, struct nd_overlap *o)
{
    double shared, a, b;

    if (!read_number(more[SHARED].value, &shared) || !read_number(more[OF_REMOVED].value, &a) ||
        !read_number(more[OF_KEPT].value, &b))
        return false;
    *o = (struct nd_overlap){.a = (uint64_t)a, .b = (uint64_t)b, .shared = (uint64_t)shared};
    return true;
}

static const struct nd_dedup_params *params_of(const struct from_manifest *x)
{
    return x->manifest.has_recipe ? &x->manifest.recipe.dedup : NULL;
}

/* The measure that decided; below 0: it is not known. */
static double measure_of(const struct from_manifest *x, const struct read_row *row)
{
    const struct nd_dedup_params *params = params_of(x);
    struct nd_overlap overlap;
    double resemblance;

    if (params && read_overlap(row->more, &overlap))
        return nd_measured_value(params, &overlap);
    return !params && read_number(row->more[RESEMBLANCE].value, &resemblance) ? resemblance : -1;
}

static void count_measured(struct from_manifest *x, const struct read_row *row)
{
    const struct nd_dedup_params *params = params_of(x);
    const bool has_via = params && params->cluster == ND_CLUSTER_COMPONENTS;
    struct nd_overlap overlap;
    double via;

    if (!params || params->verify == ND_VERIFY_NONE)
        return;
    if (!has_via && read_overlap(row->more, &overlap))
        nd_measured_count(x->measured, params, &overlap, &overlap);
    else if (has_via && params->verify == ND_VERIFY_JACCARD &&
             read_number(row->more[VIA].value, &via))
        nd_measured_count_value(x->measured, params, via);
    else
        x->has_unmeasured = true;
}

/* Whether the kept document is one of --against, of which no text is kept: its place is in no input. */
static bool is_old(struct from_manifest *x, const struct read_row *row)
{
    uint64_t line;

    if (!x->manifest.has_against)
        return false;
    if (divide_place(x, row->kept_at, &line) == NO_SOURCE)
        return true;
    x->may_be_old = true;
    return false;
}

static bool read_class(struct nd_view word, enum nd_differs *by)
{
    for (int i = ND_DIFFERS_NOTHING; i <= ND_DIFFERS_WORDS; i++)
        if (is_word(word, nd_differs_name((enum nd_differs)i))) {
            *by = (enum nd_differs)i;
            return true;
        }
    return false;
}

static enum nd_status note_example(struct from_manifest *x, const struct read_row *row,
                                   struct nd_error *err)
{
    struct nd_example e = {.measure = measure_of(x, row),
                           .distance = UINT32_MAX,
                           .name = {row->kept, row->removed},
                           .at = {nd_text_there(row->kept_at), nd_text_there(row->removed_at)},
                           .number = row->line};
    double distance;

    if (read_number(row->more[DISTANCE].value, &distance))
        e.distance = (unsigned)distance;
    e.has_class = read_class(row->more[DIFFERS].value, &e.by);
    return nd_examples_wants(x->examples, &e) ? nd_examples_add(x->examples, &e, err) : ND_OK;
}

static bool add_to_cluster(struct from_manifest *x, const struct read_row *row)
{
    struct hashed_cluster *c;

    if (!row->kept.data)
        return true;
    if (!ND_RESERVE(x->row, &x->capacity, x->n_rows + 1))
        return false;
    c = &x->row[x->n_rows++];
    *c = (struct hashed_cluster){.documents = 1};
    c->key[0] = nd_hash_bytes(row->kept_at.data, row->kept_at.len);
    c->key[1] = nd_hash_bytes(row->kept.data, row->kept.len);
    return true;
}

static struct read_row row_of(const struct nd_document *row, struct nd_view at, struct nd_view kept,
                              struct nd_view kept_at, uint64_t line)
{
    return (struct read_row){row->id, at, kept, kept_at, row->fields + ND_MANIFEST_FIELDS, line};
}

static enum nd_status take_row(void *context, const struct nd_document *removed, struct nd_view at,
                               struct nd_view kept, struct nd_view kept_at, uint64_t line,
                               struct nd_error *err)
{
    struct from_manifest *x = context;
    const struct read_row row = row_of(removed, at, kept, kept_at, line);
    const struct nd_view identical = row.more[IDENTICAL].value;
    const bool is_old_pair = is_old(x, &row);
    enum nd_status status = ND_OK;

    x->page.removed++;
    x->identified += identical.data != NULL;
    x->page.identical_bytes += is_word(identical, "bytes");
    x->page.identical_tokens += is_word(identical, "tokens");
    if (is_word(identical, "no")) {
        x->page.near++;
        count_measured(x, &row);
    }
    if (!is_old_pair && kept.data && !is_word(identical, "bytes") && !is_word(identical, "tokens"))
        status = note_example(x, &row, err);
    if (status == ND_OK && !is_old_pair && !add_to_cluster(x, &row))
        status = no_memory(err);
    return status;
}

static enum nd_status take_skipped(void *context, struct nd_view at, struct nd_error *err)
{
    struct from_manifest *x = context;

    (void)at, (void)err;
    x->page.bad_records++;
    return ND_OK;
}

static enum nd_status refuse_cluster(void *context, const struct nd_cluster_line *parts,
                                     uint64_t line, struct nd_error *err)
{
    const struct from_manifest *x = context;

    (void)parts;
    return nd_fail(err, ND_EINPUT,
                   "%s:%" PRIu64 ": not a manifest: a report is made from what dedup --manifest "
                   "writes, and a file of clusters does not say why documents were removed",
                   x->manifest.path, line);
}

/* ---- Clusters -------------------------------------------------------------------------------- */

static int by_key(const void *left, const void *right)
{
    const struct hashed_cluster *a = left, *b = right;

    if (a->key[0] != b->key[0])
        return a->key[0] < b->key[0] ? -1 : 1;
    return a->key[1] < b->key[1] ? -1 : a->key[1] > b->key[1];
}

/* Make one cluster of all rows with the same kept document, and find how many documents the smallest
 * of the largest ones has. */
static void join_rows(struct from_manifest *x)
{
    uint64_t most[ND_RUN_LARGEST] = {0};
    size_t n = 0;

    if (x->n_rows)
        qsort(x->row, x->n_rows, sizeof *x->row, by_key);
    for (size_t i = 0; i < x->n_rows; i++)
        if (n && by_key(&x->row[n - 1], &x->row[i]) == 0) {
            x->row[n - 1].documents++;
        } else {
            x->row[n] = x->row[i];
            x->row[n++].documents = 2;
        }
    x->n_rows = n;
    for (size_t i = 0; i < n; i++) {
        const uint64_t documents = x->row[i].documents;
        size_t at = ND_RUN_LARGEST;

        nd_cluster_step_count(x->clusters, documents);
        for (; at && most[at - 1] < documents; at--)
            if (at < ND_RUN_LARGEST)
                most[at] = most[at - 1];
        if (at < ND_RUN_LARGEST)
            most[at] = documents;
    }
    x->least = most[ND_RUN_LARGEST - 1] ? most[ND_RUN_LARGEST - 1] : 2;
    x->page.n_clusters = n;
}

/* Whether a is shown before b: it is larger, or as large and earlier in the inputs. */
static bool goes_before(const struct named_cluster *a, const struct named_cluster *b)
{
    if (a->shown.documents != b->shown.documents)
        return a->shown.documents > b->shown.documents;
    return a->source != b->source ? a->source < b->source : a->line < b->line;
}

static void offer(struct from_manifest *x, const struct named_cluster *c)
{
    size_t at = x->page.n_largest;

    if (at == ND_RUN_LARGEST && !goes_before(c, &x->largest[at - 1]))
        return;
    if (at == ND_RUN_LARGEST)
        at--;
    else
        x->page.n_largest++;
    for (; at && goes_before(c, &x->largest[at - 1]); at--)
        x->largest[at] = x->largest[at - 1];
    x->largest[at] = *c;
}

/* Name the cluster of a row in the second reading, if it may be one of the largest. */
static enum nd_status name_cluster(void *context, const struct nd_document *removed,
                                   struct nd_view at, struct nd_view kept, struct nd_view kept_at,
                                   uint64_t line, struct nd_error *err)
{
    struct from_manifest *x = context;
    const struct hashed_cluster wanted = {
        {nd_hash_bytes(kept_at.data, kept_at.len), nd_hash_bytes(kept.data, kept.len)}, 0};
    struct hashed_cluster *c = NULL;
    struct named_cluster named;
    long source;

    (void)removed, (void)at, (void)line, (void)err;
    if (kept.data && x->n_rows)
        c = bsearch(&wanted, x->row, x->n_rows, sizeof *x->row, by_key);
    if (!c || c->documents & TOLD)
        return ND_OK;
    x->n_told++;
    if (c->documents >= x->least) {
        source = divide_place(x, kept_at, &named.line);
        named.source = source == NO_SOURCE ? SIZE_MAX : (size_t)source;
        named.shown.documents = c->documents;
        nd_name_show(kept, named.shown.id, sizeof named.shown.id);
        offer(x, &named);
    }
    c->documents |= TOLD;
    return ND_OK;
}

static enum nd_status keep_line(void *context, const struct nd_cluster_line *parts, uint64_t line,
                                struct nd_error *err)
{
    (void)context, (void)parts, (void)line, (void)err;
    return ND_OK;
}

static enum nd_status name_clusters(struct from_manifest *x, const char *path, struct nd_error *err)
{
    const struct nd_manifest_hooks hooks = {
        .row = name_cluster, .cluster = keep_line, .context = x};
    enum nd_status status = nd_manifest_each(&x->again, path, &hooks, err);

    if (status == ND_OK && x->n_told < x->n_rows)
        status =
            nd_fail(err, ND_ECHANGED,
                    "%s: it is read twice, and the second time it was another: name a file", path);
    for (size_t i = 0; i < x->page.n_largest; i++)
        x->shown[i] = x->largest[i].shown;
    x->page.largest = x->shown;
    return status;
}

/* ---- Texts ----------------------------------------------------------------------------------- */

static char *copy_view(struct nd_view text)
{
    char *copy = malloc(text.len + 1);

    if (copy && text.len)
        memcpy(copy, text.data, text.len);
    if (copy)
        copy[text.len] = '\0';
    return copy;
}

static int by_number(const void *left, const void *right)
{
    const struct nd_manifest_row *a = left, *b = right;

    return a->number < b->number ? -1 : a->number > b->number;
}

/* Make rows of the chosen examples, as a search takes them. */
static enum nd_status list_wanted(struct from_manifest *x, struct nd_error *err)
{
    struct nd_manifest *m = &x->manifest;

    m->row = calloc(ND_EXAMPLES_CLOSEST + ND_EXAMPLES_SAMPLE, sizeof *m->row);
    if (!m->row)
        return no_memory(err);
    m->capacity = ND_EXAMPLES_CLOSEST + ND_EXAMPLES_SAMPLE;
    for (unsigned list = 0; list < 2; list++) {
        const struct nd_example *e;

        for (size_t i = 0;
             (e = list ? nd_examples_sampled(x->examples, i) : nd_examples_closest(x->examples, i));
             i++) {
            struct nd_manifest_row *row = &m->row[m->n_rows++];

            row->number = e->number;
            for (unsigned k = 0; k < 2; k++) {
                row->name[k] = copy_view(e->name[k]);
                row->at[k] = copy_view(e->at[k]);
                if (!row->name[k] || !row->at[k])
                    return no_memory(err);
            }
        }
    }
    if (m->n_rows)
        qsort(m->row, m->n_rows, sizeof *m->row, by_number);
    return ND_OK;
}

static const struct nd_held *held_of(const struct from_manifest *x, uint64_t number)
{
    const struct nd_manifest_row wanted = {.number = number};
    const struct nd_manifest_row *row =
        bsearch(&wanted, x->manifest.row, x->manifest.n_rows, sizeof *x->manifest.row, by_number);

    return &x->documents.held[2 * (row - x->manifest.row)];
}

/* Whether two texts measure something else than the manifest says. */
static enum nd_status find_change(const struct from_manifest *x, const struct nd_held *held,
                                  struct nd_example *e, struct nd_error *err)
{
    const struct nd_dedup_params *params = params_of(x);
    struct nd_two_sketches now;
    enum nd_status status;

    if (!params || e->measure < 0)
        return ND_OK;
    status = nd_two_sketches(&x->manifest.recipe.dedup.sketch, ND_BOTH(held), &now, err);
    if (status == ND_OK) {
        const struct nd_overlap o = {
            .a = now.overlap.b, .b = now.overlap.a, .shared = now.overlap.shared};
        const double measure = nd_measured_value(params, &o);

        e->has_changed = measure < e->measure || measure > e->measure;
    }
    return status;
}

/* The nd_example_texts of the page: those of the documents that were found. */
static enum nd_status give_texts(void *context, struct nd_example *e, unsigned worker,
                                 struct nd_error *err)
{
    struct from_manifest *x = context;
    const struct nd_held *held = held_of(x, e->number);

    (void)worker;
    if (!held[0].is_found || !held[1].is_found)
        return ND_OK;
    e->text[0] = nd_text_there(held[0].document.text);
    e->text[1] = nd_text_there(held[1].document.text);
    return find_change(x, held, e, err);
}

static bool is_sampled(const struct from_manifest *x, uint64_t number)
{
    const struct nd_example *e;

    for (size_t i = 0; (e = nd_examples_sampled(x->examples, i)); i++)
        if (e->number == number)
            return true;
    return false;
}

static void count_example(struct from_manifest *x, const struct nd_example *e)
{
    const bool is_found = e->text[0].data && e->text[1].data;

    x->n_found += is_found;
    x->n_missing += !is_found;
    x->n_changed += e->has_changed;
}

/* Count the pairs to show; one may be among the least certain and in the sample. */
static void count_examples(struct from_manifest *x)
{
    const struct nd_example *e;

    for (size_t i = 0; (e = nd_examples_sampled(x->examples, i)); i++)
        count_example(x, e);
    for (size_t i = 0; (e = nd_examples_closest(x->examples, i)); i++)
        if (!is_sampled(x, e->number))
            count_example(x, e);
}

static enum nd_status end_examples(struct from_manifest *x, const struct nd_run_options *options,
                                   struct nd_error *err)
{
    struct nd_pool *pool = nd_pool_new(options->threads, err);
    enum nd_status status = pool ? ND_OK : ND_ENOMEM;

    if (pool)
        status = nd_examples_end(x->examples, pool, give_texts, x, err);
    nd_pool_free(pool);
    count_examples(x);
    return status;
}

/* ---- What the manifest does not say ---------------------------------------------------------- */

static struct nd_json *begin_note(struct from_manifest *x, const char *text)
{
    struct nd_json *note = &x->note[x->page.n_notes++];

    nd_json_bytes(note, text, strlen(text));
    return note;
}

static void put_words(struct nd_json *note, const char *text)
{
    nd_json_bytes(note, text, strlen(text));
}

static void note_header(struct from_manifest *x)
{
    const struct nd_dedup_params *params = params_of(x);

    if (!x->has_header)
        begin_note(x, "The manifest has no first line of neardup, so it does not say how many "
                      "documents were read, nor by which recipe.");
    else if (x->page.documents == ND_PAGE_UNKNOWN)
        begin_note(x, "The manifest does not say of all inputs how many documents they had.");
    if (x->has_header && !params)
        begin_note(x, "Its recipe is none that this version of neardup can read, so how near the "
                      "documents are is not shown.");
    if (x->has_unmeasured && x->page.near)
        begin_note(x,
                   "The manifest does not have the measure that decided for all documents, so how "
                   "near they are is not shown.");
    if (x->may_be_old)
        begin_note(x,
                   "The manifest does not tell documents of --against from those that the inputs "
                   "have at the same places: both are taken for documents of the inputs.");
    if (x->page.removed && x->identified == 0)
        begin_note(x, "The manifest does not say which documents were equal and which near.");
}

static void note_texts(struct from_manifest *x)
{
    const struct nd_row_documents *d = &x->documents;
    struct nd_json *note;

    if (x->n_missing) {
        note = begin_note(x, "The texts of ");
        nd_html_count(note, x->n_missing);
        put_words(note, " of the ");
        nd_html_count(note, x->n_missing + x->n_found);
        put_words(note, " pairs of documents that would be shown were not found.");
    }
    if (d->n_missing) {
        note = begin_note(x, "This input is not here: ");
        put_words(note, d->first_missing);
        if (d->n_missing > 1) {
            put_words(note, "; nor are ");
            nd_html_count(note, d->n_missing - 1);
            put_words(note, " others");
        }
        put_words(note, ".");
    }
    if (x->n_changed) {
        note = begin_note(x, "In ");
        nd_html_count(note, x->n_changed);
        put_words(note, x->n_changed == 1 ? " pair the texts are others than in the run."
                                          : " pairs the texts are others than in the run.");
    }
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* Count what was read, if the header says it of all inputs. */
static void count_documents(struct from_manifest *x)
{
    const struct nd_manifest *m = &x->manifest;
    uint64_t records = 0;
    bool is_known = x->has_header;

    for (size_t i = 0; is_known && i < m->n_sources; i++) {
        is_known = m->source[i].has_records;
        records += m->source[i].records;
    }
    x->page.documents = is_known ? records - x->page.bad_records : ND_PAGE_UNKNOWN;
    x->page.kept = is_known ? x->page.documents - x->page.removed : ND_PAGE_UNKNOWN;
}

static enum nd_status read_rows(struct from_manifest *x, const char *path, struct nd_error *err)
{
    const struct nd_manifest_hooks hooks = {.row = take_row,
                                            .cluster = refuse_cluster,
                                            .context = x,
                                            .header = take_header,
                                            .skipped = take_skipped,
                                            .fields = more_fields,
                                            .n_fields = N_MORE};
    enum nd_status status = nd_manifest_each(&x->manifest, path, &hooks, err);

    if (status != ND_OK)
        return status;
    if (x->manifest.has_prototypes)
        return nd_fail(err, ND_EINPUT,
                       "%s: a manifest of filter, which removes nothing: a report is made from one "
                       "of dedup",
                       path);
    if (!x->has_header && !x->page.removed)
        return nd_fail(err, ND_EINPUT, "%s: not a manifest: it has no rows and no first line",
                       path);
    count_documents(x);
    join_rows(x);
    return ND_OK;
}

/* Fill in what follows from all rows. */
static void complete_page(struct from_manifest *x)
{
    const struct nd_dedup_params *params = params_of(x);
    struct nd_run_page *page = &x->page;

    if (page->removed && x->identified == 0)
        page->identical_bytes = page->identical_tokens = page->near = ND_PAGE_UNKNOWN;
    if (x->manifest.recipe_text)
        page->recipe = (struct nd_view){x->manifest.recipe_text, strlen(x->manifest.recipe_text)};
    if (params && params->verify != ND_VERIFY_NONE)
        page->measured_by = nd_dedup_measure(params);
    if (page->measured_by && !x->has_unmeasured) {
        page->n_measured = nd_measured_steps(x->measured, params, x->step);
        page->measured = x->step;
    }
    note_header(x);
    note_texts(x);
    page->clusters = x->clusters;
    page->examples = x->examples;
    page->note = x->note;
}

static enum nd_status search_texts(struct from_manifest *x, struct nd_run *run,
                                   struct nd_error *err)
{
    enum nd_status status = list_wanted(x, err);

    nd_manifest_take_reading(&run->input, &x->manifest);
    run->input.fields = run->fields.name;
    run->input.n_fields = 0;
    if (status == ND_OK)
        status = nd_row_documents_find(&x->documents, run, &x->manifest, true, err);
    return status;
}

/* Check that the output is none of the files that are read. */
static enum nd_status claim(const struct from_manifest *x, struct nd_run *run, struct nd_error *err)
{
    const struct nd_run_options *o = run->options;
    enum nd_status status = nd_run_note_reads(run, o->paths, o->n_paths, err);

    for (size_t i = 0; status == ND_OK && !o->n_paths && i < x->manifest.n_paths; i++)
        if (nd_path_exists(x->manifest.paths[i]))
            status = nd_publisher_read_path(&run->outputs.publisher, x->manifest.paths[i], err);
    return status == ND_OK ? nd_publisher_claim(&run->outputs.publisher, o->output, NULL, err)
                           : status;
}

static enum nd_status write_page(struct from_manifest *x, struct nd_run *run,
                                 const struct nd_report_params *params, struct nd_error *err)
{
    struct nd_output *out = NULL;
    size_t n_published;
    enum nd_status status = nd_publisher_read_path(&run->outputs.publisher, params->manifest, err);

    if (status == ND_OK)
        status = read_rows(x, params->manifest, err);
    if (status == ND_OK)
        status = claim(x, run, err);
    if (status == ND_OK)
        status = name_clusters(x, params->manifest, err);
    if (status == ND_OK)
        status = search_texts(x, run, err);
    if (status == ND_OK)
        status = end_examples(x, run->options, err);
    if (status == ND_OK && !(out = nd_outputs_open_one(&run->outputs, err)))
        status = err->status ? err->status : ND_EIO;
    if (status != ND_OK)
        return status;
    complete_page(x);
    status = nd_run_page_write(&x->page, out, err);
    if (status != ND_OK) {
        nd_output_discard(out);
        return status;
    }
    status = nd_output_finish(out, err);
    return status == ND_OK ? nd_publisher_publish(&run->outputs.publisher, &n_published, err)
                           : status;
}

static void release(struct from_manifest *x)
{
    for (size_t i = 0; x->source && i < x->n_sources; i++)
        free(x->source[i].name);
    free(x->source);
    free(x->row);
    for (unsigned i = 0; i < NOTES_MAX; i++)
        nd_json_release(&x->note[i]);
    nd_json_release(&x->room);
    nd_examples_free(x->examples);
    nd_row_documents_release(&x->documents);
    nd_manifest_release(&x->manifest);
    nd_manifest_release(&x->again);
}

/* Whether a file can be read only once. One that is not there is none. */
static bool is_stream(const char *path)
{
    struct nd_file_about s;

    return strcmp(path, "-") == 0 || (nd_path_about(path, &s) && s.kind != ND_FILE_REGULAR);
}

enum nd_status nd_run_report(const struct nd_run_options *options,
                             const struct nd_report_params *params,
                             const struct nd_run_events *events, struct nd_use_summary *summary,
                             struct nd_error *err)
{
    static const struct nd_run_request request = {.writes_output = true};
    struct from_manifest x = {.examples = nd_examples_new()};
    struct nd_error room = {0};
    struct nd_run run;
    enum nd_status status = ND_OK;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    *summary = (struct nd_use_summary){.documents = 0};
    if (!params->manifest || is_stream(params->manifest))
        status = nd_fail(err, ND_EINVAL,
                         "report reads the manifest twice, so it cannot be a pipe: name its file");
    else if (options->df_auto)
        status = nd_fail(err, ND_EINVAL, "report compares nothing: it has no --df");
    else if (!x.examples)
        status = no_memory(err);
    if (status != ND_OK) {
        nd_examples_free(x.examples);
        return status;
    }
    status = nd_run_begin_recipe(&run, options, &request, events, NULL, err);
    if (status == ND_OK)
        status = write_page(&x, &run, params, err);
    summary->documents = x.page.removed;
    summary->found = x.n_found;
    summary->left_out = x.n_missing;
    release(&x);
    nd_run_end(&run);
    return nd_run_status(status, err);
}
