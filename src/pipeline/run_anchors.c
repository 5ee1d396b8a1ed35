/* run_anchors.c - what the links of pages say of the pages that they lead to */
#define _GNU_SOURCE
#include "pipeline/address.h"
#include "pipeline/link_words.h"
#include "pipeline/use.h"

#include <neardup/text.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* In three passes: the addresses of the documents, their links, and the result. */
struct gathering {
    struct nd_use use;
    const struct nd_anchors_params *params;
    const char *root;         /* "": none */
    struct nd_groups address; /* of documents */
    struct nd_link_words links;
    uint32_t *number;   /* of each document's address; 0: it has none */
    size_t n, capacity; /* documents; the first pass says how many */
    size_t at;          /* the document at hand, in the later ones */
    struct nd_buffer own, target, folder;
    struct nd_groups seen; /* of the document at hand: links that are listed */
    uint64_t linked;
};

struct nd_anchors_params nd_anchors_params_default(void)
{
    return (struct nd_anchors_params){.window = 10, .url = "url"};
}

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory for the links of documents");
}

/* A file's path from the root on; '#' is no fragment there. */
static bool append_path(struct nd_buffer *out, const char *path, const char *root)
{
    size_t len = strlen(root);

    while (strncmp(path, "./", 2) == 0)
        path += 2;
    if (len && strncmp(path, root, len) == 0 && (path[len] == '/' || root[len - 1] == '/'))
        path += len;
    while (*path == '/')
        path++;
    for (; *path; path++)
        if (!nd_buffer_append(out, *path == '#' ? "%23" : path, *path == '#' ? 3 : 1))
            return false;
    return true;
}

/* The address of a document in g->own: that of its field, or made of its path.  1, 0: it has none,
 * < 0: out of memory. */
static int find_address(struct gathering *g, const struct nd_use_item *item)
{
    const struct nd_view none = {"/", 1}, url = nd_use_second(&g->use, &item->parsed->document);
    struct nd_buffer *made = &g->target;
    const char *base = g->params->base ? g->params->base : "/";

    g->own.len = 0;
    if (url.data)
        return nd_address_resolve(none, url, &g->own);
    if (item->source->is_container)
        return 0;
    made->len = 0;
    if (!nd_buffer_append(made, base, strlen(base)) ||
        !nd_buffer_append(made, "/", base[strlen(base) - 1] != '/') ||
        !append_path(made, item->source->entry ? item->source->entry : item->source->path,
                     item->source->entry ? "" : g->root))
        return -1;
    return nd_address_resolve(none, (struct nd_view){made->data, made->len}, &g->own);
}

static enum nd_status take_address(void *context, const struct nd_use_item *item,
                                   struct nd_error *err)
{
    struct gathering *g = context;
    int found = find_address(g, item);
    void *list = g->number;

    if (found < 0 || !nd_array_reserve(&list, &g->capacity, g->n + 1, sizeof *g->number))
        return no_memory(err);
    g->number = list;
    g->number[g->n] = 0;
    if (found &&
        !nd_groups_number(&g->address, (struct nd_view){g->own.data, g->own.len}, &g->number[g->n]))
        return no_memory(err);
    g->n++;
    return ND_OK;
}

/* Whether it is the document that the first pass met; else the input has changed. */
static enum nd_status meet(struct gathering *g, const struct nd_use_item *item,
                           struct nd_error *err)
{
    int found = find_address(g, item);
    uint32_t number = 0;

    if (found < 0)
        return no_memory(err);
    if (found)
        number = nd_groups_find(&g->address, (struct nd_view){g->own.data, g->own.len});
    if (g->at >= g->n || g->number[g->at] != number)
        return nd_fail(err, ND_ECHANGED, "%s is not what it was when it was read before",
                       item->source->path);
    g->at++;
    return ND_OK;
}

/* Where a link of the document leads, in g->target.  1, 0: to no page, < 0: out of memory. */
static int follow(struct gathering *g, const struct nd_document *document,
                  const struct nd_link *link)
{
    struct nd_view own = {g->own.len ? g->own.data : "/", g->own.len ? g->own.len : 1};

    if (document->base.data) {
        int found = nd_address_resolve(own, document->base, &g->folder);

        if (found < 0)
            return found;
        if (found)
            own = (struct nd_view){g->folder.data, g->folder.len};
    }
    return nd_address_resolve(own, link->target, &g->target);
}

static bool is_own(const struct gathering *g)
{
    return g->own.len == g->target.len && g->own.len &&
           memcmp(g->own.data, g->target.data, g->own.len) == 0;
}

