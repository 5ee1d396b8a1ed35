/* fuzz_snapshot.c - a snapshot of the live index with bytes changed, its checksums made right */

/*
 * The input is a list of changes: where, in 3 bytes, and the byte.  They are made to a snapshot of
 * a small index, then its checksums are made right, as a fuzzer would not find them.  What opens
 * must answer, change and grow without harm.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <neardup/index.h>

#include "base/hash.h"
#include "index/live_state.h"
#include "index/snapshot.h"

enum { DOCUMENTS = 300 };

static void require(int holds)
{
    if (!holds)
        abort();
}

static struct nd_sketch sketch_of(unsigned i)
{
    struct nd_sketch s = {.simhash = nd_mix64(i % 50), .identity = nd_mix64(i) | 1};

    for (unsigned m = 0; m < ND_MINHASH_COUNT; m++)
        s.minhash[m] = (uint32_t)nd_mix64((uint64_t)(i % 60) << 8 | m);
    return s;
}

static void use(struct nd_index *index, unsigned n)
{
    struct nd_candidates found = {0};

    for (unsigned i = 0; i < n; i++) {
        struct nd_sketch s = sketch_of(i);
        uint32_t number;

        require(nd_index_query(index, &s, 0, &found) == ND_OK);
        (void)nd_index_delete(index, i * 3, NULL);
        require(nd_index_insert(index, &s, i % 2, &number, NULL) == ND_OK);
    }
    nd_candidates_release(&found);
    require(nd_index_compact(index, NULL, NULL, NULL) == ND_OK);
}

/* The snapshot of an index that has deleted documents. */
static unsigned char *seed(size_t *size)
{
    static const struct nd_index_params params = {3, 6, 0};
    struct nd_index *index = nd_index_new(&params, NULL);
    char path[64];
    int fd = memfd_create("seed", 0);
    unsigned char *data;

    require(index && fd >= 0);
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        struct nd_sketch s = sketch_of(i);
        uint32_t number;

        require(nd_index_insert(index, &s, 0, &number, NULL) == ND_OK);
    }
    for (unsigned i = 0; i < DOCUMENTS; i += 7)
        require(nd_index_delete(index, i, NULL) == ND_OK);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    require(nd_index_save(index, path, "note", 4, NULL) == ND_OK);
    nd_index_free(index);
    *size = (size_t)lseek(fd, 0, SEEK_END);
    data = malloc(*size);
    require(data && pread(fd, data, *size, 0) == (ssize_t)*size);
    close(fd);
    return data;
}

static void make_sums_right(unsigned char *data, size_t size)
{
    struct nd_snapshot_header header;
    struct nd_snapshot_place place[ND_SNAPSHOT_SECTIONS];
    uint64_t n_chunks, *check = (uint64_t *)(void *)(data + ND_SNAPSHOT_PAGE);

    memcpy(&header, data, sizeof header);
    if (nd_live_check_params(
            &(struct nd_index_params){header.bands, header.rows, header.simhash_bits}, NULL) ==
            ND_OK &&
        nd_snapshot_lay_out(&header, place, &n_chunks) == size) {
        for (unsigned s = 0; s < ND_SNAPSHOT_SECTIONS; s++)
            if (place[s].n_chunks == 1)
                check[place[s].first_chunk] = nd_hash_bytes(data + place[s].offset, place[s].bytes);
        header.hash_of_checks = nd_hash_bytes(check, n_chunks * sizeof *check);
    }
    nd_snapshot_seal(&header);
    memcpy(data, &header, sizeof header);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char *base;
    static size_t bytes;
    unsigned char *copy, note[ND_INDEX_NOTE_MAX];
    struct nd_index *index;
    char path[64];
    size_t note_len, n_left;
    int fd;

    if (!base)
        base = seed(&bytes);
    copy = malloc(bytes);
    require(copy != NULL);
    memcpy(copy, base, bytes);
    for (; size >= 4; data += 4, size -= 4)
        copy[(data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16) % bytes] = data[3];
    make_sums_right(copy, bytes);
    fd = memfd_create("snapshot", 0);
    require(fd >= 0 && write(fd, copy, bytes) == (ssize_t)bytes);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    index = nd_index_open_unchecked(path, note, &note_len, NULL);
    if (index) {
        require(note_len <= sizeof note);
        require(nd_index_check(index, SIZE_MAX, &n_left, NULL) == ND_OK && n_left == 0);
        use(index, 200);
        nd_index_free(index);
    }
    close(fd);
    free(copy);
    return 0;
}
