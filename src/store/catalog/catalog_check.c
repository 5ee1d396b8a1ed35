/* catalog_check.c - every row of the database on its own, and against the rows of other tables
 *
 * Each table is walked once, and what a row names is looked up.  A row that cannot be read is one
 * finding, of its own table; who names it says nothing more.  So is a table that cannot be walked to
 * its end.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/catalog/catalog_tables.h"
#include "store/catalog/label_sets.h"

/* Sums over the rows of a segment. */
struct checked_segment {
    uint32_t number;
    struct nd_segment_row row;
    uint64_t live_bytes; /* of the entries */
};

struct checked {
    struct nd_txn *txn;
    void (*report)(void *context, const char *finding);
    void *context;
    uint64_t n_findings;
    struct nd_error *err;
    bool has_state;
    struct nd_catalog_state state;
    /* counts over all rows */
    uint64_t n_rows[ND_CATALOG_TABLES];
    uint64_t n_gaps;                 /* rows of pairs that are none */
    uint64_t n_versions, text_bytes; /* of documents, and of entries that can be read */
    struct nd_set_counts *set;       /* of each label set */
    size_t n_sets;
    struct checked_segment *segment; /* by number */
    size_t n_segments, segments_capacity;
};

static void find(struct checked *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void find(struct checked *c, const char *format, ...)
{
    char finding[512];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(finding, sizeof finding, format, arguments);
    va_end(arguments);
    c->n_findings++;
    c->report(c->context, finding);
}

/* ---- Walking ---- */

struct catalog_walk {
    enum nd_catalog_table table;
    MDB_cursor *cursor;
    struct nd_key key;
    struct nd_view row;
    bool is_damaged;    /* the row, which was found */
    const void *key_at; /* in the page */
};

static enum nd_status begin_walk(struct checked *c, struct catalog_walk *w,
                                 enum nd_catalog_table table)
{
    int code;

    *w = (struct catalog_walk){.table = table};
    code = mdb_cursor_open(c->txn->txn, c->txn->catalog->table[table], &w->cursor);
    return code ? nd_catalog_fail(c->txn, table, NULL, code, c->err) : ND_OK;
}

/* Say that the row at hand is wrong. */
static void find_row(struct checked *c, const struct catalog_walk *w, const char *reason)
{
    struct nd_error err;

    (void)nd_catalog_fail_row(c->txn, w->table, &w->key, reason, &err);
    find(c, "%s", err.message);
}

static MDB_val value_of(const struct nd_key *key)
{
    return (MDB_val){key->len, (void *)(uintptr_t)key->bytes};
}

/* The next row, unless its key is not behind the one before: pages that are damaged could lead on
 * for ever. */
static int step(struct checked *c, struct catalog_walk *w, MDB_val *key, MDB_val *row)
{
    struct nd_key before = w->key;
    MDB_val last = value_of(&before);
    int code = mdb_cursor_get(w->cursor, key, row, MDB_NEXT);

    if (code == MDB_NOTFOUND)
        return 0;
    if (code)
        return nd_catalog_fail(c->txn, w->table, NULL, code, c->err);
    if (c->n_rows[w->table] > 0 &&
        mdb_cmp(c->txn->txn, c->txn->catalog->table[w->table], key, &last) <= 0)
        return nd_catalog_fail_row(c->txn, w->table, &before, "the next row is not behind it",
                                   c->err);
    c->n_rows[w->table]++;
    return 1;
}

/* The next row whose key is as long as those of the table are (0: any length).  It may be damaged. */
static int next_row(struct checked *c, struct catalog_walk *w, size_t key_len)
{
    MDB_val key, row;
    int found;

    while ((found = step(c, w, &key, &row)) > 0) {
        w->key.len = key.mv_size < ND_KEY_MAX ? key.mv_size : ND_KEY_MAX;
        memcpy(w->key.bytes, key.mv_data, w->key.len);
        w->key_at = key.mv_data;
        if (key.mv_size > ND_KEY_MAX || (key_len && key.mv_size != key_len)) {
            find_row(c, w, "the key has a wrong length");
            continue;
        }
        w->is_damaged = !nd_catalog_open_row(w->table, &w->key,
                                             (struct nd_view){row.mv_data, row.mv_size}, &w->row);
        if (w->is_damaged)
            find_row(c, w, nd_catalog_wrong_checksum);
        return 1;
    }
    return found;
}

static uint64_t rows_of(struct checked *c, enum nd_catalog_table table)
{
    MDB_stat stat;

    return mdb_stat(c->txn->txn, c->txn->catalog->table[table], &stat) ? 0 : stat.ms_entries;
}

/* A table that cannot be walked to its end is a finding. */
static enum nd_status end_walk(struct checked *c, struct catalog_walk *w, enum nd_status status)
{
    uint64_t said = rows_of(c, w->table);

    mdb_cursor_close(w->cursor);
    if (status == ND_EINPUT)
        find(c, "%s", c->err->message);
    else if (status)
        return status;
    if (said != c->n_rows[w->table])
        find(c, "table %s is said to have %" PRIu64 " rows, and %" PRIu64 " are found",
             nd_catalog_table_name(w->table), said, c->n_rows[w->table]);
    return ND_OK;
}

/* Check each row of a table that has its checksum; a row that a function refuses ends the walk. */
static enum nd_status walk_table(struct checked *c, enum nd_catalog_table table, size_t key_len,
                                 enum nd_status (*check)(struct checked *c,
                                                         const struct catalog_walk *w))
{
    struct catalog_walk w;
    enum nd_status status = begin_walk(c, &w, table);
    int found;

    if (status)
        return status;
    while (status == ND_OK && (found = next_row(c, &w, key_len)) != 0)
        status = found < 0 ? (enum nd_status)found : w.is_damaged ? ND_OK : check(c, &w);
    return end_walk(c, &w, status);
}

/* Results of a look-up in another table: a row that cannot be read is a finding there. */
enum looked_up { MISSING, FOUND, UNREADABLE, FAILED };
static enum looked_up looked_up(struct checked *c, int found, const struct nd_error *why)
{
    if (found >= 0)
        return found ? FOUND : MISSING;
    if (found == ND_EINPUT)
        return UNREADABLE;
    if (c->err)
        *c->err = *why;
    return FAILED;
}

static enum nd_status failed(const struct checked *c)
{
    return c->err ? c->err->status : ND_EIO;
}

static uint32_t key_number(const struct catalog_walk *w, size_t at)
{
    return nd_key_get_32(w->key.bytes + at);
}

/* ---- The state and the label sets ---- */

static enum nd_status check_state(struct checked *c)
{
    struct nd_error why;
    enum nd_status status = nd_catalog_get_state(c->txn, &c->state, &why);

    c->has_state = status == ND_OK;
    if (status == ND_EINPUT)
        find(c, "%s", why.message);
    else if (status) {
        if (c->err)
            *c->err = why;
        return status;
    }
    return ND_OK;
}

static enum nd_status check_one_set(struct checked *c, const struct catalog_walk *w,
                                    struct nd_label_sets *sets, uint32_t *n)
{
    uint32_t number = key_number(w, 0), twin;

    if (number != *n)
        find(c, "label set %" PRIu32 " is there, and %" PRIu32 " is not", number, *n);
    *n = number < UINT32_MAX ? number + 1 : number;
    if (w->is_damaged)
        return ND_OK;
    if (!nd_label_set_is_canonical(w->row)) {
        find_row(c, w, "the row is no label set");
        return ND_OK;
    }
    twin = nd_label_sets_find(sets, w->row);
    if (twin != ND_NO_LABEL_SET) {
        find(c, "label set %" PRIu32 " has the same labels as another", number);
        return ND_OK;
    }
    if (nd_label_sets_add(sets, w->row, &twin))
        return nd_fail(c->err, ND_ENOMEM, "out of memory for label sets");
    return ND_OK;
}

static enum nd_status check_label_sets(struct checked *c)
{
    struct nd_label_sets *sets = nd_label_sets_new();
    enum nd_status status = ND_OK;
    uint32_t n = 0;
    struct catalog_walk w;
    int found;

    if (!sets)
        return nd_fail(c->err, ND_ENOMEM, "out of memory for label sets");
    status = begin_walk(c, &w, ND_TABLE_LABEL_SETS);
    if (status == ND_OK) {
        while (status == ND_OK && (found = next_row(c, &w, 4)) != 0) {
            status = found < 0 ? (enum nd_status)found : check_one_set(c, &w, sets, &n);
            c->n_sets++;
        }
        status = end_walk(c, &w, status);
    }
    nd_label_sets_free(sets);
    if (status)
        return status;
    if (c->has_state && c->state.n_label_sets != n)
        find(c, "the state says that there are %" PRIu32 " label sets, and there are %" PRIu32,
             c->state.n_label_sets, n);
    c->set = calloc(c->n_sets + 1, sizeof *c->set);
    return c->set ? ND_OK : nd_fail(c->err, ND_ENOMEM, "out of memory for label sets");
}

/* ---- Segments ---- */

static enum nd_status read_segment(struct checked *c, const struct catalog_walk *w)
{
    struct checked_segment *s;

    if (!ND_RESERVE(c->segment, &c->segments_capacity, c->n_segments + 1))
        return nd_fail(c->err, ND_ENOMEM, "out of memory for segments");
    s = &c->segment[c->n_segments];
    *s = (struct checked_segment){.number = key_number(w, 0)};
    if (!nd_row_get_segment(w->row, &s->row)) {
        find_row(c, w, "the row cannot be right");
        return ND_OK;
    }
    c->n_segments++;
    if ((s->row.dead_bytes == 0) != (s->row.dead_since == 0))
        find(c,
             "segment %" PRIu32 " has %" PRIu64
             " bytes of deleted texts, since the second %" PRIu64,
             s->number, s->row.dead_bytes, s->row.dead_since);
    if (c->has_state && s->number > c->state.segments.segment)
        find(c, "segment %" PRIu32 " is behind the end of the store, which is in segment %" PRIu32,
             s->number, c->state.segments.segment);
    return ND_OK;
}

static struct checked_segment *segment_at(struct checked *c, uint32_t number)
{
    size_t low = 0, high = c->n_segments;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (c->segment[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->n_segments && c->segment[low].number == number ? &c->segment[low] : NULL;
}

static void compare_segments(struct checked *c)
{
    for (size_t i = 0; i < c->n_segments; i++) {
        const struct checked_segment *s = &c->segment[i];

        if (s->row.live_bytes != s->live_bytes)
            find(c,
                 "segment %" PRIu32 " is said to have %" PRIu64
                 " bytes of texts, and the entries name %" PRIu64,
                 s->number, s->row.live_bytes, s->live_bytes);
    }
}

/* ---- Entries and their texts ---- */

static void check_place(struct checked *c, uint32_t number, const struct nd_entry *e)
{
    struct checked_segment *s = segment_at(c, e->text.segment);
    const struct nd_segments_end *end = &c->state.segments;

    if (s)
        s->live_bytes += e->text.stored;
    else
        find(c, "entry %" PRIu32 ": its text is in segment %" PRIu32 ", of which there is no row",
             number, e->text.segment);
    if (c->has_state &&
        (e->text.segment > end->segment ||
         (e->text.segment == end->segment &&
          (e->text.offset > end->offset || e->text.stored > end->offset - e->text.offset))))
        find(c, "entry %" PRIu32 ": its text is behind the end of the segments", number);
}

/* How many documents hold an entry. */
static enum nd_status count_holders(struct checked *c, uint32_t number, uint32_t *n)
{
    struct nd_error why;
    struct nd_view id;
    uint64_t order = 0;
    int found;

    *n = 0;
    while ((found = nd_catalog_next_holder(c->txn, number, &order, &id, &why)) > 0) {
        ++*n;
        if (order++ == UINT64_MAX)
            break;
    }
    return looked_up(c, found, &why) == FAILED ? failed(c) : ND_OK;
}

static enum nd_status check_entry_text(struct checked *c, uint32_t number, const struct nd_entry *e)
{
    struct nd_error why;
    uint32_t other, n_holders;
    int found = nd_catalog_find_entry(c->txn, e->label_set, e->hash, &other, &why);
    enum looked_up result = looked_up(c, found, &why);

    if (result == FAILED)
        return failed(c);
    if (result == MISSING || (result == FOUND && other != number))
        find(c, "entry %" PRIu32 ": it is not found by the hash of its text", number);
    if (count_holders(c, number, &n_holders) != ND_OK)
        return failed(c);
    if (n_holders != e->n_documents || n_holders == 0)
        find(c,
             "entry %" PRIu32 ": it is said to be the text of %" PRIu32 " documents, and %" PRIu32
             " hold it",
             number, e->n_documents, n_holders);
    return ND_OK;
}

static enum nd_status check_entry(struct checked *c, const struct catalog_walk *w)
{
    uint32_t number = key_number(w, 0);
    struct nd_entry e;

    if (!nd_row_get_entry(w->row, &e)) {
        find_row(c, w, "the row cannot be right");
        return ND_OK;
    }
    c->text_bytes += e.text.bytes;
    if (c->has_state && number >= c->state.next_entry)
        find(c, "entry %" PRIu32 ": the next entry would be %" PRIu32, number, c->state.next_entry);
    if (e.label_set >= c->n_sets) {
        find(c, "entry %" PRIu32 ": there is no label set %" PRIu32, number, e.label_set);
    } else {
        c->set[e.label_set].entries++;
        c->set[e.label_set].text_bytes += e.text.bytes;
    }
    if (e.is_empty != (e.n_tokens == 0) || e.row.n_shingles > e.n_tokens)
        find(c, "entry %" PRIu32 ": %" PRIu64 " tokens with %" PRIu32 " shingles cannot be", number,
             e.n_tokens, e.row.n_shingles);
    check_place(c, number, &e);
    return check_entry_text(c, number, &e);
}

/* Check the rows alone: upkeep/check.c compares them with the text. */
static enum nd_status check_signatures(struct checked *c, const struct catalog_walk *w)
{
    uint32_t number = key_number(w, 0);
    struct nd_entry e;
    struct nd_error why;

    switch (looked_up(c, nd_catalog_get_entry(c->txn, number, &e, &why), &why)) {
    case FAILED: return failed(c);
    case MISSING: find(c, "entry %" PRIu32 " has signatures, and is missing", number); break;
    case FOUND:
    case UNREADABLE: break;
    }
    return ND_OK;
}

static enum nd_status check_text(struct checked *c, const struct catalog_walk *w)
{
    struct nd_entry e;
    struct nd_error why;
    uint32_t number;
    enum looked_up result;

    if (!nd_row_get_32(w->row, &number)) {
        find_row(c, w, "the row cannot be right");
        return ND_OK;
    }
    result = looked_up(c, nd_catalog_get_entry(c->txn, number, &e, &why), &why);
    if (result == FAILED)
        return failed(c);
    if (result == MISSING || (result == FOUND && (e.label_set != key_number(w, 0) ||
                                                  e.hash.high != nd_key_get_64(w->key.bytes + 4) ||
                                                  e.hash.low != nd_key_get_64(w->key.bytes + 12))))
        find_row(c, w, "there is no entry with this text");
    return ND_OK;
}

static enum nd_status check_holder(struct checked *c, const struct catalog_walk *w)
{
    uint32_t number = key_number(w, 0);
    uint64_t order = nd_key_get_64(w->key.bytes + 4);
    struct nd_document_row document = {0};
    struct nd_entry e;
    struct nd_error why;
    enum looked_up result = looked_up(c, nd_catalog_get_entry(c->txn, number, &e, &why), &why);

    if (result == MISSING)
        find_row(c, w, "there is no such entry");
    if (result == FOUND) {
        int found = nd_catalog_get_document(c->txn, e.label_set, w->row, &document, &why);

        result = looked_up(c, found, &why);
        if (result == MISSING ||
            (result == FOUND && (document.entry != number || document.order != order)))
            find_row(c, w, "there is no document with this id, text and order");
    }
    return result == FAILED ? failed(c) : ND_OK;
}

/* ---- Documents, their versions, and when they are due ---- */

/* The id of a document: in the row where it is long, else in the key from `begin` on. */
static struct nd_view id_of(const struct catalog_walk *w, size_t begin, struct nd_view long_id)
{
    if (long_id.len)
        return long_id;
    return (struct nd_view){(const char *)w->key.bytes + begin, w->key.len - begin};
}

static bool is_key_of(const struct catalog_walk *w, size_t begin, struct nd_view id)
{
    struct nd_key key = {begin, {0}};

    memcpy(key.bytes, w->key.bytes, begin);
    nd_key_add_id(&key, id);
    return key.len == w->key.len && memcmp(key.bytes, w->key.bytes, key.len) == 0;
}

/* Its versions: the last one is the present one, and of the present text. */
static enum nd_status check_versions_of(struct checked *c, const struct nd_document_row *d,
                                        const struct nd_entry *e)
{
    struct nd_version_row version = {0};
    struct nd_error why;
    uint32_t number = 0, last = 0;
    uint64_t n = 0;
    int found;

    while ((found = nd_catalog_next_version(c->txn, d->number, &number, &version, &why)) > 0) {
        n++;
        last = number;
        if (number++ == UINT32_MAX)
            break;
    }
    switch (looked_up(c, found, &why)) {
    case FAILED: return failed(c);
    case UNREADABLE: return ND_OK;
    default: break;
    }
    c->n_versions += n;
    c->set[d->label_set].versions += n;
    if (last != d->version)
        find(c,
             "document %" PRIu64 ": its version is %" PRIu32 ", and the last one known is %" PRIu32,
             d->number, d->version, last);
    else if (e && (version.hash.low != e->hash.low || version.hash.high != e->hash.high))
        find(c, "document %" PRIu64 ": its last version is not of its text", d->number);
    return ND_OK;
}

static enum nd_status check_due_of(struct checked *c, const struct nd_document_row *d,
                                   struct nd_view id)
{
    uint64_t due = d->due, number = d->number;
    struct nd_view found_id;
    struct nd_error why;
    enum looked_up result = looked_up(
        c, nd_catalog_next_due(c->txn, d->label_set, &due, &number, &found_id, &why), &why);

    if (result == FAILED)
        return failed(c);
    if (result == UNREADABLE)
        return ND_OK;
    if (result == MISSING || due != d->due || number != d->number || found_id.len != id.len ||
        memcmp(found_id.data, id.data, id.len) != 0)
        find(c, "document %" PRIu64 ": it is not among those to be visited", d->number);
    return ND_OK;
}

static enum nd_status check_recent_of(struct checked *c, const struct nd_document_row *d,
                                      struct nd_view id)
{
    const struct nd_key key = nd_key_recent(d->label_set, d->created, id);
    uint64_t created;
    struct nd_view found_id;
    struct nd_error why;
    enum looked_up result =
        looked_up(c, nd_catalog_get_recent(c->txn, &key, &created, &found_id, &why), &why);

    if (result == FAILED)
        return failed(c);
    if (result == MISSING || (result == FOUND && (found_id.len != id.len ||
                                                  memcmp(found_id.data, id.data, id.len) != 0)))
        find(c, "document %" PRIu64 ": it is not in the list of the newest", d->number);
    return ND_OK;
}

static enum nd_status check_text_of(struct checked *c, const struct nd_document_row *d,
                                    struct nd_view id, struct nd_entry *e, bool *has_entry)
{
    struct nd_view holder = {0};
    struct nd_error why;
    uint64_t order = d->order;
    enum looked_up result = looked_up(c, nd_catalog_get_entry(c->txn, d->entry, e, &why), &why);

    *has_entry = result == FOUND;
    if (result == FAILED)
        return failed(c);
    if (result == MISSING || (result == FOUND && e->label_set != d->label_set)) {
        find(c, "document %" PRIu64 ": its label set has no entry %" PRIu32, d->number, d->entry);
        *has_entry = false;
    }
    result = looked_up(c, nd_catalog_next_holder(c->txn, d->entry, &order, &holder, &why), &why);
    if (result == FAILED)
        return failed(c);
    if (result == MISSING || (result == FOUND && (order != d->order || holder.len != id.len ||
                                                  memcmp(holder.data, id.data, id.len) != 0)))
        find(c, "document %" PRIu64 ": its text does not say that it holds it", d->number);
    return ND_OK;
}

static enum nd_status check_document(struct checked *c, const struct catalog_walk *w)
{
    struct nd_document_row d;
    struct nd_view long_id, id;
    struct nd_entry e;
    bool has_entry;
    enum nd_status status;

    if (w->key.len < 5 || !nd_row_get_document(w->row, &d, &long_id) ||
        !is_key_of(w, 4, id_of(w, 4, long_id))) {
        find_row(c, w, "the row cannot be right");
        return ND_OK;
    }
    id = id_of(w, 4, long_id);
    d.label_set = key_number(w, 0);
    if (d.label_set >= c->n_sets) {
        find(c, "document %" PRIu64 ": there is no label set %" PRIu32, d.number, d.label_set);
        return ND_OK;
    }
    c->set[d.label_set].documents++;
    if (c->has_state && (d.number >= c->state.next_document || d.order >= c->state.next_order))
        find(c, "document %" PRIu64 ": its number or its order is not below the next one",
             d.number);
    status = check_text_of(c, &d, id, &e, &has_entry);
    if (status == ND_OK)
        status = check_versions_of(c, &d, has_entry ? &e : NULL);
    if (status == ND_OK)
        status = check_due_of(c, &d, id);
    return status == ND_OK ? check_recent_of(c, &d, id) : status;
}

/* Versions of documents are counted; those of none are what is left. */
static enum nd_status check_version(struct checked *c, const struct catalog_walk *w)
{
    struct nd_version_row version;

    if (!nd_row_get_version(w->row, &version))
        find_row(c, w, "the row cannot be right");
    return ND_OK;
}

static enum nd_status check_due(struct checked *c, const struct catalog_walk *w)
{
    struct nd_document_row d = {0};
    struct nd_error why;
    int found = nd_catalog_get_document(c->txn, key_number(w, 0), w->row, &d, &why);
    enum looked_up result = looked_up(c, found, &why);

    if (result == FAILED)
        return failed(c);
    if (result == MISSING || (result == FOUND && (d.due != nd_key_get_64(w->key.bytes + 4) ||
                                                  d.number != nd_key_get_64(w->key.bytes + 12))))
        find_row(c, w, "there is no document with this id that is due then");
    return ND_OK;
}

static enum nd_status check_recent(struct checked *c, const struct catalog_walk *w)
{
    struct nd_view id = id_of(w, ND_KEY_RECENT_ID, w->row);
    struct nd_document_row d = {0};
    struct nd_error why;
    enum looked_up result;

    if (w->key.len <= ND_KEY_RECENT_ID || !is_key_of(w, ND_KEY_RECENT_ID, id)) {
        find_row(c, w, "the row cannot be right");
        return ND_OK;
    }
    result = looked_up(c, nd_catalog_get_document(c->txn, key_number(w, 0), id, &d, &why), &why);
    if (result == FAILED)
        return failed(c);
    if (result == MISSING || (result == FOUND && d.created != nd_key_get_64(w->key.bytes + 4)))
        find_row(c, w, "there is no document with this id that came then");
    return ND_OK;
}

/* ---- Pairs ---- */

/* Whether a pair shares more than its entries have; where they have signatures, it has a score
 * instead. */
static bool shares_too_much(struct checked *c, const struct nd_pair_row *row, uint32_t a,
                            const struct nd_entry *of_a, const struct nd_entry *of_b)
{
    struct nd_view signatures;

    return (row->shared > of_a->row.n_shingles || row->shared > of_b->row.n_shingles) &&
           nd_catalog_get_signatures(c->txn, a, &signatures, NULL) == 0;
}

static enum nd_status check_gap(struct checked *c, const struct catalog_walk *w,
                                const struct nd_pair_row *gap)
{
    struct nd_entry of_a;
    struct nd_error why;
    enum looked_up has_a =
        looked_up(c, nd_catalog_get_entry(c->txn, key_number(w, 0), &of_a, &why), &why);

    c->n_gaps++;
    if (has_a == FAILED)
        return failed(c);
    if (has_a == MISSING || key_number(w, 4) >= c->n_sets || key_number(w, 8) != UINT32_MAX ||
        (c->has_state && gap->shared >= c->state.next_entry))
        find_row(c, w, "the pairs that it says are not stored cannot be");
    return ND_OK;
}

static enum nd_status check_pair(struct checked *c, const struct catalog_walk *w)
{
    uint32_t a = key_number(w, 0), set = key_number(w, 4), b = key_number(w, 8);
    struct nd_pair_row row, other;
    struct nd_entry of_a, of_b;
    struct nd_error why;
    uint32_t other_set, other_number = a;
    enum looked_up has_a, has_b, has_other;

    if (!nd_row_get_pair(w->row, &row) || a == b) {
        find_row(c, w, "the row cannot be right");
        return ND_OK;
    }
    if (row.identical == ND_PAIR_GAP)
        return check_gap(c, w, &row);
    has_a = looked_up(c, nd_catalog_get_entry(c->txn, a, &of_a, &why), &why);
    has_b = looked_up(c, nd_catalog_get_entry(c->txn, b, &of_b, &why), &why);
    if (has_a == FAILED || has_b == FAILED)
        return failed(c);
    if (has_a == MISSING || has_b == MISSING || (has_b == FOUND && of_b.label_set != set)) {
        find_row(c, w, "there are no such two entries");
        return ND_OK;
    }
    if (has_a != FOUND || has_b != FOUND)
        return ND_OK;
    other_set = of_a.label_set;
    has_other = looked_up(
        c, nd_catalog_next_pair(c->txn, b, &other_set, &other_number, &other, &why), &why);
    if (has_other == FAILED)
        return failed(c);
    if (has_other == MISSING ||
        (has_other == FOUND &&
         (other_set != of_a.label_set || other_number != a || other.shared != row.shared ||
          other.distance != row.distance || other.identical != row.identical)))
        find_row(c, w, "the pair is not there from the other side");
    else if (shares_too_much(c, &row, a, &of_a, &of_b))
        find_row(c, w, "the pair shares more shingles than its entries have");
    return ND_OK;
}

/* ---- Counts, removals, totals ---- */

static enum nd_status check_counts(struct checked *c, const struct catalog_walk *w)
{
    uint32_t number = key_number(w, 0);
    struct nd_set_counts counts;

    if (!nd_row_get_counts(w->row, &counts)) {
        find_row(c, w, "the row cannot be right");
    } else if (number >= c->n_sets) {
        find(c, "counts: there is no label set %" PRIu32, number);
    } else {
        const struct nd_set_counts *come_to = &c->set[number];

        if (memcmp(&counts, come_to, sizeof counts) != 0)
            find(c,
                 "label set %" PRIu32 " is said to have %" PRIu64 " documents, %" PRIu64
                 " versions, %" PRIu64 " entries and %" PRIu64 " bytes, and has %" PRIu64
                 ", %" PRIu64 ", %" PRIu64 " and %" PRIu64,
                 number, counts.documents, counts.versions, counts.entries, counts.text_bytes,
                 come_to->documents, come_to->versions, come_to->entries, come_to->text_bytes);
        c->set[number] = (struct nd_set_counts){0};
    }
    return ND_OK;
}

/* Complain of documents in label sets for which no row says how many there are. */
static void check_uncounted(struct checked *c)
{
    for (size_t i = 0; i < c->n_sets; i++)
        if (c->set[i].documents || c->set[i].entries)
            find(c, "label set %zu has documents, and no row that counts them", i);
}

static enum nd_status check_removal(struct checked *c, const struct catalog_walk *w)
{
    uint64_t commit = nd_key_get_64(w->key.bytes);
    uint32_t number = key_number(w, 8);
    struct nd_entry e;
    struct nd_error why;
    enum looked_up result = looked_up(c, nd_catalog_get_entry(c->txn, number, &e, &why), &why);

    if (result == FAILED)
        return failed(c);
    if (w->row.len != 0)
        find_row(c, w, "the row cannot be right");
    if (result != MISSING)
        find_row(c, w, "the entry that was removed is there");
    if (c->has_state && commit > c->state.commit)
        find_row(c, w, "the commit is still to come");
    return ND_OK;
}

static void compare_total(struct checked *c, const char *what, uint64_t said, uint64_t there)
{
    if (said != there)
        find(c, "the state says that there are %" PRIu64 " %s, and there are %" PRIu64, said, what,
             there);
}

static void check_totals(struct checked *c)
{
    uint64_t n_version_rows = rows_of(c, ND_TABLE_VERSIONS);

    if (n_version_rows != c->n_versions)
        find(c, "there are %" PRIu64 " versions, of which %" PRIu64 " are of documents",
             n_version_rows, c->n_versions);
    if (!c->has_state)
        return;
    compare_total(c, "documents", c->state.n_documents, c->n_rows[ND_TABLE_DOCUMENTS]);
    compare_total(c, "entries", c->state.n_entries, c->n_rows[ND_TABLE_ENTRIES]);
    compare_total(c, "versions", c->state.n_versions, c->n_versions);
    compare_total(c, "pairs from both sides", 2 * c->state.n_pairs,
                  c->n_rows[ND_TABLE_PAIRS] - c->n_gaps);
    compare_total(c, "bytes of texts", c->state.text_bytes, c->text_bytes);
}

/* ---- All ---- */

/* Rows that are read when the store is opened have their checksums, and no other row to agree with. */
static enum nd_status check_nothing(struct checked *c, const struct catalog_walk *w)
{
    (void)c, (void)w;
    return ND_OK;
}

static enum nd_status check_tables(struct checked *c)
{
    static const struct {
        enum nd_catalog_table table;
        size_t key_len;
        enum nd_status (*check)(struct checked *c, const struct catalog_walk *w);
    } walks[] = {{ND_TABLE_META, 0, check_nothing},         {ND_TABLE_SEGMENTS, 4, read_segment},
                 {ND_TABLE_ENTRIES, 4, check_entry},        {ND_TABLE_TEXTS, 20, check_text},
                 {ND_TABLE_HOLDERS, 12, check_holder},      {ND_TABLE_DOCUMENTS, 0, check_document},
                 {ND_TABLE_VERSIONS, 12, check_version},    {ND_TABLE_DUE, 20, check_due},
                 {ND_TABLE_PAIRS, 12, check_pair},          {ND_TABLE_COUNTS, 4, check_counts},
                 {ND_TABLE_REMOVALS, 12, check_removal},    {ND_TABLE_RECENT, 0, check_recent},
                 {ND_TABLE_SIGNATURES, 4, check_signatures}};
    enum nd_status status = check_state(c);

    if (status == ND_OK)
        status = check_label_sets(c);
    for (size_t i = 0; status == ND_OK && i < sizeof walks / sizeof *walks; i++)
        status = walk_table(c, walks[i].table, walks[i].key_len, walks[i].check);
    if (status)
        return status;
    compare_segments(c);
    check_uncounted(c);
    check_totals(c);
    return ND_OK;
}

/* ---- Each row by itself ---- */

/* A row, and whether its key leads to it. */
struct placed_row {
    struct nd_key key;
    const char *data;
    uintptr_t page;
    bool is_there;
};

static void check_that_it_is_found(struct checked *c, enum nd_catalog_table table,
                                   const struct placed_row *placed)
{
    struct nd_error why;
    struct nd_view row;
    int found = placed->is_there ? nd_catalog_get(c->txn, table, &placed->key, &row, &why) : 1;

    if (placed->is_there && (found != 1 || row.data != placed->data)) {
        (void)nd_catalog_fail_row(c->txn, table, &placed->key, "its key does not lead to the row",
                                  &why);
        find(c, "%s", why.message);
    }
}

/* Look up the first and the last row of each page: if both are found, so are those between them. */
static enum nd_status check_places(struct checked *c, enum nd_catalog_table table,
                                   unsigned page_bytes)
{
    struct placed_row last = {.is_there = false};
    struct catalog_walk w;
    enum nd_status status = begin_walk(c, &w, table);
    int found;

    if (status)
        return status;
    while ((found = next_row(c, &w, 0)) > 0) {
        const struct placed_row row = {.key = w.key,
                                       .data = w.row.data,
                                       .page = (uintptr_t)w.key_at / page_bytes,
                                       .is_there = !w.is_damaged};

        if (row.page != last.page) {
            check_that_it_is_found(c, table, &last);
            check_that_it_is_found(c, table, &row);
        }
        last = row;
    }
    check_that_it_is_found(c, table, &last);
    return end_walk(c, &w, (enum nd_status)found);
}

/* The pages that are free, by the transaction that freed them: numbers in descending order, with their
 * count before them. */
static bool is_list_of_pages(const MDB_val *list, size_t n_pages)
{
    size_t n = list->mv_size / sizeof n, count = 0, page, before = n_pages;
    const char *at = list->mv_data;

    if (n)
        memcpy(&count, at, sizeof count);
    if (n == 0 || count >= n)
        return false;
    for (size_t i = 1; i <= count; i++, before = page) {
        memcpy(&page, at + i * sizeof page, sizeof page);
        if (page < 2 || page >= before)
            return false;
    }
    return true;
}

static enum nd_status check_free_pages(struct checked *c)
{
    MDB_cursor *cursor;
    MDB_envinfo info;
    MDB_val key, list;
    int code = mdb_cursor_open(c->txn->txn, 0, &cursor);
    bool fine = true;

    if (code)
        return nd_catalog_fail(c->txn, ND_CATALOG_TABLES, NULL, code, c->err);
    (void)mdb_env_info(c->txn->catalog->env, &info);
    while (fine && (code = mdb_cursor_get(cursor, &key, &list, MDB_NEXT)) == 0)
        fine = is_list_of_pages(&list, info.me_last_pgno + 1);
    mdb_cursor_close(cursor);
    if (!fine || code != MDB_NOTFOUND)
        find(c, "%s: the list of free pages cannot be right", c->txn->catalog->path);
    return ND_OK;
}

enum nd_status nd_catalog_check_rows(struct nd_txn *txn,
                                     void (*report)(void *context, const char *finding),
                                     void *context, uint64_t *n_findings, struct nd_error *err)
{
    struct nd_error own;
    struct checked c = {.txn = txn, .report = report, .context = context, .err = err ? err : &own};
    MDB_stat stat;
    enum nd_status status = check_free_pages(&c);

    (void)mdb_env_stat(txn->catalog->env, &stat);
    for (int i = 0; status == ND_OK && i < ND_CATALOG_TABLES; i++)
        status = check_places(&c, (enum nd_catalog_table)i, stat.ms_psize);
    if (status == ND_OK)
        *n_findings = c.n_findings;
    return status;
}

/* ---- All, against each other ---- */

enum nd_status nd_catalog_check(struct nd_txn *txn,
                                void (*report)(void *context, const char *finding), void *context,
                                uint64_t *n_findings, struct nd_error *err)
{
    struct nd_error own;
    struct checked c = {.txn = txn, .report = report, .context = context, .err = err ? err : &own};
    enum nd_status status = check_tables(&c);

    free(c.set);
    free(c.segment);
    if (status == ND_OK)
        *n_findings = c.n_findings;
    return status;
}
