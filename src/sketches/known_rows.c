/* known_rows.c - rows that were made of texts before, found again by the hashes of the texts
 *
 * A hash table in one array, with linear probing, says where the row of a text is.  An entry has
 * some bits of the text's hash beside it, so that nearly every row that is read is the right one; the
 * row itself has all 128 bits, which decide.
 *
 * In bounded memory the entries are sorted by the hashes and lie in a file.  The upper bits of a hash
 * say in which bucket of some hundred entries it is, and memory has where each bucket begins.
 */
#include "sketches/known_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/external_sort.h"
#include "base/file/spool.h"
#include "base/memory.h"
#include "recipe/recipe_struct.h"
#include "record/document_row.h"
#include "record/packed_document.h"

enum { FILES_MAX = 4096 };
#define ROW_MASK ((UINT64_C(1) << 40) - 1)

/* Words of 8 bytes: where the row is, how many it has, and how many words behind its beginning the
 * shingles begin, 0: it has none.  row_words 0: free. */
struct known_entry {
    uint64_t tag : 12, file : 12, row : 40;
    uint64_t n_shingles : 28, row_words : 12, apart : 24;
};
_Static_assert(sizeof(struct known_entry) == 16, "an entry takes 16 bytes");

/* In bounded memory: of the text with this hash. */
struct listed_row {
    uint64_t hash;
    struct known_entry entry;
};

enum { BUCKET_ENTRIES = 128 };

struct known_reader {
    struct nd_sketch_room room;
    struct nd_sketch_row row; /* which points into the room */
    struct nd_arena held;
    struct nd_buffer bucket;
};

struct nd_known_rows {
    struct nd_beside beside;
    struct nd_sketch_file **file;
    size_t n_files, file_capacity;
    struct known_entry *entry;
    uint64_t n_entries, n; /* a power of two, or 0 */
    struct known_reader *reader;
    unsigned n_readers;

    /* In bounded memory, in place of `entry`: */
    size_t memory_bytes;
    const char *tmp;
    struct nd_external_sort *sort;  /* until all are added */
    struct nd_spool *list;          /* struct listed_row, in order of the hashes */
    uint64_t *bucket, sorted_bytes; /* where each begins, and one more */
    unsigned bucket_bits;
};

static bool make_sort(struct nd_known_rows *k, struct nd_error *err)
{
    const struct nd_external_sort_options options = {.tmp = k->tmp,
                                                     .record_bytes = sizeof(struct listed_row),
                                                     .memory_bytes = k->memory_bytes / 2};

    k->sort = nd_external_sort_new(&options, err);
    k->list = k->sort ? nd_spool_new(k->tmp, err) : NULL;
    return k->list != NULL;
}

