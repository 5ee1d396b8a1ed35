/* catalog_access.c - what each table of the database holds, and under which key */
#include <string.h>

#include "store/catalog/catalog_tables.h"
#include "store/catalog/label_sets.h"
#include "store/store.h"

static const char impossible[] = "the row cannot be right";

static struct nd_view view_of(const uint8_t *row, size_t len)
{
    return (struct nd_view){(const char *)row, len};
}

static struct nd_key key_32(uint32_t a)
{
    struct nd_key key = {0};

    nd_key_add_32(&key, a);
    return key;
}

static struct nd_key key_32_64(uint32_t a, uint64_t b)
{
    struct nd_key key = key_32(a);

    nd_key_add_64(&key, b);
    return key;
}

static struct nd_key key_64_32(uint64_t a, uint32_t b)
{
    struct nd_key key = {0};

    nd_key_add_64(&key, a);
    nd_key_add_32(&key, b);
    return key;
}

/* Return 1, or fail if the row that was found could not be decoded (not `right`). */
static int found_row(struct nd_txn *txn, enum nd_catalog_table table, const struct nd_key *key,
                     bool right, struct nd_error *err)
{
    return right ? 1 : (int)nd_catalog_fail_row(txn, table, key, impossible, err);
}

static enum nd_status refuse_id(const struct nd_txn *txn, struct nd_view id, struct nd_error *err)
{
    return nd_fail(err, ND_EINVAL, "%s: an id has 1 to %d bytes, not %zu", txn->catalog->path,
                   (int)ND_STORE_ID_MAX, id.len);
}

static bool is_id(struct nd_view id)
{
    return id.len > 0 && id.len <= ND_STORE_ID_MAX;
}

/* ---- The state of the whole store ---- */

static const char format_name[] = "format", state_name[] = "state";

static bool meta_key(struct nd_key *key, const char *name)
{
    size_t len = strlen(name);

    key->len = len;
    if (len == 0 || len > ND_KEY_MAX)
        return false;
    memcpy(key->bytes, name, len);
    return true;
}

enum nd_status nd_catalog_get_state(struct nd_txn *txn, struct nd_catalog_state *state,
                                    struct nd_error *err)
{
    struct nd_key key;
    struct nd_view row;
    int found;

    (void)meta_key(&key, state_name);
    found = nd_catalog_get(txn, ND_TABLE_META, &key, &row, err);
    if (found < 0)
        return (enum nd_status)found;
    if (!found || !nd_row_get_state(row, state))
        return nd_catalog_fail_row(txn, ND_TABLE_META, &key, impossible, err);
    return ND_OK;
}

enum nd_status nd_catalog_put_state(struct nd_txn *txn, const struct nd_catalog_state *state,
                                    struct nd_error *err)
{
    struct nd_key key;
    uint8_t row[ND_ROW_STATE];

    (void)meta_key(&key, state_name);
    nd_row_put_state(row, state);
    return nd_catalog_put(txn, ND_TABLE_META, &key, view_of(row, sizeof row), err);
}

int nd_catalog_get_meta(struct nd_txn *txn, const char *name, struct nd_view *value,
                        struct nd_error *err)
{
    struct nd_key key;

    return meta_key(&key, name) ? nd_catalog_get(txn, ND_TABLE_META, &key, value, err) : 0;
}

enum nd_status nd_catalog_put_meta(struct nd_txn *txn, const char *name, struct nd_view value,
                                   struct nd_error *err)
{
    struct nd_key key;

    if (!meta_key(&key, name) || strcmp(name, format_name) == 0 || strcmp(name, state_name) == 0)
        return nd_fail(err, ND_EINVAL, "%s: '%s' is no name for a text", txn->catalog->path, name);
    return nd_catalog_put(txn, ND_TABLE_META, &key, value, err);
}

/* ---- Label sets ---- */

enum nd_status nd_catalog_put_label_set(struct nd_txn *txn, uint32_t number, struct nd_view bytes,
                                        struct nd_error *err)
{
    struct nd_key key = key_32(number);

    return nd_catalog_put(txn, ND_TABLE_LABEL_SETS, &key, bytes, err);
}

int nd_catalog_get_label_set(struct nd_txn *txn, uint32_t number, struct nd_view *bytes,
                             struct nd_error *err)
{
    struct nd_key key = key_32(number);
    int found = nd_catalog_get(txn, ND_TABLE_LABEL_SETS, &key, bytes, err);

