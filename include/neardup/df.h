/* neardup/df.h - document frequencies of terms: frozen tables (docs/format/df.md)
 *
 * Library: neardup.
 *
 *     struct nd_df *df = nd_df_open("words.df", &err);
 *
 *     if (df)
 *         printf("%u of %" PRIu64 "\n", nd_df_count(df, hash), nd_df_documents(df));
 *     nd_df_close(df);
 */
#ifndef NEARDUP_DF_H
#define NEARDUP_DF_H

#include <neardup/error.h>
#include <neardup/types.h>

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nd_feature_params; /* neardup/feature.h */

/*
 * A df table: of each feature hash, in how many of N documents it stands (Seshasai 2009, §3.3;
 * Kolcz 2004, §6.6).  It is frozen and memory-mapped; any number of threads may read it.  It
 * remembers which features were counted.  The file must not shrink until the table is closed:
 * reading what was cut off raises SIGBUS, which kills a process without a handler for it; the
 * library installs none.
 */
struct nd_df;

/* Open a table and check the whole file.  NULL: ND_EIO, ND_EINPUT (damaged, truncated, not a df
 * table), ND_EUNSUPPORTED (another version), ND_ENOMEM. */
ND_API struct nd_df *nd_df_open(const char *path, struct nd_error *err);
ND_API void nd_df_close(struct nd_df *df);

/* N. */
ND_API uint64_t nd_df_documents(const struct nd_df *df);

/* The number of distinct terms. */
ND_API uint64_t nd_df_terms(const struct nd_df *df);

/* A hash of all that the table holds: its version. */
ND_API uint64_t nd_df_fingerprint(const struct nd_df *df);

/* How many documents have the feature; 0: unseen (weights count it as 1). */
ND_API uint32_t nd_df_count(const struct nd_df *df, uint64_t hash);

/* The greatest normalised idf, 1 in 2^-40. */
#define ND_NIDF_ONE (UINT64_C(1) << 40)

/*
 * The normalised idf of a feature in n documents, ln(N / n) / ln N, in 2^-40: 0 … ND_NIDF_ONE
 * (Kolcz 2004, §6.6, which does not define it).  n = 0 counts as 1 and n above N as N; a table of
 * one document gives 0.  It comes from integer tables and is the same on every processor.
 */
ND_API uint64_t nd_df_nidf(const struct nd_df *df, uint32_t n);

/* Which features were counted, as the lines "key = value" of a recipe, sorted; "": not known.
 * Borrowed until nd_df_close. */
ND_API const char *nd_df_features(const struct nd_df *df);

/*
 * Whether the table counts what `features` need.  Options that do not change what a count means are
 * not compared: fields, links, selection, and for single terms also stop words, what is stripped,
 * and least_length.  ND_EINVAL: it counts something else, and the message names the first
 * difference.
 */
ND_API enum nd_status nd_df_check(const struct nd_df *df, const struct nd_feature_params *features,
                                  struct nd_error *err);

/* The features to count for recipes that use `features`: the part of them that nd_df_check
 * compares, with the rest switched off. */
ND_API struct nd_feature_params nd_df_counted(const struct nd_feature_params *features);

/* One term of a table. */
struct nd_df_term {
    uint64_t hash;
    uint32_t count;
    /* The text of the feature; empty where the table holds no texts. */
    struct nd_view text;
};

/* How far a walk over a table has come.  Starts from zeroes. */
struct nd_df_cursor {
    uint64_t slot, text;
};

/* The next term, in the table's own order.  1, or 0: there are no more. */
ND_API int nd_df_next(const struct nd_df *df, struct nd_df_cursor *cursor, struct nd_df_term *term);

/* Whether the table holds the texts of its terms. */
ND_API int nd_df_has_texts(const struct nd_df *df);

/*
 * A builder of a table.  One thread uses a builder at a time; several builders, one a thread, can
 * be written as one table.  The result depends on the documents, not on their order or on how they
 * are divided among builders.  After ND_EIO or ND_ENOMEM, which may have counted a part of a
 * document, and after it was written, a builder can only be freed: any other call is ND_EINVAL.
 */
struct nd_df_builder;

/* How a table is built. */
struct nd_df_builder_params {
    /* Above this, sorted runs go to a file; at least 1 MB; 0: 256 MB. */
    uint64_t memory_bytes;
    /* The folder of that file; NULL: /tmp. */
    const char *tmp;
    /* The features that are counted; NULL: not known. */
    const struct nd_feature_params *features;
    /* A table whose features are counted instead; NULL: none. */
    const struct nd_df *like;
    unsigned char keep_texts;
};

/* NULL and *err: ND_EINVAL, ND_ENOMEM. */
ND_API struct nd_df_builder *nd_df_builder_new(const struct nd_df_builder_params *params,
                                               struct nd_error *err);
ND_API void nd_df_builder_free(struct nd_df_builder *b);

/*
 * Count one document with its n features; a feature that is listed more than once counts once.
 * `text` holds n texts without line ends, or is NULL; it is only read where texts are kept.  Counts
 * stop at 2^32 - 1.  ND_EIO, ND_ENOMEM, ND_EINVAL: as above.
 */
ND_API enum nd_status nd_df_builder_add(struct nd_df_builder *b, const uint64_t *hash, size_t n,
                                        const struct nd_view *text, struct nd_error *err);

/* Add all documents of another table.  ND_EINVAL, and nothing has changed: it counts other
 * features, or as above; ND_EIO, ND_ENOMEM. */
ND_API enum nd_status nd_df_builder_add_table(struct nd_df_builder *b, const struct nd_df *df,
                                              struct nd_error *err);

/*
 * Write what n builders hold together: under a temporary name in the same folder, synced, renamed.
 * The builders are used up and can only be freed then.  ND_EINVAL, and no builder is used up: n is
 * 0, they count different things, one is named twice, or can only be freed already; ND_EIO,
 * ND_ENOMEM.
 */
ND_API enum nd_status nd_df_builder_write(struct nd_df_builder *const *builder, size_t n,
                                          const char *path, struct nd_error *err);

/* Write the table to an open file, which is empty and seekable: it is flushed, neither synced nor
 * closed. */
ND_API enum nd_status nd_df_builder_write_stream(struct nd_df_builder *const *builder, size_t n,
                                                 FILE *stream, struct nd_error *err);

#ifdef __cplusplus
}
#endif
#endif
