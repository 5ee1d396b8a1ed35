/* builder.c - an index file of fingerprints that come one after the other, in bounded memory
 *
 * They wait in a temporary file, since the design depends on how many there are.  Then, if all fit
 * into the memory, the file is built as nd_hamming_file_build does; else from sorted runs
 * (spilled.c).  The bytes are the same.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/c_functions.h"
#include "hamming/file/change.h"
#include "hamming/file/spilled.h"
#include "hamming/plan/plan_checks.h"

enum {
    SPOOL_BYTES = 1 << 20, /* that a spool keeps in memory */
    SPOOLS = 6,            /* at a time, those of sorting included */
    EACH = 76,      /* bytes of memory for a fingerprint in nd_hamming_file_build, without rows */
    EACH_FAST = 24, /* and more for a table of lines */
    SORT_LEAST = 1 << 16,
    AT_ONCE = 4096 /* entries that are read */
};

struct nd_hamming_builder {
    unsigned bits;
    struct nd_hamming_spilled spilled;
    char *tmp;
    uint64_t memory_bytes;
    uint64_t text_bytes;  /* of ids that are texts, in memory */
    uint64_t plan_bytes;  /* of all ids, as nd_hamming_text_bytes counts them */
    bool has_other_texts; /* than digits */
};

enum nd_status nd_hamming_builder_new(struct nd_hamming_builder **builder, unsigned bits,
                                      const char *tmp, uint64_t memory_bytes, struct nd_error *err)
{
    struct nd_hamming_builder *b;
    const uint64_t most = memory_bytes / 4 * 3, buffers = (uint64_t)SPOOLS * SPOOL_BYTES;

    if (bits < ND_HAMMING_BITS_MIN || bits > ND_HAMMING_BITS_MAX)
        return nd_fail(err, ND_EINVAL, "a fingerprint has %u to %u bits, not %u",
                       ND_HAMMING_BITS_MIN, ND_HAMMING_BITS_MAX, bits);
    b = calloc(1, sizeof *b);
    if (!b || !(b->tmp = nd_text_copy(tmp))) {
        free(b);
        return nd_fail(err, ND_ENOMEM, "out of memory");
    }
    b->bits = bits;
    b->memory_bytes = memory_bytes;
    b->spilled = (struct nd_hamming_spilled){
        .words = nd_hamming_words(bits),
        .tmp = b->tmp,
        .memory_bytes = most > buffers + SORT_LEAST ? (size_t)(most - buffers) : SORT_LEAST};
    b->spilled.rows = nd_spool_new(tmp, err);
    b->spilled.texts = b->spilled.rows ? nd_spool_new(tmp, err) : NULL;
    if (!b->spilled.texts) {
        nd_hamming_builder_free(b);
        return err ? err->status : ND_EIO;
    }
    *builder = b;
    return ND_OK;
}

void nd_hamming_builder_free(struct nd_hamming_builder *b)
{
    if (!b)
        return;
    nd_spool_free(b->spilled.rows);
    nd_spool_free(b->spilled.texts);
    free(b->tmp);
    free(b);
}

/* The two words of an id (spilled.h). */
static enum nd_status take_id(struct nd_hamming_builder *b, const char *text, uint64_t *id,
                              struct nd_error *err)
{
    char digits[24];
    uint32_t number;
    size_t len;

    id[0] = b->spilled.n;
    id[1] = 0;
    if (text && nd_hamming_text_number(text, &number)) {
        id[0] = number;
        return ND_OK;
    }
    if (!text && b->spilled.n <= UINT32_MAX)
        return ND_OK;
    if (!text) {
        snprintf(digits, sizeof digits, "%" PRIu64, b->spilled.n);
        text = digits;
    }
    len = strlen(text);
    if (len >= ND_HAMMING_TEXT_MAX || !nd_hamming_text_is_id(text, len))
        return nd_fail(err, ND_EINVAL, "the id of fingerprint %" PRIu64 " has a tab or a newline",
                       b->spilled.n);
    id[1] = len + 1;
    b->text_bytes += len + 1;
    return nd_spool_append(b->spilled.texts, text, len, &id[0], err);
}

