/* neardup/feature.h - from a document to weighted features (docs/format/features.md)
 *
 * Library: neardup.
 *
 *     struct nd_feature_params features = nd_feature_params_default();
 *     struct nd_weight_params weights = nd_weight_params_default();
 *     struct nd_featurer *f = nd_featurer_new(&features, &weights, NULL, &err);
 *
 *     if (f && nd_featurer_run(f, &document, &made) == ND_OK)
 *         use(made.items, made.count);
 */
#ifndef NEARDUP_FEATURE_H
#define NEARDUP_FEATURE_H

#include <neardup/df.h>
#include <neardup/error.h>
#include <neardup/ratio.h>
#include <neardup/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of a list or a name in a parameter, and of a path. */
#define ND_FEATURE_LIST_MAX 255
#define ND_FEATURE_PATH_MAX 1023

/* The unit of a feature. */
enum nd_feature_unit {
    /* One term. */
    ND_FEATURE_TERMS,
    /* `width` consecutive terms (Broder 1997). */
    ND_FEATURE_SHINGLES,
    /* `width` consecutive code points of the normalised text (Manku 2007, §5.3a). */
    ND_FEATURE_CHARACTERS,
    /* The terms of a sentence (Brin 1995; Manku 2007, §5.3a). */
    ND_FEATURE_SENTENCES,
    /* A stop word and the next `width` other terms, `distance` apart (Theobald 2008, §3). */
    ND_FEATURE_SPOTS,
    /* An element of the page, by its path from the root (Seshasai 2009, §2.5.3). */
    ND_FEATURE_PATHS,
    /* Nothing of the content: the features are fields and links alone. */
    ND_FEATURE_NONE,
};

/* How equal features count. */
enum nd_feature_count {
    /* They are one feature (Seshasai 2009, Table 3.1). */
    ND_FEATURE_DISTINCT,
    /* Each occurrence is a feature (the literal formula of Seshasai 2009, §3). */
    ND_FEATURE_OCCURRENCES,
};

/* Which of the features are used. */
enum nd_feature_select {
    /* All. */
    ND_SELECT_ALL,
    /* The first select_count. */
    ND_SELECT_FIRST,
    /* The select_count rarest by the df table. */
    ND_SELECT_RAREST,
    /* Every select_count-th. */
    ND_SELECT_KTH,
    /* The select_count-th of each sentence. */
    ND_SELECT_SENTENCE,
    /* Features that begin with one of the anchor words (Seshasai 2009, §2.5.1: sif). */
    ND_SELECT_ANCHORED,
    /* Features that stand in no more than select_count documents of the df table. */
    ND_SELECT_UNCOMMON,
};

/* The part of the text that is stripped. */
enum nd_strip {
    /* Nothing. */
    ND_STRIP_NONE,
    /* Every token with a digit. */
    ND_STRIP_NUMBERS,
    /* Also date and time expressions, month and weekday names (Seshasai 2009, §4.2). */
    ND_STRIP_DATES,
};

/* How text, fields and links become features.  Start from nd_feature_params_default(). */
struct nd_feature_params {
    enum nd_feature_unit unit;
    /* Terms or code points of a feature, 1 … 32. */
    unsigned width;
    /* The distance in spots from one term to the next, 1 … 32. */
    unsigned distance;
    enum nd_feature_count count;
    enum nd_feature_select select;
    unsigned select_count;
    /* The words that selected shingles begin with. */
    char anchors[ND_FEATURE_LIST_MAX + 1];
    /*
     * The smallest pointwise mutual information of a pair of neighbouring terms that is a feature
     * of its own (Manku 2007, §5.3e); 0: no phrases; below 0: every pair, as a df table must count
     * them.
     */
    double phrases;

    /* Whether apostrophes within words are dropped: "Japan's" is japans (Seshasai 2009, §6.4.2). */
    unsigned char join_apostrophes;
    /* "none", "english" (built in), "df:0.1" (terms in more than that fraction of the documents),
     * or the path of a file. */
    char stop_words[ND_FEATURE_PATH_MAX + 1];
    /* "none" or a Snowball language. */
    char stem[32];
    enum nd_strip strip;
    /* For units of words. */
    enum nd_quoted_mail mail_quotes;
    /* For who reads pages, as in struct nd_sketch_params: df tables that differ in it count other texts. */
    enum nd_boilerplate boilerplate;
    /* The fewest code points of a term; 0: any (Kolcz 2004, §6.3: 4). */
    unsigned least_length;
    /* The most digits in a term; 32: any number (Kolcz 2004, §6.3: 1). */
    unsigned most_digits;

