/* test_read_ahead.c - files read ahead in pieces give what they give when they are read in order */
#include "input_fixture.h"

#include "base/thread/pool.h"
#include "input/streams/pack.h"
#include "reading/read_ahead.h"
#include "sized.h"

enum { WORKERS_MAX = 6 };

static uint64_t random_state;

static unsigned any(unsigned n)
{
    random_state += UINT64_C(0x9E3779B97F4A7C15);
    return (unsigned)(nd_mix64(random_state) % n);
}

/* ---- Inputs ---- */

static void put_line(FILE *f, unsigned letters)
{
    for (unsigned i = 0; i < letters; i++)
        (void)fputc('a' + (int)any(26), f);
    (void)fputc('\n', f);
}

/* Lines of at most so many letters, now and then a blank one or one that spans several pieces. */
static void write_lines(const char *path, unsigned bytes, unsigned letters, unsigned long_ones)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    while (ftell(f) < (long)bytes) {
        if (long_ones && any(200) == 0)
            put_line(f, long_ones + any(long_ones));
        else
            put_line(f, any(letters));
    }
    (void)fputs("the last one has no end", f);
    assert_int_equal(fclose(f), 0);
}

static void write_table(const char *path, unsigned rows)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    (void)fputs("\xEF\xBB\xBFid,text\n", f);
    for (unsigned i = 0; i < rows; i++) {
        (void)fprintf(f, "%u,\"first line\nand \"\"second\"\" ", i);
        put_line(f, any(300));
        (void)fputs("\"\n", f);
    }
    assert_int_equal(fclose(f), 0);
}

static enum nd_status write_packed(void *context, const void *data, size_t len,
                                   struct nd_error *err)
{
    (void)err;
    return fwrite(data, 1, len, context) == len ? ND_OK : ND_EIO;
}

/* Compress a file under another name; of zstd, a frame for each `part` bytes. */
static void pack(const char *path, const char *packed, size_t part)
{
    const struct nd_packing packing = {.compression = nd_compression_of_name(packed)};
    FILE *f = fopen(packed, "wb");
    struct nd_packer *p = nd_packer_new(&packing, write_packed, f, NULL);
    size_t len;
    char *all = slurp(path, &len);

    assert_non_null(f);
    assert_non_null(p);
    for (size_t at = 0, n; at < len; at += n) {
        n = part && part < len - at ? part : len - at;
        assert_int_equal(nd_packer_write(p, all + at, n, NULL), ND_OK);
        assert_int_equal(nd_packer_divide(p, NULL), ND_OK);
    }
    assert_int_equal(nd_packer_finish(p, NULL), ND_OK);
    nd_packer_free(p);
    free(all);
    assert_int_equal(fclose(f), 0);
}

/* ---- Reading ---- */

/* Note where the records of a batch stand, and what they are. */
static void note_records(struct reading *r, const struct nd_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct nd_record *record = &batch->records[i];

        put(&r->log, "%u:%d@%d+%d\n", (unsigned)record->source, (int)record->line,
            (int)record->offset, (int)record->bytes.len);
        assert_true(nd_buffer_append(&r->records, record->bytes.data, record->bytes.len));
    }
    r->n_records += batch->count;
}

static void note_files(struct reading *r, const struct nd_input *input)
{
    for (size_t i = 0; i < nd_input_sources(input); i++) {
        const struct nd_source *s = nd_input_source(input, (uint32_t)i);

        put(&r->log, "%s %d %d %d %016llx\n", s->path, (int)s->state, (int)s->bytes,
            (int)s->records, (unsigned long long)s->bytes_hash);
    }
    put(&r->problems, "%s", "");
    assert_true(nd_buffer_reserve(&r->log, r->log.len));
    assert_true(nd_buffer_reserve(&r->problems, r->problems.len));
}

static struct nd_input *open_paths(struct reading *r, const char *const *paths)
{
    struct nd_input_options options = nd_input_options_default();
    struct nd_input *input;
    size_t n = 0;

