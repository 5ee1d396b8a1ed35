/* jobs.h - threads for requests that take long, so that those which are quick do not wait */
#ifndef ND_SERVER_JOBS_H
#define ND_SERVER_JOBS_H

#include <neardup/error.h>

#include "server/workspace.h"

/* Belongs to whoever adds it, until `run` is called. */
struct nd_job {
    void (*run)(void *context, struct nd_workspace *workspace);
    void *context;
    struct nd_job *next;
};

/* Start n threads, each of which has a workspace of its own.  NULL: ND_ENOMEM. */
struct nd_jobs;
struct nd_jobs *nd_jobs_new(struct nd_workspaces *workspaces, unsigned n, struct nd_error *err);
/* Run what was added, then end the threads. */
void nd_jobs_free(struct nd_jobs *jobs);
/* Jobs begin in the order in which they are added. */
void nd_jobs_add(struct nd_jobs *jobs, struct nd_job *job);
/* How many wait. */
size_t nd_jobs_waiting(struct nd_jobs *jobs);

#endif
