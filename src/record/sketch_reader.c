/*
 * sketch_reader.c - reads a sketch file: heads and directory once, then blocks, by pread
 *
 * Everything is checked against its checksum before it is used: the directory as a whole, rows and
 * shingles each by itself.  A row that passes may still be wrong, as anyone can write checksums, so
 * lengths and numbers are checked as well.
 */
#include <neardup/sketch_file.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/system/c_functions.h"
#include "base/system/descriptor.h"
#include "record/packed_document.h"
#include "record/sketch_file_layout.h"
#include "record/sketch_reader.h"

struct nd_sketch_block_memory {
    struct nd_buffer bytes;
    size_t row_capacity;
    uint64_t *shingle;
    size_t shingle_capacity;
    struct nd_sketch_place *place; /* of each row */
    size_t place_capacity;
    uint64_t offset; /* of the block in its file */
};

enum nd_status nd_sketch_file_damaged(const struct nd_sketch_file *f, const char *what,
                                      struct nd_error *err)
{
    return nd_fail(err, ND_EINPUT, "%s: the sketch file is damaged: %s", f->path, what);
}

enum nd_status nd_sketch_file_read_at(const struct nd_sketch_file *f, void *data, size_t len,
                                      uint64_t at, struct nd_error *err)
{
    ssize_t n = nd_descriptor_read_at(f->fd, data, len, at);

    if (n < 0)
        return nd_fail(err, ND_EIO, "%s: %s", f->path, strerror(errno));
    return (size_t)n == len ? ND_OK : nd_sketch_file_damaged(f, "it ends too early", err);
}

/* ---- Opening ---- */

static bool has_magic(const union nd_sketch_head_page *page)
{
    return memcmp(page->head.magic, ND_SKETCH_FILE_MAGIC, sizeof page->head.magic) == 0;
}

/* The head that is whole, the newer one of two. */
static enum nd_status read_heads(struct nd_sketch_file *f, struct nd_error *err)
{
    union nd_sketch_head_page page[2];
    struct nd_error why[2];
    enum nd_status status[2];
    unsigned best;

    memset(page, 0, sizeof page);
    if (nd_descriptor_read_at(f->fd, page[0].bytes, sizeof page[0].bytes, 0) < 0 ||
        nd_descriptor_read_at(f->fd, page[1].bytes, sizeof page[1].bytes, ND_SKETCH_HEAD_BYTES) < 0)
        return nd_fail(err, ND_EIO, "%s: %s", f->path, strerror(errno));
    if (!has_magic(&page[0]) && !has_magic(&page[1]))
        return nd_fail(err, ND_EINPUT, "%s: not a sketch file", f->path);
    for (int i = 0; i < 2; i++)
        status[i] = nd_sketch_head_check(&page[i], f->path, &why[i]);
    best = status[0] == ND_OK &&
                   (status[1] != ND_OK || page[0].head.generation > page[1].head.generation)
               ? 0
               : 1;
    if (status[best] != ND_OK) {
        if (err)
            *err = why[0];
        return status[0];
    }
    f->page = page[best];
    f->head = f->page.head;
    f->head_at = best;
    return ND_OK;
}

static enum nd_status read_recipe(struct nd_sketch_file *f, struct nd_error *err)
{
    enum nd_status status;

    f->recipe = calloc(1, f->head.recipe_bytes + 1);
    if (!f->recipe)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    status =
        nd_sketch_file_read_at(f, f->recipe, f->head.recipe_bytes, ND_SKETCH_FILE_RECIPE_AT, err);
    if (status == ND_OK && nd_hash_bytes(f->recipe, f->head.recipe_bytes) != f->head.recipe_hash)
        status = nd_sketch_file_damaged(f, "the checksum of its recipe is wrong", err);
    return status;
}

const struct nd_sketch_block_entry *nd_sketch_file_entry(const struct nd_sketch_file *f,
                                                         size_t number)
{
    return (const struct nd_sketch_block_entry *)(const void *)f->directory.data + number;
}