    return found > 0
               ? found_row(txn, ND_TABLE_LABEL_SETS, &key, nd_label_set_is_canonical(*bytes), err)
               : found;
}

/* ---- Entries ---- */

static struct nd_key text_key(uint32_t label_set, struct nd_text_hash hash)
{
    struct nd_key key = key_32_64(label_set, hash.high);

    nd_key_add_64(&key, hash.low);
    return key;
}

int nd_catalog_find_entry(struct nd_txn *txn, uint32_t label_set, struct nd_text_hash hash,
                          uint32_t *number, struct nd_error *err)
{
    struct nd_key key = text_key(label_set, hash);
    struct nd_view row;
    int found = nd_catalog_get(txn, ND_TABLE_TEXTS, &key, &row, err);

    return found > 0 ? found_row(txn, ND_TABLE_TEXTS, &key, nd_row_get_32(row, number), err)
                     : found;
}

/* An entry is found by its text; another one cannot have the same. */
static enum nd_status put_text(struct nd_txn *txn, uint32_t number, const struct nd_entry *entry,
                               struct nd_error *err)
{
    struct nd_key key = text_key(entry->label_set, entry->hash);
    uint32_t other;
    uint8_t row[4];
    int found = nd_catalog_find_entry(txn, entry->label_set, entry->hash, &other, err);

    if (found < 0)
        return (enum nd_status)found;
    if (found)
        return other == number ? ND_OK
                               : nd_catalog_fail_row(txn, ND_TABLE_TEXTS, &key,
                                                     "two entries have a text of this hash", err);
    nd_row_put_32(row, number);
    return nd_catalog_put(txn, ND_TABLE_TEXTS, &key, view_of(row, sizeof row), err);
}

enum nd_status nd_catalog_put_entry(struct nd_txn *txn, uint32_t number,
                                    const struct nd_entry *entry, struct nd_error *err)
{
    struct nd_key key = key_32(number);
    uint8_t row[ND_ROW_ENTRY + ND_ROW_LEFT_OUT];
    size_t len = nd_row_put_entry(row, entry);
    enum nd_status status = put_text(txn, number, entry, err);

    return status ? status : nd_catalog_put(txn, ND_TABLE_ENTRIES, &key, view_of(row, len), err);
}

int nd_catalog_get_entry(struct nd_txn *txn, uint32_t number, struct nd_entry *entry,
                         struct nd_error *err)
{
    struct nd_key key = key_32(number);
    struct nd_view row;
    int found = nd_catalog_get(txn, ND_TABLE_ENTRIES, &key, &row, err);

    return found > 0 ? found_row(txn, ND_TABLE_ENTRIES, &key, nd_row_get_entry(row, entry), err)
                     : found;
}

enum nd_status nd_catalog_delete_entry(struct nd_txn *txn, uint32_t number,
                                       const struct nd_entry *entry, struct nd_error *err)
{
    struct nd_key key = key_32(number), text = text_key(entry->label_set, entry->hash);
    enum nd_status status = nd_catalog_delete(txn, ND_TABLE_ENTRIES, &key, err);

    return status ? status : nd_catalog_delete(txn, ND_TABLE_TEXTS, &text, err);
}

enum nd_status nd_catalog_put_signatures(struct nd_txn *txn, uint32_t entry, struct nd_view packed,
                                         struct nd_error *err)
{
    struct nd_key key = key_32(entry);

    return nd_catalog_put(txn, ND_TABLE_SIGNATURES, &key, packed, err);
}

int nd_catalog_get_signatures(struct nd_txn *txn, uint32_t entry, struct nd_view *packed,
                              struct nd_error *err)
{
    struct nd_key key = key_32(entry);

    return nd_catalog_get(txn, ND_TABLE_SIGNATURES, &key, packed, err);
}

enum nd_status nd_catalog_delete_signatures(struct nd_txn *txn, uint32_t entry,
                                            struct nd_error *err)
{
    struct nd_key key = key_32(entry);

    return nd_catalog_delete(txn, ND_TABLE_SIGNATURES, &key, err);
}

int nd_catalog_next_entry(struct nd_txn *txn, uint32_t *number, struct nd_entry *entry,
                          struct nd_error *err)
{
    struct nd_key key = key_32(*number);
    struct nd_view row;
    int found = nd_catalog_seek(txn, ND_TABLE_ENTRIES, &key, 0, &row, err);

