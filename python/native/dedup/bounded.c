/*
 * bounded.c - rows decided in bounded memory: they wait in files, and an engine gets some at a time
 *
 *     add      the texts, ids and fields of a row go to a file (spooled_texts.c), its place in the
 *     keep order to
 *              another
 *     decide   in loads, where one engine has not room for all (frame_dedup.c); what is removed is
 *     sorted by
 *              row into a file
 *     result   of some rows at a time, in the order in which they came, as often as wanted
 *
 * The result is that of one engine which has them all.  In memory are 6 bytes a row, whoever writes
 * the evidence included; 10 where keep is none.
 */
#include "dedup/bounded.h"
#include "dedup/frame_dedup.h"

#include <neardup/size.h>

#include "base/file/external_sort.h"
#include "base/file/spool.h"
#include "base/thread/handle.h"
#include "evidence/counts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CAPSULE "neardup.bounded"

/* Bytes a row: of a mask and of sizes of clusters, and one more; of `members`. */
enum { PART_ROWS = 1 << 15, BYTES_A_ROW = 6, BYTES_A_MEMBER = 4 };

/* A row's place in the keep order. */
struct record {
    uint64_t key;
    uint32_t prefer, has_text;
};

/* The removal of a row; its agreements follow. */
struct decided {
    uint64_t row;
    struct nd_py_removal removal;
};

struct bounded_rows {
    struct nd_recipe *recipe;
    PyObject *recipe_capsule; /* which holds its df tables */
    struct nd_handle use;     /* by one call at a time */
    bool is_broken, is_decided;
    unsigned threads;
    char *folder;
    struct nd_budget budget;

    struct nd_py_order order; /* only what it needs to rank a row */
    struct nd_py_fields fields;
    struct nd_py_texts *texts;
    unsigned columns[ND_PY_FIRST_FIELD + ND_PY_FIELDS_MAX];
    struct nd_spool *records;
    uint64_t n_rows, n_documents, text_bytes;

    struct nd_external_sort *removals;
    size_t decided_bytes;
    unsigned char *decided_row; /* one, as it is made */
    uint32_t *members;          /* where keep is none: rows removed for each row */
    struct nd_spool *decided;   /* all of them, by row */
    uint64_t *part;             /* how many stand before those of each part, and of all */
    size_t n_parts;

    struct nd_dedup_stats stats;
    uint64_t measured[ND_MEASURED];
    uint64_t spilled, n_loads;
    struct nd_buffer buffer;
};

static enum nd_status out_of_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

static void free_bounded(struct bounded_rows *b)
{
    nd_py_order_release(&b->order);
    nd_py_fields_release(&b->fields);
    nd_py_texts_free(b->texts);
    nd_spool_free(b->records);

    nd_external_sort_free(b->removals);
    nd_spool_free(b->decided);
    nd_buffer_release(&b->buffer);
    nd_recipe_free(b->recipe);
    Py_XDECREF(b->recipe_capsule);
    free(b->decided_row);
    free(b->members);
    free(b->part);
    free(b->folder);
    free(b);
}

static void free_capsule(PyObject *capsule)
{
    free_bounded(PyCapsule_GetPointer(capsule, CAPSULE));
}

const struct nd_py_texts *nd_py_bounded_texts(PyObject *capsule)
{
    const struct bounded_rows *b = PyCapsule_GetPointer(capsule, CAPSULE);

    return b ? b->texts : NULL;
}

/* ---- A new one ---- */

/* An engine without a document, which says whether the parameters are fine. */
static enum nd_status try_engine(struct bounded_rows *b, struct nd_error *err)
{
    struct nd_dedup_options options = nd_dedup_options_default();
    struct nd_dedup *dedup;

    options.threads = 1;
    dedup = nd_dedup_new(b->recipe, &options, err);
    if (!dedup)
        return err->status;
    nd_dedup_get_stats(dedup, &b->stats);
    nd_dedup_free(dedup);
    return ND_OK;
}

static enum nd_status open_files(struct bounded_rows *b, struct nd_error *err)
{
    const struct nd_external_sort_options sort = {.tmp = b->folder,
                                                  .record_bytes = b->decided_bytes,
                                                  .memory_bytes = b->budget.sort_bytes / 2};

