/* near_parts.c - for each part of the texts, the first one that it resembles */
#include "uses/repeats/near_parts.h"

#include <neardup/recipe.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/spool.h"
#include "base/file/temporary.h"
#include "base/hash.h"
#include "base/json_out.h"
#include "base/system/c_functions.h"
#include "base/system/descriptor.h"
#include "reading/run_options.h"

/* A row of the manifest: a part that was removed, by its number among all. */
struct removed_part {
    uint64_t part, kept;
    double resemblance;
};

struct nd_near_parts {
    const struct nd_run_options *options;
    const struct nd_repeats_params *params;
    struct nd_recipe *recipe;
    FILE *parts, *decided; /* JSON Lines: the parts, and the manifest of the run over them */
    struct nd_json line;
    uint64_t n_added, n_represented; /* parts */
    struct removed_part coming;      /* part UINT64_MAX: there are no more */
    char *row;
    size_t row_capacity;
    uint64_t *first; /* of each unit of a text, the part that it resembles */
    size_t first_capacity;

    struct nd_spool *rows; /* of nd_near_row, in order */
    uint64_t at;           /* where the next ones are read */
    struct nd_buffer piece;
    size_t in_piece;
    struct nd_near_row *held; /* those of the document that was last asked for */
    size_t n_held, held_capacity;
    uint32_t document;
    bool has_document;
};

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

static enum nd_status no_file(const struct nd_near_parts *near, struct nd_error *err)
{
    return nd_fail(err, ND_EIO, "%s: a temporary file: %s", near->options->tmp, strerror(errno));
}

/* Open a file without a name.  NULL: errno says why. */
static FILE *open_temporary(const char *folder)
{
    const int fd = nd_temporary_spool(folder);
    FILE *file = fd >= 0 ? nd_descriptor_stream(fd, "w+") : NULL;

    if (fd >= 0)
        (void)nd_descriptor_close(fd);
    return file;
}

static enum nd_status make_recipe(struct nd_near_parts *near, struct nd_ratio threshold,
                                  struct nd_error *err)
{
    char assignment[64];
    enum nd_status status;

    snprintf(assignment, sizeof assignment, "threshold=%" PRIu32 "/%" PRIu32, threshold.p,
             threshold.q);
    near->recipe = nd_recipe_new(err);
    if (!near->recipe)
        return ND_ENOMEM;
    status = nd_recipe_set(near->recipe, assignment, err);
    return status == ND_OK ? nd_recipe_set(near->recipe, "short=tokens", err) : status;
}

struct nd_near_parts *nd_near_parts_new(const struct nd_run_options *options,
                                        const struct nd_repeats_params *params,
                                        struct nd_error *err)
{
    struct nd_near_parts *near = calloc(1, sizeof *near);
    enum nd_status status;

    if (!near) {
        (void)no_memory(err);
        return NULL;
    }
    near->options = options;
    near->params = params;
    near->parts = open_temporary(options->tmp);
    near->decided = open_temporary(options->tmp);
    near->rows = nd_spool_new(options->tmp, err);
    status = near->parts && near->decided ? ND_OK : no_file(near, err);
    if (status == ND_OK && near->rows)
        status = make_recipe(near, params->near, err);
    if (status == ND_OK && near->rows)
        return near;
    nd_near_parts_free(near);
    return NULL;
}

void nd_near_parts_free(struct nd_near_parts *near)
{
    if (!near)
        return;
    nd_recipe_free(near->recipe);
    if (near->parts)
        (void)fclose(near->parts);
    if (near->decided)
        (void)fclose(near->decided);
    nd_spool_free(near->rows);
    nd_json_release(&near->line);
    nd_buffer_release(&near->piece);
    free(near->row);
    free(near->first);
    free(near->held);
    free(near);
}

enum nd_status nd_near_parts_add(struct nd_near_parts *near, struct nd_view text,
                                 const struct nd_window_list *units, struct nd_error *err)
{
    struct nd_json *out = &near->line;

    out->text.len = 0;
    for (size_t i = 0; i < units->n; i++) {
        const struct nd_text_window *w = &units->item[i];

        if (!nd_text_units_may_repeat(near->params, w))
            continue;
        nd_json_open(out, '{');
        nd_json_put_uint(out, "id", near->n_added++);
        nd_json_key(out, "text");
        nd_json_string(out, (struct nd_view){text.data + w->from, w->to - w->from});
        nd_json_close(out, '}');
        nd_json_line(out);
    }
    if (out->failed)
        return no_memory(err);
    if (out->text.len && fwrite(out->text.data, 1, out->text.len, near->parts) != out->text.len)
        return no_file(near, err);
    return ND_OK;
}

/* ---- The run over the parts ------------------------------------------------------------------ */

static enum nd_status run(const struct nd_near_parts *near, struct nd_error *err)
{
    struct nd_run_options options = nd_run_options_default();
    struct nd_run_summary summary;
    char from[64], to[64];
    const char *const path = from;

    (void)nd_descriptor_path(nd_stream_descriptor(near->parts), from);
    (void)nd_descriptor_path(nd_stream_descriptor(near->decided), to);
    options.recipe = near->recipe;
    options.threads = near->options->threads;
    options.tmp = near->options->tmp;
    options.memory = near->options->memory;
    options.input.format = ND_FORMAT_JSONL;
    options.paths = &path;
    options.n_paths = 1;
    options.output = "/dev/null";
    options.manifest = to;
    return nd_run_dedup(&options, NULL, &summary, err);
}