    if (found != 0 && key.len >= 4)
        *number = nd_key_get_32(key.bytes);
    if (found <= 0)
        return found;
    if (key.len != 4)
        return found_row(txn, ND_TABLE_ENTRIES, &key, false, err);
    return found_row(txn, ND_TABLE_ENTRIES, &key, nd_row_get_entry(row, entry), err);
}

/* ---- Documents ---- */

static struct nd_key document_key(uint32_t label_set, struct nd_view id)
{
    struct nd_key key = key_32(label_set);

    nd_key_add_id(&key, id);
    return key;
}

enum nd_status nd_catalog_put_document(struct nd_txn *txn, struct nd_view id,
                                       const struct nd_document_row *row, struct nd_error *err)
{
    uint8_t bytes[ND_ROW_DOCUMENT + ND_STORE_TITLE_MAX + ND_STORE_ID_MAX];
    struct nd_document_row before;
    struct nd_key key;
    size_t len;

    if (!is_id(id))
        return refuse_id(txn, id, err);
    key = document_key(row->label_set, id);
    len = nd_row_put_document(bytes, row);
    if (id.len > ND_KEY_ID_WHOLE) {
        /* Not over another id of the same hash. */
        int found = nd_catalog_get_document(txn, row->label_set, id, &before, err);

        if (found < 0)
            return (enum nd_status)found;
        memcpy(bytes + len, id.data, id.len);
        len += id.len;
    }
    return nd_catalog_put(txn, ND_TABLE_DOCUMENTS, &key, view_of(bytes, len), err);
}

int nd_catalog_get_document(struct nd_txn *txn, uint32_t label_set, struct nd_view id,
                            struct nd_document_row *row, struct nd_error *err)
{
    struct nd_key key;
    struct nd_view bytes, whole;
    int found;

    if (!is_id(id))
        return 0;
    key = document_key(label_set, id);
    found = nd_catalog_get(txn, ND_TABLE_DOCUMENTS, &key, &bytes, err);
    if (found <= 0)
        return found;
    if (!nd_row_get_document(bytes, row, &whole) || (whole.len > 0) != (id.len > ND_KEY_ID_WHOLE))
        return found_row(txn, ND_TABLE_DOCUMENTS, &key, false, err);
    if (whole.len && (whole.len != id.len || memcmp(whole.data, id.data, id.len) != 0))
        return nd_catalog_fail_row(txn, ND_TABLE_DOCUMENTS, &key, "two ids have this hash", err);
    row->label_set = label_set;
    return 1;
}

enum nd_status nd_catalog_delete_document(struct nd_txn *txn, struct nd_view id,
                                          const struct nd_document_row *row, struct nd_error *err)
{
    struct nd_key key;

    if (!is_id(id))
        return refuse_id(txn, id, err);
    key = document_key(row->label_set, id);
    return nd_catalog_delete(txn, ND_TABLE_DOCUMENTS, &key, err);
}

/* ---- Holders ---- */

enum nd_status nd_catalog_put_holder(struct nd_txn *txn, uint32_t entry, uint64_t order,
                                     struct nd_view id, struct nd_error *err)
{
    struct nd_key key = key_32_64(entry, order);

    return is_id(id) ? nd_catalog_put(txn, ND_TABLE_HOLDERS, &key, id, err)
                     : refuse_id(txn, id, err);
}

enum nd_status nd_catalog_delete_holder(struct nd_txn *txn, uint32_t entry, uint64_t order,
                                        struct nd_error *err)
{
    struct nd_key key = key_32_64(entry, order);

    return nd_catalog_delete(txn, ND_TABLE_HOLDERS, &key, err);
}

int nd_catalog_next_holder(struct nd_txn *txn, uint32_t entry, uint64_t *order, struct nd_view *id,
                           struct nd_error *err)
{
    struct nd_key key = key_32_64(entry, *order);
    struct nd_view row;
    int found = nd_catalog_seek(txn, ND_TABLE_HOLDERS, &key, 4, &row, err);

    if (found <= 0)
        return found;
    if (key.len != 12 || !is_id(row))
        return found_row(txn, ND_TABLE_HOLDERS, &key, false, err);
    *order = nd_key_get_64(key.bytes + 4);
    *id = row;
    return 1;
}

/* ---- Versions ---- */

enum nd_status nd_catalog_put_version(struct nd_txn *txn, uint64_t document, uint32_t version,
                                      const struct nd_version_row *row, struct nd_error *err)
{
    struct nd_key key = key_64_32(document, version);
    uint8_t bytes[ND_ROW_VERSION];

    nd_row_put_version(bytes, row);
    return nd_catalog_put(txn, ND_TABLE_VERSIONS, &key, view_of(bytes, sizeof bytes), err);
}

