/* handlers.c - the routes: from a request to the store, from what it gives to JSON */
#define _POSIX_C_SOURCE 200809L
#include "server/handlers.h"

#include <neardup/version.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/view.h"
#include "evidence/name.h"
#include "evidence/pair_evidence.h"
#include "server/answers.h"
#include "server/handle_lists.h"

enum {
    LIMIT = 100, /* of lists, unless the request names one */
    QUICK_TEXT_BYTES = 64 << 10,
    QUICK_PAGE_BYTES = 16 << 10
};

static bool is_dry(const struct nd_exchange *x)
{
    return nd_view_is(x->target.parameter[ND_PARAMETER_DRY], "1");
}

/* Whether many stored texts may have to be read and compared word by word. */
static bool differs_in_many(const struct nd_exchange *x)
{
    struct nd_error err;
    size_t limit;

    return nd_view_is(x->target.parameter[ND_PARAMETER_DIFFERS], "1") &&
           nd_target_limit(&x->target, ND_STORE_NEAREST, &limit, &err) == ND_REFUSAL_NONE &&
           limit > ND_STORE_NEAREST;
}

bool nd_handler_stores(const struct nd_exchange *x)
{
    return x->target.route == ND_ROUTE_DOCUMENTS && x->method == ND_VERB_POST && !is_dry(x);
}

bool nd_handler_is_long(const struct nd_exchange *x)
{
    struct nd_error err;
    size_t limit;

    switch (x->target.route) {
    case ND_ROUTE_COMPARE:
    case ND_ROUTE_CLUSTERS:
    case ND_ROUTE_SKETCHES: return true;
    case ND_ROUTE_DOCUMENTS:
        if (x->method == ND_VERB_GET)
            return nd_handler_lists_long(x);
        /* fall through */
    case ND_ROUTE_QUERY:
    case ND_ROUTE_FINGERPRINTS:
        return x->body.len > (x->media == ND_MEDIA_TEXT ? QUICK_TEXT_BYTES : QUICK_PAGE_BYTES) ||
               differs_in_many(x);
    case ND_ROUTE_VERSIONS:
    case ND_ROUTE_NEAR:
    case ND_ROUTE_CLUSTER:
    case ND_ROUTE_CRAWL:
        return nd_target_limit(&x->target, LIMIT, &limit, &err) == ND_REFUSAL_NONE && limit > LIMIT;
    default: return false;
    }
}

/* ---- Documents that are posted ---- */

static enum nd_refusal read_body(struct nd_exchange *x, struct nd_workspace *w,
                                 struct nd_posted *out, struct nd_label_list *labels,
                                 struct nd_error *err)
{
    const struct nd_target *target = &x->target;
    struct nd_view body = {x->body.data ? x->body.data : "", x->body.len};
    bool has_key = target->route == ND_ROUTE_DOCUMENTS;
    enum nd_refusal refusal;

    if (x->media == ND_MEDIA_JSON)
        return nd_posted_json(w, body, has_key, out, err);
    refusal = nd_posted_text(w, x->media, x->charset, body, out, err);
    if (refusal != ND_REFUSAL_NONE)
        return refusal;
    if (target->has[ND_PARAMETER_TITLE])
        out->title = target->parameter[ND_PARAMETER_TITLE];
    out->id = target->parameter[ND_PARAMETER_ID];
    if (target->has[ND_PARAMETER_ID] && out->id.len == 0)
        return nd_refuse(err, ND_REFUSAL_INVALID, "id= is empty");
    if (!target->has[ND_PARAMETER_SECURITY])
        return ND_REFUSAL_NONE;
    refusal = nd_labels_split(target->parameter[ND_PARAMETER_SECURITY], labels, err);
    out->labels = labels->label;
    out->n_labels = labels->n;
    out->has_labels = true;
    return refusal;
}

/* Read what is asked for with a document: the member of JSON counts more than the address, which has
 * been checked. */
