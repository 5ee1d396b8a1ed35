/*
 * live_texts.c - a live index of texts: add, query, remove, each answer compared with the text
 * itself
 *
 * An engine that makes pairs, and the texts that it asks for.  Each text has a serial number, which is
 * never given again, so that what a query found can be told when the index has changed since:
 *
 *     document    0      1      2  …       as the engine numbers them
 *     serial      4      5      9  …       rising
 *     text      "…"    "…"   gone  …
 *
 * Calls that change an index come one at a time: Python's class has them wait for one another, and
 * one from a signal handler inside another is refused here.  Queries run beside one another, and
 * wait while a slice is added.  Nobody waits for the lock who holds the GIL, and nobody takes the GIL
 * who holds the lock.
 *
 * A short query keeps the GIL if no other call is under way, so that it finds the lock free: two
 * threads that hand the GIL to each other twice for each query take four times as long as one.
 */
#include "objects/live_texts.h"

#include "base/json_out.h"
#include "base/memory.h"
#include "evidence/difference.h"

#include <stdlib.h>
#include <string.h>

#define CAPSULE "neardup.live"

/* ---- The engine's side ---- */

static enum nd_status fetch(void *context, uint64_t document, unsigned worker, struct nd_view *text,
                            struct nd_error *err)
{
    const struct nd_py_side *s = context;

    (void)worker;
    (void)err;
    *text = (struct nd_view){s->text[document].data, s->text[document].len};
    return ND_OK;
}

static enum nd_status keep(void *context, uint64_t document, size_t item, struct nd_error *err)
{
    (void)context;
    (void)document;
    (void)item;
    (void)err;
    return ND_OK;
}

/* The texts stay where another side has them. */
static void free_side(struct nd_py_side *s)
{
    if (!s)
        return;
    nd_dedup_free(s->dedup);
    free(s->text);
    free(s);
}

static struct nd_py_side *new_side(const struct nd_py_live *live, struct nd_error *err)
{
    struct nd_dedup_options options = nd_dedup_options_default();
    struct nd_py_side *s = calloc(1, sizeof *s);

    if (!s) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    s->source = (struct nd_text_source){.context = s, .fetch = fetch, .keep = keep};
    options.makes_pairs = 1;
    options.threads = live->threads;
    options.source = &s->source;
    s->dedup = nd_dedup_new(live->recipe, &options, err);
    if (!s->dedup) {
        free_side(s);
        return NULL;
    }
    return s;
}

/* An item has a document where that tells more than the text: fields, or what was repaired. */
static struct nd_dedup_item item_of(const struct nd_py_live *live, struct nd_view text,
                                    uint64_t replaced, const struct nd_field *fields,
                                    struct nd_document *document)
{
    struct nd_dedup_item item = {.text = text};

    *document = (struct nd_document){
        .text = text, .text_replaced = replaced, .fields = fields, .n_fields = live->n_fields};
    if (replaced || live->n_fields)
        item.document = document;
    return item;
}

enum nd_status nd_py_side_push(const struct nd_py_live *live, struct nd_py_side *s, size_t n,
                               struct nd_error *err)
{
    enum nd_status status;

    for (size_t i = 0; i < n; i++) {
        const struct nd_py_text *text = &s->text[s->n + i];
        struct nd_field *fields = live->field + i * live->n_fields;

        (void)nd_py_live_take_fields(live, text->data, text->bytes, fields);
        live->item[i] = item_of(live, (struct nd_view){text->data, text->len}, text->replaced,
                                fields, &live->document[i]);
    }
    status = nd_dedup_push_prototypes(s->dedup, live->item, n, err);
    if (status == ND_OK)
        s->n += n;
    return status;
}

/* ---- The index ---- */

static void free_text(struct nd_py_text *text)
{
    if (!text->is_mapped)
        free(text->data);
}