    b->texts = nd_py_texts_new(ND_PY_FIRST_FIELD + b->fields.n, b->folder, true, err);
    if (!b->texts)
        return err->status;
    b->records = nd_spool_new(b->folder, err);
    b->decided = b->records ? nd_spool_new(b->folder, err) : NULL;
    if (!b->decided)
        return err->status;
    b->removals = nd_external_sort_new(&sort, err);
    return b->removals ? ND_OK : ND_ENOMEM;
}

static enum nd_status open_bounded(struct bounded_rows *b, const struct nd_recipe *recipe,
                                   uint64_t memory, const char *folder, struct nd_error *err)
{
    enum nd_status status;

    b->recipe = nd_recipe_copy(recipe, err);
    b->folder = strdup(folder);
    if (!b->recipe || !b->folder)
        return out_of_memory(err);
    b->decided_bytes =
        sizeof(struct decided) + b->recipe->method.n_signatures * sizeof(struct nd_agreement);
    b->decided_row = malloc(b->decided_bytes);
    if (!b->decided_row)
        return out_of_memory(err);
    b->budget = nd_budget_divide(memory, b->threads);
    status = try_engine(b, err);
    return status == ND_OK ? open_files(b, err) : status;
}

/* memory_parse(text): bytes, as the option of the command says them: "2G". */
static PyObject *memory_parse(PyObject *module, PyObject *text)
{
    const char *words = PyUnicode_AsUTF8AndSize(text, NULL);
    struct nd_error err;
    uint64_t total;

    if (!words)
        return NULL;
    if (nd_budget_parse(words, &total, &err) != ND_OK)
        return nd_py_raise(module, &err);
    return PyLong_FromUnsignedLongLong(total);
}

/* size_parse(argument, text): bytes, from 0 on, as options of the command say them. */
static PyObject *size_parse(PyObject *module, PyObject *args)
{
    const char *name, *words;
    struct nd_error err;
    uint64_t bytes;

    if (!PyArg_ParseTuple(args, "ss", &name, &words))
        return NULL;
    if (nd_size_parse(words, &bytes, NULL) == ND_OK)
        return PyLong_FromUnsignedLongLong(bytes);
    (void)nd_fail(&err, ND_EINVAL, "%.40s: '%.100s' is not a number of bytes such as 500M or 2G",
                  name, words);
    return nd_py_raise(module, &err);
}

/*
 * bounded_new(recipe, threads, memory, folder, keep, (keep column, prefer column, within column),
 * preferred values, never, fields, id column): at most so many bytes of memory, and files in the folder.
 */
static PyObject *bounded_new(PyObject *module, PyObject *args)
{
    PyObject *recipe_capsule, *preferred, *never, *fields, *capsule = NULL;
    const char *folder, *keep;
    unsigned long long memory;
    const struct nd_recipe *recipe;
    struct nd_py_roles roles;
    struct nd_error err;
    struct bounded_rows *b;
    unsigned threads, id;

    if (!PyArg_ParseTuple(args, "OIKss(III)O!O!O!I", &recipe_capsule, &threads, &memory, &folder,
                          &keep, &roles.keep, &roles.prefer, &roles.within, &PyTuple_Type,
                          &preferred, &PyTuple_Type, &never, &PyTuple_Type, &fields, &id) ||
        !(recipe = nd_py_recipe(recipe_capsule)))
        return NULL;
    b = calloc(1, sizeof *b);
    if (!b)
        return PyErr_NoMemory();
    b->recipe_capsule = Py_NewRef(recipe_capsule);
    b->threads = threads;
    if (nd_py_order_init(module, &b->order, keep, &roles, preferred, never) &&
        nd_py_fields_init(&b->fields, fields)) {
        b->columns[ND_PY_ID] = id ? id : ND_PY_NO_COLUMN;
        for (size_t i = 0; i < b->fields.n; i++)
            b->columns[ND_PY_FIRST_FIELD + i] = b->fields.column[i];
        if (open_bounded(b, recipe, memory, folder, &err) == ND_OK)
            capsule = PyCapsule_New(b, CAPSULE, free_capsule);
        else
            nd_py_raise(module, &err);
    }
    if (!capsule)
        free_bounded(b);
    return capsule;
}

/* Begin a call, of which there is one at a time.  NULL: an exception is set. */
static struct bounded_rows *enter(PyObject *capsule, bool is_decided)
{
    struct bounded_rows *b = PyCapsule_GetPointer(capsule, CAPSULE);

