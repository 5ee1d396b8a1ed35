/* fuzz_http.c - targets, header fields, keys and documents of requests: what is accepted is in order
 */
#define _XOPEN_SOURCE 700
#include "base/utf8.h"
#include "server/access_keys.h"
#include "server/posted.h"
#include "server/wire/cursor.h"
#include "server/wire/head.h"
#include "server/wire/target.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

static int is_utf8(struct nd_view v)
{
    for (size_t i = 0; i < v.len;) {
        int n = nd_utf8_sequence((const uint8_t *)v.data + i, v.len - i);

        if (n < 0)
            return 0;
        i += (size_t)n;
    }
    return 1;
}

/* Check that a refusal has a sentence without a line end. */
static int is_accepted(enum nd_refusal refusal, const struct nd_error *err)
{
    if (refusal == ND_REFUSAL_NONE)
        return 1;
    require(err->message[0] && nd_refusal_status(refusal) >= 400);
    return 0;
}

/* A cursor that is read is written in the same way. */
static void check_cursor(struct nd_view text)
{
    char again[ND_CURSOR_MAX];
    struct nd_place place;

    if (nd_cursor_read(text, &place))
        require(nd_cursor_write(&place, again) == text.len &&
                memcmp(again, text.data, text.len) == 0);
}

/* ---- The target ---- */

static void check_target(const char *data, size_t size)
{
    struct nd_error err = {.message = ""};
    char *copy = malloc(size + 1);
    struct nd_label_list labels;
    struct nd_target target;
    uint64_t max_age;
    size_t limit = 7;
    struct nd_ratio at;
    bool dry;

    require(copy != NULL);
    memcpy(copy, data, size);
    if (is_accepted(nd_target_parse(copy, size, &target, &err), &err)) {
        require(target.route < ND_ROUTE_COUNT && nd_route_allow(target.route));
        require(is_utf8(target.id) && target.id.len <= size);
        require((target.id.len > 0) ==
                (target.route == ND_ROUTE_DOCUMENT || target.route == ND_ROUTE_VERSIONS ||
                 target.route == ND_ROUTE_NEAR || target.route == ND_ROUTE_CLUSTER));
        for (int i = 0; i < ND_PARAMETER_COUNT; i++)
            require(is_utf8(target.parameter[i]) && (target.has[i] || !target.parameter[i].len));
        check_cursor(target.parameter[ND_PARAMETER_CURSOR]);
        target.verb = size % 2 ? ND_VERB_GET : ND_VERB_POST;
        (void)is_accepted(nd_target_check(&target, &err), &err);
        if (is_accepted(nd_target_limit(&target, 7, &limit, &err), &err))
            require(limit >= 1 && limit <= 10000);
        if (is_accepted(nd_target_max_age(&target, &max_age, &err), &err))
            require(max_age <= UINT32_MAX);
        if (is_accepted(nd_target_at(&target, &at, &err), &err))
            require((at.q == 0) == !target.has[ND_PARAMETER_AT]);
        (void)is_accepted(nd_target_flag(&target, ND_PARAMETER_DRY, &dry, &err), &err);
        if (is_accepted(nd_labels_split(target.parameter[ND_PARAMETER_SECURITY], &labels, &err),
                        &err))
            for (size_t i = 0; i < labels.n; i++)
                require(labels.label[i].len > 0 &&
                        !memchr(labels.label[i].data, ',', labels.label[i].len));
    }
    free(copy);
}

/* ---- Header fields, a line each ---- */

static void check_fields(const char *data, size_t size)
{
    static const char *const names[] = {"search.example"};
    struct nd_error err = {.message = ""};
    struct nd_head head = {.length = 0};
    struct nd_view charset;

    while (size) {
        const char *newline = memchr(data, '\n', size);
        size_t len = newline ? (size_t)(newline - data) : size;
        const char *colon = memchr(data, ':', len);
        struct nd_view name = {data, colon ? (size_t)(colon - data) : len}, value = {data + len, 0};

        if (colon)
            value = (struct nd_view){colon + 1, len - name.len - 1};
        if (!is_accepted(nd_head_take(&head, name, value, &err), &err))
            return;
        data += len + (newline != NULL);
        size -= len + (newline != NULL);
    }
    (void)nd_host_is_known(head.host, names, 1);
    if (nd_origin_is_same(head.origin, head.host))
        require(head.origin.len > 7);
    require(nd_media_parse(head.content_type, &charset) != ND_MEDIA_NONE ||
            !head.content_type.data);
    require(nd_bearer(head.authorization).len <= head.authorization.len);
    if (is_accepted(nd_head_check(&head, true, &err), &err)) {
        require(head.host.data && !(head.has_length && head.is_chunked));
        require(!head.is_chunked || head.length == 0);
        require(!nd_head_is_encoded(&head) || head.encoding.len > 0);
    }
}