static void free_live(struct nd_py_live *live)
{
    for (size_t i = 0; live->side && i < live->side->n; i++)
        free_text(&live->side->text[i]);
    free_side(live->side);
    nd_saved_close(&live->saved);
    nd_recipe_free(live->recipe);
    Py_XDECREF(live->tables);
    nd_rwlock_free(live->lock);
    free(live->item);
    free(live->document);
    free(live->field);
    free(live->names);
    free(live);
}

static void free_capsule(PyObject *capsule)
{
    free_live(PyCapsule_GetPointer(capsule, CAPSULE));
}

struct nd_py_live *nd_py_live_of(PyObject *module, PyObject *capsule)
{
    const struct nd_py_state *state = PyModule_GetState(module);
    struct nd_py_live *live = PyCapsule_GetPointer(capsule, CAPSULE);

    if (!live || !live->is_lost)
        return live;
    PyErr_SetString(state->invalid, "another thread was using the index when the process forked: "
                                    "make it again in this process");
    return NULL;
}

PyThreadState *nd_py_live_leave(struct nd_py_live *live)
{
    atomic_fetch_add(&live->inside, 1);
    return PyEval_SaveThread();
}

void nd_py_live_return(struct nd_py_live *live, PyThreadState *state)
{
    atomic_fetch_sub(&live->inside, 1);
    PyEval_RestoreThread(state);
}

/*
 * live_after_fork(index): go on in the child of a fork, by its only thread.  Where a thread of the
 * parent was in a call, its locks stay held, and later calls are refused.
 */
static PyObject *live_after_fork(PyObject *module, PyObject *capsule)
{
    struct nd_py_live *live = PyCapsule_GetPointer(capsule, CAPSULE);

    (void)module;
    if (!live)
        return NULL;
    live->is_lost = live->is_lost || atomic_load(&live->inside) ||
                    atomic_load(&live->changes.state) ||
                    nd_dedup_after_fork(live->side->dedup, NULL) != ND_OK;
    Py_RETURN_NONE;
}

bool nd_py_live_begin_change(struct nd_py_live *live)
{
    if (nd_handle_enter(&live->changes, ND_CALL_CHANGES, NULL) == ND_OK)
        return true;
    PyErr_SetString(PyExc_RuntimeError, "another call is changing the index");
    return false;
}

void nd_py_live_end_change(struct nd_py_live *live)
{
    (void)nd_handle_leave(&live->changes, ND_CALL_CHANGES);
}

PyObject *nd_py_live_new(PyObject *module, PyObject *recipe_capsule, unsigned threads)
{
    const struct nd_recipe *recipe = nd_py_recipe(recipe_capsule);
    struct nd_py_live *live;
    struct nd_error err;
    PyObject *capsule;

    if (!recipe)
        return NULL;
    live = calloc(1, sizeof *live);
    if (!live)
        return PyErr_NoMemory();
    live->threads = threads;
    live->recipe = nd_recipe_copy(recipe, NULL);
    live->tables = Py_NewRef(recipe_capsule);
    live->lock = nd_rwlock_new();
    live->item = nd_alloc_array(ND_PY_SLICE_ROWS, sizeof *live->item);
    live->document = nd_alloc_array(ND_PY_SLICE_ROWS, sizeof *live->document);
    if (!live->recipe || !live->lock || !live->item || !live->document) {
        free_live(live);
        return PyErr_NoMemory();
    }
    if (nd_py_live_name_fields(live, &err) == ND_OK) {
        live->field = nd_alloc_array(ND_PY_SLICE_ROWS * live->n_fields + 1, sizeof *live->field);
        if (live->field)
            live->side = new_side(live, &err);
        else
            nd_fail(&err, ND_ENOMEM, "out of memory");
    }
    if (!live->side) {
        free_live(live);
        return nd_py_raise(module, &err);
    }
    capsule = PyCapsule_New(live, CAPSULE, free_capsule);
    if (!capsule)
        free_live(live);
    return capsule;
}

/* live_new(recipe, threads): an empty index. */
static PyObject *live_new(PyObject *module, PyObject *args)
{
    PyObject *recipe;
    unsigned threads;

    if (!PyArg_ParseTuple(args, "OI", &recipe, &threads))
        return NULL;
    return nd_py_live_new(module, recipe, threads);
}

