/* collapse.c - a ranked list to one result a cluster */

/*
 * The list is read once, and its records stay in memory: a search result is small. Clusters are
 * found by pushing the documents in the order of --keep, so that the engine keeps the one that is
 * shown. The result is then the list of shown documents in the order of --order, each with the
 * members of its cluster if those are asked for. Sorting works on ranks, and all orders end with
 * the rank, so that they are total.
 */
#include "base/system/c_functions.h"
#include "input/formats/formats.h"
#include "report/output.h"
#include "report/sketch_output.h"
#include "uses/use.h"

#include <stdlib.h>
#include <string.h>

/* A sort key: the smallest value comes first. */
struct cluster_key {
    uint64_t value;
    struct nd_view text; /* the number as text, if `value` was rounded */
};

/* A document of the list. Its rank is its position in the list. */
struct result {
    struct nd_view record, id;
    enum nd_id_kind id_kind;
    const struct nd_source *source;
    struct cluster_key keep, order, expand;
    struct nd_decision decision;
    uint32_t labels; /* the set of its security labels (reading/comparable.h) */
    uint32_t shown;  /* rank of the document that is shown for its cluster */
    uint32_t best;   /* if it is shown: the best rank in its cluster */
};

struct collapsing {
    struct nd_use use;
    const struct nd_collapse_params *params;
    struct nd_keep order, expand;
    struct nd_arena memory;
    struct result *at;
    size_t n, capacity;
    uint32_t *list;                    /* ranks, sorted in several ways */
    struct nd_sketch_output *sketches; /* where results of sketch files go, unless expanded */
    struct nd_separator separator;
    const struct nd_source *first; /* of the first record written; all must have its header */
    bool has_document, has_record;
};

/* The fields to read of every document. */
enum { ORDER, EXPAND };

static bool hold(struct collapsing *c, struct nd_view *out, struct nd_view from)
{
    *out = (struct nd_view){nd_arena_copy(&c->memory, from.data, from.len), from.len};
    return out->data != NULL;
}

static bool make_key(struct collapsing *c, const struct nd_keep *keep,
                     const struct nd_document *document, struct nd_view field,
                     struct cluster_key *key)
{
    if (!nd_keep_key(keep, document->text, field, &key->value))
        return false;
    return !nd_keep_is_rough(keep, key->value) || hold(c, &key->text, field);
}

static enum nd_status take(void *context, const struct nd_parsed *parsed, struct nd_error *err)
{
    struct collapsing *c = context;
    const struct nd_document *document = &parsed->document;
    const struct nd_run *run = &c->use.run;
    const struct nd_name name = nd_use_name(&c->use, parsed);
    struct result r = {.source = parsed->source, .id_kind = name.kind};

    c->has_record |= parsed->source->is_container != 0;
    c->has_document |= !parsed->source->is_container;
    if (c->has_record && c->has_document)
        return nd_fail(err, ND_EINPUT,
                       "%s: a list cannot mix records with files that are documents",
                       parsed->source->path);
    if (c->n >= UINT32_MAX - 1)
        return nd_fail(err, ND_EUNSUPPORTED, "more than %u results", UINT32_MAX - 1);
    if (!nd_comparable_labels(&c->use.run.comparable, document, &r.labels) ||
        !make_key(c, &run->keep, document, nd_document_field(document, run->keep_index), &r.keep) ||
        !make_key(c, &c->order, document, nd_run_asked(run, document, ORDER), &r.order) ||
        !make_key(c, &c->expand, document, nd_run_asked(run, document, EXPAND), &r.expand) ||
        !hold(c, &r.record, parsed->record.bytes) || !hold(c, &r.id, name.text) ||
        !ND_RESERVE(c->at, &c->capacity, c->n + 1))
        return nd_fail(err, ND_ENOMEM, "out of memory for %zu results", c->n + 1);
    c->at[c->n++] = r;
    return ND_OK;
}

/* By a key, then by rank. */
static int by_keys(const struct nd_keep *keep, const struct cluster_key *x,
                   const struct cluster_key *y, uint32_t rank_x, uint32_t rank_y)
{
    int order;

    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    order = nd_keep_is_rough(keep, x->value) ? nd_keep_compare(keep, x->text, y->text) : 0;
    if (order || rank_x == rank_y)
        return order;
    return (rank_x < rank_y) != (keep->by == ND_KEEP_LAST) ? -1 : 1;
}

