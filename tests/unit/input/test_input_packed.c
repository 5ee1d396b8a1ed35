/* test_input_packed.c - compressed files and archives: whole, in several parts, damaged */
#include "input_fixture.h"

#include "base/hash.h"

static const char *const PROGRAM[] = {"gzip", "zstd", "xz", "bzip2", "lz4"};
static const char *const SUFFIX[] = {"gz", "zst", "xz", "bz2", "lz4"};
enum { KINDS = 5, LINES = 8000 };

static struct nd_buffer corpus;

/* Records that compress, but not to nothing. */
static int make_corpus(void **state)
{
    if (fixture_enter(state) != 0)
        return -1;
    for (int i = 0; i < LINES; i++)
        put(&corpus, "{\"id\":%d,\"text\":\"%016llx some words that are the same\"}\n", i,
            (unsigned long long)nd_mix64((uint64_t)i));
    write_file("c.jsonl", corpus.data, corpus.len);
    for (int k = 0; k < KINDS; k++) {
        char command[200];

        (void)snprintf(command, sizeof command, "%s -q < c.jsonl > c.jsonl.%s", PROGRAM[k],
                       SUFFIX[k]);
        run(command);
    }
    return 0;
}

static int remove_corpus(void **state)
{
    nd_buffer_release(&corpus);
    return fixture_leave(state);
}

static void read_one(struct reading *r, const char *path)
{
    struct nd_input_options o = nd_input_options_default();

    read_all(r, (const char *const[]){path, NULL}, &o, 1 << 20, 100000);
}

static void assert_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in: %s", part, text);
}

/* The records read are the first ones, and nothing else. */
static void assert_beginning(const struct reading *r)
{
    assert_true(r->records.len <= corpus.len);
    if (r->records.len)
        assert_memory_equal(r->records.data, corpus.data, r->records.len);
    assert_int_equal(r->n_bad, 0);
}

static void every_compression_gives_the_same_records(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        char path[40];
        struct reading r = {0};

        (void)snprintf(path, sizeof path, "c.jsonl.%s", SUFFIX[k]);
        read_one(&r, path);
        assert_problems(&r, "");
        assert_int_equal(r.n_documents, LINES);
        assert_beginning(&r);
        close_reading(&r);
    }
}

static void several_members_are_read_as_one(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        char command[200], path[40];
        struct reading r = {0};

        (void)snprintf(path, sizeof path, "twice.jsonl.%s", SUFFIX[k]);
        (void)snprintf(command, sizeof command, "cat c.jsonl.%s c.jsonl.%s > %s", SUFFIX[k],
                       SUFFIX[k], path);
        run(command);
        read_one(&r, path);
        assert_problems(&r, "");
        assert_int_equal(r.n_documents, 2 * LINES);
        close_reading(&r);
    }
}

/* How many whole lines the compression's own program gets from a file. */
static size_t lines_by_program(int kind, const char *path)
{
    char command[200];
    struct nd_buffer b = {0};
    size_t len, lines = 0;

    (void)snprintf(command, sizeof command, "%s -dc < %s > lines.out 2> /dev/null; true",
                   PROGRAM[kind], path);
    run(command);
    b.data = slurp("lines.out", &len);
    for (size_t i = 0; i < len; i++)
        lines += b.data[i] == '\n';
    free(b.data);
    return lines;
}

/* Cut or damaged at many places: all that can be decoded is read, as the programs do. */
static void all_that_can_be_decoded_is_read(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        char path[40], bad[40];
        size_t len;

        if (strcmp(SUFFIX[k], "lz4") == 0) /* libarchive gives whole blocks of it */
            continue;
        (void)snprintf(path, sizeof path, "c.jsonl.%s", SUFFIX[k]);
        (void)snprintf(bad, sizeof bad, "bad.jsonl.%s", SUFFIX[k]);
        char *bytes = slurp(path, &len);

        for (size_t at = len / 9; at < len - 8; at += len / 9) {
            for (int is_cut = 0; is_cut < 2; is_cut++) {
                struct reading r = {0};
                char was = bytes[at];

                bytes[at] ^= 0x55;
                write_file(bad, bytes, is_cut ? at : len);
                bytes[at] = was;
                read_one(&r, bad);
                assert_int_equal(r.n_failures, 1);
                /* Behind a wrong byte may stand a few that decode, an empty line among them. */
                if (r.n_records + !is_cut < lines_by_program(k, bad))
                    fail_msg("%s, byte %zu, %s: %zu of %zu records", bad, at,
                             is_cut ? "cut" : "wrong", r.n_records, lines_by_program(k, bad));
                close_reading(&r);
            }
        }
        free(bytes);
    }
}