static bool is_right_entry(const struct nd_sketch_file *f, const struct nd_sketch_block_entry *e)
{
    uint64_t least = nd_sketch_row_least(&f->head);

    return e->documents > 0 && e->offset % 8 == 0 && e->row_bytes % 8 == 0 &&
           e->shingle_bytes % 8 == 0 && e->offset <= f->head.directory &&
           e->row_bytes <= f->head.directory - e->offset &&
           e->shingle_bytes <= f->head.directory - e->offset - e->row_bytes &&
           e->row_bytes / least >= e->documents;
}

static enum nd_status check_blocks(struct nd_sketch_file *f, struct nd_error *err)
{
    uint64_t n = 0;

    f->first = nd_alloc_array(f->head.blocks + (size_t)1, sizeof *f->first);
    if (!f->first)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < f->head.blocks; i++) {
        if (!is_right_entry(f, nd_sketch_file_entry(f, i)))
            return nd_sketch_file_damaged(f, "an entry of its directory cannot be right", err);
        f->first[i] = n;
        n += nd_sketch_file_entry(f, i)->documents;
    }
    f->first[f->head.blocks] = n;
    return n == f->head.documents
               ? ND_OK
               : nd_sketch_file_damaged(f, "its directory has another number of documents", err);
}

/* The name at `at`, of len bytes, gets a zero behind it; where it is in f->names. */
static bool add_name(struct nd_sketch_file *f, const char *at, size_t len, size_t *place)
{
    *place = f->names.len;
    return nd_buffer_append(&f->names, at, len) && nd_buffer_append(&f->names, "", 1);
}

static enum nd_status read_source(struct nd_sketch_file *f, size_t *at, uint32_t number,
                                  size_t place[2], struct nd_error *err)
{
    struct nd_sketch_source_head head;
    size_t left = f->directory.len - *at, len;

    if (left < sizeof head)
        return nd_sketch_file_damaged(f, "its list of sources is too short", err);
    memcpy(&head, f->directory.data + *at, sizeof head);
    left -= sizeof head;
    len = (size_t)head.path_bytes + (head.entry_bytes == ND_SKETCH_NO_ENTRY ? 0 : head.entry_bytes);
    if (nd_padded(len, 8) > left)
        return nd_sketch_file_damaged(f, "its list of sources is too short", err);
    *at += sizeof head;
    f->source[number].bytes_hash = head.bytes_hash;
    f->source[number].records = head.records;
    place[1] = SIZE_MAX;
    if (!add_name(f, f->directory.data + *at, head.path_bytes, &place[0]) ||
        (head.entry_bytes != ND_SKETCH_NO_ENTRY &&
         !add_name(f, f->directory.data + *at + head.path_bytes, head.entry_bytes, &place[1])))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    *at += (size_t)nd_padded(len, 8);
    return ND_OK;
}

static enum nd_status read_sources(struct nd_sketch_file *f, struct nd_error *err)
{
    size_t at = f->head.blocks * sizeof(struct nd_sketch_block_entry);
    enum nd_status status = ND_OK;
    size_t(*place)[2];

    f->source = nd_alloc_array(f->head.sources + (size_t)1, sizeof *f->source);
    place = nd_alloc_array(f->head.sources + (size_t)1, sizeof *place);
    if (!f->source || !place)
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    for (uint32_t i = 0; status == ND_OK && i < f->head.sources; i++)
        status = read_source(f, &at, i, place[i], err);
    for (uint32_t i = 0; status == ND_OK && i < f->head.sources; i++) {
        f->source[i].path = f->names.data + place[i][0];
        f->source[i].entry = place[i][1] == SIZE_MAX ? NULL : f->names.data + place[i][1];
    }
    free(place);
    return status;
}

static enum nd_status read_directory(struct nd_sketch_file *f, struct nd_error *err)
{
    enum nd_status status;
    struct nd_file_about about;

    if (!nd_descriptor_about(f->fd, &about) || about.bytes < f->head.end)
        return nd_sketch_file_damaged(f, "it ends too early", err);
    if (!nd_buffer_reserve(&f->directory, (size_t)f->head.directory_bytes))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    f->directory.len = (size_t)f->head.directory_bytes;
    status = nd_sketch_file_read_at(f, f->directory.data, f->directory.len, f->head.directory, err);
    if (status == ND_OK &&
        nd_hash_bytes(f->directory.data, f->directory.len) != f->head.directory_hash)
        status = nd_sketch_file_damaged(f, "the checksum of its directory is wrong", err);
    if (status == ND_OK)
        status = check_blocks(f, err);
    return status == ND_OK ? read_sources(f, err) : status;
}

