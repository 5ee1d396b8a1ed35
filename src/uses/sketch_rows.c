/* sketch_rows.c - sketch files as rows of JSON, merged, and cut down to some documents */
#include <neardup/result_file.h>
#include <neardup/sketch_file.h>
#include <neardup/uses.h>

#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "base/memory.h"
#include "evidence/name.h"
#include "record/parts.h"

/* ---- As JSON ---- */

static struct nd_name name_of(const struct nd_sketch_row *row, const struct nd_at *at,
                              struct nd_json *scratch)
{
    return nd_name_at(row->id, row->id_kind, at, scratch);
}

static struct nd_at place_of(const struct nd_sketch_row *row, const struct nd_sketch_source *source)
{
    return (struct nd_at){source->path, source->entry, row->line};
}

static void put_low(struct nd_json *out, const uint8_t *low)
{
    char digits[2 * ND_MINHASH_COUNT];

    for (size_t i = 0; i < ND_MINHASH_COUNT; i++) {
        digits[2 * i] = "0123456789abcdef"[low[i] >> 4];
        digits[2 * i + 1] = "0123456789abcdef"[low[i] & 15];
    }
    nd_json_put_string(out, "low_bytes", (struct nd_view){digits, sizeof digits});
}

static void put_words(struct nd_json *out, const uint64_t *word, size_t n)
{
    nd_json_open(out, '[');
    for (size_t i = 0; i < n; i++)
        nd_json_hex(out, word[i]);
    nd_json_close(out, ']');
}

static void put_signature(struct nd_json *out, const struct nd_signature *x)
{
    if (x->is_rejected)
        nd_json_null(out);
    else
        put_words(out, x->word, x->count);
}

/* A simhash that is the only signature is the fingerprint of a document. */
static void put_signatures(struct nd_json *out, const struct nd_sketch_row *row,
                           const struct nd_sketch_file_info *info)
{
    if (!info->n_signatures)
        return;
    if (nd_sketch_fingerprint_bits(info)) {
        nd_json_key(out, "fingerprint");
        put_signature(out, &row->signature[0]);
        return;
    }
    nd_json_key(out, "signatures");
    nd_json_open(out, '[');
    for (unsigned i = 0; i < info->n_signatures; i++)
        put_signature(out, &row->signature[i]);
    nd_json_close(out, ']');
    nd_json_put_uint(out, "length", row->length);
}

static void put_text_hash(struct nd_json *out, const uint64_t hash[2])
{
    char digits[32];

    for (unsigned i = 0; i < 32; i++)
        digits[i] = "0123456789abcdef"[hash[i < 16 ? 1 : 0] >> (60 - i % 16 * 4) & 15];
    nd_json_put_string(out, "text_hash", (struct nd_view){digits, sizeof digits});
}

static void put_row(struct nd_json *out, const struct nd_sketch_row *row,
                    const struct nd_sketch_source *source, const struct nd_sketch_file_info *info)
{
    struct nd_at at = place_of(row, source);
    struct nd_json scratch = {0}, place = {0};
    struct nd_name name = name_of(row, &at, &scratch);

    nd_json_open(out, '{');
    nd_json_key(out, "id");
    nd_name_json(out, &name);
    nd_at_append(&place, &at);
    nd_json_put_string(out, "at", (struct nd_view){place.text.data, place.text.len});
    put_text_hash(out, row->text_hash);
    nd_json_put_uint(out, "bytes", row->text_bytes);
    nd_json_put_uint(out, "tokens", row->tokens);
    nd_json_put_uint(out, "shingles", row->n_shingles);
    nd_json_put_hex(out, "simhash", row->simhash);
    nd_json_put_hex(out, "identity", row->identity);
    if (info->keeps.minima)
        put_low(out, row->low);
    put_signatures(out, row, info);
    if (row->shingles) {
        nd_json_key(out, "shingle_hashes");
        put_words(out, row->shingles, row->n_shingles);
    }
    nd_json_close(out, '}');
    nd_json_line(out);
    out->failed = out->failed || scratch.failed || place.failed;
    nd_json_release(&scratch);
    nd_json_release(&place);
}

