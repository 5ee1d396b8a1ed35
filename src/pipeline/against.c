/*
 * against.c - documents of sketch files before all new ones: found, decided upon, added to
 *
 * Old documents are never loaded as a whole.  The new ones are sketched once, into a temporary sketch
 * file; seen_rows.c finds the old ones that matter to them; the engine gets the rows of both, and
 * reads shingles where it compares.  So memory follows the new documents and those that they meet.
 */
#define _GNU_SOURCE
#include "pipeline/against.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <neardup/text.h>

#include "base/memory.h"
#include "base/temporary.h"
#include "pipeline/options.h"
#include "pipeline/seen_rows.h"
#include "pipeline/short_texts.h"
#include "pipeline/sketch_packer.h"
#include "recipe/recipe.h"
#include "sketch_file/packed.h"

#define NONE UINT32_MAX

enum { ITEMS_MAX = 1024, ITEM_SHINGLES_MAX = 1 << 18 };

/* A file that is read. */
struct seen {
    struct nd_sketch_file *own; /* NULL: the appender's */
    const struct nd_sketch_file *file;
};

struct nd_against {
    struct nd_against_parts part;
    struct seen *seen;
    const struct nd_sketch_file **file; /* of each */
    struct nd_first_line_seen *line;    /* what the manifest says of each */
    size_t n_seen;
    struct nd_sketch_appender *appender; /* NULL: nothing is added */

    /* The new documents, and which one a record is. */
    FILE *stream;
    struct nd_sketch_writer *writer;
    struct nd_sketch_packer *packer;
    struct nd_sketch_file *fresh;
    uint32_t *document_of; /* of a record; of a bad one that of the next */
    size_t n_records, record_capacity;
    uint32_t n_documents;
    const struct nd_reading_batch *batch;
    /* Old documents that a new one contains as a whole: of each record the first, or NONE. */
    struct nd_short_texts *short_texts;
    uint32_t *short_of;
    size_t short_capacity;
    atomic_bool has_failed;
    struct nd_seen_row *row; /* of each document */
    uint64_t *kept;          /* of each record a bit */

    struct nd_seen_rows old; /* those that matter */
    const uint32_t *order;
    size_t n_order;

    /* What is loaded. */
    struct nd_dedup_item item[ITEMS_MAX];
    struct nd_sketch_row item_row[ITEMS_MAX];
    struct nd_sketch_room item_room[ITEMS_MAX];
    uint64_t loaded_from;
    struct nd_sketch_room *room; /* of each worker */
    struct nd_error *error;      /* of each worker */
};

/* ---- Opening ---- */

static enum nd_status check_options(const struct nd_run_options *o, struct nd_error *err)
{
    const char *name = o->within ? "within" : o->n_never ? "never" : NULL;

    if (o->memory)
        return nd_fail(err, ND_EINVAL,
                       "memory bounds no run with against yet: leave one of the two out");
    if (name)
        return nd_fail(err, ND_EINVAL,
                       "%s reads a field of every document, and a sketch file has none: it cannot "
                       "be used with against",
                       name);
    return ND_OK;
}

static enum nd_status check_shingles(const struct nd_recipe *recipe,
                                     const struct nd_sketch_file *file, const char *path,
                                     struct nd_error *err)
{
    if (recipe->dedup.verify == ND_VERIFY_NONE || nd_sketch_file_info(file)->has_shingles)
        return ND_OK;
    return nd_fail(
        err, ND_EINVAL,
        "%s has no shingles, and the recipe compares them (verify): make it anew without "
        "--no-shingles",
        path);
}

static enum nd_status open_one(struct nd_against *a, size_t i, struct nd_error *err)
{
    const struct nd_run_options *o = a->part.options;
    const struct nd_sketch_writer_options create = {.keeps_shingles = 1};
    const char *path = o->against[i];
    struct seen *seen = &a->seen[i];
    enum nd_status status = ND_OK;

    if (o->append && !o->dry_run && i + 1 == o->n_against) {
        a->appender = nd_sketch_appender_open(path, a->part.recipe, &create, err);
        if (!a->appender)
            return err->status;
        seen->file = nd_sketch_appender_file(a->appender);
    } else {
        seen->own = nd_sketch_file_open(path, err);
        if (!seen->own)
            return err->status;
        seen->file = seen->own;
        status = nd_sketch_file_fits(seen->own, a->part.recipe, err);
    }
    return status == ND_OK ? check_shingles(a->part.recipe, seen->file, path, err) : status;
}

