/* post.c - documents go to the service in batches, and their answers are written */

/*
 * A batch is a request in NDJSON, and a few are under way at once. Their answers are written in the
 * order of the documents: batches wait in a ring until those before them are done.
 *
 *     source ─ fill ──► [ batch | batch | batch | batch ] ── write ──► answers
 *                         └───── requests, in any order ─┘
 *
 * A document that the service was too busy for is sent again, with those of its batch that share
 * its fate.
 */
#define _GNU_SOURCE
#include "service/post.h"

#include "base/thread/thread.h"
#include "base/view.h"

#include <stdlib.h>
#include <string.h>

enum {
    BODY_BYTES = 1 << 20 /* a batch is sent before it exceeds this, if it has a document */
};

/* A document on its way. */
struct posted {
    const char *at;        /* its place, in the arena of the batch */
    size_t from, len;      /* its line of NDJSON, in the lines of the batch */
    struct nd_view answer; /* in the arena; data NULL: none yet */
};

struct post_batch {
    struct http_request request;
    struct nd_buffer lines;
    struct nd_arena arena;
    struct posted *document;
    size_t n, capacity;
    uint64_t records;       /* of the source, up to the end of this batch */
    const char *last;       /* the place of the last of them */
    uint64_t busy_since_ms; /* 0: the service has not been too busy */
    bool is_done;
};

struct post {
    struct client *client;
    bool stores; /* post, as opposed to query */
    struct report report;
    struct nd_run_events events;

    struct nd_input_options options;
    const char **field; /* of records: field_names, then those of --record-field */
    struct nd_parser *parser;
    const struct post_source *source;
    uint64_t records; /* taken from the source */
    bool at_end;
    struct nd_json line; /* of the next document, where has_line: the batch before had no room */
    char *at;            /* its place */
    bool has_line;
    struct nd_json out; /* an answer that is written */

    struct post_batch *ring;
    size_t ring_size, first, end; /* batches first … end - 1 are under way, modulo the size */
    uint64_t started_ms;
    struct post_counts counts;
};

static enum nd_status out_of_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

/* ---- From records to lines of NDJSON --------------------------------------------------------- */

char *post_place(const struct nd_source *source, const struct nd_record *record)
{
    const char *path = strcmp(source->path, "-") == 0 ? "standard input" : source->path;
    char *at;
    int n;

    if (record->line)
        n = asprintf(&at, "%s%s%s:%llu", path, source->entry ? "!" : "",
                     source->entry ? source->entry : "", (unsigned long long)record->line);
    else
        n = asprintf(&at, "%s%s%s", path, source->entry ? "!" : "",
                     source->entry ? source->entry : "");
    return n < 0 ? NULL : at;
}

/* The fields of a record that are asked for. */
enum { SECURITY, LABELS, TITLE, FIELDS };
static const char *const field_names[FIELDS] = {
    [SECURITY] = "security", [LABELS] = "labels", [TITLE] = "title"};

static struct nd_view field(const struct nd_document *document, size_t i)
{
    return i < document->n_fields ? document->fields[i].value : (struct nd_view){NULL, 0};
}

/* Records whose fields have names that somebody chose for them: not the head of a message. */
static bool has_fields(const struct nd_source *source)
{
    return source->format == ND_FORMAT_JSONL || source->format == ND_FORMAT_CSV ||
           source->format == ND_FORMAT_TSV;
}

/* Labels "a,b" as an array; none are an empty one. */
static void put_labels(struct nd_json *j, const char *labels)
{
    nd_json_key(j, "security");
    nd_json_open(j, '[');
    while (*labels) {
        size_t len = strcspn(labels, ",");

        nd_json_string(j, (struct nd_view){labels, len});
        labels += len + (labels[len] == ',');
    }
    nd_json_close(j, ']');
}

/* Put the security labels of --security, or else those of the record: an array, or one label. */
static void put_security(struct post *p, const struct nd_document *document,
                         const struct nd_source *source)
{
    const struct nd_view own = field(document, SECURITY);
    struct nd_json *j = &p->line;

    if (p->client->options->security) {
        put_labels(j, p->client->options->security);
    } else if (own.len && source->format == ND_FORMAT_JSONL && own.data[0] == '[') {
        nd_json_key(j, "security");
        nd_json_raw(j, own);
    } else if (own.len && has_fields(source)) {
        nd_json_key(j, "security");
        nd_json_open(j, '[');
        nd_json_string(j, own);
        nd_json_close(j, ']');
    }
}

