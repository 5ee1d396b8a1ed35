/* test_run_options.c - the options of a run by their names: set, read back, refused, copied */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <neardup/run.h>

#include "failing_malloc.h"
#include "reading/run_options.h"

/* Every key, a value that it takes, its default, and a value that is refused (NULL: none is). */
static const struct {
    const char *key, *value, *standard, *refused;
} rows[] = {
    {"against", "seen.sketch", NULL, ""},
    {"also-read", "recipe.ini", NULL, ""},
    {"annotate", "yes", "no", "1"},
    {"append", "yes", "no", "on"},
    {"binary", "text", "skip", "pdf"},
    {"charset", "", NULL, NULL},
    {"checkpoint", "dir", NULL, ""},
    {"clusters", "c.tsv", NULL, ""},
    {"copies-field", "n", NULL, ""},
    {"copy-to", "dir", NULL, ""},
    {"df-auto", "words.df", NULL, ""},
    {"differs", "yes", "no", "1"},
    {"dry-run", "yes", "no", "true"},
    {"exclude", "*.bak", NULL, ""},
    {"filter", "pdf:pdftotext - -", NULL, "pdf:"},
    {"filter-limits", "time=5", "time=60,memory=2G,output=64M", "time=0"},
    {"force", "yes", "no", "1"},
    {"format", "mbox", "auto", "parquet"},
    {"glob", "*.txt", NULL, ""},
    {"id-field", "url", "id", ""},
    {"known-sketches", "a.sketch", NULL, ""},
    {"link-to", "dir", NULL, ""},
    {"manifest", "m.jsonl", NULL, ""},
    {"report", "r.html", NULL, ""},
    {"max-bad", "5%", NULL, "3/2"},
    {"memory", "2G", NULL, "1M"},
    {"missing-text", "empty", "skip", "bad"},
    {"never", "kind=a,b", NULL, "kind="},
    {"no-mail", "yes", "no", ""},
    {"null", "yes", "no", "0"},
    {"only-against", "yes", "no", "on"},
    {"output", "out.jsonl", NULL, ""},
    {"output-dir", "dir", NULL, ""},
    {"output-level", "9", NULL, "20"},
    {"part", "2/7", NULL, "8/7"},
    {"path", "in.jsonl", NULL, NULL},
    {"pin-threads", "yes", "no", "on"},
    {"predicted", "plan.json", NULL, ""},
    {"prefer", "lang=en,de", NULL, "=en"},
    {"record-field", "lang", NULL, ""},
    {"record-length", "yes", "no", ""},
    {"removed", "r.jsonl", NULL, ""},
    {"revisit", "r.warc.gz", NULL, ""},
    {"security-field", "readers", NULL, ""},
    {"sketches", "yes", "no", "on"},
    {"strict", "yes", "no", "YES"},
    {"summary", "s.json", NULL, ""},
    {"tags", "options.tags", NULL, "/dev/null"},
    {"text-field", "body", "text", ""},
    {"text-format", "html", "plain", "htm"},
    {"threads", "7", NULL, "0"},
    {"tmp", "/var/tmp", "/tmp", ""},
    {"unit", "paragraph", "file", "sentence"},
    {"within", "host", NULL, ""},
};
#define N_ROWS (sizeof rows / sizeof *rows)

static struct nd_run_options *make(void)
{
    struct nd_run_options *options = nd_run_options_new(NULL);

    assert_non_null(options);
    return options;
}

static void set(struct nd_run_options *options, const char *key, const char *value)
{
    struct nd_error err = {0};

    if (nd_run_options_set(options, key, value, &err) != ND_OK)
        fail_msg("%s", err.message);
}

static void assert_value(const struct nd_run_options *options, size_t row, const char *value)
{
    const char *is = nd_run_options_get(options, rows[row].key, 0);

    if (!is != !value || (is && strcmp(is, value) != 0))
        fail_msg("%s is %s, not %s", rows[row].key, is ? is : "(nothing)",
                 value ? value : "(nothing)");
}

