/* watch_folder.c - the files of folders: which are new or changed, and have been written whole */

/*
 * Every look lists all files anew, by the walker that reads folders elsewhere. inotify, where it is
 * at hand, only makes a look come sooner; a change that it misses is found by the next look.
 *
 *     list ─► new, changed, gone ─► stayed the same for long enough ─► posted ─► noted in the state
 */
#define _GNU_SOURCE
#include "service/client_watch.h"
#include "service/watch_items.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/thread/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

enum {
    ROUND_FILES = 1000,   /* posted before the folders are looked at again */
    READ_BYTES = 1 << 20, /* of records, at once */
    READ_RECORDS = 1000,
    LOOKS = 10,    /* a look takes at most one part in so many of the time */
    PAUSE_MS = 50, /* between two looks, at least: changes come in groups */
    FOLDERS_OPEN = 16
};

struct file {
    struct watch_entry posted; /* posted.path is its path; the rest counts if is_posted */
    struct watch_mark seen;
    uint64_t since_ms; /* since when it has been so */
    bool is_posted, is_there, was_told;
};

struct watching {
    struct watch *watch;
    const char *const *folder;
    size_t n_folders;
    struct file *file; /* in the byte order of their paths */
    size_t n;
    int inotify;     /* -1: there is none */
    bool has_failed; /* the last look could not read all, so that nobody knows what is gone */
    bool was_told_empty;
    uint64_t look_ms;
    struct watch_items items;
};

static enum nd_status out_of_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

static bool is_same(const struct watch_mark *a, const struct watch_mark *b)
{
    return a->bytes == b->bytes && a->modified_ns == b->modified_ns;
}

/* ---- Looking --------------------------------------------------------------------------------- */

/* A problem of a look: it is told with the first look, and whenever a file is posted. */
static void note_problem(void *context, const struct nd_problem *problem)
{
    struct watching *w = context;

    w->has_failed |= problem->kind == ND_PROBLEM_FAILED;
}

static int by_path(const void *a, const void *b)
{
    const struct file *x = a, *y = b;

    return strcmp(x->posted.path, y->posted.path);
}

/* Take over what the last look, or the last watch, knew of a file that was found. */
static void know(struct watching *w, struct file *found, struct file *before)
{
    const struct watch_entry *e;

    if (before) {
        free(before->posted.path);
        before->posted.path = found->posted.path;
        if (!before->is_there || !is_same(&before->seen, &found->seen))
            before->since_ms = found->since_ms;
        before->seen = found->seen;
        before->is_there = true;
        *found = *before;
        return;
    }
    e = watch_state_find(&w->watch->state, found->posted.path);
    if (e && !e->hashed && !e->is_item) {
        char *path = found->posted.path;

        found->posted = *e;
        found->posted.path = path;
        found->is_posted = true;
    }
}

/* A file that is not there stays known until it has been away for long enough. */
static void miss(struct file *before, uint64_t now_ms)
{
    if (before->is_there)
        before->since_ms = now_ms;
    before->is_there = false;
}

/* Merge what was found with what was known, both in order, into one list. */
static enum nd_status merge(struct watching *w, struct file *found, size_t n_found, uint64_t now_ms,
                            struct nd_error *err)
{
    struct file *all = nd_alloc_array(w->n + n_found + 1, sizeof *all);
    size_t n = 0, i = 0, k = 0;

    if (!all) {
        for (; k < n_found; k++)
            free(found[k].posted.path);
        return out_of_memory(err);
    }
    while (i < w->n || k < n_found) {
        int order = i == w->n ? 1 : k == n_found ? -1 : by_path(&w->file[i], &found[k]);

        if (order < 0) {
            miss(&w->file[i], now_ms);
            all[n++] = w->file[i++];
        } else {
            know(w, &found[k], order == 0 ? &w->file[i] : NULL);
            i += order == 0;
            all[n++] = found[k++];
        }
    }
    free(w->file);
    w->file = all;
    w->n = n;
    return ND_OK;
}

