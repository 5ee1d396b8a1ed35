/* saved_texts.c - an index of texts in a file: written whole, mapped and checked */
#include "engine/saved_texts.h"

#include <neardup/result_file.h>
#include <neardup/text.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/system/c_functions.h"
#include "base/system/descriptor.h"
#include "base/system/pages.h"
#include "index/snapshot.h"

enum { PAGE = ND_SAVED_PAGE };
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "memory has the bytes of the file");
_Static_assert(sizeof(struct nd_saved_header) <= ND_SAVED_PAGE, "a header is one page");

uint64_t nd_saved_lay_out(const struct nd_saved_header *header, uint64_t offset[ND_SAVED_SECTIONS])
{
    uint64_t at = PAGE;

    for (unsigned s = 0; s < ND_SAVED_SECTIONS; s++) {
        offset[s] = at;
        if (header->bytes[s] > UINT64_MAX / 16)
            return 0;
        at += (header->bytes[s] + PAGE - 1) / PAGE * PAGE;
    }
    return at;
}

void nd_saved_seal(struct nd_saved_header *header)
{
    unsigned char page[PAGE] = {0};

    header->hash_of_page = 0;
    memcpy(page, header, sizeof *header);
    header->hash_of_page = nd_hash_bytes(page, PAGE);
}

/* ---- A text with values behind it ---- */

enum { VALUE_DIGITS = 16 };
static const char absent[] = "----------------";

size_t nd_saved_values_bytes(struct nd_view text, const struct nd_view *value, size_t n)
{
    size_t bytes = text.len + n * VALUE_DIGITS;

    for (size_t k = 0; k < n; k++)
        bytes += value[k].len;
    return bytes;
}

static char *append(char *to, struct nd_view some)
{
    if (some.len)
        memcpy(to, some.data, some.len);
    return to + some.len;
}

void nd_saved_put_values(char *to, struct nd_view text, const struct nd_view *value, size_t n)
{
    to = append(to, text);
    for (size_t k = 0; k < n; k++)
        to = append(to, value[k]);
    for (size_t k = 0; k < n; k++) {
        char digits[VALUE_DIGITS + 1];

        snprintf(digits, sizeof digits, "%016zx", value[k].len);
        to = append(to, (struct nd_view){value[k].data ? digits : absent, VALUE_DIGITS});
    }
}

/* Read a length that is at most `most`.  False: there is none. */
static bool take_length(const char *digits, size_t most, size_t *len)
{
    *len = 0;
    for (size_t i = 0; i < VALUE_DIGITS; i++) {
        const char *hex = "0123456789abcdef", *found = memchr(hex, digits[i], 16);

        if (!found || *len > most >> 4)
            return false;
        *len = *len << 4 | (size_t)(found - hex);
    }
    return *len <= most;
}

size_t nd_saved_take_values(const char *data, size_t bytes, struct nd_view *value, size_t n)
{
    size_t left = bytes;

    if (bytes / VALUE_DIGITS < n)
        return SIZE_MAX;
    left -= n * VALUE_DIGITS;
    for (size_t k = n; k-- > 0;) {
        const char *digits = data + bytes - (n - k) * VALUE_DIGITS;

        value[k] = (struct nd_view){NULL, 0};
        if (memcmp(digits, absent, VALUE_DIGITS) == 0)
            continue;
        if (!take_length(digits, left, &value[k].len))
            return SIZE_MAX;
        left -= value[k].len;
        value[k].data = data + left;
        if (!nd_utf8_valid(value[k].data, value[k].len))
            return SIZE_MAX;
    }
    return nd_utf8_valid(data, left) ? left : SIZE_MAX;
}

/* ---- Writing ---- */

struct texts_writing {
    const char *path;
    FILE *out;
    struct nd_hash_stream *hash; /* of the present section */
    uint64_t bytes;
    struct nd_saved_header header;
};

static enum nd_status failed(const struct texts_writing *w, struct nd_error *err)
{
    return nd_fail(err, ND_EIO, "%s: cannot be written: %s", w->path, strerror(errno));
}

static enum nd_status put(struct texts_writing *w, const void *data, size_t bytes,
                          struct nd_error *err)
{
    if (bytes && fwrite(data, 1, bytes, w->out) != bytes)
        return failed(w, err);
    nd_hash_stream_add(w->hash, data, bytes);
    w->bytes += bytes;
    return ND_OK;
}

static enum nd_status begin_section(struct texts_writing *w, struct nd_error *err)
{
    nd_hash_stream_free(w->hash);
    w->hash = nd_hash_stream_new();
    w->bytes = 0;
    return w->hash ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory for an index in a file");
}

static enum nd_status end_section(struct texts_writing *w, enum nd_saved_section s,
                                  struct nd_error *err)
{
    static const unsigned char zeroes[PAGE];
    size_t padding = (size_t)((PAGE - w->bytes % PAGE) % PAGE);

