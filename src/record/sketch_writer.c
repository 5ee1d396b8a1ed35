/*
 * sketch_writer.c - writes a sketch file: rows and shingles are gathered into blocks, the directory
 * comes last
 *
 * Any thread packs a row into its bytes; one thread adds the packed rows in order.  The heads are
 * written at the end, so that a file that was not completed is none.
 */
#include <neardup/sketch_file.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/system/c_functions.h"
#include "base/system/descriptor.h"
#include "recipe/recipe_struct.h"
#include "record/packed_document.h"
#include "record/sketch_file_layout.h"

struct nd_sketch_writer {
    FILE *stream; /* of a new file; NULL: it goes on with one */
    int fd;       /* of this */
    union nd_sketch_head_page page;
    uint64_t offset; /* where the next byte goes */
    uint64_t last_source;
    struct nd_buffer rows, shingles; /* of the block at hand */
    uint32_t n_rows;
    struct nd_sketch_block_entry *entry;
    size_t entry_capacity;
    struct nd_buffer sources;
    char *name; /* in messages; NULL: the sketch file */
};

static enum nd_status not_written(const char *name, int reason, struct nd_error *err)
{
    return nd_fail(err, ND_EIO, "%s%scannot be written: %s", name ? name : "the sketch file",
                   name ? ": " : " ", strerror(reason));
}

enum nd_status nd_sketch_write_at(int fd, const char *name, const void *data, size_t len,
                                  uint64_t at, struct nd_error *err)
{
    return nd_descriptor_write_at(fd, data, len, at) ? ND_OK : not_written(name, errno, err);
}

static enum nd_status put(struct nd_sketch_writer *w, const void *data, size_t len,
                          struct nd_error *err)
{
    if (!w->stream) {
        w->offset += len;
        return nd_sketch_write_at(w->fd, w->name, data, len, w->offset - len, err);
    }
    if (len && fwrite(data, 1, len, w->stream) != len)
        return not_written(w->name, errno, err);
    w->offset += len;
    return ND_OK;
}

static enum nd_status put_zeroes(struct nd_sketch_writer *w, uint64_t until, struct nd_error *err)
{
    static const char zeroes[ND_SKETCH_HEAD_BYTES];
    enum nd_status status = ND_OK;

    while (status == ND_OK && w->offset < until)
        status = put(w, zeroes,
                     until - w->offset < sizeof zeroes ? until - w->offset : sizeof zeroes, err);
    return status;
}

/* Return the bits of a simhash, or of each value or coordinate. */
static unsigned bits_of(const struct nd_signature_params *x)
{
    switch (x->kind) {
    case ND_SIGNATURE_SIMHASH:
    case ND_SIGNATURE_MOD_P:
    case ND_SIGNATURE_WINNOWING:
    case ND_SIGNATURE_BOTTOM_K:
    case ND_SIGNATURE_FEATURES: return x->bits;
    default: return 64;
    }
}

/* Name the fields behind the head. */
static enum nd_status name_fields(union nd_sketch_head_page *page,
                                  const struct nd_sketch_writer_options *options,
                                  struct nd_error *err)
{
    char *at = (char *)page->bytes + sizeof page->head;

    if (options->n_fields > ND_SKETCH_FIELDS_MAX)
        return nd_fail(err, ND_EINVAL, "a sketch file keeps at most %d fields",
                       ND_SKETCH_FIELDS_MAX);
    for (size_t i = 0; i < options->n_fields; i++) {
        size_t len = strlen(options->fields[i]);

        if (len > ND_SKETCH_FIELD_NAME_MAX)
            return nd_fail(err, ND_EINVAL, "the name of a field, '%.20s…', has more than %d bytes",
                           options->fields[i], ND_SKETCH_FIELD_NAME_MAX);
        memcpy(at, options->fields[i], len + 1);
        at += len + 1;
    }
    page->head.n_fields = (uint32_t)options->n_fields;
    page->head.names_bytes = (uint32_t)(at - (char *)page->bytes) - (uint32_t)sizeof page->head;
    return ND_OK;
}