enum nd_status nd_sketch_file_dump(const struct nd_sketch_file *file, int with_shingles,
                                   FILE *stream, struct nd_error *err)
{
    const struct nd_sketch_file_info *info = nd_sketch_file_info(file);
    unsigned parts = with_shingles ? ND_SKETCH_FILE_ALL : ND_SKETCH_FILE_ROWS;
    struct nd_sketch_block block = {0};
    struct nd_json out = {0};
    enum nd_status status = ND_OK;

    for (uint32_t i = 0; status == ND_OK && i < info->blocks; i++) {
        status = nd_sketch_file_read(file, i, parts, &block, err);
        for (size_t j = 0; status == ND_OK && j < block.n; j++) {
            out.text.len = 0;
            put_row(&out, &block.rows[j], nd_sketch_file_source(file, block.rows[j].source), info);
            if (out.failed)
                status = nd_fail(err, ND_ENOMEM, "out of memory");
            else if (fwrite(out.text.data, 1, out.text.len, stream) != out.text.len)
                status = nd_fail(err, ND_EIO, "the rows cannot be written");
        }
    }
    nd_sketch_block_release(&block);
    nd_json_release(&out);
    return status;
}

enum nd_status nd_sketch_file_verify(const struct nd_sketch_file *file, struct nd_error *err)
{
    struct nd_sketch_block block = {0};
    enum nd_status status = ND_OK;

    for (uint32_t i = 0; status == ND_OK && i < nd_sketch_file_info(file)->blocks; i++)
        status = nd_sketch_file_read(file, i, ND_SKETCH_FILE_ALL, &block, err);
    nd_sketch_block_release(&block);
    return status;
}

/* ---- Files into one ---- */

struct merge {
    const struct nd_sketch_merge *params;
    struct nd_recipe *recipe; /* of the first file */
    struct nd_view *id;       /* sorted; those that are wanted */
    bool *is_found;
    struct nd_sketch_file **file;
    struct nd_sketch_writer *writer;
    struct nd_sketch_appender *lock; /* of the file that the output replaces, or NULL */
    struct nd_packed_row packed;
    struct nd_json scratch;
    uint64_t documents;
    struct nd_sketch_joined joined;
};

static int by_bytes(const void *a, const void *b)
{
    const struct nd_view *x = a, *y = b;
    size_t least = x->len < y->len ? x->len : y->len;
    int order = least ? memcmp(x->data, y->data, least) : 0;

    return order ? order : (x->len > y->len) - (x->len < y->len);
}

static enum nd_status sort_ids(struct merge *m, struct nd_error *err)
{
    size_t n = m->params->n_ids;

    m->id = nd_alloc_array(n + 1, sizeof *m->id);
    m->is_found = calloc(n + 1, sizeof *m->is_found);
    if (!m->id || !m->is_found)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (n) {
        memcpy(m->id, m->params->ids, n * sizeof *m->id);
        qsort(m->id, n, sizeof *m->id, by_bytes);
    }
    return ND_OK;
}

static bool is_wanted(struct merge *m, const struct nd_sketch_row *row,
                      const struct nd_sketch_source *source)
{
    struct nd_at at = place_of(row, source);
    struct nd_name name;
    struct nd_view *found;

    if (!m->params->chooses)
        return true;
    name = name_of(row, &at, &m->scratch);
    found = bsearch(&name.text, m->id, m->params->n_ids, sizeof *m->id, by_bytes);
    if (found)
        m->is_found[found - m->id] = true;
    return (found != NULL) != (m->params->leaves_out != 0);
}

static enum nd_status open_files(struct merge *m, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    m->file = calloc(m->params->n_paths, sizeof(struct nd_sketch_file *));
    m->recipe = nd_recipe_new(err);
    if (!m->file || !m->recipe)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; status == ND_OK && i < m->params->n_paths; i++) {
        m->file[i] = nd_sketch_file_open(m->params->paths[i], err);
        if (!m->file[i])
            return err->status;
        if (i == 0) {
            struct nd_view text = nd_sketch_file_info(m->file[0])->recipe;

            status = nd_recipe_parse(m->recipe, m->params->paths[0], text.data, text.len, err);
        } else {
            status = nd_sketch_file_fits(m->file[i], m->recipe, err);
        }
        if (status == ND_OK && nd_sketch_file_info(m->file[i])->keeps.shingles !=
                                   nd_sketch_file_info(m->file[0])->keeps.shingles)
            status =
                nd_fail(err, ND_EINVAL, "%s has shingles, and %s has none",
                        m->params->paths[nd_sketch_file_info(m->file[i])->keeps.shingles ? i : 0],
                        m->params->paths[nd_sketch_file_info(m->file[i])->keeps.shingles ? 0 : i]);
    }
    return status == ND_OK
               ? nd_sketch_files_order(m->file, m->params->n_paths, !m->params->chooses, err)
               : status;
}

