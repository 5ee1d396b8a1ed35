/*
 * against_run.c - documents of sketch files before all new ones: opened, and found
 *
 * Old documents are never loaded as a whole.  The new ones are sketched once, and packed as they go
 * to the file later (fresh_rows.c); seen_rows.c finds the old ones that matter to them; the engine
 * gets the rows of both, and reads shingles where it compares (against_documents.c).  So memory
 * follows the new documents and those that they meet.
 */
#include "old/against_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/system/naming.h"
#include "old/against_parts.h"
#include "reading/run_options.h"
#include "recipe/recipe_struct.h"

/* ---- Opening ---- */

static enum nd_status check_shingles(const struct nd_recipe *recipe,
                                     const struct nd_sketch_file *file, const char *path,
                                     struct nd_error *err)
{
    if (recipe->dedup.forms != ND_FORMS_NONE)
        return nd_fail(err, ND_EINVAL,
                       "forms: %s has sketches, and telling forms apart needs the texts", path);
    if (recipe->dedup.verify == ND_VERIFY_NONE || nd_sketch_file_info(file)->keeps.shingles)
        return ND_OK;
    return nd_fail(
        err, ND_EINVAL,
        "%s has no shingles, and the recipe compares them (verify): make it anew without "
        "--no-shingles",
        path);
}

/* Check that old documents have the fields that say with whom they are compared; the keep policy
 * prefers them all. */
static enum nd_status check_compared(const struct nd_against *a, const struct nd_against_file *seen,
                                     const char *path, struct nd_error *err)
{
    const struct nd_comparable *c = a->part.comparable;
    enum nd_status status = nd_sketched_fields_check(&seen->fields, path, c->within, err);

    if (status == ND_OK)
        status = nd_sketched_fields_check(&seen->fields, path, c->security, err);
    for (size_t i = 0; status == ND_OK && i < c->n_never; i++)
        status = nd_sketched_fields_check(&seen->fields, path,
                                          nd_field_set_want(c->fields, c->never[i].field), err);
    return status;
}

static enum nd_status open_one(struct nd_against *a, size_t i, struct nd_error *err)
{
    const struct nd_run_options *o = a->part.options;
    const struct nd_sketch_writer_options create = {.keeps = nd_sketch_kept_of(a->part.recipe),
                                                    .fields =
                                                        (const char *const *)a->part.record->name,
                                                    .n_fields = a->part.record->n};
    const char *path = o->against[i];
    struct nd_against_file *seen = &a->seen[i];
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
    if (status == ND_OK)
        status = nd_sketched_fields_find(&seen->fields, nd_sketch_file_info(seen->file), path,
                                         a->part.fields->name, a->part.fields->count, 0, err);
    if (status == ND_OK)
        status = check_compared(a, seen, path, err);
    return status == ND_OK ? check_shingles(a->part.recipe, seen->file, path, err) : status;
}

/* A file that would be made by this run, were it not a dry one, has no documents. */
static bool is_yet_to_be(const struct nd_run_options *o, size_t i)
{
    return o->append && o->dry_run && i + 1 == o->n_against && !nd_path_exists(o->against[i]) &&
           errno == ENOENT;
}

/*
 * The parts that rows of new documents keep: what is compared, and what the file keeps that they
 * are added to.
 */
static struct nd_sketch_kept kept_of_fresh(const struct nd_against *a)
{
    struct nd_sketch_kept keeps = {nd_sketch_kept_of(a->part.recipe).minima,
                                   a->part.recipe->dedup.verify != ND_VERIFY_NONE};

    if (a->appender) {
        const struct nd_sketch_kept added =
            nd_sketch_file_info(nd_sketch_appender_file(a->appender))->keeps;

        keeps.minima = added.minima;
        keeps.shingles |= added.shingles;
    }
    return keeps;
}

static enum nd_status open_fresh(struct nd_against *a, struct nd_error *err)
{
    const struct nd_fresh_rows_options options = {.recipe = a->part.recipe,
                                                  .keeps = kept_of_fresh(a),
                                                  .fields =
                                                      (const char *const *)a->part.record->name,
                                                  .n_fields = a->part.record->n,
                                                  .tmp = a->part.options->tmp,
                                                  .memory_bytes = a->part.budget->sort_bytes};

    a->fresh = nd_fresh_rows_new(&options, err);
    if (!a->fresh)
        return ND_ENOMEM;
    a->packer = nd_sketch_packer_new(a->part.pool, a->part.recipe, nd_fresh_rows_writer(a->fresh),
                                     nd_fresh_rows_keep(a->fresh), err);
    return a->packer ? ND_OK : ND_ENOMEM;
}

/* The old documents that new ones may contain as a whole. */
static enum nd_status find_short(struct nd_against *a, struct nd_error *err)
{
    if (!nd_short_texts_count(a->part.recipe))
        return ND_OK;
    a->short_texts =
        nd_short_texts_new(a->file, a->n_seen, a->part.recipe, nd_pool_threads(a->part.pool), err);
    return a->short_texts ? ND_OK : err->status;
}