static bool is_state(const struct watching *w, const struct nd_input_file *f)
{
    struct stat st;

    return w->watch->state.file && fstat(fileno(w->watch->state.file), &st) == 0 &&
           f->inode == (uint64_t)st.st_ino && f->device == (uint64_t)st.st_dev;
}

/* Copy the list of an input, in order and without repetitions.  NULL: out of memory. */
static struct file *copy_list(struct watching *w, const struct nd_input *input, uint64_t now_ms,
                              size_t *n_found)
{
    size_t n = nd_input_files(input), kept = 0;
    struct file *found = calloc(n + 1, sizeof *found);

    *n_found = 0;
    if (!found)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        const struct nd_input_file *f = nd_input_file(input, i);
        struct file *to = &found[*n_found];

        w->has_failed |= !f->inode; /* a folder that was given is no folder */
        if (!f->inode || is_state(w, f))
            continue;
        to->posted.path = strdup(f->path);
        if (!to->posted.path) {
            for (size_t k = 0; k < *n_found; k++)
                free(found[k].posted.path);
            free(found);
            return NULL;
        }
        to->seen = (struct watch_mark){f->size, f->modified_seconds * INT64_C(1000000000) +
                                                    f->modified_nanoseconds};
        to->since_ms = now_ms;
        to->is_there = true;
        ++*n_found;
    }
    if (*n_found)
        qsort(found, *n_found, sizeof *found, by_path);
    for (size_t i = 0; i < *n_found; i++)
        if (kept && by_path(&found[kept - 1], &found[i]) == 0)
            free(found[i].posted.path);
        else
            found[kept++] = found[i];
    *n_found = kept;
    return found;
}

static void warn(const struct watching *w, const char *path, const char *what)
{
    const struct nd_run_events *events = post_events(w->watch->post);
    struct nd_error message;
    struct nd_problem problem = {ND_PROBLEM_WARNING, message.message};

    nd_fail(&message, ND_EIO, "%s: %s", path, what);
    events->problem(events->context, &problem);
}

/* Folders that are empty at once may be no longer mounted: then nothing is taken to be gone. */
static void doubt_emptiness(struct watching *w)
{
    size_t there = 0;

    for (size_t i = 0; i < w->n; i++)
        there += w->file[i].is_there;
    if (there == 0 && w->n > 1 && w->watch->client->options->deletes) {
        if (!w->was_told_empty)
            warn(w, w->folder[0],
                 "has no files any more, so that it may not be mounted: no document is deleted");
        w->was_told_empty = w->has_failed = true;
    }
}

static enum nd_status look(struct watching *w, struct nd_error *err)
{
    uint64_t now_ms = nd_monotonic_ms();
    struct nd_input *input = nd_input_open(
        w->folder, w->n_folders, post_input_options(w->watch->post), note_problem, w, err);
    enum nd_status status = input ? nd_input_list(input, err) : err->status;
    struct file *found = NULL;
    size_t n = 0;

    w->has_failed = false;
    if (status == ND_OK) {
        found = copy_list(w, input, now_ms, &n);
        status = found ? merge(w, found, n, now_ms, err) : out_of_memory(err);
    }
    doubt_emptiness(w);
    free(found);
    nd_input_close(input);
    w->look_ms = nd_monotonic_ms() - now_ms;
    return status;
}

/* ---- Which files are ready ------------------------------------------------------------------- */

/*
 * Whether a process has the file open for writing, as far as the system tells: it gives no lease for
 * reading then. It gives none either of other people's files, and of some file systems.
 */
static bool has_writer(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool has = false;

    if (fd < 0)
        return false;
    if (fcntl(fd, F_SETLEASE, F_RDLCK) == 0)
        (void)fcntl(fd, F_SETLEASE, F_UNLCK);
    else
        has = errno == EAGAIN;
    close(fd);
    return has;
}

