/* test_input_files.c - files, directories and batches: every record once, in order */
#include "input_fixture.h"

static struct nd_input_options defaults(void)
{
    return nd_input_options_default();
}

static void a_directory_is_read_in_byte_order_of_paths(void **state)
{
    struct nd_input_options o = defaults();

    (void)state;
    run("mkdir -p d/a d/b/c");
    write_text("d/a.txt", "3");
    write_text("d/a/x", "4");
    write_text("d/a-b", "2");
    write_text("d/b/c/deep.txt", "6");
    write_text("d/b/B", "5");
    write_text("d/Z", "1");
    expect(&o, "d", "d/Z{1}\nd/a-b{2}\nd/a.txt{3}\nd/a/x{4}\nd/b/B{5}\nd/b/c/deep.txt{6}\n", "");
    expect(&o, "d/", "d/Z{1}\nd/a-b{2}\nd/a.txt{3}\nd/a/x{4}\nd/b/B{5}\nd/b/c/deep.txt{6}\n", "");
    o.globs = (const char *const[]){"*.txt", "b/?"};
    o.n_globs = 2;
    expect(&o, "d", "d/a.txt{3}\nd/b/B{5}\nd/b/c/deep.txt{6}\n",
           "note: left out 3 files: 3 match no pattern that was given\n");
    expect(&o, "d/Z", "d/Z{1}\n", "");
}

static void links_are_followed_and_loops_are_named(void **state)
{
    struct nd_input_options o = defaults();

    (void)state;
    run("mkdir -p l/sub && ln -s .. l/sub/up && ln -s sub l/twin && ln -s nowhere l/dangling &&"
        "ln -s sub/x l/y && mkfifo l/pipe");
    write_text("l/sub/x", "one");
    expect(&o, "l", "l/sub/x{one}\nl/y{one}\n",
           "failed: l/dangling: cannot be read: No such file or directory\n"
           "warning: l/pipe: is not a regular file: skipped\n"
           "warning: l/sub/up: leads back to l (a loop of symbolic links): not followed\n"
           "warning: l/twin: is the same directory as l/sub: not read again\n");
}

static void absent_files_are_named_and_the_rest_is_read(void **state)
{
    struct nd_input_options o = defaults();
    struct reading r = {0};

    (void)state;
    write_text("here.txt", "here");
    read_all(&r, (const char *const[]){"absent.txt", "here.txt", "absent/", NULL}, &o, 1, 1);
    assert_log(&r, "here.txt{here}\n");
    assert_problems(&r, "failed: absent.txt: cannot be opened: No such file or directory\n"
                        "failed: absent/: cannot be opened: No such file or directory\n");
    close_reading(&r);
}

static void an_unreadable_file_is_named(void **state)
{
    struct nd_input_options o = defaults();

    (void)state;
    if (geteuid() == 0)
        skip(); /* root reads everything */
    write_text("secret", "x");
    run("chmod 0 secret");
    expect(&o, "secret", "", "failed: secret: cannot be opened: Permission denied\n");
}

/* Many records of odd lengths; any batch size gives the same ones, with offsets that are true. */
static void batches_of_any_size_give_the_same_records(void **state)
{
    static const size_t max_bytes[] = {0, 1, 7, 100, 4096, 70000, 1 << 22};
    struct nd_input_options o = defaults();
    struct nd_buffer expected = {0};

    (void)state;
    o.format = ND_FORMAT_TEXT;
    o.unit = ND_UNIT_LINE;
    for (int i = 0; i < 20000; i++)
        put(&expected, "%d%.*s\n", i, i % 97,
            "----------------------------------------------------"
            "---------------------------------------------");
    put(&expected, "%s", "the last has no line end");
    write_file("many", expected.data, expected.len);
    for (size_t i = 0; i < sizeof max_bytes / sizeof *max_bytes; i++) {
        for (size_t max_records = 0; max_records <= 100000; max_records = max_records * 50 + 1) {
            struct reading r = {0};

            read_all(&r, (const char *const[]){"many", NULL}, &o, max_bytes[i], max_records);
            assert_int_equal(r.n_records, 20001);
            assert_int_equal(r.records.len, expected.len);
            assert_memory_equal(r.records.data, expected.data, expected.len);
            close_reading(&r);
        }
    }
    nd_buffer_release(&expected);
}

