/*
 * frame_repeats.c - parts of the texts of a frame that stand in several places
 *
 * The rows are the documents of `neardup repeats`, with the same windows and the same cuts
 * (src/uses/repeats).  Which parts are near is what a deduplication of all parts says, which Python
 * runs.
 */
#include "frames/frame_documents.h"

#include "base/memory.h"
#include "base/thread/pool.h"
#include "uses/repeats/repeat_cuts.h"
#include "uses/repeats/text_cut.h"
#include "uses/repeats/text_units.h"

#include <stdlib.h>
#include <string.h>

#define SORT_BYTES ((size_t)1 << 30)

/* A part that was cut, by rows. */
struct cut_part {
    uint64_t row, from, to, kept, kept_from, kept_to;
    double resemblance;
};

/* A part that resembles an earlier one. */
struct near_part {
    uint64_t row;
    uint32_t from, to;
    double resemblance;
};

struct repeats_run {
    const struct nd_py_frame *frame;
    struct nd_repeats_params params;
    const char *folder;
    struct nd_pool *pool;
    struct nd_text_units **units; /* of each worker */
    size_t from;                  /* the slice at hand */
    struct nd_window_list *list;  /* of each of its rows */
    atomic_bool has_failed;

    /* Near parts: the first part that each resembles, and how much. */
    const uint64_t *first;
    const double *resemblance;
    size_t n_parts, at_part;
    uint64_t *number; /* of the units of a row */
    size_t number_capacity;
    struct near_part *near;
    size_t n_near, near_capacity, at_near;

    struct nd_repeat_cuts *cuts;
    struct cut_part *cut;
    size_t n_cuts, cut_capacity;
    struct nd_view *text; /* of each row, what is left */
    struct nd_arena arena;
    uint8_t *changed, *emptied; /* of each row */
    struct nd_text_ranges ranges;
    struct nd_buffer left;
};

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

static void release(struct repeats_run *r)
{
    for (unsigned i = 0; r->units && i < nd_pool_threads(r->pool); i++)
        nd_text_units_free(r->units[i]);
    for (size_t i = 0; r->list && i < ND_PY_SLICE_ROWS; i++)
        free(r->list[i].item);
    free(r->units);
    free(r->list);
    nd_pool_free(r->pool);
    nd_repeat_cuts_free(r->cuts);
    free(r->number);
    free(r->near);
    free(r->cut);
    free(r->text);
    nd_arena_release(&r->arena);
    free(r->ranges.item);
    nd_buffer_release(&r->left);
}

static enum nd_status begin(struct repeats_run *r, unsigned threads, struct nd_error *err)
{
    enum nd_status status = nd_text_units_check(&r->params, err);

    if (status != ND_OK)
        return status;
    if (r->frame->n_rows >= UINT32_MAX)
        return nd_fail(err, ND_EUNSUPPORTED, "more than 2^32 - 2 rows");
    r->pool = nd_pool_new(threads, err);
    if (!r->pool)
        return ND_ENOMEM;
    r->units = calloc(nd_pool_threads(r->pool), sizeof *r->units);
    r->list = calloc(ND_PY_SLICE_ROWS, sizeof *r->list);
    for (unsigned i = 0; r->units && i < nd_pool_threads(r->pool); i++)
        if (!(r->units[i] = nd_text_units_new(&r->params)))
            return no_memory(err);
    return r->units && r->list ? ND_OK : no_memory(err);
}

/* ---- Windows --------------------------------------------------------------------------------- */

static void list_row(void *context, size_t task, unsigned worker)
{
    struct repeats_run *r = context;
    const struct nd_view text = r->frame->column[0].value[r->from + task];
    struct nd_window_list *list = &r->list[task];
    bool done = true;

    list->n = 0;
    if (text.data)
        done = r->first ? nd_text_units_each(r->units[worker], text, list)
                        : nd_text_units_list(r->units[worker], text, NULL, list);
    if (!done)
        atomic_store(&r->has_failed, true);
}

