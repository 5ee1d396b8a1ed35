/* row.c - the row of a document: its bytes, its length, its checksum
 *
 * Each row has its own checksum, so that it can be read without the others of its block.  The place of
 * the row is part of it: a row that stands elsewhere than it was written is refused.
 */
#include "sketch_file/layout.h"

#include <string.h>

#include "base/hash.h"

static bool is_right_row(const struct nd_sketch_row_head *head)
{
    return head->id_kind <= ND_ID_RAW && head->flags <= ND_SKETCH_HAS_FINGERPRINT;
}

size_t nd_sketch_row_measure(const struct nd_sketch_head *file, const char *at, size_t left)
{
    const struct nd_sketch_row_head *head = (const void *)at;
    size_t least = sizeof *head + nd_fingerprint_bytes(file), len;

    if (left < least)
        return 0;
    len = least + (size_t)nd_padded(head->id_bytes, 8);
    return len <= left && is_right_row(head) ? len : 0;
}

size_t nd_sketch_row_parse(const struct nd_sketch_head *file, const char *at, size_t left,
                           struct nd_sketch_row *row)
{
    size_t words = nd_fingerprint_bytes(file);
    size_t len = nd_sketch_row_measure(file, at, left);
    struct nd_sketch_row_head head;

    if (!len)
        return 0;
    memcpy(&head, at, sizeof head);
    *row = (struct nd_sketch_row){
        .text_hash = {head.text_hash[0], head.text_hash[1]},
        .identity = head.identity,
        .simhash = head.simhash,
        .tokens = head.tokens,
        .text_bytes = head.text_bytes,
        .n_shingles = head.n_shingles,
        .source = head.source,
        .offset = head.offset,
        .line = head.line,
        .id = {at + sizeof head + words, head.id_bytes},
        .id_kind = (enum nd_id_kind)head.id_kind,
    };
    memcpy(row->low, head.low, sizeof row->low);
    if (words && (head.flags & ND_SKETCH_HAS_FINGERPRINT))
        row->fingerprint = (const uint64_t *)(const void *)(at + sizeof head);
    return len;
}

/* The checksum covers all bytes behind itself. */
static uint32_t check_of(const char *at, size_t len, uint64_t offset)
{
    enum { BEHIND = sizeof(uint32_t) };

    return (uint32_t)(nd_hash_bytes(at + BEHIND, len - BEHIND) + offset / 8);
}

void nd_sketch_row_seal(char *at, size_t len, uint64_t offset)
{
    uint32_t check = check_of(at, len, offset);

    memcpy(at + offsetof(struct nd_sketch_row_head, check), &check, sizeof check);
}

size_t nd_sketch_row_check(const struct nd_sketch_head *file, const char *at, size_t left,
                           uint64_t offset)
{
    const struct nd_sketch_row_head *head = (const void *)at;
    size_t len = nd_sketch_row_measure(file, at, left);

    return len && head->check == check_of(at, len, offset) && head->source < file->sources ? len
                                                                                           : 0;
}

bool nd_sketch_row_has_code(const char *row, const char *code)
{
    struct nd_sketch_row_head head;

    memcpy(&head, row, sizeof head);
    return head.shingle_check == nd_shingle_code_check(code, head.n_shingles);
}
