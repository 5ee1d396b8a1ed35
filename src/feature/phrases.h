/* phrases.h - which pairs of terms are phrases, by their pointwise mutual information (002 s. 5.3e)
 */
#ifndef ND_FEATURE_PHRASES_H
#define ND_FEATURE_PHRASES_H

#include <neardup/df.h>

#include <stdbool.h>
#include <stdint.h>

struct nd_phrase_answer;

/* The working memory of one thread: answers of the df table, in a table of fixed size. */
struct nd_phrases {
    bool is_used, has_all; /* every pair: for building a df table */
    const struct nd_df *df;
    uint64_t factor; /* e^threshold in 2^-16 */
    struct nd_phrase_answer *answer;
};

/* `p` is zeroes.  threshold: at most ND_PHRASES_MAX; 0: none, below 0: all.  False: out of memory.
 */
#define ND_PHRASES_MAX 30.0
bool nd_phrases_init(struct nd_phrases *p, double threshold, const struct nd_df *df);
void nd_phrases_release(struct nd_phrases *p);

/* The feature of a pair: the shingle of both (docs/format/sketch.md). */
uint64_t nd_phrase_hash(uint64_t first, uint64_t second);

/* Say that nd_phrases_have will be asked soon. */
void nd_phrases_prefetch(const struct nd_phrases *p, uint64_t first, uint64_t second);

/* ln(p(a b) / (p(a) p(b))) >= threshold, with p = document frequency / documents. */
bool nd_phrases_have(struct nd_phrases *p, uint64_t first, uint64_t second);

#endif
