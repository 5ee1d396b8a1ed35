/* test_zstd_frames.c - frames decompressed beside one another give what one after the other gives */
#include "input_fixture.h"

#include "base/hash.h"
#include "input/library/libarchive_load.h"
#include "input/streams/archive_stream.h"
#include "input/streams/pack.h"
#include "sized.h"

static uint64_t random_state;

static size_t any(size_t n)
{
    random_state += UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(nd_mix64(random_state) % n);
}

/* ---- A stream of bytes in memory, some at a time ---- */

struct memory_stream {
    struct nd_stream stream;
    const struct nd_buffer *bytes;
    size_t at, fails_at;
};

static ssize_t fill(struct nd_stream *s, char *out, size_t capacity)
{
    struct memory_stream *m = (struct memory_stream *)s;
    size_t n = m->bytes->len - m->at;

    if (m->at >= m->fails_at)
        return nd_stream_fail(s, ND_EIO, "cannot be read: it is a test");
    if (n > capacity)
        n = capacity;
    if (n > m->fails_at - m->at)
        n = m->fails_at - m->at;
    if (n > 1)
        n = 1 + any(n);
    memcpy(out, m->bytes->data + m->at, n);
    m->at += n;
    return (ssize_t)n;
}

struct all {
    struct nd_buffer bytes;
    char failure[400];
    enum nd_status status;
};

/* Read a stream to its end, and close it. */
static void drink(struct nd_stream *s, struct all *all)
{
    ssize_t n;

    assert_non_null(s);
    *all = (struct all){.status = ND_OK};
    do {
        size_t want = 1 + any(200000);

        assert_true(nd_buffer_reserve(&all->bytes, all->bytes.len + want));
        n = nd_stream_read(s, all->bytes.data + all->bytes.len, want);
        all->bytes.len += n > 0 ? (size_t)n : 0;
    } while (n > 0);
    if (n < 0) {
        all->status = s->status;
        memcpy(all->failure, s->failure, sizeof all->failure);
    }
    nd_stream_close(s);
}

/* Returns how many bytes there were. */
static size_t compare(const struct nd_buffer *stored, size_t fails_at, bool is_whole)
{
    struct memory_stream one = {.stream.fill = fill, .bytes = stored, .fails_at = fails_at};
    struct memory_stream two = one;
    struct all expected, got;
    size_t n;

    drink(nd_decode_stream_new(&one.stream, ND_COMPRESSION_ZSTD), &expected);
    drink(nd_zstd_frames_stream_new(&two.stream, (unsigned)any(4), NULL), &got);
    assert_int_equal(got.bytes.len, expected.bytes.len);
    if (got.bytes.len)
        assert_memory_equal(got.bytes.data, expected.bytes.data, got.bytes.len);
    assert_int_equal(got.status, expected.status);
    assert_string_equal(got.failure, expected.failure);
    assert_int_equal(got.status == ND_OK, is_whole);
    n = got.bytes.len;
    nd_buffer_release(&expected.bytes);
    nd_buffer_release(&got.bytes);
    return n;
}

/* ---- Frames ---- */

static enum nd_status gather(void *context, const void *data, size_t len, struct nd_error *err)
{
    (void)err;
    return nd_buffer_append(context, data, len) ? ND_OK : ND_ENOMEM;
}

/* Append a frame of words, which shrink to about a quarter; one byte over and over if `is_flat`. */
static void add_frame(struct nd_buffer *to, size_t len, bool is_flat)
{
    const struct nd_packing packing = {.compression = "zstd", .level = 1};
    struct nd_packer *p = nd_packer_new(&packing, gather, to, NULL);
    char *bytes = malloc(len + 1);

    assert_non_null(p);
    assert_non_null(bytes);
    for (size_t i = 0; i < len; i++)
        bytes[i] = is_flat ? 'x' : (char)('a' + (any(9) ? i * i % 7 : any(26)));
    assert_int_equal(nd_packer_write(p, bytes, len, NULL), ND_OK);
    assert_int_equal(nd_packer_finish(p, NULL), ND_OK);
    nd_packer_free(p);
    free(bytes);
}

static void add_skippable_frame(struct nd_buffer *to, unsigned len)
{
    const unsigned char head[] = {0x50 + 7, 0x2a, 0x4d, 0x18, (unsigned char)len, 0, 0, 0};

    assert_true(nd_buffer_append(to, head, sizeof head));
    for (unsigned i = 0; i < len; i++)
        assert_true(nd_buffer_append(to, "s", 1));
}

static void add_any_frames(struct nd_buffer *to, size_t n, size_t longest)
{
    for (size_t i = 0; i < n; i++) {
        if (any(10) == 0)
            add_skippable_frame(to, (unsigned)any(100));
        else
            add_frame(to, any(20) ? any(longest) : 0, any(30) == 0);
    }
}

/* ---- Claims ---- */

static void whole_frames_are_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < sized(40, 6); i++) {
        struct nd_buffer stored = {0};

        add_any_frames(&stored, 1 + any(40), 1 + any(400000));
        (void)compare(&stored, SIZE_MAX, true);
        nd_buffer_release(&stored);
    }
}

static void a_frame_too_large_for_a_part_is_the_same(void **state)
{
    struct nd_buffer stored = {0};

    (void)state;
    add_any_frames(&stored, 10, 300000);
    add_frame(&stored, 20 << 20, true);
    add_any_frames(&stored, 10, 300000);
    assert_true(compare(&stored, SIZE_MAX, true) > 20 << 20);
    stored.len = 0;
    for (int i = 0; i < 6; i++) /* some twenty million bytes from a part's stored bytes */
        add_frame(&stored, 7 << 20, true);
    assert_int_equal(compare(&stored, SIZE_MAX, true), 42 << 20);
    nd_buffer_release(&stored);
}

static void damage_is_found_behind_the_same_bytes(void **state)
{
    struct nd_buffer stored = {0}, damaged = {0};

    (void)state;
    add_any_frames(&stored, 60, 200000);
    for (size_t i = 0; i < sized(60, 8); i++) {
        size_t at = any(stored.len);

        damaged.len = 0;
        assert_true(nd_buffer_append(&damaged, stored.data, stored.len));
        if (any(2))
            memset(damaged.data + at, 0xff, stored.len - at < 40 ? stored.len - at : 40);
        else
            damaged.len = at;
        /* The end of a frame, or what a frame may hold, is no damage: so either may be whole. */
        {
            struct memory_stream one = {
                .stream.fill = fill, .bytes = &damaged, .fails_at = SIZE_MAX};
            struct all alone;

            drink(nd_decode_stream_new(&one.stream, ND_COMPRESSION_ZSTD), &alone);
            nd_buffer_release(&alone.bytes);
            (void)compare(&damaged, SIZE_MAX, alone.status == ND_OK);
        }
        (void)compare(&stored, at, false);
    }
    damaged.len = 0;
    assert_true(nd_buffer_append(&damaged, stored.data, stored.len));
    assert_true(nd_buffer_append(&damaged, "no frame", 8));
    (void)compare(&damaged, SIZE_MAX, false);
    nd_buffer_release(&stored);
    nd_buffer_release(&damaged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_frames_are_the_same),
        cmocka_unit_test(a_frame_too_large_for_a_part_is_the_same),
        cmocka_unit_test(damage_is_found_behind_the_same_bytes),
    };

    random_state = 29;
    if (nd_libarchive_load() || !nd_can_decode(ND_COMPRESSION_ZSTD)) {
        puts("skipped: libzstd cannot be opened");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
