/* equal.c - which documents are equal: one rule for every command, kind of cluster and recipe
 *
 * Two documents of a group with the same bytes are equal, and so are two with the same tokens that
 * have w tokens or more.  A document of fewer tokens says too little to be told by its tokens, so
 * its policy decides: the same bytes (identical), the same tokens (tokens), or nothing (keep).  One
 * without tokens is compared by its bytes.  Where no signature reads the text, it decides nothing.
 *
 * Each is an equivalence: the documents of a group fall into classes of equal ones, whatever their
 * security labels are.
 */
#include "engine/document/equal.h"

#include <string.h>

#include "match/same_tokens.h"

enum nd_equal_by nd_equal_by(const struct nd_engine_plan *plan, bool is_short, bool is_empty)
{
    if (nd_engine_plan_ignores_text(plan))
        return ND_EQUAL_NEVER;
    if (!is_short)
        return ND_EQUAL_BY_TOKENS;
    switch (plan->params.short_policy) {
    case ND_SHORT_KEEP: return ND_EQUAL_NEVER;
    case ND_SHORT_TOKENS: return is_empty ? ND_EQUAL_BY_BYTES : ND_EQUAL_BY_TOKENS;
    case ND_SHORT_IDENTICAL: break;
    }
    return ND_EQUAL_BY_BYTES;
}

bool nd_equal_bytes(struct nd_view a, struct nd_view b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

enum nd_status nd_texts_identical(const struct nd_sketch_params *params,
                                  const struct nd_document *left, const struct nd_document *right,
                                  enum nd_identical *identical, struct nd_error *err)
{
    const struct nd_view a = left->text, b = right->text;
    struct nd_tokeniser *tokeniser[2];
    int same = ND_ENOMEM;

    *identical = ND_IDENTICAL_NO;
    if (left->text_replaced != right->text_replaced)
        return ND_OK;
    if (nd_equal_bytes(a, b)) {
        *identical = ND_IDENTICAL_BYTES;
        return ND_OK;
    }
    tokeniser[0] = nd_tokeniser_new();
    tokeniser[1] = nd_tokeniser_new();
    if (tokeniser[0] && tokeniser[1])
        same = nd_same_as_sketched(params, tokeniser, a, b);
    nd_tokeniser_free(tokeniser[0]);
    nd_tokeniser_free(tokeniser[1]);
    if (same < 0)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    *identical = same ? ND_IDENTICAL_TOKENS : ND_IDENTICAL_NO;
    return ND_OK;
}
