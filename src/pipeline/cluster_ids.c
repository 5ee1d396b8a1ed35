/* cluster_ids.c - the documents of one cluster, by the file that a run wrote */
#include "pipeline/cluster_ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

void nd_cluster_ids_release(struct nd_cluster_ids *ids)
{
    free(ids->hash);
    *ids = (struct nd_cluster_ids){0};
}

static int by_hash(const void *left, const void *right)
{
    uint64_t x = *(const uint64_t *)left, y = *(const uint64_t *)right;

    return x < y ? -1 : x > y;
}

/* What a pass over the lines looks for. */
struct looking {
    struct nd_cluster_ids *ids; /* NULL in the first pass */
    uint64_t wanted;            /* first pass: a document; second: its kept one */
    uint64_t kept;
    bool is_found;
};

static enum nd_status look(struct looking *l, struct nd_view line, const char *path,
                           uint64_t number, struct nd_error *err)
{
    const char *tab = line.len ? memchr(line.data, '\t', line.len) : NULL;
    size_t len = tab ? (size_t)(tab - line.data) : 0;
    uint64_t id, kept;
    void *list;

    if (!tab || memchr(tab + 1, '\t', line.len - len - 1))
        return nd_fail(err, ND_EINPUT, "%s:%llu: no line of an id, a tab and an id", path,
                       (unsigned long long)number);
    id = nd_hash_bytes(line.data, len);
    kept = nd_hash_bytes(tab + 1, line.len - len - 1);
    if (!l->ids) {
        if (!l->is_found && id == l->wanted) {
            l->is_found = true;
            l->kept = kept;
        }
        return ND_OK;
    }
    if (kept != l->wanted)
        return ND_OK;
    list = l->ids->hash;
    if (!nd_array_reserve(&list, &l->ids->capacity, l->ids->n + 1, sizeof id))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    l->ids->hash = list;
    l->ids->hash[l->ids->n++] = id;
    return ND_OK;
}

static void note_problem(void *context, const struct nd_problem *problem)
{
    char *message = context;

    if (problem->kind == ND_PROBLEM_FAILED && !*message)
        snprintf(message, sizeof((struct nd_error *)0)->message, "%s", problem->message);
}

static struct nd_view without_end(struct nd_view line)
{
    while (line.len && (line.data[line.len - 1] == '\n' || line.data[line.len - 1] == '\r'))
        line.len--;
    return line;
}

static enum nd_status pass(struct looking *l, const char *path, struct nd_error *err)
{
    struct nd_input_options options = nd_input_options_default();
    char failed[sizeof err->message] = "";
    struct nd_batch batch = {0};
    struct nd_input *input;
    enum nd_status status = ND_OK;
    int got = 1;

    options.format = ND_FORMAT_TEXT;
    options.unit = ND_UNIT_LINE;
    input = nd_input_open(&path, 1, &options, note_problem, failed, err);
    if (!input)
        return ND_ENOMEM;
    while (status == ND_OK && (got = nd_input_read(input, 1 << 20, 1 << 14, &batch, err)) > 0)
        for (size_t i = 0; status == ND_OK && i < batch.count; i++)
            status = look(l, without_end(batch.records[i].bytes), path, batch.records[i].line, err);
    nd_batch_release(&batch);
    nd_input_close(input);
    if (status == ND_OK && got < 0)
        status = (enum nd_status)got;
    if (status == ND_OK && *failed)
        status = nd_fail(err, ND_EIO, "%s", failed);
    return status;
}

/* An id as TSV writes it. */
static bool hash_of(struct nd_view id, struct nd_json *room, uint64_t *hash)
{
    room->text.len = 0;
    nd_tsv_field(room, id);
    *hash = nd_hash_bytes(room->text.data, room->text.len);
    return !room->failed;
}

enum nd_status nd_cluster_ids_read(struct nd_cluster_ids *ids, const char *path,
                                   const char *cluster, struct nd_error *err)
{
    struct looking first = {.ids = NULL}, second = {.ids = ids};
    struct nd_json room = {0};
    enum nd_status status = ND_OK;

    if (strcmp(path, "-") == 0)
        status = nd_fail(err, ND_EINVAL, "clusters are read twice: they cannot be standard input");
    else if (!hash_of((struct nd_view){cluster, strlen(cluster)}, &room, &first.wanted))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    if (status == ND_OK)
        status = pass(&first, path, err);
    if (status == ND_OK && !first.is_found)
        status = nd_fail(err, ND_EINPUT, "%s: no document has the id '%s'", path, cluster);
    second.wanted = first.kept;
    if (status == ND_OK)
        status = pass(&second, path, err);
    if (ids->n)
        qsort(ids->hash, ids->n, sizeof *ids->hash, by_hash);
    nd_json_release(&room);
    return status;
}

bool nd_cluster_ids_has(const struct nd_cluster_ids *ids, const struct nd_name *name,
                        struct nd_json *room)
{
    uint64_t hash;

    return hash_of(name->text, room, &hash) && ids->n &&
           bsearch(&hash, ids->hash, ids->n, sizeof hash, by_hash) != NULL;
}
