/* neardup/feature.h - from a document to weighted features (docs/format/features.md) */
#ifndef NEARDUP_FEATURE_H
#define NEARDUP_FEATURE_H

#include <neardup/df.h>
#include <neardup/error.h>
#include <neardup/ratio.h>
#include <neardup/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ND_FEATURE_LIST_MAX 255 /* bytes of a list or a name in a parameter */
#define ND_FEATURE_PATH_MAX 1023

/* What one feature is. */
enum nd_feature_unit {
    ND_FEATURE_TERMS,      /* one term */
    ND_FEATURE_SHINGLES,   /* `width` consecutive terms (001) */
    ND_FEATURE_CHARACTERS, /* `width` consecutive code points of the normalised text (002 s. 5.3a)
                            */
    ND_FEATURE_SENTENCES,  /* the terms of a sentence (COPS; 002 s. 5.3a) */
    ND_FEATURE_SPOTS,      /* a stop word and the next `width` other terms, `distance` apart */
    ND_FEATURE_PATHS,      /* an element of the page, by its path from the root (000 s. 2.5.3) */
    ND_FEATURE_NONE,       /* nothing of the content: fields and links alone */
};

/* Whether equal features are one (000 Table 3.1) or count each time (the literal formula of 000
 * s. 3). */
enum nd_feature_count { ND_FEATURE_DISTINCT, ND_FEATURE_OCCURRENCES };

/* Which of the features are used. */
enum nd_feature_select {
    ND_SELECT_ALL,
    ND_SELECT_FIRST,    /* the first select_count */
    ND_SELECT_RAREST,   /* the select_count rarest by the df table */
    ND_SELECT_KTH,      /* every select_count-th */
    ND_SELECT_SENTENCE, /* the select_count-th of each sentence */
    ND_SELECT_ANCHORED, /* those that begin with one of the anchor words (sif) */
    ND_SELECT_UNCOMMON, /* those that stand in no more than select_count documents of the df table
                         */
};

enum nd_strip {
    ND_STRIP_NONE,
    ND_STRIP_NUMBERS, /* every token with a digit */
    ND_STRIP_DATES,   /* and date and time expressions, month and weekday names (000 s. 4.2) */
};

/* What text, fields and links become as features.  Start from nd_feature_params_default(). */
struct nd_feature_params {
    enum nd_feature_unit unit;
    unsigned width;    /* 1 … 32 */
    unsigned distance; /* spots: 1 … 32 */
    enum nd_feature_count count;
    enum nd_feature_select select;
    unsigned select_count;
    char anchors[ND_FEATURE_LIST_MAX + 1]; /* words that begin selected shingles */
    /* Least pointwise mutual information of a pair of neighbouring terms that is a feature of its
     * own (002 s. 5.3e); 0: no phrases; below 0: every pair, as a df table must count them. */
    double phrases;

    unsigned char join_apostrophes; /* "Japan's" is japans (000 s. 6.4.2) */
    /* "none", "english" (built in), "df:0.1" (document frequency above that share), or a path */
    char stop_words[ND_FEATURE_PATH_MAX + 1];
    char stem[32]; /* "none" or a Snowball language */
    enum nd_strip strip;
    unsigned least_length; /* code points of a term; 0: any (004 s. 6.3: 4) */
    unsigned most_digits;  /* in a term; 32: any (004 s. 6.3: 1) */

    /* Words within a shingle that stands in more documents than this are template text (000 s. 2.1,
     * 2.5.3), which is left out, or weighs less: nd_weight_params.template_weight; 0: none is. */
    unsigned template_count;
    const struct nd_df *template_table; /* of shingles; whoever opened it has it; NULL: none */

    /* Metadata (000 s. 4.1): "title:1 date:0.5 section": field and share of the greatest content
     * weight, 1 where there is none; "views:1:0:1000000": a numeric field, its weight rising with
     * the distance from the middle of the range; "views:1:0:1000000:8": its bucket, of 8, with
     * the whole weight; "words:0.5:weights": a JSON object of values with weights of their own.
     * docs/format/weights.md, "Metadata". */
    char fields[ND_FEATURE_LIST_MAX + 1];
    char force[ND_FEATURE_LIST_MAX + 1]; /* "date:2": one unit above the 2nd smallest sum */

    /* The field whose value the reserved bits of a simhash hold, instead of the length (000 s.
     * 7.1.1); empty: none. */
    char reserved_field[ND_FEATURE_LIST_MAX + 1];

    unsigned char links;    /* targets of links as features (002 s. 5.3d) */
    unsigned anchor_window; /* words around a link that count with it; 0: none (002 s. 5.3c) */
};
ND_API struct nd_feature_params nd_feature_params_default(void);

/*
 * The names of the document's fields that `fields`, `force` and `reserved_field` read, each once
 * and each ended by a zero; *n: how many.  ND_EINVAL: a list that cannot be read.
 */
#define ND_FEATURE_NAMES_MAX (3 * (ND_FEATURE_LIST_MAX + 1))
ND_API enum nd_status nd_feature_field_names(const struct nd_feature_params *features,
                                             char names[ND_FEATURE_NAMES_MAX], size_t *n,
                                             struct nd_error *err);

enum nd_tf { ND_TF_COUNT, ND_TF_LOG, ND_TF_BINARY }; /* n; 1 + ln n; 1 */
enum nd_idf {
    ND_IDF_NONE,
    ND_IDF_INVERSE,
    ND_IDF_LOG,
    ND_IDF_NIDF
}; /* 1; 1/n; ln(N/n);
ln(N/n)/ln N (004 s. 6.6) */
enum nd_position {
    ND_POSITION_NONE,
    ND_POSITION_LOG,         /* ln(i + 1) / (i + 1) (000 s. 5.3) */
    ND_POSITION_INVERSE,     /* 1 / i */
    ND_POSITION_INVERSE_LOG, /* 1 / ln i, from the third on; before it as the third */
    ND_POSITION_COSINE,      /* cos(2 pi i / L) + 1 */
    ND_POSITION_TABLE,       /* piecewise linear, position_table */
};
enum nd_markup_rule { ND_MARKUP_IGNORE, ND_MARKUP_MULTIPLY, ND_MARKUP_ADD };

