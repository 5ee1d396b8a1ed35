/* phrases.c - which pairs of terms are phrases, by their pointwise mutual information (002 s. 5.3e)
 */
#include "feature/phrases.h"

#include "feature/df_layout.h"
#include "simd/sketch_kernels.h"

#include <stdlib.h>

enum { LOG2 = 16 };

struct nd_phrase_answer {
    uint64_t hash; /* of the pair; its lowest bit is the answer */
};

uint64_t nd_phrase_hash(uint64_t first, uint64_t second)
{
    uint64_t sum = (first << ND_SHINGLE_ROTATION | first >> (64 - ND_SHINGLE_ROTATION)) + second;

    return nd_shingle_finalise(sum);
}

/*
 * e^x in 2^-16, 0 <= x <= ND_PHRASES_MAX, from additions, multiplications and divisions alone,
 * which every processor rounds alike: the series at x / 1024, squared ten times.
 */
static uint64_t exponential(double x)
{
    double step = x / 1024, term = 1, sum = 1;

    for (int i = 1; i <= 8; i++) {
        term = term * step / i;
        sum += term;
    }
    for (int i = 0; i < 10; i++)
        sum *= sum;
    return (uint64_t)(sum * 65536 + .5);
}

bool nd_phrases_init(struct nd_phrases *p, double threshold, const struct nd_df *df)
{
    p->is_used = threshold != 0;
    p->has_all = threshold < 0;
    p->df = df;
    if (!p->is_used || p->has_all)
        return true;
    p->factor = exponential(threshold);
    p->answer = calloc((size_t)1 << LOG2, sizeof *p->answer);
    return p->answer != NULL;
}

void nd_phrases_release(struct nd_phrases *p)
{
    free(p->answer);
    *p = (struct nd_phrases){0};
}

static bool ask(const struct nd_phrases *p, uint64_t pair, uint64_t first, uint64_t second)
{
    uint64_t both = nd_df_count(p->df, pair), a, b;

    if (both == 0)
        return false;
    a = nd_df_count(p->df, first);
    b = nd_df_count(p->df, second);
    return (unsigned __int128)both * nd_df_documents(p->df) << 16 >=
           (unsigned __int128)p->factor * ((a ? a : 1) * (b ? b : 1));
}

void nd_phrases_prefetch(const struct nd_phrases *p, uint64_t first, uint64_t second)
{
    uint64_t pair = nd_phrase_hash(first, second);

    if (!p->has_all && (p->answer[pair >> (64 - LOG2)].hash ^ pair) > 1)
        nd_df_prefetch(p->df, pair);
}

bool nd_phrases_have(struct nd_phrases *p, uint64_t first, uint64_t second)
{
    uint64_t pair = nd_phrase_hash(first, second);
    struct nd_phrase_answer *answer;

    if (p->has_all)
        return true;
    answer = &p->answer[pair >> (64 - LOG2)];
    if ((answer->hash ^ pair) > 1 || answer->hash == 0)
        answer->hash = (pair & ~UINT64_C(1)) | ask(p, pair, first, second);
    return answer->hash & 1;
}
