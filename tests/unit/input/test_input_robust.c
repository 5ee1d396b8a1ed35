/* test_input_robust.c - huge, tiny, changing and senseless input */
#include "input_fixture.h"

#include <fcntl.h>

#include "base/thread/pool.h"
#include "input/input_state.h"

static const char TEXT_KEY[] = "{\"text\":\"";

/* A file that loses its end while it is read: named; what was read before stays. */
static void a_file_that_shrinks_is_named(void **state)
{
    struct nd_input_options o = nd_input_options_default();
    struct nd_batch batch = {0};
    struct reading r = {0};
    struct nd_buffer b = {0};
    struct nd_input *input;
    size_t n = 0;
    int status;

    (void)state;
    for (int i = 0; i < 100000; i++)
        put(&b, "{\"id\":%d,\"text\":\"some text, the same\"}\n", i);
    write_file("shrink.jsonl", b.data, b.len);
    input = nd_input_open((const char *const[]){"shrink.jsonl"}, 1, &o, note_problem, &r, NULL);
    assert_int_equal(nd_input_read(input, 100000, 100000, &batch, NULL), 1);
    n += batch.count;
    assert_int_equal(truncate("shrink.jsonl", (off_t)b.len / 2 + 5), 0);
    while ((status = nd_input_read(input, 100000, 100000, &batch, NULL)) > 0)
        n += batch.count;
    assert_int_equal(status, 0);
    assert_int_equal(r.n_failures, 1);
    assert_true(n > 40000 && n < 60000);
    assert_non_null(strstr(r.problems.data, "shrink.jsonl:"));
    assert_non_null(strstr(r.problems.data, "it was cut short while it was read"));
    nd_buffer_release(&b);
    nd_batch_release(&batch);
    nd_input_close(input);
    close_reading(&r);
}

static void a_file_that_grows_is_read_to_its_new_end(void **state)
{
    struct nd_input_options o = nd_input_options_default();
    struct nd_batch batch = {0};
    struct nd_input *input;
    size_t n = 0;

    (void)state;
    run("yes '{\"text\":\"x\"}' | head -n 50000 > grow.jsonl");
    input = nd_input_open((const char *const[]){"grow.jsonl"}, 1, &o, NULL, NULL, NULL);
    assert_int_equal(nd_input_read(input, 1000, 100000, &batch, NULL), 1);
    n += batch.count;
    run("echo '{\"text\":\"more\"}' >> grow.jsonl");
    while (nd_input_read(input, 100000, 100000, &batch, NULL) > 0)
        n += batch.count;
    assert_int_equal(n, 50001);
    nd_batch_release(&batch);
    nd_input_close(input);
}

/* One line of 200 MB between two small ones, in batches of 4 MB. */
static void a_line_of_200_megabytes_is_a_record(void **state)
{
    const size_t n = 200u << 20;
    struct nd_input_options o = nd_input_options_default();
    struct nd_parser *parser = nd_parser_new(&o, NULL);
    struct nd_batch batch = {0};
    struct nd_input *input;
    size_t records = 0, longest = 0;
    FILE *f = fopen("long.jsonl", "wb");
    char *piece = malloc(1 << 20);

    (void)state;
    assert_non_null(piece);
    memset(piece, 'x', 1 << 20);
    (void)fprintf(f, "{\"text\":\"a\"}\n%s", TEXT_KEY);
    for (size_t i = 0; i < n >> 20; i++)
        assert_int_equal(fwrite(piece, 1, 1 << 20, f), 1 << 20);
    (void)fprintf(f, "\\n\"}\n{\"text\":\"b\"}\n");
    assert_int_equal(fclose(f), 0);
    input = nd_input_open((const char *const[]){"long.jsonl"}, 1, &o, NULL, NULL, NULL);
    while (nd_input_read(input, 4 << 20, 4096, &batch, NULL) > 0) {
        for (size_t i = 0; i < batch.count; i++) {
            struct nd_document d;
            struct nd_bad_record bad;

            assert_int_equal(nd_parser_parse(parser, nd_input_source(input, 0),
                                             batch.records[i].bytes, &d, NULL, &bad),
                             1);
            assert_int_equal(batch.records[i].line, ++records);
            longest = d.text.len > longest ? d.text.len : longest;
        }
        nd_parser_reset(parser);
    }
    assert_int_equal(records, 3);
    assert_int_equal(longest, n + 1);
    free(piece);
    nd_batch_release(&batch);
    nd_parser_free(parser);
    nd_input_close(input);
    run("rm long.jsonl");
}

