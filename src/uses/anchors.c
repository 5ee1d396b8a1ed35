/* anchors.c - what the links of pages say of the pages that they lead to */

/*
 * A page is described by the links of other pages to it: by their anchor texts and the words around
 * them (Manku 2007, §5.3d). Links lead to addresses, so all addresses are needed before links can
 * be collected, and all links before the result can be written; hence three passes over the input.
 * Addresses, anchors and words are numbered and held once each.
 */
#include "base/address.h"
#include "base/system/descriptor.h"
#include "uses/use.h"

#include <neardup/text.h>

#include <stdlib.h>
#include <string.h>

/* ---- Anchors, and the words about them, which weigh less the farther away they are ----------- */

enum { MERGE_FIRST = 1 << 20 };

/*
 * A fact about a page. By a link: the page that it is from, a number of an address or 0, and its
 * anchor, a number of `anchors` or 0. By a word: its number in `forms`, and its weight in 1 /
 * (window + 1).
 */
struct mention {
    uint32_t to, what;
    uint64_t value;
};

struct mentions {
    struct mention *item; /* in the end by target; links then by page, words by falling weight */
    size_t n, capacity;
};

/*
 * The input is read three times: for the addresses of the documents, for their links, and to write
 * the result.
 */
struct gathering {
    struct nd_use use;
    const struct nd_anchors_params *params;
    const char *root;         /* "": none */
    struct nd_groups address; /* of documents */
    uint32_t *number;         /* number of each document's address; 0: none */
    size_t n, capacity;       /* documents, as counted by the first pass */
    size_t at;                /* the current document, in the later passes */
    struct nd_view text;
    struct nd_token *token;
    size_t n_tokens;
    struct nd_groups seen; /* links of it that are listed */
    struct nd_buffer own, target, folder;
    struct nd_groups anchors, forms;
    struct mentions links, words;
    size_t merge_at; /* merge equal words when there are this many */
    uint64_t linked;
};

static int by_target(const void *left, const void *right)
{
    const struct mention *x = left, *y = right;

    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->what != y->what)
        return x->what < y->what ? -1 : 1;
    return x->value < y->value ? -1 : x->value > y->value;
}

static int by_weight(const void *left, const void *right)
{
    const struct mention *x = left, *y = right;

    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return x->what < y->what ? -1 : x->what > y->what;
}

static void sort(struct mentions *m, int (*order)(const void *, const void *))
{
    if (m->n)
        qsort(m->item, m->n, sizeof *m->item, order);
}

/* Merge equal words of a page into one. */
static void merge_words(struct gathering *g)
{
    struct mention *word = g->words.item;
    size_t n = 0;

    sort(&g->words, by_target);
    for (size_t i = 0; i < g->words.n; i++) {
        if (n && word[n - 1].to == word[i].to && word[n - 1].what == word[i].what)
            word[n - 1].value += word[i].value;
        else
            word[n++] = word[i];
    }
    g->words.n = n;
    g->merge_at = 2 * n > MERGE_FIRST ? 2 * n : MERGE_FIRST;
}

static bool add(struct mentions *m, uint32_t to, uint32_t what, uint64_t value)
{
    if (!ND_RESERVE(m->item, &m->capacity, m->n + 1))
        return false;
    m->item[m->n++] = (struct mention){to, what, value};
    return true;
}

static enum nd_status add_word(struct gathering *g, const struct nd_token *token, uint32_t to,
                               unsigned weight)
{
    uint32_t number = 0;
    size_t len;
    char *form;
    bool good;

    if (nd_text_normalise(g->text.data + token->offset, token->len, &form, &len, NULL) != ND_OK)
        return ND_ENOMEM;
    good = nd_groups_number(&g->forms, (struct nd_view){form, len}, &number);
    free(form);
    if (g->words.n >= g->merge_at)
        merge_words(g);
    return good && add(&g->words, to, number, weight) ? ND_OK : ND_ENOMEM;
}

/*
 * Find the tokens that begin within a stretch of the text, starting the search at the first token
 * that is not before it.
 */
