/*
 * neardup/sketch_file.h - the sketches of a corpus in a file (docs/format/sketch-file.md)
 *
 *     struct nd_sketch_file *file = nd_sketch_file_open("corpus.sketch", &err);
 *     struct nd_sketch_block block = {0};
 *
 *     for (size_t i = 0; i < nd_sketch_file_info(file)->blocks; i++)
 *         if (nd_sketch_file_read(file, i, ND_SKETCH_FILE_ALL, &block, &err) == ND_OK)
 *             printf("%zu documents\n", block.n);
 *     nd_sketch_block_release(&block);
 *     nd_sketch_file_close(file);
 *
 * Library: neardup.
 */
#ifndef NEARDUP_SKETCH_FILE_H
#define NEARDUP_SKETCH_FILE_H

#include <stdio.h>

#include <neardup/error.h>
#include <neardup/recipe.h>
#include <neardup/signature.h>
#include <neardup/sketch.h>
#include <neardup/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most fields of documents that records keep. */
#define ND_SKETCH_FIELDS_MAX 8
/* In place of the name of a field: the length of the text (nd_text_length), in decimal digits. */
#define ND_SKETCH_LENGTH_FIELD ""

/* The place of a row in its file (nd_sketch_file_read_row). */
struct nd_sketch_row_place {
    /* Offsets in the file; shingles 0: it has none. */
    uint64_t row, shingles;
    uint32_t row_bytes, n_shingles;
};

/*
 * The record of a document: what is kept of it in place of its text, whether in a file or in memory.
 * It holds what the recipe compares (nd_sketch_kept_of).
 */
struct nd_sketch_row {
    /* XXH3 of the text, 128 bits: the lower half first. */
    uint64_t text_hash[2];
    uint64_t identity, simhash;
    uint64_t tokens, text_bytes;
    /* Distinct shingles. */
    uint32_t n_shingles;
    /* Its source, and where its record is in it. */
    uint32_t source;
    uint64_t offset;
    /* From 1; 0: the document is a whole file. */
    uint64_t line;
    struct nd_view id;
    enum nd_id_kind id_kind;
    /* The low byte of each minimum; 0 where minima are not kept. */
    uint8_t low[ND_MINHASH_COUNT];
    /* The signatures of the recipe, in its order, and the greatest number of tokens that one of them
     * was made of, by which rules compare lengths. */
    struct nd_signature signature[ND_RECIPE_SIGNATURES];
    uint64_t length;
    /* A hash of what the signatures read beside the text: fields, markup, links; 0: nothing. */
    uint64_t beside;
    /* The values of the fields that the file keeps (nd_sketch_row_field), as they are stored. */
    struct nd_view fields;
    unsigned n_fields;
    /* Ascending, n_shingles of them; NULL: they were not kept, or not read. */
    const uint64_t *shingles;
    /* The place of a row that was read from a file. */
    struct nd_sketch_row_place place;
};

/* The words of a signature of a row; NULL: it is rejected. */
static inline const uint64_t *nd_sketch_row_words(const struct nd_sketch_row *row, unsigned i)
{
    return row->signature[i].is_rejected ? NULL : row->signature[i].word;
}

/* The value of the i-th field that the file keeps; data NULL: the document has none.  *replaced becomes
 * a hash of the bytes of the value that were repaired; 0: none. */
ND_API struct nd_view nd_sketch_row_field(const struct nd_sketch_row *row, unsigned i,
                                          uint64_t *replaced);

/* The parts of a record that some recipes do without. */
struct nd_sketch_kept {
    /* 1: the record has the low bytes of its minima; the hashes of its shingles. */
    unsigned char minima, shingles;
};
/* Return the parts by which the recipe compares documents: without minima where a rule on signatures
 * finds the candidates, without shingles where the rule decides alone. */
ND_API struct nd_sketch_kept nd_sketch_kept_of(const struct nd_recipe *recipe);

/* A file that documents were read from. */
struct nd_sketch_source {
    const char *path;
    /* The name within an archive, or NULL. */
    const char *entry;
    /* XXH3 of the file as stored; 0: unknown. */
    uint64_t bytes_hash;
    uint64_t records;
};

/* ---- Reading ---------------------------------------------------------------------------------- */

/* A signature that the rows of a file have. */
struct nd_sketch_signature {
    enum nd_signature_kind kind;
    enum nd_signature_form form;
    /* Bits of each; of values and coordinates, of each of these. */
    unsigned bits;
    /* 64-bit words of each; 0: their number varies, as of values. */
    unsigned words;
};

