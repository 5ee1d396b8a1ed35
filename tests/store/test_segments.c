/* test_segments.c - texts in segments come back whole, or not at all */
#define _GNU_SOURCE
#include "segments_fixture.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "base/thread/thread.h"

enum { MANY = 400, SMALL = 20000 /* bytes of a segment */ };

static size_t count_descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    size_t n = 0;

    if (!d)
        return 0;
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static void texts_come_back_before_and_after_a_sync_and_when_opened_again(void **state)
{
    struct nd_compressor *c = nd_compressor_new();
    struct nd_segments *s = open_at((struct nd_segments_end){0, 0}, SMALL);
    struct nd_text_place place[MANY];
    struct nd_segments_end end;

    (void)state;
    for (uint64_t i = 0; i < MANY; i++) {
        place[i] = append(s, c, i);
        check_text(s, c, i, &place[i]);
        check_text(s, c, i / 2, &place[i / 2]);
        if (i % 37 == 36)
            sync_all(s);
    }
    sync_all(s);
    end = nd_segments_end(s);
    nd_segments_close(s);
    s = open_at(end, SMALL);
    assert_int_equal(end.segment, nd_segments_end(s).segment);
    assert_int_equal(end.offset, nd_segments_end(s).offset);
    for (uint64_t i = 0; i < MANY; i++)
        check_text(s, c, i, &place[i]);
    nd_segments_close(s);
    nd_compressor_free(c);
    empty_folder();
}

/* One after the other without gaps, so that every byte of a file is checked with some record. */
static void records_fill_their_segments(void **state)
{
    struct nd_compressor *c = nd_compressor_new();
    struct nd_segments *s = open_at((struct nd_segments_end){0, 0}, SMALL);
    struct nd_segments_end at = {1, ND_SEGMENT_HEADER};
    uint32_t *numbers;
    size_t n;

    (void)state;
    for (uint64_t i = 0; i < MANY; i++) {
        struct nd_text_place place = append(s, c, i);

        if (place.segment != at.segment) {
            assert_int_equal(place.segment, at.segment + 1);
            assert_true(at.offset + place.stored > SMALL);
            assert_int_equal(nd_segments_bytes(s, at.segment), at.offset);
            at = (struct nd_segments_end){place.segment, ND_SEGMENT_HEADER};
        }
        assert_int_equal(place.offset, at.offset);
        at.offset += place.stored;
        assert_int_equal(nd_segments_end(s).offset, at.offset);
        assert_int_equal(nd_segments_bytes(s, at.segment), at.offset);
    }
    assert_int_equal(nd_segments_list(s, &numbers, &n, NULL), ND_OK);
    assert_int_equal(n, at.segment);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(numbers[i], i + 1);
    free(numbers);
    nd_segments_close(s);
    nd_compressor_free(c);
    empty_folder();
}

/* A record that is longer than what is buffered. */
static void long_texts_come_back(void **state)
{
    const size_t len = 5 << 20;
    struct nd_compressor *c = nd_compressor_new();
    struct nd_segments *s = open_at((struct nd_segments_end){0, 0}, 1 << 30);
    char *data = malloc(len);
    struct nd_buffer record, found = {0};
    struct nd_text_place place[3];
    bool no_space;

    (void)state;
    assert_non_null(data);
    for (size_t i = 0; i < len; i++)
        data[i] = (char)any();
    record = record_of(c, (struct nd_view){data, len});
    place[0] = append(s, c, 1);
    assert_int_equal(nd_segments_append(s, (struct nd_view){record.data, record.len}, &place[1],
                                        &no_space, NULL),
                     ND_OK);
    place[2] = append(s, c, 2);
    for (int round = 0; round < 2; round++) {
        check_text(s, c, 1, &place[0]);
        check_text(s, c, 2, &place[2]);
        assert_int_equal(nd_segments_read(s, c, &place[1], &found, NULL), ND_OK);
        assert_int_equal(found.len, len);
        assert_memory_equal(found.data, data, len);
        sync_all(s);
    }
    nd_buffer_release(&found);
    nd_buffer_release(&record);
    free(data);
    nd_segments_close(s);
    nd_compressor_free(c);
    empty_folder();
}

