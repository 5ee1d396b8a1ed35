/* fuzz_relation.c - any bytes: pairs, clusters or a manifest that are read, as truth and as result */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "uses/eval/resample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

static void check_relation(const struct nd_relation *r, const struct nd_eval_ids *ids)
{
    for (size_t i = 0; i < r->n_pairs; i++) {
        require(r->pair[i].ids >> 32 < (uint32_t)r->pair[i].ids);
        require((uint32_t)r->pair[i].ids <= ids->names.count);
        require(!i || r->pair[i - 1].ids < r->pair[i].ids);
    }
    for (size_t i = 0; i < r->n_ids; i++)
        require(r->set[i] <= r->n_sets);
}

/* Nothing is more than there is, and a file that is its own truth is right. */
static void check_scores(const struct nd_relation *truth, const struct nd_relation *result,
                         size_t n, bool all)
{
    struct nd_scores scores = {.n_sets = 0};
    struct nd_rated rated[ND_RATES];
    const struct nd_pair_counts *x = &scores.sum.pairs;
    enum nd_no_interval why;

    require(nd_scores_count(&scores, truth, result, n, all, NULL, NULL) == ND_OK);
    require(x->right <= x->listed && x->right <= x->same && scores.n_documents <= n);
    require(nd_resample(&scores, 3, 1, rated, &why, NULL) == ND_OK);
    for (unsigned i = 0; i < ND_RATES; i++)
        require(!(rated[i].value < 0) && !(rated[i].value > 1 + 1e-9));
    nd_scores_release(&scores);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nd_eval_ids ids = {.n_known = 0};
    struct nd_relation truth = {.n_pairs = 0}, result = {.n_pairs = 0};
    struct nd_relation_request request = {.is_truth = true, .value = "shared"};
    struct nd_error err = {.status = ND_OK};
    int fd = memfd_create("relation", MFD_CLOEXEC);
    char path[32];

    if (size)
        request.form = (enum nd_eval_form)(data[0] % (ND_EVAL_CLASSES + 1));
    request.labels.has_at = size > 1 && data[1] % 2;
    size -= size > 2 ? 2 : size;
    require(fd >= 0 && write(fd, data + 2, size) == (ssize_t)size);
    require(lseek(fd, 0, SEEK_SET) == 0);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (nd_relation_read(&truth, path, &request, &ids, &err) == ND_OK) {
        check_relation(&truth, &ids);
        ids.n_known = ids.names.count;
        request.is_truth = false;
        request.refuses_strangers = request.closes = true;
        require(lseek(fd, 0, SEEK_SET) == 0);
        require(nd_relation_read(&result, path, &request, &ids, &err) == ND_OK);
        check_relation(&result, &ids);
        check_scores(&truth, &result, ids.n_known, true);
        check_scores(&truth, &result, ids.n_known, false);
    } else {
        require(err.message[0]);
    }
    nd_relation_release(&truth);
    nd_relation_release(&result);
    nd_eval_ids_release(&ids);
    close(fd);
    return 0;
}
