/* open_store.c - a store opened, or made; and closed */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/read/store_state.h"
#include "store/segments/folder.h"
#include "store/upkeep/backup.h"
#include "store/upkeep/compact.h"
#include "store/upkeep/open_index.h"
#include "store/upkeep/store_tables.h"
#include "store/write/snapshots.h"
#include "store/write/writer.h"

#define LOCK_FILE "lock"
#define RECIPE "recipe"
#define LEAST "least"
#define CONTAINMENT "containment"
#define SEGMENTS "segments"

struct nd_store_options nd_store_options_default(void)
{
    return (struct nd_store_options){.queue_documents = 10000,
                                     .queue_bytes = (size_t)256 << 20,
                                     .snapshot_every_s = 900,
                                     .pairs_stored = 8,
                                     .compact_after_s = 86400,
                                     .segment_bytes = UINT64_C(1) << 30,
                                     .visits = nd_visit_params_default()};
}

enum nd_store_result nd_store_fail(struct nd_error *err, enum nd_store_result result,
                                   const char *format, ...)
{
    char message[sizeof err->message];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    (void)nd_fail(err, ND_EINVAL, "%s", message);
    return result;
}

enum nd_store_result nd_store_result_of(enum nd_status status)
{
    switch (status) {
    case ND_OK: return ND_STORE_OK;
    case ND_ENOMEM: return ND_STORE_NO_MEMORY;
    case ND_EINVAL:
    case ND_EUNSUPPORTED: return ND_STORE_INVALID;
    case ND_EINPUT:
    case ND_EIO:
    case ND_ECHANGED:
    case ND_ECANCELLED: break;
    }
    return ND_STORE_FAILED;
}

uint64_t nd_store_now(const struct nd_store *store)
{
    if (store->options.now)
        return store->options.now(store->options.now_context);
    return (uint64_t)time(NULL);
}

char *nd_store_path(const struct nd_store *store, const char *name, struct nd_error *err)
{
    size_t len = strlen(store->folder) + strlen(name) + 2;
    char *path = malloc(len);

    if (path)
        snprintf(path, len, "%s/%s", store->folder, name);
    else
        nd_fail(err, ND_ENOMEM, "out of memory");
    return path;
}

const struct nd_recipe *nd_store_recipe(const struct nd_store *store)
{
    return store->recipe;
}

struct nd_ratio nd_store_containment(const struct nd_store *store)
{
    return store->contained.params.threshold;
}

struct nd_ratio nd_store_least(const struct nd_store *store)
{
    return store->sketching.least;
}

enum nd_status nd_store_check_at(const struct nd_store *store, struct nd_ratio at,
                                 struct nd_error *err)
{
    return nd_sketching_check_at(&store->sketching, at, err);
}

/* ---- A new store ---- */

/* Ratios that a store is made with. */
struct made_with {
    struct nd_ratio least, containment;
};

static enum nd_status put_ratio(struct nd_txn *txn, const char *name, struct nd_ratio ratio,
                                struct nd_error *err)
{
    char text[32];
    int len = snprintf(text, sizeof text, "%u/%u", ratio.p, ratio.q);

    return ratio.q ? nd_catalog_put_meta(txn, name, (struct nd_view){text, (size_t)len}, err)
                   : ND_OK;
}

static enum nd_status put_first_rows(struct nd_catalog *catalog, const struct nd_recipe *recipe,
                                     struct made_with with, struct nd_error *err)
{
    const struct nd_catalog_state state = {0};
    struct nd_txn *txn = NULL;
    char *text = NULL;
    size_t len;
    enum nd_status status = nd_recipe_canonical(recipe, &text, &len, NULL, err);

    if (status == ND_OK)
        status = nd_catalog_begin(catalog, true, &txn, err);
    if (status == ND_OK)
        status = nd_catalog_put_meta(txn, RECIPE, (struct nd_view){text, len}, err);
    if (status == ND_OK)
        status = put_ratio(txn, LEAST, with.least, err);
    if (status == ND_OK)
        status = put_ratio(txn, CONTAINMENT, with.containment, err);
    if (status == ND_OK)
        status = nd_catalog_put_state(txn, &state, err);
    free(text);
    if (status == ND_OK)
        return nd_catalog_commit(txn, NULL, err);
    if (txn)
        nd_catalog_abort(txn);
    return status;
}