/* Number the units of a row by the parts that they resemble, and note those that are near. */
static enum nd_status number_units(struct repeats_run *r, size_t row, struct nd_window_list *list,
                                   struct nd_error *err)
{
    if (!ND_RESERVE(r->number, &r->number_capacity, list->n + 1) ||
        !ND_RESERVE(r->near, &r->near_capacity, r->n_near + list->n + 1))
        return no_memory(err);
    for (size_t i = 0; i < list->n; i++) {
        const struct nd_text_window *w = &list->item[i];

        if (!nd_text_units_may_repeat(&r->params, w))
            continue;
        if (r->at_part == r->n_parts)
            return nd_fail(err, ND_EINVAL, "there are more parts than were compared");
        r->number[i] = r->first[r->at_part];
        if (r->number[i] != r->at_part)
            r->near[r->n_near++] =
                (struct near_part){row, w->from, w->to, r->resemblance[r->at_part]};
        r->at_part++;
    }
    nd_text_units_join(&r->params, r->number, list);
    return ND_OK;
}

static enum nd_status add_slice(struct repeats_run *r, size_t n, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    nd_pool_run(r->pool, n, list_row, r);
    if (atomic_load(&r->has_failed))
        return no_memory(err);
    for (size_t i = 0; status == ND_OK && i < n; i++) {
        if (r->first)
            status = number_units(r, r->from + i, &r->list[i], err);
        if (status == ND_OK)
            status = nd_repeat_cuts_add(r->cuts, (uint32_t)(r->from + i), &r->list[i], err);
    }
    return status;
}

/* How many rows from this one on are a slice. */
static size_t slice_rows(const struct nd_py_frame *frame, size_t from)
{
    size_t n = 0, bytes = 0;

    while (from + n < frame->n_rows && n < ND_PY_SLICE_ROWS && bytes < ND_PY_SLICE_BYTES)
        bytes += frame->column[0].value[from + n++].len;
    return n;
}

static enum nd_status find(struct repeats_run *r, struct nd_py_outside *outside,
                           struct nd_error *err)
{
    const struct nd_repeat_cuts_options options = {.tmp = r->folder,
                                                   .sort_bytes = SORT_BYTES,
                                                   .order_bytes = SORT_BYTES,
                                                   .group_bytes = SIZE_MAX,
                                                   .occurrences = r->params.occurrences};
    enum nd_status status = ND_OK;

    r->cuts = nd_repeat_cuts_new(&options, err);
    if (!r->cuts)
        return err->status;
    for (size_t n; status == ND_OK && r->from < r->frame->n_rows; r->from += n) {
        n = slice_rows(r->frame, r->from);
        status = add_slice(r, n, err);
        if (status == ND_OK)
            status = nd_py_outside_report(outside, r->from + n, r->frame->n_rows, err);
    }
    return status == ND_OK ? nd_repeat_cuts_decide(r->cuts, err) : status;
}

/* ---- Cuts ------------------------------------------------------------------------------------ */

/* Return the least resemblance of the parts of a cut.  Cuts come in the order of rows. */
static double least_resemblance(struct repeats_run *r, const struct nd_repeat_cut *cut)
{
    double least = 1;

    while (r->at_near < r->n_near && r->near[r->at_near].row < cut->document)
        r->at_near++;
    for (size_t i = r->at_near; i < r->n_near && r->near[i].row == cut->document; i++)
        if (r->near[i].from >= cut->from && r->near[i].to <= cut->to &&
            r->near[i].resemblance < least)
            least = r->near[i].resemblance;
    return least;
}

static bool add_cut(struct repeats_run *r, const struct nd_repeat_cut *cut)
{
    if (!ND_RESERVE(r->cut, &r->cut_capacity, r->n_cuts + 1))
        return false;
    r->cut[r->n_cuts++] = (struct cut_part){cut->document,
                                            cut->from,
                                            cut->to,
                                            cut->source,
                                            cut->source_from,
                                            cut->source_to,
                                            least_resemblance(r, cut)};
    return nd_text_ranges_add(&r->ranges, cut->from, cut->to);
}

/* Keep what is left of a row. */
static enum nd_status shorten(struct repeats_run *r, size_t row, struct nd_error *err)
{
    int64_t tokens;
    char *kept;

