/*
 * evidence.c - what became of rows, as the files that the command writes: manifest, clusters, summary
 *
 * Rows are added in order, with the result that has them and where their ids stand: in a frame, or
 * in the file of a stream or a corpus.  A row is called by its id, or by its place: rows come in
 * segments, whose lines have numbers without a gap.
 */
#include "dedup/against.h"
#include "dedup/bounded.h"
#include "dedup/corpus.h"
#include "dedup/frame_dedup.h"
#include "dedup/stream.h"
#include "frames/result.h"

#include "base/memory.h"
#include "evidence/counts.h"
#include "evidence/first_line.h"
#include "evidence/rows.h"

#include <stdlib.h>
#include <string.h>

#define CAPSULE "neardup.evidence"

/* The share of ids in the memory that a run may take beside its rows. */
enum { ID_BYTES_MAX = 64 << 20 };

struct segment {
    uint64_t row, line; /* the first of them */
    const char *path;
};

struct evidence {
    struct nd_recipe *recipe;
    PyObject *recipe_capsule; /* which holds its df tables */
    bool wants_rows, wants_clusters, is_broken;
    char *null_reason; /* NULL: rows without a text are not told of */
    struct segment *segment;
    char **path;
    size_t n_segments, segment_capacity, n_paths, path_capacity;
    struct nd_cluster_sizes sizes; /* by row; 0: no document, or not kept */
    size_t n_sizes;
    struct nd_id_check ids;
    uint64_t n_rows, measured[ND_MEASURED];
    uint64_t documents, removed, identical[3], bad;
    struct nd_rows rows;
    struct nd_json scratch[4];
    struct nd_buffer buffer[3];
};

static void free_evidence(struct evidence *e)
{
    nd_recipe_free(e->recipe);
    Py_XDECREF(e->recipe_capsule);
    free(e->null_reason);
    for (size_t i = 0; i < e->n_paths; i++)
        free(e->path[i]);
    free(e->path);
    free(e->segment);
    nd_cluster_sizes_release(&e->sizes);
    nd_id_check_release(&e->ids);
    nd_rows_release(&e->rows);
    for (size_t i = 0; i < 4; i++)
        nd_json_release(&e->scratch[i]);
    for (size_t i = 0; i < 3; i++)
        nd_buffer_release(&e->buffer[i]);
    free(e);
}

static void free_capsule(PyObject *capsule)
{
    free_evidence(PyCapsule_GetPointer(capsule, CAPSULE));
}

/* evidence_new(recipe, wants rows, wants clusters, why rows without a text are skipped, or None) */
static PyObject *evidence_new(PyObject *module, PyObject *args)
{
    PyObject *recipe_capsule, *capsule;
    const struct nd_recipe *recipe;
    const char *reason;
    struct evidence *e;
    struct nd_error err;
    int rows, clusters;

    if (!PyArg_ParseTuple(args, "Oppz", &recipe_capsule, &rows, &clusters, &reason) ||
        !(recipe = nd_py_recipe(recipe_capsule)))
        return NULL;
    e = calloc(1, sizeof *e);
    if (!e)
        return PyErr_NoMemory();
    e->recipe_capsule = Py_NewRef(recipe_capsule);
    e->wants_rows = rows;
    e->wants_clusters = clusters;
    e->ids.ids.bytes_max = ID_BYTES_MAX;
    e->recipe = nd_recipe_copy(recipe, &err);
    if (!e->recipe || (reason && !(e->null_reason = strdup(reason)))) {
        if (e->recipe)
            nd_fail(&err, ND_ENOMEM, "out of memory");
        free_evidence(e);
        return nd_py_raise(module, &err);
    }
    capsule = PyCapsule_New(e, CAPSULE, free_capsule);
    if (!capsule)
        free_evidence(e);
    return capsule;
}

static bool add_path(struct evidence *e, const char *path)
{
    if (!path)
        return e->n_paths > 0;
    if (!ND_RESERVE(e->path, &e->path_capacity, e->n_paths + 1) ||
        !(e->path[e->n_paths] = strdup(path)))
        return false;
    e->n_paths++;
    return true;
}

/* evidence_place(evidence, path, row, line): the row stands in this line of the file, and the next
 * rows in the next ones; None: of the same file as the row before. */