static void texts_of_four_gigabytes_are_refused(void **state)
{
    struct nd_compressor *c = nd_compressor_new();
    struct nd_buffer record = {0};
    struct nd_error err;

    (void)state;
    assert_int_equal(
        nd_text_compress(c, (struct nd_view){"", (size_t)UINT32_MAX + 1}, &record, &err),
        ND_EINVAL);
    assert_non_null(strstr(err.message, "4294967296 bytes is too long"));
    nd_buffer_release(&record);
    nd_compressor_free(c);
}

/* ---- Damage ---- */

enum { FEW = 5 };
static const uint64_t short_one[FEW] = {3, 11, 17, 40, 41};

static struct nd_segments_end write_few(struct nd_compressor *c, struct nd_text_place *place)
{
    struct nd_segments *s = open_at((struct nd_segments_end){0, 0}, 1 << 30);
    struct nd_segments_end end;

    for (size_t i = 0; i < FEW; i++)
        place[i] = append(s, c, short_one[i]);
    sync_all(s);
    end = nd_segments_end(s);
    nd_segments_close(s);
    return end;
}

static void change_byte(uint32_t segment, uint64_t offset, unsigned char by)
{
    int fd = open(path_of(segment), O_RDWR);
    unsigned char byte;

    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, (off_t)offset), 1);
    byte ^= by;
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)offset), 1);
    close(fd);
}

static void check_damage_at(struct nd_compressor *c, const struct nd_text_place *place,
                            struct nd_segments_end end, uint64_t offset)
{
    struct nd_error err;
    struct nd_segments *s = nd_segments_open(folder, end, 1 << 30, true, &err);
    struct nd_buffer text = {0};
    size_t n_damaged = 0;

    if (offset < ND_SEGMENT_HEADER) {
        assert_null(s);
        assert_int_equal(err.status, ND_EINPUT);
        assert_non_null(strstr(err.message, "00000001.seg"));
        return;
    }
    assert_non_null(s);
    for (size_t i = 0; i < FEW; i++) {
        enum nd_status status = nd_segments_read(s, c, &place[i], &text, &err);
        bool is_hit = offset >= place[i].offset && offset < place[i].offset + place[i].stored;

        assert_int_equal(status, is_hit ? ND_EINPUT : ND_OK);
        assert_true(!is_hit || strstr(err.message, "00000001.seg: the record at byte "));
        n_damaged += is_hit;
    }
    assert_int_equal(n_damaged, 1);
    nd_buffer_release(&text);
    nd_segments_close(s);
}

static void damage_is_found_at_every_byte(void **state)
{
    struct nd_compressor *c = nd_compressor_new();
    struct nd_text_place place[FEW];
    struct nd_segments_end end = write_few(c, place);

    (void)state;
    for (uint64_t offset = 0; offset < end.offset; offset++) {
        unsigned char by = (unsigned char)(1 << any() % 8);

        change_byte(1, offset, by);
        check_damage_at(c, place, end, offset);
        change_byte(1, offset, by);
    }
    nd_compressor_free(c);
    empty_folder();
}

static void a_segment_of_any_other_length_is_refused_or_cut(void **state)
{
    struct nd_compressor *c = nd_compressor_new();
    struct nd_text_place place[FEW];
    struct nd_segments_end end = write_few(c, place);
    struct nd_segments *s;
    struct nd_error err;

    (void)state;
    assert_int_equal(truncate(path_of(1), (off_t)end.offset + 100), 0);
    s = open_at(end, 1 << 30);
    assert_int_equal(nd_segments_bytes(s, 1), end.offset);
    for (size_t i = 0; i < FEW; i++)
        check_text(s, c, short_one[i], &place[i]);
    nd_segments_close(s);
    for (uint64_t len = end.offset; len-- > 0;) {
        assert_int_equal(truncate(path_of(1), (off_t)len), 0);
        assert_null(nd_segments_open(folder, end, 1 << 30, len % 2, &err));
        assert_int_equal(err.status, ND_EINPUT);
    }
    assert_int_equal(unlink(path_of(1)), 0);
    assert_null(nd_segments_open(folder, end, 1 << 30, false, &err));
    assert_int_equal(err.status, ND_EINPUT);
    assert_non_null(strstr(err.message, "00000001.seg: is missing"));
    nd_compressor_free(c);
    empty_folder();
}