/* Return whether a record has labels and no security, so that labels may say who may see it. */
static bool is_unclear(const struct post *p, const struct nd_document *document,
                       const struct nd_source *source)
{
    return p->stores && !p->client->options->security && has_fields(source) &&
           field(document, LABELS).len && !field(document, SECURITY).len;
}

/* Put the fields of --record-field that the record has, as texts, which the service reads alike. */
static void put_fields(struct post *p, const struct nd_document *document)
{
    for (size_t i = FIELDS; i < p->options.n_fields; i++)
        if (field(document, i).data)
            nd_json_put_string(&p->line, p->field[i], field(document, i));
}

/* A file has its name as its id; a record without an id gets the hash of its text. */
static bool make_line(struct post *p, const struct nd_document *document,
                      const struct nd_source *source)
{
    const bool is_file = !source->is_container;
    struct nd_json *j = &p->line;

    j->text.len = 0;
    j->after_value = false;
    nd_json_open(j, '{');
    if (p->stores && document->id_kind != ND_ID_NONE)
        nd_json_put_string(j, "id", document->id);
    else if (p->stores && is_file)
        nd_json_put_text(j, "id", p->at);
    if (p->stores)
        put_security(p, document, source);
    if (p->stores && field(document, TITLE).len)
        nd_json_put_string(j, "title", field(document, TITLE));
    put_fields(p, document);
    nd_json_put_string(j, document->is_page ? "html" : "text", document->text);
    nd_json_close(j, '}');
    nd_json_line(j);
    return !j->failed;
}

static enum nd_status leave_out(struct post *p, const char *at, const char *reason,
                                struct nd_error *err)
{
    p->counts.left_out++;
    p->events.bad_record(p->events.context, at, reason);
    if (strcmp(run_option(p->client->settings, "strict"), "yes") == 0)
        return nd_fail(err, ND_EINPUT, "--strict: stopped at the first bad record");
    return ND_OK;
}

/* Parse a record: p->line and p->at, if it is a document. */
static enum nd_status take_record(struct post *p, const struct nd_record *record,
                                  const struct nd_source *source, struct nd_error *err)
{
    struct nd_document document;
    struct nd_bad_record bad;
    int result;

    free(p->at);
    p->at = post_place(source, record);
    if (!p->at)
        return out_of_memory(err);
    p->records++;
    nd_parser_reset(p->parser);
    result = nd_parser_parse(p->parser, source, record->bytes, &document, NULL, &bad);
    if (result == 0)
        return leave_out(p, p->at, bad.reason, err);
    if (result > 0 && is_unclear(p, &document, source))
        return leave_out(p, p->at,
                         "the record has labels and no security: who may see a document is said "
                         "by the field security; if labels are something else, --security '' says "
                         "that everybody may see it",
                         err);
    if (result < 0 || !make_line(p, &document, source))
        return out_of_memory(err);
    p->has_line = true;
    return ND_OK;
}

/* The next document: in p->line, where p->has_line; otherwise the source is at its end. */
static enum nd_status read_line(struct post *p, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    while (status == ND_OK && !p->has_line && !p->at_end) {
        const struct nd_source *source;
        struct nd_record record;
        int result = p->source->next(p->source->context, &record, &source, err);

        p->at_end = result == 0;
        status = result < 0    ? (enum nd_status)result
                 : result == 0 ? ND_OK
                               : take_record(p, &record, source, err);
    }
    return status;
}

/* ---- Batches --------------------------------------------------------------------------------- */

static void batch_release(struct post_batch *b)
{
    http_request_release(&b->request);
    nd_buffer_release(&b->lines);
    nd_arena_release(&b->arena);
    free(b->document);
}

static bool batch_add(struct post_batch *b, const struct post *p)
{
    struct posted *d;

    if (!ND_RESERVE(b->document, &b->capacity, b->n + 1))
        return false;
    d = &b->document[b->n];
    *d = (struct posted){.from = b->lines.len, .len = p->line.text.len};
    d->at = nd_arena_copy(&b->arena, p->at, strlen(p->at) + 1);
    if (!d->at || !nd_buffer_append(&b->lines, p->line.text.data, p->line.text.len))
        return false;
    b->n++;
    b->records = p->records;
    b->last = d->at;
    return true;
}

