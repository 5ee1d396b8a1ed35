/* walk_paths.c - directories are walked in byte order, each of them once */

/*
 * The result depends on the order of files, so it must not depend on the file system: the entries
 * of each directory are sorted by their bytes before they are visited. The walk uses a stack of its
 * own instead of recursion, and remembers directories by device and inode, so that loops of
 * symbolic links end.
 */
#include "input/streams/walk_paths.h"

#include "base/hash.h"
#include "base/system/descriptor.h"
#include "base/system/naming.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A directory already read, or being read. */
struct visited {
    uint64_t device, inode;
    const char *path;
    bool is_open; /* it lies on the way to where the walk is now */
};

/* A path still to be visited, on a list of our own, not on the call stack, however deep it lies. */
struct pending {
    const char *path;
    enum { VISIT, LEAVE } what;
    bool is_directory; /* VISIT */
    size_t visited;    /* LEAVE: the directory whose content has all been read */
};

struct folder_walk {
    const struct nd_input_options *options;
    const struct nd_problem_handler *on_problem;
    struct nd_arena *strings;
    struct nd_path_list *list;
    struct visited *visited;
    size_t n_visited, visited_capacity;
    size_t *bucket; /* open addressing over `visited`, index + 1 */
    size_t n_buckets;
    struct pending *pending;
    size_t n_pending, pending_capacity;
    size_t below;  /* length of the given path with its '/': where the path below it begins */
    bool has_told; /* something of what lies below it */
};

static void ND_PRINTF(3, 4)
    tell(struct folder_walk *w, enum nd_problem_kind kind, const char *format, ...)
{
    char message[2048];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    w->has_told = true;
    nd_report(w->on_problem, kind, "%s", message);
}

/* Which file it is, so that no output takes its place unseen. */
static void mark_file(struct nd_input_file *file, const struct nd_file_about *st)
{
    file->device = st->device;
    file->inode = st->inode;
    file->modified_seconds = st->seconds;
    file->modified_nanoseconds = st->nanoseconds;
}

static bool add_file(struct nd_path_list *list, const char *path, const struct nd_file_about *st,
                     bool is_found)
{
    if (!ND_RESERVE(list->file, &list->capacity, list->count + 1))
        return false;
    list->file[list->count] = (struct nd_input_file){.path = path, .is_found = is_found};
    if (st) {
        list->file[list->count].size = st->bytes;
        mark_file(&list->file[list->count], st);
        list->bytes += st->bytes;
    } else {
        list->is_size_known = 0;
    }
    list->count++;
    return true;
}

static bool add_stdin(struct nd_path_list *list, const char *path)
{
    struct nd_file_about st;

    if (!add_file(list, path, NULL, false))
        return false;
    if (nd_descriptor_about(0, &st) && st.kind == ND_FILE_REGULAR)
        mark_file(&list->file[list->count - 1], &st);
    return true;
}

static bool matches_one(const char *const *globs, size_t n, const char *below)
{
    const char *slash = strrchr(below, '/');

    for (size_t i = 0; i < n; i++)
        if (strchr(globs[i], '/') ? nd_pattern_matches(globs[i], below, true)
                                  : nd_pattern_matches(globs[i], slash ? slash + 1 : below, false))
            return true;
    return false;
}

bool nd_path_is_wanted(const struct nd_input_options *options, const char *below)
{
    return (options->n_globs == 0 || matches_one(options->globs, options->n_globs, below)) &&
           !matches_one(options->excludes, options->n_excludes, below);
}

static bool matches(const struct folder_walk *w, const char *path)
{
    return nd_path_is_wanted(w->options, path + w->below);
}

static const char *join(struct folder_walk *w, const char *directory, const char *name)
{
    size_t n = strlen(directory), m = strlen(name);
    bool slash = n > 0 && directory[n - 1] != '/';
    char *path = nd_arena_alloc(w->strings, n + slash + m + 1);

    if (!path)
        return NULL;
    memcpy(path, directory, n);
    if (slash)
        path[n] = '/';
    memcpy(path + n + slash, name, m + 1);
    return path;
}

static size_t bucket_of(const struct folder_walk *w, uint64_t device, uint64_t inode)
{
    uint64_t key = nd_mix64(inode + nd_mix64(device));
    size_t b = (size_t)key & (w->n_buckets - 1);

    while (w->bucket[b] && (w->visited[w->bucket[b] - 1].inode != inode ||
                            w->visited[w->bucket[b] - 1].device != device))
        b = (b + 1) & (w->n_buckets - 1);
    return b;
}

