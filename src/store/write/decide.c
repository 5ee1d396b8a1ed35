/* decide.c - what becomes of one write, within a transaction
 *
 * A text that its label set has already gets one more holder; it is looked up in the label sets that
 * the caller sees, for the verdict.  Any other text becomes an entry: it is looked up in every label
 * set, one at a time, and the pairs within the threshold are stored.  The verdict, and the work that
 * is shown with it, are found from the sets that the caller sees.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "index/live.h"
#include "store/search/compare_quotes.h"
#include "store/search/verdict.h"
#include "store/write/writer.h"

/* ---- Rows that many writes change ---- */

static struct nd_set_counts *counts_of(struct nd_writer *w, uint32_t set, struct nd_error *err)
{
    struct nd_held_counts *held = w->counts;

    for (size_t i = 0; i < w->n_counts; i++)
        if (held[i].set == set)
            return &held[i].counts;
    if (w->n_counts == ND_COUNTS_HELD && nd_writer_flush(w, err) != ND_OK)
        return NULL;
    held += w->n_counts;
    *held = (struct nd_held_counts){.set = set};
    if (nd_catalog_get_counts(w->reader.txn, set, &held->counts, err) < 0)
        return NULL;
    w->n_counts++;
    return &held->counts;
}

static struct nd_segment_row *segment_of(struct nd_writer *w, uint32_t segment,
                                         struct nd_error *err)
{
    struct nd_held_segment *held = w->segment;
    uint32_t found = segment;
    int status;

    for (size_t i = 0; i < w->n_segments; i++)
        if (held[i].segment == segment)
            return &held[i].row;
    if (w->n_segments == ND_COUNTS_HELD && nd_writer_flush(w, err) != ND_OK)
        return NULL;
    held += w->n_segments;
    status = nd_catalog_next_segment(w->reader.txn, &found, &held->row, err);
    if (status < 0)
        return NULL;
    if (status == 0 || found != segment)
        held->row = (struct nd_segment_row){0};
    held->segment = segment;
    w->n_segments++;
    return &held->row;
}

enum nd_status nd_writer_flush(struct nd_writer *w, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < w->n_counts; i++)
        status = nd_catalog_put_counts(w->reader.txn, w->counts[i].set, &w->counts[i].counts, err);
    for (size_t i = 0; status == ND_OK && i < w->n_segments; i++)
        status =
            nd_catalog_put_segment(w->reader.txn, w->segment[i].segment, &w->segment[i].row, err);
    w->n_counts = w->n_segments = 0;
    return status;
}

static bool note(struct nd_set_list *list, uint32_t number)
{
    if (!ND_RESERVE(list->number, &list->capacity, list->n + 1))
        return false;
    list->number[list->n++] = number;
    return true;
}

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory while a document is stored");
}

/* ---- Entries ---- */

static enum nd_status delete_pairs(struct nd_writer *w, uint32_t number, uint32_t set,
                                   struct nd_error *err)
{
    for (;;) {
        uint32_t set_of_other = 0, other = 0;
        struct nd_pair_row row;
        int found = nd_catalog_next_pair(w->reader.txn, number, &set_of_other, &other, &row, err);
        enum nd_status status;

        if (found <= 0)
            return (enum nd_status)found;
        if (row.identical == ND_PAIR_GAP) {
            status = nd_catalog_delete_gap(w->reader.txn, number, set_of_other, err);
        } else {
            status = nd_catalog_delete_pair(w->reader.txn, number, set, other, set_of_other, err);
            w->state.n_pairs--;
        }
        if (status != ND_OK)
            return status;
    }
}

/* The index has it until the commit. */
static enum nd_status note_gone(struct nd_writer *w, uint32_t number, const struct nd_entry *entry,
                                struct nd_error *err)
{
    bool is_crowd =
        !entry->row.identity_only && nd_row_is_listed(&w->store->sketching, &entry->row);

    if (!note(&w->gone, number) || (is_crowd && !note(&w->crowd, number)))
        return no_memory(err);
    return nd_catalog_put_removal(w->reader.txn, w->state.commit + 1, number, err);
}