    /*
     * Words within a shingle that stands in more documents than this are template text (Seshasai
     * 2009, §2.1, §2.5.3), which is left out or weighs less (nd_weight_params.template_weight); 0:
     * nothing is template text.
     */
    unsigned template_count;
    /* The df table of these shingles, which the caller keeps open; NULL: none. */
    const struct nd_df *template_table;

    /*
     * Fields as features (Seshasai 2009, §4.1; docs/format/weights.md, "Metadata").
     *
     *   title:1 date:0.5 section   fields, and what fraction of the greatest content weight each
     *                              has; 1 where none is given
     *   views:1:0:1000000          a numeric field, whose weight rises with the distance from the
     *                              middle of the range
     *   views:1:0:1000000:8        its bucket, of 8, with the whole weight
     *   words:0.5:weights          a JSON object of values with weights of their own
     *   url:1:address              an address, in its canonical form (docs/format/urls.md)
     */
    char fields[ND_FEATURE_LIST_MAX + 1];
    /* Fields that decide bits of a simhash: "date:2" weighs one unit above the 2nd smallest sum. */
    char force[ND_FEATURE_LIST_MAX + 1];
    /* The field whose value the reserved bits of a simhash hold in place of the length (Seshasai
     * 2009, §7.1.1); empty: none. */
    char reserved_field[ND_FEATURE_LIST_MAX + 1];

    /* Whether the targets of links are features (Manku 2007, §5.3d). */
    unsigned char links;
    /* How many words around a link count with its anchor; 0: none (Manku 2007, §5.3c). */
    unsigned anchor_window;
};
ND_API struct nd_feature_params nd_feature_params_default(void);

/* Bytes that the names of nd_feature_field_names need at most. */
#define ND_FEATURE_NAMES_MAX (3 * (ND_FEATURE_LIST_MAX + 1))

/*
 * The names of the document's fields that `fields`, `force` and `reserved_field` read, each once
 * and each ended by a zero; *n: how many.  ND_EINVAL: a list that cannot be read.
 */
ND_API enum nd_status nd_feature_field_names(const struct nd_feature_params *features,
                                             char names[ND_FEATURE_NAMES_MAX], size_t *n,
                                             struct nd_error *err);

/* The weight of a feature that occurs n times. */
enum nd_tf {
    /* n */
    ND_TF_COUNT,
    /* 1 + ln n */
    ND_TF_LOG,
    /* 1 */
    ND_TF_BINARY,
};

/* The weight of a feature in n of N documents. */
enum nd_idf {
    /* 1 */
    ND_IDF_NONE,
    /* 1 / n */
    ND_IDF_INVERSE,
    /* ln(N / n) */
    ND_IDF_LOG,
    /* ln(N / n) / ln N (Kolcz 2004, §6.6) */
    ND_IDF_NIDF,
};

/* The weight of word i of a text of L words. */
enum nd_position {
    /* 1 */
    ND_POSITION_NONE,
    /* ln(i + 1) / (i + 1) (Seshasai 2009, §5.3) */
    ND_POSITION_LOG,
    /* 1 / i */
    ND_POSITION_INVERSE,
    /* 1 / ln i from the third word on; the first two count as the third */
    ND_POSITION_INVERSE_LOG,
    /* cos(2 pi i / L) + 1 */
    ND_POSITION_COSINE,
    /* piecewise linear: position_table */
    ND_POSITION_TABLE,
};

/* The effect of a word's markup on its weight. */
enum nd_markup_rule { ND_MARKUP_IGNORE, ND_MARKUP_MULTIPLY, ND_MARKUP_ADD };

/*
 * How features are weighed.  The steps are, in this order: tf·idf, markup, position, clip,
 * thresholds, metadata, forced fields, quantise.  Fractions are of the greatest weight.  0 switches
 * a step off.
 */
struct nd_weight_params {
    enum nd_tf tf;
    enum nd_idf idf;
    enum nd_markup_rule markup;
    /* 1.5 (Seshasai 2009, §5.4). */
    double markup_boost;
    enum nd_position position;
    /* "0:1 0.5:0.2 1:1": fractions of the length, and the weight at each. */
    char position_table[ND_FEATURE_LIST_MAX + 1];
    /* Weights above this quantile, 0 < q < 1, are lowered to it, */
    double clip_quantile;
    /* and so are those above the clip_rank-th greatest (Seshasai 2009, §7.1.2). */
    unsigned clip_rank;
    /*
     * Weights below low · max become 0 (0.01), and so do those below high · max (0.5): the two
     * differ in name only (Seshasai 2009, §7.1.2).  `neardup df calibrate` finds and prints the
     * value that drops a fraction of the features of 500 documents, as Seshasai 2009, §6.4.3 did.
     */
    double low, high;
    /* Keep the weights from band_low to band_high, after scaling to [0, 1]; 0 and 0: all. */
    double band_low, band_high;
    /* Keep the greatest `top` weights (20), */
    unsigned top;
    /* or this fraction of them. */
    double top_share;
    /* Divide by the length of the document.  One factor for all: it changes no simhash bit. */
    unsigned char normalise_length;
    /* The weight of features that begin in template text; 0: they are left out. */
    double template_weight;
};
ND_API struct nd_weight_params nd_weight_params_default(void);