static bool hash_file(const char *path, uint64_t *hash)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct nd_hash_stream *stream = fd < 0 ? NULL : nd_hash_stream_new();
    char piece[1 << 16];
    ssize_t n = -1;

    while (stream && (n = read(fd, piece, sizeof piece)) != 0) {
        if (n < 0 && errno != EINTR)
            break;
        if (n > 0)
            nd_hash_stream_add(stream, piece, (size_t)n);
    }
    if (stream && n == 0)
        *hash = nd_hash_stream_value(stream);
    if (stream)
        nd_hash_stream_free(stream);
    if (fd >= 0)
        close(fd);
    return n == 0;
}

static bool has_settled(const struct watching *w, const struct file *f, uint64_t now_ms)
{
    return now_ms - f->since_ms >= w->watch->client->options->settle_s * 1000;
}

static bool has_news(const struct file *f)
{
    return f->is_there && (!f->is_posted || !is_same(&f->seen, &f->posted.mark));
}

/*
 * Check that a file is to be posted: it was written whole, and its bytes are not those that were
 * posted, in which case only its time is noted. 1; 0; a failure.
 */
static int check_ready(struct watching *w, struct file *f, struct nd_error *err)
{
    uint64_t hash;

    errno = 0;
    if (has_writer(f->posted.path) || !hash_file(f->posted.path, &hash)) {
        if (errno && errno != EAGAIN && errno != ENOENT && !f->was_told) {
            warn(w, f->posted.path, strerror(errno));
            f->was_told = true;
        }
        f->since_ms = nd_monotonic_ms(); /* look again later */
        return 0;
    }
    f->was_told = false;
    if (f->is_posted && hash == f->posted.hash) {
        f->posted.mark = f->seen;
        return watch_state_note(&w->watch->state, &f->posted, err) == ND_OK ? 0 : err->status;
    }
    f->posted.hash = hash;
    return 1;
}

/* ---- A round --------------------------------------------------------------------------------- */

/* Files that are posted together, and where their records end. */
struct round {
    struct watching *w;
    struct file **file;
    uint64_t *end;       /* records of the round up to the end of each file before `at` */
    size_t n, at, noted; /* `at`: the file that is read */
    uint64_t records;
    struct nd_input *input;
    struct nd_batch read;
    size_t next, at_once; /* records that are read at once */
    bool is_pipe;
};

/* A file is a document that has its name as its id: a text or a page, or one that a
 * filter reads. */
static bool is_named(const struct nd_source *source)
{
    return !source->is_container && !source->entry &&
           (source->format == ND_FORMAT_TEXT || source->format == ND_FORMAT_HTML ||
            source->format == ND_FORMAT_FILTERED);
}

static int next_record(void *context, struct nd_record *record, const struct nd_source **source,
                       struct nd_error *err)
{
    struct round *r = context;

    for (int is_new = 0; is_new <= 0;) {
        if (watch_is_stopping())
            return 0;
        if (r->next == r->read.count) {
            int result = nd_input_read(r->input, READ_BYTES, r->at_once, &r->read, err);

            r->next = 0;
            if (result <= 0)
                return result;
        }
        *record = r->read.records[r->next++];
        *source = nd_input_source(r->input, record->source);
        while (r->at + 1 < r->n && strcmp(r->file[r->at]->posted.path, (*source)->path) != 0)
            r->end[r->at++] = r->records;
        r->file[r->at]->posted.is_document = is_named(*source);
        is_new = watch_items_are_in(*source)
                     ? watch_items_take(&r->w->items, *source, record, r->records + 1, err)
                     : 1;
        if (is_new < 0)
            return is_new;
    }
    r->records++;
    return 1;
}

/* Note the items, and the files, whose records have all been answered. */
static enum nd_status note_files(struct round *r, uint64_t records, struct nd_error *err)
{
    enum nd_status status = watch_items_note(&r->w->items, records, err);

