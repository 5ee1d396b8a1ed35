/* verdict.c - what a caller is told about a text, from the hit that decides */
#include "store/search/verdict.h"

struct nd_verdict nd_verdict_of_text(const struct nd_sketched *text)
{
    return (struct nd_verdict){.kind = ND_VERDICT_NEW,
                               .likeness.distance = UINT32_MAX,
                               .tokens = text->n_tokens,
                               .shingles = text->n_shingles,
                               .simhash = text->row.simhash,
                               .is_short = text->is_short,
                               .is_empty = text->is_empty};
}

struct nd_likeness nd_likeness_of(const struct nd_sketching *sketching, uint64_t n_shingles,
                                  const struct nd_near_entry *hit)
{
    struct nd_likeness likeness = {.identical = hit->identical, .distance = hit->distance};

    if (nd_sketching_reads_shingles(sketching))
        likeness.overlap = (struct nd_overlap){n_shingles, hit->n_shingles, hit->shared};
    return likeness;
}

void nd_verdict_set_leader(struct nd_verdict *verdict, const struct nd_sketching *sketching,
                           const struct nd_label_sets *sets, const struct nd_near_entry *hit)
{
    verdict->kind =
        hit->identical != ND_IDENTICAL_NO ? ND_VERDICT_DUPLICATE : ND_VERDICT_NEAR_DUPLICATE;
    verdict->likeness = nd_likeness_of(sketching, verdict->shingles, hit);
    verdict->of.labels = nd_label_sets_labels(sets, hit->set, &verdict->of.n_labels);
}

/* Sets ascend in both lists. */
void nd_verdict_count(struct nd_verdict *verdict, struct nd_search *search, const uint32_t *sets,
                      size_t n_sets, size_t *n_visible)
{
    size_t at = 0, n = 0;

    for (size_t i = 0; i < search->n_searched; i++) {
        const struct nd_searched *done = &search->searched[i];

        while (at < n_sets && sets[at] < done->set)
            at++;
        if (at == n_sets)
            break;
        if (sets[at] != done->set)
            continue;
        verdict->work.label_sets++;
        verdict->work.candidates += done->n_met;
        verdict->work.comparisons += done->n_compared;
        verdict->was_cut |= done->was_cut;
    }
    at = 0;
    for (size_t i = 0; i < search->n_hits; i++) {
        struct nd_near_entry hit = search->hit[i];

        while (at < n_sets && sets[at] < hit.set)
            at++;
        if (at == n_sets || sets[at] != hit.set)
            continue;
        search->hit[i] = search->hit[n];
        search->hit[n++] = hit;
    }
    *n_visible = n;
}

int nd_verdict_of_entry(struct nd_leaders *leaders, const struct nd_sketching *sketching,
                        enum nd_equal_by equal_by, uint32_t number, uint32_t set,
                        uint64_t n_shingles, bool is_first, struct nd_near_entry *hit,
                        struct nd_error *err)
{
    int found = nd_leaders_of(leaders, sketching, number, n_shingles, hit, err);

    if (found != 0 || is_first || equal_by == ND_EQUAL_NEVER)
        return found;
    *hit =
        (struct nd_near_entry){.number = number,
                               .set = set,
                               .identical = ND_IDENTICAL_BYTES,
                               .n_shingles = n_shingles,
                               .shared = nd_sketching_reads_shingles(sketching) ? n_shingles : 0};
    return 1;
}
