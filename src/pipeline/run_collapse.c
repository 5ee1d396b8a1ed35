/* run_collapse.c - a ranked list to one result a cluster */
#define _GNU_SOURCE
#include "pipeline/joint.h"
#include "pipeline/use.h"

#include <stdlib.h>
#include <string.h>

/* A document of the list; its rank is its place. */
struct result {
    struct nd_view record, id;
    enum nd_id_kind id_kind;
    const struct nd_source *source;
    uint64_t keep, order, expand; /* keys: the least comes first */
    struct nd_decision decision;
    uint32_t shown; /* rank of what stands for it */
    uint32_t best;  /* of a shown one: the best rank in its cluster */
};

struct collapsing {
    struct nd_use use;
    const struct nd_collapse_params *params;
    struct nd_keep order, expand;
    struct nd_arena memory;
    struct result *at;
    size_t n, capacity;
    uint32_t *list; /* ranks, sorted in several ways */
    struct nd_joint joint;
    const struct nd_source *first; /* of what was written: its header is that of all */
    bool has_document, has_record;
};

static bool hold(struct collapsing *c, struct nd_view *out, struct nd_view from)
{
    *out = (struct nd_view){nd_arena_copy(&c->memory, from.data, from.len), from.len};
    return out->data != NULL;
}

static enum nd_status take(void *context, const struct nd_use_item *item, struct nd_error *err)
{
    struct collapsing *c = context;
    const struct nd_document *document = &item->parsed->document;
    const struct nd_run *run = &c->use.run;
    struct result r = {.source = item->source, .id_kind = item->name.kind};
    void *list = c->at;

    c->has_record |= item->source->is_container != 0;
    c->has_document |= !item->source->is_container;
    if (c->has_record && c->has_document)
        return nd_fail(err, ND_EINPUT,
                       "%s: a list is either of records or of files that are documents",
                       item->source->path);
    if (c->n >= UINT32_MAX - 1)
        return nd_fail(err, ND_EUNSUPPORTED, "more than %u results", UINT32_MAX - 1);
    if (!nd_keep_key(&run->keep, document->text, nd_run_field(document, run->keep_at), &r.keep) ||
        !nd_keep_key(&c->order, document->text, nd_use_first(&c->use, document), &r.order) ||
        !nd_keep_key(&c->expand, document->text, nd_use_second(&c->use, document), &r.expand) ||
        !hold(c, &r.record, item->parsed->record.bytes) || !hold(c, &r.id, item->name.text) ||
        !nd_array_reserve(&list, &c->capacity, c->n + 1, sizeof r))
        return nd_fail(err, ND_ENOMEM, "out of memory for %zu results", c->n + 1);
    c->at = list;
    c->at[c->n++] = r;
    return ND_OK;
}

/* By a key, then by rank; `last` says that of equal keys the later comes first. */
static int by_keys(uint64_t x, uint64_t y, uint32_t rank_x, uint32_t rank_y, bool last)
{
    if (x != y)
        return x < y ? -1 : 1;
    if (rank_x == rank_y)
        return 0;
    return (rank_x < rank_y) != last ? -1 : 1;
}

static int by_keep(const void *left, const void *right, void *context)
{
    const struct collapsing *c = context;
    uint32_t x = *(const uint32_t *)left, y = *(const uint32_t *)right;

    return by_keys(c->at[x].keep, c->at[y].keep, x, y, c->use.run.keep.by == ND_KEEP_LAST);
}

/* Shown ones: by what the order says of them, then by the best rank of the cluster. */
static int by_order(const void *left, const void *right, void *context)
{
    const struct collapsing *c = context;
    const struct result *x = &c->at[*(const uint32_t *)left], *y = &c->at[*(const uint32_t *)right];

    return by_keys(x->order, y->order, x->best, y->best, c->order.by == ND_KEEP_LAST);
}

/* Members of one cluster on end. */
static int by_cluster(const void *left, const void *right, void *context)
{
    const struct collapsing *c = context;
    uint32_t x = *(const uint32_t *)left, y = *(const uint32_t *)right;

    if (c->at[x].shown != c->at[y].shown)
        return c->at[x].shown < c->at[y].shown ? -1 : 1;
    return by_keys(c->at[x].expand, c->at[y].expand, x, y, c->expand.by == ND_KEEP_LAST);
}

static void sort(struct collapsing *c, uint32_t *list, size_t n,
                 int (*compare)(const void *, const void *, void *))
{
    if (n)
        qsort_r(list, n, sizeof *list, compare, c);
}

/* The documents in keep order, parsed again from the records that are held. */
static enum nd_status parse_all(struct collapsing *c, struct nd_parser *parser,
                                struct nd_document *document, struct nd_dedup_item *item,
                                struct nd_error *err)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct result *r = &c->at[c->list[i]];
        struct nd_bad_record bad;
        uint64_t repaired = 0;

        if (nd_parser_parse(parser, r->source, r->record, &document[i], &repaired, &bad) != 1)
            return nd_fail(err, ND_ENOMEM, "out of memory for %zu results", c->n);
        item[i] = (struct nd_dedup_item){.text = document[i].text, .document = &document[i]};
    }
    return ND_OK;
}