    for (; status == ND_OK && r->noted < r->at && r->end[r->noted] <= records; r->noted++) {
        struct file *f = r->file[r->noted];

        f->is_posted = true;
        f->posted.mark = f->seen;
        if (r->is_pipe)
            continue;
        status = watch_items_end_file(&r->w->items, f->posted.path, err);
        if (status == ND_OK)
            status = watch_state_note(&r->w->watch->state, &f->posted, err);
    }
    return status;
}

static enum nd_status note_written(void *context, uint64_t records, const char *at,
                                   struct nd_error *err)
{
    (void)at;
    return note_files(context, records, err);
}

/* Open the files as they were found: what is no text is left out. */
static enum nd_status open_round(struct round *r, const char **path, struct nd_error *err)
{
    const struct nd_run_events *events = post_events(r->w->watch->post);
    enum nd_status status;

    for (size_t i = 0; i < r->n; i++) {
        path[i] = r->file[i]->posted.path;
        r->file[i]->posted.is_document = false;
    }
    r->input = nd_input_open(path, r->n, post_input_options(r->w->watch->post), events->problem,
                             events->context, err);
    status = r->input ? nd_input_list(r->input, err) : err->status;
    for (size_t i = 0; status == ND_OK && !r->is_pipe && i < nd_input_files(r->input); i++)
        nd_input_file(r->input, i)->is_found = 1;
    return status;
}

/* Whether the file that is read has been, although the round was left: it is one record. */
static bool has_ended(const struct round *r)
{
    return r->at < r->n && r->file[r->at]->posted.is_document &&
           r->records > (r->at ? r->end[r->at - 1] : 0);
}

static enum nd_status post_round(struct round *r, struct nd_error *err)
{
    const char **path = nd_alloc_array(r->n, sizeof *path);
    const struct post_source source = {r, next_record, note_written};
    enum nd_status status;

    watch_items_begin_round(&r->w->items);
    r->end = nd_alloc_array(r->n + 1, sizeof *r->end);
    status = path && r->end ? open_round(r, path, err) : out_of_memory(err);
    if (status == ND_OK)
        status = post_run(r->w->watch->post, &source, err);
    if (status == ND_OK && watch_is_stopping() && has_ended(r))
        r->end[r->at++] = r->records;
    while (status == ND_OK && !watch_is_stopping() && r->at < r->n)
        r->end[r->at++] = r->records;
    if (status == ND_OK)
        status = note_files(r, r->records, err);
    nd_batch_release(&r->read);
    nd_input_close(r->input);
    free(path);
    free(r->end);
    return status;
}

/* Post the files that are ready. */
static enum nd_status post_ready(struct watching *w, struct nd_error *err)
{
    struct file *ready[ROUND_FILES];
    struct round r = {.w = w, .file = ready, .at_once = READ_RECORDS};
    uint64_t now_ms = nd_monotonic_ms();

    for (size_t i = 0; i < w->n && r.n < ROUND_FILES && !watch_is_stopping(); i++) {
        struct file *f = &w->file[i];
        int result;

        if (!has_news(f) || !has_settled(w, f, now_ms))
            continue;
        result = check_ready(w, f, err);
        if (result < 0)
            return (enum nd_status)result;
        if (result)
            ready[r.n++] = f;
    }
    return r.n ? post_round(&r, err) : ND_OK;
}

/* ---- Files that are gone --------------------------------------------------------------------- */

/* Delete the document of a file.  One that is not there has been deleted already. */
static enum nd_status delete_document(struct watching *w, const char *id, struct nd_error *err)
{
    struct client *c = w->watch->client;
    struct http_request r = {.method = NULL};
    enum nd_status status = ND_OK;