struct nd_sketch_file_info {
    /* The canonical text of the recipe, and its fingerprint. */
    struct nd_view recipe;
    uint64_t recipe_fingerprint;
    uint64_t generation;
    uint64_t documents;
    uint32_t blocks, sources;
    /* The signatures of the recipe, in its order. */
    unsigned n_signatures;
    struct nd_sketch_signature signature[ND_RECIPE_SIGNATURES];
    struct nd_sketch_kept keeps;
    /* The fields of documents whose values are kept. */
    unsigned n_fields;
    const char *field[ND_SKETCH_FIELDS_MAX];
    /* Up to the end of the directory. */
    uint64_t bytes;
    /* It has the documents of part `part` of `parts` of an input (struct nd_input_part); 0: of all. */
    uint32_t part, parts;
};

/* Return the bits of the fingerprint of each document, where the only signature of the file is a
 * simhash; 0: there is none. */
static inline unsigned nd_sketch_fingerprint_bits(const struct nd_sketch_file_info *info)
{
    return info->n_signatures == 1 && info->signature[0].kind == ND_SIGNATURE_SIMHASH
               ? info->signature[0].bits
               : 0;
}

/*
 * A file that is open to be read: by any number of threads at once, also while another process adds
 * to it.  What was added after it was opened is not seen.
 */
struct nd_sketch_file;

/* NULL: ND_EIO; ND_EINPUT: it is no sketch file, is damaged, or has another version; ND_ENOMEM. */
ND_API struct nd_sketch_file *nd_sketch_file_open(const char *path, struct nd_error *err);
/* Open a sketch file by a descriptor, which becomes the sketch file's, also on failure; `path` is
 * what messages call it. */
ND_API struct nd_sketch_file *nd_sketch_file_open_descriptor(const char *path, int descriptor,
                                                             struct nd_error *err);
/* NULL is allowed. */
ND_API void nd_sketch_file_close(struct nd_sketch_file *file);
/* Both live as long as the file is open.  NULL: there is no such source. */
ND_API const struct nd_sketch_file_info *nd_sketch_file_info(const struct nd_sketch_file *file);
ND_API const struct nd_sketch_source *nd_sketch_file_source(const struct nd_sketch_file *file,
                                                            uint32_t number);

/* The parts of a block that are read. */
enum nd_sketch_file_parts {
    ND_SKETCH_FILE_ROWS = 1,
    /* The rows, and their shingles where the file has them. */
    ND_SKETCH_FILE_ALL = 3
};

/* The rows of a block, which point into its memory.  Starts from zeroes. */
struct nd_sketch_block {
    struct nd_sketch_row *rows;
    size_t n;
    /* The number of the first row among all documents. */
    uint64_t first;
    struct nd_sketch_block_memory *memory;
};
ND_API void nd_sketch_block_release(struct nd_sketch_block *block);

/* Read a block, in place of what `block` held.  ND_EINVAL: there is no such block; ND_EINPUT: a
 * row, or the shingles of one, are not what was written; ND_EIO, ND_ENOMEM. */
ND_API enum nd_status nd_sketch_file_read(const struct nd_sketch_file *file, size_t number,
                                          unsigned parts, struct nd_sketch_block *block,
                                          struct nd_error *err);

/* Memory for a single row.  Starts from zeroes. */
struct nd_sketch_room {
    char *bytes;
    uint64_t *shingle;
    size_t bytes_capacity, shingle_capacity;
};
ND_API void nd_sketch_room_release(struct nd_sketch_room *room);

/*
 * Read one row again by its place, without the rest of its block; with ND_SKETCH_FILE_ALL its
 * shingles too.  It points into `room`, whose last row is gone.  ND_EINPUT: it is not what was
 * written; ND_EIO, ND_ENOMEM.
 */
ND_API enum nd_status nd_sketch_file_read_row(const struct nd_sketch_file *file,
                                              const struct nd_sketch_row_place *place,
                                              unsigned parts, struct nd_sketch_room *room,
                                              struct nd_sketch_row *row, struct nd_error *err);

/*
 * Whether sketches of the two recipes can be compared.  ND_EINVAL: the message names the first key
 * that differs.  Keys of [decide] may differ.
 */
ND_API enum nd_status nd_sketch_file_fits(const struct nd_sketch_file *file,
                                          const struct nd_recipe *recipe, struct nd_error *err);

/* ---- Writing ---------------------------------------------------------------------------------- */

struct nd_sketch_writer;

