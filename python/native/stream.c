/*
 * stream.c - deduplicate batches as they come: each decision is final at once
 *
 * The engine asks for the texts of earlier kept documents.  Either it holds them itself, in memory,
 * or they go to a file without a name in the temporary folder, one behind the other:
 *
 *     document    0      1      2  …       of kept ones
 *     offset      0   1200   1741  …       where the text begins; it ends where the next begins
 *
 * A row without a text is not pushed, so documents and rows are numbered differently after it.
 */
#define _GNU_SOURCE /* O_TMPFILE, pread */
#include "result.h"

#include "base/handle.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CAPSULE "neardup.stream"

enum { SLICE_BYTES = 4 << 20, SLICE_ROWS = 8192, WORKERS_MAX = 1024 };

/* Where the texts of kept documents are. */
struct spool {
    int fd;
    uint64_t *document, *offset; /* of kept ones, rising */
    size_t n, document_capacity, offset_capacity;
    uint64_t written;
    struct nd_buffer pending;          /* not written yet */
    struct nd_buffer *buffer;          /* of each worker */
    const struct nd_dedup_item *items; /* of the push under way, from this document on */
    uint64_t first;
    struct nd_text_source source;
};

struct stream {
    struct nd_dedup *dedup;
    PyObject *recipe; /* which holds the df tables that the engine reads */
    struct spool spool;
    struct nd_handle use; /* by one call at a time */
    bool has_spool, is_broken;
    uint64_t n_rows, n_documents;
    uint64_t *without; /* rows without a text */
    size_t n_without, without_capacity;
    struct nd_dedup_item *item;
    struct nd_document *document;
    struct nd_decision *decision;
};

/* ---- The spool ---- */

static enum nd_status fail_io(struct nd_error *err, const char *what)
{
    return nd_fail(err, ND_EIO, "%s the temporary file failed: %s", what, strerror(errno));
}

static enum nd_status flush(struct spool *s, struct nd_error *err)
{
    size_t done = 0;

