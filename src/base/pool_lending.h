/* pool_lending.h - workers lent to threads of the program's own, whose calls come at the same time
 */
#ifndef ND_BASE_POOL_LENDING_H
#define ND_BASE_POOL_LENDING_H

#include "base/pool.h"

/* Who has the working memory of which worker of a pool.  NULL: no memory. */
struct nd_lending;
struct nd_lending *nd_lending_new(const struct nd_pool *pool);
void nd_lending_free(struct nd_lending *lending);

/* Borrow any worker that is free; wait until one is.  False: this thread has one already, or
 * belongs to the pool, and would wait for itself. */
bool nd_lending_borrow(struct nd_lending *lending, unsigned *worker);
/* Borrow all workers, as worker 0, to call nd_pool_run; false: a thread has one. */
bool nd_lending_borrow_all(struct nd_lending *lending);
/* For who has one worker: and the others, if no thread has any of them. */
bool nd_lending_borrow_rest(struct nd_lending *lending);
/* Give back what this thread has: the worker, and all others where it has them. */
void nd_lending_give_back(struct nd_lending *lending, unsigned worker);

#endif
