/* store_writer.c - writes to a store and says what was acknowledged; or checks what is there */

/*
 *     store_writer write DIR SEED FIRST...     a thread for each FIRST, the number of its first step
 *     store_writer check DIR SEED ACKED...     what is there, when so many steps were acknowledged?
 *     store_writer full DIR SEED BALLAST       on a small disk, on which BALLAST takes some room
 *     store_writer descriptors DIR SEED        with no file descriptors left, for a while
 *
 * A thread has its own documents, and its steps follow from the seed: it stores, replaces and deletes
 * them, a batch at a time.  After each batch, one line on standard output says how many steps of which
 * thread are acknowledged.  `check` prints, for each thread, how many steps the store shows: at least
 * those acknowledged, at most the batch after them, and nothing half.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/thread/thread.h"
#include "store/catalog/catalog.h"
#include "store/segments/segments.h"
#include "store/store.h"

enum { THREADS_MAX = 8, DOCUMENTS = 40, BATCH_MAX = 8, REFUSED = 3 };

static void die(const char *what, const struct nd_error *err)
{
    fprintf(stderr, "store_writer: %s%s%s\n", what, err ? ": " : "", err ? err->message : "");
    exit(1);
}

/* ---- What a step does ---- */

struct step {
    unsigned document; /* of the thread */
    bool deletes;
    uint64_t text; /* a number that makes it */
};

static uint64_t mixed(uint64_t seed, uint64_t thread, uint64_t n, uint64_t what)
{
    return nd_mix64(nd_mix64(nd_mix64(seed) + thread) + n * 4 + what);
}

static struct step step_of(uint64_t seed, uint64_t thread, uint64_t n)
{
    uint64_t r = mixed(seed, thread, n, 0);
    /* Some texts are of all threads, so that entries are shared. */
    uint64_t shared = mixed(seed, 0, n % 16, 1), own = mixed(seed, thread, n, 1);

    return (struct step){(unsigned)(r % DOCUMENTS), r >> 8 & 1 && r >> 9 & 1,
                         r >> 16 & 3 ? own : shared};
}

/* The batch that begins with this step. */
static uint64_t batch_at(uint64_t seed, uint64_t thread, uint64_t n)
{
    return 1 + mixed(seed, thread, n, 2) % BATCH_MAX;
}

/* A text that is near some others: one of five families, with a few words of its own. */
static void make_text(uint64_t number, struct nd_buffer *text)
{
    uint64_t family = number % 5, length = 40 + nd_mix64(family) % 400;

    if (number % 61 == 0)
        length *= 40;
    text->len = 0;
    for (uint64_t i = 0; i < length; i++) {
        uint64_t r = nd_mix64(family << 32 | i);
        char word[32];

        if (nd_mix64(number + i) % 30 == 0)
            r = nd_mix64(number * 7 + i);
        (void)snprintf(word, sizeof word, "w%" PRIu64 " ", r % 5000);
        if (!nd_buffer_append(text, word, strlen(word)))
            die("out of memory", NULL);
    }
}

struct id {
    char text[32];
};

static struct id id_of(uint64_t thread, unsigned document)
{
    struct id id;

    (void)snprintf(id.text, sizeof id.text, "t%" PRIu64 "-%u", thread, document);
    return id;
}

static struct nd_view view_of(const char *text)
{
    return (struct nd_view){text, strlen(text)};
}

static const struct nd_view all_labels[] = {{"a", 1}, {"b", 1}};

static size_t labels_of(unsigned document)
{
    return document % 3; /* none, a, or a and b */
}

/* ---- The store ---- */

/* STORE_WRITER_INTERVAL: milliseconds after which a write is durable; what is acknowledged before may
 * be lost, but only the last writes of a thread. */
static unsigned interval_ms(void)
{
    const char *interval = getenv("STORE_WRITER_INTERVAL");

    return interval ? (unsigned)atoi(interval) : 0;
}

static struct nd_store *open_store(const char *folder, bool create)
{
    struct nd_store_options options = nd_store_options_default();
    struct nd_error err;
    struct nd_store *store;

