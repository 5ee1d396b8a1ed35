/* ndjson.c - NDJSON: chunks of lines, groups of writes, answers in order */
#define _GNU_SOURCE
#include "server/ndjson.h"

#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/spool.h"
#include "server/answers.h"
#include "server/handlers.h"

enum {
    CHUNK_BYTES = 256 << 10,
    CHUNKS = 2,
    GROUPS = 4,
    ANSWERS_BYTES = 1 << 20, /* in memory; more go to the file */
    RETRY_MS = 2,            /* where the queue of the store is full */

    /* The answers up to a line have at most so many times the bytes of the body up to there, and
     * ALLOWANCE more (docs/http.md); LAST_BYTES are kept for the line that says so. */
    FACTOR = 32,
    FINGERPRINTS_FACTOR = 128,
    ALLOWANCE = 1 << 20,
    LAST_BYTES = 512
};

/* Whole lines of the body. */
struct line_chunk {
    struct nd_buffer text;
    bool is_cut; /* its last line was longer than a line may be, and its end is lost */
};

/* A line, and what will become of it. */
struct line_entry {
    uint64_t line, end, replaced; /* its number, and the bytes of the body up to its end */
    struct nd_write *write;       /* NULL: it is refused */
    enum nd_refusal refusal;
    char *detail;
};

/* Lines that are handed to the store together. */
struct write_group {
    struct nd_ndjson *stream;
    struct line_entry *entry;
    size_t n, capacity;
    struct nd_write **write;
    size_t n_writes, write_capacity;
    size_t n_pending; /* calls to the store that are not done; within the monitor */
};

struct nd_ndjson {
    struct nd_exchange *x;
    struct nd_job job;

    /* used by the thread that receives */
    struct nd_buffer filling;
    size_t lines_end; /* of it, behind the last whole line */
    bool is_skipping; /* the rest of a line that is too long */

    /* Within the monitor. */
    struct nd_monitor monitor;
    struct line_chunk ready[CHUNKS];
    unsigned n_ready;
    bool has_ended, is_running, is_suspended;
    atomic_bool is_abandoned;

    /* used by the job */
    struct write_group group[GROUPS]; /* a ring: those in flight begin at first_group */
    unsigned first_group, n_groups;
    uint64_t line, end;
    size_t line_begin; /* of the answer that is being written, in `out` */
    bool is_full;      /* the last answer says that no more are given */
    struct nd_json out;
    struct nd_spool *spool;
    enum nd_refusal refusal;
    struct nd_error err;
};

static void run(void *context, struct nd_workspace *w);

struct nd_ndjson *nd_ndjson_new(struct nd_exchange *x)
{
    struct nd_ndjson *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    nd_monitor_init(&s->monitor);
    s->x = x;
    s->job = (struct nd_job){run, s, NULL};
    for (int i = 0; i < GROUPS; i++)
        s->group[i].stream = s;
    return s;
}

static void chunk_release(struct nd_ndjson *s, struct line_chunk *chunk)
{
    nd_server_unbuffer(s->x->server, chunk->text.len);
    nd_buffer_release(&chunk->text);
    memset(chunk, 0, sizeof *chunk);
}

static void group_clear(struct write_group *g)
{
    for (size_t i = 0; i < g->n; i++) {
        nd_write_free(g->entry[i].write);
        free(g->entry[i].detail);
    }
    g->n = g->n_writes = 0;
}

void nd_ndjson_free(struct nd_ndjson *s)
{
    if (!s)
        return;
    nd_server_unbuffer(s->x->server, s->filling.len);
    nd_buffer_release(&s->filling);
    for (unsigned i = 0; i < s->n_ready; i++)
        chunk_release(s, &s->ready[i]);
    for (int i = 0; i < GROUPS; i++) {
        group_clear(&s->group[i]);
        free(s->group[i].entry);
        free(s->group[i].write);
    }
    nd_json_release(&s->out);
    nd_spool_free(s->spool);
    nd_monitor_release(&s->monitor);
    free(s);
}

/* ---- Receiving ---- */

/* Within the monitor: let the receiving thread wait for the job. */
static void suspend(struct nd_ndjson *s)
{
    s->is_suspended = true;
    (void)nd_peer_enter(s->x->peer, ND_PHASE_HELD, UINT64_MAX);
    MHD_suspend_connection(s->x->connection);
}

static void resume(struct nd_ndjson *s)
{
    if (!s->is_suspended)
        return;
    s->is_suspended = false;
    MHD_resume_connection(s->x->connection);
}