static enum nd_status open_file(struct nd_sketch_file *f, struct nd_error *err)
{
    const char *name = (const char *)f->page.bytes + sizeof f->head;
    enum nd_status status;

    status = read_heads(f, err);
    if (status == ND_OK)
        status = read_recipe(f, err);
    if (status == ND_OK)
        status = read_directory(f, err);
    f->info = (struct nd_sketch_file_info){
        .recipe = {f->recipe, f->head.recipe_bytes},
        .recipe_fingerprint = f->head.recipe_fingerprint,
        .generation = f->head.generation,
        .documents = f->head.documents,
        .blocks = f->head.blocks,
        .sources = f->head.sources,
        .n_signatures = f->head.n_signatures,
        .keeps = {.minima = (f->head.flags & ND_SKETCH_HAS_MINIMA) != 0,
                  .shingles = (f->head.flags & ND_SKETCH_HAS_SHINGLES) != 0},
        .bytes = f->head.end,
        .part = f->head.part,
        .parts = f->head.parts,
    };
    f->info.n_fields = status == ND_OK ? f->head.n_fields : 0;
    for (uint32_t i = 0; i < f->info.n_fields; i++, name += strlen(name) + 1)
        f->info.field[i] = name;
    for (uint32_t i = 0; status == ND_OK && i < f->head.n_signatures; i++) {
        const struct nd_sketch_stored_signature *x = &f->head.signature[i];

        f->info.signature[i] = (struct nd_sketch_signature){
            (enum nd_signature_kind)x->kind, (enum nd_signature_form)x->form, x->bits, x->words};
    }
    return status;
}

struct nd_sketch_file *nd_sketch_file_open_descriptor(const char *path, int fd,
                                                      struct nd_error *err)
{
    struct nd_sketch_file *f = calloc(1, sizeof *f);

    if (!f) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        (void)nd_descriptor_close(fd);
        return NULL;
    }
    f->fd = fd;
    f->path = nd_text_copy(path);
    if (!f->path)
        nd_fail(err, ND_ENOMEM, "out of memory");
    else if (open_file(f, err) == ND_OK)
        return f;
    nd_sketch_file_close(f);
    return NULL;
}

struct nd_sketch_file *nd_sketch_file_open(const char *path, struct nd_error *err)
{
    int fd = nd_descriptor_open(path, ND_OPEN_READ);

    if (fd >= 0)
        return nd_sketch_file_open_descriptor(path, fd, err);
    nd_fail(err, ND_EIO, "%s: %s", path, strerror(errno));
    return NULL;
}

const union nd_sketch_head_page *nd_sketch_file_head(const struct nd_sketch_file *f,
                                                     unsigned *which, struct nd_view *directory)
{
    *which = f->head_at;
    *directory = (struct nd_view){f->directory.data, f->directory.len};
    return &f->page;
}

void nd_sketch_file_close(struct nd_sketch_file *f)
{
    if (!f)
        return;
    if (f->fd >= 0)
        (void)nd_descriptor_close(f->fd);
    nd_buffer_release(&f->directory);
    nd_buffer_release(&f->names);
    free(f->first);
    free(f->source);
    free(f->recipe);
    free(f->path);
    free(f);
}

const struct nd_sketch_file_info *nd_sketch_file_info(const struct nd_sketch_file *f)
{
    return &f->info;
}

const struct nd_sketch_source *nd_sketch_file_source(const struct nd_sketch_file *f,
                                                     uint32_t number)
{
    return number < f->head.sources ? &f->source[number] : NULL;
}

