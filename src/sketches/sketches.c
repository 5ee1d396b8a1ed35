/* sketches.c - the sketch files that a run reads in place of documents */
#include "sketches/sketches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/descriptor.h"
#include "record/packed_document.h"
#include "record/parts.h"
#include "record/sketch_file_layout.h"

struct opened_sketches {
    struct nd_sketch_file *file;
    const char *path;
    size_t first_block;
    uint32_t first_source;
    bool shares_source;  /* its first source is the last one of the files before */
    uint64_t first_byte; /* of those of all files */
};

struct nd_sketches {
    struct opened_sketches *file;
    size_t n_files, n_blocks;
    uint32_t n_sources;
    uint64_t bytes;
    struct nd_source *source;
    struct nd_sketched_fields fields;
};

enum { WORD = 8, DISTANCE_BITS = 24, MAGIC_BYTES = 8 };
#define PLACE_BYTES_MAX ((UINT64_C(1) << 40) * WORD)

/* ---- Opened ---- */

/* A file that cannot be opened is none: whoever reads it as another says why.  A pipe is not opened,
 * as its writer would lose its reader when it is closed again.  1, 0, or < 0: it cannot be read. */
static int is_sketch_file(const char *path, struct nd_error *err)
{
    struct nd_file_about about;
    char head[MAGIC_BYTES] = {0};
    ssize_t got = 0;
    int fd, reason;

    if (strcmp(path, "-") == 0 || !nd_path_about(path, &about) || about.kind != ND_FILE_REGULAR)
        return 0;
    fd = nd_descriptor_open(path, ND_OPEN_READ | ND_OPEN_NOW);
    if (fd < 0)
        return 0;
    if (nd_descriptor_about(fd, &about) && about.kind == ND_FILE_REGULAR)
        got = nd_descriptor_read_at(fd, head, sizeof head, 0);
    reason = errno;
    (void)nd_descriptor_close(fd);
    if (got < 0)
        return (int)nd_fail(err, ND_EIO, "%s: cannot be read: %s", path, strerror(reason));
    return got == MAGIC_BYTES && memcmp(head, ND_SKETCH_FILE_MAGIC, sizeof head) == 0;
}

/* A name that ends in .sketch, of a file that is empty or was cut within its first bytes. */
static enum nd_status check_beginning(const char *path, struct nd_error *err)
{
    static const char end[] = ".sketch";
    size_t len = strlen(path), n = sizeof end - 1;
    char head[MAGIC_BYTES];
    struct nd_file_about about;
    ssize_t got;
    int fd;

    if (len <= n || strcmp(path + len - n, end) != 0 || !nd_path_about(path, &about) ||
        about.kind != ND_FILE_REGULAR || about.bytes >= MAGIC_BYTES)
        return ND_OK;
    fd = nd_descriptor_open(path, ND_OPEN_READ | ND_OPEN_NOW);
    got = fd < 0 ? -1 : nd_descriptor_read_at(fd, head, sizeof head, 0);
    if (fd >= 0)
        (void)nd_descriptor_close(fd);
    if (got < 0 || got >= MAGIC_BYTES || memcmp(head, ND_SKETCH_FILE_MAGIC, (size_t)got) != 0)
        return ND_OK;
    return nd_fail(err, ND_EINPUT, "%s: %s, so it is no sketch file", path,
                   got ? "was cut after its first bytes" : "is empty");
}

static enum nd_status mixed(const char *sketches, const char *other, struct nd_error *err)
{
    return nd_fail(err, ND_EINVAL,
                   "%s is a sketch file, and %s is not: one run reads either; make sketches of the "
                   "documents first (neardup sketch -o FILE.sketch)",
                   sketches, other);
}

/* The documents of this file follow those of the files before it. */
static enum nd_status add_file(struct nd_sketches *s, struct opened_sketches *f,
                               struct nd_sketch_joined *joined, struct nd_error *err)
{
    const struct nd_sketch_file_info *info = nd_sketch_file_info(f->file);
    const struct opened_sketches *first = &s->file[0];

