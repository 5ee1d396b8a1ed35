/* stop_words.h - which tokens are left out for being common: a list, a file, a share of a df table
 */
#ifndef ND_FEATURE_STOP_WORDS_H
#define ND_FEATURE_STOP_WORDS_H

#include <neardup/df.h>
#include <neardup/error.h>
#include <neardup/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nd_stop_words {
    bool is_english; /* the table of word_table.h */
    uint64_t *hash;  /* of a file's words, ascending */
    size_t count;
    bool by_df;
    uint64_t df_limit; /* terms in more documents than that */
};

/* `s` is zeroes.  ND_EINVAL, ND_EIO, ND_ENOMEM; release it in any case. */
enum nd_status nd_stop_words_init(struct nd_stop_words *s, const char *spec, bool join_apostrophes,
                                  const struct nd_df *df, struct nd_error *err);
void nd_stop_words_release(struct nd_stop_words *s);

/* Whether a specification is "df:SHARE", and the share of one that is; ND_EINVAL. */
bool nd_stop_words_are_by_df(const char *spec);
enum nd_status nd_stop_words_share(const char *spec, struct nd_ratio *share, struct nd_error *err);

/* Whether there are any. */
static inline bool nd_stop_words_any(const struct nd_stop_words *s)
{
    return s->is_english || s->count > 0 || s->by_df;
}

/* The distinct token hashes of a text, ascending.  *hash is the caller's.  False: out of memory. */
bool nd_hashes_of_text(const char *text, size_t len, bool join_apostrophes, uint64_t **hash,
                       size_t *count);
bool nd_hashes_have(const uint64_t *hash, size_t count, uint64_t value);

#endif
