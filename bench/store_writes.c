/* store_writes.c - what a store takes to write, to query and to open */

/*
 * usage: store_writes FOLDER [DOCUMENTS [BATCH…]]
 *
 * Documents of 4 KB: one in ten differs in a few words from an earlier one, one in a hundred is an
 * earlier one.  One thread makes the writes, a batch ahead of the one that is being committed.  Then
 * queries of one thread, and the store opened with and without a snapshot.  FOLDER is made, and
 * removed at the end.  What the writer's thread takes is the processor time of the process without
 * that of the thread that makes the writes.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/thread/thread.h"
#include "store/store.h"

enum { TEXT = 4096, WORDS = 20000, IN_FLIGHT = 2 };

static double now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void require(bool ok, const struct nd_error *err)
{
    if (ok)
        return;
    fprintf(stderr, "store_writes: %s\n", err->message);
    exit(2);
}

/* ---- Documents ---- */

/* Words as often as in a language: the rank of a word is a power of a random number. */
static uint64_t word_of(uint64_t random)
{
    double x = (double)(random >> 11) / 9007199254740992.0;

    return (uint64_t)(x * x * x * WORDS);
}

static size_t write_document(char *text, uint64_t seed, uint64_t edits)
{
    size_t len = 0;

    for (uint64_t i = 0; len < TEXT - 16; i++) {
        uint64_t random = nd_mix64(seed * 1000003 + i);

        if (edits && i % 97 == 13)
            random = nd_mix64(edits + i);
        for (uint64_t word = word_of(random) + 1; word; word /= 17)
            text[len++] = (char)('a' + word % 17);
        text[len++] = ' ';
    }
    return len;
}

static size_t make_document(char *text, uint64_t number)
{
    uint64_t kind = nd_mix64(number) % 100;

    if (number > 100 && kind == 0)
        return write_document(text, nd_mix64(number + 1) % number, 0);
    if (number > 100 && kind <= 10)
        return write_document(text, nd_mix64(number + 1) % number, number);
    return write_document(text, number, 0);
}

/* ---- Batches ---- */

struct batch {
    struct nd_write **write;
    struct nd_monitor monitor;
    bool is_done;
};

static void is_done(void *context)
{
    struct batch *batch = context;

    nd_monitor_enter(&batch->monitor);
    batch->is_done = true;
    nd_monitor_notify(&batch->monitor);
    nd_monitor_leave(&batch->monitor);
}

static void wait_for(struct batch *batch, size_t n, uint64_t *duplicates)
{
    nd_monitor_enter(&batch->monitor);
    while (!batch->is_done)
        nd_monitor_wait(&batch->monitor);
    nd_monitor_leave(&batch->monitor);
    for (size_t i = 0; i < n; i++) {
        const struct nd_written *result = nd_write_result(batch->write[i]);

        if (result->result != ND_STORE_OK) {
            fprintf(stderr, "store_writes: %s\n", result->message);
            exit(2);
        }
        *duplicates += result->verdict.kind != ND_VERDICT_NEW;
        nd_write_free(batch->write[i]);
    }
}

static void submit(struct nd_store *store, struct nd_session *session, struct nd_caller *caller,
                   struct batch *batch, uint64_t first, size_t n)
{
    static char text[TEXT + 64];
    char id[32];
    struct nd_error err;

    for (size_t i = 0; i < n; i++) {
        size_t len = make_document(text, first + i);
        struct nd_write_request request = {
            .id = {id, (size_t)snprintf(id, sizeof id, "%llx",
                                        (unsigned long long)nd_mix64(first + i))},
            .text = {text, len}};

        require(nd_write_new(session, caller, &request, &batch->write[i], &err) == ND_STORE_OK,
                &err);
    }
    batch->is_done = false;
    require(nd_store_submit(store, batch->write, n, is_done, batch, &err) == ND_STORE_OK, &err);
}