    options.create = create;
    options.threads = 1;
    options.snapshot_every_s = 1;
    options.segment_bytes = 50000;
    options.durability_interval_ms = interval_ms();
    store = nd_store_open(folder, &options, &err);
    if (!store)
        die("the store cannot be opened", &err);
    return store;
}

struct user {
    struct nd_session *session;
    struct nd_caller *caller;
    struct nd_monitor monitor;
    bool is_done;
};

static void begin_user(struct user *u, struct nd_store *store)
{
    struct nd_error err;

    u->session = nd_session_new(store, &err);
    if (u->session)
        u->caller = nd_caller_new(store, all_labels, 2, true, &err);
    if (!u->session || !u->caller)
        die("no session", &err);
    nd_monitor_init(&u->monitor);
}

static void end_user(struct user *u)
{
    nd_monitor_release(&u->monitor);
    nd_caller_free(u->caller);
    nd_session_free(u->session);
}

static void done(void *context)
{
    struct user *u = context;

    nd_monitor_enter(&u->monitor);
    u->is_done = true;
    nd_monitor_notify(&u->monitor);
    nd_monitor_leave(&u->monitor);
}

static enum nd_store_result make_write(struct user *u, uint64_t seed, uint64_t thread, uint64_t n,
                                       struct nd_write **write, struct nd_error *err)
{
    struct step step = step_of(seed, thread, n);
    struct id id = id_of(thread, step.document);
    struct nd_buffer text = {0};
    struct nd_write_request request = {.id = view_of(id.text),
                                       .labels = all_labels,
                                       .n_labels = labels_of(step.document),
                                       .is_deletion = step.deletes};
    enum nd_store_result result;

    make_text(step.text, &text);
    if (!step.deletes)
        request.text = (struct nd_view){text.data, text.len};
    result = nd_write_new(u->session, u->caller, &request, write, err);
    nd_buffer_release(&text);
    return result;
}

static enum nd_store_result submit_and_wait(struct nd_store *store, struct user *u,
                                            struct nd_write **write, size_t n, struct nd_error *err)
{
    enum nd_store_result result;

    u->is_done = false;
    result = nd_store_submit(store, write, n, done, u, err);
    if (result != ND_STORE_OK)
        return result;
    nd_monitor_enter(&u->monitor);
    while (!u->is_done)
        nd_monitor_wait(&u->monitor);
    nd_monitor_leave(&u->monitor);
    return ND_STORE_OK;
}

/* The result of the first write that was refused. */
static enum nd_store_result results_of(struct nd_write **write, size_t n, struct nd_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct nd_written *written = nd_write_result(write[i]);

        /* To delete what is not there is a step like another. */
        if (written->result != ND_STORE_OK && written->result != ND_STORE_NOT_FOUND) {
            (void)nd_fail(err, ND_EIO, "%s", written->message ? written->message : "no message");
            return written->result;
        }
        if (written->result == ND_STORE_OK && written->is_durable != !interval_ms())
            die("a write is not as durable as it says", NULL);
    }
    return ND_STORE_OK;
}

/* The batch that begins with a step; *n_steps: how many it has. */
static enum nd_store_result write_batch(struct nd_store *store, struct user *u, uint64_t seed,
                                        uint64_t thread, uint64_t from, uint64_t *n_steps,
                                        struct nd_error *err)
{
    struct nd_write *write[BATCH_MAX] = {0};
    uint64_t n = batch_at(seed, thread, from);
    enum nd_store_result result = ND_STORE_OK;

    for (uint64_t i = 0; result == ND_STORE_OK && i < n; i++)
        result = make_write(u, seed, thread, from + i, &write[i], err);
    if (result == ND_STORE_OK)
        result = submit_and_wait(store, u, write, (size_t)n, err);
    if (result == ND_STORE_OK)
        result = results_of(write, (size_t)n, err);
    for (uint64_t i = 0; i < n; i++)
        nd_write_free(write[i]);
    *n_steps = n;
    return result;
}

static void say_acknowledged(uint64_t thread, uint64_t steps)
{
    char line[64];
    int n = snprintf(line, sizeof line, "%" PRIu64 " %" PRIu64 "\n", thread, steps);

    if (write(STDOUT_FILENO, line, (size_t)n) != n)
        exit(0); /* nobody listens any more */
}

/* ---- write ---- */