    w->header.bytes[s] = w->bytes;
    w->header.hash[s] = nd_hash_stream_value(w->hash);
    return fwrite(zeroes, 1, padding, w->out) == padding ? ND_OK : failed(w, err);
}

static enum nd_status put_rows(struct texts_writing *w, const struct nd_saved_content *c,
                               struct nd_error *err)
{
    enum nd_status status = begin_section(w, err);

    for (uint32_t i = 0; status == ND_OK && i < c->n; i++) {
        struct nd_saved_row row = {0};

        (void)c->describe(c->context, i, &row);
        status = put(w, &row, sizeof row, err);
    }
    return status == ND_OK ? end_section(w, ND_SAVED_ROWS, err) : status;
}

static enum nd_status put_texts(struct texts_writing *w, const struct nd_saved_content *c,
                                struct nd_error *err)
{
    enum nd_status status = begin_section(w, err);

    for (uint32_t i = 0; status == ND_OK && i < c->n; i++) {
        struct nd_saved_row row = {0};
        struct nd_view text = c->describe(c->context, i, &row);

        status = put(w, text.data, text.len, err);
    }
    return status == ND_OK ? end_section(w, ND_SAVED_TEXTS, err) : status;
}

static enum nd_status put_text(struct texts_writing *w, enum nd_saved_section s,
                               struct nd_view text, struct nd_error *err)
{
    enum nd_status status = begin_section(w, err);

    if (status == ND_OK)
        status = put(w, text.data, text.len, err);
    return status == ND_OK ? end_section(w, s, err) : status;
}

static enum nd_status put_index(struct texts_writing *w, const struct nd_index *index,
                                struct nd_error *err)
{
    struct nd_snapshot_target target = {.out = w->out, .path = w->path};
    uint64_t offset[ND_SAVED_SECTIONS];

    (void)nd_saved_lay_out(&w->header, offset);
    target.base = offset[ND_SAVED_INDEX];
    return nd_index_write(index, &target, NULL, 0, &w->header.bytes[ND_SAVED_INDEX], err);
}

static enum nd_status write_all(struct texts_writing *w, const struct nd_saved_content *c,
                                struct nd_error *err)
{
    enum nd_status status = nd_stream_seek(w->out, PAGE) ? ND_OK : failed(w, err);

    if (status == ND_OK)
        status = put_text(w, ND_SAVED_RECIPE, c->recipe, err);
    if (status == ND_OK)
        status = put_text(w, ND_SAVED_IDS, c->ids, err);
    if (status == ND_OK)
        status = put_rows(w, c, err);
    if (status == ND_OK)
        status = put_texts(w, c, err);
    if (status == ND_OK && c->index)
        status = put_index(w, c->index, err);
    if (status != ND_OK)
        return status;
    nd_saved_seal(&w->header);
    if (!nd_stream_seek(w->out, 0) ||
        fwrite(&w->header, 1, sizeof w->header, w->out) != sizeof w->header)
        return failed(w, err);
    return ND_OK;
}

enum nd_status nd_saved_write(const char *path, const struct nd_saved_content *content,
                              struct nd_error *err)
{
    struct texts_writing w = {.path = path,
                              .header = {.version = ND_SAVED_VERSION,
                                         .n = content->n,
                                         .next_serial = content->next_serial}};
    struct nd_result_file *file;
    enum nd_status status = nd_result_file_open(&file, path, NULL, 0, err);

    if (status != ND_OK)
        return status;
    memcpy(w.header.magic, ND_SAVED_MAGIC, sizeof w.header.magic);
    w.out = nd_result_file_stream(file);
    status = write_all(&w, content, err);
    nd_hash_stream_free(w.hash);
    if (status == ND_OK)
        return nd_result_file_publish(file, err);
    nd_result_file_discard(file);
    return status;
}

/* ---- Opening ---- */

static enum nd_status damaged(const char *path, const char *what, struct nd_error *err)
{
    return nd_fail(err, ND_EINPUT, "%s: not an index of texts, or a damaged one: %s", path, what);
}

static enum nd_status map_file(const char *path, struct nd_saved_texts *saved, struct nd_error *err)
{
    int fd = nd_descriptor_open(path, ND_OPEN_READ | ND_OPEN_NOW);
    enum nd_status status = ND_OK;
    struct nd_file_about st;
    void *map;