/* How rows are packed. */
static void describe(struct nd_sketch_head *head, const struct nd_recipe *recipe,
                     const struct nd_sketch_writer_options *options)
{
    memcpy(head->magic, ND_SKETCH_FILE_MAGIC, sizeof head->magic);
    head->version = ND_SKETCH_FILE_VERSION;
    head->flags = (options->keeps.shingles ? ND_SKETCH_HAS_SHINGLES : 0) |
                  (options->keeps.minima ? ND_SKETCH_HAS_MINIMA : 0);
    head->n_signatures = recipe->method.n_signatures;
    for (uint32_t i = 0; i < head->n_signatures; i++) {
        const struct nd_signature_params *x = &recipe->method.signature[i].signature;
        const enum nd_signature_form form = nd_signature_form(x);

        head->signature[i] =
            (struct nd_sketch_stored_signature){.kind = (uint8_t)x->kind,
                                                .form = (uint8_t)form,
                                                .words = (uint16_t)nd_signature_words(x),
                                                .bits = bits_of(x)};
    }
}

/* The recipe's text, behind room for two heads. */
static enum nd_status begin(struct nd_sketch_writer *w, const struct nd_recipe *recipe,
                            struct nd_error *err)
{
    struct nd_sketch_head *head = &w->page.head;
    enum nd_status status;
    char *text;
    size_t len;

    if (fseek(w->stream, 0, SEEK_SET) != 0)
        return nd_fail(err, ND_EINVAL, "a sketch file must be a regular file, not a pipe");
    status = nd_recipe_canonical(recipe, &text, &len, &head->recipe_fingerprint, err);
    if (status != ND_OK)
        return status;
    head->recipe_hash = nd_hash_bytes(text, len);
    head->recipe_bytes = (uint32_t)len;
    status = put_zeroes(w, ND_SKETCH_FILE_RECIPE_AT, err);
    if (status == ND_OK)
        status = put(w, text, len, err);
    free(text);
    return status == ND_OK ? put_zeroes(w, nd_padded(w->offset, 4096), err) : status;
}

struct nd_sketch_writer *nd_sketch_writer_new(FILE *stream, const struct nd_recipe *recipe,
                                              const struct nd_sketch_writer_options *options,
                                              struct nd_error *err)
{
    struct nd_sketch_writer *w = calloc(1, sizeof *w);

    if (!w) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    w->stream = stream;
    w->name = options->name ? nd_text_copy(options->name) : NULL;
    describe(&w->page.head, recipe, options);
    w->page.head.part = options->part;
    w->page.head.parts = options->parts;
    if (name_fields(&w->page, options, err) == ND_OK && begin(w, recipe, err) == ND_OK)
        return w;
    nd_sketch_writer_free(w);
    return NULL;
}

struct nd_sketch_writer *nd_sketch_writer_of_rows(const struct nd_recipe *recipe,
                                                  const struct nd_sketch_writer_options *options,
                                                  struct nd_error *err)
{
    struct nd_sketch_writer *w = calloc(1, sizeof *w);

    if (!w) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    describe(&w->page.head, recipe, options);
    if (name_fields(&w->page, options, err) == ND_OK)
        return w;
    free(w);
    return NULL;
}

size_t nd_sketch_writer_fields(const struct nd_sketch_writer *w,
                               const char *name[ND_SKETCH_FIELDS_MAX])
{
    const char *at = (const char *)w->page.bytes + sizeof w->page.head;

    for (uint32_t i = 0; i < w->page.head.n_fields; i++, at += strlen(at) + 1)
        name[i] = at;
    return w->page.head.n_fields;
}

size_t nd_sketch_row_unpack(const struct nd_sketch_writer *w, const char *at, size_t left,
                            struct nd_sketch_row *row)
{
    return nd_sketch_row_parse(&w->page.head, at, left, row);
}