    while (paths[n])
        n++;
    options.unit = ND_UNIT_LINE;
    input = nd_input_open(paths, n, &options, note_problem, r, NULL);
    assert_non_null(input);
    return input;
}

static void read_in_order(struct reading *r, const char *const *paths)
{
    struct nd_input *input = open_paths(r, paths);
    struct nd_batch batch = {0};

    while (nd_input_read(input, 1 << 14, 1000, &batch, NULL) > 0)
        note_records(r, &batch);
    note_files(r, input);
    nd_batch_release(&batch);
    nd_input_close(input);
}

/* Workers of which any one that can go on does so next, in an order that is forced by chance. */
struct workers {
    struct nd_input *input;
    struct nd_read_ahead *ahead;
    unsigned n;
    size_t piece_bytes, max_records;
    unsigned long turn;
    bool is_over;
    struct worker {
        bool has_begun;
        unsigned long ticket;
        struct nd_ahead_piece piece;
        struct nd_batch batch;
    } worker[WORKERS_MAX];
    size_t n_read_ahead;
};

static void begin(struct workers *all, struct worker *w)
{
    w->has_begun = true;
    w->ticket = nd_read_ahead_begin(all->ahead, &w->piece);
    if (w->piece.len)
        nd_batch_read_ahead(all->input, &w->batch, &w->piece);
    all->n_read_ahead += w->piece.len > 0;
}

static void cut(struct workers *all, struct worker *w, struct reading *r)
{
    const struct nd_ahead_piece piece = nd_read_ahead_piece(all->ahead, w->ticket);
    struct nd_ahead_place place;
    int got;

    if (piece.len && (piece.source != w->piece.source || piece.offset != w->piece.offset))
        nd_batch_read_ahead(all->input, &w->batch, &piece);
    got = nd_input_read(all->input, all->piece_bytes, all->max_records, &w->batch, NULL);
    assert_true(got >= 0);
    if (got > 0)
        note_records(r, &w->batch);
    all->is_over = got == 0;
    nd_read_ahead_end(all->ahead, w->ticket,
                      nd_input_ahead_place(all->input, &place) ? &place : NULL,
                      1 + all->piece_bytes / 2 + any((unsigned)all->piece_bytes));
    all->turn++;
    w->has_begun = false;
}

static void read_by_workers(struct reading *r, const char *const *paths, unsigned n,
                            size_t piece_bytes, size_t max_records,
                            void (*meanwhile)(struct workers *all))
{
    struct nd_pool *pool = nd_pool_new(1, NULL);
    struct workers all = {.input = open_paths(r, paths),
                          .n = n,
                          .piece_bytes = piece_bytes,
                          .max_records = max_records};
    const size_t files = any(4);

    /* One thread plays all the workers, so the window must have room for what they have ahead. */
    assert_true(!files || nd_input_unpack_ahead(all.input, pool, files, 1 << 22, any(3)));

    all.ahead = nd_read_ahead_new(pool, n, NULL);
    assert_non_null(all.ahead);
    while (!all.is_over) {
        struct worker *w = &all.worker[any(n)];

        if (!w->has_begun)
            begin(&all, w);
        else if (w->ticket == all.turn)
            cut(&all, w, r);
        if (meanwhile)
            meanwhile(&all);
    }
    note_files(r, all.input);
    for (unsigned i = 0; i < n; i++)
        nd_batch_release(&all.worker[i].batch);
    r->n_batches = all.n_read_ahead;
    nd_read_ahead_free(all.ahead);
    nd_input_close(all.input);
    nd_pool_free(pool);
}