static enum nd_status delete_entry(struct nd_writer *w, uint32_t number,
                                   const struct nd_entry *entry, struct nd_error *err)
{
    struct nd_set_counts *counts = counts_of(w, entry->label_set, err);
    struct nd_segment_row *segment = segment_of(w, entry->text.segment, err);
    enum nd_status status;

    if (!counts || !segment)
        return ND_EIO;
    status = delete_pairs(w, number, entry->label_set, err);
    if (status == ND_OK)
        status = note_gone(w, number, entry, err);
    if (status == ND_OK && nd_sketching_signs(&w->store->sketching))
        status = nd_catalog_delete_signatures(w->reader.txn, number, err);
    if (status == ND_OK)
        status = nd_catalog_delete_entry(w->reader.txn, number, entry, err);
    counts->entries--;
    counts->text_bytes -= entry->text.bytes;
    w->state.n_entries--;
    w->state.text_bytes -= entry->text.bytes;
    segment->live_bytes -= entry->text.stored;
    segment->dead_bytes += entry->text.stored;
    if (segment->dead_since == 0)
        segment->dead_since = w->now;
    return status;
}

/* A document no longer has its text. */
static enum nd_status release_text(struct nd_writer *w, const struct nd_document_row *row,
                                   struct nd_error *err)
{
    struct nd_entry entry;
    enum nd_status status = nd_catalog_delete_holder(w->reader.txn, row->entry, row->order, err);

    if (status == ND_OK)
        status = nd_reader_entry(&w->reader, row->entry, &entry, err);
    if (status != ND_OK)
        return status;
    if (--entry.n_documents == 0)
        return delete_entry(w, row->entry, &entry, err);
    return nd_catalog_put_entry(w->reader.txn, row->entry, &entry, err);
}

/* ---- A new entry ---- */

/* `equal`: an entry with the text, or ND_NO_ENTRY. */
static enum nd_status search_sets(struct nd_writer *w, const struct nd_write *write,
                                  const struct nd_set_list *sets, uint32_t equal,
                                  struct nd_error *err)
{
    const struct nd_sketched *text = &write->sketched;
    struct nd_search_source source =
        w->gone.n ? nd_reader_source_checked(&w->reader) : nd_reader_source(&w->reader);
    enum nd_status status;

    w->search.at = write->asked.at;
    status = nd_search_collect(&w->search, w->store->index, &w->store->signatures, text,
                               sets->number, sets->n, UINT32_MAX, err);

    w->search.equal = equal;
    return status == ND_OK ? nd_search_compare(&w->search, text, &source, err) : status;
}

static enum nd_status search_all(struct nd_writer *w, const struct nd_write *write,
                                 struct nd_error *err)
{
    for (uint32_t set = (uint32_t)w->all.n; set < nd_label_sets_count(w->store->sets); set++)
        if (!note(&w->all, set))
            return no_memory(err);
    return search_sets(w, write, &w->all, ND_NO_ENTRY, err);
}

static const struct nd_searched *searched_in(const struct nd_search *search, uint32_t set)
{
    return &search->searched[set]; /* all sets were searched, in order */
}

/* Only this thread changes the index, so that it reads without the lock. */
/* The columns of the index are files, which have room before they are written to. */
static enum nd_status insert_row(struct nd_writer *w, const struct nd_sketched *text,
                                 const struct nd_index_row *row, bool is_listed, bool *no_space,
                                 struct nd_error *err)
{
    const struct nd_sketching *sketching = &w->store->sketching;
    enum nd_status status;
    uint32_t number;

    if (!ND_RESERVE(w->added.number, &w->added.capacity, w->added.n + 1))
        return no_memory(err);
    nd_rwlock_write(w->store->index_lock);
    status = is_listed ? nd_index_insert_row(w->store->index, row, &number, err)
                       : nd_index_append(w->store->index, row, &number, err);
    *no_space = status == ND_EIO && errno == ENOSPC;
    if (status == ND_OK) {
        w->added.number[w->added.n++] = number;
        w->next_entry = number + 1;
    }
    if (status == ND_OK && nd_sketching_signs(sketching) && text->signatures)
        status = nd_signed_entries_add(&w->store->signatures, sketching->rows.plan.matching, number,
                                       text->signatures, row->group,
                                       nd_row_is_signed(sketching, row), err);
    if (status == ND_OK)
        status = nd_contained_add(&w->store->contained, row->group, number, text, err);
    nd_rwlock_unlock(w->store->index_lock);
    return status;
}

static enum nd_status count_new_entry(struct nd_writer *w, const struct nd_entry *entry,
                                      struct nd_error *err)
{
    struct nd_set_counts *counts = counts_of(w, entry->label_set, err);
    struct nd_segment_row *segment = segment_of(w, entry->text.segment, err);