    f->first_block = s->n_blocks;
    f->first_byte = s->bytes;
    if (info->keeps.shingles != nd_sketch_file_info(first->file)->keeps.shingles)
        return nd_fail(err, ND_EINVAL, "%s has shingles, and %s has none",
                       info->keeps.shingles ? f->path : first->path,
                       info->keeps.shingles ? first->path : f->path);
    if (info->keeps.minima != nd_sketch_file_info(first->file)->keeps.minima)
        return nd_fail(err, ND_EINVAL, "%s has minima, and %s has none",
                       info->keeps.minima ? f->path : first->path,
                       info->keeps.minima ? first->path : f->path);
    s->n_blocks += info->blocks;
    s->bytes += (info->bytes + WORD - 1) / WORD * WORD;
    if (s->bytes > PLACE_BYTES_MAX)
        return nd_fail(err, ND_EUNSUPPORTED, "%s: more than 8 TB of sketch files", f->path);
    return nd_sketch_join(joined, f->file, &f->first_source, &f->shares_source, err);
}

/* One part alone may be looked at; of several, none may be missing. */
static enum nd_status open_files(struct nd_sketches *s, const char *const *paths,
                                 struct nd_error *err)
{
    struct nd_sketch_file **file = calloc(s->n_files, sizeof(struct nd_sketch_file *));
    struct nd_sketch_joined joined = {0};
    enum nd_status status = file ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");

    for (size_t i = 0; status == ND_OK && i < s->n_files; i++) {
        s->file[i].file = file[i] = nd_sketch_file_open(paths[i], err);
        status = file[i] ? ND_OK : err->status;
    }
    if (status == ND_OK)
        status = nd_sketch_files_order(file, s->n_files, s->n_files > 1, err);
    for (size_t i = 0; status == ND_OK && i < s->n_files; i++) {
        s->file[i].file = file[i];
        s->file[i].path = nd_sketch_file_path(file[i]);
    }
    for (size_t i = 0; status == ND_OK && i < s->n_files; i++)
        status = add_file(s, &s->file[i], &joined, err);
    s->n_sources = joined.sources;
    free(file);
    return status;
}

static enum nd_status list_sources(struct nd_sketches *s, struct nd_error *err)
{
    uint32_t n = 0;

    s->source = nd_alloc_array(s->n_sources, sizeof *s->source);
    if (!s->source)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; i < s->n_files; i++) {
        const struct nd_sketch_source *source;

        for (uint32_t k = s->file[i].shares_source;
             (source = nd_sketch_file_source(s->file[i].file, k)); k++, n++) {
            s->source[n] = (struct nd_source){.path = source->path,
                                              .entry = source->entry,
                                              .compression = "none",
                                              .is_container = 1,
                                              .is_rereadable = 1,
                                              .is_sketched = 1,
                                              .records = source->records,
                                              .state = ND_READ_WHOLE,
                                              .bytes_hash = source->bytes_hash};
        }
    }
    return ND_OK;
}

int nd_sketches_open(const char *const *paths, size_t n_paths, struct nd_sketches **sketches,
                     struct nd_error *err)
{
    struct nd_sketches *s;
    enum nd_status status;
    size_t n = 0;

    *sketches = NULL;
    for (size_t i = 0; i < n_paths; i++) {
        int is_one = is_sketch_file(paths[i], err);

        status = is_one < 0 ? (enum nd_status)is_one
                 : is_one   ? ND_OK
                            : check_beginning(paths[i], err);
        if (status != ND_OK)
            return (int)status;
        if (i && is_one != (n > 0))
            return (int)mixed(paths[is_one ? i : 0], paths[is_one ? 0 : i], err);
        n += (size_t)is_one;
    }
    if (!n)
        return 0;
    s = calloc(1, sizeof *s);
    if (s)
        s->file = calloc(n, sizeof *s->file);
    if (!s || !s->file) {
        free(s);
        return nd_fail(err, ND_ENOMEM, "out of memory");
    }
    s->n_files = n;
    status = open_files(s, paths, err);
    if (status == ND_OK)
        status = list_sources(s, err);
    if (status == ND_OK) {
        *sketches = s;
        return 1;
    }
    nd_sketches_free(s);
    return (int)status;
}