int nd_catalog_next_version(struct nd_txn *txn, uint64_t document, uint32_t *version,
                            struct nd_version_row *row, struct nd_error *err)
{
    struct nd_key key = key_64_32(document, *version);
    struct nd_view bytes;
    int found = nd_catalog_seek(txn, ND_TABLE_VERSIONS, &key, 8, &bytes, err);

    if (found <= 0)
        return found;
    if (key.len != 12)
        return found_row(txn, ND_TABLE_VERSIONS, &key, false, err);
    *version = nd_key_get_32(key.bytes + 8);
    return found_row(txn, ND_TABLE_VERSIONS, &key, nd_row_get_version(bytes, row), err);
}

enum nd_status nd_catalog_delete_versions(struct nd_txn *txn, uint64_t document, uint64_t *n,
                                          struct nd_error *err)
{
    struct nd_key key = key_64_32(document, 0);
    struct nd_view row;
    int found;

    *n = 0;
    while ((found = nd_catalog_seek(txn, ND_TABLE_VERSIONS, &key, 8, &row, err)) > 0) {
        enum nd_status status = nd_catalog_delete(txn, ND_TABLE_VERSIONS, &key, err);

        if (status)
            return status;
        ++*n;
    }
    return (enum nd_status)found;
}

/* ---- Pairs ---- */

static struct nd_key pair_key(uint32_t a, uint32_t set_of_b, uint32_t b)
{
    struct nd_key key = key_32(a);

    nd_key_add_32(&key, set_of_b);
    nd_key_add_32(&key, b);
    return key;
}

enum nd_status nd_catalog_put_pair(struct nd_txn *txn, uint32_t a, uint32_t set_of_a, uint32_t b,
                                   uint32_t set_of_b, const struct nd_pair_row *row,
                                   struct nd_error *err)
{
    struct nd_key from_a = pair_key(a, set_of_b, b), from_b = pair_key(b, set_of_a, a);
    uint8_t bytes[ND_ROW_PAIR];
    enum nd_status status;

    if (a == b)
        return nd_fail(err, ND_EINVAL, "%s: entry %u is no pair with itself", txn->catalog->path,
                       (unsigned)a);
    nd_row_put_pair(bytes, row);
    status = nd_catalog_put(txn, ND_TABLE_PAIRS, &from_a, view_of(bytes, sizeof bytes), err);
    return status ? status
                  : nd_catalog_put(txn, ND_TABLE_PAIRS, &from_b, view_of(bytes, sizeof bytes), err);
}

enum nd_status nd_catalog_delete_pair(struct nd_txn *txn, uint32_t a, uint32_t set_of_a, uint32_t b,
                                      uint32_t set_of_b, struct nd_error *err)
{
    struct nd_key from_a = pair_key(a, set_of_b, b), from_b = pair_key(b, set_of_a, a);
    enum nd_status status = nd_catalog_delete(txn, ND_TABLE_PAIRS, &from_a, err);

    return status ? status : nd_catalog_delete(txn, ND_TABLE_PAIRS, &from_b, err);
}

int nd_catalog_next_pair(struct nd_txn *txn, uint32_t a, uint32_t *set, uint32_t *b,
                         struct nd_pair_row *row, struct nd_error *err)
{
    struct nd_key key = pair_key(a, *set, *b);
    struct nd_view bytes;
    int found = nd_catalog_seek(txn, ND_TABLE_PAIRS, &key, 4, &bytes, err);

    if (found <= 0)
        return found;
    if (key.len != 12)
        return found_row(txn, ND_TABLE_PAIRS, &key, false, err);
    *set = nd_key_get_32(key.bytes + 4);
    *b = nd_key_get_32(key.bytes + 8);
    return found_row(
        txn, ND_TABLE_PAIRS, &key,
        nd_row_get_pair(bytes, row) && (*b == UINT32_MAX) == (row->identical == ND_PAIR_GAP), err);
}

enum nd_status nd_catalog_note_gap(struct nd_txn *txn, uint32_t a, uint32_t set, uint32_t least,
                                   struct nd_error *err)
{
    const struct nd_pair_row gap = {.shared = least, .identical = ND_PAIR_GAP};
    struct nd_key key = pair_key(a, set, UINT32_MAX);
    uint8_t bytes[ND_ROW_PAIR];
    struct nd_view row;
    int found = nd_catalog_get(txn, ND_TABLE_PAIRS, &key, &row, err);

