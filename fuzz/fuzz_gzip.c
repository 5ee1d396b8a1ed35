/* fuzz_gzip.c - gzip: what is inflated does not depend on how it is asked for */
#include "fuzz_input.h"

#include "input/streams/byte_stream.h"

/* A stream over memory, given out in pieces of at most `piece` bytes. */
struct memory_stream {
    struct nd_stream stream;
    const uint8_t *data;
    size_t left, piece;
};

static ssize_t memory_fill(struct nd_stream *s, char *out, size_t room)
{
    struct memory_stream *m = (struct memory_stream *)s;
    size_t n = room < m->piece ? room : m->piece;

    if (n > m->left)
        n = m->left;
    if (n)
        memcpy(out, m->data, n);
    m->data += n;
    m->left -= n;
    return (ssize_t)n;
}

static uint64_t inflate(const uint8_t *data, size_t size, size_t piece, size_t room, int *failed)
{
    struct memory_stream m = {
        .stream = {.fill = memory_fill}, .data = data, .left = size, .piece = piece};
    struct nd_stream *gzip = nd_gzip_stream_new(&m.stream);
    struct nd_buffer all = {0};
    uint64_t hash;
    ssize_t n;

    require(gzip != NULL);
    do {
        require(nd_buffer_reserve(&all, all.len + room));
        n = nd_stream_read(gzip, all.data + all.len, room);
        all.len += n > 0 ? (size_t)n : 0;
    } while (n > 0 && all.len < (1u << 24));
    *failed = n < 0;
    require(n >= 0 || gzip->failure[0]);
    hash = nd_hash_bytes(all.data, all.len);
    nd_buffer_release(&all);
    nd_stream_close(gzip);
    nd_buffer_release(&m.stream.ahead);
    return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int first_failed, second_failed;
    uint64_t first = inflate(data, size, SIZE_MAX, 1 << 16, &first_failed);
    uint64_t second = inflate(data, size, 7, 1 << 16, &second_failed);

    require(first_failed == second_failed);
    require(first_failed || first == second);
    return 0;
}