/* Return the name of the shipped recipe that equals this one.  NULL: none does, or memory is short. */
static const char *shipped_name_of(const struct nd_recipe *recipe)
{
    const char *name = NULL, *found = NULL;

    for (size_t i = 0; !found && (name = nd_recipe_name(i)); i++) {
        struct nd_recipe *shipped = nd_recipe_new(NULL);
        char *key = NULL;

        if (shipped && nd_recipe_by_name(shipped, name, NULL) == ND_OK &&
            nd_recipe_difference(shipped, recipe, 0, &key, NULL) == ND_OK && !key)
            found = name;
        free(key);
        nd_recipe_free(shipped);
    }
    return found;
}

/* Add to a message how the file's own recipe is given, if it has signatures: a key or two, such as the
 * message names, do not make the recipe of the run the file's. */
static void name_own_recipe(const struct nd_recipe *own, struct nd_error *err)
{
    const char *name = err && nd_recipe_signature_name(own, 0) ? shipped_name_of(own) : NULL;
    size_t len = err ? strlen(err->message) : 0;

    if (name)
        snprintf(err->message + len, sizeof err->message - len, "; its own recipe is %s (--recipe)",
                 name);
    else if (err && nd_recipe_signature_name(own, 0))
        snprintf(err->message + len, sizeof err->message - len,
                 "; `neardup sketch info` prints its own recipe (--recipe)");
}

enum nd_status nd_sketch_file_fits(const struct nd_sketch_file *f, const struct nd_recipe *recipe,
                                   struct nd_error *err)
{
    struct nd_recipe *own = nd_recipe_new(err);
    char *key = NULL;
    enum nd_status status = own ? ND_OK : ND_ENOMEM;

    if (status == ND_OK)
        status = nd_recipe_parse(own, f->path, f->recipe, f->head.recipe_bytes, err);
    if (status == ND_OK)
        status = nd_recipe_difference(own, recipe, 1, &key, err);
    if (status == ND_OK && key)
        status = nd_fail(err, ND_EINVAL, "%s: its sketches were made by another recipe: %s differs",
                         f->path, key);
    if (status == ND_OK && !f->info.keeps.minima && nd_sketch_kept_of(recipe).minima)
        status =
            nd_fail(err, ND_EINVAL,
                    "%s: candidates: the recipe finds them by minima, and the file keeps none, "
                    "as a rule on signatures decided when it was made",
                    f->path);
    if (status == ND_EINVAL)
        name_own_recipe(own, err);
    free(key);
    nd_recipe_free(own);
    return status;
}

/* ---- Blocks ---- */

void nd_sketch_block_release(struct nd_sketch_block *block)
{
    if (block->memory) {
        nd_buffer_release(&block->memory->bytes);
        free(block->memory->shingle);
        free(block->memory->place);
        free(block->memory);
    }
    free(block->rows);
    *block = (struct nd_sketch_block){0};
}

/* Read the bytes of a block, as far as they are wanted. */
static enum nd_status load(const struct nd_sketch_file *f, const struct nd_sketch_block_entry *e,
                           bool shingles, struct nd_buffer *bytes, struct nd_error *err)
{
    size_t len = (size_t)(e->row_bytes + (shingles ? e->shingle_bytes : 0));

    if (!nd_buffer_reserve(bytes, len))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    bytes->len = len;
    return nd_sketch_file_read_at(f, bytes->data, len, e->offset, err);
}

static bool parse_rows(const struct nd_sketch_file *f, const struct nd_sketch_block_entry *e,
                       struct nd_sketch_block *block)
{
    const char *bytes = block->memory->bytes.data;
    uint64_t at = 0, shingles = e->offset + e->row_bytes;

    for (size_t i = 0; i < block->n; i++) {
        struct nd_sketch_row *row = &block->rows[i];
        size_t len =
            nd_sketch_row_check(&f->head, bytes + at, (size_t)(e->row_bytes - at), e->offset + at);
        uint64_t coded;

        if (len == 0 || len > UINT32_MAX)
            return false;
        (void)nd_sketch_row_parse(&f->head, bytes + at, len, row);
        coded = f->info.keeps.shingles ? nd_shingle_code_bytes(row->n_shingles) : 0;
        row->place = (struct nd_sketch_row_place){.row = e->offset + at,
                                                  .shingles = coded ? shingles : 0,
                                                  .row_bytes = (uint32_t)len,
                                                  .n_shingles = row->n_shingles};
        block->memory->place[i] = (struct nd_sketch_place){e->offset + at, shingles, len + coded};
        shingles += coded;
        at += len;
    }
    return at == e->row_bytes &&
           (!f->info.keeps.shingles || shingles == e->offset + e->row_bytes + e->shingle_bytes);
}