static size_t first_token(const struct gathering *g, uint64_t offset)
{
    size_t low = 0, high = g->n_tokens;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (g->token[middle].offset + g->token[middle].len <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The line of text that contains a stretch. */
static void find_line(struct nd_view text, const struct nd_link *link, uint64_t *begin,
                      uint64_t *end)
{
    for (*begin = link->offset; *begin > 0 && text.data[*begin - 1] != '\n';)
        --*begin;
    for (*end = link->offset + link->len; *end < text.len && text.data[*end] != '\n';)
        ++*end;
}

/* The weight falls linearly with the distance from the anchor (Manku 2007, §5.3d). */
static enum nd_status add_words(struct gathering *g, const struct nd_link *link, uint32_t to)
{
    const struct nd_token *token = g->token;
    unsigned window = g->params->window;
    size_t first = first_token(g, link->offset), last = first;
    enum nd_status status = ND_OK;
    uint64_t begin, end;

    find_line(g->text, link, &begin, &end);
    for (; last < g->n_tokens && token[last].offset < link->offset + link->len; last++)
        if (status == ND_OK)
            status = add_word(g, &token[last], to, window + 1);
    for (unsigned d = 1; d <= window && status == ND_OK; d++) {
        if (d <= first && token[first - d].offset >= begin)
            status = add_word(g, &token[first - d], to, window + 1 - d);
        if (status == ND_OK && last + d <= g->n_tokens && token[last + d - 1].offset < end)
            status = add_word(g, &token[last + d - 1], to, window + 1 - d);
    }
    return status;
}

/* A link to another page, its anchor, and the words about it within its line.  ND_ENOMEM. */
static enum nd_status add_link(struct gathering *g, const struct nd_link *link, uint32_t to)
{
    struct nd_view anchor = {g->text.data + link->offset, link->len};
    uint32_t number = 0;

    if ((link->len && !nd_groups_number(&g->anchors, anchor, &number)) ||
        !add(&g->links, to, g->number[g->at - 1], number))
        return ND_ENOMEM;
    return add_words(g, link, to);
}

/* Return the mentions of a page, of a sorted list; *n: how many. */
static const struct mention *mentions_of(const struct mentions *m, uint32_t to, size_t *n)
{
    size_t low = 0, high = m->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (m->item[middle].to < to)
            low = middle + 1;
        else
            high = middle;
    }
    for (*n = 0; low + *n < m->n && m->item[low + *n].to == to;)
        ++*n;
    return m->item + low;
}

/* ---- The documents --------------------------------------------------------------------------- */

/* The fields to read of every document. */
enum { TITLE, URL };

struct nd_anchors_params nd_anchors_params_default(void)
{
    return (struct nd_anchors_params){.window = 10, .url = "url"};
}

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory for the links of documents");
}

/* The path of a file, from the root on. '#' does not begin a fragment in it. */
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

/*
 * Put the address of a document into g->own: from its field, or made from its path. Returns 1, 0 if
 * it has none, < 0 if out of memory.
 */
static int find_address(struct gathering *g, const struct nd_parsed *parsed)
{
    const struct nd_view none = {"/", 1}, url = nd_run_asked(&g->use.run, &parsed->document, URL);
    struct nd_buffer *made = &g->target;
    const char *base = g->params->base ? g->params->base : "/";

    g->own.len = 0;
    if (url.data)
        return nd_address_resolve(none, url, &g->own);
    if (parsed->source->is_container)
        return 0;
    made->len = 0;
    if (!nd_buffer_append(made, base, strlen(base)) ||
        !nd_buffer_append(made, "/", base[strlen(base) - 1] != '/') ||
        !append_path(made, parsed->source->entry ? parsed->source->entry : parsed->source->path,
                     parsed->source->entry ? "" : g->root))
        return -1;
    return nd_address_resolve(none, (struct nd_view){made->data, made->len}, &g->own);
}

static enum nd_status take_address(void *context, const struct nd_parsed *parsed,
                                   struct nd_error *err)
{
    struct gathering *g = context;
    int found = find_address(g, parsed);

    if (found < 0 || !ND_RESERVE(g->number, &g->capacity, g->n + 1))
        return no_memory(err);
    g->number[g->n] = 0;
    if (found &&
        !nd_groups_number(&g->address, (struct nd_view){g->own.data, g->own.len}, &g->number[g->n]))
        return no_memory(err);
    g->n++;
    return ND_OK;
}

/*
 * Check that this is the document that the first pass read here; otherwise the input has changed.
 */
static enum nd_status meet(struct gathering *g, const struct nd_parsed *parsed,
                           struct nd_error *err)
{
    int found = find_address(g, parsed);
    uint32_t number = 0;