static bool grow_buckets(struct folder_walk *w)
{
    size_t n = w->n_buckets ? 2 * w->n_buckets : 64;
    size_t *bucket = calloc(n, sizeof *bucket);

    if (!bucket)
        return false;
    free(w->bucket);
    w->bucket = bucket;
    w->n_buckets = n;
    for (size_t i = 0; i < w->n_visited; i++)
        bucket[bucket_of(w, w->visited[i].device, w->visited[i].inode)] = i + 1;
    return true;
}

/* 1: it is new; 0: it was met before, `*before` says as what; -1: out of memory. */
static int visit(struct folder_walk *w, const char *path, const struct nd_file_about *st,
                 const struct visited **before)
{
    size_t b;

    if ((!w->bucket || 2 * (w->n_visited + 1) > w->n_buckets) && !grow_buckets(w))
        return -1;
    b = bucket_of(w, st->device, st->inode);
    if (w->bucket[b]) {
        *before = &w->visited[w->bucket[b] - 1];
        return 0;
    }
    if (!ND_RESERVE(w->visited, &w->visited_capacity, w->n_visited + 1))
        return -1;
    w->visited[w->n_visited] = (struct visited){st->device, st->inode, path, true};
    w->bucket[b] = ++w->n_visited;
    return 1;
}

static bool push(struct folder_walk *w, struct pending p)
{
    if (!ND_RESERVE(w->pending, &w->pending_capacity, w->n_pending + 1))
        return false;
    w->pending[w->n_pending++] = p;
    return true;
}

/* Paths in descending order, so that the first is on top of the stack.  Directories sort as if
 * their '/' stood behind them, as the paths below them do. */
static int by_path(const void *a, const void *b)
{
    const struct pending *x = b, *y = a;
    size_t n = strlen(x->path), m = strlen(y->path), least = n < m ? n : m;
    int order = memcmp(x->path, y->path, least);
    unsigned char after_x, after_y;

    if (order)
        return order;
    after_x = n > least ? (unsigned char)x->path[least] : x->is_directory ? '/' : 0;
    after_y = m > least ? (unsigned char)y->path[least] : y->is_directory ? '/' : 0;
    return (after_x > after_y) - (after_x < after_y);
}

/* Whether the entry, symbolic links followed, is a directory; unknown ones are asked for. */
static bool is_directory(int known, const char *path)
{
    struct nd_file_about st;

    if (known >= 0)
        return known;
    return nd_path_about(path, &st) && st.kind == ND_FILE_FOLDER;
}

/* An output that a run, this one or another, is still writing (src/base/file/temporary.c). */
static bool is_ours(const char *name)
{
    static const char prefix[] = ".neardup-";

    return strncmp(name, prefix, sizeof prefix - 1) == 0;
}

/* Put the entries of the directory on the stack. */
static enum nd_status list_directory(struct folder_walk *w, const char *path)
{
    struct nd_folder_list *directory = nd_folder_list_open(path);
    enum nd_status status = ND_OK;
    const char *name;

    if (!directory && errno == ENOMEM)
        return ND_ENOMEM;
    if (!directory) {
        tell(w, ND_PROBLEM_FAILED, "%s: directory cannot be read: %s", path, strerror(errno));
        return ND_OK;
    }
    while (status == ND_OK && (name = nd_folder_list_next(directory))) {
        const char *below;

        if (is_ours(name))
            continue;
        below = join(w, path, name);
        if (!below ||
            !push(w, (struct pending){below, VISIT,
                                      is_directory(nd_folder_list_is_folder(directory), below), 0}))
            status = ND_ENOMEM;
    }
    if (status == ND_OK && errno)
        tell(w, ND_PROBLEM_FAILED, "%s: directory cannot be read to its end: %s", path,
             strerror(errno));
    nd_folder_list_close(directory);
    return status;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool has_folder(const struct folder_walk *w, size_t from, const char *name)
{
    for (size_t i = from; i < w->n_pending; i++)
        if (w->pending[i].is_directory && strcmp(name_of(w->pending[i].path), name) == 0)
            return true;
    return false;
}

/* In a Maildir, what lies in tmp/ is still being delivered.  The entries begin at `from`. */
static void drop_deliveries(struct folder_walk *w, size_t from)
{
    size_t n = from;

    if (!has_folder(w, from, "cur") || !has_folder(w, from, "new"))
        return;
    for (size_t i = from; i < w->n_pending; i++)
        if (!w->pending[i].is_directory || strcmp(name_of(w->pending[i].path), "tmp") != 0)
            w->pending[n++] = w->pending[i];
    w->n_pending = n;
}

static enum nd_status enter_directory(struct folder_walk *w, const char *path,
                                      const struct nd_file_about *st)
{
    const struct visited *before = NULL;
    enum nd_status status;
    size_t from;
    int is_new = visit(w, path, st, &before);

    if (is_new < 0)
        return ND_ENOMEM;
    if (is_new == 0) {
        tell(w, ND_PROBLEM_WARNING,
             before->is_open ? "%s: leads back to %s (a loop of symbolic links): not followed"
                             : "%s: is the same directory as %s: not read again",
             path, before->path);
        return ND_OK;
    }
    if (!push(w, (struct pending){path, LEAVE, true, w->n_visited - 1}))
        return ND_ENOMEM;
    from = w->n_pending;
    status = list_directory(w, path);
    drop_deliveries(w, from);
    qsort(w->pending + from, w->n_pending - from, sizeof *w->pending, by_path);
    return status;
}

static enum nd_status visit_entry(struct folder_walk *w, const char *path)
{
    struct nd_file_about st;

