/*
 * against.c - rows decided after the documents of sketch files, as `neardup dedup --against` does
 *
 *     add      the order of the rows; their sketches go to a temporary sketch file meanwhile
 *              (sketch_file_object.c)
 *     decide   the rows of the old files that matter to these are found (candidates/seen_rows.h); the
 *              driver (loads/staged.h) gets them, then those of the temporary one in keep order;
 *              shingles are read again where the engine compares
 *     append   the survivors' rows, or of clusters that are no stars all, go to the last of the old
 *              files: all of them or none
 *
 * So a decision rests on sketches alone, as the command's does, and memory follows the new documents
 * and those that they meet.
 */
#include "dedup/against.h"
#include "dedup/against_state.h"
#include "objects/sketch_file_object.h"

#include "base/memory.h"
#include "engine/engine.h"
#include "evidence/copied_passage.h"
#include "evidence/counts.h"

#include <stdlib.h>
#include <string.h>

static enum nd_status out_of_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

static void free_against(struct nd_py_against *a)
{
    nd_dedup_free(a->dedup);
    nd_py_result_free(a->result);
    nd_py_order_release(&a->order);
    nd_recipe_free(a->recipe);
    for (size_t i = 0; a->room && i < ND_PY_WORKERS_MAX; i++)
        nd_sketch_room_release(&a->room[i]);
    for (size_t i = 0; i < ND_PY_NAMES; i++)
        nd_sketch_room_release(&a->name_room[i]);
    for (size_t i = 0; i < ND_PY_PUSHED_MAX; i++)
        nd_sketch_room_release(&a->row_room[i]);
    free(a->room);
    free(a->old);
    free(a->fresh);
    free(a->place);
    nd_seen_rows_release(&a->met);
    free(a->document_of);
    nd_short_texts_free(a->short_texts);
    nd_pool_free(a->pool);
    free(a->short_of);
    free(a->short_files);
    nd_hash_set_release(&a->equal);
    nd_quoted_release(&a->quoted);
    Py_XDECREF(a->held);
    free(a);
}

static void free_capsule(PyObject *capsule)
{
    free_against(PyCapsule_GetPointer(capsule, ND_PY_AGAINST));
}

struct nd_py_against *nd_py_against(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, ND_PY_AGAINST);
}

/* ---- A new one ---- */

static unsigned parts_of(const struct nd_py_against *a)
{
    return a->recipe->dedup.verify == ND_VERIFY_NONE ? ND_SKETCH_FILE_ROWS : ND_SKETCH_FILE_ALL;
}

static enum nd_status check_file(const struct nd_py_against *a, const struct nd_sketch_file *file,
                                 struct nd_error *err)
{
    enum nd_status status = nd_sketch_file_fits(file, a->recipe, err);

    if (status == ND_OK && parts_of(a) == ND_SKETCH_FILE_ALL &&
        !nd_sketch_file_info(file)->keeps.shingles)
        status = nd_fail(err, ND_EINVAL,
                         "against: a file has no shingles, and the recipe compares them (verify)");
    return status;
}

/* False: an exception is set. */
static bool take_files(PyObject *module, struct nd_py_against *a, PyObject *files)
{
    Py_ssize_t n = PyTuple_Size(files);
    struct nd_error err;

    a->old = calloc((size_t)n + 1, sizeof *a->old);
    if (!a->old) {
        PyErr_NoMemory();
        return false;
    }
    for (; a->n_old < (size_t)n; a->n_old++) {
        struct nd_py_old_file *old = &a->old[a->n_old];

        old->file = nd_py_sketch_file(PyTuple_GetItem(files, (Py_ssize_t)a->n_old));
        if (!old->file)
            return false;
        if (check_file(a, old->file, &err) != ND_OK) {
            nd_py_raise(module, &err);
            return false;
        }
        old->first = a->n_seen;
        a->n_seen += nd_sketch_file_info(old->file)->documents;
    }
    return true;
}

/* Take the numbers of fields of each file.  False: an exception is set. */
static bool take_fields(struct nd_py_against *a, PyObject *fields)
{
    for (size_t i = 0; i < a->n_old; i++) {
        PyObject *never;
        Py_ssize_t n;

        if (!nd_py_parse_item(fields, (Py_ssize_t)i, "IO!", &a->old[i].within, &PyTuple_Type,
                              &never))
            return false;
        n = PyTuple_Size(never);
        if (n > ND_SKETCH_FIELDS_MAX || (size_t)n != a->order.comparable.n_never) {
            PyErr_SetString(PyExc_ValueError, "each column of never has a field");
            return false;
        }
        for (Py_ssize_t k = 0; k < n; k++)
            a->old[i].never[k] = (unsigned)PyLong_AsUnsignedLong(PyTuple_GetItem(never, k));
    }
    return !PyErr_Occurred();
}

/* Open what finds short old documents in new ones, where the recipe asks for that. */
static enum nd_status open_short(struct nd_py_against *a, unsigned threads, struct nd_error *err)
{
    const struct nd_sketch_file **file;
    const char *grouped = a->order.comparable.within    ? "within"
                          : a->order.comparable.n_never ? "never"
                                                        : NULL;