/* Fill a batch with what comes next; n 0: nothing does. */
static enum nd_status fill(struct post *p, struct post_batch *b, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    b->n = 0;
    b->lines.len = 0;
    b->is_done = false;
    b->busy_since_ms = 0;
    nd_arena_reset(&b->arena);
    while (status == ND_OK && b->n < p->client->options->batch) {
        status = read_line(p, err);
        if (status != ND_OK || !p->has_line ||
            (b->n && b->lines.len + p->line.text.len > BODY_BYTES))
            break;
        p->has_line = false;
        if (!batch_add(b, p))
            status = out_of_memory(err);
    }
    return status;
}

/* The address of a request: what is to be done, and what is asked for. */
static bool make_target(const struct post *p, struct http_request *r)
{
    const struct service_settings *options = p->client->options;
    char limit[16], max_age[24], at[24];

    (void)snprintf(limit, sizeof limit, "%u", options->limit);
    (void)snprintf(max_age, sizeof max_age, "%llu", (unsigned long long)options->max_age_s);
    (void)snprintf(at, sizeof at, "%u/%u", options->at.p, options->at.q);
    r->target.len = 0;
    return http_target(r, p->stores ? "/v1/documents" : "/v1/query") &&
           http_target_parameter(r, "dry", p->stores && options->dry_run ? "1" : NULL) &&
           http_target_parameter(r, "limit", options->limit ? limit : NULL) &&
           http_target_parameter(r, "max_age", options->max_age_s ? max_age : NULL) &&
           http_target_parameter(r, "differs", options->differs ? "1" : NULL) &&
           http_target_parameter(r, "at", options->at.q ? at : NULL);
}

/* Send the documents that have no answer yet. */
static enum nd_status send_batch(struct post *p, struct post_batch *b, unsigned delay_s,
                                 struct nd_error *err)
{
    struct http_request *r = &b->request;

    r->method = "POST";
    r->type = "application/x-ndjson";
    r->context = b;
    r->body.len = 0;
    if (!make_target(p, r))
        return out_of_memory(err);
    for (size_t i = 0; i < b->n; i++)
        if (!b->document[i].answer.data &&
            !nd_buffer_append(&r->body, b->lines.data + b->document[i].from, b->document[i].len))
            return out_of_memory(err);
    return http_start(p->client->http, r, delay_s, err);
}

/* ---- Answers --------------------------------------------------------------------------------- */

/* Take the answer for a document, unless the service was too busy for it: *busy. */
static enum nd_status take_answer(struct post *p, struct post_batch *b, struct posted *d,
                                  struct nd_view line, bool *busy, struct nd_error *err)
{
    struct answer answer;
    enum nd_status status = answer_read(p->client->reader, line, &answer, err);
    char *copy;

    if (status != ND_OK)
        return status;
    if (nd_view_is(answer.error_status, "429") || nd_view_is(answer.error_status, "503")) {
        *busy = true;
        return ND_OK;
    }
    if (nd_view_is(answer.error_status, "507"))
        return nd_fail(err, ND_EIO, "%s: %.*s", p->client->options->url,
                       (int)answer.error_detail.len, answer.error_detail.data);
    copy = nd_arena_copy(&b->arena, line.data, line.len);
    if (!copy)
        return out_of_memory(err);
    d->answer = (struct nd_view){copy, line.len};
    return ND_OK;
}

/* A line of the answer for each document that was sent. */
static enum nd_status take_answers(struct post *p, struct post_batch *b, bool *busy,
                                   struct nd_error *err)
{
    const char *at = b->request.answer.data, *end = at + b->request.answer.len;
    enum nd_status status = ND_OK;

    for (size_t i = 0; i < b->n && status == ND_OK; i++) {
        const char *stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;

        if (b->document[i].answer.data)
            continue;
        if (!stop)
            return nd_fail(err, ND_EINPUT, "%s: the answer ends before that for %s",
                           p->client->options->url, b->document[i].at);
        status = take_answer(p, b, &b->document[i], (struct nd_view){at, (size_t)(stop - at)}, busy,
                             err);
        at = stop + 1;
    }
    return status;
}

/* A batch that is one document too large for the service is that document's fault. */
static enum nd_status refuse_one(struct post *p, struct post_batch *b, struct nd_error *err)
{
    struct nd_error reason;

    answer_problem(p->client->reader, &b->request, "too large", &reason);
    b->is_done = true;
    b->n = 0;
    return leave_out(p, b->last, reason.message, err);
}

static enum nd_status end_batch(struct post *p, struct post_batch *b, struct nd_error *err)
{
    uint64_t now = nd_monotonic_ms();
    bool busy = false;
    enum nd_status status;
    unsigned delay = http_retry_after(p->client->http);