    if (fd < 0 || !nd_descriptor_about(fd, &st))
        status = nd_fail(err, ND_EIO, "%s: cannot be opened: %s", path, strerror(errno));
    else if (st.kind != ND_FILE_REGULAR)
        status = nd_fail(err, ND_EINPUT, "%s: an index of texts is a regular file", path);
    else if (st.bytes < PAGE)
        status = damaged(path, "it is too short", err);
    if (status == ND_OK) {
        map = nd_pages_map(fd, 0, (size_t)st.bytes, ND_MAP_READ, NULL);
        if (!map)
            status = nd_fail(err, ND_EIO, "%s: cannot be mapped: %s", path, strerror(errno));
        else
            *saved = (struct nd_saved_texts){.map = map, .map_bytes = (size_t)st.bytes};
    }
    if (fd >= 0)
        (void)nd_descriptor_close(fd);
    return status;
}

struct nd_view nd_saved_section(const struct nd_saved_texts *saved, enum nd_saved_section s)
{
    return (struct nd_view){(const char *)saved->map + saved->offset[s],
                            (size_t)saved->header.bytes[s]};
}

static enum nd_status check_header(const char *path, struct nd_saved_texts *saved,
                                   struct nd_error *err)
{
    struct nd_saved_header *h = &saved->header;
    unsigned char page[PAGE];

    memcpy(h, saved->map, sizeof *h);
    if (memcmp(h->magic, ND_SAVED_MAGIC, sizeof h->magic) != 0)
        return damaged(path, "it does not begin as one", err);
    if (h->version != ND_SAVED_VERSION)
        return nd_fail(err, ND_EINPUT, "%s: an index of texts of version %u; this library reads %d",
                       path, h->version, ND_SAVED_VERSION);
    memcpy(page, saved->map, PAGE);
    memset(page + offsetof(struct nd_saved_header, hash_of_page), 0, sizeof h->hash_of_page);
    if (nd_hash_bytes(page, PAGE) != h->hash_of_page)
        return damaged(path, "its header has another checksum", err);
    if (nd_saved_lay_out(h, saved->offset) != saved->map_bytes ||
        h->bytes[ND_SAVED_ROWS] != (uint64_t)h->n * sizeof(struct nd_saved_row))
        return damaged(path, "its length differs from what its header says", err);
    saved->row = (const void *)nd_saved_section(saved, ND_SAVED_ROWS).data;
    return ND_OK;
}

/* Whether the rows describe the texts, of which none is other than the engine may read. */
static enum nd_status check_rows(const char *path, const struct nd_saved_texts *saved,
                                 struct nd_error *err)
{
    const struct nd_view texts = nd_saved_section(saved, ND_SAVED_TEXTS);
    uint64_t next = 0, at = 0;

    for (uint32_t i = 0; i < saved->header.n; i++) {
        const struct nd_saved_row *row = &saved->row[i];

        if (row->serial < next || row->serial >= saved->header.next_serial || row->is_gone > 1 ||
            row->bytes > texts.len - at)
            return damaged(path, "a row is impossible", err);
        if (!nd_utf8_valid(texts.data + at, (size_t)row->bytes))
            return damaged(path, "a text is not UTF-8", err);
        next = row->serial + 1;
        at += row->bytes;
    }
    return at == texts.len ? ND_OK : damaged(path, "its rows and its texts disagree", err);
}

static enum nd_status check_all(const char *path, int only_recipe, struct nd_saved_texts *saved,
                                struct nd_error *err)
{
    enum nd_status status = check_header(path, saved, err);
    unsigned last = only_recipe ? ND_SAVED_RECIPE : ND_SAVED_TEXTS;

    for (enum nd_saved_section s = ND_SAVED_RECIPE; status == ND_OK && s <= last; s++) {
        struct nd_view section = nd_saved_section(saved, s);

        if (nd_hash_bytes(section.data, section.len) != saved->header.hash[s])
            status = damaged(path, "a part of it has another checksum", err);
    }
    return status == ND_OK && !only_recipe ? check_rows(path, saved, err) : status;
}

enum nd_status nd_saved_open(const char *path, int only_recipe, struct nd_saved_texts *saved,
                             struct nd_error *err)
{
    enum nd_status status = map_file(path, saved, err);

    if (status == ND_OK)
        status = check_all(path, only_recipe, saved, err);
    if (status != ND_OK)
        nd_saved_close(saved);
    return status;
}

void nd_saved_close(struct nd_saved_texts *saved)
{
    if (saved->map)
        nd_pages_free(saved->map, saved->map_bytes);
    *saved = (struct nd_saved_texts){0};
}

struct nd_index *nd_saved_open_index(const struct nd_saved_texts *saved, const char *path,
                                     struct nd_error *err)
{
    struct nd_index *index = nd_index_open_part(
        path, saved->offset[ND_SAVED_INDEX], saved->header.bytes[ND_SAVED_INDEX], NULL, NULL, err);

    if (index && nd_index_check(index, SIZE_MAX, NULL, err) != ND_OK) {
        nd_index_free(index);
        return NULL;
    }
    return index;
}