static PyObject *evidence_place(PyObject *module, PyObject *args)
{
    unsigned long long row, line;
    PyObject *capsule;
    const char *path;
    struct evidence *e;

    (void)module;
    if (!PyArg_ParseTuple(args, "OzKK", &capsule, &path, &row, &line) ||
        !(e = PyCapsule_GetPointer(capsule, CAPSULE)))
        return NULL;
    if (e->n_segments && e->segment[e->n_segments - 1].row > row)
        return PyErr_Format(PyExc_ValueError, "rows are placed in order");
    if (!add_path(e, path) || !ND_RESERVE(e->segment, &e->segment_capacity, e->n_segments + 1))
        return PyErr_NoMemory();
    e->segment[e->n_segments++] = (struct segment){row, line, e->path[e->n_paths - 1]};
    Py_RETURN_NONE;
}

static struct nd_at at_of(const struct evidence *e, uint64_t row)
{
    size_t low = 0, high = e->n_segments;

    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;

        if (e->segment[middle].row <= row)
            low = middle;
        else
            high = middle;
    }
    if (!e->n_segments)
        return (struct nd_at){"-", NULL, row + 1};
    return (struct nd_at){e->segment[low].path, NULL,
                          e->segment[low].line + (row - e->segment[low].row)};
}

/* ---- Rows ---- */

/* The places where rows are found. */
struct where {
    const struct nd_py_result *result;
    const struct nd_py_frame *frame; /* NULL: none; its first row is that of the result */
    unsigned id;                     /* its column; 0: none */
    const struct nd_py_texts *texts; /* of other rows; NULL: none */
    struct nd_py_against *against;   /* of all rows, and of documents of sketch files; NULL: none */
    const struct nd_py_frame
        *texts_of_rows; /* of the rows from first_text on; NULL: they are gone */
    uint64_t first_text;
};

static bool is_in_frame(const struct where *w, uint64_t row)
{
    return w->frame && row >= w->result->first_row && row - w->result->first_row < w->frame->n_rows;
}

static struct nd_name name_of_id(struct nd_view id, bool is_raw)
{
    return (struct nd_name){!id.len ? ND_ID_NONE : is_raw ? ND_ID_RAW : ND_ID_STRING, id};
}

/* The id of a row and its place, and whether it has a text; the id stands in buffer `i`. */
static enum nd_status find(struct evidence *e, const struct where *w, uint64_t row, unsigned i,
                           struct nd_name *id, struct nd_at *at, bool *has_text,
                           struct nd_error *err)
{
    struct nd_py_entry entry = {0};
    enum nd_status status = ND_OK;

    *id = (struct nd_name){ND_ID_NONE, {NULL, 0}};
    *at = at_of(e, row);
    *has_text = true;
    if (w->frame && is_in_frame(w, row)) {
        size_t i_frame = (size_t)(row - w->result->first_row);
        const struct nd_py_column *column = &w->frame->column[w->id];

        *has_text = w->frame->column[0].value[i_frame].data != NULL;
        if (w->id)
            *id = name_of_id(column->value[i_frame], column->is_raw[i_frame]);
    } else if (w->against) {
        status = nd_py_against_row(w->against, row, i, id, at, has_text, err);
    } else if (w->texts) {
        status = nd_py_texts_read(w->texts, row, &e->buffer[i], &entry, err);
        if (status == ND_OK) {
            *has_text = entry.value[0].data != NULL;
            *id = name_of_id(entry.value[ND_PY_ID], entry.is_raw[ND_PY_ID]);
        }
    }
    return status;
}

static enum nd_status party_of(struct evidence *e, const struct where *w, uint64_t row, unsigned i,
                               struct nd_party *party, struct nd_error *err)
{
    struct nd_name id;
    bool has_text;
    enum nd_status status;

    if (w->against && (row & ND_PY_SEEN)) /* no row is ND_PY_NOBODY here */
        return nd_py_against_party(w->against, row ^ ND_PY_SEEN, i, &e->scratch[i], party, err);
    status = find(e, w, row, i, &id, &party->at, &has_text, err);
    party->name = nd_name_at(id.text, id.kind, &party->at, &e->scratch[i]);
    return status;
}