    if (!counts || !segment)
        return ND_EIO;
    counts->entries++;
    counts->text_bytes += entry->text.bytes;
    w->state.n_entries++;
    w->state.text_bytes += entry->text.bytes;
    segment->live_bytes += entry->text.stored;
    return ND_OK;
}

/* The text was searched. */
static enum nd_status put_entry(struct nd_writer *w, const struct nd_write *write, uint32_t set,
                                bool *no_space, struct nd_error *err)
{
    const struct nd_sketched *text = &write->sketched;
    struct nd_view record = {write->record.data, write->record.len};
    struct nd_entry entry = {.label_set = set,
                             .n_documents = 1,
                             .hash = text->hash,
                             .n_tokens = text->n_tokens,
                             .is_empty = text->is_empty,
                             .row = text->row};
    uint32_t number = w->next_entry;
    enum nd_status status =
        nd_segments_append(w->store->segments, record, &entry.text, no_space, err);
    bool is_listed;

    w->has_text = true;
    entry.row.group = set;
    is_listed =
        nd_search_note_crowded(&w->search, w->store->index, text, searched_in(&w->search, set),
                               w->crowd.number, w->crowd.n, &entry.row);
    if (status == ND_OK)
        status = nd_writer_put_pairs(w, number, &entry, err);
    if (status == ND_OK)
        status = nd_catalog_put_entry(w->reader.txn, number, &entry, err);
    if (status == ND_OK && nd_sketching_signs(&w->store->sketching))
        status = nd_catalog_put_signatures(
            w->reader.txn, number, (struct nd_view){write->signatures.data, write->signatures.len},
            err);
    if (status == ND_OK)
        status = count_new_entry(w, &entry, err);
    return status == ND_OK ? insert_row(w, text, &entry.row, is_listed, no_space, err) : status;
}

/* ---- Verdicts ---- */

/* Find what has the text in it, and what it has in it, among what the caller sees. */
static enum nd_status find_quotes(struct nd_writer *w, const struct nd_write *write,
                                  struct nd_error *err)
{
    const struct nd_search_source source =
        w->gone.n ? nd_reader_source_checked(&w->reader) : nd_reader_source(&w->reader);
    struct nd_quotes *quotes = &w->search.quotes;
    enum nd_status status = nd_quotes_collect(quotes, &w->store->contained, &write->sketched,
                                              w->visible.number, w->visible.n, UINT32_MAX, err);

    return status == ND_OK ? nd_quotes_compare(quotes, &w->store->contained, &w->search,
                                               &write->sketched, &source, err)
                           : status;
}

/* Decide about a text that was searched. */
static enum nd_status judge(struct nd_writer *w, struct nd_write *write, struct nd_own_document own,
                            struct nd_error *err)
{
    const struct nd_search_source source = nd_reader_source(&w->reader);
    struct nd_judge judge = {.sketching = &w->store->sketching,
                             .sets = w->store->sets,
                             .search = &w->search,
                             .source = &source,
                             .contained = &w->store->contained,
                             .text = write->sketched.text,
                             .leaders = &w->leaders,
                             .answer = &w->answer,
                             .own = own};
    struct nd_verdict *verdict = &write->result.verdict;
    enum nd_status status;

    *verdict = nd_verdict_of_text(&write->sketched);
    nd_arena_reset(&w->answer);
    nd_leaders_begin(&w->leaders, w->reader.txn, w->visible.number, w->visible.n);
    nd_judge_ask(&judge, &write->asked, w->now);
    status = find_quotes(w, write, err);
    if (status == ND_OK)
        status = nd_verdict_decide(&judge, w->visible.number, w->visible.n, verdict, err);
    free(write->kept);
    write->kept = NULL;
    return status == ND_OK ? nd_verdict_keep(verdict, &write->kept, err) : status;
}

/* Decide about a document that has the text already: all but itself may be near it. */
static enum nd_status judge_again(struct nd_writer *w, struct nd_write *write,
                                  const struct nd_document_row *row, struct nd_error *err)
{
    struct nd_own_document own = {.entry = row->entry, .order = row->order, .is_unchanged = true};
    enum nd_status status = nd_reader_leave_out(&w->reader, row->entry, err);

    if (status == ND_OK)
        status = search_sets(w, write, &w->visible, row->entry, err);
    w->reader.absent = ND_NO_ENTRY;
    return status == ND_OK ? judge(w, write, own, err) : status;
}

