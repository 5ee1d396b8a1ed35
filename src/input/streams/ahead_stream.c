/* ahead_stream.c - bytes of another stream, made by a thread of their own before they are read */
#include "input/streams/ahead_stream.h"

#include "base/thread/thread.h"

#include <stdlib.h>
#include <string.h>

enum { STEP_BYTES = 1 << 18 };

/* A copy on its way: the window must keep its bytes, whatever the reader passes. */
struct copy {
    uint64_t from;
    struct copy *next;
};

struct nd_ahead_stream {
    struct nd_stream stream;
    struct nd_stream *inner;
    struct nd_thread thread;
    struct nd_monitor monitor; /* guards what follows */
    uint64_t made, passed;     /* positions of the thread and of the reader */
    struct copy *copying;
    bool is_made; /* the inner stream has ended or failed */
    bool is_over; /* the reader wants no more */
    uint64_t ns;
    size_t size; /* of the window: byte i of the stream is window[i % size] */
    char window[];
};

/* Within the monitor: the first position whose byte must stay. */
static uint64_t first_kept(const struct nd_ahead_stream *a)
{
    uint64_t first = a->passed;

    for (const struct copy *c = a->copying; c; c = c->next)
        if (c->from < first)
            first = c->from;
    return first;
}

/* Within the monitor: how many bytes can be made in one piece. */
static size_t room(const struct nd_ahead_stream *a)
{
    size_t at = (size_t)(a->made % a->size), free = a->size - (size_t)(a->made - first_kept(a));
    size_t piece = a->size - at < free ? a->size - at : free;

    return piece < STEP_BYTES ? piece : STEP_BYTES;
}

static void make_bytes(void *context)
{
    struct nd_ahead_stream *a = context;

    nd_monitor_enter(&a->monitor);
    while (!a->is_made && !a->is_over) {
        size_t want = room(a);
        ssize_t n;

        if (!want) {
            nd_monitor_wait(&a->monitor);
            continue;
        }
        nd_monitor_leave(&a->monitor);
        n = nd_stream_read(a->inner, a->window + a->made % a->size, want);
        nd_monitor_enter(&a->monitor);
        if (n > 0)
            a->made += (uint64_t)n;
        else
            a->is_made = true;
        nd_monitor_notify(&a->monitor);
    }
    a->ns = nd_thread_ns();
    nd_monitor_leave(&a->monitor);
}

/* Copy what lies in the window, which may be in two pieces. */
static void copy_out(const struct nd_ahead_stream *a, uint64_t from, char *out, size_t len)
{
    size_t at = (size_t)(from % a->size), first = a->size - at < len ? a->size - at : len;

    memcpy(out, a->window + at, first);
    memcpy(out + first, a->window, len - first);
}

/* Within the monitor: pass over bytes, and let the thread go on if it waits for room. */
static void pass(struct nd_ahead_stream *a, size_t len)
{
    bool was_full = a->made - first_kept(a) == a->size;

    a->passed += len;
    if (was_full)
        nd_monitor_notify(&a->monitor);
}

static ssize_t ahead_fill(struct nd_stream *s, char *out, size_t capacity)
{
    struct nd_ahead_stream *a = (struct nd_ahead_stream *)s;
    uint64_t ready;

    nd_monitor_enter(&a->monitor);
    while (a->made == a->passed && !a->is_made)
        nd_monitor_wait(&a->monitor);
    ready = a->made - a->passed;
    nd_monitor_leave(&a->monitor);
    if (!ready && a->inner->state == ND_STREAM_FAILED)
        return nd_stream_fail(s, a->inner->status, "%s", a->inner->failure);
    if (capacity > ready)
        capacity = (size_t)ready;
    copy_out(a, a->passed, out, capacity);
    nd_monitor_enter(&a->monitor);
    pass(a, capacity);
    nd_monitor_leave(&a->monitor);
    return (ssize_t)capacity;
}

void nd_ahead_stop(struct nd_ahead_stream *a)
{
    if (a->is_over)
        return;
    nd_monitor_enter(&a->monitor);
    a->is_over = true;
    nd_monitor_notify(&a->monitor);
    nd_monitor_leave(&a->monitor);
    nd_thread_join(&a->thread);
}

static void ahead_close(struct nd_stream *s)
{
    struct nd_ahead_stream *a = (struct nd_ahead_stream *)s;

    nd_ahead_stop(a);
    nd_monitor_release(&a->monitor);
    free(a);
}

struct nd_ahead_stream *nd_ahead_stream_new(struct nd_stream *inner, size_t window_bytes)
{
    struct nd_ahead_stream *a = malloc(sizeof *a + window_bytes);

    if (!a)
        return NULL;
    memset(a, 0, sizeof *a);
    a->stream.fill = ahead_fill;
    a->stream.close = ahead_close;
    a->inner = inner;
    a->size = window_bytes;
    nd_monitor_init(&a->monitor);
    if (nd_thread_start(&a->thread, make_bytes, a))
        return a;
    nd_monitor_release(&a->monitor);
    free(a);
    return NULL;
}

struct nd_stream *nd_ahead_as_stream(struct nd_ahead_stream *a)
{
    return a ? &a->stream : NULL;
}

uint64_t nd_ahead_position(const struct nd_ahead_stream *a)
{
    return a->passed;
}

/* Within the monitor: a copy has ended.  The thread may wait for its room, or close() for its end. */
static void leave_copy(struct nd_ahead_stream *a, const struct copy *done)
{
    struct copy **at = &a->copying;

    while (*at != done)
        at = &(*at)->next;
    *at = done->next;
    nd_monitor_notify(&a->monitor);
}

size_t nd_ahead_copy(struct nd_ahead_stream *a, uint64_t from, char *out, size_t len)
{
    struct copy own = {from, NULL};
    size_t copied = 0;

    nd_monitor_enter(&a->monitor);
    own.next = a->copying;
    while (copied < len && a->passed <= from && !a->is_over) {
        size_t ready;

        if (a->made <= from + copied) {
            if (a->is_made)
                break;
            nd_monitor_wait(&a->monitor);
            continue;
        }
        ready = (size_t)(a->made - from - copied);
        ready = ready < len - copied ? ready : len - copied;
        own.from = from + copied;
        own.next = a->copying;
        /* cppcheck-suppress autoVariables ; it is taken out below */
        a->copying = &own;
        nd_monitor_leave(&a->monitor);
        copy_out(a, from + copied, out + copied, ready);
        nd_monitor_enter(&a->monitor);
        leave_copy(a, &own);
        copied += ready;
    }
    nd_monitor_leave(&a->monitor);
    return copied;
}

void nd_ahead_take(struct nd_ahead_stream *a, size_t len)
{
    nd_monitor_enter(&a->monitor);
    pass(a, len);
    nd_monitor_leave(&a->monitor);
}

uint64_t nd_ahead_ns(const struct nd_ahead_stream *a)
{
    return a->ns;
}