/* Hand the first `len` bytes of what was received to the job; the rest is the next chunk's
 * beginning.  1; 0: the job has enough to do; < 0: out of memory. */
static int hand_over(struct nd_ndjson *s, size_t len, bool is_cut)
{
    struct nd_buffer rest = {0};
    bool fits;

    if (len < s->filling.len &&
        !nd_buffer_append(&rest, s->filling.data + len, s->filling.len - len))
        return -1;
    nd_monitor_enter(&s->monitor);
    fits = s->n_ready < CHUNKS;
    if (fits) {
        s->filling.len = len;
        s->ready[s->n_ready++] = (struct line_chunk){s->filling, is_cut};
        s->filling = rest;
        s->lines_end = 0;
        if (!s->is_running) {
            s->is_running = true;
            nd_jobs_add(s->x->server->jobs, &s->job);
        }
    }
    nd_monitor_leave(&s->monitor);
    if (!fits)
        nd_buffer_release(&rest);
    return fits;
}

/* Hold the connection while the job has something to do.  False: it has not. */
static bool hold(struct nd_ndjson *s)
{
    bool is_held;

    nd_monitor_enter(&s->monitor);
    is_held = s->is_running;
    if (is_held)
        suspend(s);
    nd_monitor_leave(&s->monitor);
    return is_held;
}

/* Skip the rest of a line that is too long. */
static void skip_line(struct nd_ndjson *s, const char **data, size_t *len)
{
    const char *end = memchr(*data, '\n', *len);
    size_t skipped = end ? (size_t)(end - *data) + 1 : *len;

    s->is_skipping = end == NULL;
    *data += skipped;
    *len -= skipped;
}

/* Make room for more: hand over the whole lines, or a line that is too long.  1; 0: the connection is
 * held; < 0: out of memory. */
static int make_room(struct nd_ndjson *s)
{
    bool is_long = s->lines_end == 0;
    int handed;

    while ((handed = hand_over(s, is_long ? s->filling.len : s->lines_end, is_long)) == 0)
        if (hold(s))
            return 0;
    s->is_skipping = is_long;
    return handed;
}

static enum nd_refusal append(struct nd_ndjson *s, const char *data, size_t len,
                              struct nd_error *err)
{
    const char *newline = memrchr(data, '\n', len);

    if (!nd_buffer_append(&s->filling, data, len)) {
        nd_server_unbuffer(s->x->server, len);
        return nd_refuse(err, ND_REFUSAL_BUSY, "out of memory");
    }
    if (newline)
        s->lines_end = s->filling.len - len + (size_t)(newline - data) + 1;
    return ND_REFUSAL_NONE;
}

enum nd_refusal nd_ndjson_take(struct nd_ndjson *s, const char *data, size_t len, bool *is_held,
                               struct nd_error *err)
{
    size_t most = s->lines_end ? CHUNK_BYTES : s->x->server->options.body_bytes + 1;

    *is_held = false;
    if (s->filling.len >= most) {
        int room = make_room(s);

        *is_held = room == 0;
        if (room <= 0)
            return room == 0 ? ND_REFUSAL_NONE : nd_refuse(err, ND_REFUSAL_BUSY, "out of memory");
    }
    if (!nd_server_buffer(s->x->server, len)) {
        int room = s->lines_end > 0 ? make_room(s) : 1;

        *is_held = room == 0 || (room > 0 && hold(s));
        return *is_held ? ND_REFUSAL_NONE
                        : nd_refuse(err, ND_REFUSAL_BUSY, "too many bodies are in memory");
    }
    if (s->is_skipping) {
        size_t before = len;

        skip_line(s, &data, &len);
        nd_server_unbuffer(s->x->server, before - len);
    }
    return len ? append(s, data, len, err) : ND_REFUSAL_NONE;
}

void nd_ndjson_abandon(struct nd_ndjson *s)
{
    atomic_store(&s->is_abandoned, true);
}

bool nd_ndjson_end(struct nd_ndjson *s)
{
    bool is_done;

    while (s->filling.len && hand_over(s, s->filling.len, false) != 1)
        if (hold(s))
            return false;
    nd_monitor_enter(&s->monitor);
    s->has_ended = true;
    is_done = !s->is_running;
    if (!is_done)
        suspend(s);
    nd_monitor_leave(&s->monitor);
    return is_done;
}

/* ---- Answers ---- */

static void keep_refusal(struct nd_ndjson *s, enum nd_refusal refusal, const char *detail)
{
    if (s->refusal == ND_REFUSAL_NONE)
        s->refusal = nd_refuse(&s->err, refusal, "%s", detail);
}

