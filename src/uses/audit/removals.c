/* removals.c - which documents another tool removed, and its clusters, as its files say */
#include "uses/audit/removals.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/system/descriptor.h"
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

/* A line says this of a document. */
struct said {
    uint64_t key, cluster;
    bool is_removed, has_cluster;
};

struct removals_reading {
    struct said *item; /* of all files, as they come */
    size_t n, capacity;
    const char *path;
    bool is_clusters; /* the file says only who belongs together */
    bool no_clusters; /* another one says that */
    struct nd_json room;
};

void nd_removals_release(struct nd_removals *r)
{
    free(r->item);
    free(r->cluster);
    *r = (struct nd_removals){.n = 0};
}

uint64_t nd_removal_key_of(struct nd_view name)
{
    return nd_hash_bytes(name.data, name.len);
}

static enum nd_status add(struct removals_reading *x, struct said said, struct nd_error *err)
{
    said.is_removed = said.is_removed && !x->is_clusters;
    said.has_cluster = said.has_cluster && !x->no_clusters;
    if (!said.is_removed && !said.has_cluster)
        return ND_OK;
    if (!ND_RESERVE(x->item, &x->capacity, x->n + 1))
        return nd_fail(err, ND_ENOMEM, "out of memory for %zu removals", x->n + 1);
    x->item[x->n++] = said;
    return ND_OK;
}

static enum nd_status take_row(void *context, const struct nd_document *removed, struct nd_view at,
                               struct nd_view kept, struct nd_view kept_at, uint64_t line,
                               struct nd_error *err)
{
    (void)at;
    (void)kept_at;
    (void)line;
    return add(context,
               (struct said){.key = nd_removal_key_of(removed->id),
                             .cluster = nd_removal_key_of(kept),
                             .is_removed = true,
                             .has_cluster = kept.data != NULL},
               err);
}

static bool is_same(struct nd_view a, struct nd_view b)
{
    return a.len == b.len && (!a.len || memcmp(a.data, b.data, a.len) == 0);
}

/* A line is an id, or a document and the one that is kept for it, or the name of its cluster. */
static enum nd_status take_line(void *context, const struct nd_record *record, struct nd_error *err)
{
    struct removals_reading *x = context;
    struct nd_view line = record->bytes;
    struct nd_cluster_line parts;
    enum nd_status status;
    bool is_own;

    while (line.len && (line.data[line.len - 1] == '\n' || line.data[line.len - 1] == '\r'))
        line.len--;
    if (!line.len)
        return ND_OK;
    if (!x->is_clusters && !memchr(line.data, '\t', line.len))
        return add(x, (struct said){.key = nd_removal_key_of(line), .is_removed = true}, err);
    status = nd_cluster_line_parse(record, x->path, &parts, err);
    if (status != ND_OK)
        return status;
    is_own = is_same(parts.name, parts.kept);
    return add(x,
               (struct said){.key = nd_removal_key_of(parts.name),
                             .cluster = nd_removal_key_of(parts.kept),
                             .is_removed = parts.fate == ND_FATE_REMOVED ||
                                           (parts.fate == ND_FATE_UNSAID && !is_own),
                             .has_cluster = true},
               err);
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
    return add(x,
               (struct said){
                   .key = nd_removal_key_of((struct nd_view){x->room.text.data, x->room.text.len}),
                   .is_removed = true},
               err);
}

static enum nd_status read_lines(struct removals_reading *x, struct nd_error *err)
{
    struct nd_manifest manifest = {.n_rows = 0};
    const struct nd_manifest_hooks hooks = {.row = take_row,
                                            .object = take_object,
                                            .text = take_line,
                                            .fields = members,
                                            .n_fields = MEMBERS,
                                            .context = x};
    enum nd_status status = nd_manifest_each(&manifest, x->path, &hooks, err);

    nd_manifest_release(&manifest);
    return status;
}

static uint32_t number_at(const unsigned char *byte)
{
    return (uint32_t)byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 |
           (uint32_t)byte[3] << 24;
}

/* datatrove's numbers of the documents of a file, ascending, 32 bits each, the least byte first: in
 * .remove alone, in .clusters followed by that of the cluster. */
static enum nd_status read_numbers(struct removals_reading *x, bool has_clusters,
                                   struct nd_error *err)
{
    FILE *file = nd_stream_open(x->path, "r");
    const size_t size = has_clusters ? 8 : 4;
    unsigned char row[8];
    enum nd_status status = ND_OK;
    size_t got = 0;
    uint64_t next = 0;

    if (!file)
        return nd_fail(err, ND_EIO, "%s: %s", x->path, strerror(errno));
    while (status == ND_OK && (got = fread(row, 1, size, file)) == size) {
        const struct said said = {.key = number_at(row),
                                  .cluster = has_clusters ? number_at(row + 4) : 0,
                                  .is_removed = !has_clusters,
                                  .has_cluster = has_clusters};

        status = said.key >= next ? add(x, said, err)
                                  : nd_fail(err, ND_EINPUT,
                                            "%s: not a file of datatrove: its numbers of documents "
                                            "do not ascend",
                                            x->path);
        next = said.key + 1;
    }
    if (status == ND_OK && ferror(file))
        status = nd_fail(err, ND_EIO, "%s: cannot be read", x->path);
    else if (status == ND_OK && got)
        status = nd_fail(err, ND_EINPUT, "%s: it ends within a row of %zu bytes", x->path, size);
    fclose(file);
    return status;
}

/* ---- All that is said, in order --------------------------------------------------------------- */

static int by_key(const void *left, const void *right)
{
    const struct said *a = left, *b = right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->has_cluster != b->has_cluster)
        return a->has_cluster ? -1 : 1;
    return a->cluster < b->cluster ? -1 : a->cluster > b->cluster;
}