struct nd_sketch_writer_options {
    /* nd_sketch_kept_of the recipe, or those of a file whose rows are copied. */
    struct nd_sketch_kept keeps;
    /* The fields whose values are kept: at most ND_SKETCH_FIELDS_MAX, with names of 200 bytes at most. */
    const char *const *fields;
    size_t n_fields;
    /* The documents are those of this part of an input, from 1; 0, 0: of all. */
    uint32_t part, parts;
    /* The name of the file in messages; NULL: "the sketch file". */
    const char *name;
};

/*
 * Write a file of sketches that the recipe made to a stream, which can be sought in and stays the
 * caller's (nd_result_file_stream).  NULL: ND_EINVAL (the stream cannot be sought in), ND_ENOMEM,
 * ND_EIO.
 */
ND_API struct nd_sketch_writer *nd_sketch_writer_new(FILE *stream, const struct nd_recipe *recipe,
                                                     const struct nd_sketch_writer_options *options,
                                                     struct nd_error *err);
/* NULL is allowed.  Without nd_sketch_writer_finish the file is none. */
ND_API void nd_sketch_writer_free(struct nd_sketch_writer *writer);

/* The bytes of a row, made by any thread.  Starts from zeroes. */
struct nd_packed_row {
    char *data;
    size_t len, capacity;
    size_t row_len; /* the shingles begin here */
};
ND_API void nd_packed_row_release(struct nd_packed_row *packed);
/* Replaces what *packed held.  The shingles need not be in order: `scratch`, room for 2 *
 * n_shingles numbers, is then where they are sorted; NULL: they are ascending.  ND_EINVAL: an id of
 * 2^32 bytes; ND_ENOMEM.
 */
ND_API enum nd_status nd_sketch_row_pack(const struct nd_sketch_writer *writer,
                                         const struct nd_sketch_row *row, uint64_t *scratch,
                                         struct nd_packed_row *packed, struct nd_error *err);
/* Add a row; one thread.  ND_EIO, ND_ENOMEM. */
ND_API enum nd_status nd_sketch_writer_add(struct nd_sketch_writer *writer,
                                           const struct nd_packed_row *packed,
                                           struct nd_error *err);
/* Add the next source; its strings are copied. */
ND_API enum nd_status nd_sketch_writer_add_source(struct nd_sketch_writer *writer,
                                                  const struct nd_sketch_source *source,
                                                  struct nd_error *err);
/* Everything was added: complete the file.  ND_EINVAL: a row names a source that was not added. */
ND_API enum nd_status nd_sketch_writer_finish(struct nd_sketch_writer *writer,
                                              struct nd_error *err);

/* ---- Adding to a file ------------------------------------------------------------------------- */

/*
 * A file that is open to be added to.  Nobody else can open it so until this is closed; readers see
 * the file as it was when they opened it.
 */
struct nd_sketch_appender;

/*
 * Open `path` to add sketches that `recipe` made.  A file that does not exist is made, without a
 * document, by `create` (NULL: it must exist).  NULL: ND_EIO; ND_EINVAL: the file's recipe is
 * another one (nd_sketch_file_fits), or another process adds to the file; ND_EINPUT: it is no sketch
 * file, or is damaged; ND_ENOMEM.
 */
ND_API struct nd_sketch_appender *
nd_sketch_appender_open(const char *path, const struct nd_recipe *recipe,
                        const struct nd_sketch_writer_options *create, struct nd_error *err);
/* Without nd_sketch_appender_commit the file is as it was before; one that was made for this goes
 * away again.  NULL is allowed. */
ND_API void nd_sketch_appender_close(struct nd_sketch_appender *appender);

/* The file as it was opened, and what adds to it (nd_sketch_row_pack, nd_sketch_writer_add).  Both
 * live as long as the appender. */
ND_API const struct nd_sketch_file *
nd_sketch_appender_file(const struct nd_sketch_appender *appender);
ND_API struct nd_sketch_writer *nd_sketch_appender_writer(struct nd_sketch_appender *appender);

/*
 * The number by which rows refer to a source.  A source that is in the file already, with the same
 * path, name and known hash, keeps its number; any other is added.  ND_ENOMEM.
 */
ND_API enum nd_status nd_sketch_appender_source(struct nd_sketch_appender *appender,
                                                const struct nd_sketch_source *source,
                                                uint32_t *number, struct nd_error *err);

/*
 * Everything was added: make it part of the file, on the disk.  The file has all of it after ND_OK,
 * none of it after a kill or a failure before its head is replaced, and all or none of it after one
 * meanwhile.  Can be called once.  ND_EINVAL: a row names a source that was not added, or it was
 * called before; ND_EIO, ND_ENOMEM.
 */
ND_API enum nd_status nd_sketch_appender_commit(struct nd_sketch_appender *appender,
                                                struct nd_error *err);

#ifdef __cplusplus
}
#endif
#endif