    if (!nd_text_cut(r->text[row], &r->ranges, &r->left) ||
        !(kept = nd_arena_alloc(&r->arena, r->left.len + 1)))
        return no_memory(err);
    if (r->left.len)
        memcpy(kept, r->left.data, r->left.len);
    r->text[row] = (struct nd_view){kept, r->left.len};
    tokens = nd_text_units_count(r->units[0], r->text[row]);
    r->changed[row] = 1;
    r->emptied[row] = tokens == 0;
    return tokens < 0 ? no_memory(err) : ND_OK;
}

static enum nd_status take_cuts(struct repeats_run *r, struct nd_error *err)
{
    const struct nd_repeat_cut *cut;
    enum nd_status status = ND_OK;
    size_t row = SIZE_MAX;
    int got = 0;

    r->text = nd_alloc_array(r->frame->n_rows + 1, sizeof *r->text);
    if (!r->text)
        return no_memory(err);
    for (size_t i = 0; i < r->frame->n_rows; i++)
        r->text[i] = r->frame->column[0].value[i];
    while (status == ND_OK && (got = nd_repeat_cuts_next(r->cuts, &cut, err)) > 0) {
        if (cut->document != row && row != SIZE_MAX)
            status = shorten(r, row, err);
        if (cut->document != row)
            r->ranges.n = 0;
        row = cut->document;
        if (status == ND_OK && !add_cut(r, cut))
            status = no_memory(err);
    }
    if (status == ND_OK && got < 0)
        status = (enum nd_status)got;
    return status == ND_OK && row != SIZE_MAX ? shorten(r, row, err) : status;
}

/* ---- For Python ------------------------------------------------------------------------------ */

static struct nd_view text_at(const void *context, size_t row)
{
    return ((const struct repeats_run *)context)->text[row];
}

static PyObject *cut_columns(const struct repeats_run *r)
{
    static const struct nd_py_column_type type[] = {
        {"row", "L", 8, NULL, 0},        {"from", "L", 8, NULL, 0},
        {"to", "L", 8, NULL, 0},         {"kept_row", "L", 8, NULL, 0},
        {"kept_from", "L", 8, NULL, 0},  {"kept_to", "L", 8, NULL, 0},
        {"resemblance", "g", 8, NULL, 0}};
    enum { COLUMNS = sizeof type / sizeof *type };
    void *values[COLUMNS];
    PyObject *columns = nd_py_columns(type, COLUMNS, r->n_cuts, values, NULL);

    for (size_t i = 0; columns && i < r->n_cuts; i++) {
        const struct cut_part *c = &r->cut[i];
        const uint64_t number[] = {c->row, c->from, c->to, c->kept, c->kept_from, c->kept_to};

        for (size_t k = 0; k < sizeof number / sizeof *number; k++)
            ((uint64_t *)values[k])[i] = number[k];
        ((double *)values[COLUMNS - 1])[i] = c->resemblance;
    }
    return columns;
}

/* Take the numbers of near parts, which are bytes, or None.  False: an exception is set. */
static bool take_near(struct repeats_run *r, PyObject *first, PyObject *resemblance)
{
    if (first == Py_None)
        return true;
    if (!PyBytes_Check(first) || !PyBytes_Check(resemblance) ||
        PyBytes_Size(first) != PyBytes_Size(resemblance)) {
        PyErr_SetString(PyExc_TypeError, "near parts are two bytes objects of one length");
        return false;
    }
    r->first = (const void *)PyBytes_AsString(first);
    r->resemblance = (const void *)PyBytes_AsString(resemblance);
    r->n_parts = (size_t)PyBytes_Size(first) / sizeof *r->first;
    return true;
}

static bool run(PyObject *module, struct repeats_run *r, unsigned threads, PyObject *progress)
{
    struct nd_py_outside outside = {.thread = PyEval_SaveThread(), .progress = progress};
    struct nd_error err = {.status = ND_OK};
    enum nd_status status = begin(r, threads, &err);

    if (status == ND_OK)
        status = find(r, &outside, &err);
    if (status == ND_OK)
        status = take_cuts(r, &err);
    return nd_py_outside_end(module, &outside, status, &err);
}

/*
 * repeats(frame, (cut, tokens, occurrences), first, resemblance, folder, threads, progress): the
 * texts that are left, the cuts as columns, how many they are, which rows were changed, and which
 * have no token since, a byte for each.
 */