    if (!client_document(c, &r, id, "")) {
        http_request_release(&r);
        return out_of_memory(err);
    }
    r.method = "DELETE";
    status = http_do(c->http, &r, err);
    if (status == ND_OK && r.status != 204 && r.status != 404)
        status = answer_problem(c->reader, &r, id, err);
    if (status == ND_OK && r.status == 204) {
        struct nd_json out = {.failed = false};

        nd_json_open(&out, '{');
        nd_json_put_text(&out, "at", id);
        nd_json_put_text(&out, "id", id);
        nd_json_put_bool(&out, "deleted", true);
        nd_json_close(&out, '}');
        nd_json_line(&out);
        results_put_row(&c->results, out.text.data, out.text.len);
        if (out.failed)
            status = out_of_memory(err);
        else if (fflush(c->results.file) != 0)
            status = nd_fail(err, ND_EIO, "%s: cannot be written", c->results.name);
        nd_json_release(&out);
    }
    http_request_release(&r);
    return status;
}

/*
 * Forget files that have been away for long enough. Where something could not be read, as a folder
 * that is no longer mounted, nobody knows what is gone.
 */
static enum nd_status forget_gone(struct watching *w, struct nd_error *err)
{
    uint64_t now_ms = nd_monotonic_ms();
    enum nd_status status = ND_OK;
    size_t kept = 0;

    for (size_t i = 0; i < w->n; i++) {
        struct file *f = &w->file[i];
        bool is_gone = status == ND_OK && !w->has_failed && !watch_is_stopping() && !f->is_there &&
                       has_settled(w, f, now_ms);

        if (is_gone && f->is_posted && f->posted.is_document && w->watch->client->options->deletes)
            status = delete_document(w, f->posted.path, err);
        if (is_gone && status == ND_OK && f->is_posted) {
            watch_items_begin_round(&w->items);
            status = watch_items_end_file(&w->items, f->posted.path, err);
        }
        if (is_gone && status == ND_OK && f->is_posted)
            status = watch_state_forget(&w->watch->state, f->posted.path, err);
        if (is_gone && status == ND_OK)
            free(f->posted.path);
        else
            w->file[kept++] = *f;
    }
    w->n = kept;
    return status;
}

/* Files of the state that are no longer there are gone as if they had been seen. */
static enum nd_status recall(struct watching *w, struct nd_error *err)
{
    const struct watch_state *s = &w->watch->state;
    struct file *known = calloc(s->n + 1, sizeof *known);
    size_t n = 0;

    if (!known)
        return out_of_memory(err);
    for (size_t i = 0; i < s->n; i++) {
        const struct watch_entry *e = &s->entry[i];

        if (e->hashed || e->is_item)
            continue;
        known[n] = (struct file){
            .posted = *e, .seen = e->mark, .is_posted = true, .since_ms = nd_monotonic_ms()};
        known[n].posted.path = strdup(e->path);
        if (!known[n++].posted.path) {
            w->file = known;
            w->n = n;
            return out_of_memory(err);
        }
    }
    w->file = known;
    w->n = n;
    return ND_OK;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static int new_folder_of = -1; /* nftw has no context */

static int add_folder(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)at;
    if (kind == FTW_D && inotify_add_watch(new_folder_of, path,
                                           IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MODIFY |
                                               IN_MOVE | IN_ONLYDIR) < 0)
        return errno == ENOSPC || errno == ENOMEM;
    return 0;
}

/* Have the system tell of changes in all folders.  Where it cannot, time alone says when to look. */
static void add_folders(struct watching *w)
{
    new_folder_of = w->inotify;
    for (size_t i = 0; w->inotify >= 0 && i < w->n_folders; i++)
        if (nftw(w->folder[i], add_folder, FOLDERS_OPEN, 0) > 0) {
            if (!w->watch->client->settings->quiet)
                say("the system watches no more folders (fs.inotify.max_user_watches): they are "
                    "looked at every %llu seconds",
                    (unsigned long long)w->watch->client->options->every_s);
            close(w->inotify);
            w->inotify = -1;
        }
}