static void a_million_empty_records_are_read(void **state)
{
    struct nd_input_options o = nd_input_options_default();
    struct reading r = {0};

    (void)state;
    run("yes '{\"text\":\"\"}' | head -n 1000000 > million.jsonl; yes '' | head -n 1000000 > "
        "m.txt");
    read_all(&r, (const char *const[]){"million.jsonl", NULL}, &o, 1 << 20, 4096);
    assert_int_equal(r.n_documents, 1000000);
    close_reading(&r);
    o.unit = ND_UNIT_LINE;
    read_all(&r, (const char *const[]){"m.txt", NULL}, &o, 1 << 20, 4096);
    assert_int_equal(r.n_documents, 1000000);
    assert_int_equal(r.records.len, 1000000);
    close_reading(&r);
}

/* Bytes of no sense, as any format and by their own look: documents or bad records, never worse. */
static void random_bytes_are_read_as_any_format(void **state)
{
    const size_t n = 300000;
    char *bytes = malloc(n);

    (void)state;
    assert_non_null(bytes);
    for (uint64_t seed = 0; seed < 3; seed++) {
        for (size_t i = 0; i < n; i++)
            bytes[i] = (char)nd_mix64(seed * n + i);
        write_file("random", bytes, n);
        for (int format = ND_FORMAT_AUTO; format < ND_FORMAT_FILTERED; format++) {
            struct nd_input_options o = nd_input_options_default();
            struct reading r = {0};

            o.format = (enum nd_format)format;
            o.binary = ND_BINARY_TEXT;
            read_all(&r, (const char *const[]){"random", NULL}, &o, 1 << 16, 100);
            if (format == ND_FORMAT_AUTO || format == ND_FORMAT_TEXT || format == ND_FORMAT_HTML)
                assert_int_equal(r.n_documents, 1);
            if (format == ND_FORMAT_TEXT)
                assert_true(r.repaired > 1000);
            close_reading(&r);
        }
    }
    free(bytes);
}

/* With a limit of 1000 bytes instead of 1 GiB: what is longer is named and passed over. */
static void records_beyond_the_limit_are_passed_over(void **state)
{
    struct nd_input_options o = nd_input_options_default();
    struct nd_buffer b = {0};

    (void)state;
    for (int i = 0; i < 3; i++) {
        put(&b, "{\"text\":\"%d\"}\n%s", i, TEXT_KEY);
        for (int j = 0; j < 200; j++)
            put(&b, "%01000d", j);
        put(&b, "%s", "\"}\n");
    }
    write_file("limit.jsonl", b.data, b.len);
    write_file("limit.txt", b.data, b.len);
    for (int i = 0; i < 2; i++) {
        const char *path = i ? "limit.txt" : "limit.jsonl";
        struct nd_batch batch = {0};
        struct reading r = {0};
        struct nd_input *input = nd_input_open(&path, 1, &o, note_problem, &r, NULL);
        size_t n = 0;

        input->record_max = 1000;
        while (nd_input_read(input, 4096, 100, &batch, NULL) > 0)
            for (size_t k = 0; k < batch.count; k++, n++)
                assert_int_equal(batch.records[k].line, 2 * n + 1);
        assert_int_equal(n, i ? 0 : 3);
        assert_int_equal(r.n_failures, i ? 1 : 3);
        assert_int_equal(nd_input_source(input, 0)->bytes, i ? 0 : b.len);
        close_reading(&r);
        nd_batch_release(&batch);
        nd_input_close(input);
    }
    nd_buffer_release(&b);
}

static void a_pipe_is_read_as_it_comes(void **state)
{
    struct nd_input_options o = nd_input_options_default();
    struct nd_batch batch = {0};
    struct nd_input *input;
    const struct nd_source *s;
    int saved = dup(STDIN_FILENO), ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    assert_int_equal(write(ends[1], "{\"text\":\"a\"}\n{\"text\":\"b\"}", 25), 25);
    (void)close(ends[0]);
    (void)close(ends[1]);
    input = nd_input_open((const char *const[]){"-"}, 1, &o, NULL, NULL, NULL);
    assert_int_equal(nd_input_read(input, 1 << 20, 100, &batch, NULL), 1);
    assert_int_equal(batch.count, 2);
    s = nd_input_source(input, 0);
    assert_int_equal(s->format, ND_FORMAT_JSONL);
    assert_false(s->is_rereadable);
    assert_int_equal(nd_input_read(input, 1 << 20, 100, &batch, NULL), 0);
    nd_batch_release(&batch);
    nd_input_close(input);
    assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
    (void)close(saved);
}

