/* template.c - what the documents of a cluster share, and what is left of each */

/*
 * The documents of the cluster are held in memory, tokenised. The template is the set of shingles
 * that occur in a sufficient fraction of them (src/match/shared_shingles.c); every token that such
 * a shingle covers is shared, and the others are what is left of a document. The template is shown
 * as it reads in the document that has most of it.
 */
#include "uses/read_manifest.h"
#include "uses/use.h"

#include <neardup/text.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/hash_set.h"
#include "recipe/recipe_struct.h"

/* ---- The documents of one cluster, from a file that dedup --clusters wrote ------------------- */

/* The hashes of ids, as they stand in the file, that the two passes over the lines look for. */
struct cluster_ids {
    uint64_t wanted;      /* a document of the cluster */
    uint64_t kept;        /* the one that it is kept by, once the first pass has found it: */
    bool is_found;        /* then the second pass lists */
    struct nd_hashes ids; /* of the documents that have the same, in the end sorted */
};

static int by_hash(const void *left, const void *right)
{
    uint64_t x = *(const uint64_t *)left, y = *(const uint64_t *)right;

    return x < y ? -1 : x > y;
}

static enum nd_status read_line(struct cluster_ids *c, bool is_second, const struct nd_record *line,
                                const char *path, struct nd_error *err)
{
    struct nd_cluster_line parts;
    uint64_t id, kept;

    if (nd_cluster_line_parse(line, path, &parts, err) != ND_OK)
        return ND_EINPUT;
    id = nd_hash_bytes(parts.name.data, parts.name.len);
    kept = nd_hash_bytes(parts.kept.data, parts.kept.len);
    if (!is_second && !c->is_found && id == c->wanted) {
        c->is_found = true;
        c->kept = kept;
    }
    if (!is_second || kept != c->kept)
        return ND_OK;
    if (!ND_RESERVE(c->ids.item, &c->ids.capacity, c->ids.n + 1))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    c->ids.item[c->ids.n++] = id;
    return ND_OK;
}

static void note_problem(void *context, const struct nd_problem *problem)
{
    char *message = context;

    if (problem->kind == ND_PROBLEM_FAILED && !*message)
        snprintf(message, sizeof((struct nd_error *)0)->message, "%s", problem->message);
}

static enum nd_status pass(struct cluster_ids *c, bool is_second, const char *path,
                           struct nd_error *err)
{
    struct nd_input_options options = nd_input_options_default();
    char failed[sizeof err->message] = "";
    struct nd_batch batch = {0};
    struct nd_input *input;
    enum nd_status status = ND_OK;
    int got = 1;

    options.format = ND_FORMAT_TEXT;
    options.unit = ND_UNIT_LINE;
    input = nd_input_open(&path, 1, &options, note_problem, failed, err);
    if (!input)
        return ND_ENOMEM;
    while (status == ND_OK && (got = nd_input_read(input, 1 << 20, 1 << 14, &batch, err)) > 0)
        for (size_t i = 0; status == ND_OK && i < batch.count; i++)
            status = read_line(c, is_second, &batch.records[i], path, err);
    nd_batch_release(&batch);
    nd_input_close(input);
    if (status == ND_OK && got < 0)
        status = (enum nd_status)got;
    if (status == ND_OK && *failed)
        status = nd_fail(err, ND_EIO, "%s", failed);
    return status;
}

/* Write an id as in TSV. */
static bool hash_of(struct nd_view id, struct nd_json *room, uint64_t *hash)
{
    room->text.len = 0;
    nd_tsv_field(room, id);
    *hash = nd_hash_bytes(room->text.data, room->text.len);
    return !room->failed;
}

/*
 * Collect the ids of the cluster that contains the document `cluster`, which need not be the kept
 * one. The file has a line for each document (docs/format/outputs.md) and is read twice: to find the kept
 * document of `cluster`, then to find all documents with the same one. ND_EINPUT: the file is of
 * another form, or does not contain the id; ND_EIO, ND_ENOMEM.
 */
static enum nd_status read_ids(struct cluster_ids *c, const char *path, const char *cluster,
                               struct nd_error *err)
{
    struct nd_json room = {0};
    enum nd_status status = ND_OK;

    if (strcmp(path, "-") == 0)
        status = nd_fail(err, ND_EINVAL,
                         "the file of clusters is read twice, so it cannot be standard input");
    else if (!hash_of((struct nd_view){cluster, strlen(cluster)}, &room, &c->wanted))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    if (status == ND_OK)
        status = pass(c, false, path, err);
    if (status == ND_OK && !c->is_found)
        status = nd_fail(err, ND_EINPUT, "%s: no document has the id '%s'", path, cluster);
    if (status == ND_OK)
        status = pass(c, true, path, err);
    if (c->ids.n)
        qsort(c->ids.item, c->ids.n, sizeof *c->ids.item, by_hash);
    nd_json_release(&room);
    return status;
}