    *err = (struct nd_error){0};
    if (!nd_short_texts_count(a->recipe))
        return ND_OK;
    file = nd_alloc_array(a->n_old + 1, sizeof *file);
    if (!file)
        return out_of_memory(err);
    for (size_t i = 0; i < a->n_old; i++)
        file[i] = a->old[i].file;
    a->pool = nd_pool_new(threads, err);
    if (a->pool)
        a->short_texts =
            nd_short_texts_new(file, a->n_old, a->recipe, nd_pool_threads(a->pool), err);
    free(file);
    a->equal.bytes_max = SIZE_MAX;
    a->n_words = a->is_alone ? a->n_old / 64 + 1 : 0;
    if (a->short_texts && grouped)
        return nd_fail(
            err, ND_EINVAL,
            "%s: short old documents are found in texts whatever their fields: it cannot "
            "be used with against and verify = containment-of-kept",
            grouped);
    return err->status;
}

/* Make a group of each file. */
static bool open_quoted(struct nd_py_against *a, PyObject *names)
{
    bool is_good = true;

    for (size_t i = 0; is_good && i < a->n_old; i++) {
        PyObject *item = PyTuple_GetItem(names, (Py_ssize_t)i);
        const char *name = item ? PyUnicode_AsUTF8AndSize(item, NULL) : NULL;
        uint64_t n = nd_sketch_file_info(a->old[i].file)->documents;

        is_good = name != NULL;
        if (is_good &&
            !nd_quoted_add(&a->quoted, (struct nd_view){name, strlen(name)}, n, &a->old[i].group)) {
            PyErr_NoMemory();
            is_good = false;
        }
    }
    return is_good;
}

/* against_new(recipe, sketch files, keep, (keep column, prefer column, within column), preferred values,
 * never, of each file the numbers of the field `within` and of those of `never`, threads, names of the
 * files if new documents are compared with old ones alone, or None, bytes of memory or 0) */
static PyObject *against_new(PyObject *module, PyObject *args)
{
    PyObject *recipe_capsule, *files, *preferred, *never, *fields, *names, *capsule = NULL;
    const struct nd_recipe *recipe;
    struct nd_py_roles roles;
    struct nd_py_against *a;
    struct nd_error err;
    unsigned long long memory;
    const char *keep;
    unsigned threads;

    if (!PyArg_ParseTuple(args, "OO!s(III)O!O!O!IOK", &recipe_capsule, &PyTuple_Type, &files, &keep,
                          &roles.keep, &roles.prefer, &roles.within, &PyTuple_Type, &preferred,
                          &PyTuple_Type, &never, &PyTuple_Type, &fields, &threads, &names,
                          &memory) ||
        !(recipe = nd_py_recipe(recipe_capsule)))
        return NULL;
    if (names != Py_None && !PyTuple_Check(names)) {
        PyErr_SetString(PyExc_TypeError, "the names of the files must be a tuple or None");
        return NULL;
    }
    a = calloc(1, sizeof *a);
    if (!a)
        return PyErr_NoMemory();
    if (memory) {
        a->budget = nd_budget_divide(memory, threads ? threads : 1);
        a->budget.in_use_before = nd_memory_in_use();
    }
    a->room = calloc(ND_PY_WORKERS_MAX, sizeof *a->room);
    a->recipe = nd_recipe_copy(recipe, &err);
    a->held = Py_BuildValue("[OO]", recipe_capsule, files);
    if (!a->room || !a->recipe || !a->held)
        PyErr_NoMemory();
    else if (nd_py_order_init(module, &a->order, keep, &roles, preferred, never) &&
             take_files(module, a, files) && take_fields(a, fields)) {
        a->is_alone = names != Py_None;
        if (open_short(a, threads, &err) != ND_OK)
            nd_py_raise(module, &err);
        else if (!a->is_alone || open_quoted(a, names))
            capsule = PyCapsule_New(a, ND_PY_AGAINST, free_capsule);
    }
    if (!capsule)
        free_against(a);
    return capsule;
}

struct nd_py_against *nd_py_against_enter(PyObject *capsule, bool is_decided)
{
    struct nd_py_against *a = nd_py_against(capsule);

    if (!a)
        return NULL;
    if (nd_handle_enter(&a->use, ND_CALL_CHANGES, NULL) != ND_OK) {
        PyErr_SetString(PyExc_RuntimeError, "another thread is using it");
        return NULL;
    }
    if (!a->is_broken && a->is_decided == is_decided)
        return a;
    (void)nd_handle_leave(&a->use, ND_CALL_CHANGES);
    PyErr_SetString(PyExc_RuntimeError, a->is_broken    ? "a call has failed before"
                                        : a->is_decided ? "rows were decided already"
                                                        : "rows have not been decided");
    return NULL;
}

void nd_py_against_leave(struct nd_py_against *a)
{
    (void)nd_handle_leave(&a->use, ND_CALL_CHANGES);
}

/* ---- Rows ---- */

/* Measure what is held, where it is bounded, `done` of `all` through (0: not known). */
static enum nd_status check_memory(const struct nd_py_against *a, uint64_t done, uint64_t all,
                                   struct nd_error *err)
{
    return a->budget.total ? nd_budget_check(&a->budget, done, done, all, err) : ND_OK;
}

