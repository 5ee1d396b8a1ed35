/* compare_quotes.c - the exact comparison of what may quote a text, or be quoted by it */
#include "store/search/compare_quotes.h"

#include "match/measure.h"

/* Whether a text and an entry with the same shingles are equal. */
static enum nd_status find_identical(struct nd_search *search, const struct nd_sketched *text,
                                     const struct nd_search_source *source, struct nd_quote *hit,
                                     struct nd_error *err)
{
    struct nd_view other;
    enum nd_status status = source->fetch(source->context, hit->number, &other, err);
    int same;

    if (status != ND_OK)
        return status;
    same = nd_equal_bytes(text->text, other);
    hit->identical = same ? ND_IDENTICAL_BYTES : ND_IDENTICAL_TOKENS;
    if (!same)
        same = nd_tokens_equal(search->maker, text->text, other, err);
    if (same == 0)
        hit->identical = ND_IDENTICAL_NO;
    return same < 0 ? (enum nd_status)same : ND_OK;
}

/* Whether the smaller of the two has the share in the other one.  1, 0, < 0. */
static int compare_one(const struct nd_contained *contained, struct nd_search *search,
                       const struct nd_sketched *text, const struct nd_search_source *source,
                       struct nd_quote *hit, struct nd_error *err)
{
    const struct nd_ratio share = contained->params.threshold;
    uint64_t least;
    enum nd_status status =
        nd_search_shared(search, text, source, hit->number, &hit->n_shingles, &hit->shared, err);

    if (status != ND_OK)
        return (int)status;
    least = hit->n_shingles < text->n_shingles ? hit->n_shingles : text->n_shingles;
    if ((unsigned __int128)hit->shared * share.q < (unsigned __int128)least * share.p)
        return 0;
    hit->identical = ND_IDENTICAL_NO;
    if (hit->shared == hit->n_shingles && hit->shared == text->n_shingles)
        status = find_identical(search, text, source, hit, err);
    return status == ND_OK ? 1 : (int)status;
}

enum nd_status nd_quotes_compare(struct nd_quotes *quotes, const struct nd_contained *contained,
                                 struct nd_search *search, const struct nd_sketched *text,
                                 const struct nd_search_source *source, struct nd_error *err)
{
    size_t most = search->maker->sketching->rows.plan.params.max_checks, in_set = 0, n = 0;

    for (size_t i = 0; i < quotes->n_hits; i++) {
        struct nd_quote hit = quotes->hit[i];
        int found = 1;

        if (i > 0 && hit.set != quotes->hit[i - 1].set)
            in_set = 0;
        if (source->is_there)
            found = source->is_there(source->context, hit.number, err);
        if (found == 1) {
            quotes->n_candidates++;
            if (in_set++ == most)
                quotes->was_cut = true;
            found = in_set > most ? 0 : compare_one(contained, search, text, source, &hit, err);
            quotes->n_compared += in_set <= most;
        }
        if (found < 0)
            return (enum nd_status)found;
        if (found)
            quotes->hit[n++] = hit;
    }
    quotes->n_hits = n;
    return ND_OK;
}