    if (b->request.status == 413 && b->n == 1)
        return refuse_one(p, b, err);
    if (b->request.status != 200 && b->request.status != 201)
        return answer_problem(p->client->reader, &b->request, p->client->options->url, err);
    status = take_answers(p, b, &busy, err);
    if (status != ND_OK || !busy) {
        b->is_done = status == ND_OK;
        return status;
    }
    if (!b->busy_since_ms)
        b->busy_since_ms = now;
    if (now - b->busy_since_ms > p->client->options->retry_s * 1000)
        return nd_fail(err, ND_EIO, "%s: was too busy for %llu seconds", p->client->options->url,
                       (unsigned long long)p->client->options->retry_s);
    return send_batch(p, b, delay ? delay : 1, err);
}

/* Return what follows {"line":N, in an answer: its other members. */
static struct nd_view members(struct nd_view answer)
{
    static const char line[] = "{\"line\":";
    const char *comma = memchr(answer.data, ',', answer.len);
    size_t skip = 1;

    if (comma && answer.len >= sizeof line - 1 && memcmp(answer.data, line, sizeof line - 1) == 0)
        skip = (size_t)(comma + 1 - answer.data);
    return (struct nd_view){answer.data + skip, answer.len - skip};
}

static void count(struct post *p, struct nd_view verdict)
{
    p->counts.answered++;
    p->counts.news += nd_view_is(verdict, "new");
    p->counts.duplicates += nd_view_is(verdict, "duplicate");
    p->counts.near_duplicates += nd_view_is(verdict, "near-duplicate");
}

/* Write the answer for a document, with its place: {"at":"file:line", … */
static enum nd_status write_answer(struct post *p, const struct posted *d, struct nd_error *err)
{
    const struct nd_view rest = members(d->answer);
    struct nd_json *out = &p->out;
    struct nd_view detail;
    struct answer answer;
    char reason[320];
    enum nd_status status = answer_read(p->client->reader, d->answer, &answer, err);

    if (status != ND_OK)
        return status;
    out->text.len = 0;
    out->after_value = false;
    nd_json_open(out, '{');
    nd_json_put_text(out, "at", d->at);
    nd_json_bytes(out, ",", 1);
    nd_json_bytes(out, rest.data, rest.len);
    nd_json_bytes(out, "\n", 1);
    if (out->failed)
        return out_of_memory(err);
    results_put_row(&p->client->results, out->text.data, out->text.len);
    if (!answer.error_status.data) {
        count(p, answer.verdict);
        return ND_OK;
    }
    detail = answer.error_detail;
    (void)snprintf(reason, sizeof reason, "%.*s", (int)detail.len, detail.data);
    return leave_out(p, d->at, reason, err);
}

/* Write the answers of a batch, which is the next one.  What was written is done for good. */
static enum nd_status write_batch(struct post *p, const struct post_batch *b, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t i = 0; i < b->n && status == ND_OK; i++)
        status = write_answer(p, &b->document[i], err);
    if (status == ND_OK &&
        (fflush(p->client->results.file) != 0 || results_failed(&p->client->results)))
        return nd_fail(err, ND_EIO, "%s: cannot be written", p->client->results.name);
    if (status == ND_OK && p->source->written)
        status = p->source->written(p->source->context, b->records, b->last, err);
    return status;
}

/* ---- All batches ----------------------------------------------------------------------------- */

/* Begin batches until the ring is full or the input at its end. */
static enum nd_status begin_batches(struct post *p, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    while (status == ND_OK && p->end - p->first < p->ring_size) {
        struct post_batch *b = &p->ring[p->end % p->ring_size];

        status = fill(p, b, err);
        if (status != ND_OK || b->n == 0)
            break;
        p->end++;
        status = send_batch(p, b, 0, err);
    }
    return status;
}

static enum nd_status end_batches(struct post *p, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    while (status == ND_OK && p->first < p->end && p->ring[p->first % p->ring_size].is_done)
        status = write_batch(p, &p->ring[p->first++ % p->ring_size], err);
    return status;
}

static enum nd_status post_all(struct post *p, struct nd_error *err)
{
    enum nd_status status = begin_batches(p, err);

    while (status == ND_OK && p->first < p->end) {
        struct http_request *ended;
        int result = http_next(p->client->http, &ended, err);

        if (result < 0)
            return (enum nd_status)result;
        status = end_batch(p, ended->context, err);
        if (status == ND_OK)
            status = end_batches(p, err);
        if (status == ND_OK)
            status = begin_batches(p, err);
    }
    return status;
}