    if (!b)
        return NULL;
    if (nd_handle_enter(&b->use, ND_CALL_CHANGES, NULL) != ND_OK) {
        PyErr_SetString(PyExc_RuntimeError, "another thread is using it");
        return NULL;
    }
    if (!b->is_broken && b->is_decided == is_decided)
        return b;
    (void)nd_handle_leave(&b->use, ND_CALL_CHANGES);
    PyErr_SetString(PyExc_RuntimeError, b->is_broken    ? "a call has failed before"
                                        : b->is_decided ? "rows were decided already"
                                                        : "rows have not been decided");
    return NULL;
}

static void leave(struct bounded_rows *b)
{
    (void)nd_handle_leave(&b->use, ND_CALL_CHANGES);
}

/* ---- Rows ---- */

static enum nd_status check_length(const struct bounded_rows *b, uint64_t row, struct nd_view text,
                                   struct nd_error *err)
{
    char need[ND_BUDGET_TEXT];

    if (text.len <= b->budget.record_bytes)
        return ND_OK;
    return nd_fail(err, ND_ENOMEM, "memory: row %" PRIu64 ", of %zu bytes, needs %s", row, text.len,
                   nd_budget_text(nd_budget_for_record(text.len, b->threads), need));
}

static enum nd_status add_row(struct bounded_rows *b, const struct nd_py_frame *f, size_t at,
                              struct nd_error *err)
{
    struct nd_view text = f->column[0].value[at];
    struct nd_offer offer = {0};
    struct record record = {.has_text = text.data != NULL};
    uint32_t group = 0;
    enum nd_status status = check_length(b, b->n_rows, text, err);

    if (status == ND_OK && b->n_rows == UINT32_MAX - 1)
        status = nd_fail(err, ND_EUNSUPPORTED, "more than %u rows", UINT32_MAX - 1);
    if (status == ND_OK && text.data &&
        !nd_py_order_rank(&b->order, f, at, (uint32_t)b->n_rows, &offer, &group))
        status = out_of_memory(err);
    record.key = offer.key;
    record.prefer = offer.prefer;
    if (status == ND_OK)
        status = nd_py_texts_add(b->texts, b->n_rows, f, at, b->columns, group, err);
    if (status == ND_OK)
        status = nd_spool_append(b->records, &record, sizeof record, NULL, err);
    b->n_rows++;
    b->n_documents += record.has_text;
    b->text_bytes += text.len;
    return status;
}

/* Check what memory has to hold of all rows. */
static enum nd_status check_sizes(const struct bounded_rows *b, struct nd_error *err)
{
    uint64_t within = nd_groups_bytes(&b->order.comparable.values), rough = b->order.rough.bytes;
    uint64_t each = BYTES_A_ROW + (b->order.keep.by == ND_KEEP_NONE ? BYTES_A_MEMBER : 0);
    uint64_t arrays = (b->n_rows + 64) * each;
    char need[ND_BUDGET_TEXT];

    if (within + rough > b->budget.key_bytes)
        return nd_fail(
            err, ND_ENOMEM,
            "memory: after %" PRIu64 " rows, the values of %s take %" PRIu64
            " bytes: more than %s is needed",
            b->n_rows, within > rough ? "within" : "keep", within + rough,
            nd_budget_text(b->budget.total / b->budget.key_bytes * (within + rough), need));
    if (arrays > b->budget.array_bytes)
        return nd_fail(err, ND_ENOMEM, "memory: %" PRIu64 " rows need at least %s", b->n_rows,
                       nd_budget_text(nd_budget_for_arrays(arrays), need));
    return ND_OK;
}

static enum nd_status add_frame(struct bounded_rows *b, const struct nd_py_frame *f,
                                struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < f->n_rows; i++)
        status = add_row(b, f, i, err);
    return status == ND_OK ? check_sizes(b, err) : status;
}

static bool fits(const struct bounded_rows *b, const struct nd_py_frame *f)
{
    if (!nd_py_fields_fit(&b->fields, f))
        return false;
    if (nd_py_order_fits(&b->order, f) &&
        (b->columns[ND_PY_ID] == ND_PY_NO_COLUMN || b->columns[ND_PY_ID] < f->n_columns))
        return true;
    PyErr_SetString(PyExc_ValueError, "the frame has not all columns");
    return false;
}