/* A file that would be made by this run, were it not a dry one, has no documents. */
static bool is_yet_to_be(const struct nd_run_options *o, size_t i)
{
    return o->append && o->dry_run && i + 1 == o->n_against && access(o->against[i], F_OK) != 0 &&
           errno == ENOENT;
}

static bool has_shingles(const struct nd_against *a)
{
    return a->part.recipe->dedup.verify != ND_VERIFY_NONE ||
           (a->appender && nd_sketch_file_info(nd_sketch_appender_file(a->appender))->has_shingles);
}

static enum nd_status open_fresh(struct nd_against *a, struct nd_error *err)
{
    struct nd_sketch_writer_options options = {.keeps_shingles = has_shingles(a)};
    const char *tmp = a->part.options->tmp;
    int fd = nd_temporary_spool(tmp);

    a->stream = fd >= 0 ? fdopen(fd, "wb+") : NULL;
    if (!a->stream) {
        enum nd_status status =
            nd_fail(err, ND_EIO, "no temporary file can be made in %s: %s", tmp, strerror(errno));

        if (fd >= 0)
            (void)close(fd);
        return status;
    }
    a->writer = nd_sketch_writer_new(a->stream, a->part.recipe, &options, err);
    if (!a->writer)
        return err->status;
    a->packer =
        nd_sketch_packer_new(a->part.pool, a->part.recipe, a->writer, options.keeps_shingles, err);
    return a->packer ? ND_OK : ND_ENOMEM;
}

/* The old documents that new ones may contain as a whole. */
static enum nd_status find_short(struct nd_against *a, struct nd_error *err)
{
    if (a->part.recipe->dedup.verify != ND_VERIFY_CONTAINMENT_OF_KEPT)
        return ND_OK;
    a->short_texts =
        nd_short_texts_new(a->file, a->n_seen, a->part.recipe, nd_pool_threads(a->part.pool), err);
    return a->short_texts ? ND_OK : err->status;
}

static enum nd_status open_all(struct nd_against *a, struct nd_error *err)
{
    const struct nd_run_options *o = a->part.options;
    unsigned n = nd_pool_threads(a->part.pool);
    enum nd_status status = check_options(o, err);

    a->seen = calloc(o->n_against, sizeof *a->seen);
    a->file = calloc(o->n_against, sizeof *a->file);
    a->line = calloc(o->n_against, sizeof *a->line);
    a->room = calloc(n, sizeof *a->room);
    a->error = calloc(n, sizeof *a->error);
    if (!a->seen || !a->file || !a->line || !a->room || !a->error)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; status == ND_OK && i < o->n_against; i++) {
        if (is_yet_to_be(o, i))
            continue;
        status = open_one(a, i, err);
        a->n_seen = i + 1;
    }
    for (size_t i = 0; status == ND_OK && i < a->n_seen; i++) {
        const struct nd_sketch_file_info *info = nd_sketch_file_info(a->seen[i].file);

        a->file[i] = a->seen[i].file;
        a->line[i] = (struct nd_first_line_seen){o->against[i], info->generation, info->documents};
        a->part.summary->seen_documents += info->documents;
    }
    if (status == ND_OK)
        status = find_short(a, err);
    return status == ND_OK ? open_fresh(a, err) : status;
}

struct nd_against *nd_against_new(const struct nd_against_parts *parts, struct nd_error *err)
{
    struct nd_against *a = calloc(1, sizeof *a);

    if (!a) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    a->part = *parts;
    if (open_all(a, err) == ND_OK)
        return a;
    nd_against_free(a);
    return NULL;
}

void nd_against_free(struct nd_against *a)
{
    unsigned n;

    if (!a)
        return;
    n = nd_pool_threads(a->part.pool);
    for (size_t i = 0; a->seen && i < a->n_seen; i++)
        nd_sketch_file_close(a->seen[i].own);
    nd_sketch_appender_close(a->appender);
    nd_sketch_packer_free(a->packer);
    nd_sketch_writer_free(a->writer);
    if (a->stream)
        (void)fclose(a->stream);
    nd_sketch_file_close(a->fresh);
    nd_seen_rows_release(&a->old);
    for (size_t i = 0; i < ITEMS_MAX; i++)
        nd_sketch_room_release(&a->item_room[i]);
    for (unsigned i = 0; a->room && i < n; i++)
        nd_sketch_room_release(&a->room[i]);
    nd_short_texts_free(a->short_texts);
    free(a->short_of);
    free(a->seen);
    free(a->file);
    free(a->line);
    free(a->document_of);
    free(a->row);
    free(a->kept);
    free(a->room);
    free(a->error);
    free(a);
}