struct nd_known_rows *nd_known_rows_new(const struct nd_recipe *recipe, unsigned n_workers,
                                        const char *tmp, size_t memory_bytes, struct nd_error *err)
{
    struct nd_known_rows *k = calloc(1, sizeof *k);

    if (k)
        k->reader = calloc(n_workers, sizeof *k->reader);
    if (!k || !k->reader) {
        free(k);
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    k->n_readers = n_workers;
    k->tmp = tmp;
    k->memory_bytes = memory_bytes;
    if (nd_beside_init(&k->beside, &recipe->method, err) == ND_OK &&
        (!memory_bytes || make_sort(k, err)))
        return k;
    nd_known_rows_free(k);
    return NULL;
}

void nd_known_rows_free(struct nd_known_rows *k)
{
    if (!k)
        return;
    for (size_t i = 0; i < k->n_files; i++)
        nd_sketch_file_close(k->file[i]);
    for (unsigned i = 0; i < k->n_readers; i++) {
        nd_sketch_room_release(&k->reader[i].room);
        nd_arena_release(&k->reader[i].held);
        nd_buffer_release(&k->reader[i].bucket);
    }
    nd_beside_release(&k->beside);
    nd_external_sort_free(k->sort);
    nd_spool_free(k->list);
    free(k->bucket);
    free(k->reader);
    free(k->entry);
    free(k->file);
    free(k);
}

uint64_t nd_known_rows_count(const struct nd_known_rows *k)
{
    return k->n;
}

uint64_t nd_known_rows_spilled(const struct nd_known_rows *k)
{
    return k->sorted_bytes + (k->list ? nd_spool_bytes(k->list) : 0);
}

/* The key by which a row is found first. */
static uint64_t key_of(const struct nd_sketch_row *row)
{
    return row->text_hash[0] ^ row->beside;
}

static unsigned tag_of(uint64_t hash)
{
    return (unsigned)(hash >> 52);
}

/* False: it does not fit. */
static bool make_entry(struct known_entry *entry, const struct nd_sketch_row_place *place,
                       uint64_t hash, size_t file)
{
    uint64_t row = place->row / 8, words = place->row_bytes / 8;
    uint64_t apart = place->shingles ? place->shingles / 8 - row : 0;

    if (row >> 40 || words >> 12 || apart >> 24 || place->n_shingles >> 28)
        return false;
    *entry = (struct known_entry){.tag = tag_of(hash) & 0xFFF,
                                  .file = file & 0xFFF,
                                  .row = row & ROW_MASK,
                                  .n_shingles = place->n_shingles & 0xFFFFFFF,
                                  .row_words = words & 0xFFF,
                                  .apart = apart & 0xFFFFFF};
    return true;
}

static struct nd_sketch_row_place place_of(const struct known_entry *entry)
{
    return (struct nd_sketch_row_place){
        .row = (uint64_t)entry->row * 8,
        .shingles = entry->apart ? ((uint64_t)entry->row + entry->apart) * 8 : 0,
        .row_bytes = (uint32_t)entry->row_words * 8,
        .n_shingles = (uint32_t)entry->n_shingles};
}

/* ---- Adding ---- */

/* Into the first free entry. */
static void put(struct known_entry *entries, uint64_t n_entries, uint64_t hash,
                struct known_entry entry)
{
    uint64_t at = hash & (n_entries - 1);

    while (entries[at].row_words)
        at = (at + 1) & (n_entries - 1);
    entries[at] = entry;
}

/* The hash of a text that has an entry, read again from its row. */
static enum nd_status hash_of(struct nd_known_rows *k, const struct known_entry *entry,
                              uint64_t *hash, struct nd_error *err)
{
    const struct nd_sketch_row_place place = place_of(entry);
    struct nd_sketch_row row;
    enum nd_status status = nd_sketch_file_read_row(
        k->file[entry->file], &place, ND_SKETCH_FILE_ROWS, &k->reader[0].room, &row, err);

    *hash = status == ND_OK ? key_of(&row) : 0;
    return status;
}

/* Room for n more, at most two thirds full. */
static enum nd_status make_room(struct nd_known_rows *k, uint64_t n, struct nd_error *err)
{
    uint64_t n_entries = k->n_entries ? k->n_entries : 1024, hash;
    enum nd_status status = ND_OK;
    struct known_entry *entries;

    while (n_entries / 3 * 2 < k->n + n)
        n_entries *= 2;
    if (n_entries == k->n_entries)
        return ND_OK;
    entries = calloc(n_entries, sizeof *entries);
    if (!entries)
        return nd_fail(err, ND_ENOMEM, "out of memory for %" PRIu64 " known sketches", k->n + n);
    for (uint64_t i = 0; status == ND_OK && i < k->n_entries; i++) {
        if (!k->entry[i].row_words)
            continue;
        status = hash_of(k, &k->entry[i], &hash, err);
        if (status == ND_OK)
            put(entries, n_entries, hash, k->entry[i]);
    }
    if (status != ND_OK) {
        free(entries);
        return status;
    }
    free(k->entry);
    k->entry = entries;
    k->n_entries = n_entries;
    return ND_OK;
}

/* Compare the checksums of all rows, before any is added. */
static enum nd_status check_file(const struct nd_sketch_file *file, struct nd_error *err)
{
    struct nd_sketch_block block = {0};
    enum nd_status status = ND_OK;

    for (uint32_t i = 0; status == ND_OK && i < nd_sketch_file_info(file)->blocks; i++)
        status = nd_sketch_file_read(file, i, ND_SKETCH_FILE_ROWS, &block, err);
    nd_sketch_block_release(&block);
    return status;
}

static enum nd_status add_row(struct nd_known_rows *k, size_t file, const struct nd_sketch_row *row,
                              struct nd_error *err)
{
    struct listed_row listed = {.hash = key_of(row)};

    if (!make_entry(&listed.entry, &row->place, listed.hash, file))
        return ND_OK;
    k->n++;
    if (k->sort)
        return nd_external_sort_add(k->sort, &listed, err);
    put(k->entry, k->n_entries, listed.hash, listed.entry);
    return ND_OK;
}

static enum nd_status add_rows(struct nd_known_rows *k, size_t number, struct nd_error *err)
{
    const struct nd_sketch_file *file = k->file[number];
    struct nd_sketch_block block = {0};
    enum nd_status status =
        k->sort ? ND_OK : make_room(k, nd_sketch_file_info(file)->documents, err);

    for (uint32_t b = 0; status == ND_OK && b < nd_sketch_file_info(file)->blocks; b++) {
        status = nd_sketch_file_read(file, b, ND_SKETCH_FILE_ROWS, &block, err);
        for (size_t i = 0; status == ND_OK && i < block.n; i++)
            status = add_row(k, number, &block.rows[i], err);
    }
    nd_sketch_block_release(&block);
    return status;
}

enum nd_status nd_known_rows_add(struct nd_known_rows *k, struct nd_sketch_file *file,
                                 struct nd_error *err)
{
    enum nd_status status = check_file(file, err);

    if (status == ND_OK && k->n_files == FILES_MAX)
        status = nd_fail(err, ND_EUNSUPPORTED, "more than %d files of known sketches", FILES_MAX);
    if (status == ND_OK && !ND_RESERVE(k->file, &k->file_capacity, k->n_files + 1))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    if (status != ND_OK) {
        nd_sketch_file_close(file);
        return status;
    }
    k->file[k->n_files++] = file;
    return add_rows(k, k->n_files - 1, err);
}

/* As many buckets as memory has room for. */
static enum nd_status make_buckets(struct nd_known_rows *k, struct nd_error *err)
{
    uint64_t most = k->memory_bytes / 4 / sizeof *k->bucket;

    while (k->n >> k->bucket_bits > BUCKET_ENTRIES && UINT64_C(2) << k->bucket_bits < most)
        k->bucket_bits++;
    k->bucket = calloc(((size_t)1 << k->bucket_bits) + 1, sizeof *k->bucket);
    return k->bucket ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");
}

static size_t bucket_of(const struct nd_known_rows *k, uint64_t hash)
{
    return k->bucket_bits ? (size_t)(hash >> (64 - k->bucket_bits)) : 0;
}

/* Write the entries in order; bucket[b + 1] is at first how many the bucket b has. */
static enum nd_status list_sorted(struct nd_known_rows *k, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    const void *listed;
    uint64_t hash;
    int got = 1;

    while (status == ND_OK && (got = nd_external_sort_next(k->sort, &listed, err)) > 0) {
        memcpy(&hash, listed, sizeof hash);
        k->bucket[bucket_of(k, hash) + 1]++;
        status = nd_spool_append(k->list, listed, sizeof(struct listed_row), NULL, err);
    }
    for (size_t b = 0; b >> k->bucket_bits == 0; b++)
        k->bucket[b + 1] += k->bucket[b];
    return status == ND_OK && got < 0 ? (enum nd_status)got : status;
}

enum nd_status nd_known_rows_end(struct nd_known_rows *k, struct nd_error *err)
{
    enum nd_status status;

    if (!k->sort)
        return ND_OK;
    status = make_buckets(k, err);
    if (status == ND_OK)
        status = list_sorted(k, err);
    k->sorted_bytes = nd_external_sort_spilled(k->sort);
    nd_external_sort_free(k->sort);
    k->sort = NULL;
    return status;
}

/* ---- Finding ---- */

void nd_known_rows_begin(struct nd_known_rows *k, unsigned worker)
{
    nd_arena_reset(&k->reader[worker].held);
}

/* The row is moved from the room that the next one needs.  NULL: out of memory. */
static const struct nd_sketch_row *hold(struct known_reader *reader,
                                        const struct nd_sketch_row *row)
{
    struct nd_sketch_row *held = nd_arena_alloc(&reader->held, sizeof *held);

    if (!held)
        return NULL;
    *held = *row;
    return nd_sketch_row_hold(held, &reader->held) ? held : NULL;
}

/* Whether an entry is that of the text with this hash; then its row is in the reader's room. */
static bool is_of(const struct nd_known_rows *k, struct known_reader *reader, unsigned parts,
                  const struct known_entry *entry, const struct nd_sketch_row *wanted)
{
    const struct nd_sketch_row_place place = place_of(entry);
    struct nd_sketch_row *row = &reader->row;

    return entry->tag == (tag_of(key_of(wanted)) & 0xFFF) &&
           nd_sketch_file_read_row(k->file[entry->file], &place, parts, &reader->room, row, NULL) ==
               ND_OK &&
           row->text_hash[0] == wanted->text_hash[0] && row->text_hash[1] == wanted->text_hash[1] &&
           row->beside == wanted->beside;
}

static const struct nd_sketch_file *find_listed(const struct nd_known_rows *k,
                                                struct known_reader *reader, unsigned parts,
                                                const struct nd_sketch_row *wanted)
{
    size_t b = bucket_of(k, key_of(wanted));
    size_t n = (size_t)(k->bucket[b + 1] - k->bucket[b]);
    struct listed_row listed;

    if (nd_spool_read(k->list, k->bucket[b] * sizeof listed, n * sizeof listed, &reader->bucket,
                      NULL) != ND_OK)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        memcpy(&listed, reader->bucket.data + i * sizeof listed, sizeof listed);
        if (listed.hash == key_of(wanted) && is_of(k, reader, parts, &listed.entry, wanted))
            return k->file[listed.entry.file];
    }
    return NULL;
}

