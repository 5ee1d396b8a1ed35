/*
 * remove.c - index files: the entries of some ids are removed, all of them or none
 *
 * The segments of each part before the first one that has any of the ids are copied; the entries
 * that are left in its others become one segment.  A part of which nothing is left is no more.  The
 * file is written anew, so that nothing of what was removed stays on the disk under its name.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "hamming/file/change.h"

enum { ROWS_AT_ONCE = 4096 };

/* The ids to remove, sorted: as texts, and those that are numbers also as such. */
struct removed_ids {
    struct listed_text {
        const char *text;
        size_t given; /* its place in the caller's list */
    } * text;
    struct listed_number {
        uint32_t number;
        size_t given;
    } * number;
    size_t n_texts, n_numbers;
    bool *is_found; /* by its place */
};

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct listed_text *)a)->text, ((const struct listed_text *)b)->text);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = ((const struct listed_number *)a)->number;
    uint32_t y = ((const struct listed_number *)b)->number;

    return x < y ? -1 : x > y;
}

static void release_list(struct removed_ids *list)
{
    free(list->text);
    free(list->number);
    free(list->is_found);
}

static enum nd_status make_list(struct removed_ids *list, const char *const *ids, size_t n,
                                struct nd_error *err)
{
    *list = (struct removed_ids){.text = nd_alloc_array(n + 1, sizeof *list->text),
                                 .number = nd_alloc_array(n + 1, sizeof *list->number),
                                 .is_found = calloc(n + 1, sizeof *list->is_found)};
    if (!list->text || !list->number || !list->is_found)
        return nd_fail(err, ND_ENOMEM, "out of memory for %zu ids", n);
    for (size_t i = 0; i < n; i++) {
        uint32_t number;

        list->text[list->n_texts++] = (struct listed_text){ids[i], i};
        if (nd_hamming_text_number(ids[i], &number))
            list->number[list->n_numbers++] = (struct listed_number){number, i};
    }
    qsort(list->text, list->n_texts, sizeof *list->text, by_text);
    qsort(list->number, list->n_numbers, sizeof *list->number, by_number);
    return ND_OK;
}

/* An id may be in the list more than once. */
static bool mark_text(struct removed_ids *list, const char *text)
{
    struct listed_text key = {.text = text};
    const struct listed_text *end = list->text + list->n_texts;
    struct listed_text *found =
        bsearch(&key, list->text, list->n_texts, sizeof *list->text, by_text);

    if (!found)
        return false;
    while (found > list->text && strcmp(found[-1].text, text) == 0)
        found--;
    for (; found < end && strcmp(found->text, text) == 0; found++)
        list->is_found[found->given] = true;
    return true;
}

static bool mark_number(struct removed_ids *list, uint32_t number)
{
    struct listed_number key = {.number = number};
    const struct listed_number *end = list->number + list->n_numbers;
    struct listed_number *found =
        bsearch(&key, list->number, list->n_numbers, sizeof *list->number, by_number);

    if (!found)
        return false;
    while (found > list->number && found[-1].number == number)
        found--;
    for (; found < end && found->number == number; found++)
        list->is_found[found->given] = true;
    return true;
}

/* The id of an entry of a segment: 1: it is to be removed; 0: it is not; < 0: no memory. */
static int is_listed(struct removed_ids *list, const struct nd_hamming_segment *s, uint64_t entry,
                     struct nd_buffer *scratch)
{
    const char *text;
    size_t len;

    if (!s->has_texts)
        return mark_number(list, s->id[entry]);
    text = nd_hamming_texts_get(&s->texts, entry, &len);
    scratch->len = 0;
    if (!nd_buffer_append(scratch, text, len) || !nd_buffer_append(scratch, "", 1))
        return ND_ENOMEM;
    return mark_text(list, scratch->data);
}

/* How many entries of each segment are to be removed. */
static enum nd_status count_listed(const struct nd_hamming_file *file, struct removed_ids *list,
                                   uint64_t *removed, struct nd_error *err)
{
    struct nd_buffer scratch = {0};
    int status = ND_OK;

    for (unsigned i = 0; i < file->n && status >= 0; i++) {
        removed[i] = 0;
        for (uint64_t e = 0; e < file->segment[i].count && status >= 0; e++) {
            status = is_listed(list, &file->segment[i], e, &scratch);
            removed[i] += status > 0;
        }
    }
    nd_buffer_release(&scratch);
    return status < 0 ? nd_fail(err, ND_ENOMEM, "out of memory") : ND_OK;
}

static enum nd_status check_found(const struct removed_ids *list, const char *path,
                                  const char *const *ids, size_t n, struct nd_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (!list->is_found[i])
            return nd_fail(err, ND_EINVAL, "%s: it has no id '%.200s'; nothing was removed", path,
                           ids[i]);
    return ND_OK;
}

/* The entries of a segment that stay. */
static enum nd_status collect_rest(struct nd_hamming_collection *all,
                                   const struct nd_hamming_segment *s, struct removed_ids *list,
                                   struct nd_error *err)
{
    struct nd_buffer scratch = {0};
    uint64_t *row = nd_alloc_array(ROWS_AT_ONCE * all->words, sizeof *row);
    enum nd_status status = row ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");