void nd_sketches_free(struct nd_sketches *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n_files; i++)
        nd_sketch_file_close(s->file[i].file);
    free(s->file);
    free(s->source);
    free(s);
}

/* ---- The recipe ---- */

/* Everything but [decide] of `from`, in `to`. */
static void take_sketch_half(struct nd_recipe *to, const struct nd_recipe *from)
{
    to->dedup.sketch = from->dedup.sketch;
    to->method.n_signatures = from->method.n_signatures;
    memcpy(to->method.signature, from->method.signature, sizeof to->method.signature);
}

static enum nd_status is_default(const struct nd_recipe *recipe, bool sketch_half, bool *answer,
                                 struct nd_error *err)
{
    struct nd_recipe *usual = nd_recipe_new(err);
    char *key = NULL;
    enum nd_status status =
        usual ? nd_recipe_difference(usual, recipe, sketch_half, &key, err) : ND_ENOMEM;

    *answer = status == ND_OK && !key;
    free(key);
    nd_recipe_free(usual);
    return status;
}

enum nd_status nd_sketches_take_recipe(const struct nd_sketches *s, struct nd_recipe *recipe,
                                       bool whole, struct nd_error *err)
{
    const struct nd_view text = nd_sketch_file_info(s->file[0].file)->recipe;
    bool takes_half = false, takes_all = false;
    struct nd_recipe *own = NULL;
    enum nd_status status = is_default(recipe, true, &takes_half, err);

    if (status == ND_OK && whole)
        status = is_default(recipe, false, &takes_all, err);
    if (status != ND_OK || !takes_half)
        return status;
    own = nd_recipe_new(err);
    status = own ? nd_recipe_parse(own, s->file[0].path, text.data, text.len, err) : ND_ENOMEM;
    if (status == ND_OK && takes_all)
        *recipe = *own;
    else if (status == ND_OK)
        take_sketch_half(recipe, own);
    nd_recipe_free(own);
    return status;
}

enum nd_status nd_sketches_take_df_versions(const struct nd_sketches *s, struct nd_recipe *recipe,
                                            struct nd_error *err)
{
    const struct nd_view text = nd_sketch_file_info(s->file[0].file)->recipe;
    struct nd_recipe *own = nd_recipe_new(err);
    enum nd_status status =
        own ? nd_recipe_parse(own, s->file[0].path, text.data, text.len, err) : ND_ENOMEM;

    for (unsigned i = 0; status == ND_OK && i < recipe->method.n_signatures; i++) {
        struct nd_recipe_signature *to = &recipe->method.signature[i];
        const struct nd_recipe_signature *from = &own->method.signature[i];

        if (i < own->method.n_signatures && !to->df_version)
            to->df_version = from->df_version;
        if (i < own->method.n_signatures && !to->template_df_version)
            to->template_df_version = from->template_df_version;
    }
    nd_recipe_free(own);
    return status;
}

enum nd_status nd_sketches_fit(const struct nd_sketches *s, const struct nd_recipe *recipe,
                               bool compares, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < s->n_files; i++)
        status = nd_sketch_file_fits(s->file[i].file, recipe, err);
    if (status != ND_OK || nd_sketches_keep(s).shingles || !compares ||
        recipe->dedup.verify == ND_VERIFY_NONE)
        return status;
    return nd_fail(
        err, ND_EINVAL,
        "%s: keeps no shingles, so nothing can be verified: add --verify none, or make it "
        "anew by the recipe that verifies and without --no-shingles",
        s->file[0].path);
}

struct nd_sketch_writer_options nd_sketches_like(const struct nd_sketches *s)
{
    const struct nd_sketch_file_info *info = nd_sketch_file_info(s->file[0].file);