static void compare_times(const char *const *paths, size_t piece_bytes, size_t max_records,
                          size_t times)
{
    struct reading expected = {.n_records = 0};
    size_t n_read_ahead = 0;

    read_in_order(&expected, paths);
    for (size_t i = 0; i < times; i++) {
        struct reading r = {.n_records = 0};

        read_by_workers(&r, paths, 2 + any(WORKERS_MAX - 1), piece_bytes, max_records, NULL);
        assert_int_equal(r.n_records, expected.n_records);
        assert_string_equal(r.log.data, expected.log.data);
        assert_string_equal(r.problems.data, expected.problems.data);
        assert_int_equal(r.records.len, expected.records.len);
        assert_memory_equal(r.records.data, expected.records.data, r.records.len);
        n_read_ahead += r.n_batches;
        close_reading(&r);
    }
    assert_true(n_read_ahead > 0);
    close_reading(&expected);
}

static void compare_all(const char *const *paths, size_t piece_bytes, size_t max_records)
{
    compare_times(paths, piece_bytes, max_records, sized(300, 30));
}

/* ---- Claims ---- */

static void lines_are_the_same_in_any_order_of_the_workers(void **state)
{
    const char *const paths[] = {"a.txt", "small.txt", "b.txt", NULL};

    (void)state;
    write_lines("a.txt", 200000, 200, 0);
    write_text("small.txt", "one\n\ntwo\n");
    write_lines("b.txt", 100000, 50, 0);
    compare_all(paths, 5000, 1000);
}

static void lines_longer_than_pieces_are_the_same(void **state)
{
    const char *const paths[] = {"a.txt", NULL};

    (void)state;
    write_lines("a.txt", 300000, 100, 20000);
    compare_all(paths, 3000, 1000);
    write_lines("a.txt", 3000000, 100, 150000); /* and than the room before a piece */
    compare_all(paths, 100000, 1000);
}

/* A batch leaves records to the next, which have them beside their own pieces. */
static void more_records_than_fit_into_a_batch_are_the_same(void **state)
{
    const char *const paths[] = {"a.txt", NULL};

    (void)state;
    write_lines("a.txt", 100000, 10, 0);
    compare_all(paths, 4000, 50);
}

static void rows_with_a_header_and_line_ends_within_are_the_same(void **state)
{
    const char *const paths[] = {"a.csv", "b.csv", NULL};

    (void)state;
    write_table("a.csv", 500);
    write_table("b.csv", 300);
    compare_all(paths, 2000, 100);
}

static void what_is_wrong_is_reported_at_the_same_place(void **state)
{
    const char *const paths[] = {"a.csv", "absent.csv", "b.csv", NULL};
    FILE *f;

    (void)state;
    write_table("a.csv", 400);
    f = fopen("a.csv", "ab");
    assert_non_null(f);
    (void)fputs("400,\"never closed\n", f);
    for (int i = 0; i < 1000; i++)
        (void)fputs("one more line\n", f);
    assert_int_equal(fclose(f), 0);
    write_table("b.csv", 200);
    compare_all(paths, 2000, 100);
}

static void shorten(struct workers *all)
{
    if (all->turn == 8)
        assert_int_equal(truncate("a.txt", 45000), 0);
}

/* Pieces that stood behind the new end may have been read before. */
static void a_file_that_is_cut_short_meanwhile_is_reported(void **state)
{
    const char *const paths[] = {"a.txt", "b.txt", NULL};

    (void)state;
    for (int i = 0; i < 20; i++) {
        struct reading r = {.n_records = 0};

        write_lines("a.txt", 200000, 100, 0);
        write_lines("b.txt", 50000, 100, 0);
        read_by_workers(&r, paths, 4, 4000, 1000, shorten);
        assert_int_equal(r.n_failures, 1);
        assert_non_null(strstr(r.problems.data, "it was cut short while it was read"));
        assert_non_null(strstr(r.log.data, "b.txt 1 "));
        close_reading(&r);
    }
}

static void append(struct workers *all)
{
    FILE *f;

    if (all->turn != 5 || any(2))
        return;
    f = fopen("a.txt", "ab");
    assert_non_null(f);
    (void)fputs(" now it has one\nand another\n", f);
    assert_int_equal(fclose(f), 0);
}