struct nd_sketch_writer *nd_sketch_writer_resume(int fd, const char *name,
                                                 const union nd_sketch_head_page *page,
                                                 struct nd_view directory, struct nd_error *err)
{
    struct nd_sketch_writer *w = calloc(1, sizeof *w);
    size_t n = page->head.blocks, blocks = n * sizeof *w->entry;

    if (!w || !ND_RESERVE(w->entry, &w->entry_capacity, n + 1) ||
        !nd_buffer_append(&w->sources, directory.data + blocks, directory.len - blocks)) {
        nd_sketch_writer_free(w);
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    w->fd = fd;
    w->name = nd_text_copy(name);
    w->page = *page;
    w->page.head.part = w->page.head.parts = 0; /* it will have more than the part */
    w->offset = page->head.end;
    memcpy(w->entry, directory.data, blocks);
    return w;
}

void nd_sketch_writer_free(struct nd_sketch_writer *w)
{
    if (!w)
        return;
    nd_buffer_release(&w->rows);
    nd_buffer_release(&w->shingles);
    nd_buffer_release(&w->sources);
    free(w->entry);
    free(w->name);
    free(w);
}

/* ---- Rows ---- */

/* Code the shingles behind the row; they are words, so the row is padded to such.  Return their
 * checksum. */
static uint32_t fill_shingles(const struct nd_sketch_row *row, uint64_t *scratch, char *at)
{
    const uint64_t *shingle = row->shingles;

    if (scratch) {
        memcpy(scratch, shingle, row->n_shingles * sizeof *scratch);
        nd_sort_values(scratch, row->n_shingles, scratch + row->n_shingles);
        shingle = scratch;
    }
    nd_shingle_code_write(shingle, row->n_shingles, (uint64_t *)(void *)at);
    return nd_shingle_code_check(at, row->n_shingles);
}

enum nd_status nd_sketch_row_pack(const struct nd_sketch_writer *w, const struct nd_sketch_row *row,
                                  uint64_t *scratch, struct nd_packed_row *packed,
                                  struct nd_error *err)
{
    size_t row_len = nd_sketch_row_bytes(&w->page.head, row), code = 0;
    uint32_t shingle_check = 0;

    if (row->id.len >= UINT32_MAX)
        return nd_fail(err, ND_EINVAL, "an id is too long for a sketch file");
    if (w->page.head.flags & ND_SKETCH_HAS_SHINGLES)
        code = (size_t)nd_shingle_code_bytes(row->n_shingles);
    if (!ND_RESERVE(packed->data, &packed->capacity, row_len + code))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    packed->len = row_len + code;
    packed->row_len = row_len;
    memset(packed->data, 0, packed->len);
    if (code)
        shingle_check = fill_shingles(row, scratch, packed->data + row_len);
    nd_sketch_row_write(&w->page.head, row, shingle_check, packed->data);
    return ND_OK;
}

void nd_packed_row_release(struct nd_packed_row *packed)
{
    free(packed->data);
    *packed = (struct nd_packed_row){0};
}

/* ---- Blocks ---- */

static enum nd_status end_block(struct nd_sketch_writer *w, struct nd_error *err)
{
    struct nd_sketch_head *head = &w->page.head;
    enum nd_status status;

    if (w->n_rows == 0)
        return ND_OK;
    if (head->blocks == UINT32_MAX || !ND_RESERVE(w->entry, &w->entry_capacity, head->blocks + 1))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    w->entry[head->blocks++] = (struct nd_sketch_block_entry){
        .offset = w->offset,
        .row_bytes = w->rows.len,
        .shingle_bytes = w->shingles.len,
        .documents = w->n_rows,
    };
    head->documents += w->n_rows;
    status = put(w, w->rows.data, w->rows.len, err);
    if (status == ND_OK)
        status = put(w, w->shingles.data, w->shingles.len, err);
    w->rows.len = w->shingles.len = w->n_rows = 0;
    return status;
}

enum nd_status nd_sketch_writer_add(struct nd_sketch_writer *w, const struct nd_packed_row *packed,
                                    struct nd_error *err)
{
    struct nd_sketch_row_head head;
    size_t at = w->rows.len; /* the rows of a block are its first bytes */