/* However few bytes are left, it is a failure, under its name and without one. */
static void what_is_cut_within_its_first_bytes_has_failed(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        char path[40];
        size_t len;

        (void)snprintf(path, sizeof path, "c.jsonl.%s", SUFFIX[k]);
        char *bytes = slurp(path, &len);

        (void)snprintf(path, sizeof path, "few.jsonl.%s", SUFFIX[k]);
        for (size_t n = 0; n <= 24; n++) {
            for (int is_named = 0; is_named < 2; is_named++) {
                struct reading r = {0};

                if (!is_named && (n == 0 || (n < 5 && bytes[0] == 'B')))
                    continue;
                write_file(is_named ? path : "few", bytes, n);
                read_one(&r, is_named ? path : "few");
                if (r.n_failures != 1 || r.n_warnings || r.n_records)
                    fail_msg("%zu bytes of %s: %s%s", n, path, r.problems.data, r.log.data);
                close_reading(&r);
            }
        }
        free(bytes);
    }
}

static void archives_cut_anywhere_have_failed(void **state)
{
    static const char *const path[] = {"u.tar", "u.zip", "u.tar.zst", "u.tgz"};

    (void)state;
    run("printf hello > a.txt; printf more > b.txt; rm -f u.zip; tar cf u.tar a.txt b.txt;"
        "zip -q u.zip a.txt b.txt; zstd -qf u.tar; gzip -c u.tar > u.tgz");
    for (int i = 0; i < 4; i++) {
        char cut[20];
        size_t len;
        char *bytes = slurp(path[i], &len);

        (void)snprintf(cut, sizeof cut, "cut%s", path[i] + 1);
        for (size_t at = 1; at < (i ? len : 2048); at += at < 20 ? 1 : 37) {
            struct reading r = {0};

            write_file(cut, bytes, at);
            read_one(&r, cut);
            if (r.n_failures < 1)
                fail_msg("%s cut at %zu: %s%s", cut, at, r.problems.data, r.log.data);
            close_reading(&r);
        }
        free(bytes);
    }
}

/* Cut at many places: never silent, and what comes before the cut is given. */
static void truncated_files_are_named(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        char path[40], cut[40];
        size_t len;

        (void)snprintf(path, sizeof path, "c.jsonl.%s", SUFFIX[k]);
        (void)snprintf(cut, sizeof cut, "cut.jsonl.%s", SUFFIX[k]);
        char *bytes = slurp(path, &len);

        for (size_t at = 12; at < len; at += len / 11) {
            struct reading r = {0};

            write_file(cut, bytes, at);
            read_one(&r, cut);
            assert_beginning(&r);
            if (r.n_failures != 1)
                fail_msg("%s cut at %zu of %zu: %s", cut, at, len, r.problems.data);
            assert_contains(r.problems.data, cut);
            close_reading(&r);
        }
        free(bytes);
    }
}

static void what_follows_or_a_damaged_second_part_is_named(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        char path[40], odd[40];
        struct nd_buffer b = {0};
        size_t len;

        (void)snprintf(path, sizeof path, "c.jsonl.%s", SUFFIX[k]);
        (void)snprintf(odd, sizeof odd, "odd.jsonl.%s", SUFFIX[k]);
        char *bytes = slurp(path, &len);

        for (int what = 0; what < 4; what++) {
            struct reading r = {0};

            b.len = 0;
            assert_true(nd_buffer_append(&b, bytes, len));
            if (what == 0) /* text behind */
                assert_true(nd_buffer_append(&b, "and more", 8));
            else /* a second part, whose start, middle or end is wrong */
                assert_true(nd_buffer_append(&b, bytes, len));
            if (what > 0)
                memset(b.data + (what == 1   ? len
                                 : what == 2 ? len + len / 2
                                             : 2 * len - 6),
                       'x', 4);
            write_file(odd, b.data, b.len);
            read_one(&r, odd);
            if (r.n_failures != 1 || r.n_documents < (k == 0 ? LINES : LINES / 2))
                fail_msg("%s, case %d: %zu documents; %s", odd, what, r.n_documents,
                         r.problems.data);
            close_reading(&r);
        }
        nd_buffer_release(&b);
        free(bytes);
    }
}

