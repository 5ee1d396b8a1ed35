/* df.c - a df table: open it and check everything, look up terms, say which features it counts
 *
 * docs/format/df.md has the layout.  A table is mapped and never changed, so any number of threads
 * read it without locks.
 */
#include "base/hash.h"
#include "base/system/descriptor.h"
#include "base/system/pages.h"
#include "feature/df_layout.h"
#include "feature/feature_params.h"
#include "feature/weight_tables.h"
#include "feature/word/stemmer.h"

#include <neardup/feature.h>

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct nd_df {
    const unsigned char *data, *slot;
    const char *text;
    size_t len;
    struct nd_df_header header;
    char features[ND_DF_FEATURES_MAX];
    uint64_t log_documents, inverse_log; /* ln N in 2^-40; 2^80 over it, and one more */
    void *map;                           /* NULL: the bytes are the caller's */
};

uint64_t nd_df_header_hash(const struct nd_df_header *h)
{
    struct nd_df_header copy = *h;

    copy.hash = 0;
    return nd_hash_bytes(&copy, sizeof copy);
}

/*
 * Undo x ^= x >> n.  The highest n bits were not changed; each round of y = x ^ y >> n makes the
 * next n bits right from those that are right already.
 */
static uint64_t unshift(uint64_t x, unsigned n)
{
    uint64_t y = x;

    for (unsigned known = n; known < 64; known += n)
        y = x ^ y >> n;
    return y;
}

/* nd_mix64 backwards: it alternates such shifts with multiplications by odd factors, and each odd
 * factor has an inverse modulo 2^64. */
uint64_t nd_df_unmix(uint64_t x)
{
    x = unshift(x, 31) * UINT64_C(0x319642B2D24D8EC3);
    x = unshift(x, 27) * UINT64_C(0x96DE1B173F119089);
    return unshift(x, 30);
}

static enum nd_status damaged(const char *what, struct nd_error *err)
{
    return nd_fail(err, ND_EINPUT, "not a df table, or it is damaged: %s", what);
}

/* Check every number of a header against its limits, before anything is computed from one.  That
 * there are as many terms is found when the slots are checked. */
static enum nd_status check_numbers(const struct nd_df_header *h, uint64_t len,
                                    struct nd_error *err)
{
    const struct nd_df_chunk *chunk = h->chunk;
    uint64_t offset = sizeof *h;

    if (h->file_bytes != len)
        return damaged("its length differs from the one in its header", err);
    for (size_t i = 0; i < ND_DF_CHUNKS; i++) {
        if (chunk[i].offset != offset || chunk[i].bytes > len - offset)
            return damaged("a part is not at the expected offset", err);
        offset += chunk[i].bytes;
    }
    if (offset != len)
        return damaged("it is longer than it should be", err);
    if (h->homes < 1 || h->slots < h->homes || h->slots > len / ND_DF_SLOT ||
        chunk[ND_DF_CHUNK_SLOTS].bytes != h->slots * ND_DF_SLOT)
        return damaged("its number of slots is impossible", err);
    if (h->terms > h->slots || (h->terms && !h->documents))
        return damaged("its number of terms is impossible", err);
    if (chunk[ND_DF_CHUNK_FEATURES].bytes >= ND_DF_FEATURES_MAX)
        return damaged("its description of the features is invalid", err);
    if (h->has_texts > 1 || (chunk[ND_DF_CHUNK_TEXTS].bytes > 0 && !h->has_texts))
        return damaged("its header and its texts disagree", err);
    return ND_OK;
}

static enum nd_status read_header(struct nd_df *df, struct nd_error *err)
{
    struct nd_df_header *h = &df->header;
    enum nd_status status;

    if (df->len < sizeof *h)
        return damaged("it is too short", err);
    memcpy(h, df->data, sizeof *h);
    if (memcmp(h->magic, ND_DF_MAGIC, sizeof h->magic) != 0)
        return damaged("its magic number is wrong", err);
    if (h->version != ND_DF_VERSION)
        return nd_fail(err, ND_EUNSUPPORTED,
                       "df table version %u is not supported, only version %d", h->version,
                       ND_DF_VERSION);
    if (nd_df_header_hash(h) != h->hash)
        return damaged("the header's checksum is wrong", err);
    status = check_numbers(h, df->len, err);
    for (size_t i = 0; i < ND_DF_CHUNKS && status == ND_OK; i++)
        if (nd_hash_bytes(df->data + h->chunk[i].offset, h->chunk[i].bytes) != h->chunk[i].hash)
            status = damaged("a part's checksum is wrong", err);
    return status;
}

