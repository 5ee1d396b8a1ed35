/* store_fixture.h - a store in a temporary folder, with a clock of its own, for tests */
#ifndef STORE_FIXTURE_H
#define STORE_FIXTURE_H

#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/thread/thread.h"
#include "store/store.h"

struct fixture {
    char parent[64], folder[96];
    struct nd_store_options options;
    struct nd_store *store;
    struct nd_session *session;
    struct nd_caller *admin;
    uint64_t now;
};

static inline struct nd_view view(const char *text)
{
    return (struct nd_view){text, strlen(text)};
}

static inline uint64_t fixture_now(void *context)
{
    return ((const struct fixture *)context)->now;
}

static inline void fixture_begin(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    /* In memory, where there is such a folder: nothing here cuts the power. */
    strcpy(f->parent, access("/dev/shm", W_OK) == 0 ? "/dev/shm/neardup-store-XXXXXX"
                                                    : "/tmp/neardup-store-XXXXXX");
    assert_non_null(mkdtemp(f->parent));
    memcpy(f->folder, f->parent, sizeof f->parent);
    strcat(f->folder, "/store");
    f->now = 1000000;
    f->options = nd_store_options_default();
    f->options.create = true;
    f->options.threads = 2;
    f->options.now = fixture_now;
    f->options.now_context = f;
}

static inline void fixture_open(struct fixture *f)
{
    struct nd_error err = {0};

    f->store = nd_store_open(f->folder, &f->options, &err);
    if (!f->store)
        fail_msg("%s", err.message);
    f->session = nd_session_new(f->store, &err);
    f->admin = nd_caller_new(f->store, NULL, 0, true, &err);
    assert_non_null(f->session);
    assert_non_null(f->admin);
}

static inline void fixture_close(struct fixture *f)
{
    struct nd_error err = {0};

    nd_caller_free(f->admin);
    nd_session_free(f->session);
    if (nd_store_close(f->store, &err) != ND_OK)
        fail_msg("%s", err.message);
    f->store = NULL;
}

static inline void fixture_path(const struct fixture *f, const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", f->folder, name);
}

static inline void fixture_empty(const char *folder)
{
    DIR *entries = opendir(folder);
    struct dirent *entry;
    char path[1024];

    while (entries && (entry = readdir(entries))) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        (void)unlink(path);
    }
    if (entries)
        closedir(entries);
}

static inline void fixture_end(struct fixture *f)
{
    char segments[512];

    fixture_path(f, "segments", segments, sizeof segments);
    fixture_empty(segments);
    (void)rmdir(segments);
    fixture_empty(f->folder);
    (void)rmdir(f->folder);
    assert_int_equal(rmdir(f->parent), 0);
}

/* ---- Writing ---- */

struct waiting {
    struct nd_monitor monitor;
    bool is_done;
};

static inline void is_done(void *context)
{
    struct waiting *waiting = context;

    nd_monitor_enter(&waiting->monitor);
    waiting->is_done = true;
    nd_monitor_notify(&waiting->monitor);
    nd_monitor_leave(&waiting->monitor);
}

/* Hand writes over, and wait for them. */
static inline enum nd_store_result submit_and_wait(struct nd_store *store,
                                                   struct nd_write *const *write, size_t n,
                                                   struct nd_error *err)
{
    struct waiting waiting = {.is_done = false};
    enum nd_store_result result;

    nd_monitor_init(&waiting.monitor);
    result = nd_store_submit(store, write, n, is_done, &waiting, err);
    if (result == ND_STORE_OK) {
        nd_monitor_enter(&waiting.monitor);
        while (!waiting.is_done)
            nd_monitor_wait(&waiting.monitor);
        nd_monitor_leave(&waiting.monitor);
    }
    nd_monitor_release(&waiting.monitor);
    return result;
}

/* Make one write and have it decided; the caller frees it. */
static inline struct nd_write *write_one(struct fixture *f, const struct nd_caller *caller,
                                         const struct nd_write_request *request)
{
    struct nd_error err = {0};
    struct nd_write *write = NULL;

    if (nd_write_new(f->session, caller, request, &write, &err) != ND_STORE_OK)
        fail_msg("%s", err.message);
    if (submit_and_wait(f->store, &write, 1, &err) != ND_STORE_OK)
        fail_msg("%s", err.message);
    return write;
}

/* A document without labels. */
static inline struct nd_write *post(struct fixture *f, const char *id, const char *text)
{
    const struct nd_write_request request = {.id = view(id), .text = view(text)};

    return write_one(f, f->admin, &request);
}

#endif
