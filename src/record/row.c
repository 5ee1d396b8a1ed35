/* row.c - the row of a document: its bytes, its length, its checksum
 *
 * Each row has its own checksum, so that it can be read without the others of its block.  The place of
 * the row is part of it: a row that stands elsewhere than it was written is refused.
 */
#include "record/sketch_file_layout.h"

#include <string.h>

#include "base/hash.h"
#include "record/packed_document.h"
#include "sketch/signer.h"

/* ---- Lengths ---- */

static size_t low_bytes(const struct nd_sketch_head *file)
{
    return file->flags & ND_SKETCH_HAS_MINIMA ? ND_MINHASH_COUNT : 0;
}

/* The offset at which the signatures of a row begin. */
static size_t signatures_at(const struct nd_sketch_head *file)
{
    return sizeof(struct nd_sketch_row_head) + low_bytes(file);
}

size_t nd_sketch_row_least(const struct nd_sketch_head *file)
{
    size_t len = signatures_at(file);

    if (file->n_signatures)
        len += sizeof(struct nd_sketch_signatures_head);
    for (uint32_t i = 0; i < file->n_signatures; i++)
        len += sizeof(uint64_t) * (file->signature[i].words ? file->signature[i].words : 1);
    return len + file->n_fields * sizeof(struct nd_sketch_value_head);
}

size_t nd_sketch_row_bytes(const struct nd_sketch_head *file, const struct nd_sketch_row *row)
{
    size_t len = nd_sketch_row_least(file) + nd_padded(row->id.len, 8);

    if (file->n_fields)
        len += row->fields.len - file->n_fields * sizeof(struct nd_sketch_value_head);

    for (uint32_t i = 0; i < file->n_signatures; i++)
        if (!file->signature[i].words && nd_sketch_row_words(row, i))
            len += row->signature[i].count * sizeof(uint64_t);
    return len;
}

/* Return where the signatures end of a row that has nd_sketch_row_least bytes at least; 0: not before
 * `left`. */
static size_t signatures_end(const struct nd_sketch_head *file, const char *at, size_t left)
{
    size_t end = signatures_at(file);

    if (file->n_signatures)
        end += sizeof(struct nd_sketch_signatures_head);
    for (uint32_t i = 0; i < file->n_signatures; i++) {
        uint64_t words = file->signature[i].words;

        if (left - end < sizeof words)
            return 0;
        if (!words) {
            memcpy(&words, at + end, sizeof words);
            end += sizeof words;
        }
        if (words > (left - end) / sizeof words)
            return 0;
        end += (size_t)words * sizeof words;
    }
    return end;
}

/* Return where the values of fields end that begin at `from`; 0: not before `left`. */
static size_t fields_end(const struct nd_sketch_head *file, const char *at, size_t from,
                         size_t left)
{
    uint64_t bytes = 0;
    struct nd_sketch_value_head head;

    if ((left - from) / sizeof head < file->n_fields)
        return 0;
    for (uint32_t i = 0; i < file->n_fields; i++) {
        memcpy(&head, at + from, sizeof head);
        from += sizeof head;
        bytes += head.bytes == ND_SKETCH_NO_VALUE ? 0 : head.bytes;
    }
    return nd_padded(bytes, 8) <= left - from ? from + (size_t)nd_padded(bytes, 8) : 0;
}

size_t nd_sketch_row_measure(const struct nd_sketch_head *file, const char *at, size_t left)
{
    const struct nd_sketch_row_head *head = (const void *)at;
    size_t end;

    if (left < nd_sketch_row_least(file) || head->id_kind > ND_ID_RAW ||
        head->signed_by >> file->n_signatures)
        return 0;
    end = signatures_end(file, at, left);
    if (end && file->n_fields)
        end = fields_end(file, at, end, left);
    return end && nd_padded(head->id_bytes, 8) <= left - end
               ? end + (size_t)nd_padded(head->id_bytes, 8)
               : 0;
}

/* ---- Written ---- */

static void write_head(const struct nd_sketch_row *row, uint32_t shingle_check, uint32_t n,
                       char *at)
{
    struct nd_sketch_row_head head = {
        .shingle_check = shingle_check,
        .text_hash = {row->text_hash[0], row->text_hash[1]},
        .identity = row->identity,
        .simhash = row->simhash,
        .tokens = row->tokens,
        .text_bytes = row->text_bytes,
        .n_shingles = row->n_shingles,
        .source = row->source,
        .offset = row->offset,
        .line = row->line,
        .id_bytes = (uint32_t)row->id.len,
        .id_kind = (uint8_t)row->id_kind,
    };

    for (uint32_t i = 0; i < n; i++)
        head.signed_by |= (uint8_t)(nd_sketch_row_words(row, i) ? 1U << i : 0);
    memcpy(at, &head, sizeof head);
}