/* Read what the system has told.  Whether a folder is new. */
static bool drain(int inotify)
{
    union {
        struct inotify_event first;
        char bytes[1 << 14];
    } told;
    bool is_new = false;
    ssize_t n;

    while ((n = read(inotify, told.bytes, sizeof told.bytes)) > 0)
        for (ssize_t at = 0; at < n;) {
            struct inotify_event event;

            memcpy(&event, told.bytes + at, sizeof event);
            at += (ssize_t)(sizeof event + event.len);
            is_new |= event.mask & IN_ISDIR || event.mask & IN_Q_OVERFLOW;
        }
    return is_new;
}

/* Milliseconds until the first file settles; UINT64_MAX: none is to. */
static uint64_t until_settled(const struct watching *w)
{
    uint64_t settle_ms = w->watch->client->options->settle_s * 1000, now = nd_monotonic_ms();
    uint64_t least = UINT64_MAX;

    for (size_t i = 0; i < w->n; i++) {
        const struct file *f = &w->file[i];
        uint64_t left = f->since_ms + settle_ms > now ? f->since_ms + settle_ms - now : 0;

        if ((has_news(f) || (!f->is_there && !w->has_failed)) && left < least)
            least = left;
    }
    return least;
}

/* Wait until it is time to look, the system tells of a change, or a signal comes. */
static void wait_for_change(struct watching *w)
{
    uint64_t begin = nd_monotonic_ms(), pause = w->look_ms * LOOKS, settled = until_settled(w);
    uint64_t end = w->watch->client->options->every_s * 1000;
    bool is_told = false;

    end = settled < end ? settled : end;
    pause = pause > PAUSE_MS ? pause : PAUSE_MS;
    end = pause > end ? pause : end;
    while (!watch_is_stopping()) {
        uint64_t passed = nd_monotonic_ms() - begin;
        struct pollfd fd = {.fd = is_told ? -1 : w->inotify, .events = POLLIN};

        if (passed >= end)
            break;
        if (poll(&fd, 1, end - passed < 500 ? (int)(end - passed) : 500) > 0) {
            is_told = true;
            pause = pause > passed + PAUSE_MS ? pause : passed + PAUSE_MS;
            end = pause < end ? pause : end;
            if (drain(w->inotify))
                add_folders(w);
        }
    }
}

enum nd_status watch_folders(struct watch *watch, const char *const *path, size_t n,
                             struct nd_error *err)
{
    struct watching w = {.watch = watch,
                         .folder = path,
                         .n_folders = n,
                         .inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
    enum nd_status status = recall(&w, err);

    if (status == ND_OK)
        status = watch_items_open(&w.items, &watch->state, post_input_options(watch->post), err);
    add_folders(&w);
    while (status == ND_OK && !watch_is_stopping()) {
        status = look(&w, err);
        if (status == ND_OK)
            status = post_ready(&w, err);
        if (status == ND_OK)
            status = forget_gone(&w, err);
        if (status == ND_OK)
            wait_for_change(&w);
    }
    if (w.inotify >= 0)
        close(w.inotify);
    for (size_t i = 0; i < w.n; i++)
        free(w.file[i].posted.path);
    free(w.file);
    watch_items_close(&w.items);
    return status;
}

enum nd_status watch_feed_once(struct watch *watch, struct nd_error *err)
{
    struct watching w = {.watch = watch, .inotify = -1};
    struct file pipe = {.posted = {.path = (char[]){"-"}}}, *file = &pipe;
    struct round r = {.w = &w, .file = &file, .n = 1, .at_once = READ_RECORDS, .is_pipe = true};
    enum nd_status status =
        watch_items_open(&w.items, &watch->state, post_input_options(watch->post), err);

    if (status == ND_OK)
        status = post_round(&r, err);
    watch_items_close(&w.items);
    return status;
}
