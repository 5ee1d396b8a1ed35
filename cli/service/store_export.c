/* store_export.c - neardup store export: all documents as JSON Lines (docs/format/export.md) */
#include "service/store_commands.h"

#include <neardup/result_file.h>

#include "base/json_out.h"
#include "results.h"

#include <stdlib.h>

struct export
{
    struct results results;
    struct nd_json row;
    uint64_t recipe, documents;
};

static void put_visits(struct nd_json *j, const struct nd_visits *v)
{
    nd_json_key(j, "visits");
    nd_json_open(j, '{');
    nd_json_put_uint(j, "visits", v->visits);
    nd_json_put_uint(j, "changes", v->changes);
    nd_json_put_uint(j, "interval", v->interval);
    nd_json_put_uint(j, "equal", v->equal);
    nd_json_put_uint(j, "changed", v->changed);
    nd_json_put_uint(j, "priority", v->priority);
    nd_json_put_hex(j, "simhash", v->simhash);
    nd_json_put_uint(j, "changed_by", v->changed_by);
    nd_json_put_uint(j, "in_time", v->in_time);
    nd_json_close(j, '}');
}

static void put_version(struct nd_json *j, const struct nd_version *v)
{
    nd_json_open(j, '{');
    nd_json_put_uint(j, "version", v->number);
    nd_json_put_uint(j, "time", v->time);
    nd_json_put_uint(j, "visited", v->visited);
    nd_json_put_uint(j, "distance", v->distance);
    nd_json_put_hex(j, "simhash", v->simhash);
    nd_json_put_hex(j, "identity", v->identity);
    nd_json_put_uint(j, "tokens", v->tokens);
    nd_json_put_uint(j, "shingles", v->shingles);
    nd_json_put_uint(j, "bytes", v->text_bytes);
    nd_json_close(j, '}');
}

/* Write what the recipe reads beside the text, as it is stored, in hexadecimal digits. */
static void put_beside(struct nd_json *j, const struct nd_stored *d)
{
    static const char digit[] = "0123456789abcdef";
    size_t n = d->content.len - d->text.len;
    char *hex = nd_alloc_array(n, 2);

    if (!hex) {
        j->failed = true;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const unsigned char byte = (unsigned char)d->content.data[d->text.len + i];

        hex[2 * i] = digit[byte >> 4];
        hex[2 * i + 1] = digit[byte & 15];
    }
    nd_json_put_string(j, "beside", (struct nd_view){hex, 2 * n});
    free(hex);
}

static void put_document(struct nd_json *j, uint64_t recipe, const struct nd_stored *d,
                         const struct nd_version *versions, size_t n)
{
    nd_json_open(j, '{');
    nd_json_put_string(j, "id", d->key.id);
    nd_json_key(j, "security");
    nd_json_open(j, '[');
    for (size_t i = 0; i < d->key.n_labels; i++)
        nd_json_string(j, d->key.labels[i]);
    nd_json_close(j, ']');
    if (d->title.len)
        nd_json_put_string(j, "title", d->title);
    nd_json_put_string(j, "text", d->text);
    if (d->content.len > d->text.len)
        put_beside(j, d);
    nd_json_put_hex(j, "recipe", recipe);
    nd_json_put_uint(j, "created", d->created);
    nd_json_put_uint(j, "updated", d->updated);
    nd_json_put_uint(j, "visited", d->visited);
    nd_json_put_uint(j, "due", d->due);
    put_visits(j, &d->visits);
    nd_json_key(j, "versions");
    nd_json_open(j, '[');
    for (size_t i = 0; i < n; i++)
        put_version(j, &versions[i]);
    nd_json_close(j, ']');
    nd_json_close(j, '}');
    nd_json_line(j);
}

/* Not 0: stop, since nothing can be written any more. */
static int write_document(void *context, const struct nd_stored *document,
                          const struct nd_version *versions, size_t n)
{
    struct export *e = context;

    e->row.text.len = 0;
    e->row.after_value = false;
    put_document(&e->row, e->recipe, document, versions, n);
    if (!e->row.failed)
        results_put_row(&e->results, e->row.text.data, e->row.text.len);
    e->documents++;
    return e->row.failed || results_failed(&e->results);
}

static enum nd_status export_all(struct export *e, struct opened *o, struct nd_error *err)
{
    e->recipe = o->recipe;
    if (nd_session_each(o->session, o->caller, write_document, e, err) != ND_STORE_OK)
        return err->status == ND_OK ? nd_fail(err, ND_EIO, "the export has stopped") : err->status;
    if (e->row.failed)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (results_failed(&e->results))
        return nd_fail(err, ND_EIO, "%s: cannot be written", e->results.name);
    return ND_OK;
}

/* The sketches of all documents, in place of them. */
static int export_sketches(struct settings *s)
{
    struct nd_store_options options = nd_store_options_default();
    struct nd_error err = {.status = ND_OK};
    struct nd_result_file *file;
    struct opened o;
    uint64_t documents = 0;
    enum nd_status status;

    if (run_option(s, "output")) {
        say("store export writes documents to --output, or their sketches to --sketches, not both");
        return 2;
    }
    options.read_only = true;
    if (nd_result_file_open(&file, s->serve.sketches, NULL, 0, &err) != ND_OK)
        return store_failed(&err);
    status = opened_open(&o, s, &options, &err);
    if (status == ND_OK) {
        if (nd_session_write_sketches(o.session, o.caller, nd_result_file_stream(file),
                                      !s->use.no_shingles, NULL, &documents, &err) != ND_STORE_OK)
            status = err.status;
        status = opened_close(&o, status, &err);
    }
    if (status == ND_OK)
        status = nd_result_file_publish(file, &err);
    else
        nd_result_file_discard(file);
    if (status != ND_OK)
        return store_failed(&err);
    if (!s->quiet)
        inform("%llu documents", (unsigned long long)documents);
    return 0;
}

int store_export(struct settings *s)
{
    struct nd_store_options options = nd_store_options_default();
    struct export e = {.documents = 0};
    struct nd_error err = {.status = ND_OK};
    struct opened o;
    enum nd_status status;

    if (s->serve.sketches)
        return export_sketches(s);
    if (s->use.no_shingles) {
        say("--no-shingles requires --sketches FILE; see neardup help store");
        return 2;
    }
    options.read_only = true;
    if (!results_open(&e.results, run_option(s, "output"), NULL, 0))
        return 2;
    status = opened_open(&o, s, &options, &err);
    if (status == ND_OK)
        status = opened_close(&o, export_all(&e, &o, &err), &err);
    nd_json_release(&e.row);
    if (status != ND_OK)
        return results_close(&e.results, store_failed(&err));
    if (!s->quiet)
        inform("%llu documents", (unsigned long long)e.documents);
    return results_close(&e.results, 0);
}