    while (done < s->pending.len) {
        ssize_t n = pwrite(s->fd, s->pending.data + done, s->pending.len - done,
                           (off_t)(s->written + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail_io(err, "writing");
        done += (size_t)n;
    }
    s->written += s->pending.len;
    s->pending.len = 0;
    return ND_OK;
}

static enum nd_status keep_text(void *context, uint64_t document, size_t item, struct nd_error *err)
{
    struct spool *s = context;
    const struct nd_view *text = &s->items[item].text;

    if (!ND_RESERVE(s->document, &s->document_capacity, s->n + 1) ||
        !ND_RESERVE(s->offset, &s->offset_capacity, s->n + 2) ||
        !nd_buffer_append(&s->pending, text->data, text->len))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    s->document[s->n] = document;
    s->offset[s->n++] = s->written + s->pending.len - text->len;
    s->offset[s->n] = s->written + s->pending.len;
    return ND_OK;
}

/* The place of a kept document in the spool. */
static size_t place_of(const struct spool *s, uint64_t document)
{
    size_t low = 0, high = s->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (s->document[middle] < document)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static enum nd_status fetch_text(void *context, uint64_t document, unsigned worker,
                                 struct nd_view *text, struct nd_error *err)
{
    struct spool *s = context;
    struct nd_buffer *buffer = &s->buffer[worker];
    size_t place;
    uint64_t from, len;

    if (document >= s->first) {
        *text = s->items[document - s->first].text;
        return ND_OK;
    }
    place = place_of(s, document);
    from = s->offset[place];
    len = s->offset[place + 1] - from;
    text->len = (size_t)len;
    if (!nd_buffer_reserve(buffer, (size_t)len))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    text->data = buffer->data;
    for (size_t done = 0; done < len;) {
        ssize_t n = pread(s->fd, buffer->data + done, (size_t)len - done, (off_t)(from + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail_io(err, "reading");
        done += (size_t)n;
    }
    return ND_OK;
}

static bool open_spool(struct spool *s, const char *folder)
{
    char path[4096];

    s->source = (struct nd_text_source){s, fetch_text, keep_text};
    s->buffer = calloc(WORKERS_MAX, sizeof *s->buffer);
    s->fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (s->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
        PyOS_snprintf(path, sizeof path, "%s/neardup-XXXXXX", folder);
        s->fd = mkostemp(path, O_CLOEXEC);
        if (s->fd >= 0)
            unlink(path);
    }
    if (s->fd < 0) {
        PyErr_SetFromErrnoWithFilename(PyExc_OSError, folder);
        return false;
    }
    if (!s->buffer)
        PyErr_NoMemory();
    return s->buffer != NULL;
}

static void free_spool(struct spool *s)
{
    if (s->fd >= 0)
        close(s->fd);
    for (size_t i = 0; s->buffer && i < WORKERS_MAX; i++)
        nd_buffer_release(&s->buffer[i]);
    free(s->buffer);
    free(s->document);
    free(s->offset);
    nd_buffer_release(&s->pending);
}

/* ---- The stream ---- */

static void free_stream(struct stream *s)
{
    nd_dedup_free(s->dedup);
    if (s->has_spool)
        free_spool(&s->spool);
    free(s->without);
    free(s->item);
    free(s->document);
    free(s->decision);
    Py_XDECREF(s->recipe);
    free(s);
}

static void free_capsule(PyObject *capsule)
{
    free_stream(PyCapsule_GetPointer(capsule, CAPSULE));
}

/* stream_new(recipe, threads, folder): texts go to a file in the folder; None: they stay in memory. */
static PyObject *stream_new(PyObject *module, PyObject *args)
{
    struct nd_dedup_options options = nd_dedup_options_default();
    PyObject *recipe_capsule, *folder, *capsule;
    const struct nd_recipe *recipe;
    struct stream *s;
    struct nd_error err;
    const char *path = NULL;

    if (!PyArg_ParseTuple(args, "OIO", &recipe_capsule, &options.threads, &folder) ||
        !(recipe = nd_py_recipe(recipe_capsule)) ||
        (folder != Py_None && !(path = PyUnicode_AsUTF8AndSize(folder, NULL))))
        return NULL;
    s = calloc(1, sizeof *s);
    if (!s)
        return PyErr_NoMemory();
    s->recipe = Py_NewRef(recipe_capsule);
    s->has_spool = path != NULL;
    s->spool.fd = -1;
    s->item = nd_alloc_array(SLICE_ROWS, sizeof *s->item);
    s->document = nd_alloc_array(SLICE_ROWS, sizeof *s->document);
    s->decision = nd_alloc_array(SLICE_ROWS, sizeof *s->decision);
    if (!s->item || !s->document || !s->decision || (path && !open_spool(&s->spool, path))) {
        free_stream(s);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    options.source = path ? &s->spool.source : NULL;
    s->dedup = nd_dedup_new(recipe, &options, &err);
    if (!s->dedup) {
        free_stream(s);
        return nd_py_raise(module, &err);
    }
    capsule = PyCapsule_New(s, CAPSULE, free_capsule);
    if (!capsule)
        free_stream(s);
    return capsule;
}

/* The row of a document: as many rows without a text lie before it as without[i] - i <= document. */
static uint64_t row_of(const struct stream *s, uint64_t document)
{
    size_t low = 0, high = s->n_without;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (s->without[middle] - middle <= document)
            low = middle + 1;
        else
            high = middle;
    }
    return document + low;
}

/* Items of the rows from *at on that have a text, until a slice is full. */
static size_t fill_items(struct stream *s, const struct nd_py_frame *f, size_t *at, bool *is_good)
{
    size_t n = 0, bytes = 0;

    for (; *at < f->n_rows && n < SLICE_ROWS && bytes < SLICE_BYTES; ++*at) {
        struct nd_view text = f->column[0].value[*at];
        uint64_t replaced;

        if (!text.data) {
            *is_good = ND_RESERVE(s->without, &s->without_capacity, s->n_without + 1);
            if (!*is_good)
                return n;
            s->without[s->n_without++] = s->n_rows + *at;
            continue;
        }
        replaced = nd_py_frame_replaced(f, *at);
        s->item[n] = (struct nd_dedup_item){.text = text};
        if (replaced) {
            s->document[n] = (struct nd_document){.text = text, .text_replaced = replaced};
            s->item[n].document = &s->document[n];
        }
        bytes += text.len;
        n++;
    }
    return n;
}

static enum nd_status push_slice(struct stream *s, size_t n, struct nd_py_result *result,
                                 struct nd_error *err)
{
    enum nd_status status;

    s->spool.items = s->item;
    s->spool.first = s->n_documents;
    status = nd_dedup_push(s->dedup, s->item, n, s->decision, err);
    if (status == ND_OK && s->has_spool)
        status = flush(&s->spool, err);
    for (size_t i = 0; status == ND_OK && i < n; i++) {
        const struct nd_py_removal removal = {.row = row_of(s, s->n_documents + i),
                                              .kept = row_of(s, s->decision[i].kept),
                                              .via = row_of(s, s->decision[i].kept),
                                              .decision = s->decision[i]};

        if (s->decision[i].kept != s->n_documents + i && !nd_py_result_add(result, &removal))
            status = nd_fail(err, ND_ENOMEM, "out of memory");
    }
    s->n_documents += n;
    return status;
}

static PyObject *push_frame(PyObject *module, struct stream *s, const struct nd_py_frame *f)
{
    enum nd_status status = ND_OK;
    struct nd_py_result *result;
    struct nd_error err;
    bool is_good = true;

    if (s->is_broken)
        return PyErr_Format(PyExc_RuntimeError,
                            "a push has failed: what came after it is not known");
    result = nd_py_result_new(f->n_rows, s->n_rows);
    if (!result)
        return PyErr_NoMemory();
    for (size_t at = 0; at < f->n_rows && status == ND_OK && is_good;) {
        Py_BEGIN_ALLOW_THREADS size_t n = fill_items(s, f, &at, &is_good);

        if (is_good)
            status = push_slice(s, n, result, &err);
        Py_END_ALLOW_THREADS if (!is_good) PyErr_NoMemory();
        if (status != ND_OK)
            nd_py_raise(module, &err);
        is_good = is_good && PyErr_CheckSignals() == 0;
    }
    if (status != ND_OK || !is_good) {
        s->is_broken = true;
        nd_py_result_free(result);
        return NULL;
    }
    s->n_rows += f->n_rows;
    result->n_pushed = s->n_documents;
    nd_dedup_get_stats(s->dedup, &result->stats);
    return nd_py_result_capsule(result);
}

/* stream_push(stream, frame): what became of the frame's rows. */
static PyObject *stream_push(PyObject *module, PyObject *args)
{
    PyObject *capsule, *frame_capsule, *result;
    const struct nd_py_frame *f;
    struct stream *s;

    if (!PyArg_ParseTuple(args, "OO", &capsule, &frame_capsule) ||
        !(s = PyCapsule_GetPointer(capsule, CAPSULE)) || !(f = nd_py_frame(frame_capsule)))
        return NULL;
    if (nd_handle_enter(&s->use, ND_CALL_CHANGES, NULL) != ND_OK)
        return PyErr_Format(PyExc_RuntimeError, "another thread is pushing");
    result = push_frame(module, s, f);
    (void)nd_handle_leave(&s->use, ND_CALL_CHANGES);
    return result;
}

PyMethodDef nd_py_stream_functions[] = {
    {"stream_new", stream_new, METH_VARARGS, "Deduplicate batches as they come."},
    {"stream_push", stream_push, METH_VARARGS, "Decide about the rows of a frame."},
    {NULL, NULL, 0, NULL},
};