static int by_cluster(const void *left, const void *right)
{
    const struct nd_removal_cluster *a = left, *b = right;

    return a->key < b->key ? -1 : a->key > b->key;
}

/* One for each document: removed, if any line says so; in the cluster with the least key of those
 * that lines name. */
static void join_lines(struct removals_reading *x)
{
    size_t n = 0;

    if (x->n)
        qsort(x->item, x->n, sizeof *x->item, by_key);
    for (size_t i = 0; i < x->n; i++)
        if (!n || x->item[n - 1].key != x->item[i].key)
            x->item[n++] = x->item[i];
        else
            x->item[n - 1].is_removed |= x->item[i].is_removed;
    x->n = n;
}

/* List the clusters of removed documents, each once. */
static enum nd_status list_clusters(struct nd_removals *r, const struct removals_reading *x,
                                    struct nd_error *err)
{
    size_t n = 0;

    r->cluster = nd_alloc_array(x->n + 1, sizeof *r->cluster);
    if (!r->cluster)
        return nd_fail(err, ND_ENOMEM, "out of memory for %zu clusters", x->n);
    for (size_t i = 0; i < x->n; i++)
        if (x->item[i].is_removed && x->item[i].has_cluster)
            r->cluster[n++] =
                (struct nd_removal_cluster){.key = x->item[i].cluster, .kept = ND_REMOVAL_NONE};
    if (n)
        qsort(r->cluster, n, sizeof *r->cluster, by_cluster);
    for (size_t i = 0; i < n; i++)
        if (!r->n_clusters || r->cluster[r->n_clusters - 1].key != r->cluster[i].key)
            r->cluster[r->n_clusters++] = r->cluster[i];
    return ND_OK;
}

/* Keep the removed documents, and those kept ones that are in their clusters. */
static enum nd_status list_documents(struct nd_removals *r, const struct removals_reading *x,
                                     struct nd_error *err)
{
    r->item = nd_alloc_array(x->n + 1, sizeof *r->item);
    if (!r->item)
        return nd_fail(err, ND_ENOMEM, "out of memory for %zu removals", x->n);
    for (size_t i = 0; i < x->n; i++) {
        const struct said *said = &x->item[i];
        const struct nd_removal_cluster *cluster =
            said->has_cluster ? nd_removals_cluster(r, said->cluster) : NULL;

        if (!said->is_removed && !cluster)
            continue;
        r->item[r->n++] = (struct nd_removed_name){
            .key = said->key,
            .cluster = cluster ? (uint32_t)(cluster - r->cluster) : ND_REMOVAL_NONE,
            .is_removed = said->is_removed};
        r->n_removed += said->is_removed;
    }
    return ND_OK;
}

static enum nd_status list(struct nd_removals *r, struct removals_reading *x, struct nd_error *err)
{
    enum nd_status status;

    join_lines(x);
    status = list_clusters(r, x, err);
    if (status == ND_OK)
        status = list_documents(r, x, err);
    if (status == ND_OK && !r->n_removed)
        status = nd_fail(err, ND_EINPUT, "%s: it names no removed document", r->path);
    if (status == ND_OK && r->n >= ND_REMOVAL_NONE)
        status =
            nd_fail(err, ND_EUNSUPPORTED, "%s: it names more than 2^32 - 2 documents", r->path);
    return status;
}

enum nd_status nd_removals_read_as(struct nd_removals *r, const char *path, bool is_numbers,
                                   const char *clusters, struct nd_error *err)
{
    struct removals_reading x = {.path = path, .no_clusters = clusters != NULL};
    enum nd_status status = is_numbers ? read_numbers(&x, false, err) : read_lines(&x, err);

    r->path = path;
    r->by_number = is_numbers;
    if (status == ND_OK && clusters) {
        x.path = clusters;
        x.no_clusters = false;
        x.is_clusters = true;
        status = is_numbers ? read_numbers(&x, true, err) : read_lines(&x, err);
    }
    if (status == ND_OK)
        status = list(r, &x, err);
    free(x.item);
    nd_json_release(&x.room);
    return status;
}

enum nd_status nd_removals_read(struct nd_removals *r, const char *path, const char *clusters,
                                struct nd_error *err)
{
    static const char ending[] = ".remove";
    const size_t len = strlen(path), n = sizeof ending - 1;

    return nd_removals_read_as(r, path, len > n && strcmp(path + len - n, ending) == 0, clusters,
                               err);
}

/* ---- Look-ups ----------------------------------------------------------------------------------- */

/* The first of n rows of this size, each of which begins with a key, whose key is not below this. */
static size_t place_of(const void *rows, size_t n, size_t size, uint64_t key)
{
    size_t from = 0, to = n;

    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        uint64_t there;

        memcpy(&there, (const char *)rows + middle * size, sizeof there);
        if (there < key)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

struct nd_removed_name *nd_removals_find(const struct nd_removals *r, uint64_t key)
{
    const size_t at = place_of(r->item, r->n, sizeof *r->item, key);

    return at < r->n && r->item[at].key == key ? &r->item[at] : NULL;
}

struct nd_removal_cluster *nd_removals_cluster(const struct nd_removals *r, uint64_t key)
{
    const size_t at = place_of(r->cluster, r->n_clusters, sizeof *r->cluster, key);

    return at < r->n_clusters && r->cluster[at].key == key ? &r->cluster[at] : NULL;
}

size_t nd_removals_missing(const struct nd_removals *r)
{
    size_t missing = 0;

    for (size_t i = 0; i < r->n; i++)
        missing += r->item[i].is_removed && !r->item[i].is_met;
    return missing;
}
