/* spark_costs.c - what deduplication on Spark costs: the stages and coefficients of docs/spark-costs.md */
#include <neardup/candidates.h>

#include <math.h>
#include <string.h>

#include "base/number/number.h"

/* The things that a stage handles. */
enum unit { DOCUMENTS, MATCHING, SHARED, ROUNDS };

/*
 * The only table of stages and coefficients.  The first three columns follow from the definitions of
 * keys (21 bands of 16 bytes) and rows (152 bytes, and 8 of a node); the page says how the others
 * were measured.
 */
static const struct coefficients {
    const char *name;
    enum unit unit;
    double bytes;       /* shuffled for each of these */
    double text_bytes;  /* shuffled for each byte of their text */
    double document_us; /* processor time for each document, in microseconds */
    double byte_ns;     /* processor time for each byte of text, in nanoseconds */
    double memory;      /* of the Python process of a core */
} STAGES[ND_SPARK_STAGES] = {
    {"sketches", DOCUMENTS, 21 * 16 + 152, 0, 0, 4.3, 64e6},
    {"candidates", SHARED, 152 + 8, 0, 300, 0, 64e6},
    {"components", ROUNDS, 2 * 8, 0, 0, 0, 64e6},
    {"texts", MATCHING, 0, 0.43, 0, 2.4, 64e6 + 64e6},
    {"decisions", DOCUMENTS, 0, 0, 0, 5.3, 64e6 + 64e6},
};

struct nd_spark_job nd_spark_job_default(void)
{
    return (struct nd_spark_job){
        .cores = 1, .matching = .3, .buckets = 8, .edges = 2, .rounds = 10, .busy = .7};
}

static double *member(struct nd_spark_job *job, const char *name, size_t len)
{
    const struct {
        const char *name;
        double *at;
    } members[] = {
        {"documents", &job->documents}, {"bytes", &job->bytes},
        {"executors", &job->executors}, {"cores", &job->cores},
        {"matching", &job->matching},   {"buckets", &job->buckets},
        {"edges", &job->edges},         {"rounds", &job->rounds},
        {"busy", &job->busy},
    };

    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (strlen(members[i].name) == len && memcmp(members[i].name, name, len) == 0)
            return members[i].at;
    return NULL;
}

enum nd_status nd_spark_job_parse(const char *text, struct nd_spark_job *job, struct nd_error *err)
{
    struct nd_spark_job read = *job;

    for (const char *at = text;; at++) {
        size_t name = strcspn(at, "=,");
        double *to = member(&read, at, name), value;
        char *end;

        if (!to || at[name] != '=')
            return nd_fail(err, ND_EINVAL,
                           "'%.80s' does not have the form executors=N,cores=N, with any of "
                           "documents, bytes, matching, buckets, edges, rounds and busy",
                           text);
        value = nd_number_read(at + name + 1, &end);
        if (end == at + name + 1 || (*end && *end != ',') || !(value > 0) || value > 1e18 ||
            ((to == &read.matching || to == &read.busy) && value > 1))
            return nd_fail(err, ND_EINVAL, "'%.80s': %.*s is not a number above 0%s", text,
                           (int)name, at,
                           to == &read.matching || to == &read.busy ? " and at most 1" : "");
        *to = value;
        at = end;
        if (!*at)
            break;
    }
    *job = read;
    return ND_OK;
}

double nd_spark_predict(const struct nd_spark_job *job,
                        struct nd_spark_stage stage[ND_SPARK_STAGES])
{
    const double matching = job->documents * job->matching;
    const double units[] = {[DOCUMENTS] = job->documents,
                            [MATCHING] = matching,
                            [SHARED] = matching * job->buckets,
                            [ROUNDS] = matching * job->edges * job->rounds};

    for (int i = 0; i < ND_SPARK_STAGES; i++) {
        const struct coefficients *c = &STAGES[i];

        stage[i] = (struct nd_spark_stage){
            .name = c->name,
            .shuffled_bytes = units[c->unit] * (c->bytes + c->text_bytes * job->bytes),
            .processor_seconds =
                job->documents * (c->document_us * 1e-6 + job->bytes * c->byte_ns * 1e-9),
            .memory_bytes = c->memory};
        stage[i].seconds = stage[i].processor_seconds / (job->executors * job->cores * job->busy);
    }
    /* Spark removes the files of a shuffle when nothing needs them: the keys end before texts begin. */
    return fmax(stage[0].shuffled_bytes, stage[3].shuffled_bytes) + stage[1].shuffled_bytes;
}