static void places_that_cannot_be_are_refused(void **state)
{
    struct nd_compressor *c = nd_compressor_new();
    struct nd_text_place place[FEW];
    struct nd_segments *s = open_at(write_few(c, place), 1 << 30);
    struct nd_buffer text = {0};
    const struct nd_text_place p = place[1];
    const struct nd_text_place bad[] = {{0, p.stored, p.offset, p.bytes},
                                        {2, p.stored, p.offset, p.bytes},
                                        {1, p.stored - 1, p.offset, p.bytes},
                                        {1, p.stored + 1, p.offset, p.bytes},
                                        {1, p.stored, p.offset - 1, p.bytes},
                                        {1, p.stored, p.offset + 1, p.bytes},
                                        {1, p.stored, p.offset, p.bytes + 1},
                                        {1, p.stored, p.offset, p.bytes - 1},
                                        {1, 0, p.offset, p.bytes},
                                        {1, UINT32_MAX, p.offset, p.bytes},
                                        {1, p.stored, UINT64_MAX - 1, p.bytes},
                                        {1, p.stored, INT64_MAX, p.bytes},
                                        {1, p.stored, 0, p.bytes},
                                        {1, p.stored, 1 << 30, p.bytes},
                                        {UINT32_MAX, p.stored, p.offset, p.bytes}};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(nd_segments_read(s, c, &bad[i], &text, NULL), ND_EINPUT);
    check_text(s, c, short_one[1], &p);
    append(s, c, 50);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(nd_segments_read(s, c, &bad[i], &text, NULL), ND_EINPUT);
    nd_buffer_release(&text);
    nd_segments_close(s);
    nd_compressor_free(c);
    empty_folder();
}

/* ---- A model: what was appended, and which of it a commit named ---- */

struct model {
    struct nd_segments *segments;
    struct nd_compressor *compressor;
    struct nd_segments_end committed;
    uint64_t number[4000];
    struct nd_text_place place[4000];
    size_t n, n_committed;
    uint32_t removed; /* segments up to this one */
    uint64_t next;
};

static void check_model(struct model *m)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->place[i].segment > m->removed)
            check_text(m->segments, m->compressor, m->number[i], &m->place[i]);
}

static void commit(struct model *m)
{
    sync_all(m->segments);
    m->committed = nd_segments_end(m->segments);
    m->n_committed = m->n;
}

static void give_up(struct model *m)
{
    nd_segments_rewind(m->segments, m->committed);
    m->n = m->n_committed;
}

/* As a crash would leave it: what was written is there, what was buffered not. */
static void open_again(struct model *m)
{
    nd_segments_close(m->segments);
    m->segments = open_at(m->committed, SMALL);
    m->n = m->n_committed;
}

static void remove_one(struct model *m)
{
    if (m->removed + 1 >= m->committed.segment)
        return;
    m->removed++;
    assert_int_equal(nd_segments_remove(m->segments, m->removed, NULL), ND_OK);
    assert_int_equal(nd_segments_remove(m->segments, m->removed, NULL), ND_OK);
}

static void turn(struct model *m)
{
    nd_segments_turn(m->segments);
    if (any() % 2)
        commit(m);
}

static void step(struct model *m)
{
    switch (any() % 40) {
    case 0: give_up(m); break;
    case 1: turn(m); break;
    case 2: open_again(m); break;
    case 3: remove_one(m); break;
    case 4:
    case 5:
    case 6: commit(m); break;
    default:
        m->number[m->n] = m->next++;
        m->place[m->n] = append(m->segments, m->compressor, m->number[m->n]);
        m->n++;
    }
}