    if (found < 0)
        return no_memory(err);
    if (found)
        number = nd_groups_find(&g->address, (struct nd_view){g->own.data, g->own.len});
    if (g->at >= g->n || g->number[g->at] != number)
        return nd_fail(err, ND_ECHANGED, "%s has changed since it was first read",
                       parsed->source->path);
    g->at++;
    return ND_OK;
}

/*
 * Put into g->target where a link of the document leads. Returns 1, 0 if to no page, < 0 if out of
 * memory.
 */
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

static enum nd_status take_links(void *context, const struct nd_parsed *parsed,
                                 struct nd_error *err)
{
    struct gathering *g = context;
    const struct nd_document *d = &parsed->document;
    enum nd_status status = meet(g, parsed, err);

    if (status != ND_OK || d->n_links == 0)
        return status;
    g->text = d->text;
    if (nd_text_tokens(d->text.data, d->text.len, &g->token, &g->n_tokens, err) != ND_OK)
        return no_memory(err);
    for (size_t i = 0; i < d->n_links && status == ND_OK; i++) {
        int found = follow(g, d, &d->links[i]);
        uint32_t to =
            found > 0 && !is_own(g)
                ? nd_groups_find(&g->address, (struct nd_view){g->target.data, g->target.len})
                : 0;

        if (found < 0 || (to && add_link(g, &d->links[i], to) != ND_OK))
            status = no_memory(err);
    }
    free(g->token);
    return status;
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

/* List the addresses that the document links to, each once. */
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

static enum nd_status put_inlinks(struct gathering *g, const struct mention *link, size_t n,
                                  struct nd_json *row, struct nd_error *err)
{
    nd_json_key(row, "inlinks");
    nd_json_open(row, '[');
    for (size_t i = 0; i < n; i++)
        if (link[i].what && (i == 0 || link[i].what != link[i - 1].what) &&
            !put_address(g, g->address.value[link[i].what - 1], row))
            return no_memory(err);
    nd_json_close(row, ']');
    return ND_OK;
}

static int by_number(const void *left, const void *right)
{
    uint32_t x = *(const uint32_t *)left, y = *(const uint32_t *)right;

    return x < y ? -1 : x > y;
}

/* List the texts of the anchors, each once. */
static enum nd_status put_anchors(const struct gathering *g, const struct mention *link, size_t n,
                                  struct nd_json *row, struct nd_error *err)
{
    uint32_t *anchor = nd_alloc_array(n + 1, sizeof *anchor);

    if (!anchor)
        return no_memory(err);
    for (size_t i = 0; i < n; i++)
        anchor[i] = (uint32_t)link[i].value;
    qsort(anchor, n, sizeof *anchor, by_number);
    nd_json_key(row, "anchors");
    nd_json_open(row, '[');
    for (size_t i = 0; i < n; i++)
        if (anchor[i] && (i == 0 || anchor[i] != anchor[i - 1]))
            nd_json_string(row, g->anchors.value[anchor[i] - 1]);
    nd_json_close(row, ']');
    free(anchor);
    return ND_OK;
}

static void put_words(const struct gathering *g, uint32_t to, struct nd_json *row)
{
    size_t n = 0;
    const struct mention *word = to ? mentions_of(&g->words, to, &n) : NULL;

    nd_json_key(row, "anchor_words");
    nd_json_open(row, '{');
    for (size_t i = 0; i < n; i++) {
        nd_json_name(row, g->forms.value[word[i].what - 1]);
        nd_json_double(row, (double)word[i].value / (g->params->window + 1));
    }
    nd_json_close(row, '}');
}

static enum nd_status write_one(void *context, const struct nd_parsed *parsed, struct nd_error *err)
{
    struct gathering *g = context;
    const struct nd_document *d = &parsed->document;
    struct nd_json *row = &g->use.row;
    const struct nd_name name = nd_use_name(&g->use, parsed);
    struct nd_view title = nd_run_asked(&g->use.run, d, TITLE);
    enum nd_status status = meet(g, parsed, err);
    const struct mention *link = NULL;
    size_t n = 0;
    uint32_t to;

