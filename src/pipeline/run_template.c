/* run_template.c - what the documents of a cluster share, and what is left of each */
#include "pipeline/cluster_ids.h"
#include "pipeline/use.h"

#include <neardup/text.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct member {
    struct nd_view text, id;
    enum nd_id_kind id_kind;
    struct nd_token *token;
    size_t n_tokens, n_shared;
};

struct templating {
    struct nd_use use;
    const struct nd_template_params *params;
    struct nd_cluster_ids ids;
    struct nd_json room;
    struct nd_arena memory;
    struct member *at;
    size_t n, capacity;
    struct nd_template found;
};

struct nd_template_params nd_template_params_default(void)
{
    return (struct nd_template_params){.share = {4, 5}};
}

static enum nd_status take(void *context, const struct nd_use_item *item, struct nd_error *err)
{
    struct templating *t = context;
    const struct nd_view text = item->parsed->document.text, id = item->name.text;
    struct member m = {.id_kind = item->name.kind};
    void *list = t->at;

    if (t->params->clusters && !nd_cluster_ids_has(&t->ids, &item->name, &t->room))
        return t->room.failed ? nd_fail(err, ND_ENOMEM, "out of memory") : ND_OK;
    m.text = (struct nd_view){nd_arena_copy(&t->memory, text.data, text.len), text.len};
    m.id = (struct nd_view){nd_arena_copy(&t->memory, id.data, id.len), id.len};
    if (!m.text.data || !m.id.data || !nd_array_reserve(&list, &t->capacity, t->n + 1, sizeof m))
        return nd_fail(err, ND_ENOMEM, "out of memory for a cluster of %zu documents", t->n + 1);
    t->at = list;
    t->at[t->n] = m;
    t->n++;
    return nd_text_tokens(m.text.data, m.text.len, &t->at[t->n - 1].token,
                          &t->at[t->n - 1].n_tokens, err);
}

static enum nd_status find(struct templating *t, struct nd_error *err)
{
    struct nd_token_list *document = calloc(t->n + 1, sizeof *document);
    enum nd_status status = document ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");

    for (size_t i = 0; status == ND_OK && i < t->n; i++) {
        uint64_t *hash = nd_arena_alloc(&t->memory, t->at[i].n_tokens * sizeof *hash + 1);

        if (!hash)
            status = nd_fail(err, ND_ENOMEM, "out of memory");
        for (size_t k = 0; hash && k < t->at[i].n_tokens; k++)
            hash[k] = t->at[i].token[k].hash;
        document[i] = (struct nd_token_list){hash, t->at[i].n_tokens};
    }
    if (status == ND_OK)
        status = nd_template_find(document, t->n, t->use.options.recipe.dedup.sketch.w,
                                  t->params->share, &t->found, err);
    free(document);
    for (size_t i = 0; status == ND_OK && i < t->n; i++)
        for (size_t k = 0; k < t->at[i].n_tokens; k++)
            t->at[i].n_shared += t->found.is_shared[i][k];
    return status;
}

/* The document with most of the template's shingles; the first of equal ones. */
static size_t best_member(const struct templating *t)
{
    size_t best = 0;

    for (size_t i = 1; i < t->n; i++)
        if (t->found.in_model[i] > t->found.in_model[best])
            best = i;
    return best;
}

/* The next run of tokens from *at on that are, or are not, shared.  False: there is none. */
static bool next_piece(const struct templating *t, size_t which, bool shared, size_t *at,
                       struct nd_view *piece)
{
    const struct member *m = &t->at[which];
    const unsigned char *is_shared = t->found.is_shared[which];
    size_t from;

    while (*at < m->n_tokens && (is_shared[*at] != 0) != shared)
        ++*at;
    from = *at;
    while (*at < m->n_tokens && (is_shared[*at] != 0) == shared)
        ++*at;
    if (from == *at)
        return false;
    piece->data = m->text.data + m->token[from].offset;
    piece->len = (size_t)(m->token[*at - 1].offset + m->token[*at - 1].len - m->token[from].offset);
    return true;
}

/* Of the whole piece one line, without what could steer a terminal. */
static void put_line(struct nd_json *row, struct nd_view piece)
{
    bool space = false;

    nd_json_bytes(row, "  ", 2);
    for (size_t i = 0; i < piece.len; i++) {
        unsigned char c = (unsigned char)piece.data[i];
        bool c1 = c == 0xC2 && i + 1 < piece.len && (unsigned char)piece.data[i + 1] < 0xA0;

        if (c <= 0x20 || c == 0x7F || c1) {
            space = true;
            i += c1;
            continue;
        }
        if (space)
            nd_json_bytes(row, " ", 1);
        space = false;
        nd_json_bytes(row, &piece.data[i], 1);
    }
    nd_json_bytes(row, "\n", 1);
}

static void put_pieces(struct templating *t, size_t which, bool shared, const char *key)
{
    struct nd_json *row = &t->use.row;
    struct nd_view piece;
    size_t at = 0;

    if (t->params->json) {
        nd_json_key(row, key);
        nd_json_open(row, '[');
    }
    while (next_piece(t, which, shared, &at, &piece)) {
        if (t->params->json)
            nd_json_string(row, piece);
        else
            put_line(row, piece);
    }
    if (t->params->json)
        nd_json_close(row, ']');
}