/* Documents first … first + n - 1, `size` at a time. */
static void write_all(struct nd_store *store, struct nd_session *session, struct nd_caller *caller,
                      uint64_t first, uint64_t n, size_t size)
{
    struct batch batch[IN_FLIGHT];
    double wall = now(CLOCK_MONOTONIC), all = now(CLOCK_PROCESS_CPUTIME_ID);
    double own = now(CLOCK_THREAD_CPUTIME_ID);
    uint64_t duplicates = 0, turns = n / size;

    for (unsigned i = 0; i < IN_FLIGHT; i++) {
        batch[i].write = calloc(size, sizeof(struct nd_write *));
        if (!batch[i].write)
            exit(2);
        nd_monitor_init(&batch[i].monitor);
    }
    for (uint64_t t = 0; t < turns + IN_FLIGHT; t++) {
        struct batch *b = &batch[t % IN_FLIGHT];

        if (t >= IN_FLIGHT && t - IN_FLIGHT < turns)
            wait_for(b, size, &duplicates);
        if (t < turns)
            submit(store, session, caller, b, first + t * size, size);
    }
    wall = now(CLOCK_MONOTONIC) - wall;
    own = now(CLOCK_THREAD_CPUTIME_ID) - own;
    all = now(CLOCK_PROCESS_CPUTIME_ID) - all;
    n = turns * size;
    printf("batches of %4zu: %7.0f documents/s; each %5.1f us of the writer, %5.1f us of who makes "
           "it; %llu of %llu duplicates\n",
           size, (double)n / wall, (all - own) / (double)n * 1e6, own / (double)n * 1e6,
           (unsigned long long)duplicates, (unsigned long long)n);
    for (unsigned i = 0; i < IN_FLIGHT; i++) {
        nd_monitor_release(&batch[i].monitor);
        free(batch[i].write);
    }
}

static void query_all(struct nd_session *session, struct nd_caller *caller, uint64_t first,
                      uint64_t n)
{
    static char text[TEXT + 64];
    double wall = 0;
    uint64_t duplicates = 0;
    struct nd_verdict verdict;
    struct nd_error err;

    for (uint64_t i = 0; i < n; i++) {
        size_t len = make_document(text, first + i);
        double begin = now(CLOCK_THREAD_CPUTIME_ID);

        require(nd_session_query(session, caller, (struct nd_view){text, len}, NULL, NULL, &verdict,
                                 &err) == ND_STORE_OK,
                &err);
        wall += now(CLOCK_THREAD_CPUTIME_ID) - begin;
        duplicates += verdict.kind != ND_VERDICT_NEW;
    }
    printf("a query: %.1f us of processor time; %llu of %llu duplicates\n", wall / (double)n * 1e6,
           (unsigned long long)duplicates, (unsigned long long)n);
}

/* ---- The store ---- */

struct opened {
    struct nd_store *store;
    struct nd_session *session;
    struct nd_caller *caller;
};

static struct opened open_all(const char *folder)
{
    struct nd_store_options options = nd_store_options_default();
    struct nd_store_stats stats;
    struct opened o;
    struct nd_error err;

    options.create = true;
    o.store = nd_store_open(folder, &options, &err);
    require(o.store, &err);
    o.session = nd_session_new(o.store, &err);
    require(o.session, &err);
    o.caller = nd_caller_new(o.store, NULL, 0, true, &err);
    require(o.caller, &err);
    nd_store_stats(o.store, &stats);
    printf("opened with %llu documents in %.2f s%s\n", (unsigned long long)stats.documents,
           stats.open_seconds, stats.opened_from_snapshot ? ", from a snapshot" : "");
    return o;
}

static void close_all(struct opened o)
{
    double begin = now(CLOCK_MONOTONIC);
    struct nd_error err;

    nd_caller_free(o.caller);
    nd_session_free(o.session);
    require(nd_store_close(o.store, &err) == ND_OK, &err);
    printf("closed in %.2f s\n", now(CLOCK_MONOTONIC) - begin);
}

static void remove_all(const char *folder)
{
    DIR *d = opendir(folder);
    struct dirent *entry;
    char path[4096];

    while (d && (entry = readdir(d))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (unlink(path) != 0)
            remove_all(path);
    }
    if (d)
        closedir(d);
    (void)rmdir(folder);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {1, 10, 100, 1000};
    uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000, first = 0;
    char snapshot[4096];
    struct opened o;

    if (argc < 2 || access(argv[1], F_OK) == 0) {
        fprintf(stderr, "usage: store_writes FOLDER [DOCUMENTS [BATCH…]] (a new folder)\n");
        return 2;
    }
    o = open_all(argv[1]);
    if (argc > 3)
        for (int i = 3; i < argc; i++, first += n)
            write_all(o.store, o.session, o.caller, first, n, strtoull(argv[i], NULL, 10));
    else
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            uint64_t part = sizes[i] == 1 ? n / 100 : sizes[i] == 10 ? n / 10 : n;

            write_all(o.store, o.session, o.caller, first, part, sizes[i]);
            first += part;
        }
    query_all(o.session, o.caller, first, n < 100000 ? n : 100000);
    close_all(o);
    close_all(open_all(argv[1]));
    snprintf(snapshot, sizeof snapshot, "%s/index.snapshot", argv[1]);
    if (unlink(snapshot) == 0)
        close_all(open_all(argv[1]));
    remove_all(argv[1]);
    return 0;
}
