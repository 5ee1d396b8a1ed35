/* resketch.c - a store of the same documents by another recipe, or with another df table
 *
 * All documents are read at one moment, in the order of their texts, and imported into a store that
 * gets its name once it is whole: with their labels, titles, times and versions.  Of earlier versions
 * there is no text, so that their hashes stay those of the recipe by which they were made.
 */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/read/session_state.h"
#include "store/read/store_state.h"
#include "store/segments/folder.h"

enum { BATCH = 500, BATCH_BYTES = 8 << 20 };

struct resketching {
    struct nd_session *from, *to;
    struct nd_arena arena; /* of the batch */
    struct nd_import at[BATCH];
    size_t n, bytes;
    uint64_t documents;
    struct nd_error *err;
    enum nd_status status;
};

/* ---- What the documents have ---- */

static bool has_name(const struct nd_beside *beside, const char *name)
{
    const char *at = beside->names;

    for (size_t i = 0; i < beside->n_names; i++, at += strlen(at) + 1)
        if (strcmp(at, name) == 0)
            return true;
    return false;
}

/* A recipe may read only what the store has kept. */
static enum nd_status check_reads(const struct nd_store *from, const struct nd_store *to,
                                  struct nd_error *err)
{
    const struct nd_beside *kept = nd_sketching_beside(&from->sketching);
    const struct nd_beside *read = nd_sketching_beside(&to->sketching);
    const char *name = read->names;
    const char *what = read->markup && !kept->markup       ? "markup"
                       : read->links && !kept->links       ? "links"
                       : read->elements && !kept->elements ? "elements of pages"
                                                           : NULL;

    if (what)
        return nd_fail(err, ND_EINVAL,
                       "%s: has no %s, which the recipe reads: post the documents again",
                       from->folder, what);
    if (from->reads.boilerplate != to->reads.boilerplate)
        return nd_fail(err, ND_EINVAL,
                       "%s: the texts of its pages were made with another boilerplate than the "
                       "recipe's: post the documents again",
                       from->folder);
    for (size_t i = 0; i < read->n_names; i++, name += strlen(name) + 1)
        if (!has_name(kept, name))
            return nd_fail(
                err, ND_EINVAL,
                "%s: has no field '%s', which the recipe reads: post the documents again",
                from->folder, name);
    return ND_OK;
}

/* ---- Documents ---- */

static bool copy(struct nd_arena *arena, struct nd_view from, struct nd_view *to)
{
    *to = (struct nd_view){nd_arena_copy(arena, from.data ? from.data : "", from.len), from.len};
    return to->data != NULL;
}

static bool copy_labels(struct resketching *r, const struct nd_document_key *key,
                        struct nd_import *out)
{
    struct nd_view *label = nd_arena_alloc(&r->arena, (key->n_labels + 1) * sizeof *label);

    for (size_t i = 0; label && i < key->n_labels; i++)
        if (!copy(&r->arena, key->labels[i], &label[i]))
            return false;
    out->key.labels = label;
    out->key.n_labels = key->n_labels;
    return label != NULL;
}

/* The versions, the last of which is sketched anew. */
static bool copy_versions(struct resketching *r, const struct nd_version *versions, size_t n,
                          const struct nd_fingerprint *made, struct nd_import *out)
{
    struct nd_version *version = nd_arena_alloc(&r->arena, (n + 1) * sizeof *version);

    if (!version)
        return false;
    if (n) {
        memcpy(version, versions, n * sizeof *version);
        version[n - 1].simhash = made->simhash;
        version[n - 1].identity = made->identity;
        version[n - 1].tokens = made->tokens;
        version[n - 1].shingles = made->shingles;
        version[n - 1].text_bytes = out->text.len;
    }
    out->versions = version;
    out->n_versions = n;
    return true;
}

static enum nd_store_result make_import(struct resketching *r, const struct nd_stored *document,
                                        const struct nd_version *versions, size_t n,
                                        struct nd_import *out)
{
    struct nd_fingerprint made;
    struct nd_document read;
    struct nd_view content;
    enum nd_store_result result = nd_session_document(r->from, document->content, &read, r->err);

