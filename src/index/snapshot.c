/* snapshot.c - the live index as a file: written whole, and opened soon */

/*
 * The format is docs/format/snapshot.md.  A file has a header, a list of checksums, and sections:
 * the columns and the tables as they stand in memory, each cut into chunks that have a checksum.
 *
 * Opening reads the tables, since a look-up goes to all of them at random and needs huge pages, and
 * since what they hold must be numbers that exist.  The columns are mapped.  They are read where a
 * candidate is compared, and any bytes there are harmless: they can only make an answer wrong.
 */
#include "index/snapshot.h"

#include <neardup/result_file.h>

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/system/c_functions.h"
#include "base/system/descriptor.h"
#include "index/live_state.h"

enum { PAGE = ND_SNAPSHOT_PAGE, CHUNK = ND_SNAPSHOT_CHUNK };
_Static_assert((int)ND_LIVE_TABLES_MAX <= (int)ND_SNAPSHOT_TABLES_MAX, "a table has its lines");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "memory has the bytes of the file");

struct nd_live_file {
    int fd;
    char *path;
    uint64_t base; /* where the snapshot begins in the file */
    struct nd_snapshot_header header;
    uint64_t *check;
    struct nd_snapshot_place place[ND_SNAPSHOT_SECTIONS];
    uint64_t file_bytes;
    uint64_t next; /* chunk to check: those of the tables, the last, were when they were read */
    unsigned char *buffer;
};

void nd_live_file_close(struct nd_live_file *file)
{
    if (!file)
        return;
    if (file->fd >= 0)
        (void)nd_descriptor_close(file->fd);
    free(file->check);
    free(file->buffer);
    free(file->path);
    free(file);
}

int nd_live_file_columns(const struct nd_live_file *file, uint64_t offset[ND_LIVE_BACKED])
{
    offset[0] = file->base + file->place[ND_SNAPSHOT_LOW].offset;
    offset[1] = file->base + file->place[ND_SNAPSHOT_SIMHASH].offset;
    offset[2] = file->base + file->place[ND_SNAPSHOT_IDENTITY].offset;
    offset[3] = file->base + file->place[ND_SNAPSHOT_GATE].offset;
    offset[4] = file->base + file->place[ND_SNAPSHOT_LEFT_OUT_AT].offset;
    offset[5] = file->base + file->place[ND_SNAPSHOT_LEFT_OUT].offset;
    return file->fd;
}

