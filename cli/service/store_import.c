/* store_import.c - neardup store import: what an export has comes back (docs/format/export.md) */

/*
 * Documents go to the store in batches, each of which is one transaction. A row that is damaged
 * ends the import; the batches before it stay.
 */
#define _GNU_SOURCE
#include "service/store_commands.h"

#include "base/memory.h"
#include "report.h"
#include "service/objects.h"

#include <neardup/input.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 1000, BATCH_BYTES = 8 << 20 };

static const char *const names[] = {"id",
                                    "security",
                                    "recipe",
                                    "created",
                                    "updated",
                                    "visited",
                                    "due",
                                    "versions",
                                    "visits.simhash",
                                    "visits.visits",
                                    "visits.changes",
                                    "visits.interval",
                                    "visits.equal",
                                    "visits.changed",
                                    "visits.priority",
                                    "visits.changed_by",
                                    "visits.in_time",
                                    "labels",
                                    "title",
                                    "beside"};
static const char *const version_names[] = {"version",  "time",   "visited",  "distance", "simhash",
                                            "identity", "tokens", "shingles", "bytes"};
static const char *const text[] = {"text"}, *const security_text[] = {"security.*"},
                         *const no_text[] = {"none"};

enum {
    NAMES = sizeof names / sizeof *names,
    VERSION_NAMES = sizeof version_names / sizeof *version_names
};

struct import {
    struct opened o;
    struct object_reader *rows, *security, *versions;
    struct nd_arena arena;
    struct nd_import at[BATCH];
    size_t n;
    uint64_t documents;
};

static enum nd_status bad(struct nd_error *err, const char *member)
{
    return nd_fail(err, ND_EINPUT, "%s: is none of neardup store export", member);
}

/* Numbers, in the order of the names; `hex` has a bit for each that is a hash. */
static enum nd_status read_numbers(const struct nd_view *value, const char *const *name, size_t n,
                                   unsigned hex, uint64_t *out, struct nd_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (!(hex >> i & 1 ? object_hex(value[i], &out[i]) : object_uint(value[i], &out[i])))
            return bad(err, name[i]);
    return ND_OK;
}

static enum nd_status read_version(struct import *m, struct nd_view json, struct nd_version *out,
                                   struct nd_error *err)
{
    struct nd_view value[VERSION_NAMES], none;
    uint64_t n[VERSION_NAMES];
    enum nd_status status = object_read(m->versions, json, value, &none, err);

    if (status == ND_OK)
        status = read_numbers(value, version_names, VERSION_NAMES, 1 << 4 | 1 << 5, n, err);
    if (status != ND_OK)
        return status;
    if (n[0] > UINT32_MAX || n[3] > 64)
        return bad(err, "versions");
    *out = (struct nd_version){.number = (uint32_t)n[0],
                               .time = n[1],
                               .visited = n[2],
                               .distance = (uint32_t)n[3],
                               .simhash = n[4],
                               .identity = n[5],
                               .tokens = n[6],
                               .shingles = n[7],
                               .text_bytes = n[8]};
    return ND_OK;
}

static enum nd_status read_versions(struct import *m, struct nd_view list, struct nd_import *out,
                                    struct nd_error *err)
{
    struct nd_view at = list, element;
    struct nd_version *versions;
    size_t n = 0;
    enum nd_status status = ND_OK;

    while (object_element(&at, &element))
        n++;
    versions = nd_arena_alloc(&m->arena, (n ? n : 1) * sizeof *versions);
    if (!versions)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    at = list;
    for (size_t i = 0; i < n && status == ND_OK && object_element(&at, &element); i++)
        status = read_version(m, element, &versions[i], err);
    out->versions = versions;
    out->n_versions = n;
    return status == ND_OK && n == 0 ? bad(err, "versions") : status;
}

/* The security labels of a row, which are read one a line. */
static enum nd_status read_security(struct import *m, struct nd_view json, struct nd_import *out,
                                    struct nd_error *err)
{
    struct nd_view none[1], lines, *label;
    size_t n = 0;
    enum nd_status status = object_read(m->security, json, none, &lines, err);