/* How many rows of the frame from here on are a slice. */
static size_t slice_rows(const struct nd_py_frame *f, size_t from)
{
    size_t bytes = 0, to = from;

    while (to < f->n_rows && to - from < ND_PY_SLICE_ROWS &&
           (to == from || bytes < ND_PY_SLICE_BYTES))
        bytes += f->column[0].value[to++].len;
    return to - from;
}

/* Add the rows from here on, `n` of them, of which each has a text. */
static enum nd_status add_rows(struct nd_py_live *live, const struct nd_py_frame *f, size_t from,
                               size_t n, struct nd_error *err)
{
    struct nd_py_side *s = live->side;
    enum nd_status status = ND_OK;
    size_t copied = 0;

    if (!ND_RESERVE(s->text, &s->capacity, s->n + n))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    while (status == ND_OK && copied < n) {
        struct nd_py_text *to = &s->text[s->n + copied];

        *to = (struct nd_py_text){.serial = live->next_serial + copied,
                                  .replaced = nd_py_frame_replaced(f, from + copied)};
        if (!nd_py_live_copy(live, f, from + copied, to))
            status = nd_fail(err, ND_ENOMEM, "out of memory");
        else
            copied++;
    }
    if (status == ND_OK)
        status = nd_py_side_push(live, s, n, err);
    if (status == ND_OK)
        live->next_serial += n;
    for (size_t i = 0; status != ND_OK && i < copied; i++)
        free(s->text[s->n + i].data);
    return status;
}

/* live_add(index, frame, row): add a slice of rows, of which each has a text; the first one's serial
 * number, and how many there are. */
static PyObject *live_add(PyObject *module, PyObject *args)
{
    PyObject *capsule, *frame_capsule;
    const struct nd_py_frame *f;
    enum nd_status status;
    struct nd_error err;
    struct nd_py_live *live;
    PyThreadState *state;
    Py_ssize_t from;
    uint64_t serial;
    size_t n;

    if (!PyArg_ParseTuple(args, "OOn", &capsule, &frame_capsule, &from) ||
        !(live = nd_py_live_of(module, capsule)) || !(f = nd_py_frame(frame_capsule)))
        return NULL;
    if (from < 0 || (size_t)from > f->n_rows)
        return PyErr_Format(PyExc_IndexError, "there is no row %zd", from);
    if (!nd_py_live_fits(live, f))
        return NULL;
    n = slice_rows(f, (size_t)from);
    for (size_t i = 0; i < n; i++)
        if (!f->column[0].value[(size_t)from + i].data)
            return PyErr_Format(PyExc_ValueError, "row %zu: the text is null", (size_t)from + i);
    if (!nd_py_live_begin_change(live))
        return NULL;
    state = nd_py_live_leave(live);
    nd_rwlock_write(live->lock);
    serial = live->next_serial;
    status = add_rows(live, f, (size_t)from, n, &err);
    nd_rwlock_unlock(live->lock);
    nd_py_live_return(live, state);
    nd_py_live_end_change(live);
    if (status != ND_OK)
        return nd_py_raise(module, &err);
    return Py_BuildValue("Kn", (unsigned long long)serial, (Py_ssize_t)n);
}

/* The place of a serial number; s->n: it is not there. */
static size_t place_of(const struct nd_py_side *s, uint64_t serial)
{
    size_t low = 0, high = s->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (s->text[middle].serial < serial)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->n && s->text[low].serial == serial && !s->text[low].is_gone ? low : s->n;
}

