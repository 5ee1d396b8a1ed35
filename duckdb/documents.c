/* documents.c - the documents of a group of rows, and which of them are near duplicates */
#include "documents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How many documents are pushed at once. */
enum { BATCH = 4096 };

struct group_row {
    int64_t number;
    size_t id_at, id_len, text_at, text_len; /* in the bytes of all */
};

struct documents {
    struct group_row *row;
    size_t n, room;
    char *bytes;
    size_t len, bytes_room;
    struct nd_recipe *recipe;
};

static enum nd_status refuse(struct nd_error *err, enum nd_status status, const char *message)
{
    err->status = status;
    (void)snprintf(err->message, sizeof err->message, "neardup: %s", message);
    return status;
}

struct documents *documents_new(struct nd_error *err)
{
    struct documents *documents = calloc(1, sizeof *documents);

    if (documents)
        documents->recipe = nd_recipe_new(err);
    if (documents && documents->recipe)
        return documents;
    free(documents);
    refuse(err, ND_ENOMEM, "out of memory");
    return NULL;
}

void documents_free(struct documents *documents)
{
    if (!documents)
        return;
    nd_recipe_free(documents->recipe);
    free(documents->row);
    free(documents->bytes);
    free(documents);
}

enum nd_status documents_set_threshold(struct documents *documents, double threshold,
                                       struct nd_error *err)
{
    char assignment[64];

    if (!(threshold > 0 && threshold <= 1))
        return refuse(err, ND_EINVAL, "the threshold is above 0 and at most 1");
    (void)snprintf(assignment, sizeof assignment, "threshold=%.9f", threshold);
    return nd_recipe_set(documents->recipe, assignment, err);
}

enum nd_status documents_set_recipe(struct documents *documents, struct nd_view recipe,
                                    struct nd_error *err)
{
    char text[256];

    if (recipe.len >= sizeof text)
        return refuse(err, ND_EINVAL, "the third argument is the name of a recipe or key = value");
    memcpy(text, recipe.data, recipe.len);
    text[recipe.len] = '\0';
    return strchr(text, '=') ? nd_recipe_set(documents->recipe, text, err)
                             : nd_recipe_by_name(documents->recipe, text, err);
}

/* Make an array of `size` elements have room for n more. */
static void *reserve(void *array, size_t size, size_t n, size_t more, size_t *room)
{
    size_t wanted = *room;
    void *grown;

    if (array && n + more <= *room)
        return array;
    while (wanted < n + more || wanted == 0)
        wanted = wanted + wanted / 2 + 64;
    grown = realloc(array, wanted * size);
    if (grown)
        *room = wanted;
    return grown;
}

static bool add_bytes(struct documents *documents, struct nd_view bytes, size_t *at)
{
    char *grown = reserve(documents->bytes, 1, documents->len, bytes.len, &documents->bytes_room);

    if (!grown)
        return false;
    documents->bytes = grown;
    *at = documents->len;
    if (bytes.len)
        memcpy(grown + documents->len, bytes.data, bytes.len);
    documents->len += bytes.len;
    return true;
}

enum nd_status documents_add(struct documents *documents, const struct document_id *id,
                             struct nd_view text, struct nd_error *err)
{
    struct group_row *grown =
        reserve(documents->row, sizeof *grown, documents->n, 1, &documents->room);
    struct group_row row = {.number = id->number, .id_len = id->text.len, .text_len = text.len};

    if (!grown)
        return refuse(err, ND_ENOMEM, "out of memory");
    documents->row = grown;
    if (!add_bytes(documents, id->text, &row.id_at) || !add_bytes(documents, text, &row.text_at))
        return refuse(err, ND_ENOMEM, "out of memory");
    documents->row[documents->n++] = row;
    return ND_OK;
}

static struct document_id id_of(const struct documents *documents, const struct group_row *row)
{
    return (struct document_id){row->number, {documents->bytes + row->id_at, row->id_len}};
}