static enum nd_status take_links(void *context, const struct nd_use_item *item,
                                 struct nd_error *err)
{
    struct gathering *g = context;
    const struct nd_document *d = &item->parsed->document;
    struct nd_link_page page = {.text = d->text};
    struct nd_token *token = NULL;
    enum nd_status status = meet(g, item, err);

    if (status != ND_OK || d->n_links == 0)
        return status;
    if (nd_text_tokens(d->text.data, d->text.len, &token, &page.n_tokens, err) != ND_OK)
        return no_memory(err);
    page.token = token;
    for (size_t i = 0; i < d->n_links && status == ND_OK; i++) {
        int found = follow(g, d, &d->links[i]);
        uint32_t to =
            found > 0 && !is_own(g)
                ? nd_groups_find(&g->address, (struct nd_view){g->target.data, g->target.len})
                : 0;

        if (found < 0 || (to && nd_link_words_add(&g->links, &page, &d->links[i], to,
                                                  g->number[g->at - 1]) != ND_OK))
            status = no_memory(err);
    }
    free(token);
    return status;
}

static void put_text(struct nd_json *row, const char *key, struct nd_view value)
{
    nd_json_key(row, key);
    nd_json_string(row, value);
}

/* "//host/path", or "/path" without a host. */
static bool put_address(struct gathering *g, struct nd_view address, struct nd_json *row)
{
    struct nd_buffer *shown = &g->folder;

    shown->len = 0;
    if ((address.len && address.data[0] != '/' && !nd_buffer_append(shown, "//", 2)) ||
        !nd_buffer_append(shown, address.data, address.len))
        return false;
    nd_json_string(row, (struct nd_view){shown->data, shown->len});
    return true;
}

/* The addresses that the document links to, each once. */
static enum nd_status put_links(struct gathering *g, const struct nd_document *d,
                                struct nd_json *row, struct nd_error *err)
{
    nd_groups_release(&g->seen);
    nd_json_key(row, "links");
    nd_json_open(row, '[');
    for (size_t i = 0; i < d->n_links; i++) {
        int found = follow(g, d, &d->links[i]);
        struct nd_view target = {g->target.data, g->target.len};
        uint32_t number = 0;

        if (found < 0)
            return no_memory(err);
        if (!found || is_own(g) || nd_groups_find(&g->seen, target))
            continue;
        if (!nd_groups_number(&g->seen, target, &number) || !put_address(g, target, row))
            return no_memory(err);
    }
    nd_json_close(row, ']');
    return ND_OK;
}

static enum nd_status put_inlinks(struct gathering *g, const struct nd_link_hit *hit, size_t n,
                                  struct nd_json *row, struct nd_error *err)
{
    nd_json_key(row, "inlinks");
    nd_json_open(row, '[');
    for (size_t i = 0; i < n; i++)
        if (hit[i].from && (i == 0 || hit[i].from != hit[i - 1].from) &&
            !put_address(g, g->address.value[hit[i].from - 1], row))
            return no_memory(err);
    nd_json_close(row, ']');
    return ND_OK;
}

static int by_number(const void *left, const void *right)
{
    uint32_t x = *(const uint32_t *)left, y = *(const uint32_t *)right;

    return x < y ? -1 : x > y;
}

/* The texts of the anchors, each once. */
static enum nd_status put_anchors(const struct gathering *g, const struct nd_link_hit *hit,
                                  size_t n, struct nd_json *row, struct nd_error *err)
{
    uint32_t *anchor = nd_alloc_array(n + 1, sizeof *anchor);

    if (!anchor)
        return no_memory(err);
    for (size_t i = 0; i < n; i++)
        anchor[i] = hit[i].anchor;
    qsort(anchor, n, sizeof *anchor, by_number);
    nd_json_key(row, "anchors");
    nd_json_open(row, '[');
    for (size_t i = 0; i < n; i++)
        if (anchor[i] && (i == 0 || anchor[i] != anchor[i - 1]))
            nd_json_string(row, g->links.text.value[anchor[i] - 1]);
    nd_json_close(row, ']');
    free(anchor);
    return ND_OK;
}

static void put_words(const struct gathering *g, uint32_t to, struct nd_json *row)
{
    size_t n = 0;
    const struct nd_link_word *word = to ? nd_link_words_of(&g->links, to, &n) : NULL;

    nd_json_key(row, "anchor_words");
    nd_json_open(row, '{');
    for (size_t i = 0; i < n; i++) {
        nd_json_name(row, g->links.form.value[word[i].word - 1]);
        nd_json_double(row, (double)word[i].weight / (g->params->window + 1));
    }
    nd_json_close(row, '}');
}