    if (found)
        return found < 0 ? (enum nd_status)found : ND_OK;
    nd_row_put_pair(bytes, &gap);
    return nd_catalog_put(txn, ND_TABLE_PAIRS, &key, view_of(bytes, sizeof bytes), err);
}

enum nd_status nd_catalog_delete_gap(struct nd_txn *txn, uint32_t a, uint32_t set,
                                     struct nd_error *err)
{
    struct nd_key key = pair_key(a, set, UINT32_MAX);

    return nd_catalog_delete(txn, ND_TABLE_PAIRS, &key, err);
}

/* ---- What to visit ---- */

static struct nd_key due_key(uint32_t label_set, uint64_t due, uint64_t document)
{
    struct nd_key key = key_32_64(label_set, due);

    nd_key_add_64(&key, document);
    return key;
}

enum nd_status nd_catalog_put_due(struct nd_txn *txn, uint32_t label_set, uint64_t due,
                                  uint64_t document, struct nd_view id, struct nd_error *err)
{
    struct nd_key key = due_key(label_set, due, document);

    return is_id(id) ? nd_catalog_put(txn, ND_TABLE_DUE, &key, id, err) : refuse_id(txn, id, err);
}

enum nd_status nd_catalog_delete_due(struct nd_txn *txn, uint32_t label_set, uint64_t due,
                                     uint64_t document, struct nd_error *err)
{
    struct nd_key key = due_key(label_set, due, document);

    return nd_catalog_delete(txn, ND_TABLE_DUE, &key, err);
}

int nd_catalog_next_due(struct nd_txn *txn, uint32_t label_set, uint64_t *due, uint64_t *document,
                        struct nd_view *id, struct nd_error *err)
{
    struct nd_key key = due_key(label_set, *due, *document);
    struct nd_view row;
    int found = nd_catalog_seek(txn, ND_TABLE_DUE, &key, 4, &row, err);

    if (found <= 0)
        return found;
    if (key.len != 20 || !is_id(row))
        return found_row(txn, ND_TABLE_DUE, &key, false, err);
    *due = nd_key_get_64(key.bytes + 4);
    *document = nd_key_get_64(key.bytes + 12);
    *id = row;
    return 1;
}

/* ---- The newest documents ---- */

enum nd_status nd_catalog_put_recent(struct nd_txn *txn, uint32_t label_set, uint64_t created,
                                     struct nd_view id, struct nd_error *err)
{
    const struct nd_view row = id.len > ND_KEY_ID_WHOLE ? id : (struct nd_view){"", 0};
    struct nd_key key;

    if (!is_id(id))
        return refuse_id(txn, id, err);
    key = nd_key_recent(label_set, created, id);
    return nd_catalog_put(txn, ND_TABLE_RECENT, &key, row, err);
}

enum nd_status nd_catalog_delete_recent(struct nd_txn *txn, uint32_t label_set, uint64_t created,
                                        struct nd_view id, struct nd_error *err)
{
    struct nd_key key;

    if (!is_id(id))
        return refuse_id(txn, id, err);
    key = nd_key_recent(label_set, created, id);
    return nd_catalog_delete(txn, ND_TABLE_RECENT, &key, err);
}

/* Return 1, and what the row that was found says of its document. */
static int take_recent(struct nd_txn *txn, const struct nd_key *key, struct nd_view row,
                       uint64_t *created, struct nd_view *id, struct nd_error *err)
{
    bool is_long = key->len == ND_KEY_RECENT_ID + ND_KEY_ID_WHOLE + 1;

    if (key->len <= ND_KEY_RECENT_ID || is_long != (row.len > ND_KEY_ID_WHOLE) ||
        (!is_long && row.len) || row.len > ND_STORE_ID_MAX)
        return found_row(txn, ND_TABLE_RECENT, key, false, err);
    *created = nd_key_get_64(key->bytes + 4);
    *id = is_long ? row : view_of(key->bytes + ND_KEY_RECENT_ID, key->len - ND_KEY_RECENT_ID);
    return 1;
}

int nd_catalog_get_recent(struct nd_txn *txn, const struct nd_key *key, uint64_t *created,
                          struct nd_view *id, struct nd_error *err)
{
    struct nd_view row;
    int found = nd_catalog_get(txn, ND_TABLE_RECENT, key, &row, err);