/* ---- Documents ---- */

static struct nd_version_row version_of(const struct nd_writer *w, const struct nd_write *write,
                                        uint32_t distance)
{
    const struct nd_sketched *text = &write->sketched;

    return (struct nd_version_row){.time = w->now,
                                   .visited = w->now,
                                   .hash = text->hash,
                                   .simhash = text->row.simhash,
                                   .identity = text->row.identity,
                                   .n_tokens = text->n_tokens,
                                   .n_shingles = text->n_shingles,
                                   .text_bytes = text->text.len,
                                   .distance = distance};
}

/* The version of a document with this number. */
static enum nd_status get_version(struct nd_writer *w, const struct nd_document_row *row,
                                  struct nd_version_row *version, struct nd_error *err)
{
    uint32_t number = row->version;
    int found = nd_catalog_next_version(w->reader.txn, row->number, &number, version, err);

    if (found < 0)
        return (enum nd_status)found;
    return found && number == row->version
               ? ND_OK
               : nd_fail(err, ND_EINPUT, "the present version of a document is missing");
}

static void visit(struct nd_writer *w, struct nd_document_row *row, uint32_t distance,
                  uint64_t simhash)
{
    uint64_t seconds = w->now > row->visited ? w->now - row->visited : 0;

    nd_visits_add_after(&w->store->options.visits, &row->visits, distance, seconds);
    row->visits.simhash = simhash;
    row->visited = w->now;
    row->due = w->now + row->visits.interval;
}

/* The document's row, when it is due and when it came; `before`: what it was, NULL: it is new. */
static enum nd_status put_document(struct nd_writer *w, const struct nd_write *write,
                                   const struct nd_document_row *before,
                                   const struct nd_document_row *row, struct nd_error *err)
{
    struct nd_txn *txn = w->reader.txn;
    enum nd_status status = ND_OK;

    if (before)
        status = nd_catalog_delete_due(txn, before->label_set, before->due, before->number, err);
    else
        status = nd_catalog_put_recent(txn, row->label_set, row->created, write->id, err);
    if (status == ND_OK)
        status = nd_catalog_put_due(txn, row->label_set, row->due, row->number, write->id, err);
    if (status == ND_OK)
        status = nd_catalog_put_document(txn, write->id, row, err);
    w->has_changed = true;
    return status;
}

/* Note a visit that found the same text again. */
static enum nd_status revisit(struct nd_writer *w, struct nd_write *write,
                              const struct nd_document_row *before, struct nd_error *err)
{
    struct nd_document_row row = *before;
    struct nd_version_row version;
    enum nd_status status = judge_again(w, write, &row, err);

    if (status == ND_OK)
        status = get_version(w, &row, &version, err);
    if (status != ND_OK)
        return status;
    visit(w, &row, 0, version.simhash);
    row.title = write->title;
    version.visited = w->now;
    write->result.version = row.version;
    write->result.distance = version.distance;
    status = nd_catalog_put_version(w->reader.txn, row.number, row.version, &version, err);
    return status == ND_OK ? put_document(w, write, before, &row, err) : status;
}

/* A text that the label set has, or a new one: the verdict, and the entry. */
static enum nd_status take_text(struct nd_writer *w, struct nd_write *write, bool has_entry,
                                uint32_t set, struct nd_document_row *row, bool *no_space,
                                struct nd_error *err)
{
    struct nd_entry entry;
    enum nd_status status;

    row->order = nd_order_next(w->state.next_order, w->next_entry);
    w->state.next_order = row->order + 1;
    if (has_entry) {
        status = search_sets(w, write, &w->visible, row->entry, err);
        if (status == ND_OK)
            status = judge(w, write, ND_NOT_STORED, err);
        if (status == ND_OK)
            status = nd_reader_entry(&w->reader, row->entry, &entry, err);
        if (status == ND_OK) {
            entry.n_documents++;
            status = nd_catalog_put_entry(w->reader.txn, row->entry, &entry, err);
        }
    } else {
        row->entry = w->next_entry;
        status = search_all(w, write, err);
        if (status == ND_OK)
            status = judge(w, write, ND_NOT_STORED, err);
        if (status == ND_OK)
            status = put_entry(w, write, set, no_space, err);
    }
    if (status == ND_OK)
        status = nd_catalog_put_holder(w->reader.txn, row->entry, row->order, write->id, err);
    return status;
}