/*
 * Check what a look-up relies on: the keys ascend; between a key's home and its slot none is free
 * (`begin` is behind the last free slot); no count exceeds N.  Then a search from the home may stop
 * at the first free slot or greater key.
 */
static enum nd_status check_slots(const struct nd_df *df, struct nd_error *err)
{
    const struct nd_df_header *h = &df->header;
    uint64_t before = 0, terms = 0, begin = 0;

    for (uint64_t i = 0; i < h->slots; i++) {
        const unsigned char *slot = df->slot + i * ND_DF_SLOT;
        uint64_t key = nd_df_slot_key(slot), home = nd_df_home(key, h->homes);
        uint32_t count = nd_df_slot_count(slot);

        if (count == 0) {
            if (key != 0)
                return damaged("a term has no documents", err);
            begin = i + 1;
            continue;
        }
        if (count > h->documents)
            return damaged("a term has more documents than there are", err);
        if ((terms > 0 && key <= before) || home > i || home < begin)
            return damaged("a term is in the wrong slot", err);
        before = key;
        terms++;
    }
    return terms == h->terms
               ? ND_OK
               : damaged("its number of terms differs from the one in its header", err);
}

static enum nd_status check_texts(const struct nd_df *df, struct nd_error *err)
{
    const struct nd_df_chunk *c = &df->header.chunk[ND_DF_CHUNK_TEXTS];
    const char *p = df->text, *end = p + c->bytes;
    uint64_t lines = 0;

    while (p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
        p++;
        lines++;
    }
    if (!p || (df->header.has_texts && lines != df->header.terms))
        return damaged("it does not have one text for each term", err);
    return ND_OK;
}

static enum nd_status open_parts(struct nd_df *df, struct nd_error *err)
{
    const struct nd_df_header *h = &df->header;
    const struct nd_df_chunk *features = &h->chunk[ND_DF_CHUNK_FEATURES];
    const char *text = (const char *)df->data + features->offset;
    enum nd_status status;

    if (memchr(text, 0, features->bytes) ||
        (features->bytes > 0 && text[features->bytes - 1] != '\n'))
        return damaged("its description of the features is invalid", err);
    memcpy(df->features, text, features->bytes);
    df->slot = df->data + h->chunk[ND_DF_CHUNK_SLOTS].offset;
    df->text = (const char *)df->data + h->chunk[ND_DF_CHUNK_TEXTS].offset;
    status = check_slots(df, err);
    if (status == ND_OK)
        status = check_texts(df, err);
    if (h->documents > 1) {
        df->log_documents = nd_ln(h->documents);
        df->inverse_log = (uint64_t)(((unsigned __int128)1 << 80) / df->log_documents) + 1;
    }
    return status;
}

struct nd_df *nd_df_init(const void *data, size_t len, struct nd_error *err)
{
    struct nd_df *df = calloc(1, sizeof *df);

    if (!df) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    df->data = data;
    df->len = len;
    if (read_header(df, err) == ND_OK && open_parts(df, err) == ND_OK)
        return df;
    free(df);
    return NULL;
}

/* The whole file in memory, or NULL with errno; *empty: there is nothing to map. */
static void *map_file(const char *path, size_t *len)
{
    int fd = nd_descriptor_open(path, ND_OPEN_READ), saved;
    void *map = NULL;
    struct nd_file_about info;

    if (fd < 0)
        return NULL;
    if (nd_descriptor_about(fd, &info)) {
        *len = (size_t)info.bytes;
        if (info.kind == ND_FILE_FOLDER)
            errno = EISDIR;
        else if (*len == 0)
            errno = 0;
        else
            map = nd_pages_map(fd, 0, *len, ND_MAP_READ, NULL);
    }
    saved = errno;
    (void)nd_descriptor_close(fd);
    errno = saved;
    return map;
}

struct nd_df *nd_df_open(const char *path, struct nd_error *err)
{
    struct nd_error inner = {.status = ND_OK};
    struct nd_df *df;
    size_t len = 0;
    void *map;

    errno = 0;
    map = map_file(path, &len);
    if (!map) {
        if (errno)
            nd_fail(err, errno == ENOMEM ? ND_ENOMEM : ND_EIO, "%s: %s", path, strerror(errno));
        else
            nd_fail(err, ND_EINPUT, "%s: not a df table: it is empty", path);
        return NULL;
    }
    df = nd_df_init(map, len, &inner);
    if (!df) {
        nd_pages_free(map, len);
        nd_fail(err, inner.status, "%s: %s", path, inner.message);
        return NULL;
    }
    df->map = map;
    return df;
}