static struct nd_asked asked_for(const struct nd_exchange *x, const struct nd_posted *posted)
{
    struct nd_asked asked;
    struct nd_error err;

    (void)nd_target_limit(&x->target, ND_STORE_NEAREST, &asked.limit, &err);
    (void)nd_target_max_age(&x->target, &asked.max_age_s, &err);
    (void)nd_target_flag(&x->target, ND_PARAMETER_DIFFERS, &asked.differs, &err);
    (void)nd_target_at(&x->target, &asked.at, &err);
    if (posted->max_age_s)
        asked.max_age_s = posted->max_age_s;
    return asked;
}

enum nd_refusal nd_write_posted(struct nd_exchange *x, struct nd_workspace *w,
                                const struct nd_posted *posted, struct nd_write **write,
                                struct nd_error *err)
{
    const struct nd_label_list *given = &x->key->given;
    struct nd_write_request request = {.id = posted->id,
                                       .text = posted->text,
                                       .title = posted->title,
                                       .asked = asked_for(x, posted)};

    request.labels = posted->has_labels ? posted->labels : given->label;
    request.n_labels = posted->has_labels ? posted->n_labels : given->n;
    return nd_refusal_of_store(nd_write_new(w->session, x->key->caller, &request, write, err));
}

/* The id of a document without one: the hash of its text. */
static struct nd_view hash_id(struct nd_view text, char out[33])
{
    uint64_t low, high;

    nd_hash_bytes_128(text.data, text.len, &low, &high);
    (void)snprintf(out, 33, "%016llx%016llx", (unsigned long long)high, (unsigned long long)low);
    return (struct nd_view){out, 32};
}

/* Answer with what would be stored and decided; check everything that a write checks. */
static enum nd_refusal put_dry(struct nd_exchange *x, struct nd_workspace *w,
                               const struct nd_posted *posted, struct nd_json *out,
                               struct nd_error *err)
{
    const struct nd_asked asked = asked_for(x, posted);
    struct nd_label_list labels = x->key->given;
    struct nd_document_key key = {.id = posted->id};
    struct nd_verdict verdict;
    struct nd_write *write;
    char hash[33];
    enum nd_refusal refusal = nd_write_posted(x, w, posted, &write, err);

    if (refusal != ND_REFUSAL_NONE)
        return refusal;
    nd_write_free(write);
    if (posted->has_labels) {
        labels.n = posted->n_labels;
        if (labels.n)
            memcpy(labels.label, posted->labels, labels.n * sizeof *labels.label);
        nd_labels_sort(&labels);
    }
    key.labels = labels.label;
    key.n_labels = labels.n;
    if (key.id.len == 0)
        key.id = hash_id(posted->text, hash);
    refusal = nd_refusal_of_store(
        nd_session_query(w->session, x->key->caller, posted->text, &key, &asked, &verdict, err));
    if (refusal != ND_REFUSAL_NONE)
        return refusal;
    nd_metrics_verdict(&x->server->metrics, verdict.kind);
    nd_put_document_key(out, &key);
    nd_put_verdict(out, &verdict, x->server->has_simhash);
    nd_json_put_bool(out, "stored", false);
    return ND_REFUSAL_NONE;
}

static enum nd_refusal put_query(struct nd_exchange *x, struct nd_workspace *w,
                                 const struct nd_posted *posted, struct nd_json *out,
                                 struct nd_error *err)
{
    const struct nd_asked asked = asked_for(x, posted);
    struct nd_verdict verdict;
    enum nd_refusal refusal = nd_refusal_of_store(
        nd_session_query(w->session, x->key->caller, posted->text, NULL, &asked, &verdict, err));

    if (refusal != ND_REFUSAL_NONE)
        return refusal;
    nd_metrics_verdict(&x->server->metrics, verdict.kind);
    nd_put_verdict(out, &verdict, x->server->has_simhash);
    return ND_REFUSAL_NONE;
}

