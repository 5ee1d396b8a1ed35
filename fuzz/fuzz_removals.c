/* fuzz_removals.c - any bytes: what another tool removed, and its clusters, in any form, or an error */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "uses/audit/removals.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

/* The keys are in order, each once, and each document and cluster is found by its own. */
static void check(const struct nd_removals *r)
{
    size_t n_removed = 0;

    for (size_t i = 0; i < r->n; i++) {
        const struct nd_removed_name *x = &r->item[i];

        require(!i || r->item[i - 1].key < x->key);
        require(nd_removals_find(r, x->key) == x && !x->is_met);
        require(x->cluster == ND_REMOVAL_NONE || x->cluster < r->n_clusters);
        require(x->is_removed || x->cluster != ND_REMOVAL_NONE);
        n_removed += x->is_removed;
    }
    for (size_t i = 0; i < r->n_clusters; i++) {
        require(!i || r->cluster[i - 1].key < r->cluster[i].key);
        require(nd_removals_cluster(r, r->cluster[i].key) == &r->cluster[i]);
        require(r->cluster[i].kept == ND_REMOVAL_NONE);
    }
    require(n_removed > 0 && n_removed == r->n_removed && nd_removals_missing(r) == n_removed);
}

/* Make a file of these bytes, and write its path. */
static int make_file(const uint8_t *data, size_t size, char path[32])
{
    const int fd = memfd_create("removals", MFD_CLOEXEC);

    require(fd >= 0);
    require(write(fd, data, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
    (void)snprintf(path, 32, "/proc/self/fd/%d", fd);
    return fd;
}

/* Bit 0 of the first byte: the others are datatrove's numbers.  Bit 1: the first half is the file of
 * removed documents, the second that of clusters. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nd_removals removals = {.n = 0};
    struct nd_error err = {.status = ND_OK};
    char path[2][32];
    size_t first;
    int fd[2];

    if (!size)
        return 0;
    first = data[0] & 2 ? (size - 1) / 2 : size - 1;
    fd[0] = make_file(data + 1, first, path[0]);
    fd[1] = make_file(data + 1 + first, size - 1 - first, path[1]);
    if (nd_removals_read_as(&removals, path[0], data[0] & 1, data[0] & 2 ? path[1] : NULL, &err) ==
        ND_OK)
        check(&removals);
    else
        require(err.message[0]);
    nd_removals_release(&removals);
    close(fd[0]);
    close(fd[1]);
    return 0;
}
