/* apart.h - reading a database in a process of its own, which damaged pages may end */
#ifndef CLI_SERVICE_APART_H
#define CLI_SERVICE_APART_H

#include "settings.h"

/*
 * Run a function in a child, and return what it returns, 0 to 2.  LMDB trusts the pages of a database:
 * one that is damaged can lead it out of memory.  If a signal that the reading itself has raised ends
 * the child, 1 is returned; `what` names it in messages, and `store` what it reads.  Call it while
 * the process has one thread.
 */
int run_apart(int (*run)(struct settings *s), struct settings *s, const char *what,
              const char *store);

#endif