/* Append the line of a row to the clusters, if they are asked for, as the command does. */
static void put_cluster(struct evidence *e, const struct where *w, const struct nd_name *name,
                        const struct nd_name *kept, const char *fate)
{
    const bool is_needed =
        (w->against && nd_py_against_has_old(w->against)) || strcmp(e->recipe->keep, "none") == 0;

    if (e->wants_clusters)
        nd_row_cluster(&e->rows.clusters, name, kept, is_needed ? fate : NULL);
}

/* Find the passage that a row copied of a document of sketch files, where that decided. */
static enum nd_status find_passage(const struct evidence *e, const struct where *w,
                                   const struct nd_py_removal *removal,
                                   const struct nd_decision *decision,
                                   struct nd_row_passage *passage, struct nd_error *err)
{
    const uint64_t at = removal->row - w->first_text;

    if (!w->texts_of_rows || !e->wants_rows || !nd_py_is_for_seen(removal) ||
        nd_deciding_containment(&e->recipe->dedup, decision) != ND_CONTAINMENT_OF_KEPT)
        return ND_OK;
    return nd_py_against_passage(w->against, removal->kept ^ ND_PY_SEEN,
                                 w->texts_of_rows->column[0].value[at], passage, err);
}

static enum nd_status put_removed(struct evidence *e, const struct where *w,
                                  const struct nd_py_removal *removal,
                                  const struct nd_party *removed, struct nd_error *err)
{
    const struct nd_decision decision = nd_py_result_decision(w->result, removal);
    struct nd_row_passage passage = {.tokens = 0};
    struct nd_party kept, neighbour;
    struct nd_row_via via;
    enum nd_status status = party_of(e, w, removal->kept, 1, &kept, err);

    if (status == ND_OK && removal->has_via)
        status = party_of(e, w, removal->via, 2, &neighbour, err);
    if (status == ND_OK)
        status = find_passage(e, w, removal, &decision, &passage, err);
    if (status != ND_OK)
        return status;
    if (removal->has_via)
        via = (struct nd_row_via){neighbour.name, removal->via_resemblance, removal->via_verified};
    put_cluster(e, w, &removed->name, &kept.name, "removed");
    if (e->wants_rows)
        nd_row_removed(&e->rows.manifest, &e->scratch[3], removed, &kept, &decision, e->recipe,
                       (struct nd_row_parts){.via = removal->has_via ? &via : NULL,
                                             .passage = passage.text.len ? &passage : NULL});
    return ND_OK;
}

/* A row that stood for its cluster. */
static void put_leader(struct evidence *e, const struct where *w, const struct nd_party *party)
{
    e->removed++;
    put_cluster(e, w, &party->name, &party->name, "removed");
    if (e->wants_rows)
        nd_row_leader(&e->rows.manifest, &e->scratch[3], party);
}

static enum nd_status put_row(struct evidence *e, const struct where *w, uint64_t row,
                              const struct nd_py_removal *removal, struct nd_error *err)
{
    struct nd_party party = {0};
    bool needs_name = e->wants_clusters || (removal && e->wants_rows), has_text;
    struct nd_name id;
    enum nd_status status = find(e, w, row, 0, &id, &party.at, &has_text, err);

    if (status != ND_OK)
        return status;
    if (!has_text) {
        e->bad += e->null_reason != NULL;
        if (e->null_reason && e->wants_rows)
            nd_row_skipped(&e->rows.manifest, &e->scratch[3], &party.at, e->null_reason);
        return ND_OK;
    }
    e->documents++;
    nd_id_check_note(&e->ids, &id, &party.at);
    if (needs_name)
        party.name = nd_name_at(id.text, id.kind, &party.at, &e->scratch[0]);
    if (!removal || !nd_py_is_for_seen(removal))
        e->sizes.members[removal && !nd_py_is_leader(removal) ? removal->kept : row]++;
    if (removal && nd_py_is_leader(removal)) {
        put_leader(e, w, &party);
        return ND_OK;
    }
    if (removal) {
        e->removed++;
        e->identical[removal->identical]++;
        return needs_name ? put_removed(e, w, removal, &party, err) : ND_OK;
    }
    put_cluster(e, w, &party.name, &party.name, "kept");
    return ND_OK;
}