    if (!nd_path_about(path, &st)) {
        if (matches(w, path)) {
            w->list->unreadable++;
            tell(w, ND_PROBLEM_FAILED, "%s: cannot be read: %s", path, strerror(errno));
        }
        return ND_OK;
    }
    if (st.kind == ND_FILE_FOLDER)
        return enter_directory(w, path, &st);
    if (!matches(w, path)) {
        w->list->unmatched++;
        return ND_OK;
    }
    if (st.kind != ND_FILE_REGULAR) {
        w->list->special++;
        tell(w, ND_PROBLEM_WARNING, "%s: is not a regular file: skipped", path);
        return ND_OK;
    }
    return add_file(w->list, path, &st, true) ? ND_OK : ND_ENOMEM;
}

/* All below one directory that was given. */
static enum nd_status walk_directory(struct folder_walk *w, const char *path,
                                     const struct nd_file_about *st)
{
    size_t n = strlen(path), before = w->list->count;
    enum nd_status status;

    w->below = n + (n > 0 && path[n - 1] != '/');
    w->n_visited = w->n_pending = 0;
    w->has_told = false;
    if (w->bucket)
        memset(w->bucket, 0, w->n_buckets * sizeof *w->bucket);
    status = enter_directory(w, path, st);
    while (status == ND_OK && w->n_pending > 0) {
        struct pending p = w->pending[--w->n_pending];

        if (p.what == LEAVE)
            w->visited[p.visited].is_open = false;
        else
            status = visit_entry(w, p.path);
    }
    if (status == ND_OK && w->list->count == before && !w->has_told)
        tell(w, ND_PROBLEM_WARNING, "%s: no file below it%s", path,
             w->options->n_globs || w->options->n_excludes ? " matches" : "");
    return status;
}

enum nd_status nd_paths_expand(const char *const *given, size_t n_given,
                               const struct nd_input_options *options,
                               const struct nd_problem_handler *on_problem,
                               struct nd_arena *strings, struct nd_path_list *list)
{
    struct folder_walk w = {
        .options = options, .on_problem = on_problem, .strings = strings, .list = list};
    enum nd_status status = ND_OK;
    bool has_stdin = false;

    list->is_size_known = 1;
    for (size_t i = 0; i < n_given && status == ND_OK; i++) {
        bool is_stdin = strcmp(given[i], "-") == 0, exists;
        struct nd_file_about st;

        if (is_stdin && has_stdin) {
            nd_report(on_problem, ND_PROBLEM_FAILED,
                      "(standard input): is given twice but can be read only once");
            continue;
        }
        has_stdin |= is_stdin;
        exists = !is_stdin && nd_path_about(given[i], &st);
        if (!exists && !is_stdin && !list->missing) {
            list->missing = given[i];
            list->why_missing = errno;
        }
        if (exists && st.kind == ND_FILE_FOLDER)
            status = walk_directory(&w, given[i], &st);
        else if (is_stdin ? !add_stdin(list, given[i])
                          : !add_file(list, given[i],
                                      exists && st.kind == ND_FILE_REGULAR ? &st : NULL, false))
            status = ND_ENOMEM;
    }
    free(w.visited);
    free(w.bucket);
    free(w.pending);
    return status;
}
