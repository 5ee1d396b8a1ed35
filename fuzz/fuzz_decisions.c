/* fuzz_decisions.c - any bytes: a manifest or file of clusters that is read whole, or an error */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "uses/decisions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

/* Each row is in order, and names a document that was not met. */
static void check(struct nd_decisions *d)
{
    struct nd_error err = {.status = ND_OK};

    require(d->manifest.is_of_clusters || d->n == d->manifest.n_removed);
    if (nd_decisions_sort(d, d->manifest.n_paths > 0, false, &err) != ND_OK) {
        require(err.status == ND_EINPUT && err.message[0]);
        return;
    }
    for (size_t i = 1; i < d->n; i++)
        require(d->row[i - 1].key[0] <= d->row[i].key[0]);
    require((nd_decisions_check(d, &err) == ND_OK) == (d->n == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nd_decisions decisions = {.n = 0};
    struct nd_error err = {.status = ND_OK};
    int fd = memfd_create("decisions", MFD_CLOEXEC);
    char path[32];

    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    require(lseek(fd, 0, SEEK_SET) == 0);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (nd_decisions_read(&decisions, path, &err) == ND_OK)
        check(&decisions);
    else
        require(err.message[0]);
    nd_decisions_release(&decisions);
    close(fd);
    return 0;
}