static uint64_t round_to_page(uint64_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

uint64_t nd_snapshot_lay_out(const struct nd_snapshot_header *h, struct nd_snapshot_place *place,
                             uint64_t *n_chunks)
{
    const uint64_t bytes[ND_SNAPSHOT_SECTIONS] = {
        [ND_SNAPSHOT_LOW] = (uint64_t)h->n * ND_MINHASH_COUNT,
        [ND_SNAPSHOT_SIMHASH] = (uint64_t)h->n * sizeof(uint64_t),
        [ND_SNAPSHOT_IDENTITY] = (uint64_t)h->n * sizeof(uint64_t),
        [ND_SNAPSHOT_GATE] = (uint64_t)h->n * sizeof(struct nd_live_gate),
        [ND_SNAPSHOT_FLAGS] = h->n,
        [ND_SNAPSHOT_LEFT_OUT] = h->n_left_out * sizeof(struct nd_table_set),
        [ND_SNAPSHOT_LEFT_OUT_AT] = h->n_left_out ? (uint64_t)h->n * sizeof(uint32_t) : 0,
        [ND_SNAPSHOT_TABLES] = h->n_lines * sizeof(struct nd_multimap_line)};
    uint64_t at = PAGE;

    *n_chunks = 0;
    for (unsigned s = 0; s < ND_SNAPSHOT_SECTIONS; s++) {
        place[s] =
            (struct nd_snapshot_place){0, bytes[s], *n_chunks, (bytes[s] + CHUNK - 1) / CHUNK};
        *n_chunks += place[s].n_chunks;
    }
    at += round_to_page(*n_chunks * sizeof(uint64_t));
    for (unsigned s = 0; s < ND_SNAPSHOT_SECTIONS; s++) {
        place[s].offset = at;
        at += round_to_page(bytes[s]);
    }
    return at;
}

static size_t chunk_bytes(const struct nd_snapshot_place *place, uint64_t chunk)
{
    uint64_t rest = place->bytes - chunk * CHUNK;

    return rest < CHUNK ? (size_t)rest : CHUNK;
}

void nd_snapshot_seal(struct nd_snapshot_header *h)
{
    unsigned char page[PAGE] = {0};

    h->hash = 0;
    memcpy(page, h, sizeof *h);
    h->hash = nd_hash_bytes(page, PAGE);
}

/* ---- Writing ---- */

/*
 * Sections are written from the first to the last, a chunk at a time, and each chunk is hashed on its
 * way.  The header and the checksums come last, to where they belong.  Now and then what was written
 * is synced, so that the disk never has so much to do at once that others wait for it.
 */
enum { SYNC_EVERY = 64 << 20 };
struct snapshot_writing {
    const char *path;
    FILE *out;
    uint64_t base; /* where the snapshot begins in the file */
    uint64_t *check;
    uint64_t chunk; /* the present one */
    unsigned char *buffer;
    size_t filled;   /* of the present chunk */
    size_t unsynced; /* bytes */
};

static enum nd_status cannot_write(const struct snapshot_writing *w, struct nd_error *err)
{
    return nd_fail(err, ND_EIO, "%s: cannot be written: %s", w->path, strerror(errno));
}

static enum nd_status put(struct snapshot_writing *w, const void *data, size_t bytes,
                          struct nd_error *err)
{
    if (bytes && fwrite(data, 1, bytes, w->out) != bytes)
        return cannot_write(w, err);
    w->unsynced += bytes;
    if (w->unsynced < SYNC_EVERY)
        return ND_OK;
    w->unsynced = 0;
    if (fflush(w->out) != 0 ||
        (!nd_descriptor_sync_data(nd_stream_descriptor(w->out)) && errno != EINVAL))
        return cannot_write(w, err);
    return ND_OK;
}

/* Zeroes after so many bytes, up to a page. */
static enum nd_status pad(struct snapshot_writing *w, uint64_t bytes, struct nd_error *err)
{
    static const unsigned char zeroes[PAGE];

    return put(w, zeroes, (size_t)(round_to_page(bytes) - bytes), err);
}

static enum nd_status end_chunk(struct snapshot_writing *w, const void *data, size_t bytes,
                                struct nd_error *err)
{
    w->check[w->chunk++] = nd_hash_bytes(data, bytes);
    return put(w, data, bytes, err);
}

/* The next bytes of a section: whole chunks as they are, the rest through the buffer. */
static enum nd_status put_section(struct snapshot_writing *w, const void *data, size_t bytes,
                                  struct nd_error *err)
{
    const unsigned char *from = data;
    enum nd_status status = ND_OK;

    while (status == ND_OK && bytes) {
        size_t n = CHUNK - w->filled < bytes ? CHUNK - w->filled : bytes;

        if (n == CHUNK) {
            status = end_chunk(w, from, CHUNK, err);
        } else {
            memcpy(w->buffer + w->filled, from, n);
            w->filled += n;
            if (w->filled == CHUNK) {
                w->filled = 0;
                status = end_chunk(w, w->buffer, CHUNK, err);
            }
        }
        from += n;
        bytes -= n;
    }
    return status;
}

/* The rest of a section that has so many bytes, and its padding. */
static enum nd_status end_section(struct snapshot_writing *w, uint64_t bytes, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (w->filled)
        status = end_chunk(w, w->buffer, w->filled, err);
    w->filled = 0;
    return status == ND_OK ? pad(w, bytes, err) : status;
}

static const void *column_data(const struct nd_index *index, enum nd_snapshot_section s)
{
    switch (s) {
    case ND_SNAPSHOT_LOW: return index->low.data;
    case ND_SNAPSHOT_SIMHASH: return index->simhash.data;
    case ND_SNAPSHOT_IDENTITY: return index->identity.data;
    case ND_SNAPSHOT_GATE: return index->gate.data;
    case ND_SNAPSHOT_FLAGS: return index->flags.data;
    case ND_SNAPSHOT_LEFT_OUT: return index->left_out.data;
    case ND_SNAPSHOT_LEFT_OUT_AT: return index->left_out_at.data;
    case ND_SNAPSHOT_TABLES:
    case ND_SNAPSHOT_SECTIONS: break;
    }
    return NULL;
}

static enum nd_status put_tables(struct snapshot_writing *w, const struct nd_index *index,
                                 struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (unsigned t = 0; status == ND_OK && t < index->n_tables; t++)
        status = put_section(w, index->table[t].line, nd_multimap_bytes(&index->table[t]), err);
    return status;
}

/* Write the tables of a frozen index, which has none: each is made for the file. */
static enum nd_status put_made_tables(struct snapshot_writing *w, const struct nd_index *index,
                                      const struct nd_snapshot_header *h, struct nd_error *err)
{
    size_t most = (size_t)h->table_lines[index->n_tables - 1] * sizeof(struct nd_multimap_line);
    struct nd_multimap map = {.line = nd_table_alloc(most)};
    enum nd_status status = ND_OK;

    if (!map.line)
        return nd_fail(err, ND_ENOMEM, "out of memory for a snapshot");
    for (unsigned t = 0; status == ND_OK && h->n && t < index->n_tables; t++) {
        map.n_lines = h->table_lines[t];
        map.count = 0;
        memset(map.line, 0, nd_multimap_bytes(&map));
        nd_live_fill_range(index, t, 0, index->n, &map);
        status = put_section(w, map.line, nd_multimap_bytes(&map), err);
    }
    nd_table_free(map.line, most);
    return status;
}

static enum nd_status write_sections(struct snapshot_writing *w, const struct nd_index *index,
                                     const struct nd_snapshot_header *h,
                                     const struct nd_snapshot_place *place, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (!nd_stream_seek(w->out, (w->base + place[0].offset)))
        return cannot_write(w, err);
    for (enum nd_snapshot_section s = ND_SNAPSHOT_LOW; status == ND_OK && s < ND_SNAPSHOT_SECTIONS;
         s++) {
        if (s < ND_SNAPSHOT_TABLES)
            status = put_section(w, column_data(index, s), place[s].bytes, err);
        else if (index->is_frozen)
            status = put_made_tables(w, index, h, err);
        else
            status = put_tables(w, index, err);
        if (status == ND_OK)
            status = end_section(w, place[s].bytes, err);
    }
    return status;
}

static enum nd_status write_all(struct snapshot_writing *w, const struct nd_index *index,
                                struct nd_snapshot_header *h, const struct nd_snapshot_place *place,
                                struct nd_error *err)
{
    const size_t bytes = h->n_chunks * sizeof *w->check;
    enum nd_status status = write_sections(w, index, h, place, err);

    h->hash_of_checks = nd_hash_bytes(w->check, bytes);
    nd_snapshot_seal(h);
    if (status == ND_OK && !nd_stream_seek(w->out, w->base))
        status = cannot_write(w, err);
    if (status == ND_OK)
        status = put(w, h, sizeof *h, err);
    if (status == ND_OK)
        status = pad(w, sizeof *h, err);
    if (status == ND_OK)
        status = put(w, w->check, bytes, err);
    return status == ND_OK ? pad(w, bytes, err) : status;
}

static void describe(const struct nd_index *index, struct nd_snapshot_header *h)
{
    size_t n_lines[ND_LIVE_TABLES_MAX];

    memcpy(h->magic, ND_SNAPSHOT_MAGIC, sizeof h->magic);
    if (index->is_frozen)
        nd_live_lines_for(index, index->n - index->n_deleted, n_lines);
    for (unsigned t = 0; t < index->n_tables; t++) {
        h->table_lines[t] = (uint32_t)(index->is_frozen ? n_lines[t] : index->table[t].n_lines);
        h->n_lines += h->table_lines[t];
    }
}

enum nd_status nd_index_write(const struct nd_index *index, const struct nd_snapshot_target *target,
                              const void *note, size_t note_len, uint64_t *bytes,
                              struct nd_error *err)
{
    struct nd_snapshot_header header = {.version = ND_SNAPSHOT_VERSION,
                                        .bands = index->params.bands,
                                        .rows = index->params.rows,
                                        .simhash_bits = index->params.simhash_bits,
                                        .n = index->n,
                                        .n_deleted = index->n_deleted,
                                        .n_left_out = index->n_left_out,
                                        .n_keys_left_out = index->n_keys_left_out,
                                        .note_len = note_len};
    struct snapshot_writing w = {.path = target->path, .out = target->out, .base = target->base};
    struct nd_snapshot_place place[ND_SNAPSHOT_SECTIONS];
    enum nd_status status;

    if (note_len)
        memcpy(header.note, note, note_len);
    describe(index, &header);
    *bytes = nd_snapshot_lay_out(&header, place, &header.n_chunks);
    w.check = nd_alloc_array(header.n_chunks, sizeof *w.check);
    w.buffer = nd_alloc_array(1, CHUNK);
    status = w.check && w.buffer ? write_all(&w, index, &header, place, err)
                                 : nd_fail(err, ND_ENOMEM, "out of memory for a snapshot");
    free(w.check);
    free(w.buffer);
    return status;
}

enum nd_status nd_index_save(const struct nd_index *index, const char *path, const void *note,
                             size_t note_len, struct nd_error *err)
{
    struct nd_snapshot_target target = {.path = path};
    struct nd_result_file *file;
    enum nd_status status;
    uint64_t bytes;

    if (note_len > ND_INDEX_NOTE_MAX)
        return nd_fail(err, ND_EINVAL, "a note of %zu bytes is too long: at most %d", note_len,
                       ND_INDEX_NOTE_MAX);
    status = nd_result_file_open(&file, path, NULL, 0, err);
    if (status != ND_OK)
        return status;
    target.out = nd_result_file_stream(file);
    status = nd_index_write(index, &target, note, note_len, &bytes, err);
    if (status == ND_OK)
        return nd_result_file_publish(file, err);
    nd_result_file_discard(file);
    return status;
}

/* ---- Opening ---- */

static enum nd_status damaged(const struct nd_live_file *file, const char *what,
                              struct nd_error *err)
{
    return nd_fail(err, ND_EINPUT, "%s: not a snapshot of an index, or a damaged one: %s",
                   file->path, what);
}

static enum nd_status read_at(const struct nd_live_file *file, void *to, size_t bytes, uint64_t at,
                              struct nd_error *err)
{
    ssize_t n = nd_descriptor_read_at(file->fd, to, bytes, at + file->base);

    if (n < 0)
        return nd_fail(err, ND_EIO, "%s: cannot be read: %s", file->path, strerror(errno));
    return (size_t)n == bytes ? ND_OK : damaged(file, "it ends early", err);
}

static bool lines_add_up(const struct nd_snapshot_header *h)
{
    const struct nd_index_params params = {h->bands, h->rows, h->simhash_bits};
    uint64_t all = 0;

    for (unsigned t = 0; t < ND_SNAPSHOT_TABLES_MAX; t++) {
        if (t >= nd_table_count(&params) && h->table_lines[t])
            return false;
        all += h->table_lines[t];
    }
    return all == h->n_lines;
}

/* Check the header before anything is allocated for it. */
static enum nd_status check_header(struct nd_live_file *file, const unsigned char *page,
                                   struct nd_error *err)
{
    struct nd_snapshot_header *h = &file->header;
    unsigned char copy[PAGE];
    uint64_t n_chunks;

    memcpy(h, page, sizeof *h);
    if (memcmp(h->magic, ND_SNAPSHOT_MAGIC, sizeof h->magic) != 0)
        return damaged(file, "it does not begin as one", err);
    if (h->version != ND_SNAPSHOT_VERSION)
        return nd_fail(err, ND_EINPUT, "%s: a snapshot of version %u; this library reads %d",
                       file->path, h->version, ND_SNAPSHOT_VERSION);
    memcpy(copy, page, PAGE);
    memset(copy + offsetof(struct nd_snapshot_header, hash), 0, sizeof h->hash);
    if (nd_hash_bytes(copy, PAGE) != h->hash)
        return damaged(file, "its header has another checksum", err);
    if (nd_live_check_params(&(struct nd_index_params){h->bands, h->rows, h->simhash_bits}, NULL) !=
        ND_OK)
        return damaged(file, "its header has impossible bands or bits", err);
    if (h->n == UINT32_MAX || h->n_deleted > h->n || h->n_left_out > h->n || !lines_add_up(h) ||
        h->note_len > ND_INDEX_NOTE_MAX)
        return damaged(file, "its header has an impossible number", err);
    if (nd_snapshot_lay_out(h, file->place, &n_chunks) != file->file_bytes ||
        n_chunks != h->n_chunks)
        return damaged(file, "its length differs from what its header says", err);
    return ND_OK;
}

static enum nd_status read_header(struct nd_live_file *file, struct nd_error *err)
{
    unsigned char page[PAGE];
    struct nd_file_about st;
    enum nd_status status;

    if (!nd_descriptor_about(file->fd, &st))
        return nd_fail(err, ND_EIO, "%s: cannot be read: %s", file->path, strerror(errno));
    if (st.kind != ND_FILE_REGULAR)
        return nd_fail(err, ND_EINPUT, "%s: a snapshot is a regular file", file->path);
    if (file->file_bytes == 0)
        file->file_bytes = (uint64_t)st.bytes;
    else if ((uint64_t)st.bytes < file->base + file->file_bytes)
        return damaged(file, "it ends early", err);
    status = read_at(file, page, sizeof page, 0, err);
    return status == ND_OK ? check_header(file, page, err) : status;
}

static enum nd_status read_checks(struct nd_live_file *file, struct nd_error *err)
{
    size_t bytes = file->header.n_chunks * sizeof *file->check;
    enum nd_status status;

    file->check = malloc(bytes + 1);
    file->buffer = malloc(CHUNK);
    if (!file->check || !file->buffer)
        return nd_fail(err, ND_ENOMEM, "out of memory for a snapshot");
    status = read_at(file, file->check, bytes, PAGE, err);
    if (status == ND_OK && nd_hash_bytes(file->check, bytes) != file->header.hash_of_checks)
        return damaged(file, "its list of checksums has another checksum", err);
    return status;
}

/* Read a chunk, and compare its checksum. */
static enum nd_status read_chunk(const struct nd_live_file *file,
                                 const struct nd_snapshot_place *place, uint64_t chunk, void *to,
                                 struct nd_error *err)
{
    size_t bytes = chunk_bytes(place, chunk);
    enum nd_status status = read_at(file, to, bytes, place->offset + chunk * CHUNK, err);

    if (status == ND_OK && nd_hash_bytes(to, bytes) != file->check[place->first_chunk + chunk])
        return damaged(file, "a part of it has another checksum", err);
    return status;
}

/* Look-ups find only numbers that exist, and there is room for one more. */
static bool is_sound(struct nd_multimap *s, uint32_t n)
{
    bool is_full = s->n_lines > 0;

    s->count = 0;
    for (size_t i = 0; i < s->n_lines; i++) {
        const struct nd_multimap_line *line = &s->line[i];

        if (line->n > ND_MULTIMAP_SLOTS)
            return false;
        for (unsigned k = 0; k < line->n; k++)
            if (line->number[k] >= n)
                return false;
        s->count += line->n;
        is_full &= line->n == ND_MULTIMAP_SLOTS;
    }
    return !is_full;
}

static enum nd_status read_tables(struct nd_index *index, const struct nd_live_file *file,
                                  struct nd_error *err)
{
    const struct nd_snapshot_place *place = &file->place[ND_SNAPSHOT_TABLES];
    size_t n_lines[ND_LIVE_TABLES_MAX];
    enum nd_status status = ND_OK;

    if (!place->bytes)
        return ND_OK;
    for (unsigned t = 0; t < index->n_tables; t++)
        n_lines[t] = file->header.table_lines[t];
    if (!nd_multimap_block_make(&index->block, index->table, index->n_tables, n_lines))
        return nd_fail(err, ND_ENOMEM, "out of memory for an index of %u documents", index->n);
    for (uint64_t c = 0; status == ND_OK && c < place->n_chunks; c++)
        status = read_chunk(file, place, c, (char *)index->block.lines + c * CHUNK, err);
    for (unsigned t = 0; status == ND_OK && t < index->n_tables; t++)
        if (!is_sound(&index->table[t], index->n))
            status = damaged(file, "a table has an impossible number", err);
    return status;
}

static enum nd_status map_columns(struct nd_index *index, const struct nd_live_file *file,
                                  struct nd_error *err)
{
    enum { ROOM = 1 << 20 };
    struct nd_column *const column[ND_SNAPSHOT_TABLES] = {
        &index->low,   &index->simhash,  &index->identity,   &index->gate,
        &index->flags, &index->left_out, &index->left_out_at};

    for (enum nd_snapshot_section s = ND_SNAPSHOT_LOW; s < ND_SNAPSHOT_TABLES; s++)
        if (file->place[s].bytes &&
            !nd_column_map(column[s], file->fd, file->base + file->place[s].offset,
                           file->place[s].bytes, ROOM))
            return nd_fail(err, ND_ENOMEM, "%s: cannot be mapped: %s", file->path, strerror(errno));
    return ND_OK;
}

/* Check that the flags of the documents agree with the header and the tables, so that later
 * changes find all as they left it. */
static bool agrees(const struct nd_index *index)
{
    const uint32_t *at = index->left_out_at.data;
    size_t n_listed = 0, n_deleted = 0;

    for (uint32_t i = 0; i < index->n; i++) {
        unsigned flags = *nd_live_flags(index, i);

        n_listed += (flags & ND_LIVE_LISTED) != 0;
        n_deleted += (flags & ND_LIVE_DELETED) != 0;
        if (flags & ND_LIVE_LISTED && flags & ND_LIVE_DELETED)
            return false;
        if (flags & ND_LIVE_LEFT_OUT && (!index->n_left_out || at[i] >= index->n_left_out))
            return false;
    }
    for (unsigned t = 0; t < index->n_tables; t++)
        if (index->table[t].count > n_listed)
            return false;
    return n_deleted == index->n_deleted && index->table[index->n_tables - 1].count == n_listed;
}

static enum nd_status load(struct nd_index *index, const struct nd_live_file *file,
                           struct nd_error *err)
{
    enum nd_status status;

    index->n = file->header.n;
    index->n_deleted = file->header.n_deleted;
    index->n_left_out = (size_t)file->header.n_left_out;
    index->n_keys_left_out = file->header.n_keys_left_out;
    status = read_tables(index, file, err);
    if (status == ND_OK)
        status = map_columns(index, file, err);
    if (status == ND_OK && !agrees(index))
        status = damaged(file, "its documents and its tables disagree", err);
    return status;
}

static enum nd_status open_file(struct nd_live_file *file, const char *path, struct nd_error *err)
{
    enum nd_status status;

    file->path = nd_text_copy(path);
    if (!file->path)
        return nd_fail(err, ND_ENOMEM, "out of memory for a snapshot");
    file->fd = nd_descriptor_open(path, ND_OPEN_READ | ND_OPEN_NOW);
    if (file->fd < 0)
        return nd_fail(err, ND_EIO, "%s: cannot be opened: %s", path, strerror(errno));
    status = read_header(file, err);
    return status == ND_OK ? read_checks(file, err) : status;
}

struct nd_index *nd_index_open(const char *path, void *note, size_t *note_len, struct nd_error *err)
{
    struct nd_index *index = nd_index_open_unchecked(path, note, note_len, err);

    if (!index || nd_index_check(index, SIZE_MAX, NULL, err) == ND_OK)
        return index;
    nd_index_free(index);
    return NULL;
}

struct nd_index *nd_index_open_unchecked(const char *path, void *note, size_t *note_len,
                                         struct nd_error *err)
{
    return nd_index_open_part(path, 0, 0, note, note_len, err);
}

struct nd_index *nd_index_open_part(const char *path, uint64_t base, uint64_t bytes, void *note,
                                    size_t *note_len, struct nd_error *err)
{
    struct nd_live_file *file = calloc(1, sizeof *file);
    struct nd_index *index = NULL;

    if (!file) {
        nd_fail(err, ND_ENOMEM, "out of memory for a snapshot");
        return NULL;
    }
    file->fd = -1;
    file->base = base;
    file->file_bytes = bytes;
    if (open_file(file, path, err) == ND_OK)
        index = nd_index_new(&(struct nd_index_params){file->header.bands, file->header.rows,
                                                       file->header.simhash_bits},
                             err);
    if (!index) {
        nd_live_file_close(file);
        return NULL;
    }
    index->file = file;
    if (load(index, file, err) != ND_OK) {
        nd_index_free(index);
        return NULL;
    }
    if (note)
        memcpy(note, file->header.note, file->header.note_len);
    if (note_len)
        *note_len = (size_t)file->header.note_len;
    return index;
}

enum nd_status nd_index_check(struct nd_index *index, size_t chunks, size_t *n_left,
                              struct nd_error *err)
{
    struct nd_live_file *file = index->file;
    enum nd_status status = ND_OK;
    enum nd_snapshot_section s = ND_SNAPSHOT_LOW;

    for (; file && status == ND_OK && chunks && s < ND_SNAPSHOT_TABLES; s++) {
        const struct nd_snapshot_place *place = &file->place[s];

        while (status == ND_OK && chunks && file->next < place->first_chunk + place->n_chunks) {
            status = read_chunk(file, place, file->next - place->first_chunk, file->buffer, err);
            file->next += status == ND_OK;
            chunks--;
        }
    }
    if (n_left)
        *n_left = file ? (size_t)(file->place[ND_SNAPSHOT_TABLES].first_chunk - file->next) : 0;
    return status;
}
