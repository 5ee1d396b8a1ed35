/* track.c - versions of documents over time: distances, changes, the next visit */

/*
 * Versions are grouped into documents by the value of a field, sorted by time, and each is compared
 * with the version before it by its simhash or its first signature. From these distances
 * src/engine/visits.c computes when to visit again. With --duplicates, the last versions of all
 * documents are deduplicated as well, and a document that duplicates another gets a lower priority.
 */
#include "recipe/keep.h"
#include "uses/use.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The last version of a series, by its number. */
struct last_version {
    struct nd_buffer record;
    const struct nd_source *source; /* NULL: there is no version */
    int64_t time;
};

struct version {
    uint64_t raw, simhash;
    size_t word, n_words; /* the signature, in `words` */
    bool is_rejected;
    int64_t time; /* microseconds since 1970 */
    size_t order; /* in the input */
    size_t id_at, id_len;
    uint32_t series;
    enum nd_id_kind id_kind;
};

/* The versions of one document, in order. */
struct series {
    size_t first, n;
    struct nd_visits visits;
    const struct version *like; /* last version of the document that it duplicates; or NULL */
    int64_t priority;
};

struct tracking {
    struct nd_use use;
    const struct nd_track_params *params;
    struct nd_groups names; /* of series */
    struct nd_json ids;
    uint64_t *word; /* of signatures */
    size_t n_words, words_room;
    struct last_version *last; /* if duplicates count */
    size_t n_last, last_capacity;
    struct version *version;
    size_t n, capacity;
    struct series *series;
    size_t n_series;
};

/* The fields to read of every document. */
enum { SERIES, TIME };

struct nd_track_params nd_track_params_default(void)
{
    return (struct nd_track_params){.visits = nd_visit_params_default()};
}

/* Keep the signature of a version.  False: out of memory. */
static bool keep_signature(struct tracking *t, const struct nd_signature *signature,
                           struct version *v)
{
    if (!ND_RESERVE(t->word, &t->words_room, t->n_words + signature->count + 1))
        return false;
    v->word = t->n_words;
    v->n_words = signature->count;
    v->is_rejected = signature->is_rejected != 0;
    if (signature->count)
        memcpy(t->word + t->n_words, signature->word, signature->count * sizeof *t->word);
    t->n_words += signature->count;
    return true;
}

/* Replace the version that is held by a newer one. False: out of memory. */
static bool hold_last(struct tracking *t, size_t number, const struct nd_parsed *parsed,
                      int64_t time)
{
    const struct nd_view record = parsed->record.bytes;
    struct last_version *v;

    if (!ND_RESERVE(t->last, &t->last_capacity, number + 1))
        return false;
    for (; number >= t->n_last; t->n_last++)
        t->last[t->n_last] = (struct last_version){.source = NULL};
    v = &t->last[number];
    if (v->source && time < v->time)
        return true;
    v->record.len = 0;
    v->source = parsed->source;
    v->time = time;
    return nd_buffer_append(&v->record, record.data, record.len) &&
           nd_buffer_reserve(&v->record, v->record.len); /* and padding for the parser */
}

static enum nd_status take(void *context, const struct nd_parsed *parsed, struct nd_error *err)
{
    struct tracking *t = context;
    const struct nd_document *document = &parsed->document;
    struct nd_view time = nd_run_asked(&t->use.run, document, TIME);
    const struct nd_use_sketch *sketch = nd_use_sketch_of(&t->use, parsed);
    const struct nd_name name = nd_use_name(&t->use, parsed);
    struct version v = {.raw = sketch->raw,
                        .simhash = sketch->simhash,
                        .order = t->n,
                        .id_at = t->ids.text.len,
                        .id_len = name.text.len,
                        .id_kind = name.kind};
    char reason[160];

    if (t->params->time && (!time.data || !nd_date_parse(time, &v.time))) {
        snprintf(reason, sizeof reason,
                 time.data ? "field '%.100s' is not a date"
                           : "field '%.100s', the time of the version, is missing",
                 t->params->time);
        return nd_use_bad(&t->use, parsed, reason, err);
    }
    nd_json_bytes(&t->ids, name.text.data, name.text.len);
    if (t->use.signs && !keep_signature(t, &sketch->signature, &v))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (t->ids.failed ||
        !nd_groups_number_field(&t->names, document, t->use.run.asked[SERIES], &v.series) ||
        !ND_RESERVE(t->version, &t->capacity, t->n + 1))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    t->version[t->n++] = v;
    if (t->params->duplicate_score && !hold_last(t, v.series, parsed, v.time))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    return ND_OK;
}