static enum nd_refusal put_fingerprint(struct nd_workspace *w, const struct nd_posted *posted,
                                       struct nd_json *out, struct nd_error *err)
{
    struct nd_fingerprint fingerprint;
    enum nd_refusal refusal =
        nd_refusal_of_store(nd_session_fingerprint(w->session, posted->text, &fingerprint, err));

    if (refusal == ND_REFUSAL_NONE)
        nd_put_fingerprint(out, &fingerprint);
    return refusal;
}

enum nd_refusal nd_put_reading(struct nd_exchange *x, struct nd_workspace *w,
                               const struct nd_posted *posted, struct nd_json *out,
                               struct nd_error *err)
{
    enum nd_refusal refusal;

    if (x->target.route == ND_ROUTE_DOCUMENTS)
        refusal = put_dry(x, w, posted, out, err);
    else if (x->target.route == ND_ROUTE_QUERY)
        refusal = put_query(x, w, posted, out, err);
    else
        refusal = put_fingerprint(w, posted, out, err);
    if (refusal == ND_REFUSAL_NONE)
        nd_put_replaced(out, posted->replaced);
    return refusal;
}

static enum nd_refusal handle_posted(struct nd_exchange *x, struct nd_workspace *w,
                                     struct nd_error *err)
{
    struct nd_label_list labels;
    struct nd_posted posted;
    enum nd_refusal refusal = read_body(x, w, &posted, &labels, err);

    if (refusal != ND_REFUSAL_NONE)
        return refusal;
    if (nd_handler_stores(x)) {
        x->replaced = posted.replaced;
        return nd_write_posted(x, w, &posted, &x->write, err);
    }
    nd_json_open(&x->out, '{');
    refusal = nd_put_reading(x, w, &posted, &x->out, err);
    nd_json_close(&x->out, '}');
    nd_json_line(&x->out);
    return refusal;
}

enum nd_refusal nd_handle_written(struct nd_exchange *x, struct nd_error *err)
{
    const struct nd_written *written = nd_write_result(x->write);
    enum nd_refusal refusal = nd_refusal_of_store(written->result);

    if (refusal != ND_REFUSAL_NONE)
        return nd_refuse(err, refusal, "%s", written->message ? written->message : "");
    if (x->target.route == ND_ROUTE_DOCUMENT) {
        x->status = 204;
        return ND_REFUSAL_NONE;
    }
    x->status = written->is_new_version && written->version == 1 ? 201 : 200;
    nd_metrics_verdict(&x->server->metrics, written->verdict.kind);
    nd_json_open(&x->out, '{');
    nd_put_written(&x->out, written, x->server->has_simhash);
    nd_put_replaced(&x->out, x->replaced);
    nd_json_close(&x->out, '}');
    nd_json_line(&x->out);
    return ND_REFUSAL_NONE;
}

/* ---- Documents that are stored ---- */

static enum nd_refusal find_document(struct nd_exchange *x, struct nd_view id,
                                     enum nd_parameter labels, struct nd_label_list *list,
                                     struct nd_document_query *out, struct nd_error *err)
{
    enum nd_refusal refusal = ND_REFUSAL_NONE;

    list->n = 0;
    if (x->target.has[labels])
        refusal = nd_labels_split(x->target.parameter[labels], list, err);
    *out = (struct nd_document_query){
        .id = id, .labels = list->label, .n_labels = list->n, .any_labels = !x->target.has[labels]};
    return refusal;
}

