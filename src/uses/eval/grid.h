/* grid.h - all combinations of the values of some keys of a recipe */
#ifndef ND_USES_EVAL_GRID_H
#define ND_USES_EVAL_GRID_H

#include <neardup/sweep.h>

#include "base/memory.h"

/* A key, and its values as they are given to the recipe. */
struct nd_grid_key {
    const char *name;
    const char **value;
    size_t n;
};

/* Combination i has value (i / the number of combinations of the keys behind it) mod n of each key.
 * Starts from zeroes. */
struct nd_grid {
    struct nd_grid_key key[ND_SWEEP_KEYS];
    size_t n_keys, n;
    struct nd_arena arena;
};

/* Read "KEY=VALUE,VALUE" and "KEY=… {VALUE,VALUE} …". ND_EINVAL: there are no values, one is there
 * twice, or too many; ND_ENOMEM. Undo with nd_grid_release, whatever the status. */
enum nd_status nd_grid_read(struct nd_grid *grid, const char *const *sets, size_t n,
                            struct nd_error *err);
void nd_grid_release(struct nd_grid *grid);

/* The value of a key in a combination. */
const char *nd_grid_value(const struct nd_grid *grid, size_t combination, size_t key);

/* "KEY=VALUE KEY=VALUE", to be freed; NULL: out of memory. */
char *nd_grid_name(const struct nd_grid *grid, size_t combination);

#endif
