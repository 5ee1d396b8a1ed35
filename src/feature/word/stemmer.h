/* stemmer.h - the stem of a token: the one place that knows libstemmer */
#ifndef ND_FEATURE_WORD_STEMMER_H
#define ND_FEATURE_WORD_STEMMER_H

#include <neardup/error.h>
#include <neardup/types.h>

/* The version of Snowball: its stems are part of what recipes make. */
#define ND_STEM_VERSION "2.2.0"

enum { ND_STEM_MAX = 255 }; /* longer tokens are their own stems */

/* The working memory of one thread. */
struct nd_stemmer;

/* NULL and *err: ND_EINVAL (a language that Snowball has not), ND_EUNSUPPORTED (built without
 * stemmers), ND_ENOMEM. */
struct nd_stemmer *nd_stemmer_new(const char *language, struct nd_error *err);
void nd_stemmer_free(struct nd_stemmer *s);

/* The stem of a normalised form, borrowed until the next call; .data NULL: out of memory. */
struct nd_view nd_stemmer_run(struct nd_stemmer *s, struct nd_view form);

#endif
