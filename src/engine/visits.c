/* visits.c - one document over time: how much it changes, and when to look again */
#include <neardup/visits.h>

#include <stdbool.h>

enum { FACTOR_MOST = 1000 };

struct nd_visit_params nd_visit_params_default(void)
{
    return (struct nd_visit_params){.equal = 3,
                                    .changes = 3,
                                    .factor = 2,
                                    .interval = UINT64_C(86400),
                                    .shortest = UINT64_C(3600),
                                    .longest = UINT64_C(90) * 86400};
}

enum nd_status nd_visits_check(const struct nd_visit_params *p, struct nd_error *err)
{
    if (p->equal < 2 || p->changes < 1)
        return nd_fail(
            err, ND_EINVAL,
            "a run of equal visits needs at least 2 visits, a run of changes at least 1");
    if (p->factor < 2 || p->factor > FACTOR_MOST)
        return nd_fail(err, ND_EINVAL, "the interval factor must be from 2 to %d", FACTOR_MOST);
    if (p->shortest < 1 || p->shortest > p->interval || p->interval > p->longest ||
        p->longest > UINT32_MAX)
        return nd_fail(err, ND_EINVAL,
                       "the interval must lie between the shortest (at least a second) and the "
                       "longest (at most %u seconds)",
                       UINT32_MAX);
    return ND_OK;
}

static uint64_t longer(const struct nd_visit_params *p, uint64_t interval)
{
    interval *= p->factor;
    return interval < p->longest ? interval : p->longest;
}

static uint64_t shorter(const struct nd_visit_params *p, uint64_t interval)
{
    interval /= p->factor;
    return interval > p->shortest ? interval : p->shortest;
}

static uint32_t one_more(uint32_t n)
{
    return n < UINT32_MAX ? n + 1 : n;
}

enum { FRACTION_BITS = 16, SECONDS_BITS_MAX = 40 };

uint64_t nd_visits_gap(const struct nd_visits *v, uint32_t expect)
{
    unsigned __int128 seconds = (unsigned __int128)v->in_time * expect;

    if (!v->changed_by || !expect)
        return 0;
    seconds /= v->changed_by;
    return seconds < 1 ? 1 : seconds > UINT32_MAX ? UINT32_MAX : (uint64_t)seconds;
}

/* The gap, but at most `factor` times the present interval, and at least that part of it. */
static uint64_t expected(const struct nd_visit_params *p, const struct nd_visits *v)
{
    uint64_t gap = nd_visits_gap(v, p->expect);
    uint64_t least = shorter(p, v->interval), most = longer(p, v->interval);

    return gap < least ? least : gap > most ? most : gap;
}

/* Each visit counts half as much as the one after it. */
static void weigh(struct nd_visits *v, uint32_t distance, uint64_t seconds)
{
    const uint64_t most = UINT64_C(1) << SECONDS_BITS_MAX;

    v->changed_by = v->changed_by / 2 + ((uint64_t)distance << FRACTION_BITS);
    v->in_time = v->in_time / 2 + ((seconds < most ? seconds : most) << FRACTION_BITS);
}

void nd_visits_add_after(const struct nd_visit_params *p, struct nd_visits *v, uint32_t distance,
                         uint64_t seconds)
{
    if (v->visits++ == 0) {
        *v = (struct nd_visits){
            .visits = 1, .interval = p->interval, .equal = 1, .priority = distance};
        return;
    }
    v->priority = distance;
    v->changes += distance > 0;
    v->equal = distance ? 1 : one_more(v->equal);
    v->changed = distance ? one_more(v->changed) : 0;
    weigh(v, distance, seconds);
    if (v->equal >= p->equal)
        v->interval = longer(p, v->interval);
    else if (p->expect && v->changed_by)
        v->interval = expected(p, v);
    else if (!p->expect && v->changed >= p->changes)
        v->interval = shorter(p, v->interval);
}

void nd_visits_add_distance(const struct nd_visit_params *p, struct nd_visits *v, uint32_t distance)
{
    nd_visits_add_after(p, v, distance, v->interval);
}

void nd_visits_add(const struct nd_visit_params *p, struct nd_visits *v, uint64_t simhash)
{
    bool is_first = v->visits == 0;

    nd_visits_add_distance(p, v,
                           is_first ? 64 : (uint32_t)__builtin_popcountll(simhash ^ v->simhash));
    v->simhash = simhash;
}
