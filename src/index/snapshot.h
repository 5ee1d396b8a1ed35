/* snapshot.h - the parts of a snapshot of the live index (docs/format/snapshot.md) */
#ifndef ND_INDEX_SNAPSHOT_H
#define ND_INDEX_SNAPSHOT_H

#include <neardup/index.h>

#include <stdio.h>

enum { ND_SNAPSHOT_PAGE = 4096, ND_SNAPSHOT_CHUNK = 4 << 20, ND_SNAPSHOT_VERSION = 2 };
/* More tables than any index has. */
enum { ND_SNAPSHOT_TABLES_MAX = 160 };
#define ND_SNAPSHOT_MAGIC "NDLIVE\r\n"

/* The first page: this, then zeroes. */
struct nd_snapshot_header {
    char magic[8];
    uint32_t version;
    uint32_t bands, rows, simhash_bits;
    uint32_t n, n_deleted;
    uint64_t n_lines; /* of all tables */
    uint64_t n_left_out, n_keys_left_out;
    uint64_t n_chunks;
    uint64_t hash_of_checks;
    uint64_t note_len;
    uint64_t hash; /* of the page, with 0 here */
    unsigned char note[ND_INDEX_NOTE_MAX];
    uint32_t table_lines[ND_SNAPSHOT_TABLES_MAX]; /* of each table; 0 behind the last one */
};
_Static_assert(sizeof(struct nd_snapshot_header) <= ND_SNAPSHOT_PAGE, "a header is one page");

enum nd_snapshot_section {
    ND_SNAPSHOT_LOW,
    ND_SNAPSHOT_SIMHASH,
    ND_SNAPSHOT_IDENTITY,
    ND_SNAPSHOT_GATE,
    ND_SNAPSHOT_FLAGS,
    ND_SNAPSHOT_LEFT_OUT,
    ND_SNAPSHOT_LEFT_OUT_AT,
    ND_SNAPSHOT_TABLES,
    ND_SNAPSHOT_SECTIONS
};

/* The place of a section, and which of the checksums are those of its chunks. */
struct nd_snapshot_place {
    uint64_t offset, bytes, first_chunk, n_chunks;
};

/* Lay the sections out by a header whose parameters are allowed; place[ND_SNAPSHOT_SECTIONS].
 * Returns the bytes of the file; *n_chunks: of all sections. */
uint64_t nd_snapshot_lay_out(const struct nd_snapshot_header *header,
                             struct nd_snapshot_place *place, uint64_t *n_chunks);

/* Give a header its checksum. */
void nd_snapshot_seal(struct nd_snapshot_header *header);

/*
 * Write a snapshot into a file of which it is a part, from `base` on, a multiple of the page; it has
 * *bytes.  The stream can be sought in, and is somewhere in it afterwards.  As nd_index_save, but
 * the note is short enough.
 */
struct nd_snapshot_target {
    FILE *out;
    const char *path; /* for messages */
    uint64_t base;
};
enum nd_status nd_index_write(const struct nd_index *index, const struct nd_snapshot_target *target,
                              const void *note, size_t note_len, uint64_t *bytes,
                              struct nd_error *err);

/* As nd_index_open_unchecked, of such a part; bytes 0: what follows `base`, all of it. */
struct nd_index *nd_index_open_part(const char *path, uint64_t base, uint64_t bytes, void *note,
                                    size_t *note_len, struct nd_error *err);

#endif