/* bounded_add(bounded, frame): the frame's rows come after those before. */
static PyObject *bounded_add(PyObject *module, PyObject *args)
{
    PyObject *capsule, *frame_capsule;
    const struct nd_py_frame *f;
    enum nd_status status;
    struct nd_error err;
    struct bounded_rows *b;

    if (!PyArg_ParseTuple(args, "OO", &capsule, &frame_capsule) ||
        !(f = nd_py_frame(frame_capsule)) || !(b = enter(capsule, false)))
        return NULL;
    if (!fits(b, f)) {
        leave(b);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    status = add_frame(b, f, &err);
    Py_END_ALLOW_THREADS;
    b->is_broken = status != ND_OK;
    leave(b);
    if (status != ND_OK)
        return nd_py_raise(module, &err);
    Py_RETURN_NONE;
}

/* ---- Decisions ---- */

static bool raise_status(PyObject *module, enum nd_status status, const struct nd_error *err)
{
    if (status != ND_OK)
        nd_py_raise(module, err);
    return status == ND_OK;
}

static enum nd_status offer(void *context, uint32_t from, size_t n, struct nd_offer *offer,
                            bool *is_document, struct nd_error *err)
{
    struct bounded_rows *b = context;
    struct record record;
    enum nd_status status =
        nd_spool_read(b->records, from * sizeof record, n * sizeof record, &b->buffer, err);

    for (size_t i = 0; status == ND_OK && i < n; i++) {
        memcpy(&record, b->buffer.data + i * sizeof record, sizeof record);
        is_document[i] = record.has_text;
        offer[i] = (struct nd_offer){
            .key = record.key, .prefer = record.prefer, .record = from + (uint32_t)i};
    }
    return status;
}

/* agreement NULL: there is none. */
static enum nd_status add_removal(struct bounded_rows *b, const struct nd_py_removal *removal,
                                  const struct nd_agreement *agreement, struct nd_error *err)
{
    const struct decided decided = {removal->row, *removal};
    size_t bytes = b->decided_bytes - sizeof decided;

    memcpy(b->decided_row, &decided, sizeof decided);
    memset(b->decided_row + sizeof decided, 0, bytes);
    if (agreement)
        memcpy(b->decided_row + sizeof decided, agreement, bytes);
    return nd_external_sort_add(b->removals, b->decided_row, err);
}

static enum nd_status note_removed(void *context, const struct nd_py_removed *removed,
                                   struct nd_error *err)
{
    struct bounded_rows *b = context;
    const struct nd_py_removal removal = nd_py_removal_of(removed);

    nd_py_removed_count(b->measured, b->recipe, removed);
    if (b->members)
        b->members[removal.kept]++;
    return add_removal(b, &removal, removed->decision->agreement, err);
}

/* Remove those, too, for which others were removed. */
static enum nd_status remove_leaders(struct bounded_rows *b, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (uint64_t row = 0; status == ND_OK && b->members && row < b->n_rows; row++) {
        const struct nd_py_removal removal = nd_py_removal_of_leader(row);

        if (b->members[row])
            status = add_removal(b, &removal, NULL, err);
    }
    return status;
}

static bool decide_loads(PyObject *module, struct bounded_rows *b, PyObject *progress)
{
    struct nd_py_divided divided = {.budget = &b->budget,
                                    .keep = &b->order.keep,
                                    .rough = &b->order.rough,
                                    .folder = b->folder,
                                    .n_rows = b->n_rows,
                                    .n_documents = b->n_documents,
                                    .offer = offer,
                                    .context = b};
    const struct nd_py_run run = {.recipe = b->recipe,
                                  .texts = b->texts,
                                  .divided = &divided,
                                  .fields = &b->fields,
                                  .threads = b->threads,
                                  .cache_bytes = b->budget.cache_bytes,
                                  .slice_bytes = b->budget.batch_bytes,
                                  .removed = note_removed,
                                  .context = b};
    bool is_good = nd_py_decide(module, &run, progress, &b->stats);

    b->spilled += divided.spilled;
    b->n_loads = divided.n_loads;
    return is_good;
}

/* Write what was removed by row, and how many of them stand before each part. */
static enum nd_status file_removals(struct bounded_rows *b, struct nd_error *err)
{
    uint64_t n = 0, row = 0;
    const void *next;
    size_t parts = 0;
    int got;

    b->n_parts = b->n_rows ? (size_t)((b->n_rows - 1) / PART_ROWS) + 1 : 1;
    b->part = nd_alloc_array(b->n_parts + 1, sizeof *b->part);
    if (!b->part)
        return out_of_memory(err);
    while ((got = nd_external_sort_next(b->removals, &next, err)) > 0) {
        memcpy(&row, next, sizeof row);
        while (parts <= row / PART_ROWS)
            b->part[parts++] = n;
        if (nd_spool_append(b->decided, next, b->decided_bytes, NULL, err) != ND_OK)
            return err->status;
        n++;
    }
    while (parts <= b->n_parts)
        b->part[parts++] = n;
    b->spilled += nd_external_sort_spilled(b->removals);
    nd_external_sort_free(b->removals);
    b->removals = NULL;
    return got < 0 ? (enum nd_status)got : ND_OK;
}

static bool decide(PyObject *module, struct bounded_rows *b, PyObject *progress)
{
    enum nd_status status;
    struct nd_error err;

    if (b->order.keep.by == ND_KEEP_NONE &&
        !(b->members = calloc((size_t)b->n_rows + 1, sizeof *b->members))) {
        PyErr_NoMemory();
        return false;
    }
    if (!decide_loads(module, b, progress))
        return false;
    Py_BEGIN_ALLOW_THREADS;
    status = remove_leaders(b, &err);
    free(b->members);
    b->members = NULL;
    if (status == ND_OK)
        status = file_removals(b, &err);
    Py_END_ALLOW_THREADS;
    return raise_status(module, status, &err);
}

/* bounded_decide(bounded, progress): all rows have been added; in how many parts their results are. */
static PyObject *bounded_decide(PyObject *module, PyObject *args)
{
    PyObject *capsule, *progress;
    struct bounded_rows *b;

    if (!PyArg_ParseTuple(args, "OO", &capsule, &progress) || !(b = enter(capsule, false)))
        return NULL;
    b->is_broken = !decide(module, b, progress);
    b->is_decided = !b->is_broken;
    b->stats.bytes = b->text_bytes; /* also of those that no engine got */
    leave(b);
    return b->is_broken ? NULL : PyLong_FromSize_t(b->n_parts);
}

/* ---- Results ---- */

/* The removals of a part, into its result. */
static enum nd_status read_part(struct bounded_rows *b, size_t part, struct nd_py_result *result,
                                struct nd_error *err)
{
    uint64_t from = b->part[part], n = b->part[part + 1] - from;
    enum nd_status status = nd_spool_read(b->decided, from * b->decided_bytes,
                                          (size_t)n * b->decided_bytes, &b->buffer, err);

    for (uint64_t i = 0; status == ND_OK && i < n; i++) {
        struct nd_agreement agreement[ND_RECIPE_SIGNATURES];
        struct decided decided;

        memcpy(&decided, b->buffer.data + i * b->decided_bytes, sizeof decided);
        memcpy(agreement, b->buffer.data + i * b->decided_bytes + sizeof decided,
               b->decided_bytes - sizeof decided);
        if (!nd_py_result_put(result, &decided.removal, agreement))
            status = out_of_memory(err);
    }
    return status;
}

/* The result of n parts from this one on. */
static PyObject *make_result(PyObject *module, struct bounded_rows *b, size_t part, size_t n)
{
    uint64_t first = (uint64_t)part * PART_ROWS, rows = (uint64_t)n * PART_ROWS;
    struct nd_py_result *result;
    enum nd_status status = ND_OK;
    struct nd_error err;

    if (rows > b->n_rows - first)
        rows = b->n_rows - first;
    result = nd_py_result_new((size_t)rows, first, b->recipe);
    if (!result)
        return PyErr_NoMemory();
    for (size_t i = 0; status == ND_OK && i < n; i++)
        status = read_part(b, part + i, result, &err);
    if (status != ND_OK) {
        nd_py_result_free(result);
        return nd_py_raise(module, &err);
    }
    result->n_all = b->n_rows;
    result->n_pushed = b->n_documents;
    result->n_never = b->order.comparable.n_alone;
    result->stats = b->stats;
    if (part + n == b->n_parts)
        memcpy(result->measured, b->measured, sizeof b->measured);
    return nd_py_result_capsule(result);
}

/* bounded_result(bounded, part): what became of the rows of a part; -1: of all. */
static PyObject *bounded_result(PyObject *module, PyObject *args)
{
    PyObject *capsule, *result;
    struct bounded_rows *b;
    Py_ssize_t part;

    if (!PyArg_ParseTuple(args, "On", &capsule, &part) || !(b = enter(capsule, true)))
        return NULL;
    if (part == -1)
        result = make_result(module, b, 0, b->n_parts);
    else if (part >= 0 && (size_t)part < b->n_parts)
        result = make_result(module, b, (size_t)part, 1);
    else
        result = PyErr_Format(PyExc_IndexError, "there are %zu parts", b->n_parts);
    leave(b);
    return result;
}

struct ids {
    struct nd_view *id;
};

static struct nd_view id_at(const void *context, size_t i)
{
    return ((const struct ids *)context)->id[i];
}

/* The ids of the rows that were removed, or of those kept for them. */
static PyObject *read_ids(PyObject *module, struct bounded_rows *b, const struct nd_py_result *r,
                          bool are_kept)
{
    struct ids ids = {nd_alloc_array(r->n_removals + 1, sizeof(struct nd_view))};
    struct nd_arena room = {0};
    enum nd_status status = ids.id ? ND_OK : ND_ENOMEM;
    PyObject *column = NULL;
    struct nd_error err;

    for (size_t i = 0; status == ND_OK && i < r->n_removals; i++) {
        struct nd_py_entry entry;

        ids.id[i] = (struct nd_view){NULL, 0};
        if (are_kept && nd_py_is_leader(&r->removal[i]))
            continue;

        status = nd_py_texts_read(b->texts, are_kept ? r->removal[i].kept : r->removal[i].row,
                                  &b->buffer, &entry, &err);
        if (status != ND_OK)
            break;
        ids.id[i] = entry.value[ND_PY_ID];
        if (ids.id[i].data &&
            !(ids.id[i].data = nd_arena_copy(&room, ids.id[i].data, ids.id[i].len)))
            status = out_of_memory(&err);
    }
    if (!ids.id)
        PyErr_NoMemory();
    else if (status != ND_OK)
        nd_py_raise(module, &err);
    else
        column = nd_py_text_column(are_kept ? "kept_id" : "id", r->n_removals, id_at, &ids);
    nd_arena_release(&room);
    free(ids.id);
    return column;
}

/* bounded_ids(bounded, result): two columns, the ids of removed rows and of those kept. */
static PyObject *bounded_ids(PyObject *module, PyObject *args)
{
    PyObject *capsule, *result_capsule, *removed, *kept = NULL;
    const struct nd_py_result *r;
    struct bounded_rows *b;

    if (!PyArg_ParseTuple(args, "OO", &capsule, &result_capsule) ||
        !(r = nd_py_result(result_capsule)) || !(b = enter(capsule, true)))
        return NULL;
    removed = read_ids(module, b, r, false);
    if (removed)
        kept = read_ids(module, b, r, true);
    leave(b);
    return kept ? Py_BuildValue("NN", removed, kept) : (Py_XDECREF(removed), NULL);
}

/* bounded_work(bounded): the memory that is allowed, bytes written to files, and loads. */
static PyObject *bounded_work(PyObject *module, PyObject *capsule)
{
    struct bounded_rows *b = enter(capsule, true);
    unsigned long long spilled;
    PyObject *work;

    (void)module;
    if (!b)
        return NULL;
    spilled = b->spilled;
    spilled += nd_py_texts_bytes(b->texts);
    spilled += nd_spool_bytes(b->records);
    spilled += nd_spool_bytes(b->decided);
    work = Py_BuildValue("KKK", (unsigned long long)b->budget.total, spilled,
                         (unsigned long long)b->n_loads);
    leave(b);
    return work;
}

ND_PY_READS_FRAME(bounded_add, 1)

PyMethodDef nd_py_bounded_functions[] = {
    {"memory_parse", memory_parse, METH_O, "Bytes of memory."},
    {"size_parse", size_parse, METH_VARARGS, "Bytes of an argument."},
    {"bounded_new", bounded_new, METH_VARARGS, "Rows that are decided in bounded memory."},
    {"bounded_add", bounded_add_reading, METH_VARARGS, "Add the rows of a frame."},
    {"bounded_decide", bounded_decide, METH_VARARGS, "Decide about all rows."},
    {"bounded_result", bounded_result, METH_VARARGS, "What became of some rows."},
    {"bounded_ids", bounded_ids, METH_VARARGS, "The ids of removed rows, and of those kept."},
    {"bounded_work", bounded_work, METH_O, "The memory, the files and the loads."},
    {NULL, NULL, 0, NULL},
};