/* Move answers to the file, once they are many. */
static void spill(struct nd_ndjson *s)
{
    struct nd_error err = {.message = ""};

    if (s->out.failed)
        keep_refusal(s, ND_REFUSAL_BUSY, "out of memory for the answers");
    if (s->out.text.len < ANSWERS_BYTES || s->refusal != ND_REFUSAL_NONE)
        return;
    if (!s->spool)
        s->spool = nd_spool_new(s->x->server->options.temporary_folder, &err);
    if (!s->spool ||
        nd_spool_append(s->spool, s->out.text.data, s->out.text.len, NULL, &err) != ND_OK)
        keep_refusal(s, ND_REFUSAL_NO_SPACE, err.message);
    s->out.text.len = 0;
}

static void begin_line(struct nd_ndjson *s, uint64_t line)
{
    s->line_begin = s->out.text.len;
    nd_json_open(&s->out, '{');
    nd_json_put_uint(&s->out, "line", line);
}

/* Take back the answer that is being written. */
static void drop_line(struct nd_ndjson *s)
{
    s->out.text.len = s->line_begin;
    s->out.after_value = false;
}

static void put_refusal(struct nd_ndjson *s, uint64_t line, enum nd_refusal refusal,
                        const char *detail)
{
    begin_line(s, line);
    nd_json_key(&s->out, "error");
    nd_refusal_json(&s->out, refusal, nd_detail_for(s->x, refusal, detail));
    nd_json_close(&s->out, '}');
    nd_json_line(&s->out);
}

static uint64_t factor(const struct nd_ndjson *s)
{
    return s->x->target.route == ND_ROUTE_FINGERPRINTS ? FINGERPRINTS_FACTOR : FACTOR;
}

/* Keep the answer of a line that ends at a place of the body, or say in place of it that the
 * answers have become too long. */
static void keep_line(struct nd_ndjson *s, uint64_t line, uint64_t end)
{
    char detail[160];

    if (nd_ndjson_bytes(s) + LAST_BYTES > ALLOWANCE + factor(s) * end) {
        (void)snprintf(detail, sizeof detail,
                       "the answers have more than %llu times the bytes of their lines: send this "
                       "line and those after it again",
                       (unsigned long long)factor(s));
        drop_line(s);
        put_refusal(s, line, ND_REFUSAL_TOO_LARGE, detail);
        s->is_full = true;
    }
    spill(s);
}

static void end_line(struct nd_ndjson *s, uint64_t line, uint64_t end)
{
    nd_json_close(&s->out, '}');
    nd_json_line(&s->out);
    keep_line(s, line, end);
}

static void answer_refusal(struct nd_ndjson *s, uint64_t line, uint64_t end,
                           enum nd_refusal refusal, const char *detail)
{
    put_refusal(s, line, refusal, detail);
    keep_line(s, line, end);
}

static void answer_entry(struct nd_ndjson *s, const struct line_entry *e)
{
    const struct nd_written *written = e->write ? nd_write_result(e->write) : NULL;
    enum nd_refusal refusal = written ? nd_refusal_of_store(written->result) : e->refusal;

    if (e->refusal != ND_REFUSAL_NONE)
        refusal = e->refusal;
    if (refusal != ND_REFUSAL_NONE) {
        answer_refusal(s, e->line, e->end, refusal,
                       e->detail ? e->detail
                       : written ? written->message
                                 : "");
        return;
    }
    begin_line(s, e->line);
    if (written)
        nd_metrics_verdict(&s->x->server->metrics, written->verdict.kind);
    nd_put_written(&s->out, written, s->x->server->has_simhash);
    nd_put_replaced(&s->out, e->replaced);
    end_line(s, e->line, e->end);
}

/* ---- Groups of writes ---- */

static void group_done(void *context)
{
    struct write_group *g = context;
    struct nd_ndjson *s = g->stream;

    nd_monitor_enter(&s->monitor);
    g->n_pending--;
    nd_monitor_notify(&s->monitor);
    nd_monitor_leave(&s->monitor);
}

/* Wait for the oldest group in flight, and answer its lines. */
static void finish_group(struct nd_ndjson *s)
{
    struct write_group *g = &s->group[s->first_group];

    nd_monitor_enter(&s->monitor);
    while (g->n_pending)
        nd_monitor_wait(&s->monitor);
    nd_monitor_leave(&s->monitor);
    for (size_t i = 0; i < g->n && s->refusal == ND_REFUSAL_NONE && !s->is_full; i++)
        answer_entry(s, &g->entry[i]);
    group_clear(g);
    s->first_group = (s->first_group + 1) % GROUPS;
    s->n_groups--;
}