/* `room` is scratch. */
static bool has_id(const struct nd_hashes *ids, const struct nd_name *name, struct nd_json *room)
{
    uint64_t hash;

    return hash_of(name->text, room, &hash) && ids->n &&
           bsearch(&hash, ids->item, ids->n, sizeof hash, by_hash) != NULL;
}

/* ---- The template ---------------------------------------------------------------------------- */

struct member {
    struct nd_view text, id;
    enum nd_id_kind id_kind;
    struct nd_token *token;
    size_t n_tokens, n_shared;
};

struct templating {
    struct nd_use use;
    const struct nd_template_params *params;
    struct cluster_ids cluster;
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

static enum nd_status take(void *context, const struct nd_parsed *parsed, struct nd_error *err)
{
    struct templating *t = context;
    const struct nd_name name = nd_use_name(&t->use, parsed);
    const struct nd_view text = parsed->document.text, id = name.text;
    struct member m = {.id_kind = name.kind};

    if (t->params->clusters && !has_id(&t->cluster.ids, &name, &t->room))
        return t->room.failed ? nd_fail(err, ND_ENOMEM, "out of memory") : ND_OK;
    m.text = (struct nd_view){nd_arena_copy(&t->memory, text.data, text.len), text.len};
    m.id = (struct nd_view){nd_arena_copy(&t->memory, id.data, id.len), id.len};
    if (!m.text.data || !m.id.data || !ND_RESERVE(t->at, &t->capacity, t->n + 1))
        return nd_fail(err, ND_ENOMEM, "out of memory for a cluster of %zu documents", t->n + 1);
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
        status = nd_template_find(document, t->n, t->use.run.recipe->dedup.sketch.w,
                                  t->params->share, &t->found, err);
    free(document);
    for (size_t i = 0; status == ND_OK && i < t->n; i++)
        for (size_t k = 0; k < t->at[i].n_tokens; k++)
            t->at[i].n_shared += t->found.is_shared[i][k];
    return status;
}

/* The document with the most shingles of the template; ties go to the first. */
static size_t best_member(const struct templating *t)
{
    size_t best = 0;

    for (size_t i = 1; i < t->n; i++)
        if (t->found.in_model[i] > t->found.in_model[best])
            best = i;
    return best;
}

/*
 * The next run of tokens, from *at on, that are all shared or all not shared. False: there is none.
 */
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

/* Write the piece as one line, without characters that could control a terminal. */
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
        nd_json_put_uint(row, "documents", t->n);
        nd_json_put_uint(row, "least", t->found.least);
        nd_json_put_uint(row, "shingles", t->found.shingles);
        put_id(t, "as_in", best);
        nd_json_put_uint(row, "of_them", t->found.in_model[best]);
        put_pieces(t, best, true, "template");
        nd_json_close(row, '}');
        return end_row(t, err);
    }
    put_words(row, "template: %" PRIu64 " shingles occur in at least %" PRIu64 " of %" PRIu64,
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
        nd_json_put_uint(row, "tokens", m->n_tokens);
        nd_json_put_uint(row, "shared", m->n_shared);
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
        return nd_fail(err, ND_EINPUT, "%s",
                       t->params->clusters ? "no document of the cluster is in the input"
                                           : "the input has no documents");
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
        return nd_fail(
            err, ND_EINVAL,
            "a file of clusters and the id of a document in a cluster must be given together");
    if (nd_recipe_params_check(options->recipe, err) != ND_OK)
        return ND_EINVAL;
    if (options->recipe->dedup.sketch.unit != ND_SHINGLE_WORDS)
        return nd_fail(err, ND_EINVAL, "a template is made of shingles of words, not characters");
    return ND_OK;
}

enum nd_status nd_run_template(const struct nd_run_options *options,
                               const struct nd_template_params *params,
                               const struct nd_run_events *events, struct nd_use_summary *summary,
                               struct nd_error *err)
{
    const struct nd_run_request request = {.writes_output = true,
                                           .reads = &params->clusters,
                                           .n_reads = params->clusters != NULL,
                                           .ignores_signatures = true};
    struct templating t = {.params = params};
    struct nd_error room = {0};
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    status = check(options, params, err);
    if (status == ND_OK && params->clusters)
        status = read_ids(&t.cluster, params->clusters, params->cluster, err);
    if (status != ND_OK) {
        free(t.cluster.ids.item);
        return nd_run_status(status, err);
    }
    status = nd_use_begin(&t.use, options, &request, events, err);
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
    free(t.cluster.ids.item);
    nd_json_release(&t.room);
    nd_arena_release(&t.memory);
    return status;
}