static enum nd_status open_all(struct nd_against *a, struct nd_error *err)
{
    const struct nd_run_options *o = a->part.options;
    unsigned n = nd_pool_threads(a->part.pool);
    enum nd_status status = ND_OK;

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
    if (o->only_against)
        a->n_words = o->n_against / 64 + 1;
    if (status == ND_OK)
        status = find_short(a, err);
    if (status == ND_OK && a->short_texts && (o->within || o->security_field || o->n_never))
        status = nd_fail(err, ND_EINVAL,
                         "%s: short old documents are found in texts whatever their fields: it "
                         "cannot be used with --against and --verify containment-of-kept",
                         o->within           ? "within"
                         : o->security_field ? "security-field"
                                             : "never");
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
    a->equal.bytes_max = SIZE_MAX;
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
    nd_fresh_rows_free(a->fresh);
    nd_seen_rows_release(&a->old);
    for (size_t i = 0; i < ND_AGAINST_ITEMS_MAX; i++)
        nd_sketch_room_release(&a->item_room[i]);
    for (unsigned i = 0; a->room && i < n; i++)
        nd_sketch_room_release(&a->room[i]);
    nd_short_texts_free(a->short_texts);
    nd_hash_set_release(&a->equal);
    free(a->short_of);
    free(a->short_files);
    free(a->seen);
    free(a->file);
    free(a->line);
    free(a->document_of);
    free(a->kept);
    free(a->room);
    free(a->error);
    free(a);
}

struct nd_sketch_writer_options nd_against_like(const struct nd_against *a)
{
    return (struct nd_sketch_writer_options){.keeps = nd_fresh_rows_keep(a->fresh),
                                             .fields = (const char *const *)a->part.record->name,
                                             .n_fields = a->part.record->n};
}

void nd_against_use(struct nd_against *a, struct nd_known_rows *known,
                    struct nd_checkpoint *checkpoint)
{
    nd_sketch_packer_use(a->packer, known);
    a->checkpoint = checkpoint;
}

const struct nd_first_line_seen *nd_against_files(const struct nd_against *a, size_t *n)
{
    *n = a->n_seen;
    return a->line;
}

enum nd_status nd_against_begin_quoted(struct nd_against *a, struct nd_quoted *quoted,
                                       struct nd_error *err)
{
    for (size_t i = 0; i < a->n_seen; i++) {
        const struct nd_view name = {a->line[i].path, strlen(a->line[i].path)};

        if (!nd_quoted_add(quoted, name, a->line[i].documents, &a->seen[i].group))
            return nd_fail(err, ND_ENOMEM, "out of memory");
    }
    return ND_OK;
}

/* ---- The new documents ---- */

static enum nd_status take_row(struct nd_against *a, size_t i, struct nd_error *err)
{
    const struct nd_packed_row *row = nd_sketch_packer_row(a->packer, i);
    enum nd_status status = nd_fresh_rows_add(a->fresh, row, err);

    if (status == ND_OK && a->checkpoint && nd_sketch_packer_made(a->packer, i))
        status = nd_checkpoint_add_packed(a->checkpoint, row, err);
    return status;
}

enum nd_status nd_against_take(struct nd_against *a, const struct nd_reading_batch *batch,
                               struct nd_error *err)
{
    enum nd_status status = nd_sketch_packer_run(a->packer, batch, err);

    if (status == ND_OK)
        status = nd_against_look_for_short(a, batch, err);
    if (status == ND_OK &&
        !ND_RESERVE(a->document_of, &a->record_capacity, a->n_records + batch->count))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; status == ND_OK && i < batch->count; i++) {
        a->document_of[a->n_records++] = nd_fresh_rows_count(a->fresh);
        if (!batch->parsed[i].bad)
            status = take_row(a, i, err);
    }
    return status;
}

enum nd_status nd_against_end_reading(struct nd_against *a, const struct nd_reading *reading,
                                      struct nd_error *err)
{
    nd_sketch_packer_free(a->packer);
    a->packer = NULL;
    a->reading = reading;
    a->kept = calloc(a->n_records / 64 + 1, sizeof *a->kept);
    return a->kept ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");
}

static enum nd_status get_fresh(void *fresh, uint32_t document, struct nd_sketch_room *room,
                                struct nd_sketch_row *row, struct nd_error *err)
{
    return nd_fresh_rows_get(fresh, document, ND_SKETCH_FILE_ROWS, room, row, err);
}

enum nd_status nd_against_search(struct nd_against *a, const struct nd_reading *reading,
                                 struct nd_error *err)
{
    struct nd_seen_search search = {.pool = a->part.pool,
                                    .recipe = a->part.recipe,
                                    .n_fresh = nd_fresh_rows_count(a->fresh),
                                    .fresh = get_fresh,
                                    .context = a->fresh,
                                    .file = a->file,
                                    .n_files = a->n_seen,
                                    .takes_all = a->short_texts != NULL,
                                    .memory_bytes = a->part.budget->engine_bytes / 2};
    enum nd_status status = nd_against_end_reading(a, reading, err);

    if (status != ND_OK)
        return status;
    status = nd_seen_rows_find(&search, &a->old, err);
    a->part.summary->seen_met = a->old.n;
    a->part.summary->spilled_bytes = nd_fresh_rows_spilled(a->fresh);
    return status;
}