static void every_key_is_set_read_back_and_cleared(void **state)
{
    const struct nd_input_options standard = nd_input_options_default();
    struct nd_run_options *options = make();

    (void)state;
    assert_int_equal(N_ROWS, ND_RUN_KEYS);
    for (size_t i = 0; i < N_ROWS; i++) {
        char value[32];

        strcpy(value, rows[i].value);
        assert_value(options, i, rows[i].standard);
        set(options, rows[i].key, value);
        memset(value, 'x', strlen(value)); /* what was set is a copy */
        assert_value(options, i, rows[i].value);
        assert_null(nd_run_options_get(options, rows[i].key, 1));
    }
    assert_string_equal(options->also_read[0], "recipe.ini");
    assert_int_equal(options->input.binary, ND_BINARY_TEXT);
    assert_string_equal(options->input.charset, "");
    assert_int_equal(options->input.format, ND_FORMAT_MBOX);
    assert_string_equal(options->input.globs[0], "*.txt");
    assert_string_equal(options->input.excludes[0], "*.bak");
    assert_string_equal(options->input.id_field, "url");
    assert_int_equal(options->max_bad.p, 1);
    assert_int_equal(options->max_bad.q, 20);
    assert_int_equal(options->input.missing_text, ND_MISSING_EMPTY);
    assert_int_equal(options->input.text_format, ND_TEXT_HTML);
    assert_int_equal(options->input.unit, ND_UNIT_PARAGRAPH);
    assert_string_equal(options->paths[0], "in.jsonl");
    assert_int_equal(options->threads, 7);
    assert_string_equal(options->output, "out.jsonl");
    assert_string_equal(options->output_dir, "dir");
    assert_string_equal(options->copies_field, "n");
    assert_string_equal(options->copy_to, "dir");
    assert_string_equal(options->link_to, "dir");
    assert_string_equal(options->removed, "r.jsonl");
    assert_string_equal(options->manifest, "m.jsonl");
    assert_string_equal(options->clusters, "c.tsv");
    assert_string_equal(options->summary, "s.json");
    assert_string_equal(options->df_auto, "words.df");
    assert_string_equal(options->within, "host");
    assert_string_equal(options->tmp, "/var/tmp");
    assert_string_equal(options->against[0], "seen.sketch");
    assert_string_equal(options->checkpoint, "dir");
    assert_string_equal(options->known_sketches[0], "a.sketch");
    assert_true(options->append && options->only_against && options->annotate && options->differs &&
                options->dry_run && options->null_paths && options->strict &&
                options->pin_threads && options->input.no_mail);
    for (size_t i = 0; i < N_ROWS; i++) {
        nd_run_options_clear(options, rows[i].key);
        assert_value(options, i, rows[i].standard);
    }
    assert_int_equal(options->n_paths, 0);
    assert_int_equal(options->input.n_text_fields, 1);
    assert_memory_equal(&options->input, &standard, sizeof standard);
    assert_null(options->output);
    assert_null(options->prefer_field);
    assert_int_equal(
        options->n_prefer + options->n_never + options->n_also_read + options->n_against, 0);
    assert_int_equal(options->threads, 0);
    assert_int_equal(options->max_bad.q, 0);
    assert_false(options->strict);
    nd_run_options_clear(options, "no-such-key");
    nd_run_options_free(options);
    nd_run_options_free(NULL);
}

static void what_is_wrong_is_refused_by_name(void **state)
{
    struct nd_run_options *options = make();
    struct nd_error err;

    (void)state;
    for (size_t i = 0; i < N_ROWS; i++) {
        if (rows[i].refused) {
            assert_int_equal(nd_run_options_set(options, rows[i].key, rows[i].refused, &err),
                             ND_EINVAL);
            assert_non_null(strstr(err.message, rows[i].key));
        }
        assert_value(options, i, rows[i].standard);
        if (rows[i].standard && strcmp(rows[i].standard, "no") == 0)
            continue;
        assert_int_equal(nd_run_options_set(options, rows[i].key, NULL, &err), ND_EINVAL);
        assert_non_null(strstr(err.message, rows[i].key));
    }
    assert_int_equal(nd_run_options_set(options, "treads", "1", &err), ND_EINVAL);
    assert_string_equal(err.message, "there is no option treads; did you mean threads?");
    assert_int_equal(nd_run_options_set(options, "xyzzyplugh", "1", &err), ND_EINVAL);
    assert_string_equal(err.message, "there is no option xyzzyplugh");
    assert_int_equal(nd_run_options_set(options, "unit", "lines", &err), ND_EINVAL);
    assert_string_equal(err.message,
                        "unit: 'lines' is not one of file, line, paragraph; did you mean 'line'?");
    assert_int_equal(nd_run_options_set(options, "max-bad", "x%", NULL), ND_EINVAL);
    assert_int_equal(nd_run_options_set(options, "threads", "1025", NULL), ND_EINVAL);
    assert_int_equal(nd_run_options_set(options, "threads", "4 ", NULL), ND_EINVAL);
    assert_null(nd_run_options_get(options, "treads", 0));
    assert_int_equal(nd_run_dedup(options, NULL, &(struct nd_run_summary){0}, &err), ND_EINVAL);
    assert_string_equal(err.message, "the recipe is NULL");
    nd_run_options_free(options);
}