/* The group that lines are added to. */
static struct write_group *next_group(struct nd_ndjson *s)
{
    if (s->n_groups == GROUPS)
        finish_group(s);
    return &s->group[(s->first_group + s->n_groups) % GROUPS];
}

static void rest(struct nd_ndjson *s)
{
    nd_monitor_enter(&s->monitor);
    (void)nd_monitor_wait_until(&s->monitor, nd_monotonic_ms() + RETRY_MS);
    nd_monitor_leave(&s->monitor);
}

/* The store took none of the writes from `from` on. */
static void refuse_rest(struct write_group *g, size_t from, enum nd_refusal refusal,
                        const char *detail)
{
    size_t at = 0;

    for (size_t i = 0; i < g->n; i++) {
        if (!g->entry[i].write || at++ < from)
            continue;
        g->entry[i].refusal = refusal;
        g->entry[i].detail = strdup(detail);
    }
}

static enum nd_store_result submit(struct nd_ndjson *s, struct write_group *g, size_t at, size_t n,
                                   struct nd_error *err)
{
    enum nd_store_result result;

    nd_monitor_enter(&s->monitor);
    g->n_pending++;
    nd_monitor_leave(&s->monitor);
    result = nd_store_submit(s->x->server->store, g->write + at, n, group_done, g, err);
    if (result != ND_STORE_OK)
        group_done(g);
    return result;
}

/*
 * Hand a group to the store, which from then on is in flight: as a whole, or in the parts that the
 * queue has room for.  A full queue refuses the request if nothing of it was stored yet; later it is
 * waited for.
 */
static void submit_group(struct nd_ndjson *s, struct write_group *g)
{
    bool is_first = s->n_groups == 0 && s->out.text.len == 0 && !s->spool;
    struct nd_error err = {.message = ""};
    size_t at = 0, n = g->n_writes;

    while (at < g->n_writes) {
        enum nd_store_result result = submit(s, g, at, n, &err);

        if (result == ND_STORE_OK) {
            at += n;
            n = g->n_writes - at;
        } else if (result != ND_STORE_BUSY) {
            refuse_rest(g, at, nd_refusal_of_store(result), err.message);
            break;
        } else if (n > 1) {
            n = (n + 1) / 2;
        } else if (is_first && at == 0) {
            keep_refusal(s, ND_REFUSAL_QUEUE_FULL, err.message);
            group_clear(g);
            return;
        } else {
            rest(s);
        }
    }
    s->n_groups++;
}

static bool add_entry(struct write_group *g, struct line_entry entry)
{
    if (!ND_RESERVE(g->entry, &g->capacity, g->n + 1) ||
        (entry.write && !ND_RESERVE(g->write, &g->write_capacity, g->n_writes + 1)))
        return false;
    g->entry[g->n++] = entry;
    if (entry.write)
        g->write[g->n_writes++] = entry.write;
    return true;
}

/* ---- Lines ---- */

static void store_line(struct nd_ndjson *s, struct nd_workspace *w, struct write_group *g,
                       struct nd_view line, enum nd_refusal refusal)
{
    struct line_entry entry = {.line = s->line, .end = s->end, .refusal = refusal};
    struct nd_error err = {.message = "the line is too long"};
    struct nd_posted posted = {.replaced = 0};

    if (refusal == ND_REFUSAL_NONE)
        entry.refusal = nd_posted_json(w, line, true, &posted, &err);
    if (entry.refusal == ND_REFUSAL_NONE) {
        entry.replaced = posted.replaced;
        entry.refusal = nd_write_posted(s->x, w, &posted, &entry.write, &err);
    }
    if (entry.refusal != ND_REFUSAL_NONE)
        entry.detail = strdup(err.message);
    if (add_entry(g, entry))
        return;
    nd_write_free(entry.write);
    free(entry.detail);
    keep_refusal(s, ND_REFUSAL_BUSY, "out of memory");
}

static void read_line(struct nd_ndjson *s, struct nd_workspace *w, struct nd_view line,
                      enum nd_refusal refusal)
{
    bool has_key = s->x->target.route == ND_ROUTE_DOCUMENTS;
    struct nd_error err = {.message = "the line is too long"};
    struct nd_posted posted = {.replaced = 0};