static int by_keep(const void *left, const void *right, void *context)
{
    const struct collapsing *c = context;
    uint32_t x = *(const uint32_t *)left, y = *(const uint32_t *)right;

    return by_keys(&c->use.run.keep, &c->at[x].keep, &c->at[y].keep, x, y);
}

/* Order the shown documents by --order, then by the best rank of their cluster. */
static int by_order(const void *left, const void *right, void *context)
{
    const struct collapsing *c = context;
    const struct result *x = &c->at[*(const uint32_t *)left], *y = &c->at[*(const uint32_t *)right];

    return by_keys(&c->order, &x->order, &y->order, x->best, y->best);
}

/* Order that puts members of a cluster next to each other. */
static int by_cluster(const void *left, const void *right, void *context)
{
    const struct collapsing *c = context;
    uint32_t x = *(const uint32_t *)left, y = *(const uint32_t *)right;

    if (c->at[x].shown != c->at[y].shown)
        return c->at[x].shown < c->at[y].shown ? -1 : 1;
    return by_keys(&c->expand, &c->at[x].expand, &c->at[y].expand, x, y);
}

static void sort(struct collapsing *c, uint32_t *list, size_t n,
                 int (*compare)(const void *, const void *, void *))
{
    if (n)
        nd_sort_with(list, n, sizeof *list, compare, c);
}

/* In keep order. */
static enum nd_status decide(struct collapsing *c, struct nd_error *err)
{
    struct nd_parsed *held = calloc(c->n + 1, sizeof *held);
    struct nd_decision *decision = nd_alloc_array(c->n, sizeof *decision);
    uint32_t *labels = nd_alloc_array(c->n, sizeof *labels);
    enum nd_status status = ND_OK;

    c->list = nd_alloc_array(c->n, sizeof *c->list);
    if (!held || !decision || !labels || !c->list)
        status = nd_fail(err, ND_ENOMEM, "out of memory for %zu results", c->n);
    for (size_t i = 0; status == ND_OK && i < c->n; i++)
        c->list[i] = (uint32_t)i;
    if (status == ND_OK)
        sort(c, c->list, c->n, by_keep);
    for (size_t i = 0; status == ND_OK && i < c->n; i++) {
        held[i].source = c->at[c->list[i]].source;
        held[i].record.bytes = c->at[c->list[i]].record;
        labels[i] = c->at[c->list[i]].labels;
    }
    if (status == ND_OK)
        status = nd_use_decide(&c->use, held, labels, c->n, decision, "result", err);
    for (size_t i = 0; status == ND_OK && i < c->n; i++) {
        struct result *r = &c->at[c->list[i]];

        r->decision = decision[i];
        r->shown = c->list[decision[i].kept];
        r->best = UINT32_MAX;
    }
    free(held);
    free(decision);
    free(labels);
    return status;
}

/* Keep only the members of the cluster of --cluster. */
static int by_own_order(const void *left, const void *right, void *context)
{
    const struct collapsing *c = context;
    uint32_t x = *(const uint32_t *)left, y = *(const uint32_t *)right;

    return by_keys(&c->order, &c->at[x].order, &c->at[y].order, x, y);
}

/* The best-ranked document with this name, preferring an exact id; c->n if there is none. */
static size_t find_named(const struct collapsing *c, const char *name, struct nd_error *err)
{
    const struct nd_view wanted = {name, strlen(name)};
    struct nd_json room = {0};
    size_t found = c->n;

    for (size_t i = 0; found == c->n && i < c->n; i++)
        if (c->at[i].id.len == wanted.len && memcmp(c->at[i].id.data, name, wanted.len) == 0)
            found = i;
    for (size_t i = 0; found == c->n && i < c->n; i++)
        if (nd_name_is_written(wanted, c->at[i].id, &room))
            found = i;
    if (room.failed)
        nd_fail(err, ND_ENOMEM, "out of memory");
    else if (found == c->n)
        nd_fail(err, ND_EINPUT, "%s: no document has this id or place", name);
    nd_json_release(&room);
    return found;
}

/* Write the members of one cluster; if each cluster is one object, only its shown member. */
static enum nd_status narrow(struct collapsing *c, size_t *n, struct nd_error *err)
{
    size_t named = find_named(c, c->params->only, err);
    uint32_t shown;