/* live_remove(index, serial): how many texts are there, and how many that are removed are left. */
static PyObject *live_remove(PyObject *module, PyObject *args)
{
    unsigned long long serial;
    enum nd_status status;
    struct nd_error err;
    PyObject *capsule;
    struct nd_py_live *live;
    PyThreadState *state;
    size_t n, n_gone;

    if (!PyArg_ParseTuple(args, "OK", &capsule, &serial) ||
        !(live = nd_py_live_of(module, capsule)) || !nd_py_live_begin_change(live))
        return NULL;
    state = nd_py_live_leave(live);
    nd_rwlock_write(live->lock);
    {
        struct nd_py_side *s = live->side;
        size_t place = place_of(s, serial);

        status = place < s->n ? nd_dedup_withdraw(s->dedup, place, &err)
                              : nd_fail(&err, ND_EINVAL, "the index has no such text");
        if (status == ND_OK) {
            s->text[place].is_gone = true;
            s->n_gone++;
        }
        n_gone = s->n_gone;
        n = s->n - n_gone;
    }
    nd_rwlock_unlock(live->lock);
    nd_py_live_return(live, state);
    nd_py_live_end_change(live);
    if (status != ND_OK)
        return nd_py_raise(module, &err);
    return Py_BuildValue("nn", (Py_ssize_t)n, (Py_ssize_t)n_gone);
}

/* ---- A side without the removed texts ---- */

/* The texts that are left, behind those of `to`, until there is a slice of them. */
static size_t take_texts(const struct nd_py_side *from, size_t *at, struct nd_py_side *to)
{
    size_t n = 0, bytes = 0;

    for (; *at < from->n && n < ND_PY_SLICE_ROWS && bytes < ND_PY_SLICE_BYTES; ++*at)
        if (!from->text[*at].is_gone) {
            to->text[to->n + n++] = from->text[*at];
            bytes += from->text[*at].len;
        }
    return n;
}

static void change_side(struct nd_py_live *live, struct nd_py_side *to)
{
    struct nd_py_side *from = live->side;

    nd_rwlock_write(live->lock);
    live->side = to;
    nd_rwlock_unlock(live->lock);
    for (size_t i = 0; i < from->n; i++)
        if (from->text[i].is_gone)
            free_text(&from->text[i]);
    free_side(from);
}

/* False: an exception is set. */
static bool fill_side(PyObject *module, struct nd_py_live *live, struct nd_py_side *to)
{
    const struct nd_py_side *from = live->side;
    enum nd_status status = ND_OK;
    struct nd_error err;

    if (!ND_RESERVE(to->text, &to->capacity, from->n - from->n_gone + 1))
        status = nd_fail(&err, ND_ENOMEM, "out of memory");
    for (size_t at = 0; status == ND_OK && at < from->n;) {
        PyThreadState *state = nd_py_live_leave(live);

        status = nd_py_side_push(live, to, take_texts(from, &at, to), &err);
        nd_py_live_return(live, state);
        if (status == ND_OK && PyErr_CheckSignals() < 0)
            return false;
    }
    if (status != ND_OK)
        nd_py_raise(module, &err);
    return status == ND_OK;
}

/* live_compact(index): give back the memory of removed texts.  Queries go on meanwhile.  Where it
 * fails or is interrupted, the index is as it was. */
static PyObject *live_compact(PyObject *module, PyObject *capsule)
{
    struct nd_py_live *live = nd_py_live_of(module, capsule);
    struct nd_error err;
    struct nd_py_side *to;
    bool is_filled;

    if (!live || !nd_py_live_begin_change(live))
        return NULL;
    to = new_side(live, &err);
    if (!to)
        nd_py_raise(module, &err);
    is_filled = to && fill_side(module, live, to);
    if (is_filled) {
        PyThreadState *state = nd_py_live_leave(live);

        change_side(live, to);
        nd_py_live_return(live, state);
    } else {
        free_side(to);
    }
    nd_py_live_end_change(live);
    if (!is_filled)
        return NULL;
    Py_RETURN_NONE;
}

/* ---- Queries ---- */

struct live_match {
    uint64_t row, serial;
    struct nd_found_pair pair;
    struct nd_json differs; /* empty: not asked for */
};

struct matches {
    const struct nd_py_side *side;
    const uint64_t *row; /* of each item */
    struct live_match *match;
    size_t n, capacity;
};