struct look {
    struct nd_py_against *a;
    const struct nd_py_frame *frame;
    const uint32_t *document; /* of each row of the frame */
};

static void look_for_short(void *context, size_t row, unsigned worker)
{
    const struct look *look = context;
    struct nd_py_against *a = look->a;
    uint32_t document = look->document[row];
    struct nd_short_hit *found;
    uint64_t *files;

    if (document == ND_PY_NONE)
        return;
    found = &a->short_of[document];
    files = a->n_words ? &a->short_files[document * a->n_words] : NULL;
    found->number = ND_PY_NONE;
    if (files)
        memset(files, 0, a->n_words * sizeof *files);
    if (nd_short_texts_find(a->short_texts, worker, look->frame->column[0].value[row], found,
                            files) < 0)
        atomic_store(&a->has_no_memory, true);
}

/* Look for short old documents in the rows that were added last. */
static enum nd_status find_short(struct nd_py_against *a, const struct nd_py_frame *f,
                                 uint64_t first, struct nd_error *err)
{
    struct look look = {.a = a, .frame = f, .document = a->document_of + first};

    if (!a->short_texts)
        return ND_OK;
    if (!ND_RESERVE(a->short_of, &a->short_capacity, a->order.n + 1) ||
        !ND_RESERVE(a->short_files, &a->short_files_capacity, a->order.n * a->n_words + 1))
        return out_of_memory(err);
    nd_pool_run(a->pool, f->n_rows, look_for_short, &look);
    return atomic_load(&a->has_no_memory) ? out_of_memory(err) : ND_OK;
}

static enum nd_status add_rows(struct nd_py_against *a, const struct nd_py_frame *f,
                               struct nd_error *err)
{
    uint64_t first = a->order.n_rows;
    uint32_t document = (uint32_t)a->order.n;
    enum nd_status status = nd_py_order_add(&a->order, f, err);
    uint32_t *grown;

    if (status != ND_OK)
        return status;
    grown = realloc(a->document_of, (a->order.n_rows + 1) * sizeof *grown);
    if (!grown)
        return out_of_memory(err);
    a->document_of = grown;
    for (size_t i = 0; i < f->n_rows; i++)
        grown[first + i] = f->column[0].value[i].data ? document++ : ND_PY_NONE;
    return find_short(a, f, first, err);
}

/* against_add(against, frame): the frame's rows come after those before. */
static PyObject *against_add(PyObject *module, PyObject *args)
{
    PyObject *capsule, *frame_capsule;
    const struct nd_py_frame *f;
    struct nd_py_against *a;
    enum nd_status status;
    struct nd_error err;

    if (!PyArg_ParseTuple(args, "OO", &capsule, &frame_capsule) ||
        !(f = nd_py_frame(frame_capsule)) || !(a = nd_py_against_enter(capsule, false)))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = add_rows(a, f, &err);
    if (status == ND_OK)
        status = check_memory(a, a->order.n, 0, &err);
    Py_END_ALLOW_THREADS;
    a->is_broken = status != ND_OK;
    nd_py_against_leave(a);
    if (status != ND_OK)
        return nd_py_raise(module, &err);
    Py_RETURN_NONE;
}

/* Note where the documents of a block are in their file. */
static enum nd_status list_block(struct nd_py_against *a, const struct nd_sketch_file *file,
                                 uint32_t first_source, const struct nd_sketch_block *block,
                                 struct nd_error *err)
{
    if (!ND_RESERVE(a->place, &a->place_capacity, a->n_places + block->n) ||
        !ND_RESERVE(a->fresh, &a->fresh_capacity, a->n_fresh + 1))
        return out_of_memory(err);
    if (!a->n_fresh || a->fresh[a->n_fresh - 1].file != file)
        a->fresh[a->n_fresh++] =
            (struct nd_py_fresh_file){file, first_source, (uint32_t)a->n_places};
    for (size_t i = 0; i < block->n; i++)
        a->place[a->n_places++] = block->rows[i].place;
    return ND_OK;
}

static enum nd_status add_sketched(struct nd_py_against *a, size_t number,
                                   struct nd_py_sketched_rows *rows, struct nd_error *err)
{
    uint32_t first_source;
    const struct nd_sketch_file *file =
        nd_sketches_file_of(nd_py_sketched_files(a->sketched), number, &number, &first_source);
    enum nd_status status = add_rows(a, &rows->frame, err);

    if (status == ND_OK)
        status = list_block(a, file, first_source, &rows->block, err);
    return status == ND_OK ? check_memory(a, a->order.n, 0, err) : status;
}

/* against_add_sketched(against, sketched): its documents are the rows, in place of those of frames; how
 * many there are. */