/* The greatest weight after quantising; sums are int64. */
#define ND_WEIGHT_ONE (1 << 15)

/* Whether these parameters read the markup and links of documents: nd_input_options.markup. */
ND_API int nd_feature_reads_markup(const struct nd_feature_params *features,
                                   const struct nd_weight_params *weights);

/* Whether they read the elements of pages: nd_input_options.elements. */
ND_API int nd_feature_reads_elements(const struct nd_feature_params *features);

/* Whether they ignore the words and characters of the text, and how many there are. */
ND_API int nd_feature_ignores_text(const struct nd_feature_params *features);

/* The features of a document, borrowed from the featurer until its next document. */
struct nd_features {
    /* Distinct, in the order of their first occurrence; or all occurrences, in order.  Features of
     * weight 0 stand here too, so that counts agree. */
    const struct nd_feature *items;
    /* NULL, but see nd_featurer_run_hashes. */
    const uint64_t *hash;
    size_t count;
    /* How many of them, the last ones, come from fields and links and not from the text. */
    size_t n_metadata;
    /* The forced fields, in the order of the recipe: a hash, and n of 2^-n as weight. */
    const struct nd_feature *forced;
    size_t n_forced;
    /* How many documents of the df table have each item (1: unseen); NULL without a table. */
    const uint32_t *df;
    /* The weight that ND_WEIGHT_ONE stands for, in 2^-32; 0: there are no features. */
    uint64_t unit;
    /* Tokens of the text before any was dropped; of paths, elements. */
    uint64_t n_tokens;
    /* Occurrences of terms that were left. */
    uint64_t n_terms;
    /* The hash of the value of reserved_field; 0: the document has none. */
    uint64_t reserved;
    /* Whether the parameters name a reserved_field. */
    unsigned char has_reserved;
};

/* A featurer: the working memory of one thread. */
struct nd_featurer;

/*
 * `df` may be shared by threads and must outlive the featurer; NULL where nothing needs it.  NULL
 * and *err: ND_EINVAL (what does not fit together, a list that cannot be read, a df table that is
 * missing), ND_EIO (file of stop words), ND_EUNSUPPORTED (built without the stemmer), ND_ENOMEM.
 */
ND_API struct nd_featurer *nd_featurer_new(const struct nd_feature_params *features,
                                           const struct nd_weight_params *weights,
                                           const struct nd_df *df, struct nd_error *err);
ND_API void nd_featurer_free(struct nd_featurer *f);

/* Make the features of a document.  ND_EINVAL: its text is not valid UTF-8; ND_ENOMEM.  After a
 * failure, of this and of the functions below, the featurer can be used as before. */
ND_API enum nd_status nd_featurer_run(struct nd_featurer *f, const struct nd_document *document,
                                      struct nd_features *out);

/*
 * Make the features for a signer: where every feature weighs ND_WEIGHT_ONE and none comes from a
 * field, only their hashes are made: out->hash has them, and out->items is NULL.  It returns what
 * nd_featurer_run does.
 */
ND_API enum nd_status nd_featurer_run_hashes(struct nd_featurer *f,
                                             const struct nd_document *document,
                                             struct nd_features *out);

/* The place of a feature in document->text: from the first byte of its first token to the last byte
 * of its last one. */
struct nd_feature_place {
    uint64_t hash;
    uint64_t offset, len;
};

/*
 * List every occurrence of the selected features of the text, in order, whatever `count` says: for
 * showing passages.  Paths and fields do not stand in the text and are not listed.  The caller
 * frees *place with free().  Slow.  It returns what nd_featurer_run does.
 */
ND_API enum nd_status nd_featurer_locate(struct nd_featurer *f, const struct nd_document *document,
                                         struct nd_feature_place **place, size_t *n_places);

/*
 * Make the features and their texts, as people read them: the text of each of out->items, in order,
 * with '\n' between them.  The caller frees *text with free().  Slow.  It returns what
 * nd_featurer_run does.
 */
ND_API enum nd_status nd_featurer_explain(struct nd_featurer *f, const struct nd_document *document,
                                          char **text, size_t *len, struct nd_features *out);

#ifdef __cplusplus
}
#endif
#endif