/* Make room for a size of each row of the result, and of each that stands for one of them. */
static bool reserve_sizes(struct evidence *e, const struct nd_py_result *result)
{
    size_t need = (size_t)result->n_all;

    if (need > e->n_sizes && !nd_cluster_sizes_set(&e->sizes, need - 1, 0))
        return false;
    for (; e->n_sizes < need; e->n_sizes++)
        e->sizes.members[e->n_sizes] = 0;
    return true;
}

static enum nd_status put_rows(struct evidence *e, const struct where *w, size_t n,
                               struct nd_error *err)
{
    const struct nd_py_result *r = w->result;
    const struct nd_py_removal *removal = NULL;
    enum nd_status status = ND_OK;
    bool is_failed;

    if (!reserve_sizes(e, r))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; status == ND_OK && i < n; i++, e->n_rows++) {
        removal = r->is_removed[e->n_rows - r->first_row] ? nd_py_result_find(r, e->n_rows) : NULL;
        status = put_row(e, w, e->n_rows, removal, err);
    }
    is_failed = e->rows.manifest.failed || e->rows.clusters.failed;
    for (size_t i = 0; i < 4; i++)
        is_failed = is_failed || e->scratch[i].failed;
    return status == ND_OK && is_failed ? nd_fail(err, ND_ENOMEM, "out of memory") : status;
}

/* A text as bytes, which is then empty. */
static PyObject *take(struct nd_json *text)
{
    PyObject *bytes = PyBytes_FromStringAndSize(text->text.data, (Py_ssize_t)text->text.len);

    text->text.len = 0;
    return bytes;
}

/* The file of a store: a stream, a corpus, bounded rows; NULL: None was given, or an exception is set. */
static const struct nd_py_texts *texts_of(PyObject *store)
{
    if (store == Py_None)
        return NULL;
    if (PyCapsule_IsValid(store, "neardup.corpus"))
        return nd_py_corpus_texts(store);
    if (PyCapsule_IsValid(store, "neardup.bounded"))
        return nd_py_bounded_texts(store);
    return nd_py_stream_texts(store);
}

static bool parse_where(struct where *w, PyObject *result, PyObject *frame, unsigned id,
                        PyObject *store)
{
    *w = (struct where){.result = nd_py_result(result), .id = id};
    if (PyCapsule_IsValid(store, ND_PY_AGAINST))
        w->against = nd_py_against(store);
    if (w->result && w->result->has_seen && (!w->against || frame != Py_None)) {
        PyErr_SetString(PyExc_ValueError, "rows were removed for documents of sketch files");
        return false;
    }
    if (!w->result || (frame != Py_None && !(w->frame = nd_py_frame(frame))))
        return false;
    w->texts = w->against ? NULL : texts_of(store);
    if (PyErr_Occurred())
        return false;
    if (w->frame && id >= w->frame->n_columns) {
        PyErr_SetString(PyExc_ValueError, "the frame has not all columns");
        return false;
    }
    return true;
}

/* Take the texts of the next n rows, whose first row has this number.  False: an exception is set. */
static bool parse_texts(struct where *w, const struct evidence *e, PyObject *texts,
                        unsigned long long first, size_t n)
{
    if (texts == Py_None || !w->against)
        return true;
    w->texts_of_rows = nd_py_frame(texts);
    w->first_text = first;
    if (w->texts_of_rows && (first > e->n_rows || e->n_rows - first > w->texts_of_rows->n_rows ||
                             n > w->texts_of_rows->n_rows - (e->n_rows - first)))
        PyErr_SetString(PyExc_ValueError, "these are not the texts of the next rows");
    return !PyErr_Occurred();
}

/*
 * evidence_add(evidence, result, frame, id column, store, n, texts, first): the next n rows, which are
 * rows of the result.  Their ids stand in the frame, whose rows are those of the result (None:
 * nowhere), or in the file of a stream or a corpus.  `texts` is a frame with their texts, whose rows
 * are those from `first` on, or None: they are gone, and passages are not told of.  The rows of the
 * manifest, and those of the clusters.
 */