/* A batch after the other, as one holds the sketches and shingles of its documents. */
static enum nd_status push_batches(struct nd_dedup *dedup, const struct nd_dedup_item *item,
                                   size_t n, struct nd_decision *decision, struct nd_error *err)
{
    enum { BATCH_BYTES = 4 << 20 };
    enum nd_status status = ND_OK;

    for (size_t from = 0, to = 0; status == ND_OK && from < n; from = to) {
        size_t bytes = 0;

        while (to < n && (to == from || bytes + item[to].text.len <= BATCH_BYTES))
            bytes += item[to++].text.len;
        status = nd_dedup_push(dedup, item + from, to - from, decision + from, err);
    }
    return status;
}

static enum nd_status push_all(struct collapsing *c, const struct nd_dedup_item *item,
                               struct nd_error *err)
{
    struct nd_dedup_params params = nd_run_dedup_params(&c->use.run.recipe);
    struct nd_decision *decision = nd_alloc_array(c->n, sizeof *decision);
    struct nd_dedup *dedup;
    enum nd_status status;

    if (!decision)
        return nd_fail(err, ND_ENOMEM, "out of memory for %zu results", c->n);
    params.cluster = ND_CLUSTER_STAR;
    dedup = nd_dedup_new_on(c->use.run.pool, &params, NULL, err);
    status = dedup ? push_batches(dedup, item, c->n, decision, err) : err->status;
    for (size_t i = 0; status == ND_OK && i < c->n; i++) {
        c->at[c->list[i]].decision = decision[i];
        c->at[c->list[i]].shown = c->list[decision[i].kept];
        c->at[c->list[i]].best = UINT32_MAX;
    }
    if (status == ND_OK)
        nd_run_warn_unsigned(&c->use.run, dedup, "result");
    nd_dedup_free(dedup);
    free(decision);
    return status;
}

static enum nd_status decide(struct collapsing *c, struct nd_error *err)
{
    struct nd_dedup_item *item = nd_alloc_array(c->n, sizeof *item);
    struct nd_document *document = nd_alloc_array(c->n, sizeof *document);
    struct nd_parser *parser = nd_parser_new(&c->use.run.input, err);
    enum nd_status status = ND_OK;

    c->list = nd_alloc_array(c->n, sizeof *c->list);
    if (!item || !document || !parser || !c->list)
        status = nd_fail(err, ND_ENOMEM, "out of memory for %zu results", c->n);
    for (size_t i = 0; status == ND_OK && i < c->n; i++)
        c->list[i] = (uint32_t)i;
    if (status == ND_OK) {
        sort(c, c->list, c->n, by_keep);
        status = parse_all(c, parser, document, item, err);
    }
    if (status == ND_OK)
        status = push_all(c, item, err);
    nd_parser_free(parser);
    free(document);
    free(item);
    return status;
}

/* The shown ones, in the order of the results; how many. */
static size_t list_results(struct collapsing *c)
{
    size_t n = 0;

    for (size_t i = c->n; i-- > 0;)
        c->at[c->at[i].shown].best = (uint32_t)i;
    for (size_t i = 0; i < c->n; i++)
        if (c->at[i].shown == i)
            c->list[n++] = (uint32_t)i;
    sort(c, c->list, n, by_order);
    return n;
}

static enum nd_status write(struct collapsing *c, struct nd_view bytes, struct nd_error *err)
{
    return nd_output_write(c->use.out, bytes.data, bytes.len, err);
}

/* A record in its own form, below the header that its kind of file has. */
static enum nd_status write_record(struct collapsing *c, const struct result *r,
                                   struct nd_error *err)
{
    const struct nd_source *source = r->source;
    const struct nd_view newline = {"\n", 1}, path = {source->path, strlen(source->path)};
    enum nd_status status;

    if (c->has_document) {
        status = write(c, path, err);
        return status == ND_OK ? write(c, newline, err) : status;
    }
    if (!c->first) {
        c->first = source;
        if (source->header.len) {
            (void)nd_joint_before(&c->joint, source->header, c->use.options.input.unit,
                                  source->format);
            status = write(c, source->header, err);
            if (status != ND_OK)
                return status;
        }
    } else if (source->header.len != c->first->header.len ||
               (source->header.len &&
                memcmp(source->header.data, c->first->header.data, source->header.len) != 0)) {
        return nd_fail(err, ND_EINPUT, "%s and %s have different headers, and a list has one",
                       c->first->path, source->path);
    }
    status = write(
        c, nd_joint_before(&c->joint, r->record, c->use.options.input.unit, source->format), err);
    return status == ND_OK ? write(c, r->record, err) : status;
}

static void put_id(struct nd_json *row, const struct result *r)
{
    const struct nd_name name = {r->id_kind, r->id};

    nd_json_key(row, "id");
    nd_name_json(row, &name);
}

static void put_rank(struct nd_json *row, const char *key, uint32_t rank)
{
    nd_json_key(row, key);
    nd_json_uint(row, (uint64_t)rank + 1);
}