    return (struct nd_sketch_writer_options){
        .keeps = info->keeps, .fields = info->field, .n_fields = info->n_fields};
}

struct nd_sketch_kept nd_sketches_keep(const struct nd_sketches *s)
{
    return nd_sketch_file_info(s->file[0].file)->keeps;
}

/* ---- What there is ---- */

size_t nd_sketches_files(const struct nd_sketches *s)
{
    return s->n_files;
}

const char *nd_sketches_path(const struct nd_sketches *s, size_t file)
{
    return s->file[file].path;
}

uint32_t nd_sketches_sources(const struct nd_sketches *s)
{
    return s->n_sources;
}

const struct nd_source *nd_sketches_source(const struct nd_sketches *s, uint32_t number)
{
    return &s->source[number];
}

size_t nd_sketches_blocks(const struct nd_sketches *s)
{
    return s->n_blocks;
}

static const struct opened_sketches *file_of_block(const struct nd_sketches *s, size_t block)
{
    size_t i = s->n_files - 1;

    while (s->file[i].first_block > block)
        i--;
    return &s->file[i];
}

uint64_t nd_sketches_bytes(const struct nd_sketches *s, size_t block)
{
    return s->n_blocks ? s->bytes / s->n_blocks * block : s->bytes;
}

const struct nd_sketch_file *nd_sketches_file_of(const struct nd_sketches *s, size_t block,
                                                 size_t *number, uint32_t *first_source)
{
    const struct opened_sketches *f = file_of_block(s, block);

    *number = block - f->first_block;
    *first_source = f->first_source;
    return f->file;
}

/* ---- Documents ---- */

static enum nd_status place_of(const struct opened_sketches *f, const struct nd_sketch_place *place,
                               uint64_t *offset, struct nd_error *err)
{
    uint64_t distance = (place->shingles - place->row) / WORD;

    if (distance >> DISTANCE_BITS)
        return nd_fail(err, ND_EUNSUPPORTED, "%s: a block is larger than 128 MB", f->path);
    *offset = (f->first_byte + place->row) / WORD << DISTANCE_BITS | distance;
    return ND_OK;
}

/* The documents packed one behind the other, and once none moves any more, records of them. */
static enum nd_status list_records(const struct opened_sketches *f, size_t n_fields,
                                   struct nd_sketched_batch *batch, struct nd_error *err)
{
    struct nd_sketch_block *block = &batch->block;
    size_t at = 0;

    if (!ND_RESERVE(batch->record, &batch->capacity, block->n) ||
        !ND_RESERVE(batch->field, &batch->field_capacity, block->n * n_fields + 1) ||
        !ND_RESERVE(batch->replaced, &batch->replaced_capacity, block->n * n_fields + 1))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    batch->packed.len = 0;
    for (size_t i = 0; i < block->n; i++)
        if (!nd_sketch_block_pack(block, i, &batch->packed))
            return nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; i < block->n; i++) {
        struct nd_sketch_place place = nd_sketch_block_place(block, i);
        uint64_t offset = 0;
        enum nd_status status = place_of(f, &place, &offset, err);

        if (status != ND_OK)
            return status;
        block->rows[i].source += f->first_source;
        batch->record[i] = (struct nd_record){.bytes = {batch->packed.data + at, (size_t)place.len},
                                              .offset = offset,
                                              .line = block->rows[i].line,
                                              .source = block->rows[i].source};
        nd_sketch_packed_set_source(batch->packed.data + at, block->rows[i].source);
        at += (size_t)place.len;
    }
    return ND_OK;
}

/* ---- Fields ---- */

static bool keep_same_fields(const struct nd_sketch_file_info *a,
                             const struct nd_sketch_file_info *b)
{
    for (unsigned i = 0; i < a->n_fields && i < b->n_fields; i++)
        if (strcmp(a->field[i], b->field[i]) != 0)
            return false;
    return a->n_fields == b->n_fields;
}