/* ---- Keys ---- */

static void check_keys(const char *data, size_t size)
{
    struct nd_error err = {.message = ""};
    struct nd_service_key key;

    if (nd_key_parse((struct nd_view){data, size}, &key, &err) != 1)
        return;
    require(key.name.len > 0 && key.name.len <= ND_KEY_NAME_MAX && !key.caller);
    require(!key.is_administrator || key.labels.n == 0);
    for (size_t i = 0; i < key.labels.n; i++)
        require(key.labels.label[i].len > 0);
    free(key.line);
}

/* ---- Documents ---- */

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about;
    (void)kind;
    (void)place;
    return remove(path);
}

/* The session of an empty store, which is there as long as the process, and whose files are gone. */
static struct nd_session *a_session(void)
{
    static struct nd_session *session;
    struct nd_store_options options = nd_store_options_default();
    char parent[] = "/tmp/fuzz-http-XXXXXX", folder[sizeof parent + 8];

    if (session)
        return session;
    options.create = true;
    options.snapshot_every_s = 0;
    require(mkdtemp(parent) != NULL);
    (void)snprintf(folder, sizeof folder, "%s/store", parent);
    session = nd_session_new(nd_store_open(folder, &options, NULL), NULL);
    require(session != NULL && nftw(parent, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0);
    return session;
}

static void check_posted(enum nd_refusal refusal, const struct nd_posted *posted,
                         const struct nd_error *err)
{
    if (!is_accepted(refusal, err))
        return;
    require(is_utf8(posted->text) && is_utf8(posted->id));
    require(posted->n_labels <= ND_STORE_LABELS_MAX);
    for (size_t i = 0; i < posted->n_labels; i++)
        require(is_utf8(posted->labels[i]));
}

static void check_document(const char *data, size_t size)
{
    const struct nd_input_options options = nd_input_options_default();
    struct nd_workspace w = {.session = a_session(),
                             .json = nd_json_indexer_new(),
                             .parser = nd_parser_new(&options, NULL)};
    struct nd_error err = {.message = ""};
    struct nd_buffer body = {0};
    struct nd_view none = {NULL, 0}, latin = {"iso-8859-1", 10}, view;
    struct nd_posted posted;

    require(w.json && w.parser && nd_buffer_append(&body, data, size) &&
            nd_buffer_reserve(&body, size + 1));
    view = (struct nd_view){body.data, size};
    check_posted(nd_posted_json(&w, view, true, &posted, &err), &posted, &err);
    check_posted(nd_posted_json(&w, view, false, &posted, &err), &posted, &err);
    require(!posted.id.len && !posted.has_labels);
    check_posted(nd_posted_text(&w, ND_MEDIA_TEXT, none, view, &posted, &err), &posted, &err);
    check_posted(nd_posted_text(&w, ND_MEDIA_TEXT, latin, view, &posted, &err), &posted, &err);
    check_posted(nd_posted_text(&w, ND_MEDIA_HTML, latin, view, &posted, &err), &posted, &err);
    nd_buffer_release(&body);
    nd_json_indexer_free(w.json);
    nd_parser_free(w.parser);
    nd_arena_release(&w.arena);
    nd_charset_release(&w.charset);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data + 1;

    if (size < 2)
        return 0;
    switch (*data % 4) {
    case 0: check_target(text, size - 1); break;
    case 1: check_fields(text, size - 1); break;
    case 2: check_keys(text, size - 1); break;
    default: check_document(text, size - 1); break;
    }
    return 0;
}