void nd_df_close(struct nd_df *df)
{
    if (!df)
        return;
    if (df->map)
        nd_pages_free(df->map, df->len);
    free(df);
}

uint64_t nd_df_documents(const struct nd_df *df)
{
    return df->header.documents;
}

uint64_t nd_df_terms(const struct nd_df *df)
{
    return df->header.terms;
}

/* The header's hash is over the chunks' hashes, and so over everything. */
uint64_t nd_df_fingerprint(const struct nd_df *df)
{
    return df->header.hash;
}

const char *nd_df_features(const struct nd_df *df)
{
    return df->features;
}

int nd_df_has_texts(const struct nd_df *df)
{
    return (int)df->header.has_texts;
}

uint32_t nd_df_count(const struct nd_df *df, uint64_t hash)
{
    uint64_t key = nd_mix64(hash), i = nd_df_home(key, df->header.homes);
    const unsigned char *slot = df->slot + i * ND_DF_SLOT;

    for (; i < df->header.slots; i++, slot += ND_DF_SLOT) {
        uint64_t here = nd_df_slot_key(slot);
        uint32_t count = nd_df_slot_count(slot);

        if (here == key || count == 0)
            return count;
        if (here > key)
            return 0;
    }
    return 0;
}

void nd_df_prefetch(const struct nd_df *df, uint64_t hash)
{
    uint64_t i = nd_df_home(nd_mix64(hash), df->header.homes);

    __builtin_prefetch(df->slot + i * ND_DF_SLOT);
}

uint64_t nd_df_nidf(const struct nd_df *df, uint32_t n)
{
    uint64_t documents = df->header.documents, nidf;

    n = n > 0 ? n : 1;
    if (n >= documents)
        return 0;
    nidf = (uint64_t)((unsigned __int128)(df->log_documents - nd_ln(n)) * df->inverse_log >> 40);
    return nidf < ND_NIDF_ONE ? nidf : ND_NIDF_ONE;
}

int nd_df_next(const struct nd_df *df, struct nd_df_cursor *cursor, struct nd_df_term *term)
{
    while (cursor->slot < df->header.slots) {
        const unsigned char *slot = df->slot + cursor->slot++ * ND_DF_SLOT;

        term->count = nd_df_slot_count(slot);
        if (term->count == 0)
            continue;
        term->hash = nd_df_unmix(nd_df_slot_key(slot));
        term->text = (struct nd_view){0};
        if (df->header.has_texts) {
            const char *text = df->text + cursor->text;
            size_t left = (size_t)(df->header.chunk[ND_DF_CHUNK_TEXTS].bytes - cursor->text);
            const char *end = memchr(text, '\n', left);

            term->text = (struct nd_view){text, (size_t)(end - text)};
            cursor->text += term->text.len + 1;
        }
        return 1;
    }
    return 0;
}

static void keep_stop_words(struct nd_feature_params *p)
{
    memset(p->stop_words, 0, sizeof p->stop_words);
    memcpy(p->stop_words, "none", 4);
}

struct nd_feature_params nd_df_counted(const struct nd_feature_params *features)
{
    struct nd_feature_params p = *features;

    /* Stop words by a table are terms, whatever features the other terms become; the table is queried
     * for terms only. */
    if (nd_stop_words_are_by_df(p.stop_words))
        p.unit = ND_FEATURE_TERMS;
    p.count = ND_FEATURE_DISTINCT;
    p.select = ND_SELECT_ALL;
    p.select_count = 0;
    memset(p.anchors, 0, sizeof p.anchors);
    memset(p.fields, 0, sizeof p.fields);
    memset(p.force, 0, sizeof p.force);
    memset(p.reserved_field, 0, sizeof p.reserved_field);
    p.links = 0;
    p.anchor_window = 0;
    p.template_count = 0;
    p.template_table = NULL;
    p.phrases = p.phrases != 0 && p.unit == ND_FEATURE_TERMS ? -1 : 0;
    /* How many documents a term stands in does not depend on the other terms. */
    if (p.unit == ND_FEATURE_TERMS && p.phrases == 0) {
        keep_stop_words(&p);
        p.strip = ND_STRIP_NONE;
        p.least_length = 0;
        p.most_digits = 32;
    }
    /* Stop words by a table are not known before there is one. */
    if (nd_stop_words_are_by_df(p.stop_words))
        keep_stop_words(&p);
    return p;
}

static void add_line(char text[ND_DF_FEATURES_MAX], const char *format, ...) ND_PRINTF(2, 3);