static void lists_grow_and_single_values_are_replaced(void **state)
{
    struct nd_run_options *options = make();
    char name[16];

    (void)state;
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "%d", i);
        set(options, "path", name);
        if (i % 3 == 0) /* what is refused leaves the list alone */
            assert_int_equal(nd_run_options_set(options, "glob", "", NULL), ND_EINVAL);
        set(options, "glob", name);
    }
    assert_int_equal(options->n_paths, 1000);
    assert_int_equal(options->input.n_globs, 1000);
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "%d", i);
        assert_string_equal(options->paths[i], name);
        assert_string_equal(options->input.globs[i], name);
        assert_string_equal(nd_run_options_get(options, "path", (size_t)i), name);
    }
    nd_run_options_clear(options, "path");
    set(options, "path", "");
    assert_int_equal(options->n_paths, 1);
    set(options, "never", "kind=a,b");
    set(options, "never", "lang=c");
    assert_int_equal(options->n_never, 3);
    assert_string_equal(options->never[1].field, "kind");
    assert_string_equal(options->never[1].value, "b");
    assert_string_equal(options->never[2].field, "lang");
    assert_string_equal(options->never[2].value, "c");
    assert_string_equal(nd_run_options_get(options, "never", 1), "lang=c");
    set(options, "prefer", "lang=en,de");
    set(options, "prefer", "host=x,,y");
    assert_string_equal(options->prefer_field, "host");
    assert_int_equal(options->n_prefer, 3);
    assert_string_equal(options->prefer[1], "");
    assert_string_equal(options->prefer[2], "y");
    set(options, "output", "a");
    set(options, "output", "b");
    assert_string_equal(options->output, "b");
    set(options, "strict", NULL);
    assert_int_equal(options->strict, 1);
    set(options, "strict", "no");
    assert_int_equal(options->strict, 0);
    assert_ptr_equal(nd_run_options_input(options), &options->input);
    nd_run_options_free(options);
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
#if HAS_OWN_MALLOC
    skip();
#else
    struct nd_error err;

    atomic_store(&until_failure, 1);
    assert_null(nd_run_options_new(&err));
    assert_int_equal(err.status, ND_ENOMEM);
    for (size_t i = 0; i < N_ROWS; i++) {
        bool has_failed = true;

        for (long n = 1; has_failed; n++) {
            struct nd_run_options *options = make();
            enum nd_status status;

            atomic_store(&until_failure, n);
            status = nd_run_options_set(options, rows[i].key, rows[i].value, &err);
            has_failed = atomic_exchange(&until_failure, 0) <= 0;
            assert_int_equal(status, has_failed ? ND_ENOMEM : ND_OK);
            assert_value(options, i, has_failed ? rows[i].standard : rows[i].value);
            if (has_failed)
                assert_string_equal(err.message, "out of memory");
            set(options, rows[i].key, rows[i].value);
            assert_value(options, i, rows[i].value);
            nd_run_options_free(options);
        }
    }
#endif
}

/* A folder with the file that a key reads when it is set. */
static char folder[] = "/tmp/options_XXXXXX";

static int enter_folder(void **state)
{
    FILE *file;

    (void)state;
    if (!mkdtemp(folder) || chdir(folder) != 0 || !(file = fopen("options.tags", "w")))
        return -1;
    fputs("[document ART]\nid = DN\n", file);
    return fclose(file);
}

static int leave_folder(void **state)
{
    (void)state;
    return remove("options.tags") || chdir("/") || rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_set_read_back_and_cleared),
        cmocka_unit_test(what_is_wrong_is_refused_by_name),
        cmocka_unit_test(lists_grow_and_single_values_are_replaced),
        cmocka_unit_test(each_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