static void a_file_that_grows_meanwhile_is_read_to_its_new_end(void **state)
{
    const char *const paths[] = {"a.txt", NULL};
    size_t len;

    (void)state;
    for (int i = 0; i < 20; i++) {
        struct reading r = {.n_records = 0};
        char *all;

        write_lines("a.txt", 100000, 100, 0);
        read_by_workers(&r, paths, 4, 4000, 1000, append);
        all = slurp("a.txt", &len);
        assert_true(len > 100000);
        assert_int_equal(r.n_failures, 0);
        assert_int_equal(r.records.data[r.records.len - 1], all[len - 1]);
        free(all);
        close_reading(&r);
    }
}

static void compressed_files_are_the_same(void **state)
{
    static const char *const suffixes[] = {"gz", "zst", "xz", "bz2", "lz4"};

    (void)state;
    write_lines("a.txt", 200000, 100, 5000);
    write_lines("b.txt", 100000, 50, 0);
    write_text("empty.txt", "");
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char name[4][20];
        const char *const paths[] = {name[0], "a.txt", name[1], "absent.gz",
                                     name[2], name[3], NULL};

        for (size_t k = 0; k < 4; k++)
            snprintf(name[k], sizeof name[k], "%c.txt.%s", (int)"abcd"[k], suffixes[i]);
        pack("a.txt", name[0], 70000);
        pack("b.txt", name[1], 0);
        pack("empty.txt", name[2], 0);
        pack("b.txt", name[3], 30000);
        compare_times(paths, 8000, 1000, sized(40, 4));
    }
}

static void damage_is_reported_at_the_same_place(void **state)
{
    const char *const paths[] = {"a.txt.gz", "b.txt.zst", "b.csv.gz", "a.txt", NULL};
    size_t len;

    (void)state;
    write_lines("a.txt", 200000, 100, 0);
    write_table("b.csv", 400);
    pack("a.txt", "a.txt.gz", 0);
    pack("a.txt", "b.txt.zst", 50000);
    pack("b.csv", "b.csv.gz", 0);
    free(slurp("a.txt.gz", &len));
    assert_int_equal(truncate("a.txt.gz", (off_t)len - 5000), 0);
    free(slurp("b.txt.zst", &len));
    assert_int_equal(truncate("b.txt.zst", (off_t)len - 9), 0);
    compare_times(paths, 3000, 1000, sized(60, 6));
    write_text("b.csv", "id,text\n1,\"never closed\n");
    for (int i = 0; i < 13; i++) { /* some 100,000 lines that are given up with it */
        char *all = slurp("b.csv", &len);
        FILE *f = fopen("b.csv", "ab");

        assert_non_null(f);
        (void)fputs(i ? strchr(all, '\n') + 17 : "one more line\n", f);
        assert_int_equal(fclose(f), 0);
        free(all);
    }
    pack("b.csv", "b.csv.gz", 0);
    compare_times(paths, 3000, 1000, sized(60, 6));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_the_same_in_any_order_of_the_workers),
        cmocka_unit_test(lines_longer_than_pieces_are_the_same),
        cmocka_unit_test(more_records_than_fit_into_a_batch_are_the_same),
        cmocka_unit_test(rows_with_a_header_and_line_ends_within_are_the_same),
        cmocka_unit_test(what_is_wrong_is_reported_at_the_same_place),
        cmocka_unit_test(a_file_that_is_cut_short_meanwhile_is_reported),
        cmocka_unit_test(a_file_that_grows_meanwhile_is_read_to_its_new_end),
        cmocka_unit_test(compressed_files_are_the_same),
        cmocka_unit_test(damage_is_reported_at_the_same_place),
    };

    random_state = 18;
    return cmocka_run_group_tests(tests, fixture_enter, fixture_leave);
}