static PyObject *evidence_add(PyObject *module, PyObject *args)
{
    PyObject *capsule, *result, *frame, *store, *texts, *rows, *clusters;
    unsigned long long first;
    unsigned id;
    Py_ssize_t n;
    struct evidence *e;
    struct where w;
    struct nd_error err;
    enum nd_status status;

    if (!PyArg_ParseTuple(args, "OOOIOnOK", &capsule, &result, &frame, &id, &store, &n, &texts,
                          &first) ||
        !(e = PyCapsule_GetPointer(capsule, CAPSULE)) || !parse_where(&w, result, frame, id, store))
        return NULL;
    if (n < 0 || e->is_broken || e->n_rows < w.result->first_row ||
        e->n_rows + (uint64_t)n > w.result->first_row + w.result->n_rows ||
        w.result->n_signatures != e->recipe->method.n_signatures)
        return PyErr_Format(PyExc_ValueError, "these are not the next rows");
    if (!parse_texts(&w, e, texts, first, (size_t)n))
        return NULL;
    e->is_broken = true; /* while it works, and after a failure */
    Py_BEGIN_ALLOW_THREADS;
    status = put_rows(e, &w, (size_t)n, &err);
    if (e->n_rows == w.result->first_row + w.result->n_rows)
        for (size_t i = 0; i < ND_MEASURED; i++)
            e->measured[i] += w.result->measured[i];
    Py_END_ALLOW_THREADS;
    if (status != ND_OK)
        return nd_py_raise(module, &err);
    e->is_broken = false;
    rows = take(&e->rows.manifest);
    clusters = rows ? take(&e->rows.clusters) : NULL;
    return clusters ? Py_BuildValue("NN", rows, clusters) : (Py_XDECREF(rows), NULL);
}

/* ---- The whole ---- */

static enum nd_status name_largest(struct evidence *e, const struct where *w,
                                   struct nd_run_summary *summary, struct nd_error *err)
{
    size_t largest[ND_RUN_LARGEST];
    enum nd_status status = ND_OK;

    summary->n_largest =
        nd_cluster_sizes_largest(&e->sizes, e->n_sizes, largest, &summary->clusters);
    for (size_t i = 0; status == ND_OK && i < summary->n_largest; i++) {
        struct nd_party party;

        status = party_of(e, w, largest[i], 0, &party, err);
        nd_name_show(party.name.text, summary->largest[i].id, sizeof summary->largest[i].id);
        summary->largest[i].documents = e->sizes.members[largest[i]];
    }
    return status;
}

static enum nd_status summarise(struct evidence *e, const struct where *w,
                                struct nd_run_summary *summary, struct nd_error *err)
{
    summary->documents = e->documents;
    summary->removed = e->removed;
    summary->kept = e->documents - e->removed;
    summary->near = e->identical[ND_IDENTICAL_NO];
    summary->identical_bytes = e->identical[ND_IDENTICAL_BYTES];
    summary->identical_tokens = e->identical[ND_IDENTICAL_TOKENS];
    summary->bad_records = e->bad;
    summary->never_documents = w->result->n_never;
    if (w->against)
        nd_py_against_count(w->against, summary);
    summary->double_ids = e->ids.n_double;
    summary->ids_full = e->ids.ids.is_full;
    nd_summary_complete(summary, &w->result->stats, &e->recipe->dedup, e->measured);
    return name_largest(e, w, summary, err);
}

/* A tuple of tuples (format, compression, path, files, records, bytes). */
static struct nd_summary_input *parse_inputs(PyObject *inputs, Py_ssize_t *n)
{
    struct nd_summary_input *input;
    unsigned long long files, records, bytes;

    *n = PyTuple_Size(inputs);
    input = *n < 0 ? NULL : calloc((size_t)*n + 1, sizeof *input);
    for (Py_ssize_t i = 0; input && i < *n; i++) {
        if (!nd_py_parse_item(inputs, i, "sssKKK", &input[i].format, &input[i].compression,
                              &input[i].first, &files, &records, &bytes)) {
            free(input);
            return NULL;
        }
        input[i].files = files;
        input[i].records = records;
        input[i].bytes = bytes;
    }
    if (!input && !PyErr_Occurred())
        PyErr_NoMemory();
    return input;
}