    if (status != ND_OK)
        return status;
    label = nd_arena_alloc(&m->arena, (ND_STORE_LABELS_MAX + 1) * sizeof *label);
    if (!label)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (const char *at = lines.data, *end = at + lines.len; lines.len && at <= end; n++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));

        if (n == ND_STORE_LABELS_MAX)
            return bad(err, "security");
        label[n] = (struct nd_view){at, (size_t)((stop ? stop : end) - at)};
        at = stop ? stop + 1 : end + 1;
    }
    out->key.labels = label;
    out->key.n_labels = n;
    return ND_OK;
}

/* A row without an array would be a document that everybody may see. */
static enum nd_status check_security(struct nd_view security, struct nd_view labels,
                                     struct nd_error *err)
{
    if (security.len && security.data[0] == '[')
        return ND_OK;
    if (!security.len && labels.len)
        return nd_fail(err, ND_EINPUT,
                       "has \"labels\" and no \"security\": who may see a document is said by "
                       "\"security\": [\"a\", \"b\"]");
    return bad(err, "security");
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Put what the recipe reads beside the text behind it, from its hexadecimal digits. */
static enum nd_status add_beside(struct import *m, struct nd_view hex, struct nd_view *body,
                                 struct nd_error *err)
{
    size_t n = hex.len / 2;
    char *content;

    if (!hex.data)
        return ND_OK;
    content = nd_arena_alloc(&m->arena, body->len + n + ND_BUFFER_PADDING);
    if (!content)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (body->len)
        memcpy(content, body->data, body->len);
    for (size_t i = 0; i < n; i++) {
        int high = digit_of(hex.data[2 * i]), low = digit_of(hex.data[2 * i + 1]);

        if (high < 0 || low < 0 || hex.len % 2)
            return bad(err, "beside");
        content[body->len + i] = (char)(high << 4 | low);
    }
    memset(content + body->len + n, 0, ND_BUFFER_PADDING);
    *body = (struct nd_view){content, body->len + n};
    return ND_OK;
}

static enum nd_status read_row(struct import *m, struct nd_view json, struct nd_import *out,
                               struct nd_error *err)
{
    struct nd_view value[NAMES], body;
    uint64_t recipe, time[4], visit[9];
    enum nd_status status = object_read(m->rows, json, value, &body, err);

    if (status == ND_OK && !object_hex(value[2], &recipe))
        status = bad(err, "recipe");
    if (status == ND_OK && recipe != m->o.recipe)
        status = nd_fail(err, ND_EINVAL,
                         "was exported from a store with another recipe (%016" PRIx64
                         ", not %016" PRIx64 "); post it with neardup client",
                         recipe, m->o.recipe);
    if (status == ND_OK)
        status = check_security(value[1], value[17], err);
    if (status == ND_OK)
        status = read_numbers(value + 3, names + 3, 4, 0, time, err);
    if (status == ND_OK)
        status = read_numbers(value + 8, names + 8, 9, 1, visit, err);
    if (status == ND_OK)
        status = add_beside(m, value[19], &body, err);
    if (status != ND_OK)
        return status;
    *out = (struct nd_import){.key = {.id = value[0]},
                              .text = body,
                              .title = value[18],
                              .created = time[0],
                              .updated = time[1],
                              .visited = time[2],
                              .due = time[3],
                              .visits = {.simhash = visit[0],
                                         .visits = visit[1],
                                         .changes = visit[2],
                                         .interval = visit[3],
                                         .equal = (uint32_t)visit[4],
                                         .changed = (uint32_t)visit[5],
                                         .priority = (uint32_t)visit[6],
                                         .changed_by = visit[7],
                                         .in_time = visit[8]}};
    status = read_security(m, json, out, err);
    return status == ND_OK ? read_versions(m, value[7], out, err) : status;
}

static enum nd_status flush_batch(struct import *m, struct nd_error *err)
{
    if (m->n && nd_store_import(m->o.session, m->at, m->n, err) != ND_STORE_OK)
        return err->status;
    m->documents += m->n;
    m->n = 0;
    object_reader_reset(m->rows);
    object_reader_reset(m->security);
    object_reader_reset(m->versions);
    nd_arena_reset(&m->arena);
    return ND_OK;
}

/* Put "file:line: " before what is wrong with a row. */
static enum nd_status name_place(const struct nd_input *input, const struct nd_record *record,
                                 struct nd_error *err)
{
    const struct nd_source *source = nd_input_source(input, record->source);
    struct nd_error reason = *err;