/* members: of the cluster, in order, the shown one among them. */
static enum nd_status write_expanded(struct collapsing *c, uint32_t shown, const uint32_t *member,
                                     size_t n, struct nd_error *err)
{
    struct nd_json *row = &c->use.row;
    const struct result *r = &c->at[shown];

    row->text.len = 0;
    nd_json_open(row, '{');
    put_id(row, r);
    put_rank(row, "rank", r->best);
    put_rank(row, "own_rank", shown);
    nd_json_key(row, "duplicates");
    nd_json_open(row, '[');
    for (size_t i = 0; i < n; i++) {
        const struct result *d = &c->at[member[i]];

        if (member[i] == shown)
            continue;
        nd_json_open(row, '{');
        put_id(row, d);
        put_rank(row, "rank", member[i]);
        if (d->decision.verified && d->decision.identical == ND_IDENTICAL_NO) {
            nd_json_key(row, "resemblance");
            nd_json_double(row, nd_overlap_resemblance(&d->decision.overlap));
        } else if (d->decision.identical != ND_IDENTICAL_NO) {
            nd_json_key(row, "resemblance");
            nd_json_uint(row, 1);
        }
        nd_json_close(row, '}');
    }
    nd_json_close(row, ']');
    nd_json_close(row, '}');
    nd_json_line(row);
    if (row->failed)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    return nd_output_write(c->use.out, row->text.data, row->text.len, err);
}

/* Where the list is to be replaced: by records in its own format. */
static enum nd_status open_list(struct collapsing *c, struct nd_error *err)
{
    const struct nd_source *source = c->n ? c->at[0].source : NULL;
    bool replaces = c->use.run.replaced.inode != 0;
    enum nd_status status;

    if (replaces && source && (c->has_document || source->archive))
        return nd_fail(err, ND_EINVAL, "'%s' is %s, and would be replaced by %s: write elsewhere",
                       c->use.options.output, source->archive ? "an archive" : "a document",
                       c->has_document ? "a list of paths" : "records");
    status = nd_use_open(&c->use, true, err);
    if (status == ND_OK && replaces && source)
        nd_output_be_compressed(c->use.out, source->compression);
    return status;
}

static enum nd_status write_results(struct collapsing *c, size_t n, struct nd_error *err)
{
    uint32_t *member = nd_alloc_array(c->n, sizeof *member);
    uint32_t *first = nd_alloc_array(c->n, sizeof *first); /* of the cluster of each shown one */
    enum nd_status status = open_list(c, err);

    if (status == ND_OK && (!member || !first))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    if (status == ND_OK) {
        for (size_t i = 0; i < c->n; i++)
            member[i] = (uint32_t)i;
        sort(c, member, c->n, by_cluster);
        for (size_t i = c->n; i-- > 0;)
            first[c->at[member[i]].shown] = (uint32_t)i;
    }
    for (size_t i = 0; status == ND_OK && i < n; i++) {
        uint32_t shown = c->list[i];
        size_t from = first[shown], end = from;

        while (end < c->n && c->at[member[end]].shown == shown)
            end++;
        status = c->params->expand ? write_expanded(c, shown, member + from, end - from, err)
                                   : write_record(c, &c->at[shown], err);
    }
    free(member);
    free(first);
    return status;
}

static enum nd_status parse_order(const char *option, const char *text, struct nd_keep *keep,
                                  struct nd_error *err)
{
    struct nd_error reason = {0};

    if (!text || strcmp(text, "rank") == 0)
        text = "first";
    if (nd_keep_parse(text, keep, &reason) == ND_OK)
        return ND_OK;
    return nd_fail(err, ND_EINVAL,
                   "%s: '%s' is none of rank, longest, shortest, longest:FIELD, shortest:FIELD, "
                   "newest:FIELD, max:FIELD, min:FIELD",
                   option, text);
}

enum nd_status nd_run_collapse(const struct nd_run_options *options,
                               const struct nd_collapse_params *params,
                               const struct nd_run_events *events, struct nd_use_summary *summary,
                               struct nd_error *err)
{
    const struct nd_run_files files = {.writes_output = true, .may_replace = !params->expand};
    struct collapsing c = {.params = params};
    struct nd_error room = {0};
    enum nd_status status;
    size_t found = 0;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    status = parse_order("order", params->order, &c.order, err);
    if (status == ND_OK)
        status = parse_order("expand", params->expand, &c.expand, err);
    if (status != ND_OK)
        return status;
    status = nd_use_begin(&c.use, options, &files, c.order.field, c.expand.field, events, err);
    if (status == ND_OK)
        status = nd_use_walk(&c.use, -1, take, &c, err);
    if (status == ND_OK)
        status = decide(&c, err);
    if (status == ND_OK) {
        found = list_results(&c);
        status = write_results(&c, found, err);
    }
    status = nd_use_end(&c.use, status, found, summary, err);
    nd_arena_release(&c.memory);
    free(c.at);
    free(c.list);
    return status;
}
