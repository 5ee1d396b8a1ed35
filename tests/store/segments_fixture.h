/* segments_fixture.h - a folder of segments for a test, and texts that a number makes */
#ifndef TESTS_SEGMENTS_FIXTURE_H
#define TESTS_SEGMENTS_FIXTURE_H

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/hash.h"
#include "store/segments/segments.h"
#include "store/segments/segments_files.h"
#include "store/segments/segments_record.h"

static char folder[] = "/tmp/neardup-segments-XXXXXX";
static uint64_t fixture_seed;

static inline uint64_t any(void)
{
    return nd_mix64(++fixture_seed);
}

static inline const char *path_of(uint32_t segment)
{
    static char path[128];

    (void)snprintf(path, sizeof path, "%s/%08u.seg", folder, segment);
    return path;
}

static inline size_t count_files(void)
{
    DIR *d = opendir(folder);
    size_t n = 0;

    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static inline void empty_folder(void)
{
    DIR *d = opendir(folder);
    char path[512];

    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.') {
            (void)snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
            assert_int_equal(unlink(path), 0);
        }
    closedir(d);
}

static inline int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    (void)state;
    empty_folder();
    return rmdir(folder);
}

/* The text of a number: a few are empty, some long, some of random bytes that zstd cannot shorten.
 * Every call for a number gives equal bytes, which the caller frees. */
static inline struct nd_view text_of(uint64_t number)
{
    uint64_t kind = nd_mix64(number * 3 + 1) % 50, length = nd_mix64(number * 3 + 2);
    size_t len = kind == 0 ? 0 : kind == 1 ? 100000 + length % 100000 : length % 3000;
    char *data = malloc(len + 1);

    assert_non_null(data);
    for (size_t i = 0; i < len; i++) {
        uint64_t x = nd_mix64(number << 32 ^ (kind == 2 ? i : i / 7));

        data[i] = (char)(kind == 2 ? x : (uint64_t)'a' + x % 16);
    }
    return (struct nd_view){data, len};
}

static inline struct nd_segments *open_at(struct nd_segments_end end, uint64_t segment_bytes)
{
    struct nd_error err;
    struct nd_segments *s = nd_segments_open(folder, end, segment_bytes, false, &err);

    if (!s)
        fail_msg("%s", err.message);
    return s;
}

/* The record of a text; the caller releases it. */
static inline struct nd_buffer record_of(struct nd_compressor *c, struct nd_view text)
{
    struct nd_buffer record = {0};

    assert_int_equal(nd_text_compress(c, text, &record, NULL), ND_OK);
    return record;
}

static inline enum nd_status try_append(struct nd_segments *s, struct nd_compressor *c,
                                        uint64_t number, struct nd_text_place *place,
                                        bool *no_space, struct nd_error *err)
{
    struct nd_view text = text_of(number);
    struct nd_buffer record = record_of(c, text);
    enum nd_status status =
        nd_segments_append(s, (struct nd_view){record.data, record.len}, place, no_space, err);

    free((void *)(uintptr_t)text.data);
    nd_buffer_release(&record);
    return status;
}

static inline struct nd_text_place append(struct nd_segments *s, struct nd_compressor *c,
                                          uint64_t number)
{
    struct nd_text_place place = {0};
    struct nd_error err;
    bool no_space;

    if (try_append(s, c, number, &place, &no_space, &err) != ND_OK)
        fail_msg("%s", err.message);
    return place;
}

static inline void sync_all(struct nd_segments *s)
{
    struct nd_error err;
    bool no_space;

    if (nd_segments_sync(s, &no_space, &err) != ND_OK)
        fail_msg("%s", err.message);
}

static inline void check_text(struct nd_segments *s, struct nd_compressor *c, uint64_t number,
                              const struct nd_text_place *place)
{
    struct nd_view text = text_of(number);
    struct nd_buffer found = {0};
    struct nd_error err;

    if (nd_segments_read(s, c, place, &found, &err) != ND_OK)
        fail_msg("%s", err.message);
    assert_int_equal(found.len, text.len);
    if (text.len)
        assert_memory_equal(found.data, text.data, text.len);
    nd_buffer_release(&found);
    free((void *)(uintptr_t)text.data);
}

#endif