struct writer {
    struct nd_store *store;
    uint64_t seed, thread, next, steps;
    bool was_refused;
};

/* From time to time, one of the threads has texts of deleted documents removed. */
static void compact(struct nd_store *store)
{
    struct nd_error err;
    uint64_t freed;

    if (nd_store_compact(store, true, &freed, &err) != ND_OK)
        fprintf(stderr, "store_writer: not compacted: %s\n", err.message);
}

/* After a sync failed, the store refuses all writes; a full disk may have room again. */
static void check_refusals(struct writer *w, struct user *u, enum nd_store_result result)
{
    struct nd_error err;
    uint64_t n;

    if (result != ND_STORE_FAILED)
        return;
    for (int i = 0; i < 3; i++)
        if (write_batch(w->store, u, w->seed, w->thread, w->next, &n, &err) != ND_STORE_FAILED)
            die("a store takes writes after one failed", NULL);
}

static void write_on(void *context)
{
    struct writer *w = context;
    struct user u = {0};
    struct nd_error err;
    uint64_t n, until = w->next + w->steps;

    begin_user(&u, w->store);
    while (w->next < until && !w->was_refused) {
        enum nd_store_result result =
            write_batch(w->store, &u, w->seed, w->thread, w->next, &n, &err);

        if (result == ND_STORE_OK) {
            w->next += n;
            say_acknowledged(w->thread, w->next);
            if (w->thread == 0 && mixed(w->seed, 0, w->next, 3) % 12 == 0)
                compact(w->store);
        } else {
            fprintf(stderr, "store_writer: %s\n", err.message);
            check_refusals(w, &u, result);
            w->was_refused = true;
        }
    }
    end_user(&u);
}

static uint64_t number(const char *text)
{
    char *end;
    uint64_t n = strtoull(text, &end, 10);

    if (!*text || *end)
        die("this is no number", NULL);
    return n;
}

static int run_writers(const char *folder, uint64_t seed, char **first, unsigned n)
{
    const char *steps = getenv("STORE_WRITER_STEPS");
    struct nd_store *store = open_store(folder, true);
    struct writer writer[THREADS_MAX];
    struct nd_thread thread[THREADS_MAX];
    bool was_refused = false;
    struct nd_error err;

    for (unsigned i = 0; i < n; i++) {
        writer[i] = (struct writer){
            store, seed, i, number(first[i]), steps ? number(steps) : UINT32_MAX, false};
        if (!nd_thread_start(&thread[i], write_on, &writer[i]))
            die("no thread", NULL);
    }
    for (unsigned i = 0; i < n; i++) {
        nd_thread_join(&thread[i]);
        was_refused |= writer[i].was_refused;
    }
    if (nd_store_close(store, &err) != ND_OK) {
        fprintf(stderr, "store_writer: not closed: %s\n", err.message);
        was_refused = true;
    }
    return was_refused ? REFUSED : 0;
}

/* ---- check ---- */

/* A thread's documents in a store: a hash of each text; 0: there is no such document. */
struct state {
    uint64_t text[DOCUMENTS];
};

static uint64_t hash_of_text(uint64_t number)
{
    struct nd_buffer text = {0};
    uint64_t hash;

    make_text(number, &text);
    hash = nd_hash_bytes(text.data, text.len) | 1;
    nd_buffer_release(&text);
    return hash;
}

static void take_step(struct state *state, uint64_t seed, uint64_t thread, uint64_t n)
{
    struct step step = step_of(seed, thread, n);

    state->text[step.document] = step.deletes ? 0 : step.text;
}

/* The last step that touched each document decides. */
static struct state state_after(uint64_t seed, uint64_t thread, uint64_t steps)
{
    struct state state = {0};

    for (uint64_t n = 0; n < steps; n++)
        take_step(&state, seed, thread, n);
    return state;
}

static bool is_state(const struct state *wanted, const struct state *found)
{
    for (unsigned i = 0; i < DOCUMENTS; i++)
        if ((wanted->text[i] ? hash_of_text(wanted->text[i]) : 0) != found->text[i])
            return false;
    return true;
}

static uint64_t count_of(const struct state *state)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < DOCUMENTS; i++)
        n += state->text[i] != 0;
    return n;
}

