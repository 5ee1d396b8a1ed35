/*
 * shuffle.c - what machines send each other to find documents that could match (neardup.spark)
 *
 * Records of one width stand one behind the other in blobs, as many as fit a message, since a row of
 * a data frame for each would cost more than the work.  A document is a number of 64 bits, its node.
 *
 *     rows      node, row               what a document is compared by (neardup/candidates.h)
 *     keys      key, node               a document stands in the bucket of the key
 *     members   node, bucket            … which it shares with others
 *     entries   bucket, node, row
 *     edges     node, node              the greater first: both are in one component
 *     ends      node, node              an edge at one of its ends, or at both
 *
 * The first 64 bits of a record say to which of so many parts it goes.
 */
#include "native.h"

#include <neardup/candidates.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

#define ROWS "neardup.candidate_rows"

enum { WORD = sizeof(uint64_t), PAIR = 2 * sizeof(uint64_t) };

/* ---- Blobs ---- */

static bool append_pair(struct nd_buffer *out, uint64_t a, uint64_t b)
{
    uint64_t pair[2] = {a, b};

    return nd_buffer_append(out, pair, sizeof pair);
}

static uint64_t word_at(const char *record)
{
    uint64_t word;

    memcpy(&word, record, sizeof word);
    return word;
}

/* The blobs of a sequence as one, copied.  False: an exception is set. */
static bool gather(PyObject *blobs, size_t width, struct nd_buffer *out)
{
    Py_ssize_t n = PySequence_Size(blobs);

    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *blob = PySequence_GetItem(blobs, i);
        Py_buffer buffer;
        bool is_whole, is_there;

        if (!blob)
            return false;
        if (PyObject_GetBuffer(blob, &buffer, PyBUF_SIMPLE) < 0) {
            Py_DECREF(blob);
            return false;
        }
        is_whole = (size_t)buffer.len % width == 0;
        is_there = !is_whole || nd_buffer_append(out, buffer.buf, (size_t)buffer.len);
        PyBuffer_Release(&buffer);
        Py_DECREF(blob);
        if (!is_whole)
            PyErr_Format(PyExc_ValueError, "a blob is not of records of %zu bytes", width);
        else if (!is_there)
            PyErr_NoMemory();
        if (!is_whole || !is_there)
            return false;
    }
    if (n >= 0 && out->len / width >= UINT32_MAX)
        PyErr_SetString(PyExc_OverflowError,
                        "a partition has more than 2^32 records: ask for more partitions");
    return n >= 0 && out->len / width < UINT32_MAX;
}

static PyObject *bytes_of(const struct nd_buffer *b)
{
    return PyBytes_FromStringAndSize(b->len ? b->data : "", (Py_ssize_t)b->len);
}

/* The records in the order of their first words, then of the second; NULL: out of memory. */
static struct nd_numbered_value *sort_by_word(const struct nd_buffer *records, size_t width,
                                              size_t offset)
{
    size_t n = records->len / width;
    struct nd_numbered_value *entry = nd_alloc_array(n + 1, sizeof *entry),
                             *other = nd_alloc_array(n + 1, sizeof *other);

    if (entry && other) {
        for (size_t i = 0; i < n; i++)
            entry[i] = (struct nd_numbered_value){word_at(records->data + i * width + offset),
                                                  (uint32_t)i, 0};
        nd_sort_numbered(&entry, &other, n);
    } else {
        free(entry);
        entry = NULL;
    }
    free(other);
    return entry;
}

static size_t end_of_run(const struct nd_numbered_value *entry, size_t from, size_t n)
{
    size_t to = from + 1;

    while (to < n && entry[to].value == entry[from].value)
        to++;
    return to;
}

static size_t part_of(uint64_t word, size_t parts)
{
    return (size_t)(((nd_mix64(word) >> 32) * parts) >> 32);
}