    return found > 0 ? take_recent(txn, key, row, created, id, err) : found;
}

int nd_catalog_recent_before(struct nd_txn *txn, struct nd_key *key, uint64_t *created,
                             struct nd_view *id, struct nd_error *err)
{
    struct nd_view row;
    int found = nd_catalog_seek_before(txn, ND_TABLE_RECENT, key, 4, &row, err);

    return found > 0 ? take_recent(txn, key, row, created, id, err) : found;
}

/* ---- Counts ---- */

enum nd_status nd_catalog_put_counts(struct nd_txn *txn, uint32_t label_set,
                                     const struct nd_set_counts *counts, struct nd_error *err)
{
    struct nd_key key = key_32(label_set);
    uint8_t row[ND_ROW_COUNTS];

    nd_row_put_counts(row, counts);
    return nd_catalog_put(txn, ND_TABLE_COUNTS, &key, view_of(row, sizeof row), err);
}

int nd_catalog_get_counts(struct nd_txn *txn, uint32_t label_set, struct nd_set_counts *counts,
                          struct nd_error *err)
{
    struct nd_key key = key_32(label_set);
    struct nd_view row;
    int found = nd_catalog_get(txn, ND_TABLE_COUNTS, &key, &row, err);

    return found > 0 ? found_row(txn, ND_TABLE_COUNTS, &key, nd_row_get_counts(row, counts), err)
                     : found;
}

/* ---- Removals ---- */

enum nd_status nd_catalog_put_removal(struct nd_txn *txn, uint64_t commit, uint32_t entry,
                                      struct nd_error *err)
{
    struct nd_key key = key_64_32(commit, entry);

    return nd_catalog_put(txn, ND_TABLE_REMOVALS, &key, (struct nd_view){"", 0}, err);
}

int nd_catalog_next_removal(struct nd_txn *txn, uint64_t *commit, uint32_t *entry,
                            struct nd_error *err)
{
    struct nd_key key = key_64_32(*commit, *entry);
    struct nd_view row;
    int found = nd_catalog_seek(txn, ND_TABLE_REMOVALS, &key, 0, &row, err);

    if (found <= 0)
        return found;
    if (key.len != 12)
        return found_row(txn, ND_TABLE_REMOVALS, &key, false, err);
    *commit = nd_key_get_64(key.bytes);
    *entry = nd_key_get_32(key.bytes + 8);
    return found_row(txn, ND_TABLE_REMOVALS, &key, row.len == 0, err);
}

enum nd_status nd_catalog_trim_removals(struct nd_txn *txn, uint64_t commit, struct nd_error *err)
{
    for (;;) {
        uint64_t first = 0;
        uint32_t entry = 0;
        struct nd_key key;
        int found = nd_catalog_next_removal(txn, &first, &entry, err);
        enum nd_status status;

        if (found <= 0)
            return (enum nd_status)found;
        if (first >= commit)
            return ND_OK;
        key = key_64_32(first, entry);
        status = nd_catalog_delete(txn, ND_TABLE_REMOVALS, &key, err);
        if (status)
            return status;
    }
}

/* ---- Segments ---- */

enum nd_status nd_catalog_put_segment(struct nd_txn *txn, uint32_t segment,
                                      const struct nd_segment_row *row, struct nd_error *err)
{
    struct nd_key key = key_32(segment);
    uint8_t bytes[ND_ROW_SEGMENT];

    nd_row_put_segment(bytes, row);
    return nd_catalog_put(txn, ND_TABLE_SEGMENTS, &key, view_of(bytes, sizeof bytes), err);
}

int nd_catalog_next_segment(struct nd_txn *txn, uint32_t *segment, struct nd_segment_row *row,
                            struct nd_error *err)
{
    struct nd_key key = key_32(*segment);
    struct nd_view bytes;
    int found = nd_catalog_seek(txn, ND_TABLE_SEGMENTS, &key, 0, &bytes, err);

    if (found <= 0)
        return found;
    if (key.len != 4)
        return found_row(txn, ND_TABLE_SEGMENTS, &key, false, err);
    *segment = nd_key_get_32(key.bytes);
    return found_row(txn, ND_TABLE_SEGMENTS, &key, nd_row_get_segment(bytes, row), err);
}

enum nd_status nd_catalog_delete_segment(struct nd_txn *txn, uint32_t segment, struct nd_error *err)
{
    struct nd_key key = key_32(segment);

    return nd_catalog_delete(txn, ND_TABLE_SEGMENTS, &key, err);
}