    if (status != ND_OK)
        return status;
    to = g->number[g->at - 1];
    if (to)
        link = mentions_of(&g->links, to, &n);
    g->linked += n > 0;
    row->text.len = 0;
    row->after_value = false;
    nd_json_open(row, '{');
    nd_json_key(row, "id");
    nd_name_json(row, &name);
    if (to) {
        nd_json_key(row, "url");
        if (!put_address(g, g->address.value[to - 1], row))
            return no_memory(err);
    }
    if (title.data)
        nd_json_put_string(row, "title", title);
    nd_json_put_string(row, "text", d->text);
    status = put_links(g, d, row, err);
    if (status == ND_OK)
        status = put_inlinks(g, link, n, row, err);
    if (status == ND_OK)
        status = put_anchors(g, link, n, row, err);
    if (status != ND_OK)
        return status;
    put_words(g, to, row);
    nd_json_close(row, '}');
    nd_json_line(row);
    if (row->failed)
        return no_memory(err);
    return nd_output_write(g->use.out, row->text.data, row->text.len, err);
}

/* Only the last pass reports problems, so that each is reported once. */
static enum nd_status pass(struct gathering *g, const struct nd_run_options *options,
                           nd_run_take *take, const struct nd_run_events *events,
                           struct nd_use_summary *summary, struct nd_error *err)
{
    const struct nd_run_request request = {.fields = {[TITLE] = "title", [URL] = g->params->url},
                                           .reads_markup = true,
                                           .writes_output = true};
    enum nd_status status = nd_use_begin(&g->use, options, &request, events, err);

    if (status == ND_OK && strcmp(g->params->url, nd_anchors_params_default().url) != 0)
        status = nd_field_set_watch(
            &g->use.run.fields,
            &(struct nd_watched_field){.key = "url field", .field = g->params->url}, err);
    g->at = 0;
    if (status == ND_OK && take == write_one)
        status = nd_use_open(&g->use, true, err);
    if (status == ND_OK)
        status = nd_use_walk(&g->use, -1, take, g, err);
    if (status == ND_OK && take != take_address && g->at != g->n)
        status =
            nd_fail(err, ND_ECHANGED, "there are fewer documents than when they were first read");
    return nd_use_end(&g->use, status, g->linked, summary, err);
}

static enum nd_status check(const struct nd_run_options *options,
                            const struct nd_anchors_params *params, struct nd_error *err)
{
    for (size_t i = 0; i < options->n_paths; i++)
        if (strcmp(options->paths[i], "-") == 0)
            return nd_fail(
                err, ND_EINVAL,
                "documents are read three times, but standard input can be read only once");
    if (params->base && !strstr(params->base, "://"))
        return nd_fail(err, ND_EINVAL, "base: '%s' is not an address such as https://example.org/",
                       params->base);
    if (params->window > 1000)
        return nd_fail(err, ND_EINVAL, "a window can have at most 1000 words");
    return ND_OK;
}

/* The input, if there is only one and it is a folder. */
static const char *find_root(const struct nd_run_options *options,
                             const struct nd_anchors_params *params)
{
    struct nd_file_about st;

    if (params->root)
        return params->root;
    if (options->n_paths == 1 && nd_path_about(options->paths[0], &st) && st.kind == ND_FILE_FOLDER)
        return options->paths[0];
    return "";
}

enum nd_status nd_run_anchors(const struct nd_run_options *options,
                              const struct nd_anchors_params *params,
                              const struct nd_run_events *events, struct nd_use_summary *summary,
                              struct nd_error *err)
{
    struct gathering g = {.params = params};
    struct nd_error room = {0};
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    g.root = find_root(options, params);
    while (strncmp(g.root, "./", 2) == 0)
        g.root += 2;
    status = check(options, params, err);
    if (status == ND_OK)
        status = pass(&g, options, take_address, NULL, summary, err);
    if (status == ND_OK)
        status = pass(&g, options, take_links, NULL, summary, err);
    if (status == ND_OK) {
        merge_words(&g);
        sort(&g.words, by_weight);
        sort(&g.links, by_target);
        status = pass(&g, options, write_one, events, summary, err);
        summary->found = g.linked;
    }
    nd_groups_release(&g.anchors);
    nd_groups_release(&g.forms);
    free(g.links.item);
    free(g.words.item);
    nd_groups_release(&g.address);
    nd_groups_release(&g.seen);
    nd_buffer_release(&g.own);
    nd_buffer_release(&g.target);
    nd_buffer_release(&g.folder);
    free(g.number);
    return status;
}
