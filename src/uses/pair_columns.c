/* pair_columns.c - further columns of a pair: its terms, lengths and edit distance */

/*
 * Henzinger (2006) tells the pairs of two algorithms apart by the terms that only one of the pages
 * has. Words are counted, whatever shingles the recipe compares. An edit distance takes time in
 * proportion to the product of both lengths where the texts have little in common, so a pair may
 * take a bounded number of steps.
 */
#include "uses/pair_columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Cells of the table of distances (nd_edit_limit_for): a tenth of a second at most.  So any distance
 * of two texts of up to 2^15 tokens is found. */
#define CELLS_OF_A_PAIR (UINT64_C(1) << 26)

void nd_pair_texts_release(struct nd_pair_texts *t)
{
    nd_tokeniser_free(t->tokeniser);
    free(t->token[0]);
    free(t->token[1]);
    *t = (struct nd_pair_texts){.columns = 0};
}

enum nd_status nd_pair_texts_take(struct nd_pair_texts *t, unsigned which, struct nd_view text,
                                  struct nd_error *err)
{
    const uint64_t *hash;
    size_t count;
    int got;

    if (!t->tokeniser && !(t->tokeniser = nd_tokeniser_new()))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    t->n[which] = 0;
    nd_tokeniser_start(t->tokeniser, text.data, text.len);
    while ((got = nd_tokeniser_next(t->tokeniser, &hash, &count)) == 1) {
        if (!ND_RESERVE(t->token[which], &t->capacity[which], t->n[which] + count))
            return nd_fail(err, ND_ENOMEM, "out of memory");
        memcpy(t->token[which] + t->n[which], hash, count * sizeof *hash);
        t->n[which] += count;
    }
    return got == 0           ? ND_OK
           : got == ND_EINVAL ? nd_fail(err, ND_EINVAL, "a text is not valid UTF-8")
                              : nd_fail(err, ND_ENOMEM, "out of memory");
}

enum nd_status nd_pair_texts_measure(const struct nd_pair_texts *t, struct nd_pair_numbers *out,
                                     struct nd_error *err)
{
    const struct nd_edit_costs costs = nd_edit_costs_default();
    struct nd_term_overlap terms;
    enum nd_status status = ND_OK;

    *out = (struct nd_pair_numbers){.tokens_a = t->n[0], .tokens_b = t->n[1]};
    if (t->columns & ND_PAIR_TERMS) {
        status = nd_terms_compare(t->token[0], t->n[0], t->token[1], t->n[1], &terms, err);
        out->shared_terms = terms.distinct.shared;
        out->terms = terms.distinct.a + terms.distinct.b - 2 * terms.distinct.shared;
    }
    if (status == ND_OK && t->columns & ND_PAIR_EDIT)
        status = nd_edit_distance(t->token[0], t->n[0], t->token[1], t->n[1], &costs,
                                  nd_edit_limit_for(t->n[0], t->n[1], &costs, CELLS_OF_A_PAIR),
                                  &out->edit, err);
    return status;
}
