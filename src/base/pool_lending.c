/* pool_lending.c - workers lent to threads of the program's own, whose calls come at the same time
 */
#include "base/pool_lending.h"

#include <pthread.h>
#include <stdlib.h>

struct nd_lending {
    const struct nd_pool *pool;
    pthread_mutex_t lock;
    pthread_cond_t given_back;
    unsigned n_lent;
    bool all_lent; /* to the one thread that has one */
    struct loan {
        bool is_lent;
        pthread_t to;
    } loan[]; /* of each worker */
};

struct nd_lending *nd_lending_new(const struct nd_pool *pool)
{
    struct nd_lending *lending =
        calloc(1, sizeof *lending + nd_pool_threads(pool) * sizeof *lending->loan);

    if (!lending)
        return NULL;
    lending->pool = pool;
    pthread_mutex_init(&lending->lock, NULL);
    pthread_cond_init(&lending->given_back, NULL);
    return lending;
}

/* Of what was made before a fork nothing may be asked in the child, whether it is locked neither.
 */
void nd_lending_free(struct nd_lending *lending)
{
    if (lending && nd_pool_is_here(lending->pool)) {
        pthread_cond_destroy(&lending->given_back);
        pthread_mutex_destroy(&lending->lock);
    }
    free(lending);
}

/* This thread must not wait: it has a worker, or works for one that has. */
static bool is_inside(const struct nd_lending *lending)
{
    for (unsigned i = 0; lending->n_lent && i < nd_pool_threads(lending->pool); i++)
        if (lending->loan[i].is_lent && pthread_equal(lending->loan[i].to, pthread_self()))
            return true;
    return nd_pool_has_this_thread(lending->pool);
}

static void lend(struct nd_lending *lending, unsigned worker)
{
    lending->loan[worker] = (struct loan){true, pthread_self()};
    lending->n_lent++;
}

bool nd_lending_borrow(struct nd_lending *lending, unsigned *worker)
{
    bool ok;

    pthread_mutex_lock(&lending->lock);
    ok = !is_inside(lending);
    while (ok && (lending->all_lent || lending->n_lent == nd_pool_threads(lending->pool)))
        pthread_cond_wait(&lending->given_back, &lending->lock);
    for (*worker = 0; ok && lending->loan[*worker].is_lent; ++*worker)
        ;
    if (ok)
        lend(lending, *worker);
    pthread_mutex_unlock(&lending->lock);
    return ok;
}

bool nd_lending_borrow_all(struct nd_lending *lending)
{
    bool ok;

    pthread_mutex_lock(&lending->lock);
    ok = lending->n_lent == 0;
    if (ok) {
        lend(lending, 0);
        lending->all_lent = true;
    }
    pthread_mutex_unlock(&lending->lock);
    return ok;
}

bool nd_lending_borrow_rest(struct nd_lending *lending)
{
    bool ok;

    pthread_mutex_lock(&lending->lock);
    ok = lending->n_lent == 1;
    lending->all_lent |= ok;
    pthread_mutex_unlock(&lending->lock);
    return ok;
}

void nd_lending_give_back(struct nd_lending *lending, unsigned worker)
{
    pthread_mutex_lock(&lending->lock);
    lending->loan[worker].is_lent = false;
    lending->n_lent--;
    lending->all_lent = false;
    pthread_cond_broadcast(&lending->given_back);
    pthread_mutex_unlock(&lending->lock);
}