static void any_order_of_calls_keeps_what_was_committed(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct model *m = calloc(1, sizeof *m);

        assert_non_null(m);
        fixture_seed = seed << 32;
        m->compressor = nd_compressor_new();
        m->segments = open_at(m->committed, SMALL);
        for (int i = 0; i < 400; i++) {
            step(m);
            if (i % 16 == 0)
                check_model(m);
        }
        open_again(m);
        check_model(m);
        assert_true(m->n > 50 && m->removed > 0);
        nd_segments_close(m->segments);
        nd_compressor_free(m->compressor);
        free(m);
        empty_folder();
    }
}

static void what_was_given_up_leaves_no_segments(void **state)
{
    struct nd_compressor *c = nd_compressor_new();
    struct nd_segments *s = open_at((struct nd_segments_end){0, 0}, 1);
    struct nd_segments_end end;

    (void)state;
    append(s, c, 1);
    sync_all(s);
    end = nd_segments_end(s);
    for (uint64_t i = 2; i < 6; i++)
        append(s, c, i);
    assert_int_equal(count_files(), 5);
    nd_segments_rewind(s, end);
    assert_int_equal(count_files(), 1);
    for (uint64_t i = 2; i < 6; i++)
        append(s, c, i);
    nd_segments_close(s);
    assert_int_equal(count_files(), 5);
    nd_segments_close(open_at(end, 1));
    assert_int_equal(count_files(), 1);
    nd_compressor_free(c);
    empty_folder();
}

/* A segment may go as soon as a commit names the next one, even if nothing was put there. */
static void a_segment_that_was_turned_can_be_removed(void **state)
{
    struct nd_compressor *c = nd_compressor_new();
    struct nd_segments *s = open_at((struct nd_segments_end){0, 0}, 1 << 30);
    struct nd_text_place place;
    struct nd_segments_end end;

    (void)state;
    nd_segments_turn(s);
    assert_int_equal(nd_segments_end(s).segment, 1);
    append(s, c, 1);
    assert_int_equal(nd_segments_remove(s, 1, NULL), ND_EINVAL);
    nd_segments_turn(s);
    sync_all(s);
    end = nd_segments_end(s);
    assert_int_equal(end.segment, 2);
    assert_int_equal(end.offset, 0);
    assert_int_equal(nd_segments_remove(s, 1, NULL), ND_OK);
    nd_segments_close(s);
    s = open_at(end, 1 << 30);
    place = append(s, c, 2);
    assert_int_equal(place.segment, 2);
    check_text(s, c, 2, &place);
    nd_segments_close(s);
    nd_compressor_free(c);
    empty_folder();
}

/* ---- Files and descriptors ---- */

