/*
 * metadata.h - fields and link targets as features (Seshasai 2009, §4.1, §7.1.1; Manku 2007, §5.3d)
 */
#ifndef ND_FEATURE_METADATA_H
#define ND_FEATURE_METADATA_H

#include <neardup/error.h>
#include <neardup/feature.h>
#include <neardup/types.h>

#include <stdbool.h>
#include <stddef.h>

/* The working memory of one thread. */
struct nd_metadata;

/* Reads `fields`, `force` and `links`.  NULL and *err: ND_EINVAL (a list that cannot be read, with
 * the entry named), ND_ENOMEM. */
struct nd_metadata *nd_metadata_new(const struct nd_feature_params *params, struct nd_error *err);
void nd_metadata_free(struct nd_metadata *m);

/* The features of a document's fields and links; borrowed until the next document. */
struct nd_metadata_features {
    const struct nd_feature *items; /* in the order of `fields`, then the links' */
    size_t count;
    const struct nd_feature *forced; /* hash, and n of 2^-n as weight, in the order of `force` */
    size_t n_forced;
    const char
        *text; /* of each in `items`, then of each in `forced`, as people read them, with '\n'
                         after each; only after nd_metadata_explain */
    size_t text_len;
};

/* A decimal number in 10^-9. */
typedef __int128 nd_decimal;

/* The whole of a text as a number: "12", "-0.5", "1e6"; digits beyond 10^-9 are cut, 10^18 is the
 * greatest.  False: it is none. */
bool nd_decimal_parse(const char *text, size_t len, nd_decimal *out);

/* The hash of a field's value, to stand in reserved bits; 0: the document has none. */
uint64_t nd_metadata_reserved(const struct nd_document *document, const char *field);

/* ND_ENOMEM. */
enum nd_status nd_metadata_run(struct nd_metadata *m, const struct nd_document *document,
                               struct nd_metadata_features *out);
enum nd_status nd_metadata_explain(struct nd_metadata *m, const struct nd_document *document,
                                   struct nd_metadata_features *out);

#endif
