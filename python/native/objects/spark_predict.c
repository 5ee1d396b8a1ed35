/* spark_predict.c - what a job on Spark costs, stage by stage */
#include "native.h"

#include <neardup/candidates.h>

/* The job as it was read, with its defaults. */
static PyObject *job_of(const struct nd_spark_job *job)
{
    return Py_BuildValue("{s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d}", "documents", job->documents,
                         "bytes", job->bytes, "executors", job->executors, "cores", job->cores,
                         "matching", job->matching, "buckets", job->buckets, "edges", job->edges,
                         "rounds", job->rounds, "busy", job->busy);
}

static PyObject *stages_of(const struct nd_spark_stage stage[ND_SPARK_STAGES])
{
    PyObject *stages = PyList_New(ND_SPARK_STAGES);

    for (Py_ssize_t i = 0; stages && i < ND_SPARK_STAGES; i++) {
        PyObject *row =
            Py_BuildValue("(sdddd)", stage[i].name, stage[i].shuffled_bytes,
                          stage[i].processor_seconds, stage[i].seconds, stage[i].memory_bytes);

        if (!row || PyList_SetItem(stages, i, row) < 0)
            Py_CLEAR(stages);
    }
    return stages;
}

/* spark_predict(job) -> (dict of the job, bytes of local disk, [(name, bytes, processor s, s, memory)]) */
static PyObject *spark_predict(PyObject *module, PyObject *args)
{
    struct nd_spark_job job = nd_spark_job_default();
    struct nd_spark_stage stage[ND_SPARK_STAGES];
    struct nd_error err;
    const char *text;
    double disk;

    if (!PyArg_ParseTuple(args, "s:spark_predict", &text))
        return NULL;
    if (nd_spark_job_parse(text, &job, &err) != ND_OK)
        return nd_py_raise(module, &err);
    if (job.documents <= 0 || job.bytes <= 0 || job.executors <= 0) {
        nd_fail(&err, ND_EINVAL, "documents, bytes and executors are needed");
        return nd_py_raise(module, &err);
    }
    disk = nd_spark_predict(&job, stage);
    return Py_BuildValue("(NdN)", job_of(&job), disk, stages_of(stage));
}

PyMethodDef nd_py_spark_predict_functions[] = {
    {"spark_predict", spark_predict, METH_VARARGS, "What a job on Spark costs."},
    {NULL, NULL, 0, NULL},
};