static enum nd_status write_one(void *context, const struct nd_use_item *item, struct nd_error *err)
{
    struct gathering *g = context;
    const struct nd_document *d = &item->parsed->document;
    struct nd_json *row = &g->use.row;
    struct nd_view title = nd_use_first(&g->use, d);
    enum nd_status status = meet(g, item, err);
    const struct nd_link_hit *hit = NULL;
    size_t n = 0;
    uint32_t to;

    if (status != ND_OK)
        return status;
    to = g->number[g->at - 1];
    if (to)
        hit = nd_link_hits_of(&g->links, to, &n);
    g->linked += n > 0;
    row->text.len = 0;
    row->after_value = false;
    nd_json_open(row, '{');
    nd_json_key(row, "id");
    nd_name_json(row, &item->name);
    if (to) {
        nd_json_key(row, "url");
        if (!put_address(g, g->address.value[to - 1], row))
            return no_memory(err);
    }
    if (title.data)
        put_text(row, "title", title);
    put_text(row, "text", d->text);
    status = put_links(g, d, row, err);
    if (status == ND_OK)
        status = put_inlinks(g, hit, n, row, err);
    if (status == ND_OK)
        status = put_anchors(g, hit, n, row, err);
    if (status != ND_OK)
        return status;
    put_words(g, to, row);
    nd_json_close(row, '}');
    nd_json_line(row);
    if (row->failed)
        return no_memory(err);
    return nd_output_write(g->use.out, row->text.data, row->text.len, err);
}

/* Only the last pass tells of what it meets. */
static enum nd_status
pass(struct gathering *g, const struct nd_run_options *options,
     enum nd_status (*take)(void *, const struct nd_use_item *, struct nd_error *),
     const struct nd_run_events *events, struct nd_use_summary *summary, struct nd_error *err)
{
    static const struct nd_run_files files = {.writes_output = true};
    enum nd_status status =
        nd_use_begin(&g->use, options, &files, "title", g->params->url, events, err);

    g->at = 0;
    if (status == ND_OK && take == write_one)
        status = nd_use_open(&g->use, true, err);
    if (status == ND_OK)
        status = nd_use_walk(&g->use, -1, take, g, err);
    if (status == ND_OK && take != take_address && g->at != g->n)
        status = nd_fail(err, ND_ECHANGED,
                         "there are fewer documents than when they were read "
                         "before");
    return nd_use_end(&g->use, status, g->linked, summary, err);
}

static enum nd_status check(const struct nd_run_options *options,
                            const struct nd_anchors_params *params, struct nd_error *err)
{
    for (size_t i = 0; i < options->n_paths; i++)
        if (strcmp(options->paths[i], "-") == 0)
            return nd_fail(err, ND_EINVAL,
                           "documents are read three times, which standard input "
                           "cannot be");
    if (params->base && !strstr(params->base, "://"))
        return nd_fail(err, ND_EINVAL, "base: '%s' is no address such as https://example.org/",
                       params->base);
    if (params->window > 1000)
        return nd_fail(err, ND_EINVAL, "a window has at most 1000 words");
    return ND_OK;
}

/* The only input, if that is a folder. */
static const char *find_root(const struct nd_run_options *options,
                             const struct nd_anchors_params *params)
{
    struct stat st;

    if (params->root)
        return params->root;
    if (options->n_paths == 1 && stat(options->paths[0], &st) == 0 && S_ISDIR(st.st_mode))
        return options->paths[0];
    return "";
}

enum nd_status nd_run_anchors(const struct nd_run_options *options,
                              const struct nd_anchors_params *params,
                              const struct nd_run_events *events, struct nd_use_summary *summary,
                              struct nd_error *err)
{
    struct gathering g = {.params = params, .links.window = params->window};
    struct nd_run_options own = *options;
    struct nd_error room = {0};
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    own.input.markup = 1;
    g.root = find_root(options, params);
    while (strncmp(g.root, "./", 2) == 0)
        g.root += 2;
    status = check(options, params, err);
    if (status == ND_OK)
        status = pass(&g, &own, take_address, NULL, summary, err);
    if (status == ND_OK)
        status = pass(&g, &own, take_links, NULL, summary, err);
    if (status == ND_OK) {
        nd_link_words_sort(&g.links);
        status = pass(&g, &own, write_one, events, summary, err);
        summary->found = g.linked;
    }
    nd_link_words_release(&g.links);
    nd_groups_release(&g.address);
    nd_groups_release(&g.seen);
    nd_buffer_release(&g.own);
    nd_buffer_release(&g.target);
    nd_buffer_release(&g.folder);
    free(g.number);
    return status;
}