/* The row of a document that is not there yet. */
static struct nd_document_row new_document(struct nd_writer *w, uint32_t set)
{
    w->state.n_documents++;
    return (struct nd_document_row){
        .number = w->state.next_document++, .label_set = set, .created = w->now, .visited = w->now};
}

static enum nd_status count_versions(struct nd_writer *w, uint32_t set, bool is_new_document,
                                     size_t n, struct nd_error *err)
{
    struct nd_set_counts *counts = counts_of(w, set, err);

    if (!counts)
        return ND_EIO;
    counts->documents += is_new_document;
    counts->versions += n;
    w->state.n_versions += n;
    return ND_OK;
}

/* A new text of a document; `before` NULL: of a new one. */
static enum nd_status store_version(struct nd_writer *w, struct nd_write *write, uint32_t set,
                                    const struct nd_document_row *before, bool has_entry,
                                    uint32_t entry, bool *no_space, struct nd_error *err)
{
    struct nd_document_row row = before ? *before : new_document(w, set);
    struct nd_version_row version = {0};
    uint32_t distance = 64;
    enum nd_status status = before ? get_version(w, before, &version, err) : ND_OK;

    if (before)
        distance = nd_count_ones(version.simhash ^ write->sketched.row.simhash);
    version = version_of(w, write, distance);
    if (status == ND_OK && before)
        status = release_text(w, before, err);
    row.entry = entry;
    row.version++;
    row.title = write->title;
    row.updated = w->now;
    visit(w, &row, distance, version.simhash);
    write->result.version = row.version;
    write->result.distance = distance;
    write->result.is_new_version = true;
    if (status == ND_OK)
        status = take_text(w, write, has_entry, set, &row, no_space, err);
    if (status == ND_OK)
        status = nd_catalog_put_version(w->reader.txn, row.number, row.version, &version, err);
    if (status == ND_OK)
        status = count_versions(w, set, !before, 1, err);
    return status == ND_OK ? put_document(w, write, before, &row, err) : status;
}

/* The versions of a document that is imported. */
static enum nd_status put_versions(struct nd_writer *w, const struct nd_write *write,
                                   uint64_t document, struct nd_error *err)
{
    const struct nd_import *import = write->import;
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < import->n_versions; i++) {
        const struct nd_version *x = &import->versions[i];
        bool is_last = i + 1 == import->n_versions;
        const struct nd_version_row row = {.time = x->time,
                                           .visited = x->visited,
                                           .hash = is_last ? write->sketched.hash
                                                           : (struct nd_text_hash){0, 0},
                                           .simhash = x->simhash,
                                           .identity = x->identity,
                                           .n_tokens = x->tokens,
                                           .n_shingles = x->shingles,
                                           .text_bytes = x->text_bytes,
                                           .distance = x->distance};

        status = nd_catalog_put_version(w->reader.txn, document, x->number, &row, err);
    }
    return status;
}

/* A document with its history: what an export has, in a store that does not have it. */
static enum nd_status import_document(struct nd_writer *w, struct nd_write *write, uint32_t set,
                                      bool has_entry, uint32_t entry, bool *no_space,
                                      struct nd_error *err)
{
    const struct nd_import *import = write->import;
    struct nd_document_row row = new_document(w, set);
    enum nd_status status;

    row.entry = entry;
    row.version = import->versions[import->n_versions - 1].number;
    row.created = import->created;
    row.updated = import->updated;
    row.visited = import->visited;
    row.due = import->due;
    row.visits = import->visits;
    row.title = write->title;
    write->result.version = row.version;
    write->result.distance = import->versions[import->n_versions - 1].distance;
    write->result.is_new_version = true;
    status = take_text(w, write, has_entry, set, &row, no_space, err);
    if (status == ND_OK)
        status = put_versions(w, write, row.number, err);
    if (status == ND_OK)
        status = count_versions(w, set, true, import->n_versions, err);
    return status == ND_OK ? put_document(w, write, NULL, &row, err) : status;
}

static enum nd_status fail_write(struct nd_write *write, enum nd_store_result result,
                                 const char *why)
{
    struct nd_error err;

    (void)nd_fail(&err, ND_EINVAL, "%s", why);
    nd_write_fail(write, result, &err);
    return ND_OK;
}

