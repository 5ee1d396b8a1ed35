/* answers.c - verdicts, documents, versions and figures as JSON */
#define _POSIX_C_SOURCE 200809L
#include "server/answers.h"

#include <stdio.h>
#include <time.h>

#include "evidence/difference.h"
#include "evidence/rows.h"

enum { NO_DISTANCE = 64 };

void nd_put_labels(struct nd_json *out, const char *name, const struct nd_view *labels, size_t n)
{
    nd_json_key(out, name);
    nd_json_open(out, '[');
    for (size_t i = 0; i < n; i++)
        nd_json_string(out, labels[i]);
    nd_json_close(out, ']');
}

void nd_put_document_key(struct nd_json *out, const struct nd_document_key *key)
{
    nd_json_put_string(out, "id", key->id);
    nd_put_labels(out, "security", key->labels, key->n_labels);
}

static void put_title(struct nd_json *out, struct nd_view title)
{
    nd_json_key(out, "title");
    if (title.len)
        nd_json_string(out, title);
    else
        nd_json_null(out);
}

void nd_put_time(struct nd_json *out, const char *name, uint64_t seconds)
{
    const time_t time = (time_t)seconds;
    char text[64];
    struct tm parts;

    nd_json_key(out, name);
    if (seconds == 0 || seconds > INT64_MAX / 2 || !gmtime_r(&time, &parts) ||
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        nd_json_null(out);
    else
        nd_json_text(out, text);
}

static void put_simhash(struct nd_json *out, uint64_t simhash, bool has_simhash)
{
    nd_json_key(out, "simhash");
    if (has_simhash)
        nd_json_hex(out, simhash);
    else
        nd_json_null(out);
}

/* The distance of a version to the one before. */
static void put_distance(struct nd_json *out, uint32_t distance, bool is_first, bool has_simhash)
{
    nd_json_key(out, "distance");
    if (is_first || !has_simhash || distance > NO_DISTANCE)
        nd_json_null(out);
    else
        nd_json_uint(out, distance);
}

void nd_put_work(struct nd_json *out, const struct nd_work *work)
{
    nd_json_key(out, "work");
    nd_json_open(out, '{');
    nd_json_put_uint(out, "security_sets", work->label_sets);
    nd_json_put_uint(out, "candidates", work->candidates);
    nd_json_put_uint(out, "comparisons", work->comparisons);
    nd_json_put_uint(out, "pairs", work->pairs);
    nd_json_close(out, '}');
}

static void put_overlap(struct nd_json *out, const struct nd_overlap *overlap)
{
    nd_json_put_double(out, "resemblance", nd_overlap_resemblance(overlap));
    nd_json_put_uint(out, "shared", overlap->shared);
    nd_json_key(out, "shingles");
    nd_json_open(out, '[');
    nd_json_uint(out, overlap->a);
    nd_json_uint(out, overlap->b);
    nd_json_close(out, ']');
}

static void put_likeness(struct nd_json *out, const struct nd_likeness *likeness)
{
    static const char *const word[] = {"no", "bytes", "tokens"};
    const struct nd_overlap *overlap = &likeness->overlap;

    nd_json_key(out, "evidence");
    nd_json_open(out, '{');
    nd_json_put_text(out, "identical", word[likeness->identical]);
    if (overlap->a || overlap->b) {
        put_overlap(out, overlap);
    } else {
        nd_json_key(out, "resemblance");
        nd_json_null(out);
        nd_json_key(out, "shared");
        nd_json_null(out);
        nd_json_key(out, "shingles");
        nd_json_null(out);
    }
    nd_json_key(out, "distance");
    if (likeness->distance != UINT32_MAX)
        nd_json_uint(out, likeness->distance);
    else
        nd_json_null(out);
    nd_json_close(out, '}');
}

static void put_none(struct nd_json *out, const char *name)
{
    nd_json_key(out, name);
    nd_json_null(out);
}

/* Put the names of a document, and the time of its last post. */
static void put_named(struct nd_json *out, const struct nd_nearest *document)
{
    nd_put_document_key(out, &document->key);
    put_title(out, document->title);
    nd_put_time(out, "visited", document->visited);
}

static void put_nearest(struct nd_json *out, const struct nd_nearest *document)
{
    nd_json_open(out, '{');
    put_named(out, document);
    put_likeness(out, &document->likeness);
    if (document->differs)
        nd_difference_json(out, document->differs, "this", "other");
    nd_json_close(out, '}');
}

/* The nearest document, by which the verdict is given. */
static void put_of(struct nd_json *out, const struct nd_verdict *verdict)
{
    if (verdict->kind == ND_VERDICT_NEW) {
        put_none(out, "of");
        put_none(out, "evidence");
        return;
    }
    nd_json_key(out, "of");
    nd_json_open(out, '{');
    nd_put_document_key(out, &verdict->nearest[0].key);
    nd_json_close(out, '}');
    put_likeness(out, &verdict->nearest[0].likeness);
}

/* The documents that have a text in them, or that it has in it, with the share. */
static void put_quotes(struct nd_json *out, const char *name, const struct nd_nearest *document,
                       size_t n, bool of_text)
{
    nd_json_key(out, name);
    nd_json_open(out, '[');
    for (size_t i = 0; i < n; i++) {
        const struct nd_overlap *overlap = &document[i].likeness.overlap;

        nd_json_open(out, '{');
        put_named(out, &document[i]);
        nd_json_put_double(out, "share",
                           (double)overlap->shared / (double)(of_text ? overlap->a : overlap->b));
        put_likeness(out, &document[i].likeness);
        nd_json_close(out, '}');
    }
    nd_json_close(out, ']');
}

void nd_put_verdict(struct nd_json *out, const struct nd_verdict *verdict, bool has_simhash)
{
    static const char *const word[] = {"new", "duplicate", "near-duplicate"};

    nd_json_put_text(out, "verdict", word[verdict->kind]);
    put_of(out, verdict);
    nd_json_key(out, "nearest");
    nd_json_open(out, '[');
    for (size_t i = 0; i < verdict->n_nearest; i++)
        put_nearest(out, &verdict->nearest[i]);
    nd_json_close(out, ']');
    if (verdict->has_cluster) {
        nd_json_key(out, "cluster");
        put_nearest(out, &verdict->cluster);
    } else {
        put_none(out, "cluster");
    }
    if (verdict->has_containment) {
        put_quotes(out, "contained_in", verdict->contained_in, verdict->n_contained_in, true);
        put_quotes(out, "contains", verdict->contains, verdict->n_contains, false);
    }
    nd_json_put_uint(out, "tokens", verdict->tokens);
    nd_json_put_uint(out, "shingles", verdict->shingles);
    put_simhash(out, verdict->simhash, has_simhash);
    nd_json_put_bool(out, "short", verdict->is_short);
    nd_json_put_bool(out, "empty", verdict->is_empty);
    nd_json_put_bool(out, "cut", verdict->was_cut);
    nd_put_work(out, &verdict->work);
}

void nd_put_replaced(struct nd_json *out, uint64_t replaced)
{
    if (replaced)
        nd_json_put_uint(out, "replaced", replaced);
}

void nd_put_written(struct nd_json *out, const struct nd_written *written, bool has_simhash)
{
    nd_put_document_key(out, &written->key);
    nd_put_verdict(out, &written->verdict, has_simhash);
    nd_json_put_bool(out, "stored", true);
    nd_json_put_bool(out, "durable", written->is_durable);
    nd_json_put_uint(out, "version", written->version);
    nd_json_put_bool(out, "changed", written->is_new_version);
    put_distance(out, written->distance, written->version == 1, has_simhash);
}

void nd_put_stored(struct nd_json *out, const struct nd_stored *document, bool with_text,
                   bool has_simhash)
{
    nd_put_document_key(out, &document->key);
    put_title(out, document->title);
    nd_put_time(out, "created", document->created);
    nd_put_time(out, "updated", document->updated);
    nd_put_time(out, "visited", document->visited);
    nd_json_put_uint(out, "version", document->version);
    nd_json_put_uint(out, "tokens", document->tokens);
    nd_json_put_uint(out, "shingles", document->shingles);
    put_simhash(out, document->simhash, has_simhash);
    nd_json_put_uint(out, "bytes", document->text_bytes);
    nd_put_time(out, "due", document->due);
    nd_json_put_uint(out, "interval", document->visits.interval);
    nd_json_put_uint(out, "visits", document->visits.visits);
    nd_json_put_uint(out, "changes", document->visits.changes);
    nd_json_put_uint(out, "priority", document->visits.priority);
    if (with_text)
        nd_json_put_string(out, "text", document->text);
}

void nd_answer_stored(struct nd_json *out, const struct nd_stored *document, bool has_simhash)
{
    nd_json_open(out, '{');
    nd_put_stored(out, document, true, has_simhash);
    nd_json_close(out, '}');
    nd_json_line(out);
}

void nd_answer_versions(struct nd_json *out, const struct nd_stored *document,
                        const struct nd_version *versions, size_t n, bool has_simhash)
{
    nd_json_open(out, '{');
    nd_put_document_key(out, &document->key);
    nd_json_key(out, "versions");
    nd_json_open(out, '[');
    for (size_t i = 0; i < n; i++) {
        const struct nd_version *v = &versions[i];

        nd_json_open(out, '{');
        nd_json_put_uint(out, "version", v->number);
        nd_put_time(out, "time", v->time);
        nd_put_time(out, "visited", v->visited);
        put_distance(out, v->distance, v->number == 1, has_simhash);
        put_simhash(out, v->simhash, has_simhash);
        nd_json_put_uint(out, "tokens", v->tokens);
        nd_json_put_uint(out, "shingles", v->shingles);
        nd_json_put_uint(out, "bytes", v->text_bytes);
        nd_json_close(out, '}');
    }
    nd_json_close(out, ']');
    nd_json_put_uint(out, "total", document->version);
    nd_json_close(out, '}');
    nd_json_line(out);
}

void nd_answer_neighbours(struct nd_json *out, const struct nd_document_key *of, bool is_cluster,
                          const struct nd_neighbours *neighbours, bool has_simhash)
{
    nd_json_open(out, '{');
    nd_put_document_key(out, of);
    nd_json_key(out, "documents");
    nd_json_open(out, '[');
    for (size_t i = 0; i < neighbours->n; i++) {
        const struct nd_neighbour *x = &neighbours->document[i];

        nd_json_open(out, '{');
        nd_put_stored(out, &x->document, false, has_simhash);
        nd_json_put_bool(out, "leads", x->leads);
        if (is_cluster && i == 0)
            put_none(out, "evidence");
        else
            put_likeness(out, &x->likeness);
        nd_json_close(out, '}');
    }
    nd_json_close(out, ']');
    nd_json_put_uint(out, "total", neighbours->total);
    nd_json_put_bool(out, "cut", neighbours->was_cut);
    nd_put_work(out, &neighbours->work);
    nd_json_close(out, '}');
    nd_json_line(out);
}

/* ---- What to visit next ---- */

/* "3 hours" */
static void say_seconds(uint64_t seconds, char *out, size_t size)
{
    static const struct {
        uint64_t seconds;
        const char *name;
    } unit[] = {{86400, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}};
    size_t i = 0;

    while (i < 3 && seconds < unit[i].seconds)
        i++;
    (void)snprintf(out, size, "%llu %s%s", (unsigned long long)(seconds / unit[i].seconds),
                   unit[i].name, seconds / unit[i].seconds == 1 ? "" : "s");
}

static void put_why(struct nd_json *out, const struct nd_crawl_row *row, uint64_t now)
{
    const struct nd_stored *d = &row->document;
    char found[80] = "It was visited once", interval[40], late[40], text[240];

    say_seconds(d->visits.interval, interval, sizeof interval);
    say_seconds(d->due < now ? now - d->due : d->due - now, late, sizeof late);
    if (d->visits.visits > 1)
        (void)snprintf(
            found, sizeof found, "%llu of the %llu visits after the first found a change",
            (unsigned long long)d->visits.changes, (unsigned long long)d->visits.visits - 1);
    (void)snprintf(text, sizeof text, "%s, so its interval is %s; it %s %s.", found, interval,
                   row->is_due ? "has been due for" : "is due in", late);
    nd_json_put_text(out, "why", text);
}

void nd_answer_crawl(struct nd_json *out, const struct nd_crawl_row *rows, size_t n, uint64_t now,
                     bool has_simhash)
{
    nd_json_open(out, '{');
    nd_json_key(out, "documents");
    nd_json_open(out, '[');
    for (size_t i = 0; i < n; i++) {
        nd_json_open(out, '{');
        nd_put_stored(out, &rows[i].document, false, has_simhash);
        nd_json_put_bool(out, "is_due", rows[i].is_due);
        if (rows[i].gap)
            nd_json_put_uint(out, "gap", rows[i].gap);
        else
            put_none(out, "gap");
        put_why(out, &rows[i], now);
        nd_json_close(out, '}');
    }
    nd_json_close(out, ']');
    nd_put_time(out, "time", now);
    nd_json_close(out, '}');
    nd_json_line(out);
}

/* ---- Fingerprints and figures ---- */

void nd_put_fingerprint(struct nd_json *out, const struct nd_fingerprint *fingerprint)
{
    put_simhash(out, fingerprint->simhash, fingerprint->has_simhash);
    nd_json_put_hex(out, "identity", fingerprint->identity);
    nd_json_put_uint(out, "tokens", fingerprint->tokens);
    nd_json_put_uint(out, "shingles", fingerprint->shingles);
    nd_json_key(out, "minhash");
    if (fingerprint->has_minima) {
        nd_json_open(out, '[');
        for (size_t i = 0; i < ND_MINHASH_COUNT; i++)
            nd_json_uint(out, fingerprint->minhash[i]);
        nd_json_close(out, ']');
    } else {
        nd_json_null(out);
    }
}

void nd_put_visible(struct nd_json *out, const struct nd_visible_stats *visible)
{
    nd_json_open(out, '{');
    nd_json_put_uint(out, "documents", visible->documents);
    nd_json_put_uint(out, "versions", visible->versions);
    nd_json_put_uint(out, "contents", visible->contents);
    nd_json_put_uint(out, "text_bytes", visible->text_bytes);
    nd_json_put_uint(out, "security_sets", visible->label_sets);
    nd_json_put_uint(out, "due", visible->due);
    nd_json_close(out, '}');
}

void nd_put_store(struct nd_json *out, const struct nd_store_stats *s)
{
    const struct {
        const char *name;
        uint64_t value;
    } figure[] = {
        {"documents", s->documents},
        {"versions", s->versions},
        {"contents", s->contents},
        {"pairs", s->pairs},
        {"security_sets", s->label_sets},
        {"text_bytes", s->text_bytes},
        {"segment_bytes", s->segment_bytes},
        {"garbage_bytes", s->garbage_bytes},
        {"segments", s->segments},
        {"database_bytes", s->database_bytes},
        {"index_bytes", s->index_bytes},
        {"index_documents", s->index_documents},
        {"commits", s->commits},
        {"writes", s->writes},
        {"syncs", s->syncs},
        {"queue_documents", s->queue_documents},
        {"queue_bytes", s->queue_bytes},
    };

    nd_json_open(out, '{');
    for (size_t i = 0; i < sizeof figure / sizeof *figure; i++)
        nd_json_put_uint(out, figure[i].name, figure[i].value);
    nd_put_time(out, "last_snapshot", s->last_snapshot);
    nd_put_time(out, "oldest_garbage", s->oldest_garbage);
    nd_json_put_double(out, "open_seconds", s->open_seconds);
    nd_json_put_bool(out, "opened_from_snapshot", s->opened_from_snapshot);
    nd_json_close(out, '}');
}