static PyObject *against_add_sketched(PyObject *module, PyObject *args)
{
    struct nd_py_sketched_rows rows = {.n_columns = 0};
    PyObject *capsule, *sketched;
    struct nd_py_against *a;
    struct nd_py_sketched *s;
    enum nd_status status = ND_OK;
    struct nd_error err;
    size_t blocks, block;

    if (!PyArg_ParseTuple(args, "OO", &capsule, &sketched) || !(s = nd_py_sketched(sketched)) ||
        !(a = nd_py_against_enter(capsule, false)))
        return NULL;
    a->is_broken = a->order.n_rows || PyList_Append(a->held, sketched) != 0;
    if (a->is_broken && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "rows were added before");
    a->sketched = s;
    blocks = a->is_broken ? 0 : nd_sketches_blocks(nd_py_sketched_files(s));
    for (block = 0; !a->is_broken && block < blocks; block++) {
        Py_BEGIN_ALLOW_THREADS;
        status = nd_py_sketched_read(s, block, &rows, &err);
        if (status == ND_OK)
            status = add_sketched(a, block, &rows, &err);
        Py_END_ALLOW_THREADS;
        if (status != ND_OK)
            nd_py_raise(module, &err);
        a->is_broken = status != ND_OK || !nd_py_report(Py_None, block, blocks);
    }
    nd_py_sketched_rows_release(&rows);
    nd_py_against_leave(a);
    return a->is_broken ? NULL : PyLong_FromUnsignedLongLong(a->order.n_rows);
}

/* ---- Rows of sketch files ---- */

static enum nd_status read_old(const struct nd_py_against *a, const struct nd_seen_row *old,
                               unsigned parts, struct nd_sketch_room *room,
                               struct nd_sketch_row *row, struct nd_error *err)
{
    return nd_sketch_file_read_row(a->old[old->file].file, &old->place, parts, room, row, err);
}

/* Return the file of a new document. */
static const struct nd_py_fresh_file *fresh_of(const struct nd_py_against *a, uint32_t document)
{
    size_t low = 0, high = a->n_fresh;

    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;

        if (a->fresh[middle].first <= document)
            low = middle;
        else
            high = middle;
    }
    return &a->fresh[low];
}

enum nd_status nd_py_against_fresh(const struct nd_py_against *a, uint32_t document, unsigned parts,
                                   struct nd_sketch_room *room, struct nd_sketch_row *row,
                                   struct nd_error *err)
{
    const struct nd_py_fresh_file *of = fresh_of(a, document);
    enum nd_status status =
        nd_sketch_file_read_row(of->file, &a->place[document], parts, room, row, err);

    row->source += of->first_source;
    return status;
}

/* A record of the driver: a row, or behind all rows an old document. */
static enum nd_status read_record(const struct nd_py_against *a, uint32_t record, unsigned parts,
                                  struct nd_sketch_room *room, struct nd_sketch_row *row,
                                  struct nd_error *err)
{
    if (record >= a->order.n_rows)
        return read_old(a, &a->met.item[record - a->order.n_rows], parts, room, row, err);
    return nd_py_against_fresh(a, a->document_of[record], parts, room, row, err);
}

/* A record as a row, or as a document of the files. */
static uint64_t named(const struct nd_py_against *a, uint32_t record)
{
    const struct nd_seen_row *old;

    if (record < a->order.n_rows)
        return record;
    old = &a->met.item[record - a->order.n_rows];
    return ND_PY_SEEN | (a->old[old->file].first + old->number);
}

/* ---- Decisions ---- */

static enum nd_status make(void *context, size_t n, const struct nd_text_source *source,
                           struct nd_dedup **dedup, struct nd_error *err)
{
    struct nd_py_against *a = context;
    struct nd_dedup_params params;

    (void)n;
    if (nd_recipe_params_check(a->recipe, err) != ND_OK)
        return err->status;
    params = nd_recipe_dedup_params(a->recipe);
    params.threads = a->threads;
    params.takes_sketches = params.takes_no_texts = true;
    params.cluster = a->staged.cluster;
    if (a->budget.total)
        params.cache_bytes = a->budget.cache_bytes;
    *dedup = a->dedup = nd_dedup_new_with(&params, source, err);
    return *dedup ? ND_OK : err->status;
}

/* Keep the engine: its counts are read at the end, and then it is freed. */
static void retire(void *context, struct nd_dedup *dedup)
{
    (void)context;
    (void)dedup;
}

static enum nd_status no_text(void *context, uint32_t record, unsigned worker, struct nd_view *text,
                              struct nd_error *err)
{
    (void)context;
    (void)record;
    (void)worker;
    (void)text;
    return nd_fail(err, ND_EINVAL, "a sketch file has no texts");
}

static enum nd_status fetch_shingles(void *context, uint32_t record, unsigned worker,
                                     const uint64_t **shingle, size_t *n, struct nd_error *err)
{
    const struct nd_py_against *a = context;
    struct nd_sketch_row row;
    enum nd_status status = read_record(a, record, ND_SKETCH_FILE_ALL, &a->room[worker], &row, err);

    *shingle = row.shingles;
    *n = row.n_shingles;
    return status;
}

/* Look for signals only. */
static enum nd_status heed_signals(void *context, struct nd_error *err)
{
    struct nd_py_against *a = context;
    PyObject *progress = a->outside.progress;
    enum nd_status status;

    a->outside.progress = Py_None;
    status = nd_py_outside_report(&a->outside, 0, 0, err);
    a->outside.progress = progress;
    return status;
}