static enum nd_status store_document(struct nd_writer *w, struct nd_write *write, uint32_t set,
                                     bool *no_space, struct nd_error *err)
{
    struct nd_document_row row;
    struct nd_error why;
    uint32_t entry = 0;
    int has_entry, found = nd_catalog_get_document(w->reader.txn, set, write->id, &row, err);

    if (found < 0)
        return (enum nd_status)found;
    has_entry = nd_reader_find(&w->reader, set, &write->sketched, &entry, &why);
    if (has_entry == ND_EUNSUPPORTED) {
        nd_write_fail(write, ND_STORE_INVALID, &why);
        return ND_OK;
    }
    if (has_entry < 0) {
        if (err)
            *err = why;
        return (enum nd_status)has_entry;
    }
    if (write->import)
        return found ? fail_write(write, ND_STORE_INVALID, "the store has this document already")
                     : import_document(w, write, set, has_entry, entry, no_space, err);
    if (found && has_entry && row.entry == entry)
        return revisit(w, write, &row, err);
    return store_version(w, write, set, found ? &row : NULL, has_entry, entry, no_space, err);
}

static enum nd_status delete_document(struct nd_writer *w, struct nd_write *write,
                                      const struct nd_document_row *row, struct nd_error *err)
{
    struct nd_txn *txn = w->reader.txn;
    struct nd_set_counts *counts;
    uint64_t n_versions = 0;
    enum nd_status status = release_text(w, row, err);

    if (status == ND_OK)
        status = nd_catalog_delete_due(txn, row->label_set, row->due, row->number, err);
    if (status == ND_OK)
        status = nd_catalog_delete_recent(txn, row->label_set, row->created, write->id, err);
    if (status == ND_OK)
        status = nd_catalog_delete_versions(txn, row->number, &n_versions, err);
    if (status == ND_OK)
        status = nd_catalog_delete_document(txn, write->id, row, err);
    counts = status == ND_OK ? counts_of(w, row->label_set, err) : NULL;
    if (!counts)
        return status != ND_OK ? status : ND_EIO;
    counts->documents--;
    counts->versions -= n_versions;
    w->state.n_documents--;
    w->state.n_versions -= n_versions;
    w->has_changed = true;
    return ND_OK;
}

/* ---- A write ---- */

/* Which document is to be deleted, among those that the caller sees.  ND_OK: *set is its label set,
 * or the write has failed. */
static enum nd_status find_deleted(struct nd_writer *w, struct nd_write *write,
                                   struct nd_document_row *row, struct nd_error *err)
{
    uint32_t own = nd_label_sets_find(w->store->sets, write->set);
    struct nd_document_row other;
    size_t n_found = 0;

    for (size_t i = 0; i < w->visible.n; i++) {
        uint32_t set = w->visible.number[i];
        int found;

        if (!write->any_labels && set != own)
            continue;
        found = nd_catalog_get_document(w->reader.txn, set, write->id, n_found ? &other : row, err);
        if (found < 0)
            return (enum nd_status)found;
        n_found += (size_t)found;
    }
    if (n_found == 0)
        return fail_write(write, ND_STORE_NOT_FOUND, "there is no such document");
    if (n_found > 1)
        return fail_write(write, ND_STORE_AMBIGUOUS,
                          "there are several documents with this id: name the security labels");
    write->result.key.labels =
        nd_label_sets_labels(w->store->sets, row->label_set, &write->result.key.n_labels);
    return ND_OK;
}

enum nd_status nd_writer_decide(struct nd_writer *w, struct nd_write *write, bool *no_space,
                                struct nd_error *err)
{
    struct nd_document_row row;
    uint32_t set = nd_label_sets_find(w->store->sets, write->set);
    enum nd_status status = ND_OK;

    write->result = (struct nd_written){
        .result = ND_STORE_OK,
        .key = {.id = write->id, .labels = write->labels, .n_labels = write->n_labels}};
    if (!write->is_deletion && set == ND_NO_LABEL_SET)
        status = nd_label_sets_add(w->store->sets, write->set, &set);
    if (status != ND_OK)
        return no_memory(err);
    status = nd_caller_sets(write->caller, nd_label_sets_count(w->store->sets), &w->visible, err);
    if (status != ND_OK)
        return status;
    if (!write->is_deletion)
        return store_document(w, write, set, no_space, err);
    status = find_deleted(w, write, &row, err);
    if (status != ND_OK || write->result.result != ND_STORE_OK)
        return status;
    return delete_document(w, write, &row, err);
}