/* Lists and paths are bounded, so that all lines fit: ND_DF_FEATURES_MAX. */
static void add_line(char text[ND_DF_FEATURES_MAX], const char *format, ...)
{
    size_t len = strlen(text), left = ND_DF_FEATURES_MAX - len;
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(text + len, left, format, args);
    va_end(args);
    if (n > 0 && (size_t)n + 1 < left)
        memcpy(text + len + n, "\n", 2);
    else
        text[len] = 0;
}

void nd_df_counted_text(const struct nd_feature_params *features, char out[ND_DF_FEATURES_MAX])
{
    static const char *const strips[] = {"none", "numbers", "dates"};
    struct nd_feature_params p;

    out[0] = 0;
    if (!features)
        return;
    p = nd_df_counted(features);
    if (p.boilerplate == ND_BOILERPLATE_DROP)
        add_line(out, "boilerplate = drop");
    if (nd_unit_has_distance(p.unit))
        add_line(out, "distance = %u", p.distance);
    if (nd_unit_has_words(p.unit)) {
        add_line(out, "join_apostrophes = %s", p.join_apostrophes ? "yes" : "no");
        add_line(out, "least_length = %u", p.least_length);
        if (p.mail_quotes == ND_QUOTES_DROP)
            add_line(out, "mail_quotes = drop");
        add_line(out, "most_digits = %u", p.most_digits);
        if (p.phrases != 0)
            add_line(out, "phrases = all");
        add_line(out, "stem = %.31s", p.stem);
        if (nd_feature_params_stem(&p))
            add_line(out, "stem_version = %s", ND_STEM_VERSION);
        add_line(out, "stop_words = %.*s", ND_FEATURE_PATH_MAX, p.stop_words);
        add_line(out, "strip = %s", (unsigned)p.strip < 3 ? strips[p.strip] : "?");
    }
    add_line(out, "unit = %s", nd_unit_of(p.unit)->word);
    if (nd_unit_has_width(p.unit))
        add_line(out, "width = %u", p.width);
}

enum nd_status nd_df_same_features(const char *a, const char *b, struct nd_error *err)
{
    for (size_t line; *a || *b; a += line, b += line) {
        line = strcspn(a, "\n");
        line += a[line] == '\n';
        if (line == 0 || strncmp(a, b, line) != 0)
            return nd_fail(err, ND_EINVAL,
                           "the tables count different features: one has \"%.*s\", this one "
                           "\"%.*s\"",
                           (int)strcspn(a, "\n"), a, (int)strcspn(b, "\n"), b);
    }
    return ND_OK;
}

/* The line of a text that begins with this key, or NULL. */
static const char *find_line(const char *text, const char *key, size_t len)
{
    for (; *text; text = strchr(text, '\n') + 1)
        if (strncmp(text, key, len) == 0)
            return text;
    return NULL;
}

/* Check that table and recipe read the same part of texts, which both say only where it is not all. */
static enum nd_status check_same_texts(const char *has, const char *wanted, struct nd_error *err)
{
    static const char *const keys[] = {"boilerplate =", "mail_quotes ="};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        bool there = find_line(has, keys[i], strlen(keys[i])) != NULL;

        if (there != (find_line(wanted, keys[i], strlen(keys[i])) != NULL))
            return nd_fail(err, ND_EINVAL,
                           "the df table counts other texts: it has \"%s %s\", the recipe \"%s "
                           "%s\"",
                           keys[i], there ? "drop" : "keep", keys[i], there ? "keep" : "drop");
    }
    return ND_OK;
}

enum nd_status nd_df_check(const struct nd_df *df, const struct nd_feature_params *features,
                           struct nd_error *err)
{
    const char *has = nd_df_features(df), *next;
    char wanted[ND_DF_FEATURES_MAX];

    if (!*has)
        return ND_OK;
    nd_df_counted_text(features, wanted);
    if (check_same_texts(has, wanted, err) != ND_OK)
        return ND_EINVAL;
    for (const char *want = wanted; *want; want = next + 1) {
        size_t key = strcspn(want, "=") + 1;
        const char *found = find_line(has, want, key);

        next = strchr(want, '\n');
        if (!found)
            return nd_fail(err, ND_EINVAL,
                           "the df table does not count what the recipe needs: %.*s",
                           (int)(next - want), want);
        if (strncmp(found, want, (size_t)(next - want) + 1) != 0)
            return nd_fail(
                err, ND_EINVAL,
                "the df table counts other features: it has \"%.*s\", the recipe \"%.*s\"",
                (int)strcspn(found, "\n"), found, (int)(next - want), want);
    }
    return ND_OK;
}