static enum nd_status tell(void *context, enum nd_staged_pass pass, uint64_t done, uint64_t total,
                           struct nd_error *err)
{
    return pass == ND_STAGED_ASK ? heed_signals(context, err)
                                 : check_memory(context, done, total, err);
}

/* Progress is that of the new documents. */
static enum nd_status pushed(void *context, uint64_t done, size_t n, struct nd_error *err)
{
    struct nd_py_against *a = context;

    if (done < a->met.n)
        return heed_signals(a, err);
    return nd_py_outside_report(&a->outside, (size_t)(done - a->met.n) + n, a->order.n, err);
}

static enum nd_status removed(void *context, const struct nd_staged_removed *removed,
                              struct nd_error *err)
{
    const struct nd_py_against *a = context;
    const struct nd_py_removed of_rows = {.row = removed->record,
                                          .kept = named(a, removed->kept),
                                          .via = named(a, removed->via),
                                          .decision = removed->decision,
                                          .component = removed->component};

    return nd_py_result_add(a->result, a->recipe, &of_rows) ? ND_OK : out_of_memory(err);
}

/* Note which old documents are kept. */
static enum nd_status old_decided(void *context, uint64_t document,
                                  const struct nd_decision *decision, struct nd_error *err)
{
    struct nd_py_against *a = context;

    if (a->short_texts && decision->kept == document &&
        !nd_kept_rows_add(&a->equal, a->recipe, &a->row[document - a->first]))
        return out_of_memory(err);
    return ND_OK;
}

static struct nd_py_value value_of(const struct nd_sketch_row *row, unsigned field)
{
    struct nd_py_value value;

    value.value = nd_sketch_row_field(row, field, &value.replaced);
    return value;
}

/* With whom an old document is compared.  False: out of memory. */
static bool group_old(struct nd_py_against *a, const struct nd_py_old_file *old,
                      const struct nd_sketch_row *row, uint32_t *group)
{
    struct nd_py_comparable *c = &a->order.comparable;
    struct nd_py_value within = {{NULL, 0}, 0}, never[ND_SKETCH_FIELDS_MAX];

    if (c->within)
        within = value_of(row, old->within);
    for (size_t i = 0; i < c->n_never; i++)
        never[i] = value_of(row, old->never[i]);
    return nd_py_comparable_group_of(c, within, never, group);
}

/* ---- Old documents ---- */

/* Note where the new documents are in a file. */
static enum nd_status list_fresh(struct nd_py_against *a, const struct nd_sketch_file *file,
                                 struct nd_error *err)
{
    struct nd_sketch_block block = {0};
    enum nd_status status = list_block(a, file, 0, &block, err); /* though it may have none */

    for (uint32_t i = 0; status == ND_OK && i < nd_sketch_file_info(file)->blocks; i++) {
        status = nd_sketch_file_read(file, i, ND_SKETCH_FILE_ROWS, &block, err);
        if (status == ND_OK)
            status = list_block(a, file, 0, &block, err);
    }
    nd_sketch_block_release(&block);
    return status;
}

static enum nd_status get_fresh(void *context, uint32_t document, struct nd_sketch_room *room,
                                struct nd_sketch_row *row, struct nd_error *err)
{
    return nd_py_against_fresh(context, document, ND_SKETCH_FILE_ROWS, room, row, err);
}

static enum nd_status find_met(struct nd_py_against *a, struct nd_error *err)
{
    const struct nd_sketch_file **file = nd_alloc_array(a->n_old + 1, sizeof *file);
    struct nd_seen_search what = {.recipe = a->recipe,
                                  .n_fresh = (uint32_t)a->n_places,
                                  .fresh = get_fresh,
                                  .go_on = heed_signals,
                                  .context = a,
                                  .file = file,
                                  .takes_all = a->short_texts != NULL,
                                  .memory_bytes = a->budget.engine_bytes / 2,
                                  .n_files = a->n_old};
    enum nd_status status;

    if (!file)
        return out_of_memory(err);
    for (size_t i = 0; i < a->n_old; i++)
        file[i] = a->old[i].file;
    what.pool = nd_pool_new(a->threads, err);
    status = what.pool ? nd_seen_rows_find(&what, &a->met, err) : err->status;
    nd_pool_free(what.pool);
    free(file);
    return status;
}

/* Find the old documents that matter to the new ones. */
static enum nd_status meet_old(struct nd_py_against *a, struct nd_error *err)
{
    enum nd_status status = find_met(a, err);

    if (status == ND_OK && a->order.n_rows + a->met.n >= ND_PY_NONE)
        status = nd_fail(err, ND_EUNSUPPORTED, "more than %u rows and old documents", ND_PY_NONE);
    return status;
}

/* ---- What is pushed ---- */

static enum nd_status load_one(struct nd_py_against *a, uint32_t record, uint64_t document,
                               size_t i, struct nd_error *err)
{
    struct nd_dedup_item *item = &a->item[i];
    enum nd_status status = read_record(a, record, parts_of(a), &a->row_room[i], &a->row[i], err);

    *item = (struct nd_dedup_item){.sketched = &a->row[i]};
    if (status != ND_OK)
        return status;
    if (document >= a->met.n)
        item->group = a->order.group ? a->order.group[document - a->met.n] : 0;
    else if (!group_old(a, &a->old[a->met.item[document].file], &a->row[i], &item->group))
        return out_of_memory(err);
    return ND_OK;
}

