/* workspace.c - workspaces that are lent to threads */
#include "server/workspace.h"

#include <stdlib.h>

#include "base/thread/thread.h"

struct nd_workspaces {
    struct nd_store *store;
    struct nd_monitor monitor;
    struct nd_workspace *first; /* of those that nobody has */
};

static void workspace_free(struct nd_workspace *w)
{
    if (!w)
        return;
    nd_session_free(w->session);
    nd_json_indexer_free(w->json);
    nd_parser_free(w->parser);
    nd_parser_free(w->fields);
    nd_arena_release(&w->arena);
    nd_charset_release(&w->charset);
    free(w);
}

static struct nd_workspace *workspace_new(struct nd_store *store, struct nd_error *err)
{
    const struct nd_store_reads *reads = nd_store_reads(store);
    struct nd_input_options options = nd_input_options_default();
    struct nd_workspace *w = calloc(1, sizeof *w);

    options.markup = reads->markup;
    options.elements = reads->elements;
    options.boilerplate = reads->boilerplate;
    options.fields = reads->field;
    options.n_fields = reads->n_fields;
    options.missing_text = ND_MISSING_EMPTY;
    if (w) {
        w->session = nd_session_new(store, err);
        w->json = nd_json_indexer_new();
        w->parser = nd_parser_new(&options, err);
        w->fields = reads->n_fields ? nd_parser_new(&options, err) : NULL;
    }
    if (w && w->session && w->json && w->parser && (w->fields || !reads->n_fields))
        return w;
    workspace_free(w);
    nd_fail(err, ND_ENOMEM, "out of memory");
    return NULL;
}

struct nd_workspaces *nd_workspaces_new(struct nd_store *store, size_t n, struct nd_error *err)
{
    struct nd_workspaces *all = calloc(1, sizeof *all);

    if (!all) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    nd_monitor_init(&all->monitor);
    all->store = store;
    for (size_t i = 0; i < n; i++) {
        struct nd_workspace *w = workspace_new(store, err);

        if (!w) {
            nd_workspaces_free(all);
            return NULL;
        }
        nd_workspace_return(all, w);
    }
    return all;
}

void nd_workspaces_free(struct nd_workspaces *all)
{
    if (!all)
        return;
    while (all->first) {
        struct nd_workspace *w = all->first;

        all->first = w->next;
        workspace_free(w);
    }
    nd_monitor_release(&all->monitor);
    free(all);
}

struct nd_workspace *nd_workspace_borrow(struct nd_workspaces *all)
{
    struct nd_workspace *w;

    nd_monitor_enter(&all->monitor);
    w = all->first;
    if (w)
        all->first = w->next;
    nd_monitor_leave(&all->monitor);
    return w ? w : workspace_new(all->store, NULL);
}

void nd_workspace_return(struct nd_workspaces *all, struct nd_workspace *workspace)
{
    nd_arena_reset(&workspace->arena);
    nd_parser_reset(workspace->parser);
    if (workspace->fields)
        nd_parser_reset(workspace->fields);
    nd_monitor_enter(&all->monitor);
    workspace->next = all->first;
    all->first = workspace;
    nd_monitor_leave(&all->monitor);
}
