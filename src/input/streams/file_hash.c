/* file_hash.c - the hash of a file's bytes in their order, to which several threads may add */
#include "input/streams/file_hash.h"

#include "base/hash.h"
#include "base/thread/thread.h"

#include <stdbool.h>
#include <stdlib.h>

struct nd_file_hash {
    struct nd_hash_stream *stream; /* belongs to the thread that is adding */
    struct nd_monitor monitor;     /* guards what follows */
    uint64_t end;                  /* offset of the first byte that is not added, nor being added */
    bool is_adding;
};

struct nd_file_hash *nd_file_hash_new(void)
{
    struct nd_file_hash *h = calloc(1, sizeof *h);

    if (!h)
        return NULL;
    h->stream = nd_hash_stream_new();
    if (!h->stream) {
        free(h);
        return NULL;
    }
    nd_monitor_init(&h->monitor);
    return h;
}

void nd_file_hash_free(struct nd_file_hash *h)
{
    if (!h)
        return;
    nd_hash_stream_free(h->stream);
    nd_monitor_release(&h->monitor);
    free(h);
}

/* Within the monitor, which is left meanwhile: add bytes that come next. */
static void add(struct nd_file_hash *h, const char *bytes, size_t len)
{
    h->is_adding = true;
    h->end += len;
    nd_monitor_leave(&h->monitor);
    nd_hash_stream_add(h->stream, bytes, len);
    nd_monitor_enter(&h->monitor);
    h->is_adding = false;
    nd_monitor_notify(&h->monitor);
}

/* Within the monitor: wait for the thread that is adding, which waits for nobody. */
static void wait_for_adding(struct nd_file_hash *h)
{
    while (h->is_adding)
        nd_monitor_wait(&h->monitor);
}

void nd_file_hash_add(struct nd_file_hash *h, const void *bytes, uint64_t offset, size_t len)
{
    nd_monitor_enter(&h->monitor);
    wait_for_adding(h);
    if (offset > h->end) /* a sample leaves bytes out, and has no hash */
        h->end = offset;
    if (offset + len > h->end) {
        size_t known = (size_t)(h->end - offset);

        add(h, (const char *)bytes + known, len - known);
    }
    nd_monitor_leave(&h->monitor);
}

void nd_file_hash_offer(struct nd_file_hash *h, const void *bytes, uint64_t offset, size_t len)
{
    nd_monitor_enter(&h->monitor);
    if (h->end == offset)
        wait_for_adding(h);
    if (h->end == offset && len)
        add(h, bytes, len);
    nd_monitor_leave(&h->monitor);
}

uint64_t nd_file_hash_value(struct nd_file_hash *h)
{
    uint64_t value;

    nd_monitor_enter(&h->monitor);
    wait_for_adding(h);
    value = nd_hash_stream_value(h->stream);
    nd_monitor_leave(&h->monitor);
    return value;
}
