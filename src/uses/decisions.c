/* decisions.c - which documents another run removed, looked up by their names */

/*
 * Rows are kept as hashes in an array that is sorted once all have been read. Names are hashed as
 * the file writes them: in a manifest as values of JSON strings, in a file of clusters as fields of
 * TSV. So the id 1 and the id "1" are one name here; where only one of them was removed, their
 * places tell them apart, or else they are an error, as any other name that two documents have.
 */
#include "uses/decisions.h"

#include "base/hash.h"
#include "reading/names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * nd_decisions_find puts into the key of a document: 0, or twice the number of a row, from 1, plus
 * 1 where the document at the row's place has another name.
 */
enum { OTHER_NAME = 1, STEP = 2 };
/* In place of that: so many rows, in the lower bits, name the document as the kept one. */
#define KEPT_FOR (UINT64_C(1) << 63)

void nd_decisions_release(struct nd_decisions *d)
{
    nd_manifest_release(&d->manifest);
    free(d->row);
    free(d->kept);
    d->row = NULL;
    d->kept = NULL;
    d->n = d->capacity = 0;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static enum nd_status add(struct nd_decisions *d, struct nd_view name, struct nd_decided row,
                          struct nd_error *err)
{
    nd_hash_bytes_128(name.data, name.len, &row.key[0], &row.key[1]);
    if (!ND_RESERVE(d->row, &d->capacity, d->n + 1))
        return nd_fail(err, ND_ENOMEM, "out of memory for %zu decisions", d->n + 1);
    d->row[d->n++] = row;
    return ND_OK;
}

static bool is_same(struct nd_view a, struct nd_view b)
{
    return a.len == b.len && (!a.len || memcmp(a.data, b.data, a.len) == 0);
}

static enum nd_status add_kept(struct nd_decisions *d, struct nd_view kept, struct nd_view at,
                               struct nd_error *err)
{
    uint64_t name[2];

    if (!d->counts || !kept.data || !at.data)
        return ND_OK;
    if (!ND_RESERVE(d->kept, &d->kept_capacity, d->n_kept + 1))
        return nd_fail(err, ND_ENOMEM, "out of memory for %zu decisions", d->n_kept + 1);
    nd_hash_bytes_128(kept.data, kept.len, &name[0], &name[1]);
    d->kept[d->n_kept++] = (struct nd_kept_key){{nd_hash_bytes(at.data, at.len), name[0]}};
    return ND_OK;
}

static enum nd_status take_row(void *context, const struct nd_document *removed, struct nd_view at,
                               struct nd_view kept, struct nd_view kept_at, uint64_t line,
                               struct nd_error *err)
{
    struct nd_decisions *d = context;
    const struct nd_decided row = {.more = nd_hash_bytes(at.data, at.len),
                                   .line = line & ND_DECIDED_LINES,
                                   .is_removed = true};

    if (!d->own_line && !d->manifest.has_against && kept.data && is_same(kept, removed->id))
        d->own_line = line;
    if (add_kept(d, kept, kept_at, err) != ND_OK)
        return ND_ENOMEM;
    return add(d, removed->id, row, err);
}

static enum nd_status take_cluster(void *context, const struct nd_cluster_line *parts,
                                   uint64_t line, struct nd_error *err)
{
    const bool is_unsaid = parts->fate == ND_FATE_UNSAID,
               is_one = is_same(parts->name, parts->kept);
    const struct nd_decided row = {.line = line & ND_DECIDED_LINES,
                                   .is_removed =
                                       parts->fate == ND_FATE_REMOVED || (is_unsaid && !is_one),
                                   .is_unsaid = is_unsaid && is_one};

    return add(context, parts->name, row, err);
}

enum nd_status nd_decisions_read(struct nd_decisions *d, const char *path, struct nd_error *err)
{
    const struct nd_manifest_hooks hooks = {.row = take_row, .cluster = take_cluster, .context = d};

    d->path = path;
    return nd_manifest_each(&d->manifest, path, &hooks, err);
}

/* ---- Sorting --------------------------------------------------------------------------------- */

static int by_key(const void *left, const void *right)
{
    const struct nd_decided *a = left, *b = right;

    if (a->key[0] != b->key[0])
        return a->key[0] < b->key[0] ? -1 : 1;
    if (a->key[1] != b->key[1])
        return a->key[1] < b->key[1] ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static bool has_key(const struct nd_decisions *d, size_t at, const uint64_t key[2])
{
    return at < d->n && d->row[at].key[0] == key[0] && d->row[at].key[1] == key[1];
}

/* Check that documents of one name, in two adjacent rows, have one fate. */
static enum nd_status check_pair(const struct nd_decisions *d, const struct nd_decided *a,
                                 const struct nd_decided *b, struct nd_error *err)
{
    if (a->is_removed == b->is_removed && !(a->is_unsaid && b->is_unsaid))
        return ND_OK;
    return nd_fail(
        err, ND_EINPUT,
        "%s:%" PRIu64 ": the same id as in line %" PRIu64
        ", and one of the two may be kept while the other is removed: apply the manifest "
        "of that run, which tells them apart by their places",
        d->path, (uint64_t)b->line, (uint64_t)a->line);
}

static int by_kept_key(const void *left, const void *right)
{
    const struct nd_kept_key *a = left, *b = right;

    if (a->key[0] != b->key[0])
        return a->key[0] < b->key[0] ? -1 : 1;
    return a->key[1] < b->key[1] ? -1 : a->key[1] > b->key[1];
}

/* Places alone tell which document is the kept one of a row: another may have its id, as one that
 * came by --against may have the place, too. */
static enum nd_status sort_kept(struct nd_decisions *d, struct nd_error *err)
{
    if (!d->counts)
        return ND_OK;
    if (d->manifest.is_of_clusters || !d->by_place || d->manifest.has_against)
        return nd_fail(err, ND_EINVAL,
                       "copies-field: only a manifest, of a run without --against, tells how many "
                       "documents each cluster has, and only of inputs at the paths that it names");
    if (d->n_kept)
        qsort(d->kept, d->n_kept, sizeof *d->kept, by_kept_key);
    return ND_OK;
}

enum nd_status nd_decisions_sort(struct nd_decisions *d, bool by_place, bool is_partial,
                                 struct nd_error *err)
{
    enum nd_status status;

    d->by_place = by_place;
    status = sort_kept(d, err);
    if (status != ND_OK)
        return status;
    if (is_partial && !by_place && d->own_line)
        return nd_fail(err, ND_EINPUT,
                       "%s:%" PRIu64 ": the removed and the kept document have the same id: give "
                       "the inputs by the paths that the manifest names",
                       d->path, d->own_line);
    for (size_t i = 0; by_place && i < d->n; i++) {
        d->row[i].key[1] = d->row[i].key[0];
        d->row[i].key[0] = d->row[i].more;
    }
    for (size_t i = 0; i < d->n; i++)
        d->row[i].more = 0;
    if (d->n)
        qsort(d->row, d->n, sizeof *d->row, by_key);
    for (size_t i = 1; status == ND_OK && i < d->n; i++)
        if (has_key(d, i, d->row[i - 1].key))
            status = check_pair(d, &d->row[i - 1], &d->row[i], err);
    return status;
}

/* ---- Documents ------------------------------------------------------------------------------- */

/* The first row that is not before the key. */
static size_t find(const struct nd_decisions *d, const uint64_t key[2])
{
    const struct nd_decided wanted = {.key = {key[0], key[1]}};
    size_t from = 0, to = d->n;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (by_key(&d->row[middle], &wanted) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Return how many rows name the document of a key as the kept one. */
static uint64_t count_kept(const struct nd_decisions *d, const uint64_t key[2])
{
    const struct nd_kept_key wanted = {{key[0], key[1]}};
    size_t from = 0, to = d->n_kept, end;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (by_kept_key(&d->kept[middle], &wanted) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    for (end = from; end < d->n_kept && by_kept_key(&d->kept[end], &wanted) == 0;)
        end++;
    return end - from;
}

/* Write a text as the file does. */
static struct nd_view written(const struct nd_decisions *d, struct nd_view text,
                              struct nd_json *room)
{
    room->text.len = 0;
    if (d->manifest.is_of_clusters)
        nd_tsv_field(room, text);
    else
        nd_name_value(room, text);
    return (struct nd_view){room->text.data, room->text.len};
}

bool nd_decisions_find(const struct nd_decisions *d, struct nd_parsed *parsed,
                       struct nd_json scratch[2])
{
    const struct nd_name called =
        nd_name_of(&parsed->document, parsed->source, parsed->record.line, &scratch[0]);
    const struct nd_view name = written(d, called.text, &scratch[1]);
    uint64_t key[2];
    size_t at;

    nd_hash_bytes_128(name.data, name.len, &key[0], &key[1]);
    if (d->by_place) {
        struct nd_view place;

        scratch[0].text.len = 0;
        nd_place_append(&scratch[0], parsed->source, parsed->record.line);
        place =
            written(d, (struct nd_view){scratch[0].text.data, scratch[0].text.len}, &scratch[1]);
        key[1] = key[0];
        key[0] = nd_hash_bytes(place.data, place.len);
    }
    at = find(d, key);
    parsed->key = 0;
    if (has_key(d, at, key))
        parsed->key = STEP * (at + 1);
    else if (d->by_place && at < d->n && d->row[at].key[0] == key[0])
        parsed->key = STEP * (at + 1) + OTHER_NAME;
    else if (d->by_place && at && d->row[at - 1].key[0] == key[0])
        parsed->key = STEP * at + OTHER_NAME;
    else if (d->counts)
        parsed->key = KEPT_FOR | count_kept(d, key);
    return !scratch[0].failed && !scratch[1].failed;
}

/* Say what is wrong with a document. */
static enum nd_status refuse(const struct nd_parsed *parsed, struct nd_error *err,
                             const char *wrong, const char *path, uint64_t line)
{
    char place[300], name[200], at[32] = "";
    struct nd_json room = {0};
    struct nd_name called;

    nd_place_append(&room, parsed->source, parsed->record.line);
    nd_name_show((struct nd_view){room.text.data, room.text.len}, place, sizeof place);
    called = nd_name_of(&parsed->document, parsed->source, parsed->record.line, &room);
    nd_name_show(called.text, name, sizeof name);
    if (line)
        snprintf(at, sizeof at, ":%" PRIu64, line);
    nd_json_release(&room);
    return nd_fail(err, ND_EINPUT, "%s: the document '%s' %s %.300s%s", place, name, wrong, path,
                   at);
}

uint32_t nd_decisions_members(const struct nd_parsed *parsed)
{
    return parsed->key & KEPT_FOR ? (uint32_t)(parsed->key & UINT32_MAX) + 1 : 1;
}

enum nd_status nd_decisions_take(struct nd_decisions *d, const struct nd_parsed *parsed,
                                 bool *is_removed, struct nd_error *err)
{
    const bool has_row = parsed->key && !(parsed->key & KEPT_FOR);
    const size_t first = has_row ? parsed->key / STEP - 1 : 0;
    struct nd_decided *row = has_row ? &d->row[first] : NULL;

    *is_removed = row && row->is_removed;
    if (!row)
        return d->manifest.is_of_clusters ? refuse(parsed, err, "has no line in", d->path, 0)
                                          : ND_OK;
    if (parsed->key % STEP == OTHER_NAME)
        return refuse(parsed, err, "is at a place where another was removed, by", d->path,
                      row->line);
    if (!has_key(d, first + row->more, row->key))
        return refuse(parsed, err, "is one more of this id than are named in", d->path, row->line);
    row->more++;
    return ND_OK;
}

enum nd_status nd_decisions_check(const struct nd_decisions *d, struct nd_error *err)
{
    uint64_t missing = 0, line = UINT64_MAX;
    char others[64] = "";

    for (size_t i = 0, first = 0; i < d->n; i++) {
        if (!has_key(d, i, d->row[first].key))
            first = i;
        if (i - first < d->row[first].more)
            continue;
        missing++;
        line = d->row[i].line < line ? d->row[i].line : line;
    }
    if (!missing)
        return ND_OK;
    if (missing > 1)
        snprintf(others, sizeof others, ", nor do %" PRIu64 " others", missing - 1);
    return nd_fail(err, ND_EINPUT,
                   "%s:%" PRIu64
                   ": names no document of the inputs%s: they are not those that were "
                   "decided (with --partial, only some of them)",
                   d->path, line, others);
}
