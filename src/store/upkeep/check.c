/* check.c - everything read: rows against rows, texts against rows, pairs against texts, and the index
 *
 * The database is checked at one moment.  A server may go on writing meanwhile: what is missing from
 * its index is looked for once more in the database as it is by then.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "index/live.h"
#include "store/read/reader.h"
#include "store/read/store_state.h"
#include "store/search/search.h"
#include "store/segments/segments_files.h"
#include "store/upkeep/backup.h"

struct checking {
    struct nd_store *store;
    void (*report)(void *context, const char *finding);
    void *context;
    uint64_t n_findings;
    struct nd_error *err;
    struct nd_sketch_maker maker;
    struct nd_search search;
    struct nd_reader reader;
    struct nd_buffer packed, aligned; /* signatures of a text, and of a row */
};

static void find(struct checking *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void find(struct checking *c, const char *format, ...)
{
    char finding[512];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(finding, sizeof finding, format, arguments);
    va_end(arguments);
    c->n_findings++;
    c->report(c->context, finding);
}

/* A failure that is a finding: only without memory the check ends. */
static enum nd_status find_failure(struct checking *c, uint32_t number, enum nd_status status,
                                   const struct nd_error *why)
{
    if (status == ND_ENOMEM) {
        *c->err = *why;
        return status;
    }
    find(c, "entry %" PRIu32 ": %s", number, why->message);
    return ND_OK;
}

/* ---- Texts ---- */

static void compare_sketch(struct checking *c, uint32_t number, const struct nd_entry *entry,
                           const struct nd_sketched *text)
{
    const struct nd_index_row *a = &entry->row, *b = &text->row;
    const char *what = entry->text.bytes != text->text.len        ? "length"
                       : entry->n_tokens != text->n_tokens        ? "number of tokens"
                       : entry->is_empty != text->is_empty        ? "tokens"
                       : a->n_shingles != b->n_shingles           ? "number of shingles"
                       : a->simhash != b->simhash                 ? "simhash"
                       : a->identity != b->identity               ? "identity"
                       : a->is_short != b->is_short               ? "shortness"
                       : a->identity_only != b->identity_only     ? "way of being found"
                       : memcmp(a->low, b->low, ND_MINHASH_COUNT) ? "minima"
                                                                  : NULL;

    if (what)
        find(c, "entry %" PRIu32 ": the %s of its text is not what its row says", number, what);
}

/* Compare the signatures of a text with those that the database has. */
static enum nd_status check_signatures(struct checking *c, uint32_t number,
                                       const struct nd_sketched *text)
{
    const struct nd_sketching *sketching = &c->store->sketching;
    struct nd_error why;
    struct nd_view row;
    enum nd_status status;
    int found;

    if (!nd_sketching_signs(sketching))
        return ND_OK;
    status =
        nd_signatures_pack(sketching->rows.plan.matching, text->signatures, &c->packed, c->err);
    if (status != ND_OK)
        return status;
    found = nd_catalog_get_signatures(c->reader.txn, number, &row, &why);
    if (found == 0)
        find(c, "entry %" PRIu32 ": it has no signatures", number);
    else if (found == 1 && !nd_equal_bytes(row, (struct nd_view){c->packed.data, c->packed.len}))
        find(c, "entry %" PRIu32 ": the signatures of its text are not what its row says", number);
    return found == ND_ENOMEM ? find_failure(c, number, ND_ENOMEM, &why) : ND_OK;
}

/* Ask the rule about a text and another entry, by the signatures that the database has of it. */
static void score_pair(struct checking *c, const struct nd_sketched *text, struct nd_met *met)
{
    const struct nd_matching *matching = c->store->sketching.rows.plan.matching;
    struct nd_document_signatures other;
    struct nd_match match;
    struct nd_view row;

    met->distance = UINT16_MAX;
    if (!text->signatures ||
        nd_catalog_get_signatures(c->reader.txn, met->number, &row, NULL) != 1 ||
        nd_signatures_unpack_row(matching, row, &c->aligned, &other, NULL) != ND_OK)
        return;
    if (nd_matching_compare(matching, text->signatures, &other, &match))
        met->score = (uint16_t)match.score;
    met->distance = (uint16_t)match.distance;
}

/* Compare a pair with what its texts say; `text` is that of the entry. */
static enum nd_status check_pair(struct checking *c, uint32_t number, const struct nd_entry *entry,
                                 const struct nd_sketched *text, uint32_t set, uint32_t other,
                                 const struct nd_pair_row *row)
{
    const struct nd_search_source source = nd_reader_source(&c->reader);
    struct nd_near_entry hit = {.shared = 0};
    struct nd_entry with;
    struct nd_error why;
    struct nd_met met;
    int is_hit = nd_catalog_get_entry(c->reader.txn, other, &with, &why);

    if (is_hit <= 0) /* a finding of the database */
        return ND_OK;
    met =
        (struct nd_met){.number = other,
                        .n_shingles = with.row.n_shingles,
                        .distance = (uint16_t)nd_count_ones(entry->row.simhash ^ with.row.simhash),
                        .has_tokens = (text->equal_by != ND_EQUAL_BY_BYTES ||
                                       nd_sketching_reads_beside(&c->store->sketching)) &&
                                      entry->row.identity == with.row.identity};
    if (nd_sketching_signs(&c->store->sketching))
        score_pair(c, text, &met);
    if (memcmp(&entry->hash, &with.hash, sizeof with.hash) == 0) {
        hit = nd_near_itself(&c->store->sketching, other, set, text->n_shingles);
    } else {
        is_hit = nd_search_compare_one(&c->search, text, &source, set, &met, &hit, &why);
    }
    if (is_hit < 0)
        return is_hit == ND_ENOMEM ? find_failure(c, number, ND_ENOMEM, &why) : ND_OK;
    if (!is_hit)
        find(c, "entries %" PRIu32 " and %" PRIu32 " are a pair, and not within the threshold",
             number, other);
    else if (hit.shared != row->shared || hit.distance != row->distance ||
             hit.identical != row->identical)
        find(c, "entries %" PRIu32 " and %" PRIu32 " are a pair that is not as its row says",
             number, other);
    return ND_OK;
}

/* Each pair once, from its lesser entry. */
static enum nd_status check_pairs(struct checking *c, uint32_t number, const struct nd_entry *entry,
                                  const struct nd_sketched *text)
{
    uint32_t set = 0, other = 0;
    struct nd_pair_row row;
    struct nd_error why;
    enum nd_status status = ND_OK;

    while (status == ND_OK &&
           nd_catalog_next_pair(c->reader.txn, number, &set, &other, &row, &why) > 0) {
        if (other > number && row.identical != ND_PAIR_GAP)
            status = check_pair(c, number, entry, text, set, other, &row);
        if (other++ == UINT32_MAX && set++ == UINT32_MAX)
            break;
    }
    return status;
}

static enum nd_status check_text(struct checking *c, uint32_t number, const struct nd_entry *entry,
                                 struct nd_buffer *kept)
{
    struct nd_sketched text;
    struct nd_text_hash hash;
    struct nd_view view;
    struct nd_error why;
    enum nd_status status = nd_reader_text(&c->reader, entry, &view, &why);

    if (status != ND_OK)
        return find_failure(c, number, status, &why);
    kept->len = 0; /* the other text of a pair is read into the reader */
    if (!nd_buffer_reserve(kept, 1) || !nd_buffer_append(kept, view.data, view.len))
        return nd_fail(c->err, ND_ENOMEM, "out of memory while a store is checked");
    view = (struct nd_view){kept->data, kept->len};
    hash = nd_text_hash(view);
    if (hash.low != entry->hash.low || hash.high != entry->hash.high) {
        find(c, "entry %" PRIu32 ": the hash of its text is not what its row says", number);
        return ND_OK;
    }
    status = nd_sketch_text(&c->maker, view, &text, &why);
    if (status != ND_OK)
        return find_failure(c, number, status, &why);
    compare_sketch(c, number, entry, &text);
    status = check_signatures(c, number, &text);
    if (status != ND_OK)
        return status;
    status = nd_search_collect(&c->search, c->store->index, &c->store->signatures, &text, NULL, 0,
                               0, c->err);
    return status == ND_OK ? check_pairs(c, number, entry, &text) : status;
}

/* ---- The index ---- */

/* As far as it is known without its text: found by its identity, with the same simhash. */
static bool is_in_index(const struct nd_store *store, uint32_t number, const struct nd_entry *entry)
{
    struct nd_identity_scan scan;
    uint32_t found;
    bool is_there = false;

    nd_rwlock_read(store->index_lock);
    scan = nd_index_find_identity(store->index, entry->row.identity, entry->label_set);
    while (!is_there && nd_index_next_identity(store->index, &scan, &found))
        is_there = found == number;
    if (is_there)
        is_there = nd_index_simhash(store->index, number) == entry->row.simhash &&
                   nd_index_shingles(store->index, number) == entry->row.n_shingles;
    nd_rwlock_unlock(store->index_lock);
    return is_there;
}

static enum nd_status check_index(struct checking *c, uint32_t number, const struct nd_entry *entry)
{
    struct nd_txn *now;
    struct nd_entry then;
    enum nd_status status;
    int found;

    if (!c->store->index || !nd_row_is_listed(&c->store->sketching, &entry->row) ||
        is_in_index(c->store, number, entry))
        return ND_OK;
    status = nd_catalog_begin(c->store->catalog, false, &now, c->err);
    if (status != ND_OK)
        return status;
    found = nd_catalog_get_entry(now, number, &then, c->err);
    nd_catalog_abort(now);
    if (found > 0)
        find(c, "entry %" PRIu32 ": the index does not have it", number);
    return ND_OK;
}

/* ---- Segments ---- */

/* A file may be longer than its row says: a server is appending. */
static enum nd_status check_segments(struct checking *c)
{
    struct nd_segment_row row;
    struct nd_segment_path path;
    struct stat about;
    uint32_t number = 0;
    int found;

    while ((found = nd_catalog_next_segment(c->reader.txn, &number, &row, c->err)) > 0) {
        uint64_t bytes = 0;

        if (stat(nd_segments_path(c->store->segments, number, &path), &about) == 0)
            bytes = (uint64_t)about.st_size;
        if (row.live_bytes > 0 &&
            (row.live_bytes > bytes || row.dead_bytes > bytes - row.live_bytes))
            find(c,
                 "%s: the file has %" PRIu64 " bytes, and its row counts %" PRIu64
                 " of texts and %" PRIu64 " of deleted ones",
                 path.name, bytes, row.live_bytes, row.dead_bytes);
        if (number++ == UINT32_MAX)
            break;
    }
    return found == ND_ENOMEM ? ND_ENOMEM : ND_OK; /* a row that is damaged was found before */
}

/* ---- All ---- */

static enum nd_status check_entries(struct checking *c)
{
    struct nd_buffer text = {0};
    struct nd_entry entry;
    enum nd_status status = ND_OK;
    uint64_t n_bad = 0;
    uint32_t number = 0;
    int found;

    while (status == ND_OK &&
           (found = nd_catalog_next_entry(c->reader.txn, &number, &entry, c->err)) != 0) {
        if (found == ND_EINPUT) { /* was found before, unless the table cannot be read */
            if (n_bad++ > c->n_findings)
                break;
            number++;
            continue;
        }
        status = found < 0 ? (enum nd_status)found : check_text(c, number, &entry, &text);
        if (status == ND_OK)
            status = check_index(c, number, &entry);
        if (number++ == UINT32_MAX)
            break;
    }
    nd_buffer_release(&text);
    return status;
}

static enum nd_status check_all(struct checking *c)
{
    uint64_t n = 0;
    enum nd_status status =
        nd_backup_check(c->store->folder, c->report, c->context, &c->n_findings, c->err);

    if (status == ND_OK)
        status = nd_catalog_check(c->reader.txn, c->report, c->context, &n, c->err);
    c->n_findings += n;
    if (status == ND_OK)
        status = check_segments(c);
    return status == ND_OK ? check_entries(c) : status;
}

enum nd_status nd_store_check(struct nd_store *store,
                              void (*report)(void *context, const char *finding), void *context,
                              struct nd_error *err)
{
    struct nd_error own;
    struct checking c = {
        .store = store, .report = report, .context = context, .err = err ? err : &own};
    enum nd_status status = ND_ENOMEM;

    if (!nd_sketch_maker_init(&c.maker, &store->sketching, err)) {
        nd_sketch_maker_release(&c.maker);
        return ND_ENOMEM;
    }
    if (!nd_search_init(&c.search, &c.maker) || !nd_reader_init(&c.reader, store->segments))
        nd_fail(err, ND_ENOMEM, "out of memory to check a store");
    else
        status = nd_catalog_begin(store->catalog, false, &c.reader.txn, err);
    if (status == ND_OK) {
        status = check_all(&c);
        nd_catalog_abort(c.reader.txn);
    }
    nd_buffer_release(&c.packed);
    nd_buffer_release(&c.aligned);
    nd_reader_release(&c.reader);
    nd_search_release(&c.search);
    nd_sketch_maker_release(&c.maker);
    if (status == ND_OK && c.n_findings)
        return nd_fail(err, ND_EINPUT, "%s: the store is damaged: %" PRIu64 " findings",
                       store->folder, c.n_findings);
    return status;
}

/* ---- Before a store is opened ---- */

enum nd_status nd_store_check_rows(const char *folder, bool alone,
                                   void (*report)(void *context, const char *finding),
                                   void *context, struct nd_error *err)
{
    char path[4096 + 64];
    struct nd_catalog *catalog;
    struct nd_txn *txn;
    uint64_t n_findings = 0;
    enum nd_status status;

    (void)snprintf(path, sizeof path, "%s/" ND_CATALOG_FILE, folder);
    if (access(path, R_OK) != 0)
        return ND_OK; /* whoever opens it says why */
    catalog =
        alone ? nd_catalog_open_alone(folder, err) : nd_catalog_open(folder, false, true, err);
    if (!catalog)
        return err->status;
    status = nd_catalog_begin(catalog, false, &txn, err);
    if (status == ND_OK) {
        status = nd_catalog_check_rows(txn, report, context, &n_findings, err);
        nd_catalog_abort(txn);
    }
    nd_catalog_close(catalog);
    if (status == ND_OK && n_findings)
        return nd_fail(err, ND_EINPUT, "%s: the database is damaged: %" PRIu64 " findings", folder,
                       n_findings);
    return status;
}