static enum nd_status load(void *context, enum nd_staged_pass pass, uint64_t first,
                           const uint32_t *record, size_t n, const struct nd_dedup_item **items,
                           size_t *n_items, struct nd_error *err)
{
    struct nd_py_against *a = context;
    enum nd_status status = ND_OK;

    (void)pass;
    a->first = first;
    *items = a->item;
    *n_items = n < ND_PY_PUSHED_MAX ? n : ND_PY_PUSHED_MAX;
    for (size_t i = 0; status == ND_OK && i < *n_items; i++)
        status = load_one(a, record[i], first + i, i, err);
    return status;
}

/* Return the short old document that a row contains; NULL: none. */
static const struct nd_short_hit *short_hit(const struct nd_py_against *a, uint32_t row)
{
    const struct nd_short_hit *hit = a->short_texts ? &a->short_of[a->document_of[row]] : NULL;

    return hit && hit->number != ND_PY_NONE ? hit : NULL;
}

/* A row that equals a kept old document is its copy. */
static enum nd_status contains_short(void *context, uint32_t row, struct nd_decision *decision,
                                     bool *found, struct nd_error *err)
{
    struct nd_py_against *a = context;
    const struct nd_short_hit *hit = short_hit(a, row);
    enum nd_status status;

    *found = false;
    if (!hit)
        return ND_OK;
    status = nd_py_against_fresh(a, a->document_of[row], ND_SKETCH_FILE_ROWS, &a->row_room[0],
                                 &a->row[0], err);
    if (status != ND_OK || nd_kept_rows_equal(&a->equal, a->recipe, &a->row[0]))
        return status;
    *found = true;
    *decision = nd_short_hit_decision(hit, hit->number);
    return ND_OK;
}

/* Remember what was counted of the old documents: the rest is that of the new ones. */
static void old_pushed(void *context)
{
    struct nd_py_against *a = context;

    nd_dedup_get_stats(a->dedup, &a->counted_old);
    a->order.n = a->staged.n_order;
}

/* Count a row once for each file, whatever it matches there. */
static void matched(void *context, uint32_t row, const uint64_t *old, size_t n)
{
    struct nd_py_against *a = context;
    const uint64_t *files =
        short_hit(a, row) ? &a->short_files[a->document_of[row] * a->n_words] : NULL;

    for (size_t i = 0; i < n; i++)
        nd_quoted_count(&a->quoted, a->old[a->met.item[old[i]].file].group, row);
    for (size_t i = 0; files && i < a->n_old; i++)
        if (files[i / 64] >> i % 64 & 1)
            nd_quoted_count(&a->quoted, a->old[i].group, row);
}

/* ---- The whole ---- */

/* Make the engine, and sort the rows.  False: an exception is set. */
static bool begin(PyObject *module, struct nd_py_against *a)
{
    static const struct nd_staged_owner owner = {.make = make,
                                                 .retire = retire,
                                                 .load = load,
                                                 .fetch = no_text,
                                                 .fetch_shingles = fetch_shingles,
                                                 .removed = removed,
                                                 .old_decided = old_decided,
                                                 .old_pushed = old_pushed,
                                                 .find_short = contains_short,
                                                 .matched = matched,
                                                 .tell = tell,
                                                 .pushed = pushed};
    struct nd_error err;

    a->staged =
        (struct nd_staged){.owner = &owner,
                           .context = a,
                           .recipe = a->recipe,
                           .cluster = a->is_alone ? ND_CLUSTER_PAIRS : a->recipe->dedup.cluster,
                           .n_records = a->order.n_rows,
                           .is_ordered = true,
                           .only_old = a->is_alone};
    if (nd_staged_open(&a->staged, &err) != ND_OK) {
        nd_py_raise(module, &err);
        return false;
    }
    a->result = nd_py_result_new(a->order.n_rows, 0, a->recipe);
    if (!a->result || !nd_py_order_settle(&a->order))
        PyErr_NoMemory();
    return !PyErr_Occurred();
}

/* Without the GIL. */
static enum nd_status run(struct nd_py_against *a, const struct nd_sketch_file *fresh,
                          struct nd_error *err)
{
    enum nd_status status = fresh ? list_fresh(a, fresh, err) : ND_OK;

    if (status == ND_OK)
        status = meet_old(a, err);

    a->staged.order = a->order.row;
    a->staged.n_order = a->order.n;
    a->staged.n_old = a->met.n;
    return status == ND_OK ? nd_staged_run(&a->staged, err) : status;
}

/* Count the new documents alone. */
static void count(struct nd_py_against *a, uint64_t n_documents, uint32_t n_never)
{
    const struct nd_dedup_stats *old = &a->counted_old;
    struct nd_dedup_stats *s = &a->result->stats, pushed;

    nd_dedup_get_stats(a->dedup, &pushed);
    *s = a->staged.streamed.judged;
    nd_dedup_stats_add(s, &pushed);
    nd_dedup_stats_leave_out(s, old);
    s->bytes -= old->bytes;
    a->result->n_pushed = n_documents;
    a->result->n_never = n_never;
}