/* One byte wrong anywhere in gzip data is found: in the header, the data, checksum and length. */
static void a_wrong_byte_in_gzip_is_found(void **state)
{
    size_t len;
    char *bytes = slurp("c.jsonl.gz", &len);

    (void)state;
    for (size_t at = 20; at<len; at += at> len - 20 ? 1 : 10007) {
        struct reading r = {0};

        bytes[at] ^= 0x10;
        write_file("wrong.jsonl.gz", bytes, len);
        bytes[at] ^= 0x10;
        read_one(&r, "wrong.jsonl.gz");
        if (r.n_failures != 1)
            fail_msg("byte %zu of %zu: %s", at, len, r.problems.data);
        close_reading(&r);
    }
    free(bytes);
}

/*
 * Members as web archives have them: small ones, an empty one, one with a checksum of its header, two
 * of more than a megabyte, and enough in all that some lie across what is read at a time.
 */
static void make_members(void)
{
    run("split -d -a 3 -l 40 c.jsonl part. && : > part.000 && gzip -n part.* &&"
        "(for i in 1 2 3 4 5 6 7 8 9; do cat part.0*.gz part.1*.gz; done;"
        " gzip -nc c.jsonl c.jsonl;"
        " printf '\\037\\213\\010\\002\\0\\0\\0\\0\\0\\003\\247\\167';"
        " tail -c +11 part.001.gz; cat part.00*.gz) > members.jsonl.gz; rm part.*");
}

static void gzip_of_many_members_is_read_as_zlib_reads_it(void **state)
{
    struct nd_input_options o = nd_input_options_default();
    size_t len;

    (void)state;
    make_members();
    run("gzip -dc members.jsonl.gz > members.jsonl");
    char *whole = slurp("members.jsonl", &len);

    for (size_t bytes = 1000; bytes <= 1000000; bytes *= 10) {
        struct reading r = {0};

        read_all(&r, (const char *const[]){"members.jsonl.gz", NULL}, &o, bytes, 100000);
        assert_problems(&r, "");
        assert_int_equal(r.records.len, len);
        assert_memory_equal(r.records.data, whole, len);
        close_reading(&r);
    }
    free(whole);
}

/* One byte wrong in one of the last members is found, and all members before it are read. */
static void a_wrong_byte_in_a_late_member_is_found(void **state)
{
    size_t len, member = 0, before;
    char *bytes = slurp("members.jsonl.gz", &len);

    (void)state;
    for (size_t at = len - 1; !member; at--)
        member = bytes[at] == 0x1f && bytes[at + 1] == (char)0x8b ? at : 0;
    write_file("before.jsonl.gz", bytes, member);
    before = lines_by_program(0, "before.jsonl.gz");
    for (size_t at = member + 12; at<len; at += at> len - 12 ? 1 : 97) {
        struct reading r = {0};

        bytes[at] ^= 0x10;
        write_file("wrong.jsonl.gz", bytes, len);
        bytes[at] ^= 0x10;
        read_one(&r, "wrong.jsonl.gz");
        if (r.n_failures != 1 || r.n_records < before)
            fail_msg("byte %zu of %zu: %zu records, %s", at, len, r.n_records, r.problems.data);
        close_reading(&r);
    }
    free(bytes);
}

static void gzip_may_be_padded_with_zeroes(void **state)
{
    struct reading r = {0};

    (void)state;
    run("(cat c.jsonl.gz; head -c 3000 /dev/zero) > padded.jsonl.gz");
    read_one(&r, "padded.jsonl.gz");
    assert_problems(&r, "");
    assert_int_equal(r.n_documents, LINES);
    close_reading(&r);
}