/* The sources of a file come behind those that were added before; *first: the number of its first. */
static enum nd_status add_sources(struct merge *m, const struct nd_sketch_file *file,
                                  uint32_t *first, struct nd_error *err)
{
    bool shares;
    enum nd_status status = nd_sketch_join(&m->joined, file, first, &shares, err);

    for (uint32_t i = shares; status == ND_OK && i < nd_sketch_file_info(file)->sources; i++)
        status = nd_sketch_writer_add_source(m->writer, nd_sketch_file_source(file, i), err);
    return status;
}

static enum nd_status add_file(struct merge *m, const struct nd_sketch_file *file,
                               struct nd_error *err)
{
    const struct nd_sketch_file_info *info = nd_sketch_file_info(file);
    struct nd_sketch_block block = {0};
    uint32_t first_source;
    enum nd_status status = add_sources(m, file, &first_source, err);

    for (uint32_t i = 0; status == ND_OK && i < info->blocks; i++) {
        status = nd_sketch_file_read(file, i, ND_SKETCH_FILE_ALL, &block, err);
        for (size_t j = 0; status == ND_OK && j < block.n; j++) {
            struct nd_sketch_row *row = &block.rows[j];

            if (!is_wanted(m, row, nd_sketch_file_source(file, row->source)))
                continue;
            row->source += first_source;
            m->documents++;
            status = nd_sketch_row_pack(m->writer, row, NULL, &m->packed, err);
            if (status == ND_OK)
                status = nd_sketch_writer_add(m->writer, &m->packed, err);
        }
    }
    nd_sketch_block_release(&block);
    return status == ND_OK && m->scratch.failed ? nd_fail(err, ND_ENOMEM, "out of memory") : status;
}

static enum nd_status write_merged(struct merge *m, FILE *stream, struct nd_error *err)
{
    const struct nd_sketch_file_info *first = nd_sketch_file_info(m->file[0]);
    const struct nd_sketch_writer_options options = {.keeps = first->keeps,
                                                     .fields = first->field,
                                                     .n_fields = first->n_fields,
                                                     .name = m->params->output};
    enum nd_status status = ND_OK;

    m->writer = nd_sketch_writer_new(stream, m->recipe, &options, err);
    if (!m->writer)
        return err->status;
    for (size_t i = 0; status == ND_OK && i < m->params->n_paths; i++)
        status = add_file(m, m->file[i], err);
    for (size_t i = 0; status == ND_OK && i < m->params->n_ids; i++)
        if (!m->is_found[i])
            status = nd_fail(err, ND_EINPUT, "no document is called '%.*s'",
                             (int)(m->id[i].len < 200 ? m->id[i].len : 200), m->id[i].data);
    return status == ND_OK ? nd_sketch_writer_finish(m->writer, err) : status;
}

/* Whether documents are taken out of a file, which nobody may add to meanwhile. */
static bool replaces_input(const struct nd_sketch_merge *p)
{
    return p->leaves_out && p->n_paths == 1 && strcmp(p->paths[0], p->output) == 0;
}

static enum nd_status merge_all(struct merge *m, struct nd_error *err)
{
    const struct nd_sketch_merge *p = m->params;
    struct nd_result_file *out = NULL;
    enum nd_status status = sort_ids(m, err);

    if (status == ND_OK)
        status = open_files(m, err);
    if (status == ND_OK && replaces_input(p)) {
        m->lock = nd_sketch_appender_open(p->output, m->recipe, NULL, err);
        status = m->lock ? ND_OK : err->status;
    }
    if (status == ND_OK)
        status = nd_result_file_open(&out, p->output, p->paths, m->lock ? 0 : p->n_paths, err);
    if (status != ND_OK)
        return status;
    status = write_merged(m, nd_result_file_stream(out), err);
    if (status == ND_OK)
        return nd_result_file_publish(out, err);
    nd_result_file_discard(out);
    return status;
}

enum nd_status nd_run_sketch_merge(const struct nd_sketch_merge *params, uint64_t *documents,
                                   struct nd_error *err)
{
    struct nd_error room = {0};
    struct merge m = {.params = params};
    enum nd_status status;

    err = err ? err : &room;
    if (params->n_paths == 0)
        return nd_fail(err, ND_EINVAL, "no sketch file to merge");
    status = merge_all(&m, err);
    for (size_t i = 0; m.file && i < params->n_paths; i++)
        nd_sketch_file_close(m.file[i]);
    nd_sketch_appender_close(m.lock);
    nd_sketch_writer_free(m.writer);
    nd_packed_row_release(&m.packed);
    nd_json_release(&m.scratch);
    nd_recipe_free(m.recipe);
    free(m.file);
    free(m.id);
    free(m.is_found);
    *documents = m.documents;
    return status;
}