/* A list of (part, blob) from records that are dealt out.  NULL: an exception is set. */
static PyObject *deal_out(const struct nd_buffer *records, size_t width, size_t parts)
{
    size_t n = records->len / width, from = 0, *end = calloc(parts + 1, sizeof *end);
    char *dealt = malloc(records->len + 1);
    PyObject *list = NULL;

    if (!end || !dealt || !(list = PyList_New(0))) {
        free(dealt);
        free(end);
        return PyErr_NoMemory();
    }
    Py_BEGIN_ALLOW_THREADS;
    for (size_t i = 0; i < n; i++)
        end[part_of(word_at(records->data + i * width), parts) + 1]++;
    for (size_t p = 0; p < parts; p++)
        end[p + 1] += end[p];
    for (size_t i = 0; i < n; i++) {
        const char *record = records->data + i * width;

        memcpy(dealt + end[part_of(word_at(record), parts)]++ * width, record, width);
    }
    Py_END_ALLOW_THREADS;
    for (size_t p = 0; list && p < parts; from = end[p++]) {
        PyObject *item;

        if (end[p] == from)
            continue;
        item = Py_BuildValue("ny#", (Py_ssize_t)p, dealt + from * width,
                             (Py_ssize_t)((end[p] - from) * width));
        if (!item || PyList_Append(list, item) < 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    free(dealt);
    free(end);
    return list;
}

/* ---- Rows of documents ---- */

static void free_rows(PyObject *capsule)
{
    nd_candidate_rows_free(PyCapsule_GetPointer(capsule, ROWS));
}

static PyObject *rows_new(PyObject *module, PyObject *recipe_capsule)
{
    const struct nd_recipe *recipe = nd_py_recipe(recipe_capsule);
    struct nd_candidate_rows *rows;
    struct nd_error err;
    PyObject *capsule;

    if (!recipe)
        return NULL;
    rows = nd_candidate_rows_new(recipe, &err);
    if (!rows)
        return nd_py_raise(module, &err);
    capsule = PyCapsule_New(rows, ROWS, free_rows);
    if (!capsule)
        nd_candidate_rows_free(rows);
    return capsule;
}

static struct nd_candidate_rows *rows_of(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, ROWS);
}

/* The bytes of a record of `rows`. */
static PyObject *rows_width(PyObject *module, PyObject *capsule)
{
    const struct nd_candidate_rows *rows = rows_of(capsule);

    (void)module;
    return rows ? PyLong_FromSize_t(WORD + nd_candidate_rows_bytes(rows)) : NULL;
}

/* The state of rows_make. */
struct making {
    struct nd_candidate_rows *rows;
    const struct nd_py_frame *frame;
    const uint64_t *node;
    const struct nd_py_column *within; /* NULL: one group */
    unsigned field[64];
    size_t n_fields;
    struct nd_buffer made, keys;
};

static bool take_field_numbers(struct making *m, PyObject *columns)
{
    Py_ssize_t n = PyTuple_Size(columns);

    for (Py_ssize_t i = 0; i < n; i++) {
        unsigned long number = PyLong_AsUnsignedLong(PyTuple_GetItem(columns, i));

        if (PyErr_Occurred())
            return false;
        if (m->n_fields == sizeof m->field / sizeof *m->field || number >= m->frame->n_columns) {
            PyErr_SetString(PyExc_ValueError, "there are too many fields");
            return false;
        }
        m->field[m->n_fields++] = (unsigned)number;
    }
    return true;
}

/* Documents without a text have no row. */
static enum nd_status make_row(struct making *m, size_t i, struct nd_error *err)
{
    struct nd_view text = m->frame->column[0].value[i];
    struct nd_field field[64];
    struct nd_document document = {
        .text = text, .fields = field, .text_replaced = nd_py_frame_replaced(m->frame, i)};
    struct nd_dedup_item item = {.text = text};
    uint64_t keys[ND_CANDIDATE_KEYS_MAX], group = 0;
    size_t n_keys, bytes = nd_candidate_rows_bytes(m->rows);
    enum nd_status status;

    if (!text.data)
        return ND_OK;
    for (size_t k = 0; k < m->n_fields; k++) {
        const char *name = m->frame->name[m->field[k]];

        field[document.n_fields++] =
            (struct nd_field){{name, strlen(name)}, m->frame->column[m->field[k]].value[i]};
    }
    if (document.text_replaced || document.n_fields)
        item.document = &document;
    if (m->within && m->within->value[i].data)
        group = nd_hash_bytes(m->within->value[i].data, m->within->value[i].len) | 1;
    if (!nd_buffer_reserve(&m->made, m->made.len + WORD + bytes))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    memcpy(m->made.data + m->made.len, &m->node[i], WORD);
    status = nd_candidate_rows_make(m->rows, &item, group, m->made.data + m->made.len + WORD, keys,
                                    &n_keys, err);
    if (status != ND_OK || n_keys == 0)
        return status;
    m->made.len += WORD + bytes;
    if (nd_candidate_rows_tell_keys(m->rows))
        return ND_OK;
    for (size_t k = 0; k < n_keys; k++)
        if (!append_pair(&m->keys, keys[k], m->node[i]))
            return nd_fail(err, ND_ENOMEM, "out of memory");
    return ND_OK;
}

/*
 * rows_make(rows, frame, nodes, within column, field columns): blobs of rows and of the keys that
 * they do not tell themselves.  Columns are numbers in the frame, 0: none; nodes is a buffer of 64
 * bits each.
 */
static PyObject *rows_make(PyObject *module, PyObject *args)
{
    PyObject *rows, *frame, *fields, *result = NULL;
    enum nd_status status = ND_OK;
    struct making m = {0};
    struct nd_error err;
    Py_buffer nodes;
    unsigned within;

    if (!PyArg_ParseTuple(args, "OOy*IO!", &rows, &frame, &nodes, &within, &PyTuple_Type, &fields))
        return NULL;
    if ((m.rows = rows_of(rows)) && (m.frame = nd_py_frame(frame)) &&
        take_field_numbers(&m, fields)) {
        m.node = nodes.buf;
        m.within = within && within < m.frame->n_columns ? &m.frame->column[within] : NULL;
        if ((size_t)nodes.len != m.frame->n_rows * WORD) {
            PyErr_SetString(PyExc_ValueError, "there is not one node for each row");
        } else {
            Py_BEGIN_ALLOW_THREADS;
            for (size_t i = 0; status == ND_OK && i < m.frame->n_rows; i++)
                status = make_row(&m, i, &err);
            Py_END_ALLOW_THREADS;
            if (status != ND_OK)
                nd_py_raise(module, &err);
            else
                result = Py_BuildValue("NN", bytes_of(&m.made), bytes_of(&m.keys));
        }
    }
    PyBuffer_Release(&nodes);
    nd_buffer_release(&m.made);
    nd_buffer_release(&m.keys);
    return result;
}

/* ---- Steps, each from blobs to blobs ---- */

/* records_deal(blobs, width, parts): a list of (part, blob). */
static PyObject *records_deal(PyObject *module, PyObject *args)
{
    struct nd_buffer records = {0};
    PyObject *blobs, *list = NULL;
    unsigned width, parts;

    (void)module;
    if (!PyArg_ParseTuple(args, "OII", &blobs, &width, &parts))
        return NULL;
    if (width < WORD || parts == 0)
        return PyErr_Format(PyExc_ValueError, "no records, or no parts");
    if (gather(blobs, width, &records))
        list = deal_out(&records, width, parts);
    nd_buffer_release(&records);
    return list;
}

/* Append the keys that rows tell, or a share of them. */
static bool append_keys(const struct nd_candidate_rows *rows, const struct nd_buffer *records,
                        size_t share, size_t shares, struct nd_buffer *keys)
{
    size_t width = WORD + nd_candidate_rows_bytes(rows), n = records->len / width;
    uint64_t key[ND_CANDIDATE_KEYS_MAX];

    for (size_t i = 0; i < n; i++) {
        const char *record = records->data + i * width;
        size_t n_keys = nd_candidate_rows_keys(rows, record + WORD, key);

        for (size_t k = 0; k < n_keys; k++)
            if ((shares == 1 || part_of(key[k], shares) == share) &&
                !append_pair(keys, key[k], word_at(record)))
                return false;
    }
    return true;
}

/* rows_keys(rows, blobs of rows): a blob of the keys that they tell; b"" where they tell none. */
static PyObject *rows_keys(PyObject *module, PyObject *args)
{
    struct nd_buffer records = {0}, keys = {0};
    PyObject *capsule, *blobs, *result = NULL;
    const struct nd_candidate_rows *rows;
    bool ok = true;

    (void)module;
    if (!PyArg_ParseTuple(args, "OO", &capsule, &blobs) || !(rows = rows_of(capsule)))
        return NULL;
    if (gather(blobs, WORD + nd_candidate_rows_bytes(rows), &records)) {
        Py_BEGIN_ALLOW_THREADS;
        if (nd_candidate_rows_tell_keys(rows))
            ok = append_keys(rows, &records, 0, 1, &keys);
        Py_END_ALLOW_THREADS;
        result = ok ? bytes_of(&keys) : PyErr_NoMemory();
    }
    nd_buffer_release(&records);
    nd_buffer_release(&keys);
    return result;
}

/* An edge from each of n sorted nodes to the first. */
static bool append_star(struct nd_buffer *out, const uint64_t *node, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (!append_pair(out, node[i], node[0]))
            return false;
    return true;
}

/*
 * Documents of one node that share a key: a component of them alone is one of the node and of one
 * beside it, which no document has.  So they are decided together, and if it was not by chance that
 * they share the node, but as they have the same place in the order, that is found out.  Of sorted
 * nodes each is left once.
 */
static bool note_shared_nodes(uint64_t *sorted, size_t *n, struct nd_buffer *edges)
{
    size_t kept = 1;

    for (size_t i = 1; i < *n; i++) {
        if (sorted[i] != sorted[i - 1])
            sorted[kept++] = sorted[i];
        else if (!append_pair(edges, sorted[i], sorted[i] ^ 1))
            return false;
    }
    *n = kept;
    return true;
}

/*
 * The buckets of several documents.  Of equal ones, and of as many as a key lists, there are edges.
 * A bucket is called by the hash of its documents: that two near copies share half of their bands is
 * said once.
 */
static bool find_buckets(const struct nd_buffer *keys, size_t room, struct nd_buffer *edges,
                         struct nd_buffer *members)
{
    struct nd_numbered_value *entry = sort_by_word(keys, PAIR, 0);
    size_t n = keys->len / PAIR;
    uint64_t *node = nd_alloc_array(n + 1, 2 * sizeof *node), *scratch = node + n;
    bool ok = entry && node;

    for (size_t from = 0, to; ok && from < n; from = to) {
        size_t n_nodes = 0;

        to = end_of_run(entry, from, n);
        if (to - from < 2)
            continue;
        for (size_t i = from; i < to; i++)
            node[n_nodes++] = word_at(keys->data + entry[i].number * (size_t)PAIR + WORD);
        nd_sort_values(node, n_nodes, scratch);
        ok = note_shared_nodes(node, &n_nodes, edges);
        if (!ok)
            break;
        if (to - from >= room || (entry[from].value & 1)) {
            ok = append_star(edges, node, n_nodes);
        } else if (n_nodes > 1) {
            uint64_t bucket = nd_hash_bytes(node, n_nodes * sizeof *node);

            for (size_t i = 0; ok && i < n_nodes; i++)
                ok = append_pair(members, node[i], bucket);
        }
    }
    free(entry);
    free(node);
    return ok;
}

/* keys_buckets(rows, blobs of keys): blobs of edges and of members. */
static PyObject *keys_buckets(PyObject *module, PyObject *args)
{
    struct nd_buffer keys = {0}, edges = {0}, members = {0};
    PyObject *capsule, *blobs, *result = NULL;
    const struct nd_candidate_rows *rows;
    bool ok;

    (void)module;
    if (!PyArg_ParseTuple(args, "OO", &capsule, &blobs) || !(rows = rows_of(capsule)))
        return NULL;
    if (gather(blobs, PAIR, &keys)) {
        Py_BEGIN_ALLOW_THREADS;
        ok = find_buckets(
            &keys, nd_candidate_rows_match_by_key(rows) ? 0 : nd_candidate_rows_key_room(rows),
            &edges, &members);
        Py_END_ALLOW_THREADS;
        result = ok ? Py_BuildValue("NN", bytes_of(&edges), bytes_of(&members)) : PyErr_NoMemory();
    }
    nd_buffer_release(&keys);
    nd_buffer_release(&edges);
    nd_buffer_release(&members);
    return result;
}

/* For each membership, once, an entry with each row of the node. */
static bool attach_rows(const struct nd_buffer *rows, size_t width, const struct nd_buffer *members,
                        struct nd_buffer *out)
{
    struct nd_numbered_value *row = sort_by_word(rows, width, 0),
                             *member = sort_by_word(members, PAIR, 0);
    size_t n_rows = rows->len / width, n = members->len / PAIR, r = 0;
    uint64_t *bucket = nd_alloc_array(n + 1, 2 * sizeof *bucket), *scratch = bucket + n;
    bool ok = row && member && bucket;

    for (size_t from = 0, to; ok && from < n; from = to) {
        size_t n_buckets = 0;

        to = end_of_run(member, from, n);
        for (size_t i = from; i < to; i++)
            bucket[n_buckets++] = word_at(members->data + member[i].number * (size_t)PAIR + WORD);
        n_buckets = nd_sort_distinct(bucket, n_buckets, scratch);
        while (r < n_rows && row[r].value < member[from].value)
            r++;
        for (size_t k = r; ok && k < n_rows && row[k].value == member[from].value; k++)
            for (size_t i = 0; ok && i < n_buckets; i++)
                ok = nd_buffer_append(out, &bucket[i], WORD) &&
                     nd_buffer_append(out, rows->data + row[k].number * width, width);
    }
    free(row);
    free(member);
    free(bucket);
    return ok;
}

/* members_attach(width of rows, blobs of rows, blobs of members): a blob of entries. */
static PyObject *members_attach(PyObject *module, PyObject *args)
{
    struct nd_buffer rows = {0}, members = {0}, entries = {0};
    PyObject *row_blobs, *member_blobs, *result = NULL;
    unsigned width;
    bool ok;

    (void)module;
    if (!PyArg_ParseTuple(args, "IOO", &width, &row_blobs, &member_blobs))
        return NULL;
    if (width < WORD)
        return PyErr_Format(PyExc_ValueError, "rows have a node");
    if (gather(row_blobs, width, &rows) && gather(member_blobs, PAIR, &members)) {
        Py_BEGIN_ALLOW_THREADS;
        ok = attach_rows(&rows, width, &members, &entries);
        Py_END_ALLOW_THREADS;
        result = ok ? bytes_of(&entries) : PyErr_NoMemory();
    }
    nd_buffer_release(&rows);
    nd_buffer_release(&members);
    nd_buffer_release(&entries);
    return result;
}

/* Entries of one bucket, in the order of their nodes. */
struct bucket_linking {
    const struct nd_buffer *entries;
    size_t width;
    const void **row;
    uint64_t *node;
    uint32_t *parent;
};

static int by_node(const void *a, const void *b)
{
    uint64_t x = word_at((const char *)*(const void *const *)a - WORD),
             y = word_at((const char *)*(const void *const *)b - WORD);

    return x < y ? -1 : x > y;
}

static enum nd_status link_bucket(const struct nd_candidate_rows *rows, struct bucket_linking *l,
                                  size_t n, struct nd_buffer *edges, struct nd_error *err)
{
    enum nd_status status;

    qsort(l->row, n, sizeof *l->row, by_node);
    for (size_t i = 0; i < n; i++)
        l->node[i] = word_at((const char *)l->row[i] - WORD);
    status = nd_candidate_rows_link(rows, l->row, n, l->parent, err);
    for (size_t i = 0; status == ND_OK && i < n; i++)
        if (l->node[i] != l->node[l->parent[i]] &&
            !append_pair(edges, l->node[i], l->node[l->parent[i]]))
            status = nd_fail(err, ND_ENOMEM, "out of memory");
    return status;
}

static enum nd_status link_all(const struct nd_candidate_rows *rows,
                               const struct nd_buffer *entries, struct nd_buffer *edges,
                               struct nd_error *err)
{
    size_t width = 2 * WORD + nd_candidate_rows_bytes(rows), n = entries->len / width;
    struct nd_numbered_value *entry = sort_by_word(entries, width, 0);
    struct bucket_linking l = {entries, width, nd_alloc_array(n + 1, sizeof *l.row),
                               nd_alloc_array(n + 1, sizeof *l.node),
                               nd_alloc_array(n + 1, sizeof *l.parent)};
    enum nd_status status = ND_OK;
    bool has_memory = entry && l.row && l.node && l.parent;

    if (!has_memory)
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t from = 0, to; has_memory && status == ND_OK && from < n; from = to) {
        to = end_of_run(entry, from, n);
        for (size_t i = from; i < to; i++)
            l.row[i - from] = entries->data + entry[i].number * width + 2 * (size_t)WORD;
        status = link_bucket(rows, &l, to - from, edges, err);
    }
    free(entry);
    free(l.row);
    free(l.node);
    free(l.parent);
    return status;
}

