/* fuzz_removals.c - any bytes: what another tool removed, in any form, or an error */
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

/* The keys are in order, each once, and all are met once they have been asked for. */
static void check(struct nd_removals *r)
{
    require(r->n > 0 && nd_removals_missing(r) == r->n);
    for (size_t i = 0; i < r->n; i++) {
        require(!i || r->item[i - 1].key < r->item[i].key);
        require(nd_removals_meet(r, r->item[i].key));
    }
    require(nd_removals_missing(r) == 0);
}

/* Behind an odd first byte, the bytes are read as datatrove's numbers. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nd_removals removals = {.n = 0};
    struct nd_error err = {.status = ND_OK};
    int fd = memfd_create("removals", MFD_CLOEXEC);
    char path[32];

    require(fd >= 0);
    if (!size) {
        close(fd);
        return 0;
    }
    require(write(fd, data + 1, size - 1) == (ssize_t)(size - 1) && lseek(fd, 0, SEEK_SET) == 0);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (nd_removals_read_as(&removals, path, data[0] & 1, &err) == ND_OK)
        check(&removals);
    else
        require(err.message[0]);
    nd_removals_release(&removals);
    close(fd);
    return 0;
}