enum nd_status nd_sketches_want(struct nd_sketches *s, const char *const *name, size_t n,
                                size_t n_needed, struct nd_error *err)
{
    const struct nd_sketch_file_info *first = nd_sketch_file_info(s->file[0].file);

    for (size_t i = 1; i < s->n_files; i++)
        if (!keep_same_fields(first, nd_sketch_file_info(s->file[i].file)))
            return nd_fail(err, ND_EINVAL,
                           "%s and %s keep different fields of documents (--record-field): one run "
                           "reads files that keep the same",
                           s->file[0].path, s->file[i].path);
    return nd_sketched_fields_find(&s->fields, first, s->file[0].path, name, n, n_needed, err);
}

const struct nd_sketched_fields *nd_sketches_fields(const struct nd_sketches *s)
{
    return &s->fields;
}

struct nd_document nd_sketched_document(const struct nd_sketch_row *row,
                                        const struct nd_sketched_fields *fields,
                                        struct nd_field *field, uint64_t *replaced)
{
    struct nd_document document = {
        .id = row->id, .id_kind = row->id_kind, .text = {.data = "", .len = 0}};

    if (!fields || !fields->n)
        return document;
    nd_sketched_fields_get(fields, row, field, replaced);
    document.fields = field;
    document.fields_replaced = replaced;
    document.n_fields = fields->n;
    return document;
}

enum nd_status nd_sketches_read(const struct nd_sketches *s, size_t block,
                                struct nd_sketched_batch *batch, struct nd_error *err)
{
    const struct opened_sketches *f = file_of_block(s, block);
    enum nd_status status = nd_sketch_file_read(f->file, block - f->first_block, ND_SKETCH_FILE_ALL,
                                                &batch->block, err);

    if (status == ND_OK)
        status = list_records(f, s->fields.n, batch, err);
    if (status != ND_OK)
        batch->block.n = 0;
    return status;
}

void nd_sketched_batch_release(struct nd_sketched_batch *batch)
{
    nd_sketch_block_release(&batch->block);
    nd_buffer_release(&batch->packed);
    free(batch->record);
    free(batch->field);
    free(batch->replaced);
}

static const struct opened_sketches *file_of_byte(const struct nd_sketches *s, uint64_t byte)
{
    size_t from = 0, to = s->n_files;

    while (to - from > 1) {
        size_t middle = from + (to - from) / 2;

        if (s->file[middle].first_byte <= byte)
            from = middle;
        else
            to = middle;
    }
    return &s->file[from];
}

enum nd_status nd_sketches_reread(const struct nd_sketches *s, uint64_t offset, size_t len,
                                  uint32_t source, struct nd_buffer *out, struct nd_error *err)
{
    const struct opened_sketches *f = file_of_byte(s, (offset >> DISTANCE_BITS) * WORD);
    const uint64_t distance = offset & ((UINT64_C(1) << DISTANCE_BITS) - 1);
    const uint64_t row = (offset >> DISTANCE_BITS) * WORD - f->first_byte;
    const struct nd_sketch_place place = {row, row + distance * WORD, len};
    enum nd_status status = nd_sketch_file_read_packed(f->file, &place, out, err);

    if (status == ND_OK)
        nd_sketch_packed_set_source(out->data, source);
    return status;
}

/* By the first file: all of them have rows of one kind, as their recipes fit. */
enum nd_status nd_sketches_parse(const struct nd_sketches *s, struct nd_view packed,
                                 struct nd_arena *arena, struct nd_sketch_row *row,
                                 struct nd_error *err)
{
    const struct nd_sketch_file *f = s->file[0].file;
    enum nd_status status = nd_sketch_packed_row(f, packed, row, err);
    uint64_t *shingle;

    if (status != ND_OK || !nd_sketch_file_info(f)->keeps.shingles)
        return status;
    shingle = nd_arena_alloc(arena, ((size_t)row->n_shingles + 1) * sizeof *shingle);
    if (!shingle)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    return nd_sketch_packed_shingles(f, packed, row, shingle, err);
}