static enum nd_status note(void *context, const struct nd_found_pair *pair)
{
    struct matches *m = context;

    if (!ND_RESERVE(m->match, &m->capacity, m->n + 1))
        return ND_ENOMEM;
    m->match[m->n++] =
        (struct live_match){m->row[pair->a], m->side->text[pair->b].serial, *pair, {{0}, 0, 0}};
    return ND_OK;
}

static void free_matches(struct matches *m)
{
    for (size_t i = 0; i < m->n; i++)
        nd_json_release(&m->match[i].differs);
    free(m->match);
}

/* The rows from here on that have a text, as items. */
struct questions {
    struct nd_dedup_item *item;
    struct nd_document *document;
    struct nd_field *field;
    uint64_t *row;
    size_t n;
};

static void free_questions(struct questions *q)
{
    free(q->item);
    free(q->document);
    free(q->field);
    free(q->row);
}

static bool make_questions(const struct nd_py_live *live, struct questions *q,
                           const struct nd_py_frame *f, size_t from, size_t n)
{
    q->item = nd_alloc_array(n + 1, sizeof *q->item);
    q->document = nd_alloc_array(n + 1, sizeof *q->document);
    q->field = nd_alloc_array(n * live->n_fields + 1, sizeof *q->field);
    q->row = nd_alloc_array(n + 1, sizeof *q->row);
    if (!q->item || !q->document || !q->field || !q->row)
        return false;
    for (size_t row = from; row < from + n; row++) {
        struct nd_view text = f->column[0].value[row];
        struct nd_field *fields = q->field + q->n * live->n_fields;

        if (!text.data)
            continue;
        nd_py_live_row_fields(live, f, row, fields);
        q->item[q->n] =
            item_of(live, text, nd_py_frame_replaced(f, row), fields, &q->document[q->n]);
        q->row[q->n++] = row;
    }
    return true;
}

/* Write what differs between the text of each match and the one that was asked about, while the side
 * stays. */
static enum nd_status find_differences(const struct nd_py_side *s, const struct questions *q,
                                       struct matches *m, struct nd_error *err)
{
    for (size_t i = 0; i < m->n; i++) {
        struct live_match *match = &m->match[i];
        const struct nd_py_text *text = &s->text[match->pair.b];
        struct nd_difference differs;
        enum nd_status status = nd_difference_of(
            q->item[match->pair.a].text, (struct nd_view){text->data, text->len}, &differs, err);

        if (status != ND_OK)
            return status;
        nd_json_open(&match->differs, '{');
        nd_difference_json(&match->differs, &differs, "this", "other");
        nd_json_close(&match->differs, '}');
        if (match->differs.failed)
            return nd_fail(err, ND_ENOMEM, "out of memory");
    }
    return ND_OK;
}

/* The matches as tuples: row, serial, is_equal, is_nearest, shared, a, b, distance, and what differs
 * as JSON, or None. */
static PyObject *take_matches(const struct matches *m)
{
    PyObject *list = PyList_New((Py_ssize_t)m->n);

    for (size_t i = 0; list && i < m->n; i++) {
        const struct live_match *x = &m->match[i];
        const struct nd_overlap *o = &x->pair.overlap;
        PyObject *tuple =
            Py_BuildValue("KKiiKKKIz#", (unsigned long long)x->row, (unsigned long long)x->serial,
                          x->pair.is_equal, x->pair.is_nearest, (unsigned long long)o->shared,
                          (unsigned long long)o->a, (unsigned long long)o->b, x->pair.distance,
                          x->differs.text.data, (Py_ssize_t)x->differs.text.len);

        if (!tuple)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, tuple);
    }
    return list;
}

/* Bytes of text from which on a query takes longer than handing the GIL over and back. */
enum { LONG_BYTES = 16 << 10 };

static size_t bytes_of(const struct nd_py_frame *f, size_t from, size_t n)
{
    size_t bytes = 0;

    for (size_t row = from; row < from + n; row++)
        bytes += f->column[0].value[row].len;
    return bytes;
}