static enum nd_refusal handle_document(struct nd_exchange *x, struct nd_workspace *w,
                                       const struct nd_document_query *query, struct nd_error *err)
{
    struct nd_write_request request = {.id = query->id,
                                       .labels = query->labels,
                                       .n_labels = query->n_labels,
                                       .any_labels = query->any_labels,
                                       .is_deletion = true};
    struct nd_stored stored;
    enum nd_store_result result;

    if (x->method == ND_VERB_DELETE)
        return nd_refusal_of_store(
            nd_write_new(w->session, x->key->caller, &request, &x->write, err));
    result = nd_session_get(w->session, x->key->caller, query, &stored, err);
    if (result == ND_STORE_OK)
        nd_answer_stored(&x->out, &stored, x->server->has_simhash);
    return nd_refusal_of_store(result);
}

static enum nd_refusal handle_versions(struct nd_exchange *x, struct nd_workspace *w,
                                       const struct nd_document_query *query, size_t limit,
                                       struct nd_error *err)
{
    const struct nd_version *versions;
    struct nd_stored stored;
    size_t n;
    enum nd_store_result result =
        nd_session_versions(w->session, x->key->caller, query, limit, &stored, &versions, &n, err);

    if (result == ND_STORE_OK)
        nd_answer_versions(&x->out, &stored, versions, n, x->server->has_simhash);
    return nd_refusal_of_store(result);
}

/* The labels that the answer names: those of the query, or those of the only document with the id. */
static enum nd_refusal handle_neighbours(struct nd_exchange *x, struct nd_workspace *w,
                                         const struct nd_document_query *query, size_t limit,
                                         struct nd_error *err)
{
    bool is_cluster = x->target.route == ND_ROUTE_CLUSTER;
    struct nd_neighbours neighbours = {.n = 0};
    struct nd_document_query exact = *query;
    struct nd_label_list labels = {.n = 0};
    struct nd_stored stored;
    enum nd_store_result result;

    if (query->any_labels) {
        result = nd_session_get(w->session, x->key->caller, query, &stored, err);
        if (result != ND_STORE_OK)
            return nd_refusal_of_store(result);
        for (; labels.n < stored.key.n_labels; labels.n++) {
            struct nd_view label = stored.key.labels[labels.n];
            char *copy = nd_arena_copy(&w->arena, label.data, label.len);

            if (!copy)
                return nd_refuse(err, ND_REFUSAL_BUSY, "out of memory");
            labels.label[labels.n] = (struct nd_view){copy, label.len};
        }
        exact = (struct nd_document_query){query->id, labels.label, labels.n, false};
    }
    result = (is_cluster ? nd_session_cluster : nd_session_near)(w->session, x->key->caller, &exact,
                                                                 limit, &neighbours, err);
    if (result == ND_STORE_OK) {
        struct nd_document_key key = {exact.id, exact.labels, exact.n_labels};

        nd_answer_neighbours(&x->out, &key, is_cluster, &neighbours, x->server->has_simhash);
    }
    return nd_refusal_of_store(result);
}

static enum nd_refusal handle_stored(struct nd_exchange *x, struct nd_workspace *w,
                                     struct nd_error *err)
{
    struct nd_document_query query;
    struct nd_label_list labels;
    size_t limit;
    enum nd_refusal refusal =
        find_document(x, x->target.id, ND_PARAMETER_SECURITY, &labels, &query, err);

    if (refusal == ND_REFUSAL_NONE)
        refusal = nd_target_limit(&x->target, LIMIT, &limit, err);
    if (refusal != ND_REFUSAL_NONE)
        return refusal;
    switch (x->target.route) {
    case ND_ROUTE_VERSIONS: return handle_versions(x, w, &query, limit, err);
    case ND_ROUTE_NEAR:
    case ND_ROUTE_CLUSTER: return handle_neighbours(x, w, &query, limit, err);
    default: return handle_document(x, w, &query, err);
    }
}

/* ---- Two documents ---- */

