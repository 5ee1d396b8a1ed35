/* extremes.c - the two designs that all others lie between (Manku 2007, §3) */

/*
 * The ball around a fingerprint has V = C(f, 0) + … + C(f, k) members. A table of all fingerprints
 * answers a query in V probes, one for each member of its ball; a table of the balls of all
 * fingerprints answers it in one. Both are exact, and neither is of use: with f = 64 and k = 3, V
 * is 43745.
 */
#include <math.h>

#include "hamming/plan/plan_checks.h"
#include "hamming/plan/predict.h"

static struct nd_hamming_extreme extreme(const char *name, double entries, double probes,
                                         const struct nd_hamming_problem *problem,
                                         const struct nd_hamming_machine *m)
{
    const double entry_bytes = 8.0 * (double)nd_hamming_words(problem->bits) + 8;
    const double bytes = entries * entry_bytes;

    return (struct nd_hamming_extreme){
        .name = name,
        .entries = entries,
        .probes = probes,
        .bytes = bytes,
        .build_seconds = 1e-9 * entries * m->table_add_ns,
        .query_seconds = probes * (nd_hamming_line_seconds(m, bytes) + 1e-9 * m->table_ns),
    };
}

enum nd_status nd_hamming_extremes(const struct nd_hamming_problem *problem,
                                   const struct nd_hamming_machine *machine,
                                   struct nd_hamming_extreme extremes[ND_HAMMING_EXTREMES],
                                   struct nd_error *err)
{
    const struct nd_hamming_machine usual = nd_hamming_machine_default();
    enum nd_status status = nd_hamming_problem_check(problem, err);
    double n, ball;

    if (status == ND_OK)
        status = nd_hamming_machine_check(machine, err);
    if (status != ND_OK)
        return status;
    machine = machine ? machine : &usual;
    n = (double)problem->count;
    ball = ldexp(nd_hamming_ball_fraction(problem->bits, problem->distance), (int)problem->bits);
    extremes[0] = extreme("stored", n * ball, 1, problem, machine);
    extremes[1] = extreme("probed", n, ball, problem, machine);
    return ND_OK;
}