enum nd_status post_run(struct post *p, const struct post_source *source, struct nd_error *err)
{
    enum nd_status status;

    p->source = source;
    p->records = 0;
    p->at_end = p->has_line = false;
    p->first = p->end = 0;
    status = post_all(p, err);
    if (status == ND_OK && source->written && p->records) /* the last ones may be no documents */
        status = source->written(source->context, p->records, p->at, err);
    http_abandon(p->client->http);
    return status;
}

/* ---- Opening and closing --------------------------------------------------------------------- */

/* List the fields that are asked for: those of every record, and those of --record-field. */
static enum nd_status list_fields(struct post *p, struct nd_error *err)
{
    static const char *const own[] = {"id", "security", "title", "text", "html", "max_age"};
    const struct nd_run_options *run = p->client->settings->run;
    const char *name;
    size_t n = 0;

    while (nd_run_options_get(run, "record-field", n))
        n++;
    p->field = malloc((FIELDS + n) * sizeof *p->field);
    if (!p->field)
        return out_of_memory(err);
    memcpy(p->field, field_names, sizeof field_names);
    p->options.fields = p->field;
    p->options.n_fields = FIELDS;
    for (size_t i = 0; i < n; i++) {
        name = nd_run_options_get(run, "record-field", i);
        for (size_t k = 0; k < sizeof own / sizeof *own; k++)
            if (strcmp(name, own[k]) == 0)
                return nd_fail(
                    err, ND_EINVAL,
                    "--record-field: '%s' is no field of a recipe for the service, which "
                    "takes it as the document's own",
                    name);
        for (size_t k = FIELDS; k < p->options.n_fields; k++)
            if (strcmp(name, p->field[k]) == 0)
                return nd_fail(err, ND_EINVAL, "--record-field: '%s' is given twice", name);
        p->field[p->options.n_fields++] = name;
    }
    return ND_OK;
}

struct post *post_new(struct client *client, bool stores, struct nd_error *err)
{
    struct post *p = calloc(1, sizeof *p);

    if (!p) {
        out_of_memory(err);
        return NULL;
    }
    p->client = client;
    p->stores = stores;
    p->report.settings = client->settings;
    p->events = report_events(&p->report);
    p->started_ms = nd_monotonic_ms();
    p->options = *nd_run_options_input(client->settings->run);
    p->options.page_source = 1; /* the service reads pages by its recipe */
    p->ring_size = client->options->connections;
    p->ring = calloc(p->ring_size, sizeof *p->ring);
    if (!p->ring)
        out_of_memory(err);
    else if (list_fields(p, err) == ND_OK)
        p->parser = nd_parser_new(&p->options, err);
    if (p->parser)
        return p;
    post_free(p);
    return NULL;
}

void post_free(struct post *p)
{
    if (!p)
        return;
    for (size_t i = 0; p->ring && i < p->ring_size; i++)
        batch_release(&p->ring[i]);
    free(p->ring);
    free(p->at);
    free(p->field);
    nd_json_release(&p->line);
    nd_json_release(&p->out);
    nd_parser_free(p->parser);
    free(p);
}

const struct nd_input_options *post_input_options(const struct post *p)
{
    return &p->options;
}

const struct nd_run_events *post_events(const struct post *p)
{
    return &p->events;
}

const struct post_counts *post_counts(const struct post *p)
{
    return &p->counts;
}

static void say_counts(const struct post *p)
{
    double seconds = (double)(nd_monotonic_ms() - p->started_ms) / 1000;

    inform("%llu documents in %.1f s: %llu new, %llu duplicates, %llu near duplicates",
           (unsigned long long)p->counts.answered, seconds, (unsigned long long)p->counts.news,
           (unsigned long long)p->counts.duplicates, (unsigned long long)p->counts.near_duplicates);
}

int post_finish(struct post *p, enum nd_status status, const struct nd_error *err)
{
    const struct settings *s = p->client->settings;
    const struct post_counts *n = &p->counts;
    struct nd_use_summary summary = {.documents = n->answered, .left_out = n->left_out};

    report_end(&p->report);
    if (status != ND_OK) {
        say("%s", err->message);
        if (n->answered)
            say("stopped after %llu documents", (unsigned long long)n->answered);
        return 2;
    }
    summary.failed_inputs = p->report.problems[ND_PROBLEM_FAILED];
    summary.found = p->stores ? 1 : n->duplicates + n->near_duplicates;
    if (!s->quiet)
        say_counts(p);
    return report_use(s, ND_OK, err, &summary);
}
