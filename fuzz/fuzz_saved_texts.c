/* fuzz_saved_texts.c - an index of texts in a file with bytes changed, its checksums made right */

/*
 * The input is a list of changes: where, in 3 bytes, and the byte.  They are made to the file of a
 * few texts without an index of sketches (fuzz_snapshot.c changes such).  What opens has rows that
 * cover its texts, which are valid UTF-8.  A text that has values behind it is these bytes again when
 * they are put there.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <neardup/text.h>

#include "base/hash.h"
#include "engine/saved_texts.h"

static const char *const text[] = {"one two three", "", "vier f\xC3\xBCnf sechs",
                                   "one two three"
                                   "here"
                                   "0000000000000004"
                                   "----------------"};
enum { TEXTS = sizeof text / sizeof *text };

static void require(int holds)
{
    if (!holds)
        abort();
}

static struct nd_view describe(const void *context, uint32_t i, struct nd_saved_row *row)
{
    (void)context;
    *row = (struct nd_saved_row){.serial = i, .bytes = strlen(text[i]), .is_gone = i == 2};
    return (struct nd_view){text[i], (size_t)row->bytes};
}

static unsigned char *seed(size_t *size)
{
    const struct nd_saved_content content = {.recipe = {"recipe", 6},
                                             .ids = {"ids", 3},
                                             .next_serial = TEXTS,
                                             .n = TEXTS,
                                             .describe = describe};
    int fd = memfd_create("seed", 0);
    unsigned char *data;
    char path[64];

    require(fd >= 0);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    require(nd_saved_write(path, &content, NULL) == ND_OK);
    *size = (size_t)lseek(fd, 0, SEEK_END);
    data = malloc(*size);
    require(data && pread(fd, data, *size, 0) == (ssize_t)*size);
    close(fd);
    return data;
}

static void make_sums_right(unsigned char *data, size_t size)
{
    uint64_t offset[ND_SAVED_SECTIONS];
    struct nd_saved_header header;

    memcpy(&header, data, sizeof header);
    if (nd_saved_lay_out(&header, offset) == size)
        for (unsigned s = 0; s <= ND_SAVED_TEXTS; s++)
            header.hash[s] = nd_hash_bytes(data + offset[s], header.bytes[s]);
    nd_saved_seal(&header);
    memcpy(data, &header, sizeof header);
}

static void check_values(struct nd_view all)
{
    struct nd_view value[2];
    size_t len = nd_saved_take_values(all.data, all.len, value, 2);
    char *again;

    if (len == SIZE_MAX)
        return;
    require(len <= all.len && nd_utf8_valid(all.data, len));
    require(nd_saved_values_bytes((struct nd_view){all.data, len}, value, 2) == all.len);
    again = malloc(all.len);
    require(again != NULL);
    nd_saved_put_values(again, (struct nd_view){all.data, len}, value, 2);
    require(memcmp(again, all.data, all.len) == 0);
    free(again);
}

static void check(const struct nd_saved_texts *saved)
{
    struct nd_view texts = nd_saved_section(saved, ND_SAVED_TEXTS);
    size_t at = 0;

    for (uint32_t i = 0; i < saved->header.n; i++) {
        require(saved->row[i].bytes <= texts.len - at);
        require(nd_utf8_valid(texts.data + at, (size_t)saved->row[i].bytes));
        check_values((struct nd_view){texts.data + at, (size_t)saved->row[i].bytes});
        require(saved->row[i].serial < saved->header.next_serial);
        at += (size_t)saved->row[i].bytes;
    }
    require(at == texts.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char *base;
    static size_t bytes;
    struct nd_saved_texts saved = {0};
    unsigned char *copy;
    char path[64];
    int fd;

    if (!base)
        base = seed(&bytes);
    copy = malloc(bytes);
    require(copy != NULL);
    memcpy(copy, base, bytes);
    for (; size >= 4; data += 4, size -= 4)
        copy[(data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16) % bytes] = data[3];
    make_sums_right(copy, bytes);
    fd = memfd_create("texts", 0);
    require(fd >= 0 && write(fd, copy, bytes) == (ssize_t)bytes);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    if (nd_saved_open(path, 0, &saved, NULL) == ND_OK) {
        check(&saved);
        nd_saved_close(&saved);
    }
    require(nd_saved_open(path, 1, &saved, NULL) != ND_OK || saved.map);
    nd_saved_close(&saved);
    close(fd);
    free(copy);
    return 0;
}
