/* compare_quotes.h - the exact comparison of what may quote a text, or be quoted by it */
#ifndef ND_STORE_SEARCH_COMPARE_QUOTES_H
#define ND_STORE_SEARCH_COMPARE_QUOTES_H

#include "store/search/search.h"

/* Compare the candidates that nd_quotes_collect found exactly, at most max_checks in each set; the
 * hits that are left have the share. */
enum nd_status nd_quotes_compare(struct nd_quotes *quotes, const struct nd_contained *contained,
                                 struct nd_search *search, const struct nd_sketched *text,
                                 const struct nd_search_source *source, struct nd_error *err);

#endif