const struct nd_first_line_seen *nd_against_files(const struct nd_against *a, size_t *n)
{
    *n = a->n_seen;
    return a->line;
}

/* ---- The new documents ---- */

static void look_for_short(void *context, size_t task, unsigned worker)
{
    struct nd_against *a = context;
    const struct nd_parsed *parsed = &a->batch->parsed[task];
    uint32_t *found = &a->short_of[a->n_records + task];

    *found = NONE;
    if (!parsed->bad &&
        nd_short_texts_find(a->short_texts, worker, parsed->document.text, found) < 0)
        atomic_store(&a->has_failed, true);
}

static enum nd_status look_for_all_short(struct nd_against *a, const struct nd_reading_batch *batch,
                                         struct nd_error *err)
{
    if (!a->short_texts)
        return ND_OK;
    a->batch = batch;
    if (!ND_RESERVE(a->short_of, &a->short_capacity, a->n_records + batch->count))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    nd_pool_run(a->part.pool, batch->count, look_for_short, a);
    return atomic_load(&a->has_failed) ? nd_fail(err, ND_ENOMEM, "out of memory") : ND_OK;
}

bool nd_against_has_short(const struct nd_against *a, uint32_t record, struct nd_decision *decision)
{
    uint32_t number = a->short_texts ? a->short_of[record] : NONE;

    if (number == NONE)
        return false;
    *decision = (struct nd_decision){
        .kept = number,
        .verified = ND_VERIFIED_SKETCH,
        .distance = UINT32_MAX,
        .overlap = {a->row[a->document_of[record]].place.n_shingles, 1, 1},
    };
    return true;
}

enum nd_status nd_against_take(struct nd_against *a, const struct nd_reading_batch *batch,
                               struct nd_error *err)
{
    enum nd_status status = nd_sketch_packer_run(a->packer, batch, err);

    if (status == ND_OK)
        status = look_for_all_short(a, batch, err);
    if (status == ND_OK &&
        !ND_RESERVE(a->document_of, &a->record_capacity, a->n_records + batch->count))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; status == ND_OK && i < batch->count; i++) {
        a->document_of[a->n_records++] = a->n_documents;
        if (batch->parsed[i].bad)
            continue;
        a->n_documents++;
        status = nd_sketch_writer_add(a->writer, nd_sketch_packer_row(a->packer, i), err);
    }
    return status;
}

/* Complete the temporary file, and open it to be read. */
static enum nd_status finish_fresh(struct nd_against *a, const struct nd_reading *reading,
                                   struct nd_error *err)
{
    enum nd_status status = ND_OK;
    int fd;

    nd_sketch_packer_free(a->packer);
    a->packer = NULL;
    for (uint32_t i = 0; status == ND_OK && i < nd_reading_sources(reading); i++) {
        const struct nd_source *source = nd_reading_source(reading, i);
        struct nd_sketch_source row = {source->path, source->entry, source->bytes_hash,
                                       source->records};

        status = nd_sketch_writer_add_source(a->writer, &row, err);
    }
    if (status == ND_OK)
        status = nd_sketch_writer_finish(a->writer, err);
    if (status == ND_OK && fflush(a->stream) != 0)
        status = nd_fail(err, ND_EIO, "the temporary file cannot be written: %s", strerror(errno));
    if (status != ND_OK)
        return status;
    fd = fcntl(fileno(a->stream), F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return nd_fail(err, ND_EIO, "the temporary file cannot be read: %s", strerror(errno));
    a->fresh = nd_sketch_file_open_descriptor("the temporary sketch file", fd, err);
    return a->fresh ? ND_OK : err->status;
}

enum nd_status nd_against_search(struct nd_against *a, const struct nd_reading *reading,
                                 struct nd_error *err)
{
    struct nd_seen_search search = {.pool = a->part.pool,
                                    .recipe = a->part.recipe,
                                    .file = a->file,
                                    .n_files = a->n_seen,
                                    .takes_all = a->short_texts != NULL};
    enum nd_status status = finish_fresh(a, reading, err);

