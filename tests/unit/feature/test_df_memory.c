/* test_df_memory.c - every allocation of tables, weights and metadata fails once: no crash, no
 * leak, ND_ENOMEM, and no file */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/hash.h"
#include "feature/metadata.h"
#include "feature/weigh.h"

#define FAILING_MAPS
#include "failing_wraps.h"

static char folder[] = "/tmp/neardup-test-df-memory-XXXXXX";
static char path[64], kept[64];

/* One builder in memory, one with runs in a file, with texts; 60,000 terms in all. */
static int add_documents(struct nd_df_builder *b, uint64_t from)
{
    enum { TERMS = 3000 };
    static uint64_t hash[TERMS];
    static struct nd_view text[TERMS];
    int status = ND_OK;

    for (uint64_t d = 0; d < 10 && status == ND_OK; d++) {
        for (size_t i = 0; i < TERMS; i++) {
            hash[i] = from + d * TERMS / 2 + i;
            text[i] = (struct nd_view){"a term", 6};
        }
        status = nd_df_builder_add(b, hash, TERMS, text, NULL);
    }
    if (status != ND_OK) { /* it has counted a part of a document */
        assert_int_equal(nd_df_builder_add(b, hash, 1, text, NULL), ND_EINVAL);
        assert_int_equal(nd_df_builder_write(&b, 1, path, NULL), ND_EINVAL);
    }
    return status;
}

static int build(void)
{
    const struct nd_df_builder_params params = {
        .memory_bytes = 1 << 20, .tmp = folder, .keep_texts = 1};
    struct nd_df_builder *b[2] = {nd_df_builder_new(&params, NULL),
                                  nd_df_builder_new(&params, NULL)};
    int status = b[0] && b[1] ? ND_OK : ND_ENOMEM;

    for (int turn = 0; turn < 4 && status == ND_OK; turn++)
        status = add_documents(b[0], (uint64_t)turn * 15000);
    if (status == ND_OK)
        status = add_documents(b[1], 7);
    if (status == ND_OK)
        status = nd_df_builder_write(b, 2, path, NULL);
    if (status == ND_OK) { /* they are used up */
        assert_int_equal(nd_df_builder_add(b[0], NULL, 0, NULL, NULL), ND_EINVAL);
        assert_int_equal(nd_df_builder_write(b, 2, path, NULL), ND_EINVAL);
    }
    nd_df_builder_free(b[0]);
    nd_df_builder_free(b[1]);
    if (status == ND_OK)
        assert_int_equal(unlink(path), 0);
    else
        assert_int_equal(access(path, F_OK), -1);
    return status;
}

static int open_and_add(void)
{
    struct nd_error err = {.status = ND_OK};
    struct nd_df *df = nd_df_open(kept, &err);
    struct nd_df_builder_params params = {.tmp = folder, .like = df};
    struct nd_df_builder *b = df ? nd_df_builder_new(&params, &err) : NULL;
    int status = b ? nd_df_builder_add_table(b, df, NULL) : (int)err.status;

    nd_df_builder_free(b);
    nd_df_close(df);
    return status;
}

static int weigh(void)
{
    enum { TERMS = 300 };
    static struct nd_term_stat stat[TERMS];
    static int32_t weight[TERMS];
    struct nd_weight_params params = nd_weight_params_default();
    struct nd_weigh_scratch scratch = {0};
    struct nd_weigher *w;
    int status = ND_OK;

    params.top = 20;
    params.clip_rank = 5;
    w = nd_weigher_new(&params, NULL, false, NULL);
    if (!w)
        return ND_ENOMEM;
    for (size_t n = 10; n <= TERMS && status == ND_OK; n *= 5) {
        for (size_t i = 0; i < n; i++)
            stat[i] = (struct nd_term_stat){.hash = i, .tf = (uint32_t)i + 1};
        status = nd_weigher_run(w, &scratch, stat, n, n, weight, NULL);
    }
    nd_weigh_scratch_release(&scratch);
    nd_weigher_free(w);
    return status;
}

static int make_metadata(void)
{
    static const struct nd_field fields[] = {{{"tags", 4}, {"[\"one\", \"t\\u00e9o\", 3]", 22}},
                                             {{"views", 5}, {"12", 2}}};
    static struct nd_link links[200];
    static char target[200][8];
    struct nd_document document = {.fields = fields, .n_fields = 2, .links = links, .n_links = 200};
    struct nd_feature_params params = nd_feature_params_default();
    struct nd_metadata_features out;
    struct nd_metadata *m;
    int status;

    for (int i = 0; i < 200; i++)
        links[i].target = (struct nd_view){target[i], (size_t)snprintf(target[i], 8, "/%d", i)};
    memcpy(params.fields, "tags views:1:0:9", 17);
    memcpy(params.force, "tags", 5);
    params.links = 1;
    m = nd_metadata_new(&params, NULL);
    if (!m)
        return ND_ENOMEM;
    status = nd_metadata_explain(m, &document, &out);
    if (status == ND_OK)
        assert_int_equal(out.count, 204);
    nd_metadata_free(m);
    return status;
}

static void every_allocation_may_fail(void **unused)
{
    static int (*const run[])(void) = {build, open_and_add, weigh, make_metadata};

    (void)unused;
    for (size_t i = 0; i < sizeof run / sizeof *run; i++) {
        long n = 0;

        do {
            int status;

            has_failed = 0;
            countdown = n++;
            status = run[i]();
            countdown = -1;
            /* Publishing a table first removes what killed runs left, if it has the memory. */
            if (run[i] != build || status != ND_OK)
                assert_int_equal(status, has_failed ? ND_ENOMEM : ND_OK);
        } while (has_failed);
        assert_true(n > 1); /* it does allocate */
    }
}

static int make_folder(void **state)
{
    const struct nd_df_builder_params params = {.keep_texts = 0};
    struct nd_df_builder *b;
    int status;

    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/t", folder);
    snprintf(kept, sizeof kept, "%s/k", folder);
    b = nd_df_builder_new(&params, NULL);
    status = b ? add_documents(b, 1) : -1;
    if (status == ND_OK)
        status = nd_df_builder_write(&b, 1, kept, NULL);
    nd_df_builder_free(b);
    return status;
}

/* Nothing else is left: no temporary file either. */
static int remove_folder(void **state)
{
    (void)state;
    unlink(kept);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