enum nd_status nd_hamming_builder_add(struct nd_hamming_builder *b, const uint64_t *fingerprint,
                                      const char *text, struct nd_error *err)
{
    const char *counted = text ? text : "0";
    uint64_t entry[ND_HAMMING_WORDS_MAX + ND_HAMMING_SPILLED_ID_WORDS];
    const size_t words = b->spilled.words, len = strlen(counted);
    enum nd_status status = nd_hamming_check_bits(fingerprint, 1, b->bits, err);

    if (status == ND_OK)
        status = take_id(b, text, entry + words, err);
    if (status != ND_OK)
        return status;
    memcpy(entry, fingerprint, words * sizeof *entry);
    b->plan_bytes += len + 1 + (len > 127);
    b->has_other_texts |= strspn(counted, "0123456789") != len;
    b->spilled.n++;
    return nd_spool_append(b->spilled.rows, entry, nd_hamming_spilled_bytes(words), NULL, err);
}

/* The bytes of texts, as nd_hamming_text_bytes counts them. */
static uint64_t plan_bytes(const struct nd_hamming_builder *b)
{
    uint64_t bytes = b->plan_bytes + 8 * ((b->spilled.n + 15) / 16 + 1);

    return b->has_other_texts && bytes > 4 * b->spilled.n ? bytes - 4 * b->spilled.n : 0;
}

/* The entries in memory. */
struct loaded {
    uint64_t *row;
    uint32_t *id;
    const char **text;
    struct nd_arena arena;
};

static enum nd_status load_text(const struct nd_hamming_builder *b, struct loaded *l, size_t i,
                                const uint64_t *id, struct nd_buffer *buffer, struct nd_error *err)
{
    char number[ND_HAMMING_NUMBER_MAX], *copy;
    size_t len;
    const char *text = nd_hamming_spilled_id(&b->spilled, id, number, buffer, &len, err);

    if (!text)
        return err ? err->status : ND_EIO;
    copy = nd_arena_alloc(&l->arena, len + 1);
    if (!copy)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    memcpy(copy, text, len);
    copy[len] = '\0';
    l->text[i] = copy;
    return ND_OK;
}

/* Some entries from number `first` on. */
static enum nd_status load_entries(const struct nd_hamming_builder *b, struct loaded *l,
                                   size_t first, size_t some, struct nd_buffer *text,
                                   struct nd_error *err)
{
    const size_t words = b->spilled.words, bytes = nd_hamming_spilled_bytes(words);
    struct nd_buffer entries = {.data = NULL};
    enum nd_status status =
        nd_spool_read(b->spilled.rows, first * bytes, some * bytes, &entries, err);

    for (size_t i = 0; i < some && status == ND_OK; i++) {
        const char *entry = entries.data + i * bytes;
        uint64_t id[ND_HAMMING_SPILLED_ID_WORDS];

        memcpy(l->row + (first + i) * words, entry, words * sizeof *l->row);
        memcpy(id, entry + words * sizeof *l->row, sizeof id);
        l->id[first + i] = (uint32_t)id[0];
        if (id[1])
            status = load_text(b, l, first + i, id, text, err);
    }
    nd_buffer_release(&entries);
    return status;
}

