/* spark_costs.c - what deduplication on Spark costs: the stages and coefficients of docs/spark-costs.md */
#include <neardup/candidates.h>

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/number/number.h"

/* The things that a stage handles. */
enum unit { DOCUMENTS, MATCHING, SHARED, ROUNDS };

enum {
    ROW_BYTES = 152,      /* a document: its node, counts and 128 low bytes */
    KEY_BYTES = 21 * 16,  /* a document's bands, each with its node */
    EDGE_BYTES = 2 * 8,   /* two nodes */
    ONE_TASK = 128 << 20, /* bytes of rows, or of edges, that one task takes */
};

/* The stages, in the order in which they come. */
enum { SESSION, SKETCHES, CANDIDATES, COMPONENTS, TEXTS, DECISIONS };

/*
 * The only table of stages and coefficients.  Bytes follow from the definitions of rows, keys and
 * edges; the page says how the others were measured.
 */
static const struct coefficients {
    const char *name;
    enum unit unit;
    double bytes;       /* shuffled for each of these */
    double many_bytes;  /* shuffled for each of these, unless one task links all documents */
    double text_bytes;  /* shuffled for each byte of their text */
    double job_s;       /* processor time for the whole job, in seconds */
    double many_s;      /* more of it, unless one task links all documents */
    double document_us; /* processor time for each document, in microseconds */
    double byte_ns;     /* processor time for each byte of text, in nanoseconds */
    double memory;      /* of the Python process of a core */
} STAGES[ND_SPARK_STAGES] = {
    [SESSION] = {"session", DOCUMENTS, 0, 0, 0, 5.3, 6, 0, 0, 0},
    [SKETCHES] = {"sketches", DOCUMENTS, ROW_BYTES, KEY_BYTES, 0, 0, 0, 0, 10.9, 64e6},
    [CANDIDATES] = {"candidates", SHARED, 0, ROW_BYTES + 8, 0, 0, 0, 40.2, 0, 64e6},
    [COMPONENTS] = {"components", ROUNDS, 0, EDGE_BYTES, 0, 0, 0, 0, 0, 64e6},
    [TEXTS] = {"texts", MATCHING, 0, 0, 0.32, 0, 0, 0, 6.1, 64e6 + 64e6},
    [DECISIONS] = {"decisions", DOCUMENTS, 0, 0, 0, 0, 0, 0, 13.5, 64e6 + 64e6},
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
    const double matching = job->documents * job->matching, edges = matching * job->edges;
    const bool is_one_task = job->documents * ROW_BYTES <= ONE_TASK;
    const double rounds = edges * EDGE_BYTES <= ONE_TASK ? 1 : job->rounds;
    const double units[] = {[DOCUMENTS] = job->documents,
                            [MATCHING] = matching,
                            [SHARED] = matching * job->buckets,
                            [ROUNDS] = edges * rounds};

    for (int i = 0; i < ND_SPARK_STAGES; i++) {
        const struct coefficients *c = &STAGES[i];
        const double many_bytes = is_one_task ? 0 : c->many_bytes;
        const double job_s = c->job_s + (is_one_task ? 0 : c->many_s);
        const double document_s = c->document_us * 1e-6 + job->bytes * c->byte_ns * 1e-9;

        stage[i] = (struct nd_spark_stage){
            .name = c->name,
            .shuffled_bytes = units[c->unit] * (c->bytes + many_bytes + c->text_bytes * job->bytes),
            .processor_seconds = job_s + job->documents * document_s,
            .memory_bytes = c->memory};
        stage[i].seconds = stage[i].processor_seconds / (job->executors * job->cores * job->busy);
    }
    /* Spark removes the files of a shuffle when nothing needs them: the keys end before texts begin. */
    return fmax(stage[SKETCHES].shuffled_bytes, stage[TEXTS].shuffled_bytes) +
           stage[CANDIDATES].shuffled_bytes;
}