static enum nd_status ask(struct nd_py_live *live, const struct questions *q, size_t bytes,
                          bool differs, struct matches *m, struct nd_error *err)
{
    bool is_alone = atomic_fetch_add(&live->inside, 1) == 0;
    PyThreadState *state = is_alone && bytes < LONG_BYTES && !differs ? NULL : PyEval_SaveThread();
    enum nd_status status;

    nd_rwlock_read(live->lock);
    m->side = live->side;
    m->row = q->row;
    status = nd_dedup_query(live->side->dedup, q->item, q->n, note, m, err);
    if (status == ND_OK && differs)
        status = find_differences(live->side, q, m, err);
    nd_rwlock_unlock(live->lock);
    atomic_fetch_sub(&live->inside, 1);
    if (state)
        PyEval_RestoreThread(state);
    return status;
}

/* live_query(index, frame, row, differs): how many rows from this one on were asked, and the matches,
 * perhaps with what differs. */
static PyObject *live_query(PyObject *module, PyObject *args)
{
    PyObject *capsule, *frame_capsule, *found = NULL;
    const struct nd_py_frame *f;
    struct questions q = {0};
    struct matches m = {0};
    enum nd_status status;
    struct nd_error err;
    struct nd_py_live *live;
    Py_ssize_t from;
    int differs;
    size_t n;

    if (!PyArg_ParseTuple(args, "OOnp", &capsule, &frame_capsule, &from, &differs) ||
        !(live = nd_py_live_of(module, capsule)) || !(f = nd_py_frame(frame_capsule)))
        return NULL;
    if (from < 0 || (size_t)from > f->n_rows)
        return PyErr_Format(PyExc_IndexError, "there is no row %zd", from);
    if (!nd_py_live_fits(live, f))
        return NULL;
    n = slice_rows(f, (size_t)from);
    if (make_questions(live, &q, f, (size_t)from, n)) {
        status = ask(live, &q, bytes_of(f, (size_t)from, n), differs != 0, &m, &err);
        if (status == ND_ENOMEM)
            PyErr_NoMemory();
        else if (status != ND_OK)
            nd_py_raise(module, &err);
        else
            found = take_matches(&m);
    } else {
        PyErr_NoMemory();
    }
    free_questions(&q);
    free_matches(&m);
    return found ? Py_BuildValue("nN", (Py_ssize_t)n, found) : NULL;
}

/* Bytes of the texts and of the engine's index. */
static PyObject *live_bytes(PyObject *module, PyObject *capsule)
{
    struct nd_py_live *live = nd_py_live_of(module, capsule);
    struct nd_dedup_stats stats;
    PyThreadState *state;
    size_t bytes = 0;

    if (!live)
        return NULL;
    state = nd_py_live_leave(live);
    nd_rwlock_read(live->lock);
    nd_dedup_get_stats(live->side->dedup, &stats);
    for (size_t i = 0; i < live->side->n; i++)
        bytes += live->side->text[i].bytes + sizeof *live->side->text;
    nd_rwlock_unlock(live->lock);
    nd_py_live_return(live, state);
    return PyLong_FromSize_t(bytes + (size_t)stats.index_bytes);
}

ND_PY_READS_FRAME(live_add, 1)
ND_PY_READS_FRAME(live_query, 1)

PyMethodDef nd_py_live_functions[] = {
    {"live_new", live_new, METH_VARARGS, "An empty index of texts."},
    {"live_add", live_add_reading, METH_VARARGS, "Add a slice of rows."},
    {"live_remove", live_remove, METH_VARARGS, "Remove a text."},
    {"live_compact", live_compact, METH_O, "Give back the memory of removed texts."},
    {"live_after_fork", live_after_fork, METH_O, "Go on in the child of a fork."},
    {"live_query", live_query_reading, METH_VARARGS,
     "The texts that a slice of rows equals or is near."},
    {"live_bytes", live_bytes, METH_O, "Its memory."},
    {NULL, NULL, 0, NULL},
};
