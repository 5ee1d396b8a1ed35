/* reader.c - what a thread needs to read entries within a transaction */
#include "store/read/reader.h"

bool nd_reader_init(struct nd_reader *reader, struct nd_segments *segments)
{
    *reader = (struct nd_reader){
        .segments = segments, .compressor = nd_compressor_new(), .absent = UINT32_MAX};
    return reader->compressor != NULL;
}

void nd_reader_release(struct nd_reader *reader)
{
    nd_compressor_free(reader->compressor);
    nd_buffer_release(&reader->text);
}

enum nd_status nd_reader_text(struct nd_reader *reader, const struct nd_entry *entry,
                              struct nd_view *text, struct nd_error *err)
{
    enum nd_status status =
        nd_segments_read(reader->segments, reader->compressor, &entry->text, &reader->text, err);

    *text = (struct nd_view){reader->text.data, reader->text.len};
    return status;
}

enum nd_status nd_reader_entry(struct nd_reader *reader, uint32_t number, struct nd_entry *entry,
                               struct nd_error *err)
{
    int found = nd_catalog_get_entry(reader->txn, number, entry, err);

    if (found == 0)
        return nd_fail(err, ND_EINPUT, "the database has no entry %lu, which another row names",
                       (unsigned long)number);
    return found < 0 ? (enum nd_status)found : ND_OK;
}

int nd_reader_find(struct nd_reader *reader, uint32_t set, const struct nd_sketched *text,
                   uint32_t *number, struct nd_error *err)
{
    struct nd_entry entry;
    struct nd_view other;
    enum nd_status status;
    int found = nd_catalog_find_entry(reader->txn, set, text->hash, number, err);

    if (found <= 0)
        return found;
    status = nd_reader_entry(reader, *number, &entry, err);
    if (status == ND_OK)
        status = nd_reader_text(reader, &entry, &other, err);
    if (status != ND_OK)
        return (int)status;
    if (!nd_equal_bytes(text->text, other))
        return (int)nd_fail(err, ND_EUNSUPPORTED,
                            "another text of this label set has the same hash of 128 bits");
    return 1;
}

/* ---- For searches ---- */

enum nd_status nd_reader_leave_out(struct nd_reader *reader, uint32_t number, struct nd_error *err)
{
    struct nd_entry entry;
    enum nd_status status = nd_reader_entry(reader, number, &entry, err);

    if (status == ND_OK && entry.n_documents == 1)
        reader->absent = number;
    return status;
}

static int is_there(void *context, uint32_t number, struct nd_error *err)
{
    const struct nd_reader *reader = context;
    struct nd_entry entry;

    return number == reader->absent ? 0 : nd_catalog_get_entry(reader->txn, number, &entry, err);
}

/* As is_there, for an index that has nothing which the transaction has not. */
static int is_not_absent(void *context, uint32_t number, struct nd_error *err)
{
    const struct nd_reader *reader = context;

    (void)err;
    return number != reader->absent;
}

/* A text of the same hash and other bytes is not the one that is looked for. */
static int find(void *context, uint32_t set, const struct nd_sketched *text, uint32_t *number,
                struct nd_error *err)
{
    const struct nd_reader *reader = context;
    int found = nd_reader_find(context, set, text, number, err);

    return found == ND_EUNSUPPORTED || (found == 1 && *number == reader->absent) ? 0 : found;
}

static int pair(void *context, uint32_t number, uint32_t set, uint32_t other,
                struct nd_pair_row *row, struct nd_error *err)
{
    const struct nd_reader *reader = context;
    uint32_t set_of_next = set, next = other;
    int found = nd_catalog_next_pair(reader->txn, number, &set_of_next, &next, row, err);

    return found == 1 ? set_of_next == set && next == other : found;
}

static enum nd_status fetch(void *context, uint32_t number, struct nd_view *text,
                            struct nd_error *err)
{
    struct nd_entry entry;
    enum nd_status status = nd_reader_entry(context, number, &entry, err);

    return status == ND_OK ? nd_reader_text(context, &entry, text, err) : status;
}

struct nd_search_source nd_reader_source(struct nd_reader *reader)
{
    return (struct nd_search_source){.context = reader,
                                     .is_there =
                                         reader->absent == UINT32_MAX ? NULL : is_not_absent,
                                     .find = find,
                                     .pair = pair,
                                     .fetch = fetch};
}

struct nd_search_source nd_reader_source_checked(struct nd_reader *reader)
{
    return (struct nd_search_source){
        .context = reader, .is_there = is_there, .find = find, .pair = pair, .fetch = fetch};
}
