/* sketching.h - which recipes are served, and what a text is looked up and compared by */
#ifndef ND_STORE_SEARCH_SKETCHING_H
#define ND_STORE_SEARCH_SKETCHING_H

#include <stdbool.h>
#include <stdint.h>

#include "candidates/row_maker.h"
#include "store/catalog/catalog.h"

/* A recipe at work.  Never changed once it is made: all threads read it. */
struct nd_sketching {
    struct nd_row_plan rows;
    struct nd_index_params index; /* of the store's index */
    struct nd_ratio least;        /* down to here neighbours can be found; 0/0: the threshold */
    uint64_t fingerprint;         /* of the recipe's sketches, and of what the index is made for */
};
/* ND_EUNSUPPORTED: the recipe is not served, and the message names the key; ND_EINVAL, ND_ENOMEM. */
enum nd_status nd_sketching_init(struct nd_sketching *sketching, const struct nd_recipe *recipe,
                                 struct nd_ratio least, struct nd_error *err);
/* As nd_store_check_at. */
enum nd_status nd_sketching_check_at(const struct nd_sketching *sketching, struct nd_ratio at,
                                     struct nd_error *err);
void nd_sketching_release(struct nd_sketching *sketching);

/* Whether pairs are decided by the shingles that two texts share, not by distance alone. */
static inline bool nd_sketching_reads_shingles(const struct nd_sketching *sketching)
{
    return sketching->rows.plan.params.verify == ND_VERIFY_JACCARD;
}

/* Whether pairs are decided by a rule on signatures, other than the distance of one simhash of 64
 * bits. */
static inline bool nd_sketching_signs(const struct nd_sketching *sketching)
{
    return sketching->rows.kind == ND_ROW_KEYS;
}

/* The parts of a document that the recipe reads beside its text: they are in its content
 * (record/content.h). */
const struct nd_beside *nd_sketching_beside(const struct nd_sketching *sketching);
/* Return the text of a content that was read before. */
struct nd_view nd_text_of(const struct nd_sketching *sketching, struct nd_view content);
/* Whether it reads any: then documents of one text may be different contents. */
bool nd_sketching_reads_beside(const struct nd_sketching *sketching);

/* The hashes and signatures of a content: what the rooms of the store call a text. */
struct nd_sketched {
    struct nd_view text;
    struct nd_text_hash hash;
    struct nd_index_row row; /* without group and keys; its simhash is what decides by distance */
    uint64_t n_tokens, n_shingles;
    const uint64_t *shingle; /* distinct; NULL where the recipe does not compare them */
    /* Its signatures, if nd_sketching_signs; NULL: the text has none. */
    const struct nd_document_signatures *signatures;
    bool is_short, is_empty;
    enum nd_equal_by equal_by;
};

/* Whether documents that share an entry are duplicates of one another. */
bool nd_entry_equals_itself(const struct nd_sketching *sketching, const struct nd_entry *entry);

/* The working memory of one thread. */
struct nd_sketch_maker {
    const struct nd_sketching *sketching;
    struct nd_row_maker maker;
    struct nd_arena document; /* what the content at hand has beside the text */
};
/* False: nd_sketch_maker_release frees what was made. */
bool nd_sketch_maker_init(struct nd_sketch_maker *maker, const struct nd_sketching *sketching,
                          struct nd_error *err);
void nd_sketch_maker_release(struct nd_sketch_maker *maker);

/* Sketch a content.  What *out points to is valid until the maker's next one.  ND_EINVAL: the text is
 * not valid UTF-8, or the content is none; ND_ENOMEM; ND_EUNSUPPORTED: it is too long. */
enum nd_status nd_sketch_text(struct nd_sketch_maker *maker, struct nd_view text,
                              struct nd_sketched *out, struct nd_error *err);

/* The minima of the text that was sketched last. */
void nd_sketch_minima(const struct nd_sketch_maker *maker, uint32_t minhash[ND_MINHASH_COUNT]);

/* The distinct shingles of another text, until the next; what was sketched stays.  ND_ENOMEM. */
enum nd_status nd_shingles_of(struct nd_sketch_maker *maker, struct nd_view text,
                              const uint64_t **shingle, size_t *n, struct nd_error *err);

/* Whether the bytes of two texts are equal, whatever stands beside them. */
bool nd_texts_equal(const struct nd_sketching *sketching, struct nd_view a, struct nd_view b);
/* 1: the tokens of two texts are equal; 0: they are not; ND_ENOMEM. */
int nd_tokens_equal(struct nd_sketch_maker *maker, struct nd_view a, struct nd_view b,
                    struct nd_error *err);

#endif