    if (result == ND_STORE_OK)
        result = nd_session_content(r->to, &read, &content, r->err);
    if (result == ND_STORE_OK)
        result = nd_session_fingerprint(r->to, content, &made, r->err);
    if (result != ND_STORE_OK)
        return result;
    *out = (struct nd_import){.created = document->created,
                              .updated = document->updated,
                              .visited = document->visited,
                              .due = document->due,
                              .visits = document->visits};
    out->visits.simhash = made.simhash;
    if (!copy(&r->arena, content, &out->text) || !copy(&r->arena, document->key.id, &out->key.id) ||
        !copy(&r->arena, document->title, &out->title) || !copy_labels(r, &document->key, out) ||
        !copy_versions(r, versions, n, &made, out))
        return nd_store_fail(r->err, ND_STORE_NO_MEMORY, "out of memory for a document");
    return ND_STORE_OK;
}

static enum nd_store_result flush(struct resketching *r)
{
    enum nd_store_result result = r->n ? nd_store_import(r->to, r->at, r->n, r->err) : ND_STORE_OK;

    r->documents += r->n;
    r->n = r->bytes = 0;
    nd_arena_reset(&r->arena);
    return result;
}

/* Not 0: stop. */
static int take(void *context, const struct nd_stored *document, const struct nd_version *versions,
                size_t n)
{
    struct resketching *r = context;
    enum nd_store_result result = make_import(r, document, versions, n, &r->at[r->n]);

    if (result == ND_STORE_OK) {
        r->bytes += r->at[r->n++].text.len;
        if (r->n == BATCH || r->bytes >= BATCH_BYTES)
            result = flush(r);
    }
    if (result != ND_STORE_OK)
        r->status = r->err->status;
    return result != ND_STORE_OK;
}

static enum nd_status take_all(struct nd_store *from, struct nd_store *to, uint64_t *documents,
                               struct nd_error *err)
{
    struct resketching *r = calloc(1, sizeof *r);
    struct nd_caller *caller = nd_caller_new(from, NULL, 0, true, err);
    enum nd_status status = ND_ENOMEM;

    if (r && caller) {
        r->err = err;
        r->from = nd_session_new(from, err);
        r->to = r->from ? nd_session_new(to, err) : NULL;
    }
    if (r && r->to) {
        enum nd_store_result result = nd_session_each(r->from, caller, take, r, err);

        if (result == ND_STORE_OK && r->status == ND_OK)
            result = flush(r);
        status = r->status != ND_OK ? r->status : result != ND_STORE_OK ? err->status : ND_OK;
        *documents = r->documents;
    }
    if (r) {
        nd_session_free(r->to);
        nd_session_free(r->from);
        nd_arena_release(&r->arena);
    }
    free(r);
    nd_caller_free(caller);
    return status;
}

/* ---- The folder ---- */

/* Remove a folder of a store that was not published. */
static void remove_folder(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;

    while (folder && (entry = readdir(folder)) != NULL) {
        char *name = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0
                         ? NULL
                         : nd_folder_path(path, entry->d_name, NULL);

        if (name && unlink(name) != 0)
            remove_folder(name);
        free(name);
    }
    if (folder)
        (void)closedir(folder);
    (void)rmdir(path);
}

static enum nd_status fill(struct nd_store *from, const char *made, const struct nd_recipe *recipe,
                           struct nd_ratio least, struct nd_ratio containment, uint64_t *documents,
                           struct nd_error *err)
{
    struct nd_store_options options = nd_store_options_default();
    struct nd_store *to;
    struct nd_error other;
    enum nd_status status, closed;

    options.create = true;
    options.recipe = recipe;
    options.least = least;
    options.containment = containment;
    options.threads = from->options.threads;
    options.visits = from->options.visits;
    to = nd_store_open(made, &options, err);
    if (!to)
        return err->status;
    status = check_reads(from, to, err);
    if (status == ND_OK)
        status = take_all(from, to, documents, err);
    closed = nd_store_close(to, &other);
    return status == ND_OK && closed != ND_OK ? nd_fail(err, closed, "%s", other.message) : status;
}

enum nd_status nd_store_resketch(struct nd_store *store, const char *folder,
                                 const struct nd_recipe *recipe, struct nd_ratio least,
                                 struct nd_ratio containment, uint64_t *documents,
                                 struct nd_error *err)
{
    struct nd_error why = {.status = ND_OK};
    char *made;
    enum nd_status status;

    *documents = 0;
    if (!nd_folder_is_empty(folder))
        return nd_fail(err, ND_EINVAL, "%s: it is there already", folder);
    status = nd_folder_make_beside(folder, &made, err);
    if (status != ND_OK)
        return status;
    status = fill(store, made, recipe, least, containment, documents, &why);
    if (status == ND_OK)
        status = nd_folder_publish(made, folder, &why);
    if (status != ND_OK) {
        remove_folder(made);
        (void)nd_fail(err, status, "%s", why.message);
    }
    free(made);
    return status;
}
