/* removals.c - which documents another tool removed, as its file says */
#include "uses/audit/removals.h"

#include "base/hash.h"
#include "base/memory.h"
#include "evidence/name.h"
#include "input/formats/lines.h"
#include "reading/fields.h"
#include "uses/read_manifest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The members of an object of dolma's attributes. */
enum { ID, ATTRIBUTES, MEMBERS };
static const char *const members[] = {"id", "attributes"};

struct removals_reading {
    struct nd_removals *r;
    const char *path;
    struct nd_json room;
};

void nd_removals_release(struct nd_removals *r)
{
    free(r->item);
    *r = (struct nd_removals){.n = 0};
}

uint64_t nd_removal_key_of(struct nd_view name)
{
    return nd_hash_bytes(name.data, name.len);
}

uint64_t nd_removal_key_of_record(uint64_t number)
{
    return number;
}

static enum nd_status add(struct nd_removals *r, uint64_t key, struct nd_error *err)
{
    if (!ND_RESERVE(r->item, &r->capacity, r->n + 1))
        return nd_fail(err, ND_ENOMEM, "out of memory for %zu removals", r->n + 1);
    r->item[r->n].key = key;
    atomic_init(&r->item[r->n++].is_met, 0);
    return ND_OK;
}

static enum nd_status take_row(void *context, const struct nd_document *removed, struct nd_view at,
                               struct nd_view kept, struct nd_view kept_at, uint64_t line,
                               struct nd_error *err)
{
    struct removals_reading *x = context;

    (void)at;
    (void)kept;
    (void)kept_at;
    (void)line;
    return add(x->r, nd_removal_key_of(removed->id), err);
}

static bool is_same(struct nd_view a, struct nd_view b)
{
    return a.len == b.len && (!a.len || memcmp(a.data, b.data, a.len) == 0);
}

/* A line is an id, or a document and the one that is kept for it. */
static enum nd_status take_line(void *context, const struct nd_record *record, struct nd_error *err)
{
    struct removals_reading *x = context;
    struct nd_view line = record->bytes;
    struct nd_cluster_line parts;
    enum nd_status status;

    while (line.len && (line.data[line.len - 1] == '\n' || line.data[line.len - 1] == '\r'))
        line.len--;
    if (!line.len)
        return ND_OK;
    if (!memchr(line.data, '\t', line.len))
        return add(x->r, nd_removal_key_of(line), err);
    status = nd_cluster_line_parse(record, x->path, &parts, err);
    if (status != ND_OK)
        return status;
    if (parts.fate == ND_FATE_REMOVED ||
        (parts.fate == ND_FATE_UNSAID && !is_same(parts.name, parts.kept)))
        return add(x->r, nd_removal_key_of(parts.name), err);
    return ND_OK;
}

/* Whether some attribute has a span: [[0, 120, 1.0]]. */
static bool has_span(struct nd_view attributes)
{
    unsigned depth = 0;

    for (size_t i = 0; i < attributes.len; i++) {
        const char c = attributes.data[i];

        if (c == '[' && ++depth == 2)
            return true;
        if (c == ']')
            depth--;
        if (c == '"') /* a name */
            for (i++; i < attributes.len && attributes.data[i] != '"'; i++)
                i += attributes.data[i] == '\\';
    }
    return false;
}

static enum nd_status take_object(void *context, const struct nd_document *object, uint64_t line,
                                  struct nd_error *err)
{
    struct removals_reading *x = context;
    const struct nd_view id = nd_document_field(object, ND_MANIFEST_FIELDS + ID),
                         attributes = nd_document_field(object, ND_MANIFEST_FIELDS + ATTRIBUTES);