static void few_files_stay_open(void **state)
{
    const size_t n = 3 * ND_SEGMENT_FILES_OPEN;
    struct nd_compressor *c = nd_compressor_new();
    struct nd_segments *s = open_at((struct nd_segments_end){0, 0}, 1);
    size_t before = count_descriptors();
    struct nd_text_place place[3 * ND_SEGMENT_FILES_OPEN];
    struct rlimit limit, low;

    (void)state;
    for (uint64_t i = 0; i < n; i++)
        place[i] = append(s, c, i);
    sync_all(s);
    for (uint64_t i = 0; i < n; i++)
        check_text(s, c, i, &place[i]);
    assert_true(count_descriptors() <= before + ND_SEGMENT_FILES_OPEN + 1);

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    low = (struct rlimit){32, limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    for (uint64_t i = 0; i < n; i++)
        check_text(s, c, i, &place[i]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    nd_segments_close(s);
    nd_compressor_free(c);
    empty_folder();
}

static void a_reader_finds_what_another_process_writes(void **state)
{
    struct nd_compressor *c = nd_compressor_new();
    struct nd_segments *s = open_at((struct nd_segments_end){0, 0}, SMALL), *reader;
    struct nd_text_place place[MANY];
    struct nd_error err;
    bool no_space;

    (void)state;
    reader = nd_segments_open(folder, nd_segments_end(s), SMALL, true, &err);
    assert_non_null(reader);
    for (uint64_t i = 0; i < MANY; i++) {
        place[i] = append(s, c, i);
        if (i % 10 == 9) {
            sync_all(s);
            for (uint64_t j = i - 9; j <= i; j++)
                check_text(reader, c, j, &place[j]);
        }
    }
    assert_int_equal(try_append(reader, c, 1, &place[0], &no_space, &err), ND_EINVAL);
    assert_int_equal(nd_segments_sync(reader, &no_space, &err), ND_EINVAL);
    nd_segments_close(reader);
    nd_segments_close(s);
    nd_compressor_free(c);
    empty_folder();
}

struct readers {
    struct nd_segments *segments;
    struct nd_text_place place[MANY];
    atomic_size_t n;
    atomic_bool ends;
    atomic_size_t n_wrong, n_read;
};

static bool is_right(struct readers *r, struct nd_compressor *c, uint64_t i, struct nd_buffer *text)
{
    struct nd_view right = text_of(i);
    bool is = nd_segments_read(r->segments, c, &r->place[i], text, NULL) == ND_OK &&
              text->len == right.len && (!right.len || !memcmp(text->data, right.data, right.len));

    free((void *)(uintptr_t)right.data);
    return is;
}

static void read_on(void *context)
{
    struct readers *r = context;
    struct nd_compressor *c = nd_compressor_new();
    struct nd_buffer text = {0};

    for (uint64_t seed = 0; !atomic_load(&r->ends) || seed < 100; seed++) {
        size_t n = atomic_load(&r->n);

        if (!n)
            continue;
        /* Mostly what was appended last, which may be in memory or on its way to the file. */
        if (!is_right(r, c, seed % 2 ? n - 1 : nd_mix64(seed) % n, &text))
            atomic_fetch_add(&r->n_wrong, 1);
        atomic_fetch_add(&r->n_read, 1);
    }
    nd_buffer_release(&text);
    nd_compressor_free(c);
}

static void others_read_while_one_appends(void **state)
{
    struct readers *r = calloc(1, sizeof *r);
    struct nd_compressor *c = nd_compressor_new();
    struct nd_thread thread[3];

    (void)state;
    assert_non_null(r);
    r->segments = open_at((struct nd_segments_end){0, 0}, SMALL);
    for (size_t i = 0; i < 3; i++)
        assert_true(nd_thread_start(&thread[i], read_on, r));
    for (uint64_t i = 0; i < MANY; i++) {
        r->place[i] = append(r->segments, c, i);
        atomic_store(&r->n, i + 1);
        if (i % 8 == 7)
            sync_all(r->segments);
    }
    atomic_store(&r->ends, true);
    for (size_t i = 0; i < 3; i++)
        nd_thread_join(&thread[i]);
    assert_int_equal(atomic_load(&r->n_wrong), 0);
    assert_true(atomic_load(&r->n_read) >= 3 * 99);
    nd_segments_close(r->segments);
    nd_compressor_free(c);
    free(r);
    empty_folder();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_come_back_before_and_after_a_sync_and_when_opened_again),
        cmocka_unit_test(records_fill_their_segments),
        cmocka_unit_test(long_texts_come_back),
        cmocka_unit_test(texts_of_four_gigabytes_are_refused),
        cmocka_unit_test(damage_is_found_at_every_byte),
        cmocka_unit_test(a_segment_of_any_other_length_is_refused_or_cut),
        cmocka_unit_test(places_that_cannot_be_are_refused),
        cmocka_unit_test(any_order_of_calls_keeps_what_was_committed),
        cmocka_unit_test(what_was_given_up_leaves_no_segments),
        cmocka_unit_test(a_segment_that_was_turned_can_be_removed),
        cmocka_unit_test(few_files_stay_open),
        cmocka_unit_test(a_reader_finds_what_another_process_writes),
        cmocka_unit_test(others_read_while_one_appends),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