static struct state read_state(struct user *u, uint64_t thread)
{
    struct state state = {0};

    for (unsigned i = 0; i < DOCUMENTS; i++) {
        struct id id = id_of(thread, i);
        struct nd_document_query query = {
            .id = view_of(id.text), .labels = all_labels, .n_labels = labels_of(i)};
        struct nd_stored document;
        struct nd_error err;
        enum nd_store_result result =
            nd_session_get(u->session, u->caller, &query, &document, &err);

        if (result == ND_STORE_NOT_FOUND)
            continue;
        if (result != ND_STORE_OK)
            die(id.text, &err);
        state.text[i] = nd_hash_bytes(document.text.data, document.text.len) | 1;
    }
    return state;
}

/* How many steps of the thread the store shows. */
static uint64_t check_thread(struct user *u, uint64_t seed, uint64_t thread, uint64_t acked,
                             uint64_t *n_documents)
{
    uint64_t last = acked + batch_at(seed, thread, acked), first = interval_ms() ? 0 : acked;
    struct state wanted = state_after(seed, thread, first), found = read_state(u, thread);

    *n_documents += count_of(&found);
    for (uint64_t n = first;; n++) {
        if (is_state(&wanted, &found))
            return n;
        if (n == last)
            break;
        take_step(&wanted, seed, thread, n);
    }
    fprintf(stderr, "store_writer: thread %" PRIu64 ": after %" PRIu64 " acknowledged steps, ",
            thread, acked);
    wanted = state_after(seed, thread, acked);
    for (unsigned i = 0; i < DOCUMENTS; i++)
        if ((wanted.text[i] ? hash_of_text(wanted.text[i]) : 0) != found.text[i])
            fprintf(stderr, "document %u is %s; ", i,
                    !found.text[i]    ? "missing"
                    : !wanted.text[i] ? "there although deleted"
                                      : "another one");
    die("this is no state that could be", NULL);
    return 0;
}

static void report(void *context, const char *finding)
{
    (void)context;
    fprintf(stderr, "store_writer: found: %s\n", finding);
}

/* Every row, and every text that a row names. */
static void check_parts(const char *folder)
{
    char path[4096];
    struct nd_error err;
    struct nd_catalog *catalog = nd_catalog_open(folder, false, true, &err);
    struct nd_compressor *compressor = nd_compressor_new();
    struct nd_buffer text = {0};
    struct nd_catalog_state state;
    struct nd_segments *segments = NULL;
    struct nd_txn *txn = NULL;
    uint64_t n_findings = 0;
    uint32_t number = 0;
    struct nd_entry entry;

    (void)snprintf(path, sizeof path, "%s/segments", folder);
    if (!compressor || !catalog || nd_catalog_begin(catalog, false, &txn, &err) != ND_OK ||
        nd_catalog_get_state(txn, &state, &err) != ND_OK ||
        !(segments = nd_segments_open(path, state.segments, 1 << 30, true, &err)))
        die("the parts of the store cannot be opened", &err);
    if (nd_catalog_check(txn, report, NULL, &n_findings, &err) != ND_OK || n_findings)
        die("the rows are not in order", n_findings ? NULL : &err);
    for (int found; (found = nd_catalog_next_entry(txn, &number, &entry, &err)); number++)
        if (found < 0 || nd_segments_read(segments, compressor, &entry.text, &text, &err) != ND_OK)
            die("a text cannot be read", &err);
    nd_buffer_release(&text);
    nd_segments_close(segments);
    nd_catalog_abort(txn);
    nd_catalog_close(catalog);
    nd_compressor_free(compressor);
}

static int check_store(const char *folder, uint64_t seed, char **acked, unsigned n)
{
    struct nd_store *store = open_store(folder, true);
    struct user u = {0};
    struct nd_store_stats stats;
    struct nd_error err;
    uint64_t documents = 0;

    begin_user(&u, store);
    for (unsigned i = 0; i < n; i++)
        printf("%" PRIu64 "%s", check_thread(&u, seed, i, number(acked[i]), &documents),
               i + 1 < n ? " " : "\n");
    nd_store_stats(store, &stats);
    if (stats.documents != documents)
        die("there are documents that nobody stored", NULL);
    if (nd_store_check(store, report, NULL, &err) != ND_OK)
        die("the store is not in order", &err);
    end_user(&u);
    if (nd_store_close(store, &err) != ND_OK)
        die("the store cannot be closed", &err);
    check_parts(folder);
    return 0;
}