/* The shingles of all rows, one after the other. */
static enum nd_status read_shingles(const struct nd_sketch_file *f,
                                    const struct nd_sketch_block_entry *e,
                                    struct nd_sketch_block *block, struct nd_error *err)
{
    struct nd_sketch_block_memory *m = block->memory;
    const char *at = m->bytes.data + e->row_bytes;
    size_t left = (size_t)e->shingle_bytes, n = 0, done = 0;

    for (size_t i = 0; i < block->n; i++) {
        uint64_t bytes = nd_shingle_code_bytes(block->rows[i].n_shingles);

        if (bytes > left)
            return nd_sketch_file_damaged(f, "a block has too few shingles", err);
        left -= (size_t)bytes;
        n += block->rows[i].n_shingles;
    }
    if (left)
        return nd_sketch_file_damaged(f, "a block has too many shingles", err);
    if (!ND_RESERVE(m->shingle, &m->shingle_capacity, n + 1))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; i < block->n; i++) {
        struct nd_sketch_row *row = &block->rows[i];

        row->shingles = m->shingle + done;
        if (!nd_sketch_row_has_code(m->bytes.data + (row->place.row - e->offset), at) ||
            (row->n_shingles && !nd_shingle_code_read((const uint64_t *)(const void *)at,
                                                      row->n_shingles, m->shingle + done)))
            return nd_sketch_file_damaged(f, ND_SKETCH_WRONG_SHINGLES, err);
        at += nd_shingle_code_bytes(row->n_shingles);
        done += row->n_shingles;
    }
    return ND_OK;
}

enum nd_status nd_sketch_file_read(const struct nd_sketch_file *f, size_t number, unsigned parts,
                                   struct nd_sketch_block *block, struct nd_error *err)
{
    bool shingles = parts == ND_SKETCH_FILE_ALL && f->info.keeps.shingles;
    const struct nd_sketch_block_entry *e;
    enum nd_status status;

    block->n = 0;
    if (number >= f->head.blocks)
        return nd_fail(err, ND_EINVAL, "%s has %u blocks", f->path, f->head.blocks);
    if (!block->memory)
        block->memory = calloc(1, sizeof *block->memory);
    e = nd_sketch_file_entry(f, number);
    if (!block->memory ||
        !ND_RESERVE(block->rows, &block->memory->row_capacity, (size_t)e->documents) ||
        !ND_RESERVE(block->memory->place, &block->memory->place_capacity, (size_t)e->documents))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    block->memory->offset = e->offset;
    status = load(f, e, shingles, &block->memory->bytes, err);
    if (status != ND_OK)
        return status;
    block->n = e->documents;
    block->first = f->first[number];
    if (!parse_rows(f, e, block))
        status = nd_sketch_file_damaged(f, ND_SKETCH_WRONG_ROW, err);
    else if (shingles)
        status = read_shingles(f, e, block, err);
    if (status != ND_OK)
        block->n = 0;
    return status;
}

/* ---- A document of a block (packed_document.h) ---- */

struct nd_sketch_place nd_sketch_block_place(const struct nd_sketch_block *block, size_t i)
{
    return block->memory->place[i];
}

bool nd_sketch_block_pack(const struct nd_sketch_block *block, size_t i, struct nd_buffer *out)
{
    const struct nd_sketch_block_memory *m = block->memory;
    const struct nd_sketch_place *place = &m->place[i];
    const struct nd_sketch_row *row = &block->rows[i];
    size_t row_bytes = row->place.row_bytes;

    return nd_buffer_append(out, m->bytes.data + (place->row - m->offset), row_bytes) &&
           nd_buffer_append(out, m->bytes.data + (place->shingles - m->offset),
                            (size_t)place->len - row_bytes);
}