/* entries_link(rows, blobs of entries): a blob of edges, fewer than entries. */
static PyObject *entries_link(PyObject *module, PyObject *args)
{
    struct nd_buffer entries = {0}, edges = {0};
    PyObject *capsule, *blobs, *result = NULL;
    const struct nd_candidate_rows *rows;
    enum nd_status status;
    struct nd_error err;

    if (!PyArg_ParseTuple(args, "OO", &capsule, &blobs) || !(rows = rows_of(capsule)))
        return NULL;
    if (gather(blobs, 2 * WORD + nd_candidate_rows_bytes(rows), &entries)) {
        Py_BEGIN_ALLOW_THREADS;
        status = link_all(rows, &entries, &edges, &err);
        Py_END_ALLOW_THREADS;
        result = status == ND_OK ? bytes_of(&edges) : nd_py_raise(module, &err);
    }
    nd_buffer_release(&entries);
    nd_buffer_release(&edges);
    return result;
}

/* ---- Components ---- */

static uint32_t place_of(const uint64_t *node, size_t n, uint64_t wanted)
{
    size_t low = 0, high = n;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (node[middle] <= wanted)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)low;
}

static uint32_t root_of(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Edges that connect the same nodes, fewer than nodes: from each to the least of its component. */
static bool contract(const struct nd_buffer *edges, struct nd_buffer *out)
{
    size_t n_words = edges->len / WORD, n = 0;
    uint64_t *node = nd_alloc_array(n_words + 1, 2 * sizeof *node);
    uint32_t *parent = NULL;
    bool ok = node != NULL;

    if (ok && n_words) {
        memcpy(node, edges->data, n_words * sizeof *node);
        n = nd_sort_distinct(node, n_words, node + n_words);
    }
    parent = ok ? nd_alloc_array(n + 1, sizeof *parent) : NULL;
    ok = parent != NULL;
    for (size_t i = 0; ok && i < n; i++)
        parent[i] = (uint32_t)i;
    for (size_t i = 0; ok && i < n_words; i += 2) {
        uint32_t a = root_of(parent, place_of(node, n, word_at(edges->data + i * WORD))),
                 b = root_of(parent, place_of(node, n, word_at(edges->data + (i + 1) * WORD)));

        parent[a < b ? b : a] = a < b ? a : b;
    }
    for (uint32_t i = 0; ok && i < n; i++) {
        uint32_t root = root_of(parent, i);

        ok = root == i || append_pair(out, node[i], node[root]);
    }
    free(node);
    free(parent);
    return ok;
}

/* All at once: the buckets of a share of the keys at a time, so that they need not all be sorted. */
struct at_once {
    const struct nd_candidate_rows *rows;
    struct nd_buffer records, keys, edges, members, entries, out;
};

enum { KEYS_AT_ONCE = 4 << 20 };

static bool find_all_buckets(struct at_once *x)
{
    size_t width = WORD + nd_candidate_rows_bytes(x->rows);
    size_t room = nd_candidate_rows_match_by_key(x->rows) ? 0 : nd_candidate_rows_key_room(x->rows);
    size_t n_keys = 0, shares = 1;
    uint64_t key[ND_CANDIDATE_KEYS_MAX];
    bool ok = true;

    if (!nd_candidate_rows_tell_keys(x->rows))
        return find_buckets(&x->keys, room, &x->edges, &x->members);
    for (size_t at = 0; at < x->records.len; at += width)
        n_keys += nd_candidate_rows_keys(x->rows, x->records.data + at + WORD, key);
    shares += n_keys / KEYS_AT_ONCE;
    for (size_t share = 0; ok && share < shares; share++) {
        x->keys.len = 0;
        ok = append_keys(x->rows, &x->records, share, shares, &x->keys) &&
             find_buckets(&x->keys, room, &x->edges, &x->members);
    }
    return ok;
}

static enum nd_status link_at_once(struct at_once *x, struct nd_error *err)
{
    size_t width = WORD + nd_candidate_rows_bytes(x->rows);
    bool ok = find_all_buckets(x);
    enum nd_status status;

    nd_buffer_release(&x->keys);
    ok = ok && attach_rows(&x->records, width, &x->members, &x->entries);
    nd_buffer_release(&x->records);
    if (!ok)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    status = link_all(x->rows, &x->entries, &x->edges, err);
    if (status == ND_OK && !contract(&x->edges, &x->out))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    return status;
}

/* rows_link(rows, blobs of rows, blobs of keys that they do not tell): a blob of contracted edges. */
static PyObject *rows_link(PyObject *module, PyObject *args)
{
    PyObject *capsule, *row_blobs, *key_blobs, *result = NULL;
    struct at_once x = {0};
    enum nd_status status;
    struct nd_error err;

    if (!PyArg_ParseTuple(args, "OOO", &capsule, &row_blobs, &key_blobs) ||
        !(x.rows = rows_of(capsule)))
        return NULL;
    if (gather(row_blobs, WORD + nd_candidate_rows_bytes(x.rows), &x.records) &&
        gather(key_blobs, PAIR, &x.keys)) {
        Py_BEGIN_ALLOW_THREADS;
        status = link_at_once(&x, &err);
        Py_END_ALLOW_THREADS;
        result = status == ND_OK ? bytes_of(&x.out) : nd_py_raise(module, &err);
    }
    nd_buffer_release(&x.records);
    nd_buffer_release(&x.keys);
    nd_buffer_release(&x.edges);
    nd_buffer_release(&x.members);
    nd_buffer_release(&x.entries);
    nd_buffer_release(&x.out);
    return result;
}

/* edges_contract(blobs of edges): a blob of edges that connect the same nodes, fewer than these. */
static PyObject *edges_contract(PyObject *module, PyObject *blobs)
{
    struct nd_buffer edges = {0}, out = {0};
    PyObject *result = NULL;
    bool ok;

    (void)module;
    if (gather(blobs, PAIR, &edges)) {
        Py_BEGIN_ALLOW_THREADS;
        ok = contract(&edges, &out);
        Py_END_ALLOW_THREADS;
        result = ok ? bytes_of(&out) : PyErr_NoMemory();
    }
    nd_buffer_release(&edges);
    nd_buffer_release(&out);
    return result;
}

/* edges_ends(blobs of edges, parts, both): (part, blob of ends), at the greater node or at both. */
static PyObject *edges_ends(PyObject *module, PyObject *args)
{
    struct nd_buffer edges = {0}, ends = {0};
    PyObject *blobs, *list = NULL;
    unsigned parts;
    bool ok = true;
    int both;

    (void)module;
    if (!PyArg_ParseTuple(args, "OIp", &blobs, &parts, &both))
        return NULL;
    if (parts == 0)
        return PyErr_Format(PyExc_ValueError, "no parts");
    if (gather(blobs, PAIR, &edges)) {
        Py_BEGIN_ALLOW_THREADS;
        for (size_t at = 0; ok && at < edges.len; at += PAIR) {
            uint64_t a = word_at(edges.data + at), b = word_at(edges.data + at + WORD);

            ok = append_pair(&ends, a > b ? a : b, a > b ? b : a) &&
                 (!both || append_pair(&ends, a > b ? b : a, a > b ? a : b));
        }
        Py_END_ALLOW_THREADS;
        list = ok ? deal_out(&ends, PAIR, parts) : PyErr_NoMemory();
    }
    nd_buffer_release(&edges);
    nd_buffer_release(&ends);
    return list;
}

/* The neighbourhood of a node. */
struct around {
    uint64_t least;    /* of its neighbours and itself */
    bool has_greater;  /* a neighbour that is greater */
    bool is_undecided; /* several lesser ones, or a lesser and a greater one */
};

static struct around look_around(const struct nd_buffer *ends, const struct nd_numbered_value *end,
                                 size_t n)
{
    uint64_t node = end[0].value, lesser = node;
    struct around a = {.least = node};

    for (size_t i = 0; i < n; i++) {
        uint64_t other = word_at(ends->data + end[i].number * (size_t)PAIR + WORD);

        if (other > node)
            a.has_greater = true;
        if (other < node && lesser != node && other != lesser)
            a.is_undecided = true;
        if (other < node)
            lesser = other;
        if (other < a.least)
            a.least = other;
    }
    a.is_undecided = a.is_undecided || (a.has_greater && a.least < node);
    return a;
}

/*
 * A step of Kiveris (2014), large star or small star, of the nodes of this part: every neighbour that
 * is greater, or lesser, is connected with the least neighbour instead.
 */
static bool make_stars(const struct nd_buffer *ends, bool is_large, struct nd_buffer *edges,
                       uint64_t *n_undecided)
{
    struct nd_numbered_value *end = sort_by_word(ends, PAIR, 0);
    size_t n = ends->len / PAIR;
    bool ok = end != NULL;

    for (size_t from = 0, to; ok && from < n; from = to) {
        uint64_t node = end[from].value;
        struct around around;

        to = end_of_run(end, from, n);
        around = look_around(ends, end + from, to - from);
        *n_undecided += around.is_undecided;
        for (size_t i = from; ok && i < to; i++) {
            uint64_t other = word_at(ends->data + end[i].number * (size_t)PAIR + WORD);

            if ((other > node) == is_large && other != around.least)
                ok = append_pair(edges, other, around.least);
        }
        if (ok && !is_large && around.least != node)
            ok = append_pair(edges, node, around.least);
    }
    free(end);
    return ok;
}

/* ends_stars(blobs of ends, is_large): a blob of edges, and how many nodes are not yet part of a star. */
static PyObject *ends_stars(PyObject *module, PyObject *args)
{
    struct nd_buffer ends = {0}, edges = {0}, out = {0};
    PyObject *blobs, *result = NULL;
    uint64_t n_undecided = 0;
    int is_large;
    bool ok;

    (void)module;
    if (!PyArg_ParseTuple(args, "Op", &blobs, &is_large))
        return NULL;
    if (gather(blobs, PAIR, &ends)) {
        Py_BEGIN_ALLOW_THREADS;
        ok = make_stars(&ends, is_large, &edges, &n_undecided) && contract(&edges, &out);
        Py_END_ALLOW_THREADS;
        result = ok ? Py_BuildValue("NK", bytes_of(&out), (unsigned long long)n_undecided)
                    : PyErr_NoMemory();
    }
    nd_buffer_release(&ends);
    nd_buffer_release(&edges);
    nd_buffer_release(&out);
    return result;
}

static bool label(const struct nd_buffer *ends, struct nd_buffer *nodes, struct nd_buffer *labels)
{
    struct nd_numbered_value *end = sort_by_word(ends, PAIR, 0);
    size_t n = ends->len / PAIR;
    bool ok = end != NULL;

    for (size_t from = 0, to; ok && from < n; from = to) {
        struct around around;

        to = end_of_run(end, from, n);
        around = look_around(ends, end + from, to - from);
        ok = nd_buffer_append(nodes, &end[from].value, WORD) &&
             nd_buffer_append(labels, &around.least, WORD);
    }
    free(end);
    return ok;
}

/* ends_labels(blobs of both ends of stars): blobs of the nodes, and of the least of each's component. */
static PyObject *ends_labels(PyObject *module, PyObject *blobs)
{
    struct nd_buffer ends = {0}, nodes = {0}, labels = {0};
    PyObject *result = NULL;
    bool ok;

    (void)module;
    if (gather(blobs, PAIR, &ends)) {
        Py_BEGIN_ALLOW_THREADS;
        ok = label(&ends, &nodes, &labels);
        Py_END_ALLOW_THREADS;
        result = ok ? Py_BuildValue("NN", bytes_of(&nodes), bytes_of(&labels)) : PyErr_NoMemory();
    }
    nd_buffer_release(&ends);
    nd_buffer_release(&nodes);
    nd_buffer_release(&labels);
    return result;
}

ND_PY_READS_FRAME(rows_make, 1)

PyMethodDef nd_py_shuffle_functions[] = {
    {"rows_new", rows_new, METH_O, "A maker of rows for a recipe."},
    {"rows_width", rows_width, METH_O, "The bytes of a record with a node and a row."},
    {"rows_make", rows_make_reading, METH_VARARGS, "The rows and keys of a frame."},
    {"rows_keys", rows_keys, METH_VARARGS, "The keys that rows tell."},
    {"rows_link", rows_link, METH_VARARGS, "Edges between all documents that could match."},
    {"records_deal", records_deal, METH_VARARGS, "Records by the part that they go to."},
    {"keys_buckets", keys_buckets, METH_VARARGS, "Documents that share a key."},
    {"members_attach", members_attach, METH_VARARGS, "The rows of the members of buckets."},
    {"entries_link", entries_link, METH_VARARGS, "Edges between documents that could match."},
    {"edges_contract", edges_contract, METH_O, "Edges to the least node that they lead to."},
    {"edges_ends", edges_ends, METH_VARARGS, "The ends of edges by the part that they go to."},
    {"ends_stars", ends_stars, METH_VARARGS, "A step of large star or small star."},
    {"ends_labels", ends_labels, METH_O, "The least node of each node's star."},
    {NULL, NULL, 0, NULL},
};