    return nd_fail(err, reason.status, "%s:%llu: %s",
                   strcmp(source->path, "-") == 0 ? "standard input" : source->path,
                   (unsigned long long)record->line, reason.message);
}

static enum nd_status import_all(struct import *m, struct nd_input *input, struct nd_error *err)
{
    struct nd_batch batch = {.count = 0};
    enum nd_status status = ND_OK;
    int more = 1;

    while (status == ND_OK && more == 1) {
        more = nd_input_read(input, BATCH_BYTES, BATCH, &batch, err);
        if (more < 0)
            status = (enum nd_status)more;
        for (size_t i = 0; status == ND_OK && more == 1 && i < batch.count; i++) {
            status = read_row(m, batch.records[i].bytes, &m->at[m->n++], err);
            if (status != ND_OK && status != ND_ENOMEM)
                status = name_place(input, &batch.records[i], err);
        }
        if (status == ND_OK)
            status = flush_batch(m, err);
    }
    nd_batch_release(&batch);
    return status;
}

static enum nd_status import_files(struct import *m, const struct settings *s,
                                   struct report *report, struct nd_error *err)
{
    struct nd_input_options options = nd_input_options_default();
    const struct nd_run_events events = report_events(report);
    const char *const standard_input[] = {"-"};
    size_t n = s->paths.count - 2; /* behind the part and the store */
    struct nd_input *input;
    enum nd_status status;

    options.format = ND_FORMAT_JSONL;
    m->rows = object_reader_new(names, NAMES, text, err);
    m->security = m->rows ? object_reader_new(names, 1, security_text, err) : NULL;
    m->versions =
        m->security ? object_reader_new(version_names, VERSION_NAMES, no_text, err) : NULL;
    if (!m->versions)
        return err->status;
    input = nd_input_open(n ? s->paths.at + 2 : standard_input, n ? n : 1, &options, events.problem,
                          events.context, err);
    if (!input)
        return err->status;
    status = import_all(m, input, err);
    nd_input_close(input);
    return status;
}

int store_import(struct settings *s)
{
    struct nd_store_options options = nd_store_options_default();
    struct report report = {.settings = s};
    struct import *m = calloc(1, sizeof *m);
    struct nd_error err = {.status = ND_ENOMEM, .message = "out of memory"};
    enum nd_status status = ND_ENOMEM;
    int result = 0;

    options.create = true;
    options.least = s->serve.least;
    options.containment = s->serve.containment;
    if (is_given(s, "recipe") || is_given(s, "set"))
        options.recipe = s->recipe;
    if (m)
        status = opened_open(&m->o, s, &options, &err);
    if (status == ND_OK)
        status = opened_close(&m->o, import_files(m, s, &report, &err), &err);
    report_end(&report);
    if (status != ND_OK)
        result = store_failed(&err);
    else if (report.problems[ND_PROBLEM_FAILED])
        result = 3;
    if (m && (result || !s->quiet))
        inform("%llu documents were imported%s", (unsigned long long)m->documents,
               result == 2 ? " before that" : "");
    if (m) {
        object_reader_free(m->rows);
        object_reader_free(m->security);
        object_reader_free(m->versions);
        nd_arena_release(&m->arena);
    }
    free(m);
    return result;
}