static PyObject *repeats(PyObject *module, PyObject *args)
{
    struct repeats_run r = {.params = nd_repeats_params_default()};
    PyObject *capsule, *first, *resemblance, *folder, *progress, *result = NULL;
    PyObject *changed = NULL, *emptied = NULL, *texts, *columns;
    unsigned cut, threads;

    if (!PyArg_ParseTuple(args, "O(III)OOO&IO", &capsule, &cut, &r.params.tokens,
                          &r.params.occurrences, &first, &resemblance, PyUnicode_FSConverter,
                          &folder, &threads, &progress))
        return NULL;
    r.params.cut = (enum nd_repeats_cut)(cut & 3);
    r.folder = PyBytes_AsString(folder);
    r.frame = nd_py_frame(capsule);
    if (r.frame && take_near(&r, first, resemblance)) {
        changed = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)r.frame->n_rows);
        emptied = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)r.frame->n_rows);
    }
    if (changed && emptied) {
        r.changed = memset(PyBytes_AsString(changed), 0, r.frame->n_rows);
        r.emptied = memset(PyBytes_AsString(emptied), 0, r.frame->n_rows);
        if (run(module, &r, threads, progress)) {
            texts = nd_py_text_column("text", r.frame->n_rows, text_at, &r);
            columns = texts ? cut_columns(&r) : NULL;
            if (columns)
                result =
                    Py_BuildValue("NNnOO", texts, columns, (Py_ssize_t)r.n_cuts, changed, emptied);
            else
                Py_XDECREF(texts);
        }
    }
    Py_XDECREF(changed);
    Py_XDECREF(emptied);
    Py_DECREF(folder);
    release(&r);
    return result;
}
ND_PY_READS_FRAME(repeats, 0)

/* List the parts of all rows that may repeat, as r->text; *n: how many.  Without the GIL. */
static enum nd_status list_parts(struct repeats_run *r, size_t *n, struct nd_error *err)
{
    enum nd_status status = begin(r, 1, err);
    size_t capacity = 0;

    *n = 0;
    for (size_t row = 0; status == ND_OK && row < r->frame->n_rows; row++) {
        const struct nd_view text = r->frame->column[0].value[row];
        struct nd_window_list *list = &r->list[0];

        list->n = 0;
        if (text.data && !nd_text_units_each(r->units[0], text, list))
            return no_memory(err);
        if (!ND_RESERVE(r->text, &capacity, *n + list->n + 1))
            return no_memory(err);
        for (size_t i = 0; i < list->n; i++)
            if (nd_text_units_may_repeat(&r->params, &list->item[i]))
                r->text[(*n)++] = (struct nd_view){text.data + list->item[i].from,
                                                   list->item[i].to - list->item[i].from};
    }
    return status;
}

/* repeats_parts(frame, cut, tokens): the lines, paragraphs or sentences, as a column, and how many. */
static PyObject *repeats_parts(PyObject *module, PyObject *args)
{
    struct repeats_run r = {.params = nd_repeats_params_default()};
    PyObject *capsule, *column, *result = NULL;
    enum nd_status status;
    struct nd_error err;
    unsigned cut;
    size_t n = 0;

    if (!PyArg_ParseTuple(args, "OII", &capsule, &cut, &r.params.tokens))
        return NULL;
    r.params.cut = (enum nd_repeats_cut)(cut & 3);
    r.frame = nd_py_frame(capsule);
    if (!r.frame)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = list_parts(&r, &n, &err);
    Py_END_ALLOW_THREADS;
    if (status != ND_OK) {
        (void)nd_py_raise(module, &err);
    } else {
        column = nd_py_text_column("text", n, text_at, &r);
        result = column ? Py_BuildValue("Nn", column, (Py_ssize_t)n) : NULL;
    }
    release(&r);
    return result;
}
ND_PY_READS_FRAME(repeats_parts, 0)

PyMethodDef nd_py_repeats_functions[] = {
    {"repeats", repeats_reading, METH_VARARGS, "Parts of texts that repeat, and what is left."},
    {"repeats_parts", repeats_parts_reading, METH_VARARGS, "The parts of all texts."},
    {NULL, NULL, 0, NULL},
};