/* A stored document with its text and its name, in the workspace. */
static enum nd_refusal get_copy(struct nd_exchange *x, struct nd_workspace *w, unsigned which,
                                struct nd_document *out, struct nd_document_name *name,
                                struct nd_error *err)
{
    static const enum nd_parameter id[2] = {ND_PARAMETER_A, ND_PARAMETER_B};
    static const enum nd_parameter of[2] = {ND_PARAMETER_A_SECURITY, ND_PARAMETER_B_SECURITY};
    struct nd_view text = x->target.parameter[id[which]];
    struct nd_document_query query;
    struct nd_label_list labels;
    struct nd_stored stored;
    enum nd_refusal refusal;
    char *copy;

    refusal = find_document(x, text, of[which], &labels, &query, err);
    if (refusal == ND_REFUSAL_NONE)
        refusal =
            nd_refusal_of_store(nd_session_get(w->session, x->key->caller, &query, &stored, err));
    if (refusal != ND_REFUSAL_NONE)
        return refusal;
    copy = nd_arena_copy(&w->arena, stored.text.data, stored.text.len);
    *out = (struct nd_document){.id = text, .id_kind = ND_ID_STRING};
    out->text = (struct nd_view){copy, stored.text.len};
    if (!copy || !nd_name_copy(name, &(struct nd_name){ND_ID_STRING, text}, text))
        return nd_refuse(err, ND_REFUSAL_BUSY, "out of memory");
    return ND_REFUSAL_NONE;
}

static enum nd_refusal compare(struct nd_exchange *x, const struct nd_document documents[2],
                               struct nd_document_name name[2], struct nd_error *err)
{
    const struct nd_document *const pair[2] = {&documents[0], &documents[1]};
    struct nd_compare_params params = nd_compare_params_default();
    struct nd_comparison comparison = {0};
    char *text = NULL;
    size_t len = 0;
    enum nd_status status;

    params.parts = ND_COMPARE_EDIT | ND_COMPARE_SCRIPT | ND_COMPARE_PASSAGES;
    status =
        nd_compare_documents(nd_store_recipe(x->server->store), &params, pair, &comparison, err);
    for (int i = 0; i < 2; i++) {
        comparison.name[i] = name[i];
        name[i] = (struct nd_document_name){0};
    }
    if (status == ND_OK)
        status = nd_comparison_json(&comparison, &text, &len, err);
    nd_comparison_release(&comparison);
    if (status == ND_OK)
        nd_json_bytes(&x->out, text, len);
    free(text);
    return nd_refusal_of_status(status);
}

/* The document of the body, which has no id. */
static enum nd_refusal get_posted(struct nd_exchange *x, struct nd_workspace *w,
                                  struct nd_document *out, struct nd_document_name *name,
                                  struct nd_error *err)
{
    static const struct nd_view at = {"body", 4};
    struct nd_label_list labels;
    struct nd_posted posted;
    enum nd_refusal refusal = read_body(x, w, &posted, &labels, err);

    if (refusal != ND_REFUSAL_NONE)
        return refusal;
    *out = (struct nd_document){.text = posted.text};
    return nd_name_copy(name, &(struct nd_name){ND_ID_NONE, at}, at)
               ? ND_REFUSAL_NONE
               : nd_refuse(err, ND_REFUSAL_BUSY, "out of memory");
}

static enum nd_refusal check_named(const struct nd_exchange *x, bool is_posted,
                                   struct nd_error *err)
{
    const struct nd_target *t = &x->target;

    if (is_posted && (t->has[ND_PARAMETER_B] || t->has[ND_PARAMETER_B_SECURITY]))
        return nd_refuse(err, ND_REFUSAL_MALFORMED, "the second document is that of the body");
    if (is_posted && t->parameter[ND_PARAMETER_A].len == 0)
        return nd_refuse(err, ND_REFUSAL_MALFORMED, "a= names the document to compare with");
    if (!is_posted && (t->parameter[ND_PARAMETER_A].len == 0 || !t->parameter[ND_PARAMETER_B].len))
        return nd_refuse(err, ND_REFUSAL_MALFORMED, "a= and b= name the documents");
    return ND_REFUSAL_NONE;
}