static void a_directory_in_place_of_a_file_is_no_crash(void **state)
{
    struct nd_input_options o = nd_input_options_default();

    (void)state;
    run("mkdir -p empty/empty && mkfifo empty/pipe");
    expect(&o, "empty", "", "warning: empty/pipe: is not a regular file: skipped\n");
}

/* Thousands of sources: each keeps its place and its name. */
static void sources_never_move(void **state)
{
    struct nd_input_options o = nd_input_options_default();
    struct nd_batch batch = {0};
    struct nd_input *input;
    const struct nd_source *first = NULL;
    size_t n = 0;

    (void)state;
    run("mkdir -p many && cd many && for i in $(seq 1000 3999); do echo $i > $i.txt; done");
    input = nd_input_open((const char *const[]){"many"}, 1, &o, NULL, NULL, NULL);
    while (nd_input_read(input, 1 << 20, 100, &batch, NULL) > 0) {
        if (!first)
            first = nd_input_source(input, 0);
        assert_ptr_equal(first, nd_input_source(input, 0));
        n += batch.count;
    }
    assert_int_equal(n, 3000);
    for (uint32_t i = 0; i < 3000; i++) {
        char name[32];

        (void)snprintf(name, sizeof name, "many/%d.txt", (int)i + 1000);
        assert_string_equal(nd_input_source(input, i)->path, name);
    }
    nd_batch_release(&batch);
    nd_input_close(input);
}

struct reading_again {
    struct nd_input *input;
    struct nd_batch *now, *next;
    size_t n_wrong;
    int status;
};

static void read_next(void *context)
{
    struct reading_again *a = context;

    a->status = nd_input_read(a->input, 50000, 1000, a->next, NULL);
}

static void read_again(void *context, size_t task, unsigned worker)
{
    struct reading_again *a = context;
    const struct nd_record *r = &a->now->records[task];
    char *bytes = NULL;
    size_t capacity = 0;
    uint64_t done, total;

    (void)worker;
    nd_input_progress(a->input, &done, &total);
    if (!nd_input_source(a->input, r->source)->is_container ||
        nd_input_reread(a->input, r->source, r->offset, r->bytes.len, &bytes, &capacity, NULL) ||
        memcmp(bytes, r->bytes.data, r->bytes.len) != 0 || done > total)
        __atomic_fetch_add(&a->n_wrong, 1, __ATOMIC_RELAXED);
    free(bytes);
}

/* As the command does: workers read records again while the next batch is being read. */
static void records_are_read_again_beside_the_reading(void **state)
{
    struct nd_input_options o = nd_input_options_default();
    struct nd_batch batch[2] = {0};
    struct reading_again a = {.now = &batch[0], .next = &batch[1]};
    struct nd_pool *pool = nd_pool_new(3, NULL);
    size_t n = 0;

    (void)state;
    run("mkdir -p beside && cd beside && for i in $(seq 100 299); do seq -f '{\"text\":\"%g\"}' 1 "
        "$((3 * i)) > $i.jsonl; done");
    a.input = nd_input_open((const char *const[]){"beside"}, 1, &o, NULL, NULL, NULL);
    for (read_next(&a); a.status > 0;) {
        struct nd_batch *swap = a.now;

        a.now = a.next;
        a.next = swap;
        n += a.now->count;
        nd_pool_begin(pool, read_next, &a);
        nd_pool_run(pool, a.now->count, read_again, &a);
        nd_pool_finish(pool);
    }
    assert_int_equal(a.status, 0);
    assert_int_equal(a.n_wrong, 0);
    assert_int_equal(n, 119700);
    nd_pool_free(pool);
    nd_batch_release(&batch[0]);
    nd_batch_release(&batch[1]);
    nd_input_close(a.input);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_that_shrinks_is_named),
        cmocka_unit_test(a_file_that_grows_is_read_to_its_new_end),
        cmocka_unit_test(a_line_of_200_megabytes_is_a_record),
        cmocka_unit_test(a_million_empty_records_are_read),
        cmocka_unit_test(random_bytes_are_read_as_any_format),
        cmocka_unit_test(records_beyond_the_limit_are_passed_over),
        cmocka_unit_test(a_pipe_is_read_as_it_comes),
        cmocka_unit_test(a_directory_in_place_of_a_file_is_no_crash),
        cmocka_unit_test(sources_never_move),
        cmocka_unit_test(records_are_read_again_beside_the_reading),
    };

    return cmocka_run_group_tests(tests, fixture_enter, fixture_leave);
}