    if (!id.data || !attributes.data)
        return nd_fail(err, ND_EINPUT,
                       "%s:%" PRIu64
                       ": neither a row of a manifest nor dolma's attributes: there is "
                       "no \"removed\", and not both \"id\" and \"attributes\"",
                       x->path, line);
    if (!has_span(attributes))
        return ND_OK;
    x->room.text.len = 0;
    nd_name_value(&x->room, id);
    if (x->room.failed)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    return add(x->r, nd_removal_key_of((struct nd_view){x->room.text.data, x->room.text.len}), err);
}

static enum nd_status read_lines(struct nd_removals *r, const char *path, struct nd_error *err)
{
    struct removals_reading x = {.r = r, .path = path};
    struct nd_manifest manifest = {.n_rows = 0};
    const struct nd_manifest_hooks hooks = {.row = take_row,
                                            .object = take_object,
                                            .text = take_line,
                                            .fields = members,
                                            .n_fields = MEMBERS,
                                            .context = &x};
    enum nd_status status = nd_manifest_each(&manifest, path, &hooks, err);

    nd_manifest_release(&manifest);
    nd_json_release(&x.room);
    return status;
}

/* datatrove's 00000.remove: the numbers of the documents of a file, 32 bits each, least byte first. */
static enum nd_status read_numbers(struct nd_removals *r, const char *path, struct nd_error *err)
{
    FILE *file = fopen(path, "rb");
    unsigned char word[4];
    enum nd_status status = ND_OK;
    size_t got = 0;

    if (!file)
        return nd_fail(err, ND_EIO, "%s: %s", path, strerror(errno));
    r->by_record = true;
    while (status == ND_OK && (got = fread(word, 1, sizeof word, file)) == sizeof word)
        status = add(r,
                     nd_removal_key_of_record((uint64_t)word[0] | (uint64_t)word[1] << 8 |
                                              (uint64_t)word[2] << 16 | (uint64_t)word[3] << 24),
                     err);
    if (status == ND_OK && ferror(file))
        status = nd_fail(err, ND_EIO, "%s: cannot be read", path);
    else if (status == ND_OK && got)
        status = nd_fail(err, ND_EINPUT, "%s: it ends within a number of 4 bytes", path);
    fclose(file);
    return status;
}

static int by_key(const void *left, const void *right)
{
    const struct nd_removal_key *a = left, *b = right;

    return a->key < b->key ? -1 : a->key > b->key;
}

static void sort_distinct(struct nd_removals *r)
{
    size_t n = 0;

    if (r->n)
        qsort(r->item, r->n, sizeof *r->item, by_key);
    for (size_t i = 0; i < r->n; i++)
        if (!n || r->item[n - 1].key != r->item[i].key)
            r->item[n++].key = r->item[i].key;
    r->n = n;
}

enum nd_status nd_removals_read_as(struct nd_removals *r, const char *path, bool is_numbers,
                                   struct nd_error *err)
{
    enum nd_status status = is_numbers ? read_numbers(r, path, err) : read_lines(r, path, err);

    r->path = path;
    if (status == ND_OK && !r->n)
        status = nd_fail(err, ND_EINPUT, "%s: it names no removed document", path);
    sort_distinct(r);
    return status;
}

enum nd_status nd_removals_read(struct nd_removals *r, const char *path, struct nd_error *err)
{
    static const char ending[] = ".remove";
    const size_t len = strlen(path), n = sizeof ending - 1;

    return nd_removals_read_as(r, path, len > n && strcmp(path + len - n, ending) == 0, err);
}

bool nd_removals_meet(struct nd_removals *r, uint64_t key)
{
    size_t from = 0, to = r->n;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (r->item[middle].key < key)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == r->n || r->item[from].key != key)
        return false;
    atomic_store_explicit(&r->item[from].is_met, 1, memory_order_relaxed);
    return true;
}

size_t nd_removals_missing(const struct nd_removals *r)
{
    size_t missing = 0;

    for (size_t i = 0; i < r->n; i++)
        missing += !atomic_load_explicit(&r->item[i].is_met, memory_order_relaxed);
    return missing;
}