/* A finished text as bytes; the text is freed. */
static PyObject *finish(struct nd_json *out)
{
    PyObject *bytes = out->failed ? PyErr_NoMemory() : take(out);

    nd_json_release(out);
    return bytes;
}

/* The summary with these numbers (evidence_summary).  NULL: an exception is set. */
static struct nd_run_summary *parse_numbers(PyObject *numbers, PyObject *replaced)
{
    unsigned long long left_out, warnings, repaired, bytes, spooled, peak, memory, spilled, loads;
    unsigned long long n_replaced, records, gone;
    double seconds, processor_seconds;
    struct nd_run_summary *summary;
    const char *first;
    unsigned threads;

    if (!PyArg_ParseTuple(numbers, "KKKKKKKKKIdd", &left_out, &warnings, &repaired, &bytes,
                          &spooled, &peak, &memory, &spilled, &loads, &threads, &seconds,
                          &processor_seconds) ||
        !PyArg_ParseTuple(replaced, "yKKK", &first, &n_replaced, &records, &gone))
        return NULL;
    summary = calloc(1, sizeof *summary);
    if (!summary) {
        PyErr_NoMemory();
        return NULL;
    }
    summary->left_out = left_out;
    summary->warnings = warnings;
    summary->repaired = repaired;
    summary->bytes = bytes;
    summary->spool_bytes = spooled;
    summary->peak_bytes = peak;
    summary->memory_bytes = memory;
    summary->spilled_bytes = spilled;
    summary->loads = loads;
    summary->threads = threads;
    summary->seconds = seconds;
    summary->processor_seconds = processor_seconds;
    summary->replaced =
        (struct nd_run_replaced){.inputs = n_replaced, .records = records, .gone = gone};
    PyOS_snprintf(summary->replaced.first, sizeof summary->replaced.first, "%s", first);
    return summary;
}

/*
 * evidence_summary(evidence, result, frame, id column, store, numbers, replaced, inputs): the summary as JSON.
 * The result is that of the last rows.  numbers: left out, warnings, repaired sequences, bytes,
 * bytes of temporary files, bytes of memory, those that are allowed (0: any), bytes of files that this
 * took, loads, threads, seconds, and those of processors.  replaced: the path of the first input that
 * is replaced, how many are, the records that they had, and how many of these are gone.
 */
static PyObject *evidence_summary(PyObject *module, PyObject *args)
{
    PyObject *capsule, *result, *frame, *store, *numbers, *replaced, *inputs;
    struct nd_run_summary *summary;
    struct nd_summary_input *input;
    struct nd_json out = {0};
    struct evidence *e;
    struct where w;
    struct nd_error err;
    enum nd_status status;
    unsigned id;
    Py_ssize_t n;

    if (!PyArg_ParseTuple(args, "OOOIOO!O!O!", &capsule, &result, &frame, &id, &store,
                          &PyTuple_Type, &numbers, &PyTuple_Type, &replaced, &PyTuple_Type,
                          &inputs) ||
        !(e = PyCapsule_GetPointer(capsule, CAPSULE)) ||
        !parse_where(&w, result, frame, id, store) || !(summary = parse_numbers(numbers, replaced)))
        return NULL;
    input = parse_inputs(inputs, &n);
    if (!input) {
        free(summary);
        return NULL;
    }
    status = summarise(e, &w, summary, &err);
    if (status == ND_OK)
        nd_summary_json(&out, summary, true, input, (size_t)n);
    free(input);
    free(summary);
    return status == ND_OK ? finish(&out) : nd_py_raise(module, &err);
}

/* evidence_warning(evidence): what is odd about the ids, or None. */
static PyObject *evidence_warning(PyObject *module, PyObject *capsule)
{
    const struct evidence *e = PyCapsule_GetPointer(capsule, CAPSULE);
    struct nd_run_summary *summary;
    char text[ND_ID_WARNING_BYTES];
    bool is_odd;

    (void)module;
    if (!e)
        return NULL;
    summary = calloc(1, sizeof *summary);
    if (!summary)
        return PyErr_NoMemory();
    summary->double_ids = e->ids.n_double;
    summary->ids_full = e->ids.ids.is_full;
    is_odd = nd_id_check_warning(&e->ids, summary, text);
    free(summary);
    if (is_odd)
        return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    Py_RETURN_NONE;
}

