/* test_input_states.c - what is known of each file once it was read */
#include "input_fixture.h"

static void read_to_the_end(struct nd_input *input)
{
    struct nd_batch batch = {0};

    while (nd_input_read(input, 1 << 16, 10, &batch, NULL) > 0)
        for (size_t i = 0; i < batch.count; i++)
            assert_non_null(nd_input_source(input, batch.records[i].source)->file);
    nd_batch_release(&batch);
}

static struct nd_input *open_and_read(const char *const *paths, size_t n)
{
    struct nd_input_options o = nd_input_options_default();
    struct nd_input *input = nd_input_open(paths, n, &o, NULL, NULL, NULL);

    assert_non_null(input);
    assert_int_equal(nd_input_files(input), 0);
    read_to_the_end(input);
    return input;
}

static void check(struct nd_input *input, size_t i, const char *path, enum nd_read_state state,
                  uint64_t records)
{
    const struct nd_input_file *file = nd_input_file(input, i);

    assert_string_equal(file->path, path);
    assert_int_equal(file->state, state);
    assert_int_equal(file->records, records);
    assert_int_equal(file->bad_records, 0);
}

static void a_file_is_read_wholly_partly_or_not_at_all(void **state)
{
    const char *const paths[] = {"whole.jsonl",  "absent.jsonl", "cut.jsonl.gz",
                                 "nocolumn.csv", "quote.csv",    "empty.jsonl"};
    struct nd_input *input;

    (void)state;
    write_text("whole.jsonl", "{\"text\":\"a\"}\n{\"text\":\"b\"}\n");
    run("seq 1 100000 | sed 's/.*/{\"text\":\"word &\"}/' | gzip | head -c 100000 > cut.jsonl.gz");
    write_text("nocolumn.csv", "id,body\n1,a\n");
    write_text("quote.csv", "id,text\n1,a\n2,\"b\n3,c\n");
    write_text("empty.jsonl", "");
    input = open_and_read(paths, 6);
    assert_int_equal(nd_input_files(input), 6);
    check(input, 0, paths[0], ND_READ_WHOLE, 2);
    assert_int_equal(nd_input_file(input, 0)->bytes, 26);
    assert_int_equal(nd_input_file(input, 0)->size, 26);
    check(input, 1, paths[1], ND_READ_FAILED, 0);
    assert_int_equal(nd_input_file(input, 2)->state, ND_READ_PARTLY);
    assert_true(nd_input_file(input, 2)->records > 1000);
    check(input, 3, paths[3], ND_READ_FAILED, 0);
    check(input, 4, paths[4], ND_READ_PARTLY, 1);
    check(input, 5, paths[5], ND_READ_WHOLE, 0);
    assert_int_equal(nd_input_source(input, 0)->state, ND_READ_WHOLE);
    assert_int_equal(nd_input_source(input, 1)->state, ND_READ_PARTLY);
    nd_input_close(input);
}

static void an_archive_is_one_file_and_its_entries_have_states_of_their_own(void **state)
{
    const char *const path = "a.tar";
    struct nd_input *input;

    (void)state;
    write_text("one.txt", "one");
    write_text("two.csv", "id,body\n1,a\n");
    write_text("three.jsonl", "{\"text\":\"a\"}\n{\"text\":\"b\"}\n");
    run("tar cf a.tar one.txt two.csv three.jsonl");
    input = open_and_read(&path, 1);
    assert_int_equal(nd_input_files(input), 1);
    check(input, 0, path, ND_READ_PARTLY, 3);
    assert_int_equal(nd_input_sources(input), 3);
    assert_int_equal(nd_input_source(input, 0)->state, ND_READ_WHOLE);
    assert_int_equal(nd_input_source(input, 1)->state, ND_READ_FAILED);
    assert_int_equal(nd_input_source(input, 2)->state, ND_READ_WHOLE);
    nd_input_close(input);
}

static void a_file_whose_end_was_not_reached_is_open(void **state)
{
    const char *const path = "long.jsonl";
    struct nd_input_options o = nd_input_options_default();
    struct nd_input *input = nd_input_open(&path, 1, &o, NULL, NULL, NULL);
    struct nd_batch batch = {0};

    (void)state;
    write_text("long.jsonl", "{\"text\":\"a\"}\n{\"text\":\"b\"}\n");
    assert_int_equal(nd_input_read(input, 1 << 16, 1, &batch, NULL), 1);
    assert_int_equal(nd_input_file(input, 0)->state, ND_READ_OPEN);
    assert_int_equal(nd_input_file(input, 0)->records, 1);
    nd_batch_release(&batch);
    nd_input_close(input);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read_wholly_partly_or_not_at_all),
        cmocka_unit_test(an_archive_is_one_file_and_its_entries_have_states_of_their_own),
        cmocka_unit_test(a_file_whose_end_was_not_reached_is_open),
    };

    return cmocka_run_group_tests(tests, fixture_enter, fixture_leave);
}