/* The body is read first, since that empties the workspace, which then has a copy of the other. */
static enum nd_refusal handle_compare(struct nd_exchange *x, struct nd_workspace *w,
                                      struct nd_error *err)
{
    const bool is_posted = x->method == ND_VERB_POST;
    struct nd_document documents[2];
    struct nd_document_name name[2] = {{0}, {0}};
    enum nd_refusal refusal = check_named(x, is_posted, err);

    if (refusal == ND_REFUSAL_NONE && is_posted)
        refusal = get_posted(x, w, &documents[1], &name[1], err);
    if (refusal == ND_REFUSAL_NONE)
        refusal = get_copy(x, w, 0, &documents[0], &name[0], err);
    if (refusal == ND_REFUSAL_NONE && !is_posted)
        refusal = get_copy(x, w, 1, &documents[1], &name[1], err);
    if (refusal == ND_REFUSAL_NONE)
        refusal = compare(x, documents, name, err);
    nd_name_release(&name[0]);
    nd_name_release(&name[1]);
    return refusal;
}

/* ---- The rest ---- */

static enum nd_refusal handle_crawl(struct nd_exchange *x, struct nd_workspace *w,
                                    struct nd_error *err)
{
    const struct nd_crawl_row *rows;
    enum nd_store_result result;
    uint32_t expect;
    size_t limit, n;
    enum nd_refusal refusal = nd_target_limit(&x->target, LIMIT, &limit, err);

    if (refusal == ND_REFUSAL_NONE)
        refusal = nd_target_expect(&x->target, &expect, err);
    if (refusal != ND_REFUSAL_NONE)
        return refusal;
    result = nd_session_crawl(w->session, x->key->caller, expect, limit, &rows, &n, err);
    if (result == ND_STORE_OK)
        nd_answer_crawl(&x->out, rows, n, nd_server_now(x->server), x->server->has_simhash);
    return nd_refusal_of_store(result);
}

static void put_ratio(struct nd_json *out, const char *name, struct nd_ratio ratio)
{
    if (ratio.q) {
        nd_json_put_double(out, name, (double)ratio.p / ratio.q);
    } else {
        nd_json_key(out, name);
        nd_json_null(out);
    }
}

static enum nd_refusal put_recipe(const struct nd_store *store, struct nd_json *out,
                                  struct nd_error *err)
{
    const struct nd_recipe *recipe = nd_store_recipe(store);
    uint64_t fingerprint;
    char *text;
    size_t len;
    enum nd_status status = nd_recipe_canonical(recipe, &text, &len, &fingerprint, err);

    if (status != ND_OK)
        return nd_refusal_of_status(status);
    nd_json_key(out, "recipe");
    nd_json_open(out, '{');
    nd_json_put_hex(out, "fingerprint", fingerprint);
    nd_json_put_string(out, "text", (struct nd_view){text, len});
    put_ratio(out, "least", nd_store_least(store));
    put_ratio(out, "containment", nd_store_containment(store));
    nd_json_close(out, '}');
    free(text);
    return ND_REFUSAL_NONE;
}

static enum nd_refusal handle_stats(struct nd_exchange *x, struct nd_workspace *w,
                                    struct nd_error *err)
{
    struct nd_json *out = &x->out;
    struct nd_visible_stats visible;
    struct nd_store_stats all;
    enum nd_refusal refusal =
        nd_refusal_of_store(nd_session_visible_stats(w->session, x->key->caller, &visible, err));

    if (refusal != ND_REFUSAL_NONE)
        return refusal;
    nd_json_open(out, '{');
    nd_json_put_text(out, "version", nd_version());
    nd_json_key(out, "you");
    nd_json_open(out, '{');
    nd_put_labels(out, "security", x->key->labels.label, x->key->labels.n);
    nd_json_put_bool(out, "administrator", x->key->is_administrator);
    nd_json_close(out, '}');
    nd_json_key(out, "visible");
    nd_put_visible(out, &visible);
    refusal = put_recipe(x->server->store, out, err);
    if (x->key->is_administrator) {
        nd_store_stats(x->server->store, &all);
        nd_json_key(out, "store");
        nd_put_store(out, &all);
    }
    nd_json_close(out, '}');
    nd_json_line(out);
    return refusal;
}