static bool decide(PyObject *module, struct nd_py_against *a, const struct nd_sketch_file *fresh,
                   PyObject *progress)
{
    uint32_t n_never = a->order.comparable.n_alone; /* of new documents: no old one was seen yet */
    uint64_t n_documents = a->order.n;
    bool is_good = begin(module, a);
    struct nd_error err;

    if (is_good) {
        enum nd_status status;

        a->outside = (struct nd_py_outside){PyEval_SaveThread(), progress};
        status = run(a, fresh, &err);
        is_good = nd_py_outside_end(module, &a->outside, status, &err);
    }
    if (is_good && a->order.keep.by == ND_KEEP_NONE && !nd_py_result_remove_leaders(a->result)) {
        PyErr_NoMemory();
        is_good = false;
    }
    if (is_good)
        count(a, n_documents, n_never);
    nd_staged_release(&a->staged);
    nd_dedup_free(a->dedup);
    a->dedup = NULL;
    return is_good;
}

/* Whether a file holds the rows that were added.  False: an exception is set. */
static bool is_of_rows(PyObject *module, const struct nd_py_against *a,
                       const struct nd_sketch_file *file)
{
    struct nd_error err;

    if (!file)
        return false;
    if (check_file(a, file, &err) != ND_OK) {
        nd_py_raise(module, &err);
        return false;
    }
    if (nd_sketch_file_info(file)->documents == a->order.n)
        return true;
    PyErr_SetString(PyExc_ValueError, "the file is not of these rows");
    return false;
}

/* against_decide(against, sketch file of the rows that have a text, or None where they came as
 * sketches, threads, progress): a result. */
static PyObject *against_decide(PyObject *module, PyObject *args)
{
    PyObject *capsule, *file, *progress, *result = NULL;
    const struct nd_sketch_file *fresh = NULL;
    struct nd_py_against *a;
    unsigned threads;

    if (!PyArg_ParseTuple(args, "OOIO", &capsule, &file, &threads, &progress) ||
        !(a = nd_py_against_enter(capsule, false)))
        return NULL;
    a->is_broken = true;
    a->threads = threads;
    if ((a->sketched && file == Py_None) || is_of_rows(module, a, fresh = nd_py_sketch_file(file)))
        if (PyList_Append(a->held, file) == 0 && decide(module, a, fresh, progress)) {
            result = nd_py_result_capsule(a->result);
            a->result = NULL;
            a->is_broken = result == NULL;
        }
    a->is_decided = !a->is_broken;
    nd_py_against_leave(a);
    return result;
}

/* ---- What the evidence says ---- */

struct nd_sketch_source nd_py_against_source(const struct nd_py_against *a, uint32_t number)
{
    const struct nd_source *source;

    if (!a->sketched)
        return *nd_sketch_file_source(a->fresh[0].file, number);
    source = nd_sketches_source(nd_py_sketched_files(a->sketched), number);
    return (struct nd_sketch_source){source->path, source->entry, source->bytes_hash,
                                     source->records};
}

enum nd_status nd_py_against_row(struct nd_py_against *a, uint64_t row, unsigned room,
                                 struct nd_name *id, struct nd_at *at, bool *has_text,
                                 struct nd_error *err)
{
    uint32_t document = a->is_decided && row < a->order.n_rows ? a->document_of[row] : ND_PY_NONE;
    struct nd_sketch_row read;
    enum nd_status status;

    *has_text = document != ND_PY_NONE;
    if (document == ND_PY_NONE)
        return ND_OK;
    status = nd_py_against_fresh(a, document, ND_SKETCH_FILE_ROWS, &a->name_room[room], &read, err);
    if (status == ND_OK && read.id_kind != ND_ID_NONE)
        *id = (struct nd_name){read.id_kind, read.id};
    if (status == ND_OK && a->sketched) {
        const struct nd_sketch_source source = nd_py_against_source(a, read.source);

        *at = (struct nd_at){source.path, source.entry, read.line};
    }
    return status;
}

static struct nd_view view_at(const void *context, size_t i)
{
    return ((const struct nd_view *)context)[i];
}

/* The ids of removed rows, or of the rows kept for them. */
static PyObject *read_ids(PyObject *module, struct nd_py_against *a, const struct nd_py_result *r,
                          bool are_kept)
{
    struct nd_view *id = nd_alloc_array(r->n_removals + 1, sizeof *id);
    struct nd_arena room = {0};
    enum nd_status status = ND_OK;
    PyObject *column = NULL;
    struct nd_error err;

    for (size_t i = 0; id && status == ND_OK && i < r->n_removals; i++) {
        uint64_t row = are_kept ? r->removal[i].kept : r->removal[i].row;
        struct nd_name name = {ND_ID_NONE, {NULL, 0}};
        struct nd_at at;
        bool has_text;

        if (row < a->order.n_rows)
            status = nd_py_against_row(a, row, 0, &name, &at, &has_text, &err);
        id[i] = name.text;
        if (status == ND_OK && name.text.data &&
            !(id[i].data = nd_arena_copy(&room, name.text.data, name.text.len)))
            status = out_of_memory(&err);
    }
    if (!id)
        PyErr_NoMemory();
    else if (status != ND_OK)
        nd_py_raise(module, &err);
    else
        column = nd_py_text_column(are_kept ? "kept_id" : "id", r->n_removals, view_at, id);
    nd_arena_release(&room);
    free(id);
    return column;
}