/* ---- full, descriptors ---- */

/* Write batches until one is refused, at most so many; false: none was. */
static bool write_until_refused(struct writer *w, struct user *u, int n_batches,
                                enum nd_store_result refusal)
{
    struct nd_error err;
    uint64_t n;

    for (int i = 0; i < n_batches; i++) {
        enum nd_store_result result =
            write_batch(w->store, u, w->seed, w->thread, w->next, &n, &err);

        if (result == refusal)
            return true;
        if (result != ND_STORE_OK)
            die("a write fails otherwise", &err);
        w->next += n;
        say_acknowledged(w->thread, w->next);
    }
    return false;
}

static void check_reads(struct writer *w, struct user *u)
{
    uint64_t documents = 0;

    (void)check_thread(u, w->seed, w->thread, w->next, &documents);
    if (documents == 0)
        die("nothing is there to be read", NULL);
}

/* The disk gets full; reads go on; there is room again, and writes go on. */
static int fill_disk(const char *folder, uint64_t seed, const char *ballast)
{
    struct writer w = {.store = open_store(folder, true), .seed = seed};
    struct user u = {0};
    struct nd_error err;

    begin_user(&u, w.store);
    if (!write_until_refused(&w, &u, 100000, ND_STORE_NO_SPACE))
        die("the disk does not get full", NULL);
    for (int i = 0; i < 5; i++) {
        check_reads(&w, &u);
        (void)write_until_refused(&w, &u, 2, ND_STORE_NO_SPACE);
    }
    if (unlink(ballast) != 0)
        die("there is no ballast", NULL);
    if (write_until_refused(&w, &u, 20, ND_STORE_NO_SPACE))
        die("there is room, and writes are refused", NULL);
    check_reads(&w, &u);
    end_user(&u);
    if (nd_store_close(w.store, &err) != ND_OK)
        die("the store cannot be closed", &err);
    return 0;
}

/* With no descriptor to be had, a write is taken or refused; then all goes on. */
static int run_out_of_descriptors(const char *folder, uint64_t seed)
{
    struct writer w = {.store = open_store(folder, true), .seed = seed};
    struct user u = {0};
    struct rlimit limit, none;
    struct nd_error err;
    int refused = 0;

    begin_user(&u, w.store);
    (void)write_until_refused(&w, &u, 20, ND_STORE_FAILED);
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        die("no limit", NULL);
    none = (struct rlimit){4, limit.rlim_max};
    for (int round = 0; round < 5; round++) {
        (void)setrlimit(RLIMIT_NOFILE, &none);
        for (int i = 0; i < 200; i++)
            refused += write_until_refused(&w, &u, 1, ND_STORE_FAILED);
        (void)setrlimit(RLIMIT_NOFILE, &limit);
        check_reads(&w, &u);
        if (write_until_refused(&w, &u, 20, ND_STORE_FAILED))
            die("there are descriptors, and writes are refused", NULL);
    }
    end_user(&u);
    if (nd_store_close(w.store, &err) != ND_OK)
        die("the store cannot be closed", &err);
    fprintf(stderr, "store_writer: %d batches were refused\n", refused);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 4 && argc <= 4 + THREADS_MAX && strcmp(argv[1], "write") == 0)
        return run_writers(argv[2], number(argv[3]), argv + 4, (unsigned)argc - 4);
    if (argc > 4 && argc <= 4 + THREADS_MAX && strcmp(argv[1], "check") == 0)
        return check_store(argv[2], number(argv[3]), argv + 4, (unsigned)argc - 4);
    if (argc == 5 && strcmp(argv[1], "full") == 0)
        return fill_disk(argv[2], number(argv[3]), argv[4]);
    if (argc == 4 && strcmp(argv[1], "descriptors") == 0)
        return run_out_of_descriptors(argv[2], number(argv[3]));
    fputs("usage: store_writer write|check|full|descriptors DIR SEED ...\n", stderr);
    return 2;
}
