/* against_documents.c - old and new documents as the engine and the outputs ask for them */
#include "old/against_run.h"

#include "evidence/copied_passage.h"
#include "old/against_parts.h"
#include "recipe/recipe_struct.h"
#include "sketches/sketches.h"

enum { ITEM_SHINGLES_MAX = 1 << 18 };

uint64_t nd_against_count(const struct nd_against *a)
{
    return a->old.n;
}

void nd_against_count_quoted(const struct nd_against *a, uint64_t document, uint32_t record,
                             struct nd_quoted *quoted)
{
    nd_quoted_count(quoted, a->seen[a->old.item[document].file].group, record);
}

void nd_against_set_order(struct nd_against *a, const uint32_t *record, size_t n)
{
    a->order = record;
    a->n_order = n;
}

/* Which of the new documents it is. */
static uint32_t fresh_of(const struct nd_against *a, uint64_t document)
{
    return a->document_of[a->order[document - a->old.n]];
}

static uint32_t shingles_of(const struct nd_against *a, uint64_t document)
{
    return document < a->old.n ? a->old.item[document].place.n_shingles
                               : nd_fresh_rows_shingles(a->fresh, fresh_of(a, document));
}

static enum nd_status read_row(const struct nd_against *a, uint64_t document, unsigned parts,
                               struct nd_sketch_room *room, struct nd_sketch_row *row,
                               struct nd_error *err)
{
    const struct nd_seen_row *old;

    if (document >= a->old.n)
        return nd_fresh_rows_get(a->fresh, fresh_of(a, document), parts, room, row, err);
    old = &a->old.item[document];
    return nd_sketch_file_read_row(a->file[old->file], &old->place, parts, room, row, err);
}

/* With whom an old document is compared.  False: out of memory. */
static bool group_old(struct nd_against *a, uint64_t document, const struct nd_sketch_row *row,
                      struct nd_dedup_item *item)
{
    const struct nd_sketched_fields *fields = &a->seen[a->old.item[document].file].fields;
    struct nd_field field[ND_FIELDS_MAX];
    uint64_t replaced[ND_FIELDS_MAX];
    struct nd_document of_row;
    uint32_t set;

    if (a->part.comparable->within < 0 && a->part.comparable->security < 0 &&
        !a->part.comparable->n_never)
        return true;
    of_row = nd_sketched_document(row, fields, field, replaced);
    if (!nd_comparable_group_old(a->part.comparable, &of_row, &item->group) ||
        !nd_comparable_labels(a->part.comparable, &of_row, &set))
        return false;
    item->labels = nd_comparable_set(a->part.comparable, set);
    return true;
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
    if (a->loaded_from + task < a->old.n && a->error[worker].status == ND_OK &&
        !group_old(a, a->loaded_from + task, &a->item_row[task], &a->item[task]))
        a->error[worker] = (struct nd_error){.status = ND_ENOMEM, .message = "out of memory"};
}

enum nd_status nd_against_load(struct nd_against *a, uint64_t from, size_t most,
                               const struct nd_dedup_item **items, size_t *n, struct nd_error *err)
{
    uint64_t shingles = 0;

    for (*n = 0; *n < most && *n < ND_AGAINST_ITEMS_MAX && shingles < ITEM_SHINGLES_MAX; ++*n)
        shingles += shingles_of(a, from + *n);
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

enum nd_status nd_against_shingles(struct nd_against *a, uint32_t record, unsigned worker,
                                   const uint64_t **shingle, size_t *n, struct nd_error *err)
{
    struct nd_sketch_row row;
    enum nd_status status =
        record < a->n_records
            ? nd_fresh_rows_get(a->fresh, a->document_of[record], ND_SKETCH_FILE_ALL,
                                &a->room[worker], &row, err)
            : read_row(a, record - a->n_records, ND_SKETCH_FILE_ALL, &a->room[worker], &row, err);

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
    if (document >= a->old.n) {
        const struct nd_source *of_run = nd_reading_source(a->reading, row.source);

        party->at = (struct nd_at){of_run->path, of_run->entry, row.line};
    } else {
        source = nd_sketch_file_source(a->file[a->old.item[document].file], row.source);
        party->at = (struct nd_at){source->path, source->entry, row.line};
    }
    name = nd_name_at(row.id, row.id_kind, &party->at, room);
    if (name.text.data != room->text.data) {
        room->text.len = 0;
        nd_json_bytes(room, name.text.data, name.text.len);
        name.text.data = room->text.data;
    }
    party->name = name;
    return room->failed ? nd_fail(err, ND_ENOMEM, "out of memory") : ND_OK;
}

enum nd_status nd_against_passage(struct nd_against *a, uint64_t document, struct nd_view text,
                                  struct nd_row_passage *passage, struct nd_error *err)
{
    struct nd_sketch_row row;
    enum nd_status status = read_row(a, document, ND_SKETCH_FILE_ALL, &a->room[0], &row, err);

    return status == ND_OK ? nd_copied_passage(a->part.recipe, &row, text, passage, err) : status;
}