    if (err->status != ND_OK)
        return err->status;
    shown = c->at[named].shown;
    *n = 0;
    for (size_t i = 0; i < c->n; i++)
        if (c->params->expand ? i == shown : c->at[i].shown == shown)
            c->list[(*n)++] = (uint32_t)i;
    sort(c, c->list, *n, by_own_order);
    return ND_OK;
}

/* List the shown documents in the order of the results, and return how many there are. */
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

/* Write a record unchanged, after the header of its file if the format has one. */
static enum nd_status write_record(struct collapsing *c, const struct result *r,
                                   struct nd_error *err)
{
    const struct nd_source *source = r->source;
    const struct nd_view newline = {"\n", 1}, path = {source->path, strlen(source->path)};
    enum nd_status status;

    if (c->sketches)
        return nd_sketch_output_add_packed(c->sketches, r->record, err);
    nd_source_count_kept(source);
    if (c->has_document) {
        status = write(c, path, err);
        return status == ND_OK ? write(c, newline, err) : status;
    }
    if (!c->first) {
        c->first = source;
        if (source->header.len) {
            (void)nd_separator_before(&c->separator, source->header, c->use.run.input.unit,
                                      source->format);
            status = write(c, source->header, err);
            if (status != ND_OK)
                return status;
        }
    } else if (source->header.len != c->first->header.len ||
               (source->header.len &&
                memcmp(source->header.data, c->first->header.data, source->header.len) != 0)) {
        return nd_fail(err, ND_EINPUT, "%s and %s have different headers, but a list has only one",
                       c->first->path, source->path);
    }
    status = write(
        c, nd_separator_before(&c->separator, r->record, c->use.run.input.unit, source->format),
        err);
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
    nd_json_put_uint(row, key, (uint64_t)rank + 1);
}

/* `members` are those of the cluster, in order, the shown one among them. */
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
            nd_json_put_double(row, "resemblance", nd_overlap_resemblance(&d->decision.overlap));
        } else if (d->decision.identical != ND_IDENTICAL_NO) {
            nd_json_put_uint(row, "resemblance", 1);
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

/* Results of sketch files are a sketch file. */
static enum nd_status open_sketches(struct collapsing *c, struct nd_error *err)
{
    const struct nd_run *run = &c->use.run;
    const struct nd_sketch_writer_options options = nd_sketches_like(run->sketches);
    const char *name = run->options->output;
    enum nd_status status = ND_OK;

    if (!name || strcmp(name, "-") == 0)
        return nd_fail(err, ND_EINVAL,
                       "the results of a sketch file are a sketch file, which needs a name: add -o "
                       "FILE.sketch, or --expand");
    c->sketches = nd_sketch_output_open(name, run->recipe, &options, err);
    if (!c->sketches)
        return err->status;
    for (uint32_t i = 0; status == ND_OK && i < nd_sketches_sources(run->sketches); i++) {
        const struct nd_source *s = nd_sketches_source(run->sketches, i);
        const struct nd_sketch_source source = {s->path, s->entry, s->bytes_hash, s->records};

        status = nd_sketch_writer_add_source(nd_sketch_output_writer(c->sketches), &source, err);
    }
    return status;
}

/* The list may be replaced only by records in its own format. */
static enum nd_status open_list(struct collapsing *c, struct nd_error *err)
{
    const struct nd_source *source = c->n ? c->at[0].source : NULL;
    bool replaces = c->use.run.outputs.replaced.inode != 0;
    const char *name = c->use.run.options->output;
    enum nd_status status;

    if (c->use.run.sketches && !c->params->expand)
        return open_sketches(c, err);
    if (replaces && source && (c->has_document || source->archive))
        return nd_fail(err, ND_EINVAL,
                       "'%s' is %s and would be replaced by %s: choose another output",
                       name ? name : "-", source->archive ? "an archive" : "a document",
                       c->has_document ? "a list of paths" : "records");
    status = nd_use_open(&c->use, true, err);
    if (status == ND_OK && replaces && source)
        nd_output_be_compressed(c->use.out, source->compression);
    return status;
}

/* End the frame of a feed. */
static enum nd_status write_end(struct collapsing *c, struct nd_error *err)
{
    const struct nd_format_row *row = c->first ? nd_format_row(c->first->format) : NULL;
    struct nd_buffer end = {0};
    enum nd_status status = ND_OK;

    if (!row || !row->frame_end)
        return ND_OK;
    if (!row->frame_end(c->first->header, &end))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    else
        status = write(c, (struct nd_view){end.data, end.len}, err);
    nd_buffer_release(&end);
    return status;
}

static enum nd_status write_results(struct collapsing *c, size_t n, struct nd_error *err)
{
    uint32_t *member = nd_alloc_array(c->n, sizeof *member);
    uint32_t *first = nd_alloc_array(c->n, sizeof *first); /* by shown rank: index in `member` */
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
        size_t from = c->params->expand ? first[shown] : 0, end = from;

        while (c->params->expand && end < c->n && c->at[member[end]].shown == shown)
            end++;
        status = c->params->expand ? write_expanded(c, shown, member + from, end - from, err)
                                   : write_record(c, &c->at[shown], err);
    }
    if (status == ND_OK)
        status = write_end(c, err);
    if (status == ND_OK && c->sketches)
        status = nd_sketch_output_finish(c->sketches, &c->use.run.outputs.publisher,
                                         ND_PUBLISH_RESULT, err);
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
    if (nd_keep_parse(text, keep, &reason) == ND_OK && keep->by != ND_KEEP_NONE)
        return ND_OK;
    return nd_fail(err, ND_EINVAL,
                   "%s: '%s' is not one of rank, longest, shortest, longest:FIELD, shortest:FIELD, "
                   "newest:FIELD, max:FIELD, min:FIELD",
                   option, text);
}