static void remove_made(const char *made)
{
    static const char *const names[] = {ND_CATALOG_FILE, ND_CATALOG_FILE "-lock"};
    char path[4096 + 64];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", made, names[i]);
        (void)unlink(path);
    }
    snprintf(path, sizeof path, "%s/" SEGMENTS, made);
    (void)rmdir(path);
    (void)rmdir(made);
}

static enum nd_status fill_folder(const char *made, struct nd_recipe *recipe, struct made_with with,
                                  struct nd_store_tables *tables, struct nd_error *err)
{
    enum nd_status status = nd_store_tables_copy(tables, recipe, made, err);
    struct nd_catalog *catalog = status == ND_OK ? nd_catalog_open(made, true, false, err) : NULL;
    char path[4096 + 64];

    if (status == ND_OK)
        status = catalog ? put_first_rows(catalog, recipe, with, err) : ND_EIO;
    nd_catalog_close(catalog);
    snprintf(path, sizeof path, "%s/" SEGMENTS, made);
    if (status == ND_OK && mkdir(path, 0700) != 0)
        status = nd_fail(err, ND_EIO, "%s: %s", path, strerror(errno));
    return status;
}

static enum nd_status make_store(const char *folder, struct nd_recipe *recipe,
                                 struct made_with with, struct nd_store_tables *tables,
                                 struct nd_error *err)
{
    char *made;
    enum nd_status status = nd_folder_make_beside(folder, &made, err);

    if (status != ND_OK)
        return status;
    status = fill_folder(made, recipe, with, tables, err);
    if (status == ND_OK)
        status = nd_folder_publish(made, folder, err);
    if (status != ND_OK) {
        nd_store_tables_remove(tables, made);
        remove_made(made);
    }
    free(made);
    return status;
}

/* ---- An existing one ---- */

static enum nd_status lock_folder(struct nd_store *store, struct nd_error *err)
{
    char *path = nd_store_path(store, LOCK_FILE, err);

    if (!path)
        return ND_ENOMEM;
    store->folder_lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (store->folder_lock < 0) {
        (void)nd_folder_fail(store->folder, path, errno, err);
        free(path);
        return ND_EIO;
    }
    free(path);
    if (flock(store->folder_lock, LOCK_EX | LOCK_NB) == 0)
        return nd_backup_forget(store->folder, err);
    return nd_fail(err, ND_EINVAL, "%s: another process has the store open", store->folder);
}

/* Keep writers away, as far as there can be one: where no lock can be made, nobody writes. */
static enum nd_status lock_to_read(struct nd_store *store, struct nd_error *err)
{
    char *path = nd_store_path(store, LOCK_FILE, err);

    if (!path)
        return ND_ENOMEM;
    store->folder_lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (store->folder_lock < 0)
        store->folder_lock = open(path, O_RDONLY | O_CLOEXEC);
    free(path);
    if (store->folder_lock < 0 || flock(store->folder_lock, LOCK_SH | LOCK_NB) == 0)
        return ND_OK;
    return nd_fail(err, ND_EINVAL,
                   "%s: another process writes the store: read a copy (neardup store backup)",
                   store->folder);
}

static enum nd_status read_recipe(struct nd_store *store, struct nd_txn *txn, struct nd_error *err)
{
    struct nd_view text;
    int found = nd_catalog_get_meta(txn, RECIPE, &text, err);

    if (found < 0)
        return (enum nd_status)found;
    if (!found)
        return nd_fail(err, ND_EINPUT, "%s: the store has no recipe", store->folder);
    store->recipe = nd_recipe_new(err);
    if (!store->recipe)
        return ND_ENOMEM;
    return nd_recipe_parse(store->recipe, "the recipe of the store", text.data, text.len, err);
}

/* Read a ratio that the store was made with, and compare it with the one that was asked for. */
static enum nd_status read_ratio(struct nd_store *store, struct nd_txn *txn, const char *name,
                                 struct nd_ratio asked, struct nd_ratio *ratio,
                                 struct nd_error *err)
{
    struct nd_view text;
    int found = nd_catalog_get_meta(txn, name, &text, err);