    begin_line(s, s->line);
    if (refusal == ND_REFUSAL_NONE)
        refusal = nd_posted_json(w, line, has_key, &posted, &err);
    if (refusal == ND_REFUSAL_NONE)
        refusal = nd_put_reading(s->x, w, &posted, &s->out, &err);
    if (refusal == ND_REFUSAL_NONE) {
        end_line(s, s->line, s->end);
        return;
    }
    drop_line(s);
    answer_refusal(s, s->line, s->end, refusal, err.message);
}

static bool is_blank(struct nd_view line)
{
    for (size_t i = 0; i < line.len; i++)
        if (line.data[i] != ' ' && line.data[i] != '\t' && line.data[i] != '\r')
            return false;
    return true;
}

static bool goes_on(const struct nd_ndjson *s)
{
    return s->refusal == ND_REFUSAL_NONE && !s->is_full && !atomic_load(&s->is_abandoned);
}

static void process(struct nd_ndjson *s, struct nd_workspace *w, const struct line_chunk *chunk)
{
    const size_t most = s->x->server->options.body_bytes;
    bool stores = nd_handler_stores(s->x);
    struct write_group *g = stores ? next_group(s) : NULL;
    const char *at = chunk->text.data, *end = at + chunk->text.len;
    uint64_t first = s->line;

    while (at < end && goes_on(s)) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        struct nd_view line = {at, (size_t)((newline ? newline : end) - at)};
        bool is_cut = !newline && chunk->is_cut;

        s->line++;
        s->end +=
            (line.len < most ? line.len : most) + 1; /* a longer one may have been cut anywhere */
        at += line.len + (newline != NULL);
        if (is_blank(line))
            continue;
        if (line.len > most)
            is_cut = true;
        if (stores)
            store_line(s, w, g, line, is_cut ? ND_REFUSAL_TOO_LARGE : ND_REFUSAL_NONE);
        else
            read_line(s, w, line, is_cut ? ND_REFUSAL_TOO_LARGE : ND_REFUSAL_NONE);
    }
    nd_key_count(s->x->key, nd_now_us(), s->line - first);
    atomic_fetch_add_explicit(&s->x->server->metrics.lines, s->line - first, memory_order_relaxed);
    if (g && s->refusal == ND_REFUSAL_NONE && g->n > 0)
        submit_group(s, g);
    else if (g)
        group_clear(g);
}

/* The next chunk.  False: there is none, and the job has ended. */
static bool take_chunk(struct nd_ndjson *s, struct line_chunk *chunk)
{
    bool has_one;

    nd_monitor_enter(&s->monitor);
    while (s->n_ready == 0 && s->n_groups > 0) {
        nd_monitor_leave(&s->monitor);
        finish_group(s);
        nd_monitor_enter(&s->monitor);
    }
    has_one = s->n_ready > 0;
    if (has_one) {
        *chunk = s->ready[0];
        s->n_ready--;
        memmove(s->ready, s->ready + 1, s->n_ready * sizeof *s->ready);
    }
    s->is_running = has_one;
    if (!has_one || !s->has_ended)
        resume(s);
    nd_monitor_leave(&s->monitor);
    return has_one;
}

static void run(void *context, struct nd_workspace *w)
{
    struct nd_ndjson *s = context;
    struct line_chunk chunk;

    while (take_chunk(s, &chunk)) {
        process(s, w, &chunk);
        chunk_release(s, &chunk);
    }
}

/* ---- The whole ---- */

enum nd_refusal nd_ndjson_refusal(const struct nd_ndjson *s, struct nd_error *err)
{
    *err = s->err;
    return s->refusal;
}

uint64_t nd_ndjson_bytes(const struct nd_ndjson *s)
{
    return (s->spool ? nd_spool_bytes(s->spool) : 0) + s->out.text.len;
}

long nd_ndjson_read(struct nd_ndjson *s, uint64_t at, char *out, size_t capacity)
{
    uint64_t in_file = s->spool ? nd_spool_bytes(s->spool) : 0;
    struct nd_buffer part = {0};
    size_t n;
    bool ok;

    if (at >= in_file) {
        n = s->out.text.len - (size_t)(at - in_file);
        n = n < capacity ? n : capacity;
        memcpy(out, s->out.text.data + (at - in_file), n);
        return (long)n;
    }
    n = in_file - at < capacity ? (size_t)(in_file - at) : capacity;
    ok = nd_spool_read(s->spool, at, n, &part, NULL) == ND_OK;
    if (ok)
        memcpy(out, part.data, n);
    nd_buffer_release(&part);
    return ok ? (long)n : -1;
}