static void make_tree(void)
{
    run("mkdir -p tree/sub && gzip -c c.jsonl > tree/sub/c.jsonl.gz && printf hello > tree/a.txt &&"
        "printf '{\"text\":\"x\"}\\n{\"text\":\"y\"}' > tree/b.jsonl && ln -sf a.txt tree/link &&"
        "ln -f tree/a.txt tree/zz-hard");
}

static void archives_give_their_files(void **state)
{
    static const char *const command[] = {
        "tar cf t.tar --sort=name tree",
        "tar czf t.tar.gz --sort=name tree",
        "tar c --sort=name tree | zstd -q > t.tar.zst",
        "tar c --sort=name tree | xz > t.tar.xz",
        "zip -qrX t.zip tree/a.txt tree/b.jsonl tree/sub/c.jsonl.gz",
        "zip -qrX - tree/a.txt tree/b.jsonl tree/sub/c.jsonl.gz | gzip > t.zip.gz",
        "tar cf t.tar --format=v7 --sort=name tree",
        "tar cf t.tar --format=posix --sort=name tree"};
    static const char *const path[] = {"t.tar", "t.tar.gz", "t.tar.zst", "t.tar.xz",
                                       "t.zip", "t.zip.gz", "t.tar",     "t.tar"};

    (void)state;
    make_tree();
    for (int i = 0; i < 8; i++) {
        struct reading r = {0};
        char expected[200];

        run(command[i]);
        read_one(&r, path[i]);
        assert_problems(&r, "");
        assert_int_equal(r.n_documents, LINES + 3);
        (void)snprintf(expected, sizeof expected,
                       "%s!tree/a.txt{hello}\n%s!tree/b.jsonl:1{x}\n%s!tree/b.jsonl:2{y}\n"
                       "%s!tree/sub/c.jsonl.gz:1[0]{",
                       path[i], path[i], path[i], path[i]);
        assert_memory_equal(r.log.data, expected, strlen(expected));
        close_reading(&r);
    }
}

static void files_in_archives_have_the_hash_of_the_archive(void **state)
{
    static const char *const path[] = {"t.tar.gz", "t.zip"};
    struct nd_input_options o = nd_input_options_default();

    (void)state;
    make_tree();
    run("rm -f t.zip; tar czf t.tar.gz tree/a.txt tree/b.jsonl tree/sub &&"
        "zip -qr t.zip tree/a.txt tree/b.jsonl tree/sub");
    for (int i = 0; i < 2; i++) {
        struct nd_batch batch = {0};
        struct nd_input *input = nd_input_open(&path[i], 1, &o, NULL, NULL, NULL);
        const struct nd_source *s;
        size_t len;
        char *bytes = slurp(path[i], &len);

        while (nd_input_read(input, 1 << 20, 1000, &batch, NULL) > 0)
            ;
        assert_int_equal(nd_input_sources(input), 3);
        for (uint32_t k = 0; k < 3; k++) {
            s = nd_input_source(input, k);
            assert_string_equal(s->path, path[i]);
            assert_string_equal(s->archive, i ? "zip" : "tar");
            assert_non_null(s->entry);
            assert_int_equal(s->bytes_hash, nd_hash_bytes(bytes, len));
        }
        free(bytes);
        nd_batch_release(&batch);
        nd_input_close(input);
    }
}

static void damaged_archives_are_named_and_read_as_far_as_they_go(void **state)
{
    struct reading r = {0};

    (void)state;
    make_tree();
    run("tar cf cut.tar --sort=name tree && head -c 3000 cut.tar > cut1.tar &&"
        "head -c 1536 cut.tar > cut2.tar");
    read_one(&r, "cut1.tar");
    assert_int_equal(r.n_failures, 1);
    assert_contains(r.log.data, "cut1.tar!tree/a.txt{hello}");
    close_reading(&r);
    read_one(&r, "cut2.tar");
    assert_log(&r, "cut2.tar!tree/a.txt{hello}\n");
    assert_problems(&r, "failed: cut2.tar: tar ends too early: its end mark is missing; 1 files in "
                        "it were found before that, the rest is lost\n");
    close_reading(&r);
    run("printf 'stored text that is not compressed' > s.txt; rm -f bad.zip;"
        "zip -q0 bad.zip s.txt tree/a.txt;"
        "sed -i 's/stored text/damage text/' bad.zip");
    read_one(&r, "bad.zip");
    assert_int_equal(r.n_failures, 1);
    assert_contains(r.problems.data, "bad.zip!s.txt: zip data is damaged: ZIP bad CRC");
    assert_log(&r, "bad.zip!tree/a.txt{hello}\n");
    close_reading(&r);
}