static enum nd_refusal handle_metrics(struct nd_exchange *x, struct nd_error *err)
{
    struct nd_server *server = x->server;
    struct nd_server_gauges gauges = {
        .connections = nd_peers_count(server->peers),
        .active = atomic_load(&server->n_active),
        .waiting_jobs = nd_jobs_waiting(server->jobs),
        .buffered_bytes = atomic_load(&server->n_buffered),
    };
    struct nd_store_stats all;
    char *text;
    size_t len;

    if (!x->key->is_administrator)
        return nd_refuse(err, ND_REFUSAL_ADMINISTRATOR,
                         "the figures of the service tell of documents that you may not see");
    if (nd_recipe_canonical(nd_store_recipe(server->store), &text, &len, &gauges.recipe, err) !=
        ND_OK)
        return ND_REFUSAL_BUSY;
    free(text);
    nd_store_stats(server->store, &all);
    nd_metrics_write(&server->metrics, &gauges, &all, &x->out);
    x->type = "text/plain; version=0.0.4; charset=utf-8";
    return ND_REFUSAL_NONE;
}

static enum nd_refusal put_status(struct nd_exchange *x, const char *status)
{
    nd_json_open(&x->out, '{');
    nd_json_put_text(&x->out, "status", status);
    nd_json_close(&x->out, '}');
    nd_json_line(&x->out);
    return ND_REFUSAL_NONE;
}

/* Whether it answers, and would store a document. */
static enum nd_refusal handle_ready(struct nd_exchange *x, struct nd_error *err)
{
    struct nd_error own;

    switch (nd_store_ready(x->server->store, &own)) {
    case ND_STORE_OK: return put_status(x, "ready");
    case ND_STORE_BUSY:
        return nd_refuse(err, ND_REFUSAL_NOT_READY, "too many documents wait to be written");
    case ND_STORE_NO_SPACE:
        return nd_refuse(err, ND_REFUSAL_NOT_READY, "the disk of the store is full");
    default:
        return nd_refuse(err, ND_REFUSAL_NOT_READY,
                         "the store takes no writes until the service is started again");
    }
}

enum nd_refusal nd_handle(struct nd_exchange *x, struct nd_workspace *w, struct nd_error *err)
{
    switch (x->target.route) {
    case ND_ROUTE_HEALTH: return put_status(x, "ok");
    case ND_ROUTE_READY: return handle_ready(x, err);
    case ND_ROUTE_METRICS: return handle_metrics(x, err);
    case ND_ROUTE_STATS: return handle_stats(x, w, err);
    case ND_ROUTE_DOCUMENTS:
        return x->method == ND_VERB_GET ? nd_handle_recent(x, w, err) : handle_posted(x, w, err);
    case ND_ROUTE_QUERY:
    case ND_ROUTE_FINGERPRINTS: return handle_posted(x, w, err);
    case ND_ROUTE_CLUSTERS: return nd_handle_clusters(x, w, err);
    case ND_ROUTE_DOCUMENT:
    case ND_ROUTE_VERSIONS:
    case ND_ROUTE_NEAR:
    case ND_ROUTE_CLUSTER: return handle_stored(x, w, err);
    case ND_ROUTE_COMPARE: return handle_compare(x, w, err);
    case ND_ROUTE_CRAWL: return handle_crawl(x, w, err);
    case ND_ROUTE_SKETCHES: return nd_handle_sketches(x, w, err);
    default: return nd_refuse(err, ND_REFUSAL_NO_PATH, "there is no such path");
    }
}