/* against_ids(against, result): two columns, the ids of removed rows and of those kept. */
static PyObject *against_ids(PyObject *module, PyObject *args)
{
    PyObject *capsule, *result_capsule, *removed, *kept = NULL;
    const struct nd_py_result *r;
    struct nd_py_against *a;

    if (!PyArg_ParseTuple(args, "OO", &capsule, &result_capsule) ||
        !(r = nd_py_result(result_capsule)) || !(a = nd_py_against_enter(capsule, true)))
        return NULL;
    removed = read_ids(module, a, r, false);
    if (removed)
        kept = read_ids(module, a, r, true);
    nd_py_against_leave(a);
    return kept ? Py_BuildValue("NN", removed, kept) : (Py_XDECREF(removed), NULL);
}

/* A document by its number among all old ones; NULL: it was not met. */
static const struct nd_seen_row *find_old(const struct nd_py_against *a, uint64_t number)
{
    size_t low = 0, high = a->met.n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct nd_seen_row *old = &a->met.item[middle];
        uint64_t at = a->old[old->file].first + old->number;

        if (at == number)
            return old;
        if (at < number)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

enum nd_status nd_py_against_party(struct nd_py_against *a, uint64_t document, unsigned room,
                                   struct nd_json *scratch, struct nd_party *party,
                                   struct nd_error *err)
{
    const struct nd_seen_row *old = a->is_decided ? find_old(a, document) : NULL;
    const struct nd_sketch_source *source;
    struct nd_sketch_row row;
    enum nd_status status;

    if (!old)
        return nd_fail(err, ND_EINVAL, "there is no such document");
    status = read_old(a, old, ND_SKETCH_FILE_ROWS, &a->name_room[room], &row, err);
    if (status != ND_OK)
        return status;
    source = nd_sketch_file_source(a->old[old->file].file, row.source);
    party->at = (struct nd_at){source->path, source->entry, row.line};
    party->name = nd_name_at(row.id, row.id_kind, &party->at, scratch);
    return ND_OK;
}

enum nd_status nd_py_against_passage(struct nd_py_against *a, uint64_t document,
                                     struct nd_view text, struct nd_row_passage *passage,
                                     struct nd_error *err)
{
    const struct nd_seen_row *old = a->is_decided ? find_old(a, document) : NULL;
    struct nd_sketch_row row;
    enum nd_status status;

    if (!old)
        return nd_fail(err, ND_EINVAL, "there is no such document");
    status = read_old(a, old, ND_SKETCH_FILE_ALL, &a->row_room[0], &row, err);
    return status == ND_OK ? nd_copied_passage(a->recipe, &row, text, passage, err) : status;
}

bool nd_py_against_has_old(const struct nd_py_against *a)
{
    return a->n_old > 0;
}

void nd_py_against_count(const struct nd_py_against *a, struct nd_run_summary *summary)
{
    summary->seen_documents = a->n_seen;
    summary->seen_met = a->met.n;
    nd_quoted_summarise(&a->quoted, summary);
}

/* against_quoted(against): of each file the name, its documents, and how many rows match one of them. */
static PyObject *against_quoted(PyObject *module, PyObject *capsule)
{
    struct nd_py_against *a = nd_py_against_enter(capsule, true);
    PyObject *list = a ? PyList_New(0) : NULL;

    (void)module;
    for (size_t i = 0; list && i < a->quoted.n; i++) {
        const struct nd_quoted_group *group = &a->quoted.item[i];
        const struct nd_view *name = &a->quoted.groups.value[i];
        PyObject *one = Py_BuildValue("s#KK", name->data, (Py_ssize_t)name->len,
                                      (unsigned long long)group->prototypes,
                                      (unsigned long long)group->documents);

        if (!one || PyList_Append(list, one) < 0) {
            Py_DECREF(list);
            list = NULL;
        }
        Py_XDECREF(one);
    }
    if (a)
        nd_py_against_leave(a);
    return list;
}

ND_PY_READS_FRAME(against_add, 1)

PyMethodDef nd_py_against_functions[] = {
    {"against_new", against_new, METH_VARARGS, "Rows after the documents of sketch files."},
    {"against_add", against_add_reading, METH_VARARGS, "Add the rows of a frame."},
    {"against_add_sketched", against_add_sketched, METH_VARARGS, "Add documents of sketch files."},
    {"against_decide", against_decide, METH_VARARGS, "Decide about all rows."},
    {"against_ids", against_ids, METH_VARARGS, "The ids of removed rows, and of those kept."},
    {"against_quoted", against_quoted, METH_O, "How many rows match something of each file."},
    {NULL, NULL, 0, NULL},
};
