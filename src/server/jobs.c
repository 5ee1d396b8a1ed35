/* jobs.c - a queue of jobs and the threads that take them */
#include "server/jobs.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/thread/thread.h"

struct nd_jobs {
    struct nd_workspaces *workspaces;
    struct nd_monitor monitor;
    struct nd_job *first, *last;
    size_t n_waiting;
    bool is_ending;
    struct nd_thread *thread;
    unsigned n_threads;
};

static struct nd_job *take_job(struct nd_jobs *jobs)
{
    struct nd_job *job;

    nd_monitor_enter(&jobs->monitor);
    while (!jobs->first && !jobs->is_ending)
        nd_monitor_wait(&jobs->monitor);
    job = jobs->first;
    if (job) {
        jobs->first = job->next;
        jobs->n_waiting--;
    }
    nd_monitor_leave(&jobs->monitor);
    return job;
}

static void work(void *context)
{
    struct nd_jobs *jobs = context;
    struct nd_workspace *workspace = nd_workspace_borrow(jobs->workspaces);
    struct nd_job *job;

    while ((job = take_job(jobs)))
        job->run(job->context, workspace);
    nd_workspace_return(jobs->workspaces, workspace);
}

struct nd_jobs *nd_jobs_new(struct nd_workspaces *workspaces, unsigned n, struct nd_error *err)
{
    struct nd_jobs *jobs = calloc(1, sizeof *jobs);

    if (!jobs) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    nd_monitor_init(&jobs->monitor);
    jobs->workspaces = workspaces;
    jobs->thread = nd_alloc_array(n, sizeof *jobs->thread);
    while (jobs->thread && jobs->n_threads < n &&
           nd_thread_start(&jobs->thread[jobs->n_threads], work, jobs))
        jobs->n_threads++;
    if (jobs->n_threads == n)
        return jobs;
    nd_jobs_free(jobs);
    nd_fail(err, ND_ENOMEM, "no thread can be started");
    return NULL;
}

void nd_jobs_free(struct nd_jobs *jobs)
{
    if (!jobs)
        return;
    nd_monitor_enter(&jobs->monitor);
    jobs->is_ending = true;
    nd_monitor_notify(&jobs->monitor);
    nd_monitor_leave(&jobs->monitor);
    for (unsigned i = 0; i < jobs->n_threads; i++)
        nd_thread_join(&jobs->thread[i]);
    free(jobs->thread);
    nd_monitor_release(&jobs->monitor);
    free(jobs);
}

void nd_jobs_add(struct nd_jobs *jobs, struct nd_job *job)
{
    job->next = NULL;
    nd_monitor_enter(&jobs->monitor);
    if (jobs->first)
        jobs->last->next = job;
    else
        jobs->first = job;
    jobs->last = job;
    jobs->n_waiting++;
    nd_monitor_notify(&jobs->monitor);
    nd_monitor_leave(&jobs->monitor);
}

size_t nd_jobs_waiting(struct nd_jobs *jobs)
{
    size_t n;

    nd_monitor_enter(&jobs->monitor);
    n = jobs->n_waiting;
    nd_monitor_leave(&jobs->monitor);
    return n;
}
