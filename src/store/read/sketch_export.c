/*
 * sketch_export.c - the sketches of all documents that a caller sees, as a sketch file
 *
 * They are made anew of the stored texts, since the index keeps neither shingles nor all of a sketch.
 */
#include <inttypes.h>

#include <neardup/sketch_file.h>

#include "record/document_row.h"
#include "store/read/session_state.h"

struct exporting {
    struct nd_session *session;
    const atomic_bool *stops;
    struct nd_document_rows rows;
    struct nd_packed_row packed;
    struct nd_sketch_writer *writer;
    uint64_t documents;
    struct nd_error *err;
};

static int add(void *context, const struct nd_stored *stored, const struct nd_version *versions,
               size_t n)
{
    struct exporting *e = context;
    struct nd_document document;
    struct nd_sketch_row row = {.line = e->documents + 1};
    enum nd_status status;

    (void)versions, (void)n;
    if (nd_session_document(e->session, stored->content, &document, e->err) != ND_STORE_OK)
        return e->err->status;
    document.id = stored->key.id;
    document.id_kind = ND_ID_STRING;
    if (e->stops && atomic_load(e->stops))
        return nd_fail(e->err, ND_ECANCELLED, "the service is ending");
    status = nd_document_rows_make(&e->rows, &document, &row, e->err);
    if (status == ND_OK)
        status = nd_sketch_row_pack(e->writer, &row, e->rows.scratch, &e->packed, e->err);
    if (status == ND_OK)
        status = nd_sketch_writer_add(e->writer, &e->packed, e->err);
    e->documents += status == ND_OK;
    return status;
}

static enum nd_status finish(struct exporting *e, struct nd_error *err)
{
    const struct nd_sketch_source source = {.path = "store", .records = e->documents};
    enum nd_status status = nd_sketch_writer_add_source(e->writer, &source, err);

    return status == ND_OK ? nd_sketch_writer_finish(e->writer, err) : status;
}

enum nd_store_result nd_session_write_sketches(struct nd_session *session,
                                               const struct nd_caller *caller, FILE *stream,
                                               bool keeps_shingles, const atomic_bool *stops,
                                               uint64_t *documents, struct nd_error *err)
{
    const struct nd_recipe *recipe = nd_store_recipe(session->store);
    const struct nd_sketch_writer_options options = {
        .keeps = {nd_sketch_kept_of(recipe).minima,
                  nd_sketch_kept_of(recipe).shingles && keeps_shingles}};
    struct exporting e = {.session = session, .stops = stops, .err = err};
    enum nd_store_result result = ND_STORE_OK;

    *err = (struct nd_error){.status = ND_OK};
    if (nd_document_rows_init(&e.rows, recipe, err) &&
        (e.writer = nd_sketch_writer_new(stream, recipe, &options, err)))
        result = nd_session_each(session, caller, add, &e, err);
    if (result == ND_STORE_OK && err->status == ND_OK)
        (void)finish(&e, err);
    if (result == ND_STORE_OK)
        result = nd_store_result_of(err->status);
    nd_sketch_writer_free(e.writer);
    nd_packed_row_release(&e.packed);
    nd_document_rows_release(&e.rows);
    *documents = e.documents;
    return result;
}