static int by_series_and_time(const void *left, const void *right)
{
    const struct version *x = left, *y = right;

    if (x->series != y->series)
        return x->series < y->series ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int by_priority(const void *left, const void *right)
{
    const struct series *x = left, *y = right;

    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static struct nd_signature signature_of(const struct tracking *t, const struct version *v)
{
    return (struct nd_signature){t->word + v->word, v->n_words, v->is_rejected};
}

/*
 * The distance by the first signature: how many bits or coordinates differ, or how many values only
 * one of them has. Rejected signatures can be told apart only by the bytes of the documents.
 */
static uint32_t distance_of(const struct tracking *t, const struct version *v,
                            const struct version *before)
{
    const struct nd_signature_params *params = &t->use.run.recipe->method.signature[0].signature;
    const struct nd_signature x = signature_of(t, v), y = signature_of(t, before);
    struct nd_agreement g;
    uint64_t distance;

    if (v->is_rejected && before->is_rejected)
        return v->raw != before->raw;
    g = nd_signature_compare(params, &x, &y);
    if (nd_signature_form(params) == ND_FORM_VALUES)
        distance = g.a + g.b - 2 * g.shared;
    else
        distance = (g.a > g.b ? g.a : g.b) - g.shared;
    return distance < UINT32_MAX ? (uint32_t)distance : UINT32_MAX;
}

/* The size of a signature: how many of its bits or values could differ; at least 1. */
static uint32_t size_of(const struct tracking *t, const struct version *v)
{
    const struct nd_signature x = signature_of(t, v);
    uint64_t a = nd_signature_compare(&t->use.run.recipe->method.signature[0].signature, &x, &x).a;

    return a == 0 ? 1 : a < UINT32_MAX ? (uint32_t)a : UINT32_MAX;
}

/*
 * The distance of a version from the one before, by simhash or by the first signature; for the
 * first version, its full size.
 */
static uint32_t change_by(const struct tracking *t, const struct version *v, bool is_first)
{
    if (t->use.signs)
        return is_first ? size_of(t, v) : distance_of(t, v, v - 1);
    return is_first ? 64 : (uint32_t)__builtin_popcountll(v->simhash ^ v[-1].simhash);
}

/* The previous version is the element before it. */
static void visit(const struct tracking *t, struct nd_visits *visits, const struct version *v,
                  bool is_first)
{
    const struct nd_visit_params *params = &t->params->visits;
    uint64_t seconds = visits->interval;

    if (t->params->time && !is_first)
        seconds = (uint64_t)(v->time - v[-1].time) / 1000000;
    nd_visits_add_after(params, visits, change_by(t, v, is_first), seconds);
}

static enum nd_status plan_series(struct tracking *t, struct nd_error *err)
{
    t->series = nd_alloc_array(t->n, sizeof *t->series);
    if (!t->series)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (t->n)
        qsort(t->version, t->n, sizeof *t->version, by_series_and_time);
    for (size_t i = 0; i < t->n;) {
        struct series *s = &t->series[t->n_series++];

        *s = (struct series){.first = i};
        for (; i < t->n && t->version[i].series == t->version[s->first].series; i++)
            visit(t, &s->visits, &t->version[i], i == s->first);
        s->n = i - s->first;
        s->priority = s->visits.priority;
    }
    return ND_OK;
}

static void put_time(struct nd_use *use, const char *key, int64_t microseconds)
{
    char text[ND_DATE_TEXT];
    size_t len = nd_date_text(microseconds, text);

    nd_cell_text(use, key, (struct nd_view){text, len});
}

static void put_series_as(struct tracking *t, const char *key, const struct version *v)
{
    if (v && v->series)
        nd_cell_text(&t->use, key, t->names.value[v->series - 1]);
    else
        nd_cell_none(&t->use, key);
}

static void put_series(struct tracking *t, const struct version *v)
{
    put_series_as(t, "series", v);
}

static void put_id(struct tracking *t, const char *key, const struct version *v)
{
    const struct nd_name name = {v->id_kind, {t->ids.text.data + v->id_at, v->id_len}};

    nd_cell_name(&t->use, key, &name);
}

/* Write when the version was seen, and when to visit the document again. */
static void put_next(struct tracking *t, const struct version *v, const struct nd_visits *visits)
{
    nd_cell_uint(&t->use, "interval", visits->interval);
    if (t->params->time)
        put_time(&t->use, "next", v->time + (int64_t)visits->interval * 1000000);
    else
        nd_cell_none(&t->use, "next");
}

static const char *change_of(const struct version *v, const struct version *before,
                             uint32_t distance)
{
    if (!before)
        return "new";
    if (distance)
        return "changed";
    return v->raw == before->raw ? "none" : "slight";
}

static enum nd_status write_versions(struct tracking *t, const struct series *s,
                                     struct nd_error *err)
{
    enum nd_status status = ND_OK;
    struct nd_visits visits = {0}; /* the state at that version */

    for (size_t i = 0; status == ND_OK && i < s->n; i++) {
        const struct version *v = &t->version[s->first + i];
        const char *change;

        visit(t, &visits, v, i == 0);
        change = change_of(v, i ? v - 1 : NULL, visits.priority);
        put_series(t, v);
        put_id(t, "id", v);
        if (t->params->time)
            put_time(&t->use, "time", v->time);
        else
            nd_cell_none(&t->use, "time");
        if (i)
            nd_cell_uint(&t->use, "distance", visits.priority);
        else
            nd_cell_none(&t->use, "distance");
        nd_cell_text(&t->use, "change", (struct nd_view){change, strlen(change)});
        put_next(t, v, &visits);
        status = nd_row_end(&t->use, err);
    }
    return status;
}

static enum nd_status write_plan(struct tracking *t, const struct series *s, struct nd_error *err)
{
    const struct version *first = &t->version[s->first], *last = first + s->n - 1;
    double days = (double)(last->time - first->time) / 86400e6;

    put_series(t, last);
    put_id(t, "last", last);
    nd_cell_uint(&t->use, "versions", s->n);
    nd_cell_uint(&t->use, "changes", s->visits.changes);
    if (s->n > 1)
        nd_cell_double(&t->use, "rate", (double)s->visits.changes / (double)(s->n - 1));
    else
        nd_cell_none(&t->use, "rate");
    if (days > 0)
        nd_cell_double(&t->use, "changes_a_day", (double)s->visits.changes / days);
    else
        nd_cell_none(&t->use, "changes_a_day");
    if (t->params->duplicate_score) {
        nd_cell_int(&t->use, "priority", s->priority);
        put_series_as(t, "duplicate_of", s->like);
    } else {
        nd_cell_uint(&t->use, "priority", s->visits.priority);
    }
    put_next(t, last, &s->visits);
    return nd_row_end(&t->use, err);
}

static bool is_fresh(const struct tracking *t, const struct version *v, const struct version *like)
{
    return !t->params->max_age || like->time >= v->time ||
           (uint64_t)(v->time - like->time) / 1000000 <= t->params->max_age;
}

/*
 * like[i], of numbers of series: the one of whose last version its own is a near duplicate by the
 * recipe, in stars, the earlier number leading; i itself: of none.  Numbers that hold nothing are
 * left alone.
 */
static enum nd_status compare_last(struct tracking *t, uint32_t *like, struct nd_error *err)
{
    struct nd_parsed *held = calloc(t->n_last + 1, sizeof *held);
    struct nd_decision *decision = nd_alloc_array(t->n_last, sizeof *decision);
    uint32_t *number = nd_alloc_array(t->n_last, sizeof *number); /* of each that is held */
    enum nd_status status = ND_OK;
    size_t n = 0;

    if (!held || !decision || !number)
        status = nd_fail(err, ND_ENOMEM, "out of memory for the last versions");
    for (size_t i = 0; status == ND_OK && i < t->n_last; i++) {
        const struct last_version *v = &t->last[i];

        if (!v->source)
            continue;
        held[n].source = v->source;
        held[n].record.bytes = (struct nd_view){v->record.data, v->record.len};
        number[n++] = (uint32_t)i;
    }
    if (status == ND_OK)
        status = nd_use_decide(&t->use, held, NULL, n, decision, NULL, err);
    for (size_t i = 0; status == ND_OK && i < n; i++)
        like[number[i]] = number[decision[i].kept];
    free(held);
    free(decision);
    free(number);
    return status;
}

/*
 * Lower the priority of a document that is a near-duplicate of another: visiting other documents
 * gains more new information (Seshasai 2009, §1.1.1).
 */
static enum nd_status lower_duplicates(struct tracking *t, struct nd_error *err)
{
    uint32_t *like = nd_alloc_array(t->n_last, sizeof *like);
    const struct series **by_number = nd_alloc_array(t->n_last, sizeof *by_number);
    enum nd_status status;

    if (like && by_number)
        status = compare_last(t, like, err);
    else
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; status == ND_OK && i < t->n_series; i++) {
        struct series *s = &t->series[i];
        uint32_t number = t->version[s->first].series;
        const struct series *other;

        by_number[number] = s;
        if (like[number] == number)
            continue;
        other = by_number[like[number]]; /* an earlier document, already seen */
        if (is_fresh(t, &t->version[s->first + s->n - 1],
                     &t->version[other->first + other->n - 1])) {
            s->like = &t->version[other->first + other->n - 1];
            s->priority -= t->params->duplicate_score;
        }
    }
    free(like);
    free(by_number);
    return status;
}

static enum nd_status check_params(const struct nd_track_params *p, struct nd_error *err)
{
    if (p->duplicate_score && !p->plan)
        return nd_fail(err, ND_EINVAL, "duplicates matter only in a plan");
    if (p->max_age && (!p->duplicate_score || !p->time))
        return nd_fail(err, ND_EINVAL, "a maximum age needs duplicates and the times of versions");
    return nd_visits_check(&p->visits, err);
}

static enum nd_status write_all(struct tracking *t, uint64_t *found, struct nd_error *err)
{
    enum nd_status status = nd_use_open(&t->use, t->params->json, err);

    if (!t->n)
        return status;
    for (size_t i = 0; i < t->n_series; i++)
        *found += t->series[i].visits.priority > 0;
    if (t->params->plan)
        qsort(t->series, t->n_series, sizeof *t->series, by_priority);
    for (size_t i = 0; status == ND_OK && i < t->n_series; i++)
        status = t->params->plan ? write_plan(t, &t->series[i], err)
                                 : write_versions(t, &t->series[i], err);
    return status;
}

enum nd_status nd_run_track(const struct nd_run_options *options,
                            const struct nd_track_params *params,
                            const struct nd_run_events *events, struct nd_use_summary *summary,
                            struct nd_error *err)
{
    const struct nd_run_request request = {
        .fields = {[SERIES] = params->series, [TIME] = params->time},
        .takes_sketches = true,
        .compares = params->duplicate_score != 0,
        .writes_output = true};
    struct tracking t = {.params = params};
    struct nd_error room = {0};
    uint64_t found = 0;
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    status = check_params(params, err);
    if (status != ND_OK)
        return status; /* check the parameters before anything is read */
    status = nd_use_begin(&t.use, options, &request, events, err);
    if (status == ND_OK)
        t.use.signs = t.use.run.recipe->method.n_signatures > 0;
    if (status == ND_OK) {
        status =
            nd_field_set_watch(&t.use.run.fields,
                               &(struct nd_watched_field){
                                   .key = "series",
                                   .field = params->series,
                                   .otherwise = "all records count as versions of one document"},
                               err);
    }
    if (status == ND_OK)
        status = nd_use_walk(&t.use, ND_SKETCH_SIMHASH, take, &t, err);
    if (status == ND_OK)
        status = plan_series(&t, err);
    if (status == ND_OK && params->duplicate_score && t.n)
        status = lower_duplicates(&t, err);
    if (status == ND_OK)
        status = write_all(&t, &found, err);
    status = nd_use_end(&t.use, status, found, summary, err);
    nd_groups_release(&t.names);
    nd_json_release(&t.ids);
    for (size_t i = 0; i < t.n_last; i++)
        nd_buffer_release(&t.last[i].record);
    free(t.last);
    free(t.word);
    free(t.version);
    free(t.series);
    return status;
}