static void put_id(struct templating *t, const char *key, size_t which)
{
    const struct nd_name name = {t->at[which].id_kind, t->at[which].id};
    char shown[300];

    if (t->params->json) {
        nd_json_key(&t->use.row, key);
        nd_name_json(&t->use.row, &name);
        return;
    }
    nd_name_show(name.text, shown, sizeof shown);
    nd_json_bytes(&t->use.row, shown, strlen(shown));
}

static void put_count(struct nd_json *row, const char *key, uint64_t value)
{
    nd_json_key(row, key);
    nd_json_uint(row, value);
}

static void put_words(struct nd_json *row, const char *format, ...) ND_PRINTF(2, 3);

static void put_words(struct nd_json *row, const char *format, ...)
{
    va_list arguments;
    char text[160];
    int len;

    va_start(arguments, format);
    len = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    nd_json_bytes(row, text, (size_t)len);
}

static enum nd_status end_row(struct templating *t, struct nd_error *err)
{
    struct nd_json *row = &t->use.row;
    enum nd_status status;

    if (t->params->json)
        nd_json_line(row);
    if (row->failed)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    status = nd_output_write(t->use.out, row->text.data, row->text.len, err);
    row->text.len = 0;
    row->after_value = false;
    return status;
}

static enum nd_status write_template(struct templating *t, struct nd_error *err)
{
    struct nd_json *row = &t->use.row;
    size_t best = best_member(t);

    if (t->params->json) {
        nd_json_open(row, '{');
        put_count(row, "documents", t->n);
        put_count(row, "least", t->found.least);
        put_count(row, "shingles", t->found.shingles);
        put_id(t, "as_in", best);
        put_count(row, "of_them", t->found.in_model[best]);
        put_pieces(t, best, true, "template");
        nd_json_close(row, '}');
        return end_row(t, err);
    }
    put_words(row, "template: %" PRIu64 " shingles stand in at least %" PRIu64 " of %" PRIu64,
              t->found.shingles, t->found.least, (uint64_t)t->n);
    put_words(row, " documents; %" PRIu64 " of them in ", t->found.in_model[best]);
    put_id(t, NULL, best);
    nd_json_bytes(row, "\n", 1);
    put_pieces(t, best, true, NULL);
    return end_row(t, err);
}

static enum nd_status write_left(struct templating *t, size_t which, struct nd_error *err)
{
    struct nd_json *row = &t->use.row;
    const struct member *m = &t->at[which];

    if (t->params->json) {
        nd_json_open(row, '{');
        put_id(t, "id", which);
        put_count(row, "tokens", m->n_tokens);
        put_count(row, "shared", m->n_shared);
        put_pieces(t, which, false, "left");
        nd_json_close(row, '}');
        return end_row(t, err);
    }
    nd_json_bytes(row, "left of ", 8);
    put_id(t, NULL, which);
    put_words(row, ": %" PRIu64 " of %" PRIu64 " tokens\n", (uint64_t)(m->n_tokens - m->n_shared),
              (uint64_t)m->n_tokens);
    put_pieces(t, which, false, NULL);
    return end_row(t, err);
}

static enum nd_status write_all(struct templating *t, struct nd_error *err)
{
    enum nd_status status;

    if (t->n == 0)
        return nd_fail(err, ND_EINPUT, "there is no document%s",
                       t->params->clusters ? " of the cluster in the input" : "");
    status = nd_use_open(&t->use, t->params->json, err);
    if (status == ND_OK)
        status = write_template(t, err);
    for (size_t i = 0; status == ND_OK && i < t->n; i++)
        status = write_left(t, i, err);
    return status;
}

static enum nd_status check(const struct nd_run_options *options,
                            const struct nd_template_params *params, struct nd_error *err)
{
    if (!params->clusters != !params->cluster)
        return nd_fail(err, ND_EINVAL, "a file of clusters and the id of one go together");
    if (options->recipe.dedup.sketch.unit != ND_SHINGLE_WORDS)
        return nd_fail(err, ND_EINVAL, "a template is made of shingles of words, not characters");
    return ND_OK;
}

enum nd_status nd_run_template(const struct nd_run_options *options,
                               const struct nd_template_params *params,
                               const struct nd_run_events *events, struct nd_use_summary *summary,
                               struct nd_error *err)
{
    const struct nd_run_files files = {
        .writes_output = true, .reads = &params->clusters, .n_reads = params->clusters != NULL};
    struct templating t = {.params = params};
    struct nd_error room = {0};
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    status = check(options, params, err);
    if (status == ND_OK && params->clusters)
        status = nd_cluster_ids_read(&t.ids, params->clusters, params->cluster, err);
    if (status != ND_OK) {
        nd_cluster_ids_release(&t.ids);
        return nd_run_status(status, err);
    }
    status = nd_use_begin(&t.use, options, &files, NULL, NULL, events, err);
    if (status == ND_OK)
        status = nd_use_walk(&t.use, -1, take, &t, err);
    if (status == ND_OK)
        status = find(&t, err);
    if (status == ND_OK)
        status = write_all(&t, err);
    status = nd_use_end(&t.use, status, t.found.shingles, summary, err);
    for (size_t i = 0; i < t.n; i++)
        free(t.at[i].token);
    free(t.at);
    nd_template_release(&t.found);
    nd_cluster_ids_release(&t.ids);
    nd_json_release(&t.room);
    nd_arena_release(&t.memory);
    return status;
}