static struct nd_view text_of(const struct documents *documents, const struct group_row *row)
{
    return (struct nd_view){documents->bytes + row->text_at, row->text_len};
}

enum nd_status documents_append(struct documents *documents, const struct documents *other,
                                struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < other->n; i++) {
        const struct document_id id = id_of(other, &other->row[i]);

        status = documents_add(documents, &id, text_of(other, &other->row[i]), err);
    }
    return status;
}

/* ---- Deciding --------------------------------------------------------------------------------- */

/* A row with what it is sorted by. */
struct sorted_row {
    struct document_id id;
    struct nd_view text;
};

static int compare_views(struct nd_view a, struct nd_view b)
{
    const size_t len = a.len < b.len ? a.len : b.len;
    const int order = len ? memcmp(a.data, b.data, len) : 0;

    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int compare_rows(const void *a, const void *b)
{
    const struct sorted_row *x = a, *y = b;
    int order = (x->id.number > y->id.number) - (x->id.number < y->id.number);

    order = order ? order : compare_views(x->id.text, y->id.text);
    return order ? order : compare_views(x->text, y->text);
}

double overlap_resemblance(const struct nd_overlap *overlap)
{
    const uint64_t whole = overlap->a + overlap->b - overlap->shared;

    return whole ? (double)overlap->shared / (double)whole : 1;
}

/* Note the removed documents of a batch, whose first is document `first`. */
static void note_removed(const struct sorted_row *row, size_t first,
                         const struct nd_decision *decision, size_t n,
                         struct removed_document *removed, size_t *n_removed)
{
    for (size_t i = 0; i < n; i++) {
        const struct nd_decision *d = &decision[i];

        if (d->kept == first + i)
            continue;
        removed[(*n_removed)++] = (struct removed_document){
            .id = row[first + i].id,
            .kept = row[d->kept].id,
            .resemblance = d->identical != ND_IDENTICAL_NO ? 1 : overlap_resemblance(&d->overlap)};
    }
}

static enum nd_status decide_rows(const struct sorted_row *row, size_t n,
                                  const struct nd_recipe *recipe, struct removed_document *removed,
                                  size_t *n_removed, struct nd_error *err)
{
    struct nd_dedup *dedup = nd_dedup_new(recipe, NULL, err);
    struct nd_dedup_item *item = calloc(BATCH, sizeof *item);
    struct nd_decision *decision = calloc(BATCH, sizeof *decision);
    enum nd_status status = dedup ? ND_OK : err->status;

    if (!item || !decision)
        status = refuse(err, ND_ENOMEM, "out of memory");
    for (size_t at = 0; status == ND_OK && at < n; at += BATCH) {
        const size_t some = n - at < BATCH ? n - at : BATCH;

        for (size_t i = 0; i < some; i++)
            item[i].text = row[at + i].text;
        status = nd_dedup_push(dedup, item, some, decision, err);
        if (status == ND_OK)
            note_removed(row, at, decision, some, removed, n_removed);
    }
    nd_dedup_free(dedup);
    free(item);
    free(decision);
    return status;
}

enum nd_status documents_decide(struct documents *documents, bool by_text,
                                struct removed_document **removed, size_t *n_removed,
                                struct nd_error *err)
{
    const size_t n = documents->n;
    struct sorted_row *row = calloc(n + 1, sizeof *row);
    enum nd_status status = ND_OK;

    *n_removed = 0;
    *removed = calloc(n + 1, sizeof **removed);
    if (!row || !*removed)
        status = refuse(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; status == ND_OK && i < n; i++) {
        row[i] = (struct sorted_row){id_of(documents, &documents->row[i]),
                                     text_of(documents, &documents->row[i])};
        if (!by_text)
            row[i].id.text = (struct nd_view){NULL, 0};
    }
    if (status == ND_OK) {
        qsort(row, n, sizeof *row, compare_rows);
        status = decide_rows(row, n, documents->recipe, *removed, n_removed, err);
    }
    free(row);
    if (status != ND_OK) {
        free(*removed);
        *removed = NULL;
    }
    return status;
}
