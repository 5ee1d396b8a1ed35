/* against_append.c - the survivors of a run with old documents, added to the last file */
#include "old/against_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "old/against_parts.h"
#include "record/packed_document.h"

/* The number in the file that is added to of a source of the inputs; none yet: UINT32_MAX. */
static enum nd_status number_source(struct nd_against *a, uint32_t source, uint32_t *number,
                                    struct nd_error *err)
{
    const struct nd_source *from = nd_reading_source(a->reading, source);
    const struct nd_sketch_source to = {from->path, from->entry, from->bytes_hash, from->records};

    return *number == UINT32_MAX ? nd_sketch_appender_source(a->appender, &to, number, err) : ND_OK;
}

void nd_against_keep(struct nd_against *a, uint32_t record)
{
    a->kept[record / 64] |= UINT64_C(1) << record % 64;
}

static bool is_kept(const struct nd_against *a, uint32_t record)
{
    return a->kept[record / 64] >> record % 64 & 1;
}

/* Whether the record is a document. */
static bool is_document(const struct nd_against *a, uint32_t record)
{
    uint32_t end =
        record + 1 < a->n_records ? a->document_of[record + 1] : nd_fresh_rows_count(a->fresh);

    return end > a->document_of[record];
}

/*
 * With stars a document is compared with survivors alone.  With other kinds of clusters it may belong
 * to one by a member that was removed, so these are added, too.
 */
static bool is_added(const struct nd_against *a, uint32_t record)
{
    return a->part.recipe->dedup.cluster == ND_CLUSTER_STAR ? is_kept(a, record)
                                                            : is_document(a, record);
}

/* Both are of one recipe, so that a row is copied as it is, but for its source. */
static enum nd_status append_row(struct nd_against *a, uint32_t document, uint32_t *number,
                                 struct nd_error *err)
{
    bool keeps_shingles = nd_sketch_file_info(nd_sketch_appender_file(a->appender))->keeps.shingles;
    struct nd_packed_row packed;
    enum nd_status status = nd_fresh_rows_packed(a->fresh, document, &a->room[0], &packed, err);
    uint32_t source;

    if (status != ND_OK)
        return status;
    source = nd_sketch_packed_source(packed.data);
    status = number_source(a, source, &number[source], err);
    if (status != ND_OK)
        return status;
    nd_sketch_packed_set_source(packed.data, number[source]);
    if (!keeps_shingles)
        packed.len = packed.row_len;
    return nd_sketch_writer_add(nd_sketch_appender_writer(a->appender), &packed, err);
}

enum nd_status nd_against_append(struct nd_against *a, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    uint32_t *number, n_sources;
    uint64_t n = 0;

    if (!a->appender)
        return ND_OK;
    n_sources = nd_reading_sources(a->reading);
    number = nd_alloc_array((size_t)n_sources + 1, sizeof *number);
    if (!number)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    memset(number, 0xFF, n_sources * sizeof *number);
    for (uint32_t record = 0; status == ND_OK && record < a->n_records; record++)
        if (is_added(a, record)) {
            status = append_row(a, a->document_of[record], number, err);
            n++;
        }
    free(number);
    if (status == ND_OK)
        status = nd_sketch_appender_commit(a->appender, err);
    if (status == ND_OK)
        a->part.summary->appended = n;
    return status;
}