    a->row = nd_alloc_array((size_t)a->n_documents + 1, sizeof *a->row);
    a->kept = calloc(a->n_records / 64 + 1, sizeof *a->kept);
    if (!a->row || !a->kept)
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    search.fresh = a->fresh;
    if (status == ND_OK)
        status = nd_seen_rows_find(&search, a->row, &a->old, err);
    a->part.summary->seen_met = a->old.n;
    return status;
}

uint64_t nd_against_count(const struct nd_against *a)
{
    return a->old.n;
}

void nd_against_set_order(struct nd_against *a, const uint32_t *record, size_t n)
{
    a->order = record;
    a->n_order = n;
}

/* ---- Documents of the engine ---- */

static const struct nd_seen_row *row_of(const struct nd_against *a, uint64_t document)
{
    return document < a->old.n ? &a->old.item[document]
                               : &a->row[a->document_of[a->order[document - a->old.n]]];
}

static enum nd_status read_row(const struct nd_against *a, uint64_t document, unsigned parts,
                               struct nd_sketch_room *room, struct nd_sketch_row *row,
                               struct nd_error *err)
{
    const struct nd_seen_row *at = row_of(a, document);
    const struct nd_sketch_file *file = document < a->old.n ? a->seen[at->file].file : a->fresh;

    return nd_sketch_file_read_row(file, &at->place, parts, room, row, err);
}

static void load_one(void *context, size_t task, unsigned worker)
{
    struct nd_against *a = context;
    struct nd_error err = {.status = ND_OK};

    if (a->error[worker].status != ND_OK)
        return;
    if (read_row(a, a->loaded_from + task,
                 a->part.recipe->dedup.verify == ND_VERIFY_NONE ? ND_SKETCH_FILE_ROWS
                                                                : ND_SKETCH_FILE_ALL,
                 &a->item_room[task], &a->item_row[task], &err) != ND_OK)
        a->error[worker] = err;
    a->item[task] = (struct nd_dedup_item){.sketched = &a->item_row[task]};
}

enum nd_status nd_against_load(struct nd_against *a, uint64_t from,
                               const struct nd_dedup_item **items, size_t *n, struct nd_error *err)
{
    uint64_t shingles = 0, left = a->old.n + a->n_order - from;

    for (*n = 0; *n < left && *n < ITEMS_MAX && shingles < ITEM_SHINGLES_MAX; ++*n)
        shingles += row_of(a, from + *n)->place.n_shingles;
    a->loaded_from = from;
    nd_pool_run(a->part.pool, *n, load_one, a);
    for (unsigned i = 0; i < nd_pool_threads(a->part.pool); i++)
        if (a->error[i].status != ND_OK) {
            *err = a->error[i];
            return err->status;
        }
    *items = a->item;
    return ND_OK;
}

enum nd_status nd_against_shingles(struct nd_against *a, uint64_t document, unsigned worker,
                                   const uint64_t **shingle, size_t *n, struct nd_error *err)
{
    struct nd_sketch_row row;
    enum nd_status status = read_row(a, document, ND_SKETCH_FILE_ALL, &a->room[worker], &row, err);

    *shingle = row.shingles;
    *n = row.n_shingles;
    return status;
}

enum nd_status nd_against_party(struct nd_against *a, uint64_t document, struct nd_json *room,
                                struct nd_party *party, struct nd_error *err)
{
    const struct nd_sketch_source *source;
    struct nd_sketch_row row;
    enum nd_status status = read_row(a, document, ND_SKETCH_FILE_ROWS, &a->room[0], &row, err);
    struct nd_name name;

    if (status != ND_OK)
        return status;
    source = nd_sketch_file_source(a->seen[row_of(a, document)->file].file, row.source);
    party->at = (struct nd_at){source->path, source->entry, row.line};
    name = nd_name_at(row.id, row.id_kind, &party->at, room);
    if (name.text.data != room->text.data) {
        room->text.len = 0;
        nd_json_bytes(room, name.text.data, name.text.len);
        name.text.data = room->text.data;
    }
    party->name = name;
    return room->failed ? nd_fail(err, ND_ENOMEM, "out of memory") : ND_OK;
}

/* The passage of the text that begins at this token, and has so many. */
static struct nd_row_passage piece_of(struct nd_view text, const struct nd_token *token,
                                      size_t first, size_t n)
{
    const struct nd_token *last = &token[first + n - 1];
    uint64_t from = token[first].offset, to = last->offset + last->len;

    return (struct nd_row_passage){{text.data + from, (size_t)(to - from)}, from, n};
}

enum nd_status nd_against_passage(struct nd_against *a, uint64_t document, struct nd_view text,
                                  struct nd_row_passage *passage, struct nd_error *err)
{
    unsigned w = a->part.recipe->dedup.sketch.w;
    struct nd_token *token = NULL;
    struct nd_sketch_row row;
    size_t n_tokens, first = 0, n;
    uint64_t *hash, whole;
    enum nd_status status = ND_OK;