/* Return where they end. */
static size_t write_signatures(const struct nd_sketch_head *file, const struct nd_sketch_row *row,
                               char *at)
{
    const struct nd_sketch_signatures_head head = {row->length, row->beside};
    size_t end = signatures_at(file);

    if (!file->n_signatures)
        return end;
    memcpy(at + end, &head, sizeof head);
    end += sizeof head;
    for (uint32_t i = 0; i < file->n_signatures; i++) {
        const uint64_t *word = nd_sketch_row_words(row, i);
        uint64_t words = file->signature[i].words;

        if (!words) {
            words = word ? row->signature[i].count : 0;
            memcpy(at + end, &words, sizeof words);
            end += sizeof words;
        }
        if (word && words)
            memcpy(at + end, word, (size_t)words * sizeof *word);
        end += (size_t)words * sizeof *word;
    }
    return end;
}

void nd_sketch_row_write(const struct nd_sketch_head *file, const struct nd_sketch_row *row,
                         uint32_t shingle_check, char *at)
{
    size_t end;

    write_head(row, shingle_check, file->n_signatures, at);
    memcpy(at + sizeof(struct nd_sketch_row_head), row->low, low_bytes(file));
    end = write_signatures(file, row, at);
    if (file->n_fields) {
        memcpy(at + end, row->fields.data, row->fields.len);
        end += row->fields.len;
    }
    if (row->id.len)
        memcpy(at + end, row->id.data, row->id.len);
}

/* ---- Read ---- */

/* Return where they end; the row was measured. */
static size_t parse_signatures(const struct nd_sketch_head *file, const char *at,
                               unsigned signed_by, struct nd_sketch_row *row)
{
    struct nd_sketch_signatures_head head;
    size_t end = signatures_at(file);

    if (!file->n_signatures)
        return end;
    memcpy(&head, at + end, sizeof head);
    end += sizeof head;
    row->length = head.length;
    row->beside = head.beside;
    for (uint32_t i = 0; i < file->n_signatures; i++) {
        uint64_t words = file->signature[i].words;

        if (!words) {
            memcpy(&words, at + end, sizeof words);
            end += sizeof words;
        }
        row->signature[i] =
            signed_by >> i & 1
                ? (struct nd_signature){(const uint64_t *)(const void *)(at + end), words, 0}
                : (struct nd_signature){.is_rejected = 1};
        end += (size_t)words * sizeof words;
    }
    return end;
}

size_t nd_sketch_row_parse(const struct nd_sketch_head *file, const char *at, size_t left,
                           struct nd_sketch_row *row)
{
    size_t len = nd_sketch_row_measure(file, at, left), end;
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
        .id_kind = (enum nd_id_kind)head.id_kind,
    };
    memcpy(row->low, at + sizeof head, low_bytes(file));
    end = parse_signatures(file, at, head.signed_by, row);
    if (file->n_fields) {
        row->n_fields = file->n_fields;
        row->fields = (struct nd_view){at + end, fields_end(file, at, end, len) - end};
        end += row->fields.len;
    }
    row->id = (struct nd_view){at + end, head.id_bytes};
    return len;
}

struct nd_view nd_sketch_row_field(const struct nd_sketch_row *row, unsigned i, uint64_t *replaced)
{
    struct nd_sketch_value_head head;
    size_t from = 0;

    if (i >= row->n_fields) {
        *replaced = 0;
        return (struct nd_view){NULL, 0};
    }
    for (unsigned k = 0;; k++) {
        memcpy(&head, row->fields.data + k * sizeof head, sizeof head);
        if (k == i)
            break;
        from += head.bytes == ND_SKETCH_NO_VALUE ? 0 : head.bytes;
    }
    *replaced = head.replaced;
    if (head.bytes == ND_SKETCH_NO_VALUE)
        return (struct nd_view){NULL, 0};
    return (struct nd_view){row->fields.data + row->n_fields * sizeof head + from, head.bytes};
}

bool nd_sketch_row_hold(struct nd_sketch_row *row, struct nd_arena *arena)
{
    row->id = (struct nd_view){NULL, 0};
    row->id_kind = ND_ID_NONE;
    row->shingles = NULL;
    row->fields = (struct nd_view){NULL, 0};
    row->n_fields = 0;
    for (unsigned i = 0; i < ND_RECIPE_SIGNATURES; i++)
        if (row->signature[i].count && !nd_signature_hold(&row->signature[i], arena))
            return false;
    return true;
}

/* ---- Checksums ---- */

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