static void records_can_be_read_again(void **state)
{
    struct nd_input_options o = defaults();
    struct nd_batch batch = {0};
    struct nd_input *input;
    struct nd_error err;
    char *bytes = NULL;
    size_t capacity = 0;
    uint32_t source;
    uint64_t offset;

    (void)state;
    write_text("again.jsonl", "{\"text\":\"one\"}\n\n{\"text\":\"two, longer\"}\n");
    write_text("file.txt", "a whole file");
    input =
        nd_input_open((const char *const[]){"again.jsonl", "file.txt"}, 2, &o, NULL, NULL, &err);
    assert_int_equal(nd_input_read(input, 1 << 20, 100, &batch, &err), 1);
    assert_int_equal(batch.count, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct nd_record *r = &batch.records[i];

        assert_true(nd_input_source(input, r->source)->is_rereadable);
        assert_int_equal(
            nd_input_reread(input, r->source, r->offset, r->bytes.len, &bytes, &capacity, &err),
            ND_OK);
        assert_memory_equal(bytes, r->bytes.data, r->bytes.len);
        for (int j = 0; j < 64; j++)
            assert_int_equal(bytes[r->bytes.len + (size_t)j], 0);
    }
    assert_int_equal(batch.records[1].line, 3);
    source = batch.records[0].source;
    offset = batch.records[0].offset;
    assert_int_equal(nd_input_reread(input, source, offset, 5000, &bytes, &capacity, &err),
                     ND_ECHANGED);
    run("echo more >> again.jsonl");
    assert_int_equal(nd_input_reread(input, source, offset, 5, &bytes, &capacity, &err),
                     ND_ECHANGED);
    assert_string_equal(err.message, "again.jsonl: was changed after it was first read");
    run("rm file.txt");
    assert_int_equal(nd_input_reread(input, batch.records[2].source, 0, 5, &bytes, &capacity, &err),
                     ND_EIO);
    free(bytes);
    nd_batch_release(&batch);
    nd_input_close(input);
}

static void sources_say_what_they_are(void **state)
{
    struct nd_input_options o = defaults();
    struct nd_batch batch = {0};
    struct nd_input *input;
    const struct nd_source *s;
    uint64_t done, total;

    (void)state;
    write_text("s.jsonl", "{\"text\":\"one\"}\n{\"text\":\"two\"}\n");
    run("gzip -k s.jsonl");
    input = nd_input_open((const char *const[]){"s.jsonl", "s.jsonl.gz"}, 2, &o, NULL, NULL, NULL);
    assert_int_equal(nd_input_read(input, 1 << 20, 100, &batch, NULL), 1);
    assert_int_equal(nd_input_read(input, 1 << 20, 100, &batch, NULL), 0);
    assert_int_equal(nd_input_sources(input), 2);
    s = nd_input_source(input, 0);
    assert_string_equal(s->path, "s.jsonl");
    assert_string_equal(s->compression, "none");
    assert_int_equal(s->format, ND_FORMAT_JSONL);
    assert_true(s->is_container && s->is_rereadable);
    assert_int_equal(s->bytes, 30);
    assert_int_equal(s->records, 2);
    assert_int_equal(s->bytes_hash, nd_hash_bytes("{\"text\":\"one\"}\n{\"text\":\"two\"}\n", 30));
    s = nd_input_source(input, 1);
    assert_string_equal(s->compression, "gzip");
    assert_int_equal(s->format, ND_FORMAT_JSONL);
    assert_false(s->is_rereadable);
    assert_int_equal(s->bytes, 30);
    nd_input_progress(input, &done, &total);
    assert_int_equal(done, total);
    assert_true(total > 30);
    nd_batch_release(&batch);
    nd_input_close(input);
}

static void no_input_is_refused(void **state)
{
    struct nd_input_options o = defaults();
    struct nd_error err;

    (void)state;
    assert_null(nd_input_open(NULL, 0, &o, NULL, NULL, &err));
    assert_int_equal(err.status, ND_EINVAL);
}

static void plain_text_comes_by_file_line_or_paragraph(void **state)
{
    struct nd_input_options o = defaults();

    (void)state;
    write_text("t.txt", "\n\none\r\ntwo\n\n \nthree\n\n");
    expect(&o, "t.txt", "t.txt{\n\none\r\ntwo\n\n \nthree\n\n}\n", "");
    o.unit = ND_UNIT_LINE;
    expect(&o, "t.txt",
           "t.txt:1{}\nt.txt:2{}\nt.txt:3{one}\nt.txt:4{two}\nt.txt:5{}\nt.txt:6{ }\nt.txt:7{three}"
           "\nt.txt:8{}\n",
           "");
    o.unit = ND_UNIT_PARAGRAPH;
    expect(&o, "t.txt", "t.txt:1{one\r\ntwo}\nt.txt:7{three}\n", "");
}

static void empty_files_are_documents_or_containers_of_none(void **state)
{
    struct nd_input_options o = defaults();

    (void)state;
    write_text("e.txt", "");
    write_text("e.jsonl", "");
    write_text("e.gz", "");
    expect(&o, "e.txt", "e.txt{}\n", "");
    expect(&o, "e.jsonl", "", "");
    expect(&o, "e.gz", "", "failed: e.gz: is empty: gzip data was expected\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_directory_is_read_in_byte_order_of_paths),
        cmocka_unit_test(links_are_followed_and_loops_are_named),
        cmocka_unit_test(absent_files_are_named_and_the_rest_is_read),
        cmocka_unit_test(an_unreadable_file_is_named),
        cmocka_unit_test(batches_of_any_size_give_the_same_records),
        cmocka_unit_test(records_can_be_read_again),
        cmocka_unit_test(sources_say_what_they_are),
        cmocka_unit_test(no_input_is_refused),
        cmocka_unit_test(plain_text_comes_by_file_line_or_paragraph),
        cmocka_unit_test(empty_files_are_documents_or_containers_of_none),
    };

    return cmocka_run_group_tests(tests, fixture_enter, fixture_leave);
}