    if (a->part.recipe->dedup.sketch.unit != ND_SHINGLE_WORDS)
        return ND_OK;
    status = read_row(a, document, ND_SKETCH_FILE_ALL, &a->room[0], &row, err);
    if (status == ND_OK)
        status = nd_text_tokens(text.data, text.len, &token, &n_tokens, err);
    if (status != ND_OK)
        return status;
    hash = nd_alloc_array(n_tokens + 1, sizeof *hash);
    for (size_t i = 0; hash && i < n_tokens; i++)
        hash[i] = token[i].hash;
    if (row.tokens < w && row.n_shingles == 1) {
        w = (unsigned)row.tokens;
        whole = nd_shingle_within(row.shingles[0], w);
        row.shingles = &whole;
    }
    n = hash ? nd_shingles_longest_run(hash, n_tokens, w, row.shingles, row.n_shingles, &first) : 0;
    if (n)
        *passage = piece_of(text, token, first, n);
    status = hash ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");
    free(hash);
    free(token);
    return status;
}

/* ---- The survivors, to the last file ---- */

/* The number in the file that is added to of a source of the inputs; none yet: UINT32_MAX. */
static enum nd_status number_source(struct nd_against *a, uint32_t source, uint32_t *number,
                                    struct nd_error *err)
{
    if (*number != UINT32_MAX)
        return ND_OK;
    return nd_sketch_appender_source(a->appender, nd_sketch_file_source(a->fresh, source), number,
                                     err);
}

void nd_against_keep(struct nd_against *a, uint32_t record)
{
    a->kept[record / 64] |= UINT64_C(1) << record % 64;
}

static bool is_kept(const struct nd_against *a, uint32_t record)
{
    return a->kept[record / 64] >> record % 64 & 1;
}

static bool is_document(const struct nd_against *a, uint32_t record)
{
    uint32_t next = record + 1 < a->n_records ? a->document_of[record + 1] : a->n_documents;

    return a->document_of[record] != next;
}

/* Both files are of one recipe, so that a row is copied as it is, but for its source. */
static enum nd_status append_row(struct nd_against *a, const struct nd_sketch_block *block,
                                 size_t i, uint32_t *number, struct nd_buffer *bytes,
                                 struct nd_error *err)
{
    bool has_shingles = nd_sketch_file_info(a->fresh)->has_shingles;
    bool keeps_shingles = nd_sketch_file_info(nd_sketch_appender_file(a->appender))->has_shingles;
    uint32_t source = block->rows[i].source;
    struct nd_packed_row packed;
    enum nd_status status = number_source(a, source, &number[source], err);

    bytes->len = 0;
    if (status != ND_OK)
        return status;
    if (!nd_sketch_block_pack(block, i, bytes))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    nd_sketch_packed_set_source(bytes->data, number[source]);
    packed = (struct nd_packed_row){.data = bytes->data, .len = bytes->len};
    packed.row_len =
        nd_sketch_packed_row_bytes((struct nd_view){bytes->data, bytes->len}, has_shingles);
    if (!keeps_shingles)
        packed.len = packed.row_len;
    return nd_sketch_writer_add(nd_sketch_appender_writer(a->appender), &packed, err);
}

/* The survivors of a block; *record is the first one of its documents. */
static enum nd_status append_block(struct nd_against *a, const struct nd_sketch_block *block,
                                   uint32_t *record, uint32_t *number, uint64_t *n,
                                   struct nd_error *err)
{
    struct nd_buffer bytes = {0};
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < block->n; ++*record) {
        if (!is_document(a, *record))
            continue;
        if (is_kept(a, *record)) {
            status = append_row(a, block, i, number, &bytes, err);
            ++*n;
        }
        i++;
    }
    nd_buffer_release(&bytes);
    return status;
}
enum nd_status nd_against_append(struct nd_against *a, struct nd_error *err)
{
    struct nd_sketch_block block = {0};
    enum nd_status status = ND_OK;
    uint32_t *number, record = 0;
    uint64_t n = 0;

    if (!a->appender)
        return ND_OK;
    number = nd_alloc_array(nd_sketch_file_info(a->fresh)->sources + (size_t)1, sizeof *number);
    if (!number)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    memset(number, 0xFF, nd_sketch_file_info(a->fresh)->sources * sizeof *number);
    for (uint32_t b = 0; status == ND_OK && b < nd_sketch_file_info(a->fresh)->blocks; b++) {
        status = nd_sketch_file_read(a->fresh, b, ND_SKETCH_FILE_ALL, &block, err);
        if (status == ND_OK)
            status = append_block(a, &block, &record, number, &n, err);
    }
    nd_sketch_block_release(&block);
    free(number);
    if (status == ND_OK)
        status = nd_sketch_appender_commit(a->appender, err);
    if (status == ND_OK)
        a->part.summary->appended = n;
    return status;
}
