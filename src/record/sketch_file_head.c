/* sketch_file_head.c - the two heads of a sketch file: which of them holds, and what it says */
#include "record/sketch_file_layout.h"

#include <string.h>

#include "base/hash.h"

static uint64_t hash_of(const union nd_sketch_head_page *page)
{
    union nd_sketch_head_page copy = *page;

    copy.head.hash = 0;
    return nd_hash_bytes(&copy, sizeof copy);
}

void nd_sketch_head_seal(union nd_sketch_head_page *page)
{
    page->head.hash = hash_of(page);
}

/* ---- Limits of the numbers.  The checksum is right, so a wrong number is a writer's fault, or
 * malice. ---- */

static bool has_right_signatures(const struct nd_sketch_head *h)
{
    if (h->n_signatures > ND_RECIPE_SIGNATURES)
        return false;
    for (uint32_t i = 0; i < h->n_signatures; i++) {
        const struct nd_sketch_stored_signature *x = &h->signature[i];

        if (x->kind > ND_SIGNATURE_FEATURES || x->form > ND_FORM_VALUES ||
            !x->words != (x->form == ND_FORM_VALUES) || x->words > ND_SIGNATURE_MINIMA_MAX ||
            (x->form == ND_FORM_BITS && (x->bits + 63) / 64 != x->words))
            return false;
    }
    return true;
}

/* Check that the names of the fields are whole. */
static bool has_right_fields(const union nd_sketch_head_page *page)
{
    const struct nd_sketch_head *h = &page->head;
    const char *name = (const char *)page->bytes + sizeof *h;
    uint32_t left = h->names_bytes;

    if (h->n_fields > ND_SKETCH_FIELDS_MAX || left > ND_SKETCH_HEAD_BYTES - sizeof *h)
        return false;
    for (uint32_t i = 0; i < h->n_fields; i++) {
        const char *end = memchr(name, 0, left);
        size_t len = end ? (size_t)(end - name) : left;

        if (len == left || len > ND_SKETCH_FIELD_NAME_MAX)
            return false;
        name += len + 1;
        left -= (uint32_t)len + 1;
    }
    return left == 0;
}

/* Check what the file keeps of documents. */
static bool has_right_kind(const struct nd_sketch_head *h)
{
    return h->flags <= ND_SKETCH_FLAGS && has_right_signatures(h) && h->recipe_bytes > 0 &&
           h->recipe_bytes <= ND_SKETCH_RECIPE_MAX && h->generation > 0 && h->part <= h->parts &&
           !h->part == !h->parts;
}

/* Check that the directory ends the file, behind recipe and blocks. */
static bool has_right_places(const struct nd_sketch_head *h)
{
    uint64_t recipe_end = ND_SKETCH_FILE_RECIPE_AT + nd_padded(h->recipe_bytes, 4096);

    return h->directory >= recipe_end && h->directory % 8 == 0 && h->directory_bytes % 8 == 0 &&
           h->directory <= INT64_MAX / 2 && h->directory_bytes <= INT64_MAX / 2 &&
           h->end == h->directory + h->directory_bytes;
}

/* Check that there is room for what is counted: so a wrong count allocates nothing. */
static bool has_right_counts(const struct nd_sketch_head *h)
{
    uint64_t blocks = h->blocks * (uint64_t)sizeof(struct nd_sketch_block_entry);
    uint64_t row = nd_sketch_row_least(h);

    return blocks <= h->directory_bytes &&
           (h->directory_bytes - blocks) / sizeof(struct nd_sketch_source_head) >= h->sources &&
           h->documents >= h->blocks && !h->documents == !h->blocks &&
           h->documents <= h->directory / row;
}

static bool has_right_numbers(const union nd_sketch_head_page *page)
{
    const struct nd_sketch_head *h = &page->head;

    return has_right_kind(h) && has_right_fields(page) && has_right_places(h) &&
           has_right_counts(h);
}

enum nd_status nd_sketch_head_check(const union nd_sketch_head_page *page, const char *path,
                                    struct nd_error *err)
{
    const struct nd_sketch_head *head = &page->head;

    if (memcmp(head->magic, ND_SKETCH_FILE_MAGIC, sizeof head->magic) != 0)
        return nd_fail(err, ND_EINPUT, "%s: not a sketch file", path);
    if (head->hash != hash_of(page))
        return nd_fail(err, ND_EINPUT, "%s: the head of the sketch file is damaged", path);
    if (head->version != ND_SKETCH_FILE_VERSION)
        return nd_fail(err, ND_EUNSUPPORTED,
                       "%s: a sketch file of version %u; this program reads version %d", path,
                       head->version, ND_SKETCH_FILE_VERSION);
    if (!has_right_numbers(page))
        return nd_fail(err, ND_EINPUT, "%s: the head of the sketch file cannot be right", path);
    return ND_OK;
}