/* Find the number behind a key of a row.  False: the row has no such key. */
static bool find_number(const char *row, const char *key, uint64_t *value)
{
    const char *at = strstr(row, key);

    return at && sscanf(at + strlen(key), "%" SCNu64, value) == 1;
}

/* Read which part was removed next. */
static enum nd_status read_removed(struct nd_near_parts *near, struct nd_error *err)
{
    struct removed_part *to = &near->coming;
    uint64_t shared, a, b;

    if (nd_read_line(&near->row, &near->row_capacity, '\n', near->decided) < 0) {
        to->part = UINT64_MAX;
        return ferror(near->decided) ? no_file(near, err) : ND_OK;
    }
    if (!find_number(near->row, "\"removed\":", &to->part) ||
        !find_number(near->row, "\"kept\":", &to->kept) ||
        !find_number(near->row, "\"shared\":", &shared) ||
        !find_number(near->row, "\"shingles_removed\":", &a) ||
        !find_number(near->row, "\"shingles_kept\":", &b))
        return nd_fail(err, ND_EIO, "%s: a temporary file has changed", near->options->tmp);
    to->resemblance = a + b > shared ? (double)shared / (double)(a + b - shared) : 1;
    return ND_OK;
}

enum nd_status nd_near_parts_decide(struct nd_near_parts *near, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    near->coming.part = UINT64_MAX;
    if (!near->n_added)
        return ND_OK;
    if (fflush(near->parts) != 0)
        return no_file(near, err);
    status = run(near, err);
    (void)fclose(near->parts);
    near->parts = NULL;
    if (status != ND_OK)
        return status;
    if (!nd_stream_seek(near->decided, 0) ||
        nd_read_line(&near->row, &near->row_capacity, '\n', near->decided) < 0)
        return no_file(near, err);
    return read_removed(near, err);
}

/* ---- Windows --------------------------------------------------------------------------------- */

/* Note which part each unit of a text resembles, itself if it is the first. */
static enum nd_status find_firsts(struct nd_near_parts *near, uint32_t document,
                                  const struct nd_window_list *units, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (!ND_RESERVE(near->first, &near->first_capacity, units->n))
        return no_memory(err);
    for (size_t i = 0; status == ND_OK && i < units->n; i++) {
        const struct nd_text_window *w = &units->item[i];
        const uint64_t part = near->n_represented;

        if (!nd_text_units_may_repeat(near->params, w))
            continue;
        near->n_represented++;
        near->first[i] = part;
        if (near->coming.part == part) {
            const struct nd_near_row row = {document, w->from, w->to, near->coming.resemblance};

            near->first[i] = near->coming.kept;
            status = nd_spool_append(near->rows, &row, sizeof row, NULL, err);
            if (status == ND_OK)
                status = read_removed(near, err);
        }
    }
    return status;
}

enum nd_status nd_near_parts_represent(struct nd_near_parts *near, uint32_t document,
                                       struct nd_window_list *units, struct nd_error *err)
{
    const enum nd_status status = find_firsts(near, document, units, err);

    if (status == ND_OK)
        nd_text_units_join(near->params, near->first, units);
    return status;
}

/* ---- Evidence -------------------------------------------------------------------------------- */

/* Read the next row.  1; 0: there are no more; ND_EIO, ND_ENOMEM. */
static int next_row(struct nd_near_parts *near, struct nd_near_row *row, struct nd_error *err)
{
    enum { PIECE_ROWS = 4096 };
    const uint64_t left = nd_spool_bytes(near->rows) - near->at;
    const size_t most = PIECE_ROWS * sizeof *row;

    if (near->in_piece == near->piece.len) {
        const size_t len = left < most ? (size_t)left : most;
        enum nd_status status;

        if (!left)
            return 0;
        status = nd_spool_read(near->rows, near->at, len, &near->piece, err);
        if (status != ND_OK)
            return status;
        near->at += len;
        near->in_piece = 0;
    }
    memcpy(row, near->piece.data + near->in_piece, sizeof *row);
    near->in_piece += sizeof *row;
    return 1;
}

/* Hold the rows of a document. */
static enum nd_status hold_rows(struct nd_near_parts *near, uint32_t document, struct nd_error *err)
{
    struct nd_near_row row;
    int got = 1;

    if (near->has_document && near->document == document)
        return ND_OK;
    near->document = document;
    near->has_document = true;
    /* The last one held may belong to a later document than was asked for before. */
    if (near->n_held)
        near->held[0] = near->held[near->n_held - 1];
    near->n_held = near->n_held && near->held[0].document >= document;
    while ((!near->n_held || near->held[near->n_held - 1].document <= document) &&
           (got = next_row(near, &row, err)) > 0) {
        if (row.document < document)
            continue;
        if (!ND_RESERVE(near->held, &near->held_capacity, near->n_held + 1))
            return no_memory(err);
        near->held[near->n_held++] = row;
    }
    return got < 0 ? (enum nd_status)got : ND_OK;
}

double nd_near_parts_resemblance(struct nd_near_parts *near, uint32_t document, uint32_t from,
                                 uint32_t to, struct nd_error *err)
{
    double least = 1;

    if (hold_rows(near, document, err) != ND_OK)
        return -1;
    for (size_t i = 0; i < near->n_held; i++) {
        const struct nd_near_row *row = &near->held[i];

        if (row->document == document && row->from >= from && row->to <= to &&
            row->resemblance < least)
            least = row->resemblance;
    }
    return least;
}
