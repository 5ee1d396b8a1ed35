/* fuzz_spark_job.c - what is taken for a job on Spark has numbers that a prediction can be made of */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <neardup/candidates.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void require(int holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const struct nd_spark_job usual = nd_spark_job_default();
    struct nd_spark_job job = usual;
    struct nd_spark_stage stage[ND_SPARK_STAGES];
    struct nd_error err;
    char *text = malloc(len + 1);

    if (!text)
        return 0;
    if (len)
        memcpy(text, data, len);
    text[len] = '\0';
    if (nd_spark_job_parse(text, &job, &err) != ND_OK) {
        require(memcmp(&job, &usual, sizeof job) == 0 && err.message[0]);
    } else {
        require(strchr(text, '=') != NULL);
        require(job.cores > 0 && job.matching > 0 && job.matching <= 1 && job.busy > 0 &&
                job.busy <= 1 && job.buckets > 0 && job.edges > 0 && job.rounds > 0);
        require(job.documents >= 0 && job.bytes >= 0 && job.executors >= 0);
        if (job.executors > 0)
            require(isfinite(nd_spark_predict(&job, stage)));
        for (int i = 0; i < ND_SPARK_STAGES && job.executors > 0; i++)
            require(stage[i].shuffled_bytes >= 0 && stage[i].processor_seconds >= 0 &&
                    isfinite(stage[i].shuffled_bytes) && isfinite(stage[i].processor_seconds));
    }
    free(text);
    return 0;
}