/* The row of a document's text, in the worker's room, and its file; NULL: none. */
static const struct nd_sketch_file *find(struct nd_known_rows *k, unsigned worker, unsigned parts,
                                         const struct nd_document *document)
{
    struct known_reader *reader = &k->reader[worker];
    struct nd_sketch_row wanted;

    if (!k->n)
        return NULL;
    nd_document_row_identify(&k->beside, document, &wanted);
    if (k->list)
        return find_listed(k, reader, parts, &wanted);
    for (uint64_t at = key_of(&wanted) & (k->n_entries - 1); k->entry[at].row_words;
         at = (at + 1) & (k->n_entries - 1))
        if (is_of(k, reader, parts, &k->entry[at], &wanted))
            return k->file[k->entry[at].file];
    return NULL;
}

const struct nd_sketch_row *nd_known_rows_find(struct nd_known_rows *k, unsigned worker,
                                               const struct nd_document *document)
{
    struct known_reader *reader = &k->reader[worker];
    const struct nd_sketch_file *file = find(k, worker, ND_SKETCH_FILE_ROWS, document);

    return file ? hold(reader, &reader->row) : NULL;
}

const struct nd_sketch_row *nd_known_rows_find_whole(struct nd_known_rows *k, unsigned worker,
                                                     const struct nd_document *document)
{
    const struct nd_sketch_file *file = find(k, worker, ND_SKETCH_FILE_ALL, document);

    return file && nd_sketch_file_info(file)->keeps.shingles ? &k->reader[worker].row : NULL;
}