    *ratio = (struct nd_ratio){0, 0};
    if (found < 0)
        return (enum nd_status)found;
    if (found && nd_ratio_parse(text.data, text.len, ratio, NULL) != ND_OK)
        return nd_fail(err, ND_EINPUT, "%s: the row '%s' of the store is no ratio", store->folder,
                       name);
    if (asked.q == 0 || (asked.p == ratio->p && asked.q == ratio->q))
        return ND_OK;
    if (!found)
        return nd_fail(err, ND_EINVAL,
                       "%s: the store was made without %s: export it, and import it into a new one",
                       store->folder, name);
    return nd_fail(
        err, ND_EINVAL,
        "%s: the store was made with %s = %u/%u: export it, and import it into a new one",
        store->folder, name, ratio->p, ratio->q);
}

static enum nd_status read_label_sets(struct nd_store *store, struct nd_txn *txn, uint32_t n,
                                      struct nd_error *err)
{
    for (uint32_t i = 0; i < n; i++) {
        struct nd_view bytes;
        uint32_t number;
        int found = nd_catalog_get_label_set(txn, i, &bytes, err);

        if (found < 0)
            return (enum nd_status)found;
        if (!found)
            return nd_fail(err, ND_EINPUT, "%s: label set %lu is missing", store->folder,
                           (unsigned long)i);
        if (nd_label_sets_add(store->sets, bytes, &number) != ND_OK)
            return nd_fail(err, ND_ENOMEM, "out of memory for label sets");
    }
    return ND_OK;
}

const struct nd_store_reads *nd_store_reads(const struct nd_store *store)
{
    return &store->reads;
}

/* List what the recipe reads beside texts. */
static enum nd_status list_reads(struct nd_store *store, struct nd_error *err)
{
    const struct nd_beside *beside = nd_sketching_beside(&store->sketching);
    const char **field = nd_alloc_array(beside->n_names + 1, sizeof *field);
    const char *name = beside->names;
    size_t n = 0;

    if (!field)
        return nd_fail(err, ND_ENOMEM, "out of memory for the fields of a recipe");
    for (size_t i = 0; i < beside->n_names; i++, name += strlen(name) + 1) {
        size_t same = 0;

        while (same < n && strcmp(field[same], name) != 0)
            same++;
        if (same == n)
            field[n++] = name;
    }
    store->reads = (struct nd_store_reads){
        .markup = beside->markup,
        .elements = beside->elements,
        .boilerplate = nd_recipe_sketch_params(store->recipe).boilerplate,
        .field = field,
        .n_fields = n,
    };
    return ND_OK;
}

/* A recipe that was asked for must be the store's. */
static enum nd_status check_recipe(const struct nd_store *store, struct nd_error *err)
{
    struct nd_recipe *asked;
    char *key = NULL;
    enum nd_status status;

    if (!store->options.recipe)
        return ND_OK;
    asked = nd_recipe_copy(store->options.recipe, err);
    if (!asked)
        return ND_ENOMEM;
    status = nd_store_tables_match(asked, store->recipe, store->folder, err);
    if (status == ND_OK)
        status = nd_recipe_difference(asked, store->recipe, false, &key, err);
    nd_recipe_free(asked);
    if (status != ND_OK || !key)
        return status;
    (void)nd_fail(err, ND_EINVAL, "%s: the store has another recipe: %s differs", store->folder,
                  key);
    free(key);
    return ND_EINVAL;
}

static enum nd_status open_parts(struct nd_store *store, struct nd_txn *txn,
                                 struct nd_catalog_state *state, struct nd_error *err)
{
    enum nd_status status = read_recipe(store, txn, err);
    struct made_with with = {{0, 0}, {0, 0}};
    char *path;

    if (status == ND_OK)
        status = check_recipe(store, err);
    if (status == ND_OK)
        status = nd_store_tables_open(store->tables, store->recipe, store->folder, err);
    if (status == ND_OK)
        status = read_ratio(store, txn, LEAST, store->options.least, &with.least, err);
    if (status == ND_OK)
        status =
            read_ratio(store, txn, CONTAINMENT, store->options.containment, &with.containment, err);
    if (status == ND_OK)
        status = nd_sketching_init(&store->sketching, store->recipe, with.least, err);
    if (status == ND_OK)
        status = nd_contained_init(&store->contained, &store->sketching, with.containment, err);
    if (status == ND_OK)
        status = list_reads(store, err);
    if (status == ND_OK)
        status = nd_catalog_get_state(txn, state, err);
    if (status == ND_OK)
        status = read_label_sets(store, txn, state->n_label_sets, err);
    if (status != ND_OK)
        return status;
    path = nd_store_path(store, SEGMENTS, err);
    if (!path)
        return ND_ENOMEM;
    store->segments = nd_segments_open(path, state->segments, store->options.segment_bytes,
                                       store->options.read_only, err);
    free(path);
    return store->segments ? ND_OK : ND_EIO;
}