static void odd_archives_are_told(void **state)
{
    struct reading r = {0};

    (void)state;
    make_tree();
    run("tar cf in.tar tree/a.txt && tar cf out.tar in.tar tree/b.jsonl && mkdir -p none &&"
        "tar cf none.tar none");
    read_one(&r, "out.tar");
    assert_problems(&r, "failed: out.tar!in.tar: is an archive within an archive: not read\n");
    assert_log(&r, "out.tar!tree/b.jsonl:1{x}\nout.tar!tree/b.jsonl:2{y}\n");
    close_reading(&r);
    read_one(&r, "none.tar");
    assert_problems(&r, "warning: none.tar: is an archive without files\n");
    close_reading(&r);
}

static void sparse_files_come_with_their_holes(void **state)
{
    struct nd_input_options o = nd_input_options_default();
    struct reading r = {0};

    (void)state;
    run("rm -f sparse.txt; truncate -s 1000000 sparse.txt && printf end >> sparse.txt &&"
        "truncate -s 2000000 sparse.txt && tar cSf sparse.tar sparse.txt");
    o.binary = ND_BINARY_TEXT; /* a hole is made of NULs */
    read_all(&r, (const char *const[]){"sparse.tar", NULL}, &o, 1 << 20, 100000);
    assert_int_equal(r.n_failures, 0);
    assert_int_equal(r.records.len, 2000000);
    assert_memory_equal(r.records.data + 1000000, "end", 4);
    close_reading(&r);
}

static void names_that_promise_compression_are_checked(void **state)
{
    struct nd_input_options o = nd_input_options_default();

    (void)state;
    write_text("plain.txt.gz", "plain text");
    expect(&o, "plain.txt.gz", "plain.txt.gz{plain text}\n",
           "warning: plain.txt.gz: is named like gzip but its compression is none\n");
    run("printf 'in zstd' | zstd -q > really.txt.gz; printf quiet | xz > noname");
    expect(&o, "really.txt.gz", "really.txt.gz{in zstd}\n",
           "warning: really.txt.gz: is named like gzip but its compression is zstd\n");
    expect(&o, "noname", "noname{quiet}\n", "");
    run("(printf '\\120\\052\\115\\030\\004\\000\\000\\000abcd'; printf parallel | zstd -q) > "
        "p.zst");
    expect(&o, "p.zst", "p.zst{parallel}\n", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_compression_gives_the_same_records),
        cmocka_unit_test(several_members_are_read_as_one),
        cmocka_unit_test(truncated_files_are_named),
        cmocka_unit_test(all_that_can_be_decoded_is_read),
        cmocka_unit_test(what_is_cut_within_its_first_bytes_has_failed),
        cmocka_unit_test(archives_cut_anywhere_have_failed),
        cmocka_unit_test(what_follows_or_a_damaged_second_part_is_named),
        cmocka_unit_test(a_wrong_byte_in_gzip_is_found),
        cmocka_unit_test(gzip_of_many_members_is_read_as_zlib_reads_it),
        cmocka_unit_test(a_wrong_byte_in_a_late_member_is_found),
        cmocka_unit_test(gzip_may_be_padded_with_zeroes),
        cmocka_unit_test(archives_give_their_files),
        cmocka_unit_test(files_in_archives_have_the_hash_of_the_archive),
        cmocka_unit_test(damaged_archives_are_named_and_read_as_far_as_they_go),
        cmocka_unit_test(odd_archives_are_told),
        cmocka_unit_test(sparse_files_come_with_their_holes),
        cmocka_unit_test(names_that_promise_compression_are_checked),
    };

    return cmocka_run_group_tests(tests, make_corpus, remove_corpus);
}