    memcpy(&head, packed->data, sizeof head);
    if (head.source + UINT64_C(1) > w->last_source)
        w->last_source = head.source + UINT64_C(1);
    if (!nd_buffer_append(&w->rows, packed->data, packed->row_len) ||
        !nd_buffer_append(&w->shingles, packed->data + packed->row_len,
                          packed->len - packed->row_len))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    nd_sketch_row_seal(w->rows.data + at, packed->row_len, w->offset + at);
    w->n_rows++;
    return w->rows.len + w->shingles.len < ND_SKETCH_BLOCK_BYTES ? ND_OK : end_block(w, err);
}

enum nd_status nd_sketch_writer_add_source(struct nd_sketch_writer *w,
                                           const struct nd_sketch_source *source,
                                           struct nd_error *err)
{
    static const char zeroes[8];
    struct nd_sketch_source_head head = {
        .bytes_hash = source->bytes_hash,
        .records = source->records,
        .path_bytes = (uint32_t)strlen(source->path),
        .entry_bytes = source->entry ? (uint32_t)strlen(source->entry) : ND_SKETCH_NO_ENTRY,
    };
    size_t len = head.path_bytes + (source->entry ? head.entry_bytes : 0);

    if (!nd_buffer_append(&w->sources, &head, sizeof head) ||
        !nd_buffer_append(&w->sources, source->path, head.path_bytes) ||
        (source->entry && !nd_buffer_append(&w->sources, source->entry, head.entry_bytes)) ||
        !nd_buffer_append(&w->sources, zeroes, nd_padded(len, 8) - len))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    w->page.head.sources++;
    return ND_OK;
}

/* ---- The end ---- */

static enum nd_status put_directory(struct nd_sketch_writer *w, struct nd_error *err)
{
    struct nd_sketch_head *head = &w->page.head;
    struct nd_buffer all = {0};
    enum nd_status status;

    if (!nd_buffer_append(&all, w->entry, head->blocks * sizeof *w->entry) ||
        !nd_buffer_append(&all, w->sources.data, w->sources.len)) {
        nd_buffer_release(&all);
        return nd_fail(err, ND_ENOMEM, "out of memory");
    }
    head->directory = w->offset;
    head->directory_bytes = all.len;
    head->directory_hash = nd_hash_bytes(all.data, all.len);
    status = put(w, all.data, all.len, err);
    head->end = w->offset;
    nd_buffer_release(&all);
    return status;
}

enum nd_status nd_sketch_writer_end(struct nd_sketch_writer *w, union nd_sketch_head_page *page,
                                    struct nd_error *err)
{
    enum nd_status status;

    if (w->last_source > w->page.head.sources)
        return nd_fail(err, ND_EINVAL, "a row of the sketch file names source %llu of %u",
                       (unsigned long long)w->last_source, w->page.head.sources);
    status = end_block(w, err);
    if (status == ND_OK)
        status = put_directory(w, err);
    *page = w->page;
    return status;
}

enum nd_status nd_sketch_writer_finish(struct nd_sketch_writer *w, struct nd_error *err)
{
    union nd_sketch_head_page page;
    enum nd_status status = nd_sketch_writer_end(w, &page, err);

    if (status != ND_OK)
        return status;
    page.head.generation = 1;
    nd_sketch_head_seal(&page);
    if (fseek(w->stream, 0, SEEK_SET) != 0)
        return not_written(w->name, errno, err);
    status = put(w, page.bytes, sizeof page.bytes, err);
    if (status == ND_OK && fseek(w->stream, 0, SEEK_END) != 0)
        status = not_written(w->name, errno, err);
    return status;
}