/* Without texts results have no lengths. */
static enum nd_status check_orders(const struct collapsing *c, struct nd_error *err)
{
    const struct nd_sketches *sketches = c->use.run.sketches;
    const struct nd_keep *const order[] = {&c->order, &c->expand};

    for (size_t i = 0; sketches && i < 2; i++)
        if (order[i]->by != ND_KEEP_FIRST && order[i]->by != ND_KEEP_LAST)
            return nd_fail(err, ND_EINVAL,
                           "%s: %s is a sketch file, and this needs the documents themselves",
                           i ? "expand" : "order", nd_sketches_path(sketches, 0));
    return ND_OK;
}

static enum nd_status watch_fields(struct collapsing *c, struct nd_error *err)
{
    static const char by_rank[] = "results are ordered by rank";
    struct nd_run *run = &c->use.run;
    const struct nd_watched_field order = {
        .key = "order", .field = c->order.field, .keep = &c->order, .otherwise = by_rank};
    const struct nd_watched_field expand = {
        .key = "expand", .field = c->expand.field, .keep = &c->expand, .otherwise = by_rank};
    enum nd_status status = nd_field_set_watch_keep(&run->fields, &run->keep, err);

    if (status == ND_OK)
        status = nd_field_set_watch_within(&run->fields, NULL, run->options->security_field, err);
    if (status == ND_OK)
        status = nd_field_set_watch(&run->fields, &order, err);
    return status == ND_OK ? nd_field_set_watch(&run->fields, &expand, err) : status;
}

enum nd_status nd_run_collapse(const struct nd_run_options *options,
                               const struct nd_collapse_params *params,
                               const struct nd_run_events *events, struct nd_use_summary *summary,
                               struct nd_error *err)
{
    struct nd_run_request request = {.writes_output = true,
                                     .may_replace = !params->expand,
                                     .takes_sketches = true,
                                     .compares = true,
                                     .heeds_security = true,
                                     .heeds_keep = true};
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
    request.fields[ORDER] = c.order.field;
    request.fields[EXPAND] = c.expand.field;
    status = nd_use_begin(&c.use, options, &request, events, err);
    if (status == ND_OK)
        status = check_orders(&c, err);
    if (status == ND_OK)
        status = watch_fields(&c, err);
    if (status == ND_OK)
        status = nd_use_walk(&c.use, -1, take, &c, err);
    if (status == ND_OK)
        status = decide(&c, err);
    if (status == ND_OK) {
        found = list_results(&c);
        if (params->only)
            status = narrow(&c, &found, err);
    }
    if (status == ND_OK)
        status = write_results(&c, found, err);
    status = nd_use_end(&c.use, status, found, summary, err);
    nd_sketch_output_free(c.sketches);
    nd_arena_release(&c.memory);
    free(c.at);
    free(c.list);
    return status;
}