/* Its threads: the writer commits what waits. */
static void stop(struct nd_store *store)
{
    nd_compactor_stop(store->compactor);
    store->compactor = NULL;
    nd_monitor_enter(&store->queue.monitor);
    store->queue.is_closing = true;
    nd_monitor_notify(&store->queue.monitor);
    nd_monitor_leave(&store->queue.monitor);
    nd_thread_join(&store->thread);
}

/* The index, and the thread that changes it. */
static enum nd_status start(struct nd_store *store, struct nd_txn *txn,
                            const struct nd_catalog_state *state, struct nd_error *err)
{
    enum nd_status status;

    store->writer = calloc(1, sizeof *store->writer);
    store->snapshots = nd_snapshots_new(store);
    if (!store->writer || !store->snapshots)
        return nd_fail(err, ND_ENOMEM, "out of memory for the writer of a store");
    if (!nd_writer_init(store->writer, store, err))
        return ND_ENOMEM;
    status = nd_store_open_index(store, txn, state, &store->writer->next_entry, err);
    if (status != ND_OK)
        return status;
    store->writer->committed_entry = state->next_entry;
    store->has_thread = nd_thread_start(&store->thread, nd_writer_run, store);
    if (!store->has_thread)
        return nd_fail(err, ND_ENOMEM, "the store's thread cannot be started");
    store->compactor = nd_compactor_start(store, ND_COMPACTOR_PERIOD_MS, err);
    if (!store->compactor) {
        stop(store);
        return ND_ENOMEM;
    }
    if (store->opened_from_snapshot)
        nd_snapshots_check(store->snapshots, nd_store_renew_index);
    return ND_OK;
}

static enum nd_status open_store(struct nd_store *store, struct nd_error *err)
{
    const struct nd_store_options *options = &store->options;
    struct nd_catalog_state state;
    struct nd_txn *txn = NULL;
    enum nd_status status = !options->read_only    ? lock_folder(store, err)
                            : options->has_answers ? lock_to_read(store, err)
                                                   : ND_OK;
    uint32_t next;

    if (status != ND_OK)
        return status;
    store->catalog = options->has_answers
                         ? nd_catalog_open_alone(store->folder, err)
                         : nd_catalog_open(store->folder, false, options->read_only, err);
    if (!store->catalog)
        return ND_EIO;
    status = nd_catalog_begin(store->catalog, false, &txn, err);
    if (status == ND_OK)
        status = open_parts(store, txn, &state, err);
    if (status == ND_OK && !options->read_only)
        status = start(store, txn, &state, err);
    else if (status == ND_OK && options->has_answers)
        status = nd_store_open_index(store, txn, &state, &next, err);
    if (status == ND_OK)
        store->commit = state.commit;
    if (txn)
        nd_catalog_abort(txn);
    return status;
}

static struct nd_store *new_store(const char *folder, const struct nd_store_options *options)
{
    struct nd_store *store = calloc(1, sizeof *store);

    if (!store)
        return NULL;
    store->folder_lock = -1;
    store->options = *options;
    store->folder = strdup(folder);
    store->sets = nd_label_sets_new();
    store->tables = calloc(1, sizeof *store->tables);
    store->index_lock = nd_rwlock_new();
    store->queue.end = &store->queue.first;
    if (store->folder && store->sets && store->tables && store->index_lock) {
        nd_monitor_init(&store->queue.monitor);
        return store;
    }
    free(store->folder);
    nd_label_sets_free(store->sets);
    free(store->tables);
    nd_rwlock_free(store->index_lock);
    free(store);
    return NULL;
}