    for (uint64_t e = 0; e < s->count && status == ND_OK; e++) {
        int listed;

        if (e % ROWS_AT_ONCE == 0 &&
            !nd_hamming_segment_rows(
                s, e, s->count - e < ROWS_AT_ONCE ? (size_t)(s->count - e) : ROWS_AT_ONCE, row)) {
            status = nd_hamming_damaged_there(err);
            break;
        }
        listed = is_listed(list, s, e, &scratch);
        if (listed < 0)
            status = nd_fail(err, ND_ENOMEM, "out of memory");
        else if (!listed)
            status = nd_hamming_collect_entry(all, s, e, row + e % ROWS_AT_ONCE * all->words, err);
    }
    nd_buffer_release(&scratch);
    free(row);
    return status;
}

/* The rest of a file's segments, part by part. */
struct removal {
    const struct nd_hamming_file *file;
    struct removed_ids *list;
    const uint64_t *removed; /* from each segment */
    /* The segments from which the new segments are made: from first[i] on as far as to end[i]. */
    unsigned first[ND_HAMMING_SEGMENTS_MAX], end[ND_HAMMING_SEGMENTS_MAX], n, done;
    struct nd_hamming_collection all;
};

static enum nd_status collect_removal(void *context, const struct nd_hamming_piece *piece,
                                      struct nd_hamming_entries *entries, struct nd_error *err)
{
    struct removal *r = context;
    unsigned number = r->done++;
    enum nd_status status;

    nd_hamming_collect_release(&r->all);
    status =
        nd_hamming_collect_begin(&r->all, (size_t)piece->count, r->file->scheme.words, NULL, err);
    for (unsigned i = r->first[number]; i < r->end[number] && status == ND_OK; i++)
        status = collect_rest(&r->all, &r->file->segment[i], r->list, err);
    return status == ND_OK ? nd_hamming_collect_finish(&r->all, entries, err) : status;
}

/* Say what becomes of the segments [first, end), which are a part: *part of the new file. */
static enum nd_status plan_part(struct nd_hamming_change *c, struct removal *r, unsigned first,
                                unsigned end, unsigned *part, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    unsigned before = c->n_pieces;
    uint64_t left = 0;

    for (; first < end && r->removed[first] == 0 && status == ND_OK; first++)
        status = nd_hamming_change_add_kept(c, first, *part, err);
    for (unsigned i = first; i < end; i++)
        left += r->file->segment[i].count - r->removed[i];
    if (left && status == ND_OK) {
        r->first[r->n] = first;
        r->end[r->n++] = end;
        status = nd_hamming_change_add_new(c, left, *part, err);
    }
    *part += c->n_pieces > before;
    return status;
}

/* Whether nothing is removed from a segment, nor from those before it in its part. */
static bool is_kept(const struct nd_hamming_file *file, const uint64_t *removed, unsigned segment)
{
    const struct nd_hamming_place *place = file->header.segment;
    bool kept = removed[segment] == 0;

    for (unsigned i = segment; i > 0 && place[i - 1].part == place[segment].part; i--)
        kept &= removed[i - 1] == 0;
    return kept;
}

static enum nd_status remove_from(struct nd_hamming_change *c, struct nd_hamming_file *file,
                                  struct removed_ids *list, const uint64_t *removed,
                                  struct nd_error *err)
{
    struct removal r = {.file = file, .list = list, .removed = removed};
    uint64_t count = 0;
    unsigned part = 0;
    bool keeps_any = false;
    enum nd_status status;

    for (unsigned i = 0; i < file->n; i++) {
        count += file->segment[i].count - removed[i];
        keeps_any |= is_kept(file, removed, i);
    }
    status = nd_hamming_change_keep(c, file, 0, keeps_any, count, err);
    nd_hamming_change_collect(c, collect_removal, &r);
    for (unsigned first = 0, end; first < file->n && status == ND_OK; first = end) {
        for (end = first + 1; end < file->n; end++)
            if (file->header.segment[end].part != file->header.segment[first].part)
                break;
        status = plan_part(c, &r, first, end, &part, err);
    }
    if (status == ND_OK)
        status = nd_hamming_change_replace(c, err);
    nd_hamming_collect_release(&r.all);
    return status;
}

static enum nd_status remove_ids(struct nd_hamming_change *c, const char *const *ids, size_t n,
                                 uint64_t *n_removed, struct nd_error *err)
{
    uint64_t removed[ND_HAMMING_SEGMENTS_MAX] = {0};
    struct nd_hamming_file *file = NULL;
    struct removed_ids list = {.text = NULL};
    enum nd_status status = nd_hamming_file_map(&file, c->fd, c->path, err);

    if (status == ND_OK)
        status = nd_hamming_file_open_from(file, 0, c->path, err);
    if (status == ND_OK)
        status = make_list(&list, ids, n, err);
    if (status == ND_OK)
        status = count_listed(file, &list, removed, err);
    if (status == ND_OK)
        status = check_found(&list, c->path, ids, n, err);
    *n_removed = 0;
    for (unsigned i = 0; i < ND_HAMMING_SEGMENTS_MAX; i++)
        *n_removed += removed[i];
    if (status == ND_OK && *n_removed)
        status = remove_from(c, file, &list, removed, err);
    if (status != ND_OK)
        *n_removed = 0;
    release_list(&list);
    nd_hamming_file_close(file);
    return status;
}

enum nd_status nd_hamming_file_remove(const char *path, const char *const *ids, size_t n,
                                      uint64_t *n_removed, struct nd_error *err)
{
    struct nd_hamming_change c;
    uint64_t room;
    enum nd_status status = nd_hamming_change_open(&c, path, true, err);

    if (status != ND_OK)
        return status;
    status = remove_ids(&c, ids, n, n_removed ? n_removed : &room, err);
    nd_hamming_change_release(&c);
    return status;
}