/* evidence_copies(evidence, row, n): of n rows from this one on, how many rows the cluster of each has, itself
 * included, as 64-bit integers; 1 where it stands for none, or has no text.  All rows were added. */
static PyObject *evidence_copies(PyObject *module, PyObject *args)
{
    unsigned long long row;
    const struct evidence *e;
    PyObject *capsule, *bytes;
    Py_ssize_t n;
    int64_t *to;

    (void)module;
    if (!PyArg_ParseTuple(args, "OKn", &capsule, &row, &n) ||
        !(e = PyCapsule_GetPointer(capsule, CAPSULE)))
        return NULL;
    if (n < 0 || row > e->n_sizes || (unsigned long long)n > e->n_sizes - row)
        return PyErr_Format(PyExc_ValueError, "there are no such rows");
    bytes = PyBytes_FromStringAndSize(NULL, n * (Py_ssize_t)sizeof *to);
    if (!bytes)
        return NULL;
    to = (int64_t *)(void *)PyBytes_AsString(bytes);
    for (Py_ssize_t i = 0; i < n; i++)
        to[i] = e->sizes.members[row + (size_t)i] ? e->sizes.members[row + (size_t)i] : 1;
    return bytes;
}

/* evidence_counts(evidence): rows that were skipped, and documents. */
static PyObject *evidence_counts(PyObject *module, PyObject *capsule)
{
    const struct evidence *e = PyCapsule_GetPointer(capsule, CAPSULE);

    (void)module;
    return e ? Py_BuildValue("KK", (unsigned long long)e->bad, (unsigned long long)e->documents)
             : NULL;
}

/* store_bytes(store): bytes of its temporary files. */
static PyObject *store_bytes(PyObject *module, PyObject *store)
{
    const struct nd_py_texts *texts =
        PyCapsule_IsValid(store, ND_PY_AGAINST) ? NULL : texts_of(store);

    (void)module;
    if (PyErr_Occurred())
        return NULL;
    return PyLong_FromUnsignedLongLong(texts ? nd_py_texts_bytes(texts) : 0);
}

/* A list of str; NULL: an exception is set.  To be freed. */
static const char **parse_list(PyObject *list, size_t *n)
{
    Py_ssize_t count = PyTuple_Size(list);
    const char **text = count < 0 ? NULL : calloc((size_t)count + 1, sizeof *text);

    if (!text && !PyErr_Occurred())
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; text && i < count; i++) {
        text[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(list, i), NULL);
        if (!text[i]) {
            free(text);
            return NULL;
        }
    }
    *n = (size_t)count;
    return text;
}

/* A tuple of pairs of str.  NULL: an exception is set.  To be freed. */
static struct nd_run_value *parse_pairs(PyObject *pairs, size_t *n)
{
    Py_ssize_t count = PyTuple_Size(pairs);
    struct nd_run_value *value = count < 0 ? NULL : calloc((size_t)count + 1, sizeof *value);

    if (!value && !PyErr_Occurred())
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; value && i < count; i++)
        if (!nd_py_parse_item(pairs, i, "ss", &value[i].field, &value[i].value)) {
            free(value);
            return NULL;
        }
    *n = (size_t)count;
    return value;
}

/* A tuple of tuples (path, entry, format, compression, records, bytes, hash); of a source of sketches,
 * whose format is "sketch", the bytes are not known. */
static bool put_sources(struct nd_json *out, PyObject *sources)
{
    Py_ssize_t n = PyTuple_Size(sources);

    for (Py_ssize_t i = 0; i < n; i++) {
        struct nd_first_line_source source = {0};
        unsigned long long records, bytes, hash;

        if (!nd_py_parse_item(sources, i, "szssKKK", &source.path, &source.entry, &source.format,
                              &source.compression, &records, &bytes, &hash))
            return false;
        source.is_sketched = strcmp(source.format, "sketch") == 0;
        if (source.is_sketched)
            source.compression = NULL;
        source.records = records;
        source.bytes = bytes;
        source.bytes_hash = hash;
        nd_first_line_source(out, &source);
    }
    return n >= 0;
}