static enum nd_status build_in_memory(const struct nd_hamming_builder *b, const char *path,
                                      const struct nd_hamming_plan *plan,
                                      const struct nd_hamming_shape *shape, struct nd_error *err)
{
    const size_t n = (size_t)b->spilled.n;
    struct nd_buffer text = {.data = NULL};
    struct loaded l = {.row = nd_alloc_array(n * b->spilled.words, sizeof *l.row),
                       .id = nd_alloc_array(n, sizeof *l.id),
                       .text = calloc(n + 1, sizeof *l.text)};
    struct nd_hamming_entries entries = {l.row, n, l.id, l.text};
    enum nd_status status = ND_OK;

    if (!l.row || !l.id || !l.text)
        status = nd_fail(err, ND_ENOMEM, "out of memory for %zu fingerprints", n);
    for (size_t i = 0; i < n && status == ND_OK; i += AT_ONCE)
        status = load_entries(b, &l, i, n - i < AT_ONCE ? n - i : AT_ONCE, &text, err);
    if (status == ND_OK)
        status = nd_hamming_build_planned(path, plan, shape, &entries, err);
    nd_buffer_release(&text);
    nd_arena_release(&l.arena);
    free(l.row);
    free(l.id);
    free(l.text);
    return status;
}

/* The beginning of the next piece. */
struct spilling {
    const struct nd_hamming_spilled *spilled;
    uint64_t done;
};

static enum nd_status write_piece(void *context, const struct nd_hamming_piece *piece,
                                  const struct nd_hamming_scheme *scheme, int fd, const char *name,
                                  struct nd_hamming_place *place, struct nd_error *err)
{
    struct spilling *s = context;
    uint64_t first = s->done;

    s->done += piece->count;
    return nd_hamming_spilled_write(s->spilled, scheme, first, piece->count, fd, name, place, err);
}

static enum nd_status build_spilled(const struct nd_hamming_builder *b, const char *path,
                                    const struct nd_hamming_plan *plan,
                                    const struct nd_hamming_shape *shape, struct nd_error *err)
{
    struct spilling spilling = {.spilled = &b->spilled};
    struct nd_hamming_change c;
    enum nd_status status = nd_hamming_change_open(&c, path, false, err);

    if (status != ND_OK)
        return status;
    nd_hamming_change_begin(&c, plan, shape, shape->recipe);
    c.write = write_piece;
    c.context = &spilling;
    status = nd_hamming_change_add_parts(&c, b->spilled.n, 0, 0, err);
    if (status == ND_OK)
        status = nd_hamming_change_replace(&c, err);
    nd_hamming_change_release(&c);
    return status;
}

/* Memory that nd_hamming_file_build takes, the entries included. */
static uint64_t memory_needed(const struct nd_hamming_builder *b,
                              const struct nd_hamming_shape *shape)
{
    uint64_t each = EACH + 2 * b->spilled.words * sizeof(uint64_t);

    if (shape->layout == ND_HAMMING_FAST)
        each += EACH_FAST;
    return b->spilled.n * each + 2 * b->text_bytes + (uint64_t)SPOOLS * SPOOL_BYTES;
}

enum nd_status nd_hamming_builder_finish(struct nd_hamming_builder *b, const char *path,
                                         const struct nd_hamming_shape *shape, struct nd_error *err)
{
    struct nd_hamming_plan plan;
    uint64_t needed;
    enum nd_status status =
        nd_hamming_file_plan_texts(shape, b->spilled.n, plan_bytes(b), &plan, err);

    if (status != ND_OK || !shape) /* the plan refuses NULL */
        return status;
    if (shape->bits != b->bits)
        return nd_fail(err, ND_EINVAL, "fingerprints of %u bits, but an index of %u", b->bits,
                       shape->bits);
    needed = memory_needed(b, shape);
    if (needed <= b->memory_bytes)
        return build_in_memory(b, path, &plan, shape, err);
    if (shape->layout == ND_HAMMING_FAST || shape->codec != ND_HAMMING_EF)
        return nd_fail(err, ND_ENOMEM,
                       "%s: an index of %s is built in memory, and this one needs more: --memory "
                       "%" PRIu64 "M",
                       path,
                       shape->layout == ND_HAMMING_FAST ? "the layout fast" : "the codec manku",
                       (needed >> 20) + 1);
    return build_spilled(b, path, &plan, shape, err);
}