/*
 * Weights, in this order: tf·idf, markup, position, clip, thresholds, metadata, forced fields,
 * quantise.  Shares are of the greatest weight.  0 switches a step off.
 */
struct nd_weight_params {
    enum nd_tf tf;
    enum nd_idf idf;
    enum nd_markup_rule markup;
    double markup_boost; /* 1.5 (000 s. 5.4) */
    enum nd_position position;
    char
        position_table[ND_FEATURE_LIST_MAX + 1]; /* "0:1 0.5:0.2 1:1": share of the length:weight */
    double clip_quantile; /* weights above this quantile come down to it: 0 < q < 1 */
    unsigned clip_rank;   /* or above the clip_rank-th greatest (000 s. 7.1.2) */
    /* Weights below low · max become 0 (0.01), and so do those below high · max (0.5): the same but
     * for the name (000 s. 7.1.2).  `neardup df calibrate` finds the one that drops a share of the
     * features of 500 documents, as 000 s. 6.4.3 did, and prints it. */
    double low, high;
    double band_low, band_high; /* keep band_low … band_high after scaling to [0, 1]; 0 0: all */
    unsigned top;               /* the greatest top weights (20) */
    double top_share;           /* or this share of them */
    unsigned char normalise_length; /* one factor for the document: changes no simhash bit */
    double template_weight; /* of features that begin in template text; 0: they are left out */
};
ND_API struct nd_weight_params nd_weight_params_default(void);

/* The greatest weight after quantising; sums are int64. */
#define ND_WEIGHT_ONE (1 << 15)

/* Whether documents need their markup and links for these: nd_input_options.markup. */
ND_API int nd_feature_reads_markup(const struct nd_feature_params *features,
                                   const struct nd_weight_params *weights);
/* Whether they need their elements: nd_input_options.elements. */
ND_API int nd_feature_reads_elements(const struct nd_feature_params *features);
/* Whether words and characters of the text, or how many there are, change nothing. */
ND_API int nd_feature_ignores_text(const struct nd_feature_params *features);

/* What a document was made into; borrowed from the featurer until its next document. */
struct nd_features {
    const struct nd_feature *at; /* distinct, in order of first occurrence (or each occurrence) */
    const uint64_t *hash;        /* NULL; but see nd_featurer_run_hashes */
    size_t count;                /* weight 0 stands in it too, so that counts agree */
    size_t n_metadata;           /* the last so many of them come from fields, not from the text */
    const struct nd_feature *forced; /* hash, and n (for 2^-n) as weight, in recipe order */
    size_t n_forced;
    const uint32_t *df; /* of each feature in the df table (1: unseen), NULL without a table */
    uint64_t unit;      /* the weight that ND_WEIGHT_ONE stands for, in 2^-32; 0: no features */
    uint64_t n_tokens;  /* of the text, before any was dropped; of paths: elements */
    uint64_t n_terms;   /* occurrences that were left */
    uint64_t reserved;  /* the hash of reserved_field's value; 0: the document has none */
    unsigned char has_reserved; /* there is such a field in the parameters */
};

/* The working memory of one thread.  `df` is shared and outlives it; NULL where nothing asks it. */
struct nd_featurer;

/* NULL and *err: ND_EINVAL (what does not fit together, a list that cannot be read, a df table
 * that is missing), ND_EIO (stop word file), ND_EUNSUPPORTED (built without the stemmer),
 * ND_ENOMEM. */
ND_API struct nd_featurer *nd_featurer_new(const struct nd_feature_params *features,
                                           const struct nd_weight_params *weights,
                                           const struct nd_df *df, struct nd_error *err);
ND_API void nd_featurer_free(struct nd_featurer *f);

/* ND_EINVAL: the document's text is not valid UTF-8; ND_ENOMEM.  After a failure, of this and of
 * the functions below, the featurer can be used as before. */
ND_API enum nd_status nd_featurer_run(struct nd_featurer *f, const struct nd_document *document,
                                      struct nd_features *out);

/*
 * As nd_featurer_run, for a signer: where every feature weighs ND_WEIGHT_ONE and none comes from a
 * field, their hashes alone: out->hash, and out->at is NULL.  What nd_featurer_run returns.
 */
ND_API enum nd_status nd_featurer_run_hashes(struct nd_featurer *f,
                                             const struct nd_document *document,
                                             struct nd_features *out);

/* Where a feature stands: from the first byte of its first token to the last of its last one. */
struct nd_feature_place {
    uint64_t hash;
    uint64_t offset, len; /* bytes of document->text */
};

/*
 * Every occurrence of the selected features of the text, in order, whatever `count` says: for
 * showing passages.  Paths and fields stand nowhere in the text: none.  The caller frees *place.
 * Slow.  What nd_featurer_run returns.
 */
ND_API enum nd_status nd_featurer_locate(struct nd_featurer *f, const struct nd_document *document,
                                         struct nd_feature_place **place, size_t *n_places);

/* The features as people read them: text of each in out->at's order, '\n' between them; the
 * caller frees *text.  Slow.  What nd_featurer_run returns. */
ND_API enum nd_status nd_featurer_explain(struct nd_featurer *f, const struct nd_document *document,
                                          char **text, size_t *len, struct nd_features *out);

#ifdef __cplusplus
}
#endif
#endif
