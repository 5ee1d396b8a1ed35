/* fuzz_judgements.c - any bytes: a file of judgements, and the figures of what is accepted */
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <neardup/judging.h>

#include "uses/judging/judgements.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

static void check(const struct nd_judgements *j, const struct nd_eval_ids *ids)
{
    for (size_t i = 0; i < j->n; i++) {
        const struct nd_judgement *g = &j->at[i];
        const uint32_t a = (uint32_t)(g->ids >> 32), b = (uint32_t)g->ids;

        require(a < b && b <= ids->names.count && g->size > 0);
        require(!g->drawn || g->drawn == a || g->drawn == b);
        require(j->draws_documents ? g->drawn && !g->stratum
                                   : g->stratum > 0 && g->stratum <= j->strata.count);
        require(nd_judgements_find(j, g) == g);
    }
}

/* Accepted files have figures: of one judge, of two who agree, and of each stratum. */
static void put_figures(int fd, const char *path, bool draws_documents)
{
    const char *const both[] = {path};
    struct nd_judged_params params = nd_judged_params_default();
    FILE *out = fopen("/dev/null", "w");

    require(out != NULL);
    params.files = both;
    params.n_files = 1;
    params.resamplings = 3;
    for (int k = 0; k < 2; k++) {
        params.by_stratum = k == 1;
        require(lseek(fd, 0, SEEK_SET) == 0);
        require((nd_run_judged(&params, out, NULL) == ND_OK) == (k == 0 || !draws_documents));
    }
    require(fclose(out) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nd_judgements judgements = {.n = 0};
    struct nd_eval_ids ids = {.n_known = 0};
    struct nd_error err = {.status = ND_OK};
    int fd = memfd_create("judgements", MFD_CLOEXEC);
    char path[32];

    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    require(lseek(fd, 0, SEEK_SET) == 0);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (nd_judgements_read(&judgements, path, &ids, &err) == ND_OK) {
        check(&judgements, &ids);
        put_figures(fd, path, judgements.draws_documents);
    } else {
        require(err.message[0]);
    }
    nd_judgements_release(&judgements);
    nd_eval_ids_release(&ids);
    close(fd);
    return 0;
}