/* A tuple of tuples (path, generation, documents).  NULL: an exception is set.  To be freed. */
static struct nd_first_line_seen *parse_seen(PyObject *files, size_t *n)
{
    Py_ssize_t count = PyTuple_Size(files);
    struct nd_first_line_seen *seen = count < 0 ? NULL : calloc((size_t)count + 1, sizeof *seen);

    if (!seen && !PyErr_Occurred())
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; seen && i < count; i++) {
        unsigned long long generation, documents;

        if (!nd_py_parse_item(files, i, "sKK", &seen[i].path, &generation, &documents)) {
            free(seen);
            return NULL;
        }
        seen[i].generation = generation;
        seen[i].documents = documents;
    }
    *n = (size_t)count;
    return seen;
}

/*
 * evidence_first_line(evidence, result, text column, id column, within, prefer column, preferred
 * values, never, what happens without a text, inputs, sketch files, whether rows are compared with the
 * documents of these alone): the first line of the manifest.
 */
static PyObject *evidence_first_line(PyObject *module, PyObject *args)
{
    PyObject *capsule, *result_capsule, *preferred, *never, *sources, *files, *bytes = NULL;
    struct nd_first_line line = {.html_parser = "none",
                                 .mail_parser = "none",
                                 .format = "auto",
                                 .unit = "file",
                                 .text_format = "plain",
                                 .n_text_fields = 1};
    struct nd_run_summary *summary = NULL;
    const struct nd_py_result *result;
    struct nd_run_value *values = NULL;
    struct nd_first_line_seen *seen = NULL;
    const char *text, **list = NULL;
    struct nd_json out = {0};
    struct evidence *e;
    int is_alone;

    (void)module;
    if (!PyArg_ParseTuple(args, "OOzzzzO!O!sO!O!p", &capsule, &result_capsule, &text,
                          &line.id_field, &line.within, &line.prefer_field, &PyTuple_Type,
                          &preferred, &PyTuple_Type, &never, &line.missing_text, &PyTuple_Type,
                          &sources, &PyTuple_Type, &files, &is_alone) ||
        !(e = PyCapsule_GetPointer(capsule, CAPSULE)) || !(result = nd_py_result(result_capsule)))
        return NULL;
    line.is_only_against = is_alone != 0;
    line.text_fields = &text;
    line.n_text_fields = text != NULL;
    list = parse_list(preferred, &line.n_prefer);
    values = list ? parse_pairs(never, &line.n_never) : NULL;
    seen = values ? parse_seen(files, &line.n_seen) : NULL;
    summary = seen ? calloc(1, sizeof *summary) : NULL;
    if (seen && !summary)
        PyErr_NoMemory();
    if (summary) {
        line.prefer = list;
        line.never = values;
        line.seen = seen;
        nd_summary_complete(summary, &result->stats, &e->recipe->dedup, NULL);
        nd_first_line_begin(&out, &line, e->recipe, summary);
        if (put_sources(&out, sources)) {
            nd_first_line_end(&out);
            bytes = finish(&out);
        }
    }
    nd_json_release(&out);
    free(summary);
    free(seen);
    free(values);
    free(list);
    return bytes;
}

ND_PY_READS_FRAME(evidence_add, 2)
ND_PY_READS_FRAME(evidence_add_reading, 6)

PyMethodDef nd_py_evidence_functions[] = {
    {"evidence_new", evidence_new, METH_VARARGS, "What became of rows, to be written."},
    {"evidence_place", evidence_place, METH_VARARGS, "Where the next rows stand."},
    {"evidence_add", evidence_add_reading_reading, METH_VARARGS,
     "The rows of manifest and clusters."},
    {"evidence_summary", evidence_summary, METH_VARARGS, "The summary."},
    {"evidence_copies", evidence_copies, METH_VARARGS, "How many rows clusters have."},
    {"evidence_counts", evidence_counts, METH_O, "How many rows were skipped."},
    {"store_bytes", store_bytes, METH_O, "Bytes of a temporary file."},
    {"evidence_warning", evidence_warning, METH_O, "What is odd about the ids."},
    {"evidence_first_line", evidence_first_line, METH_VARARGS, "The manifest's first line."},
    {NULL, NULL, 0, NULL},
};