/* Without the thread. */
static void free_store(struct nd_store *store)
{
    nd_snapshots_free(store->snapshots);
    if (store->writer) {
        nd_writer_release(store->writer);
        free(store->writer);
    }
    nd_index_free(store->index);
    nd_signed_entries_release(&store->signatures);
    nd_contained_release(&store->contained);
    nd_segments_close(store->segments);
    nd_catalog_close(store->catalog);
    free((void *)(uintptr_t)store->reads.field);
    nd_sketching_release(&store->sketching);
    nd_recipe_free(store->recipe);
    nd_store_tables_close(store->tables);
    free(store->tables);
    nd_label_sets_free(store->sets);
    nd_rwlock_free(store->index_lock);
    nd_monitor_release(&store->queue.monitor);
    if (store->folder_lock >= 0)
        close(store->folder_lock);
    free(store->folder);
    free(store);
}

/* Find out whether a folder is a store.  A folder that has anything else is none, and none is made of
 * it. */
static enum nd_status look_for_store(const char *folder, bool *is_there, struct nd_error *err)
{
    char path[4096 + 64];
    struct stat about;

    snprintf(path, sizeof path, "%s/" ND_CATALOG_FILE, folder);
    *is_there = stat(path, &about) == 0;
    if (*is_there)
        return ND_OK;
    if (errno == ENOTDIR)
        return nd_fail(err, ND_EINVAL, "%s: is no store: it is no folder", folder);
    if (errno != ENOENT)
        return nd_folder_fail(folder, path, errno, err);
    if (!nd_folder_is_empty(folder))
        return nd_fail(err, ND_EINVAL, "%s: is no store: it has no " ND_CATALOG_FILE, folder);
    return ND_OK;
}

/* Check that a store by a recipe can find neighbours down to `least`, and containment. */
static enum nd_status check_ratios(const struct nd_recipe *recipe, const struct made_with *with,
                                   struct nd_error *err)
{
    struct nd_sketching tried = {.least = with->least};
    struct nd_contained contained;
    enum nd_status status;

    if (!with->least.q && !with->containment.q)
        return ND_OK;
    status = nd_sketching_init(&tried, recipe, with->least, err);
    if (status != ND_OK)
        return status;
    status = nd_contained_init(&contained, &tried, with->containment, err);
    nd_sketching_release(&tried);
    return status;
}

/* Make a store by a recipe that is served; the default one if there is none. */
static enum nd_status make_if_missing(const char *folder, const struct nd_store_options *options,
                                      struct nd_error *err)
{
    struct nd_store_tables tables = {.n = 0};
    const struct made_with with = {options->least, options->containment};
    struct nd_recipe *recipe;
    bool is_there;
    enum nd_status status = look_for_store(folder, &is_there, err);

    if (status != ND_OK || is_there)
        return status;
    if (!options->create || options->read_only)
        return nd_fail(err, ND_EINVAL, "%s: there is no store", folder);
    recipe = options->recipe ? nd_recipe_copy(options->recipe, err) : nd_recipe_new(err);
    if (!recipe)
        return ND_ENOMEM;
    status = nd_recipe_check(recipe, err);
    if (status == ND_OK)
        status = nd_store_recipe_check(recipe, err);
    if (status == ND_OK)
        status = nd_store_tables_open(&tables, recipe, NULL, err);
    if (status == ND_OK)
        status = check_ratios(recipe, &with, err);
    if (status == ND_OK)
        status = make_store(folder, recipe, with, &tables, err);
    nd_recipe_free(recipe);
    nd_store_tables_close(&tables);
    return status;
}

struct nd_store *nd_store_open(const char *folder, const struct nd_store_options *options,
                               struct nd_error *err)
{
    uint64_t begin = nd_monotonic_ms();
    struct nd_store *store;

    if (nd_visits_check(&options->visits, err) != ND_OK ||
        make_if_missing(folder, options, err) != ND_OK)
        return NULL;
    store = new_store(folder, options);
    if (!store) {
        nd_fail(err, ND_ENOMEM, "out of memory for a store");
        return NULL;
    }
    if (open_store(store, err) == ND_OK) {
        store->open_seconds = (double)(nd_monotonic_ms() - begin) / 1000;
        return store;
    }
    free_store(store);
    return NULL;
}

enum nd_status nd_store_close(struct nd_store *store, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (!store)
        return ND_OK;
    if (store->has_thread) {
        stop(store);
        if (store->queue.broken != ND_STORE_OK)
            status = nd_fail(err, ND_EIO, "%s", store->queue.why.message);
        else
            status = nd_writer_save_index(store->writer, err);
    }
    free_store(store);
    return status;
}
